"""Cash between the vault and the bank, and chips of other houses that those pay for."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import POSTING
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    CAGE_SUPERVISION,
    Amount,
    StrictChoice,
    StrictInput,
    StrictPattern,
    StrictText,
    WriteOperation,
    documented,
)
from casino.api.parts import login_of, minor_units
from casino.api.tables import ReceiptOut
from casino.cage import bank, vault_selectors
from casino.cage.models import BagState, BagWay, BankBag
from casino.core.commands import Answer, Command
from casino.staff.models import CODE, Role

TAG = "vault"


@extend_schema_serializer(component_name="SendBagInput")
class _Sent(StrictInput):
    """Which way, the number of the sealed bag, and the cash in it."""

    way = StrictChoice(choices=BagWay.choices)
    bag = StrictPattern(CODE)
    amount = Amount()


@extend_schema_serializer(component_name="BagArrivedInput")
class _Arrived(StrictInput):
    """What was counted, and the number of the bank's note."""

    amount = Amount(min_value=0)
    note = StrictPattern(CODE)


@extend_schema_serializer(component_name="RedeemForeignChipsInput")
class _Redeemed(StrictInput):
    """The house whose chips they are, their face value, what it has paid, and the number of the bank's note."""

    issuer = StrictText(min_length=1, max_length=64)
    amount = Amount()
    paid = Amount(min_value=0)
    note = StrictPattern(CODE)


class BagPart(serializers.Serializer[Any]):
    """A sealed bag of cash."""

    number = serializers.IntegerField(help_text="Its number among the house's bags, from 1 without gaps.")
    way = serializers.ChoiceField(choices=BagWay.choices, help_text="Which way it goes.")
    bag = serializers.CharField(help_text="Number of the sealed bag.")
    amount = minor_units("Cash that was sent")
    state = serializers.ChoiceField(choices=BagState.choices)
    sent_by = login_of("sent it, or had the bank send it")
    counted = minor_units("Cash that was counted at its other end; null before that", allow_null=True)
    difference = minor_units("What was counted less what was sent; null before that", allow_null=True)
    note = serializers.CharField(allow_blank=True, help_text="Number of the bank's note; empty before that.")
    ended_by = login_of("entered what was counted", allow_null=True)


class BagOut(serializers.Serializer[Any]):
    """A bag after a write."""

    bag = BagPart(help_text="The bag as it is now.")
    audit = ReceiptOut()


@documented("listBags", summary="List bags of cash to and from the bank", tag=TAG, method="get")
@documented(
    "sendBag",
    summary="Send a bag of cash to the bank, or have the bank send one",
    answers=BagOut,
    status=201,
    tag=TAG,
    method="post",
    refuses=["bag_in_use", "cover_too_low", *POSTING],
)
class Bags(WriteOperation, CursorList):
    """Bags of cash between the vault and the bank; `state=in_transit` has those that are neither here nor there, and
    `from` and `until` select by the time of sending. A cage supervisor sends one once a manager has approved it
    (`approval_required`). No cash leaves that the house needs to cover the chips that are out (`cover_too_low`). No
    If-Match: bags have no version."""

    @extend_schema_serializer(component_name="BagListRow")
    class Row(BagPart):
        """A bag in a list."""

        sent_at = serializers.DateTimeField(help_text="When it was sent.")
        ended_at = serializers.DateTimeField(allow_null=True, help_text="When it was entered as arrived; null before.")

        def to_representation(self, instance: BankBag) -> dict[str, Any]:
            """The bag with its times."""
            times = {"sent_at": instance.sent_at, "ended_at": instance.ended_at}
            return vault_selectors.describe_bag(instance) | times

    sensitive = True
    roles = (Role.CAGE_SUPERVISOR,)
    readers = (*CAGE_SUPERVISION, Role.SURVEILLANCE, Role.AUDITOR)
    approvable = True
    versioned = False
    input = _Sent
    model = BankBag
    serializer_class = Row
    filters = {"way": "way", "state": "state"}
    choices = {"way": BagWay.values, "state": BagState.values}
    time = "sent_at"

    def rows(self) -> Any:
        """With what a row names."""
        return super().rows().select_related("sent_by", "ended_by")

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Send."""
        return bank.send(command=command, way=BagWay(data["way"]), bag=data["bag"], amount=data["amount"])


class _Arrives(WriteOperation):
    roles = (Role.CAGE_SUPERVISOR,)
    approvable = True
    versioned = False
    input = _Arrived
    way: BagWay

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Arrive."""
        return bank.arrive(command=command, number=path["bag"], way=self.way, **data)


@documented(
    "confirmBag",
    summary="Enter the bank's note about a bag",
    answers=BagOut,
    tag=TAG,
    refuses=["bag_arrived", "bag_other_way", "four_eyes", *POSTING],
)
class ConfirmBag(_Arrives):
    """Another person than the one who has sent it (`four_eyes`) enters what the bank has counted. A difference is
    posted once a manager has approved it (`approval_required`). No If-Match: bags have no version."""

    way = BagWay.TO_BANK


@documented(
    "receiveBag",
    summary="Receive a bag from the bank",
    answers=BagOut,
    tag=TAG,
    refuses=["bag_arrived", "bag_other_way", "four_eyes", *POSTING],
)
class ReceiveBag(_Arrives):
    """Another person than the one who had it sent (`four_eyes`) counts it into the vault. A difference is posted once a
    manager has approved it (`approval_required`). No If-Match: bags have no version."""

    way = BagWay.FROM_BANK


class ForeignRedeemedOut(serializers.Serializer[Any]):
    """Chips that another house has paid for."""

    issuer = serializers.CharField()
    amount = minor_units("Face value of the chips")
    paid = minor_units("What the other house has paid")
    note = serializers.CharField(help_text="Number of the bank's note.")
    audit = ReceiptOut()


@documented(
    "redeemForeignChips",
    summary="Have another house pay for its chips",
    answers=ForeignRedeemedOut,
    status=201,
    tag=TAG,
    refuses=["paid_too_much", *POSTING],
)
class RedeemForeignChips(WriteOperation):
    """Chips of another house leave the vault, into which they come when drawers are closed. What it has not paid is a
    loss. A manager approves it (`approval_required`). No If-Match: there is no version."""

    roles = (Role.CAGE_SUPERVISOR,)
    approvable = True
    versioned = False
    input = _Redeemed

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Redeem."""
        return bank.redeem_foreign(command=command, **data)


urls = [
    path("vault/bags", Bags.as_view()),
    path("vault/bags/<int:bag>/confirm", ConfirmBag.as_view()),
    path("vault/bags/<int:bag>/receive", ReceiveBag.as_view()),
    path("vault/foreign-chips", RedeemForeignChips.as_view()),
]
