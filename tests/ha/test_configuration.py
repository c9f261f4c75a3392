"""The files with which a house survives a failure: what must not be changed in them is on the page, and the programs
that read them have nothing to say against them. The cluster itself is `make ha`."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from deploy.embedded.binaries import find_postgres
from deploy.processes import CHECKOUT
from tests.deploy.wheels import read_lock
from tests.ha import configuration, programs
from tests.services import free_port

PAGE = CHECKOUT / "docs" / "how-to" / "survive-a-failure.md"


def settings(read: Any) -> Iterator[str]:
    """Every `name: value` of Patroni's file, and every word of a list."""
    if isinstance(read, dict):
        for name, value in read.items():
            if isinstance(value, (dict, list)):
                yield from settings(value)
            else:
                yield f"{name}: {str(value).lower() if isinstance(value, bool) else value}"
    else:
        for one in read:
            yield from settings(one) if isinstance(one, dict) else [str(one)]


def promised(where: str) -> list[str]:
    """What the page says must not be changed there."""
    table = PAGE.read_text(encoding="utf-8").partition("## What must not be changed")[2].partition("\n## ")[0]
    found, at = [], ""
    for first, second in re.findall(r"^\| ([\w ]*?) ?\| (.+?) \| .+ \|$", table, re.MULTILINE):
        at = first or at
        if at == where:
            found += re.findall(r"`([^`]+)`", second)
    return found


def test_patroni_has_what_the_page_says_must_not_be_changed() -> None:
    read = configuration.patroni()
    dcs = list(settings(read["bootstrap"]))
    wanted = promised("Patroni") + promised("PostgreSQL")
    assert len(wanted) == 12
    assert [one for one in wanted if one not in dcs] == []
    # Nothing of the machine's own part puts a limit of the cluster's aside.
    assert "parameters" not in read["postgresql"]
    leader = read["bootstrap"]["dcs"]
    assert leader["loop_wait"] + 2 * leader["retry_timeout"] <= leader["ttl"]
    assert read["watchdog"]["mode"] == "required"


def test_haproxy_has_what_the_page_says_must_not_be_changed() -> None:
    text = configuration.HAPROXY.read_text(encoding="utf-8")
    wanted = promised("haproxy")
    assert len(wanted) == 3
    assert [one for one in wanted if one not in text] == []
    assert len(re.findall(r"^    server db\d [\d.]+:5432 .*\bcheck port 8008$", text, re.MULTILINE)) == 3


def test_all_files_name_the_same_machines() -> None:
    read, page = configuration.patroni(), PAGE.read_text(encoding="utf-8")
    assert read["etcd3"]["hosts"] == [f"{machine}:2379" for machine in configuration.MACHINES]
    assert all(f"=http://{machine}:2380" in page for machine in configuration.MACHINES)
    assert all(f"{machine}:5432" in configuration.HAPROXY.read_text() for machine in configuration.MACHINES)


def test_addresses_of_the_page_lead_to_a_primary_through_haproxy() -> None:
    [url] = re.findall(r"^ *(postgresql://\S+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    [bound] = re.findall(r"^listen primary\n    bind (\S+)$", configuration.HAPROXY.read_text(), re.MULTILINE)
    assert f"@{bound}/" in url
    assert url.endswith(promised("addresses")[0])


def test_what_patroni_needs_is_locked_with_hashes() -> None:
    folder = configuration.PATRONI.parent
    wanted = [Requirement(line) for line in (folder / "requirements.in").read_text().splitlines()]
    locked = {one.requirement.name: one for one in read_lock(programs.LOCK_FILE.read_text(encoding="utf-8"))}
    assert {one.name for one in wanted} <= locked.keys()
    assert all(one.hashes and one.version for one in locked.values())
    assert [one for one in wanted if not one.specifier.contains(locked[one.name].version)] == []


def test_systemd_takes_patronis_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("this machine has no systemd-analyze")
    text = (configuration.PATRONI.parent / "patroni.service").read_text(encoding="utf-8")
    for old, new in (("/opt/patroni/bin/patroni", sys.executable), ("/srv/cukassza", str(CHECKOUT))):
        assert old in text
        text = text.replace(old, new)
    unit = tmp_path / "patroni.service"
    unit.write_text(text, encoding="utf-8")
    # It ends with 0 also where it does not know a key: nothing may be printed.
    said = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")


@pytest.mark.slow
def test_haproxy_takes_the_configuration(tmp_path: Path) -> None:
    try:
        program, environ = programs.haproxy()
    except programs.Missing as error:
        pytest.skip(str(error))
    for name, text in (
        ("as it is", configuration.HAPROXY.read_text(encoding="utf-8")),
        ("of a trial", configuration.haproxy(1, 2, [(3, 4), (5, 6), (7, 8)])),
    ):
        file = tmp_path / "haproxy.cfg"
        file.write_text(text)
        done = subprocess.run([program, "-c", "-f", file], env=environ, capture_output=True, text=True, check=False)
        # A warning is a fault, too: haproxy ends with 0 all the same.
        assert (done.returncode, done.stderr) == (0, ""), name


@pytest.mark.slow
def test_patroni_takes_the_configuration(tmp_path: Path) -> None:
    try:
        program = programs.patroni() / "patroni"
    except programs.Missing as error:
        pytest.skip(str(error))
    made = configuration.member(
        "db1", folder=tmp_path, programs=find_postgres().bin, database=free_port(), rest=free_port(),
        etcd=[free_port()], password="a" * 32, synchronous=True,
    )  # fmt: skip
    file = tmp_path / "patroni.yml"
    file.write_text(yaml.safe_dump(made))
    done = subprocess.run([program, "--validate-config", file], capture_output=True, text=True, check=False)
    # No etcd runs, and members of a cluster are not on one machine, but for those of a trial.
    known = ("etcd3.hosts", "restapi.connect_address 127.0.0.1", "postgresql.connect_address 127.0.0.1")
    said = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith(known)]
    assert said == []
