"""Exports that a hostile house could hand out: what is changed in a good one, and what the verifier must say."""

import base64
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.proof.model import World, canonical

EVENTS, LEDGER, HANDS = "events-1.jsonl", "ledger.jsonl", "hands.jsonl"


@dataclass(frozen=True)
class Hostile:
    """A change of an export's folder; the exit code, and a word of what is printed."""

    name: str
    do: Callable[[Path], None]
    code: int
    word: str


EXPORTS: list[Hostile] = []


def hostile(code: int, word: str) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    """Add a change to the corpus."""

    def add(function: Callable[[Path], None]) -> Callable[[Path], None]:
        EXPORTS.append(Hostile(function.__name__, function, code, word))
        return function

    return add


def edit(folder: Path, name: str, old: bytes, new: bytes) -> None:
    """Replace the first place of some bytes in a file."""
    raw = (folder / name).read_bytes()
    assert old in raw, f"{name} has no {old!r}"
    (folder / name).write_bytes(raw.replace(old, new, 1))


def replaced(name: str, old: bytes, new: bytes, code: int, word: str) -> None:
    """Add such a replacement to the corpus."""
    EXPORTS.append(
        Hostile(f"{name}: {old!r:.40} to {new!r:.60}", lambda folder: edit(folder, name, old, new), code, word)
    )


# --- Text that says the same in another way, or nearly ---------------------------------------------------------------

replaced(EVENTS, b'"v":2}', b'"v":2,"v":2}', 1, "not_canonical")
replaced(EVENTS, b'"seq":1,', b'"seq":01,', 1, "not_json")
replaced(EVENTS, b'"seq":1,', b'"seq":true,', 1, "not_an_event")
replaced(EVENTS, b'"seq":1,', b'"seq":1.0,', 1, "not_json")
replaced(EVENTS, b'"seq":1,', b'"seq":NaN,', 1, "not_json")
replaced(EVENTS, b'"seq":1,', b'"seq":-0,', 1, "not_canonical")
replaced(EVENTS, b'"seq":1,', b'"seq": 1,', 1, "not_canonical")
replaced(EVENTS, b'"seq":1,', b'"seq":1e0,', 1, "not_json")
replaced(EVENTS, b'"seq":1,', b'"seq":' + b"9" * 5000 + b",", 1, "not_json")
replaced(EVENTS, b'"v":2}', b'"v":2}\r', 1, "not_canonical")
replaced(EVENTS, b'"v":2}\n', b'"v":2}\n\n', 1, "not_json")
replaced(EVENTS, b'"v":2}', b'"v":2,"x":1}', 1, "'x' is unknown")
replaced(EVENTS, b',"v":2}', b"}", 1, "'v' is missing")
replaced(EVENTS, b'"role":"dealer"', b'"role":null', 1, "role is no str")
replaced(EVENTS, b'"actor":"', b'"actor":"\\ud800', 1, "not_canonical")
replaced(EVENTS, b'"actor":"', b'"actor":"\xed\xa0\x80', 1, "not_json")
replaced(EVENTS, b'"actor":"', b'"actor":"\xff', 1, "not_json")
replaced(EVENTS, b'"actor":"', b'"actor":"\x1b[2J', 1, "not_json")
replaced(EVENTS, b'"data":{', b'"data":{"x":' + b"[" * 5000 + b"]" * 5000 + b",", 1, "nested more than 32 deep")
replaced(EVENTS, b'"data":{', b'"data":{"x":' + b"[" * 100 + b"]" * 100 + b",", 1, "nested more than 32 deep")
replaced(EVENTS, b'"at":"2026', b'"at":"soon', 1, "at is no moment")
replaced(EVENTS, b"{", b"\xef\xbb\xbf{", 1, "not_json")
replaced(LEDGER, b'"balance"', b'"balance" ', 2, "not the canonical text")
replaced(LEDGER, b'"normal_side":1', b'"normal_side":true', 2, "an account is")
replaced(LEDGER, b'"normal_side":1', b'"normal_side":2', 2, "an account is")
replaced(LEDGER, b'"normal_side":1', b'"normal_side":1,"spare":0', 2, "an account is")
replaced(LEDGER, b'"reverses":null', b'"reverses": null', 2, "not the canonical text")
replaced(LEDGER, b'"reverses":null', b'"reverses":false', 2, "a transaction is")
replaced(LEDGER, b'"reverses":null', b'"reverses":null,"spare":0', 2, "a transaction is")
replaced(LEDGER, b'"about":["', b'"about":[["', 2, "cannot be read")
replaced(LEDGER, b'{"why":', b'{"why":1,"why":', 2, "not the canonical text")
replaced(LEDGER, b'{"why":', b'{"x":1,"why":', 2, "not the canonical text")
replaced(LEDGER, b'"legs":[[', b'"legs":[[true,1,1,1],[', 2, "a transaction is")
replaced(HANDS, b'"carry":0', b'"carry":false', 1, "hand_row_differs")
replaced(HANDS, b'"carry":0', b'"carry":0,"carry":0', 2, "not the canonical text")
replaced(HANDS, b'"carry":0', b'"carry":0,"commitment":null', 1, "hand_row_differs")
replaced(HANDS, b'"hand":"', b'"hand":7,"hand":"', 2, "not the canonical text")
replaced(HANDS, b"\n", b"\r\n", 2, "not the canonical text")
replaced("manifest.json", b"}\n", b"} \n", 2, "not the canonical text")
replaced("manifest.json", b"}\n", b"}\n\n", 2, "cannot be read")
replaced("manifest.json", b"}\n", b"}\r\n", 2, "cannot be read")
replaced("manifest.json", b"}\n", b"}", 2, "cannot be read")
replaced("manifest.json", b'"tail":', b'"tail":-', 2, "not the canonical text")
replaced("manifest.json", b'"epochs":{"1":', b'"epochs":{"01":', 2, "no number of an epoch")
replaced("manifest.json", b'"epochs":{"1":', b'"epochs":{"0":', 2, "no number of an epoch")
replaced("manifest.json", b'"epochs":{"1":', b'"epochs":{"../events-1":', 2, "no number of an epoch")
replaced("manifest.json", b'"size":', b'"size":true,"s":', 2, "not the canonical text")
replaced("manifest.json", b'"currency":"HUF"', b'"currency":7', 2, "cannot be read")
replaced("manifest.json", b'"currency":"HUF"', b'"currency":"HUF","more":1', 2, "cannot be read")
replaced("manifest.json", b'"house":"', b'"house":"{', 2, "cannot be read")
replaced("manifest.json", b'"verifier_sha256":"0', b'"verifier_sha256":"g', 2, "64 hex digits")
replaced("checkpoints", b"\n\n", b"\r\n\r\n", 2, "one empty line")

