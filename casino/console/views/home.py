"""The first page: a terminal at a table or a drawer goes to its console, one in the office sees all desks."""

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import path

from casino.console import pages
from casino.console.pages import Screen


@pages.signed_in
def home(screen: Screen) -> HttpResponse:
    """Where the person works."""
    kind, location = screen.session["terminal_kind"], screen.session["location"]
    if kind == "table" and screen.has("dealer", "floor"):
        return HttpResponseRedirect(f"/console/tables/{location}")
    if kind == "cage" and screen.has("cashier", "cage_supervisor", "manager"):
        return HttpResponseRedirect(f"/console/drawers/{location}")
    if kind == "office" and screen.has("count"):
        return HttpResponseRedirect("/console/count")
    return HttpResponseRedirect("/console/floor" if screen.has("floor", "manager") else "/console/work")


urls = [path("", home)]
