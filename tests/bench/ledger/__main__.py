"""`python -m tests.bench.ledger [--quick]`: the ledger's measurements alone."""

import argparse

from tests.bench.database import database
from tests.bench.ledger import report


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.ledger", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short round, for development")
    arguments = parser.parse_args()
    with database():
        report.run(quick=arguments.quick)


if __name__ == "__main__":
    main()
