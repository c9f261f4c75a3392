"""A verification that goes on from a mark finds what a whole one would have found of what came since, and counts the
same."""

import json
import os
import pickle
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections
from hypothesis import given
from hypothesis import strategies as st
from pytest_django.plugin import DjangoDbBlocker

from casino.audit.verifier import Shelf, Unusable, kept
from casino.audit.verifier.shelf import Seen, Shelved
from casino.reports.verifying import verification, verification_from_mark
from casino.verification import marks
from tests.bench.reports.generated import SHORT_HAND
from tests.casino.busy import AFTERWARDS, STEPS, Busy
from tests.casino.kit import Desk, Kit
from tests.casino.superuser import unguarded

#: Steps between two marks.
STRIDE = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("marks")


@pytest.fixture
def dealer(kit: Kit) -> Desk:
    kit.table("T1", seats=2)
    return kit.seated("T1", stacks=(20_000, 20_000))


@pytest.fixture
def marked(kit: Kit, dealer: Desk, folder: Path, settings: Any) -> Kit:
    """A house with a hand that is over and one that is played, verified; a mark was kept."""
    settings.CASINO_MARK_DIR = folder
    for _ in range(2):
        play(kit, dealer)
    begin(dealer)
    dealer.act(*SHORT_HAND[0])
    kit.sequence()
    assert verification(kit.house, keep=True)["ok"]
    return kit


def begin(dealer: Desk) -> None:
    """Deal the next hand; the first of a session names the button."""
    dealt = dealer.refresh()["hand_count"]
    dealer.ok("hands", {"mode": "physical"} | ({} if dealt else {"button": 2}))


def play(kit: Kit, dealer: Desk) -> None:
    begin(dealer)
    for lines in SHORT_HAND:
        dealer.act(*lines)
    assert kit.settle() == ["settled"]


def finish(kit: Kit, dealer: Desk) -> None:
    for lines in SHORT_HAND[1:]:
        dealer.act(*lines)
    assert kit.settle() == ["settled"]


def since(kit: Kit) -> dict[str, Any]:
    """What a verification from the mark on finds."""
    found = verification_from_mark(kit.house)
    assert "not_from_mark" not in found
    return found


@pytest.mark.slow
def test_an_evening_verified_piece_by_piece_is_the_evening_verified_whole(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, folder: Path, settings: Any
) -> None:
    settings.CASINO_MARK_DIR = folder
    with django_db_blocker.unblock():
        kit = Kit.found()
        try:
            busy = Busy(kit)
            marked = 0
            for number, (name, step) in enumerate([*STEPS.items(), *AFTERWARDS.items()]):
                if number == len(STEPS):
                    kit.settle()
                answer = step(busy)
                assert answer.is_success, f"{name}: {answer.text}"
                if number % STRIDE == STRIDE - 1:
                    kit.sequence()
                    found = verification_from_mark(kit.house, keep=True)
                    assert (found["audit_findings"], found["hand_findings"]) == ([], []), name
                    assert found["ok"] and ("not_from_mark" in found) == (marked == 0), name
                    marked += 1
            kit.settle()
            found, whole = since(kit), verification(kit.house)
            assert found["ok"] and whole["ok"] and marked > 5
            assert {name: found[name] for name in COUNTED} == {name: whole[name] for name in COUNTED}
        finally:
            connections.close_all()
            kit.close()


COUNTED = ("hand_count", "chain_count", "event_count", "leaf_count", "checkpoint_count", "transaction_count")


def test_what_came_since_is_verified_and_all_is_counted(marked: Kit, dealer: Desk) -> None:
    finish(marked, dealer)
    play(marked, dealer)
    found, whole = since(marked), verification(marked.house)
    assert found["ok"] and whole["ok"]
    assert {name: found[name] for name in COUNTED} == {name: whole[name] for name in COUNTED}
    assert (found["whole_at"], found["mark_at"] is None, whole["whole_at"]) == (found["mark_at"], False, None)


@pytest.mark.parametrize(
    ("table", "statement", "code"),
    [
        ("players_player", "UPDATE players_player SET ref = 'other' WHERE house_id = %s AND ref = 'T1-u1'",
         "state_extra"),
        ("tables_table", "UPDATE tables_table SET max_stack = max_stack + 1 WHERE house_id = %s", "state_differs"),
        ("players_player", "DELETE FROM players_player WHERE house_id = %s AND ref = 'T1-u1'", "state_missing"),
        ("ledger_account", "UPDATE ledger_account SET balance = balance + 1 WHERE book = %s AND code = '2020/T1/T1-u1'",
         "balance_differs"),
    ],
)  # fmt: skip
def test_rows_that_are_altered_since_are_found_however_old_they_are(
    marked: Kit, table: str, statement: str, code: str
) -> None:
    with unguarded(table) as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(statement, [marked.house.id])
        assert cursor.rowcount == 1
    assert code in since(marked)["audit_findings_by_code"]


def alter_a_line(kit: Kit, hand: str) -> None:
    """Change the first bet of a hand, the house's `min` or `max` by number, as only a superuser can."""
    with unguarded("hands_handline") as cursor:
        cursor.execute(
            "UPDATE hands_handline SET text = 'p1 po 200' WHERE text = 'p1 po 100' AND hand_id = "
            f"(SELECT {hand}(id) FROM hands_hand WHERE house_id = %s)", [kit.house.id],
        )  # fmt: skip
        assert cursor.rowcount == 1


