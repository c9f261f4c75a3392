"""What a database superuser can do to a house's audit trail: switch the guards off, and write everything again."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import connections, transaction
from django.db.backends.utils import CursorWrapper

from casino.audit import outside, verifier
from casino.audit.signing import Signer, origin
from casino.core import canonical
from tests.casino.devices import device
from tests.casino.hands.test_voiding import REASON, floor
from tests.casino.kit import MISDEAL, SAMPLE, Kit

_GUARDS = """
SELECT c.relname, t.tgname, t.tgenabled FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE NOT t.tgisinternal AND t.tgenabled <> 'D' AND c.relnamespace = 'public'::regnamespace
  AND c.relname ~ '^(audit|ledger|hands|staff|players|chips|tables|cage|transfers|houses)_'
"""
_AGAIN = {"O": "ENABLE", "A": "ENABLE ALWAYS", "R": "ENABLE REPLICA"}


@contextmanager
def guards_off() -> Iterator[CursorWrapper]:
    """A cursor of the owner with every trigger of the house's tables switched off, put back afterwards."""
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute(_GUARDS)
        guards = cursor.fetchall()
        for table in sorted({table for table, _, _ in guards}):
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        yield cursor
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table, trigger, enabled in guards:
            cursor.execute(f"ALTER TABLE {table} {_AGAIN[enabled]} TRIGGER {trigger}")


def change(statement: str, *parameters: Any) -> None:
    """One statement without any guard; it must change something."""
    with guards_off() as cursor:
        cursor.execute(statement, parameters)
        assert cursor.rowcount, statement


def evening(kit: Kit) -> None:
    """Buy-ins, a hand settled, a hand voided, a hand under way; four checkpoints, and two events after them."""
    kit.table(seats=2)
    dealer = kit.seated(stacks=(5_000, 5_000))
    kit.sequence()
    dealer.ok("hands", {"mode": "physical", "button": 2})
    dealer.act("p1 po 100", "d dh p1 ????", "d dh p2 ????", "p2 cc 100", "p1 k", "d dh p1 ????", "d dh p2 ????")
    dealer.act("p1 lk 2", "p1 rb 100", "p2 lk 2", "p2 cc 100", "p2 st")
    dealer.act("p1 sm AaKaOaUa", "p2 sm AlKlOlXa")
    assert kit.settle() == ["settled"]
    kit.sequence()
    dealer.refresh()
    dealer.ok("hands", {"mode": "physical"})
    dealer.act(SAMPLE[0], "d dh p1 Kl8b", "d dh p2 Ah7l")
    floor(kit).ok("hand/void", REASON | MISDEAL)
    kit.sequence()
    dealer.refresh()
    dealer.ok("hands", {"mode": "physical"})
    dealer.act(SAMPLE[0], "d dh p1 Kl8b", "d dh p2 Ah7l")
    kit.sequence()
    kit.players("late", chips=700)


def evening_of_deals(kit: Kit) -> None:
    """A deal prepared with seeds that seat 1 says and seat 2's device reveals, and dealt; one abandoned before; three
    checkpoints."""
    kit.table(seats=2)
    dealer = kit.seated(stacks=(5_000, 5_000))
    kit.sequence()
    dealer.ok("deal")
    floor(kit).ok("deal/abandon", REASON)
    kit.sequence()
    dealer.refresh()
    dealer.ok("deal", {"button": 2})
    dealer.ok("deal/seeds", {"seat": 1, "seed": "alice"})
    own = device(kit, dealer, 2)
    own.commit("T1-000001x2", "bob")
    own.reveal("T1-000001x2", "bob")
    dealer.refresh()
    dealer.deal()
    kit.sequence()


