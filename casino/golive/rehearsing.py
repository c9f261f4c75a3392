"""A rehearsal: an evening in a sandbox copy of a house, and what the verification of the copy finds. The result is an
event of the real house, and a row that the checklist asks for.

A worker plays what somebody has asked for (`rehearsals.py`). It has the rehearsal for itself for some minutes, and
longer with every act; one that dies leaves it to the next, which closes the copy that was begun and makes another one.
"""

import contextlib
import logging
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.core.exceptions import ValidationError
from django.db.models import F, QuerySet

from casino.audit.events.house import HouseRehearsed, RehearsalFailed, RehearsalRequested
from casino.audit.services import Actor
from casino.core import leases, locks, lost, outbox
from casino.core.errors import HouseError
from casino.core.leases import Ended
from casino.core.work import Work
from casino.golive import copying, rehearsals, sandboxes
from casino.golive.acting import Cast
from casino.golive.playing import Evening
from casino.houses import days
from casino.houses.models import ClockTimestamp, House, OutboxMessage, Rehearsal, RehearsalRun, RehearsalState
from casino.reports import configuration, selectors
from casino.verification import auditing

log = logging.getLogger(__name__)

#: For how long a worker has a rehearsal for itself after each act, and seconds after which it says so again.
LEASE, EVERY = timedelta(seconds=120), 5.0
#: How often a rehearsal is begun.
TRIES = 3
#: Codes of rehearsals that failed, besides those of refusals.
CHANGED, TOOK_TOO_LONG, GIVEN_UP, INVALID = "house_changed", "took_too_long", "given_up", "copy_refused"
#: Characters that are kept of what went wrong.
MOST_SAID = 300
#: Status from which on a refusal is none of the house's doing, and may be over the next time.
_LATER = 500


class Changed(Exception):
    """The house was changed while it was copied."""


def rehearse(house: House, actor: Actor) -> Rehearsal:
    """Ask for a rehearsal and play it at once: copy the house as it is now, play an evening there, verify the copy, and
    record the result in the house's chain. If it is interrupted, a worker plays it.

    Raises as :func:`casino.golive.rehearsals.ask`, and what keeps the copy from being made, or Changed: then it has
    failed; Ended where somebody has cancelled it meanwhile.
    """

    def operation() -> RehearsalRun:
        locks.lock_places(house.id)
        work = Work(house, actor)
        run = rehearsals.ask(house, work, taken=LEASE)
        work.record(chain=house.chain, event=RehearsalRequested(rehearsal=run.number))
        return run

    run = locks.in_transaction(operation)
    message = OutboxMessage.objects.get(house=house, task=rehearsals.TASK, subject=str(run.number))
    play = _Play(house, run, actor, message.pk)
    try:
        return play.whole()
    except Exception as error:
        code = _code_of(error)
        if code is None:
            leases.leave(play.mine)
        else:
            play.close_copy(play.code)
            play.fail(code)
        raise


def work_off(message_id: int) -> str:
    """Play the rehearsal that an outbox message names; returns its state. Safe to call any number of times."""
    message = OutboxMessage.objects.select_related("house").get(id=message_id)
    house = message.house
    run = rehearsals.find(house, int(message.subject))
    if run.state != RehearsalState.WAITING:
        outbox.done(message_id)
        return str(run.state)
    waiting = RehearsalRun.objects.filter(id=run.pk, state=RehearsalState.WAITING)
    if not leases.take(waiting, LEASE, tries=F("tries") + 1, part_count=0):
        return "taken"
    run.refresh_from_db()
    play = _Play(house, run, Actor.system(f"outbox:{message_id}"), message_id)
    try:
        if run.tries > TRIES:
            play.close_copy(run.sandbox)
            return play.fail(GIVEN_UP)
        play.whole()
    except Ended:
        play.close_copy(play.code)
    except Exception as error:
        code = _code_of(error)
        if code is None and run.tries < TRIES:
            leases.leave(play.mine)
            raise
        if code is None:
            log.exception("rehearsal %s of house %s is given up", run.number, house.code)
        play.close_copy(play.code)
        return play.fail(code or GIVEN_UP)
    return str(rehearsals.find(house, run.number).state)


def _code_of(error: Exception) -> str | None:
    """The code with which a rehearsal fails by this error; None where it may succeed the next time."""
    if isinstance(error, SoftTimeLimitExceeded):
        return TOOK_TOO_LONG
    if isinstance(error, Changed):
        return CHANGED
    if isinstance(error, ValidationError):
        return INVALID
    if isinstance(error, HouseError) and error.status < _LATER:
        return error.code
    return None


