"""The measurement of `make bench ARGS=live` from end to end; how fast anything was is not looked at."""

import pytest

from tests.bench import live
from tests.deploy.web_and_hints import running


@pytest.mark.long
@pytest.mark.usefixtures("live_db", "services")
def test_two_hundred_readers_get_every_hint_once() -> None:
    with running() as up:
        found = live.measure(up.processes, up.port, streams=200, writes=30)
        assert up.processes.restarts_of("hints") == up.processes.restarts_of("web") == 0
    assert found.wrong == 0
    # Ten streams of the house, 190 of a table each: every write concerns all of the former and 19 of the latter.
    assert len(found.latencies) == 30 * 29
    assert len(list(found.lines())) >= 2
