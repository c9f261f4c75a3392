"""A rehearsal plays an evening in a sandbox copy of a house, and says in the house's chain what passed."""

from collections.abc import Iterator

import pytest
from django.core.management import CommandError, call_command

from casino.approvals.control_points import set_at_founding
from casino.golive.rehearsing import rehearse
from casino.houses.models import House, HouseStage, Rehearsal
from casino.reports import configuration
from casino.staff.models import Role, Staff
from casino.verification.auditing import verify_house
from tests.casino.kit import ACTOR, FAERBELN, Kit
from tests.casino.superuser import unguarded


@pytest.fixture
def kit(live_db: None) -> Iterator[Kit]:
    """A house that is founded, with two tables and one person of every role."""
    kit = Kit.found(sandbox=False)
    kit.table("T1")
    kit.table_for("faerbeln", FAERBELN, code="T2", seats=4)
    for role in (*Role, Role.ADMIN, Role.COUNT):
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


def test_a_retired_drawer_is_not_copied(kit: Kit) -> None:
    admin = kit.office(Role.ADMIN)
    admin.ok("drawers", {"drawer": "C8"})
    assert configuration.configuration(kit.house)["drawers"] == ["C1", "C8"]
    admin.ok("drawers/C8/retire", {"reason": "one window is closed"}, version=1)
    assert configuration.configuration(kit.house)["drawers"] == ["C1"]
    made = rehearse(kit.house, ACTOR)
    assert made.passed
    assert list(House.objects.get(code=made.sandbox).drawers.values_list("code", flat=True)) == ["C1"]


def test_a_house_of_small_floats_that_always_asks_who_a_player_is_is_rehearsed(kit: Kit) -> None:
    points = {"identity_from": 0, "float_most": 2_000_000}
    set_at_founding(house=kit.house, points=points, actor=ACTOR)
    made = rehearse(kit.house, ACTOR)
    assert [item for item in made.items if "failed" in item] == []


def test_what_did_not_pass_is_recorded_and_the_house_is_not_ready(kit: Kit) -> None:
    # With these control points a drawer that has sold chips once sells none any more.
    set_at_founding(house=kit.house, points={"no_buy_in_above": 0}, actor=ACTOR)
    with pytest.raises(CommandError, match=r"Rehearsal 1 in .*-R1 did not pass"):
        call_command("rehearse", kit.house.code)
    made = Rehearsal.objects.get(house=kit.house)
    failed = {item["item"]: item["failed"] for item in made.items if "failed" in item}
    assert failed["table T1"].startswith("skim_needed: ")
    assert not made.passed and configuration.passed(kit.house) is None
    set_at_founding(house=kit.house, points={"no_buy_in_above": 100_000_000}, actor=ACTOR)
    call_command("rehearse", kit.house.code)
    assert [one.passed for one in Rehearsal.objects.filter(house=kit.house).order_by("number")] == [False, True]
    assert configuration.passed(kit.house) is not None
    assert verify_house(kit.house).findings == []
    with unguarded("houses_rehearsal") as cursor:
        cursor.execute("UPDATE houses_rehearsal SET passed = true WHERE id = %s", [made.pk])
    assert [(one.code, one.place) for one in verify_house(kit.house).findings] == [
        ("state_differs", "houses.Rehearsal 1, passed")
    ]


def test_a_house_without_people_or_places_is_not_rehearsed(live_db: None) -> None:
    kit = Kit.found(bare=True, sandbox=False)
    with pytest.raises(CommandError, match=r"people, chip_set, vault, drawers, tables\. \[house_not_ready\]"):
        call_command("rehearse", kit.house.code)
    assert not House.objects.filter(code=f"{kit.house.code}-R1").exists()
    kit.close()
