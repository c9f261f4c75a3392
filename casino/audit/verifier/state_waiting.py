"""The waiting list, rebuilt from the events of the house's chain, and from those of tables at which a player with a
number sat down."""

from .state_columns import HOUSE, ID, Model, proved
from .state_rows import Find, Handler, Near, Row, Rows
from .state_tables import TABLE, table_of

ENTRY = "tables.WaitingEntry"
_ENDS = "table.sat_down, table.buy_in, table.moved_in, waiting.no_show, waiting.removed"
_CALLED = "waiting.called"

MODELS = (
    Model(
        ENTRY,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("number", "game", "table", "player", "added_at"), proved("waiting.added")),
            **dict.fromkeys(("called_to", "called_at"), proved(_CALLED)),
            **dict.fromkeys(("state", "version"), proved(f"waiting.added, {_CALLED}, {_ENDS}")),
            "ended_at": proved(_ENDS),
        },
    ),
)


class WaitingList:
    """Rows of the waiting list, and whether players were called in their order."""

    def __init__(self, rows: Rows, find: Find) -> None:
        self._rows, self._find = rows, find
        #: Numbers of entries that have not ended.
        self._open: list[int] = []
        self._last = 0
        self.handlers: dict[str, Handler] = {
            "waiting.added": self._added,
            "waiting.called": self._called,
            "waiting.no_show": self._no_show,
            "waiting.removed": self._removed,
            "table.sat_down": self._sat_down,
            "table.buy_in": self._sat_down,
            "table.moved_in": self._sat_down,
        }

    def _added(self, doc: Row) -> None:
        data, number = doc["data"], doc["data"]["ticket"]
        if number != self._last + 1:
            self._wrong(doc, f"number {number} was given after {self._last}")
        for other in self._open:
            row = self._rows.get(ENTRY, str(other))
            if (row["player"], row["game"]) == (data["player"], data["game"]):
                self._wrong(doc, f"{data['player']} waits for {data['game']} twice, first with number {other}")
        self._last = number
        self._open.append(number)
        self._rows.add(
            ENTRY, str(number), number=number, game=data["game"], table=data.get("table"), player=data["player"],
            state="waiting", version=1, added_at=Near(doc["at"]), called_to=None, called_at=None, ended_at=None,
        )  # fmt: skip

    def _called(self, doc: Row) -> None:
        number, table = doc["data"]["ticket"], doc["data"]["table"]
        game = self._rows.get(TABLE, table)["game"]
        row = self._next(doc, ("waiting", "called"), state="called", called_to=table, called_at=Near(doc["at"]))
        if row["game"] != game or row["table"] not in (None, table):
            self._wrong(doc, f"number {number} waits for {row['table'] or row['game']}, not for table {table}")
        passed = [other for other in self._open if other < number and self._waits_for(other, table, game)]
        if passed and not doc.get("reason"):
            self._wrong(doc, f"number {number} was called before number {passed[0]}, and no reason is given")

    def _waits_for(self, number: int, table: str, game: str) -> bool:
        row = self._rows.get(ENTRY, str(number))
        return bool(row["state"] == "waiting" and row["game"] == game and row["table"] in (None, table))

    def _no_show(self, doc: Row) -> None:
        self._end(doc, ("called",), "no_show")

    def _removed(self, doc: Row) -> None:
        self._end(doc, ("waiting", "called"), "removed")

    def _sat_down(self, doc: Row) -> None:
        if "ticket" not in doc["data"]:
            return
        row, table = self._end(doc, ("called",), "seated"), table_of(doc)
        if (row["player"], row["called_to"]) != (doc["data"]["player"], table):
            problem = f"{doc['data']['player']} sat down for {row['player']}, who was called to {row['called_to']}"
            self._wrong(doc, problem)

    def _end(self, doc: Row, states: tuple[str, ...], state: str) -> Row:
        row = self._next(doc, states, state=state, ended_at=Near(doc["at"]))
        if doc["data"]["ticket"] in self._open:
            self._open.remove(doc["data"]["ticket"])
        return row

    def _next(self, doc: Row, states: tuple[str, ...], **columns: object) -> Row:
        """An entry in one of these states changes. Raises NotRecorded."""
        row = self._rows.get(ENTRY, str(doc["data"]["ticket"]))
        if row["state"] not in states:
            self._wrong(doc, f"number {row['number']} was {row['state']}")
        row.update(columns, version=row["version"] + 1)
        return row

    def _wrong(self, doc: Row, problem: str) -> None:
        self._find("waiting_list_differs", f"{doc['chain']}#{doc['seq']}", problem)
