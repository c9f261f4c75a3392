"""Whose turn it is to deal at a table, as rows."""

from django.db import IntegrityError, transaction

from casino.core.errors import Conflict
from casino.core.work import Work
from casino.houses.models import ClockTimestamp
from casino.staff.models import Staff
from casino.tables.models import DealerTurn, Table, TurnEnd


def in_force(table: Table) -> DealerTurn | None:
    """The turn of the table's dealer, with the dealer; None where nobody has taken the table over."""
    if table.dealer_id is None:
        return None
    return DealerTurn.objects.select_related("dealer").get(house=table.house_id, table=table, ended_at=None)


def end(table: Table, ended_with: TurnEnd, work: Work) -> None:
    """End the turn of the locked table's dealer, if it has one, with what the work sends next."""
    if table.dealer_id is None:
        return
    work.soon(
        DealerTurn.objects.filter(house=table.house_id, table=table, ended_at=None),
        ended_at=ClockTimestamp(), last_hand=table.hands_dealt, ended_with=ended_with,
    )  # fmt: skip
    work.soon(Table.objects.filter(id=table.pk), dealer=None)
    table.dealer = None


def begin(table: Table, dealer: Staff) -> DealerTurn:
    """Begin a turn of this dealer at the locked table, which has no dealer. Raises Conflict dealer_elsewhere."""
    last = DealerTurn.objects.filter(house=table.house_id, table=table).order_by("-number").first()
    number = last.number + 1 if last else 1
    try:
        with transaction.atomic():
            turn = DealerTurn.objects.create(
                house_id=table.house_id, table=table, number=number, dealer=dealer, first_hand=table.hands_dealt + 1
            )
    except IntegrityError:
        raise _elsewhere(dealer) from None
    Table.objects.filter(id=table.pk).update(dealer=dealer)
    table.dealer = dealer
    return turn


def _elsewhere(dealer: Staff) -> Conflict:
    there = DealerTurn.objects.filter(dealer=dealer, ended_at=None).select_related("table").first()
    where = f"table {there.table.code}" if there else "another table"
    return Conflict(f"{dealer.login} deals at {where}; leave it or be relieved there first.", code="dealer_elsewhere")
