"""Places by their names: tables, drawers, the vault, the bank."""

from casino.bookkeeping.accounts import AT_BANK, VAULT, Account
from casino.cage.models import Drawer
from casino.houses.models import House
from casino.tables.models import Table

#: Accounts that have no place in their code, and where what they hold lies.
_WITHOUT = {
    Account.VAULT_CASH: VAULT, Account.VAULT_CHIPS: VAULT, Account.SET_ASIDE: VAULT, Account.FOREIGN_CHIPS: VAULT,
    Account.BANK_ACCOUNT: AT_BANK,
}  # fmt: skip


def place_of(code: str) -> str:
    """The place of an account: what follows its number, or where what it holds lies without that; empty for what lies
    at no place, such as cash on its way."""
    number, _, where = code.partition("/")
    return where or _WITHOUT.get(Account(number), "")


def tables(house: House, **of: str) -> list[str]:
    """Codes of every table that the house has or had; `of` narrows them, `area="bar"`."""
    return list(Table.objects.filter(house=house, **of).order_by("code").values_list("code", flat=True))


def areas(house: House) -> list[str]:
    """Names of every area in which the house has or had a table."""
    named = Table.objects.filter(house=house).exclude(area="").order_by("area")
    return list(named.values_list("area", flat=True).distinct())


def drawers(house: House) -> list[str]:
    """Codes of every drawer."""
    return list(Drawer.objects.filter(house=house).order_by("code").values_list("code", flat=True))


def places(house: House) -> list[str]:
    """Names of every place."""
    return [*tables(house), *drawers(house), VAULT, AT_BANK]
