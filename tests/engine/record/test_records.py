"""Hand records: strict reading, strict replay, the recorded evening and the hands that continue it."""

from __future__ import annotations

import dataclasses
import json
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise

import pytest

from engine.deal.shuffle import commitment
from engine.errors import CardNotInPack, EngineError, MalformedRecord, UnreadableRecord
from engine.kernel.canonical import sha256_of
from engine.kernel.cards import TELL32
from engine.kernel.hand import Hand
from engine.kernel.setup import Setup
from engine.record.format import Record, format_record, parse_record, record_of
from engine.record.replay import replay
from engine.registry import resume, start
from tests.engine.support import DEMO, evening, extra, faerbeln, mutants

PACK = TELL32.cards
TURNED = PACK[::-1]
SAMPLE = (
    '{"v":"chr/1","game":"ferbli","rules":"ferbli/1","opt":{"vizi":100},"hand":"T07-000123",'
    '"seats":["u81","u12","u40","u33"],"dealer":4,"stacks":[20000,15000,9000,30000],"carry":0,'
    '"acts":["p1 po 100","d dh p1 Kl8b","d dh p2 Ah7l","d dh p3 XlOb","d dh p4 Aa9a","p2 cc 100",'
    '"p3 f","p4 cc 100","p1 rb 200","p2 cc 200","p4 cc 200","p4 ks 400 p1","d dh p1 Xb7b","p1 lk 2",'
    '"p1 cc 400","p2 f","d dh p4 KhOl","p1 k","p4 lk 2","p4 rb 800","p1 cc 800","p1 st",'
    '"p1 sm Kl8bXb7b","p4 sm Aa9aKhOl"]}'
)
"""A hand with a charge, from the description of the format: p1's three bells beat p4's two acorns."""


def fields(**changes: object) -> str:
    """The sample as JSON with some keys replaced; None removes a key."""
    found = json.loads(SAMPLE) | changes
    return json.dumps({key: value for key, value in found.items() if value is not None})


def test_the_sample_hand():
    outcome = replay(parse_record(SAMPLE))
    assert outcome.ok and outcome.hand and outcome.hand.result
    assert outcome.hand.result.net == (1800, -300, 0, -1500)
    assert sum(move.amount for move in outcome.hand.moves if move.why == "award") == 3300
    assert outcome.hand.log == parse_record(SAMPLE).acts


def test_the_evening_replays_with_equal_results():
    assert len(evening()) == 320
    for record in evening():
        outcome = replay(record)
        assert outcome.ok, (record.hand, outcome)
        result = outcome.hand and outcome.hand.result
        assert result and (result.net, result.tax, result.carry_out) == (
            record.net,
            record.tax,
            record.carry_out,
        )


def test_the_extra_hands_replay_with_equal_results_and_states():
    assert len(extra()) == 19
    for record in extra():
        assert record.state is not None
        assert replay(record).ok, record.hand


def test_evening_and_extra_hands_are_one_evening():
    tables: dict[str, list[Record]] = defaultdict(list)
    for record in (*evening(), *extra()):
        tables[record.hand.split("-")[0]].append(record)
    assert sorted(tables) == ["T1", "T2", "T3", "T4"]
    for name, records in tables.items():
        assert [record.hand for record in records] == [f"{name}-{at:06d}" for at in range(1, len(records) + 1)]
        for before, after in pairwise(records):
            assert before.net is not None
            stacks = tuple(stack + net for stack, net in zip(before.stacks, before.net, strict=True))
            assert after.seats == before.seats[1:] + before.seats[:1], after.hand
            assert after.stacks == stacks[1:] + stacks[:1], after.hand
            assert (after.carry, after.opt, after.dealer) == (before.carry_out, before.opt, before.dealer)


def test_the_recorded_hands_of_faerbeln_replay_with_equal_results():
    assert len(faerbeln()) == 180
    for record in faerbeln():
        outcome = replay(record)
        assert outcome.ok, (record.hand, outcome)
        result = outcome.hand and outcome.hand.result
        assert result
        assert (result.net, result.tax, result.carry_out) == (record.net, record.tax, record.carry_out)
        assert result.bonus == (record.bonus or (0,) * len(record.seats))
    assert sum(record.bonus is not None for record in faerbeln()) == 40


