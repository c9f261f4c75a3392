"""Electronic deals that were prepared, by gaming day, table and dealer, and those that were abandoned.

Each abandoned deal showed a deck to those who can open its seed, so a dealer or a table with many of them is looked at.
Who prepared and who abandoned a deal, and why, is what the events say; what became of it is the deal's row.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from casino.core import sql
from casino.hands.preparing import MOST_ABANDONED
from casino.houses import days
from casino.houses.models import House
from casino.tables import selectors
from casino.tables.models import Table

#: Abandoned deals that the report lists at most; it counts all.
MOST_LISTED = 1_000
#: The deals in question. A deal belongs to the newest gaming day that was open when it was prepared, as postings do.
_DEALS = """
WITH day AS (
    SELECT * FROM unnest(%s::text[], %s::timestamptz[], %s::timestamptz[]) AS day(name, opened_at, closed_at)
), said AS (
    SELECT doc ->> 'kind' AS kind, doc #>> '{data,hand}' AS hand, doc ->> 'actor' AS actor,
        (doc ->> 'at')::timestamptz AS at, doc ->> 'reason' AS reason, doc #> '{data,unrevealed}' AS unrevealed
    FROM audit_event WHERE house_id = %s AND doc ->> 'kind' IN ('deal.committed', 'deal.abandoned')
), deal AS (
    SELECT deal.id, deal.name, deal.state, deal.at, tables_table.code AS "table", committed.actor AS dealer,
        (SELECT day.name FROM day WHERE day.opened_at <= deal.at AND (day.closed_at IS NULL OR day.closed_at > deal.at)
         ORDER BY day.name DESC LIMIT 1) AS day
    FROM hands_deal deal
    JOIN tables_table ON tables_table.id = deal.table_id
    LEFT JOIN said committed ON committed.kind = 'deal.committed' AND committed.hand = deal.name
    WHERE deal.house_id = %s
), wanted AS (
    SELECT * FROM deal
    WHERE (%s::text IS NULL OR day = %s) AND (%s::text IS NULL OR "table" = %s)
        AND (%s::timestamptz IS NULL OR at >= %s) AND (%s::timestamptz IS NULL OR at < %s)
)
"""
_COUNTED = f"""{_DEALS}
SELECT day, "table", dealer, count(*), count(*) FILTER (WHERE state = 'dealt'),
    count(*) FILTER (WHERE state = 'abandoned'), count(*) FILTER (WHERE state = 'prepared')
FROM wanted GROUP BY 1, 2, 3 ORDER BY 1 NULLS FIRST, 2, 3
"""  # noqa: S608 - constants only
_ABANDONED = f"""{_DEALS}
SELECT wanted.name, wanted.day, wanted."table", wanted.dealer, wanted.at, gone.actor, gone.at, gone.reason, (
    SELECT coalesce(jsonb_agg(jsonb_build_object('seat', seed.seat, 'player', seed.player) ORDER BY seed.seat), '[]')
    FROM hands_seedcommitment seed WHERE seed.deal_id = wanted.id AND gone.unrevealed @> to_jsonb(seed.seat)
)::text
FROM wanted LEFT JOIN said gone ON gone.kind = 'deal.abandoned' AND gone.hand = wanted.name
WHERE wanted.state = 'abandoned' ORDER BY wanted.id DESC LIMIT {MOST_LISTED}
"""  # noqa: S608 - constants only


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which deals the report is about: of a gaming day, of a table, prepared from a moment on and before another. None:
    of all."""

    day: str | None = None
    table: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def report(house: House, wanted: Wanted) -> dict[str, Any]:
    """The limit, where each table stands, the counts, and the abandoned deals, the newest first. Raises NotFound for a
    day or a table that the house does not have."""
    if wanted.day is not None:
        days.get(house, wanted.day)
    tables = Table.objects.filter(house=house).order_by("code")
    if wanted.table is not None:
        tables = tables.filter(id=selectors.get(house, wanted.table).id)
    asked = _parameters(house, wanted)
    counted = ("day", "table", "dealer", "deal_count", "dealt_count", "abandoned_count", "open_count")
    return {
        "most_abandoned": MOST_ABANDONED,
        "tables": [{"table": table.code, "abandoned_in_a_row": table.abandoned_deals} for table in tables],
        "deals": [dict(zip(counted, row, strict=True)) for row in sql.rows(_COUNTED, asked)],
        "abandoned": [_abandoned(row) for row in sql.rows(_ABANDONED, asked)],
    }


def _parameters(house: House, wanted: Wanted) -> list[Any]:
    """Of _DEALS, in its order."""
    known = days.days(house)
    of_days = [[day.name for day in known], [day.opened_at for day in known], [day.closed_at for day in known]]
    chosen = (wanted.day, wanted.table, wanted.since, wanted.until)
    return [*of_days, house.id, house.id, *(value for one in chosen for value in (one, one))]


def _abandoned(row: tuple[Any, ...]) -> dict[str, Any]:
    names = ("hand", "day", "table", "dealer", "prepared_at", "abandoned_by", "abandoned_at", "reason", "unrevealed")
    return dict(zip(names, row, strict=True)) | {"unrevealed": json.loads(row[-1])}
