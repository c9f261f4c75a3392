"""The office: who works here in which roles, and at which terminals."""

from typing import Any

from django.db.models import Max
from django.urls import path, register_converter
from django.urls.converters import StringConverter
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    OVERSIGHT,
    READERS,
    Reason,
    ReasonInput,
    StrictChoice,
    StrictInput,
    StrictPattern,
    StrictText,
    WriteOperation,
    documented,
    signed_in,
)
from casino.api.passkey_parts import PasskeyAnswer, assertion_in
from casino.api.tables import ReceiptOut
from casino.cage import selectors as drawers
from casino.cage.services import require_not_retired
from casino.core.commands import Answer, Command
from casino.players.models import REFERENCE
from casino.staff import as_player, pins, roster
from casino.staff.models import CODE, LOGIN, Role, Staff, Terminal, TerminalKind
from casino.staff.selectors import on_duty
from casino.tables import selectors as tables
from casino.tables.changing import require_not_retired as refuse_retired

TAG = "roster"
ADMINS = (Role.ADMIN,)
#: What a change of another person may be refused with.
_OF_ANOTHER = ("four_eyes", "no_change")


class StaffOut(serializers.Serializer[Any]):
    """A member of staff, by login, and the receipt of the change."""

    login = serializers.CharField()
    roles = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices))
    active = serializers.BooleanField()
    version = serializers.IntegerField()
    audit = ReceiptOut()


class StaffRow(serializers.Serializer[Any]):
    """A member of staff in the list, with name."""

    login = serializers.CharField()
    name = serializers.CharField()
    roles = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices))
    active = serializers.BooleanField(source="is_active")
    locked_by_password = serializers.BooleanField(
        help_text="Whether a new password has locked the login until its activation is approved."
    )
    version = serializers.IntegerField()
    password_by = serializers.CharField(allow_blank=True)
    must_change_password = serializers.BooleanField()
    player = serializers.CharField(
        source="player_ref", allow_blank=True, help_text="Reference of this person as a player; empty: none."
    )
    second_factor_since = serializers.DateTimeField(
        source="totp_since", allow_null=True, help_text="Since when the person has an app for codes; null: none."
    )
    passkey_count = serializers.IntegerField(help_text="Number of the person's passkeys.")
    passkey_clone_seen_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was seen last that there may be a copy of one of them; null: never."
    )
    hired_at = serializers.DateTimeField()
    last_signed_in_at = serializers.DateTimeField(source="last_login", allow_null=True)


class DutySession(serializers.Serializer[Any]):
    """A terminal at which a person is signed in."""

    terminal = serializers.CharField(source="terminal.code")
    kind = serializers.ChoiceField(source="terminal.kind", choices=TerminalKind.choices)
    location = serializers.CharField(source="terminal.location", allow_blank=True)
    signed_in_at = serializers.DateTimeField(source="created", help_text="When the person signed in there.")
    expires_at = serializers.DateTimeField(source="expiry")
    on_rota = serializers.BooleanField(help_text="Whether the rota has the person at this place now.")


@documented("listStaffOnDuty", summary="List the staff on duty", tag=TAG)
class OnDuty(CursorList):
    """Who is signed in now, and at which terminals."""

    @extend_schema_serializer(component_name="OnDutyRow")
    class Row(serializers.Serializer[Any]):
        """A signed-in person."""

        login = serializers.CharField()
        name = serializers.CharField()
        roles = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices))
        sessions = DutySession(many=True, source="live_tokens", help_text="Where, the oldest first.")

    sensitive = True
    roles = (*OVERSIGHT, Role.FLOOR, Role.CAGE_SUPERVISOR, Role.SURVEILLANCE, Role.MANAGER)
    serializer_class = Row
    filters = {"role": "roles__contains"}
    choices = {"role": Role.values}

    def rows(self) -> Any:
        """Staff with a token that has not ended."""
        return on_duty(signed_in(self.request)[0].house)

    def lookup(self, name: str, value: str) -> dict[str, Any]:
        """A role is one of the person's roles."""
        return {self.filters[name]: [value]}


