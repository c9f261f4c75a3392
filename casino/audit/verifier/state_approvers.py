"""Who must approve what an event records, by the control points that were in force."""

from collections.abc import Iterable
from typing import Any

from .report_classes import READERS
from .state_people import SYSTEM
from .state_rows import Row

#: Sets of roles, of one of which a person of each role must approve; none where nobody need.
Needed = frozenset[frozenset[str]]


def one_of(roles: Iterable[str]) -> Needed:
    """One person of one of these roles approves."""
    return frozenset(frozenset((role,)) for role in roles)


def each_of(roles: Iterable[str]) -> Needed:
    """A person of each of these roles approves."""
    return frozenset((frozenset(roles),))


def in_words(approvers: Needed) -> str:
    """Who approves: `compliance and manager`, `cage_supervisor or manager`."""
    return " or ".join(sorted(" and ".join(sorted(together)) for together in approvers))


NOBODY: Needed = frozenset()
MANAGER, _CAGE, AUDITOR = one_of(("manager",)), one_of(("cage_supervisor", "manager")), one_of(("auditor",))
OFFICE = MANAGER | AUDITOR
_BOTH = each_of(("manager", "compliance"))
_FOR_CASH = (
    *("cage.buy_in", "cage.cash_out", "cage.bearer_buy_in", "cage.bearer_cash_out"),
    *("cage.deposit_taken", "cage.deposit_returned", "cage.noncash_buy_in", "table.buy_in"),
)
#: Kinds of events that an approval may be used for, and of the approval.
USED_FOR = {
    **dict.fromkeys(_FOR_CASH, "exchange"),
    **dict.fromkeys(("cage.corrected", "cage.noncash_paid"), "exchange"),
    "fill.sent": "transfer",
    "credit.sent": "transfer",
    "hand.voided": "void",
    "hand.bonus_confirmed": "bonus",
    "hand.ruled": "ruling",
    "hand.ruled_later": "ruling",
    **dict.fromkeys(("house.duty", "house.duty_paid", "house.duty_lowered"), "duty"),
    **dict.fromkeys(("bank.sent", "bank.drawn", "bank.confirmed", "bank.received", "foreign.redeemed"), "bank"),
    **dict.fromkeys(("capital.paid_in", "capital.paid_out"), "capital"),
    **dict.fromkeys(("cage.counterfeits_found", "table.counterfeits_found", "vault.counterfeits_found"), "counterfeit"),
    **dict.fromkeys(("house.suspended", "house.resumed", "house.closed"), "stage"),
    **dict.fromkeys(("cage.payout_held", "cage.payout_released", "payout.paid_by_bank"), "payout"),
    **dict.fromkeys(
        ("cage.chips_claimed", "cage.late_claim_paid", "unclaimed.remitted", "unclaimed.kept"), "unclaimed"
    ),
    "drawer.reopened": "drawer",
    "day.closed": "day",
    "table.closed": "carry",
    "variance.offset": "variance",
    "limits.changed": "control_points",
    **dict.fromkeys(("exclusion.lifted", "exclusion.match_cleared"), "exclusion"),
    "return.filed": "filing",
    **dict.fromkeys(("legal_hold.set", "legal_hold.lifted"), "legal_hold"),
    "player.erased": "erasure",
    **dict.fromkeys(("minor.settled", "minor.cleared", "winnings.remitted"), "minor"),
    "chips.put_in_use": "chip_set",
    "chips.lapsed": "chip_set",
}
#: Of which roles a person approves what always needs it.
_ALWAYS = {
    **dict.fromkeys(("house.duty_paid", "house.duty_lowered"), MANAGER),
    **dict.fromkeys(("house.duty", "hand.bonus_confirmed", "hand.ruled", "hand.ruled_later"), MANAGER),
    **dict.fromkeys(("capital.paid_in", "capital.paid_out", "drawer.reopened", "exclusion.lifted"), MANAGER),
    **dict.fromkeys(("legal_hold.set", "legal_hold.lifted", "exclusion.match_cleared", "return.filed"), MANAGER),
    **dict.fromkeys(("bank.sent", "bank.drawn", "foreign.redeemed", "chips.put_in_use", "chips.lapsed"), MANAGER),
    **dict.fromkeys(("minor.settled", "minor.cleared", "winnings.remitted"), MANAGER),
    "cage.counterfeits_found": _CAGE,
    **dict.fromkeys(("table.counterfeits_found", "vault.counterfeits_found"), MANAGER),
    **dict.fromkeys(("house.suspended", "house.resumed", "house.closed"), AUDITOR),
    **dict.fromkeys(("cage.payout_held", "cage.payout_released", "payout.paid_by_bank"), one_of(("compliance",))),
    "euro_rate.set": one_of(("compliance",)),
    "cage.chips_claimed": _CAGE,
    "day.closed": one_of(("cage_supervisor",)),
    "player.erased": AUDITOR,
    **dict.fromkeys(("unclaimed.remitted", "unclaimed.kept"), AUDITOR),
    **dict.fromkeys(("limits.changed", "variance.offset", "staff.second_factor_reset"), OFFICE),
}
#: What two people can sign at once with a command too, and who asks for it over HTTP, where one approves.
_OVER_HTTP = {"player.erased": "compliance"}
#: What is changed of a house that is live, and who approves it. While it is founded, three people sign for the whole.
_SETTINGS = (
    "table.set_up", "table.terms_changed", "table.seat_fee_changed", "table.tray_stocked", "drawer.set_up",
    "house.identity_changed", "house.rules_set", "house.duty_rates_set", "drawer.template_set", "table.template_set",
    "report.schedule_set", "webhook.subscribed",
)  # fmt: skip
_TERMS = ("terminal.enrolled", "staff.player_linked")
_ROSTER = ("staff.roles_changed", "staff.activated", "staff.second_factor_reset", *_TERMS)
USED_FOR |= dict.fromkeys((*_SETTINGS, "euro_rate.set"), "settings") | dict.fromkeys(_ROSTER, "staff")
ONCE_LIVE = frozenset((*_SETTINGS, *_ROSTER, "euro_rate.set", "capital.paid_in"))
#: Giving or taking one of these roles takes an auditor.
PRIVILEGED = frozenset(("cage_supervisor", "compliance", "surveillance", "manager", "auditor", "admin"))
#: Who approves schedules, as far as they read the report.
_OF_SCHEDULES = frozenset(("manager", "auditor", "compliance"))
#: Who decides with a code of the second factor, where the house asks for one.
CODED = frozenset(("cage_supervisor", "compliance", "manager", "auditor", "admin"))
#: How many tables a house has in which floor and cage supervisor may be one person.
MOST_TABLES_OF_SMALL = 3
#: Members of requests that mean the same in the event.
REPEATED = frozenset(("amount", "player", "hand", "bonus"))
Points = dict[str, int]


