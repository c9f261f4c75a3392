"""Signing in at a terminal and out again."""

from typing import Any

from django.db.models import TextChoices
from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from casino.api.http.operations import (
    READERS,
    ReadOperation,
    StrictInput,
    StrictPattern,
    StrictText,
    WriteOperation,
    context_of,
    documented,
    signed_in,
)
from casino.api.passkey_parts import PasskeyAnswer, assertion_in
from casino.api.tables import ReceiptOut
from casino.core.commands import Answer, Command
from casino.houses.control_points import in_force
from casino.staff import pins, second_factor, services, sessions
from casino.staff.idleness import reauthenticate
from casino.staff.models import Role, Staff, TerminalKind

TAG = "sessions"


@extend_schema_serializer(component_name="SignInOutput")
class SignedIn(serializers.Serializer[Any]):
    """The token is shown this once."""

    token = serializers.CharField()
    expires_at = serializers.DateTimeField()
    login = serializers.CharField()
    name = serializers.CharField()
    roles = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices))
    house = serializers.CharField()
    terminal = serializers.CharField()
    location = serializers.CharField(allow_blank=True)
    must_change_password = serializers.BooleanField()
    audit = ReceiptOut()


@documented(
    "signIn",
    summary="Sign in at a terminal",
    answers=SignedIn,
    status=201,
    tag=TAG,
    refuses=["sign_in_refused", "too_many_attempts", "passkey_cloned"],
)
class SignIn(APIView):
    """Login, password and the terminal's key together give one token for this person at this terminal; a person with a
    second factor needs a code too, or the answer of a passkey to a challenge of this terminal (`sign-in/challenge`);
    each counts once. The token is shown only once. A refusal does not say which of them was wrong (`sign_in_refused`),
    but where the passkey may have a copy (`passkey_cloned`). Too many failures lock the login for a while
    (`too_many_attempts`)."""

    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema_serializer(component_name="SignInInput")
    class Input(StrictInput):
        """Person and terminal."""

        login = StrictText(max_length=64)
        password = StrictText(max_length=256)
        terminal = StrictText(max_length=32)
        terminal_key = StrictText(max_length=128)
        code = StrictText(
            max_length=6, required=False, default="", allow_blank=True,
            help_text="The code that the person's second factor shows now; a person without one needs none.",
        )  # fmt: skip
        passkey = PasskeyAnswer(required=False, help_text="Instead of the code: what a passkey has answered.")

    input = Input

    def post(self, request: Request) -> Response:
        """Sign in."""
        serializer = self.Input(data=request.data)
        serializer.is_valid(raise_exception=True)
        data: dict[str, Any] = serializer.validated_data
        signed_in = services.sign_in(
            request=request._request,
            login=data["login"],
            password=data["password"],
            code=data["code"],
            passkey=assertion_in(data),
            terminal_code=data["terminal"],
            terminal_key=data["terminal_key"],
            request_id=request.request_id,  # type: ignore[attr-defined]
        )
        staff, terminal = signed_in.row.user, signed_in.row.terminal
        return Response(
            {
                "token": signed_in.token,
                "expires_at": signed_in.row.expiry,
                "login": staff.login,
                "name": staff.name,
                "roles": staff.roles,
                "house": staff.house.code,
                "terminal": terminal.code,
                "location": terminal.location,
                "must_change_password": staff.must_change_password,
                "audit": signed_in.receipt.as_json(),
            },
            status=201,
        )


class Must(TextChoices):
    """What a person must do before anything else is answered."""

    NOTHING = "", "nothing"
    PASSWORD = "password", "give the password again: the terminal was left alone (`POST reauthenticate`)"
    NEW_PASSWORD = "new_password", "change the password that the office gave (`POST password`)"
    SECOND_FACTOR = "second_factor", "set up a second factor (`POST second-factor`, or `POST passkeys/begin`)"


