"""The sealed register of compliance: cases of suspicion, and notes of every other kind.

Nobody else may learn that there is a case, nor of whom (no tipping off). So every entry is like every other from
outside: a case that is opened, a step of one, a note, and also each look at the register. An event says that there is
an entry, and its hash; the number of a case is that of the entry that began it.

    wrapped = casino/houses/sealing.py(the entry's key of 32 random bytes, "sealed key/NUMBER")
    sealed  = nonce(12) || AES-256-GCM(the entry's key, canonical JSON padded with blanks to a multiple of 4096 bytes,
                                       AAD = "cukassza sealed entry v1/HOUSE/NUMBER")

A case keeps a copy of what is recorded of the person at that moment, so that forgetting the player later takes nothing
from it, and need not be refused for a reason that would say that there is a case.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db.models import Max

from casino.audit.events.evidence import EntryIsSealed
from casino.audit.services import record
from casino.core import aead, canonical, locks, moments, sql, write
from casino.core.commands import Answer, Command, RequestContext
from casino.core.errors import NotFound, Unprocessable
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.evidence import freezing
from casino.evidence.models import SealedEntry
from casino.houses import sealing
from casino.houses.models import House
from casino.players import persons
from casino.players.models import Player

#: Entries are padded to a multiple of so many bytes.
PADDING = 4096
#: The same for an entry into which others were carried, or none.
_CARRIED_PADDING = 65_536
#: Entries that are in memory at a time, sealed.
_CHUNK = 500


class What(StrEnum):
    """What an entry is. Only who can open it knows."""

    CASE = "case"
    STEP = "step"
    NOTE = "note"
    LOOK = "look"
    #: What goes on of entries that have ended, see casino/evidence/expiry.py.
    CARRIED = "carried"


class Step(StrEnum):
    """What a step of a case says."""

    FACTS = "facts"
    DECISION = "decision"
    FILED = "filed"
    SUSPENSION = "suspension"
    FOLLOW_UP = "follow_up"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Opened:
    """An entry that was opened: its number, when it was written, what it says, and the number of the entry in which it
    is now: its own, or that into which it was carried."""

    number: int
    at: datetime
    content: Mapping[str, Any]
    stored: int

    @property
    def what(self) -> str:
        """What it is, see `What`."""
        return str(self.content["what"])


def enter(
    *, command: Command, what: str, text: str, case: int | None, player: str | None, step: str | None,
    hands: Sequence[Mapping[str, str]], entries: Sequence[Mapping[str, Any]], filed_id: str, day: str,
) -> Answer:  # fmt: skip
    """Write into the register: a case (about a player or not, with evidence that is frozen), a step of a case (with
    the id under which it was filed, and a day: of the filing, or until when a transaction is suspended), or a note.

    Raises NotFound for what it names and is not there, Unprocessable sealed_refused for what does not fit together.
    """

    def change(house: House, work: Work) -> Outcome:
        _require_fit(what, case, player, step, bool(hands or entries))
        content: dict[str, Any] = {"what": what, "text": text, "by": command.context.staff.login}
        asking = freezing.reading(house, hands, entries)
        content["evidence"] = freezing.frozen(hands, entries, sql.together(*asking) if asking else [])
        if what == What.CASE:
            content |= {"player": player, "person": None if player is None else _person(house, player)}
        if what == What.STEP:
            content |= {"case": case, "step": step, "filed_id": filed_id, "day": day}
            _require_open(house, case, Step(str(step)))
        row = _append(house, content)
        return Outcome(_event(row), {"entry": row.number}, 201)

    return write.write(command, OfHouse(lock=locks.lock_evidence, office=True), change)


def look(context: RequestContext, at: str, sha256: str = "") -> None:
    """Note in the register that somebody looks at it, before anything is shown: at all of it, or the entry or its file
    that `at` names, with the SHA-256 of a file that is handed out. Raises WrongTerminal."""
    house = context.at_the_office()

    def operation() -> None:
        locks.lock_evidence(house.id)
        row = _append(house, {"what": What.LOOK, "at": at, "by": context.staff.login, "sha256": sha256})
        record(chain=house.chain, house=house, actor=context.actor, event=_event(row))

    locks.in_transaction(operation)


def cases(house: House) -> list[dict[str, Any]]:
    """Every case with its newest step, by number."""
    return [_described(one, steps) for one, steps in _by_case(opened(house)).values()]


def notes(house: House) -> list[dict[str, Any]]:
    """Everything in the register that belongs to no case."""
    return [
        {"entry": one.number, "at": moments.utc(one.at), "by": one.content["by"], "text": one.content["text"]}
        for one in opened(house)
        if one.what == What.NOTE
    ]


def looks(house: House) -> list[dict[str, Any]]:
    """Who has looked at what, for the officer who answers for the register."""
    return [
        {"entry": one.number, "when": moments.utc(one.at), "by": one.content["by"], "looked_at": one.content["at"]}
        for one in opened(house)
        if one.what == What.LOOK
    ]


def whole(house: House, number: int) -> dict[str, Any]:
    """A case with its steps, or a note: the address of an entry says nothing about what it is. Raises NotFound for
    what is neither."""
    entries = opened(house)
    notes_ = [one for one in entries if one.number == number and one.what == What.NOTE]
    one, steps = _by_case(entries).get(number, (notes_[0] if notes_ else None, []))
    if one is None:
        raise NotFound("Nothing has this number.")
    return _described(one, steps) | {
        "what": one.what,
        "text": one.content["text"],
        "person": one.content.get("person"),
        "evidence": one.content["evidence"],
        "steps": [
            {"entry": step.number, "at": moments.utc(step.at)}
            | {name: step.content[name] for name in ("by", "step", "text", "filed_id", "day", "evidence")}
            for step in steps
        ],
    }


def carry(house: House, by: str, going_on: Iterable[Opened]) -> EntryIsSealed:
    """Write these entries once more, as they were, into one; returns what records that. The caller holds the lock of
    evidence."""
    entries = [{"entry": one.number, "at": moments.utc(one.at), "content": one.content} for one in going_on]
    return _event(_append(house, {"what": What.CARRIED, "by": by, "entries": entries}, padding=_CARRIED_PADDING))


def opened(house: House) -> list[Opened]:
    """Every entry of the house, opened, in the order of the numbers; those that were carried as they were."""
    return sorted(_opened(house), key=lambda one: one.number)


# --- Parts ----------------------------------------------------------------------------------------------------------


def _opened(house: House) -> Iterator[Opened]:
    last = 0
    while rows := list(SealedEntry.objects.filter(house=house, number__gt=last).order_by("number")[:_CHUNK]):
        for row in rows:
            key = sealing.unseal(house.id, row.wrapped, _key_context(row.number))
            text = aead.decrypt(key, bytes(row.sealed), _context(house, row.number))
            content = json.loads(text)
            if content["what"] != What.CARRIED:
                yield Opened(row.number, row.at, content, row.number)
            for one in content.get("entries", ()):
                yield Opened(one["entry"], datetime.fromisoformat(one["at"]), one["content"], row.number)
        last = rows[-1].number


def _append(house: House, content: Mapping[str, Any], *, padding: int = PADDING) -> SealedEntry:
    """The next entry; the caller holds the lock of evidence."""
    last = SealedEntry.objects.filter(house=house).aggregate(last=Max("number"))["last"] or 0
    number, key, text = last + 1, aead.new_key(), canonical.dumps(content).encode()
    padded = text.ljust(-(-len(text) // padding) * padding)
    sealed = aead.encrypt(key, padded, _context(house, number))
    wrapped = sealing.seal(house.id, key, _key_context(number))
    digest = hashlib.sha256(wrapped + sealed).hexdigest()
    return SealedEntry.objects.create(
        house=house, number=number, wrapped=wrapped, sealed=sealed, sealed_sha256=digest
    )  # fmt: skip


def _event(row: SealedEntry) -> EntryIsSealed:
    return EntryIsSealed(entry=row.number, sealed_sha256=row.sealed_sha256)


def _key_context(number: int) -> bytes:
    return f"sealed key/{number}".encode()


def _context(house: House, number: int) -> bytes:
    return f"cukassza sealed entry v1/{house.id}/{number}".encode()


def _require_fit(what: str, case: int | None, player: str | None, step: str | None, frozen: bool) -> None:
    fits = {
        What.CASE: case is None and step is None,
        What.STEP: case is not None and step is not None and player is None,
        What.NOTE: case is None and step is None and player is None and not frozen,
    }
    if not fits[What(what)]:
        raise Unprocessable(
            "A case names no other case and no step, a step names a case, a note neither, nor a player or evidence.",
            code="sealed_refused",
        )


def _require_open(house: House, number: int | None, step: Step) -> None:
    """Refuse a step of what is no case. A case that is closed takes what follows up, which opens it again."""
    found = _by_case(opened(house)).get(number or 0)
    if found is None:
        raise NotFound("Nothing has this number.")
    _, steps = found
    if steps and steps[-1].content["step"] == Step.CLOSED and step != Step.FOLLOW_UP:
        raise Unprocessable("It is closed; only a follow-up opens it again.", code="sealed_refused")


def _person(house: House, ref: str) -> dict[str, str] | None:
    """What is recorded of a player now; None where that is nothing, or was forgotten. Raises NotFound."""
    player = Player.objects.filter(house=house, ref=ref).first()
    if player is None:
        raise NotFound(f"This house has no player {ref}.")
    return persons.recorded_now(house, player)


def _by_case(entries: Iterable[Opened]) -> dict[int, tuple[Opened, list[Opened]]]:
    found: dict[int, tuple[Opened, list[Opened]]] = {}
    for one in entries:
        if one.what == What.CASE:
            found[one.number] = one, []
        elif one.what == What.STEP:
            found[one.content["case"]][1].append(one)
    return found


def _described(one: Opened, steps: list[Opened]) -> dict[str, Any]:
    newest = steps[-1].content["step"] if steps else ""
    filed = [step.content["filed_id"] for step in steps if step.content["step"] == Step.FILED]
    suspended = [step.content["day"] for step in steps if step.content["step"] == Step.SUSPENSION]
    return {
        "case": one.number,
        "opened_at": moments.utc(one.at),
        "opened_by": one.content["by"],
        "player": one.content.get("player"),
        "is_open": one.what == What.CASE and newest != Step.CLOSED,
        "newest_step": newest,
        "filed_id": filed[-1] if filed else "",
        "suspended_until": suspended[-1] if suspended else "",
    }
