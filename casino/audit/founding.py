"""Founding a house: the first event of its first chain, and its first data key."""

from casino.audit.events.house import HouseFounded
from casino.audit.services import Actor, record
from casino.core import seal_key, sql, valid
from casino.houses import sealing
from casino.houses.models import House, HouseStage


def found_house(
    *, code: str, name: str, currency: str, actor: Actor, currency_exponent: int = 0, time_zone: str = "UTC",
    second_factor_required: bool = True, sandbox: bool = False,
) -> House:  # fmt: skip
    """Found a house whose amounts are minor units of `currency` (ISO 4217), of which 10 ** `currency_exponent` make one
    unit, and whose people read times in `time_zone` (IANA). Its code is unique in the database. Without
    `second_factor_required` a password is enough for everybody: for rehearsals. A `sandbox` plays at once and never
    goes live.

    Raises ValidationError, KeyUnavailable, and SealKeyRetired where a house was rotated away from the seal key."""
    with sql.joined():
        house = House(
            code=code, name=name, currency=currency, currency_exponent=currency_exponent, time_zone=time_zone,
            second_factor_required=second_factor_required, is_sandbox=sandbox,
            stage=HouseStage.SANDBOX if sandbox else HouseStage.FOUNDING,
        )  # fmt: skip
        valid.create(house)
        key = seal_key.configured()
        sealing.begin(house.id, 1, key)
        event = HouseFounded(
            name=name,
            currency=currency,
            currency_exponent=currency_exponent or None,
            time_zone=time_zone,
            second_factor_required=second_factor_required or None,
            sandbox=sandbox or None,
            seal_key=key.id,
        )
        record(chain=house.chain, house=house, actor=actor, event=event)
    return house
