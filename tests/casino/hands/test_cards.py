"""Physical mode: cards entered for unknown ones, corrections beside the log, exceptions, deck checks."""

import json
from typing import Any

import pytest
from django.db import DatabaseError, connection, connections, transaction

from casino.audit.models import Event
from casino.core import canonical
from casino.hands import cards, exceptions, face_down, selectors
from casino.hands.models import CardEntry, CardException, Correction, Hand, HandLine
from casino.staff.models import Role
from casino.verification import auditing
from casino.verification.replaying import verify
from engine.kernel.cards import TELL32
from engine.record.format import parse_record
from engine.record.replay import replay
from tests.casino.kit import SAMPLE, Desk, Kit
from tests.casino.transfers.test_transfers import refusal

#: Two seats with cards that nobody knows, up to the showdown; then what they show.
UNKNOWN_CARDS = (
    "p1 po 100", "d dh p1 ????", "d dh p2 ????", "p2 cc 100", "p1 k", "d dh p1 ????", "d dh p2 ????",
    "p1 lk 2", "p1 rb 100", "p2 lk 2", "p2 cc 100", "p2 st",
)  # fmt: skip
SHOWN = ("p1 sm AaKaOaUa", "p2 sm AlKlOlXa")


def entries(*named: str) -> dict[str, Any]:
    """`p1.0 Aa` is the first card of p1."""
    found = []
    for text in named:
        place, card = text.split()
        actor, _, number = place.partition(".")
        found.append({"actor": actor, "index": int(number), "card": card})
    return {"entries": found}


@pytest.fixture
def dealer(kit: Kit) -> Desk:
    """A hand of two at table T1 before its showdown."""
    kit.table()
    desk = kit.seated(stacks=(5_000, 5_000))
    desk.ok("hands", {"mode": "physical"})
    for line in UNKNOWN_CARDS:
        desk.act(line)
    return desk


def at_the_table(kit: Kit, desk: Desk) -> Desk:
    """The floor there; the versions of the two go on together."""
    return kit.dealer(role=Role.FLOOR)


def events(kit: Kit, kind: str) -> list[dict[str, Any]]:
    found = Event.objects.filter(chain__house=kit.house).order_by("id").values_list("payload", flat=True)
    return [event for event in map(json.loads, found) if event["kind"] == kind]


def hand_of(kit: Kit) -> Hand:
    return Hand.objects.filter(house=kit.house).latest("id")


def assert_sound(kit: Kit) -> dict[str, Any]:
    """The last hand's record stands on its own, and hands and ledger agree; returns the record."""
    assert kit.settle() == ["settled"]
    record = selectors.record(hand_of(kit))
    assert replay(parse_record(json.dumps(record))).ok
    assert list(verify(kit.house)) == []
    assert auditing.verify_house(kit.house).findings == []
    return record


# --- Entries --------------------------------------------------------------------------------------------------------


def test_entered_cards_are_hashed_until_the_hand_is_over(kit: Kit, dealer: Desk) -> None:
    answer = dealer.ok("hand/cards", entries("p1.0 Ua", "p1.3 Aa", "p2.2 Xa"))
    assert answer["actor"] == "p1"
    [event] = events(kit, "hand.cards_entered")
    hashes = event["data"]["entries"]
    assert [(entry["actor"], entry["index"]) for entry in hashes] == [("p1", 0), ("p1", 3), ("p2", 2)]
    for recorded in (json.dumps(event["data"]), json.dumps(answer["view"]), json.dumps(answer["legal_actions"])):
        assert not any(f'"{card}"' in recorded or f"{card}?" in recorded for card in ("Ua", "Aa", "Xa"))
    # Turned over in any order: the entries say where each was dealt.
    dealer.act(SHOWN[0])
    dealer.act(SHOWN[1])
    assert "p1 sm UaKaOaAa" in selectors.log(hand_of(kit))
    assert "p2 sm AlKlXaOl" in selectors.log(hand_of(kit))
    last = events(kit, "hand.acted")[-1]["data"]
    hand = hand_of(kit).name
    for entry, hashed in zip(last["entered"], hashes, strict=True):
        recorded = [hand, entry["actor"], entry["index"], entry["card"], entry["salt"]]
        assert canonical.sha256(recorded) == hashed["hash"]
    assert [entry["card"] for entry in last["entered"]] == ["Ua", "Aa", "Xa"]
    record = assert_sound(kit)
    assert "entered" not in record


