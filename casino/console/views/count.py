"""The count room: boxes that are brought, counted by two who are blind of each other, and received; the vault's counts;
chips that come and go."""

from typing import Any

from django.http import HttpResponse
from django.urls import path
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_http_methods

from casino.console import desks, glossary, jobs, pages
from casino.console.desks import Queue, Slot, Waiting
from casino.console.pages import Screen
from casino.console.said import code
from casino.core.errors import NotFound

#: What begins without a row of a list: operation, key, words.
_JOBS = (
    ("countVault", "V", gettext_noop("Count the vault")),
    ("noteChipMove", "M", gettext_noop("Chips that come or go")),
)  # fmt: skip
#: States of boxes that wait for the count room, in the order of the work.
_BOXES = (
    ("taken", gettext_noop("Boxes to bring")),
    ("brought", gettext_noop("Boxes to count")),
    ("counted", gettext_noop("Boxes to receive")),
)  # fmt: skip
_OF_ROWS = frozenset(
    {"bringBox", "countBox", "decideCount", "receiveBox", "decideVaultCount", "signOffVaultCount", "countChipMove",
     "acceptDelivery"}
)  # fmt: skip


@pages.signed_in
def desk(screen: Screen) -> HttpResponse:
    """The desk of the count room. Its lists are read when a person asks or has done something, never by themselves:
    every such read is in the audit trail."""
    if screen.session["terminal_kind"] != "office" or not screen.has("count", "cage_supervisor", "manager"):
        raise NotFound(gettext("The count room is for its people, at a terminal in the office."))
    found = _queues(screen)
    slots = [
        Slot(operation, key, gettext(title)) for name, key, title in _JOBS
        if (operation := desks.mine(screen, name)) is not None
    ]  # fmt: skip
    terms = glossary.of_house(glossary.COUNT_ROOM)
    context = {"queues": found, "slots": slots, "base": "/console/count", "terms": terms}
    template = "queues" if "HX-Request" in screen.request.headers else "count"
    return screen.show(template, context)


@require_http_methods(["GET", "POST"])
@pages.signed_in
def job(screen: Screen, name: str) -> HttpResponse:
    """One job of the count room."""
    known = name in _OF_ROWS or any(name == one for one, *_ in _JOBS)
    operation = desks.mine(screen, name) if known else None
    if operation is None:
        raise NotFound(gettext("There is no such job in the count room, or it is for others."))
    context = jobs.carried_out(screen, operation, {}, of_desk=True)
    template = "write_part" if "HX-Request" in screen.request.headers else "write"
    return screen.show(template, context | {"back": "/console/count", "alone": template == "write"}, context["status"])


def _queues(screen: Screen) -> list[Queue]:
    vault, moves = gettext("Counts of the vault"), gettext("Chips that come or go")
    found = [
        *(
            desks.queue(screen, gettext(title), "listBoxes", _box, term="soft count", state=state)
            for state, title in _BOXES
        ),
        *(desks.queue(screen, vault, "listVaultCounts", _vault, state=state) for state in ("counting", "counted")),
        *(desks.queue(screen, moves, "listChipMoves", _move, state=state) for state in ("waiting", "differed")),
    ]
    return [one for one in found if one.rows]


def _box(screen: Screen, row: dict[str, Any]) -> Waiting:
    number = {"box": row["box"]}
    wanted = {
        "taken": [("bringBox", gettext("Bring"), number)],
        "brought": [("countBox", gettext("Count"), number)],
        "counted": [("receiveBox", gettext("Receive"), number)],
    }[row["state"]]
    if row["state"] == "brought" and row["differing_rounds"]:
        wanted.append(("decideCount", gettext("Decide"), number))
    words = [row["table"], code(row["kind"]), f"{gettext('seal')} {row['seal']}"]
    if row["differing_rounds"]:
        words.append(f"{gettext('counts differed')}: {row['differing_rounds']}")
    if "cash" in row:
        words += [screen.money.shown(row["cash"]), f"{gettext('chips')} {screen.money.shown(row['value'])}"]
    return Waiting(f"{gettext('Box')} {row['number']}", tuple(words), desks.acts(screen, wanted))


def _vault(screen: Screen, row: dict[str, Any]) -> Waiting:
    number = {"vault_count": row["vault_count"]}
    if row["state"] == "counting":
        wanted: list[tuple[str, str, dict[str, Any]]] = [("countVault", gettext("Count"), {})]
        if row["differing_rounds"]:
            wanted.append(("decideVaultCount", gettext("Decide"), number))
    else:
        wanted = [("signOffVaultCount", gettext("Sign off"), number)]
    words = (code(row["state"]), f"{gettext('counts differed')}: {row['differing_rounds']}")
    return Waiting(f"{gettext('Vault')} {row['vault_count']}", words, desks.acts(screen, wanted))


def _move(screen: Screen, row: dict[str, Any]) -> Waiting:
    number = {"move": row["move"]}
    wanted = [("countChipMove", gettext("Count"), number)]
    if row["state"] == "differed":
        wanted = [("acceptDelivery", gettext("Take in as counted"), number)]
    words = (code(row["kind"]), row["chip_set"], row["paper"], row["noted_by"])
    return Waiting(f"{row['move']}", words, desks.acts(screen, wanted))


urls = [path("count", desk), path("count/jobs/<slug:name>", job)]
