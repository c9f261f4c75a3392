"""Hands of tables as their events have them: when each was dealt, played out and settled, by whom, and what it came to.

A hand belongs to the gaming day in which it was settled, ruled on or voided, as its money does. Its events are paired
and added up by PostgreSQL: of a year they are two million, and few of their members are needed."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.hands.terms import stake_options
from casino.reports.frame.filters import DEALER, DayRange
from casino.reports.frame.reading import fetched
from casino.reports.frame.report import Scope
from casino.reports.frame.span import span
from casino.reports.frame.trail import DAY_OF_EVENT, DaysOfEvents, place

#: A hand is dealt once, and ends with the first of its events that ends it. Its log is completed by the event of the
#: deal or of an act, without which it was voided before it was over.
_HANDS = f"""
WITH dealt AS (
    SELECT doc #>> '{{data,hand}}' AS hand, doc #>> '{{data,table}}' AS "table", doc #>> '{{data,game}}' AS game,
        doc ->> 'actor' AS dealer, (doc ->> 'at')::timestamptz AS at,
        jsonb_array_length(doc #> '{{data,seats}}') AS seats,
        (doc #>> '{{data,carry}}')::bigint AS carry, doc #> '{{data,card_verbs,shown}}' AS verbs,
        coalesce(doc #>> '{{data,rules}}', '') AS rules, doc #> '{{data,options}}' AS options
    FROM audit_event WHERE house_id = %(house)s AND id BETWEEN %(dealt)s AND %(last)s AND doc ->> 'kind' = 'hand.dealt'
), over AS (
    SELECT DISTINCT ON (hand) * FROM (
        SELECT id, doc #>> '{{data,hand}}' AS hand, (doc ->> 'at')::timestamptz AS at,
            coalesce((doc #>> '{{data,handle}}')::bigint, 0) AS handle, doc #> '{{data,log}}' AS log
        FROM audit_event WHERE house_id = %(house)s AND id BETWEEN %(dealt)s AND %(last)s
        AND doc ->> 'kind' IN ('hand.dealt', 'hand.acted') AND doc #> '{{data,log}}' IS NOT NULL
    ) completed ORDER BY hand, id DESC
), ended AS (
    SELECT DISTINCT ON (hand) * FROM (
        SELECT id, {DAY_OF_EVENT} AS day, doc #>> '{{data,hand}}' AS hand, doc ->> 'kind' AS kind,
            CASE doc ->> 'kind' WHEN 'hand.settled' THEN (doc #>> '{{data,result,tax}}')::bigint
                WHEN 'hand.ruled' THEN (doc #>> '{{data,tax}}')::bigint ELSE 0 END AS tax
        FROM audit_event
        WHERE house_id = %(house)s AND id BETWEEN %(dealt)s AND %(last)s AND doc ->> 'kind' = ANY(%(ends)s)
    ) said ORDER BY hand, id
), hand AS (
    SELECT ended.day, ended.kind, ended.tax, dealt.*,
        coalesce(over.handle, 0) AS handle, over.at AS over_at, over.log
    FROM ended JOIN dealt USING (hand) LEFT JOIN over USING (hand)
)
"""  # noqa: S608 - constants only
_ENDS = ["hand.settled", "hand.ruled", "hand.voided"]
_NOTHING: Mapping[str, Any] = MappingProxyType({})
#: Of these figures one pass over the events is enough: of each hand its table, the first event that ends it with
#: whether it voids it, and the newest event that completes its log with the handle. OFFSET 0 keeps the planner from
#: sorting whole events.
_PLAYED = f"""
SELECT day, "table", count(*), coalesce(sum(handle), 0)::bigint FROM (
    SELECT {DAY_OF_EVENT} AS day, "table", is_void, handle FROM (
        SELECT "table", ended[1] AS id, ended[2] = 1 AS is_void, completed[2] AS handle FROM (
            SELECT min("table") AS "table", min(ARRAY[id, is_void]) FILTER (WHERE is_void IS NOT NULL) AS ended,
                max(ARRAY[id, handle]) FILTER (WHERE handle IS NOT NULL) AS completed
            FROM (
                SELECT id, doc #>> '{{data,hand}}' AS hand,
                    CASE WHEN doc ->> 'kind' = 'hand.dealt' THEN doc #>> '{{data,table}}' END AS "table",
                    CASE WHEN doc ->> 'kind' = ANY(%(ends)s) THEN (doc ->> 'kind' = 'hand.voided')::int END AS is_void,
                    CASE WHEN doc ->> 'kind' IN ('hand.dealt', 'hand.acted') AND doc -> 'data' ? 'log'
                        THEN coalesce((doc #>> '{{data,handle}}')::bigint, 0) END AS handle
                FROM audit_event WHERE house_id = %(house)s AND id BETWEEN %(dealt)s AND %(last)s AND (
                    doc ->> 'kind' = 'hand.dealt' OR doc ->> 'kind' = ANY(%(ends)s)
                    OR doc ->> 'kind' = 'hand.acted' AND doc -> 'data' ? 'log') OFFSET 0
            ) one GROUP BY hand
        ) said
    ) hand WHERE "table" IS NOT NULL AND id IS NOT NULL
) over WHERE NOT is_void AND day = ANY(%(wanted)s) GROUP BY 1, 2
"""  # noqa: S608 - constants only
#: By day and table, by dealer and game, by hour, by the game that the table was set up for, by game and stake, and by
#: day, table and stake. Whether a seat has shown its hand is asked of games with verbs for that, and of complete logs.
_SUMS = f"""{_HANDS}, wanted AS (
    SELECT * FROM unnest(%(tables)s::text[], %(games)s::text[]) AS wanted ("table", set_up)
), said AS (
    SELECT * FROM unnest(%(stake_games)s::text[], %(stake_rules)s::text[], %(stake_options)s::text[])
        AS said (game, rules, option)
), one AS (
    SELECT hand.*, wanted.set_up, kind <> 'hand.voided' AS counts, (options ->> said.option)::bigint AS stake,
        extract(hour FROM hand.at AT TIME ZONE %(zone)s)::int AS hour,
        trunc(extract(epoch FROM over_at - hand.at))::bigint AS seconds,
        CASE WHEN log IS NOT NULL AND jsonb_typeof(verbs) = 'array' AND verbs <> '[]' THEN EXISTS (
            SELECT FROM jsonb_array_elements_text(log) line WHERE verbs ? split_part(line, ' ', 2)) END AS shown
    FROM hand JOIN wanted USING ("table") LEFT JOIN said USING (game, rules) WHERE day = ANY(%(wanted)s)
    AND (%(dealer)s::text IS NULL OR dealer = %(dealer)s)
)
SELECT grouping(day, "table", dealer, game, hour, set_up, stake), day, "table", dealer, game, hour, set_up, stake,
    count(*) FILTER (WHERE kind = 'hand.settled'), count(*) FILTER (WHERE kind = 'hand.ruled'),
    count(*) FILTER (WHERE kind = 'hand.voided'), coalesce(sum(seats) FILTER (WHERE counts), 0)::bigint,
    coalesce(max(seats) FILTER (WHERE counts), 0), coalesce(sum(handle) FILTER (WHERE counts), 0)::bigint,
    coalesce(sum(handle + carry) FILTER (WHERE counts), 0)::bigint,
    coalesce(sum(tax) FILTER (WHERE counts), 0)::bigint, count(shown) FILTER (WHERE counts),
    count(*) FILTER (WHERE counts AND NOT shown),
    percentile_disc(0.5) WITHIN GROUP (ORDER BY seconds) FILTER (WHERE counts AND seconds IS NOT NULL)
FROM one GROUP BY GROUPING SETS (
    (day, "table"), (dealer, game), (hour), (set_up), (game, stake), (day, "table", stake))
"""  # noqa: S608 - constants only
#: The same ends by the events alone, without their deals; handles are those of the rows of the hands.
_ENDED = f"""
SELECT said.day, chain.name, said.kind, count(*), coalesce(sum(hand.handle), 0)::bigint,
    coalesce(sum(said.tax), 0)::bigint
FROM (
    SELECT {DAY_OF_EVENT} AS day, house_id, chain_id, doc ->> 'kind' AS kind, doc #>> '{{data,hand}}' AS name,
        CASE doc ->> 'kind' WHEN 'hand.settled' THEN (doc #>> '{{data,result,tax}}')::bigint
            WHEN 'hand.ruled' THEN (doc #>> '{{data,tax}}')::bigint ELSE 0 END AS tax
    FROM audit_event WHERE house_id = %(house)s AND id BETWEEN %(dealt)s AND %(last)s AND doc ->> 'kind' = ANY(%(ends)s)
) said JOIN audit_chainhead chain ON chain.id = said.chain_id
LEFT JOIN hands_hand hand ON hand.house_id = said.house_id AND hand.name = said.name
WHERE %(dealer)s::text IS NULL OR said.name IN (
    SELECT doc #>> '{{data,hand}}' FROM audit_event WHERE house_id = %(house)s AND id BETWEEN %(dealt)s AND %(last)s
    AND doc ->> 'kind' = 'hand.dealt' AND doc ->> 'actor' = %(dealer)s)
GROUP BY 1, 2, 3
"""  # noqa: S608 - constants only
#: Tax that rulings brought, that later ones gave back, and that tables brought when they were closed: they are few.
_TAXED_BESIDE = f"""
SELECT doc ->> 'kind', coalesce(sum(CASE doc ->> 'kind' WHEN 'hand.ruled' THEN (doc #>> '{{data,tax}}')::bigint
    WHEN 'hand.ruled_later' THEN
        -(SELECT coalesce(sum(value::bigint), 0) FROM jsonb_each_text(doc #> '{{data,tax_refunded}}'))
    ELSE (SELECT coalesce(sum(value::bigint), 0) FROM jsonb_each_text(doc #> '{{data,shares}}')
        WHERE starts_with(key, %(prefix)s)) END), 0)::bigint
FROM audit_event WHERE house_id = %(house)s AND id BETWEEN %(first)s AND %(last)s
AND (%(whole)s OR {DAY_OF_EVENT} = ANY(%(wanted)s))
AND doc ->> 'kind' IN ('hand.ruled', 'hand.ruled_later', 'table.closed') GROUP BY 1
"""  # noqa: S608 - constants only
#: Hands that ended among these events, and were dealt before them; and the events that dealt such hands, the last ones
#: first: nothing older is read than the oldest of them.
_DEALT_BEFORE = """
SELECT doc #>> '{data,hand}' FROM audit_event
WHERE house_id = %(house)s AND id BETWEEN %(first)s AND %(last)s AND doc ->> 'kind' = ANY(%(ends)s)
EXCEPT SELECT doc #>> '{data,hand}' FROM audit_event
WHERE house_id = %(house)s AND id BETWEEN %(first)s AND %(last)s AND doc ->> 'kind' = 'hand.dealt'
"""
_DEALT = """
SELECT id FROM audit_event WHERE house_id = %(house)s AND id < %(first)s AND doc ->> 'kind' = 'hand.dealt'
AND doc #>> '{data,hand}' = ANY(%(hands)s) ORDER BY id DESC LIMIT %(count)s
"""


class Grouped(IntEnum):
    """What `grouping` says of each set of columns."""

    TABLES = 0b0011111
    DEALERS = 0b1100111
    HOURS = 0b1111011
    GAMES = 0b1111101
    STAKES = 0b1110110
    STAKES_OF_TABLES = 0b0011110


@dataclass(frozen=True, slots=True)
class Played:
    """Sums over hands that were settled, ruled on or voided, in minor units; of voided ones only their number.
    `showable` are hands of games in which hands are shown, `uncontested` those of them in which none was; `median` of
    the whole seconds from the deal to the end of the log."""

    settled: int = 0
    ruled: int = 0
    voided: int = 0
    seats: int = 0
    most_seats: int = 0
    handle: int = 0
    pots: int = 0
    tax: int = 0
    showable: int = 0
    uncontested: int = 0
    median: int | None = None

    @property
    def hands(self) -> int:
        """Without voided ones."""
        return self.settled + self.ruled


@dataclass(slots=True)
class Sums:
    """Hands of the days and tables that a run asks for: by day and table, by dealer and game, by the hour of the deal
    in the house's zone, by the game for which the table was set up, and by game and stake (minor units); and the stakes
    that were played at a table in a day."""

    tables: dict[tuple[str, str], Played]
    dealers: dict[tuple[str, str], Played]
    hours: dict[int, Played]
    games: dict[str, Played]
    stakes: dict[tuple[str, int], Played]
    stakes_of: dict[tuple[str, str], set[int]]


def played(scope: Scope) -> dict[tuple[str, str], tuple[int, int]]:
    """Hands that were settled or ruled on in the days that a run asks for, and the money that seats played for in them
    (minor units), by day and table."""
    return {(day, table): (hands, handle) for day, table, hands, handle in _rows(_PLAYED, scope)}


def sums(scope: Scope, games: Mapping[str, str]) -> Sums:
    """Hands of the days, and of the dealer if it names one, that a run asks for, at these tables; `games`: by table
    the game that it was set up for."""
    found = Sums({}, {}, {}, {}, {}, {})
    stake_games, stake_rules, options = (list(column) for column in zip(*stake_options(), strict=True))
    asked = {
        "tables": list(games), "games": list(games.values()), "zone": scope.house.time_zone,
        "stake_games": stake_games, "stake_rules": stake_rules, "stake_options": options,
    }  # fmt: skip
    for grouped, day, table, dealer, game, hour, set_up, stake, *figures in _rows(_SUMS, scope, asked):
        one = Played(*figures)
        match grouped:
            case Grouped.TABLES:
                found.tables[day, table] = one
            case Grouped.DEALERS:
                found.dealers[dealer, game] = one
            case Grouped.HOURS:
                found.hours[hour] = one
            case Grouped.GAMES:
                found.games[set_up] = one
            case Grouped.STAKES:
                found.stakes[game, stake] = one
            case Grouped.STAKES_OF_TABLES:
                found.stakes_of.setdefault((day, table), set()).add(stake)
    return found


@dataclass(frozen=True, slots=True)
class Ends:
    """How many hands of a table ended in one way in a day, the handle of their rows, and the tax of their results or
    rulings, minor units."""

    day: str
    table: str
    state: str
    hands: int
    handle: int
    tax: int


def ends(scope: Scope) -> list[Ends]:
    """The hands that were settled, ruled on or voided in the days that a run asks for, by these events alone; where it
    names a dealer, those that this person has dealt."""
    days = DayRange.of(scope)
    return [one for one in scope.once("ends of hands", _ends) if days.takes(one.day)]


def _ends(scope: Scope) -> list[Ends]:
    """The same of more days than these, where no first one is named."""
    return [Ends(day, place(chain), kind.partition(".")[2], *sums) for day, chain, kind, *sums in _rows(_ENDED, scope)]


def taxed(scope: Scope) -> int:
    """Tax of results of hands, rulings and closings of tables, less what later rulings have refunded: minor units, of
    the days that a run asks for, without a first one of all days. Where it names a dealer, its hands are only those."""
    every = scope.once("ends of hands", _ends) if span(scope).is_whole else ends(scope)
    return sum(one.tax for one in every if one.state == "settled") + sum(taxed_beside(scope).values())


def taxed_beside(scope: Scope) -> dict[str, int]:
    """Tax by the kind of the event that brought it, but for results of hands: rulings, closings of tables; below zero
    what later rulings have refunded. Minor units, of the days that `taxed` has."""
    asked = {"prefix": f"{Account.HOUSE_TAX}/", "whole": span(scope).is_whole}
    return dict(_rows(_TAXED_BESIDE, scope, asked))


def dealt_since(scope: Scope) -> int:
    """The first event that says something of hands that ended in the days that a run asks for: that of the oldest of
    their deals, or the first one of the days."""
    return scope.once("deals of hands", _dealt_since)


def _dealt_since(scope: Scope) -> int:
    lies = span(scope)
    if lies.is_whole:
        return lies.first_event
    asked = {"house": scope.house.id, "ends": _ENDS, "first": lies.first_event, "last": lies.last_event}
    hands = [hand for (hand,) in fetched(_DEALT_BEFORE, asked)]
    dealt = fetched(_DEALT, asked | {"hands": hands, "count": len(hands)}) if hands else []
    return min((event for (event,) in dealt), default=lies.first_event)


def _asked(scope: Scope) -> dict[str, Any]:
    """Parameters of all statements."""
    lies = span(scope)
    return {
        "house": scope.house.id, "first": lies.first_event, "last": lies.last_event, "dealt": dealt_since(scope),
        "ends": _ENDS, "dealer": scope.filters.get(DEALER.name),
    } | DaysOfEvents(scope).parameters  # fmt: skip


def _rows(statement: str, scope: Scope, more: Mapping[str, Any] = _NOTHING) -> list[tuple[Any, ...]]:
    return fetched(statement, _asked(scope) | dict(more))
