"""The one way to write.

A write names its subject (a table, a drawer, a person ...), its change and its event; `write` does the rest in one
transaction: the subject is locked in the one order and read fresh, terminal and version are checked, the change decides
and posts, and then one statement writes all that is left to write: postings, audit event, outbox, and the answer under
its Idempotency-Key. The same request again gets the stored answer and changes nothing; the same key with another
request is refused. A refused write rolls back whole and leaves no trace under its key, so it may be tried again.

What a transaction has posted is carried in its :class:`Work`, which is passed along. A change that a control point of
the house holds back says so with :meth:`Work.require_approval`: it goes through with an approval, once.
"""

from collections.abc import Callable
from typing import TypeVar

from django.db import DatabaseError, IntegrityError, InterfaceError, connection, transaction

from casino.approvals import gate
from casino.audit.services import Receipt
from casino.core import locks, lost, patience, sql, tracing
from casino.core.commands import Answer, AnsweredBefore, Command, Unproved, stored_for, text_of
from casino.core.subjects import Remembered, Subject
from casino.core.work import MOVED, SIGNED_OUT, AnswerRow, Outcome, Unmoved, Work

T = TypeVar("T")


def write(command: Command, subject: Subject[T] | Remembered[T], change: Callable[[T, Work], Outcome]) -> Answer:
    """Carry out a write once under its Idempotency-Key.

    `change` decides over what it is given and may be called twice. Raises IdempotencyKeyReused when the key was used
    for another request, Busy for a lock that was not free in time, and what subject and change refuse with; Conflict
    approval_required where a control point holds it back; Unproved where a remembered sign-in has to be read again
    first.
    """

    def attempt() -> Answer:
        return _changed(command, subject, change, subject.open(command))

    with patience.of_terminal(command.context.terminal.id), patience.typed():
        if not command.again and (remembered := getattr(subject, "remembered", None)) is not None:
            with tracing.part("write in one statement") as part:
                answer = _in_one_statement(command, subject, change, remembered)
                part.note(done=answer is not None)
            if answer is not None:
                return answer
        if command.context.sign_in is not None:
            raise Unproved
        try:
            return _once(command, attempt)
        except gate.ApprovalNeeded as held:
            # Nothing of it is written; what is stored now is that it waits for a second person.
            raise gate.ask(command.for_approval(), held.need) from None


def _changed(
    command: Command, subject: Subject[T], change: Callable[[T, Work], Outcome], found: T,
    unmoved: Unmoved | None = None, decided: Callable[[], None] = lambda: None,
) -> Answer:  # fmt: skip
    """Let the change decide, and write everything; `decided` is called between the two."""
    work = Work(command.context.house, command.context.actor, command=command)
    outcome = work.approved(change(found, work))
    version, event = subject.advance(found, work, outcome)
    chain = subject.chain(found)
    text = text_of(subject.answer(found, outcome))
    decided()
    row = AnswerRow(command, outcome.status, version, text)
    receipt = work.record(chain=chain, event=event, answer=row, unmoved=unmoved)
    if outcome.after is not None:
        transaction.on_commit(outcome.after)
    return Answer(_with_receipt(text, receipt), version, outcome.status, once=outcome.once)


def _in_one_statement(
    command: Command, subject: Subject[T], change: Callable[[T, Work], Outcome],
    remembered: Callable[[Command], tuple[T, Unmoved] | None],
) -> Answer | None:  # fmt: skip
    """Decide by what this process remembers of the subject, then lock it, see that it is still at that version, and
    write: one statement, which is its own transaction. None where that is not possible, because nothing is remembered,
    the subject has moved on, or the change needs the database or refuses: then what is read under the lock decides.
    """
    if connection.in_atomic_block:
        return None
    with sql.Silence() as silence:
        try:
            if (known := remembered(command)) is None:
                return None
            found, unmoved = known
            if (sign_in := command.context.sign_in) is not None:
                unmoved = unmoved.signed_in(sign_in)
            answer = _changed(command, subject, change, found, unmoved, silence.end)
            lost.commits()
            return answer
        except sql.NotSilentError:
            pass
        except (DatabaseError, InterfaceError) as error:
            if silence.may_have_sent and lost.is_lost(error):
                raise lost.OutcomeUnknown from error
            state = getattr(error.__cause__, "sqlstate", None)
            if not (state in (MOVED, SIGNED_OUT) or state in locks.RETRYABLE or _is_answered(error)):
                raise
        except Exception:
            if silence.ended:
                raise
        # Nothing has been written. The change is called again under the lock, and decides or refuses.
        return None


def _with_receipt(text: str, receipt: Receipt) -> str:
    """An answer's text with its receipt as the last member, exactly as `core_record` stores it."""
    return f'{text[:-1]},"audit":{text_of(receipt.as_json())}}}'


def _once(command: Command, attempt: Callable[[], Answer]) -> Answer:
    """Run an attempt in a transaction; where the same key was answered before, or meanwhile, return that answer."""
    try:
        return locks.in_transaction(attempt)
    except AnsweredBefore as found:
        return found.stored.replayed_for(command)
    except IntegrityError as error:
        if not _is_answered(error):
            raise
        # The same key, at the same time, at another subject: that one came first, and its answer is there now.
        return stored_for(command).replayed_for(command)


def _is_answered(error: Exception) -> bool:
    """Whether a statement failed because the same key has been answered meanwhile."""
    return getattr(getattr(error.__cause__, "diag", None), "constraint_name", None) == "answered_request_key"
