"""What can be printed of the audit trail: by kind of event its title, what stands on the paper, and for whom.

An event that is not here has no paper. What a receiver must still count without knowing it does not stand on a slip
that travels with the chips.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from casino.reports.frame.columns import Column, Type, coded, count, flag, money, ref, text
from casino.staff.models import Role

#: Who prints what was recorded at a drawer, at a table, in the office.
AT_THE_CAGE = (Role.CASHIER, Role.CAGE_SUPERVISOR, Role.MANAGER, Role.AUDITOR)
AT_TABLES = (Role.DEALER, Role.FLOOR, Role.MANAGER, Role.AUDITOR)
AT_BOTH_ENDS = tuple(dict.fromkeys((*AT_THE_CAGE, *AT_TABLES)))
IN_THE_OFFICE = (Role.COUNT, Role.CAGE_SUPERVISOR, Role.MANAGER, Role.AUDITOR)
#: Who reads X readings: not the cashier, who must count without knowing them.
READS_X = (Role.CAGE_SUPERVISOR, Role.MANAGER, Role.AUDITOR)
#: Who prints the statement of a player.
OF_PLAYERS = (Role.CASHIER, Role.CAGE_SUPERVISOR, Role.COMPLIANCE, Role.AUDITOR)

#: Who prints what a minor is given back.
OF_MINORS = (Role.COMPLIANCE, Role.MANAGER, Role.AUDITOR)

#: A path in an event's data, `transfer.serial`; with `-` before it what it names is taken away.
Path = str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What stands on the paper of one kind of event.

    `facts` are columns with the paths of their values, `pieces` titles with paths of pieces by denomination, `equal`
    sums that must be equal: words, and the paths on both sides, of amounts or pieces. `tables`: name, title and columns
    of rows that the path names. `named`: name and path of the
    number that several events about one thing share, whose papers are copies of each other. `report`: the report of the
    catalogue that has it instead, with the filters that name it and the paths of their values.
    """

    title: str
    roles: tuple[Role, ...]
    facts: tuple[tuple[Column, Path], ...] = ()
    pieces: tuple[tuple[str, Path], ...] = ()
    equal: tuple[tuple[str, tuple[Path, ...], tuple[Path, ...]], ...] = ()
    tables: tuple[tuple[str, str, tuple[Column, ...]], ...] = ()
    named: tuple[str, Path] | None = None
    report: tuple[str, Mapping[str, Path]] | None = None

    def name(self, chain: str, seq: int, data: Mapping[str, Any]) -> str:
        """The name of the document, the same for all of its copies."""
        if self.named is None:
            return f"{chain}#{seq}"
        kind, path = self.named
        return f"{kind}/{found(data, path)}"


def found(data: Mapping[str, Any], path: Path) -> Any:
    """What a path names; None where a part of it is missing."""
    value: Any = data
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


_PLAYER = (ref("player", "Player"), "player")
_LEFT = (money("player_chips", "Chips away from tables afterwards"), "player_chips")
_LIES = (money("deposit", "In the deposit afterwards"), "deposit")


def _cash(title: str) -> tuple[Column, Path]:
    return money("amount", title), "amount"


def _cage(title: str, *facts: tuple[Column, Path], **more: Any) -> Document:
    return Document(title=title, roles=AT_THE_CAGE, facts=facts, **more)


_GOT: dict[str, Any] = {
    "pieces": (("Chips given to the player", "exchanged"),),
    "equal": (("chips given = amount", ("exchanged",), ("amount",)),),
}
_GAVE: dict[str, Any] = {
    "pieces": (("Chips taken from the player", "exchanged"), ("Chips given back", "change")),
    "equal": (("chips taken - chips given back = amount", ("exchanged", "-change"), ("amount",)),),
}

