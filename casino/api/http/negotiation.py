"""Answers that are what their address says, whatever the caller would rather have."""

from typing import Any

from rest_framework.negotiation import BaseContentNegotiation


class AsItIs(BaseContentNegotiation):
    """The address says what the answer is, whatever the caller would rather have; refusals stay problem documents."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        """There is no body."""
        return parsers[0]

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        """JSON, for refusals."""
        return renderers[0], renderers[0].media_type
