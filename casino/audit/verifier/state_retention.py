"""What retention has deleted, and whom it, or two persons, have forgotten: that it was kept long enough, was what the
events have recorded, and was under no legal hold."""

from collections.abc import Callable
from datetime import UTC, datetime

from .canonical import hash_of
from .report_classes import KEPT_LONGER
from .state_approvals import Approvals, moved
from .state_columns import HOUSE, ID, Model, proved
from .state_days import PACKAGE, PACKAGE_CONTENT
from .state_evidence import COMPLAINT, ENTRY, HOLD
from .state_hands import HandRows
from .state_people import OUTBOX, PERSON, PERSON_KEY, SYSTEM
from .state_reports import FILE, RUN
from .state_rows import TOLERANCE, Handler, Near, Row, Rows, seconds_between
from .state_safeguards import EXCLUSION, MARK

RETENTION = "evidence.RetentionRun"
MODELS = (
    Model(
        RETENTION,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("number", "at", "deleted", "held_count", "by"), proved("retention.ran")),
        },
    ),
)
#: Days for which files are kept, and persons, in a house that has set none, by control point; and the least that any
#: house can set.
KEPT = {
    "retain_books_days": (3653, 2557),
    "retain_laundering_days": (2922, 1827),
    "retain_operations_days": (1096, 365),
    "retain_transient_days": (90, 0),
    "retain_answers_days": (90, 7),
}
#: Seconds of the spans by which answers and messages are deleted.
ANSWERS_SPAN, MESSAGES_SPAN = 600, 86_400
_PERSONS = "retain_laundering_days"
#: Of files of reports, whose class the verifier does not know, but for those that are kept longer.
_FILES = ("retain_books_days", "retain_laundering_days", "retain_operations_days", "retain_transient_days")


