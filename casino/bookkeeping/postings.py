"""The table of postings as data: every event that moves money or chips, with the accounts it debits and credits.

Services name an event, its places and what moved (`happened`); this table is the only one that says Dr and Cr. Money
lines carry minor units, custody lines mixes of chips; a line whose amount is nothing is not posted.
docs/reference/postings.md is this table in words, with a worked example of every row.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from casino.core.denominations import Chips

#: One line of a posting, `Dr/Cr amount`: debited code, credited code, minor units of money or chips.
Line = tuple[str, str, int | Chips]


@dataclass(frozen=True, slots=True)
class Pair:
    """One line of a row: account codes with their places in braces, and the name of what moves."""

    debit: str
    credit: str
    what: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table: what happens, in words, and its lines. `since` says whether a game or a workflow books it
    already, or has its row waiting."""

    name: str
    title: str
    meaning: str
    lines: tuple[Pair, ...]
    since: Literal["now", "to come"] = "now"


@dataclass(frozen=True, slots=True)
class Posting:
    """One event with its places and amounts."""

    row: Row
    places: Mapping[str, str]
    moved: Mapping[str, int | Chips]

    def lines(self) -> list[Line]:
        """The lines of the posting, without those that move nothing."""
        return [
            (line.debit.format(**self.places), line.credit.format(**self.places), self.moved[line.what])
            for line in self.row.lines
            if self.moved.get(line.what)
        ]


def posting(name: str, places: Mapping[str, str], **moved: int | Chips) -> Posting:
    """An event of the table. Amounts that a row names may be left out where nothing moves.

    A name that the row does not have and an amount below zero are programming errors.
    """
    row = EVENTS[name]
    unknown = moved.keys() - {line.what for line in row.lines}
    negative = [
        what for what, amount in moved.items() if (amount.shortage if isinstance(amount, Chips) else amount < 0)
    ]
    if unknown or negative:
        raise AssertionError(f"{name}: unknown {sorted(unknown)}, below zero {negative}")
    return Posting(row, places, moved)


def moved_anything(events: list[Posting]) -> bool:
    """Whether there is anything to post."""
    return any(event.lines() for event in events)


def _row(
    name: str, title: str, meaning: str, *lines: tuple[str, str, str], since: Literal["now", "to come"] = "now"
) -> Row:
    return Row(name, title, meaning, tuple(Pair(*line) for line in lines), since)


_STACK, _WALLET = "2020/{table}/{player}", "2010/{player}"
_POT, _KASSZA, _BANK = "2030/{table}", "2040/{table}", "2050/{table}"
_DRAWER, _CAGE = "1020/{drawer}", "9120/{drawer}"
_HELD, _DEPOSIT = "2085/{player}", "2090/{player}"
_TRAY, _BOX = "9130/{table}", "9150/{table}"
_AT_TABLE, _AT_CAGE = "9170/{table}", "9170/{drawer}"

