"""A game of the engine held against its model of ``tests/model``: results, every line on offer, and spoilt logs."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from engine.kernel.cards import TELL32, Pack
from engine.kernel.hand import Hand
from engine.play import play_hand
from engine.record.format import format_record, parse_record, record_from, record_of
from engine.record.replay import replay
from engine.registry import game_info, start
from tests.engine.deals import accepted, first_fault, lines_on_offer, recorded, spoilt_logs
from tests.model.course import Model, Question, Referee


@dataclass(frozen=True)
class Match:
    """A game and its model. ``sayings``: what else a seat might say in a spoilt log; ``example``: the hand that the
    description of the log reads line by line."""

    game: str
    model: Model
    sayings: tuple[str, ...]
    example: str
    pack: Pack = TELL32

    def sample(self) -> tuple[dict[str, Any], ...]:
        """The recorded deals."""
        return recorded(self.game)

    def one(self) -> dict[str, Any]:
        """The record of the example."""
        return copy.deepcopy(next(record for record in self.sample() if record["hand"] == self.example))

    # -- results -----------------------------------------------------------------------------------------------------

    def require_recorded(self, record: dict[str, Any]) -> None:
        """A recorded deal replays to what it came to, for both."""
        outcome = replay(record_from(copy.deepcopy(record)))
        assert outcome.ok and outcome.hand and outcome.hand.result, outcome.error
        result = outcome.hand.result
        assert list(result.net) == record["net"] and dict(result.series) == record["series_out"]
        assert (result.tax, result.carry_out, any(result.bonus)) == (0, 0, False)
        verdict = self.model.judge(record)
        assert verdict.ok, verdict

    def require_random(self, numbers: range) -> None:
        """Random deals of the model are good to the engine, and random deals of the engine to the model."""
        for number in numbers:
            random = Random(f"{self.game}/{number}")
            theirs = self.model.random_record(random, physical=number % 4 == 3)
            assert first_fault(theirs) is None, json.dumps(theirs)
            mine = self.played(random)
            verdict = self.model.judge(mine)
            assert verdict.ok, (verdict, json.dumps(mine))

    def played(self, random: Random) -> dict[str, Any]:
        """A deal that the engine has played at a random table of the model."""
        head = record_from(self.model.head(random))
        hand = play_hand(head.setup(), random)
        assert hand.result and sum(hand.result.net) == 0 == hand.pot and min(hand.stacks) >= 0
        rules = game_info(self.game).rules_id
        record = record_of(hand, hand_id="M-1", rules_id=rules, seats=head.seats, opt=dict(head.opt))
        line = format_record(record)
        assert parse_record(line) == record
        fields: dict[str, Any] = json.loads(line)
        return fields

    # -- lines -------------------------------------------------------------------------------------------------------

    def follow(self, record: Mapping[str, Any], random: Random, everything: Sequence[str]) -> int:
        """Play the record's lines; at every step all that is on offer is what the model takes, and of ``everything``
        that might be said nothing else is accepted. Returns how many lines were compared."""
        hand = start(record_from(copy.deepcopy(dict(record))).setup())
        referee, compared = Referee(self.model.course(record)), 0
        for line in record["acts"]:
            if isinstance(referee.open, Question):
                expected = referee.lines()
                assert lines_on_offer(hand) == expected, (hand.log, lines_on_offer(hand) ^ expected)
                compared += len(expected)
                self.require_clock(hand, referee)
                for other in random.sample(everything, 12):
                    assert accepted(hand, other) == (other in expected), (hand.log, other)
            assert referee.accepts(line)
            hand.advance(line)
        assert hand.over and not referee.lines()
        return compared

    def require_clock(self, hand: Hand, referee: Referee) -> None:
        """The automatic act is the same for both."""
        assert isinstance(referee.open, Question)
        if referee.open.seat:
            assert hand.automatic() == referee.open.auto, hand.log

    # -- what is wrong -----------------------------------------------------------------------------------------------

    def require_refused(self, record: dict[str, Any], share: float, least: int) -> None:
        """Spoilt logs are refused where the model refuses them; at least so many are refused at all."""
        refused = 0
        random = Random(record["hand"])
        for acts in spoilt_logs(record["acts"], random, share, pack=self.pack, sayings=self.sayings):
            spoilt = {**record, "acts": acts}
            found, verdict = first_fault(spoilt), self.model.judge(spoilt)
            assert found == verdict.index, (acts, verdict)
            refused += found is not None
        assert refused > least

    def require_whole(self, record: dict[str, Any]) -> None:
        """A log cut short is refused at its end, one that goes on behind it, and a result that differs behind the
        log."""
        acts = record["acts"]
        for end in range(len(acts)):
            assert first_fault({**record, "acts": acts[:end]}) == end
        for line in ("p1 ps", "p1 au", acts[-1], "d dh p1 Aa"):
            assert first_fault({**record, "acts": [*acts, line]}) == len(acts)
        other = [amount + (100 if at == 0 else -100 if at == 1 else 0) for at, amount in enumerate(record["net"])]
        for key, value in {"net": other, "tax": 1, "carry_out": 1, "series_out": record["series"] | {"x": 1}}.items():
            spoilt = {**record, key: value}
            assert first_fault(spoilt) == self.model.judge(spoilt).index == len(acts), key
        without = {key: value for key, value in record.items() if key not in ("net", "tax", "carry_out", "series_out")}
        assert first_fault(without) is None and self.model.judge(without).ok

    def require_head_fault(self, changed: dict[str, Any]) -> None:
        """A fault before the log is one for both."""
        record = self.one() | changed
        assert first_fault(record) == self.model.judge(record).index == -1
