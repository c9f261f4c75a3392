"""What a book went through, put in order by versions and played again through the model.

Nothing here depends on when somebody answered: a transaction comes before another where it has the lower version on an
account of both.
"""

import uuid
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from graphlib import TopologicalSorter

from ledger import models
from ledger.posting import AccountSpec, Balance, Leg, Posted, Posting
from tests.ledger.model import Account, Book


@dataclass(frozen=True)
class Done:
    """A committed transaction with its entries: (account, version, amount, balance_after), by account and version."""

    id: int
    key: str
    kind: str
    reverses: int | None
    posted_at: datetime
    entries: tuple[tuple[int, int, int, int], ...]

    @property
    def left(self) -> dict[int, Balance]:
        """What it left on each account."""
        return {account: Balance(after, version) for account, version, _, after in self.entries}


def read(book: uuid.UUID) -> dict[int, Done]:
    """All transactions of a book by id."""
    entries: dict[int, list[tuple[int, int, int, int]]] = defaultdict(list)
    rows = models.Entry.objects.filter(account__book=book).order_by("account_id", "version")
    for transaction, *entry in rows.values_list("transaction_id", "account_id", "version", "amount", "balance_after"):
        entries[transaction].append(tuple(entry))
    fields = ("id", "idempotency_key", "kind", "reverses_id", "posted_at")
    heads = models.Transaction.objects.filter(book=book).values_list(*fields)
    return {head[0]: Done(*head, tuple(entries[head[0]])) for head in heads}


def in_order(done: dict[int, Done]) -> list[Done]:
    """Before each transaction those that it follows on any account; fails where they go round in a circle, or where
    time runs backwards between two of them."""
    tips: dict[int, dict[int, int]] = defaultdict(dict)
    for one in done.values():
        for account, version, _, _ in one.entries:
            tips[account][version] = one.id
    before: dict[int, set[int]] = {number: set() for number in done}
    for versions in tips.values():
        assert sorted(versions) == list(range(1, len(versions) + 1))
        for version, number in versions.items():
            earlier = versions.get(version - 1, number)
            assert done[earlier].posted_at <= done[number].posted_at
            if earlier != number:
                before[number].add(earlier)
    for one in done.values():
        if one.reverses is not None:
            before[one.id].add(one.reverses)
    return [done[number] for number in TopologicalSorter(before).static_order()]


def play(book: uuid.UUID) -> dict[int, Done]:
    """Play a book's history through the model: each transaction must be accepted and leave exactly its entries.

    Lanes are accounts like others here: each posting landed on one. Returns the transactions by id.
    """
    model = Book()
    for row in models.Account.objects.filter(book=book):
        spec = AccountSpec(row.code, row.kind, row.commodity, row.normal_side, row.min_balance, 0, row.weight)
        model.accounts[row.id] = Account(spec)
    done = read(book)
    for one in in_order(done):
        posting = Posting(one.key, one.kind, [Leg(account, amount) for account, _, amount, _ in one.entries])
        if one.reverses is None:
            outcome = model.post([posting], None)
        else:
            outcome = model.reverse(posting, one.reverses, None)
        assert (outcome.faults, outcome.replayed) == (set(), [False]), one
        assert outcome.left == [one.left], one
        model.ids[one.id] = one.key
    for row in models.Account.objects.filter(book=book, lanes=0):
        assert model.accounts[row.id].now == Balance(row.balance, row.version)
    return done


def agree(answers: list[Posted], done: dict[int, Done]) -> None:
    """What clients received is what was written, all of it and nothing else: each transaction was the news to one of
    them, and a replay to the rest."""
    parents = dict(models.Account.objects.filter(parent__isnull=False).values_list("id", "parent_id"))
    news = [answer.transaction_id for answer in answers if not answer.replayed]
    assert sorted(news) == sorted(done)
    for answer in answers:
        one = done[answer.transaction_id]
        assert answer.posted_at == one.posted_at
        left = one.left
        own = {account if account in answer.balances else parents[account]: held for account, held in left.items()}
        assert dict(answer.balances) == own, one
