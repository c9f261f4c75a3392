"""Decisions on the money of hands: large bonuses, disputes and their pots, and hands that prove to be wrong later."""

from typing import Any, ClassVar

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.contract import ACTIONS, CHANGE, POSTS
from casino.api.http.operations import (
    Amount,
    ReadOperation,
    Reason,
    ReasonInput,
    StrictInput,
    StrictInteger,
    StrictPattern,
    StrictText,
    WriteOperation,
    context_of,
    documented,
)
from casino.api.oversight import HandResult, HandRuling
from casino.api.tables import TableOut
from casino.core.commands import Answer, Command
from casino.hands import bonus, disputes, later_rulings, ruling, rulings_read, withdrawals
from casino.hands.later_rulings import Collected, Remedy
from casino.hands.models import HandState
from casino.hands.readings import Claim
from casino.staff.models import Role

TAG = "dealer"


@documented(
    "confirmBonus",
    summary="Confirm a bonus that waits",
    answers=TableOut,
    tag=TAG,
    refuses=["no_bonus_held", "bonus_differs", "bonus_refused"],
)
class ConfirmBonus(WriteOperation):
    """Confirm that the cards bear out the bonus of a hand that waits for its approval (state `awaiting_approval`).
    Only the floor may do this, and a manager approves it first (`approval_required`); then the worker settles the
    hand."""

    roles = (Role.FLOOR,)
    approvable = True

    @extend_schema_serializer(component_name="ConfirmBonusInput")
    class Input(StrictInput):
        """The hand, and the bonuses of all its seats together, in minor units."""

        hand = StrictText(min_length=1, max_length=48)
        bonus = Amount()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Confirm."""
        return bonus.confirm(command=command, code=path["table"], name=data["hand"], bonus=data["bonus"])


@documented(
    "refuseBonus",
    summary="Refuse a bonus that waits",
    answers=TableOut,
    tag=TAG,
    refuses=["no_bonus_held", *POSTS],
)
class RefuseBonus(WriteOperation):
    """Refuse the bonus of a hand that waits for its approval: nothing is paid, the pot is frozen, and the hand is ruled
    on or voided. Only the floor may do this."""

    roles = (Role.FLOOR,)
    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Refuse."""
        return bonus.refuse(command=command, code=path["table"], reason=data["reason"])


@documented(
    "disputeHand",
    summary="Dispute a hand",
    answers=TableOut,
    tag=TAG,
    refuses=["table_open", "table_closed", "table_retired", "table_disputed", "other_hand", *POSTS],
)
class DisputeHand(WriteOperation):
    """Stop a hand in play, or one that is over and not settled. Nobody acts in it any more, no clock runs, and it is
    not settled: its pot is frozen until the floor rules on the hand, voids it or withdraws the dispute. The request
    needs no If-Match: whatever was played until it arrives belongs to the hand."""

    roles = (Role.FLOOR,)
    versioned = False

    @extend_schema_serializer(component_name="DisputeHandInput")
    class Input(StrictInput):
        """The hand, and why it is disputed, in words that the audit trail keeps."""

        hand = StrictText(min_length=1, max_length=48)
        reason = Reason()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Dispute."""
        return disputes.raise_dispute(command=command, code=path["table"], name=data["hand"], reason=data["reason"])


@documented(
    "withdrawDispute",
    summary="Withdraw a dispute",
    answers=TableOut,
    tag=TAG,
    refuses=[
        "table_open",
        "table_closed",
        "table_playing",
        "table_settling",
        "table_retired",
        "other_hand",
        "dispute_not_raised",
        "not_your_dispute",
        *POSTS,
    ],
)
class WithdrawDispute(WriteOperation):
    """Let a hand that the floor has disputed go on as if it had not been. The frozen pot goes back, and the hand is in
    the state that it had before: it is played on, with the whole time to act for the seat whose turn it is, or it waits
    for its settlement or for the approval of its bonus. Only the person who has disputed the hand may do this, or a
    manager. A hand that a worker has stopped, and one whose bonus was refused, is ruled on or voided
    (`dispute_not_raised`)."""

    roles = (Role.FLOOR, Role.MANAGER)

    @extend_schema_serializer(component_name="WithdrawDisputeInput")
    class Input(StrictInput):
        """The hand, and why its dispute is withdrawn, in words that the audit trail keeps."""

        hand = StrictText(min_length=1, max_length=48)
        reason = Reason()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Withdraw."""
        return withdrawals.withdraw(command=command, code=path["table"], name=data["hand"], reason=data["reason"])


class Award(StrictInput):
    """What one seat of the hand gets, in minor units."""

    actor = StrictPattern(r"^p[1-9]\Z")
    amount = Amount()


