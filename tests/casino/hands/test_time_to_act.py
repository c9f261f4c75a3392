"""The time to act: set by the floor, run by PostgreSQL's clock; the automatic act is played exactly once."""

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import IntegrityError, connections, transaction

import engine
from casino.audit import guard, verifier
from casino.core.errors import LogRolledBack
from casino.core.patience import Busy
from casino.hands import automatic, clock, selectors, tasks
from casino.hands.clock import Overdue
from casino.hands.models import Hand, HandLine, HandState
from casino.hands.terms import set_up_table
from casino.houses.models import House
from casino.reports.verifying import verification
from casino.settings import CELERY_BEAT_SCHEDULE
from casino.staff.models import Role, TerminalKind
from casino.tables.models import CarryoverOnClose, Table
from casino.tables.services import Terms
from casino.verification.replaying import verify as verify_hands
from engine.kernel.setup import Setup
from engine.record.format import parse_record
from engine.record.replay import replay
from tests.casino.core.test_concurrency import at_once
from tests.casino.devices import code, events
from tests.casino.kit import ACTOR, FAERBELN, FERBLI, MISDEAL, Desk, Kit
from tests.casino.superuser import unguarded
from tests.casino.transfers.test_transfers import floor_at
from tests.engine.support import shuffled
from tests.proof.superuser import held_key

REASON = {"reason": "some think too long"}
BETTING = [("ferbli", FERBLI), ("ferbli", FERBLI | {"cuhhol": True}), ("faerbeln", FAERBELN)]
OTHERS = [name for name in engine.game_names() if name not in dict(BETTING)]
#: Deals that would go on for hundreds of turns if nobody ever decided anything.
SHORT: dict[str, dict[str, object]] = {"esel": {"max_passes": 12}, "pacal": {"max_plies": 20}}
TABLES = [*BETTING, *((name, dict(engine.game_info(name).example) | SHORT.get(name, {})) for name in OTHERS)]
#: Lines of the house that come with the clock where nobody has done anything until then.
HOUSE_ENDS = ("d vd",)
#: So many acts of the clock are enough to see.
SOME_ACTS = 8
#: A hand of two, from the dealer's pack: p2 is to pay the vizi or to fold.
BEGUN = ("p1 po 100", "d dh p1 ????", "d dh p2 ????")


@pytest.fixture(autouse=True)
def nothing_put_off() -> Iterator[None]:
    """A worker that has just been started."""
    automatic._put_off.clear()
    yield
    automatic._put_off.clear()


def timed(
    kit: Kit,
    seconds: int = 30,
    *,
    stacks: tuple[int, ...] = (20_000, 15_000),
    game: str = "ferbli",
    options: dict[str, Any] = FERBLI,
) -> Desk:
    """An open table with a time to act; the dealer's console."""
    seats = min(4, engine.game_info(game).max_seats)
    kit.table_for(game, options, code="T1", seats=seats)
    desk = kit.seated(stacks=stacks[:seats])
    floor_at(kit, TerminalKind.TABLE, "T1").ok("time-to-act", {"seconds": seconds} | REASON)
    desk.refresh()
    return desk


def the_hand(kit: Kit) -> Hand:
    """The house's newest hand."""
    return Hand.objects.filter(house=kit.house).select_related("table__house").latest("id")


def pass_time(kit: Kit, seconds: float) -> None:
    """Make everything at T1, and its newest hand with its log, so much older."""
    hand = the_hand(kit)
    PASSED.setdefault(str(kit.house.id), []).append((hand.id, hand.table_id, timedelta(seconds=seconds)))
    _make_older(hand.id, hand.table_id, timedelta(seconds=seconds))


#: What `pass_time` has made older, by house: rows of hands and tables, and by how much.
PASSED: dict[str, list[tuple[int, int, timedelta]]] = {}


def put_times_back(kit: Kit) -> None:
    """Undo what `pass_time` has done past the events, which verification would find."""
    for hand, table, by in PASSED.pop(str(kit.house.id), []):
        _make_older(hand, table, -by)


