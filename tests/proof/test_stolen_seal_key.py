"""The procedure for a stolen seal key, drilled end to end (docs/how-to/keys.md).

The thief knows what `casino/houses/sealing.py` and `casino/hands/face_down.py` say about sealed bytes, and has the
stolen key, a copy of the rows from before the rotation, and every row after it. The copy is a transaction that began
before the rotation, so that it surely holds the rows as they were.
"""

import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.core.management import call_command

from casino.core.errors import SealKeyWrong
from casino.hands import selectors
from casino.hands.models import Hand
from casino.houses import sealing
from casino.verification import auditing
from engine.deal.shuffle import commitment
from tests.casino.hands.test_voiding import REASON, floor
from tests.casino.kit import Desk, Kit
from tests.casino.signers import two_people, typed
from tests.casino.trick_hands import last_hand

ANNA = {"name": "Anna", "born": "1980-02-29", "document": "987654XY", "address": "Budapest"}
_DATA_KEYS = "SELECT number, wrapped FROM houses_datakey WHERE house_id = %s ORDER BY number"
_LINES = """
SELECT l.seq, l.text, l.sealed FROM hands_handline l JOIN hands_hand h ON h.id = l.hand_id
WHERE h.house_id = %s AND h.name = %s AND l.hash <> '' ORDER BY l.seq
"""
_DEAL = "SELECT sealed_seed, commitment FROM hands_deal WHERE house_id = %s AND name = %s"
_PERSON_KEY = """
SELECT k.wrapped FROM players_personkey k JOIN players_player p ON p.id = k.player_id
WHERE p.house_id = %s AND p.ref = %s
"""
_PERSON = """
SELECT o.version, o.sealed FROM players_person o JOIN players_player p ON p.id = o.player_id
WHERE p.house_id = %s AND p.ref = %s ORDER BY o.version DESC LIMIT 1
"""


def opened(key: bytes, sealed: bytes, context: str) -> bytes | None:
    """What AES-256-GCM opens; None where key, bytes or context are others."""
    try:
        return AESGCM(key).decrypt(sealed[:12], sealed[12:], context.encode())
    except InvalidTag:
        return None


@dataclass
class Thief:
    """Somebody with the seal key of a house, and with the data keys that it has unwrapped so far."""

    house: str
    key: bytes
    data_keys: dict[int, bytes] = field(default_factory=dict)

    def unwrap(self, rows: psycopg.Connection[Any]) -> list[int]:
        """Unwrap what the stolen key opens of these rows' data keys; returns their numbers."""
        unwrapped = {
            number: key
            for number, wrapped in rows.execute(_DATA_KEYS, [self.house])
            if (key := opened(self.key, wrapped, f"cukassza data key v1/{self.house}/{number}"))
        }
        self.data_keys |= unwrapped
        return sorted(unwrapped)

    def unseal(self, sealed: bytes, context: str) -> bytes | None:
        """Sealed bytes, with the data key that they name, or with any that the thief has."""
        number = int.from_bytes(sealed[:4])
        found = [
            opened(key, sealed[4:], f"cukassza sealed v1/{self.house}/{number}/{context}")
            for key in (self.key, *self.data_keys.values())
        ]
        return next((one for one in found if one is not None), None)

    def lines(self, rows: psycopg.Connection[Any], hand: str) -> dict[int, str | None]:
        """The lines with face-down cards of a hand, by their numbers; None where they stay shut."""
        found = {}
        for seq, text, sealed in rows.execute(_LINES, [self.house, hand]):
            line = self.unseal(sealed, f"line/{hand}/{seq}/{text}")
            found[seq] = line and line[32:].decode()
        assert found, hand
        return found

    def seed(self, rows: psycopg.Connection[Any], deal: str) -> bytes | None:
        """The seed of a prepared deal, from which its whole deck follows."""
        [(sealed, committed)] = rows.execute(_DEAL, [self.house, deal]).fetchall()
        seed = self.unseal(sealed, f"seed/{deal}")
        assert seed is None or commitment(seed, deal) == committed
        return seed

    def person(self, rows: psycopg.Connection[Any], ref: str) -> dict[str, str] | None:
        """The newest record of a person."""
        [(wrapped,)] = rows.execute(_PERSON_KEY, [self.house, ref]).fetchall()
        key = self.unseal(wrapped, f"person key/{ref}")
        [(version, sealed)] = rows.execute(_PERSON, [self.house, ref]).fetchall()
        found = key and opened(key, sealed, f"cukassza person v1/{self.house}/{ref}/{version}")
        return json.loads(found) if found else None


