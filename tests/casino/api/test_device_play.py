"""Acts from players' own devices: only of the own seat, only where the table allows it, and each counts once."""

from typing import Any

import pytest

from casino.audit.models import Event
from casino.audit.verifier.findings import Report
from casino.audit.verifier.hands import Hands
from casino.staff.models import TerminalKind
from casino.verification import auditing
from tests.casino.devices import Device, code, device, events
from tests.casino.kit import Desk, Kit
from tests.casino.transfers.test_transfers import floor_at

REASON = {"reason": "the room is quiet"}


def allow(kit: Kit, *, allowed: bool = True) -> None:
    floor_at(kit, TerminalKind.TABLE, "T1").ok("device-play", {"allowed": allowed} | REASON)


def dealt(kit: Kit, *, allowed: bool = True) -> tuple[Desk, dict[int, Device]]:
    """An electronic hand of two seats with a device each."""
    kit.table()
    desk = kit.seated(stacks=(20_000, 15_000))
    own = {seat: device(kit, desk, seat) for seat in (1, 2)}
    if allowed:
        allow(kit)
        desk.refresh()
    desk.deal()
    return desk, own


def act(one: Device, line: int, hand: str = "T1-000001", **action: Any) -> Any:
    return one.act(hand, line, **action)


def sound(kit: Kit) -> bool:
    kit.sequence()
    return [found.code for found in auditing.verify_house(kit.house).findings] == []


def acts(kit: Kit) -> int:
    return Event.objects.filter(house=kit.house, doc__kind="hand.acted").count()


def test_players_play_a_whole_hand_and_the_trail_says_who_acted(kit: Kit) -> None:
    desk, own = dealt(kit)
    first = act(own[1], 0, verb="po", amount=100)
    assert first.status_code == 200, first.text
    answer = first.json()
    assert answer["you"] == "p1" and answer["audit"]["chain"] == "table/T1"
    while own[1].get("hand").json()["state"] == "playing":
        hands = {seat: one.get("hand").json() for seat, one in own.items()}
        seat = next(seat for seat, hand in hands.items() if hand["actor"] == hand["you"])
        offer = next(one for one in hands[seat]["legal_actions"] if one["verb"] in ("cc", "k", "lk", "sm", "st"))
        takes = {name: field["min"] for name, field in offer["takes"].items() if "min" in field}
        done = act(own[seat], len(hands[seat]["view"]["log"]), verb=offer["verb"], **takes)
        assert done.status_code == 200, done.text
    recorded = Event.objects.filter(house=kit.house, doc__kind="hand.acted").order_by("seq")
    assert {(one.doc["role"], one.doc["actor"], one.doc["terminal"]) for one in recorded} == {
        ("player", "T1-u1", "T1/1"), ("player", "T1-u2", "T1/2"),
    }  # fmt: skip
    assert kit.settle() == ["settled"]
    assert sound(kit)
    assert desk.refresh()["device_play"]


def test_the_same_act_again_counts_once_and_has_the_same_receipt(kit: Kit) -> None:
    _, own = dealt(kit)
    answers = [act(own[1], 0, verb="po", amount=100).json() for _ in range(3)]
    assert len({answer["audit"]["hash"] for answer in answers}) == 1 and acts(kit) == 1
    late = act(own[1], 0, verb="po", amount=200)
    assert code(late) == (409, "hand_moved_on") and late.json()["expected"]["came_before"][0] == "p1 po 100"
    assert acts(kit) == 1


def test_a_device_acts_for_its_own_seat_on_its_turn_and_within_the_rules(kit: Kit) -> None:
    _, own = dealt(kit)
    assert code(act(own[2], 0, verb="po", amount=100)) == (422, "not_your_turn")
    assert code(act(own[1], 0, verb="po", amount=99)) == (422, "amount_out_of_range")
    assert code(act(own[1], 7, verb="po", amount=100)) == (422, "no_such_line")
    assert code(act(own[1], 0, actor="p2", verb="po", amount=100)) == (400, "invalid_request")
    assert code(act(own[1], 0, verb="po")) == (400, "invalid_request")
    assert code(act(own[1], 0, hand="T1-000009", verb="po", amount=100)) == (404, "not_found")
    assert acts(kit) == 0


def test_the_dealer_enters_what_the_table_does_not_leave_to_devices(kit: Kit) -> None:
    desk, own = dealt(kit, allowed=False)
    assert code(act(own[1], 0, verb="po", amount=100)) == (409, "device_play_off")
    allow(kit)
    assert act(own[1], 0, verb="po", amount=100).status_code == 200
    allow(kit, allowed=False)
    line = len(own[2].get("hand").json()["view"]["log"])
    assert code(act(own[2], line, verb="f")) == (409, "device_play_off")
    desk.refresh()
    desk.act("p2 f")
    assert code(act(own[2], line, verb="f")) == (409, "device_play_off")
    assert kit.settle() == ["settled"] and sound(kit)


def test_what_the_dealer_has_entered_meanwhile_stands(kit: Kit) -> None:
    desk, own = dealt(kit)
    desk.refresh()
    desk.act("p1 po 100")
    again = act(own[1], 0, verb="po", amount=100)
    assert again.status_code == 200 and acts(kit) == 1, "it is the very act that the device wanted"
    line = len(again.json()["view"]["log"])
    assert act(own[2], line, verb="f").json()["state"] == "ended"
    assert code(act(own[1], line, verb="cc", amount=100)) == (409, "hand_over")


def test_a_hand_of_a_real_pack_is_entered_by_its_dealer(kit: Kit) -> None:
    kit.table()
    desk = kit.seated(stacks=(20_000, 15_000))
    own = device(kit, desk, 1)
    allow(kit)
    desk.refresh()
    desk.ok("hands", {"mode": "physical"})
    assert code(act(own, 0, verb="po", amount=100)) == (409, "not_electronic")


def test_the_floor_says_whether_devices_play(kit: Kit) -> None:
    kit.table()
    floor = floor_at(kit, TerminalKind.TABLE, "T1")
    assert code(kit.dealer().post("device-play", {"allowed": True} | REASON)) == (403, "forbidden")
    assert floor.ok("device-play", {"allowed": True} | REASON)["device_play"] is True
    assert code(floor.post("device-play", {"allowed": True} | REASON)) == (409, "no_change")
    assert floor.ok("device-play", {"allowed": False} | REASON)["device_play"] is False


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"terminal": "T1/2"}, "from the device of T1/2 came the lines ['p1 po 100'"),
        ({"mode": "physical"}, "T1-u1 acted from a device in a hand of a real pack"),
        ({}, ""),
    ],
)
def test_the_verifier_judges_what_comes_from_devices(kit: Kit, change: dict[str, str], problem: str) -> None:
    _, own = dealt(kit)
    act(own[1], 0, verb="po", amount=100)
    report = Report()
    hands = Hands(report, iter(()), kit.house.currency)
    for doc in events(kit, "table.set_up", "table.opened", "hand.dealt", "hand.acted"):
        if doc["kind"] == "hand.acted":
            doc["terminal"] = change.get("terminal", doc["terminal"])
        if doc["kind"] == "hand.dealt":
            doc["data"]["mode"] = change.get("mode", doc["data"]["mode"])
        hands.take(doc)
    found = [one.problem for one in report.findings if "device" in one.problem]
    assert bool(found) == bool(problem) and all(one.startswith(problem) for one in found)
