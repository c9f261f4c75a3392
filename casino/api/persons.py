"""Personal data of a player: recorded at the cage or in the office. The audit trail records every read."""

from datetime import date
from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.operations import (
    AT_THE_CAGE,
    Reading,
    StrictChoice,
    StrictInput,
    StrictPattern,
    StrictText,
    WriteOperation,
    context_of,
    documented,
)
from casino.api.tables import ReceiptOut
from casino.core.commands import Answer, Command
from casino.players import persons
from casino.safeguards import unnamed
from casino.staff.models import Role

TAG = "persons"
REASONS = ("first_record", "correction", "new_document", "new_name", "new_address")


class Birthday(StrictPattern):
    """An ISO date in the past."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}\Z", **kwargs)

    def run_validators(self, value: Any) -> None:
        """Check the form, and that the date exists and lies in the past. Raises ValidationError."""
        super().run_validators(value)
        try:
            past = date(1850, 1, 1) < date.fromisoformat(value) < date.today()  # noqa: DTZ011 - no time zone is meant
        except ValueError:
            past = False
        if not past:
            raise serializers.ValidationError("This is not the date of birth of a living person.")


class PersonRecorded(serializers.Serializer[Any]):
    """The answer to a record: only the names of the fields, never their values."""

    player = serializers.CharField()
    version = serializers.IntegerField()
    recorded = serializers.ListField(child=serializers.CharField(), help_text="Names of the fields that were recorded.")
    audit = ReceiptOut()


@extend_schema_serializer(component_name="PersonData")
class _PersonData(StrictInput):
    """A person as the identity document shows."""

    name = StrictText(min_length=1, max_length=200)
    born = Birthday()
    document = StrictText(min_length=1, max_length=64)
    address = StrictText(min_length=1, max_length=300, required=False)
    birth_name = StrictText(min_length=1, max_length=200, required=False)
    birth_place = StrictText(min_length=1, max_length=200, required=False)
    mothers_name = StrictText(min_length=1, max_length=200, required=False)
    nationality = StrictText(min_length=1, max_length=64, required=False)


class PersonOut(serializers.Serializer[Any]):
    """The newest record of a player."""

    player = serializers.CharField()
    version = serializers.IntegerField()
    at = serializers.DateTimeField()
    person = _PersonData()


@documented(
    "readPerson",
    summary="Read who a player is",
    answers=PersonOut,
    tag=TAG,
    method="get",
    refuses=["wrong_terminal", "not_found", "no_person", "person_forgotten"],
    etag=True,
)
@documented(
    "recordPerson",
    summary="Record who a player is",
    answers=PersonRecorded,
    status=201,
    tag=TAG,
    method="post",
    refuses=["person_forgotten"],
)
class PersonOfPlayer(WriteOperation, Reading):
    """Personal data of a player, sealed in the database. Every read and every record is an event. If-Match of a record
    names the version that was read, or `"1"` for the first one. Refused at a table (`wrong_terminal`), and if the data
    were destroyed (`person_forgotten`)."""

    @extend_schema_serializer(component_name="RecordPersonInput")
    class Input(StrictInput):
        """The person, and the reason for the record; all personal data are sealed."""

        person = _PersonData()
        reason = StrictChoice(choices=REASONS)

    roles = (*AT_THE_CAGE, Role.COMPLIANCE)
    sensitive = True
    redact_body = True
    input = Input

    def get(self, request: Request, player: str) -> Response:
        """The newest record."""
        found = persons.read_person(context=context_of(request), ref=player)
        return Response(found, headers={"ETag": f'"{found["version"]}"', "Cache-Control": "no-store"})

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Record."""
        return unnamed.record_person(
            command=command, ref=path["player"], person=dict(data["person"]), reason=data["reason"]
        )


urls = [
    path("players/<slug:player>/person", PersonOfPlayer.as_view()),
]
