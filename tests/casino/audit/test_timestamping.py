"""Checkpoints stamped by a real time-stamp authority over HTTP: asked by the worker's task, kept, exported, checked."""

import base64
import json
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.db.utils import DatabaseError
from django.utils import timezone
from rfc3161_client import HashAlgorithm, TimestampRequestBuilder

from casino.audit import tasks, timestamping, verifier
from casino.audit.models import SignedCheckpoint, TimeStamp
from casino.audit.timestamping import Authority, stamp
from casino.audit.verifier.timestamps import named_by
from casino.configuration import read
from casino.verification.auditing import verify_house
from casino.verification.exporting import export_house
from tests.casino.kit import Kit
from tests.casino.logs import note
from tests.casino.superuser import unguarded
from tests.casino.test_configuration import GIVEN
from tests.casino.time_authority import TimeAuthority, needs_openssl, served, verified_by_openssl

pytestmark = needs_openssl
AT_ONCE, HOUR = timedelta(0), timedelta(hours=1)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> TimeAuthority:
    """An authority with a root of its own."""
    return TimeAuthority(tmp_path_factory.mktemp("authorities") / "good")


@pytest.fixture
def trusting(authority: TimeAuthority, settings: Any) -> None:
    """The house's settings trust the authority's root."""
    settings.CASINO_TIMESTAMP_CERTIFICATES = str(authority.root)


@pytest.fixture
def asked(authority: TimeAuthority, trusting: None) -> Iterator[Authority]:
    """The authority over HTTP, as the house's settings name it."""
    with served(lambda query: (200, authority.answer(query))) as url:
        yield Authority(url, timestamping.trusted())


def newest(kit: Kit) -> SignedCheckpoint:
    """The newest checkpoint of the house."""
    found = SignedCheckpoint.objects.filter(house=kit.house).order_by("-size").first()
    assert found is not None
    return found


def grown(kit: Kit) -> SignedCheckpoint:
    """The log with an event more, and its checkpoint."""
    note(kit, "house", 1)
    kit.sequence()
    return newest(kit)


def codes(report: verifier.Report) -> list[tuple[str, str]]:
    """Codes and places of what was found."""
    return [(one.code, one.place) for one in report.findings]


def place(checkpoint: SignedCheckpoint) -> str:
    """What findings call a checkpoint's time stamp."""
    return f"time stamp of epoch {checkpoint.epoch} over {checkpoint.size} leaves"


# --- Taking them ----------------------------------------------------------------------------------------------------


def test_the_newest_checkpoint_is_stamped_once_and_again_after_the_interval(
    kit: Kit, asked: Authority, authority: TimeAuthority, tmp_path: Path
) -> None:
    assert not stamp(kit.house, asked, AT_ONCE), "there is no checkpoint yet"
    first = grown(kit)
    assert stamp(kit.house, asked, HOUR)
    assert not stamp(kit.house, asked, AT_ONCE), "nothing new to stamp"
    second = grown(kit)
    assert not stamp(kit.house, asked, HOUR)
    assert stamp(kit.house, asked, AT_ONCE)
    kept = list(TimeStamp.objects.filter(house=kit.house).order_by("size"))
    assert [(one.epoch, one.size) for one in kept] == [(1, first.size), (1, second.size)]
    for one, checkpoint in zip(kept, (first, second), strict=True):
        assert abs(one.at - checkpoint.at) < timedelta(minutes=1)
        assert verified_by_openssl(tmp_path, checkpoint.note, bytes(one.response), authority.root)
        assert not verified_by_openssl(tmp_path, f"{checkpoint.note}\n", bytes(one.response), authority.root)


