"""Following a stored hand through the engine again: which line moved what, and what the ledger must hold of it.

The worker settles by it, verification compares by it: there is one replay of a hand's rows, under the rules of its day.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from casino.hands import deals, postings, selectors
from casino.hands.models import Hand
from engine import game as engine
from engine.errors import EngineError
from engine.events import Move


@dataclass(slots=True)
class Replay:
    """A hand as far as its log can be followed. `ends[n]` is how many moves had been made after line n, and `ends[0]`
    how many came with the start; `error` is the engine's refusal of the line after the last one, or of the set-up."""

    hand: Hand
    lines: Sequence[str]
    game: engine.Hand | None
    moves: tuple[Move, ...]
    ends: list[int]
    error: EngineError | None = None

    @property
    def accepted(self) -> int:
        """How many lines the engine took."""
        return len(self.ends) - 1

    @property
    def ending(self) -> int:
        """Where the moves of the line that ended the hand begin; behind all moves while the hand is not over."""
        over = self.game is not None and self.game.over
        return self.ends[-2] if over and self.accepted else len(self.moves)

    @property
    def refusal(self) -> str | None:
        """The engine's refusal in words."""
        return self.error and f"replay refused: {self.error.code}: {self.error.message}"

    @property
    def waiting(self) -> list[Move]:
        """The moves that wait for the settlement, none before the hand is over."""
        return postings.at_settlement(self.moves, self.ending)

    def at_once(self, first: int, count: int) -> Sequence[Move]:
        """The moves that `count` lines from `first` on have posted at once; line 0 is the start, which is alone."""
        if first > self.accepted:
            return ()
        begin = self.ends[first - 1] if first else 0
        end = self.ends[min(first + max(count, 1) - 1, self.accepted)]
        ending = self.ending
        if end <= ending:
            return self.moves[begin:end]
        return postings.at_once(self.moves[begin:end], ending - begin)

    def booked(self, moves: Iterable[Move]) -> dict[str, int]:
        """What these moves come to in the ledger by account code: debits positive, chips at face value."""
        table, seats = self.hand.table.code, self.hand.seats
        found: dict[str, int] = {}
        for move in moves:
            player = seats[move.seat - 1]["player"] if move.seat else ""
            amount = move.amount
            for debit, credit in postings.accounts(move.kind, table, player):
                found[debit] = found.get(debit, 0) + amount
                found[credit] = found.get(credit, 0) - amount
        return found


def follow(hand: Hand, lines: Sequence[str]) -> Replay:
    """Replay a hand's inputs and these lines; stops at the first line that the engine refuses."""
    found = Replay(hand, lines, None, (), [])
    try:
        game = found.game = engine.start(selectors.setup(hand))
        found.ends.append(game.moved)
        game.advance_all(_counted(game, lines, found.ends, deals.shuffle(hand)))
    except EngineError as error:
        found.error = error
    if found.game is not None:
        found.moves = found.game.moves
    return found


def _counted(game: engine.Hand, lines: Iterable[str], ends: list[int], shuffle: engine.Shuffle | None) -> Iterator[str]:
    """The lines, one after another; the next one is asked for when the engine has taken the one before."""
    for line in lines:
        yield line
        ends.append(game.moved)
        if shuffle is not None:
            engine.supply(game, shuffle)
