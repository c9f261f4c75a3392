"""What is said while another seat is to act: it names the hand and the line it answers, and the order of the log is the
order of arrival."""

from pathlib import Path
from random import Random
from typing import Any

import httpx

from casino.hands import selectors
from casino.staff.models import Role, TerminalKind
from tests.casino.core.test_concurrency import at_once
from tests.casino.devices import code, events
from tests.casino.kit import Desk, Kit
from tests.casino.transfers.test_transfers import floor_at
from tests.casino.trick_hands import assert_whole, four, held, last_hand, place_action, settled


def say(desk: Desk, hand: str, line: int, actor: str, verb: str = "cl", **more: Any) -> httpx.Response:
    """One word beside the turn, under a key of its own; no version is named."""
    action = {"actor": actor, "verb": verb} | ({"word": "uss"} if verb == "cl" else {}) | more
    return desk.post("hand/beside", {"hand": hand, "line": line, "action": action}, version="none")


def dealt(kit: Kit) -> tuple[Desk, dict[str, Any], int]:
    """A table of Zsíros with an electronic hand; its console, the hand, and how many lines it has."""
    desk = four(kit)
    answer = desk.deal()
    return desk, answer, len(answer["view"]["log"])


def lead(kit: Kit, desk: Desk, answer: dict[str, Any]) -> dict[str, Any]:
    """The seat to act plays its first card."""
    return desk.ok("hand/actions", {"actions": [{"actor": answer["actor"], "verb": "pl", "places": [0]}]})


def test_a_call_stands_although_others_have_spoken_since(kit: Kit, tmp_path: Path) -> None:
    desk, hand, line = dealt(kit)
    assert hand["actor"] == "p1"
    for more in range(3):
        answer = say(desk, hand["hand"], line, "p3")
        assert answer.status_code == 200, answer.text
        assert answer.json()["view"]["log"][line:] == ["p3 cl uss"] * (more + 1)
    desk.refresh()
    answer = desk.get("hand").json()
    while answer["actor"] is not None:
        action = place_action(answer, held(kit, answer["actor"]), Random(1))
        answer = desk.ok("hand/actions", {"actions": [action]})
    settled(kit, desk)
    assert_whole(kit, tmp_path)


def test_a_refusal_that_came_too_late_says_what_came_before_it(kit: Kit) -> None:
    desk, hand, line = dealt(kit)
    after = lead(kit, desk, hand)
    late = say(desk, hand["hand"], line, "p3")
    assert code(late) == (422, "not_your_turn")
    assert late.json()["expected"]["came_before"] == after["view"]["log"][line:]
    assert len(selectors.log(last_hand(kit))) == line + 1
    # Whose partner is to act now may call, having seen no more than the deal.
    assert say(desk, hand["hand"], line, "p4").status_code == 200


def test_what_belongs_to_a_turn_needs_the_version(kit: Kit) -> None:
    desk, hand, line = dealt(kit)
    answer = say(desk, hand["hand"], line, "p1", "pl", places=[0])
    assert code(answer) == (422, "not_beside") and answer.json()["verbs"] == ["cl"]
    assert code(say(desk, hand["hand"], line, "p1", "zz")) == (400, "invalid_request")


def test_the_hand_and_the_line_must_be_there(kit: Kit) -> None:
    desk, hand, line = dealt(kit)
    assert code(say(desk, hand["hand"], line + 1, "p3")) == (422, "no_such_line")
    assert code(say(desk, "T1-000099", line, "p3")) == (404, "not_found")
    assert code(say(desk, hand["hand"], -1, "p3")) == (400, "invalid_request")
    floor = floor_at(kit, TerminalKind.TABLE, "T1")
    floor.refresh()
    floor.ok("hand/void", {"cause": "misdeal", "reason": "a bell rang"})
    late = say(desk, hand["hand"], line, "p3")
    assert code(late) == (409, "hand_over") and late.json()["expected"] == {"came_before": []}


def test_the_same_request_again_is_the_same_word(kit: Kit) -> None:
    desk, hand, line = dealt(kit)
    body = {"hand": hand["hand"], "line": line, "action": {"actor": "p3", "verb": "cl", "word": "uss"}}
    first, again = (desk.post("hand/beside", body, version="none", key="once") for _ in range(2))
    assert (first.status_code, again.headers.get("Idempotency-Replayed")) == (200, "true")
    assert selectors.log(last_hand(kit))[line:] == ["p3 cl uss"]


def test_of_calls_and_plays_at_once_all_that_are_legal_stand_in_one_order(kit: Kit, tmp_path: Path) -> None:
    desk, hand, line = dealt(kit)
    other = kit.dealer(role=Role.FLOOR)
    other.refresh()

    def call() -> httpx.Response:
        return say(other, hand["hand"], line, "p3")

    def play() -> httpx.Response:
        return desk.post("hand/actions", {"actions": [{"actor": "p1", "verb": "pl", "places": [0]}]})

    answers = at_once(*[call] * 5, play)
    log = selectors.log(last_hand(kit))[line:]
    accepted = [answer for answer in answers if answer.status_code == 200]
    assert len(log) == len(accepted)
    called = [at for at, text in enumerate(log) if text == "p3 cl uss"]
    played = [at for at, text in enumerate(log) if text.startswith("p1 pl")]
    # A call counts until the card falls; a card is refused where a call has come since its console looked.
    assert not played or max(called, default=-1) < played[0]
    assert {code(answer) for answer in answers if answer.status_code != 200} <= {
        (412, "version_conflict"), (422, "not_your_turn"),
    }  # fmt: skip
    assert [event["data"]["first_line"] for event in events(kit, "hand.acted")] == list(
        range(line + 1, line + 1 + len(log))
    )


def test_a_shout_counts_until_the_next_card_is_given(kit: Kit, tmp_path: Path) -> None:
    """Esel: the last giver may shout; the shouts that follow are in the order in which they arrive."""
    kit.table_for("esel", {"forfeit": 100}, code="T1", seats=4, tray=0, max_stack=50_000)
    desk = kit.seated(stacks=(20_000,) * 4)
    answer = desk.deal()
    name, line = answer["hand"], len(answer["view"]["log"])
    assert code(say(desk, name, line, "p1", "sh")) == (422, "not_your_turn")
    for seat in ("p1", "p2"):
        desk.ok("hand/actions", {"actions": [{"actor": seat, "verb": "gv", "places": [0]}]})
    late = say(desk, name, line + 1, "p1", "sh")
    assert code(late) == (422, "not_your_turn")
    assert late.json()["expected"]["came_before"] == ["p2 gv ??"]
    shouted = say(desk, name, line + 2, "p2", "sh")  # false: p2 holds no suit, and is the Esel at once
    assert shouted.status_code == 200, shouted.text
    assert shouted.json()["result"]["net"] == [100, -300, 100, 100]
    after = say(desk, name, line + 2, "p3", "sh")
    assert code(after) == (409, "hand_over") and after.json()["expected"]["came_before"][0] == "p2 sh"
    settled(kit, desk)
    assert_whole(kit, tmp_path)
