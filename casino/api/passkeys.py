"""Passkeys: challenges for them, and one's own, as a person registers and removes them."""

from typing import Any

from django.urls import path, register_converter
from django.urls.converters import StringConverter
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from casino.api.http.operations import (
    READERS,
    Reading,
    ReadOperation,
    StrictChoice,
    StrictInput,
    StrictPattern,
    StrictText,
    WriteOperation,
    documented,
    signed_in,
)
from casino.api.passkey_parts import Base64Url, PasskeyAnswer, PasskeyAsked, assertion_in
from casino.api.roster import StaffOut
from casino.core.commands import Answer, Command
from casino.staff import passkeys, registering, services
from casino.staff.credentials import Credentials

TAG = "passkeys"
_CODE = "The code that the person's app shows now, where the person has one and gives no passkey."


@documented(
    "challengeForSignIn", summary="Ask for a challenge to sign in", answers=PasskeyAsked, status=201, tag="sessions",
    refuses=["sign_in_refused"],
)  # fmt: skip
class SignInChallenge(APIView):
    """A challenge that a passkey signs to sign in at this terminal, once, for two minutes. It is the same for everybody
    and says nothing of anybody: password and passkey are judged together (`sign-in`)."""

    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema_serializer(component_name="ChallengeForSignInInput")
    class Input(StrictInput):
        """The terminal."""

        terminal = StrictText(max_length=32)
        terminal_key = StrictText(max_length=128)

    input = Input

    def post(self, request: Request) -> Response:
        """Make one."""
        given = self.Input(data=request.data)
        given.is_valid(raise_exception=True)
        asked = services.passkey_challenge(
            request=request._request,
            terminal_code=given.validated_data["terminal"],
            terminal_key=given.validated_data["terminal_key"],
            request_id=request.request_id,  # type: ignore[attr-defined]
        )
        return Response(asked, status=201)


@documented("challengeForOwn", summary="Ask for a challenge of one's own", answers=PasskeyAsked, status=201, tag=TAG)
class OwnChallenge(ReadOperation):
    """A challenge that one of one's passkeys signs, once, for two minutes, at this terminal: to go on where it was left
    alone (`reauthenticate`), or to change one's own second factors (`own`). For a decision on an approval there is
    `approvals/N/challenge`."""

    @extend_schema_serializer(component_name="ChallengeForOwnInput")
    class Input(StrictInput):
        """What it is for."""

        purpose = StrictChoice(choices=[passkeys.REAUTHENTICATE, passkeys.OWN], help_text="What it is for.")

    #: There is nothing to read here.
    sensitive = False
    roles = READERS
    takes_given_passwords = takes_unattended = True
    input = Input

    def post(self, request: Request) -> Response:
        """Make one."""
        given = self.Input(data=request.data)
        given.is_valid(raise_exception=True)
        person, token = signed_in(request)
        challenge = passkeys.issue(token.terminal, passkeys.of(given.validated_data["purpose"], person))
        return Response(passkeys.asking(challenge, request._request, person), status=201)


class PasskeyOut(serializers.Serializer[Any]):
    """A passkey of one's own."""

    passkey = serializers.CharField(help_text="What the trail calls it: SHA-256 of the authenticator's name for it.")
    name = serializers.CharField(help_text="What its person calls it.")
    registered_at = serializers.DateTimeField(help_text="Since when it counts.")
    last_used_at = serializers.DateTimeField(allow_null=True, help_text="When it signed last; null: never.")


class PasskeysOut(serializers.Serializer[Any]):
    """One's own passkeys."""

    passkeys = PasskeyOut(many=True, help_text="One's passkeys, the oldest first.")


class PasskeyChanged(StaffOut):
    """The person after a change of the passkeys, and the receipt of the change."""

    passkey_count = serializers.IntegerField(help_text="Number of the person's passkeys.")


class PasskeyBegun(PasskeyAsked):
    """What to ask an authenticator for a new passkey with (`navigator.credentials.create`). `credentials` are those
    that the person has: `excludeCredentials`. The passkey can be found without its name (`residentKey: "required"`);
    no attestation is asked for."""

    user = serializers.CharField(help_text="What the authenticator knows the person by, in base64url: `user.id`.")
    login = serializers.CharField(help_text="`user.name`.")
    name = serializers.CharField(help_text="Name of the person: `user.displayName`.")
    house = serializers.CharField(help_text="Name of the house: `rp.name`.")
    algorithms = serializers.ListField(
        child=serializers.IntegerField(), help_text="Signatures that are taken, as COSE numbers them: `alg`."
    )


