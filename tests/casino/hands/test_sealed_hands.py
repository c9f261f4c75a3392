"""What an electronic hand must not record: the house knows every card, and a console may see none of them."""

import json
from typing import Any

from casino.hands import selectors
from casino.hands.models import Hand
from engine.vying.majzli import majzli_commitment
from tests.casino.hands.test_variant_hands import NONCE, refused
from tests.casino.kit import Desk, Kit


def electronic(kit: Kit, *, until: str, **options: Any) -> tuple[Desk, dict[str, Any]]:
    """An electronic hand of three at the first moment at which `until` is on offer, everybody checking and calling."""
    kit.table(seats=3, **options)
    desk = kit.seated(stacks=(9_000,) * 3)
    answer = desk.deal()
    quiet = ("po", "cc", "k", "rb", "lk") if until == "up" else ("po", "cc", "k", "lk", "cu")
    while until not in [offer["verb"] for offer in answer["legal_actions"]]:
        offers = {offer["verb"]: offer for offer in answer["legal_actions"]}
        verb = next(name for name in quiet if name in offers)
        if until == "up" and "rb" in offers and answer["view"]["phase"] == "besszer":
            verb = "rb"
        action = {"actor": offers[verb]["actor"], "verb": verb}
        action |= {name: field["min"] for name, field in offers[verb]["takes"].items()}
        answer = desk.ok("hand/actions", {"actions": [action]})
    return desk, answer


def test_where_the_house_deals_nobody_names_cards(kit: Kit) -> None:
    desk, answer = electronic(kit, until="cu", cuhhol=True)
    actor = answer["actor"]
    refusal = desk.post("hand/actions", {"actions": [{"actor": actor, "verb": "cu", "cards": "AaKaOaUa"}]})
    assert (refusal.status_code, refusal.json()["code"]) == (422, "cards_known_to_the_house")
    dealt = Hand.objects.get(house=kit.house)
    held = selectors.state(dealt).cards_of(1)
    # The request's id is left out: `8a` or `7b` may well stand among its hexadecimal digits.
    recorded = json.dumps({name: value for name, value in refusal.json().items() if name != "instance"})
    assert not [card for card in held if card in recorded and card not in "AaKaOaUa"]


def test_two_cards_are_turned_up_by_their_places(kit: Kit) -> None:
    desk, answer = electronic(kit, until="up", show_two=True)
    actor = answer["actor"]
    by_name = {"actor": actor, "verb": "up", "cards": "AaKa"}
    assert refused(desk, by_name) == (422, "cards_known_to_the_house")
    batch = [{"actor": actor, "verb": "up", "places": [0, 1]}, {"actor": "p2", "verb": "k"}]
    refusal = desk.post("hand/actions", {"actions": batch})
    assert (refusal.status_code, refusal.json()["code"]) == (422, "must_be_last")
    desk.ok("hand/actions", {"actions": batch[:1]})


def test_nobody_learns_before_the_answer_whether_a_hand_is_higher(kit: Kit) -> None:
    desk, answer = electronic(kit, until="cu", cuhhol=True)
    laid = {"actor": answer["actor"], "verb": "cu", "cards": "????????"}
    look = {"actor": "p2", "verb": "lk", "count": 2}
    tried = desk.post("hand/actions", {"actions": [laid, look, {"actor": "p2", "verb": "k"}]})
    assert (tried.status_code, tried.json()["code"]) == (422, "must_be_last")
    desk.ok("hand/actions", {"actions": [laid]})
    answer = desk.ok("hand/actions", {"actions": [look]})
    assert [offer["verb"] for offer in answer["legal_actions"]] == ["k", "f"]
    assert [offer["verb"] for offer in desk.get("hand/legal-actions").json()] == ["k", "f"]
    more = [{"actor": "p2", "verb": "f"}, {"actor": "p3", "verb": "k"}]
    refusal = desk.post("hand/actions", {"actions": more})
    assert (refusal.status_code, refusal.json()["code"]) == (422, "must_be_last")


def test_a_console_commits_to_the_vizi_that_it_holds(kit: Kit) -> None:
    kit.table(seats=3, majzli_max=300)
    desk = kit.seated(stacks=(9_000,) * 3)
    desk.deal()
    assert refused(desk, {"actor": "p1", "verb": "mj", "commitment": "??"}) == (422, "commitment_needed")
    commitment = majzli_commitment(200, bytes.fromhex(NONCE))
    desk.ok("hand/actions", {"actions": [{"actor": "p1", "verb": "mj", "commitment": commitment}]})
