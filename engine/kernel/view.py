"""The part of a hand that each viewer may know: views, masked logs, and the places of known cards in the pack.

Everything follows from declarations. A line's cards are seen by those whom its verb's argument names
(:class:`engine.kernel.grammar.Seen`); cards in hands by those whom the game lets see them
(:meth:`engine.kernel.zones.CardState.held_by`). What a viewer may not know is ``??``, and nothing else in a view
depends on it (so the digest, which covers cards, is no part of it).
"""

from __future__ import annotations

from itertools import islice

from engine.errors import MalformedSetup
from engine.kernel.cards import UNKNOWN
from engine.kernel.grammar import Action, Seen, actor_name
from engine.kernel.rules import Rules
from engine.kernel.setup import AUDITOR, PUBLIC, Setup, Viewer
from engine.kernel.zones import CardState


def require_viewer(viewer: Viewer, seats: int) -> None:
    """Raise ``MalformedSetup`` unless the viewer is a seat of the hand, ``public`` or ``auditor``."""
    if viewer in (PUBLIC, AUDITOR) or (type(viewer) is int and 1 <= viewer <= seats):
        return
    raise MalformedSetup(f"{viewer!r} is no viewer of this hand", viewers=[PUBLIC, AUDITOR, f"1..{seats}"])


def view_of(setup: Setup, rules: Rules, state: CardState, viewer: Viewer) -> dict[str, object]:
    """The view of a seat (by number), ``"public"`` or ``"auditor"``, JSON-able; another viewer raises
    ``MalformedSetup``."""
    require_viewer(viewer, state.seats)
    actors = [actor_name(actor) for actor in state.actors()]
    view: dict[str, object] = {
        "game": setup.game,
        "viewer": viewer,
        "phase": state.phase,
        "actor": actors[0] if actors else None,
        "options": dict(rules.non_default),
        "dealer": setup.dealer,
        "carry": setup.carry,
        "pot": state.pot,
        "stacks": state.stacks[1:],
        "seats": [_seat(state, seat, viewer) for seat in range(1, state.seats + 1)],
        "legal": [offer.as_dict() for offer in state.legal_for(viewer)],
        "log": masked_log(state, viewer),
        "result": None if state.result is None else state.result.as_dict(),
    }
    if len(actors) > 1:
        view["actors"] = actors
    view |= state.view_of_table(viewer)
    if viewer == AUDITOR:
        view["deck"] = None if state.deck is None else list(state.deck)
        if setup.redeals:
            view["redeals"] = [list(pack) for pack in setup.redeals]
    return view


def _seat(state: CardState, seat: int, viewer: Viewer) -> dict[str, object]:
    found: dict[str, object] = {
        "seat": seat,
        "stack": state.stacks[seat],
        "cards": state.held_by(seat, viewer),
    }
    return found | state.view_of_seat(seat, viewer)


def masked_log(state: CardState, viewer: Viewer) -> list[str]:
    """The log with every card that the viewer may not know as ``??``."""
    if viewer == AUDITOR:
        return list(state.log)
    hands = [iter(state.held_by(seat, viewer)) for seat in range(1, state.seats + 1)]
    veiled, lines = state.GRAMMAR.veiled, state.log.copy()
    for at, line in enumerate(lines):
        found = veiled(line)
        if found is None or state.is_open_line(at):
            continue
        action, seen, masked = found
        if seen is Seen.HAND:
            # Hands lie in the order of dealing, so the next of the target's cards are those of this line.
            hidden = tuple([card == UNKNOWN for card in islice(hands[action.target - 1], len(action.cards))])
            lines[at] = masked if all(hidden) else state.GRAMMAR.masked(action, hidden)
        elif seen is Seen.DRAWN:
            drawn = state.drawn_from(at, viewer)
            hidden = tuple([number != drawn for number in range(1, len(action.cards) + 1)])
            lines[at] = state.GRAMMAR.masked(action, hidden)
        elif not _sees(state, seen, action, viewer):
            lines[at] = masked
    return lines


def _sees(state: CardState, seen: Seen, action: Action, viewer: Viewer) -> bool:
    if seen is Seen.TARGET:
        return viewer == action.target and state.has_looked(action.target)
    if seen is Seen.BOTH:
        return viewer in (action.actor, state.receiver(action))
    if seen is Seen.NOBODY:
        return False
    if seen is Seen.TOGETHER and state.all_chosen(action):
        return True
    return viewer == action.actor


def places_of(setup: Setup, state: CardState, viewer: Viewer) -> tuple[tuple[int, int], ...]:
    """Where in the packs the cards lay that ``viewer`` may know: (pack, place) from 0, pack n being the n-th redeal;
    none where the deck is not known. What the viewer's view names is exactly what lies at these places, but for cards
    whose place would reveal when they were drawn: those come with the end of the deal."""
    require_viewer(viewer, state.seats)
    if setup.deck is None:
        return ()
    if viewer == AUDITOR:
        packs = (setup.deck, *setup.redeals)
        return tuple((pack, place) for pack, cards in enumerate(packs) for place in range(len(cards)))
    known = state.face_up(viewer)
    for seat in range(1, state.seats + 1):
        known.update(state.dealt_as_seen(seat, viewer))
    places = [(0, place) for place, card in enumerate(setup.deck) if card in known]
    return (*places, *state.places_of_redeals())
