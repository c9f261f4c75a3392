"""Grammar: the verbs of a game, declared once, and the lines of a log that they make.

A line is ``"<actor> <verb> <arguments>"`` with single blanks, and canonical only: a number has no sign and no leading
zero, so every action has exactly one spelling and a log can be compared as text. A game declares its verbs
(:class:`Verb`) with their arguments (:class:`Argument`); parser, canonical text, masked logs, the API's schema and its
check of requests, consoles, the offline verifier, the demo and the reference pages read that declaration.

``pN au`` belongs to every game: the clock ran out for seat N, and the next line is its automatic act.

>>> verbs = Grammar(
...     Verb("dh", HOUSE, (seat("target"), cards(Role.DEALT, Seen.TARGET)), "deal face down"),
...     Verb("ks", SEAT, (amount(), seat("target")), "charge a seat"),
... )
>>> verbs.parse("p4 ks 400 p1")
Action(actor=4, verb='ks', amount=400, target=1, targets=(), cards=(), word='', code='', text='p4 ks 400 p1')
>>> verbs.compose({"actor": "p4", "verb": "ks", "amount": 400, "target": "p1"})
'p4 ks 400 p1'
>>> verbs.parse("p4 ks 0400 p1")
Traceback (most recent call last):
    ...
engine.errors.MalformedAction: 'p4 ks 0400 p1' is not a canonical action line
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from engine.errors import MalformedAction
from engine.kernel.cards import UNKNOWN, split_cards

DEALER = 0
"""The actor number of ``d``; seats are 1, 2, ... in play order."""

HOUSE, SEAT = "house", "seat"
"""Who writes a verb: the house (``d``) or a seat (``pN``)."""


@dataclass(frozen=True, slots=True)
class Action:
    """One action. ``amount``: minor units of money, or a number; ``target``, ``targets``: seats; ``word``: a word, or
    several; ``code``: a commitment or the nonce that opens one. Unused fields are 0, () or ""."""

    actor: int
    verb: str
    amount: int = 0
    target: int = 0
    targets: tuple[int, ...] = ()
    cards: tuple[str, ...] = ()
    word: str = ""
    code: str = ""
    text: str = ""


class Seen(StrEnum):
    """Who sees the cards that an argument names."""

    ALL = "all"
    """Everybody, from now on."""
    TARGET = "target"
    """Only the seat that they are dealt to, wherever they go later."""
    ACTOR = "actor"
    """The seat that writes the line."""
    HAND = "hand"
    """By the game's rules for the hand that holds them: who has looked at it, and whether it was shown since."""
    TOGETHER = "together"
    """The seat that writes the line; everybody as soon as all seats have chosen theirs."""
    BOTH = "both"
    """The seat that writes the line, and the one that the cards go to."""
    DRAWN = "drawn"
    """No one, except for the card that is drawn: the seat that draws it and the seat that held it see it."""
    NOBODY = "nobody"
    """Nobody, to the end."""


class Role(StrEnum):
    """What becomes of the cards that an argument names."""

    DEALT = "dealt"
    """Off the pack and into the target's hand."""
    OPENED = "opened"
    """Off the pack, face up."""
    PLAYED = "played"
    """Out of the actor's hand, face up."""
    SHOWN = "shown"
    """The actor's whole hand, face up, in the order of dealing."""
    TURNED = "turned"
    """Some of the actor's cards are turned up in place."""
    LAID_AWAY = "laid_away"
    """Out of the actor's hand, face down."""
    PUT_DOWN = "put_down"
    """Out of the actor's hand, face up, in a game in which cards move from hand to hand: they may have been dealt to
    another seat."""
    GIVEN = "given"
    """Out of the actor's hand and into another one, face down."""
    FANNED = "fanned"
    """The target's whole hand, face down and in a new order; it stays with the target."""
    SET_ASIDE = "set_aside"
    """Off the pack, face down and out of play."""

    TAKEN = "taken"
    """A face-up card, into the actor's hand."""


