"""Electronic deals: committing to them, seeds of players, keys of seats, openings of cards."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.contract import CHANGE, NOT_OPEN, PLAYS
from casino.api.http.operations import (
    AT_TABLES,
    SEES_PLAY,
    Reading,
    ReadOperation,
    Reason,
    ReasonInput,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictPattern,
    StrictText,
    WriteOperation,
    context_of,
    documented,
)
from casino.api.tables import TAG, TableOut
from casino.core.commands import Answer, Command
from casino.hands import openings, preparing
from casino.hands import selectors as hands
from casino.hands.models import DealState
from casino.staff.models import Role
from casino.tables import keys, services
from casino.tables import selectors as tables
from casino.tables.models import ClientSeeds


class Seed(StrictPattern):
    """What a player adds to the seed of a deal: 1 to 64 visible ASCII characters."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(r"^[!-~]{1,64}\Z", **kwargs)


#: Refusals of a hand that cannot be dealt now.
NEXT_HAND = (
    *CHANGE,
    "cards_exception_open",
    "button_already_known",
    "no_such_seat",
    "too_few_players",
    "no_cukassza",
    "session_under_way",
    "stack_too_short",
    "tray_too_small",
    "malformed_setup",
    "option_out_of_range",
)


class DealtInInput(StrictInput):
    """The first button of a session, the seats that sit the hand out, and what the dealer announces. The game's policy
    lists the announcements (`GET games/RULES`)."""

    button = StrictInteger(min_value=1, max_value=99, required=False)
    sitting_out = serializers.ListField(child=StrictInteger(min_value=1, max_value=99), required=False, max_length=20)
    announce = serializers.ListField(child=StrictText(max_length=40), required=False, max_length=4)


def dealt_in(data: dict[str, Any]) -> dict[str, Any]:
    """The same as arguments of a service."""
    return {
        "button": data.get("button"),
        "sitting_out": data.get("sitting_out", []),
        "announced": data.get("announce", ()),
    }


class SeedHash(StrictPattern):
    """A commitment to a seed: 64 hexadecimal digits."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(r"^[0-9a-f]{64}\Z", **kwargs)


# --- Answers --------------------------------------------------------------------------------------------------------


class DealSeatOut(serializers.Serializer[Any]):
    """A seat that is dealt in."""

    seat = serializers.IntegerField()
    player = serializers.CharField()


class DealOut(serializers.Serializer[Any]):
    """A deal that is committed to."""

    hand = serializers.CharField()
    state = serializers.ChoiceField(choices=DealState.choices)
    commitment = serializers.CharField()
    seats = DealSeatOut(many=True, help_text="Who is dealt in, in play order, the button last.")
    announced = serializers.ListField(child=serializers.CharField())
    commitments_closed = serializers.BooleanField(
        help_text="Whether seeds are revealed now; before, devices commit to theirs."
    )
    seed_commitments = serializers.DictField(
        child=serializers.CharField(), help_text="What devices have committed to, by number of their seat."
    )
    client_seeds = serializers.DictField(
        child=serializers.CharField(), help_text="What players added to the seed, by number of their seat."
    )


class DisclosedOut(DealOut):
    """The same with its seed once it is abandoned."""

    seed = serializers.CharField(
        allow_null=True, help_text="Seed of an abandoned deal, in hexadecimal digits; otherwise null."
    )


class OpeningOut(serializers.Serializer[Any]):
    """One card at its place in a pack (0 the deck, n the n-th redeal), its salt and its path to the pack's root."""

    pack = serializers.IntegerField()
    position = serializers.IntegerField()
    size = serializers.IntegerField()
    card = serializers.CharField()
    salt = serializers.CharField()
    path = serializers.ListField(child=serializers.CharField())


class OpeningsOut(serializers.Serializer[Any]):
    """Openings with the data to check them; `python -m engine opening` reads this document unchanged."""

    hand = serializers.CharField()
    commitment = serializers.CharField(allow_null=True)
    client_seeds = serializers.DictField(child=serializers.CharField())
    cards_roots = serializers.ListField(child=serializers.CharField())
    openings = OpeningOut(many=True)


class KeyOut(TableOut):
    """The table, and the key: in the first answer only."""

    key = serializers.CharField(required=False, help_text="Key of the seat, in the first answer only.")


# --- At the table ---------------------------------------------------------------------------------------------------


@documented(
    "prepareDeal",
    summary="Prepare a deal",
    answers=TableOut,
    status=201,
    tag=TAG,
    refuses=["player_excluded", *NOT_OPEN, "deal_prepared", "too_many_abandoned", *NEXT_HAND],
)
@documented(
    "readPreparedDeal",
    summary="Read the prepared deal",
    answers=DealOut,
    tag=TAG,
    method="get",
    etag=True,
    refuses=["not_found", "no_deal_prepared"],
)
class PreparedDeal(WriteOperation, Reading):
    """Prepare the next electronic hand: seats and button are fixed, and the house commits to its seed. Then devices
    commit to their seeds and players without a device say theirs, the commitments are closed, the devices reveal, and
    the hand is dealt (`POST hands`).
    """

    sensitive = False
    roles = AT_TABLES
    readers = SEES_PLAY

    @extend_schema_serializer(component_name="PrepareDealInput")
    class Input(DealtInInput):
        """Who is dealt in."""

    input = Input

    def get(self, request: Request, table: str) -> Response:
        """The deal."""
        found = tables.get(context_of(request).house, table)
        return Response(preparing.describe(preparing.prepared(found)), headers={"ETag": f'"{found.version}"'})

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Commit."""
        return preparing.prepare(command=command, code=path["table"], **dealt_in(data))


@documented(
    "addClientSeed",
    summary="Add a player's seed",
    answers=TableOut,
    tag=TAG,
    refuses=["no_deal_prepared", "seat_has_device", "commitments_closed", "seed_taken", "seed_malformed"],
)
class AddSeed(WriteOperation):
    """Add a seed that a player says at the table to the prepared deal, once for each seat, before the commitments are
    closed. A player who uses a device can give the seed only with the device.
    """

    roles = AT_TABLES

    @extend_schema_serializer(component_name="AddSeedInput")
    class Input(StrictInput):
        """The seat and its seed."""

        seat = StrictInteger(min_value=1, max_value=99)
        seed = Seed()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Add."""
        return preparing.take_seed(command=command, code=path["table"], seat=data["seat"], seed=data["seed"])