class _Roles(serializers.ListField):
    """One role or more, each once."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=StrictChoice(choices=Role.choices), min_length=1, max_length=len(Role), **kwargs)

    def run_validators(self, value: Any) -> None:
        """Each role once. Raises ValidationError."""
        super().run_validators(value)
        if len(set(value)) < len(value):
            raise serializers.ValidationError("Each role is named once.")


@extend_schema_serializer(component_name="ReasonInput")
@documented("listStaff", summary="List the staff", tag=TAG, method="get")
@documented(
    "hireStaff",
    summary="Hire a person",
    answers=StaffOut,
    status=201,
    tag=TAG,
    method="post",
    refuses=["login_taken"],
)
class People(WriteOperation, CursorList):
    """Everybody who works or worked here. A person is hired under a login, with a password to be changed at the first
    terminal; refused where the login is taken (`login_taken`) or two of the roles exclude each other
    (`roles_exclude_each_other`). No If-Match: there is no version yet. In the list `from`
    and `until` select by when people were hired."""

    @extend_schema_serializer(component_name="HireInput")
    class Input(StrictInput):
        """A login that is unique in the house, the name, the roles, a first password."""

        login = StrictPattern(LOGIN)
        name = StrictText(max_length=120)
        roles = _Roles()
        password = StrictText(max_length=256)

    roles = ADMINS
    readers = (*OVERSIGHT, Role.MANAGER)
    sensitive = True
    versioned = False
    redact_body = True
    input = Input
    model = Staff
    serializer_class = StaffRow
    filters = {"login": "login", "role": "roles__contains", "active": "is_active"}
    choices = {"role": Role.values, "active": ("true", "false")}
    time = "hired_at"

    def rows(self) -> Any:
        """Each with when a copy of a passkey was seen."""
        seen = Max("passkeys__clone_seen_at")
        return super().rows().annotate(passkey_clone_seen_at=seen)

    def lookup(self, name: str, value: str) -> dict[str, Any]:
        """A role is one of the person's roles."""
        match name:
            case "role":
                return {self.filters[name]: [value]}
            case "active":
                return {self.filters[name]: value == "true"}
        return super().lookup(name, value)

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Hire."""
        return roster.hire(
            command=command, login=data["login"], name=data["name"], roles=data["roles"], password=data["password"]
        )


@documented(
    "changeRoles",
    summary="Change a person's roles",
    answers=StaffOut,
    tag=TAG,
    refuses=[*_OF_ANOTHER, "duty_done_today"],
)
class ChangeRoles(WriteOperation):
    """The new roles replace the old ones from the next request on. No one can change their own roles (`four_eyes`), and
    no one gets two that exclude each other (`roles_exclude_each_other`), or one that excludes what the person has done
    since the gaming day was opened (`duty_done_today`)."""

    @extend_schema_serializer(component_name="ChangeRolesInput")
    class Input(StrictInput):
        """All roles from now on."""

        roles = _Roles()
        reason = Reason()

    roles = ADMINS
    approvable = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        return roster.change_roles(command=command, login=path["login"], roles=data["roles"], reason=data["reason"])


@documented("deactivateStaff", summary="Deactivate a person", answers=StaffOut, tag=TAG, refuses=_OF_ANOTHER)
class Deactivate(WriteOperation):
    """The person can no longer sign in; tokens end at once. No one can deactivate themselves (`four_eyes`)."""

    roles = ADMINS
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Deactivate."""
        return roster.deactivate(command=command, login=path["login"], reason=data["reason"])


@documented("activateStaff", summary="Activate a person again", answers=StaffOut, tag=TAG, refuses=_OF_ANOTHER)
class Activate(WriteOperation):
    """The person may sign in, with the roles and the password as they are. Once the house is live this takes an
    approval: of an auditor for a privileged role, of a manager for others, and of either of them where a new password
    has locked the login (`locked_by_password`)."""

    roles = ADMINS
    approvable = True
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Activate."""
        return roster.activate(command=command, login=path["login"], reason=data["reason"])


@documented("setPassword", summary="Give a person a new password", answers=StaffOut, tag=TAG, refuses=_OF_ANOTHER)
class SetPassword(WriteOperation):
    """The person has to change it at the next sign-in; tokens end at once. Once the house is live it locks the login,
    which `activate` opens with the approval of another person."""

    @extend_schema_serializer(component_name="SetPasswordInput")
    class Input(StrictInput):
        """The new password and why."""

        password = StrictText(max_length=256)
        reason = Reason()

    roles = ADMINS
    redact_body = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Set."""
        return roster.set_password(
            command=command, login=path["login"], password=data["password"], reason=data["reason"]
        )


@documented(
    "changePassword",
    summary="Change one's own password",
    answers=StaffOut,
    tag=TAG,
    refuses=["sign_in_refused", "too_many_attempts", "no_change"],
)
class ChangePassword(WriteOperation):
    """Change the password at any terminal; tokens elsewhere end at once. Refused if the old password is wrong
    (`sign_in_refused`) or the new one is the same (`no_change`). No If-Match: a password has no version."""

    @extend_schema_serializer(component_name="ChangePasswordInput")
    class Input(StrictInput):
        """The current password and the new one."""

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


