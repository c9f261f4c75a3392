"""What every screen has: who is signed in, language, the headers that let nothing from elsewhere in."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from uuid import uuid4

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import get_language_from_request, gettext, gettext_noop
from django.views.decorators.csrf import csrf_protect

from casino.api.http.authentication import UNATTENDED
from casino.console import cookies, offices, operations
from casino.console.door import Answer, Door, Refused
from casino.console.money import Money
from casino.core import languages
from casino.core.errors import NotFound

#: Nothing but the house's own scripts, styles and pictures; no page of another site shows ours.
POLICY = "; ".join(
    (
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
        "font-src 'self'", "manifest-src 'self'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
    )
)  # fmt: skip
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=()",
}
THEMES = ("device", "light", "dark")
#: From this status on it is not the request that is wrong.
FAILED = 500
#: Refusals of a house that writes nothing until people have decided.
READ_ONLY = frozenset({"log_rolled_back", "log_damaged", "outside_checkpoint_missing", "outside_checkpoint_unreadable"})
#: What says so to a script that has sent a write: it was not recorded, and repeating it is of no use.
READ_ONLY_HEADER = "X-Read-Only"
#: What a page sends along when it asks by itself.
_UNATTENDED = "X-Unattended"

#: Pages that everybody has who may use an operation: the operation, the address, the words.
_BY_OPERATION = (
    ("listReports", "reports", gettext_noop("Reports")),
    ("listEvents", "audit", gettext_noop("Audit trail")),
    ("verifyHouse", "verification", gettext_noop("Verification")),
    ("readStatus", "status", gettext_noop("Does everything run?")),
)

P = ParamSpec("P")
R = TypeVar("R", bound=HttpResponseBase)


@dataclass(frozen=True, slots=True)
class Screen:
    """A request for a screen by a person who is signed in: the request, the door to the house, who it is."""

    request: HttpRequest
    door: Door
    session: dict[str, Any] = field(default_factory=dict)

    @property
    def money(self) -> Money:
        """How amounts are written here."""
        return Money(self.session["currency"], self.session["currency_exponent"], self.session["time_zone"])

    @property
    def desks(self) -> list[dict[str, str]]:
        """The pages that lead on from every page."""
        found = []
        if self.has("floor", "manager", "cage_supervisor", "surveillance", "compliance"):
            found.append({"path": "floor", "title": gettext("The floor")})
        if self.session["terminal_kind"] == "cage" and self.has("cashier", "cage_supervisor", "manager"):
            found.append({"path": f"drawers/{self.session['location']}", "title": gettext("The drawer")})
        if self.session["terminal_kind"] == "office" and self.has("count", "cage_supervisor", "manager"):
            found.append({"path": "count", "title": gettext("The count room")})
        found += self.office_pages(lambda page: self.has(*page.desk_of))
        for name, path, title in _BY_OPERATION:
            if self.may(name):
                found.append({"path": path, "title": gettext(title)})
        return [*found, {"path": "work", "title": gettext("Everything")}]

    def office_pages(self, wanted: Callable[[offices.Page], bool]) -> list[dict[str, str]]:
        """Those pages of the office."""
        return [{"path": one.path, "title": gettext(one.title)} for one in offices.PAGES if wanted(one)]

    def may(self, name: str) -> bool:
        """Whether the person may use the operation of this name."""
        return bool(operations.every()[name].roles & set(self.session["roles"]))

    def has(self, *roles: str) -> bool:
        """Whether the person has one of the roles."""
        return bool(set(roles) & set(self.session["roles"]))

    def show(self, template: str, context: dict[str, Any] | None = None, status: int = 200) -> HttpResponse:
        """A page."""
        whose = "/".join(self.session[name] for name in ("house", "login", "terminal"))
        given = {"screen": self, "me": self.session, "kept_key": cookies.kept_key(whose), **(context or {})}
        response = show(self.request, template, given, status)
        if ((context or {}).get("problem") or {}).get("code") in READ_ONLY:
            response.headers[READ_ONLY_HEADER] = "1"
        return response


def show(request: HttpRequest, template: str, context: dict[str, Any] | None = None, status: int = 200) -> HttpResponse:
    """A page, for anybody."""
    theme = cookies.theme(request)
    given = {
        "theme": theme if theme in THEMES else "device", "path": request.get_full_path(), "key": uuid4().hex,
        "language": languages.spoken(), "languages": languages.NAMES.items(), "mark": languages.decimal_mark(),
        "script_words": languages.of_scripts(languages.spoken()), **(context or {}),
    }  # fmt: skip
    return render(request, f"console/{template}.html", given, status=status)


def closed(response: R) -> R:
    """A response that lets nothing from elsewhere in."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response


