"""Winnings that are kept from minors go to whom the law names: whole, once, by two people, and never more than there
is."""

from datetime import datetime, timedelta
from functools import partial
from html import unescape
from typing import Any

import httpx
import pytest
from django.db import connection, transaction
from django.db.utils import IntegrityError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casino.approvals import identity
from casino.approvals.models import Approval
from casino.audit.events.safeguards import MinorSettled, WinningsRemitted
from casino.bookkeeping.postings import posting
from casino.core.sql import database_time
from casino.reports import alarms
from casino.reports.selectors import custody
from casino.reports.verifying import verification
from casino.safeguards.models import Minor, Remittance
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.console.browser import Browser
from tests.casino.core.test_concurrency import at_once
from tests.casino.kit import ACTOR, Kit, book
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.reports.test_exceptions import at_later, by_source
from tests.casino.safeguards.test_minors import Scene
from tests.casino.scene import assert_problem
from tests.casino.superuser import unguarded

PATH = "minors/remittances"


def asked(amount: int, *minors: int, **more: Any) -> dict[str, Any]:
    """A remittance to the state."""
    said = {"minors": list(minors), "amount": amount, "beneficiary": "state", "payee": "Tax office", "note": "N-7"}
    return said | more


def won(scene: Scene, ref: str, chips: int) -> None:
    """Settle a minor who brings so many chips of 5,000."""
    number = scene.record(ref)["minor"]
    scene.hand_in(ref, {"5000": chips})
    scene.settle(number)


def banked(kit: Kit, amount: int) -> None:
    """Bring so much to the bank."""
    with transaction.atomic():
        book(kit.house, f"command:bank-{amount}", posting("bank_sent", {}, cash=amount))
        book(kit.house, f"command:note-{amount}", posting("bank_confirmed", {}, cash=amount))


def remit(scene: Scene, amount: int, *minors: int, **more: Any) -> Any:
    """Remit, approved by a manager."""
    return scene.kit.approved(scene.compliance, PATH, asked(amount, *minors, **more))


def refused(scene: Scene, body: dict[str, Any]) -> httpx.Response:
    """The answer to the same, when a manager has approved it."""
    headers = scene.kit.approval(scene.compliance, PATH, body)
    return scene.compliance.post(PATH, body, headers=headers)


def under(kit: Kit, profile: str) -> Scene:
    """A house under this law."""
    identity.set_at_founding(house=kit.house, parts={"legal_profile": profile}, actor=ACTOR)
    return Scene(kit)


def remitted(scene: Scene) -> bool:
    """Whether anything of the house was remitted."""
    of = {"house": scene.kit.house}
    return Remittance.objects.filter(**of).exists() or Minor.objects.filter(**of).exclude(remittance=None).exists()


@pytest.fixture
def scene(kit: Kit) -> Scene:
    """A house under Hungarian law; anna has won 5,000 and bela 10,000, which are kept."""
    found = under(kit, "HU")
    kit.players("eva", pieces={5_000: 20})
    won(found, "anna", 5)
    won(found, "bela", 6)
    return found


def test_what_is_kept_goes_to_the_state(scene: Scene) -> None:
    banked(scene.kit, 20_000)
    body = asked(15_000, 2, 1)
    assert_problem(scene.compliance.post(PATH, body), 409, "approval_required")
    done = remit(scene, 15_000, 2, 1)
    parts = [{"minor": 1, "player": "anna", "kept": 5_000}, {"minor": 2, "player": "bela", "kept": 10_000}]
    assert (done["remittance"], done["amount"], done["beneficiary"], done["payee"], done["note"], done["minors"]) == (
        1, 15_000, "state", "Tax office", "N-7", parts,
    )  # fmt: skip
    assert scene.kit.balance("2087", "1090", "4030") == [0, 5_000, 0]
    [listed] = scene.manager.get(PATH).json()["results"]
    assert listed == {name: value for name, value in done.items() if name != "audit"}
    assert [row["remittance"] for row in scene.compliance.get("minors").json()["results"]] == [1, 1]
    assert scene.compliance.get("minors/1").json()["remittance"] == 1
    assert custody(scene.kit.house)["equal"]
    assert verify_house(scene.kit.house).findings == [] and verification(scene.kit.house)["ok"]


