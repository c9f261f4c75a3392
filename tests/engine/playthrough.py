"""Hands that a person can read through: one for each phase of the games and each variation.

Every hand is a scenario below: a table, and what the seats say (deals and cards shown follow by themselves).
``golden/*.txt`` hold them line by line: the phase, the line, pot and stacks after it, what was on offer before it, what
the public sees where that is something else; then what the hand came to. A test plays them again and compares;
``python -m tests.engine.playthrough --write`` writes them again, and the difference is then read, not waved through.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from engine.kernel.hand import Hand
from engine.kernel.legal import Legal
from engine.registry import start
from tests.engine.scenarios import SCENARIOS, Scenario

GOLDEN = Path(__file__).parent / "golden"


def offer_text(offer: Legal) -> str:
    """``rb 100-400/100``: verb, target, count and range of one offer."""
    words = [offer.verb]
    if offer.target is not None and offer.verb != "dh":
        words.append(f"p{offer.target}")
    if offer.min is not None:
        words.append(f"{offer.min}" if offer.min == offer.max else f"{offer.min}-{offer.max}/{offer.step}")
    if offer.places is not None:
        words.append("or".join("+".join(str(place + 1) for place in pair) for pair in offer.places))
    return " ".join(words)


def heading(scenario: Scenario, hand: Hand) -> list[str]:
    """What the table plays, and with what."""
    setup = hand.setup
    lines = [scenario.title, "=" * len(scenario.title), "", f"game     {setup.game}, {setup.seats} seats"]
    lines.append(f"options  {json.dumps(dict(setup.opt), ensure_ascii=False)}")
    lines.append(f"stacks   {' '.join(map(str, setup.stacks))}")
    if setup.carry:
        lines.append(f"carry    {setup.carry}")
    if setup.series:
        lines.append(f"series   {json.dumps(dict(setup.series))}")
    for at, deck in enumerate((setup.deck or (), *setup.redeals)):
        lines.append(f"{f'redeal {at}' if at else 'deck':<9}{' '.join(deck[:16])}")
        lines.append(f"{'':<9}{' '.join(deck[16:])}")
    columns = f"{'phase':<15}{'line':<24}{'pot':>6}  {'stacks':<{6 * setup.seats}}was on offer"
    return [*lines, "", columns, "-" * (len(columns) + 20)]


def public_log(hand: Hand) -> list[str]:
    """The log as everyone sees it."""
    log = hand.view("public")["log"]
    assert isinstance(log, list)
    return log


def step(hand: Hand, line: str) -> str:
    """One line said, as a row; long lines (commitments, nonces) are cut short."""
    phase, offers = hand.phase, [offer_text(offer) for offer in hand.legal()]
    hand.apply(line)
    said = line if len(line) <= 22 else line[:19] + "..."
    stacks = "".join(f"{stack:<6}" for stack in hand.stacks)
    seen = public_log(hand)[-1]
    note = "" if seen == line else f"; the public sees {seen.split()[-1]}"
    return f"{phase:<15}{said:<24}{hand.pot:>6}  {stacks}{', '.join(offers)}{note}"


def ending(hand: Hand) -> list[str]:
    """What the hand came to."""
    result = hand.result
    assert result
    lines = ["", f"ending   {result.ending}, winner {f'p{result.winner}' if result.winner else 'nobody'}"]
    lines.append("net      " + " ".join(f"{net:+d}" if net else "0" for net in result.net))
    for name in ("tax", "bonus", "carry_out", "series"):
        value = getattr(result, name)
        if any(value) if isinstance(value, tuple) else value:
            lines.append(f"{name:<10}{value}")
    moves = [f"{move.why} {f'p{move.seat} ' if move.seat else ''}{move.amount}" for move in hand.moves]
    lines += [f"moves    {', '.join(moves[at : at + 6])}" for at in range(0, len(moves), 6)]
    seen = [f"p{seat['seat']} {''.join(seat['cards'])}" for seat in hand.view("public")["seats"]]  # type: ignore[attr-defined]
    return [*lines, f"public   {', '.join(seen)}", f"state    {hand.digest()}"]


def text_of(scenario: Scenario) -> str:
    """The whole playthrough."""
    hand = start(scenario.setup)
    rows = heading(scenario, hand)
    for line in scenario.lines:
        rows += forced(hand)
        rows.append(step(hand, line))
    rows += forced(hand)
    return "\n".join(row.rstrip() for row in [*rows, *ending(hand)]) + "\n"


def forced(hand: Hand) -> list[str]:
    """Rows of what leaves nobody a choice."""
    rows = []
    while (line := hand.forced()) is not None:
        rows.append(step(hand, line))
    return rows


def main(arguments: list[str]) -> int:
    """Print all playthroughs, or write them to their files."""
    for scenario in SCENARIOS:
        text = text_of(scenario)
        if "--write" in arguments:
            (GOLDEN / f"{scenario.name}.txt").write_text(text)
        else:
            print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
