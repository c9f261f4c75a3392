"""The account under which the servers run: PostgreSQL refuses root.

An ordinary user runs them directly. Root prefixes them with `unshare --user --map-user=65534`, so that files
stay owned by root and no user is created; so does a user without a name, whom initdb refuses, too. Where user
namespaces are refused (many containers), they run as `nobody`, in a folder of its own with copies of the
programs, because `nobody` can seldom read a checkout of root's.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from deploy.embedded.errors import AccountRefused, StartFailed

NOBODY = 65534
UNSHARE = ("unshare", "--user", f"--map-user={NOBODY}")


@dataclass(frozen=True)
class Account:
    """How to start a server program: a command prefix, or a uid to become (None: stay who we are)."""

    prefix: tuple[str, ...] = ()
    uid: int | None = None

    def run(self, args: Sequence[str], *, seconds: float = 90) -> subprocess.CompletedProcess[str]:
        """Run one program to its end and return its output. Raises `AccountRefused`, `StartFailed` (time)."""
        try:
            return subprocess.run(
                [*self.prefix, *args],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                cwd="/",
                env=clean_environment(),
                check=False,
                user=self.uid,
                group=self.uid,
                extra_groups=None if self.uid is None else [],
            )
        except subprocess.TimeoutExpired as error:
            raise StartFailed(f"{args[0]} did not end within {seconds:.0f} s") from error
        except PermissionError as error:
            raise AccountRefused(f"cannot run {args[0]}: {error}") from error
        except OSError as error:
            if self.uid is None:
                raise
            raise AccountRefused(f"root cannot become nobody to run {args[0]}: {error}") from error


def clean_environment() -> dict[str, str]:
    """The environment without PG* variables: a stray PGPORT or PGDATA must not redirect our own server."""
    return {key: value for key, value in os.environ.items() if not key.startswith("PG")}


def unshare_works() -> bool:
    """Whether this kernel lets us enter a user namespace as `nobody`."""
    if shutil.which("unshare") is None:
        return False
    return Account(prefix=UNSHARE).run(["true"], seconds=10).returncode == 0


def choose_account(*, nobody_before: bool) -> Account:
    """The account for this user; `nobody_before` keeps an earlier choice, since the files belong to it."""
    if os.geteuid() == 0:
        return Account(prefix=UNSHARE) if not nobody_before and unshare_works() else Account(uid=NOBODY)
    return Account() if has_name(os.geteuid()) or not unshare_works() else Account(prefix=UNSHARE)


def has_name(uid: int) -> bool:
    """Whether the system knows this user by name; initdb refuses others (`docker run --user 4242`)."""
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True
