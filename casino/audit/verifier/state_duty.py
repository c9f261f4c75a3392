"""Duty: nothing is taken back of a booking that there is not, nor more than was booked."""

from .state_rows import Handler, Row, Rows


class Duty:
    """Bookings of duty by their number in the house's chain, and what was taken back of each."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._left: dict[int, int] = {}
        self.handlers: dict[str, Handler] = {"house.duty": self._due, "house.duty_lowered": self._lowered}

    def _due(self, doc: Row) -> None:
        self._left[doc["seq"]] = doc["data"]["amount"]

    def _lowered(self, doc: Row) -> None:
        data = doc["data"]
        left = self._left.get(data["entry"], 0)
        if not 0 < data["amount"] <= left:
            problem = f"{data['amount']} of entry {data['entry']} were taken back, of which {left} were left"
            self._rows.find("state_event_differs", f"{doc['chain']}#{doc['seq']}", problem)
        self._left[data["entry"]] = left - data["amount"]
