"""Paper of hands that were voided or ruled on, and paper in the languages of the house and of who prints it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from casino.audit import selectors as audit
from casino.audit.verifier import command
from casino.reports.verifying import verification
from casino.staff.models import Role
from tests.casino.days.test_days import events
from tests.casino.devices import device
from tests.casino.hands.test_later_rulings import PATH, REMEDY, settled
from tests.casino.hands.test_ruling import CLAIMED, RULING, disputed
from tests.casino.kit import MISDEAL, Desk, Kit
from tests.casino.papers import codes, printed, words
from tests.casino.reports.test_prints import PRINT, STATEMENT, bought, event
from tests.casino.transfers.test_transfers import refusal

VOID = {"reason": "the dealer turned a card up"} | MISDEAL


def place(kit: Kit, kind: str) -> dict[str, Any]:
    """Where the newest event of this kind is."""
    found = audit.of_event(kit.house, "table/T1", kind)
    return {"chain": found.chain, "seq": found.seq}


def proved(kit: Kit, desk: Desk, pdf: bytes, folder: Path) -> bool:
    """Whether verify.pyz, alone with the house's key, proves a paper."""
    (folder / "paper").write_text(min(codes(pdf)))
    key = desk.get("/api/v1/audit/key").text.strip()
    return command.main(["receipt", str(folder / "paper"), "--key", key]) == 0


def test_a_voided_hand_has_a_slip_for_the_house_and_one_for_each_player(kit: Kit, tmp_path: Path) -> None:
    dealer = kit.worked_hand()
    own = device(kit, dealer, 1)
    floor = kit.dealer(role=Role.FLOOR)
    floor.ok("hand/dispute", {"hand": "T1-000001", "reason": "the count is contested"})
    kit.approved(floor, "hand/void", VOID)
    where = place(kit, "hand.voided")
    _, pdf = printed(kit, floor, PRINT, where)
    text = words(pdf)
    assert all(said in text for said in ("Hand that was voided", VOID["reason"], "T1-u1", "T1-u4", "3 300", "1 500"))
    assert proved(kit, floor, pdf, tmp_path)
    for form in ("slip", "a4"):
        made, pdf = printed(kit, floor, PRINT, where | {"player": "T1-u4", "form": form})
        text = words(pdf)
        assert "T1-u4" in text and "1 500" in text and VOID["reason"] in text and "T1-u1" not in text
        assert made["document"] == f"table/T1#{where['seq']}/T1-u4" and proved(kit, floor, pdf, tmp_path)
    assert refusal(floor.post(PRINT, where | {"player": "bela"})) == (422, "player_of_hand")
    at_seat = own.http.post("/api/v1/seat/prints", json={"hand": "T1-000001", "form": "slip", "language": "hu"}).json()
    assert (at_seat["copy"], at_seat["language"], at_seat["about"]["player"]) == (1, "hu", "T1-u1")
    kit.sequence()
    text = words(own.get(f"prints/{at_seat['printout']}/file").content)
    assert "T1-u1" in text and "T1-u4" not in text and "original" not in text
    assert verification(kit.house)["ok"]


def test_a_ruling_has_a_slip_with_the_decision_and_both_readings(kit: Kit, tmp_path: Path) -> None:
    floor = disputed(kit)
    kit.approved(floor, "hand/ruling", RULING | {"claimed": CLAIMED})
    where = place(kit, "hand.ruled")
    _, pdf = printed(kit, floor, PRINT, where | {"form": "a4"})
    text = words(pdf)
    assert all(said in text for said in ("Ruling on a hand", RULING["reason"], "2 000", "1 135", "1 635", "-1 500"))
    assert "awarded + tax = pot" in text and "DIFFERS" not in text and "Lines as claimed" in text
    assert proved(kit, floor, pdf, tmp_path)
    _, pdf = printed(kit, floor, PRINT, where | {"player": "T1-u4"})
    text = words(pdf)
    assert "1 135" in text and "-1 500" in text and "T1-u1" not in text and "2 000" not in text
    assert verification(kit.house)["ok"]


