"""Sealed bags between the vault and the bank: approved by a manager, entered by another person; chips redeemed."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connections, transaction

from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import EVENTS, posting
from casino.cage.models import BankBag
from casino.reports.verifying import verification
from casino.staff.models import Role
from tests.casino.core.test_concurrency import at_once
from tests.casino.kit import CHIPS, Desk, Kit, book
from tests.casino.transfers.test_transfers import refusal

BOOKS = ("1010", "1015", "1090", "5200/bank")


class Bank:
    """A house with two cage supervisors and a manager."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        self.one, self.other = kit.office(Role.CAGE_SUPERVISOR), kit.office(Role.CAGE_SUPERVISOR)

    def sent(self, bag: str, amount: int, way: str = "to_bank") -> int:
        """Send a bag, approved by a manager; its number."""
        answer = self.kit.approved(self.one, "vault/bags", {"way": way, "bag": bag, "amount": amount})
        return int(answer["bag"]["number"])

    def arrives(self, number: int, amount: int, what: str = "confirm", desk: Desk | None = None) -> Any:
        """Somebody enters what was counted."""
        return (desk or self.other).post(f"vault/bags/{number}/{what}", {"amount": amount, "note": f"N-{number}"})

    def books(self) -> list[int]:
        """What is in the vault, on its way and in the bank, and what bags have cost."""
        vault, *others = self.kit.balance(*BOOKS)
        return [vault - CHIPS, *others]

    def whole(self) -> None:
        """Books and chains are whole, and every rule is kept."""
        assert verification(self.kit.house)["ok"]


@pytest.fixture
def bank(kit: Kit) -> Bank:
    """A house with a bank."""
    return Bank(kit)


def test_cash_goes_to_the_bank_and_comes_back(bank: Bank) -> None:
    first = bank.sent("B-1", 50_000)
    assert bank.books() == [-50_000, 50_000, 0, 0]
    [row] = bank.other.get("vault/bags?state=in_transit").json()["results"]
    assert (row["number"], row["bag"], row["amount"], row["counted"], row["ended_at"]) == (1, "B-1", 50_000, None, None)
    done = bank.arrives(first, 50_000).json()["bag"]
    assert (done["state"], done["difference"], done["note"]) == ("arrived", 0, "N-1")
    assert bank.books() == [-50_000, 0, 50_000, 0]
    second = bank.sent("B-1", 20_000, "from_bank")
    assert (second, bank.books()) == (2, [-50_000, 20_000, 30_000, 0])
    assert bank.arrives(second, 20_000, "receive").status_code == 200
    assert bank.books() == [-30_000, 0, 30_000, 0]
    assert bank.other.get("vault/bags?state=in_transit").json()["results"] == []
    bank.whole()


@pytest.mark.parametrize(
    ("way", "what", "amount", "after"),
    [
        ("to_bank", "confirm", 29_900, [-60_000, 0, 59_900, 100]),
        ("to_bank", "confirm", 30_050, [-60_000, 0, 60_050, -50]),
        ("from_bank", "receive", 0, [-30_000, 0, 0, 30_000]),
        ("from_bank", "receive", 30_001, [1, 0, 0, -1]),
    ],
    ids=["short at the bank", "over at the bank", "an empty bag", "over in the vault"],
)
def test_what_differs_is_approved_by_a_manager(bank: Bank, way: str, what: str, amount: int, after: list[int]) -> None:
    assert bank.arrives(bank.sent("B-1", 30_000), 30_000).status_code == 200
    number = bank.sent("B-2", 30_000, way)
    before = bank.books()
    assert refusal(bank.arrives(number, amount, what)) == (409, "approval_required")
    assert bank.books() == before
    body = {"amount": amount, "note": f"N-{number}"}
    done = bank.kit.approved(bank.other, f"vault/bags/{number}/{what}", body | {"note": "N-7"})["bag"]
    assert (done["difference"], bank.books()) == (amount - 30_000, after)
    bank.whole()


