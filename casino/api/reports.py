"""Reports of the whole house for floor, manager and auditors: money, chips, hands, and what verifying found."""

from typing import Any

from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    SEES_BOOKS,
    ReadOperation,
    context_of,
    documented,
    known_parameters,
    moment,
)
from casino.api.oversight import HandList
from casino.api.parts import Rack, ShiftPart, TrialBalance, login_of, minor_units, number_of
from casino.chips.models import ImbalanceKind
from casino.hands.models import Hand, HandState
from casino.players.models import Player
from casino.reports import deals as deal_reports
from casino.reports import selectors as reports
from casino.reports.alarms import AlarmKind
from casino.reports.verifying import verification_from_mark
from casino.staff.models import Role
from casino.tables.models import TableState

TAG = "reports"
#: Who answers for the house.
MAY_READ = (*SEES_BOOKS, Role.FLOOR)


# --- The house ------------------------------------------------------------------------------------------------------


class TableFigures(serializers.Serializer[Any]):
    """The turnover of a table, and the money and chips there now."""

    table = serializers.CharField()
    game = serializers.CharField()
    seat_count = serializers.IntegerField()
    state = serializers.ChoiceField(choices=TableState.choices)
    settled_count = number_of("hands that are settled")
    ruled_count = number_of("hands that the floor ruled on")
    unsettled_count = number_of("hands that are played, ended or disputed, and not settled")
    handle = serializers.IntegerField()
    tax = serializers.IntegerField()
    fees = minor_units("Fees for seats, in chips and in cash")
    bonus = serializers.IntegerField()
    goodwill = minor_units("What the house bore of rulings and wrong results")
    cukassza = serializers.IntegerField()
    cukassza_since = serializers.DateTimeField(
        allow_null=True, help_text="Since when the cukassza has been outstanding; null if there is none."
    )
    bank = serializers.IntegerField()
    bank_since = serializers.DateTimeField(
        allow_null=True, help_text="Since when the bank has been outstanding; null if there is none."
    )
    pot = serializers.IntegerField()
    drop = minor_units("Cash in the drop box")
    tips = minor_units("Worth of the chips in the tip box")


class Custody(serializers.Serializer[Any]):
    """Chips in circulation, and the house's debt for chips; the two are always equal."""

    chips_in_circulation = minor_units("Worth of the chips that are with the public")
    chip_liability = minor_units("What the house owes for chips")
    equal = serializers.BooleanField(help_text="Whether the two are equal.")


class RackKind(serializers.Serializer[Any]):
    """One kind of place for chips: trays, drawers, boxes, the public."""

    kind = serializers.CharField(help_text="Name of the account in the chart of accounts.")
    value = minor_units("Worth of all chips in places of this kind")
    places = serializers.DictField(
        child=Rack(), help_text="By code of the table or drawer, empty for places of the house."
    )


class DenominationCount(serializers.Serializer[Any]):
    """Chips of one denomination: pieces present against pieces commissioned."""

    commodity = serializers.CharField()
    value = minor_units("Face value of a piece")
    commissioned = number_of("pieces that were commissioned")
    present = number_of("pieces that are in some place")
    equal = serializers.BooleanField(help_text="Whether the two are equal.")


class ChipsReport(serializers.Serializer[Any]):
    """Where the chips are, and whether any are missing."""

    racks = serializers.DictField(child=RackKind(), help_text="By number of the account in the chart of accounts.")
    denominations = DenominationCount(many=True, help_text="One row for each denomination, the smallest first.")


class TransitFinding(serializers.Serializer[Any]):
    """Chips in transit that differ from the signed transfers."""

    table = serializers.CharField()
    value = minor_units("Face value of a piece")
    in_transit = serializers.IntegerField(help_text="Pieces in transit, by the ledger.")
    signed_for = serializers.IntegerField(help_text="Pieces that were sent and not received yet.")


class ChipFindings(serializers.Serializer[Any]):
    """Differences between chips and money; empty if there are none."""

    custody = Custody(required=False, help_text="Where chips in circulation and liability differ.")
    denominations = DenominationCount(many=True, required=False, help_text="Denominations with lost or surplus pieces.")
    transit = TransitFinding(many=True, required=False, help_text="Chips in transit that no signed transfer explains.")


