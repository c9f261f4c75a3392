"""Complaints, and legal holds."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    ReadOperation,
    Reason,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictPattern,
    StrictText,
    WriteOperation,
    context_of,
    documented,
    known_parameters,
)
from casino.api.parts import login_of
from casino.api.tables import ReceiptOut
from casino.core.commands import Answer, Command
from casino.evidence import complaints, holds
from casino.evidence.models import Complaint, ComplaintKind, ComplaintState, HoldScope, LegalHold, Outcome
from casino.staff.models import CODE, Role

TAG = "evidence"
#: Who takes complaints, who answers them, and who reads them besides.
TAKE = (Role.FLOOR, Role.COMPLIANCE, Role.MANAGER)
ANSWER = (Role.COMPLIANCE, Role.MANAGER)
READ = (*TAKE, Role.AUDITOR)
HOLDS = (Role.COMPLIANCE, Role.MANAGER, Role.AUDITOR)
_DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}\Z"
_AT_A_STEP = ("not_found", "wrong_terminal", "complaint_state")


class _Video(StrictText):
    """Camera and time, as the room's recorder names them."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            **{
                "max_length": 100,
                "required": False,
                "help_text": "Where the video shows it: camera and time; video is kept for at least 45 days.",
                **kwargs,
            }
        )


@extend_schema_serializer(component_name="ComplaintHandInput")
class HandNamed(StrictInput):
    """A hand."""

    hand = StrictText(max_length=48)
    video = _Video()


@extend_schema_serializer(component_name="ComplaintEntryInput")
class EntryNamed(StrictInput):
    """An entry of a drawer: the number of its event in the drawer's chain, which its receipt has."""

    drawer = StrictPattern(CODE)
    seq = StrictInteger(min_value=1, max_value=10**12)
    video = _Video()


class FrozenEvidence(serializers.Serializer[Any]):
    """A hand, or an entry of a drawer, as it was frozen."""

    hand = serializers.CharField(required=False, help_text="Name of the hand; absent for an entry of a drawer.")
    drawer = serializers.CharField(required=False, help_text="Code of the drawer; absent for a hand.")
    chain = serializers.CharField()
    first_seq = serializers.IntegerField(help_text="Number in the chain of its first event.")
    last_seq = serializers.IntegerField(help_text="Number of its last event when the complaint was opened.")
    leaf_hash = serializers.CharField(help_text="Leaf hash of that event, hexadecimal.")
    record_sha256 = serializers.CharField(
        required=False, allow_null=True, help_text="SHA-256 of the hand's record; null if it was not over."
    )
    kind = serializers.CharField(required=False, help_text="Kind of the drawer's event; absent for a hand.")
    player = serializers.CharField(
        required=False, allow_null=True, help_text="The player whom the drawer's event names; null for nobody."
    )
    video = serializers.CharField(allow_blank=True, help_text="Where the video shows it; empty: nobody has said.")


class ComplaintPart(serializers.Serializer[Any]):
    """A complaint without its texts."""

    number = serializers.IntegerField(help_text="Its number in the house, from 1 without gaps.")
    version = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=ComplaintKind.choices, help_text="What it is about.")
    player = serializers.CharField(allow_null=True, help_text="The player who complains; null for anybody else.")
    received_at = serializers.DateTimeField(help_text="When it reached the house.")
    due_at = serializers.DateTimeField(help_text="Until when it must be answered.")
    evidence = FrozenEvidence(many=True, help_text="What was frozen when it was opened.")
    state = serializers.ChoiceField(choices=ComplaintState.choices, help_text="How far it is.")
    opened_by = login_of("opened it")
    opened_at = serializers.DateTimeField()
    answered_by = login_of("answered it", allow_null=True)
    answered_at = serializers.DateTimeField(allow_null=True, help_text="When it was answered; null before.")
    adr = serializers.CharField(
        allow_blank=True, help_text="The body for alternative dispute resolution to which it has gone; empty for none."
    )
    escalated_by = login_of("escalated it", allow_null=True)
    escalated_at = serializers.DateTimeField(allow_null=True, help_text="When it was escalated; null before.")
    outcome = serializers.ChoiceField(
        choices=Outcome.choices, allow_blank=True, help_text="What became of it; empty while it is not closed."
    )
    ended_by = login_of("closed it", allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True, help_text="When it was closed; null before.")


class ComplaintOut(serializers.Serializer[Any]):
    """A complaint after a step, without its texts."""

    complaint = ComplaintPart(help_text="The complaint.")
    audit = ReceiptOut()


class ComplaintStepText(serializers.Serializer[Any]):
    """What was written with one step."""

    state = serializers.ChoiceField(choices=ComplaintState.choices, help_text="The state that the step led to.")
    text = serializers.CharField(help_text="What was written.")


class ComplaintDetailOut(ComplaintPart):
    """A complaint with its texts."""

    texts = ComplaintStepText(many=True, help_text="In the order of the steps.")


