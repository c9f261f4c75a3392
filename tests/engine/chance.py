"""Chance for the tests: tables of both games with every option now and then, and players who do anything legal."""

from __future__ import annotations

import hashlib
from random import Random

from engine.kernel.cards import FRENCH32, TELL32
from engine.kernel.events import Event
from engine.kernel.hand import Hand
from engine.kernel.setup import Setup
from engine.play import random_line
from engine.registry import resolve, start, supply
from engine.vying.ferbli_rules import FerbliRules
from engine.vying.majzli import majzli_commitment
from tests.engine.support import shuffled

GAMES = ("ferbli", "faerbeln")

HANDS: tuple[dict[str, object], ...] = (
    {"wild": "santa"},
    {"wild": "tens"},
    {"wild": "tens_santa"},
    {"wild": "sevens"},
    {"wild": ["Ah", "9l", "7b"]},
    {"grigare": "general"},
    {"grigare": "kis_nagy"},
    {"wild": "santa", "grigare": "general"},
    {"wild": "tens_santa", "grigare": "general", "grigare_wild": "substitute"},
    {"wild": "santa", "grigare": "kis_nagy", "grigare_wild": "substitute"},
)
"""Other rankings than the plain one. Each builds tables, so there are not too many."""


def random_setup(game: str, random: Random) -> Setup:
    """Some table of the game, short stacks among the seats, now and then with other options."""
    return random_ferbli(random) if game == "ferbli" else random_faerbeln(random)


def random_faerbeln(random: Random) -> Setup:
    """Three to seven seats, either pack, every option now and then."""
    seats = random.randint(3, 7)
    pack = random.choice(["tell", "french"])
    opt: dict[str, object] = {"ante": 200, "lower": 500, "upper": 800, "bonus41": 10_000, "pack": pack}
    opt |= random.choice([{"tax_cap": 700}, {"tax_bps": 0}, {"tax_bps": 333, "tax_cap": 10**6, "chip": 25}])
    opt["round2_unit"] = random.choice(["lower", "upper"])
    others: dict[str, object] = {
        "raise_cap": random.randint(1, 5),
        "cap_heads_up": random.choice([0, 1, 5]),
        "forehand_option": False,
        "check_allowed": False,
        "showdown": "any_call",
        "short_stack": "side_pot",
        "bonus41_for": "uncontested",
        "points": False,
    }
    opt |= some(others, random, 0.3)
    richest = random.choice([1000, 5000, 50_000])
    least = 200 if opt.get("short_stack") == "side_pot" else 700
    stacks = (random.randint(700, richest), *(random.randint(least, richest) for _ in range(seats - 1)))
    deck = shuffled(random, FRENCH32 if pack == "french" else TELL32)
    return Setup("faerbeln", opt, seats, stacks, 0, seats, deck)


def random_ferbli(random: Random) -> Setup:
    """Two to seven seats, short stacks among them, some tax, some carry; about half the tables play a variation or
    more."""
    seats = random.randint(2, 7)
    opt: dict[str, object] = {"vizi": 100}
    if random.random() < 0.5:
        opt |= {"tax_bps": random.choice([0, 250, 500]), "tax_cap": 700, "chip": random.choice([1, 5, 25])}
    others: dict[str, object] = {
        "bet_unit": "chip",
        "table_max": random.choice([300, 350, 1000]),
        "raise_cap": random.randint(1, 4),
        "short_stack": "side_pot",
    }
    opt |= some(others, random, 0.2)
    if random.random() < 0.6:
        opt |= some(variations(seats, random), random, 0.2)
    if random.random() < 0.15:
        # Who can bet does not have to lay a hand open, so of few tables few hands would end that way.
        opt |= {"cuhhol": True, **some({"redeal_cap": random.randint(1, 2)}, random, 0.5)}
    if random.random() < 0.2:
        opt |= random.choice(HANDS)
    carry = random.choice([0, 300, 1234])
    failed = random.randint(1, 2) if opt.get("force_third_deal") and carry else 0
    least = int(str(opt.get("majzli_max", 100)))
    richest = random.choice([least + 50, 1000, 20_000, 20_000, 20_000])
    stacks = tuple(random.randint(least, richest) for _ in range(seats))
    series = {"failed": failed} if failed else {}
    opt = resolve("ferbli", opt, seats)
    return Setup("ferbli", opt, seats, stacks, carry, seats, shuffled(random), series=series)


def variations(seats: int, random: Random) -> dict[str, object]:
    """Every variation with a value of its own."""
    return {
        "limit": random.choice(["triple", "none"]),
        "min_active": random.randint(2, seats),
        "cukassza_call": "megadas_eldobas",
        "force_third_deal": True,
        "majzli_max": 100 * random.randint(1, 3),
        "cuhhol": True,
        "cuhhkassza_vizi": "free",
        "redeal_cap": random.randint(1, 3),
        "show_two": True,
    }


def some(options: dict[str, object], random: Random, share: float) -> dict[str, object]:
    """Each of the options with a chance of ``share``."""
    return {name: value for name, value in options.items() if random.random() < share}


class Players:
    """Everyone at one table, dealer included, doing anything legal; half the fists are commitments.

    What they hold in the fist is written down here, so one object serves one hand, and its copies.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.opening = ""

    def line(self, hand: Hand) -> str:
        """Some line that the hand accepts now."""
        if "majzli_max" not in hand.setup.opt:
            return random_line(hand, self.random)
        [*_, offer] = hand.legal()
        if offer.verb == "mj" and self.random.random() < 0.5:
            return self.hold(hand)
        if offer.verb == "rv" and self.opening:
            return f"p1 rv {self.opening}"
        return random_line(hand, self.random)

    def hold(self, hand: Hand) -> str:
        """A commitment to some vizi that may be held."""
        rules = FerbliRules.parse(hand.setup.opt, hand.setup.seats)
        step = rules.bet_step(rules.vizi)
        nonce = hashlib.sha256(repr(hand.setup.deck).encode()).digest()[:16]
        amount = self.random.randrange(rules.vizi, (rules.majzli_max or 0) + 1, step)
        self.opening = f"{amount} {nonce.hex()}"
        return f"p1 mj {majzli_commitment(amount, nonce)}"

    def shuffle(self, cards: tuple[str, ...], number: int) -> tuple[str, ...]:
        """A pack for a redeal."""
        return tuple(self.random.sample(cards, len(cards)))

    def play_on(self, hand: Hand) -> tuple[Event, ...]:
        """One line, what it made happen, and the pack that it may call for."""
        events = hand.apply(self.line(hand))
        supply(hand, self.shuffle)
        return events


def played(setup: Setup, random: Random) -> Hand:
    """One hand to its end."""
    hand, players = start(setup), Players(random)
    while not hand.over:
        players.play_on(hand)
    return hand
