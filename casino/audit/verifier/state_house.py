"""The stages of a house, rebuilt from the events of its chain: rehearsals, signatures, and what waits until it is
live."""

from .canonical import hash_of
from .state_columns import HOUSE, ID, Model, proved, transient
from .state_people import HOUSES, OUTBOX, related
from .state_rows import TOLERANCE, Handler, Near, Row, Rows, seconds_between

REHEARSAL, SIGNATURE, RUN = "houses.Rehearsal", "houses.GoLiveSignature", "houses.RehearsalRun"
#: The task that plays a rehearsal.
REHEARSE = "golive.rehearse"
MODELS = (
    Model(
        RUN,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("number", "requested_by", "requested_at"), proved("house.rehearsal_requested")),
            **dict.fromkeys(
                ("state", "ended_at"),
                proved("house.rehearsed, house.rehearsal_failed, house.rehearsal_cancelled"),
            ),
            "failure": proved("house.rehearsal_failed"),
            "worked_until": transient("until when a worker has the rehearsal for itself"),
            "tries": transient("counts how often a worker began it"),
            "sandbox": transient("where it is played; `house.rehearsed` records it"),
            "part_count": transient("counts while it is played; `house.rehearsed` records the items"),
        },
    ),
    Model(
        REHEARSAL,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "sandbox", "configuration", "passed", "items", "verified", "at"), proved("house.rehearsed")
            ),
        },
    ),
    Model(
        SIGNATURE,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "role", "digest", "signed_by", "signed_at"),
                proved("house.go_live_signed, house.went_live"),
            ),
        },
    ),
)
#: Who signs, each once and no two of them one person.
SIGNERS = frozenset(("admin", "auditor", "manager"))
#: What waits until the house is live, or open as a sandbox; and of that, what a suspended house may do nevertheless.
_WITH_GUESTS = (
    "day.opened", "drawer.opened", "drawer.reopened", "table.opened", "hand.dealt", "cage.buy_in",
    "cage.bearer_buy_in", "table.buy_in",
    "cage.deposit_taken", "cage.deposit_drawn", "cage.noncash_buy_in", "cage.table_fee",
)  # fmt: skip
_OPEN = frozenset(("live", "sandbox"))
_SERVES = frozenset(("day.opened", "drawer.opened", "drawer.reopened"))


