"""A15 of one game: what its visits came to, and who made them."""

from typing import Any

from casino.staff.models import Role
from tests.casino.kit import SAMPLE, Kit
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.tables.test_seat_fees import asking, held
from tests.casino.trick_hands import play_electronic


def evening(kit: Kit) -> dict[str, int]:
    """A hand of Zsíros at T1, whose seats cost 150, and one of Ferbli at T2, to which a player of T1 has gone over;
    what the players at T1 had after theirs."""
    kit.office(Role.MANAGER).ok("days", {"day": "2024-05-01"})
    zsiros = asking(kit, 150)
    play_electronic(kit, zsiros, 1)
    after = held(kit, zsiros)
    kit.table("T2", seats=5)
    ferbli = kit.seated("T2")
    zsiros.ok("seats/2/leave", {})
    ferbli.ok("hands", {"mode": "physical", "button": 4})
    ferbli.act(*SAMPLE[:12])
    ferbli.act(*SAMPLE[12:])
    assert kit.settle() == ["settled"]
    ferbli.refresh()
    ferbli.ok("seats", {"seat": 5, "player": "T1-u2", "amount": 5_000})
    return after


def visits(kit: Kit, **filters: str) -> list[dict[str, Any]]:
    return rows(made(kit, "player-activity", **filters), 1)


def test_visits_of_a_game_and_the_players_who_made_them(kit: Kit) -> None:
    after = evening(kit)
    zsiros = visits(kit, game="zsiros")
    assert [(row["player"], row["tables"], row["hands"]) for row in zsiros] == [
        (f"T1-u{seat}", "T1", 1) for seat in range(1, 5)
    ]  # fmt: skip
    assert {row["player"]: 20_000 + row["net"] - 150 for row in zsiros} == after
    found = made(kit, "player-activity", game="ferbli")
    assert [(row["player"], row["hands"], row["net"]) for row in rows(found, 1)] == [
        ("T1-u2", 0, 0), ("T2-u1", 1, 1_635), ("T2-u2", 1, -300), ("T2-u3", 1, 0), ("T2-u4", 1, -1_500),
    ]  # fmt: skip
    assert "net of hands, less fees = what settled and ruled hands moved on 2020" in {
        one["equality"] for one in found["equalities"]
    }
    # Who has visited it is shown with all the money, that of other games too.
    [guest] = [row for row in rows(found) if row["player"] == "T1-u2"]
    assert len(rows(found)) == 5 and guest["play"] == after["T1-u2"] - 20_000
    assert guest["closing"] == guest["opening"] + 20_000 + guest["play"]


def test_a_player_of_two_games_has_a_row_for_each(kit: Kit) -> None:
    evening(kit)
    assert [(row["game"], row["tables"], row["hands"]) for row in visits(kit, player="T1-u2")] == [
        ("ferbli", "T2", 0), ("zsiros", "T1", 1),
    ]  # fmt: skip
    assert visits(kit, game="ferbli", player="T1-u4") == visits(kit, game="barbu") == []
    assert rows(made(kit, "player-activity", game="ferbli", until="2024-04-30")) == []
