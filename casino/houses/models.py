"""Rows that every room shares: the house and the transactional outbox."""

import uuid
from functools import cache
from zoneinfo import available_timezones

from django.contrib.postgres.indexes import BrinIndex
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Func, Q


class ClockTimestamp(Func):
    """The database's clock at this very moment, so that times follow the order of the locks.

    `now()` does not change from the start of the transaction: measured, it disagreed with lock order in 27 % of rows.
    """

    template = "clock_timestamp()"
    output_field = models.DateTimeField()
    allowed_default = True


@cache
def known_time_zones() -> frozenset[str]:
    """Names of all time zones: finding them opens six hundred files."""
    return frozenset(available_timezones())


def _known_time_zone(name: str) -> None:
    """Refuse a name that is not an IANA time zone. Raises ValidationError."""
    if name not in known_time_zones():
        raise ValidationError(f"{name} is not an IANA time zone.")


class HouseStage(models.TextChoices):
    """founding -> live -> closed, and live <-> suspended. A sandbox is `sandbox` where another house is founding or
    live."""

    FOUNDING = "founding", "being set up: no guest is served"
    LIVE = "live", "open to guests"
    SUSPENDED = "suspended", "no play and no sale of chips; what is owed is paid out"
    CLOSED = "closed", "closed for ever"
    SANDBOX = "sandbox", "for tests and rehearsals: never open to guests"


class House(models.Model):
    """One card room: one currency, one set of books. Its id is the ledger's `book`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    code = models.CharField(max_length=32, unique=True)
    name = models.CharField(max_length=120)
    #: ISO 4217; every amount in this house is in its minor unit.
    currency = models.CharField(max_length=3)
    #: Decimal places of the currency in people's eyes: 2 where an amount of 100 is one unit of the currency.
    currency_exponent = models.PositiveSmallIntegerField(default=0)
    #: IANA name; what the people of the house read times in. Everything stored is UTC.
    time_zone = models.CharField(max_length=64, default="UTC", validators=[_known_time_zone])
    #: When a gaming day ends, on the wall of the house: `06:00` of the next date (`casino/houses/gaming_clock.py`).
    day_cut_off = models.CharField(max_length=5, default="06:00", db_default="06:00")
    #: Whether people with privileged roles act with a second factor only (`casino/staff/second_factor.py`).
    second_factor_required = models.BooleanField(default=True, db_default=True)
    #: Whether it is for tests and rehearsals and never goes live; set at the founding.
    is_sandbox = models.BooleanField(default=False, db_default=False)
    stage = models.CharField(
        max_length=9, choices=HouseStage.choices, default=HouseStage.FOUNDING, db_default=HouseStage.FOUNDING
    )
    opened_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "house"
        constraints = [
            models.CheckConstraint(condition=Q(stage__in=HouseStage.values), name="house_stage"),
            models.CheckConstraint(
                condition=Q(is_sandbox=False) & ~Q(stage=HouseStage.SANDBOX)
                | Q(is_sandbox=True) & ~Q(stage__in=[HouseStage.FOUNDING, HouseStage.LIVE]),
                name="house_stage_of_sandbox",
            ),
        ]

    def __str__(self) -> str:
        return self.code

    def money(self, amount: int) -> str:
        """An amount of minor units for people to read: `12,345.67 EUR`."""
        whole, rest = divmod(abs(amount), 10**self.currency_exponent)
        decimals = f".{rest:0{self.currency_exponent}}" if self.currency_exponent else ""
        return f"{'-' if amount < 0 else ''}{whole:,}{decimals} {self.currency}"

    @property
    def chain(self) -> str:
        """Name of its audit chain; each of its tables and drawers has another."""
        return f"house/{self.code}"

    @property
    def open_stage(self) -> HouseStage:
        """The stage in which it plays."""
        return HouseStage.SANDBOX if self.is_sandbox else HouseStage.LIVE


class HouseRow(models.Model):
    """A row below another one of its house, and of the same house, which a test checks for every such model.

    No foreign key that PostgreSQL checks: the row above has one, and checking it would lock the house's row, which all
    requests share.
    """

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)

    class Meta:
        abstract = True


class DataKey(HouseRow):
    """A key under which the house seals data, wrapped under the seal key (`casino/houses/sealing.py`). Only the owner
    of the tables wraps it again; it is never deleted."""

    #: From 1; the newest one seals.
    number = models.PositiveIntegerField()
    #: Names the seal key that unwraps it.
    seal_key = models.CharField(max_length=120)
    #: Names the seal key that was rotated away from when this data key was begun; empty for the house's first. It never
    #: changes, so that a retired seal key stays known after everything was wrapped again.
    retired_seal_key = models.CharField(max_length=120, default="")
    wrapped = models.BinaryField()

    class Meta:
        verbose_name = "data key"
        constraints = [models.UniqueConstraint(fields=["house", "number"], name="data_key_number")]

    def __str__(self) -> str:
        return f"{self.house_id}/{self.number}"


class OutboxMessage(models.Model):
    """Work to be done after commit. This row is the truth; the broker's message is only a hint to look here."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+", db_index=False)
    task = models.CharField(max_length=64)
    #: What the task is about, e.g. a hand's id; unique with `task` in its house, so one fact is never queued twice.
    subject = models.CharField(max_length=64)
    created_at = models.DateTimeField(db_default=ClockTimestamp())
    sent_at = models.DateTimeField(null=True)
    done_at = models.DateTimeField(null=True)
    deliveries = models.PositiveIntegerField(default=0)
    last_error = models.TextField(default="")
    #: No column: the id of the request that has just left it, which the lines of its task then name.
    request = ""
    #: No column either: what has left it, as a trace names it.
    traceparent = ""

    class Meta:
        verbose_name = "outbox message"
        constraints = [models.UniqueConstraint(fields=["house", "task", "subject"], name="outbox_once")]
        indexes = [
            models.Index(fields=["id"], condition=Q(done_at=None), name="outbox_open"),
            # Messages are done about in the order of their rows: this finds the oldest ones, for next to nothing.
            BrinIndex(fields=["done_at"], name="outbox_done_at", autosummarize=True),
        ]

    def __str__(self) -> str:
        return f"{self.task}({self.subject})"


