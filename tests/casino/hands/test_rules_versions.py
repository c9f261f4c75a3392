"""A hand keeps the version of its rules: settled, recorded and verified by it when today's rules are others."""

import json
from collections.abc import Iterator

import pytest
from django.db import DatabaseError, connection, transaction

from casino.hands import selectors
from casino.hands.models import Hand
from casino.reports.selectors import hand_money
from casino.reports.verifying import verification
from engine import registry as games
from engine.record.format import parse_record
from engine.record.replay import replay
from tests.casino.kit import Kit

#: p1 takes a pot of 250: one percent of tax is 2.5, and how it is rounded records the rules.
LINES = ("p1 po 25", "d dh p1 Kl8b", "d dh p2 Ah7l", "p2 cc 25", "p1 rb 50", "p2 cc 50", "p2 k",
         "d dh p1 Xb7b", "d dh p2 KhOl", "p1 lk 2", "p1 rb 50", "p2 lk 2", "p2 cc 50", "p2 st",
         "p1 sm Kl8bXb7b", "p2 sm Ah7lKhOl")  # fmt: skip
ZERO = "tests.engine.rules_zero"


def forget() -> None:
    games.game_info.cache_clear()
    games.rules_version.cache_clear()


@pytest.fixture
def rules_of_the_day(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A day on which Ferbli is played by rules that round tax up; undone, it is today again."""
    monkeypatch.setitem(games.MODULES, "ferbli", ZERO)
    forget()
    yield monkeypatch
    monkeypatch.undo()
    forget()


def test_a_hand_is_settled_and_verified_by_the_rules_it_was_dealt_by(
    kit: Kit, rules_of_the_day: pytest.MonkeyPatch
) -> None:
    kit.table(vizi=25, tax_bps=100)
    dealer = kit.seated(stacks=(5_000, 5_000))
    dealer.ok("hands", {"mode": "physical"})
    dealer.act(*LINES[:-1])
    # Overnight the rules change; the hand goes on by its own.
    rules_of_the_day.undo()
    rules_of_the_day.setitem(games.EARLIER, "ferbli/0", ZERO)
    forget()
    answer = dealer.act(LINES[-1])
    assert kit.settle() == ["settled"]
    dealer.refresh()
    hand = selectors.get(kit.house, answer["hand"])
    assert (hand.rules, hand_money(hand)["tax"]) == ("ferbli/0", 3)
    record = selectors.record(hand)
    assert record["rules"] == "ferbli/0"
    assert replay(parse_record(json.dumps(record))).ok

    # The next one is dealt by today's.
    dealer.ok("hands", {"mode": "physical"})
    dealer.act(*LINES)
    assert kit.settle() == ["settled"]
    last = Hand.objects.filter(house=kit.house).latest("id")
    assert (last.rules, hand_money(last)["tax"]) == ("ferbli/1", 2)
    assert verification(kit.house)["ok"]


def test_the_rules_of_a_hand_never_change(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    hand = Hand.objects.get(house=kit.house, name=dealer.ok("hands", {"mode": "physical"})["hand"])
    assert hand.rules == "ferbli/1"
    with pytest.raises(DatabaseError, match="inputs of hand"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE hands_hand SET rules = 'ferbli/0' WHERE id = %s", [hand.id])
