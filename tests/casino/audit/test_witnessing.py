"""Checkpoints cosigned by a real witness over HTTP: asked by the worker's task, kept, shown, and checked."""

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.db.utils import DatabaseError

from casino.audit import signing, tasks, witnessing
from casino.audit.models import Cosignature, SignedCheckpoint
from casino.audit.notes import Checkpoint
from casino.audit.rotation import rotate_key
from casino.audit.sequencing import Sequencer
from casino.audit.signing import LocalSigningKey, Signer
from casino.audit.verifier.notes import parse_note, verify_note
from casino.audit.witnessing import Witness, ask, cosigned_note
from casino.configuration import read
from deploy.witness.register import Refused, Register
from deploy.witness.server import WitnessServer
from tests.casino.kit import ACTOR, Kit
from tests.casino.test_configuration import GIVEN


@contextmanager
def answering(register: Register) -> Iterator[Witness]:
    """The witness over HTTP, as the house's setting names it."""
    with WitnessServer(("127.0.0.1", 0), register) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield Witness.parse(f"http://127.0.0.1:{server.server_address[1]}#{register.cosigner.vkey}")
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def register(kit: Kit, tmp_path: Path) -> Register:
    """A witness that knows the house's log."""
    made = Register.create(tmp_path / "witness", "witness.example/w1")
    made.add_log(Signer.from_settings().key(kit.house).text)
    return made


def newest(kit: Kit) -> SignedCheckpoint:
    found = SignedCheckpoint.objects.filter(house=kit.house).order_by("-size").first()
    assert found is not None
    return found


def test_every_checkpoint_that_is_shown_carries_the_cosignature_of_the_witness(kit: Kit, register: Register) -> None:
    auditor = kit.office()
    with answering(register) as witness:
        for number in range(3):
            kit.players(f"p{number}")
            kit.sequence()
            assert ask(kit.house, [witness]) == 1
            # Nothing new: the witness is not asked again.
            assert ask(kit.house, [witness]) == 0
            shown = auditor.get("audit/checkpoint").text
            assert shown == cosigned_note(newest(kit)) != newest(kit).note
            names = [name for name, _, _ in parse_note(shown).signatures]
            assert names == [signing.key_name(kit.house)] * 2 + ["witness.example/w1"]
            # Those who verify the log's signature read past the line of a witness.
            key = auditor.get("audit/key").text.strip()
            assert verify_note(shown, key).size == newest(kit).size
            assert register.latest(signing.origin(kit.house, 1)) == shown
    assert Cosignature.objects.filter(house=kit.house).count() == 3


def test_an_answer_that_was_lost_is_made_good_by_the_next(kit: Kit, register: Register) -> None:
    kit.sequence()
    with answering(register) as witness:
        assert ask(kit.house, [witness]) == 1
        kit.players("a")
        kit.sequence()
        # The witness cosigns, and its answer never arrives.
        proof = witnessing.Hashes(kit.house.id, 1).consistency(
            parse_note(register.latest(signing.origin(kit.house, 1)) or "").checkpoint.size, newest(kit).size
        )
        register.cosign(Cosignature.objects.get(house=kit.house).size, proof, newest(kit).note)
        kit.players("b")
        kit.sequence()
        assert ask(kit.house, [witness]) == 1
    sizes = Cosignature.objects.filter(house=kit.house).order_by("size").values_list("size", flat=True)
    assert len(sizes) == 2 and sizes[1] == newest(kit).size


def test_a_witness_that_is_away_or_refuses_delays_nobody_else(
    kit: Kit, register: Register, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kit.sequence()
    stranger = Register.create(tmp_path / "stranger", "witness.example/stranger")
    away = Witness.parse(
        f"http://127.0.0.1:9#{Register.create(tmp_path / 'away', 'witness.example/away').cosigner.vkey}"
    )
    with answering(register) as good, answering(stranger) as unknowing:
        # It answers under another key than the setting says.
        liar = Witness(good.url, away.key)
        assert ask(kit.house, [away, unknowing, liar, good]) == 1
    said = caplog.text
    assert "witness.example/away has not cosigned" in said and "HTTP 404" in said and "no good cosignature" in said
    assert [one.witness for one in Cosignature.objects.filter(house=kit.house)] == ["witness.example/w1"]


def test_a_witness_does_not_cosign_a_history_that_was_written_again(kit: Kit, register: Register) -> None:
    kit.players("a")
    kit.sequence()
    with answering(register) as witness:
        ask(kit.house, [witness])
    other = parse_note(newest(kit).note).checkpoint
    root = base64.b64encode(bytes(32)).decode()
    body = f"{other.origin}\n{other.size}\n{root}\n"
    signer = Signer.from_settings()
    key = signer.key(kit.house)
    signature = base64.b64encode(key.hash + signer.sign(body.encode())).decode()
    with pytest.raises(Refused, match="another root"):
        register.cosign(other.size, [], f"{body}\n\u2014 {key.name} {signature}\n")


def test_the_task_asks_the_witnesses_of_the_settings(kit: Kit, register: Register, settings: object) -> None:
    kit.sequence()
    with answering(register) as witness:
        vkey = register.cosigner.vkey
        settings.CASINO_WITNESSES = [f"{witness.url}#{vkey}"]  # type: ignore[attr-defined]
        assert tasks.ask_witnesses(str(kit.house.id)) == 1
    settings.CASINO_WITNESSES = [f"http://w.example#{vkey.replace('+', '+0', 1)[:-1]}"]  # type: ignore[attr-defined]
    with pytest.raises(ImproperlyConfigured, match="CASINO_WITNESSES"):
        tasks.ask_witnesses(str(kit.house.id))


def test_cosignatures_are_only_added(kit: Kit, register: Register) -> None:
    kit.sequence()
    with answering(register) as witness:
        ask(kit.house, [witness])
    for statement in ("UPDATE audit_cosignature SET size = 1", "DELETE FROM audit_cosignature"):
        with pytest.raises(DatabaseError), connection.cursor() as cursor:
            cursor.execute(statement)


def test_a_setting_that_names_no_witness_stops_the_process() -> None:
    with pytest.raises(ImproperlyConfigured, match="CASINO_WITNESSES"):
        read(GIVEN | {"CASINO_WITNESSES": "witness.example"})


def test_cosignatures_go_on_when_the_key_of_the_log_is_rotated(kit: Kit, register: Register) -> None:
    """The witness is shown the rotation by the house; a key that nobody has named is not taken."""
    old, new, thief = Signer.from_settings(), *(Signer(LocalSigningKey(bytes([one]) * 32)) for one in (7, 9))
    kit.sequence()
    with answering(register) as witness:
        assert ask(kit.house, [witness]) == 1
        rotate_key(house=kit.house, actor=ACTOR, approver="bea", old=old, new=new, reason="a year is over")
        kit.players("a")
        Sequencer(new).publish(kit.house.id)
        assert ask(kit.house, [witness]) == 1
        kit.players("b")
        Sequencer(new).publish(kit.house.id)
        assert ask(kit.house, [witness]) == 1
        point = parse_note(newest(kit).note).checkpoint
        for signer in (old, thief):
            text = signer.note(kit.house, Checkpoint(point.origin, point.size, point.root, point.seconds))
            with pytest.raises(Refused, match="no key"):
                register.cosign(point.size, [], text)
    assert Cosignature.objects.filter(house=kit.house).count() == 3
