"""A hand step by step, as one viewer may know it: what each line says and means, the money that it moves, and the table
after it.

Everything follows from replaying inputs and log under the rules of that day; nothing of it is stored. A step shows what
its viewer knew then: a card that is shown later lies face down before.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import engine
from casino.audit import selectors as audit
from casino.core.errors import NotFound
from casino.hands import deals, openings, readings, selectors
from casino.hands.face_down import CardsAltered
from casino.hands.models import Hand, HandState, engine_seats
from casino.houses.models import House
from casino.tables.models import Seating
from engine.errors import EngineError
from engine.kernel.purse import Move, place_name
from engine.kernel.setup import Viewer
from engine.reference import phases

#: Members of the engine's view that a replay says once, or not for each step.
_ONCE = frozenset({"game", "viewer", "options", "log", "result", "stacks", "deck", "redeals"})


class Walk(NamedTuple):
    """A log as far as it can be followed: the hand there, its steps as JSON holds them, and the engine's refusal of the
    next line."""

    game: engine.Hand
    steps: list[dict[str, Any]]
    error: EngineError | None


def walk(hand: Hand, lines: Sequence[str], viewer: Viewer, *, views: bool = True) -> Walk:
    """Follow a hand's inputs and these lines; stops at the first line that the engine refuses. `views`: each step has
    the table after it. Raises the engine's error for a set-up that cannot be started."""
    game = engine.start(selectors.setup(hand))
    shuffle, said = deals.shuffle(hand), phases(hand.game)
    steps, error = [_step(game, 0, "", game.moves, said, viewer, views=views)], None
    for number, line in enumerate(lines, start=1):
        phase, moved = game.phase, game.moved
        try:
            game.advance(line)
            if shuffle is not None:
                engine.supply(game, shuffle)
        except EngineError as refused:
            error = refused
            break
        steps.append(_step(game, number, phase, game.moves[moved:], said, viewer, views=views))
    if len(steps) > 1:
        seen: Any = game.view(viewer)["log"]
        for step, text in zip(steps[1:], seen, strict=True):
            step["text"] = text
    return Walk(game, steps, error)


def _step(
    game: engine.Hand, number: int, phase: str, moves: Sequence[Move], said: dict[str, str], viewer: Viewer, *,
    views: bool,
) -> dict[str, Any]:  # fmt: skip
    """One step; its text comes at the end, when it is known which cards were shown later."""
    step: dict[str, Any] = {
        "line": number, "text": "", "phase": phase, "sentence": said.get(phase, ""), "verb": "", "meaning": "",
        "moves": [
            {"paid_by": place_name(one.source), "paid_to": place_name(one.target), "amount": one.amount,
             "why": one.why.value}
            for one in moves
        ],
        "pot": game.pot, "bank": game.bank,
    }  # fmt: skip
    if number:
        action = game.grammar.parse(game.log[-1])
        step |= {"verb": action.verb, "meaning": game.grammar.declared(action).meaning}
    if views:
        view = selectors.in_the_records_words(game.view(viewer))
        step["view"] = {name: value for name, value in view.items() if name not in _ONCE}
    return step


def for_staff(hand: Hand, *, is_auditor: bool) -> dict[str, Any]:
    """The hand for a member of staff: an auditor sees every card of a hand that is over, with its record and the whole
    of its events; others see it as everybody at the table does."""
    whole = is_auditor and hand.state != HandState.PLAYING
    viewer: Viewer = engine.AUDITOR if whole else engine.PUBLIC
    found, game = _of(hand, viewer)
    if hand.cards_roots:
        found["openings"] = deals.opened(hand, game.setup, game.places(viewer))
    if whole:
        found["record"] = selectors.finished_record(hand)
    return found | {"events": _events(hand, whole=whole)}


def for_player(seating: Seating, since: Any, name: str) -> dict[str, Any]:
    """A hand that was dealt to a seat since its key was issued, as its player may know it: the player's own cards and
    what everybody saw, and openings of both. Raises NotFound for any other hand."""
    hand = next((one for one in openings.hands_of(seating, since) if one.name == name), None)
    if hand is None:
        raise NotFound(f"No hand {name} was dealt to this seat since its key was issued.")
    number = openings.number_of(hand, seating)
    found, game = _of(hand, number)
    if hand.cards_roots:
        places = {*game.places(engine.PUBLIC), *game.places(number)}
        found["openings"] = deals.opened(hand, game.setup, sorted(places))
    return found | {"you": f"p{number}", "events": _events(hand, whole=False)}


def _of(hand: Hand, viewer: Viewer) -> tuple[dict[str, Any], engine.Hand]:
    lines, altered = _lines(hand)
    went = walk(hand, lines, viewer)
    refused = None if went.error is None else {"line": len(went.steps), "code": went.error.code}
    found = {
        "hand": hand.name, "table": hand.table.code, "state": hand.state, "mode": hand.mode, "game": hand.game,
        **money_of(hand.house), "rules": hand.rules, "options": hand.options,
        "started_at": hand.started_at, "ended_at": hand.ended_at,
        "settled_at": hand.settled_at, "viewer": f"p{viewer}" if isinstance(viewer, int) else viewer,
        "seats": engine_seats(hand), "stacks": hand.stacks, "carry": hand.carry, "steps": went.steps,
        "refused": altered or refused, "result": hand.result, "ruling": _ruling(hand), "settlement": hand.settlement,
        "commitment": hand.commitment or None, "client_seeds": hand.client_seeds, "cards_roots": hand.cards_roots,
        "openings": [],
    }  # fmt: skip
    return found, went.game


def money_of(house: House) -> dict[str, Any]:
    """How a house writes amounts and times, for who reads nothing else of it."""
    return {
        "currency": house.currency, "currency_exponent": house.currency_exponent, "time_zone": house.time_zone,
    }  # fmt: skip


def _ruling(hand: Hand) -> dict[str, Any] | None:
    return None if hand.ruling is None else {name: hand.ruling[name] for name in ("pot", "awards", "tax")}


def _lines(hand: Hand) -> tuple[list[str], dict[str, Any] | None]:
    """The lines with their cards up to the first that does not open, and what stops there."""
    stored = selectors.stored_log(hand)
    try:
        return selectors.log(hand, stored), None
    except CardsAltered as altered:
        line = altered.line or 1
        return selectors.log(hand, stored[: line - 1]), {"line": line, "code": readings.ALTERED}


def _events(hand: Hand, *, whole: bool) -> list[dict[str, Any]]:
    """The hand's events in the chain of its table, the oldest first; `whole`: with the text that is hashed."""
    table, name = hand.table, hand.name
    return [
        {"chain": table.chain, "seq": seq, "hash": leaf, "kind": kind, "at": at}
        | ({"payload": payload} if whole else {})
        for seq, leaf, kind, at, payload in audit.of_hand(hand.house, table.chain, name, hand.started_at, whole=whole)
    ]
