"""Corrections of what was keyed wrong at a drawer, within its shift: the exact mirror of the wrong entry, and the right
entry, in one write by a supervisor. What lies in the drawer is as it is; a correction moves books only.

Where a player has moved on with chips that were booked by mistake, what lacks for the mirror is booked as brought by
nobody in particular first.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.db.models.fields.json import KT

from casino.audit.events.cage import CageCorrected
from casino.audit.models import Event
from casino.bookkeeping import books, chart
from casino.bookkeeping.postings import posting
from casino.cage import bearer, readings, services, trading
from casino.cage.models import Drawer, Shift
from casino.cage.services import keep_shift, require_open, write_at
from casino.cage.signing import require_another
from casino.core import sql
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound
from casino.core.work import Outcome, Work
from casino.players import persons
from casino.players.models import Player
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
        wrong, made_by = _entry(drawer, shift, entry)
        require_another(command, "made this entry", *made_by)
        keep_shift(drawer, shift)
        lacking, posted = _take_back(command, work, drawer, wrong)
        mirrors = work.reverse(posted=posted, metadata={"drawer": code, "corrects": entry, "reason": reason})
        made = None
        if right is not None:
            keep_shift(drawer, shift)
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


def _entry(drawer: Drawer, shift: Shift, seq: int) -> tuple[Event, list[Staff]]:
    """The entry of the shift, if nobody has corrected it, and who has made it. Raises NotFound, Conflict
    already_corrected."""
    chain = readings.chain(drawer)
    wrong = chain.filter(seq=seq, doc__kind__in=TAKEN_BACK)
    opened, entries, corrections, made_by = sql.together(
        readings.openings(drawer, shift),
        wrong,
        chain.filter(seq__gt=seq, doc__kind=CageCorrected.KIND, doc__data__corrects=seq)[:1],
        Staff.objects.filter(house=drawer.house, login__in=wrong.values_list(KT("doc__actor"))),
    )
    found: Event | None = next(iter(entries), None)
    if found is None or found.seq <= opened[0].seq:
        raise NotFound(f"Entry {seq} of drawer {drawer.code} is none of this shift that can be corrected.")
    if corrections:
        raise Conflict(f"Entry {seq} of drawer {drawer.code} has been corrected already.", code="already_corrected")
    return found, made_by


def _take_back(command: Command, work: Work, drawer: Drawer, wrong: Event) -> tuple[int, dict[str, int]]:
    """Book for the player, before the mirror, what the player does not hold any more of chips that were sold by the
    wrong entry; returns how much that is, and what the entry has posted: ids by key. Raises Gone person_forgotten."""
    data, house = wrong.doc["data"], drawer.house
    reading = books.keyed(house, [one["tx"] for one in wrong.doc["postings"]])
    if wrong.doc["kind"] != "cage.buy_in":
        return 0, dict(reading)
    held = chart.money_at(house, Player(ref=data["player"]).wallet)
    player, [[(holds,)], posted] = persons.lock_beside(house, data["player"], held, reading)
    persons.require_not_forgotten(player)
    lacking: int = max(data["amount"] - holds, 0)
    brought = posting("attributed", {"place": drawer.code, "player": player.ref}, amount=lacking)
    services.enter(work, command.ledger_key("attributed"), drawer, "chips.attributed", [brought], player=player.ref)
    work.flush()
    return lacking, dict(posted)


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