@extend_schema_field(
    {
        "type": "object",
        "description": "What the check found: `custody` and `denominations` as in `chips`, or findings by snapshot.",
        "properties": {
            "custody": {
                "allOf": [{"$ref": "#/components/schemas/Custody"}],
                "description": "Where chips in circulation and liability differ.",
            },
            "denominations": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/DenominationCount"},
                "description": "Denominations with lost or surplus pieces.",
            },
        },
        "additionalProperties": {"type": "array", "items": {"$ref": "#/components/schemas/SnapshotFinding"}},
    }
)
class _Found(serializers.JSONField):
    """What a continuous check keeps: what differs, and of chips and money also `where` it arose."""


class ImbalanceOut(serializers.Serializer[Any]):
    """Findings of the continuous checks. They are possible only if the database's guards were bypassed."""

    kind = serializers.ChoiceField(choices=ImbalanceKind.choices, help_text="Which check found it.")
    found_at = serializers.DateTimeField(help_text="When it was found first.")
    found = _Found()
    cleared_at = serializers.DateTimeField(
        allow_null=True, help_text="When a later check found it in order; null before."
    )


class AlarmOut(serializers.Serializer[Any]):
    """Something that somebody must look at: what has waited longer than the control points allow, differences of
    people and trays, people who approve each other."""

    alarm = serializers.ChoiceField(choices=[kind.value for kind in AlarmKind], help_text="What it is about.")
    name = serializers.CharField(
        help_text="Its name: `fill 3`, `bag 1`, `hand T1-000002`, `mia@house, drawer C1, shift 3`."
    )
    since = serializers.DateTimeField(help_text="Since when it waits, or when it was found.")
    amount = minor_units("Of a difference how much: short is negative; otherwise null", allow_null=True)


class HouseReportOut(serializers.Serializer[Any]):
    """The house now. Amounts in minor units of `currency`."""

    house = serializers.CharField()
    currency = serializers.CharField()
    tables = TableFigures(many=True, help_text="By code of the table.")
    custody = Custody(help_text="Chips against money.")
    chips = ChipsReport(allow_null=True, help_text="Where the chips are; null where it is withheld.")
    alarms = AlarmOut(many=True, help_text="What somebody must look at, the oldest first.")
    imbalances = ImbalanceOut(many=True, help_text="What continuous checks have found, the newest first.")
    trial_balance = TrialBalance(allow_null=True, help_text="Debits against credits; null where it is withheld.")
    drawers = ShiftPart(many=True, help_text="The newest shift of each drawer.")
    open_message_count = number_of("messages of the outbox that are not worked off")


@documented("readHouseReport", summary="Read the house's report", answers=HouseReportOut, tag=TAG)
class HouseReport(ReadOperation):
    """Tables, chips against what is owed for them, the trial balance, the newest shift of each drawer, open work. While
    a drawer is open, the floor does not see the figures from which its contents follow."""

    sensitive = True
    roles = MAY_READ

    def get(self, request: Request) -> Response:
        """The report."""
        by = context_of(request)
        return Response(reports.house_report(by.house, blind=by.role not in SEES_BOOKS))


# --- Verification ---------------------------------------------------------------------------------------------------


class HandDifference(serializers.Serializer[Any]):
    """One thing in which a hand differs from its replay; what does not apply is absent."""

    hand = serializers.CharField()
    problem = serializers.CharField(help_text="What is wrong.")
    line = serializers.IntegerField(required=False, help_text="Number of the log's line, from 1; 0: the start.")
    action = serializers.CharField(required=False, help_text="Text of the line, or the settlement, ruling or dispute.")
    key = serializers.CharField(required=False, help_text="Key of the posting in the ledger.")
    account = serializers.CharField(required=False, help_text="Code of the account.")
    expected = minor_units("What the replay moves", required=False)
    found = minor_units("Amount that the ledger has moved", required=False)


