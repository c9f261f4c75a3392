"""The steps of an upgrade, with commands of the test's own: their order, and what is said where one fails."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from deploy.fleet import stacks, upgrading
from deploy.fleet.__main__ import main
from deploy.fleet.stacks import FleetError
from deploy.processes import CHECKOUT
from tests.deploy.test_fleet import EXAMPLE, METRICS, READY, _Web, web, written

__all__ = ["web"]
Captured = pytest.CaptureFixture[str]
#: Notes its words, and says what a file of the name of its first word has.
PROGRAM = """
import pathlib, sys
folder = pathlib.Path(__file__).parent
with (folder / "noted").open("a") as noted:
    noted.write(" ".join(sys.argv[1:]) + "\\n")
answer = folder / sys.argv[1]
code, _, text = (answer.read_text() if answer.exists() else "0 ").partition(" ")
print(text)
sys.exit(int(code))
"""
STEPS = [
    "release --version-only", "doctor --json", "backup", "migrate --database owner --no-input", "restart web",
    "restart worker", "verify_house",
]  # fmt: skip


@pytest.fixture
def fleet(tmp_path: Path, web: int, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a stack that is ready, at version 1.2, and whose commands note themselves."""
    monkeypatch.setattr(upgrading, "PATIENCE", 0.3)
    monkeypatch.setattr(upgrading, "PAUSE", 0.05)
    program, token = tmp_path / "manage", tmp_path / "token"
    program.write_text(f"#!{sys.executable}\n{PROGRAM}")
    program.chmod(0o755)
    token.write_text("secret")
    _Web.answers = {"/readyz": READY, "/metrics": (200, METRICS)}
    says(tmp_path, "release", "1.2")
    says(tmp_path, "doctor", json.dumps([{"level": "failure", "code": "migrations_missing", "words": "2 are missing"}]))
    more = (
        f'token_file = "{token}"\n[stacks.ace.upgrade]\nbackup = ["{program}", "backup"]\n'
        f'restart = [["{program}", "restart", "web"], ["{program}", "restart", "worker"]]\n'
    )
    return written(tmp_path, "ace", more=more, command=f'"{program}"', port=web)


def says(folder: Path, word: str, text: str = "", code: int = 0) -> None:
    """Let a command answer so."""
    (folder / word).write_text(f"{code} {text}")


def noted(fleet: Path) -> list[str]:
    """The commands that were run."""
    return (fleet.parent / "noted").read_text().splitlines()


def test_the_steps_are_done_in_this_order(fleet: Path, capfd: Captured) -> None:
    assert main([str(fleet), "upgrade"]) == 0
    assert noted(fleet) == STEPS
    said = capfd.readouterr().out
    assert "to version 1.2" in said and "ace is at 1.2: ready, and every house verified" in said


@pytest.mark.parametrize(
    ("word", "text", "code", "steps", "said"),
    [
        ("release", "", 1, 1, "release --version-only ended with 1"),
        ("doctor", "no JSON", 0, 2, "the doctor does not say what is wrong"),
        (
            "doctor",
            json.dumps([{"level": "failure", "code": "guards_off", "words": "Off"}]),
            2,
            2,
            "the doctor finds: Off [guards_off]",
        ),
        ("backup", "", 2, 3, "backup ended with 2"),
    ],
)
def test_before_the_schema_nothing_was_changed(
    fleet: Path, word: str, text: str, code: int, steps: int, said: str, capfd: Captured
) -> None:
    says(fleet.parent, word, text, code)
    assert main([str(fleet), "upgrade"]) == 1
    assert noted(fleet) == STEPS[:steps]
    error = capfd.readouterr().err
    assert said in error and "Nothing was changed" in error and "not upgraded: ace" in error


@pytest.mark.parametrize(
    ("word", "steps", "said", "restarted"),
    [
        ("migrate", 4, "migrate ended with 1", "Restarted: none."),
        ("restart", 5, "restart ended with 1", "Restarted: none."),
        ("verify_house", 7, "verify ended with 1", "Still of the old version: none."),
    ],
)
def test_after_the_schema_it_is_said_what_stands_where(
    fleet: Path, word: str, steps: int, said: str, restarted: str, capfd: Captured
) -> None:
    says(fleet.parent, word, code=1)
    assert main([str(fleet), "upgrade", "--only", "ace"]) == 1
    assert noted(fleet) == STEPS[:steps]
    error = capfd.readouterr().err
    assert said in error and restarted in error and "CASINO_NEWER_RELEASE" in error and "play goes on" in error


def test_a_stack_that_is_not_ready_is_not_begun(fleet: Path, capfd: Captured) -> None:
    failed = json.dumps({"failed": [{"check": "worker"}]})
    _Web.answers["/readyz"] = 503, failed
    assert main([str(fleet), "upgrade"]) == 1
    assert "it is not ready before the upgrade: not ready: worker" in capfd.readouterr().err
    assert not (fleet.parent / "noted").exists()


def test_another_version_than_the_installed_one_is_found(fleet: Path, capfd: Captured) -> None:
    says(fleet.parent, "release", "1.3")
    assert main([str(fleet), "upgrade"]) == 1
    assert "version 1.3 is installed, and 1.2 answers" in capfd.readouterr().err


def test_a_stack_says_how_it_is_upgraded(tmp_path: Path, capfd: Captured) -> None:
    path = written(tmp_path, "ace", "bell", more='[stacks.bell.upgrade]\nrestart = [["true"]]\nmigrate = ["true"]\n')
    assert main([str(path), "upgrade"]) == 2
    assert "stack ace: [stacks.ace.upgrade] does not say how" in capfd.readouterr().err
    plan = stacks.read(path)[1].upgrade
    assert plan is not None and (plan.migrate, plan.backup) == (("true",), None)
    for wrong in ("restart = []", "restart = ['true']", "", "restart = [['true']]\nstop = ['true']"):
        with pytest.raises(FleetError, match=r"upgrade has|restart is a list"):
            stacks.read(written(tmp_path, "ace", more=f"[stacks.ace.upgrade]\n{wrong}\n"))


def test_the_example_restarts_every_unit_that_runs() -> None:
    """One that an upgrade forgot would go on with the old version."""
    plan = stacks.read(EXAMPLE)[0].upgrade
    assert plan is not None
    restarted = {command[-1].partition("@")[0] for command in plan.restart}
    units = (CHECKOUT / "deploy" / "systemd").glob("*.service")
    running = {one.stem.rstrip("@") for one in units if "Restart=always" in one.read_text(encoding="utf-8")}
    assert restarted == running
