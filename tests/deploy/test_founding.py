"""A house is founded, rehearsed by the operator, signed and live, and all but two commands of it is HTTP."""

import os
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
from tests.bench.founding import TABLES
from tests.services import TestServices

#: A house of eight tables takes at most so many requests until it is live; `make bench ARGS=founding` says how many it
#: takes, and how many seconds.
MOST_REQUESTS = 120


@pytest.fixture
def root(services: TestServices, whole_db: None) -> Iterator[str]:
    """The address of a server that runs."""
    with listen(0) as listener, Processes(application(listener), environ=dict(os.environ)) as processes:
        processes.wait_ready(f"{address(listener)}/readyz")
        yield address(listener)


@pytest.mark.slow
def test_a_house_of_eight_tables_takes_few_requests_and_lacks_nothing(root: str, tmp_path: Path) -> None:
    tables = list(islice(evening.read(None).values(), TABLES))
    founded = found_house(root, tables)
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
