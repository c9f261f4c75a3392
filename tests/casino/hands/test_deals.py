"""Prepared deals over HTTP: committed to, seeded by the console and by players' devices, dealt, checked, abandoned."""

import json
from collections.abc import Callable

import httpx
import pytest
from django.db import IntegrityError, connection, connections, transaction
from django.db.utils import DatabaseError

from casino.hands import deals, preparing
from casino.hands.models import ClientSeed, Deal, Hand, HandLine
from casino.hands.terms import set_up_table
from casino.staff.models import Role, TerminalKind
from casino.tables.models import CarryoverOnClose, ClientSeeds, Table
from casino.tables.services import Terms
from engine.deal.rebuild import check_deal, rebuilt
from engine.deal.shuffle import commitment, shuffled_deck
from engine.kernel.cards import TELL32
from engine.record.format import parse_record
from engine.record.replay import replay
from tests.casino.core.test_concurrency import at_once
from tests.casino.devices import DEEP, Device, code, device, events, play_out
from tests.casino.kit import ACTOR, FAERBELN, FERBLI, Kit
from tests.casino.transfers.test_transfers import floor_at

# --- Preparing and dealing ------------------------------------------------------------------------------------------


def test_a_deal_is_committed_to_then_seeded_then_dealt_and_everything_can_be_checked(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    # The third player sits out, but that player's seed counts.
    prepared = desk.ok("deal", {"sitting_out": [3], "button": 4})
    committed = prepared["last_event"]["commitment"]
    assert (prepared["prepared_deal"], prepared["last_event"]["hand"]) == ("T1-000001", "T1-000001")
    assert [at["seat"] for at in prepared["last_event"]["seats"]] == [1, 2, 4]
    desk.ok("deal/seeds", {"seat": 3, "seed": "alice"})
    own = device(kit, desk, 1)
    promised = own.commit("T1-000001", "bob").json()
    assert promised["client_seeds"] == {"3": "alice"} and promised["seed_commitments"].keys() == {"1"}
    assert code(own.reveal("T1-000001", "bob")) == (409, "commitments_open")
    desk.refresh()
    assert desk.ok("deal/close")["last_event"]["kind"] == "deal.commitments_closed"
    assert own.reveal("T1-000001", "b o b").status_code == 400
    assert code(own.reveal("T1-000001", "eve")) == (422, "seed_differs")
    recorded = own.reveal("T1-000001", "bob").json()
    assert recorded["client_seeds"] == {"1": "bob", "3": "alice"}
    assert recorded.pop("audit")["chain"] == "table/T1"
    desk.refresh()
    assert desk.get("deal").json() == recorded == own.get("deal").json()
    answer = desk.ok("hands", {"mode": "electronic"})
    assert (answer["hand"], answer["commitment"], answer["client_seeds"]) == (
        "T1-000001",
        committed,
        {"1": "bob", "3": "alice"},
    )
    assert desk.refresh()["prepared_deal"] is None
    play_out(desk, answer)
    kit.settle()
    record = kit.office().get("hands/T1-000001").json()
    seed = bytes.fromhex(record["seed"])
    assert commitment(seed, "T1-000001") == committed == record["commit"]
    dealt = shuffled_deck(TELL32, seed, "T1-000001", {1: "bob", 3: "alice"})
    assert record.get("deck", record.get("decks", [""])[0]) == "".join(dealt)
    assert dealt != shuffled_deck(TELL32, seed, "T1-000001", {1: "bob"})
    assert replay(parse_record(json.dumps(record))).ok
    kinds = (
        "deal.committed", "deal.seed_taken", "seat.key_issued", "deal.seed_committed", "deal.commitments_closed",
        "hand.dealt",
    )  # fmt: skip
    trail = [(event["kind"], event["role"], event["data"].get("given_by")) for event in events(kit, *kinds)]
    assert trail == [
        ("deal.committed", "dealer", None),
        ("deal.seed_taken", "dealer", "console"),
        ("seat.key_issued", "dealer", None),
        ("deal.seed_committed", "player", None),
        ("deal.commitments_closed", "dealer", None),
        ("deal.seed_taken", "player", "player"),
        ("hand.dealt", "dealer", None),
    ]
    [dealt_event] = events(kit, "hand.dealt")
    assert dealt_event["data"]["client_seeds"] == {"1": "bob", "3": "alice"}
    assert dealt_event["data"]["cards_roots"] == answer["cards_roots"]
    by_player = events(kit, "deal.seed_taken")[1]
    assert (by_player["actor"], by_player["terminal"], by_player["chain"]) == ("T1-u1", "T1/1", "table/T1")


def test_the_seed_is_sealed_before_the_commitment_is_recorded(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    recorded = desk.ok("deal")["last_event"]["commitment"]
    deal = Deal.objects.get(house=kit.house)
    assert commitment(deals.open_seed(deal), deal.name) == recorded == deal.commitment
    assert deals.open_seed(deal) not in bytes(deal.sealed_seed)
    answered = kit.office().get("deals/T1-000001").json()
    assert answered == {
        "hand": "T1-000001",
        "state": "prepared",
        "commitment": recorded,
        "seats": [{"seat": seat, "player": f"T1-u{seat}"} for seat in (1, 2, 3, 4)],
        "announced": [],
        "commitments_closed": False,
        "seed_commitments": {},
        "client_seeds": {},
        "seed": None,
    }


def test_a_prepared_deal_stands_in_the_way_of_other_deals_and_of_closing(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    assert code(desk.get("deal")) == (409, "no_deal_prepared")
    assert code(desk.post("hands", {"mode": "electronic"})) == (409, "no_deal_prepared")
    for fixed in ({"button": 1}, {"sitting_out": [1]}, {"announce": ["cuhhol"]}):
        assert code(desk.post("hands", {"mode": "electronic"} | fixed)) == (400, "invalid_request")
    assert code(desk.post("deal/seeds", {"seat": 1, "seed": "x"})) == (409, "no_deal_prepared")
    desk.ok("deal")
    for path, body in (("deal", {}), ("hands", {"mode": "physical"}), ("close", {})):
        assert code(desk.post(path, body)) == (409, "deal_prepared"), path
    desk.deal()
    assert code(desk.post("deal")) == (409, "table_playing")


def test_each_seat_adds_one_seed_and_only_a_taken_seat(kit: Kit) -> None:
    kit.table(seats=5)
    desk = kit.seated()
    desk.ok("deal")
    desk.ok("deal/seeds", {"seat": 2, "seed": "~" * 64})
    assert code(desk.post("deal/seeds", {"seat": 2, "seed": "again"})) == (409, "seed_taken")
    assert code(desk.post("deal/seeds", {"seat": 5, "seed": "nobody"})) == (404, "not_found")
    for wrong in ("", "x" * 65, "a b", "é", 5, None, "a\n"):
        assert code(desk.post("deal/seeds", {"seat": 1, "seed": wrong})) == (400, "invalid_request"), wrong
    own = device(kit, desk, 2)
    assert code(own.commit("T1-000001", "again")) == (409, "seed_taken")
    # Who sits down on the chair now finds that it has had its say.
    desk.ok("seats/2/leave")
    kit.players("late", chips=9_000)
    desk.ok("seats", {"seat": 2, "player": "late", "amount": 9_000})
    assert code(desk.post("deal/seeds", {"seat": 2, "seed": "late"})) == (409, "seed_taken")
    assert ClientSeed.objects.filter(deal__house=kit.house).count() == 1


def test_an_abandoned_name_is_used_up_and_its_seed_is_open(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    floor = kit.dealer(role=Role.FLOOR)
    names = []
    for _ in range(2):
        names.append(desk.ok("deal")["last_event"]["hand"])
        desk.ok("deal/seeds", {"seat": 1, "seed": "x"})
        assert code(desk.post("deal/abandon", {"reason": "not mine to say"})) == (403, "forbidden")
        floor.refresh()
        floor.ok("deal/abandon", {"reason": "a player fell ill"})
        desk.refresh()
    assert names == ["T1-000001", "T1-000001x2"]
    office = kit.office()
    found = office.get("deals/T1-000001").json()
    assert found["state"] == "abandoned" and found["client_seeds"] == {"1": "x"}
    assert commitment(bytes.fromhex(found["seed"]), "T1-000001") == found["commitment"]
    recorded = events(kit, "deal.abandoned")
    assert [event["reason"] for event in recorded] == ["a player fell ill"] * 2
    # A hand with cards of its own does not bear a name that was committed to either.
    assert desk.ok("hands", {"mode": "physical"})["hand"] == "T1-000001x3"
    floor.refresh()
    floor.ok("hand/void", {"cause": "misdeal", "reason": "only a test"})
    desk.refresh()
    assert desk.ok("deal")["last_event"]["hand"] == "T1-000002"
    assert code(office.get("deals/T1-000009")) == (404, "not_found")
    assert kit.dealer().http.get("/api/v1/deals/T1-000001").status_code == 403


def test_auditors_see_which_cards_were_not_played_out_in_a_voided_hand(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    desk.ok("deal")
    desk.ok("deal/seeds", {"seat": 1, "seed": "x"})
    answer = desk.deal()
    auditor, floor = kit.office(), kit.dealer(role=Role.FLOOR)
    assert code(auditor.get("hands/T1-000001")) == (409, "hand_in_play")
    done = floor.ok("hand/void", {"cause": "misdeal", "reason": "a bell rang"})["last_event"]
    shown = {"kind", "hand", "cause", "mirrors", "pot", "cards_shown", "acted", "log_complete"}
    assert done.keys() == shown, "the console at the table learns no card"
    record = parse_record(json.dumps(auditor.get("hands/T1-000001").json()))
    assert record.commit == answer["commitment"] and list(rebuilt(record).roots) == answer["cards_roots"]
    check_deal(record)
    seen = kit.office(Role.FLOOR).get("hands/T1-000001").json()
    assert not {"seed", "deck"} & seen.keys()


def test_a_deal_without_seeds_is_dealt_from_the_house_s_alone(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    answer = desk.deal()
    assert answer["client_seeds"] == {} and len(answer["cards_roots"]) == 1
    [dealt] = events(kit, "hand.dealt")
    assert "client_seeds" not in dealt["data"] and dealt["data"]["commitment"] == answer["commitment"]


def test_who_reveals_last_has_committed_before_any_seed_was_known(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    name = desk.ok("deal")["last_event"]["hand"]
    own = {seat: device(kit, desk, seat) for seat in (1, 2)}
    assert own[1].commit(name, "first").is_success and own[2].commit(name, "second").is_success
    desk.refresh()
    assert code(desk.post("hands", {"mode": "electronic"})) == (409, "client_seeds_unrevealed")
    desk.ok("deal/close")
    assert own[1].reveal(name, "first").is_success
    # Seat 2 knows the other seed now: it can reveal what it committed to, or nothing.
    for other in ("other", "first"):
        assert code(own[2].reveal(name, other)) == (422, "seed_differs")
    assert code(own[2].commit(name, "other")) == (409, "commitments_closed")
    desk.refresh()
    assert code(desk.post("deal/seeds", {"seat": 3, "seed": "late"})) == (409, "commitments_closed")
    assert code(desk.post("deal/close")) == (409, "commitments_closed")
    refused = desk.post("hands", {"mode": "electronic"})
    assert code(refused) == (409, "client_seeds_unrevealed") and refused.json()["seats"] == [2]
    floor = kit.dealer(role=Role.FLOOR)
    floor.ok("deal/abandon", {"reason": "seat 2 does not reveal"})
    [abandoned] = events(kit, "deal.abandoned")
    assert abandoned["data"]["unrevealed"] == [2]
    assert kit.office().get(f"deals/{name}").json()["seed_commitments"].keys() == {"1", "2"}


def test_the_commitments_close_when_every_seat_that_is_dealt_in_has_given_its_own(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    name = desk.ok("deal", {"sitting_out": [4]})["last_event"]["hand"]
    own = {seat: device(kit, desk, seat) for seat in (1, 2)}
    desk.ok("deal/seeds", {"seat": 3, "seed": "said"})
    assert not own[1].commit(name, "one").json()["commitments_closed"]
    last = own[2].commit(name, "two").json()
    assert last["commitments_closed"]
    # The same again changes nothing, also now.
    assert own[2].commit(name, "two").json() == last
    assert [event["data"].get("closed") for event in events(kit, "deal.seed_committed")] == [None, True]
    assert all(own[seat].reveal(name, seed).is_success for seat, seed in ((1, "one"), (2, "two")))
    desk.refresh()
    assert desk.deal()["client_seeds"] == {"1": "one", "2": "two", "3": "said"}


def test_a_seat_that_has_not_committed_reveals_nothing(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    name = desk.ok("deal")["last_event"]["hand"]
    own = device(kit, desk, 1)
    desk.ok("deal/close")
    assert code(own.reveal(name, "late")) == (409, "no_seed_commitment")
    assert desk.deal()["client_seeds"] == {}


def test_seats_and_button_are_fixed_before_the_first_seed(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    desk.ok("deal", {"button": 2, "sitting_out": [3]})
    desk.ok("seats/1/leave")
    kit.players("late", chips=9_000)
    desk.ok("seats", {"seat": 1, "player": "late", "amount": 9_000})
    refused = desk.post("hands", {"mode": "electronic"})
    assert code(refused) == (409, "deal_seats_changed") and refused.json()["seats"] == [1]
    floor = kit.dealer(role=Role.FLOOR)
    floor.ok("deal/abandon", {"reason": "seat 1 changed"})
    desk.refresh()
    answer = desk.deal(button=2, sitting_out=[3])
    assert [at["seat"] for at in answer["seats"]] == [4, 1, 2]


def test_only_so_many_deals_in_a_row_are_abandoned(kit: Kit) -> None:
    table = kit.table()
    desk = kit.seated()
    Table.objects.filter(id=table.id).update(abandoned_deals=preparing.MOST_ABANDONED - 1)
    desk.ok("deal")
    floor = kit.dealer(role=Role.FLOOR)
    floor.ok("deal/abandon", {"reason": "once more"})
    desk.refresh()
    refused = desk.post("deal")
    assert code(refused) == (409, "too_many_abandoned") and refused.json()["max"] == preparing.MOST_ABANDONED
    desk.ok("hands", {"mode": "physical"})
    floor.refresh()
    floor.ok("hand/void", {"cause": "misdeal", "reason": "only a test"})
    desk.refresh()
    desk.ok("deal")


def test_a_deal_that_could_not_be_dealt_is_not_prepared(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    assert code(desk.post("deal", {"sitting_out": [1, 2, 3]})) == (409, "too_few_players")
    assert code(desk.post("deal", {"sitting_out": [9]})) == (422, "no_such_seat")
    assert not Deal.objects.filter(house=kit.house).exists()


def test_what_was_committed_to_does_not_change(kit: Kit) -> None:
    kit.table(cuhhol=True)
    desk = kit.seated()
    desk.ok("deal")
    desk.ok("deal/seeds", {"seat": 1, "seed": "x"})
    key = desk.ok("seats/1/key")["key"]
    desk.deal()
    hand, deal = Hand.objects.get(house=kit.house), Deal.objects.get(house=kit.house)
    with connections["owner"].cursor() as cursor:
        for statement in (
            f"UPDATE hands_deal SET state = 'prepared' WHERE id = {deal.id}",
            f"UPDATE hands_deal SET commitment = repeat('0', 64) WHERE id = {deal.id}",
            f"DELETE FROM hands_deal WHERE id = {deal.id}",
            f"UPDATE hands_deal SET seats = '[]' WHERE id = {deal.id}",
            f"UPDATE hands_deal SET closed_at = now() WHERE id = {deal.id}",
            f"UPDATE hands_clientseed SET seed = 'y' WHERE deal_id = {deal.id}",
            f"INSERT INTO hands_seedcommitment (house_id, deal_id, seat, player, commitment) "
            f"VALUES ('{kit.house.id}', {deal.id}, 2, 'u', repeat('0', 64))",
            f"INSERT INTO hands_clientseed (house_id, deal_id, seat, player, seed, given_by) "
            f"VALUES ('{kit.house.id}', {deal.id}, 2, 'u', 'y', 'player')",
            f"UPDATE hands_hand SET client_seeds = '{{}}' WHERE id = {hand.id}",
            f"UPDATE hands_hand SET cards_roots = '[]' WHERE id = {hand.id}",
            f'UPDATE hands_hand SET cards_roots = \'["00", "11"]\' WHERE id = {hand.id}',
            f"UPDATE tables_seatkey SET digest = repeat('0', 64) WHERE seating_id IN ("
            f"SELECT id FROM tables_seating WHERE session_id = {hand.session_id})",
        ):
            with pytest.raises(
                DatabaseError, match=r"does not change|do not change|never deleted|no such seeds|append-only"
            ):
                cursor.execute(statement)
    assert Device(kit, key).get("hand").status_code == 200


def test_a_temporary_table_does_not_get_past_a_guard(kit: Kit) -> None:
    """The application may make temporary tables, and they are found before those they are named after."""
    kit.table()
    desk = kit.seated()
    desk.ok("deal")
    desk.ok("deal/seeds", {"seat": 1, "seed": "x"})
    desk.deal()
    kit.dealer(role=Role.FLOOR).ok("hand/void", {"cause": "misdeal", "reason": "only a test"})
    hand, deal = Hand.objects.get(house=kit.house), Deal.objects.get(house=kit.house)
    forged = (
        (f"CREATE TEMP TABLE hands_deal ON COMMIT DROP AS "
         f"SELECT house_id, id, 'prepared' AS state FROM hands_deal WHERE id = {deal.id}",
         f"INSERT INTO hands_clientseed (house_id, deal_id, seat, player, seed, given_by) "
         f"VALUES ('{kit.house.id}', {deal.id}, 2, 'u', 'y', 'player')"),
        (f"CREATE TEMP TABLE hands_hand ON COMMIT DROP AS "
         f"SELECT house_id, id, 'playing' AS state FROM hands_hand WHERE id = {hand.id}",
         f"INSERT INTO hands_cardentry (house_id, hand_id, seat, index, sealed, hash) "
         f"VALUES ('{kit.house.id}', {hand.id}, 1, 0, 'Aa', 's')"),
        (f"CREATE TEMP TABLE hands_hand ON COMMIT DROP AS "
         f"SELECT house_id, id, 'playing' AS state FROM hands_hand WHERE id = {hand.id}",
         f"INSERT INTO hands_handline (house_id, hand_id, seq, text) VALUES ('{kit.house.id}', {hand.id}, 1, 'p1 f')"),
    )  # fmt: skip
    for temporary, forgery in forged:
        refused = pytest.raises(DatabaseError, match=r"no such seeds|not being played")
        with refused, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(temporary)
            cursor.execute(forgery)


@pytest.mark.parametrize("numbers", [(3,), (1, 3), (3, 1), (2, 4, 5)])
@pytest.mark.parametrize("hidden", [False, True])
def test_lines_leave_no_gap_in_a_log(kit: Kit, numbers: tuple[int, ...], hidden: bool) -> None:
    """Lines that one statement adds are judged together; a temporary table of the name under which they are seen
    changes nothing."""
    kit.table()
    desk = kit.seated()
    desk.ok("hands", {"mode": "physical"})
    hand = Hand.objects.get(house=kit.house)
    there = HandLine.objects.filter(hand=hand).count()
    lines = ", ".join(f"('{kit.house.id}'::uuid, {hand.id}, {there + number}, 'p1 f')" for number in numbers)
    refused = pytest.raises(DatabaseError, match="has no line before it")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        if hidden:
            cursor.execute("CREATE TEMP TABLE added ON COMMIT DROP AS SELECT * FROM hands_handline WHERE false")
        cursor.execute(f"INSERT INTO hands_handline (house_id, hand_id, seq, text) VALUES {lines}")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO hands_handline (house_id, hand_id, seq, text) VALUES"
            f" ('{kit.house.id}', {hand.id}, {there + 2}, 'p1 f'), ('{kit.house.id}', {hand.id}, {there + 1}, 'p1 f')"
        )
        transaction.set_rollback(True)


# --- Records --------------------------------------------------------------------------------------------------------


@pytest.mark.some_now(2)
@pytest.mark.parametrize("game", ["ferbli", "faerbeln"])
def test_the_floor_reads_a_hand_as_everybody_saw_it(kit: Kit, game: str) -> None:
    if game == "ferbli":
        kit.table(cuhhol=True)
    else:
        kit.table_for("faerbeln", FAERBELN, code="T1", seats=4)
    desk = kit.seated(stacks=DEEP)
    floor, auditor = kit.office(Role.FLOOR), kit.office()
    hidden = 0
    for number in range(1, 7):
        answer = desk.deal()
        assert code(floor.get(f"hands/{answer['hand']}")) == (409, "hand_in_play")
        play_out(desk, answer, seed=number)
        kit.settle()
        desk.refresh()
        whole = auditor.get(f"hands/{answer['hand']}").json()
        seen = floor.get(f"hands/{answer['hand']}").json()
        assert seen.keys() == whole.keys() - {"seed", "deck", "decks", "state", "prev"}
        assert {key: seen[key] for key in seen if key != "acts"} == {key: whole[key] for key in seen if key != "acts"}
        outcome = replay(parse_record(json.dumps(seen)))
        assert outcome.ok, outcome.error
        assert replay(parse_record(json.dumps(whole))).ok
        hidden += sum("??" in line for line in seen["acts"])
    assert hidden


def test_seeds_that_are_revealed_while_the_cards_are_dealt_are_all_used(kit: Kit) -> None:
    kit.table()
    desk = kit.seated(stacks=DEEP)
    own = {seat: device(kit, desk, seat) for seat in range(1, 5)}
    for number in range(1, 5):
        name = desk.ok("deal")["last_event"]["hand"]
        assert all(each.commit(name, f"seat-{seat}").is_success for seat, each in own.items())
        desk.refresh()

        def deal() -> httpx.Response:
            while (answer := desk.post("hands", {"mode": "electronic"})).status_code == 412:
                desk.refresh()
            return answer

        def add(seat: int, name: str = name) -> Callable[[], httpx.Response]:
            return lambda: own[seat].reveal(name, f"seat-{seat}")

        *answers, tried = at_once(*(add(seat) for seat in own), deal)
        # The deal waits for all of them.
        assert all(answer.is_success for answer in answers)
        if not tried.is_success:
            assert code(tried) == (409, "client_seeds_unrevealed")
            desk.refresh()
            tried = desk.post("hands", {"mode": "electronic"})
        taken = {str(seat): f"seat-{seat}" for seat in own}
        assert tried.json()["client_seeds"] == taken == Hand.objects.get(house=kit.house, name=name).client_seeds
        play_out(desk, tried.json(), seed=number)
        kit.settle()
        desk.refresh()


def test_no_two_deals_are_prepared_at_once_whatever_asks(kit: Kit) -> None:
    table = kit.table()
    desk = kit.seated()
    desk.ok("deal")
    again = Deal(
        house=kit.house, table=table, number=1, name="T1-000001x2", commitment="0" * 64, sealed_seed=b"x", seats=[]
    )
    with pytest.raises(IntegrityError, match="deal_one_prepared"), transaction.atomic():
        again.save(force_insert=True)


# --- Tables that demand seeds ---------------------------------------------------------------------------------------


def test_a_table_deals_electronically_when_all_who_are_dealt_in_have_given_seeds(kit: Kit) -> None:
    table = kit.table()
    [set_up] = events(kit, "table.set_up")
    assert (table.client_seeds, set_up["data"]["client_seeds"]) == ("optional", "optional")
    desk = kit.seated(stacks=DEEP)
    floor = floor_at(kit, TerminalKind.TABLE, "T1")
    demand = {"client_seeds": "all", "reason": "the players want it"}
    assert code(desk.post("client-seeds", demand)) == (403, "forbidden")
    assert code(floor.post("client-seeds", demand | {"client_seeds": "optional"})) == (409, "no_change")
    assert code(floor.post("client-seeds", demand | {"client_seeds": "some"})) == (400, "invalid_request")
    assert floor.ok("client-seeds", demand)["client_seeds"] == "all"
    [changed] = events(kit, "table.client_seeds_changed")
    assert changed["data"] == {"before": "optional", "after": "all", "table_version": floor.version}
    assert changed["reason"] == "the players want it"

    def lacking(path: str = "deal/close") -> list[int]:
        desk.refresh()
        refused = desk.post(path, {"mode": "electronic"} if path == "hands" else {})
        assert code(refused) == (409, "client_seeds_missing")
        found: list[int] = refused.json()["seats"]
        return found

    desk.refresh()
    desk.ok("deal", {"sitting_out": [2]})
    own = device(kit, desk, 1)
    assert lacking() == lacking("hands") == [1, 3, 4]
    assert own.commit("T1-000001", "bob").is_success
    desk.refresh()
    desk.ok("deal/seeds", {"seat": 3, "seed": "alice"})
    assert lacking() == lacking("hands") == [4]
    assert desk.refresh()["prepared_deal"] == "T1-000001"
    floor.refresh()
    assert code(floor.post("client-seeds", demand | {"client_seeds": "optional"})) == (409, "deal_prepared")
    desk.refresh()
    closing = desk.ok("deal/seeds", {"seat": 4, "seed": "eve"})["last_event"]
    assert closing["closed"] is True
    assert own.reveal("T1-000001", "bob").is_success
    desk.refresh()
    answer = desk.deal()
    assert answer["client_seeds"] == {"1": "bob", "3": "alice", "4": "eve"}
    play_out(desk, answer)
    kit.settle()
    # A pack in the dealer's hands needs no seeds, and the floor can do without them again.
    desk.refresh()
    desk.ok("hands", {"mode": "physical"})
    floor.refresh()
    assert code(floor.post("client-seeds", demand | {"client_seeds": "optional"})) == (409, "table_playing")
    floor.ok("hand/void", {"cause": "misdeal", "reason": "misdealt"})
    floor.ok("client-seeds", demand | {"client_seeds": "optional"})
    desk.refresh()
    assert desk.deal()["client_seeds"] == {}


def test_a_table_is_set_up_with_the_seeds_it_demands(kit: Kit) -> None:
    agreed = FERBLI | {"vizi": 100}
    terms = Terms(
        game="ferbli", options=agreed, seats=4, min_stack=1_000, max_stack=1_000_000,
        carryover_on_close=CarryoverOnClose.SPLIT,
        client_seeds=ClientSeeds.ALL,
    )  # fmt: skip
    set_up_table(house=kit.house, code="T1", terms=terms, actor=ACTOR)
    [recorded] = events(kit, "table.set_up")
    assert recorded["data"]["client_seeds"] == "all"
    assert kit.office().get("tables/T1").json()["client_seeds"] == "all"
    with pytest.raises(IntegrityError, match="table_client_seeds"):
        Table.objects.update(client_seeds="few")
