"""Introducing a chip set."""

from collections.abc import Mapping

from django.db import IntegrityError, transaction

from casino.audit.events.chips import ChipsIntroduced
from casino.audit.services import Actor, record
from casino.chips.models import ChipSet, Denomination
from casino.core.denominations import ChipSet as Ladder
from casino.core.errors import Conflict
from casino.houses.models import House


def introduce(*, house: House, code: str, denominations: Mapping[int, str], actor: Actor) -> Ladder:
    """Give the house its chip set: denominations in minor units with their colours. It never changes afterwards.

    Raises Unprocessable chip_set_not_a_ladder when a denomination does not divide the next, Conflict chip_set_in_use
    when the house has one.
    """
    ladder = Ladder(code, tuple(sorted(denominations)))
    try:
        with transaction.atomic():
            chip_set = ChipSet(house=house, code=code)
            chip_set.clean_fields()
            chip_set.save(force_insert=True)
            Denomination.objects.bulk_create(
                Denomination(house=house, chip_set=chip_set, value=value, colour=denominations[value])
                for value in ladder.values
            )
            record(
                chain=house.chain,
                house=house,
                actor=actor,
                event=ChipsIntroduced(
                    chip_set=code, denominations={str(value): denominations[value] for value in ladder.values}
                ),
            )
    except IntegrityError:
        raise Conflict(f"House {house.code} already has a chip set.", code="chip_set_in_use") from None
    return ladder
