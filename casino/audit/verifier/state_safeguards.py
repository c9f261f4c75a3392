"""Exclusions, admissions, limits and interactions, rebuilt from the house's chain; and what begins or feeds play
against them: nobody who is excluded is seated, sold chips or dealt to, nobody goes beyond a limit of one's own."""

import hashlib
from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from .state_approvals import Approvals
from .state_columns import HOUSE, ID, Model, derived, hashed, proved
from .state_rows import TOLERANCE, Handler, Near, Row, Rows, seconds_between

EXCLUSION, ADMISSION = "safeguards.Exclusion", "safeguards.Admission"
MARK, MATCH = "safeguards.ExclusionMark", "safeguards.ExclusionMatch"
LIMIT, INTERACTION = "safeguards.PlayerLimit", "safeguards.Interaction"
REALITY = "safeguards.RealityCheck"
PERIOD = "ledger.Period"
_LIFT_ASKED, _LIFTED = "exclusion.lift_asked", "exclusion.lifted"
_MARKED, _MATCHED = "exclusion.set, exclusion.marked", "exclusion.set, exclusion.matched"
MODELS = (
    Model(
        EXCLUSION,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "player", "kind", "scope", "asked_by", "in_person", "until", "set_by", "set_at"),
                proved("exclusion.set"),
            ),
            "note": hashed("exclusion.set"),
            **dict.fromkeys(("lift_asked_at", "lift_asked_by"), proved(_LIFT_ASKED)),
            **dict.fromkeys(("lifted_at", "lifted_by", "lift_cause"), proved(_LIFTED)),
        },
    ),
    Model(
        MARK,
        "exclusion and SHA-256 of salted",
        {
            "id": ID,
            "house": HOUSE,
            "exclusion": proved(_MARKED),
            "mark": derived("safeguards.ExclusionMark.salted: a constraint of the database has it end with the mark"),
            "salted": hashed(f"{_MARKED}; retention.ran"),
        },
    ),
    Model(
        MATCH,
        "exclusion and player",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("exclusion", "player", "found_at"), proved(_MATCHED)),
            **dict.fromkeys(("cleared_at", "cleared_by"), proved("exclusion.match_cleared")),
        },
    ),
    Model(
        ADMISSION,
        "player and day",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("player", "day", "document", "age_band", "seen_by", "seen_at"), proved("player.admitted")),
        },
    ),
    Model(
        LIMIT,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "player", "kind", "span", "most", "starts_at", "set_by", "set_at"),
                proved("player.limit_set"),
            ),
        },
    ),
    Model(
        INTERACTION,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("number", "player", "kind", "by", "at"), proved("player.interaction_logged")),
            "note": hashed("player.interaction_logged"),
        },
    ),
    Model(
        REALITY,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "player", "table", "seat", "minutes", "raised_at"), proved("player.reality_check_due")
            ),
        },
    ),
)

#: Sales of chips to a player, in which limits count.
_BUYS = ("cage.buy_in", "cage.noncash_buy_in", "cage.deposit_drawn", "table.buy_in")
#: What else is refused to who is not admitted, and to who is excluded.
_PLAYS = (
    *("cage.deposit_taken", "cage.table_fee", "table.sat_down", "table.chips_added", "table.moved_in", "table.tip"),
    "seat.key_issued",
)
#: Who excludes players.
_HEARS = ("floor", "cage_supervisor", "compliance")
#: Who excludes people who are no players.
_FOR_OTHERS = ("compliance",)
_NOT_EXCLUDED = ("waiting.added", "table.seat_changed")
_NOTHING = hashlib.sha256(b"").hexdigest()
#: Seconds for which what was so before is let pass.
LET_PASS = TOLERANCE
_DAY, _HOURS = timedelta(days=1), 24 * 3600.0
_SPANS = {"week": timedelta(days=7), "month": timedelta(days=30)}
_LEAST_MONTHS = 6
#: Accounts of a player's chips, in hand and on a seat, and of what is kept for a player: deposits and held payouts.
_OWN, _KEPT = ("2010", "2020"), ("2085", "2090")