class _Play:
    """A rehearsal in the hands of one worker, at one of its tries."""

    def __init__(self, house: House, run: RehearsalRun, actor: Actor, message_id: int) -> None:
        self.house, self.run, self.actor, self.message_id = house, run, actor, message_id
        #: Code of the copy, once it may be there.
        self.code = ""
        self._kept = time.monotonic()

    @property
    def mine(self) -> QuerySet[RehearsalRun]:
        """The row, as long as it waits and nobody else has begun it."""
        return RehearsalRun.objects.filter(id=self.run.pk, state=RehearsalState.WAITING, tries=self.run.tries)

    def whole(self) -> Rehearsal:
        """Copy, play, verify, record. Raises what keeps the copy from being made, Changed, Ended."""
        self.close_copy(self.run.sandbox)
        digest = configuration.digest(self.house)
        code = copying.next_code(self.house.code, rehearsals.MARK)
        leases.keep(self.mine, LEASE, sandbox=code)
        self.code = code
        made = copying.copy(self.house, code, self.actor)
        if configuration.digest(self.house) != digest:
            raise Changed("The house was changed while it was copied.")
        evening = Evening(Cast(made, self._act), configuration.tables_in_use(made.house))
        verified: dict[str, int] = {}
        checks: tuple[tuple[str, Callable[[], None]], ...] = (
            ("verification", lambda: _verify(made.house, verified)),
            ("custody", lambda: _custody(made.house)),
            ("trial_balance", lambda: _balance(made.house, evening.day)),
        )
        items: list[dict[str, Any]] = []
        for name, part in (*evening.parts(), *checks):
            items.append(_item(name, part))
            leases.keep(self.mine, LEASE, part_count=len(items))
        return self._record(digest, items, verified)

    def _act(self) -> None:
        """Called before every act: the rehearsal is still this worker's."""
        if time.monotonic() - self._kept > EVERY:
            leases.keep(self.mine, LEASE)
            self._kept = time.monotonic()

    def _record(self, digest: str, items: list[dict[str, Any]], verified: dict[str, int]) -> Rehearsal:
        passed = not any("failed" in item for item in items)
        event = HouseRehearsed(
            rehearsal=self.run.number, sandbox=self.code, configuration=digest, passed=passed, items=items,
            verified=verified,
        )  # fmt: skip

        def operation() -> Rehearsal:
            locks.lock_places(self.house.id)
            made = Rehearsal.objects.create(
                house=self.house, number=self.run.number, sandbox=self.code, configuration=digest, passed=passed,
                items=items, verified=verified,
            )  # fmt: skip
            self._end(event, state=RehearsalState.PLAYED)
            return made

        return locks.in_transaction(operation)

    def fail(self, code: str) -> str:
        """Note that it could not be played, unless it has ended meanwhile; returns its state."""

        def operation() -> None:
            locks.lock_places(self.house.id)
            self._end(
                RehearsalFailed(rehearsal=self.run.number, failure=code), state=RehearsalState.FAILED, failure=code
            )

        with contextlib.suppress(Ended):
            locks.in_transaction(operation)
        return str(rehearsals.find(self.house, self.run.number).state)

    def _end(self, event: HouseRehearsed | RehearsalFailed, **columns: Any) -> None:
        """End it with its message and this event; the places are locked. Raises Ended where it has ended, or another
        worker has it."""
        if not self.mine.update(ended_at=ClockTimestamp(), worked_until=None, **columns):
            raise Ended
        work = Work(self.house, self.actor)
        work.also(outbox.DONE, [self.message_id])
        work.record(chain=self.house.chain, event=event)

    def close_copy(self, code: str) -> None:
        """Close a copy that was begun and counts for nothing, if it was founded."""
        copy = House.objects.filter(code=code, is_sandbox=True).first() if code else None
        if copy is not None:
            sandboxes.close(copy, self.actor, "its rehearsal was broken off")


class Differs(Exception):
    """A check of the sandbox copy found something."""


def _item(name: str, part: Callable[[], None]) -> dict[str, Any]:
    """The result of one part: whatever stops it is what the rehearsal is there to find, and is recorded."""
    try:
        part()
    except (Ended, SoftTimeLimitExceeded, lost.OutcomeUnknown):
        raise
    except Exception as error:
        if lost.is_lost(error):
            raise
        code = getattr(error, "code", type(error).__name__)
        return {"item": name, "failed": f"{code}: {getattr(error, 'detail', error)}"[:MOST_SAID]}
    return {"item": name}


def _verify(house: House, verified: dict[str, int]) -> None:
    report = auditing.verify_house(house).as_json()
    verified |= report["counts"]
    if not report["ok"]:
        raise Differs(str(report["findings"]))


def _custody(house: House) -> None:
    problems = selectors.custody_problems(house) | selectors.transit_problems(house)
    if problems:
        raise Differs(str(problems))


def _balance(house: House, day: str) -> None:
    """The closing snapshot of the day: debits and credits of every commodity are equal."""
    totals = days.totals(house, day)
    wrong = {commodity: both for commodity, both in totals.items() if both["debit"] != both["credit"]}
    if wrong or not totals:
        raise Differs(str(wrong or "the day has no closing snapshot"))
