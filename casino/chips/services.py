"""Introducing chip sets. The first one is in use at once; another one waits until it takes its place
(`casino/transfers/chip_sets.py`)."""

from collections.abc import Mapping

from django.db import IntegrityError

from casino.audit.events.chips import ChipsIntroduced
from casino.audit.services import Actor, record
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.chips import selectors as chips
from casino.chips.models import ChipSet, Denomination
from casino.core import locks, sql, write
from casino.core.commands import Answer, Command
from casino.core.denominations import ChipSet as Ladder
from casino.core.errors import Conflict
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import House


def introduce(*, house: House, code: str, denominations: Mapping[int, str], actor: Actor) -> Ladder:
    """Give the house a chip set: denominations in minor units with their colours. It never changes afterwards.

    Raises as :func:`introduce_at_office`.
    """
    ladder = Ladder(code, tuple(sorted(denominations)))
    with sql.joined():
        record(chain=house.chain, house=house, actor=actor, event=_introduced(house, ladder, denominations))
    return ladder


def introduce_at_office(*, command: Command, code: str, denominations: Mapping[int, str]) -> Answer:
    """Give the house a chip set, as :func:`introduce` does. Raises Unprocessable chip_set_not_a_ladder when a
    denomination does not divide the next, Conflict chip_set_exists when the house has one of this code, and
    vault_not_open for a second one before the chips of the first are in the vault, WrongTerminal."""
    ladder = Ladder(code, tuple(sorted(denominations)))

    def change(house: House, work: Work) -> Outcome:
        event = _introduced(house, ladder, denominations)
        return Outcome(event, {"chip_set": code, "denominations": event.denominations}, 201)

    return write.write(command, OfHouse(lock=locks.lock_places, office=True), change)


def _introduced(house: House, ladder: Ladder, colours: Mapping[int, str]) -> ChipsIntroduced:
    first = not ChipSet.objects.filter(house=house, in_use=True).exists()
    if not first and not chart.is_open(house, Account.VAULT_CASH):
        raise Conflict("Bring the chips of the first set into the vault first.", code="vault_not_open")
    try:
        chip_set = ChipSet(house=house, code=ladder.code, in_use=first)
        chip_set.clean_fields(exclude=["house"])
        chip_set.save(force_insert=True)
        Denomination.objects.bulk_create(
            Denomination(house=house, chip_set=chip_set, value=value, colour=colours[value]) for value in ladder.values
        )
    except IntegrityError:
        raise Conflict(f"House {house.code} has a chip set {ladder.code} already.", code="chip_set_exists") from None
    chips.changed(house)
    if not first:
        chart.open_racks(house, ladder, vault=True)
    return ChipsIntroduced(chip_set=ladder.code, denominations={str(value): colours[value] for value in ladder.values})
