"""The interface to one hand of a vying game: what the rest of the house holds. The state stays inside."""

from __future__ import annotations

import marshal
from collections.abc import Iterable
from functools import lru_cache
from itertools import starmap
from typing import TypeVar, cast

from engine.errors import MalformedAction, MalformedSetup, OptionOutOfRange
from engine.kernel.canonical import canonical_json, canonical_numbers, sha256_of_text
from engine.kernel.cards import require_full_deck
from engine.kernel.events import BottomCard, Dealt, Event, HandEnded, Looked, Move, MoveKind, Shown, Spoke, TurnedUp
from engine.kernel.game import Legal, Result, Setup, Viewer
from engine.kernel.grammar import DEALER, Action, actor_name, deal_line, parse_action, show_line
from engine.kernel.rules import Rules
from engine.vying.state import VyingState
from engine.vying.turns import NOBODY
from engine.vying.views import places_of, view_of

_R = TypeVar("_R", bound=Rules)


def parse_rules(kind: type[_R], setup: Setup) -> _R:
    """The set-up's options as rules; raises a subclass of ``OptionError``."""
    try:
        key = marshal.dumps(dict(setup.opt), 2)
    except ValueError as error:  # an object of no plain type, or nested too deep
        raise OptionOutOfRange("options must be plain values or lists of them") from error
    known: Rules = _parse_rules(kind, key, setup.seats)  # type: ignore[arg-type]  # mypy: a class is not hashable
    return cast(_R, known)


def require_nothing_carried(setup: Setup) -> None:
    """Raise ``MalformedSetup`` for packs to deal anew or a series, at a table that has no use for them."""
    if setup.redeals:
        raise MalformedSetup("no cards are dealt anew in this game", redeals=0)
    if setup.series:
        raise MalformedSetup("nothing but money is carried from deal to deal in this game", series={})


def _is_plain(value: object) -> bool:
    """Whether JSON holds ``value`` by itself: anything nested could be too deep to write, a float NaN."""
    if type(value) is int:
        return value.bit_length() < 64
    return value is None or type(value) in (str, bool)


@lru_cache(maxsize=256)
def _parse_rules(kind: type[Rules], key: bytes, seats: int) -> Rules:
    """Tables play thousands of hands with one set of options. The key is what marshal makes of them, which tells True
    from 1 and 1 from "1" and is made faster than any text."""
    opt = marshal.loads(key)  # noqa: S302 - bytes made a moment ago, by the caller
    for name, value in opt.items():
        if not all(map(_is_plain, value if isinstance(value, list | tuple) else (value,))):
            raise OptionOutOfRange(f"option {name!r} must be a plain value or a list of them")
    return kind.parse(opt, seats)


@lru_cache(maxsize=4096)
def _move(kind: MoveKind, seat: int, amount: int) -> Move:
    """Stakes are multiples of a few amounts, so most moves of a hand have been there before."""
    return Move(kind, seat, amount)


