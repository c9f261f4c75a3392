"""Somebody at a house: a signed-in person, or the key of a seat. What every program has to get right is done here.

    house = House.sign_in("https://ace.example", login, password, terminal, terminal_key)
    table = house.read(read_table, "T1")
    house.write(sit_down, "T1", body={"seat": 1, "player": "anna", "amount": 20_000})

Operations are the modules of `cukassza_client.api`. A write has a key of its own, and is sent again under it until its
outcome is known; it names the version that was seen last of the table, drawer or day that its address begins with. A
refusal is `Refused`; a write of which nobody knows whether it was carried out is `OutcomeUnknown`.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping
from types import ModuleType, TracebackType
from typing import Any, get_args, get_type_hints

import httpx

from .client import AuthenticatedClient

__all__ = ["House", "OutcomeUnknown", "Refused"]

#: Seconds for one request, and between two where the house does not say how long to wait.
TIMEOUT, PAUSE = 30.0, 0.5
#: Seconds without a sign of life after which a stream is opened again: the house sends one every 2.
SILENT = 10.0
_AGAIN = frozenset({429, 502, 503, 504})


class Refused(Exception):
    """The house refused; nothing has changed. `code` is stable, `problem` the whole document (RFC 9457)."""

    def __init__(self, problem: Mapping[str, Any]) -> None:
        super().__init__(f"{problem.get('status')} {problem.get('code')}: {problem.get('detail')}")
        self.problem = problem

    @property
    def code(self) -> str:
        """The stable code."""
        return str(self.problem.get("code"))


class OutcomeUnknown(Exception):
    """No answer came for as long as the program was patient. The same write under the same `key` is safe at any time:
    it is carried out, or answered as it was the first time."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(f"it is unknown whether the write under {key} was carried out: {why}")
        self.key = key