replaced("checkpoints", b"\n", b"\n\n", 2, "one empty line")


# --- Files -----------------------------------------------------------------------------------------------------------


@hostile(2, "manifest.json cannot be read")
def the_manifest_is_missing(folder: Path) -> None:
    (folder / "manifest.json").unlink()


@hostile(2, "ledger.jsonl cannot be read")
def a_file_is_missing(folder: Path) -> None:
    (folder / LEDGER).unlink()


@hostile(1, "file_unknown")
def there_is_one_file_more(folder: Path) -> None:
    (folder / "notes.txt").write_text("nothing\n")


@hostile(1, "file_unknown")
def a_module_lies_in_the_folder(folder: Path) -> None:
    (folder / "hashlib.py").write_text("raise SystemExit(0)\n")


@hostile(1, "events-2.jsonl")
def there_is_an_epoch_that_the_manifest_does_not_name(folder: Path) -> None:
    (folder / "events-2.jsonl").write_bytes((folder / EVENTS).read_bytes())


@hostile(2, "no regular file")
def a_file_is_a_pipe_that_nobody_writes_to(folder: Path) -> None:
    (folder / EVENTS).unlink()
    os.mkfifo(folder / EVENTS)


@hostile(2, "cannot be read")
def a_file_is_a_link(folder: Path) -> None:
    (folder / HANDS).rename(folder.parent / "elsewhere")
    (folder / HANDS).symlink_to(folder.parent / "elsewhere")


@hostile(2, "Is a directory")
def a_file_is_a_folder(folder: Path) -> None:
    (folder / "tail.jsonl").unlink()
    (folder / "tail.jsonl").mkdir()


@hostile(2, "cannot be read")
def a_file_is_a_device_without_end(folder: Path) -> None:
    (folder / EVENTS).unlink()
    (folder / EVENTS).symlink_to("/dev/zero")


@hostile(2, "more than 4194304 bytes")
def a_line_has_no_end(folder: Path) -> None:
    with (folder / EVENTS).open("r+b") as file:
        file.truncate(1 << 40)


@hostile(2, "longer than 4194304 bytes")
def the_manifest_has_no_end(folder: Path) -> None:
    with (folder / "manifest.json").open("r+b") as file:
        file.truncate(1 << 40)


@hostile(2, "more than 4194304 bytes")
def the_checkpoints_have_no_end(folder: Path) -> None:
    with (folder / "checkpoints").open("r+b") as file:
        file.truncate(1 << 40)


