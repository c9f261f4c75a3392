"""A second chip set: put in use in place of the first, which is taken back with notice, lapses, and is retired."""

from datetime import date, timedelta
from typing import Any

import pytest

from casino.bookkeeping import chart
from casino.cage import selectors as drawers
from casino.cage.founding import create_drawer
from casino.chips.models import ChipSet
from casino.core import sql
from casino.houses.models import House
from casino.reports.selectors import custody, racks
from casino.reports.verifying import verification
from casino.staff.models import Role
from casino.transfers import chip_sets
from tests.casino.core.test_races import meanwhile
from tests.casino.kit import ACTOR, PIECES, TRAY, Desk, Kit
from tests.casino.transfers.test_transfers import refusal
from tests.casino.transfers.test_vault import Vault

WHY = {"reason": "the old chips are worn"}
OLD = {str(value): count for value, count in PIECES.items()}
FROM_C1 = {"chip_set": "MAIN", "drawer": "C1"}
NEXT = {str(value): "blue" for value in PIECES}


def _today(house: House) -> date:
    return chip_sets.today(sql.rows(*chip_sets.asking_today(house)))


class Sets(Vault):
    """Anna has bought chips for 12,000 of the first set; everything else of it is in the vault."""

    def __init__(self, kit: Kit) -> None:
        super().__init__(kit)
        kit.players("anna", chips=12_000)
        self.admin, self.compliance = kit.office(Role.ADMIN), kit.office(Role.COMPLIANCE)
        self.cashier = kit.cashier()
        self.until = _today(kit.house) + timedelta(days=90)

    def close(self) -> None:
        """The drawer goes back to the vault as it is."""
        self.kit.close_drawer(self.cashier)

    def introduce(self) -> None:
        """A second set is introduced and delivered; it is not in use."""
        self.admin.ok("chip-sets", {"chip_set": "NEXT", "denominations": NEXT})
        move = self.note("delivery", OLD, chip_set="NEXT")
        for desk in (self.one, self.other):
            assert self.count(desk, move, OLD).status_code == 201

    def use(self, until: date | None = None, code: str = "NEXT") -> Any:
        """Put it in use, as a manager has approved; the answer."""
        path, body = f"chip-sets/{code}/use", {"redeem_until": (until or self.until).isoformat()} | WHY
        answer = self.admin.post(path, body)
        if answer.json().get("code") != "approval_required":
            return answer
        number = answer.json()["approval"]["approval"]
        self.manager.ok(f"approvals/{number}/approve")
        return self.admin.post(path, body, headers={"Approval": str(number)})

    def lapse(self) -> Any:
        """Let the first set lapse, as a manager has approved; the answer."""
        answer = self.supervisor.post("chip-sets/MAIN/lapse", WHY)
        if answer.json().get("code") != "approval_required":
            return answer
        number = answer.json()["approval"]["approval"]
        self.manager.ok(f"approvals/{number}/approve")
        return self.supervisor.post("chip-sets/MAIN/lapse", WHY, headers={"Approval": str(number)})

    def changed(self, monkeypatch: pytest.MonkeyPatch | None = None) -> None:
        """The second set is in use and in an open drawer. `monkeypatch`: its notice has run out since."""
        self.introduce()
        self.close()
        now = _today(self.kit.house)
        if monkeypatch is not None:
            with monkeypatch.context() as long_ago:
                long_ago.setattr(chip_sets, "today", lambda found: now - timedelta(days=90))
                assert self.use(now - timedelta(days=1)).is_success
        else:
            assert self.use().is_success
        self.kit.open_drawer(self.cashier, cash=100_000, pieces={"1000": 40, "100": 50})

    def redeem(self, given: dict[str, int], **wanted: Any) -> Any:
        """Somebody brings chips of the first set."""
        return self.cashier.post("redemptions", {"chip_set": "MAIN", "given": given} | wanted)

    def out(self, code: str = "MAIN") -> dict[str, int]:
        """What the public has of a set."""
        return chart.public(self.kit.house, code).as_json()


