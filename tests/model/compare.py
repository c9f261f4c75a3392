"""The referee against the engine: random hands of random tables, step by step, and spoilt logs.

``run(hands, seed)`` plays for as long as one likes; ``python -m tests.model.compare HANDS SEED [VARIANT...]``.
Whatever the two say differently raises :class:`Disagreement` with all that is needed to see it again.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from random import Random
from typing import Any

from engine.errors import EngineError
from engine.kernel.hand import Hand
from engine.kernel.legal import Legal
from engine.kernel.setup import Setup
from engine.record.format import format_record, record_of
from engine.registry import start
from tests.model.asking import May
from tests.model.random_play import Truth, line_for, random_case, spoilt, spoilt_decks
from tests.model.referee import Referee, case_of, judge
from tests.model.table import Case, Outcome

VARIANTS = ("limit", "wild", "grigare", "calls", "third_deal", "majzli", "show_two", "cuhhol", "side_pot")
OPTIONAL = {"sm", "up", "cu", "mj", "in"}  # verbs whose offer shows no more than that they are possible


class Disagreement(AssertionError):
    """What was compared, what both say, the set-up and the log so far."""

    def __init__(self, what: str, engine: object, referee: object, case: Case, acts: Sequence[str]) -> None:
        log = {**asdict(case), "acts": list(acts)}
        super().__init__(f"{what}\n  engine:  {engine}\n  referee: {referee}\n  {json.dumps(log, default=list)}")


def begin(case: Case) -> Hand:
    """The engine's hand of this case."""
    decks = [tuple(deck) for deck in case.decks] if case.decks else [None]
    return start(
        Setup(
            game="ferbli",
            opt=dict(case.opt),
            seats=case.seats,
            stacks=tuple(case.stacks),
            carry=case.carry,
            dealer=case.seats,
            deck=decks[0],
            redeals=tuple(deck for deck in decks[1:] if deck),
            series=dict(case.series),
        )
    )


def plain(offer: Legal | May) -> tuple[object, ...]:
    """An offer as both show it; with a single amount the step shows nothing."""
    if isinstance(offer, Legal):
        least, most = offer.min, offer.max
    else:
        least, most = offer.least, offer.most
    if offer.verb in OPTIONAL:
        return (offer.actor, offer.verb)
    step = offer.step if least != most else None
    return (offer.actor, offer.verb, least, most, step, offer.target, offer.count)


def same_offers(hand: Hand, referee: Referee, case: Case) -> None:
    """Both ask the same seat the same thing."""
    engine, own = sorted(map(plain, hand.legal()), key=repr), sorted(map(plain, referee.allowed), key=repr)
    if engine != own or hand.over != bool(referee.outcome):
        raise Disagreement("offers", engine, own, case, hand.log)


def same_result(hand: Hand, outcome: Outcome | None, case: Case) -> None:
    """Both count the same money."""
    found = hand.result
    if found is None or outcome is None:
        raise Disagreement("over", found, outcome, case, hand.log)
    engine = Outcome(found.net, found.tax, found.carry_out, found.ending, found.winner, dict(found.series), found.bonus)
    if engine != outcome:
        raise Disagreement("result", engine, outcome, case, hand.log)


def play(case: Case, random: Random, truth: Truth) -> Hand:
    """One random hand, compared at every step."""
    hand, referee = begin(case), Referee(case)
    while True:
        supply(hand, case, truth)
        same_offers(hand, referee, case)
        if hand.over:
            break
        offers = truthful(referee, truth)
        line = line_for(random.choices(offers, truth.weights(offers))[0], random, truth, referee.table)
        refusal = refused(hand, line)
        accepted = referee.accepts(line)
        if refusal or not accepted:
            raise Disagreement(f"line {line!r}", refusal or "accepts", accepted, case, hand.log)
        truth.follow(line)
    same_result(hand, referee.outcome, case)
    return hand


