"""All measurements of the ledger, printed."""

from tests.bench.ledger import goals, grouped, growth, ours, speed

SETTLEMENTS = 250_000
"""How many make a million entries."""
SLOWLY = 25_000
"""How many there are without batches, for whose sake nobody would wait."""


def run(*, quick: bool) -> None:
    """Print what is measured; the database is there."""
    plan = speed.QUICK if quick else speed.Plan()
    print(f"ledger: {server()}; {plan.rounds} alternating rounds of {plan.seconds} s", flush=True)
    rates = speed.measure(plan)
    print(*speed.table(rates, plan), sep="\n", flush=True)
    assert rates.grown is not None
    print(*rates.grown.lines(), sep="\n", flush=True)
    threads = grouped.measure(plan)
    print(*(line for one in threads for line in one.lines()), sep="\n", flush=True)
    if not ours.has_batches():
        print("post_many is not there: no batches, and fewer entries to look among", flush=True)
    filled = growth.fill((SETTLEMENTS if ours.has_batches() else SLOWLY) // (10 if quick else 1))
    print(filled.line(), flush=True)
    looked_up = growth.look_ups(filled)
    print(*(one.line() for one in looked_up), sep="\n")
    print(
        *(
            goal.line()
            for goal in goals.of_rates(rates, plan)
            + goals.of_groups(threads)
            + goals.of_growth(rates.grown, filled, looked_up)
        ),
        sep="\n",
    )


def server() -> str:
    """The server and those of its settings that a rate depends on most."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('server_version'), current_setting('synchronous_commit'), current_setting('fsync')"
        )
        version, commit, fsync = cursor.fetchone()
    return f"PostgreSQL {version}, synchronous_commit={commit}, fsync={fsync}"
