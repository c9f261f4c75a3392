"""Judgements of what takes a second person, and of roles that exclude each other: events of the model's house that were
forged and are hashed as they should be, each with the code that must be found first."""

from collections.abc import Callable
from typing import Any

import pytest

from casino.audit.verifier.canonical import hash_of
from tests.proof.test_judgements import (
    DRAWER,
    HOUSE,
    OVER,
    TABLE,
    Doc,
    Docs,
    _vault,
    add,
    as_sold,
    codes,
    corrected,
    evening,
    go_live,
    hire,
    one,
)

Change = Callable[[Docs], None]
CHANGES: list[tuple[str, Change]] = []
LATER = "2026-11-22T00:00:00.000000Z"


def found(code: str) -> Callable[[Change], Change]:
    """A change of the evening's events, and the code that is found first."""

    def register(change: Change) -> Change:
        CHANGES.append((code, change))
        return change

    return register


def hired_by(docs: Docs, by: str, role: str, login: str, *roles: str) -> None:
    """Hire somebody, by a person who acts in a role, before the first player sits down."""
    data = {"login": login, "roles": list(roles), "password_sha256": "0" * 64}
    add(docs, HOUSE, "staff.hired", data, before="table.sat_down", actor=by, role=role)


def given_password(docs: Docs, by: str, role: str, login: str) -> None:
    """Let somebody give another person a password, before the first player sits down."""
    data = {"login": login, "password_sha256": "0" * 64, "ended_session_count": 0}
    add(docs, HOUSE, "staff.password_set", data, before="table.sat_down", actor=by, role=role, reason="lost")


# --- Corrections at a drawer ------------------------------------------------------------------------------------------


def test_an_entry_that_was_keyed_wrong_is_corrected() -> None:
    for right in (None, {"kind": "cage.buy_in", "amount": 500, "player": "b"},
                  {"kind": "cage.foreign_chips", "foreign_chips": {"amount": 500, "issuer": "Wien"}}):  # fmt: skip
        docs = evening()
        corrected(docs, right=right)
        assert codes(docs) == []


@found("correction_differs")
def an_entry_is_corrected_that_there_is_not(docs: Docs) -> None:
    corrected(docs, corrects=98)


@found("correction_differs")
def an_entry_of_another_drawer_is_corrected(docs: Docs) -> None:
    """The number is one of C1, the event stands in the chain of C2."""
    device = {"terminal": "at-C2", "kind": "cage", "location": "C2", "key_sha256": "0" * 64}
    add(docs, HOUSE, "terminal.enrolled", device)
    add(docs, "drawer/C2", "drawer.set_up", {})
    corrected(docs)
    docs[-1] |= {"chain": "drawer/C2", "terminal": "at-C2"}


@found("correction_differs")
def an_entry_is_corrected_twice(docs: Docs) -> None:
    corrected(docs)
    add(docs, DRAWER, "cage.corrected", docs[-1]["data"], **{name: docs[-1][name] for name in
        ("actor", "role", "terminal", "postings", "reason")})  # fmt: skip


@found("correction_differs")
def an_entry_of_an_earlier_shift_is_corrected(docs: Docs) -> None:
    handover = {"handover": 1, "drawer": "C1", "kind": "float", "state": "offered", "cash": 0, "pieces": {}}
    hire(docs, "sara", "cage_supervisor")
    hire(docs, "carl", "cashier")
    add(docs, DRAWER, "handover.offered", {"handover": handover}, actor="sara", role="cage_supervisor",
        terminal="at-C1")  # fmt: skip
    opened = {"shift": 1, "handover": 1, "float_cash": 0, "float_chips": 0, "float_pieces": {}}
    add(docs, DRAWER, "drawer.opened", opened, actor="carl", role="cashier", terminal="at-C1")
    corrected(docs)


@found("correction_differs")
def another_amount_is_taken_back_than_was_entered(docs: Docs) -> None:
    """The transaction that is reversed is that of another entry."""
    corrected(docs)
    docs[-1]["postings"][0]["reverses"] = one(docs, "cage.buy_in", 1)["postings"][0]["tx"]


