"""Exclusions, limits, admissions and interactions, each of one player, or of a person who is known by keyed marks only.
No row names a person; what is said in words is sealed."""

from django.conf import settings
from django.db import models

from casino.houses.identity import Beneficiary
from casino.houses.models import ClockTimestamp, HouseRow
from casino.players.models import Player


class ExclusionKind(models.TextChoices):
    """Who wants a player to be excluded."""

    SELF = "self", "the player"
    HOUSE = "house", "the house"
    REGISTER = "register", "a court, an authority or a public register"


class Scope(models.TextChoices):
    """What a player is excluded from."""

    HOUSE = "house", "the whole house"
    PLAY = "play", "play only"


class AskedBy(models.TextChoices):
    """Who has asked for an exclusion, or for its end."""

    PLAYER = "player"
    RELATIVE = "relative"
    HOUSE = "house"
    COURT = "court"
    AUTHORITY = "authority"


class LiftCause(models.TextChoices):
    """Why an exclusion was lifted."""

    REVOKED = "revoked", "asked for, after its term"
    WRONG_ENTRY = "wrong_entry", "it was entered wrongly"


class Exclusion(HouseRow):
    """A player whom the house lets play no more. It is never changed but for its end; another one is another row."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    #: Null: somebody of whom the house has marks only (:class:`ExclusionMark`).
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="exclusions", null=True)
    kind = models.CharField(max_length=8, choices=ExclusionKind.choices)
    scope = models.CharField(max_length=8, choices=Scope.choices)
    asked_by = models.CharField(max_length=16, choices=AskedBy.choices)
    in_person = models.BooleanField()
    #: Its end; of one that the player has asked for the end of its term, for that one ends only when it is lifted.
    #: Null: none.
    until = models.DateTimeField(null=True)
    #: What was said about it, sealed; empty where nothing was.
    note = models.BinaryField(default=b"")
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    set_at = models.DateTimeField(db_default=ClockTimestamp())
    lift_asked_at = models.DateTimeField(null=True)
    lift_asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True)
    lifted_at = models.DateTimeField(null=True)
    lifted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True)
    lift_cause = models.CharField(max_length=16, choices=LiftCause.choices, blank=True, default="")

    class Meta:
        verbose_name = "exclusion"
        constraints = [models.UniqueConstraint(fields=["house", "number"], name="exclusion_number")]
        indexes = [
            models.Index(fields=["house", "player"], condition=models.Q(lifted_at=None), name="exclusion_not_lifted")
        ]

    def __str__(self) -> str:
        return f"{self.house_id}/{self.number}"


class ExclusionMark(HouseRow):
    """By what the person of an exclusion is found again without being named (`casino/safeguards/marks.py`): of somebody
    who is no player of the house, or of a player who was forgotten. Rows go when the exclusion is over."""

    exclusion = models.ForeignKey(Exclusion, on_delete=models.PROTECT, related_name="marks")
    #: HMAC-SHA256 under a data key of the house, 64 hex digits: what is looked up.
    mark = models.CharField(max_length=64)
    #: 16 random bytes and the mark: the trail has the SHA-256 of them, against which nobody can try names later.
    salted = models.BinaryField()

    class Meta:
        verbose_name = "mark of an exclusion"
        constraints = [
            models.UniqueConstraint(fields=["house", "exclusion", "mark"], name="exclusion_mark_once"),
            models.CheckConstraint(
                condition=models.Q(
                    mark=models.Func(
                        models.Func(models.F("salted"), models.Value(17), function="substr"),
                        models.Value("hex"),
                        function="encode",
                        output_field=models.CharField(),
                    )
                ),
                name="exclusion_mark_is_salted",
            ),
        ]
        indexes = [models.Index(fields=["house", "mark"], name="exclusion_mark_found")]

    def __str__(self) -> str:
        return f"{self.exclusion_id}/{self.mark[:8]}"


class ExclusionMatch(HouseRow):
    """A player whose recorded person has a mark of an exclusion, which counts for the player too until somebody finds
    that it is another person."""

    exclusion = models.ForeignKey(Exclusion, on_delete=models.PROTECT, related_name="matches")
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="exclusion_matches")
    found_at = models.DateTimeField(db_default=ClockTimestamp())
    cleared_at = models.DateTimeField(null=True)
    cleared_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True)

    class Meta:
        verbose_name = "match of an exclusion"
        constraints = [
            models.UniqueConstraint(fields=["house", "exclusion", "player"], name="exclusion_match_once"),
            models.CheckConstraint(
                condition=models.Q(cleared_at=None, cleared_by=None)
                | models.Q(cleared_at__isnull=False, cleared_by__isnull=False),
                name="exclusion_match_cleared_by_somebody",
            ),
        ]
        indexes = [
            models.Index(fields=["house", "player"], condition=models.Q(cleared_at=None), name="exclusion_match_counts")
        ]

    def __str__(self) -> str:
        return f"{self.exclusion_id}/{self.player_id}"


class Document(models.TextChoices):
    """What has shown that a player is of age; its number is kept nowhere but with the sealed person."""

    IDENTITY_CARD = "identity_card"
    PASSPORT = "passport"
    DRIVING_LICENCE = "driving_licence"
    RESIDENCE_PERMIT = "residence_permit"


class AgeBand(models.TextChoices):
    """How old a player is; nobody younger is admitted."""

    FROM_18 = "18-24"
    FROM_25 = "25-34"
    FROM_35 = "35-49"
    FROM_50 = "50-64"
    FROM_65 = "65+"


class Admission(HouseRow):
    """A player was seen to be of age, on a gaming day."""

    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="admissions")
    day = models.CharField(max_length=32)
    document = models.CharField(max_length=16, choices=Document.choices)
    age_band = models.CharField(max_length=8, choices=AgeBand.choices)
    seen_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    seen_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "admission"
        constraints = [models.UniqueConstraint(fields=["house", "player", "day"], name="admitted_once_a_day")]

    def __str__(self) -> str:
        return f"{self.player_id}@{self.day}"


class LimitKind(models.TextChoices):
    """What a player's limit is a limit of."""

    LOSS = "loss", "what is paid in less what is paid out, minor units"
    BUY_IN = "buy_in", "what is paid in, minor units"
    TIME = "time", "minutes on a seat"