class SessionOut(serializers.Serializer[Any]):
    """Who is signed in, and where."""

    login = serializers.CharField()
    name = serializers.CharField()
    roles = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices))
    house = serializers.CharField()
    house_name = serializers.CharField(help_text="Name of the house.")
    currency = serializers.CharField()
    currency_exponent = serializers.IntegerField(help_text="Decimal places of the currency.")
    time_zone = serializers.CharField(help_text="IANA name of the house's time zone.")
    terminal = serializers.CharField()
    terminal_kind = serializers.ChoiceField(choices=TerminalKind.choices, help_text="Where the terminal stands.")
    location = serializers.CharField(allow_blank=True)
    expires_at = serializers.DateTimeField()
    must = serializers.ChoiceField(
        choices=Must.choices, allow_blank=True, help_text="What the person must do first; empty: nothing."
    )
    takes_pin = serializers.BooleanField(help_text="Whether the person's PIN does for the password that is due.")
    has_pin = serializers.BooleanField(help_text="Whether the person has a PIN.")
    may_have_pin = serializers.BooleanField(help_text="Whether the person's roles let a PIN do at tables.")
    has_second_factor = serializers.BooleanField(help_text="Whether sign-ins of the person take a code or a passkey.")
    has_codes = serializers.BooleanField(help_text="Whether the person has an app that shows codes.")
    passkey_count = serializers.IntegerField(help_text="Number of the person's passkeys.")


@documented("readSession", summary="Read who is signed in", answers=SessionOut, tag=TAG)
class Session(ReadOperation):
    """The signed-in person, the terminal, and what the person must do before anything else is answered. To ask is no
    sign of life: it keeps no token awake."""

    sensitive = False
    roles = READERS
    takes_given_passwords = takes_unattended = runs_unattended = True

    def get(self, request: Request) -> Response:
        """The session."""
        person, token = signed_in(request)
        house, terminal = person.house, token.terminal
        must = _due(request, person)
        due = must == Must.PASSWORD
        return Response(
            {
                "login": person.login,
                "name": person.name,
                "roles": person.roles,
                "house": house.code,
                "house_name": house.name,
                "currency": house.currency,
                "currency_exponent": house.currency_exponent,
                "time_zone": house.time_zone,
                "terminal": terminal.code,
                "terminal_kind": terminal.kind,
                "location": terminal.location,
                "expires_at": token.expiry,
                "must": must,
                "takes_pin": due and pins.is_taken(token, person, in_force(house).pin_tries),
                "has_pin": person.pin is not None,
                "may_have_pin": pins.may_have(person),
                "has_second_factor": person.has_second_factor,
                "has_codes": person.totp_since is not None,
                "passkey_count": person.passkey_count,
            }
        )


def _due(request: Request, person: Staff) -> Must:
    """What a person must do first."""
    if getattr(request, "left_alone", None) is not None:
        return Must.PASSWORD
    if person.must_change_password:
        return Must.NEW_PASSWORD
    if second_factor.is_missing(person, getattr(request, "second_factor", True)):
        return Must.SECOND_FACTOR
    return Must.NOTHING


@documented("signOut", summary="Sign out", status=204, tag=TAG)
class SignOut(ReadOperation):
    """Revoke the token that the request is sent with. The second time it is not known any more."""

    #: There is nothing to read here.
    sensitive = False
    roles = READERS
    takes_given_passwords = takes_unattended = True

    def post(self, request: Request) -> Response:
        """Sign out."""
        _, token = signed_in(request)
        services.sign_out(token=token, actor=context_of(request).actor)
        return Response(status=204)


class RenewedOut(serializers.Serializer[Any]):
    """The token is shown this once, and takes the place of that of the request."""

    token = serializers.CharField(help_text="The token of the session from now on.")
    expires_at = serializers.DateTimeField(help_text="When the session ends, as before.")


