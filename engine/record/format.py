"""Hand records, format ``chr/1``: one hand as one JSON object on one line, read strictly. Records of older versions
are migrated first (:mod:`engine.record.migrations`).

Unknown keys, duplicate keys, floats, wrong types (a bool is not an integer) and odd lengths are refused;
nothing is repaired or filled in. Known cards stand in ``deck``, or in ``decks`` (the deck, then each pack shuffled
again in the course of the hand), never in both. Inputs and log are what counts; ``net``, ``tax``, ``bonus``,
``carry_out`` and ``state`` are there to be compared with what replay computes (:mod:`engine.record.replay`).

====================  =================================================================================================
key                   meaning (money in minor units)
====================  =================================================================================================
``v``                 version of the format, ``chr/1``
``game``, ``rules``   name of the game, id of its rules (``ferbli/1``)
``opt``               the table's options for this hand, those that differ from their defaults
                      (``python -m engine games --options GAME``)
``hand``, ``prev``    id of the hand, hash of the table's record before it
``seats``             who plays, in play order: p1 is the first after the dealer
``dealer``            the dealer's number, which is that of the last seat
``stacks``, ``carry`` what each seat begins with, and the money carried in
``series``            what else is carried from deal to deal: an object of whole numbers, texts, lists and objects, at
                      most 64 KiB and four deep, of the shape that the game says
``deck``, ``decks``   cards in dealing order, two characters each, where they are known
``commit``, ``seed``  the deal's commitment, and the seed that opens it (:mod:`engine.deal.shuffle`)
``client_seeds``      what players added to the seed, by the number of their chair: ``{"3": "alice"}``; only where they
                      did, and a reader of records without such deals need not know it
``acts``              the log, line by line (:mod:`engine.kernel.grammar`)
``net``, ``bonus``    result and house bonus of each seat, the bonus being part of the result
``tax``               what the house took
``carry_out``         money carried to the next hand
``series_out``        ``series`` of the table's next hand
``state``             SHA-256 of the final state
====================  =================================================================================================
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from engine.deal.shuffle import CLIENT_SEED, MAX_CHAIR
from engine.errors import MalformedRecord, UnreadableRecord
from engine.kernel.cards import split_cards
from engine.kernel.hand import Hand
from engine.kernel.rules import MAX_MONEY
from engine.kernel.setup import Setup
from engine.record.migrations import VERSION, migrated

_REQUIRED = ("v", "game", "rules", "opt", "hand", "seats", "dealer", "stacks", "carry", "acts")
_KEYS = (
    "v", "game", "rules", "opt", "hand", "prev", "seats", "dealer", "stacks", "carry", "series", "deck", "decks",
    "commit", "seed", "client_seeds", "acts", "net", "tax", "bonus", "carry_out", "series_out", "state",
)  # fmt: skip
_KNOWN, _NEEDED = frozenset(_KEYS), frozenset(_REQUIRED)

MAX_SEATS = 9
MAX_TOTAL = (MAX_SEATS + 1) * MAX_MONEY
"""Bound of what a hand can come to: every stack and the carry together."""
MAX_ACTS = 20_000
MAX_REDEALS = MAX_ACTS // 2
"""A pack shuffled again is dealt to two seats at least, a line each."""
MAX_SERIES, SERIES_DEPTH = 1 << 16, 4
"""Bytes of ``series`` as JSON, and how deep lists and objects may lie in each other, the series itself counted."""
_HEX = re.compile(r"[0-9a-f]{64}")
_ID = re.compile(r"[!-~]{1,80}")
_CHAIR = re.compile(r"[1-9][0-9]{0,2}", re.ASCII)
_INTEGERS, _TEXTS = frozenset({int}), frozenset({str})
"""The only types of a list; a bool is not among them."""


@dataclass(frozen=True)
class Record:
    """One hand as recorded; optional keys that are absent are None, or empty. Money in minor units, p1's place
    first. ``redeals``: what ``decks`` holds after the deck."""

    game: str
    rules: str
    opt: dict[str, object]
    hand: str
    seats: tuple[str, ...]
    dealer: int
    stacks: tuple[int, ...]
    carry: int
    acts: tuple[str, ...]
    prev: str | None = None
    series: dict[str, object] = field(default_factory=dict)
    deck: tuple[str, ...] | None = None
    redeals: tuple[tuple[str, ...], ...] = ()
    commit: str | None = None
    seed: str | None = None
    client_seeds: dict[int, str] = field(default_factory=dict)
    net: tuple[int, ...] | None = None
    tax: int | None = None
    bonus: tuple[int, ...] | None = None
    carry_out: int | None = None
    series_out: dict[str, object] | None = None
    state: str | None = None

    @property
    def packs(self) -> tuple[tuple[str, ...], ...]:
        """The deck and after it every redeal, none where the deck is not known."""
        return () if self.deck is None else (self.deck, *self.redeals)

    def setup(self) -> Setup:
        """The engine's set-up for this hand."""
        return Setup(
            self.game,
            self.opt,
            len(self.seats),
            self.stacks,
            self.carry,
            self.dealer,
            self.deck,
            self.redeals,
            self.series,
            self.rules,
            self.seats,
        )


