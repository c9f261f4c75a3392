"""What the house is made of: `python -m tests.deploy.supply sbom|audit|licences`.

`sbom FILE` (`make sbom`) writes a CycloneDX document of all that an installation runs, with hashes and licences;
`audit` (`make audit`) asks OSV for known weaknesses of every locked version; `licences` prints under which terms each
part is given. uv does the work. It reads no `requirements.lock`, so the lock's versions are its constraints in a
project that is made for it, and a version that is not the lock's is an error.

Exit code 1 where something was found, 75 where the index or the service was not read.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from casino import __version__
from tests.deploy.wheels import CHECKOUT, LOCK, SECONDS, UNREAD, IndexUnread, read_lock

#: What an installation runs beside the application: servers for one machine, and the demo.
EXTRAS = ("embedded", "demo")
#: Terms under which parts may be given: those that leave the house free to run, change and pass on what it runs. LGPL
#: and MPL hold for the part itself.
ALLOWED = re.compile(
    r"MIT|BSD|Apache|ISC|PSF|Python-2\.0|MPL|Mozilla|LGPL|Lesser General Public|Unlicense|Zlib|HPND|CC0|0BSD|PostgreSQL"
    r"|OFL|Open Font|Zope|ZPL",
    re.IGNORECASE,
)
_CLASSIFIER = "License :: OSI Approved :: "


class Differs(Exception):
    """uv's versions are not those of the lock."""


@contextmanager
def project(uv: Sequence[str]) -> Iterator[Path]:
    """A folder with a project of the same requirements in uv's own form, locked to the versions of the lock. Raises
    IndexUnread and Differs."""
    ours = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    entries = read_lock(LOCK.read_text(encoding="utf-8"))
    extras = "".join(f"{name} = {json.dumps(wanted)}\n" for name, wanted in ours["optional-dependencies"].items())
    pins = json.dumps([str(one.requirement) for one in entries])
    text = (
        f'[project]\nname = "cukassza"\nversion = "{__version__}"\nrequires-python = "{ours["requires-python"]}"\n'
        f"dependencies = {json.dumps(ours['dependencies'])}\n[project.optional-dependencies]\n{extras}"
        f"[tool.uv]\npackage = false\nconstraint-dependencies = {pins}\n"
    )
    with TemporaryDirectory(prefix="cukassza-s-") as found:
        folder = Path(found)
        (folder / "pyproject.toml").write_text(text, encoding="utf-8")
        done = _run([*uv, "lock", "--quiet", "--system-certs"], folder)
        if done.returncode:
            raise IndexUnread(done.stderr.strip() or f"uv ended with {done.returncode}")
        locked = {(canonicalize_name(one.requirement.name), one.version) for one in entries}
        packages = tomllib.loads((folder / "uv.lock").read_text(encoding="utf-8"))["package"]
        found_there = {
            (canonicalize_name(one["name"]), one["version"]) for one in packages if one["name"] != "cukassza"
        }
        if found_there - locked:
            raise Differs(f"not in the lock: {sorted(found_there - locked)}; run `make lock`")
        yield folder


def sbom(folder: Path, uv: Sequence[str]) -> dict[str, Any]:
    """The CycloneDX document of all that an installation runs. Raises IndexUnread."""
    chosen = [word for extra in EXTRAS for word in ("--extra", extra)]
    done = _run([*uv, "export", "--frozen", "--quiet", "--format", "cyclonedx1.5", *chosen], folder)
    if done.returncode:
        raise IndexUnread(done.stderr.strip())
    found: dict[str, Any] = json.loads(done.stdout)
    known = licences()
    for one in found["components"]:
        if terms := known.get(canonicalize_name(one["name"])):
            one["licenses"] = [{"license": {"name": terms}}]
    return found


def licences() -> dict[str, str]:
    """The terms of every installed distribution, as its metadata has them: the expression, else its classifiers, else
    the first line of its text."""
    return {canonicalize_name(one.metadata["Name"]): _terms(one.metadata) for one in metadata.distributions()}


def _terms(said: Any) -> str:
    if expression := said.get("License-Expression"):
        return str(expression)
    named = [one.removeprefix(_CLASSIFIER) for one in said.get_all("Classifier", ()) if one.startswith(_CLASSIFIER)]
    return " AND ".join(named) or str(said.get("License") or "").strip().partition("\n")[0]


def forbidden(found: Mapping[str, str]) -> dict[str, str]:
    """The parts that are not given under terms that are allowed."""
    return {name: terms for name, terms in found.items() if not ALLOWED.search(terms)}


def of_an_installation() -> set[str]:
    """The names of all that an installation needs, by the metadata of what is installed here."""
    ours = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*ours["dependencies"], *(one for extra in EXTRAS for one in ours["optional-dependencies"][extra])]
    locked = {canonicalize_name(one.requirement.name) for one in read_lock(LOCK.read_text(encoding="utf-8"))}
    found: set[str] = set()
    wanted = [Requirement(one) for one in asked]
    while wanted:
        one = wanted.pop()
        name = canonicalize_name(one.name)
        # What one asks for with an extra may have been found without it.
        if name not in locked or {name, *(f"{name}[{extra}]" for extra in one.extras)} <= found:
            continue
        try:
            needs = [Requirement(text) for text in metadata.requires(name) or ()]
        except metadata.PackageNotFoundError:
            continue  # not of this machine
        found |= {name, *(f"{name}[{extra}]" for extra in one.extras)}
        wanted += [need for need in needs if any(_needed(need, extra) for extra in ("", *one.extras))]
    return {name for name in found if "[" not in name}


def _needed(need: Requirement, extra: str) -> bool:
    return need.marker is None or need.marker.evaluate({"extra": extra})


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=SECONDS)


def main(arguments: Sequence[str], uv: Sequence[str] = (sys.executable, "-m", "uv")) -> int:
    """One command; the exit code."""
    match list(arguments):
        case ["licences"]:
            found = {name: terms for name, terms in sorted(licences().items()) if name in of_an_installation()}
            for name, terms in found.items():
                print(f"{name:32} {terms or 'NOT SAID'}")
            return 1 if forbidden(found) else 0
        case ["sbom", name]:
            return _with_project(uv, lambda folder: _written(Path(name), sbom(folder, uv)))
        case ["audit"]:
            return _with_project(uv, lambda folder: _audited(folder, uv))
    print(__doc__, file=sys.stderr)
    return 2


def _with_project(uv: Sequence[str], work: Any) -> int:
    try:
        with project(uv) as folder:
            return int(work(folder))
    except IndexUnread as error:
        print(f"supply: NOT CHECKED, the package index was not read: {error}", file=sys.stderr)
        return UNREAD
    except Differs as error:
        print(f"supply: {error}", file=sys.stderr)
        return 1


def _written(path: Path, document: Mapping[str, Any]) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{path}: {len(document['components'])} parts")
    return 0


def _audited(folder: Path, uv: Sequence[str]) -> int:
    """What OSV knows; the whole lock, for what tests run on a developer's machine is worth attacking, too."""
    done = _run([*uv, "audit", "--frozen", "--system-certs"], folder)
    if done.returncode and "error sending request" in done.stderr:
        print(f"supply: NOT CHECKED, OSV was not read: {done.stderr.strip()}", file=sys.stderr)
        return UNREAD
    print((done.stdout + done.stderr).strip())
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
