"""The header of a Barbu record: options, seats, stacks, the sheet that goes from deal to deal, and the pack.

Nothing is repaired: a header with any fault is refused as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.model.barbu_scores import POSITIVE, SCALES, SEATS, SUITS, Points, contracts

RANKS = "AKQJT98765432"
PACK = tuple(rank + suit for suit in SUITS for rank in RANKS)
VALUES: dict[str, tuple[Any, ...]] = {
    "settlement": ("chips", "paper"),
    "scoring": tuple(SCALES),
    "players": (4,),
    "ravage_city": (0, 36, 24),
    "dealer_declares": (False, True),
    "doubling": ("all", "declarer"),
    "no_double_no_play": (False, True),
    "early_stop": ("queens", "all"),
    "heart_ban": ("both", "hearts"),
    "must_dump": (False, True),
    "trump_void": ("must", "free"),
    "domino_ace": ("high", "low"),
    "domino_rank": ("named", "first_card"),
}


class HeaderFault(ValueError):
    """The header of a record cannot be that of a deal of Barbu."""


@dataclass(frozen=True)
class Head:
    """A sound header: ``opt`` holds every option, ``score`` is empty in chips, ``deck`` where it is unknown."""

    opt: dict[str, Any]
    seats: list[str]
    left: dict[str, list[str]]
    doubled: dict[str, int]
    score: dict[str, int]
    deck: list[str]

    @property
    def declarer(self) -> int:
        """The declarer's seat number."""
        return 4 if self.opt["dealer_declares"] else 1

    @property
    def points(self) -> Points:
        return points_of(self.opt)

    def name(self, seat: int) -> str:
        return self.seats[seat - 1]

    def choices(self) -> list[str]:
        """The contracts that the declarer has left."""
        return self.left[self.name(self.declarer)]

    def from_declarer(self) -> list[int]:
        """The seats in play order, the declarer first."""
        return [(self.declarer - 1 + step) % 4 + 1 for step in range(4)]

    def must_double(self, seat: int) -> bool:
        """Whether the seat owes the declarer a double in each deal that is left of her set."""
        return 2 - self.doubled[self.name(seat)] >= len(self.choices())

    def allows_any_double(self, contract: str) -> bool:
        """Whether the declarer's opponents may double each other as well."""
        return self.opt["doubling"] == "all" and contract not in POSITIVE


def points_of(opt: Mapping[str, Any]) -> Points:
    """The scoring that complete options describe."""
    return Points(SCALES[opt["scoring"]], opt["ravage_city"])


def cut(cards: str) -> list[str]:
    """``"AcKd"`` as ``["Ac", "Kd"]``."""
    return [cards[at : at + 2] for at in range(0, len(cards), 2)]


