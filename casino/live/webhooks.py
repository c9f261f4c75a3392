"""Webhooks: subscribing a destination of the operator to hints, sending some again, ending it.

A webhook is no more than a reader of hints to whom they are brought: its positions are those of a reader
(`casino/live/positions.py`), and what it may know is what the person may know who has subscribed it.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from casino.audit.events.webhooks import WebhookEnded, WebhookReplayed, WebhookSubscribed
from casino.audit.services import Actor
from casino.core import locks, once_live, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.core.moments import utc, utc_or_none
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import ClockTimestamp, House
from casino.live import hints, receivers
from casino.live.models import Webhook, WebhookPosition
from casino.live.rights import Followed, Scope, Sender

#: Webhooks of a house that send at a time, at most.
MOST = 8
#: All chains of a sort.
ALL = {Scope.TABLE: "table/*", Scope.DRAWER: "drawer/*"}
#: Failed attempts of a chain after which it is an alarm: in about a minute.
ALARMING = 6
_WEBHOOKS = OfHouse(lock=locks.lock_webhooks, office=True)


class Ended(StrEnum):
    """Why the house ends a webhook."""

    GONE = receivers.GONE
    LEFT = "subscriber_left"
    MAY_NOT = "subscriber_may_not_follow"


def subscribe(*, command: Command, destination: str, chains: Sequence[str], reason: str) -> Answer:
    """Send hints of these chains to a destination, from what is recorded next on.

    Raises Unprocessable unknown_destination, NotFound for an unknown chain, Conflict too_many_webhooks,
    approval_required once the house is live.
    """

    def change(house: House, work: Work) -> Outcome:
        known = receivers.names(house.code)
        if destination not in known:
            raise Unprocessable(f"No such webhook is set up: {destination}.", code="unknown_destination", choices=known)
        last, going = _counted(house)
        if going >= MOST:
            raise Conflict(f"A house has {MOST} webhooks at most; end one.", code="too_many_webhooks")
        named = list(dict.fromkeys(chains))
        heads = {one.name: one for one in hints.heads([house.id], [])}
        for name in named:
            if name not in heads and name not in ALL.values():
                raise NotFound(f"There is no chain {name}.")
        once_live.require_approval(house, work, once_live.SETTINGS)
        row = Webhook.objects.create(
            house=house, number=last + 1, destination=destination, chains=named,
            subscribed_by=command.context.staff, approval=command.approval if once_live.is_live(house) else None,
        )  # fmt: skip
        begun = [
            WebhookPosition(house=house, webhook=row, chain=one.name, position=one.seq)
            for one in heads.values()
            if covers(named, one.name)
        ]
        WebhookPosition.objects.bulk_create(begun)
        row.refresh_from_db()
        event = WebhookSubscribed(webhook=row.number, destination=destination, chains=named, reason=reason)
        return Outcome(event, describe(row, begun), 201)

    return write.write(command, _WEBHOOKS, change)


def replay(*, command: Command, number: int, chain: str, after: int, reason: str) -> Answer:
    """Send the hints of a chain again that follow a number.

    Raises NotFound, Conflict webhook_ended, Unprocessable replay_ahead where the receiver has not come so far.
    """

    def change(house: House, work: Work) -> Outcome:
        row = _going(house, number)
        try:
            position = locks.lock(WebhookPosition, locks.Rank.SERIAL, webhook=row, chain=chain)
        except NotFound as absent:
            raise NotFound(f"Webhook {number} has sent nothing of {chain}.") from absent
        if after > position.position:
            raise Unprocessable(
                f"{position.position} is the last number of {chain} that was taken; what follows is sent anyway.",
                code="replay_ahead", position=position.position,
            )  # fmt: skip
        # What is being sent now ends first: `worked_until` stays.
        found = WebhookPosition.objects.filter(id=position.pk)
        found.update(position=after, until=None, attempts=0, problem="", failing_since=None, next_at=ClockTimestamp())
        event = WebhookReplayed(webhook=number, chain=chain, after=after, position=position.position, reason=reason)
        return Outcome(event, describe(row, row.positions.order_by("chain")))

    return write.write(command, _WEBHOOKS, change)


def end(*, command: Command, number: int, reason: str) -> Answer:
    """Send nothing any more. Raises NotFound, Conflict webhook_ended."""

    def change(house: House, work: Work) -> Outcome:
        row = _going(house, number)
        _of(row).update(ended_at=ClockTimestamp())
        row.refresh_from_db()
        event = WebhookEnded(webhook=number, reason=reason)
        return Outcome(event, describe(row, row.positions.order_by("chain")))

    return write.write(command, _WEBHOOKS, change)


def end_by_house(row: Webhook, why: Ended) -> bool:
    """End one that must not go on; whether it went on until now. Raises LogRefused."""

    def operation() -> bool:
        locks.lock_webhooks(row.house_id)
        if not _of(row).update(ended_at=ClockTimestamp(), problem=why):
            return False
        event = WebhookEnded(webhook=row.number, problem=str(why))
        Work(row.house, Actor.system("clock:webhooks")).record(chain=row.house.chain, event=event)
        return True

    return locks.in_transaction(operation)


def sender_of(row: Webhook) -> Sender:
    """What the person may follow who has subscribed it."""
    return Sender(row.subscribed_by.roles, kind="", location="", house=row.house_id)


def lost(row: Webhook) -> Ended | None:
    """Why one must not go on; None while it may."""
    person = row.subscribed_by
    # A login that waits for its owner's new password is still that of a person who works here.
    if not person.is_active and not person.locked_by_password:
        return Ended.LEFT
    return None if sender_of(row).may_follow(Followed(Scope.HOUSE)) else Ended.MAY_NOT


def covers(chains: Sequence[str], name: str) -> bool:
    """Whether a chain of this name is among those of a webhook."""
    return name in chains or f"{name.partition('/')[0]}/*" in chains


def describe(row: Webhook, positions: "Sequence[WebhookPosition] | QuerySet[WebhookPosition]") -> dict[str, Any]:
    """A webhook as answers have it."""
    return {
        "webhook": row.number,
        "destination": row.destination,
        "chains": row.chains,
        "subscribed_by": row.subscribed_by.login,
        "subscribed_at": utc(row.subscribed_at),
        "approval": row.approval,
        "ended_at": utc_or_none(row.ended_at),
        "problem": row.problem,
        "positions": [_described(one) for one in positions],
    }


def described(house: House, rows: Iterable[Webhook]) -> list[dict[str, Any]]:
    """Webhooks of a house as the list has them: with what waits of each chain, and how many keys sign. Raises
    ImproperlyConfigured."""
    heads = {one.name: one.seq for one in hints.heads([house.id], [])}
    keys = receivers.key_counts(house.code)
    found = [describe(row, row.positions.order_by("chain")) for row in rows]
    for one in found:
        one["key_count"] = keys.get(one["destination"], 0)
        one["positions"] = [each | {"waiting": heads[each["chain"]] - each["position"]} for each in one["positions"]]
    return found


def _described(one: WebhookPosition) -> Mapping[str, Any]:
    return {
        "chain": one.chain,
        "position": one.position,
        "attempts": one.attempts,
        "problem": one.problem,
        "failing_since": utc_or_none(one.failing_since),
        "sent_at": utc_or_none(one.sent_at),
        "next_at": utc(one.next_at) if one.attempts else None,
    }


def _going(house: House, number: int) -> Webhook:
    """One that sends. Raises NotFound, Conflict webhook_ended."""
    row = Webhook.objects.filter(house=house, number=number).select_related("subscribed_by").first()
    if row is None:
        raise NotFound(f"There is no webhook {number}.")
    if row.ended_at is not None:
        raise Conflict(f"Webhook {number} has ended.", code="webhook_ended")
    return row


def _of(row: Webhook) -> QuerySet[Webhook]:
    return Webhook.objects.filter(id=row.pk, ended_at=None)


def _counted(house: House) -> tuple[int, int]:
    """The last number, and how many send."""
    found = Webhook.objects.filter(house=house).aggregate(
        last=Max("number"), going=Count("id", filter=Q(ended_at=None))
    )
    return found["last"] or 0, found["going"]
