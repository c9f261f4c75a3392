"""Many sessions at once do anything at random on the same accounts; their history is then played through the model.

`LEDGER_CROWDS=50` in the environment asks for more of them than an ordinary run has.
"""

import os
from dataclasses import dataclass, field
from random import Random

import pytest
from django.db import transaction

from ledger import checks, holds, periods, posting, snapshots
from ledger.errors import InsufficientFunds, LedgerError
from ledger.models import Entry, Hold
from ledger.posting import CREDIT, DEBIT, AccountSpec, Leg, Posted, Posting
from tests.ledger.history import agree, play
from tests.ledger.sessions import THREADS, in_block, together
from tests.ledger.support import Shop, verified

CROWDS = int(os.environ.get("LEDGER_CROWDS", "2"))
TURNS = 18
MAY_BE = {
    "insufficient_funds", "key_reused", "already_reversed", "cannot_reverse_reversal", "hold_ended", "unknown_hold",
    "period_not_open",
}  # fmt: skip
"""What may rightly be refused here; everything else, a deadlock above all, is a failure."""


@dataclass
class Member:
    """One of the crowd: what it was recorded."""

    shop: Shop
    extra: list[int]
    number: int
    dice: Random
    answers: list[Posted] = field(default_factory=list)
    refusals: list[LedgerError] = field(default_factory=list)
    turn: int = 0

    def act(self) -> None:
        """One thing at random."""
        deeds = [self.post, self.post, self.post, self.alone, self.batch, self.reverse, self.hold, self.end_hold,
                 self.day, self.look]  # fmt: skip
        self.turn += 1
        try:
            self.dice.choice(deeds)()
        except LedgerError as error:
            if error.code not in MAY_BE:
                raise
            self.refusals.append(error)

    def legs(self) -> list[Leg]:
        """A payment between some of the accounts, legs in any order, or a sale of chips."""
        shop, dice = self.shop, self.dice
        spread, debt, out, rack = self.extra
        if dice.random() < 0.2:
            value = dice.choice([-1, 1, 2, 3])
            pairs = [(shop.till, 5 * value), (debt, -5 * value), (out, value), (rack, -value)]
        elif dice.random() < 0.3:
            value = dice.randint(1, 30)
            pairs = [(shop.till, value), (dice.choice([shop.anna, shop.bela, spread]), -value)]
        else:
            several = dice.sample([shop.till, shop.anna, shop.bela, spread], dice.randint(2, 4))
            pairs = [(account, dice.choice([-1, 1]) * dice.randint(1, 12)) for account in several[1:]]
            total = -sum(amount for _, amount in pairs)
            pairs.append((several[0], total) if total else (several[1], 3))
            if not total:
                pairs.append((several[0], -3))
        dice.shuffle(pairs)
        return [Leg(*pair) for pair in pairs]

    def posting(self) -> Posting:
        """With a key of its own, or one that all the others use too, for the same posting."""
        if self.dice.random() < 0.2:
            common = self.dice.randint(1, 9)
            shop = self.shop
            return Posting(f"common {common}", "gift", [Leg(shop.till, common), Leg(shop.anna, -common)])
        return Posting(f"{self.number}:{self.turn}:{self.dice.random()}", "own", self.legs())

    def post(self) -> None:
        """In a transaction."""
        one = self.posting()
        self.recorded([in_block(lambda: posting.post(self.shop.book, one.key, one.kind, one.legs, {}))])

    def alone(self) -> None:
        """Without one."""
        one = self.posting()
        self.recorded([posting.post(self.shop.book, one.key, one.kind, one.legs, {}, alone=True)])

    def batch(self) -> None:
        """Several, sorted by key: two batches that share keys must not wait for each other in a circle."""
        made = sorted({one.key: one for one in (self.posting() for _ in range(4))}.values(), key=lambda one: one.key)
        self.recorded(in_block(lambda: posting.post_many(self.shop.book, made)))

    def reverse(self) -> None:
        """Anything that anybody posted."""
        entry = Entry.objects.filter(account_id=self.shop.till).order_by("version").values_list("transaction_id")
        known = [number for (number,) in entry]
        if known:
            number = self.dice.choice(known)
            key = f"undo {number}" if self.dice.random() < 0.5 else f"undo {self.number}:{self.turn}"
            self.recorded([in_block(lambda: posting.reverse(self.shop.book, key, number, {}))])

    def hold(self) -> None:
        """A chain of its own."""
        chain = [self.posting() for _ in range(self.dice.randint(1, 2))]
        chain = [one for one in chain if one.kind == "own"]
        if chain:
            seconds = self.dice.choice([1, 600])
            in_block(lambda: holds.hold(self.shop.book, f"{self.number}:{self.turn}", chain, seconds=seconds))

    def end_hold(self) -> None:
        """Anybody's, in either way; or tidy up."""
        keys = list(Hold.objects.filter(book=self.shop.book).values_list("key", flat=True))
        deed = self.dice.randint(0, 3)
        if deed == 3 or not keys:
            in_block(lambda: holds.expire_holds(self.shop.book))
        elif deed == 2:
            in_block(lambda: holds.void_hold(self.shop.book, self.dice.choice(keys)))
        else:
            self.recorded(in_block(lambda: holds.post_hold(self.shop.book, self.dice.choice(keys))))

    def day(self) -> None:
        """Open the next period and close the one before; two may be at it at once."""
        day = len(periods.periods(self.shop.book))
        in_block(lambda: periods.open_period(self.shop.book, f"day {day + 1}"))
        if day > 1:
            in_block(lambda: periods.close_period(self.shop.book, f"day {day - 1}"))

    def look(self) -> None:
        """Sums are zero at every moment."""
        assert checks.trial_balance(self.shop.book).balanced
        in_block(lambda: snapshots.take(self.shop.book, f"{self.number}:{self.turn}"))

    def recorded(self, answers: list[Posted]) -> None:
        """Remember the answers."""
        self.answers += answers


