"""What the house keeps for players besides chips, followed through the chains of drawers."""

from .state_people import PERSON, PLAYER
from .state_rows import Find, Handler, Row, Rows


class Money:
    """Players' deposits: whose they are, and that every event has what lies there after it."""

    def __init__(self, rows: Rows, find: Find) -> None:
        self._rows, self._find = rows, find
        self._deposits: dict[str, int] = {}
        self.handlers: dict[str, Handler] = {
            "cage.deposit_taken": self._taken,
            "cage.deposit_drawn": lambda doc: self._moved(doc, -doc["data"]["amount"]),
            "cage.deposit_returned": lambda doc: self._moved(doc, -doc["data"]["amount"]),
        }

    def _taken(self, doc: Row) -> None:
        self._moved(doc, doc["data"]["amount"])
        player = doc["data"]["player"]
        if not any(row["player"] == player for row in self._rows.of(PERSON).values()):
            self._find("state_event_differs", _place(doc), f"nobody has recorded who {player} is")

    def _moved(self, doc: Row, by: int) -> None:
        player, known = doc["data"]["player"], self._deposits
        self._rows.get(PLAYER, player)
        known[player] = known.get(player, 0) + by
        if known[player] != doc["data"]["deposit"] or known[player] < 0:
            problem = f"the deposit of {player} is {known[player]}, the event has {doc['data']['deposit']}"
            self._find("state_event_differs", _place(doc), problem)


def _place(doc: Row) -> str:
    return f"{doc['chain']}#{doc['seq']}"
