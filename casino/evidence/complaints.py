"""Complaints: each has a number, evidence that is frozen at once, an answer that is due, and an end.

What was written is sealed under a data key of the house, for it may name anybody; events have its hash. While a
complaint is open, a legal hold keeps its evidence.

    sealed = casino/houses/sealing.py(text padded with blanks to a multiple of 256 bytes, "complaint/NUMBER/STEP")
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from casino.audit.events import AuditEvent
from casino.audit.events.evidence import ComplaintAnswered, ComplaintClosed, ComplaintEscalated, ComplaintOpened
from casino.core import locks, moments, sql, write
from casino.core.commands import Answer, Command, RequestContext
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.evidence import freezing, holds
from casino.evidence.models import WITHOUT_ANSWER, Complaint, ComplaintKind, ComplaintState, ComplaintText, HoldScope
from casino.evidence.models import Outcome as End
from casino.evidence.subjects import opened
from casino.houses import control_points, sealing
from casino.houses.models import ClockTimestamp, House
from casino.players.models import Player
from casino.players.persons import require_away_from_tables

#: Texts are padded to a multiple of so many bytes.
PADDING = 256
#: Days after which a complaint is not taken as one that has just reached the house.
OLDEST = 366
_NAMED = ("player", "opened_by", "answered_by", "escalated_by", "ended_by")


def open_complaint(
    *, command: Command, kind: str, player: str | None, arrived_at: datetime | None, text: str,
    hands: Sequence[Mapping[str, str]], entries: Sequence[Mapping[str, Any]],
) -> Answer:  # fmt: skip
    """Open a complaint of a player, or of somebody without a reference, which reached the house at `arrived_at` (None:
    now), and freeze its evidence. Raises NotFound, Unprocessable complaint_time, WrongTerminal at a table."""

    def change(house: House, work: Work) -> Outcome:
        require_away_from_tables(command.context)
        [(now,)], known, points, last, last_hold, *found = sql.together(
            sql.DATABASE_TIME,
            Player.objects.filter(house=house, ref=player or ""),
            control_points.reading(house),
            Complaint.objects.filter(house=house).order_by("-number").values_list("number", flat=True)[:1],
            holds.last_number(house),
            *freezing.reading(house, hands, entries),
        )
        control_points.read(house, points)
        arrived, evidence = _arrived(arrived_at, now), freezing.frozen(hands, entries, found)
        if player is not None and not known:
            raise NotFound(f"This house has no player {player}.")
        due = arrived + timedelta(days=control_points.in_force(house).complaint_answer_days)
        row = Complaint.objects.create(
            house=house, number=next(iter(last), 0) + 1, kind=kind, player=next(iter(known), None), arrived_at=arrived,
            due_at=due, evidence=evidence, opened_by=command.context.staff, opened_at=now,
        )  # fmt: skip
        hold = holds.add(
            house, HoldScope.COMPLAINT, next(iter(last_hold), 0), reason=f"complaint {row.number}",
            by=command.context.staff, complaint=row,
        )  # fmt: skip
        event = ComplaintOpened(
            complaint=row.number, complaint_kind=ComplaintKind(kind), player=player, arrived=moments.utc(arrived),
            due=moments.utc(due), evidence=evidence, text_sha256=_seal(row, ComplaintState.OPEN, text),
            legal_hold=hold.number,
        )  # fmt: skip
        return Outcome(event, {"complaint": describe(row)}, 201, version=row.version)

    return write.write(command, OfHouse(lock=locks.lock_evidence), change)


def answer(*, command: Command, number: int, text: str) -> Answer:
    """Answer a complaint that is open. Raises NotFound, VersionConflict, Conflict complaint_state."""

    def change(row: Complaint, work: Work) -> Outcome:
        _require(row, ComplaintState.OPEN)
        sealed = _seal(row, ComplaintState.ANSWERED, text)
        _step(row, ComplaintState.ANSWERED, work, answered_by=command.context.staff, answered_at=ClockTimestamp())
        return Outcome(ComplaintAnswered(complaint=number, text_sha256=sealed))

    return write.write(command, OfComplaint(number), change)


def escalate(*, command: Command, number: int, adr: str, text: str) -> Answer:
    """Note that a complaint has gone to a body for alternative dispute resolution. Raises as `answer`."""

    def change(row: Complaint, work: Work) -> Outcome:
        _require(row, ComplaintState.OPEN, ComplaintState.ANSWERED)
        sealed = _seal(row, ComplaintState.ESCALATED, text)
        _step(
            row, ComplaintState.ESCALATED, work, adr=adr, escalated_by=command.context.staff,
            escalated_at=ClockTimestamp(),
        )  # fmt: skip
        return Outcome(ComplaintEscalated(complaint=number, adr=adr, text_sha256=sealed))

    return write.write(command, OfComplaint(number), change)


def close(*, command: Command, number: int, outcome: str, text: str) -> Answer:
    """End a complaint, and its legal hold with it. Raises as `answer`; Conflict complaint_not_answered for one that
    nobody has answered and that was neither settled nor withdrawn."""

    def change(row: Complaint, work: Work) -> Outcome:
        _require(row, ComplaintState.OPEN, ComplaintState.ANSWERED, ComplaintState.ESCALATED)
        if row.answered_at is None and row.escalated_at is None and outcome not in WITHOUT_ANSWER:
            raise Conflict(f"Complaint {number} was not answered.", code="complaint_not_answered")
        sealed = _seal(row, ComplaintState.CLOSED, text)
        _step(
            row, ComplaintState.CLOSED, work, outcome=outcome, ended_by=command.context.staff,
            ended_at=ClockTimestamp(),
        )  # fmt: skip
        hold = holds.end_of_complaint(row, command.context.staff, work)
        return Outcome(
            ComplaintClosed(complaint=number, outcome=End(outcome), text_sha256=sealed, legal_hold=hold.number)
        )

    return write.write(command, OfComplaint(number), change)


@dataclass(frozen=True, slots=True)
class OfComplaint:
    """A complaint as the subject of its next step."""

    number: int

    def open(self, command: Command) -> Complaint:
        """Keep others from changing complaints. Raises NotFound, VersionConflict, WrongTerminal."""
        require_away_from_tables(command.context)
        return opened(command, Complaint, self.number, *_NAMED)

    def chain(self, row: Complaint) -> str:
        """The house's."""
        return row.house.chain

    def advance(self, row: Complaint, work: Work, outcome: Outcome) -> tuple[int, AuditEvent]:
        """One more with every step."""
        return row.version + 1, outcome.event

    def answer(self, row: Complaint, outcome: Outcome) -> Mapping[str, Any]:
        """The complaint as it is now, without its texts."""
        [[now]] = sql.together(Complaint.objects.filter(id=row.pk).select_related(*_NAMED))
        return {"complaint": describe(now)}


