"""What statistics of the deal are made of: hands that were over at a moment, their cards, who dealt and who won.

Which hands are counted, and in which state, is what the events up to the moment say; the cards come from the rows,
which do not change once a hand is over. Hands that were voided are counted apart and not tested: somebody has decided
over each of them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, NamedTuple

from casino.core.errors import SealedUnreadable
from casino.hands import deals
from casino.hands.decks import Dealt, dealt, kinds
from casino.hands.models import Mode
from casino.hands.snapshot import HandSnapshot
from casino.reports import halves
from casino.reports.deck_tests import Decks, Facts, Test, facts
from casino.reports.frame.filters import DEALER
from casino.reports.frame.reading import stream
from casino.reports.frame.report import Scope
from casino.reports.frame.span import span
from casino.reports.frame.trail import DaysOfEvents
from casino.reports.probability import holm
from casino.reports.table_hands import dealt_since
from casino.tables.models import Table
from casino.verification.hand_rows import CHUNK, Read, numbered

#: Pack, game, mode; and whether of all tables, a table or a dealer, and which.
Key = tuple[str, str, str, str, str]
#: Hands that were over at the moment, in the order of their rows, each with its deal and the newest event of its end:
#: of that its id, its kind by its place in the list of ends, and the winner. One pass over the events is enough;
#: OFFSET 0 keeps the planner from sorting whole events.
_EVENTS = """
SELECT hand.id, coalesce(said.dealt, 0), coalesce(said.dealer, ''), coalesce(said.commitment, ''),
    (%(ends)s::text[])[said.ended[2]], said.ended[3], place.code, hand.game, hand.mode
