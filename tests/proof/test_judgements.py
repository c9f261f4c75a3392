"""Judgements of the verifier that need no database: events, ledgers and notes of the model's house, altered in memory,
each with the code that must be found."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from casino.audit.verifier import command
from casino.audit.verifier.canonical import hash_of
from casino.audit.verifier.findings import Report
from casino.audit.verifier.state import State
from tests.proof.model import MISDEAL, World

Doc = dict[str, Any]
Docs = list[Doc]

TABLE, DRAWER, HOUSE = "table/T1", "drawer/C1", "house/MODEL"


def evening() -> Docs:
    """The events of a good evening at one table: three hands."""
    return [json.loads(payload) for payload in World().evening(hands=3, tables=1).payloads]


def codes(docs: Docs) -> list[str]:
    """What is found in events, in their order."""
    report = Report()
    state = State(report)
    for report.now, doc in enumerate(docs):
        state.take(doc)
    return [finding.code for finding in report.findings]


def one(docs: Docs, kind: str, number: int = 0) -> Doc:
    """An event of a kind, from 0."""
    return [doc for doc in docs if doc["kind"] == kind][number]


def add(docs: Docs, chain: str, kind: str, data: Doc, *, before: str = "", **members: Any) -> None:
    """Put an event of the founding, or by whom `members` say, in front of the first of a kind, or at the end."""
    at = docs.index(one(docs, before)) if before else len(docs)
    who = {"actor": "founder", "role": "system", "terminal": ""}
    event = who | {"chain": chain, "kind": kind, "seq": 99, "at": docs[at - 1]["at"], "data": data, "v": 2} | members
    docs.insert(at, event)


def hire(docs: Docs, login: str, *roles: str) -> None:
    """Hire somebody before the first player sits down."""
    add(docs, HOUSE, "staff.hired", {"login": login, "roles": list(roles), "password_sha256": "0" * 64},
        before="table.sat_down")  # fmt: skip


Change = Callable[[Docs], None]
CHANGES: list[tuple[str, Change]] = []


def found(code: str) -> Callable[[Change], Change]:
    """A change of the evening's events, and the code that is found first."""

    def register(change: Change) -> Change:
        CHANGES.append((code, change))
        return change

    return register


# --- Who acts, and where ----------------------------------------------------------------------------------------------


@found("actor_without_role")
def a_cashier_deals(docs: Docs) -> None:
    one(docs, "hand.dealt")["role"] = "cashier"


@found("actor_not_active")
def somebody_deals_after_being_deactivated(docs: Docs) -> None:
    add(
        docs, HOUSE, "staff.deactivated", {"login": "ödön@MODEL"}, before="hand.dealt", at="2026-11-20T00:00:00.000000Z"
    )


@found("actor_changes_own_entry")
def somebody_gives_an_own_role(docs: Docs) -> None:
    dealer = {"actor": "ödön@MODEL", "role": "dealer", "terminal": "at-T1"}
    data = {"login": "ödön@MODEL", "before": ["dealer"], "after": ["admin", "dealer"]}
    add(docs, HOUSE, "staff.roles_changed", data, before="hand.dealt", **dealer)


def rotate(docs: Docs, **members: Any) -> None:
    """Let an auditor and an administrator rotate the seal key, but for what `members` say."""
    hire(docs, "bea", "auditor")
    hire(docs, "alma", "admin")
    hire(docs, "adam", "admin")
    data = {"old_key": "old", "new_key": "new", "wrapped_count": 1, "data_key": 2}
    two = {"actor": "bea", "role": "auditor", "approver": "alma", "reason": "a year is over"}
    add(docs, HOUSE, "house.seal_key_rotated", data, **two | members)


@found("same_person")
def one_person_rotates_a_key(docs: Docs) -> None:
    rotate(docs, approver="bea")


@found("same_person")
def one_person_rotates_the_log_key(docs: Docs) -> None:
    hire(docs, "bea", "auditor")
    data = {"epoch": 1, "size": 1, "old_key": "old", "new_key": "new", "note": "both have signed"}
    two = {"actor": "bea", "role": "auditor", "approver": "bea", "reason": "a year is over"}
    add(docs, "log/MODEL", "log.key_rotated", data, **two)


@found("same_person")
def the_server_rotates_a_key(docs: Docs) -> None:
    rotate(docs, actor="operator", role="system")


@found("actor_unknown")
def nobody_approves_a_rotation(docs: Docs) -> None:
    rotate(docs, approver="nobody")


@found("actor_without_role")
def a_dealer_approves_a_rotation(docs: Docs) -> None:
    rotate(docs, approver="ödön@MODEL")


@found("actor_without_role")
def no_auditor_signs_a_rotation(docs: Docs) -> None:
    rotate(docs, actor="adam", role="admin")


@found("actor_without_role")
def somebody_approves_who_lost_the_role_before(docs: Docs) -> None:
    rotate(docs)
    data = {"login": "alma", "before": ["admin"], "after": ["dealer"]}
    add(docs, HOUSE, "staff.roles_changed", data, before="table.sat_down", at="2026-11-20T00:00:00.000000Z")


@found("actor_not_active")
def somebody_approves_who_was_not_active(docs: Docs) -> None:
    rotate(docs)
    add(docs, HOUSE, "staff.deactivated", {"login": "alma"}, before="table.sat_down", at="2026-11-20T00:00:00.000000Z")


@found("actor_not_seated")
def a_player_acts_on_the_seat_of_another(docs: Docs) -> None:
    one(docs, "hand.acted").update(actor="b", role="player", terminal="T1/1")


@found("terminal_elsewhere")
def a_hand_is_dealt_at_the_cage(docs: Docs) -> None:
    one(docs, "hand.dealt")["terminal"] = "at-C1"


# --- Approvals --------------------------------------------------------------------------------------------------------

DUTY = {"amount": 40, "posting": 1}
ADMIN, MANAGER = {"actor": "adam", "role": "admin"}, {"actor": "mia", "role": "manager"}
LIMITS = {"number": 1, "valid_from": "2026-11-22T00:00:00.000000Z", "points": {"exchange_by_supervisor_from": 1}}


BODY = {"amount": 40, "reason": "November"}
ASKED = {
    "approval": 1, "kind": "duty", "operation": "bookDuty", "path": "/api/v1/duty", "body": BODY, "amount": 40,
    "request_hash": hash_of({"method": "POST", "path": "/api/v1/duty", "body": BODY}), "roles": ["manager"],
    "expires": "2026-11-22T00:00:00.000000Z",
}  # fmt: skip


def approve(docs: Docs, *, requested: Doc | None = None, approved: Doc | None = None, used: Doc | None = None) -> None:
    """Let an administrator book duty that a manager has approved, but for what the members say."""
    hire(docs, "adam", "admin")
    hire(docs, "mia", "manager")
    add(docs, HOUSE, "approval.requested", ASKED | (requested or {}), **ADMIN)
    add(docs, HOUSE, "approval.approved", {"approval": 1}, **MANAGER | (approved or {}))
    done = ADMIN | {"approver": "mia", "data": DUTY | {"approval": 1}} | (used or {})
    add(docs, HOUSE, "house.duty", done.pop("data"), **done)


def test_duty_that_was_approved_is_good() -> None:
    docs = evening()
    approve(docs)
    assert codes(docs) == []


@found("approval_missing")
def duty_is_booked_without_an_approval(docs: Docs) -> None:
    approve(docs, used={"data": DUTY})


@found("approval_missing")
def chips_are_sold_above_the_control_point(docs: Docs) -> None:
    one(docs, "cage.buy_in")["data"]["amount"] = 2_000_000


def as_sold(docs: Docs) -> Doc:
    """Who sold the first chips of the evening, in which role and where."""
    return {name: one(docs, "cage.buy_in")[name] for name in ("actor", "role", "terminal")}


@found("identity_missing")
def chips_are_sold_to_somebody_unknown(docs: Docs) -> None:
    one(docs, "cage.buy_in")["data"]["amount"] = 800_000


@found("identity_missing")
def chips_without_a_name_are_paid_above_the_threshold(docs: Docs) -> None:
    add(docs, DRAWER, "cage.bearer_cash_out", {"amount": 800_000}, **as_sold(docs))