class Safeguards:
    """Judges play by what protects players. A write may have read what was so a moment before: for so long it is let
    pass."""

    def __init__(self, rows: Rows, approvals: Approvals) -> None:
        self._rows, self._approvals = rows, approvals
        self._numbers: dict[str, int] = {}
        #: Numbers of exclusions by player, and of limits.
        self._of: dict[str, list[str]] = {}
        self._limits: dict[str, list[str]] = {}
        #: Gaming days that are open, the newest last, with the time of opening.
        self._days: list[tuple[str, str]] = []
        #: When which player was admitted for which day.
        self._admitted: dict[str, tuple[str, str]] = {}
        #: What players have paid in: time, minor units, whether it is no mirror; and by the ledger's transaction.
        self._paid: dict[str, list[tuple[str, int, bool]]] = {}
        self._posted: dict[int, dict[str, int]] = {}
        self.handlers: dict[str, Handler] = {
            "exclusion.set": self._set,
            "exclusion.marked": self._marked,
            "exclusion.matched": lambda doc: self._match(doc, doc["data"]["player"]),
            "exclusion.match_cleared": self._match_cleared,
            _LIFT_ASKED: self._lift_asked,
            _LIFTED: self._lifted,
            "player.admitted": self._admit,
            "player.limit_set": self._limit_set,
            "player.interaction_logged": self._logged,
            "player.reality_check_due": self._raised,
            "day.opened": self._day_opened,
            "day.closed": self._day_closed,
            **dict.fromkeys((*_BUYS, *_PLAYS), self._plays),
            **dict.fromkeys(_NOT_EXCLUDED, self._is_not_excluded),
            "waiting.called": self._called,
            "cage.corrected": self._corrected,
            **dict.fromkeys(("hand.dealt", "deal.committed"), self._dealt),
        }

    # --- Rows --------------------------------------------------------------------------------------------------------

    def _set(self, doc: Row) -> None:
        data, key = doc["data"], str(doc["data"]["exclusion"])
        self._count(doc, EXCLUSION, data["exclusion"])
        until, player = data.get("until"), data.get("player")
        self._rows.add(
            EXCLUSION, key, number=data["exclusion"], player=player, kind=data["exclusion_kind"],
            scope=data["scope"], asked_by=data["asked_by"], in_person=data["in_person"], until=until,
            set_by=doc["actor"], set_at=Near(doc["at"]), note=data.get("note_sha256") or _NOTHING,
            lift_asked_at=None, lift_asked_by=None, lifted_at=None, lifted_by=None, lift_cause="",
        )  # fmt: skip
        if player is not None:
            self._of.setdefault(player, []).append(key)
        if (player is None) != bool(data.get("marks")):
            self._wrong(doc, f"exclusion {key} has neither a player nor marks, or both")
        self._add_marks(key, data.get("marks") or ())
        for matched in data.get("matched") or ():
            self._match(doc, matched)
        # A manager excludes by recording that a player is a minor.
        may = {*_HEARS, *(("manager",) if (data["exclusion_kind"], until) == ("house", None) else ())}
        if doc["role"] not in (may if player is not None else _FOR_OTHERS):
            self._wrong(doc, f"exclusion {key} is set by {doc['actor']} as {doc['role']}")
        at_player = data["asked_by"] == "player"
        if (data["exclusion_kind"] == "self") != at_player:
            self._wrong(doc, f"exclusion {key} is of the kind {data['exclusion_kind']}, asked by {data['asked_by']}")
        if data["exclusion_kind"] == "self" and until is not None and _before(until, _term(doc["at"])):
            self._wrong(doc, f"exclusion {key} at the player's wish lasts until {until}, less than six months")

    def _add_marks(self, key: str, marks: Sequence[str]) -> None:
        for one in marks:
            self._rows.add(MARK, f"{key}/{one}", exclusion=key, salted=one)

    def _marked(self, doc: Row) -> None:
        """Marks are kept of a player who is forgotten while an exclusion of that player counts."""
        row = self._open(doc)
        if row not in list(self._in_force(doc["data"]["player"], doc["at"])):
            self._wrong(doc, f"marks are kept of exclusion {row['number']}, which is over")
        self._add_marks(str(row["number"]), doc["data"]["marks"])

    def _match(self, doc: Row, player: str) -> None:
        key = str(doc["data"]["exclusion"])
        if self._rows.get(EXCLUSION, key)["lifted_at"] is not None:
            self._wrong(doc, f"exclusion {key} matches {player} after it was lifted")
        self._rows.add(
            MATCH, f"{key}/{player}", exclusion=key, player=player, found_at=Near(doc["at"]), cleared_at=None,
            cleared_by=None,
        )  # fmt: skip
        self._of.setdefault(player, []).append(key)

    def _match_cleared(self, doc: Row) -> None:
        key, player = str(doc["data"]["exclusion"]), doc["data"]["player"]
        row = self._rows.get(MATCH, f"{key}/{player}")
        if row["cleared_at"] is not None or doc["role"] != "compliance":
            self._wrong(doc, f"{doc['actor']}, as {doc['role']}, clears that exclusion {key} matches {player}")
        row.update(cleared_at=Near(doc["at"]), cleared_by=doc["actor"])
        self._of[player].remove(key)

    def _lift_asked(self, doc: Row) -> None:
        row = self._open(doc)
        if row["lift_asked_at"] is not None:
            self._wrong(doc, f"the end of exclusion {row['number']} is asked for twice")
        row.update(lift_asked_at=Near(doc["at"]), lift_asked_by=doc["actor"])

    def _lifted(self, doc: Row) -> None:
        row, cause = self._open(doc), doc["data"]["cause"]
        if doc["role"] != "compliance":
            self._wrong(doc, f"exclusion {row['number']} is lifted by {doc['actor']} as {doc['role']}")
        if cause == "revoked":
            asked = row["lift_asked_at"]
            if asked is None or seconds_between(asked, doc["at"]) < _HOURS - TOLERANCE:
                self._wrong(doc, f"exclusion {row['number']} is lifted, 24 hours before which nobody asked for that")
            if row["kind"] == "self" and _before(doc["at"], row["until"] or _term(row["set_at"])):
                self._wrong(doc, f"exclusion {row['number']} is lifted before its term is over")
        elif cause != "wrong_entry":
            self._wrong(doc, f"exclusion {row['number']} is lifted because of {cause}")
        row.update(lifted_at=Near(doc["at"]), lifted_by=doc["actor"], lift_cause=cause)

    def _open(self, doc: Row) -> Row:
        """The exclusion that an event names. Raises NotRecorded."""
        row = self._rows.get(EXCLUSION, str(doc["data"]["exclusion"]))
        if row["player"] != doc["data"].get("player") or row["lifted_at"] is not None:
            self._wrong(doc, f"exclusion {row['number']} is of {row['player']}, lifted at {row['lifted_at']}")
        return row

    def _admit(self, doc: Row) -> None:
        data = doc["data"]
        self._rows.add(
            ADMISSION, f"{data['player']}/{data['day']}", player=data["player"], day=data["day"],
            document=data["document"], age_band=data["age_band"], seen_by=doc["actor"], seen_at=Near(doc["at"]),
        )  # fmt: skip
        if not self._days or self._days[-1][0] != data["day"]:
            self._wrong(doc, f"{data['player']} is admitted for {data['day']}, open is {self._days[-1:] or 'none'}")
        self._admitted[data["player"]] = data["day"], doc["at"]

    def _limit_set(self, doc: Row) -> None:
        data, key = doc["data"], str(doc["data"]["number"])
        self._count(doc, LIMIT, data["number"])
        most = data.get("most")
        counts = self._counting(data["player"], data["limit"], data["span"], doc["at"])
        lower = most is not None and (counts is None or most <= counts)
        earliest = doc["at"] if lower else _text(datetime.fromisoformat(doc["at"]) + _DAY)
        if seconds_between(data["starts_at"], earliest) > TOLERANCE:
            self._wrong(doc, f"limit {key} counts from {data['starts_at']} on, not from {earliest} on")
        self._rows.add(
            LIMIT, key, number=data["number"], player=data["player"], kind=data["limit"], span=data["span"], most=most,
            starts_at=data["starts_at"], set_by=doc["actor"], set_at=Near(doc["at"]),
        )  # fmt: skip
        self._limits.setdefault(data["player"], []).append(key)

    def _logged(self, doc: Row) -> None:
        data = doc["data"]
        self._count(doc, INTERACTION, data["number"])
        self._rows.add(
            INTERACTION, str(data["number"]), number=data["number"], player=data["player"], kind=data["interaction"],
            by=doc["actor"], at=Near(doc["at"]), note=data.get("note_sha256") or _NOTHING,
        )  # fmt: skip

    def _raised(self, doc: Row) -> None:
        """The clock raises it, of a player who sits there and has sat for so long."""
        data = doc["data"]
        self._count(doc, REALITY, data["number"])
        self._rows.add(
            REALITY, str(data["number"]), number=data["number"], player=data["player"], table=data["table"],
            seat=data["seat"], minutes=data["minutes"], raised_at=Near(doc["at"]),
        )  # fmt: skip
        within = _text(datetime.fromisoformat(doc["at"]) - _DAY)
        most = self._minutes(data["player"], within, doc["at"]) + TOLERANCE / 60
        if doc["role"] != "system" or data["minutes"] > most:
            self._wrong(doc, f"{data['player']} has sat for {most:.0f} minutes at most, it says {data['minutes']}")

    def _count(self, doc: Row, model: str, number: int) -> None:
        last = self._numbers.get(model, 0)
        if number != last + 1:
            self._wrong(doc, f"{model} {number} comes after {last}")
        self._numbers[model] = number

    def _day_opened(self, doc: Row) -> None:
        self._days.append((doc["data"]["day"], doc["at"]))

    def _day_closed(self, doc: Row) -> None:
        self._days = [one for one in self._days if one[0] != doc["data"]["day"]]

    # --- Play --------------------------------------------------------------------------------------------------------

    def _plays(self, doc: Row) -> None:
        player = doc["data"]["player"]
        self._require_not_excluded(doc, player)
        self._require_admitted(doc, player)
        if player in self._limits and doc["kind"] in (*_BUYS, "table.sat_down"):
            self._require_within_limits(doc, player)

    def _is_not_excluded(self, doc: Row) -> None:
        self._require_not_excluded(doc, doc["data"]["player"])

    def _called(self, doc: Row) -> None:
        entry = self._rows.seek("tables.WaitingEntry", str(doc["data"]["ticket"]))
        if entry is not None:
            self._require_not_excluded(doc, entry["player"])

    def _corrected(self, doc: Row) -> None:
        right = doc["data"].get("right") or {}
        if right.get("kind") in _BUYS:
            self._require_not_excluded(doc, right["player"])
            self._require_admitted(doc, right["player"])

    def _dealt(self, doc: Row) -> None:
        for seat in doc["data"]["seats"]:
            self._require_not_excluded(doc, seat["player"])

    def _require_not_excluded(self, doc: Row, player: str) -> None:
        for row in self._in_force(player, doc["at"]):
            match = self._rows.seek(MATCH, f"{row['number']}/{player}")
            since = row["set_at"] if match is None else match["found_at"]
            if seconds_between(since, doc["at"]) > LET_PASS:
                problem = f"{doc['kind']} of {player}, who is excluded (exclusion {row['number']})"
                self._rows.find("player_excluded", f"{doc['chain']}#{doc['seq']}", problem)
                return

    def _in_force(self, player: str, at: str) -> Iterator[Row]:
        """Exclusions of a player that count at this moment, and a moment later."""
        for key in self._of.get(player, ()):
            row = self._rows.get(EXCLUSION, key)
            ended = row["kind"] != "self" and row["until"] is not None and _before(row["until"], at, -TOLERANCE)
            if row["lifted_at"] is None and not ended:
                yield row

    def _require_admitted(self, doc: Row, player: str) -> None:
        if not all(points["admission_required"] for points in self._approvals.in_force_about(doc["at"])):
            return
        day, _ = self._admitted.get(player, ("", ""))
        today, opened = self._days[-1] if self._days else ("", doc["at"])
        # What was asked for as the day changed may still be written.
        if (not day or day != today) and not (day and today and seconds_between(opened, doc["at"]) <= LET_PASS):
            problem = f"{doc['kind']} of {player}, who was not admitted on {today or 'any gaming day'}"
            self._rows.find("not_admitted", f"{doc['chain']}#{doc['seq']}", problem)

    def _require_within_limits(self, doc: Row, player: str) -> None:
        """Report what is more than a limit leaves that counts now, and has counted for a moment."""
        buys = doc["kind"] in _BUYS
        for kind, span in sorted({(row["kind"], row["span"]) for row in map(self._limit, self._limits[player])}):
            known = [self._counting(player, kind, span, at) for at in (doc["at"], _moved(doc["at"], -LET_PASS))]
            if None in known or not (buys or kind == "time"):
                continue
            most = max(one for one in known if one is not None)
            since = self._since(span, doc["at"])
            if kind == "time":
                over = self._minutes(player, since, doc["at"]) - most - 2 * TOLERANCE / 60
            else:
                over = self._flow(player, kind, since) + doc["data"]["amount"] - most
            if over > 0:
                problem = f"{doc['kind']} of {player} beyond the limit of {most} ({kind}, {span})"
                self._rows.find("player_limit_exceeded", f"{doc['chain']}#{doc['seq']}", problem)

    def _limit(self, key: str) -> Row:
        return self._rows.get(LIMIT, key)

    def _since(self, span: str, at: str) -> str:
        """When a stretch of time has begun that ends now."""
        if span == "day" and self._days:
            return self._days[-1][1]
        return _text(datetime.fromisoformat(at) - _SPANS.get(span, _DAY) + timedelta(seconds=TOLERANCE))

    def _flow(self, player: str, kind: str, since: str) -> int:
        """What a player has paid in since then, in minor units; of a loss less what was paid out."""
        found = [one for one in self._paid.get(player, ()) if one[0] >= since]
        return sum(amount for _, amount, first in found if kind == "loss" or (amount > 0) == first)

    def _minutes(self, player: str, since: str, at: str) -> float:
        """How long a player has sat since then."""
        begin, end, seconds = datetime.fromisoformat(since), datetime.fromisoformat(at), 0.0
        for row in self._rows.of("tables.Seating").values():
            if row["player"] == player:
                sat = max(datetime.fromisoformat(row["sat_at"]), begin)
                left = datetime.fromisoformat(row["left_at"]) if row["left_at"] is not None else end
                seconds += max((left - sat).total_seconds(), 0.0)
        return seconds / 60

    def follow(self, doc: Row) -> None:
        """Keep what the postings of an event have brought of each player: cash, less what is kept for the player."""
        for posting in doc.get("postings", ()):
            undone = self._posted.get(posting.get("reverses"), {})
            moved = {player: -amount for player, amount in undone.items()} or _paid_in(posting.get("legs", ()))
            if not moved:
                continue
            if "reverses" not in posting:
                self._posted[posting["tx"]] = moved
            for player, amount in moved.items():
                self._paid.setdefault(player, []).append((doc["at"], amount, "reverses" not in posting))

    def _counting(self, player: str, kind: str, span: str, at: str) -> int | None:
        """The limit that counts at this moment; None where there is none."""
        most = None
        for key in self._limits.get(player, ()):
            row = self._rows.get(LIMIT, key)
            if (row["kind"], row["span"]) == (kind, span) and not _before(at, row["starts_at"], 0):
                most = row["most"]
        return most

    def _wrong(self, doc: Row, problem: str) -> None:
        self._rows.find("safeguard_differs", f"{doc['chain']}#{doc['seq']}", problem)


