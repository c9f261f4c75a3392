"""The unit of work of a write: what it posts, what its event is, and the statement that writes all of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, partial
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DatabaseError, transaction
from django.db.models import Model, QuerySet

from casino.approvals import gate
from casino.audit.events import AuditEvent
from casino.audit.events.registry import ApprovedEvent
from casino.audit.services import NOT_OURS, Actor, Receipt, not_ours, require_recordable
from casino.bookkeeping import books, chart
from casino.bookkeeping.postings import Posting
from casino.core import canonical, locks, lost, outbox, patience, sql
from casino.core.commands import Command, SignIn, require_unanswered
from casino.core.errors import Conflict, ProofFailed
from casino.houses.models import House, OutboxMessage


@dataclass(frozen=True, slots=True)
class Unmoved:
    """What lets a write be one statement: a row of SQL that locks the subject of the house `patient.value` and returns
    that, or refuses with MOVED where the subject is no longer at the version that was known, or the request was
    answered before."""

    statement: str
    parameters: Sequence[Any]

    def signed_in(self, sign_in: SignIn) -> "Unmoved":
        """The same, and then proves a sign-in or refuses with SIGNED_OUT."""
        statement = f"staff_still_signed_in({self.statement}, %s::text, %s::text)"
        return Unmoved(statement, [*self.parameters, sign_in.digest, sign_in.rows])


#: SQLSTATE of a function that `Unmoved` names.
MOVED = "KZ905"
#: SQLSTATE of `staff_still_signed_in`.
SIGNED_OUT = "KZ906"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a change: the event that records it, and the members of the answer besides its subject. `after`
    runs when the transaction has committed."""

    event: AuditEvent
    body: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    #: The version of what was written, where the subject itself has none.
    version: int = 1
    once: dict[str, Any] = field(default_factory=dict)
    after: Callable[[], None] | None = None


