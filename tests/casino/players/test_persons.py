"""Personal data: sealed under a key of the player's own, written without a word of them, and forgotten with the key."""

import io
import uuid
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, connections, transaction
from hypothesis import given
from hypothesis import strategies as st

from casino.audit.models import Event
from casino.core import aead
from casino.core.errors import ProofFailed
from casino.players import sealing
from casino.players.models import Person, PersonKey, Player
from casino.reports.verifying import verification
from casino.staff.models import AnsweredRequest, Role, TerminalKind
from casino.staff.services import hire
from casino.verification import auditing
from tests.casino.kit import ACTOR, Desk, Kit
from tests.casino.scene import assert_problem, last_event, recorded_since
from tests.casino.written import assert_nowhere

ANNA = {"name": "Kovács-Őry Anna", "born": "1980-02-29", "document": "987654XY", "address": "Budapest, Fő utca 1."}
PASSWORDS = {"ann": "seven-of-acorns-19", "bea": "eight-of-leaves-23"}


@pytest.fixture
def cage(kit: Kit) -> Desk:
    """A cashier of a house with players anna and bela, whose path is anna's person."""
    kit.players("anna", "bela")
    desk = kit.cashier()
    return Desk(desk.http, "/api/v1/players/anna/person", version=1)


def recorded(cage: Desk, player: str = "anna", version: int = 1, **changed: str) -> Any:
    """Record a person; returns the answer."""
    body = {"person": ANNA | changed, "reason": "first_record" if version == 1 else "correction"}
    return cage.post(f"/api/v1/players/{player}/person", body, version=version)


# --- Recording and reading -------------------------------------------------------------------------------------------


def test_a_person_is_recorded_and_read_and_both_are_written(kit: Kit, cage: Desk) -> None:
    last = last_event()
    answer = recorded(cage)
    assert (answer.status_code, answer.headers["ETag"]) == (201, '"2"')
    assert answer.json()["recorded"] == ["address", "born", "document", "name"]
    (event,) = recorded_since(last)
    assert (event["kind"], event["reason"]) == ("player.person_recorded", "first_record")
    row = Person.objects.get(player__house=kit.house)
    assert event["data"] == {
        "player": "anna", "version": 2, "sealed_sha256": row.sealed_sha256,
        "fields": ["address", "born", "document", "name"],
    }  # fmt: skip
    last = last_event()
    read = kit.office(Role.COMPLIANCE).get("players/anna/person")
    assert read.json()["person"] == ANNA
    assert (read.headers["ETag"], read.headers["Cache-Control"]) == ('"2"', "no-store")
    (event,) = recorded_since(last, "data.read")
    assert event["data"] == {"operation": "readPerson", "subject": "/api/v1/players/anna/person"}


