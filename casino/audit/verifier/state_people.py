"""House, players, staff, terminals and tokens, rebuilt from the events of the house's chain."""

from .state_columns import HOUSE, ID, Model, derived, hashed, proved, transient
from .state_rows import TOLERANCE, Handler, Near, Row, Rows, seconds_between

HOUSES, DATA_KEY, OUTBOX = "houses.House", "houses.DataKey", "houses.OutboxMessage"
STAFF, TERMINAL, TOKEN = "staff.Staff", "staff.Terminal", "staff.TerminalToken"
ROTA = "staff.RotaEntry"
PLAYER, PERSON, PERSON_KEY = "players.Player", "players.Person", "players.PersonKey"
#: The role of what acts for no person: the founding of a house, the worker, the operator of the server.
SYSTEM = "system"

#: What a player does who is known by a reference.
_PLAYS = (
    *("cage.buy_in", "cage.cash_out", "cage.noncash_buy_in", "cage.late_claim_paid"),
    *("table.sat_down", "table.buy_in"),
)
_PERSONAL = transient("personal data, which no event has")
_OFFICE = "staff.hired, staff.roles_changed, staff.deactivated, staff.activated, staff.password_set, staff.unlocked"
MODELS = (
    Model(
        HOUSES,
        "code",
        {
            "id": proved("every event"),
            "code": proved("house.founded"),
            "name": proved("house.founded, house.identity_changed"),
            "currency": proved("house.founded, house.identity_changed"),
            "currency_exponent": proved("house.founded, house.identity_changed"),
            "time_zone": proved("house.founded, house.identity_changed, day.opened"),
            "day_cut_off": proved("house.founded, house.identity_changed, day.opened"),
            "second_factor_required": proved("house.founded"),
            "is_sandbox": proved("house.founded"),
            "stage": proved(
                "house.founded, house.went_live, house.suspended, house.resumed, house.closed, house.sandbox_reset"
            ),
            "opened_at": proved("house.founded"),
        },
    ),
    Model(
        DATA_KEY,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            "number": proved("house.founded, house.seal_key_rotated"),
            "seal_key": proved("house.founded, house.seal_key_rotated"),
            "retired_seal_key": proved("house.seal_key_rotated"),
            "wrapped": transient("other bytes unwrap to nothing: a holder of the seal key alone can make them"),
        },
    ),
    Model(
        STAFF,
        "login",
        {
            "id": ID,
            "house": HOUSE,
            "login": proved("staff.hired"),
            "name": _PERSONAL,
            "roles": proved("staff.hired, staff.roles_changed"),
            "is_active": proved("staff.hired, staff.deactivated, staff.activated, staff.password_set"),
            "player_ref": proved("staff.player_linked"),
            "locked_by_password": proved("staff.password_set, staff.deactivated, staff.activated"),
            "password": hashed("staff.hired, staff.password_set, staff.password_changed"),
            "pin": hashed("staff.pin_set; none after staff.hired, staff.password_set"),
            "hired_by": proved("staff.hired: the actor, where a person hired; empty at the founding"),
            "password_givers": proved(
                "staff.hired, staff.password_set, staff.second_factor_reset: the actor, and who gave them a password"
            ),
            "must_change_password": proved("staff.hired, staff.password_set, staff.password_changed"),
            "totp_sealed": hashed("staff.second_factor_begun, staff.second_factor_reset"),
            "totp_since": proved("staff.second_factor_confirmed, staff.second_factor_reset"),
            "totp_step": transient("counts used codes, which are worth nothing after their half minute"),
            "passkey_count": proved("staff.passkey_registered, staff.passkey_removed, staff.second_factor_reset"),
            "version": proved(
                f"{_OFFICE}, staff.password_changed, staff.pin_set, staff.second_factor_begun, ..._confirmed, "
                "..._reset, staff.passkey_registered, ..._removed"
            ),
            "hired_at": proved("staff.hired"),
            "last_login": transient("a convenience of the office; staff.signed_in records every sign-in"),
        },
    ),
    Model(
        TERMINAL,
        "code",
        {
            "id": ID,
            "house": HOUSE,
            "code": proved("terminal.enrolled"),
            "kind": proved("terminal.enrolled"),
            "location": proved("terminal.enrolled"),
            "key_digest": hashed("terminal.enrolled"),
            "enrolled_at": proved("terminal.enrolled"),
            "revoked_at": proved("terminal.revoked, drawer.retired, table.retired"),
            "version": proved("terminal.enrolled, terminal.revoked, drawer.retired, table.retired"),
        },
    ),
    Model(
        TOKEN,
        "SHA-256 of digest",
        {
            "house": HOUSE,
            "digest": hashed("staff.signed_in, staff.reauthenticated"),
            "token_key": transient("the first characters of the token, which knox looks it up by"),
            "user": proved("staff.signed_in"),
            "terminal": proved("staff.signed_in"),
            "created": proved("staff.signed_in"),
            "pin_failures": transient("counts wrong PINs; each is an event of its own"),
            "last_seen_at": transient("when the token was used last; refusals and writes are events of their own"),
            "expiry": proved(
                "staff.signed_in; the events that end tokens: staff.deactivated, staff.password_set, "
                "staff.password_changed, staff.second_factor_confirmed, ..._reset, staff.passkey_registered, "
                "..._removed, staff.sessions_ended, terminal.revoked"
            ),
        },
        may_go=True,
    ),
    Model(
        ROTA,
        "number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("number", "staff", "kind", "location", "role", "starts_at", "ends_at", "entered_by", "entered_at"),
                proved("rota.entered"),
            ),
            **dict.fromkeys(("withdrawn_by", "withdrawn_at", "reason"), proved("rota.withdrawn")),
        },
    ),
    Model(
        "staff.AnsweredRequest",
        "terminal and key",
        {
            name: transient(
                "a copy of an answer for a request that is repeated; what it says of money, tables and drawers is "
                "proved where that is kept"
            )
            for name in ("id", "house", "terminal", "key", "request_hash", "answer", "status", "version", "at")
        },
    ),
    Model(
        PLAYER,
        "ref",
        {
            "id": ID,
            "house": HOUSE,
            "ref": proved("player.registered"),
            "registered_at": proved("player.registered"),
        },
    ),
    Model(
        PERSON,
        "player and version",
        {
            "id": ID,
            "house": HOUSE,
            "player": proved("player.person_recorded"),
            "version": proved("player.person_recorded"),
            "sealed": hashed("player.person_recorded"),
            "sealed_sha256": proved("player.person_recorded"),
            "at": proved("player.person_recorded"),
        },
    ),
    Model(
        PERSON_KEY,
        "player",
        {
            "house": HOUSE,
            "player": proved("player.person_recorded, player.forgotten"),
            "wrapped": derived("players.Person.sealed: another key does not open what is sealed"),
        },
    ),
)


