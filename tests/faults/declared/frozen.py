"""Processes that are there and do nothing: SIGSTOP for some seconds. So is a connection whose other end has gone."""

from __future__ import annotations

from tests.faults.declared import fault
from tests.faults.injecting import children, family, frozen
from tests.faults.scene import Scene


@fault("one web worker frozen for 15 s")
def web_worker_frozen(scene: Scene) -> float:
    """The master replaces it; its requests are repeated by the clients."""
    [one, *_] = children(scene.at.processes.pid_of("web"))
    with frozen([one], 15):
        pass
    return scene.until_written()


@fault("one of two workers frozen for 10 s")
def worker_frozen(scene: Scene) -> float:
    """The other settles."""
    with frozen(family(scene.at.processes.pid_of("worker")), 10):
        return scene.until_settled()


@fault("the child of one worker frozen for 10 s")
def worker_child_frozen(scene: Scene) -> float:
    """Its parent still takes tasks; what it holds is settled by the other, or when it goes on."""
    with frozen(children(scene.at.processes.pid_of("worker")), 10):
        return scene.until_settled()


@fault("both workers frozen for 8 s")
def workers_frozen(scene: Scene) -> float:
    """Nothing is settled meanwhile."""
    names = ("worker", "worker-2")
    with frozen([pid for name in names for pid in family(scene.at.processes.pid_of(name))], 8):
        pass
    return scene.until_settled()


@fault("beat frozen for 8 s")
def beat_frozen(scene: Scene) -> float:
    """It goes on by itself."""
    with frozen(family(scene.at.processes.pid_of("beat")), 8):
        pass
    return scene.until_heard("beat")


@fault("the sequencer frozen for 8 s")
def sequencer_frozen(scene: Scene) -> float:
    """The log grows and is signed later."""
    with frozen(family(scene.at.processes.pid_of("sequencer")), 8):
        pass
    return scene.until_signed()


@fault("the process that sends hints frozen for 8 s")
def hints_frozen(scene: Scene) -> float:
    """The web waits a moment for it, and then answers by itself."""
    with frozen(family(scene.at.processes.pid_of("hints")), 8):
        scene.until_written()
    return scene.until_hinted()


@fault("the broker frozen for 8 s: connections that answer nothing")
def broker_frozen(scene: Scene) -> float:
    """Requests go on, because none speaks to the broker."""
    pid = scene.at.pid_of_server("valkey")
    assert pid is not None
    with frozen([pid], 8):
        scene.until_written()
    return scene.until_settled()


@fault("PostgreSQL frozen for 6 s, with all its backends")
def database_frozen(scene: Scene) -> float:
    """Requests wait, and go on."""
    pid = scene.at.pid_of_server("postgres")
    assert pid is not None
    with frozen(family(pid), 6):
        pass
    return scene.until_written()
