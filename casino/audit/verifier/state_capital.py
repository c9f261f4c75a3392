"""Capital: what was posted is what an event says, and what was left at a payout covers what could be claimed."""

from .state_rows import Handler, Row, Rows

CAPITAL = "3010"
#: Where the money is, by how it was paid.
PLACES = {"cash": "1010", "bank": "1090"}
_COVER = frozenset(("cash", "owed", "trays"))


class Capital:
    """Judges what the owners pay in and take out."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.handlers: dict[str, Handler] = {
            "capital.paid_in": lambda doc: self._posted(doc, doc["data"]["amount"]),
            "capital.paid_out": self._out,
        }

    def _out(self, doc: Row) -> None:
        self._posted(doc, -doc["data"]["amount"])
        left = doc["data"]["cover"]
        if left.keys() != _COVER or left["cash"] < left["owed"] + left["trays"]:
            self._find(doc, "cover_too_low", f"{left} was left, which does not cover what can be claimed")

    def _posted(self, doc: Row, amount: int) -> None:
        data = doc["data"]
        legs = [leg for posting in doc.get("postings", ()) for leg in posting.get("legs", ())]
        posted = {code: moved for code, _, moved in legs}
        wanted = {PLACES.get(data["by"], ""): amount, CAPITAL: -amount}
        if len(legs) != len(wanted) or posted != wanted:
            self._find(doc, "state_event_differs", f"capital was posted as {posted}, paid was {wanted}")

    def _find(self, doc: Row, code: str, problem: str) -> None:
        self._rows.find(code, f"{doc['chain']}#{doc['seq']}", problem)
