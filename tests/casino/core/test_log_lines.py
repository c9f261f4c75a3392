"""Lines of the log: what they are about, JSON, and that no secret and no name is ever in one."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from celery.signals import setup_logging, task_postrun, task_prerun

from casino.core import log_lines, outbox, task_lines
from casino.hands import tasks
from casino.houses.models import OutboxMessage
from casino.staff.models import Role, TerminalKind
from casino.staff.services import enrol_terminal, hire
from tests.casino.console.browser import Browser
from tests.casino.kit import ACTOR, SAMPLE, Kit
from tests.words import as_action

PASSWORD = "seven-of-acorns-19"
WRONG = "eight-of-acorns-20"
ANNA = {"name": "Kovács-Éry Annamária", "born": "1980-02-29", "document": "987654XY", "address": "Ács utca 117."}


@contextmanager
def logged(form: str = "json") -> Iterator[io.StringIO]:
    """What a process writes to stderr at the level of a house, in this form."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(log_lines.FORMATS[form]())
    handler.addFilter(log_lines.Context())
    root, requests = logging.getLogger(), logging.getLogger(log_lines.REQUESTS)
    before = root.level, requests.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    requests.setLevel(log_lines.configuration(form, "INFO")["loggers"][log_lines.REQUESTS]["level"])
    try:
        yield text
    finally:
        root.removeHandler(handler)
        root.setLevel(before[0])
        requests.setLevel(before[1])


def lines(text: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.getvalue().splitlines()]


def of_requests(text: io.StringIO) -> list[dict[str, Any]]:
    return [line for line in lines(text) if line["logger"] == log_lines.REQUESTS]


