"""Who signs for what another person has done is independent of that person: neither of the two hired the other, or is
in the line of those who gave the other a password. Approvals are judged where they are rebuilt; here are the
signatures that stand for one: second counts, witnesses, receipts, sign-offs. That they are of another person at all is
judged where their rows are rebuilt."""

from collections.abc import Callable, Iterator
from functools import partial

from .state_boxes import BOX, BOX_COUNT, TRAY_COUNT
from .state_cage import HANDOVER, SHIFT, TRANSFER, transfer_key
from .state_days import PACKAGE
from .state_people import related
from .state_rows import Handler, Row, Rows
from .state_vault import COUNT as MOVE_COUNT
from .state_vault import MOVE
from .state_vault_counts import BAG, ENTRY
from .state_vault_counts import COUNT as VAULT_COUNT

Signed = tuple[str, str, Iterator[str | None]]
"""Model and key of what is signed for, and who has signed before."""


class Signatures:
    """Judges each event by the rows that events before it have made, before it changes them."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        before: dict[str, Callable[[Row], Signed]] = {
            **dict.fromkeys(("handover.signed", "drawer.replenished", "drawer.skimmed"), self._handover),
            "drawer.opened": self._float,
            "drawer.recounted": self._first_count,
            "drawer.closed": self._counts_of_drawer,
            **dict.fromkeys(("tray.confirmed", "tray.counts_differed"), self._tray),
            "box.brought": self._box,
            "box.received": self._counted_box,
            **dict.fromkeys(("box.counted", "box.counts_differed", "box.count_decided"), self._counts_of_box),
            **dict.fromkeys(("vault.counted", "vault.counts_differed"), self._counts_of_vault),
            **dict.fromkeys(("vault.count_decided", "vault.count_signed_off"), self._counts_of_vault),
            **dict.fromkeys(("bank.confirmed", "bank.received"), self._bag),
            **dict.fromkeys(("chips.counted", "chips.counts_differed", "chips.delivered"), self._move),
            **dict.fromkeys(("chips.set_aside", "chips.withdrawn_set_aside", "chips.destroyed"), self._move),
            **dict.fromkeys((f"{kind}.received" for kind in ("fill", "credit")), self._transfer),
            **dict.fromkeys((f"{kind}.declined" for kind in ("fill", "credit")), self._transfer),
            **dict.fromkeys((f"{kind}.cancelled" for kind in ("fill", "credit")), self._transfer),
            "day.package_signed": self._package,
        }
        self.handlers: dict[str, Handler] = {kind: partial(self._judge, find) for kind, find in before.items()}

    def _judge(self, before: Callable[[Row], Signed], doc: Row) -> None:
        model, key, signed = before(doc)
        for login in dict.fromkeys(one for one in signed if one is not None):
            by = related(self._rows, login, doc["actor"])
            if by is not None and login != doc["actor"]:
                problem = f"{doc['actor']} signs for what {login} has done, and {by} hired the other or gave a password"
                self._rows.find("approver_not_independent", f"{model} {key}", problem)

    def _of(self, model: str, key: str, *columns: str) -> Iterator[str | None]:
        row = self._rows.seek(model, key) or {}
        return (row.get(column) for column in columns)

    # --- Drawers -----------------------------------------------------------------------------------------------------

    def _handover(self, doc: Row, number: int | None = None) -> Signed:
        key = f"{_place(doc)}/{number or doc['data']['handover']['handover']}"
        return HANDOVER, key, self._of(HANDOVER, key, "offered_by", "signed_by")

    def _float(self, doc: Row) -> Signed:
        # A drawer that is taken over is judged where the other one is closed.
        if "taken_from" in doc["data"]:
            return SHIFT, _place(doc), iter(())
        return self._handover(doc, doc["data"]["handover"])

    def _first_count(self, doc: Row) -> Signed:
        key = f"{_place(doc)}/{doc['data']['shift']}"
        return SHIFT, key, self._of(SHIFT, key, "counted_by", "opened_by")

    def _counts_of_drawer(self, doc: Row) -> Signed:
        count = doc["data"]["reconciliation"]
        key = f"{_place(doc)}/{count['shift']}"
        row = self._rows.seek(SHIFT, key)
        if row is None or (row["recount"] is None and count["handed_to"] is None):
            return SHIFT, key, iter(())  # the count agreed: who counted it closes it
        return SHIFT, key, self._of(SHIFT, key, "opened_by", "counted_by", "recounted_by")

    # --- Trays, boxes and the vault ----------------------------------------------------------------------------------

    def _tray(self, doc: Row) -> Signed:
        key = str(doc["data"]["tray_count"]["tray_count"])
        return TRAY_COUNT, key, self._of(TRAY_COUNT, key, "counted_by")

    def _box(self, doc: Row) -> Signed:
        key = str(doc["data"]["box"]["box"])
        return BOX, key, self._of(BOX, key, "taken_by")

    def _counted_box(self, doc: Row) -> Signed:
        _, key, counters = self._counts_of_box(doc)
        return BOX, key, iter((*counters, *self._of(BOX, key, "taken_by", "decided_by")))

    def _counts_of_box(self, doc: Row) -> Signed:
        key = str(doc["data"]["box"]["box"])
        return BOX, key, self._counters(doc, BOX_COUNT, "box", key)

    def _counts_of_vault(self, doc: Row) -> Signed:
        key = str(doc["data"]["vault_count"]["vault_count"])
        counters: list[str | None] = list(self._counters(doc, ENTRY, "vault_count", key))
        if doc["kind"] == "vault.count_signed_off":
            counters += self._of(VAULT_COUNT, key, "decided_by")
        return VAULT_COUNT, key, iter(counters)

    def _counters(self, doc: Row, model: str, column: str, key: str) -> Iterator[str]:
        """Who has counted it, in the round of this count, or in any where this is none."""
        round_ = (doc["data"].get("count") or {}).get("round")
        found = (row for row in self._rows.of(model).values() if row[column] == key)
        return (row["counted_by"] for row in found if round_ in (None, row["round"]))

    def _bag(self, doc: Row) -> Signed:
        key = str(doc["data"]["bag"]["number"])
        return BAG, key, self._of(BAG, key, "sent_by")

    def _move(self, doc: Row) -> Signed:
        key = str(doc["data"]["move"]["move"])
        counters = self._counters(doc, MOVE_COUNT, "move", key)
        return MOVE, key, iter((*counters, *self._of(MOVE, key, "noted_by", "observer")))

    # --- Transfers and days ------------------------------------------------------------------------------------------

    def _transfer(self, doc: Row) -> Signed:
        data = doc["data"]["transfer"]
        key = transfer_key(data)
        row = self._rows.seek(TRANSFER, key)
        if row is None:
            return TRANSFER, key, iter(())
        before = [row["sent_by"]]
        if data["state"] == "cancelled":
            before = [row["declined_by"] or row["sent_by"]]
        elif data["state"] == "received" and data["counted"] != row["sent"]:
            before += [count["by"] for count in row["miscounts"]]
        return TRANSFER, key, iter(before)

    def _package(self, doc: Row) -> Signed:
        key = doc["data"]["day"]
        return PACKAGE, key, self._of(PACKAGE, key, "closed_by")


def _place(doc: Row) -> str:
    code: str = doc["chain"].partition("/")[2]
    return code
