"""Large cash-outs that are announced: the drawer sets the cash aside."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import AT_A_DRAWER, TAG
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_THE_CAGE,
    SEES_BOOKS,
    Amount,
    ReasonInput,
    StrictInput,
    StrictInteger,
    StrictText,
    WriteOperation,
    documented,
)
from casino.api.parts import DrawerChanged, EventPart, login_of, minor_units
from casino.cage import announced, announcing
from casino.cage.announced_models import MOST_MINUTES, AnnouncedCashOut, AnnouncedState
from casino.core.commands import Answer, Command

#: Refusals of what names an announced cash-out.
BY_NUMBER = ("not_found", "announcement_paid", "announcement_withdrawn", "announcement_expired")


class CashOutAnnouncedEvent(EventPart):
    """The cash that is set aside, for whom and how long."""

    announcement = serializers.IntegerField()
    player = serializers.CharField(required=False)
    amount = serializers.IntegerField()
    minutes = serializers.IntegerField()
    until = serializers.DateTimeField()


class CashOutAnnouncedOut(DrawerChanged):
    """The drawer, and what it sets aside."""

    last_event = CashOutAnnouncedEvent()


class AnnouncementWithdrawnEvent(EventPart):
    """The cash that is free again."""

    announcement = serializers.IntegerField()
    amount = serializers.IntegerField()


class AnnouncementWithdrawnOut(DrawerChanged):
    """The drawer, and what it does not set aside any more."""

    last_event = AnnouncementWithdrawnEvent()


@documented(
    "announceCashOut",
    summary="Announce a large cash-out",
    answers=CashOutAnnouncedOut,
    status=201,
    tag=TAG,
    refuses=[*AT_A_DRAWER, "identity_required", "person_forgotten", "staff_as_player"],
)
class AnnounceCashOut(WriteOperation):
    """So much of the drawer's cash is set aside until the cash-out is paid by its number (`cash-outs`,
    `bearer-cash-outs`), withdrawn, or its time is over. Nothing else at the drawer takes it (`drawer_short`), and the
    drawer is not counted before that (`drawer_has_open_work`)."""

    roles = AT_THE_CAGE

    @extend_schema_serializer(component_name="AnnounceCashOutInput")
    class Input(StrictInput):
        """The player (none for for the person who brings the chips), the amount in minor units, and for how long."""

        player = StrictText(max_length=32, required=False)
        amount = Amount()
        minutes = StrictInteger(
            min_value=1, max_value=MOST_MINUTES, help_text="For how many minutes the cash is set aside."
        )

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Announce."""
        return announcing.announce(
            command=command, code=path["drawer"], player_ref=data.get("player"), amount=data["amount"],
            minutes=data["minutes"],
        )  # fmt: skip


@documented(
    "withdrawAnnouncement",
    summary="Withdraw an announced cash-out",
    answers=AnnouncementWithdrawnOut,
    tag=TAG,
    refuses=[*BY_NUMBER, "drawer_short"],
)
class WithdrawAnnouncement(WriteOperation):
    """Its cash is free again."""

    roles = AT_THE_CAGE
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Withdraw."""
        return announcing.withdraw(
            command=command, code=path["drawer"], number=path["announcement"], reason=data["reason"]
        )


@documented("listAnnouncedCashOuts", summary="List announced cash-outs", tag=TAG)
class AnnouncedCashOutList(CursorList):
    """Announced cash-outs and what became of them; `from` and `until` select by the time when they were announced. One
    whose time is over is marked within a minute; its cash is free at once."""

    sensitive = True
    roles = (*AT_THE_CAGE, *SEES_BOOKS)

    @extend_schema_serializer(component_name="AnnouncedCashOutListRow")
    class Row(serializers.Serializer[Any]):
        """An announced cash-out in a list."""

        announcement = serializers.IntegerField()
        drawer = serializers.CharField()
        player = serializers.CharField(allow_null=True, help_text="Null for for the person who brings the chips.")
        amount = serializers.IntegerField()
        minutes = serializers.IntegerField()
        until = serializers.DateTimeField()
        state = serializers.ChoiceField(choices=AnnouncedState.choices)
        announced_by = login_of("has announced it")
        announced_at = serializers.DateTimeField(help_text="When it was announced.")
        paid = minor_units("What was paid; null otherwise", allow_null=True)
        ended_by = login_of("has paid or withdrawn it", allow_null=True)
        ended_at = serializers.DateTimeField(
            allow_null=True, help_text="When it was paid, withdrawn or marked as expired; null before that."
        )
        reason = serializers.CharField(allow_blank=True, help_text="Why it was withdrawn; empty otherwise.")

        def to_representation(self, instance: AnnouncedCashOut) -> dict[str, Any]:
            """The announced cash-out with its times."""
            times = {name: getattr(instance, name) for name in ("announced_at", "ended_at")}
            return announced.describe(instance) | times

    model = AnnouncedCashOut
    serializer_class = Row
    filters = {"drawer": "drawer__code", "player": "player__ref", "state": "state"}
    choices = {"state": AnnouncedState.values}
    time = "announced_at"

    def rows(self) -> Any:
        """With what a row names."""
        return super().rows().select_related("drawer", "player", "announced_by", "ended_by")


urls = [
    path("announced-cash-outs", AnnouncedCashOutList.as_view()),
    path("drawers/<slug:drawer>/announced-cash-outs", AnnounceCashOut.as_view()),
    path("drawers/<slug:drawer>/announced-cash-outs/<int:announcement>/withdraw", WithdrawAnnouncement.as_view()),
]
