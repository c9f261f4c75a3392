"""Every attack of the corpus is found, live and in an export, and the first bad place is named."""

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from casino.audit import epochs, verifier
from casino.audit.models import Event
from casino.audit.services import Actor
from casino.staff.models import Role
from casino.staff.services import hire
from casino.verification import auditing, exporting
from tests.casino.kit import ACTOR, Kit
from tests.proof import corpus_state
from tests.proof.corpus import ATTACKS, Attack, matches
from tests.proof.corpus_tricks import evening_of_tricks
from tests.proof.superuser import evening, evening_of_deals, evening_of_entries, held_key, outside_file

assert corpus_state.__doc__, "importing it adds its attacks"


def export(kit: Kit, folder: Path, accepted: Sequence[int] = ()) -> verifier.Report:
    """The export of a house, verified with the checkpoints and the key that somebody else holds."""
    exporting.export_house(kit.house, folder / "export")
    held = [verifier.read_notes(outside_file(kit), str(outside_file(kit)), held=True)]
    return verifier.verify_export(folder / "export", held, verifier.read_keys(str(held_key(kit))), accepted)


def recorded(report: verifier.Report) -> list[tuple[str, str, str]]:
    """Findings in their order, to be read where a test fails."""
    return [(one.code, one.place, one.problem) for one in report.findings]


def test_an_untampered_house_gives_nothing(kit: Kit, tmp_path: Path) -> None:
    evening(kit)
    live, exported = auditing.verify_house(kit.house), export(kit, tmp_path)
    assert recorded(live) == recorded(exported) == []
    for report in (live, exported):
        assert (report.counts["hands"], report.counts["checkpoints"]) == (3, 4)
        assert report.counts["events"] == report.counts["leaves"] + 2
        assert report.notices == ["2 events are not in the log yet: only their chains prove them"]


@pytest.mark.some_now(3)
@pytest.mark.parametrize(("before", "hands"), [(evening_of_deals, 1), (evening_of_entries, 1), (evening_of_tricks, 2)])
def test_an_untampered_house_with_prepared_deals_or_entered_cards_gives_nothing(
    kit: Kit, tmp_path: Path, before: Callable[[Kit], None], hands: int
) -> None:
    before(kit)
    live, exported = auditing.verify_house(kit.house), export(kit, tmp_path)
    assert recorded(live) == recorded(exported) == []
    assert live.counts["hands"] == exported.counts["hands"] == hands


@pytest.mark.slow
def test_events_that_no_checkpoint_covers_for_long_are_found_live(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit.players("early", chips=500)
    monkeypatch.setattr(auditing, "SIGNED_WITHIN", timedelta(0))
    assert recorded(auditing.verify_house(kit.house)) == [], "its log was never begun"
    kit.sequence()
    assert recorded(auditing.verify_house(kit.house)) == []
    kit.players("late", chips=700)
    [found] = auditing.verify_house(kit.house).findings
    waiting = Event.objects.filter(chain__house=kit.house, leaf=None).select_related("chain").order_by("id").first()
    assert (found.code, found.place) == ("log_behind", f"{waiting.chain.name}#{waiting.seq}")
    assert recorded(export(kit, tmp_path)) == [], "an export is of a moment"
    monkeypatch.undo()
    assert recorded(auditing.verify_house(kit.house)) == [], "they have a minute"


def test_leaves_that_no_checkpoint_covers_for_long_are_found_live(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after an epoch was opened that nobody signs."""
    hire(house=kit.house, login="alma", name="a", roles=[Role.ADMIN], password="seven-of-acorns-19", actor=ACTOR)
    kit.sequence()
    actor = Actor(staff="alma", role="admin", terminal="", request="restore")
    epochs.open_epoch(house=kit.house, actor=actor, approver="bea", reason="another key", healthy=True)
    before = [one.code for one in auditing.verify_house(kit.house).findings]
    assert "log_behind" not in before
    monkeypatch.setattr(auditing, "SIGNED_WITHIN", timedelta(0))
    found = [(one.code, one.place) for one in auditing.verify_house(kit.house).findings if one.code == "log_behind"]
    assert found == [("log_behind", f"log/{kit.house.code}#1")]
    kit.sequence()
    assert recorded(auditing.verify_house(kit.house)) == []


@pytest.mark.some_now(8)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.do.__name__)
def test_the_attack_is_found_and_its_first_bad_place_named(kit: Kit, tmp_path: Path, attack: Attack) -> None:
    attack.before(kit)
    attack.do(kit)
    live, exported = auditing.verify_house(kit.house), export(kit, tmp_path)
    for report, expected in ((live, (attack.code, attack.place)), (exported, attack.exported)):
        if expected is None:
            continue
        assert report.findings, "nothing was found"
        first = report.findings[0]
        assert first.code == expected[0] and matches(expected[1], first.place), recorded(report)


def test_an_edit_under_new_links_is_narrowed_down_to_the_leaves_between_two_checkpoints(kit: Kit) -> None:
    from tests.proof.corpus import rechained

    evening(kit)
    rechained(kit)
    [first, *_] = auditing.verify_house(kit.house).findings
    found = re.fullmatch(r"epoch 1, leaves (\d+) to (\d+) \(the first is (.+)#(\d+)\)", first.place)
    assert found is not None, first
    sizes = [verifier.parse_note(note).checkpoint.size for note in verifier.split_notes(outside_file(kit).read_text())]
    # The hand was settled between the first checkpoint and the second.
    assert (int(found[1]), int(found[2])) == (sizes[0], sizes[1] - 1)
