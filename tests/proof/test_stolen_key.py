"""The procedure for a stolen log key, drilled end to end (docs/how-to/keys.md)."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from casino.audit import guard, verifier
from casino.audit.models import SignedCheckpoint
from casino.audit.notes import Checkpoint
from casino.audit.rotation import rotate_key
from casino.audit.sequencing import Sequencer
from casino.audit.signing import LocalSigningKey, Signer
from casino.verification import auditing, exporting
from deploy.witness.register import Refused, Register
from tests.casino.kit import Kit
from tests.casino.logs import note, notes_outside
from tests.casino.signers import APPROVER, TWO, two_people, typed
from tests.proof.superuser import Backup, Forger
from tests.proof.test_restores import opened

NEW = f"hex:{'07' * 32}"
THIEF = Signer(LocalSigningKey(bytes([9]) * 32))


def key_of(kit: Kit, signer: Signer) -> verifier.Key:
    return verifier.parse_key(signer.key(kit.house).text)


def verified(kit: Kit, folder: Path, key: Signer, notes: list[str], *, accepted: int | None = None) -> set[str]:
    """The codes of what a holder of a key and of checkpoints finds in a new export."""
    exporting.export_house(kit.house, folder)
    held = [verifier.Notes("held", notes, held=True)]
    report = verifier.verify_export(folder, held, [key_of(kit, key)], [accepted] if accepted else [])
    return {finding.code for finding in report.findings}


@pytest.fixture
def stolen(kit: Kit) -> Signer:
    """The key of a log of some events, which a thief has too."""
    two_people(kit)
    note(kit, "house", 3)
    kit.sequence()
    note(kit, "house", 2)
    kit.sequence()
    return Signer.from_settings()


def written_again(kit: Kit, signer: Signer) -> None:
    """The thief edits an event, and signs the log that follows from it."""
    forger = Forger(kit)
    at = forger.find("house.duty")
    forger.lines[at].doc["data"] = {"number": 4711}
    forger.forge(signer)
    guard.forget()


def test_a_log_written_again_with_the_stolen_key_is_found_and_the_house_goes_on_in_a_new_epoch(
    kit: Kit, stolen: Signer, tmp_path: Path, settings: Any
) -> None:
    held, backup = notes_outside(kit), Backup(kit)
    witness = Register.create(tmp_path / "witness", "witness.example/w1")
    witness.add_log(stolen.key(kit.house).text)
    witness.cosign(0, [], held[-1])
    written_again(kit, stolen)
    # Held checkpoints, the house's own guard, and the witness find it, though every signature is good.
    assert {"split_view", "leaves_differ"} & verified(kit, tmp_path / "1", stolen, held)
    assert {"split_view", "leaves_differ"} & {one.code for one in auditing.verify_house(kit.house).findings}
    assert isinstance(guard.refusal(kit.house), Exception)
    forged = SignedCheckpoint.objects.filter(house=kit.house).order_by("-size").first()
    assert forged is not None
    with pytest.raises(Refused, match="another root"):
        witness.cosign(forged.size, [], forged.note)
    # The page: the backup is restored, the two people open an epoch under the new key, and it is handed out.
    backup.restore()
    guard.forget()
    settings.CASINO_LOG_KEY = NEW
    opened(kit, healthy=True)
    kit.sequence()
    new = Signer.from_settings()
    note(kit, "house", 1)
    kit.sequence()
    assert auditing.verify_house(kit.house).findings == []
    exporting.export_house(kit.house, tmp_path / "2")
    sources = [verifier.Notes("held", notes_outside(kit), held=True)]
    keys = [key_of(kit, stolen), key_of(kit, new)]
    assert verifier.verify_export(tmp_path / "2", sources, keys, [2]).findings == []
    # A checkpoint of the new epoch that the stolen key signs is found.
    point = verifier.parse_note(notes_outside(kit)[-1]).checkpoint
    late = stolen.note(kit.house, Checkpoint(point.origin, point.size, point.root, point.seconds))
    sources = [verifier.Notes("held", [late], held=True)]
    report = verifier.verify_export(tmp_path / "2", sources, keys, [2])
    assert [one.code for one in report.findings] == ["note_under_another_key"]


def test_a_house_that_was_not_touched_rotates_and_the_stolen_key_signs_nothing_more(
    kit: Kit, stolen: Signer, tmp_path: Path, settings: Any
) -> None:
    held = notes_outside(kit)
    assert verified(kit, tmp_path / "1", stolen, held) == set(), "step 1 of the page"
    settings.CASINO_LOG_KEY_OLD, settings.CASINO_LOG_KEY = settings.CASINO_LOG_KEY, NEW
    with typed():
        call_command("rotate_log_key", kit.house.code, reason="the key was stolen")
    kit.sequence()
    new = Signer.from_settings()
    assert auditing.verify_house(kit.house).findings == []
    # A holder who follows the page has the new key instead of the old one, and every checkpoint.
    assert verified(kit, tmp_path / "2", new, notes_outside(kit)) == set()
    note(kit, "house", 1)
    kit.sequence()
    point = verifier.parse_note(notes_outside(kit)[-1]).checkpoint
    late = stolen.note(kit.house, Checkpoint(point.origin, point.size, point.root, point.seconds))
    assert verified(kit, tmp_path / "3", new, [late]) == {"note_under_another_key"}


def test_the_thiefs_own_rotation_is_nothing_to_holders_of_the_new_key(kit: Kit, stolen: Signer, tmp_path: Path) -> None:
    """In a copy of the house: the thief names a key of its own with the stolen one."""
    rotate_key(house=kit.house, actor=TWO, approver=APPROVER, old=stolen, new=THIEF, reason="theft")
    Sequencer(THIEF).publish(kit.house.id)
    handed_out = Signer.named(NEW)
    assert "key_differs" in verified(kit, tmp_path / "1", handed_out, [])
    # A holder of the old key alone is shown the other key and has to ask, as the page says.
    exporting.export_house(kit.house, tmp_path / "2")
    report = verifier.verify_export(tmp_path / "2", (), [key_of(kit, stolen)])
    assert any(THIEF.key(kit.house).text in text and "compare it" in text for text in report.notices)
