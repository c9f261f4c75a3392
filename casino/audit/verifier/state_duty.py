"""Duty: nothing is taken back of a booking that there is not, nor more than was booked; the rates of a month that was
booked stay what they were."""

import re

from .state_columns import HOUSE, ID, Model, proved
from .state_rows import Handler, Near, Row, Rows

RATES = "houses.DutyRates"
_PARTS = ("valid_from", "tax_code", "base", "deductions", "bands")
MODELS = (
    Model(
        RATES,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("number", *_PARTS, "set_at", "set_by", "approval"), proved("house.duty_rates_set")),
        },
    ),
)
_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])\Z")
#: Hundredths of a percent in the whole.
_WHOLE = 10_000


class Duty:
    """Bookings of duty by their number in the house's chain, and what was taken back of each."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._left: dict[int, int] = {}
        #: The last month on which duty was booked.
        self._booked = ""
        self.handlers: dict[str, Handler] = {
            "house.duty": self._due, "house.duty_lowered": self._lowered, "house.duty_rates_set": self._rates,
        }  # fmt: skip

    def _due(self, doc: Row) -> None:
        self._left[doc["seq"]] = doc["data"]["amount"]
        self._booked = max(self._booked, doc["data"].get("for_month") or "")

    def _rates(self, doc: Row) -> None:
        data, count = doc["data"], len(self._rows.of(RATES))
        for problem in self._wrong(data, count):
            self._rows.find("state_event_differs", f"{doc['chain']}#{doc['seq']}", problem)
        self._rows.add(
            RATES, str(data["number"]), number=data["number"], **{name: data[name] for name in _PARTS},
            set_at=Near(doc["at"]), set_by=doc["actor"], approval=data.get("approval"),
        )  # fmt: skip

    def _wrong(self, data: Row, count: int) -> list[str]:
        """What is wrong with a version of the rates after so many."""
        starts = [band.get("above") for band in data["bands"]]
        rates = [band.get("rate") for band in data["bands"]]
        rising = all(type(start) is int for start in starts) and starts == sorted(set(starts)) and starts[:1] == [0]
        found = []
        if data["number"] != count + 1:
            found.append(f"version {data['number']} of the rates of duty comes after {count}")
        if not _MONTH.match(data["valid_from"]) or data["valid_from"] <= self._booked:
            found.append(f"rates from {data['valid_from']} on, and duty was booked on {self._booked or 'no month'}")
        if not rising or not all(type(rate) is int and 0 <= rate <= _WHOLE for rate in rates):
            found.append("the bands do not rise from 0, or a rate is none")
        if any(("amount" in one) == ("figure" in one) for one in data["deductions"]):
            found.append("a deduction is neither an amount nor a figure")
        return found

    def _lowered(self, doc: Row) -> None:
        data = doc["data"]
        left = self._left.get(data["entry"], 0)
        if not 0 < data["amount"] <= left:
            problem = f"{data['amount']} of entry {data['entry']} were taken back, of which {left} were left"
            self._rows.find("state_event_differs", f"{doc['chain']}#{doc['seq']}", problem)
        self._left[data["entry"]] = left - data["amount"]