UNCOVERING = frozenset({Role.PLAYED, Role.SHOWN, Role.TURNED, Role.PUT_DOWN, Role.GIVEN})
"""Roles that turn cards of a hand over, or give them on: who knows no card says where they lie in the hand."""
OUT_OF_HAND = UNCOVERING | {Role.LAID_AWAY}
"""Roles of cards of the actor's own hand, which a console that does not know them names by their places."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a verb.

    ``name`` is its key in the API. ``kind``: ``amount`` (minor units), ``number``, ``seat``, ``seats`` (ascending),
    ``cards``, ``word`` (one of ``words``), ``commitment`` or ``nonce``. ``most``: cards at the most. ``tag``: what is
    hashed for a commitment: SHA-256 of the tag, an amount in decimal digits and a nonce of 16 bytes, each after its
    length in four bytes.
    """

    name: str
    kind: str
    optional: bool = False
    words: tuple[str, ...] = ()
    most: int = 0
    role: Role | None = None
    seen: Seen = Seen.ALL
    tag: str = ""

    @property
    def pattern(self) -> str:
        """The regular expression of its text, without groups."""
        if self.kind == "word":
            return "(?:" + "|".join(map(re.escape, sorted(self.words, key=len, reverse=True))) + ")"
        return _PATTERNS[self.kind].replace("MOST", str(self.most))

    def as_dict(self) -> dict[str, object]:
        """JSON-able form, without what does not apply."""
        found: dict[str, object] = {"name": self.name, "kind": self.kind}
        if self.optional:
            found["optional"] = True
        if self.words:
            found["words"] = list(self.words)
        if self.tag:
            found["tag"] = self.tag
        if self.role is not None:
            found |= {"most": self.most, "role": self.role.value, "seen": self.seen.value}
        return found


# 18 digits always fit a signed 64-bit integer, which is what a ledger can hold.
_NUMBER = "(?:0|[1-9][0-9]{0,17})"
_PATTERNS = {
    "amount": _NUMBER,
    "number": _NUMBER,
    "seat": "p[1-9]",
    "seats": "p[1-9](?: p[1-9])*",
    "cards": r"(?:[A-Z0-9][a-z]|\?\?){1,MOST}",
    "commitment": r"(?:[0-9a-f]{64}|\?\?)",
    "nonce": "[0-9a-f]{32}",
}
_FIELD = {
    "amount": "amount", "number": "amount", "seat": "target", "seats": "targets", "cards": "cards", "word": "word",
    "commitment": "code", "nonce": "code",
}  # fmt: skip
"""Kind of an argument -> the field of :class:`Action` that holds it."""


def amount(name: str = "amount") -> Argument:
    """Money in minor units."""
    return Argument(name, "amount")


def number(name: str = "count") -> Argument:
    """A whole number that is no money."""
    return Argument(name, "number")


def seat(name: str = "target", *, optional: bool = False) -> Argument:
    """One seat."""
    return Argument(name, "seat", optional)


def seats(name: str = "targets") -> Argument:
    """One seat or more, ascending."""
    return Argument(name, "seats")


def cards(role: Role, seen: Seen, *, most: int = 10, optional: bool = False) -> Argument:
    """Cards, at most ``most``: what becomes of them, and who sees them."""
    return Argument("cards", "cards", optional, (), most, role, seen)


def word(*words: str, name: str = "word", optional: bool = False) -> Argument:
    """One of these words; a word may be several parted by blanks."""
    return Argument(name, "word", optional, words)


def commitment(tag: str) -> Argument:
    """64 hexadecimal digits, or ``??`` where it is a thing in the real world."""
    return Argument("commitment", "commitment", tag=tag)


def nonce(*, optional: bool = False) -> Argument:
    """32 hexadecimal digits that open a commitment."""
    return Argument("nonce", "nonce", optional)


class Veiled(NamedTuple):
    """A line with cards that only some may see: who sees them, and the line for all others."""

    action: Action
    seen: Seen
    hidden: str


