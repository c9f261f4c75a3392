"""A31: whether cards were dealt fairly, as far as numbers can say: every deck of hands that are over, tested by pack,
game and mode, by table and by dealer. The tests and their sources are in `casino/reports/deck_tests.py`."""

from collections.abc import Iterator
from fractions import Fraction

from casino.reports.deal_hands import Dealing, Group, Key, dealing
from casino.reports.deck_tests import LEAST_DECKS
from casino.reports.frame.charts import Chart, ChartKind, Series
from casino.reports.frame.columns import Column, Row, Type, coded, count, decimal, flag, millionths, ref, share, text
from casino.reports.frame.filters import DAYS, DEALER, GAME, TABLE
from casino.reports.frame.reading import fetched
from casino.reports.frame.report import (
    FORMATS,
    Equality,
    Filter,
    FilterKind,
    Format,
    Report,
    Results,
    Retention,
    Scope,
    Section,
    Sensitivity,
)
from casino.reports.frame.span import span
from casino.reports.frame.trail import DAY_OF_EVENT, DaysOfEvents, place
from casino.staff.models import Role

#: Adjusted probability below which a test is an alarm.
LEVEL = 0.01
TOO_FEW = f"too few decks: nothing is tested or shown of less than {LEAST_DECKS:,}"
_MODE = Filter("mode", FilterKind.CHOICE, "Only electronic deals, or only packs.", choices=("electronic", "physical"))
#: Deals of which the events up to the moment know.
_ROWS = """
SELECT count(*) FROM hands_deal deal WHERE deal.house_id = %s AND EXISTS (
    SELECT FROM audit_event event WHERE event.house_id = deal.house_id AND event.id <= %s
    AND event.doc ->> 'kind' = 'deal.committed' AND event.doc -> 'data' ->> 'hand' = deal.name)
"""
#: Deals that were prepared, by gaming day, place and who did it, and what became of them; hands of real packs were not.
#: A name is that of one deal. OFFSET 0 keeps the planner from sorting whole events.
_PREPARED = f"""
SELECT day, name, dealer, count(*), count(*) FILTER (WHERE ended = 'hand.dealt'),
    count(*) FILTER (WHERE ended = 'deal.abandoned')
FROM (
    SELECT min({DAY_OF_EVENT}) FILTER (WHERE kind = 'deal.committed') AS day,
        min(chain_id) FILTER (WHERE kind = 'deal.committed') AS chain_id,
        min(actor) FILTER (WHERE kind = 'deal.committed') AS dealer,
        min(kind) FILTER (WHERE kind <> 'deal.committed') AS ended
    FROM (
        SELECT id, chain_id, doc ->> 'kind' AS kind, doc #>> '{{data,hand}}' AS hand, doc ->> 'actor' AS actor
        FROM audit_event
        WHERE house_id = %(house)s AND (id BETWEEN %(first)s AND %(last)s OR id = ANY(%(after)s)) AND (
            doc ->> 'kind' IN ('deal.committed', 'deal.abandoned')
            OR doc ->> 'kind' = 'hand.dealt' AND doc #>> '{{data,commitment}}' <> '') OFFSET 0
    ) said GROUP BY hand
) deal JOIN audit_chainhead chain ON chain.id = deal.chain_id GROUP BY 1, 2, 3
"""  # noqa: S608 - constants only
#: What became after some days of the last deal that was prepared at each table in them.
_ENDED_AFTER = """
SELECT later.id FROM (
    SELECT DISTINCT ON (chain_id) chain_id, seq, doc #>> '{data,hand}' AS hand FROM audit_event
    WHERE house_id = %(house)s AND id BETWEEN %(first)s AND %(last)s AND doc ->> 'kind' = 'deal.committed'
    ORDER BY chain_id, id DESC
) begun CROSS JOIN LATERAL (
    SELECT id FROM audit_event WHERE house_id = %(house)s AND chain_id = begun.chain_id AND seq > begun.seq
    AND doc ->> 'kind' IN ('hand.dealt', 'deal.abandoned') AND doc #>> '{data,hand}' = begun.hand ORDER BY seq LIMIT 1
) later WHERE later.id > %(last)s AND later.id <= %(event)s
"""
#: Events by chain: ends of hands, and deals of electronic hands.
_COUNTED = """
SELECT chain.name, count(*) FILTER (WHERE event.doc ->> 'kind' <> 'hand.dealt'),
    count(*) FILTER (WHERE event.doc ->> 'kind' = 'hand.dealt' AND event.doc #>> '{data,commitment}' <> '')
FROM audit_event event JOIN audit_chainhead chain ON chain.id = event.chain_id
WHERE event.house_id = %s AND event.id <= %s
    AND event.doc ->> 'kind' = ANY('{hand.settled,hand.ruled,hand.voided,hand.dealt}') GROUP BY 1
"""


