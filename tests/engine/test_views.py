"""A view never contains, nor depends on, a card that its viewer may not know."""

from __future__ import annotations

import json
from random import Random

import pytest

from engine.errors import MalformedSetup, VerbNotLegal
from engine.kernel.cards import TELL32, split_cards
from engine.kernel.hand import Hand
from engine.kernel.setup import Setup, Viewer
from engine.registry import resume, start
from tests.engine.chance import GAMES, Players, random_setup
from tests.engine.support import play, shuffled, stacked, table, to_third_round

DECK = stacked("Kl8b", "Ah7l", "XlOb", "Xb7b", "KhOl", "9a9l")


def cards_of(hand: Hand, viewer: Viewer) -> list[list[str]]:
    """The cards of all seats as the viewer sees them."""
    seats = hand.view(viewer)["seats"]
    assert isinstance(seats, list)
    return [seat["cards"] for seat in seats]


def test_a_seat_knows_its_own_first_two_cards_only():
    hand = to_third_round(table(3, deck=DECK), 2, 3)
    assert cards_of(hand, 1) == [["Kl", "8b", "??", "??"], ["??"] * 4, ["??"] * 4]
    assert cards_of(hand, "public") == [["??"] * 4] * 3
    assert cards_of(hand, "auditor")[2] == ["Xl", "Ob", "9a", "9l"]


def test_a_seat_knows_its_later_cards_once_it_has_looked_and_nobody_else_does():
    hand = play(to_third_round(table(3, deck=DECK), 2, 3), "p1 lk 2")
    assert cards_of(hand, 1)[0] == ["Kl", "8b", "Xb", "7b"]
    assert cards_of(hand, 2)[0] == ["??"] * 4
    assert hand.view(2)["log"][-1] == "p1 lk 2"


def test_the_log_is_masked_line_by_line():
    hand = play(to_third_round(table(3, deck=DECK), 2, 3), "p1 lk 2")
    deals = [line for line in hand.view(2)["log"] if " dh " in line]
    assert deals == [
        "d dh p1 ????", "d dh p2 Ah7l", "d dh p3 ????", "d dh p1 ????", "d dh p2 ????", "d dh p3 ????",
    ]  # fmt: skip
    assert [line for line in hand.view(1)["log"] if "dh p1" in line] == ["d dh p1 Kl8b", "d dh p1 Xb7b"]
    assert tuple(hand.view("auditor")["log"]) == hand.log


def test_shown_cards_are_everybodys_and_folded_ones_stay_hidden():
    hand = to_third_round(table(3, deck=DECK), 2, 3)
    play(hand, "p1 lk 2", "p1 rb 100", "p2 lk 2", "p2 f", "p3 cc 100", "p3 lk 2", "p3 st")
    assert hand.over
    assert cards_of(hand, "public") == [["Kl", "8b", "Xb", "7b"], ["??"] * 4, ["Xl", "Ob", "9a", "9l"]]
    assert cards_of(hand, 2)[1] == ["Ah", "7l", "Kh", "Ol"]


def test_the_deck_is_the_auditors_alone():
    hand = to_third_round(table(2), 2)
    assert hand.view("auditor")["deck"] == list(TELL32.cards)
    for viewer in (1, 2, "public"):
        assert "deck" not in hand.view(viewer)


@pytest.mark.parametrize("viewer", [0, 3, -1, True, "p1", "", "AUDITOR", None])
def test_there_are_no_other_viewers(viewer: object):
    with pytest.raises(MalformedSetup):
        table(2).view(viewer)  # type: ignore[arg-type]


def known_to(hand: Hand, viewer: Viewer) -> set[str]:
    """Cards whose place the viewer may know, by the rules of the table rather than by the view's code."""
    known: set[str] = set()
    cards: dict[str, list[str]] = {}
    looked: dict[str, set[int]] = {}
    ferbli = hand.setup.game == "ferbli"
    for line in before_redeals(hand.log):
        words = line.split()
        if words[1] == "dh":
            # In Ferbli the later cards lie unseen, in Färbeln they are inspected at once.
            looked.setdefault(words[2], {0, 1} if ferbli else {0, 1, 2, 3})
            cards.setdefault(words[2], []).extend(split_cards(words[3]))
        elif words[1] == "up" and not [offer for offer in hand.legal() if offer.verb == "up"]:
            known |= set(split_cards(words[2]))
        elif words[1] == "lk":
            unseen = [place for place in range(len(cards[words[0]])) if place not in looked[words[0]]]
            looked[words[0]].update(unseen[-int(words[2]) :])  # fewer than all: those dealt last
        elif words[1] in ("sm", "cu"):
            known |= set(cards[words[0]])
    mine = f"p{viewer}"
    known |= {card for place, card in enumerate(cards.get(mine, [])) if place in looked.get(mine, ())}
    if cards and hand.setup.deck and ferbli:
        known.add(hand.setup.deck[-1])
    return known


def before_redeals(log: tuple[str, ...]) -> list[str]:
    """The log without the deals that follow a hand laid open: those are face up, from packs of their own."""
    opened = next((at for at, line in enumerate(log) if " cu " in line), len(log))
    return [line for at, line in enumerate(log) if at < opened or " dh " not in line]


def redealt(hand: Hand) -> list[str]:
    """Cards dealt face up, in the order of dealing."""
    lines = list(hand.log)
    for line in before_redeals(hand.log):
        lines.remove(line)
    return [card for line in lines for card in split_cards(line.split()[3])]


