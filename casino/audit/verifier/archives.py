"""`verify.pyz archive FOLDER ...`: archives of closed periods, each a section of a log between two signed checkpoints.

A folder has `manifest.json`, the events of the section as they were hashed, and the ledger's transactions that they
record. The roots of the leaves before it (`frontier`) give the root of the first checkpoint; with the section's own
leaves they give that of the second. So every event is proved, and by the events each transaction, leg by leg. State and
hands are not in it: an export has them.
"""

import argparse
import gzip
import hashlib
import re
import time
import zlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from .arguments import Parser
from .canonical import hash_of, is_made_of, value_of
from .chains import Chains
from .events import Row, place_of, require_event
from .files import LONGEST, MANIFEST, described, opened, unknown_names, unreadable, whole
from .findings import LAST, Report, Unusable, printable, summary
from .merkle import Frontier, leaf_hashes
from .notes import Checkpoint, Key, Notes, log_name, parse_keys, parse_note, read_keys, read_notes

EVENTS, LEDGER = "events.jsonl.gz", "ledger.jsonl.gz"
BLOCK = 256
"""Events in each member of the compressed file: one can be read by itself."""
_MANIFEST: dict[str, type] = {
    "blocks": list, "code": str, "currency": str, "epoch": int, "files": dict, "first": int, "first_day": str,
    "frontier": list, "house": str, "keys": list, "last_day": str, "notes": list, "number": int, "size": int,
    "verifier_sha256": str,
}  # fmt: skip
_FILE: dict[str, type] = {"bytes": int, "sha256": str}
_LINE: dict[str, type] = {"about": list, "id": int, "legs": list, "reverses": int}
_LEG = (str, str, int, int, int)
MOST = 200_000
"""Transactions that are kept until an event records them: those of one moment are far fewer."""
_IS_HASH = re.compile("[0-9a-f]{64}").fullmatch
_PORTION = 1 << 18