class _Written(StrictText):
    """What is sealed with a step."""

    def __init__(self) -> None:
        super().__init__(min_length=3, max_length=4000, help_text="What is written; it is sealed.")


@documented("listComplaints", summary="List complaints", tag=TAG, method="get")
@documented(
    "openComplaint",
    summary="Open a complaint",
    answers=ComplaintOut,
    status=201,
    tag=TAG,
    method="post",
    refuses=["not_found", "wrong_terminal", "complaint_time"],
)
class Complaints(WriteOperation, CursorList):
    """A complaint gets the next number of the house and a day by which it must be answered. Hands and entries of
    drawers that it names are frozen as evidence, and a legal hold keeps them until it is closed. Its text is sealed.
    No If-Match: the complaint does not exist yet. In the list, `from` and `until` select by the time when complaints
    reached the house."""

    @extend_schema_serializer(component_name="ComplaintListRow")
    class Row(ComplaintPart):
        """A complaint in a list."""

        def to_representation(self, instance: Complaint) -> dict[str, Any]:
            """The same members as in the other answers."""
            return complaints.describe(instance)

    @extend_schema_serializer(component_name="OpenComplaintInput")
    class Input(StrictInput):
        """What it is about, who complains, since when, what it says, and the evidence."""

        kind = StrictChoice(choices=ComplaintKind.values, help_text="What it is about.")
        player = StrictText(max_length=32, required=False)
        received_at = serializers.DateTimeField(required=False, help_text="When it reached the house; absent: now.")
        text = _Written()
        hands = HandNamed(many=True, required=False, help_text="Hands that it is about.")
        entries = EntryNamed(many=True, required=False, help_text="Entries of drawers that it is about.")

    sensitive = True
    roles = TAKE
    readers = READ
    versioned = False
    redact_body = True
    input = Input
    model = Complaint
    serializer_class = Row
    filters = {"state": "state", "kind": "kind"}
    choices = {"state": tuple(ComplaintState.values), "kind": tuple(ComplaintKind.values)}
    time = "arrived_at"

    def rows(self) -> Any:
        """With what a row names."""
        named = ("player", "opened_by", "answered_by", "escalated_by", "ended_by")
        return super().rows().select_related(*named)

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Open."""
        return complaints.open_complaint(
            command=command,
            kind=data["kind"],
            player=data.get("player"),
            arrived_at=data.get("received_at"),
            text=data["text"],
            hands=data.get("hands", ()),
            entries=data.get("entries", ()),
        )


@documented(
    "readComplaint",
    summary="Read a complaint",
    answers=ComplaintDetailOut,
    tag=TAG,
    refuses=["not_found", "wrong_terminal"],
    etag=True,
)
class ComplaintDetail(ReadOperation):
    """A complaint with everything that was written."""

    sensitive = True
    roles = READ

    def get(self, request: Request, complaint: int) -> Response:
        """The complaint."""
        known_parameters(request)
        found = complaints.read(context=context_of(request), number=complaint)
        return Response(found, headers={"ETag": f'"{found["version"]}"', "Cache-Control": "no-store"})


@documented("answerComplaint", summary="Answer a complaint", answers=ComplaintOut, tag=TAG, refuses=_AT_A_STEP)
class AnswerComplaint(WriteOperation):
    """The house's answer, which is sealed. Each complaint is answered once."""

    @extend_schema_serializer(component_name="AnswerComplaintInput")
    class Input(StrictInput):
        """The answer."""

        text = _Written()

    roles = ANSWER
    redact_body = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Answer."""
        return complaints.answer(command=command, number=path["complaint"], text=data["text"])


@documented("escalateComplaint", summary="Escalate a complaint", answers=ComplaintOut, tag=TAG, refuses=_AT_A_STEP)
class EscalateComplaint(WriteOperation):
    """The complaint has gone to a body for alternative dispute resolution, answered or not."""

    @extend_schema_serializer(component_name="EscalateComplaintInput")
    class Input(StrictInput):
        """To whom, and what is to be said about it."""

        adr = StrictText(min_length=2, max_length=120, help_text="Name of the body.")
        text = _Written()

    roles = TAKE
    redact_body = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Escalate."""
        return complaints.escalate(command=command, number=path["complaint"], adr=data["adr"], text=data["text"])