def anybody(view: Callable[Concatenate[HttpRequest, P], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A screen that needs nobody to be signed in."""

    @wraps(view)
    def shown(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        with languages.speaking(get_language_from_request(request)):
            try:
                response = view(request, *args, **kwargs)
            except NotFound as error:
                response = show(request, "refused", {"problem": {"title": error.detail, "status": 404}}, 404)
            except Refused as refused:
                response = outage(request, refused.answer)
            response.headers["Content-Language"] = languages.spoken()
        add_never_cache_headers(response)
        return closed(response)

    protected: Callable[..., HttpResponseBase] = csrf_protect(shown)

    @wraps(view)
    def page(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        cookies.take_from_tls(request)
        response = protected(request, *args, **kwargs)
        cookies.keep_to_tls(request, response)
        return response

    return page


def signed_in(
    view: Callable[Concatenate[Screen, P], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """A screen for a person who is signed in, and must do nothing else first; others are sent to where they do it."""

    def page(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        screen = of(request)
        if screen is None:
            return _elsewhere(request, "sign-in")
        if must := screen.session["must"]:
            return _elsewhere(request, must.replace("_", "-"))
        try:
            return view(screen, *args, **kwargs)
        except Refused as refused:
            return _refused(screen, refused)

    page.__doc__ = view.__doc__
    return anybody(page)


def of(request: HttpRequest) -> Screen | None:
    """The screen of the person who is signed in; None where nobody is, or the token is no longer good. Raises Refused
    where the house cannot say: nobody is sent to sign in because it does not answer."""
    token = cookies.token(request)
    if token is None:
        return None
    if _UNATTENDED in request.headers:
        request.META[UNATTENDED] = True
    door = Door(request, token)
    found = door.ask("session")
    if found.status >= FAILED:
        raise Refused(found)
    return Screen(request, door, found.body) if found.is_success else None


def _refused(screen: Screen, refused: Refused) -> HttpResponseBase:
    """The page that says why something cannot be read; a person whose token has ended signs in."""
    answer = refused.answer
    if answer.status == 401 or answer.code == "reauthentication_required":
        return _elsewhere(screen.request, "sign-in" if answer.status == 401 else "password")
    if answer.status >= FAILED:
        return outage(screen.request, answer)
    return screen.show("refused", {"problem": answer.body}, answer.status)


def of_seat(
    request: HttpRequest, address: str, template: str, shown: Callable[[Any, Door], dict[str, Any]]
) -> HttpResponse:
    """A page for the player of a seat, of what is read at this address: `shown` makes its context of the body. Without
    a key, or with one that is no longer good, the page that asks for it."""
    key = cookies.seat(request)
    if key is None:
        return HttpResponseRedirect("/console/seat")
    door = Door(request, key, scheme="Seat")
    answer = door.ask(address)
    if answer.status == 401:
        return HttpResponseRedirect("/console/seat")
    if answer.status >= FAILED:
        return outage(request, answer)
    if not answer.is_success:
        return show(request, "refused", {"problem": answer.body}, answer.status)
    context = {"of_seat": True, "kept_key": cookies.kept_key(f"seat/{key}")}
    return show(request, template, context | shown(answer.body, door))


def outage(request: HttpRequest, answer: Answer) -> HttpResponse:
    """The page for a house that does not answer, or writes nothing: what that means, and what people do meanwhile."""
    problem = answer.body if isinstance(answer.body, dict) else {}
    sides = [(name, _side(problem[name])) for name in ("outside", "database", "file") if name in problem]
    read_only = problem.get("code") in READ_ONLY
    return show(request, "outage", {"problem": problem, "read_only": read_only, "sides": sides}, answer.status)


def _side(value: Any) -> str:
    """What stands on one side of a log that does not fit: its epoch and how many events it has."""
    if not isinstance(value, dict):
        return str(value)
    return ", ".join(f"{name} {value[name]}" for name in ("epoch", "size") if name in value)


def _elsewhere(request: HttpRequest, where: str) -> HttpResponse:
    """Send a person to another page, and back afterwards. A part of a page is not replaced by another page: the whole
    page goes there."""
    target = f"/console/{where}?{urlencode({'next': request.get_full_path()})}"
    if "HX-Request" in request.headers:
        current = request.headers.get("HX-Current-URL", "")
        target = f"/console/{where}?{urlencode({'next': _path_of(current)})}"
        return HttpResponse(status=204, headers={"HX-Redirect": target})
    return HttpResponseRedirect(target)


def _path_of(address: str) -> str:
    _, _, rest = address.partition("://")
    return "/" + rest.partition("/")[2]


def second_factor(request: HttpRequest) -> dict[str, Any]:
    """The code or the answer of a passkey in a form, as the body of a request has them; neither where none was given.
    What cannot be read is for the operation to refuse."""
    given = {"code": request.POST["code"]} if request.POST.get("code") else {}
    if not (text := request.POST.get("passkey", "")):
        return given
    try:
        return given | {"passkey": json.loads(text)}
    except (ValueError, RecursionError):
        return given | {"passkey": text}


def after(request: HttpRequest) -> str:
    """Where a person goes from here: to the page that sent them, if it is one of ours, else to the first."""
    target = request.POST.get("next") or request.GET.get("next") or ""
    safe = url_has_allowed_host_and_scheme(target, allowed_hosts=None) and target.startswith("/console/")
    return target if safe else "/console/"
