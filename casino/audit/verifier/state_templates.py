"""Templates of floats and trays, rebuilt from the events of drawers and tables; and fills against what the template of
their drawer keeps there, by the chips that postings have left in it."""

from .state_approvals import Approvals, moved
from .state_approvers import worth_of
from .state_cage import DRAWER
from .state_columns import HOUSE, ID, Model, proved
from .state_people import SYSTEM
from .state_rows import TOLERANCE, Handler, Near, Row, Rows
from .state_tables import TABLE

TEMPLATE, CHIP_SET = "chips.Template", "chips.ChipSet"
_SET = "drawer.template_set, table.template_set"
MODELS = (
    Model(
        TEMPLATE,
        "kind, place and number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("kind", "place", "number", "valid_from", "chip_set", "pieces", "set_at", "set_by", "approval"),
                proved(_SET),
            ),
            **dict.fromkeys(("cash", "least", "ceiling"), proved("drawer.template_set")),
        },
    ),
)
_CAGE_CHIPS = "9120/"
#: Chips by their commodity in the ledger.
_Rack = dict[str, int]


class Templates:
    """Rows of templates, and the racks of drawers, while postings say everything that went in and out."""

    def __init__(self, rows: Rows, approvals: Approvals) -> None:
        self._rows, self._approvals = rows, approvals
        #: Versions of each place: from when on, number, the whole.
        self._set: dict[tuple[str, str], list[tuple[str, int, Row]]] = {}
        #: Pieces in each drawer; None where something was undone that is not known any more, until it is empty.
        self._racks: dict[str, _Rack | None] = {}
        #: What ledger transactions moved of the drawers' racks, since each drawer was opened last: by drawer and
        #: number.
        self._moved: dict[str, dict[int, _Rack]] = {}
        #: Code of the chip set in use: pieces of another one count for nothing.
        self._chip_set = ""
        self.handlers: dict[str, Handler] = {
            "drawer.template_set": self._added,
            "table.template_set": self._added,
            "fill.sent": self._fill_sent,
            "chips.introduced": self._introduced,
            "chips.put_in_use": self._put_in_use,
        }

    # --- Versions ----------------------------------------------------------------------------------------------------

    def _added(self, doc: Row) -> None:
        data, (kind, _, code) = doc["data"], doc["chain"].partition("/")
        self._rows.get(DRAWER if kind == "drawer" else TABLE, code)
        self._rows.get(CHIP_SET, data["chip_set"])
        known = self._set.setdefault((kind, code), [])
        key = f"{kind}/{code}/{data['template']}"
        if data["template"] != len(known) + 1:
            self._rows.find("template_gap", f"{TEMPLATE} {key}", f"it comes after {len(known)}")
        if moved(data["valid_from"], TOLERANCE) < doc["at"]:
            problem = f"set at {doc['at']}, in force from {data['valid_from']}"
            self._rows.find("template_in_the_past", f"{TEMPLATE} {key}", problem)
        known.append((data["valid_from"], data["template"], data))
        self._rows.add(
            TEMPLATE, key, kind=kind, place=code, number=data["template"], valid_from=data["valid_from"],
            chip_set=data["chip_set"], cash=data.get("cash", 0), pieces=data["pieces"], least=data.get("least", {}),
            ceiling=data.get("ceiling"), set_at=Near(doc["at"]), set_by=doc["actor"], approval=data.get("approval"),
        )  # fmt: skip
        if kind == "drawer":
            self._judge_float(doc, f"{TEMPLATE} {key}")

    def _judge_float(self, doc: Row, place: str) -> None:
        """A float that can be issued, and is right from its first minute on."""
        data = doc["data"]
        worth = data["cash"] + worth_of(data["pieces"])
        most = max(points["float_most"] for points in self._approvals.in_force_about(doc["at"]))
        if doc["role"] != SYSTEM and worth > most:
            self._rows.find("float_too_large", place, f"a float of {worth} is proposed, the most is {most}")
        if any(count > data["pieces"].get(value, 0) for value, count in data["least"].items()):
            self._rows.find("template_differs", place, "the drawer keeps more of a chip than it begins with")
        if "ceiling" in data and data["ceiling"] < data["cash"]:
            self._rows.find("template_differs", place, f"{data['cash']} of cash is above the ceiling")

    # --- Fills -------------------------------------------------------------------------------------------------------

    def _introduced(self, doc: Row) -> None:
        self._chip_set = self._chip_set or doc["data"]["chip_set"]  # the first is in use at once

    def _put_in_use(self, doc: Row) -> None:
        self._chip_set = doc["data"]["chip_set"]

    def _least_about(self, code: str, at: str) -> list[dict[str, int]]:
        """What a drawer kept by the templates in force about a moment: a write may have read the one of a moment
        before."""
        known = self._set.get(("drawer", code), [])
        first, last = moved(at, -TOLERANCE), moved(at, TOLERANCE)
        before = max((one for one in known if one[0] <= first), key=lambda one: one[:2], default=None)
        found = [whole for since, _, whole in known if first < since <= last]
        if before is None:
            return [{}, *(self._least(whole) for whole in found)]
        return [self._least(whole) for whole in (before[2], *found)]

    def _least(self, template: Row) -> dict[str, int]:
        least: dict[str, int] = template["least"] if template["chip_set"] == self._chip_set else {}
        return least

    def _fill_sent(self, doc: Row) -> None:
        """A fill that leaves fewer of a chip in the drawer than its template says has an approval. That there is one
        is right is judged with all approvals."""
        data = doc["data"]["transfer"]
        code, sent = data["drawer"], data["sent"]
        rack = self._racks.get(code, {})
        if doc["role"] == SYSTEM or "approval" in doc["data"] or rack is None:
            return
        held = {name.rpartition(".")[2]: count for name, count in rack.items() if f".{self._chip_set}." in name}
        left = {value: held.get(value, 0) - count for value, count in sent.items()}
        if all(
            any(value in least and count < least[value] for value, count in left.items())
            for least in self._least_about(code, doc["at"])
        ):
            problem = f"fill {data['serial']} left fewer chips in drawer {code} than its template keeps"
            self._rows.find("approval_missing", f"{doc['chain']}#{doc['seq']}", problem)

    def follow(self, doc: Row) -> None:
        """What an event has posted, into the racks of drawers; for every event, after it was judged."""
        place, _, code = doc["chain"].partition("/")
        if doc["kind"] in ("drawer.opened", "drawer.reopened"):  # it was empty: nothing of before is undone any more
            self._racks[code], self._moved[code] = {}, {}
        for posting in doc.get("postings", ()):
            if "reverses" in posting:
                self._undo(posting["reverses"], code if place == "drawer" else None)
                continue
            if place == "drawer":
                self._moved.setdefault(code, {}).setdefault(posting["tx"], {})
            for account, commodity, pieces in posting["legs"]:
                if account.startswith(_CAGE_CHIPS):
                    self._move(account[len(_CAGE_CHIPS) :], posting["tx"], commodity, pieces)

    def _move(self, code: str, number: int, commodity: str, pieces: int) -> None:
        rack = self._racks.setdefault(code, {})
        if rack is not None:
            rack[commodity] = rack.get(commodity, 0) + pieces
        moves = self._moved.setdefault(code, {}).setdefault(number, {})
        moves[commodity] = moves.get(commodity, 0) + pieces

    def _undo(self, number: int, at: str | None) -> None:
        """A transaction was reversed, at this drawer or elsewhere."""
        known = False
        for code, moves in self._moved.items():
            rack, known = self._racks.get(code), known or number in moves
            for commodity, pieces in moves.get(number, {}).items():
                if rack is not None:
                    rack[commodity] = rack.get(commodity, 0) - pieces
        if at is not None and not known:  # of an earlier shift
            self._racks[at] = None