@pytest.mark.some_now(2)
@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (entries("p1.4 Aa"), 422, "no_such_card"),
        (entries("p3.0 Aa"), 422, "no_such_card"),
        (entries("p1.0 Aa", "p1.0 Ka"), 400, "invalid_request"),
        (entries("p1.0 ??"), 400, "invalid_request"),
        ({"entries": []}, 400, "invalid_request"),
        ({"entries": [{"actor": "d", "index": 0, "card": "Aa"}]}, 400, "invalid_request"),
    ],
)
def test_entries_that_are_refused(kit: Kit, dealer: Desk, sent: Any, status: int, code: str) -> None:
    assert refusal(dealer.post("hand/cards", sent)) == (status, code)
    assert not CardEntry.objects.filter(hand=hand_of(kit)).exists()
    assert not CardException.objects.filter(house=kit.house).exists()


def test_a_card_is_entered_once_and_never_over_one_that_is_known(kit: Kit) -> None:
    kit.table()
    desk = kit.seated(stacks=(5_000, 5_000))
    desk.ok("hands", {"mode": "physical"})
    desk.act("p1 po 100", "d dh p1 Aa??", "d dh p2 ????")
    assert refusal(desk.post("hand/cards", entries("p1.0 Ka"))) == (422, "card_known")
    desk.ok("hand/cards", entries("p1.1 Ka"))
    assert refusal(desk.post("hand/cards", entries("p1.1 Ka"))) == (422, "card_known")
    assert refusal(desk.post("hand/cards", entries("p1.1 Oa"))) == (422, "card_known")
    assert not CardException.objects.filter(house=kit.house).exists()


@pytest.mark.parametrize(
    ("sent", "code", "kind", "cards"),
    [
        (entries("p2.0 Aa"), "card_entered_twice", "duplicate", ["Aa"]),
        (entries("p2.0 Ka", "p2.1 Ka"), "card_entered_twice", "duplicate", ["Ka"]),
        (entries("p2.0 Ac"), "card_not_in_pack", "foreign", ["Ac"]),
    ],
    ids=["lies elsewhere", "twice at once", "of another pack"],
)
def test_a_card_that_cannot_be_is_refused_and_kept(
    kit: Kit, dealer: Desk, sent: Any, code: str, kind: str, cards: list[str]
) -> None:
    dealer.ok("hand/cards", entries("p1.0 Aa"))
    assert refusal(dealer.post("hand/cards", sent)) == (422, code)
    assert refusal(dealer.post("hand/cards", sent)) == (422, code)
    assert CardEntry.objects.filter(hand=hand_of(kit)).count() == 1
    [kept] = CardException.objects.filter(house=kit.house)
    assert (kept.kind, exceptions.findings(kept)["cards"], kept.hand_id) == (kind, cards, hand_of(kit).id)
    [event] = events(kit, "cards.exception")
    hashed = {"found_hash": kept.hash}
    assert event["data"] == {"exception": kept.number, "kind": kind, "hand": hand_of(kit).name} | hashed
    # The refusal stands in the trail without the cards.
    refused = events(kit, "attempt.refused")
    assert len(refused) == 2
    assert not any(card in json.dumps(event["data"].get("body", "")) for event in refused for card in cards)


