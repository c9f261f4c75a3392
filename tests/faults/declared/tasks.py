"""What a broker may do with tasks: lose, repeat, delay, reorder them."""

from __future__ import annotations

import time

from tests.faults.declared import fault
from tests.faults.injecting import family, frozen
from tests.faults.scene import Scene

SECONDS = 8.0
SETTLE = "hands.resolve_hand"


def _newest(scene: Scene) -> list[int]:
    """The newest messages of the outbox, done or not."""
    with scene.at.database() as connection:
        found = connection.execute("SELECT id FROM houses_outboxmessage ORDER BY id DESC LIMIT 20").fetchall()
    return [int(str(id_)) for (id_,) in found]


@fault("FLUSHALL on the broker, five times a second")
def broker_flushed(scene: Scene) -> float | None:
    """Hints are lost; the sweeper sends them again."""
    begun = time.monotonic()
    with scene.at.broker() as broker:
        while time.monotonic() - begun < SECONDS:
            broker.flushall()
            time.sleep(0.2)
    return scene.until_settled()


@fault("every settlement's task delivered three times more")
def tasks_repeated(scene: Scene) -> float | None:
    """A hand is settled once."""
    from casino.celery import app

    begun = time.monotonic()
    while time.monotonic() - begun < SECONDS:
        for message in _newest(scene):
            for _ in range(3):
                app.send_task(SETTLE, [message], queue="settlement")
        time.sleep(1)
    return None


@fault("settlements' tasks delivered again 3 s late")
def tasks_delayed(scene: Scene) -> float | None:
    """They find nothing to do."""
    from casino.celery import app

    begun = time.monotonic()
    while time.monotonic() - begun < SECONDS:
        for message in _newest(scene):
            app.send_task(SETTLE, [message], queue="settlement", countdown=3)
        time.sleep(1)
    return None


@fault("the queue turned round while both workers stand still")
def tasks_reordered(scene: Scene) -> float:
    """Order comes from versions, never from the broker."""
    workers = [pid for name in ("worker", "worker-2") for pid in family(scene.at.processes.pid_of(name))]
    with frozen(workers, 4), scene.at.broker() as broker:
        time.sleep(3)
        for queue in broker.keys("*settlement"):
            if broker.type(queue) == b"list":
                waiting = broker.lrange(queue, 0, -1)
                broker.delete(queue)
                broker.lpush(queue, *waiting)
    return scene.until_settled()


@fault("settlement's tasks for messages that do not exist")
def tasks_of_nothing(scene: Scene) -> float | None:
    """Each is refused and logged; the queue goes on."""
    from casino.celery import app

    for number in range(1, 51):
        app.send_task(SETTLE, [10**12 + number], queue="settlement")
    return scene.until_settled()
