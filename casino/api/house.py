"""The house as every client needs to know it: how to write its amounts and its times."""

from typing import Any

from django.urls import path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.operations import READERS, ReadOperation, context_of, documented

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


urls = [
    path("house", HouseDetail.as_view()),
]
