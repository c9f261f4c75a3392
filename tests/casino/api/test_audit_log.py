"""The log over HTTP: the holder of a receipt can check it with only hashes and the key."""

import base64
import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import urlencode

import pytest

from casino.audit.models import Event
from casino.audit.verifier import (
    Frontier,
    command,
    leaf_hash,
    parse_note,
    split_notes,
    verify_consistency,
    verify_inclusion,
    verify_note,
)
from casino.staff.models import Role
from tests.casino.described import assert_described
from tests.casino.kit import Desk, Kit
from tests.casino.logs import note, notes_outside


@pytest.fixture
def auditor(kit: Kit) -> Desk:
    """An auditor in the office of a house whose log has been begun."""
    kit.table()
    kit.sequence()
    return kit.office()


def inclusion(desk: Desk, **asked: object) -> dict:
    """The proof of an event, checked against its checkpoint."""
    answer = desk.http.get("/api/v1/audit/proofs/inclusion", params=asked)
    assert answer.status_code == 200, answer.text
    proof: dict = answer.json()
    path = [bytes.fromhex(node) for node in proof["path"]]
    root = verify_note(proof["checkpoint"], desk.get("audit/key").text.strip()).root
    assert verify_inclusion(bytes.fromhex(proof["hash"]), proof["leaf_index"], proof["size"], path, root)
    return proof


def test_a_dealer_checks_the_receipt_of_an_action(kit: Kit, auditor: Desk) -> None:
    dealer = kit.dealer()
    receipt = dealer.ok("open")["audit"]
    asked = {"chain": receipt["chain"], "seq": receipt["seq"]}
    early = dealer.http.get("/api/v1/audit/proofs/inclusion", params=asked)
    assert (early.status_code, early.json()["code"]) == (409, "not_in_the_log_yet")
    kit.sequence()
    office = Desk(dealer.http, "/api/v1")
    proof = inclusion(office, **asked)
    assert proof["hash"] == receipt["hash"]
    assert (proof["chain"], proof["seq"], proof["epoch"]) == (receipt["chain"], receipt["seq"], 1)


