"""Embedded services: real servers in throw-away folders."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis

from deploy import embedded
from deploy.embedded import account, layout, postgres
from deploy.embedded.errors import Busy, DataMismatch, SocketPathTooLong, VarNotOurs
from deploy.embedded.process import read_pid

NOTHING_GIVEN: dict[str, str] = {}
CHECKOUT = Path(__file__).parents[2]


def command(var: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """`python -m deploy.embedded ...` with only what it needs in the environment."""
    return subprocess.run(
        [sys.executable, "-m", "deploy.embedded", *words],
        env={"PATH": os.environ["PATH"], "CASINO_VAR": str(var), **environ},
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )


def ask(url: str, question: str) -> object:
    """The first value of the first row."""
    with psycopg.connect(url) as connection:
        row = connection.execute(question.encode()).fetchone()
        assert row is not None
        return row[0]


def postmaster(var: Path) -> int:
    pid = read_pid(var / "pg" / "postmaster.pid")
    assert pid is not None
    return pid


@pytest.mark.slow
def test_up_again_and_after_kill_9_keeps_what_was_committed(var: Path) -> None:
    urls = embedded.ensure(environ=NOTHING_GIVEN, var=var)
    with psycopg.connect(urls.database_owner_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    client = redis.Redis.from_url(urls.redis_url)
    client.set("kept", "42")
    client.waitaof(1, 0, 1000)
    first = postmaster(var)

    assert embedded.ensure(environ=NOTHING_GIVEN, var=var) == urls
    assert postmaster(var) == first, "a second `up` starts nothing"

    valkey = read_pid(var / "valkey" / "server.pid")
    assert valkey is not None
    os.kill(first, signal.SIGKILL)
    os.kill(valkey, signal.SIGKILL)
    assert embedded.ensure(environ=NOTHING_GIVEN, var=var) == urls
    assert postmaster(var) != first
    assert ask(urls.database_owner_url, "SELECT answer FROM kept") == 42
    assert client.get("kept") == b"42"
    client.close()


def test_the_database_needs_no_locale_of_the_system(var: Path) -> None:
    """macOS has had C.UTF-8 for a short time only; case and order of letters are the same everywhere."""
    url = embedded.ensure(environ=NOTHING_GIVEN, var=var).database_owner_url
    providers = "SELECT datlocprovider::text || datcollate FROM pg_database WHERE datname = current_database()"
    assert ask(url, providers) == "bC"
    assert ask(url, "SELECT lower('\u00c1RV\u00cdZ') || upper('\u0171')") == "\u00e1rv\u00edz\u0170"
    assert ask(url, "SELECT string_agg(t, '' ORDER BY t) FROM unnest(ARRAY['\u00e1', 'b', 'B', 'a']) t") == "Bab\u00e1"


@pytest.mark.parametrize(("version", "provider"), [("16.9", False), ("17.0", True), ("18beta1", True), ("19", True)])
def test_older_servers_take_the_systems_locale(version: str, provider: bool) -> None:
    options = postgres.locale_options(version)
    assert ("--locale-provider=builtin" in options) == provider
    assert ("--locale=C.UTF-8" in options) != provider


@pytest.mark.slow
def test_pid_file_naming_a_living_stranger_is_stale(var: Path) -> None:
    """After a container restart the pid in the file may belong to any other process of ours."""
    urls = embedded.ensure(environ=NOTHING_GIVEN, var=var)
    pid_file = var / "pg" / "postmaster.pid"
    lines = pid_file.read_text().split("\n")
    embedded.down(var=var)
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]))
    (var / "valkey" / "server.pid").write_text(f"{os.getpid()}\n")

    embedded.down(var=var)  # must not stop the stranger
    embedded.ensure(environ=NOTHING_GIVEN, var=var)
    assert ask(urls.database_url, "SELECT 1") == 1


def test_roles_and_durability(var: Path) -> None:
    urls = embedded.ensure(environ=NOTHING_GIVEN | {"REDIS_URL": "redis://elsewhere"}, var=var)
    rights = "SELECT rolsuper OR rolcreatedb OR rolcreaterole OR rolbypassrls FROM pg_roles WHERE rolname = user"
    assert ask(urls.database_url, "SELECT user::text") == "casino_app"
    assert ask(urls.database_url, rights) is False
    assert ask(urls.database_sequencer_url, "SELECT user::text") == "casino_sequencer"
    assert ask(urls.database_sequencer_url, rights) is False
    assert ask(urls.database_owner_url, "SELECT user::text") == "casino"
    assert ask(urls.database_url, "SHOW synchronous_commit") == "on"
    assert ask(urls.database_url, "SHOW fsync") == "on"
    assert ask(urls.database_url, "SHOW server_encoding") == "UTF8"


def test_every_role_signs_in_with_a_password_of_its_own(var: Path) -> None:
    urls = embedded.ensure(environ=NOTHING_GIVEN, var=var)
    logins = [urls.database_owner_url, urls.database_url, urls.database_sequencer_url]
    passwords = {urlsplit(url).password for url in logins}
    assert len(passwords) == 3
    for url in logins:
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT current_user").fetchone() == (urlsplit(url).username,)
        for wrong in ({"password": "x"}, {"password": ""}, {"password": str(urlsplit(logins[0]).password)[::-1]}):
            with pytest.raises(psycopg.OperationalError, match="password"):
                psycopg.connect(url, **wrong)
    assert not any(password in repr(urls) for password in passwords if password)


def test_folders_and_secrets_are_private(var: Path) -> None:
    urls = embedded.urls(environ=NOTHING_GIVEN, var=var)
    for path in (var, var / "run", var / "secrets"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    keys = sorted((var / "secrets").iterdir())
    roles = ["database_casino", "database_casino_app", "database_casino_sequencer"]
    assert [key.name for key in keys] == [*roles, "log_key", "seal_key", "secret_key"]
    assert all(stat.S_IMODE(key.stat().st_mode) == 0o600 for key in keys)
    for name, source in (("seal_key", urls.seal_key), ("log_key", urls.log_key)):
        assert source == f"file:{var / 'secrets' / name}"
        assert len(bytes.fromhex((var / "secrets" / name).read_text())) == 32
    assert (var / "secrets" / "seal_key").read_text() != (var / "secrets" / "log_key").read_text()
    assert urls.seal_key not in repr(urls)
    assert urls.log_key not in repr(urls)
    assert embedded.urls(environ=NOTHING_GIVEN, var=var) == urls, "made once"


@pytest.mark.slow
def test_command_line_up_status_env_down(var: Path) -> None:
    """Also: two `up` at once, and `env` in a shell that already evaluated it."""
    assert command(var, "status").returncode == 3
    with ThreadPoolExecutor() as pool:
        ups = list(pool.map(lambda _: command(var, "up"), range(2)))
    assert [up.returncode for up in ups] == [0, 0], ups
    assert "running 18" in command(var, "status").stdout

    exports = command(var, "env").stdout
    run = str(var / "run").replace("/", "%2F")
    login = "postgresql://{}:[0-9a-f]{{64}}@" + re.escape(f"{run}/casino")
    assert re.search(f"^export DATABASE_OWNER_URL={login.format('casino')}$", exports, re.MULTILINE)
    assert re.search(f"^export DATABASE_URL={login.format('casino_app')}$", exports, re.MULTILINE)
    assert f"export REDIS_URL=unix://{var}/run/valkey.sock\n" in exports
    assert f"export CELERY_BROKER_URL=redis+socket://{var}/run/valkey.sock\n" in exports
    assert "export CASINO_SECRET_KEY=" in exports
    assert "export CASINO_SEAL_KEY=" in exports
    assert re.search(f"^export DATABASE_SEQUENCER_URL={login.format('casino_sequencer')}$", exports, re.MULTILINE)
    assert f"export CASINO_CHECKPOINT_DIR={var}/checkpoints\n" in exports
    assert "export CASINO_LOG_KEY=" in exports

    assert command(var, "down").returncode == 0
    assert command(var, "down").returncode == 0
    own = dict(line.removeprefix("export ").split("=", 1) for line in exports.splitlines())
    assert command(var, "status", **own).returncode == 3, "our own URLs do not count as given"


@pytest.mark.parametrize(
    ("redis_url", "broker"),
    [
        ("redis://:secret@cache.example:6380/2", "redis://:secret@cache.example:6380/2"),
        ("unix:///srv/valkey.sock", "redis+socket:///srv/valkey.sock"),
        ("unix:///srv/valkey.sock?db=3", "redis+socket:///srv/valkey.sock?virtual_host=3"),
    ],
)
def test_given_servers_win_and_nothing_is_started(var: Path, redis_url: str, broker: str) -> None:
    given = {"DATABASE_URL": "postgresql://me:pw@db.example/house", "REDIS_URL": redis_url}
    urls = embedded.ensure(environ=given, var=var)
    assert urls.database_url == urls.database_owner_url == given["DATABASE_URL"]
    assert urls.redis_url == redis_url
    assert urls.celery_broker_url == broker
    assert not (var / "pg").exists()
    assert not (var / "valkey").exists()


def test_only_the_owner_url_given(var: Path) -> None:
    given = {
        "DATABASE_OWNER_URL": "postgresql://owner@db.example/house",
        "REDIS_URL": "redis://cache.example",
    }
    urls = embedded.urls(environ=given, var=var)
    assert urls.database_url == given["DATABASE_OWNER_URL"]
    assert urls.database_sequencer_url == given["DATABASE_OWNER_URL"], "whose owner becomes the sequencer's role"


@pytest.mark.slow
def test_awkward_folder_gets_short_sockets_elsewhere(var: Path) -> None:
    """Too long for a socket, with a space and a quote: the sockets move, and `remove` finds them again."""
    awkward = var / "it's a folder" / ("deep" * 25)
    urls = embedded.ensure(environ=NOTHING_GIVEN, var=awkward)
    run = Path((awkward / "run.path").read_text().strip())
    assert str(awkward) not in urls.database_url
    assert stat.S_IMODE(run.stat().st_mode) == 0o700
    assert ask(urls.database_url, "SELECT 1") == 1
    assert embedded.urls(environ=NOTHING_GIVEN, var=awkward) == urls
    embedded.remove(var=awkward)
    assert not run.exists()
    assert not awkward.exists()


def test_no_short_folder_at_all(var: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MAX_SOCKET_PATH", 20)
    with pytest.raises(SocketPathTooLong):
        embedded.urls(environ=NOTHING_GIVEN, var=var)
    monkeypatch.undo()


def test_remembered_folder_that_somebody_replaced_is_not_trusted(var: Path) -> None:
    awkward = var / ("deep" * 25)
    first = embedded.urls(environ=NOTHING_GIVEN, var=awkward)
    run = Path((awkward / "run.path").read_text().strip())
    run.chmod(0o755)
    assert embedded.urls(environ=NOTHING_GIVEN, var=awkward) != first
    run.rmdir()
    embedded.remove(var=awkward)


def test_busy_lock_is_a_typed_error(var: Path) -> None:
    with layout.locked(var), pytest.raises(Busy), layout.locked(var, seconds=0.1):
        pass


def test_data_of_another_version_is_not_touched(var: Path) -> None:
    (var / "pg").mkdir(parents=True)
    (var / "pg" / "PG_VERSION").write_text("9\n")
    with pytest.raises(DataMismatch, match="PostgreSQL 9"):
        embedded.ensure(environ=NOTHING_GIVEN, var=var)
    assert sorted(path.name for path in (var / "pg").iterdir()) == ["PG_VERSION"]


def test_expected_problem_is_one_line_and_exit_code_2(var: Path) -> None:
    var.parent.mkdir(exist_ok=True)
    var.write_text("a file, not a folder")
    done = command(var, "up")
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "[var_not_ours]" in done.stderr
    var.unlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder that belongs to somebody else")
def test_folder_of_somebody_else_is_refused(var: Path) -> None:
    var.mkdir()
    os.chown(var, 12345, 12345)
    with pytest.raises(VarNotOurs, match="12345"):
        embedded.urls(environ=NOTHING_GIVEN, var=var)
    os.chown(var, 0, 0)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user needs no other account")
def test_root_without_user_namespaces_runs_as_nobody(var: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "unshare_works", lambda: False)
    urls = embedded.ensure(environ=NOTHING_GIVEN, var=var)
    assert ask(urls.database_url, "SELECT 1") == 1
    home = Path((var / "home.path").read_text().strip())
    pid = read_pid(home / "pg" / "postmaster.pid")
    assert Path(f"/proc/{pid}").stat().st_uid == account.NOBODY
    monkeypatch.undo()
    assert embedded.urls(environ=NOTHING_GIVEN, var=var) == urls, "the choice is remembered"
    embedded.remove(var=var)
    assert not home.exists()


def test_user_without_a_name_is_mapped_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """initdb refuses a uid that has no name, as in `docker run --user 4242`."""
    monkeypatch.setattr(os, "geteuid", lambda: 424242)
    monkeypatch.setattr(account, "unshare_works", lambda: True)
    assert account.choose_account(nobody_before=False) == account.Account(prefix=account.UNSHARE)
    monkeypatch.setattr(os, "geteuid", lambda: account.NOBODY)
    assert account.choose_account(nobody_before=False) == account.Account()


def test_exports_are_quoted() -> None:
    urls = embedded.ServiceUrls("a b", *[""] * 9)
    assert "export DATABASE_OWNER_URL='a b'\n" in urls.as_exports()
    assert replace(urls, database_owner_url="$(x)").as_exports().startswith("export DATABASE_OWNER_URL='$(x)'")