def _dealing(scope: Scope) -> Dealing:
    return scope.once("dealing", dealing)


def _groups(scope: Scope) -> Iterator[tuple[Key, Group]]:
    yield from sorted(_dealing(scope).groups.items())


def _hands(scope: Scope) -> Iterator[Row]:
    for key, group in _groups(scope):
        states, decks = group.states, group.decks
        yield (
            *key, states["settled"], states["ruled"], states["voided"], decks.deck_count, group.unknown,
            group.unreadable, group.seeded, share(group.seeded, group.electronic), "" if decks.enough else TOO_FEW,
        )  # fmt: skip


def _tests(scope: Scope) -> Iterator[Row]:
    for key, test, adjusted in _dealing(scope).judged():
        expected = None if test.expected is None else millionths(round(test.expected, 3))
        yield (
            *key, test.name, millionths(round(test.statistic, 3)), test.degrees, expected,
            millionths(test.probability), millionths(adjusted), adjusted < LEVEL,
        )  # fmt: skip


def _kinds(scope: Scope) -> Iterator[Row]:
    for key, group in _groups(scope):
        kinds = group.decks.kinds
        if kinds is None or not group.decks.enough:
            continue
        exact, hands = kinds.frequencies, group.decks.hands()
        seen = dict(zip(exact.names, group.decks.by_kind(), strict=True)) | {
            name: group.decks.watched()[name] for name in exact.watched
        }
        for name, number in (*zip(exact.names, exact.counts, strict=True), *exact.watched.items()):
            expected = millionths(round(Fraction(hands * number, exact.total), 3))
            yield *key, name, number, exact.total, hands, seen[name], expected


def _seats(scope: Scope) -> Iterator[Row]:
    """Wins that are expected of a chair are those of its places in play order, in the hands of the same table: who acts
    first or last wins more or less by the rules of the game. How well somebody plays is in it, so it is no test."""
    found = _dealing(scope)
    for (table, game, seat), chair in sorted(found.chairs.items()):
        expected = Fraction(0)
        for (seats, at), hands in chair.places.items():
            dealt_in, won = found.places[table, game, seats, at]
            expected += Fraction(hands * won, dealt_in)
        yield table, game, seat, chair.hands, chair.won, share(chair.won, chair.hands), millionths(round(expected, 3))


def _abandoned(scope: Scope) -> Iterator[Row]:
    """Electronic deals by table and by who prepared them. Each abandoned one has shown a deck to those who can open its
    seed."""
    days, table, asked = DaysOfEvents(scope), scope.filters.get("table"), scope.filters.get(DEALER.name)
    found: dict[tuple[str, str], list[int]] = {}
    lies = span(scope)
    parameters = {
        "house": scope.house.id, "event": scope.as_of.event, "first": lies.first_event, "last": lies.last_event,
    } | days.parameters  # fmt: skip
    parameters["after"] = [] if lies.is_whole else [event for (event,) in fetched(_ENDED_AFTER, parameters)]
    for day, chain, actor, *numbers in fetched(_PREPARED, parameters):
        code = place(chain)
        if days.range.takes(day) and table in (None, code) and asked in (None, actor):
            sums = found.setdefault((code, actor), [0, 0, 0])
            found[code, actor] = [one + other for one, other in zip(sums, numbers, strict=True)]
    for (code, dealer), (begun, played, given_up) in sorted(found.items()):
        yield code, dealer, begun, played, given_up, share(given_up, begun)


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    found = _dealing(scope)
    counted = dict.fromkeys(("all", "table", "dealer"), 0)
    for key, group in found.groups.items():
        counted[key[3]] += group.states.total()
    said = [] if scope.filters.keys() - {"table"} else fetched(_COUNTED, [scope.house.id, scope.as_of.event])
    if not scope.filters.keys() - {"table"}:
        over = sum(ended for chain, ended, _ in said if scope.filters.get("table") in (None, place(chain)))
        yield Equality(
            "hands counted = hands settled, ruled and voided by the events", counted["all"], over, Type.COUNT
        )
    yield Equality("hands by table = all hands", counted["table"], counted["all"], Type.COUNT)
    yield Equality("hands by dealer = all hands", counted["dealer"], counted["all"], Type.COUNT)
    yield Equality(
        "electronic hands = seeds that their deals had committed to", found.electronic, found.committed, Type.COUNT
    )
    yield Equality("hands whose cards cannot be opened = none", found.unreadable, 0, Type.COUNT)
    yield Equality(
        "hands with a winner by the rows = by the events", found.wins_of_rows, found.wins_of_events, Type.COUNT
    )
    if not scope.filters:
        totals = results["abandoned"].totals
        [(rows,)] = fetched(_ROWS, [scope.house.id, scope.as_of.event])
        yield Equality("deals prepared by the events = rows of deals", totals["prepared"], rows, Type.COUNT)
        dealt = sum(electronic for _, _, electronic in said)
        yield Equality(
            "prepared deals that were dealt = electronic hands by the events", totals["dealt"], dealt, Type.COUNT
        )