@found("correction_differs")
def an_entry_is_said_to_be_taken_back_and_is_not(docs: Docs) -> None:
    corrected(docs)
    docs[-1]["postings"] = []


@found("correction_differs")
def a_correction_names_another_mirror_than_was_posted(docs: Docs) -> None:
    corrected(docs, mirrors={"key": 899})


@found("correction_differs")
def a_correction_says_that_another_kind_was_wrong(docs: Docs) -> None:
    corrected(docs, was="cage.cash_out")


@found("correction_differs")
def the_right_entry_posts_another_amount_than_it_says(docs: Docs) -> None:
    corrected(docs, right={"kind": "cage.buy_in", "amount": 500, "player": "b"})
    docs[-1]["postings"][1]["legs"][0][2] = 5_000


@found("correction_differs")
def cash_leaves_the_drawer_with_a_correction_that_makes_no_entry(docs: Docs) -> None:
    corrected(docs)
    docs[-1]["postings"].append({"tx": 902, "about": "", "legs": [["1020/C1", "HUF", -5], ["2015/C1", "HUF", 5]]})


@found("correction_differs")
def something_stands_for_an_entry_that_is_no_trade(docs: Docs) -> None:
    corrected(docs, right={"kind": "cage.tronc_paid", "amount": 0})


@found("same_person")
def who_has_made_an_entry_corrects_it(docs: Docs) -> None:
    corrected(docs)
    docs[-1] |= as_sold(docs)


@found("approver_not_independent")
def who_was_hired_by_the_cashier_corrects(docs: Docs) -> None:
    hired_by(docs, "ödön@MODEL", "dealer", "susi", "cage_supervisor")
    corrected(docs, hires=False)


@found("approver_not_independent")
def who_has_given_the_cashier_a_password_corrects(docs: Docs) -> None:
    hire(docs, "susi", "cage_supervisor")
    given_password(docs, "susi", "cage_supervisor", "ödön@MODEL")
    corrected(docs, hires=False)


# --- Going live -------------------------------------------------------------------------------------------------------


@found("approver_not_independent")
def the_administrator_who_has_hired_the_manager_signs_beside(docs: Docs) -> None:
    go_live(docs)
    hiring = next(doc for doc in docs if doc["kind"] == "staff.hired" and doc["data"]["login"] == "mia")
    hiring |= {"actor": "adam", "role": "admin"}


@found("approver_not_independent")
def the_auditor_has_a_password_of_the_administrator_who_signs(docs: Docs) -> None:
    go_live(docs)
    given_password(docs, "adam", "admin", "bea")


@found("approver_not_independent")
def the_manager_who_signs_last_has_given_the_auditor_a_password(docs: Docs) -> None:
    go_live(docs)
    given_password(docs, "mia", "manager", "bea")


# --- Roles that exclude each other ------------------------------------------------------------------------------------


@found("roles_exclude_each_other")
def somebody_is_hired_with_roles_that_exclude_each_other(docs: Docs) -> None:
    hire(docs, "anna", "cashier", "dealer")


@found("roles_exclude_each_other")
def somebody_is_given_a_role_that_another_one_excludes(docs: Docs) -> None:
    data = {"login": "ödön@MODEL", "before": ["dealer"], "after": ["cashier", "dealer"]}
    add(docs, HOUSE, "staff.roles_changed", data)


def small(docs: Docs) -> None:
    """The operator lets the house be small from its founding on, and somebody has both roles that may meet there."""
    limits = {"number": 1, "valid_from": docs[0]["at"], "points": {"small_house": 1}}
    add(docs, HOUSE, "limits.changed", limits, before="player.registered", reason="three tables")
    hire(docs, "flora", "floor", "cage_supervisor")


def in_the_office(docs: Docs, kind: str, data: Doc, **members: Any) -> None:
    """Let Flora act, at the end of the evening."""
    add(docs, HOUSE, kind, data, actor="flora", role="floor", **members)