class Archive:
    """A folder with an archive, its manifest read and nothing else yet. Raises Unusable."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        text = whole(folder / MANIFEST)
        self.sha256 = hashlib.sha256(text.encode()).hexdigest()
        try:
            self.manifest: Row = value_of(text.removesuffix("\n").encode())
            if not text.endswith("\n") or not is_made_of(self.manifest, _MANIFEST):
                raise ValueError(f"it is not {', '.join(_MANIFEST)} on one line")
            self._require_sound()
        except ValueError as error:
            raise Unusable(f"{folder / MANIFEST} cannot be read: {error}") from error

    def _require_sound(self) -> None:
        """Raises ValueError, Unusable."""
        about = self.manifest
        self.first, self.size = about["first"], about["size"]
        if not 0 <= self.first < self.size or about["number"] < 1 or about["epoch"] < 1:
            raise ValueError("a section has leaves, and a number from 1 on")
        if not all(type(root) is str and _IS_HASH(root) for root in about["frontier"]):
            raise ValueError("the frontier is made of hashes")
        if len(about["frontier"]) != self.first.bit_count():
            raise ValueError(f"{self.first} leaves have {self.first.bit_count()} perfect subtrees")
        if about["files"].keys() != {EVENTS, LEDGER} or not all(
            is_made_of(one, _FILE) for one in about["files"].values()
        ):
            raise ValueError(f"the files are {EVENTS} and {LEDGER}, each with bytes and sha256")
        blocks, count = about["blocks"], -(-(self.size - self.first) // BLOCK)
        if any(type(at) is not int for at in blocks) or len(blocks) != count or blocks != sorted({*blocks}):
            raise ValueError(f"{count} blocks begin one after the other")
        if blocks[0] != 0 or blocks[-1] >= about["files"][EVENTS]["bytes"]:
            raise ValueError(f"the blocks are those of {EVENTS}")
        if not all(type(key) is str for key in about["keys"]):
            raise ValueError("the keys are texts")
        if [type(note) for note in about["notes"]] != [str if self.first else type(None), str]:
            raise ValueError("the notes are the checkpoints before and after the section; none is before leaf 0")
        before, after = about["notes"]
        self.before = None if before is None else parse_note(before)
        self.after = parse_note(after)
        self.origin = f"{log_name(about['code'], about['house'])}/{about['epoch']}"

    @property
    def name(self) -> str:
        """What it is, for people."""
        about = self.manifest
        return (
            f"archive {about['number']} of {about['code']}, {about['first_day']} to {about['last_day']}: leaves "
            f"{self.first} to {self.size - 1} of epoch {about['epoch']}"
        )

    def lines(self, name: str) -> Iterator[list[bytes]]:
        """The lines of a compressed file, many at a time. Raises Unusable, for a file that is not the one which the
        manifest names before anything is read of it."""
        path, said, begun = self.folder / name, self.manifest["files"][name], b""
        with opened(path) as file:
            if described(file) != (said["bytes"], said["sha256"]):
                raise Unusable(f"{path} is not the file that the manifest names")
            file.seek(0)
            try:
                with gzip.GzipFile(fileobj=file) as unpacked:
                    while portion := unpacked.read(_PORTION):
                        *lines, begun = (begun + portion).split(b"\n")
                        if len(begun) > LONGEST:
                            raise Unusable(f"{path} has a line of more than {LONGEST} bytes")
                        if lines:
                            yield lines
            except (OSError, EOFError, zlib.error) as error:
                raise unreadable(path, error) from error
        if begun:
            raise Unusable(f"{path} does not end with a line")


class _Section:
    """One archive, through every check that its own files allow."""

    def __init__(self, archive: Archive, report: Report, last: "_Section | None") -> None:
        """`last`: the section that it follows without a gap."""
        self._archive, self._report = archive, report
        self._chains: Chains = last._chains if last else Chains(report)
        #: Whether all chains are known from their first event on.
        self._from_beginning: bool = (
            last._from_beginning if last else (archive.first, archive.manifest["epoch"]) == (0, 1)
        )
        self._frontier = Frontier(archive.first, [bytes.fromhex(root) for root in archive.manifest["frontier"]])
        # Events and transactions come nearly in the same order: only what is out of step is kept.
        self._recorded: dict[int, Row] = {}
        self._unrecorded: dict[int, Row] = {}
        self._ledger = (line for lines in archive.lines(LEDGER) for line in lines)
        self._top = self._reached = 0

    @property
    def chains(self) -> Collection[str]:
        """Those of which events were read."""
        return self._chains.heads.keys()

    def verify(self, keys: Sequence[Key], held: Sequence[Notes]) -> None:
        """Everything of it. Raises Unusable."""
        archive, report = self._archive, self._report
        for name in unknown_names(archive.folder, {MANIFEST, EVENTS, LEDGER}):
            report.find("file_unknown", name, "no archive has such a file", at=-1)
        self._require_notes(keys, held)
        if archive.before is not None and self._frontier.root() != archive.before.checkpoint.root:
            report.find("leaves_differ", archive.name, "what is before it has not the root of the first checkpoint", -1)
        for lines in archive.lines(EVENTS):
            self._events(lines)
            self._read_ledger(self._top)
        if (self._frontier.size, self._frontier.root()) != (archive.size, archive.after.checkpoint.root):
            problem = f"its {self._frontier.size - archive.first} events do not give the root of the second checkpoint"
            report.find("leaves_differ", archive.name, problem)
        self._read_ledger(LAST)
        for number, posting in sorted(self._recorded.items()):
            problem = f"{posting['place']} records it, and the archive does not have it"
            report.find("transaction_missing", f"transaction {number}", problem)
        for number in sorted(self._unrecorded):
            problem = "the archive has it, and none of its events records it"
            report.find("transaction_unrecorded", f"transaction {number}", problem)
        report.counts["leaves"] += archive.size - archive.first

    def _require_notes(self, keys: Sequence[Key], held: Sequence[Notes]) -> None:
        archive, report = self._archive, self._report
        sizes = ((archive.before, archive.first), (archive.after, archive.size))
        for note, size in sizes:
            if note is None:
                continue
            point = note.checkpoint
            if (point.origin, point.size) != (archive.origin, size):
                problem = (
                    f"the checkpoint is of {point.size} leaves of {point.origin}, not of {size} of {archive.origin}"
                )
                report.find("note_of_another_log", archive.name, problem, at=-1)
            trusted = [key for key in keys if key.name == archive.origin.rpartition("/")[0]]
            if not any(key.has_signed(note) for key in trusted):
                problem = f"no key that is trusted has signed the checkpoint over {size} leaves"
                report.find("note_not_signed", archive.name, problem, at=-1)
            report.counts["checkpoints"] += 1
            for source in held:
                self._compare(point, source)

    def _compare(self, point: Checkpoint, source: Notes) -> None:
        head = f"{point.origin}\n{point.size}\n"
        same = [parse_note(text).checkpoint for text in source.texts if text.startswith(head)]
        if any(one.root != point.root for one in same):
            problem = f"{source.name} has another root for {point.size} leaves of {point.origin}"
            self._report.find("split_view", self._archive.name, problem, at=-1)
        elif not same:
            problem = f"{source.name} has no checkpoint over {point.size} leaves of {point.origin}"
            self._report.find("checkpoint_not_held", self._archive.name, problem, at=-1)

    def _events(self, lines: list[bytes]) -> None:
        hashes, first = leaf_hashes(lines), self._frontier.size
        if first + len(hashes) > self._archive.size:
            raise Unusable(f"{EVENTS} cannot be read: it has more events than the section has leaves")
        self._frontier.extend(hashes)
        for leaf, (line, hashed) in enumerate(zip(lines, hashes, strict=True), first):
            try:
                doc = value_of(line)
                require_event(doc)
                self._take(doc, hashed.hex())
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                self._report.find("not_an_event", f"leaf {leaf}", f"it is not made like one: {error}")
            self._report.now += 1

    def _take(self, doc: Row, link: str) -> None:
        if doc["house"] != self._archive.manifest["house"]:
            self._report.find("event_of_another_house", place_of(doc), f"it names house {doc['house']}")
        if not self._from_beginning:
            # A chain goes on from before the section, whose checkpoint covers what its first event here names.
            self._chains.heads.setdefault(doc["chain"], (doc["seq"] - 1, doc["prev"], ""))
        self._chains.take(doc, link)
        for posting in doc.get("postings", ()):
            number = posting["tx"]
            self._top = max(self._top, number)
            if number in self._recorded:
                problem = f"{place_of(doc)} records it again"
                self._report.find("transaction_recorded_twice", f"transaction {number}", problem)
            posting |= {"place": place_of(doc)}
            row = self._unrecorded.pop(number, None)
            if row is None:
                self._recorded[number] = posting
            else:
                self._compare_with(row, posting)

    def _read_ledger(self, until: int) -> None:
        """Read transactions up to a number. Raises Unusable."""
        while self._reached < until:
            line = next(self._ledger, None)
            if line is None:
                self._reached = LAST
                return
            row = _transaction(line)
            if row["id"] <= self._reached:
                raise Unusable(f"{LEDGER} cannot be read: transaction {row['id']} follows {self._reached}")
            self._reached = row["id"]
            self._report.counts["transactions"] += 1
            recorded = self._recorded.pop(row["id"], None)
            if recorded is None:
                self._unrecorded[row["id"]] = row
                if len(self._unrecorded) > MOST:
                    raise Unusable(f"{LEDGER} cannot be read: of {MOST} transactions none is recorded by an event yet")
            else:
                self._compare_with(row, recorded)

    def _compare_with(self, row: Row, recorded: Row) -> None:
        place, find = f"transaction {row['id']}", self._report.find
        legs = sorted([code, commodity, amount] for code, commodity, _, amount, _ in row["legs"])
        if recorded.get("reverses") != row["reverses"]:
            find("transaction_differs", place, f"{recorded['place']} records another reversal")
        elif row["reverses"] is None and sorted(recorded["legs"]) != legs:
            find("transaction_differs", place, f"{recorded['place']} records other legs")
        if recorded.get("about") != hash_of(row["about"]):
            problem = f"key, kind, metadata or a moment of it is not what {recorded['place']} records"
            find("transaction_differs", place, problem)


def _transaction(line: bytes) -> Row:
    """A line of the ledger. Raises Unusable."""
    try:
        row: Row = value_of(line, fractions=True)
    except ValueError as error:
        raise Unusable(f"{LEDGER} cannot be read: {error}") from error
    if not is_made_of(row, _LINE) and not is_made_of(row, _LINE | {"reverses": type(None)}):
        raise Unusable(f"{LEDGER} cannot be read: a transaction is {', '.join(_LINE)}")
    if any(type(leg) is not list or tuple(map(type, leg)) != _LEG for leg in row["legs"]):
        raise Unusable(f"{LEDGER} cannot be read: a leg is account, commodity, version, amount, balance after it")
    return row


def verify_archives(
    archives: Sequence[Archive], keys: Sequence[Key] = (), held: Sequence[Notes] = (), hashes: Sequence[str] = ()
) -> Report:
    """Verify archives, those of one log each behind the one before it. `hashes`: of the manifests, in the same order,
    as the events `log.archived` record them. Raises Unusable."""
    report = Report()
    if not keys:
        report.notice("no key was given: signatures were checked with the keys in the archives, which proves nothing "
                      "against a forger who makes a new key")  # fmt: skip
    last: Archive | None = None
    section: _Section | None = None
    for number, archive in enumerate(archives):
        if hashes and archive.sha256 != hashes[number]:
            problem = f"its manifest has SHA-256 {archive.sha256}, not {hashes[number]}"
            report.find("archive_differs", archive.name, problem, at=-1)
        if problem := _gap(last, archive):
            report.find("archive_missing", archive.name, problem, at=-1)
        goes_on = last is not None and (last.origin, last.size) == (archive.origin, archive.first)
        section = _Section(archive, report, section if goes_on else None)
        section.verify(keys or parse_keys("\n".join(archive.manifest["keys"])), held)
        report.counts["chains"] = max(report.counts["chains"], len(section.chains))
        last = archive
    report.counts["events"] = report.now
    return report


def _gap(last: Archive | None, archive: Archive) -> str:
    """What is missing between an archive and the one before it, of the same house; empty where nothing is."""
    if last is None or last.manifest["house"] != archive.manifest["house"]:
        return ""
    if last.origin == archive.origin:
        begun = f"it follows {last.size} leaves, and begins behind {archive.first}"
        return "" if last.size == archive.first else begun
    if last.manifest["epoch"] > archive.manifest["epoch"]:
        return f"it is of epoch {archive.manifest['epoch']}, and follows one of epoch {last.manifest['epoch']}"
    return f"it is the first of its epoch, and begins behind {archive.first} leaves" if archive.first else ""


def main(arguments: Sequence[str]) -> int:
    """The command: 0 when nothing was found, 1 when something was. Raises Unusable."""
    given = _arguments(arguments)
    started = time.monotonic()
    archives = [Archive(folder) for folder in given.folder]
    keys = read_keys(given.key) if given.key else []
    held = [read_notes(path, str(path), held=True) for path in given.checkpoints]
    report = verify_archives(archives, keys, held, given.sha256)
    print("\n".join(printable(f"{archive.name}: SHA-256 {archive.sha256}") for archive in archives))
    print(summary(report, time.monotonic() - started))
    return 1 if report.found else 0


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="verify.pyz archive", description="Verify archives of closed periods.")
    parser.add_argument(
        "folder", type=Path, nargs="+", help="what manage.py archive wrote, in the order of the numbers"
    )
    parser.add_argument("--key", help="the house's keys that you hold: the text of one, or a file of them")
    parser.add_argument("--checkpoints", type=Path, action="append", default=[], help="checkpoints that you hold")
    parser.add_argument(
        "--sha256", action="append", default=[], help="of each manifest, as its event log.archived says; once a folder"
    )
    found = parser.parse_args(arguments)
    if found.sha256 and len(found.sha256) != len(found.folder):
        parser.error("--sha256 is given for each folder, or for none")
    return found
