"""Deals of the later trick games that a person can read through, and counts of how many ways there are to play one.

Every scenario is a table and what its seats say; cards are dealt by themselves, and what a scenario leaves open is
played by the automatic act of each seat. In ``golden/GAME`` the ``*.txt`` hold the deals line by line: the phase, the
line, what was on offer before it, what the public sees where that is something else; ``perft.json`` holds the counts. A
test plays and counts again; ``python -m tests.engine.trick_scenarios --write`` writes them again, and the difference is
then read, not waved through.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

from engine.kernel.hand import Hand
from engine.kernel.legal import Legal
from engine.kernel.purse import place_name
from engine.registry import game_info, start
from tests.engine.deals import deck_of, run_forced, say, shuffled, table
from tests.engine.goldens import Scenario, counts_text, publish, rows_of

GAMES = ("siebner_schuster", "rufmariasch", "preferansz")
MOST_SHOWN = 12
"""Lines of an offer that are written out."""


def siebner(name: str, title: str, lines: str = "", *, seats: int = 4, deck: object = None, **what: Any) -> Scenario:
    """A deal of Siebner Schuster; the name shuffles the pack."""
    opt = what.pop("opt", {})
    pack = game_info("siebner_schuster").pack_for(opt)
    cards = shuffled(Random(name), pack) if deck is None else deck
    return Scenario(name, title, table("siebner_schuster", opt, seats=seats, deck=cards, **what), lines)  # type: ignore[arg-type]


def rufmariasch(name: str, title: str, lines: str, *, deck: object = None, **what: Any) -> Scenario:
    """A deal of Rufmariasch."""
    cards = shuffled(Random(name)) if deck is None else deck
    return Scenario(name, title, table("rufmariasch", what.pop("opt", {}), deck=cards, **what), lines)  # type: ignore[arg-type]


def preferansz(name: str, title: str, lines: str, *, deck: object = None, **what: Any) -> Scenario:
    """A deal of Preferánsz."""
    cards = shuffled(Random(name)) if deck is None else deck
    return Scenario(name, title, table("preferansz", what.pop("opt", {}), seats=3, deck=cards, **what), lines)  # type: ignore[arg-type]


ASKED = deck_of("AaAl7a8a", "OaKaXaXl", "8lKb9a8b", "Ab7lKh9l")
SUITS = deck_of(
    "AaXaKaOa", "AlXlKlOl", "AbXbKbOb", "AhXhKhOh", "Ua9a8a7a", "Ul9l8l7l", "Ub9b8b7b", "Uh9h8h7h"
)  # fmt: skip
PASSES = "p1 ps; p2 ps; p3 ps"
SCENARIOS: dict[str, tuple[Scenario, ...]] = {
    "siebner_schuster": (
        siebner("two_rounds", "A trick of two rounds, and cards drawn one by one",
                "p1 pl Aa; p2 pl Oa; p3 pl 8l; p4 pl Ab; p1 pl Al; p2 pl Ka; p3 pl Kb; p4 pl 7l; p1 ps", deck=ASKED),
        siebner("calls_and_clock", "Partners call, the clock runs out; at the end of the talon they see their hands",
                "p3 cl podmazi; p1 au; p1 pl Aa; p4 cl ubij; p2 pl Xa; p1 cl pusti; p3 pl 9a; p4 pl Ab; p3 cl napuni; "
                "p1 au; p1 ps; p2 cl natovari", deck=ASKED),
        siebner("two_players", "Two players, a French pack, cards laid ready, hands filled up at once", seats=2,
                opt={"pack": "french", "deal_model": "preassigned", "draw_mode": "batch", "stake": 25}),
        siebner("game_won", "A deal that ends a game",
                series={"order": ["ann", "ben", "cat", "dan"], "deals": "dan", "score": [110, 110], "games": [1, 0]}),
    ),
    "rufmariasch": (
        rufmariasch("partner", "The partner shows in the first trick; two melds, one of them in trumps",
                    "p1 cl 7b; p3 ml KbOb; p1 pl 7a; p1 ml KaOa; p2 pl 7l; p3 pl 7b; p4 pl 7h", deck=SUITS),
        rufmariasch("partner_melds", "The called card is melded", "p1 cl Kl; p2 ml KlOl; p1 pl Aa", deck=SUITS),
        rufmariasch("alone", "The caller is alone; a meld without a trick counts nothing",
                    "p1 cl Xa; p4 ml KhOh; p1 ml KaOa", deck=SUITS),
        rufmariasch("two_calls", "A card and another suit are called, none of the first four; the clock runs out",
                    "p1 au", opt={"two_calls": True, "call_own_card": False}),
    ),
    "preferansz": (
        preferansz("holds", "Vorhand holds the bid; contra and re-contra",
                   f"{PASSES}; p1 bd 2; p2 bd 3; p3 ps; p1 bd 3; p2 bd 4; p1 bd 4; p2 ps"),
        preferansz("out_of_hand", "Acorns out of the hand, doubled twice and redoubled once",
                   "p1 bd 2 hand; p2 ps; p3 bd 5 hand; p1 dbl p3; p3 ps; p2 dbl p3; p3 rdbl p2"),
        preferansz("kunstwerk", "A widow of one rank, and a bettl lost with its first trick",
                   f"{PASSES}; p1 bd 2; p2 ps; p3 ps; p1 au; p1 ds AaKa; p1 cl 6; p2 dbl p1; p1 au; p1 ps",
                   deck=deck_of("AaAlAbAhKa", "7a8a9aXaUa", "7l8l9lXlUl", "KbKh", "Kl7b8b9b7h", "XbUbObOaOl")),
        preferansz("comes_in_again", "Passing is not final; a durchmarsch is held, and played out",
                   f"{PASSES}; p1 bd 2; p2 ps; p3 bd 3; p1 ps; p2 bd 7; p1 bd 7",
                   opt={"pass_is_final": False, "early_end": False, "unit": 20}),
    ),
}  # fmt: skip


def offer_text(offer: Legal) -> str:
    """``pl Aa Al``: a verb with what it may name; the partner's calls are known, and of many lines the ends."""
    said = [line.split(" ", 2)[2] for line in offer.lines() if line.count(" ") > 1]
    if "ubij" in said:
        said = []
    shown = said if len(said) <= MOST_SHOWN else [said[0], "...", said[-1]]
    return " ".join([offer.actor if offer.verb in ("ml", "cl") else "", offer.verb, *shown]).strip()


