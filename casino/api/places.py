"""Places of the house and their chips: how a chip set, the vault, drawers and tables are set up, and lists of them.

A house is founded in this order: chip set, vault, drawers and tables, trays. Each is done once; people and terminals
are those of the roster.
"""

import re
from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from casino.api.cage import CHIPS, MAY_READ, POSTING
from casino.api.chip_sets import ChipSetPart
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    READERS,
    Amount,
    Pieces,
    Reason,
    ReasonInput,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictPattern,
    StrictText,
    WriteOperation,
    documented,
)
from casino.api.http.shapes import OPTIONS, Shaped
from casino.api.parts import DrawerChanged, EventPart, chip_pieces, minor_units
from casino.api.tables import ReceiptOut, TableOut
from casino.api.template_parts import ByTemplate, one_way
from casino.cage import founding, retiring
from casino.cage import selectors as drawers
from casino.cage.models import Drawer, DrawerState
from casino.chips import services as chips
from casino.chips.models import SET_CODE_PATTERN, ChipSet
from casino.core.commands import Answer, Command
from casino.hands import terms
from casino.staff.models import CODE, Role
from casino.tables import changing
from casino.tables import services as tables
from casino.tables.models import (
    LEAST_TIME_TO_ACT,
    MOST_TIME_TO_ACT,
    CarryoverOnClose,
    ClientSeeds,
    FeePer,
    Table,
    TableState,
)
from casino.transfers import chip_sets

TAG = "places"
#: Who sets up places; who brings money and chips to them.
ADMINS, KEEPERS = (Role.ADMIN,), (Role.CAGE_SUPERVISOR,)
_FACE_VALUE = re.compile(r"[1-9][0-9]{0,14}").fullmatch
_MOST_OPTIONS = 64
#: Refusals of terms, by the rules engine and by the house.
TERMS = (
    "unknown_game", "unknown_rules", "unknown_option", "option_missing", "option_out_of_range", "unsupported_variant",
    "malformed_setup", "not_at_house_tables", "seats_out_of_range", "min_stack_too_small", "amount_not_payable",
    "no_seat_fee", "no_chip_set",
)  # fmt: skip


class Colours(serializers.DictField):
    """The chips of a set: colour by face value in minor units, `{"500": "green"}`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=StrictText(max_length=32, allow_blank=True), allow_empty=False, **kwargs)

    def to_internal_value(self, data: Any) -> dict[int, str]:
        """Colours by value. Raises ValidationError, also for a name that is no whole number from 1."""
        found: dict[str, str] = super().to_internal_value(data)
        wrong = [name for name in found if not _FACE_VALUE(name)]
        if wrong:
            raise serializers.ValidationError({name: ["A face value is a whole number from 1."] for name in wrong})
        return {int(name): colour for name, colour in found.items()}


class ChipSetMade(serializers.Serializer[Any]):
    """A chip set."""

    chip_set = serializers.CharField(help_text="Code of the chip set.")
    denominations = serializers.DictField(
        child=serializers.CharField(allow_blank=True), help_text="Colours by denomination in minor units."
    )
    audit = ReceiptOut()


@documented("listChipSets", summary="List chip sets", tag=TAG, method="get")
@documented(
    "introduceChipSet",
    summary="Introduce a chip set",
    answers=ChipSetMade,
    status=201,
    tag=TAG,
    method="post",
    refuses=["chip_set_exists", "vault_not_open", "chip_set_not_a_ladder"],
)
class ChipSets(WriteOperation, CursorList):
    """The chip sets of the house. Each denomination divides the next larger one; a house whose tables take tax needs a
    chip of one minor unit. A set never changes. The first one is in use at once; another one waits until it takes its
    place (`POST chip-sets/SET/use`). No If-Match: there is no version."""

    @extend_schema_serializer(component_name="ChipSetListRow")
    class Row(ChipSetPart):
        """A chip set in a list."""

        introduced_at = serializers.DateTimeField(help_text="When the house got it.")
        withdrawn_at = serializers.DateTimeField(allow_null=True, help_text="When another set took its place, or null.")

        def to_representation(self, instance: ChipSet) -> dict[str, Any]:
            """The set with its times."""
            times = {"introduced_at": instance.introduced_at, "withdrawn_at": instance.withdrawn_at}
            return chip_sets.describe(instance) | times

    @extend_schema_serializer(component_name="ChipSetInput")
    class Input(StrictInput):
        """A code, and colours by denomination in minor units."""

        chip_set = StrictPattern(SET_CODE_PATTERN)
        denominations = Colours()

    sensitive = False
    roles = ADMINS
    readers = READERS
    versioned = False
    input = Input
    model = ChipSet
    serializer_class = Row
    filters = {"chip_set": "code"}

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Introduce."""
        return chips.introduce_at_office(command=command, code=data["chip_set"], denominations=data["denominations"])


