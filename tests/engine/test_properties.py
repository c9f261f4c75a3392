"""What holds for every hand: it ends, money is conserved, a refusal leaves no trace."""

from __future__ import annotations

import copy
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.cards import FRENCH32, TELL32
from engine.errors import EngineError
from engine.events import Move, MoveKind
from engine.game import Hand, Legal, Setup, resume, start
from engine.play import random_line
from tests.engine.support import frozen, shuffled

TO_POT = {MoveKind.STAKE, MoveKind.PENALTY}
PLAYOUTS = 20_000
GAMES = ("ferbli", "faerbeln")
ENDINGS = {
    "ferbli": {"cukassza", "all_checked", "uncontested", "showdown"},
    "faerbeln": {"uncontested", "showdown"},
}


def random_setup(game: str, random: Random) -> Setup:
    """Some table of the game, short stacks among the seats, now and then with other options."""
    return random_ferbli(random) if game == "ferbli" else random_faerbeln(random)


def random_faerbeln(random: Random) -> Setup:
    """Three to seven seats, either pack, every option now and then."""
    seats = random.randint(3, 7)
    pack = random.choice(["tell", "french"])
    opt: dict[str, object] = {"ante": 200, "lower": 500, "upper": 800, "bonus41": 10_000, "pack": pack}
    opt |= random.choice([{"tax_cap": 700}, {"tax_bps": 0}, {"tax_bps": 333, "tax_cap": 10**6, "chip": 25}])
    opt["round2_unit"] = random.choice(["lower", "upper"])
    others: dict[str, object] = {
        "raise_cap": random.randint(1, 5),
        "cap_heads_up": random.choice([0, 1, 5]),
        "forehand_option": False,
        "check_allowed": False,
        "showdown": "any_call",
        "short_stack": "side_pot",
    }
    opt |= {name: value for name, value in others.items() if random.random() < 0.3}
    richest = random.choice([1000, 5000, 50_000])
    least = 200 if opt.get("short_stack") == "side_pot" else 700
    stacks = (random.randint(700, richest), *(random.randint(least, richest) for _ in range(seats - 1)))
    deck = shuffled(random, FRENCH32 if pack == "french" else TELL32)
    return Setup("faerbeln", opt, seats, stacks, 0, seats, deck)


def random_ferbli(random: Random) -> Setup:
    """Two to seven seats, short stacks among them, some tax, some carry, now and then other limits."""
    seats = random.randint(2, 7)
    opt: dict[str, object] = {"vizi": 100}
    if random.random() < 0.5:
        opt |= {"tax_bps": random.choice([0, 250, 500]), "tax_cap": 700, "chip": random.choice([1, 5, 25])}
    if random.random() < 0.2:
        opt |= {"bet_unit": "chip"}
    if random.random() < 0.2:
        opt |= {"table_max": random.choice([100, 350, 1000])}
    if random.random() < 0.2:
        opt |= {"raise_cap": random.randint(1, 4)}
    richest = random.choice([150, 1000, 20_000])
    stacks = tuple(random.randint(100, richest) for _ in range(seats))
    return Setup("ferbli", opt, seats, stacks, random.choice([0, 300, 1234]), seats, shuffled(random))


def play_out(setup: Setup, random: Random) -> Hand:
    """Play at random, checking the money after every action by adding up the events."""
    hand = start(setup)
    stacks, pot, tax, carried, bonus = list(setup.stacks), 0, 0, 0, [0] * setup.seats
    total = sum(setup.stacks) + setup.carry
    events = list(hand.opening_events)
    while True:
        for event in events:
            if not isinstance(event, Move):
                continue
            assert event.amount > 0
            if event.kind in TO_POT:
                stacks[event.seat - 1] -= event.amount
                pot += event.amount
            elif event.kind is MoveKind.CARRY_IN:
                pot += event.amount
            elif event.kind is MoveKind.BONUS:  # the house's own money
                bonus[event.seat - 1] += event.amount
                stacks[event.seat - 1] += event.amount
            else:
                pot -= event.amount
                if event.kind in (MoveKind.RETURNED, MoveKind.AWARD):
                    stacks[event.seat - 1] += event.amount
                tax += event.amount if event.kind is MoveKind.TAX else 0
                carried += event.amount if event.kind is MoveKind.CARRY_OUT else 0
        assert (tuple(stacks), pot) == (hand.stacks, hand.pot)
        assert min(stacks) >= 0 and pot >= 0
        assert sum(stacks) + pot + tax + carried == total + sum(bonus)
        if hand.over:
            break
        events = list(hand.apply(random_line(hand, random)))
    assert hand.result and pot == 0
    assert (hand.result.tax, hand.result.carry_out, hand.result.bonus) == (tax, carried, tuple(bonus))
    assert hand.result.net == tuple(now - then for now, then in zip(stacks, setup.stacks, strict=True))
    return hand


@pytest.mark.parametrize("game", GAMES)
def test_random_hands_end_and_conserve_money(game: str):
    """Every ending is reached, and no hand goes on for ever."""
    endings: Counter[str] = Counter()
    longest = 0
    for number in range(PLAYOUTS):
        random = Random(number)
        hand = play_out(random_setup(game, random), random)
        assert hand.result
        endings[hand.result.ending] += 1
        longest = max(longest, len(hand.log))
    assert set(endings) == ENDINGS[game]
    assert min(endings.values()) > PLAYOUTS // 50
    assert longest < 300


