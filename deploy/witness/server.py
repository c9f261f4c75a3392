"""A witness over HTTP: `POST /add-checkpoint` of C2SP's tlog-witness; `POST /add-rotation`, another key of a log; `GET
/key`; `GET /checkpoint/ORIGIN`, the newest checkpoint that was cosigned, for auditors to compare with what the house
shows."""

import logging
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

from deploy.witness.checking import Malformed, bytes_of, size_of
from deploy.witness.register import Refused, Register

log = logging.getLogger(__name__)

#: Bytes of the largest request: 63 lines of a proof and a checkpoint with many signatures.
LARGEST = 16_384
MOST_LINES = 63


class WitnessServer(ThreadingHTTPServer):
    """Answers for one witness."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], register: Register) -> None:
        super().__init__(address, Handler)
        self.register = register


class Handler(BaseHTTPRequestHandler):
    """One connection; a client that says nothing for 10 seconds is let go."""

    timeout = 10
    protocol_version = "HTTP/1.1"
    server: WitnessServer

    def do_GET(self) -> None:
        """The key, or the newest checkpoint of a log."""
        register = self.server.register
        if self.path == "/key":
            self._answer(HTTPStatus.OK, f"{register.cosigner.vkey}\n")
        elif self.path.startswith("/checkpoint/") and (note := register.latest(unquote(self.path[12:]))):
            self._answer(HTTPStatus.OK, note)
        else:
            self._answer(HTTPStatus.NOT_FOUND, "nothing is known of this\n")

    def do_POST(self) -> None:
        """Cosign a checkpoint, or say why not."""
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or int(length) > LARGEST:
            self.close_connection = True
            self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request has a length, and at most {LARGEST} bytes\n")
            return
        body = self.rfile.read(int(length))
        if self.path not in ("/add-checkpoint", "/add-rotation"):
            self._answer(HTTPStatus.NOT_FOUND, "POST /add-checkpoint or /add-rotation\n")
            return
        try:
            if self.path == "/add-rotation":
                self.server.register.rotate(_text(body))
                log.warning("a log's key was rotated: %r", _text(body))
                self._answer(HTTPStatus.OK, "")
            else:
                self._answer(HTTPStatus.OK, self.server.register.cosign(*parsed(body)))
        except Malformed as error:
            self._answer(HTTPStatus.BAD_REQUEST, f"{error}\n")
        except Refused as error:
            log.warning("not cosigned: %s", error)
            if error.size is None:
                self._answer(HTTPStatus(error.status), f"{error}\n")
            else:
                self._answer(HTTPStatus(error.status), f"{error.size}\n", kind="text/x.tlog.size")

    def _answer(self, status: HTTPStatus, text: str, *, kind: str = "text/plain; charset=utf-8") -> None:
        raw = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: object) -> None:
        """Through logging instead of on standard error."""
        log.info("%s %s", self.address_string(), format % args)


def parsed(body: bytes) -> tuple[int, list[bytes], str]:
    """Old size, proof and checkpoint of a request. Raises Malformed."""
    head, gap, note = _text(body).partition("\n\n")
    first, *lines = head.split("\n")
    if not gap or not first.startswith("old ") or len(lines) > MOST_LINES:
        raise Malformed("a request is `old SIZE`, at most 63 hashes, an empty line and a checkpoint")
    return size_of(first[4:]), [bytes_of(line) for line in lines], note


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise Malformed("a request is UTF-8") from error
