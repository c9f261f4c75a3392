"""Chips that come into the vault or leave it: three receive them, two set them aside or destroy them."""

from typing import Any

import pytest
from django.db import connections, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casino.audit.models import Event
from casino.core import denominations
from casino.reports.selectors import custody, racks
from casino.reports.verifying import verification
from casino.staff.models import Role, Staff, TerminalKind
from casino.transfers.models import ChipMove
from tests.casino.core.test_races import meanwhile
from tests.casino.kit import PIECES, Desk, Kit
from tests.casino.transfers.test_transfers import refusal

PAPER = "delivery note 4711"


class Vault:
    """A cage supervisor, a count team, a manager, and somebody of surveillance."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        self.supervisor, self.manager = kit.office(Role.CAGE_SUPERVISOR), kit.office(Role.MANAGER)
        self.one, self.other = kit.office(Role.COUNT), kit.office(Role.COUNT)
        self.watch = kit.hire(Role.SURVEILLANCE, TerminalKind.OFFICE, "")[0].staff.login

    def note(self, kind: str, pieces: dict[str, int], desk: Desk | None = None, **more: Any) -> int:
        """Write something down; its number."""
        if kind == "destruction":
            more = {"observer": self.watch} | more
        found = (desk or self.supervisor).ok("chip-moves", {"kind": kind, "paper": PAPER, "pieces": pieces} | more)
        return int(found["move"]["move"])

    def count(self, desk: Desk, move: int, pieces: dict[str, int]) -> Any:
        """One person's count."""
        return desk.post(f"chip-moves/{move}/counts", {"pieces": pieces})

    def moved(self, kind: str, pieces: dict[str, int]) -> dict[str, Any]:
        """Written down, and counted alike by as many as it needs."""
        move = self.note(kind, pieces)
        for desk in (self.one, self.other) if kind == "delivery" else (self.one,):
            answer = self.count(desk, move, pieces)
            assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()["move"]
        return found

    def racks(self) -> list[int]:
        """What vault, what was set aside, and all chips there are, are worth."""
        found: list[int] = self.kit.balance("9110", "9115", "9199")
        return found

    def whole(self) -> None:
        """Chips and money agree, nothing is lost, books, rows and chains are whole."""
        assert custody(self.kit.house)["equal"]
        assert all(row["equal"] for row in racks(self.kit.house)["denominations"])
        found = verification(self.kit.house)
        assert found["ok"], [found["audit_findings"], found["book_findings"]]


@pytest.fixture
def vault(kit: Kit) -> Vault:
    """People at a vault that has its first chips."""
    return Vault(kit)


def test_three_receive_a_delivery(vault: Vault) -> None:
    before = vault.racks()
    move = vault.note("delivery", {"500": 40, "100": 7})
    assert vault.count(vault.one, move, {"500": 40, "100": 7}).json()["differs"] is False
    assert vault.racks() == before
    done = vault.count(vault.other, move, {"100": 7, "500": 40}).json()["move"]
    assert (done["state"], done["counted"], done["value"]) == ("done", {"500": 40, "100": 7}, 20_700)
    assert vault.racks() == [before[0] + 20_700, 0, before[2] + 20_700]
    assert refusal(vault.count(vault.other, move, {"500": 40})) == (409, "chip_move_done")
    assert [vault.moved("delivery", {"100": 1})["move"], done["move"]] == [2, 1]
    vault.whole()


def test_chips_are_set_aside_by_two_and_destroyed_by_two_before_surveillance(vault: Vault) -> None:
    before = vault.racks()
    aside = vault.moved("set_aside", {"500": 20})
    assert (aside["state"], aside["observer"]) == ("done", None)
    assert vault.racks() == [before[0] - 10_000, 10_000, before[2]]
    gone = vault.moved("destruction", {"500": 15})
    assert (gone["state"], gone["observer"]) == ("done", vault.watch)
    assert vault.racks() == [before[0] - 10_000, 2_500, before[2] - 7_500]
    # Nothing that was not set aside is destroyed, and nothing that the vault does not have is set aside.
    for kind, value, short in (("destruction", "500", 6), ("set_aside", "500", PIECES[500] + 1)):
        move = vault.note(kind, {value: short})
        assert refusal(vault.count(vault.one, move, {value: short})) == (409, "insufficient_funds")
        assert ChipMove.objects.get(house=vault.kit.house, serial=move).state == "waiting"
    kinds = Event.objects.filter(chain__house=vault.kit.house, doc__kind__startswith="chips.").order_by("id")
    assert [event.doc["kind"] for event in kinds[1:5]] == [
        "chips.noted", "chips.set_aside", "chips.noted", "chips.destroyed",
    ]  # fmt: skip
    vault.whole()


