"""A referee of Pacal, from the page of ``pacal/1`` and the rules text."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from tests.model.shedding import PACK, Course, Deal

HIGH = "AKOUX987"


class Pacal(Deal):
    """Beat the top card, or take the stack."""

    game = "pacal"
    options = {"forfeit": (int, None, 0), "max_plies": (int, 1000, 1)}
    keys = ("order", "deals", "lost", "trumps")

    def liking(self, line: str) -> float:
        """Taking the stack up is for those who must."""
        return 0.5 if line.endswith(" ps") else 1.0

    @staticmethod
    def shape_fault(series: Mapping[str, Any]) -> str:
        good = series["trumps"] == "" or (isinstance(series["trumps"], str) and sorted(series["trumps"]) == [*"abhl"])
        return "" if good else "trumps"

    @staticmethod
    def random_keys(random: Random) -> dict[str, Any]:
        return {"trumps": random.choice(("", "".join(random.sample("albh", 4))))}

    def course(self) -> Course:
        for seat in self.everybody():
            yield from self.give(seat, 5)
        order = self.before["order"]
        if self.before["trumps"]:
            trump = {seat: self.before["trumps"][order.index(self.ids[seat - 1])] for seat in self.everybody()}
        else:
            trump = yield from self.trumps()
            self.after["trumps"] = "".join(trump[self.ids.index(name) + 1] for name in order)
        top = self.pack.pop(0)
        yield {f"d up {top}"}
        loser = yield from self.turns(trump, [top])
        if loser:
            self.has_lost(loser)
            self.after["deals"] = self.ids[loser - 1]

    def trumps(self) -> Any:
        """The evening's first deal: cards are turned up for trumps."""
        trump: dict[int, str] = {}
        for seat in (1, 2, 3):
            covered = list(self.hands[seat])
            while seat not in trump and covered:
                acts = [f"up {card}" for card in covered]
                act = yield from self.act(seat, acts, f"up {min(covered, key=PACK.index)}")
                covered.remove(act[-2:])
                if act[-1] not in trump.values():
                    trump[seat] = act[-1]
            if seat not in trump:
                free = [suit for suit in "albh" if suit not in trump.values()]
                act = yield from self.act(seat, [f"ts {suit}" for suit in free], f"ts {free[0]}")
                trump[seat] = act[-1]
        [trump[4]] = set("albh") - set(trump.values())
        return trump

    def turns(self, trump: dict[int, str], stack: list[str]) -> Any:
        """One turn after the other; gives the loser, 0 for a void deal."""
        seat, out = 0, set[int]()
        for _ in range(self.opt["max_plies"]):
            seat = self.left_of(seat)
            while seat in out:
                seat = self.left_of(seat)
            hand = self.hands[seat]
            if stack:
                beating = self.beating(hand, stack[-1], trump[seat])
                act = yield from self.act(seat, [f"pl {card}" for card in beating] + ["ps"], "ps")
                if act == "ps":
                    hand.extend(stack)
                    stack.clear()
                    continue
                self.lay(hand, act, stack)
            if hand:
                # A second card after the one that beats, or the lead on an empty table.
                act = yield from self.act(seat, [f"pl {card}" for card in hand], f"pl {min(hand, key=PACK.index)}")
                self.lay(hand, act, stack)
            if self.pack:
                yield from self.give(seat, 1)
            elif not hand:
                out.add(seat)
            if len(out) == 3:
                [loser] = set(self.everybody()) - out
                return loser
        return 0

    @staticmethod
    def beating(hand: list[str], top: str, trump: str) -> list[str]:
        """Higher cards of the suit, or else trumps on another suit."""
        higher = [card for card in hand if card[1] == top[1] and HIGH.index(card[0]) < HIGH.index(top[0])]
        return higher if higher or top[1] == trump else [card for card in hand if card[1] == trump]

    @staticmethod
    def lay(hand: list[str], act: str, stack: list[str]) -> None:
        hand.remove(act[-2:])
        stack.append(act[-2:])