def corrected(docs: Docs, *, right: Doc | None = None, hires: bool = True, **changed: Any) -> None:
    """Let a supervisor take the first buy-in back, and make the right entry, with what both post."""
    if hires:
        hire(docs, "susi", "cage_supervisor")
    wrong = one(docs, "cage.buy_in")
    [posted] = wrong["postings"]
    postings: list[Doc] = [{"tx": 900, "about": "", "reverses": posted["tx"]}]
    if right:
        sign = 1 if right["kind"] == "cage.buy_in" else -1
        cash = sign * right.get("foreign_chips", right)["amount"]
        postings.append({"tx": 901, "about": "", "legs": [["1020/C1", "HUF", cash], ["2015/C1", "HUF", -cash]]})
    data = {"corrects": wrong["seq"], "was": wrong["kind"], "mirrors": {"key": 900}} | changed
    who = {"actor": "susi", "role": "cage_supervisor", "terminal": "at-C1", "reason": "a nought too many"}
    add(docs, DRAWER, "cage.corrected", data | ({"right": right} if right else {}), postings=postings, **who)


@found("identity_missing")
def a_correction_pays_somebody_unknown(docs: Docs) -> None:
    corrected(docs, right={"kind": "cage.cash_out", "amount": 800_000, "player": "a"})


def bought_at_the_table(docs: Docs, amount: int) -> None:
    """Let the player on seat 1 buy chips for cash before the first hand."""
    data = {"seat": 1, "player": "a", "amount": amount, "exchanged": {}}
    sat = one(docs, "table.sat_down")
    who = {name: sat[name] for name in ("actor", "role", "terminal")}
    add(docs, TABLE, "table.buy_in", data, before="hand.dealt", **who)


@found("approval_missing")
def chips_are_sold_at_a_table_above_the_control_point(docs: Docs) -> None:
    bought_at_the_table(docs, 2_000_000)


@found("identity_missing")
def chips_are_sold_at_a_table_to_somebody_unknown(docs: Docs) -> None:
    bought_at_the_table(docs, 800_000)


def put_down(docs: Docs, brought: int, legs: list[list[Any]]) -> None:
    """Let the player on seat 1 add chips worth 900,000, of which so many were not booked."""
    sat = one(docs, "table.sat_down")
    who = {name: sat[name] for name in ("actor", "role", "terminal")}
    data = {"seat": 1, "player": "a", "amount": 900_000} | ({"brought": brought} if brought else {})
    postings = [{"tx": 7, "about": "", "legs": legs}]
    add(docs, TABLE, "table.chips_added", data, before="hand.dealt", postings=postings, **who)


STACK = ["2020/T1/a", "HUF", -900_000]


def test_chips_that_were_not_booked_are_put_down() -> None:
    docs = evening()
    put_down(docs, 700_000, [["2010/a", "HUF", 200_000], ["2015/T1", "HUF", 700_000], STACK])
    assert codes(docs) == []


@found("identity_missing")
def more_is_brought_than_may_be_without_a_name(docs: Docs) -> None:
    put_down(docs, 800_000, [["2010/a", "HUF", 100_000], ["2015/T1", "HUF", 800_000], STACK])


@found("state_event_differs")
def other_chips_are_posted_than_were_brought(docs: Docs) -> None:
    put_down(docs, 700_000, [["2010/a", "HUF", 100_000], ["2015/T1", "HUF", 800_000], STACK])


@found("state_event_differs")
def chips_are_brought_silently(docs: Docs) -> None:
    put_down(docs, 0, [["2015/T1", "HUF", 900_000], STACK])


def replenish(docs: Docs, cash: int, *, taken_at: str = "") -> None:
    """Let a supervisor offer cash from the vault and a cashier take it."""
    hire(docs, "susi", "cage_supervisor")
    hire(docs, "carl", "cashier")
    at_drawer = {"terminal": "at-C1", "role": "cage_supervisor", "actor": "susi"}
    handover = {
        "handover": 1, "drawer": "C1", "kind": "replenishment", "state": "offered", "offered_by": "susi",
        "signed_by": None, "ended_by": None, "cash": cash, "pieces": {},
    }  # fmt: skip
    add(docs, DRAWER, "handover.offered", {"handover": handover}, **at_drawer)
    taken = {"handover": handover | {"state": "taken", "ended_by": "carl"}}
    at_drawer |= {"role": "cashier", "actor": "carl"} | ({"at": taken_at} if taken_at else {})
    add(docs, DRAWER, "drawer.replenished", taken, **at_drawer)


def test_a_replenishment_is_taken() -> None:
    docs = evening()
    replenish(docs, 4_000_000)
    assert codes(docs) == []


@found("float_too_large")
def more_leaves_the_vault_than_the_house_lets(docs: Docs) -> None:
    replenish(docs, 8_000_001)


@found("handover_expired")
def a_replenishment_is_taken_too_late(docs: Docs) -> None:
    replenish(docs, 4_000_000, taken_at="2026-11-29T00:00:00.000000Z")


@found("not_your_drawer")
def somebody_else_sells_chips_at_a_drawer(docs: Docs) -> None:
    hire(docs, "susi", "cage_supervisor")
    hire(docs, "carl", "cashier")
    hire(docs, "cora", "cashier")
    handover = {"handover": 1, "drawer": "C1", "kind": "float", "state": "offered", "cash": 700, "pieces": {}}
    by_supervisor = {"actor": "susi", "role": "cage_supervisor", "terminal": "at-C1"}
    add(docs, DRAWER, "handover.offered", {"handover": handover}, **by_supervisor)
    opened = {"shift": 1, "handover": 1, "float_cash": 700, "float_chips": 0, "float_pieces": {}}
    sold = {"amount": 5_000, "exchanged": {}}
    for actor, kind, data in (("carl", "drawer.opened", opened), ("cora", "cage.bearer_buy_in", sold)):
        add(docs, DRAWER, kind, data, actor=actor, role="cashier", terminal="at-C1")


@found("approval_missing")
def a_hand_that_was_shown_is_voided_by_the_floor_alone(docs: Docs) -> None:
    data = {"hand": "T1-000001", "mirrors": {}, "pot": 0, "table_version": 0} | MISDEAL | {"cards_shown": True}
    add(docs, TABLE, "hand.voided", data, actor="ödön@MODEL", role="dealer", terminal="at-T1")


@found("approval_missing")
def a_played_hand_is_voided_by_the_floor_alone(docs: Docs) -> None:
    data = {"hand": "T1-000001", "mirrors": {}, "pot": 0, "table_version": 0} | MISDEAL | {"acted": True}
    add(docs, TABLE, "hand.voided", data, actor="ödön@MODEL", role="dealer", terminal="at-T1")


@found("approval_missing")
def a_disputed_hand_is_voided_by_the_floor_alone(docs: Docs) -> None:
    data = {"hand": "T1-000001", "mirrors": {}, "pot": 0, "table_version": 0} | MISDEAL | {"log_complete": True}
    add(docs, TABLE, "hand.voided", data, actor="ödön@MODEL", role="dealer", terminal="at-T1")


@found("approval_missing")
def a_bonus_is_paid_that_nobody_has_approved(docs: Docs) -> None:
    one(docs, "hand.settled")["data"]["result"]["bonus"] = [0, 200_000]


@found("approval_missing")
def a_bonus_is_confirmed_by_the_floor_alone(docs: Docs) -> None:
    data = {"hand": "T1-000001", "bonus": 200_000, "table_version": 0}
    add(docs, TABLE, "hand.bonus_confirmed", data, actor="ödön@MODEL", role="dealer", terminal="at-T1")


RULED_LATER = {
    "hand": "T1-000001", "ruling": 1, "tax_refunded": {}, "made_good": {}, "collected": [], "readings": {},
    "settlement": None, "table_version": 0,
}  # fmt: skip


@found("approval_missing")
def a_hand_is_ruled_on_by_the_floor_alone(docs: Docs) -> None:
    hire(docs, "flora", "dealer")
    add(docs, TABLE, "hand.ruled_later", RULED_LATER, actor="flora", role="dealer", terminal="at-T1", reason="a video")


REOPENED = {
    "shift": 2, "reopens": 1, "float_cash": 1, "float_chips": 0, "float_pieces": {}, "drawer_version": 0,
}  # fmt: skip


@found("approval_missing")
def a_cashier_opens_a_drawer_again_alone(docs: Docs) -> None:
    hire(docs, "carla", "cashier")
    add(docs, DRAWER, "drawer.reopened", REOPENED, actor="carla", role="cashier", reason="closed by mistake")


@found("approval_missing")
def control_points_are_set_by_one_person(docs: Docs) -> None:
    hire(docs, "adam", "admin")
    add(docs, HOUSE, "limits.changed", LIMITS, reason="as I like", **ADMIN)


@found("limits_in_the_past")
def control_points_begin_in_the_past(docs: Docs) -> None:
    add(docs, HOUSE, "limits.changed", LIMITS | {"valid_from": "2026-11-20T00:00:00.000000Z"}, reason="at founding")


