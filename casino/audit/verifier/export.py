"""An export of a house's audit trail: its files, and how they are verified."""

import gc
import re
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .canonical import is_made_of, value_of
from .cosignatures import WitnessKey, judge_witnesses
from .ed25519 import ed25519_verify
from .events import Row
from .files import (
    CHECKPOINTS,
    HANDS,
    LEDGER,
    MANIFEST,
    STATE,
    TAIL,
    TIMESTAMPS,
    events_of,
    lines_of,
    names_of,
    unknown_names,
    whole,
)
from .findings import Report, Unusable
from .hands import Hands
from .ledger import Books, transactions_of
from .notes import House, Key, Notes, is_number, join_notes, notes_text, parse_key, split_notes
from .rotations import Chain, Keys
from .shelf import Shelf
from .timestamps import Stamp, judge_timestamps, stamp_of_line
from .trees import Trees
from .verification import Verifier

_MANIFEST = {"code": str, "currency": str, "epochs": dict, "house": str, "tail": int, "verifier_sha256": str}
_ACCOUNT = {"id": int, "code": str, "commodity": str, "normal_side": int, "balance": int, "version": int}
#: A row of the house's state.
_STATE_ROW: dict[str, type] = {"key": str, "model": str, "row": dict}
MOST_LEAVES = 10**18
_ACCOUNT_LINE = b'{"account":'
_SHA256 = re.compile("[0-9a-f]{64}").fullmatch


@dataclass(frozen=True, slots=True)
class Epoch:
    """What the manifest says of an epoch: its number of leaves, and the keys of its checkpoints (none before the
    first)."""

    size: int
    keys: Chain


class Export:
    """A folder that `manage.py export_audit` wrote. Raises Unusable for one that is none."""

    def __init__(self, folder: Path, report: Report) -> None:
        self._folder, self._report = folder, report
        text = whole(folder / MANIFEST)
        try:
            manifest = value_of(text.removesuffix("\n").encode())
            if not text.endswith("\n") or not is_made_of(manifest, _MANIFEST):
                raise ValueError(f"it is not {', '.join(_MANIFEST)} on one line")
            self._read(manifest)
        except ValueError as error:
            raise Unusable(f"{folder / MANIFEST} cannot be read: {error}") from error
        for name in unknown_names(folder, names_of(self.epochs)):
            report.find("file_unknown", name, "no export has such a file", at=-1)

    def _read(self, manifest: Row) -> None:
        """Raises ValueError, Unusable."""
        if str(uuid.UUID(manifest["house"])) != manifest["house"]:
            raise ValueError(f"the house is {manifest['house']!r}, not a UUID in its canonical form")
        if manifest["tail"] < 0 or not _SHA256(manifest["verifier_sha256"]):
            raise ValueError("tail is a number of events, verifier_sha256 is 64 hex digits")
        self.house = House(manifest["house"], manifest["code"], manifest["currency"])
        self.epochs = dict(_epoch(number, epoch) for number, epoch in manifest["epochs"].items())
        self.size: int = manifest["tail"]
        self.verifier: str = manifest["verifier_sha256"]

    def notes(self) -> Notes:
        """The log's own checkpoints."""
        text = notes_text(self._folder / CHECKPOINTS, follow=False)
        notes = split_notes(text)
        if join_notes(notes) != text:
            raise Unusable(f"{CHECKPOINTS} cannot be read: each note is followed by one empty line")
        return Notes("the export", notes)

    def timestamps(self) -> Iterator[Stamp]:
        """The time stamps of the log's checkpoints."""
        for lines in self._portions(TIMESTAMPS):
            yield from map(stamp_of_line, lines)

    def payloads(self, name: str, size: int) -> Iterator[list[bytes]]:
        """The lines of a file of events, which must be so many."""
        count = 0
        for lines in self._portions(name):
            count += len(lines)
            yield lines
        if count != size:
            self._report.find("export_cut", name, f"it has {count} lines, the manifest says {size}")

    def accounts(self) -> list[Row]:
        """The accounts that head the ledger's file, in the order of their ids."""
        found: list[Row] = []
        for lines in self._portions(LEDGER):
            for line in lines:
                if not line.startswith(_ACCOUNT_LINE):
                    return found
                found.append(_account(line, found[-1]["id"] if found else 0))
        return found

    def transactions(self) -> Iterator[Row]:
        """The ledger's transactions, which follow its accounts."""
        return transactions_of(_after_accounts(self._portions(LEDGER)))

    def hands(self) -> Iterator[Row]:
        """The rows of hands."""
        for lines in self._portions(HANDS):
            for line in lines:
                yield _hand(line)

    def rows(self) -> Iterator[Row]:
        """The rows of the house's state."""
        for lines in self._portions(STATE):
            for line in lines:
                yield _state_row(line)

    def _portions(self, name: str) -> Iterator[list[bytes]]:
        last: list[bytes] | None = None
        for lines in lines_of(self._folder / name):
            if last:
                yield last
            last = lines
        if last and last[-1]:
            self._report.find("export_cut", name, "its last line has no end")
            yield last


