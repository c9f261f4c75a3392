"""Rates of the gaming duty: stated over HTTP, each version from a month on, and the duty return by them."""

import json
from typing import Any

import pytest

from casino.audit.events.house import DutyRatesSet
from casino.houses.duty_rates import by_band
from casino.houses.models import DutyRates
from casino.reports.frame import registry
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.kit import Kit
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.reports.test_catalogue_of_control import broken, forged
from tests.casino.reports.test_catalogue_of_control import rows_of as read_rows
from tests.casino.superuser import unguarded
from tests.casino.transfers.test_transfers import refusal

WHY = {"reason": "as the gaming act has it"}
#: Nothing of the first 100, 30 % of what lies above, 40 % above 300.
RATES = {
    "valid_from": "2024-05", "tax_code": "GD-1", "base": "take", "deductions": [{"name": "relief", "amount": 50}],
    "bands": [{"above": 0, "rate": 0}, {"above": 100, "rate": 3_000}, {"above": 300, "rate": 4_000}],
} | WHY  # fmt: skip
#: Sections of the report.
RETURN, BANDS, DEDUCTIONS, VERSIONS = 4, 5, 6, 7


@pytest.fixture
def may(kit: Kit) -> Kit:
    """A house with a tax of 165 in May 2024, and June begun."""
    manager = kit.office(Role.MANAGER)
    manager.ok("days", {"day": "2024-05-31"})
    kit.worked_hand()
    assert kit.settle() == ["settled"]
    manager.ok("days", {"day": "2024-06-01"})
    return kit


def stated(kit: Kit, **changed: Any) -> Any:
    return kit.office(Role.ADMIN).post("duty/rates", RATES | changed)


def codes(kit: Kit) -> list[str]:
    return [one.code for one in verify_house(kit.house).findings]


def test_bands_together_are_the_duty_rounded_down() -> None:
    bands = [{"above": 0, "rate": 3_333}, {"above": 10, "rate": 3_333}, {"above": 20, "rate": 5_000}]
    assert by_band(25, bands) == [(10, 3), (10, 3), (5, 3)]  # 3.333 + 3.333 + 2.5 = 9.166
    assert by_band(0, bands) == [(0, 0)] * 3
    assert by_band(10, bands) == [(10, 3), (0, 0), (0, 0)]


def test_the_return_is_made_by_the_rates_and_holds_once_that_was_booked(may: Kit) -> None:
    kit = may
    assert stated(kit).status_code == 201
    # 165 less 50 are 115, of which 15 bear 30 %: 4.5, rounded down.
    [month] = rows_of(kit, RETURN)
    assert (month["month"], month["over"], month["base"], month["deductions"]) == ("2024-05", True, 165, 50)
    assert (month["taxable"], month["duty"], month["booked"], month["difference"]) == (115, 4, 0, 4)
    not_booked = [
        "duty by law of months that are over = what was booked on them",
        "months whose duty is what was booked = months that are over",
    ]
    assert broken(kit, "duty-return") == not_booked
    keeper = kit.office(Role.CAGE_SUPERVISOR)
    booking = {"amount": 5, "for_month": "2024-05", "due_on": "2024-06-20", "reason": "May"}
    entry = kit.approved(keeper, "duty", booking)["audit"]["seq"]
    assert broken(kit, "duty-return") == not_booked
    kit.approved(keeper, "duty/lowerings", {"entry": entry, "amount": 1, "reason": "rounded down"})
    found = made(kit, "duty-return")
    [month] = rows(found, RETURN)
    assert (month["duty"], month["booked"], month["difference"], month["due_on"]) == (4, 4, 0, "2024-06-20")
    assert [(row["above"], row["inside"], row["rate"], row["duty"]) for row in rows(found, BANDS)] == [
        (0, 100, 0, 0), (100, 15, 3_000, 4), (300, 0, 4_000, 0),
    ]  # fmt: skip
    assert [(row["name"], row["amount"]) for row in rows(found, DEDUCTIONS)] == [("relief", 50)]
    [version] = rows(found, VERSIONS)
    assert (version["number"], version["bands"], version["deductions"]) == (
        1,
        "0: 0, 100: 3000, 300: 4000",
        "relief: 50",
    )
    assert rows(made(kit, "duty-return", code="OTHER"), RETURN) == []
    assert rows(made(kit, "duty-return", **{"from": "2024-06-01"}), RETURN) == []
    assert codes(kit) == []


