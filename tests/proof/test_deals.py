"""Deals that were committed to: the verifier holds every hand to what its house recorded before the cards fell, also
where the house forges its events from the start."""

import copy
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from casino.audit import verifier
from engine.deal.shuffle import client_commitment
from tests.proof.model import World
from tests.proof.test_export import rewritten

FIRST, SECOND, ABANDONED = "T1-000001", "T1-000002", "T1-000002x1"
Docs = list[dict[str, Any]]


def digest(text: str) -> str:
    """Some commitment or root."""
    return hashlib.sha256(text.encode()).hexdigest()


def electronic() -> World:
    """A model's evening with two electronic hands at T1: the first with seeds of two chairs, one said and one revealed
    by a device, the second, after a deal whose seed was not revealed, with none; and one physical hand."""
    world = World().evening(hands=3, tables=1)

    def change(docs: Docs) -> Docs:
        recorded: Docs = []
        for doc in docs:
            data = doc["data"]
            if doc["kind"] == "hand.dealt" and data["hand"] == FIRST:
                recorded += [
                    deal(doc, "committed", hand=FIRST, number=1, commitment=digest(FIRST), seats=data["seats"]),
                    deal(doc, "seed_committed", hand=FIRST, seat=5, player="e",
                         seed_commitment=client_commitment(FIRST, 5, "eve")),
                    deal(doc, "seed_taken", hand=FIRST, seat=1, player="a", seed="alice", given_by="console"),
                    deal(doc, "commitments_closed", hand=FIRST),
                    deal(doc, "seed_taken", hand=FIRST, seat=5, player="e", seed="eve", given_by="player"),
                ]  # fmt: skip
                data |= {"client_seeds": {"1": "alice", "5": "eve"}}
            if doc["kind"] == "hand.dealt" and data["hand"] == SECOND:
                late = client_commitment(ABANDONED, 4, "late")
                recorded += [
                    deal(doc, "committed", hand=ABANDONED, number=2, commitment=digest(ABANDONED), seats=data["seats"]),
                    deal(doc, "seed_committed", hand=ABANDONED, seat=4, player="d", seed_commitment=late, closed=True),
                    deal(doc, "abandoned", hand=ABANDONED, commitment=digest(ABANDONED), unrevealed=[4])
                    | {"reason": "ill"},
                    deal(doc, "committed", hand=SECOND, number=2, commitment=digest(SECOND), seats=data["seats"]),
                ]
            if doc["kind"] == "hand.dealt" and data["hand"] in (FIRST, SECOND):
                data |= {"mode": "electronic", "commitment": digest(data["hand"]), "cards_roots": [digest("deck")]}
            if doc["kind"] == "hand.acted" and data["hand"] == FIRST and data["first_line"] == 3:
                data["cards_roots"] = [digest("deck"), digest("redeal")]
            recorded.append(doc)
        of_the_table = [
            doc["data"] for doc in recorded if doc["chain"] == "table/T1" and "table_version" in doc["data"]
        ]
        for version, data in enumerate(of_the_table, start=2):
            data["table_version"] = version
        return recorded

    for row in world.hands[:2]:
        row |= {"mode": "electronic", "commitment": digest(row["hand"]), "cards_roots": [digest("deck")]}
    world.hands[0] |= {
        "client_seeds": {"1": "alice", "5": "eve"}, "cards_roots": [digest("deck"), digest("redeal")],
    }  # fmt: skip
    return rewritten(world, change)


def deal(doc: dict[str, Any], kind: str, **data: Any) -> dict[str, Any]:
    """An event of a deal, beside this one."""
    kept = {name: value for name, value in doc.items() if name != "postings"}
    return kept | {"kind": f"deal.{kind}", "data": data | {"table_version": doc["data"]["table_version"]}}


def of(docs: Docs, kind: str, name: str = FIRST) -> dict[str, Any]:
    """The first event of this kind that records of this hand."""
    return next(doc for doc in docs if doc["kind"] == kind and doc["data"]["hand"] == name)


def verified(world: World, folder: Path) -> verifier.Report:
    return verifier.verify_export(world.write(folder))


