"""`make ha`: an evening is played on a cluster whose primary is killed, whose links freeze, and which is switched over.

Exit code 0 if nothing that was acknowledged is lost, clients saw nothing but success and 503 with Retry-After, no pause
was too long, and the evening and its audit trail are whole; 1 otherwise. Where this machine lacks something the trial
is skipped, with the reason, and the exit code is 0.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.ha import cluster as clusters
from tests.ha import house as houses
from tests.ha import inserting, programs, rolled_back, trials
from tests.ha import journal as journals
from tests.ha.cluster import Cluster
from tests.ha.house import House
from tests.ha.inserting import Inserts
from tests.ha.journal import Journal
from tests.ha.judging import judged
from tests.ha.trials import Trial

#: Seconds of play before the first trial, and after each.
PLAY = 6.0
HEAD = (
    "| trial | acknowledged writes, INSERTs | lost | pause of writes, of INSERTs | clients saw | besides |",
    "|---|---|---|---|---|---|",
)


@dataclass(frozen=True)
class Result:
    """What one trial did; pauses in seconds."""

    trial: Trial
    writes: int
    inserts: int
    lost: int
    lost_inserts: int
    pause: float
    pause_of_inserts: float
    saw: Counter[str]
    besides: str

    def row(self) -> str:
        """A row of the table."""
        saw = ", ".join(f"{count} x {what}" for what, count in sorted(self.saw.items())) or "success alone"
        cells = (
            self.trial.words, f"{self.writes:,}, {self.inserts:,}", f"{self.lost}, {self.lost_inserts}",
            f"{self.pause:.1f} s, {self.pause_of_inserts:.1f} s", saw, self.besides,
        )  # fmt: skip
        return "| " + " | ".join(cells) + " |"

    def violations(self) -> list[str]:
        """What did not hold."""
        found = []
        if self.lost or self.lost_inserts:
            found.append(f"{self.lost} acknowledged writes and {self.lost_inserts} INSERTs are lost")
        if not self.writes:
            found.append("no write was acknowledged")
        if self.pause > self.trial.borne:
            found.append(f"no write was acknowledged for {self.pause:.1f} s")
        return [f"{self.trial.words}: {one}" for one in found]

    def missed(self) -> list[str]:
        """The figure that was wanted and not reached."""
        if self.pause <= self.trial.wanted:
            return []
        return [f"{self.trial.words}: a pause of {self.pause:.1f} s, {self.trial.wanted:.0f} s wanted ({self.besides})"]


def main(arguments: list[str] | None = None) -> int:
    """Run the trials; returns the exit code."""
    parser = argparse.ArgumentParser(prog="make ha ARGS=...", description=__doc__)
    parser.add_argument(
        "--unsynchronised", action="store_true", help="lose what was acknowledged, as without synchronous_mode"
    )
    parser.add_argument("--keep", action="store_true", help="keep the folder with configurations and logs")
    options = parser.parse_args(arguments)
    # One that is ended leaves no servers behind, whichever way.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    tried = unsynchronised if options.unsynchronised else synchronous
    return judged("ha", lambda folder: tried(folder, programs.all_found()), keep=options.keep)


def synchronous(folder: Path, found: programs.Programs) -> list[str]:
    """Every trial of a cluster as docs/how-to/survive-a-failure.md has it; what did not hold."""
    begun = time.monotonic()
    with (
        clusters.running(folder, found, synchronous=True) as cluster,
        houses.running(folder, cluster) as house,
        inserting.running(cluster) as inserts,
        journals.kept() as journal,
    ):
        print(f"cluster and house up after {time.monotonic() - begun:.0f} s", *HEAD, sep="\n", flush=True)
        house.begin()
        time.sleep(PLAY)
        results = []
        for trial in trials.ALL:
            results.append(run(trial, cluster, house, inserts, journal))
            print(results[-1].row(), flush=True)
        violated = [one for result in results for one in result.violations()]
        violated += ended(house, journal)
        inserts.end()
        violated += verified(house, "verify_house", "verify_audit")
        again = {one.name: house.processes.restarts_of(one.name) for one in house.processes.programs}
        print("\nstarted again:", ", ".join(f"{name} {count} x" for name, count in again.items()))
        took = time.monotonic() - begun
        print(f"{house.hands} hands, {len(journal.acknowledged):,} acknowledged writes; {took:.0f} s")
        for one in (missed for result in results for missed in result.missed()):
            print(f"missed: {one}")
    return violated


def unsynchronised(folder: Path, found: programs.Programs) -> list[str]:
    """A cluster as it must not be: what was acknowledged is lost, the house stands still, and what restore.md says puts
    it right. Returns what did not hold."""
    with (
        clusters.running(folder, found, synchronous=False) as cluster,
        houses.running(folder, cluster) as house,
        journals.kept() as journal,
    ):
        house.begin()
        time.sleep(PLAY)
        before = house.outside()
        old = trials.cut_off(cluster, lambda: house.outside() > before)
        trials.elected(cluster, old)
        cluster.wait_reachable()
        lost = house.lost(journal.acknowledged[:])
        print(f"{len(journal.acknowledged):,} acknowledged writes, {len(lost)} of them lost", flush=True)
        if not lost:
            return ["nothing was lost, so nothing was tried"]
        try:
            print(*rolled_back.put_right(house, folder), sep="\n", flush=True)
        except rolled_back.Unexpected as error:
            return [str(error)]
        print(f"the evening ended with: {house.given_up()}")
        old.start()
        cluster.wait_whole()
        print(f"{old.name}, which had what is lost, follows again")
        saw = Counter(what for _, what in journal.refused)
        print("clients saw", ", ".join(f"{count} x {what}" for what, count in sorted(saw.items())))
        return verified(house, "verify_house") + [f"a client saw {one}" for one in saw if one.startswith("500")]


def run(trial: Trial, cluster: Cluster, house: House, inserts: Inserts, journal: Journal) -> Result:
    """One trial, with play after it."""
    begun, before = time.monotonic(), len(journal.acknowledged)
    before_inserts = len(inserts.acknowledged)
    besides = trial.inject(cluster)
    time.sleep(PLAY)
    ended = time.monotonic()
    if house.over:
        raise AssertionError(f"the evening was over before the trial: {trial.words}")
    acknowledged, inserted = journal.acknowledged[before:], inserts.acknowledged[before_inserts:]
    there = inserting.found(cluster)
    return Result(
        trial, len(acknowledged), len(inserted), len(house.lost(journal.acknowledged[:])),
        sum(row not in there for _, row in inserts.acknowledged[: before_inserts + len(inserted)]),
        journals.longest_gap([one.at for one in journal.acknowledged], begun, ended),
        journals.longest_gap(inserts.times, begun, ended), journal.saw(begun, ended), besides,
    )  # fmt: skip


def ended(house: House, journal: Journal) -> list[str]:
    """What is wrong with the evening, now that it ends, and with what clients saw of it."""
    try:
        found = house.end()
    except Exception as error:
        traceback.print_exc()
        found = [f"the evening did not end: {error!r}"]
    lost = house.lost(journal.acknowledged)
    found += [f"{len(lost)} acknowledged writes are not in the database: {lost[:3]}"] if lost else []
    wrong = Counter(one[:300] for one in journal.wrong)
    return found + [f"a client saw {count} x {one}" for one, count in wrong.most_common(10)]


def verified(house: House, *names: str) -> list[str]:
    """What these commands find that verify a house."""
    found = []
    for name in names:
        done = house.command(name, house.credentials.house)
        print(f"\n{name}: {done.stdout.strip()[-600:]}", flush=True)
        if done.returncode:
            found.append(f"{name} ended with {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return found


if __name__ == "__main__":
    sys.exit(main())
