"""Variances of one count that were offset against each other, rebuilt from the house's chain."""

from .state_cage import SHIFT
from .state_columns import HOUSE, ID, Model, proved
from .state_rows import Handler, Near, Row, Rows
from .state_vault_counts import COUNT

OFFSET = "cage.VarianceOffset"
_COLUMNS = ("number", "drawer", "count", "amount", "cash_over", "reason", "offset_by", "offset_at")
MODELS = (Model(OFFSET, "number", {"id": ID, "house": HOUSE, **dict.fromkeys(_COLUMNS, proved("variance.offset"))}),)


class Variances:
    """Rows of offsets."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.handlers: dict[str, Handler] = {"variance.offset": self._offset}

    def _offset(self, doc: Row) -> None:
        data, before = doc["data"], self._rows.of(OFFSET)
        drawer, place = data.get("drawer"), f"{OFFSET} {data['number']}"
        if data["number"] != len(before) + 1:
            self._rows.find("serial_gap", place, f"it comes after {len(before)}")
        cash, chips = self._found(drawer, data["count"])
        same = [row["amount"] for row in before.values() if (row["drawer"], row["count"]) == (drawer, data["count"])]
        cancels = min(abs(cash), abs(chips)) if cash * chips < 0 else 0
        if sum(same) + data["amount"] > cancels or data["amount"] <= 0 or data["cash_over"] != (cash > 0):
            problem = f"{data['amount']} were offset after {sum(same)}, of cash {cash} and chips {chips}"
            self._rows.find("state_event_differs", place, problem)
        self._rows.add(
            OFFSET, str(data["number"]), number=data["number"], drawer=drawer, count=data["count"],
            amount=data["amount"], cash_over=data["cash_over"], reason=doc["reason"], offset_by=doc["actor"],
            offset_at=Near(doc["at"]),
        )  # fmt: skip

    def _found(self, drawer: str | None, number: int) -> tuple[int, int]:
        """What the count found over or, below zero, short: cash and chips; nothing where it has not ended. Raises
        NotRecorded."""
        if drawer is not None:
            row = self._rows.get(SHIFT, f"{drawer}/{number}")
            if row["closed_at"] is None:
                return 0, 0
            withdrawn = _worth(row["counted_withdrawn"]) - _worth(row["expected_withdrawn"])
            chips = row["counted_chips"] - row["expected_chips"] + withdrawn
            return row["counted_cash"] - row["expected_cash"], chips
        row = self._rows.get(COUNT, str(number))
        if row["state"] != "accepted":
            return 0, 0
        return row["over"]["cash"], sum(int(value) * pieces for value, pieces in row["over"]["pieces"].items())


def _worth(withdrawn: Row) -> int:
    """What pieces by set and denomination are worth, in minor units."""
    return sum(int(value) * count for pieces in withdrawn.values() for value, count in pieces.items())
