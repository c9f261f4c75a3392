"""What is written down about transactions: unknown persons, lines of the log, returns that were filed, rates of the
euro."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_THE_CAGE,
    SEES_BOOKS,
    Amount,
    ReadOperation,
    Reason,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictMoment,
    StrictPattern,
    StrictText,
    WriteOperation,
    context_of,
    documented,
    known_parameters,
    signed_in,
)
from casino.api.parts import LinkedSums, login_of, minor_units, number_of
from casino.api.tables import ReceiptOut
from casino.bookkeeping.flows import Direction
from casino.core.commands import Answer, Command
from casino.staff.models import Role
from casino.watching import euro, filings, lines, unknown
from casino.watching.models import Capacity, EuroRate, Filing, LineKind, LogLine, UnknownPerson

TAG = "log of transactions"
#: Who sees people trade, and writes down what they see.
WATCHES = (Role.FLOOR, *AT_THE_CAGE, Role.COMPLIANCE)
#: Who judges what was written down.
_JUDGES = (Role.CAGE_SUPERVISOR, Role.COMPLIANCE)
_TRADE = "The transaction, by the event that records it: `drawer/C1#17`."


# --- Unknown persons -------------------------------------------------------------------------------------------------


class UnknownPersonPart(serializers.Serializer[Any]):
    """Somebody without a player's file."""

    unknown_person = number_of("the unknown person, from 1 without gaps")
    opened_by = login_of("described the person")
    opened_at = serializers.DateTimeField(help_text="When the person was described.")
    player = serializers.CharField(allow_null=True, help_text="Who it turned out to be; null: not known.")
    identified_by = login_of("noted that", allow_null=True)
    identified_at = serializers.DateTimeField(allow_null=True, help_text="When that was noted; null before.")


class UnknownPersonOut(UnknownPersonPart):
    """The person, and the receipt."""

    audit = ReceiptOut()


class UnknownPersonShown(UnknownPersonPart):
    """The person with the description, and what was paid in the gaming day."""

    description = serializers.CharField(help_text="What the person looks like, or is called.")
    day = serializers.CharField(allow_null=True, help_text="The gaming day of now; null where none is open.")
    paid_in = minor_units("What the log knows that the person has paid in that day")
    paid_out = minor_units("What the log knows that the person was paid that day")
    threshold = minor_units("From which amount or sum on the house must know who it is")


@documented("listUnknownPersons", summary="List unknown persons", tag=TAG, method="get")
@documented(
    "openUnknownPerson", summary="Describe an unknown person", answers=UnknownPersonOut, status=201, tag=TAG,
    method="post",
)  # fmt: skip
class UnknownPersons(WriteOperation, CursorList):
    """A person who trades at the cage or a table and has no player's file: trades without a name can name the number
    (`unknown_person`), and are added up by gaming day. The description is sealed; those who may trade read it in the
    list, so that they recognise the person. No If-Match: the person is new."""

    @extend_schema_serializer(component_name="UnknownPersonListRow")
    class Row(UnknownPersonPart):
        """A person in the list, with the description."""

        description = serializers.CharField(help_text="What the person looks like, or is called.")

        def to_representation(self, instance: UnknownPerson) -> dict[str, Any]:
            """The person, with what was said."""
            instance.house = signed_in(self.context["request"])[0].house
            return unknown.describe(instance) | {"description": unknown.description_of(instance)}

    @extend_schema_serializer(component_name="OpenUnknownPersonInput")
    class Input(StrictInput):
        """The description."""

        description = StrictPattern(
            r"\S\s*\S\s*\S", min_length=3, max_length=1000,
            help_text="What the person looks like, or is called. It is sealed; the audit trail has its hash only.",
        )  # fmt: skip

    sensitive = True
    roles = WATCHES
    readers = WATCHES
    versioned = False
    redact_fields = frozenset({"description"})
    input = Input
    model = UnknownPerson
    serializer_class = Row
    filters = {"player": "player__ref"}
    time = "opened_at"

    def rows(self) -> Any:
        """With whom they name."""
        return super().rows().select_related("player", "opened_by", "identified_by")

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Describe."""
        return unknown.begin(command=command, description=data["description"])


@documented("readUnknownPerson", summary="Read an unknown person and the sums of the gaming day",
            answers=UnknownPersonShown, tag=TAG, refuses=["not_found"])  # fmt: skip
class ShowUnknownPerson(ReadOperation):
    """The description, and what the log knows of the gaming day: read it before a trade, which is added to it."""

    sensitive = True
    roles = WATCHES

    def get(self, request: Request, unknown_person: int) -> Response:
        """The person."""
        known_parameters(request)
        return Response(unknown.shown(context_of(request).house, unknown_person))


@documented(
    "identifyUnknownPerson", summary="Note who an unknown person is", answers=UnknownPersonOut, tag=TAG,
    refuses=["not_found", "person_identified"],
)  # fmt: skip
class IdentifyUnknownPerson(WriteOperation):
    """The unknown person is a player: reports show the lines under the player, and the number is named no more. What is
    booked for nobody is attributed to the player by compliance (`attributeChips`). No If-Match: it is noted once."""

    @extend_schema_serializer(component_name="IdentifyUnknownPersonInput")
    class Input(StrictInput):
        """Who it is."""

        player = StrictText(max_length=32)

    roles = _JUDGES
    versioned = False
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Note."""
        return unknown.identify(command=command, number=path["unknown_person"], player=data["player"])


