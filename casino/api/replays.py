"""Hands step by step, for staff and for the player of a seat; and both readings of a hand that is ruled on."""

from typing import Any, ClassVar

from django.urls import path
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.deals import OpeningOut
from casino.api.http.contract import ACTIONS
from casino.api.http.operations import ReadOperation, context_of, documented, known_parameters
from casino.api.http.shapes import HAND_SEATS, OPTIONS, RESULT, STEP_VIEW, Shaped
from casino.api.oversight import HandRecordOut, HandRuling
from casino.api.parts import minor_units
from casino.api.rulings import ReadingOut
from casino.api.seat import OF_KEYS, SeatRead, holder_of
from casino.core.errors import BadRequest
from casino.hands import comparing, openings, steps
from casino.hands import selectors as hands
from casino.hands.models import HandState, Mode
from casino.hands.readings import Claim
from casino.staff.models import Role

TAG = "oversight"
#: Most lines that a request claims, as a ruling takes them.
MOST_CLAIMS = 40
_CLAIMED = OpenApiParameter(
    "claimed", str, OpenApiParameter.QUERY,
    description="Lines that should be others, one on a line: the number, a blank and the line as records have it; the "
    "number alone where the line should not stand.",
)  # fmt: skip


class MoveOut(serializers.Serializer[Any]):
    """Money that has moved."""

    paid_by = serializers.CharField(help_text="`p1` ... or a place: `pot`, `carry`, `bank`, `kitty`, `house`.")
    paid_to = serializers.CharField(help_text="Where it went: as `paid_by`.")
    amount = minor_units("The money")
    why = serializers.CharField(help_text="Why it moved, in the words of the reference of games.")


class StepOut(serializers.Serializer[Any]):
    """A line of the log, and the table after it. Step 0 is the set-up."""

    line = serializers.IntegerField(help_text="Number of the line, from 1; 0: before the first.")
    text = serializers.CharField(allow_blank=True, help_text="The line as the viewer may know it; of step 0 empty.")
    phase = serializers.CharField(allow_blank=True, help_text="The phase in which it was said.")
    sentence = serializers.CharField(allow_blank=True, help_text="What the rules say of the phase; empty: nothing.")
    verb = serializers.CharField(allow_blank=True)
    meaning = serializers.CharField(allow_blank=True, help_text="What the verb means.")
    moves = MoveOut(many=True, help_text="Money that it has moved.")
    pot = minor_units("The pot after it")
    bank = minor_units("The bank of the seats after it")
    view = Shaped(STEP_VIEW)


class RefusedLineOut(serializers.Serializer[Any]):
    """Where the log cannot be followed further."""

    line = serializers.IntegerField(help_text="Number of the line, from 1.")
    code = serializers.CharField(help_text="The code of the refusal.")


class HandEventOut(serializers.Serializer[Any]):
    """An event of the hand in the chain of its table."""

    chain = serializers.CharField()
    seq = serializers.IntegerField()
    hash = serializers.CharField()
    kind = serializers.CharField()
    at = serializers.CharField(help_text="When it was recorded, as the event has it.")
    payload = serializers.CharField(required=False, help_text="The text that is hashed; for auditors.")


class _WithMoney(serializers.Serializer[Any]):
    """How the house writes amounts and times."""

    currency = serializers.CharField()
    currency_exponent = serializers.IntegerField(help_text="Decimal places of the currency.")
    time_zone = serializers.CharField(help_text="IANA name of the house's time zone.")


