"""What was printed: every printing of a document is one more copy, and the numbers of printouts have no gap."""

from .state_columns import HOUSE, ID, Model, proved
from .state_rows import Handler, Near, Row, Rows

PRINTOUT = "reports.Printout"
_PRINTED = proved("document.printed")
MODELS = (
    Model(
        PRINTOUT,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "document", "copy", "form", "language", "about", "as_of", "printed_by", "printed_at"),
                _PRINTED,
            ),
        },
    ),
)


class Prints:
    """Printouts by their numbers, and how often each document was printed."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._copies: dict[str, int] = {}
        #: The document of an event, by its place and player: a copy under another name would be an original.
        self._documents: dict[tuple[str, str, str], str] = {}
        self.handlers: dict[str, Handler] = {"document.printed": self._printed}

    def _printed(self, doc: Row) -> None:
        data = doc["data"]
        number, document = data["printout"], data["document"]
        if self._rows.seek(PRINTOUT, str(number - 1)) is None and number != 1:
            self._find(doc, f"printout {number} follows none")
        self._copies[document] = self._copies.get(document, 0) + 1
        if data["copy"] != self._copies[document]:
            self._find(doc, f"it is copy {self._copies[document]} of {document}, and is called copy {data['copy']}")
        if (about := data["about"]).keys() >= {"chain", "seq"}:
            known = self._documents.setdefault((about["chain"], about["seq"], about.get("player", "")), document)
            if known != document:
                self._find(doc, f"{about['chain']}#{about['seq']} was printed as {known}, and now is as {document}")
        self._rows.add(
            PRINTOUT, str(number), number=number, document=document, copy=data["copy"], form=data["form"],
            language=data["language"],
            about=data["about"], as_of=data.get("as_of"), printed_by=doc["actor"], printed_at=Near(doc["at"]),
        )  # fmt: skip

    def _find(self, doc: Row, problem: str) -> None:
        self._rows.find("print_differs", f"{doc['chain']}#{doc['seq']}", problem)
