"""The examples in the docstrings run; the error tree in its docstring is the one in the code."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from engine import errors
from engine.annotated import annotated, example, played, random_deals
from engine.reference import markdown, pages, phases
from engine.registry import game_info, game_names, start
from engine.vying.faerbeln import FaerbelnState
from engine.vying.ferbli import FerbliState
from engine.vying.state import VyingState
from tests.engine.support import table


@pytest.mark.parametrize(
    "name",
    [
        "registry",
        "kernel.legal",
        "kernel.grammar",
        "record.replay",
        "deal.shuffle",
        "deal.opening",
        "vying.majzli",
        "vying.pots",
    ],
)
def test_docstring_examples(name: str):
    result = doctest.testmod(import_module(f"engine.{name}"))
    assert result.attempted and not result.failed


def every_error(kind: type[errors.EngineError]) -> list[type[errors.EngineError]]:
    return [kind, *(found for child in kind.__subclasses__() for found in every_error(child))]


def test_the_error_tree_is_drawn_complete_and_codes_are_unique():
    kinds = every_error(errors.EngineError)
    codes = [kind.code for kind in kinds]
    assert len(set(codes)) == len(codes)
    for kind in kinds:
        assert kind.__name__ in (errors.__doc__ or "")
        if not kind.__subclasses__():
            assert kind.code in (errors.__doc__ or "")


@pytest.mark.parametrize(("game", "state"), [("ferbli", FerbliState), ("faerbeln", FaerbelnState)])
def test_the_vocabulary_is_what_the_phases_know(game: str, state: type[VyingState]):
    known = {verb for verbs in state.HANDLERS.values() for verb in verbs}
    assert known == set(state.OFFERS) == set(game_info(game).verbs)


def test_start_gives_a_hand_of_the_protocol():
    assert start(table(2).setup).actor == "p1"


def test_the_reference_pages_are_what_the_games_declare():
    """`make pages`"""
    folder = Path(__file__).parents[2] / "docs" / "reference"
    made = pages()
    assert {path: (folder / path).read_text() for path in made} == made
    assert {str(path.relative_to(folder)) for path in (folder / "games").iterdir()} == {*made}


def test_a_table_of_a_docstring_is_one_of_markdown():
    text = """Phases:

=====  ========
phase  who acts
=====  ========
deal   the house
       deals
=====  ========

The ``end``."""
    assert markdown(text).split("\n\n")[1:] == [
        "| phase | who acts |\n|---|---|\n| deal | the house deals |", "The `end`.",
    ]  # fmt: skip


def test_an_annotated_deal_moves_what_the_deal_moves():
    for name in game_names():
        hand = played(example(name))
        lines = list(annotated(hand))
        assert [line.text for line in lines] == list(hand.log)
        moved = [line.money for line in lines if line.money]
        assert sum(len(money.split(", ")) for money in moved) == len(hand.moves) - bool(hand.setup.carry)


def test_the_tutorial_runs():
    """Every example of `engine/README.md`, one after another."""
    tutorial = Path(__file__).parents[2] / "engine" / "README.md"
    result = doctest.testfile(str(tutorial), module_relative=False, encoding="utf-8")
    assert result.attempted > 30 and not result.failed


@pytest.mark.parametrize("game", game_names())
def test_every_phase_that_is_played_has_its_sentence(game: str):
    played_phases = {line.phase for record in random_deals(game) for line in annotated(played(record))}
    assert played_phases <= phases(game).keys()
    assert not [text for text in phases(game).values() if not text or "``" in text or "==" in text]
