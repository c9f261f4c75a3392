"""One operation as a part of a page: what it asks for, what was typed, what the house has answered.

The declarations of the API say which fields there are. Here is said what a person at a desk needs besides: which pieces
are a count, which must make an amount, which amount follows from pieces, and short words for both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from django.http import QueryDict
from django.utils.translation import gettext, gettext_noop

from casino.console import forms
from casino.console.door import Answer
from casino.console.forms import Box
from casino.console.operations import Operation
from casino.console.pages import Screen
from casino.console.show import shown
from casino.reports.printing.documents import DOCUMENTS

#: Pieces that are counted: every row is typed, also where there is none.
COUNTED = frozenset(
    {"openDrawer", "takeOverDrawer", "takeHandover", "countDrawer", "recountDrawer", "receiveCredit", "countBox",
     "decideCount", "countVault", "decideVaultCount", "countChipMove"}
)  # fmt: skip
#: Pieces that go out for an amount, or for other pieces: they are proposed, and may be changed.
_PROPOSED = {
    ("buyIn", "pieces"): "amount", ("bearerBuyIn", "pieces"): "amount", ("drawDeposit", "pieces"): "amount",
    ("nonCashBuyIn", "pieces"): "amount", ("exchangeAtCage", "wanted"): "given",
}  # fmt: skip
#: Pieces that come in: the amount that goes out for them is proposed.
_PAID = frozenset({"cashOut", "bearerCashOut", "holdPayout"})
#: Words beside fields whose names do not say which way money and chips go.
_LABELS = {
    ("buyIn", "amount"): gettext_noop("Cash that comes in"),
    ("buyIn", "pieces"): gettext_noop("Chips that go out"),
    ("bearerBuyIn", "amount"): gettext_noop("Cash that comes in"),
    ("bearerBuyIn", "pieces"): gettext_noop("Chips that go out"),
    ("cashOut", "amount"): gettext_noop("Cash that goes out"),
    ("cashOut", "pieces"): gettext_noop("Chips that come in"),
    ("cashOut", "announcement"): gettext_noop("Number of the announcement, if it was announced"),
    ("bearerCashOut", "amount"): gettext_noop("Cash that goes out"),
    ("bearerCashOut", "pieces"): gettext_noop("Chips that come in"),
    ("holdPayout", "amount"): gettext_noop("Owed to the player"),
    ("holdPayout", "pieces"): gettext_noop("Chips that come in"),
    ("drawDeposit", "pieces"): gettext_noop("Chips that go out"),
    ("exchangeAtCage", "given"): gettext_noop("Chips that come in"),
    ("exchangeAtCage", "wanted"): gettext_noop("Chips that go out"),
    ("takeDeposit", "amount"): gettext_noop("Cash that comes in"),
    ("returnDeposit", "amount"): gettext_noop("Cash that goes out"),
    ("takeForeignChips", "amount"): gettext_noop("Cash that goes out"),
}
#: What the row of a list says by itself.
_BY_LIST = frozenset({("cashOut", "announcement"), ("bearerCashOut", "announcement")})
_FOREIGN = gettext_noop("Chips of other houses, at face value")


@dataclass(frozen=True, slots=True)
class Chips:
    """Face values (minor units) of the chips in use, and of other sets that may still come in."""

    values: tuple[int, ...] = ()
    sets: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, screen: Screen, fields: forms.Fields) -> "Chips":
        """Those that a form with these fields asks for."""
        values = screen.door.read("house")["denominations"] if forms.has_pieces(fields) else ()
        sets = {}
        if forms.has_sets(fields):
            rows = screen.door.read("chip-sets", page_size=100)["results"]
            sets = {
                row["chip_set"]: tuple(sorted(map(int, row["denominations"]), reverse=True))
                for row in rows if row["withdrawn_at"] is not None
            }  # fmt: skip
        return cls(tuple(values), sets)


def carried_out(
    screen: Screen, operation: Operation, base: Mapping[str, str] | None = None, *, of_desk: bool = False
) -> dict[str, Any]:
    """The operation by the request: a form (GET), or the answer to what was typed (POST), for the template of a part.
    `base` names the parameters of the address that the page stands for. At a desk the form is empty again after a
    success, for the next one."""
    sent = screen.request.method == "POST"
    given = screen.request.POST if sent else screen.request.GET
    named = {one.name: _named(screen, one.name, given, base or {}) for one in operation.parameters}
    fields = operation.input()
    chips = Chips.of(screen, fields)
    answer = _sent(screen, operation, named, fields, chips) if sent else None
    context: dict[str, Any] = {"status": 200}
    typed = given
    if answer is not None and not answer.is_success:
        context |= {"problem": answer.body, "status": answer.status}
    elif answer is not None:
        recorded = _recorded(operation, answer.body, of_desk=of_desk)
        context |= {"done": answer.body, "shown": shown(recorded, screen.money), "event": _event_of(answer.body)}
        context |= {"prints": _is_printed(screen, answer.body), "print_key": uuid4().hex}
        typed = QueryDict() if of_desk else given
    return context | {
        "operation": operation, "named": named, "of_desk": of_desk, "base": base or {},
        "boxes": _boxes(operation, typed, fields, chips, of_desk=of_desk), "approval": typed.get("approval", ""),
        "version": _seen(screen, operation, named, given, answer),
        "once": bool(set(named) - set(base or {})), "address": _address(screen, operation) if of_desk else "",
    }  # fmt: skip


def _address(screen: Screen, operation: Operation) -> str:
    """Where the form of a desk is sent."""
    start = screen.request.path.rpartition("/jobs/")[0] or screen.request.path.removesuffix("/work")
    return f"{start}/jobs/{operation.id}"


def empty(
    screen: Screen, operation: Operation, base: Mapping[str, str], given: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A form of a desk with nothing typed, for a page that has several; `given` fills what is known."""
    fields = operation.input()
    typed = QueryDict(mutable=True)
    typed.update({name: str(value) for name, value in (given or {}).items()})
    named = {one.name: _named(screen, one.name, typed, base) for one in operation.parameters}
    return {
        "operation": operation, "named": named, "of_desk": True, "base": base,
        "boxes": _boxes(operation, typed, fields, Chips.of(screen, fields), of_desk=True), "approval": "",
        "version": version(screen, operation, named), "key": uuid4().hex, "address": _address(screen, operation),
    }  # fmt: skip


