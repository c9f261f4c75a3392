"""An offer round-trips: a value for each field in `takes` is an action that the API accepts, and no other value is."""

from __future__ import annotations

import dataclasses
from collections import Counter
from random import Random
from typing import Any

import pytest
from rest_framework.exceptions import ValidationError

import engine
from casino.api.hands import ActionInput
from casino.core.errors import Unprocessable
from casino.hands import arranging, selectors
from engine.errors import EngineError
from engine.kernel.grammar import SEAT
from engine.kernel.rules import Spec
from engine.kernel.setup import Setup
from engine.play import random_line
from engine.registry import game_info, game_names, start, supply
from tests.casino.devices import device
from tests.casino.kit import FAERBELN, FERBLI, Kit
from tests.casino.round_trip import Fields, filled, outside
from tests.casino.trick_hands import settled
from tests.engine.chance import GAMES as WITH_OPTIONS
from tests.engine.chance import random_setup
from tests.engine.shedding.shedding_kit import deal
from tests.engine.shedding.test_pacal import ROWS

HANDS = 8
"""Hands of each game, every second one dealt by the house; more where an argument is rare."""


def random_table(game: str, random: Random) -> Setup:
    """Some table of the game: options now and then, every size, a series that goes on where there is one."""
    if game in WITH_OPTIONS and random.random() < 0.7:
        return random_setup(game, random)
    info = game_info(game)
    seats = random.choice(info.seats_allowed or tuple(range(info.min_seats, info.max_seats + 1)))
    opt = info.resolve({**info.example, **random_options(game, seats, random)}, seats, ())
    least = info.rules.parse(opt, seats).least_stack
    names = tuple(f"s{seat}" for seat in range(1, seats + 1))
    deck = tuple(random.sample(info.pack_for(opt).cards, len(info.pack_for(opt).cards)))
    series = info.new_series(names, info.rules.parse(opt, seats))
    return Setup(game, opt, seats, (20 * least,) * seats, 0, seats, deck, series=series, ids=names)


def random_options(game: str, seats: int, random: Random) -> dict[str, Any]:
    """Each option that is a choice now and then, as far as the game allows it beside the others."""
    info, found = game_info(game), {}
    for field in dataclasses.fields(info.rules):
        spec: Spec = field.metadata["spec"]
        choices = spec.choices or ((False, True) if spec.kind is bool else ())
        if not choices or random.random() > 0.3:
            continue
        trial = found | {field.name: random.choice(choices)}
        try:
            info.rules.parse(info.resolve({**info.example, **trial}, seats, ()), seats)
        except EngineError:
            continue
        found = trial
    return found


def line_of(hand: engine.Hand, action: Fields) -> str:
    """The line that the API makes of an action. Raises what it is refused with."""
    given = ActionInput(data=action)
    given.is_valid(raise_exception=True)
    line = arranging.composed(hand.grammar, given.validated_data, 0)
    if hand.setup.deck is not None:
        arranging.require_sealed(hand, hand.grammar, line, last=True)
    return arranging.arranged(hand, hand.grammar, line, {})


def offers_of(hand: engine.Hand) -> list[Fields]:
    """What the house is offered, and each seat by its own cards."""
    own = [offer for seat in range(1, hand.setup.seats + 1) for offer in selectors.legal_actions(hand, seat)]
    return own + [offer for offer in selectors.legal_actions(hand) if offer["actor"] == "d"]


def is_refused(hand: engine.Hand, action: Fields) -> bool:
    """Whether the API or the engine refuses the action."""
    try:
        hand.copy().advance(line_of(hand, action))
    except (EngineError, Unprocessable, ValidationError):
        return True
    return False


def played(setup: Setup, random: Random, most: int = 250) -> Counter[str]:
    """A hand by nothing but offers, to its end or for so many lines; how many actions were filled in, by kind of field,
    and how many were refused."""
    hand, count = start(setup), Counter[str]()
    while not hand.over and len(hand.log) < most:
        forced = hand.forced() if setup.deck is not None else None
        if forced is None:
            offers = offers_of(hand)
            offer = random.choice(offers)
            action = filled(offer, random)
            if action is None:  # cards that lie on the table
                action = hand.grammar.fields_of(random_line(hand, random))
            else:
                count.update(field["kind"] for field in offer["takes"].values())
                if random.random() < 0.3:
                    count["refused"] += refusals(hand, offer, action)
            forced = line_of(hand, action)
        hand.advance(forced)
        supply(hand, lambda cards, number: tuple(random.sample(cards, len(cards))))
    return count


