"""What must be kept, for whom and for how long: complaints with their evidence, legal holds, and the sealed register of
compliance."""

from django.db import models
from django.db.models import F, Q

from casino.hands.models import Hand
from casino.houses.models import ClockTimestamp, House, HouseRow
from casino.players.models import Player
from casino.staff.models import Staff


class ComplaintKind(models.TextChoices):
    """What a complaint is about."""

    HAND = "hand", "how a hand was played, ruled on or paid"
    CARDS = "cards", "cards, shuffling and dealing"
    CAGE = "cage", "buy-ins, cash-outs, deposits and payouts"
    STAFF = "staff", "the conduct of a member of staff"
    PLAYER = "player", "the conduct of another player"
    PROTECTION = "protection", "exclusion, limits and the protection of players"
    DATA = "data", "personal data"
    OTHER = "other", "anything else"


class ComplaintState(models.TextChoices):
    """open -> answered -> closed; open or answered -> escalated -> closed. What the complainant withdraws, or what is
    settled with the complainant, is closed from any state."""

    OPEN = "open"
    ANSWERED = "answered"
    ESCALATED = "escalated"
    CLOSED = "closed"


class Outcome(models.TextChoices):
    """What became of a complaint."""

    UPHELD = "upheld"
    PARTLY = "partly_upheld"
    REJECTED = "rejected"
    SETTLED = "settled"
    WITHDRAWN = "withdrawn"


#: Outcomes that end a complaint which nobody has answered.
WITHOUT_ANSWER = (Outcome.SETTLED, Outcome.WITHDRAWN)


class Complaint(models.Model):
    """A complaint, and its evidence as it was frozen. Its texts are sealed (:class:`ComplaintText`)."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+", db_index=False)
    #: From 1 in each house, without gaps.
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=12, choices=ComplaintKind.choices)
    #: Who complains; null where that is nobody whom the house knows by a reference.
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="+", null=True)
    #: When it reached the house.
    arrived_at = models.DateTimeField()
    #: Until when it must be answered.
    due_at = models.DateTimeField()
    #: Hands and entries of drawers as they were found, `casino/evidence/freezing.py`.
    evidence = models.JSONField()
    opened_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField(db_default=ClockTimestamp())
    state = models.CharField(max_length=9, choices=ComplaintState.choices, default=ComplaintState.OPEN)
    answered_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    answered_at = models.DateTimeField(null=True)
    #: The body for alternative dispute resolution to which it has gone; empty before.
    adr = models.CharField(max_length=120, blank=True, default="")
    escalated_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    escalated_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=13, choices=Outcome.choices, blank=True, default="")
    ended_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "complaint"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="complaint_number"),
            models.CheckConstraint(condition=Q(kind__in=ComplaintKind.values), name="complaint_kind"),
            models.CheckConstraint(condition=Q(state__in=ComplaintState.values), name="complaint_state"),
            models.CheckConstraint(condition=Q(arrived_at__lte=F("due_at")), name="complaint_due_after"),
            models.CheckConstraint(
                condition=Q(state=ComplaintState.CLOSED, ended_by__isnull=False, ended_at__isnull=False)
                & Q(outcome__in=Outcome.values)
                | ~Q(state=ComplaintState.CLOSED) & Q(ended_by=None, ended_at=None, outcome=""),
                name="complaint_end_is_whole",
            ),
            models.CheckConstraint(
                condition=Q(answered_by=None, answered_at=None)
                | Q(answered_by__isnull=False, answered_at__isnull=False),
                name="complaint_answer_is_whole",
            ),
            models.CheckConstraint(
                condition=Q(escalated_by=None, escalated_at=None, adr="")
                | Q(escalated_by__isnull=False, escalated_at__isnull=False) & ~Q(adr=""),
                name="complaint_escalation_is_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"complaint {self.number}"

    @property
    def version(self) -> int:
        """What ETag and If-Match say: one more with every step."""
        steps = (self.answered_at, self.escalated_at, self.ended_at)
        return 1 + sum(at is not None for at in steps)


class ComplaintText(HouseRow):
    """What was written with one step of a complaint, sealed: it may name anybody. Append-only."""

    complaint = models.ForeignKey(Complaint, on_delete=models.PROTECT, related_name="texts")
    #: The state that the step led to.
    step = models.CharField(max_length=9, choices=ComplaintState.choices)
    sealed = models.BinaryField()
    #: SHA-256 of `sealed`, 64 hex digits, as the audit trail has it.
    sealed_sha256 = models.CharField(max_length=64)

    class Meta:
        verbose_name = "text of a complaint"
        constraints = [models.UniqueConstraint(fields=["house", "complaint", "step"], name="complaint_text_step")]

    def __str__(self) -> str:
        return f"{self.complaint_id}/{self.step}"


class HoldScope(models.TextChoices):
    """What a legal hold covers."""

    PLAYER = "player", "everything about one player"
    HAND = "hand", "a hand, and the players who sat in it"
    DAYS = "days", "gaming days from one to another, and the players who were there"
    HOUSE = "house", "everything"
    COMPLAINT = "complaint", "the evidence of a complaint, as long as it is open"


class LegalHold(models.Model):
    """What nothing may be deleted of. Two persons set it and two lift it; that of a complaint comes and goes with the
    complaint."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+", db_index=False)
    #: From 1 in each house, without gaps.
    number = models.PositiveIntegerField()
    scope = models.CharField(max_length=9, choices=HoldScope.choices)
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="+", null=True)
    hand = models.ForeignKey(Hand, on_delete=models.PROTECT, related_name="+", null=True)
    complaint = models.ForeignKey(Complaint, on_delete=models.PROTECT, related_name="+", null=True)
    #: The first and the last gaming day; empty where the scope is another.
    first_day = models.CharField(max_length=10, blank=True, default="")
    last_day = models.CharField(max_length=10, blank=True, default="")
    reason = models.CharField(max_length=200)
    set_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    set_at = models.DateTimeField(db_default=ClockTimestamp())
    lifted_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    lifted_at = models.DateTimeField(null=True)
    #: Why it was lifted.
    lifted_reason = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        verbose_name = "legal hold"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="legal_hold_number"),
            models.CheckConstraint(
                condition=Q(scope="player", player__isnull=False, hand=None, complaint=None, first_day="", last_day="")
                | Q(scope="hand", player=None, hand__isnull=False, complaint=None, first_day="", last_day="")
                | Q(scope="days", player=None, hand=None, complaint=None, first_day__lte=F("last_day"))
                & ~Q(first_day="")
                | Q(scope="house", player=None, hand=None, complaint=None, first_day="", last_day="")
                | Q(scope="complaint", player=None, hand=None, complaint__isnull=False, first_day="", last_day=""),
                name="legal_hold_scope",
            ),
            models.CheckConstraint(
                condition=Q(lifted_by=None, lifted_at=None, lifted_reason="")
                | Q(lifted_by__isnull=False, lifted_at__isnull=False) & ~Q(lifted_reason=""),
                name="legal_hold_lifted_whole",
            ),
        ]
        indexes = [models.Index(fields=["house"], condition=Q(lifted_at=None), name="legal_hold_in_force")]

    def __str__(self) -> str:
        return f"legal hold {self.number}"

    @property
    def version(self) -> int:
        """1 while it is in force, then 2."""
        return 1 if self.lifted_at is None else 2


