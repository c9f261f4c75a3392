"""Duties to players: exclusions, admission by the gaming day, limits, interactions."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.lists import CursorList
from casino.api.http.operations import (
    AT_TABLES,
    AT_THE_CAGE,
    Reading,
    ReadOperation,
    StrictBoolean,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictMoment,
    StrictText,
    WriteOperation,
    documented,
    known_parameters,
    signed_in,
    whole_number,
)
from casino.api.persons import Birthday
from casino.api.tables import ReceiptOut
from casino.core.commands import Answer, Command
from casino.safeguards import admissions, exclusions, interactions, limits, reality, unnamed
from casino.safeguards.models import (
    AgeBand,
    AskedBy,
    Document,
    Exclusion,
    ExclusionKind,
    Interaction,
    InteractionKind,
    LiftCause,
    LimitKind,
    PlayerLimit,
    RealityCheck,
    Scope,
    Span,
)
from casino.staff.models import Role

TAG = "safeguards"
#: Who hears a player's wish, and writes it down.
HEARS = (Role.FLOOR, Role.CAGE_SUPERVISOR, Role.COMPLIANCE)


def _note() -> StrictText:
    return StrictText(
        max_length=1000, required=False, default="",
        help_text="What was said about it. It is sealed; the audit trail has its hash only.",
    )  # fmt: skip


# --- Exclusions -----------------------------------------------------------------------------------------------------


class TermsOfExclusion(StrictInput):
    """Who wants an exclusion, what it is from, until when, and what was said about it."""

    kind = StrictChoice(choices=ExclusionKind.choices, help_text="Who wants it.")
    scope = StrictChoice(choices=Scope.choices)
    asked_by = StrictChoice(choices=AskedBy.choices)
    in_person = StrictBoolean(help_text="Whether that was asked for in person.")
    until = StrictMoment(allow_null=True, help_text="Its end; null: none.")
    note = _note()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that the player asks for what is the player's wish."""
        if (attrs["kind"] == ExclusionKind.SELF) != (attrs["asked_by"] == AskedBy.PLAYER):
            raise serializers.ValidationError({"asked_by": ["The player asks for what is of the kind self."]})
        return attrs


def _terms(data: dict[str, Any]) -> dict[str, Any]:
    """What the services are given of the terms."""
    return {
        "kind": ExclusionKind(data["kind"]), "scope": Scope(data["scope"]), "asked_by": AskedBy(data["asked_by"]),
        "in_person": data["in_person"], "until": data["until"], "note": data["note"],
    }  # fmt: skip


class ExcludedPerson(StrictInput):
    """By what somebody is found again. Only marks of it are kept."""

    name = StrictText(min_length=1, max_length=200)
    born = Birthday()
    document = StrictText(min_length=1, max_length=64, required=False)
    birth_name = StrictText(min_length=1, max_length=200, required=False)


class ExclusionPart(serializers.Serializer[Any]):
    """An exclusion of a player, or of somebody of whom the house has marks only."""

    exclusion = serializers.IntegerField(help_text="Its number in the house, from 1 without gaps.")
    player = serializers.CharField(allow_null=True, help_text="The player; null for somebody without a reference.")
    kind = serializers.ChoiceField(choices=ExclusionKind.choices, help_text="Who wants it.")
    scope = serializers.ChoiceField(choices=Scope.choices, help_text="What the player is excluded from.")
    asked_by = serializers.ChoiceField(choices=AskedBy.choices, help_text="Who has asked for it.")
    in_person = serializers.BooleanField(help_text="Whether that was asked for in person.")
    set_at = serializers.DateTimeField(help_text="From when on it counts.")
    set_by = serializers.CharField(help_text="Login of the person who entered it.")
    until = serializers.DateTimeField(
        allow_null=True,
        help_text="Its end; of one of kind `self` the end of its term, after which it lasts until it is lifted. Null: "
        "none.",
    )
    lift_asked_at = serializers.DateTimeField(allow_null=True, help_text="When its end was asked for; null before.")
    lift_asked_by = serializers.CharField(allow_null=True, help_text="Login of the person who noted that.")
    lifted_at = serializers.DateTimeField(allow_null=True, help_text="When it was lifted; null before.")
    lifted_by = serializers.CharField(allow_null=True, help_text="Login of the person who lifted it.")
    lift_cause = serializers.ChoiceField(
        choices=LiftCause.choices, allow_blank=True, help_text="Why it was lifted; empty before."
    )


