"""Every address of the house: each module of the API keeps its own in `urls`, beside its views."""

from django.urls import include, path

from casino.api import (
    audit,
    bearer,
    books,
    cage,
    cards,
    corrections,
    counting,
    days,
    deals,
    description,
    drawers,
    games,
    hands,
    health,
    house,
    oversight,
    persons,
    reports,
    roster,
    seat,
    sessions,
    tables,
    tiles,
    trading,
    transfers,
)

#: Addresses are tried in this order: those of a hand in play, which come most often, are found first.
v1 = [
    *hands.urls,
    *tables.urls,
    *cards.urls,
    *deals.urls,
    *seat.urls,
    *trading.urls,
    *transfers.urls,
    *cage.urls,
    *drawers.urls,
    *bearer.urls,
    *corrections.urls,
    *counting.urls,
    *sessions.urls,
    *persons.urls,
    *roster.urls,
    *house.urls,
    *games.urls,
    *oversight.urls,
    *days.urls,
    *books.urls,
    *reports.urls,
    *audit.urls,
    *tiles.urls,
    *description.urls,
]

urlpatterns = [*health.urls, path("api/v1/", include(v1))]

handler400 = "casino.api.http.problems.bad_request"
handler404 = "casino.api.http.problems.not_found"
handler500 = "casino.api.http.problems.server_error"
