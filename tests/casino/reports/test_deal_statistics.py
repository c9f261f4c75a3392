"""A31 through HTTP: hands of a house by table and dealer, and nothing of few decks."""

import json

import pytest

from casino.reports import deck_tests
from casino.staff.models import Role
from tests.casino.evenings import play_electronically
from tests.casino.hands.test_settlement import alter_as_superuser
from tests.casino.kit import MISDEAL, Kit
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.reports.test_catalogue_of_control import broken

NAME = "deal-statistics"


def test_hands_are_counted_and_few_decks_show_nothing(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    kit.worked_hand()
    assert kit.settle() == ["settled"]
    kit.table("T2")
    desk, floor = kit.seated("T2"), kit.dealer("T2", role=Role.FLOOR)
    dealer = desk.http.get("/api/v1/me").json().get("login", "")
    desk.ok("deal")
    floor.refresh()
    floor.ok("deal/abandon", {"reason": "a player fell ill"})
    desk.refresh()
    desk.ok("deal")
    desk.ok("deal/seeds", {"seat": 1, "seed": "x"})
    play_electronically(kit, desk, hands=2, seed=3)
    desk.deal()
    floor.refresh()
    floor.ok("hand/void", MISDEAL | {"reason": "only a test"})
    report = made(kit, NAME)
    hands, tests, kinds, seats, abandoned = (rows(report, at) for at in range(5))
    by = {(row["mode"], row["by"], row["name"]): row for row in hands}
    assert len(by) == 6
    whole = by["electronic", "all", ""]
    assert (whole["settled"], whole["ruled"], whole["voided"], whole["decks"]) == (2, 0, 1, 2)
    assert (whole["seeded"], whole["seeded_share"]) == (1, 3_333)
    assert by["electronic", "table", "T2"] | {"by": "all", "name": ""} == whole
    assert (by["physical", "table", "T1"]["decks"], by["physical", "all", ""]["unknown"]) == (1, 0)
    # A few decks would show cards that were folded.
    assert tests == kinds == [] and all(row["note"].startswith("too few") for row in hands)
    [given_up] = [row for row in abandoned if row["abandoned"]]
    assert (given_up["table"], given_up["prepared"], given_up["dealt"]) == ("T2", 4, 3)
    assert dealer in ("", given_up["dealer"])
    assert sum(row["won"] for row in seats if row["table"] == "T1") == 1
    assert {row["hands"] for row in seats if row["table"] == "T1"} == {1}
    assert rows(made(kit, NAME, mode="physical", table="T2")) == []
    assert len(rows(made(kit, NAME, **{"from": "2024-05-01"}))) == 6
    refused = kit.office(Role.MANAGER).post(f"reports/{NAME}/runs", {"formats": ["json"]})
    assert refused.status_code == 403

    monkeypatch.setattr(deck_tests, "LEAST_DECKS", 2)
    report = made(kit, NAME, mode="electronic", table="T2")
    tests, kinds = rows(report, 1), rows(report, 2)
    assert {"runs", "serial correlation", "deal to deal"} <= {row["test"] for row in tests}
    assert all(0 <= row["p"] <= row["adjusted"] <= 1_000_000 and not row["alarm"] for row in tests)
    assert [row["exact"] for row in kinds if row["by"] == "all"][-3:] == [896, 280, 8]
    assert sum(row["seen"] for row in kinds if row["by"] == "all") == 2 * 8
    # The same decks give the same figures.
    assert json.dumps(made(kit, NAME, mode="electronic", table="T2")["sections"]) == json.dumps(report["sections"])

    alter_as_superuser(
        "UPDATE hands_hand SET commitment = '', sealed_seed = %s WHERE name = 'T2-000001x2' AND house_id = %s",
        b"no seed",
        kit.house.id,
    )
    assert broken(kit, NAME) == [
        "electronic hands = seeds that their deals had committed to",
        "hands whose cards cannot be opened = none",
    ]
