"""A long evening of the model put into the database as if the application had written it."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import connections
from django.db.backends.utils import CursorWrapper

from casino.audit import verifier

if TYPE_CHECKING:
    from casino.houses.models import House


def load(folder: Path) -> "House":
    """The house of an export, its checkpoints put into the files outside too."""
    from casino.audit import outside
    from casino.houses.models import House
    from tests.proof.superuser import guards_off

    manifest = json.loads((folder / "manifest.json").read_text())
    house = House.objects.using("owner").create(
        id=manifest["house"], code=manifest["code"], name="Model", currency=manifest["currency"]
    )
    house = House.objects.get(id=house.id)
    with guards_off() as cursor:
        _events(cursor, house, folder)
        _ledger(cursor, house, folder)
        _hands(cursor, house, folder, _times(folder))
    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # as PostgreSQL itself does now and then
    for place in outside.folders():
        place.mkdir(parents=True, exist_ok=True)
        outside.notes_file(place, house).write_text((folder / "checkpoints").read_text())
        outside.key_file(place, house).write_text(f"{manifest['epochs']['1']['vkey']}\n")
    return house


def _copy(cursor: CursorWrapper, table: str, columns: str, rows: Iterable[tuple[Any, ...]]) -> None:
    with cursor.cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _events(cursor: CursorWrapper, house: "House", folder: Path) -> None:
    heads: dict[str, tuple[int, str]] = {}
    chains: dict[str, int] = {}
    cursor.execute("SELECT coalesce(max(id), 0) + 1 FROM audit_event")
    [first] = cursor.fetchone()
    cursor.execute("SELECT coalesce(max(id), 0) + 1 FROM audit_chainhead")
    [chain_id] = cursor.fetchone()
    leaves: list[bytes] = []

    def rows() -> Iterator[tuple[Any, ...]]:
        with (folder / "events-1.jsonl").open(encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                payload = line[:-1]
                doc, hashed = json.loads(payload), verifier.leaf_hash(payload.encode())
                chains.setdefault(doc["chain"], chain_id + len(chains))
                heads[doc["chain"]] = (doc["seq"], hashed.hex())
                leaves.append(hashed)
                yield first + number, house.id, chains[doc["chain"]], doc["seq"], 1, payload, hashed.hex()

    _copy(cursor, "audit_event", "id, house_id, chain_id, seq, xid, payload, leaf_hash", rows())
    _copy(cursor, "audit_chainhead", "id, house_id, name, seq, hash",
          ((chains[name], house.id, name, *head) for name, head in heads.items()))  # fmt: skip
    _copy(cursor, "audit_mark", "house_id, chain_id, seq",
          ((house.id, chains[name], seq) for name, (seq, _) in heads.items()))  # fmt: skip
    _copy(cursor, "audit_leaf", "event_id, house_id, epoch, leaf_index, leaf_hash",
          ((first + at, house.id, 1, at, hashed) for at, hashed in enumerate(leaves)))  # fmt: skip
    tiles: list[tuple[Any, ...]] = []
    verifier.Frontier(formed=lambda *tile: tiles.append((house.id, 1, *tile))).extend(leaves)
    _copy(cursor, "audit_tile", "house_id, epoch, level, tile_index, hash", tiles)
    notes = verifier.split_notes((folder / "checkpoints").read_text())
    points = [verifier.parse_note(note).checkpoint for note in notes]
    _copy(cursor, "audit_checkpoint", "house_id, epoch, size, root, at, note",
          ((house.id, 1, one.size, one.root, one.at, note)
           for one, note in zip(points, notes, strict=True)))  # fmt: skip
    vkey = json.loads((folder / "manifest.json").read_text())["epochs"]["1"]["vkey"]
    _copy(cursor, "audit_log", "house_id, epoch, origin, vkey, size, refusal",
          [(house.id, 1, points[-1].origin, vkey, len(leaves), "")])  # fmt: skip


def _ledger(cursor: CursorWrapper, house: "House", folder: Path) -> None:
    report = verifier.Report()
    export = verifier.Export(folder, report)
    columns = (
        "id, book, code, kind, commodity, normal_side, balance, version, lock_rank, opened_at, held, weight, lanes"
    )
    _copy(cursor, "ledger_account", columns,
          ((one["id"], house.id, one["code"], "model", one["commodity"], one["normal_side"], one["balance"],
            one["version"], 0, "2026-11-21", 0, 0, 0) for one in export.accounts()))  # fmt: skip
    with (folder / "ledger.jsonl").open(encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if "about" in row]
    _copy(cursor, "ledger_transaction", "id, book, idempotency_key, kind, metadata, posted_at",
          ((row["id"], house.id, row["about"][0], row["about"][1], json.dumps(row["about"][2]), row["about"][4])
           for row in rows))  # fmt: skip
    _copy(cursor, "ledger_entry", "account_id, version, transaction_id, amount, balance_after",
          ((account, version, row["id"], amount, after)
           for row in rows for account, version, amount, after in row["legs"]))  # fmt: skip


def _times(folder: Path) -> dict[str, list[str]]:
    """By hand what the events say that its row has: the hash of the record before it, start, end, settlement."""
    found: dict[str, list[str]] = {}
    newest: dict[str, str] = {}
    with (folder / "events-1.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            doc = json.loads(line)
            data = doc["data"]
            if doc["kind"] == "hand.dealt":
                found[data["hand"]] = [newest.get(doc["chain"], ""), doc["at"]]
            elif doc["kind"] == "hand.settled" or "record_hash" in data:
                found[data["hand"]].append(doc["at"])
            newest[doc["chain"]] = data.get("record_hash", newest.get(doc["chain"], ""))
    return found


def _hands(cursor: CursorWrapper, house: "House", folder: Path, times: dict[str, list[str]]) -> None:
    from casino.tables.models import CarryoverOnClose, Table, TableSession

    places: dict[str, tuple[int, int]] = {}
    for code in (f"T{number}" for number in range(1, 9)):
        table = Table.objects.using("owner").create(
            house_id=house.id, code=code, game="ferbli", options={}, seats=2, min_stack=1, max_stack=1,
            carryover_on_close=CarryoverOnClose.SPLIT,
        )  # fmt: skip
        places[code] = (
            table.id,
            TableSession.objects.using("owner").create(house_id=house.id, table=table, number=1).id,
        )
    cursor.execute("SELECT coalesce(max(id), 0) + 1 FROM hands_hand")
    [first] = cursor.fetchone()
    with (folder / "hands.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    recorded = ("number", "mode", "game", "rules", "carry", "state", "digest", "handle", "settlement")
    objects = ("options", "seats", "stacks", "series", "result")
    _copy(
        cursor,
        "hands_hand",
        f"id, house_id, name, table_id, session_id, {', '.join((*recorded, *objects))}, commitment, sealed_seed, "
        "client_seeds, cards_roots, disputed_by, disputed_from, disputes_withdrawn, previous_hash, started_at, "
        "ended_at, settled_at",
        (
            (first + at, house.id, row["hand"], *places[row["table"]], *(row[name] for name in recorded),
             *(json.dumps(row[name]) for name in objects), "", b"", "{}", "[]", "", "", 0, *times[row["hand"]])
            for at, row in enumerate(rows)
        ),
    )  # fmt: skip
    _copy(cursor, "hands_handline", "house_id, hand_id, seq, text, at",
          ((house.id, first + at, seq, text, "2026-11-21")
           for at, row in enumerate(rows) for seq, text in enumerate(row["log"], 1)))  # fmt: skip
