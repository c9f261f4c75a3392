"""The rules of the house, for who is at a terminal and for the player of a seat: the version in force, in the
reader's language, and those of before."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path

from casino.console import cookies, pages
from casino.console.door import Door
from casino.console.pages import Screen
from casino.core import languages


@pages.signed_in
def rules(screen: Screen) -> HttpResponse:
    """The version in force."""
    return screen.show("rules", _shown(screen.door.read("house/rules")))


@pages.signed_in
def one(screen: Screen, number: int) -> HttpResponse:
    """A version, in force or not."""
    found = screen.door.read("house/rules")
    version = screen.door.read(f"house/rules/{number}")
    return screen.show("rules", _shown(found | {"rules": version}))


@pages.anybody
def at_seat(request: HttpRequest) -> HttpResponse:
    """The version in force, on a player's own device."""
    key = cookies.seat(request)
    if key is None:
        return HttpResponseRedirect("/console/seat")
    found = Door(request, key, scheme="Seat").read("seat/rules")
    return pages.show(request, "rules", _shown(found) | {"of_seat": True})


def _shown(found: dict[str, Any]) -> dict[str, Any]:
    """The text in the reader's language, or in the first one that there is."""
    version = found["rules"]
    if version is None:
        return {"version": None, "history": []}
    wanted = languages.spoken()
    language = wanted if wanted in version["texts"] else version["languages"][0]
    if language not in version["texts"]:
        raise Http404
    history = [one for one in found["history"] if one["number"] != version["number"]]
    newest = max(one["number"] for one in found["history"])
    return {
        "version": version, "text": version["texts"][language], "text_language": language, "history": history,
        "in_force": version["number"] == newest,
    }  # fmt: skip


urls = [path("rules", rules), path("rules/<int:number>", one), path("seat/rules", at_seat)]
