"""What hands came to for each player, by gaming day and table: settled ones as the events of deals and of settlements
have it, ruled ones as the stakes in the ledger and the awards of the ruling."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.reports.frame.movements import Turned, events
from casino.reports.frame.reading import fetched
from casino.reports.frame.report import Scope
from casino.reports.frame.span import span
from casino.reports.frame.trail import DAY_OF_EVENT, DaysOfEvents, place
from casino.reports.table_hands import dealt_since, taxed_beside

#: Seats are in play order in both events; the winner is the number of one of them, 0 where nobody won. OFFSET 0 keeps
#: the planner from pairing whole events.
_RESULTS = f"""
WITH dealt AS (
    SELECT doc #>> '{{data,hand}}' AS hand, doc #>> '{{data,table}}' AS "table", doc #> '{{data,seats}}' AS seats
    FROM audit_event
    WHERE house_id = %(house)s AND id BETWEEN %(dealt)s AND %(last)s AND doc ->> 'kind' = 'hand.dealt' OFFSET 0
), settled AS (
    SELECT id, doc #>> '{{data,hand}}' AS hand, doc #> '{{data,result,net}}' AS net,
        (doc #>> '{{data,result,winner}}')::int AS winner, (doc #>> '{{data,result,tax}}')::bigint AS tax
    FROM audit_event
    WHERE house_id = %(house)s AND id BETWEEN %(dealt)s AND %(last)s AND doc ->> 'kind' = 'hand.settled' OFFSET 0
)
SELECT {DAY_OF_EVENT} AS day, "table", seat ->> 'player', count(*), sum((net ->> (place - 1)::int)::bigint)::bigint,
    sum(CASE WHEN winner = place THEN tax ELSE 0 END)::bigint, min(hand) FILTER (WHERE seats IS NULL)
FROM settled LEFT JOIN dealt USING (hand)
LEFT JOIN LATERAL jsonb_array_elements(seats) WITH ORDINALITY AS seated (seat, place) ON true
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""  # noqa: S608 - constants only
#: By the settlements alone.
_TAX = """
SELECT coalesce(sum((doc #>> '{data,result,tax}')::bigint), 0)::bigint FROM audit_event
WHERE house_id = %s AND id <= %s AND doc ->> 'kind' = 'hand.settled'
AND coalesce((doc #>> '{data,result,winner}')::int, 0) <> 0
"""
#: The last deals first: nothing older is read than the oldest of them.
_SEATS = """
SELECT doc #>> '{data,hand}', ARRAY(
    SELECT seat ->> 'player' FROM jsonb_array_elements(doc #> '{data,seats}') WITH ORDINALITY AS seated (seat, place)
    ORDER BY place)
FROM audit_event WHERE house_id = %s AND id <= %s AND doc ->> 'kind' = 'hand.dealt'
AND doc #>> '{data,hand}' = ANY(%s) ORDER BY id DESC LIMIT %s
"""
#: What play moved on the stacks of seats, of hands with these names.
_STAKED = """
SELECT posted.metadata ->> 'hand', split_part(account.code, '/', 3), sum(entry.amount * account.normal_side)::bigint
FROM ledger_transaction posted JOIN ledger_entry entry ON entry.transaction_id = posted.id
JOIN ledger_account account ON account.id = entry.account_id
WHERE posted.book = %s AND posted.id <= %s AND posted.kind = 'hand.stakes' AND account.code LIKE %s
AND posted.metadata ->> 'hand' = ANY(%s) GROUP BY 1, 2
"""
#: What the ledger moved on the stacks of seats by hands that were settled or ruled on.
_MOVED = """
SELECT coalesce(sum(entry.amount * account.normal_side), 0)::bigint FROM ledger_transaction posted
JOIN ledger_entry entry ON entry.transaction_id = posted.id
JOIN ledger_account account ON account.id = entry.account_id
WHERE posted.book = %s AND posted.id <= %s AND account.code LIKE %s
AND (%s::text[] IS NULL OR split_part(account.code, '/', 2) = ANY(%s))
AND posted.kind IN ('hand.stakes', 'hand.settled', 'hand.ruled', 'hand.ruled_later')
AND posted.metadata ->> 'hand' IN (
    SELECT event.doc -> 'data' ->> 'hand' FROM audit_event event
    WHERE event.house_id = %s AND event.doc ->> 'kind' IN ('hand.settled', 'hand.ruled') AND event.id <= %s OFFSET 0)
"""
_STACKS = f"{Account.SEAT_STACK}/%"
_RULED, _LATER = "hand.ruled", "hand.ruled_later"


@dataclass(slots=True)
class Result:
    """Hands of a player at a table that were settled or ruled on in a day: how many, how many of them were ruled on,
    what they brought before fees, the tax of pots won, minor units. A later ruling moves money of its own day and is no
    hand."""

    day: str
    table: str
    player: str
    hands: int = 0
    ruled: int = 0
    net: int = 0
    tax: int = 0


def staked_in_days(turned: Iterable[Turned]) -> dict[tuple[str, str], int]:
    """What each player has staked in hands by what moved on seats, by player and gaming day, minor units."""
    found: dict[tuple[str, str], int] = {}
    for one in turned:
        if one.number == Account.SEAT_STACK and one.kind == "hand.stakes":
            key = one.place.rpartition("/")[2], one.day
            found[key] = found.get(key, 0) - one.net
    return found


def results(scope: Scope) -> list[Result]:
    """Of the days that a run asks for. Raises ValueError where a hand was settled or ruled on that was not dealt."""
    found: dict[tuple[str, str, str], Result] = {}
    for one in (*_settled(scope), *_ruled(scope)):
        sums = found.setdefault((one.day, one.player, one.table), Result(one.day, one.table, one.player))
        for name in ("hands", "ruled", "net", "tax"):
            setattr(sums, name, getattr(sums, name) + getattr(one, name))
    return [found[key] for key in sorted(found)]


def _settled(scope: Scope) -> Iterator[Result]:
    days = DaysOfEvents(scope)
    asked = {"house": scope.house.id, "dealt": dealt_since(scope), "last": span(scope).last_event} | days.parameters
    for day, table, player, hands, net, tax, undealt in fetched(_RESULTS, asked):
        if not days.range.takes(day):
            continue
        if undealt is not None:
            raise ValueError(f"{undealt} was settled and not dealt")
        yield Result(day, table, player, hands, net=net, tax=tax)


def _ruled(scope: Scope) -> Iterator[Result]:
    """Rulings are few: they are read one by one."""
    days = DaysOfEvents(scope)
    said = [
        (days.of(event), place(chain), doc)
        for event, chain, _, doc in events(scope, (_RULED, _LATER), days.range)
        if days.takes(event)
    ]
    if not said:
        return
    hands = sorted({doc["data"]["hand"] for *_, doc in said})
    seats = dict(fetched(_SEATS, [scope.house.id, scope.as_of.event, hands, len(hands)]))
    asked = [scope.house.id, scope.as_of.transaction, _STACKS, hands]
    staked = {(hand, player): net for hand, player, net in fetched(_STAKED, asked)}
    for day, table, doc in said:
        data = doc["data"]
        if (players := seats.get(data["hand"])) is None:
            raise ValueError(f"{data['hand']} was ruled on and not dealt")
        of_hand = doc["kind"] == _RULED
        net, tax = (data["awards"], _tax_of(data)) if of_hand else _remedied(data)
        for number, player in enumerate(players, start=1):
            actor = f"p{number}"
            stake = staked.get((data["hand"], player), 0) if of_hand else 0
            yield Result(day, table, player, int(of_hand), int(of_hand), net.get(actor, 0) + stake, tax.get(actor, 0))


def _tax_of(ruling: Mapping[str, Any]) -> dict[str, int]:
    """The tax of a ruling by the seats that it gave the pot to, as their awards are to each other; all of it."""
    awards, whole = ruling["awards"], sum(ruling["awards"].values())
    found, awarded, taken = {}, 0, 0
    for actor, amount in sorted(awards.items()):
        awarded += amount
        found[actor] = ruling["tax"] * awarded // whole - taken
        taken += found[actor]
    return found


def _remedied(ruling: Mapping[str, Any]) -> tuple[dict[str, int], dict[str, int]]:
    """What a later ruling brought each seat before fees, and the tax that it bears since: below zero what came back."""
    net: dict[str, int] = {}
    moved: Sequence[tuple[str, int]] = (
        *ruling["tax_refunded"].items(), *ruling["made_good"].items(),
        *((one["loser"], -one["amount"]) for one in ruling["collected"]),
        *((one["winner"], one["amount"]) for one in ruling["collected"]),
    )  # fmt: skip
    for actor, amount in moved:
        net[actor] = net.get(actor, 0) + amount
    return net, {actor: -amount for actor, amount in ruling["tax_refunded"].items()}


def tax_of_winners(scope: Scope) -> int:
    """Tax of all settled hands that somebody won, and of rulings, less what later ones gave back, minor units."""
    [(found,)] = fetched(_TAX, [scope.house.id, scope.as_of.event])
    by_kind = taxed_beside(scope)
    return int(found) + by_kind.get(_RULED, 0) + by_kind.get(_LATER, 0)


def moved_by_hands(scope: Scope, tables: Iterable[str] | None = None) -> int:
    """What hands that were settled or ruled on moved on the stacks of all seats, or of those of these tables, fees and
    all, minor units."""
    wanted = None if tables is None else list(tables)
    asked = [scope.house.id, scope.as_of.transaction, _STACKS, wanted, wanted, scope.house.id, scope.as_of.event]
    [(found,)] = fetched(_MOVED, asked)
    return int(found)
