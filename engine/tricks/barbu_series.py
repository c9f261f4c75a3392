"""What Barbu carries from deal to deal, by the ids of those who sit on the seats.

``left``: the contracts that each has not declared yet, in the order of the text; ``doubled``: in how many deals of the
present declarer's set each has doubled the declarer; ``score``, on paper only: the points on the sheet. The declarer
keeps the seat until nothing is left to declare; the next one then takes it ("Introduction"). A series that no session
can reach is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.errors import MalformedSetup, StackTooShort
from engine.kernel.game import require_stacks
from engine.kernel.setup import Setup
from engine.tricks.barbu_rules import BarbuRules
from engine.tricks.barbu_scores import SEATS

COMPULSORY = 2
"""Deals of a set in which each seat must double the declarer ("Doubling")."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A series that has been checked (:func:`sheet_of`), with the seats it belongs to.

    ``ids``: who sits on the seats, p1 first; ``declarer``: the id of the declarer; the rest as in the series, ``score``
    empty with chips.
    """

    ids: tuple[str, ...]
    declarer: str
    left: Mapping[str, list[str]]
    doubled: Mapping[str, int]
    score: Mapping[str, int]

    def declared(self, rules: BarbuRules, name: str) -> int:
        """What the contracts that this id has declared are worth together, in points."""
        return rules.set_total - rules.points.sum_of(self.left[name])

    def balance(self, rules: BarbuRules, name: str) -> int:
        """On paper, the points that the id would be paid if the session were broken off now: as with chips, declarers
        pay the basic scores of their contracts."""
        return self.score[name] - self.declared(rules, name)

    def must_double(self, seat: int) -> bool:
        """Whether the seat cannot put off doubling the declarer any longer."""
        return COMPULSORY - self.doubled[self.ids[seat - 1]] >= len(self.left[self.declarer])

    @property
    def ends(self) -> bool:
        """Whether this deal is the last of the session."""
        return sum(map(len, self.left.values())) == 1

    def after(
        self, rules: BarbuRules, contract: str, doublers: Sequence[int], score: Sequence[int]
    ) -> Mapping[str, object]:
        """The series of the next deal, when ``contract`` was declared, the seats ``doublers`` have doubled the
        declarer, and ``score`` is what each seat, p1 first, writes on the sheet."""
        if self.ends:
            return new_series(self.ids, rules)
        left = {**self.left, self.declarer: [name for name in self.left[self.declarer] if name != contract]}
        if left[self.declarer]:
            doubled = {name: self.doubled[name] + (seat in doublers) for seat, name in enumerate(self.ids, 1)}
        else:
            doubled = dict.fromkeys(self.ids, 0)
        found: dict[str, object] = {"left": left, "doubled": doubled}
        if self.score:
            found["score"] = {name: self.score[name] + points for name, points in zip(self.ids, score, strict=True)}
        return found

    def settled(self, rules: BarbuRules, score: Sequence[int]) -> tuple[int, ...]:
        """The points that the session comes to for each seat, p1 first, with the scores of its last deal: what the
        sheet says, less what one declarer's contracts are worth."""
        each = zip(self.ids, score, strict=True)
        return tuple(self.score[name] + points - rules.set_total for name, points in each)


def new_series(ids: Sequence[str], rules: BarbuRules) -> Mapping[str, object]:
    """The series of a session's first deal. Who declares first is drawn by where the ids are seated."""
    found: dict[str, object] = {
        "left": {name: list(rules.contracts) for name in ids},
        "doubled": dict.fromkeys(ids, 0),
    }
    if rules.settlement == "paper":
        found["score"] = dict.fromkeys(ids, 0)
    return found


def next_seats(seats: int, series: Mapping[str, Any], series_out: Mapping[str, Any]) -> tuple[int, ...]:
    """Who sits on the seats in the next deal, by places from 0: everybody stays while the declarer has contracts left,
    then all move up by one, after the session too."""
    stay = tuple(range(seats))
    # Nobody but the declarer can have just one left: the others have all, or none.
    return (*stay[1:], 0) if any(len(left) == 1 for left in series["left"].values()) else stay


