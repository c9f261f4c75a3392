"""What every answer has: the request's id, its language, what a browser may do with it, and permission for pages of
other origins (CORS)."""

import re
import uuid
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers

from casino.core import lost

#: Headers that pages of other origins may send, and may read in answers.
_METHODS = "GET, POST"
_SENT = "Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, X-Request-Id"
_READ = "ETag, Idempotency-Replayed, Retry-After, X-Request-Id"
#: Seconds for which a browser may cache the answer to a preflight.
_REMEMBERED = "600"
#: The policy of what is no page: a browser that shows it all the same loads nothing and runs nothing.
NO_PAGE = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
_USABLE = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")


class RequestIdMiddleware:
    """Sets `request.request_id` and the X-Request-Id header of the answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve one request."""
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        request_id = given if _USABLE.match(given) else str(uuid.uuid4())
        request.request_id = request_id  # type: ignore[attr-defined]
        lost.request_begins()
        response = self.get_response(request)
        response["X-Request-Id"] = request_id
        return response


class ClosedMiddleware:
    """What an answer is without a word of its own: no page, in no frame, and kept by nobody. Files of the screens say
    themselves for how long they are good."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve one request."""
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", NO_PAGE)
        response.headers.setdefault("Cache-Control", "no-store")
        return response


class EnglishMiddleware:
    """English is the only language of the API. Every answer says so; Accept-Language changes nothing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve one request."""
        response = self.get_response(request)
        response.setdefault("Content-Language", "en")
        return response


class CorsMiddleware:
    """Lets browsers show answers to pages of the origins in `CASINO_CORS_ORIGINS` only."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve one request; a preflight is answered at once."""
        origin = request.META.get("HTTP_ORIGIN", "")
        allowed = origin in settings.CASINO_CORS_ORIGINS
        if allowed and request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers:
            response = HttpResponse(status=204)
            response["Access-Control-Allow-Methods"] = _METHODS
            response["Access-Control-Allow-Headers"] = _SENT
            response["Access-Control-Max-Age"] = _REMEMBERED
        else:
            response = self.get_response(request)
        if settings.CASINO_CORS_ORIGINS:
            patch_vary_headers(response, ["Origin"])
        if allowed:
            response["Access-Control-Allow-Origin"] = origin
            response["Access-Control-Expose-Headers"] = _READ
        return response


class CompressionMiddleware(GZipMiddleware):
    """gzip for answers without a version: compression makes an ETag weak, and If-Match takes only strong ones. Answers
    that forbid it (`no-transform`) are sent as they are."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The answer, compressed if it is long enough and the caller accepts gzip."""
        as_it_is = response.has_header("ETag") or "no-transform" in response.get("Cache-Control", "")
        return response if as_it_is else super().process_response(request, response)
