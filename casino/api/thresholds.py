"""What one player has paid in and was paid, as thresholds count it."""

from typing import Any

from django.urls import path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.cage import TAG
from casino.api.http.operations import AT_THE_CAGE, ReadOperation, context_of, documented
from casino.api.parts import minor_units
from casino.players import thresholds
from casino.staff.models import Role


class PaidSums(serializers.Serializer[Any]):
    """Minor units by window; of a window that the house does not look at, 0."""

    gaming_day = minor_units("In the newest open gaming day")
    linked_hours = minor_units("In the hours that `linked_hours` of the control points says")
    linked_days = minor_units("In the days that `linked_days` says")
    linked_long_days = minor_units("In the days that `linked_long_days` says")


class PaidOut(serializers.Serializer[Any]):
    """What a player has paid in and was paid up to now."""

    player = serializers.CharField()
    known = serializers.BooleanField(help_text="Whether it is recorded who the player is.")
    threshold = minor_units("From which amount or sum on that is required")
    paid_in = PaidSums(help_text="What the player has paid in, in cash and otherwise.")
    paid_out = PaidSums(help_text="What the player was paid, in cash and otherwise.")


@documented(
    "readPlayerSums",
    summary="Read what a player has paid in and was paid",
    answers=PaidOut,
    tag=TAG,
    refuses=["not_found"],
)
class PlayerSums(ReadOperation):
    """The sums to which the player's next transaction will be added, at drawers and tables, before it is posted. A
    transaction at the same time may come first."""

    sensitive = True
    roles = (*AT_THE_CAGE, Role.COMPLIANCE)

    def get(self, request: Request, player: str) -> Response:
        """The sums."""
        return Response(thresholds.paid(context_of(request).house, player))


urls = [path("players/<slug:player>/sums", PlayerSums.as_view())]
