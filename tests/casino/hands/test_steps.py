"""Hands step by step: every step is the engine's, every viewer sees what it may know, and the proof is whole."""

import hashlib
from typing import Any

import pytest

from casino.core import canonical
from casino.hands.models import Hand
from casino.staff.models import Role
from engine.deal.opening import check_opening
from engine.kernel.canonical import sha256_of
from tests.casino.hands.test_settlement import alter_as_superuser
from tests.casino.kit import SAMPLE, Desk, Kit
from tests.casino.scene import assert_problem

HAND = "T1-000001"


def replay(kit: Kit, role: Role, hand: str = HAND) -> dict[str, Any]:
    """The replay of a hand for somebody of this role."""
    found: dict[str, Any] = kit.office(role).get(f"hands/{hand}/replay").json()
    return found


def cards(step: dict[str, Any]) -> list[list[str]]:
    """The cards of every seat at a step."""
    return [seat["cards"] for seat in step["view"]["seats"]]


def test_every_line_has_its_step_with_its_meaning_and_its_money(kit: Kit) -> None:
    kit.worked_hand()
    kit.settle()
    found = replay(kit, Role.AUDITOR)
    steps = found["steps"]
    assert [step["text"] for step in steps[1:]] == list(SAMPLE)
    assert steps[0]["view"]["pot"] == 0 and [one["stack"] for one in steps[0]["view"]["seats"]] == found["stacks"]
    besszer = steps[9]
    assert (besszer["phase"], besszer["verb"]) == ("besszer", "rb")
    assert besszer["sentence"].startswith("p1 lets the deal go on or raises") and besszer["meaning"]
    assert besszer["moves"] == [{"paid_by": "p1", "paid_to": "pot", "amount": 200, "why": "stake"}]
    assert [step["pot"] for step in steps][8:12] == [300, 500, 700, 900]
    last = steps[-1]
    assert (last["pot"], {move["why"] for move in last["moves"]}) == (0, {"award", "tax"})
    gained = [seat["stack"] - stack for seat, stack in zip(last["view"]["seats"], found["stacks"], strict=True)]
    assert gained == found["result"]["net"] and found["settlement"] is not None and found["refused"] is None


