"""Deals of Barbu that a person can read through, and counts of how many ways there are to play an ending.

``golden/barbu/*.txt`` hold the deals line by line: the phase, the line, what was on offer before it, what the public
sees where that is something else; then what the deal came to. ``golden/barbu/perft.json`` holds the counts: from a
fixed deal on, whose first tricks are played by the automatic acts, how many ways there are to go on after 1, 2, ...
decisions, how those deals ended and what each seat won or lost in all of them. A test plays all of it again;
``python -m tests.engine.barbu_scenarios --write`` writes it again, and the difference is then read, not waved through.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from engine.kernel.hand import Hand
from engine.kernel.legal import Legal, Seats
from engine.registry import resume
from tests.engine.goldens import counts_text, publish
from tests.engine.tricks.barbu_kit import (
    IDS,
    Opt,
    deals,
    first_cards,
    on_offer,
    pack_with,
    play,
    record_of,
    recorded,
    shuffled,
    table,
    undoubled,
)

# -- deals to read through ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scenario:
    """One deal; ``name`` is that of its file. ``begin`` says what is played before chance plays the rest."""

    name: str
    title: str
    begin: Callable[[], Hand]


def deal(name: str, title: str, *lines: str, opt: Opt | None = None, **what: Any) -> Scenario:
    """A deal of a pack that the name shuffles."""
    fields = {"deck": shuffled(Random(name))} | what
    return Scenario(name, title, lambda: play(table(opt, stacks=(50_000,) * 4, **fields), *lines))


def score_sheet() -> Hand:
    """The first deal of the text's score sheet, but for its last card."""
    record = record_of(recorded("barbu_seed_sheet.jsonl")[0])
    return resume(record.setup(), record.acts[:-1])


def hidden_dominoes() -> Hand:
    """Dominoes at a real table: nobody shown the house the cards of three seats."""
    hand = table({"unit": 10}, deck=None, stacks=(50_000,) * 4)
    for line in deals(pack_with(p4="9c"))[:3]:
        hand.apply(f"{line[:7]} {'??' * 13}")
    hand.apply(deals(pack_with(p4="9c"))[3])
    return play(hand, *undoubled("dominoes 9"), "p3 pl 9d; p4 pl 9c")


LAST = {
    "left": {"anne": ["king"]} | {name: [] for name in IDS[1:]},
    "doubled": {"beth": 1, "cath": 2, "diana": 2},
    "score": {"anne": 40, "beth": 100, "cath": -20, "diana": -100},
}
SCENARIOS = (
    Scenario("score_sheet", "No Queens, as on the score sheet of the rules text", score_sheet),
    deal("no_tricks", "No Tricks, doubled all round", "p1 cl notricks; p2 dbl p1 p3 p4; p3 dbl p2; p4 ps; p1 rdbl p2"),
    deal("no_last_two", "No Last Two, with the clock", "p1 cl lasttwo; p2 au; p2 ps; p3 dbl p1; p4 ps; p1 au; p1 ps"),
    deal("no_hearts", "No Hearts: none is led while there is anything else", *undoubled("hearts")),
    deal("king_early", "No King of Hearts that ends with the king", *undoubled("king"), opt={"early_stop": "all"}),
    deal("trumps", "Trumps, redoubled", "p1 cl trumps h; p2 dbl p1; p3 ps; p4 dbl p1; p1 rdbl p2 p4", opt={"unit": 20}),
    deal("dominoes", "Dominoes from the nine, seats passed over", "p1 cl dominoes 9; p2 dbl p1; p3 ps; p4 ps; p1 ps"),
    deal(
        "first_card", "Dominoes from the dealer's first card, the ace below the two",
        "p4 cl dominoes; p1 ps; p2 ps; p3 dbl p4; p4 rdbl p3",
        opt={"dealer_declares": True, "domino_rank": "first_card", "domino_ace": "low", "scoring": "fifteen"},
    ),
    deal("ravage_city", "Ravage City", *undoubled("ravage"), opt={"ravage_city": 36, "scoring": "brader"}),
    deal("must_dump", "No Queens, queens going as soon as is safe", *undoubled("queens"), opt={"must_dump": True}),
    deal("not_played", "No Tricks that nobody doubled", *undoubled("notricks"), opt={"no_double_no_play": True}),
    deal(
        "last_deal", "The last deal of a session on paper, with a compulsory double",
        "p1 cl king; p2 dbl p1; p3 ps; p4 ps; p1 rdbl p2", opt={"settlement": "paper", "unit": 10}, **LAST,
    ),
    Scenario("hidden_dominoes", "Dominoes with cards that the house does not know", hidden_dominoes),
)  # fmt: skip


def offer_text(offer: Legal) -> str:
    """``dbl p1 p3 (p1)``, ``pl Qh 3h``: the verb and what it may name; seats that must be named in parentheses."""
    [argument] = offer.arguments or (None,)
    if isinstance(argument, Seats):
        must = f" ({' '.join(f'p{seat}' for seat in argument.must)})" if argument.must else ""
        return f"{offer.verb} {' '.join(f'p{seat}' for seat in argument.choices)}{must}"
    if offer.verb == "ps":
        return "ps"
    words = list(argument.texts()) if argument else []
    return f"{offer.verb} {' '.join(words if len(words) < 14 else [words[0], '...', words[-1]])}"


