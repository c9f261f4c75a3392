"""Counting hands: how many ways there are to play a small table for so many decisions.

Amounts are collapsed to the smallest and the largest on offer, what leaves nobody a choice (deals, cards shown) is
played without being counted, and packs of redeals are the remaining cards, turned by the number of the redeal. The
counts stand in ``golden/perft.json``, by table: hands ``open`` after 1, 2, ... decisions, hands ``over`` after exactly
so many, how those ended, and what each seat won or lost in all of them; under ``soak``, every hand there is. A rule
that changes shows as a number that changes. A test compares; ``python -m tests.engine.perft --write`` counts again,
with ``--deep`` the whole games.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from engine.kernel.hand import Hand
from engine.kernel.legal import Legal
from engine.kernel.setup import Setup
from engine.registry import start, supply
from engine.vying.majzli import majzli_commitment
from tests.engine.support import stacked

GOLDEN = Path(__file__).parent / "golden" / "perft.json"
WHOLE = 60
"""Decisions by which every hand of these tables is over."""
NONCE = bytes(16)
HEADS_UP = stacked("Kl8b", "Ah7l", "Xb7b", "KhOl")
THREE = stacked("Kl8b", "Ah7l", "XlOb", "Xb7b", "KhOl", "9a9l")
THREE_HIGHER = stacked("8a8h", "AhKh", "KlXl", "7l9b", "9a7b", "9hUl")
"""p2 and p3 are higher than p1."""


@dataclass(frozen=True)
class Table:
    """A small table: depth of the test in decisions (the soak plays every hand to its end), and what is played."""

    depth: int
    opt: dict[str, object]
    stacks: tuple[int, ...]
    deck: tuple[str, ...]
    carry: int = 0
    series: dict[str, int] = field(default_factory=dict)
    game: str = "ferbli"

    def setup(self) -> Setup:
        """The set-up of its hand."""
        seats = len(self.stacks)
        base: dict[str, object] = {"vizi": 100}
        if self.game == "faerbeln":
            base = {"ante": 200, "lower": 500, "round2_unit": "lower", "bonus41": 1000, "tax_bps": 0}
        opt = base | self.opt
        return Setup(self.game, opt, seats, self.stacks, self.carry, seats, self.deck, series=self.series)


TABLES = {
    "two seats": Table(13, {}, (900, 1200), HEADS_UP),
    "three seats": Table(10, {}, (500, 900, 600), THREE),
    "chips": Table(11, {"bet_unit": "chip", "chip": 50, "table_max": 350}, (900, 1200), HEADS_UP),
    "raise cap": Table(14, {"raise_cap": 2}, (900, 1200), HEADS_UP),
    "triple limit": Table(12, {"limit": "triple"}, (900, 1200), HEADS_UP),
    "no limit": Table(12, {"limit": "none"}, (900, 1200), HEADS_UP),
    "santa": Table(10, {"wild": ["Oa"], "grigare": "general"}, (500,) * 3, THREE),
    "call or discard": Table(9, {"cukassza_call": "megadas_eldobas"}, (500,) * 3, THREE, 600),
    "forced third deal": Table(11, {"force_third_deal": True}, (500,) * 3, THREE, 600, {"failed": 2}),
    "majzli": Table(8, {"majzli_max": 200}, (500,) * 3, THREE),
    "two shown": Table(9, {"show_two": True}, (600, 600), HEADS_UP),
    "cuhhol": Table(10, {"cuhhol": True}, (500,) * 3, THREE),
    "cuhhol, two higher": Table(12, {"cuhhol": True}, (500,) * 3, THREE_HIGHER),
    "side pots": Table(10, {"short_stack": "side_pot"}, (250, 600, 900), THREE),
    "cuhhol and side pots": Table(10, {"short_stack": "side_pot", "cuhhol": True}, (250, 600, 900), THREE_HIGHER),
    "färbeln": Table(10, {}, (2700,) * 3, THREE, game="faerbeln"),
    "färbeln, side pots": Table(10, {"short_stack": "side_pot"}, (900, 1500, 4000), THREE, game="faerbeln"),
    "färbeln, any call": Table(
        10, {"showdown": "any_call", "bonus41_for": "uncontested"}, (2700,) * 3, THREE, game="faerbeln"
    ),
}


def choices(hand: Hand) -> list[str]:
    """The lines of one decision."""
    return [line for offer in hand.legal() for line in lines_of(hand, offer)]


def lines_of(hand: Hand, offer: Legal) -> list[str]:
    """The lines that one offer stands for, amounts collapsed to the smallest and the largest."""
    said = f"{offer.actor} {offer.verb}"
    if offer.verb == "mj":
        return [f"{said} ??", f"{said} {majzli_commitment(200, NONCE)}"]
    if offer.verb == "rv" and " mj ??" not in hand.log[0]:
        return [f"{said} 200 {NONCE.hex()}"]
    if offer.verb in ("cu", "sm"):
        return [f"{said} {''.join(hand.cards_of(int(offer.actor[1:])))}"]
    if offer.verb == "up":
        cards = hand.cards_of(int(offer.actor[1:]))
        pairs = offer.places or combinations(range(4), 2)
        return [f"{said} {cards[first]}{cards[second]}" for first, second in pairs]
    if offer.min is not None and offer.max is not None:
        target = "" if offer.target is None else f" p{offer.target}"
        return [f"{said} {amount}{target}" for amount in sorted({offer.min, offer.max})]
    return [said if offer.count is None else f"{said} {offer.count}"]


def run_forced(hand: Hand) -> None:
    """Deal and show as far as nobody has a choice, packs of redeals included."""
    while True:
        supply(hand, lambda cards, number: cards[-3 * number :] + cards[: -3 * number])
        line = hand.forced()
        if line is None:
            return
        hand.advance(line)


def count(table: Table, depth: int) -> dict[str, object]:
    """What the golden file holds of a table."""
    first = start(table.setup())
    run_forced(first)
    still_open, over = [0] * depth, [0] * depth
    endings: Counter[str] = Counter()
    net = [0] * len(table.stacks)
    waiting = [(first, 0)]
    while waiting:
        hand, said = waiting.pop()
        for line in choices(hand):
            then = after(hand, line)
            if then.result:
                over[said] += 1
                endings[then.result.ending] += 1
                net = [sum(both) for both in zip(net, then.result.net, strict=True)]
                continue
            still_open[said] += 1
            if said + 1 < depth:
                waiting.append((then, said + 1))
    while not (still_open[-1] or over[-1]):  # every hand was over before
        del still_open[-1], over[-1]
    return {"open": still_open, "over": over, "endings": dict(sorted(endings.items())), "net": net}


def after(hand: Hand, line: str) -> Hand:
    """Another hand, one decision on."""
    twin = hand.copy()
    twin.advance(line)
    run_forced(twin)
    return twin


def golden() -> dict[str, dict[str, dict[str, object]]]:
    """The counts on record: ``test`` and ``soak``, by table."""
    return json.loads(GOLDEN.read_text())  # type: ignore[no-any-return]


def main(arguments: list[str]) -> int:
    """Count and print, or write the golden file; depth is that of the test unless ``--deep``."""
    kept = golden() if GOLDEN.exists() else {"test": {}, "soak": {}}
    part = "soak" if "--deep" in arguments else "test"
    kept[part] = {}
    for name, table in TABLES.items():
        kept[part][name] = count(table, WHOLE if part == "soak" else table.depth)
        print(name, json.dumps(kept[part][name]), flush=True)
    if "--write" in arguments:
        GOLDEN.write_text(written(kept))
    return 0


def written(kept: dict[str, dict[str, dict[str, object]]]) -> str:
    """The golden file: one list a line."""
    lines = ["{"]
    for part, tables in kept.items():
        lines.append(f'  "{part}": {{')
        for name, counts in tables.items():
            lines.append(f"    {json.dumps(name, ensure_ascii=False)}: {{")
            lines += [f'      "{key}": {json.dumps(value)},' for key, value in counts.items()]
            lines[-1] = lines[-1][:-1]
            lines.append("    },")
        lines[-1] = lines[-1].rstrip(",")
        lines.append("  },")
    lines[-1] = lines[-1].rstrip(",")
    return "\n".join([*lines, "}"]) + "\n"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
