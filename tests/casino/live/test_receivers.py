"""Receivers of webhooks: how the operator describes them, their keys, and answers that are none."""

from __future__ import annotations

import base64
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from casino.core.destinations import NotSent
from casino.live import receivers, webhooks
from casino.staff.models import Role
from tests.casino.kit import Kit
from tests.casino.live.readers import happen
from tests.casino.live.receiver import KEY, Receiving, write
from tests.casino.live.test_webhooks import C1, T1, position, retry_now, send, subscribe

# --- The operator's file --------------------------------------------------------------------------------------------


def test_what_is_subscribed_is_set_up_and_there(kit: Kit, scanner: Receiving) -> None:
    refused = subscribe(kit, T1, status=422, destination="archive")
    assert (refused["code"], refused["choices"]) == ("unknown_destination", ["scanner"])
    assert subscribe(kit, "table/T8", status=404)["code"] == "not_found"
    assert subscribe(kit, "player/*", status=400)["code"] == "invalid_request"
    assert subscribe(kit, status=400)["code"] == "invalid_request"
    for _ in range(webhooks.MOST):
        subscribe(kit, T1, C1, f"house/{kit.house.code}", T1)
    assert subscribe(kit, T1, status=409)["code"] == "too_many_webhooks"
    listed = kit.office(Role.AUDITOR).get("webhooks").json()
    assert listed["destinations"] == ["scanner"] and len(listed["webhooks"]) == webhooks.MOST
    assert listed["webhooks"][0]["chains"] == [T1, C1, f"house/{kit.house.code}"]
    # Nothing is said of where it is, nor of its key.
    assert scanner.url not in str(listed)
    # Schedules send files, and name no webhooks.
    assert kit.office(Role.AUDITOR).get("report-schedules").json()["destinations"] == ["archive"]


def test_a_destination_that_is_not_there_any_more_is_tried_again(
    kit: Kit, scanner: Receiving, settings: Any, tmp_path: Path
) -> None:
    subscribe(kit, T1)
    seq = happen(kit.house, T1, version=5)
    there, settings.CASINO_DESTINATIONS = settings.CASINO_DESTINATIONS, ""
    send()
    assert position(kit, T1).problem == "unknown_destination"
    settings.CASINO_DESTINATIONS = write(tmp_path, scanner, url="http://scanner.example/hints")
    retry_now(kit)
    send()
    assert (position(kit, T1).problem, position(kit, T1).attempts) == ("misconfigured", 2)
    settings.CASINO_DESTINATIONS = write(tmp_path, scanner)
    assert there == settings.CASINO_DESTINATIONS
    retry_now(kit)
    send()
    assert scanner.of(T1) == [seq]


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "http://scanner.example/"}, {"url": "ftp://127.0.0.1/"}, {"url": "https://"},
        {"url": "https://me:secret@scanner.example/"}, {"url": "https://scanner.example/a b"},
        {"url": "https://scanner.example/#a"}, {"timeout": 0}, {"timeout": 60}, {"secret_file": "/nowhere"},
    ],
)  # fmt: skip
def test_a_wrong_description_is_refused(kit: Kit, settings: Any, tmp_path: Path, wrong: dict[str, Any]) -> None:
    settings.CASINO_DESTINATIONS = write(tmp_path, Receiving("https://scanner.example/"), **wrong)
    with pytest.raises(ImproperlyConfigured):
        receivers.named(kit.house.code, "scanner")


@pytest.mark.parametrize("key", ["", "whsec_", "whsec_c2hvcnQ=", base64.b64encode(KEY).decode(), "whsec_&"])
def test_a_key_is_long_and_in_the_form_of_the_standard(kit: Kit, settings: Any, tmp_path: Path, key: str) -> None:
    settings.CASINO_DESTINATIONS = write(tmp_path, Receiving("https://scanner.example/"))
    receivers.named(kit.house.code, "scanner")
    (tmp_path / "key").write_text(key)
    with pytest.raises(ImproperlyConfigured):
        receivers.named(kit.house.code, "scanner")


def test_a_key_is_replaced_while_both_sign(kit: Kit, scanner: Receiving, settings: Any, tmp_path: Path) -> None:
    subscribe(kit, T1)
    new = b"fedcba9876543210fedcba9876543210"
    (tmp_path / "new").write_text(f"whsec_{base64.b64encode(new).decode()}")
    settings.CASINO_DESTINATIONS = write(
        tmp_path, scanner, secret_file=str(tmp_path / "new"), old_secret_file=str(tmp_path / "key")
    )
    happen(kit.house, T1, version=5)
    send()
    [post] = scanner.posts
    assert post.is_signed() and post.is_signed(new)


# --- Answers that are none ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ([b"HTTP/1.1 204 No Content\r\n\r\n"], ""),
        ([b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n", b"\r\nHTTP/1.1 2", b"00 OK\r\n\r\n"], ""),
        ([b"HTTP/1.1 200 OK\r\n\r\n", *[b"x" * 100_000] * 50], ""),
        ([b"SSH-2.0-OpenSSH_9.2\r\n"], "receiver_unreachable"),
        ([b"x" * 100_000], "receiver_unreachable"),
        ([], "receiver_unreachable"),
        ([b"H", b"T", b"T", b"P", *[None] * 40], "receiver_timeout"),
    ],
    ids=["no content", "early hints", "long", "no HTTP", "no line", "nothing", "drop by drop"],
)
def test_an_answer_is_its_status_and_comes_in_time(answer: list[bytes | None], code: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            there, _ = listening.accept()
            with there:
                there.recv(65_536)
                try:
                    for part in answer:
                        there.sendall(part or b"x")
                        time.sleep(0.1)
                except OSError:
                    return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        where = receivers.Receiver(f"http://127.0.0.1:{listening.getsockname()[1]}/", [KEY], 2.0)
        began = time.monotonic()
        try:
            where.send("msg_1", b"{}", began + 2)
            found = ""
        except NotSent as error:
            found = error.code
        assert found == code
        assert time.monotonic() - began < 4
        thread.join(20)


def test_nothing_is_sent_when_the_time_is_over_before_it_begins(scanner: Receiving) -> None:
    where = receivers.Receiver(scanner.url, [KEY], 2.0)
    with pytest.raises(NotSent, match="no answer"):
        where.send("msg_1", b"{}", time.monotonic())
    assert scanner.posts == []