def test_shown_cards_must_agree_with_what_was_entered(kit: Kit, dealer: Desk) -> None:
    dealer.ok("hand/cards", entries("p1.0 8b"))
    assert refusal(dealer.post("hand/actions", action(SHOWN[0]))) == (422, "cards_differ")
    [kept] = CardException.objects.filter(house=kit.house)
    assert (kept.kind, exceptions.findings(kept)["action"]) == ("differs", SHOWN[0])
    assert not HandLine.objects.filter(hand=hand_of(kit), text__contains="sm").exists()
    # A card that lies before p1 cannot be dealt or shown elsewhere.
    assert refusal(dealer.post("hand/actions", action("p1 sm AaKaOa8b", "p2 sm 8bAlKlOl")))[0] == 422
    dealer.act("p1 sm AaKaOa8b")
    assert refusal(dealer.post("hand/actions", action("p2 sm AlKlOl8b"))) == (422, "card_already_dealt")
    dealer.act(SHOWN[1])
    assert_sound(kit)


def test_a_card_dealt_by_name_must_not_be_an_entered_one(kit: Kit) -> None:
    kit.table()
    desk = kit.seated(stacks=(5_000, 5_000))
    desk.ok("hands", {"mode": "physical"})
    desk.act("p1 po 100", "d dh p1 ????")
    desk.ok("hand/cards", entries("p1.1 Ka"))
    assert refusal(desk.post("hand/actions", action("d dh p2 KaOa"))) == (422, "card_entered_twice")
    desk.act("d dh p2 KlOa")
    [kept] = CardException.objects.filter(house=kit.house)
    assert (kept.kind, exceptions.findings(kept)["cards"]) == ("duplicate", ["Ka"])


def test_cards_turned_up_must_agree_with_what_was_entered(kit: Kit) -> None:
    from tests.casino.kit import FAERBELN

    kit.table_for("faerbeln", FAERBELN, code="T1", seats=3)
    desk = kit.seated(stacks=(50_000,) * 3)
    desk.ok("hands", {"mode": "physical"})
    desk.act("p1 po 200", "p2 po 200", "p3 po 200", "p1 po 500", *(f"d dh p{seat} ????" for seat in (1, 2, 3)))
    desk.act("p2 cc 500", "p3 cc 500", "p1 k", *(f"d dh p{seat} ????" for seat in (1, 2, 3)))
    desk.ok("hand/cards", entries("p1.0 Aa", "p1.1 Ka", "p1.2 Oa", "p2.0 Al"))
    assert refusal(desk.post("hand/actions", action("p1 up KlOl"))) == (422, "cards_differ")
    assert refusal(desk.post("hand/actions", action("p1 up AaAl"))) == (422, "card_entered_twice")
    desk.act("p1 up AaUa")
    desk.act("p2 up KlOl")


