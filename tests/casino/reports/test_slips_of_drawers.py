"""A1 and A2: Z slips and X readings as reports, with known numbers; slips of 80 mm; and what was forged is seen."""

import re
from typing import Any

from casino.audit.events.cage import DrawerXRead
from casino.reports.frame import as_of, registry
from casino.reports.frame.columns import Sums
from casino.reports.frame.report import Scope
from casino.staff.models import Role
from tests.casino.kit import Kit
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.reports.test_catalogue_of_control import broken, forged
from tests.casino.reports.test_runs import asked, downloaded

DAY = "2024-05-01"


def shifts(kit: Kit) -> Any:
    """Two shifts of one drawer in a day: a sale and an X reading in the first, 10 short in the second."""
    kit.office(Role.MANAGER).ok("days", {"day": DAY})
    kit.players("anna")
    cashier, supervisor = kit.cashier(), kit.office(Role.CAGE_SUPERVISOR)
    kit.open_drawer(cashier, cash=50_000, pieces={"500": 40, "100": 50})
    cashier.ok("buy-ins", {"player": "anna", "amount": 3_000})
    read = supervisor.ok("drawers/C1/x-readings", {})
    cashier.ok("cash-outs", {"player": "anna", "amount": 1_000})
    kit.close_drawer(cashier)
    kit.open_drawer(cashier, cash=1_000, pieces={"100": 5})
    kit.close_drawer(cashier, cash=990)
    return read


def test_z_slips_of_a_day_with_their_counts_movements_and_sums(kit: Kit) -> None:
    shifts(kit)
    found = made(kit, "z-slips", **{"from": DAY, "until": DAY})
    heads, counts, pieces, movements, explained, checks, assertions, proofs = (rows(found, at) for at in range(8))
    assert [(row["drawer"], row["z"], row["day"]) for row in heads] == [("C1", 1, DAY), ("C1", 2, DAY)]
    by_what = {(row["z"], row["what"]): row for row in counts}
    cash = by_what[1, "cash"]
    assert (cash["float"], cash["expected"], cash["first_count"], cash["accepted"], cash["variance"]) == (
        50_000, 52_000, 52_000, 52_000, 0,
    )  # fmt: skip
    assert (by_what[1, "chips"]["float"], by_what[1, "chips"]["accepted"]) == (25_000, 23_000)
    short = by_what[2, "cash"]
    assert (short["expected"], short["first_count"], short["recount"], short["variance"]) == (1_000, 990, 990, -10)
    assert sum(row["accepted"] * row["value"] for row in pieces if row["z"] == 1) == 23_000
    sold = {row["kind"]: row for row in movements if row["z"] == 1}
    assert (sold["cage.buy_in"]["count"], sold["cage.buy_in"]["cash_in"], sold["cage.buy_in"]["chips_out"]) == (
        1, 3_000, 3_000,
    )  # fmt: skip
    assert explained == [] and assertions and all(row["holds"] for row in checks)
    first, second = proofs
    assert (second["previous_event"], second["previous_hash"]) == (first["last_event"], first["last_hash"])
    assert first["previous_event"] is None
    # The slip says the same as the address of the slip does.
    z = kit.office(Role.AUDITOR).get("drawers/C1/shifts/1/z").json()
    assert (first["last_event"], first["last_hash"]) == (z["last_event"]["seq"], z["last_event"]["hash"])
    assert len([row for row in checks if row["z"] == 1]) == len(z["equalities"])
    assert [row["z"] for row in rows(made(kit, "z-slips", drawer="C1", z="2"))] == [2]
    kit.office(Role.ADMIN).ok("drawers", {"drawer": "C2"})
    assert rows(made(kit, "z-slips", drawer="C2")) == []


