"""Paper: what was recorded is printed at a desk or at a player's seat, and the paper is looked at."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import path
from django.views.decorators.http import require_GET, require_POST

from casino.console import cookies, pages
from casino.console.door import Answer, Door, answer_of, is_json
from casino.console.jobs import whole
from casino.console.pages import Screen
from casino.core import languages


@require_POST
@pages.signed_in
def one(screen: Screen) -> HttpResponse:
    """Print the receipt or slip of an event."""
    given = screen.request.POST
    body: dict[str, Any] = {"chain": given.get("chain", ""), "seq": whole(given.get("seq")), "form": given.get("form")}
    body["language"] = languages.spoken()
    answer = screen.door.write("prints/documents", body, key=given.get("key"))
    if not answer.is_success:
        return screen.show("refused", {"problem": answer.body}, answer.status)
    return HttpResponseRedirect(f"/console/prints/{answer.body['printout']}")


@require_GET
@pages.signed_in
def paper(screen: Screen, number: int) -> HttpResponse:
    """What was printed, with the way to its file."""
    return screen.show("printed", {"number": number, "file": f"/console/prints/{number}/file"})


@require_GET
@pages.signed_in
def file(screen: Screen, number: int) -> HttpResponseBase:
    """The paper."""
    response = screen.door.fetch(f"prints/{number}/file")
    if not is_json(response):
        return response
    answer = answer_of(response)
    return screen.show("refused", {"problem": answer.body}, answer.status)


@require_POST
@pages.anybody
def at_seat(request: HttpRequest) -> HttpResponse:
    """Print the receipt of a player's hand, or where none is named the player's statement."""
    key = cookies.seat(request)
    if key is None:
        return HttpResponseRedirect("/console/seat")
    given = request.POST
    body = {"hand": given.get("hand") or None, "form": given.get("form"), "language": languages.spoken()}
    body |= {"paper": given["paper"]} if given.get("paper") else {}
    answer = Door(request, key, scheme="Seat").write("seat/prints", body)
    if not answer.is_success:
        return _refused(request, answer)
    number = answer.body["printout"]
    return pages.show(request, "printed", {"number": number, "file": f"/console/seat/prints/{number}/file", "seat": 1})


@require_GET
@pages.anybody
def file_at_seat(request: HttpRequest, number: int) -> HttpResponseBase:
    """The paper of a player."""
    key = cookies.seat(request)
    if key is None:
        return HttpResponseRedirect("/console/seat")
    response = Door(request, key, scheme="Seat").fetch(f"seat/prints/{number}/file")
    return response if not is_json(response) else _refused(request, answer_of(response))


def _refused(request: HttpRequest, answer: Answer) -> HttpResponse:
    return pages.show(request, "refused", {"problem": answer.body}, answer.status)


urls = [
    path("prints", one),
    path("prints/<int:number>", paper),
    path("prints/<int:number>/file", file),
    path("seat/prints", at_seat),
    path("seat/prints/<int:number>/file", file_at_seat),
]
