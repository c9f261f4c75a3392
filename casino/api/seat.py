"""Operations of a player's device, which has the key of the seat and no rights of staff.

A device commits to a seed of the prepared deal, reveals it, and checks the cards that its player may see. It needs no
Idempotency-Key and no If-Match: its writes name the deal, and repeating them changes nothing.
"""

import logging
from typing import Any, ClassVar

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from casino.api.audit import OF_A_RECEIPT, InclusionOut, prove_inclusion
from casino.api.deals import DealOut, OpeningsOut, Seed, SeedHash
from casino.api.games import DeclarationOut
from casino.api.hands import LegalOut, SeatActionInput
from casino.api.house import HouseRulesOut
from casino.api.http import attempts
from casino.api.http.authentication import BEARER, SEAT, recognise_holder, recognise_person, sent_by
from casino.api.http.contract import ACTIONS, CARDS, POSTS
from casino.api.http.operations import Reading, StrictInput, StrictInteger, StrictPattern, StrictText, documented
from casino.api.http.shapes import HAND_SEATS, VIEW, Shaped
from casino.api.tables import ReceiptOut
from casino.core.errors import TooManyAttempts
from casino.hands import devices, openings, preparing, verbs
from casino.hands.models import HandState, Mode
from casino.houses import rules
from casino.safeguards import reality
from casino.staff import limits
from casino.tables import keys, marks
from casino.tables import selectors as tables

log = logging.getLogger(__name__)

TAG = "seat"
#: Refusals of a device by its key.
OF_KEYS = ("not_authenticated", "too_many_attempts")


class SeatKeyAuthentication(BaseAuthentication):
    """`Authorization: Seat KEY`.

    Wrong keys are counted by address, like wrong passwords. While an address is locked, wrong keys from it are answered
    with 429 and are only logged by the server, so that a device with an old key does not fill an audit chain. Valid
    keys are still accepted: all devices of a card room may share one address, and 256 random bits cannot be guessed.
    """

    def authenticate(self, request: Request) -> tuple[keys.Holder, None] | None:
        """The player whose key it is. Raises AuthenticationFailed for an unknown or expired key, and TooManyAttempts
        for one from a locked address."""
        key = sent_by(request, SEAT)
        if key is None:
            if (token := sent_by(request, BEARER)) is not None:
                recognise_person(request, token)
            return None
        found = keys.holder(key)
        good = found is not None and found.good
        if not good and (wait := limits.seconds_locked(request._request, limits.SEAT_KEY)):
            attempts.not_recognised(request)
            log.warning("a wrong key of a seat from a locked address, request %s", getattr(request, "request_id", ""))
            raise TooManyAttempts("Too many wrong keys from this address; wait.", retry_after=wait)
        if found is not None:
            recognise_holder(request, found)
        if found is None or not good:
            limits.count_failure(request._request, limits.SEAT_KEY)
            raise AuthenticationFailed("The key is unknown, replaced, or its player has left the seat.")
        return found, None

    def authenticate_header(self, request: Request) -> str:
        """The scheme that a refusal asks for."""
        return SEAT


class HasSeat(BasePermission):
    """Requests that are authenticated by the key of a seat."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Whether the request was authenticated by the key of a seat."""
        return isinstance(request.user, keys.Holder)


def holder_of(request: Request) -> keys.Holder:
    """The player whose device sends the request. Raises AssertionError if the view is not behind HasSeat."""
    found: Any = request.user
    if not isinstance(found, keys.Holder):
        raise AssertionError(f"{request.path} is answered only for the key of a seat")
    return found


class SeatRead(Reading):
    """A read by a player's device. It is not sensitive: the player reads only what concerns the player's own seat."""

    authentication_classes = [SeatKeyAuthentication]
    permission_classes = [HasSeat]
    sensitive = False


class LearnedOut(serializers.Serializer[Any]):
    """What only the player has seen, besides the cards of the seat."""

    partner = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="The partner's hand, once the partner has passed it."
    )
    bottom = serializers.CharField(required=False, help_text="The bottom card of the pack.")


class SeatHandOut(OpeningsOut):
    """A hand as one of its players may know it; `openings` are those of the player's cards and of the open cards."""

    state = serializers.ChoiceField(choices=HandState.choices)
    mode = serializers.ChoiceField(choices=Mode.choices)
    seats = Shaped(HAND_SEATS)
    you = serializers.CharField()
    actor = serializers.CharField(allow_null=True)
    act_by = serializers.DateTimeField(allow_null=True)
    cards = serializers.ListField(
        child=serializers.CharField(),
        help_text="The cards that the player holds, in the order of dealing; `places` count them from 0; "
        "`??` for a card that no one has looked at.",
    )
    learned = LearnedOut()
    legal_actions = LegalOut(many=True, help_text="What this seat may do now. Its own cards are taken into account.")
    device_play = serializers.BooleanField(help_text="Whether the device may act in this hand.")
    view = Shaped(VIEW)


