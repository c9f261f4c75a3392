"""What the chains cost: actions through the application, and the same with a database that appends no event.

The application does the same in both: it makes the event and sends it with the rest of the write.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.alternate import Comparison, compare

if TYPE_CHECKING:  # Django is set up when the database is there
    from tests.casino.kit import Desk, Kit

#: Where the application's function stands.
_APPEND = Path(__file__).parents[3] / "casino" / "audit" / "sql" / "append.sql"
#: The reference's function of the same name, which writes nothing.
_NOTHING = """
CREATE OR REPLACE FUNCTION audit_append(
    p_house uuid, p_chain text, p_kind text, p_actor text, p_role text, p_terminal text, p_request text, p_data text,
    p_approver text, p_reason text, p_postings text,
    OUT seq bigint, OUT leaf_hash text
) LANGUAGE plpgsql AS $$
BEGIN
    seq := 0;
    leaf_hash := repeat('0', 64);
END $$
"""
#: The reference posts what no event records, which the database would refuse.
_IS_RECORDED = "ALTER TABLE ledger_transaction {} TRIGGER ledger_transaction_is_recorded"
#: Hands of one counted run, a request for the deal and one for each line of the log.
HANDS = 2
RUNS = 21
#: What the chain leaves of the throughput.
GOAL = 0.9


class _Work:
    """Seconds of CPU that this process and its connection's server process have used, less what was set aside.

    On a machine that is shared the wall clock records what others do; on one that is full, throughput is what an action
    costs of it.
    """

    def __init__(self) -> None:
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            [(backend,)] = cursor.fetchall()
        self._backend = Path(f"/proc/{backend}/schedstat")
        self._aside = 0.0

    def __call__(self) -> float:
        """The clock."""
        return time.process_time() + int(self._backend.read_text().split()[0]) / 1e9 - self._aside

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is done here does not count."""
        before = self()
        yield
        self._aside += self() - before


def comparison(*, runs: int = RUNS) -> Comparison:
    """Requests per CPU second of a dealer who deals and plays hands, settlement included, with the chain and without.

    Needs a database of its own (`tests.bench.database`). `ratio` is what the chain leaves of the throughput: GOAL and
    more is wanted.
    """
    from tests.casino.kit import Kit

    kit = Kit.found()
    kit.table(tax_bps=0)  # so that the tray never runs out of change
    dealer = kit.seated(stacks=(900_000, 900_000, 900_000, 900_000))
    work = _Work()

    def recorded() -> int:
        with work.aside():
            _play(kit, dealer, 1)  # plans are made again after the function was replaced
        return _play(kit, dealer, HANDS)

    def unrecorded() -> int:
        with work.aside():
            _leave_out()
        try:
            with work.aside():
                _play(kit, dealer, 1)
            return _play(kit, dealer, HANDS)
        finally:
            with work.aside():
                _put_back()

    try:
        return compare("actions with their events", "requests", recorded, "without", unrecorded, clock=work, runs=runs)
    finally:
        kit.close()


def _play(kit: "Kit", dealer: "Desk", hands: int) -> int:
    from tests.casino.kit import SAMPLE

    for _ in range(hands):
        dealer.ok("hands", {"mode": "physical"})
        for line in SAMPLE:
            dealer.act(line)
        kit.settle()
        dealer.refresh()
    return hands * (len(SAMPLE) + 1)


def _leave_out() -> None:
    """From now on the database appends no event, and asks for none."""
    _as_owner(_NOTHING, _IS_RECORDED.format("DISABLE"))


def _put_back() -> None:
    """The application's own function and guard."""
    _as_owner(_APPEND.read_text(encoding="utf-8"), _IS_RECORDED.format("ENABLE ALWAYS"))


def _as_owner(*statements: str) -> None:
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


if __name__ == "__main__":
    from tests.bench.database import database

    with database():
        print(comparison().line(), f"  goal {GOAL} x")
