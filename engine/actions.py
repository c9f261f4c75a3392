"""Actions: one line of a hand's log as a value.

``"<actor> <verb> <arguments>"`` with single blanks, and canonical only: a number has no sign and no leading
zero, so every action has exactly one spelling and a log can be compared as text.

======  ==============  ==========================================================
verb    arguments       meaning
======  ==============  ==========================================================
``po``  ``N``           post a forced stake (vizi, ante, blind)
``dh``  ``pM CARDS``    the dealer deals cards to a seat
``lk``  ``N``           look at N of the seat's face-down cards: all of them, or those dealt last
``cc``  ``N``           call, paying N
``f``                   fold
``k``                   check, "go on", or decline to charge
``rb``  ``N``           bet or raise by N
``br``  ``N``           a blind seat's raise in mid-order: pay what is owed and N more
``ks``  ``N pM``        charge seat M (kóstáltat) with N
``st``                  stand: no further raise
``mj``  ``HASH``        hold a vizi in the fist: its commitment, 64 hex digits, or ``??`` for a real fist
``in``                  stay in without knowing the vizi
``rv``  ``N [NONCE]``   reveal the vizi N; NONCE, 32 hex digits, opens the commitment
``cu``  ``CARDS``       cuhhol: show the hand instead of betting
``up``  ``CARDS``       turn cards up in the middle of play
``sm``  ``CARDS``       show cards
======  ==============  ==========================================================

>>> parse_action("p4 ks 400 p1")
Action(actor=4, verb='ks', amount=400, target=1, cards=(), text='p4 ks 400 p1', code='')
>>> parse_action("p1 cc 0100")
Traceback (most recent call last):
    ...
engine.errors.MalformedAction: 'p1 cc 0100' is not a canonical action line
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from engine.cards import split_cards
from engine.errors import MalformedAction

DEALER = 0
"""The actor number of ``d``; seats are 1, 2, ... in play order."""


@dataclass(frozen=True, slots=True)
class Action:
    """One action. ``amount`` is money in minor units, or a number of cards for ``lk``; ``code`` a commitment or
    the nonce that opens one; unused fields are 0, () or ""."""

    actor: int
    verb: str
    amount: int
    target: int
    cards: tuple[str, ...]
    text: str
    code: str = ""


# 18 digits always fit a signed 64-bit integer, which is what a ledger can hold.
_NUMBER = "(?:0|[1-9][0-9]{0,17})"
# No pack has more cards; lines are remembered, so their length must be bounded.
_CARDS = r"(?:[A-Z0-9][a-z]|\?\?){1,52}"
_LINE = re.compile(
    rf"(?:d dh p(?P<to>[1-9]) (?P<dealt>{_CARDS})"
    rf"|p(?P<actor>[1-9]) (?:(?P<bare>f|k|st|in)|(?P<paying>po|lk|cc|rb|br) (?P<amount>{_NUMBER})"
    rf"|ks (?P<charge>{_NUMBER}) p(?P<charged>[1-9])|(?P<showing>sm|up|cu) (?P<shown>{_CARDS})"
    r"|mj (?P<held>[0-9a-f]{64}|\?\?)"
    rf"|rv (?P<revealed>{_NUMBER})(?: (?P<nonce>[0-9a-f]{{32}}))?))",
    re.ASCII,
)


@lru_cache(maxsize=16384)
def parse_action(line: str) -> Action:
    """Read one log line; anything but the canonical spelling raises :class:`MalformedAction`.

    Lines repeat a great deal between hands, which is why the last few thousand are remembered.
    """
    match = _LINE.fullmatch(line)
    if match is None:
        raise MalformedAction(f"{line[:80]!r} is not a canonical action line", form="<actor> <verb> <arguments>")
    to, dealt, actor, bare, paying, amount, charge, charged, showing, shown, held, revealed, nonce = match.groups()
    if dealt:
        return Action(DEALER, "dh", 0, int(to), split_cards(dealt), line)
    seat = int(actor)
    if paying:
        return Action(seat, paying, int(amount), 0, (), line)
    if bare:
        return Action(seat, bare, 0, 0, (), line)
    if shown:
        return Action(seat, showing, 0, 0, split_cards(shown), line)
    if charge:
        return Action(seat, "ks", int(charge), int(charged), (), line)
    if held:
        return Action(seat, "mj", 0, 0, (), line, held)
    return Action(seat, "rv", int(revealed), 0, (), line, nonce or "")


def actor_name(actor: int) -> str:
    """``0`` is ``"d"``, seat 3 is ``"p3"``."""
    return f"p{actor}" if actor else "d"


def deal_line(seat: int, cards: tuple[str, ...]) -> str:
    """The canonical line that deals ``cards`` to ``seat``."""
    return f"d dh p{seat} {''.join(cards)}"


def up_line(seat: int, cards: tuple[str, ...]) -> str:
    """The canonical line with which ``seat`` turns ``cards`` up."""
    return f"p{seat} up {''.join(cards)}"


def show_line(seat: int, cards: tuple[str, ...]) -> str:
    """The canonical line with which ``seat`` shows ``cards``."""
    return f"p{seat} sm {''.join(cards)}"
