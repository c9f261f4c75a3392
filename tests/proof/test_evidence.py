"""Complaints, legal holds, the sealed register and retention, judged by events alone: no database."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from casino.audit.verifier.canonical import hash_of
from casino.audit.verifier.shelf import Shelf
from casino.audit.verifier.state import MODELS
from casino.audit.verifier.state_people import OUTBOX
from casino.audit.verifier.state_rows import Near, Rows
from tests.proof.test_judgements import HOUSE, Doc, Docs, add, codes, evening, hire, one

SHA = "a" * 64
SAID: Doc = {"actor": "carla", "role": "compliance"}
COMPLAINT: Doc = {
    "complaint": 1, "complaint_kind": "hand", "evidence": [], "text_sha256": SHA, "legal_hold": 1,
}  # fmt: skip
PERSON: Doc = {"version": 2, "sealed_sha256": SHA, "fields": ["name"]}


def docs() -> Docs:
    """The evening, with a compliance officer and an auditor."""
    found = evening()
    hire(found, "carla", "compliance")
    hire(found, "otto", "auditor")
    return found


def at(found: Docs) -> str:
    """When the newest event was written."""
    moment: str = found[-1]["at"]
    return moment


def later(moment: str, days: int) -> str:
    """So many days later; below zero earlier."""
    moved = datetime.fromisoformat(moment) + timedelta(days=days)
    return moved.isoformat(timespec="microseconds").replace("+00:00", "Z")


def opened(found: Docs, **more: Any) -> None:
    """A complaint."""
    arrived = at(found)
    add(found, HOUSE, "complaint.opened", COMPLAINT | {"arrived": arrived, "due": later(arrived, 56)} | more, **SAID)


def held(found: Docs, **scope: Any) -> None:
    """A legal hold, as the founding would set it: nobody has to approve that."""
    add(found, HOUSE, "legal_hold.set", {"legal_hold": 1} | scope, reason="the court")


def item(found: Docs, **more: Any) -> Doc:
    """A key that retention has deleted."""
    name = one(found, "player.registered")["data"]["player"]
    return {
        "kind": "person_key", "name": name, "sha256": SHA, "size": 0, "since": later(at(found), -2922), "days": 2922,
    } | more  # fmt: skip


def forgotten(found: Docs, **more: Any) -> None:
    """A run of retention forgets a player who was recorded long ago."""
    wanted = item(found)
    add(found, HOUSE, "player.person_recorded", PERSON | {"player": wanted["name"]}, reason="first_record")
    data = {
        "player": wanted["name"], "version": 2, "sealed_sha256": SHA, "last_activity": wanted["since"],
        "retention_days": 2922, "retention_run": 1,
    }  # fmt: skip
    add(found, HOUSE, "player.forgotten", data | more, reason="retention")


def ran(found: Docs, *items: Doc, **more: Any) -> None:
    """A run of retention."""
    kinds = sorted({one["kind"] for one in items})
    these = {kind: [one for one in items if one["kind"] == kind] for kind in kinds}
    deleted = {
        kind: {"count": len(named), "size": sum(one["size"] for one in named), "sha256": hash_of(named)}
        for kind, named in these.items()
    }
    data = {"run": 1, "deleted": deleted, "items": [*items], "held_count": 0, "by": "test", "left": []}
    add(found, HOUSE, "retention.ran", data | more)


def test_what_is_right_is_not_found() -> None:
    found = docs()
    opened(found)
    add(found, HOUSE, "complaint.answered", {"complaint": 1, "text_sha256": SHA}, **SAID)
    closing = {"complaint": 1, "outcome": "rejected", "text_sha256": SHA, "legal_hold": 1}
    add(found, HOUSE, "complaint.closed", closing, **SAID)
    add(found, HOUSE, "sealed.entry", {"entry": 1, "sealed_sha256": SHA}, **SAID)
    forgotten(found)
    ran(found, item(found))
    assert codes(found) == []


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"complaint": 2}, "serial_gap"),
        ({"legal_hold": 2}, "serial_gap"),
        ({"due": "2099-01-01T00:00:00.000000Z"}, "state_event_differs"),
        (
            {"evidence": [{"hand": "T1-000001", "record_sha256": "b" * 64, "first_seq": 1, "last_seq": 2}]},
            "state_event_differs",
        ),
        (
            {"evidence": [{"hand": "T1-000099", "record_sha256": None, "first_seq": 1, "last_seq": 2}]},
            "state_event_differs",
        ),
        (
            {"evidence": [{"drawer": "C9", "chain": "drawer/C9", "first_seq": 1, "last_seq": 1}]},
            "state_event_differs",
        ),
    ],
)  # fmt: skip
def test_a_complaint_with_another_number_day_or_evidence(more: Doc, code: str) -> None:
    found = docs()
    opened(found, **more)
    assert codes(found) == [code]


def test_a_complaint_that_nobody_answered_is_not_rejected() -> None:
    found = docs()
    opened(found)
    closing = {"complaint": 1, "outcome": "rejected", "text_sha256": SHA, "legal_hold": 1}
    add(found, HOUSE, "complaint.closed", closing, **SAID)
    assert codes(found) == ["state_event_differs"]


def test_one_person_alone_sets_or_lifts_no_hold() -> None:
    found = docs()
    data = {"legal_hold": 1, "scope": "house"}
    add(found, HOUSE, "legal_hold.set", data, reason="the court", **SAID)
    add(found, HOUSE, "legal_hold.lifted", {"legal_hold": 1}, reason="the court", **SAID)
    assert codes(found) == ["approval_missing", "approval_missing"]


def test_the_hold_of_a_complaint_is_not_lifted_before_its_end() -> None:
    found = docs()
    opened(found)
    add(found, HOUSE, "legal_hold.lifted", {"legal_hold": 1}, reason="the court")
    assert codes(found) == ["state_event_differs"]


def test_only_compliance_uses_the_sealed_register() -> None:
    found = docs()
    add(found, HOUSE, "sealed.entry", {"entry": 1, "sealed_sha256": SHA}, actor="otto", role="auditor")
    assert codes(found) == ["actor_without_role"]


@pytest.mark.parametrize("scope", [{"scope": "house"}, {"scope": "player"}, {"scope": "complaint"}])
def test_what_is_under_a_hold_is_not_forgotten(scope: Doc) -> None:
    found = docs()
    player = one(found, "player.registered")["data"]["player"]
    if scope["scope"] == "complaint":
        opened(found, player=player)
    else:
        held(found, **scope, **({"player": player} if scope["scope"] == "player" else {}))
    forgotten(found)
    ran(found, item(found))
    assert codes(found) == ["held_was_deleted"]


@pytest.mark.parametrize(
    "more",
    [{"retention_days": 100}, {"last_activity": "2026-01-01T00:00:00.000000Z"}],
    ids=["too few days", "too early"],
)
def test_nobody_is_forgotten_before_the_time(more: Doc) -> None:
    found = docs()
    forgotten(found, **more)
    assert set(codes(found)) == {"retention_differs"}


@pytest.mark.parametrize(
    ("items", "more"),
    [
        ([{"sha256": "b" * 64}], {}),
        ([{"days": 3000}], {}),
        ([{}, {}], {}),
        ([], {}),
        ([{}], {"deleted": {}}),
        ([{}], {"left": ["person_key anna"]}),
        ([{}, {"kind": "report_file", "name": "1/chips.json"}], {}),
    ],
    ids=["other hash", "too early", "twice", "not named", "other sums", "left", "no such file"],
)
def test_a_run_deletes_what_it_names_and_nothing_too_early(items: list[Doc], more: Doc) -> None:
    found = docs()
    forgotten(found)
    ran(found, *(item(found) | one for one in items), **more)
    assert set(codes(found)) == {"retention_differs"}


# --- Answers and messages -------------------------------------------------------------------------------------------


def span(kind: str, name: str, **more: Any) -> Doc:
    """Answers or messages of a span that were kept for ninety days."""
    length = timedelta(minutes=10) if kind == "answers" else timedelta(days=1)
    since = later((datetime.fromisoformat(name).replace(tzinfo=UTC) + length).isoformat(), 0)
    return {"kind": kind, "name": name, "sha256": SHA, "size": 1, "since": since, "days": 90} | more


def old_spans(found: Docs) -> list[Doc]:
    """One of each kind whose ninety days are just over."""
    begin = later(at(found), -92)
    return [span("answers", f"{begin[:15]}0"), span("messages", begin[:10])]


def test_spans_go_after_their_days() -> None:
    found = docs()
    ran(found, *old_spans(found))
    assert codes(found) == []


@pytest.mark.parametrize("kind", [0, 1], ids=["answers", "messages"])
@pytest.mark.parametrize("more", [{"days": 6}, {"days": 30}, {"since": "2026-01-01T00:00:00.000000Z"}])
def test_spans_are_kept_for_the_days_of_the_house_from_their_end(kind: int, more: Doc) -> None:
    found = docs()
    ran(found, old_spans(found)[kind] | more)
    assert set(codes(found)) == {"retention_differs"}


@pytest.mark.parametrize("kind", [0, 1], ids=["answers", "messages"])
def test_spans_of_young_rows_and_of_held_days_are_kept(kind: int) -> None:
    young, twice, under_hold = docs(), docs(), docs()
    name = at(young)[:10] if kind else f"{at(young)[:15]}0"
    ran(young, span(("answers", "messages")[kind], name))
    assert set(codes(young)) == {"retention_differs"}
    ran(twice, old_spans(twice)[kind], old_spans(twice)[kind])
    assert set(codes(twice)) == {"retention_differs"}
    day = old_spans(under_hold)[kind]["name"][:10]
    held(under_hold, scope="days", first_day=day, last_day=day)
    ran(under_hold, old_spans(under_hold)[kind])
    assert codes(under_hold) == ["held_was_deleted"]


def test_a_row_that_may_go_is_missed_again_once_it_changes() -> None:
    found: list[str] = []
    rows = Rows(MODELS, lambda code, place, problem: found.append(code), Shelf())
    done = "2020-01-01T00:05:00.000000Z"
    for key in ("gone", "kept", "again", "later"):
        moment = Near("2020-01-01T00:20:00.000000Z" if key == "later" else done)
        rows.add(OUTBOX, key, task="t", subject=key, created_at=Near(later(at(docs()), 0)), done_at=moment)
    rows.let_go(OUTBOX, "done_at", "2020-01-01T00:00:00.000000Z", "2020-01-01T00:10:00.000000Z")
    rows.let_go(OUTBOX, "done_at", "2020-01-01T00:10:00.000000Z", "2020-01-01T00:20:00.000000Z")
    rows.change(OUTBOX, "again", done_at=None)
    stored = {"task": "t", "subject": "other", "created_at": at(docs()), "done_at": done}
    assert rows.compare([{"model": OUTBOX, "key": "kept", "row": stored}]) == 1
    assert found == ["state_differs", "state_missing", "state_missing"]
