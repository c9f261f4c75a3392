"""The ledger as auditors read it: accounts, statements, balances of the past, the whole book for download."""

from typing import Any, get_args

from django.http import StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.negotiation import AsItIs
from casino.api.http.operations import (
    OVERSIGHT,
    ReadOperation,
    context_of,
    known_parameters,
    moment,
    problems,
    signed_in,
    whole_number,
)
from casino.core.errors import BadRequest, NotFound
from casino.reports import books

TAG = "books"
#: Media type and ending of a file by its layout.
FILES = {
    "csv": ("text/csv; charset=utf-8", "csv"),
    "jsonl": ("application/jsonl; charset=utf-8", "jsonl"),
    "beancount": ("text/plain; charset=utf-8", "beancount"),
    "hledger": ("text/plain; charset=utf-8", "journal"),
}
MAX_VERSION = 10**15


def _query(name: str, kind: Any, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, kind, OpenApiParameter.QUERY, description=description)


class AccountList(CursorList):
    """Every account of the house with its balance."""

    sensitive = True

    @extend_schema_serializer(component_name="AccountListRow")
    class Row(serializers.Serializer[Any]):
        """An account; `balance` counts on the normal side, in minor units of the currency or pieces of a chip."""

        account = serializers.IntegerField(source="id")
        code = serializers.CharField()
        kind = serializers.CharField()
        commodity = serializers.CharField()
        normal_side = serializers.SerializerMethodField()
        balance = serializers.IntegerField()
        held = serializers.IntegerField()
        version = serializers.IntegerField()
        posted_at = serializers.DateTimeField(allow_null=True)
        closed_at = serializers.DateTimeField(allow_null=True)

        def get_normal_side(self, account: Any) -> str:
            """The side that raises the balance."""
            return "debit" if account.normal_side > 0 else "credit"

    roles = OVERSIGHT
    serializer_class = Row
    filters = {"code": "code", "commodity": "commodity"}

    def rows(self) -> Any:
        """The accounts of the house."""
        return books.accounts(signed_in(self.request)[0].house)

    @extend_schema(
        operation_id="listAccounts",
        summary="List the ledger's accounts",
        tags=[TAG],
        parameters=[_query("code", str, "one code"), _query("commodity", str, "one commodity")],
        responses={200: Row(many=True), **problems(400, 401, 403, 404)},
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """A page of accounts."""
        return super().get(request, *args, **kwargs)


class _Held(serializers.Serializer[Any]):
    """A balance of an account, now or in the past, and the number of entries that had led to it."""

    account = serializers.IntegerField()
    code = serializers.CharField()
    commodity = serializers.CharField()
    balance = serializers.IntegerField()
    version = serializers.IntegerField()


class AccountBalance(ReadOperation):
    """What an account holds, or held at a version or a moment."""

    sensitive = True
    roles = OVERSIGHT

    @extend_schema(
        operation_id="readBalance",
        summary="Read what an account holds or held",
        tags=[TAG],
        parameters=[
            _query("version", int, "just after its entry of this number"),
            _query("at", OpenApiTypes.DATETIME, "after its last entry posted then or earlier"),
        ],
        responses={200: _Held, **problems(400, 401, 403, 404)},
    )
    def get(self, request: Request, account: int) -> Response:
        """The balance."""
        asked = known_parameters(request, "version", "at")
        if len(asked) > 1:
            raise BadRequest("Name a version or a moment, not both.", code="invalid_parameter", parameters=["at"])
        version = whole_number(asked, "version", least=0, most=MAX_VERSION)
        return Response(books.balance(context_of(request).house, account, version=version, at=moment(asked, "at")))


class _Line(serializers.Serializer[Any]):
    """An entry: `amount` debit positive, `balance` what it left on the account's normal side."""

    version = serializers.IntegerField()
    transaction = serializers.IntegerField()
    kind = serializers.CharField()
    key = serializers.CharField()
    posted_at = serializers.DateTimeField()
    amount = serializers.IntegerField()
    balance = serializers.IntegerField()
    metadata = serializers.JSONField()


class _Statement(serializers.Serializer[Any]):
    """A page of a statement; `next_after_version` is the `after_version` of the following one, null on the last."""

    results = _Line(many=True)
    next_after_version = serializers.IntegerField(allow_null=True)


class AccountStatement(ReadOperation):
    """The entries of an account in the order of their versions."""

    sensitive = True
    roles = OVERSIGHT

    @extend_schema(
        operation_id="readStatement",
        summary="Read an account's statement",
        tags=[TAG],
        parameters=[
            _query("after_version", int, "entries with a greater version (0)"),
            _query("page_size", int, "1 to 1000 (100)"),
        ],
        responses={200: _Statement, **problems(400, 401, 403, 404)},
    )
    def get(self, request: Request, account: int) -> Response:
        """A page of the statement."""
        asked = known_parameters(request, "after_version", "page_size")
        after = whole_number(asked, "after_version", least=0, most=MAX_VERSION) or 0
        limit = whole_number(asked, "page_size", least=1, most=1000) or 100
        return Response(books.statement(context_of(request).house, account, after=after, limit=limit))


class Export(ReadOperation):
    """The whole book as one file, written while it is read: the same memory for any number of entries."""

    sensitive = True
    roles = OVERSIGHT
    content_negotiation_class = AsItIs

    @extend_schema(
        operation_id="exportBook",
        summary="Download the whole book: csv, jsonl, beancount or hledger",
        tags=[TAG],
        parameters=[
            OpenApiParameter("layout", str, OpenApiParameter.PATH, enum=list(FILES)),
            _query("from", OpenApiTypes.DATETIME, "csv, jsonl: posted then or later"),
            _query("until", OpenApiTypes.DATETIME, "posted before then"),
        ],
        responses={
            **{(200, media.partition(";")[0]): OpenApiTypes.STR for media, _ in FILES.values()},
            **problems(400, 401, 403, 404),
        },
    )
    def get(self, request: Request, layout: str) -> StreamingHttpResponse:
        """The file."""
        found = next((known for known in get_args(books.Layout) if known == layout), None)
        if found is None:
            raise NotFound(f"The book goes out as {', '.join(FILES)}.")
        asked = known_parameters(request, *(("from", "until") if layout in ("csv", "jsonl") else ("until",)))
        since, until = moment(asked, "from"), moment(asked, "until")
        house = context_of(request).house
        text = books.text(house, found, since=since, until=until)
        media, ending = FILES[layout]
        name = f"{house.code}-{timezone.now():%Y%m%dT%H%M%SZ}.{ending}"
        return StreamingHttpResponse(
            text, content_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'}
        )