def test_the_recorded_hands_of_faerbeln_are_evenings_of_three_tables():
    """The deal passes on, p1 of one hand is the last of the next; everything won is on the stacks."""
    tables: dict[str, list[Record]] = defaultdict(list)
    for record in faerbeln():
        tables[record.hand.split("-")[0]].append(record)
    assert sorted(len(records[0].seats) for records in tables.values()) == [3, 5, 7]
    for records in tables.values():
        for before, after in pairwise(records):
            assert before.net is not None
            stacks = tuple(stack + net for stack, net in zip(before.stacks, before.net, strict=True))
            assert (after.seats, after.stacks) == (before.seats[1:] + before.seats[:1], stacks[1:] + stacks[:1])


def has(record: Record, *lines: str) -> bool:
    return all(any(line in act for act in record.acts) for line in lines)


@pytest.mark.parametrize(
    ("what", "found"),
    [
        ("a blind raise in mid-order", lambda record: has(record, " br ")),
        (
            "cards unknown until they are shown",
            lambda record: record.deck is None and has(record, "????", " sm "),
        ),
        ("a last player charged once, then let off", lambda record: record.hand == "T1-000082"),
        (
            "a compulsory raise waived at the cap",
            lambda record: record.hand == "T1-000085" and has(record, "p1 st"),
        ),
        (
            "a besszer that all fold, with a carry",
            lambda record: record.carry > 0 and record.acts[-2].endswith("rb 200"),
        ),
    ],
)
def test_the_extra_hands_have_what_the_evening_lacks(what: str, found: Callable[[Record], bool]):
    assert any(found(record) for record in extra()), what


