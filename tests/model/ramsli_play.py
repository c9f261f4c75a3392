"""Random deals of Ramsli played by the independent referee."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.model.ramsli import PACK, Referee, result

LIKELY = {"kn": 0.25, "in": 0.6, "ps": 0.6, "ex": 0.7, "cl": 0.5, "lk": 0.8}
"""How much more or less likely than one card a verb is."""


def random_case(random: Random, *, physical: bool = False) -> dict[str, Any]:
    """A deal before its log."""
    seats, unit, level = random.randint(2, 6), random.choice((1, 25, 100)), random.choice((0, 4, 8, 16, 40))
    kitty = 4 * random.choice((0, 0, 1, 2, 3, 5))
    if level:
        kitty = min(kitty, level)
    bank = 4 * random.choice((0, 1, 3, 20)) if level and kitty == level else 0
    ids = [f"s{seat}" for seat in range(1, seats + 1)]
    case = {
        "v": "chr/1", "game": "ramsli", "rules": "ramsli/1", "opt": {"unit": unit, "bank_level": level},
        "hand": f"R-{random.randint(1, 999)}", "seats": ids, "dealer": seats, "stacks": [100 * unit] * seats,
        "carry": (kitty + bank) * unit, "series": {"kitty": kitty * unit, "bank": bank * unit},
    }  # fmt: skip
    return case if physical else case | {"deck": "".join(random.sample(PACK, 32))}


def random_line(referee: Referee, random: Random, clock: float) -> str:
    """Some line that may follow."""
    wanted = referee.wanted
    assert wanted is not None
    if wanted.actor == "d":
        free = [card for card in PACK if card not in referee.named]
        return wanted.begin + "".join(wanted.cards or random.sample(free, wanted.count))
    if referee.late:
        return wanted.lines[0]
    if random.random() < clock:
        return f"{wanted.actor} au"
    verbs = sorted({line.split(" ")[1] for line in wanted.lines})
    verb = random.choices(verbs, [LIKELY.get(verb, 1) for verb in verbs])[0]
    return random.choice([line for line in wanted.lines if line.split(" ")[1] == verb])


def random_record(random: Random, *, physical: bool = False, clock: float = 0.05) -> dict[str, Any]:
    """The record of a deal played at random, with its result."""
    case = random_case(random, physical=physical)
    referee, acts = Referee(case), []
    while referee.wanted is not None:
        line = random_line(referee, random, clock)
        assert referee.accepts(line)
        acts.append(line)
    return case | {"acts": acts} | result(case, referee.shown)
