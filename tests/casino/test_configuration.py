"""Settings: one declaration for variables and file, and nothing that is wrong or unknown goes by unnoticed."""

import ast
from dataclasses import MISSING
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from casino import configuration
from casino.configuration import declared, read

ROOT = Path(__file__).resolve().parents[2]
GIVEN = {
    "DATABASE_URL": "postgresql://casino_app:hush@db/casino",
    "REDIS_URL": "redis://:hush@broker/0",
    "CASINO_SECRET_KEY": "hush",
    "CASINO_SEAL_KEY": f"hex:{'0a' * 32}",
}


def test_what_is_required_is_enough_and_the_rest_has_its_default() -> None:
    values = read(GIVEN)
    assert values.database_url == GIVEN["DATABASE_URL"]
    assert values.retention_days == 2922
    assert values.allowed_hosts == ("127.0.0.1", "localhost", "[::1]")
    assert (values.debug, values.log_level, values.log_key) == (False, "INFO", "")
    assert GIVEN.keys() == {one.name for one in declared() if one.default is MISSING}


def test_values_are_typed() -> None:
    given = {
        "CASINO_RETENTION_DAYS": "30",
        "CASINO_DEBUG": "1",
        "CASINO_CHECKPOINT_DIR": "a:b",
        "CASINO_ALLOWED_HOSTS": "x,y",
    }
    values = read(GIVEN | given)
    assert values.retention_days == 30
    assert values.debug is True
    assert values.checkpoint_dirs == (Path("a"), Path("b"))
    assert values.allowed_hosts == ("x", "y")


@pytest.mark.parametrize("name", sorted(GIVEN))
@pytest.mark.parametrize("value", [None, ""])
def test_a_required_variable_that_is_missing_or_empty_is_refused(name: str, value: str | None) -> None:
    given = {key: text for key, text in GIVEN.items() if key != name} | ({} if value is None else {name: value})
    with pytest.raises(ImproperlyConfigured, match=f"^{name} is not set"):
        read(given)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("CASINO_RETENTION_DAYS", "eight years", "whole number of days"),
        ("CASINO_RETENTION_DAYS", "0", "1 or more"),
        ("CASINO_RETENTION_DAYS", "-1", "1 or more"),
        ("CASINO_RETENTION_DAYS", "\u0663", "whole number of days"),
        ("CASINO_DEBUG", "true", "0 or 1"),
        ("CASINO_LOG_LEVEL", "info", "DEBUG, INFO"),
        ("CASINO_CHECKPOINT_DIR", ":", "names no folder"),
        ("CASINO_SEAL_KEY", f"hex:{'0a' * 31}", "64 hex digits"),
        ("CASINO_SEAL_KEY", f"hex:{'zz' * 32}", "64 hex digits"),
        ("CASINO_SEAL_KEY", "0a" * 32, "file:PATH"),
        ("CASINO_LOG_KEY", "vault:short", "64 hex digits"),
        ("DATABASE_URL", "mysql://hush@db/casino", "PostgreSQL"),
        ("DATABASE_OWNER_URL", "sqlite:///hush", "PostgreSQL"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_with_what_was_expected(name: str, value: str, expected: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"^{name}: .*{expected}") as refused:
        read(GIVEN | {name: value})
    secret = next(one.secret for one in declared() if one.name == name)
    assert (value in str(refused.value)) != secret


def test_an_unknown_variable_with_the_prefix_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ImproperlyConfigured, match=r"CASINO_CHECKPOINT_DIRS .*did you mean CASINO_CHECKPOINT_DIR\?"):
        read(GIVEN | {"CASINO_CHECKPOINT_DIRS": "a"})
    with pytest.raises(ImproperlyConfigured, match=r"CASINO_UNHEARD_OF is not a setting.*CASINO_APP_ROLE"):
        read(GIVEN | {"CASINO_UNHEARD_OF": "a"})
    assert read(GIVEN | {"CASINO_VAR": "elsewhere", "HOME": "/home"}) == read(GIVEN)


def test_no_secret_is_printed_with_the_values() -> None:
    assert "hush" not in repr(read(GIVEN))
    assert GIVEN["CASINO_SEAL_KEY"] not in repr(read(GIVEN))


def test_no_other_module_of_the_house_reads_the_environment() -> None:
    """`settings.py` passes it on whole; the entry points name the settings module; a
    program that holds a key inherits it without the settings."""
    entries = {
        "settings.py": {"read"},
        "celery.py": {"setdefault"},
        "asgi.py": {"setdefault"},
        "wsgi.py": {"setdefault"},
        "key_sources.py": {"items", "Popen"},
        # It is given one.
        "setting_sources.py": {"get"},
    }
    met: dict[str, set[str]] = {}
    for path in sorted((ROOT / "casino").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Attribute) and "'environ'" in ast.dump(node):
                met.setdefault(path.name, set()).add(called.attr)
            assert not (isinstance(node, ast.Attribute) and node.attr == "getenv"), path
    met.pop(Path(configuration.__file__).name)
    assert met == entries


POOLED = {
    "CASINO_POOLER": "transaction",
    "DATABASE_URL": "postgresql://casino_app:hush@127.0.0.1:6432/casino",
    "DATABASE_DIRECT_URL": "postgresql://casino_app:hush@db/casino",
}


def test_behind_a_pooler_the_application_has_a_login_of_its_own_and_a_way_past_it() -> None:
    values = read(GIVEN | POOLED)
    assert (values.pooler, values.database_direct_url) == ("transaction", POOLED["DATABASE_DIRECT_URL"])
    owned = {"DATABASE_OWNER_URL": "postgresql://casino:hush@db/casino"}
    assert read(GIVEN | POOLED | owned).database_owner_url == owned["DATABASE_OWNER_URL"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"CASINO_POOLER": "session"}, "CASINO_POOLER: expected transaction"),
        ({"DATABASE_URL": "postgresql://casino:hush@127.0.0.1:6432/casino"}, "login of DATABASE_URL is not casino_app"),
        ({"CASINO_APP_ROLE": "house"}, "login of DATABASE_URL is not house"),
        ({"DATABASE_URL": POOLED["DATABASE_URL"] + "?options=-c%20role%3Dx"}, "DATABASE_URL has options"),
        ({"DATABASE_DIRECT_URL": ""}, "DATABASE_DIRECT_URL is not set"),
        ({"DATABASE_DIRECT_URL": POOLED["DATABASE_URL"]}, "DATABASE_DIRECT_URL leads to the pooler"),
        ({"DATABASE_OWNER_URL": "postgresql://casino:hush@127.0.0.1:6432/x"}, "DATABASE_OWNER_URL leads to the pooler"),
        (
            {"DATABASE_SEQUENCER_URL": "postgresql://s:hush@/casino?host=127.0.0.1&port=6432"},
            "DATABASE_SEQUENCER_URL leads to the pooler",
        ),
    ],
)
def test_what_is_not_safe_behind_a_pooler_starts_nothing(given: dict[str, str], expected: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=expected) as refused:
        read(GIVEN | POOLED | given)
    assert "hush" not in str(refused.value)
