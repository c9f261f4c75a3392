"""What an examination finds: a part, how bad it is, a stable code, words, and what to do."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Level(StrEnum):
    """How bad a finding is; the worst one decides how the command exits."""

    OK = "ok"
    #: Cannot be examined from here, or does not apply; says why.
    NOTE = "note"
    #: Works, and is not as it should be.
    WARNING = "warning"
    #: No house may play like this.
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; `code` is stable, `remedy` says what to do about it."""

    part: str
    level: Level
    code: str
    words: str
    remedy: str = ""

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


def ok(part: str, words: str) -> Finding:
    """As it should be."""
    return Finding(part, Level.OK, "ok", words)
