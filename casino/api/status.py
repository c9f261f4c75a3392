"""How the parts of the installation are, for people at work."""

from typing import Any

from django.urls import path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.operations import OVERSIGHT, ReadOperation, context_of, documented
from casino.metrics import status
from casino.metrics.status import Condition, Part
from casino.staff.models import Role

TAG = "house"


class PartOut(serializers.Serializer[Any]):
    """One part of the installation."""

    part = serializers.ChoiceField(choices=Part.choices, help_text="Which part.")
    condition = serializers.ChoiceField(choices=Condition.choices, help_text="How it is now.")
    since = serializers.DateTimeField(
        allow_null=True, help_text="Since when it is not in order; null where it is, or nobody knows."
    )


class StatusOut(serializers.Serializer[Any]):
    """Every part."""

    parts = PartOut(many=True, help_text="Each part once, in a fixed order.")


@documented("readStatus", summary="Read how the parts of the installation are", answers=StatusOut, tag=TAG)
class StatusOfHouse(ReadOperation):
    """Whether worker, beat, sequencer and database do their part, whether hands of the house wait to be settled, and
    whether its log goes on. It has no figures of money. `GET /readyz` says the same of the whole installation, to
    programs."""

    sensitive = False
    roles = (Role.FLOOR, Role.CAGE_SUPERVISOR, Role.SURVEILLANCE, Role.MANAGER, *OVERSIGHT)

    def get(self, request: Request) -> Response:
        """The parts."""
        found = status.parts(context_of(request).house)
        return Response(StatusOut({"parts": found}).data)


urls = [path("house/status", StatusOfHouse.as_view())]
