"""The table of stable codes against the source: nothing raises a code that is not in it, nor with another status."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from casino.api.http import problems
from casino.approvals.models import ApprovalState
from casino.cage.announced_models import AnnouncedState
from casino.cage.models import HandoverState, VaultCountState
from casino.core import error_codes, errors
from casino.core.error_codes import ERROR_CODES
from casino.core.error_members import MEMBERS
from casino.hands import exceptions
from casino.staff import credentials
from casino.tables.models import TableState
from casino.transfers.models import BoxState, MoveState, TransferState, TrayCountState
from casino.transfers.services import CountDiffers
from engine.errors import EngineError, StackTooShort
from ledger.errors import LedgerError

ROOT = Path(__file__).parents[3]
#: Codes that are made of a state.
STATES = {
    "f'table_{table.state}'": [f"table_{state}" for state in TableState],
    "f'transfer_{transfer.state}'": [f"transfer_{state}" for state in TransferState],
    "f'approval_{found.state}'": [f"approval_{state}" for state in ApprovalState],
    "f'tray_count_{found.state}'": [f"tray_count_{state}" for state in TrayCountState if state != "waiting"],
    "f'handover_{found.state}'": [f"handover_{state}" for state in HandoverState if state != HandoverState.OFFERED],
    "f'announcement_{state}'": [f"announcement_{state}" for state in AnnouncedState if state != "announced"],
    "f'vault_count_{found.state}'": [f"vault_count_{state}" for state in VaultCountState],
    "f'box_{box.state}'": [f"box_{state}" for state in BoxState],
    "f'chip_move_{move.state}'": [f"chip_move_{state}" for state in MoveState],
}
#: Codes that stand in a constant, or are passed on from the engine.
CONSTANTS = {
    "REFUSED_CODE": [credentials.REFUSED_CODE],
    "error.code": [StackTooShort.code],
    "CARD_CODES": list(exceptions.CODES.values()),
}
#: Bases of the trees that nothing raises itself.
BASES = {"house_error", "log_refused", "conflict", "unprocessable", "gone"}


def kinds(base: type) -> Iterator[type]:
    """Every class of a tree of errors below its base."""
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


HOUSE_ERRORS = {kind.__name__: kind for kind in (*kinds(errors.HouseError), CountDiffers)}


def raised() -> Iterator[tuple[str, type[errors.HouseError], str, list[str]]]:
    """Where a house's error is made in the source, its class, its code and the names of its members."""
    for file in sorted((ROOT / "casino").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            kind = HOUSE_ERRORS.get(ast.unparse(node.func)) if isinstance(node, ast.Call) else None
            if kind is None:
                continue
            where = f"{file.relative_to(ROOT)}:{node.lineno}"
            members = [word.arg for word in node.keywords if word.arg not in (None, "code")]
            [given] = [word.value for word in node.keywords if word.arg == "code"] or [ast.Constant(kind.code)]
            if kind is exceptions.CardsRefused:
                given, members = ast.Name("CARD_CODES"), []
            for code in _codes(given):
                yield where, kind, code, members


def _codes(node: ast.expr) -> list[str]:
    match node:
        case ast.Constant(value=str(code)):
            return [code]
        case ast.IfExp():
            return [*_codes(node.body), *_codes(node.orelse)]
        case ast.JoinedStr():
            return STATES[ast.unparse(node)]
        case ast.Name() | ast.Attribute():
            return CONSTANTS[ast.unparse(node)]
    raise AssertionError(f"a code that no test can read: {ast.unparse(node)}")


def test_whatever_is_raised_is_registered_with_its_status_and_members() -> None:
    found = list(raised())
    assert len(found) > 100
    for where, kind, code, members in found:
        entry = ERROR_CODES.get(code)
        assert entry is not None, f"{where} raises {code}, which casino/core/error_codes.py does not have"
        assert entry.status == kind.status, f"{where} raises {code} as {kind.status}, the table says {entry.status}"
        assert set(members) <= set(entry.members), f"{where}: {code} has members {members}, the table {entry.members}"


@pytest.mark.parametrize("base", [EngineError, LedgerError])
def test_engine_and_ledger_have_no_code_that_is_not_registered(base: type) -> None:
    abstract = {"setup_error", "option_error", "card_error", "action_error", "record_error", "ledger_error"}
    codes = {kind.code for kind in kinds(base) if kind.__module__ == base.__module__} - abstract
    assert codes <= ERROR_CODES.keys()


def test_nothing_is_registered_that_nothing_raises() -> None:
    used = {code for _, _, code, _ in raised()}
    used |= {kind.code for base in (EngineError, LedgerError) for kind in kinds(base)}
    used |= {kind.code for kind in HOUSE_ERRORS.values()} - BASES
    elsewhere = (Path(problems.__file__), ROOT / "casino/api/health.py", ROOT / "deploy/web.py")
    source = "".join(file.read_text() for file in elsewhere)
    assert {code for code in ERROR_CODES.keys() - used if f'"{code}"' not in source} == set()


def test_every_row_says_what_it_means() -> None:
    assert len(list(error_codes.rows())) == len(ERROR_CODES)
    for code, status, meaning, expected in error_codes.rows():
        assert code.isidentifier() and code.islower()
        assert 400 <= status <= 599 and meaning.endswith("."), code
        assert expected.count("`: ") == len(ERROR_CODES[code].members)
    assert {name for one in ERROR_CODES.values() for name in one.members} == MEMBERS.keys()
