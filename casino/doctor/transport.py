"""Whether what leaves this machine is encrypted, and whether it is known who answers."""

from collections.abc import Iterator
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings

from casino.doctor.findings import Finding, Level, ok

PART = "transport"
#: What libpq calls a connection whose other end is proved.
_PROVED = ("verify-ca", "verify-full")
#: How an address begins that needs no network.
_SOCKETS = ("unix", "redis+socket")


class _Way(NamedTuple):
    """A variable, the host that it names, whether that is proved and encrypted, and what to set."""

    name: str
    host: str
    secured: bool
    remedy: str


def ways() -> Iterator[Finding]:
    """Every address of the settings that is not on this machine."""
    far = [way for way in _ways() if not _is_near(way.host)]
    for way in far:
        if not way.secured:
            words = f"{way.name} leads to {way.host} without encryption, or without a proof of who answers."
            yield Finding(PART, Level.WARNING, "not_encrypted", words, way.remedy)
    if all(way.secured for way in far):
        yield ok(PART, "nothing leaves this machine that is not encrypted" if far else "nothing leaves this machine")


def _ways() -> Iterator[_Way]:
    names = {"default": "DATABASE_URL", "sequencer": "DATABASE_SEQUENCER_URL", "owner": "DATABASE_OWNER_URL"}
    names["direct"] = "DATABASE_DIRECT_URL"
    for alias, database in settings.DATABASES.items():
        name = names[alias]
        secured = database["OPTIONS"].get("sslmode") in _PROVED
        for host in str(database["HOST"]).split(","):
            yield _Way(name, host, secured, "Add ?sslmode=verify-full&sslrootcert=FILE to it.")
    for name, address in (("REDIS_URL", settings.REDIS_URL), ("CELERY_BROKER_URL", settings.CELERY_BROKER_URL)):
        parts = urlsplit(address)
        host = "" if parts.scheme in _SOCKETS else parts.hostname or ""
        yield _Way(name, host, parts.scheme == "rediss", "Begin it with rediss://.")
    asked = [("CASINO_WITNESSES", one) for one in settings.CASINO_WITNESSES]
    asked.append(("CASINO_OTLP_ENDPOINT", settings.CASINO_OTLP_ENDPOINT))
    for name, address in [*asked, ("CASINO_TIMESTAMP_URL", settings.CASINO_TIMESTAMP_URL)]:
        parts = urlsplit(address)
        yield _Way(name, parts.hostname or "", parts.scheme == "https", "Begin it with https://.")


def _is_near(host: str) -> bool:
    """Whether a host is this machine: none at all, the folder of a socket, or an address of its own."""
    if not host or host.startswith(("/", "@")) or host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