# --- Lines -----------------------------------------------------------------------------------------------------------


class LogLinePart(serializers.Serializer[Any]):
    """A line of the log."""

    line = number_of("the line, from 1 without gaps")
    unknown_person = serializers.IntegerField(allow_null=True, help_text="The unknown person; null: a player.")
    player = serializers.CharField(allow_null=True, help_text="The player; null: an unknown person.")
    capacity = serializers.ChoiceField(choices=Capacity.choices, help_text="What the person is in the transaction.")
    trade = serializers.CharField(allow_null=True, help_text=f"{_TRADE} Null: it was seen beside the books.")
    day = serializers.CharField(allow_null=True, help_text="The gaming day; null where the house had none.")
    place = serializers.CharField(help_text="Code of the drawer or table.")
    kind = serializers.CharField(help_text="Kind of the transaction, or what was seen.")
    direction = serializers.ChoiceField(choices=[str(one) for one in Direction], help_text="As the house sees it.")
    amount = minor_units("How much")
    entered_by = login_of("entered it")
    entered_at = serializers.DateTimeField(help_text="When it was entered.")
    withdrawn_by = login_of("has withdrawn it", allow_null=True)
    withdrawn_at = serializers.DateTimeField(allow_null=True, help_text="When it was withdrawn; null: it counts.")
    withdrawn_reason = serializers.CharField(allow_blank=True, help_text="Why; empty while it counts.")


class LogLineOut(LogLinePart):
    """The line, and its receipt."""

    audit = ReceiptOut()


class LogLineEnteredOut(LogLineOut):
    """The line, and the sums of the day."""

    linked = LinkedSums(allow_null=True, help_text="Sums of the person's day, this included; null for a player.")


