"""Reports: the catalogue, a run with its filters, how far it is, what holds, its files."""

from typing import Any

from django.http import HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import path
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from casino.console import pages
from casino.console.pages import Screen
from casino.console.show import compared, shown
from casino.core.errors import NotFound


@pages.signed_in
def catalogue(screen: Screen) -> HttpResponse:
    """Every report that the person may read, and the newest runs."""
    reports = screen.door.read("reports")["reports"]
    runs = screen.door.read("report-runs", page_size=20)["results"]
    return screen.show("reports", {"reports": reports, "runs": runs})


@require_http_methods(["GET", "POST"])
@pages.signed_in
def one(screen: Screen, name: str) -> HttpResponse:
    """Ask for a report."""
    found = next((report for report in screen.door.read("reports")["reports"] if report["report"] == name), None)
    if found is None:
        raise NotFound(gettext("There is no such report, or you may not read it."))
    given = screen.request.POST
    context: dict[str, Any] = {"report": found, "given": given, "chosen": given.getlist("formats")}
    if screen.request.method != "POST":
        return screen.show("report", context)
    body: dict[str, Any] = {
        "filters": {
            each["name"]: given[f"filter.{each['name']}"]
            for each in found["filters"]
            if given.get(f"filter.{each['name']}")
        },
        "formats": given.getlist("formats") or found["formats"][:1],
    }
    body |= {name: given[name] for name in ("separator", "decimal", "language") if given.get(name)}
    answer = screen.door.write(f"reports/{name}/runs", body, key=given.get("key"))
    if answer.is_success:
        return HttpResponseRedirect(f"/console/report-runs/{answer.body['run']}")
    return screen.show("report", context | {"problem": answer.body}, answer.status)


@pages.signed_in
def run(screen: Screen, number: int) -> HttpResponse:
    """How far a run is, and what it has made."""
    found = screen.door.read(f"report-runs/{number}")
    equal = shown([compared(one, screen.money) for one in found["equalities"] or []], screen.money)
    charts = [one for one in found["files"] or [] if one["name"].endswith(".svg")]
    template = "report_run_part" if "HX-Request" in screen.request.headers else "report_run"
    waits = found["state"] in ("waiting", "making")
    return screen.show(template, {"run": found, "equal": equal, "charts": charts, "waits": waits})


@pages.signed_in
def file(screen: Screen, number: int, name: str) -> HttpResponseBase:
    """A file of a run."""
    return screen.door.fetch(f"report-runs/{number}/files/{name}")


urls = [
    path("reports", catalogue),
    path("reports/<slug:name>", one),
    path("report-runs/<int:number>", run),
    path("report-runs/<int:number>/files/<str:name>", file),
]