def test_the_holder_of_a_receipt_proves_it_without_an_account(
    kit: Kit, auditor: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    older = kit.sequence().size
    receipt = kit.dealer().ok("open")["audit"]
    anybody, address = kit.http(None), f"/api/v1/receipts/{receipt['hash']}"
    early = anybody.get(address)
    assert (early.status_code, early.json()["code"]) == (409, "not_in_the_log_yet")
    size = kit.sequence().size
    note(kit, "house", 3)
    assert kit.sequence().size > size
    key, file = auditor.get("audit/key").text.strip(), tmp_path / "receipt.json"
    for query, expected in (("", size + 3), (f"?size={size}", size)):
        answer = anybody.get(address + query)
        assert answer.status_code == 200, answer.text
        assert_described(answer)
        assert answer.json()["size"] == expected and receipt["chain"] not in answer.text
        file.write_bytes(answer.content)
        assert command.main(["receipt", str(file), "--key", key, "--hash", receipt["hash"]]) == 0
        assert f"proved: the event of hash {receipt['hash']}" in capsys.readouterr().out
    for wrong, status, code in (
        (f"{address}?size={older}", 409, "not_in_the_log_yet"),
        (f"{address}?size=999999", 404, "not_found"),
        (f"{address}?size=0", 400, "invalid_parameter"),
        (f"{address}?chain=table/T1", 400, "invalid_parameter"),
        (f"/api/v1/receipts/{'0' * 64}", 404, "not_found"),
        (f"/api/v1/receipts/{receipt['hash'].upper()}", 404, "not_found"),
        (f"/api/v1/receipts/{receipt['hash'][:-2]}", 404, "not_found"),
    ):
        refused = anybody.get(wrong)
        assert (refused.status_code, refused.json()["code"]) == (status, code), wrong


def test_every_event_has_its_proof_at_every_checkpoint(kit: Kit, auditor: Desk) -> None:
    sizes = []
    for more in (1, 2, 3):
        note(kit, "house", more)
        sizes.append(kit.sequence().size)
    for chain, seq, payload in Event.objects.filter(chain__house=kit.house).values_list(
        "chain__name", "seq", "payload"
    ):
        for size in sizes:
            answer = auditor.http.get(
                "/api/v1/audit/proofs/inclusion", params={"chain": chain, "seq": seq, "size": size}
            )
            if answer.status_code == 409:
                assert answer.json()["code"] == "not_in_the_log_yet" and size < sizes[-1]
                continue
            proof = inclusion(auditor, chain=chain, seq=seq, size=size)
            assert (proof["size"], proof["hash"]) == (size, leaf_hash(payload.encode()).hex())


def test_the_log_has_only_grown(kit: Kit, auditor: Desk) -> None:
    sizes = [parse_note(auditor.get("audit/checkpoint").text).checkpoint.size]
    for events in (1, 5, 300):
        note(kit, "house", events)
        sizes.append(kit.sequence().size)
    key = auditor.get("audit/key").text.strip()
    for old in sizes:
        for new in sizes:
            if old > new:
                continue
            proof = auditor.http.get(
                "/api/v1/audit/proofs/consistency", params={"from_size": old, "to_size": new}
            ).json()
            before, after = verify_note(proof["from_checkpoint"], key), verify_note(proof["to_checkpoint"], key)
            assert (before.size, after.size, proof["from_size"], proof["to_size"]) == (old, new, old, new)
            path = [bytes.fromhex(node) for node in proof["path"]]
            assert verify_consistency(old, new, path, before.root, after.root)
    newest = auditor.http.get("/api/v1/audit/proofs/consistency", params={"from_size": sizes[0]}).json()
    assert newest["to_size"] == sizes[-1]


def test_checkpoints_are_what_stands_outside(kit: Kit, auditor: Desk) -> None:
    note(kit, "house", 1)
    size = kit.sequence().size
    answer = auditor.get("audit/checkpoints")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    notes = split_notes(answer.text)
    assert notes == notes_outside(kit) and len(notes) == 2
    assert auditor.get("audit/checkpoint").text == notes[-1]
    assert auditor.get(f"audit/checkpoint?size={size}&epoch=1").text == notes[-1]
    lines = notes[-1].split("\n")
    assert lines[1] == str(size) and len(base64.b64decode(lines[2])) == 32


def test_the_export_gives_the_root(kit: Kit, auditor: Desk) -> None:
    note(kit, "house", 2_500)
    checkpoint = kit.sequence()
    note(kit, "house", 1)
    answer = auditor.get("audit/export")
    assert answer.headers["Content-Type"] == "application/jsonl; charset=utf-8"
    assert (answer.headers["Log-Epoch"], answer.headers["Log-Size"]) == ("1", str(checkpoint.size))
    lines = answer.content.split(b"\n")
    assert lines.pop() == b""
    tree = Frontier()
    tree.extend([leaf_hash(line) for line in lines])
    assert (tree.size, tree.root()) == (checkpoint.size, checkpoint.root)


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("audit/checkpoint?size=1000000", 404, "not_found"),
        ("audit/checkpoint?epoch=2", 404, "not_found"),
        ("audit/checkpoint?size=x", 400, "invalid_parameter"),
        ("audit/checkpoint?other=1", 400, "invalid_parameter"),
        ("audit/key?epoch=2", 404, "not_found"),
        ("audit/checkpoints?size=1", 400, "invalid_parameter"),
        ("audit/export?epoch=0", 400, "invalid_parameter"),
        ("audit/proofs/inclusion", 400, "invalid_parameter"),
        ("audit/proofs/inclusion?chain=table/T1", 400, "invalid_parameter"),
        ("audit/proofs/inclusion?seq=1", 400, "invalid_parameter"),
        ("audit/proofs/inclusion?chain=table/T1&seq=0", 400, "invalid_parameter"),
        ("audit/proofs/inclusion?chain=table/T1&seq=1000", 404, "not_found"),
        ("audit/proofs/inclusion?chain=table/T9&seq=1", 404, "not_found"),
        ("audit/proofs/inclusion?chain=table/T1&seq=1&size=999999", 404, "not_found"),
        ("audit/proofs/consistency", 400, "invalid_parameter"),
        ("audit/proofs/consistency?from_size=999999", 404, "not_found"),
        ("audit/proofs/consistency?from_size=5&to_size=2", 400, "invalid_parameter"),
    ],
)
def test_what_does_not_exist_or_fit_is_refused(auditor: Desk, path: str, status: int, code: str) -> None:
    answer = auditor.get(path)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text


