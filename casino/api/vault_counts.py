"""Counts of the vault: by two people blind of each other, signed off where they differ from the books."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import CHIPS, POSTING
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    CAGE_SUPERVISION,
    Amount,
    Pieces,
    Reason,
    StrictInput,
    StrictInteger,
    StrictPattern,
    WriteOperation,
    documented,
)
from casino.api.parts import chip_pieces, login_of, minor_units, number_of
from casino.api.tables import ReceiptOut
from casino.cage import variances, vault, vault_selectors
from casino.cage.models import VaultCount, VaultCountState
from casino.core.commands import Answer, Command
from casino.staff.models import CODE, Role

TAG = "vault"
_STATES = tuple(f"vault_count_{state}" for state in VaultCountState)


@extend_schema_serializer(component_name="VaultCountInput")
class _Counted(StrictInput):
    """Cash and chips of other houses in minor units, chips of the house by denomination."""

    cash = Amount(min_value=0)
    pieces = Pieces(required=True)
    foreign = Amount(min_value=0)


@extend_schema_serializer(component_name="DecideVaultCountInput")
class _Decided(_Counted):
    """What is in the vault, and why the supervisor says so."""

    reason = Reason()


@extend_schema_serializer(component_name="SignOffVaultCountInput")
class _SignedOff(StrictInput):
    """Why the difference is accepted, and which earlier count it corrects, if one was wrong."""

    @extend_schema_serializer(component_name="CorrectedCountInput")
    class Corrects(StrictInput):
        """A shift of a drawer, or, without a drawer, a count of the vault."""

        drawer = StrictPattern(CODE, required=False)
        count = StrictInteger(min_value=1)

    reason = Reason()
    corrects = Corrects(required=False, help_text="The earlier count that was signed and wrong; it stays as it is.")


class VaultContents(serializers.Serializer[Any]):
    """What lies in the vault."""

    cash = minor_units("Cash")
    pieces = chip_pieces("Chips of the house")
    foreign = minor_units("Face value of chips of other houses")


class OneVaultCount(VaultContents):
    """One person's count."""

    round = serializers.IntegerField(help_text="Number of the pair of counts, from 1.")
    by = login_of("has counted")
    over = VaultContents(help_text="What is over or, below zero, short.")


class CorrectedCount(serializers.Serializer[Any]):
    """A count that was signed and wrong."""

    drawer = serializers.CharField(allow_null=True, help_text="Code of the drawer; null for the vault.")
    count = serializers.IntegerField(help_text="Number of the shift at its drawer, or of the vault's count.")


class VaultCountPart(serializers.Serializer[Any]):
    """A count of the vault. What was counted, and what the books had, is present once two people agree or a supervisor
    has decided."""

    vault_count = serializers.IntegerField(help_text="Number of the count in its house, from 1 without gaps.")
    state = serializers.ChoiceField(choices=VaultCountState.choices)
    differing_rounds = number_of("pairs of counts that have differed")
    decided_by = login_of("decided after counts that differed", allow_null=True)
    signed_by = login_of("signed the difference off", allow_null=True)
    corrects = CorrectedCount(allow_null=True, help_text="The earlier count that it corrects; null: none.")
    count = VaultContents(required=False, help_text="What was counted.")
    over = VaultContents(required=False, help_text="What of it is over or, below zero, short.")
    counts = OneVaultCount(many=True, required=False, help_text="Every person's count.")


class VaultCountOut(serializers.Serializer[Any]):
    """A count of the vault after a write."""

    vault_count = VaultCountPart(help_text="The count as it is now.")
    audit = ReceiptOut()


class VaultCountedOut(VaultCountOut):
    """A count of the vault after one person's count."""

    differs = serializers.BooleanField(
        help_text="Whether this count and the other one of the round differ: both count again."
    )


