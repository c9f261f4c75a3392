"""Every stored hand replayed under the rules of its day, and compared with the ledger posting by posting.

One home for it: `manage.py verify_hands`, the house's verification and the report of a hand's money. The replay is
`hands.replays`', which the worker settles by; here its movements meet what the ledger holds under the hand's keys.
A difference names the hand, the line of its log, the account, and the amounts, counted on the account's normal side.
Of hands that are not settled yet, what is posted so far is compared. Of electronic hands, commitment, client seeds and
the roots of their packs are compared with their seed and their prepared deal.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidTag
from django.db import connection, transaction

from casino import sql
from casino.hands import deals, postings, replays, series, settlement
from casino.hands.models import Deal, DealState, HandState, Mode
from casino.hands.stored import StoredHand
from casino.house import books, chart
from casino.house.models import House
from casino.reports import strays
from casino.tables.models import Sitting, Table

#: Hands that are read, replayed and compared at a time.
CHUNK = 500
#: Codes to amounts, debits positive, chips at face value.
Legs = dict[str, int]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as the replay says. `line` counts from 1 (0: what came with the start) and `action` is its
    text, or the settlement, ruling or dispute; `key` is the ledger's key of the posting; amounts in minor units."""

    hand: str
    problem: str
    line: int | None = None
    action: str | None = None
    key: str | None = None
    account: str | None = None
    expected: int | None = None
    found: int | None = None

    def as_json(self) -> dict[str, Any]:
        """What is known of it."""
        known = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: value for name, value in known.items() if value is not None}


@dataclass(slots=True)
class Tally:
    """How many hands were gone through, by state."""

    states: Counter[str] = field(default_factory=Counter)

    @property
    def hands(self) -> int:
        """All of them."""
        return self.states.total()


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


def verify(house: House, *, table: Table | None = None, tally: Tally | None = None) -> Iterator[Difference]:
    """Every difference between the hands of a house, or of one table, and its ledger, in the order of the hands; at the
    end what the ledger has posted to pots without a line of a hand to explain it. `tally` counts along.

    Reads one snapshot, so a house may be playing meanwhile; must be the first in its transaction where there is one.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield from differences(house, table=table, tally=tally)


def differences(house: House, *, table: Table | None = None, tally: Tally | None = None) -> Iterator[Difference]:
    """As :func:`verify`, in whatever transaction there is."""
    counted = tally or Tally()
    tables = {found.id: found for found in Table.objects.filter(house=house)}
    left, resumes = dict[int, dict[str, Any]](), _resumed(house)
    for chunk in _chunks(house, tables, table):
        posted = _posted(house, chunk)
        prepared = _prepared(house, chunk)
        counted.states.update([read.hand.state for read in chunk])
        for read in chunk:
            hand = read.hand
            yield from _differences(read, posted.get(hand.id, {}), prepared.get(hand.name))
            yield from _series(hand, left, resumes)
    for key, problem in strays.of(house, table):
        yield Difference(key.split(":")[1] if key.startswith("hand:") else "", problem, key=key)


# --- Reading --------------------------------------------------------------------------------------------------------


class _Read(NamedTuple):
    """A hand's row and its log; `gapless` says whether the numbers of its lines run from 1 without a gap."""

    hand: StoredHand
    lines: list[str]
    gapless: bool


# Options and seats are those of many hands, so their texts come by themselves; JSON that is read together costs less.
_HANDS = """
SELECT log.text, log.gapless, options::text, seats::text,
    jsonb_build_array(stacks, fees, series, client_seeds, cards_roots, result, ruling)::text, table_id,
    sitting_id, name, mode, game, rules, carry, commitment, sealed_seed, state, digest, handle, settlement, id
FROM hands_hand LEFT JOIN LATERAL (
    SELECT string_agg(text, E'\\n' ORDER BY seq) AS text, count(*) = coalesce(max(seq), 0) AS gapless
    FROM hands_log WHERE hand_id = hands_hand.id
) AS log ON true
WHERE house_id = %s AND id > %s AND (%s::bigint IS NULL OR table_id = %s) ORDER BY id LIMIT %s
"""


