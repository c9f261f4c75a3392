"""The seal key is rotated: data keys are wrapped again, what they seal stays, and the old key opens nothing."""

import io
import secrets
import shlex
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from casino.audit import resealing
from casino.audit.models import Event, KeyRotation
from casino.audit.resealing import rotate_seal_key
from casino.core import seal_key, sql
from casino.core.aead import decrypt
from casino.core.errors import Conflict, Forbidden, KeyUnavailable, SealedUnreadable, SealKeyRetired, SealKeyWrong
from casino.hands import deals
from casino.hands.models import Deal
from casino.houses import sealing
from casino.houses.models import DataKey, House
from casino.staff.models import Role
from casino.staff.services import hire
from casino.verification import auditing
from deploy.key_command import main
from tests.casino.devices import events
from tests.casino.kit import ACTOR, Kit
from tests.casino.signers import APPROVER, PASSWORD, TWO, two_people, typed
from tests.proof.superuser import guards_off

WAITING = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
NEW = f"hex:{'07' * 32}"


@pytest.fixture(autouse=True)
def _as_new_processes(settings: Any) -> Iterator[None]:
    """And as an installation of their own: other tests go on to found houses under the key that they share."""
    settings.CASINO_SEAL_KEY = f"hex:{secrets.token_hex(32)}"
    sealing.forget()
    yield
    sealing.forget()


def rows(kit: Kit) -> list[tuple[int, str, bytes]]:
    found = DataKey.objects.filter(house=kit.house).order_by("number")
    return [(row.number, row.seal_key, bytes(row.wrapped)) for row in found]


def found_elsewhere() -> None:
    """Found a house on a connection of its own."""
    try:
        Kit.found().close()
    finally:
        connections.close_all()


def rotate(kit: Kit, old: str, new: str) -> int:
    two_people(kit)
    keys = {"old": seal_key.named(old), "new": seal_key.named(new)}
    return rotate_seal_key(house=kit.house, actor=TWO, approver=APPROVER, **keys, reason="a year is over")


def test_data_keys_are_wrapped_again_and_nothing_is_sealed_again(kit: Kit, settings: Any) -> None:
    kit.table(seats=2)
    kit.seated(stacks=(5_000, 5_000)).ok("deal")
    deal = Deal.objects.get(house=kit.house)
    seed, sealed = deals.open_seed(deal), bytes(deal.sealed_seed)
    old = settings.CASINO_SEAL_KEY
    [before] = rows(kit)
    assert rotate(kit, old, NEW) == 1
    deal.refresh_from_db()
    assert bytes(deal.sealed_seed) == sealed
    first, second = rows(kit)
    new_id = seal_key.named(NEW).id
    assert (first[:2], second[:2]) == ((1, new_id), (2, new_id)) and first[2] != before[2]
    with pytest.raises(SealKeyWrong):
        deals.open_seed(deal)
    settings.CASINO_SEAL_KEY = NEW
    assert deals.open_seed(deal) == seed
    assert sealing.seal(kit.house.id, b"x", b"y")[:4] == b"\0\0\0\2", "what is new is sealed under the new data key"
    recorded = Event.objects.filter(house=kit.house).latest("id").doc
    assert (recorded["kind"], recorded["actor"], recorded["approver"]) == ("house.seal_key_rotated", "alma", "bea")
    assert recorded["data"]["old_key"] == before[1] and recorded["data"]["new_key"] == new_id
    kit.sequence()
    assert auditing.verify_house(kit.house).findings == []


def test_while_both_keys_are_known_everything_opens_before_and_after(kit: Kit, settings: Any) -> None:
    sealed = sealing.seal(kit.house.id, b"seed", b"here")
    settings.CASINO_SEAL_KEY_OLD, settings.CASINO_SEAL_KEY = settings.CASINO_SEAL_KEY, NEW
    for _ in range(2):
        sealing.forget()
        assert sealing.unseal(kit.house.id, sealed, b"here") == b"seed"
        again = sealing.seal(kit.house.id, b"more", b"there")
        assert sealing.unseal(kit.house.id, again, b"there") == b"more"
        if len(rows(kit)) == 1:
            rotate(kit, settings.CASINO_SEAL_KEY_OLD, NEW)


