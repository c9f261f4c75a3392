"""Prepared deals over HTTP: committed to, seeded by the console and by players' devices, dealt, checked, abandoned."""

import json
import os
import random
import subprocess
import sys
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from django.db import IntegrityError, connections, transaction
from django.db.utils import DatabaseError
from django.test import Client

from casino.audit.models import Event
from casino.hands import deals, selectors
from casino.hands.models import ClientSeed, Deal, Hand
from casino.staff.models import Role
from casino.tables.models import SeatKey
from deploy.demo.dealer import choose
from engine.cards import TELL32, UNKNOWN
from engine.opening import check_opening
from engine.rebuild import rebuilt
from engine.record import parse_record
from engine.replay import replay
from engine.shuffle import commitment, shuffled_deck
from tests.casino.kit import FAERBELN, Desk, Kit


class Device:
    """A player's own device: an HTTP client with the key of a seat."""

    def __init__(self, kit: Kit, key: str) -> None:
        self.http = kit.http(None)
        self.http.headers["Authorization"] = f"Seat {key}"

    def get(self, path: str) -> httpx.Response:
        """Read below `seat/`."""
        return self.http.get(f"/api/v1/seat/{path}")

    def seed(self, hand: str, seed: Any) -> httpx.Response:
        """Add a seed to the deal of this hand."""
        return self.http.post("/api/v1/seat/seed", json={"hand": hand, "seed": seed})


def device(kit: Kit, desk: Desk, seat: int) -> Device:
    """A device with a new key for a seat."""
    return Device(kit, desk.ok(f"seats/{seat}/key")["key"])


def events(kit: Kit, *kinds: str) -> list[dict[str, Any]]:
    """Payloads of the house's events of these kinds, oldest first."""
    found = Event.objects.filter(chain__house=kit.house).order_by("id").values_list("payload", flat=True)
    return [event for event in map(json.loads, found) if event["kind"] in kinds]


def code(answer: httpx.Response) -> tuple[int, str]:
    """Status and code of a refusal."""
    return answer.status_code, answer.json()["code"]


def play_out(desk: Desk, answer: dict[str, Any], seed: int = 1) -> dict[str, Any]:
    """Random legal actions to the end of the hand."""
    choice = random.Random(seed)
    while answer["actor"] is not None:
        action = choose(answer["legal_actions"], choice, 100)
        tried = desk.post("hand/actions", {"actions": [action]})
        if not tried.is_success:
            other = {"k": "f", "f": "k"}[action["verb"]]
            tried = desk.post("hand/actions", {"actions": [action | {"verb": other}]})
        answer = tried.json()
    return answer


def check(told: dict[str, Any]) -> list[str]:
    """Check every opening of an answer; the cards."""
    for opening in told["openings"]:
        check_opening(opening, told["hand"], told["cards_roots"])
    return [opening["card"] for opening in told["openings"]]


# --- Preparing and dealing ------------------------------------------------------------------------------------------


