"""The cage's writes: funding the vault, opening a drawer, buy-ins, cash-outs, counting and closing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max

from casino.audit.events import AuditEvent, DrawerEvent
from casino.audit.events.cage import CageBuyIn, CageCashOut, DrawerClosed, DrawerOpened, DrawerSetUp, VaultOpened
from casino.audit.services import Actor, record
from casino.bookkeeping import books, chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import Posting, moved_anything, posting
from casino.cage import selectors
from casino.cage.models import Drawer, Shift
from casino.chips import floats
from casino.chips import selectors as chip_sets
from casino.chips.changing import Desk
from casino.chips.counts import chip_variance
from casino.core import denominations, locks, write
from casino.core.denominations import Chips
from casino.core.errors import Conflict, WrongTerminal
from casino.core.write import Answer, Command, Outcome, RequestContext, Work
from casino.houses.models import ClockTimestamp, House
from casino.players import persons
from casino.players.models import Player
from casino.staff.models import TerminalKind

#: Chips by denomination as somebody wrote them: {"500": 3}.
Pieces = Mapping[Any, int]
VAULT_ACCOUNTS = (
    Account.VAULT_CASH,
    Account.TRONC_POOL,
    Account.DUTY_PAYABLE,
    Account.HOUSE_CAPITAL,
    Account.GAMING_DUTY,
    Account.VAULT_CHIPS,
    Account.COMMISSIONED,
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

    Raises Conflict no_chip_set, Unprocessable for wrong pieces.
    """
    with transaction.atomic():
        work = Work(house, actor)
        chip_set = chip_sets.in_use(house)
        commissioned = denominations.parse(chip_set, chips)
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
        work.record(chain=house.chain, event=VaultOpened(capital=capital, chips=commissioned.as_json()))


def create_drawer(*, house: House, code: str, actor: Actor) -> Drawer:
    """Set up a drawer with its accounts; it is closed and empty."""
    with transaction.atomic():
        drawer = Drawer(house=house, code=code)
        drawer.full_clean()
        drawer.save(force_insert=True)
        chart.open_accounts(house, [drawer.account(number) for number in DRAWER_ACCOUNTS], chip_sets.in_use(house))
        record(chain=drawer.chain, house=house, actor=actor, event=DrawerSetUp())
    return drawer


_ADVANCE = "UPDATE cage_drawer SET version = %s::bigint WHERE id = %s::bigint"


@dataclass(frozen=True, slots=True)
class AtDrawer:
    """The drawer of this code as the subject of a write at its own terminal."""

    code: str

    def open(self, command: Command) -> Drawer:
        """Lock the drawer. Raises NotFound, WrongTerminal, VersionConflict."""
        drawer = locks.lock(Drawer, locks.Rank.DESK, house=command.context.house, code=self.code)
        write.require_unanswered(command)
        drawer.house = command.context.house
        require_at(command.context, drawer)
        command.require_version(drawer.version)
        return drawer

    def chain(self, drawer: Drawer) -> str:
        """The drawer's own."""
        return drawer.chain

    def advance(self, drawer: Drawer, work: Work, outcome: Outcome) -> tuple[int, AuditEvent]:
        """The next version; what was posted goes to the ledger now, because the answer reads it there."""
        work.flush()
        drawer.version += 1
        work.also(_ADVANCE, [drawer.version, drawer.id])
        event = outcome.event
        return drawer.version, event.at_drawer_version(drawer.version) if isinstance(event, DrawerEvent) else event

    def answer(self, drawer: Drawer, outcome: Outcome) -> dict[str, Any]:
        """The drawer as it is now, and the kind of the event."""
        return {**selectors.describe(drawer), "last_event": outcome.event.last_event()}


def require_at(context: RequestContext, drawer: Drawer) -> None:
    """Refuse terminals that do not stand at this drawer."""
    if context.terminal.kind != TerminalKind.CAGE or context.terminal.location != drawer.code:
        raise WrongTerminal(f"Terminal {context.terminal.code} is not at drawer {drawer.code}.")


def require_open(drawer: Drawer) -> Shift:
    """The shift in progress. Raises Conflict drawer_closed."""
    shift = selectors.open_shift(drawer)
    if shift is None:
        raise Conflict(f"Drawer {drawer.code} is closed; open it first.", code="drawer_closed")
    return shift


