"""What becomes of a kitty, a bank or a session when a table closes or a player leaves: held for the next session,
played for, or settled."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from casino.audit import verifier
from casino.bookkeeping.postings import EVENTS
from casino.hands import selectors
from casino.hands.models import Hand
from casino.staff.models import Role
from casino.tables.models import CarryoverOnClose, TableSession
from casino.verification import exporting
from engine.kernel.cards import FRENCH52
from engine.play import random_line
from engine.registry import start
from tests.casino.core.test_concurrency import at_once
from tests.casino.devices import code, events
from tests.casino.kit import Desk, Kit
from tests.casino.kitty_hands import play_physical as play_kitty
from tests.casino.superuser import unguarded
from tests.casino.trick_hands import assert_whole, found, last_hand, settled

STACKS = (50_000,) * 3
LYING = ("2030/T1", "2040/T1", "2050/T1", "2080/T1")


def kitty_table(kit: Kit, rule: CarryoverOnClose) -> Desk:
    """A table of Ramsli with this rule, and something in kitty and bank."""
    kit.table_for(
        "ramsli", {"unit": 25, "bank_level": 4}, code="T1", seats=3, carryover_on_close=rule, max_stack=100_000
    )
    desk, seed = kit.seated(stacks=STACKS), 1
    while kit.balance("2050/T1") < 300 or not kit.balance("2040/T1"):
        play_kitty(kit, desk, seed)
        seed += 1
    return desk


def sit_again(desk: Desk) -> None:
    """The same players sit down again."""
    desk.ok("open")
    for seat in (1, 2, 3):
        desk.ok("seats", {"seat": seat, "player": f"T1-u{seat}", "amount": 20_000})


# --- Held -----------------------------------------------------------------------------------------------------------


def test_what_is_held_lies_apart_and_the_next_session_goes_on_with_it(kit: Kit, tmp_path: Path) -> None:
    desk = kitty_table(kit, CarryoverOnClose.HOLD)
    left = Hand.objects.filter(house=kit.house).latest("id").result["series"]
    _, kitty, bank, _ = kit.balance(*LYING)
    tray = kit.balance("9130/T1")
    stacks = {seat["player"]: seat["stack"] for seat in desk.refresh()["seats"]}
    closed = kit.approved(desk, "close")["last_event"]
    assert closed["held"] == {"cukassza": kitty, "bank": bank} and closed["shares"] == {}
    assert closed["left_with"] == stacks
    assert kit.balance(*LYING) == [0, 0, 0, kitty + bank] and kit.balance("9130/T1") == tray + kitty + bank
    assert_whole(kit, tmp_path / "closed")
    sit_again(desk)
    assert kit.balance(*LYING) == [0, kitty, bank, 0] and kit.balance("9130/T1") == tray
    assert (desk.refresh()["cukassza"], desk.refresh()["bank"]) == (kitty, bank)
    [*_, opened] = events(kit, "table.opened")
    assert opened["data"]["resumed"] == {"cukassza": kitty, "bank": bank}
    hand = play_kitty(kit, desk, 77)
    assert (hand.series, hand.carry) == (left, kitty + bank)
    assert_whole(kit, tmp_path / "again")


def test_what_is_held_is_resumed_once(kit: Kit, tmp_path: Path) -> None:
    """The table's lock and its state do what a hold would: of two openings one finds the table open already, and a
    later one finds nothing held, since the sum stands in the session before it."""
    desk = kitty_table(kit, CarryoverOnClose.HOLD)
    kit.approved(desk, "close")
    _, _, _, held = kit.balance(*LYING)
    version = desk.refresh()["version"]
    answers = at_once(*(lambda: desk.post("open", version=version) for _ in range(3)))
    assert sorted(answer.is_success for answer in answers) == [False, False, True]
    assert {answer.status_code for answer in answers if not answer.is_success} <= {409, 412}
    desk.refresh()
    assert code(desk.post("open")) == (409, "table_open")
    assert sum(kit.balance("2040/T1", "2050/T1")) == held > 0 and kit.balance("2080/T1") == 0
    assert len([one for one in events(kit, "table.opened") if "resumed" in one["data"]]) == 1
    assert_whole(kit, tmp_path)


def test_only_the_next_session_takes_what_is_held() -> None:
    """A row that is added here needs a lock, or a hold, against the next opening."""
    taking = {name for name, row in EVENTS.items() if any(line.debit.startswith("2080/") for line in row.lines)}
    assert taking == {"carry_resumed"}


def test_a_session_without_a_hand_holds_it_on(kit: Kit, tmp_path: Path) -> None:
    desk = kitty_table(kit, CarryoverOnClose.HOLD)
    left = Hand.objects.filter(house=kit.house).latest("id").result["series"]
    kit.approved(desk, "close")
    desk.ok("open")
    kit.approved(desk, "close")
    sit_again(desk)
    assert play_kitty(kit, desk, 78).series == left
    assert TableSession.objects.filter(table__house=kit.house, resumes__isnull=False).count() == 2
    assert_whole(kit, tmp_path)


def test_a_manager_approves_what_is_held(kit: Kit) -> None:
    desk = kitty_table(kit, CarryoverOnClose.HOLD)
    held = sum(kit.balance("2040/T1", "2050/T1"))
    refused = desk.post("close", {})
    assert code(refused) == (409, "approval_required")
    approval = refused.json()["approval"]
    assert (approval["kind"], approval["roles"]) == ("carry", ["manager"])
    assert code(kit.office(Role.CAGE_SUPERVISOR).post(f"approvals/{approval['approval']}/approve")) == (
        403,
        "forbidden",
    )
    manager = kit.office(Role.MANAGER)
    assert manager.get(f"approvals/{approval['approval']}").json()["amount"] == held
    manager.ok(f"approvals/{approval['approval']}/approve")
    closed = desk.ok("close", {}, headers={"Approval": str(approval["approval"])})
    assert sum(closed["last_event"]["held"].values()) == held
    assert kit.balance("2080/T1") == held


def test_where_nothing_is_carried_nothing_is_held(kit: Kit, tmp_path: Path) -> None:
    kit.table(carryover_on_close=CarryoverOnClose.HOLD)
    desk = kit.seated()
    assert "held" not in desk.ok("close")["last_event"]
    desk.ok("open")
    assert_whole(kit, tmp_path)


def test_a_held_sum_that_was_altered_is_found(kit: Kit, tmp_path: Path) -> None:
    desk = kitty_table(kit, CarryoverOnClose.HOLD)
    kit.approved(desk, "close")
    sit_again(desk)
    with unguarded("tables_tablesession") as cursor:
        cursor.execute("UPDATE tables_tablesession SET resumes_id = NULL WHERE resumes_id IS NOT NULL")
    play = play_kitty
    desk.refresh()
    with pytest.raises(AssertionError, match="carry"):
        play(kit, desk, 79)  # the kitty's series is lost with it, so nothing is dealt
    exporting.export_house(kit.house, tmp_path / "export")
    [found] = verifier.verify_export(tmp_path / "export").findings
    assert (found.code, found.place) == ("state_differs", "tables.TableSession T1/2, resumes")


# --- Played for -----------------------------------------------------------------------------------------------------


def test_a_table_that_plays_on_does_not_close_while_enough_are_seated(kit: Kit, tmp_path: Path) -> None:
    desk = kitty_table(kit, CarryoverOnClose.PLAY_ON)
    _, kitty, bank, _ = kit.balance(*LYING)
    refused = desk.post("close", {})
    assert code(refused) == (409, "carryover_open")
    assert (refused.json()["cukassza"], refused.json()["bank"]) == (kitty, bank)
    desk.ok("seats/2/leave")
    assert code(desk.post("close", {})) == (409, "carryover_open")
    desk.ok("seats/3/leave")
    closed = desk.ok("close")["last_event"]
    assert sum(closed["shares"].values()) == kitty + bank
    assert_whole(kit, tmp_path)


def barbu(kit: Kit, rule: CarryoverOnClose, **options: Any) -> Desk:
    """A table of Barbu, four players."""
    agreed = {"unit": 10, "scoring": "pagat"} | options
    kit.table_for("barbu", agreed, code="T1", seats=4, carryover_on_close=rule, max_stack=1_000_000)
    return kit.seated(stacks=(200_000,) * 4)


def deal(kit: Kit, desk: Desk, seed: int) -> Hand:
    """One physical deal at random."""
    random = Random(seed)
    desk.ok("hands", {"mode": "physical"})
    deck = tuple(random.sample(FRENCH52.cards, 52))
    game = start(selectors.setup(last_hand(kit))._replace(deck=deck))
    while not game.over:
        game.advance(game.forced() or random_line(game, random))
    for at in range(0, len(game.log), 20):
        desk.say("barbu", *game.log[at : at + 20])
    return settled(kit, desk)


def test_a_session_is_played_to_its_end_where_the_table_says_so(kit: Kit) -> None:
    desk = barbu(kit, CarryoverOnClose.PLAY_ON)
    deal(kit, desk, 1)
    refused = desk.post("close", {})
    assert code(refused) == (409, "carryover_open") and refused.json()["session_under_way"] is True
    desk.ok("seats/4/leave")
    desk.ok("close")


def test_where_every_deal_is_paid_a_session_that_is_broken_off_owes_nothing(kit: Kit, tmp_path: Path) -> None:
    desk = barbu(kit, CarryoverOnClose.SPLIT)
    deal(kit, desk, 1)
    assert "broken_off" not in desk.ok("close")["last_event"]
    assert_whole(kit, tmp_path)


# --- Paid at the end ------------------------------------------------------------------------------------------------


def test_a_session_on_paper_is_settled_when_the_table_closes(kit: Kit, tmp_path: Path) -> None:
    desk = barbu(kit, CarryoverOnClose.SPLIT, settlement="paper")
    for seed in (1, 2, 3):
        hand = deal(kit, desk, seed)
        assert hand.result["net"] == [0, 0, 0, 0]
    left = hand.result["series"]
    declared = {name: 7 - len(names) for name, names in left["left"].items()}
    assert sum(declared.values()) == 3
    closed = desk.ok("close")["last_event"]
    owed = closed["broken_off"]
    assert sum(owed.values()) == 0 and any(owed.values())
    assert {player: amount - 200_000 for player, amount in closed["left_with"].items()} == owed
    assert_whole(kit, tmp_path)


def test_nobody_leaves_a_session_that_is_unpaid_and_no_others_begin_one(kit: Kit, tmp_path: Path) -> None:
    desk = barbu(kit, CarryoverOnClose.SPLIT, settlement="paper")
    deal(kit, desk, 1)
    refused = {seat: desk.post(f"seats/{seat}/leave", {}) for seat in (1, 2, 3, 4)}
    owing = [seat for seat, answer in refused.items() if code(answer) == (409, "session_under_way")]
    assert owing
    owed = refused[owing[0]].json()["owed"]
    assert {seat for seat in refused if owed[f"T1-u{seat}"]} == set(owing)
    gone = [seat for seat in refused if seat not in owing]
    if gone:  # a player who owes nothing may go, and then the others cannot start over
        kit.players("eve", chips=200_000)
        desk.ok("seats", {"seat": gone[0], "player": "eve", "amount": 200_000})
        assert code(desk.post("hands", {"mode": "physical"})) == (409, "session_under_way")
    assert found(kit) == []
    desk.ok("close")
    assert_whole(kit, tmp_path)
