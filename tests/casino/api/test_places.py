"""A house is set up over HTTP: chip set, vault, drawers, tables, trays; each once, each with its event."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections

from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.cage.models import Drawer
from casino.chips.models import ChipSet
from casino.staff.models import Role, TerminalKind
from casino.tables.models import Table, TableTerms
from casino.verification import auditing
from ledger.checks import verify
from tests.casino.devices import events
from tests.casino.kit import FERBLI, PIECES, SAMPLE, Desk, Kit
from tests.casino.scene import assert_problem

VAULT_PIECES = {str(value): count for value, count in PIECES.items()}
TRAY = {"1": 400, "5": 400, "25": 400, "100": 400, "500": 200, "1000": 50}
CHIP_SET = {"chip_set": "MAIN", "denominations": dict.fromkeys(VAULT_PIECES, "red")}
VAULT = {"capital": 50_000_000, "pieces": VAULT_PIECES}
TABLE = {
    "table": "T1", "game": "ferbli", "options": FERBLI, "seat_count": 4, "min_stack": 1_000, "max_stack": 100_000,
    "carryover_on_close": "split",
}  # fmt: skip


@pytest.fixture
def kit(live_db: None) -> Iterator[Kit]:
    """A house that has only been founded."""
    kit = Kit.found(bare=True)
    yield kit
    kit.close()


@pytest.fixture
def admin(kit: Kit) -> Desk:
    return kit.office(Role.ADMIN)


@pytest.fixture
def keeper(kit: Kit) -> Desk:
    return kit.office(Role.CAGE_SUPERVISOR)


def made(desk: Desk, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """What was answered to a request that was carried out."""
    answer = desk.post(path, body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def founded(admin: Desk, keeper: Desk) -> None:
    made(admin, "chip-sets", CHIP_SET)
    made(keeper, "vault/opening", VAULT)
    made(admin, "drawers", {"drawer": "C1"})
    made(admin, "tables", TABLE)
    made(keeper, "tables/T1/tray", {"pieces": TRAY})


def test_a_hand_is_played_in_a_house_that_was_set_up_over_http(kit: Kit, admin: Desk, keeper: Desk) -> None:
    founded(admin, keeper)
    desk = kit.seated()
    desk.ok("hands", {"mode": "physical", "button": 4})
    desk.act(*SAMPLE[:12])
    desk.act(*SAMPLE[12:])
    assert kit.settle() == ["settled"]
    report = auditing.verify_house(kit.house)
    assert [finding.code for finding in report.findings] == []
    assert not verify(kit.house.id)


def test_each_step_is_an_event_of_the_person_in_the_chain_of_its_place(kit: Kit, admin: Desk, keeper: Desk) -> None:
    founded(admin, keeper)
    kinds = ("chips.introduced", "vault.opened", "drawer.set_up", "table.set_up", "table.tray_stocked")
    found = [(kind, event["chain"], event["role"]) for kind in kinds for event in events(kit, kind)]
    assert found == [
        ("chips.introduced", kit.house.chain, "admin"),
        ("vault.opened", kit.house.chain, "cage_supervisor"),
        ("drawer.set_up", "drawer/C1", "admin"),
        ("table.set_up", "table/T1", "admin"),
        ("table.tray_stocked", "table/T1", "cage_supervisor"),
    ]


def test_the_ledger_has_what_came_into_the_vault_and_the_tray(kit: Kit, admin: Desk, keeper: Desk) -> None:
    founded(admin, keeper)
    assert chart.balances(kit.house, ["1010", "3010"]) == {"1010": 50_000_000, "3010": 50_000_000}
    in_tray = {int(value): count for value, count in TRAY.items()}
    assert chart.pieces(kit.house, "9130/T1") == dict.fromkeys(PIECES, 0) | in_tray
    assert chart.pieces(kit.house, Account.VAULT_CHIPS)[500] == 20_000 - TRAY["500"]


def test_nothing_is_set_up_twice(kit: Kit, admin: Desk, keeper: Desk) -> None:
    founded(admin, keeper)
    assert_problem(admin.post("chip-sets", CHIP_SET), 409, "chip_set_exists")
    assert_problem(keeper.post("vault/opening", VAULT), 409, "vault_open")
    assert_problem(admin.post("drawers", {"drawer": "C1"}), 409, "drawer_exists")
    assert_problem(admin.post("tables", TABLE | {"seat_count": 3}), 409, "table_exists")
    assert_problem(keeper.post("tables/T1/tray", {"amount": 100}), 409, "tray_stocked")
    assert chart.balances(kit.house, ["1010"]) == {"1010": 50_000_000}
    assert Table.objects.get(house=kit.house).seats == 4


def test_no_two_places_share_their_accounts(kit: Kit, admin: Desk, keeper: Desk) -> None:
    made(admin, "chip-sets", CHIP_SET)
    made(admin, "drawers", {"drawer": "C1"})
    for code in ("C1", "vault", "bank"):
        assert_problem(admin.post("tables", TABLE | {"table": code}), 409, "place_exists")
    made(admin, "tables", TABLE)
    for code in ("T1", "vault", "bank"):
        assert_problem(admin.post("drawers", {"drawer": code}), 409, "place_exists")


def test_the_order_of_the_steps(kit: Kit, admin: Desk, keeper: Desk) -> None:
    assert_problem(keeper.post("vault/opening", VAULT), 409, "no_chip_set")
    assert_problem(admin.post("drawers", {"drawer": "C1"}), 409, "no_chip_set")
    assert_problem(admin.post("tables", TABLE), 409, "no_chip_set")
    assert_problem(keeper.post("tables/T1/tray", {"amount": 100}), 404, "not_found")
    made(admin, "chip-sets", CHIP_SET)
    assert_problem(admin.post("chip-sets", CHIP_SET | {"chip_set": "NEXT"}), 409, "vault_not_open")
    made(admin, "tables", TABLE)
    assert_problem(keeper.post("tables/T1/tray", {"amount": 100}), 409, "insufficient_funds")
    assert not Drawer.objects.filter(house=kit.house).exists()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"denominations": {"5": "grey", "7": "red"}}, 422, "chip_set_not_a_ladder"),
        ({"denominations": {}}, 400, "invalid_request"),
        ({"denominations": {"0": "grey"}}, 400, "invalid_request"),
        ({"denominations": {"05": "grey"}}, 400, "invalid_request"),
        ({"denominations": {"5": 7}}, 400, "invalid_request"),
        ({"chip_set": "main"}, 400, "invalid_request"),
    ],
)
def test_a_chip_set_that_is_none(kit: Kit, admin: Desk, body: dict[str, Any], status: int, code: str) -> None:
    assert_problem(admin.post("chip-sets", CHIP_SET | body), status, code)
    assert not ChipSet.objects.filter(house=kit.house).exists()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"game": "tarokk"}, 422, "unknown_game"),
        ({"options": FERBLI | {"colour": "green"}}, 422, "unknown_option"),
        ({"options": {}}, 422, "option_missing"),
        ({"options": FERBLI | {"vizi": -5}}, 422, "option_out_of_range"),
        ({"options": FERBLI | {"vizi": 1.5}}, 400, "malformed_json"),
        ({"options": FERBLI | {"vizi": {"p1": 5}}}, 400, "invalid_request"),
        ({"options": []}, 400, "invalid_request"),
        ({"seat_count": 99}, 422, "seats_out_of_range"),
        ({"min_stack": 0}, 422, "min_stack_too_small"),
        ({"min_stack": 5_000, "max_stack": 4_000}, 400, "invalid_request"),
        ({"seat_fee": {"amount": 5, "per": "deal"}}, 422, "no_seat_fee"),
        ({"table": "T 1"}, 400, "invalid_request"),
        ({"carryover_on_close": "keep"}, 400, "invalid_request"),
        ({"tax": 7}, 400, "invalid_request"),
    ],
)
def test_a_table_that_cannot_be(kit: Kit, admin: Desk, body: dict[str, Any], status: int, code: str) -> None:
    made(admin, "chip-sets", CHIP_SET)
    assert_problem(admin.post("tables", TABLE | body), status, code)
    assert not Table.objects.filter(house=kit.house).exists()


def test_places_are_set_up_from_the_office_only(kit: Kit, admin: Desk, keeper: Desk) -> None:
    founded(admin, keeper)
    at_table = Desk(kit.http(kit.token(Role.ADMIN, TerminalKind.TABLE, "T1")), "/api/v1")
    for path, body in (("chip-sets", CHIP_SET), ("drawers", {"drawer": "C2"}), ("tables", TABLE | {"table": "T2"})):
        assert_problem(at_table.post(path, body), 403, "wrong_terminal")


def test_the_same_request_again_changes_nothing(kit: Kit, admin: Desk) -> None:
    made(admin, "chip-sets", CHIP_SET)
    first = admin.post("tables", TABLE, key="set-up-1")
    again = admin.post("tables", TABLE, key="set-up-1")
    assert again.headers["Idempotency-Replayed"] == "true" and again.json() == first.json()
    assert len(events(kit, "table.set_up")) == 1


def test_one_of_two_at_the_same_time_sets_a_place_up(kit: Kit, admin: Desk) -> None:
    made(admin, "chip-sets", CHIP_SET)
    desks = [kit.office(Role.ADMIN) for _ in range(6)]

    def post(desk: Desk) -> int:
        try:
            return desk.post("drawers", {"drawer": "C1"}).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(desks)) as pool:
        assert sorted(pool.map(post, desks)) == [201, *[409] * 5]
    assert Drawer.objects.filter(house=kit.house).count() == 1


# --- Other terms, and the end of a table ------------------------------------------------------------------------------


def other(**terms: Any) -> dict[str, Any]:
    """Terms of a request that differ from the table's by these."""
    usual = {name: TABLE[name] for name in ("options", "seat_count", "min_stack", "max_stack", "carryover_on_close")}
    return usual | {"reason": "agreed with the floor"} | terms