def test_a_later_ruling_has_one_too(kit: Kit, tmp_path: Path) -> None:
    floor = settled(kit)
    kit.approved(floor, PATH, REMEDY)
    _, pdf = printed(kit, floor, PRINT, place(kit, "hand.ruled_later"))
    text = words(pdf)
    assert "Later ruling on a hand" in text and REMEDY["reason"] in text and proved(kit, floor, pdf, tmp_path)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("hu", ("eredeti", "Bizonyíték", "Játékos")),
        ("de", ("Original", "Nachweis", "Spieler")),
    ],
)
def test_papers_are_in_the_language_that_is_asked_for(kit: Kit, language: str, said: tuple[str, ...]) -> None:
    cashier, receipt = bought(kit)
    made, pdf = printed(kit, cashier, PRINT, event(receipt, form="a4", language=language))
    assert made["language"] == language
    _, statement = printed(kit, cashier, STATEMENT, {"player": "Anna_1", "form": "a4", "language": language})
    for text in map(words, (pdf, statement)):
        assert all(word in text for word in said)
        assert not any(word in text for word in ("Buy-in", "Chips", "Cash received", "Event", "Proof", "Movements"))


def test_a_paper_is_in_the_language_of_the_house_where_none_is_asked_for(kit: Kit) -> None:
    cashier, receipt = bought(kit)
    assert cashier.ok(PRINT, event(receipt))["language"] == "en"
    admin = kit.office(Role.ADMIN)
    admin.ok("house/identity", {"languages": ["cs", "hu", "de"], "reason": "the guests"})
    assert cashier.ok(PRINT, event(receipt))["language"] == "hu"
    assert cashier.ok(PRINT, event(receipt, language="de"))["copy"] == 3
    listed = kit.office(Role.AUDITOR).get("prints").json()["results"]
    assert sorted((one["copy"], one["language"]) for one in listed) == [(1, "en"), (2, "hu"), (3, "de")]
    kit.sequence()
    assert verification(kit.house)["ok"]


def test_a_certificate_of_winnings_has_what_was_won_in_hands_and_nothing_else(kit: Kit, tmp_path: Path) -> None:
    dealer = kit.worked_hand()
    own = device(kit, dealer, 1)
    assert kit.settle() == ["settled"]
    office = kit.office(Role.COMPLIANCE)
    sums = {"T1-u1": {"hands": 1, "won": 1_635, "lost": 0}, "T1-u4": {"hands": 1, "won": 0, "lost": 1_500}}
    for player, expected in sums.items():
        made, pdf = printed(kit, office, STATEMENT, {"player": player, "paper": "winnings", "form": "a4"})
        text = words(pdf)
        assert "Certificate of winnings" in text and player in text and "DIFFERS" not in text
        assert events(kit, "document.printed")[-1]["data"]["sums"] == expected
        assert made["about"] == {"player": player, "paper": "winnings"} and proved(kit, office, pdf, tmp_path)
    assert office.ok(STATEMENT, {"player": "T1-u1"})["copy"] == 1, "a statement is another document"
    again = own.http.post("/api/v1/seat/prints", json={"form": "slip", "paper": "winnings", "language": "de"}).json()
    assert again["copy"] == 2
    kit.sequence()
    assert "Gewinnbescheinigung" in words(own.get(f"prints/{again['printout']}/file").content)
    assert verification(kit.house)["ok"]


def test_a_voided_hand_is_in_no_certificate(kit: Kit) -> None:
    kit.worked_hand()
    floor = kit.dealer(role=Role.FLOOR)
    floor.ok("hand/dispute", {"hand": "T1-000001", "reason": "the count is contested"})
    kit.approved(floor, "hand/void", VOID)
    office = kit.office(Role.COMPLIANCE)
    office.ok(STATEMENT, {"player": "T1-u4", "paper": "winnings"})
    assert events(kit, "document.printed")[-1]["data"]["sums"] == {"hands": 0, "won": 0, "lost": 0}
