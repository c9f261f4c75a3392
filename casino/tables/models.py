"""Tables, sessions (from opening to closing), seatings (a player on a seat for a while), turns of dealers,
and the waiting list.

Seats are numbered in the game's play order, whatever way round the room that is: the seat after the dealer's is the
next number in use. A table's state says what may be done next:

    closed -> retired (for ever)
    closed -> open -> playing -> settling -> open ... -> closed
                                 settling -> disputed (the worker's replay disagrees; somebody must rule)
                       playing, settling -> disputed (the floor has disputed the hand)
                       disputed -> playing, settling (and has withdrawn that)

A hand that is voided leads from playing or disputed back to open, one that is ruled on from disputed.
"""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q, Value

from casino.bookkeeping.accounts import Account
from casino.houses.models import ClockTimestamp, House, HouseRow
from casino.players.models import REFERENCE, Player
from casino.staff.models import Staff


class TableState(models.TextChoices):
    """The states of a table, which decide what may be done next."""

    CLOSED = "closed"
    OPEN = "open"
    PLAYING = "playing"
    SETTLING = "settling"
    DISPUTED = "disputed"
    RETIRED = "retired"


class CarryoverOnClose(models.TextChoices):
    """What happens to money that no one has won when the table closes. There is no silent default."""

    SPLIT = "split", "equal shares, the odd rest to the first after the dealer"
    HOUSE = "house", "to the house"
    LAST_DEALER = "last_dealer", "to the player who dealt last"
    HOLD = "hold", "kept by the house for the table's next session"
    PLAY_ON = "play_on", "played for: the table closes when it is won, or when too few are left to play"


class ClientSeeds(models.TextChoices):
    """Which seats must have added a seed before an electronic hand is dealt to them."""

    OPTIONAL = "optional", "none; every seat may add one"
    ALL = "all", "every seat that is dealt in"


class TurnEnd(models.TextChoices):
    """What a dealer's turn at a table ended with."""

    BREAK = "break", "the dealer goes on a break"
    DONE = "done", "the dealer has another duty, or goes home"
    CLOSED = "closed", "the table was closed"


class Waiting(models.TextChoices):
    """The states of an entry of the waiting list."""

    WAITING = "waiting"
    CALLED = "called"
    SEATED = "seated"
    NO_SHOW = "no_show"
    REMOVED = "removed"


class FeePer(models.TextChoices):
    """What a seat's fee is for."""

    DEAL = "deal", "every deal that a player is dealt into"
    HOUR = "hour", "an hour, begun by a deal"


#: Least and most seconds that a table may set for acting.
LEAST_TIME_TO_ACT, MOST_TIME_TO_ACT = 5, 3600


