"""What is proved of every column of a house's rows: declarations, one for each column of each model.

*Proved*: the verifier rebuilds the value from events and compares it with the row. *Derived*: another check follows it
from what is proved. *Transient*: it is not compared, for the reason given.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Status = Literal["proved", "derived", "transient"]


@dataclass(frozen=True, slots=True)
class Column:
    """What is proved of one column: by which events, from what it is derived, or why it is not compared.

    `hashed`: rows are read with the SHA-256 of the value instead of the value, 64 hex digits.
    """

    status: Status
    note: str
    hashed: bool = False
    read: bool = True

    @property
    def compared(self) -> bool:
        """Whether the state that is rebuilt from events has this column."""
        return self.status == "proved" and self.read


def proved(note: str) -> Column:
    """A column that is rebuilt from these events."""
    return Column("proved", note)


def hashed(note: str) -> Column:
    """A secret, or sealed bytes, of which these events record the SHA-256."""
    return Column("proved", note, hashed=True)


def derived(source: str) -> Column:
    """A column that another check follows from `source`."""
    return Column("derived", source)


def transient(reason: str) -> Column:
    """A column that is not compared, because of this."""
    return Column("transient", reason)


#: Every row's house.
HOUSE = Column(
    "proved", "rows are read by house and key: a row of another house is missing here and too many there", read=False
)
#: Numbers that PostgreSQL gives out.
ID = transient("a number that PostgreSQL gives; rows are compared by keys that events record")


@dataclass(frozen=True, slots=True)
class Model:
    """The rows of one model (`app.Name`), its key in words, and what is proved of each column.

    `may_go`: rows may be deleted, so that one which is missing is no finding.
    """

    name: str
    key: str
    columns: Mapping[str, Column]
    may_go: bool = False

    @property
    def is_compared(self) -> bool:
        """Whether rows of it are rebuilt."""
        return any(column.compared for column in self.columns.values())


def by_name(*groups: tuple[Model, ...]) -> dict[str, Model]:
    """Models of several modules by their names. Raises ValueError for one that is declared twice."""
    found: dict[str, Model] = {}
    for model in (model for group in groups for model in group):
        if model.name in found:
            raise ValueError(f"{model.name} is declared twice")
        found[model.name] = model
    return found