def _is_printed(screen: Screen, body: Any) -> bool:
    """Whether the person may print what was recorded."""
    event = _event_of(body)
    document = DOCUMENTS.get(str(event.get("kind"))) if isinstance(event, dict) else None
    return document is not None and "audit" in body and screen.has(*document.roles)


def _event_of(body: Any) -> Any:
    """The part of an answer that says what was recorded."""
    if not isinstance(body, dict):
        return body
    return body.get("last_event", body)


def _recorded(operation: Operation, body: Any, *, of_desk: bool) -> Any:
    """What was recorded. At a desk without its kind and its receipt, which the line of the page says. A count is left
    out: who counts next at this terminal must not see it."""
    if not isinstance(body, dict):
        return body
    hidden = {"count"} if operation.id in COUNTED else set()
    if not of_desk:
        event = {name: value for name, value in body.get("last_event", {}).items() if name not in hidden}
        return body | ({"last_event": event} if event else {})
    found = _event_of(body)
    return {name: value for name, value in found.items() if name not in {"kind", "audit", *hidden}}


def _boxes(operation: Operation, typed: QueryDict, fields: forms.Fields, chips: Chips, *, of_desk: bool) -> list[Box]:
    """The fields of the form: what comes in first. A desk has no field for what a list fills in (`_BY_LIST`), unless it
    has."""
    found = [_in_words(operation.id, box) for box in forms.boxes(fields, typed, chips.values, chips.sets)]
    left_out = _BY_LIST if of_desk else ()
    return sorted(
        (box for box in found if box.value or (operation.id, box.name) not in left_out),
        key=lambda box: bool(box.follows),
    )  # fmt: skip


def _in_words(name: str, box: Box) -> Box:
    words = _FOREIGN if box.name == "foreign" else _LABELS.get((name, box.name))
    if words is not None:
        box = replace(box, label=gettext(words))
    if box.kind == "pieces":
        makes = _PROPOSED.get((name, box.name), "")
        return replace(box, counted=name in COUNTED, makes=makes)
    if name in _PAID and box.name == "amount":
        return replace(box, follows="pieces")
    return box


def _sent(screen: Screen, operation: Operation, named: dict[str, str], fields: forms.Fields, chips: Chips) -> Answer:
    given = screen.request.POST
    try:
        body = forms.body(fields, given, screen.money, chips.values, whole=operation.id in COUNTED)
    except forms.Unreadable as error:
        errors = [{"pointer": f"#/{error.field}", "detail": error.detail}]
        return Answer(400, {"title": gettext("The request does not fit."), "code": "invalid_request", "errors": errors})
    if operation.id == "offerHandover" and not body.get("by_template"):
        body = {"cash": 0, "pieces": {}} | body  # what is not named goes with nothing
    return screen.door.write(
        operation.path(named), body, key=given.get("key"), version=whole(given.get("version")),
        approval=whole(given.get("approval")),
    )  # fmt: skip


def whole(text: str | None) -> int | None:
    """The whole number that was typed; None for anything else."""
    return int(text) if text and text.isascii() and text.isdecimal() else None


def _named(screen: Screen, name: str, given: QueryDict, base: Mapping[str, str]) -> str:
    return base.get(name) or given.get(name, "") or here(screen, name)


def here(screen: Screen, name: str) -> str:
    """The table or drawer at which the terminal stands."""
    stands = {"table": "table", "drawer": "cage"}.get(name)
    return str(screen.session["location"]) if screen.session["terminal_kind"] == stands else ""


def _seen(
    screen: Screen, operation: Operation, named: dict[str, str], given: QueryDict, answer: Answer | None
) -> int | str | None:
    """The version that the form names: the one that was seen; after an answer that changed it, or found it changed,
    the one that is now."""
    if answer is not None and answer.is_success and answer.version is not None:
        return answer.version
    if (answer is None or answer.status != 412) and (seen := given.get("version")):
        return seen
    return version(screen, operation, named)


#: Where the version of what an address begins with is read.
_SUBJECTS = {"table": "tables/{}", "drawer": "drawers/{}"}


def version(screen: Screen, operation: Operation, named: Mapping[str, str]) -> int | None:
    """The version of the table or drawer that the operation changes; None where it is of something else, or cannot be
    read."""
    first = next(iter(named), None)
    if not operation.is_versioned or first not in _SUBJECTS or not named[first]:
        return None
    answer = screen.door.ask(_SUBJECTS[first].format(named[first]))
    return answer.version if answer.is_success else None