class SeededOut(DealOut):
    """The deal, including the player's seed."""

    audit = ReceiptOut(help_text="The event's receipt; of what is said again, that of the first time.")


@documented(
    "readSeatHand",
    summary="Read one's own hand",
    answers=SeatHandOut,
    tag=TAG,
    refuses=[*OF_KEYS, "not_found"],
)
class SeatHand(SeatRead):
    """The player's hand in play, or the last one. Only hands dealt since the key was issued are shown."""

    def get(self, request: Request) -> Response:
        """The hand."""
        holder = holder_of(request)
        return Response(openings.for_player(holder.seating, holder.since))


class SeatTableOut(serializers.Serializer[Any]):
    """The table of a seat: how the house writes money and times, and the declaration of the game that is played."""

    table = serializers.CharField(help_text="Code of the table.")
    house_name = serializers.CharField(help_text="Name of the house.")
    currency = serializers.CharField(help_text="The house's currency (ISO 4217).")
    currency_exponent = serializers.IntegerField(help_text="Decimal places of the currency.")
    time_zone = serializers.CharField(help_text="The house's time zone (IANA).")
    device_play = serializers.BooleanField(help_text="Whether devices may act in electronic hands of the table.")
    reality_check = serializers.BooleanField(help_text="Whether the player has sat for so long that the house says so.")
    minutes_in_24_h = serializers.IntegerField(help_text="The player's minutes on seats within 24 hours.")
    game = DeclarationOut(help_text="The declaration of the game that is played.")


@documented("readSeatTable", summary="Read one's own table", answers=SeatTableOut, tag=TAG, refuses=[*OF_KEYS])
class SeatTable(SeatRead):
    """The table of the player's seat, with the declaration of its game."""

    def get(self, request: Request) -> Response:
        """The table."""
        holder = holder_of(request)
        table = holder.table
        house = table.house
        sat = next(iter(reality.sitting(house, holder.seating.player_id)), None)
        return Response(
            {
                "table": table.code, "house_name": house.name, "currency": house.currency,
                "currency_exponent": house.currency_exponent, "time_zone": house.time_zone,
                "device_play": table.device_play, "minutes_in_24_h": sat.within if sat else 0,
                "reality_check": reality.is_waiting(house, holder.seating.player_id),
                "game": verbs.declaration(table.game),
            }
        )  # fmt: skip


@documented("readSeatRules", summary="Read the rules of the house", answers=HouseRulesOut, tag=TAG, refuses=[*OF_KEYS])
class SeatRules(SeatRead):
    """The rules of the house, as everybody in it may read them."""

    def get(self, request: Request) -> Response:
        """The rules."""
        return Response(rules.describe(holder_of(request).table.house))


@documented(
    "readSeatDeal",
    summary="Read the prepared deal of one's table",
    answers=DealOut,
    tag=TAG,
    refuses=[*OF_KEYS, "no_deal_prepared"],
)
class SeatDeal(SeatRead):
    """The deal that is prepared at the player's table: its commitment, who is dealt in, and the seeds of the seats."""

    def get(self, request: Request) -> Response:
        """The deal."""
        holder = holder_of(request)
        table = tables.get(holder.table.house, holder.table.code)
        return Response(preparing.describe(preparing.prepared(table)))


@documented(
    "proveSeatInclusion",
    summary="Prove that an event of one's table is in the log",
    answers=InclusionOut,
    tag=TAG,
    parameters=OF_A_RECEIPT,
    refuses=[*OF_KEYS, "forbidden", "not_found", "not_in_the_log_yet"],
)
class SeatInclusion(SeatRead):
    """Proof that the event of a receipt is in the audit log; only for events of the chain of the player's table."""

    def get(self, request: Request) -> Response:
        """The proof; 409 `not_in_the_log_yet` for about a second, until the sequencer has added the event."""
        holder = holder_of(request)
        return prove_inclusion(request, holder.table.house, holder.table.chain)


class SeatWrite(APIView):
    """What a player's device adds to the prepared deal whose commitment it has seen, or to the hand in play. Repeating
    it changes nothing."""

    authentication_classes = [SeatKeyAuthentication]
    permission_classes = [HasSeat]
    input: ClassVar[type[StrictInput]]

    def add(self, *, holder: keys.Holder, request_id: str, **given: Any) -> preparing.Added:
        """Call the service; subclasses say how."""
        raise AssertionError(f"{type(self).__name__} does not say what it adds")

    def post(self, request: Request) -> Response:
        """Add."""
        given = self.input(data=request.data)
        given.is_valid(raise_exception=True)
        request_id: str = request.request_id  # type: ignore[attr-defined]
        found, receipt = self.add(holder=holder_of(request), request_id=request_id, **given.validated_data)
        return Response(found | {"audit": receipt.as_json()})


