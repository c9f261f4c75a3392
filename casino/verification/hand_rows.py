"""Reading stored hands for verification: their rows and logs, and what the ledger holds under their keys, many at a
time."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from casino.core import sql
from casino.hands import face_down, postings
from casino.hands.models import Deal, Mode
from casino.hands.snapshot import HandSnapshot
from casino.houses.models import House
from casino.tables.models import Table

#: Hands that are read, replayed and compared at a time.
CHUNK = 500
#: Codes to amounts, debits positive, chips at face value.
Legs = dict[str, int]


class Posted(NamedTuple):
    """One ledger transaction of a hand: how many lines it covers, what it moved, and its mirror where it was reversed.
    `text` is what it moved as PostgreSQL writes it, a JSON object of codes and amounts (`postings.text`); it is read
    only where it is not the one expected."""

    id: int
    lines: int
    text: str
    mirror: int | None = None
    mirror_text: str = "{}"

    @property
    def legs(self) -> Legs:
        """What it moved."""
        legs: Legs = json.loads(self.text)
        return legs

    @property
    def mirrored(self) -> Legs:
        """What its mirror moved."""
        legs: Legs = json.loads(self.mirror_text)
        return legs


class SealedBeside(NamedTuple):
    """Sealed cards: those of a `line` by its number and its text as everybody saw it, an entered `card` by seat and
    index, or those of an `exception` by its number and its kind."""

    kind: str
    number: int
    place: int
    text: str
    sealed: bytes
    hash: str

    def require(self, hand: HandSnapshot) -> None:
        """Open it. Raises face_down.CardsAltered."""
        if self.kind == "line":
            face_down.open_line(hand, self.number, face_down.stored(self.text, self))
        elif self.kind == "exception":
            face_down.open_exception(hand, self.number, self.text, self)
        else:
            face_down.open_card(hand, self.number, self.place, face_down.Sealed(self.sealed, self.hash))


class Read(NamedTuple):
    """A hand's row and its log as it is stored; `gapless` says whether the numbers of its lines run from 1 without a
    gap."""

    hand: HandSnapshot
    lines: list[str]
    gapless: bool


# Options and seats are those of many hands, so their texts come by themselves; JSON that is read together costs less.
_READ = """
SELECT log.text, log.gapless, options::text, seats::text,
    jsonb_build_array(stacks, fees, series, client_seeds, cards_roots, result, ruling)::text, table_id,
    session_id, name, mode, game, rules, carry, commitment, sealed_seed, state, disputes_withdrawn,
    digest, handle, settlement, id
FROM hands_hand LEFT JOIN LATERAL (
    SELECT string_agg(stored, E'\\n' ORDER BY seq) AS text, count(*) = coalesce(max(seq), 0) AS gapless
    FROM hands_log WHERE hands_log.house_id = hands_hand.house_id AND hand_id = hands_hand.id
) AS log ON true
"""
_HANDS = f"""
{_READ} WHERE house_id = %s AND id > %s AND (%s::bigint IS NULL OR table_id = %s) ORDER BY id LIMIT %s
"""
_NAMED = f"""
{_READ} WHERE house_id = %s AND name = ANY(%s) ORDER BY id
"""
_NUMBERED = f"""
{_READ} WHERE house_id = %s AND id = ANY(%s) ORDER BY id
"""


def chunks(house: House, tables: Mapping[int, Table], table: Table | None) -> Iterator[list[Read]]:
    """All hands, in the order of their ids; a chunk that is not full is the last."""
    last, full = 0, True
    while full and (chunk := _read(house, tables, last, table)):
        yield chunk
        last, full = chunk[-1].hand.id, len(chunk) == CHUNK


def _read(house: House, tables: Mapping[int, Table], after: int, table: Table | None) -> list[Read]:
    """The next hands after this id with their logs, in one query."""
    only = table.id if table else None
    return _taken(house, tables, sql.rows(_HANDS, [house.id, after, only, only, CHUNK]))


def named(house: House, tables: Mapping[int, Table], names: Sequence[str]) -> list[Read]:
    """The hands of these names with their logs, in one query."""
    return _taken(house, tables, sql.rows(_NAMED, [house.id, list(names)]))


def numbered(house: House, tables: Mapping[int, Table], ids: Sequence[int]) -> list[Read]:
    """The hands of these ids with their logs, in the order of the ids, in one query."""
    return _taken(house, tables, sql.rows(_NUMBERED, [house.id, list(ids)]))


def _taken(house: House, tables: Mapping[int, Table], rows: Iterable[tuple[Any, ...]]) -> list[Read]:
    found = []
    for text, gapless, options, seats, own, table_id, *plain, id_ in rows:
        row = (id_, house.id, tables[table_id], *plain, _shared(options), _shared(seats), *json.loads(own))
        hand = HandSnapshot(*row)
        found.append(Read(hand, text.split("\n") if text else [], gapless))
    return found


@lru_cache(maxsize=1 << 10)
def _shared(text: str) -> Any:
    """What a text of JSON says, the same object for the same text: nobody may change it."""
    return json.loads(text)


# The parts of each hand's keys by index; mirrors by what they reverse, whatever their keys are. A posting is a line of
# text, those of the hand's lines in their order and its endings last; in the text of JSON there is no tab.
_POSTED = """
WITH hand AS (
    SELECT id, name, lines FROM unnest(%s::bigint[], %s::text[], %s::int[]) AS hand (id, name, lines)
), keyed AS (
    SELECT id, line, part, 'hand:' || name || ':' || part AS key FROM hand CROSS JOIN LATERAL (
        SELECT line, line::text FROM generate_series(0, lines) AS line UNION ALL SELECT NULL, unnest(%s::text[])
    ) AS parts (line, part)
), posted AS MATERIALIZED (
    SELECT keyed.id AS hand, keyed.line, keyed.part, t.id, CASE
        WHEN t.metadata->>'lines' ~ '^[0-9]{1,6}$' THEN (t.metadata->>'lines')::int ELSE 1 END AS lines,
        mirror.id AS mirror
    FROM keyed JOIN ledger_transaction t
    ON md5(t.book::text || t.idempotency_key)::uuid = md5(%s || keyed.key)::uuid AND t.idempotency_key = keyed.key
    LEFT JOIN ledger_transaction mirror ON mirror.reverses_id = t.id
), moved AS (
    SELECT entry.transaction_id AS id, account.code, sum(entry.amount * CASE
        WHEN split_part(account.commodity, '.', 3) ~ '^[0-9]+$' THEN split_part(account.commodity, '.', 3)::bigint
        ELSE 1 END)::bigint AS amount
    FROM (SELECT id FROM posted UNION ALL SELECT mirror FROM posted WHERE mirror IS NOT NULL) AS wanted
    JOIN ledger_entry entry ON entry.transaction_id = wanted.id
    JOIN ledger_account account ON account.id = entry.account_id
    GROUP BY 1, 2
), legs AS (
    SELECT id, jsonb_object_agg(code, amount)::text AS legs FROM moved WHERE amount <> 0 GROUP BY id
)
SELECT posted.hand, string_agg(concat_ws(E'\\t',
    posted.part, posted.id, posted.lines, coalesce(own.legs, '{}'), posted.mirror,
    CASE WHEN posted.mirror IS NOT NULL THEN coalesce(mirrored.legs, '{}') END), E'\\n' ORDER BY posted.line)
