"""The game of `docs/how-to/add-a-game.md`: one module and one line of the registry are enough to play it."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import registry as games
from engine.errors import EngineError
from engine.kernel.setup import Setup
from engine.play import Sitting, play_evening
from engine.record.format import format_record, parse_record
from engine.record.replay import replay
from engine.registry import game_info, resume, start

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "add-a-game.md"
DECK_SETUP = Setup("high_card", {"stake": 100}, 3, (500, 500, 500), dealer=3)


@pytest.fixture
def high_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The page's game, registered."""
    [code] = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "high_card_of_the_page.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(games.MODULES, "high_card", "high_card_of_the_page")
    importlib.invalidate_caches()
    yield
    sys.modules.pop("high_card_of_the_page", None)
    game_info.cache_clear()
    games.rules_version.cache_clear()


@pytest.mark.usefixtures("high_card")
class TestTheGameOfThePage:
    """What the page promises."""

    def test_it_plays_and_its_records_replay(self):
        table = Sitting("high_card", {"stake": 100}, 4, 10_000, 100)
        for record in play_evening(table, hands=20, seed="page"):
            outcome = replay(parse_record(format_record(record)))
            assert outcome.ok, outcome.error
            assert outcome.hand is not None and sum(record.net or ()) == 0

    def test_a_wrong_line_is_refused_without_a_trace(self):
        hand = start(DECK_SETUP)
        for line, code in (
            ("p1 po 99", "amount_out_of_range"),
            ("p2 po 100", "not_your_turn"),
            ("p1 f", "malformed_action"),
        ):
            with pytest.raises(EngineError) as refusal:
                hand.apply(line)
            assert refusal.value.code == code
        assert hand.log == ()

    def test_the_highest_card_wins_and_others_see_it_only_then(self):
        log = ["p1 po 100", "p2 po 100", "p3 po 100", "d dh p1 9a", "d dh p2 Ka", "d dh p3 Kl"]
        hand = resume(DECK_SETUP, log)
        assert hand.view("public")["log"][3:] == ["d dh p1 ??", "d dh p2 ??", "d dh p3 ??"]  # type: ignore[index]
        with pytest.raises(EngineError) as refusal:
            hand.apply("p1 sm Aa")
        assert refusal.value.code == "card_mismatch"
        for line in ("p1 sm 9a", "p2 sm Ka", "p3 sm Kl"):
            hand.apply(line)
        assert hand.result is not None and (hand.result.winner, hand.result.net) == (2, (-100, 200, -100))

    def test_what_follows_from_its_declaration(self):
        declared = game_info("high_card").as_dict()
        assert [verb["verb"] for verb in declared["verbs"]] == ["po", "dh", "sm", "au"]  # type: ignore[index, attr-defined]
        assert declared["options"][0]["required"]  # type: ignore[index]
        hand = start(DECK_SETUP)
        assert hand.automatic() == "p1 po 100"
        hand.apply("p1 au")
        assert [line for offer in hand.legal() for line in offer.lines()] == ["p1 po 100"]
        assert hand.copy() == hand
