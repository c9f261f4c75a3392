"""Who a house is, rebuilt from the events of its chain; and the names of its gaming days against its clock."""

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from .state_columns import HOUSE, ID, Model, proved
from .state_ledger import ACCOUNT, PERIOD
from .state_people import HOUSES
from .state_rows import TOLERANCE, Handler, Near, Row, Rows

IDENTITY, CHIP_SET, RULES = "houses.Identity", "chips.ChipSet", "houses.HouseRules"
MODELS = (
    Model(
        IDENTITY,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("number", "parts", "set_at", "set_by", "approval"), proved("house.identity_changed")),
        },
    ),
    Model(
        RULES,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("number", "texts", "set_at", "set_by", "approval"), proved("house.rules_set")),
        },
    ),
)
_AT_ONCE = ("name", "currency", "currency_exponent")
_CLOCK = ("time_zone", "day_cut_off")


class Identities:
    """Versions of the identity, what the house's row repeats of the newest, and what day it was when one was opened."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._newest: Row = {}
        self.handlers: dict[str, Handler] = {
            "house.identity_changed": self._changed, "house.rules_set": self._ruled, "day.opened": self._day_opened,
        }  # fmt: skip

    def _house(self) -> Row | None:
        return next(iter(self._rows.of(HOUSES).values()), None)

    def _find(self, doc: Row, code: str, problem: str) -> None:
        self._rows.find(code, f"{doc['chain']}#{doc['seq']}", problem)

    def _ruled(self, doc: Row) -> None:
        data, count = doc["data"], len(self._rows.of(RULES))
        if data["number"] != count + 1:
            self._find(doc, "identity_gap", f"version {data['number']} of the rules comes after {count}")
        self._rows.add(
            RULES, str(data["number"]), number=data["number"], texts=data["texts"], set_at=Near(doc["at"]),
            set_by=doc["actor"], approval=data.get("approval"),
        )  # fmt: skip

    def _changed(self, doc: Row) -> None:
        data, house = doc["data"], self._house()
        count = len(self._rows.of(IDENTITY))
        if data["number"] != count + 1:
            self._find(doc, "identity_gap", f"version {data['number']} comes after {count}")
        self._rows.add(
            IDENTITY, str(data["number"]), number=data["number"], parts=data["identity"], set_at=Near(doc["at"]),
            set_by=doc["actor"], approval=data.get("approval"),
        )  # fmt: skip
        self._newest = data["identity"]
        if house is None:
            return
        for name in ("currency", "currency_exponent"):
            used = self._rows.of(CHIP_SET) or any(
                key.endswith(f" {house['currency']}") for key in self._rows.of(ACCOUNT)
            )
            if house[name] != self._newest.get(name) and used:
                self._find(doc, "currency_changed", f"{name} is changed from {house[name]}, and it is in use")
        house.update({name: self._newest.get(name) for name in _AT_ONCE})
        if all(day["closed_at"] is not None for day in self._rows.of(PERIOD).values()):
            self._wind(house)

    def _wind(self, house: Row) -> None:
        if self._newest:
            house.update({name: self._newest.get(name) for name in _CLOCK})

    def _day_opened(self, doc: Row) -> None:
        house = self._house()
        if house is None:
            return
        self._wind(house)
        if house["is_sandbox"]:
            return  # it opens days as it likes
        due = {day_at(doc["at"], seconds, house["time_zone"], house["day_cut_off"]) for seconds in (-TOLERANCE, 0)}
        if None not in due and doc["data"]["day"] not in due:
            self._find(doc, "day_not_due", f"the day {doc['data']['day']} was opened when {max(map(str, due))} was due")


def day_at(at: str, seconds: float, time_zone: str, cut_off: str) -> str | None:
    """The gaming day of a moment, or of so many seconds later; None where this machine does not know the time zone."""
    try:
        local = (datetime.fromisoformat(at) + timedelta(seconds=seconds)).astimezone(ZoneInfo(time_zone))
        behind = time.fromisoformat(cut_off)
    except (ZoneInfoNotFoundError, ValueError, OverflowError, TypeError):
        return None
    wall = local.replace(tzinfo=None)
    try:
        return (wall - timedelta(hours=behind.hour, minutes=behind.minute)).date().isoformat()
    except OverflowError:
        return None
