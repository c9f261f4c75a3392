"""Paper: receipts of players with their proofs, statements, slips of the house; every printing is a counted copy."""

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from casino.api.http.lists import CursorList
from casino.api.http.negotiation import AsItIs
from casino.api.http.operations import (
    ReadOperation,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictText,
    WriteOperation,
    context_of,
    documented,
    known_parameters,
    signed_in,
)
from casino.api.parts import number_of
from casino.api.seat import OF_KEYS, HasSeat, SeatKeyAuthentication, SeatRead, holder_of
from casino.api.tables import ReceiptOut
from casino.core.commands import Answer, Command
from casino.core.languages import NAMES
from casino.reports.models import PrintForm, Printout
from casino.reports.printing import files, services
from casino.reports.printing.documents import OF_PLAYERS, PRINTERS
from casino.staff.models import Role

TAG = "prints"
PDF = "application/pdf"
_FILE = {(200, PDF): OpenApiTypes.BINARY}
#: Who lists what was printed.
LISTERS = (Role.AUDITOR, Role.MANAGER, Role.CAGE_SUPERVISOR)


class About(serializers.Serializer[Any]):
    """What a printout is about: an event, or a player's statement."""

    chain = serializers.CharField(required=False, help_text="Chain of the event.")
    seq = serializers.CharField(required=False, help_text="Number of the event in its chain.")
    player = serializers.CharField(required=False, help_text="The player, where it is about one.")
    paper = serializers.CharField(required=False, help_text="`winnings`, where it is a certificate of winnings.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """With the two members whose names are words of Python."""
        days = {name: serializers.CharField(required=False, help_text=text) for name, text in _DAYS.items()}
        return {**super().get_fields(), **days}


_DAYS = {
    "from": "First gaming day of a statement; without it from the founding.",
    "until": "Last gaming day of a statement; without it up to now.",
}


class PrintoutOut(serializers.Serializer[Any]):
    """A document that was printed."""

    printout = number_of("the printout, from 1")
    document = serializers.CharField(help_text="What was printed: the same name for every copy of it.")
    copy = number_of("the copy; 1 is the original")
    form = serializers.ChoiceField(choices=PrintForm.choices, help_text="What it is: a slip of 80 mm, or pages.")
    language = serializers.ChoiceField(choices=list(NAMES), help_text="Language of its words, ISO 639-1.")
    about = About(help_text="What it is about.")
    printed_by = serializers.CharField(help_text="Login of the person, or the player at whose seat it was asked for.")
    printed_at = serializers.DateTimeField(help_text="When it was asked for.")


class PrintedOut(PrintoutOut):
    """A document that has just been printed."""

    audit = ReceiptOut()


class PrintoutRow(PrintoutOut):
    """A printout in a list."""

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """The same members as in the other answers."""
        return services.describe(instance)


def form_of() -> StrictChoice:
    """The member that says what is printed on."""
    return StrictChoice(choices=PrintForm.choices, default=PrintForm.SLIP, help_text="A slip of 80 mm, or pages.")


def language_of() -> StrictChoice:
    """The member that says in which language it is."""
    return StrictChoice(
        choices=list(NAMES), default=None, allow_null=True,
        help_text="Language of its words, ISO 639-1; null: the first of the house's languages that there is.",
    )  # fmt: skip


def paper_of(data: dict[str, Any]) -> services.Kind:
    """What is printed on, and in which language."""
    return services.Kind(data["form"], data["language"])


def paper_kind() -> StrictChoice:
    """The member that says what is printed of a player."""
    return StrictChoice(
        choices=[services.STATEMENT, services.WINNINGS], default=services.STATEMENT,
        help_text="`statement`, or `winnings`: the certificate of what was won and lost at tables.",
    )  # fmt: skip


def day_of(name: str) -> StrictText:
    """The member that names a day of a statement."""
    return StrictText(max_length=10, default=None, allow_null=True, help_text=_DAYS[name])


def period_of(data: dict[str, Any]) -> dict[str, str]:
    """The period of a statement as filters have it."""
    given = {"from": data["first_day"], "until": data["last_day"]}
    return {name: day for name, day in given.items() if day is not None}


@documented(
    "printDocument", summary="Print a receipt or a slip", answers=PrintedOut, status=201, tag=TAG,
    refuses=["not_found", "no_paper", "player_of_hand"],
)  # fmt: skip
class PrintDocument(WriteOperation):
    """The paper of an event, which its receipt names: a receipt for a player, a slip of a fill, a credit, a soft count,
    a Z slip, an X reading, a hand that was voided or ruled on. The first printing is the original; every later one says
    which copy it is. A cashier or dealer prints what was recorded where the terminal stands. It is in the language
    that is asked for, or that of the house. `GET prints/{printout}/file` is the paper, with its proof, as soon as the
    log has the event. Needs no If-Match: nothing is changed."""

    @extend_schema_serializer(component_name="PrintDocumentInput")
    class Input(StrictInput):
        """The event, and of a hand the player whose receipt it is."""

        chain = StrictText(max_length=80)
        seq = StrictInteger(min_value=1, max_value=10**15)
        player = StrictText(
            max_length=32,
            default=None,
            allow_null=True,
            help_text="Whose receipt of a hand it is; null: the house's slip of a void or a ruling, or no hand.",
        )
        form = form_of()
        language = language_of()

    roles = PRINTERS
    versioned = False
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Print."""
        named = {name: data[name] for name in ("chain", "seq", "player")}
        return services.print_event(command=command, paper=paper_of(data), **named)


@documented(
    "printStatement", summary="Print the statement of a player", answers=PrintedOut, status=201, tag=TAG,
    refuses=["not_found", "report_filter"],
)  # fmt: skip
class PrintStatement(WriteOperation):
    """What a player has with the house: before the period, what came and went, and what is left; or the certificate of
    what the player has won and lost in hands, by gaming day and table (`winnings`). Printed again before
    anything else has moved, it is a copy. Needs no If-Match: nothing is changed."""

    @extend_schema_serializer(component_name="PrintStatementInput")
    class Input(StrictInput):
        """The player and the period."""

        player = StrictText(max_length=32)
        paper = paper_kind()
        first_day = day_of("from")
        last_day = day_of("until")
        form = form_of()
        language = language_of()

    roles = OF_PLAYERS
    versioned = False
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Print."""
        return services.print_statement(
            command=command, player=data["player"], what=data["paper"], period=period_of(data), paper=paper_of(data)
        )  # fmt: skip


@documented("listPrints", summary="List what was printed", tag=TAG)
class Prints(CursorList):
    """Every printing of every document, with the copy that it is. `from` and `until` select by the time at which it was
    asked for."""

    sensitive = True
    roles = LISTERS
    model = Printout
    serializer_class = PrintoutRow
    filters = {"document": "document", "printed_by": "printed_by"}
    time = "printed_at"

    def rows(self) -> Any:
        """Those of the house."""
        return services.visible(signed_in(self.request)[0].house)


@documented(
    "readPrint", summary="Download what was printed", answers=_FILE, tag=TAG,
    refuses=["not_found", "wrong_terminal", "not_in_the_log_yet", "no_paper", "player_of_hand"],
)  # fmt: skip
class PrintFile(ReadOperation):
    """The paper as a PDF, with the proof that its event is in the house's log, and QR codes of both. Refused for the
    second or so until the sequencer has taken the event (`not_in_the_log_yet`). Whether you may print it is checked
    again."""

    sensitive = True
    roles = PRINTERS
    content_negotiation_class = AsItIs

    def get(self, request: Request, printout: int) -> HttpResponse:
        """The file."""
        known_parameters(request)
        return _file(request, services.readable(context_of(request), printout))


@documented(
    "printAtSeat", summary="Print one's own receipt or statement", answers=PrintedOut, status=201, tag="seat",
    refuses=[*OF_KEYS, "not_found", "report_filter"],
)  # fmt: skip
class SeatPrint(APIView):
    """The receipt of a hand that the player has played at this table, or without `hand` the player's statement or
    certificate of winnings. The first printing is the original; every later one says which copy it is.
    `GET seat/prints/{printout}/file` is the paper."""

    authentication_classes = [SeatKeyAuthentication]
    permission_classes = [HasSeat]

    @extend_schema_serializer(component_name="SeatPrintInput")
    class Input(StrictInput):
        """The hand, or the period of the statement."""

        hand = StrictText(max_length=48, default=None, allow_null=True, help_text="The hand; null: the statement.")
        paper = paper_kind()
        first_day = day_of("from")
        last_day = day_of("until")
        form = StrictChoice(choices=PrintForm.choices, help_text="A slip of 80 mm, or pages.")
        language = language_of()

    input = Input

    def post(self, request: Request) -> Response:
        """Print."""
        given = self.input(data=request.data)
        given.is_valid(raise_exception=True)
        data = given.validated_data
        request_id: str = request.request_id  # type: ignore[attr-defined]
        printed = services.print_at_seat(
            holder=holder_of(request), request_id=request_id, hand=data["hand"], what=data["paper"],
            period=period_of(data), paper=paper_of(data),
        )  # fmt: skip
        return Response(printed, 201)


@documented(
    "readSeatPrint", summary="Download one's own printout", answers=_FILE, tag="seat",
    refuses=[*OF_KEYS, "not_found", "not_in_the_log_yet"],
)  # fmt: skip
class SeatPrintFile(SeatRead):
    """The paper as a PDF, of a printout that is about the player."""

    content_negotiation_class = AsItIs

    def get(self, request: Request, printout: int) -> HttpResponse:
        """The file."""
        known_parameters(request)
        return _file(request, services.of_seat(holder_of(request), printout))


def _file(request: Request, row: Printout) -> HttpResponse:
    root = settings.CASINO_ADDRESS or request.build_absolute_uri("/").rstrip("/")
    name = f"{row.house.code}-print-{row.number}.pdf"
    return HttpResponse(
        files.content_of(row, root), content_type=PDF,
        headers={"Content-Disposition": f'inline; filename="{name}"', "Cache-Control": "private, no-store"},
    )  # fmt: skip


urls = [
    path("prints", Prints.as_view()),
    path("prints/documents", PrintDocument.as_view()),
    path("prints/statements", PrintStatement.as_view()),
    path("prints/<int:printout>/file", PrintFile.as_view()),
    path("seat/prints", SeatPrint.as_view()),
    path("seat/prints/<int:printout>/file", SeatPrintFile.as_view()),
]
