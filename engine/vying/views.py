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
        "bottom": _bottom(state),
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


def places_of(setup: Setup, state: VyingState, viewer: Viewer) -> tuple[tuple[int, int], ...]:
    """Where in the packs the cards lay that ``viewer`` may know: (pack, place) from 0, pack n being the n-th redeal;
    none where the deck is not known. What the viewer's view names is exactly what lies at these places."""
    _require_viewer(viewer, state.seats)
    if setup.deck is None:
        return ()
    if viewer == AUDITOR:
        packs = (setup.deck, *setup.redeals)
        return tuple((pack, place) for pack, cards in enumerate(packs) for place in range(len(cards)))
    known = {card for seat in range(1, state.seats + 1) for card in _known_cards(state, seat, viewer)}
    known.update(
        card for seat in range(1, state.seats + 1) if _may_see_up(state, seat, viewer) for card in state.up[seat]
    )
    if (bottom := _bottom(state)) is not None:
        known.add(bottom)
    places = [(0, place) for place, card in enumerate(setup.deck) if card in known]
    return (*places, *_places_face_up(state))


def _places_face_up(state: VyingState) -> list[tuple[int, int]]:
    """What was dealt face up out of redeals, each of which gives every seat one batch."""
    if state.open_from is None:
        return []
    batches = [parse_action(line) for line in state.log[state.open_from :] if line.startswith("d dh ")]
    places, next_place = [], 0
    for number, batch in enumerate(batches):
        redeal, seat = divmod(number, state.seats)
        if seat == 0:
            next_place = 0
        places += [(redeal + 1, next_place + at) for at in range(len(batch.cards))]
        next_place += len(batch.cards)
    return places


def _bottom(state: VyingState) -> str | None:
    """The bottom card of a known deck, where everyone may see it: from the first deal on."""
    return state.deck[-1] if state.deck and state.next_card and state.BOTTOM_IS_PUBLIC else None


def _require_viewer(viewer: Viewer, seats: int) -> None:
    if viewer in (PUBLIC, AUDITOR) or (type(viewer) is int and 1 <= viewer <= seats):
        return
    raise MalformedSetup(f"{viewer!r} is no viewer of this hand", viewers=[PUBLIC, AUDITOR, f"1..{seats}"])


def _known_cards(state: VyingState, seat: int, viewer: Viewer) -> list[str]:
    """The seat's cards with ``??`` for each one that the viewer may not know."""
    cards = state.cards[seat]
    if viewer == AUDITOR or state.shown[seat]:
        return list(cards)
    known = state.places_seen(seat) if viewer == seat else ()
    return [card if place in known else UNKNOWN for place, card in enumerate(cards)]


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
