"""Limits that players set for themselves, checked before a sale of chips; time on a seat, and what is done then."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connections

from casino.audit.models import Event
from casino.audit.verifier import state_safeguards
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.kit import Kit
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.superuser import unguarded

LOSS = {"limit": "loss", "span": "week"}


class Scene:
    """A house with an open drawer and table, and anna, who has bought chips for 20,000."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        kit.table()
        kit.players("anna", chips=20_000)
        self.cashier, self.dealer, self.compliance = kit.cashier(), kit.dealer(), kit.office(Role.COMPLIANCE)
        self.dealer.ok("open")

    def set(self, **said: Any) -> dict[str, Any]:
        return self.cashier.ok("/api/v1/players/anna/limits", LOSS | said)

    def used(self) -> list[tuple[Any, ...]]:
        found = self.cashier.get("/api/v1/players/anna/limits").json()["in_force"]
        return [(one["limit"], one["span"], one["most"], one["used"], one["left"]) for one in found]

    def buys(self, amount: int) -> Any:
        self.cashier.refresh()
        return self.cashier.post("buy-ins", {"player": "anna", "amount": amount})


@pytest.fixture
def scene(kit: Kit) -> Scene:
    return Scene(kit)


def test_a_loss_limit_counts_what_was_paid_in_less_what_was_paid_out(scene: Scene) -> None:
    scene.set(most=25_000)
    assert scene.used() == [("loss", "week", 25_000, 20_000, 5_000)]
    last = last_event()
    refused = assert_problem(scene.buys(5_500), 409, "player_limit_reached")
    assert (refused["limit"], refused["span"], refused["left"]) == ("loss", "week", 5_000)
    (event,) = recorded_since(last, "attempt.refused")
    assert event["data"]["player"] == "anna"
    assert scene.buys(5_000).is_success
    scene.cashier.ok("cash-outs", {"player": "anna", "amount": 10_000})
    assert scene.used() == [("loss", "week", 25_000, 15_000, 10_000)]
    sits = {"seat": 1, "player": "anna"}
    assert_problem(scene.dealer.post("buy-ins", sits | {"amount": 10_500}), 409, "player_limit_reached")
    scene.dealer.ok("buy-ins", sits | {"amount": 5_000})
    assert_problem(scene.dealer.post("buy-ins", {"seat": 1, "amount": 5_500}), 409, "player_limit_reached")
    assert scene.used() == [("loss", "week", 25_000, 20_000, 5_000)]
    assert verify_house(scene.kit.house).findings == []


def test_what_was_paid_before_the_span_counts_no_more(scene: Scene) -> None:
    """At each of the player's accounts: away from the tables, and at a seat."""
    scene.dealer.ok("seats", {"seat": 1, "player": "anna", "amount": 8_000})
    with unguarded("ledger_transaction") as cursor:
        cursor.execute("UPDATE ledger_transaction SET posted_at = posted_at - interval '8 days'")
    scene.set(most=25_000)
    scene.cashier.ok("/api/v1/players/anna/limits", {"limit": "loss", "span": "month", "most": 25_000})
    assert scene.used() == [("loss", "month", 25_000, 20_000, 5_000), ("loss", "week", 25_000, 0, 25_000)]
    assert scene.buys(2_000).is_success
    scene.dealer.refresh()
    scene.dealer.ok("buy-ins", {"seat": 1, "amount": 500})
    assert scene.used() == [("loss", "month", 25_000, 22_500, 2_500), ("loss", "week", 25_000, 2_500, 22_500)]


def test_a_deposit_is_no_loss_until_it_is_drawn_and_a_held_payout_is_paid_out(scene: Scene) -> None:
    scene.set(most=24_000)
    person = {"person": {"name": "A", "born": "1970-01-01", "document": "X1"}, "reason": "first_record"}
    scene.cashier.post("/api/v1/players/anna/person", person, version=1)
    scene.cashier.refresh()
    scene.cashier.ok("deposits", {"player": "anna", "amount": 6_000})
    assert scene.used()[0][3] == 20_000
    scene.cashier.ok("deposits/draw", {"player": "anna", "amount": 3_000})
    assert scene.used()[0][3] == 23_000
    drawn = scene.cashier.post("deposits/draw", {"player": "anna", "amount": 3_000})
    assert_problem(drawn, 409, "player_limit_reached")
    held = {"player": "anna", "amount": 5_000, "pieces": {"5000": 1}, "cause": "identity_pending"}
    scene.kit.approved(scene.cashier, "held-payouts", held, by=Role.COMPLIANCE)
    assert scene.used()[0][3] == 18_000
    scene.kit.approved(scene.cashier, "held-payouts/1/release", {}, by=Role.COMPLIANCE)
    scene.cashier.ok("deposits/return", {"player": "anna", "amount": 3_000})
    assert scene.used()[0][3] == 18_000
    assert verify_house(scene.kit.house).findings == []


