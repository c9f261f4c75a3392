"""A game as one declaration: its options, grammar, seats, pack, and what a table of it means to the house."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.errors import MalformedSetup, OptionOutOfRange, StackTooShort
from engine.kernel.cards import Pack
from engine.kernel.grammar import Grammar
from engine.kernel.hand import Hand
from engine.kernel.rules import MAX_MONEY, Rules, describe, parse_rules
from engine.kernel.setup import NOTHING, Setup
from engine.kernel.terms import Term
from engine.kernel.zones import CardState


def _none(rules: Any, seats: int) -> tuple[int, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Policy:
    """How the house treats tables of the game. Amounts in minor units.

    ``must_set``: options without a silent default at a house table, although the engine can do without some of them.
    ``zones``: the places besides seats and house where money lies (``pot``, ``carry``, ``bank``, ``kitty``), none in a
    game that settles between seats. ``charge``: ``tax`` on a pot, or ``seat``: there is no pot to tax, so the house
    charges for the seat. ``announcements``: what a dealer may announce before a deal, with its meaning.
    ``least_players``: the fewest seats that a table with these options deals to. ``worst_loss``: the most a seat can
    lose in a hand, None where only its stack bounds it. ``bonuses``: payments that the house may owe for one hand.
    ``tax_on``: the tax on a pot that is won; ``most_tax``: its largest amount, None where nothing caps it.
    ``not_at_tables``: values of options that a table of a house cannot have.
    """

    must_set: tuple[str, ...] = ()
    zones: frozenset[str] = frozenset()
    charge: str = "seat"
    announcements: Mapping[str, str] = field(default_factory=dict)
    least_players: Callable[[Mapping[str, Any]], int] = lambda options: 0
    worst_loss: Callable[[Any, int], int | None] = lambda rules, seats: None
    bonuses: Callable[[Any, int], tuple[int, ...]] = _none
    tax_on: Callable[[Any, int], int] = lambda rules, pot: 0
    most_tax: Callable[[Any], int | None] = lambda rules: 0
    not_at_tables: Mapping[str, tuple[object, ...]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """The data as JSON values."""
        return {
            "must_set": list(self.must_set),
            "zones": sorted(self.zones),
            "charge": self.charge,
            "announcements": dict(self.announcements),
            "not_at_tables": {name: list(values) for name, values in self.not_at_tables.items()},
        }


def as_they_stand(opt: Mapping[str, object], seats: int, announced: tuple[str, ...]) -> dict[str, object]:
    """A table's options, if they mean the same for any number of seats and leave nothing to announce."""
    if announced:
        raise OptionOutOfRange("this game leaves nothing for the dealer to announce", announced=[])
    return dict(opt)


@dataclass(frozen=True, slots=True)
class Game:
    """A game of the registry.

    ``name`` and ``title`` (for people); ``rules``: its options, which know the id of this version; ``state``: the state
    of a hand, which knows the phases; ``begin``: that of a hand at its first line, raises a ``SetupError`` if it cannot
    be played. ``example`` holds options of a small table, for random play; ``packs`` are those a table may choose by
    name, ``pack`` the usual one. ``resolve`` turns a table's options into those of a hand for so many seats, where a
    table may name by a word what depends on their number, or on what the dealer announces. ``next_seats``: who sits on
    the seats in the next deal, by their places now (from 0) and what this deal left; ``new_series``: the series of a
    session's first deal, by ids and options; ``continues``: whether people who sit down to a deal go on with what the
    deal before it left, by that, their ids and the options; ``holds``: whether a series is of so much money carried,
    where it says of money where it lies: after a ruling it is not, and the table starts over; ``under_way``: whether a
    series is in the middle of a session that is played for as a whole; ``broken_off``: what everybody, by id, is to be
    paid if it ends here, in minor units, nothing where every deal settles itself.
    ``terms``: the game's own words, for the glossary. ``weights``: how often random play picks a verb against the
    others on offer. ``prepare``: build what a hand would otherwise build at its first use, such as tables of ranks.
    """

    name: str
    title: str
    rules: type[Rules]
    grammar: Grammar
    pack: Pack
    min_seats: int
    max_seats: int
    state: type[CardState]
    begin: Callable[[Setup, Any], CardState]
    policy: Policy
    example: Mapping[str, object] = field(default_factory=dict)
    packs: Mapping[str, Pack] = field(default_factory=dict)
    resolve: Callable[[Mapping[str, object], int, tuple[str, ...]], dict[str, object]] = as_they_stand
    next_seats: Callable[[int, Mapping[str, Any], Mapping[str, Any]], tuple[int, ...]] = (
        lambda seats, series, series_out: (*range(1, seats), 0)
    )
    new_series: Callable[[tuple[str, ...], Any], Mapping[str, object]] = lambda ids, rules: NOTHING
    continues: Callable[[Mapping[str, Any], tuple[str, ...], Any], bool] = lambda series, ids, rules: True
    holds: Callable[[Mapping[str, Any], int], bool] = lambda series, carry: True
    under_way: Callable[[Mapping[str, Any]], bool] = lambda series: False
    broken_off: Callable[[Mapping[str, Any], Any], Mapping[str, int]] = lambda series, rules: {}
    weights: Mapping[str, int] = field(default_factory=dict)
    seats_allowed: tuple[int, ...] = ()
    terms: tuple[Term, ...] = ()
    prepare: Callable[[], None] = lambda: None

    @property
    def rules_id(self) -> str:
        """Id of this version of its rules."""
        return self.rules.RULES_ID

    @property
    def verbs(self) -> dict[str, str]:
        """Its vocabulary: the verbs with their meanings, ``au`` of every game apart."""
        found: dict[str, list[str]] = {}
        for verb in self.grammar.verbs[:-1]:
            found.setdefault(verb.name, []).append(verb.meaning)
        return {name: "; ".join(meanings) for name, meanings in found.items()}

    @property
    def phases(self) -> dict[str, tuple[str, ...]]:
        """Its phases in the order of play, each with the verbs that belong to it."""
        return {name: tuple(verbs) for name, verbs in self.state.HANDLERS.items() if verbs}

    @property
    def seats_text(self) -> str:
        """How many seats may play, for people."""
        return f"{' or '.join(map(str, self.seats_allowed)) or f'{self.min_seats} to {self.max_seats}'} seats"

    def pack_for(self, opt: Mapping[str, object]) -> Pack:
        """The pack that a table with these options plays with (its option ``pack``, where the game has a choice)."""
        named = opt.get("pack")
        return self.packs.get(named, self.pack) if isinstance(named, str) else self.pack

    def as_dict(self) -> dict[str, object]:
        """The whole declaration, JSON-able: what a console, a demo or a reference page needs."""
        return {
            "game": self.name,
            "title": self.title,
            "rules": self.rules_id,
            "seats": {"min": self.min_seats, "max": self.max_seats},
            "packs": sorted({pack.name for pack in self.packs.values()} or {self.pack.name}),
            "cards": {
                pack.name: {"ranks": pack.ranks, "suits": pack.suits} for pack in (*self.packs.values(), self.pack)
            },
            "verbs": [verb.as_dict() for verb in self.grammar],
            "options": [option.as_dict() for option in describe(self.rules)],
            "policy": self.policy.as_dict(),
        }

    def start(self, setup: Setup) -> Hand:
        """A hand at its first line; raises a subclass of ``SetupError`` or ``CardError`` if it cannot be played."""
        validate(setup, self)
        rules = parse_rules(self.rules, setup)
        return Hand(setup, rules, self.begin(setup, rules))


