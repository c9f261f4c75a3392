"""Both readings of a hand side by side, before anybody decides: line by line with the pot, what each seat would get,
and what a ruling can divide.

Nothing is stored, and nothing decided: a ruling is given to `hands.ruling`, or `hands.later_rulings`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import engine
from casino.audit import selectors as audit
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.core.errors import Conflict
from casino.hands import later_rulings, readings, replays, selectors, steps
from casino.hands.face_down import CardsAltered
from casino.hands.models import Hand, HandState, LaterRuling, engine_seats
from casino.hands.readings import Claim
from casino.houses.models import House
from engine.kernel.purse import Why


def of(house: House, name: str, claims: Sequence[Claim]) -> dict[str, Any]:
    """A hand as it is recorded and, where something is claimed, as it is claimed; amounts in minor units. A log whose
    face-down cards do not open has no lines.

    Raises NotFound, Conflict hand_in_play, Unprocessable no_such_line, the engine's error for words that no line can
    have.
    """
    hand = selectors.get(house, name)
    if hand.state == HandState.PLAYING:
        raise Conflict(f"Hand {name} is still being played.", code="hand_in_play")
    found = _of(hand)
    put_in, pot, log = found["put_in"], found["pot"], readings.opened(hand)
    as_recorded = readings.recorded(hand, log)
    found["recorded"] = as_recorded | {"division": _division(as_recorded, put_in, pot)}
    if claims:
        as_claimed = readings.claimed(hand, claims, log)
        found["claimed"] = as_claimed | {"division": _division(as_claimed, put_in, pot)}
    return found | {"lines": [] if isinstance(log, CardsAltered) else _lines(hand, log, claims)}


def _of(hand: Hand) -> dict[str, Any]:
    """What is the same whatever is claimed."""
    pot = frozen(hand)
    return {
        "hand": hand.name, "table": hand.table.code, "state": hand.state, "seats": engine_seats(hand),
        "pot": pot, "most_tax": replays.tax_on(hand, pot), "put_in": _put_in(hand),
        "stacks": list(selectors.balances(hand)["stacks"].values()), "dispute": _dispute(hand),
        "dealt_by": audit.newest_actor(hand.house, "hand.dealt", hand=hand.name), "came_to": _came_to(hand),
        "left": _left(hand),
    }  # fmt: skip


def _lines(hand: Hand, log: Sequence[str], claims: Sequence[Claim]) -> list[dict[str, Any]]:
    """Both readings line by line. A line that a reading does not reach, or that should not stand, is null."""
    texts = readings.replaced(hand, claims, log)
    recorded, claimed = (
        steps.walk(hand, lines, engine.PUBLIC, views=False).steps[1:] for lines in (log, [one for one in texts if one])
    )
    of_claims, found = iter(claimed), []
    for number, text in enumerate(texts, start=1):
        here = recorded[number - 1] if number <= len(recorded) else None
        there = next(of_claims, None) if text else None
        words, pot = (here["text"], here["pot"]) if here else (None, None)
        said, said_pot = (there["text"], there["pot"]) if there else (None, None)
        same = here is not None and (words, pot) == (said, said_pot)
        found.append(
            {"line": number, "recorded": words, "recorded_pot": pot, "claimed": said, "claimed_pot": said_pot,
             "same": same}
        )  # fmt: skip
    return found


def _put_in(hand: Hand) -> list[int]:
    """What each seat has in the pot by the recorded log, p1 first."""
    found = [0] * len(hand.seats)
    for move in selectors.as_far_as_it_goes(hand).moves:
        if move.why is Why.STAKE:
            found[move.source - 1] += move.amount
    return found


def frozen(hand: Hand) -> int:
    """What lies in the disputed pot of the hand's table, minor units; 0 where the hand is not disputed."""
    if hand.state != HandState.DISPUTED:
        return 0
    account = hand.table.account(Account.DISPUTED_POT)
    return chart.balances(hand.house, [account])[account]


def _division(read: Mapping[str, Any], put_in: Sequence[int], pot: int) -> dict[str, Any] | None:
    """How the frozen pot is divided as a reading has it: each seat gets back what it put in, and what it has won or
    lost, bonuses of the house apart. `left`: what it leaves to nobody, such as a pot that would be carried. None where
    there is no result, and where the pot alone does not settle it."""
    result = read["result"]
    if not pot or result is None:
        return None
    awards = [put + net - bonus for put, net, bonus in zip(put_in, result["net"], result["bonus"], strict=True)]
    left = pot - sum(awards) - result["tax"]
    if min(awards) < 0 or left < 0:
        return None
    return {"awards": awards, "tax": result["tax"], "left": left}


def _dispute(hand: Hand) -> dict[str, Any] | None:
    """Since when and by whom a hand is disputed; `by` is empty where its replay differed or its bonus was refused."""
    if hand.disputed_at is None:
        return None
    return {"at": hand.disputed_at, "by": hand.disputed_by, "before": hand.disputed_from}


def _came_to(hand: Hand) -> list[int] | None:
    """What each seat has won or lost of a hand whose money has moved, by settlement or ruling, p1 first."""
    if hand.state == HandState.SETTLED and hand.result is not None:
        net: list[int] = hand.result["net"]
        return net
    if hand.state != HandState.RULED or hand.ruling is None:
        return None
    awards = hand.ruling["awards"]
    return [awards.get(f"p{seat}", 0) - put for seat, put in enumerate(_put_in(hand), start=1)]


def _left(hand: Hand) -> dict[str, Any] | None:
    """What a later ruling may still refund: tax of the hand, and the fee of each seat, p1 first."""
    if hand.state not in (HandState.SETTLED, HandState.RULED):
        return None
    before = list(LaterRuling.objects.filter(hand=hand))
    seats = range(1, len(hand.seats) + 1)
    return {
        "tax": later_rulings.tax_of(hand) - sum(sum(one.tax_refunded.values()) for one in before),
        "fees": [
            later_rulings.fee_of(hand, seat) - sum(one.fee_refunded.get(f"p{seat}", 0) for one in before)
            for seat in seats
        ],
    }
