"""The audit log: proofs of receipts for anybody; checkpoints, the key and proofs for all staff; the events in order for
oversight."""

import re
from typing import Any

from django.http import FileResponse, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from casino.api.http.negotiation import AsItIs
from casino.api.http.operations import (
    OVERSIGHT,
    READERS,
    ReadOperation,
    context_of,
    documented,
    known_parameters,
    whole_number,
)
from casino.audit import archives
from casino.audit import selectors as log
from casino.audit.models import Archive
from casino.audit.witnessing import cosigned_note
from casino.core.errors import BadRequest, Forbidden, NotFound
from casino.houses.models import House
from casino.reports.printing import proofs
from casino.staff.models import Role

TAG = "audit"
_HASH = re.compile(r"[0-9a-f]{64}")
TEXT = "text/plain; charset=utf-8"
GZIP = "application/gzip"
MAX_EPOCH = 10**8
MAX_SIZE = 10**15
_PLAIN = {(200, "text/plain"): OpenApiTypes.STR}
_EPOCH = OpenApiParameter("epoch", int, OpenApiParameter.QUERY, description="Number of the epoch; else the newest.")


def _number(name: str, description: str, *, required: bool = False) -> OpenApiParameter:
    return OpenApiParameter(name, int, OpenApiParameter.QUERY, description=description, required=required)


def _required(asked: dict[str, str], name: str, *, least: int, most: int = MAX_SIZE) -> int:
    """A whole number that must be given. Raises BadRequest."""
    found = whole_number(asked, name, least=least, most=most)
    if found is None:
        raise BadRequest(f"{name} is missing.", code="invalid_parameter", parameters=[name])
    return found


@documented(
    "readCheckpoint",
    summary="Read a signed checkpoint of the audit log",
    answers=_PLAIN,
    tag=TAG,
    parameters=[_number("size", "The checkpoint of exactly this size; else the newest."), _EPOCH],
    refuses=["not_found"],
)
class Checkpoint(ReadOperation):
    """A checkpoint as text (C2SP signed-note, tlog-checkpoint): the newest, or the one of a size. Witnesses that have
    cosigned it have a signature line each (C2SP tlog-cosignature).
    """

    roles = READERS
    sensitive = False
    content_negotiation_class = AsItIs

    def get(self, request: Request) -> HttpResponse:
        """The note (C2SP signed-note, tlog-checkpoint)."""
        asked = known_parameters(request, "size", "epoch")
        epoch = whole_number(asked, "epoch", least=1, most=MAX_EPOCH)
        size = whole_number(asked, "size", least=1, most=MAX_SIZE)
        return HttpResponse(cosigned_note(log.checkpoint(context_of(request).house, epoch, size)), content_type=TEXT)


@documented("readCheckpoints", summary="Download every checkpoint of the audit log", answers=_PLAIN, tag=TAG)
class Checkpoints(ReadOperation):
    """Every checkpoint of the house, the oldest first, each followed by an empty line: the format of the files outside
    the database."""

    roles = OVERSIGHT
    sensitive = True
    content_negotiation_class = AsItIs

    def get(self, request: Request) -> StreamingHttpResponse:
        """The notes, in the format of the files outside the database."""
        known_parameters(request)
        return StreamingHttpResponse(log.notes(context_of(request).house), content_type=TEXT)


@documented(
    "readLogKey",
    summary="Read the key that verifies checkpoints",
    answers=_PLAIN,
    tag=TAG,
    parameters=[_EPOCH],
    refuses=["not_found"],
)
class LogKey(ReadOperation):
    """The key of an epoch (vkey of C2SP's signed-note); where it was rotated, each of its keys on a line, the newest
    last. A check compares them with a copy from elsewhere."""

    roles = READERS
    sensitive = False
    content_negotiation_class = AsItIs

    def get(self, request: Request) -> HttpResponse:
        """The key."""
        asked = known_parameters(request, "epoch")
        epoch = whole_number(asked, "epoch", least=1, most=MAX_EPOCH)
        keys = log.keys_of(log.log_of(context_of(request).house, epoch))
        return HttpResponse("".join(f"{key}\n" for key in keys), content_type=TEXT)