class AuditFinding(serializers.Serializer[Any]):
    """One error in the audit trail."""

    code = serializers.CharField(help_text="Stable code of the finding.")
    place = serializers.CharField(help_text="Where it shows: a chain and number, a transaction, a hand.")
    problem = serializers.CharField(help_text="What is wrong.")


class BookFinding(serializers.Serializer[Any]):
    """One promise of the ledger that does not hold."""

    check = serializers.CharField(help_text="Which promise.")
    subject = serializers.CharField(help_text="The account or transaction.")
    detail = serializers.CharField(help_text="How it does not hold.")


class VerificationOut(serializers.Serializer[Any]):
    """What verifying found, and how much was gone through."""

    whole_at = serializers.DateTimeField(
        allow_null=True, help_text="When everything was last read; null where it was now."
    )
    mark_at = serializers.DateTimeField(
        allow_null=True, help_text="What came after this moment was read; null where it was everything."
    )
    not_from_mark = serializers.CharField(
        required=False, help_text="Why everything was read, and not what came since an earlier verification."
    )
    hand_count = number_of("hands")
    hand_findings = HandDifference(many=True, help_text="Where hands and ledger differ.")
    chain_count = number_of("audit chains")
    event_count = number_of("audit events")
    leaf_count = number_of("leaves of the log")
    checkpoint_count = number_of("signed checkpoints")
    transaction_count = number_of("ledger transactions")
    audit_findings = AuditFinding(many=True, help_text="Errors in the audit trail, at most 500 of each code.")
    audit_findings_by_code = serializers.DictField(
        child=serializers.IntegerField(), help_text="How many errors of each code there are in the audit trail."
    )
    audit_notices = serializers.ListField(
        child=serializers.CharField(), help_text="Notes for the reader that are not errors."
    )
    book_findings = BookFinding(many=True, help_text="Errors in the books.")
    custody_findings = ChipFindings(help_text="Differences between chips and money.")
    ok = serializers.BooleanField(help_text="True if there are no findings.")


@documented("verifyHouse", summary="Verify hands, audit trail and books", answers=VerificationOut, tag=TAG)
class Verification(ReadOperation):
    """Every hand is replayed and compared with the ledger. The audit trail is verified against the checkpoints outside
    the database. Every promise of the ledger is checked. Where a verification was kept, what came since is read, and
    `whole_at` says when all of it was; elsewhere the older the house, the longer this takes."""

    sensitive = True
    roles = SEES_BOOKS

    def get(self, request: Request) -> Response:
        """What verifying found."""
        return Response(verification_from_mark(context_of(request).house))


# --- Players and hands ----------------------------------------------------------------------------------------------


@documented("readPlayerReport", summary="List who holds which chips away from the tables", tag=TAG)
class PlayerReport(CursorList):
    """Players, the chips that they hold away from the tables, and their deposits."""

    sensitive = True
    roles = (*MAY_READ, Role.COMPLIANCE)

    @extend_schema_serializer(component_name="PlayerChipsRow")
    class Row(serializers.Serializer[Any]):
        """A player's chips away from the tables, and deposit."""

        player = serializers.CharField()
        chips = minor_units("Worth of the chips that the player holds away from the tables, by the books")
        deposit = minor_units("Cash that the player has left with the house")

        def to_representation(self, instance: Player) -> dict[str, Any]:
            """The ledger's answer."""
            return reports.player_chips(instance)

    model = Player
    serializer_class = Row
    filters = {"player": "ref"}

    def rows(self) -> Any:
        """With their wallets' balances."""
        return reports.with_chips(super().rows())


@documented("listHandMoney", summary="List what each hand moved in the ledger", tag=TAG)
class HandMoney(HandList):
    """The money that each hand moved, from the ledger."""

    sensitive = True
    roles = (*MAY_READ, Role.COMPLIANCE)

    @extend_schema_serializer(component_name="HandMoneyRow")
    class MoneyRow(serializers.Serializer[Any]):
        """The money that one hand moved, from the ledger only, in minor units."""

        hand = serializers.CharField()
        state = serializers.ChoiceField(choices=HandState.choices)
        net = serializers.ListField(child=serializers.IntegerField())
        tax = serializers.IntegerField()
        bonus = serializers.IntegerField()
        carry_out = serializers.IntegerField()

        def to_representation(self, instance: Hand) -> dict[str, Any]:
            """The ledger's answer."""
            return reports.hand_money(instance)

    serializer_class = MoneyRow