@pytest.mark.parametrize("game", GAMES)
def test_resuming_a_log_anywhere_gives_the_same_hand(game: str):
    for number in range(60):
        random = Random(number)
        setup = random_setup(game, random)
        hand = play_out(setup, random)
        live = start(setup)
        for at, line in enumerate(hand.log):
            again = resume(setup, hand.log[:at])
            assert frozen(again) == frozen(live)
            assert again.digest() == live.digest()
            live.advance(line)
        assert live.digest() == hand.digest() and live.result == hand.result


@pytest.mark.parametrize("game", GAMES)
def test_digests_differ_after_every_action(game: str):
    random = Random(7)
    hand = start(random_setup(game, random))
    digests = {hand.digest()}
    while not hand.over:
        hand.apply(random_line(hand, random))
        assert hand.digest() not in digests
        digests.add(hand.digest())


def candidates(hand: Hand) -> list[tuple[str, str, int | None, int | None, int | None]]:
    """(actor, verb, amount, target, count) of all that might be tried: everyone, every verb, many amounts."""
    seats = hand.setup.seats
    edges = {0, 1, 50, 100, 150, 200, 500, 700, 800, 1000, 10**6}
    for offer in hand.legal():
        for bound in (offer.min, offer.max):
            if bound is not None:
                edges |= {bound - 100, bound - 1, bound, bound + 1, bound + 100}
    amounts = sorted(edge for edge in edges if edge >= 0)
    found: list[tuple[str, str, int | None, int | None, int | None]] = []
    for actor in (f"p{seat}" for seat in range(1, seats + 1)):
        found += [(actor, verb, None, None, None) for verb in ("f", "k", "st")]
        found += [(actor, "lk", None, None, count) for count in range(5)]
        found += [(actor, verb, amount, None, None) for verb in ("po", "cc", "rb", "br") for amount in amounts]
        if actor == hand.actor or actor == "p1":
            found += [(actor, "ks", amount, target, None) for amount in amounts for target in range(1, seats + 1)]
    return found


def covered(offers: tuple[Legal, ...], what: tuple[str, str, int | None, int | None, int | None]) -> bool:
    """Whether one of the offers says that this is legal."""
    actor, verb, amount, target, count = what
    for offer in offers:
        if (offer.actor, offer.verb) != (actor, verb) or offer.target != target:
            continue
        if amount is None:
            return offer.min is None and offer.count == count
        assert offer.min is not None and offer.max is not None and offer.step is not None
        return offer.min <= amount <= offer.max and amount % offer.step == 0
    return False


def line_of(what: tuple[str, str, int | None, int | None, int | None]) -> str:
    actor, verb, amount, target, count = what
    words = [actor, verb]
    words += [str(number) for number in (amount, count) if number is not None]
    words += [f"p{target}"] if target is not None else []
    return " ".join(words)


def accepted(hand: Hand, line: str) -> bool:
    """Try a line on a copy."""
    trial = copy.deepcopy(hand)
    try:
        trial.apply(line)
    except EngineError:
        return False
    return True


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("number", range(60))
def test_legal_is_exactly_what_is_accepted_and_a_refusal_changes_nothing(number: int, game: str):
    random = Random(1000 + number)
    hand = start(random_setup(game, random))
    while not hand.over:
        offers, before = hand.legal(), frozen(hand)
        for what in candidates(hand):
            line = line_of(what)
            if covered(offers, what):
                assert accepted(hand, line), (line, hand.log)
                continue
            with pytest.raises(EngineError):
                hand.apply(line)
        assert frozen(hand) == before
        hand.apply(random_line(hand, random))


def may_turn_up(hand: Hand, seat: int, cards: list[str]) -> bool:
    """Whether turning up these cards is what the hand waits for."""
    on_offer = [(offer.actor, offer.count) for offer in hand.legal() if offer.verb == "up"]
    return on_offer == [(f"p{seat}", len(cards))] and set(cards) <= set(hand.cards_of(seat))


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("number", range(20))
def test_wrong_deals_and_shows_change_nothing(number: int, game: str):
    random = Random(2000 + number)
    hand = start(random_setup(game, random))
    assert hand.setup.deck
    while not hand.over:
        right = hand.forced()
        before = frozen(hand)
        for seat in range(1, hand.setup.seats + 1):
            for count in range(1, 5):
                drawn = random.sample(hand.setup.deck, count)
                cards = "".join(drawn)
                for line in (f"d dh p{seat} {cards}", f"p{seat} sm {cards}", f"p{seat} up {cards}"):
                    if line != right and not (" up " in line and may_turn_up(hand, seat, drawn)):
                        with pytest.raises(EngineError):
                            hand.apply(line)
        assert frozen(hand) == before
        hand.apply(random_line(hand, random))


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(GAMES),
    st.integers(0, 10**6),
    st.text(st.characters(codec="ascii"), max_size=30),
    st.integers(0, 25),
)
def test_no_text_does_harm(game: str, number: int, text: str, depth: int):
    random = Random(number)
    hand = start(random_setup(game, random))
    for _ in range(depth):
        if not hand.over:
            hand.apply(random_line(hand, random))
    before = frozen(hand)
    try:
        hand.apply(text)
    except EngineError:
        assert frozen(hand) == before
    else:
        assert hand.log[-1] == text
