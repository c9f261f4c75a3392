"""One chain per table, per drawer and per house; each event holds the hash of the one before it."""

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import F
from django.db.models.fields.json import KeyTextTransform

from casino.houses.models import House, HouseRow


class ChainHead(models.Model):
    """Where a chain ends. Only `audit_append` writes it, and locks it last of all."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+", db_index=False)
    name = models.CharField(max_length=80)
    seq = models.BigIntegerField(default=0)
    #: Leaf hash of the last event, 64 hex digits; zeros before the first.
    hash = models.CharField(max_length=64, default="0" * 64)

    class Meta:
        verbose_name = "audit chain"
        constraints = [models.UniqueConstraint(fields=["house", "name"], name="audit_chain_name")]

    def __str__(self) -> str:
        return self.name


class Event(HouseRow):
    """One event. `payload` is the canonical text that is hashed; `doc` is the same as jsonb, for queries only."""

    #: `audit_append`, the only writer, holds the chain's head.
    chain = models.ForeignKey(
        ChainHead, on_delete=models.PROTECT, related_name="events", db_index=False, db_constraint=False
    )
    seq = models.BigIntegerField()
    #: The writing transaction's id: which events were written together.
    xid = models.BigIntegerField()
    payload = models.TextField()
    doc = models.GeneratedField(
        expression=models.functions.Cast(F("payload"), models.JSONField()),
        output_field=models.JSONField(),
        db_persist=True,
    )
    #: SHA-256(0x00 || payload): the chain's link and an RFC 6962 leaf at the same time; 64 hex digits.
    leaf_hash = models.CharField(max_length=64)
    #: Number of the house's archive that has the text, of which `payload` is only an excerpt then; null where it is
    #: the text itself.
    archive = models.IntegerField(null=True)

    class Meta:
        verbose_name = "audit event"
        constraints = [models.UniqueConstraint(fields=["house", "chain", "seq"], name="audit_event_seq")]
        #: For auditors, who look for kinds, actors and times in the order of the ids.
        indexes = [
            models.Index("house", KeyTextTransform("kind", "doc"), "id", name="audit_event_kind"),
            models.Index("house", KeyTextTransform("actor", "doc"), "id", name="audit_event_actor"),
            models.Index("house", KeyTextTransform("at", "doc"), "id", name="audit_event_at"),
        ]

    def __str__(self) -> str:
        return f"{self.chain_id}#{self.seq}"


class Log(models.Model):
    """The Merkle log of a house in one epoch: every event of the house is a leaf of it, in the order of the chains.

    Grown by the sequencer alone; `size` is what the last checkpoint says, in the same transaction.
    """

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+", db_index=False)
    #: From 1; a new one begins only when two people open it (`manage.py open_epoch`).
    epoch = models.IntegerField()
    #: First line of its checkpoints.
    origin = models.CharField(max_length=120)
    #: The key that verifies them (C2SP signed-note), the first where it was rotated; empty until the sequencer has
    #: taken up a newly opened epoch.
    vkey = models.CharField(max_length=240)
    size = models.BigIntegerField(default=0)
    #: Why the sequencer does not sign it; empty where it does.
    refusal = models.TextField(default="")

    class Meta:
        verbose_name = "audit log"
        constraints = [models.UniqueConstraint(fields=["house", "epoch"], name="audit_log_epoch")]

    def __str__(self) -> str:
        return self.origin


class Leaf(models.Model):
    """An event's place in a log. No foreign keys that PostgreSQL checks: checking one would write a lock into each row
    of the events, which cannot be deleted anyway."""

    event = models.OneToOneField(
        Event, primary_key=True, on_delete=models.PROTECT, related_name="leaf", db_constraint=False
    )
    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    epoch = models.IntegerField()
    leaf_index = models.BigIntegerField()
    #: SHA-256(0x00 || payload), 32 bytes.
    leaf_hash = models.BinaryField()

    class Meta:
        verbose_name = "leaf of an audit log"
        constraints = [models.UniqueConstraint(fields=["house", "epoch", "leaf_index"], name="audit_leaf_index")]
        #: For the holder of a receipt. Here the sequencer pays for it, and not each write.
        indexes = [models.Index(fields=["leaf_hash"], name="audit_leaf_hash")]

    def __str__(self) -> str:
        return f"{self.epoch}/{self.leaf_index}"


class Tile(models.Model):
    """Root of the perfect subtree of 256**level leaves that begins at leaf `tile_index * 256**level`, level 1 and up:
    proofs read some hundred of them and of the leaves, however large the log is."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+", db_index=False)
    epoch = models.IntegerField()
    level = models.SmallIntegerField()
    tile_index = models.BigIntegerField()
    hash = models.BinaryField()

    class Meta:
        verbose_name = "tile of an audit log"
        constraints = [
            models.UniqueConstraint(fields=["house", "epoch", "level", "tile_index"], name="audit_tile_index")
        ]

    def __str__(self) -> str:
        return f"{self.epoch}/{self.level}/{self.tile_index}"


