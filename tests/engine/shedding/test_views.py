"""Who may know what in games whose cards move from hand to hand.

Two kinds of deals that a viewer cannot show apart must look the same to it, byte for byte: the same deal with cards
that it has never seen exchanged, and the same deal in which, from some line on, two cards of one hidden hand have
changed places, whether the viewer has seen them before or not: it may know a card that it gave away, never where it
went next.
"""

from __future__ import annotations

import json
from random import Random

import pytest

from engine.errors import EngineError
from engine.kernel.cards import UNKNOWN, split_cards
from engine.kernel.hand import Hand
from engine.kernel.setup import Viewer
from engine.registry import game_info, start, supply
from tests.engine.shedding.shedding_kit import LETTERS, OPTIONS, REFEREES, advance, mixed, setup, shuffled, some_line

GAMES = tuple(REFEREES)


def cards_of(line: str) -> tuple[str, ...]:
    """The cards that a line names."""
    words = line.split(" ")
    return split_cards(words[-1]) if words[1] in LETTERS else ()


def seen_by(hand: Hand, viewer: Viewer) -> set[str]:
    """Cards that the viewer has seen at some time, by the log alone."""
    found: set[str] = set()
    looked = hand.setup.game != "pacal" or any(line.startswith("d up") for line in hand.log)
    for at, line in enumerate(hand.log):
        writer, verb, *rest = line.split(" ")
        mine = writer == f"p{viewer}"
        receiver = int(writer[1]) % 4 + 1 if verb == "gv" else 0
        dealt = verb == "dh" and rest[0] == f"p{viewer}" and looked
        if dealt or verb in ("pl", "up", "ds") or (verb == "gv" and (mine or receiver == viewer)):
            found |= set(cards_of(line))
        elif verb == "dr":
            fan = next(said for said in hand.log[at::-1] if " fn " in said)
            if viewer in (int(writer[1]), int(fan[6])) and viewer != "public":
                found.add(cards_of(fan)[int(rest[0]) - 1])
        elif verb == "sh":
            found |= set(hand.setup.deck or ())
    return found - {UNKNOWN}


def swapped(line: str, swap: dict[str, str]) -> str:
    """The line after an exchange of cards."""
    words = line.split(" ")
    if words[1] in LETTERS:
        words[-1] = "".join(swap.get(card, card) for card in split_cards(words[-1]))
    return " ".join(words)


def replayed(hand: Hand, deck: tuple[str, ...] | None, lines: list[str]) -> Hand | None:
    """The deal of another deck with these lines, if it stands and comes to the same question."""
    other = start(hand.setup._replace(deck=deck))
    try:
        other.advance_all(lines)
    except EngineError:
        return None
    same = (other.phase, other.actors, other.pending) == (hand.phase, hand.actors, hand.pending)
    return other if same else None


def exchanged(hand: Hand, viewer: Viewer, random: Random) -> Hand | None:
    """The same deal with cards exchanged that the viewer has not seen; None if no way was found: trumps, pairs and
    compulsion allow few."""
    assert hand.setup.deck
    hidden = [card for card in hand.setup.deck if card not in seen_by(hand, viewer)]
    for attempt in range(12):
        swap = dict(zip(hidden, random.sample(hidden, len(hidden)), strict=True))
        if attempt >= 3 and len(hidden) > 1:
            one, other = random.sample(hidden, 2)
            swap = {one: other, other: one}
        deck = tuple(swap.get(card, card) for card in hand.setup.deck)
        found = replayed(hand, deck, [swapped(line, swap) for line in hand.log])
        if found is not None:
            return found
    return None


def require_same(one: Hand, other: Hand, viewer: Viewer) -> None:
    """The viewer cannot show the hands apart."""
    assert json.dumps(one.view(viewer)) == json.dumps(other.view(viewer)), (viewer, one.log, other.log)
    assert one.places(viewer) == other.places(viewer)
    assert one.legal_for(viewer) == other.legal_for(viewer)
    if viewer != "public":
        assert one.information(int(viewer)) == other.information(int(viewer))


def random_hand(game: str, random: Random, opt: dict[str, object]) -> Hand:
    """A table of some size and its first line."""
    info = game_info(game)
    seats = random.choice(info.seats_allowed or range(info.min_seats, info.max_seats + 1))
    series = {"trumps": random.choice(("", "hbla"))} if game == "pacal" else {}
    hand = start(setup(game, seats, opt=opt, deck=shuffled(random), **series))
    supply(hand, mixed)
    return hand


@pytest.mark.some_now(3)
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("number", range(2))
def test_exchanging_unseen_cards_leaves_every_view_byte_identical(game: str, number: int):
    random, compared, steps = Random(f"{game}/{number}"), 0, 0
    for opt in OPTIONS[game]:
        hand = random_hand(game, random, opt)
        for _ in range(40):
            for viewer in (random.randint(1, hand.setup.seats), "public"):
                other = exchanged(hand, viewer, random)
                steps += 1
                if other is not None:
                    require_same(hand, other, viewer)
                    compared += 1
                require_sealed(hand, viewer)
            if hand.over:
                break
            advance(hand, some_line(hand, random))
    assert compared > 0.25 * steps, (compared, steps)