@dataclass(frozen=True)
class Verb:
    """One verb of a game: its name in the log, who writes it, its arguments in the order of the line, its meaning."""

    name: str
    by: str
    arguments: tuple[Argument, ...]
    meaning: str
    reopens: bool = False
    """Later cards are dealt from a pack that is shuffled again without the cards that it shows."""
    aside: bool = False
    """The seat that was to act still is, and has to do the same: a look, a call. A time to act runs on through it."""
    beside: bool = False
    """It may be said while another seat is to act, or several are: it answers what its seat has seen so far,
    and lines that come in between do not take it back, as long as it is still legal after them."""
    blind: bool = False
    """It takes a face-down card, so hidden cards decide what follows, as if cards were uncovered."""
    leaves: bool = False
    """The seat is out of the hand with it: a console keeps its button apart."""
    label: str = ""
    """What the button of a console says: a word or two, at most 14 letters."""
    key: str = ""
    """The key of a keyboard for it, a letter; no other verb of the game has it."""
    only: str = ""
    """What it takes besides its phase, in a sentence: the answer where it is not on offer though its phase has come."""

    @property
    def cards(self) -> Argument | None:
        """The argument that names cards, if there is one."""
        return next((argument for argument in self.arguments if argument.kind == "cards"), None)

    @property
    def uncovers(self) -> bool:
        """Whether it turns cards of a hand over, gives them on, or takes one unseen."""
        return self.blind or (self.cards is not None and self.cards.role in UNCOVERING)

    @property
    def out_of_hand(self) -> bool:
        """Whether it names cards of the actor's own hand."""
        return self.cards is not None and self.cards.role in OUT_OF_HAND

    @property
    def pattern(self) -> str:
        """The regular expression of its lines, with a group for each argument."""
        actor = "d" if self.by == HOUSE else "p[1-9]"
        parts = (
            f"(?: ({argument.pattern}))?" if argument.optional else f" ({argument.pattern})"
            for argument in self.arguments
        )
        return f"{actor} {self.name}{''.join(parts)}"

    def as_dict(self) -> dict[str, object]:
        """JSON-able declaration: what a console, a verifier or a reference page needs."""
        found: dict[str, object] = {
            "verb": self.name,
            "by": self.by,
            "arguments": [argument.as_dict() for argument in self.arguments],
            "meaning": self.meaning,
            "label": self.label,
            "key": self.key,
            "only": self.only,
            "uncovers": self.uncovers,
        }
        marks = {"reopens": self.reopens, "aside": self.aside, "beside": self.beside, "leaves": self.leaves}
        return found | {name: True for name, marked in marks.items() if marked}


AUTOMATIC = Verb(
    "au", SEAT, (), "the clock ran out for the seat; the next line is its automatic act", label="Time is up", key="Z"
)