def _make_older(hand: int, table: int, by: timedelta) -> None:
    with unguarded("hands_handline", "hands_hand", "tables_table") as cursor:
        cursor.execute("UPDATE hands_handline SET at = at - %s WHERE hand_id = %s", [by, hand])
        times = "started_at = started_at - %s, resumed_at = resumed_at - %s"
        cursor.execute(f"UPDATE hands_hand SET {times} WHERE id = %s", [by, by, hand])
        cursor.execute("UPDATE tables_table SET time_to_act_since = time_to_act_since - %s WHERE id = %s", [by, table])


def found(kit: Kit) -> Overdue:
    """The newest hand as the worker's query finds it, which it must."""
    [one] = clock.overdue(the_hand(kit).id)
    return one


def by_the_clock(kit: Kit) -> list[dict[str, Any]]:
    """The house's events that record of automatic acts."""
    return [event for event in events(kit, "hand.acted") if "automatic" in event["data"]]


def sound(kit: Kit, folder: Path) -> None:
    """Hands, trail and books verify, the export too, and the record of the newest hand replays."""
    kit.sequence()
    put_times_back(kit)
    assert list(verify_hands(kit.house)) == []
    assert verification(kit.house)["ok"]
    call_command("export_audit", kit.house.code, str(folder / "export"), stdout=io.StringIO(), stderr=io.StringIO())
    assert verifier.verify_export(folder / "export", [], verifier.read_keys(str(held_key(kit)))).findings == []
    hand = the_hand(kit)
    if hand.state == HandState.SETTLED:
        assert replay(parse_record(json.dumps(kit.office().get(f"hands/{hand.name}").json()))).ok


# --- Setting it -----------------------------------------------------------------------------------------------------


def test_the_floor_sets_it_and_the_trail_records_it(kit: Kit) -> None:
    kit.table()
    dealer, floor = kit.dealer(), floor_at(kit, TerminalKind.TABLE, "T1")
    assert dealer.refresh()["time_to_act"] is None
    [set_up] = events(kit, "table.set_up")
    assert "time_to_act" not in set_up["data"]
    body = {"seconds": 30} | REASON
    assert code(dealer.post("time-to-act", body)) == (403, "forbidden")
    assert code(floor.post("time-to-act", body, version=floor.version + 1)) == (412, "version_conflict")
    assert code(floor.post("time-to-act", {"seconds": None} | REASON)) == (409, "no_change")
    assert floor.ok("time-to-act", body)["time_to_act"] == 30
    assert code(floor.post("time-to-act", body)) == (409, "no_change")
    assert floor.ok("time-to-act", {"seconds": 3600} | REASON)["time_to_act"] == 3600
    assert floor.ok("time-to-act", {"seconds": None} | REASON)["time_to_act"] is None
    recorded = events(kit, "table.time_to_act_changed")
    kept = [{key: value for key, value in event["data"].items() if key != "table_version"} for event in recorded]
    assert kept == [{"after": 30}, {"before": 30, "after": 3600}, {"before": 3600}]
    assert {event["reason"] for event in recorded} == {REASON["reason"]}


@pytest.mark.parametrize("seconds", [4, 0, -5, 3601, 10**9, "30", True, [], "missing"])
def test_what_is_no_time_to_act_is_refused(kit: Kit, seconds: Any) -> None:
    kit.table()
    floor = floor_at(kit, TerminalKind.TABLE, "T1")
    body = REASON if seconds == "missing" else {"seconds": seconds} | REASON
    assert code(floor.post("time-to-act", body)) == (400, "invalid_request")
    assert code(floor.post("time-to-act", {"seconds": 30})) == (400, "invalid_request")


def test_a_table_is_set_up_with_it(kit: Kit) -> None:
    def terms(seconds: int) -> Terms:
        return Terms(
            game="ferbli", options=FERBLI, seats=4, min_stack=1_000, max_stack=1_000_000,
            carryover_on_close=CarryoverOnClose.SPLIT,
            time_to_act=seconds,
        )  # fmt: skip

    with pytest.raises(ValidationError, match="table_time_to_act"):
        set_up_table(house=kit.house, code="T1", terms=terms(4), actor=ACTOR)
    set_up_table(house=kit.house, code="T1", terms=terms(45), actor=ACTOR)
    [recorded] = events(kit, "table.set_up")
    assert recorded["data"]["time_to_act"] == 45
    assert kit.office().get("tables/T1").json()["time_to_act"] == 45
    for wrong in (4, 3_601):
        with pytest.raises(IntegrityError, match="table_time_to_act"):
            Table.objects.filter(house=kit.house).update(time_to_act=wrong)


