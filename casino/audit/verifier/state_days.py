"""The closing of gaming days, judged: nothing of the day was left undone, and what goes over is named. Their packages:
the bytes that are kept have the SHA-256 that was recorded, and two people have signed."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from .state_boxes import BOX, POOL, SHARE, TRAY_COUNT
from .state_cage import SHIFT, TRANSFER
from .state_columns import HOUSE, ID, Model, hashed, proved
from .state_ledger import HOLD, PERIOD, SNAPSHOT, closing_snapshot
from .state_people import OUTBOX
from .state_rows import TOLERANCE, Handler, Near, Row, Rows, seconds_between
from .state_vault_counts import BAG, COUNT

PACKAGE, PACKAGE_CONTENT = "days.Package", "days.PackageContent"
#: The task that makes a package.
PACKAGE_DAY = "reports.package_day"
MODELS = (
    Model(
        PACKAGE,
        "day",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("day", "sha256", "size", "checkpoint", "made_at"), proved("day.packaged")),
            "closed_by": proved("day.closed: the actor"),
            **dict.fromkeys(("signed_by", "signed_at"), proved("day.package_signed")),
        },
    ),
    Model(
        PACKAGE_CONTENT,
        "day",
        {
            "house": HOUSE,
            "package": proved("day.packaged, retention.ran"),
            "content": hashed("day.packaged: its SHA-256"),
        },
    ),
)
_NAMED = ("table", "kind", "number", "state", "for_day")
_WAITING = ("taken", "brought", "counted")


class Days:
    """What a day that is closed may leave behind."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        #: Who has closed each day.
        self._closers: dict[str, str] = {}
        self.handlers: dict[str, Handler] = {
            "day.closed": self._closed,
            "day.packaged": self._packaged,
            "day.package_signed": self._signed,
            **dict.fromkeys(("chips.attributed", "chips.unattributed"), self._booked_for),
        }

    def _closed(self, doc: Row) -> None:
        day = doc["data"]["day"]
        until = self._until(day)
        for key, row in self._rows.of(SHIFT).items():
            if row["closed_at"] is None and _is_of(row["opened_at"], until):
                self._find(doc, f"drawer and shift {key} are not closed")
        for key, row in self._rows.of(TRANSFER).items():
            if row["state"] in ("sent", "declined") and _is_of(row["sent_at"], until):
                self._find(doc, f"{key} is in transit")
        self._boxes(doc, day, doc["data"]["carried"]["boxes"])
        self._trays(doc, until)
        self._of_the_vault(doc, until)
        self._holds(doc, doc["data"]["carried"].get("holds", ()))
        self._closers[day] = doc["actor"]
        self._rows.add(
            OUTBOX, f"{PACKAGE_DAY}/{day}", task=PACKAGE_DAY, subject=day, created_at=Near(doc["at"]), done_at=None
        )  # fmt: skip

    def _packaged(self, doc: Row) -> None:
        data = doc["data"]
        if self._rows.seek(SNAPSHOT, closing_snapshot(data["day"])) is None:
            self._find(doc, f"{data['day']} was packaged, and has no closing snapshot")
        self._rows.add(
            PACKAGE, data["day"], day=data["day"], sha256=data["sha256"], size=data["size"],
            checkpoint=data["checkpoint"], made_at=Near(doc["at"]),
            closed_by=self._closers.get(data["day"]), signed_by=None, signed_at=None,
        )  # fmt: skip
        self._rows.add(PACKAGE_CONTENT, data["day"], package=data["day"], content=data["sha256"])
        self._rows.change(OUTBOX, f"{PACKAGE_DAY}/{data['day']}", done_at=Near(doc["at"]))

    def _signed(self, doc: Row) -> None:
        data, row = doc["data"], self._rows.get(PACKAGE, doc["data"]["day"])
        if row["sha256"] != data["sha256"]:
            self._find(doc, f"another SHA-256 was signed than that of the package of {data['day']}")
        if doc["actor"] == row["closed_by"]:
            self._rows.find("same_person", f"{PACKAGE} {data['day']}", f"{doc['actor']} closed the day and signed it")
        if doc["role"] != "auditor":
            self._find(doc, f"{doc['actor']} signed as {doc['role']}")
        self._rows.change(PACKAGE, data["day"], signed_by=doc["actor"], signed_at=Near(doc["at"]))

    def _booked_for(self, doc: Row) -> None:
        """What is booked later for a day belongs to one that was opened."""
        day = doc["data"].get("for_day")
        if day is not None and self._rows.seek(PERIOD, day) is None:
            self._find(doc, f"it belongs to the gaming day {day}, which was not opened")

    def _boxes(self, doc: Row, day: str, named: list[dict[str, Any]]) -> None:
        """Every box of the day that waits to be counted or received is named, in the state in which it is."""
        for key, row in self._rows.of(BOX).items():
            found = [one for one in named if str(one["box"]) == key]
            if row["state"] in _WAITING and row["for_day"] <= day and len(found) != 1:
                self._find(doc, f"box {key}, which is {row['state']}, is named {len(found)} times")
            for one in found:
                if any((one[name] or "") != row[name] for name in _NAMED):
                    self._find(doc, f"box {key} is {row['state']}, and named as {one['state']}, or otherwise")
        for one in named:
            if self._rows.seek(BOX, str(one["box"])) is None:
                self._find(doc, f"there is no box {one['box']}")

    def _trays(self, doc: Row, until: str | None) -> None:
        """Every count of a tray that waits for its witness is named, and nothing else as one."""
        waiting = {key for key, row in self._rows.of(TRAY_COUNT).items() if row["state"] == "waiting"}
        named = [str(one["tray_count"]) for one in doc["data"]["carried"]["tray_counts"]]
        for key in waiting:
            if _is_of(self._rows.get(TRAY_COUNT, key)["counted_at"], until) and named.count(key) != 1:
                self._find(doc, f"tray count {key}, which waits, is named {named.count(key)} times")
        for key in named:
            if key not in waiting:
                self._find(doc, f"tray count {key} is named, and does not wait")

    def _of_the_vault(self, doc: Row, until: str | None) -> None:
        """Bags in transit, counts of the vault and unpaid shares of the tronc are named, and nothing else as one."""
        carried = doc["data"]["carried"]
        bags = {key: row["sent_at"] for key, row in self._rows.of(BAG).items() if row["state"] == "in_transit"}
        self._named(doc, until, "bag", bags, [str(one["number"]) for one in carried["bank_bags"]])
        counts = {key: row["begun_at"] for key, row in self._rows.of(COUNT).items() if row["state"] != "accepted"}
        self._named(doc, until, "vault count", counts, [str(one["vault_count"]) for one in carried["vault_counts"]])
        shares = {
            key: self._rows.get(POOL, row["pool"])["shared_at"]
            for key, row in self._rows.of(SHARE).items()
            if row["paid_at"] is None
        }
        named = [f"{one['pool']}/{one['login']}" for one in carried["tronc_shares"]]
        self._named(doc, until, "share", shares, named)
        for one in carried["tronc_shares"]:
            row = self._rows.seek(SHARE, f"{one['pool']}/{one['login']}")
            if row is not None and row["amount"] != one["amount"]:
                self._find(doc, f"share {one['pool']}/{one['login']} is {row['amount']}, named with {one['amount']}")

    def _holds(self, doc: Row, named: Sequence[Row]) -> None:
        """What is on hold then is named once, with its end, and nothing else as a hold. A hold whose time ends at this
        moment may be named or not."""
        at, keys = doc["at"], [one["hold"] for one in named]
        for key, row in self._rows.of(HOLD).items():
            lasts = row["state"] == "pending" and row["expires_at"] > at
            if lasts and seconds_between(row["expires_at"], at) > TOLERANCE and keys.count(key) != 1:
                self._find(doc, f"hold {key}, which is open, is named {keys.count(key)} times")
        for one in named:
            row = self._rows.get(HOLD, one["hold"])
            if row["state"] == "voided" or seconds_between(row["expires_at"], one["until"]) > TOLERANCE:
                problem = f"is {row['state']} until {row['expires_at']}, and named as open until {one['until']}"
                self._find(doc, f"hold {one['hold']} {problem}")

    def _named(self, doc: Row, until: str | None, what: str, open_now: dict[str, str], named: list[str]) -> None:
        """What is open was named once, and only that was named."""
        for key, begun in open_now.items():
            if _is_of(begun, until) and named.count(key) != 1:
                self._find(doc, f"{what} {key}, which is open, is named {named.count(key)} times")
        for key in named:
            if key not in open_now:
                self._find(doc, f"{what} {key} is named, and is not open")

    def _until(self, day: str) -> str | None:
        """When the next day was opened; None where there is none."""
        later = [row["opened_at"] for name, row in self._rows.of(PERIOD).items() if name > day]
        return min(later, default=None)

    def _find(self, doc: Row, problem: str) -> None:
        self._rows.find("day_differs", f"{doc['chain']}#{doc['seq']}", problem)


def _is_of(begun: str, until: str | None) -> bool:
    """Whether something was begun before the next day was opened, beyond doubt: events are written later than rows."""
    if until is None:
        return True
    return datetime.fromisoformat(begun) + timedelta(seconds=TOLERANCE) < datetime.fromisoformat(until)
