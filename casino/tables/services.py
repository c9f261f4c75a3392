"""Opening and closing tables, sitting down, adding chips and leaving."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from casino.approvals.gate import Need
from casino.approvals.models import ApprovalKind
from casino.audit.events import AuditEvent, TableEvent
from casino.audit.events.tables import (
    ChipsAdded,
    ClientSeedsChanged,
    DevicePlayChanged,
    SatDown,
    SeatFeeChanged,
    SeatLeft,
    TableClosed,
    TableOpened,
    TableSetUp,
    TimeToActChanged,
    TrayStocked,
)
from casino.audit.services import Actor, record
from casino.bookkeeping import books, chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import moved_anything, posting
from casino.chips import floats, templates
from casino.chips import selectors as chips
from casino.chips.models import PlaceKind
from casino.core import commands, kept, locks, once_live, sql, valid, write
from casino.core.commands import Answer, Command, RequestContext
from casino.core.errors import Conflict, NotFound, Unprocessable, WrongTerminal
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses import control_points, stages
from casino.houses.models import ClockTimestamp, House
from casino.players import persons
from casino.players.models import Player
from casino.safeguards import standing
from casino.staff.models import Role, TerminalKind
from casino.tables import bringing, carrying, openers, selectors, turns, versions, waiting
from casino.tables.carrying import Session
from casino.tables.models import (
    CarryoverOnClose,
    ClientSeeds,
    FeePer,
    Seating,
    Table,
    TableSession,
    TableState,
    TurnEnd,
)

#: Accounts that every table has for itself, so that no two tables ever wait for the same row.
TABLE_ACCOUNTS = (
    Account.DROP_CASH, Account.CHIPS_UNATTRIBUTED, Account.POT, Account.CUKASSZA, Account.BANK, Account.TRONC,
    Account.DISPUTED_POT, Account.CARRY_HELD, Account.HOUSE_TAX, Account.TABLE_FEES, Account.BONUS,
    Account.CASH_OVER_SHORT, Account.CHIP_OVER_SHORT, Account.GOODWILL,
    Account.TRAY, Account.TRANSIT, Account.TAX_BOX, Account.TRONC_BOX, Account.PUBLIC,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is agreed on at a table: game, options, seats, limits of a stack (minor units), what ends a cukassza, whose
    seeds an electronic deal needs, how many seconds a seat has for its act (None: no limit), what a seat costs (minor
    units, 0: nothing) and what that is for; and the area in which the table stands for good (empty: none)."""

    game: str
    options: Mapping[str, Any]
    seats: int
    min_stack: int
    max_stack: int
    carryover_on_close: CarryoverOnClose
    client_seeds: ClientSeeds = ClientSeeds.OPTIONAL
    time_to_act: int | None = None
    seat_fee: int = 0
    seat_fee_per: FeePer = FeePer.DEAL
    area: str = ""


def create_table(
    *, house: House, code: str, terms: Terms, actor: Actor, varying: Mapping[str, Sequence[Any]] | None = None
) -> Table:
    """Set up a table and its accounts. The options were checked by the engine (see `hands.terms.set_up_table`), which
    also says which of them are `varying` from deal to deal, with every value that they may have. Raises as
    :func:`set_up`."""
    with sql.joined():
        table, event = set_up(house, code, terms, varying, actor.staff)
        record(chain=table.chain, house=house, actor=actor, event=event)
    return table


def set_up(
    house: House, code: str, terms: Terms, varying: Mapping[str, Sequence[Any]] | None, by: str
) -> tuple[Table, TableSetUp]:
    """A new table with its accounts, and the event that records it; as :func:`create_table`, in the caller's
    transaction. `by`: login of the person, or name of the process. Raises Conflict table_exists, place_exists or
    no_chip_set, ValidationError."""
    agreed = asdict(terms)
    free = {} if terms.seat_fee else {"seat_fee": None, "seat_fee_per": None}
    same, accounts = sql.together(Table.objects.filter(house=house, code=code), chart.own_accounts(house, code))
    if same:
        raise Conflict(f"House {house.code} has a table {code} already.", code="table_exists")
    chart.require_none(house, code, accounts)
    table = Table(house=house, code=code, **agreed)
    valid.create(table, known={"house"})
    own, first = [table.account(number) for number in TABLE_ACCOUNTS], versions.beginning(table, by)
    chart.open_accounts(house, own, chips.in_use(house), first)
    return table, TableSetUp(**agreed | free | {"area": terms.area or None}, varying=varying or None)


