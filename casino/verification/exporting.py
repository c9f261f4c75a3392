"""The export set of a house's audit trail: what `verify.pyz` reads, written from one moment of the database."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from casino.audit import verifier, zipapp
from casino.audit.verifier.files import events_of
from casino.houses.models import House
from casino.verification.snapshot_reader import Moment, Stored, moment


def export_house(house: House, folder: Path) -> dict[str, Any]:
    """Write the export set into a new or empty folder; returns its manifest. Raises FileExistsError, OSError."""
    require_room(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with moment(house) as there:
        rotations = there.rotations()
        epochs = {
            str(epoch): {
                "rotations": [[size, key] for rotated, size, key in rotations if rotated == epoch],
                "size": _events(folder / events_of(epoch), there.leaves(epoch)),
                "vkey": vkey or None,
            }
            for epoch, vkey in _logs(there)
        }
        tail = _events(folder / verifier.TAIL, there.tail())
        notes = there.rows("SELECT note FROM audit_checkpoint WHERE house_id = %s ORDER BY epoch, size", [house.id])
        _write(folder / verifier.CHECKPOINTS, verifier.join_notes(note for (note,) in notes))
        _lines(folder / verifier.TIMESTAMPS, map(_line, there.timestamps()))
        _lines(folder / verifier.LEDGER, _ledger(there))
        _lines(folder / verifier.STATE, map(_line, there.state()))
        _lines(folder / verifier.HANDS, map(_line, there.hands()))
    manifest = {
        "code": house.code,
        "currency": house.currency,
        "epochs": epochs,
        "house": str(house.id),
        "tail": tail,
        "verifier_sha256": zipapp.sha256(),
    }
    _lines(folder / verifier.MANIFEST, [_line(manifest)])
    return manifest


def require_room(folder: Path) -> None:
    """Refuse a folder that has something in it. Raises FileExistsError, OSError."""
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty: an export is not mixed with what was there before")


def _logs(there: Moment) -> list[tuple[Any, ...]]:
    return there.rows("SELECT epoch, vkey FROM audit_log WHERE house_id = %s ORDER BY epoch", [there.house.id])


def _events(path: Path, stored: Iterator[Stored]) -> int:
    count = 0
    with path.open("wb") as file:
        for payloads, _ in stored:
            count += len(payloads)
            file.writelines(payload + b"\n" for payload in payloads)
    return count


def _ledger(there: Moment) -> Iterator[bytes]:
    for account in there.accounts():
        yield _line({"account": account})
    for lines in there.transactions():
        yield from lines


def _line(row: dict[str, Any]) -> bytes:
    return verifier.json_text(row).encode()


def _lines(path: Path, lines: Iterable[bytes]) -> None:
    with path.open("wb") as file:
        file.writelines(line + b"\n" for line in lines)


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode())
