"""A33: what lies with the house for somebody else: deposits, held payouts, found chips; and chips of other houses."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from casino.bookkeeping.accounts import Account
from casino.reports.frame.columns import Row, Type, coded, count, money, ref, text, time
from casino.reports.frame.filters import DayRange
from casino.reports.frame.movements import events, moved, recorded
from casino.reports.frame.reading import balances, fetched
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
from casino.reports.frame.trail import at
from casino.staff.models import Role

SHOW = Filter(
    "show",
    FilterKind.CHOICE,
    "`all` held payouts, found chips and winnings; without it open ones.",
    choices=("all", "open"),
)
_PAYOUTS = ("cage.payout_held", "cage.payout_released", "payout.paid_by_bank")
#: Ends the payouts that are held for a minor, and holds what is given back.
_MINOR = "minor.settled"
#: Pays winnings of minors to whom the law names.
_REMITTED = "winnings.remitted"
_FOUND = ("cage.chips_found", "cage.chips_claimed", "unclaimed.remitted", "unclaimed.kept")
_NUMBERS = (
    Account.PLAYER_DEPOSITS, Account.HELD_PAYOUTS, Account.WINNINGS_WITHHELD, Account.UNCLAIMED, Account.FOREIGN_CHIPS,
)  # fmt: skip
#: Chips of other houses by who gave them out, as bought and redeemed; what counts found over or short has no issuer.
_ISSUERS = """
SELECT coalesce(posted.metadata ->> 'issuer', undone.metadata ->> 'issuer', ''),
    coalesce(sum(entry.amount * account.normal_side) FILTER (WHERE entry.amount * account.normal_side > 0), 0)::bigint,
    coalesce(-sum(entry.amount * account.normal_side) FILTER (WHERE entry.amount * account.normal_side < 0), 0)::bigint
