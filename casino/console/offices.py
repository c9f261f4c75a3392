"""The desks of the office as data: which lists of the API each shows, with which columns, what may be done with a row,
and which jobs belong there. What a person may not read or do is not there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext_noop

#: What a row of a list is like, for who chooses among rows.
Wanted = Callable[[dict[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class Section:
    """A list: its words, the operation that reads it, the columns that are shown, which rows, and what may be done with
    a row; `acts` are operations on one row of the list, `jobs` those that need none."""

    title: str
    read: str
    columns: tuple[str, ...]
    acts: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    wanted: Wanted = lambda row: True
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Office:
    """A desk: its address, its words, what it is for, and its lists."""

    path: str
    title: str
    text: str
    sections: tuple[Section, ...]
    #: Who has it among the desks on every page; others reach it by its address, and see what they may read.
    desk_of: frozenset[str]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the office as others lead to it: its address, its words, who has it among the desks on every page, and
    the operations of which a person needs one to see anything there."""

    path: str
    title: str
    desk_of: frozenset[str]
    reads: frozenset[str]


def _is_open(row: dict[str, Any]) -> bool:
    return row.get("ended_at") is None


PEOPLE = Office(
    "people",
    gettext_noop("People and terminals"),
    gettext_noop("Who is here, who works for the house with which roles, where terminals stand, and the rota."),
    (
        Section(gettext_noop("Here now"), "listStaffOnDuty", ("login", "name", "roles", "sessions")),
        Section(
            gettext_noop("Staff"), "listStaff",
            ("login", "name", "roles", "active", "second_factor_since", "passkey_count", "passkey_clone_seen_at",
             "last_signed_in_at"),
            acts=(
                "changeRoles", "setPassword", "resetSecondFactor", "unlockStaff", "linkPlayer", "deactivateStaff",
                "activateStaff",
            ),
            jobs=("hireStaff",),
        ),
        Section(
            gettext_noop("Terminals"), "listTerminals", ("terminal", "kind", "location"),
            acts=("revokeTerminal",), jobs=("enrolTerminal",), wanted=lambda row: not row["revoked"],
        ),
        Section(
            gettext_noop("Rota"), "listRota", ("login", "role", "kind", "location", "starts_at", "ends_at"),
            acts=("withdrawRota",), jobs=("enterRota",), wanted=lambda row: row["withdrawn_by"] is None,
        ),
    ),
    frozenset({"admin"}),
)  # fmt: skip

SAFEGUARDS = Office(
    "safeguards",
    gettext_noop("Duties to players"),
    gettext_noop("Complaints with their days, exclusions, who has played for long, the log of transactions, holds."),
    (
        Section(
            gettext_noop("Complaints that are not closed"), "listComplaints",
            ("number", "kind", "player", "state", "received_at", "due_at"),
            acts=("answerComplaint", "escalateComplaint", "closeComplaint"), jobs=("openComplaint",), wanted=_is_open,
        ),
        Section(
            gettext_noop("Exclusions in force"), "listExclusions",
            ("exclusion", "player", "kind", "scope", "set_at", "until", "lift_asked_at", "matched"),
            acts=("askToLiftExclusion", "liftExclusion"), jobs=("excludePlayer", "excludePerson"),
            wanted=lambda row: row["lifted_at"] is None,
        ),
        Section(
            gettext_noop("Minors"), "listMinors",
            ("minor", "player", "exclusion", "recorded_at", "recorded_by", "least_age"),
            acts=("readMinor", "settleMinor", "clearMinor"), jobs=("recordMinor",),
            wanted=lambda row: row["state"] == "recorded",
        ),
        Section(
            gettext_noop("Winnings kept from minors"), "listMinors",
            ("minor", "player", "kept", "ended_at", "remit_by"),
            jobs=("remitWinnings",), wanted=lambda row: bool(row["kept"]) and row["remittance"] is None,
            query={"state": "settled"},
        ),
        Section(
            gettext_noop("Winnings that were remitted"), "listRemittances",
            ("remittance", "amount", "beneficiary", "payee", "note", "remitted_at"),
        ),
        Section(
            gettext_noop("Log of transactions"), "listLogLines",
            ("line", "day", "place", "kind", "direction", "amount", "player", "unknown_person", "entered_by"),
            acts=("withdrawLogLine",), jobs=("enterLogLine", "noteFiling"),
            wanted=lambda row: row["withdrawn_at"] is None,
        ),
        Section(
            gettext_noop("Unknown persons"), "listUnknownPersons",
            ("unknown_person", "description", "opened_at", "opened_by"),
            acts=("identifyUnknownPerson",), jobs=("openUnknownPerson",),
            wanted=lambda row: row["identified_at"] is None,
        ),
        Section(
            gettext_noop("Returns that were filed"), "listFilings", ("filing", "trade", "return_number", "filed_on"),
        ),
        Section(
            gettext_noop("Limits of players"), "listPlayerLimits",
            ("player", "limit", "span", "most", "starts_at", "set_by"), jobs=("setPlayerLimit",),
        ),
        Section(
            gettext_noop("Talks with players"), "listInteractions", ("player", "interaction", "note", "by", "at"),
            jobs=("logInteraction",),
        ),
        Section(
            gettext_noop("Holds on deletion"), "listLegalHolds",
            ("number", "scope", "player", "hand", "complaint", "reason", "set_by"),
            acts=("liftLegalHold",), jobs=("setLegalHold",), wanted=lambda row: row["lifted_by"] is None,
        ),
        Section(
            gettext_noop("Runs of retention"), "listRetentionRuns", ("number", "at", "deleted", "held_count", "by"),
        ),
    ),
    frozenset({"compliance"}),
)  # fmt: skip

