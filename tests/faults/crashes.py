"""Connections to the database that are lost at any statement of any write, and what must hold afterwards.

The evening on which every operation of the API is carried out (`tests/casino/examples.py`) is played through a
transport that interrupts each write once: at one exchange between the application and PostgreSQL, in one of the ways of
`Way`. The request is then sent again under the same key, as a client does. A scenario is one write of one evening; its
name is `SEED/STEP`, and the evening of a seed with `only` set to the step is that scenario alone.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NoReturn

import httpx
import psycopg
import pytest
from django.db import DatabaseError, InterfaceError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.pq import TransactionStatus

from casino.core import sql
from casino.core.errors import HouseError
from casino.hands import settlement
from casino.houses.models import OutboxMessage
from casino.staff.models import AnsweredRequest
from tests.casino.contract import assert_promised, operation_of
from tests.casino.examples import Recording
from tests.casino.kit import application

#: What a client is answered that has lost something: nothing was written, or it is not known.
NOTHING, UNKNOWN = "database_unavailable", "outcome_unknown"
#: How often a client sends a request at most.
MOST_ATTEMPTS = 4
#: The point of a scenario is among the first so many exchanges; most writes have fewer than ten.
DEPTHS = (3, 6, 9, 14, 20)


class Way(StrEnum):
    """What happens at an exchange, a statement or a COMMIT with its answer."""

    BEFORE = "the server ends the connection before it"
    AFTER = "the server ends the connection after it"
    UNANSWERED = "it is carried out, and the answer is lost"
    SERIALIZATION = "the server refuses it with 40001"
    DEADLOCK = "the server refuses it with 40P01"
    FULL = "the server refuses it with 53100, its disk is full"


#: SQLSTATE with which the server refuses a statement. It refuses so only within a transaction.
_REFUSALS = {Way.SERIALIZATION: "40001", Way.DEADLOCK: "40P01", Way.FULL: "53100"}
#: Psycopg's names of exchanges that send nothing while there is no transaction.
_SILENT = ("_commit_gen", "_rollback_gen", "_set_autocommit_gen")
#: Refusals after which the house tries again by itself.
_TRIED_AGAIN = frozenset({Way.SERIALIZATION, Way.DEADLOCK})


@dataclass(frozen=True, slots=True)
class Fault:
    """Where a connection is interrupted, counted from 0, and how."""

    point: int
    way: Way


def fault_of(seed: str, step: int) -> Fault:
    """The fault of a scenario."""
    choice = random.Random(f"{seed}/{step}")
    return Fault(choice.randrange(choice.choice(DEPTHS)), choice.choice(list(Way)))


@dataclass
class Wire:
    """The exchanges of the application's connection with the server, one of which is interrupted while a fault is
    armed."""

    passed: int = 0
    hit: bool = False
    _fault: Fault | None = None
    _armed: bool = False

    @contextmanager
    def armed(self, fault: Fault | None) -> Iterator[None]:
        """Count the exchanges inside, and interrupt one of them."""
        self.passed, self.hit, self._fault, self._armed = 0, False, fault, True
        try:
            yield
        finally:
            self._armed = False

    @contextmanager
    def tapped(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
        """Let every exchange of a connection pass here: psycopg makes each through `Connection.wait`."""
        wait = psycopg.Connection.wait

        def passing(there: psycopg.Connection[Any], exchange: Any, *arguments: Any, **options: Any) -> Any:
            def carry_out() -> Any:
                return wait(there, exchange, *arguments, **options)

            mine = self._armed and there is connections["default"].connection
            # Before and after a transaction these send nothing to the server, which can refuse nothing then.
            idle = there.info.transaction_status == TransactionStatus.IDLE
            # Where BEGIN goes with a transaction's first statement, psycopg has autocommit until the end.
            can_refuse = not (idle and (there.autocommit or exchange.__name__ in _SILENT))
            return self._passing(there, carry_out, can_refuse=can_refuse) if mine else carry_out()

        with monkeypatch.context() as patched:
            patched.setattr(psycopg.Connection, "wait", passing)
            patched.setattr(sql, "_piped", self._piping(sql._piped))
            yield self

    def _piping(self, piped: Callable[..., Any]) -> Callable[..., Any]:
        """Statements in one message are one exchange: nothing can be sent between them."""

        def passing(there: BaseDatabaseWrapper, asked: Any) -> Any:
            def carry_out() -> Any:
                armed, self._armed = self._armed, False
                try:
                    return piped(there, asked)
                finally:
                    self._armed = armed

            if not self._armed or there is not connections["default"]:
                return piped(there, asked)
            raw = there.connection
            idle = raw.info.transaction_status == TransactionStatus.IDLE
            with there.wrap_database_errors:
                return self._passing(raw, carry_out, can_refuse=not (idle and raw.autocommit))

        return passing

    def _passing(self, there: psycopg.Connection[Any], carry_out: Callable[[], Any], *, can_refuse: bool) -> Any:
        at, self.passed = self.passed, self.passed + 1
        fault = self._fault
        if fault is None or at != fault.point or (fault.way in _REFUSALS and not can_refuse):
            return carry_out()
        self._armed, self.hit = False, True
        if fault.way in _REFUSALS:
            _refuse(there, _REFUSALS[fault.way])
        if fault.way == Way.BEFORE:
            _end(there)
        answer = carry_out()
        if fault.way == Way.AFTER:
            _end(there)
        if fault.way == Way.UNANSWERED:
            there.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        return answer


def _end(there: psycopg.Connection[Any]) -> None:
    """The server ends a connection, as when it is stopped."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [there.info.backend_pid])


