"""Webhooks: which receivers outside get hints, how far each chain has come there, what waits and what fails."""

from typing import Any

from django.http import HttpResponse
from django.urls import path
from django.utils.translation import gettext, gettext_noop

from casino.console import desks, pages
from casino.console.desks import Act
from casino.console.pages import Screen

#: What a problem means, by its code.
MEANING = {
    "receiver_timeout": gettext_noop("It does not answer in time."),
    "receiver_unreachable": gettext_noop("No connection, no valid certificate, or no answer that is HTTP."),
    "receiver_refused": gettext_noop("It refuses what it gets."),
    "receiver_failed": gettext_noop("It fails on what it gets."),
    "receiver_gone": gettext_noop("It wants no more."),
    "unknown_destination": gettext_noop("The operator has not set it up any more."),
    "misconfigured": gettext_noop("The operator has not set it up wholly."),
    "subscriber_left": gettext_noop("Who subscribed it does not work here any more."),
    "subscriber_may_not_follow": gettext_noop("Who subscribed it may not follow the house any more."),
}


@pages.signed_in
def webhooks(screen: Screen) -> HttpResponse:
    """Every receiver: those that somebody must look at first, then those that send, then those that have ended."""
    found = screen.door.read("webhooks")
    rows = [_webhook(screen, one) for one in found["webhooks"]]
    rows.sort(key=lambda one: (("bad", "warn", "ok", "ended").index(one["level"]), -one["webhook"]))
    going = {one["destination"] for one in rows if one["ended_at"] is None}
    free = [_destination(screen, name) for name in found["destinations"] if name not in going]
    return screen.show("webhooks", {"rows": rows, "free": free})


def _destination(screen: Screen, name: str) -> dict[str, Any]:
    """A receiver that the operator has set up, and nobody has subscribed."""
    return {"name": name, "acts": _acts(screen, {"subscribeWebhook": {"destination": name}})}


def _webhook(screen: Screen, one: dict[str, Any]) -> dict[str, Any]:
    """A webhook with what it comes to, and what may be done."""
    named = {"webhook": one["webhook"]}
    chains = [_chain(screen, one, each) for each in one["positions"]]
    sent = [each["sent_at"] for each in chains if each["sent_at"]]
    return one | {
        "level": _level(one), "chains": chains, "sent_at": max(sent, default=None),
        "waiting": sum(each["waiting"] for each in chains), "failing": sum(each["attempts"] > 0 for each in chains),
        "named": one["chains"], "meaning": _meaning(one),
        "acts": () if one["ended_at"] else _acts(screen, {"endWebhook": named}),
    }  # fmt: skip


def _chain(screen: Screen, one: dict[str, Any], each: dict[str, Any]) -> dict[str, Any]:
    """A chain of a webhook; the form for sending again is to know the chain, and where it stands."""
    given = {"webhook": one["webhook"], "chain": each["chain"], "after": each["position"]}
    acts = () if one["ended_at"] else _acts(screen, {"replayWebhook": given})
    return each | {"meaning": _meaning(each), "acts": acts}


def _meaning(one: dict[str, Any]) -> str:
    """Why the last attempt failed, or the house has ended it; empty where there is no problem."""
    problem = str(one["problem"])
    return gettext(MEANING[problem]) if problem in MEANING else problem


def _level(one: dict[str, Any]) -> str:
    if one["ended_at"] is not None:
        return "bad" if one["problem"] else "ended"
    if one["key_count"] == 0:
        return "bad"
    return "warn" if any(each["attempts"] for each in one["positions"]) else "ok"


def _acts(screen: Screen, wanted: dict[str, dict[str, Any]]) -> tuple[Act, ...]:
    """Those of these operations that the person may do, in their own words."""
    return tuple(
        Act(operation, operation.summary, given)
        for name, given in wanted.items()
        if (operation := desks.mine(screen, name)) is not None
    )


urls = [path("webhooks", webhooks)]