def stock_tray(
    *, table: Table, amount: int | None = None, pieces: Mapping[Any, int] | None = None, actor: Actor
) -> None:
    """Bring chips from the vault to a table's tray, from which the house pays bonuses and makes change: these `pieces`
    by denomination, or a spread of denominations worth `amount` minor units. Once for each table."""
    with sql.joined():
        work = Work(table.house, actor)
        work.record(chain=table.chain, event=_stocked(table, work, amount, pieces))


def stock_tray_at_office(
    *, command: Command, code: str, amount: int | None = None, pieces: Mapping[Any, int] | None = None,
    by_template: bool = False,
) -> Answer:  # fmt: skip
    """Bring a new table its chips, as :func:`stock_tray` does, or those of its template. Raises NotFound,
    WrongTerminal, Conflict tray_stocked where it has had them, no_template, approval_required once the house is live,
    and what :func:`casino.chips.floats.from_vault` raises."""

    def change(house: House, work: Work) -> Outcome:
        table = selectors.get(house, code)
        named = templates.require(house, PlaceKind.TABLE, code).pieces.as_json() if by_template else pieces
        event = _stocked(table, work, amount, named)
        once_live.require_approval(house, work, once_live.SETTINGS)
        return Outcome(event, {"table": code, "amount": event.amount, "pieces": event.chips}, 201)

    place = Table(house=command.context.house, code=code).chain
    return write.write(command, OfHouse(lock=locks.lock_places, office=True, place=place), change)


def stock_key(table: Table) -> str:
    """The ledger's key of what brings a tray its chips of the set in use."""
    return f"tray:{table.code}:stock:{chips.in_use(table.house).code}"


def _stocked(table: Table, work: Work, amount: int | None, pieces: Mapping[Any, int] | None) -> TrayStocked:
    key = stock_key(table)
    if books.posted_under(table.house, [key]):
        raise Conflict(f"The tray of table {table.code} has had its chips; a fill brings it more.", code="tray_stocked")
    stock = floats.from_vault(table.house, amount=amount, pieces=pieces)
    work.post(
        key=key,
        kind="table.tray_stocked",
        postings=[posting("tray_stocked", {"table": table.code}, chips=stock)],
        metadata={"table": table.code},
    )
    return TrayStocked(amount=stock.value, chips=stock.as_json())


# --- What every write at a table shares -----------------------------------------------------------------------------


def require_at(context: RequestContext, table: Table) -> None:
    """Refuse terminals that do not stand at this table."""
    if context.terminal.kind != TerminalKind.TABLE or context.terminal.location != table.code:
        raise WrongTerminal(f"Terminal {context.terminal.code} is not at table {table.code}.")


def require_state(table: Table, *allowed: TableState) -> None:
    """Refuse unless the table is in one of these states."""
    if table.state not in allowed:
        wanted = " or ".join(allowed)
        raise Conflict(
            f"Table {table.code} is {table.state}; this needs a table that is {wanted}.",
            code=f"table_{table.state}",
            state=table.state,
        )


def require_dealer(context: RequestContext, table: Table) -> None:
    """Refuse a dealer at a table that another dealer has taken over. Raises Conflict not_the_dealer."""
    if context.role == Role.DEALER and table.dealer_id not in (None, context.staff.pk):
        raise Conflict(
            f"Another dealer has taken over table {table.code}; relieve that dealer first.", code="not_the_dealer"
        )


def require_none_prepared(table: Table) -> None:
    """Refuse while an electronic deal is prepared: it must be dealt, or the floor abandons it and gives a reason."""
    if table.prepared_deal:
        raise Conflict(
            f"Deal {table.prepared_deal} is prepared: deal it electronically, or let the floor abandon it.",
            code="deal_prepared",
            hand=table.prepared_deal,
        )


