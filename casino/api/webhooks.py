"""Webhooks: hints of changes that are sent to destinations of the operator."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.operations import (
    ReadOperation,
    Reason,
    ReasonInput,
    StrictInput,
    StrictInteger,
    StrictPattern,
    WriteOperation,
    context_of,
    documented,
    known_parameters,
)
from casino.api.parts import number_of
from casino.api.tables import ReceiptOut
from casino.core.commands import Answer, Command
from casino.live import receivers, webhooks
from casino.live.models import Webhook
from casino.staff.models import Role

TAG = "webhooks"
_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}\Z"
_CHAIN = r"^(table|drawer|house)/[A-Za-z0-9_-]{1,40}\Z"
_CHAINS = r"^((table|drawer|house)/[A-Za-z0-9_-]{1,40}|(table|drawer)/\*)\Z"
#: Chains that a webhook names at most.
_MOST = 100


class WebhookPositionOut(serializers.Serializer[Any]):
    """How far a chain has come at the receiver."""

    chain = serializers.CharField(help_text="Name of the chain.")
    position = serializers.IntegerField(help_text="Number of the last event whose hint was taken.")
    attempts = serializers.IntegerField(help_text="Attempts that have failed since one succeeded.")
    problem = serializers.CharField(help_text="Stable code of why the last attempt failed; empty: it did not.")
    failing_since = serializers.DateTimeField(allow_null=True, help_text="Since when all failed; null: they do not.")
    sent_at = serializers.DateTimeField(allow_null=True, help_text="When hints were taken last; null: never.")
    next_at = serializers.DateTimeField(allow_null=True, help_text="When it is tried again; null: nothing has failed.")


class WebhookOut(serializers.Serializer[Any]):
    """A webhook."""

    webhook = number_of("the webhook, from 1")
    destination = serializers.CharField(help_text="Name of the destination.")
    chains = serializers.ListField(
        child=serializers.CharField(), help_text="Names of chains, and of all chains of a sort: `table/*`."
    )
    subscribed_by = serializers.CharField(help_text="Login of the person whose rights decide what is sent.")
    subscribed_at = serializers.DateTimeField(help_text="When it was subscribed.")
    approval = serializers.IntegerField(
        allow_null=True, help_text="Number of the approval; null where none was needed."
    )
    ended_at = serializers.DateTimeField(allow_null=True, help_text="When it ended; null: it sends.")
    problem = serializers.ChoiceField(
        choices=[*webhooks.Ended], allow_blank=True, help_text="Why the house has ended it; empty: it has not."
    )
    positions = WebhookPositionOut(many=True, help_text="How far each chain has come, by name.")


class WebhookSetOut(WebhookOut):
    """A webhook that was changed."""

    audit = ReceiptOut()


class WebhookWaitingOut(WebhookPositionOut):
    """How far a chain has come at the receiver, and how much waits."""

    waiting = serializers.IntegerField(help_text="Number of events that were recorded since the position.")


class WebhookRow(WebhookOut):
    """A webhook, and what waits for its receiver."""

    key_count = serializers.IntegerField(
        help_text="Number of keys that sign: 2 while the operator replaces one; 0: the destination is not set up."
    )
    positions = WebhookWaitingOut(many=True, help_text="How far each chain has come, by name.")


class WebhookList(serializers.Serializer[Any]):
    """Webhooks and destinations."""

    webhooks = WebhookRow(many=True, help_text="Every webhook, by number.")
    destinations = serializers.ListField(
        child=serializers.CharField(), help_text="Names of the webhooks that the operator has set up."
    )


@documented("listWebhooks", summary="List webhooks", answers=WebhookList, tag=TAG, method="get")
@documented(
    "subscribeWebhook",
    summary="Subscribe a webhook",
    answers=WebhookSetOut,
    status=201,
    tag=TAG,
    method="post",
    refuses=["not_found", "unknown_destination", "too_many_webhooks"],
)
class Webhooks(WriteOperation, ReadOperation):
    """Hints of chains, as the streams have them, sent to a destination of the operator as signed POSTs: those of one
    chain in the order of their numbers, again until they are taken. Reading shows how far each chain has come, and what
    waits. Writing
    adds one, which begins with what is recorded next; what it names is what the person may know who subscribes it, and
    it ends with that right. No If-Match: there is no version yet."""

    @extend_schema_serializer(component_name="SubscribeWebhookInput")
    class Input(StrictInput):
        """Where to, and of which chains."""

        destination = StrictPattern(_NAME, help_text="Name of a webhook that the operator has set up.")
        chains = serializers.ListField(
            child=StrictPattern(_CHAINS),
            min_length=1,
            max_length=_MOST,
            help_text="`table/CODE`, `drawer/CODE`, `house/CODE`; `table/*` and `drawer/*` are all of them, those to "
            "come as well.",
        )
        reason = Reason()

    sensitive = False
    roles = (Role.ADMIN,)
    readers = (Role.ADMIN, Role.AUDITOR)
    approvable = True
    versioned = False
    input = Input

    def get(self, request: Request) -> Response:
        """All of them."""
        known_parameters(request)
        house = context_of(request).house
        rows = Webhook.objects.filter(house=house).select_related("subscribed_by").order_by("number")
        found = webhooks.described(house, rows)
        return Response(WebhookList({"webhooks": found, "destinations": receivers.names(house.code)}).data)

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Subscribe."""
        return webhooks.subscribe(
            command=command, destination=data["destination"], chains=data["chains"], reason=data["reason"]
        )


@documented(
    "replayWebhook",
    summary="Send hints of a webhook again",
    answers=WebhookSetOut,
    tag=TAG,
    refuses=["not_found", "webhook_ended", "replay_ahead"],
)
class ReplayWebhook(WriteOperation):
    """The hints of one chain that follow a number, once more: the receiver has lost them. The same hints have the same
    `webhook-id` as before, so that a receiver which keeps those forgets them first. Needs no If-Match."""

    @extend_schema_serializer(component_name="ReplayWebhookInput")
    class Input(StrictInput):
        """From where on."""

        chain = StrictPattern(_CHAIN, help_text="Name of the chain.")
        after = StrictInteger(min_value=0, max_value=10**18, help_text="Number after which the hints begin.")
        reason = Reason()

    sensitive = False
    roles = (Role.ADMIN,)
    versioned = False
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Send again."""
        return webhooks.replay(
            command=command, number=path["webhook"], chain=data["chain"], after=data["after"], reason=data["reason"]
        )


@documented(
    "endWebhook",
    summary="End a webhook",
    answers=WebhookSetOut,
    tag=TAG,
    refuses=["not_found", "webhook_ended"],
)
class EndWebhook(WriteOperation):
    """Nothing is sent any more. Another one at the same destination can go on from its positions: subscribe it, and
    replay. Needs no If-Match."""

    sensitive = False
    roles = (Role.ADMIN,)
    versioned = False
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """End."""
        return webhooks.end(command=command, number=path["webhook"], reason=data["reason"])


urls = [
    path("webhooks", Webhooks.as_view()),
    path("webhooks/<int:webhook>/replay", ReplayWebhook.as_view()),
    path("webhooks/<int:webhook>/end", EndWebhook.as_view()),
]
