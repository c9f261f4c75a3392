"""Strict replay of a record: every line is applied as it stands or the record is refused. Nothing is
repaired.

>>> from engine.record.format import parse_record
>>> head = '{"v":"chr/1","game":"ferbli","rules":"ferbli/1","opt":{"vizi":100},"hand":"h1","seats":["a","b"],'
>>> acts = '"acts":["p1 po 100","d dh p1 Kl8b","d dh p2 Ah7l","p2 cc 200"]}'
>>> outcome = replay(parse_record(head + '"dealer":2,"stacks":[500,500],"carry":0,' + acts))
>>> outcome.ok, outcome.index, outcome.error.code
(False, 3, 'amount_out_of_range')
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.deal.rebuild import check_deal
from engine.errors import DerivedMismatch, EngineError, LogIncomplete, MalformedRecord, UnknownRules
from engine.kernel.game import Game
from engine.kernel.hand import Hand
from engine.record.format import Record
from engine.registry import game_info, played_by


@dataclass(frozen=True, slots=True)
class Outcome:
    """What replay found. ``index``: place in ``acts`` of the first wrong line (one past the end if the log is
    too short), None if the fault is not in a line; ``hand``: the hand as far as it went."""

    hand: Hand | None
    error: EngineError | None = None
    index: int | None = None

    @property
    def ok(self) -> bool:
        """Whether the record stands."""
        return self.error is None


def replay(record: Record, *, unfinished: bool = False) -> Outcome:
    """Replay ``record``; only with ``unfinished`` (a hand being resumed) may its log end before the hand
    does."""
    hand: Hand | None = None
    index: int | None = None
    try:
        hand = check_head(record).start(record.setup())
        try:
            hand.advance_all(record.acts)
        except EngineError:
            index = len(hand.log)
            raise
        if not hand.over and not unfinished:
            index = len(record.acts)
            raise LogIncomplete("the log ends before the hand does", actor=hand.actor)
        if hand.spare and not unfinished:
            raise MalformedRecord("the record holds packs that were not dealt from", spare=hand.spare)
        check_derived(record, hand)
    except EngineError as error:
        return Outcome(hand, error, index)
    return Outcome(hand)


def check_head(record: Record) -> Game:
    """What can be checked before the cards are dealt: rules id, commitment, and the packs against both seeds; gives the
    game that the record is played by."""
    try:
        game = played_by(record.game, record.rules)
    except UnknownRules as error:
        rules_id = game_info(record.game).rules_id
        raise MalformedRecord(f"{record.game} is played by {rules_id}, not {record.rules}", rules=rules_id) from error
    check_deal(record)
    return game


DERIVED = ("net", "tax", "bonus", "carry_out", "series_out", "state")
"""Keys of a record that replay computes."""


def check_derived(record: Record, hand: Hand) -> None:
    """Compare every derived part that the record holds; an unfinished hand must hold none."""
    result = hand.result
    actual: object
    for key in DERIVED:
        stored = getattr(record, key)
        if stored is None:
            continue
        if result is None:
            actual = None
        elif key == "state":
            actual = hand.digest()
        elif key == "series_out":
            actual = dict(result.series)
        else:
            actual = getattr(result, key)
        if stored != actual:
            raise DerivedMismatch(f"{key} is {stored!r}, the log gives {actual!r}", key=key, value=actual)