def rows_of(kit: Kit, section: int) -> list[dict[str, Any]]:
    """Rows of a section of a report that does not reconcile yet."""
    names = [one.name for one in registry.get("duty-return").sections[section].columns]
    return [dict(zip(names, row, strict=True)) for row in read_rows(kit, "duty-return", section)]


def test_stakes_are_another_base_and_figures_are_taken_off(may: Kit) -> None:
    kit = may
    deductions = [{"name": "bonuses", "figure": "bonus"}, {"name": "goodwill", "figure": "goodwill"}]
    one_band = [{"above": 0, "rate": 100}]
    assert stated(kit, base="stakes", deductions=deductions, bands=one_band).status_code == 201
    kit.approved(kit.office(Role.CAGE_SUPERVISOR), "duty", {"amount": 33, "for_month": "2024-05", "reason": "May"})
    [month] = rows(made(kit, "duty-return"), RETURN)
    assert (month["on"], month["base"], month["deductions"], month["duty"]) == ("stakes", 3_300, 0, 33)


def test_a_month_is_taxed_at_the_version_that_began_last(may: Kit) -> None:
    kit = may
    assert stated(kit, valid_from="2024-01", bands=[{"above": 0, "rate": 1_000}], deductions=[]).status_code == 201
    assert stated(kit, valid_from="2024-06").status_code == 201
    kit.approved(kit.office(Role.CAGE_SUPERVISOR), "duty", {"amount": 16, "for_month": "2024-05", "reason": "May"})
    [month] = rows(made(kit, "duty-return"), RETURN)
    assert (month["rates"], month["duty"]) == (1, 16)
    # What was booked keeps its rates.
    refused = stated(kit, valid_from="2024-05")
    assert refusal(refused) == (422, "duty_month_booked") and refused.json()["month"] == "2024-05"
    answer = stated(kit, valid_from="2024-06", tax_code="GD-2")
    assert [one["number"] for one in answer.json()["rates"]] == [3, 2, 1]
    assert refusal(stated(kit, valid_from="2024-06", tax_code="GD-2")) == (409, "no_change")
    assert codes(kit) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"bands": []}, {"bands": [{"above": 1, "rate": 5}]}, {"bands": [{"above": 0, "rate": 10_001}]},
        {"bands": [{"above": 0, "rate": 1}, {"above": 0, "rate": 2}]}, {"valid_from": "2024-13"}, {"base": "turnover"},
        {"deductions": [{"name": "both", "amount": 1, "figure": "bonus"}]}, {"deductions": [{"name": "none"}]},
        {"deductions": [{"name": "other", "figure": "tax"}]}, {"tax_code": ""},
    ],
)  # fmt: skip
def test_rates_that_are_none(kit: Kit, changed: dict[str, Any]) -> None:
    assert refusal(stated(kit, **changed)) == (400, "invalid_request")
    assert not DutyRates.objects.filter(house=kit.house).exists()


def test_an_administrator_states_them_and_those_who_book_read_them(kit: Kit) -> None:
    assert refusal(kit.office(Role.MANAGER).post("duty/rates", RATES)) == (403, "forbidden")
    assert stated(kit).status_code == 201
    for role in (Role.CAGE_SUPERVISOR, Role.MANAGER, Role.AUDITOR, Role.ADMIN):
        [found] = kit.office(role).get("duty/rates").json()["rates"]
        assert (found["number"], found["bands"], found["approval"]) == (1, RATES["bands"], None)
    assert kit.office(Role.FLOOR).get("duty/rates").status_code == 403


def test_rates_that_were_altered_or_forged_are_found(may: Kit) -> None:
    kit = may
    assert stated(kit).status_code == 201
    with unguarded("houses_dutyrates") as cursor:
        cursor.execute("UPDATE houses_dutyrates SET bands = '[]' WHERE house_id = %s", [kit.house.id])
    assert codes(kit) == ["state_differs"]
    with unguarded("houses_dutyrates") as cursor:
        cursor.execute(
            "UPDATE houses_dutyrates SET bands = %s WHERE house_id = %s",
            [json.dumps(RATES["bands"]), kit.house.id],
        )
    assert codes(kit) == []
    said = {name: value for name, value in RATES.items() if name != "bands"}
    forged(kit, kit.house.chain, DutyRatesSet(number=3, bands=[{"above": 5, "rate": 20_000}], **said))
    found = [one.code for one in verify_house(kit.house).findings]
    assert found.count("state_event_differs") == 2
