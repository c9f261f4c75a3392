"""A hand's inputs, its append-only log, and what came of it. Nothing that can be derived is stored as truth: `digest`
and `result` are there to be compared with the worker's replay of inputs and log."""

from typing import Any

from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q, Value

from casino.houses.models import ClockTimestamp, House, HouseRow
from casino.tables.models import Table, TableSession


class HandState(models.TextChoices):
    """playing -> ended (the log is complete, the money not yet settled) -> settled, or disputed -> ruled; played and
    disputed hands can be voided. A bonus above the house's control point: ended -> awaiting_approval -> approved (its
    payment; the money not yet settled) -> settled, or awaiting_approval -> disputed. The floor may dispute a hand in
    every state before settled: a disputed hand may have no result. A dispute of the floor that is withdrawn leads back
    to the state before it."""

    PLAYING = "playing"
    ENDED = "ended"
    AWAITING_APPROVAL = "awaiting_approval", "Awaiting approval"
    APPROVED = "approved"
    SETTLED = "settled"
    DISPUTED = "disputed"
    RULED = "ruled"
    VOIDED = "voided"


#: States of a hand whose money is not settled; a table has at most one such hand.
UNSETTLED = (
    HandState.PLAYING, HandState.ENDED, HandState.AWAITING_APPROVAL, HandState.APPROVED, HandState.DISPUTED,
)  # fmt: skip

#: States in which the floor may dispute a hand, and to which it goes back where the dispute is withdrawn.
DISPUTED_FROM = [state for state in UNSETTLED if state != HandState.DISPUTED]


class Mode(models.TextChoices):
    """Where the cards come from: a pack in the dealer's hands, or a committed seed."""

    PHYSICAL = "physical"
    ELECTRONIC = "electronic"