class House:
    """One side of the API. `authorization` is `Bearer TOKEN` of a person or `Seat KEY` of a seat; `patience` the
    seconds for which something is sent again. Not for several threads at once."""

    def __init__(
        self,
        root: str,
        authorization: str,
        *,
        patience: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        prefix, _, token = authorization.partition(" ")
        self.root, self.patience = root.rstrip("/"), patience
        #: Versions that were seen last, by the code of what has them.
        self.versions: dict[str, int] = {}
        self._headers = {"Authorization": authorization}
        more: dict[str, Any] = {} if transport is None else {"transport": transport}
        self._client = AuthenticatedClient(
            base_url=self.root, token=token, prefix=prefix, timeout=httpx.Timeout(TIMEOUT), httpx_args=more
        )

    @classmethod
    def sign_in(
        cls, root: str, login: str, password: str, terminal: str, terminal_key: str, *, code: str | None = None,
        patience: float = 60.0, transport: httpx.BaseTransport | None = None,
    ) -> House:  # fmt: skip
        """A person at a terminal; `code` is the one of the second factor, where the person has one. Raises Refused."""
        form = {"login": login, "password": password, "terminal": terminal, "terminal_key": terminal_key}
        form |= {} if code is None else {"code": code}
        with httpx.Client(transport=transport, timeout=TIMEOUT) as client:
            answer = client.post(f"{root.rstrip('/')}/api/v1/sign-in", json=form)
        if answer.status_code >= 400:
            raise Refused(_problem(answer.status_code, answer.content))
        return cls(root, f"Bearer {answer.json()['token']}", patience=patience, transport=transport)

    def __enter__(self) -> House:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; the token goes on to count until it is signed out."""
        self._client.get_httpx_client().close()

    def read(self, operation: ModuleType, *path: Any, **query: Any) -> Any:
        """What the house shows. Raises Refused, and httpx.TransportError where no answer comes."""
        return self._sent(operation, path, query)

    def write(
        self, operation: ModuleType, *path: Any, body: Mapping[str, Any] | None = None, version: int | None = None,
        key: str | None = None, approval: int | None = None,
    ) -> Any:  # fmt: skip
        """Carry something out, once, and return the answer. `version` is the one that it was decided on (default: the
        one seen last); `key` one that names this very write (default: a new one); `approval` the number of an approval
        that it uses. Raises Refused and OutcomeUnknown."""
        takes = get_type_hints(operation.sync_detailed)
        key = key or str(uuid.uuid4())
        named: dict[str, Any] = {"idempotency_key": key} if "idempotency_key" in takes else {}
        if "if_match" in takes:
            decided = self.versions.get(str(path[0])) if version is None else version
            if decided is None:
                raise ValueError(f"read {path[0]} first, or say which version this was decided on")
            named["if_match"] = f'"{decided}"'
        if approval is not None:
            named["approval"] = str(approval)
        if body is not None:
            kinds = get_args(takes["body"]) or (takes["body"],)
            named["body"] = next(one for one in kinds if hasattr(one, "from_dict")).from_dict(dict(body))
        try:
            return self._sent(operation, path, named)
        except httpx.TransportError as error:
            raise OutcomeUnknown(key, str(error) or type(error).__name__) from error
        except Refused as refused:
            if refused.code == "outcome_unknown":
                raise OutcomeUnknown(key, str(refused)) from refused
            raise

    def follow(self, path: str = "", *, last: str = "") -> Iterator[dict[str, Any]]:
        """Hints of `tables/T1`, `drawers/C1` or the whole house, for ever: `chain`, `seq`, `version`, `kind`, and `id`,
        from which (`last`) another program can go on. A stream that ends or falls silent is opened again. Where hints
        were lost because a backup was restored, there is one `{"reset": True}`: read again. Raises Refused."""
        address = "/".join(part for part in (self.root, "api/v1", path.strip("/"), "stream") if part)
        while True:
            headers = self._headers | ({"Last-Event-ID": last} if last else {})
            try:
                for event in self._events(address, headers):
                    last = event.get("id", last)
                    yield event
            except httpx.TransportError:
                pass
            time.sleep(PAUSE)

    def _events(self, address: str, headers: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """The events of one stream until it ends; its signs of life are none of them."""
        http = self._client.get_httpx_client()
        with http.stream("GET", address, headers=headers, timeout=httpx.Timeout(TIMEOUT, read=SILENT)) as stream:
            if stream.status_code >= 400:
                content = stream.read()
                if stream.status_code not in _AGAIN:
                    raise Refused(_problem(stream.status_code, content))
                time.sleep(_wait(stream))
                return
            fields: dict[str, str] = {}
            for line in stream.iter_lines():
                name, _, value = line.partition(": ")
                if line:
                    fields[name] = value
                    continue
                if fields.get("event") == "hint":
                    yield json.loads(fields["data"]) | {"id": fields["id"]}
                elif fields.get("event") == "reset":
                    yield {"reset": True}
                fields = {}

    def _sent(self, operation: ModuleType, path: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """Send it until the house has said what became of it, or patience ends."""
        deadline = time.monotonic() + self.patience
        while True:
            try:
                answer = operation.sync_detailed(*path, client=self._client, **named)
            except httpx.TransportError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(PAUSE)
                continue
            if answer.status_code < 300:
                tag = answer.headers.get("etag", "").strip('"')
                if path and tag.isdecimal():
                    self.versions[str(path[0])] = int(tag)
                return answer.parsed
            if answer.status_code not in _AGAIN or time.monotonic() > deadline:
                raise Refused(_problem(answer.status_code, answer.content))
            time.sleep(_wait(answer))


def _wait(answer: Any) -> float:
    """Seconds that the house asks to wait."""
    said = answer.headers.get("retry-after", "")
    return float(said) if said.isdecimal() else PAUSE


def _problem(status: int, content: bytes) -> dict[str, Any]:
    """The problem document, or one that says what came in place of it."""
    try:
        found = json.loads(content)
    except ValueError:
        found = None
    if isinstance(found, dict) and "code" in found:
        return found
    return {"status": status, "code": "no_problem_document", "detail": content[:200].decode(errors="replace")}
