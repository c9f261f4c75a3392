"""What clients saw, all of them: every exchange of the demo's clients is written down while a trial runs."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from deploy.demo.client import AWAY, Connection

#: Seconds after which a client opens another connection: the house closes an idle one after 60.
IDLE = 50.0
#: Refusals that are part of an evening: what a second person must approve, what a seat's cards compel it to, and what
#: its end is asked for until the sequencer has signed it (`deploy.demo.proof.wait_for`).
OF_AN_EVENING = frozenset({"approval_required", "not_in_the_log_yet", "verb_not_legal", "wrong_places"})


@dataclass(frozen=True)
class Acknowledged:
    """A write that was answered with success, as its client knows it; `at` is a monotonic time."""

    at: float
    key: str
    chain: str
    seq: int
    leaf_hash: str


@dataclass
class Journal:
    """Written by many threads; appending to a list is atomic."""

    acknowledged: list[Acknowledged] = field(default_factory=list)
    #: When, and what: `503 database_unavailable`, `no answer`.
    refused: list[tuple[float, str]] = field(default_factory=list)
    #: What no client may see, in words.
    wrong: list[str] = field(default_factory=list)

    def saw(self, begin: float, end: float) -> Counter[str]:
        """What clients saw beside success within this time."""
        return Counter(what for at, what in self.refused if begin <= at <= end)

    def note(self, status: int, headers: Mapping[str, str], answer: Any, sent: Mapping[str, str]) -> None:
        """An answer came."""
        at = time.monotonic()
        if status < 400:
            if "Idempotency-Key" in sent:
                audit = answer["audit"]
                there = (audit["chain"], audit["seq"], audit["hash"])
                self.acknowledged.append(Acknowledged(at, sent["Idempotency-Key"], *there))
            return
        code = answer.get("code") if isinstance(answer, dict) else None
        if code in OF_AN_EVENING:
            return
        self.refused.append((at, f"{status} {code}"))
        if status != AWAY:
            self.wrong.append(f"{status} {code}: {answer}")
        elif not headers.get("Retry-After"):
            self.wrong.append(f"{status} {code} without Retry-After")

    def nothing_came(self, error: Exception) -> None:
        """No answer came."""
        self.refused.append((time.monotonic(), f"no answer ({type(error).__name__})"))
        self.wrong.append(f"no answer: {error!r}")


def longest_gap(times: list[float], begin: float, end: float) -> float:
    """The longest time without one of these, in seconds."""
    there = [begin, *sorted(at for at in times if begin <= at <= end), end]
    return max(later - earlier for earlier, later in pairwise(there))


@contextmanager
def kept() -> Iterator[Journal]:
    """A journal of every exchange of every client inside."""
    journal, original = Journal(), Connection._exchange
    last: dict[int, float] = {}

    def exchange(
        client: Connection, method: str, path: str, content: bytes | None, sent: dict[str, str]
    ) -> tuple[int, Any]:
        client.requests += 1
        if time.monotonic() - last.get(id(client), 0.0) > IDLE:
            client._http.close()
        try:
            client._http.request(method, client._root + path, content, sent)
            response = client._http.getresponse()
            payload = response.read()
        except Exception as error:
            journal.nothing_came(error)
            raise
        last[id(client)] = time.monotonic()
        answer = json.loads(payload) if payload else None
        journal.note(response.status, response.headers, answer, sent)
        return response.status, answer

    Connection._exchange = exchange  # type: ignore[method-assign]
    try:
        yield journal
    finally:
        Connection._exchange = original  # type: ignore[method-assign]