FROM ledger_account account
JOIN ledger_entry entry ON entry.account_id = account.id
JOIN ledger_transaction posted ON posted.id = entry.transaction_id
LEFT JOIN ledger_transaction undone ON undone.id = posted.reverses_id
WHERE account.book = %s AND split_part(account.code, '/', 1) = %s AND posted.id <= %s GROUP BY 1 ORDER BY 1
"""


def _deposits(scope: Scope) -> Iterator[Row]:
    """Since when something lies in each deposit, and what moved it last."""
    held: dict[str, int] = {}
    since: dict[str, datetime] = {}
    last: dict[str, tuple[datetime, str]] = {}
    for entry in moved(scope, (Account.PLAYER_DEPOSITS,)):
        if not held.get(entry.place, 0):
            since[entry.place] = entry.at
        held[entry.place] = held.get(entry.place, 0) + entry.amount
        last[entry.place] = entry.at, entry.kind
    for player, amount in sorted(held.items()):
        if amount:
            yield player, since[player], _age(scope, since[player]), *last[player], amount


def _age(scope: Scope, since: datetime) -> int:
    return (scope.as_of.at - since).days


def _register(scope: Scope, kinds: tuple[str, ...], part: str, key: str) -> dict[int, list[dict[str, Any]]]:
    """Events of a register by number: the first one began it, the last one says what it is now."""
    found: dict[int, list[dict[str, Any]]] = {}
    for _, _, _, doc in events(scope, kinds):
        found.setdefault(doc["data"][part][key], []).append(doc)
    return dict(sorted(found.items()))


def _held(scope: Scope) -> dict[int, list[dict[str, Any]]]:
    """Events of held payouts by number, as `_register`; those of minors end several and begin one."""
    found: dict[int, list[dict[str, Any]]] = {}
    for _, _, _, doc in events(scope, (*_PAYOUTS, _MINOR)):
        for number in doc["data"].get("ended", ()):
            found[number].append(doc)
        if "payout" in doc["data"]:
            found.setdefault(doc["data"]["payout"]["payout"], []).append(doc)
    return dict(sorted(found.items()))


def _payouts(scope: Scope) -> Iterator[Row]:
    for number, docs in _held(scope).items():
        first, last = docs[0], docs[-1]
        payout = first["data"]["payout"]
        is_open = len(docs) == 1
        settled = {"state": "settled", "paid_by": last["actor"], "note": ""}
        ended = settled if last["kind"] == _MINOR and not is_open else last["data"]["payout"]
        if is_open or scope.filters.get("show") == "all":
            yield (
                number, payout["player"], payout["cause"], payout["drawer"] or "", payout["held_by"],
                first.get("approver", ""), at(first), _age(scope, at(first)), ended["state"],
                None if is_open else at(last), ended["paid_by"] or "", ended["note"], payout["amount"],
                payout["amount"] if is_open else 0,
            )  # fmt: skip


def _withheld(scope: Scope) -> Iterator[Row]:
    """Winnings of minors, and what of them was paid to whom the law names."""
    docs = [doc for _, _, _, doc in events(scope, (_MINOR, _REMITTED))]
    remitted = {part["minor"]: doc for doc in docs if doc["kind"] == _REMITTED for part in doc["data"]["minors"]}
    for doc in docs:
        data = doc["data"]
        if doc["kind"] == _REMITTED or not data["kept"]:
            continue
        ended = remitted.get(data["minor"])
        if ended is None or scope.filters.get("show") == "all":
            due = data.get("remit_by")
            yield (
                data["minor"], data["player"], at(doc), _age(scope, at(doc)),
                None if due is None else datetime.fromisoformat(due), doc["actor"], doc.get("approver", ""),
                None if ended is None else ended["data"]["remittance"], None if ended is None else at(ended),
                "" if ended is None else ended["data"]["payee"], "" if ended is None else ended["data"]["note"],
                data["kept"], data["kept"] if ended is None else 0,
            )  # fmt: skip


def _found(scope: Scope) -> Iterator[Row]:
    for number, docs in _register(scope, _FOUND, "found", "found").items():
        first, last = docs[0], docs[-1]
        found = last["data"]["found"]
        is_open = len(docs) == 1
        if is_open or scope.filters.get("show") == "all":
            yield (
                number, found["drawer"], found["finder"], found["found_where"], at(first), _age(scope, at(first)),
                found["state"], None if is_open else at(last), found["player"] or "", found["note"],
                last.get("approver", ""), found["amount"], found["amount"] if is_open else 0,
            )  # fmt: skip


def _lapsed(scope: Scope) -> Iterator[Row]:
    """What the public still had of chip sets that have lapsed; below zero what of it was claimed late and paid."""
    for _, chain, seq, doc in events(scope, ("chips.lapsed", "cage.late_claim_paid")):
        lapsed = sum(leg[2] for posting in doc.get("postings", ()) for leg in posting["legs"] if _is_unclaimed(leg))
        yield doc["data"]["chip_set"], at(doc), _age(scope, at(doc)), doc["actor"], f"{chain}#{seq}", -lapsed


def _is_unclaimed(leg: list[Any]) -> bool:
    return str(leg[0]) == Account.UNCLAIMED


def _foreign(scope: Scope) -> Iterator[Row]:
    for held in balances(scope):
        if held.number == Account.FOREIGN_CHIPS and held.balance:
            yield held.place, held.balance


def _issuers(scope: Scope) -> Iterator[Row]:
    house, transaction = scope.house.id, scope.as_of.transaction
    for issuer, bought, redeemed in fetched(_ISSUERS, [house, str(Account.FOREIGN_CHIPS), transaction]):
        # Without an issuer stand moves between places, which are nothing in all, and what counts found over or short.
        came, went = (bought, redeemed) if issuer else (max(bought - redeemed, 0), max(redeemed - bought, 0))
        if came or went:
            yield issuer, came, went, came - went


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    held = dict.fromkeys(_NUMBERS, 0)
    for one in balances(scope):
        if one.number in held:
            held[Account(one.number)] += one.balance
    owed, open_ = results["deposits"].totals["amount"], results["payouts"].totals["open"]
    yield Equality("deposits = balances of 2090", owed, held[Account.PLAYER_DEPOSITS], Type.MONEY)
    yield Equality("open payouts = balances of 2085", open_, held[Account.HELD_PAYOUTS], Type.MONEY)
    unclaimed = results["found"].totals["open"] + results["lapsed"].totals["amount"]
    yield Equality("open found chips and lapsed ones = balance of 2095", unclaimed, held[Account.UNCLAIMED], Type.MONEY)
    withheld = results["withheld"].totals["open"]
    yield Equality("winnings withheld = balance of 2087", withheld, held[Account.WINNINGS_WITHHELD], Type.MONEY)
    foreign = results["foreign"].totals["amount"]
    yield Equality("chips of other houses by place = by issuer", foreign, results["issuers"].totals["left"], Type.MONEY)
    said = dict.fromkeys(_NUMBERS, 0)
    for (code, _), net in recorded(scope, _NUMBERS, DayRange(None, None)).items():
        said[Account(code.partition("/")[0])] += net
    yield Equality(
        "chips of other houses = what the events record on 1160", foreign, said[Account.FOREIGN_CHIPS], Type.MONEY
    )
    yield Equality(
        "winnings withheld = what the events record on 2087", withheld, -said[Account.WINNINGS_WITHHELD], Type.MONEY
    )
    yield Equality("deposits = what the events record on 2090", owed, -said[Account.PLAYER_DEPOSITS], Type.MONEY)


REPORT = Report(
    id="held-money",
    number="A33b",
    version=4,
    title="Deposits, held payouts, found property, foreign chips",
    text="What lies with the house for somebody else, whose it is, since when and why; and the chips of other houses.",
    roles=(Role.COMPLIANCE, Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "deposits",
            "Deposits",
            (
                ref("player", "Player"), time("since", "Since"), count("days", "Days", total=False),
                time("last_at", "Last movement"), text("last", "By"), money("amount", "Amount"),
            ),
            _deposits,
        ),
        Section(
            "payouts",
            "Held payouts",
            (
                count("payout", "No.", total=False), ref("player", "Player"), coded("cause", "Cause"),
                ref("drawer", "Drawer"), ref("held_by", "Held by"), ref("approver", "Approver"), time("since", "Since"),
                count("days", "Days", total=False), coded("state", "State"), time("ended_at", "Paid at"),
                ref("paid_by", "Paid by"), ref("note", "Note"), money("amount", "Amount"), money("open", "Still held"),
            ),
            _payouts,
            groups=("player", "cause", "state"),
        ),
        Section(
            "found",
            "Found chips",
            (
                count("found", "No.", total=False), ref("drawer", "Drawer"), ref("finder", "Finder"),
                text("where", "Where"), time("since", "Since"), count("days", "Days", total=False),
                coded("state", "State"), time("ended_at", "Ended at"), ref("player", "Owner"), ref("note", "Note"),
                ref("approver", "Approver"), money("amount", "Amount"), money("open", "Still held"),
            ),
            _found,
            groups=("state",),
        ),
        Section(
            "lapsed",
            "Lapsed chips",
            (
                ref("chip_set", "Chip set"), time("at", "At"), count("days", "Days", total=False), ref("person", "By"),
                ref("event", "Event"), money("amount", "Worth"),
            ),
            _lapsed,
        ),
        Section(
            "foreign",
            "Chips of other houses by place",
            (ref("place", "Place"), money("amount", "Face value")),
            _foreign,
        ),
        Section(
            "issuers",
            "Chips of other houses by issuer",
            (ref("issuer", "Issuer"), money("bought", "Came"), money("redeemed", "Went"), money("left", "Left")),
            _issuers,
        ),
        Section(
            "withheld",
            "Winnings of minors",
            (
                count("minor", "No.", total=False), ref("player", "Player"), time("since", "Since"),
                count("days", "Days", total=False), time("remit_by", "To be paid by"), ref("person", "By"),
                ref("approver", "Approver"), count("remittance", "Remittance", total=False),
                time("ended_at", "Paid at"), text("payee", "Paid to"),
                ref("note", "Note"), money("amount", "Amount"), money("open", "Still held"),
            ),
            _withheld,
        ),
    ),
    equalities=_equalities,
    filters=(SHOW,),
    sensitivity=Sensitivity.PLAYERS,
    retention=Retention.BOOKS,
)  # fmt: skip