@documented("listVaultCounts", summary="List counts of the vault", tag=TAG, method="get")
@documented(
    "countVault",
    summary="Count the vault",
    answers=VaultCountedOut,
    status=201,
    tag=TAG,
    method="post",
    refuses=["vault_count_counted", "supervisor_needed", "four_eyes", *CHIPS],
)
class VaultCounts(WriteOperation, CursorList):
    """Counts of the vault; `from` and `until` select by the time when the first person counted. Two people count, the
    first of whom begins the count (`four_eyes`). Neither is shown the other's count nor what the books expect; if the
    two differ, the answer says only that, and both count again. After three times a supervisor decides
    (`supervisor_needed`). A count that agrees with the books is accepted at once; one that differs from them waits for
    a manager (`vault_count_counted`). No If-Match: counts have no version."""

    @extend_schema_serializer(component_name="VaultCountListRow")
    class Row(VaultCountPart):
        """A count of the vault in a list."""

        decision = serializers.CharField(allow_blank=True, help_text="Why a supervisor decided so; empty otherwise.")
        reason = serializers.CharField(allow_blank=True, help_text="Why a difference was signed off; empty otherwise.")
        begun_at = serializers.DateTimeField(help_text="When the first person counted.")
        ended_at = serializers.DateTimeField(allow_null=True, help_text="When it was accepted; null before that.")
        explained = minor_units("How much cash and chips of the difference have been found to cancel each other")

        def to_representation(self, instance: VaultCount) -> dict[str, Any]:
            """The count with its reasons and times."""
            more = ("decision", "reason", "begun_at", "ended_at", "explained")
            return vault_selectors.describe_count(instance) | {name: getattr(instance, name) for name in more}

    sensitive = True
    roles = CAGE_SUPERVISION
    readers = (*CAGE_SUPERVISION, Role.SURVEILLANCE, Role.AUDITOR)
    versioned = False
    input = _Counted
    model = VaultCount
    serializer_class = Row
    filters = {"state": "state"}
    choices = {"state": VaultCountState.values}
    time = "begun_at"

    def rows(self) -> Any:
        """With what a row names."""
        found = super().rows().select_related("decided_by", "signed_by")
        return found.annotate(explained=variances.explained_of_vault())

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Count."""
        return vault.count(command=command, **data)


@documented(
    "decideVaultCount",
    summary="Decide on counts of the vault that differ",
    answers=VaultCountOut,
    tag=TAG,
    refuses=[*_STATES, "recount_needed", "four_eyes", *CHIPS],
)
class DecideVaultCount(WriteOperation):
    """After three pairs of counts that differ, a supervisor who has not counted (`four_eyes`) says what is in the
    vault, and why. No If-Match: counts have no version."""

    roles = CAGE_SUPERVISION
    versioned = False
    input = _Decided

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Decide."""
        return vault.decide(command=command, number=path["vault_count"], **data)


@documented(
    "signOffVaultCount",
    summary="Sign a difference of the vault off",
    answers=VaultCountOut,
    tag=TAG,
    refuses=[*_STATES, "four_eyes", "not_found", "already_corrected", "corrects_nothing", *POSTING],
)
class SignOffVaultCount(WriteOperation):
    """A manager who has neither counted nor decided (`four_eyes`) accepts what is over or short, and it is posted.
    Where it comes from an earlier count that was signed and wrong, `corrects` names that: a shift whose drawer went
    back to the vault, or a count of the vault. Each is corrected once (`already_corrected`), and stays as it was
    signed. No If-Match: counts have no version."""

    roles = (Role.MANAGER,)
    versioned = False
    input = _SignedOff

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Sign off."""
        return vault.sign_off(command=command, number=path["vault_count"], **data)


urls = [
    path("vault/counts", VaultCounts.as_view()),
    path("vault/counts/<int:vault_count>/decide", DecideVaultCount.as_view()),
    path("vault/counts/<int:vault_count>/sign-off", SignOffVaultCount.as_view()),
]
