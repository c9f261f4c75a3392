"""What a house seals opens in its place only, and under the seal key that its data keys are wrapped under."""

import uuid
from pathlib import Path
from typing import Any

import pytest

from casino.core import sql
from casino.core.aead import decrypt
from casino.core.errors import SealedUnreadable, SealKeyWrong
from casino.houses import sealing
from casino.houses.models import DataKey
from tests.casino.kit import Kit


def test_what_is_sealed_opens_with_its_house_and_context_only(kit: Kit) -> None:
    house, data = kit.house.id, b"the cards of seat 3"
    sealed = sealing.seal(house, data, b"cards/T1-000001/3")
    assert data not in sealed
    assert sealing.unseal(house, sealed, b"cards/T1-000001/3") == data
    assert sealing.seal(house, data, b"cards/T1-000001/3") != sealed, "the nonce is another each time"
    with pytest.raises(SealedUnreadable):
        sealing.unseal(house, sealed, b"cards/T1-000001/4")
    with pytest.raises(SealedUnreadable):
        sealing.unseal(uuid.uuid4(), sealed, b"cards/T1-000001/3")


@pytest.mark.parametrize("other", [b"", b"\0" * 16, b"\0\0\0\1" + b"x" * 40, b"\0\0\0\2" + b"x" * 40])
def test_bytes_that_nobody_sealed_do_not_open(kit: Kit, other: bytes) -> None:
    with pytest.raises(SealedUnreadable):
        sealing.unseal(kit.house.id, other, b"seed")


def test_a_new_process_unwraps_the_data_key_again(kit: Kit) -> None:
    sealed = sealing.seal(kit.house.id, b"seed", b"here")
    sealing.forget()
    assert sealing.unseal(kit.house.id, sealed, b"here") == b"seed"


def test_another_seal_key_is_refused_by_name(kit: Kit, settings: Any) -> None:
    sealed = sealing.seal(kit.house.id, b"seed", b"here")
    sealing.forget()
    settings.CASINO_SEAL_KEY = f"hex:{'5e' * 32}"
    with pytest.raises(SealKeyWrong, match=DataKey.objects.get(house=kit.house).seal_key):
        sealing.unseal(kit.house.id, sealed, b"here")


def test_the_data_key_is_stored_wrapped_and_nothing_opens_without_unwrapping_it(kit: Kit, settings: Any) -> None:
    row = DataKey.objects.get(house=kit.house)
    context = sealing.wrapping_context(kit.house.id, 1)
    settings.CASINO_SEAL_KEY = f"hex:{Path(settings.CASINO_SEAL_KEY.removeprefix('file:')).read_text().strip()}"
    key = decrypt(bytes.fromhex(settings.CASINO_SEAL_KEY[4:]), bytes(row.wrapped), context)
    assert key not in bytes(row.wrapped)
    sealed = sealing.seal(kit.house.id, b"seed", b"here")
    assert decrypt(key, sealed[4:], f"cukassza sealed v1/{kit.house.id}/1/here".encode()) == b"seed"


def test_the_application_neither_changes_nor_deletes_data_keys(kit: Kit) -> None:
    for statement in ("UPDATE houses_datakey SET wrapped = '\\x00'", "DELETE FROM houses_datakey"):
        with pytest.raises(Exception, match="permission denied"):
            sql.change(f"{statement} WHERE house_id = %s", [kit.house.id])
