"""The rules of the house, for who is at a terminal and for the player of a seat: the version in force, in the
reader's language, and those of before."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import path

from casino.console import pages
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
    return pages.of_seat(request, "seat/rules", "rules", lambda found, _door: _shown(found))


def _shown(found: dict[str, Any]) -> dict[str, Any]:
    """The text in the reader's language, or in the first one that there is."""
    version = found["rules"]
    if version is None:
        return {"version": None, "history": []}
    wanted = languages.spoken()
    language = wanted if wanted in version["texts"] else version["languages"][0]
    history = [one for one in found["history"] if one["number"] != version["number"]]
    return {
        "version": version, "text": version["texts"][language], "text_language": language, "history": history,
        "in_force": version["number"] == found["history"][0]["number"],
    }  # fmt: skip


urls = [path("rules", rules), path("rules/<int:number>", one), path("seat/rules", at_seat)]