def test_other_terms_wait_for_the_next_opening(kit: Kit, admin: Desk, keeper: Desk) -> None:
    founded(admin, keeper)
    desk = kit.seated()
    asked = other(options=FERBLI | {"vizi": 200}, max_stack=50_000)
    changed = admin.ok("tables/T1/terms", asked, version=desk.version)
    waiting = {
        "options": FERBLI | {"vizi": 200}, "seats": 4, "min_stack": 1_000, "max_stack": 50_000,
        "carryover_on_close": "split",
    }  # fmt: skip
    assert changed["terms_to_come"] == waiting and changed["options"] == FERBLI
    desk.refresh()
    desk.ok("hands", {"mode": "physical", "button": 4})
    desk.act(*SAMPLE[:12])
    desk.act(*SAMPLE[12:])
    assert kit.settle() == ["settled"]
    desk.refresh()
    desk.ok("close")
    opened = desk.ok("open")
    assert opened["terms_to_come"] is None and opened["options"] == FERBLI | {"vizi": 200}
    assert opened["limits"] == {"min_stack": 1_000, "max_stack": 50_000}
    assert [found.code for found in auditing.verify_house(kit.house).findings] == []


def test_the_terms_of_now_take_back_what_waits(kit: Kit, admin: Desk, keeper: Desk) -> None:
    founded(admin, keeper)
    admin.ok("tables/T1/terms", other(max_stack=50_000), version=1)
    assert_problem(admin.post("tables/T1/terms", other(max_stack=50_000), version=2), 409, "no_change")
    assert admin.ok("tables/T1/terms", other(), version=2)["terms_to_come"] is None
    assert_problem(admin.post("tables/T1/terms", other(), version=3), 409, "no_change")
    assert [found.code for found in auditing.verify_house(kit.house).findings] == []


