"""Makes the packages of closed gaming days, as messages of the outbox ask for them."""

from casino.days import packages
from casino.houses.models import OutboxMessage
from casino.reports import package


def work_off(message_id: int) -> str:
    """Make the package that an outbox message asks for, unless it is there; returns its SHA-256. Safe to call any
    number of times. Raises what making it raises."""
    message = OutboxMessage.objects.select_related("house").get(id=message_id)
    house, name = message.house, message.subject
    made = package.make(house, name, package.newest_checkpoint(house))
    return packages.keep(message_id, house, name, made)
