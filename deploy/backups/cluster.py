"""A cluster restored from a backup, on a socket of its own that nobody else can reach."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from deploy.backups.pgbackrest import BackupError
from deploy.embedded.account import Account
from deploy.embedded.process import last_log_line, wait_until

PORT = 5432
#: Seconds that recovery may take.
LONGEST = 4 * 3600
#: What holds whatever the backup says. It archives nothing, hears nobody but through its socket, waits for no standby,
#: loads no library that this machine may lack, and lets nobody in before recovery has ended.
APART = {
    "listen_addresses": "",
    "port": str(PORT),
    "archive_mode": "off",
    "hot_standby": "off",
    "synchronous_standby_names": "",
    "shared_preload_libraries": "",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "logging_collector": "off",
    "ssl": "off",
}
#: For a cluster that is thrown away.
FLEETING = {"fsync": "off", "full_page_writes": "off"}


class ClusterFailed(BackupError):
    """The restored cluster does not start, or does not reach the end of its recovery."""

    code = "cluster_failed"


@dataclass(frozen=True)
class Ended:
    """Where recovery has ended: the place in the WAL, and the timeline that was followed until there."""

    lsn: int
    timeline: int


@dataclass(frozen=True)
class Restored:
    """A data folder with a server's programs; `folder` has settings and the log beside it."""

    folder: Path
    programs: Path
    account: Account
    #: The folder of the socket: paths of sockets are short.
    run: Path

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """The server's log."""
        return self.folder / "server.log"

    def start(self, settings: Mapping[str, str], *, passwords_of: str = "") -> None:
        """Start it and wait until recovery has ended. Who `passwords_of` names must give the password, all others are
        known by reaching the socket. Raises ClusterFailed."""
        hba = "".join(f"local all {name} {how}\n" for name, how in ((passwords_of, "md5"), ("all", "trust")) if name)
        files = {"postgresql.conf": "", "pg_hba.conf": hba, "pg_ident.conf": ""}
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        places = {
            "config_file": self.folder / "postgresql.conf", "hba_file": self.folder / "pg_hba.conf",
            "ident_file": self.folder / "pg_ident.conf", "unix_socket_directories": self.run,
        }  # fmt: skip
        given = {name: str(value) for name, value in places.items()} | dict(settings)
        options = " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in given.items())
        done = self._pg_ctl("start", "-l", str(self.log), "-t", str(LONGEST), "-o", options)
        # pg_ctl has waited until the server runs, not until recovery has ended.
        if not done and wait_until(lambda: self._status() in ("", "ready"), seconds=LONGEST) and self._status():
            return
        raise ClusterFailed(f"the restored cluster does not start: {last_log_line(self.log, default=done)}")

    def stop(self, how: str = "fast") -> None:
        """Stop it if it runs."""
        if (self.data / "postmaster.pid").exists():
            self._pg_ctl("stop", "-m", how)

    def url(self, login: str, database: str, password: str = "") -> str:
        """Where a login reaches it."""
        secret = f":{quote(password, safe='')}" if password else ""
        where = f"{quote(str(self.run), safe='')}/{quote(database, safe='')}"
        return f"postgresql://{quote(login, safe='')}{secret}@{where}"

    def ended(self) -> Ended:
        """Where its last recovery has ended. Raises ClusterFailed where it was none."""
        history = max((self.data / "pg_wal").glob("*.history"), key=lambda file: file.name, default=None)
        if history is None:
            raise ClusterFailed("the restored cluster has begun no timeline of its own")
        last = [line for line in history.read_text(encoding="utf-8").splitlines() if line.strip()][-1]
        followed, place = last.split("\t")[:2]
        high, low = place.split("/")
        return Ended(int(high, 16) << 32 | int(low, 16), int(followed))

    def _status(self) -> str:
        """What the server says of itself in its pid file: `starting`, `standby`, `ready`; empty without a server."""
        try:
            lines = (self.data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return ""
        return lines[7].strip() if len(lines) > 7 else "starting"

    def _pg_ctl(self, action: str, *options: str) -> str:
        """Empty, or what pg_ctl complains about."""
        command = [str(self.programs / "pg_ctl"), "-w", "-s", "-D", str(self.data), *options, action]
        done = self.account.run(command, seconds=LONGEST + 60)
        return "" if done.returncode == 0 else done.stderr.strip() or done.stdout.strip() or f"pg_ctl {action} failed"


def made(folder: Path, programs: Path, account: Account) -> Restored:
    """An empty one: folders that only we read."""
    restored = Restored(folder, programs, account, Path(tempfile.mkdtemp(prefix="cukassza-restored-")))
    restored.data.mkdir(mode=0o700)
    return restored


def thrown_away(restored: Restored) -> None:
    """Stop it and remove what is left of it."""
    restored.stop("immediate")
    for folder in (restored.run, restored.data):
        shutil.rmtree(folder, ignore_errors=True)


def segment_of(lsn: int, size: int) -> int:
    """The number of the segment of WAL with this place; `size` is the bytes of a segment."""
    return lsn // size


def number_of(name: str, size: int) -> int:
    """The number of the segment with this file name, without its timeline."""
    return int(name[8:16], 16) * (0x1_0000_0000 // size) + int(name[16:24], 16)
