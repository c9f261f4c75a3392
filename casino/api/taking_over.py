"""A drawer passes from one cashier to another: the offer of the one that was counted, and the count of who takes it."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer

from casino.api.cage import CHIPS, POSTING, TAG
from casino.api.drawers import CLOSING, WITHDRAWN, CountInput, DrawerOpenedOut, HandoverOut
from casino.api.http.operations import CAGE_SUPERVISION, ReasonInput, StrictText, WriteOperation, documented
from casino.cage import taking_over
from casino.core.commands import Answer, Command
from casino.staff.models import Role
from casino.transfers import selectors as transfers


@documented(
    "handOverDrawer",
    summary="Offer a counted drawer to another cashier",
    answers=HandoverOut,
    tag=TAG,
    status=201,
    refuses=[
        *CLOSING, "handover_open", "not_found", "no_change", "count_differs", "four_eyes", "manager_needed",
        "nothing_offered",
    ],
)  # fmt: skip
class HandOverDrawer(WriteOperation):
    """A drawer that was counted goes to another one, which is closed, instead of the vault. Offering it takes what
    closing takes: a count that agrees with the books, or else a supervisor or manager who signs the second count off.
    Nothing moves until the other cashier has counted the same; it is withdrawn as any other handover."""

    roles = (Role.CASHIER, *CAGE_SUPERVISION)

    @extend_schema_serializer(component_name="HandOverDrawerInput")
    class Input(ReasonInput):
        """Where it goes, and why; the reason is also that of the difference, if there is one."""

        to_drawer = StrictText(max_length=32, help_text="Code of the drawer that takes it over.")

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Offer."""
        return taking_over.offer(
            command=command, code=path["drawer"], open_work=transfers.open_work, **data
        )  # fmt: skip


@documented(
    "takeOverDrawer",
    summary="Count another cashier's drawer and open with it",
    answers=DrawerOpenedOut,
    tag=TAG,
    refuses=[
        "not_found", "no_change", "drawer_open", "handover_open", "no_float", "handover_differs", "four_eyes",
        "drawer_short", *CHIPS, *WITHDRAWN, *POSTING,
    ],
)  # fmt: skip
class TakeOverDrawer(WriteOperation):
    """The cashier counts the drawer that is offered to this one, without knowing it. A count that differs is refused
    without figures (`handover_differs`). One that agrees ends the other shift, with its Z slip, and begins one here
    with everything that was counted as its float. Refused for those who opened, counted or offered the other drawer
    (`four_eyes`)."""

    roles = (Role.CASHIER,)

    @extend_schema_serializer(component_name="TakeOverDrawerInput")
    class Input(CountInput):
        """What the cashier has counted in which drawer."""

        from_drawer = StrictText(max_length=32, help_text="Code of the drawer that is taken over.")

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Take over."""
        return taking_over.take(command=command, code=path["drawer"], **data)


urls = [
    path("drawers/<slug:drawer>/hand-over", HandOverDrawer.as_view()),
    path("drawers/<slug:drawer>/take-over", TakeOverDrawer.as_view()),
]
