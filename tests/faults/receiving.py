"""A receiver of webhooks that listens through every fault. Whatever is cut, each chain must come to it whole and in
order: what comes again, because its answer was lost, is the same under the same id."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from tests.casino.live.receiver import Post, Receiving

#: Seconds after a fault within which the last hint has come: attempts that fail are 1, 2, 4 ... seconds apart.
CAUGHT_UP = 90.0


@dataclass(frozen=True)
class Deliveries:
    """What has come of one house to the receiver, which all houses share; `begun` is where each chain began."""

    receiving: Receiving
    house: str
    begun: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, receiving: Receiving, house: str, subscribed: dict[str, Any]) -> Deliveries:
        """By the answer to its subscription."""
        return cls(receiving, house, {one["chain"]: one["position"] for one in subscribed["positions"]})

    def lacks(self, heads: dict[str, int]) -> list[str]:
        """What is wrong with what has come, for chains with these last numbers; waits for what is on its way."""
        until = time.monotonic() + CAUGHT_UP
        while (behind := self._behind(heads)) and time.monotonic() < until:
            time.sleep(0.1)
        found = [f"POSTs of {chain} have not come up to {heads[chain]}" for chain in behind]
        found += [f"a POST of {post.content['chain']} is not signed" for post in self._taken() if not post.is_signed()]
        for chain, begin in self.begun.items():
            found += _out_of_order(chain, begin, self._taken(chain))
        return found

    def _taken(self, chain: str = "") -> list[Post]:
        """What was taken of this house, of one chain where it is named, in the order in which it came."""
        found = [post for post in list(self.receiving.taken) if post.content["house"] == self.house]
        return [post for post in found if not chain or post.content["chain"] == chain]

    def _behind(self, heads: dict[str, int]) -> list[str]:
        last = {post.content["chain"]: post.seqs[-1] for post in self._taken()}
        return [chain for chain in self.begun if last.get(chain, self.begun[chain]) < heads[chain]]


def _out_of_order(chain: str, begin: int, posts: list[Post]) -> list[str]:
    """What comes too early, twice under two ids, or not at all."""
    last, known, found = begin, dict[str, list[int]](), list[str]()
    for post in posts:
        if post.id in known:
            if known[post.id] != post.seqs:
                found.append(f"{post.id} of {chain} was {known[post.id]}, then {post.seqs}")
            continue
        if post.seqs != list(range(last + 1, last + 1 + len(post.seqs))):
            found.append(f"a POST of {chain} has {post.seqs}, after {last}")
        known[post.id], last = post.seqs, post.seqs[-1]
    return found
