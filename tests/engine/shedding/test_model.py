"""Esel, Pacal and Old Maid beside their independent referees: recorded deals, spoilt logs, every line of random deals.

The referees (:mod:`tests.model.shedding`) share no code with the engine. Cards that nobody knows (``??``) are not their
business.
"""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest

from engine.kernel.cards import TELL32, UNKNOWN
from engine.play import Sitting, play_evening
from engine.record.format import format_record, parse_object, parse_record, record_from
from engine.record.replay import replay
from engine.registry import game_info, start
from tests.engine.deals import accepted, first_fault, lines_on_offer
from tests.engine.shedding.shedding_kit import OPTIONS, REFEREES, example, records, spoilt_logs
from tests.model.shedding import Fan, Reader, judge, random_record

GAMES = tuple(REFEREES)
EXAMPLES = {"esel": "E2-000029", "pacal": "P2-000001", "old_maid": "M1-000003"}
EVERYTHING = {
    "esel": [f"p{seat} gv {card}" for seat in range(1, 5) for card in (*TELL32.cards, UNKNOWN)] + ["d vd"],
    "pacal": [f"p{seat} {verb} {card}" for seat in range(1, 5) for verb in ("pl", "up") for card in TELL32.cards]
    + [f"p{seat} ts {suit}" for seat in range(1, 5) for suit in "albh"]
    + [f"d up {card}" for card in TELL32.cards],
    "old_maid": [f"p{seat} dr {place}" for seat in range(1, 7) for place in range(12)]
    + [
        f"p{seat} ds {rank}{one}{rank}{other}"
        for seat in range(1, 7)
        for rank in "AU7"
        for one in "al"
        for other in "bh"
    ]
    + ["d rm Ua", "d rm Ub", "d rm ??"],
}
SAID = [f"p{seat} {said}" for seat in range(1, 7) for said in ("sh", "ps", "au", "sh AaKa")]
SAID += [f"d dh p{seat} {cards}" for seat in range(1, 7) for cards in ("Aa", "7h", "AaKaOaUaXa", UNKNOWN)]


@pytest.mark.parametrize("game", GAMES)
def test_recorded_deals_replay_to_the_same(game: str):
    for record in records(game):
        outcome = replay(record_from(copy.deepcopy(record)))
        assert outcome.ok and outcome.hand and outcome.hand.result, (record["hand"], outcome.error)
        result = outcome.hand.result
        assert list(result.net) == record["net"] and dict(result.series) == record["series_out"]
        assert (result.tax, result.carry_out, any(result.bonus), result.winner) == (0, 0, False, 0)
        assert judge(REFEREES[game], record).ok
        assert format_record(parse_record(format_record(record_from(record)))) == format_record(record_from(record))


@pytest.mark.parametrize("game", GAMES)
def test_a_result_that_differs_is_refused_behind_the_log(game: str):
    record = example(game, EXAMPLES[game])
    for key, value in (("net", [1, 1, 1, -3]), ("tax", 1), ("carry_out", 1), ("series_out", {})):
        spoilt = record | {key: value}
        assert first_fault(spoilt) == judge(REFEREES[game], spoilt).index == len(record["acts"])
    for key in record["series_out"]:
        spoilt = copy.deepcopy(record)
        spoilt["series_out"][key] = "x"
        assert first_fault(spoilt) == judge(REFEREES[game], spoilt).index == len(record["acts"])
    bare = {key: value for key, value in record.items() if key not in ("net", "tax", "carry_out", "series_out")}
    assert first_fault(bare) is None


@pytest.mark.some_now(3)
@pytest.mark.parametrize("game", GAMES)
def test_spoilt_logs_are_refused_where_the_referee_refuses_them(game: str):
    refused = 0
    for record in records(game)[::3]:
        for acts in spoilt_logs(record["acts"], Random(record["hand"]), min(0.2, 0.8 / len(record["acts"]))):
            spoilt = {**record, "acts": acts}
            found, expected = first_fault(spoilt), judge(REFEREES[game], spoilt)
            assert found == expected.index, (record["hand"], acts[: (expected.index or 0) + 1][-3:], expected.reason)
            refused += found is not None
    assert refused > 400


@pytest.mark.parametrize("game", GAMES)
def test_a_log_cut_short_is_refused_at_its_end(game: str):
    record = example(game, EXAMPLES[game])
    for end in range(len(record["acts"])):
        spoilt = {**record, "acts": record["acts"][:end]}
        assert first_fault(spoilt) == judge(REFEREES[game], spoilt).index == end


