"""The one door from a screen to the house: an operation of the API, carried out in this process.

A screen asks for an operation by its address, as any client does, and gets the answer that any client gets. Nothing
goes over a network; nothing is decided here. So what a screen may do, what it is refused with and what the trail says
of it cannot differ from the API.
"""

import io
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import SimpleTemplateResponse
from django.urls import Resolver404, resolve
from django.utils.translation import gettext

from casino.api.live import HAND_OVER
from casino.core import languages
from casino.core.errors import NotFound

ROOT = "/api/v1/"
#: What a request to an operation keeps of the request for a screen.
_KEPT = ("REMOTE_ADDR", "SERVER_NAME", "SERVER_PORT", "SERVER_PROTOCOL", "HTTP_HOST", "wsgi.url_scheme", HAND_OVER)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation has answered: its status, the body as JSON has it, the version in its ETag."""

    status: int
    body: Any
    version: int | None = None

    @property
    def is_success(self) -> bool:
        """Whether the operation was carried out, or the read answered."""
        return self.status < 400

    @property
    def code(self) -> str:
        """The code of a refusal; empty for a success."""
        return "" if self.is_success or not isinstance(self.body, dict) else str(self.body.get("code", ""))


class Refused(Exception):
    """A read that a page cannot do without was refused."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        super().__init__(f"{answer.status} {answer.code}")


class Door:
    """The operations of the API, for whom a token names, or the key of a seat (scheme `Seat`). Without one, those that
    take none."""

    def __init__(self, request: HttpRequest, token: str | None, *, scheme: str = "Bearer") -> None:
        self._request, self._token, self._scheme = request, token, scheme

    def read(self, path: str, **query: Any) -> Any:
        """The body of a read. Raises Refused."""
        answer = self.ask(path, **query)
        if not answer.is_success:
            raise Refused(answer)
        return answer.body

    def ask(self, path: str, **query: Any) -> Answer:
        """A read, answered or refused."""
        return answer_of(self.fetch(path, **query))

    def fetch(self, path: str, **query: Any) -> HttpResponseBase:
        """A read as the API answers it: a file, or JSON."""
        return self.send("GET", path, query=urlencode({k: v for k, v in query.items() if v is not None}))

    def write(
        self, path: str, body: Any, *, key: str | None = None, version: int | None = None, approval: int | None = None
    ) -> Answer:
        """A write under an Idempotency-Key, on this version of its subject, with this approval."""
        headers = {
            "HTTP_IDEMPOTENCY_KEY": key,
            "HTTP_IF_MATCH": None if version is None else f'"{version}"',
            "HTTP_APPROVAL": None if approval is None else str(approval),
        }
        return answer_of(self.send("POST", path, json.dumps(body).encode(), headers))

    def send(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str | None] | None = None, query: str = ""
    ) -> HttpResponseBase:
        """Carry out an operation; the answer as the API gives it. Raises NotFound for an address that there is not."""
        try:
            match = resolve(ROOT + path)
        except Resolver404:
            raise NotFound(gettext("There is nothing at this address.")) from None
        request = self._made(method, ROOT + path, body, headers or {}, query)
        request.resolver_match = match
        # What is answered, recorded and kept for a repeat is the same whatever language the screen is in.
        with languages.speaking(languages.ENGLISH):
            response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
            if isinstance(response, SimpleTemplateResponse) and not response.is_rendered:
                response.render()
        return response

    def _made(self, method: str, path: str, body: bytes, headers: dict[str, str | None], query: str) -> WSGIRequest:
        given = self._request.META
        environ = {name: given[name] for name in _KEPT if name in given}
        environ |= {name: value for name, value in headers.items() if value is not None}
        if self._token is not None:
            environ["HTTP_AUTHORIZATION"] = f"{self._scheme} {self._token}"
        environ |= {
            "REQUEST_METHOD": method, "PATH_INFO": path, "SCRIPT_NAME": "", "QUERY_STRING": query,
            "CONTENT_TYPE": "application/json" if body else "", "CONTENT_LENGTH": str(len(body)),
            "wsgi.input": io.BytesIO(body),
        }  # fmt: skip
        made = WSGIRequest(environ)
        made.request_id = self._request.request_id  # type: ignore[attr-defined]
        return made


def is_json(response: HttpResponseBase) -> bool:
    """Whether a response holds JSON, not a file."""
    return "json" in response.headers.get("Content-Type", "json")


def answer_of(response: HttpResponseBase) -> Answer:
    """The answer in a response of JSON, or one without a body."""
    content = getattr(response, "content", b"")
    version = response.headers.get("ETag", "").strip('"')
    return Answer(
        response.status_code, json.loads(content) if content else None, int(version) if version.isdecimal() else None
    )


def cursors(body: dict[str, Any]) -> dict[str, str]:
    """The cursors of the pages of a list before (`previous`) and after (`next`) this one, where there are such."""
    found = {name: parse_qs(urlsplit(body[name] or "").query).get("cursor") for name in ("previous", "next")}
    return {name: cursor[0] for name, cursor in found.items() if cursor}