def test_the_old_key_is_refused_afterwards_and_unwraps_nothing(kit: Kit, settings: Any) -> None:
    old = settings.CASINO_SEAL_KEY
    rotate(kit, old, NEW)
    for number, _, wrapped in rows(kit):
        with pytest.raises(SealedUnreadable):
            seal_key.named(old).unwrap(wrapped, sealing.wrapping_context(kit.house.id, number))
    with pytest.raises(SealKeyWrong):
        sealing.seal(kit.house.id, b"x", b"y")
    with pytest.raises(Conflict) as refused:
        rotate(kit, old, NEW)
    assert refused.value.code == "no_change"
    with pytest.raises(SealKeyWrong):
        rotate(kit, old, f"hex:{'08' * 32}")


def test_no_data_key_is_in_the_clear_in_the_database(kit: Kit, settings: Any) -> None:
    """Nor the row as it was: what the old seal key opens is gone."""
    rotate(kit, settings.CASINO_SEAL_KEY, NEW)
    for number, _, wrapped in rows(kit):
        key = decrypt(bytes.fromhex("07" * 32), wrapped, sealing.wrapping_context(kit.house.id, number))
        with guards_off() as cursor:
            cursor.execute("SELECT string_agg(payload, '') FROM audit_event WHERE house_id = %s", [kit.house.id])
            assert key.hex() not in cursor.fetchone()[0]
        assert key not in b"".join(row[2] for row in rows(kit))


