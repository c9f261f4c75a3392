"""Signatures of requests, AWS Signature Version 4, as published for S3: "Signature Calculations for the Authorization
Header: Transferring Payload in a Single Chunk" (Amazon S3 API Reference). Stores of others check the same."""

import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

_ALGORITHM = "AWS4-HMAC-SHA256"
_SIGNED = "host;x-amz-content-sha256;x-amz-date"


@dataclass(frozen=True, slots=True)
class Keys:
    """An access key: its name, and the secret."""

    name: str
    secret: str

    def __repr__(self) -> str:
        return f"Keys({self.name})"


def path_of(path: str) -> str:
    """A path as it is sent and signed: every byte but unreserved ones and slashes in percent."""
    return quote(path, safe="/-_.~")


def headers(
    keys: Keys, *, region: str, service: str, method: str, host: str, path: str, payload_sha256: str, at: datetime
) -> dict[str, str]:
    """The headers of a signed request without a query; `at` in UTC, `path` as `path_of` has it."""
    stamp = at.strftime("%Y%m%dT%H%M%SZ")
    scope = f"{stamp[:8]}/{region}/{service}/aws4_request"
    canonical = "\n".join((
        method, path, "", f"host:{host}", f"x-amz-content-sha256:{payload_sha256}", f"x-amz-date:{stamp}", "",
        _SIGNED, payload_sha256,
    ))  # fmt: skip
    to_sign = "\n".join((_ALGORITHM, stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{keys.secret}".encode()
    for part in (stamp[:8], region, service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    return {
        "Host": host,
        "x-amz-content-sha256": payload_sha256,
        "x-amz-date": stamp,
        "Authorization": f"{_ALGORITHM} Credential={keys.name}/{scope}, SignedHeaders={_SIGNED}, Signature={signature}",
    }
