"""What a player's own device may do and see, and that it can check all of it."""

import json
import random
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.test import Client
from django.utils import timezone

from casino.audit.verifier import verify_inclusion, verify_note
from casino.hands import selectors
from casino.hands.models import Hand
from casino.staff.limits import SEAT_KEY
from casino.staff.models import Role, TerminalKind
from casino.tables.models import SeatKey
from engine.deal.rebuild import rebuilt
from engine.kernel.cards import UNKNOWN
from engine.record.format import parse_record
from engine.record.replay import replay
from tests.casino.devices import DEEP, Device, check, code, device, events, one_action, play_out, seeded
from tests.casino.kit import Desk, Kit
from tests.casino.transfers.test_transfers import floor_at
from tests.casino.trick_hands import zsiros


@pytest.mark.slow
def test_a_device_checks_its_own_cards_and_everybodys_and_gets_no_others(kit: Kit) -> None:
    kit.table(cuhhol=True)
    desk = kit.seated(stacks=DEEP)
    own, reader = {seat: device(kit, desk, seat) for seat in range(1, 5)}, kit.office(Role.CASHIER)
    opened = 0
    for number in range(1, 4):
        desk.ok("deal")
        name = f"T1-{number:06d}"
        seeded(desk, name, {own[seat]: f"{seat}-{number}" for seat in (1, 2)})
        answer, choice = desk.deal(), random.Random(number)
        while True:
            opened += check_devices(kit, reader, own, name)
            if answer["actor"] is None:
                break
            answer = one_action(desk, answer, choice)
        kit.settle()
        desk.refresh()
    assert opened > 75


def test_a_device_reads_what_its_own_seat_may_do_with_its_own_cards(kit: Kit) -> None:
    """The console sees how many cards; the seat whose they are, which; and nobody else's offer."""
    zsiros(kit)
    desk = kit.seated(stacks=(20_000,) * 4)
    floor_at(kit, TerminalKind.TABLE, "T1").ok("time-to-act", {"seconds": 60, "reason": "slow"})
    desk.refresh()
    own = {seat: device(kit, desk, seat) for seat in range(1, 5)}
    desk.refresh()
    answer, taken = desk.deal(), 0
    while answer["actor"] is not None:
        recorded = {actor["actor"]: own[actor["seat"]].get("hand").json() for actor in answer["seats"]}
        assert {hand["actor"] for hand in recorded.values()} == {answer["actor"]}
        assert {hand["act_by"] for hand in recorded.values()} == {answer["act_by"]} != {None}
        for actor, hand in recorded.items():
            assert {offer["actor"] for offer in hand["legal_actions"]} <= {actor}
        hand = recorded[answer["actor"]]
        [offer] = [offer for offer in hand["legal_actions"] if offer["verb"] == "pl"]
        own_places = offer["takes"]["places"]["choices"]
        assert own_places and all(0 <= place < len(hand["cards"]) for [place] in own_places)
        assert not any("choices" in offer["takes"].get("places", {}) for offer in answer["legal_actions"])
        [place] = own_places[-1]
        answer = desk.ok("hand/actions", {"actions": [{"actor": hand["you"], "verb": "pl", "places": [place]}]})
        taken += 1
    assert taken >= 32
    assert own[1].get("hand").json()["legal_actions"] == []


@pytest.mark.slow
def test_a_redeal_is_committed_to_when_it_is_shuffled(kit: Kit) -> None:
    """The first seat lays its hand open; where nobody beats it, everybody is dealt four cards face up from another
    pack."""
    kit.table(cuhhol=True)
    desk = kit.seated(stacks=DEEP)
    own, reader = {seat: device(kit, desk, seat) for seat in range(1, 5)}, kit.office(Role.CASHIER)
    for number in range(1, 41):
        desk.ok("deal")
        seeded(desk, f"T1-{number:06d}", {own[4]: f"number-{number}"})
        answer = laid_open(desk)
        kit.settle()
        desk.refresh()
        if len(answer["cards_roots"]) > 1:
            break
    name, roots = answer["hand"], answer["cards_roots"]
    [dealt] = [event["data"] for event in events(kit, "hand.dealt") if event["data"]["hand"] == name]
    recorded = [event["data"]["cards_roots"] for event in events(kit, "hand.acted") if "cards_roots" in event["data"]]
    assert dealt["cards_roots"] == roots[:1] and recorded[-1] == roots
    assert check_devices(kit, reader, own, name) > 16
    packs = {opening["pack"] for opening in openings(reader, name)["openings"]}
    assert packs == set(range(len(roots)))
    record = kit.office().get(f"hands/{name}").json()
    assert len(record["decks"]) == len(roots)
    again = rebuilt(parse_record(json.dumps(record)))
    assert list(again.roots) == roots and ["".join(cards) for cards in again.packs] == record["decks"]
    assert replay(parse_record(json.dumps(record))).ok


