"""The measurement of `make bench ARGS=screens` from end to end; how fast anything was is not looked at."""

import pytest

from tests.bench import screens
from tests.deploy.web_and_hints import running


@pytest.mark.long
@pytest.mark.usefixtures("live_db", "services")
def test_every_act_is_measured_and_first_visits_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    monkeypatch.setattr(screens, "TABLES", 2)
    with running() as up:
        found = screens.measure(up.port, rounds=1, followers=9)
        assert up.processes.restarts_of("web") == 0
    assert {many: len(times) for many, times in found.painted.items()} == {0: 10, 9: 10}
    assert set(found.loaded) == {"table", "cage", "floor", "reports", "audit"}
    assert all(10_000 < size <= screens.GOAL_BYTES for size in found.loaded.values()), found.loaded
    assert len(list(found.lines())) == 2 + len(found.loaded)
