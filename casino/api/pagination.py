"""Cursor pagination: stable under inserts, oldest first."""

from typing import Any

from rest_framework.pagination import CursorPagination


class OldestFirst(CursorPagination):
    """By id, a hundred rows a page, at most a thousand."""

    ordering = "id"
    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """OpenAPI 3.0 of a page; `next` and `previous` are null at the ends."""
        link = {"type": "string", "nullable": True, "format": "uri"}
        return {
            "type": "object",
            "required": ["results", "next", "previous"],
            "properties": {"next": link, "previous": link, "results": schema},
        }