DAYS = Office(
    "days",
    gettext_noop("Gaming days"),
    gettext_noop("The day that is open, those before it, what is late, and what still waits for somebody."),
    (
        Section(
            gettext_noop("Days"), "listDays", ("day", "opened_at", "closed_at"),
            acts=("closeDay", "signDayPackage", "readDayPackage"), jobs=("openDay",),
        ),
        Section(
            gettext_noop("Drawers that are open"), "listDrawers", ("drawer", "state"),
            wanted=lambda row: row["state"] not in ("closed", "retired"),
        ),
        Section(
            gettext_noop("Tables that are open"), "listTables", ("table", "game", "state", "hand_count"),
            wanted=lambda row: row["state"] not in ("closed", "retired"),
        ),
        Section(
            gettext_noop("Fills and credits under way"), "listTransfers",
            ("kind", "serial", "table", "drawer", "state"), wanted=_is_open,
        ),
        Section(
            gettext_noop("Boxes that are not received"), "listBoxes", ("box", "table", "kind", "seal", "state"),
            wanted=lambda row: row["state"] != "received",
        ),
        Section(
            gettext_noop("Approvals that are asked for"), "listApprovals",
            ("approval", "kind", "requested_by", "expires_at"), acts=("approve", "refuseApproval"),
            query={"state": "requested"},
        ),
        Section(
            gettext_noop("Reports that were sent"), "listReportDeliveries",
            ("schedule", "period", "destination", "state", "attempts", "problem"),
        ),
    ),
    frozenset({"manager"}),
)  # fmt: skip

EVERY = (PEOPLE, SAFEGUARDS, DAYS)

PAGES = (
    *(
        Page(one.path, one.title, one.desk_of, frozenset(section.read for section in one.sections))
        for one in EVERY
    ),
    Page("founding", gettext_noop("Founding the house"), frozenset({"admin"}), frozenset({"readReadiness"})),
    Page("webhooks", gettext_noop("Webhooks"), frozenset(), frozenset({"listWebhooks"})),
    Page("limits", gettext_noop("Control points"), frozenset(), frozenset({"readLimits"})),
)  # fmt: skip

#: Pages that show alarms, and which; None: all of them.
ALARMS: Mapping[str, frozenset[str] | None] = {
    "days": None, "safeguards": frozenset({"complaint_due", "remittance_due"}),
}  # fmt: skip

#: Operations that make sense at some rows only: at which.
SENSIBLE: Mapping[str, Wanted] = {
    "activateStaff": lambda row: not row["active"],
    "deactivateStaff": lambda row: row["active"],
    "resetSecondFactor": lambda row: row["second_factor_since"] is not None or row["passkey_count"] > 0,
    "closeDay": lambda row: row["closed_at"] is None,
    "signDayPackage": lambda row: row["closed_at"] is not None,
    "readDayPackage": lambda row: row["closed_at"] is not None,
    "askToLiftExclusion": lambda row: row["lift_asked_at"] is None,
    "liftExclusion": lambda row: row["lift_asked_at"] is not None,
}

#: The steps of founding a house: the items of its readiness in their order, what each is, and what brings it.
STEPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "identity": (gettext_noop("Who the house is"), ("changeIdentity", "changeLimits")),
    "people": (gettext_noop("People for every duty"), ("hireStaff", "changeRoles")),
    "pairs": (gettext_noop("Two independent people wherever two must sign"), ("hireStaff",)),
    "largest_trades": (gettext_noop("Who approves the largest trades"), ("hireStaff",)),
    "second_factors": (gettext_noop("Second factors of those who approve"), ()),
    "chip_set": (gettext_noop("A chip set"), ("introduceChipSet", "useChipSet")),
    "vault": (gettext_noop("The vault: capital and chips"), ("openVault", "payInCapital", "noteChipMove")),
    "drawers": (gettext_noop("Drawers at the cage"), ("createDrawer",)),
    "tables": (gettext_noop("Tables with their terms"), ("createTable", "changeTerms")),
    "trays": (gettext_noop("Chips in the trays"), ("stockTray",)),
    "floats": (gettext_noop("Templates of floats and trays"), ("setFloatTemplate", "setTrayTemplate")),
    "cover": (gettext_noop("Cash for all chips that can be out"), ("payInCapital",)),
    "terminals": (gettext_noop("Terminals at their places"), ("enrolTerminal",)),
    "checkpoints": (gettext_noop("Checkpoints that are kept elsewhere"), ()),
    "rehearsal": (gettext_noop("An evening, rehearsed in a copy"), ("requestRehearsal",)),
    "signatures": (gettext_noop("Signed by administrator, auditor and manager"), ("signGoLive",)),
    "day": (gettext_noop("The first gaming day"), ("openDay",)),
}
