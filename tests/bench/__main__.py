"""`python -m tests.bench`: engine, ledger and the whole way of a bet, each against a named reference."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from tests.bench import replay
from tests.bench.alternate import Comparison, compare
from tests.bench.ranking import bench_ranking, bench_ranking_batch, bench_ranking_numbers
from tests.services import TestServices

POSTINGS = 200

_RAW = """
WITH posted AS (
    INSERT INTO bench_transaction (key, kind, metadata) VALUES (%s, 'bench', '{}') RETURNING id
), moved AS (
    UPDATE bench_account SET balance = balance + leg.amount, version = version + 1
    FROM (VALUES (1, 5), (2, 7), (3, -9), (4, -3)) AS leg (account, amount) WHERE id = leg.account
    RETURNING id, balance, version, leg.amount
)
INSERT INTO bench_entry SELECT moved.id, moved.version, posted.id, moved.amount, moved.balance FROM moved, posted
"""
_RAW_TABLES = """
CREATE TABLE bench_account (id int PRIMARY KEY, balance bigint, version bigint);
CREATE TABLE bench_transaction (id bigserial PRIMARY KEY, key text UNIQUE, kind text, metadata jsonb,
    at timestamptz DEFAULT clock_timestamp());
CREATE TABLE bench_entry (account int, version bigint, transaction bigint, amount bigint, balance_after bigint,
    PRIMARY KEY (account, version));
INSERT INTO bench_account SELECT n, 1000000000, 0 FROM generate_series(1, 4) AS n;
GRANT SELECT, INSERT, UPDATE ON bench_account, bench_transaction, bench_entry TO casino_app;
GRANT USAGE ON SEQUENCE bench_transaction_id_seq TO casino_app;
"""


def bench_postings() -> Comparison:
    """A four-leg posting through Django with every guarantee, against the same rows written without any."""
    from django.db import connection, connections, transaction

    from ledger.posting import AccountSpec, Leg, ensure_accounts, post

    with connections["owner"].cursor() as cursor:
        cursor.execute(_RAW_TABLES)
    book = "00000000-0000-4000-8000-000000000001"
    specs = [AccountSpec(f"bench:{number}", "bench", "HUF", 1, None) for number in range(4)]
    with transaction.atomic():
        ids = list(ensure_accounts(book, specs).values())
    legs = [Leg(account, amount) for account, amount in zip(ids, (5, 7, -9, -3), strict=True)]
    keys = count()

    def guaranteed() -> int:
        for _ in range(POSTINGS):
            with transaction.atomic():
                post(book, f"bench-{next(keys)}", "bench", legs, {})
        return POSTINGS

    def raw() -> int:
        for _ in range(POSTINGS):
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(_RAW, [f"raw-{next(keys)}"])
        return POSTINGS

    return compare(
        "4-leg posting, 1 client", "postings", guaranteed, "the same rows unguarded", raw, clock=time.monotonic
    )


def bench_actions() -> Comparison:
    """An action through the HTTP application (token, lock, replay, posting, event, answer), against one posting."""
    from django.db import transaction

    from casino.house.chart import ids
    from ledger.posting import Leg, post
    from tests.casino.kit import SAMPLE, Kit

    kit = Kit.found()
    kit.table()
    dealer = kit.seated(stacks=(900_000, 900_000, 900_000, 900_000))
    keys = count()
    codes = ids(kit.house, ["2020/T1/T1-u1", "2030/T1"])
    stack, pot = codes["2020/T1/T1-u1"], codes["2030/T1"]

    def hands() -> int:
        for _ in range(3):
            dealer.ok("hands", {"mode": "physical"})
            for line in SAMPLE:
                dealer.act(line)
            kit.settle()
            dealer.refresh()
        return 3 * len(SAMPLE)

    def postings() -> int:
        for _ in range(3 * len(SAMPLE)):
            for amount in (100, -100):
                with transaction.atomic():
                    post(kit.house.id, f"bench-{next(keys)}", "bench", [Leg(stack, amount), Leg(pot, -amount)], {})
        return 6 * len(SAMPLE)

    return compare(
        "action through the application", "actions", hands, "a bare 2-leg posting", postings, clock=time.monotonic
    )


@contextmanager
def database() -> Iterator[None]:
    """A throw-away database with the house's schema, the application connected as its least-privileged role."""
    services = TestServices(os.environ)
    os.environ.update(services.environ())
    os.environ["DJANGO_SETTINGS_MODULE"] = "casino.settings"
    os.environ["CASINO_LOG_LEVEL"] = "WARNING"
    try:
        services.start()
        services.create_database()
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connections

        call_command("migrate", database="owner", verbosity=0)
        yield
        connections.close_all()
        services.drop_database()
    finally:
        services.remove()


def main() -> None:
    """Print one line a comparison."""
    for comparison in replay.comparisons():
        print(comparison.line(), flush=True)
    for bench in (bench_ranking, bench_ranking_numbers, bench_ranking_batch):
        print(bench().line(), flush=True)
    with database():
        print(bench_postings().line(), flush=True)
        print(bench_actions().line(), flush=True)


if __name__ == "__main__":
    main()
