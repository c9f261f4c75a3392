"""Gaming days: floor or manager opens them, the manager closes them; they, cage supervisors and auditors read them. The
package of a closed day: manager and auditors download it, an auditor signs it."""

from datetime import date
from typing import Any

from django.http import HttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.negotiation import AsItIs
from casino.api.http.operations import (
    SEES_BOOKS,
    ReadOperation,
    StrictInput,
    StrictPattern,
    WriteOperation,
    context_of,
    documented,
    known_parameters,
    signed_in,
)
from casino.api.parts import Sides, SnapshotFinding, TrialBalance, minor_units, number_of
from casino.api.tables import ReceiptOut
from casino.approvals.models import ApprovalState
from casino.cage.models import BagWay, HandoverKind, HeldCause, VaultCountState
from casino.core.commands import Answer, Command
from casino.days import packages, services
from casino.reports import days as reports
from casino.staff.models import Role
from casino.transfers.models import BoxKind, BoxState, Kind, MoveKind, MoveState, Purpose, TransferState

TAG = "days"
MAY_READ = (Role.AUDITOR, Role.MANAGER, Role.FLOOR, Role.CAGE_SUPERVISOR)


class DayOut(serializers.Serializer[Any]):
    """A gaming day; `snapshot` is the name of its closing snapshot."""

    day = serializers.CharField()
    version = serializers.IntegerField(help_text="1 while the day is open, then 2.")
    opened_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    snapshot = serializers.CharField(allow_null=True)


class DayOpenedOut(DayOut):
    """The day that was opened."""

    audit = ReceiptOut()


class CarriedBalance(serializers.Serializer[Any]):
    """Money at a table that nobody has won yet."""

    table = serializers.CharField()
    number = serializers.CharField(help_text="Number of the account in the chart of accounts.")
    kind = serializers.CharField(help_text="Name of the account in the chart of accounts.")
    amount = minor_units("Balance in the closing snapshot")


class CarriedBox(serializers.Serializer[Any]):
    """A box that was not received when the day closed."""

    box = serializers.IntegerField()
    table = serializers.CharField()
    kind = serializers.ChoiceField(choices=BoxKind.choices, help_text="What falls into it.")
    number = serializers.CharField(help_text="The number painted on the box.")
    state = serializers.ChoiceField(choices=BoxState.choices)
    for_day = serializers.CharField(
        allow_null=True, help_text="The gaming day to which its contents belong; null while it is at its table."
    )


class CarriedHandover(serializers.Serializer[Any]):
    """A handover that nobody had taken when the day closed."""

    drawer = serializers.CharField()
    handover = serializers.IntegerField(help_text="Number of the handover at its drawer.")
    kind = serializers.ChoiceField(choices=HandoverKind.choices, help_text="What passes, and which way.")


class CarriedFound(serializers.Serializer[Any]):
    """Found chips that were in the register when the day closed."""

    found = serializers.IntegerField(help_text="Their number in the register.")
    amount = minor_units("Worth of the chips")


class CarriedPayout(serializers.Serializer[Any]):
    """A payout that was held when the day closed."""

    payout = serializers.IntegerField()
    player = serializers.CharField()
    amount = serializers.IntegerField()
    cause = serializers.ChoiceField(choices=HeldCause.choices, help_text="Why it is held.")


class CarriedNonCash(serializers.Serializer[Any]):
    """A buy-in by card or transfer whose money had not come when the day closed."""

    buy_in = serializers.IntegerField()
    amount = serializers.IntegerField()


class CarriedTransfer(serializers.Serializer[Any]):
    """A fill or credit that was requested and not sent when the day closed."""

    kind = serializers.ChoiceField(choices=Kind.choices)
    serial = serializers.IntegerField(help_text="Its number among the house's transfers of this kind.")
    table = serializers.CharField()
    drawer = serializers.CharField()
    state = serializers.ChoiceField(choices=TransferState.choices)


class CarriedHold(serializers.Serializer[Any]):
    """What was on hold in a drawer when the day closed: for a fill that a table had asked for, or for an announced
    cash-out."""

    hold = serializers.CharField(
        help_text="`fill:` and the serial of the fill, or `cash_out:` and the number of the announced cash-out."
    )
    until = serializers.DateTimeField(help_text="Until when it is set aside.")


