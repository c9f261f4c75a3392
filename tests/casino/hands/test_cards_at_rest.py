"""Nobody learns a face-down card from the database, an event, a stored answer or an export, during a hand and after it;
what is sealed opens to its holder and to auditors, and cannot be altered unnoticed."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import engine
from casino.audit import verifier
from casino.hands import cards, face_down, selectors
from casino.hands.models import CardException, Hand, HandLine, HandState
from casino.staff.models import Role
from casino.verification import auditing, exporting
from engine.kernel.grammar import OUT_OF_HAND
from engine.play import random_line
from engine.registry import game_info, game_names
from tests.casino import written
from tests.casino.devices import device, events
from tests.casino.hands.test_voiding import REASON, floor
from tests.casino.kit import FAERBELN, FERBLI, SAMPLE, Desk, Kit
from tests.casino.superuser import unguarded
from tests.casino.trick_hands import found, last_hand
from tests.words import as_action

#: Hexadecimal text and UUIDs, which may hold anything.
_HEX = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{16,}|\\x[0-9a-f]+")
#: What an offer may be filled in with: a card that is called, for example, in any hand.
_CHOICES = re.compile(r'"choices\\*": ?\[[^]]*\]')
_CARDS = re.compile(r"(?<![0-9A-Za-z?])(?:[A-Z0-9][a-z]|\?\?)+(?![0-9A-Za-z?])")


def named_in(text: str, pack: frozenset[str]) -> set[str]:
    """The cards that a text names, by themselves or several in one word."""
    text = _CHOICES.sub("", _HEX.sub(" ", text))
    found = [[word[at : at + 2] for at in range(0, len(word), 2)] for word in _CARDS.findall(text)]
    return {card for cards in found if pack.issuperset({*cards} - {"??"}) for card in cards} - {"??"}


_SET = {"ferbli": FERBLI, "faerbeln": FAERBELN}
"""What a house's table must set besides the example of the game."""


class Rows:
    """What every table has that was written since this was made."""

    def __init__(self) -> None:
        self._made = written.now()
        #: Cards that everybody has seen.
        self.public: set[str] = set()

    def new(self) -> list[tuple[str, str]]:
        """Table and text of each of these rows."""
        return sorted(written.since(self._made))


def assert_no_card_leaks(rows: Rows, hand: Hand) -> set[str]:
    """No row names a card that not everybody has seen; returns the cards of the hand that nobody but its holder has."""
    game = selectors.state(hand)
    pack = frozenset(engine.rules_version(hand.rules).pack_for(hand.options).members)
    view: dict[str, Any] = game.view(engine.PUBLIC)
    seen = {name: value for name, value in view.items() if name != "legal"}
    rows.public |= named_in(json.dumps([seen, hand.options], default=list), pack)
    whole = {card for line in game.log for card in named_in(line, pack)} | {*(game.setup.deck or ())}
    secret = whole - rows.public
    new = rows.new()
    assert [(table, text) for table, text in new if named_in(text, pack) & secret] == []
    raw = {line.encode().hex() for line, seen in zip(game.log, view["log"], strict=True) if line != seen}
    assert [(table, text) for table, text in new if any(line in text for line in raw)] == []
    return secret


def action_of(game: engine.Hand, line: str) -> dict[str, Any]:
    """A line as a console sends it that knows no card."""
    action = game.grammar.parse(line)
    if action.cards and game.grammar.role(action) in OUT_OF_HAND:
        held = game.held(action.actor)
        return {"actor": f"p{action.actor}", "verb": action.verb, "places": [held.index(one) for one in action.cards]}
    return game.grammar.fields_of(line)


def seated_at(kit: Kit, game: str) -> Desk:
    """Players at a table of the game, as many as it mostly takes."""
    info = game_info(game)
    seats = 4 if 4 in (info.seats_allowed or range(info.min_seats, info.max_seats + 1)) else info.min_seats
    kit.table_for(game, dict(info.example) | _SET.get(game, {}), code="T1", seats=seats, tray=None, max_stack=500_000)
    return kit.seated(stacks=(200_000,) * seats)


