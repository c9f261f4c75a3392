"""What a fault is given: the installation, the play, and ways to wait for the house to be well again."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import psycopg
import redis

from tests.faults.house import Installation
from tests.faults.players import Play

#: Seconds that a part of the house is given to recover before that is a violation.
PATIENCE = 60.0


class NotRecovered(Exception):
    """Something was not well again in time."""


@dataclass(frozen=True)
class Scene:
    """One fault's stage."""

    at: Installation
    play: Play

    def until(self, well: Callable[[], bool], what: str) -> float:
        """Seconds until this holds; an error of database or broker means not yet. Raises NotRecovered."""
        begun = time.monotonic()
        while time.monotonic() - begun < PATIENCE:
            with suppress(psycopg.Error, redis.RedisError):
                if well():
                    return time.monotonic() - begun
            time.sleep(0.05)
        raise NotRecovered(f"{what}: not within {PATIENCE:.0f} s")

    def until_written(self) -> float:
        """Seconds until a write is accepted that was not yet."""
        before = len(self.play.journal.accepted)
        return self.until(lambda: len(self.play.journal.accepted) > before, "no write was accepted")

    def until_settled(self) -> float:
        """Seconds until a hand is seen to be settled that was not yet."""
        before = len(self.play.journal.settled)
        return self.until(lambda: len(self.play.journal.settled) > before, "no hand was settled")

    def until_signed(self) -> float:
        """Seconds until the sequencer has signed another checkpoint."""
        before = self._checkpoints()
        return self.until(lambda: self._checkpoints() > before, "no checkpoint was signed")

    def _checkpoints(self) -> int:
        with self.at.database() as connection:
            [(count,)] = connection.execute("SELECT count(*) FROM audit_checkpoint").fetchall()
        assert isinstance(count, int)
        return count

    def until_hinted(self) -> float:
        """Seconds until a reader that follows the house gets a hint over a stream that stays open."""
        before = time.monotonic()
        return self.until(lambda: self.play.following.hinted > before, "no hint came over a stream")

    def until_heard(self, part: str) -> float:
        """Seconds until `beat` or `worker` gives a new sign of life."""
        with self.at.broker() as broker:
            for key in broker.keys(f"*alive:{part}*"):
                broker.delete(key)
            return self.until(lambda: bool(broker.keys(f"*alive:{part}*")), f"nothing was heard of {part}")