@found("limits_gap")
def control_points_are_left_out(docs: Docs) -> None:
    add(docs, HOUSE, "limits.changed", LIMITS | {"number": 2}, reason="at founding")


@found("house_not_live")
def guests_are_served_before_the_house_is_live(docs: Docs) -> None:
    del one(docs, "house.founded")["data"]["sandbox"]


@found("house_not_live")
def a_hand_is_dealt_in_a_closed_house(docs: Docs) -> None:
    add(docs, HOUSE, "house.closed", {}, before="hand.dealt", reason="it is over")


@found("approval_missing")
def a_manager_suspends_alone(docs: Docs) -> None:
    hire(docs, "mia", "manager")
    add(docs, HOUSE, "house.suspended", {}, actor="mia", role="manager", reason="as I like")


def go_live(docs: Docs, *, signed: Doc | None = None, live: Doc | None = None, **rehearsed: Any) -> None:
    """Rehearse, and let three people sign what the house is, but for what is said otherwise."""
    for login, role in (("adam", "admin"), ("bea", "auditor"), ("mia", "manager")):
        hire(docs, login, role)
    what = {"configuration": {"name": "Model"}, "figures": {}}
    data = {"rehearsal": 1, "sandbox": "MODEL-R1", "configuration": hash_of(what["configuration"]), "passed": True}
    number = rehearsed.get("rehearsal", 1)
    add(docs, HOUSE, "house.rehearsal_requested", {"rehearsal": number}, actor="adam", role="admin")
    add(docs, HOUSE, "house.rehearsed", data | {"items": [{"item": "day"}], "verified": {}} | rehearsed)
    digest = hash_of(what)
    first = {"signature": 1, "role": "admin", "digest": digest}
    add(docs, HOUSE, "house.go_live_signed", first, actor="adam", role="admin")
    second = {"signature": 2, "role": "auditor", "digest": digest} | (signed or {})
    add(docs, HOUSE, "house.go_live_signed", second, actor="bea", role="auditor")
    signers = {"admin": "adam", "auditor": "bea", "manager": "mia"}
    third = {"signature": 3, "role": "manager", "digest": digest, "signers": signers, "rehearsal": 1, "signed": what}
    add(docs, HOUSE, "house.went_live", third | (live or {}), actor="mia", role="manager")


@found("house_wrong_stage")
def a_sandbox_goes_live(docs: Docs) -> None:
    go_live(docs)


@found("rehearsal_missing")
def a_house_goes_live_without_a_passed_rehearsal(docs: Docs) -> None:
    go_live(docs, passed=False, items=[{"item": "day", "failed": "house_not_live"}])


@found("rehearsal_differs")
def a_rehearsal_passes_that_failed(docs: Docs) -> None:
    go_live(docs, items=[{"item": "day", "failed": "house_not_live"}])


@found("rehearsal_differs")
def a_rehearsal_is_played_that_was_cancelled(docs: Docs) -> None:
    go_live(docs)
    add(
        docs, HOUSE, "house.rehearsal_cancelled", {"rehearsal": 1}, before="house.rehearsed", actor="adam", role="admin"
    )


@found("rehearsal_differs")
def two_rehearsals_wait(docs: Docs) -> None:
    hire(docs, "adam", "admin")
    for number in (1, 2):
        add(docs, HOUSE, "house.rehearsal_requested", {"rehearsal": number}, actor="adam", role="admin")


@found("rehearsal_gap")
def a_rehearsal_is_left_out(docs: Docs) -> None:
    go_live(docs, rehearsal=2)


@found("signature_gap")
def a_signature_is_left_out(docs: Docs) -> None:
    go_live(docs, signed={"signature": 3})


@found("actor_without_role")
def an_auditor_signs_as_a_manager(docs: Docs) -> None:
    go_live(docs, signed={"role": "manager"})


@found("signatures_missing")
def two_sign_another_digest(docs: Docs) -> None:
    go_live(docs, signed={"digest": "0" * 64})


@found("digest_differs")
def something_else_was_signed(docs: Docs) -> None:
    go_live(docs, live={"signed": {"configuration": {}, "figures": {}}})


@found("approval_gap")
def an_approval_is_left_out(docs: Docs) -> None:
    approve(docs, requested={"approval": 2})


@found("same_person")
def the_requester_approves(docs: Docs) -> None:
    approve(docs, requested={"roles": ["admin"]}, approved=ADMIN)
    docs.pop()


@found("actor_without_role")
def an_administrator_approves(docs: Docs) -> None:
    hire(docs, "alma", "admin")
    approve(docs, approved={"actor": "alma", "role": "admin"}, used={"approver": "alma"})


@found("approver_not_independent")
def who_was_hired_by_the_requester_approves(docs: Docs) -> None:
    hire(docs, "adam", "admin")
    data = {"login": "mia", "roles": ["manager"], "password_sha256": "0" * 64}
    add(docs, HOUSE, "staff.hired", data, before="table.sat_down", **ADMIN)
    add(docs, HOUSE, "approval.requested", ASKED, **ADMIN)
    add(docs, HOUSE, "approval.approved", {"approval": 1}, **MANAGER)


@found("approver_not_independent")
def an_approver_decides_on_their_own_entry(docs: Docs) -> None:
    path = "/api/v1/staff/mia/roles"
    asked = {"path": path, "request_hash": hash_of({"method": "POST", "path": path, "body": BODY})}
    approve(docs, requested=asked)


#: What an event says of the actor's sessions that ended with it: none.
ELSEWHERE = {"kept_token_sha256": "c" * 64, "ended_session_count": 0}


@found("approval_without_code")
def a_house_that_asks_for_codes_gets_none(docs: Docs) -> None:
    one(docs, "house.founded")["data"]["second_factor_required"] = True
    approve(docs)
    sealed = {"sealed_sha256": "0" * 64}
    add(docs, HOUSE, "staff.second_factor_begun", sealed, before="approval.approved", **MANAGER)
    add(docs, HOUSE, "staff.second_factor_confirmed", sealed | ELSEWHERE, before="approval.approved", **MANAGER)


KEY = "a" * 64
REGISTERED = {"passkey_sha256": KEY, "public_key_sha256": "b" * 64} | ELSEWHERE


def register_passkey(docs: Docs, **members: Any) -> None:
    """A hired person registers a passkey before anybody decides anything."""
    add(docs, HOUSE, "staff.passkey_registered", REGISTERED, before="approval.approved", **members)


@found("passkey_differs")
def somebody_decides_with_the_passkey_of_another_person(docs: Docs) -> None:
    approve(docs)
    one(docs, "approval.approved")["data"] |= {"second_factor": True, "passkey_sha256": KEY}
    register_passkey(docs, **ADMIN)


@found("passkey_differs")
def somebody_decides_with_a_passkey_and_without_a_second_factor(docs: Docs) -> None:
    approve(docs)
    one(docs, "approval.approved")["data"]["passkey_sha256"] = KEY
    register_passkey(docs, **MANAGER)


@found("passkey_differs")
def somebody_signs_in_with_a_passkey_that_was_reset(docs: Docs) -> None:
    approve(docs)
    register_passkey(docs, **MANAGER)
    reset = {"login": "mia", "ended_session_count": 0}
    add(docs, HOUSE, "staff.second_factor_reset", reset, **ADMIN)
    signed = {"token_sha256": "c" * 64, "expires": docs[-1]["at"], "passkey_sha256": KEY}
    add(docs, HOUSE, "staff.signed_in", signed, **MANAGER | {"role": ""})


@found("passkey_differs")
def a_passkey_is_removed_by_another_person(docs: Docs) -> None:
    approve(docs)
    register_passkey(docs, **MANAGER)
    add(docs, HOUSE, "staff.passkey_removed", {"passkey_sha256": KEY} | ELSEWHERE, **ADMIN)


@found("passkey_differs")
def the_last_second_factor_of_an_approver_is_removed(docs: Docs) -> None:
    one(docs, "house.founded")["data"]["second_factor_required"] = True
    approve(docs)
    one(docs, "approval.approved")["data"]["second_factor"] = True
    register_passkey(docs, **MANAGER)
    add(docs, HOUSE, "staff.passkey_removed", {"passkey_sha256": KEY} | ELSEWHERE, **MANAGER)


@found("passkey_differs")
def a_copy_is_seen_where_the_count_goes_on(docs: Docs) -> None:
    approve(docs)
    register_passkey(docs, **MANAGER)
    seen = {"passkey_sha256": KEY, "stored_count": 4, "given_count": 5}
    add(docs, HOUSE, "staff.passkey_clone_seen", seen, **MANAGER)


