"""Who attends for surveillance."""

from casino.core.errors import Unprocessable
from casino.houses.models import House
from casino.staff.models import Role, Staff


def observer(house: House, login: str) -> Staff:
    """A person of surveillance who is at work here. Raises Unprocessable unknown_observer."""
    found = Staff.objects.filter(house=house, login=login, is_active=True, roles__contains=[Role.SURVEILLANCE]).first()
    if found is None:
        raise Unprocessable(f"Nobody of surveillance at work is called {login}.", code="unknown_observer")
    return found
