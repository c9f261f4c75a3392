"""Electronic deals: committing to them, seeds of players, keys of seats, openings of cards."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.operations import (
    AT_TABLES,
    OVERSIGHT,
    READERS,
    Reading,
    ReadOperation,
    StrictChoice,
    StrictInput,
    StrictInteger,
    StrictPattern,
    StrictText,
    WriteOperation,
    context_of,
    documented,
    problems,
)
from casino.api.tables import TAG, TableOut
from casino.core.write import Answer, Command
from casino.hands import openings, preparing
from casino.hands import selectors as hands
from casino.staff.models import Role
from casino.tables import keys, services
from casino.tables import selectors as tables
from casino.tables.models import ClientSeeds


class Seed(StrictPattern):
    """What a player adds to the seed of a deal: 1 to 64 visible ASCII characters."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(r"^[!-~]{1,64}\Z", **kwargs)


# --- Answers --------------------------------------------------------------------------------------------------------


class DealOut(serializers.Serializer[Any]):
    """A deal that is committed to: `prepared`, `dealt` or `abandoned`; `client_seeds` by chair."""

    hand = serializers.CharField()
    state = serializers.CharField()
    commitment = serializers.CharField()
    client_seeds = serializers.DictField(child=serializers.CharField())


class DisclosedOut(DealOut):
    """The same with its seed once it is abandoned."""

    seed = serializers.CharField(allow_null=True)


class OpeningOut(serializers.Serializer[Any]):
    """One card at its place in a pack (0 the deck, n the n-th redeal), its salt and its path to the pack's root."""

    pack = serializers.IntegerField()
    position = serializers.IntegerField()
    size = serializers.IntegerField()
    card = serializers.CharField()
    salt = serializers.CharField()
    path = serializers.ListField(child=serializers.CharField())


class OpeningsOut(serializers.Serializer[Any]):
    """Openings with what they are checked against: `python -m engine opening` reads it as it stands."""

    hand = serializers.CharField()
    commitment = serializers.CharField(allow_null=True)
    client_seeds = serializers.DictField(child=serializers.CharField())
    cards_roots = serializers.ListField(child=serializers.CharField())
    openings = OpeningOut(many=True)


class KeyOut(TableOut):
    """The table, and the key: in the first answer only."""

    key = serializers.CharField(required=False)


# --- At the table ---------------------------------------------------------------------------------------------------


@documented("prepareDeal", summary="Commit to the seed of the next hand", answers=TableOut, status=201, tag=TAG)
class PreparedDeal(WriteOperation, Reading):
    """The deal that is committed to at a table and not dealt yet, and committing to one."""

    sensitive = False
    roles = AT_TABLES
    readers = READERS

    @extend_schema(
        operation_id="readPreparedDeal",
        summary="Read the prepared deal",
        tags=[TAG],
        request=None,
        responses={200: DealOut, **problems(401, 403, 404, 409)},
    )
    def get(self, request: Request, table: str) -> Response:
        """The deal."""
        found = tables.get(context_of(request).house, table)
        return Response(preparing.describe(preparing.prepared(found)), headers={"ETag": f'"{found.version}"'})

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Commit."""
        return preparing.prepare(command=command, code=path["table"])


@documented("addClientSeed", summary="Add what a player says to the seed of the deal", answers=TableOut, tag=TAG)
class AddSeed(WriteOperation):
    """Add a player's seed, as he says it at the table; each seat once."""

    roles = AT_TABLES

    @extend_schema_serializer(component_name="AddSeedInput")
    class Input(StrictInput):
        """Whose seed, and what it is."""

        seat = StrictInteger(min_value=1, max_value=99)
        seed = Seed()

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Add."""
        return preparing.take_seed(command=command, code=path["table"], seat=data["seat"], seed=data["seed"])


@documented("abandonDeal", summary="Give a prepared deal up; the floor", answers=TableOut, tag=TAG)
class AbandonDeal(WriteOperation):
    """Give the prepared deal up: its name is used up with it."""

    roles = (Role.FLOOR,)

    @extend_schema_serializer(component_name="AbandonDealInput")
    class Input(StrictInput):
        """The reason, which the audit trail keeps."""

        reason = StrictText(min_length=3, max_length=200)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Abandon."""
        return preparing.abandon(command=command, code=path["table"], reason=data["reason"])


@documented("issueSeatKey", summary="Give a player's own device a key", answers=KeyOut, status=201, tag=TAG)
class IssueSeatKey(WriteOperation):
    """A key with which the player on this seat adds his seed and checks his cards of the hands dealt from now on; an
    earlier one is good no more."""

    roles = AT_TABLES

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Issue."""
        return keys.issue(command=command, code=path["table"], seat=path["seat"])


@documented("revokeSeatKey", summary="Revoke a seat's key", answers=TableOut, tag=TAG)
class RevokeSeatKey(WriteOperation):
    """For a device that is lost or broken: until then only it gives the seat's seed."""

    roles = (Role.FLOOR,)

    @extend_schema_serializer(component_name="RevokeSeatKeyInput")
    class Input(StrictInput):
        """The reason, which the audit trail keeps."""

        reason = StrictText(min_length=3, max_length=200)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Revoke."""
        return keys.revoke(command=command, code=path["table"], seat=path["seat"], reason=data["reason"])


@documented(
    "demandClientSeeds", summary="Say whose seeds an electronic hand needs; the floor", answers=TableOut, tag=TAG
)
class DemandSeeds(WriteOperation):
    """Change whose seeds the table's electronic hands need before they are dealt."""

    roles = (Role.FLOOR,)

    @extend_schema_serializer(component_name="DemandSeedsInput")
    class Input(StrictInput):
        """Nobody's (`optional`) or those of all who are dealt in (`all`), and the reason, which the audit trail
        keeps."""

        client_seeds = StrictChoice(choices=ClientSeeds.choices)
        reason = StrictText(min_length=3, max_length=200)

    input = Input

    def perform(self, command: Command, data: dict[str, Any], **path: Any) -> Answer:
        """Change."""
        return services.demand_seeds(
            command=command, code=path["table"], demanded=ClientSeeds(data["client_seeds"]), reason=data["reason"]
        )


# --- Reading --------------------------------------------------------------------------------------------------------


class DealDetail(ReadOperation):
    """A deal that was committed to, whatever became of it; the seed of an abandoned one too, so that somebody can see
    which cards were not dealt."""

    sensitive = True
    roles = OVERSIGHT

    @extend_schema(
        operation_id="readDeal",
        summary="Read a deal that was prepared",
        tags=["oversight"],
        responses={200: DisclosedOut, **problems(401, 403, 404)},
    )
    def get(self, request: Request, hand: str) -> Response:
        """The deal."""
        return Response(preparing.disclosed(preparing.get(context_of(request).house, hand)))


class HandOpenings(ReadOperation):
    """Openings of the cards of a hand that everybody has seen, now or when it was over."""

    sensitive = False
    roles = READERS

    @extend_schema(
        operation_id="readOpenings",
        summary="Read the openings of everybody's cards",
        tags=["oversight"],
        responses={200: OpeningsOut, **problems(401, 403, 404, 409)},
    )
    def get(self, request: Request, hand: str) -> Response:
        """The openings."""
        return Response(openings.of_everybodys_cards(hands.get(context_of(request).house, hand)))
