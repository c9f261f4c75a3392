"""The evening of a rehearsal: a day, a drawer, every table with a hand, a fill, a ruling, a drawer that is short.

Everything goes through the services that requests go through, and hands are settled as the worker settles them.
"""

import random
from collections.abc import Callable, Iterator
from typing import Any

from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.cage import closing, contents, handing
from casino.cage import services as cage
from casino.cage.models import Drawer, HandoverKind
from casino.chips import selectors as chips
from casino.core import denominations
from casino.core.commands import Asked, RequestContext
from casino.core.errors import Conflict
from casino.days import services as days
from casino.golive import choosing
from casino.golive.acting import Cast
from casino.hands import bonus, later_rulings, preparing, selectors, sessions, settlement, terms
from casino.hands import services as hands
from casino.hands.later_rulings import Remedy
from casino.hands.models import Hand, HandState
from casino.houses import control_points, gaming_clock
from casino.houses.models import OutboxMessage
from casino.players import persons
from casino.players import services as players
from casino.staff.models import Role, TerminalKind
from casino.tables import selectors as tables_read
from casino.tables import services as tables
from casino.tables.models import ClientSeeds, Table, TableState
from casino.transfers import services as transfers
from casino.transfers import tray_counts
from casino.transfers.models import Kind, Purpose
from casino.transfers.selectors import open_work
from casino.transfers.services import End, Paper

#: Acts of one hand, and hands of one session, at most.
MOST_ACTS, MOST_HANDS = 3_000, 60
#: Refusals after which a session goes on with another hand.
_GOES_ON = ("carryover_open", "session_under_way")
#: Refusals of a choice that a seat's cards do not allow, of which the offer to a console does not say so.
_COMPELLED = ("verb_not_legal", "wrong_places")
#: Why things are done.
REASON = "rehearsal"


