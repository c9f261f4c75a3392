"""Chance for the comparison of Zsiros: whole random deals with their results, as records."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from tests.model.zsiros import Draw, Referee, Turn, equals, results_of
from tests.model.zsiros_header import OPTIONS, PACK, case_of

TASTES = ("any", "beat", "duck")  # what a seat likes: anything, to take tricks, to lose them


def random_record(
    random: Random,
    *,
    seats: int | None = None,
    opt: Mapping[str, Any] | None = None,
    series: Mapping[str, Any] | None = None,
    physical: bool = False,
    calls: float = 0.1,
    clock: float = 0.05,
) -> dict[str, Any]:
    """A random legal deal, played to its end, with all derived keys.

    What is not given is drawn: 2 or 4 seats, options, a legal series. ``calls`` and ``clock`` are the chances of a
    call and of ``au`` before a seat acts. ``physical``: without ``deck``, the cards stand in the log only.
    """
    seats = seats or (opt or {}).get("players") or random.choice((2, 4))
    drawn = {**random_options(random, seats), **(opt or {})}
    before = dict(series or random_series(random, seats, drawn.get("target", 5)))
    record = header(random, drawn, before)
    referee = Referee(case_of(record))
    tastes = [random.choice(TASTES) for _ in range(2)]
    while referee.open is not None:
        for line in next_lines(random, referee, tastes, calls, clock):
            assert referee.accepts(line), line
            record["acts"].append(line)
    if physical:
        del record["deck"]
    return record | results_of(referee)


def random_options(random: Random, seats: int) -> dict[str, Any]:
    """A stake and some of the options, a default named now and then; ``players`` where it must be named."""
    opt: dict[str, Any] = {"stake": random.choice((0, 1, 100, 100, 2_500))}
    for name, values in OPTIONS.items():
        if name == "players":
            opt |= {name: seats} if seats == 2 or random.random() < 0.2 else {}
        elif random.random() < 0.5:
            opt[name] = random.choice(values)
    return opt


def random_series(random: Random, seats: int, target: int) -> dict[str, Any]:
    """Any state of an evening between two deals."""
    order = random.sample([f"z{number}" for number in range(11, 20)], seats)
    score = [random.randrange(target) for _ in range(2)]
    return {"order": order, "deals": random.choice(order), "score": score, "games": random.choices(range(4), k=2)}


def header(random: Random, opt: Mapping[str, Any], series: Mapping[str, Any]) -> dict[str, Any]:
    """A record before its first line; now and then a stack just covers the worst loss."""
    order, worst = list(series["order"]), 3 * opt["stake"]
    first = order.index(series["deals"]) + 1
    return {
        "v": "chr/1",
        "game": "zsiros",
        "rules": "zsiros/1",
        "opt": dict(opt),
        "hand": f"Z{random.randint(1, 9)}-{random.randint(1, 999_999):06}",
        "seats": order[first:] + order[:first],
        "dealer": len(order),
        "stacks": [random.choice((worst, 10**6)) for _ in order],
        "carry": 0,
        "series": dict(series),
        "deck": "".join(random.sample(PACK, len(PACK))),
        "acts": [],
    }


def next_lines(random: Random, referee: Referee, tastes: list[str], calls: float, clock: float) -> list[str]:
    """What happens next: a draw, or a seat's act with what comes before it."""
    if isinstance(referee.open, Draw):
        return sorted(referee.lines())
    turn = referee.open
    assert turn is not None
    said = sorted(referee.calls(turn.seat))
    talk = [random.choice(said)] if said and random.random() < calls else []
    if random.random() < clock:
        return [*talk, f"p{turn.seat + 1} au", turn.automatic()]
    return [*talk, chosen(random, referee, turn, tastes[turn.seat % 2])]


def chosen(random: Random, referee: Referee, turn: Turn, taste: str) -> str:
    """An act of the seat to its side's taste."""
    acts = sorted(turn.acts())
    if turn.may_stop or taste == "any" or not referee.deal.pile:
        return random.choice(acts)
    lead = referee.deal.pile[0][1]
    liked = [card for card in turn.cards if equals(card, lead) == (taste == "beat")]
    return f"p{turn.seat + 1} pl {random.choice(liked)}" if liked else random.choice(acts)
