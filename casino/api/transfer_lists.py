"""Reading fills and credits, and the house's chips at a table."""

from functools import cached_property
from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.operations import SEES_PLAY, ReadOperation, context_of, documented
from casino.api.parts import Rack, TransferPart
from casino.api.transfers import TAG
from casino.houses.control_points import ControlPoints, in_force
from casino.houses.models import ClockTimestamp
from casino.staff.models import Role
from casino.tables import selectors as tables
from casino.transfers import selectors
from casino.transfers.models import Kind, Lateness, Transfer, TransferState


@documented("listTransfers", summary="List fills and credits", tag=TAG)
class TransferList(CursorList):
    """Fills and credits; `from` and `until` select by the time at which they began. Those under way have the state
    `requested`, `sent` or `declined`. What is in transit is shown to its sender's end only, and to auditor,
    administrator, manager and surveillance in the office."""

    sensitive = False
    roles = SEES_PLAY

    @extend_schema_serializer(component_name="TransferListRow")
    class Row(TransferPart):
        """A fill or credit in a list."""

        opened_at = serializers.DateTimeField(help_text="When it was begun.")
        sent_at = serializers.DateTimeField(allow_null=True, help_text="When the chips were sent; null before that.")
        declined_at = serializers.DateTimeField(allow_null=True, help_text="When the chips were declined, or null.")
        ended_at = serializers.DateTimeField(allow_null=True)
        minutes = serializers.IntegerField(
            allow_null=True,
            help_text="Whole minutes since the chips were sent or, before that, requested; null once it has ended.",
        )
        late = serializers.ChoiceField(
            choices=Lateness.choices,
            allow_null=True,
            help_text="Whether it takes too long by the control points `transfer_late_minutes` and "
            "`transfer_exception_minutes`; null once it has ended.",
        )

        def to_representation(self, instance: Any) -> dict[str, Any]:
            """The transfer with its times, as the reader may know it."""
            by = context_of(self.context["request"])
            blind = selectors.is_blind(instance, by.role, by.terminal)
            return selectors.describe(instance, blind=blind) | selectors.times(
                instance, instance.now, self.context["view"].points
            )

    model = Transfer
    serializer_class = Row
    filters = {"kind": "kind", "table": "table__code", "drawer": "drawer__code", "state": "state"}
    choices = {"kind": Kind.values, "state": TransferState.values}
    time = "opened_at"

    @cached_property
    def points(self) -> ControlPoints:
        """What the house demands now."""
        return in_force(context_of(self.request).house)

    def rows(self) -> Any:
        """With what a row names."""
        persons = ("opened_by", "sent_by", "carried_by", "declined_by", "ended_by")
        return super().rows().select_related("table", "drawer", *persons).annotate(now=ClockTimestamp())


class TableChipsOut(serializers.Serializer[Any]):
    """The house's chips at a table by the books, without the locked tax box."""

    table = serializers.CharField()
    tray = Rack(help_text="Chips in the tray.")
    tip_box = Rack(help_text="Chips in the tip box.")
    in_transit = Rack(help_text="Chips that were sent to or from the table and not received yet.")


@documented(
    "readTableChips",
    summary="Read a table's tray and tip box",
    answers=TableChipsOut,
    tag=TAG,
    refuses=["not_found"],
)
class TableChips(ReadOperation):
    """Tray, tip box, and chips under way to or from a table. Not for those who count them."""

    sensitive = False
    roles = (Role.AUDITOR, Role.MANAGER, Role.SURVEILLANCE)

    def get(self, request: Request, table: str) -> Response:
        """The racks."""
        return Response(selectors.at_table(tables.get(context_of(request).house, table)))


urls = [
    path("tables/<slug:table>/chips", TableChips.as_view()),
    path("transfers", TransferList.as_view()),
]
