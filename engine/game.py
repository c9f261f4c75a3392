"""The protocol that every game implements, the registry of games, and :func:`start`.

>>> hand = start(Setup(game="ferbli", opt={"vizi": 100}, seats=2, stacks=(5000, 5000), carry=0, dealer=2))
>>> hand.actor, [offer.verb for offer in hand.legal()]
('p1', ['po'])
>>> for line in ("p1 po 100", "d dh p1 Kl8b", "d dh p2 Ah7l"):
...     events = hand.apply(line)
>>> [(offer.verb, offer.min, offer.max) for offer in hand.legal()]
[('cc', 100, 100), ('f', None, None)]
>>> hand.apply("p2 f")[1:]  # doctest: +NORMALIZE_WHITESPACE
(Move(kind=<MoveKind.PENALTY: 'penalty'>, seat=2, amount=100),
 Move(kind=<MoveKind.CARRY_OUT: 'carry_out'>, seat=0, amount=200),
 HandEnded(ending='cukassza', winner=0))
>>> hand.over, hand.result.net, hand.result.carry_out
(True, (-100, -100), 200)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import NamedTuple, Protocol

from engine.actions import Action
from engine.cards import Pack
from engine.errors import MalformedSetup, OptionOutOfRange, UnknownGame, UnknownRules
from engine.events import Event, Move
from engine.rules import MAX_MONEY, Rules

AUDITOR = "auditor"
PUBLIC = "public"

Viewer = int | str
"""A seat number, ``"public"`` or ``"auditor"``."""


NOTHING: Mapping[str, int] = MappingProxyType({})
"""Nothing but money is carried from deal to deal."""


class Setup(NamedTuple):
    """Everything a hand needs besides its log; a named tuple, because one is made for every hand.

    ``opt``: the table's options by name; ``stacks`` and ``carry`` (money carried in, such as a cukassza):
    minor units, stacks in play order, p1 first; ``dealer``: the dealer's number; ``deck``: all cards of the
    pack in dealing order, top first, or None when cards become known only as they fall (physical mode).
    ``redeals``: with a known deck, the packs shuffled anew in the course of the hand, as far as they are known;
    ``series``: what else the game carries from deal to deal, by name (:attr:`Result.series` of the hand before).
    ``rules``: id of the version of the rules it is played by; None: those of today.
    """

    game: str
    opt: Mapping[str, object]
    seats: int
    stacks: tuple[int, ...]
    carry: int = 0
    dealer: int = 0
    deck: tuple[str, ...] | None = None
    redeals: tuple[tuple[str, ...], ...] = ()
    series: Mapping[str, int] = NOTHING
    rules: str | None = None


@dataclass(frozen=True, slots=True)
class Legal:
    """One kind of action that would be accepted now.

    ``min``, ``max``, ``step``: range of the amount in minor units, None where the verb has no amount; every
    amount from min to max that is a multiple of step will do. ``target``: the seat it is aimed at; ``count``:
    how many cards, at most where ``lk`` has a choice of fewer: then the range is that of the number of cards, and fewer
    than all are those dealt last; ``places``: which pairs of its cards it may turn up, in the order of dealing from 0,
    None if any.
    """

    actor: str
    verb: str
    min: int | None = None
    max: int | None = None
    step: int | None = None
    target: int | None = None
    count: int | None = None
    places: tuple[tuple[int, int], ...] | None = None

    def as_dict(self) -> dict[str, object]:
        """JSON-able form, without the fields that do not apply."""
        fields: dict[str, object] = {"actor": self.actor, "verb": self.verb}
        for name in ("min", "max", "step", "target", "count", "places"):
            if getattr(self, name) is not None:
                fields[name] = getattr(self, name)
        return fields


class Result(NamedTuple):
    """What a finished hand comes to, in minor units: ``net`` and ``bonus`` per seat (``bonus`` is contained
    in ``net``), house ``tax``, money carried out, how it ended and who won (0: nobody); ``series``: what the
    table's next hand must be told (:attr:`Setup.series`)."""

    net: tuple[int, ...]
    tax: int
    bonus: tuple[int, ...]
    carry_out: int
    ending: str
    winner: int
    series: Mapping[str, int] = NOTHING

    def as_dict(self) -> dict[str, object]:
        """JSON-able form of what the hand came to; the series is the table's business, not the hand's."""
        return {
            "net": list(self.net),
            "tax": self.tax,
            "bonus": list(self.bonus),
            "carry_out": self.carry_out,
            "ending": self.ending,
            "winner": self.winner,
        }


