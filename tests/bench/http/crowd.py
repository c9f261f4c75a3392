"""Clients in processes of their own, that start and stop together.

`python -m tests.bench.http.crowd` reads what to play where from its first line, forks the clients, then answers each
order (a line of JSON) with what every client did. `Crowd` is the other end of that conversation.
"""

import json
import multiprocessing
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from itertools import cycle
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.bench.http.wire import BareClient, Console, Wire

CHECKOUT = Path(__file__).resolve().parents[3]
SETTLE_DOWN = 0.05
"""Seconds from an order to the common start."""
BARE = "bare"


@dataclass(frozen=True, slots=True)
class Order:
    """What to do (`bare`, or the mode of the hands), and from when to when (`time.monotonic` of the machine)."""

    what: str
    start: float
    stop: float


@dataclass(frozen=True, slots=True)
class Done:
    """What one client did: seconds of each counted request (those that ended before the stop), how many requests of
    the measured kind it made in all, whole hands, all other requests (deals, reads), its CPU seconds."""

    latencies: list[float]
    made: int
    hands: int
    others: int
    cpu: float

    @property
    def rate(self) -> float:
        """Requests a second, while the client waited for one."""
        return len(self.latencies) / sum(self.latencies) if self.latencies else 0.0


class Crowd:
    """The parent's end."""

    def __init__(self, port: int, tables: list[list[dict[str, str]]], scripts: dict[str, Any]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.http.crowd"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=CHECKOUT,
        )  # fmt: skip
        played = {mode: asdict(script) for mode, script in scripts.items()}
        self._ask({"port": port, "tables": tables, "scripts": played})

    def run(self, what: str, seconds: float) -> list[Done]:
        """Let every client work for so many seconds; hands that are begun are ended."""
        return [Done(**one) for one in self._ask({"what": what, "seconds": seconds})]

    def close(self) -> None:
        """Let all of them end."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()

    def _ask(self, order: dict[str, Any]) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps(order), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the clients ended; their errors are above")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"a client ended: {answer['error']}")
        return answer["done"]


def host() -> None:
    """Fork a client for each list of tables, and pass orders on until the input ends."""
    setup = json.loads(sys.stdin.readline())
    context = multiprocessing.get_context("fork")
    pipes: list[Connection] = []
    for number, tables in enumerate(setup["tables"]):
        ours, theirs = context.Pipe()
        arguments = (f"c{time.time_ns()}-{number}", setup["port"], tables, setup["scripts"], theirs, [*pipes, ours])
        context.Process(target=client, args=arguments, daemon=True).start()
        theirs.close()
        pipes.append(ours)
    print(json.dumps({"done": [pipe.recv() for pipe in pipes]}), flush=True)
    for line in sys.stdin:
        wanted = json.loads(line)
        start = time.monotonic() + SETTLE_DOWN
        for pipe in pipes:
            pipe.send(Order(wanted["what"], start, start + wanted["seconds"]))
        answers = [pipe.recv() for pipe in pipes]
        errors = [answer for answer in answers if isinstance(answer, str)]
        report = {"error": errors[0]} if errors else {"done": [asdict(answer) for answer in answers]}
        print(json.dumps(report), flush=True)


def client(
    name: str, port: int, tables: list[dict[str, str]], scripts: dict[str, Any], pipe: Connection,
    inherited: list[Connection],
) -> None:  # fmt: skip
    """Carry out orders; answer with a `Done`, or with the text of what went wrong."""
    for other in inherited:
        other.close()  # or nobody would notice that the host is gone
    wire = Wire("127.0.0.1", port)
    consoles = [Console(wire, one["table"], one["token"], name, scripts) for one in tables]
    body = next(iter(scripts.values()))["actions"][1]
    bare = BareClient(wire, tables[0]["token"], name, body)
    turn = cycle(consoles)
    pipe.send("ready")
    while True:
        try:
            order: Order = pipe.recv()
        except EOFError:
            return
        time.sleep(max(0.0, order.start - time.monotonic()))
        try:
            pipe.send(_write(bare, order) if order.what == BARE else _play(turn, order))
        except Exception as error:
            pipe.send(f"{type(error).__name__}: {error}")
            raise


def _write(bare: BareClient, order: Order) -> Done:
    latencies: list[float] = []
    used, made = time.process_time(), 0
    ended = time.monotonic()
    while ended < order.stop:
        started = time.monotonic()
        bare.write()
        ended = time.monotonic()
        made += 1
        if ended <= order.stop:
            latencies.append(ended - started)
    return Done(latencies, made, 0, 0, time.process_time() - used)


def _play(turn: "cycle[Console]", order: Order) -> Done:
    latencies: list[float] = []
    used, made, hands, requests = time.process_time(), 0, 0, 0

    def timed(started: float, ended: float) -> None:
        nonlocal made
        made += 1
        if ended <= order.stop:
            latencies.append(ended - started)

    while time.monotonic() < order.stop:
        console = next(turn)
        before = console.requests
        console.play(order.what, timed)
        hands += 1
        requests += console.requests - before
    return Done(latencies, made, hands, requests - made, time.process_time() - used)


if __name__ == "__main__":
    host()
