"""The ledger as auditors and the manager read it: accounts, statements, balances of the past, the book as a file."""

from typing import Any, get_args

from django.http import StreamingHttpResponse
from django.urls import path
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.negotiation import AsItIs
from casino.api.http.operations import (
    SEES_BOOKS,
    ReadOperation,
    context_of,
    documented,
    known_parameters,
    moment,
    signed_in,
    whole_number,
)
from casino.api.http.shapes import METADATA, Shaped
from casino.api.parts import number_of
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


#: What the account counts that an address names by its code.
_COMMODITY = _query(
    "commodity", str, "What the account counts: the currency (the default), or chips of a denomination."
)


@documented("listAccounts", summary="List the ledger's accounts", tag=TAG)
class AccountList(CursorList):
    """Every account of the house with its balance."""

    sensitive = True

    @extend_schema_serializer(component_name="AccountListRow")
    class Row(serializers.Serializer[Any]):
        """An account; `balance` counts on the normal side, in minor units of the currency or pieces of a chip."""

        account = serializers.CharField(
            source="code", help_text="Code of the account: number in the chart, then table, drawer, player."
        )
        kind = serializers.CharField(help_text="Name of the account in the chart of accounts.")
        commodity = serializers.CharField()
        normal_side = serializers.SerializerMethodField()
        balance = serializers.IntegerField()
        held = serializers.IntegerField()
        version = number_of("entries of the account")
        posted_at = serializers.DateTimeField(
            allow_null=True, help_text="When its last entry was posted; null if it has none."
        )
        closed_at = serializers.DateTimeField(allow_null=True)

        @extend_schema_field(
            {"type": "string", "enum": ["debit", "credit"], "description": "The side that raises the balance."}
        )
        def get_normal_side(self, account: Any) -> str:
            """The side that raises the balance."""
            return "debit" if account.normal_side > 0 else "credit"

    roles = SEES_BOOKS
    serializer_class = Row
    filters = {"account": "code", "commodity": "commodity", "kind": "kind"}

    def rows(self) -> Any:
        """The accounts of the house."""
        return books.accounts(signed_in(self.request)[0].house)


class BalanceOut(serializers.Serializer[Any]):
    """A balance of an account, now or in the past, and the number of entries that had led to it."""

    account = serializers.CharField(help_text="Code of the account.")
    commodity = serializers.CharField()
    balance = serializers.IntegerField()
    version = number_of("entries that led to this balance")


@documented(
    "readBalance",
    summary="Read what an account holds or held",
    answers=BalanceOut,
    tag=TAG,
    parameters=[
        _COMMODITY,
        _query("version", {"type": "integer", "minimum": 0}, "Just after the account's entry of this number."),
        _query("at", OpenApiTypes.DATETIME, "After its last entry posted then or earlier."),
    ],
    refuses=["not_found"],
)
class AccountBalance(ReadOperation):
    """What an account holds, or held at a version or at a time."""

    sensitive = True
    roles = SEES_BOOKS

    def get(self, request: Request, account: str) -> Response:
        """The balance."""
        asked = known_parameters(request, "commodity", "version", "at")
        if asked.keys() >= {"version", "at"}:
            raise BadRequest("Name a version or a time, not both.", code="invalid_parameter", parameters=["at"])
        version = whole_number(asked, "version", least=0, most=MAX_VERSION)
        house, commodity = context_of(request).house, asked.get("commodity")
        return Response(books.balance(house, account, commodity, version=version, at=moment(asked, "at")))


class StatementLine(serializers.Serializer[Any]):
    """An entry: `amount` is positive for a debit; `balance` is the account's balance after it, on its normal side."""

    version = serializers.IntegerField(help_text="Number of the entry at its account, from 1.")
    transaction = serializers.IntegerField()
    kind = serializers.CharField(help_text="Kind of the posting.")
    key = serializers.CharField(help_text="Key of the posting; the ledger posts a key once.")
    posted_at = serializers.DateTimeField()
    amount = serializers.IntegerField(help_text="Minor units or pieces; debits are positive, credits negative.")
    balance = serializers.IntegerField()
    metadata = Shaped(METADATA, help_text="What the posting says of itself, such as hand, table, reason.")


class StatementOut(serializers.Serializer[Any]):
    """A page of a statement."""

    results = StatementLine(many=True)
    next_after_version = serializers.IntegerField(
        allow_null=True, help_text="`after_version` of the following page; null on the last."
    )


@documented(
    "readStatement",
    summary="Read an account's statement",
    answers=StatementOut,
    tag=TAG,
    parameters=[
        _COMMODITY,
        _query("after_version", {"type": "integer", "minimum": 0, "default": 0}, "Entries with a greater version."),
        _query("page_size", {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}, "Entries on a page."),
        _query("from", OpenApiTypes.DATETIME, "Entries posted then and later."),
        _query("until", OpenApiTypes.DATETIME, "Entries posted before then."),
    ],
    refuses=["not_found"],
)
class AccountStatement(ReadOperation):
    """The entries of an account in the order of their versions."""

    sensitive = True
    roles = SEES_BOOKS

    def get(self, request: Request, account: str) -> Response:
        """A page of the statement."""
        asked = known_parameters(request, "commodity", "after_version", "page_size", "from", "until")
        after = whole_number(asked, "after_version", least=0, most=MAX_VERSION) or 0
        limit = whole_number(asked, "page_size", least=1, most=1000) or 100
        since, until = moment(asked, "from"), moment(asked, "until")
        house, commodity = context_of(request).house, asked.get("commodity")
        return Response(books.statement(house, account, commodity, after=after, limit=limit, since=since, until=until))


@documented(
    "exportBook",
    summary="Download the whole book",
    answers={(200, media.partition(";")[0]): OpenApiTypes.STR for media, _ in FILES.values()},
    tag=TAG,
    parameters=[
        OpenApiParameter("layout", str, OpenApiParameter.PATH, enum=list(FILES)),
        _query("from", OpenApiTypes.DATETIME, "Posted then and later; for csv and jsonl only."),
        _query("until", OpenApiTypes.DATETIME, "Posted before then."),
    ],
    refuses=["not_found", "unknown_book"],
)
class Export(ReadOperation):
    """The whole book as one file, written while it is read: the same memory for any number of entries."""

    sensitive = True
    roles = SEES_BOOKS
    content_negotiation_class = AsItIs

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


urls = [
    path("ledger/accounts", AccountList.as_view()),
    path("ledger/accounts/<path:account>/balance", AccountBalance.as_view()),
    path("ledger/accounts/<path:account>/statement", AccountStatement.as_view()),
    path("ledger/export/<slug:layout>", Export.as_view()),
]
