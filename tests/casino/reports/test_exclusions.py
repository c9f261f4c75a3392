"""A21: exclusions and limits, the attempts refused because of them, and what was paid out; and something forged."""

import pytest

from casino.audit.events.reads import AttemptRefused
from casino.audit.events.safeguards import ExclusionLifted, PlayerLimitSet
from casino.staff.models import Role
from tests.casino.kit import Kit
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.reports.test_catalogue_of_control import broken, forged, seen

BAN = {"kind": "house", "scope": "play", "asked_by": "house", "in_person": False, "until": None}
SELF = BAN | {"kind": "self", "asked_by": "player", "in_person": True}


@pytest.fixture
def banned(kit: Kit) -> Kit:
    """anna is excluded, was refused twice and paid out 15,000 of 20,000; bela's exclusion was lifted; a limit waits."""
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    kit.players("anna", "bela", chips=20_000)
    compliance, cashier = kit.office(Role.COMPLIANCE), kit.cashier()
    cashier.ok("cash-outs", {"player": "anna", "amount": 1_000})
    compliance.ok("players/anna/exclusions", SELF)
    compliance.ok("players/bela/exclusions", BAN)
    for _ in range(2):
        assert cashier.post("buy-ins", {"player": "anna", "amount": 500}).status_code == 409
    cashier.ok("cash-outs", {"player": "anna", "amount": 15_000})
    kit.approved(compliance, "exclusions/2/lift", {"cause": "wrong_entry"})
    cashier.ok("/api/v1/players/bela/limits", {"limit": "loss", "span": "day", "most": 20_000})
    cashier.ok("/api/v1/players/bela/limits", {"limit": "loss", "span": "day", "most": 90_000})
    cashier.refresh()
    assert cashier.post("buy-ins", {"player": "bela", "amount": 500}).status_code == 409
    return kit


def test_who_is_excluded_what_was_refused_and_what_was_paid_out(banned: Kit) -> None:
    report = made(banned, "exclusions")
    anna, bela = rows(report)
    assert (anna["player"], anna["kind"], anna["state"], anna["refused"], anna["paid_out"]) == (
        "anna", "self", "in_force", 2, 15_000,
    )  # fmt: skip
    assert (bela["state"], bela["cause"], bela["refused"], bela["paid_out"]) == ("ended", "wrong_entry", 0, 0)
    assert bela["lifted_by"] and bela["approver"] and bela["lifted_by"] != bela["approver"]
    limits = rows(report, 1)
    assert [(row["amount"], row["state"]) for row in limits] == [(20_000, "in_force"), (90_000, "to_come")]
    attempts = rows(report, 2)
    assert [(row["player"], row["code"], row["operation"]) for row in attempts] == [
        ("anna", "player_excluded", "buyIn"), ("anna", "player_excluded", "buyIn"),
        ("bela", "player_limit_reached", "buyIn"),
    ]  # fmt: skip
    assert [row["player"] for row in rows(made(banned, "exclusions", state="in_force"))] == ["anna"]
    assert rows(made(banned, "exclusions", kind="register")) == []
    assert [row["player"] for row in rows(made(banned, "exclusions", player="bela"), 2)] == ["bela"]


def test_only_compliance_reads_it(banned: Kit) -> None:
    for role in Role:
        asked = banned.office(role).post("reports/exclusions/runs", {"formats": ["json"]})
        assert asked.is_success == (role == Role.COMPLIANCE), (role, asked.text)


def test_what_is_forged_is_seen(banned: Kit) -> None:
    kit, chain = banned, banned.house.chain
    assert broken(kit, "exclusions") == []
    nameless = AttemptRefused(method="POST", path="/", code="player_excluded", status=409)
    forged(kit, chain, nameless)
    before = seen(kit, "exclusions", [])
    assert before == ["attempts refused, by player = events of these refusals"]
    limit = PlayerLimitSet(
        number=9, player="bela", limit="loss", span="week", most=1, starts_at="2024-05-01T00:00:00.000000Z"
    )
    forged(kit, chain, limit)
    before += seen(kit, "exclusions", before)
    assert "limits of the events = their last number" in before or "limits of the events = rows" in before
    forged(kit, chain, ExclusionLifted(exclusion=1, player="anna", cause="revoked"))
    assert "in force, rebuilt from the events = rows in force" in seen(kit, "exclusions", before)


def test_a_statement_says_which_limits_and_exclusions_are_in_force(banned: Kit) -> None:
    statement = made(banned, "player-statement", player="bela")
    low, high = rows(statement, 2)
    assert {(row["what"], row["kind"], row["span"], row["minutes"]) for row in (low, high)} == {
        ("limit", "loss", "day", None)
    }
    assert [(row["amount"], row["state"]) for row in (low, high)] == [(20_000, "in_force"), (90_000, "to_come")]
    assert low["from"] < high["from"]
    [banned_row] = rows(made(banned, "player-statement", player="anna"), 2)
    assert (banned_row["what"], banned_row["kind"], banned_row["state"]) == ("exclusion", "self", "in_force")
    assert banned_row["from"]
    activity = rows(made(banned, "player-activity"))
    assert {row["player"]: row["excluded"] for row in activity} == {"anna": True, "bela": False}
    assert broken(banned, "player-statement", player="bela") == []
    limit = PlayerLimitSet(
        number=9, player="bela", limit="loss", span="week", most=1, starts_at="2024-05-01T00:00:00.000000Z"
    )
    forged(banned, banned.house.chain, limit)
    assert seen(banned, "player-statement", [], player="bela") == ["limits in force by the events = by the rows"]