class VyingHand:
    """One hand in play; see :class:`engine.kernel.game.Hand` for the promises."""

    __slots__ = ("_rules", "_setup", "_state")

    def __init__(self, setup: Setup, rules: Rules, state: VyingState) -> None:
        if setup.deck is not None:
            require_full_deck(setup.deck, state.pack)
        self._setup = setup
        self._rules = rules
        self._state = state

    @property
    def setup(self) -> Setup:
        """The set-up that the hand was started with."""
        return self._setup

    @property
    def actor(self) -> str | None:
        """Who acts next: ``"d"``, ``"p1"`` ..., or None when the hand is over."""
        turn = self._state.turn
        return None if turn == NOBODY else actor_name(turn)

    @property
    def over(self) -> bool:
        """Whether the hand has ended."""
        return self._state.result is not None

    @property
    def result(self) -> Result | None:
        """The result, once the hand is over."""
        return self._state.result

    @property
    def phase(self) -> str:
        """Name of the phase, as in the game's table of phases."""
        return self._state.phase

    @property
    def log(self) -> tuple[str, ...]:
        """The accepted lines in canonical spelling."""
        return tuple(self._state.log)

    @property
    def opening_events(self) -> tuple[Event, ...]:
        """Money carried in, as the only event of the start."""
        return (Move(*self._state.moves[0]),) if self._state.carry else ()

    @property
    def stacks(self) -> tuple[int, ...]:
        """Money in front of each seat now, p1 first."""
        return tuple(self._state.stacks[1:])

    @property
    def stakes(self) -> tuple[int, ...]:
        """Money each seat has put into the pot by its own actions, p1 first."""
        return tuple(self._state.stakes[1:])

    @property
    def pot(self) -> int:
        """Money in the pot now; 0 once the hand is over."""
        return self._state.pot

    @property
    def moves(self) -> tuple[Move, ...]:
        """Every money movement since the start, the carry included."""
        return tuple(starmap(_move, self._state.moves))

    @property
    def moved(self) -> int:
        """How many movements there have been so far."""
        return len(self._state.moves)

    def legal(self) -> tuple[Legal, ...]:
        """Every kind of action that :meth:`apply` would accept now."""
        return tuple(self._state.legal())

    def legal_for(self, viewer: Viewer) -> tuple[Legal, ...]:
        """:meth:`legal` as far as ``viewer`` may know it."""
        return tuple(self._state.legal_for(viewer))

    def apply(self, line: str | Action) -> tuple[Event, ...]:
        """Apply one action and tell what happened; raises an ``EngineError`` and changes nothing if it is
        wrong."""
        action = parse_action(line if isinstance(line, str) else line.text)
        if not isinstance(line, str) and action != line:
            raise MalformedAction(f"the action does not say what its text {action.text!r} says")
        state = self._state
        before = len(state.moves)
        first_deal = action.verb == "dh" and not any(state.cards)
        state.run((action.text,))
        return self._tell(action, before, first_deal)

    def advance(self, line: str) -> None:
        """Apply one action without telling what happened: what replay needs."""
        self._state.run((line,))

    def advance_all(self, lines: Iterable[str], ends: list[int] | None = None) -> None:
        """Apply one line after another without telling what happened; the first wrong one raises, and ``len(log)``
        is its place. ``ends`` gets :attr:`moved` as it is after each line."""
        self._state.run(lines, ends)

    def _tell(self, action: Action, before: int, first_deal: bool) -> tuple[Event, ...]:
        state = self._state
        events: list[Event] = []
        if first_deal and state.deck is not None and state.BOTTOM_IS_PUBLIC:
            events.append(BottomCard(state.deck[-1]))
        events.append(_event_of(action))
        if action.verb == "dh" and state.is_open_deal():
            events.append(TurnedUp(action.target, action.cards))
        if action.verb == "up" and state.phase != "up":  # all have chosen, so all cards are turned at once
            events.extend(TurnedUp(seat, state.up[seat]) for seat in state.active)
        events.extend(Move(*move) for move in state.moves[before:])
        if state.result is not None:
            events.append(HandEnded(state.result.ending, state.result.winner))
        return tuple(events)

    def forced(self) -> str | None:
        """With a known deck, the next line that leaves nobody a choice: a deal, or cards shown. Else None.

        The compulsory vizi is not among them: it is money out of a seat's stack, so its console says so.
        """
        state = self._state
        if state.deck is None:
            return None
        if state.turn == DEALER:
            cards = state.next_cards()
            return None if cards is None else deal_line(state.deals[-1][0], cards)
        if state.phase == "showdown":
            return show_line(state.turn, state.cards[state.turn])
        return None

    @property
    def wants(self) -> tuple[str, ...] | None:
        """With a known deck, the cards that must be shuffled anew before the next deal; else None."""
        return self._state.wants()

    @property
    def spare(self) -> int:
        """How many packs of the set-up's redeals were not dealt from."""
        return self._state.spare()

    def supply(self, deck: tuple[str, ...]) -> None:
        """Give the hand the cards that it wants, in dealing order; raises :class:`CardNotInPack` for others."""
        self._state.supply(deck)
        self._setup = self._setup._replace(redeals=(*self._setup.redeals, deck))

    def cards_of(self, seat: int) -> tuple[str, ...]:
        """All cards dealt to ``seat`` so far, in dealing order: for whoever may know them."""
        return self._state.cards[seat]

    def view(self, viewer: Viewer) -> dict[str, object]:
        """JSON-able state as ``viewer`` (seat number, ``"public"`` or ``"auditor"``) may know it."""
        return view_of(self._setup, self._rules, self._state, viewer)

    def places(self, viewer: Viewer) -> tuple[tuple[int, int], ...]:
        """With a known deck, where in the packs the cards lay that ``viewer`` may know."""
        return places_of(self._setup, self._state, viewer)

    def digest(self) -> str:
        """SHA-256, in hex, of the canonical state: set-up (non-default options), log and result."""
        return sha256_of_text(self.canonical_state())

    def canonical_state(self) -> str:
        """The canonical JSON that :meth:`digest` hashes.

        Put together by hand, since a digest is taken of every hand and writing JSON was the larger part of it: no
        line, card or name of an ending needs escaping, and the keys stand in their order.
        """
        setup, log = self._setup, self._state.log
        acts = '["' + '","'.join(log) + '"]' if log else "[]"
        deck = f'"{"".join(setup.deck)}"' if setup.deck is not None else "null"
        redeals = f',"redeals":{canonical_json(list(map("".join, setup.redeals)))}' if setup.redeals else ""
        counted = {name: number for name, number in setup.series.items() if number}  # none is the same as nothing
        series = f',"series":{canonical_json(counted)}' if counted else ""
        return (
            f'{{"acts":{acts},"carry":{setup.carry},"deck":{deck},"opt":{self._rules.canonical}{redeals}'
            f',"result":{self._canonical_result()},"rules":"{self._rules.RULES_ID}"{series}'
            f',"stacks":{canonical_numbers(setup.stacks)},"v":"state/1"}}'
        )

    def _canonical_result(self) -> str:
        result = self._state.result
        if result is None:
            return "null"
        net, bonus = canonical_numbers(result.net), canonical_numbers(result.bonus)
        return f'[{net},{result.tax},{bonus},{result.carry_out},"{result.ending}",{result.winner}]'


def _event_of(action: Action) -> Event:
    """What the action itself was, without any card that is not face up."""
    if action.verb == "dh":
        return Dealt(action.target, len(action.cards))
    if action.verb == "lk":
        return Looked(action.actor, action.amount)
    if action.verb in ("sm", "cu"):
        return Shown(action.actor, action.cards)
    return Spoke(action.actor, action.verb)