def same(one: object, other: object) -> bool:
    """Equality of decoded JSON in which ``1``, ``1.0`` and ``true`` differ."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def need(holds: bool, reason: str) -> None:
    """Raises HeaderFault with that reason unless it holds."""
    if not holds:
        raise HeaderFault(reason)


def is_count(value: object) -> bool:
    """An integer from 0; a truth value is none."""
    return type(value) is int and value >= 0


def read_head(record: Mapping[str, Any]) -> Head:
    """The header of a decoded record; raises HeaderFault."""
    for key, value in {"v": "chr/1", "game": "barbu", "rules": "barbu/1", "dealer": 4}.items():
        need(same(record.get(key), value), key)
    need(same(record.get("carry", 0), 0), "carry: Barbu carries no money from deal to deal")
    need("decks" not in record, "decks: one pack is dealt once")
    need(isinstance(record.get("acts"), list), "acts")
    opt = read_options(record.get("opt"))
    seats = read_seats(record.get("seats"))
    series = record.get("series")
    need(isinstance(series, dict), "series")
    head = Head(opt, seats, *read_series(series, opt, seats), read_deck(record))
    check_turn(head)
    check_doubled(head)
    check_score(head)
    check_stacks(head, record.get("stacks"))
    return head


def read_options(opt: object) -> dict[str, Any]:
    """All options with their defaults; a stated default is read too."""
    need(isinstance(opt, dict), "opt")
    assert isinstance(opt, dict)
    need(is_count(opt.get("unit")) and opt["unit"] > 0, "unit: an integer from 1 is required")
    for key, value in opt.items():
        allowed = VALUES.get(key, ())
        need(key == "unit" or any(same(value, each) for each in allowed), f"option {key}")
    return {key: values[0] for key, values in VALUES.items()} | opt


def read_seats(seats: object) -> list[str]:
    """Four different ids."""
    need(isinstance(seats, list) and len(seats) == len(SEATS), "seats")
    assert isinstance(seats, list)
    need(all(isinstance(seat, str) and seat for seat in seats) and len(set(seats)) == len(SEATS), "seats")
    return seats


def read_series(
    series: dict[str, Any], opt: dict[str, Any], seats: list[str]
) -> tuple[dict[str, list[str]], dict[str, int], dict[str, int]]:
    """``left``, ``doubled`` and ``score`` (empty in chips), keyed by the ids of the seats and of the right types."""
    paper = opt["settlement"] == "paper"
    need(set(series) == {"left", "doubled", *(["score"] if paper else [])}, "keys of series")
    for key, inner in series.items():
        need(isinstance(inner, dict) and set(inner) == set(seats), f"series {key}: one entry a seat")
    order = contracts(opt["ravage_city"])
    for left in series["left"].values():
        need(isinstance(left, list) and same(left, [each for each in order if each in left]), "series left")
    need(all(map(is_count, series["doubled"].values())), "series doubled")
    score = series.get("score", {})
    need(all(type(points) is int for points in score.values()), "series score")
    return series["left"], series["doubled"], score


def read_deck(record: Mapping[str, Any]) -> list[str]:
    """The full pack, top first; an empty list where the record does not show it."""
    if "deck" not in record:
        return []
    need(isinstance(record["deck"], str), "deck")
    deck = cut(record["deck"])
    need(sorted(deck) == sorted(PACK), "deck: not the full pack")
    return deck


def check_turn(head: Head) -> None:
    """Later declarers have everything left, earlier ones nothing."""
    order = contracts(head.opt["ravage_city"])
    others = [head.left[head.name(seat)] for seat in head.from_declarer()[1:]]
    need(bool(head.choices()), "series left: the declarer has no contract left")
    full = sum(left == order for left in others)
    need(others == [order] * full + [[]] * (3 - full), "series left: not the turns of the seats")


def check_doubled(head: Head) -> None:
    """Nobody has doubled oftener than there were deals, nor owes more doubles than there are deals to come."""
    to_come = len(head.choices())
    played = len(contracts(head.opt["ravage_city"])) - to_come
    for seat in SEATS:
        doubled = head.doubled[head.name(seat)]
        if seat == head.declarer:
            need(doubled == 0, "series doubled: of the declarer herself")
        else:
            need(2 - to_come <= doubled <= played, "series doubled: not in that many deals")


def balances(head: Head) -> list[int]:
    """What each seat has won so far on a sheet that is not yet paid, in points; four zeros in chips.

    This is what a session broken off here pays: the seat's score less the totals of the contracts it has declared.
    """
    if not head.score:
        return [0] * 4
    points, order = head.points, contracts(head.opt["ravage_city"])
    declared = {seat: [each for each in order if each not in head.left[seat]] for seat in head.seats}
    return [head.score[seat] - sum(map(points.total, declared[seat])) for seat in head.seats]


def check_score(head: Head) -> None:
    """The sheet adds up to the contracts declared; else its settlement would make or lose money."""
    need(sum(balances(head)) == 0, "series score: not the sum of the contracts declared")


def check_stacks(head: Head, stacks: object) -> None:
    """Each stack covers the worst loss of this deal, and on paper what the seat has lost so far."""
    need(isinstance(stacks, list) and len(stacks) == len(SEATS) and all(map(is_count, stacks)), "stacks")
    assert isinstance(stacks, list)
    for stack, needed in zip(stacks, cover(head), strict=True):
        need(stack >= needed, "stacks: the worst loss is not covered")


def cover(head: Head) -> list[int]:
    """What each stack must hold at least, in minor units.

    On paper it is what it would have to hold in chips: gains and losses of the sheet count as if they were paid.
    """
    worst = head.points.worst(head.opt["scoring"])
    return [max(0, worst - balance) * head.opt["unit"] for balance in balances(head)]
