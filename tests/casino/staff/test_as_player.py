"""Who works in a house does not play in it."""

from typing import Any

import pytest

from casino.audit.verifier import state_people
from casino.staff import as_player
from casino.staff.models import Role, Staff, TerminalKind
from casino.verification.auditing import verify_house
from tests.casino.kit import Desk, Kit
from tests.casino.scene import assert_problem

WHY = {"reason": "known from before"}


class Scene:
    """A house with an open drawer and table, the players anna and bela, and a dealer who is known as anna."""

    def __init__(self, kit: Kit) -> None:
        self.kit, self.admin = kit, kit.office(Role.ADMIN)
        self.staff = kit.hire(Role.DEALER, TerminalKind.OFFICE, "")[0].staff
        kit.table()
        kit.players("anna", "bela", chips=20_000)
        self.cashier, self.dealer = kit.cashier(), kit.dealer()
        self.dealer.ok("open")

    def change(self, what: str, body: dict[str, Any]) -> Any:
        """Change the dealer's entry."""
        version = Staff.objects.get(id=self.staff.id).version
        return self.admin.post(f"staff/{self.staff.login}/{what}", body | WHY, version=version)

    def link(self, ref: str | None) -> Any:
        """Say as whom the dealer is known."""
        return self.change("player", {"player": ref})

    def plays(self, ref: str) -> list[Any]:
        """What a player asks for at drawer and table."""
        self.cashier.refresh(), self.dealer.refresh()
        return [
            self.cashier.post("buy-ins", {"player": ref, "amount": 1_000}),
            self.cashier.post("cash-outs", {"player": ref, "amount": 1_000}),
            self.dealer.post("seats", {"seat": 1, "player": ref, "amount": 5_000}),
            self.dealer.post("buy-ins", {"seat": 2, "player": ref, "amount": 5_000}),
        ]


@pytest.fixture
def scene(kit: Kit) -> Scene:
    return Scene(kit)


def test_a_member_of_staff_neither_buys_in_nor_plays_nor_cashes_out(scene: Scene) -> None:
    assert scene.link("anna").status_code == 200
    for answer in scene.plays("anna"):
        assert assert_problem(answer, 409, "staff_as_player")["player"] == "anna"
    (row,) = scene.admin.get(f"staff?login={scene.staff.login}").json()["results"]
    assert row["player"] == "anna"
    scene.cashier.refresh()
    scene.cashier.ok("buy-ins", {"player": "bela", "amount": 1_000})
    assert verify_house(scene.kit.house).findings == []


def test_who_works_here_is_not_registered_as_a_player(scene: Scene) -> None:
    assert scene.link("carl").status_code == 200
    desk = Desk(scene.cashier.http, "/api/v1")
    assert_problem(desk.post("players/register", {"player": "carl"}), 409, "staff_as_player")
    assert scene.change("deactivate", {}).status_code == 200
    desk.ok("players/register", {"player": "carl"})
    assert verify_house(scene.kit.house).findings == []


def test_the_link_ends_and_is_of_one_person(scene: Scene) -> None:
    assert scene.link("anna").status_code == 200
    assert_problem(scene.link("anna"), 409, "no_change")
    assert_problem(scene.link("a name"), 400, "invalid_request")
    other = scene.kit.hire(Role.FLOOR, TerminalKind.OFFICE, "")[0].staff
    again = scene.admin.post(f"staff/{other.login}/player", {"player": "anna"} | WHY, version=1)
    assert_problem(again, 409, "player_linked")
    assert scene.link(None).status_code == 200
    assert {answer.status_code for answer in scene.plays("anna")} <= {200, 201, 409, 412}
    assert not [one for one in scene.plays("anna") if one.json().get("code") == "staff_as_player"]
    assert verify_house(scene.kit.house).findings == []


def test_a_member_of_staff_who_plays_nevertheless_is_found(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.link("anna")
    # As by an application that was changed.
    monkeypatch.setattr(state_people, "TOLERANCE", 0)
    monkeypatch.setattr(as_player, "refused", lambda ref: RuntimeError(ref))
    monkeypatch.setattr("casino.players.persons.require_guest", lambda player: None)
    scene.cashier.refresh()
    scene.cashier.ok("buy-ins", {"player": "anna", "amount": 1_000})
    scene.dealer.refresh()
    scene.dealer.ok("seats", {"seat": 1, "player": "anna", "amount": 5_000})
    assert [one.code for one in verify_house(scene.kit.house).findings] == ["staff_as_player"] * 2
