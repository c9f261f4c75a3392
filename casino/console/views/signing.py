"""Signing in and out, and what comes before: which terminal a browser is, a password, a second factor."""

from typing import Any
from urllib.parse import quote

import segno
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import path
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from casino.console import cookies, pages, said
from casino.console.door import Answer, Door
from casino.core import languages

_BOTH = require_http_methods(["GET", "POST"])


def _given(request: HttpRequest, *names: str) -> dict[str, str]:
    return {name: request.POST.get(name, "") for name in names}


@_BOTH
@pages.anybody
def terminal(request: HttpRequest) -> HttpResponse:
    """Say which terminal this browser is: its code and the key that it was enrolled with."""
    if request.method == "POST":
        given = _given(request, "terminal", "terminal_key")
        response = HttpResponseRedirect(f"/console/sign-in?next={pages.after(request)}")
        cookies.keep_terminal(response, cookies.Terminal(given["terminal"], given["terminal_key"]))
        return response
    return pages.show(request, "terminal", {"next": pages.after(request), "known": cookies.terminal(request)})


@_BOTH
@pages.anybody
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in at this terminal."""
    here = cookies.terminal(request)
    if here is None:
        return HttpResponseRedirect(f"/console/terminal?next={pages.after(request)}")
    answer = None
    if request.method == "POST":
        given = _given(request, "login", "password") | pages.second_factor(request)
        answer = Door(request, None).write("sign-in", {**given, "terminal": here.code, "terminal_key": here.key})
        if answer.is_success:
            if before := cookies.token(request):
                Door(request, before).write("sign-out", {})  # it is of the person before
            response = HttpResponseRedirect(pages.after(request))
            cookies.keep_token(response, answer.body["token"])
            return response
        if answer.status >= pages.FAILED:
            return pages.outage(request, answer)
    context = {"terminal": here.code, "next": pages.after(request), "login": request.POST.get("login", "")}
    return pages.show(request, "sign_in", context | _problem(answer), answer.status if answer else 200)


@require_POST
@pages.anybody
def challenge(request: HttpRequest) -> HttpResponse:
    """A challenge that a passkey signs to sign in at this terminal."""
    here = cookies.terminal(request)
    given = {"terminal": here.code, "terminal_key": here.key} if here else {}
    answer = Door(request, None).write("sign-in/challenge", given)
    return JsonResponse(answer.body if answer.is_success else said.in_words(answer.body), status=answer.status)


@require_POST
@pages.anybody
def sign_out(request: HttpRequest) -> HttpResponse:
    """Sign out; the token is revoked."""
    if token := cookies.token(request):
        Door(request, token).write("sign-out", {})
    response = HttpResponseRedirect("/console/sign-in")
    cookies.forget_token(response)
    return response


@_BOTH
@pages.anybody
def password(request: HttpRequest) -> HttpResponse:
    """Give the password again, or the PIN, at a terminal that was left alone."""
    if request.POST.get("pin"):
        return _due(request, "password", "password", lambda door: door.write("reauthenticate", _given(request, "pin")))
    return _due(request, "password", "password", lambda door: door.write(
        "reauthenticate", _given(request, "password") | pages.second_factor(request)
    ))  # fmt: skip


@_BOTH
@pages.anybody
def new_password(request: HttpRequest) -> HttpResponse:
    """Change the password; it must be done where the office gave it."""
    return _due(request, "new_password", "new_password", lambda door: door.write(
        "password", _given(request, "old", "new"), key=request.POST.get("key")
    ))  # fmt: skip


#: What a person changes of the own sign-in: the names of the form, and the words once it is done.
_OWN: dict[str, tuple[tuple[str, ...], Any]] = {
    "pin": (("password", "pin"), gettext_lazy("Your PIN is set.")),
    "no_pin": (("password",), gettext_lazy("You have no PIN any more.")),
    "password": (("old", "new"), gettext_lazy("Your password is changed. You are signed out everywhere else.")),
    "no_passkey": (("password",), gettext_lazy("The passkey is removed. You are signed out everywhere else.")),
    "no_session": ((), gettext_lazy("You are signed out there.")),
    "no_sessions": ((), gettext_lazy("You are signed out everywhere else.")),
}


@_BOTH
@pages.signed_in
def own(screen: pages.Screen) -> HttpResponse:
    """What a person changes of the own sign-in: password, PIN, passkeys, sessions; an app and a new passkey have pages
    of their own."""
    request, answer, done = screen.request, None, ""
    names, words = _OWN.get(request.POST.get("change", ""), ((), ""))
    if request.method == "POST" and words:
        address, more = _changed(request)
        answer = screen.door.write(address, _given(request, *names) | more, key=request.POST.get("key"))
        if answer.is_success:
            done, screen = words, pages.of(request) or screen
    lists = screen.door.read("passkeys") | screen.door.read("sessions")
    context = {"done": done, "next": "/console/own"} | lists | _problem(answer)
    return screen.show("own", context, answer.status if answer and not answer.is_success else 200)


def _changed(request: HttpRequest) -> tuple[str, dict[str, Any]]:
    """The operation for what is changed, and what it takes besides the fields of the form. Raises NotFound."""
    match request.POST["change"]:
        case "no_pin":
            return "pin", {"pin": None}
        case "no_passkey":
            return f"passkeys/{quote(request.POST.get('id', ''), safe='')}/remove", pages.second_factor(request)
        case "no_session":
            return "sessions/end", {"session": request.POST.get("id", "")}
        case "no_sessions":
            return "sessions/end", {"session": None}
        case change:
            return change, {}


def _due(request: HttpRequest, template: str, must: str, act: Any) -> HttpResponse:
    """A page for what a person must do first; afterwards the person goes on to where they were."""
    screen = pages.of(request)
    if screen is None:
        return HttpResponseRedirect("/console/sign-in")
    answer: Answer | None = act(screen.door) if request.method == "POST" else None
    if (answer is not None and answer.is_success) or (answer is None and screen.session["must"] not in ("", must)):
        response = HttpResponseRedirect(pages.after(request))
        if answer is not None and isinstance(answer.body, dict) and "token" in answer.body:
            cookies.keep_token(response, answer.body["token"])  # the session goes on with it
        return response
    context = {"next": pages.after(request)} | _problem(answer)
    return screen.show(template, context, answer.status if answer else 200)


@_BOTH
@pages.anybody
def second_factor(request: HttpRequest) -> HttpResponse:
    """Set up a second factor: first the password, then a code of the app that has read the picture."""
    screen = pages.of(request)
    if screen is None:
        return HttpResponseRedirect("/console/sign-in")
    if request.method == "GET":
        return screen.show("second_factor", {"next": pages.after(request)})
    given = _given(request, "password", "code", "uri")
    if given["uri"]:
        answer = screen.door.write("second-factor/confirm", {"code": given["code"]})
        if answer.is_success:
            return HttpResponseRedirect(pages.after(request))
        context = {"uri": given["uri"], "picture": picture(given["uri"])}
    else:
        answer = screen.door.write("second-factor", _given(request, "password") | pages.second_factor(request))
        uri = answer.body.get("uri", "") if answer.is_success else ""
        context = {"uri": uri, "picture": picture(uri)} if uri else {}
    shown = _problem(None if answer.is_success else answer)
    return screen.show("second_factor", {"next": pages.after(request)} | context | shown, answer.status)


@_BOTH
@pages.anybody
def new_passkey(request: HttpRequest) -> HttpResponse:
    """Register a passkey; a script asks the authenticator for it."""
    screen = pages.of(request)
    if screen is None:
        return HttpResponseRedirect("/console/sign-in")
    if screen.session["must"] not in ("", "second_factor"):
        return HttpResponseRedirect(f"/console/{screen.session['must'].replace('_', '-')}?next=/console/own")
    answer = None
    if request.method == "POST":
        made = pages.second_factor(request).get("passkey")
        body = _given(request, "name") | (made if isinstance(made, dict) else {})
        answer = screen.door.write("passkeys", body, key=request.POST.get("key"))
        if answer.is_success:
            return HttpResponseRedirect(pages.after(request))
    context = {"next": pages.after(request)} | _problem(answer)
    return screen.show("new_passkey", context, answer.status if answer else 200)


def picture(text: str) -> SafeString:
    """A QR code as SVG, without styles."""
    code = segno.make(text, error="m")
    return mark_safe(code.svg_inline(scale=6, dark="#000", light="#fff", omitsize=True))  # noqa: S308 - made here


@require_POST
@pages.anybody
def theme(request: HttpRequest) -> HttpResponse:
    """Choose light or dark, or leave it to the device."""
    chosen = request.POST.get("theme", "")
    response = HttpResponseRedirect(pages.after(request))
    if chosen in pages.THEMES:
        cookies.keep_theme(response, chosen)
    return response


@require_POST
@pages.anybody
def language(request: HttpRequest) -> HttpResponse:
    """Choose a language; it is that of this browser from now on."""
    chosen = request.POST.get("language", "")
    response = HttpResponseRedirect(pages.after(request))
    if chosen in languages.NAMES:
        cookies.keep_language(response, chosen)
    return response


def _problem(answer: Answer | None) -> dict[str, Any]:
    """What was refused, for a page."""
    return {} if answer is None or answer.is_success else {"problem": answer.body}


urls = [
    path("terminal", terminal),
    path("sign-in", sign_in),
    path("sign-in/challenge", challenge),
    path("sign-out", sign_out),
    path("password", password),
    path("own", own),
    path("new-password", new_password),
    path("second-factor", second_factor),
    path("new-passkey", new_passkey),
    path("theme", theme),
    path("language", language),
]