HEADERS: tuple[dict[str, Any], ...] = (
    {"opt": {"forfeit": -1}}, {"opt": {"forfeit": True}}, {"opt": {"forfeit": 1, "x": 2}}, {"opt": {"forfeit": "1"}},
    {"opt": {"forfeit": 1, "max_passes": 0, "max_plies": 0, "max_turns": 0}}, {"series": {}}, {"carry": 100},
    {"dealer": 3}, {"stacks": [10**6] * 3}, {"stacks": [0, 0, 0, 0]}, {"seats": ["a", "b", "c", "d"]}, {"deck": "Oa7h"},
    {"rules": "esel/2"}, {"game": "zsiros"}, {"hand": ""}, {"decks": ["Oa"]},
)  # fmt: skip


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("changed", HEADERS, ids=str)
def test_a_fault_before_the_log_is_one_for_both(game: str, changed: dict[str, Any]):
    record = example(game, EXAMPLES[game])
    record["opt"] = record["opt"] | {"forfeit": 5}
    record |= changed
    assert first_fault(record) == judge(REFEREES[game], record).index == -1


@pytest.mark.parametrize("game", GAMES)
def test_a_series_of_another_shape_is_a_fault_before_the_log(game: str):
    record = example(game, EXAMPLES[game])
    series = record["series"]
    changes: list[dict[str, Any]] = [{"lost": lost} for lost in ([0] * 3, [0, 0, 0, -1], [0, 0, 0, True], "0", None)]
    changes += [
        {"order": series["order"][::-1]},
        {"order": series["order"][:3]},
        {"deals": record["seats"][0]},
        {"x": 1},
    ]
    if game == "pacal":
        changes += [{"trumps": trumps} for trumps in ("a", "albb", "ALBH", ["a", "l", "b", "h"], None, 0, "albha")]
    for changed in changes:
        spoilt = {**record, "series": series | changed}
        assert first_fault(spoilt) == judge(REFEREES[game], spoilt).index == -1, changed
    for key in series:
        spoilt = {**record, "series": {name: value for name, value in series.items() if name != key}}
        assert first_fault(spoilt) == judge(REFEREES[game], spoilt).index == -1, key


def follow(game: str, record: dict[str, Any], random: Random) -> int:
    """Play the record's lines; at every step all that is on offer is what the referee takes, and nothing else is
    accepted. Returns how many lines were compared."""
    hand = start(record_from(copy.deepcopy(record)).setup())
    reader, compared = Reader(REFEREES[game](record)), 0
    for line in record["acts"]:
        expected = reader.next
        if isinstance(expected, Fan):
            [offer] = hand.legal()
            others = {expected.some(random), expected.some(random), *random.sample(SAID, 4)}
            assert all(offer.contains(other) == expected.takes(other) == accepted(hand, other) for other in others)
        else:
            assert expected is not None
            found = {said for said in lines_on_offer(hand) if not said.endswith(" au") or hand.timed}
            assert {said for said in found if " gv ??" not in said} == expected, (hand.log, found ^ expected)
            compared += len(expected)
            for other in random.sample(EVERYTHING[game] + SAID, 6):
                assert accepted(hand, other) == (other in expected), (hand.log, other)
        assert reader.takes(line)
        hand.advance(line)
    assert hand.over and reader.next is None
    return compared


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("number", range(8))
def test_random_deals_of_the_referee_line_by_line(game: str, number: int):
    random = Random(number)
    record = random_record(REFEREES[game], random, clock=0.1)
    assert first_fault(record) is None
    assert follow(game, record, random) > 8


@pytest.mark.some_now(3)
@pytest.mark.parametrize("game", GAMES)
def test_many_random_deals_of_the_referee_replay(game: str):
    for number in range(100, 200):
        record = random_record(REFEREES[game], Random(number))
        assert first_fault(record) is None, record


@pytest.mark.parametrize("game", GAMES)
def test_random_evenings_of_the_engine_are_good_to_the_referee(game: str):
    """Records of evenings, each going on from the one before; the referee says the same of all of them."""
    info, endings = game_info(game), set()
    for number, opt in enumerate(OPTIONS[game]):
        seats = (info.seats_allowed or (2, 5, 3))[number % 3 if not info.seats_allowed else 0]
        before: dict[str, Any] | None = None
        for record in play_evening(Sitting(game, dict(opt), seats, 10_000, 600), hands=12, seed=str(opt)):
            fields = parse_object(format_record(record))
            verdict = judge(REFEREES[game], fields)
            assert verdict.ok, verdict
            assert list(verdict.net or ()) == fields["net"] and verdict.series_out == fields["series_out"]
            endings.add(fields["series"] == fields["series_out"])
            if before is not None:
                order, deals = before["series_out"]["order"], before["series_out"]["deals"]
                first = order.index(deals) + 1
                assert fields["series"] == before["series_out"] and fields["seats"] == order[first:] + order[:first]
            before = fields
    assert False in endings
