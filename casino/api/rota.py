"""The rota: who works where and when."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    READERS,
    ReasonInput,
    StrictChoice,
    StrictInput,
    StrictMoment,
    StrictPattern,
    StrictText,
    WriteOperation,
    documented,
)
from casino.api.tables import ReceiptOut
from casino.cage import selectors as drawers
from casino.core.commands import Answer, Command
from casino.staff import rota
from casino.staff.models import LOGIN, Role, RotaEntry, TerminalKind
from casino.tables import selectors as tables

TAG = "roster"
WRITERS = (Role.FLOOR, Role.MANAGER, Role.ADMIN)


class RotaRow(serializers.Serializer[Any]):
    """An entry of the rota."""

    rota_entry = serializers.IntegerField(help_text="Its number among the house's entries of the rota.")
    login = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices)
    kind = serializers.ChoiceField(choices=TerminalKind.choices)
    location = serializers.CharField(allow_blank=True)
    starts_at = serializers.DateTimeField(help_text="From when the person works there.")
    ends_at = serializers.DateTimeField(help_text="Until when.")
    entered_by = serializers.CharField(help_text="Login of the person who wrote it.")
    withdrawn_by = serializers.CharField(allow_null=True, help_text="Who withdrew it; null while it stands.")
    version = serializers.IntegerField()

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """The same members as in the answers of writes."""
        return rota.describe(instance)


class RotaOut(serializers.Serializer[Any]):
    """An entry and the receipt of its change."""

    rota_entry = serializers.IntegerField(help_text="Its number among the house's entries of the rota.")
    login = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices)
    kind = serializers.ChoiceField(choices=TerminalKind.choices)
    location = serializers.CharField(allow_blank=True)
    starts_at = serializers.DateTimeField(help_text="From when the person works there.")
    ends_at = serializers.DateTimeField(help_text="Until when.")
    entered_by = serializers.CharField(help_text="Login of the person who wrote it.")
    withdrawn_by = serializers.CharField(allow_null=True, help_text="Who withdrew it; null while it stands.")
    version = serializers.IntegerField()
    audit = ReceiptOut()


@documented("listRota", summary="List the rota", tag=TAG, method="get")
@documented(
    "enterRota",
    summary="Put a person on the rota",
    answers=RotaOut,
    status=201,
    tag=TAG,
    method="post",
    refuses=["rota_times", "role_not_held", "rota_overlap"],
)
class Rota(WriteOperation, CursorList):
    """Who works where, in which role, and when; `from` and `until` select by when an entry starts. An entry is refused
    for a role that the person does not have, and where another one of the person covers a part of the time. It plans
    and refuses nobody: `staff/on-duty` says who is signed in where the rota does not have them. No If-Match: there is
    no version yet."""

    @extend_schema_serializer(component_name="EnterRotaInput")
    class Input(StrictInput):
        """Person, role, place and time; no location for the office."""

        login = StrictPattern(LOGIN)
        role = StrictChoice(choices=Role.choices)
        kind = StrictChoice(choices=TerminalKind.choices)
        location = StrictText(max_length=32, required=False, allow_blank=True, default="")
        starts_at = StrictMoment(help_text="From when the person works there.")
        ends_at = StrictMoment(help_text="Until when; at most 16 hours later.")

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """Check that tables and drawers have a location and the office has none."""
            if (attrs["kind"] == TerminalKind.OFFICE) == bool(attrs["location"]):
                raise serializers.ValidationError(
                    {"location": ["A table or a drawer needs its code; the office has no location."]}
                )
            return attrs

    roles = WRITERS
    readers = READERS
    sensitive = False
    versioned = False
    input = Input
    model = RotaEntry
    serializer_class = RotaRow
    filters = {
        "login": "staff__login", "role": "role", "kind": "kind", "location": "location",
        "withdrawn": "withdrawn_at__isnull",
    }  # fmt: skip
    choices = {"role": Role.values, "kind": TerminalKind.values, "withdrawn": ("true", "false")}
    time = "starts_at"

    def rows(self) -> Any:
        """With their people."""
        return super().rows().select_related("staff", "entered_by", "withdrawn_by")

    def lookup(self, name: str, value: str) -> dict[str, Any]:
        """`withdrawn` becomes a condition on the time of it."""
        return {self.filters[name]: value == "false" if name == "withdrawn" else value}

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Enter. Raises NotFound for a location that this house does not have."""
        kind = TerminalKind(data["kind"])
        if kind == TerminalKind.TABLE:
            tables.get(command.context.house, data["location"])
        elif kind == TerminalKind.CAGE:
            drawers.get(command.context.house, data["location"])
        return rota.enter(
            command=command, login=data["login"], kind=kind, location=data["location"], role=Role(data["role"]),
            starts=data["starts_at"], ends=data["ends_at"],
        )  # fmt: skip


@documented("withdrawRota", summary="Withdraw an entry of the rota", answers=RotaOut, tag=TAG, refuses=["no_change"])
class WithdrawRota(WriteOperation):
    """The entry stays on record as withdrawn. If-Match is `"1"`."""

    roles = WRITERS
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Withdraw."""
        return rota.withdraw(command=command, number=path["entry"], reason=data["reason"])


urls = [
    path("rota", Rota.as_view()),
    path("rota/<int:entry>/withdraw", WithdrawRota.as_view()),
]
