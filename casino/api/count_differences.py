"""Where counts and books differ, by place, denomination and time."""

from typing import Any

from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.operations import SEES_BOOKS, ReadOperation, context_of, documented, known_parameters, moment
from casino.core.errors import BadRequest
from casino.reports import count_differences as reports
from casino.reports.count_differences import PlaceKind

TAG = "reports"
_KINDS = [kind.value for kind in PlaceKind]


class MovedBetweenCounts(serializers.Serializer[Any]):
    """Transactions of one kind between two counts."""

    kind = serializers.CharField(help_text="Kind of the transactions in the ledger.")
    number = serializers.IntegerField(help_text="How many transactions.")
    came = serializers.IntegerField(help_text="What came in.")
    went = serializers.IntegerField(help_text="What went out.")


class CountDifference(serializers.Serializer[Any]):
    """What one count found of one denomination in pieces, or of cash or chips of other houses in minor units."""

    what = serializers.ChoiceField(choices=["chips", "cash", "foreign"], help_text="`foreign`: chips of other houses.")
    commodity = serializers.CharField(help_text="Commodity of the ledger.")
    denomination = serializers.IntegerField(
        allow_null=True, help_text="Face value of a piece in minor units; null for cash and chips of other houses."
    )
    before = serializers.IntegerField(help_text="What the count before found.")
    came = serializers.IntegerField(help_text="What came in since.")
    went = serializers.IntegerField(help_text="What went out since.")
    expected = serializers.IntegerField(help_text="What the books had.")
    counted = serializers.IntegerField(help_text="What was counted.")
    difference = serializers.IntegerField(help_text="Counted less expected: short is negative.")
    unexplained = serializers.IntegerField(
        help_text="What the count before and the movements do not explain of what the books had; otherwise 0."
    )
    movements = MovedBetweenCounts(many=True, help_text="The movements by kind.")


class DifferingCount(serializers.Serializer[Any]):
    """A count that differs from the books, and the time in which the difference arose: from `since` to `until`."""

    kind = serializers.ChoiceField(choices=_KINDS, help_text="What was counted.")
    place = serializers.CharField(help_text="Code of the table or drawer, or `vault`.")
    count = serializers.IntegerField(
        help_text="Serial of the tray count or box, number of the shift at its drawer, or of the vault's count."
    )
    previous_count = serializers.IntegerField(
        allow_null=True, help_text="The count before, of the same kind; null for the first one and for drawers."
    )
    since = serializers.DateTimeField(
        allow_null=True,
        help_text="When it was counted before; of a drawer when its float was taken, of a box when the one before it "
        "was taken off. Null: never.",
    )
    until = serializers.DateTimeField(help_text="When it was counted.")
    differences = CountDifference(many=True, help_text="By account and denomination.")


class CountDifferencesOut(serializers.Serializer[Any]):
    """Counts that differ from the books."""

    counts = DifferingCount(many=True, help_text=f"The newest first, at most {reports.MOST}.")
    more = serializers.BooleanField(help_text="Whether there are more.")


@documented(
    "readCountDifferences",
    summary="Read where counts and books differ",
    answers=CountDifferencesOut,
    tag=TAG,
    parameters=[
        OpenApiParameter("kind", str, OpenApiParameter.QUERY, enum=_KINDS, description="Counts of this only."),
        OpenApiParameter("place", str, OpenApiParameter.QUERY, description="Counts of this table or drawer only."),
        OpenApiParameter("from", OpenApiTypes.DATETIME, OpenApiParameter.QUERY),
        OpenApiParameter("until", OpenApiTypes.DATETIME, OpenApiParameter.QUERY),
    ],
)
class CountDifferences(ReadOperation):
    """Every count of a tray, drawer, box or the vault that differs from the books: by place, denomination and time,
    with the count before and what moved in between. `from` and `until` select by when it was counted."""

    sensitive = True
    roles = SEES_BOOKS

    def get(self, request: Request) -> Response:
        """The report."""
        asked = known_parameters(request, "kind", "place", "from", "until")
        kind = asked.get("kind")
        if kind is not None and kind not in _KINDS:
            raise BadRequest(f"kind is one of {', '.join(_KINDS)}.", code="invalid_parameter", parameters=["kind"])
        wanted = reports.Wanted(
            kind=None if kind is None else PlaceKind(kind), place=asked.get("place"), since=moment(asked, "from"),
            until=moment(asked, "until"),
        )  # fmt: skip
        return Response(reports.differences(context_of(request).house, wanted))


urls = [path("reports/count-differences", CountDifferences.as_view())]