def test_nobody_reads_a_figure_before_all_have_counted(vault: Vault) -> None:
    answer = vault.supervisor.post("chip-moves", {"kind": "delivery", "paper": PAPER, "pieces": {"500": 47}})
    move = answer.json()["move"]["move"]
    first = vault.count(vault.one, move, {"500": 46})
    readers = [vault.one, vault.other, vault.supervisor, vault.manager, vault.kit.office()]
    answers = [answer, first, *(desk.get("chip-moves") for desk in readers)]
    for one in answers:
        assert one.is_success
        assert not any(name in one.text for name in ('"noted"', '"counted"', '"value"', '"500"')), one.text
    second = vault.count(vault.other, move, {"500": 47})
    assert second.json()["differs"] is True
    assert not {"noted", "counted", "value"} & second.json()["move"].keys()


def test_counts_of_a_delivery_that_differ_are_made_again_and_then_a_manager_decides(vault: Vault) -> None:
    before = vault.racks()
    move = vault.note("delivery", {"500": 40})
    decision = {"pieces": {"500": 38}, "reason": "two lay in the lid"}
    for number in range(1, 4):
        assert refusal(vault.manager.post(f"chip-moves/{move}/accept", decision)) == (409, "chip_move_waiting")
        assert vault.count(vault.one, move, {"500": 40}).json()["differs"] is False
        found = vault.count(vault.other, move, {"500": 39}).json()
        assert (found["differs"], found["move"]["differing_rounds"]) == (True, number)
        assert found["move"]["state"] == ("waiting" if number < 3 else "differed")
    assert refusal(vault.count(vault.one, move, {"500": 40})) == (409, "chip_move_differed")
    assert refusal(vault.supervisor.post(f"chip-moves/{move}/accept", decision)) == (403, "forbidden")
    done = vault.manager.ok(f"chip-moves/{move}/accept", decision)["move"]
    assert (done["state"], done["noted"], done["counted"]) == ("done", {"500": 40}, {"500": 38})
    assert (done["reason"], vault.racks()[0] - before[0]) == (decision["reason"], 19_000)
    vault.whole()


def test_a_delivery_that_is_not_what_its_note_says_waits_for_a_manager(vault: Vault) -> None:
    before = vault.racks()
    move = vault.note("delivery", {"500": 40})
    vault.count(vault.one, move, {"500": 39})
    assert vault.count(vault.other, move, {"500": 39}).json()["move"]["state"] == "differed"
    assert vault.racks() == before
    # The counter has become a manager since.
    login = Event.objects.filter(doc__kind="chips.counted").latest("id").doc["actor"]
    staff = Staff.objects.get(house=vault.kit.house, login=login)
    staff.roles = [Role.MANAGER]
    staff.save()
    decision = {"pieces": {"500": 39}, "reason": "the maker owes one"}
    assert refusal(vault.one.post(f"chip-moves/{move}/accept", decision)) == (403, "four_eyes")
    staff.roles = [Role.COUNT]
    staff.save()
    vault.manager.ok(f"chip-moves/{move}/accept", decision)
    # Nothing came at all: nothing is posted.
    empty = vault.note("delivery", {"500": 40})
    for desk in (vault.one, vault.other):
        vault.count(desk, empty, {})
    vault.manager.ok(f"chip-moves/{empty}/accept", {"pieces": {}, "reason": "the box was empty"})
    assert vault.racks()[0] - before[0] == 19_500
    vault.whole()


@pytest.mark.parametrize("kind", ["set_aside", "destruction"])
def test_anything_else_that_differs_has_ended(vault: Vault, kind: str) -> None:
    vault.moved("set_aside", {"500": 20})
    before = vault.racks()
    move = vault.note(kind, {"500": 5})
    found = vault.count(vault.one, move, {"500": 4}).json()
    assert (found["differs"], found["move"]["state"]) == (True, "differed")
    decision = {"pieces": {"500": 4}, "reason": "it was four"}
    assert refusal(vault.manager.post(f"chip-moves/{move}/accept", decision)) == (409, "chip_move_differed")
    assert refusal(vault.count(vault.other, move, {"500": 5})) == (409, "chip_move_differed")
    assert vault.racks() == before
    vault.moved(kind, {"500": 4})
    vault.whole()


