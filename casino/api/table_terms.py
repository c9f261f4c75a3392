"""The terms of tables, version after version."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from casino.api.http.lists import CursorList
from casino.api.http.operations import READERS, documented
from casino.api.http.shapes import OPTIONS, Shaped
from casino.tables.models import CarryoverOnClose, TableTerms


class AgreedTerms(serializers.Serializer[Any]):
    """Terms of a table that can change."""

    options = Shaped(OPTIONS)
    seat_count = serializers.IntegerField(source="seats")
    min_stack = serializers.IntegerField()
    max_stack = serializers.IntegerField()
    carryover_on_close = serializers.ChoiceField(choices=CarryoverOnClose.choices)


@documented("listTableTerms", summary="List the terms of tables", tag="places")
class TableTermsList(CursorList):
    """Every version of the terms of tables: who proposed it, from when until when it was in force. One without
    `begun_at` waits for the next opening, or never came in force where it has ended. `from` and `until` select by when
    a version was agreed on."""

    sensitive = False
    roles = READERS

    @extend_schema_serializer(component_name="TableTermsRow")
    class Row(serializers.ModelSerializer[TableTerms]):
        """A version of a table's terms in a list."""

        table = serializers.CharField(source="table.code")
        number = serializers.IntegerField(help_text="Number of the version at its table, from 1.")
        terms = AgreedTerms(help_text="What was agreed on.")
        set_at = serializers.DateTimeField(help_text="When it was agreed on.")
        set_by = serializers.CharField(help_text="Login of the person who proposed it, or name of the process.")
        begun_at = serializers.DateTimeField(allow_null=True, help_text="When it came in force; null if it has not.")
        ended_at = serializers.DateTimeField(
            allow_null=True, help_text="When another took its place, or it was taken back; null if neither."
        )

        class Meta:
            model = TableTerms
            fields = ("table", "number", "terms", "set_at", "set_by", "begun_at", "ended_at")

    model = TableTerms
    serializer_class = Row
    filters = {"table": "table__code"}
    time = "set_at"

    def rows(self) -> Any:
        """With their tables."""
        return super().rows().select_related("table")


urls = [path("table-terms", TableTermsList.as_view())]
