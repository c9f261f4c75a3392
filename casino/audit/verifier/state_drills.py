"""Drills of backups: what the operator's unit says of them fits together, and each is recorded once."""

from .state_approvals import moved
from .state_rows import TOLERANCE, Handler, Row, Rows


class Drills:
    """Judges what is recorded of drills; no row is made of it."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        #: When the newest drill ended.
        self._last = ""
        self.handlers: dict[str, Handler] = {"backup.drilled": self._drilled}

    def _drilled(self, doc: Row) -> None:
        data = doc["data"]
        if (doc["role"], doc["actor"]) != ("system", "operator"):
            self._find(doc, f"{doc['actor']}, as {doc['role']}, records a drill")
        if data["ok"] is bool(data["problems"]):
            self._find(doc, f"it is {'good' if data['ok'] else 'bad'}, with {len(data['problems'])} problems")
        if data["ok"] and (data.get("backup") is None or data.get("event_count") is None):
            self._find(doc, "it is good, and nothing of this house was verified")
        if not self._last < data["tried"] <= moved(doc["at"], TOLERANCE):
            self._find(doc, f"it ended at {data['tried']}, after the one of {self._last or 'never'}")
        self._last = max(self._last, data["tried"])

    def _find(self, doc: Row, problem: str) -> None:
        self._rows.find("drill_differs", f"{doc['chain']}#{doc['seq']}", problem)
