"""A long evening of recorded hands: hands that the engine has played at random, written as the application records
them.

Each hand has other lines, amounts and winners; stacks, button and cukassza go on from hand to hand. What a line posts
is what the house's own replay says. A request deals all cards that are due, and takes one action of a player.
"""

import hashlib
import re
import uuid
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from casino.hands.postings import handle
from casino.hands.replays import Replay, follow
from casino.hands.snapshot import HandSnapshot
from casino.houses import control_points
from casino.tables.models import Table
from engine.play import Sitting, play_evening
from engine.record.format import Record
from tests.bench.proof.evening import OPTIONS, LongEvening
from tests.proof.model import canonical

PLAYERS = ("a", "b", "c", "d")
TABLES = 8
#: Chips that last for all hands of an evening.
STACK = 10**8
#: A record's names of the seats.
SEATS = {f"s{number}": number for number in range(1, len(PLAYERS) + 1)}
#: Cards that are dealt face down, behind `d dh p1 `.
_DEALT = re.compile(r"(?<=^d dh p\d )\w+$")


class RecordedEvening(LongEvening):
    """Plays records instead of the one hand."""

    def play_record(self, table: str, number: int, record: Record, next_button: int) -> None:
        """Deal, act, settle; `next_button` is the seat that deals the next hand."""
        name, chain = f"{table}-{number:06d}", f"table/{table}"
        seats = [{"player": PLAYERS[SEATS[seat] - 1], "seat": SEATS[seat]} for seat in record.seats]
        row: dict[str, Any] = {
            "hand": name, "table": table, "number": number, "mode": "physical", "game": record.game, "series": {},
            "seats": seats, "carry": record.carry, "rules": record.rules, "options": OPTIONS,
            "stacks": list(record.stacks),
        }  # fmt: skip
        log = [_DEALT.sub(lambda cards: "?" * len(cards[0]), line) for line in record.acts]
        replay = _replayed(self.house, table, row, log)
        self._post_moves(name, "0", replay.booked(replay.at_once(0, 1)))
        self.record(chain, "hand.dealt", row | {"button": _button(record), "first_line": 1, "lines": []})
        result = {"net": list(record.net or ()), "tax": record.tax, "carry_out": record.carry_out}
        result["bonus"] = list(record.bonus or [0] * len(seats))
        digest = hashlib.sha256(name.encode()).hexdigest()
        ending = {"digest": digest, "handle": handle(replay.moves), "result": result}
        at_the_end = ending | {"log": log, "next_button": next_button, "record_hash": digest}
        for first, lines in _requests(log):
            self._post_moves(name, str(first), replay.booked(replay.at_once(first, len(lines))))
            over = first + len(lines) > len(log)
            self.acted(chain, name, first, lines, **(at_the_end if over else {}))
        settlement = self._post_moves(name, "settlement", replay.settled())
        self.record(chain, "hand.settled", {"hand": name, "result": result, "digest": digest, "settlement": settlement})
        settled = {"log": log, "settlement": settlement, "state": "settled"}
        self.files["hands.jsonl"].write(f"{canonical(row | ending | settled)}\n")

    def _post_moves(self, name: str, part: str, booked: dict[str, int]) -> int | None:
        legs = [(code, "HUF", amount) for code, amount in sorted(booked.items()) if amount]
        kind = "hand.settled" if part == "settlement" else "hand.stakes"
        return self.post(f"hand:{name}:{part}", kind, legs) if legs else None


def write_recorded(folder: Path, events: int, *, every: int = 200) -> RecordedEvening:
    """An export of so many events of recorded hands, or a few more. Django must be set up."""
    world = RecordedEvening(every=every)
    world.open(folder)
    world.set_up(TABLES, options=OPTIONS, most=10**10, players=PLAYERS)
    # Buy-ins of this evening are of any size, without a second person.
    points = dict.fromkeys(control_points.AMOUNTS, 10**12)
    world.record("house/MODEL", "limits.changed", {"number": 1, "points": points, "valid_from": world.now()})
    tables = [f"T{number}" for number in range(1, TABLES + 1)]
    for table in tables:
        for player in PLAYERS:
            world.sit_down(table, player, STACK)
    hands = {table: _hands(table) for table in tables}
    number = 0
    while world.count < events:
        number += 1
        for table, played in hands.items():
            world.play_record(table, number, *next(played))
    world.close()
    return world


def _hands(table: str) -> Iterator[tuple[Record, int]]:
    """Records of a table without an end, each with the seat that deals next."""
    sitting = Sitting("ferbli", OPTIONS, len(PLAYERS), STACK, STACK // 2)
    return ((record, _button(then)) for record, then in pairwise(play_evening(sitting, hands=10**9, seed=table)))


def _button(record: Record) -> int:
    return SEATS[record.seats[record.dealer - 1]]


def _replayed(house: str, table: str, row: dict[str, Any], log: Sequence[str]) -> Replay:
    """The house's own replay of a physical hand, whose face-down cards it does not know."""
    plain = ("mode", "game", "rules", "carry", "options", "seats", "stacks", "series")
    hand = HandSnapshot(
        id=0, house_id=uuid.UUID(house), table=Table(code=table), session_id=0, name=row["hand"], commitment="",
        sealed_seed=b"", state="playing", disputes_withdrawn=0, digest="", handle=None, settlement=None, fees={},
        client_seeds={}, cards_roots=[], result=None, ruling=None, **{name: row[name] for name in plain},
    )  # fmt: skip
    replay = follow(hand, log)
    if replay.error is not None or replay.game is None or not replay.game.over:
        raise AssertionError(replay.refusal)
    return replay


def _requests(log: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The lines of each request, with the number of the first: cards that are dealt together, or one action."""
    first = 1
    for dealing, lines in groupby(log, lambda line: line.startswith("d ")):
        found = list(lines)
        for part in [found] if dealing else [[line] for line in found]:
            yield first, part
            first += len(part)
