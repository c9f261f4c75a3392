"""A page for every operation: what the signed-in person may do and read, found by its name or by what it is for."""

from itertools import groupby
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import path
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from casino.console import jobs, operations, pages
from casino.console.door import Answer, answer_of, cursors, is_json
from casino.console.operations import Operation
from casino.console.pages import Screen
from casino.console.show import Shown, shown
from casino.core.errors import NotFound


@pages.signed_in
def every(screen: Screen) -> HttpResponse:
    """All that the person may do, by desk."""
    mine = operations.of(screen.session["roles"])
    by_tag = sorted(mine, key=lambda one: one.tag)
    groups = [(tag, [*several]) for tag, several in groupby(by_tag, key=lambda one: one.tag)]
    readable = screen.office_pages(lambda page: any(map(screen.may, page.reads)))
    return screen.show("work", {"groups": groups, "offices": readable})


def _found(screen: Screen, name: str) -> Operation:
    """The operation of this name, if the person may use it. Raises NotFound."""
    if name not in operations.every() or not screen.may(name):
        raise NotFound(gettext("There is nothing at this address."))
    return operations.every()[name]


@require_http_methods(["GET", "POST"])
@pages.signed_in
def one(screen: Screen, name: str) -> HttpResponseBase:
    """Do or read one thing."""
    found = _found(screen, name)
    return _write(screen, found) if found.is_write else _read(screen, found)


# --- Reading --------------------------------------------------------------------------------------------------------


def _read(screen: Screen, found: Operation) -> HttpResponseBase:
    given = screen.request.GET
    path_of = {one.name: given.get(one.name, "") or jobs.here(screen, one.name) for one in found.parameters}
    query = {name: value for name, value in given.items() if name not in path_of and value}
    context: dict[str, Any] = {"operation": found, "named": path_of, "query": query}
    if all(path_of.values()):
        response = screen.door.fetch(found.path(path_of), **query)
        if not is_json(response):
            return response
        answer = answer_of(response)
        if not answer.is_success:
            return screen.show("read", context | {"problem": answer.body}, answer.status)
        context |= _read_answer(screen, found, answer)
    return screen.show("read", context)


def _read_answer(screen: Screen, found: Operation, answer: Answer) -> dict[str, Any]:
    body = answer.body
    rows, pages_of = (body, {}) if not found.is_list else (body["results"], cursors(body))
    acts = operations.of_rows(found, screen.session["roles"]) if found.is_list else []
    return {"shown": _with_acts(screen, shown(rows, screen.money), rows, acts), "pages": pages_of}


def _with_acts(screen: Screen, table: Shown, rows: Any, acts: list[Operation]) -> Shown:
    """A list with links to what may be done with each row."""
    for row, raw in zip(table.rows, rows if isinstance(rows, list) else (), strict=False):
        row.acts = operations.on_row(acts, raw)
    return table


# --- Writing --------------------------------------------------------------------------------------------------------


def _write(screen: Screen, found: Operation) -> HttpResponse:
    context = jobs.carried_out(screen, found)
    template = "write_part" if "HX-Request" in screen.request.headers else "write"
    return screen.show(template, context, context["status"])


urls = [path("work", every), path("work/<slug:name>", one)]
