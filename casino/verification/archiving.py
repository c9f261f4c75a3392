"""Making archives: closed periods of a house, each a section of its log between two signed checkpoints, written into
the folders of `CASINO_ARCHIVE_DIR`, read back and proved before the house records them.

A period is a calendar month of gaming days that are all closed, or everything up to a day that is named. Nothing leaves
the database here (`casino/verification/putting_away.py`).
"""

import gzip
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction

from casino.audit import archives, outside, selectors, verifier, zipapp
from casino.audit.archives import BLOCK, EVENTS, LEDGER, MANIFEST
from casino.audit.events.log import Archived
from casino.audit.models import Archive, SignedCheckpoint
from casino.audit.proofs import Hashes
from casino.audit.refusals import log_refusals
from casino.audit.services import Actor, record
from casino.audit.verifier.archives import Archive as Folder
from casino.audit.verifier.archives import verify_archives
from casino.core import sql
from casino.core.errors import Conflict, ProofFailed
from casino.houses.models import House
from casino.verification.auditing import outside_keys
from casino.verification.snapshot_reader import Moment, moment

_DAYS = """
SELECT event.doc ->> 'kind' = 'day.closed', event.doc #>> '{data,day}', leaf.epoch, leaf.leaf_index
FROM audit_event event LEFT JOIN audit_leaf leaf ON leaf.event_id = event.id
WHERE event.house_id = %s AND event.doc ->> 'kind' IN ('day.opened', 'day.closed') ORDER BY event.id
"""
_ACCOUNTS = "SELECT id, code, commodity FROM ledger_account WHERE book = %s"
_MONTH = len("2026-11")


@dataclass(frozen=True, slots=True)
class Section:
    """What an archive is to have: the leaves of an epoch from `first` on and below `size`, and the gaming days."""

    epoch: int
    first: int
    size: int
    days: tuple[str, ...]

    @property
    def leaves(self) -> range:
        """The numbers of its leaves."""
        return range(self.first, self.size)


def due(house: House, until: str | None = None) -> list[Section]:
    """The sections that no archive has yet: of whole months before the newest day's, or of all days up to `until`.

    Raises Conflict `day_open` where a day of the period is not closed, `not_in_the_log_yet` where no checkpoint covers
    its closing.
    """
    opened, closed = _days(house)
    still_open = [day for day in opened if day not in closed]
    last = Archive.objects.filter(house=house).order_by("-number").first()
    place = (last.epoch, last.size) if last else (1, 0)
    closed = {day: at for day, at in closed.items() if at is None or at >= place}
    found: list[Section] = []
    for days in _periods(max(opened, default=""), still_open, list(closed), until):
        ends = [closed[day] for day in days]
        if None in ends:
            raise _not_signed(days)
        sections = list(_sections(house, place, max(end for end in ends if end), days))
        found += sections
        place = (sections[-1].epoch, sections[-1].size)
    return found


def _days(house: House) -> tuple[list[str], dict[str, tuple[int, int] | None]]:
    """All days that were opened, and by closed day the place of its closing in the log; None: it has none yet."""
    opened: list[str] = []
    closed: dict[str, tuple[int, int] | None] = {}
    for is_closed, day, epoch, leaf in sql.rows(_DAYS, [house.id]):
        if is_closed:
            closed[day] = None if leaf is None else (epoch, leaf)
        else:
            opened.append(day)
            closed.pop(day, None)
    return opened, closed


def _periods(newest: str, still_open: Sequence[str], closed: Sequence[str], until: str | None) -> Iterator[list[str]]:
    """The closed days of each period that is over."""
    if until is not None:
        if before := [day for day in still_open if day <= until]:
            raise Conflict(f"Day {min(before)} is not closed.", code="day_open")
        if days := sorted(day for day in closed if day <= until):
            yield days
        return
    for month in sorted({day[:_MONTH] for day in closed}):
        if month < newest[:_MONTH] and not any(day[:_MONTH] <= month for day in still_open):
            yield sorted(day for day in closed if day[:_MONTH] == month)


def _sections(house: House, place: tuple[int, int], end: tuple[int, int], days: Sequence[str]) -> Iterator[Section]:
    """From the end of the last archive to the first checkpoint behind the last closing, an epoch each."""
    epoch, first = place
    points = SignedCheckpoint.objects.filter(house=house)
    while epoch < end[0]:
        size = points.filter(epoch=epoch).order_by("-size").values_list("size", flat=True).first() or 0
        if size > first:
            yield Section(epoch, first, size, tuple(days))
        epoch, first = epoch + 1, 0
    covering = points.filter(epoch=epoch, size__gt=end[1]).order_by("size").values_list("size", flat=True).first()
    if covering is None:
        raise _not_signed(days)
    yield Section(epoch, first, covering, tuple(days))


def _not_signed(days: Sequence[str]) -> Conflict:
    return Conflict(
        f"No checkpoint covers the closing of {days[-1]} yet; ask again in a moment.", code="not_in_the_log_yet"
    )


