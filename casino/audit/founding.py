"""Founding a house: the first event of its first chain."""

from django.db import transaction

from casino.audit.events.house import HouseFounded
from casino.audit.services import Actor, record
from casino.houses.models import House


def found_house(*, code: str, name: str, currency: str, actor: Actor) -> House:
    """Found a house whose amounts are minor units of `currency` (ISO 4217). Its code is unique in the database."""
    with transaction.atomic():
        house = House(code=code, name=name, currency=currency)
        house.full_clean()
        house.save(force_insert=True)
        record(chain=house.chain, house=house, actor=actor, event=HouseFounded(name=name, currency=currency))
    return house