class TestReading:
    """A record is read strictly."""

    def test_writing_gives_back_what_was_read(self):
        for name, records in (("evening.jsonl", evening()), ("extra.jsonl", extra())):
            lines = (DEMO / name).read_text().splitlines()
            assert [format_record(record) for record in records] == lines

    def test_the_order_of_keys_is_the_writers_not_the_readers(self):
        """The recorded hands of Färbeln name ``bonus`` last, the canonical line does not."""
        lines = (DEMO / "faerbeln.jsonl").read_text().splitlines()
        written = [format_record(record) for record in faerbeln()]
        assert [json.loads(line) for line in written] == [json.loads(line) for line in lines]
        assert [parse_record(line) for line in written] == list(faerbeln())

    @pytest.mark.parametrize("line", ["", "x", "[]", "1", "null", '"chr/1"', SAMPLE[:-1], SAMPLE + "{}", "{" * 100_000])
    def test_what_is_no_object_is_unreadable(self, line: str):
        with pytest.raises(UnreadableRecord):
            parse_record(line)

    @pytest.mark.parametrize(
        "line",
        [
            fields(v=None),
            fields(game=None),
            fields(extra=1),
            fields(deck="".join(PACK), decks=["".join(PACK)]),
            fields(decks="".join(PACK)),
            fields(decks=[]),
            fields(decks={}),
            fields(decks=[["Aa"]]),
            fields(decks=[None]),
            fields(decks=["Aa" * 501]),
            fields(decks=["Aa"] * 10_002),
            fields(series=[]),
            fields(series=1),
            fields(series={"failed": True}),
            fields(series={"failed": 1.0}),
            fields(series={"failed": None}),
            fields(series={"failed": 10**16}),
            fields(series={"a": {"b": [[{}]]}}),
            fields(series={"a": "x" * 65_536}),
            fields(series_out=[]),
            fields(series_out={"a": 0.5}),
            fields(series={"": 1}),
            fields(series={"a b": 1}),
            fields(series={"a" * 81: 1}),
            fields(series={"failed": 1}).replace('"failed": 1', '"failed": 1, "failed": 1'),
            fields(dealer=True),
            fields(dealer="4"),
            fields(dealer=-1),
            fields(carry=0.0),
            fields(carry=10**16),
            fields(seats=["a", "a", "b", "c"]),
            fields(seats=[]),
            fields(seats="abcd"),
            fields(seats=["a", 1, "b", "c"]),
            fields(stacks=[20000, 15000, 9000, True]),
            fields(stacks=[20000, 15000, 9000, -1]),
            fields(stacks=[20000, 15000, 9000, 10**15 + 1]),
            fields(stacks={}),
            fields(acts="p1 po 100"),
            fields(acts=[1]),
            fields(acts=["f"] * 20_001),
            fields(opt=[]),
            fields(hand=""),
            fields(hand="a b"),
            fields(hand="é"),
            fields(hand=7),
            fields(state="00"),
            fields(state="G" * 64),
            fields(net=[1.5]),
            fields(net=3),
            fields(tax=-1),
            fields(deck=["Aa"]),
            fields(commit="x"),
            SAMPLE.replace('"carry":0', '"carry":0,"carry":0'),
            SAMPLE.replace('"vizi":100', '"vizi":100,"vizi":200'),
            SAMPLE.replace('"carry":0', '"carry":NaN'),
            SAMPLE.replace('"carry":0', '"carry":1e3'),
        ],
    )
    def test_a_record_that_is_not_of_the_format_is_malformed(self, line: str):
        with pytest.raises(MalformedRecord):
            parse_record(line)

    def test_decks_hold_the_deck_and_what_was_shuffled_again(self):
        decks = ["".join(PACK), "".join(TURNED[4:]), "".join(PACK[4:])]
        record = parse_record(fields(decks=decks))
        assert (record.deck, record.redeals) == (PACK, (TURNED[4:], PACK[4:]))
        assert (record.setup().deck, record.setup().redeals) == (record.deck, record.redeals)
        assert json.loads(format_record(record))["decks"] == decks
        assert "deck" not in json.loads(format_record(record))

    def test_decks_of_one_are_a_deck(self):
        record = parse_record(fields(decks=["".join(PACK)]))
        assert record == parse_record(fields(deck="".join(PACK)))
        assert json.loads(format_record(record))["deck"] == "".join(PACK)

    def test_a_deck_that_cannot_be_cut_into_cards_is_refused_in_decks_too(self):
        with pytest.raises(CardNotInPack):
            parse_record(fields(decks=["".join(PACK), "Aa7"]))

    def test_a_series_is_part_of_the_setup(self):
        record = parse_record(fields(series={"failed": 2}))
        assert record.setup().series == record.series == {"failed": 2}
        assert parse_record(format_record(record)) == record

    def test_an_empty_series_is_none(self):
        assert parse_record(fields(series={})) == parse_record(SAMPLE)
        assert "series" not in json.loads(format_record(parse_record(fields(series={}))))

    @pytest.mark.parametrize(("line", "code"), [
        (fields(game="poker"), "unknown_game"),
        (fields(rules="ferbli/2"), "malformed_record"),
        (fields(opt={}), "option_missing"),
        (fields(opt={"vizi": True}), "option_out_of_range"),
        (fields(opt={"vizi": 100, "combined_rounds": True}), "unsupported_variant"),
        (fields(opt={"vizi": 100, "luck": 1}), "unknown_option"),
        (fields(opt={"vizi": 9001}), "stack_too_short"),
        (fields(dealer=3), "malformed_setup"),
        (fields(stacks=[1000, 1000]), "malformed_setup"),
        (fields(deck="AaKa"), "card_not_in_pack"),
    ])  # fmt: skip
    def test_a_head_that_cannot_be_played_is_refused_without_an_index(self, line: str, code: str):
        outcome = replay(parse_record(line))
        assert outcome.error and (outcome.error.code, outcome.index) == (code, None)


