"""The series that a hand starts from: that of the session's last settled hand, or a new one."""

from collections.abc import Mapping, Sequence
from typing import Any

import engine
from casino.hands.snapshot import HandSnapshot
from engine.errors import EngineError
from engine.kernel.rules import parse_rules


def due(
    rules_id: str, game: str, options: Mapping[str, Any], ids: Sequence[str], left: Mapping[str, Any], carry: int
) -> dict[str, Any]:
    """The series of a hand by these rules and options, dealt to these players, p1 first, where the session's last
    settled hand left `left` (nothing before the first) and `carry` is carried (minor units): that, as long as the game
    says that they go on with it, else its new beginning. The play of tables and its verification both ask here.

    Raises the engine's typed errors for rules or options that there are not.
    """
    info, seats = engine.rules_version(rules_id), tuple(ids)
    agreed = parse_rules(info.rules, engine.Setup(game, options, len(seats), ()))
    goes_on = info.continues(left, seats, agreed) and info.holds(left, carry)
    return dict(left if goes_on else info.new_series(seats, agreed))


def problem_of(hand: HandSnapshot, left: Any) -> str | None:
    """What is wrong with the series that a stored hand was dealt with, in words; None if it is the one due after what
    the session's last settled hand has stored as left."""
    before = left if isinstance(left, Mapping) else {}
    try:
        players = [seat["player"] for seat in hand.seats]
        wanted = due(hand.rules, hand.game, hand.options, players, before, hand.carry)
    except EngineError as error:
        return f"the series that the hand continues cannot be computed: {error.code}: {error.message}"
    if hand.series == wanted:
        return None
    return f"the hand was dealt with series {hand.series}, it goes on from {wanted}"
