"""What a player's own device does, with the key of his seat: no member of staff, and none of their rights.

A device adds a seed to the deal that is prepared and checks the cards that its player may see. It needs no
Idempotency-Key and no If-Match: its only write names the deal that it is for, and the same again changes nothing.
"""

import logging
from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from casino.api.audit import OF_A_RECEIPT, InclusionOut, prove_inclusion
from casino.api.deals import DealOut, OpeningsOut, Seed
from casino.api.hands import LegalOut
from casino.api.http import attempts
from casino.api.http.operations import Reading, StrictInput, StrictText, documented
from casino.api.http.shapes import HAND_SEATS, VIEW, Shaped
from casino.api.tables import ReceiptOut
from casino.core.errors import TooManyAttempts
from casino.hands import openings, preparing
from casino.hands.models import HandState, Mode
from casino.staff import limits
from casino.tables import keys
from casino.tables import selectors as tables

log = logging.getLogger(__name__)

TAG = "seat"
SCHEME = "Seat"
#: Refusals of a device by its key.
OF_KEYS = ("not_authenticated", "too_many_attempts")


class SeatKeyAuthentication(BaseAuthentication):
    """`Authorization: Seat KEY`.

    Wrong keys are counted by address, as wrong passwords are. While an address is locked its wrong keys are answered
    429 and stand in the server's log only, so that a device with an old key fills no chain; good ones are let in, for
    all devices of a card room may come from one address, and nobody finds 256 random bits by trying.
    """

    def authenticate(self, request: Request) -> tuple[keys.Holder, None] | None:
        """The player whose key it is. Raises AuthenticationFailed for one that is not, or no longer, good, and
        TooManyAttempts for such a one from an address that is locked."""
        scheme, _, key = get_authorization_header(request).decode("ascii", "replace").partition(" ")
        if scheme.lower() != SCHEME.lower():
            return None
        found = keys.holder(key)
        good = found is not None and found.good
        if not good and (wait := limits.seconds_locked(request._request, limits.SEAT_KEY)):
            attempts.not_recognised(request)
            log.warning("a wrong key of a seat from a locked address, request %s", getattr(request, "request_id", ""))
            raise TooManyAttempts("Too many wrong keys from this address; wait.", retry_after=wait)
        if found is not None:
            actor = found.actor("")
            attempts.recognised(
                request, house=found.table.house, login=actor.staff, role=actor.role, terminal=actor.terminal,
                chain=found.table.chain,
            )  # fmt: skip
        if found is None or not good:
            limits.count_failure(request._request, limits.SEAT_KEY)
            raise AuthenticationFailed("The key is unknown, replaced, or its player has left the seat.")
        return found, None

    def authenticate_header(self, request: Request) -> str:
        """What a refusal asks for."""
        return SCHEME


class HasSeat(BasePermission):
    """Whoever speaks with the key of a seat."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Whether it is such a key that let him in."""
        return isinstance(request.user, keys.Holder)


def holder_of(request: Request) -> keys.Holder:
    """The player whose device asks; only behind HasSeat. Raises AssertionError for a view that is not."""
    found: Any = request.user
    if not isinstance(found, keys.Holder):
        raise AssertionError(f"{request.path} is answered only for the key of a seat")
    return found


class SeatRead(Reading):
    """A read by a player's device: of his own, so it is nobody's secret."""

    authentication_classes = [SeatKeyAuthentication]
    permission_classes = [HasSeat]
    sensitive = False


class LearnedOut(serializers.Serializer[Any]):
    """What the player alone has seen beside the cards of the seat."""

    partner = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="The partner's hand, once it was passed across."
    )
    bottom = serializers.CharField(required=False, help_text="The bottom card of the pack.")


class SeatHandOut(OpeningsOut):
    """A hand as one of its players may know it; `openings` are those of the player's cards and of everybody's."""

    state = serializers.ChoiceField(choices=HandState.choices)
    mode = serializers.ChoiceField(choices=Mode.choices)
    seats = Shaped(HAND_SEATS)
    you = serializers.CharField()
    actor = serializers.CharField(allow_null=True)
    act_by = serializers.DateTimeField(allow_null=True)
    cards = serializers.ListField(
        child=serializers.CharField(),
        help_text="The cards that the player holds, in the order of dealing, in which `places` count them from 0; "
        "`??` where nobody has looked.",
    )
    learned = LearnedOut()
    legal_actions = LegalOut(many=True, help_text="What this seat may do now, where its own cards decide that too.")
    view = Shaped(VIEW)


class SeededOut(DealOut):
    """The deal with the player's seed in it."""

    audit = ReceiptOut(allow_null=True, help_text="The event's receipt; null where the seed was taken before.")


@documented(
    "readSeatHand",
    summary="Read one's own hand",
    answers=SeatHandOut,
    tag=TAG,
    refuses=[*OF_KEYS, "not_found"],
)
class SeatHand(SeatRead):
    """The hand in play that the player is dealt into, or the last one: of those dealt since the key was issued."""

    def get(self, request: Request) -> Response:
        """The hand."""
        holder = holder_of(request)
        return Response(openings.for_player(holder.seating, holder.since))


@documented(
    "readSeatDeal",
    summary="Read the prepared deal of one's table",
    answers=DealOut,
    tag=TAG,
    refuses=[*OF_KEYS, "no_deal_prepared"],
)
class SeatDeal(SeatRead):
    """The deal that is prepared at the player's table: what it commits to, and who has added what."""

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
    """Proof that the event of a receipt is in the audit log: of the chain of the player's own table only."""

    def get(self, request: Request) -> Response:
        """The proof; 409 `not_in_the_log_yet` for the second or so until the sequencer has taken an event."""
        holder = holder_of(request)
        return prove_inclusion(request, holder.table.house, holder.table.chain)


@documented(
    "addSeatSeed",
    summary="Add one's own seed",
    answers=SeededOut,
    tag=TAG,
    refuses=[*OF_KEYS, "not_found", "no_deal_prepared", "seed_taken", "seed_malformed", "book_busy"],
)
class SeatSeed(APIView):
    """Add the player's own seed to the deal whose commitment the device has seen; the same again changes nothing."""

    authentication_classes = [SeatKeyAuthentication]
    permission_classes = [HasSeat]

    @extend_schema_serializer(component_name="SeatSeedInput")
    class Input(StrictInput):
        """The deal, by the name of its hand, and the seed."""

        hand = StrictText(max_length=48)
        seed = Seed()

    input = Input

    def post(self, request: Request) -> Response:
        """Add."""
        given = self.Input(data=request.data)
        given.is_valid(raise_exception=True)
        request_id: str = request.request_id  # type: ignore[attr-defined]
        holder = holder_of(request)
        deal, receipt = preparing.take_players_seed(holder=holder, request_id=request_id, **given.validated_data)
        return Response(preparing.describe(deal) | {"audit": receipt and receipt.as_json()})