def test_a_deal_is_committed_to_then_seeded_then_dealt_and_everything_can_be_checked(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    prepared = desk.ok("deal")
    committed = prepared["done"]["commitment"]
    assert (prepared["prepared_deal"], prepared["done"]["hand"]) == ("T1-000001", "T1-000001")
    desk.ok("deal/seeds", {"seat": 3, "seed": "alice"})
    own = device(kit, desk, 1)
    assert own.seed("T1-000001", "b o b").status_code == 400
    told = own.seed("T1-000001", "bob").json()
    assert told["client_seeds"] == {"1": "bob", "3": "alice"}
    desk.refresh()
    assert desk.get("deal").json() == told == own.get("deal").json()
    # The third player sits out, but what he has said counts.
    answer = desk.ok("hands", {"mode": "electronic", "sitting_out": [3]})
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
    kinds = ("deal.committed", "deal.seed_taken", "seat.key_issued", "hand.dealt")
    trail = [(event["kind"], event["role"], event["data"].get("given_by")) for event in events(kit, *kinds)]
    assert trail == [
        ("deal.committed", "dealer", None),
        ("deal.seed_taken", "dealer", "console"),
        ("seat.key_issued", "dealer", None),
        ("deal.seed_taken", "player", "player"),
        ("hand.dealt", "dealer", None),
    ]
    [dealt_event] = events(kit, "hand.dealt")
    assert dealt_event["data"]["client_seeds"] == {"1": "bob", "3": "alice"}
    assert dealt_event["data"]["cards_roots"] == answer["cards_roots"]
    by_player = events(kit, "deal.seed_taken")[1]
    assert (by_player["actor"], by_player["terminal"], by_player["chain"]) == ("T1-u1", "T1/1", "table/T1")


def test_the_seed_is_sealed_before_the_commitment_is_told(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    told = desk.ok("deal")["done"]["commitment"]
    deal = Deal.objects.get(house=kit.house)
    assert commitment(deals.open_seed(deal), deal.name) == told == deal.commitment
    assert deals.open_seed(deal) not in bytes(deal.sealed_seed)
    answered = kit.office().get("deals/T1-000001").json()
    assert answered == {"hand": "T1-000001", "state": "prepared", "commitment": told, "client_seeds": {}, "seed": None}


def test_a_prepared_deal_stands_in_the_way_of_other_deals_and_of_closing(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    assert code(desk.get("deal")) == (409, "no_deal_prepared")
    assert code(desk.post("deal/seeds", {"seat": 1, "seed": "x"})) == (409, "no_deal_prepared")
    desk.ok("deal")
    for path, body in (("deal", {}), ("hands", {"mode": "physical"}), ("close", {})):
        assert code(desk.post(path, body)) == (409, "deal_prepared"), path
    desk.ok("hands", {"mode": "electronic"})
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
    assert code(own.seed("T1-000001", "again")) == (409, "seed_taken")
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
        names.append(desk.ok("deal")["done"]["hand"])
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
    told = events(kit, "deal.abandoned")
    assert [event["reason"] for event in told] == ["a player fell ill"] * 2
    # A hand with cards of its own does not bear a name that was committed to either.
    assert desk.ok("hands", {"mode": "physical"})["hand"] == "T1-000001x3"
    floor.refresh()
    floor.ok("hand/void", {"reason": "only a test"})
    desk.refresh()
    assert desk.ok("deal")["done"]["hand"] == "T1-000002"
    assert code(office.get("deals/T1-000009")) == (404, "not_found")
    assert kit.dealer().http.get("/api/v1/deals/T1-000001").status_code == 403


def test_without_preparing_a_hand_commits_and_deals_in_one_step(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    answer = desk.ok("hands", {"mode": "electronic"})
    assert answer["client_seeds"] == {} and len(answer["cards_roots"]) == 1
    assert not Deal.objects.filter(house=kit.house).exists()
    [dealt] = events(kit, "hand.dealt")
    assert "client_seeds" not in dealt["data"] and dealt["data"]["commitment"] == answer["commitment"]


def test_what_was_committed_to_does_not_change(kit: Kit) -> None:
    kit.table(cuhhol=True)
    desk = kit.seated()
    desk.ok("deal")
    desk.ok("deal/seeds", {"seat": 1, "seed": "x"})
    key = desk.ok("seats/1/key")["key"]
    desk.ok("hands", {"mode": "electronic"})
    hand, deal = Hand.objects.get(house=kit.house), Deal.objects.get(house=kit.house)
    with connections["owner"].cursor() as cursor:
        for statement in (
            f"UPDATE hands_deal SET state = 'prepared' WHERE id = {deal.id}",
            f"UPDATE hands_deal SET commitment = repeat('0', 64) WHERE id = {deal.id}",
            f"DELETE FROM hands_deal WHERE id = {deal.id}",
            f"UPDATE hands_clientseed SET seed = 'y' WHERE deal_id = {deal.id}",
            f"INSERT INTO hands_clientseed (deal_id, seat, player, seed, given_by) "
            f"VALUES ({deal.id}, 2, 'u', 'y', 'player')",
            f"UPDATE hands_hand SET client_seeds = '{{}}' WHERE id = {hand.id}",
            f"UPDATE hands_hand SET cards_roots = '[]' WHERE id = {hand.id}",
            f'UPDATE hands_hand SET cards_roots = \'["00", "11"]\' WHERE id = {hand.id}',
            f"UPDATE tables_seatkey SET digest = repeat('0', 64) WHERE seating_id IN ("
            f"SELECT id FROM tables_seating WHERE sitting_id = {hand.sitting_id})",
        ):
            with pytest.raises(
                DatabaseError, match=r"does not change|do not change|never deleted|no seeds|append-only"
            ):
                cursor.execute(statement)
    assert Device(kit, key).get("hand").status_code == 200


# --- Players' devices -----------------------------------------------------------------------------------------------


def test_a_device_checks_its_own_cards_and_everybodys_and_gets_no_others(kit: Kit) -> None:
    kit.table(cuhhol=True)
    desk = kit.seated()
    own = {seat: device(kit, desk, seat) for seat in range(1, 5)}
    opened = 0
    for number in range(1, 9):
        desk.ok("deal")
        name = f"T1-{number:06d}"
        assert all(own[seat].seed(name, f"{seat}-{number}").is_success for seat in (1, 2))
        desk.refresh()
        answer, choice = desk.ok("hands", {"mode": "electronic"}), random.Random(number)
        while True:
            opened += check_devices(kit, own, name)
            if answer["actor"] is None:
                break
            answer = one_action(desk, answer, choice)
        kit.settle()
        desk.refresh()
    assert opened > 200


def one_action(desk: Desk, answer: dict[str, Any], choice: random.Random) -> dict[str, Any]:
    """One random legal action; against a hand laid open, the true answer."""
    action = choose(answer["legal_actions"], choice, 100)
    tried = desk.post("hand/actions", {"actions": [action]})
    if not tried.is_success:
        tried = desk.post("hand/actions", {"actions": [action | {"verb": {"k": "f", "f": "k"}[action["verb"]]}]})
    found: dict[str, Any] = tried.json()
    return found


def test_a_redeal_is_committed_to_when_it_is_shuffled(kit: Kit) -> None:
    """The first seat lays its hand open; where nobody beats it, everybody is dealt four cards face up from another
    pack."""
    kit.table(cuhhol=True)
    desk = kit.seated()
    own = {seat: device(kit, desk, seat) for seat in range(1, 5)}
    for number in range(1, 41):
        desk.ok("deal")
        desk.ok("deal/seeds", {"seat": 4, "seed": f"number-{number}"})
        answer = laid_open(desk)
        kit.settle()
        desk.refresh()
        if len(answer["cards_roots"]) > 1:
            break
    name, roots = answer["hand"], answer["cards_roots"]
    [dealt] = [event["data"] for event in events(kit, "hand.dealt") if event["data"]["hand"] == name]
    told = [event["data"]["cards_roots"] for event in events(kit, "hand.acted") if "cards_roots" in event["data"]]
    assert dealt["cards_roots"] == roots[:1] and told[-1] == roots
    assert check_devices(kit, own, name) > 16
    packs = {opening["pack"] for opening in kit_openings(kit, name)["openings"]}
    assert packs == set(range(len(roots)))
    record = kit.office().get(f"hands/{name}").json()
    assert len(record["decks"]) == len(roots)
    again = rebuilt(parse_record(json.dumps(record)))
    assert list(again.roots) == roots and ["".join(cards) for cards in again.packs] == record["decks"]
    assert replay(parse_record(json.dumps(record))).ok


def laid_open(desk: Desk) -> dict[str, Any]:
    """A hand in which everybody pays and looks, and the first seat lays its hand open."""
    answer = desk.ok("hands", {"mode": "electronic"})
    while answer["actor"] is not None:
        offers = {offer["verb"]: offer for offer in answer["legal_actions"]}
        verb = next(name for name in ("po", "cc", "lk", "cu", "k", "st", "rb", "f") if name in offers)
        offer = offers[verb]
        action = {key: offer[key] for key in ("actor", "verb", "count") if key in offer}
        action |= {"amount": offer["min"]} if "min" in offer else {}
        if verb == "cu":
            action = {"actor": offer["actor"], "verb": "cu", "cards": "??" * 4}
        tried = desk.post("hand/actions", {"actions": [action]})
        if not tried.is_success:
            tried = desk.post("hand/actions", {"actions": [{"actor": offer["actor"], "verb": "f"}]})
        answer = tried.json()
    return answer


def check_devices(kit: Kit, own: dict[int, Device], name: str) -> int:
    """What each device is told now: openings that stand, of exactly the cards that its player may know."""
    hand = Hand.objects.get(house=kit.house, name=name)
    game = selectors.state(hand)
    everybodys = kit_openings(kit, name)
    public = check(everybodys)
    count = 0
    for number, seat in enumerate(hand.seats, 1):
        told = own[seat["seat"]].get("hand").json()
        cards = check(told)
        count += len(cards)
        mine = [card for card in told["cards"] if card != UNKNOWN]
        assert told["you"] == f"p{number}" and told["cards_roots"] == hand.cards_roots
        assert set(cards) == set(public) | set(mine)
        held = game.cards_of(number)
        assert all(shown in (card, UNKNOWN) for shown, card in zip(told["cards"], held, strict=True))
        assert told["view"]["log"] == game.view("public")["log"]
        known = {(opening["pack"], opening["position"]) for opening in told["openings"]}
        assert known == {*game.places("public"), *game.places(number)}
    return count


def kit_openings(kit: Kit, name: str) -> dict[str, Any]:
    """What everybody on the staff may read of a hand's cards."""
    if not hasattr(kit, "_reader"):
        kit._reader = kit.office(Role.CASHIER)  # type: ignore[attr-defined]
    found: dict[str, Any] = kit._reader.get(f"hands/{name}/openings").json()  # type: ignore[attr-defined]
    return found


def test_a_key_is_shown_once_and_kept_as_a_digest(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    version = desk.version
    first = desk.ok("seats/2/key", key="same", version=version)
    again = desk.post("seats/2/key", key="same", version=version)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert "key" not in again.json() and first["key"] not in again.text
    assert {**first, "key": None} == {**again.json(), "key": None}
    row = SeatKey.objects.get(seating__sitting__table__house=kit.house)
    assert first["key"] not in str(row.__dict__)
    assert not [event for event in events(kit, "seat.key_issued") if first["key"] in json.dumps(event)]


def test_a_key_is_good_for_one_seating_until_a_new_one_is_issued(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    first = device(kit, desk, 2)
    assert code(first.get("hand")) == (404, "not_found")
    assert code(first.get("deal")) == (409, "no_deal_prepared")
    second = device(kit, desk, 2)
    assert code(first.get("hand")) == (401, "not_authenticated")
    assert second.get("hand").status_code == 404
    desk.refresh()
    desk.ok("seats/2/leave")
    assert code(second.get("hand")) == (401, "not_authenticated")
    desk.ok("seats", {"seat": 2, "player": "T1-u2", "amount": 15_000})
    assert second.get("hand").status_code == 401
    assert code(desk.post("seats/9/key")) == (404, "not_found")
    assert [event["data"]["replaced"] for event in events(kit, "seat.key_issued")] == [False, True]


def test_a_seats_key_opens_nothing_of_the_staffs_and_no_token_opens_a_seat(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    own = device(kit, desk, 1)
    for path in ("tables", "tables/T1", "tables/T1/hand", "hands", "audit/events", "reports/house"):
        assert code(own.http.get(f"/api/v1/{path}")) == (401, "not_authenticated"), path
    for path in ("hand", "deal"):
        assert code(desk.get(f"/api/v1/seat/{path}")) == (401, "not_authenticated"), path
        nobody = kit.http(None).get(f"/api/v1/seat/{path}")
        assert (code(nobody), nobody.headers["WWW-Authenticate"]) == ((401, "not_authenticated"), "Seat")
    for key in ("", "x", "\xff", "A" * 43):
        assert Client().get("/api/v1/seat/hand", HTTP_AUTHORIZATION=f"Seat {key}").status_code == 401, key


def test_a_seed_is_for_the_deal_that_the_device_has_seen(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    own = device(kit, desk, 1)
    assert code(own.seed("T1-000001", "early")) == (409, "no_deal_prepared")
    desk.ok("deal")
    assert code(own.seed("T1-000002", "other")) == (409, "no_deal_prepared")
    assert own.seed("T1-000001", "mine").is_success
    version = desk.refresh()["version"]
    # The same again is answered and changes nothing: its first answer may have been lost.
    assert own.seed("T1-000001", "mine").is_success
    assert desk.refresh()["version"] == version
    assert code(own.seed("T1-000001", "another")) == (409, "seed_taken")
    assert len(events(kit, "deal.seed_taken")) == 1
    desk.ok("hands", {"mode": "electronic"})
    assert code(own.seed("T1-000001", "mine")) == (409, "no_deal_prepared")
    refused = events(kit, "attempt.refused")
    assert {event["role"] for event in refused} == {"player"} and {event["chain"] for event in refused} == {"table/T1"}
    for body in ({}, {"hand": "T1-000001"}, {"hand": 1, "seed": "x"}, {"hand": "h", "seed": "x", "more": 1}, []):
        assert own.http.post("/api/v1/seat/seed", json=body).status_code == 400, body


def test_a_device_sees_no_hand_of_whoever_sat_there_before(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    answer = desk.ok("hands", {"mode": "electronic"})
    play_out(desk, answer)
    kit.settle()
    desk.refresh()
    mine = device(kit, desk, 2)
    assert mine.get("hand").json()["hand"] == "T1-000001"
    desk.ok("seats/2/leave")
    kit.players("late", chips=9_000)
    desk.ok("seats", {"seat": 2, "player": "late", "amount": 9_000})
    assert code(device(kit, desk, 2).get("hand")) == (404, "not_found")


def test_a_hand_with_cards_of_its_own_is_told_without_openings(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    desk.ok("hands", {"mode": "physical", "dealer_seat": 4})
    desk.act("p1 po 100", "d dh p1 Kl8b", "d dh p2 ????")
    told = device(kit, desk, 1).get("hand").json()
    assert (told["cards"], told["openings"], told["cards_roots"], told["commitment"]) == (["Kl", "8b"], [], [], None)
    assert device(kit, desk, 2).get("hand").json()["cards"] == ["??", "??"]
    assert code(kit.office().get("hands/T1-000001/openings")) == (409, "no_card_commitments")


# --- Interruptions --------------------------------------------------------------------------------------------------

#: What another process makes of a hand's rows alone.
ELSEWHERE = """
import hashlib, json, sys
import django
django.setup()
from casino.hands import selectors
from casino.hands.models import Hand
hand = Hand.objects.select_related("table__house").get(id=int(sys.argv[1]))
game = selectors.state(hand)
told = [list(game.log), game.view("auditor"), game.places("public"), game.digest() if game.over else None]
print(json.dumps(told))
"""


def elsewhere(hand: Hand) -> Any:
    """The hand as a new process finds it, which knows nothing but the database and the seal key."""
    environ = os.environ | {"DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "casino.settings"}
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(hand.id)], env=environ, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def database_url() -> str:
    """The tests' own database."""
    found = connections["default"].settings_dict
    query = urlencode({"host": found["HOST"]}) if str(found["HOST"]).startswith("/") else ""
    host = "" if query else f"{found['HOST']}:{found['PORT']}"
    return f"postgresql://{found['USER']}:{found['PASSWORD']}@{host}/{found['NAME']}?{query}"


@pytest.mark.parametrize("game", ["ferbli", "faerbeln"])
def test_a_hand_goes_on_with_the_same_deck_in_any_process_after_any_line(kit: Kit, game: str) -> None:
    if game == "ferbli":
        kit.table(cuhhol=True)
    else:
        kit.table_for("faerbeln", FAERBELN, code="T1", seats=4)
    desk = kit.seated()
    desk.ok("deal")
    for seat in (1, 2, 4):
        desk.ok("deal/seeds", {"seat": seat, "seed": f"seat-{seat}"})
    answer, choice = desk.ok("hands", {"mode": "electronic"}), random.Random(5)
    hand = Hand.objects.get(house=kit.house)
    deck, log, step = selectors.state(hand).setup.deck, [], 0
    while True:
        stored = Hand.objects.get(id=hand.id)
        here = selectors.state(stored)
        assert here.setup.deck == deck
        assert list(here.log)[: len(log)] == log
        assert here.view("public")["log"] == answer["view"]["log"]
        log = list(here.log)
        if step % 5 == 0 or here.over:
            there = elsewhere(stored)
            digest = here.digest() if here.over else None
            assert there == json.loads(json.dumps([log, here.view("auditor"), here.places("public"), digest]))
        if answer["actor"] is None:
            break
        answer, step = one_action(desk, answer, choice), step + 1
    assert Hand.objects.get(id=hand.id).digest == here.digest()
    assert kit.settle() == ["settled"]


# --- Records --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["ferbli", "faerbeln"])
def test_the_floor_reads_a_hand_as_everybody_saw_it(kit: Kit, game: str) -> None:
    if game == "ferbli":
        kit.table(cuhhol=True)
    else:
        kit.table_for("faerbeln", FAERBELN, code="T1", seats=4)
    desk = kit.seated()
    floor, auditor = kit.office(Role.FLOOR), kit.office()
    hidden = 0
    for number in range(1, 7):
        answer = desk.ok("hands", {"mode": "electronic"})
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


def test_no_two_deals_are_prepared_at_once_whatever_asks(kit: Kit) -> None:
    table = kit.table()
    desk = kit.seated()
    desk.ok("deal")
    again = Deal(house=kit.house, table=table, number=1, name="T1-000001x2", commitment="0" * 64, sealed_seed=b"x")
    with pytest.raises(IntegrityError, match="deal_one_prepared"), transaction.atomic():
        again.save(force_insert=True)
