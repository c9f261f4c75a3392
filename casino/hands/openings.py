"""Openings, with which cards are checked against the root that was published at the deal: for everybody those of the
face-up cards, and for a player also those of the player's cards."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet

import engine
from casino.core.errors import Conflict, NotFound
from casino.hands import clock, deals, selectors
from casino.hands.models import Hand, Mode, engine_seats
from casino.tables.models import Seating


def of_everybodys_cards(hand: Hand) -> dict[str, Any]:
    """The openings of the cards that everybody has seen by now. Raises Conflict no_card_commitments."""
    if not hand.cards_roots:
        raise Conflict(f"The house did not deal hand {hand.name} from a seed.", code="no_card_commitments")
    game = selectors.as_far_as_it_goes(hand)
    return _committed(hand) | {"openings": deals.opened(hand, game.setup, game.places(engine.PUBLIC))}


def for_player(seating: Seating, since: datetime) -> dict[str, Any]:
    """The hand in play that a player is dealt into, or the last one, of those dealt after `since`, as its player may
    know it: what everybody sees, the cards that the player holds (`??` where the card was not looked at), openings of
    both, what else it has seen (a partner's hand, the bottom card), and what the player may do, by its own cards.
    Raises NotFound before the first."""
    hand = _last_hand(seating, since)
    game = selectors.as_far_as_it_goes(hand)
    number = number_of(hand, seating)
    places = {*game.places(engine.PUBLIC), *game.places(number)} if hand.cards_roots else set()
    return {
        **_committed(hand),
        "state": hand.state,
        "mode": hand.mode,
        "seats": engine_seats(hand),
        "you": f"p{number}",
        "actor": None if selectors.stopped(hand) else game.actor,
        "act_by": clock.act_by(hand, game),
        "cards": _own_cards(game, number),
        "learned": game.learned(number),
        "legal_actions": [] if selectors.stopped(hand) else selectors.legal_actions(game, number),
        "device_play": hand.table.device_play and hand.mode == Mode.ELECTRONIC,
        "openings": deals.opened(hand, game.setup, places) if places else [],
        "view": selectors.in_the_records_words(game.view(engine.PUBLIC)),
    }


def _own_cards(game: engine.Hand, number: int) -> list[str]:
    """The cards that a seat holds now, in the order in which an action's `places` count them."""
    view: Any = game.view(number)
    cards: list[str] = view["seats"][number - 1]["cards"]
    return cards


def number_of(hand: Hand, seating: Seating) -> int:
    """The engine's number of the player's seat in a hand that was dealt to it."""
    return next(at for at, seat in enumerate(hand.seats, 1) if seat["seat"] == seating.seat)


def hands_of(seating: Seating, since: datetime) -> QuerySet[Hand]:
    """The hands that were dealt to a player since `since`, the newest first. A seat of a hand is a chair and a player,
    so a player never sees a hand of the player who sat there before."""
    found = Hand.objects.filter(
        table=seating.session.table,
        session=seating.session,
        started_at__gte=max(seating.sat_at, since),
        seats__contains=[{"seat": seating.seat, "player": seating.player.ref}],
    )
    return found.select_related("table__house").order_by("-number")


def _last_hand(seating: Seating, since: datetime) -> Hand:
    hand = hands_of(seating, since).first()
    if hand is None:
        raise NotFound("No hand has been dealt to this seat since its key was issued.")
    return hand


def _committed(hand: Hand) -> dict[str, Any]:
    """What a device needs to check openings with, by the same names everywhere."""
    return {
        "hand": hand.name,
        "commitment": hand.commitment or None,
        "client_seeds": hand.client_seeds,
        "cards_roots": hand.cards_roots,
    }