class CarriedApproval(serializers.Serializer[Any]):
    """An approval that was neither used nor refused when the day closed."""

    approval = serializers.IntegerField(help_text="Number of the approval.")
    operation = serializers.CharField(help_text="Operation of the request that it is for.")
    state = serializers.ChoiceField(choices=ApprovalState.choices)


class CarriedChipMove(serializers.Serializer[Any]):
    """A movement of chips that was not counted by everybody when the day closed; without figures."""

    move = serializers.IntegerField(help_text="Its number among the house's movements of chips.")
    kind = serializers.ChoiceField(choices=MoveKind.choices)
    state = serializers.ChoiceField(choices=MoveState.choices)


class CarriedTrayCount(serializers.Serializer[Any]):
    """A count of a tray whose witness had not counted when the day closed; without figures."""

    tray_count = serializers.IntegerField(help_text="Its number among the house's counts of trays.")
    table = serializers.CharField()
    purpose = serializers.ChoiceField(choices=Purpose.choices)


class CarriedBag(serializers.Serializer[Any]):
    """A bag of cash that was on its way to or from the bank when the day closed; without figures."""

    number = serializers.IntegerField(help_text="Its number among those of the house.")
    way = serializers.ChoiceField(choices=BagWay.choices)
    bag = serializers.CharField(help_text="Number of the sealed bag.")


class CarriedVaultCount(serializers.Serializer[Any]):
    """A count of the vault that was not accepted when the day closed; without figures."""

    vault_count = serializers.IntegerField(help_text="Its number among those of the house.")
    state = serializers.ChoiceField(choices=VaultCountState.choices)


class CarriedShare(serializers.Serializer[Any]):
    """A share of the tronc that was not paid when the day closed."""

    pool = serializers.IntegerField(help_text="Number of the pool.")
    login = serializers.CharField(help_text="Login of the person whose share it is.")
    amount = minor_units("The share")


class Carried(serializers.Serializer[Any]):
    """What a day has left to the next one, by name."""

    balances = CarriedBalance(many=True, help_text="Cukassza, bank of the seats and carry held, by table.")
    boxes = CarriedBox(many=True, help_text="Boxes that nobody has received, without figures.")
    tables = serializers.ListField(child=serializers.CharField(), help_text="Codes of the tables that were open.")
    handovers = CarriedHandover(many=True, help_text="Handovers between vault and drawers that nobody has taken.")
    found_chips = CarriedFound(many=True, help_text="Found chips that nobody has claimed.")
    held_payouts = CarriedPayout(many=True, help_text="Payouts that are held.")
    noncash_buy_ins = CarriedNonCash(many=True, help_text="Buy-ins by card or transfer whose money has not come.")
    transfers = CarriedTransfer(many=True, help_text="Fills and credits that were requested and not sent.")
    holds = CarriedHold(
        many=True, help_text="Chips that are set aside in drawers for fills, and cash for announced cash-outs."
    )
    approvals = CarriedApproval(many=True, help_text="Approvals that can still lead to a write.")
    chip_moves = CarriedChipMove(many=True, help_text="Movements of chips that wait to be counted or decided.")
    tray_counts = CarriedTrayCount(many=True, help_text="Counts of trays that wait for their witness.")
    bank_bags = CarriedBag(many=True, help_text="Bags of cash on their way to or from the bank.")
    vault_counts = CarriedVaultCount(many=True, help_text="Counts of the vault that are not accepted.")
    tronc_shares = CarriedShare(many=True, help_text="Shares of the tronc that are not paid.")


class CheckpointOf(serializers.Serializer[Any]):
    """A checkpoint of the house's log."""

    epoch = serializers.IntegerField()
    size = serializers.IntegerField(help_text="Number of leaves that it covers.")
    # Named as everywhere a checkpoint is shown, though a field of DRF has a property of this name.
    root = serializers.CharField(help_text="Root of the tree, 64 hex digits.")  # type: ignore[assignment]


