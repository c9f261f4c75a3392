"""Who signs checkpoints: an Ed25519 key that the sequencer's process alone has."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from casino.audit.notes import Checkpoint, Key, note_text
from casino.houses.models import House


class Signer:
    """Signs under a name of each house's log."""

    def __init__(self, seed: bytes) -> None:
        """From an Ed25519 seed of 32 bytes (RFC 8032)."""
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self._private.public_key().public_bytes_raw()

    @classmethod
    def from_settings(cls) -> "Signer":
        """With the key of `CASINO_LOG_KEY`. Raises ImproperlyConfigured."""
        try:
            return cls(bytes.fromhex(settings.CASINO_LOG_KEY))
        except ValueError as error:
            raise ImproperlyConfigured(
                "CASINO_LOG_KEY is the seed that signs checkpoints: 64 hex digits, in the sequencer's environment only."
            ) from error

    def key(self, house: House) -> Key:
        """The key that verifies the notes of this house."""
        return Key(key_name(house), self.public)

    def note(self, house: House, checkpoint: Checkpoint) -> str:
        """The signed note of a checkpoint."""
        return note_text(checkpoint, self.key(house), self._private.sign(checkpoint.text.encode()))


def key_name(house: House) -> str:
    """Name of the key that signs a house's log, in notes and vkeys: the house's code, as far as they can carry it, and
    8 digits of its id."""
    plain = "".join(one if one.isascii() and (one.isalnum() or one in "-_.") else "_" for one in house.code)
    return f"cukassza/{plain}-{str(house.id)[:8]}"


def label(house: House) -> str:
    """What identifies a house's log in names of files: the last part of its key's name."""
    return key_name(house).rpartition("/")[2]


def origin(house: House, epoch: int) -> str:
    """First line of a checkpoint: which log, and which epoch of it."""
    return f"{key_name(house)}/{epoch}"