def test_no_cards_are_entered_where_the_house_deals(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    assert refusal(desk.post("hand/cards", entries("p1.0 Aa"))) == (409, "no_hand")
    desk.deal()
    assert refusal(desk.post("hand/cards", entries("p1.0 Aa"))) == (409, "not_physical")
    floor = at_the_table(kit, desk)
    body = {"line": 1, "cards": "Aa", "reason": "a test"}
    assert refusal(floor.post("hand/corrections", body)) == (409, "not_physical")


def action(*lines: str) -> dict[str, Any]:
    from tests.words import as_action

    return {"actions": [as_action(line) for line in lines]}


# --- Corrections ----------------------------------------------------------------------------------------------------


def test_a_line_is_corrected_beside_the_log(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    desk.ok("hands", {"mode": "physical", "button": 4})
    # Somebody mistyped p3's second card.
    for line in (*SAMPLE[:3], "d dh p3 XlOa", *SAMPLE[4:12]):
        desk.act(line)
    floor = at_the_table(kit, desk)
    answer = floor.ok("hand/corrections", {"line": 4, "cards": "XlOb", "reason": "misread the suit"})
    assert (answer["actor"], answer["audit"]["seq"]) == ("d", events(kit, "hand.line_corrected")[0]["seq"])
    hand = hand_of(kit)
    assert selectors.log(hand) == list(SAMPLE[:12])
    stored, correction = HandLine.objects.get(hand=hand, seq=4), Correction.objects.get(hand=hand)
    assert stored.text == correction.before == correction.after == "d dh p3 ????"
    assert face_down.open_line(hand, 4, face_down.stored(stored.text, stored)).text == "d dh p3 XlOa"
    [event] = events(kit, "hand.line_corrected")
    assert (event["reason"], event["role"]) == ("misread the suit", "floor")
    assert (event["data"]["line"], event["data"]["before"], event["data"]["after"]) == (
        4, "d dh p3 ????", "d dh p3 ????",
    )  # fmt: skip
    opened = face_down.open_line(hand, 4, face_down.stored(correction.after, correction))
    assert event["data"]["line_hash"] == canonical.sha256([hand.name, 4, "d dh p3 XlOb", opened.salt])
    desk.version = floor.version
    for line in SAMPLE[12:]:
        desk.act(line)
    record = assert_sound(kit)
    assert record["acts"] == list(SAMPLE)
    last = events(kit, "hand.acted")[-1]["data"]
    assert last["log"][3] == "d dh p3 ????", "p3 folded"
    assert "4" not in last["line_salts"] and "2" in last["line_salts"]
    assert kit.settle() == []


def test_a_shown_hand_is_corrected_and_a_correction_too(kit: Kit, dealer: Desk) -> None:
    dealer.act(SHOWN[0])
    floor = at_the_table(kit, dealer)
    floor.ok("hand/corrections", {"line": 13, "cards": "AaKaOaUb", "reason": "misread"})
    floor.ok("hand/corrections", {"line": 13, "cards": "AaKaOaUl", "reason": "misread again"})
    [first, second] = events(kit, "hand.line_corrected")
    assert [event["data"]["after"] for event in (first, second)] == ["p1 sm AaKaOaUb", "p1 sm AaKaOaUl"]
    assert [event["data"]["before"] for event in (first, second)] == ["p1 sm AaKaOaUa", "p1 sm AaKaOaUb"]
    dealer.version = floor.version
    dealer.act(SHOWN[1])
    assert "p1 sm AaKaOaUl" in assert_sound(kit)["acts"]


@pytest.mark.some_now(3)
@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        ({"line": 1, "cards": "Aa"}, 422, "no_card_line"),
        ({"line": 13, "cards": "Aa"}, 422, "no_such_line"),
        ({"line": 2, "cards": "Kl8b"}, 422, "nothing_corrected"),
        ({"line": 2, "cards": "KlAh"}, 422, "card_already_dealt"),
        ({"line": 2, "cards": "Kl8c"}, 422, "card_not_in_pack"),
        ({"line": 2, "cards": "Kl8b7b"}, 422, "wrong_count"),
        ({"line": 2}, 400, "invalid_request"),
        ({"cards": "Kl"}, 400, "invalid_request"),
        ({"line": 2, "cards": "Kl7b", "entry": {"actor": "p1", "index": 0, "card": "Aa"}}, 400, "invalid_request"),
        ({"entry": {"actor": "p1", "index": 0, "card": "Aa"}}, 422, "no_such_entry"),
        ({"line": 2, "cards": "Kl7b", "reason": ""}, 400, "invalid_request"),
    ],
)
def test_corrections_that_are_refused(kit: Kit, sent: dict[str, Any], status: int, code: str) -> None:
    kit.table()
    desk = kit.seated()
    desk.ok("hands", {"mode": "physical", "button": 4})
    desk.act(*SAMPLE[:12])
    floor = at_the_table(kit, desk)
    assert refusal(floor.post("hand/corrections", {"reason": "a test", **sent})) == (status, code)
    assert not Correction.objects.filter(hand=hand_of(kit)).exists()
    assert not CardException.objects.filter(house=kit.house).exists()
    assert refusal(desk.post("hand/corrections", {"reason": "a test", **sent}))[0] in (400, 403)


