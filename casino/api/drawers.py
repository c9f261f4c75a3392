"""A drawer's shift on imprest: float, replenishments and skims, the blind count, closing."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import AT_A_DRAWER, CHIPS, POSTING, TAG
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    CAGE_SUPERVISION,
    SEES_BOOKS,
    Amount,
    Pieces,
    PiecesOfSets,
    ReasonInput,
    StrictChoice,
    StrictInput,
    WriteOperation,
    documented,
)
from casino.api.parts import (
    CountPart,
    DrawerChanged,
    EventPart,
    HandoverPart,
    ShiftCount,
    chip_pieces,
    minor_units,
    withdrawn_pieces,
)
from casino.api.template_parts import ByTemplate, one_way
from casino.cage import closing, handing, selectors
from casino.cage.models import Handover, HandoverKind, HandoverState
from casino.core.commands import Answer, Command
from casino.staff.models import Role
from casino.transfers import selectors as transfers

#: Refusals of every step with a handover that is open.
_OPEN = ("not_found", *(f"handover_{state}" for state in HandoverState if state != HandoverState.OFFERED))
_TAKING = ("handover_differs", "handover_expired", "signature_needed", "four_eyes", *CHIPS, *POSTING)
CLOSING = ("drawer_closed", "drawer_open", "drawer_has_open_work", "drawer_short", *CHIPS, *POSTING)


#: Refusals of a count that names chips of a set that was never withdrawn, or is no more.
WITHDRAWN = ("chip_set_not_withdrawn", "chip_set_retired", "unknown_chip_set")
#: What a supervisor or a cashier counts out; a whole drawer is handed over by itself.
_OF_THE_VAULT = [choice for choice in HandoverKind.choices if choice[0] != HandoverKind.HAND_OVER]


class _CashAndPieces(StrictInput):
    """Cash in minor units, and chips by pieces."""

    cash = Amount(min_value=0)
    pieces = Pieces(required=True)


@extend_schema_serializer(component_name="CountedHandoverInput")
class _Taken(_CashAndPieces):
    """What the second person has counted: cash, and chips by pieces."""


@extend_schema_serializer(component_name="CountDrawerInput")
class CountInput(_CashAndPieces):
    """The count: cash, chips by pieces, the face value of the chips of other houses, and chips of withdrawn sets."""

    foreign = Amount(min_value=0)
    withdrawn = PiecesOfSets(
        required=False,
        help_text="Chips of withdrawn sets that the drawer has taken back, by pieces and set. A set that is absent was "
        "counted as none.",
    )


# --- Between vault and drawer ---------------------------------------------------------------------------------------


class HandoverEvent(EventPart):
    """A handover as it is after this."""

    handover = HandoverPart()


class HandoverOut(DrawerChanged):
    """The drawer, and the handover."""

    last_event = HandoverEvent()


@documented(
    "offerHandover",
    summary="Count out cash and chips between the vault and a drawer",
    answers=HandoverOut,
    status=201,
    tag=TAG,
    refuses=[
        "handover_open", "drawer_open", "drawer_retired", "nothing_offered", "no_template", "float_too_large",
        *AT_A_DRAWER, *CHIPS, *POSTING,
    ],
)  # fmt: skip
class OfferHandover(WriteOperation):
    """A supervisor counts out a float for a closed drawer (`by_template`: as its template says), or a replenishment for
    an open one; a cashier counts out a skim for the vault. Nothing moves until another person has counted the same.
    What comes from the vault has a limit (`float_too_large`) and is taken within ten minutes, or withdrawn
    (`handover_expired`)."""

    roles = (Role.CASHIER, *CAGE_SUPERVISION)

    @extend_schema_serializer(component_name="OfferHandoverInput")
    class Input(StrictInput):
        """What it is for, and what is counted out: cash in minor units and chips by pieces, or of a float those of the
        drawer's template."""

        kind = StrictChoice(choices=_OF_THE_VAULT)
        cash = Amount(min_value=0, required=False)
        pieces = Pieces()
        by_template = ByTemplate(help_text="true: the cash and the pieces of the drawer's template, for a float.")

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """Check that cash and pieces are named, or for a float the template is to say them."""
            if attrs["by_template"] and attrs["kind"] != HandoverKind.FLOAT:
                raise serializers.ValidationError({"by_template": ["A template says what a float is."]})
            one_way(attrs, "cash", "pieces")
            missing = {"cash", "pieces"} - attrs.keys()
            if missing and not attrs["by_template"]:
                raise serializers.ValidationError({name: ["This field is required."] for name in sorted(missing)})
            return attrs

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Offer."""
        return handing.offer(
            command=command,
            code=path["drawer"],
            kind=HandoverKind(data["kind"]),
            cash=data.get("cash", 0),
            pieces=data.get("pieces"),
            by_template=data["by_template"],
        )


@documented(
    "signHandover",
    summary="Sign for a large float or replenishment",
    answers=HandoverOut,
    tag=TAG,
    refuses=[*_OPEN, "handover_signed", "handover_expired", "four_eyes", "drawer_short"],
)
class SignHandover(WriteOperation):
    """A manager signs for what another person has counted out. A float or replenishment above the house's limit is not
    taken without (`signature_needed`), unless a manager has counted it out."""

    roles = (Role.MANAGER,)

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Sign."""
        return handing.sign(command=command, code=path["drawer"], number=path["handover"])


