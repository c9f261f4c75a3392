"""Deals that can be checked: NIST's numbers, the published vectors, openings of cards, deals made again from seeds, and
hands that go on with the same deck wherever they were interrupted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.deal.opening import check_opening, openings, pack_root
from engine.deal.shuffle import HmacDrbg, commitment, reshuffled, shuffled_deck
from engine.errors import EngineError, MalformedOpening, OpeningMismatch
from engine.kernel.canonical import canonical_json
from engine.kernel.cards import PACKS, TELL32, split_cards
from engine.kernel.hand import Hand
from engine.kernel.setup import AUDITOR, PUBLIC, Setup
from engine.record.format import fields_of, format_record, parse_record, record_of
from engine.record.replay import replay
from engine.registry import game_info, resume, start, supply
from tests.engine import deal_model
from tests.engine.chance import GAMES, Players, random_setup
from tests.engine.test_cli import answers, run

GOLDEN = Path(__file__).parents[1] / "golden"
PUBLISHED: dict[str, Any] = json.loads(deal_model.VECTORS.read_text())


def cavp() -> list[dict[str, str]]:
    """The cases of the response file."""
    blocks = (GOLDEN / "HMAC_DRBG.rsp").read_text().split("\n\n")
    return [dict(re.findall(r"(\w+) = ?(\w*)", block)) for block in blocks if block.startswith("COUNT")]


@pytest.mark.parametrize("case", cavp(), ids=lambda case: f"{case['COUNT']}-{len(case['PersonalizationString']) * 4}")
def test_the_generator_gives_nists_numbers(case: dict[str, str]):
    given_to_it = [bytes.fromhex(case[name]) for name in ("EntropyInput", "Nonce", "PersonalizationString")]
    source, model = HmacDrbg(*given_to_it), deal_model.Drbg(*given_to_it)
    for generator in (source, model):
        generator.generate(128)
        assert generator.generate(128).hex() == case["ReturnedBits"]


def test_all_of_nists_cases_are_there():
    assert len(cavp()) == 30


class TestPublishedVectors:
    """What others can check their own implementation with."""

    def test_they_are_what_the_independent_model_gives(self):
        assert deal_model.vectors() == PUBLISHED

    @pytest.mark.parametrize("vector", PUBLISHED["vectors"], ids=lambda vector: f"{vector['hand']}-{vector['game']}")
    def test_the_engine_gives_the_same(self, vector: dict[str, Any]):
        seed, hand = bytes.fromhex(vector["seed"]), vector["hand"]
        said = {int(chair): text for chair, text in vector["client_seeds"].items()}
        pack = PACKS["french32" if vector["game"] == "faerbeln" else "tell32"]
        deck = shuffled_deck(pack, seed, hand, said)
        rest = [card for card in pack.cards if card not in deck[:4]]
        packs = [deck, *(reshuffled(rest, seed, hand, said, number) for number in (1, 2))]
        assert commitment(seed, hand) == vector["commit"]
        assert ["".join(cards) for cards in packs] == vector["decks"]
        roots = [pack_root(cards, seed, hand, number) for number, cards in enumerate(packs)]
        assert roots == vector["cards_roots"]
        for salts, number, cards in zip(vector["salts"], range(3), packs, strict=True):
            assert [opened["salt"] for opened in openings(cards, seed, hand, number, [0, 27])] == salts
        for opened in vector["openings"]:
            cards = packs[opened["pack"]]
            assert openings(cards, seed, hand, opened["pack"], [opened["position"]]) == [opened]
            check_opening(opened, hand, roots)


class TestOpenings:
    """One card opened shows that it lay there, and nothing else stands."""

    @given(size=st.integers(1, 70), data=st.data(), pack=st.integers(0, 3))
    @settings(max_examples=60, deadline=None)
    def test_every_place_of_every_size_opens_as_rfc_6962_says(self, size: int, data: st.DataObject, pack: int):
        names = [rank + suit for suit in "abcdefgh" for rank in "AKOUX987"] + ["Zz"] * 6
        cards, seed = names[:size], data.draw(st.binary(min_size=32, max_size=32))
        place = data.draw(st.integers(0, size - 1))
        entries = deal_model.leaves(cards, seed, "h", pack)
        root = deal_model.tree_hash(entries).hex()
        assert pack_root(cards, seed, "h", pack) == root
        [found] = openings(cards, seed, "h", pack, [place])
        assert found["path"] == [node.hex() for node in deal_model.path(place, entries)]
        check_opening(found, "h", ["0" * 64] * pack + [root])

    @pytest.mark.parametrize(
        "change",
        [
            {"card": "Ka"}, {"position": 6}, {"pack": 1}, {"salt": "0" * 64}, {"path": []}, {"size": 16},
            {"size": 33}, {"size": 6},
        ],
        ids=str,
    )  # fmt: skip
    def test_a_changed_one_is_refused(self, change: dict[str, Any]):
        [opened], root = self.opened()
        with pytest.raises(OpeningMismatch):
            check_opening(opened | change, "h", [root, root])

    def test_it_belongs_to_its_hand_and_its_whole_path(self):
        [opened], root = self.opened()
        check_opening(opened, "h", [root])
        with pytest.raises(OpeningMismatch):
            check_opening(opened, "i", [root])
        for path in (opened["path"][:-1], [*opened["path"], root], opened["path"][::-1]):
            with pytest.raises(OpeningMismatch):
                check_opening(opened | {"path": path}, "h", [root])

    @pytest.mark.parametrize(
        "change",
        [
            {"card": "??"}, {"card": "A"}, {"card": 5}, {"position": True}, {"position": -1}, {"position": 32},
            {"size": 256}, {"pack": 1}, {"pack": None}, {"salt": "00"}, {"salt": None}, {"path": "00"},
            {"path": ["0"]}, {"extra": 1},
        ],
        ids=str,
    )  # fmt: skip
    def test_what_is_no_opening_is_shown_so(self, change: dict[str, Any]):
        [opened], root = self.opened()
        with pytest.raises(MalformedOpening):
            check_opening(opened | change, "h", [root])

    def test_every_salt_is_another(self):
        seed, cards = bytes(32), TELL32.cards
        found = [openings(cards, seed, hand, pack, range(32)) for hand in ("h", "i") for pack in (0, 1)]
        assert len({opened["salt"] for row in found for opened in row}) == 4 * 32

    @staticmethod
    def opened() -> tuple[list[dict[str, Any]], str]:
        """The sixth card of a deck, and the deck's root."""
        seed = bytes(range(32))
        deck = shuffled_deck(TELL32, seed, "h", {})
        return openings(deck, seed, "h", 0, [5]), pack_root(deck, seed, "h", 0)


