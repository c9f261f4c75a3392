"""A player who is found to be a minor: barred at once, stakes given back, winnings kept, nothing else paid."""

from datetime import UTC, date, datetime
from functools import partial
from typing import Any

import httpx
import pytest
from django.db import transaction

from casino.approvals import identity
from casino.audit.events.safeguards import MinorSettled
from casino.bookkeeping.postings import posting
from casino.reports.selectors import custody
from casino.reports.verifying import verification
from casino.safeguards.models import Minor
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.busy import PERSON
from tests.casino.core.test_concurrency import at_once
from tests.casino.devices import events
from tests.casino.kit import ACTOR, Desk, Kit, book
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.superuser import unguarded

FIGURES = ("stakes", "deposit", "held", "refund", "kept", "borne")


def born(years: int) -> str:
    """A birthday that makes a person so many years and about half a year old."""
    today = datetime.now(UTC).date()
    year, month = (
        (today.year - years, today.month - 6) if today.month > 6 else (today.year - years - 1, today.month + 6)
    )
    return date(year, month, 1).isoformat()


class Scene:
    """A house with an open drawer, a table T1 where T1-u1 and T1-u2 sit, and anna, who has bought chips for 20,000."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        kit.table()
        self.dealer = kit.seated(stacks=(5_000, 5_000))
        kit.players("anna", "bela", chips=20_000)
        self.cashier, self.compliance = kit.cashier(), kit.office(Role.COMPLIANCE)
        self.manager = kit.office(Role.MANAGER)

    def record(self, ref: str = "anna", by: Desk | None = None, **more: Any) -> Any:
        """Record that a player is a minor."""
        return (by or self.compliance).ok(f"players/{ref}/minor", {"born": born(16), "note": "school card"} | more)

    def at(self, desk: Desk, path: str, body: Any = None) -> httpx.Response:
        desk.refresh()
        return desk.post(path, body)

    def hand_in(self, ref: str, pieces: dict[str, int], by: str = "suspension") -> None:
        """Bring chips to the cage, which are held."""
        amount = sum(int(value) * count for value, count in pieces.items())
        body = {"player": ref, "amount": amount, "pieces": pieces, "cause": by}
        self.cashier.refresh()
        self.kit.approved(self.cashier, "held-payouts", body, by=Role.COMPLIANCE)

    def figures(self, number: int = 1) -> dict[str, int]:
        """What a settlement would come to now."""
        found: dict[str, int] = self.compliance.get(f"minors/{number}").json()["now"]
        return found

    def settle(self, number: int = 1) -> Any:
        """Settle by the figures of now, approved by a manager."""
        return self.kit.approved(self.compliance, f"minors/{number}/settlement", self.figures(number))

    def release(self, payout: int) -> Any:
        """Pay a held payout in cash."""
        self.cashier.refresh()
        path = f"held-payouts/{payout}/release"
        return self.kit.approved(self.cashier, path, {}, by=Role.COMPLIANCE)["last_event"]


@pytest.fixture
def scene(kit: Kit) -> Scene:
    return Scene(kit)


def test_who_has_won_gets_the_stakes_and_the_winnings_are_kept(scene: Scene) -> None:
    scene.cashier.ok("cash-outs", {"player": "anna", "amount": 5_000})
    scene.record()
    # anna has won 10,000: she brings chips worth 25,000, of which 15,000 are booked for her.
    scene.hand_in("anna", {"5000": 5})
    due = {"stakes": 15_000, "deposit": 0, "held": 25_000, "refund": 15_000, "kept": 10_000, "borne": 0}
    assert scene.figures() == due
    assert_problem(scene.compliance.post("minors/1/settlement", due), 409, "approval_required")
    settled = scene.settle()
    assert ({name: settled[name] for name in FIGURES}, settled["state"], settled["payout"]) == (due, "settled", 2)
    assert scene.kit.balance("2085/anna", "2087", "5250", "4030") == [15_000, 10_000, 0, 0]
    assert custody(scene.kit.house)["equal"]
    cash = scene.kit.balance("1020/C1")
    paid = scene.release(2)
    assert (paid["amount"], paid["payout"]["cause"], paid["payout"]["drawer"]) == (15_000, "minor", None)
    assert scene.kit.balance("2085/anna", "2087", "1020/C1") == [0, 10_000, cash - 15_000]
    assert verify_house(scene.kit.house).findings == [] and verification(scene.kit.house)["ok"]


def test_what_was_lost_the_house_gives_back_and_the_deposit_too(scene: Scene) -> None:
    scene.cashier.ok("/api/v1/players/anna/person", {"person": PERSON, "reason": "first_record"}, version=1)
    scene.cashier.refresh()
    scene.cashier.ok("deposits", {"player": "anna", "amount": 3_000})
    scene.cashier.ok("deposits/draw", {"player": "anna", "amount": 1_000})
    scene.record()
    # Of chips worth 21,000 she has 5,000; 6,000 were given to somebody, who is paid for them, and the rest was lost.
    scene.hand_in("anna", {"5000": 1})
    for amount in (6_000, 10_000):
        move = {"place": "C1", "amount": amount, "reason": "chips that are not there"}
        scene.compliance.ok("players/anna/unattributions", move)
    due = {"stakes": 5_000, "deposit": 2_000, "held": 5_000, "refund": 7_000, "kept": 0, "borne": 0}
    assert scene.figures() == due
    scene.settle()
    assert scene.kit.balance("2085/anna", "2090/anna", "5250") == [7_000, 0, 0]
    assert verify_house(scene.kit.house).findings == []


def test_a_lost_stake_is_borne_by_the_house(scene: Scene) -> None:
    scene.dealer.ok("seats", {"seat": 3, "player": "anna", "amount": 20_000})
    scene.dealer.refresh()
    scene.dealer.ok("hands", {"mode": "physical", "button": 1})
    # Seat 3 is the second after the button: anna pays the vizi, and folds in the second round.
    scene.dealer.act("p1 po 100", "d dh p1 ????", "d dh p2 ????", "d dh p3 ????")
    scene.record()
    assert_problem(scene.compliance.post("minors/1/settlement", dict.fromkeys(FIGURES, 0)), 409, "player_seated")
    scene.dealer.act("p2 cc 100", "p3 f", "p1 k", "d dh p1 ????", "d dh p2 ????")
    scene.dealer.act("p1 lk 2", "p1 rb 100", "p2 lk 2", "p2 f")
    scene.kit.settle()
    scene.dealer.refresh()
    left = scene.dealer.ok("seats/3/leave")["last_event"]["amount"]
    assert left < 20_000
    problem = assert_problem(scene.compliance.post("minors/1/settlement", scene.figures()), 409, "chips_not_handed_in")
    assert problem["available"] == left == scene.compliance.get("minors/1").json()["chips"]
    scene.cashier.refresh()
    scene.cashier.ok("exchanges", {"given": {"5000": 1}, "wanted": {"1000": 4, "100": 10}})
    pieces = {"5000": 3, "1000": left // 1_000 - 15, "100": left % 1_000 // 100}
    scene.cashier.refresh()
    scene.hand_in("anna", pieces)
    due = scene.figures()
    lost = 20_000 - left
    assert (due["stakes"], due["held"], due["refund"], due["borne"]) == (20_000, left, 20_000, lost)
    scene.settle()
    assert scene.kit.balance("2085/anna", "5250", "2087") == [20_000, lost, 0]
    scene.release(2)
    assert verify_house(scene.kit.house).findings == []


def test_nothing_else_is_paid_to_a_minor(scene: Scene) -> None:
    for ref in ("anna", "bela"):
        person = PERSON | {"name": ref, "document": ref}
        scene.cashier.ok(f"/api/v1/players/{ref}/person", {"person": person, "reason": "first_record"}, version=1)
    scene.cashier.refresh()
    scene.cashier.ok("deposits", {"player": "anna", "amount": 3_000})
    scene.hand_in("anna", {"5000": 1})
    found = {"finder": scene.kit.runner(), "found_where": "under table T1", "amount": 5_000, "pieces": {"5000": 1}}
    scene.cashier.ok("found-chips", found)
    assert scene.record()["exclusion"] == 1
    cash, anna = scene.kit.balance("1020/C1"), {"player": "anna", "amount": 1_000}
    tried = (
        ("cash-outs", anna),
        ("cash-outs", anna | {"amount": 5_000, "pieces": {"5000": 1}}),
        ("noncash-payments", anna | {"amount": 5_000, "pieces": {"5000": 1}, "account": "**1234"}),
        ("deposits/return", anna),
        ("held-payouts/1/release", {}),
        ("found-chips/1/claim", {"player": "anna"}),
    )
    for path, body in tried:
        last = last_event()
        problem = assert_problem(scene.at(scene.cashier, path, body), 409, "player_is_minor")
        assert (problem["player"], problem["minor"]) == ("anna", 1), path
        (event,) = recorded_since(last, "attempt.refused")
        assert event["data"]["code"] == "player_is_minor"
    for path, body in (("buy-ins", anna), ("deposits/draw", anna), ("deposits", anna)):
        assert_problem(scene.at(scene.cashier, path, body), 409, "player_excluded")
    keeper = scene.kit.office(Role.CAGE_SUPERVISOR)
    assert_problem(keeper.post("held-payouts/1/pay-by-bank", {"note": "N-1"}), 409, "player_is_minor")
    wrong = {"entry": bought(scene, "bela"), "reason": "it was anna", "right": anna | {"kind": "cage.cash_out"}}
    supervisor = scene.kit.supervisor()
    assert_problem(supervisor.post("corrections", wrong), 409, "player_is_minor")
    assert scene.kit.balance("1020/C1") == cash
    scene.cashier.refresh()
    scene.cashier.ok("cash-outs", {"player": "bela", "amount": 1_000})
    assert verify_house(scene.kit.house).findings == []


def bought(scene: Scene, ref: str) -> int:
    """The number of a player's first buy-in in the chain of the drawer."""
    return next(
        doc["seq"] for doc in events(scene.kit, "cage.buy_in")
        if doc["chain"] == "drawer/C1" and doc["data"]["player"] == ref
    )  # fmt: skip


