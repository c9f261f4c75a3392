"""Streams of tables, as consoles keep them open: who waits for a settlement learns of it as a console does."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

#: Seconds without a byte after which a stream is opened again; there is a sign of life every ten.
SILENT = 15.0


class Hints:
    """One table's stream, opened again whenever it ends, and the last number of the table's chain."""

    def __init__(self, root: str, table: str, headers: Mapping[str, str]) -> None:
        self._address, self._path, self._headers = urlsplit(root), f"/api/v1/tables/{table}/stream", dict(headers)
        self._seq = 0
        self._grown = threading.Condition()
        self._ended = False
        self._thread = threading.Thread(target=self._run, name=f"hints {table}", daemon=True)
        self._thread.start()

    def wait_beyond(self, seq: int, seconds: float) -> None:
        """Wait until an event after this number has been hinted at, or so many seconds."""
        with self._grown:
            self._grown.wait_for(lambda: self._seq > seq, seconds)

    @property
    def last(self) -> int:
        """The last number that was hinted at."""
        return self._seq

    def end(self) -> None:
        """Follow no more."""
        self._ended = True

    def _run(self) -> None:
        while not self._ended:
            connection = HTTPConnection(self._address.hostname or "", self._address.port, timeout=SILENT)
            try:
                connection.request("GET", self._path, headers=self._headers)
                answer = connection.getresponse()
                while answer.status == 200 and not self._ended and (line := answer.readline()):
                    if line.startswith(b"data: ") and (hint := json.loads(line[6:])):
                        self._note(hint["seq"])
            except (OSError, HTTPException):
                pass  # the stream was cut; it is opened again
            finally:
                connection.close()
            time.sleep(0.1)

    def _note(self, seq: int) -> None:
        with self._grown:
            self._seq = max(self._seq, seq)
            self._grown.notify_all()
