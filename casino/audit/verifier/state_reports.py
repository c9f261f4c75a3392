"""Runs of reports and the files that they made, with their SHA-256."""

from .state_columns import HOUSE, ID, Model, proved, transient
from .state_people import OUTBOX
from .state_rows import Handler, Near, Row, Rows

RUN, FILE, PART = "reports.ReportRun", "reports.ReportFile", "reports.ReportPart"
#: The task that makes a run.
MAKE_RUN = "reports.make_run"
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
                 "requested_by", "requested_at"),
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
)  # fmt: skip


class Reports:
    """Runs of reports."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.handlers: dict[str, Handler] = {
            "report.requested": self._requested,
            "report.made": self._made,
            "report.failed": self._failed,
            "report.cancelled": self._cancelled,
        }

    def _requested(self, doc: Row) -> None:
        data = doc["data"]
        number = data["run"]
        if self._rows.seek(RUN, str(number - 1)) is None and number != 1:
            self._find(doc, f"run {number} follows none")
        self._rows.add(
            RUN, str(number), number=number, report=data["report"], report_version=data["report_version"],
            filters=data["filters"], group_by=data["group_by"], formats=data["formats"], style=data["style"],
            repeats=data.get("repeats"), requested_by=doc["actor"], requested_at=Near(doc["at"]), state="waiting",
            ended_at=None, equalities=None, failure="",
        )  # fmt: skip
        key = f"{MAKE_RUN}/{number}"
        self._rows.add(OUTBOX, key, task=MAKE_RUN, subject=str(number), created_at=Near(doc["at"]), done_at=None)

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

    def _find(self, doc: Row, problem: str) -> None:
        self._rows.find("report_differs", f"{doc['chain']}#{doc['seq']}", problem)
