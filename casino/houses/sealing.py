"""Sealed bytes: AES-256-GCM under a data key of the house, which is wrapped under the seal key.

    wrapped = SealKey.wrap(data key of 32 random bytes, "cukassza data key v1/HOUSE/NUMBER")
    sealed  = NUMBER(4, big-endian) || nonce(12) || AES-256-GCM(data key, data,
                                                               AAD = "cukassza sealed v1/HOUSE/NUMBER/" || context)

HOUSE is the house's UUID, NUMBER counts its data keys from 1. `context` says what the data are and where they stand, so
that bytes which were moved to another row cannot be opened. The newest data key seals, every one opens. Rotation of the
seal key wraps the data keys again and begins a new one (`casino/audit/resealing.py`).

    keyed   = HMAC-SHA256(data key 1, "cukassza keyed v1/HOUSE/" || context || 0 || data)

What is keyed is compared, never opened: the same data give the same bytes in this house for ever, and other bytes in
any other one.

A process keeps data keys that it has unwrapped: one statement, and one call of the seal key, for each of them.
"""

import hmac
from time import monotonic
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS

from casino.core import seal_key, sql
from casino.core.aead import NONCE_BYTES, decrypt, encrypt, new_key
from casino.core.errors import SealedUnreadable, SealKeyRetired, SealKeyWrong
from casino.core.seal_key import SealKey
from casino.houses.models import DataKey

NUMBER_BYTES = 4
#: The data key that keys, through every rotation.
_FIRST = 1
#: Seconds for which a process seals under the data key that was the newest.
GOOD_FOR = 60.0

#: Data keys are begun one after the other, in all houses.
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('data keys begin', 0))"

#: Data keys by house and number.
_keys: dict[tuple[UUID, int], bytes] = {}
#: By house the number of its newest data key, and when it was read.
_newest: dict[UUID, tuple[int, float]] = {}


def seal(house: UUID, data: bytes, context: bytes) -> bytes:
    """Seal data of a house under its newest data key. Raises SealKeyWrong, SealedUnreadable."""
    number = _newest_number(house)
    return number.to_bytes(NUMBER_BYTES) + encrypt(_key(house, number), data, _context(house, number, context))


def unseal(house: UUID, sealed: bytes | memoryview, context: bytes) -> bytes:
    """What was sealed for this house with this context. Raises SealKeyWrong, and SealedUnreadable where bytes, house or
    context are others."""
    sealed = bytes(sealed)
    if len(sealed) <= NUMBER_BYTES + NONCE_BYTES:
        raise SealedUnreadable("What is sealed is too short.")
    number = int.from_bytes(sealed[:NUMBER_BYTES])
    return decrypt(_key(house, number), sealed[NUMBER_BYTES:], _context(house, number, context))


def keyed(house: UUID, data: bytes, context: bytes) -> bytes:
    """32 bytes by which the house finds the same data again; `context`, without a zero byte, says what for. Who has no
    seal key cannot try data against them. Raises SealKeyWrong, SealedUnreadable."""
    named = f"cukassza keyed v1/{house}/".encode() + context + b"\0"
    return hmac.digest(_key(house, _FIRST), named + data, "sha256")


def begin(house: UUID, number: int, key: SealKey, *, using: str = DEFAULT_DB_ALIAS, retired: str = "") -> None:
    """Make the house's data key of this number, wrapped under `key`; `retired` names the seal key that a rotation
    replaces by it. Raises SealKeyRetired where any house was rotated away from `key`, KeyUnavailable."""
    sql.rows(_LOCK, (), using)  # no house is rotated away from the key meanwhile
    if DataKey.objects.using(using).filter(retired_seal_key=key.id).exists():
        raise SealKeyRetired(
            f"The seal key {key.id} was rotated away from and wraps no new data key: set CASINO_SEAL_KEY to the key "
            "that replaced it."
        )
    wrapped = key.wrap(new_key(), wrapping_context(house, number))
    DataKey.objects.using(using).create(
        house_id=house, number=number, seal_key=key.id, wrapped=wrapped, retired_seal_key=retired
    )


def examine(house: UUID) -> int:
    """Unwrap every data key of the house once more, and return how many it has. Raises SealKeyWrong, SealedUnreadable,
    KeyUnavailable."""
    forget()
    numbers = list(DataKey.objects.filter(house_id=house).values_list("number", flat=True))
    for number in numbers:
        _key(house, number)
    return len(numbers)


def wrapping_context(house: UUID, number: int) -> bytes:
    """What a wrapped data key is bound to."""
    return f"cukassza data key v1/{house}/{number}".encode()


def forget() -> None:
    """Read and unwrap every data key again, as a new process would."""
    _keys.clear()
    _newest.clear()


def _context(house: UUID, number: int, context: bytes) -> bytes:
    return f"cukassza sealed v1/{house}/{number}/".encode() + context


def _newest_number(house: UUID) -> int:
    number, read = _newest.get(house, (0, 0.0))
    if not number or monotonic() - read > GOOD_FOR:
        found = DataKey.objects.filter(house=house).order_by("-number").values_list("number", flat=True).first()
        if found is None:
            raise SealedUnreadable("The house has no data key; found_house makes the first one.")
        number = found
        _newest[house] = number, monotonic()
    return number


def _key(house: UUID, number: int) -> bytes:
    found = _keys.get((house, number))
    if found is None:
        row = DataKey.objects.filter(house=house, number=number).first()
        if row is None:
            raise SealedUnreadable(f"The house has no data key {number}.")
        key = seal_key.configured(row.seal_key)
        if row.seal_key != key.id:
            raise SealKeyWrong(
                f"The house's data keys are wrapped under the seal key {row.seal_key}; this is {key.id}."
            )
        found = key.unwrap(bytes(row.wrapped), wrapping_context(house, number))
        _keys[house, number] = found
    return found


sql.forget_with_each_connection(forget)
