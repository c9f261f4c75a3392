"""Asking witnesses to cosign checkpoints (C2SP tlog-witness), and keeping what they answer.

A witness is run by somebody else. It is asked by the worker, never inside a request: a witness that is away delays
nothing but its own cosignature, and the next time it is given a proof from where it stands to the newest checkpoint.
"""

import base64
import logging
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from casino.audit.cosignatures import WitnessKey
from casino.audit.models import Cosignature, KeyRotation, SignedCheckpoint
from casino.audit.notes import NoteUnreadable
from casino.audit.proofs import Hashes
from casino.core import outward
from casino.houses.models import House

log = logging.getLogger(__name__)

#: Seconds that a witness has to answer.
PATIENCE = 5.0
#: Bytes of an answer that are read.
LARGEST = 65_536


class WitnessFailed(Exception):
    """A witness that does not cosign; says what it answered."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A witness as a setting names it: where it answers, and its key."""

    url: str
    key: WitnessKey

    @classmethod
    def parse(cls, text: str) -> "Witness":
        """From `URL#VKEY`, as `CASINO_WITNESSES` has it. Raises NoteUnreadable for the key."""
        url, _, vkey = text.partition("#")
        return cls(url.rstrip("/"), WitnessKey.parse(vkey))


def configured() -> list[Witness]:
    """The witnesses of `CASINO_WITNESSES`. Raises ImproperlyConfigured."""
    try:
        return [Witness.parse(text) for text in settings.CASINO_WITNESSES]
    except NoteUnreadable as error:
        raise ImproperlyConfigured(f"CASINO_WITNESSES: {error}") from error


def ask(house: House, witnesses: Sequence[Witness]) -> int:
    """Have the newest checkpoint of a house cosigned by those witnesses that have not yet; returns how many did.

    A witness that does not answer, or refuses, is logged and asked again the next time.
    """
    newest = SignedCheckpoint.objects.filter(house=house).order_by("-epoch", "-size").first()
    if newest is None:
        return 0
    done = 0
    for witness in witnesses:
        last = (
            Cosignature.objects.filter(house=house, epoch=newest.epoch, witness=witness.key.name)
            .order_by("-size")
            .first()
        )
        if last is not None and last.size >= newest.size:
            continue
        try:
            _cosigned_by(witness, newest, last.size if last else 0)
            done += 1
        except (WitnessFailed, NoteUnreadable, OSError) as error:
            log.warning("witness %s has not cosigned %s#%d: %s", witness.key.name, house.code, newest.size, error)
    return done


def cosigned_note(checkpoint: SignedCheckpoint) -> str:
    """The note of a checkpoint with every cosignature of it."""
    lines = Cosignature.objects.filter(
        house=checkpoint.house_id, epoch=checkpoint.epoch, size=checkpoint.size
    ).order_by("witness")
    return checkpoint.note + "".join(lines.values_list("line", flat=True))


def _cosigned_by(witness: Witness, checkpoint: SignedCheckpoint, old: int) -> None:
    """Ask one witness, which has cosigned `old` leaves as far as is known here, and keep its line."""
    status, answer = _sent(witness, checkpoint, old)
    if status == 403 and (rotations := _rotations(checkpoint)):
        for note in rotations:
            _posted(f"{witness.url}/add-rotation", note.encode())
        status, answer = _sent(witness, checkpoint, old)
    if status == 409 and answer.strip().isdigit() and (size := int(answer)) != old and size <= checkpoint.size:
        # It has cosigned more than its answers have reached this house, or its memory is older than ours.
        status, answer = _sent(witness, checkpoint, size)
    if status != 200:
        raise WitnessFailed(f"HTTP {status}: {answer.strip()[:200]!r}")
    body = checkpoint.note.partition("\n\n")[0] + "\n"
    found = witness.key.cosigned(body, answer)
    Cosignature.objects.get_or_create(
        house=checkpoint.house, epoch=checkpoint.epoch, size=checkpoint.size, witness=witness.key.name,
        defaults={"line": found.line, "at": found.at},
    )  # fmt: skip


def _sent(witness: Witness, checkpoint: SignedCheckpoint, old: int) -> tuple[int, str]:
    """Status and text that a witness answers. Raises OSError where it does not."""
    proof = Hashes(checkpoint.house_id, checkpoint.epoch).consistency(old, checkpoint.size) if old else []
    lines = "".join(f"{base64.b64encode(one).decode()}\n" for one in proof)
    body = f"old {old}\n{lines}\n{checkpoint.note}".encode()
    return _posted(f"{witness.url}/add-checkpoint", body)


def _rotations(checkpoint: SignedCheckpoint) -> list[str]:
    """The notes by which keys of the log were rotated, oldest first: a witness may know the old key only."""
    rotations = KeyRotation.objects.filter(house=checkpoint.house_id).order_by("epoch", "size")
    return [row.event.doc["data"]["note"] for row in rotations.select_related("event")]


def _posted(url: str, body: bytes) -> tuple[int, str]:
    request = urllib.request.Request(url, data=body, method="POST")  # noqa: S310 - the setting allows HTTP(S) only
    try:
        with outward.sent(request, PATIENCE) as answer:
            return answer.status, answer.read(LARGEST).decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read(LARGEST).decode(errors="replace")
