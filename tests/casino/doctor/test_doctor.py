"""`manage.py doctor`: every fault of an installation that it is for has a finding of its own."""

import io
import json
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, connections

import casino
from casino.core import heartbeat, release
from casino.doctor import backups, database, given, keys, outside, surroundings, transport
from casino.doctor.findings import Finding, Level
from casino.houses import sealing
from deploy.backups import records
from tests.casino.kit import Kit

pytestmark = pytest.mark.usefixtures("live_db")


def examined(*arguments: str) -> tuple[int, str]:
    """How the command exits, and what it prints."""
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", *arguments, stdout=out)
    assert isinstance(ended.value.code, int)
    return ended.value.code, out.getvalue()


def codes(found: Iterator[Finding], least: Level = Level.NOTE) -> set[str]:
    """The codes of what is not as it should be."""
    order = list(Level)
    return {one.code for one in found if order.index(one.level) >= order.index(least)}


def test_a_finding_is_a_line_with_what_to_do_and_the_worst_one_decides(kit: Kit) -> None:
    # The tests' database does not wait for the disk.
    code, text = examined(kit.house.code)
    assert code == 2
    assert "[not_durable]" in text and "synchronous_commit = off, expected on or remote_apply" in text
    assert text.splitlines()[-1].endswith(" failure")
    code, text = examined(kit.house.code, "--json")
    found = json.loads(text)
    assert {"part", "level", "code", "words", "remedy"} == set(found[0])
    assert all(one["remedy"] for one in found if one["level"] in ("warning", "failure"))
    assert [one for one in found if one["words"] == f"the log of house {kit.house.code} fits its checkpoints"]


def test_a_server_that_keeps_what_it_said_is_well() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = on")
    assert "not_durable" not in codes(database.server())
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = remote_write")
    assert "not_durable" in codes(database.server(), Level.FAILURE)


def test_a_login_that_could_be_more_than_its_role_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT session_user <> current_user")
        [(is_owner,)] = cursor.fetchall()
    assert ("login_too_mighty" in codes(database.logins(), Level.WARNING)) == is_owner
    # Another role than the URL says is a failure.
    monkeypatch.setitem(database._ALIASES, "default", ("DATABASE_URL", "casino_sequencer"))
    assert "wrong_role" in codes(database.logins(), Level.FAILURE)


def test_a_database_that_is_away_is_said_once_for_each_part(monkeypatch: pytest.MonkeyPatch, kit: Kit) -> None:
    class Away:
        def __getitem__(self, alias: str) -> Any:
            from django.db import OperationalError

            raise OperationalError("connection refused")

    monkeypatch.setattr(database, "connections", Away())
    assert codes(database.server()) == codes(database.logins(), Level.WARNING) == {"database_unreachable"}
    assert connections is not database.connections


def test_another_seal_key_is_found_before_anything_is_sealed(kit: Kit, settings: Any) -> None:
    assert codes(keys.seal(kit.house.code)) == set()
    settings.CASINO_SEAL_KEY = f"hex:{'5a' * 32}"
    try:
        [found] = keys.seal(kit.house.code)
        assert (found.level, found.code) == (Level.FAILURE, "seal_key_differs")
        assert kit.house.code in found.words
        settings.CASINO_SEAL_KEY = "file:/no/such/key"
        assert codes(keys.seal(kit.house.code)) == {"seal_key_unavailable"}
    finally:
        sealing.forget()


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("x" * 49, {"secret_key_weak"}),
        ("ab" * 40, {"secret_key_weak"}),
        ("django-insecure" + "qwertz" * 9, {"secret_key_weak"}),
        ("qwertz" * 9, set()),
    ],
)
def test_a_weak_signing_key_is_refused(settings: Any, key: str, found: set[str]) -> None:
    settings.SECRET_KEY = key
    assert codes(keys.secret_key()) == found


def test_the_log_key_is_examined_where_it_is(settings: Any) -> None:
    settings.CASINO_LOG_KEY = ""
    assert codes(keys.log()) == {"no_log_key"}
    settings.CASINO_LOG_KEY = "file:/no/such/key"
    assert codes(keys.log()) == {"log_key_unavailable"}
    settings.CASINO_LOG_KEY = f"hex:{'17' * 32}"
    assert codes(keys.log()) == set()


def test_folders_of_checkpoints_are_looked_at_one_by_one(tmp_path: Path, settings: Any) -> None:
    good, missing, opened = tmp_path / "good", tmp_path / "missing", tmp_path / "opened"
    good.mkdir()
    opened.mkdir()
    opened.chmod(stat.S_IRWXU | stat.S_IRWXO)
    settings.CASINO_CHECKPOINT_DIRS = [good, missing, opened]
    assert codes(outside.folders()) == {"folder_missing", "folder_open", "one_disk"}


def test_little_room_for_checkpoints_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside.shutil, "disk_usage", lambda _: SimpleNamespace(free=5 << 20))
    assert "folder_full" in codes(outside.folders(), Level.WARNING)