def refusals(hand: engine.Hand, offer: Fields, action: Fields) -> int:
    """Every value just outside the offer is refused, and so is one more or one less field; how many there were."""
    wrong = [action | {name: value} for name, field in offer["takes"].items() for value in outside(field)]
    wrong += [{name: value for name, value in action.items() if name != left_out} for left_out in offer["takes"]]
    wrong.append(action | {"places": [0]} if "places" not in action else action | {"amount": 1})
    accepted = [one for one in wrong if not is_refused(hand, one)]
    assert not accepted, (hand.setup, hand.log, offer, accepted)
    return len(wrong)


@pytest.mark.some_now(12)
@pytest.mark.parametrize("game", game_names())
def test_an_offer_that_is_filled_in_is_accepted(game: str) -> None:
    random, count = Random(f"offers-{game}"), Counter[str]()
    verbs = [verb for verb in game_info(game).grammar if verb.by == SEAT]
    # Where the house deals, cards of a hand are named by their places.
    declared = {argument.kind for verb in verbs for argument in verb.arguments} - {"cards"}
    declared -= {"word"} if game == "pacal" else set()
    # The pairs of Old Maid leave no choice: where the house deals, it puts them down itself.
    declared |= {"places"} if game != "old_maid" and any(verb.out_of_hand for verb in verbs) else set()
    for number in range(6 * HANDS):
        setup = random_table(game, random)
        count += played(setup if number % 2 else setup._replace(deck=None), random)
        if number >= HANDS and declared <= count.keys() and count["refused"] > 50:
            break
    assert declared <= count.keys() and count["refused"] > 50, (declared, count)


def test_a_word_stands_in_the_field_that_the_game_names() -> None:
    """Pacal's `suit`: rare at random, a seat whose cards are all of suits that are taken names one."""
    hand = deal("pacal", 4, "p1 up Aa; p2 up Ua; p2 up Oa; p2 up Xa; p2 up 9a; p2 up 8a", deck=ROWS)
    [offer] = offers_of(hand)
    assert offer == {"actor": "p2", "verb": "ts", "takes": {"suit": {"kind": "word", "choices": ["l", "b", "h"]}}}
    action = {"actor": "p2", "verb": "ts"}
    assert [suit for suit in "lbhax" if not is_refused(hand, action | {"suit": suit})] == ["l", "b", "h"]


#: What a house's table must set where the game's own example leaves it open.
HOUSE: dict[str, dict[str, Any]] = {"ferbli": FERBLI, "faerbeln": FAERBELN}
#: Options that end a hand soon.
SHORT = {"esel": {"max_passes": 12}, "pacal": {"max_plies": 14}, "old_maid": {"max_turns": 12}}


@pytest.mark.some_now(6)
@pytest.mark.parametrize("game", game_names())
def test_a_hand_of_every_game_is_played_over_http_by_its_offers(kit: Kit, game: str) -> None:
    """Each seat's device says what the seat may do; the console sends it. Nothing is refused."""
    info, random = game_info(game), Random(game)
    seats = max(info.seats_allowed or (info.min_seats,))
    opt = {**HOUSE.get(game, info.example), **SHORT.get(game, {})}
    kit.table_for(game, opt, code="T1", seats=seats, max_stack=10_000_000)
    stack = 3 * info.rules.parse(info.resolve(opt, seats, ()), seats).least_stack
    desk = kit.seated(stacks=(stack,) * seats)
    devices = {seat: device(kit, desk, seat) for seat in range(1, seats + 1)}
    desk.refresh()
    answer = desk.deal()
    while answer["actor"] is not None:
        chairs = {seat["actor"]: devices[seat["seat"]] for seat in answer["seats"]}
        offers = [offer for offer in answer["legal_actions"] if offer["actor"] == "d"]
        for actor in {offer["actor"]: None for offer in answer["legal_actions"] if offer["actor"] != "d"}:
            offers += chairs[actor].get("hand").json()["legal_actions"]
        action = filled(random.choice(offers), random)
        answer = desk.ok("hand/actions", {"actions": [action]})
    assert settled(kit, desk).result["ending"]
