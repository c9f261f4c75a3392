"""`python -m tests.deploy.wheels` (`make wheels`): asks the package index whether every locked requirement has a wheel
whose hash is locked, for every Python and every machine that the project names.

uv lists the files of the index (one question a package, nothing is downloaded); which of them pip would take on another
machine follows from their names (PEP 425, PEP 600) and the lock's markers. Exit code 1 and a line for each requirement
that cannot be installed somewhere, 75 where the index was not read. Needs the network.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.requirements import Requirement
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import canonicalize_name, parse_wheel_filename

CHECKOUT = Path(__file__).resolve().parents[2]
LOCK = CHECKOUT / "requirements.lock"
#: The oldest systems that count: glibc of 2018 (Debian 10, RHEL 8, Ubuntu 18.10) and macOS of 2022.
GLIBC, OLDEST_GLIBC = 28, 5
MACOS = (13, 0)
#: Pure Python that its authors publish as source only: a reference of the bench.
SOURCE_ONLY = frozenset({"django-hordak"})
SECONDS = 300.0
#: Exit code where the index was not read (EX_TEMPFAIL): nothing is known to be wrong, and nothing was checked.
UNREAD = 75

_VERSION = re.compile(r"Programming Language :: Python :: (3\.\d+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


class IndexUnread(Exception):
    """The index did not say what it has; the message is uv's own."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A kind of machine: system (`sys.platform`), processor (`platform.machine()`), and its name for people."""

    name: str
    system: str
    processor: str

    def platforms(self) -> list[str]:
        """Names of platforms whose wheels it takes, best first."""
        if self.system == "darwin":
            return list(mac_platforms(MACOS, self.processor))
        many = [f"manylinux_2_{minor}_{self.processor}" for minor in range(GLIBC, OLDEST_GLIBC - 1, -1)]
        return [*many, f"manylinux2014_{self.processor}", f"manylinux2010_{self.processor}",
                f"manylinux1_{self.processor}", f"linux_{self.processor}"]  # fmt: skip

    def tags(self, python: str) -> set[Tag]:
        """Tags of the wheels that a CPython of this version takes there."""
        version, platforms = tuple(map(int, python.split("."))), self.platforms()
        interpreter = "cp" + python.replace(".", "")
        return {*cpython_tags(version, platforms=platforms), *compatible_tags(version, interpreter, platforms)}

    def environment(self, python: str) -> dict[str, str]:
        """What a lock's markers are compared with there."""
        return {
            "implementation_name": "cpython", "os_name": "posix", "platform_machine": self.processor,
            "platform_python_implementation": "CPython", "platform_system": self.system.capitalize(),
            "python_full_version": f"{python}.0", "python_version": python, "sys_platform": self.system,
        }  # fmt: skip


MACHINES = (
    Machine("Linux x86-64", "linux", "x86_64"),
    Machine("Linux ARM", "linux", "aarch64"),
    Machine("macOS ARM", "darwin", "arm64"),
    Machine("macOS Intel", "darwin", "x86_64"),
)


@dataclass(frozen=True, slots=True)
class Locked:
    """An entry of the lock."""

    requirement: Requirement
    hashes: frozenset[str]

    @property
    def version(self) -> str:
        """The one version that is locked."""
        [specifier] = self.requirement.specifier
        return specifier.version

    def wanted(self, environment: Mapping[str, str]) -> bool:
        """Whether it is installed there."""
        return self.requirement.marker is None or self.requirement.marker.evaluate(dict(environment))


def pythons() -> list[str]:
    """The versions of Python that the project's classifiers name, oldest first."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    matches = (_VERSION.fullmatch(classifier) for classifier in project["classifiers"])
    return [match[1] for match in matches if match]


def read_lock(lock: str) -> list[Locked]:
    """The entries of a requirements file with hashes."""
    found = []
    for entry in re.split(r"(?m)^(?=[A-Za-z0-9])", lock):
        text, _, rest = entry.partition("\\\n")
        if text.strip() and not text.startswith("#"):
            found.append(Locked(Requirement(text.strip()), frozenset(_HASH.findall(rest))))
    return found


def files_of_index(locked: Iterable[Locked], uv: Sequence[str]) -> dict[tuple[str, str], dict[str, str]]:
    """Hash and name of every wheel that the index has of the locked versions, by name and version of the package.
    Raises IndexUnread."""
    with TemporaryDirectory(prefix="cukassza-w-") as folder:
        names, listed = Path(folder) / "names.txt", Path(folder) / "pylock.toml"
        names.write_text("".join(f"{one.requirement}\n" for one in locked), encoding="utf-8")
        options = ["--no-deps", "--universal", "--python-version", pythons()[0], "--format", "pylock.toml"]
        command = [*uv, "pip", "compile", str(names), *options, "--quiet", "--refresh", "--output-file", str(listed)]
        command.append("--system-certs")  # as pip: a proxy's certificate may be known to the system only
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
        if done.returncode:
            raise IndexUnread(done.stderr.strip() or f"uv ended with {done.returncode}")
        packages = tomllib.loads(listed.read_text(encoding="utf-8"))["packages"]
    return {(one["name"], one["version"]): dict(map(_file, one.get("wheels", ()))) for one in packages}


def _file(wheel: Mapping[str, object]) -> tuple[str, str]:
    hashes, address = wheel["hashes"], str(wheel["url"])
    assert isinstance(hashes, dict)
    return str(hashes["sha256"]), address.rpartition("/")[2]


def missing(
    locked: Iterable[Locked], files: Mapping[tuple[str, str], Mapping[str, str]], python: str, machine: Machine
) -> Iterator[str]:
    """Requirements that pip could not install as wheels there, in words."""
    tags, environment = machine.tags(python), machine.environment(python)
    for one in locked:
        name = canonicalize_name(one.requirement.name)
        if name in SOURCE_ONLY or not one.wanted(environment):
            continue
        fitting = {digest for digest, file in files[name, one.version].items() if parse_wheel_filename(file)[3] & tags}
        if not fitting & one.hashes:
            reason = "its wheel's hash is not locked" if fitting else "no wheel"
            yield f"{name}=={one.version}: {reason}"


def main(lock: str | None = None, uv: Sequence[str] = (sys.executable, "-m", "uv")) -> int:
    """Ask for every Python on every machine and print what was found; the exit code."""
    locked = read_lock(LOCK.read_text(encoding="utf-8") if lock is None else lock)
    try:
        files = files_of_index(locked, uv)
    except IndexUnread as error:
        print(f"wheels: NOT CHECKED, the package index was not read: {error}", file=sys.stderr)
        return UNREAD
    failures = 0
    for python in pythons():
        for machine in MACHINES:
            found = list(missing(locked, files, python, machine))
            failures += len(found)
            print(f"Python {python}, {machine.name:12}", "; ".join(found) or "every requirement has a locked wheel")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