def cards_in(line: str) -> set[str]:
    """The cards that a line of the log names."""
    *words, last = line.split(" ")
    return set(split_cards(last)) if words[1:2] in (["dh"], ["sm"], ["up"], ["cu"]) else set()


def exchanged(hand: Hand, viewer: Viewer, random: Random) -> Hand | None:
    """The same hand with the cards that the viewer may not know exchanged among each other, those in the deck
    included; None if no way was found. What was said of a hidden hand, that it is higher than the one laid open or
    that it is not, must stay true, so not every exchange will do; then it is two cards only that change places."""
    known = known_to(hand, viewer)
    assert hand.setup.deck
    hidden = [card for card in hand.setup.deck if card not in known]
    for attempt in range(30):
        others = random.sample(hidden, len(hidden))
        swap = dict(zip(hidden, others, strict=True))
        if attempt >= 10 and len(hidden) > 1:
            one, other = random.sample(hidden, 2)
            swap = {one: other, other: one}
        try:
            return swapped(hand, swap, random)
        except VerbNotLegal:
            continue
    return None


def swapped(hand: Hand, swap: dict[str, str], random: Random) -> Hand:
    """The same hand with other cards, and with what is left of a redeal's pack in another order."""
    setup = hand.setup
    assert setup.deck
    deck = tuple(swap.get(card, card) for card in setup.deck)
    hidden_lines = before_redeals(hand.log)
    at = len(hidden_lines)
    if " cu " in "".join(hidden_lines):
        at = next(at for at, line in enumerate(hand.log) if " cu " in line) + 1
    lines = []
    for number, line in enumerate(hand.log):
        *words, last = line.split(" ")
        if words[1:2] in (["dh"], ["sm"], ["up"], ["cu"]) and not (words[1] == "dh" and number >= at):
            last = "".join(swap.get(card, card) for card in split_cards(last))
        lines.append(" ".join([*words, last]))
    packs, gone = list(setup.redeals), len(redealt(hand)) - 4 * setup.seats * (len(setup.redeals) - 1)
    if packs:
        packs[-1] = (*packs[-1][:gone], *random.sample(packs[-1][gone:], 28 - gone))
    return resume(setup._replace(deck=deck, redeals=tuple(packs)), lines)


def require_sealed(hand: Hand, viewer: Viewer) -> None:
    """Nothing in the view names a card that the viewer may not know. Wild cards are named by the options."""
    view = hand.view(viewer)
    log = view["log"]
    assert hand.setup.deck and isinstance(log, list)
    hidden = set(hand.setup.deck) - known_to(hand, viewer) - set(redealt(hand))
    text = json.dumps({key: value for key, value in view.items() if key != "options"})
    assert not [card for card in hidden if f'"{card}"' in text]
    assert not hidden & {card for line in log for card in cards_in(line)}


def compare_views(hand: Hand, players: Players) -> int:
    """Play on to the end, comparing the views of a seat and of the public after every line; how often it was."""
    random, compared = players.random, 0
    while True:
        for viewer in (random.randint(1, hand.setup.seats), "public"):
            other = exchanged(hand, viewer, random)
            if other is not None:
                assert json.dumps(other.view(viewer)) == json.dumps(hand.view(viewer)), (viewer, hand.log)
                compared += 1
            require_sealed(hand, viewer)
        if hand.over:
            return compared
        players.play_on(hand)


@pytest.mark.some_now(2)
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("number", range(40))
def test_exchanging_unknown_cards_leaves_a_view_byte_identical_at_every_step(number: int, game: str):
    random = Random(number)
    assert compare_views(start(random_setup(game, random)), Players(random)) > 5


VARIATIONS: dict[str, dict[str, object]] = {
    "call or discard": {"cukassza_call": "megadas_eldobas"},
    "a vizi in the fist": {"majzli_max": 300},
    "two shown": {"show_two": True},
    "two shown, side pots": {"show_two": True, "short_stack": "side_pot"},
    "cuhhol": {"cuhhol": True},
    "cuhhol, two shown": {"cuhhol": True, "show_two": True},
    "cuhhol, side pots": {"cuhhol": True, "short_stack": "side_pot"},
    "all": {"cuhhol": True, "show_two": True, "majzli_max": 200, "force_third_deal": True, "wild": ["Oa", "7h"]},
}


@pytest.mark.some_now(4)
@pytest.mark.parametrize("name", sorted(VARIATIONS))
def test_exchanging_unknown_cards_in_every_variation(name: str):
    """Cuhhol: of a hand that gave way it is known that it is not higher, and nothing else."""
    steps = compared = redeals = 0
    for number in range(30):
        random = Random(number)
        seats = random.randint(2, 6)
        stacks = tuple(random.randint(300, 4000) for _ in range(seats))
        setup = Setup("ferbli", {"vizi": 100, **VARIATIONS[name]}, seats, stacks, 600, seats, shuffled(random))
        hand = start(setup)
        compared += compare_views(hand, Players(random))
        steps += 2 * len(hand.log) + 2
        redeals += len(hand.setup.redeals)
    assert compared > 0.97 * steps
    assert bool(redeals) == ("cuhhol" in VARIATIONS[name])


@pytest.mark.parametrize("game", GAMES)
def test_events_carry_no_card_that_is_not_face_up(game: str):
    random = Random(3)
    for _ in range(150):
        hand, players = start(random_setup(game, random)), Players(random)
        assert hand.setup.deck
        while not hand.over:
            text = repr(players.play_on(hand))
            hidden = set(hand.setup.deck) - known_to(hand, "public") - set(redealt(hand))
            assert not [card for card in hidden if f"'{card}'" in text]
