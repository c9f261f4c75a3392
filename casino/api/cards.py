"""Cards of a real pack: entries, corrections, exceptions, deck checks."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from casino.api.hands import HandOut
from casino.api.http.contract import ACTIONS, CARDS, NOT_OPEN
from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_TABLES,
    Reason,
    ReasonInput,
    StrictInput,
    StrictInteger,
    StrictPattern,
    WriteOperation,
    context_of,
    documented,
)
from casino.api.tables import TableOut
from casino.core.commands import Answer, Command
from casino.hands import cards, corrections, exceptions, verbs
from casino.hands.cards import Entry
from casino.hands.models import CardException, ExceptionKind, HandState
from casino.staff.models import Role

TAG = "cards"
#: A refused request may name face-down cards.
_HIDDEN = frozenset({"card", "cards"})
#: Who reads what exceptions have found in a hand, once it is over.
_MAY_KNOW_CARDS = (Role.AUDITOR, Role.FLOOR)
#: Details of a card exception, by name: cards, texts, numbers.
FOUND = {"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "array", "items": {"type": "string"}}]}
_CARD = r"[2-9AKQJTOUX][a-z]"


class EntryInput(StrictInput):
    """One card: the seat, its index among the seat's cards (in the order of dealing, from 0), and the card."""

    actor = StrictPattern(r"^p[1-9]\Z")
    index = StrictInteger(min_value=0, max_value=51)
    card = StrictPattern(rf"^{_CARD}\Z")


def _entry(data: dict[str, Any]) -> Entry:
    return Entry(int(data["actor"][1:]), data["index"], data["card"])


@documented(
    "enterCards",
    summary="Enter cards",
    answers=HandOut,
    tag=TAG,
    refuses=["no_hand", "not_physical", "no_such_card", "card_known", *CARDS],
)
class EnterCards(WriteOperation):
    """Enter cards that were dealt as unknown, from a scanner or by hand, all or none. Cards that are shown later must
    agree."""

    roles = AT_TABLES
    redact_fields = _HIDDEN

    @extend_schema_serializer(component_name="EnterCardsInput")
    class Input(StrictInput):
        """The cards."""

        entries = serializers.ListField(child=EntryInput(), min_length=1, max_length=40)

        def validate_entries(self, entries: list[dict[str, Any]]) -> list[Entry]:
            """Each card once."""
            found = [_entry(entry) for entry in entries]
            if len({(entry.seat, entry.index) for entry in found}) < len(found):
                raise serializers.ValidationError("Each index of a seat is named once.")
            return found

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Enter."""
        return cards.enter(command=command, code=path["table"], entries=data["entries"])


@documented(
    "correctCards",
    summary="Correct cards",
    answers=HandOut,
    tag=TAG,
    refuses=[
        "no_hand",
        "not_physical",
        "no_such_card",
        "no_such_entry",
        "no_such_line",
        "no_card_line",
        "nothing_corrected",
        "correction_changes_play",
        *CARDS,
        *ACTIONS,
    ],
)
class CorrectCards(WriteOperation):
    """Correct the cards of a line of the hand in play, or an entered card. Money, turn and legal actions must not
    change. Only the floor may do this.
    """

    roles = (Role.FLOOR,)
    redact_fields = _HIDDEN

    @extend_schema_serializer(component_name="CorrectCardsInput")
    class Input(StrictInput):
        """The line of the log (from 1) and its cards, or the entry; and the reason, which the audit trail keeps."""

        line = StrictInteger(min_value=1, max_value=20_000, required=False)
        cards = StrictPattern(rf"^({_CARD}|\?\?){{1,{verbs.MOST_CARDS}}}\Z", required=False)
        entry = EntryInput(required=False)
        reason = Reason()

        def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
            """One of the two."""
            named = attrs.keys() - {"reason"}
            if named not in ({"line", "cards"}, {"entry"}):
                raise serializers.ValidationError("Name a line and its cards, or an entry.")
            return attrs

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Correct."""
        if "entry" in data:
            return corrections.correct_entry(
                command=command, code=path["table"], entry=_entry(data["entry"]), reason=data["reason"]
            )
        return corrections.correct_line(
            command=command, code=path["table"], line=data["line"], named=data["cards"], reason=data["reason"]
        )


@documented(
    "checkDeck",
    summary="Check the deck",
    answers=TableOut,
    tag=TAG,
    refuses=[*NOT_OPEN, *CARDS],
)
class CheckDeck(WriteOperation):
    """Enter all cards of the table's pack, in any order. Each must be there once. Missing and duplicate cards are kept
    as a card exception.
    """

    roles = AT_TABLES

    @extend_schema_serializer(component_name="CheckDeckInput")
    class Input(StrictInput):
        """The cards, two characters each."""

        cards = StrictPattern(rf"^({_CARD}){{1,120}}\Z")

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Check."""
        return exceptions.check_deck(command=command, code=path["table"], cards=data["cards"])


@documented(
    "clearCardException",
    summary="Clear a card exception",
    answers=TableOut,
    tag=TAG,
    refuses=["already_cleared", "table_playing", "table_settling", "table_disputed"],
)
class ClearException(WriteOperation):
    """Clear an exception, with a reason that explains it. The next hand can be dealt once no exception is open. Only
    the floor may do this."""

    roles = (Role.FLOOR,)

    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Clear."""
        return exceptions.clear(command=command, code=path["table"], exception=path["exception"], reason=data["reason"])


@documented("listCardExceptions", summary="List card exceptions", tag=TAG)
class CardExceptionList(CursorList):
    """Card exceptions, open and cleared. Dealers may read them too, because open ones block the next deal; what was
    found in a hand, whose cards may be face down for ever, is shown to floor and auditor only."""

    roles = (*_MAY_KNOW_CARDS, Role.MANAGER, Role.SURVEILLANCE, Role.DEALER)
    time = "found_at"
    sensitive = True

    @extend_schema_serializer(component_name="CardExceptionRow")
    class Row(serializers.ModelSerializer[CardException]):
        """An exception of cards."""

        exception = serializers.IntegerField(source="number", help_text="Its number among those of the table.")
        table = serializers.CharField(source="table.code")
        hand = serializers.CharField(source="hand.name", allow_null=True, default=None)
        kind = serializers.ChoiceField(choices=ExceptionKind.choices)
        found = serializers.SerializerMethodField()

        class Meta:
            model = CardException
            fields = ("exception", "table", "hand", "kind", "found", "found_at", "cleared_at", "cleared_by", "reason")

        @extend_schema_field({"type": "object", "nullable": True, "additionalProperties": FOUND})
        def get_found(self, row: CardException) -> dict[str, Any] | None:
            """The cards. Those of a hand may be face down: hidden while it is played, from most for ever."""
            if row.hand is not None:
                role = context_of(self.context["request"]).role
                if row.hand.state == HandState.PLAYING or role not in _MAY_KNOW_CARDS:
                    return None
            return exceptions.findings(row)

    model = CardException
    serializer_class = Row
    filters = {"table": "table__code"}

    def get_queryset(self) -> Any:
        """With tables and hands."""
        found = super().get_queryset()
        return found if found is None else found.select_related("table", "hand")


urls = [
    path("tables/<slug:table>/hand/cards", EnterCards.as_view()),
    path("tables/<slug:table>/hand/corrections", CorrectCards.as_view()),
    path("tables/<slug:table>/deck-check", CheckDeck.as_view()),
    path("tables/<slug:table>/exceptions/<int:exception>/clear", ClearException.as_view()),
    path("exceptions/cards", CardExceptionList.as_view()),
]