class ExclusionOut(ExclusionPart):
    """The exclusion, and the receipt of its change."""

    audit = ReceiptOut()


@documented("excludePlayer", summary="Exclude a player", answers=ExclusionOut, status=201, tag=TAG,
            refuses=["exclusion_too_short", "exclusion_in_the_past"])  # fmt: skip
class ExcludePlayer(WriteOperation):
    """The player is excluded at once: no seat, no chips, no tip, no further hand. Chips, deposits and held payouts are
    paid out as ever. At the player's own wish (`self`) for six months or longer (`exclusion_too_short`). Another
    exclusion may be in force; each lasts by itself. No If-Match: there is no version."""

    @extend_schema_serializer(component_name="ExcludePlayerInput")
    class Input(TermsOfExclusion):
        """Who wants it, what it is from, until when, and what was said about it."""

    roles = HEARS
    versioned = False
    redact_fields = frozenset({"note"})
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Exclude."""
        return exclusions.exclude(command=command, ref=path["player"], **_terms(data))


@documented("askToLiftExclusion", summary="Note that the end of an exclusion was asked for", answers=ExclusionOut,
            tag=TAG, refuses=["exclusion_lifted", "lift_asked_already"])  # fmt: skip
class AskToLift(WriteOperation):
    """It may be lifted 24 hours later. No If-Match: there is no version."""

    roles = HEARS
    versioned = False

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Note."""
        return exclusions.ask_to_lift(command=command, number=path["exclusion"])


@documented("liftExclusion", summary="Lift an exclusion", answers=ExclusionOut, tag=TAG,
            refuses=["exclusion_lifted", "lift_not_asked", "lift_too_early", "minor_not_settled"])  # fmt: skip
class LiftExclusion(WriteOperation):
    """Compliance lifts it, a manager approves (`approval_required`): 24 hours after that was asked for, and not before
    the term of an exclusion of kind `self` is over (`lift_too_early`). A wrong entry is lifted at once. The row stays.
    No If-Match: there is no version."""

    @extend_schema_serializer(component_name="LiftExclusionInput")
    class Input(StrictInput):
        """Why."""

        cause = StrictChoice(choices=LiftCause.choices, help_text="Why it is lifted.")

    roles = (Role.COMPLIANCE,)
    versioned = False
    approvable = True
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Lift."""
        return exclusions.lift(command=command, number=path["exclusion"], cause=LiftCause(data["cause"]))


class MatchClearedOut(serializers.Serializer[Any]):
    """What counts for a player no more, and the receipt."""

    exclusion = serializers.IntegerField(help_text="Number of the exclusion.")
    player = serializers.CharField()
    audit = ReceiptOut()


@documented("clearExclusionMatch", summary="Clear a match of an exclusion", answers=MatchClearedOut, tag=TAG,
            refuses=["match_cleared", "wrong_terminal"])  # fmt: skip
class ClearMatch(WriteOperation):
    """The player is another person than the one who is excluded, although a mark is the same: a name and a birthday, or
    a number of a document. Compliance clears it, a manager approves (`approval_required`). The exclusion stays, and
    these two are matched no more. No If-Match: there is no version."""

    roles = (Role.COMPLIANCE,)
    versioned = False
    approvable = True

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Clear."""
        return unnamed.clear_match(command=command, number=path["exclusion"], ref=path["player"])


class _Matched(serializers.Serializer[Any]):
    """Whom the marks of an exclusion have matched."""

    matched = serializers.ListField(
        child=serializers.CharField(),
        help_text="Players for whom it counts because their recorded persons have its marks.",
    )


