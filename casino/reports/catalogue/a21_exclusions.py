"""A21: who is excluded, and who has set which limits; what was refused because of it, and what was paid out since."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.reports.frame.columns import Column, Row, Type, coded, count, money, ref, text, time
from casino.reports.frame.filters import DAYS
from casino.reports.frame.reading import balances, fetched, stream
from casino.reports.frame.report import (
    Equality,
    Filter,
    FilterKind,
    Report,
    Results,
    Retention,
    Scope,
    Section,
    Sensitivity,
)
from casino.reports.frame.trail import DaysOfEvents, at, place
from casino.reports.player_protection import Exclusion, exclusions, limits, minors
from casino.safeguards.models import ExclusionKind
from casino.staff.models import Role

#: Codes of refusals that protect a player.
CODES = ("player_excluded", "not_admitted", "player_limit_reached", "player_is_minor")
PLAYER = Filter("player", FilterKind.CODE, "Only this player.")
KIND = Filter("kind", FilterKind.CHOICE, "Only exclusions of this kind.", choices=tuple(ExclusionKind.values))
STATE = Filter("state", FilterKind.CHOICE, "Only exclusions in this state.", choices=("in_force", "ended"))
_ATTEMPTS = """
SELECT event.id, chain.name, event.doc ->> 'at', event.doc ->> 'actor', event.doc ->> 'role',
    event.doc ->> 'terminal', event.doc -> 'data' ->> 'player', event.doc -> 'data' ->> 'code',
    coalesce(event.doc -> 'data' ->> 'operation', '')
FROM audit_event event JOIN audit_chainhead chain ON chain.id = event.chain_id
WHERE event.house_id = %s AND event.id <= %s AND event.doc ->> 'kind' = 'attempt.refused'
AND event.doc -> 'data' ->> 'code' = ANY(%s) ORDER BY event.id
"""
#: The same events, counted by what they say of the request, not by the player.
_REFUSED = """
SELECT count(*) FROM audit_event WHERE house_id = %s AND id <= %s AND doc ->> 'kind' = 'attempt.refused'
AND doc -> 'data' ->> 'code' = ANY(%s) AND (doc -> 'data' ->> 'status')::integer = 409
"""
#: Rows that were there at the moment, and those of them that were in force then.
_ROWS = """
SELECT count(*), count(*) FILTER (WHERE (lifted_at IS NULL OR lifted_at > %s)
    AND (kind = 'self' OR until IS NULL OR until > %s)), coalesce(max(number), 0)
