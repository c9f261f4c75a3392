"""Ruling on a hand: both readings side by side, what each seat gets, who must approve, and the decision."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.urls import path
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from casino.console import desks, jobs, operations, pages, rulings
from casino.console.door import ROOT, Answer
from casino.console.forms import Unreadable
from casino.console.pages import Screen
from casino.console.rulings import DECISIONS, Decision

#: Approvals of decisions on hands, and the states in which they matter here.
_KINDS, _OPEN = ("ruling", "void"), ("requested", "approved")


@require_http_methods(["GET", "POST"])
@pages.signed_in
def ruling(screen: Screen, name: str) -> HttpResponse:
    """The page on which a hand is decided."""
    given = screen.request.POST if screen.request.method == "POST" else screen.request.GET
    context: dict[str, Any] = {"name": name, "claimed_text": given.get("claimed", ""), "status": 200}
    answer = _decided(screen, name) if screen.request.method == "POST" else None
    if answer is not None and answer.is_success:
        body = answer.body
        context |= {"done": body, "claimed_text": "", "did": _titled(given.get("decision", ""))}
    elif answer is not None:
        context |= {"problem": answer.body, "status": answer.status, "typed": given}
    context |= _seen(screen, name, context)
    template = "ruling_part" if "HX-Request" in screen.request.headers else "ruling"
    return screen.show(template, context, context["status"])


# --- What is seen ---------------------------------------------------------------------------------------------------


def _seen(screen: Screen, name: str, context: dict[str, Any]) -> dict[str, Any]:
    """Both readings, the table, what waits for an approval, what may be decided."""
    found, problem = _readings(screen, name, context["claimed_text"])
    code = found["table"] if found else name.rpartition("-")[0]
    table = screen.door.ask(f"tables/{code}")
    known = table.body if table.is_success else None
    state = found["state"] if found else "playing"
    past = screen.door.ask(f"hands/{name}/rulings")
    shown = {} if problem is None or "problem" in context else {"problem": problem}
    return shown | {
        "found": found, "sides": rulings.sides(found) if found else [], "table": known, "code": code,
        "version": known["version"] if known else "", "state": state,
        "past": past.body if past.is_success else None, "approvals": _approvals(screen, name, code),
        "decisions": _decisions(screen, state),
        "at_table": jobs.here(screen, "table") == code, "same_person": _same(screen, found),
        "denominations": _denominations(screen), "pairs": [str(row) for row in range(rulings.PAIRS)],
        "seats_there": {one["player"] for one in known["seats"]} if known else set(),
    }  # fmt: skip


def _readings(screen: Screen, name: str, claimed: str) -> tuple[dict[str, Any] | None, Any]:
    """Both readings, and what was refused: a claim that no line can have leaves what is recorded; a hand that is played
    has no readings. Raises Refused for all else."""
    address = f"hands/{name}/readings"
    answer = screen.door.ask(address, claimed=claimed or None)
    if answer.is_success:
        return answer.body, None
    if answer.code == "hand_in_play":
        return None, None
    if claimed and answer.status in (400, 422):
        return screen.door.read(address), answer.body
    return screen.door.read(address), None


def _decisions(screen: Screen, state: str) -> list[dict[str, Any]]:
    return [
        {"name": one.name, "title": gettext(one.title), "help": operations.every()[one.operation].help}
        for one in DECISIONS if state in one.states and screen.may(one.operation)
    ]  # fmt: skip


def _same(screen: Screen, found: dict[str, Any] | None) -> bool:
    """Whether the person has dealt the hand, and so does not rule on it."""
    return found is not None and bool(found["dealt_by"] == screen.session["login"])


def _denominations(screen: Screen) -> list[int]:
    answer = screen.door.ask("house")
    return answer.body["denominations"] if answer.is_success else []


def _approvals(screen: Screen, name: str, code: str) -> list[dict[str, Any]]:
    """Requests about this hand that wait for an approval, or were approved and are not carried out yet."""
    rows = [
        row for kind in _KINDS for state in _OPEN
        for row in desks.rows(screen, "listApprovals", kind=kind, state=state)
    ]  # fmt: skip
    mine = [row for row in rows if _is_about(screen, row, name, code)]
    decides = screen.may("approve")
    for row in mine:
        own = row["requested_by"] == screen.session["login"]
        row["sends"] = row["state"] == "approved" and own
        row["decides"] = decides and row["state"] == "requested" and not own and screen.has(*row["roles"])
        row["own"] = own
    return mine


def _is_about(screen: Screen, row: dict[str, Any], name: str, code: str) -> bool:
    """Whether a request is about this hand. A void names its table alone: it is of the hand that lay there when it was
    asked for."""
    if row["operation"] == "voidHand":
        newest = desks.rows(screen, "listHands", table=code)[:1]
        since = [one["started_at"] for one in newest if one["hand"] == name]
        return bool(row["path"] == f"{ROOT}tables/{code}/hand/void") and any(
            datetime.fromisoformat(row["requested_at"]) >= datetime.fromisoformat(one) for one in since
        )
    return bool(row["body"].get("hand") == name or row["path"] == f"{ROOT}tables/{code}/hands/{name}/rulings")


# --- What is decided ------------------------------------------------------------------------------------------------


def _decided(screen: Screen, name: str) -> Answer:
    """Carry out what was decided. What waits for an approval is sent again exactly as it was approved."""
    given = screen.request.POST
    key, number = given.get("key"), given.get("number", "")
    decision = given.get("decision", "")
    code = given.get("table", "")
    if decision in ("approve", "refuse", "again") and not number.isdecimal():
        return _unreadable("number", gettext("This is the number of an approval."))
    if decision == "approve":
        return screen.door.write(f"approvals/{number}/approve", pages.second_factor(screen.request), key=key)
    if decision == "refuse":
        body = {"reason": given.get("reason", "")} | pages.second_factor(screen.request)
        return screen.door.write(f"approvals/{number}/refuse", body, key=key)
    if decision == "again":
        asked = screen.door.read(f"approvals/{number}")
        if not _is_about(screen, asked, name, code):
            return _unreadable("number", gettext("This approval is of something else."))
        address = asked["path"].removeprefix(ROOT)
        return screen.door.write(address, asked["body"], key=key, version=_version(given), approval=int(number))
    chosen = next((one for one in DECISIONS if one.name == decision), None)
    if chosen is None or not screen.may(chosen.operation):
        return _unreadable("decision", gettext("This decision is not yours, or there is no such."))
    return _sent(screen, chosen, name, code)


def _sent(screen: Screen, chosen: Decision, name: str, code: str) -> Answer:
    given, operation = screen.request.POST, operations.every()[chosen.operation]
    try:
        body = rulings.body(chosen.name, given, name, screen.money)
    except Unreadable as error:
        return _unreadable(error.field, error.detail)
    address = operation.path({"table": code, "hand": name})
    version = _version(given) if operation.is_versioned else None
    return screen.door.write(address, body, key=given.get("key"), version=version)


def _version(given: Any) -> int | None:
    text = given.get("version", "")
    return int(text) if text.isascii() and text.isdecimal() else None


def _unreadable(field: str, detail: str) -> Answer:
    errors = [{"pointer": f"#/{field}", "detail": detail}]
    return Answer(400, {"title": gettext("The request does not fit."), "code": "invalid_request", "errors": errors})


def _titled(decision: str) -> str:
    known = {one.name: one.title for one in DECISIONS}
    others = {"approve": gettext("Approved"), "refuse": gettext("Refused"), "again": gettext("Carried out as approved")}
    return others.get(decision) or gettext(known.get(decision, ""))


urls = [path("hands/<slug:name>/ruling", ruling)]
