"""A program that holds the log key and the seal key for the house, as an example and for one machine.

python -m deploy.key_command FOLDER init
python -m deploy.key_command FOLDER public-key | sign | key-id | wrap CONTEXT | unwrap CONTEXT

FOLDER holds `log_key` and `seal_key` (64 hex digits each, mode 0600) and belongs to a user of its own, so that the
processes of the house never hold a key: they name this program, behind `sudo -u USER`, as
`CASINO_LOG_KEY=command:...`. A program for a KMS or a PKCS#11 token answers the same verbs. Bytes go in and out raw.
"""

import argparse
import hashlib
import os
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12
WITH_CONTEXT = ("wrap", "unwrap")
VERBS = ("init", "public-key", "sign", "key-id", *WITH_CONTEXT)


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer one verb on standard output; 1 where it cannot be done."""
    parser = argparse.ArgumentParser(prog="python -m deploy.key_command", description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("verb", choices=VERBS)
    parser.add_argument("context", nargs="?")
    given = parser.parse_args(arguments)
    if (given.context is not None) != (given.verb in WITH_CONTEXT):
        parser.error(f"{' and '.join(WITH_CONTEXT)} take a context, the other verbs none")
    try:
        answer = answered(given.folder, given.verb, given.context or "")
    except (OSError, ValueError, InvalidTag) as error:
        print(f"{given.verb}: {type(error).__name__} {error}", file=sys.stderr)
        return 1
    sys.stdout.buffer.write(answer)
    return 0


def answered(folder: Path, verb: str, context: str) -> bytes:
    """The answer to a verb. Raises OSError, ValueError for a key file that holds none, InvalidTag for bytes that were
    not wrapped here with this context."""
    if verb == "init":
        return init(folder)
    if verb in ("public-key", "sign"):
        signing = Ed25519PrivateKey.from_private_bytes(_key(folder / "log_key"))
        return signing.public_key().public_bytes_raw() if verb == "public-key" else signing.sign(_given())
    key = _key(folder / "seal_key")
    if verb == "key-id":
        return hashlib.sha256(b"key_command " + key).hexdigest()[:16].encode()
    if verb == "wrap":
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + AESGCM(key).encrypt(nonce, _given(), context.encode())
    wrapped = _given()
    return AESGCM(key).decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], context.encode())


def init(folder: Path) -> bytes:
    """Make both keys. Raises FileExistsError where there is one."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in ("log_key", "seal_key"):
        descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{secrets.token_hex(32)}\n")
    return b""


def _key(path: Path) -> bytes:
    key = bytes.fromhex(path.read_text(encoding="ascii"))
    if len(key) != 32:
        raise ValueError(f"{path} does not hold 64 hex digits")
    return key


def _given() -> bytes:
    return sys.stdin.buffer.read()


if __name__ == "__main__":
    sys.exit(main())