@documented("listLogLines", summary="List lines of the log of transactions", tag=TAG, method="get")
@documented(
    "enterLogLine", summary="Enter a line in the log of transactions", answers=LogLineEnteredOut, status=201, tag=TAG,
    method="post", refuses=["not_found", "person_identified", "log_line_form", "trade_has_player", "trade_attached"],
)  # fmt: skip
class LogLines(WriteOperation, CursorList):
    """Who was in a transaction of the books that names nobody (`trade`), on whose behalf one was made (`capacity`
    `behalf`), or what was seen beside the books (`place`, `kind`, `direction`, `amount`). A line is about an unknown
    person or about a player. What is said is sealed. The answer has the sums of an unknown person's day. No If-Match:
    the line is new."""

    @extend_schema_serializer(component_name="LogLineListRow")
    class Row(LogLinePart):
        """A line in the list, with what was said."""

        note = serializers.CharField(allow_blank=True, help_text="What was said; empty where nothing was.")

        def to_representation(self, instance: LogLine) -> dict[str, Any]:
            """The line, with its note."""
            instance.house = signed_in(self.context["request"])[0].house
            return lines.describe(instance, lines.trade_of(instance)) | {"note": lines.note_of(instance)}

    @extend_schema_serializer(component_name="EnterLogLineInput")
    class Input(StrictInput):
        """Whom it is about; the transaction, or what was seen; and what was said."""

        unknown_person = StrictInteger(
            min_value=1, max_value=2**31 - 1, required=False, help_text="Number of the unknown person."
        )
        player = StrictText(max_length=32, required=False)
        capacity = StrictChoice(
            choices=Capacity.choices, default=Capacity.SELF.value, help_text="What the person is in the transaction."
        )
        trade = StrictPattern(lines.TRADE, required=False, help_text=_TRADE)
        place = StrictText(max_length=32, required=False, help_text="Code of the drawer or table.")
        kind = StrictChoice(choices=LineKind.choices, required=False, help_text="What was seen.")
        direction = StrictChoice(
            choices=[str(one) for one in Direction], required=False, help_text="As the house sees it."
        )
        amount = Amount(required=False)
        note = StrictText(
            max_length=1000, required=False, default="", allow_blank=True,
            help_text="What was said. It is sealed; the audit trail has its hash only.",
        )  # fmt: skip

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """Check that what was seen is said as a whole. Raises ValidationError."""
            said = [name for name in ("place", "kind", "direction", "amount") if name in attrs]
            if len(said) not in (0, 4):
                raise serializers.ValidationError("place, kind, direction and amount are said together.")
            return attrs

    sensitive = True
    roles = WATCHES
    readers = _JUDGES
    versioned = False
    redact_fields = frozenset({"note"})
    input = Input
    model = LogLine
    serializer_class = Row
    filters = {"player": "player__ref", "unknown_person": "unknown_person__number", "day": "day", "place": "place"}
    numbers = frozenset({"unknown_person"})
    time = "entered_at"

    def rows(self) -> Any:
        """With whom they name, and the events of their transactions."""
        return lines.with_trades(super().rows())

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Enter."""
        seen = None
        if "place" in data:
            seen = lines.Seen(data["place"], data["kind"], data["direction"], data["amount"])
        return lines.enter(
            command=command, unknown_person=data.get("unknown_person"), player=data.get("player"),
            capacity=Capacity(data["capacity"]), trade=data.get("trade"), seen=seen, note=data["note"],
        )  # fmt: skip


@documented(
    "withdrawLogLine", summary="Withdraw a line of the log", answers=LogLineOut, tag=TAG,
    refuses=["not_found", "log_line_withdrawn"],
)  # fmt: skip
class WithdrawLogLine(WriteOperation):
    """The line was wrong: it stays with the reason, and counts no more. No If-Match: it is withdrawn once."""

    @extend_schema_serializer(component_name="WithdrawLogLineInput")
    class Input(StrictInput):
        """Why."""

        reason = Reason()

    roles = _JUDGES
    versioned = False
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Withdraw."""
        return lines.withdraw(command=command, number=path["line"], reason=data["reason"])


# --- Returns ---------------------------------------------------------------------------------------------------------


class FilingPart(serializers.Serializer[Any]):
    """A return that was filed."""

    filing = number_of("the filing, from 1 without gaps")
    trade = serializers.CharField(help_text=_TRADE)
    return_number = serializers.CharField(help_text="Number of the return, as the authority has given it.")
    filed_on = serializers.DateField(help_text="When it was filed.")
    filed_by = login_of("noted it")
    filed_at = serializers.DateTimeField(help_text="When that was noted.")
    approval = number_of("the approval")


class FilingOut(FilingPart):
    """The filing, and its receipt."""

    audit = ReceiptOut()