@documented(
    "takeHandover",
    summary="Count and take a replenishment or a skim",
    answers=HandoverOut,
    tag=TAG,
    refuses=[*_OPEN, *AT_A_DRAWER, *_TAKING],
)
class TakeHandover(WriteOperation):
    """The cashier takes a replenishment, a supervisor takes a skim. What is counted must be what was offered; a count
    that differs is refused without figures (`handover_differs`)."""

    roles = (Role.CASHIER, *CAGE_SUPERVISION)
    input = _Taken

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Take."""
        return handing.take(command=command, code=path["drawer"], number=path["handover"], **data)


@documented(
    "withdrawHandover",
    summary="Withdraw what was counted out",
    answers=HandoverOut,
    tag=TAG,
    refuses=[*_OPEN, "drawer_short"],
)
class WithdrawHandover(WriteOperation):
    """What was offered and not taken stays where it is."""

    roles = (Role.CASHIER, *CAGE_SUPERVISION)
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Withdraw."""
        return handing.withdraw(command=command, code=path["drawer"], number=path["handover"], reason=data["reason"])


@documented("listHandovers", summary="List what passed between the vault and drawers", tag=TAG)
class HandoverList(CursorList):
    """Floats, replenishments, skims, and drawers that were handed over; `from` and `until` select by the time when they
    were counted out. What is offered and not taken yet is listed without amounts."""

    sensitive = True
    roles = (*SEES_BOOKS, Role.CAGE_SUPERVISOR)

    @extend_schema_serializer(component_name="HandoverListRow")
    class Row(HandoverPart):
        """A handover in a list."""

        offered_at = serializers.DateTimeField()
        ended_at = serializers.DateTimeField(allow_null=True)
        reason = serializers.CharField(
            allow_blank=True, help_text="Why it was withdrawn, or why a drawer is handed over; empty otherwise."
        )

        def to_representation(self, instance: Handover) -> dict[str, Any]:
            """The handover with its times."""
            found = selectors.describe_handover(instance, revealed=instance.state != HandoverState.OFFERED)
            times = {"offered_at": instance.offered_at, "ended_at": instance.ended_at}
            return found | times | {"reason": instance.reason}

    model = Handover
    serializer_class = Row
    filters = {"drawer": "drawer__code", "kind": "kind", "state": "state"}
    choices = {"kind": HandoverKind.values, "state": HandoverState.values}
    time = "offered_at"

    def rows(self) -> Any:
        """With what a row names."""
        return super().rows().select_related("drawer", "to_drawer", "offered_by", "signed_by", "ended_by")


class TakenFrom(serializers.Serializer[Any]):
    """A drawer that was taken over, besides its cash and its chips of the house."""

    drawer = serializers.CharField()
    foreign = minor_units("Chips of other houses that came with it")
    withdrawn = withdrawn_pieces("Chips of withdrawn sets that came with it; absent where none did", required=False)
    posting = serializers.IntegerField(help_text="Id of the ledger transaction that moved everything.")


class DrawerOpenedEvent(EventPart):
    """The float that a drawer was opened with."""

    shift = serializers.IntegerField(help_text="Number of the shift at its drawer, from 1.")
    handover = serializers.IntegerField(help_text="Number of the handover by which the float was offered.")
    float_cash = minor_units("Cash of the float")
    float_chips = minor_units("Worth of the chips of the float")
    float_pieces = chip_pieces("Chips of the float")
    taken_from = TakenFrom(required=False, help_text="The drawer that was taken over; absent where the vault issued.")


class DrawerOpenedOut(DrawerChanged):
    """The drawer, and the float that it was opened with."""

    last_event = DrawerOpenedEvent()


