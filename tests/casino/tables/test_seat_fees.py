"""What a player pays for a seat where there is no pot to tax: by the deal or by the hour, with the settlement."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from casino.audit import verifier
from casino.bookkeeping import chart
from casino.hands.models import HandState
from casino.hands.terms import set_up_table
from casino.staff.models import TerminalKind
from casino.tables.models import CarryoverOnClose, Table
from casino.tables.services import Terms
from casino.verification import exporting
from casino.verification.replaying import verify as verify_hands
from tests.casino.devices import code, events
from tests.casino.kit import ACTOR, FERBLI, MISDEAL, Desk, Kit
from tests.casino.superuser import unguarded
from tests.casino.transfers.test_transfers import floor_at
from tests.casino.trick_hands import assert_whole, play_electronic, play_physical, zsiros

FOUR = (20_000,) * 4
FOUR = (20_000,) * 4
REASON = {"reason": "as the house rules say"}


def asking(kit: Kit, amount: int, per: str = "deal", *, stacks: tuple[int, ...] = FOUR) -> Desk:
    """A table of Zsíros whose seats cost so much; the dealer's console, with players seated."""
    agreed = {"stake": 100, "players": len(stacks)}
    kit.table_for("zsiros", agreed, code="T1", seats=len(stacks), max_stack=50_000)
    desk, floor = kit.seated(stacks=stacks), floor_at(kit, TerminalKind.TABLE, "T1")
    floor.refresh()
    floor.ok("seat-fee", {"amount": amount, "per": per} | REASON)
    desk.refresh()
    return desk


def held(kit: Kit, desk: Desk) -> dict[str, int]:
    """What lies in front of the players, by reference."""
    return {seat["player"]: seat["stack"] for seat in desk.refresh()["seats"]}


def taken(kit: Kit) -> int:
    """What the house has taken for seats of T1, in minor units."""
    return chart.balances(kit.house, ["4020/T1"])["4020/T1"]


# --- Setting it -----------------------------------------------------------------------------------------------------


def test_the_floor_sets_it_and_the_trail_records_it(kit: Kit) -> None:
    zsiros(kit)
    dealer, floor = kit.dealer(), floor_at(kit, TerminalKind.TABLE, "T1")
    assert dealer.refresh()["seat_fee"] == {"amount": 0, "per": "deal"}
    body = {"amount": 50, "per": "hour"} | REASON
    assert code(dealer.post("seat-fee", body)) == (403, "forbidden")
    assert code(floor.post("seat-fee", {"amount": 0, "per": "deal"} | REASON)) == (409, "no_change")
    assert floor.ok("seat-fee", body)["seat_fee"] == {"amount": 50, "per": "hour"}
    [recorded] = events(kit, "table.seat_fee_changed")
    assert {name: recorded["data"][name] for name in ("before", "before_per", "after", "after_per")} == {
        "before": 0, "before_per": "deal", "after": 50, "after_per": "hour",
    }  # fmt: skip
    assert recorded["reason"] == REASON["reason"]


@pytest.mark.parametrize("body", [
    {"amount": -1}, {"amount": "50"}, {"amount": True}, {"amount": 10**19}, {"per": "evening"}, {"per": None},
    {"amount": None}, {"reason": ""},
])  # fmt: skip
def test_what_is_no_fee_is_refused(kit: Kit, body: dict[str, Any]) -> None:
    zsiros(kit)
    floor = floor_at(kit, TerminalKind.TABLE, "T1")
    given = {"amount": 50, "per": "deal"} | REASON | body
    assert floor.post("seat-fee", given).status_code == 400
    assert events(kit, "table.seat_fee_changed") == []


def test_where_a_pot_is_taxed_or_no_chips_come_no_fee_is_taken(kit: Kit) -> None:
    kit.table()
    floor = floor_at(kit, TerminalKind.TABLE, "T1")
    assert code(floor.post("seat-fee", {"amount": 50, "per": "deal"} | REASON)) == (422, "no_seat_fee")
    zsiros(kit, code="T2", stake=0)
    floor = floor_at(kit, TerminalKind.TABLE, "T2")
    assert code(floor.post("seat-fee", {"amount": 50, "per": "deal"} | REASON)) == (422, "no_seat_fee")