class PersonExcludedOut(ExclusionOut, _Matched):
    """The exclusion, whom it has matched at once, and its receipt."""


@documented("listExclusions", summary="List exclusions", tag=TAG, method="get")
@documented(
    "excludePerson", summary="Exclude a person who is no player", answers=PersonExcludedOut, status=201, tag=TAG,
    method="post", refuses=["exclusion_too_short", "exclusion_in_the_past", "wrong_terminal"],
)  # fmt: skip
class Exclusions(WriteOperation, CursorList):
    """Somebody is excluded who has no file in the house: a self-exclusion that was made elsewhere, an entry of a
    register, a decision of a court. Of the person nothing is kept but keyed marks of name, birthday and document, and
    what is said about it, sealed. Players whose recorded persons have such a mark are excluded at once (`matched`), and
    later ones when it is recorded who they are. Compliance, in the office. No If-Match: there is no version. The list
    has every exclusion there is or was, with what was said about it, for compliance; others read whether a player may
    play (`players/P/admission`)."""

    @extend_schema_serializer(component_name="ExclusionListRow")
    class Row(ExclusionPart, _Matched):
        """An exclusion in a list."""

        note = serializers.CharField(allow_blank=True, help_text="What was said about it; empty where nothing was.")

        def to_representation(self, instance: Exclusion) -> dict[str, Any]:
            """The exclusion, with its note."""
            instance.house = signed_in(self.context["request"])[0].house
            matched = sorted(one.player.ref for one in instance.matches.all() if one.cleared_at is None)
            return exclusions.describe(instance) | {"matched": matched, "note": exclusions.note_of(instance)}

    @extend_schema_serializer(component_name="ExcludePersonInput")
    class Input(TermsOfExclusion):
        """Who it is, who wants it, what it is from, until when, and what was said about it."""

        person = ExcludedPerson()

    roles = (Role.COMPLIANCE,)
    sensitive = True
    versioned = False
    redact_body = True
    input = Input
    model = Exclusion
    serializer_class = Row
    filters = {"player": "player__ref", "kind": "kind", "lifted": "lifted_at__isnull"}
    choices = {"kind": ExclusionKind.values, "lifted": ("true", "false")}
    time = "set_at"

    def rows(self) -> Any:
        """With whom they name."""
        named = super().rows().select_related("player", "set_by", "lift_asked_by", "lifted_by")
        return named.prefetch_related("matches__player")

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Exclude."""
        return unnamed.exclude(command=command, person=dict(data["person"]), **_terms(data))

    def lookup(self, name: str, value: str) -> dict[str, Any]:
        """`lifted` becomes a condition on the time of it."""
        return {self.filters[name]: value == "false" if name == "lifted" else value}


# --- Admission ------------------------------------------------------------------------------------------------------


class AdmissionOut(serializers.Serializer[Any]):
    """Whether a player may come in and play. It says nothing of why not."""

    player = serializers.CharField()
    may_enter = serializers.BooleanField(help_text="False for one who is excluded from the house.")
    may_play = serializers.BooleanField(help_text="Whether the player may be seated and sold chips.")
    excluded = serializers.BooleanField(help_text="Whether the player is excluded, be it from play only.")
    admitted = serializers.BooleanField(help_text="Whether the player was seen to be of age on this gaming day.")
    admission_required = serializers.BooleanField(help_text="Whether the house asks for that before play.")


class AdmittedOut(serializers.Serializer[Any]):
    """The admission, and its receipt."""

    player = serializers.CharField()
    day = serializers.CharField(help_text="The gaming day.")
    admitted = serializers.BooleanField(help_text="True.")
    audit = ReceiptOut()


@documented("readAdmission", summary="Read whether a player may play", answers=AdmissionOut, tag=TAG, method="get",
            refuses=["not_found"])  # fmt: skip
@documented(
    "admitPlayer", summary="Admit a player", answers=AdmittedOut, status=201, tag=TAG, method="post",
    refuses=["person_forgotten", "staff_as_player", "player_excluded", "no_day_open", "admitted_already"],
)  # fmt: skip
class AdmissionOfPlayer(WriteOperation, Reading):
    """Somebody has seen that the player is of age, and admits the player for the gaming day. The kind of the document
    and an age band are kept, no number and no date of birth. Where `admission_required` of the control points is 1,
    nobody is seated, sold chips, given a key or lets a tip go before. No If-Match: there is no version."""

    @extend_schema_serializer(component_name="AdmitPlayerInput")
    class Input(StrictInput):
        """What was seen."""

        document = StrictChoice(choices=Document.choices, help_text="Kind of the document that was seen.")
        age_band = StrictChoice(choices=AgeBand.choices, help_text="How old the player is; nobody younger is admitted.")

    roles = (Role.FLOOR, *AT_THE_CAGE)
    readers = (*AT_TABLES, *AT_THE_CAGE, Role.SURVEILLANCE, Role.COMPLIANCE, Role.MANAGER)
    sensitive = True
    versioned = False
    input = Input

    def get(self, request: Request, player: str) -> Response:
        """Yes or no."""
        known_parameters(request)
        return Response(admissions.answer(signed_in(request)[0].house, player), headers={"Cache-Control": "no-store"})

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Admit."""
        return admissions.admit(
            command=command, ref=path["player"], document=Document(data["document"]), age_band=AgeBand(data["age_band"])
        )


