"""Cursor pagination: stable under inserts, oldest first."""

import re
from typing import Any

from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request

_ID = re.compile(r"[0-9]{1,18}\Z", re.ASCII)


class OldestFirst(CursorPagination):
    """By id, a hundred rows a page, at most a thousand."""

    ordering = "id"
    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000

    def decode_cursor(self, request: Request) -> Cursor | None:
        """The cursor asked for. Raises NotFound also when its position is no id, which the base would let through."""
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
