"""docs/how-to/runbooks.md is true: the alerts, commands, units and tests that it names are there. What its commands do
is tried by `make runbooks`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands

from deploy.processes import CHECKOUT
from tests.runbooks import page

RULES = CHECKOUT / "deploy" / "prometheus" / "rules.yml"
UNITS = CHECKOUT / "deploy" / "systemd"
#: Programs of others that the page has.
OTHERS = {
    "patronictl", "etcdctl", "df", "du", "cp", "install", "journalctl", "systemctl", "timedatectl", "nginx", "openssl",
    "psql", "pg_dumpall", "pg_dump", "createdb", "pg_restore", "python3",
}  # fmt: skip
#: Units that are not ours.
OTHER_UNITS = {"patroni", "etcd", "postgresql", "valkey-server", "pgbouncer", "nginx", "systemd-timesyncd"}
#: Alerts that wake somebody and have their words in the table of docs/how-to/watch.md alone.
OF_PLAY = {
    "HandDisputed", "ServerErrors", "OutcomeUnknown", "ActionsSlow", "WebDown", "BackupOld", "RestoreDrillOld",
    "RestoreDrillFailed", "PasskeyCloned",
}  # fmt: skip


def alerts() -> dict[str, str]:
    """Every alert, and how urgent it is."""
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return {rule["alert"]: rule["labels"]["severity"] for group in groups for rule in group["rules"]}


def lines() -> list[str]:
    return [line for heading in page.sections() for line in page.commands(heading)]


def test_every_section_is_in_the_table_and_says_what_each_must_say() -> None:
    assert [row.heading for row in page.rows()] == list(page.sections())
    assert len(page.rows()) == 18
    for heading, section in page.sections().items():
        if heading == "Key lost":
            assert "**Over when**" in section
            continue
        for said in ("**Who says so**", "**Safe meanwhile**", "**Over when**"):
            assert said in section, (heading, said)


def test_the_alerts_exist_and_each_that_wakes_somebody_has_a_runbook() -> None:
    named = {alert for row in page.rows() for alert in row.alerts}
    assert named <= alerts().keys()
    assert {name for name, severity in alerts().items() if severity == "page"} - named == OF_PLAY
    for row in page.rows():
        assert row.alerts or row.heading == "New hardware", row


def test_what_tries_them_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):.*?##", (CHECKOUT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for row in page.rows():
        for one in row.tried:
            if one.startswith("make "):
                assert one.removeprefix("make ") in targets, one
            else:
                path, name = one.split("::")
                assert re.search(rf"^def {name}\(", (CHECKOUT / path).read_text(encoding="utf-8"), re.MULTILINE), one


def test_trials_are_those_that_the_table_names() -> None:
    from tests.runbooks import trials

    named = {row.heading: row.tried for row in page.rows()}
    tried = {heading: [f"tests/runbooks/trials.py::{trial.__name__}"] for heading, trial in trials.ALL.items()}
    assert {heading: found for heading, found in named.items() if "runbooks" in "".join(found)} == tried


def test_the_commands_exist() -> None:
    known = get_commands()
    ours = {path.name.removesuffix(".service").replace("@", "@*") for path in UNITS.glob("*.service")}
    ours |= {"cukassza.target"}
    assert len(lines()) > 40
    for line in lines():
        for part in line.split(" | "):
            found = [word for word in page.words(part) if "=" not in word or word.startswith("-")]
            if found[0] == "manage.py":
                assert found[1] in known, line
            else:
                assert found[0] in OTHERS, line
            if found[0] == "systemctl":
                assert set(found[2:]) <= ours | OTHER_UNITS, line


@pytest.mark.slow
@pytest.mark.long
def test_the_commands_do_what_the_page_says(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.runbooks"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
