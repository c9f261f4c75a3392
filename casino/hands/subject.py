"""The hand at a table as the subject of a write: one call locks the table and reads what is needed of the hand.

A process remembers the engine's state of hands that it has worked on, by table. The log in the database remains
authoritative: what is remembered counts only for the same hand with the same corrections, and lines that another
process has added are read and played after it. The state is copied before it goes on, so a write that is refused leaves
what is remembered as it was.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import engine
from casino.audit.events import AuditEvent
from casino.core import locks, patience, sql
from casino.core.commands import AnsweredBefore, Command, Stored
from casino.core.errors import NotFound
from casino.core.work import Outcome, Unmoved, Work
from casino.hands import deals, face_down, selectors
from casino.hands.models import Hand
from casino.tables import services as tables
from casino.tables.models import Table

#: Most hands that a process remembers.
MOST = 256


@dataclass(frozen=True, slots=True)
class _Known:
    """A hand as it was at a version of its table: its row, and its state after so many lines and corrections. Nobody
    changes them: they are copied."""

    version: int
    row: Hand
    lines: int
    corrections: int
    entered: Mapping[tuple[int, int], str]
    game: engine.Hand

    def seen(self) -> tuple[int, int, int, int]:
        """The arguments of `hands_open`."""
        return self.version, self.row.id, self.lines, self.corrections


_known: OrderedDict[tuple[UUID, str], _Known] = OrderedDict()
_NOTHING_SEEN = (0, 0, 0, 0)


@dataclass(slots=True)
class Opened:
    """A locked table and its hand that is not settled, where there is one."""

    table: Table
    hand: Hand | None
    #: What this process remembered when the write began; another thread may have replaced it since.
    known: _Known | None = None
    corrections: int = 0
    first_line: int = 0
    #: As `hands_log` stores them.
    lines: Sequence[str] = ()
    #: What was entered of the hand's unknown cards, by seat and index.
    entered: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def playing(self) -> Hand:
        """The hand in play. Raises Conflict no_hand when there is none."""
        return selectors.require_playing(self.table, self.hand)

    def game(self) -> engine.Hand:
        """The current hand, for the caller alone: remembered and played on, or replayed from inputs and log."""
        hand = self.playing()
        known = self.known
        if known is None or (known.row.id, known.corrections) != (hand.id, self.corrections):
            return engine.resume(selectors.setup(hand), self.lines_after(0), deals.shuffle(hand))
        game, shuffle = known.game.copy(), deals.shuffle(hand)
        for line in self.lines_after(known.lines):
            game.advance(line)
            if shuffle is not None:
                engine.supply(game, shuffle)
        return game

    def lines_after(self, count: int) -> list[str]:
        """The lines of the log after so many, with their cards. Raises CardsAltered."""
        return face_down.log(self.playing(), self.lines[count - self.first_line :], count + 1)

    def remember(self, game: engine.Hand) -> None:
        """Remember the hand's state, after the commit."""
        key = self.table.house_id, self.table.code
        if self.hand is None or game.over:
            _known.pop(key, None)
            return
        table = sql.copied(self.table)
        table.house = self.table.house
        row = _copied(self.hand, table)
        _known.pop(key, None)  # so that it stands at the end, as the newest
        _known[key] = _Known(self.table.version, row, len(game.log), self.corrections, self.entered, game)
        if len(_known) > MOST:
            _known.popitem(last=False)


def _copied(row: Hand, table: Table) -> Hand:
    """A hand's row again, which may be changed, at its table."""
    copied = sql.copied(row)
    copied.table, copied.house = table, table.house
    return copied


def _as_remembered(table: Table, hand: Hand, known: _Known) -> Opened:
    """A table and its hand, of which nothing has changed since."""
    return Opened(table, hand, known, known.corrections, known.lines, entered=known.entered)


def _entries(hand: Hand, entered: Sequence[str]) -> dict[tuple[int, int], str]:
    """The cards that were entered; the last entry of a card counts. Raises CardsAltered."""
    found = {}
    for text in entered:
        seat, index, sealed, hashed = text.split(" ")
        place = int(seat), int(index)
        found[place] = face_down.open_card(hand, *place, face_down.Sealed(bytes.fromhex(sealed), hashed)).text
    return found


_OPEN = f"""
SELECT {sql.columns(Table, "(seat_table)")},
    {sql.columns(Hand, "(hand)")},
    known, corrections, first_line, log, entered, request_hash, status, version, answer
FROM {patience.PATIENT.format(type="uuid")},
    LATERAL hands_open(patient.value, %s::text, %s::bigint, %s::text, %s::bigint, %s::bigint, %s::integer, %s::integer)
"""  # noqa: S608 - the names come from the models
_TABLE, _HAND = len(Table._meta.concrete_fields), len(Hand._meta.concrete_fields)


@dataclass(frozen=True, slots=True)
class AtHand:
    """The hand at the table of this code, written to at the table's own terminal."""

    code: str

    def remembered(self, command: Command) -> tuple[Opened, Unmoved] | None:
        """The table and its hand as this process knows them, if it does at the command's version. Raises
        WrongTerminal."""
        house, terminal = command.context.house, command.context.terminal
        known = _known.get((house.id, self.code))
        if known is None or known.version != command.expected_version:
            return None
        table = sql.copied(known.row.table)
        table.house = house
        tables.require_at(command.context, table)
        hand = _copied(known.row, table)
        asked = [table.id, known.version, terminal.id, command.key]
        unmoved = Unmoved("hands_unmoved(patient.value, %s::bigint, %s::bigint, %s::bigint, %s::text)", asked)
        return _as_remembered(table, hand, known), unmoved

    def open(self, command: Command) -> Opened:
        """Lock the table and read its hand. Raises NotFound, WrongTerminal, VersionConflict."""
        house, terminal = command.context.house, command.context.terminal
        known = _known.get((house.id, self.code))
        seen = known.seen() if known else _NOTHING_SEEN
        locks.taken(locks.Rank.DESK, "a table and its hand")
        [row] = sql.bound(_OPEN, [house.id, patience.lock_timeout(), self.code, terminal.id, command.key, *seen])
        as_known, corrections, first_line, lines, entered, request_hash, status, version, answer = row[_TABLE + _HAND :]
        if row[0] is None:
            raise NotFound(f"This house has no table with code={self.code}.")
        if request_hash is not None:
            raise AnsweredBefore(Stored(request_hash, status, version, answer))
        table = sql.built(Table, row[:_TABLE])
        table.house = house
        tables.require_at(command.context, table)
        command.require_version(table.version)
        if known is not None and as_known:
            return _as_remembered(table, _copied(known.row, table), known)
        if row[_TABLE] is None:
            return Opened(table, None)
        hand = sql.built(Hand, row[_TABLE : _TABLE + _HAND])
        hand.table, hand.house = table, house
        return Opened(table, hand, known, corrections, first_line, lines, _entries(hand, entered))

    def chain(self, opened: Opened) -> str:
        """The table's."""
        return opened.table.chain

    def advance(self, opened: Opened, work: Work, outcome: Outcome) -> tuple[int, AuditEvent]:
        """The table's next version."""
        tables.advance(opened.table, work)
        return opened.table.version, tables.at_version(outcome.event, opened.table.version)

    def answer(self, opened: Opened, outcome: Outcome) -> Mapping[str, Any]:
        """What the change has described, with the table's version."""
        return {**outcome.body, "version": opened.table.version}


def forget_all() -> None:
    """Remember no hand."""
    _known.clear()


sql.forget_with_each_connection(forget_all)
