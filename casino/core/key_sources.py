"""Where the log key and the seal key come from: the text of a setting, and the key it names.

    file:PATH            64 hex digits in a file that nobody but its owner may open
    hex:DIGITS           64 hex digits in the environment variable itself
    command:PROGRAM ...  a program that uses the key in our place, and never shows it
    credential:PATH      64 hex digits in a credential of this process (`casino.core.setting_sources` finds it)

A command is run without a shell, once for each use, as `PROGRAM ... VERB [CONTEXT]`. It reads raw bytes on standard
input, writes raw bytes on standard output, and exits with 0. It finds none of our settings in its environment.
"""

import os
import shlex
import signal
import stat
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from casino.core.errors import KeyUnavailable

KEY_BYTES = 32
#: Seconds that a command has to answer.
TIME_LIMIT = 10.0
#: Characters of a command's standard error that a refusal shows.
SHOWN = 200
#: Rights to the file of a key that nobody may have. systemd lets a unit's user read its credential by an access list,
#: which shows as a right of the file's group.
_FORBIDDEN = {"file": 0o077, "credential": 0o037}
_EXPECTED = "expected file:PATH, hex:DIGITS (64 hex digits, 32 bytes) or command:PROGRAM ARGUMENT ..."
#: What a command does not inherit: every setting of the house.
_OURS = ("CASINO_", "DATABASE_", "REDIS_", "CELERY_")


@dataclass(frozen=True, slots=True)
class KeyBytes:
    """A key that this process may hold: `read` gives its 32 bytes. Raises KeyUnavailable."""

    read: Callable[[], bytes] = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeyCommand:
    """A key that a program holds; `arguments` are the program and what always follows it."""

    arguments: tuple[str, ...]

    def ask(self, verb: str, *context: str, given: bytes = b"") -> bytes:
        """What the program answers to a verb. Raises KeyUnavailable where it cannot be started, takes too long, or
        exits with anything but 0."""
        environ = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        named = f"{self.arguments[0]} {verb}"
        try:
            process = subprocess.Popen(
                [*self.arguments, verb, *context],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=environ, start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            raise KeyUnavailable(f"{named} cannot be started: {error}.") from error
        with process:
            try:
                answer, said = process.communicate(given, timeout=TIME_LIMIT)
            except subprocess.TimeoutExpired as error:
                os.killpg(process.pid, signal.SIGKILL)  # what it has started, too
                raise KeyUnavailable(f"{named} has not answered within {TIME_LIMIT:g} s.") from error
        if process.returncode:
            shown = said.decode(errors="replace").strip()[:SHOWN]
            raise KeyUnavailable(f"{named} has failed with exit status {process.returncode}: {shown!r}.")
        return answer


KeySource = KeyBytes | KeyCommand


def parse(text: str) -> KeySource:
    """The source that a setting names; nothing is read yet. Raises ValueError, which never shows a key."""
    scheme, _, rest = text.partition(":")
    if scheme in _FORBIDDEN and rest:
        path, forbidden = Path(rest), _FORBIDDEN[scheme]
        return KeyBytes(lambda: _in_file(path, forbidden))
    if scheme == "hex":
        key = _digits(rest)
        return KeyBytes(lambda: key)
    if scheme == "command" and (arguments := tuple(shlex.split(rest))):
        return KeyCommand(arguments)
    raise ValueError(_EXPECTED)


def _digits(text: str) -> bytes:
    if len(text) != 2 * KEY_BYTES or not set(text.lower()) <= set("0123456789abcdef"):
        raise ValueError(_EXPECTED)
    return bytes.fromhex(text)


def _in_file(path: Path, forbidden: int) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe without a writer would never open
            raise KeyUnavailable(f"{path} is no regular file.")
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_mode & forbidden:
                raise KeyUnavailable(
                    f"{path} may be opened by its group or by others (mode {stat.S_IMODE(status.st_mode):04o}): the "
                    "key counts as known. Make a new key, in a file of mode 0600 or 0400."
                )
            text = file.read(2 * KEY_BYTES + 2)
    except OSError as error:
        raise KeyUnavailable(f"The key file {path} cannot be read: {error.strerror}.") from error
    try:
        return _digits(text.decode("ascii").removesuffix("\n"))
    except ValueError:  # without its text, and without the error that might show it
        raise KeyUnavailable(f"{path} does not hold 64 hex digits on one line.") from None
