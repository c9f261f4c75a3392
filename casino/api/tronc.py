"""The tronc: counted tips are shared among the staff, and each share is paid at a drawer."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import AT_A_DRAWER, POSTING
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_THE_CAGE,
    SEES_BOOKS,
    StrictInput,
    StrictInteger,
    StrictText,
    WriteOperation,
    documented,
)
from casino.api.parts import DrawerChanged, EventPart, login_of, minor_units
from casino.api.tables import ReceiptOut
from casino.core.commands import Answer, Command
from casino.staff.models import Role
from casino.transfers import selectors, tronc
from casino.transfers.models import TroncPool

TAG = "tronc"


class TroncSharePart(serializers.Serializer[Any]):
    """A person's share."""

    login = login_of("gets the share")
    points = serializers.IntegerField(help_text="Points or hours that the share goes by.")
    amount = minor_units("The share")
    paid = serializers.BooleanField(help_text="Whether it was paid.")


class TroncPoolPart(serializers.Serializer[Any]):
    """Tips that were shared, with all shares; their sum is the pool."""

    pool = serializers.IntegerField(help_text="Number of the pool in its house, from 1 without gaps.")
    amount = minor_units("The tips")
    shared_by = login_of("shared them")
    shares = TroncSharePart(many=True, help_text="By login.")


class TroncPoolOut(serializers.Serializer[Any]):
    """Tips that have just been shared."""

    pool = TroncPoolPart(help_text="The pool.")
    audit = ReceiptOut()


class TroncPayment(serializers.Serializer[Any]):
    """A share that was paid."""

    pool = serializers.IntegerField(help_text="Number of the pool.")
    login = login_of("got it")
    amount = minor_units("Cash that was paid")


class TroncSharePaidEvent(EventPart):
    """What was paid."""

    share = TroncPayment(help_text="What was paid.")


class TroncShareOut(DrawerChanged):
    """The drawer, and the payment."""

    last_event = TroncSharePaidEvent()


@documented(
    "shareTronc",
    summary="Share counted tips among the staff",
    answers=TroncPoolOut,
    status=201,
    tag=TAG,
    refuses=["nothing_to_share", "unknown_login", "four_eyes"],
)
class ShareTronc(WriteOperation):
    """All tips that were counted and not shared yet, by points or hours. Everybody gets the whole units of the exact
    share; what is left goes one by one to the largest remainders, so that the shares are the pool. The person who
    shares gets none (`four_eyes`). No If-Match: pools have no version."""

    roles = (Role.CAGE_SUPERVISOR, Role.MANAGER)
    versioned = False

    @extend_schema_serializer(component_name="ShareTroncInput")
    class Input(StrictInput):
        """Points or hours of everybody who gets a share, by login."""

        points = serializers.DictField(
            child=StrictInteger(min_value=1, max_value=10**6), allow_empty=False, help_text="Points or hours by login."
        )

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Share."""
        return tronc.share(command=command, points=data["points"])


@documented(
    "payTroncShare",
    summary="Pay a share of the tips",
    answers=TroncShareOut,
    status=201,
    tag=TAG,
    refuses=[*AT_A_DRAWER, "share_paid", "four_eyes", *POSTING],
)
class PayTroncShare(WriteOperation):
    """A person gets the share of a pool in cash, once (`share_paid`). Nobody pays the own share (`four_eyes`)."""

    roles = (Role.CASHIER,)

    @extend_schema_serializer(component_name="PayTroncShareInput")
    class Input(StrictInput):
        """Whose share of which pool."""

        pool = StrictInteger(min_value=1, max_value=2**31 - 1)
        login = StrictText(max_length=64)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Pay."""
        return tronc.pay(command=command, code=path["drawer"], serial=data["pool"], login=data["login"])


@documented("listTroncPools", summary="List shared tips", tag=TAG)
class TroncPoolList(CursorList):
    """Pools of tips with their shares; `from` and `until` select by the time when they were shared."""

    sensitive = True
    roles = (*SEES_BOOKS, *AT_THE_CAGE)

    @extend_schema_serializer(component_name="TroncPoolListRow")
    class Row(TroncPoolPart):
        """A pool in a list."""

        shared_at = serializers.DateTimeField(help_text="When it was shared.")

        def to_representation(self, instance: TroncPool) -> dict[str, Any]:
            """The pool with its time."""
            return selectors.describe_pool(instance) | {"shared_at": instance.shared_at}

    model = TroncPool
    serializer_class = Row
    time = "shared_at"

    def rows(self) -> Any:
        """With who shared them."""
        return super().rows().select_related("shared_by")


urls = [
    path("tronc/pools", TroncPoolList.as_view()),
    path("tronc/share", ShareTronc.as_view()),
    path("drawers/<slug:drawer>/tronc-shares", PayTroncShare.as_view()),
]
