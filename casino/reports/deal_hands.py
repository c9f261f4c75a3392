"""What statistics of the deal are made of: hands that were over at a moment, their cards, who dealt and who won.

Which hands are counted, and in which state, is what the events up to the moment say; the cards come from the rows,
which do not change once a hand is over. Hands that were voided are counted apart and not tested: somebody has decided
over each of them.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from casino.core.errors import SealedUnreadable
from casino.hands import deals
from casino.hands.decks import Dealt, Kinds, dealt, kinds
from casino.hands.models import Mode
from casino.reports.deck_tests import Decks, Facts, Test, facts
from casino.reports.frame.filters import DEALER
from casino.reports.frame.reading import stream
from casino.reports.frame.report import Scope
from casino.reports.frame.trail import DaysOfEvents
from casino.reports.probability import holm
from casino.tables.models import Table
from casino.verification.hand_rows import Read, chunks

#: Pack, game, mode; and whether of all tables, a table or a dealer, and which.
Key = tuple[str, str, str, str, str]
#: Hands that were over at the moment, in the order of their rows, each with its deal and the newest event of its end.
_EVENTS = """
WITH dealt AS (
    SELECT doc #>> '{data,hand}' AS name, id, doc ->> 'actor' AS dealer,
        coalesce(doc #>> '{data,commitment}', '') AS commitment
    FROM audit_event WHERE house_id = %(house)s AND id <= %(event)s AND doc ->> 'kind' = 'hand.dealt'
), ended AS (
    SELECT DISTINCT ON (name) * FROM (
        SELECT doc #>> '{data,hand}' AS name, id, doc ->> 'kind' AS kind,
            coalesce((doc #>> '{data,result,winner}')::int, 0) AS winner
        FROM audit_event WHERE house_id = %(house)s AND id <= %(event)s AND doc ->> 'kind' = ANY(%(ends)s)
    ) said ORDER BY name, id DESC
)
SELECT hand.id, coalesce(dealt.id, 0), coalesce(dealt.dealer, ''), coalesce(dealt.commitment, ''), ended.kind,
    ended.winner
FROM ended JOIN hands_hand hand ON hand.house_id = %(house)s AND hand.name = ended.name
LEFT JOIN dealt ON dealt.name = ended.name ORDER BY hand.id
"""
_ENDS = {"hand.settled": "settled", "hand.ruled": "ruled", "hand.voided": "voided"}


@dataclass(slots=True)
class _Noted:
    """What the events say of a hand."""

    event: int = 0
    dealer: str = ""
    commitment: str = ""
    state: str = ""
    winner: int = 0


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
    """Read the hands that the run asks for, some hundreds at a time: their number does not grow what is in memory."""
    found, days, asked = Dealing(), DaysOfEvents(scope), scope.filters
    before: dict[str, tuple[int, ...]] = {}
    for read, noted in _over(scope):
        hand = read.hand
        if not days.takes(noted.event) or asked.get("table") not in (None, hand.table.code):
            continue
        if asked.get(DEALER.name) not in (None, noted.dealer):
            continue
        if asked.get("game") not in (None, hand.game) or asked.get("mode") not in (None, hand.mode):
            continue
        _add(found, read, noted, before)
    return found


def _over(scope: Scope) -> Iterator[tuple[Read, _Noted]]:
    """Hands and what the events say of them, both in the order of the rows: one pass over the events for all."""
    tables = {found.id: found for found in Table.objects.filter(house=scope.house)}
    asked = {"house": scope.house.id, "event": scope.as_of.event, "ends": list(_ENDS)}
    said = stream(_EVENTS, asked)
    hand, *known = next(said, (None, None))
    for read in chain.from_iterable(chunks(scope.house, tables, None)):
        if read.hand.id == hand:
            event, dealer, commitment, kind, winner = known
            yield read, _Noted(event, dealer, commitment, _ENDS[kind], winner)
            hand, *known = next(said, (None, None))


def _add(found: Dealing, read: Read, noted: _Noted, before: dict[str, tuple[int, ...]]) -> None:
    hand = read.hand
    cards = dealt(hand, read.lines)
    electronic = hand.mode == Mode.ELECTRONIC
    if electronic:
        found.electronic += 1
        found.committed += _keeps_commitment(read, noted)
    found.unreadable += bool(cards.problem)
    counted = _facts(cards, hand.game, before.get(hand.table.code)) if noted.state != "voided" else None
    if electronic and cards.places:
        before[hand.table.code] = cards.places
    for by, name in (("all", ""), ("table", hand.table.code), ("dealer", noted.dealer)):
        key = (cards.pack, hand.game, hand.mode, by, name)
        group = found.groups.get(key)
        if group is None:
            group = found.groups[key] = Group(Decks(cards.size, kinds(hand.game, cards.pack)))
        group.states[noted.state] += 1
        group.unreadable += bool(cards.problem)
        group.unknown += not cards.places and not cards.problem
        group.electronic += electronic
        group.seeded += bool(hand.client_seeds)
        if counted is not None:
            group.decks.add(counted)
    if noted.state == "settled":
        _seats(found, read, noted)


def _facts(cards: Dealt, game: str, before: tuple[int, ...] | None) -> Facts | None:
    ranked: Kinds | None = kinds(game, cards.pack)
    return facts(cards.places, cards.size, ranked, before) if cards.places else None


def _keeps_commitment(read: Read, noted: _Noted) -> bool:
    """Whether the sealed seed is the one that the event of the deal has committed to."""
    try:
        return deals.recommitted(read.hand) == noted.commitment
    except SealedUnreadable:
        return False


def _seats(found: Dealing, read: Read, noted: _Noted) -> None:
    hand = read.hand
    result: dict[str, Any] = hand.result or {}
    found.wins_of_rows += bool(result.get("winner"))
    found.wins_of_events += bool(noted.winner)
    if not noted.winner:
        return
    for place, seat in enumerate(hand.seats, start=1):
        won = place == noted.winner
        chair = found.chairs.setdefault((hand.table.code, hand.game, seat["seat"]), Chair())
        chair.hands += 1
        chair.won += won
        chair.places[len(hand.seats), place] += 1
        sums = found.places.setdefault((hand.table.code, hand.game, len(hand.seats), place), [0, 0])
        sums[0] += 1
        sums[1] += won
