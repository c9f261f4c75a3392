"""The referee and the engine say the same: of random hands at every step, and of spoilt logs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.model.compare import VARIANTS, Disagreement, compare_log, one_hand, run
from tests.model.referee import Case, Referee
from tests.model.table import Table

SEEDS = st.integers(0, 2**64).map(str)


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_classic_ferbli(seed: str):
    assert list(one_hand(seed))


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.sets(st.sampled_from(VARIANTS)).map(sorted))
def test_variants_alone_and_together(seed: str, variants: list[str]):
    assert list(one_hand(seed, variants))


@pytest.mark.some_now(3)
@pytest.mark.parametrize("variant", VARIANTS)
def test_each_variant_alone(variant: str):
    seen = run(20, f"alone {variant}", [variant])
    assert seen["hands"] == 20
    assert seen["spoilt, refused"] > seen["spoilt, accepted"] > 0


@pytest.mark.slow
def test_the_random_hands_reach_every_ending_and_every_verb():
    seen = run(150, "reach", VARIANTS, spoil=0)
    endings = ("cukassza", "all_checked", "uncontested", "showdown", "cuhhol", "cuhhkassza", "cuhhkassza_left")
    verbs = ["po", "dh", "cc", "f", "k", "rb", "ks", "lk", "br", "st", "sm", "up", "cu", "in", "mj", "rv"]
    missing = {f"ending {name}" for name in endings} | {f"verb {name}" for name in verbs}
    assert missing <= set(seen)


def test_the_tax_is_on_all_pots_together():
    """Pots of 993 and 32: 5 % is 51, in chips of 50 one chip, for which the side pot alone is too small."""
    opt = {"vizi": 100, "chip": 50, "tax_bps": 500, "tax_cap": 70, "short_stack": "side_pot"}
    acts = [
        *("p1 po 100", "d dh p1 9b7b", "d dh p2 KlKb", "d dh p3 UhOh", "p2 cc 100", "p3 cc 100"),
        *("p1 rb 200", "p2 cc 200", "p3 cc 200", "p3 k", "d dh p1 OlXh", "d dh p2 8h7a", "d dh p3 8b9h"),
        *("p1 lk 2", "p1 rb 400", "p2 cc 31", "p3 cc 47", "p1 sm 9b7bOlXh", "p2 sm KlKb8h7a", "p3 sm UhOh8b9h"),
    ]
    assert compare_log(Case(opt, [2874, 331, 347]), acts) is None


def test_a_referee_that_counts_otherwise_is_noticed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Table, "best_of", lambda table, seats: max(seats))
    with pytest.raises(Disagreement, match="result"):
        run(200, "wrong winner", spoil=0)


def test_a_referee_that_lets_everything_pass_is_noticed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Referee, "accepts", lambda self, line: True)
    case = Case({"vizi": 100}, [1_000, 1_000])
    with pytest.raises(Disagreement, match="wrong line"):
        compare_log(case, ["p1 po 100", "p1 po 100"])
