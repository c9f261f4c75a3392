"""`python -m tests.bench.ledger [--quick] [profile]`: the ledger's measurements alone, or where its time goes."""

import argparse

from tests.bench.database import database
from tests.bench.ledger import profiling, report


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.ledger", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("report", "profile"), default="report")
    parser.add_argument("--quick", action="store_true", help="one short round, for development")
    arguments = parser.parse_args()
    with database():
        if arguments.what == "report":
            report.run(quick=arguments.quick)
        elif arguments.quick:
            profiling.run(seconds=0.5, rounds=1, clients=(1, 4))
        else:
            profiling.run()


if __name__ == "__main__":
    main()