def require_sealed(hand: Hand, viewer: Viewer) -> None:
    """Nothing in the view, nor in what its places lead to, is a card that the viewer has not seen."""
    seen, deck = seen_by(hand, viewer), hand.setup.deck or ()
    view = hand.view(viewer)
    named = {part for part in json.dumps(view).split('"') if part in deck}
    lines: list[str] = view["log"]  # type: ignore[assignment]
    logged = {card for line in lines for card in cards_of(line)} - {UNKNOWN}
    assert named | logged <= seen, (viewer, named | logged - seen, hand.log)
    assert {deck[place] for _, place in hand.places(viewer)} <= seen


def twin_from(hand: Hand, at: int, one: str, other: str) -> list[str]:
    """The log with two cards exchanged from this line on."""
    return [*hand.log[:at], *(swapped(line, {one: other, other: one}) for line in hand.log[at:])]


@pytest.mark.parametrize(("game", "verb"), [("esel", "gv"), ("old_maid", "fn")])
def test_where_a_card_went_that_moved_unseen_is_known_to_nobody_else(game: str, verb: str):
    """Two cards of one hand change places at a line that moves one of them or holds them out: nobody notices but those
    who see one of them later."""
    random, compared, known_before = Random(verb), 0, 0
    for number in range(36):
        opt = OPTIONS[game][number % len(OPTIONS[game])]
        hand = random_hand(game, random, opt)
        for _ in range(random.randint(8, 40)):
            if not hand.over:
                advance(hand, some_line(hand, random, 0.0))
        moves = [at for at, line in enumerate(hand.log) if line.split(" ")[1] == verb]
        for at in random.sample(moves, min(len(moves), 4)):
            before = start(hand.setup)
            before.advance_all(hand.log[:at])
            words = hand.log[at].split(" ")
            holder = int(words[0][1]) if verb == "gv" else int(words[2][1])
            if len(before.held(holder)) < 2:
                continue
            one, other = random.sample(before.held(holder), 2)
            twin = replayed(hand, hand.setup.deck, twin_from(hand, at, one, other))
            if twin is None or twin.log == hand.log:
                continue
            for viewer in {*range(1, hand.setup.seats + 1)} - {holder}:
                if not met_later(hand, twin, at, viewer, {one, other}):
                    require_same(hand, twin, viewer)
                    compared += 1
                    known_before += bool({one, other} & seen_by(before, viewer))
    assert compared > 30 and known_before > 8, (compared, known_before)


def met_later(hand: Hand, twin: Hand, at: int, viewer: int, cards: set[str]) -> bool:
    """Whether the viewer holds one of the cards after this line in either deal, or sees one lie open."""
    for deal in (hand, twin):
        walk = start(deal.setup)
        walk.advance_all(deal.log[:at])
        if cards & set(walk.held(viewer)):
            return True
        for line in deal.log[at:]:
            walk.advance(line)
            if cards & set(walk.held(viewer)) or line.endswith(" sh"):
                return True
            if " ds " in line and cards & set(cards_of(line)):
                return True
    return False


@pytest.mark.parametrize("number", range(3))
def test_a_fan_that_was_shuffled_shows_nobody_its_order(number: int):
    random = Random(number)
    hand, met = random_hand("old_maid", random, OPTIONS["old_maid"][number % 2]), 0
    while not hand.over:
        line = some_line(hand, random)
        hand.advance(line)
        if hand.wants is not None and len(hand.wants) > 1:
            twins = [hand.copy(), hand.copy(), hand]
            for twin, order in zip(twins[:2], (hand.wants, hand.wants[::-1]), strict=True):
                twin.supply(order)
            for viewer in (*range(1, hand.setup.seats + 1), "public"):
                views = [json.dumps(twin.view(viewer) | {"legal": None}) for twin in twins]
                offers = [[offer.as_dict() for offer in twin.legal_for(viewer)] for twin in twins]
                assert len(set(views)) == 1 and offers[0] == offers[1] == offers[2]
            assert hand.places(1) == twins[0].places(1)
            met += 1
        supply(hand, mixed)
    assert met > 5


@pytest.mark.parametrize("game", GAMES)
def test_at_the_end_places_lead_to_what_was_seen_and_the_auditor_sees_everything(game: str):
    random = Random(game)
    for opt in OPTIONS[game]:
        hand = random_hand(game, random, opt)
        while not hand.over:
            advance(hand, some_line(hand, random))
        deck = hand.setup.deck or ()
        for viewer in (1, 2, "public"):
            found = {deck[place] for _, place in hand.places(viewer)}
            assert found <= seen_by(hand, viewer)
            shown = {card for line in hand.log if line.split(" ")[1] in ("pl", "ds") for card in cards_of(line)}
            assert shown <= found
        assert hand.view("auditor")["log"] == list(hand.log) and len(hand.places("auditor")) == 32


@pytest.mark.parametrize("game", GAMES)
def test_a_refusal_names_no_card_but_those_of_the_line(game: str):
    random = Random(game)
    hand = random_hand(game, random, OPTIONS[game][0])
    for _ in range(60):
        if hand.over:
            break
        for card in random.sample(hand.setup.deck or (), 4):
            for line in (f"{hand.actor} pl {card}", f"{hand.actor} gv {card}", f"{hand.actor} ds {card}{card}"):
                with pytest.raises(EngineError) as refusal:
                    hand.copy().advance(line)
                    raise refused_or_good()
                said = f"{refusal.value.message} {refusal.value.expected}".replace(card, "")
                top = str(hand.view("public").get("top"))
                assert not [one for one in hand.setup.deck or () if one in said.replace(top, "")], (line, said)
        advance(hand, some_line(hand, random))


def refused_or_good() -> EngineError:
    """Stands for a line that was good."""
    return EngineError("good")
