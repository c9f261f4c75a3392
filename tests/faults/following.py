"""A reader that follows the whole house through every fault. Whatever is cut, it must get each event once, in order."""

from __future__ import annotations

import json
import threading
import time
from http.client import HTTPConnection, HTTPException, HTTPResponse
from urllib.parse import urlsplit

#: Seconds without a byte after which the stream is opened again; there is a sign of life every ten.
SILENT = 15.0
#: Seconds after a fault within which the last hint has come.
CAUGHT_UP = 30.0


class Following:
    """A stream of the house's hints, opened again whenever it ends, with the last id that has come."""

    def __init__(self, root: str, authorization: str) -> None:
        self._address, self._authorization = urlsplit(root), authorization
        self._last = ""
        #: Numbers of each chain in the order in which they came.
        self.seen: dict[str, list[int]] = {}
        #: When (`monotonic`) the last hint came over a stream that stayed open.
        self.hinted = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="following", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Follow no more."""
        self._stop.set()

    def lacks(self, heads: dict[str, int]) -> list[str]:
        """What is wrong with what has come, for chains with these last numbers; waits for what is on its way."""
        until = time.monotonic() + CAUGHT_UP
        while self._behind(heads) and time.monotonic() < until:
            time.sleep(0.1)
        found = [f"hints of {chain} have not come up to {heads[chain]}" for chain in self._behind(heads)]
        for chain, seqs in self.seen.items():
            if seqs != list(range(seqs[0], seqs[0] + len(seqs))):
                found.append(f"hints of {chain} are not every number once, in order: {seqs}")
        return found

    def _behind(self, heads: dict[str, int]) -> list[str]:
        return [chain for chain, seq in heads.items() if self.seen.get(chain, [0])[-1] < seq]

    def _run(self) -> None:
        while not self._stop.wait(0.1):
            connection = HTTPConnection(self._address.hostname or "", self._address.port, timeout=SILENT)
            try:
                sent = {"Authorization": self._authorization} | ({"Last-Event-ID": self._last} if self._last else {})
                connection.request("GET", "/api/v1/stream", headers=sent)
                answer = connection.getresponse()
                if answer.status == 200:
                    self._read(answer)
            except (OSError, HTTPException):
                pass  # the fault; it is opened again
            finally:
                connection.close()

    def _read(self, answer: HTTPResponse) -> None:
        # An answer of known length is that of a web process without the other; then nothing is live.
        live, event = answer.length is None, dict[str, str]()
        while (line := answer.readline()) and not self._stop.is_set():
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name:
                event[name] = value
                continue
            if event.get("event") == "hint":
                hint = json.loads(event["data"])
                self.seen.setdefault(hint["chain"], []).append(hint["seq"])
                self._last = event["id"]
                self.hinted = time.monotonic() if live else self.hinted
            event = {}