#: Cash of a small house, and chips that players have.
SMALL, OUT = 10_000, 20_000


@pytest.fixture
def small(kit: Kit) -> Bank:
    """A house whose cash in vault and drawer is worth little more than the chips that are out: 20,000, and 10,000
    more. All else is in the bank."""
    kit.players("anna", "bela")
    cashier, supervisor = kit.cashier(), kit.supervisor()
    kit.open_drawer(cashier, cash=6_000, pieces={"1000": 40})
    cashier.ok("buy-ins", {"player": "anna", "amount": OUT})
    cashier.ok("handovers", {"kind": "skim", "cash": OUT, "pieces": {}})
    supervisor.refresh()
    supervisor.ok("handovers/2/take", {"cash": OUT, "pieces": {}})
    found, rest = Bank(kit), in_house(kit) - SMALL - OUT
    assert found.arrives(found.sent("B-0", rest), rest).status_code == 200
    return found


def in_house(kit: Kit) -> int:
    """Cash in the vault and in the drawer."""
    return int(sum(kit.balance("1010", "1020/C1")))


def test_every_way_of_cash_out_of_the_vault_is_known() -> None:
    """Cash goes to drawers, where it stays in the house, to the bank and to the owners, where its cover is checked; the
    rest is what a count has not found."""
    leaves = {name for name, row in EVENTS.items() if any(line.credit == Account.VAULT_CASH for line in row.lines)}
    assert leaves == {
        "float_issued", "drawer_replenished", "bank_sent", "capital_paid_out", "vault_short",
        "counterfeit_note_in_vault",
    }  # fmt: skip


def test_cash_that_chips_out_may_need_does_not_leave_the_house(small: Bank) -> None:
    more = {"way": "to_bank", "bag": "B-1", "amount": SMALL + 1}
    assert refusal(small.one.post("vault/bags", more)) == (409, "approval_required")
    headers = small.kit.approval(small.one, "vault/bags", more)
    before = small.books()
    answer = small.one.post("vault/bags", more, headers=headers)
    assert refusal(answer) == (409, "cover_too_low")
    assert not any(digit in answer.json()["detail"] for digit in "0123456789"), "the vault is counted blind"
    assert small.books() == before and BankBag.objects.filter(house=small.kit.house).count() == 1
    assert small.sent("B-1", SMALL) == 2, "to the last unit"
    assert in_house(small.kit) == OUT
    small.whole()


def test_of_two_bags_at_the_same_moment_one_finds_no_cover(small: Bank) -> None:
    bodies = [{"way": "to_bank", "bag": bag, "amount": SMALL} for bag in ("B-1", "B-2")]
    desks = (small.one, small.other)
    approved = [
        small.kit.approval(desk, "vault/bags", body) for desk, body in zip(desks, bodies, strict=True)
    ]  # fmt: skip
    answers = at_once(
        *(
            partial(desk.post, "vault/bags", body, headers=headers)
            for desk, body, headers in zip(desks, bodies, approved, strict=True)
        )
    )
    assert sorted(answer.status_code for answer in answers) == [201, 409]
    assert in_house(small.kit) == OUT
    small.whole()


def test_trades_for_cash_change_nothing_and_chips_without_cash_take_of_the_cover(kit: Kit, small: Bank) -> None:
    cashier = kit.cashier()
    cashier.ok("cash-outs", {"player": "anna", "amount": 5_000})
    cashier.ok("noncash-buy-ins", {"player": "bela", "amount": 3_000, "means": "card", "reference": "T-1"})
    body = {"way": "to_bank", "bag": "B-1", "amount": SMALL}
    headers = kit.approval(small.one, "vault/bags", body)
    assert refusal(small.one.post("vault/bags", body, headers=headers)) == (409, "cover_too_low")
    small.sent("B-2", SMALL - 3_000)
    small.whole()


