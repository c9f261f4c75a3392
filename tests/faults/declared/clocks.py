"""Clocks that are wrong by an hour, of one part each. Time that counts comes from the database."""

from __future__ import annotations

import time

from tests.faults.declared import fault
from tests.faults.injecting import clock_off
from tests.faults.scene import Scene

HOUR = 3600
SECONDS = 10.0


@fault("the web's clock an hour ahead")
def web_clock_ahead(scene: Scene) -> float:
    """Sign-ins and events have the database's time."""
    with clock_off(scene, ["web"], HOUR):
        scene.until_written()
        time.sleep(SECONDS)
    return scene.until_written()


@fault("the web's clock an hour behind")
def web_clock_behind(scene: Scene) -> float:
    """The same."""
    with clock_off(scene, ["web"], -HOUR):
        scene.until_written()
        time.sleep(SECONDS)
    return scene.until_written()


@fault("both workers' clocks an hour ahead")
def workers_clock_ahead(scene: Scene) -> float:
    """Tasks are still taken, and none is thought to have expired."""
    with clock_off(scene, ["worker", "worker-2"], HOUR):
        scene.until_settled()
        scene.until_heard("worker")
        time.sleep(SECONDS)
    return scene.until_settled()


@fault("beat's clock an hour ahead, and then right again")
def beat_clock_ahead(scene: Scene) -> float:
    """What it has sent in an hour that has not come must not keep it from sending now."""
    with clock_off(scene, ["beat"], HOUR):
        scene.until_heard("beat")
        time.sleep(SECONDS)
    return scene.until_heard("beat")