_ADVANCE = """
UPDATE tables_table SET state = %s::text, version = %s::bigint, button = %s::smallint, hands_dealt = %s::integer,
    last_record_hash = %s::text, prepared_deal = %s::text, abandoned_deals = %s::integer
WHERE id = %s::bigint
"""


def to_state(table: Table, state: TableState) -> None:
    """Let the table be in its next state from the next `advance` on."""
    if state not in Table.NEXT[table.state]:
        raise AssertionError(f"no table goes from {table.state} to {state}")
    table.state = state


def advance(table: Table, work: Work) -> None:
    """Save the table with its next version, together with the work's event."""
    table.version += 1
    values = [table.state, table.version, table.button, table.hands_dealt]
    work.also(_ADVANCE, [*values, table.last_record_hash, table.prepared_deal, table.abandoned_deals, table.id])


def at_version(event: AuditEvent, version: int) -> AuditEvent:
    """The same event with the table's new version, if it does not have it already."""
    return event.at_table_version(version) if isinstance(event, TableEvent) else event


@dataclass(frozen=True, slots=True)
class AtTable:
    """The table of this code as the subject of a write at its own terminal."""

    code: str

    def open(self, command: Command) -> Table:
        """Lock the table. Raises NotFound, WrongTerminal, VersionConflict."""
        house = command.context.house
        reads = control_points.reading(house), chips.reading(house)
        table, found = commands.locked(command, Table, locks.Rank.DESK, *reads, house=house, code=self.code)
        table.house = house
        control_points.read(house, found[0])
        chips.read(house, found[1])
        self.require_place(command.context, table)
        command.require_version(table.version)
        return table

    def require_place(self, context: RequestContext, table: Table) -> None:
        """At the table's own terminal. Raises WrongTerminal."""
        require_at(context, table)

    def chain(self, table: Table) -> str:
        """The table's own."""
        return table.chain

    def advance(self, table: Table, work: Work, outcome: Outcome) -> tuple[int, AuditEvent]:
        """The next version; what was posted goes to the ledger now, because the answer reads it there."""
        [seen] = work.flush(selectors.describing(table))
        kept.keep(_seen_at(table), seen)
        advance(table, work)
        return table.version, at_version(outcome.event, table.version)

    def answer(self, table: Table, outcome: Outcome) -> dict[str, Any]:
        """The table as it is now, what the outcome adds, and the kind of the event."""
        seen = kept.take(_seen_at(table), lambda: sql.read(selectors.describing(table)))
        return {**selectors.described(table, seen), **outcome.body, "last_event": outcome.event.last_event()}


def _seen_at(table: Table) -> tuple[str, Any]:
    return "table seen", table.pk


# --- The writes -----------------------------------------------------------------------------------------------------


def demand_seeds(*, command: Command, code: str, demanded: ClientSeeds, reason: str) -> Answer:
    """Change whose seeds the table's electronic deals need, from the next deal on. Raises Conflict no_change, and
    deal_prepared while one is committed to under the old terms."""

    def change(table: Table, work: Work) -> Outcome:
        require_state(table, TableState.CLOSED, TableState.OPEN)
        require_none_prepared(table)
        before = table.client_seeds
        if before == demanded:
            raise Conflict(f"Table {code} has client seeds {before} already.", code="no_change")
        Table.objects.filter(id=table.id).update(client_seeds=demanded)
        table.client_seeds = demanded
        return Outcome(ClientSeedsChanged(before=str(before), after=str(demanded), reason=reason))

    return write.write(command, AtTable(code), change)


