"""The office: who works here in which roles, and at which terminals."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    OVERSIGHT,
    READERS,
    StrictChoice,
    StrictInput,
    StrictPattern,
    StrictText,
    WriteOperation,
    documented,
    problems,
    signed_in,
)
from casino.cage import selectors as drawers
from casino.core.write import Answer, Command
from casino.staff import roster
from casino.staff.models import CODE, LOGIN, Role, Staff, Terminal, TerminalKind
from casino.tables import selectors as tables

TAG = "roster"
ADMINS = (Role.ADMIN,)


class StaffOut(serializers.Serializer[Any]):
    """A member of staff, by login."""

    login = serializers.CharField()
    roles = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices))
    active = serializers.BooleanField()
    version = serializers.IntegerField()
    audit = serializers.JSONField(required=False)


class _StaffRow(serializers.Serializer[Any]):
    """A member of staff in the list, with name."""

    login = serializers.CharField()
    name = serializers.CharField()
    roles = serializers.ListField(child=serializers.CharField())
    active = serializers.BooleanField(source="is_active")
    version = serializers.IntegerField()
    #: Who gave the last password that the person did not choose himself, and whether it has yet to be changed.
    password_by = serializers.CharField(allow_blank=True)
    must_change_password = serializers.BooleanField()
    hired_at = serializers.DateTimeField()
    last_signed_in_at = serializers.DateTimeField(source="last_login", allow_null=True)


class _Roles(serializers.ListField):
    """One role or more, each once."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=StrictChoice(choices=Role.choices), min_length=1, max_length=len(Role), **kwargs)

    def run_validators(self, value: Any) -> None:
        """Each role once. Raises ValidationError."""
        super().run_validators(value)
        if len(set(value)) < len(value):
            raise serializers.ValidationError("Each role is named once.")


def _reason() -> StrictText:
    """Why; the audit trail keeps it, so it names nobody."""
    return StrictText(min_length=3, max_length=200)


@extend_schema_serializer(component_name="ReasonInput")
class _Reason(StrictInput):
    """Why; the audit trail keeps it."""

    reason = _reason()


