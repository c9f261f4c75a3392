"""A browser without scripts: it keeps cookies, follows links, and sends forms as pages have them."""

import re
from dataclasses import dataclass
from html import unescape
from typing import Any
from urllib.parse import urlencode

import httpx

from casino.console import cookies
from casino.staff.models import Role, TerminalKind
from tests.casino.kit import Kit, application

_TOKEN = re.compile(r'name="csrf" content="([^"]+)"')
_KEY = re.compile(r'name="key" value="([^"]+)"')


@dataclass
class Browser:
    """A browser on the real application."""

    http: httpx.Client
    page: str = ""

    @classmethod
    def new(cls, kit: Kit) -> "Browser":
        """A browser that knows nothing."""
        client = httpx.Client(
            transport=httpx.WSGITransport(app=application(), raise_app_exceptions=False), base_url="http://localhost",
        )  # fmt: skip
        kit.clients.append(client)
        return cls(client)

    @classmethod
    def of(cls, kit: Kit, role: Role, kind: TerminalKind = TerminalKind.OFFICE, location: str = "") -> "Browser":
        """A browser at which a newly hired person is signed in."""
        found = cls.new(kit)
        found.http.cookies.set(cookies.SESSION, kit.token(role, kind, location), domain="localhost.local")
        return found

    def open(self, path: str, **query: Any) -> httpx.Response:
        """Open a page."""
        answer = self.http.get(f"/console/{path}", params=query)
        self.page = answer.text
        return answer

    def submit(self, path: str, fields: dict[str, Any] | None = None, *, forged: bool = False) -> httpx.Response:
        """Send a form of the page that is open, with its hidden fields."""
        hidden = {} if forged else {"csrfmiddlewaretoken": unescape(_TOKEN.search(self.page)[1])}  # type: ignore[index]
        if (key := _KEY.search(self.page)) is not None:
            hidden["key"] = key[1]
        answer = self.http.post(
            f"/console/{path}", content=urlencode(hidden | (fields or {}), doseq=True),
            headers={"Content-Type": "application/x-www-form-urlencoded"},
        )  # fmt: skip
        if answer.text:
            self.page = answer.text
        return answer