FROM safeguards_exclusion WHERE house_id = %s AND number <= %s
"""
_LIMITS = "SELECT count(*), coalesce(max(number), 0) FROM safeguards_playerlimit WHERE house_id = %s AND number <= %s"
_MINORS = "SELECT count(*), coalesce(max(number), 0) FROM safeguards_minor WHERE house_id = %s AND number <= %s"
#: Kinds of postings that pay a player out, and the accounts that they lower.
_PAYS = ("cage.cash_out", "cage.noncash_paid", "cage.deposit_returned", "cage.payout_released", "payout.paid_by_bank")
_OWED = (Account.CHIPS_OUTSTANDING, Account.PLAYER_DEPOSITS, Account.HELD_PAYOUTS)
#: What was paid to a player after one event and up to another: by the entries of the ledger, and by what events say
#: that they have posted.
_BY_ENTRIES = """
SELECT coalesce(sum(entry.amount), 0)::bigint FROM ledger_account account
JOIN ledger_entry entry ON entry.account_id = account.id AND entry.amount > 0
JOIN ledger_transaction posted ON posted.id = entry.transaction_id AND posted.reverses_id IS NULL
JOIN audit_posting noted ON noted.transaction_id = posted.id
WHERE account.book = %s AND account.code = ANY(%s) AND posted.kind = ANY(%s) AND posted.id <= %s
AND noted.event_id > %s AND noted.event_id <= %s
"""
_BY_EVENTS = """
SELECT coalesce(sum((leg ->> 2)::bigint), 0)::bigint FROM audit_event event
CROSS JOIN LATERAL jsonb_array_elements(event.doc -> 'postings') posting
CROSS JOIN LATERAL jsonb_array_elements(posting -> 'legs') leg
WHERE event.house_id = %s AND event.id > %s AND event.id <= %s AND event.doc ? 'postings'
AND event.doc ->> 'kind' = ANY(%s) AND leg ->> 0 = ANY(%s) AND (leg ->> 2)::bigint > 0
"""


def _attempts(scope: Scope) -> Iterator[tuple[Any, ...]]:
    return stream(_ATTEMPTS, [scope.house.id, scope.as_of.event, list(CODES)])


def _accounts(one: Exclusion) -> list[str]:
    return [f"{number}/{player}" for number in _OWED for player in sorted(one.players - one.cleared)]


def _paid(scope: Scope, one: Exclusion) -> int:
    """What the player was paid since an exclusion, until it was lifted, minor units."""
    until = one.lifted_by_event or scope.as_of.event
    wanted = [scope.house.id, _accounts(one), list(_PAYS), scope.as_of.transaction, one.event, until]
    [(paid,)] = fetched(_BY_ENTRIES, wanted)
    return int(paid)


def _rows(scope: Scope) -> Iterator[Row]:
    asked, found = scope.filters, exclusions(scope)
    refused: dict[str, list[int]] = {}
    for event, *_, player, code, _ in _attempts(scope):
        if code == CODES[0]:
            refused.setdefault(player, []).append(event)
    for number, one in sorted(found.items()):
        data, lifted = one.doc["data"], one.lifted
        state = "in_force" if one.is_in_force(scope.as_of.at) else "ended"
        if asked.get("state", state) != state or ("player" in asked and asked["player"] not in one.players):
            continue
        if asked.get("kind", data["exclusion_kind"]) != data["exclusion_kind"]:
            continue
        until = one.lifted_by_event or scope.as_of.event
        yield (
            number, one.player, data["exclusion_kind"], data["scope"], data["asked_by"], data["in_person"],
            at(one.doc), one.until, state, one.doc["actor"], one.asked_at, None if lifted is None else at(lifted),
            "" if lifted is None else lifted["actor"], "" if lifted is None else lifted.get("approver", ""),
            "" if lifted is None else lifted["data"]["cause"],
            sum(one.event < event <= until for player in one.players for event in refused.get(player, ())),
            _paid(scope, one),
        )  # fmt: skip


def _limits(scope: Scope) -> Iterator[Row]:
    for one in limits(scope):
        if scope.filters.get("player", one.player) == one.player:
            yield (
                one.number, one.player, one.kind, one.span, one.amount, one.minutes, one.set_at, one.starts_at,
                str(one.state), one.set_by,
            )  # fmt: skip


def _minors(scope: Scope) -> Iterator[Row]:
    for number, one in sorted(minors(scope).items()):
        data, ended = one.doc["data"], one.ended
        if scope.filters.get("player", data["player"]) != data["player"]:
            continue
        sums = {} if ended is None else ended["data"]
        payout = sums.get("payout")
        yield (
            number, data["player"], data["exclusion"], data["least_age"], at(one.doc), one.doc["actor"], one.state,
            None if ended is None else at(ended), "" if ended is None else ended["actor"],
            "" if ended is None else ended.get("approver", ""), sums.get("stakes"), sums.get("deposit"),
            sums.get("held"), sums.get("refund"), sums.get("kept"), sums.get("borne"),
            None if payout is None else payout["payout"],
            None if one.remitted is None else one.remitted["data"]["remittance"],
            None if one.remitted is None else sums["kept"],
        )  # fmt: skip


def _refusals(scope: Scope) -> Iterator[Row]:
    days = DaysOfEvents(scope)
    for event, chain, when, actor, role, terminal, player, code, operation in _attempts(scope):
        if days.takes(event) and scope.filters.get("player", player) == player:
            yield (
                days.of(event) or None, datetime.fromisoformat(when), player, code, operation, place(chain), terminal,
                actor, role, 1,
            )  # fmt: skip


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    house, as_of = scope.house.id, scope.as_of
    found = exclusions(scope)
    last = max(found, default=0)
    [(rows, in_force, number)] = fetched(_ROWS, [as_of.at, as_of.at, house, last])
    yield Equality("exclusions of the events = rows", len(found), rows, Type.COUNT)
    yield Equality("exclusions of the events = their last number", len(found), number, Type.COUNT)
    rebuilt = sum(one.is_in_force(as_of.at) for one in found.values())
    yield Equality("in force, rebuilt from the events = rows in force", rebuilt, in_force, Type.COUNT)
    numbers = [one.number for one in limits(scope)]
    [(stated, number)] = fetched(_LIMITS, [house, max(numbers, default=0)])
    yield Equality("limits of the events = rows", len(numbers), stated, Type.COUNT)
    yield Equality("limits of the events = their last number", len(numbers), number, Type.COUNT)
    recorded = minors(scope)
    [(stated, number)] = fetched(_MINORS, [house, max(recorded, default=0)])
    yield Equality("minors of the events = rows", len(recorded), stated, Type.COUNT)
    yield Equality("minors of the events = their last number", len(recorded), number, Type.COUNT)
    if not scope.filters:
        yield from _of_minors(scope, results)
    named = sum(player is not None for _, *_, player, _, _ in _attempts(scope))
    [(refused,)] = fetched(_REFUSED, [house, as_of.event, list(CODES)])
    yield Equality("attempts refused, by player = events of these refusals", named, refused, Type.COUNT)
    if not scope.filters:
        yield Equality(
            "attempts listed = events of these refusals", results["attempts"].totals["attempts"], refused, Type.COUNT
        )
    by_entries = by_events = 0
    for one in found.values():
        by_entries += _paid(scope, one)
        until = one.lifted_by_event or as_of.event
        kinds = [*_PAYS, "cage.corrected"]
        [(paid,)] = fetched(_BY_EVENTS, [house, one.event, until, kinds, _accounts(one)])
        by_events += int(paid)
    yield Equality("paid out since, by the ledger = what the events have posted", by_entries, by_events, Type.MONEY)


def _of_minors(scope: Scope, results: Results) -> Iterator[Equality]:
    """What minors are given back, and what it has cost."""
    totals = results["minors"].totals
    held = dict.fromkeys((Account.WINNINGS_WITHHELD, Account.STAKES_GIVEN_BACK), 0)
    for one in balances(scope):
        if one.number in held:
            held[Account(one.number)] += one.balance
    there = totals["deposit"] + totals["held"] + totals["borne"]
    yield Equality("given back + kept = deposit + held + borne", totals["refund"] + totals["kept"], there, Type.MONEY)
    left = totals["kept"] - totals["remitted"]
    yield Equality("winnings kept - remitted = balance of 2087", left, held[Account.WINNINGS_WITHHELD], Type.MONEY)
    yield Equality("borne by the house = balance of 5250", totals["borne"], held[Account.STAKES_GIVEN_BACK], Type.MONEY)


REPORT = Report(
    id="exclusions",
    number="A21",
    version=3,
    title="Exclusions and limits",
    text="Who is or was excluded, at whose wish and until when; minors, and what they are given back; limits that "
    "players have set; every attempt that was refused because of them; what an excluded player was paid out since.",
    roles=(Role.COMPLIANCE,),
    sections=(
        Section(
            "exclusions",
            "Exclusions",
            (
                count("exclusion", "No.", total=False), ref("player", "Player"), coded("kind", "Kind"),
                coded("scope", "Scope"), text("asked_by", "Asked by"), Column("in_person", "In person", Type.FLAG),
                time("set_at", "From"), time("until", "Until"), coded("state", "State"), ref("set_by", "Entered by"),
                time("lift_asked_at", "End asked for"), time("lifted_at", "Lifted at"), ref("lifted_by", "Lifted by"),
                ref("approver", "Approver"), coded("cause", "Cause"), count("refused", "Attempts refused"),
                money("paid_out", "Paid out since", total=False),
            ),
            _rows,
            groups=("kind", "scope", "state"),
        ),
        Section(
            "limits",
            "Limits",
            (
                count("number", "No.", total=False), ref("player", "Player"), text("limit", "Limit"),
                coded("span", "Span"), money("amount", "Amount", total=False), count("minutes", "Minutes", total=False),
                time("set_at", "Set at"), time("starts_at", "Counts from"), coded("state", "State"),
                ref("set_by", "Entered by"),
            ),
            _limits,
            groups=("limit", "span", "state"),
        ),
        Section(
            "attempts",
            "Attempts refused",
            (
                Column("day", "Gaming day", Type.DAY), time("at", "At"), ref("player", "Player"), text("code", "Code"),
                text("operation", "Operation"), ref("place", "Place"), ref("terminal", "Terminal"), ref("by", "By"),
                coded("role", "Role"), count("attempts", "Attempts"),
            ),
            _refusals,
            groups=("day", "player", "code", "operation"),
        ),
        Section(
            "minors",
            "Minors",
            (
                count("minor", "No.", total=False), ref("player", "Player"),
                count("exclusion", "Exclusion", total=False), count("least_age", "Age of the law", total=False),
                time("recorded_at", "Recorded at"), ref("recorded_by", "Entered by"), coded("state", "State"),
                time("ended_at", "Ended at"), ref("ended_by", "Ended by"), ref("approver", "Approver"),
                money("stakes", "Stakes"), money("deposit", "Deposit"), money("held", "Held"),
                money("refund", "Given back"), money("kept", "Winnings kept"), money("borne", "Borne by the house"),
                count("payout", "Paid as held payout", total=False),
                count("remittance", "Remittance", total=False), money("remitted", "Winnings remitted"),
            ),
            _minors,
        ),
    ),
    equalities=_equalities,
    filters=(PLAYER, KIND, STATE, *DAYS),
    sensitivity=Sensitivity.PERSONS,
    retention=Retention.PROTECTION,
)  # fmt: skip
