"""Other ways a hand can go, verified live and from an export: dealt by the house, or disputed and ruled on."""

from pathlib import Path

from tests.casino.hands.test_ruling import RULING, disputed
from tests.casino.kit import Kit
from tests.proof.test_restores import both
from tests.proof.test_tampering import recorded


def test_an_electronic_hand_with_a_players_seed_while_it_is_played(kit: Kit, tmp_path: Path) -> None:
    kit.table()
    dealer = kit.seated()
    dealer.ok("deal")
    dealer.ok("deal/seeds", {"seat": 3, "seed": "alice"})
    dealer.deal()
    dealer.act("p1 po 100")
    kit.sequence()
    for report in both(kit, tmp_path):
        assert recorded(report) == []


def test_a_hand_that_was_ruled_on(kit: Kit, tmp_path: Path) -> None:
    kit.approved(disputed(kit), "hand/ruling", RULING)
    kit.sequence()
    for report in both(kit, tmp_path):
        assert recorded(report) == []
