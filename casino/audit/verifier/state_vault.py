"""Chips that come into the vault or leave it for ever, and their counts, rebuilt from the house's chain."""

from typing import Any

from .state_cage import number
from .state_columns import HOUSE, ID, Model, proved
from .state_rows import Handler, Near, Row, Rows

MOVE, COUNT = "transfers.ChipMove", "transfers.ChipMoveCount"
_NOTED = ("kind", "chip_set", "drawer", "paper", "observer")
_ENDS = "chips.delivered, chips.set_aside, chips.withdrawn_set_aside, chips.destroyed"
_COUNTS = f"chips.counted, chips.counts_differed, {_ENDS}"
MODELS = (
    Model(
        MOVE,
        "number of its series",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("serial", *_NOTED, "noted", "noted_by", "noted_at"), proved("chips.noted")),
            "differing_rounds": proved("chips.counts_differed"),
            **dict.fromkeys(("counted", "decided_by", "reason"), proved(_ENDS)),
            "ended_at": proved(f"{_ENDS}, and chips.counts_differed where that ends it"),
            "state": proved("every event of the movement"),
        },
    ),
    Model(
        COUNT,
        "movement, round and person",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("move", "round", "pieces", "counted_by", "counted_at"), proved(_COUNTS)),
        },
    ),
)
#: How many people count what the first has written down.
COUNTERS = {"delivery": 2, "set_aside": 1, "withdrawn": 1, "destruction": 1}
_MADE_BY = {
    "chips.delivered": "delivery", "chips.set_aside": "set_aside", "chips.withdrawn_set_aside": "withdrawn",
    "chips.destroyed": "destruction",
}  # fmt: skip


class Vault:
    """Rows of movements of chips."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.handlers: dict[str, Handler] = {
            "chips.noted": self._noted,
            "chips.counted": self._counted,
            "chips.counts_differed": self._differed,
            **dict.fromkeys(_MADE_BY, self._done),
        }

    def _noted(self, doc: Row) -> None:
        data = doc["data"]["move"]
        self._rows.add(
            MOVE, str(data["move"]), serial=data["move"], **{name: data[name] for name in _NOTED},
            noted=doc["data"]["pieces"], noted_by=doc["actor"], noted_at=Near(doc["at"]), state="waiting",
            differing_rounds=0, counted=None, decided_by=None, reason="", ended_at=None,
        )  # fmt: skip
        number(self._rows, "chip_move", data["move"])
        if data["kind"] == "destruction" and data["observer"] in (None, doc["actor"]):
            self._same(data, f"{doc['actor']} counted it out and nobody else attended for surveillance")

    def _counted(self, doc: Row) -> None:
        row, counts = self._count(doc)
        if len(counts) >= COUNTERS[row["kind"]]:
            self._find(doc["data"]["move"], "nothing was decided after the last count")
        self._change(doc["data"]["move"])

    def _differed(self, doc: Row) -> None:
        data = doc["data"]["move"]
        row, counts = self._count(doc)
        if len(counts) != COUNTERS[row["kind"]] or all(one == row["noted"] for one in counts):
            self._find(data, "counts that differ are the same, or not all there")
        changed: Row = {"differing_rounds": row["differing_rounds"] + 1}
        if data["state"] == "differed":
            changed["state"] = "differed"
            if row["kind"] != "delivery":
                changed["ended_at"] = Near(doc["at"])
        self._change(data, **changed)

    def _done(self, doc: Row) -> None:
        data, actor = doc["data"]["move"], doc["actor"]
        changed: Row = {"state": "done", "counted": data["counted"], "ended_at": Near(doc["at"])}
        if doc["data"].get("count") is None:
            row = self._rows.get(MOVE, str(data["move"]))
            if actor in {row["noted_by"], row["observer"], *self._counters(data)}:
                self._same(data, f"{actor} has a part in it and decided on it")
            if (row["kind"], row["state"]) != ("delivery", "differed"):
                self._find(data, f"a {row['kind']} that is {row['state']} was decided")
            changed |= {"decided_by": actor, "reason": doc["reason"]}
        else:
            row, counts = self._count(doc)
            if len(counts) != COUNTERS[row["kind"]] or any(one != data["counted"] for one in [*counts, row["noted"]]):
                self._find(data, "not everybody has counted what was posted")
        if _MADE_BY[doc["kind"]] != row["kind"]:
            self._find(data, f"{doc['kind']} ends a {row['kind']}")
        self._change(data, **changed)

    # --- Parts -------------------------------------------------------------------------------------------------------

    def _count(self, doc: Row) -> tuple[Row, list[Row]]:
        """Add a person's count; the movement as it was, and all counts of the round."""
        data, count, actor = doc["data"]["move"], doc["data"]["count"], doc["actor"]
        row = self._rows.get(MOVE, str(data["move"]))
        if row["state"] != "waiting" or count["round"] != row["differing_rounds"] + 1:
            self._find(data, f"a count of round {count['round']} while it is {row['state']}")
        before = self._of_round(data, count["round"])
        if actor in {row["noted_by"], row["observer"], *before}:
            self._same(data, f"{actor} wrote it down, attended or counted it, and counted it again")
        self._rows.add(
            COUNT, f"{data['move']}/{count['round']}/{actor}", move=str(data["move"]), round=count["round"],
            pieces=count["pieces"], counted_by=actor, counted_at=Near(doc["at"]),
        )  # fmt: skip
        return row, [*before.values(), count["pieces"]]

    def _of_round(self, data: Row, round_: int) -> dict[str, Row]:
        found = (row for row in self._rows.of(COUNT).values() if row["move"] == str(data["move"]))
        return {row["counted_by"]: row["pieces"] for row in found if row["round"] == round_}

    def _counters(self, data: Row) -> set[str]:
        return {row["counted_by"] for row in self._rows.of(COUNT).values() if row["move"] == str(data["move"])}

    def _change(self, data: Row, **columns: Any) -> None:
        """Change a movement; what the event repeats of it is what it is then."""
        self._rows.change(MOVE, str(data["move"]), **columns)
        row = self._rows.get(MOVE, str(data["move"]))
        for name in (*_NOTED, "noted_by", "state", "differing_rounds", "decided_by", "reason"):
            if row[name] != data[name]:
                self._find(data, f"{name} is {data[name]!r} in an event, events before it say {row[name]!r}")

    def _find(self, data: Row, problem: str) -> None:
        self._rows.find("state_event_differs", f"{MOVE} {data['move']}", problem)

    def _same(self, data: Row, problem: str) -> None:
        self._rows.find("same_person", f"{MOVE} {data['move']}", problem)
