"""The exact end of a hand, against plain minimax and against what was played."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from random import Random

import pytest

from engine.__main__ import main
from engine.best_play import NET, TRICKS, best_play, choices, last_cards
from engine.errors import MalformedSetup, SearchTooLarge
from engine.kernel.hand import Hand
from engine.play import Sitting, play_evening
from engine.record.format import Record, format_record
from engine.registry import game_info, resume, start
from tests.engine.any_game import GAMES, records

TRICK_GAMES = [name for name in GAMES if "trick" in start(records(name)[0].setup()).view("public")]


def deals(game: str, hands: int = 6) -> list[Record]:
    """Random deals with known cards."""
    info = game_info(game)
    seats = max(info.seats_allowed or (info.min_seats,))
    opt = info.resolve(info.example, seats, ())
    least = info.rules.parse(opt, seats).least_stack
    return list(play_evening(Sitting(game, opt, seats, 20 * least or 1, least), hands=hands, seed="best"))


def endings(game: str, cards: int) -> list[tuple[Hand, Record]]:
    """The deals as far as they leave a seat on turn, no card to deal and at most so many cards in all hands; those that
    end before are left out."""
    found = []
    for record in deals(game):
        hand = resume(record.setup(), ())
        for line in record.acts:
            held = sum(len(hand.held(seat)) for seat in range(1, hand.setup.seats + 1))
            if " pl " in line and held <= cards and hand.actor not in (None, "d"):
                found.append((hand, record))
                break
            hand.advance(line)
    return found


def worth(hand: Hand, seats: Collection[int], of: str) -> int:
    """What these seats have got by now."""
    if of == TRICKS:
        return sum(hand.tricks(seat) for seat in seats)
    return sum(hand.stacks[seat - 1] - hand.setup.stacks[seat - 1] for seat in seats)


def minimax(hand: Hand, seats: Collection[int], of: str) -> int:
    """The value by trying everything."""
    while not hand.over and (line := hand.forced()) is not None:
        hand.advance(line)
    if hand.over:
        return worth(hand, seats, of)
    values = []
    for line in choices(hand):
        after = hand.copy()
        after.advance(line)
        values.append(minimax(after, seats, of))
    assert hand.actor
    return max(values) if int(hand.actor[1:]) in seats else min(values)


@pytest.mark.parametrize("of", [TRICKS, NET])
@pytest.mark.parametrize("game", TRICK_GAMES)
def test_it_is_what_trying_everything_gives(game: str, of: str):
    tried = 0
    for hand, _ in endings(game, 2 * deals(game)[0].setup().seats):
        for seats in ({1}, {2, 4}) if hand.setup.seats == 4 else ({1},):
            assert best_play(hand, seats, of).worth == minimax(hand.copy(), seats, of)
            tried += 1
    assert tried


@pytest.mark.some_now(2)
@pytest.mark.parametrize("game", TRICK_GAMES)
def test_its_lines_lead_to_its_worth_and_nobody_does_better_alone(game: str):
    for hand, _ in endings(game, 2 * deals(game)[0].setup().seats):
        for seat in range(1, hand.setup.seats + 1):
            best = best_play(hand, {seat}, NET)
            end = hand.copy()
            end.advance_all(best.lines)
            assert end.over and worth(end, {seat}, NET) == best.worth
            # Whatever the others do instead, the seat that plays its best does not come off worse.
            assert played_at_random_against(hand, seat) >= best.worth


def played_at_random_against(hand: Hand, seat: int) -> int:
    """What the seat makes if it plays its best and the others anything."""
    random, now = Random(seat), hand.copy()
    while not now.over:
        forced = now.forced()
        if forced is None and now.actor == f"p{seat}":
            forced = best_play(now, {seat}, NET).lines[0]
        now.advance(forced or random.choice(list(choices(now))))
    return worth(now, {seat}, NET)


@pytest.mark.long
def test_the_last_five_tricks_of_barbu_are_counted():
    found = endings("barbu", 20)[:2]
    for hand, _ in found:
        best = best_play(hand, {1, 3})
        assert worth(hand, {1, 3}, TRICKS) <= best.worth <= 13
        others = best_play(hand, {2, 4})
        if hand.phase == "tricks" and "notricks" in str(hand.log):
            assert best.worth + others.worth == 13
    assert len(found) == 2


def test_it_leaves_the_hand_alone():
    [(hand, _), *_] = endings("barbu", 8)
    before = hand.log
    best_play(hand, {1})
    assert hand.log == before


def test_what_cannot_be_searched_is_refused():
    [(hand, _), *_] = endings("barbu", 20)
    with pytest.raises(SearchTooLarge):
        best_play(hand, {1}, most=3)
    for game in {*GAMES} - {*TRICK_GAMES}:
        with pytest.raises(MalformedSetup):
            best_play(start(records(game)[0].setup()), {1})
    for seats in ((), (5,), (0, 1)):
        with pytest.raises(MalformedSetup):
            best_play(hand, seats)
    unknown = hand.setup._replace(deck=None)
    with pytest.raises(MalformedSetup):
        best_play(resume(unknown, ()), {1})


def test_the_command_says_what_can_be_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    records = [record for record in deals("barbu") if any(" cl trumps" in line for line in record.acts)] or deals(
        "barbu"
    )
    path = tmp_path / "deals.jsonl"
    path.write_text("".join(f"{format_record(record)}\n" for record in records[:1]))
    assert main(["best", str(path), "--seats", "p1,p3", "--cards", "3"]) == 0
    shown = json.loads(capsys.readouterr().out)
    hand = last_cards(records[0], 3)
    if hand is None:
        assert shown == {"hand": records[0].hand, "line": None}
    else:
        best = best_play(hand, {1, 3})
        assert shown["p1 p3"] == {"worth": best.worth, "lines": list(best.lines)} and shown["line"] == len(hand.log)
    assert main(["best", str(path), "--cards", "2", "--net"]) == 0
    path.write_text(format_record(records[0]).replace("pl", "lp", 1) + "\n")
    assert main(["best", str(path)]) == 1
    with pytest.raises(SystemExit):
        main(["best", str(path), "--seats", "p1-p3"])