def test_a_request_is_one_line_with_what_it_is_about(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    with logged() as text:
        dealer.ok("hands", {"mode": "physical", "button": 4}, headers={"X-Request-Id": "evening-1"})
        kit.http(None).get("/no/such/address", headers={"X-Request-Id": "evening-2"})
    dealt, missed = of_requests(text)
    assert dealt.pop("ms") > 0 and dealt.pop("time").endswith("Z") and len(dealt) == 9
    assert dealt == {
        "level": "INFO", "logger": "casino.requests", "message": "answered", "request": "evening-1",
        "house": kit.house.code, "table": "T1", "operation": "dealHand", "method": "POST", "status": 201,
    }  # fmt: skip
    assert (missed["request"], missed["status"]) == ("evening-2", 404)
    assert not {"house", "table", "operation"} & set(missed), "nothing of the request before it is left"
    assert "/no/such" not in text.getvalue()


def test_probes_have_lines_only_where_something_is_wrong(kit: Kit) -> None:
    with logged() as text:
        assert kit.http(None).get("/livez").status_code == 200
        assert kit.http(None).get("/metrics").status_code == 403
    assert [(line["operation"], line["status"]) for line in of_requests(text)] == [("metrics", 403)]


def test_what_goes_wrong_in_a_request_says_in_which(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    from casino.api import house

    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("a Bearer 0123456789abcdef and postgresql://anna:secret-word@host/casino")

    desk = kit.office()
    monkeypatch.setattr(house.HouseDetail, "get", broken)
    with logged() as text:
        assert desk.get("house", **{"X-Request-Id": "broken-1"}).status_code == 500
    found = [line for line in lines(text) if "trace" in line]
    assert found and all(line["request"] == "broken-1" and line["house"] == kit.house.code for line in found)
    assert "ZeroDivisionError" in found[0]["trace"] and "\n" in found[0]["trace"]
    assert "0123456789abcdef" not in text.getvalue() and "secret-word" not in text.getvalue()
    with logged("text") as text:
        assert desk.get("house", **{"X-Request-Id": "broken-2"}).status_code == 500
    assert "[request=broken-2]" in text.getvalue() and "secret-word" not in text.getvalue()
    assert "answered" not in text.getvalue(), "requests have no lines in text"


def test_a_task_names_the_request_that_it_follows(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(outbox.app, "send_task", lambda task, args, **options: sent.append({"args": args, **options}))
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    dealer.act(*SAMPLE[:12])
    body = {"actions": [as_action(line) for line in SAMPLE[12:]]}
    dealer.ok("hand/actions", body, headers={"X-Request-Id": "last-card"})
    assert outbox.HINTS.drain(10)
    message = OutboxMessage.objects.get(house=kit.house)
    [hint] = [one for one in sent if one["args"][1] == message.id]
    assert hint["headers"] == {log_lines.HEADER: "last-card"}
    headers = hint["headers"]
    task = SimpleNamespace(
        name="hands.resolve_hand", request=SimpleNamespace(headers=headers, hostname=None, delivery_info=None)
    )
    log = logging.getLogger("casino.test")
    with logged() as text:
        task_prerun.send(sender=tasks.resolve_hand, task=task, args=hint["args"])
        tasks.resolve_hand(*hint["args"])
        log.info("settled")
        task_postrun.send(sender=tasks.resolve_hand, task=task)
        log.info("after")
    settled, after = (line for line in lines(text) if line["logger"] == "casino.test")
    assert {name: settled[name] for name in ("request", "house", "task", "message_id")} == {
        "request": "last-card", "house": kit.house.code, "task": "hands.resolve_hand", "message_id": str(message.id),
    }  # fmt: skip
    assert not {"request", "house", "task", "message_id"} & set(after)


def test_celery_sets_up_no_handlers_of_its_own() -> None:
    task_lines.connect()
    try:
        assert (task_lines._already_set_up, None) in setup_logging.send(sender=None)
    finally:
        logging.captureWarnings(False)


def test_no_token_password_or_name_is_in_the_log_of_an_evening(kit: Kit) -> None:
    """Sign-ins right and wrong, a person's data, a hand, refusals, screens, addresses that there are not."""
    kit.table()
    login = f"anna@{kit.house.code}"
    hire(house=kit.house, login=login, name=ANNA["name"], roles=[Role.DEALER], password=PASSWORD, actor=ACTOR)
    _, key = enrol_terminal(house=kit.house, code="t-1", kind=TerminalKind.TABLE, location="T1", actor=ACTOR)
    form = {"login": login, "password": PASSWORD, "terminal": "t-1", "terminal_key": key}
    secrets = [PASSWORD, WRONG, key]
    with logged() as text:
        http = kit.http(None)
        token = http.post("/api/v1/sign-in", json=form).json()["token"]
        assert http.post("/api/v1/sign-in", json=form | {"password": WRONG}).status_code == 403
        dealer = kit.seated()
        secrets += [token, *(one.headers["Authorization"].partition(" ")[2] for one in kit.clients
                             if "Authorization" in one.headers)]  # fmt: skip
        cashier = kit.cashier()
        cashier.post("/api/v1/players/T1-u1/person", {"person": ANNA, "reason": "first_record"}, version=1)
        cashier.post("/api/v1/players/T1-u1/person", {"person": ANNA, "why": ANNA["name"]}, version=1)
        cashier.get(f"/api/v1/players/{ANNA['name']}")
        cashier.get(f"/api/v1/hands?player={ANNA['name']}")
        cashier.get(f"/{ANNA['name']}?token={token}")
        kit.http(token).get("/api/v1/session")
        kit.http(f"{token}x").get("/api/v1/session")
        dealer.ok("hands", {"mode": "physical", "button": 4})
        dealer.act(*SAMPLE[:12])
        dealer.act(*SAMPLE[12:])
        kit.settle()
        dealer.refresh()
        seat_key = dealer.ok("seats/1/key")["key"]
        kit.http(None).get("/api/v1/seat", headers={"Authorization": f"Seat {seat_key}"})
        browser = Browser.of(kit, Role.FLOOR)
        browser.open("floor")
        screen = Browser.new(kit)
        screen.open("sign-in")
        screen.http.post("/console/sign-in", data={"login": login, "password": WRONG})
    assert len(of_requests(text)) > 15
    written = text.getvalue().lower()
    secrets += [seat_key, *(str(cookie.value) for cookie in browser.http.cookies.jar if len(str(cookie.value)) > 20)]
    assert len(set(secrets)) > 7
    for secret in (*secrets, *ANNA.values(), *ANNA["name"].split(), login):
        assert secret.lower() not in written, secret


def test_a_message_never_makes_a_second_line() -> None:
    with logged("text") as text:
        logging.getLogger("casino.test").warning("a name: %s", "Anna\r\n2026-01-01 INFO all is well\x1b[2J")
    [line] = text.getvalue().splitlines()
    assert "Anna\\r\\n2026-01-01 INFO all is well\\x1b[2J" in line
    with logged("json") as text:
        logging.getLogger("casino.test").warning("a name: %s", "Anna\nall is well")
    assert len(text.getvalue().splitlines()) == 1
