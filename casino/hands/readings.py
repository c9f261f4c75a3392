"""The two readings of a hand that is ruled on: what the dealer recorded, and what is claimed instead.

Both are replayed from the hand's inputs, so a ruling stands beside what either would have come to. A claim names lines
of the log by their numbers and the words that should stand there, none for a line that should not stand at all; it
names cards only as everybody at the table has seen them, since rulings are kept in the audit trail. Where the claimed
lines end the hand before the recorded ones are used up, the rest of them is not reached.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from casino.audit import selectors as audit
from casino.core import sql
from casino.core.commands import Command
from casino.core.errors import Forbidden, Unprocessable
from casino.hands import replays, selectors
from casino.hands.face_down import CardsAltered
from casino.hands.models import Hand


@dataclass(frozen=True, slots=True)
class Claim:
    """Words that should stand in a line of the log, from 1, empty where it should not stand; the number after the last
    line adds one."""

    line: int
    text: str


def both(hand: Hand, claims: Sequence[Claim], stored: Sequence[str] | None = None) -> dict[str, Any]:
    """Both readings as a ruling keeps them; `claimed` only where something is claimed. `stored`: the lines of the log
    where they were read. Raises as :func:`claimed`."""
    log = opened(hand, stored)
    found = {"recorded": recorded(hand, log)}
    return found | {"claimed": claimed(hand, claims, log)} if claims else found


#: The code of a reading whose face-down cards do not open.
ALTERED = "cards_altered"
#: The lines of a hand's log, or why they cannot be read.
Log = list[str] | CardsAltered


def recorded(hand: Hand, log: Log | None = None) -> dict[str, Any]:
    """What the stored log comes to by replay: `result`, or where it is `refused` and with which code. `log` where it
    was read."""
    log = opened(hand) if log is None else log
    return _altered(log) if isinstance(log, CardsAltered) else _read(hand, log)


def claimed(hand: Hand, claims: Sequence[Claim], log: Log | None = None) -> dict[str, Any]:
    """What the log with these lines would come to, and the lines; `log` where it was read. Raises Unprocessable
    no_such_line, the engine's error for words that no line can have."""
    grammar = selectors.grammar(hand)
    log = opened(hand) if log is None else log
    if isinstance(log, CardsAltered):
        return {"lines": []} | _altered(log)
    lines, said = replaced(hand, claims, log), []
    for claim in sorted(claims, key=lambda one: one.line):
        if claim.text:
            grammar.parse(claim.text)
        said.append({"line": claim.line, "text": claim.text})
    return {"lines": said} | _read(hand, [line for line in lines if line], claimed=True)


def replaced(hand: Hand, claims: Sequence[Claim], log: Sequence[str]) -> list[str]:
    """The log with the claimed lines at their numbers; one that should not stand is empty. Raises Unprocessable
    no_such_line."""
    lines = list(log)
    for claim in sorted(claims, key=lambda one: one.line):
        if claim.line > len(lines) + bool(claim.text):
            raise Unprocessable(f"Hand {hand.name} has {len(log)} lines.", code="no_such_line", max=len(log))
        lines[claim.line - 1 : claim.line] = [claim.text]
    return lines


def opened(hand: Hand, stored: Sequence[str] | None = None) -> Log:
    """The lines of a hand's log with all their cards, or why they cannot be read."""
    try:
        return selectors.log(hand, stored)
    except CardsAltered as altered:
        return altered


def _altered(altered: CardsAltered) -> dict[str, Any]:
    return {"result": None, "refused": {"line": altered.line or 0, "code": ALTERED}}


def _read(hand: Hand, lines: Sequence[str], *, claimed: bool = False) -> dict[str, Any]:
    replayed = replays.follow(hand, lines)
    game, error = replayed.game, replayed.error
    if claimed and game is not None and game.over:
        error = None  # the recorded lines that are left are not reached
    result = game.result if game is not None and error is None else None
    # The code alone: the words of a refusal may name a card that lies face down.
    refused = None if error is None else {"line": replayed.accepted + 1, "code": error.code}
    return {"result": selectors.stored_result(result) if result is not None else None, "refused": refused}


def require_not_dealer(command: Command, hand: Hand, *beside: sql.Statement | QuerySet[Any, Any]) -> list[list[Any]]:
    """Refuse the person who dealt the hand as its ruler; runs `beside` in the same round trip, and returns what that
    has found. Raises Forbidden four_eyes."""
    dealt, *found = sql.together(audit.asking_newest_actor(hand.house, "hand.dealt", hand=hand.name), *beside)
    if (command.context.staff.login,) in dealt:
        raise Forbidden(f"You dealt hand {hand.name}; another person must rule on it.", code="four_eyes")
    return found
