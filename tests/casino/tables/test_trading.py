"""Chips and cash outside of hands: buy-ins into the drop, changing, tips and the tronc, foreign chips, duty."""

from typing import Any

import pytest

from casino.approvals.control_points import set_at_founding
from casino.bookkeeping import chart
from casino.reports.selectors import custody
from casino.reports.verifying import verification
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.busy import PERSON
from tests.casino.kit import ACTOR, SAMPLE, TRAY, Desk, Kit
from tests.casino.transfers.test_transfers import refusal


@pytest.fixture
def dealer(kit: Kit) -> Desk:
    """An open table with four players and a tray; a drawer is open."""
    kit.table()
    return kit.seated()


def assert_whole(kit: Kit) -> None:
    """Chips and money agree; books and chains are whole."""
    assert custody(kit.house)["equal"]
    assert verification(kit.house)["ok"]


def tray(kit: Kit) -> int:
    """What the tray is worth."""
    found: int = kit.balance("9130/T1")
    return found


# --- Buy-ins --------------------------------------------------------------------------------------------------------


def test_cash_goes_into_the_drop_and_chips_come_from_the_tray(kit: Kit, dealer: Desk) -> None:
    before = tray(kit)
    bought = dealer.ok("buy-ins", {"seat": 1, "amount": 1_500})
    assert (bought["seats"][0]["stack"], bought["last_event"]["exchanged"]) == (21_500, {"1000": 1, "500": 1})
    named = dealer.ok("buy-ins", {"seat": 2, "amount": 300, "pieces": {"100": 2, "25": 4}})
    assert named["last_event"]["exchanged"] == {"100": 2, "25": 4}
    assert kit.balance("1050/T1", "2020/T1/T1-u1", "2020/T1/T1-u2") == [1_800, 21_500, 15_300]
    assert tray(kit) == before - 1_800
    assert_whole(kit)


def test_a_player_sits_down_with_cash(kit: Kit) -> None:
    kit.table()
    kit.players("anna")
    dealer = kit.dealer()
    dealer.ok("open")
    seated = dealer.ok("buy-ins", {"seat": 3, "player": "anna", "amount": 5_000})
    assert seated["seats"] == [{"seat": 3, "player": "anna", "stack": 5_000, "device": False}]
    assert refusal(dealer.post("buy-ins", {"seat": 3, "player": "anna", "amount": 500})) == (409, "seat_taken")
    dealer.ok("seats/3/leave")
    assert kit.balance("2010/anna", "1050/T1", "9170/T1") == [5_000] * 3
    assert_whole(kit)


BUY_INS_REFUSED: tuple[tuple[dict[str, Any], int, str], ...] = (
    ({"seat": 1, "amount": 990_000}, 422, "stack_out_of_range"),
    ({"seat": 4, "amount": 960_000}, 409, "insufficient_funds"),
    ({"seat": 1, "amount": 500, "pieces": {"100": 4}}, 422, "chips_do_not_add_up"),
    ({"seat": 1, "amount": 500, "pieces": {"100": 500}}, 422, "chips_do_not_add_up"),
    ({"seat": 9, "amount": 500}, 404, "not_found"),
    ({"seat": 1, "player": "nobody", "amount": 500}, 404, "not_found"),
    ({"seat": 1, "amount": 0}, 400, "invalid_request"),
)


def test_buy_ins_that_are_refused(kit: Kit, dealer: Desk) -> None:
    before = tray(kit)
    for body, status, code in BUY_INS_REFUSED:
        assert refusal(dealer.post("buy-ins", body)) == (status, code), body
        assert (tray(kit), kit.balance("1050/T1")) == (before, 0), body


def control(kit: Kit, **points: int) -> None:
    """Set control points of the house."""
    set_at_founding(house=kit.house, points=points, actor=ACTOR)


def test_a_large_buy_in_is_approved_as_at_the_cage(kit: Kit, dealer: Desk) -> None:
    control(kit, exchange_by_supervisor_from=1_000, exchange_by_manager_from=2_000)
    dealer.ok("buy-ins", {"seat": 1, "amount": 900})
    before = (tray(kit), kit.balance("1050/T1"))
    problem = dealer.post("buy-ins", {"seat": 1, "amount": 1_000}).json()
    assert (problem["code"], problem["approval"]["kind"]) == ("approval_required", "exchange")
    assert problem["approval"]["roles"] == ["cage_supervisor", "manager"]
    assert (tray(kit), kit.balance("1050/T1")) == before
    done = kit.approved(dealer, "buy-ins", {"seat": 1, "amount": 1_000}, by=Role.CAGE_SUPERVISOR)
    assert done["last_event"]["approval"] == problem["approval"]["approval"]
    problem = dealer.post("buy-ins", {"seat": 1, "amount": 2_000}).json()
    assert problem["approval"]["roles"] == ["manager", "compliance"]
    # A player who sits down with it has no seat before it is approved.
    kit.players("vera")
    dealer.ok("seats/4/leave")
    body = {"seat": 4, "player": "vera", "amount": 2_000}
    headers = kit.approval(dealer, "buy-ins", body)
    assert [seat["player"] for seat in dealer.refresh()["seats"]] == ["T1-u1", "T1-u2", "T1-u3"]
    dealer.ok("buy-ins", body, headers=headers)
    assert kit.balance("2020/T1/vera") == 2_000
    assert_whole(kit)
    assert verify_house(kit.house).findings == []