def test_nobody_sends_alone_nor_confirms_the_own_bag(bank: Bank) -> None:
    body = {"way": "to_bank", "bag": "B-1", "amount": 500}
    assert refusal(bank.one.post("vault/bags", body)) == (409, "approval_required")
    assert refusal(bank.kit.office(Role.MANAGER).post("vault/bags", body)) == (403, "forbidden")
    assert bank.books() == [0, 0, 0, 0]
    number = bank.sent("B-1", 500)
    assert refusal(bank.arrives(number, 500, desk=bank.one)) == (403, "four_eyes")
    assert refusal(bank.arrives(number, 500, "receive")) == (409, "bag_other_way")
    assert refusal(bank.arrives(9, 500)) == (404, "not_found")
    headers = bank.kit.approval(bank.other, "vault/bags", body)
    assert refusal(bank.other.post("vault/bags", body, headers=headers)) == (409, "bag_in_use")
    assert bank.arrives(number, 500).status_code == 200
    assert refusal(bank.arrives(number, 500)) == (409, "bag_arrived")
    more = {"way": "from_bank", "bag": "B-3", "amount": 501}
    headers = bank.kit.approval(bank.one, "vault/bags", more)
    assert refusal(bank.one.post("vault/bags", more, headers=headers)) == (409, "insufficient_funds")
    bank.whole()


def test_a_bag_arrives_once(bank: Bank) -> None:
    number = bank.sent("B-1", 500)
    third = bank.kit.office(Role.CAGE_SUPERVISOR)

    def arrives(desk: Desk) -> int:
        try:
            return int(bank.arrives(number, 500, desk=desk).status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(arrives, (bank.other, third)))
    assert sorted(found) == [200, 409]
    assert bank.books() == [-500, 0, 500, 0]


def test_bags_stay_as_they_were_written(bank: Bank) -> None:
    bank.sent("B-1", 500)
    [found] = BankBag.objects.filter(house=bank.kit.house)
    for alias in ("default", "owner"):
        for statement in (
            f"UPDATE cage_bankbag SET amount = 1 WHERE id = {found.pk}",
            f"UPDATE cage_bankbag SET state = 'arrived', counted = 500, note = 'N', ended_by_id = sent_by_id, "
            f"ended_at = now() WHERE id = {found.pk}",
            f"DELETE FROM cage_bankbag WHERE id = {found.pk}",
        ):
            with (
                pytest.raises(Exception, match=r"keeps its|permission denied|bank_bag_arrived_by_another"),
                transaction.atomic(using=alias),
                connections[alias].cursor() as cursor,
            ):
                cursor.execute(statement)


def test_another_house_pays_for_its_chips(bank: Bank) -> None:
    bank.kit.players("anna", chips=5_000)
    book(bank.kit.house, "command:foreign", posting("foreign_chips", {"drawer": "C1"}, amount=4_000))
    book(bank.kit.house, "command:moved", posting("foreign_to_vault", {"drawer": "C1"}, amount=4_000))
    body = {"issuer": "Casino Wien", "amount": 3_000, "paid": 2_850, "note": "N-1"}
    assert refusal(bank.one.post("vault/foreign-chips", body)) == (409, "approval_required")
    done = bank.kit.approved(bank.one, "vault/foreign-chips", body | {"note": "N-2"})
    assert (done["amount"], done["paid"]) == (3_000, 2_850)
    assert bank.kit.balance("1160/vault", "1090", "5220") == [1_000, 2_850, 150]
    # Refused altogether.
    bank.kit.approved(bank.one, "vault/foreign-chips", body | {"amount": 1_000, "paid": 0})
    assert bank.kit.balance("1160/vault", "1090", "5220") == [0, 2_850, 1_150]
    assert refusal(bank.one.post("vault/foreign-chips", body | {"paid": 3_001})) == (422, "paid_too_much")
    headers = bank.kit.approval(bank.one, "vault/foreign-chips", body | {"paid": 1})
    assert refusal(bank.one.post("vault/foreign-chips", body | {"paid": 1}, headers=headers)) == (
        409, "insufficient_funds",
    )  # fmt: skip
    bank.whole()