_VAULT = (
    _row("capital_paid_in", "Capital is paid in", "The owners put cash into the vault.", ("1010", "3010", "cash")),
    _row(
        "capital_paid_in_by_bank",
        "Capital is paid in at the bank",
        "The owners pay money into the house's account, as the bank's note says.",
        ("1090", "3010", "amount"),
    ),
    _row(
        "capital_paid_out",
        "Capital is paid out",
        "The owners take cash from the vault; never so much that cash would not cover what is owed and the trays.",
        ("3010", "1010", "cash"),
    ),
    _row(
        "capital_paid_out_by_bank",
        "Capital is paid out by the bank",
        "The same from the house's account.",
        ("3010", "1090", "amount"),
    ),
    _row(
        "chips_commissioned",
        "Chips are commissioned",
        "New chips come from the maker. The house owes nothing for them until players get them.",
        ("9110", "9199", "chips"),
    ),
    _row(
        "chips_set_aside",
        "Chips are set aside",
        "Worn or withdrawn chips are counted by two and put aside in the vault. Nobody gets them again.",
        ("9115", "9110", "chips"),
    ),
    _row(
        "set_aside_destroyed",
        "Chips are destroyed",
        "Chips that were set aside are counted by two once more and destroyed before surveillance.",
        ("9199", "9115", "chips"),
    ),
    _row(
        "withdrawn_set_aside",
        "Withdrawn chips come to the vault",
        "Chips of a withdrawn set that a drawer has taken back are counted and put aside: at every close of the "
        "drawer, or by two people in between.",
        ("9115", "9115/{drawer}", "chips"),
    ),
    _row(
        "chips_lapsed",
        "A chip set lapses",
        "The notice of a withdrawn set is over: what is still out is worth nothing any more. The house owes its worth, "
        "so far as it is owed to nobody known, as unclaimed property.",
        ("2015{owed}", "2095", "amount"),
        ("9199", "9170{public}", "chips"),
        ("9170{public}", "9199", "returned"),
    ),
    _row(
        "late_claim_paid",
        "Chips of a lapsed set are brought late",
        "The house pays them in cash, by grace, out of the unclaimed property that the set has left. The pieces are "
        "chips of the house again: the drawer keeps them apart, and they go to the vault and are destroyed as those "
        "of any withdrawn set. What the house owes for chips stays as it is, and so do the chips with the public.",
        ("2095", _DRAWER, "amount"),
        ("9115/{drawer}", "9199", "chips"),
    ),
    _row(
        "float_issued",
        "A drawer gets its float",
        "Cash and chips go from the vault to a cashier's drawer.",
        (_DRAWER, "1010", "cash"),
        (_CAGE, "9110", "chips"),
    ),
    _row(
        "float_returned",
        "A drawer is emptied",
        "What was counted goes back to the vault.",
        ("1010", _DRAWER, "cash"),
        ("9110", _CAGE, "chips"),
    ),
    _row(
        "drawer_replenished",
        "A drawer is replenished",
        "In the middle of a shift a drawer gets more cash or chips from the vault.",
        (_DRAWER, "1010", "cash"),
        (_CAGE, "9110", "chips"),
    ),
    _row(
        "drawer_skimmed",
        "A drawer is skimmed",
        "In the middle of a shift cash or chips that a drawer does not need go to the vault.",
        ("1010", _DRAWER, "cash"),
        ("9110", _CAGE, "chips"),
    ),
    _row(
        "vault_short",
        "A count of the vault finds cash missing",
        "The house bears it. Chips over or short are booked as those of any rack, chips of other houses as those of a "
        "drawer, both at the place vault.",
        ("5200/vault", "1010", "amount"),
    ),
    _row(
        "vault_over",
        "A count of the vault finds cash too much",
        "The mirror of a shortage.",
        ("1010", "5200/vault", "amount"),
    ),
    _row(
        "bank_sent",
        "Cash leaves for the bank",
        "In a bag that two people have signed for. Until the bank has counted it, it is neither here nor there.",
        ("1015", "1010", "cash"),
    ),
    _row(
        "bank_confirmed",
        "The bank confirms a bag",
        "By the bank's note. What it has found short or over is a difference of the place bank.",
        ("1090", "1015", "cash"),
        ("5200/bank", "1015", "short"),
        ("1090", "5200/bank", "over"),
    ),
    _row(
        "bank_drawn",
        "Cash leaves the bank",
        "Change or more cash for the vault, in a sealed bag.",
        ("1015", "1090", "cash"),
    ),
    _row(
        "bank_received",
        "A bag from the bank is received",
        "Another person than the one who had it sent has counted it into the vault.",
        ("1010", "1015", "cash"),
        ("5200/bank", "1015", "short"),
        ("1010", "5200/bank", "over"),
    ),
    _row(
        "foreign_redeemed",
        "Another house pays for its chips",
        "They leave the vault. A discount, or chips that it refuses to pay for, are a loss.",
        ("1090", "1160/vault", "paid"),
        ("5220", "1160/vault", "loss"),
    ),
    _row(
        "tray_stocked",
        "A tray is stocked",
        "Chips go from the vault to a table's tray when the table is set up.",
        (_TRAY, "9110", "chips"),
    ),
)
_CAGE_ROWS = (
    _row(
        "buy_in",
        "Buy-in at the cage",
        "Cash for chips: the house holds more cash and owes as much for chips.",
        (_DRAWER, _WALLET, "amount"),
        (_AT_CAGE, _CAGE, "chips"),
    ),
    _row(
        "cash_out",
        "Cash-out",
        "Chips for cash. Where the player's chips do not make the amount, the player gets change in chips.",
        (_WALLET, _DRAWER, "amount"),
        (_CAGE, _AT_CAGE, "chips"),
        (_AT_CAGE, _CAGE, "change"),
    ),
    _row(
        "counterfeit_note",
        "A counterfeit note is found at a drawer",
        "It is kept as evidence and is no cash of the house any more.",
        ("5240", _DRAWER, "amount"),
    ),
    _row(
        "counterfeit_note_in_vault",
        "A counterfeit note is found in the vault",
        "The same of the vault's cash.",
        ("5240", "1010", "amount"),
    ),
    _row(
        "counterfeit_chip",
        "A counterfeit chip is found",
        "The piece is none of the house's: one that was issued is still with the public, and the house owes for it.",
        ("5240", "2015/{place}", "amount"),
        ("9170/{place}", "{rack}", "chips"),
    ),
    _row(
        "bearer_buy_in",
        "Chips are sold without a name",
        "Below the house's threshold: the chips are owed to the one who brings them.",
        (_DRAWER, "2015/{drawer}", "amount"),
        (_AT_CAGE, _CAGE, "chips"),
    ),
    _row(
        "bearer_cash_out",
        "Chips are bought back without a name",
        "The one who brings chips is paid. What is owed to nobody in particular may fall below zero.",
        ("2015/{drawer}", _DRAWER, "amount"),
        (_CAGE, _AT_CAGE, "chips"),
    ),
    _row(
        "attributed",
        "Chips become somebody's",
        "A player has brought more chips than were booked, or it has been found out whose they are.",
        ("2015/{place}", _WALLET, "amount"),
    ),
    _row(
        "unattributed",
        "Chips cease to be somebody's",
        "The mirror: they were booked for the wrong player, or have not been seen for long.",
        (_WALLET, "2015/{place}", "amount"),
    ),
    _row(
        "noncash_buy_in",
        "Buy-in by card or transfer",
        "A terminal or a bank has confirmed it, and its money is on its way.",
        ("1030", _WALLET, "amount"),
        (_AT_CAGE, _CAGE, "chips"),
    ),
    _row(
        "clearing_settled",
        "Money of cards and transfers comes",
        "By a line of the bank's statement.",
        ("1090", "1030", "amount"),
    ),
    _row(
        "noncash_paid",
        "Chips are paid to an account",
        "The player's own one. The player gives the chips at the cage.",
        (_WALLET, "1090", "amount"),
        (_CAGE, _AT_CAGE, "chips"),
    ),
    _row(
        "found_chips",
        "Chips are found",
        "Nobody knows whose they are. They come to the cage, and the house owes their worth as unclaimed property.",
        ("2015/{drawer}", "2095", "amount"),
        (_CAGE, _AT_CAGE, "chips"),
    ),
    _row(
        "found_claimed",
        "Found chips are claimed",
        "The mirror, where the owner has come.",
        ("2095", "2015/{drawer}", "amount"),
        (_AT_CAGE, _CAGE, "chips"),
    ),
    _row(
        "unclaimed_remitted",
        "Unclaimed property is remitted",
        "Nobody has come in time: the bank pays it where the law wants it.",
        ("2095", "1090", "amount"),
    ),
    _row(
        "unclaimed_kept",
        "Unclaimed property is kept",
        "The same, where the law leaves it to the house.",
        ("2095", "4030", "amount"),
    ),
    _row(
        "payout_held",
        "A payout is held",
        "A player brings chips and may not be paid yet: who it is must be found out, or payments are suspended. The "
        "house has the chips back and owes their worth to the player as before.",
        (_WALLET, _HELD, "amount"),
        (_CAGE, _AT_CAGE, "chips"),
    ),
    _row(
        "payout_released",
        "A held payout is paid in cash",
        "Compliance has released it.",
        (_HELD, _DRAWER, "amount"),
    ),
    _row(
        "payout_released_by_bank",
        "A held payout is paid by the bank",
        "The same, to the player's account.",
        (_HELD, "1090", "amount"),
    ),
    _row(
        "minor_settled",
        "The stakes of a minor are given back",
        "A player is found to be a minor. What lies in the deposit, and the stakes, are held for the player or a "
        "guardian; the house bears what of them was lost; what is more is winnings, which are not paid.",
        (_DEPOSIT, _HELD, "deposit"),
        ("5250", _HELD, "borne"),
        (_HELD, "2087", "kept"),
    ),
    _row(
        "winnings_remitted",
        "Winnings of minors are remitted",
        "The bank pays what was kept from minors to whom the law names: the state or a charity.",
        ("2087", "1090", "amount"),
    ),
    _row(
        "deposit_taken",
        "A deposit is taken",
        "A player leaves cash with the house for safe keeping. It is owed to the player, and to nobody else.",
        (_DRAWER, _DEPOSIT, "amount"),
    ),
    _row(
        "deposit_drawn",
        "A deposit is drawn",
        "The player gets chips for what lies there.",
        (_DEPOSIT, _WALLET, "amount"),
        (_AT_CAGE, _CAGE, "chips"),
    ),
    _row(
        "deposit_returned",
        "A deposit is returned",
        "The player gets the cash back.",
        (_DEPOSIT, _DRAWER, "amount"),
    ),
    _row(
        "foreign_chips",
        "Chips of another house are taken",
        "The cashier pays cash for them; the other house will redeem them.",
        ("1160/{drawer}", _DRAWER, "amount"),
    ),
    _row(
        "foreign_short",
        "A count finds chips of other houses missing",
        "The drawer paid cash for them; the house bears it, by drawer.",
        ("5200/{drawer}", "1160/{drawer}", "amount"),
    ),
    _row(
        "foreign_over",
        "A count finds chips of other houses too many",
        "The mirror of a shortage.",
        ("1160/{drawer}", "5200/{drawer}", "amount"),
    ),
    _row(
        "variance_offset",
        "Variances are offset",
        "Cash over and chips short of one count, or the reverse, were one wrong entry. The count stays as it was "
        "signed; what cancels is no loss and no gain.",
        ("5200/{place}", "5210/{place}", "cash_over"),
        ("5210/{place}", "5200/{place}", "chips_over"),
    ),
    _row(
        "drawer_handed_over",
        "A drawer is handed over",
        "Another cashier has counted all of a drawer that closes, and opens a drawer with it.",
        ("1020/{to}", _DRAWER, "cash"),
        ("1160/{to}", "1160/{drawer}", "foreign"),
        ("9120/{to}", _CAGE, "chips"),
    ),
    _row(
        "withdrawn_handed_over",
        "Withdrawn chips go along with a drawer",
        "Chips of a withdrawn set that the drawer has taken back, counted by the other cashier too.",
        ("9115/{to}", "9115/{drawer}", "chips"),
    ),
    _row(
        "foreign_to_vault",
        "Chips of other houses go to the vault",
        "At every close, with their own count; no drawer keeps them.",
        ("1160/vault", "1160/{drawer}", "amount"),
    ),
    _row(
        "exchange",
        "Colour-up, or change",
        "Chips against chips of the same value, between the public and a rack. No money moves.",
        ("{rack}", "9170/{place}", "given"),
        ("9170/{place}", "{rack}", "change"),
    ),
    _row(
        "withdrawn_redeemed",
        "Chips of a withdrawn set are taken back",
        "The drawer gives chips of the set in use for them, worth the same. No money moves.",
        ("9115/{drawer}", _AT_CAGE, "given"),
        (_AT_CAGE, _CAGE, "change"),
    ),
    _row(
        "cash_short",
        "A count finds cash missing",
        "The house bears it, by drawer.",
        ("5200/{drawer}", _DRAWER, "amount"),
    ),
    _row("cash_over", "A count finds cash too much", "The mirror of a shortage.", (_DRAWER, "5200/{drawer}", "amount")),
    _row(
        "chip_short",
        "A count finds chips missing",
        "Chips that are missing from the rack are with the public. The house owes for them without having been paid; "
        "to whom is not known. Missing and surplus denominations offset each other: only the difference in value is "
        "a cost.",
        ("5210/{place}", "2015/{place}", "amount"),
        ("9170/{place}", "{rack}", "missing"),
        ("{rack}", "9170/{place}", "surplus"),
    ),
    _row(
        "chip_over",
        "A count finds chips too many",
        "The mirror: chips have come back that the house has not paid for.",
        ("2015/{place}", "5210/{place}", "amount"),
        ("{rack}", "9170/{place}", "surplus"),
        ("9170/{place}", "{rack}", "missing"),
    ),
)
_SEATS = (
    _row(
        "buy_in_at_table",
        "Buy-in at the table",
        "Cash into the table's drop box, chips from its tray to the seat.",
        ("1050/{table}", _STACK, "amount"),
        (_AT_TABLE, _TRAY, "chips"),
    ),
    _row(
        "sat_down",
        "A player sits down or adds chips",
        "The chips are now in front of the player. They stay with the public.",
        (_WALLET, _STACK, "amount"),
    ),
    _row(
        "bearer_sat_down",
        "A player puts down chips that are not booked",
        "Bought without a name, or brought by somebody else: the house owes them to the player from now on. What is "
        "owed to nobody in particular may fall below zero.",
        ("2015/{table}", _STACK, "amount"),
    ),
    _row("left", "A player leaves", "The mirror of sitting down.", (_STACK, _WALLET, "amount")),
    _row(
        "fill_sent",
        "A fill leaves the cage",
        "Chips for a tray are signed out and carried.",
        ("9140/{table}", _CAGE, "chips"),
    ),
    _row(
        "fill_received",
        "A fill arrives",
        "The table has counted them and signed.",
        (_TRAY, "9140/{table}", "chips"),
    ),
    _row(
        "credit_sent",
        "A credit leaves the table",
        "Chips that the tray does not need are signed out.",
        ("9140/{table}", _TRAY, "chips"),
    ),
    _row(
        "credit_received",
        "A credit arrives",
        "The cage has counted them and signed.",
        (_CAGE, "9140/{table}", "chips"),
    ),
    _row(
        "soft_count",
        "Soft count",
        "A drop box or a tax box was counted by two: the cash and the chips go to the vault.",
        ("1010", "1050/{table}", "cash"),
        ("9110", _BOX, "chips"),
    ),
    _row(
        "drop_short",
        "A soft count finds cash missing",
        "Players were given chips for it; the house bears it, by table. Chips over or short in a tax box are booked as "
        "those of any rack.",
        ("5200/{table}", "1050/{table}", "amount"),
    ),
    _row(
        "drop_over",
        "A soft count finds cash too much",
        "The mirror of a shortage.",
        ("1050/{table}", "5200/{table}", "amount"),
    ),
)
_HANDS = (
    _row("stake", "Ante, blind, bet", "A seat puts chips into the pot.", (_STACK, _POT, "amount")),
    _row(
        "stake_returned",
        "An uncalled bet is returned",
        "No seat matched it, so it was never at stake and is not taxed.",
        (_POT, _STACK, "amount"),
    ),
    _row(
        "missing_stake",
        "A missing stake",
        "The rules make a seat pay a stake that it did not put in: the first stake of a deal that no seat plays.",
        (_STACK, _POT, "amount"),
    ),
    _row(
        "carried_out",
        "The pot is carried",
        "No seat has won it: it becomes the table's cukassza.",
        (_POT, _KASSZA, "amount"),
    ),
    _row("carried_in", "The cukassza reopens", "The next hand begins with it in its pot.", (_KASSZA, _POT, "amount")),
    _row(
        "award",
        "A pot is won",
        "The house takes its tax once, on the matched part of the pot: rate times base, at most the cap. The rest "
        "goes to the winner. The tax's chips go into the locked box; the winner's chips remain with the public.",
        (_POT, _STACK, "net"),
        (_POT, "4010/{table}", "tax"),
        (_BOX, _AT_TABLE, "chips"),
    ),
    _row(
        "bonus",
        "A bonus is paid",
        "The house pays a bonus out of the table's tray. Where the tray does not have "
        "the exact chips the player gives change.",
        ("5100/{table}", _STACK, "amount"),
        (_AT_TABLE, _TRAY, "chips"),
        (_TRAY, _AT_TABLE, "change"),
    ),
    _row(
        "cukassza_shared",
        "An unwon cukassza is shared",
        "The table closes and its rule gives the cukassza to players.",
        (_KASSZA, _STACK, "amount"),
    ),
    _row(
        "cukassza_to_house",
        "An unwon cukassza goes to the house",
        "The same, where the rule gives it to the house: booked and boxed like tax.",
        (_KASSZA, "4010/{table}", "tax"),
        (_BOX, _AT_TABLE, "chips"),
    ),
    _row(
        "disputed",
        "A pot is disputed",
        "Nothing is paid until the floor rules; until then the table deals no hand. A dispute that is withdrawn is "
        "mirrored.",
        (_POT, "2070/{table}", "amount"),
    ),
    _row(
        "ruled",
        "A ruling",
        "The disputed pot goes to the seats that the floor names, one line per seat, less the house's tax.",
        ("2070/{table}", _STACK, "net"),
        ("2070/{table}", "4010/{table}", "tax"),
        (_BOX, _AT_TABLE, "chips"),
    ),
    _row(
        "tax_refunded",
        "Tax is refunded",
        "A hand proves to be wrong when it is settled. The tax's chips lie in the locked box, so those of the refund "
        "come from the tray.",
        ("4010/{table}", _STACK, "amount"),
        (_AT_TABLE, _TRAY, "chips"),
        (_TRAY, _AT_TABLE, "change"),
    ),
    _row(
        "fee_refunded",
        "A seat's fee is refunded",
        "The same, where a player has paid in chips for the seat and no tax is taken.",
        ("4020/{table}", _STACK, "amount"),
        (_AT_TABLE, _TRAY, "chips"),
        (_TRAY, _AT_TABLE, "change"),
    ),
    _row(
        "made_good",
        "The house makes good",
        "The same: the house bears what cannot be taken back from those who won.",
        ("5230/{table}", _STACK, "amount"),
        (_AT_TABLE, _TRAY, "chips"),
        (_TRAY, _AT_TABLE, "change"),
    ),
    _row(
        "pairs_settled",
        "A winner gives back",
        "The same: a seat gives another one what it has won of it wrongly, with consent. The chips stay with the "
        "public.",
        ("2020/{table}/{loser}", "2020/{table}/{winner}", "amount"),
    ),
    _row(
        "voided",
        "A hand is voided",
        "Every posting of the hand is reversed once, the newest first, by an exact mirror that is linked to it. A "
        "cukassza that was carried in, and all chips, return to where they were.",
    ),
)
_OTHER = (
    _row("table_fee", "A seat's fee", "Where there is no pot to tax a player pays for the seat, for every deal or for "
         "every hour, with the settlement of a hand. Booked and boxed like tax.",
         (_STACK, "4020/{table}", "amount"), (_BOX, _AT_TABLE, "chips")),
    _row("table_fee_cash", "A table fee in cash", "A player pays at the cage for the time at a table that charges no "
         "fee in chips.", (_DRAWER, "4020/{table}", "amount")),
    _row("kitty_stake", "A stake into the kitty", "A seat pays into the pot that lasts several hands.",
         (_STACK, _POT, "amount")),
    _row("kitty_paid", "A payment into the kitty", "A seat that has failed its undertaking pays into the pot at the "
        "end of the hand.", (_STACK, _POT, "amount")),
    _row("banked", "The kitty above its level", "The part of the pot above the agreed level is put aside.",
         (_POT, _BANK, "amount")),
    _row("topped_up", "The kitty is topped up", "The bank fills a pot up to its level.",
         (_BANK, _POT, "amount")),
    _row("trick_paid", "A share of the kitty", "Each trick takes its part of the pot; a player without opponents "
        "takes all of it.", (_POT, _STACK, "amount")),
    _row("bank_shared", "A bank is shared", "The table closes and its rule gives the bank of the seats to the "
        "players, after the cukassza.", (_BANK, _STACK, "amount")),
    _row("bank_to_house", "A bank goes to the house", "The same, where the rule gives it to the house: booked and "
         "boxed like tax.", (_BANK, "4010/{table}", "tax"), (_BOX, _AT_TABLE, "chips")),
    _row("bank_disputed", "A bank is disputed", "It is kept with the disputed pot of its table, and the same ruling "
        "divides both.", (_BANK, "2070/{table}", "amount")),
    _row("carry_held", "The carryover is held", "The table closes and its rule keeps cukassza and bank for its next "
         "session: the chips go into the tray, and the house owes them.", (_KASSZA, "2080/{table}", "cukassza"),
         (_BANK, "2080/{table}", "bank"), (_TRAY, _AT_TABLE, "chips"), (_AT_TABLE, _TRAY, "change")),
    _row("carry_resumed", "A held carryover is carried on", "The next session begins with it.",
         ("2080/{table}", _KASSZA, "cukassza"), ("2080/{table}", _BANK, "bank"), (_AT_TABLE, _TRAY, "chips"),
         (_TRAY, _AT_TABLE, "change")),
    _row("points_paid", "Points are paid", "One line for each pair of players: the loser pays the winner, there is no "
         "pot. The chips stay with the public.",
         ("2020/{table}/{loser}", "2020/{table}/{winner}", "amount")),
    _row("tip", "A tip", "A player's chips into the table's tip box: owed to the staff from now on.",
         (_STACK, "2060/{table}", "amount"), ("9160/{table}", _AT_TABLE, "chips")),
    _row("tip_missing", "A tip box has too few chips", "The count of a tip box finds less than was entered as "
         "tips: the chips are still with the public, and the staff bears the difference.",
         ("2060/{table}", "2015/{table}", "amount"), (_AT_TABLE, "9160/{table}", "missing"),
         ("9160/{table}", _AT_TABLE, "surplus")),
    _row("tip_found", "A tip box has too many chips", "The mirror: a tip was not entered.",
         ("2015/{table}", "2060/{table}", "amount"), ("9160/{table}", _AT_TABLE, "surplus"),
         (_AT_TABLE, "9160/{table}", "missing")),
    _row("tronc_pooled", "Tips are pooled", "The chips of a counted tip box go into the vault, and the house owes the "
         "staff their worth in cash.", ("2060/{table}", "2065", "amount"), ("9110", "9160/{table}", "chips")),
    _row("cash_tips_counted", "Cash in a tip box", "Cash that was counted in a tip box goes into the vault.",
         ("1010", "2065", "cash")),
    _row("tronc_share_paid", "A share of the tips is paid", "A member of the staff gets the own share in cash.",
         ("2065", _DRAWER, "amount")),
    _row("duty", "Gaming duty", "Duty on the house's take falls due.",
         ("5300", "2200", "amount")),
    _row("duty_paid", "Duty is paid", "From the bank, by the number of a return.", ("2200", "1090", "amount")),
    _row("duty_lowered", "Duty is lowered", "A booking was too high: what of it was too much is not payable.",
         ("2200", "5300", "amount")),
)  # fmt: skip

#: Sections of the table, in the order in which an evening meets them.
SECTIONS: dict[str, tuple[Row, ...]] = {
    "Vault and floats": _VAULT,
    "The cage": _CAGE_ROWS,
    "Seats, trays and boxes": _SEATS,
    "Hands": _HANDS,
    "Other games, tips, duty": _OTHER,
}
EVENTS: dict[str, Row] = {row.name: row for rows in SECTIONS.values() for row in rows}
