"""A table: what lies on it, who is to act, what may be done now."""

from typing import Any

from django.http import HttpResponse
from django.urls import path

from casino.console import board, glossary, pages, slots
from casino.console.pages import Screen
from casino.core import languages


@pages.signed_in
def table(screen: Screen, code: str) -> HttpResponse:
    """The console of a table."""
    seen = _seen(screen, code)
    words = glossary.of_game(_game(screen, seen["table"]["game"])["title"])
    return screen.show("table", seen | {"house_rules": _house_rules(screen), "terms": words})


@pages.signed_in
def part(screen: Screen, code: str) -> HttpResponse:
    """The part of the console that changes with every act."""
    return screen.show("table_part", _seen(screen, code))


@pages.signed_in
def display(screen: Screen, code: str) -> HttpResponse:
    """The table as the room sees it: what is public, and nothing to press."""
    live = "HX-Request" in screen.request.headers
    shown: dict[str, Any] = {} if live else {"house_rules": _house_rules(screen)}
    return screen.show("ring" if live else "display", _seen(screen, code) | {"plays": False} | shown)


def _house_rules(screen: Screen) -> Any:
    """The version of the rules of the house that is in force; None where nobody has set one."""
    return screen.door.read("house/rules")["rules"]


def _game(screen: Screen, name: str) -> dict[str, Any]:
    """A game's declaration: the same for everybody as long as the process lives, and read with every refresh."""
    if name not in _declared:
        _declared[name] = screen.door.read(f"games/{name}")
    return _declared[name]


_declared: dict[str, dict[str, Any]] = {}


def _seen(screen: Screen, code: str) -> dict[str, Any]:
    found = screen.door.read(f"tables/{code}")
    game = _game(screen, found["game"])
    verbs = slots.by_writer(game)
    asked = screen.door.ask(f"tables/{code}/hand")
    hand = asked.body if asked.is_success else None
    title = languages.said(languages.Kind.GAME, game["title"])
    context = {
        "table": found, "game": game | {"title": title}, "hand": hand, "seats": board.seats(found, hand),
        "version": hand["version"] if hand else found["version"], "cards": next(iter(game["cards"].values())),
        "plays": screen.has("dealer", "floor"), "decides": screen.may("compareReadings"),
    }  # fmt: skip
    if hand is None:
        return context
    lines = board.lines(hand, verbs)
    offers = slots.offers(hand, verbs)
    acting = [seat for seat in context["seats"] if seat.to_act]
    return context | {
        "facts": board.of_table(hand), "lines": lines[: board.LINES], "all_lines": lines, "offers": offers,
        "acting": acting, "slots": slots.slots(hand, game, verbs, offers) if offers else [],
    }  # fmt: skip


urls = [path("tables/<slug:code>", table), path("tables/<slug:code>/part", part), path("display/<slug:code>", display)]