class ReplayOut(_WithMoney):
    """A hand step by step, with what proves it."""

    hand = serializers.CharField()
    table = serializers.CharField()
    state = serializers.ChoiceField(choices=HandState.choices)
    mode = serializers.ChoiceField(choices=Mode.choices)
    game = serializers.CharField()
    rules = serializers.CharField()
    options = Shaped(OPTIONS)
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    settled_at = serializers.DateTimeField(allow_null=True)
    viewer = serializers.CharField(help_text="Whose view it is: `auditor`, `public`, or the player's seat (`p2`).")
    you = serializers.CharField(required=False, help_text="The player's seat of the hand.")
    seats = Shaped(HAND_SEATS)
    stacks = serializers.ListField(child=serializers.IntegerField(), help_text="Stacks at the start, in play order.")
    carry = minor_units("Money carried into the hand")
    steps = StepOut(many=True, help_text="The start, then every line.")
    refused = RefusedLineOut(allow_null=True)
    result = Shaped(RESULT, allow_null=True)
    ruling = HandRuling(allow_null=True)
    settlement = serializers.IntegerField(allow_null=True, help_text="Ledger transaction that has paid; null: none.")
    commitment = serializers.CharField(allow_null=True)
    client_seeds = serializers.DictField(child=serializers.CharField())
    cards_roots = serializers.ListField(child=serializers.CharField())
    openings = OpeningOut(many=True, help_text="Of the cards that the viewer may know; of an auditor, those of all.")
    events = HandEventOut(many=True, help_text="The events of the hand, the oldest first.")
    record = HandRecordOut(required=False, help_text="The record of a hand that is over; for auditors.")


@documented(
    "readReplay", summary="Replay a hand", answers=ReplayOut, tag=TAG, refuses=["not_found", "archive_unreadable"],
)  # fmt: skip
class Replay(ReadOperation):
    """A hand line by line: what each line means, the money that it moves, the table after it; and its events, with
    which it is proved. Auditors see every card of a hand that is over, and get its record and the text of its events;
    others see what everybody at the table saw, as of every hand in play."""

    sensitive = True
    roles: ClassVar[tuple[Role, ...]] = (Role.AUDITOR, Role.FLOOR, Role.MANAGER, Role.SURVEILLANCE)

    def get(self, request: Request, hand: str) -> Response:
        """The steps."""
        by = context_of(request)
        return Response(steps.for_staff(hands.get(by.house, hand), is_auditor=by.role == Role.AUDITOR))


class SeatHandRow(serializers.Serializer[Any]):
    """A hand that was dealt to the seat."""

    hand = serializers.CharField(source="name")
    state = serializers.ChoiceField(choices=HandState.choices)
    started_at = serializers.DateTimeField()
    net = serializers.SerializerMethodField(help_text="What the seat has won or lost, minor units; null: not known.")

    def get_net(self, hand: Any) -> int | None:
        """The seat's own."""
        number = openings.number_of(hand, self.context["seating"])
        return None if hand.result is None else int(hand.result["net"][number - 1])


class SeatHandsOut(_WithMoney):
    """The player's hands at this seat."""

    hands = SeatHandRow(many=True, help_text="The newest first.")


@documented(
    "listSeatHands", summary="List one's own hands", answers=SeatHandsOut, tag="seat", refuses=[*OF_KEYS],
)  # fmt: skip
class SeatHands(SeatRead):
    """The newest hands that were dealt to the player's seat since its key was issued, at most a hundred."""

    MOST = 100

    def get(self, request: Request) -> Response:
        """The hands."""
        holder = holder_of(request)
        found = openings.hands_of(holder.seating, holder.since)[: self.MOST]
        rows = SeatHandRow(found, many=True, context={"seating": holder.seating})
        return Response({"hands": rows.data} | steps.money_of(holder.table.house))


@documented(
    "readSeatReplay", summary="Replay one's own hand", answers=ReplayOut, tag="seat", refuses=[*OF_KEYS, "not_found"],
)  # fmt: skip
class SeatReplay(SeatRead):
    """A hand of the player line by line, with the player's own cards and those that everybody saw. Only hands dealt to
    the seat since the key was issued are shown."""

    def get(self, request: Request, hand: str) -> Response:
        """The steps."""
        holder = holder_of(request)
        return Response(steps.for_player(holder.seating, holder.since, hand))


class DivisionOut(serializers.Serializer[Any]):
    """How a reading divides the frozen pot."""

    awards = serializers.ListField(child=serializers.IntegerField(), help_text="By seat, in play order, minor units.")
    tax = minor_units("The house's tax")
    left = minor_units("What it leaves to nobody, such as a pot that would be carried")


class ComparedOut(ReadingOut):
    """What a hand comes to by one reading, and how that divides its pot."""

    division = DivisionOut(
        allow_null=True, help_text="Null: there is no result, nothing is frozen, or the pot alone does not settle it."
    )