#: Receipts of players.
RECEIPTS: dict[str, Document] = {
    "cage.buy_in": _cage("Buy-in", _PLAYER, _cash("Cash received"), _LEFT, **_GOT),
    "cage.cash_out": _cage("Cash-out", _PLAYER, _cash("Cash paid"), _LEFT, **_GAVE),
    "cage.bearer_buy_in": _cage("Buy-in of the bearer", _cash("Cash received"), **_GOT),
    "cage.bearer_cash_out": _cage("Cash-out of the bearer", _cash("Cash paid"), **_GAVE),
    "cage.noncash_buy_in": _cage(
        "Buy-in by card or transfer", _PLAYER, _cash("Amount"), (coded("means", "Paid by"), "means"),
        (ref("reference", "Reference"), "reference"), _LEFT, **_GOT,
    ),
    "cage.noncash_paid": _cage(
        "Payment by the bank", _PLAYER, _cash("Amount"), (ref("account", "To the account"), "account"), _LEFT, **_GAVE
    ),
    "cage.table_fee": _cage(
        "Fee for a seat", _PLAYER, _cash("Cash received"), (ref("table", "Table"), "table"),
        (count("minutes", "Minutes", total=False), "minutes"),
    ),
    "cage.deposit_taken": _cage("Deposit", _PLAYER, _cash("Cash received"), _LIES),
    "cage.deposit_drawn": _cage("Chips of the deposit", _PLAYER, _cash("Amount"), _LIES, _LEFT, **_GOT),
    "cage.deposit_returned": _cage("Deposit returned", _PLAYER, _cash("Cash paid"), _LIES),
    "cage.payout_held": _cage(
        "Payout that is held", _PLAYER, _cash("Owed to the player"), (count("payout", "Payout", total=False),
        "payout.payout"), _LEFT, **_GAVE,
    ),
    "cage.payout_released": _cage(
        "Held payout", _PLAYER, _cash("Cash paid"), (count("payout", "Payout", total=False), "payout.payout")
    ),
    "cage.chips_claimed": _cage("Found chips returned", _PLAYER, _cash("Worth"), **_GOT),
    "cage.late_claim_paid": _cage(
        "Late claim", _PLAYER, _cash("Cash paid"), (ref("chip_set", "Chip set"), "chip_set"),
        (count("claim", "Claim", total=False), "claim"), pieces=(("Chips taken from the player", "exchanged"),),
    ),
    "cage.exchange": _cage(
        "Exchange of chips", (money("amount", "Worth"), "exchange.amount"),
        pieces=(("Chips taken", "exchange.given"), ("Chips given", "exchange.change")),
        equal=(("chips taken = chips given", ("exchange.given",), ("exchange.change",)),),
    ),
    "cage.foreign_chips": _cage(
        "Chips of another house", (money("amount", "Cash paid"), "foreign_chips.amount"),
        (ref("issuer", "Of the house"), "foreign_chips.issuer"),
    ),
    "cage.corrected": _cage(
        "Correction of an entry", (count("corrects", "Takes back entry", total=False), "corrects"),
        (coded("was", "What it was"), "was"), (coded("right", "The right entry"), "right.kind"),
        (ref("player", "Player"), "right.player"), (money("amount", "Right amount"), "right.amount"),
    ),
    "table.buy_in": Document(
        title="Buy-in at the table", roles=AT_TABLES,
        facts=(_PLAYER, (count("seat", "Seat", total=False), "seat"), _cash("Cash received")), **_GOT,
    ),
    "table.left": Document(
        title="Stack at leaving", roles=AT_TABLES,
        facts=(_PLAYER, (count("seat", "Seat", total=False), "seat"), _cash("Chips taken along")),
    ),
}  # fmt: skip
#: Receipts of hands: of one player each, who is named with the request. `net` and what follows are of that player.
HANDS: dict[str, Document] = {
    "hand.settled": Document(
        title="Hand", roles=AT_TABLES,
        facts=(
            (ref("hand", "Hand"), "hand"), (ref("game", "Game"), "game"), _PLAYER,
            (count("seat", "Seat", total=False), "seat"), (text("actor", "In the record"), "actor"),
            (money("net", "Won or lost"), "net"), (money("bonus", "Bonus of the house"), "bonus"),
            (money("handle", "All played for"), "handle"), (money("tax", "House tax of the hand"), "tax"),
            (money("carry", "Carried in"), "carry"), (money("carry_out", "Carried over"), "carry_out"),
            (ref("digest", "Digest of the final state"), "digest"),
        ),
        equal=(
            (
                "won and lost by all + tax + carried over = carried in + bonuses",
                ("all_net", "tax", "carry_out"), ("carry", "all_bonus"),
            ),
        ),
    ),
}  # fmt: skip

