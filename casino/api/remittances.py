"""Winnings that were kept from minors, paid by the bank to whom the law names."""

from typing import Any

from django.db.models import Prefetch
from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import POSTING
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    Amount,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictPattern,
    StrictText,
    WriteOperation,
    documented,
)
from casino.api.minors import READERS
from casino.api.parts import login_of, minor_units
from casino.api.safeguards import TAG
from casino.api.tables import ReceiptOut
from casino.cage import remittances
from casino.core.commands import Answer, Command
from casino.houses.identity import Beneficiary
from casino.safeguards.models import Minor, Remittance
from casino.staff.models import CODE, Role

_PAYEE = "Name of the office of the state, or of the charity."


class RemittedWinnings(serializers.Serializer[Any]):
    """Winnings of one minor in a remittance."""

    minor = serializers.IntegerField(help_text="Number of the record that the player is a minor.")
    player = serializers.CharField()
    kept = minor_units("Winnings that were kept")


class RemittancePart(serializers.Serializer[Any]):
    """Winnings of minors that the bank has paid."""

    remittance = serializers.IntegerField(help_text="Its number in the house, from 1 without gaps.")
    amount = minor_units("What was paid: the winnings of its minors")
    beneficiary = serializers.ChoiceField(choices=Beneficiary.choices, help_text="Who has got it.")
    payee = serializers.CharField(help_text=_PAYEE)
    note = serializers.CharField(help_text="Number of the bank's note.")
    minors = RemittedWinnings(many=True, help_text="Whose winnings it is made of.")
    remitted_by = login_of("entered it")
    remitted_at = serializers.DateTimeField(help_text="When it was entered.")


class RemittanceOut(RemittancePart):
    """The remittance, and the receipt."""

    audit = ReceiptOut()


@documented("listRemittances", summary="List remittances of winnings kept from minors", tag=TAG, method="get")
@documented(
    "remitWinnings",
    summary="Enter that winnings kept from minors were remitted",
    answers=RemittanceOut,
    status=201,
    tag=TAG,
    method="post",
    refuses=[
        *("not_found", "beneficiary_differs", "minor_not_settled", "nothing_kept", "winnings_remitted"),
        *("remittance_differs", "wrong_terminal", *POSTING),
    ],
)
class Remittances(WriteOperation, CursorList):
    """What the bank has paid of winnings that settlements have kept from minors, to whom the legal profile of the house
    names: the state or a charity (`beneficiary_differs`); `from` and `until` select by the time when it was entered.
    The winnings of a minor are remitted whole, and once (`winnings_remitted`); the amount is what they come to
    (`remittance_differs`). Compliance enters it by the bank's note, a manager approves it (`approval_required`). No
    If-Match: remittances have no version."""

    @extend_schema_serializer(component_name="RemitWinningsInput")
    class Input(StrictInput):
        """The minors, what was paid to whom, and the bank's note."""

        minors = serializers.ListField(
            child=StrictInteger(min_value=1, max_value=2**31 - 1), min_length=1, max_length=500,
            help_text="Numbers of the minors, each once.",
        )  # fmt: skip
        amount = Amount()
        beneficiary = StrictChoice(choices=Beneficiary.choices, help_text="Who has got it.")
        payee = StrictText(min_length=3, max_length=120, help_text=_PAYEE)
        note = StrictPattern(CODE, help_text="Number of the bank's note.")

        def validate_minors(self, value: list[int]) -> list[int]:
            """No minor twice."""
            if len(set(value)) < len(value):
                raise serializers.ValidationError("Each minor is named once.")
            return value

    @extend_schema_serializer(component_name="RemittanceListRow")
    class Row(RemittancePart):
        """A remittance in a list."""

        def to_representation(self, instance: Remittance) -> dict[str, Any]:
            """The remittance with its minors."""
            return remittances.describe(instance, instance.minors.all())

    sensitive = True
    roles = (Role.COMPLIANCE,)
    readers = READERS
    approvable = True
    versioned = False
    input = Input
    model = Remittance
    serializer_class = Row
    filters = {"beneficiary": "beneficiary"}
    choices = {"beneficiary": Beneficiary.values}
    time = "remitted_at"

    def rows(self) -> Any:
        """With whom they name."""
        of = Prefetch("minors", Minor.objects.select_related("player").order_by("number"))
        return super().rows().select_related("remitted_by").prefetch_related(of)

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Enter."""
        return remittances.remit(
            command=command, numbers=data["minors"], amount=data["amount"],
            beneficiary=Beneficiary(data["beneficiary"]), payee=data["payee"], note=data["note"],
        )  # fmt: skip


urls = [path("minors/remittances", Remittances.as_view())]
