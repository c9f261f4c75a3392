"""Rights of a player over personal data: a copy of what the house holds, and being forgotten."""

from typing import Any, ClassVar

from django.http import HttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request

from casino.api.http.negotiation import AsItIs
from casino.api.http.operations import (
    ReadOperation,
    StrictChoice,
    StrictInput,
    WriteOperation,
    context_of,
    documented,
    known_parameters,
)
from casino.api.http.spoken import LANGUAGE, language_of
from casino.api.persons import TAG
from casino.api.report_runs import RunEquality
from casino.api.tables import ReceiptOut
from casino.audit.events.players import PersonalDataCopied
from casino.audit.services import record
from casino.core import locks
from casino.core.commands import Answer, Command, RequestContext
from casino.evidence import forgetting
from casino.reports import personal_data
from casino.reports.at_once import Asked
from casino.reports.frame.report import Format
from casino.staff.models import Role

#: Why a player is forgotten: the audit trail keeps it, so it is no free text.
REASONS = ("asked_by_player", "retention_over", "recorded_wrongly")


class _Copy(ReadOperation):
    """A copy in one format."""

    form: ClassVar[Format]
    media_type: ClassVar[str]
    roles = (Role.COMPLIANCE,)
    sensitive = True
    content_negotiation_class = AsItIs

    def get(self, request: Request, player: str) -> HttpResponse:
        """The file, after it was recorded that it is handed out."""
        language = language_of(known_parameters(request, LANGUAGE.name), context_of(request).house)
        by = context_of(request)
        asked = Asked(by.staff.login, self.form, language)
        content, digest = personal_data.make(by.at_the_office(), player, asked)
        _note(by, PersonalDataCopied(player=player, format=self.form, file_sha256=digest, size=len(content)))
        return HttpResponse(
            content,
            content_type=self.media_type,
            headers={
                "Content-Disposition": f'attachment; filename="{by.house.code}-{player}.{self.form}"',
                "File-SHA256": digest,
                "Cache-Control": "no-store",
            },
        )


def _note(by: RequestContext, event: PersonalDataCopied) -> None:
    """Record that a file is handed out."""
    locks.in_transaction(lambda: record(chain=by.house.chain, house=by.house, actor=by.actor, event=event))


class PersonalDataFile(serializers.Serializer[Any]):
    """The file: the same members as in the JSON file of a report."""

    head = serializers.DictField(help_text="House, player, who has asked, and the moment that it is as of.")
    sections = serializers.ListField(
        child=serializers.DictField(), help_text="`section`, `title`, `columns` and `rows` of each part."
    )
    equalities = RunEquality(many=True, help_text="Sums that must be equal.")
    reconciles = serializers.BooleanField(help_text="Whether all of them are.")


@documented(
    "copyPersonalData",
    summary="Download what the house holds on a player",
    answers={(200, "application/json"): PersonalDataFile},
    tag=TAG,
    refuses=["not_found", "wrong_terminal", "busy"],
    parameters=[LANGUAGE],
)
class PersonalDataCopy(_Copy):
    """Person, limits, exclusions, admissions, interactions, complaints, sessions, hands, accounts, movements and
    receipts of one player as one JSON file (Regulation (EU) 2016/679, Art. 15 and 20). It names nobody else. What is
    left out stands in it with its reason, the same for every player. It is made at once and kept nowhere; the audit
    trail has its SHA-256. Compliance, in the office."""

    form = Format.JSON
    media_type = "application/json"


@documented(
    "copyPersonalDataAsPdf",
    summary="Download what the house holds on a player, to be read",
    answers={(200, "application/pdf"): OpenApiTypes.BINARY},
    tag=TAG,
    refuses=["not_found", "wrong_terminal", "busy"],
    parameters=[LANGUAGE],
)
class PersonalDataPdf(_Copy):
    """The same as PDF. Where it would have more than 5,000 rows, it has a summary."""

    form = Format.PDF
    media_type = "application/pdf"


class PlayerForgottenOut(serializers.Serializer[Any]):
    """The answer when a player is forgotten."""

    player = serializers.CharField()
    last_activity = serializers.DateTimeField(help_text="When the player was last seen.")
    record_count = serializers.IntegerField(help_text="Records of the person that nobody can open any more.")
    audit = ReceiptOut()


@documented(
    "forgetPlayer",
    summary="Forget who a player was",
    answers=PlayerForgottenOut,
    tag=TAG,
    refuses=[
        "no_person", "person_forgotten", "player_seated", "player_has_chips", "minor_not_settled",
        "retention_not_over", "exclusion_in_force", "legal_hold", "wrong_terminal",
    ],
)  # fmt: skip
class ForgetPlayer(WriteOperation):
    """The key to the player's personal data is destroyed, with the stored answers about the player: nobody can read any
    more who it was. Hands, ledger and trail keep the reference. Compliance asks in the office, an auditor approves
    (`approval_required`). Refused while the player sits (`player_seated`) or is owed something (`player_has_chips`),
    while the law wants the data kept (`retention_not_over`) or an exclusion with an end is in force
    (`exclusion_in_force`; both say `until`), and under a legal hold (`legal_hold`). An exclusion without an end goes
    on: of the person marks are kept, by which a guest who returns is found again. If-Match names the version of the
    person that was read."""

    @extend_schema_serializer(component_name="ForgetPlayerInput")
    class Input(StrictInput):
        """Why."""

        reason = StrictChoice(choices=REASONS, help_text="Why the player is forgotten.")

    roles = (Role.COMPLIANCE,)
    approvable = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Forget."""
        return forgetting.erase(command=command, ref=path["player"], reason=data["reason"])


urls = [
    path("players/<slug:player>/personal-data", PersonalDataCopy.as_view()),
    path("players/<slug:player>/personal-data/file", PersonalDataPdf.as_view()),
    path("players/<slug:player>/forget", ForgetPlayer.as_view()),
]