# --- Hands dealt from seeds -------------------------------------------------------------------------------------------


class Dealt:
    """A random hand of a game that is dealt from a seed and client seeds."""

    def __init__(self, game: str, number: int, **options: object) -> None:
        self.random = Random(f"dealt/{game}/{number}")
        setup = random_setup(game, self.random)
        opt = {**setup.opt, **options}
        self.seed = self.random.randbytes(32)
        self.said = {chair: f"seed-{chair}" for chair in range(1, setup.seats + 2) if self.random.random() < 0.6}
        self.name = f"T1-{number:06d}"
        deck = shuffled_deck(game_info(game).pack_for(opt), self.seed, self.name, self.said)
        self.setup = setup._replace(opt=opt, deck=deck)

    def shuffle(self, cards: tuple[str, ...], number: int) -> tuple[str, ...]:
        """A redeal's pack."""
        return reshuffled(cards, self.seed, self.name, self.said, number)

    def players(self) -> Players:
        """Everybody at the table; redeals come from the seed."""
        players = Players(self.random)
        players.shuffle = self.shuffle  # type: ignore[method-assign]
        return players

    def played(self) -> Hand:
        """The hand to its end."""
        hand, players = start(self.setup), self.players()
        while not hand.over:
            players.play_on(hand)
        return hand

    def record(self, hand: Hand) -> dict[str, Any]:
        """The record of the hand, seeds included."""
        names = tuple(f"s{seat}" for seat in range(1, hand.setup.seats + 1))
        rules = game_info(hand.setup.game).rules_id
        record = record_of(hand, hand_id=self.name, rules_id=rules, seats=names, opt=dict(hand.setup.opt))
        said = {"client_seeds": {str(chair): text for chair, text in self.said.items()}} if self.said else {}
        seeds = {"commit": commitment(self.seed, self.name), "seed": self.seed.hex()}
        return fields_of(record) | seeds | said


