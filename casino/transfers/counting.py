"""Counts of boxes in the count room: two people of the count team count each box, blind of each other.

The rule of the two is that of `casino/chips/two_counts.py`. After three pairs that differ a supervisor decides, with a
reason. A third person then receives the contents: cash and chips go into the vault, and the variance is posted by
table, for the gaming day of the box. Chips of a tip box become tips that the staff shares
(`casino/transfers/tronc.py`).
"""

from typing import Any

from casino.audit.events.custody import BoxCountDecided, BoxCounted, BoxCountsDiffered, BoxReceived
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import Posting, moved_anything, posting
from casino.chips import selectors as chips
from casino.chips import two_counts
from casino.chips.counts import chip_variance
from casino.core import denominations, locks, write
from casino.core.commands import Answer, Command
from casino.core.denominations import Chips
from casino.core.errors import NotFound
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp, House
from casino.staff import independence
from casino.tables.models import Table
from casino.transfers import observing, selectors
from casino.transfers.boxes import IN_COUNT_ROOM, RECEIVED, lock
from casino.transfers.choosing import Pieces
from casino.transfers.models import Box, BoxCount, BoxKind, BoxState
from casino.transfers.services import require_another


def count(*, command: Command, serial: int, cash: int, pieces: Pieces) -> Answer:
    """Enter what one person has counted in a box: `cash` in minor units, and chips by denomination. The second count of
    a round is compared with the first.

    Raises NotFound, Conflict box_... or supervisor_needed, Forbidden four_eyes for who has counted it in this round,
    Unprocessable for wrong pieces.
    """

    def change(house: House, work: Work) -> Outcome:
        box = lock(house, serial, BoxState.BROUGHT)
        staff = command.context.staff
        counted = denominations.parse(chips.in_use(house), pieces)
        figures: dict[str, Any] = {"cash": cash, "pieces": counted.as_json()}

        def create(number: int) -> None:
            BoxCount.objects.create(house_id=house.pk, box=box, round=number, counted_by=staff, **figures)

        counts = BoxCount.objects.filter(house=house, box=box)
        round_ = two_counts.enter(counts, staff, box.differing_rounds, figures, create)
        kind: type[BoxCounted | BoxCountsDiffered] = BoxCounted
        if round_.agrees:
            _counted(box, cash, counted)
        elif round_.agrees is not None:
            kind = BoxCountsDiffered
            box.differing_rounds = round_.number
            Box.objects.filter(id=box.pk).update(differing_rounds=round_.number)
        own = {"round": round_.number, **figures}
        return Outcome(
            kind(box=selectors.describe_box(box, figures=False), count=own),
            {"box": selectors.describe_box(box), "differs": issubclass(kind, BoxCountsDiffered)},
            201,
            version=box.serial,
        )

    return write.write(command, IN_COUNT_ROOM, change)


def decide(
    *, command: Command, serial: int, cash: int, pieces: Pieces, reason: str, observer: str
) -> Answer:  # fmt: skip
    """A supervisor, who has not counted the box, decides what was in it after three pairs of counts that differ, while
    `observer` (login) of surveillance watches. Raises NotFound, Conflict box_... or recount_needed, Forbidden
    four_eyes, Unprocessable unknown_observer or for wrong pieces."""

    def change(house: House, work: Work) -> Outcome:
        box = lock(house, serial, BoxState.BROUGHT)
        two_counts.require_to_decide(box.differing_rounds)
        _require_not_counted(command, box)
        counted = denominations.parse(chips.in_use(house), pieces)
        box.decided_by, box.reason = command.context.staff, reason
        box.observer = observing.observer(house, observer)
        require_another(command, box.observer, "attend this")
        _counted(box, cash, counted, decided_by=box.decided_by, reason=reason, observer=box.observer)
        found = {"cash": cash, "pieces": counted.as_json()}
        event = BoxCountDecided(box=selectors.describe_box(box, figures=False), count=found, reason=reason)
        return Outcome(event, {"box": selectors.describe_box(box)}, version=box.serial)

    return write.write(command, IN_COUNT_ROOM, change)


def receive(*, command: Command, serial: int) -> Answer:
    """Take the counted contents of a box into the vault, and post them with the variance. Raises NotFound, Conflict
    box_..., Forbidden four_eyes for who has taken the box off its table, counted it or decided on it."""

    def change(house: House, work: Work) -> Outcome:
        box = _lock_with_table(house, serial)
        _require_not_counted(command, box)
        independence.require_another(command.context.staff, "signed for this", (box.taken_by, box.decided_by))
        _post(work, box)
        box.state, box.received_by = BoxState.RECEIVED, command.context.staff
        Box.objects.filter(id=box.pk).update(state=box.state, received_by=box.received_by, received_at=ClockTimestamp())
        described = selectors.describe_box(box)
        return Outcome(BoxReceived(box=described), {"box": described}, version=box.serial)

    return write.write(command, IN_COUNT_ROOM, change)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _lock_with_table(house: House, serial: int) -> Box:
    """A counted box; its table is locked first, so that nobody takes off the next one meanwhile."""
    table_id = Box.objects.filter(house=house, serial=serial).values_list("table_id", flat=True).first()
    if table_id is None:
        raise NotFound(f"This house has no box with the number {serial}.")
    table = locks.lock(Table, locks.Rank.DESK, id=table_id)
    box = lock(house, serial, BoxState.COUNTED)
    table.house = house
    box.table = table
    return box


def _require_not_counted(command: Command, box: Box) -> None:
    two_counts.require_not_counted(BoxCount.objects.filter(box=box), command.context.staff)


def _counted(box: Box, cash: int, pieces: Chips, **decided: object) -> None:
    box.state, box.counted_cash, box.counted_pieces = BoxState.COUNTED, cash, pieces.as_json()
    Box.objects.filter(id=box.pk).update(
        state=box.state, counted_cash=cash, counted_pieces=box.counted_pieces, **decided
    )


def _post(work: Work, box: Box) -> None:
    table, chip_set = box.table, chips.in_use(box.house)
    counted = denominations.parse(chip_set, box.counted_pieces or {})
    over = counted - denominations.parse(chip_set, box.expected_pieces or {})
    cash = box.counted_cash or 0
    if box.kind == BoxKind.TIP:
        events = [
            _tip_variance(table.code, over),
            posting("tronc_pooled", {"table": table.code}, amount=counted.value, chips=counted),
            posting("cash_tips_counted", {}, cash=cash),
        ]
    else:
        # Tables set up before boxes were counted have no account for the drop's variance.
        chart.open_accounts(box.house, [table.account(Account.CASH_OVER_SHORT)])
        events = [
            _drop_variance(table.code, cash - (box.expected_cash or 0)),
            *chip_variance(table.account(Account.TAX_BOX), table.code, over),
            posting("soft_count", {"table": table.code}, cash=cash, chips=counted),
        ]
    if moved_anything(events):
        work.post(
            key=f"box:{box.pk}",
            kind=RECEIVED,
            postings=events,
            metadata={"box": box.serial, "table": table.code} | ({"for_day": box.for_day} if box.for_day else {}),
        )


def _drop_variance(code: str, over: int) -> Posting:
    return posting("drop_over" if over > 0 else "drop_short", {"table": code}, amount=abs(over))


def _tip_variance(code: str, over: Chips) -> Posting:
    """What is missing is borne by the tips, what is found belongs to them."""
    name = "tip_found" if over.value > 0 else "tip_missing"
    return posting(name, {"table": code}, amount=abs(over.value), missing=over.shortage, surplus=over.surplus)
