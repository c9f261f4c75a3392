"""The file that says which stacks there are: `fleet.toml`.

    [stacks.ace]
    hosts = ["ace.example"]                    # names that lead to it
    web = "127.0.0.1:8000"                     # its web processes, as nginx and this machine reach them
    command = ["sudo", "/srv/ace/manage"]      # runs a management command there; its words follow
    token_file = "/etc/cukassza/metrics_token" # reads its /metrics; optional
    drained = true                             # its names are answered 503 by nginx; optional

    [stacks.ace.upgrade]                       # how `upgrade` goes; optional
    backup = ["systemctl", "start", "cukassza-backup"]           # makes a backup, where there is one; optional
    migrate = ["systemctl", "restart", "cukassza-migrate"]       # optional: the management command
    restart = [["systemctl", "restart", "cukassza-web"]]         # restart the processes, one after another

One stack is one whole installation: database, processes, checkpoints, keys. A house lives in one of them.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,30}")
#: A host name as DNS has them, in small letters: nginx compares them so.
_HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")
_WEB = re.compile(r"([A-Za-z0-9.-]+|\[[0-9a-f:]+\]):([0-9]{1,5})")
#: What nginx's map has for the names of a stack that is drained, and so no stack's name.
DRAINED = "drained"


class FleetError(Exception):
    """The file cannot be used; the message is one line for a person."""

    code = "fleet_file"


@dataclass(frozen=True, slots=True)
class Upgrade:
    """How the processes of a stack come to another version, each a command."""

    restart: tuple[tuple[str, ...], ...]
    migrate: tuple[str, ...]
    backup: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """One installation."""

    name: str
    hosts: tuple[str, ...]
    web: str
    command: tuple[str, ...]
    token_file: Path | None = None
    drained: bool = False
    upgrade: Upgrade | None = None

    @property
    def token(self) -> str | None:
        """The token that reads its metrics. Raises OSError."""
        return None if self.token_file is None else self.token_file.read_text(encoding="utf-8").strip()


def read(path: Path) -> tuple[Stack, ...]:
    """The stacks of a file, in its order. Raises FleetError for a file that cannot be read, a key that does not exist,
    a value that cannot be meant, and a host name, or an address, that two stacks have."""
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FleetError(f"{path}: {error}") from error
    stacks = said.pop("stacks", {})
    if said or not isinstance(stacks, dict) or not stacks:
        raise FleetError(f"{path}: it has [stacks.NAME] and nothing else, at least one of them")
    found = tuple(_stack(name, values) for name, values in stacks.items())
    _once("host name", [(host, one.name) for one in found for host in one.hosts])
    _once("address", [(one.web, one.name) for one in found])
    return found


def _stack(name: str, values: Any) -> Stack:
    if not _NAME.fullmatch(name) or name == DRAINED:
        raise FleetError(f"stack {name!r}: a name is a small letter, then letters, digits, - and _; not {DRAINED!r}")
    if not isinstance(values, dict):
        raise FleetError(f"stack {name}: write [stacks.{name}]")
    rest = dict(values)
    hosts, command = (_texts(name, key, rest.pop(key, None)) for key in ("hosts", "command"))
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise FleetError(f"stack {name}: {host!r} is no host name in small letters")
    web = rest.pop("web", None)
    fits = _WEB.fullmatch(web) if isinstance(web, str) else None
    if fits is None or not 0 < int(fits[2]) < 1 << 16:
        raise FleetError(f"stack {name}: web is HOST:PORT")
    token_file, drained = rest.pop("token_file", None), rest.pop("drained", False)
    upgrade = _upgrade(name, command, rest.pop("upgrade", None))
    if not isinstance(token_file, str | None) or not isinstance(drained, bool):
        raise FleetError(f"stack {name}: token_file is a path, drained is true or false")
    if rest:
        raise FleetError(f"stack {name}: there is no {', '.join(sorted(rest))}")
    return Stack(name, hosts, web, command, None if token_file is None else Path(token_file), drained, upgrade)


def _upgrade(name: str, command: tuple[str, ...], values: Any) -> Upgrade | None:
    if values is None:
        return None
    if not isinstance(values, dict) or not isinstance(values.get("restart"), list) or not values["restart"]:
        raise FleetError(f"stack {name}: upgrade has restart, a list of commands, at least one of them")
    rest = dict(values)
    restart = tuple(_texts(name, "restart", one) for one in rest.pop("restart"))
    given = {key: _texts(name, key, rest.pop(key)) for key in ("backup", "migrate") if key in rest}
    if rest:
        raise FleetError(f"stack {name}: upgrade has no {', '.join(sorted(rest))}")
    migrate = given.get("migrate", (*command, "migrate", "--database", "owner", "--no-input"))
    return Upgrade(restart, migrate, given.get("backup"))


def _texts(name: str, key: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not values or not all(isinstance(one, str) and one for one in values):
        raise FleetError(f"stack {name}: {key} is a list of texts, at least one of them")
    return tuple(values)


def _once(what: str, pairs: list[tuple[str, str]]) -> None:
    """Raises FleetError for a value of two, or of one twice."""
    owners: dict[str, str] = {}
    for value, owner in pairs:
        if value in owners:
            raise FleetError(f"{what} {value} stands in {owners[value]} and in {owner}: a house lives in one stack")
        owners[value] = owner