class VaultFilled(serializers.Serializer[Any]):
    """What came into the vault."""

    capital = minor_units("Cash that the owners paid in")
    pieces = chip_pieces("Chips that were commissioned")
    audit = ReceiptOut()


@documented(
    "openVault",
    summary="Open the vault",
    answers=VaultFilled,
    status=201,
    tag=TAG,
    refuses=["vault_open", "no_chip_set", "unknown_denomination", "pieces_not_a_count", *POSTING],
)
class OpenVault(WriteOperation):
    """Bring the owners' capital and the commissioned chips into the vault, once. No If-Match: there is no version."""

    @extend_schema_serializer(component_name="OpenVaultInput")
    class Input(StrictInput):
        """Cash in minor units, and pieces by denomination, as they were counted."""

        capital = Amount(min_value=0)
        pieces = Pieces(required=True)

    roles = KEEPERS
    versioned = False
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Open."""
        return founding.open_vault_at_office(command=command, capital=data["capital"], pieces=data["pieces"])


class DrawerMade(serializers.Serializer[Any]):
    """A new drawer."""

    drawer = serializers.CharField()
    version = serializers.IntegerField()
    audit = ReceiptOut()


@documented("listDrawers", summary="List drawers", tag=TAG, method="get")
@documented(
    "createDrawer",
    summary="Set up a drawer",
    answers=DrawerMade,
    status=201,
    tag=TAG,
    method="post",
    refuses=["drawer_exists", "place_exists", "no_chip_set"],
)
class Drawers(WriteOperation, CursorList):
    """The drawers of the house. A new one is closed and empty; its code is used for ever. No If-Match: there is no
    version yet."""

    @extend_schema_serializer(component_name="DrawerListRow")
    class Row(serializers.Serializer[Any]):
        """A drawer in a list."""

        drawer = serializers.CharField(source="code")
        version = serializers.IntegerField()
        state = serializers.ChoiceField(choices=DrawerState.choices)

    @extend_schema_serializer(component_name="DrawerInput")
    class Input(StrictInput):
        """A code."""

        drawer = StrictPattern(CODE)

    sensitive = False
    roles = ADMINS
    approvable = True
    readers = MAY_READ
    versioned = False
    input = Input
    model = Drawer
    serializer_class = Row
    filters = {"drawer": "code", "state": "state"}
    choices = {"state": DrawerState.values}

    def rows(self) -> Any:
        """With the state of each."""
        return drawers.with_state(super().rows())

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Set up."""
        return founding.create_drawer_at_office(command=command, code=data["drawer"])


class DrawerRetiredOut(DrawerChanged):
    """A drawer that was ended for ever."""

    @extend_schema_serializer(component_name="DrawerRetiredEvent")
    class Event(EventPart):
        """With the terminals that were revoked with it."""

        terminals = serializers.ListField(
            child=serializers.CharField(), required=False, help_text="Terminals that were revoked with it."
        )

    last_event = Event()


