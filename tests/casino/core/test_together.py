"""Several statements in one round trip: each sees what is committed when it begins, a refused one stops those after it,
and what a transaction keeps is true until it changes it."""

import threading
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, connection, connections, transaction

from casino.cage.models import Drawer, Shift
from casino.chips import selectors as chips
from casino.core import kept, locks, sql, valid
from casino.core.errors import NotFound
from casino.core.work import Work
from casino.golive.stages import to_stage
from casino.hands.models import Deal
from casino.houses import stages
from casino.houses.models import HouseStage
from casino.tables.models import Table
from tests.casino.core.test_races import somebody_waits
from tests.casino.core.test_statement_budget import round_trips
from tests.casino.kit import ACTOR, Kit

pytestmark = pytest.mark.usefixtures("live_db")


def test_what_is_read_with_a_lock_is_as_new_as_the_lock(kit: Kit) -> None:
    """The row was changed by the writer that we have waited for: both the row and what is read beside it are new."""
    house, found = kit.house, []
    drawer = Drawer.objects.get(house=house, code="C1")

    def second() -> None:
        try:
            beside = Drawer.objects.filter(id=drawer.pk).values_list("x_readings", flat=True)
            there, others = locks.in_transaction(
                lambda: locks.lock_beside(Drawer, locks.Rank.DESK, beside, house=house, code="C1")
            )
            found.append((there.x_readings, others))
        finally:
            connections.close_all()

    def first() -> None:
        locks.lock(Drawer, locks.Rank.DESK, house=house, code="C1")
        thread.start()
        assert somebody_waits()
        Drawer.objects.filter(id=drawer.pk).update(x_readings=7)

    thread = threading.Thread(target=second)
    locks.in_transaction(first)
    thread.join()
    assert found == [(7, [[7]])]


def test_a_row_is_locked_with_the_rows_of_its_relations(kit: Kit) -> None:
    kit.open_drawer(kit.cashier(), cash=0)
    shift = Shift.objects.get(house=kit.house)

    def look() -> tuple[str, str, int]:
        with round_trips() as asked:
            found = locks.lock(Shift, locks.Rank.DESK, related=("opened_by", "drawer"), house=kit.house, id=shift.pk)
            names = found.opened_by.login, found.drawer.code
        return *names, len(asked)

    assert locks.in_transaction(look) == (shift.opened_by.login, "C1", 1)


def test_rows_are_locked_together_in_the_order_of_their_ids(kit: Kit) -> None:
    kit.table("T1"), kit.table("T2")

    def look() -> list[str]:
        rows, _ = locks.lock_all(Table, locks.Rank.DESK, house=kit.house, codes=("T2", "T1", "T9"))
        return [row.code for row in rows]

    assert locks.in_transaction(look) == ["T1", "T2"]


def test_what_is_not_there_is_not_locked(kit: Kit) -> None:
    beside = Drawer.objects.filter(house=kit.house)
    with pytest.raises(NotFound):
        locks.in_transaction(lambda: locks.lock_beside(Drawer, locks.Rank.DESK, beside, house=kit.house, code="C9"))


def test_a_statement_that_fails_stops_those_after_it(kit: Kit) -> None:
    drawers = Drawer.objects.filter(house=kit.house)
    with pytest.raises(DataError), transaction.atomic():
        sql.together(("SELECT 1 / 0", ()), sql.updating(drawers, x_readings=9))
    assert not drawers.filter(x_readings=9).exists()


def test_an_update_that_is_sent_with_others_is_that_of_its_rows(kit: Kit) -> None:
    drawers = Drawer.objects.filter(house=kit.house, code="C1")
    _, [(there,)] = sql.together(sql.updating(drawers, x_readings=5), drawers.values_list("x_readings"))
    assert there == 5


def test_an_update_of_what_can_be_found_nowhere_updates_nothing(kit: Kit) -> None:
    drawers = Drawer.objects.filter(house=kit.house)
    sql.together(sql.updating(drawers.filter(id__in=[]), x_readings=5))
    assert not drawers.filter(x_readings=5).exists()


def test_a_queryset_that_can_find_nothing_is_not_sent() -> None:
    with round_trips() as asked:
        assert sql.together(Drawer.objects.none()) == [[]]
    assert asked == []


def test_the_transaction_begins_with_what_is_sent_first_and_ends_with_the_last(kit: Kit) -> None:
    def look() -> list[tuple[int]]:
        return sql.rows("SELECT 1", ())

    with round_trips() as asked:
        locks.in_transaction(look)
    assert ["BEGIN" in one or "COMMIT" in one for one in asked] == [True, True]


