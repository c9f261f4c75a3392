"""Corrections of what was keyed wrong at a drawer, within its shift: the exact mirror of the wrong entry, and the right
entry, in one write by a supervisor. What lies in the drawer is as it is; a correction moves books only.

Where a player has moved on with chips that were booked by mistake, what lacks for the mirror is booked as brought by
nobody in particular first.
"""

from collections.abc import Callable, Mapping
from typing import Any

from casino.audit.events.cage import CageCorrected
from casino.audit.models import Event
from casino.bookkeeping import books, chart
from casino.bookkeeping.postings import posting
from casino.cage import bearer, readings, services, trading
from casino.cage.models import Drawer, Shift
from casino.cage.services import require_open, write_at
from casino.cage.signing import require_another
from casino.core import sql
from casino.core.errors import Conflict, NotFound
from casino.core.write import Answer, Command, Outcome, Work
from casino.staff.models import Staff

#: Kinds of entries that can be corrected, and that can stand in their place.
CORRECTABLE = (
    "cage.buy_in",
    "cage.cash_out",
    "cage.bearer_buy_in",
    "cage.bearer_cash_out",
    "cage.exchange",
    "cage.foreign_chips",
)
#: Kinds of entries that can be taken back. The right table fee is paid like any other, once the wrong one is gone.
TAKEN_BACK = (*CORRECTABLE, "cage.table_fee")


def correct(
    *, command: Command, code: str, entry: int, right: tuple[str, Mapping[str, Any]] | None, reason: str
) -> Answer:
    """Take back the entry of this number in the drawer's audit chain, and make the right one: its kind with what the
    operation of that kind takes; None where there should be none.

    Raises NotFound for what is no entry of the shift that can be corrected, Conflict already_corrected, drawer_closed,
    drawer_counted, drawer_short, Forbidden four_eyes for the person who made the entry, and what the right entry
    refuses with.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        shift = require_open(drawer)
        wrong = _entry(drawer, shift, entry)
        made_by = Staff.objects.filter(house=drawer.house, login=wrong.doc["actor"])
        require_another(command, "made this entry", *made_by)
        lacking = _take_back(command, work, drawer, wrong)
        mirrors = work.reverse_all(
            keys=books.keys(drawer.house, [posted["tx"] for posted in wrong.doc["postings"]]),
            metadata={"drawer": code, "corrects": entry, "reason": reason},
        )
        made = None
        if right is not None:
            made = _made(drawer, work, command.ledger_key("right"), *right).last_event()
        return Outcome(
            CageCorrected(
                corrects=entry, was=wrong.doc["kind"], mirrors=mirrors, attributed=lacking or None, right=made,
                reason=reason,
            ),
            status=201,
        )  # fmt: skip

    return write_at(command, code, change)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _entry(drawer: Drawer, shift: Shift, seq: int) -> Event:
    """The entry of the shift, if nobody has corrected it. Raises NotFound, Conflict already_corrected."""
    chain = readings.chain(drawer)
    opened, entries, corrections = sql.together(
        readings.openings(drawer, shift),
        chain.filter(seq=seq, doc__kind__in=TAKEN_BACK),
        chain.filter(seq__gt=seq, doc__kind=CageCorrected.KIND, doc__data__corrects=seq)[:1],
    )
    found: Event | None = next(iter(entries), None)
    if found is None or found.seq <= opened[0].seq:
        raise NotFound(f"Entry {seq} of drawer {drawer.code} is none of this shift that can be corrected.")
    if corrections:
        raise Conflict(f"Entry {seq} of drawer {drawer.code} has been corrected already.", code="already_corrected")
    return found


def _take_back(command: Command, work: Work, drawer: Drawer, wrong: Event) -> int:
    """Book for the player, before the mirror, what the player does not hold any more of chips that were sold by the
    wrong entry; returns how much that is."""
    data = wrong.doc["data"]
    if wrong.doc["kind"] != "cage.buy_in":
        return 0
    player, _ = services.customer(drawer, work, data["player"], own=False)
    lacking: int = max(data["amount"] - chart.balances(drawer.house, [player.wallet])[player.wallet], 0)
    brought = posting("attributed", {"place": drawer.code, "player": player.ref}, amount=lacking)
    services.enter(work, command.ledger_key("attributed"), drawer, "chips.attributed", [brought], player=player.ref)
    work.flush()
    return lacking


def _made(drawer: Drawer, work: Work, key: str, kind: str, data: Mapping[str, Any]) -> Any:
    """Make an entry, and return the event that the operation of its kind would record."""
    trades: Mapping[str, Callable[..., Outcome]] = {
        "cage.buy_in": services.sell_chips,
        "cage.cash_out": services.buy_chips,
        "cage.bearer_buy_in": bearer.sell_chips,
        "cage.bearer_cash_out": bearer.buy_chips,
        "cage.exchange": trading.swap_chips,
        "cage.foreign_chips": trading.buy_foreign,
    }
    return trades[kind](drawer, work, key=key, own=False, **data).event
