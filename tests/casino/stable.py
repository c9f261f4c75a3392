"""Values that differ from run to run, made the same in every run: ids, moments, hashes, keys and tokens become others
of the same form. The same value is the same again wherever it stands, so that examples fit together."""

import csv
import hashlib
import io
import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from typing import Any
from uuid import UUID

from casino.core import canonical

#: Names of numbers that PostgreSQL draws from a sequence, and what they count: each has numbers of its own.
NUMBERS = {
    "account": "account",  # in the file of the whole book; elsewhere accounts have their codes
    "transaction": "transaction", "tx": "transaction", "transaction_id": "transaction", "reverses": "transaction",
    "entry": "entry", "posting": "transaction", "settlement": "transaction",
}  # fmt: skip
#: Names of secrets, random text in URL-safe base64.
SECRETS = frozenset({
    *("token", "key", "terminal_key"),
    *("challenge", "credential", "credentials", "client_data", "authenticator_data", "signature", "attestation"),
    *("user", "user_handle"),
})  # fmt: skip
#: Names of ids of keys: the first digits of a hash.
KEY_IDS = frozenset({"seal_key"})
MOMENT = "2026-11-21T20:00:00"
#: Bytes of a package.
SIZE = 40_960

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(\.\d+)?")
_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
#: Hashes in hex; roots, signatures and keys of signed notes in base64.
_DIGEST = re.compile(r"(?<![\w+/-])(?:(?P<hex>[0-9a-f]{64}|[0-9a-f]{32})(?![\w+/=-])|(?P<base64>[A-Za-z0-9+/]{43,}=+))")
_VERIFIER_KEY = re.compile(r"\+[0-9a-f]{8}\+(?P<base64>[A-Za-z0-9+/]{44})")
_SECRET = re.compile(r"[\w-]{40,}", re.ASCII)
#: The name of a log: its house, and the beginning of the house's id.
_LOG = re.compile(r"\bHOUSE-[0-9a-f]{8}\b")
#: Secrets of second factors, alone and in the addresses that apps read, and their codes.
_FACTOR = re.compile(r"\b[A-Z2-7]{32}\b")
_CODE = re.compile(r"[0-9]{6}")
#: Passwords that the house has made up.
_PASSWORD = re.compile(r"[\w-]{16}", re.ASCII)
_CURSOR = re.compile(r"(?<=cursor=)[\w%-]+")
#: A statement, which is named by the newest ledger transaction that it has, and by what protects the player.
_STATEMENT = re.compile(r"(statement/.*/)(\d+)(-[0-9a-f]{8})?")


class Stable:
    """The stable values of one evening at a house, numbered in the order in which they are met."""

    def __init__(self, house: str) -> None:
        self.house = house
        self._met: dict[str, dict[Any, int]] = {}

    def value(self, value: Any, name: str = "") -> Any:
        """A JSON value with its unstable parts replaced; `name` is that of the member it stands in."""
        if isinstance(value, dict):
            return self._members(value, name)
        if isinstance(value, list):
            return [self.value(inner, name) for inner in value]
        if isinstance(value, str) and name == "payload":
            return canonical.dumps(self.value(json.loads(value)))
        if isinstance(value, str) and (statement := _STATEMENT.fullmatch(value)):
            return f"{statement[1]}{self._number('transaction', int(statement[2]))}{statement[3] or ''}"
        if isinstance(value, str) and name in KEY_IDS:
            return self._hex(value)
        if isinstance(value, str) and name == "code" and _CODE.fullmatch(value):
            return "123456"
        if isinstance(value, str) and name == "password" and _PASSWORD.fullmatch(value):
            return self._base64(value, urlsafe_b64encode)
        if isinstance(value, str):
            return self._secret(value) if name in SECRETS else self.text(value)
        if type(value) is int and name in NUMBERS:
            return self._number(NUMBERS[name], value)
        return value

    def _members(self, value: dict[str, Any], name: str) -> dict[str, Any]:
        # The mirrors of reversed postings: ledger transactions by key.
        within = "transaction" if name == "mirrors" else None
        if name == "verified":  # a rehearsal's choices are other ones in every house, and so is their number
            return dict.fromkeys(value, 10)
        if {"sha256", "size"} <= value.keys():  # a package: its length is that of the ids in it
            value = value | {"size": SIZE}
        if {"minutes", "seat"} <= value.keys() or "minutes_in_24_h" in value:  # how long somebody has sat
            value = value | {one: 0 for one in ("minutes", "minutes_in_24_h", "hours") if one in value}
        # The mirror of one, where an event has no other number of that name.
        return {
            self.text(key): self.value(inner, within or ("transaction" if key == "mirror" else key))
            for key, inner in value.items()
        }

    def text(self, text: str) -> str:
        """A text with its unstable parts replaced."""
        text = text.replace(self.house, "HOUSE")
        text = _MOMENT.sub(self._moment, text)
        text = _UUID.sub(self._uuid, text)
        text = _CURSOR.sub("cD0x", text)
        text = _FACTOR.sub("CUKASSZA" * 4, text)
        text = _LOG.sub("HOUSE-0123abcd", text)
        text = _VERIFIER_KEY.sub(lambda found: f"+89abcdef+{self._base64(found['base64'])}", text)
        return _DIGEST.sub(lambda found: self._hex(found["hex"]) if found["hex"] else self._base64(found[0]), text)

    def table(self, text: str) -> str:
        """CSV whose first line names the columns."""
        rows = list(csv.DictReader(io.StringIO(text)))
        out = io.StringIO()
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: self._cell(cell, name) for name, cell in row.items()} for row in rows)
        return out.getvalue()

    def lines(self, text: str) -> str:
        """Canonical JSON, one value a line."""
        return "".join(f"{canonical.dumps(self.value(json.loads(line)))}\n" for line in text.splitlines())

    def _cell(self, cell: str, name: str) -> str:
        return str(self._number(NUMBERS[name], int(cell))) if name in NUMBERS and cell.isdigit() else self.text(cell)

    def _number(self, kind: str, value: Any) -> int:
        met = self._met.setdefault(kind, {})
        return met.setdefault(value, len(met) + 1)

    def _uuid(self, found: re.Match[str]) -> str:
        return str(UUID(int=self._number("uuid", found[0]), version=4))

    @staticmethod
    def _moment(found: re.Match[str]) -> str:
        return MOMENT.replace("T", found[1]) + ("." + "0" * (len(found[2]) - 1) if found[2] else "")

    def _hex(self, value: str) -> str:
        return self._digest("hex", value).hex()[: len(value)]

    def _base64(self, value: str, encode: Callable[[bytes], bytes] = b64encode) -> str:
        """As long as the value, padded as it is."""
        body = value.rstrip("=")
        made = encode(self._digest("base64", value) * (len(body) // 32 + 1)).decode()
        return made[: len(body)] + "=" * (len(value) - len(body))

    def _secret(self, value: str) -> str:
        """`key` also names what is no secret."""
        return self._base64(value, urlsafe_b64encode) if _SECRET.fullmatch(value) else self.text(value)

    def _digest(self, kind: str, value: str) -> bytes:
        return hashlib.sha256(f"{kind} {self._number(kind, value)}".encode()).digest()


Renders = Callable[[Stable, str], str]
#: How the texts of a media type are made stable.
TEXTS: dict[str, Renders] = {
    "text/csv": Stable.table, "application/jsonl": Stable.lines, "text/plain": Stable.text,
    "text/event-stream": Stable.text,
}  # fmt: skip