def _refuse(there: psycopg.Connection[Any], state: str) -> NoReturn:
    """The server refuses a statement in this way, so that the transaction cannot go on."""
    there.pgconn.exec_(f"DO $$ BEGIN RAISE SQLSTATE '{state}'; END $$".encode())
    raise psycopg.errors.lookup(state)(f"refused with {state}")


@dataclass
class Scenario:
    """What came of one write."""

    name: str
    operation: str
    fault: Fault
    exchanges: int
    hit: bool
    first: str

    def __str__(self) -> str:
        return f"{self.name} {self.operation}, exchange {self.fault.point}: {self.fault.way}; first answer {self.first}"


@dataclass
class Interrupted(Recording):
    """A house whose writes are interrupted, each once."""

    loses_answers: bool = True
    seed: str = ""
    #: Where not None, only this write is interrupted; else each `every`-th one.
    only: int | None = None
    every: int = 1
    wire: Wire = field(default_factory=Wire)
    scenarios: list[Scenario] = field(default_factory=list)
    #: What does not hold, with its scenario: the evening goes on.
    violations: list[str] = field(default_factory=list)
    _step: int = 0

    def http(self, token: str | None) -> httpx.Client:
        """A client whose writes are interrupted."""
        client = super().http(token)
        client._transport = _Interrupting(self)
        return client

    def settle(self) -> list[str]:
        """Work off the outbox as workers do whose connections are lost."""
        waiting = OutboxMessage.objects.filter(house=self.house, done_at=None).order_by("id")
        return [self._settled(message_id) for message_id in list(waiting.values_list("id", flat=True))]

    def _settled(self, message_id: int) -> str:
        fault, first = self.next_fault(), "settled"
        for attempt in range(MOST_ATTEMPTS):
            try:
                with self.wire.armed(fault if attempt == 0 else None):
                    state = settlement.resolve(message_id)
            except (HouseError, DatabaseError, InterfaceError) as error:
                assert attempt == 0, "only the first attempt is interrupted"
                self.done("settlement", fault, type(error).__name__)
                # As before every task.
                sql.drop_lost_connections()
                continue
            if attempt == 0:
                self.done("settlement", fault, first)
            sql.drop_lost_connections()
            assert settlement.resolve(message_id) == state, "a message that is done is done"
            self.require_whole()
            return state
        raise AssertionError(f"{self.scenarios[-1]}: not settled")

    def next_fault(self) -> Fault | None:
        """The fault of the next write, if it is to have one."""
        step, self._step = self._step, self._step + 1
        chosen = step % self.every == 0 if self.only is None else step == self.only
        return fault_of(self.seed, step) if chosen else None

    def done(self, operation: str, fault: Fault | None, first: str) -> None:
        """Note what the interruption has led to."""
        if fault is not None:
            name = f"{self.seed}/{self._step - 1}"
            self.scenarios.append(Scenario(name, operation, fault, self.wire.passed, self.wire.hit, first))

    def require_whole(self) -> None:
        """The ledger sums to zero, no chain has a gap, and every event of a chain is there."""
        apart = sql.rows(_APART, [str(self.house.id)] * 2)
        gaps = sql.rows(_GAPS, [str(self.house.id)])
        assert (apart, gaps) == ([], []), f"ledger {apart}, chains {gaps}"


