"""The state of one hand in play: whose turn it is, which handler answers, and the log.

Only the modules of a game touch it; everybody else holds an :class:`engine.kernel.hand.Hand`. Every handler checks
everything first and changes things after, so a refusal leaves no trace. Lists indexed by seat have an unused place 0,
seats count from 1 in play order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

from engine.errors import HandIsOver, MalformedSetup, NotYourTurn, VerbNotLegal
from engine.kernel.events import Event, Spoke
from engine.kernel.grammar import AUTOMATIC, DEALER, Action, Argument, Grammar, Role, actor_name
from engine.kernel.legal import Domain, Legal, Order, Parts, Pick, Rows, Some
from engine.kernel.purse import Purse
from engine.kernel.setup import AUDITOR, NOTHING, PUBLIC, Result, Setup, Viewer

NOBODY = -1
"""The turn when the hand is over."""

Handler = Callable[[Any, Action], None]
Offer = Callable[[Any], Legal | None]


class State(Purse):
    """Whose turn it is and what may be said; a game adds its phases, cards and payments."""

    GRAMMAR: ClassVar[Grammar]
    HANDLERS: ClassVar[Mapping[str, Mapping[str, Handler]]]
    """phase -> verb -> handler; a verb that the phase does not list is not legal in it."""
    OFFERS: ClassVar[Mapping[str, Offer]]
    """verb -> what may be done with it now, or None; the same for every phase that lists the verb."""
    AUTOMATIC: ClassVar[tuple[str, ...]] = ("ps",)
    """The automatic act is the first legal verb of these, otherwise the first line of the first offer."""
    NOT_AN_ACT: ClassVar[frozenset[str]] = frozenset()
    """Verbs that are the automatic act only if nothing else is legal: looking at cards decides nothing."""
    UNTIMED: ClassVar[frozenset[str]] = frozenset()
    """Phases with a seat to act for which there is no automatic act, and so no ``au``."""
    SEVERAL_ACT: ClassVar[bool] = False
    """Whether the rules let several seats act at once; elsewhere, several actors mean that it is open whose turn it
    is."""
    SHUFFLES_HANDS: ClassVar[bool] = False
    """Whether what is shuffled again is a hand, not a pack: the log alone says in which order, nothing is dealt from
    it, and so it is no part of the set-up."""

    __slots__ = ("log", "pending", "phase", "result", "rules", "turn", "verbs")

    FRESH: ClassVar[frozenset[str]] = Purse.FRESH | {"log"}

    def __init__(self, setup: Setup, rules: Any) -> None:
        # By name: super() costs a tenth of a microsecond a class, and a game's state is ten classes deep.
        Purse.__init__(self, setup)
        self.rules = rules
        self.log: list[str] = []
        self.result: Result | None = None
        self.phase = ""
        self.turn = NOBODY
        self.verbs: Mapping[str, Handler] = {}
        self.pending: tuple[str, str | None] | None = None  # verb and line of the automatic act that must follow

    # -- applying lines ----------------------------------------------------------------------------------------------

    def run(self, lines: Iterable[str], ends: list[int] | None = None) -> None:
        """Apply one line after another; a wrong one raises and changes nothing, and the log says how many were
        right. ``ends`` gets, after each of those, how many moves there have been."""
        accept, moves, parse = self.log.append, self.moves, self.GRAMMAR.parse
        for line in lines:
            turn = self.turn
            if turn != DEALER or not self.deal_from_deck(line):
                action = parse(line)
                handler = self.verbs.get(action.verb)
                if action.actor != turn or handler is None:
                    handler = self.unusual(action)
                handler(self, action)
            accept(line)
            if ends is not None:
                ends.append(len(moves))

    def deal_from_deck(self, line: str) -> bool:
        """Deal if ``line`` is what must come next from a known deck; a game with cards does."""
        return False

    def unusual(self, action: Action) -> Handler:
        """The handler of a line that is not simply a verb of the phase by the actor whose turn it is: the automatic
        act, and what else may be said out of turn. Raises an ``ActionError`` for anything else."""
        if self.pending is not None:
            verb, line = self.pending
            if action.actor != self.turn or action.verb != verb or line not in (None, action.text):
                raise VerbNotLegal(
                    f"{action.text!r} is not the automatic act", phase=self.phase, **self.due(verb, line)
                )
            return State.take_automatic
        handler = self.out_of_turn(action)
        if handler is not None:
            return handler
        if action.actor != self.turn:
            self.refuse_actor(action)
        if action.verb != AUTOMATIC.name or self.phase in self.UNTIMED:
            raise self.not_legal(action)
        return State.run_out

    def out_of_turn(self, action: Action) -> Handler | None:
        """The handler of a verb that may be used at any time, None for other verbs."""
        return None

    # -- the clock ---------------------------------------------------------------------------------------------------

    def run_out(self, action: Action) -> None:
        """``au``: nothing but the automatic act may follow."""
        self.pending = self.automatic()
        self.verbs = {}

    def take_automatic(self, action: Action) -> None:
        """The automatic act itself."""
        self.HANDLERS[self.phase][action.verb](self, action)
        self.pending = None
        self.verbs = self.HANDLERS[self.phase]

    def due(self, verb: str, line: str | None) -> dict[str, object]:
        """The automatic act that must follow, as far as everybody may know it: the line, else its verb, else nothing.
        A refusal goes to the sender of a line, and hidden cards decide which act is the first."""
        offers = self.legal_for(PUBLIC)
        if {offer.verb for offer in offers} != {verb}:
            return {}
        public = [*islice((text for offer in offers for text in offer.lines()), 2)]
        return {"action": line if public == [line] else verb}

    def automatic(self) -> tuple[str, str | None]:
        """Verb and line of the automatic act of the seat whose turn it is; no line where it names cards that are not
        known."""
        offers = {offer.verb: offer for offer in self.legal()}
        verb = next((verb for verb in self.AUTOMATIC if verb in offers), None)
        if verb is None:
            verb = min(offers, key=lambda name: name in self.NOT_AN_ACT)
        return verb, next(offers[verb].lines(), None)

    def late(self) -> tuple[str, ...]:
        """The lines that are written when the time to act is over: that it is, unless the log says so, and the
        automatic act. None where no clock runs: at the house's turn, after the end, where it is open whose turn it is,
        and where the act would name cards that are not known."""
        if self.turn <= DEALER or self.phase in self.UNTIMED:
            return ()
        if len(self.actors()) > 1 and not self.SEVERAL_ACT:
            return ()
        line = self.automatic()[1]
        if line is None:
            return ()
        return (line,) if self.pending is not None else (f"{actor_name(self.turn)} {AUTOMATIC.name}", line)

    # -- turn --------------------------------------------------------------------------------------------------------

    def enter(self, phase: str, turn: int) -> None:
        """Go to ``phase`` with ``turn`` to act."""
        self.phase = phase
        self.turn = turn
        self.verbs = self.HANDLERS[phase]

    def actors(self) -> tuple[int, ...]:
        """Who may act now, the one whose turn it is first; none when the hand is over."""
        return () if self.turn == NOBODY else (self.turn,)

    def refuse_actor(self, action: Action) -> NoReturn:
        """The refusal of an actor whose turn it is not."""
        if self.turn == NOBODY:
            raise HandIsOver(f"the hand is over, {action.text!r} comes too late")
        raise NotYourTurn(
            f"{actor_name(self.turn)} is to act, not {actor_name(action.actor)}", actor=actor_name(self.turn)
        )

    def not_legal(self, action: Action) -> VerbNotLegal:
        """The refusal of a verb that is not on offer. It names those that are, as far as everybody may know: the
        sender of the line need not know the cards that decide it. A line that is a verb alone is refused with its
        verb."""
        offers = [one.verb for one in self.legal_for(PUBLIC) if one.arguments or one.verb != action.verb]
        return VerbNotLegal(f"{action.text!r} is not legal now", phase=self.phase, verbs=offers)

    # -- what may be done --------------------------------------------------------------------------------------------

    def legal(self) -> list[Legal]:
        """Every kind of action that would be accepted now, the clock's ``au`` apart."""
        offers = [offer for verb in self.HANDLERS[self.phase] if (offer := self.OFFERS[verb](self)) is not None]
        if self.pending is None:
            return offers
        verb, line = self.pending
        return [offer if line is None else offer.only(line) for offer in offers if offer.verb == verb]

    def legal_for(self, viewer: Viewer) -> list[Legal]:
        """:meth:`legal`, as far as ``viewer`` may know it: which cards of a hidden hand may be named is known to the
        seat that holds it, and even that may not have looked at what it is about to show."""
        return self.legal() if viewer == AUDITOR else [self._veiled(offer, viewer) for offer in self.legal()]

    def _veiled(self, offer: Legal, viewer: Viewer) -> Legal:
        """An offer without cards that are not for the viewer's eyes."""
        declared = self.GRAMMAR.verb(offer.actor, offer.verb).cards
        if declared is None or self.sees_choice(declared, viewer):
            return offer
        return Legal(offer.actor, offer.verb, tuple(map(_without_cards, offer.arguments)))

    def sees_choice(self, declared: Argument, viewer: Viewer) -> bool:
        """Whether the viewer may know among which cards the seat whose turn it is may choose."""
        return viewer == self.turn and declared.role in OWN

    def unused(self) -> frozenset[str]:
        """Phases that do not come at a table with these options, whatever is done."""
        return frozenset()

    def offer(self, verb: str, *arguments: Domain) -> Legal:
        """A legal action of the seat (or dealer) whose turn it is."""
        return Legal(actor_name(self.turn), verb, arguments)

    def forced(self) -> str | None:
        """With a known deck, the next line without a choice; otherwise None."""
        return None

    # -- the end -----------------------------------------------------------------------------------------------------

    def finish(
        self, ending: str, winner: int, *, tax: int = 0, carry_out: int = 0, bonus: tuple[int, ...] = ()
    ) -> None:
        """Close the hand: the result stands. Amounts in minor units; ``bonus``: what the house pays each seat, if it
        pays any."""
        for seat, amount in enumerate(bonus, 1):
            self.pay_bonus(seat, amount)
        paid = bonus or (0,) * self.seats
        self.result = Result(self.net(), tax, paid, carry_out, ending, winner, self.series(ending))
        self.enter("over", NOBODY)

    def series(self, ending: str) -> Mapping[str, object]:
        """What the table's next hand starts from."""
        return NOTHING

    # -- reporting what happened -------------------------------------------------------------------------------------

    def events(self, action: Action) -> list[Event]:
        """What the action that was just applied was, without any card that is not face up; money and the end are
        added by the hand."""
        return [Spoke(action.actor, action.verb, action.word)]

    # -- redeals: most games have none -------------------------------------------------------------------------------

    def spare(self) -> int:
        """Packs of the set-up that were not dealt from."""
        return 0

    def wants(self) -> tuple[str, ...] | None:
        """The cards to shuffle again; a game without redeals wants none."""
        return None

    def shuffled(self) -> int:
        """How many hands have been shuffled so far (:attr:`SHUFFLES_HANDS`)."""
        return 0

    def supply(self, deck: tuple[str, ...]) -> None:
        """Take cards that were shuffled again."""
        raise MalformedSetup("no cards are to be shuffled again now")

    # -- copies ------------------------------------------------------------------------------------------------------

    def copy(self) -> Self:
        """An independent copy of the state."""
        twin: Self = _shape(type(self)).copy(self)
        return twin

    def values(self) -> tuple[Any, ...]:
        """Everything that makes the state, in the order of :func:`attributes`, but for the options and what the phase
        says."""
        values: tuple[Any, ...] = _shape(type(self)).values(self)
        return values

    def position(self) -> tuple[Any, ...]:
        """:meth:`values` without what only says how the state was reached."""
        names = attributes(type(self))
        return tuple(value for name, value in zip(names, self.values(), strict=True) if name not in _HISTORY)

    def restore(self, values: tuple[Any, ...], rules: Any) -> None:
        """The inverse of :meth:`values`."""
        self.rules = rules
        for name, value in zip(attributes(type(self)), values, strict=True):
            setattr(self, name, value)
        self.verbs = {} if self.pending else self.HANDLERS[self.phase]