class Hand(Protocol):
    """One hand in play. A refused action raises an ``EngineError`` and changes nothing at all."""

    @property
    def setup(self) -> Setup:
        """The set-up that the hand was started with."""

    @property
    def actor(self) -> str | None:
        """Who acts next: ``"d"``, ``"p1"`` ..., or None when the hand is over."""

    @property
    def over(self) -> bool:
        """Whether the hand has ended."""

    @property
    def result(self) -> Result | None:
        """The result, once the hand is over."""

    @property
    def log(self) -> tuple[str, ...]:
        """The accepted lines in canonical spelling."""

    @property
    def opening_events(self) -> tuple[Event, ...]:
        """Events of the start itself, such as money carried in."""

    @property
    def stacks(self) -> tuple[int, ...]:
        """Money in front of each seat now."""

    @property
    def stakes(self) -> tuple[int, ...]:
        """Money each seat has put into the pot so far."""

    @property
    def pot(self) -> int:
        """Money in the pot now."""

    @property
    def moves(self) -> tuple[Move, ...]:
        """Every money movement since the start, the carry included: what the postings of a hand add up to."""

    @property
    def moved(self) -> int:
        """How many :attr:`moves` there have been so far, without building them."""

    def legal(self) -> tuple[Legal, ...]:
        """Every kind of action that :meth:`apply` would accept now."""

    def legal_for(self, viewer: Viewer) -> tuple[Legal, ...]:
        """:meth:`legal` as far as ``viewer`` may know it: what hidden cards compel stands open to others."""

    def apply(self, line: str | Action) -> tuple[Event, ...]:
        """Apply one action; returns what happened."""

    def advance(self, line: str) -> None:
        """Apply one action without telling what happened (replay)."""

    def advance_all(self, lines: Iterable[str], ends: list[int] | None = None) -> None:
        """Apply one line after another; the first wrong one raises, and ``len(log)`` is its place. ``ends`` gets
        :attr:`moved` as it is after each line."""

    def forced(self) -> str | None:
        """With a known deck, the next line that leaves nobody a choice (deal, show); else None."""

    @property
    def wants(self) -> tuple[str, ...] | None:
        """With a known deck, the cards that must be shuffled anew before the next deal; else None."""

    @property
    def spare(self) -> int:
        """How many packs of the set-up's redeals were not dealt from."""

    def supply(self, deck: tuple[str, ...]) -> None:
        """Give the hand the cards that it wants, in dealing order; they become part of its set-up."""

    def cards_of(self, seat: int) -> tuple[str, ...]:
        """All cards dealt to ``seat`` so far, in dealing order: for whoever may know them."""

    def view(self, viewer: Viewer) -> dict[str, object]:
        """JSON-able state as ``viewer`` may know it."""

    def places(self, viewer: Viewer) -> tuple[tuple[int, int], ...]:
        """With a known deck, where the cards lay that ``viewer`` may know: (pack, place), both from 0; pack 0 is the
        deck, pack n the n-th redeal."""

    def digest(self) -> str:
        """SHA-256, in hex, of the canonical state: set-up, log and result."""


def _as_they_stand(opt: Mapping[str, object], seats: int, announced: bool) -> dict[str, object]:
    """A table's options that mean the same for any number of seats, and leave nothing to be announced."""
    if announced:
        raise OptionOutOfRange("this game leaves nothing for the dealer to announce", announced=False)
    return dict(opt)


@dataclass(frozen=True, slots=True)
class Game:
    """A game of the registry. ``verbs`` maps its vocabulary to a sentence each; ``example`` holds options of a
    small table, for random play; ``packs`` are those a table may choose by name, ``pack`` the usual one;
    ``resolve`` turns a table's options into those of a hand for so many seats, where a table may name by a word
    what depends on their number, or on what the dealer announces before the deal."""

    name: str
    rules_id: str
    rules: type[Rules]
    pack: Pack
    min_seats: int
    max_seats: int
    begin: Callable[[Setup], Hand]
    verbs: Mapping[str, str] = field(default_factory=dict)
    example: Mapping[str, object] = field(default_factory=dict)
    packs: Mapping[str, Pack] = field(default_factory=dict)
    resolve: Callable[[Mapping[str, object], int, bool], dict[str, object]] = _as_they_stand

    def pack_for(self, opt: Mapping[str, object]) -> Pack:
        """The pack that a table with these options plays with (its option ``pack``, where the game has a
        choice)."""
        named = opt.get("pack")
        return self.packs.get(named, self.pack) if isinstance(named, str) else self.pack


# Modules are imported on demand: each one imports this module for the types above.
_MODULES = {"ferbli": "engine.vying.ferbli", "faerbeln": "engine.vying.faerbeln"}

