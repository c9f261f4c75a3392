"""Reports A17, A18 and A19: large transactions, linked ones, and the log; with known numbers, and with something
forged, which an equality must see."""

import json

import pytest

from casino.approvals.control_points import set_at_founding
from casino.audit.events.cage import CageBuyIn
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.busy import PERSON
from tests.casino.devices import device
from tests.casino.kit import ACTOR, SAMPLE, Desk, Kit
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.reports.test_catalogue_of_control import broken, forged
from tests.casino.superuser import unguarded

FROM, FLOOR = 5_000, 1_000
PIECES = {"5000": 20, "1000": 60, "500": 20, "100": 60}


@pytest.fixture
def cashier(kit: Kit) -> Desk:
    """An evening at a cage: Anna buys in parts, and once much; Bela, whom nobody knows, is refused, brings chips that
    were not sold to that person, and is paid; somebody without a name buys; an entry was keyed wrong."""
    set_at_founding(house=kit.house, points={"identity_from": FROM, "log_floor": FLOOR}, actor=ACTOR)
    kit.office(Role.FLOOR).ok("days", {"day": "2026-11-24"})
    kit.players("anna", "bela")
    desk = kit.cashier()
    kit.open_drawer(desk, cash=500_000, pieces=PIECES)
    for amount in (4_000, 900):
        desk.ok("buy-ins", {"player": "anna", "amount": amount})
    assert desk.post("buy-ins", {"player": "bela", "amount": FROM}).status_code == 409
    entry = desk.ok("bearer-buy-ins", {"amount": 3_000})["audit"]["seq"]
    right = {"kind": "cage.bearer_buy_in", "amount": 2_000}
    kit.supervisor().ok("corrections", {"entry": entry, "right": right, "reason": "keyed wrong"})
    desk.refresh()
    desk.ok("/api/v1/players/anna/person", {"person": PERSON, "reason": "first_record"}, version=1)
    desk.refresh()
    desk.ok("buy-ins", {"player": "anna", "amount": 4_500})
    desk.ok("noncash-buy-ins", {"player": "anna", "amount": 6_000, "means": "card", "reference": "T-1"})
    desk.ok("cash-outs", {"player": "bela", "amount": 2_000, "pieces": {"1000": 2}})
    return desk


def test_large_transactions_and_refused_ones(kit: Kit, cashier: Desk) -> None:
    report = made(kit, "threshold-transactions", Role.COMPLIANCE)
    [large] = rows(report)
    assert (large["player"], large["direction"], large["amount"]) == ("anna", "non-cash in", 6_000)
    assert (large["known"], large["record"], large["place"], large["threshold"]) == (True, 2, "C1", FROM)
    [refused] = rows(report, 1)
    assert (refused["operation"], refused["place"], refused["attempts"]) == ("buyIn", "C1", 1)
    lower = rows(made(kit, "threshold-transactions", Role.COMPLIANCE, threshold="4500", known="yes"))
    assert [row["amount"] for row in lower] == [4_500, 6_000]
    assert broken(kit, "threshold-transactions") == []
    forged(kit, "drawer/C1", CageBuyIn(player="anna", amount=FROM, player_chips=0, exchanged={}))
    assert len(broken(kit, "threshold-transactions")) == 3


def test_linked_transactions_and_why(kit: Kit, cashier: Desk) -> None:
    report = made(kit, "linked-transactions", Role.COMPLIANCE)
    linked = {(row["rule"], row["window"], row["player"]): row for row in rows(report)}
    day = linked["same person", "gaming_day", "anna"]
    assert (day["parts"], day["in"], day["out"]) == (4, 15_400, 0)
    rolling = linked["same person", "linked_hours", "anna"]
    assert (rolling["parts"], rolling["in"]) == (3, 9_400)
    split = linked["split", "gaming_day", "anna"]
    assert (split["parts"], split["in"]) == (2, 8_500)
    brought = linked["more chips than bought", "gaming_day", "bela"]
    assert (brought["other"], brought["parts"]) == (2_000, 1)
    assert {key[0] for key in linked} == {"same person", "split", "more chips than bought"}
    cashier.ok("cash-outs", {"player": "anna", "amount": 14_000, "pieces": {"1000": 8, "5000": 1, "500": 2}})
    again = rows(made(kit, "linked-transactions", Role.COMPLIANCE, rule="little play"))
    assert [(row["player"], row["in"], row["out"], row["other"]) for row in again] == [("anna", 15_400, 14_000, 0)]
    persons = rows(report, 1)
    assert [(row["player"], row["parts"], row["in"], row["out"]) for row in persons] == [
        ("anna", 4, 15_400, 0), ("bela", 1, 0, 2_000),
    ]  # fmt: skip
    assert broken(kit, "linked-transactions") == []
    forged(kit, "drawer/C1", CageBuyIn(player="anna", amount=1, player_chips=0, exchanged={}))
    assert len(broken(kit, "linked-transactions")) == 2


