"""Three etcd, three Patroni with their PostgreSQL, and haproxy, on one machine. A member is killed as a machine that
loses its power: Patroni, the server and every backend at once, and nothing starts them again but the trial."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import yaml

from deploy.embedded.account import clean_environment
from deploy.embedded.process import command_line, read_pid, signalled_when_parent_dies, wait_until
from deploy.processes import Processes, Program
from tests.faults.injecting import family, send
from tests.ha import configuration
from tests.ha.programs import Programs
from tests.services import free_port

#: Seconds that a new cluster, or a member that comes back, is given.
PATIENCE = 120.0
#: Seconds that a member is given to stop in good order.
STOPPING = 30.0


class NotWhole(Exception):
    """The cluster did not become what it was to become."""


@dataclass
class Member:
    """One database machine: Patroni and the PostgreSQL that it runs."""

    name: str
    folder: Path
    programs: Programs
    database: int
    rest: int
    _process: subprocess.Popen[bytes] | None = None

    @property
    def configuration(self) -> Path:
        """Patroni's file."""
        return self.folder / "patroni.yml"

    def start(self) -> None:
        """Start Patroni, as the unit of a machine that comes up does."""
        command = [*self.programs.account.prefix, str(self.programs.patroni / "patroni"), str(self.configuration)]
        with (self.folder / "patroni.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", env=clean_environment(),
                start_new_session=True, preexec_fn=signalled_when_parent_dies(signal.SIGTERM),
            )  # fmt: skip

    def stop(self) -> None:
        """Stop Patroni, which stops PostgreSQL; what is left is killed."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            wait_until(lambda: self._process is None or self._process.poll() is not None, seconds=STOPPING)
        self.kill()

    def kill(self) -> None:
        """Kill Patroni, the server and every backend. They are frozen first, so that none begins another meanwhile."""
        for _ in range(2):
            send(self._pids(), signal.SIGSTOP)
        send(self._pids(), signal.SIGKILL)
        if self._process is not None:
            self._process.wait(timeout=10)
            self._process = None
        if not wait_until(lambda: not self._pids(), seconds=10):
            raise NotWhole(f"{self.name} cannot be killed")

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Let nothing of it go on inside, as on a machine that hangs."""
        for _ in range(2):  # what was begun meanwhile, too
            send(self._pids(), signal.SIGSTOP)
        try:
            yield
        finally:
            send(self._pids(), signal.SIGCONT)

    def receivers(self) -> list[int]:
        """The processes that receive from the primary."""
        return [pid for pid in self._server() if "walreceiver" in command_line(pid)]

    def asked(self, path: str) -> tuple[int, dict[str, Any]]:
        """Status and answer of Patroni; 0 where it gives none."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"http://127.0.0.1:{self.rest}{path}", timeout=3) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, {}
        except (OSError, ValueError):
            return 0, {}

    def _server(self) -> list[int]:
        pid = read_pid(self.folder / "data" / "postmaster.pid")
        # A pid file that was left behind may name a process of somebody else.
        return family(pid) if pid is not None and str(self.folder) in command_line(pid) else []

    def _pids(self) -> list[int]:
        mine = [] if self._process is None or self._process.poll() is not None else family(self._process.pid)
        return [*mine, *self._server()]


@dataclass
class Cluster:
    """The members, and the port at which haproxy leads to the primary."""

    members: list[Member]
    port: int
    #: The port of haproxy's metrics.
    metrics: int
    password: str
    synchronous: bool
    folder: Path
    programs: Programs

    def url(self, login: str, database: str, **options: str) -> str:
        """Where a login reaches the primary, as `docs/how-to/survive-a-failure.md` spells it."""
        found = {"connect_timeout": "5", "target_session_attrs": "read-write"} | options
        query = "&".join(f"{name}={value}" for name, value in found.items())
        return f"postgresql://{login}:{self.password}@127.0.0.1:{self.port}/{database}?{query}"

    def primary(self) -> Member | None:
        """The member that says that it is primary."""
        return next((one for one in self.members if one.asked("/primary")[0] == 200), None)

    def roles(self) -> dict[str, str]:
        """The role of each member that runs as it should, as Patroni names it."""
        for one in self.members:
            status, answer = one.asked("/cluster")
            if status == 200:
                return {
                    member["name"]: member["role"]
                    for member in answer["members"]
                    if member["state"] == ("running" if member["role"] == "leader" else "streaming")
                }
        return {}

    def whole(self) -> bool:
        """Whether all members run, one of them as primary, and commits have the standby that they wait for."""
        roles = list(self.roles().values())
        standby = "sync_standby" if self.synchronous else "replica"
        return len(roles) == len(self.members) and "leader" in roles and standby in roles

    def synchronous_standby(self) -> Member:
        """The member that commits wait for. Raises NotWhole."""
        roles = self.roles()
        for one in self.members:
            if roles.get(one.name) == "sync_standby":
                return one
        raise NotWhole(f"there is no synchronous standby: {roles}")

    def wait_whole(self) -> None:
        """Wait until it is. Raises NotWhole."""
        if not wait_until(self.whole, seconds=PATIENCE):
            raise NotWhole(f"the cluster is not whole after {PATIENCE:.0f} s: {self.roles()}; logs in {self.folder}")

    def wait_reachable(self) -> None:
        """Wait until haproxy, too, has noticed who is primary. Raises NotWhole."""

        def reached() -> bool:
            try:
                self.administrator().close()
            except psycopg.OperationalError:
                return False
            return True

        if not wait_until(reached, seconds=PATIENCE):
            raise NotWhole(f"haproxy leads to no primary after {PATIENCE:.0f} s")

    def switch_over(self) -> str:
        """What an operator does before a planned stop; what patronictl said. Raises NotWhole."""
        leader, candidate = self.primary(), self.synchronous_standby()
        assert leader is not None
        command = [str(self.programs.patroni / "patronictl"), "-c", str(leader.configuration), "switchover"]
        command += ["cukassza", "--leader", leader.name, "--candidate", candidate.name, "--force"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode:
            raise NotWhole(f"patronictl: {done.stdout[-500:]}{done.stderr[-500:]}")
        return done.stdout

    def administrator(self, database: str = "postgres") -> psycopg.Connection[tuple[object, ...]]:
        """A connection of the superuser."""
        return psycopg.connect(self.url("postgres", database), autocommit=True)


@contextmanager
def running(folder: Path, programs: Programs, *, synchronous: bool) -> Iterator[Cluster]:
    """A new cluster in an empty folder. Raises NotWhole."""
    etcd = {f"etcd{number}": (free_port(), free_port()) for number in (1, 2, 3)}
    members = [
        Member(f"db{number}", folder / f"db{number}", programs, free_port(), free_port()) for number in (1, 2, 3)
    ]
    cluster = Cluster(members, free_port(), free_port(), secrets.token_hex(16), synchronous, folder, programs)
    file = folder / "haproxy.cfg"
    file.write_text(configuration.haproxy(cluster.port, cluster.metrics, [(one.database, one.rest) for one in members]))
    proxy = Program("haproxy", (str(programs.haproxy), "-W", "-db", "-f", str(file)))
    around = [*_etcd(folder, programs, etcd), proxy]
    with Processes(around, environ=programs.environ(), log_dir=folder / "log"), ExitStack() as stack:
        for one in members:
            one.folder.mkdir()
            made = configuration.member(
                one.name, folder=one.folder, programs=programs.postgres, database=one.database, rest=one.rest,
                etcd=[client for client, _ in etcd.values()], password=cluster.password, synchronous=synchronous,
            )  # fmt: skip
            one.configuration.write_text(yaml.safe_dump(made))
            one.configuration.chmod(0o600)
            stack.callback(one.stop)
            one.start()
        cluster.wait_whole()
        yield cluster


def _etcd(folder: Path, programs: Programs, ports: dict[str, tuple[int, int]]) -> Iterator[Program]:
    """Their programs, on these ports for clients and for each other."""
    known = ",".join(f"{name}=http://127.0.0.1:{peer}" for name, (_, peer) in ports.items())
    for name, (client, peer) in ports.items():
        options = {
            "name": name, "data-dir": folder / name, "initial-cluster": known, "initial-cluster-state": "new",
            "listen-client-urls": f"http://127.0.0.1:{client}", "advertise-client-urls": f"http://127.0.0.1:{client}",
            "listen-peer-urls": f"http://127.0.0.1:{peer}", "initial-advertise-peer-urls": f"http://127.0.0.1:{peer}",
        }  # fmt: skip
        command = (str(programs.etcd), *(f"--{option}={value}" for option, value in options.items()))
        yield Program(name, command, environ={"ETCD_UNSUPPORTED_ARCH": os.uname().machine})
