"""Disputes that are withdrawn, judged by the events of their hand alone: no database."""

import json
from typing import Any

import pytest

from casino.audit.verifier.findings import Report
from casino.audit.verifier.hands import Hands
from tests.proof.model import World

Doc = dict[str, Any]
Docs = list[Doc]

NAME, CHAIN = "T1-000001", "table/T1"
#: What lies in the pot when the hand is disputed.
POT = 100
RAISED: Doc = {
    "chain": CHAIN, "seq": 90, "kind": "hand.dispute_raised", "actor": "flora", "role": "floor",
    "postings": [{"tx": 900, "legs": [["2030/T1", "HUF", POT], ["2070/T1", "HUF", -POT]]}],
    "data": {"hand": NAME, "before": "playing", "frozen": POT},
}  # fmt: skip
WITHDRAWN: Doc = {
    "chain": CHAIN, "seq": 91, "kind": "hand.dispute_withdrawn", "actor": "flora", "role": "floor",
    "postings": [{"tx": 901, "reverses": 900}],
    "data": {"hand": NAME, "after": "playing", "raised_by": "flora", "returned": POT, "mirror": 901},
}  # fmt: skip
BY_WORKER: Doc = RAISED | {
    "kind": "hand.disputed", "actor": "outbox:1", "role": "system", "data": {"hand": NAME, "frozen": POT},
}  # fmt: skip


def findings(*between: Doc) -> list[tuple[str, str]]:
    """Codes and problems that are found in the model's first hand, with these events after its first lines."""
    docs: Docs = [json.loads(payload) for payload in World().evening(hands=1, tables=1).payloads]
    at = 1 + next(at for at, doc in enumerate(docs) if doc["kind"] == "hand.acted")
    docs[at:at] = json.loads(json.dumps(between))
    report = Report()
    hands = Hands(report, iter(()), "HUF")
    for report.now, doc in enumerate(docs):
        hands.take(doc)
    return [(finding.code, finding.problem) for finding in report.findings]


def found(*between: Doc) -> list[str]:
    """The codes, once each."""
    return sorted({code for code, _ in findings(*between)})


def changed(doc: Doc, **members: Any) -> Doc:
    """The same event with other members; those of its data by their names."""
    data = {name: members.pop(name) for name in list(members) if name in doc["data"]}
    return doc | members | {"data": doc["data"] | data}


def test_a_hand_goes_on_after_each_withdrawal() -> None:
    again = changed(RAISED, postings=[RAISED["postings"][0] | {"tx": 902}])
    back = changed(WITHDRAWN, postings=[{"tx": 903, "reverses": 902}], mirror=903, role="manager", actor="mara")
    assert found(RAISED, WITHDRAWN) == found(RAISED, WITHDRAWN, again, back) == []


@pytest.mark.parametrize(
    ("forged", "code"),
    [
        (changed(WITHDRAWN, actor="felix"), "not_your_dispute"),
        (changed(WITHDRAWN, actor="felix", raised_by="felix"), "not_your_dispute"),
        (changed(WITHDRAWN, raised_by="felix"), "hand_differs"),
        (changed(WITHDRAWN, after="ended"), "hand_differs"),
        (changed(WITHDRAWN, returned=POT - 1), "hand_differs"),
        (changed(WITHDRAWN, mirror=900), "hand_money_differs"),
        (changed(WITHDRAWN, mirror=None), "hand_money_differs"),
        (changed(WITHDRAWN, postings=[], mirror=None), "hand_money_differs"),
        (changed(WITHDRAWN, postings=[{"tx": 901, "reverses": 899}]), "hand_money_differs"),
        (
            changed(WITHDRAWN, postings=[*WITHDRAWN["postings"], {"tx": 904, "legs": RAISED["postings"][0]["legs"]}]),
            "hand_money_differs",
        ),
    ],
)
def test_a_forged_withdrawal_is_found(forged: Doc, code: str) -> None:
    assert code in found(RAISED, forged)


@pytest.mark.parametrize(
    "before", [(BY_WORKER,), (RAISED, WITHDRAWN), ()], ids=["by worker", "withdrawn", "undisputed"]
)
def test_what_the_floor_has_not_disputed_is_not_withdrawn(before: tuple[Doc, ...]) -> None:
    forged = changed(WITHDRAWN, postings=[], mirror=None, returned=0)
    problem = "table/T1#91 withdraws a dispute of it, which the floor has not raised"
    assert ("hand_differs", problem) in findings(*before, forged)


def test_only_what_is_withdrawn_is_played_on() -> None:
    assert "hand_differs" in found(RAISED)
