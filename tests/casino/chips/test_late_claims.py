"""Chips of a lapsed set that are brought late: paid in cash, by grace, and never more than lapsed."""

from typing import Any

import pytest
from django.db import connections, transaction

from casino.audit.models import Event
from casino.bookkeeping import chart
from casino.cage.founding import create_drawer
from casino.chips.models import ChipSet
from casino.reports.verifying import verification
from casino.staff.models import Role
from casino.transfers import chip_sets, late_claims
from casino.transfers.models import LateClaim
from tests.casino.busy import PERSON
from tests.casino.chips.test_chip_sets import OLD, WHY, Sets
from tests.casino.core.test_races import meanwhile
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.reports.test_catalogue import made
from tests.casino.superuser import unguarded
from tests.casino.transfers.test_transfers import refusal

LATE = {"reason": "was abroad when the notice ran out"}


class Late(Sets):
    """Chips of the first set for 12,000 have lapsed, and the house knows who Anna is; Bela is unknown."""

    def __init__(self, kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(kit)
        kit.players("bela")
        self.changed(monkeypatch)
        self.know("anna")
        self.lapsed = self.out()
        self.value = max(self.lapsed, key=int)

    def know(self, player: str) -> None:
        """It is recorded who a player is."""
        path = f"/api/v1/players/{player}/person"
        self.cashier.ok(path, {"person": PERSON, "reason": "first_record"}, version=1)
        self.cashier.refresh()

    def end(self, more: int = 0) -> "Late":
        """The set lapses: what is out belongs to no player, nor does more of it that Anna is owed."""
        worth = more + sum(int(value) * count for value, count in self.out().items())
        self.compliance.ok("players/anna/unattributions", {"place": "C1", "amount": worth} | WHY)
        assert self.lapse().is_success
        self.cashier.refresh()
        return self

    def body(self, pieces: dict[str, int] | None = None, **more: Any) -> dict[str, Any]:
        """Anna brings chips of the set: one of the largest, where nothing is named."""
        return {"chip_set": "MAIN", "player": "anna", "pieces": {self.value: 1} if pieces is None else pieces} | (
            LATE | more
        )

    def pay(self, pieces: dict[str, int] | None = None, *, by: Role = Role.CAGE_SUPERVISOR, **more: Any) -> Any:
        """She is paid, as somebody has approved; the event."""
        found = self.kit.approved(self.cashier, "late-claims", self.body(pieces, **more), by=by)
        return found["last_event"]

    def refused(self, pieces: dict[str, int] | None = None, **more: Any) -> tuple[int, str]:
        """The answer that the cashier gets instead."""
        return refusal(self.cashier.post("late-claims", self.body(pieces, **more)))

    def pieces(self, code: str) -> dict[str, int]:
        """The chips of the set in a place."""
        return chart.rack(self.kit.house, code, "MAIN").as_json()

    def second_drawer(self) -> Desk:
        """Another cashier at another drawer with cash."""
        create_drawer(house=self.kit.house, code="C2", actor=ACTOR)
        desk = self.kit.cashier("C2")
        self.kit.open_drawer(desk, cash=100_000, pieces={"1000": 1})
        desk.refresh()
        return desk


@pytest.fixture
def late(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> Late:
    """A house whose first set is withdrawn, and its notice over."""
    return Late(kit, monkeypatch)


def test_chips_of_a_lapsed_set_are_paid_and_go_to_their_destruction(late: Late) -> None:
    late.end()
    value = int(late.value)
    cash, owed, issued = late.kit.balance("1020/C1", "2095", "9199")
    assert owed == 12_000
    assert late.refused() == (409, "approval_required")
    event = late.pay()
    assert (event["kind"], event["claim"], event["chip_set"], event["player"], event["amount"]) == (
        "cage.late_claim_paid", 1, "MAIN", "anna", value,
    )  # fmt: skip
    assert (event["exchanged"], event["left"]) == ({late.value: 1}, 12_000 - value)
    assert late.kit.balance("1020/C1", "2095", "9199") == [cash - value, owed - value, issued + value]
    # The piece is in a rack of the house, not with the public: liability and circulation stay as they were.
    assert (late.pieces("9115/C1"), late.out()) == ({late.value: 1}, {})
    late.whole()
    made(late.kit, "chips")
    assert refusal(late.admin.post("chip-sets/MAIN/retire", WHY)) == (409, "place_not_empty")
    move = late.note("withdrawn", {late.value: 1}, chip_set="MAIN", drawer="C1")
    assert late.count(late.one, move, {late.value: 1}).json()["move"]["state"] == "done"
    vault = chart.rack(late.kit.house, "9110", "MAIN").as_json()
    move = late.note("set_aside", vault, chip_set="MAIN")
    assert late.count(late.one, move, vault).json()["move"]["state"] == "done"
    aside = late.pieces("9115")
    assert aside[late.value] == OLD[late.value] - late.lapsed[late.value] + 1
    move = late.note("destruction", aside, chip_set="MAIN")
    assert late.count(late.one, move, aside).json()["move"]["state"] == "done"
    assert late.pieces("9199") == {}
    late.admin.ok("chip-sets/MAIN/retire", WHY)
    late.cashier.refresh()
    assert late.refused() == (409, "chip_set_retired")
    late.whole()


def test_the_pieces_are_counted_and_set_aside_when_the_drawer_closes(late: Late) -> None:
    late.end().pay(by=Role.MANAGER)
    assert late.kit.held()["withdrawn"] == {"MAIN": {late.value: 1}}
    late.close()
    assert (late.pieces("9115/C1"), late.pieces("9115")) == ({}, {late.value: 1})
    late.whole()


def test_no_more_is_paid_than_lapsed_and_was_not_claimed(late: Late) -> None:
    late.end()
    refused = late.cashier.post("late-claims", late.body({late.value: late.lapsed[late.value] + 1}))
    assert (refusal(refused), refused.json()["left"], refused.json()["missing"]) == (
        (409, "lapsed_chips_claimed"), 12_000, {late.value: 1},
    )  # fmt: skip
    other = next(value for value in OLD if value not in late.lapsed)
    assert late.refused({other: 1}) == (409, "lapsed_chips_claimed")
    assert late.pay({late.value: 1})["claim"] == 1
    rest = {value: count - (value == late.value) for value, count in late.lapsed.items()}
    assert late.refused(rest | {late.value: rest[late.value] + 1}) == (409, "lapsed_chips_claimed")
    event = late.pay({value: count for value, count in rest.items() if count})
    assert (event["claim"], event["left"]) == (2, 0)
    assert late.refused() == (409, "lapsed_chips_claimed")
    assert (late.kit.balance("2095"), late.pieces("9115/C1")) == (0, late.lapsed)
    listed = late.kit.office().get("late-claims?chip_set=MAIN&player=anna").json()["results"]
    assert sorted((row["claim"], row["drawer"], row["reason"]) for row in listed) == [
        (1, "C1", LATE["reason"]), (2, "C1", LATE["reason"]),
    ]  # fmt: skip
    assert late.kit.office().get("late-claims?drawer=C9").json()["results"] == []
    late.whole()


def test_what_came_back_beyond_what_went_out_is_not_paid_for(late: Late) -> None:
    """A count has found a chip of the set that was never out, as far as the books know: what lapsed is worth less than
    the pieces that are out."""
    small = min(late.lapsed, key=int) if len(late.lapsed) > 1 else "100"
    brought = late.lapsed.get(small, 0) if small != late.value else 0
    if brought:
        assert late.redeem({small: brought}).is_success
    move = late.note("withdrawn", {small: brought + 1}, chip_set="MAIN", drawer="C1")
    assert late.count(late.one, move, {small: brought + 1}).json()["move"]["state"] == "done"
    late.end(int(small))
    lapsed = ChipSet.objects.get(house=late.kit.house, code="MAIN").lapsed_pieces
    assert lapsed[small] == -1
    whole = {value: count for value, count in lapsed.items() if count > 0}
    refused = late.cashier.post("late-claims", late.body(whole))
    left = late.kit.balance("2095")
    assert left == sum(int(value) * count for value, count in whole.items()) - int(small)
    assert (refusal(refused), refused.json()["left"], refused.json()["missing"]) == (
        (409, "lapsed_chips_claimed"), left, {},
    )  # fmt: skip
    assert late.refused({small: 1}) == (409, "lapsed_chips_claimed")
    assert late.pay({late.value: 1})["left"] == left - int(late.value)
    late.whole()


def test_what_is_refused(late: Late) -> None:
    assert late.refused() == (409, "chip_set_not_lapsed")  # its notice is over, but nobody has ended it
    late.end()
    for pieces, more, expected in (
        (None, {"chip_set": "NEXT"}, (409, "chip_set_not_lapsed")),
        (None, {"chip_set": "OTHER"}, (404, "not_found")),
        (None, {"player": "nobody"}, (404, "not_found")),
        (None, {"player": "bela"}, (404, "no_person")),
        (None, {"reason": ""}, (400, "invalid_request")),
        ({}, {}, (422, "nothing_to_move")),
        ({"100": 0}, {}, (422, "nothing_to_move")),
        ({"7": 1}, {}, (422, "unknown_denomination")),
    ):
        assert late.refused(pieces, **more) == expected, (pieces, more)
    # Never names what the drawer holds.
    late.close()
    late.cashier.refresh()
    assert late.refused() == (409, "drawer_closed")
    late.kit.open_drawer(late.cashier, cash=int(late.value) - 1, pieces={"100": 1})
    late.cashier.refresh()
    assert late.refused() == (409, "drawer_short")
    for colleague, code in (
        (late.kit.supervisor(role=Role.MANAGER), "forbidden"),
        (late.kit.supervisor(), "not_your_drawer"),
    ):
        colleague.refresh()
        assert refusal(colleague.post("late-claims", late.body())) == (403, code)
    assert not LateClaim.objects.filter(house=late.kit.house).exists()
    assert late.kit.balance("2095") == 12_000
    # What was refused has taken no number.
    late.close()
    late.cashier.refresh()
    late.kit.open_drawer(late.cashier, cash=20_000, pieces={"100": 1})
    late.cashier.refresh()
    assert late.pay()["claim"] == 1
    late.whole()


def test_a_large_claim_takes_whom_any_large_payment_takes(late: Late) -> None:
    late.end()
    points = {"exchange_by_supervisor_from": 1, "exchange_by_manager_from": 1}
    late.kit.approved(late.admin, "limits", {"points": points} | WHY, by=Role.AUDITOR)
    held = late.cashier.post("late-claims", late.body()).json()["approval"]
    assert (held["kind"], held["every_role"], sorted(held["roles"])) == (
        "unclaimed", True, ["compliance", "manager"],
    )  # fmt: skip
    event = late.pay()
    assert event["claim"] == 1 and len(event["also_approved"]) == 1
    late.whole()


def test_two_who_claim_the_same_chips_at_once(late: Late, monkeypatch: pytest.MonkeyPatch) -> None:
    late.end()
    late.know("bela")
    other, everything, same = late.second_drawer(), late.body(late.lapsed), late.body(late.lapsed, player="bela")
    mine = late.kit.approval(late.cashier, "late-claims", everything, by=Role.MANAGER)
    theirs = late.kit.approval(other, "late-claims", same, by=Role.MANAGER)
    first, second, waited = meanwhile(
        monkeypatch, late_claims, "_lock_lapsed",
        second=lambda: other.post("late-claims", same, headers=theirs),
        first=lambda: late.cashier.post("late-claims", everything, headers=mine),
    )  # fmt: skip
    assert (first.status_code, refusal(second)) == (201, (409, "lapsed_chips_claimed")), (first.text, second.text)
    assert (waited, second.json()["left"]) == (True, 0)
    assert late.kit.balance("2095", "9115/C2") == [0, 0]
    late.whole()


def test_two_claims_at_once_have_numbers_without_gaps(late: Late, monkeypatch: pytest.MonkeyPatch) -> None:
    late.end()
    late.know("bela")
    other, one, another = late.second_drawer(), late.body(), late.body(player="bela")
    mine = late.kit.approval(late.cashier, "late-claims", one, by=Role.MANAGER)
    theirs = late.kit.approval(other, "late-claims", another, by=Role.MANAGER)
    first, second, waited = meanwhile(
        monkeypatch, late_claims, "_lock_lapsed",
        second=lambda: other.post("late-claims", another, headers=theirs),
        first=lambda: late.cashier.post("late-claims", one, headers=mine),
    )  # fmt: skip
    assert (first.status_code, second.status_code, waited) == (201, 201, True), (first.text, second.text)
    assert [answer.json()["last_event"]["claim"] for answer in (first, second)] == [1, 2]
    assert [answer.json()["last_event"]["left"] for answer in (first, second)] == [
        12_000 - int(late.value), 12_000 - 2 * int(late.value),
    ]  # fmt: skip
    late.whole()


def test_a_set_is_not_retired_while_chips_of_it_come_back(late: Late, monkeypatch: pytest.MonkeyPatch) -> None:
    late.end()
    for kind, code in (("set_aside", "9110"), ("destruction", "9115")):
        pieces = late.pieces(code)
        move = late.note(kind, pieces, chip_set="MAIN")
        assert late.count(late.one, move, pieces).json()["move"]["state"] == "done"
    approved = late.kit.approval(late.cashier, "late-claims", late.body(), by=Role.MANAGER)
    first, second, waited = meanwhile(
        monkeypatch, late_claims, "_lock_lapsed",
        second=lambda: late.admin.post("chip-sets/MAIN/retire", WHY),
        first=lambda: late.cashier.post("late-claims", late.body(), headers=approved),
    )  # fmt: skip
    assert (first.status_code, refusal(second), waited) == (201, (409, "place_not_empty"), True), second.text
    late.whole()


def test_a_set_that_was_retired_meanwhile_is_not_paid_for(late: Late, monkeypatch: pytest.MonkeyPatch) -> None:
    late.end()
    for kind, code in (("set_aside", "9110"), ("destruction", "9115")):
        pieces = late.pieces(code)
        move = late.note(kind, pieces, chip_set="MAIN")
        assert late.count(late.one, move, pieces).json()["move"]["state"] == "done"
    approved = late.kit.approval(late.cashier, "late-claims", late.body(), by=Role.MANAGER)
    first, second, waited = meanwhile(
        monkeypatch, chip_sets, "_require_not_retired",
        second=lambda: late.cashier.post("late-claims", late.body(), headers=approved),
        first=lambda: late.admin.post("chip-sets/MAIN/retire", WHY),
    )  # fmt: skip
    assert (first.status_code, refusal(second), waited) == (200, (409, "chip_set_retired"), True), second.text
    late.whole()


def test_the_verifier_finds_claims_and_lapsed_pieces_that_were_changed(late: Late) -> None:
    late.end().pay()
    [row] = LateClaim.objects.filter(house=late.kit.house)
    for alias in ("default", "owner"):
        for statement in ("UPDATE transfers_lateclaim SET amount = 1", "DELETE FROM transfers_lateclaim"):
            with (
                pytest.raises(Exception, match=r"keeps its|permission denied|append"),
                transaction.atomic(using=alias),
                connections[alias].cursor() as cursor,
            ):
                cursor.execute(f"{statement} WHERE id = {row.pk}")
    with unguarded("transfers_lateclaim") as cursor:
        cursor.execute("UPDATE transfers_lateclaim SET amount = amount + 1 WHERE id = %s", [row.pk])
    ChipSet.objects.filter(house=late.kit.house, code="MAIN").update(lapsed_pieces={late.value: 1000})
    found = verification(late.kit.house)
    assert {(one["code"], one["place"]) for one in found["audit_findings"]} == {
        ("state_differs", "transfers.LateClaim 1, amount"),
        ("state_differs", "chips.ChipSet MAIN, lapsed_pieces"),
    }
    assert Event.objects.filter(house=late.kit.house, doc__kind="cage.late_claim_paid").count() == 1
