"""A hand is dealt under what was recorded last of its table: game, options, seats, button, client seeds, and its place
in the order; a stack that is brought keeps to the table's limits."""

from typing import Any

from .events import OF_PLAYERS
from .state_rows import Find, Handler, Row, Rows
from .state_tables import TABLE, Tables, table_of


class Deals:
    """Judges deals, stacks and automatic acts by the tables as events have left them."""

    def __init__(self, rows: Rows, tables: Tables, find: Find) -> None:
        self._rows, self._tables, self._find = rows, tables, find
        #: By table: options that each deal settles for itself, and every value that they may have.
        self._varying: dict[str, dict[str, list[Any]]] = {}
        #: The same of terms that wait for the table's next opening.
        self._varying_to_come: dict[str, dict[str, list[Any]]] = {}
        self.handlers: dict[str, Handler] = {
            "table.set_up": self._set_up,
            "table.terms_changed": self._terms,
            "table.opened": self._opened,
            "table.sat_down": self._sat_down,
            "table.moved_in": self._moved_in,
            "hand.dealt": self._dealt,
            "hand.acted": self._acted,
        }

    def _set_up(self, doc: Row) -> None:
        self._varying[table_of(doc)] = doc["data"].get("varying", {})

    def _terms(self, doc: Row) -> None:
        self._varying_to_come[table_of(doc)] = doc["data"].get("varying", {})

    def _opened(self, doc: Row) -> None:
        if (varying := self._varying_to_come.pop(table_of(doc), None)) is not None:
            self._varying[table_of(doc)] = varying

    def _sat_down(self, doc: Row) -> None:
        row, data = self._rows.get(TABLE, table_of(doc)), doc["data"]
        if not row["min_stack"] <= data["amount"] <= row["max_stack"]:
            limits = f"{row['min_stack']} to {row['max_stack']}"
            self._wrong(doc, "table_limits_differ", f"a stack of {data['amount']} was brought, the limits are {limits}")
        if not 1 <= data["seat"] <= row["seats"]:
            self._wrong(doc, "table_limits_differ", f"a player sat down on seat {data['seat']} of {row['seats']}")

    def _moved_in(self, doc: Row) -> None:
        """A stack comes along as it is from a table of the same game and limits; to others it must fit."""
        here, there = (self._rows.get(TABLE, code) for code in (table_of(doc), doc["data"]["from_table"]))
        if any(here[name] != there[name] for name in ("game", "min_stack", "max_stack")):
            self._sat_down(doc)

    def _acted(self, doc: Row) -> None:
        if "automatic" in doc["data"] and self._rows.get(TABLE, table_of(doc))["time_to_act"] is None:
            self._wrong(doc, "table_time_differs", "an act was automatic, and the table has no time to act")
        if doc["role"] == OF_PLAYERS and not self._rows.get(TABLE, table_of(doc))["device_play"]:
            self._wrong(doc, "device_play_differs", "a player acted from a device, and the table does not allow it")

    def _dealt(self, doc: Row) -> None:
        data, row = doc["data"], self._rows.get(TABLE, table_of(doc))
        if row["state"] != "open":
            self._wrong(doc, "table_state_differs", f"a hand was dealt while the table was {row['state']}")
        name = f"{row['code']}-{row['hands_dealt'] + 1:06d}"
        if data["hand"] != name and not data["hand"].startswith(f"{name}x"):  # `x2` behind one that was abandoned
            self._wrong(doc, "table_hands_differ", f"{data['hand']} was dealt, {name} was the next")
        self._judge_options(doc, row)
        self._judge_seats(doc, row)
        if row["client_seeds"] == "all" and data["mode"] == "electronic":
            silent = {str(seat["seat"]) for seat in data["seats"]} - data.get("client_seeds", {}).keys()
            if silent:
                self._wrong(doc, "table_seeds_differ", f"seats {sorted(silent)} gave no seed, the table demands all")

    def _judge_options(self, doc: Row, row: Row) -> None:
        dealt, agreed = doc["data"]["options"], row["options"]
        if doc["data"]["game"] != row["game"]:
            self._wrong(doc, "table_options_differ", f"{doc['data']['game']} was dealt at a table of {row['game']}")
        varying = self._varying.get(row["code"], {})
        for name in sorted(dealt.keys() | agreed.keys()):
            found = dealt.get(name)
            allowed = varying[name] if name in varying else [agreed.get(name)]
            if found not in allowed:
                problem = f"{name} was {found!r}, events before it say {' or '.join(map(repr, allowed))}"
                self._wrong(doc, "table_options_differ", problem)

    def _judge_seats(self, doc: Row, row: Row) -> None:
        table, seats = row["code"], doc["data"]["seats"]
        numbers = [seat["seat"] for seat in seats]
        for seat in seats:
            there = self._tables.player_on(table, seat["seat"])
            if there != seat["player"]:
                self._wrong(doc, "table_seats_differ", f"{seat['player']} was dealt in on seat {seat['seat']}: {there}")
        button = numbers[-1]
        if numbers != sorted(numbers, key=lambda number: (number <= button, number)):
            self._wrong(doc, "table_seats_differ", f"seats {numbers} are not in play order")
        if row["button"] is not None:
            due = min(numbers, key=lambda number: (number < row["button"], number))
            if button != due:
                self._wrong(doc, "table_button_differs", f"seat {button} held the button, seat {due} was next")

    def _wrong(self, doc: Row, code: str, problem: str) -> None:
        self._find(code, f"{doc['chain']}#{doc['seq']}", problem)
