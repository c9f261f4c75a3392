"""A sandbox is a copy in which people sign in; a reset closes it and makes the next one."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from casino.audit.verifier.findings import Report
from casino.audit.verifier.state import State
from casino.bookkeeping import chart
from casino.bookkeeping.postings import posting
from casino.core.denominations import Chips
from casino.golive import sandboxes
from casino.houses.models import House, HouseStage
from casino.reports import configuration
from casino.staff.models import AnsweredRequest, Role
from casino.verification.auditing import verify_house
from tests.casino.kit import Desk, Kit, book
from tests.casino.scene import fingerprint
from tests.casino.transfers.test_transfers import refusal


@pytest.fixture
def kit(live_db: None) -> Iterator[Kit]:
    """A house that is founded, with a table."""
    kit = Kit.found(sandbox=False)
    kit.table()
    yield kit
    kit.close()


def run(*arguments: str) -> str:
    """What the command prints."""
    out = StringIO()
    call_command("sandbox", *arguments, stdout=out)
    return out.getvalue()


def test_people_sign_in_to_a_sandbox_until_it_is_reset(kit: Kit) -> None:
    code = kit.house.code
    printed = run(code)
    assert f"Sandbox {code}-S1 is founded." in printed
    found = dict(re.findall(r"login (\S+) password (\S+)", printed))
    keys = dict(re.findall(r"terminal (\S+) key (\S+)", printed))
    assert keys.keys() == {"office", "cage-C1", "table-T1"}
    login = f"manager@{code}-S1"
    form = {"login": login, "password": found[login], "terminal": "office", "terminal_key": keys["office"]}
    token = kit.http(None).post("/api/v1/sign-in", json=form).json()["token"]
    desk = kit.http(token)
    assert desk.get("/api/v1/house").json()["stage"] == "sandbox"
    opened = desk.post("/api/v1/days", json={"day": "2020-02-29"}, headers={"Idempotency-Key": "1"})
    assert opened.status_code == 201, opened.text
    with pytest.raises(CommandError, match="sandbox_exists"):
        run(code)
    assert f"{code}-S1 is closed." in run(code, "--reset")
    first, second = House.objects.get(code=f"{code}-S1"), House.objects.get(code=f"{code}-S2")
    assert (first.stage, second.stage) == (HouseStage.CLOSED, HouseStage.SANDBOX)
    refused = desk.post("/api/v1/days", json={"day": "2020-03-01"}, headers={"Idempotency-Key": "2"})
    assert refused.json()["code"] == "house_not_live"
    for house in (first, second, kit.house):
        assert verify_house(house).findings == []
    assert House.objects.get(id=kit.house.id).stage == HouseStage.FOUNDING


# --- Over HTTP -------------------------------------------------------------------------------------------------------


WHY = {"reason": "the last try went wrong"}


def way_in(kit: Kit, login: str, password: str, key: str) -> Desk:
    """A person signed in at the terminal in the office."""
    form = {"login": login, "password": password, "terminal": "office", "terminal_key": key}
    token = kit.http(None).post("/api/v1/sign-in", json=form).json()["token"]
    return Desk(kit.http(token), "/api/v1")


def of_command(kit: Kit) -> tuple[Desk, dict[str, str]]:
    """The administrator of a sandbox that the operator has founded, and all passwords."""
    printed = run(kit.house.code)
    found = dict(re.findall(r"login (\S+) password (\S+)", printed))
    key = re.findall(r"terminal office key (\S+)", printed)[0]
    login = f"admin@{kit.house.code}-S1"
    return way_in(kit, login, found[login], key), found


def figures(code: str) -> tuple[dict[str, int], dict[int, int], dict[int, int]]:
    """Cash and capital, chips in the vault and in the tray of T1."""
    house = House.objects.get(code=code)
    return chart.balances(house, ["1010", "3010"]), chart.pieces(house, "9110"), chart.pieces(house, "9130/T1")


def test_an_administrator_of_a_sandbox_replaces_it_by_a_clean_one(kit: Kit) -> None:
    code = kit.house.code
    admin, _ = of_command(kit)
    first = House.objects.get(code=f"{code}-S1")
    clean = figures(first.code)
    # What happens in the sandbox, and in the real house meanwhile, is not in the next one.
    book(first, "command:fill", posting("tray_stocked", {"table": "T1"}, chips=Chips("MAIN", {100: 7})))
    book(first, "command:gone", posting("bank_sent", {}, cash=5_000))
    admin.ok("drawers", {"drawer": "C7"})
    kit.table("T9")
    reset = admin.post("house/reset", WHY, key="reset-1")
    assert reset.status_code == 201, reset.text
    body = reset.json()
    assert (body["house"], body["stage"], body["successor"]) == (f"{code}-S1", "closed", f"{code}-S2")
    passwords = {one["login"]: one["password"] for one in body["logins"]}
    keys = {one["terminal"]: one["key"] for one in body["terminals"]}
    assert keys.keys() == {"office", "cage-C1", "cage-C7", "table-T1"}
    assert passwords.keys() == {f"{role}@{code}-S2" for role in Role}
    assert figures(f"{code}-S2") == clean
    login = f"admin@{code}-S2"
    again = way_in(kit, login, passwords[login], keys["office"])
    assert again.get("house").json()["stage"] == "sandbox"
    second = House.objects.get(code=f"{code}-S2")
    assert sorted(one.code for one in configuration.tables_in_use(second)) == ["T1"]
    stored = AnsweredRequest.objects.get(house=first, key="reset-1").answer
    secrets = [*passwords.values(), *keys.values()]
    assert len(secrets) > 10 and not any(one in stored for one in secrets)
    repeated = admin.post("house/reset", WHY, key="reset-1")
    if repeated.is_success:  # the terminal of a closed house may still ask
        assert "logins" not in repeated.json() and repeated.json()["successor"] == f"{code}-S2"
    refused = admin.post("house/reset", WHY)
    assert refusal(refused) == (409, "house_wrong_stage")
    assert again.ok("house/reset", WHY)["successor"] == f"{code}-S3"
    for one in (first, second, House.objects.get(code=f"{code}-S3"), kit.house):
        assert verify_house(one).findings == []


def test_only_a_sandbox_is_reset_and_only_by_its_administrator(kit: Kit) -> None:
    assert refusal(kit.office(Role.ADMIN).post("house/reset", WHY)) == (409, "not_a_sandbox")
    sandbox = Kit.found()
    for role in Role:
        if role != Role.ADMIN:
            assert refusal(sandbox.office(role).post("house/reset", WHY)) == (403, "forbidden")
    admin = sandbox.office(Role.ADMIN)
    assert refusal(admin.post("house/reset", {"reason": " "})) == (400, "invalid_request")
    assert House.objects.get(id=sandbox.house.id).stage == HouseStage.SANDBOX
    assert admin.ok("house/reset", WHY)["successor"] == f"{sandbox.house.code}-S1"
    sandbox.close()
    bare = Kit.found(bare=True)
    assert refusal(bare.office(Role.ADMIN).post("house/reset", WHY)) == (409, "no_chip_set")
    assert House.objects.get(id=bare.house.id).stage == HouseStage.SANDBOX
    bare.close()


def test_what_stops_a_reset_leaves_nothing_behind(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = Kit.found()
    sandbox.table()
    admin = sandbox.office(Role.ADMIN)

    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(sandboxes, "_people", fails)
        before = fingerprint()
        assert admin.post("house/reset", WHY, key="same").status_code == 500
        changed = {name for name, digest in fingerprint().items() if before[name] != digest}
        assert not {one for one in changed if not one.startswith("audit_")}, changed
    assert not House.objects.filter(code=f"{sandbox.house.code}-S1").exists()
    assert admin.ok("house/reset", WHY, key="same")["successor"] == f"{sandbox.house.code}-S1"
    sandbox.close()


def test_two_resets_at_once_make_one_sandbox(kit: Kit) -> None:
    sandbox = Kit.found()
    desks = [sandbox.office(Role.ADMIN), sandbox.office(Role.ADMIN)]

    def resets(desk: Desk) -> int:
        try:
            return desk.post("house/reset", WHY).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(resets, desks)) == [201, 409]
    found = House.objects.filter(code__startswith=f"{sandbox.house.code}-")
    assert [one.code for one in found] == [f"{sandbox.house.code}-S1"]
    sandbox.close()


@pytest.mark.parametrize(("is_sandbox", "found"), [(True, []), (False, ["house_wrong_stage"])])
def test_the_verifier_lets_only_a_sandbox_be_reset(is_sandbox: bool, found: list[str]) -> None:
    report = Report()
    state = State(report)
    doc = {
        "kind": "house.founded", "chain": "house/H", "seq": 1, "at": "2026-01-01T00:00:00.000000Z", "actor": "test",
        "role": "system", "terminal": "", "house": "0" * 32,
        "data": {"name": "H", "currency": "HUF", "sandbox": is_sandbox, "seal_key": "0" * 16},
    }  # fmt: skip
    state.take(doc)
    [row] = state.rows.of("houses.House").values()
    row["stage"] = "sandbox" if is_sandbox else "live"
    state.take(doc | {"kind": "house.sandbox_reset", "seq": 2, "data": {"successor": "H-S1"}, "reason": "as I like"})
    assert [one.code for one in report.findings] == found
    assert row["stage"] == "closed"
