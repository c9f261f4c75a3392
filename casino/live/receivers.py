"""Receivers of hints outside: an address of the operator's file of destinations that takes signed POSTs.

Signed as https://www.standardwebhooks.com says: `webhook-id`, the same whenever the same is sent again,
`webhook-timestamp`, the attempt's in seconds since 1970, and `webhook-signature`, `v1,` with the HMAC-SHA256 of
`ID.TIMESTAMP.BODY` in base64; one after the other where the operator is about to replace the key.
"""

import base64
import hashlib
import hmac
import http.client
import re
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from casino.core import destinations
from casino.core.destinations import NotSent, secret

#: Seconds that one attempt may take: unless the operator says otherwise, and at most.
TIMEOUT, LONGEST = 5.0, 15.0
#: Bytes of an answer that are read at most, and for how many seconds after its status.
MOST_READ, DRAINED = 16_384, 0.5
#: The receiver wants no more.
GONE = "receiver_gone"
#: Bytes of a key: as many as the standard names.
_LEAST_KEY, _LONGEST_KEY = 24, 64
#: Which members of the file of destinations name files with keys, that of the newest first.
_KEY_FILES = ("secret_file", "old_secret_file")
_STATUS = re.compile(rb"HTTP/1\.[01] ([2-5][0-9]{2})[ \r\n]")
#: An answer before the answer.
_INFORMATIONAL = re.compile(rb"HTTP/1\.[01] 1[0-9]{2}.*?\r?\n\r?\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where hints are sent to; `keys` sign, the newest first."""

    url: str
    keys: Sequence[bytes]
    timeout: float

    def send(self, message: str, body: bytes, until: float) -> None:
        """POST a body under this id, and return when it was taken. From `until` (`monotonic`) on nothing is sent any
        more. Redirects are not followed. Raises NotSent receiver_timeout, receiver_unreachable, receiver_refused,
        receiver_failed, receiver_gone."""
        try:
            status = self._post(message, body, until)
        except TimeoutError as error:
            raise NotSent("receiver_timeout", f"no answer within {self.timeout:g} s") from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise NotSent("receiver_unreachable", f"{type(error).__name__}: {error}") from error
        if status == http.client.GONE:
            raise NotSent(GONE, "the receiver wants no more")
        if not http.client.OK <= status < http.client.MULTIPLE_CHOICES:
            refused = status < http.client.INTERNAL_SERVER_ERROR
            raise NotSent("receiver_refused" if refused else "receiver_failed", f"answered {status}")

    def headers(self, message: str, body: bytes, at: int) -> dict[str, str]:
        """The headers of an attempt at this moment, in seconds since 1970."""
        signed = b".".join((message.encode(), str(at).encode(), body))
        signatures = (base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode() for key in self.keys)
        return {
            "Content-Type": "application/json",
            "webhook-id": message,
            "webhook-timestamp": str(at),
            "webhook-signature": " ".join(f"v1,{one}" for one in signatures),
            "Connection": "close",
            "User-Agent": "Cukassza",
        }

    def _post(self, message: str, body: bytes, until: float) -> int:
        """The status of the answer. Raises OSError, HTTPException."""
        address = urlsplit(self.url)
        connect = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        connection = connect(address.hostname or "", address.port, timeout=_left(until))
        try:
            connection.connect()
            # A name with many addresses may have taken longer.
            connection.sock.settimeout(_left(until))
            target = f"{address.path or '/'}{'?' if address.query else ''}{address.query}"
            connection.request("POST", target, body, self.headers(message, body, int(time.time())))
            return _status(connection.sock, until)
        finally:
            connection.close()


def _left(until: float) -> float:
    """Seconds until then. Raises TimeoutError."""
    if (left := until - time.monotonic()) <= 0:
        raise TimeoutError
    return left


def _status(there: socket.socket, until: float) -> int:
    """The status of an answer. By hand: `http.client` waits for as long as a byte comes now and then. Raises OSError,
    BadStatusLine."""
    read = b""
    while not (found := _STATUS.match(_INFORMATIONAL.sub(b"", read))):
        there.settimeout(_left(until))
        more = there.recv(MOST_READ)
        read += more
        if not more or len(read) > MOST_READ:
            raise http.client.BadStatusLine(read[:80].decode("latin-1"))
    _drain(there, MOST_READ - len(read), min(until, time.monotonic() + DRAINED))
    return int(found[1])


def _drain(there: socket.socket, most: int, until: float) -> None:
    """Read the rest of a short answer, so that the receiver does not see its connection reset; what it says is decided
    by then."""
    with suppress(OSError):
        while most > 0:
            there.settimeout(_left(until))
            more = there.recv(most)
            if not more:
                return
            most -= len(more)


def names(house: str) -> list[str]:
    """The names of the receivers of a house. Raises ImproperlyConfigured."""
    return destinations.names(house, webhooks=True)


def key_counts(house: str) -> dict[str, int]:
    """How many keys sign for each receiver of a house, as the file of destinations names them; no key is read. Raises
    ImproperlyConfigured."""
    found = destinations.described(house, webhooks=True)
    return {name: sum(each in one for each in _KEY_FILES) for name, one in found.items()}


def named(house: str, name: str) -> Receiver:
    """One receiver of a house. Raises NotSent unknown_destination, ImproperlyConfigured."""
    return destinations.named(house, name, _KINDS)


def _webhook(found: Mapping[str, Any]) -> Receiver:
    url, timeout = found["url"], float(found.get("timeout", TIMEOUT))
    address = urlsplit(url)
    if address.scheme != "https" and not (address.scheme == "http" and _is_loopback(address.hostname or "")):
        raise ValueError("url begins with https://, or names this machine")
    if not address.hostname or "@" in address.netloc or address.fragment or not re.fullmatch(r"[!-~]+", url):
        raise ValueError("url has a host, and neither a login, nor a fragment, nor blanks")
    if not 0 < timeout <= LONGEST:
        raise ValueError(f"timeout is at most {LONGEST} s")
    keys = [_key(secret(found, name)) for name in _KEY_FILES if name in found]
    if "secret_file" not in found:
        raise KeyError("secret_file")
    return Receiver(url, keys, timeout)


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def _key(text: str) -> bytes:
    """A key as the standard writes it: `whsec_` and 24 to 64 bytes in base64. Raises ValueError."""
    key = base64.b64decode(text.removeprefix("whsec_"), validate=True)
    if not text.startswith("whsec_") or not _LEAST_KEY <= len(key) <= _LONGEST_KEY:
        raise ValueError(f"a key is whsec_ and {_LEAST_KEY} to {_LONGEST_KEY} bytes in base64")
    return key


_KINDS = {destinations.WEBHOOK: _webhook}
