"""Places of the dock: the same in every state, and an answer in every place that has no act now."""

from collections.abc import Mapping
from typing import Any

import pytest

import engine
from casino.console import slots
from casino.hands import verbs
from casino.staff.models import Role, TerminalKind
from tests.casino.console.browser import Browser
from tests.casino.kit import Kit
from tests.engine.any_game import points

GAMES = engine.game_names()


@pytest.mark.parametrize("name", GAMES)
def test_verbs_of_one_phase_have_places_of_their_own(name: str) -> None:
    game: Mapping[str, Any] = verbs.declaration(name)
    where = slots.places(game)
    for phase in game["phases"]:
        assert len({where[verb] for verb in phase["verbs"]}) == len(phase["verbs"]), phase
    assert max(where.values()) < 6, "more than three rows do not fit below a table"


@pytest.mark.parametrize("name", GAMES)
def test_dropping_out_is_never_beside_a_call(name: str) -> None:
    game: Any = verbs.declaration(name)
    where = slots.places(game)
    calls = divmod(where.get("cc", 0), slots.COLUMNS)
    for verb in (one["verb"] for one in game["verbs"] if one.get("leaves")):
        row, column = divmod(where[verb], slots.COLUMNS)
        assert row != calls[0] and column != calls[1]


@pytest.mark.parametrize("name", GAMES)
def test_every_place_has_an_act_or_says_why_not(name: str) -> None:
    game: Any = verbs.declaration(name)
    declared, where = slots.by_writer(game), slots.places(game)
    for hand, _ in points(name, 0.2):
        asked = {
            "seats": [{"actor": f"p{seat}", "seat": seat} for seat in range(1, hand.setup.seats + 1)],
            "legal_actions": [
                {"actor": one.actor, "verb": one.verb, "takes": {}} for one in hand.legal_for(engine.PUBLIC)
            ],
            "not_offered": [one._asdict() for one in hand.not_offered(engine.PUBLIC)],
            "view": {"phase": hand.phase},
        }
        found = slots.slots(asked, game, declared, slots.offers(asked, declared))
        for place, slot in enumerate(found[: max(where.values()) + 1]):
            named = slot.offer.verb if slot.offer else slot.verb
            assert not named or where[named] == place
            assert slot.offer or not named or (slot.why and slot.when and slot.label)
        shown = [(slot.offer.actor, slot.offer.verb) for slot in found if slot.offer]
        assert sorted(shown) == sorted((one["actor"], one["verb"]) for one in asked["legal_actions"])


def test_the_screen_of_a_table_says_why_not_in_the_words_of_the_rules(kit: Kit) -> None:
    kit.table()
    desk = kit.seated(stacks=(10_000, 10_000))
    desk.ok("hands", {"mode": "physical"})
    page = Browser.of(kit, Role.DEALER, TerminalKind.TABLE, "T1").open("tables/T1").text
    assert 'data-verb="po"' in page
    why = 'data-verb="rb" data-why="p1 lets the deal go on or raises (&quot;Second round of betting&quot;)'
    assert why in page and "charge seat M" not in page
    hand = desk.get("hand").json()
    missing = {one["verb"]: one for one in hand["not_offered"]}
    assert missing["ks"] == {"by": "seat", "verb": "ks", "phases": ["charge"], "in_phase": False}
    declared = kit.office().get("games/ferbli").json()
    assert [one["phase"] for one in declared["phases"]][:2] == ["post", "majzli"]