@documented(
    "closeComplaint",
    summary="Close a complaint",
    answers=ComplaintOut,
    tag=TAG,
    refuses=[*_AT_A_STEP, "complaint_not_answered"],
)
class CloseComplaint(WriteOperation):
    """The complaint ends, and its legal hold with it. One that nobody has answered ends only as `settled` or
    `withdrawn`."""

    @extend_schema_serializer(component_name="CloseComplaintInput")
    class Input(StrictInput):
        """What became of it, and why."""

        outcome = StrictChoice(choices=Outcome.values, help_text="What became of it.")
        text = _Written()

    roles = ANSWER
    redact_body = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Close."""
        return complaints.close(command=command, number=path["complaint"], outcome=data["outcome"], text=data["text"])


# --- Legal holds ------------------------------------------------------------------------------------------------------


class HoldPart(serializers.Serializer[Any]):
    """A legal hold."""

    number = serializers.IntegerField(help_text="Its number in the house, from 1 without gaps.")
    version = serializers.IntegerField()
    scope = serializers.ChoiceField(choices=HoldScope.choices, help_text="What it covers.")
    player = serializers.CharField(allow_null=True, help_text="The player; null for another scope.")
    hand = serializers.CharField(allow_null=True, help_text="The hand; null for another scope.")
    complaint = serializers.IntegerField(allow_null=True, help_text="The complaint; null for another scope.")
    first_day = serializers.CharField(allow_blank=True, help_text="The first gaming day; empty for another scope.")
    last_day = serializers.CharField(allow_blank=True, help_text="The last gaming day; empty for another scope.")
    reason = serializers.CharField()
    set_by = login_of("asked for it, or opened the complaint")
    lifted_by = login_of("asked for its end, or closed the complaint", allow_null=True)
    lifted_reason = serializers.CharField(allow_blank=True, help_text="Why it was lifted; empty while in force.")


class HoldOut(serializers.Serializer[Any]):
    """A legal hold after a write."""

    hold = HoldPart(help_text="The hold.")
    audit = ReceiptOut()


@documented("listLegalHolds", summary="List legal holds", tag=TAG, method="get")
@documented(
    "setLegalHold",
    summary="Set a legal hold",
    answers=HoldOut,
    status=201,
    tag=TAG,
    method="post",
    refuses=["not_found", "hold_scope"],
)
class LegalHolds(WriteOperation, CursorList):
    """Nothing of what a hold covers is deleted: neither by retention, nor the keys to persons' data. A manager approves
    it (`approval_required`). No If-Match: the hold does not exist yet. In the list, `from` and `until` select by the
    time when holds were set."""

    @extend_schema_serializer(component_name="LegalHoldListRow")
    class Row(HoldPart):
        """A hold in a list, with its times."""

        set_at = serializers.DateTimeField(help_text="When it was set.")
        lifted_at = serializers.DateTimeField(allow_null=True, help_text="When it was lifted; null while in force.")

        def to_representation(self, instance: LegalHold) -> dict[str, Any]:
            """The hold with its times."""
            return holds.describe(instance) | {"set_at": instance.set_at, "lifted_at": instance.lifted_at}

    @extend_schema_serializer(component_name="SetLegalHoldInput")
    class Input(StrictInput):
        """What it covers, and why: a player, a hand, gaming days from one to another, or the house."""

        scope = StrictChoice(
            choices=[scope for scope in HoldScope.values if scope != HoldScope.COMPLAINT], help_text="What it covers."
        )
        player = StrictText(max_length=32, required=False)
        hand = StrictText(max_length=48, required=False)
        first_day = StrictPattern(_DAY, required=False, help_text="The first gaming day.")
        last_day = StrictPattern(_DAY, required=False, help_text="The last gaming day.")
        reason = Reason()

    sensitive = True
    roles = (Role.COMPLIANCE,)
    readers = HOLDS
    versioned = False
    approvable = True
    input = Input
    model = LegalHold
    serializer_class = Row
    filters = {"scope": "scope", "player": "player__ref"}
    choices = {"scope": tuple(HoldScope.values)}
    time = "set_at"

    def rows(self) -> Any:
        """With what a row names."""
        return super().rows().select_related("player", "hand", "complaint", "set_by", "lifted_by")

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Set."""
        return holds.set_hold(
            command=command,
            scope=data["scope"],
            player=data.get("player"),
            hand=data.get("hand"),
            first_day=data.get("first_day", ""),
            last_day=data.get("last_day", ""),
            reason=data["reason"],
        )


@documented(
    "liftLegalHold",
    summary="Lift a legal hold",
    answers=HoldOut,
    tag=TAG,
    refuses=["not_found", "hold_lifted", "hold_of_complaint"],
)
class LiftLegalHold(WriteOperation):
    """The hold ends. A manager approves it (`approval_required`). That of a complaint ends when the complaint is
    closed."""

    @extend_schema_serializer(component_name="LiftLegalHoldInput")
    class Input(StrictInput):
        """Why."""

        reason = Reason()

    roles = (Role.COMPLIANCE,)
    approvable = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Lift."""
        return holds.lift(command=command, number=path["legal_hold"], reason=data["reason"])


urls = [
    path("complaints", Complaints.as_view()),
    path("complaints/<int:complaint>", ComplaintDetail.as_view()),
    path("complaints/<int:complaint>/answer", AnswerComplaint.as_view()),
    path("complaints/<int:complaint>/escalate", EscalateComplaint.as_view()),
    path("complaints/<int:complaint>/close", CloseComplaint.as_view()),
    path("legal-holds", LegalHolds.as_view()),
    path("legal-holds/<int:legal_hold>/lift", LiftLegalHold.as_view()),
]