@documented("hireStaff", summary="Take somebody on", answers=StaffOut, status=201, tag=TAG)
class People(WriteOperation, CursorList):
    """Everybody who works or worked here, and taking somebody on. No If-Match: nobody is there yet."""

    @extend_schema_serializer(component_name="HireInput")
    class Input(StrictInput):
        """A login that is unique over all houses, the name, the roles, a first password."""

        login = StrictPattern(LOGIN)
        name = StrictText(max_length=120)
        roles = _Roles()
        password = StrictText(max_length=256)

    roles = ADMINS
    readers = OVERSIGHT
    sensitive = True
    versioned = False
    redact_body = True
    input = Input
    model = Staff
    serializer_class = _StaffRow
    filters = {"login": "login"}

    @extend_schema(
        operation_id="listStaff",
        summary="List the staff",
        tags=[TAG],
        request=None,
        parameters=[OpenApiParameter("login", str, OpenApiParameter.QUERY, description="one login")],
        responses={200: _StaffRow(many=True), **problems(400, 401, 403, 404)},
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A page of staff."""
        return self.list(request, *args, **kwargs)

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Hire."""
        return roster.hire(
            command=command, login=data["login"], name=data["name"], roles=data["roles"], password=data["password"]
        )


@documented("changeRoles", summary="Change somebody's roles", answers=StaffOut, tag=TAG)
class ChangeRoles(WriteOperation):
    """Roles instead of those before. Nobody changes himself."""

    @extend_schema_serializer(component_name="ChangeRolesInput")
    class Input(StrictInput):
        """All roles from now on."""

        roles = _Roles()
        reason = _reason()

    roles = ADMINS
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        return roster.change_roles(command=command, login=path["login"], roles=data["roles"], reason=data["reason"])


@documented("deactivateStaff", summary="Let somebody work here no more", answers=StaffOut, tag=TAG)
class Deactivate(WriteOperation):
    """Deactivate; tokens end at once."""

    roles = ADMINS
    input = _Reason

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Deactivate."""
        return roster.deactivate(command=command, login=path["login"], reason=data["reason"])


@documented("activateStaff", summary="Let somebody work here again", answers=StaffOut, tag=TAG)
class Activate(WriteOperation):
    """Activate."""

    roles = ADMINS
    input = _Reason

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Activate."""
        return roster.activate(command=command, login=path["login"], reason=data["reason"])


@documented("setPassword", summary="Give somebody a new password", answers=StaffOut, tag=TAG)
class SetPassword(WriteOperation):
    """A new password; tokens end at once."""

    @extend_schema_serializer(component_name="SetPasswordInput")
    class Input(StrictInput):
        """The new password and why."""

        password = StrictText(max_length=256)
        reason = _reason()

    roles = ADMINS
    redact_body = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Set."""
        return roster.set_password(
            command=command, login=path["login"], password=data["password"], reason=data["reason"]
        )


@documented("changePassword", summary="Choose a new password of one's own", answers=StaffOut, tag=TAG, also=(429,))
class ChangePassword(WriteOperation):
    """One's own password, at any terminal; one's tokens elsewhere end at once. No If-Match: nobody reads it before."""

    @extend_schema_serializer(component_name="ChangePasswordInput")
    class Input(StrictInput):
        """The password of now and the new one."""

        old = StrictText(max_length=256)
        new = StrictText(max_length=256)

    roles = READERS
    takes_given_passwords = True
    versioned = False
    redact_body = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        return roster.change_password(
            command=command,
            old=data["old"],
            new=data["new"],
            token=signed_in(self.request)[1],
            request=self.request._request,
        )


@documented("unlockStaff", summary="Open a login that wrong passwords have locked", answers=StaffOut, tag=TAG)
class Unlock(WriteOperation):
    """Unlock."""

    roles = ADMINS
    input = _Reason

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Unlock."""
        return roster.unlock(command=command, login=path["login"], reason=data["reason"])


class TerminalOut(serializers.Serializer[Any]):
    """A terminal; `key` only in the first answer to its enrolment, the house keeps none."""

    terminal = serializers.CharField()
    kind = serializers.ChoiceField(choices=TerminalKind.choices)
    location = serializers.CharField(allow_blank=True)
    revoked = serializers.BooleanField()
    version = serializers.IntegerField()
    key = serializers.CharField(required=False)
    audit = serializers.JSONField(required=False)


class _TerminalRow(TerminalOut):
    """A terminal in the list."""

    def to_representation(self, instance: Terminal) -> dict[str, Any]:
        """The terminal as everywhere."""
        return roster.describe_terminal(instance)


@documented(
    "enrolTerminal", summary="Enrol a terminal; its key is shown once", answers=TerminalOut, status=201, tag=TAG
)
class Terminals(WriteOperation, CursorList):
    """All devices, and enrolling one. No If-Match: it is not there yet."""

    @extend_schema_serializer(component_name="EnrolTerminalInput")
    class Input(StrictInput):
        """A code, and the table or drawer where it stands; none in the office."""

        terminal = StrictPattern(CODE)
        kind = StrictChoice(choices=TerminalKind.choices)
        location = StrictText(max_length=32, required=False, allow_blank=True, default="")

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """A location where there is one."""
            if (attrs["kind"] == TerminalKind.OFFICE) == bool(attrs["location"]):
                raise serializers.ValidationError(
                    {"location": ["Name the table or drawer of a terminal, and none for the office."]}
                )
            return attrs

    roles = ADMINS
    readers = OVERSIGHT
    sensitive = True
    versioned = False
    input = Input
    model = Terminal
    serializer_class = _TerminalRow
    filters = {"terminal": "code"}

    @extend_schema(
        operation_id="listTerminals",
        summary="List terminals",
        tags=[TAG],
        request=None,
        parameters=[OpenApiParameter("terminal", str, OpenApiParameter.QUERY, description="one code")],
        responses={200: TerminalOut(many=True), **problems(400, 401, 403, 404)},
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A page of terminals."""
        return self.list(request, *args, **kwargs)

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Enrol, where the location is one of this house."""
        kind = TerminalKind(data["kind"])
        if kind == TerminalKind.TABLE:
            tables.get(command.context.house, data["location"])
        elif kind == TerminalKind.CAGE:
            drawers.get(command.context.house, data["location"])
        return roster.enrol(command=command, code=data["terminal"], kind=kind, location=data["location"])


@documented("revokeTerminal", summary="Take a terminal out of use for good", answers=TerminalOut, tag=TAG)
class RevokeTerminal(WriteOperation):
    """Revoke; tokens end at once."""

    roles = ADMINS
    input = _Reason

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Revoke."""
        return roster.revoke(command=command, code=path["terminal"], reason=data["reason"])