def enter(work: Work, key: str, drawer: Drawer, kind: str, events: list[Posting], **metadata: Any) -> None:
    """Post the movements at a drawer, if there are any."""
    if moved_anything(events):
        work.post(
            key=key,
            kind=kind,
            postings=events,
            metadata={"drawer": drawer.code, **metadata},
        )


def open_drawer(
    *, command: Command, code: str, cash: int, chips: int | None = None, pieces: Pieces | None = None
) -> Answer:
    """Open a drawer with a float from the vault: cash, and chips by pieces or a spread of them worth `chips`; minor
    units. Raises Conflict drawer_open, and as `floats.from_vault`."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        if selectors.open_shift(drawer) is not None:
            raise Conflict(f"Drawer {code} is already open.", code="drawer_open")
        chosen = floats.from_vault(drawer.house, amount=chips, pieces=pieces)
        number = (drawer.shifts.aggregate(last=Max("number"))["last"] or 0) + 1
        Shift.objects.create(
            house_id=drawer.house_id,
            drawer=drawer,
            number=number,
            opened_by=command.context.staff,
            float_cash=cash,
            float_chips=chosen.value,
            float_pieces=chosen.as_json(),
        )
        issued = posting("float_issued", {"drawer": code}, cash=cash, chips=chosen)
        enter(work, command.ledger_key(), drawer, "drawer.opened", [issued])
        return Outcome(DrawerOpened(float_cash=cash, float_chips=chosen.value, float_pieces=chosen.as_json()))

    return write.write(command, AtDrawer(code), change)


def buy_in(*, command: Command, code: str, player_ref: str, amount: int, pieces: Pieces | None = None) -> Answer:
    """Take `amount` minor units of cash and give the player chips for it: these pieces, or the largest that the drawer
    can make it of. Raises InsufficientFunds, Conflict no_exact_change, Unprocessable for wrong pieces, NotFound for a
    player whom the house does not know, Gone for one who was forgotten."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        return sell_chips(drawer, work, key=command.ledger_key(), player_ref=player_ref, amount=amount, pieces=pieces)

    return write.write(command, AtDrawer(code), change)


def sell_chips(
    drawer: Drawer, work: Work, *, key: str, player_ref: str, amount: int, pieces: Pieces | None = None
) -> Outcome:
    """What a buy-in does at a locked drawer, posted under this key. Raises as :func:`buy_in`."""
    player, desk = _customer(drawer, player_ref)
    chosen = desk.give(amount) if pieces is None else desk.named(pieces, amount)
    sold = posting("buy_in", {"drawer": drawer.code, "player": player_ref}, amount=amount, chips=chosen)
    enter(work, key, drawer, "cage.buy_in", [sold], player=player_ref)
    return Outcome(CageBuyIn(**_exchanged(work, player, amount, chosen)), status=201)


def cash_out(*, command: Command, code: str, player_ref: str, amount: int, pieces: Pieces | None = None) -> Answer:
    """Take `amount` minor units in chips and pay the player: these pieces, or such as the public can have, with change
    from the drawer. Raises InsufficientFunds when the player holds less away from the tables, Conflict no_exact_change
    or chips_not_in_circulation, Unprocessable for wrong pieces."""

    def change(drawer: Drawer, work: Work) -> Outcome:
        player, desk = _customer(drawer, player_ref)
        # In this order: what the player does not have, what the drawer cannot pay, and only then which chips.
        for pile in (player.wallet, drawer.account(Account.DRAWER_CASH)):
            books.require(drawer.house, pile, chart.balances(drawer.house, [pile])[pile], amount)
        if pieces is None:
            taken, given_back = desk.take_in(amount)
        else:
            taken, given_back = desk.require_public(desk.named(pieces, amount)), Chips(desk.chips.code)
        bought = posting(
            "cash_out", {"drawer": code, "player": player_ref}, amount=amount, chips=taken, change=given_back
        )
        enter(work, command.ledger_key(), drawer, "cage.cash_out", [bought], player=player_ref)
        return Outcome(CageCashOut(**_exchanged(work, player, amount, taken, given_back)), status=201)

    return write.write(command, AtDrawer(code), change)