# --- Running --------------------------------------------------------------------------------------------------------


def test_beat_asks_every_second() -> None:
    named = {entry["task"]: entry["schedule"] for entry in CELERY_BEAT_SCHEDULE.values()}
    assert named[tasks.run_clocks.name] == 1.0


def test_without_a_time_nothing_happens(kit: Kit) -> None:
    kit.table()
    desk = kit.seated(stacks=(20_000, 15_000))
    dealt = desk.ok("hands", {"mode": "physical"})
    assert dealt["act_by"] is None
    pass_time(kit, 1_000_000)
    assert clock.overdue(the_hand(kit).id) == []
    automatic.run()
    assert selectors.log(the_hand(kit)) == [] and by_the_clock(kit) == []


def test_the_answer_says_until_when_and_nothing_is_played_before(kit: Kit) -> None:
    desk = timed(kit, 30)
    before = datetime.now(UTC)
    answer = desk.ok("hands", {"mode": "physical"})
    started = the_hand(kit).started_at
    assert datetime.fromisoformat(answer["act_by"]) == started + timedelta(seconds=30) > before
    assert desk.get("hand").json()["act_by"] == answer["act_by"]
    # The dealer's turn has no clock.
    assert desk.act("p1 po 100")["act_by"] is None
    answer = desk.act(*BEGUN[1:])
    last = HandLine.objects.filter(hand=the_hand(kit)).latest("seq").at
    assert datetime.fromisoformat(answer["act_by"]) == last + timedelta(seconds=30)
    pass_time(kit, 25)
    automatic.run()
    assert by_the_clock(kit) == []
    pass_time(kit, 5)
    automatic.run()
    assert len(by_the_clock(kit)) == 1


def test_in_physical_mode_the_act_is_played_and_the_hand_settled(kit: Kit, tmp_path: Path) -> None:
    desk = timed(kit, 30)
    desk.ok("hands", {"mode": "physical"})
    version = desk.act(*BEGUN)["version"]
    pass_time(kit, 31)
    tasks.run_clocks()
    hand = the_hand(kit)
    assert selectors.log(hand) == [*BEGUN, "p2 au", "p2 f"]
    [event] = by_the_clock(kit)
    assert (event["actor"], event["role"], event["request"]) == ("worker", "system", "clock:T1-000001:4")
    assert (event["data"]["automatic"], event["data"]["lines"]) == ("p2", ["p2 au", "p2 f"])
    assert event["data"]["table_version"] == version + 1 and event["data"]["digest"] == hand.digest
    assert hand.state == HandState.ENDED
    # A console that has not seen it comes too late.
    assert code(desk.post("hand/actions", {"actions": [{"actor": "p2", "verb": "f"}]})) == (412, "version_conflict")
    assert kit.settle() == [HandState.SETTLED]
    automatic.run()
    assert len(by_the_clock(kit)) == 1
    sound(kit, tmp_path)


@pytest.mark.some_now(12)
@pytest.mark.parametrize(("game", "options"), TABLES)
def test_an_electronic_hand_is_played_by_the_clock_alone(
    kit: Kit, game: str, options: dict[str, Any], tmp_path: Path
) -> None:
    """To its end where that comes soon, as it does wherever there is betting; else the floor voids it."""
    desk = timed(kit, 30, stacks=(30_000, 25_000, 29_000, 40_000), game=game, options=options)
    answer = desk.deal()
    acts = 0
    while the_hand(kit).state == HandState.PLAYING and acts < SOME_ACTS:
        recorded = desk.get("hand").json()
        assert recorded["act_by"] and (
            recorded["actor"] != "d" or recorded["legal_actions"][0] == {"actor": "d", "verb": "vd", "takes": {}}
        )
        automatic.run()
        assert len(by_the_clock(kit)) == acts, "it was played before its time"
        pass_time(kit, 31)
        automatic.run()
        acts += 1
        assert len(by_the_clock(kit)) == acts
        # The next seat has its whole time from that line, however late the worker came.
        automatic.run()
        assert len(by_the_clock(kit)) == acts
    hand = the_hand(kit)
    assert acts > 1 and hand.commitment == answer["commitment"]
    log = selectors.log(hand)
    by_time = [line.split()[0] for line in log if line.endswith(" au") or line in HOUSE_ENDS]
    assert len(by_time) == acts and [event["data"]["automatic"] for event in by_the_clock(kit)] == by_time
    if (game, options) in BETTING or hand.state != HandState.PLAYING:
        assert kit.settle() == [HandState.SETTLED]
    else:
        floor = floor_at(kit, TerminalKind.TABLE, "T1")
        floor.refresh()
        kit.approved(floor, "hand/void", REASON | MISDEAL)
    sound(kit, tmp_path)