def step(hand: Hand, line: str) -> str:
    """One line said, as a row."""
    phase = hand.phase
    offers = "" if phase == "deal" else " | ".join(map(offer_text, hand.legal()))
    if len(hand.actors) > 1:
        offers = " | ".join(f"{offer.actor} {offer_text(offer)}" for offer in hand.legal())
    hand.apply(line)
    seen = hand.view("public")["log"][-1]  # type: ignore[index]
    note = "" if seen == line else f"the public sees {seen.split()[-1]}"
    return f"{phase:<10}{line:<36}{offers}{note}".rstrip()


def text_of(scenario: Scenario) -> str:
    """The whole deal."""
    done, random = scenario.begin(), Random(scenario.name)
    setup = done.setup
    rows = [scenario.title, "=" * len(scenario.title), "", f"options  {json.dumps(dict(setup.opt))}"]
    rows += [
        f"stacks   {' '.join(map(str, setup.stacks))}",
        *(f"{name:<9}{what}" for name, what in setup.series.items()),
    ]
    rows += ["", f"{'phase':<10}{'line':<36}was on offer", "-" * 90]
    hand = resume(setup, ())
    rows += [step(hand, line) for line in done.log]
    while not hand.over:
        rows.append(step(hand, random.choice(sorted(on_offer(hand)))))
    return "\n".join([*rows, *ending(hand)]) + "\n"


def ending(hand: Hand) -> list[str]:
    """What the deal came to."""
    result, view = hand.result, hand.view("public")
    assert result
    rows = ["", f"ending   {result.ending}", f"points   {' '.join(map(str, view['points']))}"]  # type: ignore[call-overload]
    rows.append("net      " + " ".join(f"{net:+d}" if net else "0" for net in result.net))
    rows.append("moves    " + (", ".join(f"p{m.source} to p{m.target} {m.amount}" for m in hand.moves) or "none"))
    rows += [f"{name:<9}{what}" for name, what in result.series.items()]
    return [*rows, f"state    {hand.digest()}"]


# -- counting ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ending:
    """A small tree: the lines after the deal, how many cards the automatic acts play then, and the most decisions that
    are counted from there."""

    lines: tuple[str, ...]
    played: int
    opt: Opt = field(default_factory=dict)
    depth: int = 20

    def hand(self, name: str) -> Hand:
        """The deal at the root; variations of a tree ("king, hearts led") start from the same cards."""
        left = {"left": {"anne": ["queens", "trumps"]}, "doubled": {"beth": 1}} if not self.lines else {}
        return first_cards(
            play(table(self.opt, deck=shuffled(Random(name.split(",")[0])), **left), *self.lines), self.played
        )


ENDINGS = {
    "doubles": Ending((), 0, depth=5),
    "doubles of the declarer": Ending((), 0, {"doubling": "declarer"}, depth=5),
    "no tricks": Ending(("p1 cl notricks; p2 dbl p1 p3 p4; p3 ps; p4 ps; p1 rdbl p2",), 38),
    "queens": Ending(undoubled("queens"), 8, depth=5),
    "queens, at the first chance": Ending(undoubled("queens"), 8, {"must_dump": True}, depth=5),
    "last two": Ending(undoubled("lasttwo"), 40),
    "hearts": Ending(undoubled("hearts"), 36),
    "hearts, early end": Ending(undoubled("hearts"), 36, {"early_stop": "all"}),
    "king": Ending(undoubled("king"), 8, depth=6),
    "king, hearts led": Ending(undoubled("king"), 8, {"heart_ban": "hearts"}, depth=6),
    "trumps": Ending(undoubled("trumps d"), 37),
    "trumps, free": Ending(undoubled("trumps d"), 37, {"trump_void": "free"}),
    "dominoes": Ending(undoubled("dominoes 8"), 30),
    "dominoes, low ace": Ending(undoubled("dominoes 3"), 30, {"domino_ace": "low"}),
    "first card": Ending(undoubled("dominoes"), 0, {"domino_rank": "first_card"}, depth=6),
    "ravage city": Ending(undoubled("ravage"), 38, {"ravage_city": 24}),
}  # fmt: skip


def count(name: str, root: Ending) -> dict[str, object]:
    """What the golden file holds of a tree."""
    still_open, over = [0] * root.depth, [0] * root.depth
    endings: Counter[str] = Counter()
    net = [0] * 4
    waiting = [(root.hand(name), 0)]
    while waiting:
        hand, said = waiting.pop()
        for line in on_offer(hand):
            then = hand.copy()
            then.advance(line)
            if then.result:
                over[said] += 1
                endings[then.result.ending] += 1
                net = [sum(both) for both in zip(net, then.result.net, strict=True)]
                continue
            still_open[said] += 1
            if said + 1 < root.depth:
                waiting.append((then, said + 1))
    while not (still_open[-1] or over[-1]):  # every deal was over before
        del still_open[-1], over[-1]
    return {"open": still_open, "over": over, "endings": dict(endings), "net": net}


def main(arguments: list[str]) -> int:
    """Print everything, or write it to its files."""
    texts = {f"barbu/{scenario.name}.txt": text_of(scenario) for scenario in SCENARIOS}
    texts["barbu/perft.json"] = counts_text({name: count(name, root) for name, root in ENDINGS.items()})
    return publish(texts, arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