class Evening:
    """An evening in a sandbox copy, in parts that are called in their order."""

    def __init__(self, cast: Cast, tables_of: list[Table]) -> None:
        self.cast, self.house = cast, cast.copy.house
        self.tables = [table.code for table in tables_of]
        self.points = control_points.in_force(self.house)
        self.chip_set = chips.in_use(self.house)
        self.drawer = self.house.drawers.order_by("code").values_list("code", flat=True)[0]
        self._identified: set[str] = set()
        self._choice = random.Random(self.house.code)  # noqa: S311 - which of the legal actions, for a rehearsal
        self.day = gaming_clock.due(self.house.time_zone, self.house.day_cut_off).isoformat()

    def parts(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """What is rehearsed, by name."""
        yield "day_opened", self.open_day
        yield "drawer_opened", self.open_drawer
        yield "approved_fill", self.fill
        for code in self.tables:
            yield f"table {code}", lambda code=code: self.play(code)  # type: ignore[misc]
        yield "ruling", self.rule
        for code in self.tables:
            yield f"closing {code}", lambda code=code: self.close(code)  # type: ignore[misc]
        yield "cash_outs", self.pay_out
        yield "short_drawer", self.close_drawer
        yield "day_closed", self.close_day

    # --- Who and where -----------------------------------------------------------------------------------------------

    def _cage(self, role: Role) -> RequestContext:
        return self.cast.at(role, TerminalKind.CAGE, self.drawer)

    def _at_table(self, role: Role, code: str) -> RequestContext:
        return self.cast.at(role, TerminalKind.TABLE, code)

    def _table(self, code: str) -> Table:
        return tables_read.get(self.house, code)

    def _asked(self, operation: str, path: str, body: dict[str, Any]) -> Asked:
        return Asked(operation=operation, path=f"/api/v1/{path}", body=body)

    # --- The day and the drawer --------------------------------------------------------------------------------------

    def open_day(self) -> None:
        """Open the gaming day of today."""
        manager = self.cast.at(Role.MANAGER)
        self.cast.write(manager, lambda command: days.open_day(command=command, name=self.day))

    def open_drawer(self) -> None:
        """A float of up to half the vault's chips that a supervisor counts out and a manager signs for; the cashier
        counts it and takes it."""
        most = self.points.float_most
        held = chart.balances(self.house, [Account.VAULT_CASH])[Account.VAULT_CASH]
        cash = min(held, self.points.no_buy_in_above // 2, most // 4)
        pieces = self._float(most - cash)
        self.cast.write(
            self._cage(Role.CAGE_SUPERVISOR),
            lambda command: handing.offer(
                command=command, code=self.drawer, kind=HandoverKind.FLOAT, cash=cash, pieces=pieces
            ),
        )
        self.cast.write(
            self._cage(Role.MANAGER), lambda command: handing.sign(command=command, code=self.drawer, number=1)
        )
        self.cast.write(
            self._cage(Role.CASHIER),
            lambda command: handing.open_drawer(command=command, code=self.drawer, cash=cash, pieces=pieces),
        )

    def _float(self, most: int) -> dict[str, int]:
        """Half of the vault's chips of each kind, from the smallest on, worth as much as this at most."""
        pieces: dict[str, int] = {}
        for value, count in sorted(chips.rack(self.house, Account.VAULT_CHIPS).pieces.items()):
            pieces[str(value)] = min(-(-count // 2), most // value)
            most -= pieces[str(value)] * value
        return {value: count for value, count in pieces.items() if count}

    def _stack(self, table: Table) -> int:
        """The least that a player brings, in whole chips of the smallest kind."""
        step = self.chip_set.smallest
        least = max(table.min_stack, step if table.max_stack else 0)
        return -(-least // step) * step

    def _players(self, table: Table) -> int:
        return terms.least_players(table.game, table.options)

    def fill(self) -> None:
        """A fill of such a worth that a second person approves it, if the drawer can spare it; the dealer counts what a
        third person has carried and takes it in."""
        table = next((table for table in map(self._table, self.tables) if table.max_stack), None)
        if table is None:
            return
        rack = chips.rack(self.house, f"{Account.CAGE_CHIPS}/{self.drawer}")
        step = self.chip_set.smallest
        wanted = -(-max(self.points.transfer_approved_from, step) // step) * step
        # Players buy chips too.
        spare = max(rack.value // 2 // step * step, step)
        pieces = denominations.make(min(wanted, spare), rack).as_json()
        carrier = self.cast.at(Role.FLOOR).staff.login
        body = {"table": table.code, "pieces": pieces, "carrier": carrier}
        asked = self._asked("sendFill", f"drawers/{self.drawer}/fills", body)
        sent = self.cast.write(
            self._cage(Role.CASHIER),
            lambda command: transfers.start(
                command=command, end=End(TerminalKind.CAGE, self.drawer), kind=Kind.FILL, other=table.code,
                pieces=pieces, carrier=carrier,
            ),
            asked,
        )  # fmt: skip
        fill = Paper(Kind.FILL, sent.body["last_event"]["transfer"]["serial"])
        self.cast.write(
            self._at_table(Role.DEALER, table.code),
            lambda command: transfers.receive(
                command=command, end=End(TerminalKind.TABLE, table.code), paper=fill, pieces=pieces
            ),
        )

    # --- A table -----------------------------------------------------------------------------------------------------

    def play(self, code: str) -> None:
        """Count the tray, open the table, seat the least number of players, and play a hand to its end."""
        dealer, table = self._at_table(Role.DEALER, code), self._table(code)
        self._count_tray(dealer, table, Purpose.OPENER)
        self.cast.write(dealer, lambda command: tray_counts.open_table(command=command, code=code))
        for seat in range(1, self._players(table) + 1):
            self._seat(dealer, table, seat)
        self._hand(code)

    def _count_tray(self, dealer: RequestContext, table: Table, purpose: Purpose) -> None:
        """Dealer and floor count the tray as the books have it."""
        code, floor = table.code, self._at_table(Role.FLOOR, table.code)
        pieces = chips.rack(self.house, table.account(Account.TRAY)).as_json()
        counted = self.cast.write(
            dealer,
            lambda command: tray_counts.count(command=command, code=code, purpose=purpose, pieces=pieces),
        )
        number = counted.body["last_event"]["tray_count"]["tray_count"]
        self.cast.write(
            floor,
            lambda command: tray_counts.witness(command=command, code=code, serial=number, pieces=pieces),
        )

    def _seat(self, dealer: RequestContext, table: Table, seat: int) -> None:
        ref, stack = f"{table.code}-{seat}", self._stack(table)
        cashier = self._cage(Role.CASHIER)
        self.cast.write(cashier, lambda command: players.register(command=command, ref=ref))
        if stack:
            self._identify(ref, stack)
            body = {"player": ref, "amount": stack}
            self.cast.write(
                cashier,
                lambda command: cage.buy_in(command=command, code=self.drawer, player_ref=ref, amount=stack),
                self._asked("buyIn", f"drawers/{self.drawer}/buy-ins", body),
            )
        self.cast.write(
            dealer,
            lambda command: tables.sit(command=command, code=table.code, seat=seat, player_ref=ref, amount=stack),
        )

    def _identify(self, ref: str, amount: int) -> None:
        """Record who a player is, once, where a trade of this amount takes that."""
        if amount < self.points.identity_from or ref in self._identified:
            return
        self._identified.add(ref)
        person = {"name": REASON, "born": "1970-01-01", "document": ref}
        self.cast.write(
            self._cage(Role.CASHIER),
            lambda command: persons.record_person(command=command, ref=ref, person=person, reason="first_record"),
        )

    def _hand(self, code: str) -> None:
        """Deal an electronic hand, choose among the legal actions until it is over, and settle it."""
        dealer = self._at_table(Role.DEALER, code)
        self.cast.write(
            dealer, lambda command: preparing.prepare(command=command, code=code, button=None, sitting_out=[])
        )
        table = self._table(code)
        if table.client_seeds == ClientSeeds.ALL:
            for seating in tables_read.seated(table):
                seat = seating.seat
                self.cast.write(
                    dealer,
                    lambda command, seat=seat: preparing.take_seed(  # type: ignore[misc]
                        command=command, code=code, seat=seat, seed=f"seat {seat}"
                    ),
                )
        answer = self.cast.write(dealer, lambda command: hands.deal_prepared(command=command, code=code))
        name = answer.body["hand"]
        for _ in range(MOST_ACTS):
            hand = selectors.get(self.house, name)
            game = selectors.state(hand)
            if game.over:
                break
            acting = None if game.actor in (None, "d") else int(game.actor[1:])
            offers = selectors.legal_actions(game, acting) or selectors.legal_actions(game)
            self._act(dealer, code, name, offers)
        else:
            raise Conflict(f"Hand {name} is not over after {MOST_ACTS} actions.", code="hand_not_over", state="playing")
        self.settle()
        self._confirm_bonus(code, selectors.get(self.house, name))
        state = self._table(code).state
        if state != TableState.OPEN:
            raise Conflict(f"Table {code} is {state} after hand {name}.", code="hand_not_over", state=state)

    def _act(self, dealer: RequestContext, code: str, name: str, offers: list[dict[str, Any]]) -> None:
        """One action of the seat to act, which knows its cards, or of the dealer."""
        refused: Exception | None = None
        for action in choosing.actions(offers, self._choice):
            try:
                self.cast.write(
                    dealer,
                    lambda command, action=action: hands.act(  # type: ignore[misc]
                        command=command, code=code, actions=[action]
                    ),
                )
                return
            except Exception as error:
                if getattr(error, "code", "") not in _COMPELLED:
                    raise
                refused = error
        raise refused or Conflict(f"Hand {name} offers nothing.", code="no_hand", state="playing")

    def _confirm_bonus(self, code: str, hand: Hand) -> None:
        """Of a hand that waits with a bonus, which somebody must have the luck to win: the floor confirms it, a manager
        approves, and it is paid."""
        if hand.state != HandState.AWAITING_APPROVAL:
            return
        amount = bonus.of(hand)
        self.cast.write(
            self._at_table(Role.FLOOR, code),
            lambda command: bonus.confirm(command=command, code=code, name=hand.name, bonus=amount),
            self._asked("confirmBonus", f"tables/{code}/hand/bonus", {"hand": hand.name, "bonus": amount}),
        )
        self.settle()

    def settle(self) -> None:
        """What the worker does after each hand."""
        waiting = OutboxMessage.objects.filter(house=self.house, done_at=None).order_by("id")
        for message in list(waiting.values_list("id", flat=True)):
            settlement.resolve(message)

    def rule(self) -> None:
        """A player disputes the result of a hand; the floor asks, a manager decides, and the tray makes it good."""
        step = self.chip_set.smallest
        for table in map(self._table, self.tables):
            hand = Hand.objects.filter(house=self.house, table=table).order_by("-id").first()
            if hand is not None and chart.rack_value(self.house, table.account(Account.TRAY)) >= step:
                self._make_good(table.code, hand.name, step)
                return

    def _make_good(self, code: str, name: str, amount: int) -> None:
        remedy = Remedy(made_good={"p1": amount})
        body = {"made_good": [{"actor": "p1", "amount": amount}], "reason": REASON}
        self.cast.write(
            self._at_table(Role.FLOOR, code),
            lambda command: later_rulings.rule(
                command=command, code=code, name=name, remedy=remedy, claims=[], reason=REASON
            ),
            self._asked("ruleOnHandLater", f"tables/{code}/hands/{name}/rulings", body),
        )

    def close(self, code: str) -> None:
        """Close the table; a session that must be played to its end is."""
        dealer = self._at_table(Role.DEALER, code)
        asked = self._asked("closeTable", f"tables/{code}/close", {})
        for _ in range(MOST_HANDS):
            if self.points.closer_required:
                self._count_tray(dealer, self._table(code), Purpose.CLOSER)
            try:
                self.cast.write(
                    dealer,
                    lambda command: sessions.close_table(command=command, code=code, counted=tray_counts.closer),
                    asked,
                )
                return
            except Conflict as refused:
                if refused.code not in _GOES_ON:
                    raise
            self._hand(code)
        raise Conflict(f"Table {code} does not close.", code="session_under_way")

    # --- The end -----------------------------------------------------------------------------------------------------

    def pay_out(self) -> None:
        """Buy back the chips of every player."""
        cashier = self._cage(Role.CASHIER)
        for code, held in chart.owed_in_places(self.house, Account.CHIPS_OUTSTANDING).items():
            ref = code.partition("/")[2]
            self._identify(ref, held)
            body = {"player": ref, "amount": held}
            self.cast.write(
                cashier,
                lambda command, ref=ref, held=held: cage.cash_out(  # type: ignore[misc]
                    command=command, code=self.drawer, player_ref=ref, amount=held
                ),
                self._asked("cashOut", f"drawers/{self.drawer}/cash-outs", body),
            )

    def close_drawer(self) -> None:
        """The cashier counts blind and finds too little, a supervisor finds the same, a manager signs it off."""
        drawer = Drawer.objects.select_related("house").get(house=self.house, code=self.drawer)
        held = contents.by_the_books(drawer)
        missing = min(self.points.difference_accepted + 1, held.cash)
        cash, pieces, foreign = held.cash - missing, held.chips.as_json(), held.foreign
        nothing = open_work
        self.cast.write(
            self._cage(Role.CASHIER),
            lambda command: closing.count(
                command=command, code=self.drawer, open_work=nothing, cash=cash, pieces=pieces, foreign=foreign
            ),
        )
        if not missing:  # a drawer without cash cannot be short
            self.cast.write(
                self._cage(Role.CASHIER),
                lambda command: closing.close(command=command, code=self.drawer, open_work=nothing),
            )
            return
        self.cast.write(
            self._cage(Role.CAGE_SUPERVISOR),
            lambda command: closing.recount(
                command=command, code=self.drawer, cash=cash, pieces=pieces, foreign=foreign
            ),
        )
        self.cast.write(
            self._cage(Role.MANAGER),
            lambda command: closing.sign_off(command=command, code=self.drawer, reason=REASON, open_work=nothing),
        )

    def close_day(self) -> None:
        """Close the gaming day."""
        manager = self.cast.at(Role.MANAGER)
        asked = self._asked("closeDay", f"days/{self.day}/close", {})
        self.cast.write(manager, lambda command: days.close_day(command=command, name=self.day), asked)
