"""A house is founded, rehearsed by the operator, signed and live, and all but two commands of it is HTTP."""

import os
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from deploy.demo import evening
from deploy.demo.client import Refused, Terminal
from deploy.demo.evening import EveningError
from deploy.demo.logins import Credentials, saved
from deploy.demo.seed import found_house
from deploy.processes import Processes, address, application, listen
from tests.services import TestServices

#: A house of so many tables takes at most so many requests until it is live.
TABLES, MOST_REQUESTS = 8, 120


@pytest.fixture
def root(services: TestServices, live_db: None) -> Iterator[str]:
    """The address of a server that runs."""
    with listen(0) as listener, Processes(application(listener), environ=dict(os.environ)) as processes:
        processes.wait_ready(f"{address(listener)}/readyz")
        yield address(listener)


@pytest.mark.slow
def test_a_house_of_eight_tables_takes_few_requests_and_lacks_nothing(root: str, tmp_path: Path) -> None:
    tables = list(islice(evening.read(None).values(), TABLES))
    started = time.monotonic()
    founded = found_house(root, tables)
    took = time.monotonic() - started
    print(f"{founded.requests} requests, {took:.1f} s, {founded.rehearsed:.1f} s of them rehearsed")
    assert founded.requests <= MOST_REQUESTS
    founded.credentials.save(tmp_path)
    [path] = saved(tmp_path).values()
    kept = Credentials.load(path)
    assert kept == founded.credentials
    with Terminal(root, kept.auditor) as auditor:
        assert {table["table"] for table in auditor.pages("tables")} == {table.code for table in tables}
        readiness = auditor.get("house/readiness")
        # The day begins with the evening.
        assert {one["item"] for one in readiness["items"] if not one["ready"]} == {"day"}
        assert readiness["stage"] == auditor.get("house")["stage"] == "live"
        assert auditor.get("reports/verification")["ok"]
    # The next house has the next free number; what cannot be a table is said.
    tables[0].options["vizi"] = -1
    with pytest.raises(EveningError, match=rf"table {tables[0].code}: .*\[option_out_of_range\]"):
        found_house(root, tables)
    with pytest.raises(Refused, match="sign_in_refused"), Terminal(root, _with(kept.auditor.password + "x", kept)):
        pass


def _with(password: str, credentials: Credentials) -> object:
    login = credentials.auditor
    return type(login)(login.login, password, login.terminal, login.terminal_key, login.roles)
