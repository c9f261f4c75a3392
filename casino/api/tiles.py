"""The audit log as C2SP tlog-tiles serves a log: a checkpoint, and the hashes of the tree in tiles. Entry bundles are
not served: leaves say what people did."""

from django.http import HttpResponse
from django.urls import path
from django.utils.cache import patch_vary_headers
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request

from casino.api.audit import MAX_EPOCH, TAG, TEXT
from casino.api.http.negotiation import AsItIs
from casino.api.http.operations import OVERSIGHT, ReadOperation, context_of, documented, known_parameters
from casino.audit import selectors, tiles
from casino.audit.witnessing import cosigned_note
from casino.core.errors import NotFound

BINARY = "application/octet-stream"
#: A tile never changes; private, because a shared cache does not know who may read it.
_FOREVER = "private, max-age=31536000, immutable"


def _epoch(number: int) -> int:
    """The number of an epoch in an address. Raises NotFound for one that no log has."""
    if not 1 <= number <= MAX_EPOCH:
        raise NotFound(f"An epoch is 1 to {MAX_EPOCH}.")
    return number


@documented(
    "readEpochCheckpoint",
    summary="Read an epoch's newest checkpoint",
    answers={(200, "text/plain"): OpenApiTypes.STR},
    tag=TAG,
    refuses=["not_found"],
)
class EpochCheckpoint(ReadOperation):
    """The newest checkpoint of an epoch of the log, as C2SP tlog-tiles serves it: the signed note, with a line of every
    witness that has cosigned it. The tiles beside it give its root."""

    roles = OVERSIGHT
    sensitive = False
    content_negotiation_class = AsItIs

    def get(self, request: Request, epoch: int) -> HttpResponse:
        """The note."""
        known_parameters(request)
        note = cosigned_note(selectors.checkpoint(context_of(request).house, _epoch(epoch)))
        return HttpResponse(note, content_type=TEXT, headers={"Cache-Control": "no-store"})


@documented(
    "readTile",
    summary="Read a tile of the audit log",
    answers={(200, BINARY): OpenApiTypes.BINARY},
    tag=TAG,
    refuses=["not_found", "tile_not_covered"],
)
class Tile(ReadOperation):
    """256 hashes of a level of the tree, 32 bytes each, as C2SP tlog-tiles serves them: `0/000`, `0/x001/234`. With
    `.p/W` the first W of them, if the newest checkpoint of the epoch covers so many; else 404 `tile_not_covered`."""

    roles = OVERSIGHT
    sensitive = False
    content_negotiation_class = AsItIs

    def get(self, request: Request, epoch: int, level: str, tile: str) -> HttpResponse:
        """The hashes."""
        known_parameters(request)
        found = tiles.read(context_of(request).house, _epoch(epoch), tiles.Address.parse(level, tile))
        answer = HttpResponse(found, content_type=BINARY, headers={"Cache-Control": _FOREVER})
        # The address does not name the house: the token does.
        patch_vary_headers(answer, ["Authorization"])
        return answer


urls = [
    path("audit/log/<int:epoch>/checkpoint", EpochCheckpoint.as_view()),
    path("audit/log/<int:epoch>/tile/<slug:level>/<path:tile>", Tile.as_view()),
]
