"""What a bot or an equity calculation does with a running hand: copy it, look at it, pickle it. In every game, near the
end of a recorded hand, where the log is long.

The references stand for what everybody would do without these functions: to copy, replaying the log; to look, writing
the same view as JSON, which an answer costs anyhow; to pickle, copying that view as Python's library does.
"""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Iterator
from itertools import chain

from engine.kernel.hand import Hand
from engine.registry import resume
from tests.bench.alternate import Comparison, compare
from tests.engine.any_game import GAMES, records

TIMES = 2_000
"""How often one run does it; a reference, which is slower, a tenth of that."""
LAST = 3
"""Lines that are left to play."""


def comparisons() -> Iterator[Comparison]:
    """All comparisons."""
    return chain.from_iterable(map(of_game, GAMES))


def of_game(game: str) -> Iterator[Comparison]:
    """The comparisons of one game."""
    hand = late(game)
    setup, log, view = hand.setup, hand.log, hand.view("public")
    yield compare(
        f"{game}: copy after {len(log)} lines", "copies", times(hand.copy, TIMES),
        "replaying its log", times(lambda: resume(setup, log), TIMES // 10),
    )  # fmt: skip
    yield compare(
        f"{game}: public view, {setup.seats} seats", "views", times(lambda: hand.view("public"), TIMES // 10),
        "json.dumps of the view", times(lambda: json.dumps(view), TIMES // 10),
    )  # fmt: skip
    yield compare(
        f"{game}: pickle and back", "round trips", times(lambda: pickle.loads(pickle.dumps(hand)), TIMES // 10),
        "copy.deepcopy of the view", times(lambda: copy.deepcopy(view), TIMES // 10),
    )  # fmt: skip


def late(game: str) -> Hand:
    """The recorded hand of this game with most seats, of those the one with most lines, shortly before its end."""
    record = max(records(game), key=lambda record: (record.setup().seats, len(record.acts)))
    return resume(record.setup(), record.acts[:-LAST])


def times(job: Callable[[], object], count: int) -> Callable[[], int]:
    """The job so many times; how often that was."""

    def run() -> int:
        for _ in range(count):
            job()
        return count

    return run
