"""A receiver of webhooks: an HTTP server in a thread, which checks signatures by itself and does as a test says."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

KEY = b"0123456789abcdef0123456789abcdef"
#: Seconds that a test waits for what comes within a second.
PATIENCE = 20.0


@dataclass
class Post:
    """One POST as it came: when (`monotonic`), its path, headers and body."""

    at: float
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def content(self) -> dict[str, Any]:
        """The body's JSON."""
        found: dict[str, Any] = json.loads(self.body)
        return found

    @property
    def id(self) -> str:
        """Its `webhook-id`."""
        return self.headers["webhook-id"]

    @property
    def seqs(self) -> list[int]:
        """Numbers of its hints."""
        return [hint["seq"] for hint in self.content["hints"]]

    def is_signed(self, key: bytes = KEY) -> bool:
        """Whether one of its signatures is right, as the standard says."""
        signed = f"{self.id}.{self.headers['webhook-timestamp']}.".encode() + self.body
        right = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        fresh = abs(time.time() - int(self.headers["webhook-timestamp"])) < 60
        return fresh and f"v1,{right}" in self.headers["webhook-signature"].split(" ")


@dataclass
class Receiving:
    """What has come, and what is answered: `answer` says a status, after whatever it waits for."""

    url: str = ""
    answer: Callable[[Post], int] = lambda _: 204
    #: More of the answer than its status.
    headers: dict[str, str] = field(default_factory=dict)
    posts: list[Post] = field(default_factory=list)
    #: Those that were answered 2xx.
    taken: list[Post] = field(default_factory=list)

    def of(self, chain: str) -> list[int]:
        """Numbers of a chain that were taken, in the order in which they came."""
        return [seq for post in self.taken if post.content["chain"] == chain for seq in post.seqs]

    def until(self, well: Callable[[], bool], seconds: float = PATIENCE) -> None:
        """Wait until this holds."""
        end = time.monotonic() + seconds
        while not well():
            assert time.monotonic() < end, [(post.content["chain"], post.seqs) for post in self.posts]
            time.sleep(0.02)


def write(folder: Path, receiving: Receiving, **more: Any) -> str:
    """The operator's file of destinations, with `scanner` and its key; its path."""
    (folder / "key").write_text(f"whsec_{base64.b64encode(KEY).decode()}\n")
    found = {"kind": "webhook", "url": receiving.url, "secret_file": str(folder / "key"), "timeout": 5} | more
    lines = ["[scanner]", *(f"{name} = {json.dumps(value)}" for name, value in found.items())]
    lines += ["[archive]", 'kind = "folder"', f'path = "{folder}"']
    (folder / "destinations.toml").write_text("\n".join(lines) + "\n")
    return str(folder / "destinations.toml")


@contextmanager
def receiver() -> Iterator[Receiving]:
    """A receiver on a port of its own."""
    receiving = Receiving()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            post = Post(
                time.monotonic(), self.path, {name.lower(): value for name, value in self.headers.items()}, body
            )
            receiving.posts.append(post)
            status = receiving.answer(post)
            if 200 <= status < 300:
                receiving.taken.append(post)
            self.send_response(status)
            for name, value in receiving.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing on stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiving.url = f"http://127.0.0.1:{server.server_port}/hints?of=house"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield receiving
    finally:
        server.shutdown()
        server.server_close()
