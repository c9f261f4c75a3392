"""The addresses of the screens."""

from casino.console.views import (
    audit,
    cage,
    count,
    dealer,
    doors,
    floor,
    home,
    office,
    player,
    prints,
    replay,
    reports,
    rules,
    ruling,
    signing,
    work,
)

urls = [
    *home.urls,
    *signing.urls,
    *doors.urls,
    *dealer.urls,
    *cage.urls,
    *count.urls,
    *floor.urls,
    *audit.urls,
    *replay.urls,
    *ruling.urls,
    *player.urls,
    *prints.urls,
    *reports.urls,
    *office.urls,
    *rules.urls,
    *work.urls,
]