# --- Limits ---------------------------------------------------------------------------------------------------------


class PlayerLimitPart(serializers.Serializer[Any]):
    """A limit that a player has set."""

    number = serializers.IntegerField(help_text="Its number in the house, from 1 without gaps.")
    player = serializers.CharField()
    limit = serializers.ChoiceField(choices=LimitKind.choices, help_text="What it is a limit of.")
    span = serializers.ChoiceField(choices=Span.choices, help_text="The stretch of time that it is for.")
    most = serializers.IntegerField(
        allow_null=True, help_text="Minor units, of `time` minutes; null: no limit any more."
    )
    starts_at = serializers.DateTimeField(help_text="From when on it counts.")
    set_at = serializers.DateTimeField(help_text="When it was set.")
    set_by = serializers.CharField(help_text="Login of the person who entered it.")


class PlayerLimitOut(PlayerLimitPart):
    """The limit, and its receipt."""

    audit = ReceiptOut()


class LimitInForce(serializers.Serializer[Any]):
    """A limit that counts now."""

    limit = serializers.ChoiceField(choices=LimitKind.choices, help_text="What it is a limit of.")
    span = serializers.ChoiceField(choices=Span.choices, help_text="The stretch of time that it is for.")
    most = serializers.IntegerField(help_text="Minor units, of `time` minutes.")
    used = serializers.IntegerField(help_text="What of it is used; a loss below zero is a gain.")
    left = serializers.IntegerField(help_text="What is left of it.")


class LimitsOfPlayer(serializers.Serializer[Any]):
    """A player's limits."""

    player = serializers.CharField()
    in_force = LimitInForce(many=True, help_text="What counts now.")
    to_come = PlayerLimitPart(many=True, help_text="What waits for its 24 hours.")


@documented("readPlayerLimits", summary="Read the limits of a player", answers=LimitsOfPlayer, tag=TAG, method="get",
            refuses=["not_found"])  # fmt: skip
@documented("setPlayerLimit", summary="Set a limit of a player", answers=PlayerLimitOut, status=201, tag=TAG,
            method="post", refuses=["no_change"])  # fmt: skip
