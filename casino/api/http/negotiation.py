"""In which format an answer is given."""

from typing import Any

from rest_framework.negotiation import BaseContentNegotiation, DefaultContentNegotiation

_ANYTHING = "*/*"


class AsAsked(DefaultContentNegotiation):
    """As Django REST framework negotiates, without parsing what almost every request asks for: anything, or the first
    format of the view."""

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        """The renderer and its media type. Raises NotAcceptable."""
        first, accept = renderers[0], request.META.get("HTTP_ACCEPT", _ANYTHING)
        if accept in (_ANYTHING, first.media_type) and not format_suffix and not request.META.get("QUERY_STRING"):
            return first, first.media_type
        return super().select_renderer(request, renderers, format_suffix)


class AsItIs(BaseContentNegotiation):
    """The address alone decides the format of the answer; refusals remain problem documents."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        """There is no body."""
        return parsers[0]

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        """JSON, for refusals."""
        return renderers[0], renderers[0].media_type
