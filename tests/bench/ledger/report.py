"""All measurements of the ledger, printed."""

from tests.bench.ledger import speed


def run(*, quick: bool) -> None:
    """Print what is measured; the database is there."""
    plan = speed.QUICK if quick else speed.Plan()
    print(f"ledger: {server()}; {plan.rounds} alternating rounds of {plan.seconds} s", flush=True)
    for line in speed.table(speed.measure(plan), plan):
        print(line, flush=True)


def server() -> str:
    """The server and those of its settings that a rate depends on most."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('server_version'), current_setting('synchronous_commit'), current_setting('fsync')"
        )
        version, commit, fsync = cursor.fetchone()
    return f"PostgreSQL {version}, synchronous_commit={commit}, fsync={fsync}"
