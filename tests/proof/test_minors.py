"""Minors, judged without a database: who was recorded as one, what was settled, and what was paid around it."""

from typing import Any

import pytest

from tests.proof.test_judgements import DRAWER, HOUSE, Change, Docs, add, as_sold, codes, evening, one
from tests.proof.test_safeguards import LONG_AGO, exclude, lift, player, who

NOBODY = "nobody"
CASES: list[tuple[str, Change]] = []


def found(code: str) -> Any:
    """A change of the evening's events, and a code that is found."""

    def register(change: Change) -> Change:
        CASES.append((code, change))
        return change

    return register


def record(docs: Docs, ref: str, number: int = 1, *, role: str = "compliance", **bar: Any) -> None:
    """Exclude a player, and record that it is a minor, long before the evening."""
    exclude(docs, player=ref, **{"scope": "house"} | bar)
    said = {"minor": number, "player": ref, "exclusion": 1, "least_age": 18, "note_sha256": "0" * 64}
    add(docs, HOUSE, "minor.recorded", said, before="hand.dealt", at=LONG_AGO, **who(role))


def settle(docs: Docs, **changed: Any) -> None:
    """Settle a minor who has never paid in anything."""
    figures = dict.fromkeys(("stakes", "deposit", "held", "refund", "kept", "borne"), 0)
    said = {"minor": 1, "player": NOBODY, "ended": []} | figures | changed
    add(docs, HOUSE, "minor.settled", said, **who())


@found("minor_paid")
def a_minor_is_paid(docs: Docs) -> None:
    ref = one(docs, "cage.buy_in")["data"]["player"]
    record(docs, ref)
    data = {"player": ref, "amount": 100, "player_chips": 0, "exchanged": {}}
    add(docs, DRAWER, "cage.cash_out", data, **as_sold(docs))


@found("serial_gap")
def a_number_is_left_out(docs: Docs) -> None:
    record(docs, NOBODY, 2)


@found("safeguard_differs")
def the_floor_records_a_minor(docs: Docs) -> None:
    record(docs, NOBODY, role="floor")


@found("safeguard_differs")
def a_minor_may_come_in(docs: Docs) -> None:
    record(docs, NOBODY, scope="play")


@found("safeguard_differs")
def a_minor_is_let_in_before_the_settlement(docs: Docs) -> None:
    record(docs, player(docs))
    lift(docs, "wrong_entry", "2026-11-21T00:00:00.000000Z")


@found("approval_missing")
def one_person_settles(docs: Docs) -> None:
    record(docs, NOBODY)
    settle(docs)


@found("approval_missing")
def one_person_clears(docs: Docs) -> None:
    record(docs, NOBODY)
    add(docs, HOUSE, "minor.cleared", {"minor": 1, "player": NOBODY}, **who())


@found("safeguard_differs")
def what_nobody_has_paid_in_is_given_back(docs: Docs) -> None:
    record(docs, NOBODY)
    settle(docs, stakes=500, refund=500, borne=500)


@found("safeguard_differs")
def a_payout_ends_that_was_not_held(docs: Docs) -> None:
    record(docs, NOBODY)
    settle(docs, ended=[7])


@found("safeguard_differs")
def winnings_are_booked_that_the_event_does_not_say(docs: Docs) -> None:
    record(docs, NOBODY)
    settle(docs)
    docs[-1]["postings"] = [{"tx": 1, "legs": [["2085/nobody", "HUF", 500], ["2087", "HUF", -500]], "about": ""}]


@found("safeguard_differs")
def a_minor_is_settled_twice(docs: Docs) -> None:
    record(docs, NOBODY)
    settle(docs)
    settle(docs)


def won(docs: Docs, kept: int = 500) -> None:
    """Let a minor be settled from whom so much is kept, in a house under Hungarian law. That nothing was held before is
    found first: the evening has no payouts."""
    record(docs, NOBODY)
    identity = {"number": 1, "identity": {"legal_profile": "HU"}}
    add(docs, HOUSE, "house.identity_changed", identity, before="hand.dealt", at=LONG_AGO)
    settle(docs, kept=kept)


def remit(docs: Docs, *, legs: list[list[Any]] | None = None, role: str = "compliance", **changed: Any) -> None:
    """Remit what was kept, posted as it is."""
    part = {"minor": 1, "player": NOBODY, "kept": 500}
    said = {
        "remittance": 1, "amount": 500, "beneficiary": "state", "payee": "Tax office", "note": "N-1", "minors": [part],
    }  # fmt: skip
    add(docs, HOUSE, "winnings.remitted", said | changed, **who(role))
    moved = [["2087", "HUF", 500], ["1090", "HUF", -500]] if legs is None else legs
    docs[-1]["postings"] = [{"tx": 2, "legs": moved, "about": ""}]


def judged(change: Change) -> list[str]:
    """What is wrong with the last event, besides that nobody has approved it and what is wrong with the settlement."""
    docs = evening()
    won(docs)
    before = codes(docs)
    change(docs)
    return [code for code in codes(docs)[len(before) :] if code != "approval_missing"]


def test_a_remittance_of_what_was_kept_is_no_finding() -> None:
    assert judged(remit) == []


@pytest.mark.parametrize(
    "said",
    [
        {"beneficiary": "charity"}, {"role": "manager"}, {"amount": 400}, {"legs": []},
        {"legs": [["2087", "HUF", 500], ["1010", "HUF", -500]]},
        {"legs": [["2087", "HUF", 400], ["1090", "HUF", -400]]},
        {"minors": [{"minor": 1, "player": "anna", "kept": 500}]},
        {"minors": [{"minor": 1, "player": NOBODY, "kept": 400}], "amount": 400},
        {"minors": []},
    ],
    ids=str,
)  # fmt: skip
def test_a_remittance_of_something_else_is_found(said: dict[str, Any]) -> None:
    assert "safeguard_differs" in judged(lambda docs: remit(docs, **said))


def test_what_was_remitted_before_is_found() -> None:
    def twice(docs: Docs) -> None:
        remit(docs)
        remit(docs, remittance=2)

    assert "safeguard_differs" in judged(twice)


def test_a_number_of_a_remittance_is_not_left_out() -> None:
    assert "serial_gap" in judged(lambda docs: remit(docs, remittance=2))


@pytest.mark.parametrize(("code", "change"), CASES, ids=[change.__name__ for _, change in CASES])
def test_it_is_found(code: str, change: Change) -> None:
    docs = evening()
    change(docs)
    assert code in codes(docs)


def test_a_minor_that_was_recorded_is_no_finding() -> None:
    docs = evening()
    record(docs, NOBODY)
    assert codes(docs) == []