@documented(
    "retireDrawer",
    summary="Retire a drawer",
    answers=DrawerRetiredOut,
    tag=TAG,
    refuses=["drawer_retired", "drawer_open", "handover_open", "place_not_empty"],
)
class RetireDrawer(WriteOperation):
    """End a closed drawer for ever. It must be empty; its terminals are revoked, its shifts and its chain stay."""

    roles = ADMINS
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Retire."""
        return retiring.retire(command=command, code=path["drawer"], reason=data["reason"])


@extend_schema_field(OPTIONS)
class Options(serializers.Field[Any, Any, Any, Any]):
    """Options of a game by name; the engine says which there are, and what they accept."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """The options. Raises ValidationError for what is no object of JSON's plain values, or lists of text."""
        if not isinstance(data, dict) or len(data) > _MOST_OPTIONS:
            raise serializers.ValidationError(f"Options are an object of at most {_MOST_OPTIONS} members.")
        wrong = [name for name, value in data.items() if not _is_option(value)]
        if wrong:
            said = "An option is text, a whole number, true, false, null, or a list of text."
            raise serializers.ValidationError({name: [said] for name in wrong})
        return data

    def to_representation(self, value: Any) -> Any:
        """As they are."""
        return value


def _is_option(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(one, str) for one in value)
    return value is None or isinstance(value, str | int)


class SeatFee(StrictInput):
    """What a player pays the house for a seat: minor units, 0 for nothing."""

    amount = Amount(min_value=0)
    per = StrictChoice(choices=FeePer.choices)


class _Limits(StrictInput):
    """Terms that every table has, and that can change."""

    options = Options()
    seat_count = StrictInteger(min_value=1, max_value=99)
    min_stack = Amount(min_value=0)
    max_stack = Amount(min_value=0)
    carryover_on_close = StrictChoice(choices=CarryoverOnClose.choices)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that the limits of a stack are in their order."""
        if attrs["min_stack"] > attrs["max_stack"]:
            raise serializers.ValidationError({"max_stack": ["It is not below min_stack."]})
        return attrs


@documented("listTables", summary="List tables", tag=TAG, method="get")
@documented(
    "createTable",
    summary="Set up a table",
    answers=TableOut,
    status=201,
    tag=TAG,
    method="post",
    refuses=["table_exists", "place_exists", *TERMS],
)
class Tables(WriteOperation, CursorList):
    """All tables of the house. A new one is closed, without chips in its tray; its code is used for ever. `GET games`
    has the games with their options. No If-Match: there is no version yet."""

    @extend_schema_serializer(component_name="TableListRow")
    class Row(serializers.ModelSerializer[Table]):
        """A table in a list."""

        table = serializers.CharField(source="code")
        options = Shaped(OPTIONS)
        seat_count = serializers.IntegerField(source="seats")
        hand_count = serializers.IntegerField(source="hands_dealt")

        class Meta:
            model = Table
            fields = ("table", "game", "area", "options", "seat_count", "state", "version", "hand_count")

    @extend_schema_serializer(component_name="TableInput")
    class Input(_Limits):
        """A code, and the terms: game, options, seats, limits of a stack in minor units, what becomes of money that
        nobody has won when the table closes, whose seeds an electronic deal needs, seconds for an act, fee of a
        seat; and the area in which the table stands."""

        table = StrictPattern(CODE)
        game = StrictText(max_length=32)
        client_seeds = StrictChoice(choices=ClientSeeds.choices, default=ClientSeeds.OPTIONAL)
        time_to_act = StrictInteger(
            min_value=LEAST_TIME_TO_ACT, max_value=MOST_TIME_TO_ACT, allow_null=True, default=None
        )
        seat_fee = SeatFee(required=False)
        area = StrictPattern(CODE, required=False)

    sensitive = False
    roles = ADMINS
    approvable = True
    readers = READERS
    versioned = False
    input = Input
    model = Table
    serializer_class = Row
    filters = {"table": "code", "game": "game", "area": "area", "state": "state"}
    choices = {"state": TableState.values}

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Set up."""
        fee = data.get("seat_fee", {"amount": 0, "per": FeePer.DEAL})
        agreed = tables.Terms(
            game=data["game"],
            options=data["options"],
            seats=data["seat_count"],
            min_stack=data["min_stack"],
            max_stack=data["max_stack"],
            carryover_on_close=CarryoverOnClose(data["carryover_on_close"]),
            client_seeds=ClientSeeds(data["client_seeds"]),
            time_to_act=data["time_to_act"],
            seat_fee=fee["amount"],
            seat_fee_per=FeePer(fee["per"]),
            area=data.get("area", ""),
        )
        return terms.set_up_table_at_office(command=command, code=data["table"], terms=agreed)