def test_a_correction_changes_nothing_that_was_played(kit: Kit) -> None:
    kit.table(cuhhol=True, seats=2)
    desk = kit.seated(stacks=(5_000, 5_000))
    desk.ok("hands", {"mode": "physical"})
    # Nobody beats the hand laid open, so everyone is dealt four cards face up until somebody does.
    for line in ("p1 po 100", "d dh p1 ????", "d dh p2 AhKb", "p2 cc 100", "p1 k", "d dh p1 ????", "d dh p2 7h8h",
                 "p1 lk 2", "p1 cu 9l8l7lXl", "p2 lk 2", "p2 f", "d dh p1 8b7b8a7a", "d dh p2 9b9aXhKh"):  # fmt: skip
        desk.act(line)
    floor = at_the_table(kit, desk)
    beaten = {"line": 13, "cards": "OhUhXhKh", "reason": "misread"}
    assert refusal(floor.post("hand/corrections", beaten)) == (409, "correction_changes_play")
    # With four of a suit p2 could not have folded in the first place; the engine's refusal names the line.
    higher = floor.post("hand/corrections", {"line": 7, "cards": "KlOl", "reason": "misread"})
    assert higher.status_code == 200, higher.text
    floor.ok("hand/corrections", {"line": 13, "cards": "9b9aXhUh", "reason": "misread"})
    assert selectors.log(hand_of(kit))[12] == "d dh p2 9b9aXhUh"


def test_a_correction_that_makes_a_later_line_impossible_is_refused(kit: Kit) -> None:
    kit.table(cuhhol=True, seats=2)
    desk = kit.seated(stacks=(5_000, 5_000))
    desk.ok("hands", {"mode": "physical"})
    for line in ("p1 po 100", "d dh p1 ????", "d dh p2 AhKh", "p2 cc 100", "p1 k", "d dh p1 ????", "d dh p2 7l8h",
                 "p1 lk 2", "p1 cu 9l8bXlXa", "p2 lk 2", "p2 k"):  # fmt: skip
        desk.act(line)
    floor = at_the_table(kit, desk)
    answer = floor.post("hand/corrections", {"line": 9, "cards": "AlKlOlUl", "reason": "misread"})
    assert answer.status_code == 422
    assert answer.json()["expected"]["line"] == 11
    assert selectors.log(hand_of(kit))[8] == "p1 cu 9l8bXlXa"


def test_an_entry_is_corrected(kit: Kit, dealer: Desk) -> None:
    dealer.ok("hand/cards", entries("p1.0 8b", "p2.0 Al"))
    assert refusal(dealer.post("hand/actions", action(SHOWN[0]))) == (422, "cards_differ")
    floor = at_the_table(kit, dealer)
    twice = {"entry": {"actor": "p1", "index": 0, "card": "Al"}, "reason": "a guess"}
    assert refusal(floor.post("hand/corrections", twice)) == (422, "card_entered_twice")
    same = {"entry": {"actor": "p1", "index": 0, "card": "8b"}, "reason": "a guess"}
    assert refusal(floor.post("hand/corrections", same)) == (422, "nothing_corrected")
    floor.ok("hand/corrections", {"entry": {"actor": "p1", "index": 0, "card": "Aa"}, "reason": "scanner misread"})
    [event] = events(kit, "hand.entry_corrected")
    assert (event["reason"], event["data"]["actor"], event["data"]["index"]) == ("scanner misread", "p1", 0)
    dealer.version = floor.version
    for line in SHOWN:
        dealer.act(line)
    last = events(kit, "hand.acted")[-1]["data"]
    assert [entry["card"] for entry in last["entered"]] == ["8b", "Al", "Aa"]
    right = last["entered"][-1]
    recorded = [hand_of(kit).name, "p1", 0, "Aa", right["salt"]]
    assert canonical.sha256(recorded) == event["data"]["hash"]
    assert_sound(kit)