class ActedOut(SeatHandOut):
    """The hand after the act, as its player may know it."""

    audit = ReceiptOut(help_text="The event's receipt; of what is said again, that of the first time.")


@documented(
    "actAtSeat",
    summary="Act at one's own seat",
    answers=ActedOut,
    tag=TAG,
    refuses=[
        *OF_KEYS, "not_found", "device_play_off", "not_electronic", "hand_over", "hand_moved_on", "no_such_line",
        *ACTIONS, *CARDS, *POSTS, "commitment_needed", "cards_known_to_the_house", "wrong_places", "commit_mismatch",
    ],
)  # fmt: skip
class SeatAct(SeatWrite):
    """Take an act of the player's seat in an electronic hand, where the table allows it (`device_play`). `line` is the
    number of lines of the log that the device has seen: where somebody has acted since, nothing is done, and the answer
    says what came before. Repeating the request changes nothing.
    """

    @extend_schema_serializer(component_name="SeatActInput")
    class Input(StrictInput):
        """The hand by its name, the lines seen, and the action."""

        hand = StrictText(max_length=48)
        line = StrictInteger(min_value=0, max_value=20_000, help_text="Lines of the log that the device has seen.")
        action = SeatActionInput()

    input = Input

    def add(self, *, holder: keys.Holder, request_id: str, **given: Any) -> preparing.Added:
        """Act."""
        return devices.act(holder=holder, request_id=request_id, asked=devices.Act(**given))


class SeatDeviceOut(serializers.Serializer[Any]):
    """What the house has noted of the device."""

    seat = serializers.IntegerField()
    device = serializers.CharField(help_text="SHA-256 of the house's number and the mark, hexadecimal.")
    audit = ReceiptOut(help_text="The event's receipt; of what is said again, that of the first time.")


@documented(
    "nameSeatDevice", summary="Say which device it is", answers=SeatDeviceOut, tag=TAG, refuses=[*OF_KEYS, "not_found"],
)  # fmt: skip
class SeatDeviceNamed(SeatWrite):
    """Name the device that uses the key, by a random mark that it has made once and keeps. The house keeps a hash of
    it, and sees by that whether two players have used one device; it asks nothing else. Repeating the request changes
    nothing, and a device need not say it.
    """

    @extend_schema_serializer(component_name="SeatDeviceInput")
    class Input(StrictInput):
        """The mark."""

        device = StrictPattern(r"^[0-9a-f]{64}\Z", help_text="256 random bits that the device keeps, hexadecimal.")

    input = Input

    def add(self, **given: Any) -> preparing.Added:
        """Name."""
        return marks.name(**given)


OF_SEEDS = (*OF_KEYS, "not_found", "no_deal_prepared", "seed_taken")


@documented(
    "commitToSeatSeed",
    summary="Commit to one's own seed",
    answers=SeededOut,
    tag=TAG,
    refuses=[*OF_SEEDS, "commitments_closed"],
)
class SeatCommitment(SeatWrite):
    """Commit to the player's seed before anybody's is known. `engine/deal/shuffle.py` says how the commitment is made;
    a seed that can be guessed is not hidden by it. Repeating the request changes nothing.
    """

    @extend_schema_serializer(component_name="SeatCommitmentInput")
    class Input(StrictInput):
        """The deal, by the name of its hand, and the commitment."""

        hand = StrictText(max_length=48)
        commitment = SeedHash()

    input = Input

    def add(self, **given: Any) -> preparing.Added:
        """Commit."""
        return preparing.commit_players_seed(**given)


@documented(
    "revealSeatSeed",
    summary="Reveal one's own seed",
    answers=SeededOut,
    tag=TAG,
    refuses=[
        *OF_SEEDS, "no_seed_commitment", "commitments_open", "seed_differs", "seed_malformed",
    ],
)  # fmt: skip
class SeatSeed(SeatWrite):
    """Reveal the seed that the device has committed to, as soon as the commitments are closed. Repeating the request
    changes nothing.
    """

    @extend_schema_serializer(component_name="SeatSeedInput")
    class Input(StrictInput):
        """The deal, by the name of its hand, and the seed."""

        hand = StrictText(max_length=48)
        seed = Seed()

    input = Input

    def add(self, **given: Any) -> preparing.Added:
        """Reveal."""
        return preparing.reveal_players_seed(**given)


urls = [
    path("seat/table", SeatTable.as_view()),
    path("seat/rules", SeatRules.as_view()),
    path("seat/deal", SeatDeal.as_view()),
    path("seat/commitment", SeatCommitment.as_view()),
    path("seat/seed", SeatSeed.as_view()),
    path("seat/device", SeatDeviceNamed.as_view()),
    path("seat/hand", SeatHand.as_view()),
    path("seat/actions", SeatAct.as_view()),
    path("seat/proofs/inclusion", SeatInclusion.as_view()),
]
