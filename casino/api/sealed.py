"""The sealed register of compliance. For everybody else nothing is at its addresses."""

from typing import Any

from django.http import HttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.complaints import EntryNamed, FrozenEvidence, HandNamed
from casino.api.http.negotiation import AsItIs
from casino.api.http.operations import (
    ReadOperation,
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
from casino.api.http.permissions import SealedFromOthers
from casino.api.http.spoken import LANGUAGE, language_of
from casino.api.parts import login_of
from casino.api.tables import ReceiptOut
from casino.core.commands import Answer, Command
from casino.evidence import register
from casino.evidence.register import Step, What
from casino.reports import suspicion
from casino.staff.models import Role

TAG = "sealed"
_WRITTEN = tuple(map(str, (What.CASE, What.STEP, What.NOTE)))


class SealedCase(serializers.Serializer[Any]):
    """A case and how far it is."""

    case = serializers.IntegerField(help_text="Its number: that of the entry that began it.")
    opened_at = serializers.DateTimeField()
    opened_by = login_of("opened it")
    player = serializers.CharField(allow_null=True, help_text="The player; null for somebody without a reference.")
    is_open = serializers.BooleanField(help_text="Whether its newest step does not close it.")
    newest_step = serializers.CharField(allow_blank=True, help_text="Its newest step; empty where there is none.")
    filed_id = serializers.CharField(allow_blank=True, help_text="Under which it was filed; empty before.")
    suspended_until = serializers.CharField(allow_blank=True, help_text="Until when; empty where nothing is suspended.")


class SealedNote(serializers.Serializer[Any]):
    """A note that belongs to no case."""

    entry = serializers.IntegerField(help_text="Number of the entry.")
    at = serializers.DateTimeField()
    by = login_of("wrote it")
    text = serializers.CharField(help_text="What was written.")


class SealedLook(serializers.Serializer[Any]):
    """Somebody has looked at the register."""

    entry = serializers.IntegerField(help_text="Number of the entry.")
    when = serializers.DateTimeField(help_text="When somebody looked.")
    by = login_of("looked")
    looked_at = serializers.CharField(help_text="`register`, `entry N` or `file N`.")


class SealedRegisterOut(serializers.Serializer[Any]):
    """The whole register."""

    cases = SealedCase(many=True, help_text="Every case, by number.")
    notes = SealedNote(many=True, help_text="Every note.")
    looks = SealedLook(many=True, help_text="Who has looked at it.")


class SealedStep(serializers.Serializer[Any]):
    """A step of a case."""

    entry = serializers.IntegerField(help_text="Number of the entry.")
    at = serializers.DateTimeField()
    by = login_of("wrote it")
    step = serializers.ChoiceField(choices=[str(step) for step in Step], help_text="What it says.")
    text = serializers.CharField(help_text="What was written.")
    filed_id = serializers.CharField(allow_blank=True, help_text="Under which it was filed.")
    day = serializers.CharField(allow_blank=True, help_text="Day of the filing, or until when it is suspended.")
    evidence = FrozenEvidence(many=True, help_text="What was frozen with it.")


class SealedCaseOut(SealedCase):
    """A case with its steps, or a note, which has none."""

    what = serializers.ChoiceField(choices=[str(What.CASE), str(What.NOTE)], help_text="What it is.")

    text = serializers.CharField(help_text="The facts.")
    person = serializers.DictField(
        child=serializers.CharField(), allow_null=True, help_text="The person as recorded then; null for nobody."
    )
    evidence = FrozenEvidence(many=True, help_text="What was frozen when it was opened.")
    steps = SealedStep(many=True, help_text="In their order.")


class SealedEntryOut(serializers.Serializer[Any]):
    """The answer to every entry."""

    entry = serializers.IntegerField(help_text="Number of the entry.")
    audit = ReceiptOut()


@documented(
    "readSealed", summary="Read the sealed register", answers=SealedRegisterOut, tag=TAG, method="get",
    refuses=["not_found", "wrong_terminal"],
)  # fmt: skip
@documented(
    "writeSealed",
    summary="Write into the sealed register",
    answers=SealedEntryOut,
    status=201,
    tag=TAG,
    method="post",
    refuses=["not_found", "wrong_terminal", "sealed_refused"],
)
class Sealed(WriteOperation, ReadOperation):
    """A case of suspicion, a step of one, or a note. Every entry is sealed under a key of its own. The audit trail has
    its number and hash, and the same of every look at the register, so that nobody else learns what was done. No
    If-Match: entries have no version."""

    @extend_schema_serializer(component_name="WriteSealedInput")
    class Input(StrictInput):
        """A case: `text` with the facts, and `player`, `hands` and `entries`. A step: `case` and `step`, with
        `filed_id` and `filed_day`. A note: `text`."""

        what = StrictChoice(choices=_WRITTEN, help_text="What it is.")
        text = StrictText(min_length=3, max_length=4000, help_text="What is written.")
        case = StrictInteger(min_value=1, max_value=10**9, required=False, help_text="Number of the case.")
        player = StrictText(max_length=32, required=False)
        step = StrictChoice(choices=[str(step) for step in Step], required=False, help_text="What the step says.")
        filed_id = StrictText(max_length=64, required=False, help_text="Under which it was filed.")
        filed_day = StrictPattern(
            r"^[0-9]{4}-[0-9]{2}-[0-9]{2}\Z", required=False,
            help_text="Day of the filing, or until when the transaction is suspended.",
        )  # fmt: skip
        hands = HandNamed(many=True, required=False, help_text="Hands to be frozen as evidence.")
        entries = EntryNamed(many=True, required=False, help_text="Entries of drawers to be frozen as evidence.")

    permission_classes = [SealedFromOthers]
    roles = (Role.COMPLIANCE,)
    sensitive = True
    versioned = False
    redact_body = True
    input = Input

    def note_read(self, request: Request) -> None:
        """As an entry of the register."""
        register.look(context_of(request), "register")

    def get(self, request: Request) -> Response:
        """The register."""
        known_parameters(request)
        house = context_of(request).at_the_office()
        found = {"cases": register.cases(house), "notes": register.notes(house), "looks": register.looks(house)}
        return Response(found, headers={"Cache-Control": "no-store"})

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Write."""
        return register.enter(
            command=command,
            what=data["what"],
            text=data["text"],
            case=data.get("case"),
            player=data.get("player"),
            step=data.get("step"),
            hands=data.get("hands", ()),
            entries=data.get("entries", ()),
            filed_id=data.get("filed_id", ""),
            day=data.get("filed_day", ""),
        )


@documented(
    "readSealedCase", summary="Read what one entry of the sealed register began", answers=SealedCaseOut, tag=TAG,
    refuses=["not_found", "wrong_terminal"],
)  # fmt: skip
class SealedCaseDetail(ReadOperation):
    """A case with its facts, the person as recorded when it was opened, its steps and evidence; or a note. That this
    address is read says nothing about which it is."""

    permission_classes = [SealedFromOthers]
    roles = (Role.COMPLIANCE,)
    sensitive = True

    def note_read(self, request: Request) -> None:
        """When it is known that there is something, before it is shown."""

    def get(self, request: Request, sealed: int) -> Response:
        """What it began."""
        known_parameters(request)
        by = context_of(request)
        found = register.whole(by.at_the_office(), sealed)
        register.look(by, f"entry {sealed}")
        return Response(found, headers={"Cache-Control": "no-store"})


@documented(
    "readSealedReport",
    summary="Download one entry of the sealed register as a file",
    answers={(200, "application/pdf"): OpenApiTypes.BINARY},
    tag=TAG,
    refuses=["not_found", "wrong_terminal", "busy"],
    parameters=[LANGUAGE],
)
class SealedReport(ReadOperation):
    """A case (the report of a suspicion, A20) or a note as PDF, made at once and kept nowhere. The register keeps its
    SHA-256."""

    permission_classes = [SealedFromOthers]
    roles = (Role.COMPLIANCE,)
    sensitive = True
    content_negotiation_class = AsItIs

    def note_read(self, request: Request) -> None:
        """Together with the file's hash, before it is sent."""

    def get(self, request: Request, sealed: int) -> HttpResponse:
        """The file."""
        asked = known_parameters(request, LANGUAGE.name)
        by = context_of(request)
        language = language_of(asked, by.house)
        content, digest = suspicion.make(by.at_the_office(), sealed, by.staff.login, language)
        register.look(by, f"file {sealed}", digest)
        return HttpResponse(
            content,
            content_type="application/pdf",
            headers={
                "Content-Disposition": f'attachment; filename="{by.house.code}-{sealed}.pdf"',
                "File-SHA256": digest,
                "Cache-Control": "no-store",
            },
        )


urls = [
    path("sealed", Sealed.as_view()),
    path("sealed/<int:sealed>", SealedCaseDetail.as_view()),
    path("sealed/<int:sealed>/file", SealedReport.as_view()),
]
