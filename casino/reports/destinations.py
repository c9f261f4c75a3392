"""Where files of reports are sent to: a folder, people by mail, a store that speaks S3's protocol.

The operator names them in the file of destinations (`casino/core/destinations.py`).
"""

import http.client
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend

from casino.core import destinations
from casino.core.destinations import NotSent, secret
from casino.reports import sigv4

#: Seconds to wait for a server.
TIMEOUT = 30.0
_MODE, _FOLDERS = 0o640, 0o750


@dataclass(frozen=True, slots=True)
class Sent:
    """A file to be sent: its name, bytes, SHA-256 in hexadecimal, its address in the API, and its content, which can be
    read once."""

    name: str
    size: int
    sha256: str
    address: str
    content: Iterator[bytes]

    def as_json(self) -> dict[str, Any]:
        """As the event has it."""
        return {"name": self.name, "size": self.size, "sha256": self.sha256}


@dataclass(frozen=True, slots=True)
class Parcel:
    """What one delivery sends: `folder` is its place at the destination, and the same whenever it is sent again."""

    house: str
    folder: str
    subject: str
    files: Sequence[Sent]


class Destination(Protocol):
    """Takes files."""

    def send(self, parcel: Parcel) -> None:
        """Send all of them; what is there already is replaced by the same. Raises NotSent."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of this machine, perhaps one that lies elsewhere and is mounted."""

    path: Path

    def send(self, parcel: Parcel) -> None:
        """Write the files; each appears whole."""
        try:
            if not self.path.is_dir():
                raise NotSent("folder_missing", f"{self.path} is no folder")
            target = self.path / parcel.folder
            target.mkdir(mode=_FOLDERS, parents=True, exist_ok=True)
            for file in parcel.files:
                part = target / f".{file.name}.part"
                with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _MODE), "wb") as written:
                    for content in file.content:
                        written.write(content)
                    written.flush()
                    os.fsync(written.fileno())
                part.replace(target / file.name)
        except OSError as error:
            raise NotSent("folder_failed", str(error)) from error


@dataclass(frozen=True, slots=True)
class Mail:
    """People by mail: with the files, or with links to the API, where they must sign in."""

    to: tuple[str, ...]
    sender: str
    host: str
    port: int
    user: str
    password: str
    tls: str
    attach: bool
    link: str

    def send(self, parcel: Parcel) -> None:
        """Send one message. Its Message-ID is the same whenever it is sent again."""
        lines = [f"{file.name}  {file.size:,} bytes  SHA-256 {file.sha256}" for file in parcel.files]
        if not self.attach:
            lines += ["", *(f"{self.link}/{file.address}" for file in parcel.files)]
        name = parcel.folder.replace("/", ".")
        message = EmailMessage(
            subject=parcel.subject, body="\n".join(lines) + "\n", from_email=self.sender, to=list(self.to),
            headers={"Message-ID": f"<{name}@{self.sender.rpartition('@')[2]}>"},
            connection=EmailBackend(
                host=self.host, port=self.port, username=self.user, password=self.password,
                use_tls=self.tls == "starttls", use_ssl=self.tls == "tls", timeout=int(TIMEOUT), fail_silently=False,
            ),
        )  # fmt: skip
        if self.attach:
            for file in parcel.files:
                message.attach(file.name, b"".join(file.content), "application/octet-stream")
        try:
            message.send()
        except OSError as error:  # SMTPException is one
            raise NotSent("mail_failed", f"{type(error).__name__}: {error}") from error


@dataclass(frozen=True, slots=True)
class Store:
    """A bucket of a store that speaks S3's protocol, by path: `ENDPOINT/BUCKET/PREFIX/...`."""

    endpoint: str
    bucket: str
    prefix: str
    region: str
    keys: sigv4.Keys

    def send(self, parcel: Parcel) -> None:
        """Put every file. The SHA-256 goes with it, and the store refuses other bytes."""
        for file in parcel.files:
            self._put("/".join(part for part in (self.prefix, parcel.folder, file.name) if part), file)

    def _put(self, key: str, file: Sent) -> None:
        address = urlsplit(self.endpoint)
        path = sigv4.path_of(f"{address.path.rstrip('/')}/{self.bucket}/{key}")
        signed = sigv4.headers(
            self.keys, region=self.region, service="s3", method="PUT", host=address.netloc, path=path,
            payload_sha256=file.sha256, at=datetime.now(UTC),
        )  # fmt: skip
        connect = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        connection = connect(address.hostname or "", address.port, timeout=TIMEOUT)
        try:
            connection.request("PUT", path, file.content, signed | {"Content-Length": str(file.size)})
            answer = connection.getresponse()
            said = answer.read(2000)
        except (OSError, http.client.HTTPException) as error:
            raise NotSent("store_failed", f"{type(error).__name__}: {error}") from error
        finally:
            connection.close()
        if answer.status != http.client.OK:
            code = "store_refused" if answer.status < http.client.INTERNAL_SERVER_ERROR else "store_failed"
            raise NotSent(code, f"{answer.status} {said.decode(errors='replace')}")


def names(house: str) -> list[str]:
    """The names of the destinations of a house that take files. Raises ImproperlyConfigured."""
    return destinations.names(house)


def named(house: str, name: str) -> Destination:
    """One destination of a house. Raises NotSent unknown_destination, ImproperlyConfigured."""
    return destinations.named(house, name, _KINDS)


def _folder(found: Mapping[str, Any]) -> Destination:
    return Folder(Path(found["path"]))


def _mail(found: Mapping[str, Any]) -> Destination:
    tls = found.get("tls", "starttls")
    if tls not in ("starttls", "tls", "none"):
        raise ValueError("tls is starttls, tls or none")
    if not found["attach"] and not found.get("link"):
        raise ValueError("a mail without files needs a link, the address of the API")
    return Mail(
        to=tuple(found["to"]), sender=found["from"], host=found["host"], port=found.get("port", 587),
        user=found.get("user", ""), password=secret(found), tls=tls, attach=found["attach"],
        link=found.get("link", "").rstrip("/"),
    )  # fmt: skip


def _store(found: Mapping[str, Any]) -> Destination:
    return Store(
        endpoint=found["endpoint"], bucket=found["bucket"], prefix=found.get("prefix", "").strip("/"),
        region=found["region"], keys=sigv4.Keys(found["access_key"], secret(found)),
    )  # fmt: skip


_KINDS: dict[str, Callable[[Mapping[str, Any]], Destination]] = {"folder": _folder, "mail": _mail, "s3": _store}