def set_time_to_act(*, command: Command, code: str, seconds: int | None, reason: str) -> Answer:
    """Change how many seconds a seat of the table has for its act, None for no limit. In the middle of a hand, too: the
    seat whose turn it is has the whole time from now on. Raises Conflict no_change."""

    def change(table: Table, work: Work) -> Outcome:
        before = table.time_to_act
        if before == seconds:
            raise Conflict(f"Table {code} has time to act {before} already.", code="no_change")
        Table.objects.filter(id=table.id).update(time_to_act=seconds, time_to_act_since=ClockTimestamp())
        table.time_to_act = seconds
        return Outcome(TimeToActChanged(before=before, after=seconds, reason=reason))

    return write.write(command, AtTable(code), change)


def allow_device_play(*, command: Command, code: str, allowed: bool, reason: str) -> Answer:
    """Let players act from their own devices in electronic hands, or let them no more, from the next act on. Raises
    Conflict no_change."""

    def change(table: Table, work: Work) -> Outcome:
        before = table.device_play
        if before == allowed:
            raise Conflict(f"Table {code} has device play {str(before).lower()} already.", code="no_change")
        Table.objects.filter(id=table.id).update(device_play=allowed)
        table.device_play = allowed
        return Outcome(DevicePlayChanged(before=before, after=allowed, reason=reason))

    return write.write(command, AtTable(code), change)


def set_seat_fee(
    *, command: Command, code: str, amount: int, per: FeePer, reason: str, require: Callable[[Table], None]
) -> Answer:
    """Change what a seat of the table costs, from the next deal on: `amount` minor units, 0 for nothing, for every deal
    or for every hour. `require` raises where the table's game takes no such fee. Raises Conflict no_change,
    and approval_required once the house is live."""

    def change(table: Table, work: Work) -> Outcome:
        require(table)
        before, after = (table.seat_fee, table.seat_fee_per), (amount, per)
        if before == after:
            raise Conflict(
                f"A seat of table {code} costs {table.house.money(amount)} for every {per} already.", code="no_change"
            )
        once_live.require_approval(table.house, work, once_live.SETTINGS)
        Table.objects.filter(id=table.id).update(seat_fee=amount, seat_fee_per=per)
        table.seat_fee, table.seat_fee_per = after
        return Outcome(
            SeatFeeChanged(before=before[0], before_per=str(before[1]), after=amount, after_per=str(per), reason=reason)
        )

    return write.write(command, AtTable(code), change)


def open_table(*, command: Command, code: str, counted: Callable[[Table], int | None]) -> Answer:
    """Open the table for a new session. `counted` gives the number of the newest confirmed count of its tray if that is
    an opener, otherwise None; an opener is good for one session. Raises Conflict opener_required where there is none
    and the tray is worth more than the house lets open uncounted."""

    def change(table: Table, work: Work) -> Outcome:
        require_state(table, TableState.CLOSED)
        stages.require_opening(work.house)
        versions.bring(table)
        before = table.sessions.order_by("-number").first()
        number = before.number + 1 if before else 1
        held = before.held if before else {}
        opener = counted(table)
        if opener is not None and TableSession.objects.filter(table=table, opener=opener).exists():
            opener = None
        if opener is None:
            openers.require_none(table)
        TableSession.objects.create(
            house_id=table.house_id, table=table, number=number, resumes=before if held else None, opener=opener
        )
        if held:
            work.post(
                key=command.ledger_key("carry"),
                kind="table.carry_resumed",
                postings=carrying.resumed(table, held),
                metadata={"table": code},
            )
        table.button = None
        to_state(table, TableState.OPEN)
        return Outcome(TableOpened(session=number, opener=opener, resumed=held or None))

    return write.write(command, AtTable(code), change)


def sit(
    *, command: Command, code: str, seat: int, player_ref: str, amount: int, ticket: int | None = None, brought: int = 0
) -> Answer:
    """Seat a player with `amount` minor units of the chips in the player's hands: with none, and nothing posted, where
    the table's limits allow that. So much of it is `brought` beyond what is booked for the player. `ticket`: the
    player's number on the waiting list, whose wait ends.

    Raises NotFound, Gone person_forgotten, Conflict seat_taken, already_seated or not_called, Unprocessable
    no_such_seat or stack_out_of_range, the ledger's insufficient_funds when the player does not hold that much, and as
    `bringing.put_down`.
    """

    def change(table: Table, work: Work) -> Outcome:
        key = command.ledger_key()
        return seat_player(
            table, work, key=key, seat=seat, player_ref=player_ref, amount=amount, ticket=ticket, brought=brought
        )

    return write.write(command, AtTable(code), change)


