"""A worked example of every row of the table of postings: data that a test posts and that the page of postings prints.

All begin on the same evening, in euros: OPENING, the state after Anna and Bela have sat down at table T1. An example
then needs nothing but what it names itself; `after` lists every account that it touches, with what it holds then.
Amounts in cents.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from casino.bookkeeping.postings import Posting, posting
from casino.core.denominations import Chips, ChipSet

CURRENCY = "EUR"
CHIPS = ChipSet("MAIN", (100, 500, 2_500, 10_000))
ANNA, BELA = {"table": "T1", "player": "anna"}, {"table": "T1", "player": "bela"}
T1, C1 = {"table": "T1"}, {"drawer": "C1"}
BOTH = {**T1, **C1}
AT_C1 = {"rack": "9120/C1", "place": "C1"}


@dataclass(frozen=True, slots=True)
class Example:
    """What happens in one posting, after OPENING and `given`, and what every account it touches holds after it: minor
    units, or pieces by denomination. `mirrored`: the posting is reversed, and `after` is what the mirror leaves."""

    story: str
    events: tuple[Posting, ...]
    after: Mapping[str, int | Mapping[int, int]]
    given: tuple[Posting, ...] = ()
    mirrored: bool = False


def _mix(pieces: Mapping[int, int]) -> Chips:
    return Chips(CHIPS.code, pieces)


_BOUGHT = {100: 50, 500: 20, 2_500: 6}

#: The evening so far, one posting each.
OPENING: tuple[Posting, ...] = (
    posting("capital_paid_in", {}, cash=10_000_000),
    posting("chips_commissioned", {}, chips=_mix({100: 2_000, 500: 2_000, 2_500: 400, 10_000: 100})),
    posting("float_issued", C1, cash=200_000, chips=_mix({100: 300, 500: 300, 2_500: 100, 10_000: 20})),
    posting("tray_stocked", T1, chips=_mix({100: 100, 500: 100, 2_500: 20})),
    posting("buy_in", {**C1, **ANNA}, amount=30_000, chips=_mix(_BOUGHT)),
    posting("buy_in", {**C1, **BELA}, amount=30_000, chips=_mix(_BOUGHT)),
    posting("sat_down", ANNA, amount=20_000),
    posting("sat_down", BELA, amount=20_000),
)
#: What it has left, in money and in pieces.
OPENED: dict[str, int | Mapping[int, int]] = {
    "1010": 9_800_000, "1020/C1": 260_000, "3010": 10_000_000,
    "2010/anna": 10_000, "2010/bela": 10_000, "2020/T1/anna": 20_000, "2020/T1/bela": 20_000,
    "9110": {100: 1_600, 500: 1_600, 2_500: 280, 10_000: 80},
    "9120/C1": {100: 200, 500: 260, 2_500: 88, 10_000: 20},
    "9130/T1": {100: 100, 500: 100, 2_500: 20},
    "9170/C1": {100: 100, 500: 40, 2_500: 12},
    "9199": {100: 2_000, 500: 2_000, 2_500: 400, 10_000: 100},
}  # fmt: skip

_STAKES = (posting("stake", ANNA, amount=100), posting("stake", BELA, amount=100))
_SIXTY_EACH = (posting("stake", ANNA, amount=6_000), posting("stake", BELA, amount=6_000))
_CARRIED = (*_STAKES, posting("carried_out", T1, amount=200))
_WON = posting("award", ANNA, net=11_500, tax=500, chips=_mix({500: 1}))
_TABLE_BUY_IN = posting("buy_in_at_table", ANNA, amount=5_000, chips=_mix({2_500: 2}))
_FILL = posting("fill_sent", BOTH, chips=_mix({100: 40}))
_CREDIT = posting("credit_sent", T1, chips=_mix({500: 20}))
_TIP = posting("tip", ANNA, amount=500, chips=_mix({500: 1}))
_WORN = posting("chips_set_aside", {}, chips=_mix({500: 40}))
_DEPOSITED = posting("deposit_taken", {**C1, **ANNA}, amount=20_000)
_HELD = posting("payout_held", {**C1, **BELA}, amount=10_000, chips=_mix({2_500: 4}))
_FOUND = posting("found_chips", C1, amount=5_000, chips=_mix({2_500: 2}))
_BY_CARD = posting("noncash_buy_in", {**C1, **ANNA}, amount=5_000, chips=_mix({2_500: 2}))
_UNATTRIBUTED = posting("unattributed", {"place": "C1", "player": "anna"}, amount=10_000)
_REDEEMED = posting("withdrawn_redeemed", C1, given=_mix({500: 1}), change=_mix({100: 5}))
_LAPSED = posting("chips_lapsed", {"owed": "/C1", "public": "/C1"}, amount=10_000, chips=_mix({2_500: 4}))
_POOLED = posting("tronc_pooled", T1, amount=500, chips=_mix({500: 1}))
_KITTY = (posting("kitty_stake", ANNA, amount=1_500), posting("kitty_stake", BELA, amount=1_500))
_TO_BANK = posting("bank_sent", {}, cash=50_000)
_AT_BANK = (_TO_BANK, posting("bank_confirmed", {}, cash=50_000))
_FROM_BANK = posting("bank_drawn", {}, cash=20_000)
_BANKED = posting("banked", T1, amount=1_000)

_MONEY_AND_RACKS: dict[str, Example] = {
    "capital_paid_in": Example(
        "The owners add 1,000.00.",
        (posting("capital_paid_in", {}, cash=100_000),),
        {"1010": 9_900_000, "3010": 10_100_000},
    ),
    "capital_paid_in_by_bank": Example(
        "They transfer 1,000.00.",
        (posting("capital_paid_in_by_bank", {}, amount=100_000),),
        {"1090": 100_000, "3010": 10_100_000},
    ),
    "capital_paid_out": Example(
        "The owners take 1,000.00 out of the vault.",
        (posting("capital_paid_out", {}, cash=100_000),),
        {"1010": 9_700_000, "3010": 9_900_000},
    ),
    "capital_paid_out_by_bank": Example(
        "The bank transfers 300.00 to them.",
        (posting("capital_paid_out_by_bank", {}, amount=30_000),),
        {"1090": 20_000, "3010": 9_970_000},
        given=_AT_BANK,
    ),
    "chips_commissioned": Example(
        "The maker delivers 500 more chips of 1.00.",
        (posting("chips_commissioned", {}, chips=_mix({100: 500})),),
        {"9110": {100: 2_100}, "9199": {100: 2_500}},
    ),
    "chips_set_aside": Example(
        "Forty worn chips of 5.00 are put aside.",
        (_WORN,),
        {"9110": {500: 1_560}, "9115": {500: 40}},
    ),
    "set_aside_destroyed": Example(
        "They are ground up.",
        (posting("set_aside_destroyed", {}, chips=_mix({500: 40})),),
        {"9115": {500: 0}, "9199": {500: 1_960}},
        given=(_WORN,),
    ),
    "withdrawn_redeemed": Example(
        "A chip of 5.00 of a withdrawn set is taken for five of 1.00.",
        (_REDEEMED,),
        {"9115/C1": {500: 1}, "9170/C1": {100: 105, 500: 39}, "9120/C1": {100: 195}},
    ),
    "withdrawn_set_aside": Example(
        "It comes to the vault.",
        (posting("withdrawn_set_aside", C1, chips=_mix({500: 1})),),
        {"9115": {500: 1}, "9115/C1": {500: 0}},
        given=(_REDEEMED,),
    ),
    "chips_lapsed": Example(
        "Four chips of 25.00 of a set have not come back when its notice is over.",
        (_LAPSED,),
        {"2015/C1": 0, "2095": 10_000, "9170/C1": {2_500: 8}, "9199": {2_500: 396}},
        given=(_UNATTRIBUTED,),
    ),
    "late_claim_paid": Example(
        "Somebody brings one of those four chips after all, and is paid 25.00.",
        (posting("late_claim_paid", C1, amount=2_500, chips=_mix({2_500: 1})),),
        {"2095": 7_500, "1020/C1": 257_500, "9115/C1": {2_500: 1}, "9199": {2_500: 397}},
        given=(_UNATTRIBUTED, _LAPSED),
    ),
    "float_issued": Example(
        "The cashier draws 500.00 more in cash and a hundred chips of 1.00.",
        (posting("float_issued", C1, cash=50_000, chips=_mix({100: 100})),),
        {"1010": 9_750_000, "1020/C1": 310_000, "9110": {100: 1_500}, "9120/C1": {100: 300}},
    ),
    "float_returned": Example(
        "The shift ends and the count found everything.",
        (posting("float_returned", C1, cash=260_000, chips=_mix({100: 200, 500: 260, 2_500: 88, 10_000: 20})),),
        {
            "1010": 10_060_000,
            "1020/C1": 0,
            "9110": {100: 1_800, 500: 1_860, 2_500: 368, 10_000: 100},
            "9120/C1": {100: 0, 500: 0, 2_500: 0, 10_000: 0},
        },
    ),
    "drawer_replenished": Example(
        "The drawer runs out of small change: 500.00 in cash and 100 chips of 1.00.",
        (posting("drawer_replenished", C1, cash=50_000, chips=_mix({100: 100})),),
        {"1010": 9_750_000, "1020/C1": 310_000, "9110": {100: 1_500}, "9120/C1": {100: 300}},
    ),
    "drawer_skimmed": Example(
        "Too much cash lies in the drawer: 1,000.00 go to the vault, and ten chips of 100.00.",
        (posting("drawer_skimmed", C1, cash=100_000, chips=_mix({10_000: 10})),),
        {"1010": 9_900_000, "1020/C1": 160_000, "9110": {10_000: 90}, "9120/C1": {10_000: 10}},
    ),
    "vault_short": Example(
        "Two people count 1.00 less than there must be.",
        (posting("vault_short", {}, amount=100),),
        {"1010": 9_799_900, "5200/vault": 100},
    ),
    "vault_over": Example(
        "Two people count 2.00 more than there must be.",
        (posting("vault_over", {}, amount=200),),
        {"1010": 9_800_200, "5200/vault": -200},
    ),
    "bank_sent": Example(
        "Two people seal 500.00 in a bag.",
        (_TO_BANK,),
        {"1010": 9_750_000, "1015": 50_000},
    ),
    "bank_confirmed": Example(
        "Another day the bank finds 499.00 in it.",
        (posting("bank_confirmed", {}, cash=49_900, short=100),),
        {"1015": 0, "1090": 49_900, "5200/bank": 100},
        given=(_TO_BANK,),
    ),
    "bank_drawn": Example(
        "The vault wants 200.00 in coins.",
        (_FROM_BANK,),
        {"1015": 20_000, "1090": 30_000},
        given=_AT_BANK,
    ),
    "bank_received": Example(
        "The bag holds 201.00.",
        (posting("bank_received", {}, cash=20_000, over=100),),
        {"1010": 9_770_100, "1015": 0, "5200/bank": -100},
        given=(*_AT_BANK, _FROM_BANK),
    ),
    "foreign_redeemed": Example(
        "The other house pays 38.00 for chips of 40.00.",
        (posting("foreign_redeemed", {}, paid=3_800, loss=200),),
        {"1160/vault": 0, "1090": 3_800, "5220": 200},
        given=(posting("foreign_chips", C1, amount=4_000), posting("foreign_to_vault", C1, amount=4_000)),
    ),
    "tray_stocked": Example(
        "Fifty more chips of 1.00 for change.",
        (posting("tray_stocked", T1, chips=_mix({100: 50})),),
        {"9110": {100: 1_550}, "9130/T1": {100: 150}},
    ),
    "buy_in": Example(
        "Anna buys chips for 100.00 and gets four of 25.00.",
        (posting("buy_in", {**C1, **ANNA}, amount=10_000, chips=_mix({2_500: 4})),),
        {"1020/C1": 270_000, "2010/anna": 20_000, "9120/C1": {2_500: 84}, "9170/C1": {2_500: 16}},
    ),
    "cash_out": Example(
        "Anna wants 80.00 for four chips of 25.00: she gets four of 5.00 back.",
        (posting("cash_out", {**C1, **ANNA}, amount=8_000, chips=_mix({2_500: 4}), change=_mix({500: 4})),),
        {
            "1020/C1": 252_000,
            "2010/anna": 2_000,
            "9120/C1": {2_500: 92, 500: 256},
            "9170/C1": {2_500: 8, 500: 44},
        },
    ),
    "counterfeit_note": Example(
        "A note of 50.00 in the drawer is no good.",
        (posting("counterfeit_note", C1, amount=5_000),),
        {"1020/C1": 255_000, "5240": 5_000},
    ),
    "counterfeit_note_in_vault": Example(
        "Two such notes are found in the vault.",
        (posting("counterfeit_note_in_vault", {}, amount=10_000),),
        {"1010": 9_790_000, "5240": 10_000},
    ),
    "counterfeit_chip": Example(
        "A chip of 100.00 in the drawer was not made for the house.",
        (posting("counterfeit_chip", AT_C1, amount=10_000, chips=_mix({10_000: 1})),),
        {"5240": 10_000, "2015/C1": 10_000, "9120/C1": {10_000: 19}, "9170/C1": {10_000: 1}},
    ),
    "bearer_buy_in": Example(
        "A guest without a name buys chips for 50.00.",
        (posting("bearer_buy_in", C1, amount=5_000, chips=_mix({2_500: 2})),),
        {"1020/C1": 265_000, "2015/C1": 5_000, "9120/C1": {2_500: 86}, "9170/C1": {2_500: 14}},
    ),
    "bearer_cash_out": Example(
        "Somebody brings two chips of 25.00, which Anna or Bela had bought.",
        (posting("bearer_cash_out", C1, amount=5_000, chips=_mix({2_500: 2})),),
        {"1020/C1": 255_000, "2015/C1": -5_000, "9120/C1": {2_500: 90}, "9170/C1": {2_500: 10}},
    ),
    "attributed": Example(
        "Anna brings chips worth 50.00 more than are booked for her.",
        (posting("attributed", {"place": "C1", "player": "anna"}, amount=5_000),),
        {"2015/C1": -5_000, "2010/anna": 15_000},
    ),
    "unattributed": Example(
        "30.00 were booked for Bela by mistake.",
        (posting("unattributed", {"place": "C1", "player": "bela"}, amount=3_000),),
        {"2010/bela": 7_000, "2015/C1": 3_000},
    ),
    "noncash_buy_in": Example(
        "Anna pays 50.00 by card.",
        (_BY_CARD,),
        {"1030": 5_000, "2010/anna": 15_000, "9120/C1": {2_500: 86}, "9170/C1": {2_500: 14}},
    ),
    "clearing_settled": Example(
        "The statement of the bank has it.",
        (posting("clearing_settled", {}, amount=5_000),),
        {"1030": 0, "1090": 5_000},
        given=(_BY_CARD,),
    ),
    "noncash_paid": Example(
        "Bela has four chips of 25.00 paid to the own account.",
        (posting("noncash_paid", {**C1, **BELA}, amount=10_000, chips=_mix({2_500: 4})),),
        {"2010/bela": 0, "1090": 40_000, "9120/C1": {2_500: 92}, "9170/C1": {2_500: 8}},
        given=_AT_BANK,
    ),
    "found_chips": Example(
        "Two chips of 25.00 lie under a chair.",
        (_FOUND,),
        {"2015/C1": -5_000, "2095": 5_000, "9120/C1": {2_500: 90}, "9170/C1": {2_500: 10}},
    ),
    "found_claimed": Example(
        "A guest knows how many there were, and where.",
        (posting("found_claimed", C1, amount=5_000, chips=_mix({2_500: 2})),),
        {"2015/C1": 0, "2095": 0, "9120/C1": {2_500: 88}, "9170/C1": {2_500: 12}},
        given=(_FOUND,),
    ),
    "unclaimed_remitted": Example(
        "Nobody has claimed them for 90 days.",
        (posting("unclaimed_remitted", {}, amount=5_000),),
        {"2095": 0, "1090": 45_000},
        given=(*_AT_BANK, _FOUND),
    ),
    "unclaimed_kept": Example(
        "The law leaves them to the house.",
        (posting("unclaimed_kept", {}, amount=5_000),),
        {"2095": 0, "4030": 5_000},
        given=(_FOUND,),
    ),
    "payout_held": Example(
        "Bela brings four chips of 25.00, and nobody knows who she is.",
        (_HELD,),
        {"2010/bela": 0, "2085/bela": 10_000, "9120/C1": {2_500: 92}, "9170/C1": {2_500: 8}},
    ),
    "payout_released": Example(
        "She has shown her passport.",
        (posting("payout_released", {**C1, **BELA}, amount=10_000),),
        {"2085/bela": 0, "1020/C1": 250_000},
        given=(_HELD,),
    ),
    "payout_released_by_bank": Example(
        "She is paid by the bank instead.",
        (posting("payout_released_by_bank", BELA, amount=10_000),),
        {"2085/bela": 0, "1090": 40_000},
        given=(*_AT_BANK, _HELD),
    ),
    "minor_settled": Example(
        "Bela is a minor. She had paid in 80.00, and has brought chips worth 100.00, which are held.",
        (posting("minor_settled", BELA, kept=2_000),),
        {"2085/bela": 8_000, "2087": 2_000},
        given=(_HELD,),
    ),
    "winnings_remitted": Example(
        "The bank pays the 20.00 to the state.",
        (posting("winnings_remitted", {}, amount=2_000),),
        {"2087": 0, "1090": 48_000},
        given=(*_AT_BANK, _HELD, posting("minor_settled", BELA, kept=2_000)),
    ),
    "deposit_taken": Example(
        "Anna leaves 200.00 at the cage.",
        (_DEPOSITED,),
        {"1020/C1": 280_000, "2090/anna": 20_000},
    ),
    "deposit_drawn": Example(
        "She takes 50.00 of it in chips of 25.00.",
        (posting("deposit_drawn", {**C1, **ANNA}, amount=5_000, chips=_mix({2_500: 2})),),
        {"2090/anna": 15_000, "2010/anna": 15_000, "9120/C1": {2_500: 86}, "9170/C1": {2_500: 14}},
        given=(_DEPOSITED,),
    ),
    "deposit_returned": Example(
        "She takes all of it back.",
        (posting("deposit_returned", {**C1, **ANNA}, amount=20_000),),
        {"2090/anna": 0, "1020/C1": 260_000},
        given=(_DEPOSITED,),
    ),
    "foreign_chips": Example(
        "A guest brings chips of another house worth 40.00.",
        (posting("foreign_chips", C1, amount=4_000),),
        {"1160/C1": 4_000, "1020/C1": 256_000},
    ),
    "foreign_short": Example(
        "Of chips of another house worth 40.00 the count finds 30.00.",
        (posting("foreign_short", C1, amount=1_000),),
        {"5200/C1": 1_000, "1160/C1": 3_000},
        given=(posting("foreign_chips", C1, amount=4_000),),
    ),
    "foreign_over": Example(
        "Chips of another house worth 5.00 are there that nobody has entered.",
        (posting("foreign_over", C1, amount=500),),
        {"5200/C1": -500, "1160/C1": 500},
    ),
    "variance_offset": Example(
        "A buy-in of 100.00 was entered as one of 200.00: cash was 100.00 short, and chips over.",
        (posting("variance_offset", {"place": "C1"}, chips_over=10_000),),
        {"5200/C1": 0, "5210/C1": 0},
        given=(
            posting("cash_short", C1, amount=10_000),
            posting("chip_over", AT_C1, amount=10_000, surplus=_mix({10_000: 1})),
        ),
    ),
    "drawer_handed_over": Example(
        "The next cashier counts everything in drawer C1, chips of another house worth 40.00 with it, and opens C2.",
        (
            posting(
                "drawer_handed_over",
                C1 | {"to": "C2"},
                cash=256_000,
                foreign=4_000,
                chips=_mix({100: 200, 500: 260, 2_500: 88, 10_000: 20}),
            ),
        ),
        {
            "1020/C1": 0,
            "1020/C2": 256_000,
            "1160/C1": 0,
            "1160/C2": 4_000,
            "9120/C1": {100: 0, 500: 0, 2_500: 0, 10_000: 0},
            "9120/C2": {100: 200, 500: 260, 2_500: 88, 10_000: 20},
        },
        given=(posting("foreign_chips", C1, amount=4_000),),
    ),
    "withdrawn_handed_over": Example(
        "A chip of 5.00 of a withdrawn set was taken back at C1 before.",
        (posting("withdrawn_handed_over", C1 | {"to": "C2"}, chips=_mix({500: 1})),),
        {"9115/C1": {500: 0}, "9115/C2": {500: 1}},
        given=(_REDEEMED,),
    ),
    "foreign_to_vault": Example(
        "The drawer closes with chips of another house worth 40.00.",
        (posting("foreign_to_vault", C1, amount=4_000),),
        {"1160/vault": 4_000, "1160/C1": 0},
        given=(posting("foreign_chips", C1, amount=4_000),),
    ),
    "exchange": Example(
        "Twenty-five chips of 1.00 are coloured up to one of 25.00 at the cage.",
        (posting("exchange", AT_C1, given=_mix({100: 25}), change=_mix({2_500: 1})),),
        {"9120/C1": {100: 225, 2_500: 87}, "9170/C1": {100: 75, 2_500: 13}},
    ),
    "cash_short": Example(
        "5.00 are missing.",
        (posting("cash_short", C1, amount=500),),
        {"5200/C1": 500, "1020/C1": 259_500},
    ),
    "cash_over": Example(
        "3.00 are there that should not be.",
        (posting("cash_over", C1, amount=300),),
        {"5200/C1": -300, "1020/C1": 260_300},
    ),
    "chip_short": Example(
        "Three chips of 5.00 are missing and five of 1.00 too many: 10.00 short, and the rest was an exchange.",
        (posting("chip_short", AT_C1, amount=1_000, missing=_mix({500: 3}), surplus=_mix({100: 5})),),
        {"5210/C1": 1_000, "2015/C1": 1_000, "9120/C1": {500: 257, 100: 205}, "9170/C1": {500: 43, 100: 95}},
    ),
    "chip_over": Example(
        "Two chips of 1.00 too many.",
        (posting("chip_over", AT_C1, amount=200, surplus=_mix({100: 2})),),
        {"5210/C1": -200, "2015/C1": -200, "9120/C1": {100: 202}, "9170/C1": {100: 98}},
    ),
    "buy_in_at_table": Example(
        "Anna puts 50.00 down and gets two chips of 25.00 from the tray.",
        (_TABLE_BUY_IN,),
        {"1050/T1": 5_000, "2020/T1/anna": 25_000, "9130/T1": {2_500: 18}, "9170/T1": {2_500: 2}},
    ),
    "sat_down": Example(
        "Anna adds the 100.00 that she has left.",
        (posting("sat_down", ANNA, amount=10_000),),
        {"2010/anna": 0, "2020/T1/anna": 30_000},
    ),
    "bearer_sat_down": Example(
        "Anna puts down chips worth 50.00 that a friend has given her.",
        (posting("bearer_sat_down", ANNA, amount=5_000),),
        {"2015/T1": -5_000, "2020/T1/anna": 25_000},
    ),
    "left": Example(
        "Anna leaves with all of her 200.00.",
        (posting("left", ANNA, amount=20_000),),
        {"2010/anna": 30_000, "2020/T1/anna": 0},
    ),
    "fill_sent": Example(
        "Forty chips of 1.00 are on their way to T1.",
        (_FILL,),
        {"9120/C1": {100: 160}, "9140/T1": {100: 40}},
    ),
    "fill_received": Example(
        "They arrive.",
        (posting("fill_received", T1, chips=_mix({100: 40})),),
        {"9130/T1": {100: 140}, "9140/T1": {100: 0}},
        given=(_FILL,),
    ),
    "credit_sent": Example(
        "T1 sends twenty chips of 5.00 back.",
        (_CREDIT,),
        {"9130/T1": {500: 80}, "9140/T1": {500: 20}},
    ),
    "credit_received": Example(
        "They arrive.",
        (posting("credit_received", BOTH, chips=_mix({500: 20})),),
        {"9120/C1": {500: 280}, "9140/T1": {500: 0}},
        given=(_CREDIT,),
    ),
    "soft_count": Example(
        "After a buy-in of 50.00 at the table and a hand with 5.00 of tax the boxes are opened.",
        (posting("soft_count", T1, cash=5_000, chips=_mix({500: 1})),),
        {"1010": 9_805_000, "1050/T1": 0, "9110": {500: 1_601}, "9150/T1": {500: 0}},
        given=(_TABLE_BUY_IN, *_SIXTY_EACH, _WON),
    ),
    "drop_short": Example(
        "The drop box should hold 50.00, and 45.00 are counted.",
        (posting("drop_short", T1, amount=500),),
        {"1050/T1": 4_500, "5200/T1": 500},
        given=(_TABLE_BUY_IN,),
    ),
    "drop_over": Example(
        "It holds 52.00.",
        (posting("drop_over", T1, amount=200),),
        {"1050/T1": 5_200, "5200/T1": -200},
        given=(_TABLE_BUY_IN,),
    ),
}

_HANDS: dict[str, Example] = {
    "stake": Example(
        "Anna posts a first stake of 1.00.",
        (posting("stake", ANNA, amount=100),),
        {"2020/T1/anna": 19_900, "2030/T1": 100},
    ),
    "stake_returned": Example(
        "Anna has bet 40.00, and only 25.00 of it were matched.",
        (posting("stake_returned", ANNA, amount=1_500),),
        {"2020/T1/anna": 17_500, "2030/T1": 2_500},
        given=(posting("stake", ANNA, amount=4_000),),
    ),
    "missing_stake": Example(
        "The hand is not played; Bela has paid no first stake.",
        (posting("missing_stake", BELA, amount=100),),
        {"2020/T1/bela": 19_900, "2030/T1": 100},
    ),
    "carried_out": Example(
        "Nobody has won the 2.00.",
        (posting("carried_out", T1, amount=200),),
        {"2030/T1": 0, "2040/T1": 200},
        given=_STAKES,
    ),
    "carried_in": Example(
        "The next hand begins with them.",
        (posting("carried_in", T1, amount=200),),
        {"2030/T1": 200, "2040/T1": 0},
        given=_CARRIED,
    ),
    "award": Example(
        "The pot is 120.00, tax 5 % with a cap of 5.00: 5.00 go to the house, 115.00 to Anna, who had put in 60.00.",
        (_WON,),
        {"2030/T1": 0, "2020/T1/anna": 25_500, "4010/T1": 500, "9150/T1": {500: 1}, "9170/T1": {500: -1}},
        given=_SIXTY_EACH,
    ),
    "bonus": Example(
        "Anna shows a 41, for which the house pays 100.00.",
        (posting("bonus", ANNA, amount=10_000, chips=_mix({2_500: 4})),),
        {"5100/T1": 10_000, "2020/T1/anna": 30_000, "9130/T1": {2_500: 16}, "9170/T1": {2_500: 4}},
    ),
    "cukassza_shared": Example(
        "2.00 are left when the table closes; each of the two gets half.",
        (posting("cukassza_shared", ANNA, amount=100), posting("cukassza_shared", BELA, amount=100)),
        {"2040/T1": 0, "2020/T1/anna": 20_000, "2020/T1/bela": 20_000},
        given=_CARRIED,
    ),
    "cukassza_to_house": Example(
        "The same at a table whose rule gives it to the house.",
        (posting("cukassza_to_house", T1, tax=200, chips=_mix({100: 2})),),
        {"2040/T1": 0, "4010/T1": 200, "9150/T1": {100: 2}, "9170/T1": {100: -2}},
        given=_CARRIED,
    ),
    "disputed": Example(
        "Replay and record of a hand with 120.00 in its pot disagree.",
        (posting("disputed", T1, amount=12_000),),
        {"2030/T1": 0, "2070/T1": 12_000},
        given=_SIXTY_EACH,
    ),
    "ruled": Example(
        "The floor rules for Bela.",
        (posting("ruled", BELA, net=11_500, tax=500, chips=_mix({500: 1})),),
        {"2070/T1": 0, "2020/T1/bela": 25_500, "4010/T1": 500, "9150/T1": {500: 1}, "9170/T1": {500: -1}},
        given=(*_SIXTY_EACH, posting("disputed", T1, amount=12_000)),
    ),
    "tax_refunded": Example(
        "Anna's pot was taxed with 5.00, and should not have been.",
        (posting("tax_refunded", ANNA, amount=500, chips=_mix({500: 1})),),
        {"4010/T1": 0, "2020/T1/anna": 26_000, "9130/T1": {500: 99}, "9170/T1": {500: 0}},
        given=(*_SIXTY_EACH, _WON),
    ),
    "fee_refunded": Example(
        "Anna has paid 5.00 for a seat in a hand that should not have been dealt.",
        (posting("fee_refunded", ANNA, amount=500, chips=_mix({500: 1})),),
        {"4020/T1": 0, "2020/T1/anna": 20_000, "9130/T1": {500: 99}, "9170/T1": {500: 0}},
        given=(posting("table_fee", ANNA, amount=500, chips=_mix({500: 1})),),
    ),
    "made_good": Example(
        "Anna's pot of 115.00 was Bela's. Anna has left with it, and the house bears it.",
        (posting("made_good", BELA, amount=11_500, chips=_mix({2_500: 4, 500: 3})),),
        {"5230/T1": 11_500, "2020/T1/bela": 25_500, "9130/T1": {500: 97, 2_500: 16}, "9170/T1": {500: 2, 2_500: 4}},
        given=(*_SIXTY_EACH, _WON),
    ),
    "pairs_settled": Example(
        "The same; Anna consents to give back 115.00.",
        (posting("pairs_settled", {**T1, "loser": "anna", "winner": "bela"}, amount=11_500),),
        {"2020/T1/anna": 14_000, "2020/T1/bela": 25_500},
        given=(*_SIXTY_EACH, _WON),
    ),
    "voided": Example(
        "A hand had opened with a cukassza of 2.00 and a bet of 60.00 when a card was turned over. This is what its "
        "mirror leaves.",
        (posting("carried_in", T1, amount=200), posting("stake", ANNA, amount=6_000)),
        {"2030/T1": 0, "2040/T1": 200, "2020/T1/anna": 19_900},
        given=_CARRIED,
        mirrored=True,
    ),
    "kitty_stake": Example(
        "Anna pays an ante of 5.00.",
        (posting("kitty_stake", ANNA, amount=500),),
        {"2020/T1/anna": 19_500, "2030/T1": 500},
    ),
    "banked": Example(
        "The pot has grown to 30.00, the agreed level is 20.00.",
        (_BANKED,),
        {"2030/T1": 2_000, "2050/T1": 1_000},
        given=_KITTY,
    ),
    "topped_up": Example(
        "The pot has been paid out; the bank's 10.00 open the next one.",
        (posting("topped_up", T1, amount=1_000),),
        {"2030/T1": 1_000, "2050/T1": 0},
        given=(*_KITTY, _BANKED, posting("trick_paid", BELA, amount=2_000)),
    ),
    "kitty_paid": Example(
        "Anna has taken no trick and pays as much as the pot was, 20.00.",
        (posting("kitty_paid", ANNA, amount=2_000),),
        {"2020/T1/anna": 18_000, "2030/T1": 2_000},
    ),
    "trick_paid": Example(
        "Each of four tricks takes a fourth of the 20.00; Bela makes one.",
        (posting("trick_paid", BELA, amount=500),),
        {"2030/T1": 1_500, "2020/T1/bela": 20_500},
        given=(posting("kitty_stake", ANNA, amount=2_000),),
    ),
    "table_fee": Example(
        "Anna pays 5.00 for her seat.",
        (posting("table_fee", ANNA, amount=500, chips=_mix({500: 1})),),
        {"2020/T1/anna": 19_500, "4020/T1": 500, "9150/T1": {500: 1}, "9170/T1": {500: -1}},
    ),
    "table_fee_cash": Example(
        "Anna pays 20.00 at the cage for two hours at table T1.",
        (posting("table_fee_cash", {**C1, **T1}, amount=2_000),),
        {"1020/C1": 262_000, "4020/T1": 2_000},
    ),
    "bank_shared": Example(
        "10.00 lie in the bank when the table closes; each of the two gets half.",
        (posting("bank_shared", ANNA, amount=500), posting("bank_shared", BELA, amount=500)),
        {"2050/T1": 0, "2020/T1/anna": 19_000, "2020/T1/bela": 19_000},
        given=(*_KITTY, _BANKED),
    ),
    "bank_to_house": Example(
        "The same at a table whose rule gives it to the house.",
        (posting("bank_to_house", T1, tax=1_000, chips=_mix({500: 2})),),
        {"2050/T1": 0, "4010/T1": 1_000, "9150/T1": {500: 2}, "9170/T1": {500: -2}},
        given=(*_KITTY, _BANKED),
    ),
    "bank_disputed": Example(
        "Replay and record of a hand disagree while 10.00 lie in the bank.",
        (posting("bank_disputed", T1, amount=1_000),),
        {"2050/T1": 0, "2070/T1": 1_000},
        given=(*_KITTY, _BANKED),
    ),
    "carry_held": Example(
        "10.00 lie in the bank when the table closes; they are kept for the next evening.",
        (posting("carry_held", T1, bank=1_000, chips=_mix({500: 2})),),
        {"2050/T1": 0, "2080/T1": 1_000, "9130/T1": {500: 102}, "9170/T1": {500: -2}},
        given=(*_KITTY, _BANKED),
    ),
    "carry_resumed": Example(
        "The next evening begins with them.",
        (posting("carry_resumed", T1, bank=1_000, chips=_mix({500: 2})),),
        {"2050/T1": 1_000, "2080/T1": 0, "9130/T1": {500: 100}, "9170/T1": {500: 0}},
        given=(*_KITTY, _BANKED, posting("carry_held", T1, bank=1_000, chips=_mix({500: 2}))),
    ),
    "points_paid": Example(
        "Anna has lost 12.00 in points to Bela.",
        (posting("points_paid", {**T1, "loser": "anna", "winner": "bela"}, amount=1_200),),
        {"2020/T1/anna": 18_800, "2020/T1/bela": 21_200},
    ),
    "tip": Example(
        "Anna tips 5.00.",
        (_TIP,),
        {"2020/T1/anna": 19_500, "2060/T1": 500, "9160/T1": {500: 1}, "9170/T1": {500: -1}},
    ),
    "tip_missing": Example(
        "Nothing is found in the tip box.",
        (posting("tip_missing", T1, amount=500, missing=_mix({500: 1})),),
        {"2060/T1": 0, "2015/T1": 500, "9160/T1": {500: 0}, "9170/T1": {500: 0}},
        given=(_TIP,),
    ),
    "tip_found": Example(
        "Two chips are found in the tip box.",
        (posting("tip_found", T1, amount=500, surplus=_mix({500: 1})),),
        {"2060/T1": 1_000, "2015/T1": -500, "9160/T1": {500: 2}, "9170/T1": {500: -2}},
        given=(_TIP,),
    ),
    "tronc_pooled": Example(
        "The tip box was counted.",
        (_POOLED,),
        {"2060/T1": 0, "2065": 500, "9110": {500: 1_601}, "9160/T1": {500: 0}},
        given=(_TIP,),
    ),
    "cash_tips_counted": Example(
        "It had 20.00 in cash, too.",
        (posting("cash_tips_counted", {}, cash=2_000),),
        {"2065": 2_000, "1010": 9_802_000},
    ),
    "tronc_share_paid": Example(
        "A dealer gets a share of 5.00.",
        (posting("tronc_share_paid", C1, amount=500),),
        {"2065": 0, "1020/C1": 259_500},
        given=(_TIP, _POOLED),
    ),
    "duty": Example(
        "1,200.00 fall due.",
        (posting("duty", {}, amount=120_000),),
        {"5300": 120_000, "2200": 120_000},
    ),
    "duty_paid": Example(
        "400.00 of it are paid by the return of November.",
        (posting("duty_paid", {}, amount=40_000),),
        {"2200": 80_000, "1090": 10_000},
        given=(*_AT_BANK, posting("duty", {}, amount=120_000)),
    ),
    "duty_lowered": Example(
        "200.00 too much were booked.",
        (posting("duty_lowered", {}, amount=20_000),),
        {"5300": 100_000, "2200": 100_000},
        given=(posting("duty", {}, amount=120_000),),
    ),
}
EXAMPLES: dict[str, Example] = _MONEY_AND_RACKS | _HANDS
