"""An independent model of Färbeln's outcome against the engine.

The referee below knows no phases and no limits: it reads a finished log as text, adds up who put what into the
pot, and finds the best hand by trying every group of cards. It shares no code with the engine. A second model
follows the betting line by line and counts what the rules count: turns, raises, what is owed.
"""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.kernel.cards import FRENCH32, TELL32
from engine.kernel.setup import Setup
from engine.play import play_hand
from engine.record.format import Record, record_of
from engine.registry import game_info
from engine.vying.ranking import faerbeln_key
from tests.engine.support import faerbeln, shuffled

WORTH = {"A": 11, "9": 9, "8": 8, "7": 7}
ORDER = {rank: at for at, ranks in enumerate(("7", "8", "9", "XT", "UJ", "OQ", "K", "A")) for rank in ranks}


def worth(group: tuple[str, ...]) -> int:
    """Points of some cards: courts and tens are worth ten."""
    return sum(WORTH.get(card[0], 10) for card in group)


def strength(hand: list[str], points: bool = True) -> tuple[int, int]:
    """(kind of hand from 5 down to 1, value within the kind): the best of all groups of cards in the hand. Without
    points the lowest kind has no values."""
    best = (1, max(worth((card,)) for card in hand))
    for size in (2, 3, 4):
        for group in combinations(hand, size):
            if len({card[0] for card in group}) == 1:
                kind = {2: 1, 3: 3, 4: 5}[size]
                best = max(best, (kind, worth(group) if size == 2 else ORDER[group[0][0]]))
            if len({card[1] for card in group}) == 1:
                best = max(best, ({2: 1, 3: 2, 4: 4}[size], worth(group)))
    return best if points or best[0] > 1 else (1, 0)


def number(record: Record, name: str, default: int = 0) -> int:
    """An option that is a whole number."""
    return int(str(record.opt.get(name, default)))


def with_points(record: Record) -> bool:
    """Whether the combination Points is played."""
    return bool(record.opt.get("points", True))


def paid_and_shown(record: Record) -> tuple[list[int], list[int], dict[int, list[str]]]:
    """(paid in per seat, seats that never folded, hands shown) of a finished log."""
    seats = len(record.seats)
    paid, folded = [0] * seats, set()
    hands: dict[int, list[str]] = {}
    for line in record.acts:
        actor, verb, *rest = line.split()
        seat = int(actor[1:] or 0) - 1
        if verb in ("po", "cc"):
            paid[seat] += int(rest[0])
        elif verb == "rb":
            paid[seat] = max(paid) + int(rest[0])
        elif verb == "f":
            folded.add(seat)
        elif verb == "sm":
            hands[seat] = [rest[0][at : at + 2] for at in range(0, 8, 2)]
    return paid, [seat for seat in range(seats) if seat not in folded], hands


def referee(record: Record) -> tuple[list[int], int, list[int]]:
    """(net per seat, tax, bonus per seat) of a finished log, by counting."""
    paid, left, hands = paid_and_shown(record)
    seats = range(len(paid))
    if len(left) == 1:
        winner = left[0]
        paid[winner] = min(paid[winner], max(paid[seat] for seat in seats if seat != winner))
        won, tax = [0] * len(paid), tax_on(record, sum(paid))
        won[winner] = sum(paid) - tax
    else:
        assert sorted(hands) == left
        won, tax = shared_out(record, paid, {seat: strength(hands[seat], with_points(record)) for seat in left})
    bonus = [number(record, "bonus41") * (seat in hands and strength(hands[seat]) == (4, 41)) for seat in seats]
    return [won[seat] - paid[seat] + bonus[seat] for seat in seats], tax, bonus


