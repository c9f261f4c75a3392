"""Cursor pagination: stable under inserts, oldest first unless the request asks for newest first."""

import re
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request

from casino.core.errors import BadRequest

_ID = re.compile(r"[0-9]{1,18}\Z", re.ASCII)
#: What `sort` may be, and the order of rows that it means.
ORDERS = {"oldest": "id", "newest": "-id"}
MAX_PAGE_SIZE = 1000

#: The query parameters of every list.
PAGING = (
    OpenApiParameter("cursor", str, OpenApiParameter.QUERY),
    OpenApiParameter(
        "page_size", {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE, "default": 100}, OpenApiParameter.QUERY
    ),
    OpenApiParameter("sort", str, OpenApiParameter.QUERY, enum=list(ORDERS), default="oldest"),
)


class ByCursor(CursorPagination):
    """By id, a hundred rows a page, at most a thousand."""

    ordering = "id"
    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = MAX_PAGE_SIZE

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> tuple[str, ...]:
        """The order that `sort` asks for. Raises BadRequest unless it is `oldest` or `newest`."""
        asked = request.query_params.get("sort", "oldest")
        if asked not in ORDERS:
            raise BadRequest(f"sort is {' or '.join(ORDERS)}.", code="invalid_parameter", parameters=["sort"])
        return (ORDERS[asked],)

    def decode_cursor(self, request: Request) -> Cursor | None:
        """The cursor in the request. Raises NotFound also if its position is not an id, which the base class
        accepts."""
        cursor: Cursor | None = super().decode_cursor(request)
        if cursor is not None and cursor.position is not None and not _ID.match(str(cursor.position)):
            raise NotFound(self.invalid_cursor_message)
        return cursor

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """OpenAPI 3.0 of a page; `next` and `previous` are null at the ends."""
        link = {"type": "string", "nullable": True, "format": "uri"}
        return {
            "type": "object",
            "required": ["results", "next", "previous"],
            "properties": {"next": link, "previous": link, "results": schema},
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Empty: every list declares PAGING itself."""
        return []