def test_a_rotation_that_fails_changes_nothing_and_is_run_again(
    kit: Kit, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows(kit)
    whole = resealing.sealing.begin

    def broken(*_: Any, **__: Any) -> None:
        raise KeyUnavailable("the token is away")

    monkeypatch.setattr(resealing.sealing, "begin", broken)
    with pytest.raises(KeyUnavailable):
        rotate(kit, settings.CASINO_SEAL_KEY, NEW)
    assert rows(kit) == before
    monkeypatch.setattr(resealing.sealing, "begin", whole)
    assert rotate(kit, settings.CASINO_SEAL_KEY, NEW) == 1


def test_the_application_rotates_no_seal_key(kit: Kit, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resealing, "ALIAS", "default")
    with pytest.raises(Forbidden, match="DATABASE_OWNER_URL"):
        rotate(kit, settings.CASINO_SEAL_KEY, NEW)


def test_a_seal_key_that_a_program_holds(kit: Kit, settings: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[3])
    assert main([str(tmp_path / "keys"), "init"]) == 0
    program = f"command:{shlex.quote(sys.executable)} -m deploy.key_command {shlex.quote(str(tmp_path / 'keys'))}"
    sealed = sealing.seal(kit.house.id, b"seed", b"here")
    rotate(kit, settings.CASINO_SEAL_KEY, program)
    settings.CASINO_SEAL_KEY = program
    assert sealing.unseal(kit.house.id, sealed, b"here") == b"seed"


def test_the_command_goes_on_where_it_was_stopped(kit: Kit, settings: Any, capsys: Any) -> None:
    other = Kit.found()
    try:
        with pytest.raises(CommandError, match="CASINO_SEAL_KEY_OLD"):
            call_command("rotate_seal_key", kit.house.code, reason="a year is over")
        settings.CASINO_SEAL_KEY_OLD, settings.CASINO_SEAL_KEY = settings.CASINO_SEAL_KEY, NEW
        for house in (kit, kit, other):
            two_people(house)
            with typed():
                call_command("rotate_seal_key", house.house.code, reason="a year is over")
        said = capsys.readouterr().out.splitlines()
        assert "1 data keys" in said[0] and "already" in said[1] and "1 data keys" in said[2]
        assert {row.seal_key for row in DataKey.objects.filter(house__in=[kit.house, other.house])} == {
            seal_key.named(NEW).id
        }
    finally:
        other.close()


def test_no_house_is_founded_under_a_key_that_another_house_was_rotated_away_from(kit: Kit, settings: Any) -> None:
    retired, houses = settings.CASINO_SEAL_KEY, House.objects.count()
    rotate(kit, retired, NEW)
    with pytest.raises(SealKeyRetired, match=seal_key.named(retired).id) as refused:
        Kit.found()
    assert (refused.value.code, refused.value.status) == ("seal_key_retired", 503)
    assert House.objects.count() == houses, "nothing is left of it"
    settings.CASINO_SEAL_KEY, settings.CASINO_SEAL_KEY_OLD = NEW, retired
    other = Kit.found()
    other.close()
    assert {row.seal_key for row in DataKey.objects.filter(house=other.house)} == {seal_key.named(NEW).id}


def test_a_house_that_is_founded_during_a_rotation_waits_for_it_and_is_refused(
    kit: Kit, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    retired, houses, record = settings.CASINO_SEAL_KEY, House.objects.count(), resealing.record
    with ThreadPoolExecutor(1) as pool:
        founding: list[Future[None]] = []

        def slowly(**given: Any) -> Any:
            founding.append(pool.submit(found_elsewhere))
            while not sql.rows(WAITING, ()):
                assert not founding[0].done(), "it did not wait"
                time.sleep(0.01)
            return record(**given)

        monkeypatch.setattr(resealing, "record", slowly)
        rotate(kit, retired, NEW)
        with pytest.raises(SealKeyRetired):
            founding[0].result(timeout=30)
    assert House.objects.count() == houses, "nothing is left of it"


def test_the_command_names_the_retired_key_and_founds_nothing(
    kit: Kit, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rotate(kit, settings.CASINO_SEAL_KEY, NEW)
    code = f"{kit.house.code}-2"
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n" * 2))
    with pytest.raises(CommandError, match=r"\[seal_key_retired\]"):
        call_command("found_house", code, name="Two", currency="HUF", admin=[f"eva@{code}"], auditor=f"ida@{code}")
    assert not House.objects.filter(code=code).exists()


def test_no_house_is_rotated_back_to_a_retired_key(kit: Kit, settings: Any) -> None:
    retired = settings.CASINO_SEAL_KEY
    rotate(kit, retired, NEW)
    before = rows(kit)
    with pytest.raises(SealKeyRetired):
        rotate(kit, NEW, retired)
    assert rows(kit) == before


@pytest.mark.parametrize("command", ["rotate_seal_key", "rotate_log_key"])
@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (("alma", PASSWORD, "alma", PASSWORD), "four_eyes"),
        (("alma", PASSWORD, "dora", PASSWORD), "forbidden"),
        (("alma", PASSWORD, "adam", PASSWORD), "forbidden"),
        (("alma", PASSWORD, "bea", "another one"), "sign_in_refused"),
        (("alma", PASSWORD), "invalid_request"),
    ],
    ids=["one person", "a dealer", "no auditor", "wrong password", "one signature"],
)
def test_no_key_is_rotated_without_two_people(
    kit: Kit, settings: Any, command: str, lines: tuple[str, ...], code: str
) -> None:
    two_people(kit)
    for login, role in (("dora", Role.DEALER), ("adam", Role.ADMIN)):
        hire(house=kit.house, login=login, name=login, roles=[role], password=PASSWORD, actor=ACTOR)
    kit.sequence()
    settings.CASINO_SEAL_KEY_OLD, settings.CASINO_SEAL_KEY = settings.CASINO_SEAL_KEY, NEW
    settings.CASINO_LOG_KEY_OLD, settings.CASINO_LOG_KEY = settings.CASINO_LOG_KEY, NEW
    before = rows(kit)
    with typed(*lines), pytest.raises(CommandError, match=rf"\[{code}\]"):
        call_command(command, kit.house.code, reason="a year is over")
    assert rows(kit) == before
    assert not KeyRotation.objects.filter(house=kit.house).exists()
    refused = [one["data"]["code"] for one in events(kit, "attempt.refused")]
    assert refused == ([code] if code == "forbidden" else [])
