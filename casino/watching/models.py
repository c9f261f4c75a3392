"""Persons without a player's file, lines of the log of transactions, returns that were filed, and rates of the euro. No
row names a person but by reference; what is said in words is sealed."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from casino.bookkeeping.flows import Direction
from casino.houses.models import ClockTimestamp, HouseRow
from casino.players.models import Player


class UnknownPerson(HouseRow):
    """A person who trades and has no player's file, by a description. It is never changed but for who it turns out to
    be."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    #: What the person looks like, or is called, sealed.
    description = models.BinaryField()
    opened_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField(db_default=ClockTimestamp())
    #: The player that it turned out to be; null: not known.
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="+", null=True)
    identified_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True)
    identified_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "unknown person"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="unknown_person_number"),
            models.CheckConstraint(
                condition=Q(player=None, identified_by=None, identified_at=None)
                | Q(player__isnull=False, identified_by__isnull=False, identified_at__isnull=False),
                name="unknown_person_identified_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"unknown person {self.number}"


class Capacity(models.TextChoices):
    """What somebody is in a transaction."""

    SELF = "self", "who has made it"
    BEHALF = "behalf", "on whose behalf it was made"


class LineKind(models.TextChoices):
    """What was seen, of a line that is about no transaction in the books."""

    BUY_IN = "buy_in", "chips were bought"
    CASH_OUT = "cash_out", "chips were paid"
    NOTES_CHANGED = "notes_changed", "notes were changed into others"
    PASSED_ON = "passed_on", "cash or chips went from one person to another"
    OTHER = "other", "something else"


class LogLine(HouseRow):
    """One line of the log: who was in a transaction of the books, or what was seen beside them. It is never changed but
    for its withdrawal. A line is about a player or about an unknown person."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    unknown_person = models.ForeignKey(UnknownPerson, on_delete=models.PROTECT, related_name="lines", null=True)
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="+", null=True)
    capacity = models.CharField(max_length=6, choices=Capacity.choices, default=Capacity.SELF)
    #: The ledger's transaction; null: it was seen.
    transaction = models.BigIntegerField(null=True)
    #: The gaming day; empty where the house had none.
    day = models.CharField(max_length=10, blank=True, default="")
    #: Code of the drawer or table.
    place = models.CharField(max_length=32)
    #: Kind of the transaction, or one of LineKind.
    kind = models.CharField(max_length=32)
    direction = models.CharField(max_length=3, choices=[(str(one), str(one)) for one in Direction])
    #: Minor units.
    amount = models.BigIntegerField()
    #: What was said about it, sealed; empty where nothing was.
    note = models.BinaryField(default=b"")
    entered_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    entered_at = models.DateTimeField(db_default=ClockTimestamp())
    withdrawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True)
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_reason = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        verbose_name = "line of the log"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="log_line_number"),
            models.UniqueConstraint(
                fields=["house", "transaction"], condition=Q(capacity="self", withdrawn_at=None),
                name="log_line_one_maker",
            ),
            models.CheckConstraint(
                condition=Q(unknown_person=None, player__isnull=False) | Q(unknown_person__isnull=False, player=None),
                name="log_line_of_one",
            ),
            models.CheckConstraint(condition=Q(amount__gt=0), name="log_line_amount"),
            models.CheckConstraint(
                condition=Q(withdrawn_by=None, withdrawn_at=None, withdrawn_reason="")
                | Q(withdrawn_by__isnull=False, withdrawn_at__isnull=False) & ~Q(withdrawn_reason=""),
                name="log_line_withdrawn_whole",
            ),
        ]  # fmt: skip
        indexes = [
            models.Index(
                fields=["unknown_person", "day"], condition=Q(withdrawn_at=None), name="log_line_of_unknown_by_day"
            )
        ]

    def __str__(self) -> str:
        return f"line {self.number} of the log"


class Filing(HouseRow):
    """The number under which a return about a transaction was filed with the authority; once. Append-only."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    #: The ledger's transaction.
    transaction = models.BigIntegerField()
    #: As the authority has given it.
    return_number = models.CharField(max_length=40)
    filed_on = models.DateField()
    filed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    filed_at = models.DateTimeField(db_default=ClockTimestamp())
    #: Number of the approval.
    approval = models.PositiveIntegerField()

    class Meta:
        verbose_name = "return that was filed"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="filing_number"),
            models.UniqueConstraint(fields=["house", "transaction"], name="filing_once"),
        ]

    def __str__(self) -> str:
        return f"filing {self.number}"


class EuroRate(HouseRow):
    """What one euro is in the house's currency, from a moment on, and who says so. Append-only; the one that began last
    counts."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    valid_from = models.DateTimeField()
    #: Millionths of the currency's unit.
    millionths = models.BigIntegerField()
    #: Whose rate it is: a bank, an authority.
    source = models.CharField(max_length=80)
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    set_at = models.DateTimeField(db_default=ClockTimestamp())
    #: Number of the approval; null where none was needed.
    approval = models.PositiveIntegerField(null=True)

    class Meta:
        verbose_name = "rate of the euro"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="euro_rate_number"),
            models.CheckConstraint(condition=Q(millionths__gt=0), name="euro_rate_positive"),
        ]

    def __str__(self) -> str:
        return f"rate {self.number}"
