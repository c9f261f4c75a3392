"""The configuration file: every setting can stand in it, and what cannot be used is refused by file and key."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from pathlib import Path

import pytest

from casino.configuration import Configuration, as_environ, declared, read, read_one
from casino.core import key_sources, setting_sources
from casino.core.setting_sources import (
    FileUnreadable,
    GivenTwice,
    NotSet,
    SecretShown,
    SettingRefused,
    UnknownSetting,
    WrongSetting,
)
from casino.reference.settings_page import render_example

ROOT = Path(__file__).resolve().parents[2]
URL = "postgresql://casino_app:hush@db/casino"
Written = Callable[..., dict[str, str]]


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    """A folder with the files of the secrets that are required."""
    folder = tmp_path / "secrets"
    folder.mkdir()
    texts = {"database_url": URL, "redis_url": "redis://:hush@broker/0", "secret_key": "hush", "seal_key": "0a" * 32}
    for name, text in texts.items():
        (folder / name).write_text(f"{text}\n")
        (folder / name).chmod(0o400)
    return folder


@pytest.fixture
def written(tmp_path: Path, secrets: Path) -> Written:
    """Writes a file with the required secrets and these further keys; returns the environment that names it."""

    def write(**keys: str) -> dict[str, str]:
        required = {
            "database.url_file": f'"{secrets}/database_url"',
            "broker.url_file": f'"{secrets}/redis_url"',
            "keys.secret_key_file": f'"{secrets}/secret_key"',
            "keys.seal_key_file": f'"{secrets}/seal_key"',
        }
        lines = [f"{key} = {value}" for key, value in (required | keys).items() if value]
        (tmp_path / "cukassza.toml").write_text("\n".join(lines))
        return {"CASINO_CONFIG": str(tmp_path / "cukassza.toml")}

    return write


def refused(environ: Mapping[str, str], kind: type[SettingRefused], words: str) -> str:
    """The message of a refusal, which has these words and no secret."""
    with pytest.raises(kind, match=words) as found:
        read(environ)
    assert "hush" not in str(found.value)
    return str(found.value)


def test_the_file_alone_is_enough(written: Written, secrets: Path) -> None:
    values = read(written(**{
        "database.lock_timeout": "3", "database.prepared_statements": "false", "house.retention_days": "30",
        "web.allowed_hosts": '["a.example", "b.example"]', "checkpoints.folders": '["/a", "/b"]',
        "metrics.from": '["10.0.0.0/24"]', "web.proxy": '"127.0.0.1"',
    }))  # fmt: skip
    assert values.database_url == URL and values.redis_url == "redis://:hush@broker/0"
    assert (values.lock_timeout, values.prepared_statements, values.retention_days) == (3.0, False, 30)
    assert values.allowed_hosts == ("a.example", "b.example")
    assert values.checkpoint_dirs == (Path("/a"), Path("/b"))
    assert (values.metrics_from, values.proxy) == (("10.0.0.0/24",), "127.0.0.1")
    source = key_sources.parse(values.seal_key)
    assert isinstance(source, key_sources.KeyBytes) and source.read() == bytes.fromhex("0a" * 32)


def test_the_environment_counts_more_than_the_file(written: Written, secrets: Path) -> None:
    environ = written(**{"database.lock_timeout": "3", "logging.level": '"DEBUG"'})
    assert read(environ | {"CASINO_LOCK_TIMEOUT": "4"}).lock_timeout == 4.0
    assert read(environ | {"CASINO_LOCK_TIMEOUT": ""}).lock_timeout == 3.0, "empty counts as not set"
    assert read(environ | {"CASINO_LOG_LEVEL": "ERROR"}).log_level == "ERROR"
    (secrets / "other").write_text("postgresql://other@db/casino")
    assert read(environ | {"DATABASE_URL_FILE": str(secrets / "other")}).database_url == "postgresql://other@db/casino"


def test_a_credential_counts_more_than_the_file_and_less_than_a_variable(
    written: Written, secrets: Path, tmp_path: Path
) -> None:
    """As systemd and containers give secrets to one process; an access list shows as a right of the group."""
    given = tmp_path / "credentials"
    given.mkdir()
    for name, text in (("database_url", "postgresql://unit@db/casino\n"), ("log_key", "0b" * 32), ("redis_url", "")):
        (given / name).write_text(text)
        (given / name).chmod(0o440)
    environ = written() | {"CREDENTIALS_DIRECTORY": str(given)}
    values = read(environ)
    assert values.database_url == "postgresql://unit@db/casino"
    assert values.redis_url == "redis://:hush@broker/0", "an empty credential counts as none"
    source = key_sources.parse(values.log_key)
    assert isinstance(source, key_sources.KeyBytes) and source.read() == bytes.fromhex("0b" * 32)
    assert read(environ | {"DATABASE_URL": URL}).database_url == URL
    (given / "log_key").chmod(0o444)
    with pytest.raises(key_sources.KeyUnavailable, match="counts as known"):
        source.read()


@pytest.mark.parametrize(
    ("keys", "kind", "words"),
    [
        ({"database.lock_timout": "3"}, UnknownSetting, r"lock_timout is not a setting; did you mean database\.lock"),
        ({"databse.lock_timeout": "3"}, UnknownSetting, r"\[databse\] is not a section; did you mean \[database\]\?"),
        ({"lock_timeout": "3"}, UnknownSetting, r"\[lock_timeout\] is not a section\. Known are: .*\[web\]"),
        ({"web.url": '"x"'}, UnknownSetting, r"web\.url is not a setting"),
        ({"web.address_file": '"x"'}, UnknownSetting, r"did you mean web\.address\?"),
        ({"database.lock_timeout": '"3"'}, WrongSetting, r"database\.lock_timeout: expected a number, got '3'"),
        ({"database.lock_timeout": "true"}, WrongSetting, "expected a number, got True"),
        ({"database.lock_timeout": "99"}, WrongSetting, "expected seconds, from 0.05 to 15, got 99"),
        ({"web.debug": "1"}, WrongSetting, r"web\.debug: expected true or false, got 1"),
        ({"house.retention_days": "0.5"}, WrongSetting, "expected a whole number, got 0.5"),
        ({"house.retention_days": "0"}, WrongSetting, "whole number of days, 1 or more, got 0"),
        ({"web.allowed_hosts": '"a,b"'}, WrongSetting, "expected a list of strings, got 'a,b'"),
        ({"web.allowed_hosts": '["a,b"]'}, WrongSetting, "none of them empty or with ','"),
        ({"web.allowed_hosts": "[1]"}, WrongSetting, "expected a list of strings"),
        ({"logging": '"json"'}, UnknownSetting, r"\[logging\] is not a section"),
        ({"logging.level": '"info"'}, WrongSetting, "expected one of DEBUG, INFO"),
        ({"web.proxy": '"nginx"'}, WrongSetting, r"an address such as 127\.0\.0\.1, got 'nginx'"),
        ({"database.url": '"postgresql://x:hush@db/casino"'}, SecretShown, r"database\.url is a secret.*url_file"),
        ({"keys.secret_key": '"hush"'}, SecretShown, "keys.secret_key_file with the path"),
        ({"keys.log_key": f'"hex:{"0b" * 32}"'}, SecretShown, "credential log_key"),
        ({"keys.log_key": '"vault:hush"'}, WrongSetting, r"keys\.log_key: expected file:PATH"),
        ({"keys.seal_key": '"command:x"'}, GivenTwice, r"keys\.seal_key and keys\.seal_key_file are both set"),
        ({"database.url_file": "3"}, WrongSetting, r"database\.url_file: expected a string, the path of a file, got 3"),
        ({"database.url_file": '"/no/such"'}, FileUnreadable, "url_file: /no/such cannot be read: No such file"),
        ({"database.url_file": '"/dev/null"'}, FileUnreadable, "/dev/null is no regular file"),
        ({"database.url_file": ""}, NotSet, r"DATABASE_URL is not set, nor is database\.url_file in .*toml"),
    ],
)
def test_what_cannot_be_used_is_refused_by_file_and_key(
    written: Written, tmp_path: Path, keys: dict[str, str], kind: type[SettingRefused], words: str
) -> None:
    message = refused(written(**keys), kind, words)
    assert str(tmp_path / "cukassza.toml") in message


def test_a_wrong_value_is_refused_also_where_the_environment_has_another_one(written: Written) -> None:
    environ = written(**{"logging.level": '"loud"'})
    refused(environ | {"CASINO_LOG_LEVEL": "INFO"}, WrongSetting, "expected one of")


def test_a_secret_that_is_wrong_is_not_shown(written: Written, secrets: Path) -> None:
    (secrets / "database_url").chmod(0o600)
    (secrets / "database_url").write_text("mysql://hush@db/casino")
    refused(written(), WrongSetting, r"database\.url_file: expected the URL of a PostgreSQL database")
    (secrets / "database_url").write_text("\n")
    refused(written(), WrongSetting, "is empty")


def test_the_environment_names_a_secret_once_and_with_known_names(written: Written, secrets: Path) -> None:
    environ = written()
    both = {"DATABASE_URL": URL, "DATABASE_URL_FILE": str(secrets / "database_url")}
    refused(environ | both, GivenTwice, "DATABASE_URL and DATABASE_URL_FILE are both set")
    refused(environ | {"CASINO_ADDRESS_FILE": "x"}, UnknownSetting, "CASINO_ADDRESS_FILE is not a setting; did you")
    refused(environ | {"CASINO_SECRET_KEY_FIEL": "x"}, UnknownSetting, "did you mean CASINO_SECRET_KEY_FILE")


def test_a_file_that_is_named_must_be_there_and_be_toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused({"CASINO_CONFIG": str(tmp_path / "none")}, FileUnreadable, "CASINO_CONFIG: .*none is not there")
    (tmp_path / "broken").write_text("[database\n")
    refused({"CASINO_CONFIG": str(tmp_path / "broken")}, FileUnreadable, "broken is no TOML: .*line 1")
    monkeypatch.setattr(setting_sources, "DEFAULT_FILE", tmp_path / "none")
    refused({}, NotSet, "nor is database.url_file in a configuration file")
    monkeypatch.setattr(setting_sources, "DEFAULT_FILE", tmp_path / "broken")
    refused({}, FileUnreadable, "broken is no TOML")
    refused({"CASINO_CONFIG": "/dev/null"}, NotSet, "DATABASE_URL is not set")


def test_the_same_settings_as_an_environment(written: Written, secrets: Path) -> None:
    """For a program that gives some of them to another one."""
    environ = written(**{"web.debug": "true", "web.allowed_hosts": '["a", "b"]', "database.lock_timeout": "0.5"})
    environ |= {"HOME": "/home", "DATABASE_OWNER_URL_FILE": str(secrets / "database_url")}
    made = as_environ(environ)
    assert read(made) == read(environ)
    assert made["CASINO_CONFIG"] == "/dev/null" and made["HOME"] == "/home"
    assert (made["CASINO_DEBUG"], made["CASINO_ALLOWED_HOSTS"], made["DATABASE_OWNER_URL"]) == ("1", "a,b", URL)
    assert "DATABASE_OWNER_URL_FILE" not in made


def test_one_setting_is_read_without_the_secrets_of_others(written: Written) -> None:
    environ = written(**{"database.url_file": '"/no/such"', "backups.records": '"/var/records"'})
    assert read_one("backup_records", environ) == "/var/records"


# -- the example ------------------------------------------------------------------------------------------------------


def example(tmp_path: Path, secrets: Path, *, whole: bool) -> Configuration:
    """What a process reads from the example; `whole`: with everything that is commented out."""
    text = render_example().replace("/etc/cukassza/secrets", str(secrets))
    if whole:
        text = re.sub(r"^# (\w+ = )", r"\1", text, flags=re.MULTILINE)
    (tmp_path / "example.toml").write_text(text)
    return read({"CASINO_CONFIG": str(tmp_path / "example.toml")})


def test_the_example_can_be_read_as_it_is_and_sets_little(tmp_path: Path, secrets: Path) -> None:
    values = example(tmp_path, secrets, whole=False)
    assert (values.allowed_hosts, values.proxy) == (("house.example",), "127.0.0.1")
    there = tomllib.loads(render_example())
    assert sum(len(table) for table in there.values()) <= 13
    assert list(there) == list(dict.fromkeys(one.section for one in declared()))


def test_the_example_has_every_setting_at_its_default(tmp_path: Path, secrets: Path) -> None:
    for name in ("database_owner_url", "database_sequencer_url", "celery_broker_url", "database_direct_url", "secret_key_old", "seal_key_old", "log_key", "log_key_old"):  # fmt: skip # noqa: E501
        (secrets / name).write_text((secrets / "database_url").read_text())
    values = example(tmp_path, secrets, whole=True)
    for one in declared():
        if one.default is not MISSING and not one.example and not one.secret:
            assert getattr(values, one.field) == one.default, one.key


def test_names_are_clear_and_declared_once() -> None:
    settings = declared()
    names = [one.key for one in settings] + [one.file_key for one in settings if one.secret]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+\.[a-z_]+", one.key) for one in settings)
    sections = [one.section for one in settings]
    assert sections == sorted(sections, key=sections.index), "a section stands in one place"
    assert all(one.secret for one in settings if one.private or one.kind.is_key)


# -- processes --------------------------------------------------------------------------------------------------------


def test_a_process_refuses_to_start_in_one_line(written: Written) -> None:
    environ = {"PATH": os.environ["PATH"], **written(**{"web.adress": '"https://a.example"'})}
    done = subprocess.run(
        [sys.executable, "manage.py", "doctor"], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("manage.py: ") and line.endswith("web.adress is not a setting; did you mean web.address?")