def test_what_was_over_then_is_read_by_a_verification_of_the_whole(marked: Kit) -> None:
    alter_a_line(marked, "min")
    assert since(marked)["ok"]
    whole = verification_from_mark(marked.house, whole_after=timedelta(0))
    assert whole["not_from_mark"].startswith("the house was verified whole at ")
    assert "hand_row_differs" in whole["audit_findings_by_code"] and whole["hand_findings"]


def test_a_hand_that_was_played_then_is_read_again(marked: Kit) -> None:
    alter_a_line(marked, "max")
    assert "hand_row_differs" in since(marked)["audit_findings_by_code"]


def test_a_mark_is_kept_only_where_nothing_was_found(marked: Kit) -> None:
    path = marks.file_of(marked.house)
    assert path is not None
    before = path.read_bytes()
    with unguarded("tables_table") as cursor:
        cursor.execute("UPDATE tables_table SET max_stack = max_stack + 1 WHERE house_id = %s", [marked.house.id])
    assert not verification_from_mark(marked.house, keep=True)["ok"]
    assert path.read_bytes() == before and list(path.parent.glob(f"{path.name}.*")) == []


@pytest.mark.parametrize(
    ("member", "value", "why"),
    [
        ("program", "0" * 64, "another version of the program"),
        ("database", "1/other", "another database"),
        ("house", "other", "another house"),
    ],
)
def test_a_mark_of_something_else_is_not_used_and_it_is_said_why(
    marked: Kit, member: str, value: str, why: str
) -> None:
    path = marks.file_of(marked.house)
    assert path is not None
    shelf = Shelf(path)
    kept.note(shelf, kept.about(shelf) | {member: value})
    shelf.close()
    found = verification_from_mark(marked.house)
    assert why in found["not_from_mark"] and found["ok"] and found["whole_at"] is None


def test_a_damaged_mark_is_not_used(marked: Kit) -> None:
    path = marks.file_of(marked.house)
    assert path is not None
    path.write_bytes(b"SQLite format 3\0" + bytes(9_000))
    assert "shelf" in verification_from_mark(marked.house)["not_from_mark"]


def test_a_mark_names_no_code_to_run(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "mark")
    shelf._write("INSERT INTO entry (space, key, value) VALUES (?, ?, ?)", [("head", "about", pickle.dumps(os.getcwd))])
    with pytest.raises(Unusable, match="posix"):
        kept.about(shelf)


def test_the_checkpoint_under_the_mark_is_looked_up_again(marked: Kit) -> None:
    with unguarded("audit_checkpoint") as cursor:
        cursor.execute(
            "DELETE FROM audit_checkpoint WHERE house_id = %s AND size = (SELECT max(size) FROM audit_log "
            "WHERE house_id = %s)", [marked.house.id, marked.house.id],
        )  # fmt: skip
        assert cursor.rowcount == 1
    assert since(marked)["audit_findings_by_code"] == {"checkpoint_missing": 1}


def test_a_house_without_a_log_is_verified_and_has_no_mark_yet(kit: Kit, folder: Path, settings: Any) -> None:
    settings.CASINO_MARK_DIR = folder
    assert verification_from_mark(kit.house, keep=True)["ok"]
    assert marks.newest(kit.house) is None


def test_without_a_folder_no_mark_is_kept(kit: Kit, settings: Any) -> None:
    settings.CASINO_MARK_DIR = None
    with pytest.raises(Unusable, match="CASINO_MARK_DIR"):
        verification(kit.house, keep=True)
    assert verification_from_mark(kit.house)["not_from_mark"] == "there is no mark"


def test_the_command_goes_on_from_the_mark(marked: Kit, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("verify_house", marked.house.code, "--from-mark", "--keep-mark", "--whole-after", "8")
    said = json.loads(capsys.readouterr().out)
    assert said["ok"] and said["whole_at"] is not None
    newest = marks.newest(marked.house)
    assert newest is not None and newest.at > newest.whole_at


# --- What is set aside -----------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.sampled_from(("put", "pop", "shelve", "get", "all")), st.sampled_from("abcdef"))))
def test_a_dictionary_of_which_most_lies_on_a_shelf_is_a_dictionary(steps: list[tuple[str, str]]) -> None:
    shelved, plain = Shelved[list[str]](Shelf(), "space"), dict[str, list[str]]()
    for number, (step, key) in enumerate(steps):
        if step == "put":
            shelved[key] = plain[key] = [f"{key}{number}"]
        elif step == "pop":
            assert shelved.pop(key, None) == plain.pop(key, None)
        elif step == "shelve":
            shelved.shelve(0)
        elif step == "all":
            assert dict(shelved.items()) == plain and len(shelved) == len(plain)
        assert shelved.get(key) == plain.get(key) and (key in shelved) == (key in plain)
    assert shelved.expected() == len(plain)
    seen = Seen(shelved._shelf.last())
    assert {key: shelved.take(key, seen) for key in plain} == plain
    assert list(shelved.left(seen)) == []
