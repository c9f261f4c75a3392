"""Templates of floats and trays: setting them, every version of them, and what they propose."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    CAGE_SUPERVISION,
    Amount,
    Pieces,
    ReadOperation,
    Reason,
    StrictInput,
    WriteOperation,
    context_of,
    documented,
)
from casino.api.parts import chip_pieces, minor_units
from casino.api.places import ADMINS
from casino.api.tables import ReceiptOut
from casino.cage import selectors as drawers
from casino.chips.models import PlaceKind, Template
from casino.core.commands import Answer, Command
from casino.staff.models import Role
from casino.tables import selectors as tables
from casino.transfers import proposals, templates

TAG = "templates"
#: Who may know what a drawer begins with and what a tray should hold: nobody who counts a float or a tray without
#: knowing what to expect.
_KNOW = (Role.ADMIN, *CAGE_SUPERVISION, Role.AUDITOR)
#: Who may know what a tray lacks: nobody who counts it. Of these, who may also know what a drawer can give.
_SEE_TRAYS = (Role.CASHIER, *CAGE_SUPERVISION, Role.SURVEILLANCE, Role.AUDITOR)
_SEE_DRAWERS = frozenset({Role.MANAGER, Role.SURVEILLANCE, Role.AUDITOR})
_WRONG = ("template_in_the_past", "no_change", "no_chip_set", "unknown_denomination", "pieces_not_a_count")


class TemplateOut(serializers.Serializer[Any]):
    """A version of a template."""

    kind = serializers.ChoiceField(choices=PlaceKind.choices, help_text="Whether it is of a drawer or of a table.")
    place = serializers.CharField(help_text="Code of the drawer or table.")
    template = serializers.IntegerField(help_text="Number of the version at its place, from 1.")
    valid_from = serializers.DateTimeField(help_text="From when on it is in force, until a later one begins.")
    chip_set = serializers.CharField(help_text="Chip set of its pieces. Once another one is in use they do not count.")
    cash = minor_units("Cash of the float; 0 for a table")
    pieces = chip_pieces("Chips of the float, or of the tray")
    least = chip_pieces("Chips that a fill leaves in the drawer; none for a table")
    ceiling = minor_units(
        "Cash of the drawer above which it is to be skimmed; null: the control point `skim_above`", allow_null=True
    )
    set_by = serializers.CharField(help_text="Login of the person who proposed it, or name of the process.")
    approval = serializers.IntegerField(
        allow_null=True, help_text="Number of the approval; null where none was needed."
    )


class TemplateSetOut(TemplateOut):
    """The version that was added."""

    audit = ReceiptOut()


class _Dated(StrictInput):
    """From when on, and why."""

    valid_from = serializers.DateTimeField(
        required=False, help_text="From when on, with its time zone; at once where it is left out."
    )
    reason = Reason()


@documented(
    "setFloatTemplate",
    summary="Set the template of a drawer's float",
    answers=TemplateSetOut,
    status=201,
    tag=TAG,
    refuses=[
        "not_found", "drawer_retired", "float_too_large", "least_above_template", "ceiling_below_float", *_WRONG,
    ],
)  # fmt: skip
class SetFloatTemplate(WriteOperation):
    """What a drawer begins with: cash and pieces, which a supervisor can issue with `by_template`. `least` are pieces
    that a fill leaves in the drawer, for change: one that leaves fewer takes an approval. `ceiling` is the cash above
    which the drawer is to be skimmed, instead of the control point `skim_above`. A new version takes the place of the
    one before from its beginning on, none is edited; one without cash and pieces takes the template away. No
    If-Match: the drawer's version does not change."""

    @extend_schema_serializer(component_name="FloatTemplateInput")
    class Input(_Dated):
        """Cash in minor units, pieces, what stays in the drawer, its ceiling, from when on, and why."""

        cash = Amount(min_value=0)
        pieces = Pieces(required=True)
        least = Pieces(help_text="Pieces that a fill leaves in the drawer; none where it is left out.")
        ceiling = Amount(
            required=False,
            allow_null=True,
            default=None,
            help_text="Cash above which the drawer is to be skimmed, minor units; null: as the control point says.",
        )

    sensitive = False
    roles = ADMINS
    approvable = True
    versioned = False
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Set."""
        return templates.set_float(
            command=command,
            code=path["drawer"],
            cash=data["cash"],
            pieces=data["pieces"],
            least=data.get("least", {}),
            ceiling=data["ceiling"],
            valid_from=data.get("valid_from"),
            reason=data["reason"],
        )


@documented(
    "setTrayTemplate",
    summary="Set the template of a table's tray",
    answers=TemplateSetOut,
    status=201,
    tag=TAG,
    refuses=["not_found", "table_retired", *_WRONG],
)
class SetTrayTemplate(WriteOperation):
    """What a table's tray should hold: its first chips can be stocked by it, and fills bring the tray to it, with
    `by_template`. A new version takes the place of the one before from its beginning on, none is edited; one without
    pieces takes the template away. No If-Match: the table's version does not change."""

    @extend_schema_serializer(component_name="TrayTemplateInput")
    class Input(_Dated):
        """Pieces, from when on, and why."""

        pieces = Pieces(required=True)

    sensitive = False
    roles = ADMINS
    approvable = True
    versioned = False
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Set."""
        return templates.set_tray(
            command=command,
            code=path["table"],
            pieces=data["pieces"],
            valid_from=data.get("valid_from"),
            reason=data["reason"],
        )


@documented("listTemplates", summary="List templates of floats and trays", tag=TAG)
class TemplateList(CursorList):
    """Every version of the templates of drawers and tables. In force at a place is the one that began last; of several
    that began together the one with the highest number. `from` and `until` select by when a version begins."""

    sensitive = False
    roles = _KNOW

    @extend_schema_serializer(component_name="TemplateListRow")
    class Row(TemplateOut):
        """A version in a list."""

        set_at = serializers.DateTimeField(help_text="When it was set.")

        def to_representation(self, instance: Template) -> dict[str, Any]:
            """The version, and when it was set."""
            return templates.describe(instance) | {"set_at": instance.set_at}

    model = Template
    serializer_class = Row
    filters = {"kind": "kind", "place": "place"}
    choices = {"kind": PlaceKind.values}
    time = "valid_from"

    def rows(self) -> Any:
        """With their chip sets."""
        return super().rows().select_related("chip_set")


class FromVaultPart(serializers.Serializer[Any]):
    """What one place gets from the vault."""

    kind = serializers.ChoiceField(choices=PlaceKind.choices, help_text="Whether it is a drawer or a table.")
    place = serializers.CharField(help_text="Code of the drawer or table.")
    template = serializers.IntegerField(help_text="Number of its template in force.")
    cash = minor_units("Cash of the float; 0 for a table")
    pieces = chip_pieces("Chips of the float, or of the tray")
    value = minor_units("Worth of cash and chips")


class ProposalsOut(serializers.Serializer[Any]):
    """What the vault is to give out by the templates in force."""

    places = FromVaultPart(many=True, help_text="Drawers that are closed, then tables whose trays hold nothing.")
    cash_lacking = serializers.BooleanField(help_text="Whether the vault holds too little cash for all of them.")
    denominations_lacking = serializers.ListField(
        child=serializers.IntegerField(), help_text="Denominations of which the vault holds too few chips for all."
    )


@documented("readProposals", summary="Read what templates propose", answers=ProposalsOut, tag=TAG)
class Proposals(ReadOperation):
    """Floats of drawers that are closed, and first chips of trays that hold nothing, as their templates have them, and
    whether the vault has enough for all. What the vault holds is not said: it is counted without knowing."""

    sensitive = False
    roles = (*CAGE_SUPERVISION, Role.AUDITOR)

    def get(self, request: Request) -> Response:
        """The proposals."""
        house = context_of(request).house
        found = proposals.from_vault(house)
        no_cash, denominations = proposals.vault_lacks(house, found)
        places = [one.as_json() for one in found]
        return Response({"places": places, "cash_lacking": no_cash, "denominations_lacking": denominations})


class FillProposalOut(serializers.Serializer[Any]):
    """The fill that would bring a tray to its template."""

    table = serializers.CharField()
    drawer = serializers.CharField()
    template = serializers.IntegerField(help_text="Number of the table's template in force.")
    needed = chip_pieces("What the tray lacks of its template")
    needed_value = minor_units("Worth of what it lacks")
    pieces = chip_pieces(
        "What of that the drawer can give and keep what its template says; null for who counts the drawer",
        allow_null=True,
    )
    value = minor_units("Worth of what the drawer can give; null for who counts it", allow_null=True)


@documented(
    "readFillProposal",
    summary="Read the proposal of a fill",
    answers=FillProposalOut,
    tag=TAG,
    refuses=["not_found", "no_template", "no_chip_set"],
)
class FillProposal(ReadOperation):
    """What a tray lacks of its template, and what of that a drawer can give now: fills that are on their way to the
    table count as there, chips that were set aside in the drawer as gone. Not for those who count the tray; who counts
    the drawer does not read what it can give. A fill with `by_template` sends this."""

    sensitive = False
    roles = _SEE_TRAYS

    def get(self, request: Request, table: str, drawer: str) -> Response:
        """The proposal."""
        context = context_of(request)
        found = proposals.fill(tables.get(context.house, table), drawers.get(context.house, drawer))
        seen = context.role in _SEE_DRAWERS
        return Response(
            {
                "table": table,
                "drawer": drawer,
                "template": found.template,
                "needed": found.needed.as_json(),
                "needed_value": found.needed.value,
                "pieces": found.pieces.as_json() if seen else None,
                "value": found.pieces.value if seen else None,
            }
        )


urls = [
    path("drawers/<slug:drawer>/template", SetFloatTemplate.as_view()),
    path("tables/<slug:table>/template", SetTrayTemplate.as_view()),
    path("templates", TemplateList.as_view()),
    path("templates/proposals", Proposals.as_view()),
    path("tables/<slug:table>/fill-proposal/<slug:drawer>", FillProposal.as_view()),
]
