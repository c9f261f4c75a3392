"""What stands beside a hand's inputs, log and result: its session and times, its deal and seeds, its cards as they were
entered and corrected, exceptions, and the message that has it settled. Inputs, log and result are compared by `hands`.
"""

from collections.abc import Sequence
from dataclasses import replace

from .shelf import Shelved
from .state_columns import HOUSE, ID, Model, derived, proved, transient
from .state_people import OUTBOX
from .state_rows import Handler, Near, Row, Rows
from .state_tables import Tables, table_of

HAND, LINE, DEAL, SEED = "hands.Hand", "hands.HandLine", "hands.Deal", "hands.ClientSeed"
SEED_COMMITMENT = "hands.SeedCommitment"
LATER_RULING = "hands.LaterRuling"
ENTRY, CORRECTION, EXCEPTION = "hands.CardEntry", "hands.Correction", "hands.CardException"
#: The tasks that settle a hand: when it is over, and when its bonus was confirmed.
RESOLVE, RESOLVE_CONFIRMED = "hands.resolve_hand", "hands.resolve_confirmed_hand"
#: By the state of a hand, the task that it waits for.
_WAITS_WITH = {"ended": RESOLVE, "approved": RESOLVE_CONFIRMED}

_INPUTS = (
    *("table", "number", "name", "mode", "game", "rules", "options", "seats", "stacks", "carry", "fees", "series"),
    *("commitment", "client_seeds"),
)
_IN_FILE = replace(proved("hand.dealt; compared with the hand's own row of the export"), read=False)
_AT_THE_END = replace(proved("the event that ends the hand; compared with the hand's own row"), read=False)
_DISPUTES = "hand.dispute_raised, hand.dispute_withdrawn"
_CLOSED = replace(proved("hand.settled, hand.ruled; compared with the hand's own row"), read=False)
MODELS = (
    Model(
        HAND,
        "name",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(_INPUTS, _IN_FILE),
            "session": proved("hand.dealt, in the session of table.opened"),
            "sealed_seed": derived("commitment: `verify_hands` opens it; nobody else can"),
            "cards_roots": replace(proved("hand.dealt, hand.acted; compared with the hand's own row"), read=False),
            "state": replace(proved("hand.*; compared with the hand's own row"), read=False),
            "previous_hash": proved("the event that ended the table's hand before it"),
            **dict.fromkeys(("digest", "result", "handle"), _AT_THE_END),
            "started_at": proved("hand.dealt"),
            "ended_at": proved("the event that ends the hand"),
            "settled_at": proved("hand.settled, hand.ruled"),
            "disputed_at": proved(f"hand.disputed, hand.bonus_refused, {_DISPUTES}"),
            **dict.fromkeys(("disputed_by", "disputed_from"), proved(_DISPUTES)),
            **dict.fromkeys(("disputes_withdrawn", "resumed_at"), proved("hand.dispute_withdrawn")),
            "ruling": replace(proved("hand.ruled; compared with the hand's own row"), read=False),
            "settlement": _CLOSED,
        },
    ),
    Model(
        LINE,
        "hand and seq",
        {
            "id": ID,
            "house": HOUSE,
            "hand": _IN_FILE,
            "seq": replace(proved("hand.*: the place of the line in the log"), read=False),
            "text": replace(
                proved("hand.*; compared with the log of the hand's own row, corrected lines as corrected"), read=False
            ),
            "sealed": derived("hash: `verify_hands` opens it"),
            "hash": replace(proved("hand.dealt, hand.acted; compared with the hand's own row"), read=False),
            "at": transient("the clock of the seat that acts next; the line's event has a time of its own"),
            "aside": derived("text: the game's declaration of its verb says so"),
        },
    ),
    Model(
        DEAL,
        "name",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("table", "number", "name", "commitment", "seats", "announced", "at"), proved("deal.committed")
            ),
            "closed_at": proved("deal.commitments_closed, and the deal.seed_committed or deal.seed_taken that closes"),
            "sealed_seed": derived("commitment: `verify_hands` opens a hand's, auditors an abandoned one's"),
            "state": proved("deal.committed, deal.abandoned, hand.dealt"),
        },
    ),
    Model(
        SEED_COMMITMENT,
        "deal and seat",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("deal", "seat", "player", "commitment", "at"), proved("deal.seed_committed")),
        },
    ),
    Model(
        SEED,
        "deal and seat",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("deal", "seat", "player", "seed", "given_by", "at"), proved("deal.seed_taken")),
        },
    ),
    Model(
        ENTRY,
        "hand, and how many were entered before it",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                ("hand", "seat", "index", "hash", "at"), proved("hand.cards_entered, hand.entry_corrected")
            ),
            "sealed": derived("hash: `verify_hands` opens it"),
        },
    ),
    Model(
        CORRECTION,
        "hand, and how many were made before it",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("hand", "seq", "before", "after", "hash", "reason", "at"), proved("hand.line_corrected")),
            "sealed": derived("hash: `verify_hands` opens it"),
        },
    ),
    Model(
        LATER_RULING,
        "hand and number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(
                (
                    *("hand", "number", "tax_refunded", "fee_refunded", "made_good", "collected", "readings"),
                    *("reason", "settlement", "at"),
                ),
                proved("hand.ruled_later"),
            ),
        },
    ),
    Model(
        EXCEPTION,
        "table and number",
        {
            "id": ID,
            "house": HOUSE,
            **dict.fromkeys(("table", "number", "hand", "kind", "found_at"), proved("cards.exception")),
            **dict.fromkeys(("found", "hash"), proved("cards.exception")),
            "sealed": derived("hash: `verify_hands` opens it"),
            **dict.fromkeys(("cleared_at", "cleared_by", "reason"), proved("cards.exception_cleared")),
        },
    ),
    Model(
        OUTBOX,
        "task and subject",
        {
            "id": ID,
            "house": HOUSE,
            "task": proved("the event that ends the hand, hand.bonus_confirmed, day.closed"),
            "subject": proved(
                "the event that ends the hand, hand.bonus_confirmed; read as the hand's name; day.closed: the day"
            ),
            "created_at": proved(
                "the event that ends the hand, hand.bonus_confirmed, hand.dispute_withdrawn, day.closed"
            ),
            "done_at": proved(
                f"hand.settled, hand.disputed, {_DISPUTES}, hand.bonus_held, day.packaged; gone with retention.ran"
            ),
            **dict.fromkeys(
                ("sent_at", "deliveries", "last_error"),
                transient("how the broker was hinted; the message stays open until its work is done"),
            ),
        },
    ),
)