@pytest.mark.parametrize("name", engine.game_names())
@pytest.mark.parametrize("seed", range(5))
def test_every_game_is_played_to_its_end_by_what_the_clock_writes(name: str, seed: int) -> None:
    random, info = Random(seed), engine.game_info(name)
    seats = max(info.seats_allowed or (info.min_seats + 1,))
    hand = start_of(name, seats, shuffled(random, info.pack_for(info.example)))
    while not hand.over:
        forced = hand.forced()
        for line in (forced,) if forced else clock.lines(hand):
            hand.advance(line)
            engine.supply(hand, lambda cards, number: tuple(random.sample(cards, len(cards))))
    assert clock.lines(hand) == () and any(line.endswith(" au") for line in hand.log)


def start_of(name: str, seats: int, deck: tuple[str, ...] | None) -> engine.Hand:
    """A hand of any game at a small table, its first in a session."""
    info = engine.game_info(name)
    opt, ids = engine.resolve(name, info.example, seats), tuple(f"u{seat}" for seat in range(1, seats + 1))
    series = info.new_series(ids, info.rules.parse(opt, seats))
    return engine.start(Setup(name, opt, seats, (100_000,) * seats, 0, seats, deck, series=series, ids=ids))


def test_no_clock_runs_where_the_act_would_name_cards_that_the_house_does_not_know() -> None:
    hand = start_of("zsiros", 4, None)
    assert hand.actor == "d" and clock.lines(hand) == ()
    for seat in (1, 2, 3, 4):
        hand.advance(f"d dh p{seat} ????????")
    assert hand.actor == "p1" and clock.lines(hand) == ()


def test_no_clock_says_of_unknown_cards_that_they_are_higher(kit: Kit) -> None:
    kit.table(cuhhol=True, seats=2)
    desk, floor = kit.seated(stacks=(5_000, 5_000)), floor_at(kit, TerminalKind.TABLE, "T1")
    floor.refresh()
    floor.ok("time-to-act", {"seconds": 30} | REASON)
    desk.refresh()
    desk.ok("hands", {"mode": "physical"})
    desk.act(*BEGUN, "p2 cc 100", "p1 k", "d dh p1 ????", "d dh p2 ????", "p1 lk 2", "p1 cu 9l8l7lXl")
    answer = desk.act("p2 lk 2")
    assert (answer["actor"], answer["act_by"]) == ("p2", None)
    pass_time(kit, 31)
    automatic.run()
    assert by_the_clock(kit) == []
    desk.act("p2 f")


def test_a_worker_that_was_away_plays_once_and_the_next_seat_has_its_whole_time(kit: Kit) -> None:
    desk = timed(kit, 30, stacks=(20_000, 15_000, 9_000))
    desk.deal()
    pass_time(kit, 100_000)
    for _ in range(3):
        automatic.run()
    assert len(by_the_clock(kit)) == 1
    answer = desk.get("hand").json()
    last = HandLine.objects.filter(hand=the_hand(kit)).latest("seq").at
    assert datetime.fromisoformat(answer["act_by"]) == last + timedelta(seconds=30) > datetime.now(UTC)