def read(*, context: RequestContext, number: int) -> dict[str, Any]:
    """A complaint with its texts. Raises NotFound, WrongTerminal at a table."""
    require_away_from_tables(context)
    row = Complaint.objects.filter(house=context.house, number=number).select_related(*_NAMED).first()
    if row is None:
        raise NotFound(f"This house has no complaint {number}.")
    return describe(row) | {"texts": [{"state": step, "text": text} for step, text in texts(row).items()]}


def texts(row: Complaint) -> dict[str, str]:
    """What was written with each step of a complaint, in the order of the steps. Who asks records the read."""
    found = {one.step: _unseal(row, one) for one in ComplaintText.objects.filter(complaint=row)}
    return {step: found[step] for step in ComplaintState.values if step in found}


def describe(row: Complaint) -> dict[str, Any]:
    """A complaint as answers have it, without its texts."""
    return {
        "number": row.number,
        "version": row.version,
        "kind": row.kind,
        "player": row.player.ref if row.player else None,
        "received_at": moments.utc(row.arrived_at),
        "due_at": moments.utc(row.due_at),
        "evidence": row.evidence,
        "state": row.state,
        "opened_by": row.opened_by.login,
        "opened_at": moments.utc(row.opened_at),
        "answered_by": row.answered_by.login if row.answered_by else None,
        "answered_at": moments.utc_or_none(row.answered_at),
        "adr": row.adr,
        "escalated_by": row.escalated_by.login if row.escalated_by else None,
        "escalated_at": moments.utc_or_none(row.escalated_at),
        "outcome": row.outcome,
        "ended_by": row.ended_by.login if row.ended_by else None,
        "ended_at": moments.utc_or_none(row.ended_at),
    }


# --- Parts ----------------------------------------------------------------------------------------------------------


def _arrived(asked: datetime | None, now: datetime) -> datetime:
    if asked is not None and not now - timedelta(days=OLDEST) <= asked <= now:
        raise Unprocessable(
            f"A complaint was received within the last {OLDEST} days, and not in the future.", code="complaint_time"
        )
    return asked or now


def _require(row: Complaint, *states: ComplaintState) -> None:
    if row.state not in states:
        raise Conflict(f"Complaint {row.number} is {row.state}.", code="complaint_state", state=row.state)


def _step(row: Complaint, state: ComplaintState, work: Work, **columns: Any) -> None:
    """The next state, written before the answer reads it."""
    work.soon(Complaint.objects.filter(id=row.pk), state=state, **columns)
    work.flush()


def _seal(row: Complaint, step: ComplaintState, text: str) -> str:
    """Keep what was written with a step; returns its hash."""
    written = text.encode()
    padded = written.ljust(-(-len(written) // PADDING) * PADDING)
    sealed = sealing.seal(row.house_id, padded, _context(row, step))
    digest = hashlib.sha256(sealed).hexdigest()
    ComplaintText.objects.create(house_id=row.house_id, complaint=row, step=step, sealed=sealed, sealed_sha256=digest)
    return digest


def _unseal(row: Complaint, text: ComplaintText) -> str:
    return sealing.unseal(row.house_id, text.sealed, _context(row, text.step)).decode().rstrip(" ")


def _context(row: Complaint, step: str) -> bytes:
    return f"complaint/{row.number}/{step}".encode()
