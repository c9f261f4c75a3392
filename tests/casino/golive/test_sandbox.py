"""A sandbox is a copy in which people sign in; a reset closes it and makes the next one."""

import re
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from casino.houses.models import House, HouseStage
from casino.verification.auditing import verify_house
from tests.casino.kit import Kit


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