@pytest.mark.parametrize("prepared", [False, True])
def test_a_value_that_cannot_be_sent_lets_nothing_be_sent(prepared: bool) -> None:
    """Not the statement before it either, and the connection goes on."""
    marked = sql.Bound("INSERT INTO marked SELECT %s::integer RETURNING n", [1])
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("CREATE TEMP TABLE marked (n integer) ON COMMIT DROP")
        for _ in range(10 if prepared else 0):
            sql.together(marked)
        with round_trips() as asked, pytest.raises((DataError, ValueError)):
            sql.together(marked, sql.Bound("SELECT %s::text", ["\0"]))
        assert set(asked) <= {"Sync"}  # the end of a message in which nothing is
        [[there], counted] = sql.together(marked, sql.Bound("SELECT count(*) FROM marked WHERE n = %s::integer", [1]))
        assert (there, counted) == ((1,), [(11 if prepared else 1,)])


@pytest.mark.parametrize("times", [1, 10])
def test_statements_that_stay_prepared_go_with_others_in_one_message(kit: Kit, times: int) -> None:
    codes = Drawer.objects.filter(house=kit.house).order_by("code").values_list("code", flat=True)

    def look() -> list[list[Any]]:
        return sql.together(sql.Bound("SELECT %s::bigint + 1", [41]), ("SELECT %s", ["a"]), codes)

    for _ in range(times):
        with round_trips() as asked:
            found = locks.in_transaction(look)
        assert found == [[(42,)], [("a",)], list(codes)]
    assert len(asked) == 2  # COMMIT is the other


def test_arrays_are_written_as_postgresql_reads_them(live_db: None) -> None:
    texts, several = ["", "a b", 'say "x"', "back\\slash", "{}", "NULL", "a,b", "\n"], [b"", b"\0\x01", b"\\x41"]
    reading = "SELECT %s::text[], %s::bytea[], %s::text[]"
    assert sql.bound(reading, [sql.texts(texts), sql.binaries(several), sql.texts([])]) == [(texts, several, [])]


def test_a_new_row_has_what_the_database_makes_of_it(kit: Kit) -> None:
    """As if it had been saved: its id and its defaults, and what is too long is refused, not cut."""
    row = Deal(house=kit.house, table=kit.table(), number=1, name="T1-000001", commitment="c" * 64, sealed_seed=b"s")
    row.seats = [{"seat": 1, "player": 'u"1'}]
    sql.insert(row)
    found = Deal.objects.get(house=kit.house, name="T1-000001")
    assert (found.pk, found.at, found.seats, bytes(found.sealed_seed)) == (row.pk, row.at, row.seats, b"s")
    row.name = "T" * 49
    with pytest.raises(DataError), transaction.atomic():
        sql.insert(row)


def test_what_stays_prepared_stops_those_after_it_where_it_fails(kit: Kit) -> None:
    drawer = Drawer.objects.get(house=kit.house, code="C1")
    for _ in range(8):
        with pytest.raises(DataError), transaction.atomic():
            sql.together(sql.Bound("SELECT 1 / %s::integer", [0]), _renaming(drawer))
    drawer.refresh_from_db()
    assert drawer.x_readings == 0
    assert sql.bound("SELECT %s::text", ["still there"]) == [("still there",)]


def _renaming(drawer: Drawer) -> sql.Statement:
    return sql.updating(Drawer.objects.filter(id=drawer.pk), x_readings=9)


# --- What a transaction keeps ----------------------------------------------------------------------------------------


def test_nothing_is_kept_outside_a_transaction() -> None:
    seen = iter((1, 2))
    assert [kept.once("key", lambda: next(seen)), kept.once("key", lambda: next(seen))] == [1, 2]


def test_a_transaction_keeps_what_it_reads_until_it_drops_it_and_the_next_one_reads_again() -> None:
    seen = iter(range(10))

    def twice() -> list[int]:
        found = [kept.once("key", lambda: next(seen)), kept.once("key", lambda: next(seen))]
        kept.drop("key")
        return [*found, kept.once("key", lambda: next(seen))]

    assert locks.in_transaction(twice) == [0, 0, 1]
    assert locks.in_transaction(twice) == [2, 2, 3]


def test_what_is_taken_is_read_again() -> None:
    def look() -> list[str]:
        kept.keep("key", "with the lock")
        return [kept.take("key", lambda: "again"), kept.take("key", lambda: "again")]

    assert locks.in_transaction(look) == ["with the lock", "again"]


