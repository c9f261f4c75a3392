"""The configuration that operators use (`deploy/patroni`, `deploy/haproxy`), with the addresses of a trial."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from deploy.processes import CHECKOUT

PATRONI = CHECKOUT / "deploy" / "patroni" / "patroni.yml"
HAPROXY = CHECKOUT / "deploy" / "haproxy" / "haproxy.cfg"
#: The machines of the files, in the order of their names.
MACHINES = ("10.0.0.11", "10.0.0.12", "10.0.0.13")


def patroni() -> dict[str, Any]:
    """Patroni's file as it is."""
    read: dict[str, Any] = yaml.safe_load(PATRONI.read_text(encoding="utf-8"))
    return read


def haproxy(port: int, metrics: int, servers: list[tuple[int, int]]) -> str:
    """haproxy's file, with its two ports, and the ports of these servers' PostgreSQL and Patroni."""
    text = HAPROXY.read_text(encoding="utf-8")
    changes = [("127.0.0.1:5000", f"127.0.0.1:{port}"), ("    log /dev/log local0\n", ""), ("    log global\n", "")]
    changes += [("    option tcplog\n", ""), ("127.0.0.1:8405", f"127.0.0.1:{metrics}")]
    for machine, (database, rest) in zip(MACHINES, servers, strict=True):
        checked = "{}:{} maxconn 100 check port {}"
        changes.append((checked.format(machine, 5432, 8008), checked.format("127.0.0.1", database, rest)))
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def member(
    name: str,
    *,
    folder: Path,
    programs: Path,
    database: int,
    rest: int,
    etcd: list[int],
    password: str,
    synchronous: bool,
) -> dict[str, Any]:
    """Patroni's file for one member of a trial: other addresses, folders and passwords, less memory, no watchdog."""
    made = patroni()
    made["name"] = name
    made["restapi"] |= {"listen": f"127.0.0.1:{rest}", "connect_address": f"127.0.0.1:{rest}"}
    made["restapi"]["authentication"]["password"] = password
    made["etcd3"]["hosts"] = [f"127.0.0.1:{port}" for port in etcd]
    server = made["postgresql"]
    server |= {"listen": f"127.0.0.1:{database}", "connect_address": f"127.0.0.1:{database}"}
    server |= {"data_dir": str(folder / "data"), "bin_dir": str(programs), "pgpass": str(folder / "pgpass")}
    for one in server["authentication"].values():
        one["password"] = password
    # All members share a machine: no sockets, whose names would be the same, and little memory.
    server["parameters"] = {"unix_socket_directories": "", "shared_buffers": "64MB"}
    server["pg_hba"] = [line.replace("10.0.0.0/24", "127.0.0.1/32") for line in server["pg_hba"]]
    made["watchdog"] = {"mode": "off"}
    if not synchronous:
        made["bootstrap"]["dcs"] |= {"synchronous_mode": False, "synchronous_mode_strict": False}
    return made
