"""From the actions of a console to the lines of the engine: actions are composed, cards are named by their places, and
hands are shown in the order of dealing. This module also refuses names of cards that only the house knows."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import engine
from casino.core.errors import Unprocessable
from casino.hands import cards
from engine.errors import EngineError, MalformedAction
from engine.kernel.cards import UNKNOWN
from engine.kernel.grammar import OUT_OF_HAND, Action, Grammar, Role, actor_name

#: `p1 VERB @0,3`: a verb that names cards by their places among those that the seat holds.
_BY_PLACES = re.compile(r"p(?P<seat>[1-9]) (?P<verb>[a-z]+) @(?P<places>[0-9]{1,2}(?:,[0-9]{1,2})*)", re.ASCII)


def composed(grammar: Grammar, action: Mapping[str, Any], number: int) -> str:
    """The line of one action. Raises the engine's MalformedAction."""
    fields = {name: value for name, value in action.items() if name != "places"}
    try:
        if "places" not in action:
            return grammar.compose(fields)
        named = grammar.verb(action["actor"], action["verb"]).cards
        if named is None or named.role not in OUT_OF_HAND or fields.keys() != {"actor", "verb"}:
            raise MalformedAction(f"{action['verb']} takes no places", surplus=["places"])
    except EngineError as error:
        error.expected["refused_action"] = number
        raise
    return f"{action['actor']} {action['verb']} @{','.join(map(str, action['places']))}"


def names_cards(grammar: Grammar, lines: Sequence[str]) -> bool:
    """Whether any of these lines names cards, by themselves or by their places."""
    return any(_BY_PLACES.fullmatch(line) or grammar.role(grammar.parse(line)) is not None for line in lines)


def require_sealed(game: engine.Hand, grammar: Grammar, line: str, *, last: bool) -> None:
    """Refuse guesses about cards that only the house knows, and a commitment without effect.

    If the house deals, requests name no cards: a refusal would answer a guess. An action that uncovers cards, or is
    compelled by them, must be the last of its request: otherwise a batch that fails later would be a free look at the
    cards.
    """
    by_places = _BY_PLACES.fullmatch(line) is not None
    action = None if by_places else grammar.parse(line)
    uncovers = action is None or grammar.declared(action).uncovers
    names = action is not None and grammar.role(action) in OUT_OF_HAND
    if names and action is not None and set(action.cards) != {UNKNOWN}:
        raise Unprocessable(
            "The house deals and knows the cards: name played cards by `places`, and shown cards as ??.",
            code="cards_known_to_the_house",
            verb=action.verb,
        )
    if action is not None and action.code == UNKNOWN:
        raise Unprocessable("In electronic mode this action needs a commitment, not ??.", code="commitment_needed")
    if last:
        return
    if uncovers or _binding(game.legal(), grammar) != _binding(game.legal_for(engine.PUBLIC), grammar):
        raise Unprocessable("This action must be the last of its request.", code="must_be_last", action=line)


def _binding(offers: Iterable[engine.Legal], grammar: Grammar) -> list[dict[str, Any]]:
    """What may be done, without the cards that may be named for it, and without what may be said beside the turn: that
    compels no one, and whether it is possible may be a secret."""
    compelling = [offer for offer in offers if not grammar.verb(offer.actor, offer.verb).aside]
    return [{name: value for name, value in offer.as_dict().items() if name != "cards"} for offer in compelling]


def arranged(game: engine.Hand, grammar: Grammar, line: str, entered: Mapping[cards.Position, str]) -> str:
    """A line as the engine takes it: cards by their names, a shown hand in the order in which it was dealt.

    Names are filled in only where the action is on offer: the engine's refusal repeats the line, and would reveal cards
    that lie face down. Any other line stays as it is, for the engine to judge.
    """
    by_places = _BY_PLACES.fullmatch(line)
    if by_places is not None:
        return _named(
            game, grammar, int(by_places["seat"]), by_places["verb"], [*map(int, by_places["places"].split(","))]
        )
    action = grammar.parse(line)
    if grammar.role(action) is not Role.SHOWN or _offered(game, action.actor, action.verb) is None:
        return line
    return _in_order_of_dealing(cards.with_entries(game, action.actor, entered), action)