@found("state_made_twice")
def a_passkey_is_registered_twice(docs: Docs) -> None:
    approve(docs)
    register_passkey(docs, **MANAGER)
    register_passkey(docs, **MANAGER)


@found("approval_differs")
def another_person_is_named_as_approver(docs: Docs) -> None:
    approve(docs, used={"approver": "adam"})


@found("approval_differs")
def an_approval_is_used_by_another_person(docs: Docs) -> None:
    hire(docs, "alma", "admin")
    approve(docs, used={"actor": "alma"})


@found("approval_differs")
def an_approval_is_used_for_another_amount(docs: Docs) -> None:
    approve(docs, used={"data": DUTY | {"approval": 1, "amount": 41}})


@found("approval_differs")
def an_approval_lasts_longer_than_the_house_says(docs: Docs) -> None:
    hire(docs, "adam", "admin")
    expires = {"expires": "2026-12-31T00:00:00.000000Z"}
    add(docs, HOUSE, "approval.requested", ASKED | expires, actor="adam", role="admin", terminal="at-T1")


@found("approval_differs")
def an_approval_shows_another_request_than_it_is_for(docs: Docs) -> None:
    approve(docs, requested={"body": BODY | {"reason": "October"}})


@found("approval_differs")
def an_approval_of_another_kind_is_used(docs: Docs) -> None:
    approve(docs, requested={"kind": "void"})


@found("approval_differs")
def an_approval_that_others_decided_is_used(docs: Docs) -> None:
    hire(docs, "otto", "auditor")
    auditor = {"actor": "otto", "role": "auditor"}
    approve(docs, requested={"roles": ["auditor"]}, approved=auditor, used={"approver": "otto"})


def test_who_dealt_a_hand_and_rules_on_it_is_found() -> None:
    docs = evening()
    dealer = one(docs, "hand.dealt")["actor"]
    add(docs, TABLE, "hand.ruled_later", RULED_LATER, actor=dealer, role="dealer", terminal="at-T1", reason="a video")
    assert "same_person" in codes(docs)


@found("approval_wrong_state")
def an_approval_is_used_twice(docs: Docs) -> None:
    approve(docs)
    add(docs, HOUSE, "house.duty", DUTY | {"approval": 1}, approver="mia", **ADMIN)


@found("approval_wrong_state")
def an_approval_is_used_after_it_was_withdrawn(docs: Docs) -> None:
    approve(docs)
    add(docs, HOUSE, "approval.withdrawn", {"approval": 1}, before="house.duty", **ADMIN)


@found("approval_differs")
def another_person_withdraws(docs: Docs) -> None:
    approve(docs)
    add(docs, HOUSE, "approval.withdrawn", {"approval": 1}, before="house.duty", **MANAGER)


@found("approval_expired")
def an_approval_is_used_too_late(docs: Docs) -> None:
    approve(docs, requested={"expires": "2026-11-20T00:00:00.000000Z"})


@found("approval_expired")
def an_approval_expires_before_its_time(docs: Docs) -> None:
    approve(docs)
    add(docs, HOUSE, "approval.expired", {"approval": 1}, before="house.duty")


# --- Tables -----------------------------------------------------------------------------------------------------------


@found("table_version_differs")
def a_version_of_a_table_is_skipped(docs: Docs) -> None:
    one(docs, "hand.dealt")["data"]["table_version"] += 1


@found("table_version_differs")
def a_version_of_lines_is_given_twice(docs: Docs) -> None:
    one(docs, "hand.acted")["data"]["table_version"] -= 1


@found("table_state_differs")
def a_hand_is_dealt_at_a_closed_table(docs: Docs) -> None:
    add(docs, TABLE, "table.closed", {}, before="hand.dealt")


def take_over(docs: Docs, login: str, before: str = "hand.dealt", **members: Any) -> None:
    """Let a dealer take the table over."""
    data = {"turn": 1, "dealer": login} | members
    add(docs, TABLE, "dealer.took_over", data, before=before, actor=login, role="dealer", terminal="at-T1")


@found("table_dealer_differs")
def another_dealer_deals(docs: Docs) -> None:
    hire(docs, "olga", "dealer")
    take_over(docs, "olga")


@found("table_dealer_differs")
def a_dealer_relieves_somebody_else(docs: Docs) -> None:
    take_over(docs, "ödön@MODEL", relieved="olga", ended_with="break")


@found("table_dealer_differs")
def a_turn_is_left_out(docs: Docs) -> None:
    take_over(docs, "ödön@MODEL", turn=2)


@found("table_dealer_differs")
def somebody_takes_over_for_another(docs: Docs) -> None:
    hire(docs, "olga", "dealer")
    take_over(docs, "ödön@MODEL", dealer="olga")


@found("table_dealer_differs")
def a_dealer_takes_a_second_table(docs: Docs) -> None:
    take_over(docs, "ödön@MODEL")
    take_over(docs, "ödön@MODEL", before="hand.acted", turn=2, relieved="ödön@MODEL", ended_with="break")


@found("table_dealer_differs")
def another_dealer_is_said_to_have_left(docs: Docs) -> None:
    take_over(docs, "ödön@MODEL")
    who = {"actor": "ödön@MODEL", "role": "dealer", "terminal": "at-T1"}
    left = {"turn": 1, "dealer": "olga", "ended_with": "done"}
    add(docs, TABLE, "dealer.left", left, before="hand.acted", **who)


def wait(docs: Docs, *tickets: int, player: str = "a") -> None:
    """Put players on the waiting list before the first hand."""
    for ticket in tickets:
        data = {"ticket": ticket, "player": player, "game": one(docs, "table.set_up")["data"]["game"]}
        add(docs, HOUSE, "waiting.added", data | {"player": f"{player}{ticket}"}, before="hand.dealt")


def call(docs: Docs, ticket: int, **members: Any) -> None:
    """Call one of them."""
    add(docs, HOUSE, "waiting.called", {"ticket": ticket, "table": "T1"}, before="hand.dealt", **members)


@found("waiting_list_differs")
def a_number_of_the_waiting_list_is_left_out(docs: Docs) -> None:
    wait(docs, 1, 3)


@found("waiting_list_differs")
def somebody_waits_twice(docs: Docs) -> None:
    wait(docs, 1)
    game = one(docs, "table.set_up")["data"]["game"]
    add(docs, HOUSE, "waiting.added", {"ticket": 2, "player": "a1", "game": game}, before="hand.dealt")


@found("waiting_list_differs")
def somebody_is_passed_over_without_a_reason(docs: Docs) -> None:
    wait(docs, 1, 2)
    call(docs, 2)


@found("waiting_list_differs")
def another_player_sits_down_with_a_number(docs: Docs) -> None:
    wait(docs, 1)
    call(docs, 1)
    add(docs, HOUSE, "player.registered", {"player": "c"}, before="hand.dealt")
    add(docs, TABLE, "table.sat_down", {"player": "c", "seat": 2, "amount": 5, "ticket": 1}, before="hand.dealt")


@found("waiting_list_differs")
def a_player_who_was_not_called_does_not_show(docs: Docs) -> None:
    wait(docs, 1)
    add(docs, HOUSE, "waiting.no_show", {"ticket": 1}, before="hand.dealt")


@found("waiting_list_differs")
def a_player_is_called_to_a_table_of_another_game(docs: Docs) -> None:
    add(docs, HOUSE, "waiting.added", {"ticket": 1, "player": "a", "game": "chess"}, before="hand.dealt")
    call(docs, 1)


# --- Cash that is on hold ---------------------------------------------------------------------------------------------


def announce(docs: Docs, number: int = 1, **changed: Any) -> None:
    """A player announces a cash-out before the first hand, for an hour."""
    at = docs[docs.index(one(docs, "hand.dealt")) - 1]["at"]
    until = (datetime.fromisoformat(at) + timedelta(hours=1)).isoformat(timespec="microseconds")
    data = {"announcement": number, "player": "a", "amount": 500, "minutes": 60, "until": until[:-6] + "Z"}
    data |= changed
    add(docs, DRAWER, "cage.cash_out_announced", data, before="hand.dealt", **at_cage(docs))


def at_cage(docs: Docs) -> dict[str, str]:
    """Who works at the drawer."""
    return {name: one(docs, "cage.buy_in")[name] for name in ("actor", "role", "terminal")}


def paid(docs: Docs, number: int = 1, chain: str = DRAWER, **changed: Any) -> None:
    """It is paid before the first hand."""
    data = {"announcement": number, "player": "a", "amount": 500, "player_chips": 0, "exchanged": {}} | changed
    add(docs, chain, "cage.cash_out", data, before="hand.dealt", **at_cage(docs))


