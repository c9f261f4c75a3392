"""What holds for every hand: it ends, money is conserved, a refusal leaves no trace."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import EngineError
from engine.kernel.cards import split_cards
from engine.kernel.hand import Hand
from engine.record.format import format_record, parse_record, record_of
from engine.record.replay import replay
from engine.registry import resume, start, supply
from tests.engine.chance import GAMES, Players, played, random_setup
from tests.engine.money import play_out
from tests.engine.offers import Watch
from tests.engine.support import frozen, play, table, to_third_round

PLAYOUTS = 2_000  # `make soak` plays a million of each game
ENDINGS = {
    "ferbli": {
        "cukassza": 0.02,
        "all_checked": 0.02,
        "uncontested": 0.02,
        "showdown": 0.02,
        "cuhhol": 0.01,
        "cuhhkassza": 0.01,
        "cuhhkassza_left": 0.002,
    },
    "faerbeln": {"uncontested": 0.02, "showdown": 0.02},
}
"""Every way a hand can end, and the share of random hands that must at least end so."""


@pytest.mark.some_now(2)
@pytest.mark.parametrize("game", GAMES)
def test_random_hands_end_and_conserve_money(game: str):
    """Every ending is reached, and no hand goes on for ever."""
    endings: Counter[str] = Counter()
    for number in range(PLAYOUTS):
        random = Random(number)
        hand = play_out(random_setup(game, random), random)
        assert hand.result
        endings[hand.result.ending] += 1
        assert len([line for line in hand.log if not line.startswith("d dh")]) < 300
    assert set(endings) == set(ENDINGS[game])
    assert all(count > PLAYOUTS * ENDINGS[game][ending] for ending, count in endings.items()), endings


@pytest.mark.parametrize("game", GAMES)
def test_resuming_a_log_anywhere_gives_the_same_hand(game: str):
    """Packs of redeals stand in the final set-up, so the hand is never left wanting one."""
    for number in range(60):
        random = Random(number)
        hand = play_out(random_setup(game, random), random)
        live = start(hand.setup)
        for at, line in enumerate(hand.log):
            again = resume(hand.setup, hand.log[:at])
            assert frozen(again) == frozen(live)
            assert again.digest() == live.digest()
            live.advance(line)
        assert live.digest() == hand.digest() and live.result == hand.result


def test_resuming_shuffles_the_packs_that_the_hand_wanted():
    """A hand resumed from its first set-up wants the same packs at the same lines."""
    redealt = 0
    for number in range(800):
        random = Random(number)
        setup = random_setup("ferbli", random)
        if not setup.opt.get("cuhhol"):
            continue
        hand = played(setup, random)
        packs = hand.setup.redeals
        again = resume(setup, hand.log, lambda cards, number, packs=packs: packs[number - 1])
        assert (again.setup, again.digest()) == (hand.setup, hand.digest())
        redealt += bool(packs)
    assert redealt > 5


@pytest.mark.parametrize("game", GAMES)
def test_applying_and_advancing_come_to_the_same(game: str):
    for number in range(60):
        hand = played(random_setup(game, Random(number)), Random(number))
        applied, advanced = start(hand.setup), start(hand.setup)
        for line in hand.log:
            applied.apply(line)
            advanced.advance(line)
            assert frozen(applied) == frozen(advanced)
        assert applied.digest() == advanced.digest() == hand.digest()


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("number", range(8))
def test_digests_differ_after_every_action(number: int, game: str):
    hand = played(random_setup(game, Random(number)), Random(number))
    live = start(hand.setup)
    digests = {live.digest()}
    for line in hand.log:
        live.advance(line)
        digests.add(live.digest())
    assert len(digests) == len(hand.log) + 1


def test_a_clone_is_the_same_hand_and_another_object():
    for number in range(40):
        random = Random(number)
        hand, players = start(random_setup("ferbli", random)), Players(random)
        while not hand.over:
            twin, before = hand.copy(), frozen(hand)
            assert frozen(twin) == before
            line = players.line(hand)
            twin.advance(line)
            assert frozen(hand) == before != frozen(twin)
            hand.advance(line)
            supply(hand, players.shuffle)


def amounts_to_try(hand: Hand) -> list[int]:
    """Round sums, and what lies just inside and outside of every range on offer."""
    edges = {0, 1, 50, 100, 150, 200, 500, 700, 800, 1000, 10**6}
    for offer in hand.legal():
        for bound in (offer.min, offer.max):
            if bound is not None:
                edges |= {bound - 100, bound - 1, bound, bound + 1, bound + 100}
    return sorted(edge for edge in edges if edge >= 0)


def lines_to_try(hand: Hand, random: Random, opening: str) -> list[str]:
    """All actions that might be tried: by the seat that is to act with every verb and many amounts, by others with a
    few."""
    seats = hand.setup.seats
    found = []
    for actor in (f"p{seat}" for seat in range(1, seats + 1)):
        mine = actor == hand.actor
        amounts = amounts_to_try(hand) if mine else [100]
        found += [f"{actor} {verb}" for verb in ("f", "k", "st", "in", "mj ??", f"mj {'0' * 64}")]
        found += [f"{actor} lk {count}" for count in range(5)]
        found += [f"{actor} {verb} {amount}" for verb in ("po", "cc", "rb", "br", "rv") for amount in amounts]
        found += [f"{actor} rv {opening}", f"{actor} rv 100 {'0' * 32}"]
        if mine:
            found += [f"{actor} ks {amount} p{target}" for amount in amounts for target in range(1, seats + 1)]
    return found + cards_to_try(hand, random)


def cards_to_try(hand: Hand, random: Random) -> list[str]:
    """Deals, cards turned up, laid open and shown: right ones, other ones, too many, too few."""
    deck, found = hand.setup.deck or (), []
    for seat in range(1, hand.setup.seats + 1):
        own = hand.cards_of(seat)
        found += [f"p{seat} up {one}{other}" for one in own for other in own]
        hands = ["".join(own) or "Aa", "".join(own[::-1]) or "Kl"]
        hands += ["".join(random.sample(deck, count)) for count in range(1, 5)] + ["??" * 4]
        found += [f"{said} {cards}" for said in (f"p{seat} sm", f"p{seat} cu", f"d dh p{seat}") for cards in hands]
    return [*found, *filter(None, [hand.forced()])]


def tried(hand: Hand, line: str) -> Hand | None:
    """A copy after the line; None if it refuses it."""
    trial = hand.copy()
    try:
        trial.apply(line)
    except EngineError:
        return None
    return trial


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.some_now(4)
@pytest.mark.parametrize("number", range(60))
def test_legal_is_exactly_what_is_accepted_and_a_refusal_changes_nothing(number: int, game: str):
    """Any action of any seat: what the offers do not cover is refused without a trace, what they cover is accepted."""
    random = Random(1000 + number)
    watch = Watch(random_setup(game, random))
    hand, players = watch.hand, Players(random)
    while not hand.over:
        before = frozen(hand)
        for line in lines_to_try(hand, random, players.opening or f"100 {'0' * 32}"):
            if watch.allows(line):
                assert tried(hand, line), (line, hand.log)
                continue
            with pytest.raises(EngineError):
                hand.apply(line)
        assert frozen(hand) == before
        line = players.line(hand)
        assert watch.allows(line), (line, hand.log)
        watch.feed(line)
        supply(hand, players.shuffle)


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from(GAMES),
    st.integers(0, 10**6),
    st.text(st.characters(codec="ascii"), max_size=30),
    st.integers(0, 25),
)
def test_no_text_does_harm(game: str, number: int, text: str, depth: int):
    random = Random(number)
    hand, players = start(random_setup(game, random)), Players(random)
    for _ in range(depth):
        if not hand.over:
            players.play_on(hand)
    before = frozen(hand)
    try:
        hand.apply(text)
    except EngineError:
        assert frozen(hand) == before
    else:
        assert hand.log[-1] == text


@pytest.mark.parametrize("game", GAMES)
def test_a_refusal_names_no_card_but_those_of_the_line(game: str):
    """The sender of a wrong line learns nothing about the cards that are face down."""
    for number in range(150):
        random = Random(number)
        hand, players = start(random_setup(game, random)), Players(random)
        while not hand.over:
            if hand.actor not in (None, "d"):
                cards = random.sample(hand.setup.deck or (), 4)
                for line in (f"{hand.actor} {verb} {''.join(cards[:count])}" for verb, count in SHOWN):
                    require_silence(hand.copy(), line)
            hand.advance(players.line(hand))
            supply(hand, players.shuffle)


SHOWN = (("sm", 4), ("cu", 4), ("up", 2), ("sm", 3))


def require_silence(hand: Hand, line: str) -> None:
    """The line is taken, or refused in words that name only its own cards."""
    try:
        hand.advance(line)
    except EngineError as error:
        said = f"{error.message} {error.expected}".replace(line.split(" ")[2], "")
        named = set(split_cards(line.split(" ")[2]))
        assert not [card for card in hand.setup.deck or () if card in said and card not in named], (line, said)


@pytest.mark.parametrize("opt", [{"limit": "none"}, {"limit": "none", "short_stack": "side_pot"}])
def test_betting_has_an_end_that_a_record_can_hold(opt: dict[str, object]):
    """Two seats bet back and forth for ever: no bet is on offer after the thousandth."""
    hand = play(to_third_round(table(2, opt=opt, stacks=(10**9, 10**9)), 2), "p1 lk 2", "p1 rb 100", "p2 lk 2")
    while [offer for offer in hand.legal() if offer.verb in ("cc", "rb")]:
        verb = "cc" if [offer for offer in hand.legal() if offer.verb == "cc"] else "rb"
        hand.advance(f"{hand.actor} {verb} 100")
    play(hand, f"{hand.actor} st")
    assert hand.over and len([line for line in hand.log if " rb " in line]) == 1000
    names = ("a", "b")
    record = record_of(hand, hand_id="h", rules_id="ferbli/1", seats=names, opt=dict(hand.setup.opt))
    assert replay(parse_record(format_record(record))).ok
