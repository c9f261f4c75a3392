"""The catalogue of reports: every module of `casino/reports/catalogue` has one, as `REPORT`."""

import pkgutil
from functools import cache
from importlib import import_module

from casino.core.errors import NotFound
from casino.reports import catalogue
from casino.reports.frame.report import Report


@cache
def reports() -> dict[str, Report]:
    """All reports by id, in the order of the catalogue. Raises ValueError for two with one id or number."""
    names = [module.name for module in pkgutil.iter_modules(catalogue.__path__)]
    found: list[Report] = [import_module(f"{catalogue.__name__}.{name}").REPORT for name in names]
    for key in ("id", "number"):
        values = [getattr(report, key) for report in found]
        if len(set(values)) < len(values):
            raise ValueError(f"two reports have one {key}: {sorted(values)}")
    return {report.id: report for report in sorted(found, key=_place)}


def get(name: str) -> Report:
    """One report by its id. Raises NotFound."""
    found = reports().get(name)
    if found is None:
        raise NotFound(f"There is no report {name}. The reports are: {', '.join(reports())}.")
    return found


def _place(report: Report) -> tuple[int, str]:
    return int("".join(filter(str.isdigit, report.number))), report.number