def tax_on(record: Record, pot: int) -> int:
    """A share of the pot, up to the limit."""
    return min(pot * number(record, "tax_bps", 500) // 10_000, number(record, "tax_cap", pot))


def shared_out(record: Record, paid: list[int], values: dict[int, tuple[int, int]]) -> tuple[list[int], int]:
    """(won per seat, tax): the best hand takes from everyone as much as it has paid itself, then the next best
    takes what is left in the same way; what nobody else paid goes back and is not taxed.

    Tax is taken from the money in the order in which the smaller stakes had it matched.
    """
    top = max(values, key=lambda seat: paid[seat])
    back = max(0, paid[top] - max(money for seat, money in enumerate(paid) if seat != top))
    left = [money - back * (seat == top) for seat, money in enumerate(paid)]
    matched = list(left)
    tax = tax_on(record, sum(left))
    won = [0] * len(paid)
    taxed_below = 0
    takings: list[tuple[int, int, int]] = []  # (up to which stake, seat, money)
    order = sorted(values, key=lambda seat: (values[seat], -seat), reverse=True)
    reached = 0
    for seat in order:
        for stake in sorted({matched[other] for other in values}):
            if reached < stake <= matched[seat]:
                money = sum(min(paid_in, stake) - min(paid_in, reached) for paid_in in matched)
                takings.append((stake, seat, money))
                reached = stake
    for _, seat, money in sorted(takings):
        share = tax_on(record, taxed_below + money) - tax_on(record, taxed_below)
        taxed_below += money
        won[seat] += money - share
    won[top] += back
    return won, tax


class Betting:
    """One round, as the page of the record format has it: who speaks next, what that player owes, how many raises."""

    def __init__(self, paid: list[int], order: list[int], unit: int) -> None:
        self.paid, self.order, self.unit = paid, order, unit
        self.active = sorted(order)
        self.raises = 0

    def take(self, seat: int, verb: str, amount: int) -> None:
        """Check one line, which must be the next seat's, and book it."""
        assert seat == self.order.pop(0)
        owed = max(self.paid) - self.paid[seat]
        if verb == "cc":
            assert amount == owed > 0
            self.paid[seat] += amount
        elif verb == "k":
            assert owed == 0
        elif verb == "rb":
            assert amount == self.unit and self.raises < 3
            self.raises += 1
            self.paid[seat] = max(self.paid) + amount
            at = self.active.index(seat)
            self.order = self.active[at + 1 :] + self.active[:at]
        else:
            assert verb == "f"
            self.active.remove(seat)
            self.order = [other for other in self.order if other != seat]

    @property
    def over(self) -> bool:
        """Nobody is left to speak, or one seat is left at all."""
        return not self.order or len(self.active) == 1


def expect(lines: list[str], *wanted: str) -> None:
    """The next lines begin like this."""
    for start in wanted:
        assert lines.pop(0).startswith(start)


def bet(lines: list[str], round_: Betting) -> list[int]:
    """Follow one round to its end; returns the active seats."""
    while not round_.over:
        actor, verb, *rest = lines.pop(0).split()
        round_.take(int(actor[1:]) - 1, verb, int(rest[0]) if rest else 0)
    return round_.active


def follow(record: Record) -> None:
    """Walk through a whole log by the page of the record format (default options)."""
    lines, seats = list(record.acts), range(len(record.seats))
    ante, lower = number(record, "ante"), number(record, "lower")
    second_unit = number(record, str(record.opt["round2_unit"]))
    expect(lines, *(f"p{seat + 1} po {ante}" for seat in seats), f"p1 po {lower}")
    expect(lines, *(f"d dh p{seat + 1} " for seat in seats))
    paid = [ante + lower, *(ante for _ in seats[1:])]
    active = bet(lines, Betting(paid, [*seats[1:], 0], lower))
    if len(active) > 1:
        expect(lines, *(f"d dh p{seat + 1} " for seat in active), *(f"p{seat + 1} up " for seat in active))
        active = bet(lines, Betting(paid, list(active), second_unit))
    if len(active) > 1:
        expect(lines, *(f"p{seat + 1} sm " for seat in active))
    assert not lines


def test_the_models_agree_with_the_recorded_results():
    for record in faerbeln():
        nothing = [0] * len(record.seats)
        assert referee(record) == (list(record.net or ()), record.tax, list(record.bonus or nothing)), record.hand
        follow(record)


OPTIONS = st.fixed_dictionaries(
    {
        "ante": st.integers(1, 300),
        "lower": st.integers(1, 500),
        "round2_unit": st.sampled_from(["lower", "upper"]),
        "bonus41": st.sampled_from([0, 1, 10_000]),
        "tax_cap": st.sampled_from([0, 50, 700, 10**6]),
        "pack": st.sampled_from(["tell", "french"]),
    },
    optional={
        "tax_bps": st.integers(0, 10_000),
        "short_stack": st.just("side_pot"),
        "points": st.booleans(),
    },
)


@settings(max_examples=400, deadline=None)
@given(
    seats=st.integers(3, 7), chance=st.integers(0, 2**32), opt=OPTIONS, more=st.integers(0, 500), lucky=st.booleans()
)
def test_the_models_agree_with_random_hands(seats: int, chance: int, opt: dict[str, object], more: int, lucky: bool):
    random = Random(chance)
    opt = {**opt, "upper": int(str(opt["lower"])) + more}
    least = int(str(opt["ante"])) + int(str(opt["lower"]))
    lowest = int(str(opt["ante"])) if "short_stack" in opt else least
    richest = random.choice([2, 6, 20]) * least
    stacks = (random.randint(least, richest), *(random.randint(lowest, richest) for _ in range(seats - 1)))
    pack = FRENCH32 if opt["pack"] == "french" else TELL32
    deck = with_a_41(random, seats, pack.cards) if lucky else shuffled(random, pack)
    hand = play_hand(Setup("faerbeln", opt, seats, stacks, 0, seats, deck), random)
    names = tuple(f"s{seat}" for seat in range(seats))
    record = record_of(hand, hand_id="h", rules_id="faerbeln/1", seats=names, opt=opt)
    nothing = [0] * seats
    assert referee(record) == (list(record.net or ()), record.tax, list(record.bonus or nothing))
    assert record.carry_out == 0
    if "short_stack" not in opt:
        follow(record)


def with_a_41(random: Random, seats: int, cards: tuple[str, ...]) -> tuple[str, ...]:
    """A deck that deals p1 the ace and three tens of one suit if nobody drops out before the second deal."""
    suit = random.choice(sorted({card[1] for card in cards}))
    flush = [card for card in cards if card[1] == suit][:4]
    rest = [card for card in cards if card not in flush]
    random.shuffle(rest)
    return (*flush[:2], *rest[: 2 * seats - 2], *flush[2:], *rest[2 * seats - 2 :])


@pytest.mark.parametrize("points", [True, False])
@pytest.mark.some_now(4)
@pytest.mark.parametrize("pack", ["tell", "french"])
def test_every_two_hands_of_a_sample_compare_as_the_brute_force_comparison_says(pack: str, points: bool):
    random = Random(41)
    info = game_info("faerbeln").packs[pack]
    hands = [random.sample(info.cards, 4) for _ in range(300)]
    for one, two in combinations(hands, 2):
        worths = strength(one, points), strength(two, points)
        expected = (worths[0] > worths[1]) - (worths[0] < worths[1])
        keys = faerbeln_key(one, info, points=points), faerbeln_key(two, info, points=points)
        assert (keys[0] > keys[1]) - (keys[0] < keys[1]) == expected, (one, two)


def test_brute_force_finds_the_43_classes():
    found = {strength(list(hand)) for hand in combinations(TELL32.cards, 4)}
    assert len(found) == 43
    assert sum(strength(list(hand)) == (4, 41) for hand in combinations(TELL32.cards, 4)) == 16