def evening_of_entries(kit: Kit) -> None:
    """A physical hand with cards entered, one of them corrected, and a correction of what was dealt; settled."""
    kit.table(seats=2)
    dealer = kit.seated(stacks=(5_000, 5_000))
    dealer.ok("hands", {"mode": "physical", "button": 2})
    dealer.act("p1 po 100", "d dh p1 ??Aa", "d dh p2 ????", "p2 cc 100", "p1 k", "d dh p1 ????", "d dh p2 ????")
    dealer.ok("hand/cards", {"entries": [{"actor": "p1", "index": 0, "card": "Ua"},
                                         {"actor": "p2", "index": 2, "card": "Ol"}]})  # fmt: skip
    desk = floor(kit)
    desk.ok("hand/corrections", {"entry": {"actor": "p2", "index": 2, "card": "Xa"}, **REASON})
    desk.ok("hand/corrections", {"line": 2, "cards": "??Ka", **REASON})
    dealer.refresh()
    dealer.act("p1 lk 2", "p1 rb 100", "p2 lk 2", "p2 cc 100", "p2 st")
    dealer.act("p1 sm UaKaOaAa", "p2 sm AlKlXaOl")
    assert kit.settle() == ["settled"]
    kit.sequence()


@dataclass
class Line:
    """An event as the forger holds it."""

    chain: str
    doc: dict[str, Any]
    logged: bool


class Forger:
    """Rewrites a house's events and all that follows from them: links, hashes, heads, marks, leaves, and the database's
    checkpoints, signed with a key of the attacker's choice."""

    def __init__(self, kit: Kit) -> None:
        self.house = kit.house
        with guards_off() as cursor:
            cursor.execute(
                "SELECT c.name, e.payload, l.leaf_index IS NOT NULL FROM audit_event e "
                "JOIN audit_chainhead c ON c.id = e.chain_id LEFT JOIN audit_leaf l ON l.event_id = e.id "
                "WHERE c.house_id = %s ORDER BY e.id",
                [self.house.id],
            )
            self.lines = [Line(chain, json.loads(payload), logged) for chain, payload, logged in cursor.fetchall()]

    def find(self, kind: str, number: int = 0) -> int:
        """Where the events' list has one of this kind."""
        return [at for at, line in enumerate(self.lines) if line.doc["kind"] == kind][number]

    def forge(self, signer: Signer | None = None) -> None:
        """Write it all; without a signer the database's checkpoints stay as they are."""
        heads: dict[str, tuple[int, str]] = {}
        rows = []
        for line in self.lines:
            seq, prev = heads.get(line.chain, (0, verifier.GENESIS))
            line.doc |= {"chain": line.chain, "prev": prev, "seq": seq + 1}
            payload = canonical.dumps(line.doc)
            hashed = hashlib.sha256(b"\0" + payload.encode()).hexdigest()
            heads[line.chain] = (seq + 1, hashed)
            rows.append((line.chain, seq + 1, payload, hashed, line.logged))
        with guards_off() as cursor:
            self._write(cursor, rows, heads)
            if signer is not None:
                leaves = [bytes.fromhex(hashed) for *_, hashed, logged in rows if logged]
                self._sign(cursor, leaves, signer)

    def _write(self, cursor: CursorWrapper, rows: list[tuple], heads: dict[str, tuple[int, str]]) -> None:
        house = [self.house.id]
        cursor.execute("DELETE FROM audit_leaf WHERE house_id = %s", house)
        mine = "chain_id IN (SELECT id FROM audit_chainhead WHERE house_id = %s)"
        cursor.execute(f"DELETE FROM audit_posting USING audit_event e WHERE e.id = event_id AND e.{mine}", house)
        cursor.execute(f"DELETE FROM audit_event WHERE {mine}", house)
        index = 0
        for chain, seq, payload, hashed, logged in rows:
            cursor.execute(
                "INSERT INTO audit_event (house_id, chain_id, seq, xid, payload, leaf_hash) "
                "SELECT house_id, id, %s, 1, %s, %s FROM audit_chainhead "
                "WHERE house_id = %s AND name = %s RETURNING id",
                [seq, payload, hashed, self.house.id, chain],
            )
            [event] = cursor.fetchone()
            if logged:
                cursor.execute(
                    "INSERT INTO audit_leaf (event_id, house_id, epoch, leaf_index, leaf_hash) "
                    "VALUES (%s, %s, 1, %s, decode(%s, 'hex'))",
                    [event, self.house.id, index, hashed],
                )
                index += 1
        cursor.execute("UPDATE audit_log SET size = %s WHERE house_id = %s", [index, self.house.id])
        cursor.execute("DELETE FROM audit_checkpoint WHERE house_id = %s AND size > %s", [self.house.id, index])
        for table, column in (("audit_mark", "chain_id"), ("audit_chainhead", "id")):
            cursor.execute(
                f"DELETE FROM {table} WHERE {column} IN "
                "(SELECT id FROM audit_chainhead WHERE house_id = %s AND NOT name = ANY(%s))",
                [self.house.id, list(heads)],
            )
        for chain, (seq, hashed) in heads.items():
            logged = sum(row[4] for row in rows if row[0] == chain)
            cursor.execute(
                "UPDATE audit_chainhead SET seq = %s, hash = %s WHERE house_id = %s AND name = %s",
                [seq, hashed, self.house.id, chain],
            )
            cursor.execute(
                "UPDATE audit_mark SET seq = %s FROM audit_chainhead c "
                "WHERE c.id = chain_id AND c.house_id = %s AND c.name = %s",
                [logged, self.house.id, chain],
            )

    def _sign(self, cursor: CursorWrapper, leaves: list[bytes], signer: Signer) -> None:
        cursor.execute("SELECT id, size, note FROM audit_checkpoint WHERE house_id = %s", [self.house.id])
        for id_, size, note in cursor.fetchall():
            root = verifier.root_of(leaves[:size])
            seconds = verifier.parse_note(note).checkpoint.seconds
            forged = signer.note(self.house, verifier.Checkpoint(origin(self.house, 1), size, root, seconds))
            cursor.execute("UPDATE audit_checkpoint SET root = %s, note = %s WHERE id = %s", [root, forged, id_])