@documented("listFilings", summary="List returns that were filed", tag=TAG, method="get")
@documented(
    "noteFiling", summary="Note the number of a return that was filed", answers=FilingOut, status=201, tag=TAG,
    method="post", refuses=["not_found", "filed_already", "filed_later"],
)  # fmt: skip
class Filings(WriteOperation, CursorList):
    """A return about a transaction was filed with the authority, once. A manager approves it (`approval_required`), who
    reads no person in it. Report A17 shows the number. Reports of suspicion are no returns: those are sealed. No
    If-Match: it is new."""

    @extend_schema_serializer(component_name="FilingListRow")
    class Row(FilingPart):
        """A filing in the list."""

        def to_representation(self, instance: Filing) -> dict[str, Any]:
            """The same members as in the answers of writes."""
            return filings.describe(instance, getattr(instance, "trade"))  # noqa: B009 - annotated by `rows`

    @extend_schema_serializer(component_name="NoteFilingInput")
    class Input(StrictInput):
        """The transaction, and the number and date of the return."""

        trade = StrictPattern(lines.TRADE, help_text=_TRADE)
        return_number = StrictPattern(
            r"^[A-Za-z0-9][A-Za-z0-9./_-]{0,39}\Z", help_text="As the authority has given it."
        )
        filed_on = serializers.DateField(help_text="When it was filed.")

    sensitive = True
    roles = (Role.COMPLIANCE,)
    readers = (Role.COMPLIANCE,)
    approvable = True
    versioned = False
    input = Input
    model = Filing
    serializer_class = Row
    filters = {"return_number": "return_number"}
    time = "filed_at"

    def rows(self) -> Any:
        """With whom they name, and the events of their transactions."""
        return lines.with_events(super().rows().select_related("filed_by"))

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Note."""
        return filings.note(command=command, **data)


# --- Rates -----------------------------------------------------------------------------------------------------------


class EuroRatePart(serializers.Serializer[Any]):
    """What one euro is in the house's currency, from a moment on."""

    rate = number_of("the rate, from 1 without gaps")
    valid_from = serializers.DateTimeField(help_text="From when on it counts, until a later one begins.")
    millionths = serializers.IntegerField(help_text="Millionths of the unit of the house's currency for one euro.")
    rate_source = serializers.CharField(help_text="Whose rate it is.")
    set_by = login_of("set it")
    set_at = serializers.DateTimeField(help_text="When it was set.")
    approval = serializers.IntegerField(
        allow_null=True, help_text="Number of the approval; null where none was needed."
    )


class EuroRateOut(EuroRatePart):
    """The rate, and its receipt."""

    audit = ReceiptOut()


@documented("listEuroRates", summary="List rates of the euro", tag=TAG, method="get")
@documented(
    "setEuroRate", summary="Set what one euro is", answers=EuroRateOut, status=201, tag=TAG, method="post",
    refuses=["house_in_euro", "rate_in_the_past"],
)  # fmt: skip
class EuroRates(WriteOperation, CursorList):
    """What one euro is in the house's currency, and whose rate that is. Report A17 shows amounts in euros by the rate
    that was in force. Once the house is live, compliance approves it. No If-Match: it is a new version."""

    @extend_schema_serializer(component_name="EuroRateListRow")
    class Row(EuroRatePart):
        """A rate in the list."""

        def to_representation(self, instance: EuroRate) -> dict[str, Any]:
            """The same members as in the answers of writes."""
            return euro.describe(instance)

    @extend_schema_serializer(component_name="SetEuroRateInput")
    class Input(StrictInput):
        """The rate, its source, from when on, and why."""

        millionths = StrictInteger(
            min_value=1, max_value=10**15,
            help_text="Millionths of the unit of the house's currency for one euro: 395.12 forint are 395120000.",
        )  # fmt: skip
        rate_source = StrictPattern(r"\S\s*\S\s*\S", min_length=3, max_length=80, help_text="Whose rate it is.")
        valid_from = StrictMoment(required=False, help_text="From when on; at once where it is left out.")
        reason = Reason()

    sensitive = False
    roles = (Role.MANAGER,)
    readers = (*SEES_BOOKS, Role.COMPLIANCE)
    approvable = True
    versioned = False
    input = Input
    model = EuroRate
    serializer_class = Row
    time = "valid_from"

    def rows(self) -> Any:
        """With whom they name."""
        return super().rows().select_related("set_by")

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Set."""
        return euro.put(
            command=command, millionths=data["millionths"], source=data["rate_source"],
            valid_from=data.get("valid_from"), reason=data["reason"],
        )  # fmt: skip


urls = [
    path("unknown-persons", UnknownPersons.as_view()),
    path("unknown-persons/<int:unknown_person>", ShowUnknownPerson.as_view()),
    path("unknown-persons/<int:unknown_person>/identify", IdentifyUnknownPerson.as_view()),
    path("transaction-log", LogLines.as_view()),
    path("transaction-log/<int:line>/withdraw", WithdrawLogLine.as_view()),
    path("filings", Filings.as_view()),
    path("euro-rates", EuroRates.as_view()),
]
