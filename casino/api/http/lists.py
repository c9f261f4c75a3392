"""Lists of one house's rows: by cursor, in either order, filtered by the parameters of each list."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.db.models import Max, Min
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.generics import ListAPIView

from casino.api.http.operations import READERS, Reading, known_parameters, moment, signed_in
from casino.api.http.pagination import PAGING, ByCursor
from casino.api.http.permissions import HasRole
from casino.core.errors import BadRequest
from casino.staff.models import Role

#: Clocks are set back by less than this: of what was written while one was ahead by more, a list by time may lack some.
CLOCK = timedelta(hours=1)
#: No row has a higher id.
MAX_ID = 2**63 - 1


class CursorList(Reading, ListAPIView[Any]):
    """A list of one house's rows, by cursor."""

    permission_classes = [HasRole]
    pagination_class = ByCursor
    roles: ClassVar[tuple[Role, ...]] = READERS
    model: ClassVar[Any]
    #: Where a row names its house, and which query parameters select rows by which look-up.
    house_lookup: ClassVar[str] = "house"
    filters: ClassVar[dict[str, str]] = {}
    #: The values that a filter takes, if they are few.
    choices: ClassVar[dict[str, Sequence[str]]] = {}
    #: Filters by a whole number, from 1.
    numbers: ClassVar[frozenset[str]] = frozenset()
    #: The field that `from` (inclusive) and `until` (exclusive) filter by; empty if the list has no time.
    time: ClassVar[str] = ""
    #: Whether the list grows without end, with ids in the order of `time` but for what a clock is set back.
    ids_follow_time: ClassVar[bool] = False

    @classmethod
    def list_parameters(cls) -> list[OpenApiParameter]:
        """The query's parameters, as the schema describes them."""
        moments = ("from", "until") if cls.time else ()
        return [
            *PAGING,
            *(
                OpenApiParameter(
                    name, int if name in cls.numbers else str, OpenApiParameter.QUERY, enum=cls.choices.get(name)
                )
                for name in cls.filters
            ),
            *(OpenApiParameter(name, OpenApiTypes.DATETIME, OpenApiParameter.QUERY) for name in moments),
        ]

    def rows(self) -> Any:
        """All rows of the house."""
        return self.model.objects.filter(**{self.house_lookup: signed_in(self.request)[0].house})

    def lookup(self, name: str, value: str) -> dict[str, Any]:
        """The look-up that a filter's value means."""
        return {self.filters[name]: value}

    def as_stored(self, at: datetime) -> Any:
        """A time in the form that the rows have."""
        return at

    def get_queryset(self) -> Any:
        """This house's rows, filtered by the query. Raises BadRequest for an unknown parameter."""
        if getattr(self, "swagger_fake_view", False):
            return None
        asked = known_parameters(self.request, *(parameter.name for parameter in self.list_parameters()))
        if not re.fullmatch(r"[1-9][0-9]{0,2}|1000", asked.get("page_size", "1"), re.ASCII):
            raise BadRequest("page_size is 1 to 1000.", code="invalid_parameter", parameters=["page_size"])
        wanted: dict[str, Any] = {}
        for name in self.filters.keys() & asked.keys():
            allowed = self.choices.get(name)
            if allowed is not None and asked[name] not in allowed:
                raise BadRequest(f"{name} is {', '.join(allowed)}.", code="invalid_parameter", parameters=[name])
            if name in self.numbers and not re.fullmatch(r"[1-9][0-9]{0,8}", asked[name], re.ASCII):
                raise BadRequest(f"{name} is a whole number from 1.", code="invalid_parameter", parameters=[name])
            wanted |= self.lookup(name, asked[name])
        wanted |= self._between(moment(asked, "from"), moment(asked, "until"))
        return self.rows().filter(**wanted)

    def _between(self, since: datetime | None, until: datetime | None) -> dict[str, Any]:
        """The look-ups of a time from `since` on and before `until`."""
        found: dict[str, Any] = {}
        if since is not None:
            found[f"{self.time}__gte"] = self.as_stored(since)
            if self.ids_follow_time:
                found["id__gte"] = self._id_at(since, forwards=True)
        if until is not None:
            found[f"{self.time}__lt"] = self.as_stored(until)
            if self.ids_follow_time:
                found["id__lte"] = self._id_at(until, forwards=False)
        return found

    def _id_at(self, bound: datetime, *, forwards: bool) -> int:
        """The lowest id of rows from a moment on, or (backwards) the highest of rows before it: a page is read along
        the ids, and the planner would begin at the list's other end. Read along the times, over CLOCK after the first
        such row, so that a clock that was set back by less hides nothing."""
        order, lookup = (self.time, "gte") if forwards else (f"-{self.time}", "lt")
        rows = self.rows().filter(**{f"{self.time}__{lookup}": self.as_stored(bound)}).order_by(order)
        first = rows.values_list(self.time, flat=True).first()
        if first is None:
            return MAX_ID if forwards else 0
        at = datetime.fromisoformat(first) if isinstance(first, str) else first
        until = self.as_stored(at + CLOCK if forwards else at - CLOCK)
        # A slice keeps the planner from looking for the lowest id along the ids.
        near = rows.filter(**{f"{self.time}__{'lte' if forwards else 'gte'}": until})[:MAX_ID]
        ends: dict[str, int] = near.aggregate(lowest=Min("id"), highest=Max("id"))
        return ends["lowest" if forwards else "highest"]
