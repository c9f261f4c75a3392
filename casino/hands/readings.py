"""The two readings of a hand that is ruled on: what the dealer recorded, and what is claimed instead.

Both are replayed from the hand's inputs, so a ruling stands beside what either would have come to. A claim names lines
of the log by their numbers and the words that should stand there; it names cards only as everybody at the table has
seen them, since rulings are kept in the audit trail.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from casino.audit import selectors as audit
from casino.core import sql
from casino.core.errors import Forbidden, Unprocessable
from casino.core.write import Command
from casino.hands import replays, selectors
from casino.hands.face_down import CardsAltered
from casino.hands.models import Hand


@dataclass(frozen=True, slots=True)
class Claim:
    """Words that should stand in a line of the log, from 1; the number after the last line adds one."""

    line: int
    text: str


def both(hand: Hand, claims: Sequence[Claim]) -> dict[str, Any]:
    """Both readings as a ruling keeps them; `claimed` only where something is claimed. Raises as :func:`claimed`."""
    log = _log(hand)
    found = {"recorded": recorded(hand, log)}
    return found | {"claimed": claimed(hand, claims, log)} if claims else found


#: The lines of a hand's log, or why they cannot be read.
_Log = list[str] | CardsAltered


def recorded(hand: Hand, log: _Log | None = None) -> dict[str, Any]:
    """What the stored log comes to by replay: `result`, or where it is `refused` and with which code. `log` where it
    was read."""
    log = _log(hand) if log is None else log
    return _altered(log) if isinstance(log, CardsAltered) else _read(hand, log)


def claimed(hand: Hand, claims: Sequence[Claim], log: _Log | None = None) -> dict[str, Any]:
    """What the log with these lines would come to, and the lines; `log` where it was read. Raises Unprocessable
    no_such_line, the engine's error for words that no line can have."""
    grammar = selectors.grammar(hand)
    log = _log(hand) if log is None else log
    if isinstance(log, CardsAltered):
        return {"lines": []} | _altered(log)
    lines, said = list(log), []
    for claim in sorted(claims, key=lambda one: one.line):
        if claim.line > len(lines) + 1:
            raise Unprocessable(f"Hand {hand.name} has {len(lines)} lines.", code="no_such_line", max=len(lines))
        grammar.parse(claim.text)
        lines[claim.line - 1 : claim.line] = [claim.text]
        said.append({"line": claim.line, "text": claim.text})
    return {"lines": said} | _read(hand, lines)


def _log(hand: Hand) -> _Log:
    try:
        return selectors.log(hand)
    except CardsAltered as altered:
        return altered


def _altered(altered: CardsAltered) -> dict[str, Any]:
    return {"result": None, "refused": {"line": altered.line or 0, "code": "cards_altered"}}


def _read(hand: Hand, lines: Sequence[str]) -> dict[str, Any]:
    replayed = replays.follow(hand, lines)
    game = replayed.game
    result = game.result if game is not None and replayed.error is None else None
    # The code alone: the words of a refusal may name a card that lies face down.
    refused = None if replayed.error is None else {"line": replayed.accepted + 1, "code": replayed.error.code}
    return {"result": selectors.stored_result(result) if result is not None else None, "refused": refused}


def require_not_dealer(command: Command, hand: Hand, *beside: sql.Statement | QuerySet[Any, Any]) -> list[list[Any]]:
    """Refuse the person who dealt the hand as its ruler; runs `beside` in the same round trip, and returns what that
    has found. Raises Forbidden four_eyes."""
    dealt, *found = sql.together(audit.asking_newest_actor(hand.house, "hand.dealt", hand=hand.name), *beside)
    if (command.context.staff.login,) in dealt:
        raise Forbidden(f"You dealt hand {hand.name}; another person must rule on it.", code="four_eyes")
    return found