def laid_open(desk: Desk) -> dict[str, Any]:
    """A hand in which everybody pays and looks, and the first seat lays its hand open."""
    answer = desk.deal()
    while answer["actor"] is not None:
        offers = {offer["verb"]: offer for offer in answer["legal_actions"]}
        verb = next(name for name in ("po", "cc", "lk", "cu", "k", "st", "rb", "f") if name in offers)
        offer = offers[verb]
        action = {"actor": offer["actor"], "verb": verb}
        for name, field in offer["takes"].items():
            action[name] = field["choices"][0] if field["kind"] == "cards" else field["min"]
        tried = desk.post("hand/actions", {"actions": [action]})
        if not tried.is_success:
            tried = desk.post("hand/actions", {"actions": [{"actor": offer["actor"], "verb": "f"}]})
        answer = tried.json()
    return answer


def check_devices(kit: Kit, reader: Desk, own: dict[int, Device], name: str) -> int:
    """What each device is recorded now: openings that stand, of exactly the cards that its player may know."""
    hand = Hand.objects.get(house=kit.house, name=name)
    game = selectors.state(hand)
    everybodys = openings(reader, name)
    public = check(everybodys)
    count = 0
    for number, seat in enumerate(hand.seats, 1):
        recorded = own[seat["seat"]].get("hand").json()
        cards = check(recorded)
        count += len(cards)
        mine = [card for card in recorded["cards"] if card != UNKNOWN]
        assert recorded["you"] == f"p{number}" and recorded["cards_roots"] == hand.cards_roots
        assert set(cards) == set(public) | set(mine)
        held = game.cards_of(number)
        assert all(shown in (card, UNKNOWN) for shown, card in zip(recorded["cards"], held, strict=True))
        assert recorded["view"]["log"] == game.view("public")["log"]
        known = {(opening["pack"], opening["position"]) for opening in recorded["openings"]}
        assert known == {*game.places("public"), *game.places(number)}
    return count


def openings(reader: Desk, name: str) -> dict[str, Any]:
    """What anybody on the staff may read of a hand's cards."""
    found: dict[str, Any] = reader.get(f"hands/{name}/openings").json()
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
    row = SeatKey.objects.get(seating__session__table__house=kit.house)
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
    AccessAttempt.objects.filter(username=SEAT_KEY).delete()
    for key in ("", "x", "\xff", "A" * 43):
        assert Client().get("/api/v1/seat/hand", HTTP_AUTHORIZATION=f"Seat {key}").status_code == 401, key


