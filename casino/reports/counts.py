"""What reports on counts of places share: what counts of a kind have posted, and what pieces are worth."""

from collections.abc import Callable, Mapping, Sequence

from casino.bookkeeping.accounts import Account
from casino.reports.frame.filters import DayRange
from casino.reports.frame.late import Later
from casino.reports.frame.movements import turned
from casino.reports.frame.report import Scope


def worth_of(held: Mapping[str, int]) -> int:
    """What pieces by denomination are worth, in minor units."""
    return sum(int(value) * number for value, number in held.items())


def posted(scope: Scope, kind: str, number: Account) -> int:
    """What counts of one kind have found, by the ledger, in the days and at the place asked for: over above zero, minor
    units."""
    days, where = DayRange.of(scope), scope.filters.get("table") or scope.filters.get("drawer")
    return -sum(
        one.net
        for one in turned(scope, (number,), days)
        if one.kind == kind and days.takes(one.day) and where in (None, one.place)
    )


def over_short_later(places: Callable[[Scope], Sequence[str]]) -> Later:
    """What was booked later of counts at these places: over above zero, short below."""

    def takes(scope: Scope, code: str) -> bool:
        asked, where = scope.filters.get("table") or scope.filters.get("drawer"), code.partition("/")[2]
        return asked in (None, where) and where in scope.once("places that are counted", places)

    return Later(
        (Account.CASH_OVER_SHORT, Account.CHIP_OVER_SHORT, Account.CHIPS_UNATTRIBUTED), takes, lambda _code: -1
    )
