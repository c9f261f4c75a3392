"""A26 of one operation: who could use it, and when, rebuilt from the events of the staff."""

from typing import Any

import pytest

from casino.audit.events.staff import RolesChanged
from casino.reports.frame import as_of, registry
from casino.reports.frame.report import Scope
from casino.staff.models import Role, TerminalKind
from tests.casino.kit import Kit
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.reports.test_catalogue_of_control import REASON, broken, forged
from tests.casino.superuser import unguarded

ABLE = 4


@pytest.fixture
def changed(kit: Kit) -> Kit:
    """A cashier who becomes a dealer, and is deactivated as one."""
    office = kit.office(Role.ADMIN)
    office.ok("staff", {"login": "new", "name": "New", "roles": ["cashier"], "password": "a long password of 1 person"})
    office.ok("staff/new/roles", {"roles": ["dealer"]} | REASON, version=1)
    office.ok("staff/new/deactivate", REASON, version=2)
    return kit


def able(kit: Kit, operation: str, **filters: str) -> list[dict[str, Any]]:
    return rows(made(kit, "access-review", operation=operation, **filters), ABLE)


def test_who_could_use_an_operation_and_when(changed: Kit) -> None:
    kit = changed
    [sold] = [row for row in able(kit, "buyIn") if row["person"] == "new"]
    [dealt] = [row for row in able(kit, "dealHand") if row["person"] == "new"]
    assert (sold["role"], dealt["role"]) == ("cashier", "dealer")
    assert sold["from"] < sold["until"] == dealt["from"] < dealt["until"]
    # At a moment: as a cashier, as a dealer, after all, before all.
    for moment, names in (
        (sold["from"], ("buyIn",)), (sold["until"], ("dealHand",)), (dealt["until"], ()), ("2020-01-01T00:00:00Z", ()),
    ):  # fmt: skip
        found = {name for name in ("buyIn", "dealHand") if able(kit, name, person="new", moment=moment)}
        assert found == set(names), moment
    assert able(kit, "buyIn", person="new", role="dealer") == []


def test_everybody_who_can_now_is_there_and_what_nobody_may_has_nobody(changed: Kit) -> None:
    kit = changed
    auditor = kit.office(Role.AUDITOR)
    who = auditor.get("session").json()["login"]
    reads = able(kit, "listEvents")
    assert who in [row["person"] for row in reads] and {row["role"] for row in reads} == {"auditor"}
    assert all(row["until"] is None and row["pair"] == "" for row in reads)
    assert able(kit, "signIn") == able(kit, "noSuchOperation") == []
    assert rows(made(kit, "access-review"), ABLE) == []


def test_who_held_roles_that_exclude_each_other_is_marked(changed: Kit) -> None:
    kit = changed
    office = kit.office(Role.ADMIN)
    office.ok("staff/new/activate", REASON, version=3)
    for before, after in ((["dealer"], ["dealer", "cashier"]), (["dealer", "cashier"], ["dealer"])):
        forged(kit, kit.house.chain, RolesChanged(login="new", before=before, after=after, reason="forged"))
    report, scope = registry.get("access-review"), Scope(kit.house, as_of.now(kit.house), {"operation": "buyIn"})
    found = [(role, pair) for login, role, _, _, pair in report.sections[ABLE].rows(scope) if login == "new"]
    assert found == [("cashier", ""), ("cashier", "dealer + cashier")]


def test_a_role_that_only_the_row_has_is_seen_at_the_moment(changed: Kit) -> None:
    kit = changed
    [sold] = able(kit, "buyIn", person="new")
    assert broken(kit, "access-review", operation="listEvents") == []
    kit.hire(Role.AUDITOR, TerminalKind.OFFICE, "", noted=False)
    words = ["who could use it, by events = by rows", "who could use it, by events and rows alike = by rows"]
    assert broken(kit, "access-review", operation="listEvents") == words
    assert broken(kit, "access-review", operation="buyIn") == []
    with unguarded("staff_staff") as cursor:
        cursor.execute("UPDATE staff_staff SET is_active = true WHERE house_id = %s AND login = 'new'", [kit.house.id])
    assert broken(kit, "access-review", operation="dealHand") == [
        "people who are not active by events = by rows",
        *words,
    ]
    # The row of now is taken back to a moment by what later events say of before: then it was so.
    assert broken(kit, "access-review", operation="buyIn", moment=sold["from"]) == [
        "people who are not active by events = by rows"
    ]
