"""The measurement: actions of both modes and the bare view in turn, at several numbers of clients."""

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from tests.bench.alternate import Comparison, compared
from tests.bench.http import goals, stage, statements
from tests.bench.http.crowd import BARE, Crowd, Done
from tests.bench.http.servers import POSTGRES, PROGRAMS, Servers, running
from tests.bench.http.stage import Stage
from tests.bench.ledger.goals import Goal
from tests.percentiles import percentile

#: Seconds until the worker must have settled what a run has left.
SETTLED_SECONDS = 60.0
#: Seconds without a request, for what the servers take by themselves.
IDLE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured: rounds of `seconds` of every subject, after one that is not counted."""

    clients: tuple[int, ...] = (1, 4, 16)
    rounds: int = 4
    seconds: float = 2.0


QUICK = Plan(clients=(1, 4), rounds=2, seconds=1.0)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one subject: what the clients did, the wall-clock seconds of the window, and the servers' CPU seconds
    until everything was settled."""

    done: list[Done]
    seconds: float
    cpu: dict[str, float]

    @property
    def rate(self) -> float:
        """Measured requests a second of all clients together, while they waited for one.

        Deals and reads between two hands are left out; they go on meanwhile and take their share of the machine.
        """
        return sum(one.rate for one in self.done)


@dataclass(frozen=True, slots=True)
class Measured:
    """All counted runs of one number of clients, by subject."""

    clients: int
    runs: dict[str, list[Run]] = field(default_factory=dict)

    def comparison(self, mode: str) -> Comparison:
        """Actions of a mode against the bare view, run by run."""
        pairs = [(ours.rate, bare.rate) for ours, bare in zip(self.runs[mode], self.runs[BARE], strict=True)]
        return compared(f"{clients_named(self.clients)}, {mode}", "actions", "bare view", pairs)

    def latencies(self, what: str) -> list[float]:
        """Milliseconds of every counted request, in order of length."""
        return sorted(1000 * taken for run in self.runs[what] for one in run.done for taken in one.latencies)

    def milliseconds(self, what: str, units: str) -> dict[str, float]:
        """CPU milliseconds of each part by unit: `made` (measured requests) or `hands`."""
        count = sum(getattr(one, units) for run in self.runs[what] for one in run.done)
        parts = self.runs[what][0].cpu
        return {part: 1000 * sum(run.cpu[part] for run in self.runs[what]) / count for part in parts}

    def requests_a_hand(self, mode: str) -> float:
        """Requests of a hand, its deal and the reads of the table included."""
        done = [one for run in self.runs[mode] for one in run.done]
        return sum(one.made + one.others for one in done) / sum(one.hands for one in done)

    def client_share(self, what: str) -> float:
        """CPU of all client processes, as a share of one core."""
        return sum(one.cpu for run in self.runs[what] for one in run.done) / sum(run.seconds for run in self.runs[what])


def run(plan: Plan | None = None, *, quick: bool = False) -> list[Measured]:
    """Measure and print. Needs a database of its own (`tests.bench.database`)."""
    plan = plan or (QUICK if quick else Plan())
    prepared = stage.set_up(max(plan.clients))
    found = []
    with running() as servers:
        print(idle_line(servers), flush=True)
        for clients in plan.clients:
            found.append(measure(prepared, servers, clients, plan))
            print(*lines(found[-1]), sep="\n", flush=True)
        print("asked of PostgreSQL by a request, BEGIN and COMMIT included (one client, counted on the wire):")
        print(*(counted.line() for counted in statements.count(prepared)), sep="\n", flush=True)
        settle(prepared)
    print(*(goal.line() for measured in found for goal in goals_of(measured)), sep="\n", flush=True)
    return found


def measure(prepared: Stage, servers: Servers, clients: int, plan: Plan) -> Measured:
    """The runs of so many clients."""
    measured = Measured(clients)
    subjects = subjects_of(prepared)
    with closing(Crowd(servers.port, prepared.shared_out(clients), prepared.scripts)) as crowd:
        for number in range(plan.rounds + 1):
            for what in subjects:
                one = _run(prepared, servers, crowd, what, plan.seconds)
                if number:
                    measured.runs.setdefault(what, []).append(one)
    return measured


def subjects_of(prepared: Stage) -> list[str]:
    """The modes, with the bare view between them."""
    first, *others = prepared.scripts
    return [first, BARE, *others]


def _run(prepared: Stage, servers: Servers, crowd: Crowd, what: str, seconds: float) -> Run:
    before, started = servers.cpu(), time.monotonic()
    done = crowd.run(what, seconds)
    settle(prepared)
    after, ended = servers.cpu(), time.monotonic()
    return Run(done, ended - started, {part: after[part] - before[part] for part in after})


def settle(prepared: Stage) -> None:
    """Wait until the worker has settled every hand. Raises TimeoutError."""
    deadline = time.monotonic() + SETTLED_SECONDS
    while waiting := stage.unsettled(prepared.kit):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{waiting} hands are not settled after {SETTLED_SECONDS:.0f} s")
        time.sleep(0.05)


def idle_line(servers: Servers) -> str:
    """What the servers take while nobody asks anything."""
    before = servers.cpu()
    time.sleep(IDLE_SECONDS)
    after = servers.cpu()
    return "CPU a second without a request: " + _parts({p: 1000 * (after[p] - before[p]) / IDLE_SECONDS for p in after})


def lines(measured: Measured) -> Iterator[str]:
    """What one number of clients gave, for people."""
    modes = [what for what in measured.runs if what != BARE]
    for mode in modes:
        yield measured.comparison(mode).line()
    for what in measured.runs:
        found = measured.latencies(what)
        unit = "a request" if what == BARE else "an action with its share of deal, reads and settlement"
        yield (
            f"  {what:12} p50 {statistics.median(found):6.1f} ms, p99 {percentile(found, 0.99):6.1f} ms; "
            f"clients {measured.client_share(what):.0%} of a core; "
            f"CPU {unit}: {_parts(measured.milliseconds(what, 'made'), ('web', 'worker', POSTGRES))}"
        )
    for mode in modes:
        named = f"CPU a hand, {mode} ({measured.requests_a_hand(mode):.1f} requests)"
        yield f"  {named}: {_parts(measured.milliseconds(mode, 'hands'))}"


def goals_of(measured: Measured) -> list[Goal]:
    """The goals that one number of clients can reach."""
    found = []
    for mode in (what for what in measured.runs if what != BARE):
        name = f"{clients_named(measured.clients)}, {mode}"
        found.append(goals.of_ratio(name, measured.comparison(mode).ratio))
        found += goals.of_hand(name, measured.milliseconds(mode, "hands"))
    return found


def clients_named(number: int) -> str:
    """`1 client`, `4 clients`."""
    return f"{number} client{'s' if number != 1 else ''}"


def _parts(milliseconds: dict[str, float], wanted: Sequence[str] = (*PROGRAMS, POSTGRES)) -> str:
    shown = [f"{part} {milliseconds[part]:.1f} ms" for part in wanted if part in milliseconds]
    return ", ".join(shown) or "not measured here (no /proc)"
