"""A referee of Esel, from the page of ``esel/1`` and the rules text."""

from __future__ import annotations

from tests.model.shedding import PACK, Course, Deal


class Esel(Deal):
    """Cards go round until somebody has a whole suit."""

    game = "esel"
    options = {"forfeit": (int, 0, 0), "max_passes": (int, 400, 1)}

    def liking(self, line: str) -> float:
        """Seats collect the suit of which they have most, and seldom shout when they have not got it."""
        seat, verb = int(line[1]) if line[0] == "p" else 0, line.split(" ")[1]
        suits = [card[1] for card in self.hands.get(seat, [])]
        if verb == "gv":
            return 0.02 if suits.count(line[-1]) == max(map(suits.count, suits)) else 1.0
        return 1.0 if len(set(suits)) < 2 or verb != "sh" else 0.005

    def course(self) -> Course:
        for seat in self.everybody():
            yield from self.give(seat, 8)
        giver, given = 1, 0
        shouter = 0
        held: list[str] = []
        while not shouter:
            # The turn of the giver; the one before it may still shout.
            before = 4 if giver == 1 else giver - 1
            gives = [f"p{giver} gv {card}" for card in self.hands[giver]]
            late = {f"p{before} sh"} if given else set()
            if given == self.opt["max_passes"]:
                line = yield {"d vd"} | late
            else:
                line = yield {*gives, f"p{giver} au"} | late
            if line.endswith(" au"):
                line = yield {f"p{giver} gv {min(self.hands[giver], key=PACK.index)}"}
            if line == "d vd":
                return
            if line.endswith(" sh"):
                shouter = before
                break
            held = list(self.hands[giver])
            card = line[-2:]
            self.hands[giver].remove(card)
            giver = giver % 4 + 1
            self.hands[giver].append(card)
            given += 1
        suits = {card[1] for card in self.hands[shouter]}
        whole = [suit for suit in "albh" if sum(card[1] == suit for card in held) == 8]
        loser = shouter
        if len(whole) == 1 and suits == set(whole):
            silent = [seat for seat in self.everybody() if seat != shouter]
            while len(silent) > 1:
                line = yield {f"p{seat} sh" for seat in silent}
                silent.remove(int(line[1]))
            loser = silent[0]
        self.has_lost(loser)
        self.after["deals"] = self.ids[loser - 1]
