"""Tips: counted by two who did not deal, pooled, shared to the last unit, each share paid once by another."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casino.reports.selectors import custody, racks
from casino.reports.verifying import verification
from casino.staff.models import Role, Staff
from casino.transfers.models import TroncShare
from casino.transfers.tronc import shares_of
from tests.casino.kit import Desk, Kit
from tests.casino.transfers.test_transfers import refusal

#: What the tip of 630 is made of.
TIPS = {"500": 1, "100": 1, "25": 1, "5": 1}


class Tips:
    """A table with 630 in its tip box, which is in the count room."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        kit.table()
        self.dealer = kit.seated()
        self.dealer.ok("boxes", {"kind": "tip", "number": "tip-1"})
        self.dealer.ok("exchanges", {"given": {"5000": 1}, "wanted": {"500": 8, "100": 8, "25": 4, "5": 20}})
        self.dealer.ok("tips", {"seat": 1, "amount": 630, "pieces": TIPS})
        swapped = self.dealer.ok("boxes", {"kind": "tip", "number": "tip-2", "seal": "S-1"})
        self.box = swapped["last_event"]["taken"]["box"]
        self.team = [kit.office(Role.COUNT), kit.office(Role.COUNT)]
        self.team[0].ok(f"boxes/{self.box}/bring", {"seal": "S-1"})
        self.supervisor = kit.office(Role.CAGE_SUPERVISOR)

    def counted(self, cash: int = 0, pieces: dict[str, int] | None = None) -> dict[str, Any]:
        """Both count this, and the supervisor receives it."""
        for desk in self.team:
            desk.ok(f"boxes/{self.box}/counts", {"cash": cash, "pieces": TIPS if pieces is None else pieces})
        found: dict[str, Any] = self.supervisor.ok(f"boxes/{self.box}/receive")["box"]
        return found

    def whole(self) -> None:
        """Chips and money agree, nothing is lost, books and chains are whole."""
        assert custody(self.kit.house)["equal"]
        assert all(row["equal"] for row in racks(self.kit.house)["denominations"])
        assert verification(self.kit.house)["ok"]


@pytest.fixture
def tips(kit: Kit) -> Tips:
    """Tips to be counted."""
    return Tips(kit)


def test_counted_tips_are_shared_and_each_share_is_paid_once(tips: Tips) -> None:
    kit = tips.kit
    assert kit.balance("2060/T1", "9160/T1", "2065") == [630, 630, 0]
    vault = kit.balance("9110")
    assert tips.counted(cash=70)["cash_variance"] == 70
    assert kit.balance("2060/T1", "9160/T1", "2065") == [0, 0, 700]
    assert kit.balance("9110") == vault + 630
    dealers = [kit.runner() for _ in range(3)]
    manager = kit.office(Role.MANAGER)
    pool = manager.ok("tronc/share", {"points": dict(zip(dealers, (1, 1, 1), strict=True))})["pool"]
    # 700 by three: the largest remainders, which are the same, go by login.
    assert sorted(share["amount"] for share in pool["shares"]) == [233, 233, 234]
    assert sum(share["amount"] for share in pool["shares"]) == pool["amount"] == 700
    assert refusal(manager.post("tronc/share", {"points": {dealers[0]: 1}})) == (409, "nothing_to_share")
    cashier = kit.cashier()
    cash = kit.balance("1020/C1")
    for share in pool["shares"]:
        body = {"pool": pool["pool"], "login": share["login"]}
        paid = cashier.ok("tronc-shares", body)
        assert paid["last_event"]["share"] == body | {"amount": share["amount"]}
        assert refusal(cashier.post("tronc-shares", body)) == (409, "share_paid")
    assert kit.balance("2065", "1020/C1") == [0, cash - 700]
    [row] = kit.office().get("tronc/pools").json()["results"]
    assert all(share["paid"] for share in row["shares"])
    tips.whole()


@pytest.mark.parametrize(
    ("pieces", "over"),
    [(TIPS | {"5": 0}, -5), (TIPS | {"100": 2}, 100), ({}, -630), ({"5": 126}, 0)],
    ids=["missing", "found", "empty", "other chips"],
)
def test_what_a_tip_box_lacks_or_has_too_much_is_the_staffs(tips: Tips, pieces: dict[str, int], over: int) -> None:
    pieces = {value: count for value, count in pieces.items() if count}
    done = tips.counted(pieces=pieces)
    assert done["chip_variance"] == over
    assert tips.kit.balance("2060/T1", "2065", "2015/T1", "9160/T1") == [0, 630 + over, -over, 0]
    tips.whole()


def test_who_shares_gets_nothing_and_nobody_pays_the_own_share(tips: Tips) -> None:
    kit = tips.kit
    tips.counted()
    staff = {role: Staff.objects.filter(house=kit.house, roles=[role]) for role in (Role.CAGE_SUPERVISOR, Role.CASHIER)}
    own = staff[Role.CAGE_SUPERVISOR].latest("id").login
    assert refusal(tips.supervisor.post("tronc/share", {"points": {own: 1}})) == (403, "four_eyes")
    assert refusal(tips.supervisor.post("tronc/share", {"points": {"nobody": 1}})) == (422, "unknown_login")
    for points in ({}, {own: 0}, {own: -1}, {own: "1"}):
        assert refusal(tips.supervisor.post("tronc/share", {"points": points})) == (400, "invalid_request")
    cashier: Desk = kit.cashier()
    login = staff[Role.CASHIER].latest("id").login
    pool = tips.supervisor.ok("tronc/share", {"points": {login: 3}})["pool"]
    assert pool["pool"] == 1  # refusals took no number
    body = {"pool": 1, "login": login}
    assert refusal(cashier.post("tronc-shares", body)) == (403, "four_eyes")
    assert refusal(cashier.post("tronc-shares", {"pool": 2, "login": login})) == (404, "not_found")
    kit.cashier(another=True).ok("tronc-shares", body)
    assert TroncShare.objects.get(house=kit.house).paid_at is not None
    tips.whole()


def test_the_tip_box_is_no_longer_paid_out_uncounted(tips: Tips) -> None:
    assert tips.kit.cashier().post("tronc-payouts", {"table": "T1"}).status_code == 404


@given(
    amount=st.integers(1, 10**9), points=st.dictionaries(st.text("abcdef", min_size=1), st.integers(1, 500), min_size=1)
)
def test_shares_are_the_pool_and_next_to_their_exact_part(amount: int, points: dict[str, int]) -> None:
    found, total = shares_of(amount, points), sum(points.values())
    assert sum(found.values()) == amount and found.keys() == points.keys()
    assert all(abs(found[login] * total - amount * count) < total for login, count in points.items())
    # More points are never less money.
    ordered = sorted(points, key=lambda login: points[login])
    assert all(found[less] <= found[more] + 1 for less, more in pairwise(ordered))