class Table(models.Model):
    """One table. `version` grows with every write and with every settlement; If-Match compares against it."""

    #: Which state may follow which.
    NEXT: ClassVar[dict[str, tuple[str, ...]]] = {
        TableState.CLOSED: (TableState.OPEN, TableState.RETIRED),
        TableState.OPEN: (TableState.PLAYING, TableState.CLOSED),
        TableState.PLAYING: (TableState.SETTLING, TableState.DISPUTED, TableState.OPEN),
        TableState.SETTLING: (TableState.OPEN, TableState.DISPUTED),
        TableState.DISPUTED: (TableState.OPEN, TableState.PLAYING, TableState.SETTLING),
        TableState.RETIRED: (),
    }

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="tables", db_index=False)
    code = models.CharField(max_length=32, validators=[REFERENCE])
    game = models.CharField(max_length=32)
    #: The part of the room in which it stands, for reports; empty: none is named. A table stays in its area.
    area = models.CharField(max_length=32, validators=[REFERENCE], blank=True, default="", db_default="")
    #: Every option that differs from the game's default, stakes included; checked by the engine when set.
    options = models.JSONField()
    seats = models.PositiveSmallIntegerField()
    #: Smallest and largest stack of a player who sits down or adds chips, in minor units; the smallest may be 0 if
    #: nothing can be lost.
    min_stack = models.BigIntegerField()
    max_stack = models.BigIntegerField()
    carryover_on_close = models.CharField(max_length=12, choices=CarryoverOnClose.choices)
    client_seeds = models.CharField(
        max_length=8, choices=ClientSeeds.choices, default=ClientSeeds.OPTIONAL, db_default=ClientSeeds.OPTIONAL
    )
    #: Seconds that a seat has for its act before the worker plays its automatic act; null: no limit.
    time_to_act = models.PositiveSmallIntegerField(null=True, blank=True)
    #: When that was last changed, null before the first change. No clock runs from an earlier time, so a change gives
    #: the whole time.
    time_to_act_since = models.DateTimeField(null=True, blank=True)
    #: Whether players may act from their own devices in electronic hands.
    device_play = models.BooleanField(default=False, db_default=False)
    #: The fee that a player pays the house for a seat, in minor units, if the game has no pot to tax; 0: none.
    seat_fee = models.BigIntegerField(default=0, db_default=0)
    seat_fee_per = models.CharField(max_length=4, choices=FeePer.choices, default=FeePer.DEAL, db_default=FeePer.DEAL)
    #: Options, seats, limits of a stack and rule for a carryover that the next opening brings; null: those of now.
    terms_to_come = models.JSONField(null=True, blank=True)
    state = models.CharField(max_length=8, choices=TableState.choices, default=TableState.CLOSED)
    version = models.BigIntegerField(default=1)
    #: Who deals the next hand; null until the table opens.
    button = models.PositiveSmallIntegerField(null=True, blank=True)
    hands_dealt = models.PositiveIntegerField(default=0)
    #: SHA-256 of the last hand's record, which the next record names as `prev`.
    last_record_hash = models.CharField(max_length=64, blank=True, default="")
    #: Name of the hand whose electronic deal is committed to and not dealt yet; empty when there is none.
    prepared_deal = models.CharField(max_length=48, blank=True, default="")
    #: How many deals have been committed to and abandoned since the last hand: part of the next hand's name.
    abandoned_deals = models.PositiveIntegerField(default=0)
    #: The dealer who has taken the table over: no other dealer deals there. Null: any dealer at its terminal deals.
    dealer = models.ForeignKey(Staff, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        verbose_name = "table"
        constraints = [
            models.UniqueConstraint(fields=["house", "code"], name="table_code"),
            models.CheckConstraint(condition=Q(state__in=TableState.values), name="table_state"),
            models.CheckConstraint(
                condition=Q(carryover_on_close__in=CarryoverOnClose.values), name="table_carryover_on_close"
            ),
            models.CheckConstraint(condition=Q(client_seeds__in=ClientSeeds.values), name="table_client_seeds"),
            models.CheckConstraint(condition=Q(min_stack__gte=0, max_stack__gte=F("min_stack")), name="table_limits"),
            models.CheckConstraint(
                condition=Q(time_to_act=None) | Q(time_to_act__range=(LEAST_TIME_TO_ACT, MOST_TIME_TO_ACT)),
                name="table_time_to_act",
            ),
            models.CheckConstraint(condition=Q(seat_fee__gte=0), name="table_seat_fee"),
            models.CheckConstraint(condition=Q(seat_fee_per__in=FeePer.values), name="table_seat_fee_per"),
        ]

    def __str__(self) -> str:
        return self.code

    @property
    def chain(self) -> str:
        """Name of the table's audit chain."""
        return f"table/{self.code}"

    @property
    def next_hand(self) -> str:
        """Name of the next hand to be dealt: `T1-000124`, or `T1-000124x2` after one deal was committed to under that
        name and abandoned, so that no name is ever committed to twice."""
        again = f"x{self.abandoned_deals + 1}" if self.abandoned_deals else ""
        return f"{self.code}-{self.hands_dealt + 1:06d}{again}"

    def account(self, number: str) -> str:
        """Account code of one of the table's own accounts, e.g. `2030/T1` for the pot."""
        return f"{number}/{self.code}"

    def stack_account(self, player_ref: str) -> str:
        """Account code of a player's stack at this table."""
        return f"{Account.SEAT_STACK}/{self.code}/{player_ref}"


class TableTerms(HouseRow):
    """Terms of a table from when on until when. Rows are only added and ended: what was agreed on stays known, also
    where it never came in force."""

    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="terms")
    #: From 1 at each table.
    number = models.PositiveIntegerField()
    #: Options, seats, limits of a stack and rule for a carryover, as the event has them.
    terms = models.JSONField()
    set_at = models.DateTimeField(db_default=ClockTimestamp())
    #: Login of the person who proposed them, or the name of the process.
    set_by = models.CharField(max_length=64)
    #: When they came in force, with an opening of the table; null before, and where they never did.
    begun_at = models.DateTimeField(null=True)
    #: When others took their place, or they were taken back.
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "terms of a table"
        verbose_name_plural = "terms of a table"
        constraints = [
            models.UniqueConstraint(fields=["house", "table", "number"], name="table_terms_number"),
            models.UniqueConstraint(
                fields=["house", "table"], condition=Q(ended_at=None, begun_at=None), name="table_terms_one_to_come"
            ),
            models.UniqueConstraint(
                fields=["house", "table"],
                condition=Q(ended_at=None, begun_at__isnull=False),
                name="table_terms_one_in_force",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.table_id}/{self.number}"


class TableSession(HouseRow):
    """One evening of a table, from opening to closing."""

    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="sessions")
    number = models.PositiveIntegerField()
    opened_at = models.DateTimeField(db_default=ClockTimestamp())
    closed_at = models.DateTimeField(null=True)
    #: What the house keeps for the next session, {"cukassza": 400, "bank": 0}, minor units; empty where nothing.
    held = models.JSONField(default=dict, db_default=Value({}, models.JSONField()))
    #: The number of the count of the tray with which it began: the table's newest confirmed opener or closer, if that
    #: was an opener with which no session had begun; null: it began without one.
    opener = models.BigIntegerField(null=True)
    #: The session before it, where this one goes on with what that one has left; null where it starts over.
    resumes = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        verbose_name = "table session"
        constraints = [
            models.UniqueConstraint(fields=["house", "table", "number"], name="session_number"),
            models.UniqueConstraint(fields=["house", "table"], condition=Q(closed_at=None), name="session_one_open"),
        ]

    def __str__(self) -> str:
        return f"{self.table_id}/{self.number}"


