"""Printing: a document is asked for, its copy is counted, and the event says so. The file is made when it is read.

Copies of a document are counted by `document.printed`, over both forms, all languages and all who ask: the first is
the original.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from casino.audit import selectors as audit
from casino.audit.events.prints import DocumentPrinted
from casino.core import locks, sql, write
from casino.core.commands import Answer, Command, RequestContext
from casino.core.errors import NotFound, WrongTerminal
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.houses import identity
from casino.houses.models import House
from casino.players.models import Player
from casino.reports import runs
from casino.reports.catalogue import a16_player_statement as a16
from casino.reports.frame import as_of
from casino.reports.frame.head import utc
from casino.reports.frame.report import Scope
from casino.reports.models import PrintForm, Printout
from casino.reports.printing import statements, winnings
from casino.reports.printing.documents import OF_PLAYERS
from casino.reports.printing.receipts import Printable, printable
from casino.staff.credentials import role_for
from casino.staff.models import Role, TerminalKind
from casino.tables.keys import Holder, lock_seat

_PRINTS = OfHouse(lock=locks.lock_reports)
#: Roles that work at one place: they print what was recorded there.
_AT_A_PLACE = frozenset({Role.CASHIER, Role.DEALER})
#: Kinds of terminals by the chains of the places where they stand.
_PLACES = {TerminalKind.CAGE: "drawer", TerminalKind.TABLE: "table"}
#: What is printed of a player and a period.
STATEMENT, WINNINGS = "statement", "winnings"
#: The events by which a hand is over, of which its players have receipts.
_OVER = ("hand.settled", "hand.ruled", "hand.voided")


@dataclass(frozen=True, slots=True)
class Kind:
    """What is printed on, and in which language: where none was chosen, that of the house."""

    form: str
    language: str | None = None


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A document that is to be printed: its name, what it is about, and of a statement moment and sums."""

    document: str
    about: Mapping[str, str]
    as_of: Mapping[str, Any] | None = None
    sums: Mapping[str, int] | None = field(default=None)


def print_event(*, command: Command, chain: str, seq: int, player: str | None, paper: Kind) -> Answer:
    """Print the receipt or slip of an event; of a settled hand for one of its players, of one that was voided or
    ruled on for one of them or for the house.

    Raises NotFound, Forbidden, WrongTerminal, Conflict no_paper, Unprocessable player_of_hand.
    """
    context = command.context

    def change(house: House, work: Work) -> Outcome:
        one = printable(house, chain, seq, player)
        _require_place(context, one)
        return _printed(house, _of_event(one), paper, context.staff.login)

    return write.write(command, _PRINTS, change)


def print_statement(*, command: Command, player: str, what: str, period: Mapping[str, str], paper: Kind) -> Answer:
    """Print the statement of a player, or the certificate of winnings. Printed again before anything else has moved,
    it is a copy.

    Raises NotFound, Forbidden, Unprocessable report_filter, Busy where the books do not come to rest.
    """
    context = command.context
    role_for(context.staff, OF_PLAYERS)
    wanted = _statement(context.house, player, what, period)
    return write.write(
        command, _PRINTS, lambda house, work: _printed(house, wanted, paper, context.staff.login)
    )  # fmt: skip


def print_at_seat(
    *, holder: Holder, request_id: str, hand: str | None, what: str, period: Mapping[str, str], paper: Kind
) -> dict[str, Any]:
    """Print for the player of a seat: the receipt of a hand, or where none is named the statement, or the
    certificate, of the period.

    Raises NotFound for a hand that is not over or not the player's, and for a seat that was left.
    """
    house, player = holder.table.house, holder.seating.player.ref
    wanted = _statement(house, player, what, period) if hand is None else _own_hand(holder, hand)

    def operation() -> dict[str, Any]:
        lock_seat(holder)
        locks.lock_reports(house.id)
        outcome = _printed(house, wanted, paper, player)
        work = Work(house, holder.actor(request_id))
        receipt = work.record(chain=house.chain, event=outcome.event)
        return {**outcome.body, "audit": receipt.as_json()}

    return locks.in_transaction(operation)


def find(house: House, number: int) -> Printout:
    """One printout. Raises NotFound."""
    found = Printout.objects.filter(house=house, number=number).first()
    if found is None:
        raise NotFound(f"This house has no printout {number}.")
    return found


