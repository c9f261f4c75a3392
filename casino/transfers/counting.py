"""Soft counts: a table's drop box and tax box are opened and counted at the cage, before a witness.

The cashier counts without knowing the expected values. A person of the floor counts the same and signs. Then the cash
goes to the vault, the chips to the drawer, and the variance is posted, by table.
"""

from django.db import IntegrityError, transaction

from casino.audit.events.custody import SoftCountConfirmed, SoftCountCounted, SoftCountVoided
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import Posting, moved_anything, posting
from casino.cage import services as cage
from casino.cage.models import Drawer
from casino.chips import selectors as chips
from casino.chips.counts import chip_variance
from casino.core import denominations, locks
from casino.core.denominations import Chips
from casino.core.errors import Conflict, NotFound
from casino.core.write import Answer, Command, Outcome, Work
from casino.houses.models import ClockTimestamp
from casino.tables import selectors as tables
from casino.transfers import selectors
from casino.transfers.models import CountState, SoftCount
from casino.transfers.services import Pieces, require_another


def count(*, command: Command, code: str, table_code: str, cash: int, pieces: Pieces) -> Answer:
    """Enter the contents of a table's boxes: `cash` in minor units, and chips by denomination.

    Nothing moves yet. Raises Conflict drawer_closed or count_under_way, Unprocessable for wrong pieces, NotFound.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        cage.require_open(drawer)
        table = tables.get(drawer.house, table_code)
        counted = denominations.parse(chips.in_use(drawer.house), pieces)
        drop = table.account(Account.DROP_CASH)
        found = SoftCount(
            house=drawer.house,
            table=table,
            drawer=drawer,
            expected_cash=chart.balances(drawer.house, [drop])[drop],
            expected_pieces=chips.rack(drawer.house, table.account(Account.TAX_BOX)).as_json(),
            counted_cash=cash,
            counted_pieces=counted.as_json(),
            counted_by=command.context.staff,
        )
        try:
            with transaction.atomic():
                found.save(force_insert=True)
        except IntegrityError:
            raise Conflict(
                f"A count of table {table_code} waits for its witness; confirm or void it first.",
                code="count_under_way",
            ) from None
        return Outcome(SoftCountCounted(soft_count=selectors.describe_count(found, revealed=False)), status=201)

    return cage.write_at(command, code, change)


def confirm(*, command: Command, code: str, count_id: int, cash: int, pieces: Pieces) -> Answer:
    """Sign a count as its witness, who has counted the same, and post it.

    Raises Conflict counts_differ (the cashier voids the count and both count again), drawer_closed or one that
    names the count's state; Forbidden four_eyes for the person who counted first.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        cage.require_open(drawer)
        found = _lock(drawer, count_id)
        require_another(command, found.counted_by, "counted this")
        chip_set = chips.in_use(drawer.house)
        counted, witnessed = denominations.parse(chip_set, found.counted_pieces), denominations.parse(chip_set, pieces)
        in_words = drawer.house.money
        if (cash, witnessed) != (found.counted_cash, counted):
            raise Conflict(
                f"The first count found {in_words(found.counted_cash)} in cash and chips worth "
                f"{in_words(counted.value)}; this one {in_words(cash)} and {in_words(witnessed.value)}. Void it and "
                "count again.",
                code="counts_differ",
                first={"cash": found.counted_cash, "pieces": counted.as_json()},
                second={"cash": cash, "pieces": witnessed.as_json()},
            )
        _post(work, drawer, found, counted)
        _end(command, found, CountState.CONFIRMED)
        return Outcome(
            SoftCountConfirmed(
                soft_count=selectors.describe_count(found, revealed=True), approver=command.context.staff.login
            )
        )

    return cage.write_at(command, code, change)


def void(*, command: Command, code: str, count_id: int) -> Answer:
    """Void a count that was not confirmed; the boxes are counted again."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        found = _lock(drawer, count_id)
        _end(command, found, CountState.VOIDED)
        return Outcome(SoftCountVoided(soft_count=selectors.describe_count(found, revealed=False)))

    return cage.write_at(command, code, change)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _lock(drawer: Drawer, count_id: int) -> SoftCount:
    """A count at this drawer that waits for its witness. Raises NotFound, Conflict count_confirmed, count_voided."""
    found = locks.lock(SoftCount, locks.Rank.CUSTODY, house=drawer.house, id=count_id)
    if found.drawer_id != drawer.pk:
        raise NotFound(f"Soft count {count_id} was not made at drawer {drawer.code}.")
    if found.state != CountState.COUNTED:
        raise Conflict(f"Soft count {count_id} is {found.state}.", code=f"count_{found.state}", state=found.state)
    found.drawer = drawer
    return found


def _post(work: Work, drawer: Drawer, found: SoftCount, counted: Chips) -> None:
    table = found.table
    expected = denominations.parse(chips.in_use(drawer.house), found.expected_pieces)
    # Tables set up before boxes were counted have no account for the drop's variance.
    chart.open_accounts(drawer.house, [table.account(Account.CASH_OVER_SHORT)])
    events = [
        *_drop_variance(table.code, found.counted_cash - found.expected_cash),
        *chip_variance(table.account(Account.TAX_BOX), table.code, counted - expected),
        posting("soft_count", {"table": table.code, "drawer": drawer.code}, cash=found.counted_cash, chips=counted),
    ]
    if moved_anything(events):
        work.post(
            key=f"soft_count:{found.pk}",
            kind="soft_count.confirmed",
            postings=events,
            metadata={"soft_count": found.pk, "table": table.code, "drawer": drawer.code},
        )


def _drop_variance(code: str, over: int) -> list[Posting]:
    return [posting("drop_over" if over > 0 else "drop_short", {"table": code}, amount=abs(over))]


def _end(command: Command, found: SoftCount, state: CountState) -> None:
    found.state, found.ended_by = state, command.context.staff
    SoftCount.objects.filter(id=found.pk).update(state=state, ended_by=found.ended_by, ended_at=ClockTimestamp())
