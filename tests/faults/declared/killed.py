"""kill -9: every process of ours, and the servers it needs."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence

from tests.faults.declared import fault
from tests.faults.house import Owner
from tests.faults.injecting import children, send
from tests.faults.scene import Scene

WORKERS = ("worker", "worker-2")


@fault("kill -9 of one web worker")
def web_worker_killed(scene: Scene) -> float:
    """The master starts another; the others go on."""
    master = scene.at.processes.pid_of("web")
    [victim, *others] = children(master)
    send([victim], signal.SIGKILL)
    return scene.until(lambda: len(children(master)) > len(others), "the master started no other worker")


@fault("kill -9 of the web master, which takes its workers along")
def web_killed(scene: Scene) -> float:
    """The supervisor starts it again; requests wait in the socket that the supervisor holds."""
    return _killed(scene, ["web"], scene.until_written)


@fault("kill -9 of one of two workers")
def worker_killed(scene: Scene) -> float:
    """The other settles."""
    scene.at.processes.kill("worker")
    return scene.until_settled()


@fault("kill -9 of a worker's child, in which tasks run")
def worker_child_killed(scene: Scene) -> float:
    """Its task is delivered again; the parent starts another child."""
    send(children(scene.at.processes.pid_of("worker")), signal.SIGKILL)
    return scene.until_settled()


@fault("kill -9 of both workers at once")
def workers_killed(scene: Scene) -> float:
    """Nothing is settled until one of them is back."""
    return _killed(scene, WORKERS, scene.until_settled)


@fault("kill -9 of beat")
def beat_killed(scene: Scene) -> float:
    """Until it is back nothing happens by the clock."""
    scene.at.processes.kill("beat")
    return scene.until_heard("beat")


@fault("kill -9 of the sequencer")
def sequencer_killed(scene: Scene) -> float:
    """Play goes on; the log is signed later."""
    scene.at.processes.kill("sequencer")
    return scene.until_signed()


@fault("kill -9 of the process that sends hints")
def hints_killed(scene: Scene) -> float:
    """Consoles that follow ask again, and are answered by the web."""
    scene.at.processes.kill("hints")
    return scene.until_hinted()


@fault("kill -9 of one PostgreSQL backend: PostgreSQL ends all sessions and recovers")
def backend_killed(scene: Scene) -> float:
    """Every session is lost."""
    with scene.at.database() as connection:
        send([_backends(connection)[0]], signal.SIGKILL)
    return scene.until_written()


@fault("all sessions of the application ended by pg_terminate_backend")
def sessions_ended(scene: Scene) -> float:
    """Pools must notice."""
    with scene.at.database() as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'casino_app'")
    return scene.until_written()


@fault("kill -9 of the postmaster")
def postmaster_killed(scene: Scene) -> float:
    """The keeper starts it again."""
    send([_server(scene, "postgres")], signal.SIGKILL)
    return scene.until_written()


@fault("kill -9 of the broker")
def broker_killed(scene: Scene) -> float:
    """The keeper starts it again; the outbox is the truth."""
    send([_server(scene, "valkey")], signal.SIGKILL)
    return scene.until_settled()


@fault("web master, hints, workers, beat and sequencer killed at once")
def everything_killed(scene: Scene) -> float:
    """As after the loss of a machine's power, but for the servers."""
    return _killed(scene, ["web", "hints", *WORKERS, "beat", "sequencer"], scene.until_settled)


def _killed(scene: Scene, names: Sequence[str], well: Callable[[], float]) -> float:
    """Kill programs, and wait until they run again and the house is well; the seconds since the kill."""
    begun = time.monotonic()
    for name in names:
        scene.at.processes.kill(name)
    for name in names:
        scene.at.processes.pid_of(name)
    # What the dead had still answered or settled has been seen by now.
    time.sleep(0.3)
    well()
    return time.monotonic() - begun


def _backends(connection: Owner) -> list[int]:
    found = connection.execute("SELECT pid FROM pg_stat_activity WHERE usename = 'casino_app' ORDER BY pid")
    return [int(str(pid)) for (pid,) in found]


def _server(scene: Scene, name: str) -> int:
    pid = scene.at.pid_of_server(name)
    assert pid is not None, f"{name} does not run"
    return pid
