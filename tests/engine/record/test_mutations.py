"""Every way to tamper with a record is found, and found where it was done.

The corpus has hands of every option, electronic and physical, and of the recorded evenings. Each line of each is
deleted, repeated, swapped with the next, and altered in every part: actor, verb, amount, target, every card, commitment
and nonce. :class:`tests.engine.offers.Watch` says, from the list of legal actions and from the cards on the table
alone, which line of the mutant is the first that is not on offer. Then exactly one of these must hold:

- there is such a line, and replay refuses the record at its index;
- all lines are on offer, but the hand is not over: the log is incomplete, at the index one past its end;
- all are on offer and the hand is over: another history, as legal as the one recorded. Then the record's ``state``,
  which covers set-up, log and result, disagrees: ``derived_mismatch``, without an index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from engine.kernel.cards import UNKNOWN, split_cards
from engine.kernel.hand import Hand
from engine.kernel.setup import Setup
from engine.record.format import Record, record_of
from engine.record.replay import replay
from engine.registry import game_info, resume, start
from engine.vying.ferbli import GRAMMAR as FERBLI
from tests.engine.chance import HANDS, played
from tests.engine.offers import Watch
from tests.engine.scenarios import SCENARIOS
from tests.engine.support import evening, extra, faerbeln, play, shuffled

OPTIONS: tuple[dict[str, object], ...] = (
    {},
    {"cukassza_call": "megadas_eldobas"},
    {"force_third_deal": True},
    {"majzli_max": 300},
    {"majzli_max": 200, "bet_unit": "chip", "chip": 25, "force_third_deal": True},
    {"show_two": True},
    {"show_two": True, "limit": "none", "table_max": 700},
    {"cuhhol": True},
    {"cuhhol": True, "show_two": True, "wild": ["Oa", "7h"]},
    {"cuhhol": True, "short_stack": "side_pot"},
    {"limit": "triple", "wild": ["Oa"]},
    {"grigare": "general"},
    {"grigare": "kis_nagy", "raise_cap": 2},
    {"short_stack": "side_pot", "tax_bps": 500, "tax_cap": 100},
)
FAERBELN: tuple[dict[str, object], ...] = (
    {},
    {"short_stack": "side_pot"},
    {"bonus41_for": "uncontested"},
    {"showdown": "any_call", "check_allowed": False},
)


def kept(hand: Hand, name: str) -> Record:
    """The record as a house would keep it."""
    setup = hand.setup
    names = tuple(f"s{seat}" for seat in range(1, setup.seats + 1))
    rules = game_info(setup.game).rules_id
    return record_of(hand, hand_id=name, rules_id=rules, seats=names, opt=dict(setup.opt))


def random_record(game: str, opt: dict[str, object], number: int) -> Record:
    """One hand at a table with these options."""
    random = Random(f"{opt}/{number}")
    seats = random.randint(2 if game == "ferbli" else 3, 4)
    least = 300 if game == "ferbli" else 700
    stacks = tuple(random.randint(least, random.choice([800, 4000])) for _ in range(seats))
    carry = random.choice([300, 600]) if game == "ferbli" else 0
    series = {"failed": 2} if opt.get("force_third_deal") else {}
    base: dict[str, object] = {"vizi": 100}
    if game == "faerbeln":
        base = {"ante": 200, "lower": 500, "round2_unit": "lower", "bonus41": 5000, "tax_cap": 100}
    setup = Setup(game, base | opt, seats, stacks, carry, seats, shuffled(random), series=series)
    return kept(played(setup, random), f"{game}-{number}")


def physical(record: Record, random: Random) -> Record:
    """The same hand as the dealer of a real pack would type it: no deck, and about half of the face-down cards
    unknown."""
    lines, opened = [], False
    for line in record.acts:
        opened = opened or " cu " in line
        if " dh " in line and not opened:
            *words, cards = line.split(" ")
            hidden = [UNKNOWN if random.random() < 0.5 else card for card in split_cards(cards)]
            line = " ".join([*words, "".join(hidden)])
        lines.append(line)
    hand = resume(record.setup()._replace(deck=None, redeals=()), lines)
    return kept(hand, f"{record.hand}-physical")


@cache
def corpus(part: str) -> tuple[Record, ...]:
    """Records by where they come from."""
    if part == "scenarios":
        return tuple(kept(resume(scenario.setup, log_of(scenario.name)), scenario.name) for scenario in SCENARIOS)
    if part == "recorded":
        sample = (*evening()[::64], *extra()[::6], *faerbeln()[::60])
        return tuple(replace(record, state=resume(record.setup(), record.acts).digest()) for record in sample)
    game, options = ("ferbli", OPTIONS) if part.startswith("ferbli") else ("faerbeln", FAERBELN)
    records = [random_record(game, opt, number) for opt in options for number in range(2)]
    records += [redealt_record(opt) for opt in options if opt.get("cuhhol")]
    return tuple(records) if "physical" not in part else tuple(physical(record, Random(1)) for record in records[1::2])


def redealt_record(opt: dict[str, object]) -> Record:
    """A hand in which packs were dealt face up, more than one of them."""
    return next(record for number in range(9000) if len((record := random_record("ferbli", opt, number)).redeals) > 1)


def log_of(name: str) -> tuple[str, ...]:
    """All lines of a playthrough."""
    [scenario] = [scenario for scenario in SCENARIOS if scenario.name == name]
    return play(start(scenario.setup), *scenario.lines).log


def log_mutants(lines: tuple[str, ...], at: int, seats: int, pack: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The log with line ``at`` deleted, repeated, swapped with the next, or altered in one part."""
    yield lines[:at] + lines[at + 1 :]
    yield lines[: at + 1] + lines[at:]
    if at + 1 < len(lines):
        yield (*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :])
    for altered in line_mutants(lines[at], seats, pack):
        yield (*lines[:at], altered, *lines[at + 1 :])