@pytest.fixture
def sets(kit: Kit) -> Sets:
    """A house with one set, some of it out."""
    return Sets(kit)


def in_use(desk: Desk) -> dict[str, bool]:
    """By code, whether a set is in use."""
    return {row["chip_set"]: row["in_use"] for row in desk.get("chip-sets").json()["results"]}


def test_another_set_takes_the_place_of_the_first(sets: Sets) -> None:
    sets.kit.table()
    sets.introduce()
    refused = sets.use()
    # The drawer and the tray hold chips of the first one.
    assert refusal(refused) == (409, "place_not_empty")
    dealer = sets.kit.dealer()
    tray = {str(value): count for value, count in TRAY.items() if count}
    sent = dealer.ok("credits", {"drawer": "C1", "pieces": tray})["last_event"]["transfer"]
    sets.cashier.refresh()
    body = {"pieces": tray, "carrier": sets.kit.runner()}
    sets.cashier.ok(f"credits/{sent['serial']}/receive", body)
    sets.close()
    done = sets.use()
    assert done.is_success, done.text
    assert (done.json()["chip_set"]["in_use"], done.json()["withdrawn"]["redeem_until"]) == (
        True, sets.until.isoformat(),
    )  # fmt: skip
    assert in_use(sets.manager) == {"MAIN": False, "NEXT": True}
    # The house goes on with the second one: a tray is stocked again, a drawer opened, chips sold.
    sets.supervisor.ok("tables/T1/tray", {"pieces": tray})
    assert refusal(sets.supervisor.post("tables/T1/tray", {"pieces": tray})) == (409, "tray_stocked")
    sets.kit.open_drawer(sets.cashier, cash=100_000, pieces={"1000": 40})
    sets.cashier.ok("buy-ins", {"player": "anna", "amount": 2_000})
    assert (sets.out("NEXT"), sum(int(v) * n for v, n in sets.out().items())) == ({"1000": 2}, 12_000)
    sets.whole()


def test_withdrawn_chips_are_taken_at_the_cage_and_go_to_those_set_aside(sets: Sets) -> None:
    sets.changed()
    out = sets.out()
    value, count = next(iter(out.items()))
    before = sets.kit.balance("1020/C1", "9120/C1")
    done = sets.redeem({value: 1}).json()["last_event"]["redeemed"]
    assert (done["chip_set"], done["amount"], done["given"]) == ("MAIN", int(value), {value: 1})
    assert sets.kit.balance("1020/C1", "9120/C1") == [before[0], before[1] - int(value)]
    assert (sets.out().get(value, 0), sets.kit.balance("9115/C1")) == (count - 1, int(value))
    assert refusal(sets.redeem({value: count})) == (409, "chips_not_in_circulation")
    assert refusal(sets.redeem({value: 1} if count > 1 else {}, wanted={"100": 1}))[0] == 422
    # Counted by two; a chip more than the books have is a variance of the drawer's.
    move = sets.note("withdrawn", {value: 2}, chip_set="MAIN", drawer="C1")
    assert sets.count(sets.one, move, {value: 2}).json()["move"]["state"] == "done"
    assert sets.kit.balance("9115", "9115/C1", "2015/C1", "5210/C1") == [
        2 * int(value), 0, -int(value), -int(value),
    ]  # fmt: skip
    sets.close()
    body = {"kind": "withdrawn", "paper": "note 4712", "pieces": {value: 1}} | FROM_C1
    assert refusal(sets.supervisor.post("chip-moves", body)) == (409, "drawer_closed")
    sets.whole()


