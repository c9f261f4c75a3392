"""The trials: what happens to the cluster while an evening is played, one after the other."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from deploy.embedded.process import wait_until
from tests.faults.injecting import send
from tests.ha.cluster import Cluster, Member, NotWhole

#: Seconds that a standby receives nothing before the primary dies.
SLOW_LINK = 1.5
#: Seconds that a standby is frozen.
FROZEN = 30.0
#: Seconds within which another member must be primary.
ELECTED = 60.0


@dataclass(frozen=True)
class Trial:
    """What is done, in words and in code, which returns what is worth telling; the longest pause of acknowledged writes
    that is wanted, and the longest that is borne, in seconds."""

    words: str
    inject: Callable[[Cluster], str]
    wanted: float = 30.0
    borne: float = 30.0


def killed(cluster: Cluster) -> str:
    """The whole primary, as a machine that loses its power."""
    return _replaced(cluster, _primary(cluster))


def link_frozen(cluster: Cluster) -> str:
    """The standbys get nothing for a while, then the primary dies, and what was on its way is gone."""
    begun = time.monotonic() + SLOW_LINK
    primary = cut_off(cluster, lambda: True)
    return _replaced(cluster, primary, begun)


def cut_off(cluster: Cluster, may_die: Callable[[], bool]) -> Member:
    """Freeze the links to the standbys for a while, and until this holds; then kill the primary, and what receives: its
    sockets hold what was sent and never read. Returns the killed one."""
    primary = _primary(cluster)
    receivers = [pid for one in cluster.members for pid in one.receivers()]
    send(receivers, signal.SIGSTOP)
    time.sleep(SLOW_LINK)
    wait_until(may_die, seconds=2 * SLOW_LINK)
    primary.kill()
    send(receivers, signal.SIGKILL)
    return primary


def elected(cluster: Cluster, old: Member) -> None:
    """Wait until another member is primary. Raises NotWhole."""
    if not wait_until(lambda: cluster.primary() is not None, seconds=ELECTED):
        raise NotWhole(f"no primary {ELECTED:.0f} s after {old.name} was killed")


def primary_frozen(cluster: Cluster) -> str:
    """The primary hangs until another one is there, and then goes on as if nothing had been. A watchdog would have
    reset it meanwhile."""
    primary, begun = _primary(cluster), time.monotonic()
    with primary.frozen():
        elected(cluster, primary)
        took = time.monotonic() - begun
        time.sleep(3.0)
    woken = time.monotonic()
    if not wait_until(lambda: primary.asked("/replica")[0] == 200, seconds=ELECTED):
        raise NotWhole(f"{primary.name} has woken and does not follow")
    cluster.wait_whole()
    return f"elected after {took:.1f} s; the other one follows {time.monotonic() - woken:.1f} s after it has woken"


def standby_frozen(cluster: Cluster) -> str:
    """The standby that commits wait for takes nothing in, and its machine lives."""
    frozen = cluster.synchronous_standby()
    receivers = frozen.receivers()
    begun = time.monotonic()
    send(receivers, signal.SIGSTOP)
    try:
        other = wait_until(lambda: cluster.roles().get(frozen.name) != "sync_standby", seconds=FROZEN)
        took = time.monotonic() - begun
        time.sleep(max(0.0, FROZEN - took))
    finally:
        send(receivers, signal.SIGCONT)
    return f"another standby after {took:.1f} s" if other else "no other standby was chosen"


def switched_over(cluster: Cluster) -> str:
    """`patronictl switchover`, as before a planned stop."""
    begun = time.monotonic()
    cluster.switch_over()
    return f"patronictl took {time.monotonic() - begun:.1f} s"


def _primary(cluster: Cluster) -> Member:
    found = cluster.primary()
    if found is None:
        raise NotWhole("there is no primary")
    return found


def _replaced(cluster: Cluster, old: Member, begun: float | None = None) -> str:
    begun = time.monotonic() if begun is None else begun
    old.kill()
    elected(cluster, old)
    took = time.monotonic() - begun
    time.sleep(3.0)  # it comes back later than the house does
    back = time.monotonic()
    old.start()
    cluster.wait_whole()
    return f"elected after {took:.1f} s; the killed one was back {time.monotonic() - back:.1f} s after its start"


#: What a house must bear.
ALL = (
    Trial("primary killed, first time", killed),
    Trial("primary killed, second time", killed),
    Trial("primary killed, third time", killed),
    Trial(f"links to the standbys frozen for {SLOW_LINK} s, then the primary killed", link_frozen),
    Trial("primary frozen until another one is there, then going on", primary_frozen),
    Trial("the synchronous standby frozen, not dead", standby_frozen, wanted=10.0),
    Trial("planned switchover", switched_over),
)