class Limits(HouseRow):
    """The control points of a house from a moment on. Rows are only ever added: what was in force stays known."""

    #: From 1 in each house; of several from the same moment on, the last counts.
    number = models.PositiveIntegerField()
    valid_from = models.DateTimeField()
    #: Every control point by its name, in minor units.
    points = models.JSONField()
    set_at = models.DateTimeField(db_default=ClockTimestamp())
    #: Login of the person who proposed them, and number of the approval; null where they came with the founding.
    set_by = models.CharField(max_length=64)
    approval = models.PositiveIntegerField(null=True)

    class Meta:
        verbose_name = "limits"
        verbose_name_plural = "limits"
        constraints = [models.UniqueConstraint(fields=["house", "number"], name="limits_number")]
        indexes = [models.Index(fields=["house", "-valid_from", "-number"], name="limits_in_force")]

    def __str__(self) -> str:
        return f"{self.house_id}/{self.number}"


class Identity(HouseRow):
    """Who the house is (`casino/houses/identity.py`). Rows are only ever added: what it was called stays known."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    #: Every part by its name.
    parts = models.JSONField()
    set_at = models.DateTimeField(db_default=ClockTimestamp())
    #: Login of the person who said it, and number of the approval; null where none was needed.
    set_by = models.CharField(max_length=64)
    approval = models.PositiveIntegerField(null=True)

    class Meta:
        verbose_name = "identity"
        verbose_name_plural = "identities"
        constraints = [models.UniqueConstraint(fields=["house", "number"], name="identity_number")]

    def __str__(self) -> str:
        return f"{self.house_id}/{self.number}"


class HouseRules(HouseRow):
    """The rules of the house as a text for guests (`casino/houses/rules.py`). Rows are only ever added: by which rules
    somebody has played stays readable."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    #: The text by language (ISO 639-1).
    texts = models.JSONField()
    set_at = models.DateTimeField(db_default=ClockTimestamp())
    #: Login of the person who said it, and number of the approval; null where none was needed.
    set_by = models.CharField(max_length=64)
    approval = models.PositiveIntegerField(null=True)

    class Meta:
        verbose_name = "rules of the house"
        verbose_name_plural = "rules of the house"
        constraints = [models.UniqueConstraint(fields=["house", "number"], name="house_rules_number")]

    def __str__(self) -> str:
        return f"{self.house_id}/{self.number}"


class DutyBase(models.TextChoices):
    """On what the gaming duty falls."""

    TAKE = "take", "the take of the house: tax of pots, what fell to it at closings, and fees"
    STAKES = "stakes", "the stakes of hands that were settled or ruled on"