def expired(docs: Docs, *holds: str, at: str = "2026-11-21T02:00:00.000000Z", **data: Any) -> None:
    """Holds expire after the last hand."""
    add(docs, HOUSE, "holds.expired", {"hold_count": len(holds), "holds": list(holds)} | data, at=at)


def test_announced_cash_outs_are_paid_withdrawn_or_expire() -> None:
    docs = evening()
    announce(docs)
    paid(docs, amount=400)
    announce(docs, 2)
    withdrawn = {"announcement": 2, "amount": 500}
    add(docs, DRAWER, "cage.announcement_withdrawn", withdrawn, before="hand.dealt", reason="no", **at_cage(docs))
    announce(docs, 3)
    expired(docs, "cash_out:3")
    assert codes(docs) == []


@found("serial_gap")
def a_number_of_an_announced_cash_out_is_left_out(docs: Docs) -> None:
    announce(docs)
    announce(docs, 3)


@found("state_event_differs")
def cash_is_set_aside_for_longer_than_was_said(docs: Docs) -> None:
    announce(docs, minutes=30)


@found("announcement_differs")
def an_announced_cash_out_is_paid_twice(docs: Docs) -> None:
    announce(docs)
    paid(docs)
    paid(docs)


@found("announcement_differs")
def an_announced_cash_out_is_paid_to_another_player(docs: Docs) -> None:
    announce(docs)
    paid(docs, player="b")


@found("announcement_differs")
def more_is_paid_than_was_announced(docs: Docs) -> None:
    announce(docs)
    paid(docs, amount=501)


@found("announcement_differs")
def what_was_withdrawn_was_announced_otherwise(docs: Docs) -> None:
    announce(docs)
    add(docs, DRAWER, "cage.announcement_withdrawn", {"announcement": 1, "amount": 5}, before="hand.dealt", reason="no",
        **at_cage(docs))  # fmt: skip


@found("announcement_differs")
def an_announced_cash_out_is_paid_when_its_time_is_over(docs: Docs) -> None:
    announce(docs)
    paid(docs)
    one(docs, "cage.cash_out")["at"] = "2026-11-21T02:00:00.000000Z"


@found("announcement_differs")
def another_drawer_pays_it(docs: Docs) -> None:
    add(docs, "drawer/C2", "drawer.set_up", {}, before="hand.dealt")
    announce(docs)
    paid(docs, chain="drawer/C2")


@found("announcement_differs")
def what_was_paid_expires(docs: Docs) -> None:
    announce(docs)
    paid(docs)
    expired(docs, "cash_out:1")


@found("state_event_differs")
def cash_is_free_before_its_time_is_over(docs: Docs) -> None:
    announce(docs)
    expired(docs, "cash_out:1", at="2026-11-21T00:30:00.000000Z")


@found("state_event_differs")
def more_holds_have_expired_than_are_named(docs: Docs) -> None:
    announce(docs)
    expired(docs, "cash_out:1", hold_count=2)


@found("state_not_recorded")
def a_hold_expires_that_nobody_has_made(docs: Docs) -> None:
    expired(docs, "cash_out:1")


def move(docs: Docs, *, out: Doc | None = None, **into: Any) -> None:
    """A player who has just sat down comes from a second table with the same stack, before the first hand."""
    second = "table/T2"
    given = one(docs, "table.set_up")["data"]
    add(docs, HOUSE, "player.registered", {"player": "c"}, before="hand.dealt")
    for kind, data in (
        ("table.set_up", given),
        ("table.opened", {"session": 1}),
        ("table.sat_down", {"player": "c", "seat": 1, "amount": given["min_stack"]}),
    ):
        add(docs, second, kind, data, before="hand.dealt")
    one(docs, "table.set_up")["data"] = given | {"seats": 3}
    half = {"player": "c", "amount": given["min_stack"]}
    moved = half | {"seat": 3, "from_table": "T2"} | into
    add(docs, TABLE, "table.moved_in", moved, before="hand.dealt")
    add(docs, second, "table.moved_out", half | {"seat": 1, "to_table": "T1", "to_seat": 3} | (out or {}),
        before="hand.dealt")  # fmt: skip


def test_a_player_moves_from_one_table_to_another() -> None:
    docs = evening()
    move(docs)
    assert codes(docs) == []


@found("table_move_differs")
def a_stack_grows_on_the_way(docs: Docs) -> None:
    move(docs, out={"amount": one(docs, "table.set_up")["data"]["min_stack"] + 1})


@found("table_move_differs")
def a_player_arrives_at_another_seat(docs: Docs) -> None:
    move(docs, out={"to_seat": 2})


@found("table_move_differs")
def a_player_takes_a_seat_that_is_taken(docs: Docs) -> None:
    move(docs, seat=2)


@found("table_move_differs")
def a_player_changes_to_a_seat_that_is_taken(docs: Docs) -> None:
    add(docs, TABLE, "table.seat_changed", {"player": "a", "seat": 1, "to_seat": 2}, before="hand.dealt")


@found("tray_opener_differs")
def a_session_begins_with_a_count_that_nobody_made(docs: Docs) -> None:
    one(docs, "table.opened")["data"]["opener"] = 7


@found("tray_closer_differs")
def a_session_ends_with_a_count_that_nobody_made(docs: Docs) -> None:
    closed = {"carryover_on_close": "split", "shares": {}, "left_with": {}, "closer": 7, "table_version": 0}
    add(docs, TABLE, "table.closed", closed)


@found("tray_closer_differs")
def a_session_ends_without_a_closer_where_the_house_wants_one(docs: Docs) -> None:
    add(docs, HOUSE, "limits.changed", LIMITS | {"points": {"closer_required": 1}}, reason="at founding")
    closed = {"carryover_on_close": "split", "shares": {}, "left_with": {}, "table_version": 0}
    add(docs, TABLE, "table.closed", closed, at="2026-11-22T01:00:00.000000Z")


@found("table_hands_differ")
def a_number_of_a_hand_is_left_out(docs: Docs) -> None:
    one(docs, "hand.dealt")["data"]["hand"] = "T1-000002"


@found("table_seats_differ")
def a_player_is_dealt_in_who_does_not_sit_there(docs: Docs) -> None:
    one(docs, "hand.dealt")["data"]["seats"][0]["player"] = "b"


@found("table_seats_differ")
def seats_are_dealt_out_of_order(docs: Docs) -> None:
    add(docs, HOUSE, "player.registered", {"player": "c"}, before="table.sat_down")
    one(docs, "table.set_up")["data"]["seats"] = 3
    add(docs, TABLE, "table.sat_down", {"player": "c", "seat": 3, "amount": 5}, before="hand.dealt")
    seats = one(docs, "hand.dealt")["data"]["seats"]
    seats[:] = [seats[1], seats[0], {"player": "c", "seat": 3}]


@found("table_button_differs")
def the_button_is_passed_over(docs: Docs) -> None:
    seats = one(docs, "hand.dealt", 1)["data"]["seats"]
    seats.reverse()


@found("table_limits_differ")
def a_stack_is_larger_than_the_limit(docs: Docs) -> None:
    one(docs, "table.sat_down")["data"]["amount"] = 10_000


@found("table_limits_differ")
def a_seat_is_beyond_the_last(docs: Docs) -> None:
    one(docs, "table.sat_down")["data"]["seat"] = 3


@found("table_time_differs")
def an_act_is_automatic_where_there_is_no_time_to_act(docs: Docs) -> None:
    one(docs, "hand.acted")["data"]["automatic"] = True


@found("device_play_differs")
def a_player_acts_from_a_device_where_the_table_does_not_allow_it(docs: Docs) -> None:
    acted, seat = one(docs, "hand.acted"), one(docs, "hand.dealt")["data"]["seats"][0]
    acted |= {"actor": seat["player"], "role": "player", "terminal": f"T1/{seat['seat']}"}


@found("table_seeds_differ")
def a_deal_lacks_a_seed_that_the_table_demands(docs: Docs) -> None:
    one(docs, "table.set_up")["data"]["client_seeds"] = "all"
    one(docs, "hand.dealt")["data"] |= {"mode": "electronic", "client_seeds": {"1": "x"}}


# --- Days -------------------------------------------------------------------------------------------------------------


CARRIED: Doc = {
    name: []
    for name in (
        *("balances", "boxes", "tables", "handovers", "transfers", "approvals", "chip_moves", "tray_counts"),
        *("bank_bags", "vault_counts", "tronc_shares"),
    )
}


