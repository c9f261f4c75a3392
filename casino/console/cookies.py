"""What a browser keeps for the house: the terminal that it is, and the token of the person who is signed in.

No script can read either (HttpOnly), and no other site can have them sent (SameSite=Strict). Over HTTPS they are sent
over HTTPS only, and are named with `__Host-`: a browser takes such a cookie from this host alone, and another host of
the same domain, or a page without TLS, can set none in its place.
"""

import re
import secrets
from base64 import b64encode
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.crypto import salted_hmac

SESSION, TERMINAL, SEAT, THEME = "cukassza_session", "cukassza_terminal", "cukassza_seat", "cukassza_theme"
#: The mark of a player's own device: by its hash the house sees that two players have used one device.
DEVICE = "cukassza_device"
LANGUAGE = settings.LANGUAGE_COOKIE_NAME
#: How the name of every cookie begins over HTTPS.
PREFIX = "__Host-"
#: Seconds for which a browser remembers which terminal it is; browsers keep nothing for longer than 400 days.
ENROLLED = 400 * 24 * 3600
_MARK = re.compile(r"[0-9a-f]{64}").fullmatch


@dataclass(frozen=True, slots=True)
class Terminal:
    """The code of a terminal, and its key."""

    code: str
    key: str


def token(request: HttpRequest) -> str | None:
    """The token of the person who is signed in here; None where nobody is."""
    return request.COOKIES.get(SESSION) or None


def terminal(request: HttpRequest) -> Terminal | None:
    """Which terminal the browser is; None for one that was never enrolled."""
    code, _, key = request.COOKIES.get(TERMINAL, "").partition(".")
    return Terminal(code, key) if code and key else None


def keep_token(response: HttpResponse, text: str) -> None:
    """Let a browser keep the token of a sign-in until it is closed."""
    _set(response, SESSION, text)


def forget_token(response: HttpResponse) -> None:
    """Let a browser forget the token."""
    response.delete_cookie(SESSION, samesite="Strict")


def keep_terminal(response: HttpResponse, given: Terminal) -> None:
    """Let a browser remember which terminal it is."""
    _set(response, TERMINAL, f"{given.code}.{given.key}", max_age=ENROLLED)


def seat(request: HttpRequest) -> str | None:
    """The key of the seat whose device this browser is; None where it is none."""
    return request.COOKIES.get(SEAT) or None


def keep_seat(response: HttpResponse, key: str) -> None:
    """Let a browser keep the key of a seat until it is closed."""
    _set(response, SEAT, key)


def device(request: HttpRequest) -> str:
    """The mark of a browser that has been a player's device, a new one for others: 64 hex digits."""
    known = request.COOKIES.get(DEVICE, "")
    return known if _MARK(known) else secrets.token_hex(32)


def keep_device(response: HttpResponse, mark: str) -> None:
    """Let a browser keep its mark."""
    _set(response, DEVICE, mark, max_age=ENROLLED)


def forget_seat(response: HttpResponse) -> None:
    """Let a browser forget the key of a seat."""
    response.delete_cookie(SEAT, samesite="Strict")


def theme(request: HttpRequest) -> str | None:
    """The theme that somebody has chosen here; None where nobody has."""
    return request.COOKIES.get(THEME)


def keep_theme(response: HttpResponse, chosen: str) -> None:
    """Let a browser remember a theme."""
    _set(response, THEME, chosen, max_age=ENROLLED)


def keep_language(response: HttpResponse, chosen: str) -> None:
    """Let a browser remember a language."""
    _set(response, LANGUAGE, chosen, max_age=ENROLLED)


def kept_key(whose: str) -> str:
    """The key under which a browser keeps what somebody has typed and sent until it is answered, in base64: the same
    for a person who signs in again at the same terminal, and for nobody else."""
    return b64encode(salted_hmac("casino.console.kept", whose, algorithm="sha256").digest()).decode()


def take_from_tls(request: HttpRequest) -> None:
    """Over HTTPS no cookie counts but those that this host has set over HTTPS; here they have plain names."""
    if request.is_secure():
        request.COOKIES = {
            name.removeprefix(PREFIX): value for name, value in request.COOKIES.items() if name.startswith(PREFIX)
        }


def keep_to_tls(request: HttpRequest, response: HttpResponseBase) -> None:
    """Over HTTPS no cookie of an answer goes elsewhere, Django's own against forged forms included."""
    if request.is_secure():
        for name, morsel in list(response.cookies.items()):
            del response.cookies[name]
            morsel["secure"] = True
            response.cookies[PREFIX + name] = morsel.value
            response.cookies[PREFIX + name].update(morsel)


def _set(response: HttpResponse, name: str, value: str, **options: Any) -> None:
    response.set_cookie(name, value, httponly=True, samesite="Strict", **options)