def test_the_entries_of_a_voided_hand_stay_sealed(kit: Kit, dealer: Desk) -> None:
    dealer.ok("hand/cards", entries("p1.0 8b"))
    floor = at_the_table(kit, dealer)
    answer = kit.approved(floor, "hand/void", {"cause": "misdeal", "reason": "a misdeal"})
    answer.pop("audit")  # a hash may hold any two characters
    assert "8b" not in json.dumps(answer), "the console at the table learns no card"
    assert events(kit, "hand.voided")[0]["data"].keys() == {
        "hand", "cause", "mirrors", "table_version", "pot", "cards_shown", "acted", "log_complete", "approval"
    }  # fmt: skip
    assert cards.entered(hand_of(kit)) == {(1, 0): "8b"}, "an auditor can open them"
    assert auditing.verify_house(kit.house).findings == []


# --- Exceptions -----------------------------------------------------------------------------------------------------


def test_no_hand_is_dealt_until_the_floor_has_cleared_what_was_found(kit: Kit, dealer: Desk) -> None:
    dealer.ok("hand/cards", entries("p1.0 Aa"))
    assert refusal(dealer.post("hand/cards", entries("p2.0 Aa"))) == (422, "card_entered_twice")
    [kept] = CardException.objects.filter(house=kit.house)
    office = kit.office()
    [row] = office.get("exceptions/cards").json()["results"]
    assert (row["exception"], row["kind"], row["found"], row["cleared_at"]) == (kept.number, "duplicate", None, None)
    floor = at_the_table(kit, dealer)
    path = f"exceptions/{kept.number}/clear"
    # What was found names cards of the hand, which is still played.
    assert refusal(floor.post(path, {"reason": "a scanner's error"})) == (409, "table_playing")
    for line in SHOWN:
        dealer.act(line)
    kit.settle()
    dealer.refresh()
    floor.refresh()
    refused = dealer.post("hands", {"mode": "physical"})
    assert refusal(refused) == (409, "cards_exception_open")
    assert refused.json()["exceptions"] == [kept.number]
    assert refusal(dealer.post(path, {"reason": "a scanner's error"})) == (403, "forbidden")
    cleared = floor.ok(path, {"reason": "a scanner's error"})
    assert cleared["last_event"]["found_hash"] == kept.hash
    assert "found" not in cleared["last_event"], "the console at the table learns no card"
    assert refusal(floor.post(path, {"reason": "again"})) == (409, "already_cleared")
    assert refusal(floor.post("exceptions/0/clear", {"reason": "again"})) == (404, "not_found")
    [row] = office.get("exceptions/cards?table=T1").json()["results"]
    assert (row["found"]["cards"], row["reason"]) == (["Aa"], "a scanner's error")
    assert row["cleared_by"].startswith("floor")
    [event] = events(kit, "cards.exception_cleared")
    assert event["reason"] == "a scanner's error"
    dealer.refresh()
    dealer.ok("hands", {"mode": "physical"})


