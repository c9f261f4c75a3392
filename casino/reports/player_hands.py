"""What settled hands came to for each player, by gaming day, as the events of deals and of settlements have it."""

from dataclasses import dataclass

from casino.reports.frame.report import Scope
from casino.reports.frame.trail import DAY_OF_EVENT, DaysOfEvents, fetched

#: Seats are in play order in both events; the winner is the number of one of them, 0 where nobody won.
_RESULTS = f"""
WITH dealt AS (
    SELECT doc #>> '{{data,hand}}' AS hand, doc #> '{{data,seats}}' AS seats FROM audit_event
    WHERE house_id = %(house)s AND id <= %(event)s AND doc ->> 'kind' = 'hand.dealt'
), settled AS (
    SELECT {DAY_OF_EVENT} AS day, doc #>> '{{data,hand}}' AS hand, doc #> '{{data,result}}' AS result FROM audit_event
    WHERE house_id = %(house)s AND id <= %(event)s AND doc ->> 'kind' = 'hand.settled'
)
SELECT day, seat ->> 'player', count(*), sum((result -> 'net' ->> (place - 1)::int)::bigint)::bigint,
    sum(CASE WHEN (result ->> 'winner')::int = place THEN (result ->> 'tax')::bigint ELSE 0 END)::bigint,
    min(hand) FILTER (WHERE seats IS NULL)
FROM settled LEFT JOIN dealt USING (hand)
LEFT JOIN LATERAL jsonb_array_elements(seats) WITH ORDINALITY AS seated (seat, place) ON true
WHERE day = ANY(%(wanted)s) GROUP BY 1, 2 ORDER BY 1, 2
"""  # noqa: S608 - constants only
#: By the settlements alone.
_TAX = """
SELECT coalesce(sum((doc #>> '{data,result,tax}')::bigint), 0)::bigint FROM audit_event
WHERE house_id = %s AND id <= %s AND doc ->> 'kind' = 'hand.settled'
AND coalesce((doc #>> '{data,result,winner}')::int, 0) <> 0
"""


@dataclass(frozen=True, slots=True)
class Result:
    """Settled hands of a player in a day: how many, what they brought before fees, the tax of pots won, minor units."""

    day: str
    player: str
    hands: int
    net: int
    tax: int


def results(scope: Scope) -> list[Result]:
    """Of the days that a run asks for. Raises ValueError where a hand was settled that was not dealt."""
    asked = {"house": scope.house.id, "event": scope.as_of.event} | DaysOfEvents(scope).parameters
    found = []
    for day, player, hands, net, tax, undealt in fetched(_RESULTS, asked):
        if undealt is not None:
            raise ValueError(f"{undealt} was settled and not dealt")
        found.append(Result(day, player, hands, net, tax))
    return found


def tax_of_winners(scope: Scope) -> int:
    """Tax of all settled hands that somebody won, minor units."""
    [(found,)] = fetched(_TAX, [scope.house.id, scope.as_of.event])
    return int(found)
