"""The trials: what goes wrong in a house that is played in, and the commands of the page that put it right."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from casino.audit.zipapp import write_beside
from deploy.demo.client import Terminal
from deploy.embedded.binaries import find_postgres
from deploy.embedded.valkey import Valkey
from tests.casino.superuser import unguarded
from tests.faults.declared.away import FULL, preloaded
from tests.faults.injecting import CLOCK
from tests.faults.scene import Scene
from tests.runbooks.room import Room, Unexpected

#: Seconds by which the database's clock is wrong: fewer than after which people are signed out.
OFF = 60


def disk_full(room: Room) -> None:
    """No file of the database can grow; then there is room again."""
    scene = Scene(room.at, room.play)
    flag = room.at.layout.run / "full"
    with preloaded(scene, FULL, FULL_WHILE=str(flag)):
        room.until_written()
        flag.touch()
        try:
            room.until(lambda: bool(room.play.journal.missed), "a console is answered 503")
            # What the page has before there is room finds out, and frees it.
            room.run(room.command("df"))
        finally:
            flag.unlink()
        room.run(room.command("sudo systemctl start postgresql"))
        room.until_written()
    room.until_written()
    _ended(room)
    found = room.run(room.command("manage.py verify_house"))
    _require(json.loads(found.stdout)["ok"], "verify_house finds something")


def checkpoint_folder_lost(room: Room) -> None:
    """One of two folders loses its files under play; it is filled again from the other one."""
    good, lost = (Path(one) for one in os.environ["CASINO_CHECKPOINT_DIR"].split(os.pathsep))
    [held] = good.glob(f"{room.house}-????????.checkpoints")
    room.meant |= {"LOST": str(lost), "COPY": str(good), "FILE": held.stem}
    shutil.rmtree(lost)
    room.until(lambda: room.says().get("read_only_house_count", 0) > 0, "/readyz counts a house that is read-only")
    room.until(lambda: _sign_in(room) == (503, "outside_checkpoint_missing"), "a sign-in is refused")
    _require(room.writes_nothing(1.0), "a write is accepted without the folder")
    room.run(room.command("sudo install"))
    room.run(room.command("sudo cp"))
    room.until_written()
    room.until(lambda: "read_only_house_count" not in room.says(), "/readyz counts no house that is read-only")
    _ended(room)
    room.until(lambda: (lost / held.name).read_bytes() == held.read_bytes(), "the sequencer adds what the copy lacks")
    room.run(room.command("manage.py verify_audit"))


def wrong_clock(room: Room) -> None:
    """The clock of the database's machine is ahead, and then right again."""
    scene = Scene(room.at, room.play)

    def off() -> bool:
        """Whether the doctor says that a clock is off. It says other things of a trial, too."""
        return "clock_off" in room.run(room.command("manage.py doctor"), codes=(0, 1, 2)).stdout

    with preloaded(scene, CLOCK, CLOCK_OFF=str(OFF)):
        room.until_written()
        _require(off(), "the doctor does not say that the clock is off")
        _ended(room)
        room.until(lambda: _signed(room), "everything is signed")
        room.run(room.command("sudo systemctl stop cukassza.target"))
        last = _last(room)
    _require(last > time.time(), "the last event is not ahead of the true time")
    # The house stays closed for as long as the clock was ahead.
    room.until(lambda: time.time() > last, "the time of the last event is over")
    room.run(room.command("sudo systemctl start cukassza.target"))
    _require(not off(), "the doctor says of a clock that was put right that it is off")
    with Terminal(room.at.root, room.play.credentials.cashier) as cashier:
        cashier.post("players/register", {"player": "after-the-clock"}, version=None)
    room.until(lambda: _signed(room), "everything is signed")
    _require(json.loads(room.run(room.command("manage.py verify_house")).stdout)["ok"], "verify_house finds something")


