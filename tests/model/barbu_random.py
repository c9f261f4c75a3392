"""Chance for Barbu: legal records with random options, packs, sheets and play, whole sessions, and spoilt logs.

The same generator state gives the same records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from tests.model.barbu import Run, judge, new_series
from tests.model.barbu_head import PACK, RANKS, VALUES, cover, points_of, read_head, same
from tests.model.barbu_scores import SUITS, contracts

Record = dict[str, Any]
DEEP = 20_000


def random_record(rng: Random, opt: dict[str, Any] | None = None, au: float = 0.05, physical: float = 0.2) -> Record:
    """A random legal deal, played to its end, with all derived keys.

    Options (unless given), sheet, stacks and pack are random. ``au`` is how often the clock runs out at a decision,
    ``physical`` how often the record does not show the pack.
    """
    opt = random_options(rng) if opt is None else opt
    seats = [f"r{rng.randrange(1000):03}{letter}" for letter in "abcd"]
    record = blank(opt, seats, random_series(rng, opt, seats), [DEEP * opt["unit"]] * 4)
    record["deck"] = "".join(random_pack(rng))
    spare = rng.choice((0, 0, 1, 50, 1000)) * opt["unit"]
    record["stacks"] = [least + spare for least in cover(read_head(record))]
    played(record, rng, au)
    if rng.random() < physical:
        del record["deck"]
    return record


def random_session(rng: Random, opt: dict[str, Any] | None = None, au: float = 0.02) -> list[Record]:
    """All 28 deals of a session (32 with ravage city); the sheet and the stacks go on from deal to deal."""
    opt = random_options(rng) if opt is None else opt
    seats = ["s1", "s2", "s3", "s4"]
    series, stacks = new_series(opt, seats), [DEEP * opt["unit"]] * 4
    session: list[Record] = []
    deals = 4 * len(contracts(opt.get("ravage_city", 0)))
    for number in range(1, deals + 1):
        record = blank(opt, list(seats), series, list(stacks), f"S1-{number:06}")
        record["deck"] = "".join(random_pack(rng))
        session.append(played(record, rng, au))
        series = record["series_out"]
        stacks = [stack + net for stack, net in zip(stacks, record["net"], strict=True)]
        if number % (deals // 4) == 0:
            seats, stacks = [*seats[1:], seats[0]], [*stacks[1:], stacks[0]]
    return session


def blank(opt: dict[str, Any], seats: list[str], series: Any, stacks: list[int], hand: str = "R1-000001") -> Record:
    """A record before its first line, without a pack."""
    head = {"v": "chr/1", "game": "barbu", "rules": "barbu/1", "opt": opt, "hand": hand}
    return head | {"seats": seats, "dealer": 4, "stacks": stacks, "carry": 0, "series": series, "acts": []}


def random_options(rng: Random) -> dict[str, Any]:
    """``unit``, and each option stated in two of five records, with any of its values."""
    opt: dict[str, Any] = {"unit": rng.choice((1, 20, 100))}
    return opt | {key: rng.choice(values) for key, values in VALUES.items() if rng.random() < 0.4}


def random_series(rng: Random, opt: dict[str, Any], seats: list[str]) -> dict[str, Any]:
    """A sheet that can arise before some deal of a session."""
    series = new_series(opt, seats)
    order = contracts(opt.get("ravage_city", 0))
    declarer = 3 if opt.get("dealer_declares") else 0
    for step in range(rng.randrange(4)):
        series["left"][seats[declarer - 1 - step]] = []
    left = sorted(rng.sample(order, rng.randint(1, len(order))), key=order.index)
    series["left"][seats[declarer]] = left
    for seat in seats:
        if seat != seats[declarer]:
            series["doubled"][seat] = rng.randint(max(0, 2 - len(left)), len(order) - len(left))
    if "score" in series:
        series["score"] = random_score(rng, opt, series["left"], seats)
    return series


def random_score(rng: Random, opt: dict[str, Any], left: dict[str, list[str]], seats: list[str]) -> dict[str, int]:
    """Any scores that add up to the contracts declared."""
    points = points_of({key: values[0] for key, values in VALUES.items()} | opt)
    total = 4 * points.set_total() - sum(points.total(each) for seat in seats for each in left[seat])
    score = {seat: rng.randint(-150, 150) for seat in seats}
    score[rng.choice(seats)] += total - sum(score.values())
    return score


def random_pack(rng: Random) -> list[str]:
    """A shuffled pack, or one with long suits or ranks together, so that rare duties come up."""
    pack = list(PACK)
    kind = rng.random()
    if kind < 0.5:
        rng.shuffle(pack)
        return pack
    if kind < 0.6:
        pack.sort(key=lambda card: RANKS.index(card[0]))
    for _ in range(rng.randrange(12)):
        start, stop = sorted(rng.sample(range(len(pack) + 1), 2))
        pack = [*pack[start:stop], *pack[:start], *pack[stop:]]
    for _ in range(rng.randrange(20)):
        one, other = rng.sample(range(len(pack)), 2)
        pack[one], pack[other] = pack[other], pack[one]
    return pack


def played(record: Record, rng: Random, au: float) -> Record:
    """Plays the deal on to its end and adds the derived keys, in place."""
    run = Run(read_head(record))
    shy = rng.choice((0.1, 0.4, 0.7, 0.97))
    while run.offer:
        if run.offer.seat and rng.random() < au:
            said = [f"p{run.offer.seat} au", run.offer.lines[0]]
        else:
            said = [chosen(run.offer.lines, rng, shy)]
        for line in said:
            assert run.say(line), line
            record["acts"].append(line)
    verdict = judge(record)
    assert verdict.ok, verdict
    return add_result(record, verdict)


def add_result(record: Record, verdict: Any) -> Record:
    """Adds the derived keys of a verdict, in place."""
    for key in ("net", "tax", "carry_out", "series_out"):
        record[key] = getattr(verdict, key)
    return record


def chosen(lines: Sequence[str], rng: Random, shy: float) -> str:
    """One of the lines: a pass as often as ``shy`` says, contracts with the same chance whatever they name."""
    if lines[0].endswith(" ps") and rng.random() < shy:
        return lines[0]
    words = [line.split() for line in lines]
    if words[0][1] == "cl":
        contract = rng.choice(sorted({each[2] for each in words}))
        return rng.choice([line for line in lines if line.split()[2] == contract])
    return rng.choice(lines)


def spoilt(record: Record, rng: Random, times: int) -> Iterator[Record]:
    """The record without derived keys and with one thing wrong in its log, so many times; it may still be legal."""
    bare = {key: value for key, value in record.items() if key not in ("net", "tax", "carry_out", "series_out")}
    for _ in range(times):
        acts = list(record["acts"])
        at, other = rng.randrange(len(acts)), rng.randrange(len(acts))
        how = rng.choice(("delete", "insert", "swap", "stop", "alter", "alter", "alter"))
        if how == "delete":
            del acts[at]
        elif how == "insert":
            acts.insert(at, acts[other])
        elif how == "swap":
            acts[at], acts[other] = acts[other], acts[at]
        elif how == "stop":
            acts = acts[:at]
        else:
            acts[at] = altered(acts[at], rng)
        if not same(acts, record["acts"]):
            yield bare | {"acts": acts}


def altered(line: str, rng: Random) -> str:
    """The line with one word changed, added or taken away; sometimes not well formed."""
    words = line.split(" ")
    at = rng.randrange(len(words))
    kinds = (
        [f"p{rng.randint(1, 5)}"],
        [rng.choice(("ps", "dbl", "rdbl", "pl", "cl", "au", "dh", "k"))],
        [rng.choice((*PACK, "??", "1c", "5C"))],
        [rng.choice((*contracts(36), *SUITS, *RANKS))],
        [],
        [words[at], words[at]],
        [""],
    )
    words[at : at + 1] = rng.choice(kinds)
    return " ".join(words)
