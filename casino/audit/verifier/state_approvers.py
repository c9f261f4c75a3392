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
    **dict.fromkeys(("minor.settled", "minor.cleared"), "minor"),
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
    **dict.fromkeys(("minor.settled", "minor.cleared"), MANAGER),
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
