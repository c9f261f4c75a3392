"""The floor: every table at a glance, and what needs a person."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpResponse
from django.urls import path
from django.utils.translation import gettext, gettext_noop

from casino.console import desks, glossary, operations, pages
from casino.console.pages import Screen
from casino.console.said import code

#: States of tables that come first.
_URGENT = frozenset({"disputed", "settling"})


@pages.signed_in
def floor(screen: Screen) -> HttpResponse:
    """The room. What refreshes itself reads nothing of which the trail keeps that it was read: the event of the
    reading would be the next thing to refresh for."""
    live = "HX-Request" in screen.request.headers
    context: dict[str, Any] = {
        "tables": _tables(screen), "queue": _queue(screen, noted=False), "disputed": _disputed(screen),
    }  # fmt: skip
    if not live:
        context["terms"] = glossary.of_house(glossary.FLOOR)
        context["noted"] = _queue(screen, noted=True)
    return screen.show("floor_part" if live else "floor", context)


def _tables(screen: Screen) -> list[dict[str, Any]]:
    """The tables in use, those that need somebody first."""
    tables: list[dict[str, Any]] = screen.door.read("tables", page_size=200)["results"]
    return sorted((one for one in tables if one["state"] != "retired"), key=lambda one: one["state"] not in _URGENT)


def _disputed(screen: Screen) -> list[dict[str, Any]]:
    """The hands that wait for a ruling, for those who may look at both readings."""
    if not screen.may("compareReadings"):
        return []
    return desks.rows(screen, "listHands", state="disputed")


def _queue(screen: Screen, *, noted: bool) -> list[dict[str, Any]]:
    """What waits for a person: its kind, what it is, and what may be done with it; of lists of which it is `noted` that
    they were read, or of the others."""
    found = []
    for source in _SOURCES:
        reading = desks.mine(screen, source.read)
        if reading is None or bool(reading.view.sensitive) != noted:
            continue
        acts = operations.of_rows(reading, screen.session["roles"])
        for row in desks.rows(screen, source.read, **source.query):
            if source.waits(row):
                item = {"title": gettext(source.title), "text": source.text(row), "acts": operations.on_row(acts, row)}
                found.append(item)
    return found


@dataclass(frozen=True, slots=True)
class Source:
    """Where a part of the queue comes from: a list of the API, which of its rows wait, and what is said of each."""

    read: str
    title: str
    text: Callable[[dict[str, Any]], str]
    waits: Callable[[dict[str, Any]], bool] = lambda row: True
    query: Mapping[str, str] = field(default_factory=dict)


def _hours(minutes: int) -> str:
    """Minutes as hours and minutes, `3:07`."""
    return f"{minutes // 60}:{minutes % 60:02}"


_SOURCES = (
    Source(
        "listApprovals", gettext_noop("Approval"),
        lambda row: f"{row['approval']} · {code(row['kind'])} · {row['requested_by']}", query={"state": "requested"},
    ),
    Source(
        "listCardExceptions", gettext_noop("Cards"),
        lambda row: f"{row['table']} · {code(row['kind'])} · {code(row['found'].get('problem', ''))}",
        lambda row: row["cleared_at"] is None,
    ),
    Source(
        "listTransfers", gettext_noop("Transfer"),
        lambda row: f"{code(row['kind'])} {row['serial']} · {row['table']} · {code(row['state'])}",
        lambda row: row["ended_at"] is None,
    ),
    Source(
        "listDueRealityChecks", gettext_noop("Reality check"),
        lambda row: f"{row['player']} · {row['table']}/{row['seat']} · {_hours(row['minutes'])}",
    ),
    Source(
        "listWaiting", gettext_noop("Waiting list"),
        lambda row: f"{row['ticket']} · {row['game']} · {code(row['state'])}",
        lambda row: row["state"] in ("waiting", "called"),
    ),
)  # fmt: skip


urls = [path("floor", floor)]