class PackageOut(serializers.Serializer[Any]):
    """The package of a closed day. Its first signer is the manager who has closed the day, the second an auditor."""

    state = serializers.ChoiceField(choices=packages.PackageState.choices, help_text="`coming`: it is made next.")
    sha256 = serializers.CharField(required=False, help_text="Of the file, 64 hexadecimal digits.")
    size = serializers.IntegerField(required=False, help_text="Bytes of the file.")
    checkpoint = CheckpointOf(
        required=False, allow_null=True, help_text="The newest checkpoint that was known; null where there was none."
    )
    closed_by = serializers.CharField(required=False, help_text="Login of the manager who has closed the day.")
    signed_by = serializers.CharField(
        required=False, allow_null=True, help_text="Login of the auditor who has signed; null before that."
    )


class PackageSignedOut(PackageOut):
    """The package that was signed."""

    day = serializers.CharField()
    audit = ReceiptOut()


class DayClosedOut(DayOut):
    """The day that was closed."""

    totals = serializers.DictField(child=Sides(), help_text="Totals of the closing snapshot by commodity.")
    carried = Carried(help_text="What goes over into the next day.")
    package = serializers.ChoiceField(choices=["coming"], help_text="The package of the day is made next.")
    audit = ReceiptOut()


class Turnover(serializers.Serializer[Any]):
    """What a day turned over, in minor units."""

    handle = serializers.IntegerField()
    tax = serializers.IntegerField()
    fees = minor_units("Fees for seats, in chips and in cash")
    bonus = serializers.IntegerField()
    goodwill = minor_units("What the house bore of rulings and wrong results")
    buy_ins = minor_units("Cash taken for chips; null where it is withheld", allow_null=True)
    cash_outs = minor_units("Cash paid for chips; null where it is withheld", allow_null=True)
    hand_count = number_of("hands that were settled in the day")


class AccountTurnover(serializers.Serializer[Any]):
    """What one kind of account turned over in one commodity; chips in pieces."""

    commodity = serializers.CharField()
    number = serializers.CharField(help_text="Number of the account in the chart of accounts.")
    kind = serializers.CharField(help_text="Name of the account in the chart of accounts.")
    debit = serializers.IntegerField()
    credit = serializers.IntegerField()
    entry_count = number_of("entries of the day")


class TableTurnover(serializers.Serializer[Any]):
    """What one table turned over, in minor units."""

    table = serializers.CharField()
    hand_count = number_of("hands that were settled in the day")
    handle = serializers.IntegerField()
    tax = serializers.IntegerField()
    fees = minor_units("Fees for seats, in chips and in cash")
    bonus = serializers.IntegerField()
    goodwill = minor_units("What the house bore of rulings and wrong results")
    buy_ins = minor_units("Cash taken for chips")


class DrawerTurnover(serializers.Serializer[Any]):
    """What one drawer turned over, in minor units."""

    drawer = serializers.CharField()
    buy_ins = minor_units("Cash taken for chips")
    cash_outs = minor_units("Cash paid for chips")


class Adjustment(serializers.Serializer[Any]):
    """What belongs to a day and was booked in another one: a box, a tray, a drawer or the vault that was counted or
    signed off late, variances that were offset, a hand that was ruled on again."""

    transaction = serializers.IntegerField(help_text="Number of the ledger transaction.")
    kind = serializers.CharField(help_text="Kind of the posting.")
    booked_in = serializers.CharField(help_text="The gaming day that took the posting.")
    posted_at = serializers.DateTimeField()
    table = serializers.CharField(allow_null=True, help_text="Code of the table whose box or tray was counted.")
    box = serializers.IntegerField(allow_null=True, help_text="Number of the box among those of the house.")
    tray_count = serializers.IntegerField(allow_null=True, help_text="Number of the count of a tray.")
    drawer = serializers.CharField(allow_null=True, help_text="Code of the drawer that was counted.")
    shift = serializers.IntegerField(allow_null=True, help_text="Number of the drawer's shift.")
    vault_count = serializers.IntegerField(allow_null=True, help_text="Number of the count of the vault.")
    place = serializers.CharField(
        allow_null=True, help_text="Where variances were offset (a drawer, or `vault`), or chips were attributed."
    )
    count = serializers.IntegerField(
        allow_null=True, help_text="Number of the shift, or of the count of the vault, whose variances were offset."
    )
    hand = serializers.CharField(allow_null=True, help_text="Name of the hand that was ruled on again.")
    reason = serializers.CharField(allow_null=True, help_text="Why it was booked, where somebody had to say so.")
    accounts = AccountTurnover(many=True, help_text="What it moved, by commodity and number of the account.")