def require_seats(game: Game, seats: int) -> None:
    """Raise ``MalformedSetup`` unless so many seats can play ``game``."""
    if not game.min_seats <= seats <= game.max_seats or (game.seats_allowed and seats not in game.seats_allowed):
        raise MalformedSetup(f"{game.name} is for {game.seats_text}", min=game.min_seats, max=game.max_seats)


_INTEGERS = frozenset({int})
"""The only type of a number; a bool is not among them."""


def validate(setup: Setup, game: Game) -> None:
    """Check types and sizes of the set-up; each game checks what the stacks must cover."""
    _, _, seats, stacks, carry, dealer, _, _, series, _, ids = setup
    numbers = (seats, carry, dealer, *stacks)
    if not _INTEGERS.issuperset(map(type, numbers)) or min(numbers) < 0 or max(numbers) > MAX_MONEY:
        raise MalformedSetup("seats, stacks, carry and dealer must be whole numbers from 0", min=0, max=MAX_MONEY)
    require_seats(game, seats)
    if type(series) is not dict and not isinstance(series, Mapping):
        raise MalformedSetup("a series is an object", series={})
    if len(stacks) != seats:
        raise MalformedSetup(f"{len(stacks)} stacks for {seats} seats", stacks=seats)
    if ids and (len(ids) != seats or len(set(ids)) != seats):
        raise MalformedSetup(f"{seats} seats have as many ids, all different", ids=seats)
    if dealer != seats:
        # Seats are numbered in play order from the dealer's neighbour, so the dealer is always the last.
        raise MalformedSetup("the dealer is the last seat in play order", dealer=seats)


def require_stacks(stacks: tuple[int, ...], least: int) -> None:
    """Raise ``StackTooShort`` for the first seat that could not pay ``least``, the most that it can be forced to pay or
    may lose, in minor units; p1 first."""
    for seat, stack in enumerate(stacks, 1):
        if stack < least:
            raise StackTooShort(f"p{seat} has {stack}, it may have to pay {least}", seat=seat, min=least)


def require_nothing_carried(setup: Setup) -> None:
    """Raise ``MalformedSetup`` for packs to deal again or a series, at a table that has no use for them."""
    require_no_redeals(setup)
    if setup.series:
        raise MalformedSetup("nothing but money is carried from deal to deal in this game", series={})


def require_no_redeals(setup: Setup) -> None:
    """Raise ``MalformedSetup`` for packs to deal again."""
    if setup.redeals:
        raise MalformedSetup("no cards are dealt again in this game", redeals=0)


def require_no_carry(setup: Setup) -> None:
    """Raise ``MalformedSetup`` for money carried in, in a game where every deal settles itself."""
    if setup.carry:
        raise MalformedSetup("every deal of this game settles itself, nothing can be carried in", carry=0)


def require_settles_itself(setup: Setup, least: int) -> None:
    """Requirements of a game in which every deal is settled at its end: no money and no packs are carried in, and
    stacks cover ``least``, the most that a seat may lose, in minor units. Raises ``MalformedSetup`` or
    ``StackTooShort``."""
    require_no_redeals(setup)
    require_no_carry(setup)
    require_stacks(setup.stacks, least)
