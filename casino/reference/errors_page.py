"""`errors.md`: every stable code of a refusal, from `casino.core.error_codes`."""

from collections.abc import Sequence

from casino.core.error_codes import ENGINE, HTTP, LEDGER, MONEY, PEOPLE, TABLES, ErrorCode
from casino.core.error_members import MEMBERS
from casino.reference.markdown import generated, table

HEAD = """
A refused request is answered by a problem document (RFC 9457, `application/problem+json`), and nothing has changed.
`code` is stable and meant for programs; `detail` is an English sentence. Some codes have more members, which say what
would have been accepted. A management command prints the same code in brackets.
"""
SECTIONS: tuple[tuple[str, Sequence[ErrorCode]], ...] = (
    ("Requests, signing in and rights", HTTP),
    ("Tables and hands", TABLES),
    ("Chips, cage and money", MONEY),
    ("People and terminals", PEOPLE),
    ("Rules of the games", ENGINE),
    ("The ledger", LEDGER),
)


def render() -> str:
    """The page."""
    parts = [f"# Errors\n\n{generated('`casino/core/error_codes.py`')}{HEAD}"]
    parts += [f"## {title}\n\n{_codes(codes)}" for title, codes in SECTIONS]
    members = table(("member", "meaning"), ((f"`{name}`", meaning) for name, (_, meaning) in sorted(MEMBERS.items())))
    return "\n".join([*parts, f"## Members\n\n{members}"])


def _codes(codes: Sequence[ErrorCode]) -> str:
    in_order = sorted(codes, key=lambda one: (one.status, one.code))
    rows = ((f"`{one.code}`", str(one.status), one.meaning, _members(one)) for one in in_order)
    return table(("code", "status", "meaning", "members"), rows)


def _members(one: ErrorCode) -> str:
    return ", ".join(f"`{name}`" for name in one.members)