def test_a_minor_is_in_one_remittance_only(scene: Scene) -> None:
    banked(scene.kit, 40_000)
    assert remit(scene, 5_000, 1)["remittance"] == 1
    for minors, amount in (((1,), 5_000), ((1, 2), 15_000)):
        problem = assert_problem(scene.compliance.post(PATH, asked(amount, *minors)), 409, "winnings_remitted")
        assert problem["minor"] == 1
    assert_problem(scene.compliance.post(PATH, asked(20_000, 2, 2)), 400, "invalid_request")
    assert remit(scene, 10_000, 2, note="N-8")["remittance"] == 2
    assert scene.kit.balance("2087", "1090") == [0, 25_000]
    assert verify_house(scene.kit.house).findings == []


def test_two_terminals_remit_once(scene: Scene) -> None:
    banked(scene.kit, 40_000)
    desks, body = (scene.compliance, scene.kit.office(Role.COMPLIANCE)), asked(15_000, 1, 2)
    allowed = [scene.kit.approval(desk, PATH, body) for desk in desks]
    answers = at_once(*(
        partial(desk.post, PATH, body, headers=headers) for desk, headers in zip(desks, allowed, strict=True)
    ))  # fmt: skip
    said = sorted((one.status_code, one.json().get("code", "")) for one in answers)
    assert said == [(201, ""), (409, "winnings_remitted")]
    assert scene.kit.balance("2087", "1090") == [0, 25_000]
    assert verify_house(scene.kit.house).findings == []


def test_only_what_a_settlement_has_kept_is_remitted(scene: Scene) -> None:
    scene.kit.players("cili", "dani", chips=5_000)
    scene.record("cili")
    assert_problem(scene.compliance.post(PATH, asked(5_000, 1, 3)), 409, "minor_not_settled")
    scene.hand_in("cili", {"5000": 1})
    scene.settle(3)
    assert assert_problem(scene.compliance.post(PATH, asked(5_000, 1, 3)), 409, "nothing_kept")["minor"] == 3
    scene.record("dani")
    scene.kit.approved(scene.compliance, "minors/4/clear", {})
    assert_problem(scene.compliance.post(PATH, asked(5_000, 4)), 409, "minor_not_settled")
    assert_problem(scene.compliance.post(PATH, asked(5_000, 1, 9)), 404, "not_found")
    for amount in (4_999, 5_001, 15_000):
        differs = assert_problem(scene.compliance.post(PATH, asked(amount, 1)), 409, "remittance_differs")
        assert differs["amount"] == 5_000
    assert scene.kit.balance("2087") == 15_000 and not remitted(scene)


def test_the_bank_pays_no_more_than_it_has(scene: Scene) -> None:
    banked(scene.kit, 14_999)
    assert_problem(refused(scene, asked(15_000, 1, 2)), 409, "insufficient_funds")
    assert scene.kit.balance("2087", "1090") == [15_000, 14_999]
    assert not remitted(scene)
    assert remit(scene, 10_000, 2)["remittance"] == 1


def test_no_more_than_stands_on_the_account_is_paid(scene: Scene) -> None:
    """Rows that say more than the ledger has: the ledger refuses."""
    banked(scene.kit, 90_000)
    with unguarded("safeguards_minor") as cursor:
        cursor.execute(
            "UPDATE safeguards_minor SET kept = 20000, held = held + 15000 WHERE number = 1 AND house_id = %s",
            [scene.kit.house.id],
        )
    assert_problem(refused(scene, asked(20_000, 1)), 409, "insufficient_funds")
    assert scene.kit.balance("2087", "1090") == [15_000, 90_000]


@pytest.mark.parametrize(
    ("profile", "allowed"),
    [
        ("HU", ["state"]), ("AT", ["state"]), ("US-CA", ["state"]), ("UK", ["charity"]),
        ("custom", ["charity", "state"]), ("", []),
    ],
)  # fmt: skip
def test_the_law_of_the_house_names_who_is_paid(scene: Scene, profile: str, allowed: list[str]) -> None:
    identity.set_at_founding(house=scene.kit.house, parts={"legal_profile": profile}, actor=ACTOR)
    for beneficiary in ("state", "charity"):
        answer = scene.compliance.post(PATH, asked(5_000, 1, beneficiary=beneficiary))
        if beneficiary in allowed:
            assert_problem(answer, 409, "approval_required")
        else:
            assert assert_problem(answer, 409, "beneficiary_differs")["beneficiaries"] == allowed


def test_who_asks_does_not_approve_and_others_may_not_ask(scene: Scene) -> None:
    asks = scene.compliance.post(PATH, asked(5_000, 1))
    number = assert_problem(asks, 409, "approval_required")["approval"]["approval"]
    assert_problem(scene.compliance.post(f"approvals/{number}/approve", {}), 403, "forbidden")
    for role in (Role.MANAGER, Role.CAGE_SUPERVISOR, Role.AUDITOR):
        assert_problem(scene.kit.office(role).post(PATH, asked(5_000, 1)), 403, "forbidden")