def test_a_table_may_be_set_up_with_a_fee(kit: Kit) -> None:
    kit.table_for("zsiros", {"stake": 100}, code="T1", seats=4)
    plain = {
        "seats": 4,
        "min_stack": 10_000,
        "max_stack": 50_000,
        "carryover_on_close": CarryoverOnClose.SPLIT,
        "seat_fee": 70,
    }
    terms = Terms(game="zsiros", options={"stake": 100}, **plain)
    assert set_up_table(house=kit.house, code="T5", terms=terms, actor=ACTOR).seat_fee == 70
    [recorded] = [event for event in events(kit, "table.set_up") if event["chain"] == "table/T5"]
    assert (recorded["data"]["seat_fee"], recorded["data"]["seat_fee_per"]) == (70, "deal")
    with pytest.raises(Exception, match="pays tax"):
        set_up_table(house=kit.house, code="T6", terms=Terms(game="ferbli", options=FERBLI, **plain), actor=ACTOR)


def test_postgresql_knows_what_a_fee_is(kit: Kit) -> None:
    zsiros(kit)
    for change in ({"seat_fee": -1}, {"seat_fee_per": "week"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Table.objects.filter(house=kit.house, code="T1").update(**change)


# --- Paying it ------------------------------------------------------------------------------------------------------


@pytest.mark.some_now(2)
@pytest.mark.parametrize("play", [play_electronic, play_physical])
def test_every_deal_is_paid_for_with_its_settlement(kit: Kit, play: Any, tmp_path: Path) -> None:
    desk = asking(kit, 150)
    before = held(kit, desk)
    for number in (1, 2):
        hand = play(kit, desk, number)
        assert hand.fees == {"per": "deal", "amounts": [150] * 4}
        assert hand.stacks == [before[seat["player"]] - 150 for seat in hand.seats]
        net = {seat["player"]: net for seat, net in zip(hand.seats, hand.result["net"], strict=True)}
        after = held(kit, desk)
        assert after == {player: before[player] + net[player] - 150 for player in before}
        assert taken(kit) == 600 * number
        before = after
    [*_, dealt] = events(kit, "hand.dealt")
    assert dealt["data"]["fees"] == {"per": "deal", "amounts": [150] * 4}
    assert_whole(kit, tmp_path)


def test_an_hour_is_paid_once_and_the_next_one_when_it_is_over(kit: Kit, tmp_path: Path) -> None:
    desk = asking(kit, 500, "hour")
    first, second = play_electronic(kit, desk, 1), play_electronic(kit, desk, 2)
    assert (first.fees, second.fees) == ({"per": "hour", "amounts": [500] * 4}, {})
    assert taken(kit) == 2_000
    assert_whole(kit, tmp_path)
    with unguarded("hands_hand") as cursor:
        cursor.execute("UPDATE hands_hand SET started_at = started_at - interval '61 min' WHERE id = %s", [first.id])
    third = play_electronic(kit, desk, 3)
    assert third.fees == {"per": "hour", "amounts": [500] * 4} and taken(kit) == 4_000
    assert third.started_at - first.started_at < timedelta(minutes=1)


def test_who_comes_later_pays_from_then_on(kit: Kit) -> None:
    desk = asking(kit, 500, "hour", stacks=(20_000, 20_000))
    assert play_electronic(kit, desk, 1).fees["amounts"] == [500, 500]
    desk.ok("seats/2/leave", {})
    kit.players("T1-u9", chips=20_000)
    desk.ok("seats", {"seat": 2, "player": "T1-u9", "amount": 20_000})
    hand = play_electronic(kit, desk, 2)
    paying = {seat["player"]: fee for seat, fee in zip(hand.seats, hand.fees["amounts"], strict=True)}
    assert paying == {"T1-u1": 0, "T1-u9": 500} and taken(kit) == 1_500


def test_a_hand_that_is_voided_pays_nothing_and_the_next_one_does(kit: Kit, tmp_path: Path) -> None:
    desk = asking(kit, 500, "hour")
    before = held(kit, desk)
    desk.deal()
    assert held(kit, desk) == before
    floor = floor_at(kit, TerminalKind.TABLE, "T1")
    floor.refresh()
    floor.ok("hand/void", REASON | MISDEAL)
    desk.refresh()
    assert held(kit, desk) == before and taken(kit) == 0
    assert play_electronic(kit, desk, 1).fees == {"per": "hour", "amounts": [500] * 4}
    assert taken(kit) == 2_000
    assert_whole(kit, tmp_path)


def test_who_cannot_pay_besides_the_worst_loss_is_not_dealt_in(kit: Kit) -> None:
    desk = asking(kit, 19_701, stacks=(20_000, 20_000, 20_000, 20_000))
    answer = desk.post("deal")
    assert code(answer) == (422, "stack_too_short")
    assert answer.json()["min"] == 20_001
    floor = floor_at(kit, TerminalKind.TABLE, "T1")
    floor.refresh()
    floor.ok("seat-fee", {"amount": 20_500, "per": "deal"} | REASON)
    desk.refresh()
    answer = desk.post("deal")
    assert code(answer) == (422, "stack_too_short") and answer.json()["min"] == 20_500
    floor.refresh()
    floor.ok("seat-fee", {"amount": 19_700, "per": "deal"} | REASON)
    desk.refresh()
    assert play_electronic(kit, desk, 1).state == HandState.SETTLED


# --- Proving it -----------------------------------------------------------------------------------------------------


def test_a_fee_that_was_altered_is_found(kit: Kit, tmp_path: Path) -> None:
    desk = asking(kit, 150)
    hand = play_electronic(kit, desk, 1)
    with unguarded("hands_hand") as cursor:
        cursor.execute("UPDATE hands_hand SET fees = jsonb_set(fees, '{amounts, 0}', '0') WHERE id = %s", [hand.id])
    kit.sequence()
    differing = {difference.account for difference in verify_hands(kit.house)}
    assert f"2020/T1/{hand.seats[0]['player']}" in differing and "4020/T1" in differing
    exporting.export_house(kit.house, tmp_path / "export")
    assert "hand_row_differs" in {finding.code for finding in verifier.verify_export(tmp_path / "export").findings}


# --- Paying it back --------------------------------------------------------------------------------------------------


def test_a_fee_is_refunded_from_the_tray_by_a_later_ruling(kit: Kit, tmp_path: Path) -> None:
    desk = asking(kit, 150)
    hand = play_physical(kit, desk, 1)
    before, tray, box = held(kit, desk), *kit.balance("9130/T1", "9150/T1")
    floor, path = floor_at(kit, TerminalKind.TABLE, "T1"), f"hands/{hand.name}/rulings"
    paid = {"fee_refunded": [{"actor": "p1", "amount": 100}, {"actor": "p2", "amount": 150}]}
    ruled = kit.approved(floor, path, REASON | paid)["last_event"]
    assert ruled["fee_refunded"] == {"p1": 100, "p2": 150}
    players = [seat["player"] for seat in hand.seats]
    after = held(kit, desk)
    assert [after[player] - before[player] for player in players] == [100, 150, 0, 0]
    assert taken(kit) == 600 - 250
    assert kit.balance("9130/T1", "9150/T1") == [tray - 250, box], "the box is locked"
    for actor, left in (("p1", 50), ("p2", 0)):
        refused = floor.post(path, REASON | {"fee_refunded": [{"actor": actor, "amount": left + 1}]})
        assert code(refused) == (422, "refund_too_high") and refused.json()["max"] == left
    assert kit.office().get(path).json()["later"][0]["fee_refunded"] == {"p1": 100, "p2": 150}
    assert_whole(kit, tmp_path)