def outside_file(kit: Kit) -> Any:
    """The house's checkpoints outside the database."""
    return outside.notes_file(outside.folders()[0], kit.house)


def held_key(kit: Kit) -> Any:
    """The file of the house's key outside the database."""
    return outside.key_file(outside.folders()[0], kit.house)


#: What a backup of a house holds here, parents before children.
_TABLES = {
    "ledger_account": "book = %s",
    "ledger_transaction": "book = %s",
    "ledger_entry": "account_id IN (SELECT id FROM ledger_account WHERE book = %s)",
    "audit_chainhead": "house_id = %s",
    "audit_event": "house_id = %s",
    "audit_posting": "house_id = %s",
    "audit_log": "house_id = %s",
    "audit_leaf": "house_id = %s",
    "audit_tile": "house_id = %s",
    "audit_checkpoint": "house_id = %s",
    "audit_mark": "house_id = %s",
    "audit_keyrotation": "house_id = %s",
    **{
        model._meta.db_table: "house_id = %s"
        for app in ("staff", "players", "chips", "tables", "hands", "cage", "transfers")
        for model in apps.get_app_config(app).get_models()
    },
    "houses_outboxmessage": "house_id = %s",
}


class Backup:
    """A house's books, rows and audit trail as they were, to be put back over what has happened since. They lie in one
    table: the check of the catalogue finds what is not the application's, and lists only so many findings."""

    def __init__(self, kit: Kit) -> None:
        self.house = kit.house.id
        self.name = f"backup_{self.house.hex[:8]}"
        with guards_off() as cursor:
            cursor.execute(f"CREATE TABLE {self.name} (relation text, was jsonb)")
            for table, where in _TABLES.items():
                cursor.execute(
                    f"INSERT INTO {self.name} SELECT %s, to_jsonb(found) FROM {table} found WHERE {where}",
                    [table, self.house],
                )

    def restore(self) -> None:
        """Put it back."""
        with guards_off() as cursor:
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
            for table, where in reversed(_TABLES.items()):
                cursor.execute(f"DELETE FROM {table} WHERE {where}", [self.house])
            for table in _TABLES:
                cursor.execute(
                    "SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns "
                    "WHERE table_name = %s AND table_schema = 'public' AND is_generated = 'NEVER'",
                    [table],
                )
                [columns] = cursor.fetchone()
                was = f"{self.name}, jsonb_populate_record(NULL::{table}, was)"
                cursor.execute(
                    f"INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE "
                    f"SELECT {columns} FROM {was} WHERE relation = %s",
                    [table],
                )
            cursor.execute(f"DROP TABLE {self.name}")
