"""The audit trail: searching events, one event with its proof, what the verification finds, a hand line by line."""

import json
from typing import Any

from django.http import HttpResponse
from django.urls import path

from casino.console import pages
from casino.console.door import cursors
from casino.console.pages import Screen
from casino.console.show import shown

#: What a search may name.
_NAMED = ("chain", "kind", "actor", "from", "until")


@pages.signed_in
def events(screen: Screen) -> HttpResponse:
    """Events of the trail, the newest first where a chain is named."""
    given = {name: screen.request.GET[name] for name in _NAMED if screen.request.GET.get(name)}
    cursor = screen.request.GET.get("cursor") or None
    answer = screen.door.ask("audit/events", page_size=50, cursor=cursor, **given)
    context: dict[str, Any] = {"named": {name: given.get(name, "") for name in _NAMED}, "given": given}
    if not answer.is_success:
        return screen.show("events", context | {"problem": answer.body}, answer.status)
    rows = [{**json.loads(one["payload"]), "hash": one["hash"]} for one in answer.body["results"]]
    for row in rows:
        row["shown"] = shown(row["data"], screen.money)
    return screen.show("events", context | {"rows": rows, "further": cursors(answer.body)})


@pages.signed_in
def event(screen: Screen, digest: str) -> HttpResponse:
    """The proof that an event is in the log."""
    answer = screen.door.ask(f"receipts/{digest}")
    context = {"digest": digest, "shown": shown(answer.body, screen.money) if answer.is_success else None}
    return screen.show("event", context | ({} if answer.is_success else {"problem": answer.body}), answer.status)


@pages.signed_in
def verification(screen: Screen) -> HttpResponse:
    """What the live verification finds."""
    found = screen.door.read("reports/verification")
    return screen.show("verification", {"found": found, "shown": shown(found, screen.money)})


urls = [path("audit", events), path("audit/<slug:digest>", event), path("verification", verification)]
