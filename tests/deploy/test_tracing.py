"""Traces: what a hand led to is one of them, over web, outbox and worker; and nobody waits for the collector."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.embedded.process import wait_until
from deploy.processes import CHECKOUT, Processes, address, application, listen
from tests.deploy.collector import Collector, Kept, collecting
from tests.services import TestServices, free_port

INTERNAL, SERVER, PRODUCER, CONSUMER = 1, 2, 4, 5
#: A trace and a span of it that a client names, as W3C Trace Context has it.
TRACE, CLIENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
#: Everything that a span says, and how its value looks.
SAID = {
    "http.request.method": r"GET|POST",
    "cukassza.operation": r"[A-Za-z]+",
    "cukassza.status": r"\d{3}",
    "cukassza.request": r"[a-z0-9-]+",
    "cukassza.house": r"H[0-9a-f]+",
    "cukassza.table": r"T1",
    "cukassza.task": r"hands\.resolve_hand",
    "cukassza.message_id": r"\d+",
    "cukassza.attempt": r"\d",
    "cukassza.state": r"settled",
    "cukassza.done": r"True|False",
    "cukassza.statements": r"\d+",
    "cukassza.statements_ms": r"[\d.]+",
    "error.type": r"[A-Za-z]+",
}


@contextmanager
def running(endpoint: str, folder: Path) -> Iterator[tuple[Processes, str]]:
    """An installation that sends its spans to a collector; yields it and its address."""
    environ = dict(os.environ) | {
        "CASINO_OTLP_ENDPOINT": endpoint, "CASINO_METRICS_FROM": "127.0.0.1", "PYTHONWARNINGS": "ignore",
    }  # fmt: skip
    with (
        listen(0) as listener,
        Processes(application(listener), environ=environ, log_dir=folder / "log") as processes,
    ):
        processes.wait_ready(f"{address(listener)}/readyz")
        yield processes, address(listener)


@dataclass
class Installation:
    """One that sends its spans to a collector, for several tests: it starts when one asks and none runs."""

    parent: Path
    folder: Path = Path()
    _stack: ExitStack = field(default_factory=ExitStack)
    _up: tuple[Collector, Processes, str] | None = None

    def up(self) -> tuple[Collector, Processes, str]:
        """The collector, the processes and their address."""
        if self._up is None:
            self.folder = Path(tempfile.mkdtemp(dir=self.parent))
            collector = self._stack.enter_context(collecting())
            self._up = collector, *self._stack.enter_context(running(collector.endpoint, self.folder))
        return self._up

    def end(self) -> None:
        """End all of it, if it runs."""
        self._up = None
        self._stack.close()

    @property
    def log(self) -> str:
        """What the web has said."""
        return (self.folder / "log" / "web.log").read_text()


@pytest.fixture(scope="module")
def installation(services: TestServices, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    found = Installation(tmp_path_factory.mktemp("traced"))
    yield found
    found.end()


def played(dealer: Any, root: str, **headers: str) -> list[float]:
    """Play a hand to its end; returns the seconds of each request."""
    from tests.casino.kit import SAMPLE, Desk

    took = []
    headers["Authorization"] = dealer.http.headers["Authorization"]
    with httpx.Client(base_url=root, headers=headers, timeout=20) as http:
        desk = Desk(http, dealer.path)
        desk.refresh()
        desk.ok("hands", {"mode": "physical", "button": 4})
        for line in SAMPLE:
            began = time.monotonic()
            desk.act(line)
            took.append(time.monotonic() - began)
    return took


def whole(spans: list[Kept], requests: int) -> bool:
    """Whether these are all spans of a hand that was settled. Web and worker send theirs each for itself, in batches:
    none is the last. A task may run twice: a second run finds the hand settled."""
    ids = {one.id for one in spans} | {"", CLIENT}
    return (
        sum(1 for one in spans if one.kind == SERVER) == requests
        and "settlement" in {one.name for one in spans}
        and all(one.parent in ids for one in spans)
    )


def settled() -> bool:
    """Whether no message of the outbox is open."""
    from casino.houses.models import OutboxMessage

    return not OutboxMessage.objects.filter(done_at=None).exists()


def test_the_spans_of_a_hand_are_one_trace(installation: Installation, kit: Any) -> None:
    from tests.casino.kit import SAMPLE

    kit.table()
    dealer = kit.seated()
    collector, processes, root = installation.up()
    played(dealer, root, traceparent=f"00-{TRACE}-{CLIENT}-01")
    assert wait_until(settled, seconds=30)
    assert wait_until(lambda: whole(collector.of(TRACE), len(SAMPLE) + 2), seconds=30)
    spans = collector.of(TRACE)
    by_id = {one.id: one for one in spans}
    requests = [one for one in spans if one.kind == SERVER]
    assert {one.parent for one in requests} == {CLIENT}
    # From the settlement back to the request: each names the one before it.
    [settlement] = [one for one in spans if one.name == "settlement"]
    task = by_id[settlement.parent]
    [transaction] = [one for one in spans if one.parent == settlement.id]
    assert (transaction.name, settlement.parent, settlement.about["cukassza.state"]) == (
        "transaction", task.id, "settled",
    )  # fmt: skip
    assert task.kind == CONSUMER
    sent = by_id[task.parent]
    assert (sent.name, sent.kind) == ("send hands.resolve_hand", PRODUCER)
    cause = by_id[sent.parent]
    while cause.kind == INTERNAL:
        cause = by_id[cause.parent]
    assert (cause.kind, cause.about["cukassza.operation"]) == (SERVER, "act")
    assert cause.process == sent.process != task.process
    assert task.about["cukassza.request"] == cause.about["cukassza.request"]
    # Statements are counted where they were sent.
    assert transaction.about["cukassza.statements"] > 0
    for one in spans:
        assert one.events == 0, "no words of an error"
        for name, value in one.about.items():
            assert re.fullmatch(SAID[name], str(value)), (one.name, name, value)
    assert [processes.restarts_of(name) for name in ("web", "worker", "worker-2")] == [0, 0, 0]


def test_a_request_without_a_trace_begins_one_and_the_clock_none(installation: Installation, kit: Any) -> None:
    kit.table()
    dealer = kit.seated()
    collector, _, root = installation.up()

    def spans() -> list[Kept]:
        """Without those of another test, which may come late, and of messages that tests before have left open."""
        from casino.houses.models import OutboxMessage

        kept = list(collector.spans)
        tasks = [(one.about["cukassza.message_id"], one.trace) for one in kept if one.kind == CONSUMER]
        mine = OutboxMessage.objects.filter(house=kit.house, id__in=[message for message, _ in tasks])
        own = set(mine.values_list("id", flat=True))
        others = {TRACE, *(trace for message, trace in tasks if message not in own)}
        return [one for one in kept if one.trace not in others]

    sent = len(played(dealer, root)) + 2  # and a refresh and a deal
    assert wait_until(settled, seconds=30)
    assert wait_until(lambda: whole(spans(), sent), seconds=30)
    found = spans()
    requests = [one for one in found if one.kind == SERVER]
    assert len({one.trace for one in requests}) == len(requests) and {one.parent for one in requests} == {""}
    assert {one.trace for one in found} == {one.trace for one in requests}, "canaries, sweeps, probes"


# Of one that is away `test_a_collector_that_is_away_takes_nothing_and_is_not_waited_for` finds the same without an
# installation.
@pytest.mark.parametrize("hangs", [True, pytest.param(False, marks=pytest.mark.long)], ids=["hangs", "away"])
def test_a_collector_that_takes_nothing_holds_nobody_up(installation: Installation, kit: Any, hangs: bool) -> None:
    kit.table()
    dealer = kit.seated()
    collector, processes, root = installation.up()
    assert not dropped(root, "cukassza_spans_dropped_total") and "takes no spans" not in installation.log
    if hangs:
        collector.hangs.set()
    else:
        collector.leave()
    took = played(dealer, root)
    assert max(took) < 5, took
    assert wait_until(settled, seconds=30)
    assert wait_until(lambda: dropped(root, "cukassza_spans_dropped_total") > 0, seconds=20)
    assert wait_until(lambda: dropped(root, "cukassza_worker_spans_dropped") > 0, seconds=20)
    assert [processes.restarts_of(one) for one in ("web", "worker", "worker-2", "hints")] == [0] * 4
    began = time.monotonic()
    installation.end()
    assert time.monotonic() - began < 20, "nor does it hold up who ends"
    assert "takes no spans" in installation.log


def dropped(root: str, name: str) -> float:
    """What a metric says, over all of its labels."""
    text = httpx.get(f"{root}/metrics", timeout=20).text
    return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.MULTILINE))


def test_without_a_collector_nothing_of_opentelemetry_is_loaded(services: TestServices) -> None:
    # The client of the broker looks for OpenTelemetry's metrics by itself, where they are installed.
    script = (
        "import sys, casino.wsgi, casino.celery; from casino.core import tracing\n"
        "assert tracing.part('x') is tracing.part('y') and tracing.here() == ''\n"
        "named = 'opentelemetry.exporter', 'opentelemetry.sdk.trace', 'google.protobuf', 'casino.core.spans'\n"
        "print([name for name in sys.modules if name.startswith(named)])"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_collector_without_the_extra_is_refused(services: TestServices) -> None:
    script = "import sys; sys.modules['opentelemetry'] = None; import casino.wsgi"
    environ = dict(os.environ) | {"CASINO_OTLP_ENDPOINT": "http://127.0.0.1:4318"}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "install the extra `telemetry`" in done.stderr.splitlines()[-1]


def test_what_does_not_fit_the_queue_is_dropped_and_counted(collector: Collector) -> None:
    """A burst while the collector hangs: every span is sent or counted, and nobody waits."""
    from casino.core import spans
    from casino.core.spans import Tracer

    lost: list[tuple[int, str]] = []
    tracer = Tracer(collector.endpoint, 1.0)
    tracer._lost = lambda count, reason: lost.append((count, reason))
    collector.hangs.set()
    count = spans.MOST + 2 * spans.BATCH + 100
    began = time.monotonic()
    for _ in range(count):
        with tracer.request("GET", ""):
            pass
    assert time.monotonic() - began < 5
    collector.hangs.clear()
    tracer.close()
    dropped = {reason: sum(n for n, why in lost if why == reason) for _, reason in lost}
    assert dropped["queue_full"] > 0
    assert len(collector.spans) + sum(dropped.values()) == count


def test_a_collector_that_is_away_takes_nothing_and_is_not_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    from casino.core.spans import Tracer

    lost: list[tuple[int, str]] = []
    tracer = Tracer(f"http://127.0.0.1:{free_port()}", 1.0)
    tracer._lost = lambda count, reason: lost.append((count, reason))
    began = time.monotonic()
    for _ in range(10):
        with tracer.request("GET", ""):
            pass
    assert wait_until(lambda: sum(count for count, _ in lost) == 10, seconds=20), lost
    tracer.close()
    assert time.monotonic() - began < 20
    assert {reason for _, reason in lost} == {"not_taken"}
    assert "takes no spans" in caplog.text


def test_of_an_error_there_is_the_class_alone(collector: Collector) -> None:
    from casino.core.spans import Tracer

    tracer = Tracer(collector.endpoint, 1.0)
    with pytest.raises(ValueError, match="hush"), tracer.request("POST", ""), tracer.part("transaction", {}):
        raise ValueError("hush")
    with tracer.request("POST", "") as request:
        request.failed()
    assert type(tracer.part("transaction", {})) is not type(request), "a part of nothing is none"
    tracer.close()
    assert [(one.name, one.status, one.about.get("error.type"), one.events) for one in collector.spans] == [
        ("transaction", 0, "ValueError", 0), ("POST", 0, "ValueError", 0), ("POST", 2, None, 0),
    ]  # fmt: skip
    assert "hush" not in str(collector.spans)


def test_a_share_of_requests_is_traced_with_all_that_they_lead_to(collector: Collector) -> None:
    """The decision is made of the trace's id, so every process makes the same one."""
    from casino.core.spans import Tracer

    web, worker = Tracer(collector.endpoint, 0.5), Tracer(collector.endpoint, 0.5)
    for _ in range(100):
        with web.request("POST", ""):
            here = web.here()
        with worker.sending("hands.resolve_hand", here):
            pass
    web.close()
    worker.close()
    traced = [{one.trace for one in collector.spans if one.kind == kind} for kind in (SERVER, PRODUCER)]
    assert traced[0] == traced[1]
    assert 20 < len(traced[0]) < 80


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as found:
        yield found