_GROUP = (
    ref("pack", "Pack"), ref("game", "Game"), coded("mode", "Mode"), text("by", "Of"), ref("name", "Table or dealer"),
)  # fmt: skip

REPORT = Report(
    id="deal-statistics",
    number="A31",
    version=2,
    title="Deal statistics",
    text="Whether the cards of hands that are over came as of fairly shuffled packs: each card at each place, runs, "
    "serial correlation, likeness to the deal before, kinds of hand against their exact frequencies. Probabilities are "
    "adjusted for the number of tests (Holm); below 1 % a test is an alarm. An alarm is a case to look into, not a "
    "verdict: of a hundred fair reports one has one.",
    roles=(Role.AUDITOR,),
    sections=(
        Section(
            "hands",
            "Hands",
            (
                *_GROUP, count("settled", "Settled", total=False), count("ruled", "Ruled", total=False),
                count("voided", "Voided", total=False), count("decks", "Decks tested", total=False),
                count("unknown", "Cards not known", total=False), count("unreadable", "Cannot be opened", total=False),
                count("seeded", "With client seeds", total=False), Column("seeded_share", "Of electronic", Type.SHARE),
                text("note", "Note"),
            ),
            _hands,
        ),
        Section(
            "tests",
            "Tests",
            (
                *_GROUP, text("test", "Test"), decimal("statistic", "Statistic"),
                count("degrees", "Degrees of freedom", total=False), decimal("expected", "Expected"),
                decimal("p", "p"), decimal("adjusted", "p adjusted"), flag("alarm", "Alarm"),
            ),
            _tests,
            groups=("test", "game"),
        ),
        Section(
            "kinds",
            "Kinds of hand",
            (
                *_GROUP, coded("kind", "Kind"), count("exact", "Hands of the kind", total=False),
                count("of", "Of", total=False), count("hands", "Hands of four cards", total=False),
                count("seen", "Seen", total=False), decimal("expected", "Expected"),
            ),
            _kinds,
        ),
        Section(
            "seats",
            "Wins by chair",
            (
                ref("table", "Table"), ref("game", "Game"), count("seat", "Chair", total=False),
                count("hands", "Hands with a winner"), count("won", "Won"), Column("won_share", "Share", Type.SHARE),
                decimal("expected", "Expected by place in play order"),
            ),
            _seats,
            groups=("table", "game"),
        ),
        Section(
            "abandoned",
            "Electronic deals",
            (
                ref("table", "Table"), ref("dealer", "Prepared by"), count("prepared", "Prepared"),
                count("dealt", "Dealt"), count("abandoned", "Abandoned"),
                Column("abandoned_share", "Share abandoned", Type.SHARE),
            ),
            _abandoned,
            groups=("table", "dealer"),
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, TABLE, GAME, DEALER, _MODE),
    formats=(*FORMATS, Format.SVG),
    charts=(
        Chart(
            name="kinds", title="Kinds of hand", text="Hands of four cards of each kind, and how many are expected.",
            section="kinds", kind=ChartKind.BARS, x="kind",
            series=(Series("Seen", "seen"), Series("Expected", "expected")), where=("by", "all"), in_order=True,
        ),
    ),
    sensitivity=Sensitivity.PLAYERS,
    retention=Retention.OPERATIONS,
)  # fmt: skip