def test_who_is_of_age_by_the_law_of_the_house_is_no_minor(scene: Scene) -> None:
    problem = assert_problem(scene.compliance.post("players/anna/minor", {"born": born(18)}), 422, "of_age")
    assert problem["least_age"] == 18
    identity.set_at_founding(house=scene.kit.house, parts={"legal_profile": "US-CA"}, actor=ACTOR)
    found = scene.record(born=born(20))
    assert (found["least_age"], found["state"], found["recorded_by"]) == (21, "recorded", login(scene.compliance))
    assert_problem(scene.compliance.post("players/anna/minor", {"born": born(16)}), 409, "minor_recorded")
    assert_problem(scene.compliance.post("players/nobody/minor", {"born": born(16)}), 404, "not_found")
    assert scene.record("bela", by=scene.manager)["minor"] == 2
    assert verify_house(scene.kit.house).findings == []


def login(desk: Desk) -> str:
    """Who is signed in at a desk."""
    found: str = desk.get("session").json()["login"]
    return found


def test_the_birthday_is_sealed_and_read_by_compliance_alone(scene: Scene) -> None:
    last = last_event()
    scene.record()
    day = born(16)
    assert day not in str(recorded_since(last, "minor.recorded")) and day not in str(
        bytes(Minor.objects.get(house=scene.kit.house).note)
    )
    [row] = scene.compliance.get("minors?state=recorded").json()["results"]
    assert (row["born"], row["note"], row["player"]) == (day, "school card", "anna")
    [row] = scene.manager.get("minors").json()["results"]
    assert (row["born"], row["note"]) == (None, None)
    for role in (Role.FLOOR, Role.DEALER, Role.ADMIN, Role.CASHIER):
        assert_problem(scene.kit.office(role).get("minors"), 403, "forbidden")
        body = {"born": day}
        assert_problem(scene.kit.office(role).post("players/bela/minor", body), 403, "forbidden")
    assert_problem(scene.manager.post("minors/1/settlement", dict.fromkeys(FIGURES, 0)), 403, "forbidden")
    assert scene.cashier.get("/api/v1/minors/1").json()["now"]["stakes"] == 20_000