@documented(
    "changeTerms",
    summary="Change a table's terms",
    answers=TableOut,
    tag=TAG,
    refuses=["no_change", "table_retired", *TERMS],
)
class ChangeTerms(WriteOperation):
    """Agree on other terms for a table, from its next opening on; a hand is played under the terms of its sitting. They
    take the place of any that wait already; the terms of now take back what waits. The game stays: another game takes
    another table."""

    @extend_schema_serializer(component_name="TermsInput")
    class Input(_Limits):
        """All terms that can change, and why."""

        reason = Reason()

    roles = ADMINS
    approvable = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        return terms.change_terms(
            command=command,
            code=path["table"],
            options=data["options"],
            seats=data["seat_count"],
            min_stack=data["min_stack"],
            max_stack=data["max_stack"],
            carryover_on_close=CarryoverOnClose(data["carryover_on_close"]),
            reason=data["reason"],
        )


@documented(
    "retireTable",
    summary="Retire a table",
    answers=TableOut,
    tag=TAG,
    refuses=["place_not_empty", "table_open", "table_playing", "table_settling", "table_disputed", "table_retired"],
)
class RetireTable(WriteOperation):
    """End a closed table for ever. Its tray, boxes and accounts must be empty; its terminals are revoked, its hands and
    its chain stay."""

    roles = ADMINS
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Retire."""
        return changing.retire(command=command, code=path["table"], reason=data["reason"])


class TrayStocked(serializers.Serializer[Any]):
    """What came into a tray."""

    table = serializers.CharField()
    amount = minor_units("What the chips are worth")
    pieces = chip_pieces("The chips")
    audit = ReceiptOut()


@documented(
    "stockTray",
    summary="Stock a table's tray",
    answers=TrayStocked,
    status=201,
    tag=TAG,
    refuses=["tray_stocked", "no_template", *CHIPS, *POSTING],
)
class StockTray(WriteOperation):
    """Bring a table its first chips from the vault, from which it makes change and pays bonuses; once. Fills bring
    more. No If-Match: no version changes."""

    @extend_schema_serializer(component_name="StockTrayInput")
    class Input(StrictInput):
        """Pieces by denomination, or an amount in minor units of which the house makes a spread, or those of the
        table's template."""

        amount = Amount(required=False)
        pieces = Pieces()
        by_template = ByTemplate(help_text="true: the pieces of the table's template.")

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """Check that chips are named, in one way."""
            return one_way(attrs, "pieces", "amount")

    roles = KEEPERS
    approvable = True
    versioned = False
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Stock."""
        return tables.stock_tray_at_office(
            command=command, code=path["table"], amount=data.get("amount"), pieces=data.get("pieces"),
            by_template=data["by_template"],
        )  # fmt: skip


urls = [
    path("chip-sets", ChipSets.as_view()),
    path("vault/opening", OpenVault.as_view()),
    path("drawers", Drawers.as_view()),
    path("drawers/<slug:drawer>/retire", RetireDrawer.as_view()),
    path("tables", Tables.as_view()),
    path("tables/<slug:table>/terms", ChangeTerms.as_view()),
    path("tables/<slug:table>/retire", RetireTable.as_view()),
    path("tables/<slug:table>/tray", StockTray.as_view()),
]