def test_a_large_buy_in_is_for_a_player_whom_the_house_knows(kit: Kit, dealer: Desk) -> None:
    # One by one: the players have bought before.
    control(kit, identity_from=1_000, linked_hours=0, linked_days=0, linked_long_days=0)
    kit.players("vera")
    dealer.ok("seats/4/leave")
    for body in ({"seat": 1, "amount": 1_000}, {"seat": 4, "player": "vera", "amount": 1_000}):
        assert refusal(dealer.post("buy-ins", body)) == (409, "identity_required")
    assert kit.balance("1050/T1") == 0
    dealer.ok("buy-ins", {"seat": 1, "amount": 900})
    person = {"person": PERSON, "reason": "first_record"}
    cashier = kit.cashier()
    for player in ("T1-u1", "vera"):
        cashier.ok(f"/api/v1/players/{player}/person", person, version=1)
    dealer.ok("buy-ins", {"seat": 1, "amount": 1_000})
    dealer.ok("buy-ins", {"seat": 4, "player": "vera", "amount": 1_000})
    assert_whole(kit)
    assert verify_house(kit.house).findings == []


def test_what_was_bought_at_the_cage_and_at_the_table_is_added_up(kit: Kit, dealer: Desk) -> None:
    kit.players("vera")
    dealer.ok("seats/4/leave")
    cashier = kit.cashier()
    control(kit, identity_from=1_000)
    cashier.ok("buy-ins", {"player": "vera", "amount": 500})
    dealer.ok("buy-ins", {"seat": 4, "player": "vera", "amount": 400})
    problem = dealer.post("buy-ins", {"seat": 4, "amount": 100}).json()
    assert (problem["code"], "linked_hours" in problem["linked"]) == ("identity_required", True)
    assert kit.balance("1050/T1") == 400
    cashier.refresh()
    cashier.ok("/api/v1/players/vera/person", {"person": PERSON, "reason": "first_record"}, version=1)
    event = dealer.ok("buy-ins", {"seat": 4, "amount": 100})["last_event"]
    assert event["threshold_reached"]["sums"]["linked_hours"] == 1_000
    assert verify_house(kit.house).findings == []


def test_nothing_of_it_happens_during_a_hand(kit: Kit, dealer: Desk) -> None:
    dealer.ok("hands", {"mode": "physical", "button": 4})
    dealer.act(*SAMPLE[:4])
    for path, body in (
        ("buy-ins", {"seat": 1, "amount": 100}),
        ("tips", {"seat": 1, "amount": 100}),
        ("exchanges", {"given": {"5000": 1}}),
    ):
        assert refusal(dealer.post(path, body)) == (409, "table_playing")


# --- Changing -------------------------------------------------------------------------------------------------------


def test_chips_are_changed_at_the_tray(kit: Kit, dealer: Desk) -> None:
    before, out = tray(kit), chart.public(kit.house, "MAIN")
    changed = dealer.ok("exchanges", {"given": {"5000": 1}, "wanted": {"1000": 4, "100": 10}})
    assert changed["last_event"]["change"] == {"1000": 4, "100": 10}
    now = chart.public(kit.house, "MAIN")
    assert (now[5_000], now[1_000], now[100]) == (out[5_000] - 1, out[1_000] + 4, out[100] + 10)
    assert (tray(kit), chart.rack(kit.house, "9130/T1", "MAIN")[5_000]) == (before, TRAY[5_000] + 1)
    # Coloured up again: the largest that the tray has.
    up = dealer.ok("exchanges", {"given": {"1000": 4, "100": 10}})
    assert up["last_event"]["change"] == {"5000": 1}
    assert chart.public(kit.house, "MAIN") == out
    assert_whole(kit)


def test_chips_are_changed_at_the_cage(kit: Kit, dealer: Desk) -> None:
    cashier = kit.cashier()
    held = kit.balance("9120/C1")
    changed = cashier.ok("exchanges", {"given": {"5000": 2}, "wanted": {"500": 20}})
    assert (changed["last_event"]["exchange"], kit.balance("9120/C1")) == (
        {"amount": 10_000, "given": {"5000": 2}, "change": {"500": 20}}, held,
    )  # fmt: skip
    assert chart.public(kit.house, "MAIN")[500] == 20
    assert_whole(kit)