class Stages:
    """Rows of rehearsals and signatures, and the stage of the house."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._rehearsals = self._signatures = 0
        #: The signatures under the newest digest: role and login.
        self._digest, self._signed = "", dict[str, str]()
        #: Since when the stage is what it is, and the one before.
        self._since, self._before = "", ""
        self.handlers: dict[str, Handler] = {
            "house.rehearsal_requested": self._asked,
            "house.rehearsed": self._rehearsed,
            "house.rehearsal_failed": lambda doc: self._end(doc, "failed", failure=doc["data"]["failure"]),
            "house.rehearsal_cancelled": lambda doc: self._end(doc, "cancelled"),
            "house.go_live_signed": self._sign,
            "house.went_live": self._went_live,
            "house.suspended": self._suspended,
            "house.resumed": self._resumed,
            "house.closed": self._closed,
            "house.sandbox_reset": self._reset,
            **dict.fromkeys(_WITH_GUESTS, self._with_guests),
        }

    def _house(self) -> Row | None:
        return next(iter(self._rows.of(HOUSES).values()), None)

    def _find(self, doc: Row, code: str, problem: str) -> None:
        self._rows.find(code, f"{doc['chain']}#{doc['seq']}", problem)

    def _to(self, doc: Row, stage: str, *allowed: str) -> None:
        house = self._house()
        if house is None:
            return
        if house["stage"] not in allowed:
            self._find(doc, "house_wrong_stage", f"the house is {house['stage']}, then {stage}")
        self._since, self._before = doc["at"], house["stage"]
        house["stage"] = stage

    def _asked(self, doc: Row) -> None:
        number, key = doc["data"]["rehearsal"], str(doc["data"]["rehearsal"])
        if number != self._rehearsals + 1:
            self._find(doc, "rehearsal_gap", f"rehearsal {number} comes after {self._rehearsals}")
        if any(row["state"] == "waiting" for row in self._rows.of(RUN).values()):
            self._find(doc, "rehearsal_differs", f"rehearsal {number} was asked for while another one was waiting")
        self._rehearsals = number
        self._rows.add(
            RUN, key, number=number, requested_by=doc["actor"], requested_at=Near(doc["at"]), state="waiting",
            failure="", ended_at=None,
        )  # fmt: skip
        self._rows.add(
            OUTBOX, f"{REHEARSE}/{key}", task=REHEARSE, subject=key, created_at=Near(doc["at"]), done_at=None
        )

    def _end(self, doc: Row, state: str, **changes: object) -> None:
        """Every rehearsal ends once, and its message with it."""
        key = str(doc["data"]["rehearsal"])
        if self._rows.get(RUN, key)["state"] != "waiting":
            self._find(doc, "rehearsal_differs", f"rehearsal {key} had ended")
        self._rows.change(RUN, key, state=state, ended_at=Near(doc["at"]), **changes)
        self._rows.change(OUTBOX, f"{REHEARSE}/{key}", done_at=Near(doc["at"]))

    def _rehearsed(self, doc: Row) -> None:
        data = doc["data"]
        self._end(doc, "played")
        if data["passed"] != (not any("failed" in item for item in data["items"])):
            self._find(doc, "rehearsal_differs", "what it says of the whole is not what its items say")
        self._rows.add(
            REHEARSAL, str(data["rehearsal"]), number=data["rehearsal"], sandbox=data["sandbox"],
            configuration=data["configuration"], passed=data["passed"], items=data["items"], verified=data["verified"],
            at=Near(doc["at"]),
        )  # fmt: skip

    def _sign(self, doc: Row) -> None:
        data, login = doc["data"], doc["actor"]
        number, role, digest = data["signature"], data["role"], data["digest"]
        if number != self._signatures + 1:
            self._find(doc, "signature_gap", f"signature {number} comes after {self._signatures}")
        if role not in SIGNERS or role != doc["role"]:
            self._find(doc, "actor_without_role", f"{login} signs as {role} and acts as {doc['role']}")
        if digest != self._digest:
            self._digest, self._signed = digest, {}
        if role in self._signed or login in self._signed.values():
            self._find(doc, "same_person", f"{login} signs as {role} what {self._signed} have signed")
        self._judge_independent(doc)
        self._signed[role] = login
        self._signatures = number
        self._rows.add(
            SIGNATURE, str(number), number=number, role=role, digest=digest, signed_by=login, signed_at=Near(doc["at"]),
        )  # fmt: skip

    def _judge_independent(self, doc: Row) -> None:
        """Of the three, nobody has hired another one, or is in the line of those who gave another one a password."""
        login = doc["actor"]
        for other in sorted({*self._signed.values()} - {login}):
            if (by := related(self._rows, other, login)) is not None:
                problem = f"{login} signs beside {other}, and {by} hired the other or gave a password"
                self._find(doc, "approver_not_independent", problem)

    def _went_live(self, doc: Row) -> None:
        self._sign(doc)
        data = doc["data"]
        if self._signed.keys() != SIGNERS or self._signed != data["signers"]:
            self._find(doc, "signatures_missing", f"{self._signed} have signed, it names {data['signers']}")
        if hash_of(data["signed"]) != data["digest"]:
            self._find(doc, "digest_differs", "its digest is not that of what was signed")
        row = self._rows.seek(REHEARSAL, str(data["rehearsal"]))
        configuration = hash_of(data["signed"].get("configuration"))
        if row is None or not row["passed"] or row["configuration"] != configuration:
            self._find(doc, "rehearsal_missing", f"what was signed has not passed rehearsal {data['rehearsal']}")
        self._to(doc, "live", "founding")

    def _suspended(self, doc: Row) -> None:
        self._to(doc, "suspended", self._open_stage())

    def _resumed(self, doc: Row) -> None:
        self._to(doc, self._open_stage(), "suspended")

    def _closed(self, doc: Row) -> None:
        self._to(doc, "closed", self._open_stage(), "suspended")

    def _reset(self, doc: Row) -> None:
        """Only a sandbox is thrown away without an auditor."""
        house = self._house()
        if house is not None and not house["is_sandbox"]:
            self._find(doc, "house_wrong_stage", "it was reset, and is no sandbox")
        self._closed(doc)

    def _open_stage(self) -> str:
        house = self._house()
        return "sandbox" if house is not None and house["is_sandbox"] else "live"

    def _with_guests(self, doc: Row) -> None:
        """Guests are served in an open house; what had begun when it was suspended may be written just after."""
        house = self._house()
        if house is None or house["stage"] in _OPEN:
            return
        if house["stage"] == "suspended" and doc["kind"] in _SERVES:
            return
        just_now = self._before in _OPEN and seconds_between(self._since, doc["at"]) <= TOLERANCE
        if house["stage"] != "suspended" or not just_now:
            self._find(doc, "house_not_live", f"{doc['kind']} in a house that is {house['stage']}")