class TestReplay:
    """Replay never repairs."""

    def test_the_largest_stacks_and_carry_give_a_record_that_can_be_read_again(self):
        most = 10**15
        opt: dict[str, object] = {"vizi": most}
        lines = (f"p1 po {most}", "d dh p1 AaKa", "d dh p2 7a7l", "p2 f")
        hand = resume(Setup("ferbli", opt, 2, (most, most), most, 2), lines)
        assert hand.result and hand.result.carry_out == 3 * most
        record = record_of(hand, hand_id="h", rules_id="ferbli/1", seats=("a", "b"), opt=opt)
        assert replay(parse_record(format_record(record))).ok

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("net", (1800, -300, 0, -1499)),
            ("net", (1800,)),
            ("tax", 1),
            ("bonus", (0, 0, 0, 1)),
            ("carry_out", 5),
            ("state", "0" * 64),
        ],
    )
    def test_a_derived_part_that_disagrees_is_refused(self, key: str, value: object):
        outcome = replay(dataclasses.replace(parse_record(SAMPLE), **{key: value}))
        assert outcome.error and outcome.error.code == "derived_mismatch"
        assert outcome.index is None and outcome.error.expected["key"] == key

    def test_a_log_that_ends_early_is_refused_unless_the_hand_is_being_resumed(self):
        record = parse_record(SAMPLE)
        for length in range(len(record.acts)):
            short = dataclasses.replace(record, acts=record.acts[:length])
            outcome = replay(short)
            assert outcome.error and (outcome.error.code, outcome.index) == ("log_incomplete", length)
            assert replay(short, unfinished=True).ok
        assert not replay(dataclasses.replace(record, acts=record.acts[:3], tax=0), unfinished=True).ok

    def test_what_a_hand_was_started_with_is_in_its_record(self):
        record = parse_record(SAMPLE)
        hand = replay(record).hand
        assert hand
        setup = record.setup()._replace(deck=PACK, redeals=(TURNED[4:],), series={"failed": 1})
        kept = record_of(Started(hand, setup), hand_id="h", rules_id="ferbli/1", seats=record.seats, opt=record.opt)
        assert kept.setup() == setup
        assert parse_record(format_record(kept)) == kept

    def test_a_line_after_the_end_is_refused(self):
        record = parse_record(SAMPLE)
        outcome = replay(dataclasses.replace(record, acts=(*record.acts, "p1 f")))
        assert outcome.error and (outcome.error.code, outcome.index) == ("hand_is_over", len(record.acts))

    def test_a_seed_must_open_the_commitment(self):
        seed = bytes(range(32))
        record = dataclasses.replace(parse_record(SAMPLE), seed=seed.hex())
        assert replay(record).ok
        assert replay(dataclasses.replace(record, commit=commitment(seed, record.hand))).ok
        outcome = replay(dataclasses.replace(record, commit="0" * 64))
        assert outcome.error and outcome.error.code == "commit_mismatch"

    def test_state_covers_the_options_but_not_whether_a_default_is_named(self):
        record = parse_record(SAMPLE)
        states = set()
        for opt in ({"vizi": 100}, {"vizi": 100, "limit": "double"}, {"vizi": 100, "table_max": 10_000}):
            hand = replay(dataclasses.replace(record, opt=opt)).hand
            assert hand
            states.add(hand.digest())
        assert len(states) == 2


class Started:
    """A hand that shows of another set-up than its own."""

    def __init__(self, hand: Hand, setup: Setup) -> None:
        self._hand = hand
        self.setup = setup

    def __getattr__(self, name: str) -> object:
        return getattr(self._hand, name)


def state_as_json(hand: Hand) -> str:
    """The digest as it is defined: of an object, by a writer of JSON."""
    assert isinstance(hand, Hand)
    setup, result = hand.setup, hand.result
    fields: dict[str, object] = {
        "v": "state/1",
        "rules": hand._rules.RULES_ID,
        "opt": hand._rules.non_default,
        "stacks": setup.stacks,
        "carry": setup.carry,
        "deck": None if setup.deck is None else "".join(setup.deck),
        "acts": list(hand.log),
        "result": None,
    }
    if result is not None:
        parts = (result.net, result.tax, result.bonus, result.carry_out, result.ending, result.winner)
        fields["result"] = parts
    if setup.redeals:
        fields["redeals"] = ["".join(cards) for cards in setup.redeals]
    if setup.series:
        fields["series"] = dict(setup.series)
    return sha256_of(fields)


