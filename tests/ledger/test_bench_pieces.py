"""The measurements of `make bench ARGS=ledger` run from end to end; how fast anything was is not looked at."""

import uuid

import pytest

from ledger import checks
from tests.bench.ledger import goals, growth, ours, pgbench, profiling, speed
from tests.bench.ledger.workload import AMOUNTS, HOUSE_CODE, ROLES, TABLES, account_code, settlements

PLAN = speed.Plan(clients=(1,), rounds=1, seconds=0.2)


@pytest.mark.long
@pytest.mark.usefixtures("bench_db")
def test_everything_is_measured_and_leaves_right_books() -> None:
    from ledger.models import Account

    rates = speed.measure(PLAN)
    wanted = {"post", "hordak", "plain"} | ({"raw", "function"} if pgbench.program() else set())
    assert wanted <= set(rates.titles)
    cases = [(clients, hot) for clients in PLAN.clients for hot in (False, True)]
    assert all(rates.rates[name, case][0] >= 0 for name in rates.titles for case in cases)
    assert len(speed.table(rates, PLAN)) == 2 * (len(rates.titles) + 1 + len(rates.statements) + 1)
    assert rates.grown is not None
    assert rates.grown.settlements > 0

    filled = growth.fill(600)
    looked_up = growth.look_ups(filled)
    assert filled.entries == 600 * len(AMOUNTS)
    assert {one.entries for one in looked_up} == {600}
    names = [goal.name for goal in goals.of_rates(rates, PLAN) + goals.of_growth(rates.grown, filled, looked_up)]
    assert len(names) == len(set(names)) == 5

    for book in set(Account.objects.filter(code="bank").values_list("book", flat=True)):
        assert checks.verify(book) == []


@pytest.mark.long
@pytest.mark.usefixtures("bench_db")
def test_a_profile_leaves_every_guard_standing(capsys: pytest.CaptureFixture[str]) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT tgname, tgenabled FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgname")
        before = cursor.fetchall()
    profiling.run(seconds=0.2, rounds=1, clients=(1,))
    with connection.cursor() as cursor:
        cursor.execute("SELECT tgname, tgenabled FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgname")
        assert cursor.fetchall() == before
    printed = capsys.readouterr().out
    assert "ledger_post" in printed
    assert "us of its CPU" in printed


def test_settlements_have_keys_of_their_own_and_the_house_is_taxed_only_when_hot() -> None:
    stage = ours.Stage.of(str(uuid.uuid4()), _ids())
    spread = settlements(stage, range(TABLES), hot=False)
    hot = settlements(stage, range(TABLES), hot=True, first=500_000)
    many = [next(spread) for _ in range(200)], [next(hot) for _ in range(200)]
    assert len({one.key for part in many for one in part}) == 400
    assert not any(stage.house in one.accounts for one in many[0])
    assert all(one.accounts[-1] == stage.house for one in many[1])
    assert sum(AMOUNTS) == 0


def _ids() -> dict[str, int]:
    codes = [HOUSE_CODE, *(account_code(role, table) for role in ROLES for table in range(TABLES))]
    return {code: number for number, code in enumerate(codes, 1)}
