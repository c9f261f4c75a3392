"""Drawers, what passes between them and the vault, and their shifts."""

from collections.abc import Mapping

from django.db import models
from django.db.models import F, Q

from casino.cage.announced_models import AnnouncedCashOut as AnnouncedCashOut  # one file of models a subject
from casino.houses.models import ClockTimestamp, House, HouseRow
from casino.players.models import REFERENCE, Player
from casino.staff.models import Role, Staff


class DrawerState(models.TextChoices):
    """closed (empty) -> open (a shift trades) -> counted (by its cashier; nothing moves any more) -> recounted (by a
    supervisor, where the count differed) -> closed. A closed one can be retired, for ever."""

    OPEN = "open"
    COUNTED = "counted"
    RECOUNTED = "recounted"
    CLOSED = "closed"
    RETIRED = "retired"


class Drawer(models.Model):
    """One cashier's drawer, with its cash and chips. `version` grows with every write."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="drawers")
    code = models.CharField(max_length=32, validators=[REFERENCE])
    version = models.BigIntegerField(default=1)
    #: How many X readings were taken; each has its number.
    x_readings = models.PositiveIntegerField(default=0)
    #: When it was ended for ever.
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "drawer"
        constraints = [models.UniqueConstraint(fields=["house", "code"], name="drawer_code")]

    def __str__(self) -> str:
        return self.code

    @property
    def chain(self) -> str:
        """Name of the drawer's audit chain."""
        return f"drawer/{self.code}"

    def account(self, number: str) -> str:
        """Account code of one of the drawer's own accounts, e.g. `1020/C1` for its cash."""
        return f"{number}/{self.code}"


class HandoverKind(models.TextChoices):
    """What passes between the vault and a drawer, and which way; or between two drawers."""

    FLOAT = "float", "from the vault to a closed drawer, which opens with it"
    REPLENISHMENT = "replenishment", "from the vault to an open drawer"
    SKIM = "skim", "from an open drawer to the vault"
    HAND_OVER = "hand_over", "all of a drawer that closes, to a closed one of another cashier, which opens with it"


class HandoverState(models.TextChoices):
    """offered (counted out by one person, nothing has moved) -> taken (counted by another, posted), or withdrawn."""

    OFFERED = "offered"
    TAKEN = "taken"
    WITHDRAWN = "withdrawn"