def test_floor_and_cage_supervisor_may_be_one_person_in_a_small_house() -> None:
    docs = evening()
    small(docs)
    in_the_office(docs, "player.registered", {"player": "z"})
    assert codes(docs) == []


@found("roles_exclude_each_other")
def a_house_that_is_not_small_gives_roles_that_exclude_each_other(docs: Docs) -> None:
    hire(docs, "flora", "floor", "cage_supervisor")


@found("roles_exclude_each_other")
def other_roles_meet_in_a_small_house(docs: Docs) -> None:
    small(docs)
    hire(docs, "anna", "cashier", "dealer")


def tables(docs: Docs, number: int) -> None:
    """Set up more tables like T1 at the end of the evening."""
    for at in range(number):
        add(docs, f"table/T{at + 2}", "table.set_up", one(docs, "table.set_up")["data"])


@found("roles_exclude_each_other")
def somebody_acts_with_both_roles_when_the_house_is_not_small_any_more(docs: Docs) -> None:
    small(docs)
    tables(docs, 3)
    in_the_office(docs, "player.registered", {"player": "z"}, at=LATER)


def test_who_has_both_roles_may_sign_out_of_a_house_that_is_not_small_any_more() -> None:
    docs = evening()
    small(docs)
    tables(docs, 3)
    in_the_office(docs, "staff.signed_out", {"token_sha256": "0" * 64}, at=LATER)
    assert codes(docs) == []


@found("roles_exclude_each_other")
def somebody_acts_with_both_roles_at_a_table_where_every_act_was_good_before(docs: Docs) -> None:
    """What was judged once is judged again once the house has grown."""
    small(docs)
    for number in range(2):
        tables(docs, 3 * number)
        deal = one(docs, "hand.acted")
        data = {name: value for name, value in deal["data"].items() if name != "table_version"}
        at = {"at": LATER} if number else {}
        add(docs, TABLE, "hand.acted", data, actor="flora", role="floor", terminal="at-T1", **at)


@found("actor_without_role")
def somebody_acts_in_the_role_of_another_person(docs: Docs) -> None:
    small(docs)
    in_the_office(docs, "player.registered", {"player": "z"})
    docs[-1]["role"] = "dealer"


# --- Floats, boxes and counts of the vault ----------------------------------------------------------------------------

COUNT = {"cash": 700, "chips": 5, "pieces": {"5": 1}, "foreign": 0, "withdrawn": {}}
REOPENED: Doc = {"shift": 2, "reopens": 1, "float_cash": 700, "float_chips": 5, "float_pieces": {"5": 1}}
AT_CAGE = {"terminal": "at-C1"}
CARL = {"actor": "carl", "role": "cashier", **AT_CAGE}


def reopen(docs: Docs, by: Doc = CARL, **changed: Any) -> None:
    """Open a drawer, count and close it, and open it again as a manager has approved, but for what is said
    otherwise."""
    for login, role in (("sara", "cage_supervisor"), ("carl", "cashier"), ("cora", "cashier"), ("mia", "manager")):
        hire(docs, login, role)
    sara = {"actor": "sara", "role": "cage_supervisor", **AT_CAGE}
    handover = {"handover": 1, "drawer": "C1", "kind": "float", "state": "offered", "cash": 700, "pieces": {"5": 1}}
    add(docs, DRAWER, "handover.offered", {"handover": handover}, **sara)
    floated: Doc = {"float_cash": 700, "float_chips": 5, "float_pieces": {"5": 1}}
    add(docs, DRAWER, "drawer.opened", {"shift": 1, "handover": 1} | floated, **CARL)
    add(docs, DRAWER, "drawer.counted", {"shift": 1, "count": COUNT}, **CARL)
    counts = {f"{side}_{what}": COUNT[what] for side in ("expected", "counted") for what in COUNT}
    first = {"first_count": COUNT, "counted_by": "carl", "recount": None, "recounted_by": None, "handed_to": None}
    add(docs, DRAWER, "drawer.closed", {"reconciliation": {"shift": 1} | floated | counts | first}, **CARL)
    path, body = "/api/v1/drawers/C1/reopen", {"reason": "closed by mistake"}
    asked = {
        "approval": 1, "kind": "drawer", "operation": "reopenDrawer", "path": path, "body": body, "amount": 705,
        "request_hash": hash_of({"method": "POST", "path": path, "body": body}), "roles": ["manager"],
        "expires": LATER,
    }  # fmt: skip
    who = {name: by[name] for name in ("actor", "role")}
    add(docs, HOUSE, "approval.requested", asked, **who)
    add(docs, HOUSE, "approval.approved", {"approval": 1}, actor="mia", role="manager")
    data = REOPENED | {"approval": 1} | changed
    add(docs, DRAWER, "drawer.reopened", data, approver="mia", reason="closed by mistake", **by)