@documented(
    "setPin",
    summary="Choose a PIN of one's own",
    answers=StaffOut,
    tag=TAG,
    refuses=["sign_in_refused", "too_many_attempts", "pin_not_taken", "pin_too_simple", "no_change"],
)
class SetPin(WriteOperation):
    """Four to eight digits by which a person goes on at a table's terminal that was left alone (`reauthenticate`), in
    exchange for the password. `null` takes it away; a new password from the office does too. People who approve, judge
    or give rights have none (`pin_not_taken`). No If-Match: a PIN has no version."""

    @extend_schema_serializer(component_name="SetPinInput")
    class Input(StrictInput):
        """The current password, and the PIN."""

        password = StrictText(max_length=256)
        pin = StrictPattern(pins.PATTERN, allow_null=True, help_text="Four to eight digits; null: none from now on.")

    roles = READERS
    versioned = False
    redact_body = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Set it."""
        return roster.set_pin(command=command, **data, request=self.request._request)


class SecondFactorOut(StaffOut):
    """The person, and the new secret. Only the first answer has it: the house keeps it sealed."""

    secret = serializers.CharField(required=False, help_text="The secret, in base32, to be typed into the app.")
    uri = serializers.CharField(required=False, help_text="The same as an `otpauth` address, for a QR code.")


@documented(
    "beginSecondFactor",
    summary="Begin a second factor of one's own",
    answers=SecondFactorOut,
    status=201,
    tag=TAG,
    refuses=["sign_in_refused", "too_many_attempts", "second_factor_set", "passkey_cloned"],
)
class BeginSecondFactor(WriteOperation):
    """A secret for an app that shows codes (RFC 6238: SHA-1, six digits, 30 seconds), in exchange for the password. It
    is shown once, and counts when `second-factor/confirm` has a code of it; until then it can be begun again. Who has a
    passkey shows it too (`passkeys/challenge`). Refused for a person who has an app (`second_factor_set`). No If-Match:
    a secret has no version."""

    @extend_schema_serializer(component_name="BeginSecondFactorInput")
    class Input(StrictInput):
        """The current password, and a passkey where the person has one."""

        password = StrictText(max_length=256)
        passkey = PasskeyAnswer(required=False, help_text="What a passkey has answered, where the person has one.")

    roles = READERS
    sets_second_factor = True
    versioned = False
    redact_body = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Begin."""
        return roster.begin_second_factor(
            command=command, password=data["password"], passkey=assertion_in(data), request=self.request._request
        )


@documented(
    "confirmSecondFactor",
    summary="Confirm a second factor of one's own",
    answers=StaffOut,
    tag=TAG,
    refuses=["code_refused", "too_many_attempts", "second_factor_set", "second_factor_missing"],
)
class ConfirmSecondFactor(WriteOperation):
    """A first code: from now on every sign-in takes one, and sessions elsewhere end. A wrong code counts as a failed
    sign-in (`code_refused`). No If-Match: a secret has no version."""

    @extend_schema_serializer(component_name="ConfirmSecondFactorInput")
    class Input(StrictInput):
        """The code that the app shows now."""

        code = StrictPattern(r"^[0-9]{6}\Z")

    roles = READERS
    sets_second_factor = True
    versioned = False
    redact_body = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Confirm."""
        token = signed_in(self.request)[1]
        return roster.confirm_second_factor(
            command=command, code=data["code"], token=token, request=self.request._request
        )


@documented(
    "resetSecondFactor", summary="Reset a person's second factor", answers=StaffOut, tag=TAG, refuses=_OF_ANOTHER
)
class ResetSecondFactor(WriteOperation):
    """For a person who has lost the device: app and passkeys are taken away, and sign-ins take the password alone until
    the person has a new second factor; tokens end at once. Who resets it counts as having given the password. No one
    can reset their own (`four_eyes`). Once the house is live a manager or an auditor approves it, who is not the
    person."""

    roles = ADMINS
    approvable = True
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Reset."""
        return roster.reset_second_factor(command=command, login=path["login"], reason=data["reason"])


@documented(
    "linkPlayer",
    summary="Link a person to a player",
    answers=StaffOut,
    tag=TAG,
    refuses=[*_OF_ANOTHER, "player_linked"],
)
class LinkPlayer(WriteOperation):
    """Say under which reference a person is known as a player, registered or not: who works here is not registered,
    seated, sold chips or paid out under it (`staff_as_player`). `null` ends the link. Once the house is live a manager
    approves it."""

    @extend_schema_serializer(component_name="LinkPlayerInput")
    class Input(StrictInput):
        """The reference and why."""

        player = StrictText(max_length=32, validators=[REFERENCE], allow_null=True)
        reason = Reason()

    roles = ADMINS
    approvable = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Link."""
        return as_player.link(command=command, login=path["login"], player=data["player"], reason=data["reason"])


@documented("unlockStaff", summary="Unlock a login", answers=StaffOut, tag=TAG, refuses=_OF_ANOTHER)
class Unlock(WriteOperation):
    """Unlock a login that was locked by wrong passwords. Refused if there are no failed attempts (`no_change`)."""

    roles = ADMINS
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Unlock."""
        return roster.unlock(command=command, login=path["login"], reason=data["reason"])