class DayReportOut(DayOut):
    """A gaming day with its turnover, and its trial balance once it is closed; these never change again, and what is
    booked for the day in another one stands apart (`adjustments`). While a drawer is open, the floor does
    not see the figures from which its contents follow: a drawer is counted without knowing them."""

    currency = serializers.CharField()
    turnover = Turnover(help_text="Of the whole house.")
    accounts = AccountTurnover(
        many=True, allow_null=True, help_text="By commodity and number of the account; null where it is withheld."
    )
    tables = TableTurnover(many=True, help_text="By code of the table.")
    drawers = DrawerTurnover(many=True, allow_null=True, help_text="By code of the drawer; null where it is withheld.")
    trial_balance = TrialBalance(
        allow_null=True, help_text="Of the closing snapshot; null while the day is open, and where it is withheld."
    )
    snapshot_findings = SnapshotFinding(
        many=True,
        allow_null=True,
        help_text="Where the snapshot differs from that of the day before and the entries since; null while open.",
    )
    carried = Carried(
        allow_null=True, help_text="What went over into the next day when this one was closed; null while it is open."
    )
    package = PackageOut(allow_null=True, help_text="Its package; null while the day is open.")
    adjustments = Adjustment(
        many=True,
        allow_null=True,
        help_text="What belongs to the day and was booked in another one, the oldest first; contained in no other "
        "figure of this report. Null where it is withheld.",
    )


class IsoDate(StrictPattern):
    """An ISO date."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}\Z", **kwargs)

    def run_validators(self, value: Any) -> None:
        """Check the form, and that the date exists. Raises ValidationError."""
        super().run_validators(value)
        try:
            date.fromisoformat(value)
        except ValueError as error:
            raise serializers.ValidationError(f"There is no such date: {error}.") from error


class DayRow(DayOut):
    """A gaming day in a list."""

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """The same members as in the other answers."""
        return reports.of_row(instance).as_json()


@documented("listDays", summary="List gaming days", tag=TAG, method="get")
@documented(
    "openDay",
    summary="Open a gaming day",
    answers=DayOpenedOut,
    status=201,
    tag=TAG,
    method="post",
    refuses=["house_not_live", "day_exists", "day_not_later", "day_not_due", "day_too_early"],
)
class Days(WriteOperation, CursorList):
    """Gaming days follow each other by date. The one that is due is the date in the time zone of the house, and lasts
    until the cut-off of the next date (`GET house/identity`); another one is refused (`day_not_due`). A sandbox opens
    any later day up to tomorrow. From the first one on, every posting goes into the newest open day.
    Opening a day needs no If-Match: the day does not exist yet. In the list, `from` and `until` select by the time of
    opening."""

    sensitive = False

    @extend_schema_serializer(component_name="OpenDayInput")
    class Input(StrictInput):
        """The date on which the day begins."""

        day = IsoDate()

    roles = (Role.FLOOR, Role.MANAGER)
    readers = MAY_READ
    versioned = False
    input = Input
    serializer_class = DayRow
    filters = {"state": "closed_at__isnull"}
    choices = {"state": ("open", "closed")}
    time = "opened_at"

    def rows(self) -> Any:
        """The days of the house."""
        return reports.rows(signed_in(self.request)[0].house)

    def lookup(self, name: str, value: str) -> dict[str, Any]:
        """Open days have no end yet."""
        return {self.filters[name]: value == "open"}

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Open."""
        return services.open_day(command=command, name=data["day"])


