"""What the ledger is compared with through Django: django-hordak, and careful models of one's own."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from tests.bench.ledger.workload import (
    AMOUNTS,
    COMMODITY,
    FUNDS,
    HOUSE_CODE,
    KIND,
    ROLES,
    TABLES,
    Settlement,
    Stage,
    account_code,
)

CODES = [HOUSE_CODE, *(account_code(role, table) for role in ROLES for table in range(TABLES))]


def migrate() -> None:
    """The tables of both references, in the schema that their settings name."""
    from django.core.management import call_command
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA IF NOT EXISTS reference")
    call_command("migrate", run_syncdb=True, verbosity=0)


def open_hordak() -> Stage:
    """Accounts of django-hordak, which keeps no balance on them, checked to refuse what does not balance."""
    from hordak.models import Account, AccountType

    migrate()
    kinds = {"pot": AccountType.liability, "tax": AccountType.income}
    ids = {}
    for code in CODES:
        kind = kinds.get(code.split(":")[0], AccountType.liability)
        ids[code] = Account.objects.create(name=code, type=kind, currencies=[COMMODITY]).id
    stage = Stage.of("hordak", ids)
    check_hordak_refuses(stage)
    return stage


def check_hordak_refuses(stage: Stage) -> None:
    """Raise AssertionError unless a transaction that does not sum to zero is refused by hordak's trigger."""
    from django.db import DatabaseError

    pot, first, second, tax = stage.tables[0]
    try:
        Hordak(stage, amounts=(1000, -400, -550, -49))([Settlement("unbalanced", (pot, first, second, tax), {})])
    except DatabaseError as error:
        if "must be 0" in str(error):
            return
        raise
    raise AssertionError("django-hordak took a transaction that does not balance: its triggers are not there")


class Hordak:
    """The way of hordak's own tests and benchmark: a transaction, and `bulk_create` of its legs.

    It has no idempotency keys and no balance to guard by a floor; the key goes into the description.
    """

    def __init__(self, stage: Stage, amounts: Sequence[int] = AMOUNTS) -> None:
        from django.db import transaction
        from hordak.models import Account, Leg, Transaction
        from moneyed import Money

        self.atomic, self.leg, self.transaction = transaction.atomic, Leg, Transaction
        self.accounts: dict[int, Any] = Account.objects.in_bulk()
        # In hordak's words a debit takes from the side that a credit adds to; amounts are decimals of whole units.
        self.sides = [
            ("debit" if amount > 0 else "credit", Money(Decimal(abs(amount)) / 100, COMMODITY)) for amount in amounts
        ]

    def __call__(self, settlements: Sequence[Settlement]) -> None:
        for one in settlements:
            with self.atomic():
                made = self.transaction.objects.create(description=one.key)
                self.leg.objects.bulk_create(
                    self.leg(transaction=made, account=self.accounts[account], **{side: amount})
                    for account, (side, amount) in zip(one.accounts, self.sides, strict=True)
                )


def open_plain() -> Stage:
    """Accounts of the plain models."""
    from tests.bench.ledger.plain_orm.models import Account

    migrate()
    made = Account.objects.bulk_create(
        Account(code=code, balance=FUNDS if code.startswith("pot") else 0, min_balance=0) for code in CODES
    )
    return Stage.of("plain", {account.code: account.pk for account in made})


class Plain:
    """Ordinary careful Django: lock the accounts in one order, check, write the rows, move the balances by F()."""

    def __init__(self, stage: Stage) -> None:
        from django.db import transaction

        from tests.bench.ledger.plain_orm import models

        self.atomic, self.models = transaction.atomic, models

    def __call__(self, settlements: Sequence[Settlement]) -> None:
        for one in settlements:
            with self.atomic():
                self.settle(one)

    def settle(self, one: Settlement) -> None:
        """One settlement; balances count credits, as all accounts are liabilities."""
        from django.db.models import F

        models = self.models
        accounts = {
            a.pk: a for a in models.Account.objects.select_for_update().filter(pk__in=one.accounts).order_by("pk")
        }
        legs = list(zip(one.accounts, AMOUNTS, strict=True))
        if sum(AMOUNTS) != 0 or any(accounts[pk].balance - amount < accounts[pk].min_balance for pk, amount in legs):
            raise ValueError("unbalanced, or not enough funds")
        made = models.Transaction.objects.create(key=one.key, kind=KIND, metadata=one.metadata)
        models.Entry.objects.bulk_create(
            models.Entry(
                transaction=made, account=accounts[pk], amount=amount, balance_after=accounts[pk].balance - amount
            )
            for pk, amount in legs
        )
        for pk, amount in legs:
            accounts[pk].balance = F("balance") - amount
            accounts[pk].save(update_fields=["balance"])
