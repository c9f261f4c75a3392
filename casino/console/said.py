"""What the house answers, in the words of the reader: names, codes, refusals. Codes stay beside what people read."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext

from casino.core.error_codes import ERROR_CODES
from casino.core.languages import ENGLISH, Kind, said, spoken

#: Members of answers whose texts are codes of a list that the house declares, and not what somebody has typed.
CODED = frozenset(
    {"state", "kind", "role", "roles", "allowed_roles", "purpose", "cause", "scope", "span", "means", "way", "stage",
     "late", "age_band", "document", "mode", "outcome", "cadence", "per", "exception", "terminal_kind", "reservation",
     "carryover_on_close", "client_seeds", "lift_cause", "asked_by_kind", "must", "given_by", "direction"}
)  # fmt: skip
#: Members of a problem that a page says otherwise, or that are of use to programs alone.
_APART = frozenset(
    {"type", "title", "status", "code", "detail", "instance", "errors", "approval", "params", "expected",
     "current_version", "if_held"}
)  # fmt: skip


def label(name: str) -> str:
    """The name of a member of an answer or a form, as it stands beside its value."""
    words = said(Kind.FIELD, name)
    words = name.replace("_", " ") if words == name else words
    return words[:1].upper() + words[1:]


def code(value: Any) -> str:
    """A code of a list of the house, such as the state of a drawer; anything else as it is."""
    return said(Kind.CODE, str(value))


def choice(value: Any, words: Any) -> str:
    """A code where it is chosen: `words` are those of the declaration, in English."""
    found = code(value)
    return str(words) if found == str(value) else found


def of_table(words: str) -> str:
    """What a game says of its table or of a seat: a phase, a state, the name of a fact."""
    plain = words.replace("_", " ")
    return said(Kind.TABLE, plain)


def refusal(problem: Mapping[str, Any]) -> str:
    """Why something was refused. In English the house's own sentence; else what its code means, which is the same for
    every refusal with the code: its figures are `figures`."""
    own = str(problem.get("detail") or problem.get("title") or "")
    if spoken() == ENGLISH or (found := ERROR_CODES.get(str(problem.get("code")))) is None:
        return own
    return said(Kind.ERROR, found.meaning)


def figures(problem: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """What a refusal says besides, by name; nothing in English, whose sentence has it."""
    if spoken() == ENGLISH:
        return []
    return [
        (name, value) for name, value in problem.items()
        if name not in _APART and value is not None and not isinstance(value, dict | list)
    ]  # fmt: skip


def original(problem: Mapping[str, Any]) -> str:
    """The house's own sentence in English, where the page says something else."""
    own = str(problem.get("detail") or "")
    return own if own and own != refusal(problem) else ""


def pointed(pointer: str) -> str:
    """The field at which a refusal points (`#/pieces/500`)."""
    first, slash, rest = pointer.removeprefix("#").removeprefix("/").partition("/")
    return (first if spoken() == ENGLISH else label(first)) + slash + rest


def field_error(text: Any) -> str:
    """What is wrong with a field."""
    return gettext(str(text)) if text else ""


def in_words(problem: Mapping[str, Any]) -> dict[str, Any]:
    """A problem document for a script, which shows its detail: with the reader's words in it."""
    return {**problem, "detail": refusal(problem)}
