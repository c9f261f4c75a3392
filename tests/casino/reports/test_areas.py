"""Areas of the room: a table is set up in one for good, and reports of revenue and of tables are narrowed to it."""

import json

from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.api.test_places import TABLE
from tests.casino.kit import SAMPLE, Kit
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.reports.test_runs import asked, downloaded
from tests.casino.scene import assert_problem

AREAS = {"T1": "bar", "T2": "hall", "T3": "hall", "T4": None}
DAY = "2024-05-01"


def played(kit: Kit) -> None:
    """Tables of AREAS, set up over HTTP, and one hand at each of the first three."""
    admin = kit.office(Role.ADMIN)
    for code, area in AREAS.items():
        terms = TABLE | {"table": code} | ({} if area is None else {"area": area})
        assert admin.post("tables", terms).status_code == 201
        kit.office(Role.CAGE_SUPERVISOR).ok(f"tables/{code}/tray", {"amount": 100_000})
    kit.office(Role.MANAGER).ok("days", {"day": DAY})
    for code in ("T1", "T2", "T3"):
        desk = kit.seated(code)
        desk.ok("hands", {"mode": "physical", "button": 4})
        desk.act(*SAMPLE[:12])
        desk.act(*SAMPLE[12:])
        assert kit.settle() == ["settled"]


def test_revenue_of_an_area_is_that_of_its_tables(kit: Kit) -> None:
    played(kit)
    found = rows(made(kit, "daily-revenue"))
    assert [(row["place"], row["area"], row["tax"]) for row in found] == [
        ("T1", "bar", 165), ("T2", "hall", 165), ("T3", "hall", 165),
    ]  # fmt: skip
    hall = made(kit, "daily-revenue", area="hall")
    assert [row["place"] for row in rows(hall)] == ["T2", "T3"]
    [month] = rows(hall, 1)
    assert (month["tax"], month["result"]) == (330, 330)
    assert "tax of all days = balance of the accounts" in [one["equality"] for one in hall["equalities"]]
    assert rows(made(kit, "daily-revenue", area="hall", place="T1")) == []
    assert {row["table"] for row in rows(made(kit, "table-result", area="bar"))} == {"T1"}
    assert not verify_house(kit.house).findings


def test_revenue_is_summed_by_area(kit: Kit) -> None:
    played(kit)
    office = kit.office()
    run = asked(office, "daily-revenue", formats=["json"], group_by="area", filters={"from": DAY, "until": DAY})
    assert kit.make_reports() == ["made"]
    made_run = office.get(f"report-runs/{run['run']}").json()
    assert all(one["holds"] for one in made_run["equalities"])
    groups = json.loads(downloaded(office, made_run)["daily-revenue.json"])["sections"][0]["groups"]
    tax = groups["columns"].index("tax")
    assert [(row[0], row[tax]) for row in groups["rows"]] == [("bar", 165), ("hall", 330)]


def test_a_report_of_an_area_that_the_house_has_not_is_refused_with_those_it_has(kit: Kit) -> None:
    played(kit)
    body = {"formats": ["json"], "filters": {"area": "garden"}}
    problem = assert_problem(kit.office().post("reports/daily-revenue/runs", body), 422, "report_filter")
    assert problem["choices"] == ["bar", "hall"]


def test_tables_are_listed_by_area_and_keep_it_when_they_are_retired(kit: Kit) -> None:
    admin = kit.office(Role.ADMIN)
    for code, area in AREAS.items():
        terms = TABLE | {"table": code} | ({} if area is None else {"area": area})
        answer = admin.post("tables", terms)
        assert answer.json()["area"] == (area or "")
    retired = admin.ok("tables/T2/retire", {"reason": "the hall is smaller now"}, version=1)
    assert (retired["state"], retired["area"]) == ("retired", "hall")
    listed = admin.get("tables?area=hall").json()["results"]
    assert [(row["table"], row["area"], row["state"]) for row in listed] == [
        ("T2", "hall", "retired"), ("T3", "hall", "closed"),
    ]  # fmt: skip
    assert_problem(admin.post("tables", TABLE | {"table": "T5", "area": "the hall"}), 400, "invalid_request")
    assert not verify_house(kit.house).findings