def continues(series: Mapping[str, Any], ids: tuple[str, ...], rules: BarbuRules) -> bool:
    """Whether these people, p1 first, go on with what the deal before has left: a session is for the same four, in the
    same order; others begin a new one."""
    try:
        sheet_of(series, ids, rules)
    except MalformedSetup:
        return False
    return True


def under_way(series: Mapping[str, Any]) -> bool:
    """Whether some contracts of a session have been declared: at its beginning everybody has all of them left."""
    return len({len(left) for left in series.get("left", {}).values()}) > 1


def broken_off(series: Mapping[str, Any], rules: BarbuRules) -> Mapping[str, int]:
    """On paper, what everybody is paid if the session is broken off after this deal, in minor units: the points of the
    sheet less the basic scores of the contracts that were declared. Nothing with chips, where every deal is paid."""
    if not series.get("score"):
        return {}
    sheet = Sheet(tuple(series["left"]), "", series["left"], series["doubled"], series["score"])
    return {name: sheet.balance(rules, name) * rules.unit for name in sheet.ids}


# -- what is refused ---------------------------------------------------------------------------------------------------


def sheet_of(series: Mapping[str, Any], ids: tuple[str, ...], rules: BarbuRules) -> Sheet:
    """The series of those who sit on the seats, p1 first; raises ``MalformedSetup`` for one that is none, or that no
    session can reach."""
    keys = {"left", "doubled", "score"} if rules.settlement == "paper" else {"left", "doubled"}
    if series.keys() != keys:
        raise MalformedSetup("the series of this table has other keys", keys=sorted(keys))
    for name, value in series.items():
        if type(value) is not dict or value.keys() != {*ids}:
            raise MalformedSetup(f"{name!r} of the series goes by the seats' ids", seats=ids)
    sheet = Sheet(ids, ids[rules.place_of_declarer - 1], series["left"], series["doubled"], series.get("score", {}))
    _check_left(sheet, rules)
    _check_doubled(sheet, rules)
    if sheet.score:
        _check_score(sheet, rules)
    return sheet


def _check_left(sheet: Sheet, rules: BarbuRules) -> None:
    """The declarer has some contracts left, those who come later have all, those who came before none."""
    every = list(rules.contracts)
    at = sheet.ids.index(sheet.declarer)
    own, *others = (sheet.left[sheet.ids[(at + step) % SEATS]] for step in range(SEATS))
    if type(own) is not list or not own or own != [contract for contract in every if contract in own]:
        raise MalformedSetup("the declarer has contracts left, each once, in the order of the text", left=every)
    later = sum(map(bool, others))
    if others != [every] * later + [[]] * (SEATS - 1 - later):
        raise MalformedSetup("later declarers have all contracts left, earlier ones none", left=every)


def _check_doubled(sheet: Sheet, rules: BarbuRules) -> None:
    """Nobody doubles oneself; nobody missed a compulsory double, nobody doubled too often."""
    own = len(sheet.left[sheet.declarer])
    played = len(rules.contracts) - own
    for name, doubled in sheet.doubled.items():
        least, most = (0, 0) if name == sheet.declarer else (max(COMPULSORY - own, 0), played)
        if type(doubled) is not int or not least <= doubled <= most:
            raise MalformedSetup(f"{name} cannot have doubled {doubled!r} times", min=least, max=most)


def _check_score(sheet: Sheet, rules: BarbuRules) -> None:
    """The sheet sums to what the declared contracts are worth: side bets cancel out."""
    if not {int}.issuperset(map(type, sheet.score.values())):
        raise MalformedSetup("scores are whole numbers")
    total = sum(sheet.declared(rules, name) for name in sheet.ids)
    if sum(sheet.score.values()) != total:
        raise MalformedSetup(f"the scores must sum to {total}", sum=total)


def require_cover(setup: Setup, rules: BarbuRules, sheet: Sheet) -> None:
    """Raise ``StackTooShort`` unless every stack covers the worst that may come: on paper together with what the sheet
    says so far."""
    if rules.settlement == "chips":
        require_stacks(setup.stacks, rules.least_stack)
        return
    for seat, (name, stack) in enumerate(zip(sheet.ids, setup.stacks, strict=True), 1):
        least = max(0, rules.worst_points - sheet.balance(rules, name)) * rules.unit
        if stack < least:
            raise StackTooShort(f"p{seat} has {stack}, it may have to pay {least}", seat=seat, min=least)
