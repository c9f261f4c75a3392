"""A referee of Old Maid, from the page of ``old_maid/1`` and the rules text."""

from __future__ import annotations

from collections.abc import Generator

from tests.model.shedding import Course, Deal, Fan, Next


class OldMaid(Deal):
    """Pairs go out, and the last one holds the Unter of bells."""

    game = "old_maid"
    seats = range(2, 7)
    options = {
        "forfeit": (int, None, 0),
        "discard": (str, None, ("turn", "draw")),
        "sole_winner": (bool, False, (False, True)),
        "max_turns": (int, 300, 1),
    }

    def course(self) -> Course:
        gone = next(card for card in self.pack if card in ("Ua", "Ul", "Uh"))
        yield {f"d rm {gone}"}
        self.pack.remove(gone)
        for seat in self.everybody():
            yield from self.give(seat, 5)
        self.laid = dict.fromkeys(self.everybody(), 0)
        seat = 1
        for _ in range(self.opt["max_turns"]):
            yield from self.turn(seat)
            playing = self.playing()
            if len(playing) == 1:
                self.lost_by(playing[0])
                return
            seat = self.left_of(seat)
            while seat not in playing:
                seat = self.left_of(seat)

    def playing(self) -> list[int]:
        return [seat for seat in self.everybody() if self.hands[seat] or self.pack]

    def turn(self, seat: int) -> Course:
        yield from self.pairs(seat)
        playing = self.playing()
        if len(playing) == 1 or seat not in playing:
            return
        right = seat
        while right == seat or not self.hands[right]:
            right = right - 1 or self.n
        line = yield Fan(right, tuple(self.hands[right]))
        fan = line.split(" ")[-1]
        act = yield from self.act(seat, [f"dr {k}" for k in range(1, len(self.hands[right]) + 1)], "dr 1")
        place = 2 * int(act.split(" ")[1]) - 2
        card = fan[place : place + 2]
        self.hands[right].remove(card)
        self.hands[seat].append(card)
        if self.pack:
            yield from self.give(right, 1)
        if len(self.playing()) > 1 and self.opt["discard"] == "draw":
            laid = yield from self.pairs(seat)
            if laid and self.pack and not self.hands[seat]:
                yield from self.give(seat, 1)

    def pairs(self, seat: int) -> Generator[Next, str, bool]:
        """All pairs go out in one line, if there is one; says whether there was."""
        found = ""
        for rank in "AKOUX987":
            same = [rank + suit for suit in "albh" if rank + suit in self.hands[seat] and rank + suit != "Ub"]
            found += "".join(same[: len(same) // 2 * 2])
        if not found:
            return False
        yield {f"p{seat} ds {found}"}
        self.hands[seat] = [card for card in self.hands[seat] if card not in found]
        self.laid[seat] += len(found) // 4
        return True

    def lost_by(self, loser: int) -> None:
        self.has_lost(loser)
        self.after["deals"] = self.ids[0]
        if self.opt["sole_winner"]:
            others = [seat for seat in self.everybody() if seat != loser]
            best = [seat for seat in others if self.laid[seat] == max(map(self.laid.__getitem__, others))]
            share, rest = divmod(self.opt["forfeit"] * (self.n - 1), len(best))
            for other in others:
                self.net[other - 1] = 0
            for at, winner in enumerate(best):
                self.net[winner - 1] = share + (at < rest)
