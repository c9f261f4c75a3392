"""A22: what was undone, ruled, corrected or decided against the books, by whom; what was refused."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.reports import approved
from casino.reports.frame.columns import Column, Row, Type, coded, count, decimal, money, ratio, ref, text, time
from casino.reports.frame.denials import denied
from casino.reports.frame.filters import DAYS, LEAST, PERSON, PLACE, is_large
from casino.reports.frame.movements import events, turned
from casino.reports.frame.reading import fetched
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
from casino.reports.frame.span import span
from casino.reports.frame.trail import DaysOfEvents, at, minutes, place
from casino.staff.models import Role

_VOIDS = ("hand.voided",)
_RULINGS = ("hand.ruled", "hand.ruled_later")
#: A dispute moves no money yet: its ruling does.
_DISPUTES = ("hand.disputed", "hand.dispute_raised", "hand.dispute_withdrawn")
_CORRECTIONS = (
    "cage.corrected",
    "hand.line_corrected",
    "hand.entry_corrected",
    "house.duty_lowered",
    "variance.offset",
)
_TRANSFERS = ("fill.cancelled", "credit.cancelled")
_DECISIONS = (
    "box.count_decided", "vault.count_decided", "vault.count_signed_off", "drawer.reopened", "chips.attributed",
    "chips.unattributed", "hand.bonus_refused",
)  # fmt: skip
_GROUPS = {
    "void": _VOIDS, "ruling": _RULINGS, "dispute": _DISPUTES, "correction": _CORRECTIONS, "cancelled": _TRANSFERS,
    "decision": _DECISIONS,
}  # fmt: skip
_GROUP_OF = {kind: group for group, kinds in _GROUPS.items() for kind in kinds}
_KINDS = tuple(_GROUP_OF)
KIND = Filter("kind", FilterKind.CHOICE, "Only overrides of this group.", choices=tuple(_GROUPS))

#: What a correction at the cage takes back: when it was, and what it came to.
_WRONG = """
SELECT fix.id, wrong.doc ->> 'at', coalesce(wrong.doc -> 'data' ->> 'amount',
    wrong.doc -> 'data' -> 'exchange' ->> 'amount', wrong.doc -> 'data' -> 'foreign_chips' ->> 'amount')::bigint
FROM audit_event fix JOIN audit_event wrong ON wrong.house_id = fix.house_id AND wrong.chain_id = fix.chain_id
    AND wrong.seq = (fix.doc -> 'data' ->> 'corrects')::bigint
