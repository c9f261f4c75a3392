"""Cosignatures of witnesses, verified offline on the checkpoints that are held."""

import base64
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from casino.audit import verifier
from casino.audit.verifier.cosignatures import WitnessKey, parse_witness
from deploy.witness.register import Cosigner
from tests.proof.model import World

AT = 1_795_000_000
FIRST = Cosigner("witness.example/w1", Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32))
SECOND = Cosigner("witness.example/w2", Ed25519PrivateKey.from_private_bytes(bytes([2]) * 32))


def cosigned(note: str, *cosigners: Cosigner, at: int = AT) -> str:
    """The note with the lines of these witnesses."""
    body = note.partition("\n\n")[0] + "\n"
    return note + "".join(cosigner.line(body, at) for cosigner in cosigners)


def verified(folder: Path, notes: list[str], *witnesses: Cosigner) -> verifier.Report:
    """A good export against these checkpoints, which are held."""
    world = World().evening()
    held = [verifier.Notes("held", notes, held=True)]
    keys = [parse_witness(witness.vkey) for witness in witnesses]
    return verifier.verify_export(world.write(folder), held, verifier.parse_keys(world.vkey), (), None, keys)


def notes() -> list[str]:
    return list(World().evening().notes())


def test_the_newest_cosignature_of_each_witness_is_named(tmp_path: Path) -> None:
    given = notes()
    held = [cosigned(given[0], FIRST, SECOND), cosigned(given[1], FIRST, at=AT + 60)]
    report = verified(tmp_path, held, FIRST, SECOND)
    assert report.findings == []
    said = [text for text in report.notices if "cosigned" in text]
    sizes = [verifier.parse_note(one).checkpoint.size for one in held]
    assert f"w1 cosigned {sizes[1]} leaves" in said[0] and "2026-11-18" in said[0]
    assert f"w2 cosigned {sizes[0]} leaves" in said[1]


def test_a_witness_that_has_cosigned_nothing_that_is_held_is_a_finding(tmp_path: Path) -> None:
    report = verified(tmp_path, [cosigned(notes()[0], FIRST)], FIRST, SECOND)
    assert [(one.code, one.place) for one in report.findings] == [("not_cosigned", "witness.example/w2")]
    assert [one.code for one in verified(tmp_path, [], FIRST).findings] == ["not_cosigned"]


@pytest.mark.parametrize("wrong", ["time", "signature", "other checkpoint", "short"])
def test_a_line_that_is_not_the_witnesses_is_a_finding(tmp_path: Path, wrong: str) -> None:
    given = notes()
    _, _, line = cosigned(given[0], FIRST).rpartition("\n\n")
    own = line.split("\n")[2]
    head, _, encoded = own.rpartition(" ")
    raw = bytearray(base64.b64decode(encoded))
    if wrong == "time":
        raw[11] ^= 1
    elif wrong == "signature":
        raw[-1] ^= 1
    elif wrong == "short":
        del raw[-1:]
    note = given[1] if wrong == "other checkpoint" else given[0]
    report = verified(tmp_path, [f"{note}{head} {base64.b64encode(raw).decode()}\n"], FIRST)
    assert [one.code for one in report.findings] == ["cosignature_wrong", "not_cosigned"]


def test_a_witness_that_cosigned_another_history_is_found_with_the_log(tmp_path: Path) -> None:
    world = World().evening()
    other = world.note(world.sizes[0], root_hash=bytes(32))
    codes = [one.code for one in verified(tmp_path, [cosigned(other, FIRST)], FIRST).findings]
    assert "split_view" in codes and "not_cosigned" not in codes


@pytest.mark.parametrize("vkey", ["", "x", "w+00000000+BAAA", FIRST.vkey.replace("+", "+0", 1), World().vkey])
def test_what_is_no_key_of_a_witness_cannot_be_used(vkey: str) -> None:
    with pytest.raises(verifier.Unusable):
        parse_witness(vkey)


def test_the_key_is_read_as_the_witness_prints_it() -> None:
    assert parse_witness(f"{FIRST.vkey}\n") == WitnessKey(
        FIRST.name, parse_witness(FIRST.vkey).hash, FIRST.private.public_key().public_bytes_raw()
    )


def test_the_command_takes_witnesses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = World().evening()
    world.write(tmp_path / "export")
    (tmp_path / "held").write_text(verifier.join_notes([cosigned(next(iter(world.notes())), FIRST)]))
    (tmp_path / "key").write_text(world.vkey)
    asked = [str(tmp_path / "export"), "--checkpoints", str(tmp_path / "held"), "--key", str(tmp_path / "key")]
    assert verifier.main([*asked, "--witness", FIRST.vkey]) == 0
    assert "witness.example/w1 cosigned" in capsys.readouterr().out
    assert verifier.main([*asked, "--witness", SECOND.vkey]) == 1
    assert verifier.main([*asked, "--witness", "x"]) == 2