def line_mutants(line: str, seats: int, pack: tuple[str, ...]) -> Iterator[str]:
    """The line with another actor, verb, amount, target, card or code."""
    action = FERBLI.parse(line)
    actor, verb, *rest = line.split(" ")
    yield from (" ".join([other, verb, *rest]) for other in ("d", *(f"p{seat}" for seat in range(1, seats + 1))))
    for other in ("cc", "rb", "br", "po", "lk", "rv", "f", "k", "st", "in", "sm", "up", "cu"):
        yield " ".join([actor, other, *rest])
    yield " ".join([actor, "f"])
    amount = action.amount
    for other in {0, 1, amount - 100, amount - 1, amount + 1, amount + 100, 2 * amount, 10**9}:
        if amount and other >= 0:
            yield line.replace(f" {amount}", f" {other}", 1)
    for seat in range(1, seats + 2):
        if action.target:
            yield line.replace(f" p{action.target}", f" p{seat}")
    yield from card_mutants(line, action.cards, pack)
    if action.code and action.code != UNKNOWN:
        yield line.replace(action.code, action.code[::-1])
        yield line.replace(action.code, UNKNOWN)
        yield line.removesuffix(f" {action.code}")
        yield line.replace(action.code, action.code[:-1] + ("0" if action.code[-1] != "0" else "1"))
    elif verb in ("mj", "rv"):
        yield line.replace(UNKNOWN, "0" * 64)
        yield f"{line} {'0' * 32}"


def card_mutants(line: str, cards: tuple[str, ...], pack: tuple[str, ...]) -> Iterator[str]:
    """Every card replaced by another, by an unknown one, left out or doubled; two cards swapped."""
    for at, card in enumerate(cards):
        near = pack[(pack.index(card) + 1) % 32] if card in pack else pack[at]
        far = pack[(pack.index(card) + 13) % 32] if card in pack else pack[16 + at]
        for new in ((near,), (far,), (UNKNOWN,), (), (card, card), ("Zz",)):
            changed = "".join((*cards[:at], *new, *cards[at + 1 :]))
            yield line.replace("".join(cards), changed) if changed else line.removesuffix("".join(cards))
    if len(cards) > 1:
        yield line.replace("".join(cards), "".join(cards[::-1]))


def require_found(record: Record, acts: tuple[str, ...], seen: Counter[str]) -> None:
    """Replay finds the mutant as the module's docstring says."""
    watch = Watch(record.setup())
    expected = watch.first_not_offered(acts)
    outcome = replay(replace(record, acts=acts))
    assert outcome.error is not None, (record.hand, acts)
    if expected is not None:
        kind = "refused"
    elif not watch.hand.over:
        kind, expected = "incomplete", len(acts)
        assert outcome.error.code == "log_incomplete"
    else:
        kind = "another history"
        assert outcome.error.code == "derived_mismatch"
    assert outcome.index == expected, (record.hand, acts, outcome.error)
    seen[kind] += 1


