"""Strict replay of every registered game, from records that have been read: set-up, every line, the settlement and the
comparison of what the record holds. In cards played where there are tricks, else in lines of the log.

The reference is reading the JSON of the same records, without which nobody can replay them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from engine.play import Sitting, play_evening
from engine.record.format import Record, format_record, parse_record
from engine.record.replay import replay
from engine.registry import game_info, game_names, start
from tests.bench.alternate import Comparison, compare

DATA = Path(__file__).resolve().parents[1] / "model" / "data"
DEALS = 40
"""Deals of a game in the sample, with each number of seats that the game is usually played by."""
LINES = 60_000
"""About so many lines are replayed in one run."""


def comparisons() -> Iterator[Comparison]:
    """One for each game."""
    return map(of_game, game_names())


def of_game(game: str) -> Comparison:
    """Strict replay of one game."""
    records = sample(game)
    texts = [format_record(record) for record in records]
    tricks = "trick" in start(records[0].setup()).view("public")
    lines = sum(len(record.acts) for record in records)
    units = sum(" pl " in line for record in records for line in record.acts) if tricks else lines
    times = max(LINES // lines, 1)

    def replayed() -> int:
        for _ in range(times):
            for record in records:
                if not replay(record).ok:
                    raise AssertionError("a recorded deal stands")
        return times * units

    def read() -> int:
        for _ in range(times):
            for text in texts:
                json.loads(text)
        return times * units

    name = f"{game}, {lines / len(records):.0f} lines a deal"
    return compare(name, "cards" if tricks else "lines", replayed, "json.loads of the record", read)


def sample(game: str) -> list[Record]:
    """The recorded deals that the game's model has judged, where there are any; else random ones at tables of the
    game's example, which are won with fewer cards."""
    recorded = DATA / f"{game}.jsonl"
    if recorded.exists():
        return [parse_record(line) for line in recorded.read_text().splitlines()]
    info, found = game_info(game), list[Record]()
    for seats in info.seats_allowed or (info.min_seats, info.max_seats):
        opt = info.resolve(info.example, seats, ())
        least = info.rules.parse(opt, seats).least_stack
        table = Sitting(game, opt, seats, 40 * least or 1, least)
        found += play_evening(table, hands=DEALS, seed="bench")
    return found