def test_no_word_of_a_person_stands_anywhere(kit: Kit, cage: Desk, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG"):
        assert recorded(cage).status_code == 201
        assert recorded(cage).status_code == 412
        assert recorded(cage, "nobody").status_code == 404
        assert cage.post("", {"person": ANNA, "why": ANNA["name"]}, version=2).status_code == 400
        assert cage.post("/api/v1/players/register", {"player": ANNA["name"]}).status_code == 400
        assert cage.post("", {"person": ANNA, "reason": ANNA["name"]}, version=2).status_code == 400
        assert cage.get().json()["person"] == ANNA
    assert_nowhere(kit.house, *ANNA.values(), "Kovács", "Fő utca")
    words = [text for text in ANNA.values() for record in caplog.records if text in record.getMessage()]
    assert words == []


def test_a_correction_is_a_new_version(kit: Kit, cage: Desk) -> None:
    recorded(cage)
    assert recorded(cage, version=2, document="111111ZZ").json()["version"] == 3
    assert cage.get().json()["person"]["document"] == "111111ZZ"
    assert_problem(recorded(cage, version=2), 412, "version_conflict")
    assert Person.objects.filter(player__ref="anna", player__house=kit.house).count() == 2


@pytest.mark.parametrize(
    "changed",
    [{"born": "1980-02-30"}, {"born": "2999-01-01"}, {"born": "1.1.1980"}, {"name": ""}, {"iris": "blue"}],
    ids=str,
)
def test_what_is_no_person(kit: Kit, cage: Desk, changed: dict[str, str]) -> None:
    assert_problem(recorded(cage, **changed), 400, "invalid_request")
    assert not Person.objects.filter(player__house=kit.house).exists()


def test_who_was_never_recorded_and_who_is_of_another_house(kit: Kit, cage: Desk) -> None:
    recorded(cage)
    office = kit.office(Role.COMPLIANCE)
    assert_problem(office.get("players/bela/person"), 404, "no_person")
    other = Kit.found()
    assert_problem(other.office(Role.COMPLIANCE).get("players/anna/person"), 404, "not_found")
    other.close()


def test_personal_data_are_not_for_consoles_at_tables(kit: Kit, cage: Desk) -> None:
    recorded(cage)
    console = kit.http(kit.token(Role.CASHIER, TerminalKind.TABLE, "T1"))
    desk = Desk(console, "/api/v1/players/anna/person", version=2)
    assert_problem(desk.get(), 403, "wrong_terminal")
    assert_problem(recorded(desk, version=2), 403, "wrong_terminal")


# --- At rest ---------------------------------------------------------------------------------------------------------


def test_swapped_rows_do_not_open(kit: Kit, cage: Desk) -> None:
    recorded(cage)
    recorded(cage, "bela", name="Béla")
    keys = list(PersonKey.objects.filter(player__house=kit.house).order_by("player_id"))
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE players_personkey DISABLE TRIGGER players_personkey_no_change")
        for key, other in zip(keys, reversed(keys), strict=True):
            cursor.execute(
                "UPDATE players_personkey SET wrapped = %s WHERE player_id = %s", [bytes(other.wrapped), key.player_id]
            )
        cursor.execute("ALTER TABLE players_personkey ENABLE ALWAYS TRIGGER players_personkey_no_change")
    answer = cage.get()
    assert_problem(answer, 500, "proof_failed")
    assert "Anna" not in answer.text


@given(
    person=st.dictionaries(st.sampled_from(["name", "born", "address"]), st.text(max_size=400), max_size=3),
    version=st.integers(2, 9),
)
def test_what_is_sealed_opens_in_its_place_only(person: dict[str, str], version: int) -> None:
    key, house = aead.new_key(), uuid.uuid4()
    sealed = sealing.seal(person, key, house, "anna", version)
    assert sealing.unseal(sealed, key, house, "anna", version) == person
    assert (len(sealed) - 12 - 16) % sealing.PADDING == 0
    elsewhere: list[tuple[bytes, str, int]] = [
        (key, "anna", version + 1), (key, "bela", version), (aead.new_key(), "anna", version),
    ]  # fmt: skip
    for other_key, player, other_version in elsewhere:
        with pytest.raises(ProofFailed):
            sealing.unseal(sealed, other_key, house, player, other_version)
    with pytest.raises(ProofFailed):
        sealing.unseal(sealed[:-1] + bytes([sealed[-1] ^ 1]), key, house, "anna", version)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM players_personkey", "UPDATE players_personkey SET wrapped = '\\x00'",
        "TRUNCATE players_personkey", "DELETE FROM players_person", "UPDATE players_person SET version = 9",
    ],
)  # fmt: skip
def test_the_application_changes_and_deletes_nothing(kit: Kit, cage: Desk, statement: str) -> None:
    recorded(cage)
    with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    with pytest.raises(DatabaseError), transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute(statement.replace("DELETE FROM players_personkey", "TRUNCATE players_personkey"))


def test_no_key_is_destroyed_without_its_event(kit: Kit, cage: Desk) -> None:
    recorded(cage)
    player = Player.objects.get(house=kit.house, ref="anna")
    with pytest.raises(DatabaseError, match="no audit event records"), transaction.atomic():
        connection.cursor().execute("SELECT players_destroy_key(%s)", [player.id])
    assert PersonKey.objects.filter(player=player).exists()


# --- Forgetting ------------------------------------------------------------------------------------------------------


@pytest.fixture
def signers(kit: Kit) -> list[str]:
    """Four lines: an admin and an auditor with their passwords."""
    lines = []
    for name, role in (("ann", Role.ADMIN), ("bea", Role.AUDITOR)):
        login = f"{name}@{kit.house.code}"
        hire(house=kit.house, login=login, name=name, roles=[role], password=PASSWORDS[name], actor=ACTOR)
        lines += [login, PASSWORDS[name]]
    return lines


def forget(kit: Kit, signers: list[str], monkeypatch: pytest.MonkeyPatch, player: str = "anna") -> str:
    """Run the command; returns what it prints."""
    out = io.StringIO()
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join([*signers, ""])))
    call_command("forget_player", kit.house.code, player, reason="retention is over", stdout=out, stderr=out)
    return out.getvalue()


def places(kit: Kit) -> set[tuple[str, int, str]]:
    """Every event's chain, number and hash."""
    rows = Event.objects.filter(chain__house=kit.house)
    return set(rows.values_list("chain__name", "seq", "leaf_hash"))