CUHHKASSZA = {"cuhhol": True, "grigare": "off", "wild": []}


def dealt_hands(numbers: range) -> Iterator[Dealt]:
    """Hands of each game, some of Ferbli where cards are dealt again."""
    for number in numbers:
        yield Dealt("faerbeln", number)
        yield Dealt("ferbli", number)
        yield Dealt("ferbli", number, **CUHHKASSZA)


@pytest.mark.parametrize("numbers", [range(26, 36), pytest.param(range(26), marks=pytest.mark.long)], ids=str)
def test_a_view_names_the_cards_at_its_viewers_places_and_no_others(numbers: range):
    redeals = 0
    for dealt in dealt_hands(numbers):
        hand, players = start(dealt.setup), dealt.players()
        while True:
            looked_at = len(hand.log) % 6 == 0 or hand.over
            for viewer in (PUBLIC, *range(1, hand.setup.seats + 1)) if looked_at else ():
                packs = ((hand.setup.deck or ()), *hand.setup.redeals)
                places = hand.places(viewer)
                assert len(set(places)) == len(places)
                view = hand.view(viewer)
                shown = {name: value for name, value in view.items() if name not in ("options", "legal")}
                named = {card for card in cards_in(json.dumps(shown)) if card in packs[0]}
                assert {packs[pack][place] for pack, place in places} == named
                redeals += any(pack for pack, _ in places)
            if hand.over:
                break
            players.play_on(hand)
    assert redeals > 2 or 35 not in numbers


def cards_in(text: str) -> set[str]:
    """Every word of two-character cards in a view."""
    words = re.findall(r"(?<![\w/])(?:[2-9AKQJTOUX][a-z]|\?\?)+(?!\w)", text)
    return {card for word in words for card in split_cards(word)}


def test_everybodys_cards_of_redeals_open_and_so_do_all_of_the_auditors():
    seen = 0
    for number in range(100):
        dealt = Dealt("ferbli", number, **CUHHKASSZA)
        hand = dealt.played()
        packs = ((hand.setup.deck or ()), *hand.setup.redeals)
        roots = [pack_root(cards, dealt.seed, dealt.name, at) for at, cards in enumerate(packs)]
        assert len(hand.places(AUDITOR)) == sum(map(len, packs))
        for pack, place in hand.places(PUBLIC):
            [opened] = openings(packs[pack], dealt.seed, dealt.name, pack, [place])
            check_opening(opened, dealt.name, roots)
            seen += pack > 0
    assert seen > 50


def test_without_a_known_deck_nothing_can_be_opened():
    hand = start(Setup("ferbli", {"vizi": 100}, 2, (5000, 5000), 0, 2))
    assert hand.places(AUDITOR) == ()


