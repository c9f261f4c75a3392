"""Tables, their sessions, seats and keys of seats, rebuilt from the events of the tables' chains."""

from .state_columns import HOUSE, ID, Model, hashed, proved
from .state_rows import Handler, Near, Row, Rows

TABLE, TERMS, SESSION, SEATING, SEAT_KEY, SEAT_DEVICE, TURN = (
    *("tables.Table", "tables.TableTerms", "tables.TableSession"),
    *("tables.Seating", "tables.SeatKey", "tables.SeatDevice", "tables.DealerTurn"),
)
#: Those that can change.
_CHANGING = ("options", "seats", "min_stack", "max_stack", "carryover_on_close")
_SITTING_DOWN = "table.sat_down, table.buy_in, table.seat_changed, table.moved_in"
_TURNS = "dealer.took_over, dealer.left, table.closed"
_STATE = "table.opened, table.closed, table.retired, deal.*, hand.*"

MODELS = (
    Model(
        TABLE,
        "code",
        {
            "id": ID,
            "house": HOUSE,
            "code": proved("table.set_up"),
            "game": proved("table.set_up"),
            "area": proved("table.set_up"),
            **{name: proved("table.set_up, table.terms_changed, table.opened") for name in _CHANGING},
            "terms_to_come": proved("table.terms_changed, table.opened"),
            "client_seeds": proved("table.set_up, table.client_seeds_changed"),
            "time_to_act": proved("table.set_up, table.time_to_act_changed"),
            "time_to_act_since": proved("table.time_to_act_changed"),
            "device_play": proved("table.device_play_changed"),
            "seat_fee": proved("table.set_up, table.seat_fee_changed"),
            "seat_fee_per": proved("table.set_up, table.seat_fee_changed"),
            "state": proved(_STATE),
            "version": proved("every event of the table's chain that has `table_version`"),
            "button": proved("table.opened, hand.dealt, the event that ends a hand, hand.voided"),
            "hands_dealt": proved("hand.dealt"),
            "last_record_hash": proved("the event that ends a hand"),
            "prepared_deal": proved("deal.committed, deal.abandoned, hand.dealt"),
            "abandoned_deals": proved("deal.abandoned, hand.dealt"),
            "dealer": proved(_TURNS),
        },
    ),
    Model(
        SESSION,
        "table and number",
        {
            "id": ID,
            "house": HOUSE,
            "table": proved("table.opened"),
            "number": proved("table.opened"),
            "opened_at": proved("table.opened"),
            "closed_at": proved("table.closed"),
            "held": proved("table.closed"),
            "opener": proved("table.opened"),
            "resumes": proved("table.opened"),
        },
    ),
    Model(
        SEATING,
        "session, seat, and how many players had the seat in that session",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("session", "seat", "player", "sat_at"), proved(_SITTING_DOWN)),
            "left_at": proved("table.left, table.seat_changed, table.moved_out, table.closed"),
        },
    ),
    Model(
        SEAT_KEY,
        "SHA-256 of digest",
        {
            "id": ID,
            "house": HOUSE,
            "seating": proved("seat.key_issued"),
            "digest": hashed("seat.key_issued"),
            "issued_at": proved("seat.key_issued"),
            "replaced_at": proved("seat.key_issued of a later key, seat.key_revoked"),
        },
    ),
    Model(
        SEAT_DEVICE,
        "seating and mark",
        {"id": ID, "house": HOUSE, **dict.fromkeys(("seating", "mark", "named_at"), proved("seat.device_named"))},
    ),
    Model(
        TERMS,
        "table and number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("table", "number", "terms", "set_at", "set_by"), proved("table.set_up, table.terms_changed")
            ),
            "begun_at": proved("table.set_up, table.opened"),
            "ended_at": proved("table.opened, table.terms_changed"),
        },
    ),
    Model(
        TURN,
        "table and number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("table", "number", "dealer", "began_at"), proved("dealer.took_over")),
            "first_hand": proved("dealer.took_over: one more than hand.dealt of the table before it"),
            **dict.fromkeys(("ended_at", "ended_with"), proved(_TURNS)),
            "last_hand": proved(f"{_TURNS}: as many as hand.dealt of the table before it"),
        },
    ),
)