def verified(kit: Kit) -> bool:
    """Whether the verifier finds nothing, neither in the books nor in the trail with its log and checkpoints."""
    return bool(verification(kit.house)["ok"]) and not auditing.verify_house(kit.house, [], []).found


def test_a_player_is_forgotten_and_every_proof_stays(
    kit: Kit, cage: Desk, signers: list[str], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit.table("T1")
    dealer = kit.seated("T1", stacks=(5_000, 5_000))
    recorded(cage, "T1-u1")
    dealer.ok("seats/1/leave")
    kit.cashier().ok("cash-outs", {"player": "T1-u1", "amount": 5_000})
    sealed = bytes(Person.objects.get(player__house=kit.house).sealed)
    kit.keep_nobody(settings)
    before, last = places(kit), last_event()
    kit.sequence()
    assert verified(kit)
    assert "T1-u1 is forgotten" in forget(kit, signers, monkeypatch, "T1-u1")
    (event,) = recorded_since(last, "player.forgotten")
    assert (event["actor"], event["approver"], event["reason"]) == (signers[0], signers[2], "retention is over")
    assert event["data"]["player"] == "T1-u1"
    assert not PersonKey.objects.filter(player__house=kit.house).exists()
    # What was sealed is still there, as the trail says, and nobody reads it.
    assert bytes(Person.objects.get(player__house=kit.house).sealed) == sealed
    desk = Desk(cage.http, "/api/v1/players/T1-u1/person")
    assert_problem(desk.get(), 410, "person_forgotten")
    assert_problem(recorded(cage, "T1-u1", version=2), 410, "person_forgotten")
    for path in ("seats", "buy-ins"):
        again = {"seat": 1, "player": "T1-u1", "amount": 5_000}
        assert_problem(dealer.post(path, again), 410, "person_forgotten")
    assert_problem(kit.cashier().post("buy-ins", {"player": "T1-u1", "amount": 5_000}), 410, "person_forgotten")
    assert before < places(kit)
    kit.sequence()
    assert verified(kit)
    with pytest.raises(CommandError, match="person_forgotten"):
        forget(kit, signers, monkeypatch, "T1-u1")


def test_stored_answers_about_a_person_end_with_the_key(
    kit: Kit, cage: Desk, signers: list[str], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stored answer has a hash of the request, which a holder of Django's secret key can try names against."""
    kit.players("carl", chips=500)
    # Other tests record Anna, too, in houses of their own.
    her = ANNA | {"document": uuid.uuid4().hex}
    sent = {name: {"person": her, "reason": "first_record"} for name in ("anna", "bela")}
    for name, body in sent.items():
        assert cage.post(f"/api/v1/players/{name}/person", body, version=1, key=f"key-of-{name}").status_code == 201
    kept = AnsweredRequest.objects.filter(house=kit.house)
    (asked,) = kept.filter(key="key-of-anna").values_list("request_hash", flat=True)
    others = set(kept.exclude(key="key-of-anna").values_list("id", flat=True))
    kit.keep_nobody(settings)
    forget(kit, signers, monkeypatch)
    assert_nowhere(kit.house, asked, "key-of-anna")
    assert others == set(kept.values_list("id", flat=True)), "those of everybody else stay"
    again = {
        name: cage.post(f"/api/v1/players/{name}/person", body, version=1, key=f"key-of-{name}")
        for name, body in sent.items()
    }
    assert_problem(again["anna"], 412, "version_conflict")
    assert (again["bela"].status_code, again["bela"].headers["Idempotency-Replayed"]) == (201, "true")
    kit.sequence()
    assert verified(kit)


def test_one_administrator_does_not_sign_for_two(
    kit: Kit, cage: Desk, signers: list[str], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One person hires an auditor, or sets a password, or lets a person that they hired do so, and knows both."""
    recorded(cage)
    kit.keep_nobody(settings)
    ann, bea = signers[0], signers[2]
    key = kit.office(Role.ADMIN).ok("terminals", {"terminal": "office-7", "kind": "office"})["key"]
    given, mine = "ober-of-hearts-31", "unter-of-bells-47"

    def at_office(login: str, password: str) -> Desk:
        form = {"login": login, "password": password, "terminal": "office-7", "terminal_key": key}
        return Desk(kit.http(kit.http(None).post("/api/v1/sign-in", json=form).json()["token"]), "/api/v1")

    def hired(by: Desk, name: str, role: str) -> str:
        who = f"{name}@{kit.house.code}"
        by.ok("staff", {"login": who, "name": name, "roles": [role], "password": given})
        return who

    def changes(login: str) -> None:
        at_office(login, given).ok("password", {"old": given, "new": mine})

    admin = at_office(*signers[:2])
    reset = {"password": given, "reason": "forgotten"}
    cia, dot = hired(admin, "cia", "auditor"), hired(admin, "dot", "admin")
    assert admin.post(f"staff/{bea}/password", reset, version=1).status_code == 200
    last = last_event()
    for lines in ([*signers[:2], cia, given], [*signers[:2], bea, given], [bea, given, *signers[:2]]):
        with pytest.raises(
            CommandError, match=r"must first change the password that .*ann@.*\[password_change_required\]"
        ):
            forget(kit, lines, monkeypatch)
    refused = recorded_since(last)
    assert [(event["kind"], event["actor"], event["data"]["code"]) for event in refused] == [
        ("attempt.refused", who, "password_change_required") for who in (ann, ann, bea)
    ]
    for login in (bea, cia, dot):
        changes(login)
    # It may have been ann who chose; and who was hired by dot, or by whom dot hired, may be ann too.
    eve = hired(at_office(dot, mine), "eve", "admin")
    changes(eve)
    fay = hired(at_office(eve, mine), "fay", "auditor")
    changes(fay)
    office = kit.office(Role.ADMIN)
    rows = {row["login"]: row for row in office.get("staff").json()["results"]}
    assert (rows[fay]["password_by"], rows[fay]["must_change_password"]) == (eve, False)
    hers = signers[:2]
    for lines in ([*hers, bea, mine], [fay, mine, *hers], [cia, mine, dot, mine], [*hers, cia, mine]):
        with pytest.raises(CommandError, match=r"may know both passwords.*\[four_eyes\]"):
            forget(kit, lines, monkeypatch)
    assert office.post(f"staff/{bea}/password", reset, version=rows[bea]["version"]).status_code == 200
    changes(bea)
    assert "anna is forgotten" in forget(kit, [*hers, bea, mine], monkeypatch)


def test_nobody_is_forgotten_too_early(
    kit: Kit, cage: Desk, signers: list[str], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(cage)
    last = last_event()
    with pytest.raises(CommandError, match="retention_not_over"):
        forget(kit, signers, monkeypatch)
    kit.keep_nobody(settings)
    with pytest.raises(CommandError, match="no_person"):
        forget(kit, signers, monkeypatch, "bela")
    with pytest.raises(CommandError, match="not_found"):
        forget(kit, signers, monkeypatch, "nobody")
    with pytest.raises(CommandError, match="not_found"):
        forget(kit, signers, monkeypatch, "Anna Kiss")
    kit.players("rich", chips=500)
    recorded(cage, "rich")
    with pytest.raises(CommandError, match="player_has_chips"):
        forget(kit, signers, monkeypatch, "rich")
    kit.table("T1")
    kit.seated("T1", stacks=(5_000, 5_000))
    recorded(cage, "T1-u2")
    with pytest.raises(CommandError, match="player_seated"):
        forget(kit, signers, monkeypatch, "T1-u2")
    written = recorded_since(last, "attempt.refused")
    assert [(event["data"]["path"], event["data"]["code"]) for event in written] == [
        ("anna", "retention_not_over"), ("bela", "no_person"), ("nobody", "not_found"), ("?", "not_found"),
        ("rich", "player_has_chips"), ("T1-u2", "player_seated"),
    ]  # fmt: skip
    assert {(event["actor"], event["data"]["operation"]) for event in written} == {(signers[0], "forget_player")}
    assert PersonKey.objects.filter(player__house=kit.house).count() == 3


def test_it_takes_two_people_and_an_auditor(
    kit: Kit, cage: Desk, signers: list[str], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(cage)
    kit.keep_nobody(settings)
    cia = f"cia@{kit.house.code}"
    hire(house=kit.house, login=cia, name="c", roles=[Role.ADMIN], password=PASSWORDS["bea"], actor=ACTOR)
    for lines, code in (
        ([*signers[:2], *signers[:2]], "four_eyes"),
        ([*signers[:2], cia, PASSWORDS["bea"]], "forbidden"),
        ([*signers[:3], "not-the-password-1"], "sign_in_refused"),
    ):
        with pytest.raises(CommandError, match=code):
            forget(kit, lines, monkeypatch)
    assert PersonKey.objects.filter(player__house=kit.house).exists()
    assert "anna is forgotten" in forget(kit, signers, monkeypatch)