SPECS = [
    AccountSpec("spread", "income", "EUR", CREDIT, None, lanes=4),
    AccountSpec("debt", "liability", "EUR", CREDIT, weight=1),
    AccountSpec("out", "custody", "CHIP", DEBIT, weight=5),
    AccountSpec("rack", "custody", "CHIP", DEBIT, None, 2),
]


@pytest.mark.some_now(2)
@pytest.mark.parametrize("seed", range(CROWDS))
def test_a_crowd(shop: Shop, seed: int) -> None:
    with transaction.atomic():
        ids = posting.ensure_accounts(shop.book, SPECS)
        periods.open_period(shop.book, "day 1")
    extra = [ids[spec.code, spec.commodity] for spec in SPECS]
    opening = [shop.pay_in("float 1", shop.anna, 60), shop.pay_in("float 2", shop.bela, 60)]
    crowd = [Member(shop, extra, number, Random(f"{seed}:{number}")) for number in range(THREADS)]

    def work(number: int) -> int:
        for _ in range(TURNS):
            crowd[number].act()
        return crowd[number].turn

    assert together(work) == [TURNS] * THREADS
    verified(shop.book)
    done = play(shop.book)
    agree(opening + [answer for member in crowd for answer in member.answers], done)
    refused_rightly([error for member in crowd for error in member.refusals], shop)
    assert len(done) > THREADS * TURNS / 8


def refused_rightly(refusals: list[LedgerError], shop: Shop) -> None:
    """Each account named for want of funds did hold once what was said of it."""
    for error in refusals:
        if isinstance(error, InsufficientFunds):
            said = error.params
            assert said["needed"] > said["balance"] - said["held"]
            known = Entry.objects.filter(account_id=said["account"], balance_after=said["balance"]).exists()
            assert known or said["balance"] == 0