def related(rows: Rows, one: str, other: str) -> str | None:
    """Which of two people hired the other, or is in the line of those who gave the other a password; None where neither
    is, and for what no event has hired: what set the house up is no person."""
    for login, by in ((one, other), (other, one)):
        row = rows.seek(STAFF, login)
        if row is not None and rows.seek(STAFF, by) is not None and by in (row["hired_by"], *row["password_givers"]):
            return by
    return None


def has_second_factor(person: Row) -> bool:
    """Whether a person has an app for codes, or a passkey."""
    return person["totp_since"] is not None or person["passkey_count"] > 0


class People:
    """Rows of the house itself, its staff, devices and players."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        #: Who is known as a player under a reference, and since when the link, or the person's being active, counts.
        self._linked: dict[str, tuple[str, str]] = {}
        self.handlers: dict[str, Handler] = {
            "house.founded": self._founded,
            "house.seal_key_rotated": self._seal_key_rotated,
            "staff.hired": self._hired,
            "staff.roles_changed": self._roles,
            "staff.deactivated": self._deactivated,
            "staff.activated": self._activated,
            "staff.password_set": self._password_set,
            "staff.password_changed": self._password_changed,
            "staff.pin_set": self._pin_set,
            "staff.second_factor_begun": self._factor_begun,
            "staff.second_factor_confirmed": self._factor_confirmed,
            "staff.second_factor_reset": self._factor_reset,
            "staff.unlocked": self._unlocked,
            "staff.player_linked": self._player_linked,
            **dict.fromkeys(_PLAYS, self._judge_guest),
            "staff.signed_in": self._signed_in,
            "staff.signed_out": self._signed_out,
            "staff.reauthenticated": self._reauthenticated,
            "staff.sessions_ended": self._sessions_ended,
            **dict.fromkeys(("staff.passkey_registered", "staff.passkey_removed"), self._end_elsewhere),
            "rota.entered": self._rota_entered,
            "rota.withdrawn": self._rota_withdrawn,
            "terminal.enrolled": self._enrolled,
            "terminal.revoked": self._revoked,
            **dict.fromkeys(("drawer.retired", "table.retired"), self._place_retired),
            "player.registered": self._registered,
            "player.person_recorded": self._recorded,
            "player.forgotten": self._forgotten,
            "log.epoch_opened": self._epoch,
        }

    def _founded(self, doc: Row) -> None:
        data, code = doc["data"], doc["chain"].partition("/")[2]
        self._rows.add(
            HOUSES, code, id=doc["house"], code=code, name=data["name"], currency=data["currency"],
            currency_exponent=data.get("currency_exponent", 0), time_zone=data.get("time_zone", "UTC"),
            second_factor_required=data.get("second_factor_required", False), opened_at=Near(doc["at"]),
            is_sandbox=data.get("sandbox", False), stage="sandbox" if data.get("sandbox") else "founding",
            day_cut_off="06:00",
        )  # fmt: skip
        self._rows.add(DATA_KEY, "1", number=1, seal_key=data["seal_key"], retired_seal_key="")

    def _seal_key_rotated(self, doc: Row) -> None:
        data = doc["data"]
        for row in self._rows.of(DATA_KEY).values():
            row["seal_key"] = data["new_key"]
        self._rows.add(
            DATA_KEY, str(data["data_key"]), number=data["data_key"], seal_key=data["new_key"],
            retired_seal_key=data["old_key"],
        )  # fmt: skip

    # --- Staff -------------------------------------------------------------------------------------------------------

    def _hired(self, doc: Row) -> None:
        data = doc["data"]
        self._rows.add(
            STAFF, data["login"], login=data["login"], roles=data["roles"], version=1,
            is_active=data.get("active", True), locked_by_password=False, player_ref="", hired_at=Near(doc["at"]),
            hired_by="" if doc["role"] == SYSTEM else doc["actor"], totp_sealed=None,
            totp_since=None, passkey_count=0, **self._given(doc),
        )  # fmt: skip

    def _given(self, doc: Row) -> Row:
        """What a password that the actor gives leaves in the row: its hash, the actor and who had given the actor one,
        and whether it must be changed."""
        actor = doc["actor"]
        if doc["role"] == SYSTEM:
            givers = [actor]
        else:
            givers = list(dict.fromkeys([actor, *self._rows.get(STAFF, actor)["password_givers"]]))
        return {
            "password": doc["data"]["password_sha256"],
            "pin": None,
            "password_givers": givers,
            "must_change_password": doc["role"] != SYSTEM,
        }

    def _next_version(self, login: str, **columns: object) -> None:
        row = self._rows.get(STAFF, login)
        row.update(columns, version=row["version"] + 1)

    def _roles(self, doc: Row) -> None:
        self._next_version(doc["data"]["login"], roles=doc["data"]["after"])

    def _deactivated(self, doc: Row) -> None:
        self._next_version(doc["data"]["login"], is_active=False, locked_by_password=False)
        self._end(doc["at"], user=doc["data"]["login"])

    def _activated(self, doc: Row) -> None:
        login = doc["data"]["login"]
        self._next_version(login, is_active=True, locked_by_password=False)
        if ref := self._rows.get(STAFF, login)["player_ref"]:
            self._linked[ref] = login, doc["at"]

    def _password_set(self, doc: Row) -> None:
        login = doc["data"]["login"]
        locked = {"is_active": False, "locked_by_password": True} if doc["data"].get("locked") else {}
        self._next_version(login, **self._given(doc), **locked)
        self._end(doc["at"], user=login)

    def _password_changed(self, doc: Row) -> None:
        login = doc["actor"]
        self._next_version(login, password=doc["data"]["password_sha256"], must_change_password=False)
        self._end_elsewhere(doc)

    def _pin_set(self, doc: Row) -> None:
        self._next_version(doc["actor"], pin=doc["data"].get("pin_sha256"))

    def _factor_begun(self, doc: Row) -> None:
        self._next_version(doc["actor"], totp_sealed=doc["data"]["sealed_sha256"], totp_since=None)

    def _factor_confirmed(self, doc: Row) -> None:
        self._next_version(doc["actor"], totp_since=Near(doc["at"]))
        self._end_elsewhere(doc)

    def _factor_reset(self, doc: Row) -> None:
        login, actor = doc["data"]["login"], doc["actor"]
        givers = [*self._rows.get(STAFF, login)["password_givers"], actor]
        givers += self._rows.get(STAFF, actor)["password_givers"]
        self._next_version(
            login, totp_sealed=None, totp_since=None, passkey_count=0, password_givers=list(dict.fromkeys(givers))
        )
        self._end(doc["at"], user=login)

    def _unlocked(self, doc: Row) -> None:
        if doc["role"] != SYSTEM:  # the operator of the server opens a lock, and nothing in the row changes
            self._next_version(doc["data"]["login"])

    def _player_linked(self, doc: Row) -> None:
        login, after = doc["data"]["login"], doc["data"].get("after") or ""
        before = self._rows.get(STAFF, login)["player_ref"]
        self._linked.pop(before, None)
        if after:
            if after in self._linked:
                self._rows.find("staff_as_player", f"{STAFF} {login}", f"two people are linked to {after}")
            self._linked[after] = login, doc["at"]
        self._next_version(login, player_ref=after)

    def _judge_guest(self, doc: Row) -> None:
        """Who works here does not play here. What was asked for as the link was made may still be written."""
        ref = doc["data"].get("player")
        login, since = self._linked.get(ref, ("", ""))
        if login and self._rows.get(STAFF, login)["is_active"] and seconds_between(since, doc["at"]) > TOLERANCE:
            problem = f"{ref} is {login}, who works here"
            self._rows.find("staff_as_player", f"{doc['chain']}#{doc['seq']}", problem)

    # --- Tokens and terminals ----------------------------------------------------------------------------------------

    def _signed_in(self, doc: Row) -> None:
        token = doc["data"]["token_sha256"]
        self._rows.add(
            TOKEN, token, digest=token, user=doc["actor"], terminal=doc["terminal"], created=Near(doc["at"]),
            expiry=Near(doc["data"]["expires"]),
        )  # fmt: skip

    def _signed_out(self, doc: Row) -> None:
        self._rows.remove(TOKEN, doc["data"]["token_sha256"])

    def _reauthenticated(self, doc: Row) -> None:
        """The session goes on under the name of its new token."""
        old, new = doc["data"]["token_sha256"], doc["data"]["new_token_sha256"]
        row = self._session(doc, old)
        self._rows.remove(TOKEN, old)
        self._rows.add(TOKEN, new, **(row | {"digest": new}))

    def _sessions_ended(self, doc: Row) -> None:
        if (token := doc["data"].get("token_sha256")) is None:
            self._end_elsewhere(doc)
        else:
            self._session(doc, token)["expiry"] = Near(doc["at"])

    def _session(self, doc: Row, token: str) -> Row:
        """The row of a token of the actor; of nobody else's the actor has none."""
        row = self._rows.get(TOKEN, token)
        if row["user"] != doc["actor"]:
            problem = f"{doc['actor']} has no session {token}"
            self._rows.find("state_event_differs", f"{doc['chain']}#{doc['seq']}", problem)
        return row

    def _end_elsewhere(self, doc: Row) -> None:
        """The actor's tokens end, but the one that the event keeps."""
        self._end(doc["at"], user=doc["actor"], keep=doc["data"]["kept_token_sha256"])

    def _end(self, at: str, *, keep: str = "", **whose: str) -> None:
        """Tokens of a person, or at a terminal, ended at this moment, unless they had ended before."""
        [(column, wanted)] = whose.items()
        for key, row in self._rows.of(TOKEN).items():
            if row[column] == wanted and key != keep and row["expiry"] > at:
                row["expiry"] = Near(at)

    def _epoch(self, doc: Row) -> None:
        """Where the house might not write, everybody was signed out."""
        if doc["data"].get("refused") is not None:
            for key in list(self._rows.of(TOKEN)):
                self._rows.remove(TOKEN, key)

    def _enrolled(self, doc: Row) -> None:
        data = doc["data"]
        self._rows.add(
            TERMINAL, data["terminal"], code=data["terminal"], kind=data["kind"], location=data["location"],
            key_digest=data["key_sha256"], enrolled_at=Near(doc["at"]), revoked_at=None, version=1,
        )  # fmt: skip

    def _place_retired(self, doc: Row) -> None:
        """All terminals of a place are revoked with it."""
        place, _, code = doc["chain"].partition("/")
        there = {"drawer": "cage"}.get(place, place), code
        open_ = [
            key
            for key, row in self._rows.of(TERMINAL).items()
            if (row["kind"], row["location"]) == there and row["revoked_at"] is None
        ]
        named = doc["data"].get("terminals") or []
        if sorted(open_) != sorted(named):
            self._rows.find("state_event_differs", f"{doc['chain']}#{doc['seq']}", f"{named} are revoked, not {open_}")
        for terminal in named:
            self._revoke(doc, terminal)

    def _revoked(self, doc: Row) -> None:
        self._revoke(doc, doc["data"]["terminal"])

    def _revoke(self, doc: Row, code: str) -> None:
        row = self._rows.get(TERMINAL, code)
        row.update(revoked_at=Near(doc["at"]), version=row["version"] + 1)
        self._end(doc["at"], terminal=code)

    # --- The rota ----------------------------------------------------------------------------------------------------

    def _rota_entered(self, doc: Row) -> None:
        data, last = doc["data"], len(self._rows.of(ROTA))
        if data["entry"] != last + 1:
            self._rows.find("serial_gap", f"{ROTA} {data['entry']}", f"it comes after {last}")
        self._rows.add(
            ROTA, str(data["entry"]), number=data["entry"], staff=data["login"], kind=data["kind"],
            location=data["location"], role=data["role"], starts_at=data["starts"], ends_at=data["ends"],
            entered_by=doc["actor"], entered_at=Near(doc["at"]), withdrawn_by=None, withdrawn_at=None, reason="",
        )  # fmt: skip

    def _rota_withdrawn(self, doc: Row) -> None:
        row = self._rows.get(ROTA, str(doc["data"]["entry"]))
        row.update(withdrawn_by=doc["actor"], withdrawn_at=Near(doc["at"]), reason=doc["reason"])

    # --- Players -----------------------------------------------------------------------------------------------------

    def _registered(self, doc: Row) -> None:
        self._judge_guest(doc)
        ref = doc["data"]["player"]
        self._rows.add(PLAYER, ref, ref=ref, registered_at=Near(doc["at"]))

    def _recorded(self, doc: Row) -> None:
        data, player = doc["data"], doc["data"]["player"]
        sealed, version = data["sealed_sha256"], data["version"]
        self._rows.add(
            PERSON, f"{player}/{version}", player=player, version=version, sealed=sealed, sealed_sha256=sealed,
            at=Near(doc["at"]),
        )  # fmt: skip
        if self._rows.seek(PERSON_KEY, player) is None:
            self._rows.add(PERSON_KEY, player, player=player)

    def _forgotten(self, doc: Row) -> None:
        self._rows.remove(PERSON_KEY, doc["data"]["player"])