@pytest.fixture
def stolen(live_db: None, settings: Any) -> Iterator[bytes]:
    """A seal key of the test's own, which a thief has too; it is set before the house is founded."""
    key = secrets.token_bytes(32)
    settings.CASINO_SEAL_KEY = f"hex:{key.hex()}"
    sealing.forget()
    yield key
    sealing.forget()


@pytest.fixture
def copy(stolen: bytes) -> Iterator[psycopg.Connection[Any]]:
    """Reads rows as they are when it reads first."""
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"]) as found:
        found.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield found
        found.rollback()


@pytest.fixture
def live(stolen: bytes) -> Iterator[psycopg.Connection[Any]]:
    """Reads rows as they are now."""
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as found:
        yield found


def folded_hand(kit: Kit, dealer: Desk, actors: tuple[int, ...]) -> Hand:
    """An electronic hand in which everybody but the first has folded, settled; `actors` in the order of play."""
    dealer.deal()
    dealer.act(f"p{actors[0]} po 100")
    for seat in actors[1:]:
        dealer.act(f"p{seat} f")
    assert kit.settle() == ["settled"]
    dealer.refresh()
    return last_hand(kit)


def face_down_lines(hand: Hand) -> dict[int, str]:
    """What the house itself opens."""
    return {number: line for number, line in enumerate(selectors.log(hand), start=1) if line.startswith("d dh ")}


def test_a_stolen_seal_key_opens_nothing_that_is_written_after_the_rotation(
    stolen: bytes, copy: psycopg.Connection[Any], live: psycopg.Connection[Any], kit: Kit, settings: Any
) -> None:
    two_people(kit)
    kit.table()
    dealer, cashier = kit.seated(), kit.cashier()
    kit.players("anna", "bela")
    before = folded_hand(kit, dealer, (1, 2, 3, 4))
    cashier.ok("/api/v1/players/anna/person", {"person": ANNA, "reason": "first_record"}, version=1)
    dealer.ok("deal")
    prepared = dealer.get("deal").json()["hand"]

    # The premise: the stolen key and a copy open every face-down card, the deck of the next hand, and the person.
    thief = Thief(str(kit.house.id), stolen)
    assert thief.unwrap(copy) == [1]
    assert thief.lines(copy, before.name) == face_down_lines(before)
    assert thief.seed(copy, prepared) is not None
    assert thief.person(copy, "anna") == ANNA

    # The page: rotate, abandon the prepared deals, start the processes again without the old key.
    settings.CASINO_SEAL_KEY_OLD, settings.CASINO_SEAL_KEY = settings.CASINO_SEAL_KEY, f"hex:{secrets.token_hex(32)}"
    with typed():
        call_command("rotate_seal_key", kit.house.code, reason="the key was stolen")
    floor(kit).ok("deal/abandon", REASON)
    stolen_setting, settings.CASINO_SEAL_KEY_OLD = settings.CASINO_SEAL_KEY_OLD, ""
    sealing.forget()
    dealer.refresh()
    after = folded_hand(kit, dealer, (1, 2, 3, 4))
    cashier.ok("/api/v1/players/bela/person", {"person": ANNA, "reason": "first_record"}, version=1)
    dealer.ok("deal")

    # The key alone opens no data key of the live rows: a thief without a copy has nothing.
    alone = Thief(str(kit.house.id), stolen)
    assert alone.unwrap(live) == []
    for hand in (before, after):
        assert set(alone.lines(live, hand.name).values()) == {None}
    assert alone.person(live, "anna") is alone.person(live, "bela") is None

    # With the copy, too, it opens nothing that was written since.
    assert thief.unwrap(live) == []
    assert set(thief.lines(live, after.name).values()) == {None}
    assert thief.seed(live, dealer.get("deal").json()["hand"]) is None
    assert thief.person(live, "bela") is None

    # What remains, as the page says: the copy, what was sealed before, and new records of a person of the copy.
    assert thief.lines(live, before.name) == thief.lines(copy, before.name) == face_down_lines(before)
    corrected = ANNA | {"document": "111111ZZ"}
    cashier.ok("/api/v1/players/anna/person", {"person": corrected, "reason": "correction"}, version=2)
    assert thief.person(live, "anna") == corrected

    # The house opens everything; a process that still has the stolen key is refused.
    assert face_down_lines(after)
    assert auditing.verify_house(kit.house).findings == []
    settings.CASINO_SEAL_KEY = stolen_setting
    sealing.forget()
    with pytest.raises(SealKeyWrong):
        selectors.log(before)
