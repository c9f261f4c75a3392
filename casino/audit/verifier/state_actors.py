"""Who acted: a role acts because it was given, beside none that it excludes, and its holder was active, at a terminal
that was in use and is where the event is; nobody changes their own entry."""

from .events import OF_PLAYERS
from .state_duties import Duties
from .state_people import PLAYER, STAFF, SYSTEM, TERMINAL
from .state_rows import TOLERANCE, Find, Handler, Row, Rows, seconds_between
from .state_tables import Tables

#: Changes of a person's entry, which another person makes.
_OF_OTHERS = frozenset((
    "staff.hired", "staff.roles_changed", "staff.deactivated", "staff.activated", "staff.password_set",
    "staff.unlocked", "staff.second_factor_reset", "staff.player_linked",
))  # fmt: skip
#: What two people do together; each has one of these roles, and one of them is an auditor.
_OF_TWO = frozenset(("house.seal_key_rotated", "log.key_rotated", "log.put_away", "player.forgotten"))
AUDITOR = "auditor"
_SIGNERS = {AUDITOR, "admin"}
#: Who asks over HTTP for what two people do.
_ASKS = {"player.forgotten": {"compliance"}}
#: Of these the actor is the login that was tried.
_TRIED = ("staff.sign_in_refused", "staff.locked_out")
#: Reads, which may come from any terminal of the house.
_READS = ("data.read", "drawer.x_read")
#: Where the terminal of an event of a chain must be.
_KINDS = {"table": "table", "drawer": "cage", "office": "office"}
#: Events of a place that are written in the office: it may have no terminal.
_IN_OFFICE = frozenset((
    "drawer.set_up", "drawer.retired", "table.set_up", "table.tray_stocked", "table.terms_changed", "table.retired",
    "drawer.template_set", "table.template_set",
))  # fmt: skip


def _where(doc: Row) -> str:
    """The chain of the place at whose terminal an event is written."""
    if doc["kind"] in _IN_OFFICE:
        return "office"
    if doc["kind"] == "table.moved_in":  # written where the player comes from
        return f"table/{doc['data']['from_table']}"
    if doc["kind"] == "drawer.closed" and (to := doc["data"]["reconciliation"].get("handed_to")) is not None:
        return f"drawer/{to}"  # written where it is taken over
    chain: str = doc["chain"]
    return chain