def test_what_was_approved_are_these_figures(scene: Scene) -> None:
    scene.record()
    scene.hand_in("anna", {"5000": 4})
    due = scene.figures()
    headers = scene.kit.approval(scene.compliance, "minors/1/settlement", due)
    more = due | {"refund": 19_000, "kept": 1_000}
    problem = assert_problem(
        scene.compliance.post("minors/1/settlement", more, headers=headers), 409, "figures_changed"
    )
    assert problem["figures"] == due
    scene.hand_in("anna", {"5000": 1})
    assert_problem(scene.compliance.post("minors/1/settlement", due, headers=headers), 409, "figures_changed")
    now = scene.figures()
    assert (now["held"], now["kept"]) == (25_000, 5_000)
    assert_problem(scene.compliance.post("minors/1/settlement", now, headers=headers), 409, "approval_differs")
    key = "once"
    headers = scene.kit.approval(scene.compliance, "minors/1/settlement", now, key=key)
    first = scene.compliance.ok("minors/1/settlement", now, key=key, headers=headers)
    assert scene.compliance.ok("minors/1/settlement", now, key=key, headers=headers) == first
    problem = assert_problem(scene.compliance.post("minors/1/settlement", now), 409, "minor_ended")
    assert problem["state"] == "settled"
    assert scene.kit.balance("2085/anna", "2087") == [20_000, 5_000]
    assert verify_house(scene.kit.house).findings == []


