"""The cage: a drawer with its shift, from the float to the Z slip."""

from typing import Any
from uuid import uuid4

from django.http import HttpResponse
from django.urls import path
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from casino.console import desks, drawer, glossary, jobs, pages
from casino.console.pages import Screen
from casino.console.show import compared, shown
from casino.core.errors import NotFound


@pages.signed_in
def desk(screen: Screen, code: str) -> HttpResponse:
    """The desk of a drawer."""
    found = screen.door.read(f"drawers/{code}")
    more = {"forms": _forms(screen, found), "terms": glossary.of_house(glossary.CAGE)}
    return screen.show("cage", _seen(screen, found) | _listed(screen, found) | more)


@pages.signed_in
def part(screen: Screen, code: str) -> HttpResponse:
    """The part of the desk that changes with every event of the drawer."""
    return screen.show("cage_part", _seen(screen, screen.door.read(f"drawers/{code}")))


@pages.signed_in
def lists(screen: Screen, code: str) -> HttpResponse:
    """What waits for the drawer besides, and its shifts: read when a person has done something."""
    return screen.show("cage_lists", _listed(screen, screen.door.read(f"drawers/{code}")))


@pages.signed_in
def work(screen: Screen, code: str) -> HttpResponse:
    """The forms that the state of the drawer asks for."""
    found = screen.door.read(f"drawers/{code}")
    return screen.show("forms", {"drawer": found, "forms": _forms(screen, found)})


@require_http_methods(["GET", "POST"])
@pages.signed_in
def job(screen: Screen, code: str, name: str) -> HttpResponse:
    """One job at the drawer."""
    operation = desks.mine(screen, name) if name in _JOBS else None
    if operation is None:
        raise NotFound(gettext("There is no such job at a drawer, or it is for others."))
    context = jobs.carried_out(screen, operation, {"drawer": code}, of_desk=True)
    template = "write_part" if "HX-Request" in screen.request.headers else "write"
    more = {"back": f"/console/drawers/{code}", "title": drawer.title(name), "alone": template == "write"}
    return screen.show(template, context | more, context["status"])


@pages.signed_in
def slip(screen: Screen, code: str, shift: int) -> HttpResponse:
    """The Z slip of a shift that has ended."""
    found = screen.door.read(f"drawers/{code}/shifts/{shift}/z")
    money = screen.money
    lists = {name: shown(found[name], money) for name in ("movements", "assertions")}
    lists["equalities"] = shown([compared(one, money) for one in found["equalities"]], money)
    apart = {*lists, "drawer", "shift", "z", "first_event", "last_event", "previous", "first_count", "recount"}
    facts = shown({name: value for name, value in found.items() if name not in apart}, money)
    counts = [shown(found[name], money) for name in ("first_count", "recount") if found[name]]
    event = {"chain": f"drawer/{code}", "seq": found["last_event"]["seq"], "print_key": uuid4().hex}
    return screen.show("slip", {"slip": found, "facts": facts, "counts": counts, **lists, **event})


#: Jobs that lists lead to, besides those of the dock.
_OF_ROWS = (
    "takeHandover", "withdrawHandover", "sendRequestedFill", "cancelFillAtDrawer", "cancelCreditAtDrawer",
    "receiveCredit", "declineCredit", "acceptCreditWithVariance", "withdrawAnnouncement", "releasePayout",
)  # fmt: skip
_JOBS = frozenset({*(name for name, *_ in drawer.JOBS), *_OF_ROWS})


def _seen(screen: Screen, found: dict[str, Any]) -> dict[str, Any]:
    return {
        "drawer": found, "slots": drawer.slots(screen, found), "queues": drawer.queues(screen, found),
        "work": drawer.work(screen, found),
    }  # fmt: skip


def _listed(screen: Screen, found: dict[str, Any]) -> dict[str, Any]:
    shifts = desks.rows(screen, "listShifts", drawer=found["drawer"])
    ended = next((one for one in shifts if one["closed"]), None)
    return {
        "drawer": found, "lists": drawer.lists(screen, found),
        "shift": next((one for one in shifts if not one["closed"]), None),
        "ended": ended if desks.mine(screen, "readZSlip") is not None else None,
    }  # fmt: skip


def _forms(screen: Screen, found: dict[str, Any]) -> list[dict[str, Any]]:
    base = {"drawer": found["drawer"]}
    wanted = drawer.next_jobs(screen, found)
    return [
        jobs.empty(screen, operation, base, given) | {"title": drawer.title(name)} for name, given in wanted
        if (operation := desks.mine(screen, name)) is not None
    ]  # fmt: skip


urls = [
    path("drawers/<slug:code>", desk),
    path("drawers/<slug:code>/part", part),
    path("drawers/<slug:code>/lists", lists),
    path("drawers/<slug:code>/work", work),
    path("drawers/<slug:code>/jobs/<slug:name>", job),
    path("drawers/<slug:code>/shifts/<int:shift>/z", slip),
]
