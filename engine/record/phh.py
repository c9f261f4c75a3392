"""Hands in the Poker Hand History format (PHH, a dialect of TOML: phh.readthedocs.io), and back again.

What a PHH reader finds
    ``variant`` is ``_ferbli`` or ``_faerbeln``: no code of the standard, whose variants are all poker's, but marked
    as user-defined the way the standard marks fields. A reader for poker must refuse it; PokerKit 0.7.7 reads
    the file (``HandHistory.loads``) and raises ``KeyError`` when it is asked to play it.
    Money is in minor units. Players stand in play order, p1 first (in Ferbli counter-clockwise). With two players
    ``antes`` and ``blinds_or_straddles`` stand in reverse, as the standard has it.
    A forced stake is a blind, or an ante if every seat posts one. ``min_bet`` is the vizi; ``small_bet`` and
    ``big_bet`` are the units of Färbeln's two rounds. ``winnings`` are pots won, after tax.
Actions
    ``dh``, ``f``, ``sm`` stand as they are; ``po`` is in the antes and blinds. ``cc`` loses its amount; ``k``,
    ``st`` and ``in`` are ``cc`` too. ``rb``, ``br`` and ``ks`` are ``cbr`` with the whole of what the seat has staked
    in this round by then, antes apart, where a round ends when cards are dealt (those that a seat is charged for do
    not end one). ``cu`` is ``sm``. What PHH has no word for (``lk``, ``up``, ``mj``, ``rv``) is a comment. Where the
    action says less than our line, the line stands behind it as its commentary.
Cards
    Two characters as in our records. Those of French packs are PHH's own; those of the Tell pack are not (``Xl``:
    ten of leaves), even where they look alike.
Everything else
    Each key of the record is a separate field, ``_`` before its name (``_acts``, ``_deck``, ``_opt``, ...), so that
    :func:`record_of_phh` gives back an equal record. Money carried in is only there (``_carry``).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator

from engine.errors import MalformedRecord, UnreadableRecord
from engine.kernel.grammar import Action, Grammar
from engine.kernel.hand import Hand
from engine.kernel.purse import Why
from engine.record.format import Record, fields_of, record_from
from engine.record.replay import replay
from engine.registry import played_by, start
from engine.vying.pot_rules import TaxedRules


def phh_of(record: Record) -> str:
    """The hand as a PHH file. Raises the ``EngineError`` for which replay refuses the record."""
    return "".join(f"{key} = {_toml(value)}\n" for key, value in _phh_fields(record).items())


def record_of_phh(text: str) -> Record:
    """The record that :func:`phh_of` wrote.

    Raises :class:`UnreadableRecord` for what is no TOML, :class:`MalformedRecord` if the fields of PHH differ
    from the record's own, and what replay raises. Fields that others have added are passed over.
    """
    try:
        fields = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableRecord(f"not a PHH file: {error}") from error
    record = record_from({key[1:]: value for key, value in fields.items() if key.startswith("_")})
    for key, value in _phh_fields(record).items():
        if fields.get(key) != value:
            raise MalformedRecord(f"{key!r} differs from the record", key=key)
    return record


def _phh_fields(record: Record) -> dict[str, object]:
    """Every field of the file by name, values as TOML gives them back."""
    outcome = replay(record)
    if outcome.error is not None:
        raise outcome.error
    hand = outcome.hand
    result = hand.result if hand else None
    if hand is None or result is None:
        raise LookupError("a valid record has a result")
    antes, blinds = _forced(record)
    # The standard assigns forced stakes in reverse when there are two players.
    order = -1 if len(record.seats) == 2 else 1
    return {
        "variant": f"_{record.game}",
        "antes": antes[::order],
        "blinds_or_straddles": blinds[::order],
        **_units(record),
        "starting_stacks": list(record.stacks),
        "actions": list(_actions(record)),
        "hand": record.hand,
        "players": list(record.seats),
        "finishing_stacks": [stack + net for stack, net in zip(record.stacks, result.net, strict=True)],
        "winnings": _winnings(hand),
        **{f"_{key}": _plain(value) for key, value in fields_of(record).items()},
    }


def _units(record: Record) -> dict[str, object]:
    """The least bet, as PHH names it for games without and with a fixed limit."""
    rules = played_by(record.game, record.rules).rules.parse(record.opt, len(record.seats))
    if not isinstance(rules, TaxedRules):
        raise MalformedRecord(f"PHH is for games with bets, {record.game} has none", game=record.game)
    return dict(rules.bet_units)


def _grammar(record: Record) -> Grammar:
    return played_by(record.game, record.rules).grammar


def _forced(record: Record) -> tuple[list[int], list[int]]:
    """Antes and blinds, seat by seat: the first stakes posted are antes if every seat posts one."""
    posted: list[list[int]] = [[] for _ in record.seats]
    for action in map(_grammar(record).parse, record.acts):
        if action.verb == "po":
            posted[action.actor - 1].append(action.amount)
    antes = [amounts.pop(0) for amounts in posted] if all(posted) else [0] * len(posted)
    return antes, [sum(amounts) for amounts in posted]


def _winnings(hand: Hand) -> list[int]:
    won = [0] * len(hand.stacks)
    for move in hand.moves:
        if move.why is Why.AWARD:
            won[move.seat - 1] += move.amount
    return won


def _actions(record: Record) -> Iterator[str]:
    """The log in PHH's words."""
    hand = start(record.setup())
    staked = _forced(record)[0]  # by each seat before this round
    before, parse = "", _grammar(record).parse
    for line in record.acts:
        action = parse(line)
        if action.verb == "dh" and before not in ("po", "ks", "dh"):
            staked = list(hand.stakes)
        hand.advance(line)
        if action.verb != "po":
            yield _in_phh(action, hand.stakes[action.actor - 1] - staked[action.actor - 1])
        before = action.verb


def _in_phh(action: Action, total: int) -> str:
    """One action; ``total`` is what its seat has staked in this round."""
    line, actor, verb = action.text, f"p{action.actor}", action.verb
    if verb in ("dh", "f", "sm"):
        return line
    if verb in ("cc", "k"):
        return f"{actor} cc"
    if verb == "rb":
        return f"{actor} cbr {total}"
    if verb in ("br", "ks"):
        return f"{actor} cbr {total} # {line}"
    if verb in ("st", "in"):
        return f"{actor} cc # {line}"
    if verb == "cu":
        return f"{actor} sm {''.join(action.cards)} # {line}"
    return f"# {line}"


def _plain(value: object) -> object:
    """Lists for tuples, as they are read back."""
    return list(value) if isinstance(value, tuple) else value


def _toml(value: object) -> str:
    """``value`` in TOML. What JSON writes of ASCII texts, whole numbers, truth values and lists is TOML already."""
    if isinstance(value, dict):
        pairs = (f"{json.dumps(name)} = {_toml(one)}" for name, one in value.items())
        return "{" + ", ".join(pairs) + "}"
    return json.dumps(value)