def test_who_is_no_minor_after_all_is_paid_again(scene: Scene) -> None:
    scene.record()
    assert_problem(scene.compliance.post("exclusions/1/lift", {"cause": "wrong_entry"}), 409, "minor_not_settled")
    cleared = scene.kit.approved(scene.compliance, "minors/1/clear", {})
    assert (cleared["state"], cleared["refund"]) == ("cleared", None)
    assert_problem(scene.compliance.post("minors/1/clear", {}), 409, "minor_ended")
    scene.cashier.refresh()
    scene.cashier.ok("cash-outs", {"player": "anna", "amount": 1_000})
    scene.kit.approved(scene.compliance, "exclusions/1/lift", {"cause": "wrong_entry"})
    scene.cashier.refresh()
    scene.cashier.ok("buy-ins", {"player": "anna", "amount": 1_000})
    assert scene.record()["minor"] == 2
    assert verify_house(scene.kit.house).findings == []


def test_chips_that_come_later_are_not_paid_and_settled_again(scene: Scene) -> None:
    scene.record()
    scene.hand_in("anna", {"5000": 4})
    scene.settle()
    again = {"player": "anna", "amount": 5_000, "pieces": {"5000": 1}}
    assert_problem(scene.at(scene.cashier, "cash-outs", again), 409, "player_is_minor")
    scene.hand_in("anna", {"5000": 1})
    assert_problem(scene.at(scene.cashier, "held-payouts/3/release", {}), 409, "player_is_minor")
    scene.record()
    # What is not paid yet of the first settlement is given back by the second.
    due = scene.figures(2)
    assert (due["stakes"], due["held"], due["refund"], due["kept"]) == (20_000, 25_000, 20_000, 5_000)
    assert scene.settle(2)["payout"] == 4
    assert_problem(scene.at(scene.cashier, "held-payouts/2/release", {}), 409, "payout_released")
    scene.release(4)
    assert scene.kit.balance("2085/anna", "2087", "5250") == [0, 5_000, 0]
    assert verify_house(scene.kit.house).findings == []


def test_who_has_taken_out_more_than_was_paid_in_gets_nothing(scene: Scene) -> None:
    scene.cashier.ok("cash-outs", {"player": "anna", "amount": 25_000, "pieces": {"5000": 5}})
    scene.record()
    settled = scene.settle()
    assert [settled[name] for name in FIGURES] == [-5_000, 0, 0, 0, 0, 0] and settled["payout"] is None
    assert verify_house(scene.kit.house).findings == []


def test_the_bank_pays_what_is_given_back(scene: Scene) -> None:
    scene.record()
    scene.hand_in("anna", {"5000": 4})
    scene.settle()
    with transaction.atomic():
        book(scene.kit.house, "command:bank", posting("bank_sent", {}, cash=20_000))
        book(scene.kit.house, "command:note", posting("bank_confirmed", {}, cash=20_000))
    keeper, note = scene.kit.office(Role.CAGE_SUPERVISOR), {"note": "N-1"}
    paid = scene.kit.approved(keeper, "held-payouts/2/pay-by-bank", note, by=Role.COMPLIANCE)["payout"]
    assert (paid["state"], paid["cause"]) == ("released", "minor")
    assert scene.kit.balance("2085/anna", "1090") == [0, 0]


def test_a_cashier_holds_nothing_as_the_stakes_of_a_minor(scene: Scene) -> None:
    body = {"player": "anna", "amount": 5_000, "pieces": {"5000": 1}, "cause": "minor"}
    assert_problem(scene.at(scene.cashier, "held-payouts", body), 400, "invalid_request")