@hostile(1, "export_cut")
def the_last_line_has_no_end(folder: Path) -> None:
    raw = (folder / HANDS).read_bytes()
    (folder / HANDS).write_bytes(raw.removesuffix(b"\n"))


@hostile(1, "file_unknown")
def a_name_clears_the_screen(folder: Path) -> None:
    (folder / "\x1b[2J\u202enothing found").write_text("")


# --- Lines -----------------------------------------------------------------------------------------------------------


def _lines(folder: Path, name: str, change: Callable[[list[bytes]], list[bytes]]) -> None:
    lines = (folder / name).read_bytes().splitlines(keepends=True)
    (folder / name).write_bytes(b"".join(change(lines)))


@hostile(1, "two rows")
def a_hand_has_two_rows(folder: Path) -> None:
    _lines(folder, HANDS, lambda lines: [*lines, lines[0]])


@hostile(2, "ids rise")
def an_account_stands_twice(folder: Path) -> None:
    _lines(folder, LEDGER, lambda lines: [lines[0], *lines])


@hostile(2, "an account follows a transaction")
def an_account_follows_the_transactions(folder: Path) -> None:
    _lines(folder, LEDGER, lambda lines: [*lines[1:], lines[0]])


@hostile(1, "ledger_out_of_order")
def a_transaction_stands_twice(folder: Path) -> None:
    _lines(folder, LEDGER, lambda lines: [*lines, lines[-1]])


@hostile(1, "event_out_of_order")
def an_event_stands_twice(folder: Path) -> None:
    _lines(folder, EVENTS, lambda lines: [lines[0], *lines])


@hostile(1, "leaves_differ")
def two_events_change_places(folder: Path) -> None:
    _lines(folder, EVENTS, lambda lines: [*lines[:7], lines[8], lines[7], *lines[9:]])


@hostile(1, "two signatures of one key")
def a_signature_stands_twice(folder: Path) -> None:
    _lines(folder, "checkpoints", lambda lines: [*lines[:6], lines[4], *lines[6:]])


@hostile(1, "with the time")
def a_checkpoint_has_no_time(folder: Path) -> None:
    _lines(folder, "checkpoints", lambda lines: [*lines[:5], *lines[6:]])


@hostile(1, "with the time")
def the_time_comes_first(folder: Path) -> None:
    _lines(folder, "checkpoints", lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]])


@hostile(1, "note_not_signed")
def a_checkpoint_says_another_time(folder: Path) -> None:
    _timed(folder, lambda raw: (*raw[:11], raw[11] ^ 1, *raw[12:]))


@hostile(1, "no time of a signature")
def a_checkpoint_is_of_no_year(folder: Path) -> None:
    _timed(folder, lambda raw: (*raw[:4], 255, *raw[5:]))


@hostile(1, "note_not_signed")
def the_time_is_not_signed(folder: Path) -> None:
    _timed(folder, lambda raw: (*raw[:-1], raw[-1] ^ 1))


@hostile(1, "note_unreadable")
def a_checkpoint_has_a_line_more(folder: Path) -> None:
    _lines(folder, "checkpoints", lambda lines: [*lines[:3], b"at 2026-11-21T20:00:00Z\n", *lines[3:]])


def _timed(folder: Path, change: Callable[[bytes], Iterable[int]]) -> None:
    """Change the bytes of the first checkpoint's signature with the time."""

    def changed(lines: list[bytes]) -> list[bytes]:
        head, _, encoded = lines[5].rpartition(b" ")
        raw = base64.b64encode(bytes(change(base64.b64decode(encoded))))
        return [*lines[:5], b"%s %s\n" % (head, raw), *lines[6:]]

    _lines(folder, "checkpoints", changed)


# --- Checkpoints and keys --------------------------------------------------------------------------------------------


def small_order_key(name: str) -> str:
    """The text of a key under which anybody can sign: the neutral element."""
    world = World()
    world.public = b"\x01" + bytes(31)
    return world.vkey_of(name)


@hostile(2, "no key of Ed25519")
def the_key_is_of_small_order(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["epochs"]["1"]["vkey"] = small_order_key(manifest["epochs"]["1"]["vkey"].split("+")[0])
    (folder / "manifest.json").write_text(canonical(manifest) + "\n")


@hostile(1, "key_differs")
def the_manifest_names_another_key(folder: Path) -> None:
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    manifest["epochs"]["1"]["vkey"] = World(seed=99).vkey_of(manifest["epochs"]["1"]["vkey"].split("+")[0])
    (folder / "manifest.json").write_text(canonical(manifest) + "\n")