def test_the_log_from_its_floor_on(kit: Kit, cashier: Desk) -> None:
    log = rows(made(kit, "transaction-log", Role.COMPLIANCE))
    assert [(row["player"], row["in"], row["out"], row["running_in"], row["running_out"]) for row in log] == [
        ("anna", 4_000, 0, 4_000, 0), (None, 2_000, 0, None, None), ("anna", 4_500, 0, 9_400, 0),
        ("bela", 0, 2_000, 0, 2_000),
    ]  # fmt: skip
    assert broken(kit, "transaction-log") == []
    assert len(rows(made(kit, "transaction-log", Role.CAGE_SUPERVISOR, least="1", player="anna"))) == 3
    # As of an earlier moment a correction that came later takes nothing back.
    forged(kit, "drawer/C1", CageBuyIn(player="anna", amount=FLOOR, player_chips=0, exchanged={}))
    assert len(broken(kit, "transaction-log")) == 2


def test_players_to_look_at_are_flagged(kit: Kit, cashier: Desk) -> None:
    activity = {row["player"]: row for row in rows(made(kit, "player-activity"))}
    anna, bela = activity["anna"], activity["bela"]
    assert (anna["large"], bela["large"]) == (True, False)
    assert (anna["attributed_share"], bela["attributed_share"]) == (0, 10_000)
    assert broken(kit, "player-activity") == []
    forged(kit, "drawer/C1", CageBuyIn(player="bela", amount=FROM, player_chips=0, exchanged={}))
    assert broken(kit, "player-activity") == ["players with large transactions by the ledger = by the events"]


def test_much_play_without_cash_is_flagged(kit: Kit) -> None:
    """Stakes of a day beyond five times the threshold, of players who paid in no cash on it."""
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    dealer = kit.worked_hand()
    assert kit.settle() == ["settled"]
    set_at_founding(house=kit.house, points={"identity_from": 59}, actor=ACTOR)
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-02"})
    dealer.refresh()
    dealer.ok("hands", {"mode": "physical"})
    dealer.act(*SAMPLE[:12])
    dealer.act(*SAMPLE[12:])
    assert kit.settle() == ["settled"]
    report = made(kit, "player-activity")
    staked = {row["player"]: row["staked"] for row in rows(report, 1) if row["day"] == "2024-05-02"}
    assert sorted(staked.values()) == [0, 300, 1_500, 1_500]
    flagged = {row["player"] for row in rows(report) if row["cashless"]}
    assert flagged == {player for player, amount in staked.items() if amount > 5 * 59}
    # On the first day they have bought their chips.
    assert not any(row["cashless"] for row in rows(made(kit, "player-activity", until="2024-05-01")))


def test_players_of_one_device_are_linked(kit: Kit) -> None:
    """Anna and Bela use one device at the table; Cili has one of her own."""
    set_at_founding(house=kit.house, points={"identity_from": 100_000}, actor=ACTOR)
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    kit.table()
    # Each has bought chips worth 30,000.
    dealer = kit.seated()
    cashier = kit.cashier()
    one, other = "1a" * 32, "2b" * 32
    for seat, mark in ((1, one), (2, one), (3, other)):
        own = device(kit, dealer, seat)
        named = own.name(mark).json()
        assert own.name(mark).json() == named
        # The house knows a hash, and no mark.
        assert mark not in json.dumps(named)
    made_before = rows(made(kit, "linked-transactions", Role.COMPLIANCE, rule="same device"))
    assert made_before == []
    cashier.refresh()
    for player in ("T1-u1", "T1-u2", "T1-u3"):
        cashier.ok("buy-ins", {"player": player, "amount": 25_000})
    report = made(kit, "linked-transactions", Role.COMPLIANCE)
    [linked] = [row for row in rows(report) if row["rule"] == "same device"]
    assert (linked["player"], linked["window"], linked["parts"]) == ("T1-u1 T1-u2", "gaming_day", 4)
    assert (linked["in"], linked["out"], linked["day"]) == (110_000, 0, "2024-05-01")
    used = rows(report, 2)
    assert [(row["player"], row["stays"]) for row in used] == [("T1-u1", 1), ("T1-u2", 1)]
    assert len({row["device"] for row in used}) == 1
    alone = made(kit, "linked-transactions", Role.COMPLIANCE, player="T1-u3")
    assert [row for row in rows(alone) if row["rule"] == "same device"] == rows(alone, 2) == []
    assert [row["rule"] for row in rows(made(kit, "linked-transactions", Role.COMPLIANCE, player="T1-u1"))] == [
        "same device"
    ]
    assert verify_house(kit.house).findings == []
    with unguarded("tables_seatdevice") as cursor:
        cursor.execute("DELETE FROM tables_seatdevice WHERE house_id = %s", [kit.house.id])
    assert broken(kit, "linked-transactions") == ["devices of players by the events that the rows have = all"]
    assert {one.code for one in verify_house(kit.house).findings} == {"state_missing"}
