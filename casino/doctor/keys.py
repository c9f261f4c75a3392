"""Keys and secrets: whether they can be used, are those of this database, and are where they belong."""

from collections.abc import Iterator

from django.conf import settings
from django.db import DatabaseError

from casino.audit.signing import Signer
from casino.core import seal_key
from casino.core.errors import KeyUnavailable, SealedUnreadable, SealKeyWrong
from casino.doctor.findings import Finding, Level, ok
from casino.doctor.houses import looked_at
from casino.houses import sealing
from casino.houses.models import House

PART = "keys"
#: Characters, and different ones, that Django's signing key has at the least (its own check, security.W009).
LEAST, DIFFERENT = 50, 5


def secret_key() -> Iterator[Finding]:
    """Django's signing key is long enough to be random."""
    given = settings.SECRET_KEY
    if len(given) < LEAST or len(set(given)) < DIFFERENT or given.startswith("django-insecure"):
        yield _failure(
            "secret_key_weak",
            f"CASINO_SECRET_KEY has {len(given)} characters; {LEAST} random ones are expected.",
            "python -c 'import secrets; print(secrets.token_urlsafe(48))'",
        )
    else:
        yield ok(PART, "CASINO_SECRET_KEY is long enough")


def seal(house: str | None) -> Iterator[Finding]:
    """The seal key can be used, and opens the data keys of this house, or of all."""
    try:
        key = seal_key.configured().id
    except (ValueError, KeyUnavailable) as error:
        yield _failure("seal_key_unavailable", f"CASINO_SEAL_KEY: {error}", "See docs/how-to/keys.md.")
        return
    try:
        closed = {one.code: words for one in looked_at(house) if (words := _closed(one))}
    except DatabaseError as error:
        yield _failure("database_unreachable", f"The data keys cannot be read: {error}", "Mend the database first.")
        return
    for code, words in closed.items():
        yield _failure(
            "seal_key_differs", f"House {code}: {words}",
            "Give the house its own seal key again: what is sealed opens with no other.",
        )  # fmt: skip
    if not closed:
        yield ok(PART, f"the seal key {key} opens the data keys of every house")


def _closed(house: House) -> str:
    """Why a data key of the house does not open; empty where all do."""
    try:
        sealing.examine(house.id)
    except (SealKeyWrong, SealedUnreadable, KeyUnavailable) as error:
        return str(error)
    return ""


def log() -> Iterator[Finding]:
    """The log key is in the sequencer's environment alone, and can be used there."""
    if not settings.CASINO_LOG_KEY:
        yield Finding(PART, Level.NOTE, "no_log_key", "No log key here: right for all processes but the sequencer.")
        return
    try:
        Signer.from_settings().sign(b"doctor")
    except (ValueError, KeyUnavailable) as error:
        yield _failure("log_key_unavailable", f"CASINO_LOG_KEY: {error}", "See docs/how-to/keys.md.")
    else:
        yield ok(PART, "the log key signs; it must be in the sequencer's environment alone")


def _failure(code: str, words: str, remedy: str) -> Finding:
    return Finding(PART, Level.FAILURE, code, words, remedy)
