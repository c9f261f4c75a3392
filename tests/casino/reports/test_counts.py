"""A9a, A9b, A9c through HTTP: counts of trays, vault and drawers; openers against closers; figures that stay blind."""

import json

from casino.staff.models import Role
from tests.casino.kit import TRAY, Kit
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.reports.test_runs import asked, downloaded
from tests.casino.scene import figures_of
from tests.casino.transfers.test_transfers import FILL, WORTH
from tests.casino.transfers.test_tray_counts import HELD, Trays

WHOLE = sum(value * count for value, count in TRAY.items())


def test_an_opener_is_compared_with_the_closer_and_what_came_since(kit: Kit) -> None:
    trays = Trays(kit)
    trays.both(HELD, "opener")
    trays.both(HELD, "closer")
    trays.ends.cashier.refresh()
    number = trays.ends.filled()
    trays.dealer.refresh()
    assert trays.ends.receive(number, FILL).status_code == 200
    filled = {value: HELD[value] + FILL.get(value, 0) for value in HELD}
    trays.both(filled | {"100": filled["100"] - 2}, "opener")
    trays.count(HELD)
    cashier = kit.cashier()
    kit.close_drawer(cashier, cash=kit.held()["cash"] - 70)
    report = made(kit, "tray-counts")
    first, closer, opener, waiting = rows(report)
    assert (first["closer"], first["same"], closer["purpose"], closer["counted"]) == (None, None, "closer", WHOLE)
    assert (opener["closer"], opener["left"], opener["counted"]) == (2, WHOLE + WORTH, WHOLE + WORTH - 200)
    assert (opener["same"], opener["variance"], opener["exception"]) == (False, -200, "differs_from_closer")
    assert (waiting["state"], waiting["counted"], waiting["expected"]) == ("waiting", None, None)
    [drawer] = rows(made(kit, "drawer-counts"))
    assert (drawer["drawer"], drawer["cash_variance"], drawer["expected_cash"] - drawer["cash"]) == ("C1", -70, 70)
    assert [row["serial"] for row in rows(made(kit, "tray-counts", purpose="opener", table="T1"))] == [1, 3]


def test_who_counts_reads_no_figure_of_the_newest_count(kit: Kit) -> None:
    trays = Trays(kit)
    trays.both(HELD, "closer")
    odd = HELD | {"100": HELD["100"] - 7}
    trays.both(odd, "closer")
    found = WHOLE - 700
    run = asked(kit.office(), "tray-counts", formats=["json", "csv"])
    kit.make_reports()
    for role in (Role.FLOOR,):
        office = kit.office(role)
        mine = asked(office, "tray-counts", formats=["json", "csv"], filters={"figures": "all"})
        assert kit.make_reports() == ["made"]
        mine = office.get(f"report-runs/{mine['run']}").json()
        assert mine["filters"] == {"figures": "counted"}
        files = downloaded(office, mine)
        found_in = figures_of(json.dumps(mine["equalities"]).encode() + b"".join(files.values()))
        listed = figures_of(files["tray-counts.json"].split(b'"rows"', 1)[1])
        assert str(found) not in found_in and str(WHOLE) in found_in
        assert str(odd["100"]) not in listed and str(WHOLE) in listed
        before, newest = rows(json.loads(files["tray-counts.json"]))
        assert (before["counted"], newest["counted"], newest["expected"], newest["variance"]) == (
            WHOLE,
            None,
            None,
            -700,
        )
        assert newest["note"] == "to be counted without knowing it"
        # Nor in a run of those who may know.
        assert office.get(f"report-runs/{run['run']}").status_code == 403
        assert office.get(f"report-runs/{run['run']}/files/tray-counts.json").status_code == 403
        assert run["run"] not in [one["run"] for one in office.get("report-runs").json()["results"]]
        again = asked(office, "tray-counts", formats=["json"], repeats=run["run"])
        assert again["filters"] == {"figures": "counted"}
        kit.make_reports()
    assert str(found) in json.dumps(made(kit, "tray-counts"))


def test_chips_of_others_that_are_missing_are_in_the_sums_of_counts(kit: Kit) -> None:
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=50_000, chips=50_000)
    cashier.ok("foreign-chips", {"amount": 1_000, "issuer": "Casino Wien"})
    kit.close_drawer(cashier, foreign=900)
    [drawer] = rows(made(kit, "drawer-counts"))
    assert (drawer["cash_variance"], drawer["foreign"]) == (0, -100)


def test_the_floor_reads_no_figures_of_the_cage_nor_the_cage_those_of_trays(kit: Kit) -> None:
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=50_000, chips=50_000)
    kit.close_drawer(cashier, cash=49_000)
    for name, may, may_not in (
        ("tray-counts", Role.FLOOR, Role.CAGE_SUPERVISOR),
        ("vault-counts", Role.CAGE_SUPERVISOR, Role.FLOOR),
        ("drawer-counts", Role.CAGE_SUPERVISOR, Role.FLOOR),
    ):
        refused = kit.office(may_not).post(f"reports/{name}/runs", {"formats": ["json"]})
        assert refused.status_code == 403, name
        made(kit, name, may)
    [drawer] = rows(made(kit, "drawer-counts", Role.CAGE_SUPERVISOR))
    assert drawer["cash_variance"] == -1_000
