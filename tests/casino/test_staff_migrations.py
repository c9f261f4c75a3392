"""What migrations of the staff make of rows that were there before."""

from collections.abc import Iterator

import pytest
from django.core.management import call_command
from django.db import connections

from casino.staff.models import Role, Staff
from tests.casino.kit import Kit
from tests.casino.test_roster import at_work, enrol, hire, login

BEFORE = "0004_password_by"


def migrate(target: str | None = None) -> None:
    """Bring the staff's tables to a migration, by default to the newest."""
    connections.close_all()
    call_command("migrate", "staff", *([target] if target else []), database="owner", verbosity=0, interactive=False)


def run(statement: str, *values: str) -> None:
    """A statement as the owner."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(statement, values)


@pytest.fixture
def newest_again(kit: Kit) -> Iterator[None]:
    """Whatever happens, the tables are as the models want them afterwards."""
    yield
    run("DELETE FROM staff_staff WHERE login = %s", f"ANNA@{kit.house.code}")
    migrate()


@pytest.mark.usefixtures("newest_again")
def test_givers_are_found_again_and_two_of_a_login_are_named(kit: Kit) -> None:
    kit.table("T1")
    office = kit.office(Role.ADMIN)
    admin = Staff.objects.get(house=kit.house, roles=[Role.ADMIN]).login
    key = enrol(office)
    changed, given = hire(kit, office, name="anna"), hire(kit, office, name="bela")
    at_work(kit, changed, key)
    migrate(BEFORE)
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT login, password_by FROM staff_staff WHERE login IN (%s, %s) ORDER BY 1", [changed, given]
        )
        assert cursor.fetchall() == [(changed, ""), (given, admin)]
    double = login(kit, "ANNA")
    run(
        "INSERT INTO staff_staff (house_id, login, name, roles, password, is_active, version) "
        "SELECT house_id, %s, name, roles, password, true, 1 FROM staff_staff WHERE login = %s",
        double, changed,
    )  # fmt: skip
    with pytest.raises(Exception, match=f"{double}, {changed}|{changed}, {double}"):
        migrate()
    run("DELETE FROM staff_staff WHERE login = %s", double)
    migrate()
    # The one who had changed it has his giver from the audit trail, and need not change it again.
    found = Staff.objects.filter(login__in=[changed, given]).order_by("login")
    assert [(one.password_givers, one.must_change_password) for one in found] == [([admin], False), ([admin], True)]