class Hand(models.Model):
    """One deal at one table."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="hands", db_index=False)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="hands")
    session = models.ForeignKey(TableSession, on_delete=models.PROTECT, related_name="hands")
    number = models.PositiveIntegerField()
    #: `T1-000123`, the id in the hand's record.
    name = models.CharField(max_length=48)
    mode = models.CharField(max_length=10, choices=Mode.choices)
    game = models.CharField(max_length=32)
    #: `GAME/1`, the version of the rules of that day: the hand is replayed by it for ever.
    rules = models.CharField(max_length=32)
    options = models.JSONField()
    #: In play order, so that index 0 is the engine's p1: [{"seat": 3, "player": "u12"}, ...].
    seats = models.JSONField()
    stacks = models.JSONField()
    carry = models.BigIntegerField()
    #: What seats pay the house for when the hand is settled, {"per": "deal", "amounts": [100, 100]}, p1 first, minor
    #: units, not part of `stacks`; empty where no fee is due. See `hands.fees`.
    fees = models.JSONField(default=dict, db_default=Value({}, models.JSONField()))
    #: What the game carries from deal to deal besides money: see `hands.series`.
    series = models.JSONField(default=dict)
    #: Electronic mode: SHA-256 commitment (hex) and the seed, sealed with AES-GCM; both empty in physical mode.
    commitment = models.CharField(max_length=64, blank=True, default="")
    sealed_seed = models.BinaryField(default=b"")
    #: What players added to the seed, by chair: {"3": "alice"}; those who sat out included.
    client_seeds = models.JSONField(default=dict)
    #: Roots over the salted cards of the deck and of each redeal so far, in hex; see `engine.deal.opening`.
    cards_roots = models.JSONField(default=list)
    state = models.CharField(max_length=17, choices=HandState.choices, default=HandState.PLAYING)
    #: Hash of the table's previous record.
    previous_hash = models.CharField(max_length=64, blank=True, default="")
    #: Set when the log is complete: the engine's digest of the final state, and what `selectors.stored_result` keeps.
    digest = models.CharField(max_length=64, blank=True, default="")
    result = models.JSONField(null=True)
    #: Money that seats played for, by actions or because the rules make them, in minor units (the hand's handle).
    handle = models.BigIntegerField(null=True)
    started_at = models.DateTimeField(db_default=ClockTimestamp())
    ended_at = models.DateTimeField(null=True)
    settled_at = models.DateTimeField(null=True)
    #: When it was disputed; it stays when the dispute is decided, and is null again when it was withdrawn.
    disputed_at = models.DateTimeField(null=True)
    #: Login of the person of the floor who disputed it, and the state in which it was then; both empty where its replay
    #: differed, or its bonus was refused.
    disputed_by = models.CharField(max_length=64, blank=True, default="")
    disputed_from = models.CharField(max_length=17, blank=True, default="")
    #: How many disputes of it were withdrawn, and when the last of them was: a seat's time to act begins again then.
    disputes_withdrawn = models.PositiveSmallIntegerField(default=0)
    resumed_at = models.DateTimeField(null=True)
    #: What was decided on a disputed hand: {"pot": 3300, "awards": {"p1": 3135}, "tax": 165, "readings": ...}, minor
    #: units; see `hands.readings`. It stays, whatever a `LaterRuling` decides.
    ruling = models.JSONField(null=True)
    #: The ledger transaction that settled it, or carried out the ruling; unique, so no hand is ever settled twice. Null
    #: where a settled hand had nothing left to move.
    settlement = models.BigIntegerField(null=True)

    class Meta:
        verbose_name = "hand"
        constraints = [
            models.UniqueConstraint(fields=["house", "name"], name="hand_name"),
            models.UniqueConstraint(fields=["house", "table", "number"], name="hand_number"),
            models.UniqueConstraint(fields=["house", "settlement"], name="hand_settlement"),
            models.UniqueConstraint(
                fields=["house", "table"],
                condition=Q(state__in=["playing", "ended", "awaiting_approval", "approved", "disputed"]),
                name="hand_one_unsettled",
            ),
            models.CheckConstraint(condition=Q(state__in=HandState.values), name="hand_state"),
            models.CheckConstraint(condition=~Q(rules=""), name="hand_has_rules"),
            models.CheckConstraint(
                condition=Q(state__in=[HandState.PLAYING, HandState.DISPUTED, HandState.RULED, HandState.VOIDED])
                | ~Q(digest=""),
                name="hand_ended_has_digest",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=[HandState.DISPUTED, HandState.RULED]) | Q(disputed_at__gte=F("started_at")),
                name="hand_disputed_has_time",
            ),
            models.CheckConstraint(
                condition=Q(disputed_by="", disputed_from="")
                | (Q(disputed_from__in=DISPUTED_FROM, disputed_at__isnull=False) & ~Q(disputed_by="")),
                name="hand_disputed_by_whole",
            ),
            models.CheckConstraint(
                condition=Q(disputes_withdrawn=0, resumed_at__isnull=True)
                | Q(disputes_withdrawn__gt=0, resumed_at__gte=F("started_at")),
                name="hand_resumed_has_time",
            ),
            models.CheckConstraint(
                condition=~Q(state=HandState.SETTLED) | Q(settled_at__gte=F("ended_at")), name="hand_settled_has_time"
            ),
            models.CheckConstraint(
                condition=Q(state=HandState.RULED, ruling__isnull=False, settlement__isnull=False)
                | (~Q(state=HandState.RULED) & Q(ruling__isnull=True)),
                name="hand_ruled_has_ruling",
            ),
        ]
        indexes = [
            models.Index(fields=["house", "id"], name="hand_house"),
            models.Index(fields=["house", "started_at"], name="hand_started"),
            GinIndex(fields=["seats"], opclasses=["jsonb_path_ops"], name="hand_seats"),
        ]

    def __str__(self) -> str:
        return self.name

    def player_of(self, seat: int) -> str:
        """Player reference of the engine's seat `seat` (1 is p1)."""
        player: str = self.seats[seat - 1]["player"]
        return player


class HandLine(HouseRow):
    """One accepted line of the log. Rows are only ever added; PostgreSQL refuses anything else."""

    #: The trigger that keeps the lines in order looks the hand up, with its house: a stricter check, and the only one.
    hand = models.ForeignKey(Hand, on_delete=models.PROTECT, related_name="lines", db_index=False, db_constraint=False)
    seq = models.PositiveIntegerField()
    #: The line as everybody saw it when it was added: cards that lie face down are `??`.
    text = models.CharField(max_length=160)
    #: The line with its face-down cards, and the hash of it that the audit trail has: see `hands.face_down`. Both empty
    #: where `text` is the whole line.
    sealed = models.BinaryField(db_default=b"")
    hash = models.CharField(max_length=64, db_default="")
    at = models.DateTimeField(db_default=ClockTimestamp())
    #: The time to act runs on through it (the game's declaration of its verb says so).
    aside = models.BooleanField(db_default=False)

    class Meta:
        verbose_name = "line of a hand's log"
        constraints = [models.UniqueConstraint(fields=["house", "hand", "seq"], name="hand_line_seq")]

    def __str__(self) -> str:
        return self.text