class Handover(models.Model):
    """Cash (minor units) and chips (pieces by denomination) between the vault and a drawer, or from a drawer to another
    one. The person who takes them has counted them without knowing what was offered."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="handovers")
    drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="handovers")
    #: From 1 at each drawer, without gaps.
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=13, choices=HandoverKind.choices)
    state = models.CharField(max_length=9, choices=HandoverState.choices, default=HandoverState.OFFERED)
    cash = models.BigIntegerField()
    pieces = models.JSONField()
    #: Chips of other houses, which only a whole drawer takes along.
    foreign = models.BigIntegerField(default=0)
    #: Chips of withdrawn sets likewise: pieces by set and denomination.
    withdrawn = models.JSONField(default=dict)
    #: The drawer that a whole one is handed over to.
    to_drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="coming", null=True)
    offered_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    #: The role in which it was offered: a manager's needs no signature.
    offered_as = models.CharField(max_length=16, choices=Role.choices)
    offered_at = models.DateTimeField(db_default=ClockTimestamp())
    #: The manager who has signed for a large one.
    signed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    ended_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    ended_at = models.DateTimeField(null=True)
    #: Why it was withdrawn, or why a drawer is handed over.
    reason = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        verbose_name = "handover"
        constraints = [
            models.UniqueConstraint(fields=["house", "drawer", "number"], name="handover_number"),
            models.UniqueConstraint(
                fields=["house", "drawer"], condition=Q(state="offered"), name="handover_one_offered"
            ),
            models.CheckConstraint(condition=Q(kind__in=HandoverKind.values), name="handover_kind"),
            models.CheckConstraint(condition=Q(state__in=HandoverState.values), name="handover_state"),
            models.CheckConstraint(condition=Q(cash__gte=0, foreign__gte=0), name="handover_cash"),
            models.CheckConstraint(
                condition=(
                    Q(kind=HandoverKind.HAND_OVER, to_drawer__isnull=False) & ~Q(to_drawer=F("drawer")) & ~Q(reason="")
                )
                | (~Q(kind=HandoverKind.HAND_OVER) & Q(to_drawer=None, foreign=0, withdrawn={})),
                name="handover_to_another_drawer",
            ),
            models.CheckConstraint(
                condition=Q(state=HandoverState.OFFERED, ended_by=None)
                | (~Q(state=HandoverState.OFFERED) & Q(ended_by__isnull=False, ended_at__isnull=False)),
                name="handover_ended_is_signed",
            ),
            models.CheckConstraint(
                condition=~Q(state=HandoverState.TAKEN) | ~Q(ended_by=F("offered_by")), name="handover_two_persons"
            ),
            models.CheckConstraint(
                condition=Q(signed_by=None) | ~Q(signed_by=F("offered_by")), name="handover_signed_by_another"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.drawer_id}/{self.number}"


class Shift(HouseRow):
    """A drawer from its opening float to its count. Amounts in minor units, chips at face value.

    A count is `{"cash": ..., "pieces": {...}, "foreign": ...}`, and where there were chips of withdrawn sets also
    `"withdrawn": {set: {...}}`. What was expected, and the count that was accepted,
    are known when the shift has ended; before that only the books know.
    """

    drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="shifts")
    number = models.PositiveIntegerField()
    opened_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField(db_default=ClockTimestamp())
    float_cash = models.BigIntegerField()
    float_chips = models.BigIntegerField()
    #: The float's chips, and those expected and counted at the end, as pieces by denomination.
    float_pieces = models.JSONField(default=dict)
    #: Number of the shift that was closed by mistake, where this one goes on with what it had.
    reopens = models.PositiveIntegerField(null=True)
    first_count = models.JSONField(null=True)
    counted_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    counted_at = models.DateTimeField(null=True)
    recount = models.JSONField(null=True)
    recounted_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    recounted_at = models.DateTimeField(null=True)
    closed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    closed_at = models.DateTimeField(null=True)
    #: The drawer that it was handed over to; null where it went back to the vault.
    handed_to = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="+", null=True)
    #: Why a difference was signed off.
    reason = models.CharField(max_length=200, blank=True, default="")
    expected_cash = models.BigIntegerField(null=True)
    counted_cash = models.BigIntegerField(null=True)
    expected_chips = models.BigIntegerField(null=True)
    counted_chips = models.BigIntegerField(null=True)
    expected_pieces = models.JSONField(null=True)
    counted_pieces = models.JSONField(null=True)
    #: Chips of other houses.
    expected_foreign = models.BigIntegerField(null=True)
    counted_foreign = models.BigIntegerField(null=True)
    #: Chips of withdrawn sets that the drawer has taken back: pieces by set and denomination.
    expected_withdrawn = models.JSONField(null=True)
    counted_withdrawn = models.JSONField(null=True)

    class Meta:
        verbose_name = "shift"
        constraints = [
            models.UniqueConstraint(fields=["house", "drawer", "number"], name="shift_number"),
            models.UniqueConstraint(fields=["house", "drawer"], condition=Q(closed_at=None), name="shift_one_open"),
            models.CheckConstraint(
                condition=Q(closed_at=None, counted_cash=None, counted_chips=None, counted_foreign=None)
                | Q(
                    closed_at__isnull=False,
                    closed_by__isnull=False,
                    first_count__isnull=False,
                    expected_cash__isnull=False,
                    counted_cash__isnull=False,
                    expected_chips__isnull=False,
                    counted_chips__isnull=False,
                    expected_foreign__isnull=False,
                    counted_foreign__isnull=False,
                    expected_withdrawn__isnull=False,
                    counted_withdrawn__isnull=False,
                ),
                name="shift_closed_is_counted",
            ),
            models.CheckConstraint(
                condition=Q(first_count=None, counted_by=None, recount=None)
                | Q(first_count__isnull=False, counted_by__isnull=False),
                name="shift_count_is_signed",
            ),
            models.CheckConstraint(
                condition=Q(recount=None, recounted_by=None)
                | (Q(recount__isnull=False, recounted_by__isnull=False) & ~Q(recounted_by=F("counted_by"))),
                name="shift_recount_by_another",
            ),
            models.CheckConstraint(
                condition=Q(recount=None)
                | Q(closed_at=None)
                | (~Q(closed_by=F("counted_by")) & ~Q(closed_by=F("recounted_by")) & ~Q(reason="")),
                name="shift_signed_off_by_another",
            ),
            models.CheckConstraint(condition=Q(float_cash__gte=0, float_chips__gte=0), name="shift_float"),
            models.CheckConstraint(
                condition=Q(reopens=None) | Q(number=F("reopens") + 1), name="shift_reopens_the_one_before"
            ),
            models.CheckConstraint(
                condition=Q(handed_to=None) | (Q(closed_at__isnull=False) & ~Q(handed_to=F("drawer"))),
                name="shift_handed_to_another",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.drawer_id}/{self.number}"

    @property
    def state(self) -> DrawerState:
        """How far the shift is."""
        if self.closed_at is not None:
            return DrawerState.CLOSED
        if self.first_count is None:
            return DrawerState.OPEN
        return DrawerState.COUNTED if self.recount is None else DrawerState.RECOUNTED

    @property
    def withdrawn_variance(self) -> int:
        """Worth of the chips of withdrawn sets that were over or, below zero, short when the shift ended."""
        return worth(self.counted_withdrawn or {}) - worth(self.expected_withdrawn or {})


def worth(withdrawn: Mapping[str, Mapping[str, int]]) -> int:
    """What pieces by set and denomination are worth, in minor units."""
    return sum(int(value) * count for pieces in withdrawn.values() for value, count in pieces.items())


class VaultCountState(models.TextChoices):
    """counting (two people, blind of each other) -> counted (they agree, or a supervisor has decided, and it differs
    from the books: a manager signs it off) -> accepted; at once where it agrees with the books."""

    COUNTING = "counting"
    COUNTED = "counted"
    ACCEPTED = "accepted"


class VaultCount(models.Model):
    """A count of the vault by two people. Amounts in minor units, chips as pieces by denomination.

    What a count is over or, below zero, short is what was counted less what the books had in the vault when it was
    entered: what comes and goes between two counts is in both.
    """

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="vault_counts")
    #: From 1 in each house, without gaps.
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=8, choices=VaultCountState.choices, default=VaultCountState.COUNTING)
    begun_at = models.DateTimeField(db_default=ClockTimestamp())
    #: How often two counts have differed.
    differing_rounds = models.PositiveSmallIntegerField(default=0)
    #: The count that was accepted, or waits to be, and what it is over: `{"cash", "pieces", "foreign"}`.
    count = models.JSONField(null=True)
    over = models.JSONField(null=True)
    decided_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    #: Why the supervisor decided so.
    decision = models.CharField(max_length=200, blank=True, default="")
    signed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    #: Why the difference was signed off.
    reason = models.CharField(max_length=200, blank=True, default="")
    #: The earlier count that was signed and wrong, whose difference this one has found: `{"drawer", "count"}`, the
    #: number of a shift at its drawer or, without a drawer, of a count of the vault.
    corrects = models.JSONField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "count of the vault"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="vault_count_number"),
            models.UniqueConstraint(fields=["house"], condition=~Q(state="accepted"), name="vault_count_one_open"),
            models.UniqueConstraint(fields=["house", "corrects"], name="vault_count_corrects_once"),
            models.CheckConstraint(condition=Q(state__in=VaultCountState.values), name="vault_count_state"),
            models.CheckConstraint(
                condition=Q(state=VaultCountState.COUNTING, count=None, over=None)
                | (~Q(state=VaultCountState.COUNTING) & Q(count__isnull=False, over__isnull=False)),
                name="vault_count_is_counted",
            ),
            models.CheckConstraint(
                condition=Q(signed_by=None)
                | (Q(ended_at__isnull=False) & ~Q(reason="") & (Q(decided_by=None) | ~Q(signed_by=F("decided_by")))),
                name="vault_count_signed_by_another",
            ),
            models.CheckConstraint(
                condition=Q(state=VaultCountState.ACCEPTED, ended_at__isnull=False)
                | (~Q(state=VaultCountState.ACCEPTED) & Q(ended_at=None)),
                name="vault_count_ended",
            ),
        ]

    def __str__(self) -> str:
        return f"vault count {self.number}"


class VaultCountEntry(HouseRow):
    """One person's count of the vault. Two of one round are compared; nobody is shown the other one's."""

    vault_count = models.ForeignKey(VaultCount, on_delete=models.PROTECT, related_name="entries")
    round = models.PositiveSmallIntegerField()
    count = models.JSONField()
    over = models.JSONField()
    counted_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    counted_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "one person's count of the vault"
        constraints = [
            models.UniqueConstraint(fields=["house", "vault_count", "round", "counted_by"], name="vault_count_by_two"),
        ]

    def __str__(self) -> str:
        return f"{self.vault_count_id}/{self.round}"


class HeldCause(models.TextChoices):
    """Why a payout is held."""

    IDENTITY_PENDING = "identity_pending", "who the player is must be found out first"
    SUSPENSION = "suspension", "payments are suspended"
    MINOR = "minor", "stakes of a minor, which are given back"


class HeldState(models.TextChoices):
    """held (the house has the chips and owes the money) -> released (the player was paid), or settled (the player is a
    minor: what is given back is another held payout)."""

    HELD = "held"
    RELEASED = "released"
    SETTLED = "settled"


class HeldPayout(models.Model):
    """Money for chips that a player has brought, which is not paid yet. Amounts in minor units."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="held_payouts")
    #: From 1 in each house, without gaps.
    number = models.PositiveIntegerField()
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="held_rows")
    #: Where the chips were brought; null for stakes of a minor.
    drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="held_payouts", null=True)
    amount = models.BigIntegerField()
    cause = models.CharField(max_length=16, choices=HeldCause.choices)
    state = models.CharField(max_length=8, choices=HeldState.choices, default=HeldState.HELD)
    held_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    held_at = models.DateTimeField(db_default=ClockTimestamp())
    #: Who paid or settled it, at which drawer, or by which note of the bank.
    paid_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    paid_at_drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="+", null=True)
    note = models.CharField(max_length=32, blank=True, default="")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "held payout"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="held_payout_number"),
            models.CheckConstraint(condition=Q(cause__in=HeldCause.values), name="held_payout_cause"),
            models.CheckConstraint(condition=Q(amount__gt=0), name="held_payout_amount"),
            models.CheckConstraint(
                condition=Q(state=HeldState.HELD, paid_by=None, paid_at_drawer=None, note="", ended_at=None)
                | (
                    Q(state=HeldState.RELEASED, paid_by__isnull=False, ended_at__isnull=False)
                    & (Q(paid_at_drawer__isnull=False, note="") | (Q(paid_at_drawer=None) & ~Q(note="")))
                )
                | Q(
                    state=HeldState.SETTLED, paid_by__isnull=False, paid_at_drawer=None, note="", ended_at__isnull=False
                ),
                name="held_payout_is_paid_once",
            ),
            models.CheckConstraint(
                condition=Q(cause=HeldCause.MINOR, drawer=None) | (~Q(cause=HeldCause.MINOR) & Q(drawer__isnull=False)),
                name="held_payout_was_brought",
            ),
        ]

    def __str__(self) -> str:
        return f"held payout {self.number}"