#: What comes with each hand, and nobody holds from one event to the next.
OF_HANDS = (HAND, DEAL, SEED_COMMITMENT, SEED, ENTRY, CORRECTION, OUTBOX)


class HandRows:
    """Rows beside hands."""

    def __init__(self, rows: Rows, tables: Tables) -> None:
        self._rows, self._tables = rows, tables
        #: By hand that is not over: how many cards were entered, and corrections made.
        self._entered: dict[str, int] = {}
        self._corrected: dict[str, int] = {}
        #: By table, the number of its last card exception.
        self._exceptions: dict[str, int] = {}
        #: By hand that waits for the worker: the key of the message.
        self._queued: dict[str, str] = {}
        #: By hand: who dealt it, and who sat in it.
        self._people: Shelved[tuple[str, tuple[str, ...]]] = Shelved(rows.shelf, "people of hands")
        self.handlers: dict[str, Handler] = {
            "deal.committed": self._committed,
            "deal.seed_committed": self._seed_committed,
            "deal.commitments_closed": self._close,
            "deal.seed_taken": self._seed,
            "deal.abandoned": self._abandoned,
            "hand.dealt": self._dealt,
            "hand.acted": self._ended,
            "hand.cards_entered": self._cards,
            "hand.entry_corrected": self._card,
            "hand.line_corrected": self._line,
            "hand.settled": self._settled,
            "hand.ruled": self._decided,
            "hand.ruled_later": self._later,
            "hand.disputed": self._found_wrong,
            "hand.dispute_raised": self._dispute_raised,
            "hand.dispute_withdrawn": self._dispute_withdrawn,
            "hand.bonus_refused": self._disputed,
            "hand.bonus_held": self._done,
            "hand.bonus_confirmed": self._confirmed,
            "hand.voided": self._over,
            "cards.exception": self._exception,
            "cards.exception_cleared": self._cleared,
        }

    def shelve(self) -> None:
        """Set aside what is no longer needed in memory."""
        self._people.shelve()

    def sat_in(self, hand: str, player: str) -> bool:
        """Whether a player was dealt into a hand."""
        return player in self._people.get(hand, ("", ()))[1]

    # --- Deals -------------------------------------------------------------------------------------------------------

    def _committed(self, doc: Row) -> None:
        data = doc["data"]
        self._rows.add(
            DEAL, data["hand"], table=table_of(doc), number=data["number"], name=data["hand"],
            commitment=data["commitment"], seats=data["seats"], announced=data.get("announced", []),
            closed_at=None, at=Near(doc["at"]), state="prepared",
        )  # fmt: skip

    def _seed_committed(self, doc: Row) -> None:
        data = doc["data"]
        self._rows.add(
            SEED_COMMITMENT, f"{data['hand']}/{data['seat']}", deal=data["hand"], seat=data["seat"],
            player=data["player"], commitment=data["seed_commitment"], at=Near(doc["at"]),
        )  # fmt: skip
        if data.get("closed"):
            self._close(doc)

    def _close(self, doc: Row) -> None:
        self._rows.change(DEAL, doc["data"]["hand"], closed_at=Near(doc["at"]))

    def _seed(self, doc: Row) -> None:
        if doc["data"].get("closed"):
            self._close(doc)
        data = doc["data"]
        self._rows.add(
            SEED, f"{data['hand']}/{data['seat']}", deal=data["hand"], seat=data["seat"], player=data["player"],
            seed=data["seed"], given_by=data["given_by"], at=Near(doc["at"]),
        )  # fmt: skip

    def _abandoned(self, doc: Row) -> None:
        self._rows.change(DEAL, doc["data"]["hand"], state="abandoned")

    # --- Hands -------------------------------------------------------------------------------------------------------

    def _dealt(self, doc: Row) -> None:
        name, table = doc["data"]["hand"], table_of(doc)
        self._people[name] = doc["actor"], tuple(seat["player"] for seat in doc["data"]["seats"])
        self._rows.add(
            HAND, name, session=self._tables.session(table), started_at=Near(doc["at"]), ended_at=None,
            settled_at=None, disputed_at=None, disputed_by="", disputed_from="", disputes_withdrawn=0, resumed_at=None,
            previous_hash=self._tables.record_hash(table),
        )  # fmt: skip
        if self._rows.seek(DEAL, name) is not None:
            self._rows.change(DEAL, name, state="dealt")
        self._ended(doc)

    def _ended(self, doc: Row) -> None:
        data = doc["data"]
        if "digest" in data:
            self._rows.change(HAND, data["hand"], ended_at=Near(doc["at"]))
            self._queue(doc, RESOLVE)
            self._over(doc)

    def _confirmed(self, doc: Row) -> None:
        self._queue(doc, RESOLVE_CONFIRMED)

    def _queue(self, doc: Row, task: str) -> None:
        """A message to the worker, which the next event of the worker finds done."""
        name = doc["data"]["hand"]
        self._queued[name] = f"{task}/{name}"
        self._rows.add(
            OUTBOX, self._queued[name], task=task, subject=name, created_at=Near(doc["at"]), done_at=None
        )  # fmt: skip

    def _over(self, doc: Row) -> None:
        name = doc["data"]["hand"]
        self._entered.pop(name, None)
        self._corrected.pop(name, None)

    def _done(self, doc: Row) -> None:
        name = doc["data"]["hand"]
        self._rows.change(OUTBOX, self._queued.pop(name, f"{RESOLVE}/{name}"), done_at=Near(doc["at"]))

    def _found_wrong(self, doc: Row) -> None:
        self._done(doc)
        self._disputed(doc)

    def _dispute_raised(self, doc: Row) -> None:
        """What waits for the worker is done with it."""
        data = doc["data"]
        if data["hand"] in self._queued:
            self._done(doc)
        self._disputed(doc)
        self._rows.change(HAND, data["hand"], disputed_by=doc["actor"], disputed_from=data["before"])

    def _dispute_withdrawn(self, doc: Row) -> None:
        """What has waited for the worker before the dispute waits again."""
        data, name = doc["data"], doc["data"]["hand"]
        withdrawn = self._rows.get(HAND, name)["disputes_withdrawn"] + 1
        self._rows.change(
            HAND, name, disputed_at=None, disputed_by="", disputed_from="", disputes_withdrawn=withdrawn,
            resumed_at=Near(doc["at"]),
        )  # fmt: skip
        if (task := _WAITS_WITH.get(data["after"])) is not None:
            self._queued[name] = f"{task}/{name}"
            self._rows.change(OUTBOX, self._queued[name], created_at=Near(doc["at"]), done_at=None)

    def _disputed(self, doc: Row) -> None:
        self._rows.change(HAND, doc["data"]["hand"], disputed_at=Near(doc["at"]))

    def _settled(self, doc: Row) -> None:
        self._done(doc)
        self._ruled(doc)

    def _decided(self, doc: Row) -> None:
        self._require_not_dealer(doc)
        self._ruled(doc)
        self._over(doc)

    def _later(self, doc: Row) -> None:
        self._require_not_dealer(doc)
        data = doc["data"]
        names = ("hand", "tax_refunded", "made_good", "collected", "readings", "settlement")
        self._rows.add(
            LATER_RULING, f"{data['hand']}/{data['ruling']}", number=data["ruling"], reason=doc["reason"],
            at=Near(doc["at"]), fee_refunded=data.get("fee_refunded", {}), **{name: data[name] for name in names},
        )  # fmt: skip

    def _require_not_dealer(self, doc: Row) -> None:
        """Who dealt a hand does not rule on it."""
        name = doc["data"]["hand"]
        if self._people.get(name, ("", ()))[0] == doc["actor"]:
            self._rows.find("same_person", f"{HAND} {name}", f"{doc['actor']} dealt it and rules on it")

    def _ruled(self, doc: Row) -> None:
        self._rows.change(HAND, doc["data"]["hand"], settled_at=Near(doc["at"]))

    # --- Cards -------------------------------------------------------------------------------------------------------

    def _cards(self, doc: Row) -> None:
        self._enter(doc, doc["data"]["entries"])

    def _card(self, doc: Row) -> None:
        self._enter(doc, [doc["data"]])

    def _enter(self, doc: Row, entries: Sequence[Row]) -> None:
        hand = doc["data"]["hand"]
        for entry in entries:
            number = self._entered[hand] = self._entered.get(hand, 0) + 1
            self._rows.add(
                ENTRY, f"{hand}/{number}", hand=hand, seat=int(entry["actor"][1:]), index=entry["index"],
                hash=entry["hash"], at=Near(doc["at"]),
            )  # fmt: skip

    def _line(self, doc: Row) -> None:
        data, hand = doc["data"], doc["data"]["hand"]
        number = self._corrected[hand] = self._corrected.get(hand, 0) + 1
        self._rows.add(
            CORRECTION, f"{hand}/{number}", hand=hand, seq=data["line"], reason=doc["reason"], at=Near(doc["at"]),
            before=data["before"], after=data["after"], hash=data.get("line_hash", ""),
        )  # fmt: skip

    def _exception(self, doc: Row) -> None:
        data, table = doc["data"], table_of(doc)
        key, last = f"{table}/{data['exception']}", self._exceptions.get(table, 0)
        if data["exception"] != last + 1:
            self._rows.find("serial_gap", f"{EXCEPTION} {key}", f"it comes after {last}")
        self._exceptions[table] = data["exception"]
        self._rows.add(
            EXCEPTION, key, table=table, number=data["exception"],
            hand=data.get("hand"), kind=data["kind"], found=data.get("found"), hash=data.get("found_hash", ""),
            found_at=Near(doc["at"]), cleared_at=None, cleared_by="", reason="",
        )  # fmt: skip

    def _cleared(self, doc: Row) -> None:
        data = doc["data"]
        self._rows.change(
            EXCEPTION, f"{table_of(doc)}/{data['exception']}", cleared_at=Near(doc["at"]), cleared_by=doc["actor"],
            reason=doc["reason"],
        )  # fmt: skip