class SealedEntry(HouseRow):
    """One entry of the sealed register of compliance (`casino/evidence/register.py`): something that was written, or
    that somebody looked at it. From outside, one entry is like another. Never changed; deleted with the month that it
    is of (`casino/evidence/expiry.py`)."""

    #: From 1 in each house, without gaps.
    number = models.PositiveIntegerField()
    #: The entry's own key, wrapped under a data key of the house.
    wrapped = models.BinaryField()
    sealed = models.BinaryField()
    #: SHA-256 of `wrapped` and `sealed` together, 64 hex digits, as the audit trail has it.
    sealed_sha256 = models.CharField(max_length=64)
    at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "entry of the sealed register"
        constraints = [models.UniqueConstraint(fields=["house", "number"], name="sealed_entry_number")]

    def __str__(self) -> str:
        return str(self.number)


class RetentionRun(HouseRow):
    """One run of retention that has deleted something: what, and that it was gone afterwards. Append-only."""

    #: From 1 in each house, without gaps.
    number = models.PositiveIntegerField()
    at = models.DateTimeField(db_default=ClockTimestamp())
    #: By kind: `count`, `size` (bytes), `sha256` over the list of what was deleted.
    deleted = models.JSONField()
    #: How many that were due a legal hold has kept.
    held_count = models.PositiveIntegerField()
    #: Who has let it run: `clock:retention`, or `manage.py`.
    by = models.CharField(max_length=64)

    class Meta:
        verbose_name = "run of retention"
        constraints = [models.UniqueConstraint(fields=["house", "number"], name="retention_run_number")]

    def __str__(self) -> str:
        return f"retention run {self.number}"
