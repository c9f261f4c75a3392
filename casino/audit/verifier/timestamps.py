"""Time stamps of checkpoints (RFC 3161): that each names the checkpoint it stands beside, and when.

The signature of the authority takes X.509 and CMS, which the standard library has not; `openssl ts -verify` checks it.
Here the path to the hash and the time is read, strictly as DER: RFC 3161 (TimeStampResp, TSTInfo) and RFC 5652
(SignedData).
"""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from .canonical import is_made_of, value_of
from .events import Row
from .findings import Report, Unusable
from .notes import base64_bytes, parse_note
from .times import TOLERANCE, shifted

_ROW: dict[str, type] = {"at": str, "epoch": int, "note": str, "response": str, "size": int}
_INTEGER, _OCTETS, _OID, _TIME, _SEQUENCE, _SET, _EXPLICIT = 0x02, 0x04, 0x06, 0x18, 0x30, 0x31, 0xA0
#: Object identifiers as DER has them: signedData, id-ct-TSTInfo, SHA-256.
_SIGNED_DATA = bytes.fromhex("2a864886f70d010702")
_TST_INFO = bytes.fromhex("2a864886f70d0109100104")
_SHA256 = bytes.fromhex("608648016503040201")
_NULL = b"\x05\x00"
_GRANTED = b"\x00"
_GENERALIZED = re.compile(rb"([0-9]{14})(?:\.([0-9]{0,5}[1-9]))?Z")
_FORM = "%Y-%m-%dT%H:%M:%S.%fZ"


@dataclass(frozen=True, slots=True)
class Stamp:
    """A row: the note that was stamped, its epoch and size, the authority's response (DER of a TimeStampResp), and when
    the row says it was."""

    epoch: int
    size: int
    note: str
    response: bytes
    at: str

    @property
    def place(self) -> str:
        """What findings name."""
        return f"time stamp of epoch {self.epoch} over {self.size} leaves"


def stamp_of(row: Row) -> Stamp:
    """A row as an export and the database have it. Raises Unusable."""
    response = base64_bytes(row["response"]) if is_made_of(row, _ROW) else None
    if response is None:
        raise Unusable(f"a time stamp is {', '.join(_ROW)}, the response in base64")
    return Stamp(row["epoch"], row["size"], row["note"], response, row["at"])


def stamp_of_line(line: bytes) -> Stamp:
    """A line of an export. Raises Unusable."""
    try:
        return stamp_of(value_of(line))
    except ValueError as error:
        raise Unusable(f"a time stamp cannot be read: {error}") from error


def judge_timestamps(
    report: Report,
    stamps: Iterable[Stamp],
    notes: Collection[str],
    signature_problem: Callable[[Stamp], str | None] | None = None,
) -> None:
    """Each time stamp must name one of the house's own checkpoints, and be no earlier than it; says which is the
    newest. `signature_problem` checks the authority's signature; without it the reader must."""
    count, newest, before = 0, None, (0, 0)
    for stamp in stamps:
        count, newest = count + 1, stamp
        problem = _problem(stamp, notes)
        if (stamp.epoch, stamp.size) <= before:
            problem = "it is there twice, or out of order"
        before = stamp.epoch, stamp.size
        if problem is None and signature_problem is not None:
            problem = signature_problem(stamp)
        if problem is not None:
            report.find("timestamp_wrong", stamp.place, problem, at=-1)
    if newest is None:
        return
    said = f"time stamps of checkpoints: {count}, the newest over {newest.size} leaves of epoch {newest.epoch}"
    if signature_problem is None:
        said += "; whether an authority signed them, `openssl ts -verify` says (docs/how-to/prove.md)"
    report.notice(said)


def _problem(stamp: Stamp, notes: Collection[str]) -> str | None:
    """What is wrong with a time stamp, its signature aside; None if nothing is."""
    if stamp.note not in notes:
        return "its note is no checkpoint of the house"
    try:
        point = parse_note(stamp.note).checkpoint
        digest, at = named_by(stamp.response)
    except Unusable as error:
        return str(error)
    if (point.origin.rpartition("/")[2], point.size) != (str(stamp.epoch), stamp.size):
        return f"its note is of {point.origin} over {point.size} leaves"
    if digest != hashlib.sha256(stamp.note.encode()).digest():
        return "it names another text than the note"
    if at != stamp.at:
        return f"the row says {stamp.at}, the authority {at}"
    if at < shifted(point.at, -TOLERANCE):
        return f"the authority stamped it at {at}, and the note says that it was signed at {point.at}"
    return None


def named_by(response: bytes) -> tuple[bytes, str]:
    """The SHA-256 that a granted response names, and its time in the form of events. Raises Unusable."""
    status, rest = _taken(_only(response, _SEQUENCE), _SEQUENCE)
    if _taken(status, _INTEGER)[0] != _GRANTED:
        raise Unusable("the time stamp was not granted")
    kind, rest = _taken(_only(rest, _SEQUENCE), _OID)
    signed = _only(_only(rest, _EXPLICIT), _SEQUENCE)
    content, _ = _taken(_after(signed, _INTEGER, _SET), _SEQUENCE)
    inner, rest = _taken(content, _OID)
    if (kind, inner) != (_SIGNED_DATA, _TST_INFO):
        raise Unusable("the response holds no time-stamp token")
    info = _only(_only(_only(rest, _EXPLICIT), _OCTETS), _SEQUENCE)
    imprint, rest = _taken(_after(info, _INTEGER, _OID), _SEQUENCE)
    at, _ = _taken(_after(rest, _INTEGER), _TIME)
    algorithm, hashed = _taken(imprint, _SEQUENCE)
    name, parameters = _taken(algorithm, _OID)
    digest = _only(hashed, _OCTETS)
    if name != _SHA256 or parameters not in (b"", _NULL) or len(digest) != 32:
        raise Unusable("the time stamp does not name a SHA-256")
    return digest, _moment(at)


def _moment(text: bytes) -> str:
    """A GeneralizedTime as RFC 3161 has it. Raises Unusable."""
    found = _GENERALIZED.fullmatch(text)
    try:
        at = datetime.strptime(found[1].decode(), "%Y%m%d%H%M%S").replace(tzinfo=UTC) if found else None
    except ValueError:
        at = None
    if found is None or at is None:
        raise Unusable(f"{text[:40]!r} is no time of a time stamp")
    return at.replace(microsecond=int((found[2] or b"0").ljust(6, b"0"))).strftime(_FORM)


def _after(data: bytes, *tags: int) -> bytes:
    """What follows elements of these tags. Raises Unusable."""
    for tag in tags:
        _, data = _taken(data, tag)
    return data


def _only(data: bytes, tag: int) -> bytes:
    """The content of the one element that this is. Raises Unusable."""
    content, rest = _taken(data, tag)
    if rest:
        raise Unusable("the time stamp goes on where it should end")
    return content


def _taken(data: bytes, tag: int) -> tuple[bytes, bytes]:
    """The content of the first element, which must have this tag, and what follows it. Raises Unusable."""
    if len(data) < 2 or data[0] != tag:
        raise Unusable(f"the time stamp has no element {tag:#04x} where it should be")
    length, start = data[1], 2
    if length & 0x80:
        start += length & 0x7F
        digits = data[2:start]
        length = int.from_bytes(digits, "big")
        # DER: as few digits as there can be, and never an indefinite length.
        if not 1 <= len(digits) <= 4 or start != 2 + len(digits) or digits[0] == 0 or length < 0x80:
            raise Unusable("the time stamp is not in DER")
    if len(data) - start < length:
        raise Unusable("the time stamp is cut")
    return data[start : start + length], data[start + length :]
