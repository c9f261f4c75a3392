"""The interface to one hand in play, for the house, bots and tests. The state is hidden inside.

A refused line raises an ``EngineError`` and changes nothing at all. Hands copy in microseconds (:meth:`Hand.copy`,
``pickle``), are equal when they were set up and played alike, and print themselves as a table a person reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import starmap
from typing import Any

from engine.errors import MalformedAction
from engine.kernel.canonical import canonical_json, canonical_numbers, sha256_of_text
from engine.kernel.cards import require_full_deck
from engine.kernel.events import Event, HandEnded
from engine.kernel.grammar import DEALER, HOUSE, Action, Grammar, actor_name
from engine.kernel.legal import Legal, NotOffered
from engine.kernel.purse import Move, move_of, place_name
from engine.kernel.rules import Rules, parse_rules
from engine.kernel.setup import Result, Setup, Viewer
from engine.kernel.view import masked_log, places_of, require_viewer, view_of
from engine.kernel.zones import CardState, Chance


class Hand:
    """One hand of any game."""

    __slots__ = ("_rules", "_setup", "_state")

    def __init__(self, setup: Setup, rules: Rules, state: CardState) -> None:
        if setup.deck is not None:
            require_full_deck(setup.deck, state.pack)
        self._setup = setup
        self._rules = rules
        self._state = state

    # -- what it is --------------------------------------------------------------------------------------------------

    @property
    def setup(self) -> Setup:
        """The set-up that the hand was started with."""
        return self._setup

    @property
    def rules(self) -> Rules:
        """The options that it is played by."""
        return self._rules

    @property
    def grammar(self) -> Grammar:
        """The verbs of its log."""
        return self._state.GRAMMAR

    @property
    def actor(self) -> str | None:
        """Who acts next: ``"d"``, ``"p1"`` ..., or None when the hand is over."""
        actors = self._state.actors()
        return actor_name(actors[0]) if actors else None

    @property
    def actors(self) -> tuple[str, ...]:
        """All who may act next, the one on turn first. There are several if the rules let several act at once, or if
        unknown cards leave it open whose turn it is."""
        return tuple(map(actor_name, self._state.actors()))

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
    def phases(self) -> dict[str, tuple[str, ...]]:
        """The phases that may come under the options of this hand, in the order of play, with their verbs."""
        unused = self._state.unused()
        every = self._state.HANDLERS.items()
        return {name: tuple(verbs) for name, verbs in every if verbs and name not in unused}

    @property
    def log(self) -> tuple[str, ...]:
        """The accepted lines in canonical spelling."""
        return tuple(self._state.log)

    @property
    def pending(self) -> str | None:
        """The verb of the automatic act that must follow now, after the clock has run out for a seat."""
        return self._state.pending[0] if self._state.pending else None

    # -- money -------------------------------------------------------------------------------------------------------

    @property
    def opening_events(self) -> tuple[Event, ...]:
        """Money carried in, as the only event of the start."""
        return (Move(*self._state.moves[0]),) if self._state.carry else ()

    @property
    def stacks(self) -> tuple[int, ...]:
        """Money in front of each seat now, p1 first, in minor units."""
        return tuple(self._state.stacks[1:])

    @property
    def stakes(self) -> tuple[int, ...]:
        """Money each seat has put into the pot by its own actions, p1 first, in minor units."""
        return self._state.staked()

    @property
    def pot(self) -> int:
        """Money in the pot, or kitty, now; 0 once the hand is over."""
        return self._state.pot

    @property
    def bank(self) -> int:
        """Money in the bank of the seats now; it stays there when the hand is over."""
        return self._state.bank

    @property
    def moves(self) -> tuple[Move, ...]:
        """Every money movement since the start, including the carryover; the postings of a hand add up to this."""
        return tuple(starmap(move_of, self._state.moves))

    @property
    def moved(self) -> int:
        """How many :attr:`moves` there have been so far, without building them."""
        return len(self._state.moves)

    # -- what may be done, and doing it ------------------------------------------------------------------------------

    def legal(self) -> tuple[Legal, ...]:
        """Every kind of action that :meth:`apply` would accept now, ``au`` of the seat whose turn it is apart."""
        return tuple(self._state.legal())

    def legal_for(self, viewer: Viewer) -> tuple[Legal, ...]:
        """:meth:`legal` as far as ``viewer`` may know it: what hidden cards compel stands open to others."""
        return tuple(self._state.legal_for(viewer))

    def not_offered(self, viewer: Viewer) -> tuple[NotOffered, ...]:
        """The verbs that are not among :meth:`legal_for`, ``au`` apart: why not. Verbs whose phases never come under
        the options of this hand are left out."""
        offered = {(one.actor == actor_name(DEALER), one.verb) for one in self.legal_for(viewer)}
        possible, found = self.phases.items(), []
        for verb in self.grammar.verbs[:-1]:
            phases = tuple(name for name, verbs in possible if verb.name in verbs)
            if phases and (verb.by == HOUSE, verb.name) not in offered:
                found.append(NotOffered(verb.by, verb.name, phases, self.phase in phases))
        return tuple(found)

    def apply(self, line: str | Action) -> tuple[Event, ...]:
        """Apply one action; returns what happened. Raises an ``EngineError`` and changes nothing if it is wrong."""
        state = self._state
        action = state.GRAMMAR.parse(line if isinstance(line, str) else line.text)
        if not isinstance(line, str) and action != line:
            raise MalformedAction(f"the action does not say what its text {action.text!r} says")
        before = len(state.moves)
        state.run((action.text,))
        events = [*state.events(action), *starmap(move_of, state.moves[before:])]
        if state.result is not None:
            events.append(HandEnded(state.result.ending, state.result.winner))
        return tuple(events)

    def advance(self, line: str) -> None:
        """Apply one action without saying what happened: what replay needs."""
        self._state.run((line,))

    def advance_all(self, lines: Iterable[str], ends: list[int] | None = None) -> None:
        """Apply one line after another; the first wrong one raises, and ``len(log)`` is its place. ``ends`` gets
        :attr:`moved` as it is after each line."""
        self._state.run(lines, ends)

    def automatic(self) -> str | None:
        """The line of the automatic act of the seat whose turn it is; None for the house's turn, after the end, where
        the rules know no such act, and where it would name cards that nobody knows."""
        state = self._state
        return state.automatic()[1] if state.turn > 0 and state.phase not in state.UNTIMED else None

    @property
    def timed(self) -> bool:
        """Whether a seat is to act for which the rules know an automatic act."""
        return self._state.turn > 0 and self._state.phase not in self._state.UNTIMED

    def late(self) -> tuple[str, ...]:
        """The lines that are written when the time to act is over; none where no clock runs."""
        return self._state.late()

    def forced(self) -> str | None:
        """With a known deck, the next line without a choice: a deal, or cards shown. Without a known deck, a line of
        the house that names no card. Otherwise None.

        Compulsory money is not included: it comes out of a seat's stack, so the console enters it.
        """
        return self._state.forced()

    def chance(self) -> Chance | None:
        """If the house deals from an unknown pack: every possible deal, all equally likely."""
        return self._state.chance()

    # -- redeals -----------------------------------------------------------------------------------------------------

    @property
    def wants(self) -> tuple[str, ...] | None:
        """With a known deck, the cards that must be shuffled again before the next deal; else None."""
        return self._state.wants()

    @property
    def spare(self) -> int:
        """How many packs of the set-up's redeals were not dealt from."""
        return self._state.spare()

    @property
    def shuffles(self) -> int:
        """How many times cards have been shuffled again so far: packs of redeals, or hands."""
        return len(self._setup.redeals) + self._state.shuffled()

    def supply(self, deck: tuple[str, ...]) -> None:
        """Give the hand the cards that it wants, in their new order. A pack becomes part of its set-up; the new order
        of a seat's hand is known only from the next line of the log, which then has to be that one. Raises
        :class:`CardNotInPack` for other cards."""
        self._state.supply(deck)
        if not self._state.SHUFFLES_HANDS:
            self._setup = self._setup._replace(redeals=(*self._setup.redeals, deck))

    # -- what is known -----------------------------------------------------------------------------------------------

    def cards_of(self, seat: int) -> tuple[str, ...]:
        """All cards dealt to ``seat`` so far, in dealing order: for those who may know them."""
        return self._state.dealt_to(seat)

    def held(self, seat: int) -> tuple[str, ...]:
        """The cards that ``seat`` holds now, in dealing order: for those who may know them."""
        return self._state.cards[seat]

    def view(self, viewer: Viewer) -> dict[str, object]:
        """JSON-able state as ``viewer`` (seat number, ``"public"`` or ``"auditor"``) may know it."""
        return view_of(self._setup, self._rules, self._state, viewer)

    def places(self, viewer: Viewer) -> tuple[tuple[int, int], ...]:
        """With a known deck, where the cards lay that ``viewer`` may know: (pack, place), both from 0; pack 0 is the
        deck, pack n the n-th redeal."""
        return places_of(self._setup, self._state, viewer)

    def learned(self, seat: int) -> dict[str, object]:
        """What only ``seat`` knows besides its cards, as JSON values by name: a partner's hand that was passed across,
        or a card of the pack at which it has looked. Empty if there is none."""
        require_viewer(seat, self._state.seats)
        return self._state.learned(seat)

    def information(self, seat: int) -> str:
        """Everything that ``seat`` has learned so far, as one text: two hands that it cannot distinguish give equal
        texts. Set-up without cards, the log as the seat saw it, what it was shown beside that, and whose turn it is:
        cards that nobody sees can pass a seat over."""
        require_viewer(seat, self._state.seats)
        setup = self._setup
        known = {
            "game": setup.game,
            "rules": self._rules.RULES_ID,
            "opt": self._rules.non_default,
            "seat": seat,
            "ids": setup.names,
            "stacks": setup.stacks,
            "carry": setup.carry,
            "series": dict(setup.series),
            "acts": masked_log(self._state, seat),
            "actors": self.actors,
            "phase": self.phase,
        }
        return canonical_json(known | self._state.learned(seat))

    def tricks(self, seat: int) -> int:
        """How many tricks the seat has taken so far; 0 in a game without tricks, and where they are a side's."""
        return self._state.tricks_of(seat)

    def position(self) -> tuple[Any, ...]:
        """Everything that the further course and the result of the hand depend on, without its history. Two hands of
        one set-up with equal positions have the same future."""
        return self._state.position()

    def play_position(self) -> tuple[Any, ...]:
        """What decides how the play of known cards can go on within one hand: phase, turn, the cards in every hand and
        those on the table. What was taken before is no part of it."""
        return self._state.play_position()

    # -- digest ------------------------------------------------------------------------------------------------------

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
        series = self._canonical_series() if setup.series or self._state.BY_PERSON else ""
        ids = f'"ids":{canonical_json(setup.names)},' if self._state.BY_PERSON else ""
        redeals = f',"redeals":{canonical_json(list(map("".join, setup.redeals)))}' if setup.redeals else ""
        return (
            f'{{"acts":{acts},"carry":{setup.carry},"deck":{deck},{ids}"opt":{self._rules.canonical}{redeals}'
            f',"result":{self._canonical_result()},"rules":"{self._rules.RULES_ID}"{series}'
            f',"stacks":{canonical_numbers(setup.stacks)},"v":"state/1"}}'
        )

    def _canonical_result(self) -> str:
        result = self._state.result
        if result is None:
            return "null"
        net, tax, bonus, carry_out, ending, winner, _ = result
        return f'[{[*net]},{tax},{[*bonus]},{carry_out},"{ending}",{winner}]'.replace(" ", "")

    def _canonical_series(self) -> str:
        """The series carried in, numbers that are nothing left out; and the one carried out where it goes by person."""
        counted = {name: value for name, value in self._setup.series.items() if value}
        series = f',"series":{canonical_json(counted)}' if counted else ""
        if self._state.BY_PERSON and self._state.result is not None:
            series += f',"series_out":{canonical_json(dict(self._state.result.series))}'
        return series

    # -- copies, equality, text --------------------------------------------------------------------------------------

    def copy(self) -> Hand:
        """An independent copy at the same point."""
        twin = object.__new__(Hand)
        twin._setup, twin._rules, twin._state = self._setup, self._rules, self._state.copy()
        return twin

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> Hand:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        setup = self._setup._replace(opt=dict(self._setup.opt), series=dict(self._setup.series))
        return _restored, (setup, type(self._rules), type(self._state), self._state.values())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hand):
            return NotImplemented
        mine, theirs = self._setup, other._setup
        return self._state.log == other._state.log and (
            mine == theirs or (dict(mine.opt), mine._replace(opt={})) == (dict(theirs.opt), theirs._replace(opt={}))
        )

    __hash__ = None  # type: ignore[assignment]  # a hand changes

    def __repr__(self) -> str:
        return f"<Hand of {self._setup.game}, {self._setup.seats} seats, {len(self._state.log)} lines, {self.phase}>"

    def __str__(self) -> str:
        """The whole table as its auditor sees it, for people."""
        return table_text(self)


