"""`manage.py export_ledger`: the same text as the functions, whole files or none, an exit code for each way to fail."""

import io
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

import ledger
from ledger import exports, plaintext
from ledger.management.commands import export_ledger
from ledger.management.commands.export_ledger import NO_BOOK, UNWRITABLE, write_whole
from ledger.plaintext import Look
from tests.ledger.bulk import fill, open_bulk
from tests.ledger.support import Shop

MANAGE = Path(ledger.__file__).parents[1] / "manage.py"


def printed(*arguments: str) -> str:
    """What the command prints."""
    out = io.StringIO(newline="")
    call_command("export_ledger", *arguments, stdout=out)
    return out.getvalue()


def code(*arguments: str) -> int:
    """The exit code of a command that fails."""
    with pytest.raises(CommandError) as caught:
        printed(*arguments)
    return caught.value.returncode


@pytest.fixture
def busy(shop: Shop) -> Shop:
    """A book with two postings."""
    shop.pay_in("=in", shop.anna, 100)
    shop.post("apples", (shop.sold, 3), (shop.stock, -3))
    return shop


def test_prints_what_the_functions_give(busy: Shop) -> None:
    book = str(busy.book)
    look = Look("Shop", {"custody": "Equity"}, {"EUR": 2})
    looks = ("--title", "Shop", "--root", "custody=Equity", "--decimals", "EUR=2")
    for arguments, expected in {
        ("csv",): exports.csv_entries(book),
        ("csv", "--spreadsheet"): exports.csv_entries(book, spreadsheet=True),
        ("csv", "--accounts"): exports.csv_accounts(book),
        ("jsonl",): exports.jsonl_transactions(book),
        ("jsonl", "--accounts"): exports.jsonl_accounts(book),
        ("beancount",): plaintext.beancount(book),
        ("beancount", "--daily", *looks): plaintext.beancount(book, daily=True, look=look),
        ("hledger", *looks): plaintext.hledger(book, look=look),
    }.items():
        assert printed(book, "--format", *arguments) == "".join(expected)


def test_moments(busy: Shop) -> None:
    book = str(busy.book)
    assert printed(book, "--format", "jsonl", "--since", "2999-01-01") == ""
    assert printed(book, "--format", "jsonl", "--until", "2020-01-01T12:00:00+02:00") == ""
    assert printed(book, "--format", "jsonl", "--since", "2020-01-01T00:00:00Z") == printed(book, "--format", "jsonl")
    assert "; end: 0 transactions" in printed(book, "--format", "hledger", "--until", "2020-01-01")


@pytest.mark.parametrize(
    "arguments",
    [
        ["csv", "--daily"],
        ["jsonl", "--spreadsheet"],
        ["jsonl", "--title", "x"],
        ["hledger", "--accounts"],
        ["beancount", "--since", "2026-01-01"],
        ["csv", "--accounts", "--until", "2026-01-01"],
        ["csv", "--since", "yesterday"],
        ["csv", "--since", "2026-01-01T00:00"],
        ["hledger", "--root", "asset"],
        ["hledger", "--root", "asset=Treasure"],
        ["hledger", "--decimals", "EUR=two"],
        ["hledger", "--decimals", "EUR=-1"],
    ],
)
def test_arguments_that_cannot_be(busy: Shop, arguments: list[str], tmp_path: Path) -> None:
    assert code(str(busy.book), "--output", str(tmp_path / "book"), "--format", *arguments) == export_ledger.ARGUMENTS
    assert list(tmp_path.iterdir()) == []


def test_unknown_books(live_db: None, tmp_path: Path) -> None:
    for book in (str(uuid.uuid4()), "nonsense"):
        assert code(book, "--format", "hledger", "--output", str(tmp_path / "book")) == NO_BOOK
    assert list(tmp_path.iterdir()) == []


def test_files(busy: Shop, tmp_path: Path) -> None:
    path, link = tmp_path / "book.csv", tmp_path / "latest.csv"
    link.symlink_to(path.name)
    path.write_text("old", encoding="utf-8")
    assert printed(str(busy.book), "--format", "csv", "--output", str(link)) == ""
    assert link.is_symlink()
    assert path.read_bytes() == "".join(exports.csv_entries(busy.book)).encode()
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(tmp_path.iterdir()) == [path, link]


def test_files_that_cannot_be_written(busy: Shop, tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none" / "book", Path("/dev/null"), Path("/dev/full")):
        assert code(str(busy.book), "--format", "csv", "--output", str(place)) == UNWRITABLE
    assert Path("/dev/null").is_char_device()
    assert list(tmp_path.iterdir()) == []


def test_no_half_file(tmp_path: Path) -> None:
    """Whatever ends the writing, the file of that name is the old one and nothing lies beside it."""

    def text(error: BaseException) -> Iterator[str]:
        yield "half"
        raise error

    path = tmp_path / "book"
    for error in (RuntimeError(), KeyboardInterrupt(), OSError(28, "No space left on device")):
        with pytest.raises(type(error)):
            write_whole(path, text(error))
        assert list(tmp_path.iterdir()) == []
    write_whole(path, iter(["whole"]))
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, text(KeyboardInterrupt()))
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text(encoding="utf-8") == "whole"


@pytest.mark.slow
def test_as_a_program(live_db: None) -> None:
    """Exit codes and bytes as a shell sees them, also when the reader goes away in the middle."""
    book, accounts = open_bulk()
    fill(book, accounts, 1, 3000)
    command = [sys.executable, str(MANAGE), "export_ledger"]
    done = subprocess.run([*command, str(book), "--format", "csv"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == "".join(exports.csv_entries(book)).encode()
    failed = subprocess.run([*command, "nonsense", "--format", "csv"], capture_output=True, text=True, check=False)
    assert (failed.returncode, failed.stdout) == (NO_BOOK, "")
    assert failed.stderr == "CommandError: there is no book nonsense\n"
    with subprocess.Popen(
        [*command, str(book), "--format", "csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == "CommandError: the reader of the output has gone\n"
        assert process.wait() == UNWRITABLE
