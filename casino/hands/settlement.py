"""Settling an ended hand: replay everything, compare, post once.

The worker trusts only the inputs and the log: it replays them through the engine and compares digest and result with
those stored at the end. Only then does it post award, tax, bonus, carry and points, in one transaction under the hand's
own key, so that neither a task delivered twice nor two workers at once settle twice. A hand that leaves nothing to move
is settled without a transaction, and one whose bonus needs a second person waits for that (`bonus`).
"""

import logging
from collections.abc import Sequence

from casino.audit.events.hands import HandDisputed, HandSettled, SettlementFailed
from casino.audit.services import Actor
from casino.bookkeeping.postings import moved_anything
from casino.core import locks, outbox, patience, sql
from casino.core.errors import NotFound
from casino.core.work import Work
from casino.hands import bonus, deals, disputes, face_down, postings, replays, selectors
from casino.hands.face_down import CardsAltered
from casino.hands.models import Hand, HandState
from casino.hands.snapshot import HandSnapshot
from casino.houses.models import House
from casino.tables import services as tables
from casino.tables.models import Table, TableState

log = logging.getLogger(__name__)

#: States in which a hand waits for the worker.
SETTLED_FROM = (HandState.ENDED, HandState.APPROVED)


def resolve(message_id: int) -> str:
    """Work off one outbox message; returns the hand's state after it. Safe to call any number of times."""

    def operation() -> str:
        hand, lines = _locked(message_id)
        work = Work(hand.house, Actor.system(f"outbox:{message_id}"))
        if hand.state in SETTLED_FROM:
            work.also(outbox.DONE, [message_id])
            _settle_or_dispute(hand, lines, work)
        else:
            outbox.done(message_id)
        return str(hand.state)

    return locks.in_transaction(operation)


def failed(message_id: int, error: Exception) -> None:
    """Keep with the message why its hand could not be settled, and record it when it is something new. A message that
    names no hand of its house has no table, in whose chain that could stand."""

    def operation() -> None:
        message = outbox.failed(message_id, type(error).__name__, str(error))
        if message is None:
            return
        named = Hand.objects.select_related("table", "house").filter(house=message.house_id, id=message.subject)
        for hand in named:
            # Its class alone: the words of an error may be anything, and events are kept for good.
            work = Work(hand.house, Actor.system(f"outbox:{message.id}"))
            event = SettlementFailed(hand=hand.name, problem=type(error).__name__)
            work.record(chain=hand.table.chain, event=event)

    locks.in_transaction(operation)


_TO_SETTLE = f"""
SELECT {sql.columns(House, "(house)")}, {sql.columns(Table, "(seat_table)")}, {sql.columns(Hand, "(hand)")}, log
FROM {patience.PATIENT.format(type="bigint")}, LATERAL hands_to_settle(patient.value)
"""  # noqa: S608 - the names come from the models

_FINISHED = """
UPDATE hands_hand
SET state = %s::text, settlement = %s::bigint,
    settled_at = CASE WHEN %s::boolean THEN clock_timestamp() END,
    disputed_at = CASE WHEN %s::boolean THEN clock_timestamp() END
WHERE id = %s::bigint
"""


def _locked(message_id: int) -> tuple[Hand, list[str]]:
    """The hand of an outbox message, locked with its table, and its log as it is stored. Raises NotFound."""
    locks.taken(locks.Rank.DESK, "the table of a hand")
    locks.taken(locks.Rank.HAND, "a hand to be settled")
    [row] = sql.bound(_TO_SETTLE, [message_id, patience.lock_timeout()])
    if row[0] is None:
        raise NotFound(f"Outbox message {message_id} names no hand.")
    house, table, hand, lines = sql.parts(row, House, Table, Hand)
    table.house = hand.house = house
    hand.table = table
    return hand, lines


def _settle_or_dispute(hand: Hand, stored: Sequence[str], work: Work) -> None:
    try:
        replayed = replays.follow(hand, face_down.log(hand, stored))
    except CardsAltered as altered:
        _dispute(hand, altered.problem, work)
        return
    mismatch = compare(hand, replayed)
    if mismatch is not None:
        _dispute(hand, mismatch, work)
        return
    if bonus.is_held(hand):
        bonus.hold(hand, work)
        return
    settlement = _pay(hand, replayed, work)
    _finish(hand, HandState.SETTLED, TableState.OPEN, settlement, work)
    event = HandSettled(
        hand=hand.name,
        result=hand.result or {},
        digest=hand.digest,
        settlement=settlement,
        table_version=hand.table.version,
    )
    work.record(chain=hand.table.chain, event=event)


def _pay(hand: Hand, replayed: replays.Replay, work: Work) -> int | None:
    """Post what has waited for the settlement; returns the ledger transaction, None where nothing moves."""
    paid = postings.events(hand, replayed.waiting, fees=postings.fees(hand))
    if not moved_anything(paid):
        return None
    return work.post_now(
        key=postings.key(hand, "settlement"),
        kind="hand.settled",
        postings=paid,
        metadata={"hand": hand.name, "digest": hand.digest},
    )


def compare(hand: Hand | HandSnapshot, replayed: replays.Replay) -> str | None:
    """Whether a replayed hand is the stored one: None, or the first difference in words."""
    game = replayed.game
    if game is None or replayed.error is not None:
        return replayed.refusal
    if game.result is None:
        return "the log ends before the hand does"
    found, stored = selectors.stored_result(game.result), hand.result or {}
    if found != stored:
        for name in found | stored:
            if found.get(name) != stored.get(name):
                return f"{name} is {found.get(name)} by replay and {stored.get(name)} as stored"
    if deals.salted_digest(hand, game) != hand.digest:
        return "the digest of the final state is another"
    return None


def _dispute(hand: Hand, reason: str, work: Work) -> None:
    """Freeze the pot and the bank of the seats, if they are not empty. Nothing is paid until the floor rules, and the
    next hand cannot be dealt."""
    log.error("hand %s is disputed: %s", hand.name, reason)
    amount = disputes.freeze(hand, reason, work)
    _finish(hand, HandState.DISPUTED, TableState.DISPUTED, None, work)
    event = HandDisputed(hand=hand.name, frozen=amount, reason=reason, table_version=hand.table.version)
    work.record(chain=hand.table.chain, event=event)


def _finish(hand: Hand, state: HandState, table_state: TableState, settlement: int | None, work: Work) -> None:
    hand.state = state
    hand.settlement = settlement
    ends = [state == HandState.SETTLED, state == HandState.DISPUTED]
    work.also(_FINISHED, [state, settlement, *ends, hand.id])
    tables.to_state(hand.table, table_state)
    tables.advance(hand.table, work)