@pytest.mark.some_now(11)
@pytest.mark.parametrize("name", game_names())
def test_no_row_names_a_face_down_card_of_an_electronic_hand(kit: Kit, name: str, tmp_path: Path) -> None:
    desk, choice = seated_at(kit, name), random.Random(4)
    desk.get().json()
    rows = Rows()
    answer = desk.deal()
    hidden, steps = 0, 0
    while answer["actor"] is not None:
        if steps < 6 or steps % 12 == 0:
            hidden += len(assert_no_card_leaks(rows, last_hand(kit)))
        game, steps = selectors.state(last_hand(kit)), steps + 1
        answer = desk.ok("hand/actions", {"actions": [action_of(game, random_line(game, choice))]})
    assert hidden, "there was something to hide"
    assert_no_card_leaks(rows, last_hand(kit))
    assert kit.settle() == ["settled"]
    hand = last_hand(kit)
    folded = assert_no_card_leaks(rows, hand)
    assert HandLine.objects.filter(hand=hand).exclude(hash="").exists()
    exporting.export_house(kit.house, tmp_path / "export")
    exported = "".join(path.read_text() for path in (tmp_path / "export").iterdir())
    pack = frozenset(engine.rules_version(hand.rules).pack_for(hand.options).members)
    assert not named_in(exported, pack) & folded
    assert verifier.verify_export(tmp_path / "export").findings == []
    assert auditing.verify_house(kit.house).findings == found(kit) == []


