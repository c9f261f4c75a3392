"""A second opinion on Rufmariasch: a referee written from the rules text and the description of the log.

Section names are those of the rules text. Seats count from 1 in play order.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from tests.model.course import TELL, Cards, Course, Model, Question, turn
from tests.model.heads import head_fault, random_head, random_score, score_fault, some, table_fault

NAME = "rufmariasch"
OPTIONS: dict[str, tuple[object, ...]] = {
    "call_own_card": (True, False), "two_calls": (False, True), "must_differ": (False, True),
}  # fmt: skip
RANKS = "789UOKXA"  # upwards
SEATS = (1, 2, 3, 4)
Trick = list[tuple[int, str]]


def fault(record: Mapping[str, Any]) -> str | None:
    """What is wrong before the log."""
    found = head_fault(record, NAME, ("unit", 1), OPTIONS)
    if found:
        return found
    if record["opt"].get("must_differ") and not record["opt"].get("two_calls"):
        return "calls can only differ where there are two"
    return table_fault(record, 4, 570 * record["opt"]["unit"], TELL) or score_fault(record)


def calls(opt: Mapping[str, Any], first: list[str]) -> list[str]:
    """*The Call*, *Variant*: what p1 may say, in pack order."""
    found = []
    for card in TELL:
        if card in first and not opt.get("call_own_card", True):
            continue
        if not opt.get("two_calls"):
            found.append(f"cl {card}")
            continue
        found += [f"cl {card} {suit}" for suit in "albh" if not (opt.get("must_differ") and suit == card[1])]
    return found


def power(card: str, led: str, trump: str) -> int:
    """What a card is worth in a trick: trumps over the led suit over nothing."""
    if card[1] == trump:
        return 100 + RANKS.index(card[0])
    return RANKS.index(card[0]) if card[1] == led else -1


def allowed(hand: list[str], trick: Trick, trump: str) -> list[str]:
    """*The Play*: which cards of the hand may be played, in pack order."""
    hand = sorted(hand, key=TELL.index)
    if not trick:
        return hand
    led = trick[0][1][1]
    best = max(power(card, led, trump) for _, card in trick)
    for suit in (led, trump):
        own = [card for card in hand if card[1] == suit]
        if own:
            return [card for card in own if power(card, led, trump) > best] or own
    return hand


def pairs(hands: Mapping[int, list[str]], melds: list[tuple[int, str]]) -> list[str]:
    """*Melding*: every pair that somebody may lay down now."""
    return [
        f"p{seat} ml K{suit}O{suit}"
        for seat in SEATS
        for suit in "albh"
        if {f"K{suit}", f"O{suit}"} <= {*hands[seat]} and (seat, suit) not in melds
    ]


def course(record: Mapping[str, Any]) -> Course:
    """The whole deal."""
    cards = Cards(TELL, record.get("deck"))
    hands: dict[int, list[str]] = {}
    for seat in SEATS:
        hands[seat] = yield from cards.deal(seat, 4)
    line = yield turn(1, calls(record["opt"], hands[1]))
    called, trump = line[6:8], line[-1]
    for seat in SEATS:
        hands[seat] = hands[seat] + (yield from cards.deal(seat, 4))
    partner = next(seat for seat in SEATS if called in hands[seat])
    melds: list[tuple[int, str]] = []
    tricks: dict[int, list[str]] = {seat: [] for seat in SEATS}
    leader, played = 1, 0
    for _ in range(8):
        trick: Trick = []
        while len(trick) < 4:
            seat = (leader - 1 + len(trick)) % 4 + 1
            cards_now = allowed(hands[seat], trick, trump)
            beside = pairs(hands, melds) if played < 4 else []
            line = yield turn(seat, [f"pl {card}" for card in cards_now], beside=beside)
            if " ml " in line:
                melds.append((int(line[1]), line[-1]))
                continue
            hands[seat].remove(line[-2:])
            trick.append((seat, line[-2:]))
            played += 1
        led = trick[0][1][1]
        leader = max(trick, key=lambda one: power(one[1], led, trump))[0]
        tricks[leader] += [card for _, card in trick]
    points = {
        seat: 10 * sum(card[0] in "AX" for card in tricks[seat])
        + 10 * (seat == leader)
        + sum((40 if suit == trump else 20) for by, suit in melds if by == seat and tricks[seat])
        for seat in SEATS
    }
    return results(record, points, {1, partner})


def results(record: Mapping[str, Any], points: Mapping[int, int], ours: set[int]) -> dict[str, Any]:
    """*Scoring*: the losers pay the difference, to a seat that is alone each of them."""
    gap = sum(points[seat] if seat in ours else -points[seat] for seat in SEATS)
    won = [(gap if len(ours) == 2 else 3 * gap) if seat in ours else -gap for seat in SEATS]
    net = [units * record["opt"]["unit"] for units in won]
    score = {name: record["series"]["score"][name] + won[at] for at, name in enumerate(record["seats"])}
    return {"net": net, "tax": 0, "carry_out": 0, "series_out": {"score": score}}


def head(random: Random) -> dict[str, Any]:
    """A random table."""
    opt: dict[str, Any] = {"unit": random.choice((1, 5, 10))} | some(random, OPTIONS)
    if not opt.get("two_calls"):
        opt["must_differ"] = False
    ids = random.sample([f"r{number}" for number in range(11, 20)], 4)
    return random_head(random, NAME, opt, ids, random_score(random, ids, 10), 570 * opt["unit"], TELL)


def choose(random: Random, question: Question) -> str:
    """Anything."""
    return random.choice(question.acts)


MODEL = Model(fault, course, head, choose)
