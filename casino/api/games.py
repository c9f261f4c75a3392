"""The games that tables may be set up for, as they declare themselves: consoles, demo and reference pages read it."""

from typing import Any

from django.urls import path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.operations import READERS, ReadOperation, documented
from casino.api.http.shapes import OPTION, Shaped
from casino.hands import verbs

TAG = "games"


class SeatsOut(serializers.Serializer[Any]):
    """How many seats can play."""

    min = serializers.IntegerField()
    max = serializers.IntegerField()


class PolicyOut(serializers.Serializer[Any]):
    """What a table of the game means to the house."""

    must_set = serializers.ListField(child=serializers.CharField())
    zones = serializers.ListField(child=serializers.CharField())
    charge = serializers.CharField()
    announcements = serializers.DictField(child=serializers.CharField())
    not_at_tables = Shaped({"type": "object", "additionalProperties": {"type": "array", "items": OPTION}})


class GameOut(serializers.Serializer[Any]):
    """A game in short."""

    game = serializers.CharField()
    title = serializers.CharField()
    rules = serializers.CharField()
    seats = SeatsOut()
    packs = serializers.ListField(child=serializers.CharField())
    cards = serializers.DictField(
        child=serializers.DictField(child=serializers.CharField()),
        help_text="Ranks and suits of the cards of each pack; a card is its rank and its suit.",
    )
    policy = PolicyOut()


class ArgumentOut(serializers.Serializer[Any]):
    """One argument of a verb."""

    name = serializers.CharField()
    kind = serializers.CharField()
    optional = serializers.BooleanField(required=False)
    words = serializers.ListField(child=serializers.CharField(), required=False)
    most = serializers.IntegerField(required=False)
    tag = serializers.CharField(required=False)
    role = serializers.CharField(required=False, help_text="What becomes of the cards.")
    seen = serializers.CharField(required=False)


class VerbOut(serializers.Serializer[Any]):
    """One verb: who writes it (`seat` or `house`), its arguments in the order of the log's line, its meaning."""

    verb = serializers.CharField()
    by = serializers.CharField()
    arguments = ArgumentOut(many=True)
    meaning = serializers.CharField()
    label = serializers.CharField(help_text="What the button of a console says.")  # type: ignore[assignment]
    key = serializers.CharField(help_text="The key of a keyboard for it.")
    only = serializers.CharField(
        help_text="What it takes besides its phase: why it is not on offer though its phase has come.",
        allow_blank=True,
    )
    uncovers = serializers.BooleanField()
    reopens = serializers.BooleanField(required=False)
    aside = serializers.BooleanField(required=False)
    beside = serializers.BooleanField(required=False)
    leaves = serializers.BooleanField(required=False, help_text="Whether the seat is out of the hand with it.")


class PhaseOut(serializers.Serializer[Any]):
    """One phase of a game: the verbs that belong to it, who acts in it, and what for."""

    phase = serializers.CharField(help_text="Its name, as views of a hand have it.")
    verbs = serializers.ListField(child=serializers.CharField(), help_text="The verbs that belong to it.")
    meaning = serializers.CharField(allow_blank=True)


class OptionOut(serializers.Serializer[Any]):
    """One option of a table; `default` is absent where the table must set it."""

    name = serializers.CharField()
    values = serializers.CharField()
    required = serializers.BooleanField()  # type: ignore[assignment] # taken out of the class by its metaclass
    default = Shaped(OPTION, required=False)
    meaning = serializers.CharField()


class DeclarationOut(GameOut):
    """A game with its vocabulary and its options."""

    phases = PhaseOut(many=True, help_text="Its phases in the order of play.")
    verbs = VerbOut(many=True)
    options = OptionOut(many=True)


@documented(
    "listGames",
    summary="List the games",
    answers=GameOut(many=True),
    tag=TAG,
)
class GameList(ReadOperation):
    """Every game that a table may be set up for, in short."""

    sensitive = False
    roles = READERS

    def get(self, request: Request) -> Response:
        """Every game in short."""
        return Response(verbs.games())


@documented(
    "readGame",
    summary="Read a game's declaration",
    answers=DeclarationOut,
    tag=TAG,
    refuses=["not_found"],
)
class GameDetail(ReadOperation):
    """A game with its verbs and options, by its name or the id of a version of its rules."""

    sensitive = False
    roles = READERS

    def get(self, request: Request, game: str) -> Response:
        """The declaration, by the game's name or the id of its rules."""
        return Response(verbs.declaration(game))


urls = [
    path("games", GameList.as_view()),
    path("games/<path:game>", GameDetail.as_view()),
]
