"""Which lines a hand has on offer, worked out from its list of legal actions and from the cards on the table.

:class:`Watch` never asks the hand whether a line would do: amounts, targets and counts come from :meth:`legal`; which
cards may be named, and what opens a commitment, it keeps track of itself. So tests can hold ``apply`` and replay
against it.
"""

from __future__ import annotations

import hashlib
from itertools import combinations, permutations

from engine.errors import CardError, MalformedAction
from engine.kernel.cards import UNKNOWN
from engine.kernel.grammar import Action, actor_name
from engine.kernel.legal import Legal
from engine.kernel.setup import Setup
from engine.registry import game_info, start
from engine.vying.ranking import ferbli_ranking


class Watch:
    """A fresh hand that is fed line after line, and what its table holds."""

    def __init__(self, setup: Setup) -> None:
        self.hand = start(setup)
        self.pack = game_info(setup.game).pack_for(setup.opt)
        self.parse = game_info(setup.game).grammar.parse
        self.packs_used = 0
        self.top = 0  # cards gone from the pack in use
        self.held: dict[int, tuple[str, ...]] = {}
        self.up: dict[int, tuple[str, ...]] = {}
        self.up_places: dict[int, tuple[tuple[int, ...], ...]] = {}
        self.named: set[str] = set()  # known cards that lie somewhere
        self.exposed: tuple[str, ...] = ()
        self.commitment = ""

    def allows(self, line: str) -> bool:
        """Whether the line is on offer."""
        try:
            action = self.parse(line)
        except (MalformedAction, CardError):
            return False
        actor = actor_name(action.actor)
        offers = [offer for offer in self.hand.legal() if (offer.actor, offer.verb) == (actor, action.verb)]
        return bool(offers) and within(offers[0], action) and self._fits(offers[0], action)

    def feed(self, line: str) -> None:
        """The line is said."""
        before = self.hand.phase
        action = self.parse(line)
        if action.verb == "up":
            [offer] = [offer for offer in self.hand.legal() if offer.verb == "up"]
            self.up_places[action.actor] = tuple(offer.places or combinations(range(4), 2))
        self.hand.advance(line)
        if action.verb == "dh":
            self.top += len(action.cards)
            self.named.update(set(action.cards) - {UNKNOWN})
            if before != "redeal":
                self.held[action.target] = self.held.get(action.target, ()) + action.cards
        elif action.verb in ("sm", "cu"):
            self.held[action.actor] = action.cards
            self.named.update(action.cards)
            self.exposed = action.cards if action.verb == "cu" else self.exposed
        elif action.verb == "up":
            self.up[action.actor] = action.cards
            self.named.update(action.cards)
        elif action.verb == "mj":
            self.commitment = action.code
        if self.hand.phase == "redeal" and (before != "redeal" or action.target == self.hand.setup.seats):
            self.packs_used, self.top, self.named = self.packs_used + 1, 0, set(self.exposed)

    def first_not_offered(self, lines: tuple[str, ...]) -> int | None:
        """Feed the lines up to the first that is not on offer; its place, or None if all are."""
        for at, line in enumerate(lines):
            if not self.allows(line):
                return at
            self.feed(line)
        return None

    # -- cards and commitments -------------------------------------------------------------------------------

    def _fits(self, offer: Legal, action: Action) -> bool:
        if action.verb == "dh":
            return len(action.cards) == offer.count and self._may_be_dealt(action.cards)
        if action.verb in ("sm", "cu"):
            return self._may_be_shown(action)
        if action.verb == "up":
            return self._may_be_turned_up(offer, action)
        return action.verb != "rv" or self._opens(action)

    def _may_be_dealt(self, cards: tuple[str, ...]) -> bool:
        setup, open_deal = self.hand.setup, self.hand.phase == "redeal"
        if setup.deck is None:
            return self._free(cards) and not (open_deal and UNKNOWN in cards)
        packs = (setup.deck, *setup.redeals)
        if self.packs_used >= len(packs):
            return False
        pack = packs[self.packs_used]
        whole = sorted(set(self.pack.cards) - set(self.exposed if open_deal else ()))
        return sorted(pack) == whole and cards == pack[self.top : self.top + len(cards)]

    def _free(self, cards: tuple[str, ...], besides: tuple[str, ...] = ()) -> bool:
        """Cards of the pack, each once and nowhere else."""
        known = [card for card in cards if card != UNKNOWN]
        taken = self.named - set(besides)
        return len(set(known)) == len(known) and set(known) <= self.pack.members and not taken & set(known)

    def _may_be_shown(self, action: Action) -> bool:
        held, up, cards = self.held[action.actor], self.up.get(action.actor, ()), action.cards
        if len(cards) != len(held) or UNKNOWN in cards:
            return False
        if not self._free(cards, (*held, *up)):
            return False
        if any(was not in (now, UNKNOWN) for was, now in zip(held, cards, strict=True)):
            return False
        if up and not any({cards[at] for at in places} == set(up) for places in self.up_places[action.actor]):
            return False
        return cards == held or self._is_higher(cards)

    def _is_higher(self, cards: tuple[str, ...]) -> bool:
        """Than the hand that was laid open before."""
        opt = self.hand.setup.opt
        if not self.exposed:
            return True
        ways = (str(opt.get("grigare", "off")), str(opt.get("grigare_wild", "natural")))
        key = ferbli_ranking(tuple(opt.get("wild", ())), *ways).key  # type: ignore[arg-type]
        return key(cards) > key(self.exposed)

    def _may_be_turned_up(self, offer: Legal, action: Action) -> bool:
        held, cards = self.held[action.actor], action.cards
        if len(cards) != 2 or UNKNOWN in cards or not self._free(cards, held):
            return False
        return any(
            all(held[place] in (card, UNKNOWN) and (held[place] == card or card not in held) for place, card in pairs)
            for places in offer.places or combinations(range(4), 2)
            for pairs in (tuple(zip(order, cards, strict=True)) for order in permutations(places))
        )

    def _opens(self, action: Action) -> bool:
        """Without a commitment there is nothing to open; a commitment is opened by amount and nonce."""
        if self.commitment == UNKNOWN or not action.code:
            return self.commitment == UNKNOWN and not action.code
        parts = (b"majzli-v1", str(action.amount).encode(), bytes.fromhex(action.code))
        covered = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
        return hashlib.sha256(covered).hexdigest() == self.commitment


def within(offer: Legal, action: Action) -> bool:
    """Amount and target are those of the offer, or in its range."""
    if action.target != (offer.target or 0):
        return False
    if offer.min is None or offer.max is None or offer.step is None:
        return action.verb != "lk" or action.amount == offer.count
    return offer.min <= action.amount <= offer.max and action.amount % offer.step == 0
