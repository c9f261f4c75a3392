"""One object for every approval of the house.

A write that a control point holds back is asked for once more with an approval: of exactly that request, by exactly
that person, for one use and a short time.
"""

from collections.abc import Sequence
from datetime import datetime

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from casino.houses.models import ClockTimestamp, House
from casino.staff.models import Role, Staff, Terminal


class ApprovalKind(models.TextChoices):
    """What needs a second person; the control point that says so is a member of the house's limits."""

    EXCHANGE = "exchange", "chips for cash, or cash for chips, at the cage"
    TRANSFER = "transfer", "a fill or a credit"
    VOID = "void", "a void of a played hand"
    BONUS = "bonus", "a bonus of the house"
    RULING = "ruling", "a ruling on a hand"
    DUTY = "duty", "duty that is booked"
    CHIP_SET = "chip_set", "another chip set in use, or the end of one"
    COUNTERFEIT = "counterfeit", "counterfeit notes or chips that are taken out"
    BANK = "bank", "cash to or from the bank, and what another house pays for its chips"
    CAPITAL = "capital", "capital that the owners pay in or take out"
    STAGE = "stage", "a house that is suspended, resumed or closed"
    SETTINGS = "settings", "another table, drawer or tray, other terms or fees, once the house is live"
    STAFF = "staff", "people, roles and terminals, once the house is live"
    PAYOUT = "payout", "a payout that is held, or released"
    UNCLAIMED = "unclaimed", "found chips that are given to their owner, remitted or kept"
    DRAWER = "drawer", "a drawer that is opened again"
    VARIANCE = "variance", "variances of a count that are offset"
    CARRY = "carry", "a cukassza or bank that is held for the next session"
    DAY = "day", "the close of a gaming day"
    LEGAL_HOLD = "legal_hold", "a legal hold that is set or lifted"
    CONTROL_POINTS = "control_points", "other control points"
    EXCLUSION = "exclusion", "an exclusion of a player that is lifted, or counts for a player no more"
    ERASURE = "erasure", "a player who is forgotten"
    MINOR = "minor", "stakes of a minor given back, winnings remitted, or a player who is no minor"
    FILING = "filing", "a return about a transaction that was filed"


class ApprovalState(models.TextChoices):
    """requested -> approved -> used; a requested one can be refused; what is neither used nor refused is withdrawn by
    the person who asked, or expires."""

    REQUESTED = "requested"
    APPROVED = "approved"
    REFUSED = "refused"
    USED = "used"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


#: States in which an approval can still lead to a write.
OPEN = (ApprovalState.REQUESTED, ApprovalState.APPROVED)


#: Where an approval has the assents that were read with its lock.
_GIVEN = "_given_under_the_lock"