# --- Deals ----------------------------------------------------------------------------------------------------------

_DAY = "The gaming day: the newest that was open when the deal was prepared; null: none was."
_DEALER = "prepared the deals; null if no event says so"


class DealTable(serializers.Serializer[Any]):
    """How near a table is to the limit of abandoned deals."""

    table = serializers.CharField()
    abandoned_in_a_row = number_of("deals abandoned since the table's last hand")


class DealCounts(serializers.Serializer[Any]):
    """The deals that one person prepared at one table on one gaming day."""

    day = serializers.CharField(allow_null=True, help_text=_DAY)
    table = serializers.CharField()
    dealer = login_of(_DEALER, allow_null=True)
    deal_count = number_of("deals that were prepared")
    dealt_count = number_of("these that were dealt")
    abandoned_count = number_of("these that were abandoned")
    open_count = number_of("these that are neither dealt nor abandoned yet")


class UnrevealedSeat(serializers.Serializer[Any]):
    """A seat that had committed to a seed and did not reveal it."""

    seat = serializers.IntegerField()
    player = serializers.CharField()


class AbandonedDeal(serializers.Serializer[Any]):
    """A deal that was abandoned; `GET deals/HAND` has its seed. Null is what no event says."""

    hand = serializers.CharField()
    day = serializers.CharField(allow_null=True, help_text=_DAY)
    table = serializers.CharField()
    dealer = login_of("prepared the deal; null if no event says so", allow_null=True)
    prepared_at = serializers.DateTimeField(help_text="When the deal was prepared.")
    abandoned_by = login_of("abandoned the deal", allow_null=True)
    abandoned_at = serializers.DateTimeField(allow_null=True, help_text="When the deal was abandoned.")
    reason = serializers.CharField(allow_null=True)
    unrevealed = UnrevealedSeat(many=True, help_text="Seats that did not reveal their seeds.")


class DealReportOut(serializers.Serializer[Any]):
    """Prepared and abandoned deals."""

    most_abandoned = number_of("deals in a row that may be abandoned at a table")
    tables = DealTable(many=True, help_text="By code of the table.")
    deals = DealCounts(many=True, help_text="By gaming day, table and dealer.")
    abandoned = AbandonedDeal(many=True, help_text=f"The newest first, at most {deal_reports.MOST_LISTED}.")


@documented(
    "readDealReport",
    summary="Read the report of prepared and abandoned deals",
    answers=DealReportOut,
    tag=TAG,
    parameters=[
        OpenApiParameter("day", str, OpenApiParameter.QUERY, description="Deals of this gaming day only."),
        OpenApiParameter("table", str, OpenApiParameter.QUERY, description="Deals of this table only."),
        OpenApiParameter("from", OpenApiTypes.DATETIME, OpenApiParameter.QUERY),
        OpenApiParameter("until", OpenApiTypes.DATETIME, OpenApiParameter.QUERY),
    ],
    refuses=["not_found"],
)
class DealReport(ReadOperation):
    """How many electronic deals were prepared, dealt and abandoned, by gaming day, table and dealer; each abandoned one
    with the person who abandoned it, the reason, and the seats that did not reveal their seeds. `from` and `until`
    select by when the deal was prepared. 200,000 deals take about a second."""

    sensitive = True
    roles = MAY_READ

    def get(self, request: Request) -> Response:
        """The report."""
        asked = known_parameters(request, "day", "table", "from", "until")
        wanted = deal_reports.Wanted(
            day=asked.get("day"), table=asked.get("table"), since=moment(asked, "from"), until=moment(asked, "until")
        )
        return Response(deal_reports.report(context_of(request).house, wanted))


urls = [
    path("reports/deals", DealReport.as_view()),
    path("reports/house", HouseReport.as_view()),
    path("reports/players", PlayerReport.as_view()),
    path("reports/hands", HandMoney.as_view()),
    path("reports/verification", Verification.as_view()),
]
