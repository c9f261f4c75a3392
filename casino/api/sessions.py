"""Signing in at a terminal and out again."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from casino.api.http.operations import READERS, ReadOperation, StrictInput, StrictText, context_of, problems, signed_in
from casino.staff import services


class SignIn(APIView):
    """Password and terminal key together give one token for this person at this terminal."""

    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema_serializer(component_name="SignInInput")
    class Input(StrictInput):
        """Person and terminal."""

        login = StrictText(max_length=64)
        password = StrictText(max_length=256)
        terminal = StrictText(max_length=32)
        terminal_key = StrictText(max_length=128)

    @extend_schema_serializer(component_name="SignInOutput")
    class Output(serializers.Serializer[Any]):
        """The token is shown this once."""

        token = serializers.CharField()
        expires_at = serializers.DateTimeField()
        login = serializers.CharField()
        name = serializers.CharField()
        roles = serializers.ListField(child=serializers.CharField())
        house = serializers.CharField()
        terminal = serializers.CharField()
        location = serializers.CharField()
        #: Whether the office gave this password: until it is changed (`POST password`) nothing else can be done.
        must_change_password = serializers.BooleanField()
        audit = serializers.JSONField()

    @extend_schema(
        operation_id="signIn",
        summary="Sign in at a terminal",
        tags=["sessions"],
        request=Input,
        responses={201: Output, **problems(400, 403, 413, 415, 429)},
        auth=[],
    )
    def post(self, request: Request) -> Response:
        """Sign in."""
        serializer = self.Input(data=request.data)
        serializer.is_valid(raise_exception=True)
        data: dict[str, Any] = serializer.validated_data
        signed_in = services.sign_in(
            request=request._request,
            login=data["login"],
            password=data["password"],
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


class SignOut(ReadOperation):
    """Revokes the token it is called with. Calling it twice does no harm: the second time it is not known."""

    #: There is nothing to read here.
    sensitive = False
    roles = READERS
    takes_given_passwords = True

    @extend_schema(
        operation_id="signOut",
        summary="Sign out",
        tags=["sessions"],
        request=None,
        responses={204: None, **problems(401, 403)},
    )
    def post(self, request: Request) -> Response:
        """Sign out."""
        _, token = signed_in(request)
        services.sign_out(token=token, actor=context_of(request).actor)
        return Response(status=204)
