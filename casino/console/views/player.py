"""What players see: the device of a seat with the player's own cards, and the page that checks a receipt."""

import json
from types import SimpleNamespace
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path
from django.views.decorators.http import require_http_methods

from casino.console import board, cookies, pages, slots
from casino.console.door import Door
from casino.console.money import Money


@pages.anybody
def verify(request: HttpRequest, digest: str = "") -> HttpResponse:
    """Check a receipt, in the browser of anybody who has it."""
    return pages.show(request, "verify", {"digest": digest})


@require_http_methods(["GET", "POST"])
@pages.anybody
def seat(request: HttpRequest) -> HttpResponse:
    """A player's device: the cards of the seat whose key it has."""
    if request.method == "POST":
        return _sit_down(request, request.POST.get("seat_key", ""))
    key = cookies.seat(request)
    if key is None:
        return pages.show(request, "seat_key")
    answer = Door(request, key, scheme="Seat").ask("seat/hand")
    if answer.status == 401:
        response = pages.show(request, "seat_key", {"problem": answer.body}, 401)
        cookies.forget_seat(response)
        return response
    if answer.status >= pages.FAILED and "HX-Request" not in request.headers:
        return pages.outage(request, answer)
    template = "seat_part" if "HX-Request" in request.headers else "seat"
    if not answer.is_success:
        return pages.show(request, template, {"waits": answer.body}, 200)
    return pages.show(request, template, _seen(answer.body, Door(request, key, scheme="Seat").read("seat/table")))


def _sit_down(request: HttpRequest, key: str) -> HttpResponse:
    """Keep the key of a seat, and say with it which device this is. A house that cannot write that now has a device
    more without a mark: its player sees the cards all the same."""
    mark = cookies.device(request)
    answer = Door(request, key, scheme="Seat").write("seat/device", {"device": mark})
    if not answer.is_success and answer.status < pages.FAILED:
        return pages.show(request, "seat_key", {"problem": answer.body}, answer.status)
    response = HttpResponseRedirect("/console/seat")
    cookies.keep_seat(response, key)
    if answer.is_success:
        cookies.keep_device(response, mark)
    return response


def _seen(hand: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
    """The hand as the player sees it, and what the player may do."""
    game = table["game"]
    where = slots.places(game)
    offers = sorted(slots.offers(hand, slots.by_writer(game)), key=lambda one: where[one.verb])
    chairs = {one["actor"]: one for one in hand["seats"]}
    mine = chairs.get(hand["you"], {})
    turn = chairs.get(hand["actor"] or "", {})
    return {
        "hand": hand, "mine": mine, "turn": turn, "facts": board.of_table(hand) if "view" in hand else (),
        "proof": {"hand": hand["hand"], "roots": hand["cards_roots"], "openings": hand["openings"]},
        "hours": table["minutes_in_24_h"] // 60, "minutes": table["minutes_in_24_h"] % 60,
        "sat_long": table["reality_check"], "offers": offers,
        "line": len(hand["view"]["log"]), "held": json.dumps(hand["cards"]),
        "cards": json.dumps(next(iter(game["cards"].values()))),
        "screen": SimpleNamespace(money=Money(table["currency"], table["currency_exponent"], table["time_zone"])),
    }  # fmt: skip


urls = [path("seat", seat), path("verify", verify), path("verify/<slug:digest>", verify)]