def broker_lost(room: Room) -> None:
    """The broker dies with all that it has; one that is empty takes its place."""
    server = Valkey(room.at.layout)
    server.stop()
    shutil.rmtree(room.at.layout.valkey)
    room.until(lambda: "broker_unreachable" in room.failed(), "/readyz says broker_unreachable")
    room.until_written()
    room.run(room.command("sudo systemctl restart valkey-server"))
    before = len(room.play.journal.settled)
    room.until(lambda: len(room.play.journal.settled) > before, "a hand is settled")
    _ended(room)
    _require(json.loads(room.run(room.command("manage.py verify_house")).stdout)["ok"], "verify_house finds something")


def suspected_tampering(room: Room) -> None:
    """Somebody with the rights of the database's owner has turned guards off, and changed what was bought in."""
    outside = Path(os.environ["CASINO_CHECKPOINT_DIR"].split(os.pathsep)[0])
    room.until_written()
    _ended(room)
    room.until(lambda: _signed(room), "everything is signed")
    good = _bought_in(room)
    _tamper(room)
    changed = _bought_in(room)
    _require(changed != good, "nothing was changed")
    copy = room.folder / "copy"
    room.meant |= {"CHECKPOINTS": str(outside), "COPY": str(copy), "EXPORT": str(room.folder / "export")}
    [held] = outside.glob(f"{room.house}-????????.checkpoints")
    room.meant["FILE"] = held.stem
    write_beside(room.folder / "export")
    room.run(room.command("sudo cp"))
    found = json.loads(room.run(room.command("manage.py verify_audit"), codes=(1,)).stdout)
    codes = {one["code"] for one in found["findings"]}
    _require(bool(codes), "verify_audit finds nothing")
    house = json.loads(room.run(room.command("manage.py verify_house"), codes=(1,)).stdout)
    _require(not house["ok"], "verify_house finds nothing")
    room.run(room.command("manage.py export_audit"))
    said = room.run(room.command("python3 -I verify.pyz"), codes=(1,)).stdout
    _require(any(code in said for code in codes), f"verify.pyz does not say {codes}")
    _require(_bought_in(room) == changed, "the commands have changed what they were to leave")
    room.run(room.command("sudo systemctl stop"))
    room.at.processes.start()


def new_hardware(room: Room) -> None:
    """The house moves to another server of PostgreSQL, and loses nothing."""
    outside = Path(os.environ["CASINO_CHECKPOINT_DIR"].split(os.pathsep)[0])
    room.until_written()
    _ended(room)
    before = _events(room)
    old = {
        "PGHOST": str(room.at.layout.run),
        "PGUSER": "casino",
        "PGPASSWORD": _password(room.at.urls.database_owner_url),
    }
    room.meant["/var/lib/postgresql"] = str(room.folder)
    room.environ = old
    room.run(room.command("sudo systemctl stop"))
    for begin in ("sudo -u postgres pg_dumpall", "sudo -u postgres pg_dump "):
        room.run(room.command(begin))
    copy = room.copied(outside, "copy")
    [held] = copy.glob(f"{room.house}-????????.checkpoints")
    room.meant |= {"COPY": str(copy), "FILE": held.stem}
    with _server(room) as socket:
        room.environ = {"PGHOST": str(socket), "PGUSER": "postgres"}
        for begin in ("psql", "createdb", "pg_restore"):
            room.run(room.command(f"sudo -u postgres {begin}"))
        room.environ = _urls(room, socket)
        environ = room.at.processes.environ
        room.at.processes.environ = dict(environ) | room.environ
        try:
            room.run(room.command("sudo systemctl start"))
            _require("read_only_house_count" not in room.says(), "the house is read-only after the move")
            with Terminal(room.at.root, room.play.credentials.cashier) as cashier:
                cashier.post("players/register", {"player": "after-the-move"}, version=None)
            verified = json.loads(room.run(room.command("manage.py verify_house")).stdout)
            _require(verified["ok"] and verified["event_count"] > before, "verify_house finds something, or too little")
            room.run(room.command("manage.py verify_audit"))
        finally:
            room.at.processes.stop()
            room.at.processes.environ = environ
            room.at.processes.start()


# --- Parts ------------------------------------------------------------------------------------------------------------


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise Unexpected(what)


def _ended(room: Room) -> None:
    """Nobody plays any more. Raises what a console could not repeat."""
    room.play.end()