def _paid_in(legs: Sequence[tuple[str, str, int]]) -> dict[str, int]:
    """What a posting has brought of each player whose account it moves, in minor units; nothing where it moved no
    cash."""
    cash, kept = 0, dict[str, int]()
    for code, _, amount in legs:
        number, *places = code.split("/")
        if number.startswith("1"):
            cash += amount
        elif number in (*_OWN, *_KEPT):
            kept[places[-1]] = kept.get(places[-1], 0) + (amount if number in _KEPT else 0)
    return {player: cash + amount for player, amount in kept.items() if cash + amount}


def _moved(at: str, seconds: float) -> str:
    return _text(datetime.fromisoformat(at) + timedelta(seconds=seconds))


def _before(one: str, other: str, seconds: float = TOLERANCE) -> bool:
    """Whether a moment is more than so many seconds before another one."""
    return datetime.fromisoformat(one) + timedelta(seconds=seconds) < datetime.fromisoformat(other)


def _term(at: str) -> str:
    """The same day and time six months later; the last day of a month that is too short for it."""
    moment = datetime.fromisoformat(at)
    years, month = divmod(moment.month - 1 + _LEAST_MONTHS, 12)
    year, month = moment.year + years, month + 1
    return _text(moment.replace(year=year, month=month, day=min(moment.day, monthrange(year, month)[1])))


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