def make(house: House, section: Section, actor: Actor) -> Archive:
    """Write a section into every folder, prove each copy, and record it; nothing is recorded of what is not proved.

    Raises Conflict `archive_folder_missing` for a folder that is not there, or is not the one that it was,
    `archive_in_the_way` for one that is there with something else in it, `no_change` where another run was quicker;
    ProofFailed for a copy that does not prove itself, a LogRefused, OSError.
    """
    made_before = Archive.objects.filter(house=house)
    number = made_before.count() + 1
    if made_before.filter(epoch=section.epoch, first=section.first).exists():
        raise _made_meanwhile(number - 1)
    roots = archives.folders()
    places = [archives.folder_of(root, house, number) for root in roots]
    for root, place in zip(roots, places, strict=True):
        _require_there(root, place, number)
    built = _beside(places[0])
    try:
        with moment(house) as there:
            manifest = _written(there, section, number, built)
        for place in places:
            _put(built, place)
            _require_proved(house, place)
    finally:
        shutil.rmtree(built)
    values: dict[str, Any] = {
        "number": number, "epoch": section.epoch, "first": section.first, "size": section.size,
        "first_day": section.days[0], "last_day": section.days[-1], "sha256": hashlib.sha256(manifest).hexdigest(),
    }  # fmt: skip
    try:
        with log_refusals(), transaction.atomic():
            made = Archive.objects.create(house=house, **values)
            event = Archived(**values)
            record(chain=f"log/{house.code}", house=house, actor=actor, event=event)
    except IntegrityError as error:
        raise _made_meanwhile(number) from error
    return made


def _made_meanwhile(number: int) -> Conflict:
    return Conflict(f"Another run has made archive {number} meanwhile.", code="no_change")


def _require_there(root: Path, place: Path, number: int) -> None:
    """A folder is there, and has the house's own where the house has archives. What is not mounted looks like an empty
    folder, and what is written there is lost to sight afterwards. Raises Conflict."""
    if not root.is_dir():
        raise Conflict(f"{root} is no folder. Mount it, or create it.", code="archive_folder_missing")
    if number > 1 and not place.parent.is_dir():
        raise Conflict(
            f"{root} has none of the archives that the house has. Mount it; into a new folder copy {place.parent.name} "
            "from another one first.",
            code="archive_folder_missing",
        )


def _beside(place: Path) -> Path:
    """A new folder beside the place of an archive, of this run alone."""
    found = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    found.mkdir(parents=True)
    return found


def _written(there: Moment, section: Section, number: int, folder: Path) -> bytes:
    """Write the files of an archive into a folder; returns its manifest."""
    house, log = there.house, selectors.log_of(there.house, section.epoch)
    blocks = _events(there, section, folder / EVENTS)
    _ledger(there, section, folder / LEDGER)
    before = selectors.checkpoint(house, section.epoch, section.first).note if section.first else None
    manifest = {
        "blocks": blocks, "code": house.code, "currency": house.currency, "epoch": section.epoch,
        "files": {name: _described(folder / name) for name in (EVENTS, LEDGER)},
        "first": section.first, "first_day": section.days[0],
        "frontier": [root.hex() for root in Hashes(house.id, section.epoch).frontier(section.first).roots],
        "house": str(house.id), "keys": selectors.keys_of(log), "last_day": section.days[-1],
        "notes": [before, selectors.checkpoint(house, section.epoch, section.size).note],
        "number": number, "size": section.size, "verifier_sha256": zipapp.sha256(),
    }  # fmt: skip
    text = f"{verifier.json_text(manifest)}\n".encode()
    _save(folder / MANIFEST, [text])
    return text


def _events(there: Moment, section: Section, path: Path) -> list[int]:
    """Write the events; returns where each block begins, in bytes."""
    lines = (payload for payloads, _ in there.leaves(section.epoch, section.leaves) for payload in payloads)
    blocks: list[int] = []
    with path.open("wb") as file:
        while block := list(islice(lines, BLOCK)):
            blocks.append(file.tell())
            file.write(gzip.compress(b"".join(line + b"\n" for line in block), mtime=0))
    return blocks


def _ledger(there: Moment, section: Section, path: Path) -> None:
    """Write the transactions, with the accounts of their legs by code and commodity."""
    names = {id_: [code, commodity] for id_, code, commodity in there.rows(_ACCOUNTS, [there.house.id])}
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        for lines in there.transactions_of_leaves(section.epoch, section.leaves):
            file.writelines(_line(line, names) for line in lines)


def _line(line: bytes, names: dict[int, list[str]]) -> bytes:
    row = json.loads(line)
    row["legs"] = [[*names[account], version, amount, after] for account, version, amount, after in row["legs"]]
    return verifier.json_text(row).encode() + b"\n"


def _put(built: Path, place: Path) -> None:
    """Copy what was built to its place, whole or not at all. Raises Conflict."""
    if place.exists():
        if (place / MANIFEST).exists() and (place / MANIFEST).read_bytes() == (built / MANIFEST).read_bytes():
            return  # left there by a run that ended before it was recorded
        raise Conflict(f"{place} is there, and no archive of the house is. Move it away.", code="archive_in_the_way")
    half = _beside(place)
    try:
        for name in archives.FILES:
            with (built / name).open("rb") as file:
                _save(half / name, iter(lambda: file.read(1 << 20), b""))
        half.rename(place)
    finally:
        shutil.rmtree(half, ignore_errors=True)
    outside.sync(place.parent)


def _save(path: Path, portions: Any) -> None:
    with path.open("wb") as file:
        file.writelines(portions)
        file.flush()
        os.fsync(file.fileno())


def _described(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _require_proved(house: House, place: Path) -> None:
    """A copy proves itself under the keys beside the checkpoints outside. Raises ProofFailed."""
    report = proved(house, place)
    if report.found:
        first = report.findings[0]
        raise ProofFailed(f"{place} does not prove itself: {first.code} at {first.place}, {first.problem}.")


def proved(house: House, place: Path, sha256: str | None = None) -> verifier.Report:
    """What the verifier finds in a copy, under the keys beside the checkpoints outside; `sha256`: of its manifest.
    Raises ProofFailed for what is no archive."""
    keys = outside_keys(house)
    if not keys:
        raise ProofFailed(f"No folder of checkpoints has the key of {house.code}, under which {place} must be signed.")
    try:
        return verify_archives([Folder(place)], keys, hashes=[sha256] if sha256 else ())
    except verifier.Unusable as error:
        raise ProofFailed(f"{place} is no archive: {error}.") from error