def test_a_call_to_the_partner_gives_no_more_time(kit: Kit) -> None:
    desk = timed(kit, 30, stacks=(20_000,) * 4, game="zsiros", options={"stake": 100})
    desk.deal()
    pass_time(kit, 20)
    before = desk.get("hand").json()
    partner = next(offer for offer in before["legal_actions"] if offer["verb"] == "cl")
    after = desk.ok("hand/actions", {"actions": [{k: partner[k] for k in ("actor", "verb")} | {"word": "uss"}]})
    assert (after["actor"], after["act_by"]) == (before["actor"], before["act_by"]) and before["act_by"] is not None
    pass_time(kit, 11)
    assert found(kit).lines == HandLine.objects.filter(hand=the_hand(kit)).count()
    automatic.run()
    [recorded] = by_the_clock(kit)
    assert recorded["data"]["automatic"] == before["actor"]


def test_a_time_that_is_set_in_the_middle_of_a_hand_runs_from_then(kit: Kit) -> None:
    kit.table()
    desk, floor = kit.seated(stacks=(20_000, 15_000)), floor_at(kit, TerminalKind.TABLE, "T1")
    desk.ok("hands", {"mode": "physical"})
    desk.act(*BEGUN)
    pass_time(kit, 1_000)
    floor.refresh()
    floor.ok("time-to-act", {"seconds": 60} | REASON)
    automatic.run()
    assert by_the_clock(kit) == []
    since = Table.objects.get(house=kit.house).time_to_act_since
    assert datetime.fromisoformat(desk.get("hand").json()["act_by"]) == since + timedelta(seconds=60)
    floor.ok("time-to-act", {"seconds": None} | REASON)
    pass_time(kit, 1_000)
    assert desk.get("hand").json()["act_by"] is None
    automatic.run()
    assert by_the_clock(kit) == []


def test_where_a_console_has_said_that_time_is_over_the_act_alone_is_played(kit: Kit, tmp_path: Path) -> None:
    desk = timed(kit, 30)
    desk.ok("hands", {"mode": "physical"})
    desk.act(*BEGUN)
    assert desk.act("p2 au")["act_by"] is not None
    pass_time(kit, 31)
    automatic.run()
    [event] = by_the_clock(kit)
    assert (event["data"]["automatic"], event["data"]["first_line"], event["data"]["lines"]) == ("p2", 5, ["p2 f"])
    assert kit.settle() == [HandState.SETTLED]
    sound(kit, tmp_path)


# --- Exactly once ---------------------------------------------------------------------------------------------------


def test_of_many_workers_one_plays(kit: Kit) -> None:
    desk = timed(kit, 30, stacks=(20_000, 15_000, 9_000))
    desk.deal()
    pass_time(kit, 31)
    one = found(kit)
    assert sorted(at_once(*[lambda: automatic.play(one)] * 6)) == [False] * 5 + [True]
    assert not automatic.play(one), "the same task again"
    assert len(by_the_clock(kit)) == 1
    # Nor where the new line is overdue as well: it is another turn than was found.
    pass_time(kit, 31)
    assert not automatic.play(one)
    assert len(by_the_clock(kit)) == 1


@pytest.mark.slow
def test_of_console_and_clock_at_once_exactly_one_wins(kit: Kit, tmp_path: Path) -> None:
    desk = timed(kit, 30, stacks=(50_000, 50_000))
    fold = {"actions": [{"actor": "p2", "verb": "f"}]}
    wins = 0
    for _ in range(8):
        desk.refresh()
        desk.ok("hands", {"mode": "physical"})
        desk.act(*BEGUN)
        pass_time(kit, 31)
        one = found(kit)
        played, answer = at_once(partial(automatic.play, one), lambda: desk.post("hand/actions", fold))
        assert (played, answer.status_code) in ((True, 412), (False, 200))
        wins += played
        assert len(by_the_clock(kit)) == wins
        assert selectors.log(the_hand(kit)) == [*BEGUN, *(["p2 au"] if played else []), "p2 f"]
        assert kit.settle() == [HandState.SETTLED]
    sound(kit, tmp_path)


def test_what_was_decided_on_before_the_clock_is_refused_and_what_came_first_counts(kit: Kit) -> None:
    desk = timed(kit, 30)
    desk.ok("hands", {"mode": "physical"})
    desk.act(*BEGUN)
    pass_time(kit, 31)
    one = found(kit)
    # Late, and still the console's: the clock's act has not been played.
    desk.act("p2 cc 100")
    assert not automatic.play(one) and by_the_clock(kit) == []


