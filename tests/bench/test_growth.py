"""The measurement of `make growth` from end to end; what anything costs is not looked at."""

import re

import pytest

from tests.bench.growth.__main__ import marked, medians
from tests.bench.test_reports import own_python

_LINE = re.compile(r"^(\S.*?) {2,}[\d.]+ +1\.00x +[\d.]+ +[\d.]+x +ms of the server", re.MULTILINE)


@pytest.mark.long
def test_two_small_houses_are_filled_and_measured() -> None:
    """In processes and databases of their own. Requests that fail end it."""
    said = own_python(
        "-m", "tests.bench.growth", "--days", "1", "2", "--hands", "3", "--rounds", "1", "--reports", "trial-balance"
    )
    found = _LINE.findall(said)
    assert {"deal a hand", "a buy-in at the cage", "events of a day", "a receipt with its proof"} <= set(found)
    assert found[-1] == "report trial-balance, one day" and len(found) == len(set(found)) > 25, found
    assert "1 days, 24 hands" in said and "2 days, 48 hands" in said
    # Entries of both: twenty a hand, some more or less.
    assert re.search(r"9\d\d of ledger_entry", said), said


def test_what_grows_is_marked() -> None:
    assert medians([[(1.0, 2.0, 10.0), (3.0, 2.0, 30.0), (2.0, 2.0, 20.0)], [(4.0, 2.0, 20.0)]], 0) == [2.0, 4.0]
    assert marked([2.0, 4.0], least=0.5)
    # Not what is little, nor what grows by little, nor what falls.
    assert not marked([0.1, 0.4], least=0.5)
    assert not marked([20.0, 22.0], least=0.5)
    assert not marked([4.0, 2.0], least=0.5)


@pytest.mark.long
def test_tables_of_partitions_answer_as_whole_ones_do() -> None:
    """Both are asked everything, and have what is asked for; which is cheaper is not looked at."""
    said = own_python("-m", "tests.bench.partitions", "--transactions", "20000", "--months", "3")
    costs = re.findall(r"^(\S.*?) {2,}[\d.]+ +[\d.]+ +[\d.]+$", said, re.MULTILINE)
    assert len(costs) == 5 and "post a transaction of four legs" in costs, said
    assert re.findall(r"^(\w+): [\d.]+ GB", said, re.MULTILINE) == ["whole", "parted"], said
