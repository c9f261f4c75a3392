"""The OpenAPI document, and the page that shows it; everybody may read them."""

from typing import Any

from django.http import HttpResponse
from django.urls import path
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

# Registers how both ways to sign in are described. Only who reads the description needs it: workers start without.
from casino.api.http import schema  # noqa: F401

_OPEN = {"authentication_classes": [], "permission_classes": [AllowAny]}
#: The document as it is sent, by its media type, and the headers besides.
_made: dict[str, tuple[bytes | str, dict[str, str]]] = {}


class Description(SpectacularAPIView):
    """The document, made once in a process for each media type: that takes seconds, and anybody may ask for it."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """The document."""
        renderer, media_type = request.accepted_renderer, request.accepted_renderer.media_type
        if media_type not in _made:
            made = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
            rendered = renderer.render(made.data, media_type, {"request": request, "view": self})
            _made[media_type] = rendered, {"Content-Disposition": made["Content-Disposition"]}
        body, headers = _made[media_type]
        return HttpResponse(body, content_type=media_type, headers=headers)


#: The page loads its scripts and the document from here, and calls operations here; its style is in the page.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


class Page(SpectacularSwaggerSplitView):
    """The page that shows the document."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The page, or its script."""
        answer: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        answer.headers["Content-Security-Policy"] = _POLICY
        return answer


urls = [
    path("schema", Description.as_view(**_OPEN), name="schema"),
    path("docs", Page.as_view(url_name="schema", **_OPEN), name="docs"),
]