class ClaimInput(StrictInput):
    """Words that should stand in a line of the log, from 1; empty where the line should not stand. The number after the
    last line adds one."""

    line = StrictInteger(min_value=1, max_value=20_000)
    text = StrictText(allow_blank=True, max_length=160)

    def to_internal_value(self, data: Any) -> Any:
        """A claim."""
        return Claim(**super().to_internal_value(data))


def _by_seat(awards: list[dict[str, Any]]) -> dict[str, int]:
    """Awards by seat, each of which is named once. Raises ValidationError."""
    found = {award["actor"]: award["amount"] for award in awards}
    if len(found) < len(awards):
        raise serializers.ValidationError("Each seat is named once.")
    return found


class RulingInput(StrictInput):
    """What every ruling has: the lines that somebody claims should stand in the log instead, and the reason, which the
    audit trail keeps. A claim names cards only as everybody has seen them."""

    claimed = serializers.ListField(child=ClaimInput(), max_length=40, required=False)
    reason = Reason()

    def validate_claimed(self, claims: list[Claim]) -> list[Claim]:
        """Each line once."""
        if len({claim.line for claim in claims}) < len(claims):
            raise serializers.ValidationError("Each line is named once.")
        return claims


@documented(
    "ruleOnHand",
    summary="Rule on a disputed hand",
    answers=TableOut,
    tag=TAG,
    refuses=[
        "table_open",
        "table_closed",
        "table_playing",
        "table_settling",
        "no_hand",
        "other_hand",
        *POSTS,
        *CHANGE,
        *ACTIONS,
        "four_eyes",
        "no_such_line",
        "pot_empty",
        "no_such_seat",
        "awards_do_not_add_up",
        "tax_too_high",
    ],
)
class RuleOnHand(WriteOperation):
    """Divide the pot of a disputed hand between its seats, less the house tax. The floor asks, but not the person who
    dealt the hand, and a manager approves it first (`approval_required`). The ruling keeps what the hand comes to as it
    was recorded, and as it is claimed."""

    roles = (Role.FLOOR,)
    approvable = True

    @extend_schema_serializer(component_name="RuleOnHandInput")
    class Input(RulingInput):
        """The hand, the awards, and the tax (0 for none). Awards and tax add up to the pot."""

        hand = StrictText(min_length=1, max_length=48)
        awards = serializers.ListField(child=Award(), min_length=1, max_length=9)
        tax = Amount(min_value=0)

        def validate_awards(self, awards: list[dict[str, Any]]) -> dict[str, int]:
            """Each seat once."""
            return _by_seat(awards)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Rule."""
        return ruling.rule(
            command=command,
            code=path["table"],
            name=data["hand"],
            awards=data["awards"],
            tax=data["tax"],
            claims=data.get("claimed", []),
            reason=data["reason"],
        )


class CollectedInput(StrictInput):
    """What one seat of the hand gives another one, in minor units, and how it has consented."""

    loser = StrictPattern(r"^p[1-9]\Z")
    winner = StrictPattern(r"^p[1-9]\Z")
    amount = Amount()
    consent = Reason()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Two seats."""
        if attrs["loser"] == attrs["winner"]:
            raise serializers.ValidationError({"winner": ["Another seat than the loser."]})
        return attrs