class TerminalOut(serializers.Serializer[Any]):
    """A terminal."""

    terminal = serializers.CharField()
    kind = serializers.ChoiceField(choices=TerminalKind.choices)
    location = serializers.CharField(allow_blank=True)
    revoked = serializers.BooleanField()
    version = serializers.IntegerField()


class TerminalChanged(TerminalOut):
    """A terminal and the receipt of the change."""

    audit = ReceiptOut()


class TerminalEnrolled(TerminalChanged):
    """A terminal and its key. Only the first answer to its enrolment has the key: the house does not keep it."""

    key = serializers.CharField(required=False)


class TerminalRow(TerminalOut):
    """A terminal in the list."""

    def to_representation(self, instance: Terminal) -> dict[str, Any]:
        """The same members as in the other answers."""
        return roster.describe_terminal(instance)


@documented("listTerminals", summary="List terminals", tag=TAG, method="get")
@documented(
    "enrolTerminal",
    summary="Enrol a terminal",
    answers=TerminalEnrolled,
    status=201,
    tag=TAG,
    method="post",
    refuses=["terminal_exists", "drawer_retired", "table_retired"],
)
class Terminals(WriteOperation, CursorList):
    """The devices of the house. The key of a new one is shown once, in the first answer to its enrolment; signing in
    takes it. No If-Match: there is no version yet."""

    @extend_schema_serializer(component_name="EnrolTerminalInput")
    class Input(StrictInput):
        """A code, and the table or drawer where the terminal is; none for the office."""

        terminal = StrictPattern(CODE)
        kind = StrictChoice(choices=TerminalKind.choices)
        location = StrictText(max_length=32, required=False, allow_blank=True, default="")

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """Check that tables and drawers have a location and the office has none."""
            if (attrs["kind"] == TerminalKind.OFFICE) == bool(attrs["location"]):
                raise serializers.ValidationError(
                    {
                        "location": [
                            "A terminal needs the code of its table or drawer; one in the office has no location."
                        ]
                    }
                )
            return attrs

    roles = ADMINS
    approvable = True
    readers = OVERSIGHT
    sensitive = True
    versioned = False
    input = Input
    model = Terminal
    serializer_class = TerminalRow
    filters = {"terminal": "code", "kind": "kind", "location": "location", "revoked": "revoked_at__isnull"}
    choices = {"kind": TerminalKind.values, "revoked": ("true", "false")}

    def lookup(self, name: str, value: str) -> dict[str, Any]:
        """`revoked` becomes a condition on the time of revocation."""
        return {self.filters[name]: value == "false" if name == "revoked" else value}

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Enrol. Raises NotFound for a location that this house does not have, Conflict for one that is retired."""
        kind = TerminalKind(data["kind"])
        if kind == TerminalKind.TABLE:
            refuse_retired(tables.get(command.context.house, data["location"]))
        elif kind == TerminalKind.CAGE:
            require_not_retired(drawers.get(command.context.house, data["location"]))
        return roster.enrol(command=command, code=data["terminal"], kind=kind, location=data["location"])


@documented(
    "revokeTerminal",
    summary="Revoke a terminal",
    answers=TerminalChanged,
    tag=TAG,
    refuses=["no_change", "own_terminal"],
)
class RevokeTerminal(WriteOperation):
    """A revoked terminal cannot be used again; tokens end at once. Refused for the terminal that sends the request
    (`own_terminal`)."""

    roles = ADMINS
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Revoke."""
        return roster.revoke(command=command, code=path["terminal"], reason=data["reason"])


class LoginConverter(StringConverter):
    """A login as hiring takes it."""

    regex = LOGIN.removeprefix("^").removesuffix(r"\Z")


register_converter(LoginConverter, "login")

urls = [
    path("password", ChangePassword.as_view()),
    path("pin", SetPin.as_view()),
    path("second-factor", BeginSecondFactor.as_view()),
    path("second-factor/confirm", ConfirmSecondFactor.as_view()),
    path("staff", People.as_view()),
    path("staff/on-duty", OnDuty.as_view()),
    path("staff/<login:login>/roles", ChangeRoles.as_view()),
    path("staff/<login:login>/deactivate", Deactivate.as_view()),
    path("staff/<login:login>/activate", Activate.as_view()),
    path("staff/<login:login>/player", LinkPlayer.as_view()),
    path("staff/<login:login>/unlock", Unlock.as_view()),
    path("staff/<login:login>/second-factor/reset", ResetSecondFactor.as_view()),
    path("staff/<login:login>/password", SetPassword.as_view()),
    path("terminals", Terminals.as_view()),
    path("terminals/<slug:terminal>/revoke", RevokeTerminal.as_view()),
]