class Seating(HouseRow):
    """A player on a seat of a table during a session."""

    session = models.ForeignKey(TableSession, on_delete=models.PROTECT, related_name="seatings")
    seat = models.PositiveSmallIntegerField()
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="seatings")
    sat_at = models.DateTimeField(db_default=ClockTimestamp())
    left_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "seating"
        constraints = [
            models.UniqueConstraint(
                fields=["house", "session", "seat"], condition=Q(left_at=None), name="seat_taken_once"
            ),
            models.UniqueConstraint(
                fields=["house", "session", "player"], condition=Q(left_at=None), name="player_seated_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.player_id}@{self.seat}"


class SeatKey(HouseRow):
    """The key with which a player's device acts for the seat, for as long as the player sits there. Only a digest is
    kept: the key has 256 random bits, so a slow hash would add nothing."""

    seating = models.ForeignKey(Seating, on_delete=models.PROTECT, related_name="keys")
    #: Unique over all houses: a device names its key and nothing else, and the key identifies the house.
    digest = models.CharField(max_length=64, unique=True)
    issued_at = models.DateTimeField(db_default=ClockTimestamp())
    #: When a new key took its place, or the floor withdrew it.
    replaced_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "key of a seat"
        constraints = [
            models.UniqueConstraint(
                fields=["house", "seating"], condition=Q(replaced_at=None), name="seat_key_one_good"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.seating_id}"


class SeatDevice(HouseRow):
    """A device with which a player has used the key of a seat, by the mark that it keeps (`casino/tables/marks.py`)."""

    seating = models.ForeignKey(Seating, on_delete=models.PROTECT, related_name="devices")
    #: SHA-256 of the mark with the house's number, hexadecimal.
    mark = models.CharField(max_length=64)
    named_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "device of a seat"
        constraints = [models.UniqueConstraint(fields=["house", "seating", "mark"], name="seat_device_once")]

    def __str__(self) -> str:
        return f"{self.seating_id}/{self.mark[:8]}"


class DealerTurn(HouseRow):
    """A dealer at a table, from taking it over until relieved or gone. Hands `first_hand` to `last_hand` of the table
    were dealt in it; it has none where `last_hand` is the smaller one."""

    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="turns")
    #: Running number at the table, from 1.
    number = models.PositiveIntegerField()
    dealer = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="turns")
    began_at = models.DateTimeField(db_default=ClockTimestamp())
    first_hand = models.PositiveIntegerField()
    ended_at = models.DateTimeField(null=True)
    last_hand = models.PositiveIntegerField(null=True)
    ended_with = models.CharField(max_length=6, choices=TurnEnd.choices, blank=True, default="")

    class Meta:
        verbose_name = "turn of a dealer"
        constraints = [
            models.UniqueConstraint(fields=["house", "table", "number"], name="turn_number"),
            models.UniqueConstraint(fields=["house", "table"], condition=Q(ended_at=None), name="turn_one_at_a_table"),
            models.UniqueConstraint(fields=["house", "dealer"], condition=Q(ended_at=None), name="turn_at_one_table"),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True, last_hand__isnull=True, ended_with="")
                | Q(ended_at__isnull=False, last_hand__isnull=False, ended_with__in=TurnEnd.values),
                name="turn_ended_with_something",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.table_id}/{self.number}"


class WaitingEntry(HouseRow):
    """A player who waits for a seat at a table of a game. The numbers, given one after the other, are the order in
    which players are called; the times are not."""

    #: An entry that has not ended.
    OPEN: ClassVar[tuple[str, ...]] = (Waiting.WAITING, Waiting.CALLED)

    number = models.PositiveIntegerField()
    game = models.CharField(max_length=32)
    #: The only table that the player wants; null: any table of the game.
    table = models.ForeignKey(Table, null=True, on_delete=models.PROTECT, related_name="+")
    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=8, choices=Waiting.choices, default=Waiting.WAITING)
    #: Grows with every write.
    version = models.PositiveIntegerField(default=1)
    added_at = models.DateTimeField(db_default=ClockTimestamp())
    #: The table at which a seat was offered last.
    called_to = models.ForeignKey(Table, null=True, on_delete=models.PROTECT, related_name="+")
    called_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "entry of the waiting list"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="waiting_number"),
            models.UniqueConstraint(
                fields=["house", "player", "game"],
                condition=Q(state__in=["waiting", "called"]),
                name="waiting_once_for_a_game",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "called"], ended_at__isnull=True)
                | Q(state__in=["seated", "no_show", "removed"], ended_at__isnull=False),
                name="waiting_ended_or_not",
            ),
            models.CheckConstraint(
                condition=Q(state="waiting", called_to__isnull=True, called_at__isnull=True)
                | Q(state="removed")
                | Q(state__in=["called", "seated", "no_show"], called_to__isnull=False, called_at__isnull=False),
                name="waiting_called_or_not",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number}"