def test_a_witness_that_does_not_answer_is_named(settings: Any) -> None:
    settings.CASINO_WITNESSES = []
    assert codes(outside.witnesses()) == {"no_witness"}
    settings.CASINO_WITNESSES = ["http://127.0.0.1:1#w+00000000+AAAA"]
    assert codes(outside.witnesses()) == {"witness_wrong"}


def test_destinations_are_read_as_schedules_read_them(kit: Kit, tmp_path: Path, settings: Any) -> None:
    file = tmp_path / "destinations.toml"
    settings.CASINO_DESTINATIONS = str(file)
    assert codes(outside.files(kit.house.code)) == {"destination_wrong"}
    file.write_text(f'[archive]\nkind = "folder"\npath = "{tmp_path / "archive"}"\n')
    assert codes(outside.files(kit.house.code)) == {"destination_missing"}
    (tmp_path / "archive").mkdir()
    assert codes(outside.files(kit.house.code)) == set()
    hook = f'{file.read_text()}[scanner]\nkind = "webhook"\nsecret_file = "{tmp_path / "key"}"\nurl = "http'
    file.write_text(f'{hook}://scanner.example/"\n')
    assert codes(outside.files(kit.house.code)) == {"destination_wrong"}
    file.write_text(f'{hook}s://scanner.example/"\n')
    (tmp_path / "key").write_text("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
    assert codes(outside.files(kit.house.code)) == set()


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("DEBUG", True, "debug"),
        ("ALLOWED_HOSTS", ["*"], "any_host"),
        ("ALLOWED_HOSTS", ["127.0.0.1"], "loopback_only"),
        ("CASINO_CORS_ORIGINS", ("http://a.example",), "insecure_origin"),
        ("CASINO_LOCK_TIMEOUT", 1e6, "lock_timeout"),
        ("CASINO_STREAMS_SOCKET", "/no/such/folder/s", "no_streams"),
    ],
)
def test_settings_that_no_house_should_have(settings: Any, name: str, value: Any, code: str) -> None:
    settings.ALLOWED_HOSTS = ["house.example"]
    setattr(settings, name, value)
    assert code in codes(surroundings.web())


@pytest.mark.parametrize(
    ("token", "mode", "code"),
    [
        (None, 0, "metrics_token_unreadable"),
        ("short", 0o600, "metrics_token_short"),
        ("x" * 30, 0o604, "metrics_token_open"),
        ("x" * 30, 0o600, None),
    ],
)
def test_a_token_of_the_metrics_that_is_none(
    settings: Any, tmp_path: Path, token: str | None, mode: int, code: str | None
) -> None:
    settings.CASINO_METRICS_TOKEN_FILE = tmp_path / "token"
    if token is not None:
        (tmp_path / "token").write_text(token)
        (tmp_path / "token").chmod(mode)
    found = {one for one in codes(surroundings.web()) if one.startswith("metrics_token")}
    assert found == ({code} if code else set())


@pytest.mark.parametrize("whose", ["_of_database", "_of_broker"])
@pytest.mark.parametrize(("off", "wrong"), [(0.0, False), (0.9, False), (-90.0, True), (90.0, True)])
def test_a_clock_that_is_off_is_a_failure(monkeypatch: pytest.MonkeyPatch, whose: str, off: float, wrong: bool) -> None:
    real: Callable[[], float] = getattr(surroundings, whose)
    monkeypatch.setattr(surroundings, whose, lambda: real() + off)
    assert ("clock_off" in codes(surroundings.clocks(), Level.FAILURE)) == wrong


def test_a_broker_that_throws_messages_away_is_a_warning() -> None:
    assert codes(surroundings.broker()) == set()
    with heartbeat.broker() as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        try:
            assert codes(surroundings.broker()) == {"broker_evicts"}
        finally:
            client.config_set("maxmemory-policy", "noeviction")


