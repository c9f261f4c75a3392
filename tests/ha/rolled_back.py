"""Without `synchronous_mode` a failover loses what was acknowledged. The house must notice, and stand still until two
people have done what docs/how-to/restore.md says, which is done here step by step."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deploy.demo.client import Terminal
from deploy.demo.logins import Login
from deploy.embedded.process import wait_until
from tests.ha.house import House

#: Findings that a loss explains; any other one means that something else has happened besides.
OF_A_LOSS = {"log_cut_off", "checkpoint_missing", "log_behind"}
REASON = "a failover without a synchronous standby"
#: Seconds within which every process has noticed, and within which the sequencer has signed again.
NOTICED = 60.0


class Unexpected(Exception):
    """A step of the page did not do what the page says; the message says which."""


def put_right(house: House, folder: Path) -> list[str]:
    """Steps 1 to 9, unattended; a sentence each. Raises Unexpected."""
    return [said for _, said in steps(house, folder, REASON)]


def steps(house: House, folder: Path, reason: str) -> Iterator[tuple[str, str]]:
    """Steps 1 to 9 of the page, one after the other: the name of each when it is done, and what is to be said of it.
    Raises Unexpected."""
    yield "1 look", _look(house)
    # One of a rehearsal, too, where it had an event in what is lost; nobody can sign in there, and it stays as it is.
    others = readiness(house)["read_only_house_count"] - 1
    # Step 2: nothing newer is to be had, or is wanted.
    copies = _copy(house, folder / "copies")
    yield "3 copy the files outside", f"3: {len(copies)} files are copied"
    yield "4 verify what is there", _verify(house, copies)
    unrecorded = folder / "before"
    _done(house.command("export_audit", house.credentials.house, str(unrecorded), "--unrecorded"), "step 4, the export")
    yield "4 export it, unrecorded", "4: what is there is exported"
    yield "5 two people open an epoch", _open_epoch(house, reason)
    # Step 6: nothing was revoked. Step 8 is for people.
    house.processes.wait_ready(f"{house.root}/readyz", seconds=NOTICED)
    if not wait_until(lambda: _writable(house, others), seconds=NOTICED):
        raise Unexpected(f"step 7: /readyz says {readiness(house)}")
    left = f", and read-only {others} house of a rehearsal" if others else ""
    yield "7 look again", f"7: /readyz says {readiness(house)['status']}{left}"
    _write(house)
    yield "7 sign in and write", "7: somebody has signed in and written"
    yield "9 export and verify with the old copy", _export(house, folder / "after", copies)


def readiness(house: House) -> dict[str, Any]:
    """What /readyz says."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{house.root}/readyz", timeout=10) as answer:
            found: dict[str, Any] = json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            found = json.load(error)
    return found


def _look(house: House) -> str:
    if not wait_until(lambda: readiness(house)["status"] == "read_only", seconds=NOTICED):
        raise Unexpected(f"step 1: /readyz says {readiness(house)}")
    status, answer = _sign_in(house, house.credentials.auditor)
    if (status, answer.get("code")) != (503, "log_rolled_back"):
        raise Unexpected(f"step 1: who signs in, which is an event, gets {status} {answer}")
    return f"1: /readyz says read_only, and a sign-in {status} {answer['code']}: {answer['detail']}"


def _sign_in(house: House, login: Login) -> tuple[int, dict[str, Any]]:
    """What somebody gets who signs in, asked once: a terminal would ask again for a minute."""
    form = {name: getattr(login, name) for name in ("login", "password", "terminal", "terminal_key")}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{house.root}/api/v1/sign-in", json.dumps(form).encode(), headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def _writable(house: House, others: int) -> bool:
    """Whether nothing is said of any house, but that so many others are read-only."""
    found = readiness(house)
    counts = {name: count for name, count in found.items() if name.endswith("_count")}
    wanted = ("read_only", {"read_only_house_count": others}) if others else ("ready", {})
    return (found["status"], counts) == wanted


def _copy(house: House, folder: Path) -> list[Path]:
    """Step 3: the checkpoints outside and their keys."""
    folder.mkdir()
    found = []
    for file in Path(house.environ["CASINO_CHECKPOINT_DIR"]).glob(f"{house.credentials.house}-????????.checkpoints"):
        shutil.copyfile(file.with_suffix(".vkey"), folder / file.with_suffix(".vkey").name)
        found.append(Path(shutil.copyfile(file, folder / file.name)))
    if not found:
        raise Unexpected("step 3: there is no file outside")
    return found


def _verify(house: House, copies: list[Path]) -> str:
    """Step 4."""
    [copy] = copies
    words = ("--checkpoints", str(copy), "--key", str(copy.with_suffix(".vkey")), "--json")
    done = house.command("verify_audit", house.credentials.house, *words)
    findings = Counter(one["code"] for one in json.loads(done.stdout)["findings"])
    if done.returncode != 1 or not findings.keys() <= OF_A_LOSS or "log_cut_off" not in findings:
        raise Unexpected(f"step 4: verify_audit ended with {done.returncode}: {findings} {done.stderr[-300:]}")
    return f"4: verify_audit finds {', '.join(f'{count} x {code}' for code, count in sorted(findings.items()))}"


def _open_epoch(house: House, reason: str) -> str:
    """Step 5."""
    people = (house.credentials.auditor, house.credentials.admin)
    typed = "".join(f"{one.login}\n{one.password}\n" for one in people)
    done = house.command("open_epoch", house.credentials.house, "--reason", reason, typed=typed)
    _done(done, "step 5")
    return f"5: {done.stdout.strip().splitlines()[-1]}"


def _write(house: House) -> None:
    """Step 7: the house writes again, sign-ins among it."""
    with Terminal(house.root, house.credentials.cashier) as cashier:
        cashier.post("players/register", {"player": f"after-{int(time.time())}"}, version=None)


def _export(house: House, folder: Path, copies: list[Path]) -> str:
    """Step 9."""
    _done(house.command("export_audit", house.credentials.house, str(folder)), "step 9, the export")
    [copy] = copies
    command = [sys.executable, "-I", str(folder.parent / "verify.pyz"), str(folder), "--checkpoints", str(copy)]
    command += ["--key", str(copy.with_suffix(".vkey")), "--accept-epoch", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    _done(done, "step 9")
    [notice] = [line for line in done.stdout.splitlines() if "epoch 2 was opened by" in line]
    return f"9: {notice.strip()}"


def _done(done: subprocess.CompletedProcess[str], step: str) -> None:
    if done.returncode:
        raise Unexpected(f"{step}: ended with {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}")
