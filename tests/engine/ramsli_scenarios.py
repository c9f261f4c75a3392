"""Deals of Ramsli that a person can read through, and counts of how many ways there are to play one to its end.

Every scenario is a table and what its seats say; cards are dealt and turned up by themselves, and what a scenario
leaves open is played by the automatic act of each seat. In ``golden/ramsli`` the ``*.txt`` hold the deals line by line,
``perft.json`` the counts. A test plays and counts again; ``python -m tests.engine.ramsli_scenarios --write`` writes
them again, and the difference is then read, not waved through.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from random import Random

from engine.kernel.hand import Hand
from engine.kernel.legal import Legal, Some
from engine.kernel.purse import place_name
from engine.kernel.setup import Setup
from engine.registry import start
from tests.engine.deals import run_forced, say, shuffled
from tests.engine.goldens import Scenario, counts_text, publish, rows_of
from tests.engine.tricks.ramsli_tables import rows, setup

THREE = rows("AaKaObUb", "AlKlOlUl", "AhKhXbXh", trump="7b", then="9b8b9h8h9l8l")
SEVEN = rows("7bKaObUb", "AlKlOlUl", "AhKhXbXh", trump="Ab", then="9b8b9h8h9l8l")
OLD_SUITS = rows(
    "AbKbObUb", "AlKlOlUl", "Xb9b8b7b", "Xl9l8l7l", "AhKhOhUh", "AaKaOaUa", trump="Xh", then="9h8h7hXa9a8a7a"
)


SCENARIOS = (
    Scenario("muss", "A muss in which nobody knocks: p1 leads, who has no trick pays", setup(deck=THREE)),
    Scenario("trump_taken", "The dealer knocks on the trump card unseen, and takes it", setup(deck=SEVEN, kitty=8),
             "p3 po 400; p3 cl top; p3 kn Ab; p3 ds Xh; p1 in; p2 ps; p3 ds XbKh; p1 ps"),
    Scenario("bottom", "The dealer turns up the bottom card, and has to knock; nobody plays along",
             setup(deck=THREE, kitty=4), "p3 po 400; p3 cl bottom; p3 lk 4; p3 kn"),
    Scenario("exchange", "The seven of trumps for the trump card, a new hand, one card face up, none",
             setup(deck=SEVEN, kitty=16, bank=8),
             "p3 po 400; p3 cl top; p3 lk 4; p3 ps; p1 ps; p2 kn; p3 in; p1 in; p2 ds AlKlOlUl; p2 ds 9l; p3 ps; "
             "p1 ex 7b; p1 cl up; p1 ds Ka"),
    Scenario("second_suit", "Nobody knocks on the first suit; the second card of it counts for nothing",
             setup(deck=THREE, kitty=8), "p3 po 400; p3 cl top; p3 lk 4; p3 ps; p1 ps; p2 ps; p3 ps; p1 kn; p2 in"),
    Scenario("failed", "Three suits without a knock: the kitty stands", setup(deck=THREE, kitty=8)),
    Scenario("old_suits", "Six seats; the pack runs out without a third suit", setup(6, deck=OLD_SUITS, kitty=4)),
    Scenario("bank", "A knocker alone takes the kitty, the bank fills it up again",
             setup(2, deck=THREE, kitty=16, bank=20), "p2 po 400; p2 cl top; p2 lk 4; p2 ps; p1 kn; p2 ps"),
    Scenario("no_bank", "Without a bank the kitty grows; the clock runs out for two seats",
             setup(2, deck=shuffled(Random(3)), level=0, kitty=40),
             "p2 po 400; p2 au; p2 cl top; p2 au; p2 lk 4; p2 kn; p1 in; p2 ps; p1 ps"),
)  # fmt: skip


def offer_text(offer: Legal) -> str:
    """A verb with its cards or words; of cards that may be laid away, how many."""
    for argument in offer.arguments:
        if isinstance(argument, Some):
            return f"{offer.verb} {argument.least}-{argument.most} of {''.join(argument.pool)}"
    return " ".join([offer.verb, *(text for argument in offer.arguments for text in argument.texts())])


def step(hand: Hand, line: str) -> str:
    """One line said, as a row; what the public sees where that is something else."""
    phase, offers = hand.phase, ", ".join(map(offer_text, hand.legal()))
    hand.apply(line)
    shown = hand.view("public")["log"][-1]  # type: ignore[index]
    note = "" if shown == line else f"; the public sees {shown.split()[-1]}"
    return f"{phase:<8}{line:<18}{hand.pot:>6}{hand.bank:>6}  {offers}{note}".rstrip()


def text_of(scenario: Scenario) -> str:
    """The whole deal."""
    hand = start(scenario.setup)
    text = scenario.heading(hand.setup)
    text.append(f"{'phase':<8}{'line':<18}{'kitty':>6}{'bank':>6}  was on offer")
    text += rows_of(hand, scenario.said(), step)
    assert hand.result
    moves = [f"{place_name(move.source)} to {place_name(move.target)} {move.amount} {move.why}" for move in hand.moves]
    text += ["", f"ending   {hand.result.ending}, winner {hand.result.winner}"]
    text += [f"moves    {', '.join(moves[at : at + 4])}" for at in range(0, len(moves), 4)]
    text += [
        f"net      {' '.join(f'{net:+d}' for net in hand.result.net)}",
        f"series   {json.dumps(hand.result.series)}",
    ]
    return "\n".join([*text, f"state    {hand.digest()}"]) + "\n"


# Counts of whole deals, cards not changed: who knocks, who plays along, and every way to play the tricks.

TABLES = {
    "two seats": setup(2, deck=shuffled(Random(1)), kitty=8),
    "two seats, a muss": setup(2, deck=shuffled(Random(2))),
    "two seats, no bank": setup(2, deck=shuffled(Random(5)), level=0, kitty=20),
    "three seats, a muss": setup(3, deck=shuffled(Random(4))),
}


def count(table: Setup) -> dict[str, object]:
    """Deals ``over`` after so many acts, how they ended, what each seat won or lost in all of them. Nobody changes a
    card; of the cards that may be laid away the first is."""
    over: Counter[int] = Counter()
    endings: Counter[str] = Counter()
    net = [0] * table.seats
    waiting = [(run_forced(start(table)), 1)]
    while waiting:
        hand, depth = waiting.pop()
        for line in choices(hand):
            then = say(hand.copy(), line)
            if then.result is None:
                waiting.append((then, depth + 1))
                continue
            over[depth] += 1
            endings[f"{then.result.ending}, {then.result.winner}"] += 1
            net = [sum(both) for both in zip(net, then.result.net, strict=True)]
    return {
        "over": [over[at] for at in range(1, max(over) + 1)],
        "endings": dict(sorted(endings.items())),
        "net": net,
    }


def choices(hand: Hand) -> list[str]:
    """The lines that are followed."""
    if hand.phase == "draw":
        return [f"{hand.actor} ps"]
    lines = [line for offer in hand.legal() for line in offer.lines()]
    return lines[:1] if hand.phase == "lay" else lines


def main(arguments: list[str]) -> int:
    """Print everything, or write it to its files."""
    texts = {f"ramsli/{scenario.name}.txt": text_of(scenario) for scenario in SCENARIOS}
    texts["ramsli/perft.json"] = counts_text({name: count(table) for name, table in TABLES.items()})
    return publish(texts, arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
