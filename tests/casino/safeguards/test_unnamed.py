"""Somebody is excluded of whom the house has no file, and is found by marks when it is recorded who a player is."""

import hashlib
import json
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casino.core.errors import SealedUnreadable
from casino.safeguards import marks
from casino.safeguards.models import ExclusionMark, ExclusionMatch
from casino.staff.models import AnsweredRequest, Role, TerminalKind
from casino.verification.auditing import verify_house
from tests.casino.kit import Desk, Kit
from tests.casino.players.test_persons import ANNA
from tests.casino.reports.test_catalogue import made, rows
from tests.casino.safeguards.test_exclusions import from_now
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.superuser import unguarded
from tests.casino.written import assert_nowhere

REGISTER = {"kind": "register", "scope": "house", "asked_by": "authority", "in_person": False, "until": None}
#: Anna as a register writes her: without accents, the other way round, with another document.
HER = {"name": "ANNA KOVACS ORY", "born": ANNA["born"], "document": "ZZ 99"}


class Scene:
    """A house with an open drawer, a compliance officer in the office, and players who hold chips."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        kit.players("anna", "bela", chips=20_000)
        self.cashier, self.compliance = kit.cashier(), kit.office(Role.COMPLIANCE)

    def exclude(self, **person: str) -> dict[str, Any]:
        return self.compliance.ok("exclusions", REGISTER | {"person": HER | person})

    def record(self, ref: str, version: int = 1, **person: str) -> dict[str, Any]:
        body = {"person": ANNA | person, "reason": "first_record"}
        return self.cashier.ok(f"/api/v1/players/{ref}/person", body, version=version)

    def buys(self, ref: str) -> Any:
        self.cashier.refresh()
        return self.cashier.post("buy-ins", {"player": ref, "amount": 1_000})

    def findings(self) -> list[Any]:
        return list(verify_house(self.kit.house).findings)


@pytest.fixture
def scene(kit: Kit) -> Scene:
    return Scene(kit)


def test_who_is_in_a_register_is_excluded_as_soon_as_it_is_recorded_who_that_is(scene: Scene) -> None:
    found = scene.exclude()
    assert (found["exclusion"], found["player"], found["matched"]) == (1, None, [])
    assert scene.buys("anna").status_code == 201
    last = last_event()
    answer = scene.record("anna")
    assert set(answer) == {"player", "version", "recorded", "audit"}, "the cashier learns nothing of it"
    (event,) = recorded_since(last, "exclusion.matched")
    assert event["data"] == {"exclusion": 1, "player": "anna"}
    assert_problem(scene.buys("anna"), 409, "player_excluded")
    read = scene.cashier.get("/api/v1/players/anna/admission").json()
    assert (read["may_enter"], read["may_play"], read["excluded"]) == (False, False, True)
    assert_problem(
        scene.cashier.post("/api/v1/players/anna/admission", {"document": "passport", "age_band": "35-49"}),
        409,
        "player_excluded",
    )
    scene.record("bela", name="Béla Nagy", born="1980-02-03", document="B-2")
    assert scene.buys("bela").status_code == 201
    [row] = scene.compliance.get("exclusions").json()["results"]
    assert (row["player"], row["matched"]) == (None, ["anna"])
    assert scene.compliance.get("exclusions?player=anna").json()["results"] == []
    # Paid out all the same, and let in again when the exclusion is lifted.
    scene.cashier.refresh()
    scene.cashier.ok("cash-outs", {"player": "anna", "amount": 1_000})
    scene.kit.approved(scene.compliance, "exclusions/1/lift", {"cause": "wrong_entry"})
    assert scene.buys("anna").status_code == 201
    assert scene.findings() == []


def test_players_of_whom_it_is_recorded_are_found_at_once(scene: Scene) -> None:
    scene.record("anna")
    scene.record("bela", name="Béla Nagy", born="1980-02-03", document="B-2")
    found = scene.exclude(name="Somebody Else", born="1961-01-01", document=ANNA["document"].lower())
    assert found["matched"] == ["anna"], "by the document"
    assert_problem(scene.buys("anna"), 409, "player_excluded")
    assert scene.buys("bela").status_code == 201
    # A name of before counts too: what was recorded first is still what somebody was called.
    scene.record("bela", version=2, name="Béla Kis", born="1980-02-03", document="B-3")
    assert scene.exclude(name="Nagy Béla", born="1980-02-03")["matched"] == ["bela"]
    assert scene.findings() == []


def test_nothing_of_the_person_is_kept_but_marks_and_a_note_that_is_sealed(scene: Scene) -> None:
    last, key = last_event(), "her-exclusion"
    body = REGISTER | {"person": HER | {"birth_name": "Őry Aranka"}, "note": "Letter 44/2026 about Mrs Őry."}
    first = scene.compliance.post("exclusions", body, key=key)
    assert first.status_code == 201
    assert_nowhere(scene.kit.house, "KOVACS", "Aranka", "Őry", "44/2026")
    (event,) = recorded_since(last, "exclusion.set")
    rows = ExclusionMark.objects.filter(house=scene.kit.house)
    assert sorted(event["data"]["marks"]) == sorted(hashlib.sha256(bytes(row.salted)).hexdigest() for row in rows)
    assert len(rows) == 3 and "player" not in event["data"]
    [answered] = AnsweredRequest.objects.filter(house=scene.kit.house, key=key)
    assert answered.request_hash != hashlib.sha256(json.dumps(body).encode()).hexdigest()
    assert scene.compliance.post("exclusions", body, key=key).headers["Idempotency-Replayed"] == "true"
    # The same marks in another house are others.
    other = Kit.found()
    mine, theirs = (marks.of_person(one.house.id, HER) for one in (scene.kit, other))
    assert len(mine) == len(theirs) == 2 and not mine & theirs
    assert scene.findings() == []


def test_who_excludes_and_who_reads(scene: Scene) -> None:
    body = REGISTER | {"person": HER}
    for role in (Role.FLOOR, Role.CAGE_SUPERVISOR, Role.AUDITOR, Role.ADMIN, Role.MANAGER):
        assert_problem(scene.kit.office(role).post("exclusions", body), 403, "forbidden")
    at_cage = scene.kit.hire(Role.COMPLIANCE, TerminalKind.CAGE, "C1")[1]
    assert_problem(Desk(scene.kit.http(at_cage), "/api/v1").post("exclusions", body), 403, "wrong_terminal")
    for wrong in ({"until": from_now(-1)}, {"kind": "self", "asked_by": "player", "until": from_now(30)}):
        code = "exclusion_too_short" if "kind" in wrong else "exclusion_in_the_past"
        assert_problem(scene.compliance.post("exclusions", body | wrong), 422, code)
    for wrong in ({"person": {"name": "A"}}, {"person": HER | {"born": "1990-13-01"}}, {"kind": "self"}):
        assert_problem(scene.compliance.post("exclusions", body | wrong), 400, "invalid_request")
    assert not ExclusionMark.objects.filter(house=scene.kit.house).exists()


def test_another_person_with_the_same_name_and_birthday_is_cleared_by_two(scene: Scene) -> None:
    scene.exclude()
    scene.record("anna")
    path = "exclusions/1/matches/anna/clear"
    assert_problem(scene.compliance.post("exclusions/1/matches/bela/clear"), 404, "not_found")
    assert_problem(scene.kit.office(Role.MANAGER).post(path), 403, "forbidden")
    cleared = scene.kit.approved(scene.compliance, path, {})
    assert (cleared["exclusion"], cleared["player"]) == (1, "anna")
    assert_problem(scene.compliance.post(path), 409, "match_cleared")
    assert scene.buys("anna").status_code == 201
    # It stays so when she is recorded again, and the exclusion counts for everybody else.
    scene.record("anna", version=2)
    assert scene.buys("anna").status_code == 201
    scene.record("bela", name=HER["name"], document="QQ 1")
    assert_problem(scene.buys("bela"), 409, "player_excluded")
    [match] = ExclusionMatch.objects.filter(house=scene.kit.house, cleared_at=None)
    assert match.player.ref == "bela"
    assert scene.findings() == []


def test_what_is_over_matches_nobody(scene: Scene) -> None:
    scene.compliance.ok("exclusions", REGISTER | {"until": from_now(10), "person": HER})
    with unguarded("safeguards_exclusion") as cursor:
        cursor.execute(
            "UPDATE safeguards_exclusion SET until = clock_timestamp() WHERE house_id = %s", [scene.kit.house.id]
        )
    scene.record("anna")
    assert scene.buys("anna").status_code == 201
    assert not ExclusionMatch.objects.filter(house=scene.kit.house).exists()


def test_the_verifier_finds_marks_that_went_and_play_of_who_was_matched(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.exclude()
    scene.record("anna")
    monkeypatch.setattr("casino.audit.verifier.state_safeguards.LET_PASS", -60.0)
    monkeypatch.setattr("casino.safeguards.standing.require_not_excluded", lambda house, player: None)
    assert scene.buys("anna").status_code == 201
    ExclusionMark.objects.filter(house=scene.kit.house).first().delete()  # type: ignore[union-attr]
    found = {(one.code, one.place.split("/")[0]) for one in scene.findings()}
    assert found == {("player_excluded", "drawer"), ("state_missing", "safeguards.ExclusionMark 1")}


def test_what_anna_was_paid_and_refused_stands_with_the_exclusion_of_the_register(scene: Scene) -> None:
    scene.exclude()
    scene.record("anna")
    assert_problem(scene.buys("anna"), 409, "player_excluded")
    scene.cashier.refresh()
    scene.cashier.ok("cash-outs", {"player": "anna", "amount": 3_000})
    [row] = rows(made(scene.kit, "exclusions"))
    assert (row["player"], row["kind"], row["refused"], row["paid_out"]) == ("anna", "register", 1, 3_000)


@given(
    words=st.lists(st.sampled_from(["Kovács", "Őry", "Anna", "Szűcs", "Ñuñez", "Straße"]), min_size=1, max_size=4),
    shuffled=st.randoms(use_true_random=False),
)
def test_a_name_has_one_mark_however_it_is_written(words: list[str], shuffled: Any) -> None:
    other = list(words)
    shuffled.shuffle(other)
    assert marks.in_one_form(" ".join(words)) == marks.in_one_form("  ".join(other).upper())
    assert marks.in_one_form("-".join(words)) == marks.in_one_form(" ".join(words))


def test_marks_need_a_data_key(kit: Kit) -> None:
    with pytest.raises(SealedUnreadable):
        marks.of_person(uuid.uuid4(), HER)