EXCHANGES_REFUSED: tuple[tuple[dict[str, Any], int, str], ...] = (
    ({"given": {"5000": 1}, "wanted": {"1000": 4}}, 422, "chips_do_not_add_up"),
    ({"given": {"5": 100}}, 409, "chips_not_in_circulation"),
    ({"given": {"5000": 1}, "wanted": {"5000": 1}}, 422, "nothing_to_change"),
    ({"given": {}}, 422, "nothing_to_change"),
    ({"given": {"5000": 1}, "wanted": {"1": 5_000}}, 409, "insufficient_funds"),
    ({"given": {"7": 1}}, 422, "unknown_denomination"),
    ({}, 400, "invalid_request"),
)


def test_exchanges_that_are_refused(kit: Kit, dealer: Desk) -> None:
    out = chart.public(kit.house, "MAIN")
    for body, status, code in EXCHANGES_REFUSED:
        assert refusal(dealer.post("exchanges", body)) == (status, code), body
        assert chart.public(kit.house, "MAIN") == out, body


# --- Tips and the tronc ---------------------------------------------------------------------------------------------


def test_a_tip_is_owed_to_the_staff(kit: Kit, dealer: Desk) -> None:
    before = tray(kit)
    tipped = dealer.ok("tips", {"seat": 1, "amount": 130})
    # The players have no chip below 5000: the tray changes one.
    assert (tipped["seats"][0]["stack"], tipped["last_event"]["chips"]) == (19_870, {"100": 1, "25": 1, "5": 1})
    assert kit.balance("2060/T1", "9160/T1", "9130/T1") == [130, 130, before]
    dealer.ok("exchanges", {"given": {"5000": 1}, "wanted": {"500": 10}})
    dealer.ok("tips", {"seat": 4, "amount": 500, "pieces": {"500": 1}})
    assert kit.office().get("tables/T1/chips").json()["tip_box"]["value"] == 630
    assert_whole(kit)


TIPS_REFUSED: tuple[tuple[dict[str, Any], int, str], ...] = (
    ({"seat": 3, "amount": 9_001}, 409, "insufficient_funds"),
    ({"seat": 9, "amount": 100}, 404, "not_found"),
    ({"seat": 1, "amount": 500, "pieces": {"500": 1}}, 409, "chips_not_in_circulation"),
    ({"seat": 1, "amount": 500, "pieces": {"5000": 1}}, 422, "chips_do_not_add_up"),
    ({"seat": 1, "amount": -5}, 400, "invalid_request"),
)


def test_tips_that_are_refused(kit: Kit, dealer: Desk) -> None:
    for body, status, code in TIPS_REFUSED:
        assert refusal(dealer.post("tips", body)) == (status, code), body
        assert kit.balance("2060/T1") == 0, body


def test_a_closed_drawer_changes_nothing(kit: Kit, dealer: Desk) -> None:
    cashier = kit.cashier()
    kit.close_drawer(cashier)
    for path, body in (
        ("tronc-shares", {"pool": 1, "login": "anybody"}),
        ("exchanges", {"given": {"5000": 1}}),
        ("foreign-chips", {"amount": 100, "issuer": "another"}),
    ):
        assert refusal(cashier.post(path, body)) == (409, "drawer_closed")


# --- Foreign chips and duty -----------------------------------------------------------------------------------------


def test_chips_of_another_house_are_bought_with_cash(kit: Kit, dealer: Desk) -> None:
    cashier = kit.cashier()
    cash = kit.balance("1020/C1")
    taken = cashier.ok("foreign-chips", {"amount": 4_000, "issuer": "Casino Wien"})
    assert taken["last_event"]["foreign_chips"] == {"amount": 4_000, "issuer": "Casino Wien"}
    assert kit.balance("1160/C1", "1020/C1") == [4_000, cash - 4_000]
    too_much = {"amount": cash, "issuer": "Casino Wien"}
    assert refusal(cashier.post("foreign-chips", too_much)) == (409, "drawer_short")
    assert_whole(kit)


def test_duty_falls_due_once_for_each_key(kit: Kit, dealer: Desk) -> None:
    office = kit.office(Role.CAGE_SUPERVISOR)
    body = {"amount": 1_200, "reason": "November"}
    approved = kit.approval(office, "duty", body)
    first = office.post("duty", body, key="november", headers=approved)
    again = office.post("duty", body, key="november", headers=approved)
    assert (first.status_code, first.json()["payable"], again.json()) == (201, 1_200, first.json())
    assert kit.approved(office, "duty", body)["payable"] == 2_400
    assert kit.balance("5300", "2200") == [2_400, 2_400]
    assert_whole(kit)
