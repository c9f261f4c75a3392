"""`python -m tests.bench.founding`: a house of eight tables from nothing: a new database, servers, the operator's two
commands and everybody's requests, until it is rehearsed, signed and live."""

import os
import time
from itertools import islice

from tests.bench.database import database

#: So many tables of the demo's evening.
TABLES = 8


def run() -> None:
    """Print how many requests and seconds it took."""
    # Both are imported where the environment names the new database.
    from deploy.demo import evening
    from deploy.demo.seed import found_house
    from deploy.processes import Processes, address, application, listen

    began = time.monotonic()
    with database():
        tables = list(islice(evening.read(None).values(), TABLES))
        with listen(0) as listener, Processes(application(listener), environ=dict(os.environ)) as processes:
            processes.wait_ready(f"{address(listener)}/readyz")
            up = time.monotonic()
            founded = found_house(address(listener), tables)
            live = time.monotonic()
    print(
        f"house of {TABLES} tables founded, rehearsed, signed and live: {founded.requests} requests and 2 commands in "
        f"{live - up:.1f} s, {founded.rehearsed:.1f} s of them rehearsed; before that {up - began:.1f} s for a new "
        "database with its migrations and for the servers",
        flush=True,
    )


if __name__ == "__main__":
    run()
