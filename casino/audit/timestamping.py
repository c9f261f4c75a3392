"""Time stamps of checkpoints (RFC 3161): a time-stamp authority, run by somebody else, signs that a checkpoint was
there at a moment of its own clock.

The authority is asked by the worker, never inside a request. It gets the SHA-256 of the signed note and nothing else.
An answer is kept only if it verifies: its signature under the certificates of the setting, the hash, the nonce of the
request, and a clock that agrees with ours.
"""

import hashlib
import http.client
import logging
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from cryptography.x509 import Certificate, ObjectIdentifier, load_pem_x509_certificates
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone
from rfc3161_client import (
    HashAlgorithm,
    TimestampRequestBuilder,
    VerificationError,
    VerifierBuilder,
    decode_timestamp_response,
)

from casino.audit.models import SignedCheckpoint, TimeStamp
from casino.core import outward
from casino.houses.models import House

log = logging.getLogger(__name__)

#: Seconds that an authority has to answer.
PATIENCE = 5.0
#: Bytes that an answer may have; one with its certificates has some thousand.
LARGEST = 65_536
#: By so much the authority's clock may be beside ours.
TOLERANCE = timedelta(seconds=60)
_SHA256 = ObjectIdentifier("2.16.840.1.101.3.4.2.1")
_HEADERS = {"Content-Type": "application/timestamp-query", "Accept": "application/timestamp-reply"}


class TimeStampWrong(Exception):
    """An answer that is no time stamp of the checkpoint; says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Authority:
    """Where an authority answers, and the certificates under which its time stamps must be signed."""

    url: str
    certificates: Sequence[Certificate]


def configured() -> Authority:
    """The authority of the settings. Raises ImproperlyConfigured."""
    certificates = trusted()
    if not settings.CASINO_TIMESTAMP_URL or not certificates:
        raise ImproperlyConfigured("CASINO_TIMESTAMP_URL and CASINO_TIMESTAMP_CERTIFICATES are set together")
    return Authority(settings.CASINO_TIMESTAMP_URL, certificates)


def trusted() -> list[Certificate]:
    """The certificates of `CASINO_TIMESTAMP_CERTIFICATES`, none where it is not set. Raises ImproperlyConfigured."""
    path = settings.CASINO_TIMESTAMP_CERTIFICATES
    if not path:
        return []
    try:
        return load_pem_x509_certificates(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise ImproperlyConfigured(f"CASINO_TIMESTAMP_CERTIFICATES: {path} holds no certificates: {error}") from error


def stamp(house: House, authority: Authority, interval: timedelta) -> bool:
    """Have the newest checkpoint of a house stamped if it is not, and the last stamp is older than this; says whether
    it was.

    An authority that does not answer, or answers something else, is logged and asked again the next time.
    """
    newest = SignedCheckpoint.objects.filter(house=house).order_by("-epoch", "-size").first()
    last = TimeStamp.objects.filter(house=house).order_by("-epoch", "-size").first()
    if newest is None or (
        last is not None
        and ((last.epoch, last.size) >= (newest.epoch, newest.size) or timezone.now() - last.at < interval)
    ):
        return False
    try:
        response, at = _stamped(authority, newest.note)
    except (TimeStampWrong, OSError, http.client.HTTPException) as error:
        log.warning("%s has not stamped %s#%d: %s", authority.url, house.code, newest.size, error)
        return False
    _, created = TimeStamp.objects.get_or_create(
        house=house, epoch=newest.epoch, size=newest.size, defaults={"response": response, "at": at}
    )
    return created


def checked(response: bytes, note: str, certificates: Sequence[Certificate], nonce: int | None = None) -> datetime:
    """When a note was stamped, by the authority's clock. Raises TimeStampWrong for a response (DER of a TimeStampResp)
    that does not say so under one of the certificates, or not for this nonce of the request."""
    try:
        answer = decode_timestamp_response(response)
        verifier = VerifierBuilder(roots=list(certificates), nonce=nonce).build()
        verifier.verify(answer, hashlib.sha256(note.encode()).digest())
        if answer.tst_info.message_imprint.hash_algorithm != _SHA256:
            raise TimeStampWrong("it does not name SHA-256")
        return answer.tst_info.gen_time
    except (VerificationError, ValueError) as error:
        raise TimeStampWrong(str(error)) from error


def _stamped(authority: Authority, note: str) -> tuple[bytes, datetime]:
    """The answer of an authority, and when it was given. Raises TimeStampWrong, OSError, HTTPException."""
    asked = TimestampRequestBuilder().data(note.encode()).hash_algorithm(HashAlgorithm.SHA256).build()
    response = _posted(authority.url, asked.as_bytes())
    at = checked(response, note, authority.certificates, asked.nonce)
    now = timezone.now()
    if abs(at - now) > TOLERANCE:
        raise TimeStampWrong(f"its clock says {at.isoformat()}, ours {now.isoformat()}")
    return response, at


def _posted(url: str, body: bytes) -> bytes:
    request = urllib.request.Request(url, data=body, headers=_HEADERS)  # noqa: S310 - the setting allows HTTP(S) only
    with outward.sent(request, PATIENCE) as answer:
        found: bytes = answer.read(LARGEST + 1)
    if len(found) > LARGEST:
        raise TimeStampWrong(f"it answered more than {LARGEST} bytes")
    return found