def test_cards_that_are_shown_later_lie_face_down_before(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated(stacks=(20_000, 15_000))
    dealer.ok("hands", {"mode": "physical", "button": 2})
    dealer.act("p1 po 100", "d dh p1 ????", "d dh p2 ????", "p2 cc 100", "p1 rb 100", "p2 cc 100")
    dealer.act("p2 k", "d dh p1 ????", "d dh p2 ????", "p1 lk 2", "p1 k", "p2 lk 2", "p2 rb 100", "p1 cc 100", "p1 st")
    dealer.act("p1 sm Kl8bXb7b", "p2 sm Aa9aKhOl")
    for role in (Role.AUDITOR, Role.FLOOR):
        steps = replay(kit, role)["steps"]
        assert cards(steps[2]) == [["??", "??"], []]
        assert cards(steps[-2]) == [["Kl", "8b", "Xb", "7b"], ["??"] * 4]
        assert steps[-1]["text"] == "p2 sm Aa9aKhOl"


def test_staff_see_of_an_electronic_hand_what_the_table_saw_and_an_auditor_all_of_one_that_is_over(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated(stacks=(20_000, 15_000))
    name = dealer.deal()["hand"]
    dealer.act("p1 po 100")
    for role in (Role.AUDITOR, Role.FLOOR, Role.MANAGER, Role.SURVEILLANCE):
        found = replay(kit, role, name)
        assert found["viewer"] == "public" and "record" not in found
        assert {card for hand in cards(found["steps"][-1]) for card in hand} == {"??"}
        assert all("payload" not in one for one in found["events"])
    dealer.act("p2 f")
    kit.settle()
    for role in (Role.FLOOR, Role.MANAGER, Role.SURVEILLANCE):
        found = replay(kit, role, name)
        assert {card for hand in cards(found["steps"][-1]) for card in hand} == {"??"}
        assert [one["position"] for one in found["openings"]] == [31], "everybody sees the bottom card"
        assert "record" not in found
        assert not any("??" not in step["text"] for step in found["steps"] if step["verb"] == "dh")
    whole = replay(kit, Role.AUDITOR, name)
    assert "??" not in {card for hand in cards(whole["steps"][-1]) for card in hand}
    assert len(whole["openings"]) == 32
    for opening in whole["openings"]:
        check_opening(opening, name, whole["cards_roots"])


@pytest.mark.parametrize("mode", ["physical", "electronic"])
def test_an_auditor_gets_the_record_whose_hash_an_event_has_and_the_events_whose_hashes_are_leaves(
    kit: Kit, mode: str
) -> None:
    if mode == "physical":
        kit.worked_hand()
    else:
        kit.table()
        desk = kit.seated(stacks=(20_000, 15_000))
        desk.deal()
        desk.act("p1 po 100")
        desk.act("p2 f")
    kit.settle()
    found = replay(kit, Role.AUDITOR)
    for one in found["events"]:
        assert hashlib.sha256(b"\x00" + one["payload"].encode()).hexdigest() == one["hash"]
    payloads = [canonical.json.loads(one["payload"]) for one in found["events"]]
    assert [one["kind"] for one in payloads] == [one["kind"] for one in found["events"]]
    assert payloads[0]["kind"] == "hand.dealt" and payloads[-1]["kind"] == "hand.settled"
    [named] = [one["data"]["record_hash"] for one in payloads if one["data"].get("record_hash")]
    assert sha256_of(found["record"]) == named
    lines = [line for one in payloads for line in one["data"].get("lines", [])]
    assert len(lines) == len(found["steps"]) - 1
    kit.sequence()
    for one in found["events"]:
        assert kit.http(None).get(f"/api/v1/receipts/{one['hash']}").status_code == 200


def test_a_player_replays_own_hands_with_own_cards_only(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated(stacks=(20_000, 15_000))
    before = dealer.deal()["hand"]
    dealer.act("p1 po 100")
    dealer.act("p2 f")
    kit.settle()
    dealer.refresh()
    keys = [dealer.ok(f"seats/{seat}/key")["key"] for seat in (1, 2)]
    name = dealer.deal()["hand"]
    dealer.act("p1 po 100")
    dealer.act("p2 f")
    kit.settle()
    for key in keys:
        device = kit.http(None)
        device.headers["Authorization"] = f"Seat {key}"
        [row] = device.get("/api/v1/seat/hands").json()["hands"]
        found = device.get(f"/api/v1/seat/hands/{name}/replay").json()
        mine = int(found["you"][1:]) - 1
        assert (row["hand"], row["net"]) == (name, found["result"]["net"][mine])
        shown = cards(found["steps"][-1])
        assert "??" not in shown[mine] and len(shown[mine]) == 2 and shown[1 - mine] == ["??", "??"]
        opened = {one["card"] for one in found["openings"] if one["position"] != 31}
        assert opened == set(shown[mine]), "and the bottom card, which everybody sees"
        assert "record" not in found and all("payload" not in one for one in found["events"])
        assert_problem(device.get(f"/api/v1/seat/hands/{before}/replay"), 404, "not_found")


def test_a_hand_whose_log_is_refused_is_replayed_up_to_there(kit: Kit) -> None:
    kit.worked_hand()
    alter_as_superuser("UPDATE hands_handline SET text = 'p1 rb 700' WHERE seq = 9 AND text = 'p1 rb 200'")
    found = replay(kit, Role.FLOOR)
    assert found["refused"] == {"line": 9, "code": "amount_out_of_range"} and len(found["steps"]) == 9
    assert Hand.objects.get(house=kit.house).name == HAND


def test_other_roles_replay_nothing(kit: Kit) -> None:
    dealer = kit.worked_hand()
    assert_problem(dealer.get(f"/api/v1/hands/{HAND}/replay"), 403, "forbidden")
    assert_problem(kit.office().get("hands/T1-999999/replay"), 404, "not_found")


def readings(desk: Desk, claimed: str = "") -> Any:
    """Both readings of the hand."""
    return desk.http.get(f"/api/v1/hands/{HAND}/readings", params={"claimed": claimed} if claimed else {})


def test_both_readings_stand_side_by_side_with_what_each_seat_would_get(kit: Kit) -> None:
    kit.worked_hand()
    floor = kit.dealer(role=Role.FLOOR)
    floor.ok("hand/dispute", {"hand": HAND, "reason": "p4 says the last bet was 400"})
    found = readings(floor, "20 p4 rb 400\n21 p1 cc 400").json()
    assert found["pot"] == 3_300 and found["put_in"] == [1_500, 300, 0, 1_500]
    assert found["dispute"]["by"] == floor.get("/api/v1/session").json()["login"]
    assert found["recorded"]["division"] == {"awards": [3_300 - 165, 0, 0, 0], "tax": 165, "left": 0}
    claimed = found["claimed"]["division"]
    assert claimed == {"awards": [2_500 - 125 + 400, 0, 0, 400], "tax": 125, "left": 0}
    assert sum(claimed["awards"]) + claimed["tax"] == found["pot"]
    differing = [one["line"] for one in found["lines"] if not one["same"]]
    assert differing == [20, 21, 22, 23, 24][: len(differing)] and {20, 21} <= set(differing)
    assert found["lines"][19] == {
        "line": 20, "recorded": "p4 rb 800", "recorded_pot": 2_500, "claimed": "p4 rb 400", "claimed_pot": 2_100,
        "same": False,
    }  # fmt: skip
    body = {
        "hand": HAND, "tax": claimed["tax"], "reason": "the camera shows 400",
        "awards": [{"actor": f"p{n}", "amount": one} for n, one in enumerate(claimed["awards"], 1) if one],
        "claimed": [{"line": 20, "text": "p4 rb 400"}, {"line": 21, "text": "p1 cc 400"}],
    }  # fmt: skip
    kit.approved(floor, "hand/ruling", body)
    after = readings(floor).json()
    assert after["came_to"] == [found["claimed"]["result"]["net"][0], -300, 0, -1_100]
    assert (after["pot"], after["recorded"]["division"], after["left"]["tax"]) == (0, None, 125)


def test_a_line_that_should_not_stand_is_struck_and_what_the_claim_ends_is_not_reached(kit: Kit) -> None:
    kit.worked_hand()
    floor = kit.dealer(role=Role.FLOOR)
    floor.ok("hand/dispute", {"hand": HAND, "reason": "p1 has folded, they say"})
    struck = readings(floor, "14").json()
    assert struck["claimed"]["lines"] == [{"line": 14, "text": ""}] and struck["lines"][13]["claimed"] is None
    ended = readings(floor, "21 p1 f").json()
    assert ended["claimed"]["refused"] is None and ended["claimed"]["result"]["winner"] == 4
    assert [one["claimed"] for one in ended["lines"][21:]] == [None] * 3
    assert_problem(readings(floor, "99 p1 f"), 422, "no_such_line")
    assert_problem(readings(floor, "21 nonsense"), 422, "malformed_action")
    for wrong in ("x p1 f", "0 p1 f", "3 p1 f\n3 p1 k"):
        assert_problem(readings(floor, wrong), 400, "invalid_parameter")


def test_a_hand_in_play_has_no_readings(kit: Kit) -> None:
    kit.table()
    kit.seated().ok("hands", {"mode": "physical"})
    assert_problem(readings(kit.dealer(role=Role.FLOOR)), 409, "hand_in_play")
