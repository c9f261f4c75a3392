"""Runs of reports and the files that they made, with their SHA-256."""

from .canonical import json_text
from .report_classes import CLASSES, READERS
from .state_approvals import APPROVAL
from .state_columns import HOUSE, ID, Model, proved, transient
from .state_people import OUTBOX, STAFF
from .state_rows import Handler, Near, Row, Rows

RUN, FILE, PART = "reports.ReportRun", "reports.ReportFile", "reports.ReportPart"
SCHEDULE, DELIVERY = "reports.ReportSchedule", "reports.Delivery"
#: The task that makes a run.
MAKE_RUN = "reports.make_run"
#: The package of a day, of which `state_days.py` knows the rows.
PACKAGE = "days.Package"
#: Filters of the days of a run, which a schedule's period says.
_DAYS = ("from", "until")
#: Formats that are printed.
_PAPER = {"pdf", "slip"}
#: The problem after which there will never be anything to send.
_NEVER = "report_not_made"
_REQUESTED = proved("report.requested")
_ENDED = proved("report.made, report.failed, report.cancelled")
_BYTES = transient("deleted when they need not be kept any more; `report.made` has the SHA-256 of the whole file")
MODELS = (
    Model(
        RUN,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "report", "report_version", "filters", "group_by", "formats", "style", "repeats",
                 "copy", "requested_by", "requested_at"),
                _REQUESTED,
            ),
            **dict.fromkeys(("state", "ended_at"), _ENDED),
            "as_of": transient("taken before the rows are read; `report.made` records it"),
            "row_count": transient("counts while the run is made; `report.made` records it"),
            "worked_until": transient("until when a worker has the run for itself"),
            "equalities": proved("report.made"),
            "failure": proved("report.failed"),
        },
    ),
    Model(
        FILE,
        "run/name",
        {"id": ID, "house": HOUSE, **dict.fromkeys(("run", "name", "size", "sha256"), proved("report.made"))},
    ),
    Model(
        PART,
        "run/name/number",
        {"id": ID, "house": HOUSE, "file": _BYTES, "number": _BYTES, "content": _BYTES},
        may_go=True,
    ),
    Model(
        SCHEDULE,
        "name/number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("name", "number", "valid_from", "what", "cadence", "time_of_day", "formats", "filters",
                 "destinations", "set_at", "set_by", "approval"),
                proved("report.schedule_set"),
            ),
            **dict.fromkeys(("stopped", "stopped_at"), proved("report.schedule_stopped")),
        },
    ),
    Model(
        DELIVERY,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "schedule", "version", "period", "destination", "run", "created_at"),
                proved("report.schedule_fired"),
            ),
            **dict.fromkeys(("attempts", "problem"), proved("report.delivered, report.delivery_failed")),
            **dict.fromkeys(
                ("state", "ended_at"),
                proved("report.delivered, report.delivery_failed, report.schedule_set, report.schedule_stopped"),
            ),
            "next_at": transient("when it is tried next"),
            "worked_until": transient("until when a worker has the delivery for itself"),
        },
    ),
)  # fmt: skip