class DealState(models.TextChoices):
    """prepared -> dealt, or abandoned by the floor."""

    PREPARED = "prepared"
    DEALT = "dealt"
    ABANDONED = "abandoned"


class Deal(models.Model):
    """An electronic deal: seats, button and the house's seed are fixed before the first client seed. The seed is sealed
    as in a hand's row, and is kept of abandoned deals too.

    Seats commit to their seeds until the commitments are closed, then they reveal them; who reveals last has committed
    before anybody's seed was known.
    """

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+")
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveIntegerField()
    #: Name of the hand that is dealt from it; no other deal is ever committed to under this name.
    name = models.CharField(max_length=48)
    commitment = models.CharField(max_length=64)
    sealed_seed = models.BinaryField()
    #: Who is dealt in, in play order, the button last: [{"seat": 3, "player": "u12"}, ...].
    seats = models.JSONField()
    #: What the dealer announced for this deal; the game's policy lists it.
    announced = models.JSONField(default=list)
    state = models.CharField(max_length=9, choices=DealState.choices, default=DealState.PREPARED)
    #: Since when seeds are revealed instead of committed to; null before.
    closed_at = models.DateTimeField(null=True)
    at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "deal"
        constraints = [
            models.UniqueConstraint(fields=["house", "name"], name="deal_name"),
            models.UniqueConstraint(fields=["house", "table"], condition=Q(state="prepared"), name="deal_one_prepared"),
            models.CheckConstraint(condition=Q(state__in=DealState.values), name="deal_state"),
        ]

    def __str__(self) -> str:
        return self.name


class GivenBy(models.TextChoices):
    """How a client seed came to the house."""

    CONSOLE = "console"
    PLAYER = "player"


class SeedCommitment(HouseRow):
    """What a player's device committed to before anybody's seed was known. Rows are only ever added."""

    deal = models.ForeignKey(Deal, on_delete=models.PROTECT, related_name="seed_commitments")
    seat = models.PositiveSmallIntegerField()
    #: Reference of the player who sat there.
    player = models.CharField(max_length=32)
    #: `engine.deal.shuffle.client_commitment` of hand, seat and seed; 64 hex digits.
    commitment = models.CharField(max_length=64)
    at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "seed commitment"
        constraints = [models.UniqueConstraint(fields=["house", "deal", "seat"], name="seed_commitment_once")]

    def __str__(self) -> str:
        return f"{self.deal_id}/{self.seat}"


class ClientSeed(HouseRow):
    """What one seat added to a deal: said at the table before the commitments were closed, or revealed by a device that
    had committed to it. Rows are only ever added; PostgreSQL refuses anything else."""

    deal = models.ForeignKey(Deal, on_delete=models.PROTECT, related_name="client_seeds")
    seat = models.PositiveSmallIntegerField()
    #: Reference of the player who sat there.
    player = models.CharField(max_length=32)
    seed = models.CharField(max_length=64)
    given_by = models.CharField(max_length=7, choices=GivenBy.choices)
    at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "client seed"
        constraints = [
            models.UniqueConstraint(fields=["house", "deal", "seat"], name="client_seed_once"),
            models.CheckConstraint(condition=Q(given_by__in=GivenBy.values), name="client_seed_given_by"),
        ]

    def __str__(self) -> str:
        return f"{self.deal_id}/{self.seat}"


class CardEntry(HouseRow):
    """What a card that was dealt unknown is, as a scanner or the dealer entered it. Rows are only ever added; of
    several for one index the last counts."""

    hand = models.ForeignKey(Hand, on_delete=models.PROTECT, related_name="entries")
    #: The engine's seat, `p1` is 1; the index among its cards in the order of dealing, from 0.
    seat = models.PositiveSmallIntegerField()
    index = models.PositiveSmallIntegerField()
    #: The card, and the hash of it that the audit trail has: see `hands.face_down`.
    sealed = models.BinaryField()
    hash = models.CharField(max_length=64)
    at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "card entry"
        indexes = [models.Index(fields=["hand", "id"], name="card_entry_hand")]

    def __str__(self) -> str:
        return f"{self.hand_id}/p{self.seat}/{self.index}"


