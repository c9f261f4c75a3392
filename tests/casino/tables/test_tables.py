"""Tables: sitting down, leaving, who deals, what becomes of a cukassza."""

import pytest

from casino.audit.models import Event
from casino.tables.models import CarryoverOnClose
from tests.casino.kit import Desk, Kit

FAILED_DEAL = ("p1 po 100", "d dh p1 Kl8b", "d dh p2 Ah7l", "d dh p3 XlOb", "d dh p4 Aa9a", "p2 f", "p3 f", "p4 f")


def fail_a_deal(kit: Kit, dealer: Desk, **deal: object) -> dict:
    """Deal a hand in which only the first player pays the vizi; returns the answer to the deal."""
    dealt = dealer.ok("hands", {"mode": "physical", **deal})
    seats = len(dealt["seats"])
    packs = [line for line in FAILED_DEAL if line.startswith("d dh") and int(line[6]) <= seats]
    dealer.act("p1 po 100", *packs)
    for number in range(2, seats + 1):
        dealer.act(f"p{number} f")
    kit.settle()
    dealer.refresh()
    return dealt


def test_sitting_down_and_leaving_moves_exactly_the_chips(kit: Kit) -> None:
    kit.table()
    kit.players("anna", chips=5_000)
    dealer = kit.dealer()
    dealer.ok("open")
    seated = dealer.ok("seats", {"seat": 3, "player": "anna", "amount": 3_000})
    assert seated["seats"] == [{"seat": 3, "player": "anna", "stack": 3_000, "device": False}]
    assert kit.balance("2010/anna", "2020/T1/anna") == [2_000, 3_000]
    dealer.ok("seats/3/chips", {"amount": 1_500})
    assert kit.balance("2010/anna", "2020/T1/anna") == [500, 4_500]
    left = dealer.ok("seats/3/leave")
    assert left["seats"] == []
    assert kit.balance("2010/anna", "2020/T1/anna") == [5_000, 0]


def test_the_turn_to_deal_passes_to_the_old_first_player(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealers = [fail_a_deal(kit, dealer, button=2)["seats"][-1]["seat"]]
    dealers += [fail_a_deal(kit, dealer)["seats"][-1]["seat"] for _ in range(4)]
    assert dealers == [2, 3, 4, 1, 2]


def test_a_dealer_who_left_is_replaced_by_the_next_in_play_order(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    fail_a_deal(kit, dealer, button=2)
    dealer.ok("seats/3/leave")
    assert [seat["seat"] for seat in fail_a_deal(kit, dealer)["seats"]] == [1, 2, 4]


def test_who_sits_out_is_not_dealt_in_and_pays_nothing(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    dealt = fail_a_deal(kit, dealer, button=4, sitting_out=[2])
    assert [seat["seat"] for seat in dealt["seats"]] == [1, 3, 4]
    assert kit.balance("2020/T1/T1-u2") == 15_000
    assert kit.balance("2040/T1") == 300


def test_a_leaver_forfeits_the_share_and_a_joiner_may_win_without_paying(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    fail_a_deal(kit, dealer, button=4)
    dealer.ok("seats/4/leave")
    kit.players("late", chips=1_000)
    dealer.ok("seats", {"seat": 4, "player": "late", "amount": 1_000})
    assert (kit.balance("2040/T1"), kit.balance("2010/T1-u4")) == (400, 30_000 - 100)
    assert kit.balance("2020/T1/late") == 1_000


@pytest.mark.parametrize(
    ("rule", "shares"),
    [
        # Seat 3 dealt last and seat 1 deals next, so seat 2 is the first after the dealer and gets the odd rest.
        (CarryoverOnClose.SPLIT, {"2020/T1/T1-u1": 66, "2020/T1/T1-u2": 68, "2020/T1/T1-u3": 66}),
        (CarryoverOnClose.LAST_DEALER, {"2020/T1/T1-u3": 200}),
        (CarryoverOnClose.HOUSE, {"4010/T1": 200}),
    ],
)
def test_an_unwon_cukassza_is_shared_by_the_rule_of_the_table(
    kit: Kit, rule: CarryoverOnClose, shares: dict[str, int]
) -> None:
    kit.table(carryover_on_close=rule)
    dealer = kit.seated(stacks=(20_000, 15_000, 9_000))
    # Two are dealt in and leave 200, which three seated players cannot share evenly.
    fail_a_deal(kit, dealer, button=3, sitting_out=[2])
    assert kit.balance("2040/T1") == 200
    dealer.ok("close")
    event = Event.objects.filter(chain__house=kit.house, chain__name="table/T1").latest("id").doc
    assert event["data"]["shares"] == shares
    assert kit.balance("2040/T1") == 0
    assert dealer.refresh()["state"] == "closed"
    assert kit.balance("4010/T1") == (200 if rule == CarryoverOnClose.HOUSE else 0) == kit.balance("9150/T1")


def test_a_cukassza_is_not_left_without_anybody_to_take_it(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    fail_a_deal(kit, dealer, button=4)
    for seat in (1, 2, 3, 4):
        dealer.ok(f"seats/{seat}/leave")
    refused = dealer.post("close")
    assert (refused.status_code, refused.json()["code"]) == (409, "carry_without_players")


def test_a_new_session_starts_with_a_dealer_of_its_choice(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    fail_a_deal(kit, dealer, button=1)
    dealer.ok("close")
    dealer.ok("open")
    for seat, ref in ((1, "T1-u1"), (2, "T1-u2")):
        dealer.ok("seats", {"seat": seat, "player": ref, "amount": 1_000})
    dealt = dealer.ok("hands", {"mode": "physical", "button": 2})
    assert (dealt["hand"], [seat["seat"] for seat in dealt["seats"]]) == ("T1-000002", [1, 2])
