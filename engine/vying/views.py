"""What each viewer may know of a hand.

A seat knows its first two cards, its later ones once it has looked at them, what others have shown or turned
up, and everything that was said and paid. The public knows the same without any seat's own cards; the auditor knows
all. What a viewer may not know is ``??``, and nothing else in a view depends on it (so the digest, which
covers cards, is no part of it).
"""

from __future__ import annotations

from engine.actions import actor_name, deal_line, parse_action, up_line
from engine.cards import UNKNOWN
from engine.errors import MalformedSetup
from engine.game import AUDITOR, PUBLIC, Setup, Viewer
from engine.rules import Rules
from engine.vying.state import VyingState
from engine.vying.turns import NOBODY


def view_of(setup: Setup, rules: Rules, state: VyingState, viewer: Viewer) -> dict[str, object]:
    """The view of a seat (by number), ``"public"`` or ``"auditor"``; another viewer raises
    ``MalformedSetup``."""
    _require_viewer(viewer, state.seats)
    cards = [_known_cards(state, seat, viewer) for seat in range(state.seats + 1)]
    view: dict[str, object] = {
        "game": setup.game,
        "viewer": viewer,
        "phase": state.phase,
        "actor": None if state.turn == NOBODY else actor_name(state.turn),
        "options": dict(rules.non_default),
        "dealer": setup.dealer,
        "carry": setup.carry,
        "pot": state.pot,
        "stacks": state.stacks[1:],
        "stakes": state.stakes[1:],
        "seats": [_seat(state, seat, cards[seat], viewer) for seat in range(1, state.seats + 1)],
        "bottom": state.deck[-1] if state.deck and state.next_card and state.BOTTOM_IS_PUBLIC else None,
        "legal": [offer.as_dict() for offer in state.legal_for(viewer)],
        "log": _masked_log(state, cards, viewer),
        "result": None if state.result is None else state.result.as_dict(),
    }
    if face_up := state.face_up_hands():
        view["face_up"] = [list(hand) for hand in face_up]
    if viewer == AUDITOR:
        view["deck"] = None if state.deck is None else list(state.deck)
        if setup.redeals:
            view["redeals"] = [list(pack) for pack in setup.redeals]
    return view


def _require_viewer(viewer: Viewer, seats: int) -> None:
    if viewer in (PUBLIC, AUDITOR) or (type(viewer) is int and 1 <= viewer <= seats):
        return
    raise MalformedSetup(f"{viewer!r} is no viewer of this hand", viewers=[PUBLIC, AUDITOR, f"1..{seats}"])


def _known_cards(state: VyingState, seat: int, viewer: Viewer) -> list[str]:
    """The seat's cards with ``??`` for each one that the viewer may not know."""
    cards = state.cards[seat]
    if viewer == AUDITOR or state.shown[seat]:
        known = len(cards)
    else:
        known = state.seen[seat] if viewer == seat else 0
    return [*cards[:known], *[UNKNOWN] * (len(cards) - known)]


def _may_see_up(state: VyingState, seat: int, viewer: Viewer) -> bool:
    """Cards turned up are everybody's as soon as every seat has chosen its own; till then only the chooser's."""
    return state.phase != "up" or viewer in (seat, AUDITOR)


def _seat(state: VyingState, seat: int, cards: list[str], viewer: Viewer) -> dict[str, object]:
    active = seat in state.active
    view: dict[str, object] = {
        "seat": seat,
        "state": "active" if active else "folded",
        "stack": state.stacks[seat],
        "stake": state.stakes[seat],
        "owes": state.owed(seat) if active and state.result is None else 0,
        "cards": cards,
        "unseen": state.unseen(seat),
        "shown": state.shown[seat],
    }
    if state.turns_up():
        # Apart from ``cards``, whose places would tell when an upturned card was dealt.
        up = state.up[seat]
        view["up"] = list(up) if _may_see_up(state, seat, viewer) else [UNKNOWN] * len(up)
    return view


def _masked_log(state: VyingState, cards: list[list[str]], viewer: Viewer) -> list[str]:
    """The log with every card that the viewer may not know as ``??``."""
    dealt = [0] * (state.seats + 1)
    lines = []
    hidden = len(state.log) if state.open_from is None else state.open_from
    for at, line in enumerate(state.log):
        if at < hidden and line.startswith("d dh "):
            action = parse_action(line)
            seat, start = action.target, dealt[action.target]
            dealt[seat] = start + len(action.cards)
            line = deal_line(seat, tuple(cards[seat][start : dealt[seat]]))
        elif state.phase == "up" and " up " in line:
            seat = parse_action(line).actor
            if not _may_see_up(state, seat, viewer):
                line = up_line(seat, (UNKNOWN,) * len(state.up[seat]))
        lines.append(line)
    return lines
