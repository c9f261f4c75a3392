"""The log's own row, and the files outside, against what the leaves and the database's checkpoints say."""

import pytest

from casino.audit import outside
from casino.verification import auditing
from tests.casino.kit import Kit
from tests.casino.superuser import unguarded


@pytest.mark.parametrize(
    ("assignment", "problem"), [("size = size + 1", "leaves and has"), ("origin = 'x/1'", "its origin is x/1")]
)
def test_a_row_of_the_log_that_was_altered_is_named(kit: Kit, assignment: str, problem: str) -> None:
    kit.sequence()
    with unguarded("audit_log") as cursor:
        cursor.execute(f"UPDATE audit_log SET {assignment} WHERE house_id = %s", [kit.house.id])
    found = auditing.verify_house(kit.house).findings
    assert [(one.code, one.place) for one in found] == [("log_row_differs", "log of epoch 1")]
    assert problem in found[0].problem


def test_a_database_with_checkpoints_and_no_file_outside_is_named(kit: Kit) -> None:
    kit.sequence()
    for folder in outside.folders():
        outside.notes_file(folder, kit.house).unlink()
    assert "outside_checkpoints_missing" in [one.code for one in auditing.verify_house(kit.house).findings]