def test_an_x_reading_says_later_what_it_has_seen(kit: Kit) -> None:
    read = shifts(kit)
    found = made(kit, "x-readings")
    [reading], pieces, movements, checks = (rows(found, at) for at in range(4))
    assert (reading["x"], reading["shift"], reading["day"]) == (1, 1, DAY)
    assert (reading["cash"], reading["chips"]) == (53_000, 22_000)
    assert (reading["cash"], reading["chips"]) == (read["expected"]["cash"], read["expected"]["chips"])
    assert {str(row["value"]): row["expected"] for row in pieces if row["expected"]} == read["expected"]["pieces"]
    assert {row["kind"] for row in movements} == {"drawer.opened", "cage.buy_in"}
    there = {row["sum"]: (row["money_one"], row["money_other"]) for row in checks}
    assert {(row["one"], row["other"]) for row in checks} == {(None, None)}
    by_type = {kind: [one for one in read["equalities"] if one["type"] == kind] for kind in ("money", "pieces")}
    assert by_type["pieces"] and all(": pieces of " in one["name"] for one in by_type["pieces"])
    for one in by_type["money"]:
        assert there.get(one["name"], (0, 0)) == (one["left"], one["right"])
    # The shift has ended: a supervisor reads the same, but the run says for whom it is.
    again = made(kit, "x-readings", Role.CAGE_SUPERVISOR)
    assert rows(again) == rows(found) and again["head"]["filters"] == {"figures": "counted"}


def test_a_supervisor_knows_no_reading_of_another_of_a_shift_that_is_still_to_be_counted(kit: Kit) -> None:
    kit.office(Role.MANAGER).ok("days", {"day": DAY})
    kit.players("anna")
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=50_000, pieces={"500": 40, "100": 50})
    cashier.ok("buy-ins", {"player": "anna", "amount": 3_000})
    kit.office(Role.AUDITOR).ok("drawers/C1/x-readings", {})
    found = made(kit, "x-readings", Role.CAGE_SUPERVISOR)
    [reading], pieces, movements, checks = (rows(found, at) for at in range(4))
    assert (reading["x"], reading["float_cash"]) == (1, 50_000)
    assert (reading["cash"], reading["chips"], reading["foreign"]) == (None, None, None)
    assert reading["note"] == "to be counted without knowing it"
    assert (pieces, movements, checks) == ([], [], [])
    assert rows(made(kit, "x-readings"))[0]["cash"] == 53_000
    kit.close_drawer(cashier)
    assert rows(made(kit, "x-readings", Role.CAGE_SUPERVISOR))[0]["cash"] == 53_000


def test_slips_of_80_mm_have_a_qr_code_for_each_slip_and_one_of_the_checkpoint(kit: Kit) -> None:
    shifts(kit)
    office = kit.office(Role.AUDITOR)
    runs = [asked(office, name, formats=["slip"]) for name in ("z-slips", "x-readings")]
    assert kit.make_reports() == ["made", "made"]
    for run in runs:
        files = downloaded(office, office.get(f"report-runs/{run['run']}").json())
        [(name, slip)] = files.items()
        assert name == f"{run['report']}-slip.pdf" and slip.startswith(b"%PDF")
        width = re.search(rb"/MediaBox \[ 0 0 ([0-9.]+) ", slip)
        assert width is not None and round(float(width[1]) * 25.4 / 72) == 80


def test_a_reading_that_nobody_took_and_a_day_that_is_later(kit: Kit) -> None:
    shifts(kit)
    scope = Scope(kit.house, as_of.now(kit.house), {})
    assert broken(kit, "x-readings") == []
    forged(kit, "drawer/C1", DrawerXRead(x_reading=7, shift=2))
    # It is said to be of a shift that was closed, and numbers are missing before it.
    assert broken(kit, "x-readings") == [
        "sums of the readings that hold = sums of the readings", "readings of C1 = its last number - its first + 1",
    ]  # fmt: skip
    # As of the moment before, nothing has changed.
    sums = Sums(registry.get("x-readings").sections[0].columns)
    for row in registry.get("x-readings").sections[0].rows(scope):
        sums.add(row)
    assert sums.row_count == 1


def test_a_count_that_was_altered_is_seen(kit: Kit) -> None:
    from tests.casino.hands.test_settlement import alter_as_superuser

    shifts(kit)
    assert broken(kit, "z-slips") == []
    alter_as_superuser("UPDATE cage_shift SET counted_cash = counted_cash + 7 WHERE number = 2 AND house_id = %s",
                       kit.house.id)  # fmt: skip
    assert broken(kit, "z-slips") == ["sums of the slips that hold = sums of the slips", "variances of cash = 5200"]