class DutyRates(HouseRow):
    """The gaming duty by law, from a month on (`casino/houses/duty_rates.py`). Rows are only ever added: at which rates
    a month was taxed stays known."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    #: The first month to which it applies, `2026-11`.
    valid_from = models.CharField(max_length=7)
    #: What the authority calls the duty.
    tax_code = models.CharField(max_length=32)
    base = models.CharField(max_length=8, choices=DutyBase.choices)
    #: What is taken off the base each month: a name with an `amount`, minor units, or with a `figure` of the report A5.
    deductions = models.JSONField()
    #: Bands in their order: `above` how much, minor units, and at what `rate`, hundredths of a percent.
    bands = models.JSONField()
    set_at = models.DateTimeField(db_default=ClockTimestamp())
    #: Login of the person who said it, and number of the approval; null where none was needed.
    set_by = models.CharField(max_length=64)
    approval = models.PositiveIntegerField(null=True)

    class Meta:
        verbose_name = "rates of the gaming duty"
        verbose_name_plural = "rates of the gaming duty"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="duty_rates_number"),
            models.CheckConstraint(condition=Q(base__in=DutyBase.values), name="duty_rates_base"),
            models.CheckConstraint(
                condition=Q(valid_from__regex=r"^[0-9]{4}-(0[1-9]|1[0-2])$"), name="duty_rates_valid_from"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.house_id}/{self.number}"


class RehearsalState(models.TextChoices):
    """waiting -> played, failed or cancelled; nothing leads back."""

    WAITING = "waiting"
    PLAYED = "played"
    FAILED = "failed"
    CANCELLED = "cancelled"


class RehearsalRun(HouseRow):
    """A rehearsal that somebody has asked for. Its version is 1 while it waits, then 2; what was played is a
    `Rehearsal` of the same number."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    #: Login of the person who asked for it.
    requested_by = models.CharField(max_length=64)
    requested_at = models.DateTimeField(db_default=ClockTimestamp())
    state = models.CharField(max_length=9, choices=RehearsalState, default=RehearsalState.WAITING)
    #: Until when the worker that plays it has it for itself; null: nobody has it.
    worked_until = models.DateTimeField(null=True)
    #: How often it was begun.
    tries = models.PositiveIntegerField(default=0)
    #: Code of the sandbox house in which it is played; empty before that.
    sandbox = models.CharField(max_length=32, default="")
    #: Parts that were played and checks that were made so far.
    part_count = models.PositiveIntegerField(default=0)
    #: Why it failed: a stable code; empty: it did not.
    failure = models.CharField(max_length=64, default="")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "rehearsal that was asked for"
        verbose_name_plural = "rehearsals that were asked for"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="rehearsal_run_number"),
            models.UniqueConstraint(
                fields=["house"], condition=Q(state=RehearsalState.WAITING), name="rehearsal_run_one_waits"
            ),
            models.CheckConstraint(condition=Q(state__in=RehearsalState.values), name="rehearsal_run_state"),
            models.CheckConstraint(
                condition=Q(state=RehearsalState.WAITING, ended_at=None)
                | ~Q(state=RehearsalState.WAITING) & Q(ended_at__isnull=False),
                name="rehearsal_run_ended",
            ),
        ]

    def __str__(self) -> str:
        return f"rehearsal {self.number}"

    @property
    def version(self) -> int:
        """What ETag and If-Match say."""
        return 1 if self.state == RehearsalState.WAITING else 2


class Rehearsal(HouseRow):
    """An evening that was played in a sandbox copy of the house before it goes live."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    #: Code of the sandbox house.
    sandbox = models.CharField(max_length=32)
    #: SHA-256 of the configuration that was copied.
    configuration = models.CharField(max_length=64)
    passed = models.BooleanField()
    #: What was rehearsed: `item`, and `failed` (what went wrong) where it did not pass.
    items = models.JSONField()
    #: What the verification of the sandbox house went through: numbers by name.
    verified = models.JSONField()
    at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "rehearsal"
        constraints = [models.UniqueConstraint(fields=["house", "number"], name="rehearsal_number")]

    def __str__(self) -> str:
        return f"{self.house_id}/{self.number}"


class GoLiveSignature(HouseRow):
    """A signature under what the house is before it goes live. It holds while the next ones are under the same
    digest."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    role = models.CharField(max_length=16)
    #: SHA-256 of what was signed.
    digest = models.CharField(max_length=64)
    #: Login of the person who signed.
    signed_by = models.CharField(max_length=64)
    signed_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "signature before going live"
        verbose_name_plural = "signatures before going live"
        constraints = [models.UniqueConstraint(fields=["house", "number"], name="go_live_signature_number")]

    def __str__(self) -> str:
        return f"{self.house_id}/{self.number}"
