"""The units of systemd: they run what `deploy.processes` runs, systemd has nothing to say against them, and keys are
where they belong."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from casino.configuration import declared
from deploy.processes import CHECKOUT, PRIVATE, application, listen

UNITS = CHECKOUT / "deploy" / "systemd"
PLACE = "/srv/cukassza"
#: systemd's own measure of what a unit may do, from 0 (nothing) to 10; 2.0 is the most that is let pass.
EXPOSURE = 2.0
#: Which unit runs which program, where not by its name.
NAMES = {"worker": "worker@", "worker-2": "worker@", "worker-files": "files"}
#: What runs once and ends.
ONCE = {"migrate", "backup", "restore-drill", "verify", "archive"}
#: What is the supervisor's own way: it holds the socket itself, knows the cores, and names places of this machine.
_OWN = re.compile(r" --bind fd://\d+| --workers \d+ --threads \d+| --worker-tmp-dir \S+| --hostname \S+")


def unit(name: str) -> str:
    return (UNITS / f"cukassza-{name}.service").read_text(encoding="utf-8")


def started(name: str) -> str:
    """What a unit starts, without the path of its Python."""
    [command] = re.findall(r"^ExecStart=(.*)$", unit(name), re.MULTILINE)
    return command.replace("%%", "%")


def same(command: str) -> str:
    return _OWN.sub("", command)


def test_units_start_what_the_supervisor_starts() -> None:
    with listen(0) as listener:
        programs = application(listener)
    assert {NAMES.get(one.name, one.name) for one in programs} == {
        path.stem.removeprefix("cukassza-") for path in UNITS.glob("*.service")
    } - ONCE
    for one in programs:
        there = shlex.join(one.command[1:]).replace(str(CHECKOUT), PLACE)
        assert same(started(NAMES.get(one.name, one.name))) == same(f"{PLACE}/.venv/bin/python {there}"), one.name


@pytest.mark.parametrize("path", sorted(UNITS.glob("*.service")), ids=lambda path: path.stem)
def test_a_unit_that_is_always_started_again_is_never_given_up(path: Path) -> None:
    """By default systemd gives up what has ended five times within ten seconds, and then nothing starts it any more."""
    text = path.read_text(encoding="utf-8")
    of_unit = text.partition("[Service]")[0]
    assert ("Restart=always" in text) == ("StartLimitIntervalSec=0" in of_unit)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The units as they would be installed for this checkout."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("this machine has no systemd-analyze")
    folder = tmp_path_factory.mktemp("units")
    for path in UNITS.iterdir():
        text = path.read_text(encoding="utf-8").replace(PLACE, str(CHECKOUT))
        (folder / path.name.replace("@", "@1")).write_text(text, encoding="utf-8")
    return folder


def test_systemd_has_nothing_to_say_against_them(installed: Path) -> None:
    """It ends with 0 also where it does not know a key: nothing may be printed."""
    files = sorted(map(str, installed.iterdir()))
    said = subprocess.run(["systemd-analyze", "verify", *files], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")


def test_no_unit_may_do_much(installed: Path) -> None:
    for path in sorted(installed.glob("*.service")):
        command = ["systemd-analyze", "security", "--offline=true", str(path)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", said)
        assert found is not None and float(found[1]) <= EXPOSURE, (path.name, found and found[1])


def test_units_read_one_file_and_the_web_alone_adds_up_what_it_counts() -> None:
    """A variable in a unit would count more than what the operator writes into the file."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in UNITS.glob("*.service")}
    named = {name: re.findall(r"^Environment=(.*)$", text, re.MULTILINE) for name, text in texts.items()}
    assert {name: found for name, found in named.items() if found} == {
        "cukassza-web": ["CASINO_METRICS_DIR=/run/cukassza/metrics"]
    }
    assert not [path for path in UNITS.glob("*.service") if "EnvironmentFile" in path.read_text()]
    written = tomllib.loads((CHECKOUT / "deploy" / "cukassza.toml").read_text(encoding="utf-8"))
    assert written["logging"] == {"format": "json"}
    assert written["streams"]["socket"].startswith("/run/cukassza/")
    assert written["checkpoints"]["folders"] == ["/var/lib/cukassza/checkpoints"]


def test_no_unit_sees_how_the_checkout_came_to_be() -> None:
    """History, addresses and perhaps passwords of a clone stand in its `.git`."""
    assert all(f"\nInaccessiblePaths=-{PLACE}/.git\n" in path.read_text() for path in UNITS.glob("*.service"))


def test_each_key_is_known_to_one_unit_alone() -> None:
    given = {path.stem: re.findall(r"^LoadCredential=(\w+):/etc/cukassza/private/\1$", path.read_text(), re.M)
             for path in UNITS.glob("*.service")}  # fmt: skip
    assert {name: found for name, found in given.items() if found} == {
        "cukassza-migrate": ["database_owner_url"],
        "cukassza-sequencer": ["log_key", "database_sequencer_url"],
    }
    private = {one.field for one in declared() if one.private}
    # The old log key is there while it is rotated (docs/how-to/keys.md).
    assert {field for found in given.values() for field in found} == private - {"log_key_old"}
    assert {f"{one.name}{suffix}" for one in declared() if one.private for suffix in ("", "_FILE")} == PRIVATE


def test_houses_are_verified_each_day_and_marks_are_read_where_reports_are_made() -> None:
    assert started("verify").endswith("manage.py verify_house --from-mark --keep-mark --whole-after 6.5")
    assert "Persistent=yes" in (UNITS / "cukassza-verify.timer").read_text(encoding="utf-8")
    written = tomllib.loads((CHECKOUT / "deploy" / "cukassza.toml").read_text(encoding="utf-8"))
    assert written["checkpoints"]["marks"] == "/var/lib/cukassza/marks"


def test_closed_months_are_archived_by_themselves_into_a_folder_that_every_process_reads() -> None:
    assert started("archive").endswith("manage.py archive")
    assert "Persistent=yes" in (UNITS / "cukassza-archive.timer").read_text(encoding="utf-8")
    written = tomllib.loads((CHECKOUT / "deploy" / "cukassza.toml").read_text(encoding="utf-8"))
    assert written["checkpoints"]["archives"] == ["/var/lib/cukassza/archives"]


def test_backups_and_drills_are_timed_and_noted_where_the_web_reads_them() -> None:
    """Both write to one folder through a group; what they run is there."""
    for name, command in (("backup", "back-up"), ("restore-drill", "drill")):
        assert f" -m deploy.backups {command}" in started(name)
        timer = (UNITS / f"cukassza-{name}.timer").read_text(encoding="utf-8")
        assert "Persistent=yes" in timer and "WantedBy=timers.target" in timer
    written = tomllib.loads((CHECKOUT / "deploy" / "cukassza.toml").read_text(encoding="utf-8"))
    assert written["backups"] == {"records": "/var/lib/cukassza-backups"}
    assert "Group=postgres" in unit("backup") and "SupplementaryGroups=postgres" in unit("restore-drill")
    assert "StateDirectoryMode=0775" in unit("backup")
    assert "ReadOnlyPaths=-/var/lib/cukassza " in unit("restore-drill"), "a drill changes nothing of the house"
