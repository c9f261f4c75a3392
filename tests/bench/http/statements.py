"""What a request asks of PostgreSQL: statements and round trips, counted on the wire for one client at a time."""

import os
import statistics
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.http.proxy import Asked, Proxy
from tests.bench.http.servers import web_alone
from tests.bench.http.stage import Stage
from tests.bench.http.wire import BareClient, Console, Wire

#: Counted hands of each mode, after one that prepares the statements of the connection.
HANDS = 3
#: Hands that are not counted: psycopg prepares a statement at its sixth use, which is a round trip of its own.
WARM_UP = 2


@dataclass(frozen=True, slots=True)
class Counted:
    """What requests of one kind asked."""

    name: str
    asked: list[Asked]

    @property
    def statements(self) -> float:
        """Statements a request, BEGIN and COMMIT included."""
        return statistics.mean(len(one.statements) for one in self.asked)

    @property
    def round_trips(self) -> float:
        """Round trips a request."""
        return statistics.mean(one.round_trips for one in self.asked)

    def line(self) -> str:
        """One line for people."""
        least, most = min(one.round_trips for one in self.asked), max(one.round_trips for one in self.asked)
        return (
            f"  {self.name:22}{self.statements:6.1f} statements in {self.round_trips:5.1f} round trips"
            f" ({least} to {most}; {len(self.asked)} requests)"
        )


def count(stage: Stage) -> list[Counted]:
    """The bare view, then the actions of each mode. The settlement worker runs elsewhere and is not counted."""
    with _counted_web() as (proxy, port), closing(Wire("127.0.0.1", port)) as wire:
        place = stage.places[0]
        scripts = {mode: asdict(script) for mode, script in stage.scripts.items()}
        bare = BareClient(wire, place.token, "counted", stage.scripts["physical"].actions[1])
        console = Console(wire, place.table, place.token, "counted", scripts)
        found = [Counted("bare view", _asked(proxy, bare.write))]
        for mode in stage.scripts:
            found.append(Counted(f"action, {mode}", _of_hands(proxy, console, mode)))
        return found


def listed(stage: Stage) -> Iterator[str]:
    """The statements of one action in the middle of a hand."""
    [_, counted, *_] = count(stage)
    asked = counted.asked[4]
    yield f"an action asks ({asked.round_trips} round trips):"
    for number, text in enumerate(asked.statements, 1):
        yield f"  {number:3} {text[:150]}"


def _asked(proxy: Proxy, request: Callable[[], None]) -> list[Asked]:
    found = []
    for number in range(20):
        proxy.take()
        request()
        if number >= 10:
            found.append(proxy.take())
    return found


def _of_hands(proxy: Proxy, console: Console, mode: str) -> list[Asked]:
    found: list[Asked] = []

    def timed(started: float, ended: float) -> None:
        found.append(proxy.take())

    for number in range(WARM_UP + HANDS):
        if number == WARM_UP:
            found.clear()
        console.play(mode, timed, before_actions=proxy.take)
    return found


@contextmanager
def _counted_web() -> Iterator[tuple[Proxy, int]]:
    with TemporaryDirectory(prefix="cukassza-p-", dir="/tmp") as folder:
        proxy = Proxy(Path(folder), os.environ["DATABASE_URL"])
        try:
            with web_alone(environ={"DATABASE_URL": proxy.url}) as port:
                yield proxy, port
        finally:
            proxy.close()
