"""A report as data: who may read it, what it asks for, its sections of typed columns, and what must be equal in it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from django.utils.translation import gettext

from casino.core import languages
from casino.core.languages import Kind, word
from casino.houses.models import House
from casino.reports.frame.charts import Chart
from casino.reports.frame.columns import DAY, SPANS, Column, Row, Sums, Type
from casino.staff.models import Role

T = TypeVar("T")


class Sensitivity(StrEnum):
    """Whom a report names. Reading one of P2 and above is an event."""

    NO_PERSON = "P0"
    STAFF = "P1"
    PLAYERS = "P2"
    PERSONS = "P3"
    SEALED = "P4"


class Retention(StrEnum):
    """How long files of a report are kept: books, money laundering, protection of players (five years longer than
    that), operations, files that can be made again."""

    BOOKS = "A"
    LAUNDERING = "M"
    PROTECTION = "M+5"
    OPERATIONS = "O"
    TRANSIENT = "T"


class Format(StrEnum):
    """Formats of files."""

    JSON = "json"
    CSV = "csv"
    XLSX = "xlsx"
    PDF = "pdf"
    SLIP = "slip"
    #: One file for each chart, of a report that has some.
    SVG = "svg"


#: Formats that every report has, unless it says something else.
FORMATS = (Format.JSON, Format.CSV, Format.XLSX, Format.PDF)


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


#: What leaves out, of a report with `blind_roles`, what somebody must still count without knowing it.
COUNTED = "counted"
FIGURES = Filter(
    "figures", FilterKind.CHOICE,
    "`counted`: without figures of what somebody must still count without knowing it; so for those who count, always.",
    choices=("all", COUNTED),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A signed checkpoint of the house's audit log: epoch, size in events, root in hexadecimal."""

    epoch: int
    size: int
    root: str


@dataclass(frozen=True, slots=True)
class LastEvent:
    """An event by its chain and its number there, which the trail itself has."""

    chain: str
    seq: int


@dataclass(frozen=True, slots=True)
class AsOf:
    """What a report knows: the ledger up to one transaction, the trail up to one event, and the newest checkpoint of
    the house then. None: there was none yet. `at` is when that was. `event` is the row of `last`, 0 where there is
    none: queries compare it, and nothing outside the database sees it."""

    transaction: int
    event: int
    last: LastEvent | None
    checkpoint: Checkpoint | None
    at: datetime

    def as_json(self) -> dict[str, Any]:
        """As rows, events and files have it; `as_of.kept` reads it again."""
        return {
            "transaction": self.transaction,
            "event": None if self.last is None else asdict(self.last),
            "checkpoint": None if self.checkpoint is None else asdict(self.checkpoint),
            "at": self.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        }


@dataclass(frozen=True, slots=True)
class Scope:
    """What one run of a report reads."""

    house: House
    as_of: AsOf
    filters: Mapping[str, Any]
    #: What sections of one run share, by name: see `once`.
    kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def blind(self) -> bool:
        """Whether figures that somebody must still count without knowing them are left out."""
        return self.filters.get(FIGURES.name) == COUNTED

    def once(self, name: str, read: Callable[["Scope"], T]) -> T:
        """What `read` reads, which it does once in a run, whatever number of sections needs it."""
        if name not in self.kept:
            self.kept[name] = read(self)
        found: T = self.kept[name]
        return found


@dataclass(frozen=True, slots=True)
class Section:
    """One table of a report. `rows` reads them in a fixed order, as the scope says; `groups` names the columns by which
    they can be summed; `proof` those with the chain, the number and the hash of an event that proves the row. A section
    that is not `on_slip` is left out of slips of 80 mm."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Callable[[Scope], Iterable[Row]]
    groups: tuple[str, ...] = ()
    proof: tuple[str, str, str] | None = None
    on_slip: bool = True

    def sums_by(self) -> tuple[str, ...]:
        """By what its rows can be summed: columns, and where one is the gaming day, weeks and months."""
        return (*self.groups, *(SPANS if DAY in self.groups else ()))

    def group_column(self, group_by: str) -> Column:
        """The column of the values that it is summed by."""
        return SPANS.get(group_by) or next(one for one in self.columns if one.name == group_by)


#: What sums that must be equal are of.
SUMMED = (Type.MONEY, Type.PIECES, Type.COUNT)


@dataclass(frozen=True, slots=True)
class Equality:
    """Two sums that must be equal, and where each is from: money in minor units of the house's currency, pieces of
    chips, or a count of anything else. Raises ValueError for another type."""

    words: str
    one: int
    other: int
    type: Type
    #: What the words name in braces: as it is, and codes and names of figures, which are said in the language.
    named: Mapping[str, str] = field(default_factory=dict)
    coded: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.type not in SUMMED:
            raise ValueError(f"two sums of {self.type} are not compared")

    def said(self) -> str:
        """What must be equal, in the language that is spoken."""
        coded = {name: word(value) for name, value in self.coded.items()}
        return languages.said(Kind.REPORT, self.words).format(**self.named, **coded)

    @property
    def holds(self) -> bool:
        """Whether they are."""
        return self.one == self.other

    def as_json(self) -> dict[str, Any]:
        """As answers and events have it, in English."""
        words = self.words.format(**self.named, **self.coded)
        return compared(words, self.one, self.other, self.type)


def compared(words: str, one: int, other: int, kind: Type) -> dict[str, Any]:
    """Two sums that must be equal, as answers, events and manifests have them."""
    return {"equality": words, "one": one, "other": other, "type": str(kind), "holds": one == other}


def broken(equalities: Sequence[Equality]) -> str:
    """What a report that does not reconcile says in its head; empty for one that does."""
    differ = {"broken": sum(not one.holds for one in equalities), "count": len(equalities)}
    return gettext("%(broken)s of %(count)s equalities DO NOT HOLD") % differ if differ["broken"] else ""


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
    formats: tuple[Format, ...] = FORMATS
    charts: tuple[Chart, ...] = ()
    #: Those of the roles that must not know what they still have to count: their runs have `FIGURES` set.
    blind_roles: tuple[Role, ...] = ()

    def groups(self) -> tuple[str, ...]:
        """By what a run may sum: columns, weeks, months."""
        return tuple(dict.fromkeys(name for section in self.sections for name in section.sums_by()))