_HISTORY = frozenset({"log", "moves"})
"""Attributes that say how a state was reached."""

OWN = frozenset({Role.PLAYED, Role.TURNED, Role.LAID_AWAY, Role.PUT_DOWN, Role.GIVEN})
"""Roles of cards that a seat chooses among those it knows."""


def _without_cards(argument: Domain) -> Domain:
    if isinstance(argument, Rows):
        return Pick(len(argument.rows[0]) // 2 if argument.rows else 0)
    if isinstance(argument, Order):
        return Pick(len(argument.cards))
    if isinstance(argument, Parts):
        return Parts((), 0)
    if isinstance(argument, Some):
        return Pick(argument.most, least=argument.least if argument.least < argument.most else None)
    if isinstance(argument, Pick):
        return Pick(argument.count, None, argument.places, argument.unknown)
    return argument


class _Shape(NamedTuple):
    """Values that are computed once for each kind of state."""

    names: tuple[str, ...]
    values: Callable[[Any], tuple[Any, ...]]
    copy: Callable[[Any], Any]


_SHAPES: dict[type, _Shape] = {}


def _shape(kind: type) -> _Shape:
    found = _SHAPES.get(kind)
    if found is None:
        slots = {slot for base in kind.__mro__ for slot in getattr(base, "__slots__", ())}
        names = tuple(sorted(slots - {"rules", "verbs"}))
        found = _SHAPES[kind] = _Shape(names, attrgetter(*names), _copier(kind, names))
    return found


def attributes(kind: type) -> tuple[str, ...]:
    """Names of everything that a state of this kind (a subclass of :class:`State`) holds, but for ``rules`` and
    ``verbs``, which follow from the set-up and from the phase."""
    return _shape(kind).names


def _copier(kind: type, names: tuple[str, ...]) -> Callable[[Any], Any]:
    """A function that copies a state of this kind, attribute by attribute.

    It is written here and compiled, as ``dataclasses`` does for ``__init__``: a loop over forty attributes would take
    three times as long, and searching a game's tree copies a state at every step.
    """
    fresh: frozenset[str] = kind.FRESH  # type: ignore[attr-defined]  # of a State
    copied = [f"    new.{name} = old.{name}{'.copy()' if name in fresh else ''}" for name in names]
    source = "\n".join(
        [
            "def copy(old):",
            "    new = make(kind)",
            *copied,
            "    new.rules = old.rules",
            "    new.verbs = old.verbs",
            "    return new",
        ]
    )
    made: dict[str, Any] = {"kind": kind, "make": object.__new__}
    exec(source, made)  # noqa: S102 - the text is made of the names of slots, three lines above
    copier: Callable[[Any], Any] = made["copy"]
    return copier