#: Whose hand it was, and who has decided on it.
_DECIDED = (
    (ref("hand", "Hand"), "hand"), (ref("game", "Game"), "game"), (text("reason", "Reason"), "reason"),
    (ref("by", "Decided by"), "by"), (ref("approver", "Approved by"), "approver"),
)  # fmt: skip
_SEAT = (count("seat", "Seat", total=False), text("actor", "In the record"), ref("player", "Player"))
_READ = (money("recorded", "By the record", total=False), money("claimed", "As claimed", total=False))
#: Why neither reading, or one of them, comes to a result, and what is claimed of which lines.
_REFUSED = (
    (text("recorded_refused", "The record does not replay"), "recorded_refused"),
    (text("claimed_refused", "The claim does not replay"), "claimed_refused"),
)  # fmt: skip
_LINES = ("lines", "Lines as claimed", (count("line", "Line", total=False), text("text", "Words")))
#: Slips of hands that were voided or ruled on: of one player, or where none is named with the request, of the house.
DECIDED: dict[str, Document] = {
    "hand.voided": Document(
        title="Hand that was voided", roles=AT_TABLES,
        facts=(
            *_DECIDED, (coded("cause", "Cause"), "cause"), (money("pot", "In the middle"), "pot"),
            (flag("disputed", "Disputed"), "disputed"), (flag("cards_shown", "Cards shown"), "cards_shown"),
            (flag("acted", "Played after the deal"), "acted"),
        ),
        tables=(
            ("seats", "What went back", (*_SEAT, money("returned", "Given back"))),
            (
                "mirrors", "Postings taken back",
                (ref("key", "Posting"), count("transaction", "By the ledger's transaction", total=False)),
            ),
        ),
    ),
    "hand.ruled": Document(
        title="Ruling on a hand", roles=AT_TABLES,
        facts=(
            *_DECIDED, (money("pot", "Pot that was divided"), "pot"), (money("tax", "House tax of the hand"), "tax"),
            *_REFUSED,
        ),
        tables=(("seats", "Decision and readings", (*_SEAT, money("awarded", "Awarded"), *_READ)), _LINES),
        equal=(("awarded + tax = pot", ("all_awarded", "tax"), ("pot",)),),
    ),
    "hand.ruled_later": Document(
        title="Later ruling on a hand", roles=AT_TABLES,
        facts=(*_DECIDED, (count("ruling", "Ruling", total=False), "ruling"), *_REFUSED),
        tables=(
            (
                "seats", "Decision and readings",
                (
                    *_SEAT, money("tax_refunded", "Tax paid back"), money("fee_refunded", "Fee paid back"),
                    money("made_good", "Made good by the house"), money("received", "From other seats"),
                    money("given", "To other seats"), *_READ,
                ),
            ),
            _LINES,
        ),
    ),
}  # fmt: skip


def _transfer(kind: str, *, with_figures: bool) -> Document:
    """A fill or a credit: `transfer` is what both ends say of it."""
    facts = (
        (count("serial", "Serial", total=False), "transfer.serial"), (ref("table", "Table"), "transfer.table"),
        (ref("drawer", "Drawer"), "transfer.drawer"), (coded("state", "State"), "transfer.state"),
        (ref("opened_by", "Asked by"), "transfer.opened_by"), (ref("sent_by", "Sent by"), "transfer.sent_by"),
        (ref("carried_by", "Carried by"), "transfer.carried_by"), (ref("ended_by", "Ended by"), "transfer.ended_by"),
        (count("differing", "Counts that differed"), "transfer.differing_counts"),
        *([(money("value", "Worth as sent"), "transfer.value")] if with_figures else []),
    )  # fmt: skip
    figures = (("Sent", "transfer.sent"), ("Received", "transfer.counted")) if with_figures else ()
    named = f"{kind}-{'received' if with_figures else 'sent'}", "transfer.serial"
    title = f"{kind.capitalize()} slip" if with_figures else f"{kind.capitalize()} slip, to be counted"
    return Document(title=title, roles=AT_BOTH_ENDS, facts=facts, pieces=figures, named=named)


