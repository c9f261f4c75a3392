"""The folders of the embedded services, and their access rights.

var/                 CASINO_VAR or the checkout's var/, mode 0700
  lock               one `up` or `down` at a time
  secrets/           keys made once, mode 0600
  run.path home.path where the folders below are, when they cannot be here
  pg/ valkey/ run/   data and sockets ("home")
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from deploy.embedded.account import Account, choose_account
from deploy.embedded.errors import Busy, SocketPathTooLong, VarNotOurs

CHECKOUT = Path(__file__).resolve().parents[2]
MAX_SOCKET_PATH = 100
LONGEST_SOCKET_NAME = len("/.s.PGSQL.5432")
# Characters that need no quoting in a URL, a shell word or a PostgreSQL setting.
PLAIN_PATH = re.compile(r"[A-Za-z0-9/._+@-]+")
LOCK_SECONDS = 120.0


@dataclass(frozen=True)
class Layout:
    """The folders of one installation and the account its servers run under."""

    var: Path
    home: Path
    run: Path
    account: Account

    @property
    def pg(self) -> Path:
        """PostgreSQL's data folder."""
        return self.home / "pg"

    @property
    def valkey(self) -> Path:
        """Valkey's data folder (append-only file)."""
        return self.home / "valkey"

    def wanted(self, server: str) -> Path:
        """The file that is there from a server's start until it is stopped in good order."""
        return self.var / f"{server}.wanted"

    @property
    def valkey_socket(self) -> Path:
        """The socket that Valkey listens on."""
        return self.run / "valkey.sock"


def var_dir() -> Path:
    """The state folder: CASINO_VAR, else var/ under the checkout."""
    given = os.environ.get("CASINO_VAR")
    return Path(given).expanduser().resolve() if given else CHECKOUT / "var"


def open_layout(var: Path) -> Layout:
    """Create the folders that are missing and say where everything is; `VarNotOurs`, `SocketPathTooLong`."""
    private_dir(var)
    account = choose_account(nobody_before=(var / "home.path").exists())
    home = var
    if account.uid is not None:
        home = _remembered_dir(var / "home.path", parents=(Path("/var/tmp"), Path("/tmp")), owner=account.uid)  # noqa: S108
    run = home / "run"
    if fits(run):
        private_dir(run, owner=account.uid)
    else:
        parents = (Path(tempfile.gettempdir()), Path("/tmp"))  # noqa: S108 - mkdtemp makes a private folder in it
        run = _remembered_dir(var / "run.path", parents=parents, owner=account.uid)
    return Layout(var=var, home=home, run=run, account=account)


def hints_socket(port: int) -> Path:
    """The socket between the web processes that serve this port and the process that sends their hints."""
    # Two bytes longer than the longest of the servers: the limit leaves three.
    return open_layout(var_dir()).run / f"live-{port}.sock"


def fits(run: Path) -> bool:
    """Whether sockets in `run` stay under the limit and need no quoting anywhere."""
    return len(str(run)) + LONGEST_SOCKET_NAME <= MAX_SOCKET_PATH and bool(PLAIN_PATH.fullmatch(str(run)))


def private_dir(path: Path, *, owner: int | None = None) -> Path:
    """Make `path` a folder of mode 0700 that belongs to `owner` (default: us), or raise `VarNotOurs`."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if owner is not None and path.stat().st_uid == os.geteuid():
            os.chown(path, owner, owner)
    except OSError as error:
        raise VarNotOurs(f"cannot create the folder {path}: {error.strerror}; set CASINO_VAR to another one") from error
    wanted = os.geteuid() if owner is None else owner
    found = path.stat()
    if found.st_uid != wanted:
        raise VarNotOurs(f"{path} belongs to uid {found.st_uid}, not {wanted}; set CASINO_VAR to a folder of your own")
    if stat.S_IMODE(found.st_mode) != 0o700:
        path.chmod(0o700)
    return path


def _remembered_dir(pointer: Path, *, parents: tuple[Path, ...], owner: int | None) -> Path:
    """A private temporary folder whose name is kept in the file `pointer`, made again when it is gone."""
    wanted = os.geteuid() if owner is None else owner
    if pointer.exists():
        known = Path(pointer.read_text(encoding="utf-8").strip())
        # lstat: a name in a shared folder could have been taken by somebody else's symbolic link meanwhile.
        if known.is_dir() and known.lstat().st_uid == wanted and stat.S_IMODE(known.lstat().st_mode) == 0o700:
            return known
    parent = next((p for p in parents if os.access(p, os.W_OK | os.X_OK) and fits(p / "cukassza-12345678")), None)
    if parent is None:
        raise SocketPathTooLong(
            f"no folder for unix sockets under {MAX_SOCKET_PATH} characters: set CASINO_VAR shorter"
        )
    made = Path(tempfile.mkdtemp(prefix="cukassza-", dir=parent))
    if owner is not None:
        os.chown(made, owner, owner)
    pointer.write_text(f"{made}\n", encoding="utf-8")
    return made


@contextmanager
def locked(var: Path, *, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the installation's lock, so that nobody else starts or stops its servers. Raises `Busy`."""
    private_dir(var)
    deadline = time.monotonic() + seconds
    with (var / "lock").open("a") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Busy(f"another process has held {var / 'lock'} for {seconds:.0f} s") from None
                time.sleep(0.05)
        yield