@pytest.mark.slow
def test_no_row_names_a_card_that_a_dealer_typed_or_a_scanner_read(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    rows = Rows()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    folded = set[str]()
    for line in SAMPLE:
        dealer.act(line)
        folded = assert_no_card_leaks(rows, last_hand(kit))
    assert kit.settle() == ["settled"]
    assert {"Xl", "Ob"} <= folded == assert_no_card_leaks(rows, last_hand(kit))
    assert auditing.verify_house(kit.house).findings == found(kit) == []


def test_no_row_names_an_entered_card_that_was_folded(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated(stacks=(5_000, 5_000))
    dealer.ok("hands", {"mode": "physical"})
    dealer.act("p1 po 100", "d dh p1 ????", "d dh p2 ????")
    rows = Rows()
    dealer.ok("hand/cards", {"entries": [{"actor": "p1", "index": 0, "card": "Ua"}]})
    kit.dealer(role=Role.FLOOR).ok(
        "hand/corrections", {"entry": {"actor": "p1", "index": 0, "card": "Xa"}, "reason": "misread"}
    )
    dealer.refresh()
    twice = dealer.post("hand/cards", {"entries": [{"actor": "p2", "index": 0, "card": "Xa"}]})
    assert (twice.status_code, twice.json()["code"]) == (422, "card_entered_twice")
    dealer.act("p2 f")
    hand = last_hand(kit)
    assert cards.entered(hand) == {(1, 0): "Xa"}
    pack = frozenset(game_info("ferbli").pack_for(hand.options).members)
    assert [text for _, text in rows.new() if named_in(text, pack) & {"Ua", "Xa"}] == []
    with unguarded("hands_cardentry") as cursor:
        cursor.execute("UPDATE hands_cardentry SET seat = 2 WHERE hand_id = %s", [hand.id])
    assert found(kit) == ["the sealed cards of card 0 of p2 do not open: row or key is another"] * 2
    with unguarded("hands_cardentry") as cursor:
        cursor.execute("UPDATE hands_cardentry SET seat = 1 WHERE hand_id = %s", [hand.id])
    assert "entered" not in events(kit, "hand.acted")[-1]["data"]
    kit.settle()
    assert auditing.verify_house(kit.house).findings == found(kit) == []


def refused_cards(kit: Kit) -> tuple[Rows, Hand, CardException]:
    """A physical hand over and settled, in which the dealer has tried to deal a face-down card twice; what was written
    since, the hand, and the exception that is open."""
    kit.table()
    dealer = kit.seated(stacks=(5_000, 5_000))
    dealer.ok("hands", {"mode": "physical"})
    rows = Rows()
    dealer.act("p1 po 100", "d dh p1 KlOl")
    for _ in range(2):
        refusal = dealer.post("hand/actions", {"actions": [as_action("d dh p2 KlXb")]})
        assert (refusal.status_code, refusal.json()["code"]) == (422, "card_already_dealt")
    dealer.act("d dh p2 AhXb", "p2 f")
    assert kit.settle() == ["settled"]
    [kept] = CardException.objects.filter(house=kit.house)  # the same one was refused twice
    return rows, last_hand(kit), kept


def test_no_row_names_the_cards_of_an_exception_of_a_hand(kit: Kit, tmp_path: Path) -> None:
    rows, hand, kept = refused_cards(kit)
    pack = frozenset(game_info("ferbli").pack_for(hand.options).members)
    cleared = floor(kit).ok(f"exceptions/{kept.number}/clear", REASON)
    cleared.pop("audit")  # a hash may hold any two characters
    assert not named_in(json.dumps(cleared), pack) & {"Kl", "Ol", "Ah", "Xb"}
    exporting.export_house(kit.house, tmp_path / "export")
    texts = [text for _, text in rows.new()] + [path.read_text() for path in (tmp_path / "export").iterdir()]
    assert [text for text in texts if named_in(text, pack) & {"Kl", "Ol", "Ah", "Xb"}] == []
    assert events(kit, "cards.exception")[0]["data"]["found_hash"] == kept.hash
    assert events(kit, "cards.exception_cleared")[0]["data"]["found_hash"] == kept.hash
    assert verifier.verify_export(tmp_path / "export").findings == []
    assert auditing.verify_house(kit.house).findings == found(kit) == []


def test_an_exception_of_a_hand_opens_to_floor_and_auditor_but_not_to_dealers_and_manager(kit: Kit) -> None:
    kept = refused_cards(kit)[-1]
    for desk in (kit.office(Role.AUDITOR), floor(kit)):
        before = len(events(kit, "data.read"))
        [row] = desk.get("/api/v1/exceptions/cards").json()["results"]
        assert (row["exception"], row["found"]["action"]) == (kept.number, "d dh p2 KlXb")
        assert "Kl" in row["found"]["problem"]
        assert len(events(kit, "data.read")) == before + 1
    for desk in (kit.dealer(), kit.office(Role.MANAGER)):
        [row] = desk.get("/api/v1/exceptions/cards").json()["results"]
        assert (row["exception"], row["found"]) == (kept.number, None)


@pytest.mark.parametrize(
    "change",
    ["sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1)", "kind = 'foreign'", "hash = repeat('0', 64)"],
)
def test_an_exception_that_was_altered_is_found(kit: Kit, change: str) -> None:
    kept = refused_cards(kit)[-1]
    with unguarded("hands_cardexception") as cursor:
        cursor.execute(f"UPDATE hands_cardexception SET {change} WHERE id = %s", [kept.id])
    assert found(kit) == [f"the sealed cards of exception {kept.number} do not open: row or key is another"]
    codes = {one.code for one in auditing.verify_house(kit.house).findings}
    assert codes >= ({"state_differs"} if "sealed" not in change else set())
    answer = kit.office(Role.AUDITOR).get("exceptions/cards")
    assert (answer.status_code, answer.json()["code"]) == (500, "proof_failed")


def folded_hand(kit: Kit) -> tuple[Desk, Hand]:
    """An electronic hand of Ferbli in which everybody but p1 has folded; over, not settled."""
    kit.table()
    dealer = kit.seated()
    dealer.deal(button=4)
    dealer.act("p1 po 100")
    for seat in (2, 3, 4):
        dealer.act(f"p{seat} f")
    return dealer, last_hand(kit)


def test_a_folded_hand_opens_to_its_holder_and_to_an_auditor_whose_read_is_recorded(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    own = device(kit, dealer, 2)
    dealer.deal(button=4)
    dealer.act("p1 po 100")
    for seat in (2, 3, 4):
        dealer.act(f"p{seat} f")
    hand = last_hand(kit)
    dealt = selectors.log(hand)[2]
    assert dealt.startswith("d dh p2 ") and "?" not in dealt
    assert kit.settle() == ["settled"]
    assert "".join(own.get("hand").json()["cards"]) == dealt[8:]
    before = len(events(kit, "data.read"))
    record = kit.office(Role.AUDITOR).get(f"/api/v1/hands/{hand.name}").json()
    assert dealt in record["acts"] and "seed" in record
    assert len(events(kit, "data.read")) == before + 1
    assert dealt not in kit.dealer(role=Role.FLOOR).get(f"/api/v1/hands/{hand.name}").text


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE hands_handline SET sealed = set_byte(sealed, 20, (get_byte(sealed, 20) + 1) % 256) WHERE id = {id}",
        "UPDATE hands_handline SET sealed = o.sealed, hash = o.hash FROM hands_handline o "
        "WHERE hands_handline.id = {id} AND o.hand_id = {hand} AND o.seq = 3",
        "UPDATE hands_handline SET sealed = '\\x00' WHERE id = {id}",
        "UPDATE hands_handline SET hash = repeat('0', 64) WHERE id = {id}",
        "UPDATE hands_handline SET text = 'd dh p2 ????' WHERE id = {id}",
    ],
    ids=["a byte", "another line's", "cut off", "hash", "seat"],
)
def test_an_altered_sealed_line_is_found_and_nothing_is_paid(kit: Kit, change: str) -> None:
    _, hand = folded_hand(kit)
    line = HandLine.objects.get(hand=hand, seq=2)
    with unguarded("hands_handline") as cursor:
        cursor.execute(change.format(id=line.id, hand=hand.id))
    assert "the sealed cards of line 2 do not open: row or key is another" in found(kit)
    assert kit.settle() == ["disputed"]
    assert Hand.objects.get(id=hand.id).state == HandState.DISPUTED
    assert selectors.finished_record(hand)["acts"][1].endswith("????"), (
        "a disputed hand has a record, as far as it opens"
    )


def test_a_sealed_line_whose_seal_is_taken_away_or_made_again_is_found(kit: Kit) -> None:
    _, hand = folded_hand(kit)
    line = HandLine.objects.get(hand=hand, seq=2)
    whole = selectors.log(hand)[1]
    with unguarded("hands_handline") as cursor:
        cursor.execute("UPDATE hands_handline SET text = %s, sealed = '', hash = '' WHERE id = %s", [whole, line.id])
    places = [finding.place for finding in auditing.verify_house(kit.house).findings]
    assert any("line 2" in place for place in places) and any(hand.name in place for place in places)
    again = face_down.line(hand, 2, whole, line.text)
    with unguarded("hands_handline") as cursor:
        cursor.execute("UPDATE hands_handline SET text = %s, sealed = %s, hash = %s WHERE id = %s",
                       [line.text, again.sealed, again.hash, line.id])  # fmt: skip
    assert [finding.code for finding in auditing.verify_house(kit.house).findings] == ["hand_row_differs"]


def test_the_digest_of_an_electronic_hand_cannot_be_tried(kit: Kit) -> None:
    _, hand = folded_hand(kit)
    game = selectors.state(hand)
    assert game.over
    stored = {hand.digest, events(kit, "hand.acted")[-1]["data"]["digest"]}
    assert len(stored) == 1 and game.digest() not in stored
    assert selectors.finished_record(hand)["state"] == game.digest()
