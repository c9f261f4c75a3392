"""Failed attempts, counted by name and address: five of them lock the name there for a while (`AXES_*`, settings)."""

import math
from datetime import datetime

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.handlers.proxy import AxesProxyHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import Max, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from casino.core import locks, sql
from casino.core.errors import TooManyAttempts

#: The name under which wrong keys of seats are counted, all those of an address together. No login has a blank.
SEAT_KEY = "seat key"


class Attempts(AxesDatabaseHandler):
    """What counts attempts (`AXES_HANDLER`): as axes does, but the failures of a name are read with the BEGIN of the
    transaction in which a password is checked."""

    def get_failures(self, request: HttpRequest, credentials: dict[str, str] | None = None) -> int:
        """The most failures by one of the parameters that lock."""
        by_parameter = self.get_user_attempts(request, credentials)
        found = sql.together(*(attempts.values_list("failures_since_start", flat=True) for attempts in by_parameter))
        most: int = max(sum(failures) for failures in found)
        return most


def forgettable(request: HttpRequest, name: str) -> QuerySet[AccessAttempt]:
    """What a success is to forget: the failures of this name from the request's address, and everybody's that count no
    more. At most one of them."""
    AxesProxyHandler.update_request(request)
    address = request.axes_ip_address  # type: ignore[attr-defined]
    own, past = Q(username=name, ip_address=address), Q(attempt_time__lte=get_cool_off_threshold(request))
    return AccessAttempt.objects.filter(own | past)[:1]


def seconds_locked(request: HttpRequest, name: str) -> int:
    """The number of seconds for which a name is still locked from a request's address; 0 if it is not locked."""
    if AxesProxyHandler.is_allowed(request, {"username": name}):
        return 0
    address = request.axes_ip_address  # type: ignore[attr-defined]
    found = AccessAttempt.objects.filter(username=name, ip_address=address).aggregate(last=Max("attempt_time"))
    if found["last"] is None:
        return 1  # it was opened just now
    opens: datetime = found["last"] + settings.AXES_COOLOFF_TIME
    return max(1, math.ceil((opens - timezone.now()).total_seconds()))


def require_open(request: HttpRequest, name: str) -> None:
    """Refuse while a name is locked from a request's address. Raises TooManyAttempts."""
    if wait := seconds_locked(request, name):
        raise TooManyAttempts("Too many failed attempts; wait or ask an administrator.", retry_after=wait)


def count_failure(request: HttpRequest, name: str) -> None:
    """Count a failed attempt. Call it outside a transaction that may be rolled back."""
    # axes would read and keep forms and queries; nothing has parsed this request yet, and nothing of it is to be kept.
    bare = HttpRequest()
    bare.META, bare.path = request.META, request.path
    locks.in_transaction(
        lambda: AxesProxyHandler.user_login_failed(sender=__name__, credentials={"username": name}, request=bare)
    )


def open_lock(name: str) -> int:
    """Forget the failed attempts under a name, from all addresses; returns their number."""
    found = AccessAttempt.objects.filter(username=name)
    failures = sum(found.values_list("failures_since_start", flat=True))
    found.delete()
    return failures
