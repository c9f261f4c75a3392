"""The register of found chips: kept for their owner, given back, and after the house's time remitted or kept."""

from typing import Any

import pytest
from django.db import connections, transaction

from casino.audit.models import Event
from casino.bookkeeping.postings import posting
from casino.cage.models import FoundChips
from casino.reports.selectors import custody
from casino.reports.verifying import verification
from casino.staff.models import Role
from tests.casino.busy import PERSON
from tests.casino.kit import Desk, Kit, book
from tests.casino.superuser import unguarded
from tests.casino.transfers.test_transfers import refusal

REASON = {"reason": "act on lost property, section 5"}


@pytest.fixture
def cashier(kit: Kit) -> Desk:
    """A cashier at an open drawer, and Anna, whom the house knows, with chips of 10,000; Bela is unknown."""
    kit.players("anna", "bela")
    desk = kit.cashier()
    kit.open_drawer(desk, cash=50_000, pieces={"5000": 20, "1000": 20})
    desk.ok("buy-ins", {"player": "anna", "amount": 10_000, "pieces": {"5000": 2}})
    desk.ok("/api/v1/players/anna/person", {"person": PERSON, "reason": "first_record"}, version=1)
    desk.refresh()
    return desk


def body(kit: Kit, **more: Any) -> dict[str, Any]:
    """One chip that a runner has found."""
    return {"finder": kit.runner(), "found_where": "under table 1", "amount": 5_000, "pieces": {"5000": 1}} | more


def wait_for_nobody(settings: Any) -> None:
    """The house's time is over at once."""
    settings.CASINO_UNCLAIMED_DAYS = 0


def test_found_chips_are_kept_and_given_to_their_owner(kit: Kit, cashier: Desk) -> None:
    event = cashier.ok("found-chips", body(kit))["last_event"]
    assert (event["found"]["found"], event["found"]["state"], event["exchanged"]) == (1, "registered", {"5000": 1})
    assert kit.balance("2095", "2015/C1", "9120/C1", "1020/C1") == [5_000, -5_000, 115_000, 60_000]
    assert custody(kit.house) == {"chips_in_circulation": 5_000, "chip_liability": 5_000, "equal": True}
    auditor = kit.office()
    [row] = auditor.get("found-chips?state=registered").json()["results"]
    assert (row["found_where"], row["age_days"], row["ended_at"]) == ("under table 1", 0, None)
    claim = {"player": "anna"}
    assert refusal(cashier.post("found-chips/1/claim", claim)) == (409, "approval_required")
    assert refusal(cashier.post("found-chips/1/claim", {"player": "bela"})) == (404, "no_person")
    assert refusal(cashier.post("found-chips/2/claim", claim)) == (404, "not_found")
    event = kit.approved(cashier, "found-chips/1/claim", claim, by=Role.CAGE_SUPERVISOR)["last_event"]
    assert (event["found"]["state"], event["found"]["player"], event["exchanged"]) == ("claimed", "anna", {"5000": 1})
    assert kit.balance("2095", "2015/C1", "9120/C1") == [0, 0, 110_000]
    refused = cashier.post("found-chips/1/claim", claim)
    assert (refusal(refused), refused.json()["state"]) == ((409, "found_ended"), "claimed")
    assert verification(kit.house)["ok"]


def test_nobody_enters_what_cannot_be(kit: Kit, cashier: Desk) -> None:
    assert refusal(cashier.post("found-chips", body(kit, finder="nobody"))) == (404, "not_found")
    assert refusal(cashier.post("found-chips", body(kit, amount=4_000))) == (422, "chips_do_not_add_up")
    assert refusal(cashier.post("found-chips", body(kit, amount=1_000, pieces={"1000": 1}))) == (
        409, "chips_not_in_circulation",
    )  # fmt: skip
    supervisor = kit.supervisor(role=Role.MANAGER)
    assert refusal(supervisor.post("found-chips", body(kit))) == (403, "forbidden")
    assert kit.balance("2095") == 0


@pytest.mark.parametrize(
    ("what", "sent", "account"), [("remit", {"note": "N-1"}, "1090"), ("keep", REASON, "4030")], ids=["remit", "keep"]
)
def test_what_nobody_claims_goes_after_the_time_of_the_house(
    kit: Kit, cashier: Desk, settings: Any, what: str, sent: Any, account: str
) -> None:
    with transaction.atomic():
        book(kit.house, "command:bank", posting("bank_sent", {}, cash=20_000))
        book(kit.house, "command:note", posting("bank_confirmed", {}, cash=20_000))
    cashier.ok("found-chips", body(kit))
    manager, path = kit.office(Role.MANAGER), f"found-chips/1/{what}"
    refused = manager.post(path, sent)
    assert (refusal(refused), "until" in refused.json()) == ((409, "claims_run"), True)
    wait_for_nobody(settings)
    assert refusal(kit.office(Role.CAGE_SUPERVISOR).post(path, sent)) == (403, "forbidden")
    number = manager.post(path, sent).json()["approval"]["approval"]
    assert refusal(kit.office(Role.MANAGER).post(f"approvals/{number}/approve", {})) == (403, "forbidden")
    kit.office(Role.AUDITOR).ok(f"approvals/{number}/approve")
    done = manager.ok(path, sent, headers={"Approval": str(number)})["found"]
    assert (done["state"], done["note"]) == (("remitted", "N-1") if what == "remit" else ("kept", ""))
    assert kit.balance("2095", account) == [0, 15_000 if what == "remit" else 5_000]
    assert refusal(manager.post(path, sent)) == (409, "found_ended")
    assert refusal(cashier.post("found-chips/1/claim", {"player": "anna"})) == (409, "found_ended")


def test_a_day_names_what_nobody_has_claimed(kit: Kit, cashier: Desk) -> None:
    manager = kit.office(Role.MANAGER)
    manager.ok("days", {"day": "2020-02-29"})
    cashier.ok("found-chips", body(kit))
    kit.close_drawer(cashier)
    closed = kit.close_day(manager, "2020-02-29")
    assert closed["carried"]["found_chips"] == [{"found": 1, "amount": 5_000}]


def test_the_verifier_finds_a_register_that_was_changed(kit: Kit, cashier: Desk) -> None:
    cashier.ok("found-chips", body(kit))
    [row] = FoundChips.objects.filter(house=kit.house)
    for alias in ("default", "owner"):
        for change in ("amount = 1", "noted_at = noted_at - interval '90 days'", "state = 'kept'"):
            with (
                pytest.raises(Exception, match=r"keeps its|permission denied|found_chips_end_once"),
                transaction.atomic(using=alias),
                connections[alias].cursor() as cursor,
            ):
                cursor.execute(f"UPDATE cage_foundchips SET {change} WHERE id = {row.pk}")
    with unguarded("cage_foundchips") as cursor:
        cursor.execute("UPDATE cage_foundchips SET noted_at = noted_at - interval '90 days' WHERE id = %s", [row.pk])
    found = verification(kit.house)
    assert {(one["code"], one["place"]) for one in found["audit_findings"]} == {
        ("state_differs", "cage.FoundChips 1, noted_at")
    }
    assert Event.objects.filter(house=kit.house, doc__kind="cage.chips_found").count() == 1