def _offered(game: engine.Hand, seat: int, verb: str, viewer: engine.Viewer = engine.AUDITOR) -> engine.Legal | None:
    wanted = (actor_name(seat), verb)
    return next((offer for offer in game.legal_for(viewer) if (offer.actor, offer.verb) == wanted), None)


def _named(game: engine.Hand, grammar: Grammar, seat: int, verb: str, places: list[int]) -> str:
    """The line that names the cards at these places. Raises Unprocessable for places that may not be chosen."""
    offer, public = _offered(game, seat, verb), _offered(game, seat, verb, engine.PUBLIC)
    if offer is None and public is None:
        return f"{actor_name(seat)} {verb} {UNKNOWN * len(places)}"
    held = game.held(seat)
    chosen = sorted({at for at in places if at < len(held)})
    turned = grammar.verb(actor_name(seat), verb).cards
    if offer is None:
        raise _wrong_places(public.count if public else None)  # as if the seat held it, and had named another card
    laid_away = turned is not None and turned.role is Role.LAID_AWAY
    named = _in_a_fixed_order([held[at] for at in chosen], game, laid_away=laid_away)
    line = f"{actor_name(seat)} {verb} {named}"
    allowed = offer.places
    fits = len(chosen) == len(places) and (allowed is None or tuple(chosen) in allowed)
    if fits and offer.contains(line):
        return line
    if fits and UNKNOWN in named and len(chosen) == offer.count:
        return line
    if public is None:  # it is secret whether there is a choice: the engine answers as if there were none
        return f"{actor_name(seat)} {verb} {UNKNOWN * len(places)}"
    # Which cards may be played says what the seat holds; which places may be turned up everybody knows.
    every = allowed or tuple(combinations(range(len(held)), offer.count or 0))
    tellable = turned is not None and turned.role is Role.TURNED
    raise _wrong_places(offer.count, **({"places": [list(choice) for choice in every]} if tellable else {}))


def _wrong_places(count: int | None, **extra: Any) -> Unprocessable:
    return Unprocessable(
        "These cards may not be chosen: only some that the seat has looked at and that the rules allow.",
        code="wrong_places",
        count=count,
        **extra,
    )


def _in_a_fixed_order(cards: list[str], game: engine.Hand, *, laid_away: bool) -> str:
    """In alphabetical order: the line must not reveal which of several was dealt first. Cards that are laid away are in
    the order of the pack, as every log has them."""
    if not laid_away:
        return "".join(sorted(cards))
    order = {card: place for place, card in enumerate(_pack_of(game).cards)}
    return "".join(sorted(cards, key=lambda card: order.get(card, len(order))))


def _pack_of(game: engine.Hand) -> engine.Pack:
    """The pack that a hand is played with."""
    return engine.rules_version(game.rules.RULES_ID).pack_for(game.setup.opt)


def _in_order_of_dealing(dealt: tuple[str, ...], action: Action) -> str:
    """A hand shown with its cards in the order in which they were dealt, which a dealer turning them over cannot know.
    In electronic mode the house knows them all, so `??` is a card that its holder lets the house turn over."""
    turned_over_by_the_house = UNKNOWN if UNKNOWN not in dealt else ""
    unknown = [card for card in action.cards if card not in (*dealt, turned_over_by_the_house)]
    if len(action.cards) != len(dealt) or len(unknown) != dealt.count(UNKNOWN):
        return action.text
    in_order = "".join(card if card != UNKNOWN else unknown.pop(0) for card in dealt)
    return f"{actor_name(action.actor)} {action.verb} {in_order}"