@documented(
    "reauthenticate",
    summary="Give the password again",
    answers=RenewedOut,
    tag=TAG,
    refuses=["sign_in_refused", "too_many_attempts", "passkey_cloned", "pin_wrong", "pin_not_taken"],
)
class Reauthenticate(ReadOperation):
    """A terminal that was left alone refuses everything with `reauthentication_required`: at the cage after 5 minutes
    without a request, at tables and in the office after 15. Once its person has given the password here, and a code or
    passkey (`passkeys/challenge`) where the person has a second factor, the session goes on with the token that is
    answered, and ends when it would have ended; the old token counts no more. Failures count as failed sign-ins. At a
    table the person's PIN does instead (`POST pin`), until a few wrong ones were given
    (`pin_tries` of `POST limits`)."""

    @extend_schema_serializer(component_name="ReauthenticateInput")
    class Input(StrictInput):
        """The password of the person who is signed in, or the PIN."""

        password = StrictText(max_length=256, required=False)
        pin = StrictPattern(pins.PATTERN, required=False, help_text="Instead of the password, at a table.")
        code = StrictText(
            max_length=6, required=False, default="", allow_blank=True,
            help_text="The code that the person's second factor shows now; a person without one needs none.",
        )  # fmt: skip
        passkey = PasskeyAnswer(required=False, help_text="Instead of the code: what a passkey has answered.")

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """One of the two. Raises ValidationError."""
            if ("password" in attrs) == ("pin" in attrs):
                raise serializers.ValidationError("Give the password, or the PIN.")
            return attrs

    #: There is nothing to read here.
    sensitive = False
    roles = READERS
    takes_given_passwords = takes_unattended = True
    redact_body = True
    input = Input

    def post(self, request: Request) -> Response:
        """Check the password, or the PIN."""
        serializer = self.Input(data=request.data)
        serializer.is_valid(raise_exception=True)
        given: dict[str, Any] = serializer.validated_data
        _, token = signed_in(request)
        request_id: str = request.request_id  # type: ignore[attr-defined]
        if "pin" in given:
            renewed = pins.reauthenticate(
                token=token, pin=given["pin"], request=request._request, request_id=request_id
            )
        else:
            renewed = reauthenticate(
                token=token, password=given["password"], code=given["code"], passkey=assertion_in(given),
                request=request._request, request_id=request_id,
            )  # fmt: skip
        return Response({"token": renewed.token, "expires_at": renewed.expires_at})


class OwnSession(serializers.Serializer[Any]):
    """A terminal at which one is signed in oneself."""

    session = serializers.CharField(help_text="What the trail calls its token: SHA-256 of the stored digest.")
    terminal = serializers.CharField(source="terminal.code", help_text="Code of the terminal.")
    kind = serializers.ChoiceField(
        source="terminal.kind", choices=TerminalKind.choices, help_text="Where the terminal stands."
    )
    location = serializers.CharField(
        source="terminal.location", allow_blank=True, help_text="Code of that table or drawer; empty in the office."
    )
    signed_in_at = serializers.DateTimeField(source="created", help_text="When the person signed in there.")
    last_used_at = serializers.DateTimeField(
        source="last_seen_at", help_text="When it was used last, up to half a minute too early."
    )
    expires_at = serializers.DateTimeField(source="expiry", help_text="When it ends by itself.")
    current = serializers.BooleanField(help_text="Whether it is the session of the request.")


class OwnSessionsOut(serializers.Serializer[Any]):
    """One's own sessions."""

    sessions = OwnSession(many=True, help_text="Where one is signed in, the oldest first.")


@documented("listSessions", summary="List one's own sessions", answers=OwnSessionsOut, tag=TAG)
class Sessions(ReadOperation):
    """Where the person is signed in now: at each terminal since when, and when it was used last."""

    #: What a person knows of the own sessions is no secret, and nobody else reads it.
    sensitive = False
    roles = READERS

    def get(self, request: Request) -> Response:
        """The sessions."""
        person, token = signed_in(request)
        found = sessions.of_person(person)
        for one in found:
            one.session, one.current = sessions.name_of(one), one.pk == token.pk  # type: ignore[attr-defined]
        return Response(OwnSessionsOut({"sessions": found}).data)


class SessionsEndedOut(serializers.Serializer[Any]):
    """How many have ended."""

    ended_session_count = serializers.IntegerField(help_text="Number of sessions that ended.")
    audit = ReceiptOut()


@documented(
    "endSessions", summary="End sessions of one's own", answers=SessionsEndedOut, tag=TAG,
    refuses=["not_found", "own_session", "no_change"],
)  # fmt: skip
class EndSessions(WriteOperation):
    """One of one's own sessions, or all but that of the request, as where a terminal was left signed in; its token
    counts no more at once. One's own session ends by signing out (`own_session`). No If-Match: a session has no
    version."""

    @extend_schema_serializer(component_name="EndSessionsInput")
    class Input(StrictInput):
        """Which."""

        session = StrictPattern(
            r"^[0-9a-f]{64}\Z", allow_null=True,
            help_text="The `session` of the list; null: all but that of the request.",
        )  # fmt: skip

    roles = READERS
    versioned = False
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """End."""
        return sessions.end_own(command=command, token=signed_in(self.request)[1], session=data["session"])


urls = [
    path("reauthenticate", Reauthenticate.as_view()),
    path("session", Session.as_view()),
    path("sessions", Sessions.as_view()),
    path("sessions/end", EndSessions.as_view()),
    path("sign-in", SignIn.as_view()),
    path("sign-out", SignOut.as_view()),
]
