"""The log's own rows: what is proved of each column by the chains, the trees and the checkpoints."""

import hashlib
from dataclasses import replace

from .state_columns import HOUSE, ID, Model, hashed, proved, transient
from .state_rows import Handler, Row, Rows

EPOCH, ROTATION, ARCHIVE = "audit.Epoch", "audit.KeyRotation", "audit.Archive"

_LIVE = replace(proved("the events themselves; compared by `verify_audit` of the live house"), read=False)
_TREE = replace(proved("the leaves; compared by `verify_audit` of the live house"), read=False)
_NOTE = replace(proved("the signed note; compared by `verify_audit`"), read=False)
MODELS = (
    Model(
        "audit.ChainHead",
        "name",
        {"id": ID, "house": HOUSE, "name": _LIVE, "seq": _LIVE, "hash": _LIVE},
    ),
    Model(
        "audit.Event",
        "chain and seq",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("chain", "seq", "payload", "leaf_hash"), _LIVE),
            "doc": transient("PostgreSQL generates it from payload"),
            "archive": replace(proved("the archive, which is read in its stead by `verify_audit`"), read=False),
            "xid": transient("a number of PostgreSQL, for what was written together"),
        },
    ),
    Model(
        "audit.Log",
        "epoch",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("epoch", "origin", "vkey", "size"), _TREE),
            "refusal": transient("why the sequencer does not sign the log, until it does"),
        },
    ),
    Model(
        "audit.Leaf",
        "epoch and leaf_index",
        {"house": HOUSE, **dict.fromkeys(("event", "epoch", "leaf_index", "leaf_hash"), _LIVE)},
    ),
    Model(
        "audit.Tile",
        "epoch, level and tile_index",
        {"id": ID, "house": HOUSE, **dict.fromkeys(("epoch", "level", "tile_index", "hash"), _TREE)},
    ),
    Model(
        "audit.SignedCheckpoint",
        "epoch and size",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("epoch", "size", "root", "at", "note"), _NOTE),
        },
    ),
    Model(
        "audit.Cosignature",
        "epoch, size and witness",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("epoch", "size", "witness", "line", "at"),
                transient("what a witness answered; its line proves itself to those who hold the witness's key"),
            ),
        },
    ),
    Model(
        "audit.TimeStamp",
        "epoch and size",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("epoch", "size", "response", "at"),
                transient("what a time-stamp authority answered; it proves itself under the authority's certificates"),
            ),
        },
    ),
    Model("audit.Mark", "chain", {"house": HOUSE, "chain": _LIVE, "seq": _LIVE}),
    Model(
        EPOCH,
        "epoch",
        {
            "id": ID,
            "house": HOUSE,
            "epoch": proved("log.epoch_opened"),
            "event": proved("log.epoch_opened"),
            "outside_epoch": proved("log.epoch_opened"),
            "outside_size": proved("log.epoch_opened"),
            "outside_root": hashed("log.epoch_opened"),
        },
    ),
    Model(
        ROTATION,
        "epoch and size",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("epoch", "size", "vkey", "event"), proved("log.key_rotated")),
        },
    ),
    Model(
        ARCHIVE,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            "number": proved("log.archived"),
            **dict.fromkeys(("epoch", "first", "size", "first_day", "last_day", "sha256"), proved("log.archived")),
            "is_put_away": proved("log.put_away, log.brought_back"),
        },
    ),
    Model(
        "audit.Posting",
        "transaction_id",
        {
            "house": HOUSE,
            **dict.fromkeys(
                ("transaction_id", "event"),
                transient("a guard of the database at commit; the events say which transactions they record"),
            ),
        },
    ),
)


class LogRows:
    """Rows of opened epochs, of rotated keys and of archives."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.handlers: dict[str, Handler] = {
            "log.epoch_opened": self._opened, "log.key_rotated": self._rotated, "log.archived": self._archived,
            "log.put_away": self._put_away, "log.brought_back": self._put_away,
        }  # fmt: skip

    def _archived(self, doc: Row) -> None:
        self._rows.add(ARCHIVE, str(doc["data"]["number"]), is_put_away=False, **doc["data"])

    def _put_away(self, doc: Row) -> None:
        self._rows.change(ARCHIVE, str(doc["data"]["number"]), is_put_away=doc["kind"] == "log.put_away")

    def _rotated(self, doc: Row) -> None:
        data = doc["data"]
        self._rows.add(
            ROTATION, f"{data['epoch']}/{data['size']}", epoch=data["epoch"], size=data["size"], vkey=data["new_key"],
            event=f"{doc['chain']}#{doc['seq']}",
        )  # fmt: skip

    def _opened(self, doc: Row) -> None:
        data = doc["data"]
        root = data.get("old_root")
        self._rows.add(
            EPOCH, str(data["epoch"]), epoch=data["epoch"], event=f"{doc['chain']}#{doc['seq']}",
            outside_epoch=data.get("old_epoch"), outside_size=data.get("old_size"),
            outside_root=None if root is None else hashlib.sha256(bytes.fromhex(root)).hexdigest(),
        )  # fmt: skip
