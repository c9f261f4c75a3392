"""Weights: tokens in the public's hands are worth exactly what is owed for them, no matter who writes."""

from dataclasses import dataclass

import pytest

from ledger import errors, posting
from ledger.balances import balances
from ledger.posting import AccountSpec, Leg, Posting
from tests.ledger.sessions import in_block
from tests.ledger.support import OWNER, Row, Shop, forge, refusal, run, sqlstate, verified

FIVE, HUNDRED = 500, 10_000


@dataclass(frozen=True)
class Counter:
    """A counter that sells chips of 5 and 100 euros: what is owed for them, who has them, where the rest lies."""

    shop: Shop
    owed: int
    out5: int
    rack5: int
    out100: int
    rack100: int

    def sell(self, key: str, fives: int, hundreds: int = 0) -> None:
        """Cash in, chips out, and a debt for them."""
        self.shop.post(key, *self.sale(fives, hundreds))

    def sale(self, fives: int, hundreds: int = 0) -> list[tuple[int, int]]:
        """The legs of a sale."""
        value = fives * FIVE + hundreds * HUNDRED
        legs = [
            (self.shop.till, value), (self.owed, -value),
            (self.out5, fives), (self.rack5, -fives), (self.out100, hundreds), (self.rack100, -hundreds),
        ]  # fmt: skip
        return [leg for leg in legs if leg[1]]

    def hand_out(self, fives: int) -> list[tuple[int, int]]:
        """Chips for nothing."""
        return [(self.out5, fives), (self.rack5, -fives)]

    def borrow(self, value: int) -> list[tuple[int, int]]:
        """A debt for nothing."""
        return [(self.shop.till, value), (self.owed, -value)]


@pytest.fixture
def counter(shop: Shop) -> Counter:
    """A counter in the shop's book; nothing is sold yet."""
    specs = [
        AccountSpec("owed", "liability", "EUR", posting.CREDIT, weight=1),
        AccountSpec("out", "custody", "EUR.5", posting.DEBIT, weight=FIVE),
        AccountSpec("rack", "custody", "EUR.5", posting.DEBIT, None),
        AccountSpec("out", "custody", "EUR.100", posting.DEBIT, weight=HUNDRED),
        AccountSpec("rack", "custody", "EUR.100", posting.DEBIT, None),
    ]
    ids = in_block(lambda: posting.ensure_accounts(shop.book, specs))
    return Counter(shop, *(ids[spec.code, spec.commodity] for spec in specs))


def test_a_sale_and_a_change_are_backed(counter: Counter) -> None:
    counter.sell("sale", 40, 3)
    colour_up = [(counter.out5, -20), (counter.rack5, 20), (counter.out100, 1), (counter.rack100, -1)]
    counter.shop.post("change", *colour_up)
    held = balances([counter.owed, counter.out5, counter.out100])
    assert [held[account].balance for account in (counter.owed, counter.out5, counter.out100)] == [50_000, 20, 4]
    verified(counter.shop.book)


def test_unbacked_in_both_directions(counter: Counter) -> None:
    counter.sell("sale", 40)
    for legs, weight in (
        (counter.hand_out(1), FIVE),
        (counter.hand_out(-1), -FIVE),
        (counter.borrow(1), -1),
        (counter.borrow(-1), 1),
        (counter.sale(2) + counter.borrow(1), -1),
        (counter.sale(2)[:2] + counter.hand_out(3), FIVE),
    ):
        error = refusal(errors.Unbacked, counter.shop, *legs)
        assert (error.code, error.params["weight"]) == ("unbacked", weight)


def test_what_weighs_nothing_is_free(counter: Counter) -> None:
    shop = counter.shop
    safe = in_block(lambda: posting.open_account(shop.book, "safe", "custody", "EUR.5", posting.DEBIT, None))
    shop.post("to the safe", (counter.rack5, -100), (safe, 100))
    shop.pay_in("deposit", shop.anna, 5)
    verified(shop.book)


def test_each_posting_of_a_batch_is_backed_for_itself(counter: Counter) -> None:
    """Together the two would weigh nothing."""
    shop = counter.shop
    batch = [
        Posting("chips", "test", [Leg(*leg) for leg in counter.hand_out(1)]),
        Posting("debt", "test", [Leg(*leg) for leg in counter.borrow(FIVE)]),
    ]
    with pytest.raises(errors.Unbacked):
        in_block(lambda: posting.post_many(shop.book, batch))
    whole = [Posting(f"{n}", "test", [Leg(*leg) for leg in counter.sale(n)]) for n in range(1, 9)]
    in_block(lambda: posting.post_many(shop.book, whole))
    verified(shop.book)


def test_rows_of_the_owner_are_backed_too(counter: Counter) -> None:
    shop = counter.shop
    chips = [Row(counter.out5, 1, 2, 2), Row(counter.rack5, 1, -2, -2)]
    for value in (999, 1001):
        with sqlstate("LG019"):
            forge(shop.book, [*chips, Row(shop.till, 1, value, value), Row(counter.owed, 1, -value, value)])
    with sqlstate("LG019"):
        forge(shop.book, chips)
    forge(shop.book, [*chips, Row(shop.till, 1, 1000, 1000), Row(counter.owed, 1, -1000, 1000)])
    with sqlstate("LG014"):
        run(OWNER, "UPDATE ledger_account SET weight = 1 WHERE id = %s", [counter.out5])
    verified(shop.book)


def test_reversal_of_a_sale(counter: Counter) -> None:
    posted = counter.shop.post("sale", *counter.sale(3))
    in_block(lambda: posting.reverse(counter.shop.book, "undo", posted.transaction_id, {}))
    verified(counter.shop.book)


def test_weights_neither_wrap_round_nor_pass(shop: Shop) -> None:
    """A leg's weight is kept in 64 bits, their sum in as many as it needs."""
    big = 2**62 - 1
    weights = (big, big, 0, -big)
    specs = [AccountSpec(f"a{n}", "any", "X", posting.DEBIT, None, weight=weight) for n, weight in enumerate(weights)]
    a, b, light, c = in_block(lambda: posting.ensure_accounts(shop.book, specs)).values()
    assert refusal(errors.Unbacked, shop, (a, 1), (b, 1), (light, -2)).params["weight"] == 2 * big
    assert refusal(errors.Unbacked, shop, (a, 1), (a, 1), (b, 1), (b, 1), (light, -4)).params["weight"] == 4 * big
    assert refusal(errors.Unbacked, shop, (a, 4), (light, -4)).params["weight"] == 4 * big
    shop.post("backed", (a, 1), (b, -1))
    shop.post("backed too", (a, 1), (c, 1), (light, -2))
    verified(shop.book)


def test_lanes_weigh_as_their_account(shop: Shop) -> None:
    specs = [
        AccountSpec("heavy", "any", "EUR", posting.DEBIT, None, weight=3, lanes=2),
        AccountSpec("light", "any", "EUR", posting.DEBIT, None, weight=3),
    ]
    heavy, light = in_block(lambda: posting.ensure_accounts(shop.book, specs)).values()
    refusal(errors.Unbacked, shop, (heavy, 1), (shop.till, -1))
    shop.post("k", (heavy, 1), (light, -1))
    verified(shop.book)
