"""The tables of the ledger, for reading only.

Rows are written by the functions in `migrations/sql/` and by nothing else: the application's role has no
right to INSERT, UPDATE, DELETE or TRUNCATE here, and triggers (`migrations/sql/guards.sql`) refuse whatever would break
an invariant even to the owner. So `Model.save()` on these classes fails by design; post through `ledger.posting`.

Foreign keys carry no database constraint: the guard triggers check every reference when a row comes in, deletion and
re-keying are refused, and unlike foreign keys those triggers also hold under `session_replication_role = replica`.
CHECKs that Django cannot say, and the table of seals, are in `migrations/sql/tables.sql`.
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
    held = models.BigIntegerField(default=0)
    """How much of `balance` pending holds set aside; the floor counts it as gone."""
    lock_rank = models.IntegerField()
    """Accounts are locked in the order of their ids, which grow with the rank: give shared accounts the higher rank."""
    weight = models.BigIntegerField(default=0)
    """Over every transaction the sum of weight * amount is zero, across commodities; see `posting.AccountSpec`."""
    lanes = models.SmallIntegerField(default=0)
    """Over how many rows (`parent` this one, ids following this one's) the account is spread; 0: it holds itself."""
    parent = models.ForeignKey(
        "self", null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="lane_set"
    )
    """The account that this one is a lane of."""
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["book", "code", "commodity"], name="ledger_account_code_key"),
            models.CheckConstraint(
                condition=Q(min_balance__isnull=True) | Q(balance__gte=F("min_balance") + F("held")),
                name="ledger_account_floor",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.code} [{self.commodity}]"


class Transaction(models.Model):
    """One posting: the key that makes it happen once, and when it happened."""

    # bigint rather than uuid: every entry repeats it in the row and in an index, 16 bytes a leg less.
    id = models.BigAutoField(primary_key=True)
    book = models.UUIDField()
    idempotency_key = models.TextField()
    """Unique in its book: by an index on its digest (migrations/sql/tables.sql), a third of the size of one on
    book and key. Find transactions by key with `posting.find`, which uses it."""
    kind = models.TextField()
    period = models.ForeignKey(
        "Period", null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    """The period it belongs to; null in a book that had none yet."""
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
            models.UniqueConstraint(
                fields=["reverses"], condition=Q(reverses__isnull=False), name="ledger_transaction_reverses_key"
            ),
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
        ]

    def __str__(self) -> str:
        return f"{self.account_id} v{self.version}: {self.amount:+d}"


class Period(models.Model):
    """A stretch of a book that closes: a gaming day. Several may be open; a closed one takes no transaction."""

    id = models.AutoField(primary_key=True)
    book = models.UUIDField()
    name = models.TextField()
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["book", "name"], name="ledger_period_name_key"),
        ]
        indexes = [
            # Postings look for the newest open period; the cost does not grow with the number of closed periods.
            models.Index(fields=["book", "id"], condition=Q(closed_at=None), name="ledger_period_open"),
        ]

    def __str__(self) -> str:
        return self.name


class HoldState(models.TextChoices):
    """What became of a hold."""

    PENDING = "pending"
    POSTED = "posted"
    VOIDED = "voided"
    EXPIRED = "expired"


class Hold(models.Model):
    """A chain of postings reserved until it is posted, voided or out of time."""

    id = models.BigAutoField(primary_key=True)
    book = models.UUIDField()
    key = models.TextField()
    postings = models.JSONField()
    """As asked for: a list of {key, kind, metadata, occurred_at, legs: [[account, amount], ...]}."""
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    state = models.TextField(choices=HoldState)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["book", "key"], name="ledger_hold_key_key"),
            models.CheckConstraint(condition=Q(state__in=HoldState.values), name="ledger_hold_state"),
        ]
        indexes = [
            models.Index(fields=["book", "expires_at"], condition=Q(state="pending"), name="ledger_hold_pending"),
        ]

    def __str__(self) -> str:
        return f"{self.key} {self.state}"


class Reserve(models.Model):
    """What a hold sets aside on one account, in minor units, until it is released."""

    pk = models.CompositePrimaryKey("hold_id", "account_id")
    hold = models.ForeignKey(
        Hold, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="reserves"
    )
    account = models.ForeignKey(
        Account, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="reserves"
    )
    amount = models.BigIntegerField()
    expires_at = models.DateTimeField()
    """That of its hold: a reserve that is out of time is found without reading those that are not."""
    released_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["account", "expires_at"], condition=Q(released_at=None), name="ledger_reserve_unreleased"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.account_id}: {self.amount}"


class Claim(models.Model):
    """The hold that claimed a posting's key last; while that hold is pending, nothing else posts under the key."""

    digest = models.UUIDField(primary_key=True)
    """Of book and key, as in the index of transactions by key."""
    hold = models.ForeignKey(
        Hold, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="claims"
    )

    def __str__(self) -> str:
        return f"{self.digest}: hold {self.hold_id}"


class Snapshot(models.Model):
    """What every account that ever moved held at one instant."""

    id = models.BigAutoField(primary_key=True)
    book = models.UUIDField()
    name = models.TextField()
    taken_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["book", "name"], name="ledger_snapshot_name_key"),
        ]

    def __str__(self) -> str:
        return self.name


class SnapshotLine(models.Model):
    """One account in a snapshot: its balance, and the version at which it held it."""

    pk = models.CompositePrimaryKey("snapshot_id", "account_id")
    snapshot = models.ForeignKey(
        Snapshot, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="lines"
    )
    account = models.ForeignKey(
        Account, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    version = models.BigIntegerField()
    balance = models.BigIntegerField()

    class Meta:
        db_table = "ledger_snapshot_line"

    def __str__(self) -> str:
        return f"{self.account_id} v{self.version}: {self.balance}"


class Assertion(models.Model):
    """A stated balance of an account at a version, checked when it was recorded: for example, a count."""

    id = models.BigAutoField(primary_key=True)
    book = models.UUIDField()
    account = models.ForeignKey(
        Account, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="assertions"
    )
    version = models.BigIntegerField()
    balance = models.BigIntegerField()
    asserted_at = models.DateTimeField()
    metadata = models.JSONField()

    class Meta:
        indexes = [models.Index(fields=["account", "version"], name="ledger_assertion_of")]

    def __str__(self) -> str:
        return f"{self.account_id} v{self.version} = {self.balance}"
