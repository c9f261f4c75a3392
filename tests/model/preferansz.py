"""A second opinion on Preferansz: a referee written from the rules text and the description of the log.

Section names are those of the rules text. Seats count from 1 in play order; p3 deals.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from itertools import combinations
from random import Random
from typing import Any

from tests.model.course import TELL, Cards, Course, Model, Question, Unknown, cut, turn
from tests.model.heads import head_fault, random_head, random_score, score_fault, some, table_fault

NAME = "preferansz"
OPTIONS: dict[str, tuple[object, ...]] = {"pass_is_final": (True, False), "early_end": (True, False)}
SEATS = (1, 2, 3)
SUITS = {2: "l", 3: "b", 4: "h", 5: "a"}
RANKS = "789XUOKA"  # upwards
Asking = Generator[Question | Unknown, str, tuple[int, int]]


def fault(record: Mapping[str, Any]) -> str | None:
    """What is wrong before the log."""
    found = head_fault(record, NAME, ("unit", 1), OPTIONS)
    return found or table_fault(record, 3, 96 * record["opt"]["unit"], TELL) or score_fault(record)


def out_of_hand() -> Asking:
    """*The Bidding*: once round; the player and the game, (0, 0) where nobody plays out of the hand."""
    player = game = 0
    for seat in SEATS:
        if game == 7:
            break
        line = yield turn(seat, ["ps", *(f"bd {bid} hand" for bid in range(max(game + 1, 2), 8))])
        if not line.endswith("ps"):
            player, game = seat, int(line[6])
    return player, game


def bidding(final: bool) -> Asking:
    """*The Bidding*: p1 must bid; each higher than the one before, but p1 may hold."""
    line = yield turn(1, [f"bd {bid}" for bid in range(2, 8)])
    player, bid, seat = 1, int(line[6]), 1
    still_in = [2, 3]  # who may yet bid against the player
    while still_in:
        seat = seat % 3 + 1
        if seat not in still_in:
            continue
        choices = range(bid if seat == 1 else bid + 1, 8)
        line = (yield turn(seat, ["ps", *(f"bd {higher}" for higher in choices)])) if choices else "ps"
        if line.endswith("ps"):
            still_in.remove(seat)
            continue
        others = [other for other in SEATS if other != seat] if not final else [*still_in, player]
        still_in = [other for other in others if other != seat]
        player, bid = seat, int(line[6])
    return player, bid


def contra(player: int) -> Generator[Question | Unknown, str, dict[int, int]]:
    """*Scoring*: what each defender's stake is multiplied by."""
    factors = {}
    for seat in SEATS:
        if seat == player:
            continue
        factors[seat] = 1
        line = yield turn(seat, ["ps", f"dbl p{player}"])
        if not line.endswith("ps"):
            factors[seat] = 2
            line = yield turn(player, ["ps", f"rdbl p{seat}"])
            factors[seat] = 2 if line.endswith("ps") else 4
    return factors


def allowed(hand: list[str], led: str, trump: str) -> list[str]:
    """*The Play*: follow suit, else trump, else anything."""
    hand = sorted(hand, key=TELL.index)
    for suit in (led, trump) if led else ():
        own = [card for card in hand if card[1] == suit]
        if own:
            return own
    return hand


def tricks_of(hands: Mapping[int, list[str]], player: int, game: int, early: bool) -> Asking:
    """*The Play*: how many tricks the player takes, and of how many."""
    trump, leader, taken = SUITS.get(game, ""), 1, 0
    for number in range(1, 11):
        trick: list[tuple[int, str]] = []
        for step in range(3):
            seat = (leader - 1 + step) % 3 + 1
            cards = allowed(hands[seat], trick[0][1][1] if trick else "", trump)
            line = yield turn(seat, [f"pl {card}" for card in cards])
            hands[seat].remove(line[-2:])
            trick.append((seat, line[-2:]))
        led = trick[0][1][1]
        fighting = [one for one in trick if one[1][1] == trump] or [one for one in trick if one[1][1] == led]
        leader = max(fighting, key=lambda one: RANKS.index(one[1][0]))[0]
        taken += leader == player
        if early and ((game == 6 and leader == player) or (game == 7 and leader != player)):
            return taken, number
    return taken, 10


def course(record: Mapping[str, Any]) -> Course:
    """The whole deal."""
    opt, cards = record["opt"], Cards(TELL, record.get("deck"))
    hands: dict[int, list[str]] = {}
    for seat in SEATS:
        hands[seat] = yield from cards.deal(seat, 5)
    widow = cards.next(2)
    for seat in SEATS:
        hands[seat] = hands[seat] + (yield from cards.deal(seat, 5))
    kunstwerk = False
    player, game = yield from out_of_hand()
    harder = game != 0
    if not harder:
        player, bid = yield from bidding(opt.get("pass_is_final", True))
        widow = yield from cards.name("d up ", 2, widow)
        kunstwerk = widow[0][0] == widow[1][0]
        hands[player] += widow
        twelve = sorted(hands[player], key=TELL.index)
        line = yield turn(player, [f"ds {one}{other}" for one, other in combinations(twelve, 2)])
        for card in cut(line[6:]):
            hands[player].remove(card)
        line = yield turn(player, [f"cl {higher}" for higher in range(bid, 8)])
        game = int(line[6])
    factors = yield from contra(player)
    taken, of = yield from tricks_of(hands, player, game, opt.get("early_end", True))
    units = dict.fromkeys(SEATS, 0)
    for seat, factor in factors.items():
        gain = factor * worth(game, taken, of, harder)
        units[player] += gain
        units[seat] -= gain
    if kunstwerk:
        units[player] -= 2
        units[3] += 2
    return results(record, units)


def worth(game: int, taken: int, of: int, harder: bool) -> int:
    """*Scoring*: what each defender pays, before contra."""
    if game == 6:
        return 6 if taken == 0 else -6
    if game == 7:
        return 7 if taken == of else -7
    need = (7 if game == 2 else 6) + harder
    return game + taken - need if taken >= need else -(game + need - taken)


def results(record: Mapping[str, Any], units: Mapping[int, int]) -> dict[str, Any]:
    """Money, and the score with it."""
    before, seats = record["series"]["score"], record["seats"]
    score = {seats[seat - 1]: before[seats[seat - 1]] + units[seat] for seat in SEATS}
    net = [units[seat] * record["opt"]["unit"] for seat in SEATS]
    return {"net": net, "tax": 0, "carry_out": 0, "series_out": {"score": score}}


def head(random: Random) -> dict[str, Any]:
    """A random table."""
    opt: dict[str, Any] = {"unit": random.choice((1, 20, 100))} | some(random, OPTIONS)
    ids = random.sample([f"f{number}" for number in range(11, 20)], 3)
    return random_head(random, NAME, opt, ids, random_score(random, ids, 1), 96 * opt["unit"], TELL)


def choose(random: Random, question: Question) -> str:
    """Anything, but games out of the hand are rare, and low bids are more often made than high ones."""
    if question.acts[-1].endswith("hand") and random.random() < 0.85:
        return question.acts[0]
    if " bd " in question.acts[-1]:
        return random.choice(question.acts[: random.randint(1, len(question.acts))])
    return random.choice(question.acts)


MODEL = Model(fault, course, head, choose)