def test_a_seed_is_for_the_deal_that_the_device_has_seen(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    own = device(kit, desk, 1)
    assert code(own.commit("T1-000001", "early")) == (409, "no_deal_prepared")
    desk.ok("deal")
    assert code(own.commit("T1-000002", "other")) == (409, "no_deal_prepared")
    receipt = own.commit("T1-000001", "mine").json()["audit"]
    [committed] = events(kit, "deal.seed_committed")
    assert (receipt["chain"], receipt["seq"]) == (committed["chain"], committed["seq"])
    again = own.commit("T1-000001", "mine").json()
    assert again["seed_commitments"].keys() == {"1"} and again["audit"] == receipt
    assert code(own.commit("T1-000001", "another")) == (409, "seed_taken")
    desk.refresh()
    desk.ok("deal/close")
    receipt = own.reveal("T1-000001", "mine").json()["audit"]
    [taken] = events(kit, "deal.seed_taken")
    assert (receipt["chain"], receipt["seq"]) == (taken["chain"], taken["seq"])
    version = desk.refresh()["version"]
    # The same again is answered and changes nothing: its first answer may have been lost.
    again = own.reveal("T1-000001", "mine").json()
    assert again["client_seeds"] == {"1": "mine"} and again["audit"] == receipt
    assert desk.refresh()["version"] == version
    assert code(own.reveal("T1-000001", "another")) == (422, "seed_differs")
    assert len(events(kit, "deal.seed_taken")) == 1
    desk.deal()
    assert code(own.reveal("T1-000001", "mine")) == (409, "no_deal_prepared")
    refused = events(kit, "attempt.refused")
    assert {event["role"] for event in refused} == {"player"} and {event["chain"] for event in refused} == {"table/T1"}
    for body in ({}, {"hand": "T1-000001"}, {"hand": 1, "seed": "x"}, {"hand": "h", "seed": "x", "more": 1}, []):
        assert own.http.post("/api/v1/seat/seed", json=body).status_code == 400, body
        assert own.http.post("/api/v1/seat/commitment", json=body).status_code == 400, body


def test_a_device_sees_no_hand_of_the_player_who_sat_there_before(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    mine = device(kit, desk, 2)
    answer = desk.deal()
    play_out(desk, answer)
    kit.settle()
    desk.refresh()
    assert mine.get("hand").json()["hand"] == "T1-000001"
    desk.ok("seats/2/leave")
    kit.players("late", chips=9_000)
    desk.ok("seats", {"seat": 2, "player": "late", "amount": 9_000})
    assert code(device(kit, desk, 2).get("hand")) == (404, "not_found")


def test_a_key_shows_no_hand_that_was_dealt_before_it_was_issued(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    answer = desk.deal()
    # A dealer who takes a player's key during a hand sees nothing of it, also when it is over.
    late = device(kit, desk, 2)
    assert code(late.get("hand")) == (404, "not_found")
    answer["version"] = desk.refresh()["version"]
    play_out(desk, answer)
    kit.settle()
    assert code(late.get("hand")) == (404, "not_found")
    desk.refresh()
    desk.deal()
    assert late.get("hand").json()["hand"] == "T1-000002"


def test_a_hand_with_cards_of_its_own_is_recorded_without_openings(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    own = {seat: device(kit, desk, seat) for seat in (1, 2)}
    desk.ok("hands", {"mode": "physical", "button": 4})
    desk.act("p1 po 100", "d dh p1 Kl8b", "d dh p2 ????")
    recorded = own[1].get("hand").json()
    assert (recorded["cards"], recorded["openings"]) == (["Kl", "8b"], [])
    assert (recorded["cards_roots"], recorded["commitment"]) == ([], None)
    assert own[2].get("hand").json()["cards"] == ["??", "??"]
    assert code(kit.office().get("hands/T1-000001/openings")) == (409, "no_card_commitments")


def test_wrong_keys_are_limited_by_address_and_good_ones_are_let_in(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    old, good = device(kit, desk, 1), device(kit, desk, 2)
    device(kit, desk, 1)
    guess = Device(kit, "A" * 43)
    statuses = [own.get("hand").status_code for own in (guess, guess, guess, old, old)]
    assert statuses == [401] * 5
    for own in (guess, old):
        for refused in (own.get("hand"), own.reveal("T1-000001", "x")):
            assert code(refused) == (429, "too_many_attempts")
            assert 840 < int(refused.headers["Retry-After"]) <= 900
            assert refused.json()["retry_after"] == int(refused.headers["Retry-After"])
    assert code(good.get("hand")) == (404, "not_found")
    # What the locked address went on with is recorded in no chain; what came before is.
    assert [event["data"]["status"] for event in events(kit, "attempt.refused")] == [401, 401]
    elsewhere = Client(REMOTE_ADDR="192.0.2.7")
    assert elsewhere.get("/api/v1/seat/hand", HTTP_AUTHORIZATION=f"Seat {'A' * 43}").status_code == 401
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=15, seconds=1))
    assert code(guess.get("hand")) == (401, "not_authenticated")


def test_a_wrong_key_with_a_form_that_cannot_be_read_is_a_wrong_key(kit: Kit) -> None:
    answer = Client().generic(
        "POST", "/api/v1/seat/seed", b"x", "multipart/form-data; boundary=", HTTP_AUTHORIZATION="Seat A"
    )
    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")


def test_a_seat_with_a_device_gives_its_seed_with_it_alone(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    assert [seat["device"] for seat in desk.refresh()["seats"]] == [False] * 4
    own = device(kit, desk, 2)
    assert [seat["device"] for seat in desk.refresh()["seats"]] == [False, True, False, False]
    desk.ok("deal")
    refused = desk.post("deal/seeds", {"seat": 2, "seed": "the-dealers"})
    assert (code(refused), refused.json()["seat"]) == ((409, "seat_has_device"), 2)
    assert own.commit("T1-000001", "mine").json()["seed_commitments"].keys() == {"2"}
    desk.refresh()
    desk.ok("deal/seeds", {"seat": 1, "seed": "said-aloud"})
    # What is lost or broken the floor revokes; then the console may.
    floor = floor_at(kit, TerminalKind.TABLE, "T1")
    other = device(kit, desk, 3)
    assert code(desk.post("seats/3/key/revoke", {"reason": "it is broken"})) == (403, "forbidden")
    floor.refresh()
    assert floor.ok("seats/3/key/revoke", {"reason": "it is broken"})["seats"][2]["device"] is False
    assert code(floor.post("seats/3/key/revoke", {"reason": "it is broken"})) == (409, "no_device")
    assert code(floor.post("seats/9/key/revoke", {"reason": "it is broken"})) == (404, "not_found")
    [revoked] = events(kit, "seat.key_revoked")
    assert (revoked["reason"], revoked["data"]["seat"]) == ("it is broken", 3)
    assert code(other.get("deal")) == (401, "not_authenticated")
    desk.refresh()
    desk.ok("deal/seeds", {"seat": 3, "seed": "said-aloud"})
    desk.ok("deal/close")
    assert own.reveal("T1-000001", "mine").json()["client_seeds"]["2"] == "mine"
    desk.refresh()
    desk.deal()
    play_out(desk, desk.get("hand").json())
    kit.settle()
    desk.refresh()
    # The next player on the seat has no device.
    desk.ok("seats/2/leave")
    kit.players("late", chips=9_000)
    desk.ok("seats", {"seat": 2, "player": "late", "amount": 9_000})
    assert not any(seat["device"] for seat in desk.refresh()["seats"])


def test_a_device_proves_its_receipt_and_nothing_of_another_chain(kit: Kit) -> None:
    kit.table()
    kit.table("T2")
    desk = kit.seated()
    own = device(kit, desk, 1)
    desk.ok("deal")
    receipt = own.commit("T1-000001", "mine").json()["audit"]

    def asked(**query: Any) -> Any:
        return own.http.get("/api/v1/seat/proofs/inclusion", params=query)

    place = {"chain": receipt["chain"], "seq": receipt["seq"]}
    kit.dealer("T2").ok("open")
    assert code(asked(**place)) == (409, "not_in_the_log_yet")
    kit.sequence()
    proof = asked(**place).json()
    assert {name: proof[name] for name in ("chain", "seq", "hash")} == receipt
    root = verify_note(proof["checkpoint"], kit.office().get("audit/key").text.strip()).root
    path = [bytes.fromhex(node) for node in proof["path"]]
    assert verify_inclusion(bytes.fromhex(receipt["hash"]), proof["leaf_index"], proof["size"], path, root)
    for chain in ("table/T2", f"house/{kit.house.code}", "table/T9", "drawer/C1"):
        assert code(asked(chain=chain, seq=1)) == (403, "forbidden"), chain
    assert code(asked(seq=1)) == (400, "invalid_parameter")
    assert code(asked(**place, more=1)) == (400, "invalid_parameter")
    assert code(own.http.get("/api/v1/audit/proofs/inclusion", params=place)) == (401, "not_authenticated")
    assert code(desk.get("/api/v1/seat/proofs/inclusion?chain=table/T1&seq=1")) == (401, "not_authenticated")
    desk.refresh()
    desk.ok("seats/1/leave")
    assert code(asked(**place)) == (401, "not_authenticated")


def test_a_device_shows_a_partners_hand_once_it_was_passed_across(kit: Kit) -> None:
    """Siebner Schuster: "players are allowed to know their partner's cards" when the talon is drawn, and not before."""
    kit.table_for("siebner_schuster", {"stake": 1}, code="T1", seats=4)
    desk = kit.seated(stacks=(40_000,) * 4)
    devices = {f"T1-u{seat}": device(kit, desk, seat) for seat in (1, 2, 3, 4)}
    desk.refresh()
    answer = desk.deal()
    mine, partner, other = (devices[answer["seats"][at]["player"]] for at in (0, 2, 1))
    while answer["view"]["talon"]:
        assert mine.get("hand").json()["learned"] == {}
        offers = {offer["verb"]: offer for offer in answer["legal_actions"]}
        act = {"actor": answer["actor"]} | ({"verb": "ps"} if "ps" in offers else {"verb": "pl", "places": [0]})
        answer = desk.ok("hand/actions", {"actions": [act]})
    shown = mine.get("hand").json()["learned"]["partner"]
    assert "??" not in shown and sorted(shown) == sorted(partner.get("hand").json()["cards"])
    assert set(shown).isdisjoint(other.get("hand").json()["learned"]["partner"])