def test_two_terminals_settle_a_minor_once(scene: Scene) -> None:
    scene.record()
    scene.hand_in("anna", {"5000": 5})
    due, path = scene.figures(), "minors/1/settlement"
    desks = scene.compliance, scene.kit.office(Role.COMPLIANCE)
    asked = [scene.kit.approval(desk, path, due) for desk in desks]

    answers = at_once(*(
        partial(desk.post, path, due, headers=headers) for desk, headers in zip(desks, asked, strict=True)
    ))  # fmt: skip
    said = sorted((one.status_code, one.json().get("code", "")) for one in answers)
    assert said == [(200, ""), (409, "minor_ended")]
    [settled] = [one.json() for one in answers if one.status_code == 200]
    assert scene.compliance.get("minors/1").json()["ended_at"] == settled["ended_at"]
    assert scene.kit.balance("2085/anna", "2087") == [20_000, 5_000]
    assert verify_house(scene.kit.house).findings == []


def test_a_cash_out_and_a_record_at_once_leave_nothing_between(scene: Scene) -> None:
    scene.cashier.refresh()
    pays = partial(scene.cashier.post, "cash-outs", {"player": "anna", "amount": 5_000})
    records = partial(scene.compliance.post, "players/anna/minor", {"born": born(16)})
    paid, recorded = (one.status_code for one in at_once(pays, records))
    assert (paid, recorded) in ((201, 201), (409, 201))
    assert scene.figures()["stakes"] == (15_000 if paid == 201 else 20_000)


@pytest.mark.parametrize("figure", FIGURES)
def test_the_verifier_compares_the_sums_of_a_settlement(
    scene: Scene, figure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event that says another sum than the ledger and the events before it."""
    scene.record()
    scene.hand_in("anna", {"5000": 5})
    due = scene.figures()
    made = MinorSettled.__init__

    def forged(self: MinorSettled, **said: Any) -> None:
        made(self, **said | {figure: said[figure] + 500})

    headers = scene.kit.approval(scene.compliance, "minors/1/settlement", due)
    monkeypatch.setattr(MinorSettled, "__init__", forged)
    scene.compliance.ok("minors/1/settlement", due, headers=headers)
    assert "safeguard_differs" in {one.code for one in verify_house(scene.kit.house).findings}


def test_the_verifier_finds_what_was_paid_around_it(scene: Scene) -> None:
    scene.record()
    with unguarded("safeguards_minor") as cursor:
        cursor.execute("DELETE FROM safeguards_minor WHERE house_id = %s", [scene.kit.house.id])
    scene.cashier.refresh()
    scene.cashier.ok("cash-outs", {"player": "anna", "amount": 1_000})
    assert "state_missing" in {one.code for one in verify_house(scene.kit.house).findings}


def test_the_reports_have_it_and_their_sums_are_equal(scene: Scene) -> None:
    scene.manager.ok("days", {"day": "2024-05-01"})
    scene.record()
    scene.hand_in("anna", {"5000": 5})
    scene.settle()
    scene.record("bela")
    scene.hand_in("bela", {"5000": 3})
    move = {"place": "C1", "amount": 5_000, "reason": "chips that are not there"}
    scene.compliance.ok("players/bela/unattributions", move)
    scene.settle(2)
    assert_problem(scene.at(scene.cashier, "cash-outs", {"player": "anna", "amount": 1_000}), 409, "player_is_minor")
    excluded = made(scene.kit, "exclusions")
    anna, bela = rows(excluded, 3)
    assert (anna["player"], anna["state"], anna["refund"], anna["kept"], anna["payout"]) == (
        "anna", "settled", 20_000, 5_000, 2,
    )  # fmt: skip
    assert (bela["stakes"], bela["refund"], bela["kept"], bela["borne"]) == (15_000, 15_000, 0, 0)
    assert [row["code"] for row in rows(excluded, 2)] == ["player_is_minor"]
    held = made(scene.kit, "held-money")
    assert [(row["player"], row["amount"]) for row in rows(held, 6)] == [("anna", 5_000)]
    open_ = [(row["payout"], row["player"], row["cause"], row["amount"]) for row in rows(held, 1)]
    assert open_ == [(2, "anna", "minor", 20_000), (4, "bela", "minor", 15_000)]
    ended = rows(made(scene.kit, "held-money", show="all"), 1)
    assert [row["state"] for row in ended] == ["settled", "held", "settled", "held"]
    for name in ("daily-revenue", "serial-gaps", "player-activity"):
        made(scene.kit, name)


def test_the_settlement_has_a_paper(scene: Scene) -> None:
    scene.record()
    scene.hand_in("anna", {"5000": 5})
    audit = scene.settle()["audit"]
    printed = scene.manager.ok("prints/documents", {"chain": audit["chain"], "seq": audit["seq"], "form": "a4"})
    assert printed["document"] == "minor/1"
