"""Which records may be played at all: what the later trick games settle alike before the first line of the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from tests.model.course import cut

NEEDED = frozenset({"v", "game", "rules", "opt", "hand", "seats", "dealer", "stacks", "carry", "series", "acts"})
ALLOWED = NEEDED | {"deck", "net", "tax", "carry_out", "series_out", "prev", "commit", "seed", "client_seeds", "state"}
Options = Mapping[str, Sequence[object]]


def whole(value: object, least: int = 0) -> bool:
    """An integer of at least that much; a boolean is none."""
    return type(value) is int and value >= least


def texts(value: object) -> bool:
    """A list of distinct texts, none of them empty."""
    good = isinstance(value, list) and all(isinstance(one, str) and one for one in value)
    return good and len(set(value)) == len(value)  # type: ignore[arg-type]


def head_fault(record: Mapping[str, Any], game: str, money: tuple[str, int], options: Options) -> str | None:
    """The first fault of keys, names, options, seats and carry. ``money``: the option that must be set, and its least
    value; ``options``: the values of all others."""
    if not set(record) >= NEEDED or not set(record) <= ALLOWED:
        return "keys missing or unknown"
    if (record["v"], record["game"], record["rules"]) != ("chr/1", game, f"{game}/1"):
        return f"not a record of {game}/1"
    opt, (unit, least) = record["opt"], money
    if not isinstance(opt, Mapping) or not whole(opt.get(unit), least):
        return f"opt.{unit} is required, an integer from {least}"
    for name in opt.keys() - {unit}:
        if not any(type(opt[name]) is type(good) and opt[name] == good for good in options.get(name, ())):
            return f"opt.{name}: unknown, or an unknown value"
    seats = record["seats"]
    if not texts(seats) or not whole(record["dealer"]) or record["dealer"] != len(seats):
        return "seats are distinct ids, dealer is the last seat"
    if not isinstance(record["hand"], str) or not record["hand"]:
        return "hand is a text"
    if not whole(record["carry"]) or record["carry"] != 0 or not isinstance(record["acts"], list):
        return "carry is 0, acts is a list"
    return None


def table_fault(record: Mapping[str, Any], seats: int, worst: int, pack: Sequence[str]) -> str | None:
    """The number of seats, stacks that cover the worst loss, and a deck that is the whole pack."""
    stacks = record["stacks"]
    if len(record["seats"]) != seats or not isinstance(stacks, list) or len(stacks) != seats:
        return f"{seats} seats have as many stacks"
    if not all(whole(stack, worst) for stack in stacks):
        return f"a stack does not cover the worst loss, {worst}"
    deck = record.get("deck", "".join(pack))
    good = isinstance(deck, str) and sorted(cut(deck)) == sorted(pack)
    return None if good else "deck is not the whole pack"


def score_fault(record: Mapping[str, Any]) -> str | None:
    """A series that holds nothing but a score by id, which sums to nothing."""
    series = record["series"]
    if not isinstance(series, Mapping) or set(series) != {"score"} or not isinstance(series["score"], Mapping):
        return "series has the key score"
    score = series["score"]
    if set(score) != set(record["seats"]) or not all(type(points) is int for points in score.values()):
        return "score is an integer for each id"
    return "the scores do not sum to nothing" if sum(score.values()) else None


def random_head(
    random: Random, game: str, opt: dict[str, Any], seats: list[str], series: dict[str, Any], worst: int,
    pack: Sequence[str],
) -> dict[str, Any]:  # fmt: skip
    """A record before its first line; now and then a stack just covers the worst loss."""
    return {
        "v": "chr/1", "game": game, "rules": f"{game}/1", "opt": opt, "hand": f"T{random.randint(1, 9)}-000001",
        "seats": seats, "dealer": len(seats), "stacks": [random.choice((worst, 10**7)) for _ in seats], "carry": 0,
        "series": series, "deck": "".join(random.sample(pack, len(pack))), "acts": [],
    }  # fmt: skip


def random_score(random: Random, ids: Sequence[str], step: int) -> dict[str, Any]:
    """Any score that sums to nothing, in multiples of ``step``."""
    points = [random.randint(-30, 30) * step for _ in ids[1:]]
    return {"score": dict(zip(ids, [-sum(points), *points], strict=True))}


def some(random: Random, options: Options, share: float = 0.5) -> dict[str, Any]:
    """Some of the options with some value, a default now and then."""
    return {name: random.choice(values) for name, values in options.items() if random.random() < share}