class InclusionOut(serializers.Serializer[Any]):
    """The position of an event in the log, and the proof: hashes in hex from the leaf upwards (RFC 6962, 2.1.1).
    `chain`, `seq` and `hash` are the receipt's: the hash is that of the leaf."""

    chain = serializers.CharField()
    seq = serializers.IntegerField()
    hash = serializers.CharField()
    epoch = serializers.IntegerField()
    leaf_index = serializers.IntegerField()
    size = serializers.IntegerField(help_text="Number of leaves that the checkpoint covers.")
    path = serializers.ListField(child=serializers.CharField())
    checkpoint = serializers.CharField()


OF_A_RECEIPT = [
    OpenApiParameter(
        "chain", str, OpenApiParameter.QUERY, required=True, description="Name of the chain, as the receipt has it."
    ),
    _number("seq", "Number in the chain, as the receipt has it.", required=True),
    _number("size", "Size of the checkpoint to prove it against; else the newest of the epoch."),
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
        "checkpoint": cosigned_note(found.checkpoint),
    }
    return Response(answer)


@documented(
    "proveInclusion",
    summary="Prove that an event is in the audit log",
    answers=InclusionOut,
    tag=TAG,
    parameters=OF_A_RECEIPT,
    refuses=["not_found", "not_in_the_log_yet"],
)
class InclusionProof(ReadOperation):
    """The path from the event of a receipt to the root that a checkpoint has signed. Refused for the second or so until
    the sequencer has taken the event (`not_in_the_log_yet`)."""

    roles = READERS
    sensitive = False

    def get(self, request: Request) -> Response:
        """The proof."""
        return prove_inclusion(request, context_of(request).house)


class ConsistencyOut(serializers.Serializer[Any]):
    """Hashes in hex that prove that one tree begins with the other (RFC 6962, 2.1.2), and both checkpoints."""

    epoch = serializers.IntegerField()
    path = serializers.ListField(child=serializers.CharField())
    from_size = serializers.IntegerField(help_text="Number of leaves that the older checkpoint covers.")
    to_size = serializers.IntegerField(help_text="Number of leaves that the newer checkpoint covers.")
    from_checkpoint = serializers.CharField()
    to_checkpoint = serializers.CharField()


@documented(
    "proveConsistency",
    summary="Prove that the audit log has only grown",
    answers=ConsistencyOut,
    tag=TAG,
    parameters=[
        _number("from_size", "Size of the older checkpoint.", required=True),
        _number("to_size", "Size of the newer checkpoint; else the newest of the epoch."),
        _EPOCH,
    ],
    refuses=["not_found"],
)
class ConsistencyProof(ReadOperation):
    """Hashes which prove that the newer checkpoint's log begins with the older one's (RFC 6962, section 2.1.2)."""

    roles = READERS
    sensitive = False

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
                "from_checkpoint": cosigned_note(old),
                "to_checkpoint": cosigned_note(new),
            }
        )


@documented(
    "exportEvents",
    summary="Download the events of the audit log",
    answers={(200, "application/jsonl"): OpenApiTypes.STR},
    tag=TAG,
    parameters=[_number("size", "Up to the checkpoint of this size; else the newest."), _EPOCH],
    refuses=["not_found", "archive_unreadable"],
)
class EventExport(ReadOperation):
    """Every event of an epoch up to a checkpoint, in the order of the log, exactly as hashed: line n is leaf n - 1. The
    headers Log-Epoch and Log-Size name epoch and size."""

    roles = (Role.AUDITOR,)
    sensitive = True
    content_negotiation_class = AsItIs

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


class ArchiveOut(serializers.ModelSerializer[Archive]):
    """An archive of a closed period: leaves of an epoch of the log from `first` on and below `size`."""

    class Meta:
        model = Archive
        fields = ("number", "epoch", "first", "size", "first_day", "last_day", "sha256", "is_put_away")
        extra_kwargs = {
            "number": {"help_text": "From 1, without gaps."},
            "first": {"help_text": "Its first leaf."},
            "size": {"help_text": "Size of the log at its last checkpoint: its leaves are below."},
            "first_day": {"help_text": "The first gaming day whose closing it has."},
            "last_day": {"help_text": "The last one."},
            "sha256": {"help_text": "SHA-256 of its manifest, hexadecimal."},
            "is_put_away": {"help_text": "Whether texts of its events are no longer in the database."},
        }


