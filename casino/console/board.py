"""A table as its screen shows it: what the house answers about table and hand, arranged by seat.

Nothing here knows a game. What a game says of a seat or of the table besides cards and money is shown by its name, as
the game's reference names it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from casino.console import said, slots

_CARD = re.compile(r"(?:[A-Z0-9][a-z]|\?\?)\Z")
#: What has a place of its own on the screen, and is no further fact of a seat or of the table.
_OF_SEAT = frozenset({"actor", "seat", "stack", "cards", "state", "stake", "owes"})
_OF_TABLE = frozenset(
    {"game", "viewer", "phase", "actor", "actors", "options", "carry", "pot", "stacks", "log", "result", "stakes",
     "seats", "button", "legal", "dealer"}
)  # fmt: skip
#: Lines of the log that the screen shows; the others are a key away.
LINES = 6


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that the game says of a seat or of the table: its name, and words or cards."""

    name: str
    words: str = ""
    cards: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Seat:
    """A chair of the table: who sits there, with what, in the hand or not."""

    number: int
    player: str = ""
    actor: str = ""
    stack: int | None = None
    stake: int | None = None
    owes: int = 0
    state: str = ""
    cards: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    to_act: bool = False
    button: bool = False
    #: Whether the player has sat for so long that somebody is to say so.
    sat_long: bool = False

    @property
    def is_out(self) -> bool:
        """Whether the seat is not in the hand any more."""
        return self.state not in ("", "active")


def facts(given: Mapping[str, Any], shown: Iterable[str]) -> tuple[Fact, ...]:
    """What a game says besides what is `shown` already, without what is not so."""
    left = {name: value for name, value in given.items() if name not in set(shown)}
    return tuple(
        _fact(name, value) for name, value in left.items() if value not in (None, False, "", [], {}) and value != 0
    )


def _fact(name: str, value: Any) -> Fact:
    words = said.of_table(name)
    if value is True:
        return Fact(words)
    cards = tuple(_cards(value))
    if cards and all(map(_CARD.match, cards)):
        return Fact(words, cards=cards)
    return Fact(words, _said(value))


def _cards(value: Any) -> list[str]:
    """What may be cards: a text of them, or rows of them with who played each."""
    if isinstance(value, str):
        return [value[at : at + 2] for at in range(0, len(value), 2)] if len(value) % 2 == 0 else []
    if isinstance(value, list):
        return [card for each in value for card in _cards(each[-1] if isinstance(each, list) and each else each)]
    return []


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_said(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_said, value))
    return str(value)


def seats(table: Mapping[str, Any], hand: Mapping[str, Any] | None) -> list[Seat]:
    """Every chair in play order."""
    sitting = {one["seat"]: one for one in table["seats"]}
    long = set(table.get("reality_checks", ()))
    if hand is None:
        return [
            Seat(
                number,
                one["player"],
                stack=one["stack"],
                button=table["next_button"] == number,
                sat_long=number in long,
            )
            if (one := sitting.get(number)) is not None
            else Seat(number)
            for number in range(1, table["seat_count"] + 1)
        ]
    view = hand["view"]
    actors = set(view.get("actors") or [hand["actor"]])
    of_hand = {one["seat"]: one for one in hand["seats"]}
    seen = {one["actor"]: one for one in view["seats"]}
    found = []
    for number in range(1, table["seat_count"] + 1):
        place, one = of_hand.get(number), sitting.get(number)
        if place is None:
            found.append(Seat(number, one["player"], stack=one["stack"], state="sits out") if one else Seat(number))
            continue
        shown = seen[place["actor"]]
        found.append(
            Seat(
                number,
                place["player"],
                place["actor"],
                hand.get("balances", {}).get("stacks", {}).get(place["actor"], shown["stack"]),
                shown.get("stake"),
                shown.get("owes", 0),
                shown.get("state", ""),
                tuple(shown["cards"]),
                facts(shown, _OF_SEAT),
                place["actor"] in actors,
                view.get("button") == place["actor"],
                number in long,
            )
        )
    return found


def of_table(hand: Mapping[str, Any]) -> tuple[Fact, ...]:
    """What the game says of the table."""
    return facts(hand["view"], _OF_TABLE)


def lines(hand: Mapping[str, Any], verbs: slots.Verbs) -> list[tuple[str, str, str]]:
    """The log, the newest line first: which seat, what it did, how much or what else."""
    chairs = {one["actor"]: str(one["seat"]) for one in hand["seats"]}
    found = []
    for text in reversed(hand["view"]["log"]):
        actor, verb, *rest = text.split(" ")
        words = " ".join(f"→ {chairs[word]}" if word in chairs else word for word in rest)
        found.append((chairs.get(actor, "D"), slots.label(verbs, actor, verb), words))
    return found
