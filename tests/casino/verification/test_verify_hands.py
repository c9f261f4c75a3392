"""`manage.py verify_hands`: whatever of a hand's money a superuser alters, the hand, the line, the account and both
amounts are named."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from casino.bookkeeping import chart
from casino.hands.models import Hand, HandState
from casino.reports.selectors import hand_money
from casino.reports.verifying import verification
from casino.staff.models import Role
from casino.verification.replaying import Difference, Tally, verify
from ledger.models import Account, Transaction
from ledger.posting import Leg, post
from tests.casino import evenings
from tests.casino.kit import FAERBELN, FERBLI, SAMPLE, Desk, Kit
from tests.casino.superuser import unguarded

LEDGER = ("ledger_entry", "ledger_transaction", "ledger_account")
HANDS = ("hands_hand", "hands_handline")
#: Nobody matches p1's vizi: everyone pays one, and the pot is carried.
NOT_PLAYED = ("p1 po 100", "d dh p1 Kl8b", "d dh p2 Ah7l", "d dh p3 XlOb", "d dh p4 Aa9a", "p2 f", "p3 f", "p4 f")


def play(kit: Kit, desk: Desk, lines: tuple[str, ...], *, settle: bool = True, **dealt: Any) -> Hand:
    """One hand, one request a line."""
    name = desk.ok("hands", {"mode": "physical", **dealt})["hand"]
    for line in lines:
        desk.act(line)
    if settle:
        assert kit.settle() == ["settled"]
        desk.refresh()
    return Hand.objects.get(house=kit.house, name=name)


@pytest.fixture
def table(kit: Kit) -> Desk:
    """A dealer at a table of four."""
    kit.table()
    return kit.seated()


def found(kit: Kit) -> list[Difference]:
    return list(verify(kit.house))


def at(difference: Difference) -> tuple[Any, ...]:
    """Hand, line, its text, account, expected, found."""
    return (
        difference.hand, difference.line, difference.action, difference.account, difference.expected, difference.found,
    )  # fmt: skip


def move_entry(kit: Kit, key: str, code: str, *, amount: int | None = None, to: str | None = None) -> None:
    """Alter one entry of a posting as a superuser: another amount (debit positive), another account, or both."""
    entry = (
        "SELECT e.account_id, e.version FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id "
        "JOIN ledger_transaction t ON t.id = e.transaction_id "
        "WHERE t.book = %s AND t.idempotency_key = %s AND a.code = %s"
    )
    with unguarded(*LEDGER) as cursor:
        cursor.execute(entry, [kit.house.id, key, code])
        [(account, version)] = cursor.fetchall()
        if amount is not None:
            cursor.execute(
                "UPDATE ledger_entry SET amount = %s WHERE account_id = %s AND version = %s", [amount, account, version]
            )
        if to is not None:
            other = Account.objects.get(book=kit.house.id, code=to)
            cursor.execute(
                "UPDATE ledger_entry SET account_id = %s, version = 999 WHERE account_id = %s AND version = %s",
                [other.id, account, version],
            )


def test_hands_that_are_as_they_were_played_have_no_difference(kit: Kit, table: Desk) -> None:
    play(kit, table, NOT_PLAYED, button=4)
    play(kit, table, SAMPLE)
    play(kit, table, SAMPLE[:9], settle=False)
    tally = Tally()
    assert list(verify(kit.house, tally=tally)) == []
    assert tally.states == {"settled": 2, "playing": 1}
    out = io.StringIO()
    call_command("verify_hands", kit.house.code, stdout=out)
    [recorded] = map(json.loads, out.getvalue().splitlines())
    assert (recorded["hands"], recorded["differences"], recorded["states"]) == (3, 0, {"playing": 1, "settled": 2})


@pytest.mark.parametrize("batches", [1, 3, 24], ids=["in one request", "in requests of three", "line by line"])
def test_the_lines_of_one_request_are_one_posting(kit: Kit, table: Desk, batches: int) -> None:
    table.ok("hands", {"mode": "physical", "button": 4})
    size = min(-(-len(SAMPLE) // batches), 20)
    for first in range(0, len(SAMPLE), size):
        table.act(*SAMPLE[first : first + size])
    assert found(kit) == []
    assert kit.settle() == ["settled"]
    assert found(kit) == []


def test_an_altered_stake_is_named(kit: Kit, table: Desk) -> None:
    hand = play(kit, table, SAMPLE, button=4)
    # Line 10 is "p2 cc 200".
    move_entry(kit, f"hand:{hand.name}:10", "2020/T1/T1-u2", amount=150)
    move_entry(kit, f"hand:{hand.name}:10", "2030/T1", amount=-150)
    assert [at(difference) for difference in found(kit)] == [
        (hand.name, 10, "p2 cc 200", "2020/T1/T1-u2", -200, -150),
        (hand.name, 10, "p2 cc 200", "2030/T1", 200, 150),
    ]


def test_an_altered_stake_of_a_request_of_many_lines_is_named(kit: Kit, table: Desk) -> None:
    name = table.ok("hands", {"mode": "physical", "button": 4})["hand"]
    table.act(*SAMPLE[:11])
    # Lines 1 to 11 are one posting: p4 pays 100 in line 8 and 200 in line 11.
    [key] = Transaction.objects.filter(book=kit.house.id, kind="hand.stakes").values_list("idempotency_key", flat=True)
    with unguarded(*LEDGER) as cursor:
        cursor.execute(
            "DELETE FROM ledger_entry e USING ledger_account a, ledger_transaction t WHERE a.id = e.account_id "
            "AND t.id = e.transaction_id AND t.idempotency_key = %s AND t.book = %s AND a.code = '2020/T1/T1-u4' "
            "AND e.amount = 200", [key, kit.house.id],
        )  # fmt: skip
    differences = [at(difference) for difference in found(kit)]
    assert (name, 11, "p4 cc 200", "2020/T1/T1-u4", -300, -100) in differences


def test_an_entry_moved_to_another_player_is_named(kit: Kit, table: Desk) -> None:
    hand = play(kit, table, SAMPLE, button=4)
    move_entry(kit, f"hand:{hand.name}:9", "2020/T1/T1-u1", to="2020/T1/T1-u3")
    assert [at(difference) for difference in found(kit)] == [
        (hand.name, 9, "p1 rb 200", "2020/T1/T1-u1", -200, 0),
        (hand.name, 9, "p1 rb 200", "2020/T1/T1-u3", 0, -200),
    ]


def test_tax_that_is_off_by_one_is_named(kit: Kit, table: Desk) -> None:
    hand = play(kit, table, SAMPLE, button=4)
    move_entry(kit, f"hand:{hand.name}:settlement", "4010/T1", amount=-164)
    assert [at(difference) for difference in found(kit)] == [(hand.name, 24, "settlement", "4010/T1", 165, 164)]


def test_a_payout_to_the_wrong_seat_is_named(kit: Kit, table: Desk) -> None:
    hand = play(kit, table, SAMPLE, button=4)
    move_entry(kit, f"hand:{hand.name}:settlement", "2020/T1/T1-u1", to="2020/T1/T1-u4")
    assert [at(difference) for difference in found(kit)] == [
        (hand.name, 24, "settlement", "2020/T1/T1-u1", 3_135, 0),
        (hand.name, 24, "settlement", "2020/T1/T1-u4", 0, 3_135),
    ]


def test_chips_of_the_tax_that_fell_into_no_box_are_named(kit: Kit, table: Desk) -> None:
    hand = play(kit, table, SAMPLE, button=4)
    with unguarded(*LEDGER) as cursor:
        cursor.execute(
            "DELETE FROM ledger_entry e USING ledger_account a WHERE a.id = e.account_id AND a.book = %s "
            "AND a.code = '9150/T1' AND a.commodity = 'HUF.MAIN.5'", [kit.house.id],
        )  # fmt: skip
    [difference] = found(kit)
    assert (difference.hand, difference.account, difference.expected) == (hand.name, "9150/T1", 165)
    assert difference.found is not None and difference.found < 165


@pytest.mark.parametrize("part", ["carry_in", "carry_out"])
def test_a_carry_that_is_missing_is_named(kit: Kit, table: Desk, part: str) -> None:
    first = play(kit, table, NOT_PLAYED, button=4)
    second = play(kit, table, SAMPLE)
    key = f"hand:{first.name}:settlement" if part == "carry_out" else f"hand:{second.name}:0"
    move_entry(kit, key, "2040/T1", to="2030/T1")
    differences = [at(difference) for difference in found(kit)]
    if part == "carry_out":
        assert (first.name, 8, "settlement", "2040/T1", 400, 0) in differences
    else:
        assert (second.name, 0, "the start", "2040/T1", -400, 0) in differences


@pytest.mark.parametrize("line", [1, 12, 21])
def test_a_posting_that_is_missing_is_named(kit: Kit, table: Desk, line: int) -> None:
    hand = play(kit, table, SAMPLE, button=4)
    with unguarded(*LEDGER) as cursor:
        cursor.execute(
            "UPDATE ledger_transaction SET idempotency_key = 'elsewhere' WHERE book = %s AND idempotency_key = %s",
            [kit.house.id, f"hand:{hand.name}:{line}"],
        )
    first, *_, last = found(kit)
    assert (first.hand, first.line, first.action, first.found) == (hand.name, line, SAMPLE[line - 1], 0)
    assert "2030/T1 was posted to" in last.problem and "elsewhere" in last.problem


@pytest.mark.some_now(3)
@pytest.mark.parametrize("key", ["hand:T1-000001:25", "hand:T1-000001:3", "hand:T1-000002:1", "hand:T1-000001:1:void",
                                 "hand:T1-000001:bonus", "command::1:x", "x"])  # fmt: skip
def test_a_posting_that_no_line_explains_is_named(kit: Kit, table: Desk, key: str) -> None:
    play(kit, table, SAMPLE, button=4)
    ids = chart.ids(kit.house, {("2020/T1/T1-u2", "HUF"), ("2030/T1", "HUF")})
    stack, pot = ids["2020/T1/T1-u2", "HUF"], ids["2030/T1", "HUF"]
    with unguarded("ledger_transaction", trigger="ledger_transaction_is_recorded"):
        post(kit.house.id, key, "hand.stakes", [Leg(stack, 70), Leg(pot, -70)], {}, using="owner")
    differences = found(kit)
    assert any(difference.key == key for difference in differences), differences
    if key.endswith(":3"):
        # A line that deals cards moves nothing.
        assert at(differences[0]) == ("T1-000001", 3, "d dh p2 Ah7l", "2020/T1/T1-u2", 0, -70)
    with pytest.raises(CommandError):
        call_command("verify_hands", kit.house.code, "--table", "T1", stdout=io.StringIO())


def test_a_settlement_under_another_transaction_is_named(kit: Kit, table: Desk) -> None:
    hand = play(kit, table, SAMPLE, button=4)
    with unguarded(*HANDS) as cursor:
        cursor.execute("UPDATE hands_hand SET settlement = settlement - 1 WHERE id = %s", [hand.id])
    [difference] = found(kit)
    assert (difference.hand, difference.action) == (hand.name, "settlement")
    assert f"names ledger transaction {hand.settlement - 1}" in difference.problem  # type: ignore[operator]


@pytest.mark.some_now(3)
@pytest.mark.parametrize(
    ("change", "line", "problem"),
    [
        ("UPDATE hands_handline SET text = 'p4 rb 600' WHERE hand_id = %s AND seq = 20", 21, "amount_out_of_range"),
        ("DELETE FROM hands_handline WHERE hand_id = %s AND seq = 24", None, "the log ends before the hand does"),
        ("UPDATE hands_handline SET seq = 99 WHERE hand_id = %s AND seq = 24", None, "have a gap"),
        ("UPDATE hands_hand SET handle = handle + 1 WHERE id = %s", None, "the handle is 3300 by replay"),
        ("UPDATE hands_hand SET rules = 'faerbeln/1' WHERE id = %s", None, "unknown_rules"),
        ("UPDATE hands_hand SET stacks = '[20000, 15000, 9000, 40000]' WHERE id = %s", None, "the digest"),
    ],
    ids=["amount", "deleted", "numbers", "handle", "rules", "stack"],
)
def test_a_hand_that_does_not_replay_as_stored_is_named(
    kit: Kit, table: Desk, change: str, line: int | None, problem: str
) -> None:
    hand = play(kit, table, SAMPLE, button=4)
    with unguarded(*HANDS) as cursor:
        cursor.execute(change, [hand.id])
    first = found(kit)[0]
    assert (first.hand, first.line) == (hand.name, line)
    assert problem in first.problem
    assert not verification(kit.house)["ok"]


def test_a_voided_hand_leaves_nothing(kit: Kit, table: Desk) -> None:
    hand = play(kit, table, SAMPLE[:12], settle=False, button=4)
    floor = kit.dealer(role=Role.FLOOR)
    kit.approved(floor, "hand/void", {"cause": "misdeal", "reason": "a misdeal"})
    assert found(kit) == []
    move_entry(kit, f"hand:{hand.name}:9:void", "2020/T1/T1-u1", to="2020/T1/T1-u2")
    assert [at(difference)[1:] for difference in found(kit)] == [
        (9, "the mirror", "2020/T1/T1-u1", 200, 0),
        (9, "the mirror", "2020/T1/T1-u2", 0, 200),
    ]


def test_a_posting_of_a_settled_hand_that_was_reversed_is_named(kit: Kit, table: Desk) -> None:
    hand = play(kit, table, SAMPLE, button=4)
    with unguarded(*LEDGER) as cursor:
        cursor.execute(
            "UPDATE ledger_transaction SET reverses_id = (SELECT id FROM ledger_transaction WHERE book = %(book)s AND "
            "idempotency_key = %(undone)s) WHERE book = %(book)s AND idempotency_key = %(mirror)s",
            {"book": kit.house.id, "undone": f"hand:{hand.name}:9", "mirror": f"hand:{hand.name}:10"},
        )
    assert any("was reversed by" in difference.problem for difference in found(kit))


def test_a_disputed_hand_and_its_ruling_are_compared(kit: Kit, table: Desk) -> None:
    hand = play(kit, table, SAMPLE, settle=False, button=4)
    with unguarded(*HANDS) as cursor:
        cursor.execute("UPDATE hands_hand SET result = jsonb_set(result, '{tax}', '0') WHERE id = %s", [hand.id])
    assert kit.settle() == [HandState.DISPUTED]
    [difference] = found(kit)
    assert "the hand is disputed" in difference.problem
    floor = kit.dealer(role=Role.FLOOR)
    awards = [{"actor": "p1", "amount": 2_000}, {"actor": "p4", "amount": 1_135}]
    kit.approved(
        floor,
        "hand/ruling",
        {"hand": "T1-000001", "awards": awards, "tax": 165, "reason": "both had shown the same"},
    )
    assert found(kit) == []
    move_entry(kit, f"hand:{hand.name}:ruling", "2020/T1/T1-u1", to="2020/T1/T1-u2")
    [difference] = found(kit)
    assert difference.hand == hand.name and "the ruling says" in difference.problem


def test_tables_and_houses_are_verified_apart(kit: Kit, table: Desk) -> None:
    play(kit, table, SAMPLE, button=4)
    kit.table("T10")
    other = kit.seated("T10")
    hand = play(kit, other, tuple(SAMPLE), button=4)
    move_entry(kit, f"hand:{hand.name}:settlement", "4010/T10", amount=-164)
    assert list(verify(kit.house, table=Hand.objects.get(name="T1-000001", house=kit.house).table)) == []
    out = io.StringIO()
    with pytest.raises(CommandError):
        call_command("verify_hands", kit.house.code, "--table", "T10", stdout=out)
    difference, recorded = map(json.loads, out.getvalue().splitlines())
    assert (difference["hand"], difference["line"], difference["account"]) == (hand.name, 24, "4010/T10")
    assert (difference["expected"], difference["found"], recorded["hands"]) == (165, 164, 1)
    with pytest.raises(CommandError, match="no table T2"):
        call_command("verify_hands", kit.house.code, "--table", "T2")
    with pytest.raises(CommandError, match="no house"):
        call_command("verify_hands", "nowhere")


@pytest.mark.parametrize("game", ["ferbli", pytest.param("faerbeln", marks=pytest.mark.slow)])
def test_electronic_hands_of_any_kind_have_no_difference(kit: Kit, game: str) -> None:
    ferbli = FERBLI | {"cuhhol": True, "short_stack": "side_pot"}
    kit.table_for(game, ferbli if game == "ferbli" else FAERBELN, code="T1", seats=4)
    desk = kit.seated(stacks=(60_000,) * 4)
    evenings.play_electronically(kit, desk, hands=12, seed=11)
    tally = Tally()
    assert list(verify(kit.house, tally=tally)) == []
    assert tally.hands == 12
    assert {hand_money(hand)["state"] for hand in Hand.objects.filter(house=kit.house)} == {"settled"}


def test_a_seed_that_does_not_open_is_named(kit: Kit) -> None:
    kit.table()
    desk = kit.seated(stacks=(60_000,) * 4)
    [record] = evenings.play_electronically(kit, desk, hands=1, seed=3)
    with unguarded(*HANDS) as cursor:
        cursor.execute("UPDATE hands_hand SET sealed_seed = sealed_seed || '\\x00' WHERE house_id = %s", [kit.house.id])
    [difference] = found(kit)
    assert (difference.hand, "does not open" in difference.problem) == (record["hand"], True)


# --- Deals ----------------------------------------------------------------------------------------------------------


def dealt(kit: Kit, *, seeds: dict[int, str] | None = None) -> Hand:
    """An electronic hand that was just dealt, from a prepared deal where there are client seeds."""
    kit.table()
    desk = kit.seated()
    if seeds:
        desk.ok("deal")
        for seat, seed in seeds.items():
            desk.ok("deal/seeds", {"seat": seat, "seed": seed})
    name = desk.deal()["hand"]
    hand = Hand.objects.get(house=kit.house, name=name)
    assert found(kit) == []
    return hand


def alter(table: str, statement: str, kit: Kit) -> None:
    """One row altered as a superuser."""
    with unguarded(table) as cursor:
        cursor.execute(f"UPDATE {table} SET {statement}", [kit.house.id])
        assert cursor.rowcount == 1


_OF_DEAL = "WHERE deal_id IN (SELECT id FROM hands_deal WHERE house_id = %s)"


@pytest.mark.some_now(3)
@pytest.mark.parametrize(
    ("table", "statement", "problem"),
    [
        ("hands_hand", "commitment = repeat('ab', 32) WHERE house_id = %s", "its seed has the commitment "),
        ("hands_hand", 'client_seeds = \'{"1": "mallory"}\' WHERE house_id = %s', "client seeds {'1': 'alice'} "),
        ("hands_hand", "client_seeds = '{}' WHERE house_id = %s", "client seeds {'1': 'alice'} "),
        ("hands_clientseed", f"seed = 'mallory' {_OF_DEAL}", "client seeds {'1': 'mallory'} "),
        ("hands_clientseed", f"seat = 2 {_OF_DEAL}", "client seeds {'2': 'alice'} "),
        ("hands_deal", "commitment = repeat('ab', 32) WHERE house_id = %s", "its deal was prepared with commitment "),
        ("hands_deal", "state = 'abandoned' WHERE house_id = %s", "it was dealt, and its deal is abandoned"),
    ],
)
def test_a_deal_that_is_not_as_it_was_prepared_is_named(kit: Kit, table: str, statement: str, problem: str) -> None:
    hand = dealt(kit, seeds={1: "alice"})
    alter(table, statement, kit)
    differences = [one for one in found(kit) if one.problem.startswith(problem)]
    assert [one.hand for one in differences] == [hand.name], found(kit)


@pytest.mark.parametrize("roots", ['["00"]', "cards_roots || cards_roots"], ids=["another", "one more"])
def test_roots_that_are_not_those_of_its_packs_are_named(kit: Kit, roots: str) -> None:
    hand = dealt(kit)
    alter("hands_hand", f"cards_roots = {roots if '|' in roots else repr(roots)} WHERE house_id = %s", kit)
    [difference] = found(kit)
    assert (difference.hand, "its packs have the roots" in difference.problem) == (hand.name, True)


def test_a_hand_from_before_cards_were_committed_to_has_no_roots(kit: Kit) -> None:
    dealt(kit)
    alter("hands_hand", "cards_roots = '[]' WHERE house_id = %s", kit)
    assert found(kit) == []


def test_client_seeds_of_a_hand_that_nothing_was_prepared_for_are_named(kit: Kit) -> None:
    hand = dealt(kit)
    alter("hands_hand", 'client_seeds = \'{"1": "mallory"}\' WHERE house_id = %s', kit)
    assert [one.hand for one in found(kit) if one.problem.startswith("client seeds {} were taken")] == [hand.name]


@pytest.mark.parametrize("sealed", ["sealed_seed || '\\x00'", "'\\x00'", "''"])
def test_a_seed_that_does_not_open_is_a_difference_and_no_crash(kit: Kit, sealed: str) -> None:
    hand = dealt(kit, seeds={1: "alice"})
    alter("hands_hand", f"sealed_seed = {sealed} WHERE house_id = %s", kit)
    [difference] = found(kit)
    assert (difference.hand, "does not open" in difference.problem) == (hand.name, True)


@pytest.mark.some_now(4)
@pytest.mark.parametrize("state", ["playing", "voided"])
@pytest.mark.parametrize("seeds", ['{"north": "alice"}', '{"256": "alice"}', '{"1": 7}', '["alice"]'])
def test_client_seeds_that_cannot_be_read_are_a_difference_and_no_crash(kit: Kit, seeds: str, state: str) -> None:
    hand = dealt(kit, seeds={1: "alice"})
    alter("hands_hand", f"client_seeds = '{seeds}', state = '{state}' WHERE house_id = %s", kit)
    differences = found(kit)
    assert {one.hand for one in differences} == {hand.name}
    assert any("client seeds {'1': 'alice'} were taken" in one.problem for one in differences), differences
    assert state == "voided" or any("malformed_record" in one.problem for one in differences), differences


def test_what_sharing_a_cukassza_posts_is_no_hand_s_and_explained(kit: Kit, table: Desk) -> None:
    play(kit, table, NOT_PLAYED, button=4)
    table.ok("tips", {"seat": 1, "amount": 100})
    table.ok("close")
    assert found(kit) == []