class PlayerLimits(WriteOperation, Reading):
    """A limit of losses, of what is bought in for, or of the time on a seat, for the gaming day, 7 or 30 days. A lower
    one counts at once, a higher one, or none (`most` null), 24 hours later. A sale of chips that is more than a limit
    leaves is refused (`player_limit_reached`), a seat when the time is over. No If-Match: there is no version."""

    @extend_schema_serializer(component_name="SetPlayerLimitInput")
    class Input(StrictInput):
        """What is limited, for which stretch of time, and how much it is."""

        limit = StrictChoice(choices=LimitKind.choices)
        span = StrictChoice(choices=Span.choices)
        most = StrictInteger(min_value=0, max_value=10**12, allow_null=True, help_text="Minor units, or minutes.")

    roles = (*HEARS, Role.CASHIER)
    readers = (*HEARS, Role.CASHIER)
    sensitive = True
    versioned = False
    input = Input

    def get(self, request: Request, player: str) -> Response:
        """What counts, and what waits."""
        known_parameters(request)
        return Response(limits.of_player(signed_in(request)[0].house, player), headers={"Cache-Control": "no-store"})

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Set."""
        return limits.set_limit(
            command=command, ref=path["player"], kind=LimitKind(data["limit"]), span=Span(data["span"]),
            most=data["most"],
        )  # fmt: skip


@documented("listPlayerLimits", summary="List limits of players", tag=TAG)
class PlayerLimitList(CursorList):
    """Every limit that was ever set, for compliance."""

    sensitive = True
    roles = (Role.COMPLIANCE,)

    @extend_schema_serializer(component_name="PlayerLimitListRow")
    class Row(PlayerLimitPart):
        """A limit in a list."""

        def to_representation(self, instance: PlayerLimit) -> dict[str, Any]:
            """The same members as in the answers of writes."""
            return limits.describe(instance)

    model = PlayerLimit
    serializer_class = Row
    filters = {"player": "player__ref", "limit": "kind", "span": "span"}
    choices = {"limit": LimitKind.values, "span": Span.values}
    time = "set_at"

    def rows(self) -> Any:
        """With whom they name."""
        return super().rows().select_related("player", "set_by")


# --- Time on a seat, and what was done about it ---------------------------------------------------------------------


class SeatedLong(serializers.Serializer[Any]):
    """A player who has sat for long."""

    player = serializers.CharField()
    table = serializers.CharField(help_text="Where the player sits now.")
    seat = serializers.IntegerField()
    since = serializers.DateTimeField(help_text="Since when on this seat.")
    minutes = serializers.IntegerField(help_text="Minutes on this seat.")
    minutes_in_24_h = serializers.IntegerField(help_text="Minutes on seats within 24 hours.")
    hours = serializers.IntegerField(help_text="The same in whole hours.")


class SeatedLongOut(serializers.Serializer[Any]):
    """Players who have sat for long, the longest on a seat first."""

    players = SeatedLong(many=True, help_text="Each with the seat of now.")


@documented(
    "listRealityChecks", summary="List players who have sat for long", answers=SeatedLongOut, tag=TAG,
    parameters=[OpenApiParameter("hours", int, OpenApiParameter.QUERY, description="From how many hours on; 2.")],
)  # fmt: skip
class RealityChecks(ReadOperation):
    """Players who have sat for so many hours or longer within 24 hours: the floor speaks to them, and logs it."""

    sensitive = True
    roles = (Role.FLOOR, Role.COMPLIANCE, Role.MANAGER)

    def get(self, request: Request) -> Response:
        """Read."""
        hours = whole_number(known_parameters(request, "hours"), "hours", least=0, most=24)
        house = signed_in(request)[0].house
        return Response({"players": limits.seated_long(house, 2 if hours is None else hours)})


@documented("listDueRealityChecks", summary="List reality checks that are due", tag=TAG)
class DueRealityChecks(CursorList):
    """Reality checks that the house has raised by itself, of players who still sit and to whom nobody has spoken since,
    the newest of each. Log the talk (`logInteraction`, `reality_check`), and it is done."""

    sensitive = False
    roles = (Role.DEALER, Role.FLOOR, Role.COMPLIANCE, Role.MANAGER)

    @extend_schema_serializer(component_name="RealityCheckListRow")
    class Row(serializers.Serializer[Any]):
        """A reality check in a list."""

        check = serializers.IntegerField(source="number", help_text="Its number in the house, from 1 without gaps.")
        player = serializers.CharField(source="player.ref")
        table = serializers.CharField(help_text="Where the player sat when it was raised.")
        seat = serializers.IntegerField()
        minutes = serializers.IntegerField(help_text="Minutes on seats within 24 hours, when it was raised.")
        raised_at = serializers.DateTimeField(help_text="When it was raised.")

    model = RealityCheck
    serializer_class = Row
    filters = {"player": "player__ref", "table": "table"}
    time = "raised_at"

    def rows(self) -> Any:
        """Those that are open, with whom they name."""
        house = signed_in(self.request)[0].house
        return super().rows().filter(id__in=reality.waiting(house)).select_related("player")


class InteractionPart(serializers.Serializer[Any]):
    """Something that was done to protect a player."""

    number = serializers.IntegerField(help_text="Its number in the house, from 1 without gaps.")
    player = serializers.CharField()
    interaction = serializers.ChoiceField(choices=InteractionKind.choices, help_text="What was done.")
    by = serializers.CharField(help_text="Login of the person who has done it.")


class InteractionOut(InteractionPart):
    """The interaction, and its receipt."""

    audit = ReceiptOut()


@documented("logInteraction", summary="Log an interaction with a player", answers=InteractionOut, status=201, tag=TAG)
class LogInteraction(WriteOperation):
    """What was said is sealed; compliance reads it. No If-Match: there is no version."""

    @extend_schema_serializer(component_name="LogInteractionInput")
    class Input(StrictInput):
        """What was done, and what was said."""

        interaction = StrictChoice(choices=InteractionKind.choices)
        note = _note()

    roles = (*HEARS, Role.CASHIER)
    versioned = False
    redact_fields = frozenset({"note"})
    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Log."""
        return interactions.log(
            command=command, ref=path["player"], kind=InteractionKind(data["interaction"]), note=data["note"]
        )