@pytest.mark.parametrize(
    ("terms", "code"),
    [
        ({"options": FERBLI | {"vizi": 0}}, "option_out_of_range"),
        ({"seat_count": 99}, "seats_out_of_range"),
        ({"min_stack": 1}, "min_stack_too_small"),
    ],
)
def test_terms_that_cannot_be(kit: Kit, admin: Desk, keeper: Desk, terms: dict[str, Any], code: str) -> None:
    founded(admin, keeper)
    assert_problem(admin.post("tables/T1/terms", other(**terms), version=1), 422, code)
    assert Table.objects.get(house=kit.house).terms_to_come is None


def test_terms_are_decided_on_what_was_seen(kit: Kit, admin: Desk, keeper: Desk) -> None:
    founded(admin, keeper)
    admin.ok("tables/T1/terms", other(max_stack=50_000), version=1)
    assert_problem(admin.post("tables/T1/terms", other(max_stack=60_000), version=1), 412, "version_conflict")


def test_terms_are_versions_with_a_start(kit: Kit, admin: Desk, keeper: Desk) -> None:
    founded(admin, keeper)

    def versions() -> list[tuple[int, int, bool, bool]]:
        rows = kit.office().get("table-terms?table=T1").json()["results"]
        return [
            (row["number"], row["terms"]["max_stack"], row["begun_at"] is not None, row["ended_at"] is not None)
            for row in sorted(rows, key=lambda row: row["number"])
        ]

    first = (1, TABLE["max_stack"], True, False)
    assert versions() == [first]
    admin.ok("tables/T1/terms", other(max_stack=50_000), version=1)
    # Another proposal takes the place of the one that waits; it stays known that it never came in force.
    admin.ok("tables/T1/terms", other(max_stack=60_000), version=2)
    assert versions() == [first, (2, 50_000, False, True), (3, 60_000, False, False)]
    admin.ok("tables/T1/terms", other(), version=3)
    admin.ok("tables/T1/terms", other(max_stack=70_000), version=4)
    kit.dealer("T1").ok("open")
    assert versions() == [
        (1, TABLE["max_stack"], True, True), (2, 50_000, False, True), (3, 60_000, False, True),
        (4, 70_000, True, False),
    ]  # fmt: skip
    assert [found.code for found in auditing.verify_house(kit.house).findings] == []
    TableTerms.objects.using("owner").filter(house=kit.house, number=2).update(set_by="somebody")
    assert {found.code for found in auditing.verify_house(kit.house).findings} == {"state_differs"}


