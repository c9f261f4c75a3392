"""A house that was played for so many days, at whose tables more can be played: `tests/bench/reports/generated.py`,
with the chips brought back to where they were, so that every place has what the next hand takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import connections

from casino.audit.merkle import Frontier
from casino.audit.notes import Checkpoint
from casino.audit.proofs import Hashes
from casino.audit.signing import Signer, origin
from tests.bench.reports.generated import Size, founded, multiply

PLAYERS_A_DAY = 8
#: Tables that change after `multiply`.
_CHANGED = "audit_leaf, audit_tile, audit_checkpoint, ledger_account, players_player, houses_outboxmessage"
#: By id: version, balance, least balance, side.
_Accounts = dict[int, tuple[int, int, int | None, int]]


@dataclass(frozen=True, slots=True)
class Grown:
    """The house, what was written, and what a table of the database takes, bytes with its indexes."""

    kit: Any
    size: Size
    rows: Mapping[str, int]
    bytes_before: Mapping[str, int]
    bytes_after: Mapping[str, int]

    @property
    def hands(self) -> int:
        """Hands that were written."""
        return self.size.days * self.size.hands * self.size.tables

    def bytes_each(self) -> dict[str, float]:
        """Bytes a hand, by table, the largest first."""
        found = {name: (size - self.bytes_before[name]) / self.hands for name, size in self.bytes_after.items()}
        return dict(sorted(found.items(), key=lambda item: -item[1]))


def grow(size: Size) -> Grown:
    """Found it, write the days, make its log. Django is set up; the database is its own."""
    kit = founded(size)
    kit.sequence()
    accounts, before = _accounts(kit.house), _bytes()
    rows = multiply(kit.house, size)
    _bring_back(kit.house, accounts)
    log(kit.house)
    kit.sequence()
    after = _bytes()
    join(kit.house, PLAYERS_A_DAY * size.days)
    forget_messages(kit.house)
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"VACUUM ANALYZE {_CHANGED}")  # as PostgreSQL does by itself
    return Grown(kit, size, rows, before, after)


def log(house: Any) -> None:
    """Make the log of all events beyond its newest checkpoint, which ends where the sequencer did last, as that
    would with one checkpoint for all of them; in a fraction of its time."""
    from tests.proof.superuser import guards_off

    tiles: list[tuple[int, int, bytes]] = []
    with guards_off() as cursor:
        cursor.execute("SELECT size FROM audit_log WHERE house_id = %s AND epoch = 1", [house.id])
        [size] = cursor.fetchone()
        roots = Hashes(house.id, 1, "owner").frontier(size).roots
        tree = Frontier(size, roots, lambda *tile: tiles.append(tile))
        cursor.execute(
            "INSERT INTO audit_leaf (event_id, house_id, epoch, leaf_index, leaf_hash) "
            "SELECT id, house_id, 1, %s - 1 + row_number() OVER (ORDER BY id), decode(leaf_hash, 'hex') "
            "FROM audit_event WHERE house_id = %s AND id > (SELECT max(event_id) FROM audit_leaf) ORDER BY id",
            [size, house.id],
        )
        with connections["owner"].connection.cursor(name="leaves") as leaves:
            leaves.itersize = 50_000
            leaves.execute("SELECT leaf_hash FROM audit_leaf WHERE leaf_index >= %s ORDER BY leaf_index", [size])
            tree.extend(bytes(leaf) for (leaf,) in leaves)
        with cursor.cursor.copy("COPY audit_tile (house_id, epoch, level, tile_index, hash) FROM STDIN") as copy:
            for tile in tiles:
                copy.write_row((house.id, 1, *tile))
        cursor.execute(
            "INSERT INTO audit_mark (house_id, chain_id, seq) SELECT house_id, id, seq FROM audit_chainhead "
            "WHERE house_id = %s ON CONFLICT (chain_id) DO UPDATE SET seq = excluded.seq",
            [house.id],
        )
        cursor.execute("UPDATE audit_log SET size = %s WHERE house_id = %s", [tree.size, house.id])
        at = datetime.now(UTC).replace(microsecond=0)
        checkpoint = Checkpoint(origin(house, 1), tree.size, tree.root(), int(at.timestamp()))
        cursor.execute(
            "INSERT INTO audit_checkpoint (house_id, epoch, size, root, at, note) VALUES (%s, 1, %s, %s, %s, %s)",
            [house.id, tree.size, tree.root(), at, Signer.from_settings().note(house, checkpoint)],
        )


def join(house: Any, count: int) -> None:
    """So many further players, each with the accounts that one has who has played at one table; they never move."""
    from tests.proof.superuser import guards_off

    with guards_off() as cursor:
        cursor.execute(
            "INSERT INTO players_player (house_id, ref, registered_at) "
            "SELECT %s, 'once-' || number, clock_timestamp() FROM generate_series(1, %s) number",
            [house.id, count],
        )
        cursor.execute(
            "INSERT INTO ledger_account (id, book, code, kind, commodity, normal_side, min_balance, balance, version, "
            "held, lock_rank, weight, lanes, opened_at) OVERRIDING SYSTEM VALUE "
            "SELECT lock_rank * 1099511627776 + nextval(pg_get_serial_sequence('ledger_account', 'id')), book, "
            "replace(code, '/T1-u1', '/once-' || number), kind, commodity, normal_side, min_balance, 0, 0, 0, "
            "lock_rank, weight, lanes, opened_at "
            "FROM ledger_account, generate_series(1, %s) number WHERE book = %s AND code LIKE '%%/T1-u1'",
            [count, house.id],
        )


def _accounts(house: Any) -> _Accounts:
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT id, version, balance, min_balance, normal_side FROM ledger_account WHERE book = %s", [house.id]
        )
        return {id_: tuple(rest) for id_, *rest in cursor.fetchall()}


def _bring_back(house: Any, before: _Accounts) -> None:
    """Post what puts every account back to its balance before the days, and give it its floor again; the last event is
    said to record it. Whatever was moved was moved from one account to another, so that the entries balance."""
    from tests.proof.superuser import guards_off

    now = _accounts(house)
    with guards_off() as cursor:
        cursor.execute("SELECT max(id) + 1 FROM ledger_transaction")
        [posting] = cursor.fetchone()
        cursor.execute(
            "INSERT INTO ledger_transaction (id, book, idempotency_key, kind, period_id, posted_at, metadata) "
            "OVERRIDING SYSTEM VALUE "
            "SELECT %s, book, 'brought back', 'test', period_id, clock_timestamp(), '{}' FROM ledger_transaction "
            "WHERE id = %s",
            [posting, posting - 1],
        )
        for account, (version, balance, _, side) in now.items():
            _, was, least, _ = before[account]
            if was != balance:
                cursor.execute(
                    "INSERT INTO ledger_entry (account_id, version, transaction_id, amount, balance_after) "
                    "VALUES (%s, %s, %s, %s, %s)",
                    [account, version + 1, posting, (was - balance) * side, was],
                )
            cursor.execute(
                "UPDATE ledger_account SET version = %s, balance = %s, min_balance = %s WHERE id = %s",
                [version + (was != balance), was, least, account],
            )
        cursor.execute(
            "INSERT INTO audit_posting (transaction_id, house_id, event_id) "
            "SELECT %s, house_id, max(id) FROM audit_event WHERE house_id = %s GROUP BY house_id",
            [posting, house.id],
        )
        for table in ("ledger_transaction", "audit_event", "hands_hand"):
            cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}")


def forget_messages(house: Any) -> None:
    """Messages of the outbox are gone after some days, as retention has deleted them."""
    from tests.proof.superuser import guards_off

    with guards_off() as cursor:
        cursor.execute(
            "DELETE FROM houses_outboxmessage WHERE house_id = %s AND done_at < clock_timestamp() - interval '9 days'",
            [house.id],
        )


def _bytes() -> dict[str, int]:
    """What each table takes, with its indexes."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        return dict(cursor.fetchall())
