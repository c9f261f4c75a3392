"""Electronic deals: prepared before their cards fell, seeded in the one order, then dealt as recorded, or abandoned."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

from .events import Row, place_of
from .findings import Report
from .shelf import Shelf, Shelved, declare

_ALGORITHM = b"hmac-drbg-sha256/fisher-yates-u32"


def seed_commitment(hand: str, seat: int, seed: str) -> str:
    """What a seat (1 to 255) commits to its seed with, for one hand; 64 hex digits. The engine's page on the deal says
    why."""
    parts = b"client-commit-v1", _ALGORITHM, hand.encode(), bytes([seat]), seed.encode()
    return hashlib.sha256(b"".join(len(part).to_bytes(4, "big") + part for part in parts)).hexdigest()


@declare
@dataclass(slots=True)
class _Prepared:
    """A deal of which no card has fallen yet."""

    name: str
    commitment: str
    seats: list[Any]
    #: By chair as a hand records them: what devices have committed to, with the player, and the seeds.
    committed: dict[str, tuple[str, str]] = field(default_factory=dict)
    seeds: dict[str, str] = field(default_factory=dict)
    closed: bool = False

    def unrevealed(self) -> list[int]:
        """Seats that have committed to a seed that is not known."""
        return sorted(int(seat) for seat in self.committed.keys() - self.seeds.keys())

    def take_seed(self, data: Row) -> str | None:
        """A seed that was said or revealed; what is wrong with it."""
        seat, player, seed = str(data["seat"]), data["player"], data["seed"]
        if seat in self.seeds:
            return f"another seed of seat {seat}"
        self.seeds[seat] = seed
        if data["given_by"] != "player":
            if self.closed:
                return f"a seed said on seat {seat} after the commitments were closed"
            return f"a seed said on seat {seat}, whose device had committed to one" if seat in self.committed else None
        if not self.closed:
            return f"a seed revealed by seat {seat} before the commitments were closed"
        by, commitment = self.committed.get(seat, ("", ""))
        if by != player:
            return f"a seed of {player} on seat {seat}, who had not committed to one"
        if not 0 < data["seat"] < 256 or seed_commitment(self.name, data["seat"], seed) != commitment:
            return f"another seed of seat {seat} than it had committed to"
        return None


class Deals:
    """Electronic deals of a house; each is dealt as it was recorded, or abandoned."""

    KEPT = ("_prepared",)

    def __init__(self, report: Report, shelf: Shelf) -> None:
        self._report = report
        #: By chain, as a table has one at a time.
        self._prepared: dict[str, _Prepared] = {}
        self._used: Shelved[bool] = Shelved(shelf, "names of deals")

    def shelve(self) -> None:
        """Set aside what is no longer needed in memory."""
        self._used.shelve()

    def take(self, doc: Row) -> None:
        """The next `deal.*` event of its table's chain."""
        kind, data, chain = doc["kind"], doc["data"], doc["chain"]
        name, prepared = data["hand"], self._prepared.get(chain)
        if kind == "deal.committed":
            if prepared is not None or name in self._used:
                before = prepared.name if prepared else name
                self._differs(name, f"{place_of(doc)} commits to it and {before} was before")
            self._used[name] = True
            self._prepared[chain] = _Prepared(name, data["commitment"], data["seats"])
        elif prepared is None or prepared.name != name:
            self._differs(name, f"{place_of(doc)} records {kind} of a deal that is not prepared")
        elif kind == "deal.abandoned":
            self._abandoned(prepared, data)
            del self._prepared[chain]
        else:
            problem = self._seeded(kind, prepared, data)
            if problem is not None:
                self._differs(name, f"{place_of(doc)} records {problem}")
            prepared.closed = prepared.closed or data.get("closed") is True

    def _seeded(self, kind: str, prepared: _Prepared, data: Row) -> str | None:
        """What is wrong with what a prepared deal has been given."""
        if kind == "deal.seed_taken":
            return prepared.take_seed(data)
        if prepared.closed:
            return f"{kind} after the commitments were closed"
        if kind == "deal.commitments_closed":
            prepared.closed = True
            return None
        seat = str(data["seat"])
        if seat in prepared.committed or seat in prepared.seeds:
            return f"another commitment of seat {seat}"
        prepared.committed[seat] = data["player"], data["seed_commitment"]
        return None

    def _abandoned(self, prepared: _Prepared, data: Row) -> None:
        if prepared.commitment != data["commitment"]:
            self._differs(prepared.name, f"it was abandoned with another commitment than {prepared.commitment}")
        missing = prepared.unrevealed() if prepared.closed else []
        if data.get("unrevealed", []) != missing:
            named = data.get("unrevealed", [])
            self._differs(prepared.name, f"it was abandoned for the seeds of {named}; those of {missing} were not "
                                         "revealed")  # fmt: skip

    def dealt(self, doc: Row) -> None:
        """A `hand.dealt`: an electronic one is of the prepared deal, with all that was recorded of it."""
        data, name = doc["data"], doc["data"]["hand"]
        seeds, electronic = data.get("client_seeds", {}), data["mode"] == "electronic"
        prepared = self._prepared.pop(doc["chain"], None)
        if prepared is None:
            if name in self._used:
                self._differs(name, "it was dealt under the name of a deal that was abandoned or dealt before")
            elif electronic or seeds:
                self._differs(name, f"it was dealt {data['mode']} with client seeds {seeds}, and was not prepared")
            return
        if prepared.name != name:
            self._differs(name, f"it was dealt while {prepared.name} was prepared")
        elif not electronic or data.get("commitment") != prepared.commitment:
            self._differs(name, f"it was dealt {data['mode']} with commitment {data.get('commitment')}; "
                                f"{prepared.commitment} was committed to")  # fmt: skip
        elif data["seats"] != prepared.seats:
            self._differs(name, f"it was dealt to {data['seats']}; it was prepared for {prepared.seats}")
        elif seeds != prepared.seeds:
            self._differs(name, f"it was dealt with client seeds {seeds}; {prepared.seeds} were taken")
        elif missing := prepared.unrevealed():
            self._differs(name, f"it was dealt although the seats {missing} had not revealed their seeds")

    def _differs(self, name: str, problem: str) -> None:
        self._report.find("deal_differs", f"hand {name}", problem)