WHERE fix.house_id = %s AND fix.doc ->> 'kind' = 'cage.corrected' AND fix.id <= %s
"""
#: The last deals first: nothing older is read than the oldest of them.
_DEALT = """
SELECT dealt.doc -> 'data' ->> 'hand', dealt.doc ->> 'at', dealt.doc ->> 'actor' FROM audit_event dealt
WHERE dealt.house_id = %s AND dealt.doc ->> 'kind' = 'hand.dealt' AND dealt.id <= %s
AND dealt.doc -> 'data' ->> 'hand' = ANY(%s) ORDER BY dealt.id DESC LIMIT %s
"""
_MIRRORS = "SELECT count(*) FROM ledger_transaction WHERE book = %s AND reverses_id IS NOT NULL AND id <= %s"
#: Voids, rulings and corrections by table. An evening has few tables, a house few persons.
_HANDS = """
SELECT coalesce(event.doc -> 'data' ->> 'table', split_part(event.doc ->> 'chain', '/', 2)), event.id
FROM audit_event event WHERE event.house_id = %s AND event.doc ->> 'kind' = 'hand.dealt' AND event.id BETWEEN %s AND %s
ORDER BY event.id
"""


def _amount(doc: Mapping[str, Any]) -> int | None:
    """What an override moved or undid, minor units; None where it moved nothing."""
    data = doc["data"]
    match doc["kind"]:
        case "hand.voided" | "hand.ruled":
            return int(data["pot"])
        case "hand.ruled_later":
            given = sum(sum(data.get(name, {}).values()) for name in ("tax_refunded", "made_good", "fee_refunded"))
            return int(given + sum(one["amount"] for one in data["collected"]))
        case "fill.cancelled" | "credit.cancelled":
            return int(data["transfer"]["value"])
        case "drawer.reopened":
            return int(data["float_cash"])
    return int(data["amount"]) if "amount" in data else None


def _subject(doc: Mapping[str, Any]) -> str:
    """Hand, serial or number of what an override is about."""
    data = doc["data"]
    for part, name in (("transfer", "serial"), ("box", "box"), ("vault_count", "vault_count")):
        if part in data:
            kind = data[part].get("kind", "") if part == "transfer" else part.replace("_", " ")
            return f"{kind} {data[part][name]}"
    for name in ("hand", "player"):
        if name in data:
            return str(data[name])
    for name in ("corrects", "entry", "number", "reopens"):
        if name in data:
            return f"{name} {data[name]}"
    return ""


def _overrides(scope: Scope) -> Iterator[tuple[int, str, int, dict[str, Any]]]:
    """The overrides that the run asks for. A transfer that was cancelled before anything was sent undid nothing."""
    days, asked, wrong = DaysOfEvents(scope), scope.filters, _wrong(scope)
    kinds = _GROUPS[asked["kind"]] if "kind" in asked else _KINDS
    for event, chain, seq, doc in events(scope, kinds, days.range):
        if doc["kind"] in _TRANSFERS and not ("mirrors" in doc["data"] and "postings" in doc):
            continue
        who = (None, doc["actor"], doc.get("approver"))
        if not is_large(scope, wrong[event][1] if event in wrong else _amount(doc)):
            continue
        if days.takes(event) and asked.get("person") in who and _is_of(chain, doc, asked.get("place")):
            yield event, chain, seq, doc


def _is_of(chain: str, doc: Mapping[str, Any], code: str | None) -> bool:
    return code is None or code == _place(chain, doc)


def _place(chain: str, doc: Mapping[str, Any]) -> str:
    data = doc["data"]
    named = data.get("place") or data.get("drawer") or data.get("box", {}).get("table")
    return place(chain) or named or ("vault" if doc["kind"].startswith("vault.") else "")


def _rows(scope: Scope) -> Iterator[Row]:
    days = DaysOfEvents(scope)
    wrong = _wrong(scope)
    dealt = {hand: (datetime.fromisoformat(when), by) for hand, when, by in _dealt(scope)}
    for event, chain, seq, doc in _overrides(scope):
        when, amount, dealer, begun = at(doc), _amount(doc), "", None
        if event in wrong:
            begun, amount = wrong[event]
        elif doc["data"].get("hand") in dealt:
            begun, dealer = dealt[doc["data"]["hand"]]
        yield (
            days.of(event) or None, when, _GROUP_OF[doc["kind"]], doc["kind"], _place(chain, doc), _subject(doc),
            amount, doc.get("reason", "") or doc["data"].get("transfer", {}).get("reason", ""), doc["actor"],
            doc["role"], doc.get("approver", ""), doc["data"].get("approval"),
            None if begun is None else minutes(begun, when), dealer, f"{chain}#{seq}",
        )  # fmt: skip


def _wrong(scope: Scope) -> dict[int, tuple[datetime, int | None]]:
    """By the event of a correction at the cage when the wrong entry was made, and its amount, minor units."""
    return scope.once("wrong entries", _read_wrong)


def _read_wrong(scope: Scope) -> dict[int, tuple[datetime, int | None]]:
    found = fetched(_WRONG, [scope.house.id, scope.as_of.event])
    return {fix: (datetime.fromisoformat(when), amount) for fix, when, amount in found}


def _dealt(scope: Scope) -> list[tuple[Any, ...]]:
    """When and by whom the hands were dealt that overrides are about: hand, time, person."""
    hands = sorted({doc["data"]["hand"] for *_, doc in _overrides(scope) if doc["data"].get("hand")})
    return fetched(_DEALT, [scope.house.id, scope.as_of.event, hands, len(hands)]) if hands else []


#: The columns of a table: hands that were dealt, and what was overridden; the rest is what is no hand's.
_OF_TABLES = ("void", "ruling", "dispute", "correction")


def _at_table(chain: str) -> bool:
    return chain.partition("/")[0] == "table"


def _tables(scope: Scope) -> Iterator[Row]:
    """Per table what was overridden, and for every 1,000 hands that were dealt in these days."""
    days, lies = DaysOfEvents(scope), span(scope)
    found: dict[str, dict[str, int]] = {}
    nothing = dict.fromkeys(("hands", *_OF_TABLES, "other"), 0)
    for table, event in fetched(_HANDS, [scope.house.id, lies.first_event, lies.last_event]):
        if days.takes(event) and scope.filters.get("place") in (None, table):
            found.setdefault(table, dict(nothing))["hands"] += 1
    for _, chain, _, doc in _overrides(scope):
        if _at_table(chain):
            group = _GROUP_OF[doc["kind"]]
            found.setdefault(place(chain), dict(nothing))[group if group in _OF_TABLES else "other"] += 1
    for table, row in sorted(found.items()):
        undone = row["void"] + row["ruling"] + row["correction"]
        yield table, *row.values(), ratio(undone * 1_000, row["hands"])


def _people(scope: Scope) -> Iterator[Row]:
    found: dict[str, dict[str, int]] = {}
    for _, _, _, doc in _overrides(scope):
        row = found.setdefault(doc["actor"], dict.fromkeys((*_GROUPS, "denial"), 0))
        row[_GROUP_OF[doc["kind"]]] += 1
    for doc in _denied(scope):
        found.setdefault(doc["actor"], dict.fromkeys((*_GROUPS, "denial"), 0))["denial"] += 1
    for person, row in sorted(found.items()):
        yield person, *row.values()


def _denied(scope: Scope) -> Iterator[dict[str, Any]]:
    days, asked = DaysOfEvents(scope), scope.filters
    if "kind" in asked or LEAST.name in asked:
        return
    for event, chain, _, doc in denied(scope, days=days.range):
        if days.takes(event) and asked.get("person") in (None, doc["actor"]) and _is_of(chain, doc, asked.get("place")):
            yield doc


def _denials(scope: Scope) -> Iterator[Row]:
    """By operation, code and person; a failure of the server has the class of its error."""
    found: dict[tuple[str, str, str], list[Any]] = {}
    for doc in _denied(scope):
        data = doc["data"]
        key = data.get("operation", ""), data.get("code") or data["error"], doc["actor"]
        row = found.setdefault(key, [0, at(doc), at(doc)])
        row[0] += 1
        row[2] = at(doc)
    for key, row in sorted(found.items()):
        yield *key, *row


def _unapproved(scope: Scope) -> Iterator[Row]:
    """Overrides that needed an approval and name none, or name one that nobody else had given."""
    days, found = DaysOfEvents(scope), approved.ungiven(scope, _KINDS)
    found |= {event for event, _ in approved.without(scope, _KINDS)}
    for event, chain, seq, doc in _overrides(scope):
        if event in found:
            yield (
                days.of(event) or None, at(doc), doc["kind"], _place(chain, doc), _subject(doc), _amount(doc),
                doc["actor"], doc.get("approver", ""), doc["data"].get("approval"), f"{chain}#{seq}",
            )  # fmt: skip


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    house = scope.house.id
    mirrors, ruled = 0, 0
    for _, _, _, doc in events(scope, (*_VOIDS, "hand.dispute_withdrawn", "cage.corrected", *_TRANSFERS, "hand.ruled")):
        if doc["kind"] == "hand.ruled":
            ruled += doc["data"]["pot"]
        elif "postings" in doc:
            mirrors += len(doc["data"].get("mirrors", {})) + (doc["data"].get("mirror") is not None)
    [(reversed_count,)] = fetched(_MIRRORS, [house, scope.as_of.transaction])
    yield Equality(
        "mirrors of voids, withdrawals, corrections and cancelled transfers = mirrors in the ledger",
        mirrors,
        reversed_count,
        Type.COUNT,
    )
    paid = sum(one.out for one in turned(scope, (Account.DISPUTED_POT,)) if one.kind == "hand.ruled")
    yield Equality("pots of rulings = what rulings took from 2070", ruled, paid, Type.MONEY)
    yield Equality("overrides without their approval = none", results["unapproved"].row_count, 0, Type.COUNT)
    at_tables = sum(_at_table(chain) for _, chain, _, _ in _overrides(scope))
    by_table = results["tables"].totals
    overridden = sum(by_table[name] for name in ("voids", "rulings", "disputes", "corrections", "other"))
    yield Equality("overrides at tables by table = rows at tables", overridden, at_tables, Type.COUNT)
    by_person = results["people"].totals
    yield Equality(
        "overrides by person = rows",
        sum(by_person[group] for group in _GROUPS),
        results["overrides"].row_count,
        Type.COUNT,
    )
    yield Equality(
        "denials by person = by operation", by_person["denial"], results["denials"].totals["times"], Type.COUNT
    )


REPORT = Report(
    id="overrides",
    number="A22",
    version=4,
    title="Voids, rulings, overrides, corrections, denials",
    text="What was undone, ruled, disputed, corrected or decided, with its reason and who stood behind it, and what "
    "was refused. A write that only had to wait for its approval was not refused.",
    roles=(Role.FLOOR, Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "overrides",
            "Overrides",
            (
                Column("day", "Gaming day", Type.DAY), time("at", "At"), coded("group", "Group"), coded("kind", "Kind"),
                ref("place", "Place"), ref("subject", "About"), money("amount", "Amount"), text("reason", "Reason"),
                ref("person", "By"), coded("role", "As"), ref("approver", "Approver"),
                count("approval", "Approval", total=False), count("minutes", "Minutes after", total=False),
                ref("dealer", "Dealer"), ref("event", "Event"),
            ),
            _rows,
            groups=("day", "group", "kind", "place", "person"),
        ),
        Section(
            "tables",
            "By table",
            (
                ref("place", "Table"), count("hands", "Hands dealt"), count("voids", "Voids"),
                count("rulings", "Rulings"), count("disputes", "Disputes"), count("corrections", "Corrections"),
                count("other", "Other"), decimal("per_thousand", "Undone of 1,000 hands"),
            ),
            _tables,
        ),
        Section(
            "people",
            "By person",
            (
                ref("person", "Person"), count("void", "Voids"), count("ruling", "Rulings"),
                count("dispute", "Disputes"), count("correction", "Corrections"),
                count("cancelled", "Transfers sent back"),
                count("decision", "Decisions"), count("denial", "Denials"),
            ),
            _people,
        ),
        Section(
            "denials",
            "Refused and failed",
            (
                ref("operation", "Operation"), ref("code", "Code"), ref("person", "Person"), count("times", "Times"),
                time("first_at", "First"), time("last_at", "Last"),
            ),
            _denials,
            groups=("operation", "code", "person"),
        ),
        Section(
            "unapproved",
            "Without their approval",
            (
                Column("day", "Gaming day", Type.DAY), time("at", "At"), coded("kind", "Kind"), ref("place", "Place"),
                ref("subject", "About"), money("amount", "Amount"), ref("person", "By"), ref("approver", "Approver"),
                count("approval", "Approval", total=False), ref("event", "Event"),
            ),
            _unapproved,
            groups=("day", "kind", "person", "place"),
        ),
    ),
    equalities=_equalities,
    filters=(*DAYS, PLACE, PERSON, KIND, LEAST),
    sensitivity=Sensitivity.PLAYERS,
    retention=Retention.BOOKS,
)  # fmt: skip
