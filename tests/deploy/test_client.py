"""The demo's client repeats what was not done or not answered, always under the same key."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from deploy.demo.client import Connection, Refused

AWAY = (503, {"status": 503, "code": "database_unreachable", "detail": "Nothing was changed."})
WRONG = (422, {"status": 422, "code": "illegal_action", "detail": "It is the turn of p2."})
DONE = (200, {"version": 2})


class Journal(Connection):
    """A connection that notes why it sends again."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.why: list[str] = []

    def missed(self, why: str) -> None:
        self.why.append(why)


@contextmanager
def house(*answers: tuple[int, dict[str, object]] | None) -> Iterator[tuple[Journal, list[str]]]:
    """A server that gives these answers in turn, None for a connection it closes, and the keys that it was sent."""
    left, keys = list(answers), list[str]()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            keys.append(self.headers["Idempotency-Key"])
            answer = left.pop(0)
            if answer is None:
                self.close_connection = True
                return
            content = json.dumps(answer[1]).encode()
            self.send_response(answer[0])
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Not into the tests' output."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        client = Journal(f"http://127.0.0.1:{server.server_port}")
        try:
            yield client, keys
        finally:
            client.close()
            server.shutdown()


def send(client: Connection) -> object:
    return client._send("POST", "tables/T1/hand/actions", {"actions": []}, {"Idempotency-Key": "one"})


def test_what_the_house_could_not_do_is_sent_again_under_the_same_key() -> None:
    with house(AWAY, AWAY, DONE) as (client, keys):
        assert send(client) == {"version": 2}
    assert keys == ["one"] * 3
    assert client.why == ["503 database_unreachable"] * 2


def test_what_was_not_answered_is_sent_again_under_the_same_key() -> None:
    with house(None, DONE) as (client, keys):
        assert send(client) == {"version": 2}
    assert (keys, client.why) == (["one"] * 2, ["no answer"])


def test_a_refusal_is_final() -> None:
    with house(WRONG) as (client, keys), pytest.raises(Refused, match="illegal_action"):
        send(client)
    assert (keys, client.why) == (["one"], [])


def test_a_house_that_stays_away_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deploy.demo.client.PATIENCE", 0.1)
    with house(AWAY, AWAY, AWAY, AWAY) as (client, keys), pytest.raises(Refused, match="database_unreachable"):
        send(client)
    assert set(keys) == {"one"} and 1 < len(keys) < 4