FROM posted LEFT JOIN legs own ON own.id = posted.id LEFT JOIN legs mirrored ON mirrored.id = posted.mirror
GROUP BY posted.hand
"""


def posted_of(house: House, chunk: list[Read]) -> dict[int, dict[str, Posted]]:
    """What the ledger holds under these hands' keys, by hand and part of the key, in one query: postings of lines in
    the order of their lines."""
    rows = sql.rows(
        _POSTED,
        [
            [read.hand.id for read in chunk],
            [read.hand.name for read in chunk],
            [len(read.lines) for read in chunk],
            postings.endings(max(read.hand.disputes_withdrawn for read in chunk)),
            str(house.id),
        ],
    )
    return {hand: dict(map(_posting, text.split("\n"))) for hand, text in rows}


def _posting(row: str) -> tuple[str, Posted]:
    """One posting of :data:`_POSTED`: the part of its key, and the posting."""
    part, id_, lines, text, *reversed_by = row.split("\t")
    if reversed_by:
        mirror, mirror_text = reversed_by
        return part, Posted(int(id_), int(lines), text, int(mirror), mirror_text)
    return part, Posted(int(id_), int(lines), text)


# What is sealed of hands besides their logs: lines that were corrected, all corrections, entered cards, exceptions.
_BESIDE = """
SELECT hand_id, 'line', seq, 0, text, sealed, hash FROM hands_handline line
WHERE house_id = %s AND hand_id = ANY(%s) AND sealed <> '' AND EXISTS (
    SELECT FROM hands_correction c WHERE (c.house_id, c.hand_id, c.seq) = (line.house_id, line.hand_id, line.seq))
UNION ALL
SELECT hand_id, 'line', seq, 0, after, sealed, hash FROM hands_correction
WHERE house_id = %s AND hand_id = ANY(%s) AND sealed <> ''
UNION ALL
SELECT hand_id, 'card', seat, index, '', sealed, hash FROM hands_cardentry WHERE house_id = %s AND hand_id = ANY(%s)
UNION ALL
SELECT hand_id, 'exception', number, 0, kind, sealed, hash FROM hands_cardexception
WHERE house_id = %s AND hand_id = ANY(%s)
"""


def sealed_beside(house: House, chunk: list[Read]) -> dict[int, list[SealedBeside]]:
    """What is sealed of these hands besides their logs, by hand. Only physical ones have more than exceptions."""
    physical = [read.hand.id for read in chunk if read.hand.mode == Mode.PHYSICAL]
    found: dict[int, list[SealedBeside]] = {}
    every = [read.hand.id for read in chunk]
    for hand, *row in sql.rows(_BESIDE, [*[house.id, physical] * 3, house.id, every]):
        found.setdefault(hand, []).append(SealedBeside(*row))
    return found


def prepared_of(house: House, chunk: list[Read]) -> dict[str, Deal]:
    """The deals that were prepared under the names of these electronic hands, by name; none is read for others."""
    names = [read.hand.name for read in chunk if read.hand.mode == Mode.ELECTRONIC]
    if not names:
        return {}
    found = Deal.objects.filter(house=house, name__in=names).prefetch_related("client_seeds")
    return {deal.name: deal for deal in found}


def only_read(house: House) -> int:
    """Read all that :func:`verify` compares, and no more; returns the number of hands. What verification is measured
    against."""
    tables = {found.id: found for found in Table.objects.filter(house=house)}
    hands = 0
    for chunk in chunks(house, tables, None):
        posted_of(house, chunk)
        hands += len(chunk)
    return hands