class Actors:
    """Judges actor, role and terminal of every event by the roster as events have left it.

    A request that had begun when a role, a person or a terminal went may still be written up to TOLERANCE seconds
    later.
    """

    def __init__(self, rows: Rows, tables: Tables, duties: Duties, find: Find) -> None:
        self._rows, self._tables, self._duties, self._find = rows, tables, duties, find
        #: When a person lost a role, or (role "") was deactivated.
        self._lost: dict[tuple[str, str], str] = {}
        #: What was judged since the roster changed last: chain, actor, role, terminal.
        self.judged: set[tuple[str, str, str, str]] = set()
        self.handlers: dict[str, Handler] = {
            "staff.roles_changed": self._roles,
            "staff.deactivated": self._deactivated,
            "staff.password_set": self._password_set,
            "staff.hired": self._changed,
            "staff.activated": self._changed,
            "terminal.enrolled": self._changed,
            **dict.fromkeys(("terminal.revoked", "drawer.retired", "table.retired"), self._changed),
        }

    def judge(self, doc: Row, place: str) -> None:
        """Report what is wrong with who acts in an event; call it before the event changes anything."""
        kind: str = doc["kind"]
        if kind.startswith("attempt."):
            return  # who was refused may be anybody, anywhere
        if kind in _OF_OTHERS and doc["role"] != SYSTEM and doc["data"]["login"] == doc["actor"]:
            self._find("actor_changes_own_entry", place, f"{doc['actor']} records {kind} of {doc['actor']}")
        self.judge_at(_where(doc), (doc["actor"], doc["role"], doc["terminal"]), doc["at"], kind, place)
        if kind in _OF_TWO and "retention_run" not in doc["data"]:
            self._judge_two(doc, place)

    def judge_at(self, chain: str, who: tuple[str, str, str], at: str, kind: str, place: str) -> None:
        """The same of the parts of an event; `who` are actor, role and terminal."""
        known, (actor, role, terminal) = (chain, *who), who
        if known in self.judged or role == SYSTEM or kind in _TRIED:
            return
        if role == OF_PLAYERS:
            self._judge_seat(actor, terminal, place)
            return
        lasting = self._judge_person(actor, role, at, place)
        if (row := self._rows.seek(STAFF, actor)) is not None:
            lasting = self._duties.judge(actor, row["roles"], at, kind, place) and lasting
        if terminal:
            lasting = self._judge_terminal(terminal, chain, kind, at, place) and lasting
        if lasting and kind not in _READS:
            self.judged.add(known)

    def _judge_two(self, doc: Row, place: str) -> None:
        """What two people do together: both are of the house and have a role for it, one of them that of an auditor."""
        two = [doc["actor"], doc.get("approver", "")]
        if doc["role"] == SYSTEM or two[0] == two[1] or not two[1]:
            self._find("same_person", place, f"{doc['kind']} takes two people; it names {two[0]} and {two[1]!r}")
            return
        roles = []
        for login in two:
            self._judge_person(login, "", doc["at"], place)
            if login != doc["actor"] and (row := self._rows.seek(STAFF, login)) is not None:
                self._duties.judge(login, row["roles"], doc["at"], doc["kind"], place)
            roles.append(self._roles_at(login, doc["at"]))
        for login, had in zip(two, roles, strict=True):
            if not had & (_SIGNERS | _ASKS.get(doc["kind"], set())):
                self._find("actor_without_role", place, f"{login} signs {doc['kind']} and had the roles {sorted(had)}")
        if not any(AUDITOR in had for had in roles):
            self._find("actor_without_role", place, f"neither {two[0]} nor {two[1]} was an auditor")

    def _roles_at(self, login: str, at: str) -> set[str]:
        """The roles of a person, and those lost just before."""
        row = self._rows.seek(STAFF, login)
        lost = {role for who, role in self._lost if who == login and role and self._only_just((who, role), at)}
        return lost | set(row["roles"] if row else ())

    def _judge_seat(self, player: str, terminal: str, place: str) -> None:
        table, _, seat = terminal.rpartition("/")
        if self._rows.seek(PLAYER, player) is None:
            self._find("actor_unknown", place, f"no event has registered the player {player}")
        elif not seat.isdecimal() or self._tables.player_on(table, int(seat)) != player:
            self._find("actor_not_seated", place, f"{player} does not sit at {terminal}")

    def _judge_person(self, actor: str, role: str, at: str, place: str) -> bool:
        """Whether the answer is good until the roster changes; false for who lost a role just now."""
        row = self._rows.seek(STAFF, actor)
        if row is None:
            self._find("actor_unknown", place, f"no event has hired {actor}")
        elif not row["is_active"]:
            if self._only_just((actor, ""), at):
                return False
            self._find("actor_not_active", place, f"{actor} was not active")
        elif role and role not in row["roles"]:
            if self._only_just((actor, role), at):
                return False
            self._find("actor_without_role", place, f"{actor} acts as {role} and had the roles {row['roles']}")
        return True

    def _only_just(self, lost: tuple[str, str], at: str) -> bool:
        return lost in self._lost and seconds_between(self._lost[lost], at) <= TOLERANCE

    def _judge_terminal(self, code: str, chain: str, kind: str, at: str, place: str) -> bool:
        """Whether the answer is good until the roster changes."""
        row = self._rows.seek(TERMINAL, code)
        if row is None:
            self._find("terminal_unknown", place, f"no event has enrolled {code}")
            return True
        revoked = row["revoked_at"]
        if revoked is not None:
            if seconds_between(revoked, at) <= TOLERANCE:
                return False
            self._find("terminal_revoked", place, f"{code} was revoked at {revoked}")
        where, _, location = chain.partition("/")
        wanted = _KINDS.get(where)
        if wanted and kind not in _READS and (row["kind"], row["location"]) != (wanted, location):
            there = f"{row['kind']} {row['location']}".strip()
            self._find("terminal_elsewhere", place, f"{code} is at {there}, the event at {where} {location}")
        return True

    def _roles(self, doc: Row) -> None:
        self.judged.clear()
        for role in set(doc["data"]["before"]) - set(doc["data"]["after"]):
            self._lost[doc["data"]["login"], role] = doc["at"]

    def _deactivated(self, doc: Row) -> None:
        self.judged.clear()
        self._lost[doc["data"]["login"], ""] = doc["at"]

    def _password_set(self, doc: Row) -> None:
        if doc["data"].get("locked"):
            self._deactivated(doc)

    def _changed(self, doc: Row) -> None:
        self.judged.clear()