def test_a_drawer_that_was_closed_by_mistake_is_opened_again() -> None:
    docs = evening()
    reopen(docs)
    assert codes(docs) == []


@found("state_event_differs")
def a_drawer_is_opened_again_with_more_cash_than_was_counted(docs: Docs) -> None:
    reopen(docs, float_cash=701)


@found("state_event_differs")
def a_drawer_is_opened_again_with_other_chips_than_were_counted(docs: Docs) -> None:
    reopen(docs, float_pieces={"5": 2})


@found("state_event_differs")
def a_drawer_is_opened_again_by_another_cashier(docs: Docs) -> None:
    reopen(docs, CARL | {"actor": "cora"})


@found("state_event_differs")
def a_drawer_is_opened_again_after_another_shift_than_the_last(docs: Docs) -> None:
    reopen(docs, reopens=7)


@found("state_event_differs")
def a_drawer_is_opened_again_that_is_open(docs: Docs) -> None:
    reopen(docs)
    add(docs, DRAWER, "drawer.reopened", REOPENED | {"shift": 3, "reopens": 2}, actor="operator", role="system")


ROUNDS = 3


def decide(docs: Docs, *, watched_by: str | None, rounds: int = ROUNDS, by: str = "sara") -> None:
    """Count a box so often otherwise, and let a supervisor decide."""
    for login, role in (("anna", "count"), ("bela", "count"), ("carl", "cashier"), ("sara", "cage_supervisor")):
        hire(docs, login, role)
    hire(docs, "sven", "surveillance")
    box: Doc = {"box": 1, "table": "T1", "kind": "drop", "number": "7", "put_by": "ödön@MODEL",
                "state": "at_table", "seal": "", "seal_read": "", "for_day": None, "differing_rounds": 0}  # fmt: skip
    dealer = {"actor": "ödön@MODEL", "role": "dealer", "terminal": "at-T1"}
    add(docs, TABLE, "box.swapped", {"box": dict(box)}, **dealer)
    taken = box | {"state": "taken", "seal": "S"}
    add(docs, TABLE, "box.swapped", {"box": box | {"box": 2, "number": "8"}, "taken": taken}, **dealer)
    box = taken | {"state": "brought", "seal_read": "S"}
    add(docs, HOUSE, "box.brought", {"box": box}, actor="anna", role="count")
    for round_ in range(1, rounds + 1):
        for by_, cash in (("anna", 5), ("bela", 6)):
            differs = by_ == "bela"
            box = box | {"differing_rounds": round_ if differs else round_ - 1}
            counted = {"box": box, "count": {"round": round_, "cash": cash, "pieces": {}}}
            add(docs, HOUSE, "box.counts_differed" if differs else "box.counted", counted, actor=by_, role="count")
    box = box | {"state": "counted"} | ({"observer": watched_by} if watched_by else {})
    role = {"sara": "cage_supervisor", "sven": "surveillance"}[by]
    decided = {"box": box, "count": {"cash": 5, "pieces": {}}}
    add(docs, HOUSE, "box.count_decided", decided, actor=by, role=role, reason="counted again")


def test_a_supervisor_decides_on_a_box_before_surveillance() -> None:
    docs = evening()
    decide(docs, watched_by="sven")
    assert codes(docs) == []


