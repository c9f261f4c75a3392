"""A key comes from a file that is private, from the setting itself, or is used by a program in our place; whatever else
a source gives is refused, and nothing is signed or sealed with it."""

import os
import shlex
import stat
import sys
from pathlib import Path

import pytest

from casino.audit.signing import Signer
from casino.core import key_sources, seal_key
from casino.core.errors import KeyUnavailable, SealedUnreadable
from casino.core.key_sources import KeyBytes, KeyCommand
from deploy.embedded.process import wait_until
from deploy.key_command import main

KEY = bytes(range(32))
ROOT = Path(__file__).resolve().parents[3]


def read(text: str) -> bytes:
    source = key_sources.parse(text)
    assert isinstance(source, KeyBytes)
    return source.read()


def key_file(folder: Path, text: str = f"{KEY.hex()}\n", mode: int = 0o600) -> Path:
    path = folder / "key"
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_key_in_a_private_file_or_in_the_setting(tmp_path: Path, mode: int) -> None:
    assert read(f"file:{key_file(tmp_path, mode=mode)}") == KEY
    assert read(f"hex:{KEY.hex()}") == KEY


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o620, 0o602, 0o644])
def test_a_file_that_others_may_open_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(KeyUnavailable, match=f"mode {mode:04o}") as refused:
        read(f"file:{key_file(tmp_path, mode=mode)}")
    assert KEY.hex() not in str(refused.value)


@pytest.mark.parametrize("text", ["", "\n", KEY.hex()[2:], f"{KEY.hex()}00", f"{KEY.hex()}\n\n", "zz" * 32, "é" * 32])
def test_a_file_that_holds_something_else_is_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    with pytest.raises(KeyUnavailable, match="does not hold 64 hex digits") as refused:
        read(f"file:{key_file(tmp_path, text)}")
    assert KEY.hex()[2:] not in str(refused.value) and refused.value.__cause__ is None


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path, problem in ((tmp_path / "none", "No such file"), (tmp_path, "no regular file"),
                          (tmp_path / "pipe", "no regular file")):  # fmt: skip
        with pytest.raises(KeyUnavailable, match=problem):
            read(f"file:{path}")


@pytest.mark.parametrize("text", ["", KEY.hex(), "file:", "command:", "command: ", f"hex:{KEY.hex()[1:]}", "vault:x"])
def test_a_setting_names_one_of_three_sources(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected file:PATH, hex:DIGITS .* or command:PROGRAM"):
        key_sources.parse(text)


# --- A program ------------------------------------------------------------------------------------------------------


def program(folder: Path, body: str) -> str:
    """The setting for a program whose verb, context and input are `verb`, `context` and `given`."""
    path = folder / "program.py"
    path.write_text(
        "import os, sys, time\nverb, context = (*sys.argv[1:], '')[:2]\ngiven = sys.stdin.buffer.read()\n"
        f"write = sys.stdout.buffer.write\n{body}\n"
    )
    return f"command:{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


def example(folder: Path) -> str:
    """The setting for the program of the project, with new keys in a folder."""
    assert main([str(folder), "init"]) == 0
    return f"command:{shlex.quote(sys.executable)} -m deploy.key_command {shlex.quote(str(folder))}"


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_the_example_signs_and_wraps_and_no_key_leaves_it(tmp_path: Path) -> None:
    setting = example(tmp_path / "keys")
    for name in ("log_key", "seal_key"):
        assert stat.S_IMODE((tmp_path / "keys" / name).stat().st_mode) == 0o600
    signer = Signer.named(setting)
    held = Signer.named(f"file:{tmp_path / 'keys' / 'log_key'}")
    assert signer.public == held.public
    assert signer.sign(b"text\n") == held.sign(b"text\n")
    key = seal_key.named(setting)
    wrapped = key.wrap(KEY, b"house/1")
    assert KEY not in wrapped and key.unwrap(wrapped, b"house/1") == KEY
    with pytest.raises(KeyUnavailable, match=r"exit status 1: .*InvalidTag"):
        key.unwrap(wrapped, b"house/2")
    assert len(key.id) == 16 and key.id == seal_key.named(setting).id


def test_the_example_makes_no_key_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example(tmp_path / "keys")
    assert main([str(tmp_path / "keys"), "init"]) == 1
    assert "FileExistsError" in capsys.readouterr().err


def test_a_local_seal_key_opens_in_its_context_only() -> None:
    key = seal_key.named(f"hex:{KEY.hex()}")
    wrapped = key.wrap(KEY, b"house/1")
    assert key.unwrap(wrapped, b"house/1") == KEY
    with pytest.raises(SealedUnreadable):
        key.unwrap(wrapped, b"house/2")
    assert KEY.hex() not in key.id and key.id != seal_key.named(f"hex:{'07' * 32}").id


PUBLIC = "if verb == 'public-key': write(bytes.fromhex('{}')); sys.exit()\n".format(
    Signer.named(f"hex:{KEY.hex()}").public.hex()
)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("write(bytes(64))", "64 bytes that are none"),
        ("", "0 bytes that are none"),
        ("write(bytes(63))", "63 bytes that are none"),
        ("write(b'x' * 100000)", "100000 bytes"),
        ("sys.exit('the token is locked')", "exit status 1: 'the token is locked'"),
        ("write(bytes(64)); sys.exit(3)", "exit status 3"),
        ("os.kill(os.getpid(), 9)", "exit status -9"),
    ],
)
def test_a_signature_that_is_not_good_is_never_used(tmp_path: Path, body: str, problem: str) -> None:
    with pytest.raises(KeyUnavailable, match=problem):
        Signer.named(program(tmp_path, PUBLIC + body)).sign(b"text\n")


