"""Table fees that players pay in cash at the cage."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import AT_OWN_DRAWER, POSTING, TAG
from casino.api.http.contract import PLAYS
from casino.api.http.operations import (
    AT_THE_CAGE,
    Amount,
    StrictInput,
    StrictInteger,
    StrictText,
    WriteOperation,
    documented,
)
from casino.api.parts import DrawerChanged, EventPart, minor_units, number_of
from casino.core.commands import Answer, Command
from casino.hands import fees_in_cash


class TableFeeEvent(EventPart):
    """What was paid for."""

    player = serializers.CharField()
    amount = minor_units("Cash")
    table = serializers.CharField()
    minutes = number_of("minutes that were paid for")


class TableFeeOut(DrawerChanged):
    """The drawer, and the receipt of the fee."""

    last_event = TableFeeEvent()


@documented(
    "payTableFee",
    summary="Take a table fee in cash",
    answers=TableFeeOut,
    status=201,
    tag=TAG,
    refuses=[*PLAYS,
        "house_not_live", *AT_OWN_DRAWER, "skim_needed", "person_forgotten", "table_retired", "no_seat_fee",
        "fee_in_chips", *POSTING,
    ],
)  # fmt: skip
class PayTableFee(WriteOperation):
    """A player pays in cash for the time at a table. Only where the table's game takes a fee for a seat (`no_seat_fee`)
    and the table charges none in chips (`fee_in_chips`): nobody pays twice."""

    roles = AT_THE_CAGE

    @extend_schema_serializer(component_name="TableFeeInput")
    class Input(StrictInput):
        """The player and the table, the amount in minor units, and for how many minutes it pays."""

        player = StrictText(max_length=32)
        table = StrictText(max_length=32)
        amount = Amount()
        minutes = StrictInteger(min_value=1, max_value=fees_in_cash.MOST_MINUTES)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Take the fee."""
        return fees_in_cash.pay(
            command=command,
            code=path["drawer"],
            player_ref=data["player"],
            table_code=data["table"],
            amount=data["amount"],
            minutes=data["minutes"],
        )


urls = [path("drawers/<slug:drawer>/table-fees", PayTableFee.as_view())]
