"""Following what happens: hints that a table, a drawer or the house has changed.

A hint names an event, never its content: who gets one reads what it may. A stream (server-sent events) is handed to the
process that sends the hints; where that is away, the answer is what is known already, and the client comes again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from django.http import HttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request

from casino.api.http.negotiation import AsItIs
from casino.api.http.operations import (
    ReadOperation,
    context_of,
    documented,
    known_parameters,
    signed_in,
    whole_number,
)
from casino.cage import selectors as drawers
from casino.core.errors import BadRequest
from casino.houses.models import House
from casino.live import handover, hints, positions, rights
from casino.live.handover import Asked
from casino.live.hints import Head, Hint
from casino.live.rights import READERS, Followed, Scope, Sender
from casino.tables import selectors as tables

TAG = "live"
EVENTS = "text/event-stream"
#: The web server's function that takes a connection away (`deploy/web.py`).
HAND_OVER = "cukassza.hand_over"
#: Seconds that a request may wait for hints.
LONGEST_WAIT = 30
#: Milliseconds after which a client comes again whose stream could only be answered with what is known.
RETRY = 3_000
#: Nothing between here and the reader may keep it, compress it, or wait for more of it.
_AS_IT_COMES = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
_EVENT_STREAM = {(200, EVENTS): OpenApiTypes.STR}
_LAST = "The `id` of the last hint that was received; only what came after it is sent."
_AFTER = OpenApiParameter("after", str, OpenApiParameter.QUERY, description=_LAST)
#: Browsers send it when they open a stream again; it counts more than `after`.
_RESUMED = OpenApiParameter(
    "Last-Event-ID", str, OpenApiParameter.HEADER, description=f"{_LAST} Counts before `after`."
)
_WAIT = OpenApiParameter(
    "wait",
    int,
    OpenApiParameter.QUERY,
    description=f"Seconds to wait for a hint where there is none yet, {LONGEST_WAIT} at most; else 0.",
)
_REFUSES = ("wrong_terminal", "not_found", "too_many_streams", "streams_full")


class HintOut(serializers.Serializer[Any]):
    """That an event was recorded: where in the audit trail, and which version its table or drawer has since."""

    chain = serializers.CharField(help_text="Chain of the event: `table/CODE`, `drawer/CODE` or `house/CODE`.")
    seq = serializers.IntegerField(help_text="Number of the event in its chain; there are no gaps.")
    version = serializers.IntegerField(
        allow_null=True, help_text="Version of the table or drawer after the event; null if it changed none."
    )
    kind = serializers.CharField(
        allow_null=True,
        help_text="Kind of the event; null for those that change no table or drawer, unless the reader may read the "
        "audit trail.",
    )


class ChangesOut(serializers.Serializer[Any]):
    """Hints in the order of their chains, and where the reader stands after them."""

    position = serializers.CharField(help_text="What `after` of the next request names.")
    reset = serializers.BooleanField(
        help_text="Whether `after` named more than is recorded: a backup was restored. Read everything again."
    )
    hints = HintOut(many=True, help_text="The hints after `after`; without it, the last of each chain.")


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known when a request comes: the hints since its position, and the position after them."""

    hints: list[tuple[Hint, str]]
    position: dict[str, int]
    reset: bool


class _Following(ReadOperation):
    """A read of hints, which may go on after the web process has answered."""

    sensitive = False
    content_negotiation_class = AsItIs
    #: A page opens its stream again and again: the token goes on as if nobody had asked.
    runs_unattended = True
    scope: ClassVar[Scope]

    def _followed(self, house: House, code: str) -> Followed:
        """What the address names. Raises NotFound."""
        if self.scope == Scope.TABLE:
            tables.get(house, code)
        elif self.scope == Scope.DRAWER:
            drawers.get(house, code)
        return Followed(self.scope, code)

    def _asked(self, request: Request, code: str, after: str | None, wait: int | None) -> tuple[Sender, Asked, _Known]:
        """Who asks for what, and what is known of it. Raises WrongTerminal, NotFound, BadRequest."""
        person, token = signed_in(request)
        house, terminal = context_of(request).house, token.terminal
        sender = Sender(person.roles, terminal.kind, terminal.location, house.id)
        # Before it is looked up: a terminal elsewhere learns nothing of what there is.
        rights.require(sender, Followed(self.scope, code))
        followed = self._followed(house, code)
        heads = _heads(house, followed)
        known = _known(followed, heads, after)
        chain = None if followed.of_house else heads[0].id
        return sender, Asked(token.digest, house.id, followed, chain, known.position, wait), known

    def _handing_over(self, request: Request, asked: Asked) -> None:
        """Let the connection be taken away when this answer is made, where the server can and somebody takes it. Raises
        TooManyStreams, StreamsFull."""
        give: Callable[[Any], None] | None = request.META.get(HAND_OVER)
        if give is not None and request.method == "GET" and (ticket := handover.ask(asked)) is not None:
            give(ticket.hand_over)


def _heads(house: House, followed: Followed) -> list[Head]:
    """The chains of what is followed."""
    if followed.of_house:
        return hints.heads([house.id], [])
    found = hints.head(house.id, f"{followed.scope}/{followed.code}")
    if found is None:
        raise AssertionError(f"{followed} was set up without an event")
    return [found]