def close_day(docs: Docs, *, opened_at: str, following_at: str = "", boxes: Docs | None = None, **named: Docs) -> None:
    """A day around the evening, and perhaps a following one that was opened at a moment; what it names as left over."""
    add(docs, HOUSE, "day.opened", {"day": "2026-01-01"}, before="table.sat_down", at=opened_at)
    if following_at:
        add(docs, HOUSE, "day.opened", {"day": "2026-01-02"}, at=following_at)
    data = {
        "day": "2026-01-01",
        "totals": {},
        "carried": CARRIED | {"boxes": boxes or []} | named,
        "snapshot": "period 2026-01-01",
    }
    add(docs, HOUSE, "day.closed", data)


@found("approval_missing")
def a_dealer_holds_a_cukassza_alone(docs: Docs) -> None:
    held = {"carryover_on_close": "hold", "shares": {}, "left_with": {}, "held": {"cukassza": 5}}
    dealer = {"actor": "ödön@MODEL", "role": "dealer", "terminal": "at-T1"}
    add(docs, TABLE, "table.closed", held, **dealer)


@found("approval_missing")
def a_day_is_closed_by_one_person(docs: Docs) -> None:
    hire(docs, "mia", "manager")
    close_day(docs, opened_at=docs[0]["at"])
    docs[-1] |= {"actor": "mia", "role": "manager"}


@found("day_differs")
def a_day_is_closed_with_chips_in_transit(docs: Docs) -> None:
    _two_people(docs)
    _fill(docs, "sent", "anna")
    close_day(docs, opened_at=docs[0]["at"])


@found("day_differs")
def a_day_names_a_box_that_there_is_not(docs: Docs) -> None:
    box = {"box": 7, "table": "T1", "kind": "drop", "number": "1", "state": "taken", "for_day": None}
    close_day(docs, opened_at=docs[0]["at"], following_at=docs[0]["at"], boxes=[box])


@found("day_differs")
def chips_are_attributed_for_a_day_that_was_not_opened(docs: Docs) -> None:
    hire(docs, "cleo", "compliance")
    moved = {"player": "béla", "place": "C1", "amount": 5, "player_chips": 5, "for_day": "2026-01-02"}
    add(docs, HOUSE, "chips.attributed", moved, actor="cleo", role="compliance", reason="seen on the film")


@found("day_differs")
def a_day_names_a_count_of_a_tray_that_does_not_wait(docs: Docs) -> None:
    count = {"tray_count": 7, "table": "T1", "purpose": "opener"}
    close_day(docs, opened_at=docs[0]["at"], following_at=docs[0]["at"], tray_counts=[count])


@pytest.mark.parametrize(
    "named",
    [
        {"bank_bags": [{"number": 7, "way": "to_bank", "bag": "B-7"}]},
        {"vault_counts": [{"vault_count": 7, "state": "counting"}]},
        {"tronc_shares": [{"pool": 7, "login": "anna", "amount": 5}]},
    ],
)
def test_a_day_names_what_is_not_open(named: dict[str, Docs]) -> None:
    docs = evening()
    close_day(docs, opened_at=docs[0]["at"], following_at=docs[0]["at"], **named)
    assert codes(docs) == ["day_differs"]


def close_with_hold(docs: Docs, *named: Doc) -> None:
    """A day closes while cash is on hold for an announced cash-out, and names these holds."""
    close_day(docs, opened_at=docs[0]["at"], following_at=docs[0]["at"], holds=list(named))


def hold(docs: Docs) -> Doc:
    """The hold of the announced cash-out, as a day names it."""
    return {"hold": "cash_out:1", "until": one(docs, "cage.cash_out_announced")["data"]["until"]}


def test_a_day_names_what_is_on_hold() -> None:
    docs = evening()
    announce(docs)
    close_with_hold(docs, hold(docs))
    assert codes(docs) == []


@found("day_differs")
def a_day_does_not_name_what_is_on_hold(docs: Docs) -> None:
    announce(docs)
    close_with_hold(docs)


@found("day_differs")
def a_day_names_a_hold_that_was_used(docs: Docs) -> None:
    announce(docs)
    paid(docs)
    close_with_hold(docs, hold(docs))


@found("day_differs")
def a_day_names_a_hold_with_another_end(docs: Docs) -> None:
    announce(docs)
    close_with_hold(docs, hold(docs) | {"until": "2026-11-21T09:00:00.000000Z"})


def _package(docs: Docs, **changed: Any) -> None:
    """A closed day and its package, of another day where that is named."""
    close_day(docs, opened_at=docs[0]["at"], following_at=docs[0]["at"])
    data = {"day": "2026-01-01", "sha256": "0" * 64, "size": 9, "checkpoint": None}
    add(docs, HOUSE, "day.packaged", data | changed)


@found("day_differs")
def a_package_is_of_a_day_without_its_snapshot(docs: Docs) -> None:
    _package(docs, day="2026-01-02")


@found("day_differs")
def another_package_was_signed(docs: Docs) -> None:
    hire(docs, "ulla", "auditor")
    _package(docs)
    signed = {"day": "2026-01-01", "sha256": "1" * 64}
    add(docs, HOUSE, "day.package_signed", signed, actor="ulla", role="auditor")


@found("state_not_recorded")
def a_package_was_signed_that_there_is_not(docs: Docs) -> None:
    add(docs, HOUSE, "day.package_signed", {"day": "2026-01-01", "sha256": "1" * 64})


def test_what_was_begun_on_the_following_day_does_not_matter() -> None:
    docs = evening()
    _two_people(docs)
    _fill(docs, "sent", "anna")
    close_day(docs, opened_at=docs[0]["at"], following_at=docs[0]["at"])
    assert codes(docs) == []


# --- Cage -------------------------------------------------------------------------------------------------------------


def pay_fee(docs: Docs, *, posted: int, table: str = "T1") -> None:
    """A table fee of 5.00 is paid in cash after the first buy-in, and so much is posted for it."""
    buy_in = one(docs, "cage.buy_in")
    version = one(docs, "cage.buy_in", -1)["data"]["drawer_version"] + 1
    data = {"player": "a", "amount": 500, "table": table, "minutes": 60, "drawer_version": version}
    legs = [["1020/C1", "HUF", posted], [f"4020/{table}", "HUF", -posted]]
    who = {name: buy_in[name] for name in ("actor", "role", "terminal")}
    add(docs, DRAWER, "cage.table_fee", data, postings=[{"about": "cage.table_fee", "tx": 9999, "legs": legs}], **who)


def test_a_table_fee_that_is_posted_as_it_was_paid_is_none_to_be_found() -> None:
    docs = evening()
    pay_fee(docs, posted=500)
    assert codes(docs) == []


@found("state_event_differs")
def a_table_fee_is_posted_otherwise_than_it_was_paid(docs: Docs) -> None:
    pay_fee(docs, posted=400)


@found("state_not_recorded")
def a_table_fee_is_paid_for_a_table_that_nobody_has_set_up(docs: Docs) -> None:
    pay_fee(docs, posted=500, table="T7")


@found("drawer_version_differs")
def a_version_of_a_drawer_is_skipped(docs: Docs) -> None:
    one(docs, "cage.buy_in")["data"]["drawer_version"] += 1


def _fill(docs: Docs, state: str, by: str, **changed: Any) -> None:
    """A fill of the table, sent and received by somebody."""
    data = {"kind": "fill", "table": "T1", "drawer": "C1", "requested": {"5": 2}, "opened_by": "anna",
            "state": state, "sent": {"5": 2}, "counted": {"5": 2} if state == "received" else None, "serial": 1,
            "carried_by": "cili"}  # fmt: skip
    add(
        docs,
        DRAWER if state == "sent" else TABLE,
        f"fill.{state}",
        {"transfer": data | changed},
        actor=by,
        role="cashier",
    )


def _two_people(docs: Docs) -> None:
    for login in ("anna", "bela"):
        hire(docs, login, "cashier")


@found("same_person")
def one_person_sends_and_receives(docs: Docs) -> None:
    _two_people(docs)
    _fill(docs, "sent", "anna")
    _fill(docs, "received", "anna")


@found("approver_not_independent")
def who_was_hired_by_the_sender_receives(docs: Docs) -> None:
    hire(docs, "anna", "cashier")
    data = {"login": "bela", "roles": ["cashier"], "password_sha256": "0" * 64}
    add(docs, HOUSE, "staff.hired", data, before="table.sat_down", actor="anna", role="cashier")
    _fill(docs, "sent", "anna")
    _fill(docs, "received", "bela")


