"""A rehearsal plays an evening in a sandbox copy of a house, and says in the house's chain what passed."""

from collections.abc import Iterator

import pytest

from casino.golive.rehearsing import rehearse
from casino.houses.models import House, HouseStage
from casino.reports import configuration
from casino.staff.models import Role, Staff
from tests.casino.kit import ACTOR, FAERBELN, Kit


@pytest.fixture
def kit(live_db: None) -> Iterator[Kit]:
    """A house that is founded, with two tables and one person of every role."""
    kit = Kit.found(sandbox=False)
    kit.table("T1")
    kit.table_for("faerbeln", FAERBELN, code="T2", seats=4)
    for role in Role:
        kit.office(role)
    yield kit
    kit.close()


def test_an_evening_passes_in_a_copy_where_nobody_can_sign_in(kit: Kit) -> None:
    made = rehearse(kit.house, ACTOR)
    assert [item for item in made.items if "failed" in item] == []
    assert made.passed and made.number == 1 and made.sandbox == f"{kit.house.code}-R1"
    assert made.verified["hands"] >= 2
    assert configuration.passed(kit.house) == made
    copy = House.objects.get(code=made.sandbox)
    assert (copy.stage, copy.is_sandbox) == (HouseStage.SANDBOX, True)
    people = Staff.objects.filter(house=copy)
    assert len(people) == Staff.objects.filter(house=kit.house).count()
    assert not any(person.has_usable_password() for person in people)
