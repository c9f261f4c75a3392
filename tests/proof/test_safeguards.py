"""What protects players, judged without a database: exclusions, admissions and limits that were forged or passed by."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from casino.audit.verifier.state_safeguards import _paid_in, _term
from tests.proof.test_judgements import HOUSE, LIMITS, Change, Docs, add, codes, evening, hire, one

LONG_AGO = "2026-11-20T00:00:00.000000Z"
CASES: list[tuple[str, Change]] = []


def found(code: str) -> Any:
    """A change of the evening's events, and a code that is found."""

    def register(change: Change) -> Change:
        CASES.append((code, change))
        return change

    return register


def later(at: str, **spans: float) -> str:
    """A moment so much later."""
    moment = datetime.fromisoformat(at) + timedelta(**spans)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def who(role: str = "compliance") -> dict[str, Any]:
    return {"actor": "cleo", "role": role, "terminal": ""}


def exclude(docs: Docs, number: int = 1, *, before: str = "hand.dealt", role: str = "compliance", **data: Any) -> None:
    """Exclude the player of the first seat, long before the evening."""
    if not any(doc["data"].get("login") == "cleo" for doc in docs):
        hire(docs, "cleo", "compliance", "manager")
    said = {
        "exclusion": number, "player": player(docs), "exclusion_kind": "house", "scope": "play", "asked_by": "house",
        "in_person": False,
    }  # fmt: skip
    add(docs, HOUSE, "exclusion.set", said | data, before=before, at=LONG_AGO, **who(role))


def player(docs: Docs) -> str:
    """Who sits on the first seat."""
    return str(one(docs, "hand.dealt")["data"]["seats"][0]["player"])


def lift(docs: Docs, cause: str, at: str, number: int = 1) -> None:
    data = {"exclusion": number, "player": player(docs), "cause": cause}
    add(docs, HOUSE, "exclusion.lifted", data, at=at, **who())


@found("player_excluded")
def an_excluded_player_is_dealt_in(docs: Docs) -> None:
    exclude(docs)


@found("player_excluded")
def an_excluded_player_sits_down(docs: Docs) -> None:
    exclude(docs, before="table.sat_down", player=one(docs, "table.sat_down")["data"]["player"])


@found("player_excluded")
def an_excluded_player_buys_in(docs: Docs) -> None:
    exclude(docs, before="cage.buy_in", player=one(docs, "cage.buy_in")["data"]["player"])


@found("player_excluded")
def an_own_wish_lasts_beyond_its_term(docs: Docs) -> None:
    term = {"exclusion_kind": "self", "asked_by": "player", "until": "2026-11-21T00:00:00.000000Z"}
    exclude(docs, **term)
    one(docs, "exclusion.set")["at"] = "2026-01-01T00:00:00.000000Z"


@found("safeguard_differs")
def a_number_of_an_exclusion_is_left_out(docs: Docs) -> None:
    exclude(docs, 2, player="nobody")


@found("safeguard_differs")
def a_cashier_excludes(docs: Docs) -> None:
    hire(docs, "cleo", "cashier")
    exclude(docs, player="nobody", role="cashier")


@found("safeguard_differs")
def an_own_wish_is_too_short(docs: Docs) -> None:
    exclude(
        docs, player="nobody", exclusion_kind="self", asked_by="player", until="2027-05-19T00:00:00.000000Z"
    )  # fmt: skip


@found("safeguard_differs")
def an_exclusion_is_lifted_that_nobody_asked_the_end_of(docs: Docs) -> None:
    exclude(docs, player="nobody")
    data = {"exclusion": 1, "player": "nobody", "cause": "revoked"}
    add(docs, HOUSE, "exclusion.lifted", data, at=later(LONG_AGO, days=3), **who())


@found("approval_missing")
def an_exclusion_is_lifted_by_one_person(docs: Docs) -> None:
    exclude(docs, player="nobody")
    data = {"exclusion": 1, "player": "nobody", "cause": "wrong_entry"}
    add(docs, HOUSE, "exclusion.lifted", data, at=later(LONG_AGO, days=3), **who())


