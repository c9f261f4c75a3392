"""The refusals of the house, as one tree of typed errors; the API turns each into one problem document (RFC 9457).

    HouseError                     code, status, detail, extra members
    ├── NotFound                   404 not_found
    ├── Gone                       410, one code for each thing that can be destroyed
    ├── Forbidden                  403 forbidden
    │   └── WrongTerminal          403 wrong_terminal
    ├── BadRequest                 400 invalid_request
    ├── PreconditionRequired       428 precondition_required
    ├── VersionConflict            412 version_conflict
    ├── IdempotencyKeyReused       422 idempotency_key_reused
    ├── Conflict                   409, one code for each state that does not allow the operation
    ├── Unprocessable              422, one code for each input that is well formed but cannot be
    ├── TooManyAttempts            429 too_many_attempts
    ├── LogRefused                 503, the audit log cannot be trusted: nothing is written until people have decided
    │   ├── LogRolledBack          503 log_rolled_back
    │   ├── LogDamaged             503 log_damaged
    │   ├── OutsideCheckpointMissing     503 outside_checkpoint_missing
    │   └── OutsideCheckpointUnreadable  503 outside_checkpoint_unreadable
    ├── ArchiveUnreadable          503 archive_unreadable
    ├── TooManyStreams             429 too_many_streams (`live/errors.py`)
    ├── StreamsFull                503 streams_full (`live/errors.py`)
    ├── DatabaseUnavailable        503 database_unavailable (`core/lost.py`)
    ├── OutcomeUnknown             503 outcome_unknown (`core/lost.py`)
    ├── Busy                       503 busy (`core/patience.py`)
    ├── KeyUnavailable             503 key_unavailable
    ├── SealKeyWrong               503 seal_key_wrong
    ├── SealKeyRetired             503 seal_key_retired
    └── ProofFailed                500, books and hands disagree: nothing is written, people must look
        └── SealedUnreadable       500 proof_failed, sealed bytes do not open where they stand
            └── CardsAltered       (hands), those of face-down cards

Engine and ledger have their own trees with the same `code` attribute; `api/problems.py` maps all three.
"""

from typing import Any


class HouseError(Exception):
    """Base of all refusals of the house. `code` is stable; `detail` says what was expected."""

    status = 500
    code = "house_error"

    def __init__(self, detail: str, *, code: str | None = None, **extra: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or type(self).code
        self.extra = extra


class NotFound(HouseError):
    """The house has nothing with this name or number."""

    status, code = 404, "not_found"


class Gone(HouseError):
    """It existed and has been destroyed."""

    status, code = 410, "gone"


class Forbidden(HouseError):
    """The signed-in person may not do this."""

    status, code = 403, "forbidden"


class WrongTerminal(Forbidden):
    """The token belongs to a terminal at another place."""

    code = "wrong_terminal"


class BadRequest(HouseError):
    """The request cannot be read."""

    status, code = 400, "invalid_request"


class PreconditionRequired(HouseError):
    """A write came without If-Match or Idempotency-Key."""

    status, code = 428, "precondition_required"


class VersionConflict(HouseError):
    """If-Match names another version than the current one."""

    status, code = 412, "version_conflict"


class IdempotencyKeyReused(HouseError):
    """An Idempotency-Key came again with another request."""

    status, code = 422, "idempotency_key_reused"


class Conflict(HouseError):
    """The state does not allow the operation."""

    status, code = 409, "conflict"


class Unprocessable(HouseError):
    """Well formed, but not possible."""

    status, code = 422, "unprocessable"


class TooManyAttempts(HouseError):
    """Signing in, or showing wrong keys of seats, is locked for `retry_after` seconds."""

    status, code = 429, "too_many_attempts"


class ProofFailed(HouseError):
    """Two records of the same fact disagree; nothing was written."""

    status, code = 500, "proof_failed"


class SealedUnreadable(ProofFailed):
    """Sealed bytes that do not open: they, their place or their key are others."""


class KeyUnavailable(HouseError):
    """The log key or the seal key cannot be used: its file cannot be read, or its command fails."""

    status, code = 503, "key_unavailable"


class SealKeyWrong(HouseError):
    """The house's data keys are wrapped under another seal key than the one that this process has."""

    status, code = 503, "seal_key_wrong"


class SealKeyRetired(HouseError):
    """A house of this installation was rotated away from this seal key: no new data key is wrapped under it."""

    status, code = 503, "seal_key_retired"


class LogRefused(HouseError):
    """The audit log was changed or rolled back; the house writes nothing until people have decided."""

    status, code = 503, "log_refused"


class LogRolledBack(LogRefused):
    """The database's log is shorter than a checkpoint outside it, or another one: a backup was restored, or worse."""

    code = "log_rolled_back"


class LogDamaged(LogRefused):
    """The log's own parts do not fit each other."""

    code = "log_damaged"


class ArchiveUnreadable(HouseError):
    """No folder has the archive with the text of an event, or it is not the one that was made."""

    status, code = 503, "archive_unreadable"


class OutsideCheckpointMissing(LogRefused):
    """The log has checkpoints, but a folder outside the database has none."""

    code = "outside_checkpoint_missing"


class OutsideCheckpointUnreadable(LogRefused):
    """A file of checkpoints outside the database is damaged."""

    code = "outside_checkpoint_unreadable"