class Approval(models.Model):
    """A request that waits for a second person, and what that person decided."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="approvals")
    #: From 1 in each house, without gaps.
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=16, choices=ApprovalKind.choices)
    #: What was asked for, in full: the operation of the API, the address, and the body.
    operation = models.CharField(max_length=64)
    path = models.CharField(max_length=300)
    body = models.JSONField()
    #: The hash of the request, by which an Idempotency-Key is compared too.
    request_hash = models.CharField(max_length=64)
    #: What the control point looked at, in minor units; null where it looks at no amount.
    amount = models.BigIntegerField(null=True)
    #: The roles of which a person must have one to decide.
    roles: "ArrayField[Sequence[str], list[str]]" = ArrayField(models.CharField(max_length=16, choices=Role.choices))
    #: Whether one person of each of these roles must approve, different people; otherwise one person of one of them.
    every_role = models.BooleanField(default=False)
    state = models.CharField(max_length=9, choices=ApprovalState.choices, default=ApprovalState.REQUESTED)
    requested_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    requested_at = models.DateTimeField(db_default=ClockTimestamp())
    #: Terminal of the request.
    terminal = models.ForeignKey(Terminal, on_delete=models.PROTECT, related_name="+")
    expires_at = models.DateTimeField()
    #: Who refused it, or approved it; where every role must, who was the last of them.
    decided_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+", null=True)
    decided_at = models.DateTimeField(null=True)
    #: Where it was decided.
    decided_terminal = models.ForeignKey(Terminal, on_delete=models.PROTECT, related_name="+", null=True)
    #: Why it was refused.
    reason = models.CharField(max_length=200, blank=True, default="")
    #: When it was used, withdrawn, or marked as expired.
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "approval"
        constraints = [
            models.UniqueConstraint(fields=["house", "number"], name="approval_number"),
            models.CheckConstraint(condition=Q(kind__in=ApprovalKind.values), name="approval_kind"),
            models.CheckConstraint(condition=Q(state__in=ApprovalState.values), name="approval_state"),
            models.CheckConstraint(
                condition=Q(decided_by__isnull=True) | ~Q(decided_by=F("requested_by")), name="approval_two_persons"
            ),
            models.CheckConstraint(
                condition=Q(decided_by=None, decided_at=None, decided_terminal=None)
                | Q(decided_by__isnull=False, decided_at__isnull=False, decided_terminal__isnull=False),
                name="approval_decision_is_whole",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["approved", "used", "refused"]) | Q(decided_by__isnull=False),
                name="approval_decided_by_somebody",
            ),
        ]
        indexes = [
            models.Index(
                fields=["house", "requested_by"], condition=Q(state__in=["requested", "approved"]), name="approval_open"
            )
        ]

    def __str__(self) -> str:
        return f"approval {self.number}"

    def state_at(self, now: datetime) -> ApprovalState:
        """The state at this moment: what has run out is expired, whether it is marked so or not."""
        state = ApprovalState(self.state)
        return ApprovalState.EXPIRED if state in OPEN and self.expires_at <= now else state

    def alternatives(self) -> set[frozenset[str]]:
        """Sets of roles: when one person of each role of one of these sets has approved, it is approved."""
        return alternatives(self.roles, self.every_role)

    def waits_for(self) -> list[str]:
        """Of an approval that every role must give, the roles that have not; otherwise none."""
        given = {one.role for one in self.given()}
        return [role for role in self.roles if role not in given] if self.every_role else []

    def given(self) -> "Sequence[Assent]":
        """What has been approved of one that every role must give, in that order; otherwise nothing."""
        if not self.every_role:
            return []
        noted: Sequence[Assent] | None = self.__dict__.get(_GIVEN)
        return list(self.assents.all()) if noted is None else noted

    def note_given(self, assents: "Sequence[Assent]") -> None:
        """Let `given` find these, which were read under the lock."""
        self.__dict__[_GIVEN] = assents


class Assent(models.Model):
    """What one person has approved of a request that a person of every role must approve."""

    house = models.ForeignKey(House, on_delete=models.PROTECT, related_name="+")
    approval = models.ForeignKey(Approval, on_delete=models.PROTECT, related_name="assents")
    role = models.CharField(max_length=16, choices=Role.choices)
    given_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    given_at = models.DateTimeField(db_default=ClockTimestamp())
    terminal = models.ForeignKey(Terminal, on_delete=models.PROTECT, related_name="+")

    class Meta:
        verbose_name = "assent"
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=["house", "approval", "role"], name="assent_once_for_a_role"),
            models.UniqueConstraint(fields=["house", "approval", "given_by"], name="assent_once_by_a_person"),
        ]

    def __str__(self) -> str:
        return f"assent of {self.role} to {self.approval}"


def alternatives(roles: Sequence[str], every_role: bool) -> set[frozenset[str]]:
    """Sets of roles, of one of which one person of each role must approve: one set of all, or one of each."""
    names = [str(role) for role in roles]
    return {frozenset(names)} if every_role else {frozenset((name,)) for name in names}
