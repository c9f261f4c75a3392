"""What retention has deleted."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.complaints import HOLDS, TAG
from casino.api.http.lists import CursorList
from casino.api.http.operations import documented
from casino.api.parts import number_of
from casino.evidence.models import RetentionRun


class DeletedKind(serializers.Serializer[Any]):
    """What was deleted of one kind."""

    count = number_of("things that were deleted")
    size = number_of("bytes")
    sha256 = serializers.CharField(help_text="SHA-256 of the canonical JSON of its `items` in the event.")


@documented("listRetentionRuns", summary="List runs of retention", tag=TAG)
class RetentionRuns(CursorList):
    """Every run that has deleted something; the event `retention.ran` names each thing. `from` and `until` select by
    the time of the runs."""

    @extend_schema_serializer(component_name="RetentionRunListRow")
    class Row(serializers.Serializer[Any]):
        """A run in a list."""

        number = serializers.IntegerField(help_text="Its number in the house, from 1 without gaps.")
        at = serializers.DateTimeField()
        deleted = serializers.DictField(child=DeletedKind(), help_text="What was deleted, by kind.")
        held_count = number_of("things that were due and that legal holds have kept")
        by = serializers.CharField(help_text="What has let it run: the clock, or a management command.")

    sensitive = True
    roles = HOLDS
    model = RetentionRun
    serializer_class = Row
    time = "at"


urls = [path("retention-runs", RetentionRuns.as_view())]