#: Commodities whose accounts, or whose entries, do not sum to zero.
_APART = """
SELECT commodity, sum(normal_side * balance) FROM ledger_account WHERE book = %s::uuid
GROUP BY commodity HAVING sum(normal_side * balance) <> 0
UNION ALL
SELECT account.commodity, sum(entry.amount) FROM ledger_entry entry
JOIN ledger_account account ON account.id = entry.account_id
WHERE account.book = %s::uuid GROUP BY account.commodity HAVING sum(entry.amount) <> 0
"""
#: Chains whose events are not numbered from 1 to their head.
_GAPS = """
SELECT head.name, head.seq, count(event.id), max(event.seq) FROM audit_chainhead head
LEFT JOIN audit_event event ON event.chain_id = head.id
WHERE head.house_id = %s::uuid GROUP BY head.id
HAVING count(event.id) <> head.seq OR coalesce(max(event.seq), 0) <> head.seq
"""
#: By request, how many events record something else than the attempt itself.
_RECORDED = """
SELECT doc ->> 'request', count(*) FROM audit_event
WHERE house_id = %s::uuid AND doc ->> 'request' = ANY(%s) AND doc ->> 'kind' NOT LIKE 'attempt.%%'
GROUP BY 1
"""


class _Interrupting(httpx.BaseTransport):
    """Sends every write to the application as often as it takes, and checks what it is answered each time."""

    def __init__(self, kit: Interrupted) -> None:
        self.kit = kit
        self.application = httpx.WSGITransport(app=application(), raise_app_exceptions=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The answer that the client gets in the end."""
        if request.method != "POST":
            return self.application.handle_request(request)
        request.read()
        fault = self.kit.next_fault()
        with self.kit.wire.armed(fault):
            answers = [self._sent(request)]
        operation = operation_of(request.method, request.url.path)
        assert operation is not None
        self.kit.done(operation.id, fault, _words(answers[0]))
        if fault is None:
            return answers[0]
        scenario = str(self.kit.scenarios[-1])
        try:
            self._carried_out(request, answers, fault)
        except AssertionError as error:
            self.kit.violations.append(f"{scenario}: {error}")
        return answers[-1]

    def _carried_out(self, request: httpx.Request, answers: list[httpx.Response], fault: Fault) -> None:
        """Send a request again until it is answered; adds to `answers`. Raises AssertionError where it was not carried
        out once, or not at all."""
        if _is_lost(answers[0]):
            assert self.kit.wire.hit and fault.way not in _TRIED_AGAIN, "a connection that nobody has lost"
            if answers[0].json()["code"] == NOTHING:
                self._require_nothing(request, answers)
        while _is_lost(answers[-1]) and len(answers) < MOST_ATTEMPTS:
            answers.append(self._sent(request))
        self._require_once(request, answers)
        self.kit.require_whole()

    def _sent(self, request: httpx.Request) -> httpx.Response:
        answer = self.application.handle_request(request)
        answer.request = request
        answer.read()
        assert_promised(answer)
        sql.drop_lost_connections()  # what the test asks itself is no request
        return answer

    def _require_nothing(self, request: httpx.Request, answers: list[httpx.Response]) -> None:
        """ "Nothing was changed" is true: no event, and no answer under the key."""
        assert self._recorded(answers) == {}, "something was recorded"
        key = request.headers.get("Idempotency-Key")
        assert not AnsweredRequest.objects.filter(house=self.kit.house, key=key).exists(), "an answer is stored"

    def _require_once(self, request: httpx.Request, answers: list[httpx.Response]) -> None:
        """One of the attempts has written, or none where the write was refused; sent once more, it is answered the
        same."""
        last = answers[-1]
        assert last.status_code < 500, last.text
        if "Idempotency-Key" not in request.headers:
            return
        recorded = len(self._recorded(answers))
        # A refusal of cards leaves an exception on purpose.
        assert recorded == 1 if last.is_success else recorded <= 1, f"recorded {recorded} times"
        if last.is_success:
            again = self._sent(request)
            assert again.headers.get("Idempotency-Replayed") == "true", again.text
            shown_once = last.json().keys() - again.json().keys()
            assert {name: last.json()[name] for name in again.json()} == again.json(), "another answer"
            assert shown_once <= {"key", "uri", "secret", "logins", "terminals"}, shown_once

    def _recorded(self, answers: list[httpx.Response]) -> dict[str, int]:
        requests = [answer.headers["X-Request-Id"] for answer in answers]
        return dict(sql.rows(_RECORDED, [str(self.kit.house.id), requests]))


def _is_lost(answer: httpx.Response) -> bool:
    return answer.status_code == 503 and answer.json()["code"] in (NOTHING, UNKNOWN)


def _words(answer: httpx.Response) -> str:
    return str(answer.status_code) if answer.is_success else f"{answer.status_code} {answer.json()['code']}"


def summary(scenarios: list[Scenario]) -> str:
    """What some scenarios came to, in a line for each way."""
    counts = Counter((one.fault.way, one.first) for one in scenarios if one.hit)
    return "\n".join(f"{count:>6} {way}: {first}" for (way, first), count in sorted(counts.items()))
