"""Answers in one fixed format, whatever the Accept header asks for."""

from typing import Any

from rest_framework.negotiation import BaseContentNegotiation


class AsItIs(BaseContentNegotiation):
    """The address alone decides the format of the answer; refusals remain problem documents."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        """There is no body."""
        return parsers[0]

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        """JSON, for refusals."""
        return renderers[0], renderers[0].media_type
