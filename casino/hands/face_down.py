"""Face-down cards at rest: lines of a hand's log, corrections, entries and exceptions that name cards which only some
may know.

    text    = the line as everybody sees it, its face-down cards as `??`
    hash    = SHA-256 of the canonical JSON [hand, number of the line, line, salt], which the audit trail has too
    sealed  = casino/houses/sealing.py(salt(32) || line, context "line/HAND/NUMBER/text")

An entered card is sealed in the same way with the context "card/HAND/SEAT/INDEX"; its hash is of [hand, actor, index,
card, salt]. What a card exception has found while a hand was played is sealed as canonical JSON, with the context
"exception/HAND/KIND"; its hash is of [hand, kind, JSON, salt]. A row that was altered, or that stands in another place,
cannot be opened. What is sealed stays sealed when the hand is over: cards that everybody has seen stand in the lines
that showed them, folded cards nowhere else.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from casino.core import canonical
from casino.core.errors import SealedUnreadable
from casino.hands.models import Hand
from casino.hands.snapshot import HandSnapshot
from casino.houses import sealing

SALT_BYTES = 32
#: In the view `hands_log` a line that is sealed is its text, the sealed bytes in hexadecimal, and the hash.
_TAB = "\t"


class CardsAltered(SealedUnreadable):
    """Sealed cards of a hand that do not open, or are not those that their hash is of. `line`: the number of the line,
    where they are those of a line."""

    def __init__(self, hand: str, where: str, line: int | None = None) -> None:
        super().__init__(f"The sealed cards of {where} of hand {hand} do not open: row or key is another.")
        self.line = line
        self.problem = f"the sealed cards of {where} do not open: row or key is another"


class Sealed(NamedTuple):
    """What a row keeps of cards: the sealed bytes and the hash; both empty where there is nothing to seal."""

    sealed: bytes
    hash: str


class SealedRow(Protocol):
    """A row that keeps sealed cards, and their hash."""

    @property
    def sealed(self) -> bytes | memoryview:
        """The sealed bytes."""

    @property
    def hash(self) -> str:
        """The hash."""


class Unsealed(NamedTuple):
    """Cards that were opened, and the salt (hexadecimal) with which their hash can be made again."""

    text: str
    salt: str


NOTHING = Sealed(b"", "")


def line(hand: Hand, number: int, whole: str, seen: str) -> Sealed:
    """Seal a line of the log (from 1) that everybody sees as `seen`; nothing where everybody sees the whole line."""
    if whole == seen:
        return NOTHING
    salt = secrets.token_bytes(SALT_BYTES)
    sealed = sealing.seal(hand.house_id, salt + whole.encode(), _line_context(hand, number, seen))
    return Sealed(sealed, line_hash(hand.name, number, whole, salt.hex()))


def line_hash(hand: str, number: int, whole: str, salt: str) -> str:
    """What the audit trail records of a line with face-down cards: 64 hex digits."""
    return canonical.sha256([hand, number, whole, salt])


def log(hand: Hand | HandSnapshot, stored: Sequence[str], first: int = 1) -> list[str]:
    """Lines of `hands_log`, from the line `first` on, with all their cards. Raises CardsAltered."""
    return [open_line(hand, number, one).text if _TAB in one else one for number, one in enumerate(stored, start=first)]


def log_as_far_as_it_opens(hand: Hand, stored: Sequence[str]) -> list[str]:
    """As `log`; a line that cannot be opened is as everybody sees it."""
    lines = []
    for number, one in enumerate(stored, start=1):
        try:
            lines += log(hand, [one], number)
        except CardsAltered:
            lines.append(seen(one))
    return lines


def stored(text: str, kept: SealedRow) -> str:
    """A line with what is sealed of it, as `hands_log` has them."""
    return _TAB.join((text, bytes(kept.sealed).hex(), kept.hash)) if kept.sealed else text


def seen(stored: str) -> str:
    """A line of `hands_log` as everybody sees it."""
    return stored.partition(_TAB)[0]


def open_line(hand: Hand | HandSnapshot, number: int, stored: str) -> Unsealed:
    """A sealed line of `hands_log`. Raises CardsAltered."""
    text, sealed, hashed = stored.split(_TAB)
    try:
        opened = _unsealed(hand, bytes.fromhex(sealed), _line_context(hand, number, text))
    except SealedUnreadable as error:
        raise CardsAltered(hand.name, f"line {number}", number) from error
    if line_hash(hand.name, number, opened.text, opened.salt) != hashed:
        raise CardsAltered(hand.name, f"line {number}", number)
    return opened


def card(hand: Hand, seat: int, index: int, named: str) -> Sealed:
    """Seal a card that was entered for a seat of the engine (p1 is 1), by its index in the order of dealing."""
    salt = secrets.token_bytes(SALT_BYTES)
    sealed = sealing.seal(hand.house_id, salt + named.encode(), _card_context(hand, seat, index))
    return Sealed(sealed, card_hash(hand.name, seat, index, named, salt.hex()))


def card_hash(hand: str, seat: int, index: int, named: str, salt: str) -> str:
    """What the audit trail records of an entered card: 64 hex digits."""
    return canonical.sha256([hand, f"p{seat}", index, named, salt])


def open_card(hand: Hand | HandSnapshot, seat: int, index: int, kept: Sealed) -> Unsealed:
    """A card that was entered. Raises CardsAltered."""
    where = f"card {index} of p{seat}"
    try:
        opened = _unsealed(hand, kept.sealed, _card_context(hand, seat, index))
    except SealedUnreadable as error:
        raise CardsAltered(hand.name, where) from error
    if card_hash(hand.name, seat, index, opened.text, opened.salt) != kept.hash:
        raise CardsAltered(hand.name, where)
    return opened


def exception(hand: Hand, kind: str, found: Mapping[str, Any]) -> Sealed:
    """Seal what a card exception has found while a hand was played."""
    salt, text = secrets.token_bytes(SALT_BYTES), canonical.dumps(found)
    sealed = sealing.seal(hand.house_id, salt + text.encode(), _exception_context(hand, kind))
    return Sealed(sealed, exception_hash(hand.name, kind, text, salt.hex()))


def exception_hash(hand: str, kind: str, text: str, salt: str) -> str:
    """What the audit trail records of what an exception has found: 64 hex digits."""
    return canonical.sha256([hand, kind, text, salt])


def open_exception(hand: Hand | HandSnapshot, number: int, kind: str, kept: SealedRow) -> Unsealed:
    """What an exception of the hand's table, by its number, has found, as canonical JSON. Raises CardsAltered."""
    where = f"exception {number}"
    try:
        opened = _unsealed(hand, kept.sealed, _exception_context(hand, kind))
    except SealedUnreadable as error:
        raise CardsAltered(hand.name, where) from error
    if exception_hash(hand.name, kind, opened.text, opened.salt) != kept.hash:
        raise CardsAltered(hand.name, where)
    return opened


def _exception_context(hand: Hand | HandSnapshot, kind: str) -> bytes:
    return f"exception/{hand.name}/{kind}".encode()


def _line_context(hand: Hand | HandSnapshot, number: int, text: str) -> bytes:
    return f"line/{hand.name}/{number}/{text}".encode()


def _card_context(hand: Hand | HandSnapshot, seat: int, index: int) -> bytes:
    return f"card/{hand.name}/{seat}/{index}".encode()


def _unsealed(hand: Hand | HandSnapshot, sealed: bytes | memoryview, context: bytes) -> Unsealed:
    data = sealing.unseal(hand.house_id, sealed, context)
    return Unsealed(data[SALT_BYTES:].decode(), data[:SALT_BYTES].hex())