class Retention:
    """Rows of runs of retention, and what they have taken away from others."""

    def __init__(self, rows: Rows, approvals: Approvals, hands: HandRows) -> None:
        self._rows, self._approvals, self._hands = rows, approvals, hands
        #: What retention has deleted, by kind and name.
        self._deleted: set[str] = set()
        #: Players whom a run of retention has forgotten: the run that is to name them.
        self._forgotten: dict[str, int] = {}
        #: Entries of the sealed register that a run has written and not named a month for.
        self._carried = 0
        self._kinds: dict[str, Callable[[Row, int, str, str], None]] = {
            "report_file": self._file, "person_key": self._person, "day_package": self._package,
            "answers": self._answers, "messages": self._messages, "sealed_entries": self._sealed,
            "exclusion_marks": self._marks,
        }  # fmt: skip
        self.handlers: dict[str, Handler] = {
            "player.forgotten": self._judge_forgotten,
            "player.erased": self._judge_erased,
            "sealed.entry": self._entry,
            "retention.ran": self._ran,
        }

    def _entry(self, doc: Row) -> None:
        self._carried += doc["role"] == SYSTEM

    def _holds_on(self, player: str) -> list[str]:
        """Numbers of the holds in force that name a player, or all."""
        found = []
        for number, hold in self._rows.of(HOLD).items():
            if hold["lifted_at"] is None and self._names(hold, player):
                found.append(number)
        return found

    def _names(self, hold: Row, player: str) -> bool:
        if hold["scope"] == "hand":
            return self._hands.sat_in(hold["hand"], player)
        if hold["scope"] == "complaint":
            row = self._rows.get(COMPLAINT, hold["complaint"])
            hands = [one["hand"] for one in row["evidence"] if "hand" in one]
            named = {row["player"], *(one.get("player") for one in row["evidence"])}
            return player in named or any(self._hands.sat_in(hand, player) for hand in hands)
        return bool(hold["scope"] == "house" or hold["player"] == player)

    def _judge_forgotten(self, doc: Row) -> None:
        data = doc["data"]
        place = f"{doc['chain']}#{doc['seq']}"
        if holds := self._holds_on(data["player"]):
            self._rows.find("held_was_deleted", place, f"{data['player']} is under legal hold {', '.join(holds)}")
        if _after(data["last_activity"], moved(doc["at"], TOLERANCE - 86_400 * data["retention_days"])):
            problem = f"{data['player']} was last seen at {data['last_activity']}"
            self._rows.find("retention_differs", place, f"{problem}, and is kept for {data['retention_days']} days")
        run = data.get("retention_run")
        if (doc["role"] == SYSTEM) != (run is not None):
            self._rows.find("retention_differs", place, f"{doc['actor']} forgets for run {run}")
        if run is not None:
            self._forgotten[data["player"]] = run
        self._judge_days(doc["at"], data["retention_days"], (_PERSONS,), place, at_least=True, by_run=run is not None)

    def _judge_erased(self, doc: Row) -> None:
        data, place = doc["data"], f"{doc['chain']}#{doc['seq']}"
        known = [row["sealed_sha256"] for row in self._rows.of(PERSON).values() if row["player"] == data["player"]]
        if self._rows.seek(PERSON_KEY, data["player"]) is not None or data["left"]:
            self._retention(place, f"{data['player']} was not forgotten, or something was left: {data['left']}")
        if not known or known != data["records"]:
            self._retention(place, f"{data['player']} was recorded as {known}, and erased as {data['records']}")

    def _ran(self, doc: Row) -> None:
        data, place = doc["data"], f"{RETENTION} {doc['data']['run']}"
        if data["run"] != (before := len(self._rows.of(RETENTION))) + 1:
            self._rows.find("serial_gap", place, f"it comes after {before}")
        sums: dict[str, Row] = {}
        for kind in sorted({item["kind"] for item in data["items"]}):
            items = [item for item in data["items"] if item["kind"] == kind]
            sums[kind] = {
                "count": len(items), "size": sum(item["size"] for item in items), "sha256": hash_of(items),
            }  # fmt: skip
        if sums != data["deleted"] or data["left"]:
            self._retention(place, f"what it sums up as deleted is not what it names: {data['deleted']}, {sums}")
        for item in data["items"]:
            name = f"{item['kind']} {item['name']}"
            if name in self._deleted:
                self._retention(place, f"{name} had been deleted")
            self._deleted.add(name)
            if _after(moved(item["since"], 86_400 * item["days"] - TOLERANCE), doc["at"]):
                self._retention(place, f"{name} is kept for {item['days']} days from {item['since']}")
            self._judge_item(item, data["run"], doc["at"], place)
        if self._carried:
            self._retention(place, f"{self._carried} entries of the sealed register carry what no month of it has left")
            self._carried = 0
        if unnamed := sorted(player for player, one in self._forgotten.items() if one == data["run"]):
            self._retention(place, f"it does not name {', '.join(unnamed)}, whom it has forgotten")
        self._rows.add(
            RETENTION, str(data["run"]), number=data["run"], at=Near(doc["at"]), deleted=data["deleted"],
            held_count=data["held_count"], by=data["by"],
        )  # fmt: skip

    def _judge_item(self, item: Row, run: int, at: str, place: str) -> None:
        judge = self._kinds.get(item["kind"])
        if judge is None:
            self._retention(place, f"nothing is known of a kind {item['kind']}")
        else:
            judge(item, run, at, place)

    def _person(self, item: Row, run: int, at: str, place: str) -> None:
        if self._forgotten.pop(item["name"], None) != run or self._rows.seek(PERSON_KEY, item["name"]) is not None:
            self._retention(place, f"no event of this run forgets {item['name']}")
        newest = [row for row in self._rows.of(PERSON).values() if row["player"] == item["name"]]
        if not newest or newest[-1]["sealed_sha256"] != item["sha256"]:
            self._retention(place, f"{item['name']} was not recorded as {item['sha256']}")

    def _file(self, item: Row, run: int, at: str, place: str) -> None:
        file = self._rows.seek(FILE, item["name"])
        if file is None or (file["sha256"], file["size"]) != (item["sha256"], item["size"]):
            self._retention(place, f"no report has made {item['name']} with this hash")
            return
        of = self._rows.get(RUN, file["run"])
        if of["ended_at"] is None or seconds_between(of["ended_at"], item["since"]) > TOLERANCE:
            self._retention(place, f"{item['name']} was made at {of['ended_at']}, not {item['since']}")
        more = KEPT_LONGER.get(of["report"])
        names = _FILES if more is None else (_PERSONS,)
        self._judge_days(at, item["days"] - (more or 0), names, place, at_least=False)
        first, last = of["filters"].get("from", ""), of["filters"].get("until", "9")
        self._judge_held(item, first, last, of["filters"].get("player"), place)

    def _package(self, item: Row, run: int, at: str, place: str) -> None:
        package = self._rows.seek(PACKAGE, item["name"])
        if package is None or (package["sha256"], package["size"]) != (item["sha256"], item["size"]):
            self._retention(place, f"no package of {item['name']} was made with this hash")
            return
        if seconds_between(package["made_at"], item["since"]) > TOLERANCE:
            self._retention(place, f"{item['name']} was made at {package['made_at']}, not {item['since']}")
        self._judge_days(at, item["days"], ("retain_books_days",), place, at_least=False)
        self._judge_held(item, item["name"], item["name"], None, place)
        self._remove(PACKAGE_CONTENT, item["name"], place)

    def _answers(self, item: Row, run: int, at: str, place: str) -> None:
        """Answers are a copy of what is proved elsewhere; how long they were kept is judged."""
        self._judge_span(item, ANSWERS_SPAN, at, place)

    def _messages(self, item: Row, run: int, at: str, place: str) -> None:
        """Messages that were done on a date: they are there no more."""
        begin, end = self._judge_span(item, MESSAGES_SPAN, at, place)
        self._rows.let_go(OUTBOX, "done_at", moved(begin, -TOLERANCE), moved(end, TOLERANCE))

    def _judge_span(self, item: Row, seconds: int, at: str, place: str) -> tuple[str, str]:
        """Whether what came in a span of time was kept from its end for long enough, and is under no hold; returns its
        begin and its end."""
        begin = moved(datetime.fromisoformat(item["name"]).replace(tzinfo=UTC).isoformat(), 0)
        end = moved(begin, seconds)
        if seconds_between(item["since"], end) != 0:
            self._retention(place, f"{item['kind']} of {item['name']} are counted from {item['since']}")
        self._judge_days(at, item["days"], ("retain_answers_days",), place, at_least=False)
        self._judge_held(item, item["name"][:10], item["name"][:10], None, place)
        return begin, end

    def _sealed(self, item: Row, run: int, at: str, place: str) -> None:
        first, _, last = item["name"].partition("-")
        rows = [self._rows.seek(ENTRY, str(number)) for number in range(int(first), int(last) + 1)]
        known = [row for row in rows if row is not None]
        if len(known) != len(rows) or hash_of([row["sealed_sha256"] for row in known]) != item["sha256"]:
            self._retention(place, f"no entries {item['name']} were written with these hashes")
        if any(_after(row["at"], moved(item["since"], TOLERANCE)) for row in known):
            self._retention(place, f"entries {item['name']} were written after {item['since']}")
        if self._carried:
            self._carried -= 1
        else:
            self._retention(place, f"nothing carries what goes on of entries {item['name']}")
        self._judge_days(at, item["days"], (_PERSONS,), place, at_least=False)
        begin = known[0]["at"][:7] if known else item["since"][:7]
        self._judge_held(item, f"{begin}-01", f"{begin}-31", None, place)
        for row in known:
            self._rows.remove(ENTRY, str(row["number"]))

    def _marks(self, item: Row, run: int, at: str, place: str) -> None:
        row = self._rows.get(EXCLUSION, item["name"])
        ends = [row["lifted_at"], None if row["kind"] == "self" else row["until"]]
        over = [end for end in ends if end is not None]
        if not over or all(_after(end, moved(item["since"], TOLERANCE)) for end in over):
            self._retention(place, f"exclusion {item['name']} is not over, and its marks went")
        marks = [key for key, one in self._rows.of(MARK).items() if one["exclusion"] == item["name"]]
        if hash_of(sorted(self._rows.get(MARK, key)["salted"] for key in marks)) != item["sha256"]:
            self._retention(place, f"exclusion {item['name']} had other marks")
        self._judge_held(item, "", "9", row["player"], place)
        for key in marks:
            self._rows.remove(MARK, key)

    def _remove(self, model: str, key: str, place: str) -> None:
        if self._rows.seek(model, key) is None:
            self._retention(place, f"{model} {key} was gone")
        else:
            self._rows.remove(model, key)

    def _judge_held(self, item: Row, first: str, last: str, player: str | None, place: str) -> None:
        """Report a hold in force on the house, on days between these, or on the player."""
        for number, hold in self._rows.of(HOLD).items():
            days = hold["scope"] == "days" and first <= hold["last_day"] and last >= hold["first_day"]
            of_player = hold["scope"] == "player" and player == hold["player"]
            if hold["lifted_at"] is None and (hold["scope"] == "house" or days or of_player):
                self._rows.find("held_was_deleted", place, f"{item['name']} is under legal hold {number}")

    def _judge_days(
        self, at: str, days: int, names: tuple[str, ...], place: str, *, at_least: bool, by_run: bool = True
    ) -> None:
        """Whether a house keeps something for so many days, by one of these control points; a run never for fewer than
        any house can set."""
        known = [points.get(name, KEPT[name][0]) for points in self._approvals.in_force_about(at) for name in names]
        least = min(KEPT[name][1] for name in names)
        if (by_run and days < least) or not (days >= min(known) if at_least else days in known):
            self._retention(place, f"it was kept for {days} days; the house has set {sorted(set(known))}")

    def _retention(self, place: str, problem: str) -> None:
        self._rows.find("retention_differs", place, problem)


def _after(one: str, other: str) -> bool:
    """Whether a moment is later than another one."""
    return datetime.fromisoformat(one) > datetime.fromisoformat(other)