@documented(
    "closeDay",
    summary="Close a gaming day",
    answers=DayClosedOut,
    tag=TAG,
    refuses=["day_closed", "earlier_day_open", "day_blocked"],
)
class CloseDay(WriteOperation):
    """A manager closes it, and a cage supervisor approves that (`approval_required`). A closed day takes no more
    postings and cannot be opened again. A snapshot keeps the balance of every account.
    Refused while an earlier day is open, and while something that began before the next day was opened is not done
    (`day_blocked`, with the lists): hands that are not settled, for whatever they wait, drawers that are not closed,
    transfers that were sent and not received. What may stay goes over by name (`carried`). The package of
    the day is made next (`package`)."""

    roles = (Role.MANAGER,)
    approvable = True

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Close."""
        return services.close_day(command=command, name=path["day"])


@documented(
    "readDay",
    summary="Read a gaming day's turnover and closing balance",
    answers=DayReportOut,
    tag=TAG,
    refuses=["not_found"],
    etag=True,
)
class DayDetail(ReadOperation):
    """Turnover by account, table and drawer, as booked in the day. Once the day is closed, also its trial balance, and
    whether the snapshot still agrees with the entries. Apart from all this: the counts of its boxes and drawers that
    were booked in another day."""

    sensitive = True
    roles = MAY_READ

    def get(self, request: Request, day: str) -> Response:
        """The day."""
        by = context_of(request)
        found, body = reports.report(by.house, day, blind=by.role not in SEES_BOOKS)
        return Response(body, headers={"ETag": f'"{found.version}"'})


ZIP = "application/zip"
#: A package never changes; private, because a shared cache does not know who may read it.
_FOREVER = "private, max-age=31536000, immutable"


@documented(
    "readDayPackage",
    summary="Download a gaming day's package",
    answers={(200, ZIP): OpenApiTypes.BINARY},
    tag=TAG,
    refuses=["not_found", "package_not_ready", "file_deleted"],
)
class DayPackage(ReadOperation):
    """One ZIP file, made once when the day has been closed, and never changed by what is booked later: the Z slips of
    the day's shifts, its report, hands, variances, boxes, approvals, chips by place, trial balance, what goes over into
    the next day, what it has taken for other days; under `reports/` the reports of the catalogue as PDF, CSV and JSON;
    `verification.json`; and `manifest.json` with the SHA-256 of every file and what must be equal in it. The header
    Package-SHA256 names that of the package, which the event `day.packaged` records. Once it need not be kept any
    more, it is gone (`file_deleted`)."""

    sensitive = True
    roles = packages.READERS
    content_negotiation_class = AsItIs

    def get(self, request: Request, day: str) -> HttpResponse:
        """The file."""
        known_parameters(request)
        house = context_of(request).house
        found, content = packages.download(house, day)
        return HttpResponse(
            content,
            content_type=ZIP,
            headers={
                "Content-Disposition": f'attachment; filename="{house.code}-{found.day}.zip"',
                "Package-SHA256": found.sha256,
                "Cache-Control": _FOREVER,
            },
        )


@documented(
    "signDayPackage",
    summary="Sign a gaming day's package",
    answers=PackageSignedOut,
    tag=TAG,
    refuses=["package_not_ready", "package_signed", "package_differs", "four_eyes"],
)
class SignDayPackage(WriteOperation):
    """An auditor signs the SHA-256 of the package that they have read, as the second person after the manager who has
    closed the day. Needs no If-Match: the SHA-256 says what is signed."""

    @extend_schema_serializer(component_name="SignPackageInput")
    class Input(StrictInput):
        """What is signed."""

        sha256 = StrictPattern(r"^[0-9a-f]{64}\Z", help_text="SHA-256 of the file that was read.")

    roles = (Role.AUDITOR,)
    versioned = False
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Sign."""
        return packages.sign(command=command, name=path["day"], sha256=data["sha256"])


urls = [
    path("days", Days.as_view()),
    path("days/<slug:day>", DayDetail.as_view()),
    path("days/<slug:day>/close", CloseDay.as_view()),
    path("days/<slug:day>/package", DayPackage.as_view()),
    path("days/<slug:day>/package/sign", SignDayPackage.as_view()),
]
