"""Reading tables."""

from dataclasses import dataclass
from typing import Any

from casino.bookkeeping import chart
from casino.core.errors import NotFound
from casino.houses.models import House
from casino.tables.models import Seating, SeatKey, Table, TableSession


def get(house: House, code: str) -> Table:
    """One table of the house. Raises NotFound."""
    table = Table.objects.filter(house=house, code=code).first()
    if table is None:
        raise NotFound(f"This house has no table {code}.")
    return table


def open_session(table: Table) -> TableSession | None:
    """The session in progress, or None when the table is closed."""
    return TableSession.objects.filter(table=table, closed_at=None).first()


def seated(table: Table) -> list[Seating]:
    """Who sits there now, in play order."""
    return list(
        Seating.objects.filter(session__table=table, session__closed_at=None, left_at=None)
        .select_related("player")
        .order_by("seat")
    )


def devices(seatings: list[Seating]) -> set[int]:
    """Which of these seats have a device of the player's own: a key that is good."""
    keys = SeatKey.objects.filter(seating__in=seatings, seating__left_at=None, replaced_at=None)
    return set(keys.values_list("seating__seat", flat=True))


def stacks(table: Table, seatings: list[Seating]) -> dict[str, int]:
    """Chips in front of each seated player, by player reference, in minor units."""
    codes = {seating.player.ref: table.stack_account(seating.player.ref) for seating in seatings}
    balances = chart.balances(table.house, codes.values()) if codes else {}
    return {ref: balances[code] for ref, code in codes.items()}


@dataclass(frozen=True, slots=True)
class Carried:
    """What lies at a table between two hands, in minor units: a pot that nobody has won, and the bank of the seats."""

    cukassza: int
    bank: int

    @property
    def whole(self) -> int:
        """What the next hand begins with."""
        return self.cukassza + self.bank


def carried(table: Table) -> Carried:
    """What is carried over to the next hand."""
    codes = table.account("2040"), table.account("2050")
    found = chart.balances(table.house, codes)
    return Carried(*(found[code] for code in codes))


def describe(table: Table) -> dict[str, Any]:
    """A table as its console sees it."""
    seatings = seated(table)
    chips, own, waiting = stacks(table, seatings), devices(seatings), carried(table)
    return {
        "table": table.code,
        "game": table.game,
        "options": table.options,
        "state": table.state,
        "version": table.version,
        "currency": table.house.currency,
        "seats": [
            {
                "seat": seating.seat,
                "player": seating.player.ref,
                "stack": chips[seating.player.ref],
                "device": seating.seat in own,
            }
            for seating in seatings
        ],
        "seat_count": table.seats,
        "next_dealer_seat": table.dealer_seat,
        "hands_dealt": table.hands_dealt,
        "prepared_deal": table.prepared_deal or None,
        "cukassza": waiting.cukassza,
        "bank": waiting.bank,
        "limits": {"min_stack": table.min_stack, "max_stack": table.max_stack},
        "carryover_on_close": table.carryover_on_close,
        "client_seeds": table.client_seeds,
        "time_to_act": table.time_to_act,
        "seat_fee": {"amount": table.seat_fee, "per": table.seat_fee_per},
    }