class TestDigest:
    """The digest is written by hand; it must stay the hash of one JSON object."""

    def test_at_every_line_of_a_hand(self):
        for record in (*evening()[::9], *extra(), *faerbeln()[::9]):
            hand = start(record.setup())
            assert hand.digest() == state_as_json(hand)
            for line in record.acts:
                hand.advance(line)
                assert hand.digest() == state_as_json(hand)

    def test_of_every_recorded_hand(self):
        for record in (*evening(), *faerbeln()):
            hand = resume(record.setup(), record.acts)
            assert hand.digest() == state_as_json(hand)

    def test_of_a_known_hand_it_is_what_it_always_was(self):
        hand = replay(parse_record(SAMPLE)).hand
        assert hand and hand.digest() == "57eddc4696f44a83913ce0dd93fe22b61913e85acc6af5b8120836de9f23107a"

    def test_redeals_and_a_series_are_part_of_it_if_there_are_any(self):
        """With none the digest is what it was before records had them."""
        hand = replay(parse_record(SAMPLE)).hand
        assert isinstance(hand, Hand)
        setup, digests = hand.setup, {hand.digest()}
        for changes in ({"series": {"failed": 1}}, {"redeals": (TURNED[4:], PACK[4:])}, {"series": {"failed": 2}}):
            hand._setup = setup._replace(**changes)
            assert hand.digest() == state_as_json(hand)
            digests.add(hand.digest())
        assert len(digests) == 4


def with_state(record: Record) -> Record:
    """The record as a house would keep it, with the digest of its final state."""
    hand = resume(record.setup(), record.acts)
    return record_of(hand, hand_id=record.hand, rules_id=record.rules, seats=record.seats, opt=record.opt)


@pytest.mark.parametrize("corpus", [
    lambda: (*evening()[::12], *extra()[::2], parse_record(SAMPLE)),
    lambda: faerbeln()[::6],
])  # fmt: skip
def test_every_mutant_of_a_log_is_refused(corpus: Callable[[], tuple[Record, ...]]):
    """A line deleted, repeated, swapped or altered: refused at or after the change, or another state."""
    indexed = mismatched = 0
    for record in corpus():
        kept = with_state(record)
        for at in range(len(kept.acts)):
            for acts in mutants(kept.acts, at):
                if acts == kept.acts:
                    continue
                outcome = replay(dataclasses.replace(kept, acts=acts))
                assert isinstance(outcome.error, EngineError), (record.hand, at, acts[at : at + 1])
                if outcome.index is None:
                    assert outcome.error.code == "derived_mismatch"
                    mismatched += 1
                else:
                    assert outcome.index >= at
                    indexed += 1
    assert indexed > 20 * mismatched > 0


def test_a_mutant_without_a_state_never_keeps_the_result_and_moves_other_money():
    for record in (*evening()[1::16], *faerbeln()[1::8]):
        original = resume(record.setup(), record.acts)
        for at in range(len(record.acts)):
            for acts in mutants(record.acts, at):
                outcome = replay(dataclasses.replace(record, acts=acts))
                if outcome.ok and outcome.hand:
                    assert outcome.hand.stacks == original.stacks


def test_a_record_that_was_read_is_like_one_that_was_made():
    """Reading fills a record without its constructor."""
    read = parse_record(fields(series={"failed": 1}, deck="".join(PACK)))
    made = Record(**{field.name: getattr(read, field.name) for field in dataclasses.fields(Record)})
    assert made == read and repr(made) == repr(read)
    with pytest.raises(dataclasses.FrozenInstanceError):
        read.carry = 1  # type: ignore[misc]
    assert parse_record(SAMPLE).series is not parse_record(SAMPLE).series
