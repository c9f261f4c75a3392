"""A receipt as it stands on paper: lines of base 32 that were typed or read by a machine, or the text of a QR code.

Crockford's base 32: no letters that look like digits, and O, I and L are read as 0, 1 and 1. A line has its number and
two characters by which a mistake is found (the first ten bits of the SHA-256 of `NUMBER:DATA`). What it all says is a
receipt, compressed (zlib).
"""

import hashlib
import re
import zlib

from .findings import Unusable

PREFIX = "CUKASSZA1:"
"""What the text of a QR code begins with."""
LARGEST = 1 << 16
"""Bytes that a receipt may have."""
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_VALUES = {character: value for value, character in enumerate(_ALPHABET)} | {"O": 0, "I": 1, "L": 1}
_LINE = re.compile(r"\s*([0-9OIL]{2,3})\s+([0-9A-Z ]+?)\s+([0-9A-Z]{2})\s*")


def is_printed(text: str) -> bool:
    """Whether a file has a receipt as it stands on paper, and not as it was sent."""
    return not text.lstrip().startswith("{")


def unprinted(text: str) -> str:
    """The receipt as it was sent. Raises Unusable, for a line with the line."""
    upper = text.upper().strip()
    if upper.startswith(PREFIX):
        return _text("".join(upper.removeprefix(PREFIX).split()))
    return _text("".join(_data(number, line) for number, line in enumerate(_lines(upper), 1)))


def _lines(text: str) -> list[str]:
    found = [line for line in text.splitlines() if line.strip()]
    if not found:
        raise Unusable("this is no receipt: it is empty")
    return found


def _data(number: int, line: str) -> str:
    """The data of a line. Raises Unusable where it was not read as it was printed."""
    parts = _LINE.fullmatch(line)
    if parts is None:
        raise Unusable(f"this is no receipt: line {number} has not its number, its groups and its check")
    data = _plain(parts[2].replace(" ", ""))
    if _plain(parts[1]) != f"{number:02}" or _plain(parts[3]) != _check(number, data):
        raise Unusable(f"line {number} of the printed receipt has a mistake, or is not in its place")
    return data


def _plain(text: str) -> str:
    """The same in the characters of the alphabet. Raises Unusable for any other character."""
    try:
        return "".join(_ALPHABET[_VALUES[character]] for character in text)
    except KeyError as error:
        raise Unusable(f"this is no receipt: {error.args[0]!r} stands on no paper") from error


def _check(number: int, data: str) -> str:
    digest = int.from_bytes(hashlib.sha256(f"{number}:{data}".encode()).digest()[:2], "big") >> 6
    return _ALPHABET[digest >> 5] + _ALPHABET[digest & 31]


def _text(data: str) -> str:
    plain = _plain(data)
    value = 0
    for character in plain:
        value = value << 5 | _VALUES[character]
    spare = len(plain) * 5 % 8
    if spare > 4 or value & ((1 << spare) - 1):
        raise Unusable("this is no receipt: characters are missing, or too many")
    packed = (value >> spare).to_bytes(len(plain) * 5 // 8, "big")
    opened = zlib.decompressobj()
    try:
        content = opened.decompress(packed, LARGEST)
        if not opened.eof or opened.unused_data:
            raise Unusable("this is no receipt: it does not end where it should")
        return content.decode()
    except (zlib.error, ValueError) as error:
        raise Unusable(f"this is no receipt: {error}") from error