def _epoch(number: str, epoch: Any) -> tuple[int, Epoch]:
    """Raises ValueError, Unusable."""
    if not is_number(number) or number == "0":
        raise ValueError(f"{number!r} is no number of an epoch")
    if type(epoch) is not dict or epoch.keys() != {"rotations", "size", "vkey"} or type(epoch["size"]) is not int:
        raise ValueError(f"epoch {number} is not its size, its vkey and its rotations")
    if epoch["size"] < 0 or type(epoch["vkey"]) not in (str, type(None)):
        raise ValueError(f"the size of epoch {number} is a number of leaves, its vkey is text or null")
    keys = [] if epoch["vkey"] is None else [(0, parse_key(epoch["vkey"]))]
    return int(number), Epoch(epoch["size"], [*keys, *_rotations(number, epoch["rotations"])])


def _rotations(number: str, rotations: Any) -> Iterator[tuple[int, Key]]:
    """Raises ValueError, Unusable."""
    last = 0
    for one in rotations if type(rotations) is list else [None]:
        if type(one) is not list or len(one) != 2 or type(one[0]) is not int or type(one[1]) is not str:
            raise ValueError(f"a rotation of epoch {number} is a size and a vkey")
        if not last < one[0] <= MOST_LEAVES:
            raise ValueError(f"the rotations of epoch {number} have rising sizes, from 1 on")
        last = one[0]
        yield last + 1, parse_key(one[1])


def _account(line: bytes, before: int) -> Row:
    """Raises Unusable."""
    try:
        row = value_of(line)
    except ValueError as error:
        raise Unusable(f"{LEDGER} cannot be read: {error}") from error
    account: Row = row["account"] if is_made_of(row, {"account": dict}) else {}
    if not is_made_of(account, _ACCOUNT) or account["normal_side"] not in (1, -1) or account["id"] <= before:
        raise Unusable(f"{LEDGER} cannot be read: an account is {', '.join(_ACCOUNT)}, and ids rise")
    return account


def _after_accounts(portions: Iterator[list[bytes]]) -> Iterator[list[bytes]]:
    for lines in portions:
        rest = [line for line in lines if not line.startswith(_ACCOUNT_LINE)]
        if rest:
            if rest != lines[-len(rest) :]:
                raise Unusable(f"{LEDGER} cannot be read: an account follows a transaction")
            yield rest
            break
    yield from portions


def _hand(line: bytes) -> Row:
    """Raises Unusable."""
    try:
        row = value_of(line)
    except ValueError as error:
        raise Unusable(f"{HANDS} cannot be read: {error}") from error
    if type(row) is not dict or type(row.get("hand")) is not str:
        raise Unusable(f"{HANDS} cannot be read: a line is an object with the name of a hand")
    return row


def _state_row(line: bytes) -> Row:
    """Raises Unusable."""
    try:
        row: Row = value_of(line)
    except ValueError as error:
        raise Unusable(f"{STATE} cannot be read: {error}") from error
    if not is_made_of(row, _STATE_ROW):
        raise Unusable(f"{STATE} cannot be read: a row is {', '.join(_STATE_ROW)}")
    return row


@contextmanager
def no_collector() -> Iterator[None]:
    """Nothing here makes cycles, and looking for them costs a third of the time. Around a function, so that what it
    made is gone when the collector looks again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@no_collector()
def verify_export(
    folder: Path, held: Sequence[Notes] = (), keys: Sequence[Key] = (), accepted: Collection[int] = (),
    program: str | None = None, witnesses: Sequence[WitnessKey] = (),
) -> Report:  # fmt: skip
    """Verify an export against checkpoints that others hold, under keys not taken from it, with the epochs after the
    first that the verifying person accepts, and cosignatures of these witnesses. `program` is the SHA-256 of the
    archive that runs. Raises Unusable."""
    report = Report()
    export = Export(folder, report)
    for number, epoch in export.epochs.items() if keys else ():
        if epoch.keys and not any(key in keys for _, key in epoch.keys):
            problem = f"the export brings {epoch.keys[-1][1].text}, which is not among the keys held"
            report.find("key_differs", f"epoch {number}", problem, at=-1)
    trust(report, held, keys)
    judge_witnesses(report, held, witnesses)
    if program is not None and program != export.verifier:
        report.notice(f"the manifest names the verifier with SHA-256 {export.verifier}; this is {program}")
    own = {number: epoch.keys for number, epoch in export.epochs.items()}
    sizes = {number: epoch.size for number, epoch in export.epochs.items()}
    notes = export.notes()
    judge_timestamps(report, export.timestamps(), frozenset(notes.texts))
    trees = Trees(report, export.house, Keys(own, keys, sizes), [notes, *held], ed25519_verify, accepted)
    books = Books(report, export.accounts(), export.transactions(), lambda _: export.transactions())
    shelf = Shelf()
    hands = Hands(report, export.hands(), export.house.currency, shelf=shelf)
    verifier = Verifier(report, export.house, trees, books, hands, export.rows, shelf)
    for number in sorted(export.epochs):
        verifier.epoch(number, export.payloads(events_of(number), export.epochs[number].size))
    verifier.tail(export.payloads(TAIL, export.size))
    return verifier.finish()


def trust(report: Report, held: Sequence[Notes], keys: Sequence[Key]) -> None:
    """Report what the result relies on."""
    if not keys:
        report.notice("no key was given: signatures were checked with the key in the export, which proves nothing "
                      "against a forger who makes a new key")  # fmt: skip
    if not held:
        report.notice("no checkpoints were given from outside: a log that was cut short, or written again with the "
                      "house's key, would not be found")  # fmt: skip