def test_what_the_engine_refuses_of_named_cards_is_kept_too(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    desk.ok("hands", {"mode": "physical"})
    desk.act("p1 po 100", "d dh p1 Kl8b")
    assert refusal(desk.post("hand/actions", action("d dh p2 KlAh"))) == (422, "card_already_dealt")
    assert refusal(desk.post("hand/actions", action("d dh p2 KcAh"))) == (422, "card_not_in_pack")
    # Who is not to be dealt to, or whose turn it is not, says nothing about the pack.
    assert refusal(desk.post("hand/actions", action("d dh p3 KlAh")))[0] == 422
    assert refusal(desk.post("hand/actions", action("p1 rb 100")))[0] == 422
    kinds = list(CardException.objects.filter(house=kit.house).order_by("id").values_list("kind", flat=True))
    assert kinds == ["duplicate", "foreign"]


def test_exceptions_of_a_table_are_numbered_without_gaps(kit: Kit) -> None:
    for code in ("T1", "T2"):
        kit.table(code)
        desk = kit.seated(code)
        for twice, number in (("AaAa", 1), ("KlKl", 2), ("AaAa", 1)):
            refused = desk.post("deck-check", {"cards": twice})
            assert (refused.status_code, refused.json()["exception"]) == (422, number), "the same one is kept once"
        assert desk.post("hands", {"mode": "physical"}).json()["exceptions"] == [1, 2]
        floor = kit.dealer(code, role=Role.FLOOR)
        floor.ok("exceptions/1/clear", {"reason": "a scanner's error"})
        assert refusal(floor.post("exceptions/3/clear", {"reason": "no such"})) == (404, "not_found")
        desk.refresh()
        assert desk.post("hands", {"mode": "physical"}).json()["exceptions"] == [2]
    rows = kit.office().get("exceptions/cards").json()["results"]
    assert [(row["table"], row["exception"]) for row in rows] == [("T1", 1), ("T1", 2), ("T2", 1), ("T2", 2)]
    assert auditing.verify_house(kit.house).findings == []


def test_an_exception_never_changes(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    assert refusal(desk.post("deck-check", {"cards": "AaAa"}))[0] == 422
    [kept] = CardException.objects.filter(house=kit.house)
    for statement in ("UPDATE hands_cardexception SET kind = 'missing' WHERE id = %s",
                      "DELETE FROM hands_cardexception WHERE id = %s",
                      "UPDATE hands_cardexception SET cleared_at = now() WHERE id = %s"):  # fmt: skip
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement, [kept.id])
    with pytest.raises(DatabaseError, match="append-only"), connections["owner"].cursor() as cursor:
        cursor.execute("TRUNCATE hands_cardexception")


# --- Deck checks ----------------------------------------------------------------------------------------------------


def test_a_complete_deck_is_recorded(kit: Kit) -> None:
    kit.table()
    desk = kit.seated()
    answer = desk.ok("deck-check", {"cards": "".join(reversed(TELL32.cards))})
    assert answer["last_event"] == {"kind": "table.deck_checked", "pack": "tell32", "cards": 32}
    [event] = events(kit, "table.deck_checked")
    assert event["data"]["table_version"] == desk.version
    desk.ok("hands", {"mode": "physical"})
    assert refusal(desk.post("deck-check", {"cards": "".join(TELL32.cards)})) == (409, "table_playing")


@pytest.mark.parametrize(
    ("change", "kind", "code", "named"),
    [
        ({"Aa": ""}, "missing", "deck_incomplete", {"missing": ["Aa"]}),
        ({"Aa": "AaAa"}, "duplicate", "card_entered_twice", {"duplicate": ["Aa"]}),
        ({"Aa": "AaAc"}, "foreign", "card_not_in_pack", {"foreign": ["Ac"]}),
        ({"Aa": "Ka", "7h": ""}, "deck", "deck_incomplete", {"missing": ["7h", "Aa"], "duplicate": ["Ka"]}),
    ],
)
def test_a_deck_that_is_not_whole_is_an_exception(
    kit: Kit, change: dict[str, str], kind: str, code: str, named: dict[str, list[str]]
) -> None:
    kit.table()
    desk = kit.seated()
    answer = desk.post("deck-check", {"cards": "".join(change.get(card, card) for card in TELL32.cards)})
    assert refusal(answer) == (422, code)
    assert {name: answer.json()[name] for name in named} == named
    [kept] = CardException.objects.filter(house=kit.house)
    assert (kept.kind, kept.hand) == (kind, None)
    assert {name: kept.found[name] for name in named} == named
    [event] = events(kit, "cards.exception")
    assert event["data"]["found"] == kept.found
    assert refusal(desk.post("hands", {"mode": "physical"})) == (409, "cards_exception_open")
    floor = at_the_table(kit, desk)
    floor.ok(f"exceptions/{kept.number}/clear", {"reason": "a new pack was opened"})
    desk.refresh()
    desk.ok("hands", {"mode": "physical"})
