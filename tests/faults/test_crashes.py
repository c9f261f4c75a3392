"""At any statement of any write the connection to the database may be lost: the write was carried out once, or not at
all and the answer says so.

`make slow` interrupts every twentieth write of an evening, `make long` makes 200 scenarios, `make soak` 10,000
(`CRASHES`). A failure names its scenario; `CRASH=SEED/STEP` plays it alone, `CRASH=SEED` that evening.
"""

from __future__ import annotations

import os

import pytest

from casino.hands import deals
from casino.reports.verifying import verification
from casino.urls import v1
from tests.casino.examples import Drawn, play
from tests.faults.crashes import Interrupted, Way, summary

#: About so many scenarios of an evening interrupt something; the others name an exchange that their write has not.
AN_EVENING = 50
SEED, _, STEP = os.environ.get("CRASH", "").partition("/")
EVENINGS = int(os.environ.get("CRASHES", 4 * AN_EVENING)) // AN_EVENING


def evenings() -> list[tuple[str, int]]:
    """Seeds, and of how many writes one is interrupted."""
    return [(SEED, 1)] if SEED else [("sample", 20), *((str(number), 1) for number in range(EVENINGS))]


@pytest.mark.slow
@pytest.mark.some_now(EVENINGS + 1)
@pytest.mark.parametrize(("seed", "every"), evenings())
def test_every_write_is_carried_out_once_or_not_at_all(
    live_db: None, monkeypatch: pytest.MonkeyPatch, seed: str, every: int
) -> None:
    monkeypatch.setattr(deals, "secrets", Drawn)
    kit = Interrupted.found(bare=True)
    assert isinstance(kit, Interrupted)
    kit.seed, kit.only, kit.every = seed, int(STEP) if STEP else None, every

    def undisturbed() -> None:
        found = verification(kit.house)
        assert found["ok"], {name: value for name, value in found.items() if name.endswith("findings") and value}

    try:
        with kit.wire.tapped(monkeypatch):
            play(kit, undisturbed)
    finally:
        kit.close()
        print(*kit.violations, sep="\n")
        print(f"seed {seed}: {len(kit.scenarios)} writes\n{summary(kit.scenarios)}")
    assert kit.violations == []
    if not STEP and every == 1:
        views = [pattern.callback.view_class for pattern in v1]
        writes = {one.id for view in views for verb, one in getattr(view, "operations", {}).items() if verb == "post"}
        assert {one.operation for one in kit.scenarios} == writes | {"settlement"}
        assert {one.fault.way for one in kit.scenarios if one.hit} == set(Way)
        assert sum(one.hit for one in kit.scenarios) >= AN_EVENING
