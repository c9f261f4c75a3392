"""The table of postings: every row's worked example in a real ledger, and the page that records it."""

import uuid
from collections.abc import Iterable

import pytest
from django.db import transaction

from casino.bookkeeping import chart
from casino.bookkeeping import reference_page as page
from casino.bookkeeping.chart import CHART, CHIP_LIABILITIES, CHIPS_OUT
from casino.bookkeeping.examples import CHIPS, CURRENCY, EXAMPLES, OPENED, OPENING, Example
from casino.bookkeeping.postings import EVENTS, Posting, posting
from casino.core.denominations import Chips
from casino.core.errors import Conflict
from casino.core.work import Work
from casino.hands.postings import BOOKED
from casino.houses.models import House
from casino.reports.selectors import custody, custody_problems
from engine.kernel.purse import Why
from ledger import checks
from ledger.errors import Unbacked
from tests.casino.kit import ACTOR, book, record_work


@pytest.fixture
def evening(live_db: None) -> House:
    """A house on the evening of the examples."""
    house = House.objects.create(code=f"E{uuid.uuid4().hex[:12]}", name="Examples", currency=CURRENCY)
    codes = {code for event in everything() for line in event.lines() for code in line[:2]}
    with transaction.atomic():
        chart.open_accounts(house, sorted(codes), CHIPS)
    for number, event in enumerate(OPENING):
        book(house, f"opening:{number}", event)
    return house


def everything() -> Iterable[Posting]:
    """Every event of every example."""
    yield from OPENING
    for example in EXAMPLES.values():
        yield from example.given
        yield from example.events


def held(house: House, code: str) -> int | Chips:
    """What an account or a rack holds."""
    if chart.kind_of(code).custody:
        return chart.rack(house, code, CHIPS.code)
    return chart.balances(house, [code])[code]


def assert_holds(house: House, after: dict[str, object]) -> None:
    """Every account holds what is written; of a rack, the denominations that are written."""
    for code, expected in after.items():
        found = held(house, code)
        if isinstance(found, Chips):
            assert {value: found[value] for value in expected} == expected, code  # type: ignore[attr-defined]
        else:
            assert found == expected, code


def assert_joined(house: House) -> None:
    """Money and custody agree, and no chip is lost."""
    assert custody(house)["equal"]
    assert custody_problems(house) == {}
    assert checks.verify(house.id) == []


def touched(example: Example) -> dict[str, set[int]]:
    """Accounts of an example with the denominations that move there."""
    found: dict[str, set[int]] = {}
    for event in example.events:
        for debit, credit, what in event.lines():
            for code in (debit, credit):
                found.setdefault(code, set()).update(what.pieces if isinstance(what, Chips) else ())
    return found


def test_every_row_has_an_example_and_books_what_it_shows() -> None:
    assert EXAMPLES.keys() == EVENTS.keys()
    for name, example in EXAMPLES.items():
        assert name == "voided" or {event.row.name for event in example.events} == {name}
        shown = {code: set(left) if isinstance(left, dict) else set() for code, left in example.after.items()}
        assert shown == touched(example), name


@pytest.mark.some_now(3)
@pytest.mark.parametrize("name", EVENTS)
def test_the_worked_example_of_each_row_leaves_what_it_says(evening: House, name: str) -> None:
    example = EXAMPLES[name]
    assert_holds(evening, dict(OPENED))
    for number, event in enumerate(example.given):
        book(evening, f"given:{number}", event)
    before = {code: held(evening, code) for code in example.after}
    book(evening, "example", *example.events)
    assert_joined(evening)
    if not example.mirrored:
        assert_holds(evening, dict(example.after))
    with transaction.atomic():
        work = Work(evening, ACTOR)
        assert work.reverse_all(keys=["example"], metadata={}).keys() == {"example"}
        record_work(work)
    assert {code: held(evening, code) for code in example.after} == before
    if example.mirrored:
        assert_holds(evening, dict(example.after))
    assert_joined(evening)


def test_the_evening_of_the_page_is_the_evening_of_the_tests(evening: House) -> None:
    assert_holds(evening, dict(OPENED))
    assert_joined(evening)
    assert custody(evening) == {"chips_in_circulation": 60_000, "chip_liability": 60_000, "equal": True}


def test_every_line_of_the_table_names_accounts_of_the_chart() -> None:
    numbers = {code[:4] for row in EVENTS.values() for line in row.lines for code in (line.debit, line.credit)}
    assert numbers <= CHART.keys() | {"{rac"}
    for row in EVENTS.values():
        for line in row.lines:
            sides = {CHART[code[:4]].custody for code in (line.debit, line.credit) if code[:4] in CHART}
            assert len(sides) == 1, f"{row.name}: {line} mixes money and chips"
    assert page.MEANING.keys() == CHART.keys()


def test_the_invariant_joins_what_the_house_owes_with_what_is_out() -> None:
    assert CHIPS_OUT == ("9160", "9170")
    assert CHIP_LIABILITIES == ("2010", "2015", "2020", "2030", "2040", "2050", "2060", "2070")
    assert {CHART[number].weight(500) for number in CHIPS_OUT} == {500}
    assert {CHART[number].weight() for number in CHIP_LIABILITIES} == {1}
    assert {kind.weight(500) for kind in CHART.values() if not kind.joined} == {0}


def test_money_that_parts_from_chips_is_not_posted(evening: House) -> None:
    unbacked = posting("buy_in", {"drawer": "C1", "player": "anna"}, amount=500, chips=Chips("MAIN", {100: 4}))
    with pytest.raises(Unbacked, match="100"):
        book(evening, "unbacked", unbacked)
    assert_holds(evening, dict(OPENED))


def test_players_get_no_credit_where_the_house_keeps_none(evening: House) -> None:
    with pytest.raises(Conflict) as caught, transaction.atomic():
        chart.open_accounts(evening, ["1300/anna"])
    assert caught.value.code == "account_off"


def test_every_move_of_the_engine_is_a_line_of_the_table() -> None:
    assert {why for _, _, why in BOOKED} == {why.value for why in Why}
    by_why: dict[str, set[tuple[str, str]]] = {}
    for source, target, why in BOOKED:
        by_why.setdefault(why, set()).add((source.replace("kitty", "pot"), target.replace("kitty", "pot")))
    assert all(len(ends) == 1 for ends in by_why.values()), "a kitty is booked as a pot"
    for name, amount in BOOKED.values():
        assert amount in {line.what for line in EVENTS[name].lines}


def test_the_page_has_the_rows_with_their_examples() -> None:
    assert "tax 5 % with a cap of 5.00" in page.render()
