"""Verify an audit trail with Python's standard library and nothing else of the house.

Formats: RFC 6962 (Merkle tree), C2SP signed-note and tlog-checkpoint (checkpoints), RFC 8032 (Ed25519). The package
becomes `verify.pyz` (`casino/audit/zipapp.py`), so its modules import each other relatively, and nothing else of the
project. The live verification (`casino/verification/`) feeds the same checks from the database.
"""

from . import kept
from .canonical import json_text
from .chains import GENESIS
from .command import main
from .ed25519 import ed25519_verify
from .events import VERSION, Event, Row, chain_and_seq, place_of, row_of
from .export import Export, no_collector, trust, verify_export
from .files import CHECKPOINTS, HANDS, LEDGER, MANIFEST, STATE, TAIL, TIMESTAMPS
from .findings import Finding, Report, Unusable, summary
from .hands import Hands
from .kinds import KINDS
from .ledger import Books, about_of, transactions_of
from .merkle import (
    EMPTY_ROOT,
    TILE_BITS,
    Frontier,
    leaf_hash,
    leaf_hashes,
    node_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)
from .notes import (
    Checkpoint,
    House,
    Key,
    Note,
    Notes,
    join_notes,
    key_hash,
    key_of,
    log_name,
    parse_key,
    parse_keys,
    parse_note,
    read_keys,
    read_notes,
    split_notes,
    verify_note,
)
from .rotations import Chain, Keys
from .shelf import Shelf
from .timestamps import Stamp, judge_timestamps, stamp_of
from .trees import Trees
from .verification import Verifier

__all__ = [
    "CHECKPOINTS",
    "EMPTY_ROOT",
    "GENESIS",
    "HANDS",
    "KINDS",
    "LEDGER",
    "MANIFEST",
    "STATE",
    "TAIL",
    "TILE_BITS",
    "TIMESTAMPS",
    "VERSION",
    "Books",
    "Chain",
    "Checkpoint",
    "Event",
    "Export",
    "Finding",
    "Frontier",
    "Hands",
    "House",
    "Key",
    "Keys",
    "Note",
    "Notes",
    "Report",
    "Row",
    "Shelf",
    "Stamp",
    "Trees",
    "Unusable",
    "Verifier",
    "about_of",
    "chain_and_seq",
    "ed25519_verify",
    "join_notes",
    "json_text",
    "judge_timestamps",
    "kept",
    "key_hash",
    "key_of",
    "leaf_hash",
    "leaf_hashes",
    "log_name",
    "main",
    "no_collector",
    "node_hash",
    "parse_key",
    "parse_keys",
    "parse_note",
    "place_of",
    "read_keys",
    "read_notes",
    "root_of",
    "row_of",
    "split_notes",
    "stamp_of",
    "summary",
    "transactions_of",
    "trust",
    "verify_consistency",
    "verify_export",
    "verify_inclusion",
    "verify_note",
]
