"""A player is a pseudonymous reference. The person behind it is never named in hands, ledger or audit."""

import re

from django.core.validators import RegexValidator
from django.db import models

from casino.bookkeeping.accounts import Account
from casino.houses.models import ClockTimestamp, House, HouseRow

#: References are part of account codes and hand records: short, ASCII, no separators.
_REFERENCE = r"^[A-Za-z0-9_-]{1,32}\Z"
REFERENCE = RegexValidator(_REFERENCE, "1 to 32 ASCII letters, digits, - or _")
_REFERENCE_PATTERN = re.compile(_REFERENCE)


def is_reference(text: str) -> bool:
    """Whether a text has the form of a reference; one that has not may be a name."""
    return _REFERENCE_PATTERN.match(text) is not None


class Player(models.Model):
    """A player, who may hold chips and sit at tables."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="players")
    ref = models.CharField(max_length=32, validators=[REFERENCE])
    registered_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "player"
        constraints = [models.UniqueConstraint(fields=["house", "ref"], name="player_ref")]

    def __str__(self) -> str:
        return self.ref

    @property
    def wallet(self) -> str:
        """Account code of the chips the player holds away from the tables."""
        return f"{Account.CHIPS_OUTSTANDING}/{self.ref}"

    @property
    def held_payouts(self) -> str:
        """Account code of the player's payouts that are held; it is opened with the first one."""
        return f"{Account.HELD_PAYOUTS}/{self.ref}"

    @property
    def deposit(self) -> str:
        """Account code of the cash that the player has left with the house; it is opened with the first deposit."""
        return f"{Account.PLAYER_DEPOSITS}/{self.ref}"


class Person(HouseRow):
    """Who a player is, sealed (`players.sealing`); a correction is a new version. Append-only, kept by PostgreSQL."""

    player = models.ForeignKey(Player, on_delete=models.PROTECT, related_name="persons")
    version = models.PositiveIntegerField()
    sealed = models.BinaryField()
    #: SHA-256 of `sealed`, 64 hex digits, as the audit trail has it.
    sealed_sha256 = models.CharField(max_length=64)
    at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "person"
        constraints = [models.UniqueConstraint(fields=["house", "player", "version"], name="person_version")]

    def __str__(self) -> str:
        return f"{self.player_id}#{self.version}"


class PersonKey(HouseRow):
    """The key under which a player's persons are sealed, wrapped. Without it they cannot be read. Only this row is ever
    deleted, by `players_destroy_key`."""

    player = models.OneToOneField(Player, on_delete=models.PROTECT, primary_key=True, related_name="+")
    wrapped = models.BinaryField()

    class Meta:
        verbose_name = "person's key"

    def __str__(self) -> str:
        return str(self.player_id)
