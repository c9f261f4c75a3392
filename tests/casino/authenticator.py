"""An authenticator in software: it makes passkeys (ES256) and signs with them as WebAuthn's level 2 has it, or wrongly
on purpose."""

import hashlib
import json
import os
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

ORIGIN = "http://localhost"
#: Bytes of a signature: as long every time, so that examples do not change; most are.
LENGTH = 71
#: Bits of the flags: somebody is there, somebody was verified, a new passkey is in it.
PRESENT, VERIFIED, NEW = 0x01, 0x04, 0x40


def base64url(content: bytes) -> str:
    """Without padding."""
    return urlsafe_b64encode(content).rstrip(b"=").decode()


@dataclass
class Authenticator:
    """One passkey in an authenticator that counts its signatures, unless `counts` is false."""

    counts: bool = True
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    id: bytes = field(default_factory=lambda: os.urandom(32))
    count: int = 0
    user: str = ""

    @property
    def credential(self) -> str:
        """The authenticator's name for the passkey."""
        return base64url(self.id)

    @property
    def name(self) -> str:
        """What the trail calls it."""
        return hashlib.sha256(self.credential.encode()).hexdigest()

    def make(self, asked: dict[str, Any], **wrong: Any) -> dict[str, Any]:
        """The answer to what a new passkey was asked for with."""
        self.user = asked["user"]
        data = self._data(asked, wrong, NEW) + bytes(16) + len(self.id).to_bytes(2, "big") + self.id + self._public()
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return {
            "credential": self.credential, "client_data": base64url(_client_data("webauthn.create", asked, wrong)),
            "attestation": base64url(attestation),
        }  # fmt: skip

    def sign(self, asked: dict[str, Any], **wrong: Any) -> dict[str, Any]:
        """The answer to what a signature was asked for with. What is `wrong`: `origin`, `host`, `flags`, `count`,
        `kind`, `challenge`, `user`, `signature`, `cross`."""
        self.count += int(self.counts)
        data, client = self._data(asked, wrong), _client_data(wrong.get("kind", "webauthn.get"), asked, wrong)
        signed = b""
        while len(signed) != LENGTH:
            signed = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return {
            "credential": self.credential, "client_data": base64url(client), "authenticator_data": base64url(data),
            "signature": wrong.get("signature", base64url(signed)), "user_handle": wrong.get("user", self.user),
        }  # fmt: skip

    def _data(self, asked: dict[str, Any], wrong: dict[str, Any], flags: int = 0) -> bytes:
        host = hashlib.sha256(wrong.get("host", asked["host"]).encode()).digest()
        flags |= wrong.get("flags", PRESENT | VERIFIED)
        return host + bytes([flags]) + wrong.get("count", self.count).to_bytes(4, "big")

    def _public(self) -> bytes:
        numbers = self.key.public_key().public_numbers()
        x, y = (number.to_bytes(32, "big") for number in (numbers.x, numbers.y))
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})


def _client_data(kind: str, asked: dict[str, Any], wrong: dict[str, Any]) -> bytes:
    return json.dumps({
        "type": kind, "challenge": wrong.get("challenge", asked["challenge"]), "origin": wrong.get("origin", ORIGIN),
        "crossOrigin": wrong.get("cross", False),
    }).encode()  # fmt: skip
