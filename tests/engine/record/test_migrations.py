"""Records of older versions, shown with versions that are only pretended: so far there is no older one."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from engine.errors import MalformedRecord, UnknownVersion
from engine.record import format as record
from engine.record import migrations
from engine.record.format import format_record, parse_record
from engine.record.replay import replay
from tests.engine.record.test_records import SAMPLE, fields
from tests.engine.test_cli import answers, run


def to_chr_2(old: dict[str, Any]) -> dict[str, Any]:
    """Pretended: what chr/1 called ``button`` is the ``dealer`` since chr/2."""
    return {("dealer" if key == "button" else key): value for key, value in old.items()} | {"v": "chr/2"}


def to_chr_1(old: dict[str, Any]) -> dict[str, Any]:
    """In the pretended chr/0 the log was one text."""
    return old | {"v": "chr/1", "acts": old["acts"].split("; ")}


@pytest.fixture
def older(monkeypatch: pytest.MonkeyPatch) -> str:
    """The sample as chr/0, which can be read."""
    monkeypatch.setattr(migrations, "MIGRATIONS", {"chr/0": to_chr_1})
    found = json.loads(SAMPLE)
    return json.dumps(found | {"v": "chr/0", "acts": "; ".join(found["acts"])})


def test_an_older_record_is_read_as_the_current_one(older: str):
    assert parse_record(older) == parse_record(SAMPLE)
    assert format_record(parse_record(older)) == SAMPLE
    assert replay(parse_record(older)).ok


def test_a_migrated_record_is_checked_as_strictly_as_any(older: str):
    for wrong in ({"extra": 1}, {"dealer": True}, {"carry": -1}):
        with pytest.raises(MalformedRecord):
            parse_record(json.dumps(json.loads(older) | wrong))


def test_a_migration_changes_nothing_in_what_it_is_given(older: str):
    found = json.loads(older)
    before = copy.deepcopy(found)
    migrations.migrated(found)
    assert found == before


def test_a_renamed_key_and_two_steps(older: str, monkeypatch: pytest.MonkeyPatch):
    """The day chr/2 is current, records of chr/1 and of the version before are read, and written as chr/2."""
    for module in (migrations, record):
        monkeypatch.setattr(module, "VERSION", "chr/2")
    monkeypatch.setattr(migrations, "MIGRATIONS", {"chr/0": to_chr_1, "chr/1": to_chr_2})
    newest = SAMPLE.replace("chr/1", "chr/2")
    for line in (older, SAMPLE, newest):
        found = parse_record(line.replace("dealer", "button") if line != newest else line)
        assert format_record(found) == newest
        assert replay(found).ok
    with pytest.raises(MalformedRecord, match="button"):
        parse_record(newest.replace("dealer", "button"))


@pytest.mark.parametrize("version", ["chr/2", "chr/0", "", "CHR/1", "chr/1 ", 1, 1.5, True, ["chr/1"], {"chr/1": 1}])
def test_a_version_that_is_not_known_is_refused_and_named(version: object):
    """Before anything else of the record is judged: a newer version may hold anything."""
    with pytest.raises(UnknownVersion) as refused:
        migrations.migrated(json.loads(SAMPLE) | {"v": version, "extra": 1})
    assert refused.value.code == "unknown_version"
    assert refused.value.expected == {"v": ["chr/1"]}
    assert "chr/1" in refused.value.message


def test_a_record_without_a_version_is_malformed():
    with pytest.raises(MalformedRecord):
        parse_record(fields(v=None))


def test_replay_says_which_version_it_reads():
    done = run("replay", "-", text=SAMPLE.replace("chr/1", "chr/2") + "\n")
    [answer] = answers(done)
    assert done.returncode == 1 and answer["hand"] == "T07-000123"
    assert answer["error"] == {
        "code": "unknown_version",
        "index": None,
        "message": "records are read in chr/1, not 'chr/2'",
    }