class BothLinesOut(serializers.Serializer[Any]):
    """A line in both readings; null where a reading does not have it."""

    line = serializers.IntegerField()
    recorded = serializers.CharField(allow_null=True)
    recorded_pot = serializers.IntegerField(allow_null=True, help_text="The pot after it, minor units.")
    claimed = serializers.CharField(allow_null=True)
    claimed_pot = serializers.IntegerField(allow_null=True, help_text="The pot after it, minor units.")
    same = serializers.BooleanField(help_text="Whether both have the same line and the same pot.")


class DisputeOut(serializers.Serializer[Any]):
    """A dispute of a hand."""

    at = serializers.DateTimeField()
    by = serializers.CharField(
        allow_blank=True, help_text="Login of the person; empty: its replay differed, or its bonus was refused."
    )
    before = serializers.CharField(allow_blank=True, help_text="State of the hand until then; empty as `by` is.")


class RefundableOut(serializers.Serializer[Any]):
    """What a later ruling may still refund."""

    tax = minor_units("Tax of the hand")
    fees = serializers.ListField(child=serializers.IntegerField(), help_text="Fee of each seat, minor units.")


class BothOut(serializers.Serializer[Any]):
    """Both readings of a hand, side by side."""

    hand = serializers.CharField()
    table = serializers.CharField()
    state = serializers.ChoiceField(choices=HandState.choices)
    seats = Shaped(HAND_SEATS)
    pot = minor_units("What is frozen and can be divided")
    most_tax = minor_units("The most tax that can be taken of it")
    put_in = serializers.ListField(child=serializers.IntegerField(), help_text="In the pot by seat, minor units.")
    stacks = serializers.ListField(child=serializers.IntegerField(), help_text="Stacks now by seat, minor units.")
    dispute = DisputeOut(allow_null=True, help_text="Null: it was never disputed, or that was withdrawn.")
    dealt_by = serializers.CharField(allow_null=True, help_text="Login of the dealer, who does not rule on it.")
    came_to = serializers.ListField(
        child=serializers.IntegerField(), allow_null=True,
        help_text="What each seat has won or lost, once the money has moved, minor units.",
    )  # fmt: skip
    left = RefundableOut(allow_null=True)
    recorded = ComparedOut()
    claimed = ComparedOut(required=False)
    lines = BothLinesOut(many=True, help_text="Every line of the longer reading; none where cards do not open.")


@documented(
    "compareReadings", summary="Compare both readings of a hand", answers=BothOut, tag=TAG, parameters=[_CLAIMED],
    refuses=["not_found", "hand_in_play", "no_such_line", *ACTIONS],
)  # fmt: skip
class Both(ReadOperation):
    """A hand as it is recorded beside what somebody claims: line by line, what each seat would get, and what a ruling
    can divide. Nothing is decided. Refused while the hand is being played (`hand_in_play`)."""

    sensitive = True
    roles: ClassVar[tuple[Role, ...]] = (Role.FLOOR, Role.MANAGER, Role.AUDITOR, Role.SURVEILLANCE)

    def get(self, request: Request, hand: str) -> Response:
        """Both readings."""
        asked = known_parameters(request, "claimed")
        return Response(comparing.of(context_of(request).house, hand, _claims(asked.get("claimed", ""))))


def _claims(text: str) -> list[Claim]:
    """The lines of the parameter. Raises BadRequest."""
    found = []
    for line in text.splitlines():
        number, _, words = line.strip().partition(" ")
        if not number:
            continue
        if not (number.isascii() and number.isdecimal() and len(number) <= 5 and int(number) and len(words) <= 160):
            raise _unreadable("Each line of claimed is the number of a line, and the words that should stand there.")
        found.append(Claim(int(number), words.strip()))
    if len({claim.line for claim in found}) < len(found) or len(found) > MOST_CLAIMS:
        raise _unreadable(f"claimed names each line once, at most {MOST_CLAIMS} lines.")
    return found


def _unreadable(detail: str) -> BadRequest:
    return BadRequest(detail, code="invalid_parameter", parameters=["claimed"])


urls = [
    path("hands/<slug:hand>/replay", Replay.as_view()),
    path("hands/<slug:hand>/readings", Both.as_view()),
    path("seat/hands", SeatHands.as_view()),
    path("seat/hands/<slug:hand>/replay", SeatReplay.as_view()),
]
