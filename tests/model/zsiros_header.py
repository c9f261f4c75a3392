"""Which records of Zsiros may be played at all: everything that is settled before the first line of the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PACK = tuple(rank + suit for suit in "albh" for rank in "AKOUX987")  # in fixed order
MOST_LOST = 3  # points of the score sheet that a seat can lose in a deal

#: Each option but ``stake`` with its values, the default first.
OPTIONS: dict[str, tuple[object, ...]] = {
    "target": (5, 10),
    "players": (4, 2),
    "draw_mode": ("batch", "single"),
    "deal_model": ("draw", "preassigned"),
    "calls": ("logged", "off"),
}
NEEDED = frozenset({"v", "game", "rules", "opt", "hand", "seats", "dealer", "stacks", "carry", "series", "acts"})
ALLOWED = NEEDED | {"deck", "net", "tax", "carry_out", "series_out", "prev", "commit", "seed", "client_seeds", "state"}


@dataclass(frozen=True)
class Case:
    """A deal before its log. ``opt`` holds every option; ``deck`` is None where cards are known from the log only."""

    opt: Mapping[str, Any]
    seats: tuple[str, ...]
    series: Mapping[str, Any]
    deck: tuple[str, ...] | None


def case_of(record: Mapping[str, Any]) -> Case:
    """The case of a record without header fault."""
    deck = tuple(cut(record["deck"])) if "deck" in record else None
    defaults = {name: values[0] for name, values in OPTIONS.items()}
    return Case({**defaults, **record["opt"]}, tuple(record["seats"]), record["series"], deck)


def cut(text: str) -> list[str]:
    """The cards of a text of two characters each."""
    return [text[at : at + 2] for at in range(0, len(text), 2)]


def whole(value: object, least: int = 0) -> bool:
    """An integer of at least that much; a boolean is none."""
    return type(value) is int and value >= least


def header_fault(record: object) -> str | None:
    """The first fault found before the log, None if there is none. Each check relies on those above it."""
    if not isinstance(record, Mapping):
        return "a record is an object"
    if not set(record) >= NEEDED or not set(record) <= ALLOWED:
        wrong = sorted((NEEDED - set(record)) | (set(record) - ALLOWED))
        return f"keys missing or unknown: {wrong}"
    if (record["v"], record["game"], record["rules"]) != ("chr/1", "zsiros", "zsiros/1"):
        return "not a record of zsiros/1"
    for check in (opt_fault, seats_fault, money_fault, series_fault, cards_fault):
        fault = check(record)
        if fault:
            return fault
    return None


def opt_fault(record: Mapping[str, Any]) -> str | None:
    """``stake`` is required, names and values are those of the page."""
    opt = record["opt"]
    if not isinstance(opt, Mapping) or not whole(opt.get("stake")):
        return "opt.stake is required, an integer from 0"
    for name, value in opt.items():
        if name == "stake":
            continue
        if not any(type(value) is type(good) and value == good for good in OPTIONS.get(name, ())):
            return f"opt.{name}: unknown, or an unknown value"
    return None


def seats_fault(record: Mapping[str, Any]) -> str | None:
    """Two or four distinct ids, as many as ``players`` says; the last of them deals."""
    seats = record["seats"]
    if not isinstance(record["hand"], str) or not record["hand"]:
        return "hand is a text"
    if not ids(seats) or len(seats) != record["opt"].get("players", 4):
        return "seats are distinct ids, as many as opt.players says"
    if not whole(record["dealer"]) or record["dealer"] != len(seats):
        return "dealer is the last seat"
    return None


def ids(value: object) -> bool:
    """A list of distinct texts, none of them empty."""
    good = isinstance(value, list) and all(isinstance(one, str) and one for one in value)
    return good and len(set(value)) == len(value)


def money_fault(record: Mapping[str, Any]) -> str | None:
    """Every stack covers the worst loss; nothing is carried in."""
    stacks, worst = record["stacks"], MOST_LOST * record["opt"]["stake"]
    if not isinstance(stacks, list) or len(stacks) != len(record["seats"]):
        return "stacks: one for each seat"
    if not all(whole(stack, worst) for stack in stacks):
        return f"a stack does not cover the worst loss, {worst}"
    return None if whole(record["carry"]) and record["carry"] == 0 else "carry is 0"


def series_fault(record: Mapping[str, Any]) -> str | None:
    """The order of the chairs turned so that the dealer is last gives the seats; scores are below the target."""
    series = record["series"]
    if not isinstance(series, Mapping) or set(series) != {"order", "deals", "score", "games"}:
        return "series has the keys order, deals, score, games"
    order, deals = series["order"], series["deals"]
    if not ids(order) or not isinstance(deals, str) or deals not in order:
        return "series.order are distinct ids, series.deals is one of them"
    first = order.index(deals) + 1
    if order[first:] + order[:first] != record["seats"]:
        return "seats are not the order turned so that the dealer is last"
    if not pair(series["score"]) or not pair(series["games"]):
        return "series.score and series.games are two integers from 0"
    target = record["opt"].get("target", 5)
    return None if max(series["score"]) < target else "a score has reached the target"


def pair(value: object) -> bool:
    """A list of two integers from 0."""
    return isinstance(value, list) and len(value) == 2 and all(whole(one) for one in value)


def cards_fault(record: Mapping[str, Any]) -> str | None:
    """The deck, where there is one, is the whole pack."""
    if not isinstance(record["acts"], Sequence) or isinstance(record["acts"], str):
        return "acts is a list"
    if "deck" not in record:
        return None
    deck = record["deck"]
    good = isinstance(deck, str) and sorted(cut(deck)) == sorted(PACK)
    return None if good else "deck is not the whole pack"