class Correction(HouseRow):
    """Other cards for a line of a hand's log. The line stays as it is; the view `hands_log` is the log with its
    corrections, the last one of a line counting. Rows are only ever added."""

    hand = models.ForeignKey(Hand, on_delete=models.PROTECT, related_name="corrections")
    seq = models.PositiveIntegerField()
    #: Both as everybody saw them.
    before = models.CharField(max_length=160)
    after = models.CharField(max_length=160)
    #: As those of a line, of `after`.
    sealed = models.BinaryField(db_default=b"")
    hash = models.CharField(max_length=64, db_default="")
    reason = models.CharField(max_length=200)
    at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "correction"
        indexes = [models.Index(fields=["hand", "seq", "id"], name="correction_line")]

    def __str__(self) -> str:
        return f"{self.hand_id}/{self.seq}"


class LaterRuling(HouseRow):
    """A ruling on a hand whose money had moved already. Rows are only ever added: the first ruling, and every one
    before it, stays."""

    hand = models.ForeignKey(Hand, on_delete=models.PROTECT, related_name="later_rulings")
    #: From 1 in each hand, from 2 where the hand was ruled on when it was disputed.
    number = models.PositiveIntegerField()
    #: By the engine's seat, minor units: {"p1": 165}.
    tax_refunded = models.JSONField()
    fee_refunded = models.JSONField(default=dict)
    made_good = models.JSONField()
    #: What a seat has given another: [{"loser": "p2", "winner": "p1", "amount": 400, "consent": "slip 17"}].
    collected = models.JSONField()
    #: As in `Hand.ruling`.
    readings = models.JSONField()
    reason = models.CharField(max_length=200)
    #: The ledger transaction that carried it out; null where it moved nothing.
    settlement = models.BigIntegerField(null=True)
    at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "later ruling"
        constraints = [
            models.UniqueConstraint(fields=["house", "hand", "number"], name="later_ruling_number"),
            models.UniqueConstraint(fields=["house", "settlement"], name="later_ruling_settlement"),
        ]

    def __str__(self) -> str:
        return f"{self.hand_id}/{self.number}"


class ExceptionKind(models.TextChoices):
    """What is wrong with cards."""

    DUPLICATE = "duplicate"
    MISSING = "missing"
    FOREIGN = "foreign"
    DIFFERS = "differs"
    DECK = "deck"


class CardException(models.Model):
    """Cards that cannot be as they were entered. Kept although the request was refused; open until the floor clears it,
    once."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+")
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="+")
    #: From 1 without gaps, at the table.
    number = models.PositiveIntegerField()
    hand = models.ForeignKey(Hand, on_delete=models.PROTECT, related_name="+", null=True)
    kind = models.CharField(max_length=9, choices=ExceptionKind.choices)
    #: Where no hand was played: which cards, and the refusal's words, {"cards": ["Kl"], "problem": "..."}. Else null.
    found = models.JSONField(null=True)
    #: The same of a hand, whose face-down cards it may name, and the hash of it that the audit trail has: see
    #: `hands.face_down`. Both empty where no hand was played.
    sealed = models.BinaryField(db_default=b"")
    hash = models.CharField(max_length=64, db_default="")
    found_at = models.DateTimeField(db_default=ClockTimestamp())
    cleared_at = models.DateTimeField(null=True)
    #: Login of the person who cleared it, and the cause given.
    cleared_by = models.CharField(max_length=64, blank=True, default="")
    reason = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        verbose_name = "card exception"
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=ExceptionKind.values), name="card_exception_kind"),
            models.CheckConstraint(
                condition=Q(cleared_at=None, cleared_by="", reason="")
                | (Q(cleared_at__isnull=False) & ~Q(cleared_by="") & ~Q(reason="")),
                name="card_exception_cleared_whole",
            ),
            models.CheckConstraint(
                condition=Q(hand=None, found__isnull=False, sealed=b"", hash="")
                | (Q(hand__isnull=False, found__isnull=True) & ~Q(sealed=b"") & ~Q(hash="")),
                name="card_exception_sealed",
            ),
            models.UniqueConstraint(fields=["house", "table", "number"], name="card_exception_number"),
        ]
        indexes = [
            models.Index(fields=["table"], condition=Q(cleared_at=None), name="card_exception_open"),
            models.Index(fields=["house", "id"], name="card_exception_house"),
        ]

    def __str__(self) -> str:
        return f"card exception {self.number}"


def engine_seats(hand: Hand) -> list[dict[str, Any]]:
    """The play order with the engine's names: [{"actor": "p1", "seat": 3, "player": "u12"}, ...]."""
    return [{"actor": f"p{index}", **seat} for index, seat in enumerate(hand.seats, start=1)]
