"""Chance for the comparison: tables, cards as they really lie, lines to say, and ways to spoil a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from tests.model.asking import May
from tests.model.ranking import PACK, cut
from tests.model.rounds import commitment
from tests.model.table import Case, Table

WILD = (["Oa"], ["Xa", "Xl", "Xb", "Xh"], ["Xa", "Xl", "Xb", "Xh", "Oa"], ["7h"], ["7h", "7l", "7a"], ["Ah", "9b"])
VERBS = ("cc", "f", "k", "rb", "st", "lk", "br", "ks", "sm", "up", "cu", "in", "po", "dh", "mj", "rv")
NEAR = {
    "k": ("f",),
    "f": ("k", "in"),
    "in": ("f",),
    "rb": ("br",),
    "br": ("rb",),
    "sm": ("cu",),
    "cu": ("sm",),
    "up": ("sm",),
}
NONCE = "5a" * 16
EAGER = {"f": 0.4, "k": 0.4, "lk": 1.0, "cc": 4.0, "in": 3.0, "rb": 2.5, "ks": 3.0, "st": 0.6, "br": 2.0, "cu": 2.5}


class Truth:
    """How the cards really lie, which a masked or physical log need not show."""

    def __init__(self, random: Random, seats: int, masked: float) -> None:
        self.random, self.masked = random, masked
        self.deck = random.sample(PACK, len(PACK))
        self.hand: dict[int, list[str]] = {seat: [] for seat in range(1, seats + 1)}
        self.left = list(self.deck)
        self.exposed: list[str] = []
        self.redealt = seats
        self.eager = {verb: weight * random.choice((0.3, 1, 1, 3)) for verb, weight in EAGER.items()}

    def weights(self, offers: Sequence[May]) -> list[float]:
        """How likely each is said; folding is rarer where many would have to stay for anything to happen."""
        return [self.eager.get(offer.verb, 1.0) for offer in offers]

    def deal(self, seat: int, count: int) -> str:
        """The next cards as a line shows them."""
        if self.exposed:
            if self.redealt == len(self.hand):
                self.shuffle_redeal()
            self.redealt += 1
        drawn, self.left = self.left[:count], self.left[count:]
        if self.exposed:
            return "".join(drawn)
        self.hand[seat] += drawn
        return "".join("??" if self.random.random() < self.masked else card for card in drawn)

    def follow(self, line: str) -> None:
        """Notes whose hand was exposed."""
        words = line.split()
        if words[1] == "cu":
            self.exposed = cut(words[2])

    def others(self) -> list[str]:
        return [card for card in PACK if card not in self.exposed]

    def shuffle_redeal(self) -> list[str]:
        """The next pack of a cuhhkassza."""
        self.left, self.redealt = self.random.sample(self.others(), 28), 0
        return list(self.left)


def random_case(random: Random, variants: Sequence[str]) -> tuple[Case, Truth]:
    """A table with some of the variants, and its cards."""
    seats = random.choice((2, 2, 3, 4, 5, 6, 7))
    opt: dict[str, Any] = {"vizi": 100, **stakes(random, seats), **some_variants(random, variants)}
    least = opt.get("majzli_max", 100)
    if "table_max" in opt:
        opt["table_max"] = max(opt["table_max"], least)
    stacks = random_stacks(random, seats, least)
    carry = random.choice((0, 0, 100, 700, 5_000))
    series = {"failed": random.randint(0, 2 if carry else 0)} if opt.get("force_third_deal") else {}
    known = random.random() < 0.6
    truth = Truth(random, seats, 0.0 if known else random.choice((0.0, 0.5, 1.0)))
    return Case(opt, stacks, carry, series, [list(truth.deck)] if known else None), truth


def random_stacks(random: Random, seats: int, least: int) -> list[int]:
    """Deep stacks, all sorts, or such as barely suffice."""
    deep = 100 * least
    kinds = random.choice(
        ((deep,), (deep,), (deep,), (deep, 6 * least), (deep, 10 * least, 3 * least, least), (2 * least, least))
    )
    return [random.randint(least, most) if random.random() < 0.7 else most for most in random.choices(kinds, k=seats)]


def stakes(random: Random, seats: int) -> dict[str, Any]:
    """Options of classic Ferbli that concern money."""
    opt: dict[str, Any] = {}
    if random.random() < 0.3:
        opt |= {"chip": random.choice((5, 20, 50)), "bet_unit": random.choice(("vizi", "chip"))}
    if random.random() < 0.4:
        opt |= {"tax_bps": random.choice((1, 333, 500, 2_000)), "tax_cap": random.choice((0, 70, 5_000))}
    if random.random() < 0.3:
        opt["table_max"] = random.choice((100, 250, 400, 5_000))
    if random.random() < 0.4:
        opt["raise_cap"] = random.randint(1, 4)
    if random.random() < 0.2:
        opt["min_active"] = random.randint(2, min(seats, 4))
    return opt


def some_variants(random: Random, variants: Sequence[str]) -> dict[str, Any]:
    """Each variant in half of the hands."""
    majzli = random.choice((100, 300, 1_000))
    choices = {
        "limit": {"limit": random.choice(("triple", "none"))},
        "wild": {"wild": random.choice(WILD)},
        "grigare": {
            "grigare": random.choice(("general", "kis_nagy")),
            "grigare_wild": random.choice(("natural", "substitute")),
        },
        "calls": {"cukassza_call": "megadas_eldobas"},
        "third_deal": {"force_third_deal": True},
        "majzli": {"majzli_max": majzli},
        "show_two": {"show_two": True},
        "cuhhol": {
            "cuhhol": True,
            "cuhhkassza_vizi": random.choice(("free", "paid")),
            "redeal_cap": random.choice((1, 3, 1000)),
        },
        "side_pot": {"short_stack": "side_pot"},
    }
    opt: dict[str, Any] = {}
    for name in variants:
        if random.random() < 0.5:
            opt |= choices[name]
    return opt


def line_for(may: May, random: Random, truth: Truth, table: Table) -> str:
    """A line that says this, true to the cards as they lie."""
    seat = may.target if may.verb == "dh" else int(may.actor[1:])
    assert seat
    words = [may.actor, may.verb]
    if may.verb == "dh":
        assert may.count
        words += [f"p{seat}", truth.deal(seat, may.count)]
    elif may.verb == "lk":
        assert may.count
        words.append(str(random.randint(may.least or may.count, may.count)))
    elif may.verb in ("sm", "cu"):
        words.append("".join(truth.hand[seat]))
    elif may.verb == "up":
        words.append(turned_up(random, truth.hand[seat], table.places_to_turn_up(seat)))
    elif may.verb == "mj":
        words.append(random.choice(("??", commitment(str(amount(may, random, table)), NONCE))))
    elif may.least is not None:
        words.append(str(amount(may, random, table)))
        words += [f"p{may.target}"] if may.verb == "ks" else []
    return opened(words, may)


def opened(words: list[str], may: May) -> str:
    """The line; a ``rv`` opens its commitment with the amount that was committed to."""
    line = " ".join(words)
    if may.verb != "rv" or may.fits(words):
        return line
    assert may.least and may.most and may.step
    for held in range(may.least, may.most + 1, may.step):
        if may.fits(["p1", "rv", str(held), NONCE]):
            return f"p1 rv {held} {NONCE}"
    raise AssertionError(line)


def amount(may: May, random: Random, table: Table) -> int:
    """An amount of the range, small ones more often; for a fist, one that may be held."""
    least, most, step = may.least, may.most, may.step
    if least is None or most is None or step is None:
        least, most, step = table.vizi, table.opt["majzli_max"], table.step
    most -= most % step
    if random.random() < 0.2:
        return most
    return min(least + step * int(random.expovariate(0.5)), most)


def turned_up(random: Random, hand: list[str], places: list[tuple[int, int]]) -> str:
    """Two cards of the hand from such places, in any order."""
    return "".join(random.sample([hand[place] for place in random.choice(places)], 2))


# Spoilt logs.


def spoilt(log: Sequence[str], random: Random, times: int) -> Iterator[list[str]]:
    """The log with one thing changed, so many times."""
    for _ in range(times):
        at = random.randrange(len(log))
        how = random.randrange(6)
        lines = list(log)
        if how == 0:
            del lines[at]
        elif how == 1:
            lines.insert(at, lines[random.randrange(len(lines))])
        elif how == 2:
            other = random.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif how == 3:
            lines = lines[: at + random.randrange(2)]
        else:
            lines[at] = altered(lines[at], len(log), random)
        yield lines


def altered(line: str, seats: int, random: Random) -> str:
    """The line with another actor, verb, amount, target or card, or not quite well formed."""
    words = line.split(" ")
    at = random.randrange(len(words))
    word = words[at]
    if at == 1:
        near = NEAR.get(word, ())
        words[1] = random.choice(near if near and random.random() < 0.5 else VERBS)
        words[2:] = words[2:] if random.random() < 0.7 else []
    elif word.isdigit():
        steps = (int(word) + 1, int(word) * 2, int(word) + 100, int(word) - 100, 0, int(word) // 2, f"0{word}")
        words[at] = str(random.choice(steps))
    elif word[0] == "p" or word == "d":
        words[at] = f"p{random.randint(1, 7)}"
    else:
        cards = cut(word)
        spot = random.randrange(len(cards))
        cards[spot] = random.choice((*PACK, "??", "", cards[0]))
        if random.random() < 0.3:
            random.shuffle(cards)
        words[at] = "".join(cards)
    return " ".join(words)


def spoilt_decks(case: Case, random: Random) -> Iterator[list[list[str]]]:
    """The known packs with two cards of one exchanged, the packs of redeals also with a card that is not theirs."""
    for number, pack in enumerate(case.decks or ()):
        decks = [list(other) for other in case.decks or ()]
        one, two = random.sample(range(len(pack)), 2)
        decks[number][one], decks[number][two] = pack[two], pack[one]
        yield decks
        if number:
            yield [*decks[:number], [*pack[:one], random.choice(PACK), *pack[one + 1 :]], *decks[number + 1 :]]
            yield decks[:number]
