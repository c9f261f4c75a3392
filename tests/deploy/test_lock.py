"""The lock, the Makefile and the project name the same Pythons, and the lock holds for all of them. No network."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.deploy import wheels
from tests.deploy.wheels import CHECKOUT, LOCK, MACHINES, Locked, Machine, missing, pythons, read_lock

LINUX, ARM, MAC, INTEL = MACHINES
EVERYWHERE = [(python, machine) for python in pythons() for machine in MACHINES]


def locked(text: str, *digests: str) -> Locked:
    """An entry of a lock."""
    return Locked(Requirement(text), frozenset(digests))


@pytest.fixture(scope="module")
def lock() -> list[Locked]:
    return read_lock(LOCK.read_text(encoding="utf-8"))


def test_project_makefile_and_readme_name_the_same_pythons() -> None:
    assert pythons() == ["3.11", "3.12", "3.13", "3.14"]
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    [named] = re.findall(r"^PYTHONS := (.*)$", makefile, re.MULTILINE)
    assert named.split() == pythons()
    assert "Python 3.11 to 3.14" in makefile
    assert "Python 3.11 to 3.14" in (CHECKOUT / "README.md").read_text(encoding="utf-8")


def test_every_entry_is_one_version_with_hashes(lock: list[Locked]) -> None:
    assert len(lock) > 90
    for one in lock:
        assert one.version
        assert one.hashes, one.requirement
    assert len(re.findall("--hash=", LOCK.read_text(encoding="utf-8"))) == sum(len(one.hashes) for one in lock)


@pytest.mark.parametrize(("python", "machine"), EVERYWHERE, ids=lambda value: getattr(value, "name", value))
def test_the_lock_has_one_version_of_all_that_the_project_asks_for(
    lock: list[Locked], python: str, machine: Machine
) -> None:
    environment = machine.environment(python)
    there = [one for one in lock if one.wanted(environment)]
    versions = {canonicalize_name(one.requirement.name): one.version for one in there}
    assert len(versions) == len(there), "two versions of one package"
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    asked = [Requirement(text) for some in (project["dependencies"], *extras) for text in some]
    wrong = [one for one in asked if not one.specifier.contains(versions[canonicalize_name(one.name)])]
    assert wrong == []


@pytest.mark.parametrize(
    ("file", "fits"),
    [
        ("x-1-py3-none-any.whl", "LAMI"),
        ("x-1-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "L"),
        ("x-1-cp313-cp313-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl", "A"),
        ("x-1-cp313-cp313-manylinux_2_34_x86_64.whl", ""),
        ("x-1-cp313-cp313-musllinux_1_2_x86_64.whl", ""),
        ("x-1-cp313-cp313t-manylinux_2_28_x86_64.whl", ""),
        ("x-1-cp312-cp312-manylinux_2_28_x86_64.whl", ""),
        ("x-1-cp311-abi3-macosx_10_9_universal2.whl", "MI"),
        ("x-1-cp311-abi3-macosx_11_0_arm64.whl", "M"),
        ("x-1-cp313-cp313-macosx_14_0_arm64.whl", ""),
        ("x-1-cp313-cp313-macosx_10_13_x86_64.whl", "I"),
        ("x-1-py3-none-win_amd64.whl", ""),
    ],
)
def test_a_wheel_fits_the_machines_that_its_name_says(file: str, fits: str) -> None:
    files = {("x", "1"): {"abc": file}}
    found = "".join(
        letter
        for letter, machine in zip("LAMI", MACHINES, strict=True)
        if not list(missing([locked("x==1", "abc")], files, "3.13", machine))
    )
    assert found == fits


def test_a_wheel_counts_only_if_its_hash_is_locked() -> None:
    files = {("x", "1"): {"abc": "x-1-py3-none-any.whl", "def": "x-1-cp314-cp314-manylinux_2_28_x86_64.whl"}}
    assert list(missing([locked("x==1", "fff")], files, "3.14", LINUX)) == ["x==1: its wheel's hash is not locked"]
    assert list(missing([locked("x==1", "def")], files, "3.14", LINUX)) == []
    assert list(missing([locked("x==1", "def")], files, "3.14", MAC)) == ["x==1: its wheel's hash is not locked"]
    assert list(missing([locked("x==1", "def")], {("x", "1"): {}}, "3.14", MAC)) == ["x==1: no wheel"]


def test_what_is_not_installed_on_a_machine_needs_no_wheel_there() -> None:
    one = locked("x==1; sys_platform == 'darwin' and platform_machine == 'x86_64'", "abc")
    files: dict[tuple[str, str], dict[str, str]] = {("x", "1"): {}}
    assert [machine for machine in MACHINES if list(missing([one], files, "3.12", machine))] == [INTEL]


def test_an_index_that_does_not_answer_is_distinguished_from_a_wheel_that_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    silent = tmp_path / "uv"
    silent.write_text("#!/bin/sh\necho 'no route to the index' >&2\nexit 2\n")
    silent.chmod(0o755)
    assert wheels.main("x==1 \\\n    --hash=sha256:" + 64 * "0", uv=[str(silent)]) == wheels.UNREAD
    assert "no route to the index" in capsys.readouterr().err


# --- The Makefile ---------------------------------------------------------------------------------------------------


def python_named(tmp_path: Path, name: str, version: str, *, venv: bool = True) -> None:
    """A program that answers the Makefile's question as a Python of this version would, with or without venv."""
    program = tmp_path / name
    answer = "exit 1" if not venv else f'shift 2; for one in "$@"; do [ "$one" = {version} ] && exit 0; done; exit 1'
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(0o755)


def chosen(tmp_path: Path) -> str:
    """What the Makefile takes when only these programs, and what it needs itself, are found by their names."""
    text = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    # Pythons in fixed places are this machine's own.
    text = re.sub(r" /(usr|usr/local|opt/homebrew)/bin/\$\$name", "", text)
    (tmp_path / "Makefile").write_text(f"{text}\nprint-python:\n\t@echo '$(PYTHON)'\n", encoding="utf-8")
    done = subprocess.run(
        ["make", "-s", "-C", str(tmp_path), "print-python"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_the_makefile_takes_any_suitable_python(tmp_path: Path) -> None:
    for version in pythons():
        python_named(tmp_path, f"python{version}", "none", venv=False)
    python_named(tmp_path, "python3", "3.10")
    assert chosen(tmp_path) == ""
    python_named(tmp_path, "python3", "3.13")
    assert chosen(tmp_path) == "python3"
    python_named(tmp_path, "python3.14", "3.14")
    assert chosen(tmp_path) == "python3.14"
    python_named(tmp_path, "python3.12", "3.12")
    assert chosen(tmp_path) == "python3.12"