def test_a_house_without_a_log_yet_says_so(kit: Kit) -> None:
    auditor = kit.office()
    for path in ("audit/checkpoint", "audit/key", "audit/export"):
        assert auditor.get(path).status_code == 404
    assert auditor.get("audit/checkpoints").text == ""


def test_nobody_proves_another_houses_events(kit: Kit, auditor: Desk) -> None:
    other = Kit.found()
    other.sequence()
    stranger = other.office(Role.AUDITOR)
    asked = {"chain": f"house/{kit.house.code}", "seq": 1}
    assert stranger.http.get("/api/v1/audit/proofs/inclusion", params=asked).status_code == 404
    assert parse_note(stranger.get("audit/checkpoint").text).checkpoint.origin.find(kit.house.code) == -1
    other.close()


def listed(auditor: Desk, **asked: str) -> list[dict]:
    """The events that a list gives, page by page."""
    query, found = {"page_size": "3"} | asked, []
    address = f"/api/v1/audit/events?{urlencode(query)}"
    while address:
        answer = auditor.http.get(address)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        for row in page["results"]:
            assert row["hash"] == leaf_hash(row["payload"].encode()).hex()
            found.append(json.loads(row["payload"]))
        address = page["next"]
    return found


def test_events_are_found_by_kind_actor_and_time(kit: Kit, auditor: Desk) -> None:
    first, second = kit.dealer(), kit.dealer()
    for _ in range(4):
        first.refresh()
        first.ok("open")
        second.refresh()
        second.ok("close")
    every = listed(auditor)
    opened = [event for event in every if event["kind"] == "table.opened"]
    assert len(opened) == 4 and len(every) > 12
    by, other = opened[0]["actor"], next(event["actor"] for event in every if event["kind"] == "table.closed")
    assert listed(auditor, kind="table.opened") == opened
    signed_in, *acts = [event for event in every if event["actor"] == by]
    assert listed(auditor, actor=by) == [signed_in, *acts] and acts == opened
    assert listed(auditor, actor=other, kind="table.opened") == []
    # From a moment on, up to before another; moments of other time zones are the same moments.
    since, until = opened[1]["at"], opened[3]["at"]
    between = [event for event in opened if since <= event["at"] < until]
    assert len(between) == 2
    assert listed(auditor, kind="table.opened", **{"from": since, "until": until}) == between
    shifted = datetime.fromisoformat(since).astimezone(timezone(timedelta(hours=5, minutes=30))).isoformat()
    assert listed(auditor, kind="table.opened", chain="table/T1", **{"from": shifted, "until": until}) == between
    assert listed(auditor, until="0001-01-01T00:00:00Z") == []
    assert listed(auditor, **{"from": "9999-12-31T00:00:00Z"}) == []
    for wrong in (
        "kind=nothing.such",
        "from=yesterday",
        "until=2026-11-21T20:00:00",
        "actor=%00",
        "since=2026-11-21T20:00:00Z",
    ):
        answer = auditor.get(f"audit/events?{wrong}")
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_parameter"), wrong