class Grammar:
    """The verbs of one game. Equal names need different writers."""

    def __init__(self, *verbs: Verb) -> None:
        self.verbs = (*verbs, AUTOMATIC)
        self._by = {(verb.by, verb.name): (verb, re.compile(verb.pattern, re.ASCII)) for verb in self.verbs}
        if len(self._by) < len(self.verbs):
            raise ValueError("a verb is declared twice for one writer")
        self.parse: Callable[[str], Action] = lru_cache(maxsize=16384)(self._parse)
        """Read one log line; anything but the canonical spelling raises :class:`MalformedAction`. Lines repeat a great
        deal between hands, which is why the last few thousand are remembered."""
        self._veils = {
            (verb.by, verb.name): argument.seen
            for verb in self.verbs
            if (argument := verb.cards) is not None and argument.seen is not Seen.ALL
        }
        self.veiled: Callable[[str], Veiled | None] = lru_cache(maxsize=4096)(self._veiled)
        """The masked form of a line with cards that only some may see; None for all other lines."""

    def __iter__(self) -> Iterator[Verb]:
        return iter(self.verbs)

    def __reduce__(self) -> str | tuple[Any, ...]:
        return Grammar, self.verbs[:-1]

    @property
    def names(self) -> tuple[str, ...]:
        """The verbs by name, each once, in the order of their declaration."""
        return tuple(dict.fromkeys(verb.name for verb in self.verbs))

    def verb(self, actor: int | str, name: str) -> Verb:
        """The declaration of a verb for this actor; raises :class:`MalformedAction` if there is none."""
        by = HOUSE if actor in (DEALER, "d") else SEAT
        if (by, name) not in self._by:
            raise MalformedAction(f"{name!r} is no verb of the {by} in this game", verbs=list(self.names))
        return self._by[by, name][0]

    def card_verbs(self) -> dict[str, list[str]]:
        """The verbs whose lines name cards, by what becomes of those (:class:`Role`); under ``reopens`` those after
        which cards come of a new pack. What a verifier needs that knows no game."""
        found: dict[str, list[str]] = {}
        for verb in self.verbs:
            if verb.cards is not None and verb.cards.role is not None:
                found.setdefault(verb.cards.role.value, []).append(verb.name)
            if verb.reopens:
                found.setdefault("reopens", []).append(verb.name)
        return {role: sorted(set(names)) for role, names in found.items()}

    def role(self, action: Action) -> Role | None:
        """The role of the cards that an action names; None if it names none."""
        named = self.declared(action).cards
        return named.role if named is not None and action.cards else None

    def declared(self, action: Action) -> Verb:
        """The declaration that an action follows."""
        return self._by[SEAT if action.actor else HOUSE, action.verb][0]

    def _parse(self, line: str) -> Action:
        verb, (actor, *texts) = self._matched(line)
        found: dict[str, Any] = {
            _FIELD[argument.kind]: _value(argument.kind, text)
            for argument, text in zip(verb.arguments, texts, strict=True)
            if text is not None
        }
        if "targets" in found and list(found["targets"]) != sorted(set(found["targets"])):
            raise MalformedAction(f"{line[:80]!r} does not name its seats once each, ascending", form=_form(verb))
        return Action(DEALER if actor == "d" else int(actor[1:]), verb.name, text=line, **found)

    def _veiled(self, line: str) -> Veiled | None:
        writer, verb, *_ = line.split(" ", 2)
        seen = self._veils.get((HOUSE if writer == "d" else SEAT, verb))
        if seen is None:
            return None
        action = self.parse(line)
        return Veiled(action, seen, self.masked(action, (True,) * len(action.cards)))

    def compose(self, fields: Mapping[str, Any]) -> str:
        """The line of an action given by the names of its arguments (``actor`` and ``verb`` beside them): seats as
        ``"p3"``, several as a list, cards as one text. Raises :class:`MalformedAction`; its ``missing`` and
        ``surplus`` name the arguments that are not there, or too many."""
        verb = self.verb(fields["actor"], fields["verb"])
        names = {argument.name for argument in verb.arguments}
        needed = [argument.name for argument in verb.arguments if not argument.optional]
        missing = [name for name in needed if name not in fields]
        surplus = sorted(fields.keys() - names - {"actor", "verb"})
        if missing or surplus:
            raise MalformedAction(f"{verb.name} takes {_form(verb)}", missing=missing, surplus=surplus)
        words = [str(fields["actor"]), verb.name]
        for argument in verb.arguments:
            if argument.name in fields:
                value = fields[argument.name]
                words.append(" ".join(value) if isinstance(value, list | tuple) else str(value))
        line = " ".join(words)
        self.parse(line)
        return line

    def fields_of(self, line: str) -> dict[str, Any]:
        """The inverse of :meth:`compose`: the API's action for this line."""
        verb, (actor, *texts) = self._matched(line)
        found: dict[str, Any] = {"actor": actor, "verb": verb.name}
        for argument, text in zip(verb.arguments, texts, strict=True):
            if text is not None:
                found[argument.name] = _plain(argument.kind, text)
        return found

    def _matched(self, line: str) -> tuple[Verb, list[Any]]:
        """The verb of a line, and the texts of its actor and of its arguments, None for those left out."""
        head = line.split(" ", 2)
        verb, pattern = self._by.get((HOUSE if head[0] == "d" else SEAT, head[1] if len(head) > 1 else ""), _NOTHING)
        match = pattern.fullmatch(line)
        if match is None:
            raise MalformedAction(f"{line[:80]!r} is not a canonical action line", form=_form(verb))
        return verb, [head[0], *match.groups()]

    def with_cards(self, action: Action, named: str) -> str:
        """The line with these cards instead."""
        return action.text.replace("".join(action.cards), named)

    def masked(self, action: Action, hidden: tuple[bool, ...]) -> str:
        """The line with ``??`` for each of its cards that is hidden."""
        if not any(hidden):
            return action.text
        known = "".join(UNKNOWN if hide else card for card, hide in zip(action.cards, hidden, strict=True))
        return self.with_cards(action, known)


_NOTHING = (Verb("", SEAT, (), ""), re.compile(r"(?!)"))


def _form(verb: Verb) -> str:
    """How the lines of a verb look, for people."""
    if not verb.name:
        return "<actor> <verb> <arguments>"
    shown = (f"[{each.name.upper()}]" if each.optional else each.name.upper() for each in verb.arguments)
    return " ".join(("d" if verb.by == HOUSE else "pN", verb.name, *shown))


def _value(kind: str, text: str) -> object:
    """An argument's text as :class:`Action` holds it."""
    if kind in ("amount", "number"):
        return int(text)
    if kind == "seat":
        return int(text[1:])
    if kind == "seats":
        return tuple(int(name[1:]) for name in text.split(" "))
    return split_cards(text) if kind == "cards" else text


def _plain(kind: str, text: str) -> object:
    """An argument's text as the API holds it."""
    if kind in ("amount", "number"):
        return int(text)
    return text.split(" ") if kind == "seats" else text


def actor_name(actor: int) -> str:
    """``0`` is ``"d"``, seat 3 is ``"p3"``."""
    return f"p{actor}" if actor else "d"


def deal_line(seat: int, cards: tuple[str, ...]) -> str:
    """The canonical line that deals ``cards`` to ``seat``."""
    return f"d dh p{seat} {''.join(cards)}"
