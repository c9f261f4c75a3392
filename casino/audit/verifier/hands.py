"""Hands: rebuilt from their events, against their rows and against what they moved."""

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from .canonical import has_same_text, hash_of, json_text
from .cards import CardPlaces, same_but_hidden, shown_by
from .deals import Deals
from .disputes import Disputes
from .events import OF_PLAYERS, Parts, Row, place_of
from .findings import Report
from .hand import BONUS_STATES, DISPUTES, ENDING, STATES_BEFORE, Hand, entry_of, fees_of
from .later_rulings import RULED_LATER, LaterRulings
from .shelf import Shelf, Shelved

_HIDDEN = "??"
#: A table's session begins.
SESSION = "table.opened"
#: Events that record of a table what its hands are checked against.
OF_TABLES = frozenset({SESSION, "table.closed", "table.set_up", "table.seat_fee_changed"})


Declared = Callable[[Any], dict[str, list[str]] | None]
"""The verbs that name cards by rules of this id, as the engine declares them; None for rules that it does not know."""


class Hands:
    """Hands rebuilt from their events against the rows of the database, and what each moved against its result."""

    KEPT = ("_open", "_closed", "_numbers", "_balances", "_left", "_fee", "_paid", "_held")

    def __init__(
        self, report: Report, rows: Iterator[Row], currency: str, declared: Declared | None = None,
        shelf: Shelf | None = None,
    ) -> None:  # fmt: skip
        """Hands with these rows in a house of this currency; `declared` where there is an engine to ask."""
        shelf = shelf or Shelf()
        self._report, self._rows, self._currency, self._declared = report, rows, currency, declared
        self._open: dict[str, Hand] = {}
        self._closed: dict[str, Hand] = {}
        self._stored: dict[str, Row] = {}
        #: Hands of which a row was read.
        self._with_row: Shelved[bool] = Shelved(shelf, "hands with a row")
        self._numbers: dict[str, int] = {}
        #: Balances of pots, cukasszas and stacks by account code, credit positive, as far as events have recorded.
        self._balances: dict[str, int] = {}
        #: By chain, the series that the session's last settled hand has left.
        self._left: dict[str, Row] = {}
        #: By chain, what a seat costs and for what, and who has paid for an hour of the session.
        self._fee: dict[str, tuple[int, str | None]] = {}
        self._paid: dict[str, set[str]] = {}
        #: By chain, what the last session has held for the next one.
        self._held: dict[str, Row | None] = {}
        self._deals = Deals(report, shelf)
        self._disputes = Disputes(self._wrong, currency)
        self._later = LaterRulings(report, currency, shelf)

    def take(self, doc: Row) -> None:
        """The next event, in the order of its table's chain."""
        kind = doc["kind"]
        if kind == "hand.acted":
            hand = self._open.get(doc["data"]["hand"])
            if hand is not None and hand.state == "playing" and hand.chain == doc["chain"]:
                if "postings" in doc:
                    self._post_of_hand(doc["postings"], hand)
                if doc["role"] == OF_PLAYERS:
                    self._by_player(hand, doc)
                self._lines(hand, doc["data"])
                return
        hand = self._hand_of(doc)
        if "postings" in doc:
            if hand is None:
                self._post(doc["postings"])
            else:
                self._post_of_hand(doc["postings"], hand)
        if hand is not None:
            if "lines" in doc["data"]:
                self._lines(hand, doc["data"])
            if kind != "hand.acted":
                self._after(hand, doc)

    def _by_player(self, hand: Hand, doc: Row) -> None:
        """From a device comes an act of the player's own seat, in an electronic hand; lines after it left nobody a
        choice."""
        name, seats = doc["data"]["hand"], hand.summary["seats"]
        here = [f"p{at}" for at, one in enumerate(seats, 1) if doc["terminal"] == f"{hand.table}/{one['seat']}"]
        if hand.summary["mode"] != "electronic":
            self._wrong(name, f"{doc['actor']} acted from a device in a hand of a real pack")
        if not doc["data"]["lines"] or doc["data"]["lines"][0].partition(" ")[0] not in here:
            self._wrong(name, f"from the device of {doc['terminal']} came the lines {doc['data']['lines']}")

    def under_way(self, name: str, line: int) -> Hand | None:
        """The hand that is played and whose next line is this one, None for any other."""
        hand = self._open.get(name)
        return hand if hand is not None and hand.state == "playing" and len(hand.lines) + 1 == line else None

    def take_lines(self, hand: Hand, recorded: Parts) -> None:
        """The next event that is taken apart, of a hand that is under way."""
        lines, number = recorded[5], recorded[15]
        if '"' in lines:
            hand.lines += lines.split('","')
        else:
            hand.lines.append(lines)
        if number:
            code, commodity, amount, other, another, rest = recorded[9:15]
            hand.posted.append(int(number))
            money, currency = hand.money, self._currency
            if commodity == currency:
                money[code] = money.get(code, 0) + int(amount)
            if another == currency:
                money[other] = money.get(other, 0) + int(rest)

    def _wrong(self, name: str, problem: str, code: str = "hand_differs", at: int | None = None) -> None:
        self._report.find(code, f"hand {name}", problem, at)

    def _hand_of(self, doc: Row) -> Hand | None:
        kind = doc["kind"]
        if kind == "hand.dealt":
            return self._dealt(doc)
        if kind == RULED_LATER:
            self._later.take(doc)
            return None
        if kind[:5] == "hand.":
            return self._next(doc)
        if kind[:5] == "deal.":
            self._deals.take(doc)
        elif kind == SESSION:
            self._opened_table(doc)
        elif kind == "table.closed":
            self._held[doc["chain"]] = doc["data"].get("held")
        elif kind == "table.set_up":
            self._fee[doc["chain"]] = (doc["data"].get("seat_fee", 0), doc["data"].get("seat_fee_per"))
        elif kind == "table.seat_fee_changed":
            self._fee[doc["chain"]] = (doc["data"]["after"], doc["data"]["after_per"])
        return None

    def _dealt(self, doc: Row) -> Hand:
        data = doc["data"]
        name, table = data["hand"], data["table"]
        hand = self._open[name] = Hand(data, doc["chain"], self._report.now)
        self._report.counts["hands"] += 1
        stored = next(self._rows, None)
        if stored is not None:
            self._store(stored)
        number = data["number"]
        last = self._numbers.get(table, 0)
        if number != last + 1:
            self._wrong(name, f"it is number {number} of its table and follows {last}", "hand_missing")
        self._numbers[table] = number
        if f"table/{table}" != doc["chain"] or data["button"] != data["seats"][-1]["seat"]:
            self._wrong(name, "its event is of another table, or names another dealer than its seats")
        there = [self._balances.get(f"2020/{table}/{seat['player']}", 0) for seat in data["seats"]]
        carry = self._balances.get(f"2040/{table}", 0) + self._balances.get(f"2050/{table}", 0)
        stacks = [stack + fee for stack, fee in zip(data["stacks"], fees_of(data), strict=True)]
        if (there, carry) != (stacks, data["carry"]):
            self._wrong(name, f"it was dealt with stacks {stacks} (fees included) and cukassza {data['carry']}; events "
                              f"before it leave {there} and {carry}", "stacks_differ")  # fmt: skip
        self._require_fees(doc)
        self._deals.dealt(doc)
        self._goes_on(doc)
        if self._declared is not None and "card_verbs" in data:
            declared = self._declared(data.get("rules"))
            if data["card_verbs"] != declared:
                problem = f"cards are named by {data['card_verbs']} as its event records; its rules declare {declared}"
                self._wrong(name, problem, "hand_cards_differ")
        return hand

    def _opened_table(self, doc: Row) -> None:
        """A session goes on with what the last one has held, or starts over."""
        chain, resumed = doc["chain"], doc["data"].get("resumed")
        if resumed != self._held.get(chain):
            problem = f"{place_of(doc)} goes on with {resumed}; the last session held {self._held.get(chain)}"
            self._report.find("hand_differs", f"table {chain}", problem)
        if resumed is None:
            self._left[chain] = {}
        self._paid[chain] = set()

    def _require_fees(self, doc: Row) -> None:
        """Everybody who is dealt in pays what the table asks; by the hour, who has paid for one may pay nothing."""
        data, chain = doc["data"], doc["chain"]
        fee, per = self._fee.get(chain, (0, None))
        recorded = data.get("fees", {})
        paid = self._paid.get(chain, set()) if per == "hour" else set()
        for seat, amount in zip(data["seats"], fees_of(data), strict=True):
            if amount != fee and (amount or seat["player"] not in paid):
                problem = f"{seat['player']} pays {amount} for the seat; the table asks {fee} for every {per}"
                self._wrong(data["hand"], problem)
        if recorded and recorded["per"] != per:
            self._wrong(data["hand"], f"its fees are for every {recorded['per']}, the table asks for every {per}")

    def _goes_on(self, doc: Row) -> None:
        """A hand goes on from what the last one of the session left, or says that it starts over: by what, only an
        engine knows."""
        data, chain = doc["data"], doc["chain"]
        left = self._left.get(chain, {})
        if data["series"] != left and data.get("series_begins") is not True:
            problem = f"it was dealt with series {data['series']}; the last settled hand left {left}"
            self._wrong(data["hand"], f"{problem}, and nothing says that it starts over")

    def _next(self, doc: Row) -> Hand | None:
        name, kind = doc["data"]["hand"], doc["kind"]
        hand = self._open.get(name)
        if hand is None:
            self._wrong(name, f"{place_of(doc)} records {kind} of a hand that is not under way")
            return None
        if hand.chain != doc["chain"]:
            self._wrong(name, f"{place_of(doc)} records {kind} of it, its own chain is {hand.chain}")
        allowed = STATES_BEFORE.get(kind)
        if allowed is not None and hand.state not in allowed:
            self._wrong(name, f"{place_of(doc)} records {kind} while it is {hand.state}")
        return hand

    def _post(self, postings: Sequence[Row]) -> None:
        for posting in postings:
            for code, commodity, amount in posting.get("legs", ()):
                if code[:2] == "20" and commodity == self._currency:
                    self._balances[code] = self._balances.get(code, 0) - amount

    def _post_of_hand(self, postings: Sequence[Row], hand: Hand) -> None:
        """What a hand moves counts for the next one when it is over."""
        money, currency = hand.money, self._currency
        for posting in postings:
            if "reverses" in posting:
                hand.mirrored.append(posting["reverses"])
                continue
            hand.posted.append(posting["tx"])
            for code, commodity, amount in posting["legs"]:
                if commodity == currency:
                    money[code] = money.get(code, 0) + amount

    def _after(self, hand: Hand, doc: Row) -> None:
        kind, data = doc["kind"], doc["data"]
        if kind == "hand.cards_entered":
            hand.entered += [entry_of(entry) for entry in data["entries"]]
        elif kind == "hand.entry_corrected":
            hand.entered.append(entry_of(data))
        elif kind == "hand.line_corrected":
            self._corrected(hand, data)
        elif kind == "hand.settled":
            self._settled(hand, data)
            if data["settlement"] is None and doc.get("postings"):
                self._wrong(data["hand"], f"{place_of(doc)} names no settlement, and records postings")
        elif kind in DISPUTES:
            self._disputes.take(hand, doc)
        elif kind in BONUS_STATES:
            self._bonus(hand, kind, data)
        elif kind == "hand.ruled":
            self._ruled(hand, data)
        elif kind == "hand.voided":
            self._voided(hand, data)

    def _lines(self, hand: Hand, data: Row) -> None:
        if data["first_line"] != len(hand.lines) + 1:
            self._wrong(data["hand"], f"line {data['first_line']} follows line {len(hand.lines)}")
        first = len(hand.lines) + 1
        hand.lines += data["lines"]
        if "line_hashes" in data:
            self._hashed(hand, data["hand"], data["line_hashes"], first)
        if "cards_roots" in data:
            before = hand.summary.get("cards_roots", [])
            if data["cards_roots"][: len(before)] != before:
                problem = f"its cards had the roots {before}, later {data['cards_roots']}"
                self._wrong(data["hand"], problem, "deal_differs")
            hand.summary["cards_roots"] = data["cards_roots"]
        if "log" in data:
            self._complete(hand, data)
            hand.summary |= {name: data[name] for name in ENDING if name in data}
            hand.state = "ended"

    def _hashed(self, hand: Hand, name: str, hashes: Row, first: int) -> None:
        """Hashes of lines with face-down cards among those that an event has just added."""
        for number, hashed in hashes.items():
            if not number.isdecimal() or not first <= int(number) <= len(hand.lines):
                self._wrong(name, f"line {number} has a hash, and its event adds lines {first} to {len(hand.lines)}")
            elif _HIDDEN not in hand.lines[int(number) - 1]:
                self._wrong(name, f"line {number} has a hash, and no card of it lies face down")
            hand.line_hashes[number] = hand.hashes[number] = hashed

    def _complete(self, hand: Hand, data: Row) -> None:
        """The log as everybody has seen it at the end continues the lines as everybody saw them, and what was recorded
        of cards beside it, as far as everybody has seen them, comes to light."""
        name, log = data["hand"], data["log"]
        if len(log) != len(hand.lines):
            self._wrong(name, f"its log has {len(log)} lines, its events recorded {len(hand.lines)}")
        for number, (seen, line) in enumerate(zip(hand.lines, log, strict=False), 1):
            if seen == line:
                continue
            place = f"hand {name}, line {number}"
            if not same_but_hidden(seen, line):
                self._report.find("hand_differs", place, f"it was {seen!r}, its log says {line!r}")
            elif str(number) not in hand.hashes:
                problem = f"it was {seen!r} without a hash, its log says {line!r}"
                self._report.find("hand_cards_differ", place, problem)
        self._uncovered(hand, name, log, data.get("line_salts", {}))
        if hand.entered or "entered" in data:
            self._opened(hand, name, log, data.get("entered", []))
            self._agree(hand, name, log, data.get("entered", []))

    def _uncovered(self, hand: Hand, name: str, log: list[str], salts: Row) -> None:
        """Lines that had face-down cards against the hashes that were recorded while these were secret: each that
        everybody has seen by the end is opened by its salt."""
        for number in hand.hashes.keys() | salts.keys():
            line = log[int(number) - 1] if number.isdecimal() and 0 < int(number) <= len(log) else ""
            salt, recorded = salts.get(number), hand.hashes.get(number)
            if salt is None and _HIDDEN in line:
                continue  # still face down
            if salt is None or recorded != hash_of([name, int(number), line, salt]):
                problem = f"it is {line!r} in the log at the end, which is not what was hashed when it was added"
                self._report.find("hand_cards_differ", f"hand {name}, line {number}", problem)

    def _agree(self, hand: Hand, name: str, log: list[str], entered: list[Row]) -> None:
        """Cards that were entered against those that the log names."""
        if hand.card_verbs is None:
            problem = "cards were entered, and the event that dealt it does not say which verbs name cards"
            self._wrong(name, problem, "hand_cards_differ")
            return
        for place, problem in CardPlaces(log, entered, hand.card_verbs).wrong():
            self._report.find("hand_cards_differ", f"hand {name}, {place}", problem)

    def _opened(self, hand: Hand, name: str, log: list[str], opened: list[Row]) -> None:
        """Cards and salts of the entries that everybody has seen against the hashes that were recorded while the cards
        were secret. All those of a seat that has shown its hand are opened."""
        numbers, shown = {entry["number"] for entry in opened}, shown_by(log, hand.card_verbs or {})
        for number, (actor, index, _) in enumerate(hand.entered, 1):
            if actor in shown and number not in numbers:
                problem = f"card {index} of {actor} was entered, and is not opened although {actor} has shown its hand"
                self._report.find("hand_cards_differ", f"hand {name}, entry {number}", problem)
        for entry in opened:
            number = entry["number"]
            recorded = hand.entered[number - 1] if 0 < number <= len(hand.entered) else None
            fields = [name, entry["actor"], entry["index"], entry["card"], entry["salt"]]
            if recorded != (entry["actor"], entry["index"], hash_of(fields)):
                problem = f"{entry['card']} at index {entry['index']} of {entry['actor']} is not what was entered"
                self._report.find("hand_cards_differ", f"hand {name}, entry {number}", problem)

    def _corrected(self, hand: Hand, data: Row) -> None:
        number = data["line"]
        if not 1 <= number <= len(hand.lines) or hand.lines[number - 1] != data["before"]:
            place = f"hand {data['hand']}, line {number}"
            self._report.find("hand_differs", place, f"a correction found {data['before']!r} there")
        else:
            hand.lines[number - 1] = data["after"]
        hand.hashes.pop(str(number), None)
        if "line_hash" in data:
            hand.hashes[str(number)] = data["line_hash"]

    def _settled(self, hand: Hand, data: Row) -> None:
        name, result, table = data["hand"], data["result"], hand.table
        for key in ("result", "digest"):
            if data[key] != hand.summary.get(key):
                self._wrong(name, f"{key} is {hand.summary.get(key)} at its end and {data[key]} when it was settled")
        fees = fees_of(hand.summary)
        expected = {
            **{
                f"2020/{table}/{seat['player']}": fee - net
                for seat, net, fee in zip(hand.summary["seats"], result["net"], fees, strict=True)
            },
            f"4020/{table}": -sum(fees),
            f"2030/{table}": 0,
            **self._carried(hand, hand.summary["carry"] - result["carry_out"]),
            f"4010/{table}": -result["tax"],
            f"5100/{table}": sum(result["bonus"]),
        }
        self._money(hand, name, expected)
        if hand.summary.get("fees", {}).get("per") == "hour":
            players = (seat["player"] for seat, fee in zip(hand.summary["seats"], fees, strict=True) if fee)
            self._paid.setdefault(hand.chain, set()).update(players)
        self._left[hand.chain] = result.get("series", {})
        self._close(hand, name, "settled", data["settlement"])

    @staticmethod
    def _carried(hand: Hand, less: int) -> dict[str, int]:
        """What a hand takes from cukassza and bank of its table, by so much less than it leaves there: which of it
        lies where, only an engine knows."""
        bank = f"2050/{hand.table}"
        moved = hand.money.get(bank, 0)
        return {f"2040/{hand.table}": less - moved, **({bank: moved} if moved else {})}

    def _money(self, hand: Hand, name: str, expected: dict[str, int]) -> None:
        for code in expected | hand.money:
            if code[0] != "9" and hand.money.get(code, 0) != expected.get(code, 0):
                problem = (
                    f"{code} moved by {hand.money.get(code, 0)}, debit positive; it should by {expected.get(code, 0)}"
                )
                self._wrong(name, problem, "hand_money_differs")

    def _bonus(self, hand: Hand, kind: str, data: Row) -> None:
        """A bonus is held, confirmed or refused as it is in the hand's result."""
        hand.state = BONUS_STATES[kind]
        due = sum((hand.summary.get("result") or {}).get("bonus", ()))
        if data["bonus"] != due:
            self._wrong(data["hand"], f"{kind} names a bonus of {data['bonus']}, its result has {due}")
        if kind == "hand.bonus_refused":
            self._disputes.frozen(hand, data)

    def _ruled(self, hand: Hand, data: Row) -> None:
        name, table, seats = data["hand"], hand.table, hand.summary["seats"]
        ruling = {key: data[key] for key in ("awards", "pot", "readings", "tax")}
        hand.summary["ruling"] = ruling
        if sum(ruling["awards"].values()) + ruling["tax"] != ruling["pot"]:
            self._wrong(name, f"awards and tax of {ruling} do not make its pot")
        lost = sum(hand.money.get(f"2020/{table}/{seat['player']}", 0) for seat in seats)
        whole = {f"2030/{table}": 0, f"2070/{table}": 0, **self._carried(hand, hand.summary["carry"]),
                 f"4010/{table}": -ruling["tax"]}  # fmt: skip
        moved = {code: hand.money.get(code, 0) for code in whole}
        if moved != whole or lost != ruling["tax"] - hand.summary["carry"]:
            self._wrong(
                name, f"its seats lost {lost}, it moved {moved}; the ruling says {ruling}", "hand_money_differs"
            )
        self._close(hand, name, "ruled", data.get("settlement"))

    def _voided(self, hand: Hand, data: Row) -> None:
        name = data["hand"]
        if sorted(hand.posted) != sorted(hand.mirrored):
            problem = f"it is void; it posted {hand.posted} and reversed {hand.mirrored}"
            self._wrong(name, problem, "hand_money_differs")
        if data["log_complete"] != ("digest" in hand.summary):
            self._wrong(name, f"its void says that its log was complete: {data['log_complete']}, which is not so")
        if data.get("disputed", hand.state == "disputed") != (hand.state == "disputed"):
            self._wrong(name, f"its void says that it was disputed: {data['disputed']}, it was {hand.state}")
        hand.money.clear()
        self._close(hand, name, "voided", None)

    def _close(self, hand: Hand, name: str, state: str, settlement: int | None) -> None:
        hand.state = state
        if settlement is not None:
            hand.summary["settlement"] = settlement
            if settlement not in hand.posted:
                self._wrong(name, f"it names transaction {settlement} as its settlement and posted {hand.posted}")
        for code, amount in hand.money.items():
            if code[:2] == "20":
                self._balances[code] = self._balances.get(code, 0) - amount
        self._closed[name] = self._open.pop(name)
        self._later.over(name, hand)

    def advance(self) -> None:
        """Compare the hands that are over with their rows, as far as both are there."""
        self._later.shelve()
        self._deals.shelve()
        self._with_row.shelve()
        if self._closed:
            for name in [name for name in self._closed if name in self._stored]:
                self._compare(name, self._closed.pop(name), self._stored.pop(name))

    @property
    def parts(self) -> tuple[object, ...]:
        """What has to be kept to go on from here later."""
        return self, self._deals, self._disputes, self._later

    @property
    def unfinished(self) -> tuple[dict[str, int], list[str]]:
        """Where somebody goes on to read rows: by table the number of its last hand, and the names of hands up to there
        that are to be read again, since they were not over."""
        return dict(self._numbers), sorted(self._open | self._closed)

    def go_on(self) -> None:
        """Rows are read from there on, and those of hands that were not over once more."""
        self._stored.clear()
        for name in self._open | self._closed:
            self._with_row.pop(name, None)

    def finish(self) -> None:
        """No more events come: every hand has its row and every row its hand."""
        for stored in self._rows:
            self._store(stored)
        for name, hand in (self._closed | self._open).items():
            row = self._stored.pop(name, None)
            if row is None:
                self._wrong(name, "events record it, and it has no row", "hand_missing", hand.at)
            else:
                self._compare(name, hand, row)
        for name in self._stored:
            self._wrong(name, "it has a row, and no event records it", "hand_unrecorded")

    def _store(self, row: Row) -> None:
        """Keep a row until its hand is over; a second one of it is wrong."""
        if row["hand"] in self._with_row:
            self._wrong(row["hand"], "it has two rows", "hand_row_differs")
        self._with_row[row["hand"]] = True
        self._stored[row["hand"]] = row

    def _compare(self, name: str, hand: Hand, row: Row) -> None:
        recorded = hand.summary | {"log": hand.lines, "state": hand.state}
        if hand.line_hashes:
            recorded["line_hashes"] = hand.line_hashes
        if recorded == row and has_same_text(recorded, row):
            return
        for key in sorted(recorded.keys() | row.keys()):
            if key in recorded and key in row and json_text(recorded[key]) == json_text(row[key]):
                continue
            if key == "log":
                self._compare_logs(name, hand, recorded["log"], row.get("log") or [])
            else:
                problem = f"{key} is {recorded.get(key)} as events record, {row.get(key)} in its row"
                self._wrong(name, problem, "hand_row_differs", hand.at)

    def _compare_logs(self, name: str, hand: Hand, recorded: list[str], stored: list[str]) -> None:
        for number, (seen, line) in enumerate(zip_longest(recorded, stored, fillvalue=""), 1):
            if seen != line:
                problem = f"it is {seen!r} as events record, {line!r} as stored"
                self._report.find("hand_row_differs", f"hand {name}, line {number}", problem, hand.at)
                return
