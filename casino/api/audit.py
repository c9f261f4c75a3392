"""The log as anybody who works here may check it: checkpoints, the key, proofs; for oversight the events in order."""

from typing import Any

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from casino.api.http.negotiation import AsItIs
from casino.api.http.operations import (
    OVERSIGHT,
    READERS,
    ReadOperation,
    context_of,
    known_parameters,
    problems,
    whole_number,
)
from casino.audit import selectors as log
from casino.core.errors import BadRequest, Forbidden
from casino.houses.models import House

TAG = "audit"
TEXT = "text/plain; charset=utf-8"
MAX_EPOCH = 10**8
MAX_SIZE = 10**15
_PLAIN = {(200, "text/plain"): OpenApiTypes.STR}
_EPOCH = OpenApiParameter("epoch", int, OpenApiParameter.QUERY, description="of the log (the newest)")


def _number(name: str, description: str, *, required: bool = False) -> OpenApiParameter:
    return OpenApiParameter(name, int, OpenApiParameter.QUERY, description=description, required=required)


def _required(asked: dict[str, str], name: str, *, least: int, most: int = MAX_SIZE) -> int:
    """A whole number that must be given. Raises BadRequest."""
    found = whole_number(asked, name, least=least, most=most)
    if found is None:
        raise BadRequest(f"{name} is missing.", code="invalid_parameter", parameters=[name])
    return found


class Checkpoint(ReadOperation):
    """A signed checkpoint as text."""

    roles = READERS
    sensitive = False
    content_negotiation_class = AsItIs

    @extend_schema(
        operation_id="readCheckpoint",
        summary="Read a signed checkpoint of the audit log, the newest unless its size is named",
        tags=[TAG],
        parameters=[_number("size", "the one of exactly this size"), _EPOCH],
        responses={**_PLAIN, **problems(400, 401, 403, 404)},
    )
    def get(self, request: Request) -> HttpResponse:
        """The note (C2SP signed-note, tlog-checkpoint)."""
        asked = known_parameters(request, "size", "epoch")
        epoch = whole_number(asked, "epoch", least=1, most=MAX_EPOCH)
        size = whole_number(asked, "size", least=1, most=MAX_SIZE)
        return HttpResponse(log.checkpoint(context_of(request).house, epoch, size).note, content_type=TEXT)


