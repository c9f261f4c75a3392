"""Capital that the owners pay in or take out."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import POSTING
from casino.api.http.operations import Amount, StrictChoice, StrictInput, StrictPattern, WriteOperation, documented
from casino.api.parts import minor_units
from casino.api.tables import ReceiptOut
from casino.cage import capital
from casino.cage.capital import CapitalBy
from casino.core.commands import Answer, Command
from casino.staff.models import CODE, Role

TAG = "office"


@extend_schema_serializer(component_name="CapitalInput")
class _Input(StrictInput):
    """How much, how, and the number of the paper that says so."""

    amount = Amount()
    by = StrictChoice(choices=CapitalBy.choices, help_text="How it is paid.")
    note = StrictPattern(CODE, help_text="Number of the receipt, or of the bank's note.")


class CapitalOut(serializers.Serializer[Any]):
    """Capital that was paid in or out, and the capital after it."""

    amount = minor_units("What was paid")
    by = serializers.ChoiceField(choices=CapitalBy.choices, help_text="How it was paid.")
    note = serializers.CharField(help_text="Number of the receipt, or of the bank's note.")
    capital = minor_units("The owners' capital now")
    audit = ReceiptOut()


class _Capital(WriteOperation):
    roles = (Role.MANAGER,)
    approvable = True
    versioned = False
    input = _Input


@documented(
    "payInCapital",
    summary="Enter capital that the owners pay in",
    answers=CapitalOut,
    status=201,
    tag=TAG,
    refuses=["vault_not_open", *POSTING],
)
class PayIn(_Capital):
    """Into the vault in cash, or into the house's account. Once the house is live, another manager approves it
    (`approval_required`). No If-Match: capital has no version."""

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Pay in."""
        return capital.pay_in(
            command=command, amount=data["amount"], by=CapitalBy(data["by"]), note=data["note"]
        )  # fmt: skip


@documented(
    "payOutCapital",
    summary="Pay capital out to the owners",
    answers=CapitalOut,
    status=201,
    tag=TAG,
    refuses=["vault_not_open", "cover_too_low", *POSTING],
)
class PayOut(_Capital):
    """From the vault in cash, or from the house's account, once another manager has approved it (`approval_required`).
    Refused where less cash would be left than is owed to players and lies in the trays (`cover_too_low`), and for more
    than the owners' capital. No If-Match: capital has no version."""

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Pay out."""
        return capital.pay_out(
            command=command, amount=data["amount"], by=CapitalBy(data["by"]), note=data["note"]
        )  # fmt: skip


urls = [
    path("capital/payments-in", PayIn.as_view()),
    path("capital/payments-out", PayOut.as_view()),
]
