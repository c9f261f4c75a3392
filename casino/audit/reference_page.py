"""`docs/reference/events.md`: every kind of event in words, made from the classes of `casino.audit.events`.

`manage.py events_page --write` makes it anew; a test fails while it is not what the classes declare.
"""

import inspect
import sys
from pathlib import Path

from casino.audit.events.declared import Field
from casino.audit.events.registry import BESIDE_DATA, EVENTS, AuditEvent

PATH = Path(__file__).resolve().parents[2] / "docs" / "reference" / "events.md"

HEAD = """# Events of the audit trail

Made from the classes of `casino/audit/events/` by `manage.py events_page --write`; do not edit. Every write of the
house is one of these, recorded in the transaction of the change: if the event cannot be written, nothing happens.

An event is one line of canonical JSON (RFC 8785 without floats: keys in ASCII order, amounts as integers of minor
units, no white space), the `payload`. Its `leaf_hash`, SHA-256 of a zero byte and the payload, is the link in its chain
and its leaf in the house's log. Absent members are left out.

| member | |
|---|---|
| `actor` | login of who acted, `worker` for the house's own processes, `operator` for a command without a password |
| `approver` | login of the second person, where the act took two |
| `at` | the database's clock (UTC) when the chain was locked |
| `chain` | `house/CODE`, or of one table `table/CODE`, of one drawer `drawer/CODE`, of the log itself `log/CODE` |
| `data` | the fields of the kind, see below |
| `house` | the house's id |
| `kind` | one of the names below |
| `postings` | the ledger transactions that the same database transaction posted, see below |
| `prev` | `leaf_hash` of the chain's event before, 64 zeros for the first |
| `reason` | the reason that was given |
| `request` | id of the HTTP request, or what made a process of the house act: of a management command its name |
| `role` | the role in which the actor acted, `system` for processes and operators |
| `seq` | number in the chain, from 1, without gaps |
| `terminal` | code of the terminal, empty for processes; of an `operator` `os:USER@MACHINE`, as the system names them |
| `v` | 2 |

`postings` are in the order in which they were posted: `{"about":HASH,"legs":[["2020/T1/anna","HUF",500], ...],"tx":ID}`
with account, commodity and units, debit positive, or for a mirror `reverses` with the id undone instead of `legs`.
`about` is the SHA-256 of the canonical JSON of key, kind, metadata, and the times at which it happened and was posted.
Exactly one event records each ledger transaction of a house.

Where a value was changed, `before` and `after` give both values. Events of a table that is set up carry
`table_version`, those of a drawer `drawer_version`: its version afterwards, which the next write names.

These writes have no event of their own: the answers kept under an Idempotency-Key, the outbox's notes on its
deliveries, the counters of wrong passwords, the ledger's empty accounts, which are opened with what needs them, and the
log that is built of these events.
"""


def render() -> str:
    """The page, as Markdown."""
    parts = [HEAD, _contents()]
    for module, kinds in _by_module().items():
        title, _, more = _text(sys.modules[module].__doc__).partition("\n\n")
        parts += [f"## {title.rstrip('.')}\n"]
        parts += [f"{more}\n"] if more else []
        parts += [_kind(kind) for kind in kinds]
    return "\n".join(parts).rstrip("\n") + "\n"


def _by_module() -> dict[str, list[type[AuditEvent]]]:
    """The kinds of each module of events, in the order in which they stand there."""
    found: dict[str, list[type[AuditEvent]]] = {}
    for kind in EVENTS.values():
        found.setdefault(kind.__module__, []).append(kind)
    return found


def _contents() -> str:
    lines = ["| kind | chain |", "|---|---|"]
    lines += [
        f"| [`{name}`](#{name.replace('.', '')}) | {', '.join(kind.CHAINS)} |" for name, kind in sorted(EVENTS.items())
    ]
    return "\n".join(lines) + "\n"


def _kind(kind: type[AuditEvent]) -> str:
    data = [field for field in kind.FIELDS if field.name not in BESIDE_DATA]
    beside = [field for field in kind.FIELDS if field.name in BESIDE_DATA]
    lines = [f"### `{kind.KIND}`\n", f"{_text(kind.__doc__)}\n"]
    lines += ["| field of `data` | type | meaning |", "|---|---|---|", *map(_row, data), ""] if data else ["No data.\n"]
    lines += ["| beside `data` | type | meaning |", "|---|---|---|", *map(_row, beside), ""] if beside else []
    return "\n".join([*lines, f"`{kind.__module__}.{kind.__qualname__}`\n"])


def _row(field: Field) -> str:
    optional = ", optional" if field.optional else ""
    return f"| `{field.name}` | {field.json_type}{optional} | {field.meaning.replace('|', chr(92) + '|')} |"


def _text(docstring: str | None) -> str:
    return inspect.cleandoc(docstring or "")
