"""The office: people, duties to players, gaming days; founding a house step by step; the control points."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.urls import path
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from casino.console import desks, jobs, offices, operations, pages
from casino.console.desks import Act
from casino.console.offices import Office, Section
from casino.console.operations import Operation
from casino.console.pages import Screen
from casino.console.show import Shown, shown
from casino.core.errors import NotFound
from casino.houses.control_points import AMOUNTS, BOUNDS

#: Most rows of a list on a page of the office; the page of the list has the others.
_MOST = 100


@dataclass(frozen=True, slots=True)
class List:
    """A list as the page shows it; `more` names the operation that has the others, where there may be more."""

    title: str
    shown: Shown
    jobs: tuple[Act, ...]
    more: str


@pages.signed_in
def office(screen: Screen, name: str) -> HttpResponse:
    """One desk of the office."""
    found = next(one for one in offices.EVERY if one.path == name)
    lists = [one for section in found.sections if (one := _list(screen, section)) is not None]
    if not lists:
        raise NotFound(gettext("There is nothing at this address."))
    context = {"title": gettext(found.title), "text": gettext(found.text), "lists": lists}
    return screen.show("office", context | {"alarms": _alarms(screen, found)})


def _alarms(screen: Screen, found: Office) -> Shown | None:
    """What somebody must look at, on the page of the days, for who may know; on the other pages what belongs there."""
    if found.path not in offices.ALARMS or not screen.may("readHouseReport"):
        return None
    wanted = offices.ALARMS[found.path]
    alarms = [one for one in screen.door.read("reports/house")["alarms"] if wanted is None or one["alarm"] in wanted]
    return shown(alarms, screen.money) if alarms or wanted is None else None


def _list(screen: Screen, section: Section) -> List | None:
    reading = desks.mine(screen, section.read)
    if reading is None:
        return None
    body = screen.door.read(reading.pattern, page_size=_MOST, **section.query)
    raw = [row for row in body["results"] if section.wanted(row)]
    table = shown([{name: row.get(name) for name in section.columns} for row in raw], screen.money)
    allowed = [one for one in operations.of_rows(reading, screen.session["roles"]) if one.id in section.acts]
    for row, whole in zip(table.rows, raw, strict=True):
        row.acts = [each for act in allowed if _is_sensible(act, whole) for each in _on_row(act, whole)]
    return List(gettext(section.title), table, desks.jobs(screen, section.jobs), section.read if body["next"] else "")


def _is_sensible(act: Operation, row: dict[str, Any]) -> bool:
    return act.id not in offices.SENSIBLE or offices.SENSIBLE[act.id](row)


def _on_row(act: Operation, row: dict[str, Any]) -> list[tuple[Operation, dict[str, Any]]]:
    """An operation at a row. Some lists number their rows: the number is what the address of the operation names."""
    name = act.parameters[-1].name
    called = next((key for key in (name, "number", f"rota_{name}") if key in row), name)
    return operations.on_row([act], row | ({name: row[called]} if called in row else {}))


@pages.signed_in
def founding(screen: Screen) -> HttpResponse:
    """What the house still lacks before it can receive guests, step by step: what is missing, who can bring it, and
    the forms for it."""
    found = screen.door.read("house/readiness")
    steps = [_step(screen, item) for item in found["items"]]
    due = next((step["code"] for step in steps if not step["ready"]), "")
    stages = [("suspendHouse", "live"), ("resumeHouse", "suspended"), ("closeHouse", "suspended")]
    acts = desks.jobs(screen, [name for name, stage in stages if found["stage"] == stage])
    done = sum(step["ready"] for step in steps)
    return screen.show("founding", {"found": found, "steps": steps, "due": due, "done": done, "jobs": acts})


def _step(screen: Screen, item: dict[str, Any]) -> dict[str, Any]:
    title, names = offices.STEPS[item["item"]]
    return {"code": item["item"], "title": gettext(title), "acts": desks.jobs(screen, names), **item}


@require_http_methods(["GET", "POST"])
@pages.signed_in
def limits(screen: Screen) -> HttpResponse:
    """The control points: what is in force, what is to come, and a change of one of them."""
    answer, given = None, screen.request.POST
    if screen.request.method == "POST":
        point = given.get("point", "")
        body = {"points": {point: _typed(screen, point, given.get("value", ""))}, "reason": given.get("reason", "")}
        if given.get("valid_from"):
            body["valid_from"] = given["valid_from"]
        approval = jobs.whole(given.get("approval"))
        answer = screen.door.write("limits", body, key=given.get("key"), approval=approval)
    found = screen.door.read("limits")
    points = [_point(screen, name, value, found) for name, value in found["in_force"]["points"].items()]
    context = {
        "points": points, "found": found, "given": given, "may": screen.may("changeLimits"),
        "problem": answer.body if answer is not None and not answer.is_success else None,
        "done": answer is not None and answer.is_success,
    }  # fmt: skip
    return screen.show("limits", context, 200 if answer is None or answer.is_success else answer.status)


def _typed(screen: Screen, point: str, text: str) -> Any:
    """What was typed for a control point, as the API takes it; what is no such value stays as it was typed, and is
    refused by the house."""
    try:
        return screen.money.typed(text) if point in AMOUNTS else int(text)
    except ValueError:
        return text


def _point(screen: Screen, name: str, value: int, found: dict[str, Any]) -> dict[str, Any]:
    later = next((one for one in found["to_come"] if one["points"][name] != value), None)
    return {
        "name": name, "value": _said(screen, name, value), "bounds": BOUNDS.get(name),
        "later": None if later is None else _said(screen, name, later["points"][name]),
        "from": None if later is None else later["valid_from"],
    }  # fmt: skip


def _said(screen: Screen, name: str, value: int) -> str:
    return screen.money.shown(value) if name in AMOUNTS else str(value)


urls = [
    *(path(one.path, office, {"name": one.path}) for one in offices.EVERY),
    path("founding", founding),
    path("limits", limits),
]
