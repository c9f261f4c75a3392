"""Kinds of settings: how a value is read from the text of a variable, and how the configuration file writes it."""

import ipaddress
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from casino.core import key_sources

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
FORMATS = ("text", "json")
#: The mode of a pooler in which each transaction may run in another session.
TRANSACTION = "transaction"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """What values of a setting are.

    `parse` reads the text of a variable and raises ValueError, which says what is expected. `types` are those of the
    values in TOML, `written` says so in words. A list is one text with `separator` between its parts.
    """

    parse: Callable[[str], T]
    types: tuple[type, ...] = (str,)
    written: str = "a string"
    separator: str = ""
    #: Whether the text says where a key is, and is one itself only after `hex:` (`casino.core.key_sources`).
    is_key: bool = False

    def text(self, value: Any) -> str:
        """The text that a variable would have for a value of TOML. Raises ValueError."""
        if not isinstance(value, self.types) or (isinstance(value, bool) and bool not in self.types):
            raise ValueError(f"expected {self.written}")
        if isinstance(value, bool):
            return str(int(value))
        if isinstance(value, list):
            if not all(isinstance(one, str) and one and self.separator not in one for one in value):
                raise ValueError(f"expected {self.written}, none of them empty or with {self.separator!r}")
            return self.separator.join(value)
        return str(value)

    def toml(self, value: T) -> str:
        """A value as the file writes it."""
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, int | float):
            return f"{value:g}" if isinstance(value, float) else str(value)
        if isinstance(value, tuple):
            return f"[{', '.join(_quoted(str(one)) for one in value)}]"
        if value is None:
            return "[]" if self.separator else '""'
        return _quoted(str(value))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _text(value: str) -> str:
    return value


def _flag(value: str) -> bool:
    if value not in ("0", "1"):
        raise ValueError("expected 0 or 1")
    return value == "1"


def _days(value: str) -> int:
    if not value.isascii() or not value.isdecimal() or int(value) < 1:
        raise ValueError("expected a whole number of days, 1 or more")
    return int(value)


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0.05 <= seconds <= 15:
        raise ValueError("expected seconds, from 0.05 to 15")
    return seconds


def _share(value: str) -> float:
    try:
        share = float(value)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise ValueError("expected a number above 0, up to 1")
    return share


def _key(value: str) -> str:
    key_sources.parse(value)
    return value


def _witnesses(value: str) -> tuple[str, ...]:
    found = tuple(one.strip() for one in value.split(","))
    if not all(re.fullmatch(r"https?://[^\s#]+#[^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]+={0,2}", one) for one in found):
        raise ValueError("expected https://ADDRESS#VKEY, several separated by commas")
    return found


def _address(value: str) -> str:
    if not re.fullmatch(r"https?://[^\s]+", value):
        raise ValueError("expected https://ADDRESS")
    return value


def _interval(value: str) -> int:
    if not value.isascii() or not value.isdecimal() or not 10 <= int(value) <= 2_678_400:
        raise ValueError("expected whole seconds, from 10 to 2678400 (31 days)")
    return int(value)


def _socket(value: str) -> str:
    # The shortest limit of the systems that we know; one byte ends the path.
    if len(os.fsencode(value)) > 103:
        raise ValueError("expected a path of 103 bytes at most")
    return value


def _streams(value: str) -> int:
    if not value.isascii() or not value.isdecimal() or not 1 <= int(value) <= 100_000:
        raise ValueError("expected a whole number, from 1 to 100000")
    return int(value)


def _pooler(value: str) -> str:
    if value != TRANSACTION:
        raise ValueError(f"expected {TRANSACTION}; behind a pooler in session mode leave it empty")
    return value


def _level(value: str) -> str:
    if value not in LEVELS:
        raise ValueError(f"expected one of {', '.join(LEVELS)}")
    return value


def _format(value: str) -> str:
    if value not in FORMATS:
        raise ValueError(f"expected one of {', '.join(FORMATS)}")
    return value


def _ip_address(value: str) -> str:
    try:
        return str(ipaddress.ip_address(value))
    except ValueError:
        raise ValueError("expected an address such as 127.0.0.1") from None


def _networks(value: str) -> tuple[str, ...]:
    try:
        return tuple(str(ipaddress.ip_network(one.strip())) for one in value.split(",") if one.strip())
    except ValueError:
        raise ValueError("expected addresses or networks such as 10.0.0.0/24, separated by commas") from None


def _hosts(value: str) -> tuple[str, ...]:
    return tuple(host for host in value.split(",") if host)


def _origins(value: str) -> tuple[str, ...]:
    found = _hosts(value)
    if not all(re.fullmatch(r"https?://[^\s/]+", one) for one in found):
        raise ValueError("expected https://HOST, several separated by commas, without a path")
    return found


def _folders(value: str) -> tuple[Path, ...]:
    folders = tuple(Path(folder) for folder in value.split(os.pathsep) if folder)
    if not folders:
        raise ValueError("names no folder: a log without a copy outside the database proves nothing")
    return folders


def _postgresql(value: str) -> str:
    if value.partition(":")[0] not in ("postgres", "postgresql"):
        raise ValueError("expected the URL of a PostgreSQL database (postgresql://...): it keeps the ledger's promises")
    return value


_LIST = ((list,), "a list of strings")

TEXT = Kind(_text)
POOLER = Kind(_pooler)
ADDRESS = Kind(_address)
IP_ADDRESS = Kind(_ip_address)
SOCKET = Kind(_socket)
LEVEL = Kind(_level)
FORMAT = Kind(_format)
POSTGRESQL = Kind(_postgresql)
KEY = Kind(_key, is_key=True)
FLAG = Kind(_flag, (bool,), "true or false")
DAYS = Kind(_days, (int,), "a whole number")
INTERVAL = Kind(_interval, (int,), "a whole number")
STREAMS = Kind(_streams, (int,), "a whole number")
SECONDS = Kind(_seconds, (int, float), "a number")
SHARE = Kind(_share, (int, float), "a number")
HOSTS = Kind(_hosts, *_LIST, ",")
ORIGINS = Kind(_origins, *_LIST, ",")
NETWORKS = Kind(_networks, *_LIST, ",")
WITNESSES = Kind(_witnesses, *_LIST, ",")
FOLDERS = Kind(_folders, *_LIST, os.pathsep)
