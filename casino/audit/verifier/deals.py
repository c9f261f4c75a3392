"""Electronic deals: committed to before their cards fell, then dealt as they were recorded, or abandoned."""

from .events import Row, place_of
from .findings import Report


class Deals:
    """Electronic deals that were committed to before their cards fell; each is dealt as it was recorded, or
    abandoned."""

    def __init__(self, report: Report) -> None:
        self._report = report
        #: By chain, as a table has one at a time: name, commitment, and seeds by chair as a hand records them.
        self._prepared: dict[str, tuple[str, str, dict[str, str]]] = {}
        self._used: set[str] = set()

    def take(self, doc: Row) -> None:
        """The next `deal.*` event of its table's chain."""
        kind, data, chain = doc["kind"], doc["data"], doc["chain"]
        name, prepared = data["hand"], self._prepared.get(chain)
        if kind == "deal.committed":
            if prepared is not None or name in self._used:
                self._differs(name, f"{place_of(doc)} commits to it and {prepared[0] if prepared else name} was before")
            self._used.add(name)
            self._prepared[chain] = name, data["commitment"], {}
        elif kind in ("deal.seed_taken", "deal.abandoned"):
            if prepared is None or prepared[0] != name:
                self._differs(name, f"{place_of(doc)} records {kind} of a deal that is not prepared")
            elif kind == "deal.seed_taken":
                if prepared[2].setdefault(str(data["seat"]), data["seed"]) != data["seed"]:
                    self._differs(name, f"{place_of(doc)} records another seed of seat {data['seat']}")
            else:
                if prepared[1] != data["commitment"]:
                    self._differs(name, f"it was abandoned with another commitment than {prepared[1]}")
                del self._prepared[chain]

    def dealt(self, doc: Row) -> None:
        """A `hand.dealt`: of the prepared deal with all that was recorded of it where there is one, or else of none."""
        data, name = doc["data"], doc["data"]["hand"]
        seeds = data.get("client_seeds", {})
        prepared = self._prepared.pop(doc["chain"], None)
        if prepared is None:
            if name in self._used:
                self._differs(name, "it was dealt under the name of a deal that was abandoned or dealt before")
            elif seeds:
                self._differs(name, f"it was dealt with client seeds {seeds}, and no deal of it was committed to")
            return
        committed, commitment, taken = prepared
        if committed != name:
            self._differs(name, f"it was dealt while {committed} was prepared")
        elif data["mode"] != "electronic" or data.get("commitment") != commitment:
            self._differs(name, f"it was dealt {data['mode']} with commitment {data.get('commitment')}; {commitment} "
                                "was committed to")  # fmt: skip
        elif seeds != taken:
            self._differs(name, f"it was dealt with client seeds {seeds}; {taken} were taken")

    def _differs(self, name: str, problem: str) -> None:
        self._report.find("deal_differs", f"hand {name}", problem)
