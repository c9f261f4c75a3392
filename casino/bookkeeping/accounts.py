"""The numbers of the chart of accounts by name. What each holds, `chart` says."""

from enum import StrEnum

#: Places of accounts that are neither tables nor drawers.
VAULT, AT_BANK = "vault", "bank"


class Account(StrEnum):
    """A line of the chart; an account's code is its number, alone or with `/PLACE[/WHO]`."""

    VAULT_CASH = "1010"
    CASH_IN_TRANSIT = "1015"
    DRAWER_CASH = "1020"
    CLEARING = "1030"
    DROP_CASH = "1050"
    BANK_ACCOUNT = "1090"
    FOREIGN_CHIPS = "1160"
    PLAYER_RECEIVABLE = "1300"
    CHIPS_OUTSTANDING = "2010"
    CHIPS_UNATTRIBUTED = "2015"
    SEAT_STACK = "2020"
    POT = "2030"
    CUKASSZA = "2040"
    BANK = "2050"
    TRONC = "2060"
    TRONC_POOL = "2065"
    DISPUTED_POT = "2070"
    CARRY_HELD = "2080"
    HELD_PAYOUTS = "2085"
    WINNINGS_WITHHELD = "2087"
    PLAYER_DEPOSITS = "2090"
    UNCLAIMED = "2095"
    DUTY_PAYABLE = "2200"
    HOUSE_CAPITAL = "3010"
    HOUSE_TAX = "4010"
    TABLE_FEES = "4020"
    OTHER_INCOME = "4030"
    BONUS = "5100"
    CASH_OVER_SHORT = "5200"
    CHIP_OVER_SHORT = "5210"
    FOREIGN_LOSS = "5220"
    GOODWILL = "5230"
    COUNTERFEITS = "5240"
    STAKES_GIVEN_BACK = "5250"
    GAMING_DUTY = "5300"
    VAULT_CHIPS = "9110"
    SET_ASIDE = "9115"
    CAGE_CHIPS = "9120"
    TRAY = "9130"
    TRANSIT = "9140"
    TAX_BOX = "9150"
    TRONC_BOX = "9160"
    PUBLIC = "9170"
    COMMISSIONED = "9199"


#: What lies in the vault and in drawers, which people count without knowing it.
COUNTED_BLIND = frozenset((
    Account.VAULT_CASH, Account.DRAWER_CASH, Account.FOREIGN_CHIPS, Account.VAULT_CHIPS, Account.SET_ASIDE,
    Account.CAGE_CHIPS,
))  # fmt: skip