#: Slips of the house.
SLIPS: dict[str, Document] = {
    "fill.sent": _transfer("fill", with_figures=False),
    "fill.received": _transfer("fill", with_figures=True),
    "credit.sent": _transfer("credit", with_figures=False),
    "credit.received": _transfer("credit", with_figures=True),
    "box.received": Document(
        title="Soft count slip", roles=IN_THE_OFFICE, named=("box", "box.box"),
        facts=(
            (count("box", "Box", total=False), "box.box"), (ref("table", "Table"), "box.table"),
            (coded("kind", "Kind"), "box.kind"), (ref("number", "Number of the box"), "box.number"),
            (Column("for_day", "Gaming day", Type.DAY), "box.for_day"), (ref("seal", "Seal"), "box.seal"),
            (ref("seal_read", "Seal as read"), "box.seal_read"), (ref("taken_by", "Taken by"), "box.taken_by"),
            (ref("brought_by", "Brought by"), "box.brought_by"), (ref("decided_by", "Decided by"), "box.decided_by"),
            (ref("observer", "Observer"), "box.observer"), (ref("received_by", "Received by"), "box.received_by"),
            (count("rounds", "Rounds that differed"), "box.differing_rounds"), (money("cash", "Cash"), "box.cash"),
            (money("expected_cash", "Cash expected"), "box.expected_cash"),
            (money("cash_variance", "Cash over or short"), "box.cash_variance"),
            (money("chip_variance", "Chips over or short"), "box.chip_variance"),
        ),
        pieces=(("Chips", "box.pieces"), ("Chips expected", "box.expected_pieces")),
        equal=(
            ("cash - cash expected = over or short", ("box.cash", "-box.expected_cash"), ("box.cash_variance",)),
            ("chips - chips expected = over or short", ("box.pieces", "-box.expected_pieces"), ("box.chip_variance",)),
        ),
    ),
    "minor.settled": Document(
        title="Stakes of a minor", roles=OF_MINORS, named=("minor", "minor"),
        facts=(
            (count("minor", "No.", total=False), "minor"), _PLAYER, (money("stakes", "Stakes"), "stakes"),
            (money("deposit", "In the deposit"), "deposit"), (money("held", "Held for the player"), "held"),
            (money("borne", "Borne by the house"), "borne"), (money("refund", "Given back"), "refund"),
            (money("kept", "Winnings, not paid"), "kept"),
            (count("payout", "Paid as held payout", total=False), "payout.payout"),
        ),
        equal=(("given back + winnings = deposit + held + borne", ("refund", "kept"), ("deposit", "held", "borne")),),
    ),
    "winnings.remitted": Document(
        title="Winnings of minors, remitted", roles=OF_MINORS, named=("remittance", "remittance"),
        facts=(
            (count("remittance", "No.", total=False), "remittance"),
            (coded("beneficiary", "Beneficiary"), "beneficiary"), (text("payee", "Paid to"), "payee"),
            (ref("note", "Note"), "note"), (money("amount", "Amount"), "amount"),
        ),
        tables=(
            (
                "minors", "Of these minors",
                (count("minor", "No.", total=False), ref("player", "Player"), money("kept", "Winnings kept")),
            ),
        ),
    ),
    "drawer.closed": Document(
        title="Z slip", roles=AT_THE_CAGE, report=("z-slips", {"z": "reconciliation.shift"})
    ),
    "drawer.x_read": Document(title="X reading", roles=READS_X, report=("x-readings", {"x": "x_reading"})),
}  # fmt: skip
#: Everything that can be printed, by kind of event.
DOCUMENTS: dict[str, Document] = {**RECEIPTS, **HANDS, **DECIDED, **SLIPS}
#: Everybody who may print something; each document names its own.
PRINTERS = tuple(sorted({role for one in DOCUMENTS.values() for role in one.roles} | set(OF_PLAYERS), key=str))


def texts() -> Iterator[str]:
    """What papers say that is declared here."""
    for one in DOCUMENTS.values():
        yield one.title
        yield from (column.title for column, _ in one.facts)
        yield from (title for title, _ in one.pieces)
        yield from (words for words, _, _ in one.equal)
        for _, title, columns in one.tables:
            yield from (title, *(column.title for column in columns))