def needed(doc: Row, points: Points) -> Needed:
    """Who must approve what an event records; nobody, among others, what set the house up, which is no person."""
    if doc["role"] == SYSTEM or _OVER_HTTP.get(doc["kind"], doc["role"]) != doc["role"]:
        return NOBODY
    data: Any = doc["data"]
    if doc["kind"] in _ALWAYS:
        return _ALWAYS[doc["kind"]]
    match doc["kind"]:
        case kind if kind in _FOR_CASH:
            return _for_exchange(data["amount"], points)
        case "cage.noncash_paid" | "cage.late_claim_paid":
            return _for_exchange(data["amount"], points) or _CAGE
        case "cage.corrected":
            right = data.get("right") or {}
            exchanged = right.get("kind") in _FOR_CASH
            return _for_exchange(right["amount"], points) if exchanged else NOBODY
        case "fill.sent" | "credit.sent":
            return _CAGE if worth_of(data["transfer"]["sent"]) >= points["transfer_approved_from"] else NOBODY
        case "hand.voided":
            late = data["acted"] or data["cards_shown"] or data["log_complete"] or data.get("disputed")
            return MANAGER if late or data["pot"] > points["void_by_manager_above"] else NOBODY
        case "table.closed" | "bank.confirmed" | "bank.received":
            return MANAGER if _is_unusual(data) else NOBODY
        case kind if kind in (*_SETTINGS, *_TERMS):
            return _for_setting(doc)
    raise AssertionError(f"nobody has said who approves {doc['kind']}")


def _for_setting(doc: Row) -> Needed:
    """A manager; of a schedule that has not ended, one of those who read the report."""
    data: Any = doc["data"]
    if doc["kind"] != "report.schedule_set" or data["cadence"] == "off":
        return MANAGER
    return one_of(READERS.get(data["what"], frozenset()) & _OF_SCHEDULES)


def _is_unusual(data: Any) -> bool:
    """Whether a table holds something for its next session, or a bag is not counted as it was sent."""
    return data["amount"] != data["bag"]["amount"] if "bag" in data else bool(data.get("held"))


def _for_exchange(amount: int, points: Points) -> Needed:
    if amount >= points["exchange_by_manager_from"]:
        return _BOTH
    return _CAGE if amount >= points["exchange_by_supervisor_from"] else NOBODY


def worth_of(pieces: dict[str, int]) -> int:
    """What chips are worth, in minor units."""
    return sum(int(value) * count for value, count in pieces.items())
