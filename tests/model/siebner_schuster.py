"""A second opinion on Siebner Schuster: a referee written from the rules text and the description of the log.

Section names are those of the rules text. Seats count from 1 in play order; a side is a seat's parity.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from random import Random
from typing import Any

from tests.model.course import FRENCH, TELL, Cards, Course, Model, Question, Unknown, turn
from tests.model.heads import head_fault, random_head, some, table_fault, texts, whole

NAME = "siebner_schuster"
CALLS = ("ubij", "pusti", "napuni", "natovari", "podmazi")
OPTIONS: dict[str, tuple[object, ...]] = {
    "players": (4, 2), "draw_mode": ("single", "batch"), "deal_model": ("draw", "preassigned"),
    "calls": ("logged", "off"), "pack": ("tell", "french"), "target": tuple(range(1, 1001)),
}  # fmt: skip
Part = Generator[Question | Unknown, str, int]


def fault(record: Mapping[str, Any]) -> str | None:
    """What is wrong before the log."""
    found = head_fault(record, NAME, ("stake", 0), OPTIONS)
    if found:
        return found
    opt = record["opt"]
    pack = FRENCH if opt.get("pack") == "french" else TELL
    return table_fault(record, opt.get("players", 4), 90 * opt["stake"], pack) or series_fault(record)


def series_fault(record: Mapping[str, Any]) -> str | None:
    """Chairs turned so that the dealer is last; scores in tens, at the target only if equal."""
    series = record["series"]
    if not isinstance(series, Mapping) or set(series) != {"order", "deals", "score", "games"}:
        return "series has the keys order, deals, score, games"
    order, deals = series["order"], series["deals"]
    if not texts(order) or deals not in order:
        return "order are ids, deals is one of them"
    first = order.index(deals) + 1
    if order[first:] + order[:first] != record["seats"]:
        return "seats are not the order turned"
    for key in ("score", "games"):
        value = series[key]
        if not isinstance(value, list) or len(value) != 2 or not all(map(whole, value)):
            return f"{key} is two integers"
    one, other = series["score"]
    if one % 10 or other % 10:
        return "scores are multiples of ten"
    done = max(one, other) >= record["opt"].get("target", 120) and one != other
    return "the game is won already" if done else None


class Deal:
    """The cards of one deal."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.opt = {name: values[0] for name, values in OPTIONS.items()} | {"target": 120} | dict(record["opt"])
        self.record, self.n = record, len(record["seats"])
        pack = FRENCH if self.opt["pack"] == "french" else TELL
        self.cards = Cards(pack, record.get("deck"))
        self.hands: dict[int, list[str]] = {seat: [] for seat in range(1, self.n + 1)}
        self.points = {1: 0, 0: 0}  # by parity of the seat
        self.drawn = dict.fromkeys(self.hands, 0)

    def course(self) -> Course:
        """*The Deal*, *The Play*."""
        for seat in self.hands:
            self.hands[seat] += yield from self.cards.deal(seat, 4)
        leader = 1
        while any(self.hands.values()):
            leader = yield from self.trick(leader)
            yield from self.refill(leader)
        self.points[leader % 2] += 10  # the last trick
        return self.results()

    def ring(self, seat: int) -> list[int]:
        """All seats in play order from this one."""
        return [(seat - 1 + step) % self.n + 1 for step in range(self.n)]

    def ask(self, seat: int, cards: list[str], stop: bool) -> Generator[Question | Unknown, str, str]:
        """The seat plays one of the cards, or stops; its partner may talk."""
        partner = (seat + 1) % 4 + 1
        talk = [f"p{partner} cl {word}" for word in CALLS] if self.n == 4 and self.opt["calls"] == "logged" else []
        ordered = sorted(cards, key=self.cards.pack.index)
        while True:
            line = yield turn(seat, ["ps"] * stop + [f"pl {card}" for card in ordered], beside=talk)
            if " cl " not in line:
                return line[6:]

    def trick(self, leader: int) -> Part:
        """*The Play*: rounds until the leader's side holds, or the leader cannot or will not go on."""
        pile: list[str] = []
        holder = rounds = 0
        while True:
            for seat in self.ring(leader):
                asked = seat == leader and rounds > 0
                fitting = [card for card in self.hands[seat] if not asked or card[0] in (pile[0][0], "7")]
                card = yield from self.ask(seat, fitting, asked)
                if not card:
                    return self.collect(pile, holder)
                self.hands[seat].remove(card)
                pile.append(card)
                if card[0] in (pile[0][0], "7"):
                    holder = seat
            rounds += 1
            able = any(card[0] in (pile[0][0], "7") for card in self.hands[leader])
            if holder % 2 == leader % 2 or not able:
                return self.collect(pile, holder)

    def collect(self, pile: list[str], holder: int) -> int:
        """*Scoring*: ten for each ace and ten."""
        self.points[holder % 2] += 10 * sum(card[0] in "AXT" for card in pile)
        return holder

    def refill(self, winner: int) -> Course:
        """*The Play*: one card at a time in turn from the winner; when the talon runs out, partners look."""
        held = sum(map(len, self.hands.values()))
        left = 32 - len(self.cards.seen)
        each = min(4 - held // self.n, left // self.n)
        if not each:
            return {}
        shares = [1] * each if self.opt["draw_mode"] == "single" else [each]
        for share in shares:
            for seat in self.ring(winner):
                self.hands[seat] += yield from self.draw(seat, share)
        if left == each * self.n and self.n == 4:
            yield Question(0, ("d vw p1 p3",))
            yield Question(0, ("d vw p2 p4",))
        return {}

    def draw(self, seat: int, count: int) -> Generator[Question | Unknown, str, list[str]]:
        """Off the top, or out of the column of the talon that is the seat's own."""
        if self.opt["deal_model"] == "draw" or self.cards.deck is None:
            return (yield from self.cards.deal(seat, count))
        column = self.cards.deck[4 * self.n :][seat - 1 :: self.n]
        first = self.drawn[seat]
        self.drawn[seat] += count
        return (yield from self.cards.name(f"d dh p{seat} ", count, column[first : first + count]))

    def results(self) -> dict[str, Any]:
        """*Scoring*: the difference is paid; a side at the target with more points has won the game."""
        before, seats = self.record["series"], self.record["seats"]
        gap = self.points[1] - self.points[0]
        net = [(gap if seat % 2 else -gap) * self.opt["stake"] for seat in self.hands]
        score, games = list(before["score"]), list(before["games"])
        for seat in (1, 2):
            score[before["order"].index(seats[seat - 1]) % 2] += self.points[seat % 2]
        if max(score) >= self.opt["target"] and score[0] != score[1]:
            games[score.index(max(score))] += 1
            score = [0, 0]
        after = {"order": before["order"], "deals": seats[0], "score": score, "games": games}
        return {"net": net, "tax": 0, "carry_out": 0, "series_out": after}


def head(random: Random) -> dict[str, Any]:
    """A random table at any point of an evening."""
    opt: dict[str, Any] = {"stake": random.choice((0, 1, 10, 250))} | some(random, OPTIONS)
    n = random.choice((2, 4))
    opt["players"] = n
    opt |= {"target": random.choice((60, 120, 180))} if "target" in opt else {}
    target = opt.get("target", 120)
    order = random.sample([f"s{number}" for number in range(11, 20)], n)
    score = [random.randrange(0, target, 10) for _ in range(2)]
    if random.random() < 0.1:
        score = [target + 9 - (target + 9) % 10] * 2
    deals = random.choice(order)
    first = order.index(deals) + 1
    series = {"order": order, "deals": deals, "score": score, "games": random.choices(range(4), k=2)}
    pack = FRENCH if opt.get("pack") == "french" else TELL
    return random_head(random, NAME, opt, order[first:] + order[:first], series, 90 * opt["stake"], pack)


def choose(random: Random, question: Question) -> str:
    """Anything; a leader that is asked goes on more often than it stops."""
    return random.choice(
        question.acts[1:] if question.acts[0].endswith("ps") and random.random() < 0.5 else question.acts
    )


MODEL = Model(fault, lambda record: Deal(record).course(), head, choose)
