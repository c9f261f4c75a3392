"""A player is a pseudonymous reference; who is behind it belongs elsewhere, never in hands, ledger or audit."""

from django.core.validators import RegexValidator
from django.db import models

from casino.house.models import ClockTimestamp, House

#: References stand in account codes and hand records: short, ASCII, no separators.
REFERENCE = RegexValidator(r"^[A-Za-z0-9_-]{1,32}\Z", "1 to 32 ASCII letters, digits, - or _")


class Player(models.Model):
    """Somebody who may hold chips and sit at tables."""

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
        return f"2010/{self.ref}"