def readable(context: RequestContext, number: int) -> Printout:
    """A printout, if this person may print its document now. Raises NotFound, Forbidden, WrongTerminal."""
    row = find(context.house, number)
    if "chain" in row.about:
        _require_place(context, event_of(row))
    else:
        role_for(context.staff, OF_PLAYERS)
    return row


def of_seat(holder: Holder, number: int) -> Printout:
    """A printout that is about the player of a seat. Raises NotFound for any other one."""
    row = find(holder.table.house, number)
    if row.about.get("player") != holder.seating.player.ref:
        raise NotFound(f"This player has no printout {number}.")
    return row


def visible(house: House) -> QuerySet[Printout]:
    """The printouts of a house."""
    return Printout.objects.filter(house=house)


def event_of(row: Printout) -> Printable:
    """The event that a printout is about."""
    player = row.about.get("player")
    return printable(row.house, row.about["chain"], int(row.about["seq"]), player)


def describe(row: Printout) -> dict[str, Any]:
    """A printout as answers have it."""
    return {
        "printout": row.number, "document": row.document, "copy": row.copy, "form": row.form,
        "language": row.language, "about": row.about, "printed_by": row.printed_by, "printed_at": utc(row.printed_at),
    }  # fmt: skip


def _printed(house: House, wanted: _Wanted, paper: Kind, by: str) -> Outcome:
    """Count one more copy; call it with the lock of reports."""
    rows = Printout.objects.filter(house=house)
    of_document = rows.filter(document=wanted.document)
    last, newest, known = sql.together(
        rows.order_by("-number").values_list("number")[:1],
        of_document.order_by("-copy").values_list("copy", "as_of")[:1],
        identity.newest_of(house),
    )
    [(copies, moment)] = newest or [(0, wanted.as_of)]
    copy = copies + 1
    row = Printout.objects.create(
        house=house, number=1 + (last[0][0] if last else 0), document=wanted.document, copy=copy,
        form=PrintForm(paper.form), language=paper.language or identity.language_of(house, next(iter(known), None)),
        about=dict(wanted.about), as_of=moment, printed_by=by,
    )  # fmt: skip
    row.refresh_from_db()
    event = DocumentPrinted(
        printout=row.number, document=row.document, copy=copy, form=row.form, language=row.language, about=row.about,
        as_of=moment, sums=wanted.sums,
    )  # fmt: skip
    return Outcome(event, describe(row), 201)


def _of_event(one: Printable) -> _Wanted:
    about = {"chain": one.chain, "seq": str(one.seq)}
    return _Wanted(one.name, about | ({"player": one.player} if one.player else {}))


def _statement(house: House, player: str, what: str, period: Mapping[str, str]) -> _Wanted:
    """The statement, or certificate, of a player as of now: its document ends with the posting that has moved it last,
    that of a statement also with the limits and exclusions that are in force."""
    if not Player.objects.filter(house=house, ref=player).exists():
        raise NotFound(f"This house has no player {player}.")
    about = runs.checked(house, statements.REPORT, {"player": player, **period})
    moment = as_of.now(house)
    scope = Scope(house, moment, about)
    first, last = about.get("from", ""), about.get("until", "")
    document = f"{what}/{player}/{first}/{last}/"
    if what == STATEMENT:
        return _Wanted(document + statements.state_of(scope), about, moment.as_json(), statements.sums_of(scope))
    document += str(a16.newest_posting(scope))
    return _Wanted(document, {**about, "paper": what}, moment.as_json(), winnings.sums_of(scope))


def _own_hand(holder: Holder, hand: str) -> _Wanted:
    table, player = holder.table, holder.seating.player.ref
    place = audit.newest(table.house, table.chain, _OVER, hand=hand)
    if place is None:
        raise NotFound(f"Table {table.code} has no hand {hand} that is over.")
    return _of_event(printable(table.house, table.chain, place.seq, player))


def _require_place(context: RequestContext, one: Printable) -> None:
    """Whether a person may print an event: by role, and cashiers and dealers only where they stand. Raises Forbidden,
    WrongTerminal."""
    role_for(context.staff, one.document.roles)
    if set(context.staff.roles) & set(one.document.roles) <= _AT_A_PLACE:
        terminal = context.terminal
        place = _PLACES.get(TerminalKind(terminal.kind))
        if f"{place}/{terminal.location}" != one.chain:
            raise WrongTerminal(f"Terminal {terminal.code} is not at {one.chain}.")