@documented("listArchives", summary="List the archives of closed periods", answers=ArchiveOut(many=True), tag=TAG)
class Archives(ReadOperation):
    """Closed periods that were written into files outside the database, each between two signed checkpoints, the oldest
    first. `verify.pyz archive` proves one by itself."""

    roles = OVERSIGHT
    sensitive = False

    def get(self, request: Request) -> Response:
        """The archives."""
        known_parameters(request)
        found = Archive.objects.filter(house=context_of(request).house).order_by("number")
        return Response(ArchiveOut(found, many=True).data)


@documented(
    "readArchiveFile",
    summary="Download a file of an archive",
    answers={(200, kind): OpenApiTypes.BINARY for kind in ("application/json", GZIP)},
    tag=TAG,
    refuses=["not_found", "archive_unreadable"],
)
class ArchiveFile(ReadOperation):
    """A file as it was made, from the first folder that has a copy with the manifest that was recorded."""

    roles = (Role.AUDITOR,)
    sensitive = True
    content_negotiation_class = AsItIs

    def get(self, request: Request, archive: int, name: str) -> FileResponse:
        """The file."""
        known_parameters(request)
        house = context_of(request).house
        held = archives.of(house, archive)
        if held is None or name not in archives.FILES:
            raise NotFound(f"This house has no archive {archive} with a file {name}.")
        kind = "application/json" if name == archives.MANIFEST else GZIP
        return FileResponse(
            archives.opened(held, name),
            as_attachment=True,
            filename=f"{house.code}-{archive}-{name}",
            content_type=kind,
        )


class ReceiptProofOut(serializers.Serializer[Any]):
    """A receipt with its proof, as `verify.pyz receipt` takes it: canonical JSON. It contains nothing of the event but
    its hash."""

    format = serializers.ChoiceField(choices=[proofs.FORMAT], help_text="The format of this document.")
    hash = serializers.CharField()
    epoch = serializers.IntegerField()
    leaf_index = serializers.IntegerField()
    size = serializers.IntegerField(help_text="Number of leaves that the checkpoint covers.")
    path = serializers.ListField(child=serializers.CharField())
    checkpoint = serializers.CharField()


@documented(
    "proveReceipt",
    summary="Prove a receipt, without an account",
    answers=ReceiptProofOut,
    tag=TAG,
    parameters=[_number("size", "Size of the checkpoint to prove it against; else the newest of the epoch.")],
    refuses=["not_found", "not_in_the_log_yet"],
)
class ReceiptProof(APIView):
    """The proof of the receipt with this hash. Nobody needs to sign in: a hash has 256 bits, and is known only to those
    who were given it or may read the trail. Save the answer as a file; `verify.pyz receipt FILE` checks it.
    """

    authentication_classes = []
    permission_classes = [AllowAny]
    sensitive = False
    content_negotiation_class = AsItIs

    def get(self, request: Request, hash: str) -> HttpResponse:
        """The document, byte for byte."""
        asked = known_parameters(request, "size")
        size = whole_number(asked, "size", least=1, most=MAX_SIZE)
        if not _HASH.fullmatch(hash):
            raise NotFound("The hash of a receipt is 64 hexadecimal digits in lower case.")
        found = log.inclusion_of_hash(bytes.fromhex(hash), size)
        return HttpResponse(proofs.document(hash, found), content_type="application/json")


urls = [
    path("receipts/<slug:hash>", ReceiptProof.as_view()),
    path("audit/checkpoint", Checkpoint.as_view()),
    path("audit/checkpoints", Checkpoints.as_view()),
    path("audit/key", LogKey.as_view()),
    path("audit/proofs/inclusion", InclusionProof.as_view()),
    path("audit/proofs/consistency", ConsistencyProof.as_view()),
    path("audit/export", EventExport.as_view()),
    path("audit/archives", Archives.as_view()),
    path("audit/archives/<int:archive>/<str:name>", ArchiveFile.as_view()),
]
