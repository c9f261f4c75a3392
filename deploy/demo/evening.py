"""Reading a recorded evening: which tables, seats, players and chips it needs."""

import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
#: Which hands of which files make the evening that is played where no other is named.
PROGRAMME = HERE / "programme.toml"


class EveningError(Exception):
    """The records cannot be played as an evening; the message says which and why."""


@dataclass(slots=True)
class RecordedTable:
    """One table's hands in order, and what the table must be to hold them."""

    code: str
    game: str
    options: dict[str, Any]
    hands: list[dict[str, Any]] = field(default_factory=list)

    @property
    def seats(self) -> int:
        """Seats the table needs."""
        return max(len(hand["seats"]) for hand in self.hands)

    @property
    def max_stack(self) -> int:
        """More than anybody ever has in front of them here, in minor units."""
        return 4 * max(sum(hand["stacks"]) + hand["carry"] for hand in self.hands)

    def go_on(self, later: "RecordedTable") -> None:
        """Play the hands of another file too. Raises EveningError where the game is not the same."""
        if (later.game, later.options) != (self.game, self.options):
            raise EveningError(f"Table {self.code} cannot change its game or options between files.")
        self.hands += later.hands

    def shorten(self, last: int) -> None:
        """Keep so many hands at the end, and those before them until one with which a session can begin."""
        start = max(len(self.hands) - last, 0)
        while start and (self.hands[start]["carry"] or self.hands[start].get("series")):
            start -= 1
        self.hands = self.hands[start:]


def read(evening: Path | None) -> dict[str, RecordedTable]:
    """The evening of one file, or that of the programme. Raises EveningError."""
    if evening:
        return load(evening)
    tables: dict[str, RecordedTable] = {}
    for part in tomllib.loads(PROGRAMME.read_text())["play"]:
        for code, table in load(HERE / part["file"]).items():
            if code in part.get("tables", [code]):
                table.hands = table.hands[: part.get("first", len(table.hands))]
                table.shorten(part.get("last", len(table.hands)))
                if code in tables:
                    tables[code].go_on(table)
                else:
                    tables[code] = table
    return tables


def load(path: Path) -> dict[str, RecordedTable]:
    """All tables of a file by their codes. Raises EveningError for what cannot be read or does not fit together."""
    tables: dict[str, RecordedTable] = {}
    for number, line in enumerate(_lines(path), start=1):
        where = f"{path.name}:{number}"
        try:
            hand = json.loads(line)
            code = hand["hand"].rpartition("-")[0]
            table = tables.setdefault(code, RecordedTable(code, hand["game"], hand["opt"]))
            if (hand["game"], hand["opt"]) != (table.game, table.options):
                raise EveningError(f"{where}: table {code} cannot change its game or options between hands.")
            missing = {"seats", "stacks", "carry", "acts"} - hand.keys()
            if missing:
                raise EveningError(f"{where}: {', '.join(sorted(missing))} missing.")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise EveningError(f"{where} is not a chr/1 record: {error!r}") from error
        table.hands.append(hand)
    if not tables:
        raise EveningError("There is no hand in it.")
    return tables


def _lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text().splitlines() if line.strip()]
    except OSError as error:
        raise EveningError(f"{path}: {error.strerror}") from error


def players(tables: Iterable[RecordedTable]) -> list[str]:
    """Everybody who plays, in the order of appearance."""
    return list(dict.fromkeys(ref for table in tables for hand in table.hands for ref in hand["seats"]))