def test_a_transaction_that_is_tried_again_keeps_nothing_of_the_first_try() -> None:
    seen = iter(range(10))

    def look() -> int:
        found = kept.once("key", lambda: next(seen))
        if found == 0:
            with connection.cursor() as cursor:
                cursor.execute("DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40P01'; END $$")
        return found

    assert locks.in_transaction(look) == 1


def test_the_chip_set_in_use_is_read_again_when_it_is_locked(kit: Kit) -> None:
    def look() -> str:
        kept.keep(("chip set in use", kit.house.pk), [("OLD", [1])])
        chips.lock_chip_set(kit.house)
        return chips.in_use(kit.house).code

    assert locks.in_transaction(look) == "MAIN"


def test_a_transaction_goes_by_the_stage_that_it_is_to_write(kit: Kit) -> None:
    def look() -> tuple[HouseStage, ...]:
        house, work = kit.house, Work(kit.house, ACTOR)
        before = stages.now(house)
        to_stage(house, work, HouseStage.SUSPENDED)
        waiting = stages.now(house)
        work.flush()
        stages.changed(house)
        written = stages.now(house)
        to_stage(house, work, before)
        work.flush()
        return before, waiting, written

    assert locks.in_transaction(look) == (HouseStage.SANDBOX, HouseStage.SUSPENDED, HouseStage.SUSPENDED)


# --- New rows --------------------------------------------------------------------------------------------------------


def _drawer(kit: Kit, code: str) -> Drawer:
    return Drawer(house=kit.house, code=code)


def test_a_row_that_is_sent_with_others_is_the_one_that_saving_makes(kit: Kit) -> None:
    drawers = Drawer.objects.filter(house=kit.house)
    _drawer(kit, "C2").save(force_insert=True)
    with round_trips() as asked, transaction.atomic():
        sql.together(sql.inserting(_drawer(kit, "C3")), ("SELECT 1", ()))
    saved, sent = drawers.filter(code__in=("C2", "C3")).order_by("code").values("version", "x_readings", "retired_at")
    assert (sent, len(asked)) == (saved, 2)


def test_a_row_that_may_not_be_there_stops_what_is_sent_after_it(kit: Kit) -> None:
    drawers = Drawer.objects.filter(house=kit.house)
    with pytest.raises(IntegrityError), transaction.atomic():
        sql.together(sql.inserting(_drawer(kit, "C1")), sql.updating(drawers, x_readings=9))
    assert not drawers.filter(x_readings=9).exists()


def test_a_new_row_of_a_work_goes_with_its_next_read(kit: Kit) -> None:
    drawers = Drawer.objects.filter(house=kit.house, code="C2")

    def look() -> list[Drawer]:
        work = Work(kit.house, ACTOR)
        work.insert(_drawer(kit, "C2"))
        assert not drawers.exists()
        [found] = work.flush(drawers)
        return found

    assert [one.code for one in locks.in_transaction(look)] == ["C2"]


def test_every_row_of_several_kinds_is_locked_in_one_round_trip_and_in_the_order_of_locks(kit: Kit) -> None:
    kit.table("T1")

    def look() -> tuple[int, int]:
        with round_trips() as alone:
            locks.lock_every(Table, Drawer, rank=locks.Rank.DESK, house=kit.house)
        with round_trips() as none, locks.gathered() as locking:
            locks.lock_every(Table, Drawer, rank=locks.Rank.CUSTODY, house=kit.house)
        with pytest.raises(locks.LockOrderError):
            locks.lock_every(Table, rank=locks.Rank.DESK, house=kit.house)
        assert len(locking) == 2
        return len(alone), len(none)

    assert locks.in_transaction(look) == (1, 0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"seats": 0},
        {"max_stack": 1, "min_stack": 2},
        {"code": "no blanks"},
        {"carryover_on_close": "none"},
        {"seats": 7},
    ],
)
def test_a_new_row_is_refused_in_the_words_of_full_clean(kit: Kit, wrong: dict[str, Any]) -> None:
    right = {"code": "T7", "game": "ferbli", "options": {"vizi": 100}, "seats": 4, "min_stack": 1, "max_stack": 2}
    row = Table(house=kit.house, **right | {"carryover_on_close": "split"} | wrong)
    try:
        row.full_clean()
    except ValidationError as error:
        expected = error.message_dict
    else:
        expected = {}
    found = {}
    try:
        with transaction.atomic(), round_trips() as asked:
            valid.create(row, known={"house"})
        assert len(asked) == 2, "BEGIN, and the row"
    except ValidationError as error:
        found = error.message_dict
    # The database names the first check that it finds violated, `full_clean` all of them.
    assert bool(found) == bool(expected)
    assert all(set(found[field]) <= set(expected.get(field, ())) for field in found)