class FoundState(models.TextChoices):
    """registered (nobody knows whose they are) -> claimed by their owner, or after the house's time remitted or
    kept."""

    REGISTERED = "registered"
    CLAIMED = "claimed"
    REMITTED = "remitted"
    KEPT = "kept"


class FoundChips(models.Model):
    """Chips without an owner, in the house's register. Amounts in minor units, chips as pieces by denomination."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="found_chips")
    #: From 1 in each house, without gaps.
    number = models.PositiveIntegerField()
    drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="found_chips")
    finder = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    found_where = models.CharField(max_length=64)
    amount = models.BigIntegerField()
    pieces = models.JSONField()
    state = models.CharField(max_length=10, choices=FoundState.choices, default=FoundState.REGISTERED)
    noted_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    noted_at = models.DateTimeField(db_default=ClockTimestamp())
    #: Their owner, or the number of the bank's note.
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="+", null=True)
    note = models.CharField(max_length=32, blank=True, default="")
    ended_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "found chips"
        verbose_name_plural = "found chips"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="found_chips_number"),
            models.CheckConstraint(condition=Q(state__in=FoundState.values), name="found_chips_state"),
            models.CheckConstraint(condition=Q(amount__gt=0), name="found_chips_amount"),
            models.CheckConstraint(
                condition=Q(state=FoundState.REGISTERED, ended_by=None, ended_at=None, player=None, note="")
                | (
                    ~Q(state=FoundState.REGISTERED)
                    & Q(ended_by__isnull=False, ended_at__isnull=False)
                    & (
                        Q(state=FoundState.CLAIMED, player__isnull=False, note="")
                        | (Q(state=FoundState.REMITTED, player=None) & ~Q(note=""))
                        | Q(state=FoundState.KEPT, player=None, note="")
                    )
                ),
                name="found_chips_end_once",
            ),
        ]

    def __str__(self) -> str:
        return f"found chips {self.number}"


class Means(models.TextChoices):
    """How chips are paid for that are not paid for in cash."""

    CARD = "card"
    TRANSFER = "transfer"


class NonCashState(models.TextChoices):
    """open (confirmed, and its money is on its way) -> settled (by a line of the bank's statement)."""

    OPEN = "open"
    SETTLED = "settled"


class NonCashBuyIn(models.Model):
    """Chips that a player has bought by card or transfer. Amounts in minor units."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="noncash_buy_ins")
    #: From 1 in each house, without gaps.
    number = models.PositiveIntegerField()
    drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="noncash_buy_ins")
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="+")
    means = models.CharField(max_length=8, choices=Means.choices)
    #: Of the terminal, or of the bank.
    reference = models.CharField(max_length=32)
    amount = models.BigIntegerField()
    state = models.CharField(max_length=7, choices=NonCashState.choices, default=NonCashState.OPEN)
    sold_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    sold_at = models.DateTimeField(db_default=ClockTimestamp())
    #: The line of the bank's statement.
    statement = models.CharField(max_length=32, blank=True, default="")
    settled_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "buy-in by card or transfer"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="noncash_number"),
            models.UniqueConstraint(fields=["house", "reference"], name="noncash_reference"),
            models.CheckConstraint(condition=Q(means__in=Means.values), name="noncash_means"),
            models.CheckConstraint(condition=Q(amount__gt=0), name="noncash_amount"),
            models.CheckConstraint(
                condition=Q(state=NonCashState.OPEN, statement="", settled_by=None, ended_at=None)
                | (Q(state=NonCashState.SETTLED, settled_by__isnull=False, ended_at__isnull=False) & ~Q(statement="")),
                name="noncash_settled_once",
            ),
        ]

    def __str__(self) -> str:
        return f"buy-in {self.number} by {self.means}"


class BagWay(models.TextChoices):
    """Which way a sealed bag of cash goes."""

    TO_BANK = "to_bank", "from the vault to the bank"
    FROM_BANK = "from_bank", "from the bank to the vault"


class BagState(models.TextChoices):
    """in_transit (neither in the vault nor in the bank) -> arrived (counted at its other end)."""

    IN_TRANSIT = "in_transit"
    ARRIVED = "arrived"


class BankBag(models.Model):
    """A sealed bag of cash between the vault and the bank. Amounts in minor units."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="bank_bags")
    #: From 1 in each house, without gaps.
    number = models.PositiveIntegerField()
    way = models.CharField(max_length=9, choices=BagWay.choices)
    #: Number of the sealed bag.
    bag = models.CharField(max_length=32)
    amount = models.BigIntegerField()
    state = models.CharField(max_length=10, choices=BagState.choices, default=BagState.IN_TRANSIT)
    sent_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    sent_at = models.DateTimeField(db_default=ClockTimestamp())
    #: What was counted at the other end, and the number of the bank's note about it.
    counted = models.BigIntegerField(null=True)
    note = models.CharField(max_length=32, blank=True, default="")
    ended_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "bag of cash"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="bank_bag_number"),
            models.UniqueConstraint(fields=["house", "bag"], condition=Q(state="in_transit"), name="bank_bag_in_use"),
            models.CheckConstraint(condition=Q(way__in=BagWay.values), name="bank_bag_way"),
            models.CheckConstraint(condition=Q(amount__gt=0), name="bank_bag_amount"),
            models.CheckConstraint(
                condition=Q(state=BagState.IN_TRANSIT, counted=None, ended_by=None, ended_at=None, note="")
                | (
                    Q(state=BagState.ARRIVED, counted__gte=0, ended_by__isnull=False, ended_at__isnull=False)
                    & ~Q(note="")
                    & ~Q(ended_by=F("sent_by"))
                ),
                name="bank_bag_arrived_by_another",
            ),
        ]

    def __str__(self) -> str:
        return f"bag {self.number}"


class VarianceOffset(models.Model):
    """A cash variance and a chip variance of one count that were one wrong entry, as far as they cancel."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="variance_offsets")
    #: From 1 in each house, without gaps.
    number = models.PositiveIntegerField()
    #: The drawer whose shift it was; null for the vault.
    drawer = models.ForeignKey(Drawer, on_delete=models.PROTECT, related_name="+", null=True)
    #: Number of the drawer's shift, or of the vault's count.
    count = models.PositiveIntegerField()
    #: In minor units: so much of the one cancels the other.
    amount = models.BigIntegerField()
    #: Whether cash was over and chips were short; else the reverse.
    cash_over = models.BooleanField()
    reason = models.CharField(max_length=200)
    offset_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    offset_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "offset of variances"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="variance_offset_number"),
            models.CheckConstraint(condition=Q(amount__gt=0), name="variance_offset_amount"),
            models.CheckConstraint(condition=~Q(reason=""), name="variance_offset_reason"),
        ]

    def __str__(self) -> str:
        return f"offset {self.number}"
