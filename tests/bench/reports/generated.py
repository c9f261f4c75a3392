"""Houses of any size: some hands are played through HTTP, and then written again and again with other names, ids and
times, entries with running balances, events with running numbers and the hashes of their chains, of which the
sequencer makes the log, and the seals of the ledger. Nobody brings the chips that the hands take from trays and stacks,
so that their accounts have no floor.

What reports read is there: events, postings, entries, periods, hands with their lines. A verification of it reads and
compares everything as that of any house does. It finds something at each hand, for one hand cannot follow itself, with
the same button and the same stacks, and at each closing of a day, which nobody has approved. Each day is opened, and
then the one before it is closed, with its snapshot; the last one stays open.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from django.db import connections
from django.db.backends.utils import CursorWrapper

from casino.audit.verifier import about_of
from casino.core import canonical

#: Hands are dealt so often at a table, and last so long: no longer than moments of one write may differ.
_PACE, _LASTS = timedelta(seconds=144), timedelta(seconds=45)
_OPENS = timedelta(hours=17)
STACK = 900_000
#: Two seats; the one that deals pays, both call once, the second gives up. Three requests.
SHORT_HAND = (
    ("p1 po 100", "d dh p1 ????", "d dh p2 ????", "p2 cc 100", "p1 k", "d dh p1 ????", "d dh p2 ????"),
    ("p1 lk 2", "p1 rb 100", "p2 lk 2", "p2 cc 100", "p2 st"),
    ("p1 sm AaKaOaUa", "p2 sm AlKlOlXa"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Size:
    """So many gaming days, and hands of each table in a day."""

    days: int
    hands: int
    tables: int = 8
    #: The day after the last one, so that nobody has been away for months; read once.
    today: date = field(default_factory=lambda: datetime.now(UTC).date())

    @property
    def first_day(self) -> date:
        return self.today - timedelta(days=self.days)


class _Hole(NamedTuple):
    """What changes in an event: what it is, and the number by which it is known among others of its kind."""

    what: str
    number: int = 0


#: What changes besides the moment and the name: the hand's number, the place in the chain, versions of the table, ids
#: of postings, and the hash of what a posting says of itself.
_HOLES = (
    '"about":"[0-9a-f]+"|"tx":[0-9]+|"settlement":[0-9]+|"seq":[0-9]+|"prev":"[0-9a-f]+"|"number":[0-9]+|'
    '"table_version":[0-9]+'
)


@dataclass(frozen=True, slots=True)
class _Event:
    """An event of a hand: its id, its chain, and its text around what changes."""

    id: int
    chain: int
    pieces: tuple[str, ...]
    holes: tuple[_Hole, ...]


@dataclass(slots=True)
class _Played:
    """One hand as it was played."""

    row: dict[str, Any]
    #: What the outbox has of it, and the hash of its record.
    message: dict[str, Any] = field(default_factory=dict)
    record_hash: str = ""
    lines: list[dict[str, Any]] = field(default_factory=list)
    events: list[_Event] = field(default_factory=list)
    postings: list[dict[str, Any]] = field(default_factory=list)
    entries: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    #: Posting's id, and the id of the event that records it.
    recorded: dict[int, int] = field(default_factory=dict)


def founded(size: Size) -> Any:
    """A house with its tables, players at them, and one hand played at each; it has one open gaming day."""
    from casino.staff.models import Role
    from tests.casino.kit import Kit

    kit = Kit.found()
    kit.office(Role.MANAGER).ok("days", {"day": (size.first_day - timedelta(days=1)).isoformat()})
    for number in range(1, size.tables + 1):
        kit.table(f"T{number}", seats=2)
        dealer = kit.seated(f"T{number}", stacks=(STACK, STACK))
        dealer.ok("hands", {"mode": "physical", "button": 2})
        for lines in SHORT_HAND:
            dealer.act(*lines)
        if kit.settle() != ["settled"]:
            raise AssertionError("the hand was not settled")
    return kit


def multiply(house: Any, size: Size) -> dict[str, int]:
    """Write the hands again for every day; returns how many rows each table of the database got."""
    from tests.proof.superuser import guards_off

    with connections["owner"].cursor() as cursor:
        played = _played(cursor, house)
        accounts = _accounts(cursor, house)
        chains = _chains(cursor, house)
        cursor.execute("SELECT max(id) FROM ledger_transaction")
        [posting] = cursor.fetchone()
        cursor.execute("SELECT max(id) FROM audit_event")
        [event] = cursor.fetchone()
        cursor.execute("SELECT max(id) FROM hands_hand")
        [hand] = cursor.fetchone()
    writer = _Writer(house, size, played, accounts, chains, posting, event, hand)
    with guards_off() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = off")
        writer.write(cursor)
    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # as PostgreSQL itself does now and then
    return writer.count


def _played(cursor: CursorWrapper, house: Any) -> list[_Played]:
    hands = {row["name"]: _Played(row) for row in _rows(cursor, "hands_hand", "house_id = %s ORDER BY id", house.id)}
    by_id = {one.row["id"]: one for one in hands.values()}
    for line in _rows(cursor, "hands_handline", "house_id = %s ORDER BY hand_id, seq", house.id):
        by_id[line["hand_id"]].lines.append(line)
    for message in _rows(cursor, "houses_outboxmessage", "house_id = %s AND task = 'hands.resolve_hand'", house.id):
        by_id[int(message["subject"])].message = {name: message[name] for name in message if name != "id"}
    whose: dict[int, _Played] = {}
    for event in _rows(cursor, "audit_event", "house_id = %s ORDER BY id", house.id):
        doc = json.loads(event["payload"])
        if doc["kind"].startswith("hand."):
            one = hands[doc["data"]["hand"]]
            one.record_hash = doc["data"].get("record_hash", one.record_hash)
            one.events.append(_event(event, doc))
            whose.update((posting["tx"], one) for posting in doc.get("postings", ()))
            one.recorded.update((posting["tx"], event["id"]) for posting in doc.get("postings", ()))
    for posting in _rows(cursor, "ledger_transaction", "book = %s ORDER BY id", house.id):
        if posting["id"] in whose:
            whose[posting["id"]].postings.append(posting)
    cursor.execute(
        "SELECT transaction_id, account_id, amount FROM ledger_entry WHERE transaction_id = ANY(%s) "
        "ORDER BY transaction_id, account_id, version",
        [list(whose)],
    )
    for posting_id, account, amount in cursor.fetchall():
        whose[posting_id].entries.setdefault(posting_id, []).append((account, amount))
    return list(hands.values())


def _event(event: Mapping[str, Any], doc: Mapping[str, Any]) -> _Event:
    name, moment = doc["data"]["hand"], json.dumps(doc["at"])
    found = re.split(f"({re.escape(moment)}|{re.escape(name)}|{_HOLES})", event["payload"])
    said = iter(posting["tx"] for posting in doc.get("postings", ()))
    pieces, holes = [found[0]], []
    for text, piece in zip(found[1::2], found[2::2], strict=True):
        label, _, value = text.partition(":")
        if text in (moment, name):
            holes.append(_Hole("moment" if text == moment else "name"))
        else:
            what = label.strip('"')
            number = next(said) if what == "about" else 0 if what == "prev" else int(value)
            holes.append(_Hole("tx" if what == "settlement" else what, number))
            pieces[-1] += f"{label}:"
        pieces.append(piece)
    return _Event(event["id"], event["chain_id"], tuple(pieces), tuple(holes))


def _rows(cursor: CursorWrapper, table: str, where: str, value: Any) -> list[dict[str, Any]]:
    """Rows with the columns that can be written."""
    cursor.execute(
        "SELECT string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position) FROM information_schema.columns "
        "WHERE table_name = %s AND table_schema = 'public' AND is_generated = 'NEVER'",
        [table],
    )
    [columns] = cursor.fetchone()
    cursor.execute(f"SELECT {columns} FROM {table} WHERE {where}", [value])
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _accounts(cursor: CursorWrapper, house: Any) -> dict[int, list[int]]:
    """By id: version, balance, normal side."""
    cursor.execute("SELECT id, version, balance, normal_side FROM ledger_account WHERE book = %s", [house.id])
    return {id_: list(rest) for id_, *rest in cursor.fetchall()}


def _chains(cursor: CursorWrapper, house: Any) -> dict[int, list[Any]]:
    """By id: number and hash of the last event."""
    cursor.execute("SELECT id, seq, hash FROM audit_chainhead WHERE house_id = %s", [house.id])
    return {id_: list(rest) for id_, *rest in cursor.fetchall()}


class _Writer:
    """Writes rows with running ids, day by day."""

    def __init__(
        self, house: Any, size: Size, played: Sequence[_Played], accounts: dict[int, list[int]],
        chains: dict[int, list[Any]], posting: int, event: int, hand: int,
    ) -> None:  # fmt: skip
        self.house, self.size, self.played = house, size, played
        self.accounts, self.chains = accounts, chains
        self.posting, self.event, self.hand = posting, event, hand
        self.numbers = {one.row["table_id"]: one.row["number"] for one in played}
        self.hashes = {one.row["table_id"]: one.record_hash for one in played}
        self.versions = {
            one.row["table_id"]: max(hole.number for event in one.events for hole in event.holes
                                     if hole.what == "table_version")
            for one in played
        }  # fmt: skip
        self.count: dict[str, int] = {}
        #: The event that opened the day of the founding.
        self.opening: dict[str, Any] = {}
        #: The chain of the house.
        self.office = 0

    def write(self, cursor: CursorWrapper) -> None:
        """All days; each is a period of the ledger, closed once the next one is opened."""
        cursor.execute("SELECT id, chain_id, payload FROM audit_event WHERE house_id = %s AND doc ->> 'kind' = %s",
                       [self.house.id, "day.opened"])  # fmt: skip
        [(_, self.office, payload)] = cursor.fetchall()
        self.opening = json.loads(payload)
        for day in range(self.size.days):
            opened = datetime.combine(self.size.first_day, datetime.min.time(), UTC) + timedelta(days=day) + _OPENS
            cursor.execute(
                "INSERT INTO ledger_period (book, name, opened_at) VALUES (%s, %s, %s) RETURNING id",
                [self.house.id, opened.date().isoformat(), opened],
            )
            [period] = cursor.fetchone()
            rows: dict[str, list[tuple[Any, ...]]] = {
                "ledger_transaction": [], "ledger_entry": [], "audit_event": [], "audit_posting": [], "hands_hand": [],
                "hands_handline": [], "houses_outboxmessage": [],
            }  # fmt: skip
            self._turn(cursor, rows["audit_event"], opened)
            for number in range(self.size.hands):
                for one in self.played:
                    self._hand(rows, one, period, opened + _PACE * number)
            for table, found in rows.items():
                self._copy(cursor, table, found)
        for account, (version, balance, _) in self.accounts.items():
            cursor.execute("UPDATE ledger_account SET version = %s, balance = %s, min_balance = NULL WHERE id = %s",
                           [version, balance, account])  # fmt: skip
        for table, version in self.versions.items():
            cursor.execute("UPDATE tables_table SET version = %s, hands_dealt = %s WHERE id = %s",
                           [version, self.numbers[table], table])  # fmt: skip
        cursor.execute("DELETE FROM ledger_seal WHERE book = %s", [self.house.id])
        cursor.execute(
            "INSERT INTO ledger_seal (book, kind, id, hash) SELECT %s, kind, id, hash FROM ledger_seals_due(%s, 0)",
            [self.house.id, self.house.id],
        )
        for chain, (seq, leaf_hash) in self.chains.items():
            cursor.execute("UPDATE audit_chainhead SET seq = %s, hash = %s WHERE id = %s", [seq, leaf_hash, chain])

    def _turn(self, cursor: CursorWrapper, events: list[tuple[Any, ...]], opened: datetime) -> None:
        """Open a day, and close the one before it, of which the books are known by then."""
        from casino.houses.days import closing_snapshot

        day = opened.date()
        before = (day - timedelta(days=1)).isoformat()
        snapshot = closing_snapshot(before)
        self._of_office(events, "day.opened", opened, {"day": day.isoformat()})
        closed = {"day": before, "snapshot": snapshot, "totals": {}, "carried": {}, "package": "coming"}
        self._of_office(events, "day.closed", opened, closed)
        cursor.execute("UPDATE ledger_period SET closed_at = %s WHERE book = %s AND name = %s",
                       [opened, self.house.id, before])  # fmt: skip
        cursor.execute("INSERT INTO ledger_snapshot (book, name, taken_at) VALUES (%s, %s, %s) RETURNING id",
                       [self.house.id, snapshot, opened])  # fmt: skip
        [number] = cursor.fetchone()
        lines = [(number, account, version, balance)
                 for account, (version, balance, _) in self.accounts.items() if version]  # fmt: skip
        self._copy(cursor, "ledger_snapshot_line", lines)

    def _of_office(self, events: list[tuple[Any, ...]], kind: str, moment: datetime, data: dict[str, Any]) -> None:
        """Write an event of the chain of the house, by the one who opened the day of the founding."""
        head = self.chains[self.office]
        said = moment.isoformat().replace("+00:00", ".000000Z")
        doc = self.opening | {"kind": kind, "at": said, "seq": head[0] + 1, "prev": head[1], "data": data}
        payload = canonical.dumps(doc)
        head[0] += 1
        head[1] = hashlib.sha256(b"\x00" + payload.encode()).hexdigest()
        self.event += 1
        events.append((self.event, self.house.id, self.office, head[0], 1, payload, head[1]))

    def _hand(self, rows: dict[str, list[tuple[Any, ...]]], one: _Played, period: int, begins: datetime) -> None:
        table = one.row["table_id"]
        self.numbers[table] += 1
        self.hand += 1
        name = f"{one.row['name'].rpartition('-')[0]}-{self.numbers[table]:06d}"
        postings = {found["id"]: self.posting + at for at, found in enumerate(one.postings, 1)}
        events = {found.id: self.event + at for at, found in enumerate(one.events, 1)}
        self.posting += len(postings)
        self.event += len(events)
        made = self._made(one, name, begins, postings)
        for found in one.postings:
            rows["ledger_transaction"].append(tuple((found | {
                "id": postings[found["id"]], "period_id": period, "posted_at": begins,
                "idempotency_key": found["idempotency_key"].replace(one.row["name"], name),
                "metadata": _json(found["metadata"], one.row["name"], name),
            }).values()))  # fmt: skip
            for account, amount in one.entries[found["id"]]:
                state = self.accounts[account]
                state[0] += 1
                state[1] += amount * state[2]
                rows["ledger_entry"].append((account, state[0], postings[found["id"]], amount, state[1]))
            rows["audit_posting"].append((postings[found["id"]], self.house.id, events[one.recorded[found["id"]]]))
        for event in one.events:
            head = self.chains[event.chain]
            head[0] += 1
            payload = self._text(event, made)
            head[1] = hashlib.sha256(b"\x00" + payload.encode()).hexdigest()
            rows["audit_event"].append((events[event.id], self.house.id, event.chain, head[0], 1, payload, head[1]))
        rows["hands_hand"].append(tuple(_plain(value) for value in (one.row | {
            "id": self.hand, "name": name, "number": self.numbers[table], "started_at": begins,
            "ended_at": begins + _LASTS, "settled_at": begins + _LASTS, "previous_hash": self.hashes[table],
            "settlement": postings[one.row["settlement"]],
        }).values()))  # fmt: skip
        self.hashes[table] = one.record_hash
        rows["houses_outboxmessage"].append(tuple((one.message | {
            "subject": str(self.hand), "created_at": begins, "done_at": begins + _LASTS,
        }).values()))  # fmt: skip
        for line in one.lines:
            again = line | {"hand_id": self.hand, "at": begins}
            again.pop("id", None)
            rows["hands_handline"].append(tuple(again.values()))

    def _text(self, event: _Event, made: Mapping[_Hole, str]) -> str:
        number, leaf_hash = self.chains[event.chain]
        parts = [event.pieces[0]]
        for hole, piece in zip(event.holes, event.pieces[1:], strict=True):
            if hole.what == "seq":
                parts.append(str(number))
            else:
                parts.append(f'"{leaf_hash}"' if hole.what == "prev" else made[hole])
            parts.append(piece)
        return "".join(parts)

    def _made(self, one: _Played, name: str, begins: datetime, postings: Mapping[int, int]) -> dict[_Hole, str]:
        """What stands in the holes of a hand's events besides the place in the chain."""
        table, moment = one.row["table_id"], begins.isoformat().replace("+00:00", ".000000Z")
        made = {
            _Hole("moment"): f'"{moment}"', _Hole("name"): name,
            _Hole("number", one.row["number"]): str(self.numbers[table]),
        }  # fmt: skip
        seen = sorted({hole.number for event in one.events for hole in event.holes if hole.what == "table_version"})
        made |= {_Hole("table_version", at): str(self.versions[table] + at - seen[0] + 1) for at in seen}
        self.versions[table] += seen[-1] - seen[0] + 1
        for found in one.postings:
            made[_Hole("tx", found["id"])] = str(postings[found["id"]])
            key = found["idempotency_key"].replace(one.row["name"], name)
            metadata = json.loads(_json(found["metadata"], one.row["name"], name))
            about = about_of([key, found["kind"], metadata, None, moment])
            made[_Hole("about", found["id"])] = f'"{about}"'
        return made

    def _copy(self, cursor: CursorWrapper, table: str, rows: list[tuple[Any, ...]]) -> None:
        self.count[table] = self.count.get(table, 0) + len(rows)
        with cursor.cursor.copy(f"COPY {table} ({self._columns(table)}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)

    def _columns(self, table: str) -> str:
        first = self.played[0]
        return ", ".join({
            "ledger_transaction": list(first.postings[0]),
            "ledger_entry": ["account_id", "version", "transaction_id", "amount", "balance_after"],
            "audit_event": ["id", "house_id", "chain_id", "seq", "xid", "payload", "leaf_hash"],
            "audit_posting": ["transaction_id", "house_id", "event_id"],
            "hands_hand": list(first.row),
            "houses_outboxmessage": list(first.message),
            "hands_handline": [name for name in first.lines[0] if name != "id"],
            "ledger_snapshot_line": ["snapshot_id", "account_id", "version", "balance"],
        }[table])  # fmt: skip


def _json(value: Any, name: str, by: str) -> str:
    """JSON of a column, whatever the driver has made of it, with the hand's name replaced."""
    return (value if isinstance(value, str) else json.dumps(value)).replace(name, by)


def _plain(value: Any) -> Any:
    """A value as COPY takes it."""
    if isinstance(value, dict | list):
        return json.dumps(value)
    return str(value) if isinstance(value, uuid.UUID) else value


def walk(found: Iterator[Any]) -> int:
    """How many there are."""
    return sum(1 for _ in found)
