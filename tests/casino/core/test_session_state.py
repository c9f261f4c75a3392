"""Nothing in the source keeps anything in a session of the database, but what is known to connect past a pooler: see
docs/how-to/pool-connections.md. What the application leaves in its session when it runs is found out by
`test_pooled_connections`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
#: What of a session outlives its transaction, or is another session's, by the places that may have it.
KEPT = {
    r"pg_(?:try_)?advisory_lock": {"casino/audit/management/commands/sequence_audit.py"},
    r"pg_export_snapshot|SET TRANSACTION SNAPSHOT": {"casino/verification/snapshot_reader.py"},
    r"(?-i:\b(?:UN)?LISTEN\b|\bNOTIFY\b)|pg_notify": set(),
    r"\bCREATE (?:\w+ )?TEMP|\bINTO TEMP": set(),
    r"\bSET (?:SESSION|ROLE)\b": {"ledger/roles.py"},  # in a comment
    r"set_config\([^)]*, ?false\)": {"casino/core/migrating.py"},
    r"\bWITH HOLD\b|\bDECLARE \w+ (?:NO SCROLL )?CURSOR\b": set(),
    r"(?-i:\bPREPARE \w+ AS\b)|\bDISCARD (?:ALL|TEMP)\b|\bRESET (?:ROLE|ALL)\b": set(),
    # On the server, each within a transaction of its own.
    r"\bchunked_cursor\(": {"casino/reports/frame/reading.py", "ledger/exports.py"},
    # A connection beside Django's: which sessions there are is known.
    r"\bpsycopg\.connect\(|\bcreate_connection\(|connections\[[^\]]+\]\.copy\(\)": {
        "casino/verification/snapshot_reader.py", "ledger/exports.py", "ledger/group.py",
    },
}  # fmt: skip
#: A statement that sets for the session: `SET` at the start of one, without LOCAL, and no part of UPDATE.
SETS = re.compile(r"""(?:["';]\s*)SET (?!LOCAL|TRANSACTION)[a-z_]+ (?:=|TO) """)


def sources() -> list[Path]:
    """Code of what runs in an installation."""
    found = [path for name in ("casino", "ledger") for path in (ROOT / name).rglob("*")]
    return [path for path in found if path.suffix in (".py", ".sql") and "__pycache__" not in path.parts]


@pytest.mark.parametrize("pattern", KEPT)
def test_only_known_places_use_what_a_session_keeps(pattern: str) -> None:
    sought = re.compile(pattern, re.IGNORECASE)
    found = {str(path.relative_to(ROOT)) for path in sources() if sought.search(path.read_text(encoding="utf-8"))}
    assert found == KEPT[pattern]


def test_nothing_is_set_for_longer_than_a_transaction() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in sources()
        for line in path.read_text(encoding="utf-8").splitlines()
        if SETS.search(line)
    ]
    assert found == []