def test_a_set_lapses_when_its_notice_is_over_and_nobody_known_is_owed_it(
    sets: Sets, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets.changed(monkeypatch)
    refused = sets.lapse()
    assert (refusal(refused), refused.json()["amount"]) == ((409, "chips_attributed"), 12_000)
    sets.redeem({next(iter(sets.out())): 1})
    left = sum(int(value) * count for value, count in sets.out().items())
    owed = {"place": "C1", "amount": left} | WHY
    assert refusal(sets.supervisor.post("players/anna/unattributions", owed)) == (403, "forbidden")
    assert refusal(sets.compliance.post("players/anna/unattributions", owed | {"amount": 12_001})) == (
        409, "insufficient_funds",
    )  # fmt: skip
    sets.compliance.ok("players/anna/unattributions", owed)
    assert sets.kit.balance("2010/anna", "2015/C1") == [12_000 - left, left]
    done = sets.lapse()
    assert done.is_success, done.text
    assert (done.json()["amount"], sets.kit.balance("2015/C1", "2095"), sets.out()) == (left, [0, left], {})
    assert refusal(sets.lapse()) == (409, "chip_set_lapsed")
    assert refusal(sets.redeem({"100": 1})) == (409, "chip_set_lapsed")
    sets.whole()


def test_a_set_is_retired_when_no_chip_of_it_is_left(sets: Sets, monkeypatch: pytest.MonkeyPatch) -> None:
    sets.changed(monkeypatch)
    for value, count in sets.out().items():
        assert sets.redeem({value: count}).is_success
    held = chart.rack(sets.kit.house, "9115/C1", "MAIN").as_json()
    move = sets.note("withdrawn", held, chip_set="MAIN", drawer="C1")
    assert sets.count(sets.one, move, held).is_success
    assert sets.lapse().json()["amount"] == 0
    assert refusal(sets.admin.post("chip-sets/MAIN/retire", WHY)) == (409, "place_not_empty")
    vault = chart.rack(sets.kit.house, "9110", "MAIN").as_json()
    for kind, pieces in (("set_aside", vault), ("destruction", OLD)):
        move = sets.note(kind, pieces, chip_set="MAIN")
        assert sets.count(sets.one, move, pieces).json()["move"]["state"] == "done"
    assert sets.admin.ok("chip-sets/MAIN/retire", WHY)["chip_set"]["retired"] is True
    assert refusal(sets.admin.post("chip-sets/MAIN/retire", WHY)) == (409, "chip_set_retired")
    assert refusal(sets.use(code="MAIN")) == (409, "chip_set_retired")
    sets.whole()


def test_what_is_refused(sets: Sets) -> None:
    assert refusal(sets.redeem({"100": 1})) == (409, "chip_set_not_withdrawn")
    assert refusal(sets.lapse()) == (409, "chip_set_not_withdrawn")
    assert refusal(sets.use()) == (404, "not_found")
    assert refusal(sets.use(code="MAIN")) == (409, "chip_set_in_use")
    assert refusal(sets.admin.post("chip-sets/MAIN/retire", WHY)) == (409, "chip_set_in_use")
    again = {"chip_set": "MAIN", "denominations": NEXT}
    assert refusal(sets.admin.post("chip-sets", again)) == (409, "chip_set_exists")
    sets.admin.ok("chip-sets", {"chip_set": "COARSE", "denominations": {"100": "", "500": ""}})
    assert refusal(sets.use(code="COARSE")) == (409, "chip_set_too_coarse")
    sets.changed()
    assert refusal(sets.use(code="MAIN")) == (409, "chip_set_withdrawn")
    assert refusal(sets.lapse()) == (409, "notice_runs")
    assert refusal(sets.redeem({})) == (422, "nothing_to_move")
    body: dict[str, Any] = {"kind": "delivery", "paper": "note 12", "pieces": {"100": 1}, "chip_set": "MAIN"}
    for change, status, code in (
        ({}, 409, "chip_set_withdrawn"),
        ({"kind": "set_aside", "drawer": "C1"}, 422, "drawer_missing"),
        ({"kind": "withdrawn"}, 422, "drawer_missing"),
        ({"kind": "withdrawn", "drawer": "C9"}, 404, "not_found"),
    ):
        assert refusal(sets.supervisor.post("chip-moves", body | change)) == (status, code)
    assert ChipSet.objects.get(house=sets.kit.house, in_use=True).code == "NEXT"


def test_a_notice_that_is_over_before_it_begins(sets: Sets) -> None:
    sets.introduce()
    sets.close()
    assert refusal(sets.use(_today(sets.kit.house))) == (422, "notice_in_the_past")
    assert refusal(sets.admin.post("chip-sets/NEXT/use", {"redeem_until": "2030-02-30"} | WHY))[0] == 400
    assert custody(sets.kit.house)["equal"] and all(row["equal"] for row in racks(sets.kit.house)["denominations"])
    assert verification(sets.kit.house)["ok"]


def test_a_drawer_that_opens_meanwhile_gets_chips_of_the_new_set(sets: Sets, monkeypatch: pytest.MonkeyPatch) -> None:
    sets.introduce()
    sets.close()
    body = {"redeem_until": sets.until.isoformat()} | WHY
    approved = sets.kit.approval(sets.admin, "chip-sets/NEXT/use", body)
    keeper, float_ = sets.kit.supervisor(), {"cash": 0, "pieces": {"1000": 1}}
    first, second, waited = meanwhile(
        monkeypatch, chip_sets, "_require_empty",
        second=lambda: keeper.post("handovers", {"kind": "float"} | float_),
        first=lambda: sets.admin.post("chip-sets/NEXT/use", body, headers=approved),
    )  # fmt: skip
    assert (first.status_code, second.status_code) == (200, 201), (first.text, second.text)
    assert waited
    sets.cashier.refresh()
    sets.cashier.ok("open", float_)
    held = [chart.rack(sets.kit.house, "9120/C1", code).value for code in ("MAIN", "NEXT")]
    assert held == [0, 1_000]
    sets.whole()


def test_chips_that_are_counted_out_are_of_the_set_in_use(sets: Sets) -> None:
    sets.introduce()
    sets.close()
    keeper = sets.kit.supervisor()
    keeper.ok("handovers", {"kind": "float", "cash": 0, "pieces": {"100": 5}})
    assert refusal(sets.use()) == (409, "handover_open")
    keeper.ok("handovers/2/withdraw", WHY)
    assert sets.use().is_success


def test_a_withdrawn_chip_is_taken_once(sets: Sets, monkeypatch: pytest.MonkeyPatch) -> None:
    create_drawer(house=sets.kit.house, code="C2", actor=ACTOR)
    sets.changed()
    other = sets.kit.cashier("C2")
    sets.kit.open_drawer(other, cash=0, pieces={"1000": 40, "100": 50})
    value, count = next(iter(sets.out().items()))
    all_of_it = {"chip_set": "MAIN", "given": {value: count}}
    first, second, waited = meanwhile(
        monkeypatch, chip_sets, "_require_out",
        second=lambda: other.post("redemptions", all_of_it),
        first=lambda: sets.cashier.post("redemptions", all_of_it),
    )  # fmt: skip
    assert (first.status_code, refusal(second)) == (201, (409, "chips_not_in_circulation"))
    assert waited
    sets.whole()


def test_a_set_is_not_replaced_while_a_drawer_takes_chips_of_it(sets: Sets, monkeypatch: pytest.MonkeyPatch) -> None:
    """The drawer goes by the set that was in use when it was locked; the change waits for it, and then finds its
    chips."""
    sets.introduce()
    sets.close()
    sets.kit.open_drawer(sets.cashier, cash=100_000, pieces={})
    body = {"redeem_until": sets.until.isoformat()} | WHY
    approved = sets.kit.approval(sets.admin, "chip-sets/NEXT/use", body)
    first, second, waited = meanwhile(
        monkeypatch, drawers, "require_cash",
        second=lambda: sets.admin.post("chip-sets/NEXT/use", body, headers=approved),
        first=lambda: sets.cashier.post("bearer-cash-outs", {"amount": 1_000, "pieces": {"1000": 1}}),
    )  # fmt: skip
    assert (first.status_code, refusal(second)) == (201, (409, "place_not_empty")), (first.text, second.text)
    assert waited
    sets.close()
    sets.whole()