class Reports:
    """Runs of reports."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        #: The run whose moment a run has, and how many papers there are by that run, filters and grouping.
        self._originals: dict[int, int] = {}
        self._papers: dict[str, int] = {}
        self.handlers: dict[str, Handler] = {
            "report.requested": self._requested,
            "report.made": self._made,
            "report.failed": self._failed,
            "report.cancelled": self._cancelled,
            "report.schedule_set": self._scheduled,
            "report.schedule_stopped": self._stopped,
            "report.schedule_fired": self._fired,
            "report.delivered": self._delivered,
            "report.delivery_failed": self._not_delivered,
        }

    def _requested(self, doc: Row) -> None:
        data = doc["data"]
        number = data["run"]
        if self._rows.seek(RUN, str(number - 1)) is None and number != 1:
            self._find(doc, f"run {number} follows none")
        if CLASSES.get(data["report"]) != data["sensitivity"]:
            known = CLASSES.get(data["report"], "unknown")
            self._find(doc, f"report {data['report']} is of class {known}, and is said to be {data['sensitivity']}")
        self._count_papers(doc)
        self._rows.add(
            RUN, str(number), number=number, report=data["report"], report_version=data["report_version"],
            filters=data["filters"], group_by=data["group_by"], formats=data["formats"], style=data["style"],
            repeats=data.get("repeats"), copy=data["copy"], requested_by=data.get("behalf", doc["actor"]),
            requested_at=Near(doc["at"]), state="waiting", ended_at=None, equalities=None, failure="",
        )  # fmt: skip
        key = f"{MAKE_RUN}/{number}"
        self._rows.add(OUTBOX, key, task=MAKE_RUN, subject=str(number), created_at=Near(doc["at"]), done_at=None)

    def _count_papers(self, doc: Row) -> None:
        """Every paper of one moment, with the same filters and grouping, is one more copy."""
        data = doc["data"]
        repeats = data.get("repeats")
        original = data["run"] if repeats is None else self._originals.get(repeats, repeats)
        self._originals[data["run"]] = original
        copy = 0
        if _PAPER & set(data["formats"]):
            document = json_text([original, data["filters"], data["group_by"]])
            copy = self._papers[document] = self._papers.get(document, 0) + 1
        if data["copy"] != copy:
            self._find(doc, f"run {data['run']} is copy {copy}, and is called copy {data['copy']}")

    def _made(self, doc: Row) -> None:
        data = doc["data"]
        self._end(doc, "made", equalities=data["equalities"])
        for file in data["files"]:
            self._rows.add(
                FILE, f"{data['run']}/{file['name']}", run=str(data["run"]), name=file["name"], size=file["size"],
                sha256=file["sha256"],
            )  # fmt: skip

    def _failed(self, doc: Row) -> None:
        self._end(doc, "failed", failure=doc["data"]["failure"])

    def _cancelled(self, doc: Row) -> None:
        self._end(doc, "cancelled")

    def _end(self, doc: Row, state: str, **changes: object) -> None:
        """Every run ends once, and its message with it."""
        number = str(doc["data"]["run"])
        if self._rows.get(RUN, number)["state"] != "waiting":
            self._find(doc, f"run {number} had ended")
        self._rows.change(RUN, number, state=state, ended_at=Near(doc["at"]), **changes)
        self._rows.change(OUTBOX, f"{MAKE_RUN}/{number}", done_at=Near(doc["at"]))

    # --- Schedules ---------------------------------------------------------------------------------------------------

    def _scheduled(self, doc: Row) -> None:
        data, name = doc["data"], doc["data"]["schedule"]
        if data["number"] != 1 and self._rows.seek(SCHEDULE, f"{name}/{data['number'] - 1}") is None:
            self._find(doc, f"version {data['number']} of {name} follows none")
        self._rows.add(
            SCHEDULE, f"{name}/{data['number']}", name=name, number=data["number"], valid_from=data["valid_from"],
            what=data["what"], cadence=data["cadence"], time_of_day=data["time_of_day"], formats=data["formats"],
            filters=data["filters"], destinations=data["destinations"], set_at=Near(doc["at"]), set_by=doc["actor"],
            approval=data.get("approval"), stopped="", stopped_at=None,
        )  # fmt: skip
        if data["cadence"] != "off":
            self._require_readers(doc, self._rows.get(SCHEDULE, f"{name}/{data['number']}"))
        for number in data["withdrawn"]:
            if data["cadence"] != "off" or self._rows.get(DELIVERY, str(number))["schedule"] != name:
                self._find(doc, f"delivery {number} is withdrawn, though {name} has not ended")
            self._end_delivery(doc, number, state="withdrawn", ended_at=Near(doc["at"]))

    def _stopped(self, doc: Row) -> None:
        """A version stops once, and what it has not sent is withdrawn."""
        data = doc["data"]
        key = f"{data['schedule']}/{data['number']}"
        if self._rows.get(SCHEDULE, key)["stopped"]:
            self._find(doc, f"version {data['number']} of {data['schedule']} had stopped")
        self._rows.change(SCHEDULE, key, stopped=data["problem"], stopped_at=Near(doc["at"]))
        for number in data["withdrawn"]:
            if self._rows.get(DELIVERY, str(number))["schedule"] != data["schedule"]:
                self._find(doc, f"delivery {number} is withdrawn, and is not of {data['schedule']}")
            self._end_delivery(doc, number, state="withdrawn", ended_at=Near(doc["at"]))

    def _require_readers(self, doc: Row, version: Row) -> None:
        """Who has set a version, and who has approved it, work here and read what it sends."""
        people = {"set": version["set_by"]}
        if version["approval"] is not None:
            people["approved"] = self._rows.get(APPROVAL, str(version["approval"]))["decided_by"]
        for did, login in people.items():
            found = self._rows.get(STAFF, login)
            works = found["is_active"] or found["locked_by_password"]
            if not works or not READERS.get(version["what"], frozenset()) & set(found["roles"]):
                self._find(doc, f"{login}, who has {did} {version['name']}, may not read {version['what']}")

    def _fired(self, doc: Row) -> None:
        """What falls due is what the version says, once for each period, while those who answer for it may read it."""
        data = doc["data"]
        version = self._rows.get(SCHEDULE, f"{data['schedule']}/{data['number']}")
        self._require_readers(doc, version)
        if version["stopped"]:
            self._find(doc, f"version {data['number']} of {data['schedule']} has stopped")
        if sorted(data["deliveries"].values()) != sorted(version["destinations"]) or version["cadence"] == "off":
            self._find(doc, f"{data['schedule']} is to be sent elsewhere than version {data['number']} says")
        if any(
            (row["schedule"], row["period"]) == (data["schedule"], data["period"])
            for row in self._rows.of(DELIVERY).values()
        ):
            self._find(doc, f"{data['schedule']} fell due for {data['period']} before")
        if "run" in data:
            self._require_as_set(doc, self._rows.get(RUN, str(data["run"])), version)
        for number, destination in data["deliveries"].items():
            self._rows.add(
                DELIVERY, number, number=int(number), schedule=data["schedule"], version=data["number"],
                period=data["period"], destination=destination, run=data.get("run"), created_at=Near(doc["at"]),
                state="waiting", attempts=0, problem="", ended_at=None,
            )  # fmt: skip

    def _require_as_set(self, doc: Row, run: Row, version: Row) -> None:
        """The run of a schedule is of its report, and asks for what the version does; only the days are its own."""
        if run["report"] != version["what"]:
            self._find(doc, f"run {run['number']} is of another report than {version['what']}")
        asked = {name: value for name, value in run["filters"].items() if name not in _DAYS}
        if asked != version["filters"]:
            self._find(doc, f"run {run['number']} has other filters than version {version['number']} says")

    def _delivered(self, doc: Row) -> None:
        """What was sent is what the run has made."""
        data = doc["data"]
        row = self._end_delivery(doc, data["delivery"], state="sent", problem="", ended_at=Near(doc["at"]))
        made = {
            key.partition("/")[2]: (one["size"], one["sha256"])
            for key, one in self._rows.of(FILE).items()
            if one["run"] == str(row["run"])
        }
        sent = {one["name"]: (one["size"], one["sha256"]) for one in data["files"]}
        if row["run"] is None:
            package = self._rows.get(PACKAGE, row["period"])
            if [*sent.values()] != [(package["size"], package["sha256"])]:
                self._find(doc, f"what was sent is not the package of {row['period']}")
        elif sent != made:
            self._find(doc, f"what was sent is not what run {row['run']} has made")

    def _not_delivered(self, doc: Row) -> None:
        data = doc["data"]
        ended = {"state": "failed", "ended_at": Near(doc["at"])} if data["problem"] == _NEVER else {}
        self._end_delivery(doc, data["delivery"], problem=data["problem"], **ended)

    def _end_delivery(self, doc: Row, number: int, **changes: object) -> Row:
        """An attempt, or the end, of a delivery that waits."""
        row, data = self._rows.get(DELIVERY, str(number)), doc["data"]
        if row["state"] != "waiting":
            self._find(doc, f"delivery {number} had ended")
        if "attempt" in data:
            if (data["attempt"], data["destination"]) != (row["attempts"] + 1, row["destination"]):
                self._find(doc, f"delivery {number} to {row['destination']} was tried {row['attempts']} times before")
            changes["attempts"] = data["attempt"]
        self._rows.change(DELIVERY, str(number), **changes)
        return row

    def _find(self, doc: Row, problem: str) -> None:
        self._rows.find("report_differs", f"{doc['chain']}#{doc['seq']}", problem)
