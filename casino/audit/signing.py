"""Who signs checkpoints: an Ed25519 key that the sequencer's process alone has, or may ask to sign."""

from typing import Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from casino.audit.notes import Checkpoint, Key, note_text
from casino.core import key_sources
from casino.core.errors import KeyUnavailable
from casino.core.key_sources import KeyCommand
from casino.houses.models import House


class SigningKey(Protocol):
    """An Ed25519 key (RFC 8032)."""

    @property
    def public(self) -> bytes:
        """The public key, 32 bytes."""

    def sign(self, message: bytes) -> bytes:
        """A good signature over a message, 64 bytes. Raises KeyUnavailable."""


class LocalSigningKey:
    """A key that this process holds."""

    def __init__(self, seed: bytes) -> None:
        """From an Ed25519 seed of 32 bytes."""
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self._private.public_key().public_bytes_raw()

    def sign(self, message: bytes) -> bytes:
        """A signature over a message."""
        return self._private.sign(message)


class CommandSigningKey:
    """A key that a program holds: `public-key` and `sign`. No signature is used before it was verified."""

    def __init__(self, command: KeyCommand) -> None:
        """Asks for the public key. Raises KeyUnavailable."""
        self._command = command
        self.public = command.ask("public-key")
        try:
            self._verifying = Ed25519PublicKey.from_public_bytes(self.public)
        except ValueError as error:
            raise KeyUnavailable(
                f"public-key answers the 32 bytes of an Ed25519 key; the command answered {len(self.public)}."
            ) from error

    def sign(self, message: bytes) -> bytes:
        """What the program answers, if it is a good signature. Raises KeyUnavailable."""
        signature = self._command.ask("sign", given=message)
        try:
            self._verifying.verify(signature, message)
        except InvalidSignature as error:
            raise KeyUnavailable(
                f"sign answers an Ed25519 signature of 64 bytes by its public key; the command answered "
                f"{len(signature)} bytes that are none."
            ) from error
        return signature


class Signer:
    """Signs under a name of each house's log."""

    def __init__(self, key: SigningKey) -> None:
        self._key = key

    @classmethod
    def from_settings(cls) -> "Signer":
        """With the key of `CASINO_LOG_KEY`. Raises ImproperlyConfigured, KeyUnavailable."""
        if not settings.CASINO_LOG_KEY:
            raise ImproperlyConfigured(
                "CASINO_LOG_KEY names the key that signs checkpoints, in the sequencer's environment only."
            )
        return cls.named(settings.CASINO_LOG_KEY)

    @classmethod
    def old_from_settings(cls) -> "Signer | None":
        """With the key of `CASINO_LOG_KEY_OLD`, None where it is not set. Raises KeyUnavailable."""
        return cls.named(settings.CASINO_LOG_KEY_OLD) if settings.CASINO_LOG_KEY_OLD else None

    @classmethod
    def named(cls, text: str) -> "Signer":
        """With the key that the text of a setting names. Raises ValueError, KeyUnavailable."""
        source = key_sources.parse(text)
        return cls(CommandSigningKey(source) if isinstance(source, KeyCommand) else LocalSigningKey(source.read()))

    @property
    def public(self) -> bytes:
        """The public key, 32 bytes."""
        return self._key.public

    def sign(self, message: bytes) -> bytes:
        """A good signature over a message, 64 bytes. Raises KeyUnavailable."""
        return self._key.sign(message)

    def key(self, house: House) -> Key:
        """The key that verifies the notes of this house."""
        return Key(key_name(house), self.public)

    def note(self, house: House, checkpoint: Checkpoint) -> str:
        """The signed note of a checkpoint. Raises KeyUnavailable."""
        signatures = (self.sign(text.encode()) for text in (checkpoint.text, checkpoint.timed_text))
        return note_text(checkpoint, self.key(house), *signatures)


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