def test_cage_and_table_do_not_sell_past_a_limit_together(scene: Scene) -> None:
    scene.dealer.ok("seats", {"seat": 1, "player": "anna", "amount": 5_000})
    scene.set(most=25_000)
    scene.cashier.refresh(), scene.dealer.refresh()

    def buy(way: int) -> int:
        try:
            if way:
                return scene.dealer.post("buy-ins", {"seat": 1, "amount": 5_000}).status_code
            return scene.cashier.post("buy-ins", {"player": "anna", "amount": 5_000}).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(buy, range(2))) == [201, 409]
    assert scene.used() == [("loss", "week", 25_000, 25_000, 0)]


def test_a_buy_in_limit_knows_no_cash_out_but_a_correction(scene: Scene) -> None:
    scene.set(limit="buy_in", span="day", most=30_000)
    assert scene.buys(4_000).is_success
    scene.cashier.ok("cash-outs", {"player": "anna", "amount": 20_000})
    assert scene.used() == [("buy_in", "day", 30_000, 24_000, 6_000)]
    supervisor = scene.kit.supervisor()
    wrong = {"entry": _newest_entry(scene.kit, "cage.buy_in"), "reason": "it never happened"}
    supervisor.ok("corrections", wrong)
    assert scene.used() == [("buy_in", "day", 30_000, 20_000, 10_000)]
    assert verify_house(scene.kit.house).findings == []


def _newest_entry(kit: Kit, kind: str) -> int:
    found = Event.objects.filter(house=kit.house, doc__kind=kind).order_by("-id").first()
    assert found is not None
    return int(found.seq)


def test_a_lower_limit_counts_at_once_and_a_higher_one_tomorrow(scene: Scene) -> None:
    scene.set(most=50_000)
    higher = scene.set(most=60_000)
    assert datetime.fromisoformat(higher["starts_at"]) > datetime.now(UTC) + timedelta(hours=23)
    assert scene.used()[0][2] == 50_000
    assert [one["most"] for one in scene.cashier.get("/api/v1/players/anna/limits").json()["to_come"]] == [60_000]
    same = scene.cashier.post("/api/v1/players/anna/limits", LOSS | {"most": 60_000})
    assert_problem(same, 409, "no_change")
    scene.set(most=22_000)
    assert scene.used()[0][2] == 22_000
    assert scene.cashier.get("/api/v1/players/anna/limits").json()["to_come"] == []
    with unguarded("safeguards_playerlimit") as cursor:
        cursor.execute(
            "UPDATE safeguards_playerlimit SET starts_at = starts_at - interval '25 hours' WHERE number = 2"
            " AND house_id = %s", [scene.kit.house.id],
        )  # fmt: skip
    assert scene.used()[0][2] == 22_000
    none = scene.set(most=None)
    assert none["most"] is None
    assert scene.used()[0][2] == 22_000
    rows = scene.compliance.get("player-limits?player=anna").json()["results"]
    assert [row["most"] for row in rows] == [50_000, 60_000, 22_000, None]
    assert {finding.code for finding in verify_house(scene.kit.house).findings} == {"state_differs"}


def test_who_has_sat_for_long_is_listed_and_time_that_is_over_gives_no_seat(scene: Scene) -> None:
    scene.set(limit="time", span="day", most=120)
    scene.dealer.ok("seats", {"seat": 1, "player": "anna", "amount": 5_000})
    floor = scene.kit.office(Role.FLOOR)
    assert floor.get("reality-checks").json()["players"] == []
    with unguarded("tables_seating") as cursor:
        cursor.execute(
            "UPDATE tables_seating SET sat_at = sat_at - interval '125 minutes' WHERE house_id = %s",
            [scene.kit.house.id],
        )
    (row,) = floor.get("reality-checks?hours=2").json()["players"]
    assert (row["player"], row["table"], row["seat"], row["minutes"], row["hours"]) == ("anna", "T1", 1, 125, 2)
    assert floor.get("reality-checks?hours=3").json()["players"] == []
    assert scene.used() == [("time", "day", 120, 125, 0)]
    assert_problem(scene.dealer.post("buy-ins", {"seat": 1, "amount": 500}), 409, "player_limit_reached")
    scene.dealer.ok("seats/1/leave")
    sits = {"seat": 1, "player": "anna", "amount": 5_000}
    assert_problem(scene.dealer.post("seats", sits), 409, "player_limit_reached")
    scene.cashier.refresh()
    scene.cashier.ok("cash-outs", {"player": "anna", "amount": 5_000})
    said = {"interaction": "reality_check", "note": "two hours; goes home"}
    last = last_event()
    assert floor.ok("players/anna/interactions", said)["number"] == 1
    assert "goes home" not in str(recorded_since(last, "player.interaction_logged"))
    (logged,) = scene.compliance.get("interactions").json()["results"]
    assert (logged["interaction"], logged["note"]) == ("reality_check", "two hours; goes home")


def test_the_verifier_finds_a_sale_beyond_a_limit(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    from casino.safeguards import standing

    monkeypatch.setattr(state_safeguards, "LET_PASS", 0.0)
    scene.set(most=21_000)
    monkeypatch.setattr(standing, "with_limits", lambda *_: ())
    assert scene.buys(500).is_success
    assert verify_house(scene.kit.house).findings == []
    assert scene.buys(1_000).is_success
    assert [finding.code for finding in verify_house(scene.kit.house).findings] == ["player_limit_exceeded"]