@found("approver_not_independent")
def who_has_the_password_of_the_sender_receives(docs: Docs) -> None:
    _two_people(docs)
    data = {"login": "anna", "password_sha256": "0" * 64, "ended_session_count": 0}
    add(docs, HOUSE, "staff.password_set", data, before="table.sat_down", actor="bela", role="cashier", reason="lost")
    _fill(docs, "sent", "anna")
    _fill(docs, "received", "bela")


@found("state_event_differs")
def an_event_says_otherwise_what_was_requested(docs: Docs) -> None:
    _two_people(docs)
    _fill(docs, "sent", "anna")
    _fill(docs, "received", "bela", requested={"5": 3})


@found("same_person")
def nobody_else_carries_it(docs: Docs) -> None:
    _two_people(docs)
    _fill(docs, "sent", "anna", carried_by="bela")
    _fill(docs, "received", "bela", carried_by="bela")


@found("same_person")
def a_variance_is_accepted_at_once(docs: Docs) -> None:
    _two_people(docs)
    _fill(docs, "sent", "anna")
    _fill(docs, "received", "bela", counted={"5": 1})


@found("same_person")
def a_sender_cancels_alone(docs: Docs) -> None:
    _two_people(docs)
    _fill(docs, "sent", "anna")
    _fill(docs, "cancelled", "anna")


@found("serial_gap")
def a_number_is_left_out(docs: Docs) -> None:
    _two_people(docs)
    _fill(docs, "sent", "anna", serial=2)


@found("serial_gap")
def an_entry_of_the_rota_is_left_out(docs: Docs) -> None:
    _two_people(docs)
    where = {"login": "anna", "role": "cashier", "kind": "office", "location": ""}
    when = {"starts": "2026-11-21T20:00:00.000000Z", "ends": "2026-11-21T22:00:00.000000Z"}
    for number in (1, 3):
        add(docs, HOUSE, "rota.entered", {"entry": number} | where | when)


@found("serial_gap")
def a_card_exception_is_left_out(docs: Docs) -> None:
    for number in (1, 3):
        add(docs, TABLE, "cards.exception", {"exception": number, "kind": "deck", "found": {"problem": "two"}})


def _box(docs: Docs, kind: str, by: str, state: str, **more: Any) -> None:
    """A box of the table is put there or counted by somebody."""
    box = {"box": 1, "table": "T1", "kind": "drop", "number": "7", "put_by": "anna", "state": state,
           "seal": "", "seal_read": "", "for_day": None, "differing_rounds": 0}  # fmt: skip
    add(docs, TABLE if kind == "box.swapped" else HOUSE, kind, {"box": box} | more, actor=by, role="cashier")


BEFORE = {"box": 1, "table": "T1", "kind": "drop", "number": "7", "put_by": "anna", "state": "at_table",
          "seal": "", "seal_read": "", "for_day": None, "differing_rounds": 0}  # fmt: skip
COUNT = {"tray_count": 1, "table": "T1", "purpose": "box_change", "exception": ""}
AT_NIGHT = "2026-11-22T01:00:00.000000Z"


def _boxes_are_changed(docs: Docs, *, role: str = "dealer", **more: Any) -> None:
    """A box takes the place of another one."""
    _two_people(docs)
    by: Doc = {"actor": "anna", "role": role, "at": AT_NIGHT}
    add(docs, TABLE, "box.swapped", {"box": dict(BEFORE)}, **by)
    taken = BEFORE | {"state": "taken", "seal": "S", "for_day": ""}
    add(docs, TABLE, "box.swapped", {"box": BEFORE | {"box": 2, "number": "8"}, "taken": taken} | more, **by)


@found("state_event_differs")
def somebody_else_than_the_dealer_counts_a_tray_with_a_box(docs: Docs) -> None:
    _boxes_are_changed(docs, role="cashier", tray_count=COUNT, pieces={"5": 1})


@found("tray_count_missing")
def boxes_are_changed_without_a_count_where_the_house_wants_one(docs: Docs) -> None:
    add(docs, HOUSE, "limits.changed", LIMITS | {"points": {"box_change_count_required": 1}}, reason="at founding")
    _boxes_are_changed(docs)


@found("tray_count_missing")
def boxes_are_changed_with_a_count_that_there_is_not(docs: Docs) -> None:
    _boxes_are_changed(docs, counted=7)


@found("same_person")
def one_person_counts_twice(docs: Docs) -> None:
    _two_people(docs)
    _box(docs, "box.swapped", "anna", "at_table")
    for state in ("at_table", "counted"):
        _box(docs, "box.counted", "bela", state, count={"round": 1, "cash": 5, "pieces": {}})


@found("state_event_differs")
def counts_agree_that_do_not(docs: Docs) -> None:
    _two_people(docs)
    _box(docs, "box.swapped", "anna", "at_table")
    for by, cash, state in (("anna", 5, "at_table"), ("bela", 6, "counted")):
        _box(docs, "box.counted", by, state, count={"round": 1, "cash": cash, "pieces": {}})


def _move(docs: Docs, kind: str, by: str, what: str = "set_aside", state: str = "waiting", **more: Any) -> None:
    """Chips of the vault are written down or counted by somebody."""
    move = {"move": 1, "kind": what, "chip_set": "MAIN", "drawer": None, "paper": "worn", "state": state,
            "noted_by": "anna", "observer": None, "differing_rounds": 0, "decided_by": None, "reason": ""}  # fmt: skip
    part = {name: more.pop(name) for name in move.keys() & more.keys()}
    add(docs, HOUSE, kind, {"move": move | part | more.pop("figures", {})} | more, actor=by, role="cashier")


def _count(**pieces: int) -> Doc:
    return {"round": 1, "pieces": {name[1:]: count for name, count in pieces.items()}}


@found("same_person")
def one_person_counts_out_chips_and_counts_them(docs: Docs) -> None:
    _two_people(docs)
    _move(docs, "chips.noted", "anna", pieces={"5": 4})
    _move(docs, "chips.set_aside", "anna", state="done", count=_count(v5=4), figures={"counted": {"5": 4}})


@found("same_person")
def chips_are_destroyed_without_surveillance(docs: Docs) -> None:
    _two_people(docs)
    _move(docs, "chips.noted", "anna", "destruction", pieces={"5": 4})


@found("state_event_differs")
def chips_are_set_aside_that_only_one_has_counted(docs: Docs) -> None:
    _two_people(docs)
    _move(docs, "chips.noted", "anna", pieces={"5": 4})
    _move(docs, "chips.set_aside", "bela", state="done", count=_count(v5=4), figures={"counted": {"5": 9}})


@found("state_event_differs")
def one_person_receives_a_delivery(docs: Docs) -> None:
    _two_people(docs)
    _move(docs, "chips.noted", "anna", "delivery", pieces={"5": 4})
    _move(docs, "chips.delivered", "bela", "delivery", "done", count=_count(v5=4), figures={"counted": {"5": 4}})


@found("state_event_differs")
def a_delivery_is_decided_that_nobody_has_counted(docs: Docs) -> None:
    _two_people(docs)
    _move(docs, "chips.noted", "anna", "delivery", pieces={"5": 4})
    decided = {"decided_by": "bela", "reason": "so it was", "figures": {"counted": {"5": 3}}}
    _move(docs, "chips.delivered", "bela", "delivery", "done", **decided)
    docs[-1]["reason"] = "so it was"


def _two_sets(docs: Docs) -> None:
    """The house gets two chip sets."""
    for code in ("FIRST", "NEXT"):
        add(docs, HOUSE, "chips.introduced", {"chip_set": code, "denominations": {"1": "blue"}})


def _put_in_use(docs: Docs, until: str) -> None:
    """The second takes the place of the first."""
    data = {"chip_set": "NEXT", "withdrawn": "FIRST", "redeem_until": until}
    add(docs, HOUSE, "chips.put_in_use", data)


@found("state_event_differs")
def a_chip_set_is_put_in_use_twice(docs: Docs) -> None:
    _two_sets(docs)
    for _ in range(2):
        _put_in_use(docs, "2030-01-01")


@found("state_event_differs")
def a_chip_set_lapses_before_its_notice_is_over(docs: Docs) -> None:
    _two_sets(docs)
    _put_in_use(docs, "2999-01-01")
    add(docs, HOUSE, "chips.lapsed", {"chip_set": "FIRST", "amount": 0, "pieces": {}})


@found("state_event_differs")
def a_chip_set_is_retired_that_is_in_use(docs: Docs) -> None:
    _two_sets(docs)
    add(docs, HOUSE, "chips.retired", {"chip_set": "FIRST"})