def test_deals_that_were_dealt_as_recorded_give_nothing(tmp_path: Path) -> None:
    report = verified(electronic(), tmp_path)
    assert (report.findings, report.counts["hands"]) == ([], 3)


def _commitment(docs: Docs) -> None:
    of(docs, "deal.committed")["data"]["commitment"] = digest("another")


def _seed(docs: Docs) -> None:
    of(docs, "deal.seed_taken")["data"]["seed"] = "mallory"


def _seat(docs: Docs) -> None:
    of(docs, "deal.seed_taken")["data"]["seat"] = 2


def _seed_left_out(docs: Docs) -> None:
    docs.remove(of(docs, "deal.seed_taken"))


def _seed_added(docs: Docs) -> None:
    at = docs.index(of(docs, "deal.seed_taken"))
    docs.insert(at, deal(docs[at], "seed_taken", hand=FIRST, seat=4, player="d", seed="x", given_by="console"))


def _seed_twice(docs: Docs) -> None:
    at = docs.index(of(docs, "deal.seed_taken"))
    docs.insert(at + 1, deal(docs[at], "seed_taken", hand=FIRST, seat=1, player="a", seed="x", given_by="console"))


def _said_late(docs: Docs) -> None:
    _moved_behind(docs, "deal.seed_taken", "deal.commitments_closed")


def _revealed_early(docs: Docs) -> None:
    _moved_behind(docs, "deal.commitments_closed", "hand.dealt", before=True)


def _committed_late(docs: Docs) -> None:
    _moved_behind(docs, "deal.seed_committed", "deal.commitments_closed")


def _moved_behind(docs: Docs, kind: str, other: str, *, before: bool = False) -> None:
    moved = of(docs, kind)
    docs.remove(moved)
    docs.insert(docs.index(of(docs, other)) + (not before), moved)


def _another_revealed(docs: Docs) -> None:
    """The device reveals another seed, and the hand is dealt with that."""
    revealed = next(doc for doc in docs if doc["data"].get("seed") == "eve")
    revealed["data"]["seed"] = of(docs, "hand.dealt")["data"]["client_seeds"]["5"] = "mallory"


def _never_committed(docs: Docs) -> None:
    docs.remove(of(docs, "deal.seed_committed"))


def _committed_twice(docs: Docs) -> None:
    committed = of(docs, "deal.seed_committed")
    docs.insert(docs.index(committed) + 1, copy.deepcopy(committed))


def _not_revealed(docs: Docs) -> None:
    """The hand is dealt without the seed that was committed to."""
    docs.remove(next(doc for doc in docs if doc["data"].get("seed") == "eve"))
    del of(docs, "hand.dealt")["data"]["client_seeds"]["5"]


def _other_seats(docs: Docs) -> None:
    committed = of(docs, "deal.committed")["data"]
    committed["seats"] = committed["seats"][1:]


def _not_prepared(docs: Docs) -> None:
    """Nothing of the deal was recorded, and the hand is dealt without client seeds."""
    docs[:] = [doc for doc in docs if not (doc["kind"].startswith("deal.") and doc["data"]["hand"] == FIRST)]
    del of(docs, "hand.dealt")["data"]["client_seeds"]


def _commitment_left_out(docs: Docs) -> None:
    docs.remove(of(docs, "deal.committed"))


def _commitment_twice(docs: Docs) -> None:
    at = docs.index(of(docs, "deal.committed"))
    docs.insert(at, deal(docs[at], "committed", hand=FIRST, number=1, commitment=digest("another"), seats=[]))


def _seed_after_the_cards(docs: Docs) -> None:
    taken = of(docs, "deal.seed_taken")
    docs.remove(taken)
    docs.insert(docs.index(of(docs, "hand.dealt")) + 1, taken)


def _dealt_as_physical(docs: Docs) -> None:
    of(docs, "hand.dealt")["data"]["mode"] = "physical"


def _abandoned_first(docs: Docs) -> None:
    dealt = of(docs, "hand.dealt")
    docs.insert(docs.index(dealt), deal(dealt, "abandoned", hand=FIRST, commitment=digest(FIRST), reason="?"))


