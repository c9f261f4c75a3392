"""Log lines, cards as they fall, and the deal itself."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from engine.deal.shuffle import HmacDrbg, below, commitment, encode, shuffled_deck
from engine.errors import (
    CardAlreadyDealt,
    CardMismatch,
    CardNotFromDeck,
    CardNotInPack,
    CardUnknown,
    EngineError,
    HandIsOver,
    MalformedAction,
    MalformedSetup,
    NotYourTurn,
    VerbNotLegal,
    WrongCount,
    WrongTarget,
)
from engine.kernel.cards import PACKS, TELL32
from engine.kernel.events import BottomCard, Dealt
from engine.kernel.grammar import Action
from engine.kernel.hand import Hand
from engine.vying.ferbli import GRAMMAR
from tests.engine.support import frozen, play, table


@pytest.mark.parametrize(
    "line",
    [
        "p1 po 100",
        "d dh p1 Kl8b",
        "d dh p2 ????",
        "p2 cc 100",
        "p3 f",
        "p1 k",
        "p1 rb 200",
        "p4 ks 400 p1",
        "p1 lk 2",
        "p2 br 100",
        "p1 st",
        "p1 sm Kl8bXb7b",
        "p1 up Kl8b",
    ],
)
def test_canonical_lines_are_read_and_kept_as_they_are(line: str):
    assert GRAMMAR.parse(line).text == line


@pytest.mark.parametrize(
    "line",
    [
        "",
        " ",
        "p1",
        "p1 cc",
        "p1 cc 0100",
        "p1 cc +100",
        "p1 cc -100",
        "p1 cc 1e2",
        "p1 cc 100.0",
        "p1  cc 100",
        "p1 cc 100 ",
        " p1 cc 100",
        "p1 cc 100\n",
        "P1 cc 100",
        "p1 CC 100",
        "p0 f",
        "p10 f",
        "p1 f 1",
        "p1 f p2",
        "p1 ks 400",
        "p4 ks p1 400",
        "p4 ks 400 p0",
        "d dh p1",
        "d dh p1 ",
        "d dh p1 K",
        "d dh p1 Kl8",
        "d dh Kl8b",
        "d dh p1 Kl 8b",
        "d f",
        "p1 dh p2 KlKa",
        "p1 sm",
        "p1 up",
        "d up Kl8b",
        "p1 sm kl8b",
        "d dh p1 K?8b",
        "p1 cc \u0661\u0660\u0660",
        "p1 xx",
        "p1 cc 1234567890123456789",
        "p1 po 1_000",
        "d dh p1 " + "Ka" * 53,
    ],
)
def test_anything_else_is_malformed(line: str):
    with pytest.raises(MalformedAction):
        GRAMMAR.parse(line)


def test_an_action_value_may_be_applied_if_it_says_what_its_text_says():
    hand = table(2)
    hand.apply(GRAMMAR.parse("p1 po 100"))
    assert hand.log == ("p1 po 100",)
    with pytest.raises(MalformedAction):
        hand.apply(Action(2, "cc", 1, text="p2 cc 100"))


def refused(hand: Hand, line: str, error: type[EngineError]) -> EngineError:
    """Apply a wrong line: it raises ``error`` and changes nothing."""
    before = (frozen(hand), hand.digest(), hand.view("auditor"))
    with pytest.raises(error) as refusal:
        hand.apply(line)
    assert (frozen(hand), hand.digest(), hand.view("auditor")) == before
    assert refusal.value.message
    return refusal.value


def test_refusals_are_typed_and_change_nothing():
    hand = table(3)
    assert refused(hand, "p2 po 100", NotYourTurn).expected == {"actor": "p1"}
    refused(hand, "d dh p1 AaKa", NotYourTurn)
    refused(hand, "p1 rb 100", VerbNotLegal)
    assert refused(hand, "p1 po 200", EngineError).code == "amount_out_of_range"
    hand.apply("p1 po 100")
    assert refused(hand, "d dh p2 AaKa", WrongTarget).expected == {"target": 1}
    assert refused(hand, "d dh p1 AaKaOa", WrongCount).expected == {"count": 2}
    refused(hand, "d dh p1 OaUa", CardNotFromDeck)
    refused(hand, "d dh p1 ????", CardNotFromDeck)
    refused(hand, "d dh p1 2cAa", CardNotInPack)
    hand.apply("d dh p1 AaKa")
    refused(hand, "d dh p2 AaUa", CardAlreadyDealt)
    play(hand, "p2 f", "p3 f")
    refused(hand, "p1 k", HandIsOver)
    assert hand.legal() == () and hand.actor is None


def test_the_bottom_card_is_shown_to_all_with_the_first_deal():
    """Deal and Betting: the bottom card is not secret."""
    hand = table(2)
    assert hand.view("public")["bottom"] is None
    hand.apply("p1 po 100")
    assert hand.apply(hand.forced() or "") == (BottomCard("7h"), Dealt(1, 2))
    assert hand.view("public")["bottom"] == "7h"
    assert hand.apply(hand.forced() or "") == (Dealt(2, 2),)


class TestPhysicalMode:
    """No deck: cards become known as they fall."""

    def test_nothing_is_forced(self):
        hand = table(2, deck=None)
        hand.apply("p1 po 100")
        assert hand.forced() is None and hand.actor == "d"

    def test_each_card_exists_once(self):
        hand = table(2, deck=None)
        hand.apply("p1 po 100")
        refused(hand, "d dh p1 KlKl", CardAlreadyDealt)
        refused(hand, "d dh p1 Kl6l", CardNotInPack)
        hand.apply("d dh p1 Kl8b")
        refused(hand, "d dh p2 Ah8b", CardAlreadyDealt)

    def shown(self) -> Hand:
        """Two seats with unknown and half-known cards, about to show."""
        hand = table(2, deck=None)
        for line in (
            "p1 po 100", "d dh p1 ????", "d dh p2 Ah??", "p2 cc 100", "p1 k", "d dh p1 ????", "d dh p2 ??7l",
            "p1 rb 100", "p2 lk 2", "p2 cc 100", "p2 rb 100", "p1 cc 100", "p1 st",
        ):  # fmt: skip
            hand.apply(line)
        return hand

    def test_unknown_cards_are_named_when_they_are_shown(self):
        hand = self.shown()
        refused(hand, "p1 sm Kl8bXb??", CardUnknown)
        refused(hand, "p1 sm Kl8bXb", WrongCount)
        refused(hand, "p1 sm Kl8bXbAh", CardAlreadyDealt)
        refused(hand, "p1 sm Kl8bXbKl", CardAlreadyDealt)
        refused(hand, "p1 sm Kl8bXb6b", CardNotInPack)
        hand.apply("p1 sm Kl8bXb7b")
        refused(hand, "p2 sm Aa9aKh7l", CardMismatch)
        refused(hand, "p2 sm Ah8bKh7l", CardAlreadyDealt)
        hand.apply("p2 sm Ah9aKh7l")
        assert hand.result and hand.result.winner == 1
        assert hand.view(1)["seats"][1]["cards"] == ["Ah", "9a", "Kh", "7l"]


class TestShuffle:
    """The deal: commitment, generator, shuffle."""

    def test_the_generator_gives_nists_numbers(self):
        """CAVP, HMAC_DRBG without reseeding, SHA-256, no personalization, COUNT = 0: the second request."""
        source = HmacDrbg(
            bytes.fromhex("ca851911349384bffe89de1cbdc46e6831e44d34a4fb935ee285dd14b71a7488"),
            bytes.fromhex("659ba96c601dc69fc902940805ec0ca8"),
        )
        source.generate(128)
        assert source.generate(128).hex() == (
            "e528e9abf2dece54d47c7e75e5fe302149f817ea9fb4bee6f4199697d04d5b89"
            "d54fbb978a15b5c443c9ec21036d2460b6f73ebad0dc2aba6e624abf07745bc1"
            "07694bb7547bb0995f70de25d6b29e2d3011bb19d27676c07162c8b5ccde0668"
            "961df86803482cb37ed6d5c0bb8d50cf1f50d476aa0458bdaba806f48be9dcb8"
        )

    def test_our_own_vectors(self):
        seed = bytes(range(32))
        assert commitment(seed, "hand-0001") == "bf948e9034ab8f27d56320f90c4d6ce225db755778ea1a94527505726f8e6ec6"
        deck = shuffled_deck(TELL32, seed, "hand-0001", {3: "alice", 1: "bob"})
        assert "".join(deck) == "7lKb8l9a9lObKaUlKlOhXbKh8hUbOl8aUhAbXl9h7hAl7bUaAaOaAhXh9b7aXa8b"

    def test_every_input_changes_the_deck(self):
        seed = bytes(32)
        decks = {
            shuffled_deck(TELL32, seed, "h", {}),
            shuffled_deck(TELL32, seed, "i", {}),
            shuffled_deck(TELL32, seed, "h", {1: ""}),
            shuffled_deck(TELL32, seed, "h", {1: "a"}),
            shuffled_deck(TELL32, seed, "h", {2: "a"}),
            shuffled_deck(TELL32, bytes(31) + b"\x01", "h", {}),
        }
        assert len(decks) == 6

    @pytest.mark.parametrize("name", sorted(PACKS))
    def test_a_deck_is_a_permutation_of_its_pack(self, name: str):
        pack = PACKS[name]
        assert sorted(shuffled_deck(pack, bytes(32), "h", {})) == sorted(pack.cards)
        assert len(set(pack.cards)) == int(name[-2:])

    def test_words_that_would_bias_a_draw_are_thrown_away(self):
        limit = 2**32 - 2**32 % 3
        assert below(3, iter([limit, 2**32 - 1, limit - 1])) == (limit - 1) % 3
        with pytest.raises(ValueError, match="ran out"):
            below(3, iter([limit]))

    def test_places_are_about_equally_likely(self):
        tops = Counter(shuffled_deck(TELL32, bytes(32), f"h{number}", {})[0] for number in range(1600))
        chi_square = sum((tops[card] - 50) ** 2 / 50 for card in TELL32.cards)
        assert chi_square < 61.1  # 99.9 % of 31 degrees of freedom; the hands are fixed, so this never flickers

    def test_encoding_keeps_parts_apart(self):
        assert encode("ab", "c") != encode("a", "bc")
        assert encode(b"\x00") == b"\x00\x00\x00\x01\x00"

    @pytest.mark.parametrize("size", [0, 31, 33])
    def test_a_seed_has_32_bytes(self, size: int):
        with pytest.raises(MalformedSetup):
            commitment(bytes(size), "h")

    def test_requests_are_limited(self):
        source = HmacDrbg(bytes(32), b"")
        assert len(source.generate(0)) == 0
        with pytest.raises(ValueError, match="request"):
            source.generate(65_537)


def test_the_printed_order_of_the_tell_pack():
    assert list(islice(TELL32.cards, 9)) == ["Aa", "Ka", "Oa", "Ua", "Xa", "9a", "8a", "7a", "Al"]
