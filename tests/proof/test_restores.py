"""A database that was rolled back: found, unless two people have opened a new epoch that says what is lost."""

from pathlib import Path

import pytest

from casino.audit import epochs, guard, verifier
from casino.audit.events.log import EpochOpened
from casino.staff.services import end_tokens
from casino.verification import auditing
from tests.casino.kit import Kit
from tests.casino.signers import TWO, two_people
from tests.proof.superuser import Backup, Forger, change, evening, held_key, outside_file
from tests.proof.test_tampering import export, recorded


def restored(kit: Kit) -> tuple[int, int]:
    """A house whose database was put back to the middle of its log; sizes of the log before and after."""
    two_people(kit)
    kit.players("early", chips=500)
    kept = kit.sequence().size
    backup = Backup(kit)
    evening(kit)
    had = kit.sequence().size
    backup.restore()
    guard.forget()
    return had, kept


def both(kit: Kit, folder: Path) -> list[verifier.Report]:
    """The house verified live, and from an export by a person who accepts the second epoch."""
    return [auditing.verify_house(kit.house), export(kit, folder, [2])]


def opened(kit: Kit, *, healthy: bool = False) -> None:
    """Two people begin the log again."""
    epochs.open_epoch(
        house=kit.house, actor=TWO, approver="bea", reason="the disk broke", healthy=healthy,
        restored=lambda: end_tokens(kit.house, epochs.ALIAS),
    )  # fmt: skip


def test_a_rolled_back_house_is_found_by_its_checkpoints_outside(kit: Kit, tmp_path: Path) -> None:
    had, kept = restored(kit)
    for report in both(kit, tmp_path):
        first = report.findings[0]
        assert (first.code, first.place) == ("log_cut_off", f"epoch 1, leaf {kept}"), recorded(report)
        assert f"was signed over {had} leaves" in first.problem
        assert {one.code for one in report.findings} == {"log_cut_off", "checkpoint_missing"}


def test_an_epoch_that_two_people_opened_explains_what_is_lost(kit: Kit, tmp_path: Path) -> None:
    had, kept = restored(kit)
    opened(kit)
    kit.sequence()
    kit.players("later", chips=700)
    kit.sequence()
    for report in both(kit, tmp_path):
        assert recorded(report) == []
        [notice] = report.notices
        assert notice.startswith("epoch 2 was opened by alma and bea (the disk broke)")
        assert f"epoch 1, {had} leaves; epoch 1, {kept} leaves, was left" in notice


@pytest.mark.slow
def test_an_epoch_is_a_finding_until_the_verifying_person_accepts_it(
    kit: Kit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    restored(kit)
    opened(kit)
    kit.sequence()
    found = export(kit, tmp_path)
    assert [one.code for one in found.findings] == ["epoch_not_accepted"]
    assert "alma and bea opened it (the disk broke)" in found.findings[0].problem
    command = [str(tmp_path / "export"), "--checkpoints", str(outside_file(kit)), "--key", str(held_key(kit))]
    assert (verifier.main(command), verifier.main([*command, "--accept-epoch", "3"])) == (1, 1)
    assert "--accept-epoch 2" in capsys.readouterr().out
    assert verifier.main([*command, "--accept-epoch", "2"]) == 0


@pytest.mark.slow
def test_an_epoch_excuses_no_leaf_that_was_altered(kit: Kit, tmp_path: Path) -> None:
    """An insider alters an event that was signed, links everything again, and has an epoch opened over it."""
    evening(kit)
    kit.sequence()
    forger = Forger(kit)
    forger.lines[forger.find("hand.settled")].doc["data"]["digest"] = "0" * 64
    forger.forge()
    guard.forget()
    opened(kit)
    kit.sequence()
    for report in both(kit, tmp_path):
        assert "leaves_differ" in {one.code for one in report.findings}, recorded(report)


def test_an_epoch_explains_no_loss_without_the_checkpoint_that_shows_it(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    restored(kit)
    monkeypatch.setattr(epochs, "EpochOpened", lambda **data: EpochOpened(**data | {"note": None}))
    opened(kit)
    kit.sequence()
    for report in both(kit, tmp_path):
        found = {(one.code, "without the checkpoint" in one.problem) for one in report.findings}
        assert ("epoch_not_opened", True) in found, recorded(report)


@pytest.mark.slow
def test_an_epoch_explains_nothing_before_it_is_signed(kit: Kit, tmp_path: Path) -> None:
    restored(kit)
    opened(kit)
    for report in both(kit, tmp_path):
        codes = [one.code for one in report.findings]
        assert codes[0] in ("log_cut_off", "epoch_not_opened")
        assert {"log_cut_off", "epoch_not_opened"} <= set(codes)


@pytest.mark.slow
def test_an_epoch_of_one_person_is_found(kit: Kit, tmp_path: Path) -> None:
    restored(kit)
    epochs.open_epoch(house=kit.house, actor=TWO, approver=TWO.staff, reason="the disk broke")
    kit.sequence()
    for report in both(kit, tmp_path):
        assert {"log_cut_off", "epoch_not_opened"} <= {one.code for one in report.findings}


@pytest.mark.slow
def test_an_epoch_that_names_another_loss_is_found(kit: Kit, tmp_path: Path) -> None:
    restored(kit)
    opened(kit)
    forger = Forger(kit)
    forger.lines[forger.find("log.epoch_opened")].doc["data"]["old_size"] += 5
    change("DELETE FROM audit_epoch WHERE house_id = %s", kit.house.id)
    change("DELETE FROM audit_log WHERE house_id = %s AND epoch = 2", kit.house.id)
    forger.forge()
    for report in both(kit, tmp_path):
        # The forged event stands in the first epoch, where nobody has signed it.
        assert report.findings[0].code == "log_cut_off", recorded(report)


@pytest.mark.slow
def test_a_good_house_is_whole_with_a_second_epoch_too(kit: Kit, tmp_path: Path) -> None:
    two_people(kit)
    evening(kit)
    opened(kit, healthy=True)
    kit.sequence()
    kit.players("later")
    kit.sequence()
    for report in both(kit, tmp_path):
        assert recorded(report) == []
        assert report.counts["checkpoints"] == 6
