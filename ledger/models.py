"""The three tables of the ledger, for reading only.

Rows are written by the functions in `migrations/sql/posting.sql` and by nothing else: the application's role has no
right to INSERT, UPDATE, DELETE or TRUNCATE here, and triggers (`migrations/sql/guards.sql`) refuse whatever would break
an invariant even to the owner. So `Model.save()` on these classes fails by design; post through `ledger.posting`.

Foreign keys carry no database constraint: the guard triggers check every reference when a row comes in, deletion and
re-keying are refused, and unlike foreign keys those triggers also hold under `session_replication_role = replica`.
"""

from django.db import models
from django.db.models import F, Q


class Account(models.Model):
    """One pile of one commodity, with its balance now; `balance` counts on the account's normal side."""

    id = models.BigAutoField(primary_key=True)
    book = models.UUIDField()
    code = models.TextField()
    kind = models.TextField()
    commodity = models.TextField()
    normal_side = models.SmallIntegerField()
    """+1: debits raise the balance (assets, expenses, custody); -1: credits raise it (liabilities, income)."""
    min_balance = models.BigIntegerField(null=True)
    """Floor of `balance` after every transaction; null for none."""
    balance = models.BigIntegerField()
    version = models.BigIntegerField()
    """Number of entries so far, and so the version of the newest one."""
    posted_at = models.DateTimeField(null=True)
    """Time of the newest entry; the next posting is never stamped earlier."""
    lock_rank = models.IntegerField()
    """Accounts are locked in the order of (lock_rank, id): give shared accounts the higher rank."""
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["book", "code", "commodity"], name="ledger_account_code_key"),
            models.CheckConstraint(condition=Q(normal_side__in=[-1, 1]), name="ledger_account_side"),
            models.CheckConstraint(
                condition=Q(min_balance__isnull=True) | Q(balance__gte=F("min_balance")), name="ledger_account_floor"
            ),
            models.CheckConstraint(condition=Q(version__gte=0), name="ledger_account_version"),
            models.CheckConstraint(
                condition=Q(closed_at__isnull=True) | Q(balance=0), name="ledger_account_closed_empty"
            ),
            models.CheckConstraint(condition=~Q(code="") & ~Q(kind="") & ~Q(commodity=""), name="ledger_account_named"),
        ]

    def __str__(self) -> str:
        return f"{self.code} [{self.commodity}]"


class Transaction(models.Model):
    """One posting: the key that makes it happen once, and when it happened."""

    # bigint rather than uuid: every entry repeats it in the row and in an index, 16 bytes a leg less.
    id = models.BigAutoField(primary_key=True)
    book = models.UUIDField()
    idempotency_key = models.TextField()
    request_hash = models.BinaryField()
    kind = models.TextField()
    reverses = models.ForeignKey(
        "self", null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="reversals"
    )
    posted_at = models.DateTimeField()
    """The database's clock after the accounts were locked."""
    occurred_at = models.DateTimeField(null=True)
    """When the caller says it happened; kept, never used for order."""
    metadata = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["book", "idempotency_key"], name="ledger_transaction_key_key"),
            models.UniqueConstraint(
                fields=["reverses"], condition=Q(reverses__isnull=False), name="ledger_transaction_reverses_key"
            ),
            models.CheckConstraint(condition=~Q(idempotency_key="") & ~Q(kind=""), name="ledger_transaction_named"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.idempotency_key}"


class Entry(models.Model):
    """One leg as it landed on its account: the account's history is its entries by version."""

    pk = models.CompositePrimaryKey("account_id", "version")
    account = models.ForeignKey(
        Account, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="entries"
    )
    version = models.BigIntegerField()
    transaction = models.ForeignKey(
        Transaction, on_delete=models.DO_NOTHING, db_constraint=False, related_name="entries"
    )
    amount = models.BigIntegerField()
    """Debit positive, credit negative, in the commodity's smallest unit."""
    balance_after = models.BigIntegerField()
    """The account's balance with this entry, on the account's normal side."""

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(amount=0), name="ledger_entry_moves"),
            models.CheckConstraint(condition=Q(version__gte=1), name="ledger_entry_version"),
        ]

    def __str__(self) -> str:
        return f"{self.account_id} v{self.version}: {self.amount:+d}"
