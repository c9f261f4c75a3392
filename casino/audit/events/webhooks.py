"""Webhooks: hints of what has happened, sent to destinations of the operator."""

from collections.abc import Sequence
from typing import Annotated

from casino.audit.events.fields import Reason
from casino.audit.events.registry import ApprovedEvent, AuditEvent, event

Number = Annotated[int, "number of the webhook, from 1"]


@event("webhook.subscribed", chain="house")
class WebhookSubscribed(ApprovedEvent):
    """Hints of some chains are sent to a destination from now on."""

    webhook: Number
    destination: Annotated[str, "name of the destination"]
    chains: Annotated[Sequence[str], "names of chains, `table/T1`, and of all chains of a sort, `table/*`"]
    reason: Reason


@event("webhook.replayed", chain="house")
class WebhookReplayed(AuditEvent):
    """The hints of a chain are sent again."""

    webhook: Number
    chain: Annotated[str, "name of the chain that is sent again"]
    after: Annotated[int, "number of the event after which they begin; 0: with the first"]
    position: Annotated[int, "number of the last event whose hint the receiver had taken"]
    reason: Reason


@event("webhook.ended", chain="house")
class WebhookEnded(AuditEvent):
    """Nothing is sent any more."""

    webhook: Number
    problem: Annotated[
        str | None,
        "why the house has ended it: `receiver_gone` (answered 410), `subscriber_left` or `subscriber_may_not_follow`; "
        "absent: a person has",
    ] = None
    reason: Annotated[Reason | None, "the reason given; absent where the house has ended it"] = None
