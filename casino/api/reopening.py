"""A drawer that was closed by mistake is opened again."""

from typing import Any

from django.urls import path
from rest_framework import serializers

from casino.api.cage import CHIPS, POSTING, TAG
from casino.api.http.operations import ReasonInput, WriteOperation, documented
from casino.api.parts import DrawerChanged, EventPart, approval_used, chip_pieces, minor_units
from casino.cage import reopening
from casino.core.commands import Answer, Command
from casino.staff.models import Role


class DrawerReopenedEvent(EventPart):
    """The shift that goes on, and its float."""

    shift = serializers.IntegerField(help_text="Number of the new shift at its drawer.")
    reopens = serializers.IntegerField(help_text="Number of the shift, and so of the Z slip, that was closed.")
    float_cash = minor_units("Cash of the float")
    float_chips = minor_units("Worth of the chips of the float")
    float_pieces = chip_pieces("Chips of the float")
    approval = approval_used()


class DrawerReopenedOut(DrawerChanged):
    """The drawer, and the float that it was opened with again."""

    last_event = DrawerReopenedEvent()


@documented(
    "reopenDrawer",
    summary="Open a drawer again that was closed by mistake",
    answers=DrawerReopenedOut,
    tag=TAG,
    refuses=[
        "house_not_live", "drawer_open", "drawer_retired", "handover_open", "nothing_to_reopen", "other_cashier",
        "drawer_short", *CHIPS, *POSTING,
    ],
)  # fmt: skip
class ReopenDrawer(WriteOperation):
    """The cashier of the last shift goes on, when a manager has approved it (`approval_required`). The Z slip stays;
    the next shift begins with what was counted, which comes back from the vault, and names the Z slip. Chips of other
    houses and of withdrawn sets stay in the vault. Refused where the last shift was handed over to another drawer
    (`nothing_to_reopen`), and for another cashier (`other_cashier`)."""

    roles = (Role.CASHIER,)
    approvable = True
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Open again."""
        return reopening.reopen(command=command, code=path["drawer"], reason=data["reason"])


urls = [path("drawers/<slug:drawer>/reopen", ReopenDrawer.as_view())]