@found("safeguard_differs")
def an_own_wish_is_lifted_before_its_term(docs: Docs) -> None:
    exclude(docs, player="nobody", exclusion_kind="self", asked_by="player")
    data = {"exclusion": 1, "player": "nobody"}
    add(docs, HOUSE, "exclusion.lift_asked", data, at=later(LONG_AGO, days=1), **who())
    add(docs, HOUSE, "exclusion.lifted", data | {"cause": "revoked"}, at=later(LONG_AGO, days=90), **who())


@found("not_admitted")
def somebody_buys_in_without_an_admission(docs: Docs) -> None:
    asked = LIMITS | {"points": {"admission_required": 1}, "valid_from": LONG_AGO}
    add(docs, HOUSE, "limits.changed", asked, before="cage.buy_in", at=LONG_AGO, reason="at founding")


@found("safeguard_differs")
def somebody_is_admitted_for_no_day(docs: Docs) -> None:
    seen = {"player": player(docs), "day": "2020-01-01", "document": "passport", "age_band": "35-49"}
    hire(docs, "cleo", "floor")
    add(docs, HOUSE, "player.admitted", seen, before="hand.dealt", **who("floor"))


@found("safeguard_differs")
def a_higher_limit_counts_at_once(docs: Docs) -> None:
    hire(docs, "cleo", "compliance")
    for number, most in ((1, 100_000_000), (2, 200_000_000)):
        stated = {"number": number, "player": player(docs), "limit": "loss", "span": "week", "most": most}
        add(
            docs, HOUSE, "player.limit_set", stated | {"starts_at": LONG_AGO}, before="hand.dealt", at=LONG_AGO, **who()
        )


@found("player_limit_exceeded")
def more_is_sold_than_a_limit_leaves(docs: Docs) -> None:
    hire(docs, "cleo", "compliance")
    bought = one(docs, "cage.buy_in")["data"]
    stated = {"number": 1, "player": bought["player"], "limit": "buy_in", "span": "month", "starts_at": LONG_AGO}
    add(
        docs, HOUSE, "player.limit_set", stated | {"most": bought["amount"] - 1}, before="cage.buy_in", at=LONG_AGO,
        **who(),
    )  # fmt: skip


@pytest.mark.parametrize(("code", "change"), CASES, ids=[change.__name__ for _, change in CASES])
def test_it_is_found(code: str, change: Change) -> None:
    docs = evening()
    change(docs)
    assert code in codes(docs)


def test_an_exclusion_that_was_lifted_or_has_ended_is_none() -> None:
    docs = evening()
    exclude(docs, until="2026-11-20T12:00:00.000000Z")
    assert codes(docs) == []


def test_six_months_later_is_the_same_day_or_the_last_one() -> None:
    assert _term("2026-08-31T10:00:00.000000Z") == "2027-02-28T10:00:00.000000Z"
    assert _term("2026-01-15T10:00:00.000000Z") == "2026-07-15T10:00:00.000000Z"


def test_what_a_posting_has_brought_of_whom() -> None:
    cage = ["1020/C1", "HUF", 500]
    assert _paid_in([cage, ["2010/a", "HUF", -500]]) == {"a": 500}
    assert _paid_in([cage, ["2085/a", "HUF", -500]]) == {}
    assert _paid_in([["2085/a", "HUF", 500], ["2010/a", "HUF", -500]]) == {"a": 500}
    assert _paid_in([["2010/a", "HUF", 700], ["2015/C1", "HUF", -200], ["1020/C1", "HUF", -500]]) == {"a": -500}
    assert _paid_in([["2010/a", "HUF", 500], ["2090/a", "HUF", -500]]) == {"a": -500}
    assert _paid_in([["2010/a", "HUF", 500], ["2020/T1/a", "HUF", -500]]) == {}