@documented(
    "openDrawer",
    summary="Count the float and open a drawer",
    answers=DrawerOpenedOut,
    tag=TAG,
    refuses=["house_not_live", "drawer_open", "drawer_retired", "no_float", "drawer_short", *_TAKING],
)
class OpenDrawer(WriteOperation):
    """The cashier counts the float that a supervisor has issued, without knowing it, and takes it; a shift begins.
    Refused if no float is offered (`no_float`), and if the count differs, without figures (`handover_differs`)."""

    roles = (Role.CASHIER,)
    input = _Taken

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Open."""
        return handing.open_drawer(command=command, code=path["drawer"], **data)


# --- Counting and closing -------------------------------------------------------------------------------------------


class DrawerCountedEvent(EventPart):
    """A count, and whether it agrees with the books."""

    shift = serializers.IntegerField(help_text="Number of the shift at its drawer, from 1.")
    count = CountPart()
    agrees = serializers.BooleanField(
        help_text="Whether the count agrees with the books, as near as the house accepts."
    )


class DrawerCountedOut(DrawerChanged):
    """The drawer, and the count."""

    last_event = DrawerCountedEvent()


@documented(
    "countDrawer",
    summary="Count a drawer",
    answers=DrawerCountedOut,
    tag=TAG,
    refuses=[*AT_A_DRAWER, "drawer_has_open_work", *CHIPS, *WITHDRAWN],
)
class CountDrawer(WriteOperation):
    """The cashier commits the first count, without knowing what the drawer must hold; from now on nothing moves there.
    The answer says whether the count agrees. Chips of withdrawn sets are counted by set (`withdrawn`). Refused while
    anything of the drawer is pending (`drawer_has_open_work` lists it in `open`): a fill, a credit, a handover, chips
    of a withdrawn set that are counted into the vault."""

    roles = (Role.CASHIER,)
    input = CountInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Count."""
        return closing.count(command=command, code=path["drawer"], open_work=transfers.open_work, **data)


@documented(
    "recountDrawer",
    summary="Count a drawer again",
    answers=DrawerCountedOut,
    tag=TAG,
    refuses=[
        "drawer_closed", "drawer_open", "drawer_recounted", "drawer_short", "count_agrees", "four_eyes", *CHIPS,
        *WITHDRAWN,
    ],
)  # fmt: skip
class RecountDrawer(WriteOperation):
    """A supervisor counts a drawer whose first count differs, once, and knows neither that count nor the books. Refused
    for those who counted or opened the drawer, or have read an X reading of this shift (`four_eyes`)."""

    roles = (Role.CAGE_SUPERVISOR,)
    input = CountInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Count again."""
        return closing.recount(command=command, code=path["drawer"], **data)


class DrawerClosedEvent(EventPart):
    """The result of the count."""

    reconciliation = ShiftCount(help_text="The shift: float, expected, counted, variances.")
    handover = serializers.IntegerField(
        required=False, help_text="Number of the handover by which another drawer has taken it over; absent otherwise."
    )


class DrawerClosedOut(DrawerChanged):
    """The drawer, and the result of the count."""

    last_event = DrawerClosedEvent()


@documented(
    "closeDrawer",
    summary="Close a drawer whose count agrees",
    answers=DrawerClosedOut,
    tag=TAG,
    refuses=[*CLOSING, "count_differs"],
)
class CloseDrawer(WriteOperation):
    """Cash and chips go back to the vault, chips of withdrawn sets to those set aside there, and the shift ends.
    Refused if the count differs (`count_differs`): the drawer is counted again and signed off."""

    roles = (Role.CASHIER, *CAGE_SUPERVISION)

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Close."""
        return closing.close(command=command, code=path["drawer"], open_work=transfers.open_work)


@documented(
    "signOffDrawer",
    summary="Sign off a drawer's difference and close it",
    answers=DrawerClosedOut,
    tag=TAG,
    refuses=[*CLOSING, "drawer_counted", "four_eyes", "manager_needed"],
)
class SignOffDrawer(WriteOperation):
    """The recount is accepted: the variance is posted, cash and chips go back to the vault, and the shift ends. Refused
    for those who counted or opened the drawer (`four_eyes`), and above the house's limit for all but a manager
    (`manager_needed`)."""

    roles = CAGE_SUPERVISION
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Sign off."""
        return closing.sign_off(
            command=command, code=path["drawer"], reason=data["reason"], open_work=transfers.open_work
        )


urls = [
    path("handovers", HandoverList.as_view()),
    path("drawers/<slug:drawer>/handovers", OfferHandover.as_view()),
    path("drawers/<slug:drawer>/handovers/<int:handover>/sign", SignHandover.as_view()),
    path("drawers/<slug:drawer>/handovers/<int:handover>/take", TakeHandover.as_view()),
    path("drawers/<slug:drawer>/handovers/<int:handover>/withdraw", WithdrawHandover.as_view()),
    path("drawers/<slug:drawer>/open", OpenDrawer.as_view()),
    path("drawers/<slug:drawer>/count", CountDrawer.as_view()),
    path("drawers/<slug:drawer>/recount", RecountDrawer.as_view()),
    path("drawers/<slug:drawer>/close", CloseDrawer.as_view()),
    path("drawers/<slug:drawer>/sign-off", SignOffDrawer.as_view()),
]
