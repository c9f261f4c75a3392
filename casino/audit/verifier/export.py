"""An export of a house's audit trail: its files, and how they are verified."""

import gc
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path

from .canonical import decoded, is_made_of, json_text, objects_of
from .ed25519 import ed25519_verify
from .events import Row
from .files import CHECKPOINTS, HANDS, LEDGER, MANIFEST, TAIL, VKEY
from .findings import Report, Unusable
from .hands import Hands
from .ledger import Books, transactions_of
from .notes import House, Key, Notes, parse_keys, read_notes
from .trees import Trees
from .verification import Verifier

#: Bytes that are read at a time: what is made of them should still lie in the processor's cache when it is used.
_PORTION = 1 << 15
_MANIFEST = {"code", "currency", "epochs", "house", "tail", "verifier_sha256"}
_ACCOUNT = {"id": int, "code": str, "commodity": str, "normal_side": int, "balance": int, "version": int}


class Export:
    """A folder that `manage.py export_audit` wrote. Raises Unusable for one that is none."""

    def __init__(self, folder: Path, report: Report) -> None:
        self._folder, self._report = folder, report
        try:
            text = (folder / MANIFEST).read_bytes().decode()
            manifest = decoded(text.removesuffix("\n"))
            if f"{json_text(manifest)}\n" != text or manifest.keys() != _MANIFEST:
                raise Unusable(f"{MANIFEST} is not {', '.join(sorted(_MANIFEST))} in canonical JSON")
            self.house = House(manifest["house"], manifest["code"], manifest["currency"])
            self.epochs: dict[int, int] = {int(epoch): size for epoch, size in manifest["epochs"].items()}
            self.keys = parse_keys((folder / VKEY).read_bytes().decode())
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise Unusable(f"{folder} is no export: {error}") from error
        self.size: int = manifest["tail"]
        self.verifier: str = manifest["verifier_sha256"]

    def notes(self) -> Notes:
        """The log's own checkpoints."""
        return read_notes(self._folder / CHECKPOINTS, "the export")

    def payloads(self, name: str, size: int) -> Iterator[list[bytes]]:
        """The lines of a file of events, which must be so many."""
        count = 0
        for lines in self._portions(name):
            count += len(lines)
            yield lines
        if count != size:
            self._report.find("export_cut", name, f"it has {count} lines, the manifest says {size}")

    def accounts(self) -> list[Row]:
        """The accounts that head the ledger's file."""
        found = []
        with (self._folder / LEDGER).open("rb") as file:
            for line in takewhile(lambda line: line.startswith(b'{"account":'), file):
                [row] = objects_of(LEDGER, [line], {"account": dict})
                if row["account"].keys() != _ACCOUNT.keys() or not is_made_of(row["account"], _ACCOUNT):
                    raise Unusable(f"{LEDGER} cannot be read: an account has {', '.join(_ACCOUNT)}")
                found.append(row["account"])
        return found

    def transactions(self) -> Iterator[Row]:
        """The ledger's transactions."""
        return transactions_of(self._portions(LEDGER))

    def hands(self) -> Iterator[Row]:
        """The rows of hands."""
        return self._rows(HANDS, {"hand": str})

    def _portions(self, name: str) -> Iterator[list[bytes]]:
        try:
            with (self._folder / name).open("rb") as file:
                while lines := file.readlines(_PORTION):
                    if not lines[-1].endswith(b"\n"):
                        self._report.find("export_cut", name, "its last line has no end")
                        lines[-1] += b"\n"
                    yield [line[:-1] for line in lines]
        except OSError as error:
            raise Unusable(f"{self._folder / name} cannot be read: {error}") from error

    def _rows(self, name: str, types: dict[str, type]) -> Iterator[Row]:
        for lines in self._portions(name):
            yield from objects_of(name, lines, types)


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
    program: str | None = None,
) -> Report:  # fmt: skip
    """Verify an export against checkpoints that others hold, under keys not taken from it, with the epochs after the
    first that the verifying person accepts. `program` is the SHA-256 of the archive that runs. Raises Unusable."""
    report = Report()
    export = Export(folder, report)
    for key in export.keys if keys else ():
        if key not in keys:
            report.find("key_differs", VKEY, f"the export brings {key.text}, which is not among the keys held", at=-1)
    trust(report, held, keys)
    if program is not None and program != export.verifier:
        report.notice(f"the manifest names the verifier with SHA-256 {export.verifier}; this is {program}")
    trees = Trees(report, export.house, keys or export.keys, [export.notes(), *held], ed25519_verify, accepted)
    books = Books(report, export.accounts(), export.transactions)
    verifier = Verifier(report, export.house, trees, books, Hands(report, export.hands(), export.house.currency))
    for number in sorted(export.epochs):
        verifier.epoch(number, export.payloads(f"events-{number}.jsonl", export.epochs[number]))
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
