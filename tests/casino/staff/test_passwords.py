"""Which passwords are refused: too short, stolen elsewhere, made of the words around a person. Nothing else."""

import pytest

from casino.staff import passwords
from casino.staff.models import Role
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem


@pytest.fixture
def office(kit: Kit) -> Desk:
    """An administrator at an office terminal."""
    return kit.office(Role.ADMIN)


def hired(kit: Kit, office: Desk, password: str) -> str:
    """What the house says against this password of a new person; empty if it takes it."""
    person = {"login": f"annamaria@{kit.house.code}", "name": "Annamaria Kiss", "roles": ["dealer"]}
    answer = office.post("staff", person | {"password": password})
    if answer.status_code == 201:
        return ""
    return " ".join(one["detail"] for one in assert_problem(answer, 400, "invalid_request")["errors"])


@pytest.mark.parametrize("password", ["q1w2e3r4t5y6", "Mailcreated5240", "1QAZ2WSX3EDC", "soso123aljg"])
def test_a_password_that_was_stolen_elsewhere_is_refused(kit: Kit, office: Desk, password: str) -> None:
    assert "stolen elsewhere" in hired(kit, office, password)


@pytest.mark.parametrize(
    "password",
    ["Cukassza2026", "casino-2026", "Annamaria!1", "kiss-annamaria", "dealer12345", "ferbli-2026", "Testhouse12"],
)
def test_a_password_of_words_around_the_person_is_refused(kit: Kit, office: Desk, password: str) -> None:
    assert "guessed first" in hired(kit, office, password)


@pytest.mark.parametrize(
    "password", [" " * 4 + "ö" * 6, "\u0394" * 10, "no digit nor capital at all", "k\U0001f0a1" * 32, "x7" * 128]
)
def test_nothing_else_is_asked_of_a_password(kit: Kit, office: Desk, password: str) -> None:
    assert hired(kit, office, password) == ""


def test_the_list_is_sorted_and_large_enough() -> None:
    data = passwords.BREACHED.read_bytes()
    found = [data[at : at + 6] for at in range(0, len(data), 6)]
    assert found == sorted(set(found)) and len(found) > 40_000
    assert passwords.is_breached("qwertyuiop") and not passwords.is_breached("seven-of-acorns-19")