class Span(models.TextChoices):
    """The stretch of time that a limit is for; all but the gaming day end now."""

    DAY = "day", "the gaming day"
    WEEK = "week", "7 days"
    MONTH = "month", "30 days"


class PlayerLimit(HouseRow):
    """A limit of a player from a moment on. Rows are only ever added; the newest one that has begun counts."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="limits")
    kind = models.CharField(max_length=8, choices=LimitKind.choices)
    span = models.CharField(max_length=8, choices=Span.choices)
    #: Minor units or minutes; null: no limit any more.
    most = models.BigIntegerField(null=True)
    starts_at = models.DateTimeField()
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    set_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "player's limit"
        constraints = [models.UniqueConstraint(fields=["house", "number"], name="player_limit_number")]
        indexes = [models.Index(fields=["house", "player", "kind", "span", "-number"], name="player_limit_newest")]

    def __str__(self) -> str:
        return f"{self.house_id}/{self.number}"


class RealityCheck(HouseRow):
    """A player has sat for so long that the house says so. It is open until somebody has spoken to the player
    (`InteractionKind.REALITY_CHECK`)."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="reality_checks")
    #: Where the player sat then: code of the table, and the seat.
    table = models.CharField(max_length=32)
    seat = models.PositiveSmallIntegerField()
    #: On seats within 24 hours.
    minutes = models.PositiveIntegerField()
    raised_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "reality check"
        constraints = [models.UniqueConstraint(fields=["house", "number"], name="reality_check_number")]
        indexes = [models.Index(fields=["house", "player", "-number"], name="reality_check_newest")]

    def __str__(self) -> str:
        return f"{self.house_id}/{self.number}"


class InteractionKind(models.TextChoices):
    """What was done with a player."""

    REALITY_CHECK = "reality_check", "informed how long, and what it came to"
    TALK = "talk", "spoken to"
    LIMIT_OFFERED = "limit_offered", "a limit was offered"
    EXCLUSION_OFFERED = "exclusion_offered", "an exclusion was offered"
    REFERRED = "referred", "help was named"