def test_a_table_is_retired_once_it_is_empty_and_is_never_opened_again(kit: Kit, admin: Desk, keeper: Desk) -> None:
    founded(admin, keeper)
    reason = {"reason": "the room is let"}
    problem = assert_problem(admin.post("tables/T1/retire", reason, version=1), 409, "place_not_empty")
    assert "9130/T1" in problem["detail"] and "accounts" not in problem, "an administrator reads no money"
    made(admin, "tables", TABLE | {"table": "T2"})
    desk = kit.dealer("T2")
    desk.ok("open")
    assert_problem(admin.post("tables/T2/retire", reason, version=desk.version), 409, "table_open")
    desk.ok("close")
    retired = admin.ok("tables/T2/retire", reason, version=desk.version)
    assert (retired["state"], len(retired["last_event"]["terminals"])) == ("retired", 1)
    assert_problem(desk.get(), 401, "not_authenticated")
    assert_problem(
        admin.post("terminals", {"terminal": "T2-9", "kind": "table", "location": "T2"}), 409, "table_retired"
    )
    # As at a terminal that was enrolled in the same moment.
    desk = kit.dealer("T2")
    assert_problem(desk.post("open"), 409, "table_retired")
    assert_problem(admin.post("tables/T2/terms", other(), version=desk.version), 409, "table_retired")
    assert_problem(admin.post("tables", TABLE | {"table": "T2"}), 409, "table_exists")
    assert [found.code for found in auditing.verify_house(kit.house).findings] == []


def test_a_drawer_is_retired_once_it_is_empty_and_is_never_opened_again(kit: Kit, admin: Desk, keeper: Desk) -> None:
    founded(admin, keeper)
    made(admin, "drawers", {"drawer": "C8"})
    cashier, reason = kit.cashier("C8"), {"reason": "one window is closed"}
    keeper_at_c8 = kit.supervisor("C8")
    offer = {"kind": "float", "cash": 1_000, "pieces": {}}
    keeper_at_c8.ok("handovers", offer)
    cashier.refresh()
    assert_problem(admin.post("drawers/C8/retire", reason, version=cashier.version), 409, "handover_open")
    cashier.ok("open", {"cash": 1_000, "pieces": {}})
    assert_problem(admin.post("drawers/C8/retire", reason, version=cashier.version), 409, "drawer_open")
    assert_problem(keeper.post("drawers/C8/retire", reason, version=cashier.version), 403, "forbidden")
    kit.close_drawer(cashier)
    cashier.refresh()
    version = cashier.version
    assert_problem(admin.post("drawers/C8/retire", reason, version=version - 1), 412, "version_conflict")
    retired = admin.ok("drawers/C8/retire", reason, version=version)
    assert (retired["state"], len(retired["last_event"]["terminals"])) == ("retired", 2)
    for left in (cashier, keeper_at_c8):
        assert_problem(left.get(), 401, "not_authenticated")
    enrol = {"terminal": "C8-9", "kind": "cage", "location": "C8"}
    assert_problem(admin.post("terminals", enrol), 409, "drawer_retired")
    # As at a terminal that was enrolled in the same moment.
    keeper_at_c8 = kit.supervisor("C8")
    assert_problem(keeper_at_c8.post("handovers", offer), 409, "drawer_retired")
    assert_problem(admin.post("drawers/C8/retire", reason, version=version + 1), 409, "drawer_retired")
    assert_problem(admin.post("drawers", {"drawer": "C8"}), 409, "drawer_exists")
    listed = kit.office().get("drawers?state=retired").json()["results"]
    assert [row["drawer"] for row in listed] == ["C8"]
    assert [found.code for found in auditing.verify_house(kit.house).findings] == []
    Drawer.objects.using("owner").filter(house=kit.house, code="C8").update(retired_at=None)
    assert "state_differs" in {found.code for found in auditing.verify_house(kit.house).findings}
