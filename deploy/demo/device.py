"""A player's device: it adds a seed to every deal, and checks that the cards it is shown are those that the house
committed to.

What it checks with is written here once more, from the documentation of the engine (`engine/deal/opening.py`), with
nothing but the standard library: a player who used the house's own code to check the house would have to trust it.
The demo may not import that code anyway.
"""

import hashlib
import re
import secrets
from typing import Any

from deploy.demo.client import Connection

#: A card in a view.
CARD = re.compile("[A-Z0-9][a-z]", re.ASCII)
ALGORITHM = b"hmac-drbg-sha256/fisher-yates-u32"


class Cheated(Exception):
    """The house shows something other than it committed to."""


class Device(Connection):
    """The device of the player on one seat, with the key that the dealer gave."""

    def __init__(self, base_url: str, key: str, seat: int) -> None:
        super().__init__(base_url, f"Seat {key}")
        self.seat = seat
        self.checked = 0
        self._deal: dict[str, Any] = {}
        self._seed = ""
        self._roots: list[str] = []
        self._seen: dict[tuple[int, int], str] = {}

    def commit_seed(self) -> None:
        """Remember what the house has committed to, and commit to a seed that nobody could know."""
        self._deal, self._seed = self.get("seat/deal"), secrets.token_hex(16)
        hand = self._deal["hand"]
        commitment = commitment_to(hand, self.seat, self._seed)
        self._deal = self._added("commitment", {"hand": hand, "commitment": commitment})
        self._roots, self._seen = [], {}

    def reveal_seed(self) -> None:
        """Reveal the seed, now that no seat can commit to another."""
        self._deal = self._added("seed", {"hand": self._deal["hand"], "seed": self._seed})

    def _added(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The deal after what the device has added to it. Raises Cheated where the house's part has changed."""
        shown = self._send("POST", f"seat/{path}", body, {})
        if any(shown[name] != self._deal[name] for name in ("hand", "commitment", "seats")):
            raise Cheated(f"{shown['hand']}: what the house had fixed changed when seeds were added")
        return shown

    def check(self) -> None:
        """Check what the house shows of the hand now. Raises Cheated."""
        shown = self.get("seat/hand")
        if (shown["hand"], shown["commitment"]) != (self._deal["hand"], self._deal["commitment"]):
            raise Cheated(f"{shown['hand']} was not dealt from what was committed to for {self._deal['hand']}")
        if shown["client_seeds"].get(str(self.seat)) != self._seed:
            raise Cheated(f"{shown['hand']}: the seed of seat {self.seat} was not used")
        for seat, commitment in self._deal["seed_commitments"].items():
            if commitment_to(shown["hand"], int(seat), shown["client_seeds"].get(seat, "")) != commitment:
                raise Cheated(f"{shown['hand']}: the seed of seat {seat} is not the one that was committed to")
        if shown["cards_roots"][: len(self._roots)] != self._roots or not shown["cards_roots"]:
            raise Cheated(f"{shown['hand']}: a root over cards changed after it was published")
        self._roots = shown["cards_roots"]
        for opening in shown["openings"]:
            self._check_card(shown["hand"], opening)
        opened = {opening["card"] for opening in shown["openings"]}
        unopened = [card for card in shown_to_all([shown["cards"], shown["view"]]) if card not in opened]
        if unopened:
            raise Cheated(f"{shown['hand']}: {unopened} were not opened")

    def offers(self) -> list[dict[str, Any]]:
        """What the seat may do now with its cards."""
        found: list[dict[str, Any]] = self.get("seat/hand")["legal_actions"]
        return found

    def _check_card(self, hand: str, opening: dict[str, Any]) -> None:
        """One card leads to the root, is the one that lay there before, and lies nowhere else."""
        place, card = (opening["pack"], opening["position"]), opening["card"]
        if root_of(hand, opening) != self._roots[opening["pack"]]:
            raise Cheated(f"{hand}: {card} does not lead to the root of its pack")
        if self._seen.setdefault(place, card) != card:
            raise Cheated(f"{hand}: {card} lies where {self._seen[place]} lay")
        if sum(at[0] == place[0] and other == card for at, other in self._seen.items()) != 1:
            raise Cheated(f"{hand}: {card} lies in two places of one pack")
        self.checked += 1


def shown_to_all(view: Any) -> list[str]:
    """The cards that lie face up on the table: every text of a view that is a card, but for the table's options."""
    if isinstance(view, str):
        return [view] if CARD.fullmatch(view) else []
    if isinstance(view, dict):
        view = [value for name, value in view.items() if name != "options"]
    return [card for part in view for card in shown_to_all(part)] if isinstance(view, list) else []


def encoded(*parts: bytes) -> bytes:
    """The parts, each after its length: 4 bytes, big-endian."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def commitment_to(hand: str, seat: int, seed: str) -> str:
    """The commitment of a seat to its seed for one hand, in hex."""
    parts = encoded(b"client-commit-v1", ALGORITHM, hand.encode(), bytes([seat]), seed.encode())
    return hashlib.sha256(parts).hexdigest()


def root_of(hand: str, opening: dict[str, Any]) -> str:
    """The root to which an opening leads (RFC 6962, 2.1.1), in hex."""
    pack, place, card, salt = (opening[name] for name in ("pack", "position", "card", "salt"))
    leaf = encoded(
        b"card-v1", ALGORITHM, hand.encode(), pack.to_bytes(4, "big"), place.to_bytes(4, "big"), card.encode(),
        bytes.fromhex(salt),
    )  # fmt: skip
    found = hashlib.sha256(b"\0" + leaf).digest()
    last = opening["size"] - 1
    for other in map(bytes.fromhex, opening["path"]):
        # A node that is the last one of its level and has no neighbour goes up as it is.
        while place == last and not place & 1 and place:
            place, last = place >> 1, last >> 1
        found = hashlib.sha256(b"\1" + (other + found if place & 1 else found + other)).digest()
        place, last = place >> 1, last >> 1
    return found.hex()