def test_the_database_keeps_it_too(scene: Scene) -> None:
    banked(scene.kit, 15_000)
    remit(scene, 5_000, 1)
    nothing = "UPDATE safeguards_minor SET held = held - kept, kept = 0 WHERE remittance_id IS NOT NULL"
    with pytest.raises(IntegrityError, match="minor_remitted_"), unguarded("safeguards_minor") as cursor:
        cursor.execute(nothing)
    with pytest.raises(Exception, match="safeguards_remittance"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE safeguards_remittance SET amount = 1")


@pytest.mark.parametrize(
    "said",
    [
        {"amount": 4_000}, {"beneficiary": "charity"}, {"remittance": 2},
        {"minors": [{"minor": 1, "player": "anna", "kept": 4_000}]},
        {"minors": [{"minor": 2, "player": "bela", "kept": 10_000}]},
    ],
    ids=str,
)  # fmt: skip
def test_the_verifier_compares_a_remittance(
    scene: Scene, said: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event that says something else than the ledger, the rows and the law."""
    banked(scene.kit, 15_000)
    body = asked(5_000, 1)
    headers = scene.kit.approval(scene.compliance, PATH, body)
    make = WinningsRemitted.__init__
    monkeypatch.setattr(WinningsRemitted, "__init__", lambda self, **values: make(self, **values | said))
    scene.compliance.ok(PATH, body, headers=headers)
    codes = {one.code for one in verify_house(scene.kit.house).findings}
    assert codes & {"safeguard_differs", "serial_gap"}, codes


def test_a_remittance_that_no_event_records_is_found(scene: Scene) -> None:
    banked(scene.kit, 15_000)
    remit(scene, 5_000, 1)
    with unguarded("safeguards_minor") as cursor:
        cursor.execute("UPDATE safeguards_minor SET remittance_id = NULL WHERE house_id = %s", [scene.kit.house.id])
    found = verify_house(scene.kit.house).findings
    assert [(one.code, one.place) for one in found] == [("state_differs", "safeguards.Minor 1, remittance")]


def test_the_reports_have_it(scene: Scene) -> None:
    scene.manager.ok("days", {"day": "2024-05-01"})
    banked(scene.kit, 15_000)
    remit(scene, 5_000, 1)
    anna, bela = rows(made(scene.kit, "exclusions"), 3)
    assert (anna["kept"], anna["remittance"], anna["remitted"]) == (5_000, 1, 5_000)
    assert (bela["kept"], bela["remittance"], bela["remitted"]) == (10_000, None, None)
    assert [(row["player"], row["open"]) for row in rows(made(scene.kit, "held-money"), 6)] == [("bela", 10_000)]
    anna, bela = rows(made(scene.kit, "held-money", show="all"), 6)
    assert (anna["remittance"], anna["payee"], anna["note"], anna["amount"], anna["open"]) == (
        1, "Tax office", "N-7", 5_000, 0,
    )  # fmt: skip
    due = datetime.fromisoformat(bela["remit_by"]) - datetime.fromisoformat(bela["since"])
    assert abs(due - timedelta(days=30)) < timedelta(minutes=1)
    made(scene.kit, "serial-gaps")


def test_what_is_kept_is_due_after_a_month_and_an_exception_when_it_is_late(scene: Scene) -> None:
    def due(**later: int) -> list[tuple[str, int | None]]:
        found = alarms.alarms(scene.kit.house, database_time() + timedelta(**later))
        return [(one.name, one.amount) for one in found if one.kind == "remittance_due"]

    both = [("winnings of minor 1", 5_000), ("winnings of minor 2", 10_000)]
    assert (due(), due(days=22), due(days=24), due(days=400)) == ([], [], both, both)
    first = scene.compliance.get("minors/1").json()
    until = datetime.fromisoformat(first["remit_by"]) - datetime.fromisoformat(first["ended_at"])
    assert until == timedelta(days=30)
    late = at_later(scene.kit, 24 * 31)
    assert by_source(late)["remittances"] == [name for name, _ in both]
    assert "remittances" not in by_source(at_later(scene.kit, 24 * 29))
    banked(scene.kit, 15_000)
    remit(scene, 5_000, 1)
    assert due(days=24) == both[1:]
    assert by_source(at_later(scene.kit, 24 * 31))["remittances"] == ["winnings of minor 2"]
    page = unescape(Browser.of(scene.kit, Role.MANAGER).open("safeguards").text)
    assert "Remit by" in page.split('aria-label="Winnings kept from minors"')[1].split("</section>")[0]
    assert verify_house(scene.kit.house).findings == []


def test_the_house_says_within_how_many_days(kit: Kit) -> None:
    points = {"points": {"remittance_days": 5}, "reason": "as the authority has asked"}
    kit.approved(kit.office(Role.ADMIN), "limits", points)
    scene = under(kit, "HU")
    kit.players("eva", pieces={5_000: 20})
    won(scene, "anna", 5)
    one = Minor.objects.get(house=kit.house)
    assert one.remit_by is not None and one.ended_at is not None and one.remit_by - one.ended_at == timedelta(days=5)
    [alarm] = [one for one in alarms.alarms(kit.house) if one.kind == "remittance_due"]
    assert alarm.since == one.ended_at  # from the settlement on: the week before is over
    assert verify_house(kit.house).findings == []


@pytest.mark.parametrize("said", [None, "2999-01-01T00:00:00.000000Z"])
def test_the_verifier_compares_the_deadline(kit: Kit, said: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    make = MinorSettled.__init__
    monkeypatch.setattr(MinorSettled, "__init__", lambda self, **values: make(self, **values | {"remit_by": said}))
    kit.players("eva", pieces={5_000: 20})
    won(under(kit, "HU"), "anna", 5)
    assert "safeguard_differs" in {one.code for one in verify_house(kit.house).findings}


def test_a_remittance_has_a_paper(scene: Scene) -> None:
    banked(scene.kit, 15_000)
    audit = remit(scene, 15_000, 1, 2)["audit"]
    printed = scene.manager.ok("prints/documents", {"chain": audit["chain"], "seq": audit["seq"], "form": "a4"})
    assert printed["document"] == "remittance/1"


def test_the_office_has_it_on_the_page_of_duties_to_players(scene: Scene) -> None:
    banked(scene.kit, 15_000)
    browser = Browser.of(scene.kit, Role.COMPLIANCE)
    page = unescape(browser.open("safeguards").text)
    kept = page.split('aria-label="Winnings kept from minors"')[1].split("</section>")[0]
    assert "anna" in kept and "bela" in kept and 'href="/console/work/remitWinnings"' in kept
    typed = {"minors": "1, 2", "amount": "15 000", "beneficiary": "state", "payee": "Tax office", "note": "N-7"}
    browser.open("work/remitWinnings")
    held = browser.submit("work/remitWinnings", typed)
    assert held.status_code == 409 and "approval_required" in held.text
    number = Approval.objects.filter(house=scene.kit.house).latest("number").number
    scene.manager.ok(f"approvals/{number}/approve", {})
    browser.open("work/remitWinnings")
    done = browser.submit("work/remitWinnings", typed | {"approval": str(number)})
    assert done.status_code == 200 and "Recorded" in done.text, done.text
    page = unescape(browser.open("safeguards").text)
    assert "anna" not in page.split('aria-label="Winnings kept from minors"')[1].split("</section>")[0]
    assert "Tax office" in page.split('aria-label="Winnings that were remitted"')[1]


@given(st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=4, unique=True), min_size=1, max_size=5))
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_is_remitted_twice(kit: Kit, asks: list[list[int]]) -> None:
    """Remittances of any minors in any order, against a model: one is booked exactly if none of its minors is in one
    before; and what the bank has paid and what is kept are always what was kept in all. Every example has minors of its
    own."""
    house: Scene | None = kit.__dict__.get("_of_the_property")
    if house is None:
        house = kit.__dict__["_of_the_property"] = under(kit, "HU")
        banked(kit, 10_000_000)
        kit.players("eva", pieces={5_000: 200})
    first = Minor.objects.filter(house=kit.house).count()
    kept = {}
    for place in range(1, 5):
        ref = f"p{first + place}"
        kit.players(ref)
        won(house, ref, place)
        kept[first + place] = place * 5_000
    left, paid = kit.balance("2087", "1090")
    for ask in asks:
        numbers = [first + place for place in ask]
        worth = sum(kept.get(number, 5_000) for number in numbers)
        if all(number in kept for number in numbers):
            remit(house, worth, *numbers)
            left, paid = left - worth, paid - worth
            for number in numbers:
                del kept[number]
        else:
            assert_problem(house.compliance.post(PATH, asked(worth, *numbers)), 409, "winnings_remitted")
        assert kit.balance("2087", "1090") == [left, paid]
    assert verify_house(kit.house).findings == []
