"""The arithmetic of paying in chips, against trying everything."""

from itertools import product

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from casino.core import denominations
from casino.core.denominations import Chips, ChipSet
from casino.core.errors import Conflict, HouseError, Unprocessable

CHIPS = ChipSet("MAIN", (1, 5, 25, 100))


def racks(most: int) -> st.SearchStrategy[Chips]:
    """Any rack with up to so many of each."""
    return st.builds(
        lambda counts: Chips("MAIN", dict(zip(CHIPS.values, counts, strict=True))),
        st.tuples(*[st.integers(0, most)] * len(CHIPS.values)),
    )


def payable(amount: int, giver: Chips, changer: Chips) -> bool:
    """Whether any pieces there are make the amount."""
    ranges = [range(-changer[value], giver[value] + 1) for value in CHIPS.values]
    return any(sum(map(int.__mul__, CHIPS.values, counts)) == amount for counts in product(*ranges))


@given(st.integers(1, 300), racks(3), racks(2))
def test_a_payment_with_change_is_found_whenever_there_is_one(amount: int, giver: Chips, changer: Chips) -> None:
    try:
        given_, change = denominations.settle(amount, giver, changer)
    except Conflict as refusal:
        assert refusal.code == "no_exact_change"
        assert refusal.extra["available"] == giver.as_json()
        assert not payable(amount, giver, changer)
    else:
        assert given_.value - change.value == amount
        assert not (giver - given_).shortage and not (changer - change).shortage


@given(st.integers(1, 300), racks(4))
def test_without_change_the_largest_chips_go_first(amount: int, rack: Chips) -> None:
    nothing = Chips("MAIN")
    if not payable(amount, rack, nothing):
        with pytest.raises(Conflict):
            denominations.make(amount, rack)
        return
    left = amount
    for value, count in sorted(denominations.make(amount, rack).pieces.items(), reverse=True):
        assert count == min(rack[value], left // value)
        left -= value * count
    assert left == 0


# Random racks often have no change; that such are passed over is the point of the promise.
@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(racks(7), racks(7), st.data())
def test_where_change_is_promised_every_payment_can_be_collected(
    public: Chips, tray: Chips, data: st.DataObject
) -> None:
    assume(public.value)
    most = data.draw(st.integers(1, min(public.value, 400)))
    amount = data.draw(st.integers(1, most))
    assume(not denominations.cannot_change(CHIPS, most, public, tray))
    box, given_, change = denominations.collect(amount, public, tray)
    assert (box.value, given_.value) == (amount, change.value)
    assert not (public - given_ + change - box).shortage
    assert not (tray + given_ - change).shortage


@given(st.integers(0, 3_000))
def test_an_amount_in_the_fewest_chips(amount: int) -> None:
    found = denominations.canonical(CHIPS, amount)
    assert found.value == amount
    assert all(found[value] < step for value, step in CHIPS.steps())


@given(st.integers(0, 500), racks(40))
def test_a_float_is_worth_what_was_asked_for(amount: int, rack: Chips) -> None:
    try:
        found = denominations.spread(amount, rack)
    except Conflict:
        assert not _makes(amount, rack)
    else:
        assert found.value == amount and not (rack - found).shortage


def _makes(amount: int, rack: Chips) -> bool:
    try:
        return bool(denominations.make(amount, rack)) or amount == 0
    except Conflict:
        return False


def test_a_float_has_some_of_every_chip() -> None:
    rack = Chips("MAIN", dict.fromkeys(CHIPS.values, 10_000))
    assert denominations.spread(1_000, rack).pieces.keys() == set(CHIPS.values)


@pytest.mark.parametrize(
    ("amount", "pieces"),
    [
        # Half of it, 500, makes 3 of each chip (131 a round). Two changes need 8 of 1 and of 5, and 6 of 25: that many
        # come first. 502 are left and go in the largest chips.
        (1_000, {1: 10, 5: 8, 25: 6, 100: 8}),
        # No round fits into half of it. Chips for two changes take half of what is there at most: 5 of the 8 of 1.
        (10, {1: 5, 5: 1}),
        (20, {1: 10, 5: 2}),
        # 7,634 rounds would fit into half of it: no more than MOST_OF_EACH are taken.
        (2_000_000, {1: 400, 5: 400, 25: 400, 100: 19_876}),
        (0, {}),
    ],
)
def test_half_of_a_float_goes_in_equal_numbers(amount: int, pieces: dict[int, int]) -> None:
    rack = Chips("MAIN", dict.fromkeys(CHIPS.values, 30_000))
    assert denominations.MOST_OF_EACH == 400
    assert denominations.spread(amount, rack).pieces == pieces


@pytest.mark.parametrize(
    ("given_", "code"),
    [
        ({"7": 1}, "unknown_denomination"),
        ({"05": 1}, "unknown_denomination"),
        ({5: -1}, "pieces_not_a_count"),
        ({"5": 1.0}, "pieces_not_a_count"),
        ({"5": True}, "pieces_not_a_count"),
        ({"5": "1"}, "pieces_not_a_count"),
    ],
)
def test_chips_that_are_not_of_the_set_are_refused(given_: dict, code: str) -> None:
    with pytest.raises(Unprocessable) as caught:
        denominations.parse(CHIPS, given_)
    assert caught.value.code == code


@pytest.mark.parametrize("values", [(), (0, 5), (2, 5), (5, 5), (5, 1)])
def test_denominations_divide_each_other(values: tuple[int, ...]) -> None:
    with pytest.raises(HouseError) as caught:
        ChipSet("MAIN", values)
    assert caught.value.code == "chip_set_not_a_ladder"


def test_what_the_smallest_chip_cannot_make_is_refused() -> None:
    with pytest.raises(Unprocessable) as caught:
        ChipSet("BIG", (25, 100)).require_payable(110, "A stack")
    assert (caught.value.code, caught.value.extra["smallest"]) == ("amount_not_payable", 25)


def test_chips_worth_another_amount_are_refused() -> None:
    with pytest.raises(Unprocessable) as caught:
        denominations.worth(Chips("MAIN", {5: 3}), 14)
    assert (caught.value.code, caught.value.extra["value"]) == ("chips_do_not_add_up", 15)


def test_chips_of_two_sets_are_not_added_up() -> None:
    with pytest.raises(AssertionError):
        Chips("MAIN", {5: 1}) + Chips("OLD", {5: 1})