def test_an_answer_that_is_no_time_stamp_of_the_checkpoint_is_not_kept(
    kit: Kit, asked: Authority, authority: TimeAuthority, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    checkpoint = grown(kit)
    stranger = TimeAuthority(tmp_path / "stranger")
    only_sha512 = TimeAuthority(tmp_path / "sha512", digests="sha512")

    def request(text: str, algorithm: HashAlgorithm = HashAlgorithm.SHA256) -> bytes:
        return TimestampRequestBuilder().data(text.encode()).hash_algorithm(algorithm).build().as_bytes()

    answers = {
        "of another text": lambda query: (200, authority.answer(request("something else"))),
        "of another request": lambda query: (200, authority.answer(request(checkpoint.note))),
        "by another hash": lambda query: (200, authority.answer(request(checkpoint.note, HashAlgorithm.SHA512))),
        "under another root": lambda query: (200, stranger.answer(query)),
        "refused": lambda query: (200, only_sha512.answer(query)),
        "altered": lambda query: (200, authority.answer(query)[:-9] + bytes(9)),
        "cut": lambda query: (200, authority.answer(query)[:-1]),
        "no DER": lambda query: (200, b"<html>"),
        "nothing": lambda query: (200, b""),
        "too long": lambda query: (200, bytes(timestamping.LARGEST + 1)),
        "an error": lambda query: (500, authority.answer(query)),
    }
    for name, answer in answers.items():
        caplog.clear()
        with served(answer) as url:
            assert not stamp(kit.house, Authority(url, asked.certificates), AT_ONCE), name
        assert "has not stamped" in caplog.text, name
    away = Authority("http://127.0.0.1:9/tsa", asked.certificates)
    assert not stamp(kit.house, away, AT_ONCE)
    assert not TimeStamp.objects.filter(house=kit.house).exists()
    assert stamp(kit.house, asked, HOUR), "the next time it is made good"


def test_an_authority_whose_clock_is_not_ours_is_not_believed(
    kit: Kit, asked: Authority, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    grown(kit)
    now = timezone.now

    class Later:
        """A clock two minutes ahead."""

        @staticmethod
        def now() -> datetime:
            return now() + timedelta(minutes=2)

    monkeypatch.setattr(timestamping, "timezone", Later)
    assert not stamp(kit.house, asked, AT_ONCE) and "its clock says" in caplog.text


def test_the_task_asks_the_authority_of_the_settings(kit: Kit, asked: Authority, settings: Any) -> None:
    grown(kit)
    settings.CASINO_TIMESTAMP_URL = asked.url
    assert tasks.take_timestamp(str(kit.house.id))
    assert not tasks.take_timestamp(str(kit.house.id))


def test_settings_that_are_not_whole_stop_the_task(kit: Kit, asked: Authority, settings: Any, tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match="set together"):
        tasks.take_timestamp(str(kit.house.id))
    settings.CASINO_TIMESTAMP_URL = asked.url
    (tmp_path / "empty.pem").write_text("no certificate")
    for path in ("", str(tmp_path / "empty.pem"), str(tmp_path / "none.pem")):
        settings.CASINO_TIMESTAMP_CERTIFICATES = path
        with pytest.raises(ImproperlyConfigured, match="CASINO_TIMESTAMP_CERTIFICATES"):
            tasks.take_timestamp(str(kit.house.id))
    for name, value in (
        ("CASINO_TIMESTAMP_URL", "tsa.example"),
        ("CASINO_TIMESTAMP_INTERVAL", "9"),
        ("CASINO_TIMESTAMP_INTERVAL", "an hour"),
    ):
        with pytest.raises(ImproperlyConfigured, match=name):
            read(GIVEN | {name: value})


def test_time_stamps_are_only_added(kit: Kit, asked: Authority) -> None:
    grown(kit)
    assert stamp(kit.house, asked, AT_ONCE)
    for statement in ("UPDATE audit_timestamp SET size = 1", "DELETE FROM audit_timestamp"):
        with pytest.raises(DatabaseError), connection.cursor() as cursor:
            cursor.execute(statement)


# --- Verifying them -------------------------------------------------------------------------------------------------


@pytest.fixture
def stamped(kit: Kit, asked: Authority) -> Kit:
    """A house with two time stamps."""
    for _ in range(2):
        grown(kit)
        assert stamp(kit.house, asked, AT_ONCE)
    return kit


def changed(kit: Kit, change: str, *values: object) -> list[tuple[str, str]]:
    """What live verification finds after the newest time stamp was changed."""
    [size] = TimeStamp.objects.filter(house=kit.house).order_by("-size").values_list("size", flat=True)[:1]
    with unguarded("audit_timestamp") as cursor:
        where = "WHERE house_id = %s AND size = %s"
        cursor.execute(f"UPDATE audit_timestamp SET {change} {where}", [*values, kit.house.id, size])
    return codes(verify_house(kit.house))


def test_verification_counts_time_stamps_and_finds_nothing(stamped: Kit) -> None:
    report = verify_house(stamped.house)
    assert codes(report) == []
    said = f"time stamps of checkpoints: 2, the newest over {newest(stamped).size} leaves of epoch 1"
    assert said in report.notices


def test_a_signature_that_is_altered_is_found(stamped: Kit) -> None:
    wrong = "response = overlay(response placing '\\x0000' from length(response) - 4)"
    assert changed(stamped, wrong) == [("timestamp_wrong", place(newest(stamped)))]


def test_a_time_stamp_of_another_checkpoint_is_found(stamped: Kit) -> None:
    other = TimeStamp.objects.filter(house=stamped.house).order_by("size")[0]
    found = changed(stamped, "response = %s, at = %s", bytes(other.response), other.at)
    assert found == [("timestamp_wrong", place(newest(stamped)))]


def test_a_time_beside_the_authoritys_is_found(stamped: Kit) -> None:
    assert changed(stamped, "at = at - interval '1 hour'") == [("timestamp_wrong", place(newest(stamped)))]


def test_a_time_stamp_of_no_checkpoint_is_found(stamped: Kit) -> None:
    [(code, where)] = changed(stamped, "size = size + 1000")
    assert (code, where) == ("timestamp_wrong", f"time stamp of epoch 1 over {newest(stamped).size + 1000} leaves")


def test_other_certificates_verify_nothing_and_none_say_so(stamped: Kit, settings: Any, tmp_path: Path) -> None:
    settings.CASINO_TIMESTAMP_CERTIFICATES = str(TimeAuthority(tmp_path / "stranger").root)
    assert [code for code, _ in codes(verify_house(stamped.house))] == ["timestamp_wrong"] * 2
    settings.CASINO_TIMESTAMP_CERTIFICATES = ""
    report = verify_house(stamped.house)
    assert codes(report) == [] and any("`openssl ts -verify`" in text for text in report.notices)


# --- Exports --------------------------------------------------------------------------------------------------------


def lines(folder: Path) -> list[dict[str, Any]]:
    """The time stamps of an export."""
    return [json.loads(line) for line in (folder / "timestamps.jsonl").read_text().splitlines()]


def test_an_export_has_them_and_openssl_verifies_each(stamped: Kit, authority: TimeAuthority, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    export_house(stamped.house, folder)
    assert codes(report := verifier.verify_export(folder)) == []
    assert any("time stamps of checkpoints: 2" in text and "`openssl ts -verify`" in text for text in report.notices)
    for row in lines(folder):
        assert row["note"] == SignedCheckpoint.objects.get(house=stamped.house, size=row["size"]).note
        assert verified_by_openssl(tmp_path, row["note"], base64.b64decode(row["response"]), authority.root)


def test_the_commands_of_the_guide_verify_the_newest(
    stamped: Kit, authority: TimeAuthority, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "how-to" / "prove.md").read_text(encoding="utf-8")
    [commands] = [block for block in guide.split("```")[1::2] if "openssl ts -verify" in block]
    export_house(stamped.house, tmp_path / "FOLDER")
    shutil.copy(authority.root, tmp_path / "roots.pem")
    subprocess.run(["bash", "-euc", commands], cwd=tmp_path, check=True)
    assert "Verification: OK" in "".join(capfd.readouterr())
    assert (tmp_path / "note").read_text() == newest(stamped).note


def test_an_export_with_a_time_stamp_that_names_something_else_is_found(stamped: Kit, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    export_house(stamped.house, folder)
    first, second = lines(folder)
    expected = [("timestamp_wrong", place(newest(stamped)))]
    for name, wrong in (
        ("another's response", second | {"response": first["response"]}),
        ("another's note", second | {"note": first["note"]}),
        ("a note that is none", second | {"note": second["note"].replace("\n", "\n\n", 1)}),
        ("another time", second | {"at": first["at"].replace("20", "19", 1)}),
        ("no response", second | {"response": ""}),
    ):
        write(folder, first, wrong)
        assert codes(verifier.verify_export(folder)) == expected, name
    write(folder, first, second | {"epoch": 2})
    assert codes(verifier.verify_export(folder)) == [
        ("timestamp_wrong", f"time stamp of epoch 2 over {second['size']} leaves")
    ]
    for rows in ((second, first), (first, first)):
        write(folder, *rows)
        assert codes(verifier.verify_export(folder)) == [("timestamp_wrong", verifier.stamp_of(rows[1]).place)]


def test_an_export_whose_time_stamps_cannot_be_read_is_not_used(stamped: Kit, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    export_house(stamped.house, folder)
    first, second = lines(folder)
    for wrong in (
        second | {"more": 1}, second | {"size": True}, second | {"response": "x"}, second | {"response": "AAAB="},
        {name: second[name] for name in ("at", "epoch", "note", "response")},
    ):  # fmt: skip
        write(folder, first, wrong)
        with pytest.raises(verifier.Unusable):
            verifier.verify_export(folder)
    (folder / "timestamps.jsonl").write_text(json.dumps(first) + "\n")
    with pytest.raises(verifier.Unusable, match="canonical"):
        verifier.verify_export(folder)
    (folder / "timestamps.jsonl").unlink()
    with pytest.raises(verifier.Unusable, match=r"timestamps\.jsonl"):
        verifier.verify_export(folder)


def write(folder: Path, *rows: dict[str, Any]) -> None:
    """These time stamps and no others."""
    (folder / "timestamps.jsonl").write_text("".join(f"{verifier.json_text(row)}\n" for row in rows))


def test_a_checkpoint_that_says_it_is_later_than_its_time_stamp_is_found(authority: TimeAuthority) -> None:
    seconds = int(datetime(2999, 1, 1, tzinfo=UTC).timestamp())
    lines = (bytes(68), b"time" + seconds.to_bytes(8, "big") + bytes(64))
    signed = "".join(f"\u2014 cukassza/H-0123abcd {base64.b64encode(line).decode()}\n" for line in lines)
    later = f"cukassza/H-0123abcd/1\n7\n{base64.b64encode(bytes(32)).decode()}\n\n{signed}"
    response = authority.answer(
        TimestampRequestBuilder().data(later.encode()).hash_algorithm(HashAlgorithm.SHA256).build().as_bytes()
    )
    _, at = named_by(response)
    report = verifier.Report()
    verifier.judge_timestamps(report, [verifier.Stamp(1, 7, later, response, at)], {later})
    [found] = report.findings
    assert found.code == "timestamp_wrong" and "2999-01-01" in found.problem


def test_no_byte_of_a_response_makes_the_reader_fail(authority: TimeAuthority) -> None:
    asked = TimestampRequestBuilder().data(b"a note").hash_algorithm(HashAlgorithm.SHA256).build()
    response = authority.answer(asked.as_bytes())
    digest, at = named_by(response)
    assert digest == asked.message_imprint.message
    assert abs(datetime.fromisoformat(at) - datetime.now(UTC)) < timedelta(minutes=1)
    start = response.index(digest)
    for index in range(len(response)):
        altered = (response[:index] + bytes([response[index] ^ one]) + response[index + 1 :] for one in (1, 0x20, 0x80))
        for wrong in (response[:index], *altered):
            try:
                found, _ = named_by(wrong)
            except verifier.Unusable:
                continue
            assert (found == digest) == (index not in range(start, start + 32)), "nothing else leads to another hash"