def step(hand: Hand, line: str) -> str:
    """One line said, as a row."""
    phase = hand.phase
    offers = "" if phase == "deal" else " | ".join(map(offer_text, hand.legal()))
    hand.apply(line)
    log: Any = hand.view("public")["log"]
    seen = "" if log[-1] == line else f"   [public: {log[-1]}]"
    return f"{phase:<12}{line:<22} {offers}{seen}".rstrip()


def text_of(scenario: Scenario) -> str:
    """The whole deal."""
    hand = start(scenario.setup)
    rows = scenario.heading(hand.setup)
    rows.append(f"{'phase':<12}{'line':<22} was on offer")
    rows += rows_of(hand, scenario.said(), step)
    assert hand.result
    view = hand.view("public")
    seats: Any = view["seats"]
    moves = [f"{place_name(move.source)} to {place_name(move.target)} {move.amount}" for move in hand.moves]
    rows += [
        "",
        f"ending   {hand.result.ending}, winner {f'p{hand.result.winner}' if hand.result.winner else 'nobody'}",
    ]
    rows += [f"points   {view['points']}"] if "points" in view else [f"tricks   {[seat['tricks'] for seat in seats]}"]
    rows += [f"moves    {', '.join(moves) or 'none'}"]
    rows += [f"net      {' '.join(f'{net:+d}' for net in hand.result.net)}"]
    rows += [f"series   {json.dumps(hand.result.series)}", f"state    {hand.digest()}"]
    return "\n".join(rows) + "\n"


# Counts of whole deals.