def _known(followed: Followed, heads: list[Head], after: str | None) -> _Known:
    """The hints after a position; without one, or if it lies ahead of what is recorded, the last of each chain. Raises
    BadRequest for what is no position."""
    begun: dict[str, int] | None = None
    if after is not None:
        try:
            begun = positions.parse(after, heads, of_house=followed.of_house)
        except ValueError as error:
            raise BadRequest(
                "after is the id of a hint, or the position of an answer, of the same stream.",
                code="invalid_parameter",
                parameters=["after"],
            ) from error
    reset = begun is not None and positions.is_ahead(begun, heads)
    position = {one.name: max(one.seq - 1, 0) for one in heads} if begun is None or reset else begun
    wanted = [(one, position[one.name]) for one in heads if one.seq > position[one.name]]
    found = hints.after(wanted, max(1, hints.AT_A_TIME // max(1, len(wanted))))
    known_hints = []
    # A later hint of one chain must not be sent with an earlier position of another: each is one step further.
    for _, several in sorted(found.items()):
        for hint in several:
            position = position | {hint.chain: hint.seq}
            known_hints.append((hint, positions.text(position, of_house=followed.of_house)))
    return _Known(known_hints, dict(position), reset)


class _Stream(_Following):
    """Server-sent events: a `hint` for each event that is recorded, beginning with the last of each chain."""

    def get(self, request: Request, **path: str) -> HttpResponse:
        """The stream."""
        after = known_parameters(request, "after").get("after")
        after = request.headers.get("Last-Event-ID") or after
        sender, asked, known = self._asked(request, next(iter(path.values()), ""), after, None)
        self._handing_over(request, asked)
        events = [hints.event_of(hint, position, whole=sender.whole) for hint, position in known.hints]
        if known.reset:
            events.insert(0, b"event: reset\ndata: {}\n\n")
        body = b"retry: %d\n\n" % RETRY + b"".join(events)
        return HttpResponse(body, content_type=EVENTS, headers=_AS_IT_COMES)


class _Changes(_Following):
    """Hints since a position; the answer waits for one where there is none yet."""

    def get(self, request: Request, **path: str) -> HttpResponse:
        """The hints."""
        given = known_parameters(request, "after", "wait")
        wait = whole_number(given, "wait", least=0, most=LONGEST_WAIT) or 0
        sender, asked, known = self._asked(request, next(iter(path.values()), ""), given.get("after"), wait)
        position = positions.text(known.position, of_house=asked.followed.of_house)
        if wait and not known.hints and not known.reset:
            self._handing_over(request, asked)
        body = hints.answer_of((hint.shown(whole=sender.whole) for hint, _ in known.hints), position, reset=known.reset)
        return HttpResponse(body, content_type="application/json", headers=_AS_IT_COMES)


def _stream(operation: str, what: str) -> Any:
    return documented(
        operation, summary=f"Follow {what} live", answers=_EVENT_STREAM, tag=TAG, parameters=[_AFTER, _RESUMED],
        refuses=_REFUSES,
    )  # fmt: skip


def _changes(operation: str, what: str) -> Any:
    return documented(
        operation, summary=f"Wait for changes of {what}", answers=ChangesOut, tag=TAG, parameters=[_AFTER, _WAIT],
        refuses=_REFUSES,
    )  # fmt: skip


@_stream("followTable", "a table")
class TableStream(_Stream):
    """Server-sent events, a `hint` for each event of the table: chain, number, kind, and the version that the table has
    since. Its `id` is the number; opened again with it, the stream goes on without a gap and repeats nothing. Without
    one, the stream begins with the last event. A dealer follows the table of the terminal.

    The event `reset` says that the database no longer has what `Last-Event-ID` names: read the table again. A stream
    ends when the token does, when its terminal was left alone for too long, and with every restart of the server. To
    follow is no sign of life: it keeps no token awake."""

    roles, scope = READERS[Scope.TABLE], Scope.TABLE


@_changes("waitForTable", "a table")
class TableChanges(_Changes):
    """The hints of a table since a position, for who cannot follow the stream. With `wait` the answer comes as soon as
    there is a hint, or is empty when the time is over; it may be empty earlier."""

    roles, scope = READERS[Scope.TABLE], Scope.TABLE


@_stream("followDrawer", "a drawer")
class DrawerStream(_Stream):
    """As the stream of a table, for a drawer. A cashier follows the drawer of the terminal."""

    roles, scope = READERS[Scope.DRAWER], Scope.DRAWER


@_changes("waitForDrawer", "a drawer")
class DrawerChanges(_Changes):
    """The hints of a drawer since a position, as those of a table."""

    roles, scope = READERS[Scope.DRAWER], Scope.DRAWER


@_stream("followHouse", "the house")
class HouseStream(_Stream):
    """As the stream of a table, for the house: its own chain and those of all its tables and drawers. The `id` is a
    position in each of them, to be given back as it is."""

    roles, scope = READERS[Scope.HOUSE], Scope.HOUSE


@_changes("waitForHouse", "the house")
class HouseChanges(_Changes):
    """The hints of the house, its tables and its drawers since a position, as those of a table."""

    roles, scope = READERS[Scope.HOUSE], Scope.HOUSE


urls = [
    path("tables/<slug:table>/stream", TableStream.as_view()),
    path("tables/<slug:table>/changes", TableChanges.as_view()),
    path("drawers/<slug:drawer>/stream", DrawerStream.as_view()),
    path("drawers/<slug:drawer>/changes", DrawerChanges.as_view()),
    path("stream", HouseStream.as_view()),
    path("changes", HouseChanges.as_view()),
]
