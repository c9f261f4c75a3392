"""A report as data: who may read it, what it asks for, its sections of typed columns, and what must be equal in it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from casino.houses.models import House
from casino.reports.frame.columns import Column, Row, Sums
from casino.staff.models import Role


class Sensitivity(StrEnum):
    """Whom a report names. Reading one of P2 and above is an event."""

    NO_PERSON = "P0"
    STAFF = "P1"
    PLAYERS = "P2"
    PERSONS = "P3"
    SEALED = "P4"


class Retention(StrEnum):
    """How long files of a report are kept: books, money laundering, operations, files that can be made again."""

    BOOKS = "A"
    LAUNDERING = "M"
    OPERATIONS = "O"
    TRANSIENT = "T"


#: Days for which files are kept where the house has set nothing else.
RETENTION_DAYS = {
    Retention.BOOKS: 3653, Retention.LAUNDERING: 2922, Retention.OPERATIONS: 1096, Retention.TRANSIENT: 90,
}  # fmt: skip


class Format(StrEnum):
    """Formats of files."""

    JSON = "json"
    CSV = "csv"
    XLSX = "xlsx"
    PDF = "pdf"
    SLIP = "slip"


class FilterKind(StrEnum):
    """What a filter takes."""

    DAY = "day"
    TIME = "time"
    CODE = "code"
    PERSON = "person"
    AMOUNT = "amount"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Filter:
    """One thing that a run may ask for: its name, what it takes, what it does."""

    name: str
    kind: FilterKind
    text: str
    required: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A signed checkpoint of the house's audit log: epoch, size in events, root in hexadecimal."""

    epoch: int
    size: int
    root: str


@dataclass(frozen=True, slots=True)
class AsOf:
    """What a report knows: the ledger up to one transaction, the trail up to one event (both by id), and the newest
    checkpoint of the house then. None: there was none yet. `at` is when that was."""

    transaction: int
    event: int
    checkpoint: Checkpoint | None
    at: datetime

    def as_json(self) -> dict[str, Any]:
        """As rows, events and files have it."""
        return {
            "transaction": self.transaction,
            "event": self.event,
            "checkpoint": None if self.checkpoint is None else asdict(self.checkpoint),
            "at": self.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        }

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> "AsOf":
        """The inverse of `as_json`."""
        one = found["checkpoint"]
        checkpoint = None if one is None else Checkpoint(**one)
        return cls(found["transaction"], found["event"], checkpoint, datetime.fromisoformat(found["at"]))


@dataclass(frozen=True, slots=True)
class Scope:
    """What one run of a report reads."""

    house: House
    as_of: AsOf
    filters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Section:
    """One table of a report. `rows` reads them in a fixed order, as the scope says; `groups` names the columns by which
    they can be summed."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Callable[[Scope], Iterable[Row]]
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Equality:
    """Two sums that must be equal, in minor units or pieces, and where each is from."""

    words: str
    one: int
    other: int

    @property
    def holds(self) -> bool:
        """Whether they are."""
        return self.one == self.other

    def as_json(self) -> dict[str, Any]:
        """As answers and files have it."""
        return {"equality": self.words, "one": self.one, "other": self.other, "holds": self.holds}


#: The sums of a report's sections by their names.
Results = Mapping[str, Sums]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One report of the catalogue; `number` is its place there (A8)."""

    id: str
    number: str
    version: int
    title: str
    text: str
    roles: tuple[Role, ...]
    sections: tuple[Section, ...]
    equalities: Callable[[Scope, Results], Iterable[Equality]]
    filters: tuple[Filter, ...] = ()
    sensitivity: Sensitivity
    retention: Retention
    formats: tuple[Format, ...] = (Format.JSON, Format.CSV, Format.XLSX, Format.PDF)

    def groups(self) -> tuple[str, ...]:
        """The columns by which a run may sum."""
        return tuple(dict.fromkeys(name for section in self.sections for name in section.groups))