@documented(
    "closeCommitments",
    summary="Close the commitments",
    answers=TableOut,
    tag=TAG,
    refuses=["no_deal_prepared", "commitments_closed", "client_seeds_missing"],
)
class CloseCommitments(WriteOperation):
    """Take no more commitments: devices reveal their seeds from now on. They close by themselves as soon as every seat
    that is dealt in has committed to a seed or said one.
    """

    roles = AT_TABLES

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Close."""
        return preparing.close_commitments(command=command, code=path["table"])


@documented(
    "abandonDeal",
    summary="Abandon a prepared deal",
    answers=TableOut,
    tag=TAG,
    refuses=["no_deal_prepared"],
)
class AbandonDeal(WriteOperation):
    """Abandon the prepared deal: its name is used up with it. The event names the seats that have not revealed their
    seeds. Only the floor may do this.
    """

    roles = (Role.FLOOR,)

    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Abandon."""
        return preparing.abandon(command=command, code=path["table"], reason=data["reason"])


@documented(
    "issueSeatKey",
    summary="Issue a seat's key",
    answers=KeyOut,
    status=201,
    tag=TAG,
    refuses=[*PLAYS, "table_closed"],
)
class IssueSeatKey(WriteOperation):
    """Issue a key for the device of the player on this seat. With it, the device commits to seeds, reveals them, and
    checks the cards of the hands dealt from now on. An earlier key ends.
    """

    roles = AT_TABLES

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Issue."""
        return keys.issue(command=command, code=path["table"], seat=path["seat"])


@documented(
    "revokeSeatKey",
    summary="Revoke a seat's key",
    answers=TableOut,
    tag=TAG,
    refuses=["no_device"],
)
class RevokeSeatKey(WriteOperation):
    """Revoke the key of a device that is lost or broken: until then only it gives the seat's seed; the floor."""

    roles = (Role.FLOOR,)

    input = ReasonInput

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Revoke."""
        return keys.revoke(command=command, code=path["table"], seat=path["seat"], reason=data["reason"])


@documented(
    "demandClientSeeds",
    summary="Demand client seeds",
    answers=TableOut,
    tag=TAG,
    refuses=[*NOT_OPEN, "table_open", "deal_prepared", "no_change"],
)
class DemandSeeds(WriteOperation):
    """Set whose seeds the table's electronic hands need before they are dealt. Only the floor may do this."""

    roles = (Role.FLOOR,)

    @extend_schema_serializer(component_name="DemandSeedsInput")
    class Input(StrictInput):
        """`optional` if no seed is needed, `all` if every player who is dealt in must give one; and the reason, which
        the audit trail keeps."""

        client_seeds = StrictChoice(choices=ClientSeeds.choices)
        reason = Reason()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        return services.demand_seeds(
            command=command, code=path["table"], demanded=ClientSeeds(data["client_seeds"]), reason=data["reason"]
        )


# --- Reading --------------------------------------------------------------------------------------------------------


@documented(
    "readDeal",
    summary="Read a prepared deal's outcome",
    answers=DisclosedOut,
    tag="oversight",
    refuses=["not_found"],
)
class DealDetail(ReadOperation):
    """A deal with its commitment, in whatever state it is. An abandoned deal includes its seed, which shows the cards
    that were not dealt.
    """

    sensitive = True
    roles = (Role.AUDITOR,)

    def get(self, request: Request, hand: str) -> Response:
        """The deal."""
        return Response(preparing.disclosed(preparing.get(context_of(request).house, hand)))


@documented(
    "readOpenings",
    summary="Read the openings of a hand",
    answers=OpeningsOut,
    tag="oversight",
    refuses=["not_found", "no_card_commitments"],
)
class HandOpenings(ReadOperation):
    """Openings of the cards of a hand that everybody has seen, now or when it was over."""

    sensitive = False
    roles = SEES_PLAY

    def get(self, request: Request, hand: str) -> Response:
        """The openings."""
        return Response(openings.of_everybodys_cards(hands.get(context_of(request).house, hand)))


urls = [
    path("tables/<slug:table>/seats/<int:seat>/key", IssueSeatKey.as_view()),
    path("tables/<slug:table>/seats/<int:seat>/key/revoke", RevokeSeatKey.as_view()),
    path("tables/<slug:table>/client-seeds", DemandSeeds.as_view()),
    path("tables/<slug:table>/deal", PreparedDeal.as_view()),
    path("tables/<slug:table>/deal/seeds", AddSeed.as_view()),
    path("tables/<slug:table>/deal/close", CloseCommitments.as_view()),
    path("tables/<slug:table>/deal/abandon", AbandonDeal.as_view()),
    path("hands/<slug:hand>/openings", HandOpenings.as_view()),
    path("deals/<slug:hand>", DealDetail.as_view()),
]