def _customer(drawer: Drawer, player_ref: str) -> tuple[Player, Desk]:
    require_open(drawer)
    player = persons.lock(drawer.house, player_ref)
    persons.require_not_forgotten(player)
    player.house = drawer.house
    return player, Desk(drawer.house, drawer.account(Account.CAGE_CHIPS), drawer.code)


def _exchanged(
    work: Work, player: Player, amount: int, chips: Chips, given_back: Chips | None = None
) -> dict[str, Any]:
    work.flush()
    held = chart.balances(player.house, [player.wallet])[player.wallet]
    found = {"player": player.ref, "amount": amount, "player_chips": held, "exchanged": chips.as_json()}
    return found | ({"change": given_back.as_json()} if given_back else {})


def close_drawer(
    *,
    command: Command,
    code: str,
    counted_cash: int,
    counted_chips: int | None = None,
    counted_pieces: Pieces | None = None,
    require: Callable[[Drawer], None],
) -> Answer:
    """Count the drawer, post what is over or short, and return everything to the vault.

    Cash short is an expense against the drawer's cash. Chips short are in the public's hands without anybody having
    paid: the house owes them and custody moves to the public; over is the mirror of each. Chips are compared by
    denomination; where others are there than expected, worth the same, they were exchanged with the public and no money
    moves. A count that only says what the chips are worth is taken to have found the expected pieces, and what is over
    or short in chips as `_variance` works them out.

    `require` raises where something of the drawer's is pending that only an open drawer can end. Raises Conflict
    drawer_closed.
    """

    def change(drawer: Drawer, work: Work) -> Outcome:
        shift = require_open(drawer)
        require(drawer)
        cash, desk = selectors.cash(drawer), Desk(drawer.house, drawer.account(Account.CAGE_CHIPS), code)
        expected = desk.rack
        if counted_pieces is None:
            variance = _variance(desk, (counted_chips or 0) - expected.value)
        else:
            variance = desk.named(counted_pieces, counted_chips) - expected
        counted = expected + variance
        events = [
            *_cash_variance(code, counted_cash - cash),
            *chip_variance(drawer.account(Account.CAGE_CHIPS), code, variance),
            posting("float_returned", {"drawer": code}, cash=counted_cash, chips=counted),
        ]
        enter(work, command.ledger_key(), drawer, "drawer.closed", events, shift=shift.number)
        work.flush()
        _attest(drawer, shift, counted_cash, counted, desk)
        Shift.objects.filter(id=shift.id).update(
            closed_by=command.context.staff,
            closed_at=ClockTimestamp(),
            expected_cash=cash,
            counted_cash=counted_cash,
            expected_chips=expected.value,
            counted_chips=counted.value,
            expected_pieces=expected.as_json(),
            counted_pieces=counted.as_json(),
        )
        shift.refresh_from_db()
        return Outcome(DrawerClosed(reconciliation=selectors.reconciliation(shift)))

    return write.write(command, AtDrawer(code), change)


def _attest(drawer: Drawer, shift: Shift, cash: int, counted: Chips, desk: Desk) -> None:
    """Have the ledger keep the count, found true once the variance was booked: cash and every denomination."""
    metadata = {"drawer": drawer.code, "shift": shift.number}
    books.attest(drawer.house, drawer.account(Account.DRAWER_CASH), [(drawer.house.currency, cash)], metadata)
    pieces = [
        (chart.commodity(drawer.house, counted.chip_set, value), counted.pieces.get(value, 0))
        for value in desk.chips.values
    ]
    books.attest(drawer.house, drawer.account(Account.CAGE_CHIPS), pieces, metadata)


def _variance(desk: Desk, over: int) -> Chips:
    """The chips that a count by value found over (short: below zero), worked out: over from the public, short to it,
    with change where need be. More than the public can have had is booked in the fewest chips. Raises Conflict
    no_exact_change where a shortage cannot be made of the drawer's chips: then the pieces have to be counted."""
    if over < 0:
        less, more = desk.pay_out(-over)
        return more - less
    try:
        more, less = desk.take_in(over)
    except Conflict:
        return denominations.canonical(desk.chips, over)
    return more - less


def _cash_variance(code: str, over: int) -> list[Posting]:
    return [posting("cash_over" if over > 0 else "cash_short", {"drawer": code}, amount=abs(over))]