@pytest.mark.parametrize("part", [
    "faerbeln physical",
    *(pytest.param(part, marks=pytest.mark.long) for part in ("scenarios", "recorded", "ferbli", "ferbli physical",
                                                              "faerbeln")),
])  # fmt: skip
def test_every_mutant_of_a_log_is_found_where_it_departs_from_what_is_legal(part: str):
    seen: Counter[str] = Counter()
    for record in corpus(part):
        assert replay(record).ok, record.hand
        pack = game_info(record.game).pack_for(record.opt).cards
        for at in range(len(record.acts)):
            for acts in set(log_mutants(record.acts, at, len(record.seats), pack)) - {record.acts}:
                require_found(record, acts, seen)
    assert min(seen["refused"], seen["another history"]) > 0 and seen["refused"] > 10 * seen["another history"], seen


def deck_mutants(deck: tuple[str, ...], random: Random) -> Iterator[tuple[str, ...]]:
    """Each card swapped with the next and with one far off; replaced by one that is there already; left out."""
    for at in range(len(deck)):
        for other in ((at + 1) % len(deck), random.randrange(len(deck))):
            swapped = list(deck)
            swapped[at], swapped[other] = swapped[other], swapped[at]
            yield tuple(swapped)
        yield (*deck[:at], deck[at - 1], *deck[at + 1 :])
        yield deck[:at] + deck[at + 1 :]


@pytest.mark.long
def test_every_mutant_of_a_deck_or_of_a_redeals_pack_is_found():
    """A deck that is no whole pack cannot be played with; an altered order shows where the card is dealt, and in the
    state if it never is."""
    seen: Counter[str] = Counter()
    random = Random(5)
    records = [record for part in ("scenarios", "ferbli", "faerbeln") for record in corpus(part)]
    for record in records:
        for number, pack in enumerate((record.deck or (), *record.redeals)):
            for mutant in set(deck_mutants(pack, random)) - {pack}:
                packs = [record.deck or (), *record.redeals]
                packs[number] = mutant
                changed = replace(record, deck=packs[0], redeals=tuple(packs[1:]))
                if number == 0 and len(set(mutant)) < len(pack):
                    outcome = replay(changed)
                    assert outcome.error and (outcome.error.code, outcome.index) == ("card_not_in_pack", None)
                    seen["no pack"] += 1
                else:
                    require_found(changed, record.acts, seen)
    assert min(seen["no pack"], seen["refused"], seen["another history"]) > 100, seen


def test_packs_added_or_left_out_are_found():
    """Too few packs: refused where the first card of the missing one is dealt. Too many: refused at the end."""
    redealt = [record for part in ("scenarios", "ferbli") for record in corpus(part) if record.redeals]
    assert len(redealt) > 2
    for record in redealt:
        fewer = replay(replace(record, redeals=record.redeals[:-1]))
        line = len(record.acts) - len(record.seats)
        assert fewer.error and (fewer.error.code, fewer.index) == ("deck_missing", line)
        more = replay(replace(record, redeals=(*record.redeals, record.redeals[-1]), state=None))
        assert more.error and (more.error.code, more.index) == ("malformed_record", None)
        assert more.error.expected == {"spare": 1}


@pytest.mark.long
def test_every_mutant_of_what_stands_before_the_log_is_found():
    """Stacks, money carried in, series and options: refused, or another state."""
    for record in (*corpus("scenarios"), *corpus("ferbli")):
        changes = [{"carry": record.carry + 100}, {"stacks": (record.stacks[0] + 1, *record.stacks[1:])}]
        changes += [{"stacks": record.stacks[::-1]}] if record.stacks != record.stacks[::-1] else []
        changes += [{"series": {"failed": 1}}, {"series": {"failed": 7}}, {"opt": record.opt | {"chip": 5}}]
        changes += [{"opt": record.opt | change} for change in HANDS[4:7] if not change.items() <= record.opt.items()]
        for change in changes:
            if change == {"series": record.series}:
                continue
            outcome = replay(replace(record, **change))  # type: ignore[arg-type]
            assert outcome.error is not None, (record.hand, change)


def test_the_corpus_holds_every_verb_and_every_ending():
    lines = [line for part in ("scenarios", "ferbli", "faerbeln") for record in corpus(part) for line in record.acts]
    found = {line.split()[1] for line in lines}
    assert found >= set(game_info("ferbli").verbs) | set(game_info("faerbeln").verbs)
    endings = set()
    for record in (*corpus("scenarios"), *corpus("ferbli")):
        hand = replay(record).hand
        endings.add(hand.result.ending if hand and hand.result else "")
    assert endings == {
        "cukassza", "all_checked", "uncontested", "showdown", "cuhhol", "cuhhkassza", "cuhhkassza_left",
    }  # fmt: skip
