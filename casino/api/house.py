"""The house as every client needs to know it: how to write its amounts and its times."""

from typing import Any

from django.urls import path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.operations import OVERSIGHT, READERS, ReadOperation, context_of, documented
from casino.reports import readiness
from casino.staff.models import Role

TAG = "house"
#: Version of the API; a change that breaks clients makes another one, at another address.
API_VERSION = "1"


class HouseOut(serializers.Serializer[Any]):
    """A house."""

    house = serializers.CharField()
    name = serializers.CharField(help_text="Name of the house.")
    currency = serializers.CharField()
    currency_exponent = serializers.IntegerField(
        help_text="Decimal places of the currency: with 2 an amount of 100 is one unit, with 0 an amount is units."
    )
    time_zone = serializers.CharField(help_text="IANA name of the time zone; times in answers are UTC.")
    api_version = serializers.CharField(help_text="Version of this API.")


@documented("readHouse", summary="Read the house", answers=HouseOut, tag=TAG)
class HouseDetail(ReadOperation):
    """The house of the signed-in person: how many decimal places its currency has, and its time zone."""

    sensitive = False
    roles = READERS

    def get(self, request: Request) -> Response:
        """The house."""
        house = context_of(request).house
        answer = {
            "house": house.code,
            "name": house.name,
            "currency": house.currency,
            "currency_exponent": house.currency_exponent,
            "time_zone": house.time_zone,
            "api_version": API_VERSION,
        }
        return Response(answer)


class ItemOut(serializers.Serializer[Any]):
    """An item of the checklist."""

    item = serializers.ChoiceField(choices=list(readiness.CHECKS), help_text="What is looked at.")
    ready = serializers.BooleanField(help_text="Whether nothing of it is missing.")
    missing = serializers.ListField(child=serializers.CharField(), help_text="What is missing, in words.")


class ReadinessOut(serializers.Serializer[Any]):
    """Whether the house can receive guests."""

    ready = serializers.BooleanField(help_text="Whether nothing is missing.")
    items = ItemOut(many=True, help_text="What was looked at, in the order in which a house is founded.")


@documented("readReadiness", summary="Read what the house still lacks", answers=ReadinessOut, tag=TAG)
class Readiness(ReadOperation):
    """The checklist before the first evening: people, chips, vault, drawers, tables and trays, terminals, checkpoints
    outside the database, the gaming day. It says what is there, not whether it is right."""

    sensitive = False
    roles = (*OVERSIGHT, Role.MANAGER)

    def get(self, request: Request) -> Response:
        """The checklist."""
        items = readiness.checklist(context_of(request).house)
        return Response({"ready": not any(item.missing for item in items), "items": [one.as_json() for one in items]})


urls = [
    path("house/readiness", Readiness.as_view()),
    path("house", HouseDetail.as_view()),
]
