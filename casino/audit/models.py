"""One chain per table, per drawer and per house; each event holds the hash of the one before it."""

from django.db import models
from django.db.models import F

from casino.house.models import House


class ChainHead(models.Model):
    """Where a chain ends. Only `audit_append` writes it, and locks it last of all."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=80)
    seq = models.BigIntegerField(default=0)
    #: Leaf hash of the last event, 64 hex digits; zeros before the first.
    hash = models.CharField(max_length=64, default="0" * 64)

    class Meta:
        verbose_name = "audit chain"
        constraints = [models.UniqueConstraint(fields=["house", "name"], name="audit_chain_name")]

    def __str__(self) -> str:
        return self.name


class Event(models.Model):
    """One event. `payload` is the canonical text that is hashed; `doc` is the same as jsonb, for queries only."""

    chain = models.ForeignKey(ChainHead, on_delete=models.PROTECT, related_name="events")
    seq = models.BigIntegerField()
    #: The writing transaction's id: readers that follow the log wait until nothing older can still appear.
    xid = models.BigIntegerField()
    payload = models.TextField()
    doc = models.GeneratedField(
        expression=models.functions.Cast(F("payload"), models.JSONField()),
        output_field=models.JSONField(),
        db_persist=True,
    )
    #: SHA-256(0x00 || payload): the chain's link and an RFC 6962 leaf at the same time; 64 hex digits.
    leaf_hash = models.CharField(max_length=64)

    class Meta:
        verbose_name = "audit event"
        constraints = [models.UniqueConstraint(fields=["chain", "seq"], name="audit_event_seq")]
        indexes = [models.Index(fields=["xid", "id"], name="audit_event_xid")]

    def __str__(self) -> str:
        return f"{self.chain_id}#{self.seq}"


class Posting(models.Model):
    """Which event tells a ledger transaction: exactly one, by `audit_append`; a transaction of a house that none tells
    cannot commit."""

    #: The ledger's id. No foreign key: the audit trail does not know the ledger, its database does.
    transaction_id = models.BigIntegerField(primary_key=True)
    event = models.ForeignKey(
        Event, on_delete=models.PROTECT, related_name="postings", db_index=False, db_constraint=False
    )

    class Meta:
        db_table = "audit_told"
        verbose_name = "posting that was told"

    def __str__(self) -> str:
        return f"{self.transaction_id}"