@found("same_person")
def a_box_is_decided_on_and_nobody_watched(docs: Docs) -> None:
    decide(docs, watched_by=None)


@found("same_person")
def a_box_is_decided_on_and_somebody_watched_who_is_not_of_surveillance(docs: Docs) -> None:
    decide(docs, watched_by="carl")


@found("same_person")
def a_box_is_decided_on_by_the_person_who_watches(docs: Docs) -> None:
    decide(docs, watched_by="sven", by="sven")


@found("same_person")
def a_box_is_decided_on_before_a_person_whom_nobody_has_hired(docs: Docs) -> None:
    decide(docs, watched_by="nobody")


@found("state_event_differs")
def a_box_is_decided_on_before_three_pairs_of_counts_have_differed(docs: Docs) -> None:
    decide(docs, watched_by="sven", rounds=2)


def corrects(docs: Docs, what: Doc | None, **more: Any) -> None:
    """Count the vault by two, sign its difference off as what an earlier count had wrong."""
    for login in ("anna", "bela", "zora"):
        hire(docs, login, "cashier")
    _vault(docs, "vault.counted", "anna", "counting")
    _vault(docs, "vault.counted", "bela", "counted", OVER, OVER)
    _vault(docs, "vault.count_signed_off", "zora", "accepted", OVER, OVER, signed_by="zora", corrects=what, **more)


def test_a_count_of_the_vault_corrects_a_shift() -> None:
    docs = evening()
    reopen(docs)
    corrects(docs, {"drawer": "C1", "count": 1})
    assert codes(docs) == []


@found("state_not_recorded")
def a_count_of_the_vault_corrects_a_shift_that_there_is_not(docs: Docs) -> None:
    corrects(docs, {"drawer": "C1", "count": 1})


@found("state_not_recorded")
def a_count_of_the_vault_corrects_a_shift_of_another_drawer(docs: Docs) -> None:
    reopen(docs)
    corrects(docs, {"drawer": "C2", "count": 1})


@found("state_event_differs")
def a_count_of_the_vault_corrects_a_shift_that_has_not_ended(docs: Docs) -> None:
    reopen(docs)
    corrects(docs, {"drawer": "C1", "count": 2})


@found("state_event_differs")
def a_count_of_the_vault_corrects_itself(docs: Docs) -> None:
    corrects(docs, {"drawer": None, "count": 1})


@found("state_event_differs")
def a_shift_is_corrected_twice(docs: Docs) -> None:
    reopen(docs)
    corrects(docs, {"drawer": "C1", "count": 1})
    again: Doc = {"vault_count": 2}
    _vault(docs, "vault.counted", "anna", "counting", **again)
    _vault(docs, "vault.counted", "bela", "counted", OVER, OVER, **again)
    signed = again | {"signed_by": "zora", "corrects": {"drawer": "C1", "count": 1}}
    _vault(docs, "vault.count_signed_off", "zora", "accepted", OVER, OVER, **signed)


@found("state_event_differs")
def a_count_of_the_vault_is_decided_on_before_three_pairs_have_differed(docs: Docs) -> None:
    for login in ("anna", "bela", "zora"):
        hire(docs, login, "cashier")
    overs = (OVER, OVER | {"cash": 0}) * 2
    for round_ in (1, 2):
        for by, kind in (("anna", "vault.counted"), ("bela", "vault.counts_differed")):
            rounds = round_ if by == "bela" else round_ - 1
            _vault(docs, kind, by, "counting", differing_rounds=rounds)
            docs[-1]["data"]["count"]["round"] = round_
    _vault(docs, "vault.count_decided", "zora", "counted", *overs, decided_by="zora", differing_rounds=2)


@pytest.mark.parametrize(("code", "change"), CHANGES, ids=[change.__name__ for _, change in CHANGES])
def test_a_forged_event_is_judged_by_the_state_before_it(code: str, change: Change) -> None:
    docs = evening()
    assert codes(docs) == []
    change(docs)
    assert codes(docs)[0] == code