def _restored(setup: Setup, options: type[Rules], kind: type[CardState], values: tuple[Any, ...]) -> Hand:
    """A hand out of a pickle."""
    hand = object.__new__(Hand)
    hand._setup, hand._rules, hand._state = setup, parse_rules(options, setup), object.__new__(kind)
    hand._state.restore(values, hand._rules)
    return hand


def table_text(hand: Hand, viewer: Viewer = "auditor") -> str:
    """The table as readable text: game, phase, a row for each seat, open cards, the last lines."""
    view: Mapping[str, Any] = hand.view(viewer)
    lines = [f"{view['game']}, {view['phase']}" + (f", {view['actor']} to act" if view["actor"] else "")]
    if view["pot"] or view["carry"]:
        lines[0] += f", pot {view['pot']}"
    for seat in view["seats"]:
        marks = [str(seat[name]) for name in ("state",) if seat.get(name) not in (None, "active")]
        lines.append(
            f"{place_name(seat['seat']):>4} {seat['stack']:>9}  {' '.join(seat['cards'])}  {' '.join(marks)}".rstrip()
        )
    for name in ("table", "trick", "layout"):
        if view.get(name):
            lines.append(f"{name}: {view[name]}")
    if view["log"]:
        lines.append("... " + " | ".join(view["log"][-4:]))
    if view["result"]:
        lines.append(f"{view['result']['ending']}: net {' '.join(f'{net:+d}' for net in view['result']['net'])}")
    return "\n".join(lines)
