"""A house is founded, rehearsed by the operator, signed and live, and all but two commands of it is HTTP."""

from itertools import islice
from pathlib import Path

import pytest

from deploy.demo import evening
from deploy.demo.client import Refused, Terminal
from deploy.demo.evening import EveningError
from deploy.demo.logins import Credentials, saved
from deploy.demo.seed import HouseSetUp, begin_house, found_house
from tests.bench.founding import TABLES
from tests.installation import Installation

#: A house of eight tables takes at most so many requests until it is live; `make bench ARGS=founding` says how many it
#: takes, and how many seconds.
MOST_REQUESTS = 120


@pytest.mark.slow
def test_a_house_of_eight_tables_takes_few_requests_and_lacks_nothing(installed: Installation, tmp_path: Path) -> None:
    _, root = installed.up()
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
    founders = begin_house()
    assert number_of(founders[0].login) == number_of(kept.auditor.login) + 1
    with (
        Terminal(root, founders[0]) as admin,
        pytest.raises(EveningError, match=rf"table {tables[0].code}: .*\[option_out_of_range\]"),
    ):
        HouseSetUp(root, founders[0], admin).set_up(tables[0], admin)
    with pytest.raises(Refused, match="sign_in_refused"), Terminal(root, _with(kept.auditor.password + "x", kept)):
        pass


def number_of(login: str) -> int:
    """The number of the demo house that a login is of."""
    return int(login.rpartition("-")[2])


def _with(password: str, credentials: Credentials) -> object:
    login = credentials.auditor
    return type(login)(login.login, password, login.terminal, login.terminal_key, login.roles)