FROM (
    SELECT name, min(id) FILTER (WHERE kind IS NULL) AS dealt, min(dealer) FILTER (WHERE kind IS NULL) AS dealer,
        min(commitment) FILTER (WHERE kind IS NULL) AS commitment,
        max(ARRAY[id, kind, winner]) FILTER (WHERE kind IS NOT NULL) AS ended
    FROM (
        SELECT id, doc #>> '{data,hand}' AS name, array_position(%(ends)s::text[], doc ->> 'kind') AS kind,
            doc ->> 'actor' AS dealer, doc #>> '{data,commitment}' AS commitment,
            coalesce((doc #>> '{data,result,winner}')::int, 0) AS winner
        FROM audit_event WHERE house_id = %(house)s AND id BETWEEN %(dealt)s AND %(last)s
        AND (doc ->> 'kind' = 'hand.dealt' OR doc ->> 'kind' = ANY(%(ends)s)) OFFSET 0
    ) one GROUP BY 1
) said JOIN hands_hand hand ON hand.house_id = %(house)s AND hand.name = said.name
JOIN tables_table place ON place.id = hand.table_id
WHERE said.ended IS NOT NULL ORDER BY hand.id
"""
_ENDS = {"hand.settled": "settled", "hand.ruled": "ruled", "hand.voided": "voided"}


class _Noted(NamedTuple):
    """What the events say of the hand of a row, with its table, game and mode."""

    hand: int
    event: int
    dealer: str
    commitment: str
    kind: str
    winner: int
    table: str
    game: str
    mode: str

    @property
    def state(self) -> str:
        """How it ended."""
        return _ENDS[self.kind]


class _Seen(NamedTuple):
    """What a hand's row has: its first cards, what is counted of them unless it was voided, whether its seed is the one
    that the event of the deal has committed to, the numbers of its chairs in play order."""

    noted: _Noted
    cards: Dealt
    facts: Facts | None
    committed: bool
    seeded: bool
    won: bool
    chairs: list[int]


@dataclass(slots=True)
class Group:
    """Hands of one pack, game and mode: all, those of a table, or those of a dealer."""

    decks: Decks
    states: Counter[str] = field(default_factory=Counter)
    #: Hands whose first cards were not all known when they fell, and those whose cards cannot be opened.
    unknown: int = 0
    unreadable: int = 0
    #: Electronic hands, and those with a seed of a player.
    electronic: int = 0
    seeded: int = 0


class Judged(NamedTuple):
    """A test of a group, with its probability adjusted for all tests of the run."""

    key: Key
    test: Test
    adjusted: float


@dataclass(slots=True)
class Chair:
    """A chair of a table in hands that were settled with one winner: hands, wins, and wins by place in play order."""

    hands: int = 0
    won: int = 0
    #: Hands by number of seats and place in play order.
    places: Counter[tuple[int, int]] = field(default_factory=Counter)


@dataclass(slots=True)
class Dealing:
    """Everything that the sections of the report show."""

    groups: dict[Key, Group] = field(default_factory=dict)
    #: By table, game and chair.
    chairs: dict[tuple[str, str, int], Chair] = field(default_factory=dict)
    #: By table, game, number of seats and place in play order: hands, and wins.
    places: dict[tuple[str, str, int, int], list[int]] = field(default_factory=dict)
    #: Electronic hands, and those whose seed has the commitment that the event of the deal has.
    electronic: int = 0
    committed: int = 0
    #: Wins as the rows have them, and as the events of settlement have them.
    wins_of_rows: int = 0
    wins_of_events: int = 0
    unreadable: int = 0

    def judged(self) -> list[Judged]:
        """Every test of every group with decks enough."""
        tests = [(key, test) for key, group in sorted(self.groups.items()) for test in group.decks.tests()]
        adjusted = holm([test.probability for _, test in tests])
        return [Judged(key, test, found) for (key, test), found in zip(tests, adjusted, strict=True)]


def dealing(scope: Scope) -> Dealing:
    """Read the hands that the run asks for, some hundreds at a time: their number does not grow what is in memory. The
    cards of many hands are looked at by two processes."""
    found = Dealing()
    before: dict[str, tuple[int, ...]] = {}
    tables = {table.id: table for table in Table.objects.filter(house=scope.house)}
    seen = halves.in_order(lambda chunk: _seen(scope, tables, chunk), _chunks(scope))
    with closing(seen):
        for one in chain.from_iterable(seen):
            _add(found, one, before)
    return found


def _chunks(scope: Scope) -> Iterator[list[_Noted]]:
    asked = {
        "house": scope.house.id, "dealt": dealt_since(scope), "last": span(scope).last_event, "ends": list(_ENDS),
    }  # fmt: skip
    days, wanted = DaysOfEvents(scope), scope.filters
    noted = (_Noted(*row) for row in stream(_EVENTS, asked))
    over = (
        one for one in noted
        if days.takes(one.event) and wanted.get("table") in (None, one.table)
        and wanted.get(DEALER.name) in (None, one.dealer) and wanted.get("game") in (None, one.game)
        and wanted.get("mode") in (None, one.mode)
    )  # fmt: skip
    while chunk := list(islice(over, CHUNK)):
        yield chunk


def _seen(scope: Scope, tables: Mapping[int, Table], chunk: Sequence[_Noted]) -> list[_Seen]:
    reads = numbered(scope.house, tables, [noted.hand for noted in chunk])
    return [_of(read, noted) for read, noted in zip(reads, chunk, strict=True)]


def _of(read: Read, noted: _Noted) -> _Seen:
    hand = read.hand
    cards = dealt(hand, read.lines)
    counted = None
    if cards.places and noted.state != "voided":
        counted = facts(cards.places, cards.size, kinds(hand.game, cards.pack))
    committed = hand.mode == Mode.ELECTRONIC and _keeps_commitment(hand, noted)
    result: dict[str, Any] = hand.result or {}
    chairs = [seat["seat"] for seat in hand.seats]
    return _Seen(noted, cards, counted, committed, bool(hand.client_seeds), bool(result.get("winner")), chairs)


def _add(found: Dealing, seen: _Seen, before: dict[str, tuple[int, ...]]) -> None:
    noted, cards = seen.noted, seen.cards
    electronic = noted.mode == Mode.ELECTRONIC
    found.electronic += electronic
    found.committed += seen.committed
    found.unreadable += bool(cards.problem)
    counted = None if seen.facts is None else seen.facts.after(before.get(noted.table))
    if electronic and cards.places:
        before[noted.table] = cards.places
    for by, name in (("all", ""), ("table", noted.table), ("dealer", noted.dealer)):
        key = (cards.pack, noted.game, noted.mode, by, name)
        group = found.groups.get(key)
        if group is None:
            group = found.groups[key] = Group(Decks(cards.size, kinds(noted.game, cards.pack)))
        group.states[noted.state] += 1
        group.unreadable += bool(cards.problem)
        group.unknown += not cards.places and not cards.problem
        group.electronic += electronic
        group.seeded += seen.seeded
        if counted is not None:
            group.decks.add(counted)
    if noted.state == "settled":
        _seats(found, seen)


def _keeps_commitment(hand: HandSnapshot, noted: _Noted) -> bool:
    """Whether the sealed seed is the one that the event of the deal has committed to."""
    try:
        return deals.recommitted(hand) == noted.commitment
    except SealedUnreadable:
        return False


def _seats(found: Dealing, seen: _Seen) -> None:
    noted, count = seen.noted, len(seen.chairs)
    found.wins_of_rows += seen.won
    found.wins_of_events += bool(noted.winner)
    if not noted.winner:
        return
    for place, seat in enumerate(seen.chairs, start=1):
        won = place == noted.winner
        chair = found.chairs.setdefault((noted.table, noted.game, seat), Chair())
        chair.hands += 1
        chair.won += won
        chair.places[count, place] += 1
        sums = found.places.setdefault((noted.table, noted.game, count, place), [0, 0])
        sums[0] += 1
        sums[1] += won