@pytest.mark.parametrize("body", ["", "write(bytes(31))", "write(b'\\xff' * 33)"])
def test_a_public_key_has_32_bytes(tmp_path: Path, body: str) -> None:
    with pytest.raises(KeyUnavailable, match="32 bytes of an Ed25519 key"):
        Signer.named(program(tmp_path, body))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("", "wrap answers 1 to 4096 bytes"),
        ("write(given)", "without the key in them"),
        ("write(bytes(5000))", "wrap answers 1 to 4096 bytes"),
        ("write(b'x' if verb == 'wrap' else bytes(32))", "unwraps another one"),
        ("write(b'x' if verb == 'wrap' else bytes(31))", "answered 31"),
    ],
)
def test_a_wrapped_key_that_does_not_come_back_is_never_kept(tmp_path: Path, body: str, problem: str) -> None:
    with pytest.raises(KeyUnavailable, match=problem):
        seal_key.named(program(tmp_path, body)).wrap(KEY, b"house/1")


@pytest.mark.parametrize("answer", ["", "a b", "x" * 121, "a\\nb", "é"])
def test_a_seal_key_has_a_name_in_visible_ascii(tmp_path: Path, answer: str) -> None:
    with pytest.raises(KeyUnavailable, match="visible ASCII"):
        _ = seal_key.named(program(tmp_path, f"write('{answer}'.encode())")).id


def test_a_program_that_does_not_answer_is_ended_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_sources, "TIME_LIMIT", 1.0)
    pid = tmp_path / "pid"
    body = f"child = os.fork()\nif child: open({str(pid)!r}, 'w').write(str(child))\ntime.sleep(60)"
    with pytest.raises(KeyUnavailable, match="not answered within 1 s"):
        Signer.named(program(tmp_path, body))
    child = Path(f"/proc/{pid.read_text()}/stat")
    assert wait_until(lambda: not child.exists() or child.read_text().split(") ")[1][0] in "ZX", seconds=10)


def test_a_program_that_cannot_be_started_is_refused() -> None:
    with pytest.raises(KeyUnavailable, match="cannot be started"):
        Signer.named("command:/no/such/program --slot 1")


def test_a_program_does_not_see_our_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASINO_SECRET_KEY", "hush")
    monkeypatch.setenv("DATABASE_URL", "postgresql://hush")
    monkeypatch.setenv("TOKEN_SLOT", "7")
    source = key_sources.parse(program(tmp_path, "write(repr(dict(os.environ)).encode())"))
    assert isinstance(source, KeyCommand)
    seen = source.ask("sign")
    assert b"hush" not in seen and b"'TOKEN_SLOT': '7'" in seen