def parse_record(line: str) -> Record:
    """Read one record from its line; raises as :func:`parse_object` and :func:`record_from` do."""
    return record_from(parse_object(line))


def record_from(fields: dict[str, Any]) -> Record:
    """The record that a decoded object holds.

    Raises :class:`UnknownVersion`, :class:`MalformedRecord`, or a ``CardError`` for a deck that cannot be cut into
    cards.
    """
    fields = migrated(fields)
    if not fields.keys() <= _KNOWN:
        unknown = next(key for key in fields if key not in _KNOWN)
        raise MalformedRecord(f"key {unknown!r} is unknown", keys=list(_KEYS))
    if not fields.keys() >= _NEEDED:
        missing = next(key for key in _REQUIRED if key not in fields)
        raise MalformedRecord(f"key {missing!r} is missing", keys=list(_REQUIRED))
    found = {key: _FIELDS[key](key, value) for key, value in fields.items() if key != "v"}
    if "decks" in found:
        if "deck" in found:
            raise MalformedRecord("'deck' and 'decks' cannot both be given", keys=["deck", "decks"])
        found["deck"], *redeals = found.pop("decks")
        found["redeals"] = tuple(redeals)
    return _record(found)


def _record(found: dict[str, Any]) -> Record:
    """``Record(**found)``, which would take three times as long: a frozen dataclass assigns field by field, and
    this is a good part of reading a record."""
    found.setdefault("series", {})
    found.setdefault("client_seeds", {})
    record = object.__new__(Record)
    object.__setattr__(record, "__dict__", found)
    return record


def parse_object(line: str) -> dict[str, Any]:
    """One JSON object without duplicate keys, floats or NaN.

    Raises :class:`UnreadableRecord` for anything but a JSON object, :class:`MalformedRecord` for one of the
    others.
    """
    try:
        found = _DECODER.decode(line)
    except (ValueError, RecursionError) as error:
        raise UnreadableRecord(f"not a JSON object: {error}") from error
    if type(found) is not dict:
        raise UnreadableRecord("a record is a JSON object")
    return found


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise MalformedRecord("a key occurs twice in one object")
    return found


