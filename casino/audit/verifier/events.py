"""Events: their kinds, and what is read of one."""

import re
from typing import Any

Row = dict[str, Any]
Parts = tuple[str, ...]
"""What `ACTED` has taken apart: an event that adds lines to a hand's log, and posts two legs or nothing."""
Event = Row | Parts


#: Version of every event.
VERSION = 2
#: The role of a player who acts with the key of a seat.
OF_PLAYERS = "player"


#: The canonical text of nearly all events, lines added to a hand's log with one posting of two legs or none. A
#: line that matches is canonical, and needs no reader of JSON: four times as quick. All other events are read one by
#: one.
TEXT, COUNT = r'[^"\\\x00-\x1f]*', "[1-9][0-9]{0,17}"
#: UTC, to the microsecond.
MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z"
_LEG = rf'\["({TEXT})","({TEXT})",(-?{COUNT})\]'
ACTED = re.compile(
    rf'^(?:\{{"actor":"({TEXT})","at":"({MOMENT})","chain":"({TEXT})",'
    rf'"data":\{{"first_line":({COUNT}),"hand":"({TEXT})","lines":\["({TEXT}(?:","{TEXT})*)"\],'
    rf'"table_version":({COUNT})\}},"house":"({TEXT})","kind":"hand\.acted",'
    rf'(?:"postings":\[\{{"about":"({TEXT})","legs":\[{_LEG},{_LEG}\],"tx":({COUNT})\}}\],)?'
    rf'"prev":"({TEXT})","request":"{TEXT}","role":"({TEXT})","seq":({COUNT}),"terminal":"({TEXT})","v":2\}}|.*)$',
    re.MULTILINE,
).findall


_REQUIRED: dict[str, type] = {
    "actor": str, "at": str, "chain": str, "data": dict, "house": str, "kind": str, "prev": str, "request": str,
    "role": str, "seq": int, "terminal": str, "v": object,
}  # fmt: skip
_OPTIONAL: dict[str, type] = {"approver": str, "postings": list, "reason": str}
_ALL = _REQUIRED | _OPTIONAL
_IS_MOMENT = re.compile(MOMENT).fullmatch


def require_event(doc: Row) -> None:
    """Refuse what has not the members of an event, each of its type (a boolean is no integer). Raises ValueError."""
    for name in doc.keys() ^ _REQUIRED.keys():
        if name not in _OPTIONAL:
            raise ValueError(f"{name!r} is {'unknown' if name in doc else 'missing'}")
    for name, value in doc.items():
        if type(value) is not _ALL[name] and name != "v":  # another version has a finding of its own
            raise ValueError(f"{name} is no {_ALL[name].__name__}: {value!r}")
    if not _IS_MOMENT(doc["at"]):
        raise ValueError(f"at is no moment: {doc['at']!r}")
    for posting in doc.get("postings", ()):
        _require_posting(posting)


def _require_posting(posting: Any) -> None:
    if type(posting) is not dict or not {"tx"} <= posting.keys() <= {"about", "legs", "reverses", "tx"}:
        raise ValueError(f"a posting is about, tx, and legs or reverses: {posting!r}")
    if any(type(posting[name]) is not int for name in ("tx", "reverses") if name in posting):
        raise ValueError(f"a transaction is named by its number: {posting!r}")
    legs = posting.get("legs", [])
    if type(legs) is not list or not all(
        type(leg) is list and [type(part) for part in leg] == [str, str, int] for leg in legs
    ):
        raise ValueError(f"a leg is account, commodity and units: {posting!r}")
    if ("legs" in posting) == ("reverses" in posting):
        raise ValueError(f"a posting has legs, or reverses another: {posting!r}")


def row_of(event: Event) -> Row:
    """What is verified of an event, as its JSON says it."""
    if isinstance(event, dict):
        return event
    actor, at, chain, first, hand, lines, version, house, about, *legs, number, prev, role, seq, terminal = event
    doc = {
        "actor": actor,
        "at": at,
        "chain": chain,
        "data": {"first_line": int(first), "hand": hand, "lines": lines.split('","'), "table_version": int(version)},
        "house": house,
        "kind": "hand.acted",
        "prev": prev,
        "role": role,
        "seq": int(seq),
        "terminal": terminal,
        "v": VERSION,
    }
    if number:
        code, commodity, amount, other, another, rest = legs
        both = [[code, commodity, int(amount)], [other, another, int(rest)]]
        doc["postings"] = [{"about": about, "legs": both, "tx": int(number)}]
    return doc


def place_of(doc: Event | None) -> str:
    """`CHAIN#SEQ` of an event."""
    return "{}#{}".format(*chain_and_seq(doc)) if doc else "unreadable"


def chain_and_seq(doc: Event) -> tuple[Any, Any]:
    """The chain of an event and its number there, None for what it does not name."""
    return (doc[2], doc[18]) if isinstance(doc, tuple) else (doc.get("chain"), doc.get("seq"))