def test_a_broker_that_is_away_is_a_failure(settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert codes(surroundings.broker(), Level.FAILURE) == {"broker_unreachable"}
    assert "clock_unknown" in codes(surroundings.clocks())


def test_what_stays_on_the_machine_needs_no_encryption() -> None:
    assert codes(transport.ways()) == set()


@pytest.mark.parametrize(
    ("name", "value", "well"),
    [
        ("REDIS_URL", "redis://broker.example:6379/0", False),
        ("REDIS_URL", "rediss://broker.example:6379/0", True),
        ("CASINO_WITNESSES", ["http://witness.example#w+00000000+AAAA"], False),
        ("CASINO_WITNESSES", ["https://witness.example#w+00000000+AAAA"], True),
        ("CASINO_TIMESTAMP_URL", "http://stamps.example", False),
        ("CASINO_TIMESTAMP_URL", "http://127.0.0.1:3161", True),
    ],
)
def test_what_leaves_the_machine_in_the_clear_is_named(settings: Any, name: str, value: Any, well: bool) -> None:
    setattr(settings, name, value)
    assert codes(transport.ways(), Level.WARNING) == (set() if well else {"not_encrypted"})


@pytest.mark.parametrize(("mode", "well"), [(None, False), ("require", False), ("verify-full", True)])
def test_a_database_elsewhere_has_to_prove_itself(
    monkeypatch: pytest.MonkeyPatch, settings: Any, mode: str | None, well: bool
) -> None:
    options = settings.DATABASES["default"]["OPTIONS"] | ({"sslmode": mode} if mode else {})
    there = settings.DATABASES["default"] | {"HOST": "127.0.0.1,db.example", "OPTIONS": options}
    monkeypatch.setitem(settings.DATABASES, "default", there)
    found = [one for one in transport.ways() if one.level == Level.WARNING]
    assert [one.code for one in found] == ([] if well else ["not_encrypted"])
    assert all("db.example" in one.words and "verify-full" in one.remedy for one in found)


def noted_backups(folder: Path, *, backup: float, drill: float, problems: list[str]) -> None:
    """Records of this age in seconds, as `python -m deploy.backups` writes them."""
    now = time.time()
    records.keep(folder, records.BACKUP, {"repositories": {"1": {"good_at": now - backup}}})
    records.keep(folder, records.DRILL, {"good_at": now - drill, "ok": not problems, "problems": problems})


@pytest.mark.parametrize(
    ("backup", "drill", "problems", "wanted"),
    [
        (3600, 86400, [], set()),
        (27 * 3600, 86400, [], {"backup_old"}),
        (3600, 9 * 86400, [], {"restore_drill_old"}),
        (3600, 86400, ["no house in it"], {"restore_drill_failed"}),
    ],
)
def test_backups_that_are_old_or_no_good_are_warnings(
    settings: Any, tmp_path: Path, backup: float, drill: float, problems: list[str], wanted: set[str]
) -> None:
    settings.CASINO_BACKUP_RECORDS = tmp_path
    noted_backups(tmp_path, backup=backup, drill=drill, problems=problems)
    assert codes(backups.backups()) == wanted
    assert all("no house in it" in one.words for one in backups.backups() if one.code == "restore_drill_failed")


def test_of_backups_that_are_not_noted_nothing_is_known(settings: Any, tmp_path: Path) -> None:
    settings.CASINO_BACKUP_RECORDS = None
    assert codes(backups.backups()) == {"no_backup_records"}
    settings.CASINO_BACKUP_RECORDS = tmp_path
    assert codes(backups.backups()) == {"backup_old", "restore_drill_old"}
    (tmp_path / "backup.json").write_text("[]")
    assert codes(backups.backups()) == {"backup_records_unreadable"}


def test_before_an_upgrade_no_rows_are_read_as_the_new_version_has_them(
    kit: Kit, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(release, "migrations", lambda: frozenset({("houses", "0002_here")}))
    monkeypatch.setattr(keys, "seal", lambda house: pytest.fail("houses are read"))
    with pytest.raises(SystemExit):
        call_command("doctor", "--json")
    assert "migrations_missing" in {one["code"] for one in json.loads(capsys.readouterr().out)}


def test_the_release_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("release")
    call_command("release", "--version-only")
    own = casino.__version__
    assert capsys.readouterr().out == f"{own}, after {release.own().before}\n{own}\n"


# -- the configuration file -------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration file that this process has read, and the file of a secret beside it."""
    path, secret = tmp_path / "cukassza.toml", tmp_path / "redis_url"
    secret.write_text("redis://broker/0")
    secret.chmod(0o400)
    path.write_text(f'[broker]\nurl_file = "{secret}"\n[web]\npasskey_host = "a.example"\n')
    path.chmod(0o644)
    monkeypatch.setenv("CASINO_CONFIG", str(path))
    monkeypatch.delenv("REDIS_URL")
    return path


def test_the_configuration_file_is_named_and_nobody_else_may_write_it(file: Path) -> None:
    found = list(given.file())
    assert {one.level for one in found} == {Level.OK}
    assert f"settings come from {file}" in [one.words for one in found]
    file.chmod(0o664)
    assert codes(given.file()) == {"file_open"}
    assert codes(given.file(), Level.FAILURE) == {"file_open"}


def test_a_secret_that_others_may_open_is_found(file: Path) -> None:
    secret = file.with_name("redis_url")
    for mode, found in ((0o440, set()), (0o444, {"secret_open"}), (0o620, {"secret_open"}), (0o400, set())):
        secret.chmod(mode)
        assert codes(given.file(), Level.FAILURE) == found, oct(mode)


def test_keys_that_the_environment_overrides_are_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASINO_PASSKEY_HOST", "b.example")
    monkeypatch.setenv("REDIS_URL", "redis://other/0")
    [found] = [one for one in given.file() if one.code == "overridden"]
    assert found.level is Level.NOTE
    assert "broker.url (REDIS_URL), web.passkey_host (CASINO_PASSKEY_HOST)" in found.words


def test_what_one_process_alone_may_know_is_not_in_the_file_of_all(file: Path) -> None:
    file.write_text('[keys]\nlog_key_file = "/etc/cukassza/log_key"\n')
    assert "private_for_all" in codes(given.file(), Level.WARNING)


def test_an_installation_without_a_file_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASINO_CONFIG", "")
    monkeypatch.setattr("casino.core.setting_sources.DEFAULT_FILE", Path("/no/such/file"))
    assert codes(given.file()) == {"no_file"}