@pytest.mark.parametrize("game", GAMES)
@given(number=st.integers(0, 10**6), cut=st.floats(0, 1), again=st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_hand_goes_on_with_the_same_deck_wherever_it_was_cut(game: str, number: int, cut: float, again: bool):
    """Only inputs and lines survive; deck, redeals and everything said of them come from the seeds again."""
    dealt = Dealt(game, number, **(CUHHKASSZA if again and game == "ferbli" else {}))
    whole = dealt.played()
    at = round(cut * len(whole.log))
    again = Dealt(game, number, **(CUHHKASSZA if again and game == "ferbli" else {}))
    hand = resume(again.setup, whole.log[:at], again.shuffle)
    parallel = start(dealt.setup)
    for line in whole.log[:at]:
        parallel.advance(line)
        supply(parallel, dealt.shuffle)
    for viewer in (PUBLIC, AUDITOR, *range(1, hand.setup.seats + 1)):
        assert canonical_json(hand.view(viewer)) == canonical_json(parallel.view(viewer))
        assert hand.places(viewer) == parallel.places(viewer)
    for line in whole.log[at:]:
        hand.advance(line)
        supply(hand, again.shuffle)
    assert (hand.setup.redeals, hand.moves, hand.digest()) == (whole.setup.redeals, whole.moves, whole.digest())


class TestRecords:
    """A record with its seeds is checked against them."""

    def test_it_stands_and_keeps_its_client_seeds(self):
        for dealt in dealt_hands(range(8)):
            line = json.dumps(dealt.record(dealt.played()))
            record = parse_record(line)
            assert record.client_seeds == dealt.said
            assert json.loads(format_record(record)) == json.loads(line)
            assert replay(record).ok

    @pytest.mark.parametrize("spoil", ["forget", "alter", "chair", "swap", "redeal"])
    def test_other_seeds_or_cards_do_not_stand(self, spoil: str):
        fields = self.with_redeals()
        if spoil == "forget":
            del fields["client_seeds"]
        elif spoil == "alter":
            fields["client_seeds"] |= {"1": "another"}
        elif spoil == "chair":
            fields["client_seeds"] |= {"200": "x"}
        elif spoil == "swap":
            fields["decks"][0] = fields["decks"][0][:-4] + fields["decks"][0][-2:] + fields["decks"][0][-4:-2]
        else:
            fields["decks"][1] = fields["decks"][1][:-4] + fields["decks"][1][-2:] + fields["decks"][1][-4:-2]
        outcome = replay(parse_record(json.dumps(fields)))
        assert outcome.error and outcome.error.code == "deck_mismatch"

    @pytest.mark.parametrize(
        "client_seeds",
        [
            [], {"0": "a"}, {"01": "a"}, {"256": "a"}, {"a": "a"}, {"1": ""}, {"1": "a b"}, {"1": "é"}, {"1": 5},
            {"1": "x" * 65}, {"1": "a\n"}, {"1\n": "a"},
        ],
        ids=str,
    )  # fmt: skip
    def test_client_seeds_are_read_strictly(self, client_seeds: object):
        with pytest.raises(EngineError) as refused:
            parse_record(json.dumps(self.with_redeals() | {"client_seeds": client_seeds}))
        assert refused.value.code == "malformed_record"

    @staticmethod
    def with_redeals() -> dict[str, Any]:
        """A hand with client seeds in which cards were dealt again."""
        for number in range(500):
            dealt = Dealt("ferbli", number, **CUHHKASSZA)
            if dealt.said and (hand := dealt.played()).setup.redeals:
                return dealt.record(hand)
        raise AssertionError("no such hand")


class TestCommands:
    """``python -m engine deck`` and ``opening``."""

    def test_deck_deals_again_and_compares(self):
        fields = TestRecords.with_redeals()
        [shown] = answers(run("deck", "-", text=json.dumps(fields)))
        assert shown["ok"] and [shown["deck"], *shown["redeals"]] == fields["decks"]  # type: ignore[misc]
        done = run("deck", "-", text=json.dumps(fields | {"cards_roots": shown["cards_roots"]}))
        assert done.returncode == 0
        wrong = [
            (fields | {"cards_roots": shown["cards_roots"][:1]}, "root_mismatch"),  # type: ignore[index]
            (fields | {"cards_roots": 5}, "root_mismatch"),
            (fields | {"commit": "0" * 64}, "commit_mismatch"),
            (fields | {"client_seeds": {"1": "x"}}, "deck_mismatch"),
            ({name: value for name, value in fields.items() if name != "seed"}, "malformed_record"),
        ]
        done = run("deck", "-", text="\n".join(json.dumps(row) for row, _ in wrong))
        assert done.returncode == 1
        assert [answer["error"]["code"] for answer in answers(done)] == [code for _, code in wrong]  # type: ignore[index]

    def test_opening_checks_what_the_house_answers(self):
        [opened], root = TestOpenings.opened()
        good = {"hand": "h", "cards_roots": [root], "openings": [opened], "view": {"whatever": 1}}
        bad = good | {"openings": [opened, opened | {"card": "Ka"}]}
        done = run("opening", "-", text=json.dumps(good))
        assert (done.returncode, answers(done)) == (0, [{"hand": "h", "ok": True, "cards": [opened["card"]]}])
        broken = [bad, good | {"hand": 5}, good | {"cards_roots": [5]}, good | {"openings": [5]}]
        done = run("opening", "-", text="\n".join(map(json.dumps, broken)))
        codes = [answer["error"]["code"] for answer in answers(done)]  # type: ignore[index]
        assert (done.returncode, codes) == (1, ["opening_mismatch"] + ["malformed_opening"] * 3)
        assert run("opening", "-", text="nothing\n").returncode == 2
        assert run("opening", "-").returncode == 2