class SignedCheckpoint(models.Model):
    """A signed statement of a log's size and root; the same notes stand in the files outside the database."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+", db_index=False)
    epoch = models.IntegerField()
    size = models.BigIntegerField()
    root = models.BinaryField()
    at = models.DateTimeField()
    note = models.TextField()

    class Meta:
        db_table = "audit_checkpoint"
        verbose_name = "checkpoint"
        constraints = [models.UniqueConstraint(fields=["house", "epoch", "size"], name="audit_checkpoint_size")]

    def __str__(self) -> str:
        return f"{self.epoch}/{self.size}"


class Cosignature(HouseRow):
    """A witness's signature over a checkpoint: it has seen the log only grow up to there. The line proves itself with
    the witness's key; rows are only ever added."""

    epoch = models.IntegerField()
    size = models.BigIntegerField()
    #: The name under which the witness signs.
    witness = models.CharField(max_length=200)
    #: The signature line (C2SP tlog-cosignature v1), with its line end.
    line = models.CharField(max_length=400)
    #: When the witness made it, by its own clock.
    at = models.DateTimeField()

    class Meta:
        verbose_name = "cosignature"
        constraints = [
            models.UniqueConstraint(fields=["house", "epoch", "witness", "size"], name="audit_cosignature_once")
        ]

    def __str__(self) -> str:
        return f"{self.epoch}/{self.size} {self.witness}"


class TimeStamp(HouseRow):
    """A time-stamp authority's signature over a checkpoint (RFC 3161): it was there at that moment. The response proves
    itself with the authority's certificates; rows are only ever added."""

    epoch = models.IntegerField()
    size = models.BigIntegerField()
    #: The authority's whole answer, the DER of a TimeStampResp; what it stamped is the checkpoint's note.
    response = models.BinaryField()
    #: When, by the authority's clock.
    at = models.DateTimeField()

    class Meta:
        verbose_name = "time stamp"
        constraints = [models.UniqueConstraint(fields=["house", "epoch", "size"], name="audit_timestamp_once")]

    def __str__(self) -> str:
        return f"{self.epoch}/{self.size}"


class Mark(HouseRow):
    """How much of a chain is in its house's log: its events up to this number are leaves.

    Numbers in a chain are gapless and given under its lock, so a reader that sees an event sees every earlier one of
    the chain: nothing can still appear below a mark, however long other transactions stay open.
    """

    #: Not checked by PostgreSQL: the check would wait for the transaction that is appending to the chain.
    chain = models.OneToOneField(
        ChainHead, primary_key=True, on_delete=models.PROTECT, related_name="mark", db_constraint=False
    )
    seq = models.BigIntegerField()

    class Meta:
        verbose_name = "mark of a chain"

    def __str__(self) -> str:
        return f"{self.chain_id}#{self.seq}"


class Epoch(models.Model):
    """A new epoch of a log, opened by two people: what was lost. Its first leaf, an event, says the same."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+", db_index=False)
    epoch = models.IntegerField()
    event = models.ForeignKey(Event, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    #: The newest checkpoint outside the database, null where there was none.
    outside_epoch = models.IntegerField(null=True)
    outside_size = models.BigIntegerField(null=True)
    outside_root = models.BinaryField(null=True)

    class Meta:
        verbose_name = "epoch of an audit log"
        constraints = [
            models.UniqueConstraint(fields=["house", "epoch"], name="audit_epoch_number"),
            models.UniqueConstraint(fields=["house", "event"], name="audit_epoch_event"),
        ]

    def __str__(self) -> str:
        return f"{self.house_id}/{self.epoch}"


class KeyRotation(models.Model):
    """Another key that signs the checkpoints of a log which are larger than `size`, the last one under the key before
    it. The event has both keys' signatures over this."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+", db_index=False)
    epoch = models.IntegerField()
    size = models.BigIntegerField()
    vkey = models.CharField(max_length=240)
    event = models.ForeignKey(Event, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)

    class Meta:
        verbose_name = "rotation of a log's key"
        constraints = [models.UniqueConstraint(fields=["house", "epoch", "size"], name="audit_rotation_size")]

    def __str__(self) -> str:
        return f"{self.epoch}/{self.size}"


class Archive(HouseRow):
    """A closed period, written into files outside the database: a section of the log from one signed checkpoint to
    another (`casino/verification/archiving.py`)."""

    #: From 1, without gaps.
    number = models.IntegerField()
    epoch = models.IntegerField()
    #: The section: leaves from `first` on, below `size`.
    first = models.BigIntegerField()
    size = models.BigIntegerField()
    #: The gaming days whose closing it has, the first and the last.
    first_day = models.CharField(max_length=10)
    last_day = models.CharField(max_length=10)
    #: SHA-256 of its manifest, which names the other files with theirs; 64 hex digits.
    sha256 = models.CharField(max_length=64)
    #: Whether texts of its events lie in the files only.
    is_put_away = models.BooleanField(default=False)

    class Meta:
        verbose_name = "archive of a closed period"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="audit_archive_number"),
            models.UniqueConstraint(fields=["house", "epoch", "first"], name="audit_archive_section"),
        ]

    def __str__(self) -> str:
        return f"{self.house_id}/{self.number}"


class Posting(HouseRow):
    """Which event records a ledger transaction: exactly one, by `audit_append`; one of a house that no event records
    cannot commit."""

    #: The ledger's id. No foreign key: the audit trail does not know the ledger, its database does.
    transaction_id = models.BigIntegerField(primary_key=True)
    event = models.ForeignKey(
        Event, on_delete=models.PROTECT, related_name="postings", db_index=False, db_constraint=False
    )

    class Meta:
        verbose_name = "recorded posting"
        #: For those of the newest events. Events and postings get their ids in nearly the same order.
        indexes = [BrinIndex(fields=["event"], name="audit_posting_event", autosummarize=True)]

    def __str__(self) -> str:
        return f"{self.transaction_id}"