def table_of(doc: Row) -> str:
    """Code of the table whose chain an event is in."""
    code: str = doc["chain"].partition("/")[2]
    return code


class Tables:
    """Rows of tables, and who sits where."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        #: Rows of tables by their chains.
        self.by_chain: dict[str, Row] = {}
        #: By table: the key of its newest session, and the keys of the seatings in it by seat.
        self._session: dict[str, str] = {}
        self.seated: dict[str, dict[int, str]] = {}
        self._sat: dict[tuple[str, int], int] = {}
        #: By seating: its key that is good.
        self._keys: dict[str, str] = {}
        #: Who came to a table and has not been recorded yet as gone from the other one: by that table and the player,
        #: the table, seat and amount, and the place of the event.
        self._moving: dict[tuple[str, str], tuple[str, int, int, str]] = {}
        #: By table: the key of the turn of the dealer who has it, and how many turns there were.
        self._turn: dict[str, str] = {}
        self._turns: dict[str, int] = {}
        #: By table: how many versions of its terms there are, and the number of the one in force.
        self._terms_of: dict[str, int] = {}
        self._in_force: dict[str, int] = {}
        #: By table: the seats of the hand that was dealt last.
        self.dealt: dict[str, list[Row]] = {}
        self.handlers: dict[str, Handler] = {
            "table.set_up": self._set_up,
            "table.terms_changed": self._terms,
            "table.retired": self._retired,
            "table.client_seeds_changed": self._client_seeds,
            "table.time_to_act_changed": self._time_to_act,
            "table.device_play_changed": self._device_play,
            "table.seat_fee_changed": self._seat_fee,
            "table.opened": self._opened,
            "table.closed": self._closed,
            "dealer.took_over": self._took_over,
            "dealer.left": self._dealer_left,
            "table.sat_down": self._sat_down,
            "table.buy_in": self._bought,
            "table.left": self._left,
            "table.seat_changed": self._seat_changed,
            "table.moved_in": self._moved_in,
            "table.moved_out": self._moved_out,
            "seat.key_issued": self._key_issued,
            "seat.device_named": self._device_named,
            "seat.key_revoked": self._key_revoked,
            "deal.committed": self._committed,
            "deal.abandoned": self._abandoned,
            "hand.dealt": self._dealt,
            "hand.acted": self._ended,
            "hand.settled": self._open_again,
            "hand.ruled": self._open_again,
            "hand.disputed": self._disputed,
            "hand.dispute_raised": self._disputed,
            "hand.bonus_refused": self._disputed,
            "hand.dispute_withdrawn": self._resumed,
            "hand.voided": self._voided,
        }

    def advance(self, table: str, version: int) -> None:
        """An event records the table's next version. Raises NotRecorded."""
        row = self._rows.get(TABLE, table)
        if version != row["version"] + 1:
            problem = f"an event records version {version}, it was at {row['version']}"
            self._rows.find("table_version_differs", f"{TABLE} {table}", problem)
        row["version"] = version

    def session(self, table: str) -> str | None:
        """Key of the table's newest session, None before the first."""
        return self._session.get(table)

    def record_hash(self, table: str) -> str:
        """Hash of the record of the last hand of the table that ended before the one that was dealt last."""
        record: str = self._rows.get(TABLE, table)["last_record_hash"]
        return record

    # --- Terms -------------------------------------------------------------------------------------------------------

    def _set_up(self, doc: Row) -> None:
        data, table = doc["data"], table_of(doc)
        self._rows.add(
            TABLE, table, code=table, game=data["game"], area=data.get("area", ""),
            **{name: data[name] for name in _CHANGING}, client_seeds=data.get("client_seeds", "optional"),
            time_to_act=data.get("time_to_act"), terms_to_come=None, time_to_act_since=None, device_play=False,
            seat_fee=data.get("seat_fee", 0), seat_fee_per=data.get("seat_fee_per", "deal"), state="closed", version=1,
            button=None, hands_dealt=0, last_record_hash="", prepared_deal="", abandoned_deals=0, dealer=None,
        )  # fmt: skip
        self.by_chain[doc["chain"]] = self._rows.get(TABLE, table)
        self._agreed(doc, {name: data[name] for name in _CHANGING}, begun_at=Near(doc["at"]))

    def _table(self, doc: Row) -> Row:
        return self._rows.get(TABLE, table_of(doc))

    def _terms(self, doc: Row) -> None:
        row, data = self._table(doc), doc["data"]
        now = {name: row[name] for name in _CHANGING}
        if data["before"] != now:
            place = f"{doc['chain']}#{doc['seq']}"
            self._rows.find("table_terms_differ", place, f"it names {data['before']} as in force, events say {now}")
        wanted = {name: data["after"][name] for name in _CHANGING}
        if row["terms_to_come"] is not None:
            self._rows.change(TERMS, self._newest_terms(table_of(doc)), ended_at=Near(doc["at"]))
        row["terms_to_come"] = None if wanted == now else wanted
        if wanted != now:
            self._agreed(doc, wanted, begun_at=None)

    def _newest_terms(self, table: str) -> str:
        return f"{table}/{self._terms_of[table]}"

    def _agreed(self, doc: Row, terms: Row, begun_at: Near | None) -> None:
        """The next version of a table's terms."""
        table = table_of(doc)
        number = self._terms_of[table] = self._terms_of.get(table, 0) + 1
        self._rows.add(
            TERMS, f"{table}/{number}", table=table, number=number, terms=terms, set_at=Near(doc["at"]),
            set_by=doc["actor"], begun_at=begun_at, ended_at=None,
        )  # fmt: skip
        if begun_at is not None:
            self._in_force[table] = number

    def _retired(self, doc: Row) -> None:
        self._table(doc)["state"] = "retired"

    def _client_seeds(self, doc: Row) -> None:
        self._table(doc)["client_seeds"] = doc["data"]["after"]

    def _time_to_act(self, doc: Row) -> None:
        self._table(doc).update(time_to_act=doc["data"].get("after"), time_to_act_since=Near(doc["at"]))

    def _device_play(self, doc: Row) -> None:
        self._table(doc)["device_play"] = doc["data"]["after"]

    def _seat_fee(self, doc: Row) -> None:
        self._table(doc).update(seat_fee=doc["data"]["after"], seat_fee_per=doc["data"]["after_per"])

    # --- Sessions and seats ------------------------------------------------------------------------------------------

    def _opened(self, doc: Row) -> None:
        table, number, row = table_of(doc), doc["data"]["session"], self._table(doc)
        if row["terms_to_come"] is not None:
            self._rows.change(TERMS, f"{table}/{self._in_force[table]}", ended_at=Near(doc["at"]))
            self._rows.change(TERMS, self._newest_terms(table), begun_at=Near(doc["at"]))
            self._in_force[table] = self._terms_of[table]
        row.update(row["terms_to_come"] or {}, state="open", button=None, terms_to_come=None)
        before = self._session.get(table)
        self._session[table] = key = f"{table}/{number}"
        self.seated[table] = {}
        self._rows.add(
            SESSION, key, table=table, number=number, opened_at=Near(doc["at"]), closed_at=None, held={},
            opener=doc["data"].get("opener"),
            resumes=before if doc["data"].get("resumed") else None,
        )  # fmt: skip

    def _closed(self, doc: Row) -> None:
        table = table_of(doc)
        self._end_turn(doc, "closed")
        self._table(doc).update(state="closed", dealer=None)
        held = doc["data"].get("held") or {}
        self._rows.change(SESSION, self._session.get(table, table), closed_at=Near(doc["at"]), held=held)
        for seating in self.seated.pop(table, {}).values():
            self._rows.change(SEATING, seating, left_at=Near(doc["at"]))

    # --- Dealers -----------------------------------------------------------------------------------------------------

    def _took_over(self, doc: Row) -> None:
        data, table, row = doc["data"], table_of(doc), self._table(doc)
        self._judge_relief(doc, row["dealer"])
        self._end_turn(doc, data.get("ended_with", ""))
        count = self._turns[table] = self._turns.get(table, 0) + 1
        self._turn[table] = f"{table}/{count}"
        self._rows.add(
            TURN, f"{table}/{count}", table=table, number=count, dealer=data["dealer"], began_at=Near(doc["at"]),
            first_hand=row["hands_dealt"] + 1, ended_at=None, last_hand=None, ended_with="",
        )  # fmt: skip
        row["dealer"] = data["dealer"]

    def _dealer_left(self, doc: Row) -> None:
        data, row = doc["data"], self._table(doc)
        if (data["dealer"], data["turn"]) != (row["dealer"], self._turns.get(table_of(doc))):
            self._wrong_dealer(doc, f"{data['dealer']} left in turn {data['turn']}, the table's was {row['dealer']}")
        self._end_turn(doc, data["ended_with"])
        row["dealer"] = None

    def _judge_relief(self, doc: Row, before: str | None) -> None:
        """Both dealers are who they are said to be, and the new one deals nowhere else."""
        data, table = doc["data"], table_of(doc)
        if data.get("relieved") != before:
            self._wrong_dealer(doc, f"{data.get('relieved')} was relieved, the table's dealer was {before}")
        if data["dealer"] != doc["actor"]:
            self._wrong_dealer(doc, f"{doc['actor']} records that {data['dealer']} took the table over")
        if data["turn"] != self._turns.get(table, 0) + 1:
            self._wrong_dealer(doc, f"turn {data['turn']} began after {self._turns.get(table, 0)}")
        for other, row in self._rows.of(TABLE).items():
            if row["dealer"] == data["dealer"]:
                self._wrong_dealer(doc, f"{data['dealer']} was the dealer of table {other}")

    def _end_turn(self, doc: Row, ended_with: str) -> None:
        """The turn of the table's dealer ends, if it has one."""
        if (turn := self._turn.pop(table_of(doc), None)) is not None:
            hands = self._table(doc)["hands_dealt"]
            self._rows.change(TURN, turn, ended_at=Near(doc["at"]), last_hand=hands, ended_with=ended_with)

    def _wrong_dealer(self, doc: Row, problem: str) -> None:
        self._rows.find("table_dealer_differs", f"{doc['chain']}#{doc['seq']}", problem)

    # --- Seats -------------------------------------------------------------------------------------------------------

    def _sat_down(self, doc: Row) -> None:
        self._sit(doc, doc["data"]["seat"])

    def _sit(self, doc: Row, seat: int) -> None:
        """The event's player takes this seat of its table."""
        table = table_of(doc)
        session = self._session.get(table, table)
        count = self._sat[session, seat] = self._sat.get((session, seat), 0) + 1
        key = f"{session}/{seat}/{count}"
        self.seated.setdefault(table, {})[seat] = key
        self._rows.add(
            SEATING, key, session=session, seat=seat, player=doc["data"]["player"], sat_at=Near(doc["at"]),
            left_at=None,
        )  # fmt: skip

    def _seat_changed(self, doc: Row) -> None:
        table, data = table_of(doc), doc["data"]
        there, free = self.player_on(table, data["seat"]), self.player_on(table, data["to_seat"]) is None
        if there != data["player"] or not free or not 1 <= data["to_seat"] <= self._table(doc)["seats"]:
            self._wrong_move(doc, f"{data['player']} went from seat {data['seat']}, {there}'s, to {data['to_seat']}")
        self._left(doc)
        self._sit(doc, data["to_seat"])

    def _moved_in(self, doc: Row) -> None:
        """The other half of a move is the next event of the other table, recorded at once."""
        data, place = doc["data"], f"{doc['chain']}#{doc['seq']}"
        if self.player_on(table_of(doc), data["seat"]) is not None:
            self._wrong_move(doc, f"{data['player']} came to seat {data['seat']}, which was taken")
        self._moving[data["from_table"], data["player"]] = (table_of(doc), data["seat"], data["amount"], place)
        self._sit(doc, data["seat"])

    def _moved_out(self, doc: Row) -> None:
        data, table = doc["data"], table_of(doc)
        there = self.player_on(table, data["seat"])
        come = self._moving.pop((table, data["player"]), None)
        if there != data["player"] or come is None or come[:3] != (data["to_table"], data["to_seat"], data["amount"]):
            came = f"came to {come[:3]}" if come else "came nowhere"
            self._wrong_move(doc, f"{data['player']} left the seat of {there} with {data['amount']} and {came}")
        self._left(doc)

    def finish(self) -> None:
        """No more events come: who came to a table has left another one."""
        for (table, player), (_, _, _, place) in self._moving.items():
            self._rows.find("table_move_differs", place, f"{player} came from table {table} and never left it")

    def _wrong_move(self, doc: Row, problem: str) -> None:
        self._rows.find("table_move_differs", f"{doc['chain']}#{doc['seq']}", problem)

    def _bought(self, doc: Row) -> None:
        """Cash for chips at the table: a person who buys them on an empty seat sits down with it."""
        if doc["data"]["seat"] not in self.seated.get(table_of(doc), {}):
            self._sat_down(doc)

    def _seating(self, doc: Row) -> str:
        """The key of who sits on the event's seat."""
        table, seat = table_of(doc), doc["data"]["seat"]
        return self.seated.get(table, {}).get(seat, f"{table}, seat {seat}")

    def player_on(self, table: str, seat: int) -> str | None:
        """Reference of the player on a seat, None for an empty one."""
        row = self._rows.seek(SEATING, self.seated.get(table, {}).get(seat, ""))
        return row["player"] if row else None

    def _left(self, doc: Row) -> None:
        self._rows.change(SEATING, self._seating(doc), left_at=Near(doc["at"]))
        self.seated[table_of(doc)].pop(doc["data"]["seat"])

    def _key_issued(self, doc: Row) -> None:
        seating, key = self._seating(doc), doc["data"]["key_sha256"]
        self._replace(seating, doc["at"])
        self._keys[seating] = key
        self._rows.add(SEAT_KEY, key, seating=seating, digest=key, issued_at=Near(doc["at"]), replaced_at=None)

    def _device_named(self, doc: Row) -> None:
        seating, mark = self._seating(doc), doc["data"]["device"]
        sits = self.player_on(table_of(doc), doc["data"]["seat"])
        if not doc["data"]["player"] == doc["actor"] == sits:
            problem = f"{doc['actor']} names a device of {doc['data']['player']} on a seat of {sits}"
            self._rows.find("state_event_differs", f"{doc['chain']}#{doc['seq']}", problem)
        self._rows.add(SEAT_DEVICE, f"{seating}/{mark}", seating=seating, mark=mark, named_at=Near(doc["at"]))

    def _key_revoked(self, doc: Row) -> None:
        self._replace(self._seating(doc), doc["at"])

    def _replace(self, seating: str, at: str) -> None:
        if (key := self._keys.pop(seating, None)) is not None:
            self._rows.change(SEAT_KEY, key, replaced_at=Near(at))

    # --- Deals and hands ---------------------------------------------------------------------------------------------

    def _committed(self, doc: Row) -> None:
        self._table(doc)["prepared_deal"] = doc["data"]["hand"]

    def _abandoned(self, doc: Row) -> None:
        row = self._table(doc)
        row.update(prepared_deal="", abandoned_deals=row["abandoned_deals"] + 1)

    def _dealt(self, doc: Row) -> None:
        data = doc["data"]
        self._judge_dealer(doc)
        self.dealt[table_of(doc)] = data["seats"]
        self._table(doc).update(
            state="playing", button=data["seats"][0]["seat"], hands_dealt=data["number"], abandoned_deals=0,
            prepared_deal="",
        )  # fmt: skip
        self._ended(doc)

    def _judge_dealer(self, doc: Row) -> None:
        """A dealer deals at the table that this dealer has taken over, or where nobody has."""
        dealer = self._table(doc)["dealer"]
        if doc["role"] == "dealer" and dealer not in (None, doc["actor"]):
            self._wrong_dealer(doc, f"{doc['actor']} dealt {doc['data']['hand']}, the table's dealer was {dealer}")

    def _ended(self, doc: Row) -> None:
        """A write to a hand; the one that completes its log names who deals next, and the hash of the record."""
        data = doc["data"]
        if "digest" in data:
            self._table(doc).update(state="settling", button=data["next_button"], last_record_hash=data["record_hash"])

    def _open_again(self, doc: Row) -> None:
        self._table(doc)["state"] = "open"

    def _disputed(self, doc: Row) -> None:
        self._table(doc)["state"] = "disputed"

    def _resumed(self, doc: Row) -> None:
        """Its dispute was withdrawn: the hand is played on, or waits to be settled."""
        self._table(doc)["state"] = "playing" if doc["data"]["after"] == "playing" else "settling"

    def _voided(self, doc: Row) -> None:
        seats = self.dealt[table_of(doc)]
        self._table(doc).update(state="open", button=seats[-1]["seat"])