def test_a_hand_that_was_voided_is_left_alone(kit: Kit) -> None:
    desk = timed(kit, 30)
    desk.ok("hands", {"mode": "physical"})
    pass_time(kit, 31)
    one, floor = found(kit), floor_at(kit, TerminalKind.TABLE, "T1")
    floor.ok("hand/void", {"cause": "misdeal", "reason": "misdealt"})
    assert not automatic.play(one)
    assert clock.overdue(one.hand_id) == []


# --- What cannot be played on ---------------------------------------------------------------------------------------


def test_a_hand_that_waits_for_the_dealer_is_not_asked_about_all_the_time(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = timed(kit, 30)
    desk.ok("hands", {"mode": "physical"})
    desk.act("p1 po 100")
    pass_time(kit, 1_000)
    tried: list[Overdue] = []
    play = automatic.play
    monkeypatch.setattr(automatic, "play", lambda one: tried.append(one) or play(one))
    one = found(kit)
    for _ in range(5):
        automatic.run()
    assert tried.count(one) == 1 and by_the_clock(kit) == []
    # A new line is another matter.
    desk.act(*BEGUN[1:])
    pass_time(kit, 31)
    automatic.run()
    assert len(by_the_clock(kit)) == 1


def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was put off is due again."""
    monkeypatch.setattr(automatic, "monotonic", lambda: monotonic() + automatic.PUT_OFF)


def test_a_day_that_is_closed_stops_one_house_and_no_other(
    kit: Kit, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    other = Kit.found()
    desks = [timed(each) for each in (kit, other)]
    office = kit.office(Role.MANAGER)
    office.ok("days", {"day": "2020-02-28"})
    kit.close_drawer(kit.cashier())
    kit.close_day(office, "2020-02-28")
    for each, desk, age in zip((kit, other), desks, (60, 31), strict=True):
        desk.ok("hands", {"mode": "physical"})  # moves no money yet
        pass_time(each, age)
    one = found(kit)
    automatic.run()
    assert f"hand {one.hand_id}: its automatic act waits, PeriodNotOpen" in caplog.text
    assert (by_the_clock(kit), len(by_the_clock(other))) == ([], 1)
    assert found(kit) == one, "nothing was written"
    office.ok("days", {"day": "2020-02-29"})
    automatic.run()
    assert by_the_clock(kit) == [], "it is put off"
    later(monkeypatch)
    automatic.run()
    assert len(by_the_clock(kit)) == 1
    other.close()


def test_a_log_that_was_rolled_back_stops_it(
    kit: Kit, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    desk = timed(kit)
    desk.ok("hands", {"mode": "physical"})
    pass_time(kit, 31)
    one, require = found(kit), guard.require

    def refuse(house: House) -> None:
        if house.id == kit.house.id:
            raise LogRolledBack("the log is another one")
        require(house)

    with monkeypatch.context() as patch:
        patch.setattr(guard, "require", refuse)
        automatic.run()
    assert f"hand {one.hand_id}: its automatic act waits, LogRolledBack: the log is another one" in caplog.text
    assert found(kit) == one
    later(monkeypatch)
    automatic.run()
    assert len(by_the_clock(kit)) == 1


def test_a_table_that_is_held_up_holds_up_no_other(kit: Kit, caplog: pytest.LogCaptureFixture) -> None:
    desk = timed(kit)
    desk.ok("hands", {"mode": "physical"})
    pass_time(kit, 31)
    one = found(kit)
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("SELECT FROM tables_table WHERE id = %s FOR NO KEY UPDATE", [one.table_id])
        with pytest.raises(Busy):
            automatic.play(one)
        assert not automatic._played(one)
    assert f"hand {one.hand_id}: its automatic act waits, Busy" in caplog.text
    assert automatic.play(one)


def test_what_nobody_expected_is_named_with_its_place(
    kit: Kit, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    desk = timed(kit)
    desk.ok("hands", {"mode": "physical"})
    pass_time(kit, 31)
    monkeypatch.setattr(automatic.services, "play_automatic", lambda hand, actor: 1 // 0)
    automatic.run()
    assert "ZeroDivisionError" in caplog.text and "Traceback" in caplog.text
    assert by_the_clock(kit) == []
