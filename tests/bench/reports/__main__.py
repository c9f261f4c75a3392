"""`python -m tests.bench.reports [--year]`: files of reports a second, and every report of the catalogue on a generated
house: an evening of eight tables, or a year of it."""

import argparse
import os
import tempfile
from dataclasses import replace

from tests.bench.database import database


def main() -> None:
    """In a database of its own; what is measured in a process of its own finds it in its environment."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.reports", description=__doc__)
    parser.add_argument("--year", action="store_true", help="a year instead of an evening")
    parser.add_argument("--days", type=int, help="so many days of the year")
    parser.add_argument("--hands", type=int, help="so many hands of each table in a day")
    parser.add_argument("--catalogue", action="store_true", help="no files")
    parser.add_argument("--only", nargs="*", default=[], metavar="REPORT", help="of the catalogue these reports")
    parser.add_argument("--write", help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--house", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write or given.one:
        _part(given)
        return
    with database(), tempfile.TemporaryDirectory() as marks:
        os.environ["CASINO_MARK_DIR"] = marks
        from tests.bench.reports import catalogue, rates

        if not given.catalogue:
            rates.run()
        long = given.year or given.days
        size, goal = (catalogue.YEAR, catalogue.YEAR_GOAL) if long else (catalogue.EVENING, catalogue.EVENING_GOAL)
        size = replace(size, days=given.days or size.days, hands=given.hands or size.hands)
        catalogue.run(size, goal, given.only)


def _part(given: argparse.Namespace) -> None:
    """One measurement, in this process."""
    import django

    django.setup()
    from casino.reports.frame.report import Format
    from tests.bench.reports import catalogue, rates

    if given.one:
        catalogue.make(given.one, given.house)
    else:
        print(rates.measured(given.rows, Format(given.write)))


if __name__ == "__main__":
    main()
