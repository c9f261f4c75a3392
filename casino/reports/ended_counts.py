"""Counts that have ended, those that agreed with the books among them: who counted, how often it was counted again, and
whether somebody else accepted a difference or decided what was there."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from casino.bookkeeping.accounts import VAULT
from casino.reports.frame.movements import events
from casino.reports.frame.report import Scope
from casino.reports.frame.trail import DaysOfEvents, at, place

#: Events that end a count, which has found what was expected, or not.
_COUNTS = (
    "drawer.closed", "tray.confirmed", "box.received", "vault.count_signed_off", "fill.received", "credit.received",
    "chips.withdrawn_set_aside",
)  # fmt: skip
#: Counts of which two must agree before something is posted.
_ONE_OF_TWO = ("box.counted", "chips.counted")
#: Counts after which it was counted again, with those of drawers that were such a second count.
_AGAIN = (
    "drawer.recounted", "tray.counts_differed", "box.counts_differed", "vault.counts_differed", "chips.counts_differed",
    "fill.count_differed", "credit.count_differed",
)  # fmt: skip
#: Who has counted a box, or chips that are moved, in each round.
_Rounds = dict[tuple[str, int], dict[int, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class EndedCount:
    """A count that has ended: its kind, where and when, who counted, and who confirmed or received it. `day` is the
    gaming day of one that agreed; what differed is of the day for which it was posted. `recounts`: how often it was
    counted again, by the events of that, and `said`, as the event that ends it says: None where that says nothing of
    it. `is_signed_off`: a second person has accepted a difference, or decided."""

    kind: str
    place: str
    at: datetime
    day: str
    counters: tuple[str, ...]
    approver: str
    recounts: int
    said: int | None
    is_signed_off: bool


def ended_counts(scope: Scope) -> dict[int, EndedCount]:
    """Every count that has ended up to the moment, by its event; read once in a run."""
    return scope.once("ended counts", _read)


def _read(scope: Scope) -> dict[int, EndedCount]:
    days, found = DaysOfEvents(scope), dict[int, EndedCount]()
    rounds: _Rounds = {}
    again: dict[tuple[str, ...], int] = {}
    for event, chain, _, doc in events(scope, _COUNTS + _ONE_OF_TWO + _AGAIN):
        data = doc["data"]
        if doc["kind"] in _ONE_OF_TWO:
            _take_down(rounds, doc)
        elif doc["kind"] in _AGAIN:
            key = _key(chain, doc)
            again[key] = again.get(key, 0) + 1
        else:
            day = (data.get("box") or {}).get("for_day") or days.of(event)
            found[event] = EndedCount(
                doc["kind"], _where(chain, data), at(doc), day, *_who(doc, rounds), again.pop(_key(chain, doc), 0),
                *_second_person(doc),
            )  # fmt: skip
    return found


def _key(chain: str, doc: Mapping[str, Any]) -> tuple[str, ...]:
    """What names a count from the first time it is made until it ends. One tray or drawer has one at a time."""
    data = doc["data"]
    if "transfer" in data:
        return doc["kind"].partition(".")[0], str(data["transfer"]["serial"])
    for part, number in (("box", "box"), ("move", "move"), ("vault_count", "vault_count")):
        if part in data:
            return part, str(data[part][number])
    return (chain,)


def _second_person(doc: Mapping[str, Any]) -> tuple[int | None, bool]:
    """How often it was counted again, as the event that ends a count says, and whether it was signed off or decided."""
    data = doc["data"]
    match doc["kind"]:
        case "drawer.closed":
            again = data["reconciliation"]["recounted_by"] is not None
            return int(again), again
        case "tray.confirmed":
            return None, False
        case "fill.received" | "credit.received":
            return data["transfer"]["differing_counts"], "approver" in doc
        case "vault.count_signed_off":
            return data["vault_count"]["differing_rounds"], True
    part = data.get("box") or data["move"]
    return part["differing_rounds"], part["decided_by"] is not None


def _take_down(rounds: _Rounds, doc: Mapping[str, Any]) -> None:
    data = doc["data"]
    key = ("box", data["box"]["box"]) if "box" in data else ("move", data["move"]["move"])
    of_one, number = rounds.setdefault(key, {}), data["count"]["round"]
    of_one[number] = (*of_one.get(number, ()), doc["actor"])


def _where(chain: str, data: Mapping[str, Any]) -> str:
    """The place at which a difference is posted: of a transfer the table, whichever end receives it."""
    for part, name in (("transfer", "table"), ("box", "table"), ("move", "drawer")):
        if part in data:
            return str(data[part][name] or VAULT)
    return place(chain) or VAULT


def _who(doc: Mapping[str, Any], rounds: _Rounds) -> tuple[tuple[str, ...], str]:
    """Who counted: of a drawer the cashier, of a tray the dealer, of what was brought who took it in, of the rest the
    two who agreed, or who decided; and who signed it off, witnessed it or took it into the vault."""
    data, approver = doc["data"], doc.get("approver") or ""
    match doc["kind"]:
        case "drawer.closed":
            return (data["reconciliation"]["counted_by"],), approver
        case "tray.confirmed":
            return (data["tray_count"]["counted_by"],), approver
        case "box.received":
            box = data["box"]
            of_box = rounds["box", box["box"]]
            return (box["decided_by"],) if box["decided_by"] else of_box[max(of_box)], box["received_by"]
        case "fill.received" | "credit.received":
            return (doc["actor"],), approver
        case "chips.withdrawn_set_aside":
            move = data["move"]
            if move["decided_by"]:
                return (move["decided_by"],), approver
            # Of what a drawer sets aside one person counts, against what was noted; of deliveries two do.
            before = rounds.get(("move", move["move"]), {}).get(data["count"]["round"], ())
            return (*before, doc["actor"]), approver
    part = data["vault_count"]
    last = max(one["round"] for one in part["counts"])
    counters = tuple(one["by"] for one in part["counts"] if one["round"] == last)
    return (part["decided_by"],) if part["decided_by"] else counters, part["signed_by"]