@documented(
    "ruleOnHandLater",
    summary="Rule on a hand whose money has moved",
    answers=TableOut,
    tag=TAG,
    refuses=[
        "table_closed",
        "table_playing",
        "table_settling",
        "table_disputed",
        "table_retired",
        "hand_not_over",
        "not_seated",
        *POSTS,
        *CHANGE,
        *ACTIONS,
        "four_eyes",
        "no_such_line",
        "no_such_seat",
        "refund_too_high",
    ],
)
class RuleOnHandLater(WriteOperation):
    """Rule on a hand that was settled, or ruled on before; what was decided first stays. From the table's tray the
    house refunds tax and fees for seats and makes good what cannot be taken back; a winner gives back with consent.
    Everybody whom it concerns sits at the table, between two hands. The floor asks, but not the person who dealt the
    hand, and a manager approves it first (`approval_required`). A ruling may move nothing."""

    roles = (Role.FLOOR,)
    approvable = True

    @extend_schema_serializer(component_name="RuleOnHandLaterInput")
    class Input(RulingInput):
        """Tax and fees to be refunded, losses to be made good, and what seats give back."""

        tax_refunded = serializers.ListField(child=Award(), max_length=9, required=False)
        fee_refunded = serializers.ListField(child=Award(), max_length=9, required=False)
        made_good = serializers.ListField(child=Award(), max_length=9, required=False)
        collected = serializers.ListField(child=CollectedInput(), max_length=36, required=False)

        def validate_tax_refunded(self, awards: list[dict[str, Any]]) -> dict[str, int]:
            """Each seat once."""
            return _by_seat(awards)

        def validate_fee_refunded(self, awards: list[dict[str, Any]]) -> dict[str, int]:
            """Each seat once."""
            return _by_seat(awards)

        def validate_made_good(self, awards: list[dict[str, Any]]) -> dict[str, int]:
            """Each seat once."""
            return _by_seat(awards)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Rule."""
        remedy = Remedy(
            tax_refunded=data.get("tax_refunded", {}),
            fee_refunded=data.get("fee_refunded", {}),
            made_good=data.get("made_good", {}),
            collected=[Collected(**one) for one in data.get("collected", [])],
        )
        return later_rulings.rule(
            command=command,
            code=path["table"],
            name=path["hand"],
            remedy=remedy,
            claims=data.get("claimed", []),
            reason=data["reason"],
        )


class ClaimOut(serializers.Serializer[Any]):
    """A line of the log as it is claimed."""

    line = serializers.IntegerField(help_text="Number of the line, from 1.")
    text = serializers.CharField(allow_blank=True, help_text="What should stand there; empty: nothing.")


class RefusedOut(serializers.Serializer[Any]):
    """Where replay refuses a reading."""

    line = serializers.IntegerField(help_text="Number of the line, from 1; 0: none in particular.")
    code = serializers.CharField(help_text="The code of the refusal.")


class ReadingOut(serializers.Serializer[Any]):
    """What a hand comes to by one reading of its log."""

    lines = ClaimOut(many=True, required=False, help_text="The lines that are claimed to be others.")
    result = HandResult(allow_null=True)
    refused = RefusedOut(allow_null=True)


class ReadingsOut(serializers.Serializer[Any]):
    """Both readings of a hand."""

    recorded = ReadingOut()
    claimed = ReadingOut(required=False)


class CollectedOut(serializers.Serializer[Any]):
    """What a seat has given another one."""

    loser = serializers.CharField(help_text="Seat of the hand that gives.")
    winner = serializers.CharField(help_text="Seat of the hand that gets.")
    amount = serializers.IntegerField()
    consent = serializers.CharField(help_text="How the seat that gives has consented.")


class FirstRulingOut(HandRuling):
    """The ruling on the disputed hand, with both readings."""

    readings = ReadingsOut()


class LaterRulingOut(serializers.Serializer[Any]):
    """A ruling on a hand whose money had moved."""

    ruling = serializers.IntegerField(help_text="Number of the ruling of this hand, from 1.")
    tax_refunded = serializers.DictField(child=serializers.IntegerField(), help_text="Tax paid back, by seat.")
    fee_refunded = serializers.DictField(child=serializers.IntegerField(), help_text="Fees paid back, by seat.")
    made_good = serializers.DictField(child=serializers.IntegerField(), help_text="What the house has borne, by seat.")
    collected = CollectedOut(many=True)
    readings = ReadingsOut()
    reason = serializers.CharField()
    settlement = serializers.IntegerField(allow_null=True)
    at = serializers.DateTimeField()


class AskedOut(ReadingOut):
    """A reading that an approval asks for, which nobody has decided yet."""

    approval = serializers.IntegerField(help_text="Number of the approval.")


class RulingsOut(serializers.Serializer[Any]):
    """Everything that was, or is to be, decided on a hand."""

    hand = serializers.CharField()
    table = serializers.CharField()
    state = serializers.ChoiceField(choices=HandState.choices)
    stored = HandResult(allow_null=True, help_text="The result as it was stored at the end of the hand.")
    recorded = ReadingOut()
    asked = AskedOut(many=True)
    ruling = FirstRulingOut(allow_null=True)
    later = LaterRulingOut(many=True)


@documented(
    "readRulings",
    summary="Read the rulings on a hand",
    answers=RulingsOut,
    tag="oversight",
    refuses=["not_found", "hand_in_play"],
)
class Rulings(ReadOperation):
    """The readings of a hand and the rulings on it: what it comes to as recorded, as rulings that wait for an approval
    claim, and what was decided. Refused while the hand is being played (`hand_in_play`)."""

    sensitive = False
    roles: ClassVar[tuple[Role, ...]] = (Role.FLOOR, Role.MANAGER, Role.AUDITOR, Role.SURVEILLANCE)

    def get(self, request: Request, hand: str) -> Response:
        """Readings and rulings."""
        return Response(rulings_read.of(context_of(request).house, hand))


urls = [
    path("tables/<slug:table>/hand/bonus", ConfirmBonus.as_view()),
    path("tables/<slug:table>/hand/bonus/refuse", RefuseBonus.as_view()),
    path("tables/<slug:table>/hand/dispute", DisputeHand.as_view()),
    path("tables/<slug:table>/hand/dispute/withdraw", WithdrawDispute.as_view()),
    path("tables/<slug:table>/hand/ruling", RuleOnHand.as_view()),
    path("tables/<slug:table>/hands/<slug:hand>/rulings", RuleOnHandLater.as_view()),
    path("hands/<slug:hand>/rulings", Rulings.as_view()),
]