@documented("listPasskeys", summary="List one's own passkeys", answers=PasskeysOut, tag=TAG, method="get")
@documented(
    "registerPasskey",
    summary="Register a passkey of one's own",
    answers=PasskeyChanged,
    status=201,
    tag=TAG,
    method="post",
    refuses=["passkey_refused", "passkey_challenge_refused", "passkey_exists", "too_many_passkeys"],
)
class Passkeys(WriteOperation, Reading):
    """One's own passkeys. A new one counts from now on: every sign-in takes a passkey, or a code where the person has
    an app. It answers the challenge of `passkeys/begin`, once (`passkey_challenge_refused`); the authenticator has made
    sure who holds it (`passkey_refused`). No If-Match: a passkey has no version."""

    @extend_schema_serializer(component_name="RegisterPasskeyInput")
    class Input(StrictInput):
        """What the authenticator has answered (`navigator.credentials.create`), and a name for it."""

        name = StrictPattern(r"\S", max_length=60, help_text="What its person calls it.")
        credential = Base64Url("The authenticator's name for the passkey: `id`.", most=1364)
        client_data = Base64Url("What the browser had it say yes to: `response.clientDataJSON`.", most=8192)
        attestation = Base64Url("`response.attestationObject`.", most=16384)

    #: What a person knows of the own passkeys is no secret, and nobody else reads it.
    sensitive = False
    roles = READERS
    sets_second_factor = True
    versioned = False
    redact_body = True
    input = Input

    def get(self, request: Request) -> Response:
        """The passkeys."""
        found = passkeys.of_person(signed_in(request)[0])
        rows = [
            {
                "passkey": passkeys.name_of(one), "name": one.name, "registered_at": one.registered_at,
                "last_used_at": one.last_used_at,
            }
            for one in found
        ]  # fmt: skip
        return Response({"passkeys": rows})

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Register."""
        name = data.pop("name")
        return registering.register(
            command=command, name=name, given=passkeys.Creation(**data), token=signed_in(self.request)[1],
            request=self.request._request,
        )  # fmt: skip


@documented(
    "beginPasskey",
    summary="Begin a passkey of one's own",
    answers=PasskeyBegun,
    status=201,
    tag=TAG,
    refuses=["sign_in_refused", "too_many_attempts", "passkey_cloned", "too_many_passkeys"],
)
class BeginPasskey(ReadOperation):
    """A challenge for a new passkey, in exchange for the password, and for a code or another passkey
    (`passkeys/challenge`) where the person has a second factor. What is wrong counts as a failed sign-in. The passkey
    counts when `POST passkeys` has it."""

    @extend_schema_serializer(component_name="BeginPasskeyInput")
    class Input(StrictInput):
        """The current password, and the second factor where there is one."""

        password = StrictText(max_length=256)
        code = StrictText(max_length=6, required=False, default="", allow_blank=True, help_text=_CODE)
        passkey = PasskeyAnswer(required=False, help_text="What another passkey has answered.")

    #: There is nothing to read here.
    sensitive = False
    roles = READERS
    sets_second_factor = True
    redact_body = True
    input = Input

    def post(self, request: Request) -> Response:
        """Begin."""
        given = self.Input(data=request.data)
        given.is_valid(raise_exception=True)
        data: dict[str, Any] = given.validated_data
        asked = registering.begin(
            token=signed_in(request)[1], password=data["password"], code=data["code"], passkey=assertion_in(data),
            request=request._request, request_id=request.request_id,  # type: ignore[attr-defined]
        )  # fmt: skip
        return Response(asked, status=201)


@documented(
    "removePasskey",
    summary="Remove a passkey of one's own",
    answers=PasskeyChanged,
    tag=TAG,
    refuses=["not_found", "sign_in_refused", "too_many_attempts", "passkey_cloned", "last_second_factor"],
)
class RemovePasskey(WriteOperation):
    """In exchange for the password, and for a code or a passkey (`passkeys/challenge`), also this one. The last second
    factor of a person whose roles need one stays (`last_second_factor`): an administrator resets it. Sessions elsewhere
    end. No If-Match: a passkey has no version."""

    @extend_schema_serializer(component_name="RemovePasskeyInput")
    class Input(StrictInput):
        """The current password, and the second factor."""

        password = StrictText(max_length=256)
        code = StrictText(max_length=6, required=False, default="", allow_blank=True, help_text=_CODE)
        passkey = PasskeyAnswer(required=False, help_text="What a passkey has answered.")

    roles = READERS
    versioned = False
    redact_body = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Remove."""
        me = command.context.staff
        bound_to = passkeys.of(passkeys.OWN, me)
        given = Credentials(me.login, data["password"], data["code"], assertion_in(data), bound_to)
        return registering.remove(
            command=command, passkey=path["passkey"], given=given, token=signed_in(self.request)[1],
            required=bool(getattr(self.request, "second_factor", True)), request=self.request._request,
        )  # fmt: skip


class DigestConverter(StringConverter):
    """SHA-256 in hexadecimal."""

    regex = "[0-9a-f]{64}"


register_converter(DigestConverter, "passkey")

urls = [
    path("passkeys", Passkeys.as_view()),
    path("passkeys/begin", BeginPasskey.as_view()),
    path("passkeys/challenge", OwnChallenge.as_view()),
    path("passkeys/<passkey:passkey>/remove", RemovePasskey.as_view()),
    path("sign-in/challenge", SignInChallenge.as_view()),
]
