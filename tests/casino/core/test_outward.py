"""What the house asks of others: no answer sends it to another address."""

import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from casino.core import outward


class _Elsewhere(BaseHTTPRequestHandler):
    """Sends everybody on, and says who came there."""

    def do_GET(self) -> None:
        came.append(self.path)
        self.send_response(302 if self.path == "/asked" else 200)
        self.send_header("Location", "/other")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *args: object) -> None:
        """Nothing."""


came: list[str] = []


@pytest.mark.parametrize("body", [None, b"a checkpoint"])
def test_no_redirection_is_followed(body: bytes | None) -> None:
    came.clear()
    server = HTTPServer(("127.0.0.1", 0), _Elsewhere)
    thread = Thread(target=server.serve_forever)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    try:
        with pytest.raises(urllib.error.HTTPError) as refused:
            outward.sent(urllib.request.Request(f"{address}/asked", data=body), 5)
        refused.value.close()
        assert refused.value.code == 302 and came == ["/asked"]
        with outward.sent(f"{address}/other", 5) as answer:
            assert answer.status == 200
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
