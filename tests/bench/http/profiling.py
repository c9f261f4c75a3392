"""Where a web worker's time goes while it serves actions."""

import io
import pstats
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.http.servers import web_alone
from tests.bench.http.stage import Stage
from tests.bench.http.wire import Console, Wire, prepared

SHOWN = 40
HANDS = 20
WARM_UP = 3


def lines(stage: Stage, hands: int = HANDS) -> Iterator[str]:
    """The functions of one web worker while it serves the actions of so many hands of each mode, as cProfile sees them
    (which makes calls of Python dearer than they are): by cumulative time, then by own time."""
    with TemporaryDirectory(prefix="cukassza-p-") as folder:
        file = Path(folder) / "profile"
        actions = _served(stage, hands, file)
        yield f"{actions} actions; seconds of all of them together"
        for order in ("cumulative", "tottime"):
            out = io.StringIO()
            pstats.Stats(str(file), stream=out).strip_dirs().sort_stats(order).print_stats(SHOWN)
            yield from (line for line in out.getvalue().splitlines() if line)


def _served(stage: Stage, hands: int, file: Path) -> int:
    """Play; returns the number of profiled actions."""
    done = 0

    def counted(started: float, ended: float) -> None:
        nonlocal done
        done += 1

    place = stage.places[-1]
    scripts = {mode: asdict(script) for mode, script in stage.scripts.items()}
    with web_alone() as port, closing(Wire("127.0.0.1", port)) as wire:  # builds what is built once
        console = Console(wire, place.table, place.token, "warm-up", scripts)
        for mode in scripts:
            for _ in range(WARM_UP):
                console.play(mode, lambda *_: None)
    profiled = web_alone("tests.bench.http.profiled", {"PROFILE": str(file)})
    with profiled as port, closing(Wire("127.0.0.1", port)) as wire:
        console = Console(wire, place.table, place.token, "profile", scripts)
        for _ in range(hands):
            for mode in scripts:
                console.play(mode, counted)
        wire.send(prepared("GET", "/bench/profile", place.token)[0])
    return done