class Checkpoints(ReadOperation):
    """Every checkpoint of the house."""

    roles = OVERSIGHT
    sensitive = True
    content_negotiation_class = AsItIs

    @extend_schema(
        operation_id="readCheckpoints",
        summary="Download every checkpoint of the audit log, oldest first, each followed by an empty line",
        tags=[TAG],
        responses={**_PLAIN, **problems(400, 401, 403)},
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """The notes, in the format of the files outside the database."""
        known_parameters(request)
        return StreamingHttpResponse(log.notes(context_of(request).house), content_type=TEXT)


class LogKey(ReadOperation):
    """The key that verifies checkpoints."""

    roles = READERS
    sensitive = False
    content_negotiation_class = AsItIs

    @extend_schema(
        operation_id="readLogKey",
        summary="Read the key that verifies the audit log's checkpoints",
        tags=[TAG],
        parameters=[_EPOCH],
        responses={**_PLAIN, **problems(400, 401, 403, 404)},
    )
    def get(self, request: Request) -> HttpResponse:
        """The vkey of C2SP's signed-note. Whoever checks this house compares it with a copy from elsewhere."""
        asked = known_parameters(request, "epoch")
        epoch = whole_number(asked, "epoch", least=1, most=MAX_EPOCH)
        return HttpResponse(f"{log.log_of(context_of(request).house, epoch).vkey}\n", content_type=TEXT)


class InclusionOut(serializers.Serializer[Any]):
    """Where an event stands in the log, and the proof: hashes in hex from the leaf upwards (RFC 6962, 2.1.1). `chain`,
    `seq` and `hash` are the receipt's: the hash is that of the leaf."""

    chain = serializers.CharField()
    seq = serializers.IntegerField()
    hash = serializers.CharField()
    epoch = serializers.IntegerField()
    leaf_index = serializers.IntegerField()
    size = serializers.IntegerField()
    path = serializers.ListField(child=serializers.CharField())
    checkpoint = serializers.CharField()


OF_A_RECEIPT = [
    OpenApiParameter("chain", str, OpenApiParameter.QUERY, required=True, description="as the receipt says"),
    _number("seq", "number in the chain, as the receipt says", required=True),
    _number("size", "of the checkpoint to prove it against (the newest of the event's epoch)"),
]


def prove_inclusion(request: Request, house: House, only_chain: str | None = None) -> Response:
    """Answer with the proof of the receipt that a request names. Raises BadRequest, NotFound, Conflict
    not_in_the_log_yet, and Forbidden for another chain than `only_chain`, where that is named."""
    asked = known_parameters(request, "chain", "seq", "size")
    seq = _required(asked, "seq", least=1)
    chain = asked.get("chain")
    if not chain:
        raise BadRequest("chain is missing.", code="invalid_parameter", parameters=["chain"])
    size = whole_number(asked, "size", least=1, most=MAX_SIZE)
    if only_chain is not None and chain != only_chain:
        raise Forbidden(f"This is for events of {only_chain}.")
    found = log.inclusion(house, chain, seq, size)
    answer: dict[str, Any] = {
        "chain": chain,
        "seq": seq,
        "hash": bytes(found.leaf.leaf_hash).hex(),
        "epoch": found.leaf.epoch,
        "leaf_index": found.leaf.leaf_index,
        "size": found.checkpoint.size,
        "path": [node.hex() for node in found.path],
        "checkpoint": found.checkpoint.note,
    }
    return Response(answer)


class InclusionProof(ReadOperation):
    """That the event of a receipt is in the log."""

    roles = READERS
    sensitive = False

    @extend_schema(
        operation_id="proveInclusion",
        summary="Prove that an event is in the audit log",
        tags=[TAG],
        parameters=OF_A_RECEIPT,
        responses={200: InclusionOut, **problems(400, 401, 403, 404, 409)},
    )
    def get(self, request: Request) -> Response:
        """The proof; 409 `not_in_the_log_yet` for the second or so until the sequencer has taken an event."""
        return prove_inclusion(request, context_of(request).house)


class _Consistency(serializers.Serializer[Any]):
    """Hashes in hex that prove that one tree begins with the other (RFC 6962, 2.1.2), and both checkpoints."""

    epoch = serializers.IntegerField()
    path = serializers.ListField(child=serializers.CharField())
    from_size = serializers.IntegerField()
    to_size = serializers.IntegerField()
    from_checkpoint = serializers.CharField()
    to_checkpoint = serializers.CharField()


class ConsistencyProof(ReadOperation):
    """That the log has only grown between two checkpoints."""

    roles = READERS
    sensitive = False

    @extend_schema(
        operation_id="proveConsistency",
        summary="Prove that the audit log has only grown between two checkpoints",
        tags=[TAG],
        parameters=[
            _number("from_size", "size of the older checkpoint", required=True),
            _number("to_size", "size of the newer one (the newest of the epoch)"),
            _EPOCH,
        ],
        responses={200: _Consistency, **problems(400, 401, 403, 404)},
    )
    def get(self, request: Request) -> Response:
        """The proof."""
        asked = known_parameters(request, "from_size", "to_size", "epoch")
        least = _required(asked, "from_size", least=1)
        house = context_of(request).house
        new = log.checkpoint(
            house,
            whole_number(asked, "epoch", least=1, most=MAX_EPOCH),
            whole_number(asked, "to_size", least=least, most=MAX_SIZE),
        )
        old = log.checkpoint(house, new.epoch, least)
        return Response(
            {
                "from_size": old.size,
                "to_size": new.size,
                "epoch": new.epoch,
                "path": [node.hex() for node in log.consistency(old, new)],
                "from_checkpoint": old.note,
                "to_checkpoint": new.note,
            }
        )


class EventExport(ReadOperation):
    """Every event of an epoch up to a checkpoint, in the order of the log."""

    roles = OVERSIGHT
    sensitive = True
    content_negotiation_class = AsItIs

    @extend_schema(
        operation_id="exportEvents",
        summary="Download the events of the audit log in its order, a line each: line n is leaf n - 1",
        tags=[TAG],
        parameters=[_number("size", "up to the checkpoint of this size (the newest)"), _EPOCH],
        responses={(200, "application/jsonl"): OpenApiTypes.STR, **problems(400, 401, 403, 404)},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """The payloads as they were hashed; the headers name epoch and size."""
        asked = known_parameters(request, "size", "epoch")
        epoch = whole_number(asked, "epoch", least=1, most=MAX_EPOCH)
        house = context_of(request).house
        until = log.checkpoint(house, epoch, whole_number(asked, "size", least=1, most=MAX_SIZE))
        name = f"{house.code}-events-{until.epoch}-{until.size}.jsonl"
        return StreamingHttpResponse(
            log.payloads(house, until.epoch, until.size),
            content_type="application/jsonl; charset=utf-8",
            headers={
                "Content-Disposition": f'attachment; filename="{name}"',
                "Log-Epoch": str(until.epoch),
                "Log-Size": str(until.size),
            },
        )