def _no_float(text: str) -> NoReturn:
    raise MalformedRecord(f"{text} is not a whole number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_no_float, parse_constant=_no_float)


def _text(key: str, value: object) -> str:
    if type(value) is not str or not _ID.fullmatch(value):
        raise MalformedRecord(f"{key!r} must be a short ASCII text without blanks")
    return value


def _hex(key: str, value: object) -> str:
    if type(value) is not str or not _HEX.fullmatch(value):
        raise MalformedRecord(f"{key!r} must be 64 lower-case hexadecimal digits")
    return value


def _whole(key: str, value: object) -> int:
    if type(value) is not int or not 0 <= value <= MAX_MONEY:
        raise MalformedRecord(f"{key!r} must be a whole number from 0", min=0, max=MAX_MONEY)
    return value


def _total(key: str, value: object) -> int:
    if type(value) is not int or not 0 <= value <= MAX_TOTAL:
        raise MalformedRecord(f"{key!r} must be a whole number from 0", min=0, max=MAX_TOTAL)
    return value


def _signed(key: str, value: object) -> tuple[int, ...]:
    if type(value) is not list or len(value) > MAX_SEATS:
        raise MalformedRecord(f"{key!r} must be a list, one number a seat")
    return _numbers(key, value, -MAX_TOTAL, MAX_TOTAL)


def _money(key: str, value: object) -> tuple[int, ...]:
    if type(value) is not list or len(value) > MAX_SEATS:
        raise MalformedRecord(f"{key!r} must be a list, one number a seat")
    return _numbers(key, value, 0, MAX_MONEY)


def _numbers(key: str, value: list[Any], low: int, high: int) -> tuple[int, ...]:
    if not _INTEGERS.issuperset(map(type, value)) or (value and not low <= min(value) <= max(value) <= high):
        raise MalformedRecord(f"{key!r} must hold whole numbers", min=low, max=high)
    return tuple(value)


def _seats(key: str, value: object) -> tuple[str, ...]:
    if type(value) is not list or not 1 <= len(value) <= MAX_SEATS:
        raise MalformedRecord(f"{key!r} must list 1 to {MAX_SEATS} seats")
    if not _TEXTS.issuperset(map(type, value)) or not all(map(_ID.fullmatch, value)):
        raise MalformedRecord(f"{key!r} must hold short ASCII texts without blanks")
    if len(set(value)) != len(value):
        raise MalformedRecord("nobody can sit on two seats")
    return tuple(value)


def _acts(key: str, value: object) -> tuple[str, ...]:
    if type(value) is not list or len(value) > MAX_ACTS:
        raise MalformedRecord(f"{key!r} must be a list of at most {MAX_ACTS} lines")
    if not _TEXTS.issuperset(map(type, value)):
        raise MalformedRecord(f"{key!r} must hold texts")
    return tuple(value)


def _opt(key: str, value: object) -> dict[str, object]:
    if type(value) is not dict:
        raise MalformedRecord(f"{key!r} must be an object")
    return value


def _deck(key: str, value: object) -> tuple[str, ...]:
    if type(value) is not str or len(value) > 1000:
        raise MalformedRecord(f"{key!r} must be a text of two-character cards")
    return split_cards(value)


def _decks(key: str, value: object) -> tuple[tuple[str, ...], ...]:
    if type(value) is not list or not 1 <= len(value) <= 1 + MAX_REDEALS:
        raise MalformedRecord(f"{key!r} must list the deck and at most {MAX_REDEALS} packs after it")
    return tuple(_deck(key, cards) for cards in value)


def _series(key: str, value: object) -> dict[str, object]:
    """What a game carries from deal to deal; its shape is the game's business."""
    if type(value) is not dict:
        raise MalformedRecord(f"{key!r} must be an object")
    _require_plain(key, value, SERIES_DEPTH)
    if len(json.dumps(value)) > MAX_SERIES:
        raise MalformedRecord(f"{key!r} must be at most {MAX_SERIES} bytes of JSON", max=MAX_SERIES)
    return value


def _require_plain(key: str, value: object, depth: int) -> None:
    """Whole numbers, texts, lists and objects, not too deep."""
    if type(value) is dict or type(value) is list:
        if not depth:
            raise MalformedRecord(f"{key!r} must be at most {SERIES_DEPTH} deep", max=SERIES_DEPTH)
        if type(value) is dict:
            for name in value:
                _text(key, name)
        for part in value.values() if type(value) is dict else value:
            _require_plain(key, part, depth - 1)
    elif type(value) is int:
        if not -MAX_MONEY <= value <= MAX_MONEY:
            raise MalformedRecord(f"{key!r} must hold whole numbers in range", min=-MAX_MONEY, max=MAX_MONEY)
    elif type(value) is not str:
        raise MalformedRecord(f"{key!r} must hold whole numbers, texts, lists and objects")


def client_seeds_of(key: str, value: object) -> dict[int, str]:
    """Client seeds by chair from what JSON holds under this key. Raises MalformedRecord."""
    if type(value) is not dict or len(value) > MAX_CHAIR:
        raise MalformedRecord(f"{key!r} must be an object, a text for each chair")
    for chair, seed in value.items():
        if not _CHAIR.fullmatch(chair) or int(chair) > MAX_CHAIR:
            raise MalformedRecord(f"{key!r} must name chairs by their numbers", min=1, max=MAX_CHAIR)
        if type(seed) is not str or not CLIENT_SEED.fullmatch(seed):
            raise MalformedRecord(f"{key!r} must hold texts of 1 to 64 visible ASCII characters")
    return {int(chair): seed for chair, seed in value.items()}


_FIELDS: dict[str, Callable[[str, object], Any]] = {
    "game": _text, "rules": _text, "opt": _opt, "hand": _text, "prev": _hex, "seats": _seats,
    "dealer": _whole, "stacks": _money, "carry": _whole, "series": _series, "deck": _deck, "decks": _decks,
    "commit": _hex, "seed": _hex, "client_seeds": client_seeds_of, "acts": _acts, "net": _signed, "tax": _whole,
    "bonus": _money, "carry_out": _total, "series_out": _series, "state": _hex,
}  # fmt: skip


def format_record(record: Record) -> str:
    """The canonical line: keys in the order of the format, no blanks, absent keys left out; no newline."""
    return json.dumps(fields_of(record), separators=(",", ":"), ensure_ascii=True)


def fields_of(record: Record) -> dict[str, object]:
    """The record as the object that its canonical line holds, keys in the order of the format."""
    fields: dict[str, object] = {"v": VERSION}
    for key in _KEYS[1:]:
        value = _WRITTEN[key](record) if key in _WRITTEN else getattr(record, key)
        if value is not None:
            fields[key] = value
    return fields


def _written_deck(record: Record) -> str | None:
    return None if record.deck is None or record.redeals else "".join(record.deck)


def _written_decks(record: Record) -> list[str] | None:
    if record.deck is None or not record.redeals:
        return None
    return ["".join(cards) for cards in (record.deck, *record.redeals)]


def _written_client_seeds(record: Record) -> dict[str, str] | None:
    return {str(chair): record.client_seeds[chair] for chair in sorted(record.client_seeds)} or None


_WRITTEN: dict[str, Callable[[Record], object]] = {
    "series": lambda record: record.series or None,
    "series_out": lambda record: record.series_out or None,
    "client_seeds": _written_client_seeds,
    "deck": _written_deck,
    "decks": _written_decks,
}
"""Keys that are not written as the record holds them."""


def record_of(hand: Hand, *, hand_id: str, rules_id: str, seats: tuple[str, ...], opt: dict[str, object]) -> Record:
    """The record of a hand in play or over, with the derived parts once it is over."""
    setup, result = hand.setup, hand.result
    record = Record(
        setup.game,
        rules_id,
        opt,
        hand_id,
        seats,
        setup.dealer,
        setup.stacks,
        setup.carry,
        hand.log,
        series=dict(setup.series),
        deck=setup.deck,
        redeals=setup.redeals,
    )
    if result is None:
        return record
    return dataclasses.replace(
        record,
        net=result.net,
        tax=result.tax,
        bonus=result.bonus if any(result.bonus) else None,
        carry_out=result.carry_out,
        series_out=dict(result.series) or None,
        state=hand.digest(),
    )
