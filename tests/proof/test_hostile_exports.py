"""Hostile exports: exit 0 only for what says the same in its canonical form, else 1 or 2 and plain text; never a
traceback, a hang or silence."""

import contextlib
import io
import json
import re
import shutil
import signal
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casino.audit.verifier import command
from tests.proof.hostile import EXPORTS, Hostile
from tests.proof.model import World

#: Seconds within which a small export is judged.
LIMIT = 10


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good export, and what others hold of it."""
    folder = tmp_path_factory.mktemp("good")
    world = World().evening(hands=3)
    world.sizes.append(len(world.payloads))
    world.write(folder / "export")
    (folder / "held").write_text("".join(f"{note}\n" for note in world.notes()))
    (folder / "key").write_text(world.vkey)
    return folder


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """Stop what takes longer."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"it took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def judged(good: Path, export: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and everything that is printed."""
    out = io.StringIO()
    held = ("--checkpoints", str(good / "held"), "--key", str(good / "key"))
    with within(LIMIT), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = command.main([str(export), *held, *arguments])
    return code, out.getvalue()


def copy_of(good: Path, folder: Path) -> Path:
    """A copy of the good export."""
    shutil.rmtree(folder / "export", ignore_errors=True)
    return Path(shutil.copytree(good / "export", folder / "export"))


def plain(text: str) -> bool:
    """Whether a text has nothing that a terminal would act on, or that would hide or turn other text."""
    return all(one == "\n" or one.isprintable() for one in text)


def test_a_good_export_is_good(good: Path) -> None:
    code, text = judged(good, good / "export")
    assert (code, text.endswith("nothing found\n")) == (0, True)
    assert "checkpoints of epoch 1 prove 33 of its 33 leaves" in text


@pytest.mark.parametrize("hostile", EXPORTS, ids=lambda one: one.name)
def test_a_hostile_export(good: Path, tmp_path: Path, hostile: Hostile) -> None:
    export = copy_of(good, tmp_path)
    hostile.do(export)
    for arguments in ((), ("--json",)):
        code, text = judged(good, export, *arguments)
        assert code == hostile.code, text
        assert hostile.word in (text if code == 2 or not arguments else json.dumps(json.loads(text))), text
        assert plain(text), text


# --- Changed at random: bytes, tokens of JSON, lines, files ----------------------------------------------------------

TOKENS = [
    b"0", b"1", b"-1", b"01", b"1.0", b"1e3", b"NaN", b"-0", b"9" * 30, b"true", b"false", b"null", b'""', b'"x"',
    b"{}", b"[]", b"[[]]", b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\n", b"\r\n", b" ", b"\t", b"\x00",
    b"\x1b[2J", b"\xff", b"\xed\xa0\x80", b"\\u0000", b"\\ud800", "\u202e".encode(), "\u2028".encode(), b"\n\n", b"+",
    b"=", "\u2014 ".encode(), b'"seq":1,', b'"v":2', b'"tx":10', b"[" * 40, b"[" * 3000,
]  # fmt: skip


@st.composite
def changes(draw: st.DrawFn) -> list[tuple[str, int, float, float, bytes]]:
    """Some changes: kind, number of a file, two places in it, a token."""
    kinds = st.sampled_from(["byte", "insert", "replace", "cut", "copy", "swap", "line", "doubled", "file"])
    place = st.floats(0, 1, exclude_max=True)
    one = st.tuples(kinds, st.integers(0, 6), place, place, st.sampled_from(TOKENS))
    return draw(st.lists(one, min_size=1, max_size=3))


def changed(raw: bytes, kind: str, begin: int, end: int, token: bytes) -> bytes:
    """A file's bytes after one change; `begin` and `end` are places in them."""
    begin, end = sorted((begin, end))
    lines = raw.splitlines(keepends=True) or [b""]
    first, second = raw[:begin].count(b"\n") % len(lines), raw[:end].count(b"\n") % len(lines)
    if kind == "swap":
        lines[first], lines[second] = lines[second], lines[first]
    elif kind == "line":
        del lines[first]
    elif kind == "doubled":
        lines.insert(second, lines[first])
    if kind in ("swap", "line", "doubled"):
        return b"".join(lines)
    return {
        "byte": raw[:begin] + bytes([raw[begin] ^ (token[0] or 1)]) + raw[begin + 1 :] if raw else token,
        "insert": raw[:begin] + token + raw[begin:],
        "replace": raw[:begin] + token + raw[begin + len(token) :],
        "cut": raw[:begin] + raw[end:][:4000],
        "copy": raw[:end] + raw[begin:end][:4000] + raw[end:],
        "file": token,
    }[kind]


def check(good: Path, folder: Path, made: list[tuple[str, int, float, float, bytes]]) -> None:
    """Judge an export after these changes."""
    export = copy_of(good, folder)
    names = sorted(path.name for path in export.iterdir())
    for kind, number, begin, end, token in made:
        path = export / names[number % len(names)]
        raw = path.read_bytes()
        path.write_bytes(changed(raw, kind, int(begin * len(raw)), int(end * len(raw)), token))
    same = unchanged(good, export, names)
    started = time.monotonic()
    code, text = judged(good, export)
    assert plain(text), text
    assert text.strip(), "it says nothing"
    assert time.monotonic() - started < LIMIT
    assert (code == 0) == same, (code, text)


def unchanged(good: Path, export: Path, names: list[str]) -> bool:
    """Whether an export says what the good one does: the same bytes, but for the order of the rows of hands and of
    state, which has no meaning, times of rows, which are proved to the minute, and the verifier's hash in the manifest,
    which is for people to compare."""
    for name in names:
        one, other = (good / "export" / name).read_bytes(), (export / name).read_bytes()
        if name in ("hands.jsonl", "state.jsonl"):
            one, other = (b"\n".join(sorted(raw.split(b"\n"))) for raw in (one, other))
        if name == "state.jsonl" and near(one, other):
            continue
        if name == "manifest.json":
            other = re.sub(rb'(?<="verifier_sha256":")[0-9a-f]{64}(?="}\n\Z)', b"0" * 64, other)
        if one != other:
            return False
    return True


MOMENT = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")


def near(one: bytes, other: bytes) -> bool:
    """Whether two texts differ only in times, none of them by more than a minute."""
    if MOMENT.sub(b"", one) != MOMENT.sub(b"", other):
        return False
    pairs = zip(MOMENT.findall(one), MOMENT.findall(other), strict=True)
    try:
        found = [[datetime.fromisoformat(at.decode()) for at in pair] for pair in pairs]
    except ValueError:
        return False
    return all(abs((first - second).total_seconds()) <= 60 for first, second in found)


RANDOM = {"suppress_health_check": [HealthCheck.function_scoped_fixture], "deadline": None}


@settings(max_examples=120, **RANDOM)
@given(changes())
def test_random_changes(good: Path, tmp_path: Path, made: list[tuple[str, int, float, float, bytes]]) -> None:
    check(good, tmp_path, made)


@pytest.mark.long
@settings(max_examples=5000, **RANDOM)
@given(changes())
def test_many_random_changes(good: Path, tmp_path: Path, made: list[tuple[str, int, float, float, bytes]]) -> None:
    check(good, tmp_path, made)
