"""The ledger itself as a subject: a book with every guarantee, settled through `ledger.posting`."""

import inspect
import uuid
from collections.abc import Sequence
from dataclasses import fields
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

LANES = 16
"""Over how many rows the house's one account is spread, where the ledger can."""


def has_alone() -> bool:
    """Whether a posting can be a transaction of its own in one round trip."""
    from ledger import posting

    return "alone" in inspect.signature(posting.post).parameters


def has_batches() -> bool:
    """Whether many postings can be made at once."""
    from ledger import posting

    return hasattr(posting, "post_many")


def has_lanes() -> bool:
    """Whether a crowded account can be spread over several rows."""
    from ledger import posting

    return any(field.name == "lanes" for field in fields(posting.AccountSpec))


def open_book(*, lanes: bool = True) -> Stage:
    """A new book with the accounts of all tables, the pots full; stacks and pots have floors."""
    from django.db import transaction

    from ledger.posting import CREDIT, DEBIT, AccountSpec, Leg, ensure_accounts, post

    book = str(uuid.uuid4())
    spread: dict[str, Any] = {"lanes": LANES} if lanes and has_lanes() else {}
    specs = [AccountSpec("bank", "asset", COMMODITY, DEBIT, None)]
    specs += [AccountSpec(HOUSE_CODE, "income", COMMODITY, CREDIT, None, 9, **spread)]
    specs += [
        AccountSpec(account_code(role, table), "liability", COMMODITY, CREDIT, None if role == "tax" else 0)
        for role in ROLES
        for table in range(TABLES)
    ]
    with transaction.atomic():
        ids = {code: account for (code, _), account in ensure_accounts(book, specs).items()}
        pots = [Leg(ids[account_code("pot", table)], -FUNDS) for table in range(TABLES)]
        post(book, "funds", "funding", [Leg(ids["bank"], FUNDS * TABLES), *pots], {})
    return Stage.of(book, ids)


class Posted:
    """`post` inside `transaction.atomic`, as a service calls it."""

    def __init__(self, stage: Stage) -> None:
        from django.db import transaction

        from ledger.posting import Leg, post

        self.stage, self.book = stage, stage.book
        self.leg, self.post, self.atomic = Leg, post, transaction.atomic

    def __call__(self, settlements: Sequence[Settlement]) -> None:
        for one in settlements:
            legs = [self.leg(account, amount) for account, amount in zip(one.accounts, AMOUNTS, strict=True)]
            with self.atomic():
                self.post(self.book, one.key, KIND, legs, one.metadata)


class PostedAlone(Posted):
    """`post` as a transaction of its own."""

    def __call__(self, settlements: Sequence[Settlement]) -> None:
        for one in settlements:
            legs = [self.leg(account, amount) for account, amount in zip(one.accounts, AMOUNTS, strict=True)]
            self.post(self.book, one.key, KIND, legs, one.metadata, alone=True)


class PostedInOne(Posted):
    """`post`, all settlements of one call in one transaction: for filling a book where there are no batches."""

    def __call__(self, settlements: Sequence[Settlement]) -> None:
        with self.atomic():
            for one in settlements:
                legs = [self.leg(account, amount) for account, amount in zip(one.accounts, AMOUNTS, strict=True)]
                self.post(self.book, one.key, KIND, legs, one.metadata)


class PostedTogether(Posted):
    """`post_many`: all settlements of one call in one transaction."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        from ledger.posting import Posting, post_many

        self.posting, self.post_many = Posting, post_many

    def __call__(self, settlements: Sequence[Settlement]) -> None:
        postings = [
            self.posting(
                one.key,
                KIND,
                [self.leg(account, amount) for account, amount in zip(one.accounts, AMOUNTS, strict=True)],
                one.metadata,
            )
            for one in settlements
        ]
        with self.atomic():
            self.post_many(self.book, postings)
