"""Approvals and control points, rebuilt from the house's chain; and every event of what needs an approval against the
approval that it names, and against the control points that were in force."""

from datetime import datetime, timedelta
from typing import Any

from .canonical import hash_of
from .state_approvers import (
    AUDITOR,
    CODED,
    MANAGER,
    MOST_TABLES_OF_SMALL,
    NOBODY,
    OFFICE,
    ONCE_LIVE,
    PRIVILEGED,
    REPEATED,
    USED_FOR,
    Needed,
    Points,
    each_of,
    in_words,
    needed,
    one_of,
    worth_of,
)
from .state_columns import HOUSE, ID, Model, proved
from .state_people import HOUSES, STAFF, SYSTEM, TERMINAL, has_second_factor, related
from .state_rows import TOLERANCE, Handler, Near, Row, Rows

APPROVAL, ASSENT, LIMITS = "approvals.Approval", "approvals.Assent", "houses.Limits"
_ASKED = ("kind", "operation", "path", "body", "request_hash", "roles")
_REQUESTED = "approval.requested"
_DECIDED = "approval.approved, approval.refused"
_USED = "the event of what it was used for"
MODELS = (
    Model(
        APPROVAL,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", *_ASKED, "every_role", "amount", "requested_by", "requested_at", "terminal", "expires_at"),
                proved(_REQUESTED),
            ),
            **dict.fromkeys(("decided_by", "decided_at", "decided_terminal"), proved(_DECIDED)),
            "reason": proved("approval.refused"),
            "state": proved(f"{_REQUESTED}, {_DECIDED}, approval.withdrawn, approval.expired, {_USED}"),
            "ended_at": proved(f"approval.withdrawn, approval.expired, {_USED}"),
        },
    ),
    Model(
        ASSENT,
        "approval/role",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("approval", "role", "given_by", "given_at", "terminal"), proved("approval.approved")),
        },
    ),
    Model(
        LIMITS,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "valid_from", "points", "set_at", "set_by", "approval"), proved("limits.changed")
            ),
        },
    ),
)

#: Control points of a house that has set none, in whole units of a currency; and what stands for one euro.
DEFAULTS = {
    "float_by_manager_above": 10_000,
    "float_most": 20_000,
    "skim_above": 15_000,
    "no_buy_in_above": 30_000,
    "identity_from": 2_000,
    "log_floor": 500,
    "exchange_by_supervisor_from": 5_000,
    "exchange_by_manager_from": 10_000,
    "difference_accepted": 0,
    "difference_by_manager_above": 50,
    "transfer_approved_from": 5_000,
    "void_by_manager_above": 100,
    "opener_required_above": 0,
    "bonus_approved_from": 500,
    "difference_alarm_from": 100,
    "tray_difference_alarm_from": 25,
    "tray_difference_reported_from": 100,
}
#: Of those that are no amounts: minutes that an approval lasts, by the kind of the terminal that asked; and others.
LASTS = {
    "table": ("approval_minutes_at_tables", 10),
    "cage": ("approval_minutes_at_drawers", 10),
    "office": ("approval_minutes_in_office", 60),
}
#: Windows for the sums of linked transactions, in hours and days.
LINKED = {"linked_hours": 24, "linked_days": 7, "linked_long_days": 30}
OTHERS = {
    **dict(LASTS.values()), "closer_required": 0, "box_change_count_required": 0, "admission_required": 0, **LINKED,
}  # fmt: skip
PER_EURO = {"HUF": 400}
MOST_PLACES = 4