def _chunks(house: House, tables: Mapping[int, Table], table: Table | None) -> Iterator[list[_Read]]:
    """All hands, in the order of their ids; a chunk that is not full is the last."""
    last, full = 0, True
    while full and (chunk := _read(house, tables, last, table)):
        yield chunk
        last, full = chunk[-1].hand.id, len(chunk) == CHUNK


def _read(house: House, tables: Mapping[int, Table], after: int, table: Table | None) -> list[_Read]:
    """The next hands after this id with their logs, in one query."""
    only = table.id if table else None
    found = []
    for text, gapless, options, seats, own, table_id, *plain, id_ in sql.rows(
        _HANDS, [house.id, after, only, only, CHUNK]
    ):
        hand = StoredHand(id_, house.id, tables[table_id], *plain, _shared(options), _shared(seats), *json.loads(own))
        found.append(_Read(hand, text.split("\n") if text else [], gapless))
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


def _posted(house: House, chunk: list[_Read]) -> dict[int, dict[str, Posted]]:
    """What the ledger holds under these hands' keys, by hand and part of the key, in one query: postings of lines in
    the order of their lines."""
    rows = sql.rows(
        _POSTED,
        [
            [read.hand.id for read in chunk],
            [read.hand.name for read in chunk],
            [len(read.lines) for read in chunk],
            list(postings.ENDINGS),
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


def _prepared(house: House, chunk: list[_Read]) -> dict[str, Deal]:
    """The deals that were prepared under the names of these electronic hands, by name; none is read for others."""
    names = [read.hand.name for read in chunk if read.hand.mode == Mode.ELECTRONIC]
    if not names:
        return {}
    found = Deal.objects.filter(house=house, name__in=names).prefetch_related("client_seeds")
    return {deal.name: deal for deal in found}


def merely_read(house: House) -> int:
    """Read all that :func:`verify` compares, and no more; returns the number of hands. What verification is measured
    against."""
    tables = {found.id: found for found in Table.objects.filter(house=house)}
    hands = 0
    for chunk in _chunks(house, tables, None):
        _posted(house, chunk)
        hands += len(chunk)
    return hands


# --- Comparing ------------------------------------------------------------------------------------------------------


def _differences(read: _Read, posted: dict[str, Posted], prepared: Deal | None) -> Iterator[Difference]:
    """What is wrong with one hand, which was dealt from this prepared deal."""
    hand = read.hand
    if not read.gapless:
        yield Difference(hand.name, "the numbers of its lines have a gap")
    try:
        replayed = replays.follow(hand, read.lines)
        yield from _deal(replayed, prepared)
    except InvalidTag:
        yield Difference(hand.name, "the sealed seed does not open: row or key is another")
        return
    agrees = yield from _replay(replayed)
    check = _Check(replayed, posted)
    if hand.state != HandState.VOIDED:
        yield from check.reversed()
    if agrees and not check.stakes_agree():
        yield from check.stakes()
    match hand.state:
        case HandState.SETTLED:
            if agrees:
                yield from check.ending("settlement", replayed.settled())
        case HandState.VOIDED:
            yield from check.undone()
        case HandState.RULED:
            yield from check.ruled()
        case HandState.DISPUTED:
            yield from check.frozen()


def _deal(replayed: replays.Replay, prepared: Deal | None) -> Iterator[Difference]:
    """Compare what an electronic hand was committed to with its seed, its prepared deal and its packs. Raises
    cryptography's InvalidTag."""
    hand = replayed.hand
    if hand.mode != Mode.ELECTRONIC:
        return
    found = deals.recommitted(hand)
    if found != hand.commitment:
        yield Difference(hand.name, f"its seed has the commitment {found}, the hand was dealt with {hand.commitment}")
    if prepared is not None and prepared.commitment != hand.commitment:
        problem = f"its deal was prepared with commitment {prepared.commitment}, the hand has {hand.commitment}"
        yield Difference(hand.name, problem)
    if prepared is not None and prepared.state != DealState.DEALT:
        yield Difference(hand.name, f"it was dealt, and its deal is {prepared.state}")
    taken = {str(one.seat): one.seed for one in prepared.client_seeds.all()} if prepared else {}
    if taken != hand.client_seeds:
        yield Difference(hand.name, f"client seeds {taken} were taken, the hand was dealt with {hand.client_seeds}")
    if replayed.game is not None and hand.cards_roots:
        roots = deals.roots(hand, replayed.game.setup)
        # A replay that was refused has not come to all redeals; the refusal is a difference of its own.
        stored = hand.cards_roots[: len(roots)] if replayed.error else hand.cards_roots
        if roots != stored:
            yield Difference(hand.name, f"its packs have the roots {roots}, the hand tells {stored}")


def _replay(replayed: replays.Replay) -> Any:
    """Compare the replay with what the row holds; a generator that returns whether stakes can be compared with it."""
    hand = replayed.hand
    if hand.state in (HandState.PLAYING, HandState.VOIDED):
        # A hand that nothing came of: its log must stand as far as it goes, if it was not voided for that.
        if replayed.refusal and hand.state == HandState.PLAYING:
            yield _at(replayed, replayed.accepted + 1, replayed.refusal)
        return replayed.error is None
    mismatch = settlement.compare(hand, replayed)
    if mismatch is None and hand.handle != postings.handle(replayed.moves):
        mismatch = f"the handle is {postings.handle(replayed.moves)} by replay and {hand.handle} as stored"
    if hand.state == HandState.DISPUTED:
        yield Difference(hand.name, f"the hand is disputed: {mismatch or 'its replay stands now'}")
    elif mismatch is not None and hand.state != HandState.RULED:
        yield _at(replayed, replayed.accepted + 1 if replayed.error else None, mismatch)
    return mismatch is None


def _at(replayed: replays.Replay, line: int | None, problem: str) -> Difference:
    name, lines = replayed.hand.name, replayed.lines
    if line is None or not 0 < line <= len(lines):
        return Difference(name, problem)
    return Difference(name, f"line {line}, {lines[line - 1]}: {problem}", line=line, action=lines[line - 1])


def _resumed(house: House) -> dict[int, int]:
    """Sittings that go on with what another one has left, by their ids."""
    found = Sitting.objects.filter(table__house=house, resumes__isnull=False)
    return dict(found.values_list("id", "resumes_id"))


def _series(hand: StoredHand, left: dict[int, dict[str, Any]], resumes: Mapping[int, int]) -> Iterator[Difference]:
    """What a hand was told of those before it; `left` remembers what each sitting's last settled hand left."""
    sitting: int | None = hand.sitting_id
    while sitting is not None and sitting not in left:
        sitting = resumes.get(sitting)
    before = left[sitting] if sitting is not None else {}
    if hand.state == HandState.SETTLED:
        left[hand.sitting_id] = (hand.result or {}).get("series", {})
    problem = series.problem_of(hand, before)
    if problem is not None:
        yield Difference(hand.name, problem)


class _Check:
    """One hand's movements against its postings."""

    def __init__(self, replayed: replays.Replay, posted: dict[str, Posted]) -> None:
        self.replayed = replayed
        self.hand = replayed.hand
        self.posted = posted

    def stakes_agree(self) -> bool:
        """Whether :meth:`stakes` has nothing to say, told in a fraction of the time: the postings in the order of their
        lines hold exactly the movements in their order."""
        replayed, at = self.replayed, 0
        ends, moves, last = replayed.ends, replayed.moves, replayed.accepted
        table, seats = self.hand.table.code, self.hand.seats
        for first, posted in self._numbered():
            begin, at = at, ends[min(first + max(posted.lines, 1) - 1, last)]
            if (ends[first - 1] if first else 0) != begin:
                return False
            if at == begin + 1 <= replayed.ending:
                # One movement, as almost all: no need to add anything up, nor to read the posting.
                move = moves[begin]
                if posted.text != postings.text(move, table, postings.ends_of(move, seats)):
                    return False
            elif replayed.booked(replayed.at_once(first, posted.lines)) != posted.legs:
                return False
        return not postings.at_once(moves[at:], replayed.ending - at)

    def _numbered(self) -> list[tuple[int, Posted]]:
        """The postings of lines in the order of their lines."""
        return [(int(part), posted) for part, posted in self.posted.items() if part.isdigit()]

    def stakes(self) -> Iterator[Difference]:
        """What lines post at once: each posting against the lines it covers, and every line's movements posted."""
        replayed, at = self.replayed, 0
        for first, posted in self._numbered():
            if first > at:
                yield from self._unposted(at, first)
            # A posting of lines that another one covers already explains nothing.
            due = replayed.booked(replayed.at_once(first, posted.lines)) if first >= at else {}
            if due != posted.legs:
                yield from self._unlike(first, posted.lines, due, posted.legs)
            at = max(at, first + max(posted.lines, 1))
        yield from self._unposted(at, replayed.accepted + 1)

    def _unposted(self, first: int, beyond: int) -> Iterator[Difference]:
        """Lines in a stretch that no posting covers, but move something."""
        ends = self.replayed.ends
        if first < beyond and ends[beyond - 1] > (ends[first - 1] if first else 0):
            for line in range(first, beyond):
                due = self.replayed.booked(self.replayed.at_once(line, 1))
                yield from self._unlike(line, 1, due, {})

    def ending(self, part: str, due: Legs) -> Iterator[Difference]:
        """What the hand posts at its end, and that the row names that transaction."""
        posted = self.posted.get(part)
        found = posted.legs if posted else {}
        if due != found:
            yield from self._unlike_ending(part, due, found)
        named = self.hand.settlement
        if named != (posted.id if posted else None):
            key = postings.key(self.hand, part)
            problem = f"{part}: the hand names ledger transaction {named}, {key} is {posted.id if posted else 'none'}"
            yield Difference(self.hand.name, problem, action=part, key=key)
        explained = ("ruling", "dispute") if part == "ruling" else (part,)
        for other in postings.ENDINGS:
            if other in self.posted and other not in explained:
                yield from self._unlike_ending(other, {}, self.posted[other].legs)

    def frozen(self) -> Iterator[Difference]:
        """Of a disputed hand the whole pot lies apart, and the bank of the seats with it; nothing is paid."""
        table = self.hand.table
        pot, carried, bank, apart = (table.account(number) for number in ("2030", "2040", "2050", "2070"))
        posted = self.posted.get("dispute")
        found = posted.legs if posted else {}
        before = _sum(each.legs for part, each in self.posted.items() if part.isdigit())
        # What was carried in and did not come out of the cukassza lay in the bank.
        in_bank = self.hand.carry - before.get(carried, 0) - before.get(bank, 0)
        due = {pot: -before.get(pot, 0), bank: in_bank}
        due = {code: amount for code, amount in due.items() if amount}
        yield from self._unlike_ending("dispute", due | {apart: -sum(due.values())}, found)
        for part in ("settlement", "ruling"):
            if part in self.posted:
                yield from self._unlike_ending(part, {}, self.posted[part].legs)

    def ruled(self) -> Iterator[Difference]:
        """A hand that was ruled on is not what its replay says, so its money is compared with the ruling, and with what
        must be true of any hand: the seats have lost what the house kept, less the cukassza that was carried in."""
        hand, table = self.hand, self.hand.table
        decided = hand.ruling or {}
        stacks = {actor: table.stack_account(hand.player_of(int(actor[1:]))) for actor in decided["awards"]}
        due = {stacks[actor]: -amount for actor, amount in decided["awards"].items() if amount}
        due[table.account("2070")] = decided["pot"]
        if decided["tax"]:
            due |= {table.account("4010"): -decided["tax"]}
            due |= {table.account("9150"): decided["tax"], table.account("9170"): -decided["tax"]}
        posted = self.posted.get("ruling")
        found = posted.legs if posted else {}
        if found != due:
            told = {code: _signed(code, amount) for code, amount in found.items()}
            wanted = {code: _signed(code, amount) for code, amount in due.items()}
            yield Difference(hand.name, f"the ruling says {wanted} and the ledger {told}", action="ruling",
                             key=postings.key(hand, "ruling"))  # fmt: skip
        yield from self.ending("ruling", found)
        whole = _sum(each.legs for each in self.posted.values())
        carried, bank = table.account("2040"), table.account("2050")
        kept = {table.account("2030"): 0, table.account("2070"): 0, table.account("4010"): -decided["tax"]}
        kept[carried] = hand.carry - whole.get(bank, 0)
        for code, amount in kept.items():
            if whole.get(code, 0) != amount:
                yield self._difference(None, "the whole hand", None, code, amount, whole.get(code, 0))
        seats = sum(whole.get(table.stack_account(seat["player"]), 0) for seat in hand.seats)
        if -seats != hand.carry - decided["tax"]:
            yield Difference(
                hand.name, f"the seats won {-seats} in all, carry less tax is {hand.carry - decided['tax']}"
            )

    def undone(self) -> Iterator[Difference]:
        """Of a voided hand nothing is left: each of its transactions has its exact mirror."""
        for part, posted in self.posted.items():
            back = {code: -amount for code, amount in posted.mirrored.items()}
            if back != posted.legs:
                for code in sorted(back.keys() | posted.legs.keys()):
                    left = posted.legs.get(code, 0) - back.get(code, 0)
                    if left:
                        key = books.mirror_key(postings.key(self.hand, part))
                        line = int(part) if part.isdigit() else None
                        yield self._difference(
                            line, "the mirror", key, code, -posted.legs.get(code, 0), -back.get(code, 0)
                        )
        for part in ("settlement", "ruling"):
            if part in self.posted:
                yield Difference(self.hand.name, f"the hand is void and has a {part}", action=part)

    def reversed(self) -> Iterator[Difference]:
        """Nothing of a hand that is not void was undone."""
        for part, posted in self.posted.items():
            if posted.mirror is not None:
                key = postings.key(self.hand, part)
                yield Difference(self.hand.name, f"{key} was reversed by ledger transaction {posted.mirror}", key=key)

    # -- naming ------------------------------------------------------------------------------------------------------

    def _unlike(self, first: int, count: int, due: Legs, found: Legs) -> Iterator[Difference]:
        key = postings.key(self.hand, first)
        for code, wanted, there in _apart(due, found):
            line = self._line(first, count, code, there)
            yield self._difference(line, None, key, code, wanted, there)

    def _unlike_ending(self, part: str, due: Legs, found: Legs) -> Iterator[Difference]:
        key, last = postings.key(self.hand, part), len(self.replayed.lines) or None
        for code, wanted, there in _apart(due, found):
            yield self._difference(last, part, key, code, wanted, there)

    def _line(self, first: int, count: int, code: str, there: int) -> int:
        """The line to name of those that one posting covers: the one whose movement is missing or wrong there; the
        first that moves this account where that cannot be told, or else the first that moves anything."""
        replayed = self.replayed
        lines = range(first, min(first + max(count, 1), replayed.accepted + 1))
        moved = {line: replayed.booked(replayed.at_once(line, 1)) for line in lines}
        touching = [line for line in lines if code in moved[line]]
        whole = sum(moved[line][code] for line in touching)
        missing = [line for line in touching if whole - moved[line][code] == there]
        return next(iter(missing or touching or [line for line in lines if moved[line]] or [first]))

    def _difference(
        self, line: int | None, part: str | None, key: str | None, code: str, wanted: int, there: int
    ) -> Difference:
        lines, said = self.replayed.lines, part
        if part is None and line is not None:
            said = "the start" if line == 0 else lines[line - 1] if line <= len(lines) else "no line of its log"
        place = f"line {line}, {said}" if part is None and line else str(said)
        expected, found = _signed(code, wanted), _signed(code, there)
        problem = f"{place}: {code} moved by {found} in the ledger and by {expected} in the replay"
        return Difference(self.hand.name, problem, line, said, key, code, expected, found)


def _apart(due: Legs, found: Legs) -> Iterator[tuple[str, int, int]]:
    """Accounts on which two postings differ, with both amounts; money before chips."""
    for code in sorted(due.keys() | found.keys()):
        if due.get(code, 0) != found.get(code, 0):
            yield code, due.get(code, 0), found.get(code, 0)


def _signed(code: str, amount: int) -> int:
    """An amount on the normal side of its account."""
    return amount * chart.kind_of(code).normal_side


def _sum(parts: Any) -> Legs:
    whole: Counter[str] = Counter()
    for legs in parts:
        for code, amount in legs.items():
            whole[code] += amount
    return dict(whole)
