"""Every verb of every registered game: what its declaration says can be written, read and written again."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.errors import EngineError, MalformedAction
from engine.kernel.grammar import HOUSE, Argument, Grammar, Seen, Verb, amount
from engine.registry import game_info
from tests.engine.any_game import GAMES, records

VERBS = [
    pytest.param(game_info(game).grammar, verb, id=f"{game}-{verb.by}-{verb.name}")
    for game in GAMES
    for verb in game_info(game).grammar
]
SEATS = st.integers(1, 9)
NUMBERS = st.integers(0, 10**18 - 1)
CARDS = st.one_of(st.just("??"), st.from_regex(r"[A-Z0-9][a-z]", fullmatch=True))
HEX = "0123456789abcdef"
QUICK = settings(max_examples=10, deadline=None)


def values(argument: Argument) -> st.SearchStrategy[Any]:
    """What the API may be given for an argument."""
    return {
        "amount": NUMBERS,
        "number": NUMBERS,
        "seat": SEATS.map(lambda seat: f"p{seat}"),
        "seats": st.sets(SEATS, min_size=1).map(lambda seats: [f"p{seat}" for seat in sorted(seats)]),
        "cards": st.lists(CARDS, min_size=1, max_size=argument.most or 1).map("".join),
        "word": st.sampled_from(argument.words or ("",)),
        "commitment": st.one_of(st.just("??"), st.text(HEX, min_size=64, max_size=64)),
        "nonce": st.text(HEX, min_size=32, max_size=32),
    }[argument.kind]


@st.composite
def actions(draw: st.DrawFn, verb: Verb) -> dict[str, Any]:
    """An action of this verb as the API takes it; arguments that may be left out sometimes are."""
    fields: dict[str, Any] = {"actor": "d" if verb.by == HOUSE else f"p{draw(SEATS)}", "verb": verb.name}
    for argument in verb.arguments:
        if not argument.optional or draw(st.booleans()):
            fields[argument.name] = draw(values(argument))
    return fields


@pytest.mark.parametrize(("grammar", "verb"), VERBS)
@QUICK
@given(data=st.data())
def test_what_is_composed_is_read_back_as_it_was(grammar: Grammar, verb: Verb, data: st.DataObject):
    fields = data.draw(actions(verb))
    line = grammar.compose(fields)
    action = grammar.parse(line)
    assert grammar.fields_of(line) == fields
    assert action.text == line and grammar.declared(action) is verb is grammar.verb(fields["actor"], verb.name)
    assert (f"p{action.actor}" if action.actor else "d") == fields["actor"]


@pytest.mark.some_now(3)
@pytest.mark.parametrize(("grammar", "verb"), VERBS)
@QUICK
@given(data=st.data())
def test_a_line_of_the_pattern_is_refused_or_the_only_spelling_of_its_action(
    grammar: Grammar, verb: Verb, data: st.DataObject
):
    line = data.draw(st.from_regex(verb.pattern, fullmatch=True, alphabet=st.characters(codec="ascii")))
    try:
        grammar.parse(line)
    except MalformedAction:
        assume(False)
    assert grammar.compose(grammar.fields_of(line)) == line


@pytest.mark.parametrize(("grammar", "verb"), VERBS)
@QUICK
@given(data=st.data())
def test_no_other_spelling_is_read(grammar: Grammar, verb: Verb, data: st.DataObject):
    line = grammar.compose(data.draw(actions(verb)))
    actor, name, *rest = line.split(" ")
    others = [f"{line} ", f" {line}", f"{line}\n", line.replace(" ", "  ", 1), line.replace(" ", "\t", 1)]
    others += [line.upper(), " ".join((actor, name.upper(), *rest)), " ".join((actor.upper(), name, *rest))]
    others += [" ".join((actor, name, *rest, "p1" if verb.by == HOUSE else "x"))]
    others += [" ".join((actor, name, *spelt)) for spelt in spellings(rest)]
    others += [" ".join(("p0", name, *rest)), " ".join(("p10", name, *rest))]
    for other in others:
        if other != line:
            with pytest.raises(EngineError):
                grammar.parse(other)


def spellings(words: list[str]) -> list[list[str]]:
    """The same numbers with a sign, a zero before them, or digits of another script."""
    found = []
    for at, word in enumerate(words):
        if word.isascii() and word.isdecimal() and len(word) < 18:
            others = (
                f"0{word}",
                f"+{word}",
                f"-{word}",
                f"{word}.0",
                "".join(chr(0x660 + int(digit)) for digit in word),
            )
            found += [[*words[:at], other, *words[at + 1 :]] for other in others]
    return found


@pytest.mark.parametrize(("grammar", "verb"), VERBS)
@given(data=st.data())
@settings(max_examples=3, deadline=None)
def test_what_is_missing_or_too_much_is_named(grammar: Grammar, verb: Verb, data: st.DataObject):
    fields = data.draw(actions(verb))
    with pytest.raises(MalformedAction) as refusal:
        grammar.compose(fields | {"nothing_of_the_kind": 1})
    assert refusal.value.expected["surplus"] == ["nothing_of_the_kind"]
    for argument in verb.arguments:
        if not argument.optional:
            with pytest.raises(MalformedAction) as refusal:
                grammar.compose({name: value for name, value in fields.items() if name != argument.name})
            assert refusal.value.expected["missing"] == [argument.name]


@pytest.mark.parametrize("game", GAMES)
def test_every_line_that_was_played_goes_through_the_api_and_back(game: str):
    grammar = game_info(game).grammar
    for line in {line for record in records(game) for line in record.acts}:
        assert grammar.compose(grammar.fields_of(line)) == line


@pytest.mark.parametrize("game", GAMES)
def test_a_veiled_line_names_no_card_and_is_a_line_itself(game: str):
    grammar = game_info(game).grammar
    for line in {line for record in records(game) for line in record.acts}:
        action, found = grammar.parse(line), grammar.veiled(line)
        argument = grammar.declared(action).cards
        assert (found is not None) == (argument is not None and argument.seen is not Seen.ALL)
        if found is not None:
            hidden = grammar.parse(found.hidden)
            assert set(hidden.cards) == {"??"} and len(hidden.cards) == len(action.cards)
            assert (hidden.actor, hidden.verb, hidden.target) == (action.actor, action.verb, action.target)


@pytest.mark.parametrize("game", GAMES)
def test_a_grammar_survives_a_pickle_and_is_data(game: str):
    grammar = game_info(game).grammar
    again = pickle.loads(pickle.dumps(grammar))
    assert again.verbs == grammar.verbs
    assert [verb.as_dict() for verb in again] == [verb.as_dict() for verb in grammar]


def test_a_verb_is_declared_once_for_a_writer():
    with pytest.raises(ValueError, match="declared twice"):
        Grammar(Verb("x", HOUSE, (), "one"), Verb("x", HOUSE, (amount(),), "other"))