class Approvals:
    """Rows of approvals and control points, and who may have used which."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._number = 0
        #: Of approvals that every role must give, who has approved in which role, by number.
        self._given: dict[str, dict[str, str]] = {}
        #: Control points as they were set: from when on, their number, the whole.
        self._set: list[tuple[str, int, Points]] = []
        #: Handovers between vault and drawer, by chain and number, that a manager has offered or signed.
        self._by_manager: set[tuple[str, int]] = set()
        #: Logins that a new password has locked.
        self._locked: set[str] = set()
        #: When the house went live.
        self._live: str | None = None
        #: Hands whose bonus was confirmed and is not paid yet.
        self._confirmed: set[str] = set()
        self.handlers: dict[str, Handler] = {
            "approval.requested": self._requested,
            "approval.approved": self._approved,
            "approval.refused": self._refused,
            "approval.withdrawn": self._withdrawn,
            "approval.expired": self._expired,
            **dict.fromkeys(USED_FOR, self._done),
            **dict.fromkeys(("handover.offered", "handover.signed"), self._handed_by),
            **dict.fromkeys(("drawer.opened", "drawer.replenished"), self._handed_over),
            "hand.settled": self._settled,
            "house.went_live": self._went_live,
            "table.closed": self._table_closed,
            "box.swapped": self._swapped,
            "staff.hired": self._hired,
            "staff.password_set": self._password_set,
            "staff.deactivated": self._deactivated,
        }

    # --- Asking and deciding -----------------------------------------------------------------------------------------

    def _requested(self, doc: Row) -> None:
        data = doc["data"]
        number = data["approval"]
        if number != self._number + 1:
            self._rows.find("approval_gap", f"{APPROVAL} {number}", f"it comes after {self._number}")
        self._number = number
        asked = {"method": "POST", "path": data["path"], "body": data["body"]}
        if hash_of(asked) != data["request_hash"]:
            self._rows.find("approval_differs", f"{APPROVAL} {number}", "its hash is not that of its request")
        self._judge_lasting(doc)
        self._rows.add(
            APPROVAL, str(number), number=number, amount=data.get("amount"),
            every_role=bool(data.get("every_role")), requested_by=doc["actor"],
            requested_at=Near(doc["at"]), terminal=doc["terminal"], expires_at=data["expires"], state="requested",
            reason="", **{name: data[name] for name in _ASKED},
            **dict.fromkeys(("decided_by", "decided_at", "decided_terminal", "ended_at")),
        )  # fmt: skip

    def _judge_lasting(self, doc: Row) -> None:
        """An approval can be used as long as the control points say."""
        terminal = self._rows.seek(TERMINAL, doc["terminal"])
        if terminal is None or terminal["kind"] not in LASTS:
            return
        name, _ = LASTS[terminal["kind"]]
        minutes = [points[name] for points in self.in_force_about(doc["at"])]
        first, last = (
            moved(doc["at"], 60 * minutes_ + by)
            for minutes_, by in ((min(minutes), -TOLERANCE), (max(minutes), TOLERANCE))
        )
        if not first <= doc["data"]["expires"] <= last:
            problem = f"it was asked for at {doc['at']} and runs out at {doc['data']['expires']}"
            self._rows.find("approval_differs", f"{APPROVAL} {doc['data']['approval']}", problem)

    def _move(self, doc: Row, state: str, *allowed: str, **columns: Any) -> Row:
        """The next state of an approval. Raises NotRecorded."""
        number = str(doc["data"]["approval"])
        row = self._rows.get(APPROVAL, number)
        if row["state"] not in allowed:
            self._rows.find("approval_wrong_state", f"{APPROVAL} {number}", f"it is {row['state']}, then {state}")
        row.update(columns, state=state)
        return row

    def _approved(self, doc: Row) -> None:
        number = str(doc["data"]["approval"])
        waits = self._assented(doc, number) if self._rows.get(APPROVAL, number)["every_role"] else []
        if waits != doc["data"].get("waits_for", []):
            self._rows.find("approval_differs", f"{APPROVAL} {number}", f"it waits for {waits}")
        if waits:
            self._judge_decider(doc, self._move(doc, "requested", "requested"))
        else:
            self._decided(doc, "approved")
        self._judge_time(doc, f"it was approved at {doc['at']}")

    def _assented(self, doc: Row, number: str) -> list[str]:
        """One person of those who all must approve does; returns the roles that have not."""
        place, given = f"{APPROVAL} {number}", self._given.setdefault(number, {})
        for login in given.values():
            if login == doc["actor"]:
                self._rows.find("same_person", place, f"{login} approves it twice")
            elif between := self._between(login, doc["actor"]):
                self._rows.find("approver_not_independent", place, f"{between} is in the lines of two who approve")
        if doc["role"] in given:
            self._rows.find("approval_wrong_state", place, f"{given[doc['role']]} has approved it as {doc['role']}")
        else:
            given[doc["role"]] = doc["actor"]
            self._rows.add(
                ASSENT, f"{number}/{doc['role']}", approval=number, role=doc["role"], given_by=doc["actor"],
                given_at=Near(doc["at"]), terminal=doc["terminal"],
            )  # fmt: skip
        return [role for role in self._rows.get(APPROVAL, number)["roles"] if role not in given]

    def _refused(self, doc: Row) -> None:
        self._decided(doc, "refused", reason=doc["reason"])

    def _decided(self, doc: Row, state: str, **columns: Any) -> None:
        columns |= {"decided_by": doc["actor"], "decided_at": Near(doc["at"]), "decided_terminal": doc["terminal"]}
        self._judge_decider(doc, self._move(doc, state, "requested", **columns))

    def _judge_decider(self, doc: Row, row: Row) -> None:
        """Who approves or refuses may, and is somebody else than who asked."""
        place = f"{APPROVAL} {row['number']}"
        if doc["role"] not in row["roles"]:
            self._rows.find("actor_without_role", place, f"{doc['role']} decides what takes {row['roles']}")
        if self._code_was_due(doc) and not doc["data"].get("second_factor"):
            self._rows.find("approval_without_code", place, f"{doc['actor']} showed no second factor")
        if row["requested_by"] == doc["actor"]:
            self._rows.find("same_person", place, f"{doc['actor']} asked for it and decides it")
        elif f"/staff/{doc['actor']}/" in row["path"]:
            self._rows.find("approver_not_independent", place, f"{doc['actor']} decides on their own entry")
        elif between := self._between(row["requested_by"], doc["actor"]):
            self._rows.find("approver_not_independent", place, f"{between} is in the lines of both")

    def _code_was_due(self, doc: Row) -> bool:
        """Whether the house asked for a second factor about then. A rehearsal is a sandbox, where nobody has one."""
        house: Row = next(iter(self._rows.of(HOUSES).values()), {"is_sandbox": True})
        rehearsed = house["is_sandbox"] and not has_second_factor(self._rows.get(STAFF, doc["actor"]))
        return self.asks_for_second_factor(doc["at"]) and not rehearsed and doc["role"] in CODED

    def asks_for_second_factor(self, at: str) -> bool:
        """Whether the house asked people with privileged roles for a second factor about then."""
        house: Row = next(iter(self._rows.of(HOUSES).values()), {})
        founded = int(house.get("second_factor_required", False))
        return all(one.get("second_factor_required", founded) for one in self.in_force_about(at))

    def _between(self, one: str, other: str) -> str | None:
        """A person who may know the passwords of both, or the one of the two who hired the other."""
        if (by := related(self._rows, one, other)) is not None:
            return by
        first, second = (self._rows.get(STAFF, login) for login in (one, other))
        both = {one, *first["password_givers"]} & {other, *second["password_givers"]}
        return next((login for login in sorted(both) if self._rows.seek(STAFF, login) is not None), None)

    def _withdrawn(self, doc: Row) -> None:
        row = self._move(doc, "withdrawn", "requested", "approved", ended_at=Near(doc["at"]))
        if row["requested_by"] != doc["actor"]:
            self._rows.find(
                "approval_differs", f"{APPROVAL} {row['number']}", f"{doc['actor']} withdraws it, who did not ask"
            )

    def _expired(self, doc: Row) -> None:
        row = self._move(doc, "expired", "requested", "approved", ended_at=Near(doc["at"]))
        if moved(doc["at"], TOLERANCE) < row["expires_at"]:
            self._rows.find("approval_expired", f"{APPROVAL} {row['number']}", f"it expires at {doc['at']}, too early")

    # --- Using -------------------------------------------------------------------------------------------------------

    def _done(self, doc: Row) -> None:
        """What may need an approval was done."""
        place, data = f"{doc['chain']}#{doc['seq']}", doc["data"]
        approvers = self._approvers_at(doc)
        if "approval" in data:
            self._use(doc, place, approvers)
        elif approvers:
            self._rows.find("approval_missing", place, f"{doc['kind']} needs {in_words(approvers)}")
        if doc["kind"] == "limits.changed":
            self._limits(doc)
        if doc["kind"] == "hand.bonus_confirmed":
            self._confirmed.add(data["hand"])
        if doc["kind"] == "staff.activated":
            self._locked -= {data["login"]}

    def _went_live(self, doc: Row) -> None:
        self._live = doc["at"]

    def _is_live(self, doc: Row) -> bool:
        """Whether an event was written so long after the house went live that its request must have known."""
        return self._live is not None and doc["role"] != SYSTEM and doc["at"] > moved(self._live, TOLERANCE)

    def _for_person(self, doc: Row) -> Needed:
        """Who approves another role, or a login that counts."""
        data = doc["data"]
        if doc["kind"] == "staff.activated" and data["login"] in self._locked:
            return OFFICE
        roles = (
            {*data["before"], *data["after"]}
            if doc["kind"] == "staff.roles_changed"
            else set(self._rows.get(STAFF, data["login"])["roles"])
        )
        return AUDITOR if roles & PRIVILEGED else MANAGER

    def _hired(self, doc: Row) -> None:
        """A login of a house that is live does not count before another person has activated it."""
        if self._is_live(doc) and doc["data"].get("active") is not False:
            problem = f"{doc['data']['login']} was hired and could act at once"
            self._rows.find("approval_missing", f"{doc['chain']}#{doc['seq']}", problem)

    def _password_set(self, doc: Row) -> None:
        """In a house that is live, a password that another person gives locks the login."""
        login = doc["data"]["login"]
        if doc["data"].get("locked"):
            self._locked.add(login)
        elif self._is_live(doc) and self._rows.get(STAFF, login)["is_active"]:
            problem = f"{doc['actor']} gave {login} a password, and could act with it at once"
            self._rows.find("approval_missing", f"{doc['chain']}#{doc['seq']}", problem)

    def _deactivated(self, doc: Row) -> None:
        self._locked -= {doc["data"]["login"]}

    def _settled(self, doc: Row) -> None:
        """A worker pays no bonus from the control point on that nobody has confirmed."""
        name, bonus = doc["data"]["hand"], sum(doc["data"]["result"].get("bonus", ()))
        if name in self._confirmed:
            self._confirmed.remove(name)
        elif bonus and all(bonus >= points["bonus_approved_from"] for points in self.in_force_about(doc["at"])):
            problem = f"hand {name} was paid a bonus of {bonus} that nobody has approved"
            self._rows.find("approval_missing", f"{doc['chain']}#{doc['seq']}", problem)

    def _table_closed(self, doc: Row) -> None:
        """Where a house wants it, a table closes only with a closer counted; what it holds a manager has approved."""
        self._done(doc)
        if "closer" not in doc["data"] and all(one["closer_required"] for one in self.in_force_about(doc["at"])):
            self._rows.find("tray_closer_differs", f"{doc['chain']}#{doc['seq']}", "the tray was not counted")

    def _swapped(self, doc: Row) -> None:
        """Where a house wants it, a box is taken off only with a count of the tray."""
        counted = "taken" not in doc["data"] or {"tray_count", "counted"} & doc["data"].keys()
        if not counted and all(one["box_change_count_required"] for one in self.in_force_about(doc["at"])):
            self._rows.find("tray_count_missing", f"{doc['chain']}#{doc['seq']}", "the tray was not counted")

    def _use(self, doc: Row, place: str, approvers: Needed) -> None:
        row = self._move(doc, "used", "approved", ended_at=Near(doc["at"]))
        recorded = {
            "kind": USED_FOR[doc["kind"]], "requested_by": doc["actor"], "decided_by": doc.get("approver"),
            "also_approved": doc["data"].get("also_approved", []),
        }  # fmt: skip
        before = [one for one in self._given.get(str(row["number"]), {}).values() if one != row["decided_by"]]
        found = {name: row[name] for name in recorded.keys() & row.keys()} | {"also_approved": before}
        # What was asked for in full is what was done, as far as the request says it in the event's words.
        for name in row["body"].keys() & doc["data"].keys() & REPEATED:
            recorded[name], found[name] = doc["data"][name], row["body"][name]
        for name, value in recorded.items():
            if found[name] != value:
                problem = f"approval {row['number']} has {name} {found[name]!r}, the event {value!r}"
                self._rows.find("approval_differs", place, problem)
        decided = (each_of if row["every_role"] else one_of)(row["roles"])
        if approvers and not all(any(enough <= given for enough in approvers) for given in decided):
            problem = f"{in_words(decided)} decided what takes {in_words(approvers)}"
            self._rows.find("approval_differs", place, problem)
        self._judge_time(doc, f"it was used at {doc['at']}")

    def _judge_time(self, doc: Row, problem: str) -> None:
        row = self._rows.get(APPROVAL, str(doc["data"]["approval"]))
        if moved(doc["at"], -TOLERANCE) > row["expires_at"]:
            self._rows.find(
                "approval_expired", f"{APPROVAL} {row['number']}", f"{problem}, it ran out at {row['expires_at']}"
            )

    def _approvers_at(self, doc: Row) -> Needed:
        """Who had to approve an event, by whatever control points were in force about its time: a write may have read
        those of a moment before. Empty where one of them asked for nobody; the widest of what they ask for."""
        if doc["kind"] in ONCE_LIVE and not self._is_live(doc):
            return NOBODY
        if doc["kind"] in ("staff.roles_changed", "staff.activated"):
            return self._for_person(doc)
        if doc["kind"] == "limits.changed" and doc["role"] != SYSTEM and self._changes_size(doc["data"]):
            return AUDITOR
        found = [needed(doc, points) for points in self.in_force_about(doc["at"])]
        return NOBODY.union(*found) if all(found) else NOBODY

    def in_force_about(self, at: str) -> list[Points]:
        first, last = moved(at, -TOLERANCE), moved(at, TOLERANCE)
        before = max((one for one in self._set if one[0] <= first), key=lambda one: one[:2], default=None)
        within = [points for since, _, points in self._set if first < since <= last]
        return [self._defaults() | (before[2] if before else {}), *(self._defaults() | one for one in within)]

    def _defaults(self) -> Points:
        house: Row = next(iter(self._rows.of(HOUSES).values()), {"currency": "", "currency_exponent": 0})
        exponent = house["currency_exponent"]
        # No currency has more places: of what an event says otherwise, nothing is worked out.
        places = exponent if exponent in range(MOST_PLACES + 1) else 0
        unit = 10**places * PER_EURO.get(house["currency"], 1)
        return {name: amount * unit for name, amount in DEFAULTS.items()} | OTHERS

    # --- Floats and replenishments -----------------------------------------------------------------------------------

    def _handed_by(self, doc: Row) -> None:
        offered = doc["data"]["handover"]
        if doc["kind"] == "handover.offered" and offered["kind"] in ("float", "replenishment"):
            worth, most = offered["cash"] + worth_of(offered["pieces"]), self._most("float_most", doc)
            if doc["role"] != SYSTEM and worth > most:
                problem = f"a {offered['kind']} of {worth} was offered, the most is {most}"
                self._rows.find("float_too_large", f"{doc['chain']}#{doc['seq']}", problem)
        if doc["role"] == "manager":
            self._by_manager.add((doc["chain"], doc["data"]["handover"]["handover"]))

    def _handed_over(self, doc: Row) -> None:
        """A drawer took cash and chips from the vault: a large amount takes a manager's signature."""
        data = doc["data"]
        if "taken_from" in data:
            return  # nothing has left the vault
        if doc["kind"] == "drawer.opened":
            number, worth = data["handover"], data["float_cash"] + data["float_chips"]
        else:
            number, worth = (
                data["handover"]["handover"],
                data["handover"]["cash"] + worth_of(data["handover"]["pieces"]),
            )
        most = self._most("float_by_manager_above", doc)
        if doc["role"] != SYSTEM and worth > most and (doc["chain"], number) not in self._by_manager:
            self._rows.find(
                "approval_missing", f"{doc['chain']}#{doc['seq']}", f"no manager has signed handover {number}"
            )

    def _most(self, name: str, doc: Row) -> int:
        """A control point about the time of an event, the largest."""
        return max(points[name] for points in self.in_force_about(doc["at"]))

    # --- Control points ----------------------------------------------------------------------------------------------

    def _changes_size(self, data: Row) -> bool:
        """Whether control points change what a small house may do."""
        before = max((one for one in self._set if one[0] <= data["valid_from"]), key=lambda one: one[:2], default=None)
        return bool(data["points"].get("small_house", 0) != (before[2].get("small_house", 0) if before else 0))

    def _judge_small(self, place: str) -> None:
        tables = [row for row in self._rows.of("tables.Table").values() if row["state"] != "retired"]
        if len(tables) > MOST_TABLES_OF_SMALL:
            self._rows.find("house_not_small", place, f"it has {len(tables)} tables")

    def _limits(self, doc: Row) -> None:
        data = doc["data"]
        place = f"{LIMITS} {data['number']}"
        if doc["role"] != SYSTEM and self._changes_size(data) and data["points"].get("small_house"):
            self._judge_small(place)
        if data["number"] != len(self._set) + 1:
            self._rows.find("limits_gap", place, f"they come after {len(self._set)}")
        if moved(data["valid_from"], TOLERANCE) < doc["at"]:
            self._rows.find("limits_in_the_past", place, f"set at {doc['at']}, in force from {data['valid_from']}")
        self._set.append((data["valid_from"], data["number"], dict(data["points"])))
        self._rows.add(
            LIMITS, str(data["number"]), number=data["number"], valid_from=data["valid_from"], points=data["points"],
            set_at=Near(doc["at"]), set_by=doc["actor"], approval=data.get("approval"),
        )  # fmt: skip


def moved(at: str, seconds: float) -> str:
    """A moment so many seconds later, as events write it; at the ends of the calendar itself."""
    try:
        later = datetime.fromisoformat(at) + timedelta(seconds=seconds)
    except OverflowError:
        return at
    return later.isoformat(timespec="microseconds").replace("+00:00", "Z")