@dataclass(slots=True)
class Work:
    """The unit of work of one database transaction: what it has posted, and what is still to be written.

    Postings are handed to the ledger together with the event (one round trip), or earlier where their effect is wanted
    (:meth:`flush`). Statements given to :meth:`also` are sent with the event too. Nothing that it has posted may be
    taken back by a savepoint: PostgreSQL refuses an event that records what is not there, and the commit of a posting
    that no event records.
    """

    house: House
    actor: Actor
    using: str = DEFAULT_DB_ALIAS
    #: What is being written; None in a transaction that no request has asked for.
    command: Command | None = None
    _approved: tuple[int, str, list[str]] | None = None
    _posted: list[books.Recorded] = field(default_factory=list)
    _waiting: books.Prepared | None = None
    _also: list[tuple[str, Sequence[Any]]] = field(default_factory=list)
    _proved: dict[int, int] = field(default_factory=dict)
    _messages: list[tuple[str, str]] = field(default_factory=list)
    #: Updates and new rows that go with the next posting or read of this work, or with the event.
    _soon: list[sql.Statement] = field(default_factory=list)
    #: Balances right after the newest posting that was made at once, of the accounts that it moved, by id.
    _left: Mapping[int, int] = field(default_factory=dict)
    #: Ids of what was posted at once, by key.
    _ids: dict[str, int] = field(default_factory=dict)

    def post(
        self, *, key: str, kind: str, postings: Sequence[Posting], metadata: Mapping[str, Any],
        occurred_at: datetime | None = None,
    ) -> None:  # fmt: skip
        """Post one ledger transaction of everything that happened together, with the next event or before a second one.

        `key` is unique in the house: the same key and content again posts nothing.
        """
        if self._waiting is not None:
            self.flush()
        self._waiting = books.prepare(
            self.house, key=key, kind=kind, postings=postings, metadata=metadata, occurred_at=occurred_at
        )

    def also(self, statement: str, parameters: Sequence[Any]) -> None:
        """Send this INSERT or UPDATE with the event. It must not depend on the others' effects, nor return rows; every
        parameter needs a cast (`%s::text`)."""
        self._also.append((statement, parameters))

    def prove(self, balances: Mapping[int, int]) -> None:
        """Let the ledger's accounts, by id, hold exactly these balances after everything is posted, or fail."""
        self._proved |= balances

    def require_approval(self, need: gate.Need) -> None:
        """Go on only with an approval for this, which is used up with this write. Raises what ends the write otherwise:
        it is stored as a new approval, and refused with Conflict approval_required."""
        if self.command is None or self._approved is not None:
            raise AssertionError("an approval belongs to one request, and is asked for once")
        try:
            used = gate.use(self.command.for_approval(), need)
        except (gate.ApprovalNeeded, Conflict):
            # The same request at the same time may have used it, and has its answer then.
            require_unanswered(self.command)
            raise
        if used.decided_by is None:
            raise AssertionError(f"{used} was used and nobody has decided it")
        others = [one.given_by.login for one in used.given() if one.given_by_id != used.decided_by_id]
        self._approved = (used.number, used.decided_by.login, others)

    @property
    def approver(self) -> str:
        """Login of the last person who has approved this, for an event before that of the outcome. Raises
        AssertionError where no approval was used."""
        if self._approved is None:
            raise AssertionError("nobody has approved this")
        return self._approved[1]

    def approved(self, outcome: Outcome) -> Outcome:
        """The outcome with the approval that was used in its event, if there was one."""
        if self._approved is None:
            return outcome
        if not isinstance(outcome.event, ApprovedEvent):
            raise AssertionError(f"{outcome.event.KIND} does not say who approved it")
        return replace(outcome, event=outcome.event.approved(*self._approved))

    def enqueue(self, *, task: str, subject: str) -> None:
        """Write an outbox message with the event, and hint to the broker after the commit."""
        self._messages.append((task, subject))

    def record(
        self, *, chain: str, event: AuditEvent, answer: "AnswerRow | None" = None, unmoved: Unmoved | None = None
    ) -> Receipt:
        """Append the event, which records every posting of this work, and write whatever is still to be written. With
        `unmoved` this is the whole transaction; with an `answer` it is the last of it, and commits.

        Raises what :func:`casino.audit.services.record` raises, the ledger's typed errors, and ProofFailed.
        """
        if self._soon and unmoved is not None:
            raise sql.NotSilentError  # what is remembered of a subject allows one statement alone
        last = answer is not None and unmoved is None and sql.may_commit(self.using)
        if self._soon and not last:
            self.flush()
        require_recordable(chain, self.house, event, self.using, alone=unmoved is not None)
        statement, parameters = self._statement(chain, event, answer, unmoved)
        [(seq, leaf_hash, messages)] = self._run(statement, parameters, last=last)
        for (task, subject), id_ in zip(self._messages, messages or (), strict=True):
            message = OutboxMessage(id=id_, house=self.house, task=task, subject=subject)
            transaction.on_commit(partial(outbox.HINTS.leave, message))
        self._posted, self._waiting, self._also, self._proved, self._messages = [], None, [], {}, []
        return Receipt(chain, seq, leaf_hash)

    def _statement(
        self, chain: str, event: AuditEvent, answer: "AnswerRow | None", unmoved: Unmoved | None
    ) -> tuple[str, list[Any]]:
        before = [statement for statement, _ in self._also]
        parameters: list[Any] = [value for _, values in self._also for value in values]
        actor, waiting, beside = self.actor, self._waiting, event.beside_data
        parameters += [self.house.id, patience.lock_timeout(), *(unmoved.parameters if unmoved else ())]
        parameters += [
            chain, event.KIND, actor.staff, actor.role, actor.terminal, actor.request,
            canonical.dumps(event.data), beside.get("approver"), beside.get("reason"),
            canonical.dumps(self._posted)[1:-1] if self._posted else None,
        ]  # fmt: skip
        parameters += waiting.parameters() if waiting else [None] * books.Prepared.WIDTH
        proved = self._proved
        parameters += [sql.numbers(proved), sql.numbers(proved.values())] if proved else [None, None]
        parameters += [list(part) for part in zip(*self._messages, strict=True)] if self._messages else [None, None]
        parameters += answer.parameters() if answer else [None] * AnswerRow.WIDTH
        return _with(tuple(before), unmoved.statement if unmoved else _OWN_HOUSE), parameters

    def _run(self, statement: str, parameters: list[Any], *, last: bool) -> list[tuple[Any, ...]]:
        try:
            if not last:
                return sql.bound(statement, parameters, self.using)
            locks.committing()
            soon, self._soon = self._soon, []
            found = sql.last(*soon, sql.Bound(statement, parameters), using=self.using)
            lost.commits()
            return found
        except DatabaseError as error:
            state = getattr(error.__cause__, "sqlstate", None)
            diagnosis = getattr(error.__cause__, "diag", None)
            if state == _NOT_PROVED:
                raise ProofFailed(
                    f"The ledger's balances differ from the hand's: {diagnosis.message_detail if diagnosis else ''}. "
                    "Nothing was written.",
                ) from error
            if "function ledger_" in (getattr(diagnosis, "context", None) or ""):
                with books.translated(self.using):
                    raise
            if state == NOT_OURS:
                raise not_ours(self._posted) from error
            raise

    @property
    def has_waiting(self) -> bool:
        """Whether something is to be posted or updated with the event."""
        return self._waiting is not None or bool(self._soon)

    def soon(self, rows: QuerySet[Any, Any] | sql.Bound, **values: Any) -> None:
        """Update these rows, or send this statement, in the same round trip as the next :meth:`flush`, or as the event.
        Nothing else may read or update the rows before."""
        self._soon.append(rows if isinstance(rows, sql.Bound) else sql.updating(rows, **values))

    def insert(self, row: Model) -> None:
        """Insert this row as :meth:`soon` updates others; its id is not known afterwards."""
        self._soon.append(sql.inserting(row, self.using))

    def flush(self, *reads: sql.Statement | QuerySet[Any, Any]) -> list[list[Any]]:
        """Post what waits for the event now, so that the next read sees it; `reads` are run after it in the same round
        trip, and what each has found is returned. Raises the ledger's typed errors."""
        waiting, soon, self._waiting, self._soon = self._waiting, self._soon, None, []
        if waiting is None:
            with books.translated(self.using):
                return sql.together(*soon, *reads)[len(soon) :]
        made, found = books.post_prepared(self.house, waiting, *soon, *reads)
        self._note(waiting.key, made)
        return found[len(soon) :]

    def left(self, code: str) -> int:
        """The balance of a money account of the house in minor units, on its normal side, after what waits for the
        event, which is posted now; read from the ledger only where the newest posting has not moved it. Raises the
        ledger's typed errors."""
        self.flush()
        [account] = chart.ids(self.house, {(code, self.house.currency)}).values()
        return self._left[account] if account in self._left else chart.balances(self.house, [code])[code]

    def balances(self, codes: Iterable[str]) -> dict[str, int]:
        """Balances of the house's money accounts by code after what waits for the event, which is posted now. Raises
        the ledger's typed errors."""
        return chart.balances(self.house, codes, lambda read: self.flush(read)[0])

    def post_now(self, *, key: str, kind: str, postings: Sequence[Posting], metadata: Mapping[str, Any]) -> int:
        """As :meth:`post`, at once; returns the id of the ledger transaction. Raises the ledger's typed errors."""
        self.post(key=key, kind=kind, postings=postings, metadata=metadata)
        self.flush()
        return self.posted(key)

    def posted(self, key: str) -> int:
        """The id of the ledger transaction that this work has posted at once under a key."""
        return self._ids[key]

    def _note(self, key: str, made: books.Made) -> int:
        self._left, self._ids[key] = made.left, made.transaction_id
        return self._noted(made.transaction_id, made.recorded)

    def hold(
        self, *, key: str, kind: str, postings: Sequence[Posting], metadata: Mapping[str, Any], seconds: int
    ) -> datetime:
        """Set aside at once, for so many seconds, what these postings would take: others cannot. Returns until when.
        The event must say so. Raises the ledger's typed errors."""
        self.flush()
        return books.hold(
            self.house,
            books.prepare(self.house, key=key, kind=kind, postings=postings, metadata=metadata),
            seconds=seconds,
        )

    def void_hold(self, key: str) -> str:
        """Let go at once of what was set aside under this key; returns "voided", or "expired" where it had run out."""
        return books.void_hold(self.house, key)

    def reverse_all(self, *, keys: Iterable[str], metadata: Mapping[str, Any]) -> dict[str, int]:
        """Reverse at once what these keys posted, the newest first so that no account is overdrawn.

        Returns the mirrors' ids by the key they undo. Raises the ledger's typed errors.
        """
        self.flush()
        return self._reverse(books.posted_under(self.house, keys), metadata)

    def reverse(self, *, posted: Mapping[str, int], metadata: Mapping[str, Any]) -> dict[str, int]:
        """Reverse at once these ledger transactions, whose ids stand by their keys with the oldest first, as
        :meth:`reverse_all`."""
        self.flush()
        return self._reverse(posted, metadata)

    def _reverse(self, posted: Mapping[str, int], metadata: Mapping[str, Any]) -> dict[str, int]:
        self._left = {}
        newest_first = reversed(list(posted.items()))
        return {key: self._noted(*books.reverse(self.house, key, id_, metadata)) for key, id_ in newest_first}

    def _noted(self, id_: int, posted: books.Recorded | None) -> int:
        """Have the next event record a ledger transaction, unless an earlier event does."""
        if posted is not None:
            self._posted.append(posted)
        return id_


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An answer to be stored; the receipt is added to its text by the database."""

    command: Command
    status: int
    version: int
    text: str

    WIDTH = 6

    def parameters(self) -> list[Any]:
        """In the order of `core_record`."""
        command = self.command
        return [command.context.terminal.id, command.key, command.request_hash, self.status, self.version, self.text]


#: SQLSTATE of `core_record`.
_NOT_PROVED = "KZ904"
_RECORD = (
    "SELECT seq, leaf_hash, messages FROM {patient}, LATERAL {house} AS subject (house),"
    " LATERAL core_record(subject.house,"
    " %s::text, %s::text, %s::text, %s::text, %s::text,"
    " %s::text, %s::text, %s::text, %s::text, %s::text,"
    " %s::text, %s::text, %s::text, %s::timestamptz, %s::text, %s::bigint[], %s::bigint[],"
    " %s::bigint[], %s::bigint[], %s::text[], %s::text[],"
    " %s::bigint, %s::text, %s::text, %s::smallint, %s::bigint, %s::text)"
)
_OWN_HOUSE = "(SELECT patient.value)"


@cache
def _with(before: tuple[str, ...], house: str) -> str:
    """`core_record` with other writes in the same statement: one round trip, one plan. It is called when the row that
    names the house has been found."""
    record = _RECORD.replace("{patient}", patience.PATIENT.format(type="uuid")).replace("{house}", house)
    parts = ", ".join(f"also{number} AS ({statement})" for number, statement in enumerate(before))
    return f"WITH {parts} {record}" if parts else record
