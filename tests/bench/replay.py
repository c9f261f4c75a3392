"""Strict replay of the recorded evening, from the text of its lines, against two references in the same process.

The references: merely reading and parsing the JSON of the same lines, and PokerKit (extra ``bench``) replaying hands of
no-limit hold'em from the text of their histories. There is no other replayer of Ferbli, so the hands are made
comparable: as many at each number of seats, and no more lines to a hand than the evening has.
"""

import json
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

from engine.record import parse_record
from engine.replay import replay
from tests.bench.alternate import Comparison, compare

EVENING = Path(__file__).resolve().parents[2] / "deploy" / "demo" / "evening.jsonl"
HISTORIES = 80
"""Hands of hold'em in one run; the evening has 320."""
STACK, SMALL, BIG = 20_000, 50, 100


def comparisons() -> Iterator[Comparison]:
    """Both comparisons; the second only where PokerKit is installed."""
    lines = EVENING.read_text().splitlines()
    yield bench_parsing(lines)
    if find_spec("pokerkit"):
        yield bench_pokerkit(lines)


def replayed(lines: list[str]) -> int:
    """Record, replay, digest and postings of every line; how many hands that were."""
    for line in lines:
        outcome = replay(parse_record(line))
        if outcome.hand is None or not outcome.ok:
            raise AssertionError(outcome.error)
        if not (outcome.hand.digest() and outcome.hand.moves):
            raise AssertionError("a hand has a digest and moves money")
    return len(lines)


def bench_parsing(lines: list[str]) -> Comparison:
    """Against what nobody can do without: decoding the JSON."""

    def parse_only() -> int:
        for _ in range(10):
            for line in lines:
                json.loads(line)
        return 10 * len(lines)

    return compare(
        "strict replay with digest", "hands", lambda: replayed(lines), "json.loads of the record", parse_only
    )


def bench_pokerkit(lines: list[str]) -> Comparison:
    """Against PokerKit, which plays a history from its text and repairs it where it can."""
    from pokerkit import HandHistory

    sizes = [len(json.loads(line)["seats"]) for line in lines]
    texts = histories(sizes[:: len(sizes) // HISTORIES])

    def played() -> int:
        for text in texts:
            *_, last = HandHistory.loads(text)
            if last.status:
                raise AssertionError("the history ends before the hand does")
        return len(texts)

    name = f"PokerKit {version('pokerkit')}, {mean_actions(texts):.1f} actions a hand"
    ours = sum(len(json.loads(line)["acts"]) for line in lines) / len(lines)
    return compare(f"the same, {ours:.1f} actions a hand", "hands", lambda: replayed(lines), name, played)


def mean_actions(texts: list[str]) -> float:
    """Lines of the log in the mean history."""
    from pokerkit import HandHistory

    return sum(len(HandHistory.loads(text).actions) for text in texts) / len(texts)


def histories(sizes: list[int]) -> list[str]:
    """One hand of hold'em for each number of seats, played at random by PokerKit and written by it; always the same."""
    random = Random("hold'em")
    with warnings.catch_warnings():
        # PokerKit warns of cards that are dealt to seats in another order than its own shuffle would have.
        warnings.simplefilter("ignore")
        return [history(size, random) for size in sizes]


def history(seats: int, random: Random) -> str:
    """One hand as text. Most bets are called, so that a hand is about as long as one of Ferbli."""
    from pokerkit import Automation, HandHistory, NoLimitTexasHoldem

    by_itself = (
        Automation.ANTE_POSTING,
        Automation.BET_COLLECTION,
        Automation.BLIND_OR_STRADDLE_POSTING,
        Automation.HAND_KILLING,
        Automation.CHIPS_PUSHING,
        Automation.CHIPS_PULLING,
        Automation.RUNOUT_COUNT_SELECTION,
    )
    game = NoLimitTexasHoldem(by_itself, True, 0, (SMALL, BIG), BIG)
    state = game((STACK,) * seats, seats)
    deck = [rank + suit for rank in "23456789TJQKA" for suit in "cdhs"]
    random.shuffle(deck)
    while state.status:
        go_on(state, deck, random)
    return HandHistory.from_game_state(game, state).dumps()


def go_on(state: Any, deck: list[str], random: Random) -> None:
    """The next thing to happen: cards, or one seat's decision."""
    if state.can_burn_card():
        state.burn_card("??")
    elif state.can_deal_hole():
        state.deal_hole(deck.pop() + deck.pop())
    elif state.can_deal_board():
        state.deal_board("".join(deck.pop() for _ in range(state.board_dealing_count)))
    elif state.can_show_or_muck_hole_cards(True):
        state.show_or_muck_hole_cards(True)
    elif random.random() < 0.1 and state.can_complete_bet_or_raise_to():
        state.complete_bet_or_raise_to()
    elif random.random() < 0.35 and state.can_fold():
        state.fold()
    else:
        state.check_or_call()
