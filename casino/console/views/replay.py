"""A hand step by step with its proof: for staff, and for the player of a seat."""

from types import SimpleNamespace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import path

from casino.console import board, pages, said, slots
from casino.console.door import Door
from casino.console.money import Money
from casino.console.pages import Screen
from casino.core import languages

#: States of a hand whose money has moved.
PAID = frozenset({"settled", "ruled"})


@pages.signed_in
def hand(screen: Screen, name: str) -> HttpResponse:
    """A hand, step by step, as the person may know it."""
    found = screen.door.read(f"hands/{name}/replay")
    context = _seen(found, _declared(screen.door, found), screen.door)
    context["rules_on"] = screen.may("compareReadings")
    return screen.show("replay", context)


@pages.anybody
def own_hands(request: HttpRequest) -> HttpResponse:
    """The hands of the player whose device this is."""
    return pages.of_seat(
        request, "seat/hands", "seat_hands", lambda body, _door: {"hands": body["hands"], **_written(body)}
    )


@pages.anybody
def own_hand(request: HttpRequest, name: str) -> HttpResponse:
    """One of them, step by step, with the player's own cards only."""
    address = f"seat/hands/{name}/replay"
    return pages.of_seat(request, address, "replay", lambda body, door: _seen(body, None, door) | _written(body))


def _written(body: dict[str, Any]) -> dict[str, Any]:
    """How amounts and times of an answer to a seat are written."""
    return {"screen": SimpleNamespace(money=Money(body["currency"], body["currency_exponent"], body["time_zone"]))}


def _declared(door: Door, found: dict[str, Any]) -> dict[str, Any]:
    """The declaration of the rules that the hand was played by."""
    declared: dict[str, Any] = door.read(f"games/{found['rules']}")
    return declared


def _seen(found: dict[str, Any], game: dict[str, Any] | None, door: Door) -> dict[str, Any]:
    """The steps as pages have them, and what the browser checks by itself."""
    verbs = slots.by_writer(game) if game else {}
    chairs = {one["actor"]: one["seat"] for one in found["seats"]}
    places = {actor: _named(actor, one) for actor, one in ((one["actor"], one) for one in found["seats"])}
    stages = [_stage(found, step) for step in found["steps"]]
    rows = [_row(step, chairs, places, verbs) for step in found["steps"]]
    return {
        "replay": found, "game": game, "table": stages[0]["table"], "rows": rows, "stages": stages,
        "money": _money(found),
        "paid": found["state"] in PAID, "proof": _proof(found, game, door), "cards": found["cards_roots"],
    }  # fmt: skip


def _named(actor: str, one: dict[str, Any]) -> str:
    return f"{one['seat']} {one['player']}"


def _stage(found: dict[str, Any], step: dict[str, Any]) -> dict[str, Any]:
    """The table at one step, for the template of the ring."""
    table = {
        "seat_count": max(max(one["seat"] for one in found["seats"]), 2), "seats": [], "table": found["table"],
        "state": "replay", "cukassza": found["carry"],
    }  # fmt: skip
    view = step["view"]
    shown = {"seats": found["seats"], "view": view, "actor": view["actor"]}
    return {
        "line": step["line"], "table": table, "hand": shown, "seats": board.seats(table, shown),
        "facts": board.of_table(shown),
    }  # fmt: skip


def _money(found: dict[str, Any]) -> list[dict[str, Any]]:
    """What each seat had and what the hand came to for it; nothing before it has a result."""
    result = found["result"]
    if result is None:
        return []
    each = zip(found["seats"], found["stacks"], result["net"], result["bonus"], strict=True)
    return [{"seat": seat, "stack": stack, "net": net, "bonus": bonus} for seat, stack, net, bonus in each]


def _row(step: dict[str, Any], chairs: dict[str, int], places: dict[str, str], verbs: slots.Verbs) -> dict[str, Any]:
    """A line as people read it: who, what, what the rules say, what it moved."""
    actor, _, rest = step["text"].partition(" ")
    _, _, named = rest.partition(" ")
    words = " ".join(f"→ {chairs[word]}" if word in chairs else word for word in named.split())
    return {
        "line": step["line"], "text": step["text"], "who": places.get(actor, ""), "house": actor == "d",
        "label": slots.label(verbs, actor, step["verb"]), "words": words, "phase": said.of_table(step["phase"]),
        "sentence": languages.said(languages.Kind.PHASE, step["sentence"]),
        "meaning": languages.said(languages.Kind.VERB, step["meaning"]), "pot": step["pot"],
        "moves": [
            {
                "from": places.get(one["paid_by"], one["paid_by"]), "to": places.get(one["paid_to"], one["paid_to"]),
                "amount": one["amount"], "why": one["why"],
            }
            for one in step["moves"]
        ],
    }  # fmt: skip


def _proof(found: dict[str, Any], game: dict[str, Any] | None, door: Door) -> dict[str, Any]:
    """What the browser checks by itself: nothing of it is believed because the page says so."""
    keys = door.fetch("audit/key") if game else None
    text = getattr(keys, "content", b"").decode() if keys is not None and keys.status_code == 200 else ""
    return {
        "hand": found["hand"], "state": found["state"], "mode": found["mode"], "events": found["events"],
        "record": found.get("record"), "lines": [step["text"] for step in found["steps"][1:]],
        "commitment": found["commitment"], "roots": found["cards_roots"], "openings": found["openings"],
        "packs": [one["ranks"] + " " + one["suits"] for one in game["cards"].values()] if game else [],
        "keys": text.split(),
    }  # fmt: skip


urls = [
    path("hands/<slug:name>", hand),
    path("seat/hands", own_hands),
    path("seat/hands/<slug:name>", own_hand),
]