@dataclass(frozen=True)
class Ending:
    """A deal whose first lines are ``said``, played by automatic acts until ``left`` cards are unplayed, and from there
    in every way."""

    seats: int
    seed: int
    left: int
    said: str = ""
    opt: dict[str, Any] = field(default_factory=dict)


ENDINGS: dict[str, dict[str, Ending]] = {
    "siebner_schuster": {
        "two seats": Ending(2, 1, 10),
        "two seats, cards laid ready": Ending(2, 2, 10, opt={"deal_model": "preassigned"}),
        "four seats": Ending(4, 3, 12),
        "four seats, batches": Ending(4, 5, 12, opt={"draw_mode": "batch"}),
    },
    "rufmariasch": {
        "four seats": Ending(4, 1, 16, "p1 cl Aa"),
        "two calls": Ending(4, 2, 16, "p1 cl Kh l", {"two_calls": True}),
        "melds": Ending(4, 4, 32, "p1 cl Xb", {"call_own_card": False}),
    },
    "preferansz": {
        "trumps": Ending(3, 1, 9, f"{PASSES}; p1 bd 4; p2 ps; p3 ps"),
        "without trumps": Ending(3, 2, 9, f"{PASSES}; p1 bd 6; p2 ps; p3 ps", {"early_end": False}),
        "bidding": Ending(3, 3, 30, PASSES),
        "bidding, passing is not final": Ending(3, 3, 30, PASSES, {"pass_is_final": False}),
        "out of the hand": Ending(3, 3, 30),
    },
}
DEPTHS = {"melds": 5, "out of the hand": 7, "bidding, passing is not final": 9}
"""Counts that are not played to the end: after how many acts they stop."""
STOPS = frozenset({"discard", "tricks"})
"""Phases with which a count of biddings stops."""


def first_lines(game: str, ending: Ending) -> Hand:
    """The deal where the counting begins."""
    pack = game_info(game).pack_for(ending.opt)
    hand = run_forced(start(table(game, ending.opt, seats=ending.seats, deck=shuffled(Random(ending.seed), pack))))
    say(hand, *filter(None, [ending.said]))
    while sum(" pl " in line for line in hand.log) < (30 if ending.seats == 3 else 32) - ending.left:
        say(hand, hand.automatic() or "")
    return hand


def count(game: str, name: str) -> dict[str, object]:
    """Deals ``open`` and ``over`` after 1, 2, ... acts, how they ended, what each seat won or lost in all of them.
    Calls to the partner and ``au`` change nothing and are not counted."""
    ending, depth = ENDINGS[game][name], DEPTHS.get(name, 99)
    stops = STOPS if ending.left == 30 else frozenset()
    still_open: Counter[int] = Counter()
    over: Counter[int] = Counter()
    endings: Counter[str] = Counter()
    net = [0] * ending.seats
    waiting = [(first_lines(game, ending), 1)]
    while waiting:
        hand, at = waiting.pop()
        offers = [offer for offer in hand.legal() if offer.verb != "cl"]
        for line in (line for offer in offers for line in offer.lines()):
            then = say(hand.copy(), line)
            if then.result is None:
                still_open[at] += 1
                if at < depth and then.phase not in stops:
                    waiting.append((then, at + 1))
                continue
            over[at] += 1
            endings[f"{then.result.ending}, p{then.result.winner}"] += 1
            net = [sum(both) for both in zip(net, then.result.net, strict=True)]
    acts = range(1, max([*over, *still_open]) + 1)
    found = {"open": [still_open[at] for at in acts], "over": [over[at] for at in acts]}
    return {**found, "endings": dict(sorted(endings.items())), "net": net}


def main(arguments: list[str]) -> int:
    """Print everything, or write it to its files."""
    texts: dict[str, str] = {}
    for game in GAMES:
        texts |= {f"{game}/{scenario.name}.txt": text_of(scenario) for scenario in SCENARIOS[game]}
        texts[f"{game}/perft.json"] = counts_text({name: count(game, name) for name in ENDINGS[game]})
    return publish(texts, arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