EARLIER: dict[str, str] = {}
"""Rules that no table is dealt by any more: their id -> the module whose ``GAME`` still plays them.

Rules never change under their id. What changes them gets the next id and leaves the module of the old ones here, so
that every hand replays under the rules of its day.
"""


def game_names() -> tuple[str, ...]:
    """Names of the games that :func:`start` knows."""
    return tuple(_MODULES)


@cache
def game_info(name: str) -> Game:
    """The registry's entry; :class:`UnknownGame` if there is none."""
    if name not in _MODULES:
        raise UnknownGame(f"there is no game {name!r}", games=list(_MODULES))
    game: Game = import_module(_MODULES[name]).GAME
    return game


@cache
def rules_version(rules_id: str) -> Game:
    """The game that is played by this version of its rules, today's or an earlier one; raises
    :class:`UnknownRules`."""
    today = {game_info(name).rules_id: name for name in _MODULES}
    if rules_id in today:
        return game_info(today[rules_id])
    if rules_id not in EARLIER:
        raise UnknownRules(f"there are no rules {rules_id!r}", rules=[*today, *EARLIER])
    game: Game = import_module(EARLIER[rules_id]).GAME
    return game


def played_by(name: str, rules_id: str | None) -> Game:
    """The game of this name by this version of its rules, None for today's; raises :class:`UnknownGame`, and
    :class:`UnknownRules` for those of another game too."""
    today = game_info(name)
    if rules_id is None or rules_id == today.rules_id:
        return today
    found = rules_version(rules_id)
    if found.name != name:
        raise UnknownRules(f"{name} is played by {today.rules_id}, not {rules_id}", rules=today.rules_id)
    return found


def start(setup: Setup) -> Hand:
    """Start a hand; raises a subclass of ``SetupError`` or ``CardError`` if it cannot be played."""
    game = played_by(setup.game, setup.rules)
    _validate(setup, game)
    return game.begin(setup)


Shuffle = Callable[[tuple[str, ...], int], tuple[str, ...]]
"""Shuffles the given cards for the redeal of the given number (1, 2, ...)."""


def resume(setup: Setup, log: Sequence[str], shuffle: Shuffle | None = None) -> Hand:
    """The hand as it stood after ``log``; a wrong line raises as :meth:`Hand.apply` does.

    ``shuffle`` supplies the packs that the hand wants beyond those of the set-up; the same cards and number must
    always give the same pack.
    """
    hand = start(setup)
    if shuffle is None:
        hand.advance_all(log)
        return hand
    for line in log:
        hand.advance(line)
        supply(hand, shuffle)
    return hand


def supply(hand: Hand, shuffle: Shuffle) -> None:
    """Give the hand the pack that it wants, if it wants one."""
    wanted = hand.wants
    if wanted is not None:
        hand.supply(shuffle(wanted, len(hand.setup.redeals) + 1))


def resolve(game: str, opt: Mapping[str, object], seats: int, *, announced: bool = False) -> dict[str, object]:
    """The options of a table as those of a hand for ``seats`` seats: what the hand's record holds.

    ``announced``: the dealer has announced what the table leaves to him; where it leaves nothing to him this raises
    ``OptionOutOfRange``.
    """
    return game_info(game).resolve(opt, seats, announced)


def require_seats(game: Game, seats: int) -> None:
    """Raise ``MalformedSetup`` unless so many seats can play ``game``."""
    if not game.min_seats <= seats <= game.max_seats:
        raise MalformedSetup(
            f"{game.name} is for {game.min_seats} to {game.max_seats} seats",
            min=game.min_seats,
            max=game.max_seats,
        )


def _validate(setup: Setup, game: Game) -> None:
    """Types and sizes of the set-up; what the stacks must cover is each game's own business."""
    numbers = (setup.seats, setup.carry, setup.dealer, *setup.stacks)
    if not {int}.issuperset(map(type, numbers)) or min(numbers) < 0 or max(numbers) > MAX_MONEY:
        raise MalformedSetup("seats, stacks, carry and dealer must be whole numbers from 0", min=0, max=MAX_MONEY)
    require_seats(game, setup.seats)
    if len(setup.stacks) != setup.seats:
        raise MalformedSetup(f"{len(setup.stacks)} stacks for {setup.seats} seats", stacks=setup.seats)
    if setup.dealer != setup.seats:
        # Seats are numbered in play order from the dealer's neighbour, so the dealer is always the last.
        raise MalformedSetup("the dealer is the last seat in play order", dealer=setup.seats)