@documented("listInteractions", summary="List interactions with players", tag=TAG)
class InteractionList(CursorList):
    """Every interaction, with what was said, for compliance."""

    sensitive = True
    roles = (Role.COMPLIANCE,)

    @extend_schema_serializer(component_name="InteractionListRow")
    class Row(InteractionPart):
        """An interaction in a list."""

        at = serializers.DateTimeField(help_text="When it was logged.")
        note = serializers.CharField(allow_blank=True, help_text="What was said; empty where nothing was.")

        def to_representation(self, instance: Interaction) -> dict[str, Any]:
            """The interaction, with its note."""
            instance.house = signed_in(self.context["request"])[0].house
            described = interactions.describe(instance)
            return described | {"at": instance.at, "note": interactions.note_of(instance)}

    model = Interaction
    serializer_class = Row
    filters = {"player": "player__ref", "interaction": "kind"}
    choices = {"interaction": InteractionKind.values}
    time = "at"

    def rows(self) -> Any:
        """With whom they name."""
        return super().rows().select_related("player", "by")


urls = [
    path("exclusions", Exclusions.as_view()),
    path("exclusions/<int:exclusion>/lift-request", AskToLift.as_view()),
    path("exclusions/<int:exclusion>/lift", LiftExclusion.as_view()),
    path("exclusions/<int:exclusion>/matches/<slug:player>/clear", ClearMatch.as_view()),
    path("players/<slug:player>/exclusions", ExcludePlayer.as_view()),
    path("players/<slug:player>/admission", AdmissionOfPlayer.as_view()),
    path("players/<slug:player>/limits", PlayerLimits.as_view()),
    path("player-limits", PlayerLimitList.as_view()),
    path("players/<slug:player>/interactions", LogInteraction.as_view()),
    path("interactions", InteractionList.as_view()),
    path("reality-checks", RealityChecks.as_view()),
    path("reality-checks/due", DueRealityChecks.as_view()),
]