def _other_redeal(docs: Docs) -> None:
    for doc in docs:
        if doc["kind"] == "hand.acted" and "cards_roots" in doc["data"]:
            doc["data"]["cards_roots"][0] = digest("another deck")


def _root_taken_back(docs: Docs) -> None:
    for doc in docs:
        if doc["kind"] == "hand.acted" and "cards_roots" in doc["data"]:
            doc["data"]["cards_roots"] = []


@pytest.mark.parametrize(
    "change",
    [
        _commitment, _seed, _seat, _seed_left_out, _seed_added, _seed_twice, _commitment_left_out, _commitment_twice,
        _said_late, _revealed_early, _committed_late, _another_revealed, _never_committed, _committed_twice,
        _not_revealed, _other_seats, _not_prepared, _seed_after_the_cards, _dealt_as_physical,
        _abandoned_first, _other_redeal, _root_taken_back,
    ],
)  # fmt: skip
def test_a_hand_that_was_dealt_otherwise_than_recorded_is_found(tmp_path: Path, change: Callable[[Docs], None]) -> None:
    # Keys, checkpoints, chains and books are in order: the house lies to its own log.
    report = verified(rewritten(electronic(), change), tmp_path)
    assert f"hand {FIRST}" in {one.place for one in report.findings if one.code == "deal_differs"}, report.findings


def _not_abandoned(docs: Docs) -> None:
    docs.remove(of(docs, "deal.abandoned", ABANDONED))


def _nobody_named(docs: Docs) -> None:
    del of(docs, "deal.abandoned", ABANDONED)["data"]["unrevealed"]


def _abandoned_with_another(docs: Docs) -> None:
    of(docs, "deal.abandoned", ABANDONED)["data"]["commitment"] = digest("another")


@pytest.mark.parametrize(
    ("change", "name"),
    [(_not_abandoned, SECOND), (_abandoned_with_another, ABANDONED), (_nobody_named, ABANDONED)],
)
def test_a_deal_cannot_be_dropped_in_silence(tmp_path: Path, change: Callable[[Docs], None], name: str) -> None:
    report = verified(rewritten(electronic(), change), tmp_path)
    # What a version of the table lacks shows there as well.
    found = [one for one in report.findings if one.code != "table_version_differs"]
    assert [(one.code, one.place) for one in found] == [("deal_differs", f"hand {name}")]


# --- Versions --------------------------------------------------------------------------------------------------------


def aged(docs: Docs, upto: str) -> None:
    """The events before the first one of this kind say that they are of version 1, and record no postings."""
    for doc in docs:
        if doc["kind"] == upto:
            return
        doc["v"] = 1
        doc.pop("postings", None)


@pytest.mark.parametrize("upto", ["deal.seed_taken", "hand.dealt", "hand.acted", "hand.settled", "deal.abandoned"])
def test_every_event_of_another_version_is_found(tmp_path: Path, upto: str) -> None:
    world = rewritten(electronic(), lambda docs: aged(docs, upto))
    of_another = {f"{doc['chain']}#{doc['seq']}" for doc in map(json.loads, world.payloads) if doc["v"] == 1}
    found = verified(world, tmp_path).findings
    assert {one.place for one in found if one.code == "unknown_version"} == of_another != set()


@pytest.mark.parametrize("version", [1, 3, 0, -2, True, "2", None])
def test_one_event_of_another_version_in_a_chain_of_its_own_switches_nothing_off(tmp_path: Path, version: Any) -> None:
    """Money that was taken beside every event is found all the same."""

    def alter(docs: Docs) -> None:
        first = copy.deepcopy(next(doc for doc in docs if doc["kind"] == "vault.opened"))
        docs.insert(0, first | {"chain": "drawer/C9", "data": {}, "v": version, "postings": []})
        of(docs, "hand.settled")["postings"] = []

    found = {one.code for one in verified(rewritten(electronic(), alter), tmp_path).findings}
    assert "transaction_unrecorded" in found
    assert found & {"unknown_version", "not_canonical"}
