"""The vault's first filling, and new drawers."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError

from casino.audit.events.cage import DrawerSetUp, VaultOpened
from casino.audit.services import Actor, record
from casino.bookkeeping import chart
from casino.bookkeeping.accounts import AT_BANK, VAULT, Account
from casino.bookkeeping.postings import posting
from casino.cage.models import Drawer
from casino.chips import selectors as chip_sets
from casino.core import denominations, locks, once_live, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses.models import House

#: Accounts that the vault has as a place, besides the house's own: chips of other houses, and what its counts find.
OF_THE_VAULT = (
    Account.FOREIGN_CHIPS,
    Account.CHIPS_UNATTRIBUTED,
    Account.CASH_OVER_SHORT,
    Account.CHIP_OVER_SHORT,
    Account.PUBLIC,
)
VAULT_ACCOUNTS = (
    Account.VAULT_CASH,
    Account.TRONC_POOL,
    Account.UNCLAIMED,
    Account.DUTY_PAYABLE,
    Account.HOUSE_CAPITAL,
    Account.OTHER_INCOME,
    Account.GAMING_DUTY,
    Account.VAULT_CHIPS,
    Account.SET_ASIDE,
    Account.COMMISSIONED,
    *(f"{number}/{VAULT}" for number in OF_THE_VAULT),
    Account.CASH_IN_TRANSIT,
    Account.BANK_ACCOUNT,
    Account.CLEARING,
    Account.FOREIGN_LOSS,
    Account.COUNTERFEITS,
    Account.WINNINGS_WITHHELD,
    Account.STAKES_GIVEN_BACK,
    f"{Account.CASH_OVER_SHORT}/{AT_BANK}",
)
#: Accounts that every drawer has for itself.
DRAWER_ACCOUNTS = (
    Account.DRAWER_CASH,
    Account.FOREIGN_CHIPS,
    Account.CHIPS_UNATTRIBUTED,
    Account.CASH_OVER_SHORT,
    Account.CHIP_OVER_SHORT,
    Account.CAGE_CHIPS,
    Account.PUBLIC,
)


def open_vault(*, house: House, capital: int, chips: Mapping[Any, int], actor: Actor) -> None:
    """Put the house's capital (minor units of cash) and its commissioned chips (pieces by denomination) into the vault.

    Raises as :func:`open_vault_at_office`.
    """
    with sql.joined():
        work = Work(house, actor)
        work.record(chain=house.chain, event=_filled(house, work, capital, chips))


def open_vault_at_office(*, command: Command, capital: int, pieces: Mapping[Any, int]) -> Answer:
    """Put the owners' capital and the commissioned chips into the vault, as :func:`open_vault` does. Raises Conflict
    no_chip_set or vault_open, Unprocessable for wrong pieces, WrongTerminal."""

    def change(house: House, work: Work) -> Outcome:
        event = _filled(house, work, capital, pieces)
        return Outcome(event, {"capital": capital, "pieces": event.chips}, 201)

    return write.write(command, OfHouse(lock=locks.lock_places, office=True), change)


def _filled(house: House, work: Work, capital: int, chips: Mapping[Any, int]) -> VaultOpened:
    chip_set = chip_sets.in_use(house)
    commissioned = denominations.parse(chip_set, chips)
    if chart.is_open(house, Account.VAULT_CASH):
        raise Conflict(f"The vault of {house.code} has its capital and its chips already.", code="vault_open")
    chart.open_accounts(house, VAULT_ACCOUNTS, chip_set)
    work.post(
        key="vault:opening",
        kind="vault.opened",
        postings=[
            posting("capital_paid_in", {}, cash=capital),
            posting("chips_commissioned", {}, chips=commissioned),
        ],
        metadata={},
    )
    return VaultOpened(capital=capital, chips=commissioned.as_json())


def create_drawer(*, house: House, code: str, actor: Actor) -> Drawer:
    """Set up a drawer with its accounts; it is closed and empty. Raises ValidationError, Conflict drawer_exists
    or place_exists."""
    with sql.joined():
        drawer = _set_up(house, code)
        record(chain=drawer.chain, house=house, actor=actor, event=DrawerSetUp())
    return drawer


def create_drawer_at_office(*, command: Command, code: str) -> Answer:
    """Set up a drawer, as :func:`create_drawer` does. Raises as that, Conflict no_chip_set, WrongTerminal,
    Conflict approval_required once the house is live."""

    def change(house: House, work: Work) -> Outcome:
        drawer = _set_up(house, code)
        once_live.require_approval(house, work, once_live.SETTINGS)
        return Outcome(DrawerSetUp(), {"drawer": code, "version": drawer.version}, 201, version=drawer.version)

    place = Drawer(house=command.context.house, code=code).chain
    return write.write(command, OfHouse(lock=locks.lock_places, office=True, place=place), change)


def _set_up(house: House, code: str) -> Drawer:
    drawer = Drawer(house=house, code=code)
    drawer.clean_fields(exclude=["house"])
    chip_set = chip_sets.in_use(house)
    try:
        drawer.save(force_insert=True)
    except IntegrityError:
        raise Conflict(f"House {house.code} has a drawer {code} already.", code="drawer_exists") from None
    chart.require_own_accounts(house, code)
    chart.open_accounts(house, [drawer.account(number) for number in DRAWER_ACCOUNTS], chip_set)
    return drawer
