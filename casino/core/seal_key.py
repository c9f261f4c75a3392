"""The seal key: it encrypts data keys and nothing else (a key-encryption key).

What a house seals is sealed under its data keys (`casino/houses/sealing.py`). Another seal key means that the data
keys are wrapped again; nothing that they seal is touched.
"""

import hashlib
import hmac
import re
from functools import cached_property
from typing import Protocol

from django.conf import settings

from casino.core import key_sources
from casino.core.aead import KEY_BYTES, decrypt, encrypt
from casino.core.errors import KeyUnavailable
from casino.core.key_sources import KeyCommand

#: Bytes of a wrapped key.
LONGEST = 4096


class SealKey(Protocol):
    """Wraps data keys of 32 bytes."""

    @property
    def id(self) -> str:
        """Names the key in rows and events, and says nothing about it: 1 to 120 visible ASCII characters."""

    def wrap(self, key: bytes, context: bytes) -> bytes:
        """A data key, encrypted and bound to a context."""

    def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        """A data key again. Raises SealedUnreadable where key, context or bytes are others, KeyUnavailable."""


class LocalSealKey:
    """A seal key that this process holds: 32 bytes, AES-256-GCM."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.id = hmac.digest(key, b"cukassza seal key id v1", hashlib.sha256).hex()[:16]

    def wrap(self, key: bytes, context: bytes) -> bytes:
        """Nonce and ciphertext."""
        return encrypt(self._key, key, context)

    def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        """Raises SealedUnreadable."""
        return decrypt(self._key, wrapped, context)


class CommandSealKey:
    """A seal key that a program holds: `key-id`, `wrap CONTEXT` and `unwrap CONTEXT`."""

    def __init__(self, command: KeyCommand) -> None:
        self._command = command

    @cached_property
    def id(self) -> str:
        """What the program calls its key. Raises KeyUnavailable."""
        found = self._command.ask("key-id").decode(errors="replace").removesuffix("\n")
        if not re.fullmatch(r"[!-~]{1,120}", found):
            raise KeyUnavailable(f"key-id is 1 to 120 visible ASCII characters; the command answered {found[:120]!r}.")
        return found

    def wrap(self, key: bytes, context: bytes) -> bytes:
        """What the program makes of the key, once it has also given the key back. Raises KeyUnavailable."""
        wrapped = self._command.ask("wrap", context.decode(), given=key)
        if not 0 < len(wrapped) <= LONGEST or key in wrapped:
            raise KeyUnavailable(f"wrap answers 1 to {LONGEST} bytes, without the key in them.")
        if self.unwrap(wrapped, context) != key:
            raise KeyUnavailable("The command has wrapped a key and unwraps another one.")
        return wrapped

    def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        """What the program unwraps. Raises KeyUnavailable."""
        key = self._command.ask("unwrap", context.decode(), given=wrapped)
        if len(key) != KEY_BYTES:
            raise KeyUnavailable(f"unwrap answers {KEY_BYTES} bytes; the command answered {len(key)}.")
        return key


def configured(wanted: str = "") -> SealKey:
    """The key of `CASINO_SEAL_KEY`; the one of `CASINO_SEAL_KEY_OLD` where that, and only that, is `wanted` by its id.
    Raises KeyUnavailable."""
    key = named(settings.CASINO_SEAL_KEY)
    if wanted and wanted != key.id and (old := old_configured()) is not None and old.id == wanted:
        return old
    return key


def old_configured() -> SealKey | None:
    """The key of `CASINO_SEAL_KEY_OLD`, None where it is not set. Raises KeyUnavailable."""
    return named(settings.CASINO_SEAL_KEY_OLD) if settings.CASINO_SEAL_KEY_OLD else None


def named(text: str) -> SealKey:
    """The key that the text of a setting names. Raises ValueError, KeyUnavailable."""
    source = key_sources.parse(text)
    return CommandSealKey(source) if isinstance(source, KeyCommand) else LocalSealKey(source.read())
