"""Accounts with a balance, transactions with a unique key, entries: constraints that Django can declare, no more."""

from django.db import models
from django.db.models import F, Q


class Account(models.Model):
    """Who holds how much."""

    code = models.CharField(max_length=255, unique=True)
    balance = models.BigIntegerField(default=0)
    min_balance = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(balance__gte=F("min_balance")), name="plain_account_floor")]

    def __str__(self) -> str:
        return self.code


class Transaction(models.Model):
    """What posting, once for each key."""

    key = models.CharField(max_length=255, unique=True)
    kind = models.CharField(max_length=255)
    metadata = models.JSONField()
    posted_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.key


class Entry(models.Model):
    """One leg."""

    transaction = models.ForeignKey(Transaction, on_delete=models.PROTECT, related_name="entries")
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="entries")
    amount = models.BigIntegerField()
    balance_after = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.account_id}: {self.amount:+d}"
