"""A house that does not answer, and one that writes nothing: screens say which it is, and send nobody to sign in."""

import psycopg
import pytest
from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper

from casino.console import cookies
from casino.staff.models import Role, TerminalKind
from tests.casino.audit.test_restore import backup, restore
from tests.casino.console.browser import _TOKEN, Browser
from tests.casino.kit import Kit
from tests.casino.logs import note


def away(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the database refuses every connection."""

    def refused(*_: object) -> None:
        raise psycopg.OperationalError("connection refused")

    connection.close()
    monkeypatch.setattr(DatabaseWrapper, "get_new_connection", refused)


def test_who_is_signed_in_is_not_sent_to_sign_in_because_the_house_is_away(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit.table()
    browser = Browser.of(kit, Role.DEALER, TerminalKind.TABLE, "T1")
    assert browser.open("tables/T1").status_code == 200
    away(monkeypatch)
    for path in ("", "tables/T1", "work", "hands/T1-000001"):
        answer = browser.open(path)
        assert answer.status_code == 503 and "Location" not in answer.headers, path
        assert "The house does not answer" in answer.text and "database_unavailable" in answer.text
        assert f'href="/console/{path}"' in answer.text, "the way on leads to the page that was wanted"
    part = browser.http.get("/console/tables/T1/part", headers={"HX-Request": "true", "X-Unattended": "1"})
    assert part.status_code == 503 and "HX-Redirect" not in part.headers
    monkeypatch.undo()
    assert browser.open("tables/T1").status_code == 200


def test_a_players_device_says_it_too(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    kit.table()
    key = kit.seated(stacks=(5_000, 5_000)).ok("seats/1/key")["key"]
    device = Browser.new(kit)
    device.http.cookies.set(cookies.SEAT, key, domain="localhost.local")
    away(monkeypatch)
    for path in ("seat", "seat/hands", "seat/rules"):
        assert "The house does not answer" in device.open(path).text, path
    monkeypatch.undo()
    assert device.open("seat/hands").status_code == 200, "the key was not forgotten"


def read_only(kit: Kit) -> None:
    """Bring back a backup of the audit trail from before the last checkpoint outside."""
    kit.sequence()
    note(kit, "house", 3)
    rows = backup(kit)
    note(kit, "house", 2)
    kit.sequence()
    restore(kit, rows)


def test_a_read_only_house_says_what_to_stop_and_what_it_has_not_recorded(kit: Kit) -> None:
    kit.worked_hand()
    kit.settle()
    browser = Browser.of(kit, Role.FLOOR, TerminalKind.TABLE, "T1")
    read_only(kit)
    page = browser.open("tables/T1")
    assert page.status_code == 200, "what is not noted in the trail can be read"
    token = _TOKEN.search(page.text)[1]  # type: ignore[index]
    headers = {"Content-Type": "application/json", "X-CSRFToken": token, "Idempotency-Key": "k", "If-Match": '"1"'}
    done = browser.http.post("/console/do/tables/T1/close", content="{}", headers=headers)
    assert (done.status_code, done.json()["code"], done.headers["X-Read-Only"]) == (503, "log_rolled_back", "1")
    browser.open("work/closeTable", table="T1")
    form = browser.submit("work/closeTable", {"table": "T1", "version": "1"})
    assert (form.status_code, form.headers["X-Read-Only"]) == (503, "1")
    noted = browser.open("hands/T1-000001")
    assert noted.status_code == 503 and "The house is read-only" in noted.text and "Stop at every table" in noted.text
    assert "outside: epoch 1, size" in noted.text and "database: epoch 1, size" in noted.text
