"""`python -m tests.bench.http [--quick] [report|statements|profile]`: actions over HTTP against a bare view, the
statements of one action, or where a web worker's time goes."""

import argparse

from tests.bench.database import database
from tests.bench.http import profiling, report, stage, statements
from tests.bench.http.servers import running


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.http", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("report", "statements", "profile"), default="report")
    parser.add_argument("--quick", action="store_true", help="short rounds, no more than four clients")
    arguments = parser.parse_args()
    with database():
        if arguments.what == "report":
            report.run(quick=arguments.quick)
            return
        prepared = stage.set_up(1)
        with running():
            found = statements.listed(prepared) if arguments.what == "statements" else profiling.lines(prepared)
            print(*found, sep="\n")
            report.settle(prepared)


if __name__ == "__main__":
    main()
