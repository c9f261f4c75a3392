"""A collector of OpenTelemetry for tests: it takes traces by OTLP over HTTP, and keeps every span."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@dataclass(frozen=True)
class Kept:
    """One span as it was received."""

    name: str
    kind: int
    trace: str
    id: str
    parent: str
    status: int
    events: int
    about: dict[str, Any]
    process: int


@dataclass
class Collector:
    """Where it listens, and what it was sent; while `hangs` is set it takes requests and answers none of them."""

    endpoint: str = ""
    spans: list[Kept] = field(default_factory=list)
    hangs: threading.Event = field(default_factory=threading.Event)
    #: Stops listening: from then on connections are refused.
    leave: Callable[[], None] = lambda: None

    def of(self, trace: str) -> list[Kept]:
        """The spans of a trace."""
        return [one for one in self.spans if one.trace == trace]

    def take(self, body: bytes) -> None:
        """Keep what a request has."""
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            process = {one.key: one.value.int_value for one in resource.resource.attributes}["process.pid"]
            self.spans += [_kept(span, process) for scope in resource.scope_spans for span in scope.spans]


def _kept(span: Any, process: int) -> Kept:
    about = {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}
    return Kept(
        span.name, span.kind, span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex(), span.status.code,
        len(span.events), about, process,
    )  # fmt: skip


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector on a free port."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if collector.hangs.is_set():
                self.close_connection = True
                threading.Event().wait(5)
                return
            assert (self.path, self.headers["Content-Type"]) == ("/v1/traces", "application/x-protobuf")
            collector.take(body)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            return None

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()

    def leave() -> None:
        if thread.is_alive():
            server.shutdown()
            thread.join()
            server.server_close()

    collector.endpoint, collector.leave = f"http://127.0.0.1:{server.server_port}", leave
    try:
        yield collector
    finally:
        leave()
