"""A running score by person: the part of a series that says what each has won so far, in points or units. It sums to
nothing, since what one wins another loses, and the same people go on with it.

>>> setup = Setup("rufmariasch", {}, 2, (0, 0), series={"score": {"ann": 3, "ben": -3}}, ids=("ben", "ann"))
>>> scores_of(setup)
(-3, 3)
>>> scores_after(setup.names, scores_of(setup), (10, -10))
{'score': {'ben': 7, 'ann': -7}}
>>> go_on({"score": {"ann": 3, "ben": -3}}, ("ann", "ben")), go_on({"score": {"ann": 0}}, ("ann", "ben"))
(True, False)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.errors import MalformedSetup
from engine.kernel.rules import MAX_MONEY
from engine.kernel.setup import Setup


def scores_of(setup: Setup) -> tuple[int, ...]:
    """The score that the series carries in, p1 first; raises ``MalformedSetup`` for one that cannot be."""
    names = setup.names
    score = setup.series.get("score")
    if setup.series.keys() != {"score"} or type(score) is not dict or score.keys() != set(names):
        raise MalformedSetup("the series holds the score of each seat, by id", series=["score"], seats=names)
    if any(type(points) is not int or abs(points) > MAX_MONEY for points in score.values()):
        raise MalformedSetup("scores are whole numbers", max=MAX_MONEY)
    if sum(score.values()):
        raise MalformedSetup("the scores must sum to 0", sum=0)
    return tuple(score[name] for name in names)


def scores_after(ids: Sequence[str], score: Sequence[int], won: Sequence[int]) -> dict[str, object]:
    """The series of the next deal, when the seats of these ids came in with ``score`` and have won so much, p1 first
    in all three."""
    return {"score": {name: before + points for name, before, points in zip(ids, score, won, strict=True)}}


def new_scores(ids: tuple[str, ...], rules: Any) -> Mapping[str, object]:
    """The series of a session's first deal."""
    return {"score": dict.fromkeys(ids, 0)}


def go_on(series: Mapping[str, Any], ids: tuple[str, ...]) -> bool:
    """Whether these are the people whose score the deal before has left."""
    score = series.get("score")
    return type(score) is dict and score.keys() == set(ids)
