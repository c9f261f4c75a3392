"""Strict replay of the recorded evening, digest and postings included, against two references in the same process.

The references: only reading and parsing the JSON of the same lines, and PokerKit (extra ``bench``) replaying hands of
no-limit hold'em. There is no other replayer of Ferbli, so the hands are made comparable: as many at each number of
seats, and no more lines to a hand than the evening has. Both are measured twice: from records or histories that have
been read, and from their text.
"""

import json
import warnings
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

from engine.record.format import Record, parse_record
from engine.record.replay import replay
from tests.bench.alternate import Comparison, compare

EVENING = Path(__file__).resolve().parents[2] / "deploy" / "demo" / "evening.jsonl"
HISTORIES = 80
"""Hands of hold'em in one run; the evening has 320."""
STACK, SMALL, BIG = 20_000, 50, 100


def comparisons() -> Iterator[Comparison]:
    """All comparisons; those with PokerKit only where it is installed."""
    lines = EVENING.read_text().splitlines()
    yield bench_parsing(lines)
    if find_spec("pokerkit"):
        yield from bench_pokerkit(lines)


def replayed(records: Iterable[Record]) -> int:
    """Replay, digest and postings of every record; how many hands that were."""
    hands = 0
    for hands, record in enumerate(records, 1):  # noqa: B007 - the last number is the count
        outcome = replay(record)
        if outcome.hand is None or not outcome.ok:
            raise AssertionError(outcome.error)
        if not (outcome.hand.digest() and outcome.hand.moves):
            raise AssertionError("a hand has a digest and moves money")
    return hands


def bench_parsing(lines: list[str]) -> Comparison:
    """Against what nobody can do without: decoding the JSON."""

    def parse_only() -> int:
        for _ in range(10):
            for line in lines:
                json.loads(line)
        return 10 * len(lines)

    ours = lambda: replayed(map(parse_record, lines))  # noqa: E731 - the job of one comparison
    return compare("strict replay, from JSON", "hands", ours, "json.loads of the record", parse_only)


def bench_pokerkit(lines: list[str]) -> Iterator[Comparison]:
    """Against PokerKit, which plays a history and repairs it where it can: read before, and from the text."""
    from pokerkit import HandHistory

    sizes = [len(json.loads(line)["seats"]) for line in lines]
    texts = histories(sizes[:: len(sizes) // HISTORIES])
    records, read = [parse_record(line) for line in lines], [HandHistory.loads(text) for text in texts]

    def played(hands: Iterable[Any]) -> int:
        count = 0
        for count, hand in enumerate(hands, 1):  # noqa: B007 - the last number is the count
            *_, last = hand
            if last.status:
                raise AssertionError("the history ends before the hand does")
        return count

    ours = sum(len(record.acts) for record in records) / len(records)
    name = f"PokerKit {version('pokerkit')}, {mean_actions(texts):.1f} actions a hand"
    yield compare(
        f"strict replay, {ours:.1f} lines a hand", "hands", lambda: replayed(records), name, lambda: played(read)
    )
    yield compare(
        "the same, both from text",
        "hands",
        lambda: replayed(map(parse_record, lines)),
        name,
        lambda: played(map(HandHistory.loads, texts)),
    )


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