def seat_player(
    table: Table, work: Work, *, key: str, seat: int, player_ref: str, amount: int, ticket: int | None = None,
    brought: int = 0,
) -> Outcome:  # fmt: skip
    """What sitting down does at a locked table, posted under this key. Raises as :func:`sit`."""
    require_state(table, TableState.OPEN, TableState.PLAYING, TableState.SETTLING)
    player, _ = take_seat(table, seat, player_ref, amount, ticket)
    if amount:
        work.post(
            key=key,
            kind="table.sat_down",
            postings=bringing.put_down(table, player, amount, brought),
            metadata={"table": table.code, "player": player_ref},
        )
    event = SatDown(seat=seat, player=player_ref, amount=amount, ticket=ticket, brought=brought or None)
    return Outcome(event, status=201)


def add_chips(*, command: Command, code: str, seat: int, amount: int, brought: int = 0) -> Answer:
    """Add chips to a stack, between hands only: a stack in play is what the others play against. `brought` as in
    :func:`sit`."""

    def change(table: Table, work: Work) -> Outcome:
        require_state(table, TableState.OPEN)
        seating = at_seat(table, seat)
        player = seating.player
        standing.require_play(table.house, player)
        require_limits(table, selectors.stacks(table, [seating])[player.ref] + amount)
        chips.in_use(table.house).require_payable(amount, "A stack")
        work.post(
            key=command.ledger_key(),
            kind="table.chips_added",
            postings=bringing.put_down(table, player, amount, brought),
            metadata={"table": code, "player": player.ref},
        )
        return Outcome(ChipsAdded(seat=seat, player=player.ref, amount=amount, brought=brought or None))

    return write.write(command, AtTable(code), change)


def leave(*, command: Command, code: str, seat: int, session: Session) -> Answer:
    """Let a player leave with all chips; the share of a cukassza that is being carried is forfeited. Raises Conflict
    session_under_way where the game's session is paid at its end."""

    def change(table: Table, work: Work) -> Outcome:
        require_state(table, TableState.OPEN)
        seating = at_seat(table, seat)
        carrying.require_settled(session(table, [seating]), seating.player.ref)
        amount = _stand_up(work, table, [seating], key=command.ledger_key())[seating.player.ref]
        return Outcome(SeatLeft(seat=seat, player=seating.player.ref, amount=amount))

    return write.write(command, AtTable(code), change)


#: A manager approves that a cukassza or bank is held for the next session.
HELD = Need(kind=ApprovalKind.CARRY, roles=(Role.MANAGER,))


def close_table(
    *, command: Command, code: str, session: Session, counted: Callable[[Table], int | None]
) -> Answer:  # fmt: skip
    """Close the session: settle cukassza and bank by the table's rule, then free all seats. `session` says what the
    game's own session comes to if it ends here; `counted` gives the number of the count of the tray if that is a closer
    and still right. Raises Conflict carry_without_players, carryover_open where the rule is to play on, closer_required
    where there is no closer and the house wants one, approval_required where something is held for the next session."""

    def change(table: Table, work: Work) -> Outcome:
        require_state(table, TableState.OPEN)
        require_none_prepared(table)
        closer = openers.closer(table, counted)
        seatings = selectors.seated(table)
        found = session(table, seatings)
        settled = carrying.settle(table, seatings, found)
        if settled.held:
            work.require_approval(replace(HELD, amount=sum(settled.held.values())))
        if settled.events:
            work.post(
                key=command.ledger_key("carry"),
                kind="table.carry_settled",
                postings=list(settled.events),
                metadata={"table": code, "rule": table.carryover_on_close},
            )
            work.flush()
        amounts = _stand_up(work, table, seatings, key=command.ledger_key())
        work.soon(
            TableSession.objects.filter(table=table, closed_at=None), closed_at=ClockTimestamp(), held=settled.held
        )
        turns.end(table, TurnEnd.CLOSED, work)
        to_state(table, TableState.CLOSED)
        return Outcome(
            TableClosed(
                carryover_on_close=table.carryover_on_close,
                shares=settled.shares,
                held=settled.held or None,
                broken_off=dict(found.owed) or None,
                left_with=amounts,
                closer=closer,
            )
        )

    return write.write(command, AtTable(code), change)