def test_nobody_counts_what_is_their_own(vault: Vault) -> None:
    vault.moved("set_aside", {"500": 20})
    move = vault.note("delivery", {"500": 40})
    assert refusal(vault.count(vault.supervisor, move, {"500": 40})) == (403, "four_eyes")
    vault.count(vault.one, move, {"500": 40})
    assert refusal(vault.count(vault.one, move, {"500": 40})) == (403, "four_eyes")
    context, token = vault.kit.hire(Role.SURVEILLANCE, TerminalKind.OFFICE, "")
    burned = vault.note("destruction", {"500": 1}, observer=context.staff.login)
    context.staff.roles = [Role.COUNT]
    context.staff.save()
    watching = Desk(vault.kit.http(token), "/api/v1")
    assert refusal(vault.count(watching, burned, {"500": 1})) == (403, "four_eyes")
    ids = dict(ChipMove.objects.filter(house=vault.kit.house).values_list("serial", "id"))
    for alias in ("default", "owner"):
        for statement in (
            f"UPDATE transfers_chipmove SET noted = '{{}}' WHERE id = {ids[move]}",
            f"UPDATE transfers_chipmove SET observer_id = noted_by_id WHERE id = {ids[burned]}",
            f"UPDATE transfers_chipmove SET observer_id = noted_by_id WHERE id = {ids[move]}",
            f"UPDATE transfers_chipmove SET state = 'done' WHERE id = {ids[move]}",
            f"UPDATE transfers_chipmove SET decided_by_id = noted_by_id, reason = 'x' WHERE id = {ids[move]}",
            f"DELETE FROM transfers_chipmove WHERE id = {ids[move]}",
            f"UPDATE transfers_chipmovecount SET pieces = '{{}}' WHERE move_id = {ids[move]}",
        ):
            with (
                pytest.raises(Exception, match=r"chip_move_|keeps its|permission denied|append|refuse|no row"),
                transaction.atomic(using=alias),
                connections[alias].cursor() as cursor,
            ):
                cursor.execute(statement)


def test_movements_of_all_kinds_are_numbered_together_without_gaps(vault: Vault) -> None:
    kinds = ("set_aside", "delivery", "destruction", "set_aside")
    for number, kind in enumerate(kinds, 1):
        assert refusal(vault.supervisor.post("chip-moves", {"kind": kind, "paper": PAPER, "pieces": {}}))[0] == 422
        assert vault.moved(kind, {"500": 1})["move"] == number
    other = Vault(Kit.found())
    assert other.note("delivery", {"500": 1}) == 1, "each house counts for itself"
    assert refusal(other.count(other.one, 2, {"500": 1})) == (404, "not_found")
    other.kit.close()
    listed = vault.supervisor.get("chip-moves").json()["results"]
    assert [(row["move"], row["kind"]) for row in listed] == list(enumerate(kinds, 1))
    vault.whole()


def test_movements_that_cannot_begin(vault: Vault) -> None:
    runner = vault.kit.runner()
    good: dict[str, Any] = {"kind": "destruction", "paper": PAPER, "pieces": {"500": 1}, "observer": vault.watch}
    for change, status, code in (
        ({"observer": runner}, 422, "unknown_observer"),
        ({"observer": "nobody"}, 422, "unknown_observer"),
        ({"kind": "set_aside"}, 422, "unknown_observer"),
        ({"pieces": {}}, 422, "nothing_to_move"),
        ({"pieces": {"500": 0}}, 422, "nothing_to_move"),
        ({"pieces": {"7": 1}}, 422, "unknown_denomination"),
        ({"chip_set": "NONE"}, 422, "unknown_chip_set"),
        ({"kind": "theft"}, 400, "invalid_request"),
        ({"paper": "x"}, 400, "invalid_request"),
    ):
        assert refusal(vault.supervisor.post("chip-moves", good | change)) == (status, code), change
    del good["observer"]
    assert refusal(vault.supervisor.post("chip-moves", good)) == (422, "observer_missing")
    assert refusal(vault.manager.post("chip-moves", good)) == (403, "forbidden")
    assert refusal(vault.count(vault.one, 999_999, {})) == (404, "not_found")
    assert not ChipMove.objects.filter(house=vault.kit.house).exists()


@pytest.mark.some_now(1)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["delivery", "set_aside", "destruction"]), st.integers(1, 9)), max_size=5))
def test_in_whatever_order_chips_come_and_go_none_is_lost(vault: Vault, moves: list[tuple[str, int]]) -> None:
    was = vault.racks()
    there, aside = 0, was[1] // 500
    start = aside
    for kind, pieces in moves:
        if kind == "destruction" and pieces > aside:
            continue
        vault.moved(kind, {"500": pieces})
        there += {"delivery": pieces, "set_aside": -pieces, "destruction": 0}[kind]
        aside += {"delivery": 0, "set_aside": pieces, "destruction": -pieces}[kind]
    assert vault.racks() == [was[0] + 500 * there, 500 * aside, was[2] + 500 * (there + aside - start)]
    vault.whole()


def test_two_who_count_the_same_at_once_post_it_once(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    before = vault.racks()
    move = vault.note("set_aside", {"500": 4})
    first, second, waited = meanwhile(
        monkeypatch, denominations, "parse",
        second=lambda: vault.count(vault.other, move, {"500": 4}),
        first=lambda: vault.count(vault.one, move, {"500": 4}),
    )  # fmt: skip
    assert (first.status_code, refusal(second)) == (201, (409, "chip_move_done"))
    assert waited
    assert vault.racks() == [before[0] - 2_000, 2_000, before[2]]
    vault.whole()
