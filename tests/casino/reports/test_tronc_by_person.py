"""A12 by person: points or hours, shares, and the time at tables."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from casino.audit.events.cage import TroncShared
from casino.reports import table_time
from casino.reports.frame.report import Scope
from casino.staff.models import Role
from tests.casino.days.test_days import opened
from tests.casino.kit import Kit
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.reports.test_catalogue_of_control import broken, forged
from tests.casino.transfers.test_tronc import Tips


def taken_over_earlier(scope: Scope) -> Iterator[tuple[str, str, datetime, str]]:
    """The moments of tables, those of taking over 125 minutes earlier."""
    for kind, table, moment, who in READ(scope):
        earlier = timedelta(minutes=125 if kind == "dealer.took_over" else 0)
        yield kind, table, moment - earlier, who


READ = table_time._events


def test_points_shares_and_time_at_tables_of_each_person_of_the_tronc(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = opened(kit, "2020-02-28")
    tips = Tips(kit)
    tips.counted(cash=70)
    dealing = tips.dealer.ok("dealer/take-over", {"relieves": None})["dealer"]
    other = kit.runner()
    manager = kit.office(Role.MANAGER)
    manager.ok("tronc/share", {"points": {dealing: 38, other: 22}})
    kit.cashier().ok("tronc-shares", {"pool": 1, "login": other})
    monkeypatch.setattr(table_time, "_events", taken_over_earlier)
    people = {row["person"]: row for row in rows(made(kit, "tronc"), 4)}
    assert people == {
        dealing: {
            "person": dealing, "shares": 1, "points": 38, "of_points": 60, "part": 6_333, "amount": 443, "paid": 0,
            "unpaid": 443, "minutes": 125,
        },
        other: {
            "person": other, "shares": 1, "points": 22, "of_points": 60, "part": 3_667, "amount": 257, "paid": 257,
            "unpaid": 0, "minutes": 0,
        },
    }  # fmt: skip
    [alone] = rows(made(kit, "tronc", person=other, pool="1"), 4)
    assert (alone["points"], alone["minutes"]) == (22, None)
    office.ok("days", {"day": "2020-02-29"})
    assert rows(made(kit, "tronc", **{"from": "2020-02-29"}), 4) == []
    # A share that the points do not give.
    shares = [
        {"login": dealing, "points": 1, "amount": 20, "paid": False},
        {"login": other, "points": 1, "amount": 30, "paid": False},
    ]
    pool = {"pool": 2, "amount": 50, "shared_by": "manager", "shares": shares}
    forged(kit, kit.house.chain, TroncShared(pool=pool))
    assert "shares that are next to their part by points = shares" in broken(kit, "tronc")