# --- Parts ----------------------------------------------------------------------------------------------------------


def take_seat(
    table: Table, seat: int, player_ref: str, amount: int, ticket: int | None = None, *beside: sql.Statement
) -> tuple[Player, list[list[Any]]]:
    """Put a player on a free seat, whose stack will be `amount` minor units. Meanwhile the player's person cannot be
    erased, and a player who has been forgotten cannot sit down. Returns the player, and what each of `beside` has found
    with the person's lock. Raises as `sit`."""
    ended = [] if ticket is None else [waiting.seating(table, player_ref, ticket)]
    player, found = standing.lock_beside(table.house, player_ref, *beside)
    persons.require_not_forgotten(player)
    persons.require_guest(player)
    standing.require_seat(table.house, player)
    require_limits(table, amount)
    chips.in_use(table.house).require_payable(amount, "A stack")
    occupy(table, seat, player, *ended)
    return player, found


def occupy(table: Table, seat: int, player: Player, *before: sql.Statement) -> None:
    """Put a player on a free seat of a table where a session is open, once `before` was run. Raises Unprocessable
    no_such_seat, Conflict seat_taken or already_seated."""
    if not 1 <= seat <= table.seats:
        raise Unprocessable(
            f"Table {table.code} has seats 1 to {table.seats}.", code="no_such_seat", min=1, max=table.seats
        )
    *_, [session], seated = sql.together(
        *before,
        TableSession.objects.filter(table=table, closed_at=None),
        Seating.objects.filter(session__table=table, session__closed_at=None, left_at=None).values_list(
            "seat", "player_id"
        ),
    )
    # The table is locked: nobody else sits down meanwhile.
    if any(taken == seat for taken, _ in seated):
        raise Conflict(f"Seat {seat} is taken.", code="seat_taken")
    if any(sitting == player.pk for _, sitting in seated):
        raise Conflict(f"{player.ref} already sits at this table.", code="already_seated")
    sits = Seating(house_id=session.house_id, session=session, seat=seat, player=player)
    chart.open_accounts(table.house, [table.stack_account(player.ref)], None, sql.inserting(sits))


def at_seat(table: Table, seat: int, seatings: Sequence[Seating] | None = None) -> Seating:
    """Who sits on this seat, of these who sit at the table if they were read. Raises NotFound."""
    for seating in selectors.seated(table) if seatings is None else seatings:
        if seating.seat == seat:
            return seating
    raise NotFound(f"Seat {seat} of table {table.code} is empty.")


def require_limits(table: Table, stack: int) -> None:
    """Refuse a stack that the table does not allow. Raises Unprocessable stack_out_of_range."""
    if not table.min_stack <= stack <= table.max_stack:
        raise Unprocessable(
            f"A stack at table {table.code} is {table.house.money(table.min_stack)} to "
            f"{table.house.money(table.max_stack)}; this one would be {table.house.money(stack)}.",
            code="stack_out_of_range",
            min=table.min_stack,
            max=table.max_stack,
        )


def _stand_up(work: Work, table: Table, seatings: list[Seating], *, key: str) -> dict[str, int]:
    """Move whole stacks back into their players' hands; returns the amounts by player reference."""
    amounts = selectors.stacks(table, seatings)
    left = [
        posting("left", {"table": table.code, "player": player}, amount=amount) for player, amount in amounts.items()
    ]
    if moved_anything(left):
        work.post(
            key=key,
            kind="table.left",
            postings=left,
            metadata={"table": table.code, "players": sorted(amounts)},
        )
    work.soon(Seating.objects.filter(id__in=[seating.id for seating in seatings]), left_at=ClockTimestamp())
    return amounts
