"""The replay of a stored hand: the moves of each line, and the balances that the ledger must have.

The worker settles by it, and verification compares by it. A hand is replayed under the rules with which it was played.
"""

from collections.abc import Iterable, Sequence

import engine
from casino.hands import deals, postings, selectors
from casino.hands.models import Hand
from casino.hands.snapshot import HandSnapshot
from engine.errors import EngineError
from engine.kernel.purse import Move, Why
from engine.kernel.rules import parse_options

#: What is paid out of a pot that was won.
_WON = frozenset({Why.AWARD, Why.TAX})


class Replay:
    """A hand as far as its log can be followed. `ends[n]` is how many moves had been made after line n, and `ends[0]`
    how many came with the start; `accepted`, how many lines the engine took; `ending`, where the moves of the line that
    ended the hand begin, behind all moves while it is not over. `error` is the engine's refusal of the next line, or of
    the set-up."""

    __slots__ = ("accepted", "ending", "ends", "error", "game", "hand", "lines", "moves")

    def __init__(
        self,
        hand: Hand | HandSnapshot,
        lines: Sequence[str],
        game: engine.Hand | None,
        ends: list[int],
        error: EngineError | None,
    ) -> None:
        self.hand, self.lines, self.game, self.ends, self.error = hand, lines, game, ends, error
        self.moves: tuple[Move, ...] = game.moves if game is not None else ()
        self.accepted = len(ends) - 1
        over = game is not None and game.over
        self.ending = ends[-2] if over and self.accepted else len(self.moves)

    @property
    def refusal(self) -> str | None:
        """The engine's refusal in words."""
        return None if self.error is None else f"replay refused: {self.error.code}: {self.error.message}"

    @property
    def waiting(self) -> list[Move]:
        """The moves that wait for the settlement, none before the hand is over."""
        return postings.at_settlement(self.moves, self.ending)

    @property
    def won(self) -> int:
        """The pot that was won, minor units: what it pays to seats and to the house. It is the base of the tax."""
        return sum(move.amount for move in self.moves if move.why in _WON)

    def at_once(self, first: int, count: int) -> Sequence[Move]:
        """The moves that `count` lines from `first` on have posted at once; line 0 is the start, which is alone."""
        if first > self.accepted:
            return ()
        begin = self.ends[first - 1] if first else 0
        end = self.ends[min(first + max(count, 1) - 1, self.accepted)]
        if end <= self.ending:
            return self.moves[begin:end]
        return postings.at_once(self.moves[begin:end], self.ending - begin)

    def booked(self, moves: Iterable[Move]) -> dict[str, int]:
        """What these moves come to in the ledger by account code: debits positive, chips at face value."""
        table, seats, accounts = self.hand.table.code, self.hand.seats, postings.accounts
        found: dict[str, int] = {}
        for move in moves:
            _add(found, accounts(move, table, postings.ends_of(move, seats)), move.amount)
        return found

    def settled(self) -> dict[str, int]:
        """What the hand's settlement comes to in the ledger, fees included: as :meth:`booked`."""
        found = self.booked(self.waiting)
        for fee in postings.fees(self.hand):
            _add(found, postings.fee_accounts(fee, self.hand.table.code), fee.amount)
        return found


def _add(found: dict[str, int], accounts: Iterable[tuple[str, str]], amount: int) -> None:
    for debit, credit in accounts:
        found[debit] = found.get(debit, 0) + amount
        found[credit] = found.get(credit, 0) - amount


def tax_on(hand: Hand | HandSnapshot, pot: int) -> int:
    """The tax of a hand's rules on a pot that is won, minor units."""
    info = engine.rules_version(hand.rules)
    return info.policy.tax_on(parse_options(info.rules, hand.options, len(hand.seats)), pot)


def follow(hand: Hand | HandSnapshot, lines: Sequence[str]) -> Replay:
    """Replay a hand's inputs and these lines; stops at the first line that the engine refuses."""
    game: engine.Hand | None = None
    ends: list[int] = []
    try:
        game = engine.start(selectors.setup(hand))
        ends.append(game.moved)
        shuffle = deals.shuffle(hand)
        if shuffle is None:
            game.advance_all(lines, ends)
        else:
            for line in lines:
                game.advance(line)
                ends.append(game.moved)
                engine.supply(game, shuffle)
    except EngineError as error:
        return Replay(hand, lines, game, ends, error)
    return Replay(hand, lines, game, ends, None)
