"""What tests look for words in is what was written since, and all of it."""

import uuid

import pytest

from casino.staff.models import Staff
from tests.casino import written
from tests.casino.kit import Kit


def test_what_was_written_since_is_found(kit: Kit) -> None:
    before, word = written.now(), uuid.uuid4().hex
    written.assert_nowhere(kit.house, word)
    kit.players(word)
    found = {table for table, text in written.since(before) if word in text}
    assert {"players_player", "audit_event", "ledger_account"} <= found
    with pytest.raises(AssertionError):
        written.assert_nowhere(kit.house, word)
    assert not [table for table, text in written.since(written.now()) if word in text]


def test_an_update_counts_and_other_houses_of_before_do_not(kit: Kit) -> None:
    word = uuid.uuid4().hex
    kit.players(word)
    other = Kit.found()
    written.assert_nowhere(other.house, word)
    with pytest.raises(AssertionError):
        written.assert_nowhere(kit.house, word)
    before = written.now()
    kit.office()
    Staff.objects.filter(house=kit.house).update(name=word.encode().hex())
    assert {table for table, text in written.since(before) if word.encode().hex() in text} == {"staff_staff"}
    with pytest.raises(AssertionError):
        written.assert_nowhere(other.house, word)
    other.close()
