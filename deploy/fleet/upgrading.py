"""An upgrade while the house plays: the new schema first, then one process after another.

The code of the new version is in its place already; the processes still run the old one. The old version bears the new
schema (`casino/release.toml`), so play goes on at every moment, and an upgrade that stops half-way may stay there: each
step says what stands where when it fails.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from deploy.fleet import asking
from deploy.fleet.stacks import FleetError, Stack, Upgrade

#: Seconds within which a stack is ready again after one of its processes was restarted.
PATIENCE = 120.0
#: Seconds between two questions.
PAUSE = 0.5
#: Findings of the doctor that an upgrade is for: the new code finds the old schema.
EXPECTED = frozenset({"migrations_missing"})
#: The level of a finding with which no house may play.
FAILURE = "failure"


class NotUpgraded(Exception):
    """A step has failed; the message is for a person."""


@dataclass
class Progress:
    """What was done in a stack, for the words of a failure."""

    stack: Stack
    plan: Upgrade
    migrated: bool = False
    restarted: list[str] = field(default_factory=list)

    def where(self) -> str:
        """What stands where, and the ways on and back."""
        if not self.migrated:
            return "Nothing was changed: processes and schema are those of before. Upgrade again when it is put right."
        rest = [" ".join(one) for one in self.plan.restart if " ".join(one) not in self.restarted]
        lines = [
            "The schema is the new one, or a part of it, and the old version bears it: play goes on.",
            f"Restarted: {_listed(self.restarted)}. Still of the old version: {_listed(rest)}.",
            "On: put it right and upgrade again. Back: lay the old code in its place and the new one beside it, name "
            "that in CASINO_NEWER_RELEASE, restart the processes; the schema stays (docs/how-to/upgrade.md).",
        ]
        return "\n".join(lines)


def upgrade(found: Sequence[Stack]) -> int:
    """Upgrade stacks in the order of the file; it stops at the first that fails. 0, or 1 with what stands where.

    Raises FleetError for a stack whose section does not say how.
    """
    planned = [Progress(stack, _plan(stack)) for stack in found]
    for number, progress in enumerate(planned):
        stack = progress.stack
        print(f"--- {stack.name}", flush=True)
        try:
            _upgrade(progress)
        except NotUpgraded as error:
            print(f"fleet: {stack.name}: {error}\n{progress.where()}", file=sys.stderr)
            print(f"fleet: not upgraded: {_listed([one.name for one in found[number:]])}", file=sys.stderr)
            return 1
    return 0


def _plan(stack: Stack) -> Upgrade:
    if stack.upgrade is None:
        raise FleetError(f"stack {stack.name}: [stacks.{stack.name}.upgrade] does not say how")
    return stack.upgrade


def _upgrade(progress: Progress) -> None:
    stack, plan = progress.stack, progress.plan
    _ready(stack, "before the upgrade", seconds=PAUSE)
    wanted = _said(stack, "release", "--version-only").strip()
    print(f"to version {wanted}", flush=True)
    _doctor(stack)
    if plan.backup is not None:
        _run("backup", plan.backup)
    # From here on a part of the schema may be new, also where the command fails.
    progress.migrated = True
    _run("migrate", plan.migrate)
    for command in plan.restart:
        _run("restart", command)
        progress.restarted.append(" ".join(command))
        _ready(stack, f"after {' '.join(command)}")
    _one_version(stack, wanted)
    _run("verify", (*stack.command, "verify_house"), quiet=True)
    print(f"{stack.name} is at {wanted}: ready, and every house verified", flush=True)


def _doctor(stack: Stack) -> None:
    """Nothing is to be wrong but that migrations are missing. Raises NotUpgraded."""
    print("doctor", flush=True)
    try:
        found = json.loads(_output((*stack.command, "doctor", "--json"), fails=True))
        wrong = [one for one in found if one["level"] == FAILURE and one["code"] not in EXPECTED]
    except (ValueError, KeyError, TypeError) as error:
        raise NotUpgraded(f"the doctor does not say what is wrong: {error}") from error
    if wrong:
        said = "; ".join(f"{one['words']} [{one['code']}]" for one in wrong)
        raise NotUpgraded(f"the doctor finds: {said}")


def _one_version(stack: Stack, wanted: str) -> None:
    """The web answers as the new version does. Raises NotUpgraded."""
    if stack.token_file is None:
        print("which version answers is not known: there is no token_file", flush=True)
        return
    found: tuple[str, ...] = ()

    def there() -> bool:
        nonlocal found
        found = asking.health(stack).versions
        return found == (wanted,)

    if not _until(there, PATIENCE):
        raise NotUpgraded(f"version {wanted} is installed, and {_listed(found)} answers")


def _ready(stack: Stack, when: str, seconds: float = PATIENCE) -> None:
    """Wait until the stack is ready. Raises NotUpgraded."""
    problems: tuple[str, ...] = ()

    def there() -> bool:
        nonlocal problems
        health = asking.health(stack)
        problems = health.problems
        return health.ready

    if not _until(there, seconds):
        raise NotUpgraded(f"it is not ready {when}: {'; '.join(problems)}")


def _until(there: Callable[[], bool], seconds: float) -> bool:
    """Ask until it is so, or so many seconds are over."""
    deadline = time.monotonic() + seconds
    while not there():
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE)
    return True


def _run(step: str, command: Sequence[str], *, quiet: bool = False) -> None:
    """Run a step; its output goes where ours goes. Raises NotUpgraded."""
    print(f"{step}: {' '.join(command)}", flush=True)
    try:
        out = subprocess.DEVNULL if quiet else None
        code = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=out).returncode
    except OSError as error:
        raise NotUpgraded(f"{step}: {error}") from error
    if code:
        raise NotUpgraded(f"{step} ended with {code}: {' '.join(command)}")


def _said(stack: Stack, *words: str) -> str:
    return _output((*stack.command, *words))


def _output(command: Sequence[str], *, fails: bool = False) -> str:
    """What a command prints; it may end with another code than 0 if it `fails` by its nature. Raises NotUpgraded."""
    try:
        done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError as error:
        raise NotUpgraded(f"{' '.join(command)}: {error}") from error
    if done.returncode and not fails:
        raise NotUpgraded(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