OVER: Doc = {"cash": -5, "pieces": {}, "foreign": 0}


def _vault(docs: Docs, kind: str, by: str, state: str, *overs: Doc, **more: Any) -> None:
    """The vault is counted by somebody; `overs` are of every count so far, two a round, once it was counted."""
    counts = [
        {"round": 1 + at // 2, "by": ("anna", "bela")[at % 2], "over": over, "cash": 5, "pieces": {}, "foreign": 0}
        for at, over in enumerate(overs)
    ]
    figures = {"count": {"cash": 5, "pieces": {}, "foreign": 0}, "over": OVER, "counts": counts} if overs else {}
    count = {"vault_count": 1, "state": state, "differing_rounds": 0, "decided_by": None, "signed_by": None}
    own = {} if kind == "vault.count_signed_off" else {"count": {"round": 1, "cash": 5, "pieces": {}, "foreign": 0}}
    members = {"actor": by, "role": "cashier", "reason": "counted"} | more.pop("members", {})
    add(docs, HOUSE, kind, {"vault_count": count | figures | more} | own, **members)


@found("same_person")
def one_person_counts_the_vault_twice(docs: Docs) -> None:
    _two_people(docs)
    _vault(docs, "vault.counted", "anna", "counting")
    _vault(docs, "vault.counted", "anna", "counted", OVER, OVER)


@found("state_event_differs")
def counts_of_the_vault_agree_that_do_not(docs: Docs) -> None:
    _two_people(docs)
    _vault(docs, "vault.counted", "anna", "counting")
    _vault(docs, "vault.counted", "bela", "counted", OVER | {"cash": 0}, OVER)


@found("same_person")
def who_has_counted_the_vault_signs_it_off(docs: Docs) -> None:
    _two_people(docs)
    _vault(docs, "vault.counted", "anna", "counting")
    _vault(docs, "vault.counted", "bela", "counted", OVER, OVER)
    _vault(docs, "vault.count_signed_off", "bela", "accepted", OVER, OVER, signed_by="bela")


@found("serial_gap")
def a_count_of_the_vault_is_left_out(docs: Docs) -> None:
    _two_people(docs)
    _vault(docs, "vault.counted", "anna", "counting", vault_count=2)


def _bag(docs: Docs, kind: str, by: str, amount: int = 500, **more: Any) -> None:
    """A bag goes to the bank, or its note is entered; nobody has approved it."""
    bag = {"number": 1, "way": "to_bank", "bag": "B-1", "amount": 500, "state": "in_transit", "sent_by": "anna",
           "counted": None, "difference": None, "note": "", "ended_by": None}  # fmt: skip
    if kind == "bank.confirmed":
        bag |= {"state": "arrived", "counted": amount, "difference": amount - 500, "note": "N", "ended_by": by}
    add(docs, HOUSE, kind, {"bag": bag | more, "amount": amount}, actor=by, role="system")


@found("same_person")
def who_has_sent_a_bag_confirms_it(docs: Docs) -> None:
    _two_people(docs)
    _bag(docs, "bank.sent", "anna")
    _bag(docs, "bank.confirmed", "anna")


@found("state_event_differs")
def a_bag_changes_on_its_way(docs: Docs) -> None:
    _two_people(docs)
    _bag(docs, "bank.sent", "anna")
    _bag(docs, "bank.confirmed", "bela", bag="B-2")


@found("approval_missing")
def a_bag_is_sent_alone(docs: Docs) -> None:
    _two_people(docs)
    _bag(docs, "bank.sent", "anna")
    docs[-1]["role"] = "cashier"


@found("approval_missing")
def a_bag_that_is_short_is_confirmed_alone(docs: Docs) -> None:
    _two_people(docs)
    _bag(docs, "bank.sent", "anna")
    _bag(docs, "bank.confirmed", "bela", 400)
    docs[-1]["role"] = "cashier"


@found("state_event_differs")
def shares_are_more_than_the_pool(docs: Docs) -> None:
    _two_people(docs)
    shares = [{"login": login, "points": 1, "amount": 3, "paid": False} for login in ("anna", "bela")]
    add(docs, HOUSE, "tronc.shared", {"pool": {"pool": 1, "amount": 5, "shares": shares}}, actor="anna", role="cashier")


# --- Rows -------------------------------------------------------------------------------------------------------------


@found("state_made_twice")
def a_player_is_registered_twice(docs: Docs) -> None:
    add(docs, HOUSE, "player.registered", {"player": "a"})


@found("state_not_recorded")
def a_table_that_was_never_set_up_is_opened(docs: Docs) -> None:
    add(docs, "table/T7", "table.opened", {"session": 1})


@pytest.mark.parametrize(("code", "change"), CHANGES, ids=[change.__name__ for _, change in CHANGES])
def test_an_altered_event_is_judged_by_the_state_before_it(code: str, change: Change) -> None:
    docs = evening()
    assert codes(docs) == []
    change(docs)
    assert codes(docs)[0] == code


def test_two_people_rotate_a_key() -> None:
    docs = evening()
    rotate(docs)
    assert codes(docs) == []


def test_two_people_send_and_receive() -> None:
    """Otherwise the cases above would prove little."""
    docs = evening()
    _two_people(docs)
    _fill(docs, "sent", "anna")
    _fill(docs, "received", "bela")
    assert codes(docs) == []


# --- Ledger, notes and house ------------------------------------------------------------------------------------------

Alter = Callable[[World], None]
ALTERATIONS: list[tuple[str, Alter]] = []


def exported(code: str) -> Callable[[Alter], Alter]:
    """A change of the model's house, whose export is signed as it is, and a code that is found."""

    def register(change: Alter) -> Alter:
        ALTERATIONS.append((code, change))
        return change

    return register


@exported("account_missing")
def an_entry_is_on_no_account(world: World) -> None:
    world.transactions[0]["legs"][0][0] = 999


@exported("entry_differs")
def a_balance_after_an_entry_is_wrong(world: World) -> None:
    world.transactions[0]["legs"][0][3] += 1


@exported("entry_differs")
def a_version_of_an_account_stands_twice(world: World) -> None:
    account = world.transactions[0]["legs"][0][0]
    later = next(leg for row in world.transactions[1:] for leg in row["legs"] if leg[0] == account)
    later[1] = 1


@exported("entry_missing")
def a_version_of_an_account_is_skipped(world: World) -> None:
    account = world.accounts["1020/C1", "HUF"]
    legs = [leg for row in world.transactions for leg in row["legs"] if leg[0] == account.id]
    legs[-1][1] += 1


@exported("mirror_differs")
def a_reversal_is_of_another_transaction(world: World) -> None:
    number = world.post("again", "reversal", [("2010/T1/a", "HUF", 1), ("1020/C1", "HUF", -1)], reverses=10)
    world.record(HOUSE, "house.duty", {"amount": 1, "posting": number})


@exported("mirror_differs")
def a_reversal_is_of_no_transaction(world: World) -> None:
    number = world.post("again", "reversal", [("2010/T1/a", "HUF", 1), ("1020/C1", "HUF", -1)], reverses=9)
    world.record(HOUSE, "house.duty", {"amount": 1, "posting": number})


@exported("event_of_another_house")
def an_event_names_another_house(world: World) -> None:
    own, world.house = world.house, "00000000-0000-4000-8000-000000000000"
    world.record(HOUSE, "player.registered", {"player": "z"})
    world.house = own


@exported("notes_out_of_order")
def a_note_stands_before_an_older_one(world: World) -> None:
    world.sizes[0], world.sizes[1] = world.sizes[1], world.sizes[0]


@exported("note_of_another_log")
def a_note_is_of_another_house(world: World) -> None:
    notes = list(world.notes())
    world.code = "OTHER"
    foreign = world.note(world.sizes[0])
    world.code = "MODEL"
    world.notes = lambda: iter([foreign, *notes])  # type: ignore[method-assign]


def verified(world: World, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """Exit code and codes of an export."""
    exit_code = command.main([str(world.write(folder)), "--key", world.vkey, "--json"])
    return exit_code, [finding["code"] for finding in json.loads(capsys.readouterr().out)["findings"]]


@pytest.mark.parametrize(("code", "change"), ALTERATIONS, ids=[change.__name__ for _, change in ALTERATIONS])
def test_an_altered_export_is_found(
    code: str, change: Alter, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World().evening(hands=5, tables=1)
    assert verified(world, tmp_path / "good", capsys) == (0, [])
    change(world)
    exit_code, found_codes = verified(world, tmp_path / "altered", capsys)
    assert exit_code == 1 and code in found_codes