class Interaction(HouseRow):
    """What was done with a player to protect that player; in words sealed."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="interactions")
    kind = models.CharField(max_length=24, choices=InteractionKind.choices)
    note = models.BinaryField(default=b"")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "interaction"
        constraints = [models.UniqueConstraint(fields=["house", "number"], name="interaction_number")]
        indexes = [models.Index(fields=["house", "player", "kind", "-at"], name="interaction_newest")]

    def __str__(self) -> str:
        return f"{self.house_id}/{self.number}"


class MinorState(models.TextChoices):
    """recorded (nothing is paid) -> settled (stakes are given back, winnings kept), or cleared (of age after all)."""

    RECORDED = "recorded"
    SETTLED = "settled"
    CLEARED = "cleared"


class Remittance(HouseRow):
    """Winnings of minors that the bank has paid to whom the law names. Rows are only ever added; what one is made of,
    the rows of the minors say."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    #: Minor units of the currency.
    amount = models.PositiveBigIntegerField()
    beneficiary = models.CharField(max_length=8, choices=Beneficiary.choices)
    #: The office of the state, or the charity, by name.
    payee = models.CharField(max_length=120)
    #: Number of the bank's note.
    note = models.CharField(max_length=32)
    remitted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    remitted_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "remittance of winnings"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="remittance_number"),
            models.CheckConstraint(condition=models.Q(amount__gt=0), name="remittance_of_something"),
        ]

    def __str__(self) -> str:
        return f"{self.house_id}/{self.number}"


class Minor(HouseRow):
    """A player who was found to be younger than the law under which the house works lets play. Amounts in minor units
    of the currency; null until it is settled."""

    #: From 1 in each house.
    number = models.PositiveIntegerField()
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="minor_rows")
    exclusion = models.ForeignKey(Exclusion, on_delete=models.PROTECT, related_name="+")
    #: Years from which on the law lets people play.
    least_age = models.PositiveSmallIntegerField()
    #: The birthday that was found out and what was said about it, sealed.
    note = models.BinaryField()
    recorded_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    recorded_at = models.DateTimeField(db_default=ClockTimestamp())
    state = models.CharField(max_length=8, choices=MinorState.choices, default=MinorState.RECORDED)
    #: Paid in for play, less what was paid out; below zero where that was more.
    stakes = models.BigIntegerField(null=True)
    deposit = models.BigIntegerField(null=True)
    #: What lay in held payouts.
    held = models.BigIntegerField(null=True)
    #: Given back; winnings that are not paid; what the house bears.
    refund = models.BigIntegerField(null=True)
    kept = models.BigIntegerField(null=True)
    borne = models.BigIntegerField(null=True)
    #: Number of the held payout that is given back; null where that is nothing.
    payout = models.PositiveIntegerField(null=True)
    #: Until when the winnings are to be remitted; null where nothing was kept.
    remit_by = models.DateTimeField(null=True)
    #: What has paid the winnings to whom the law names; null before, and where nothing was kept.
    remittance = models.ForeignKey(Remittance, on_delete=models.PROTECT, related_name="minors", null=True)
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "minor"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="minor_number"),
            models.UniqueConstraint(
                fields=["house", "player"], condition=models.Q(state=MinorState.RECORDED), name="minor_settled_once"
            ),
            models.CheckConstraint(
                condition=models.Q(state=MinorState.RECORDED, ended_by=None, ended_at=None)
                | (~models.Q(state=MinorState.RECORDED) & models.Q(ended_by__isnull=False, ended_at__isnull=False)),
                name="minor_ended_by_somebody",
            ),
            models.CheckConstraint(
                condition=(
                    ~models.Q(state=MinorState.SETTLED)
                    & models.Q(stakes=None, deposit=None, held=None, refund=None, kept=None, borne=None, payout=None)
                )
                | models.Q(
                    state=MinorState.SETTLED,
                    stakes__isnull=False,
                    deposit__isnull=False,
                    held__isnull=False,
                    refund__isnull=False,
                    kept__isnull=False,
                    borne__isnull=False,
                    deposit__gte=0,
                    held__gte=0,
                    refund__gte=0,
                    kept__gte=0,
                    borne__gte=0,
                    refund=models.F("deposit") + models.F("held") + models.F("borne") - models.F("kept"),
                ),
                name="minor_sums",
            ),
            models.CheckConstraint(
                condition=models.Q(remittance=None) | models.Q(state=MinorState.SETTLED, kept__gt=0),
                name="minor_remitted_what_was_kept",
            ),
            models.CheckConstraint(
                condition=models.Q(remit_by=None, kept=None)
                | models.Q(remit_by=None, kept=0)
                | models.Q(kept__gt=0, remit_by__gt=models.F("ended_at")),
                name="minor_remitted_by_then",
            ),
        ]
        indexes = [
            models.Index(
                fields=["house", "player"], condition=~models.Q(state=MinorState.CLEARED), name="minor_not_cleared"
            )
        ]

    def __str__(self) -> str:
        return f"{self.house_id}/{self.number}"