def _sign_in(room: Room) -> tuple[int, str]:
    """Status and code of what somebody gets who signs in, asked once."""
    login = room.play.credentials.auditor
    form = {name: getattr(login, name) for name in ("login", "password", "terminal", "terminal_key")}
    answer = httpx.post(f"{room.at.root}/api/v1/sign-in", json=form, timeout=30)
    return answer.status_code, str(answer.json().get("code", ""))


def _owner(room: Room, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with room.at.database() as connection:
        cursor = connection.execute(statement.encode(), parameters)
        return cursor.fetchall() if cursor.description else []


def _events(room: Room) -> int:
    house = "SELECT count(*) FROM audit_event JOIN houses_house house ON house.id = house_id WHERE house.code = %s"
    [(count,)] = _owner(room, house, room.house)
    return int(count)


def _last(room: Room) -> float:
    """When the last event of all was written, says the database; seconds since 1970."""
    [(at,)] = _owner(room, "SELECT max(extract(epoch FROM (doc ->> 'at')::timestamptz))::float8 FROM audit_event")
    return float(at)


def _signed(room: Room) -> bool:
    [(waiting,)] = _owner(
        room, "SELECT count(*) FROM audit_event event JOIN houses_house house ON house.id = event.house_id "
        "WHERE house.code = %s AND NOT EXISTS (SELECT FROM audit_leaf WHERE event_id = event.id)", room.house,
    )  # fmt: skip
    return int(waiting) == 0


#: The oldest buy-in of a house.
_BUY_IN = """
(SELECT min(event.id) FROM audit_event event JOIN houses_house house ON house.id = event.house_id
 WHERE house.code = %s AND event.doc ->> 'kind' = 'cage.buy_in')
"""


def _tamper(room: Room) -> None:
    """Another person has sold it, says an event that is signed: its guards are off meanwhile, and then on again."""
    with unguarded("audit_event") as cursor:
        other = """replace(payload, '"actor":"', '"actor":"x')"""
        cursor.execute(f"UPDATE audit_event SET payload = {other} WHERE id = {_BUY_IN}", [room.house])


def _bought_in(room: Room) -> list[tuple[Any, ...]]:
    return _owner(room, f"SELECT id, payload FROM audit_event WHERE id = {_BUY_IN}", room.house)


def _password(url: str) -> str:
    return url.partition("://")[2].partition("@")[0].partition(":")[2]


def _urls(room: Room, socket: Path) -> dict[str, str]:
    """The addresses of the installation, on another server."""
    names = ("DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_SEQUENCER_URL")
    place = str(socket).replace("/", "%2F")
    return {name: f"{os.environ[name].partition('@')[0]}@{place}/casino" for name in names}


@contextmanager
def _server(room: Room) -> Iterator[Path]:
    """A new PostgreSQL, empty; its socket's folder. Its administrator needs no password here, everybody else does."""
    postgres, account = find_postgres().bin, room.at.layout.account
    data, socket = room.folder / "new", Path(f"/tmp/runbooks-{secrets.token_hex(4)}")
    socket.mkdir(mode=0o700)

    def run(name: str, *options: str) -> None:
        done = account.run([str(postgres / name), *options])
        _require(done.returncode == 0, f"{name}: {done.stderr[-500:]}")

    run("initdb", "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
    (data / "pg_hba.conf").write_text("local all postgres trust\nlocal all all scram-sha-256\n", encoding="ascii")
    options = f"-c listen_addresses='' -c unix_socket_directories={socket}"
    run("pg_ctl", "-w", "-s", "-D", str(data), "-l", str(room.folder / "new.log"), "-o", options, "start")
    try:
        yield socket
    finally:
        account.run([str(postgres / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop"])
        shutil.rmtree(socket)


#: By heading of the page.
ALL: dict[str, Callable[[Room], None]] = {
    "Disk full": disk_full,
    "Wrong clock": wrong_clock,
    "Checkpoint folder lost": checkpoint_folder_lost,
    "Broker lost": broker_lost,
    "Suspected tampering": suspected_tampering,
    "New hardware": new_hardware,
}