def truthful(referee: Referee, truth: Truth) -> list[May]:
    """What may be said, without the lie that a hand is higher than one laid open, or is not."""
    offers, verbs = referee.allowed, {may.verb for may in referee.allowed}
    if verbs != {"k", "f"}:
        return offers
    worth = referee.table.worth
    higher = worth(truth.hand[int(offers[0].actor[1:])]) > worth(truth.exposed)
    return [may for may in offers if (may.verb == "k") == higher]


def supply(hand: Hand, case: Case, truth: Truth) -> None:
    """Give the engine, and the case, the pack that a redeal wants."""
    if hand.wants is None:
        return
    if sorted(hand.wants) != sorted(truth.others()):
        raise Disagreement("wants", sorted(hand.wants), sorted(truth.others()), case, hand.log)
    pack = truth.shuffle_redeal()
    hand.supply(tuple(pack))
    assert isinstance(case.decks, list)
    case.decks.append(pack)


def refused(hand: Hand, line: str) -> str:
    """Why the engine refuses the line, "" if it does not."""
    try:
        hand.advance(line)
    except EngineError as error:
        return f"{error.code}: {error}"
    return ""


def compare_log(case: Case, acts: Sequence[str]) -> int | None:
    """Both say the same of a log, right or wrong: the index of its first wrong line."""
    hand, verdict = begin(case), judge(case, acts)
    for index, line in enumerate(acts):
        if refusal := refused(hand, line):
            wrong: int | None = index
            break
    else:
        refusal, wrong = "", None if hand.over else len(acts)
    if wrong != verdict.wrong:
        raise Disagreement(f"wrong line ({refusal})", wrong, verdict.wrong, case, acts)
    if wrong is None:
        same_result(hand, verdict.outcome, case)
    return wrong


def compare_record(case: Case, hand: Hand) -> None:
    """The hand's record, read as text, says all that the referee needs to find the same result."""
    names = tuple(f"s{seat}" for seat in range(case.seats))
    line = format_record(record_of(hand, hand_id="h", rules_id="ferbli/1", seats=names, opt=dict(case.opt)))
    record = json.loads(line)
    found = judge(case_of(record), record["acts"])
    if found.outcome is None:
        raise Disagreement("record", line, found.wrong, case, hand.log)
    same_result(hand, found.outcome, case)


def one_hand(seed: str, variants: Sequence[str] = (), spoil: int = 8) -> Iterator[str]:
    """Plays and spoils one hand; shows what was seen in it, for counting."""
    random = Random(seed)
    case, truth = random_case(random, variants)
    hand = play(case, random, truth)
    assert hand.result
    yield from ("hands", f"ending {hand.result.ending}", *(f"verb {line.split()[1]}" for line in hand.log))
    yield from (f"option {name}" for name in case.opt)
    compare_log(case, hand.log)
    compare_record(case, hand)
    for decks in spoilt_decks(case, random) if spoil else ():
        yield "deck, accepted" if compare_log(replace(case, decks=decks), hand.log) is None else "deck, refused"
    for lines in spoilt(hand.log, random, spoil):
        yield "spoilt, accepted" if compare_log(case, lines) is None else "spoilt, refused"


def run(hands: int, seed: str = "0", variants: Sequence[str] = (), spoil: int = 8) -> Counter[str]:
    """Compares that many hands; counts endings, verbs, options and spoilt logs."""
    seen: Counter[str] = Counter()
    for number in range(hands):
        seen.update(one_hand(f"{seed}/{number}", variants, spoil))
    return seen


def main(arguments: list[str]) -> None:
    """Run from the command line; every disagreement is shown, with its hand's seed, and the next hand follows."""
    hands, seed, *variants = arguments
    seen: Counter[str] = Counter()
    for number in range(int(hands)):
        try:
            seen.update(one_hand(f"{seed}/{number}", variants))
        except Disagreement as disagreement:
            seen["DISAGREEMENTS"] += 1
            print(f"{seed}/{number}: {disagreement}\n")
    result: Any = dict(sorted(seen.items()))
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
