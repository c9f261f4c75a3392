"""Reading a recorded evening: which tables, seats, players and chips it needs."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
#: The recorded evening; hands for what it lacks, which continue its tables; two tables with Ferbli's variations, whose
#: hands `python -m engine play` made (legal choices at random; names of hands and players are the evening's own).
DEFAULT = (HERE / "evening.jsonl", HERE / "extra.jsonl", HERE / "variants.jsonl")
#: One table of the recorded Färbeln joins in; EVENING=deploy/demo/faerbeln.jsonl plays all three.
FAERBELN, FAERBELN_TABLE = HERE / "faerbeln.jsonl", "F1"


_AMOUNT = re.compile(r"p[1-9] (?:po|cc|rb|br|ks|rv) [0-9]+(?: |\Z)")
#: Options that a largest single bet must not be below.
_STAKES = ("vizi", "majzli_max")


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
        """More than anybody ever has in front of him here, in minor units."""
        return 4 * max(sum(hand["stacks"]) + hand["carry"] for hand in self.hands)

    @property
    def table_max(self) -> int:
        """A largest single bet that no recorded amount exceeds, in minor units."""
        amounts = [int(line.split()[2]) for hand in self.hands for line in hand["acts"] if _AMOUNT.match(line)]
        return int(self.options.get("table_max", max(*amounts, *(self.options.get(name, 1) for name in _STAKES))))


def read(evening: Path | None) -> dict[str, RecordedTable]:
    """The evening of one file, or the recorded one with all that belongs to it. Raises EveningError."""
    if evening:
        return load([evening])
    return load(DEFAULT) | {FAERBELN_TABLE: load([FAERBELN])[FAERBELN_TABLE]}


def load(paths: Iterable[Path]) -> dict[str, RecordedTable]:
    """The evening's tables by code. Raises EveningError for what cannot be read or does not fit together."""
    tables: dict[str, RecordedTable] = {}
    for path in paths:
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
