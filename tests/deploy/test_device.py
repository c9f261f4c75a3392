"""What a player's device notices: it checks with code of its own, so that code is compared with the engine's here."""

import copy
from typing import Any

import pytest

from deploy.demo.device import ALGORITHM, Cheated, Device, commitment_to, root_of, shown_to_all
from engine.deal import shuffle
from engine.deal.opening import openings, pack_root
from engine.deal.shuffle import client_commitment, commitment, shuffled_deck
from engine.kernel.cards import TELL32

SEED = bytes(range(32))
DECK = shuffled_deck(TELL32, SEED, "T1-000001", {2: "mine"})
REDEAL = shuffled_deck(TELL32, SEED, "T1-000001", {})[:28]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 7, 11, 28, 31, 32])
def test_a_device_finds_the_root_that_the_engine_makes(size: int) -> None:
    root = pack_root(DECK[:size], SEED, "h", 3)
    for opening in openings(DECK[:size], SEED, "h", 3, range(size)):
        assert root_of("h", opening) == root
    assert ALGORITHM.decode() == shuffle.ALGORITHM


@pytest.mark.parametrize("seed", ["x", "mine", "~" * 64])
def test_a_device_commits_to_its_seed_as_the_engine_says(seed: str) -> None:
    assert commitment_to("T1-000001", 7, seed) == client_commitment("T1-000001", 7, seed)


class RecordedDevice(Device):
    """A device that reads what a test has prepared, instead of asking a house."""

    def __init__(self, hand: dict[str, Any]) -> None:
        super().__init__("http://nowhere", "key", 2)
        self.hand = hand
        self._deal = {
            "hand": hand["hand"], "commitment": hand["commitment"],
            "seed_commitments": {
                seat: client_commitment(hand["hand"], int(seat), seed) for seat, seed in (("2", "mine"), ("3", "other"))
            },
        }  # fmt: skip
        self._seed = "mine"

    def get(self, path: str) -> Any:
        """The hand."""
        return copy.deepcopy(self.hand)


def honest() -> dict[str, Any]:
    """What an honest house records: the device's own first two cards, one hand shown, one dealt face up in a redeal."""
    places = [2, 3, 8, 9, 10, 11]
    return {
        "hand": "T1-000001",
        "commitment": commitment(SEED, "T1-000001"),
        "client_seeds": {"2": "mine", "3": "other"},
        "cards_roots": [pack_root(DECK, SEED, "T1-000001", 0), pack_root(REDEAL, SEED, "T1-000001", 1)],
        "cards": [DECK[2], DECK[3], "??"],
        "view": {"seats": [{"cards": ["??", "??"]}, {"cards": list(DECK[8:12])}], "face_up": [list(REDEAL[:4])]},
        "openings": [
            *openings(DECK, SEED, "T1-000001", 0, places),
            *openings(REDEAL, SEED, "T1-000001", 1, range(4)),
        ],
    }


def test_an_honest_house_is_believed_as_often_as_it_is_asked() -> None:
    device = RecordedDevice(honest())
    device.check()
    device.check()
    assert device.checked == 20


def test_cards_on_the_table_are_found_wherever_they_lie() -> None:
    view = {
        "options": {"wild": ["Oa"], "pack": "tell32"},
        "log": ["d dh p1 KlKh"],
        "seats": [{"actor": "p1", "cards": ["??", "Kl"], "up": ["Ah"]}],
        "trick": [["p1", "7a"]],
        "face_up": [["8b"]],
        "phase": "lead",
        "pot": 100,
    }
    assert sorted(shown_to_all(view)) == ["7a", "8b", "Ah", "Kl"]


def test_a_device_offers_what_its_own_seat_may_do() -> None:
    play = {"actor": "p1", "verb": "pl", "takes": {"places": {"kind": "places", "choices": [[2], [0]]}}}
    recorded = {"hand": "", "commitment": "", "cards": ["Kl", "7a", "8l", "??"], "legal_actions": [play]}
    assert RecordedDevice(recorded).offers() == [play]


def swap(hand: dict[str, Any]) -> None:
    """Another card at the place."""
    hand["openings"][0]["card"] = "Aa" if DECK[2] != "Aa" else "Ka"


def other_seed(hand: dict[str, Any]) -> None:
    """Another client seed than the device has said."""
    hand["client_seeds"]["2"] = "yours"


def seed_of_another(hand: dict[str, Any]) -> None:
    """Another seat's seed is not the one that it had committed to."""
    hand["client_seeds"]["3"] = "chosen late"


def other_deal(hand: dict[str, Any]) -> None:
    """Another seed was committed to."""
    hand["commitment"] = "0" * 64


def no_roots(hand: dict[str, Any]) -> None:
    """Nothing to check against."""
    hand["cards_roots"], hand["openings"] = [], []


def unopened(hand: dict[str, Any]) -> None:
    """A card without an opening."""
    hand["openings"].pop()


def other_hand(hand: dict[str, Any]) -> None:
    """A hand that nobody has committed to."""
    hand["hand"] = "T1-000002"


@pytest.mark.parametrize("cheat", [swap, other_seed, seed_of_another, other_deal, no_roots, unopened, other_hand])
def test_a_device_notices(cheat: Any) -> None:
    device = RecordedDevice(honest())
    cheat(device.hand)
    with pytest.raises(Cheated):
        device.check()


def test_a_root_that_changes_and_a_card_that_lies_twice_are_noticed() -> None:
    device = RecordedDevice(honest())
    device.check()
    doubled = [DECK[2], *DECK[1:]]
    device.hand["cards_roots"][0] = pack_root(doubled, SEED, "T1-000001", 0)
    with pytest.raises(Cheated, match="root over cards changed"):
        device.check()
    cheating = honest()
    cheating["cards_roots"][0] = pack_root(doubled, SEED, "T1-000001", 0)
    cheating["openings"] = openings(doubled, SEED, "T1-000001", 0, [0, 2])
    with pytest.raises(Cheated, match="two places"):
        RecordedDevice(cheating).check()
