"""Rehearsals: asked for, cancelled, read. A worker plays them."""

from typing import Any

from django.urls import path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    OVERSIGHT,
    ReadOperation,
    WriteOperation,
    context_of,
    documented,
    known_parameters,
)
from casino.api.parts import number_of
from casino.api.tables import ReceiptOut
from casino.core.commands import Answer, Command
from casino.golive import rehearsals
from casino.houses.models import RehearsalRun, RehearsalState
from casino.staff.models import Role

TAG = "house"
_READERS = (*OVERSIGHT, Role.MANAGER)


class RehearsedItem(serializers.Serializer[Any]):
    """A part of an evening, or a check of the copy."""

    item = serializers.CharField(help_text="What was played or checked.")
    failed = serializers.CharField(help_text="What went wrong; empty where it passed.")


class RehearsalResult(serializers.Serializer[Any]):
    """What came of a rehearsal."""

    passed = serializers.BooleanField(help_text="Whether every item passed.")
    sandbox = serializers.CharField(help_text="Code of the sandbox house in which it was played.")
    configuration = serializers.CharField(help_text="SHA-256 of the configuration that was copied, hexadecimal.")
    items = RehearsedItem(many=True, help_text="Parts and checks, in their order.")
    verified = serializers.DictField(
        child=serializers.IntegerField(), help_text="What the verification of the copy went through: numbers by name."
    )


class RehearsalOut(serializers.Serializer[Any]):
    """A rehearsal."""

    rehearsal = number_of("the rehearsal, from 1")
    version = serializers.IntegerField()
    state = serializers.ChoiceField(
        choices=RehearsalState.choices, help_text="Whether it waits, was played or has ended otherwise."
    )
    requested_by = serializers.CharField(help_text="Login of the person who asked for it.")
    requested_at = serializers.DateTimeField(help_text="When it was asked for.")
    part_count = number_of("parts that were played and checks that were made so far")
    failure = serializers.CharField(
        help_text="Why it failed: `house_changed` (while it was copied), `took_too_long`, `given_up` (it was broken "
        "off several times; the server's log says how), or the code of what kept the copy from being made; empty "
        "if it did not."
    )
    ended_at = serializers.DateTimeField(allow_null=True, help_text="When it was played, failed or cancelled.")
    result = RehearsalResult(allow_null=True, help_text="What came of it; null where it was not played.")


class RehearsalChangedOut(RehearsalOut):
    """A rehearsal that was asked for or cancelled."""

    audit = ReceiptOut()


@documented("listRehearsals", summary="List rehearsals", tag=TAG, method="get")
@documented(
    "requestRehearsal",
    summary="Ask for a rehearsal of the house",
    answers=RehearsalChangedOut,
    status=202,
    tag=TAG,
    method="post",
    refuses=["rehearsal_under_way", "house_wrong_stage", "house_not_ready", "house_code_too_long"],
)
class Rehearsals(WriteOperation, CursorList):
    """A worker copies the house into a sandbox, plays an evening there and verifies the copy; `GET
    rehearsals/{rehearsal}` shows how far it is, and what came of it. Before the house is live it wants one that it has
    passed as it is then. Refused while another one is under way (`rehearsal_under_way`), and where something to
    rehearse is missing (`house_not_ready` names it). `from` and `until` select by the time at which they were asked
    for. Needs no If-Match: the rehearsal does not exist yet."""

    class Row(RehearsalOut):
        """A rehearsal in a list."""

        def to_representation(self, instance: Any) -> dict[str, Any]:
            """The same members as in the other answers."""
            return rehearsals.describe(instance)

    sensitive = False
    roles = (Role.ADMIN,)
    readers = _READERS
    versioned = False
    model = RehearsalRun
    serializer_class = Row
    filters = {"state": "state"}
    choices = {"state": tuple(RehearsalState.values)}
    time = "requested_at"

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Ask for it."""
        return rehearsals.request(command=command)


@documented(
    "readRehearsal", summary="Read a rehearsal", answers=RehearsalOut, tag=TAG, refuses=["not_found"], etag=True
)
class Detail(ReadOperation):
    """How far it is, and what came of it: each part and check with what went wrong."""

    sensitive = False
    roles = _READERS

    def get(self, request: Request, rehearsal: int) -> Response:
        """The rehearsal."""
        known_parameters(request)
        found = rehearsals.find(context_of(request).house, rehearsal)
        return Response(rehearsals.describe(found), headers={"ETag": f'"{found.version}"'})


@documented(
    "cancelRehearsal",
    summary="Cancel a rehearsal",
    answers=RehearsalChangedOut,
    tag=TAG,
    refuses=["not_found", "rehearsal_ended"],
)
class Cancel(WriteOperation):
    """A rehearsal that is not played yet ends; its copy of the house is closed."""

    roles = (Role.ADMIN,)

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Cancel."""
        return rehearsals.cancel(command=command, number=path["rehearsal"])


urls = [
    path("rehearsals", Rehearsals.as_view()),
    path("rehearsals/<int:rehearsal>", Detail.as_view()),
    path("rehearsals/<int:rehearsal>/cancel", Cancel.as_view()),
]
