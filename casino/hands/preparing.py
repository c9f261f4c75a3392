"""Preparing an electronic deal: seats, button and the house's seed are fixed, players add their seeds, it is dealt.

The order is what keeps anybody from choosing the deck:

1. *Committing.* The house commits to its seed, and with it to who is dealt in and who has the button. A device commits
   to a seed without showing it; a player without a device says one at the table, which everybody hears.
2. *Revealing.* The commitments are closed: by the dealer, or as soon as every seat that is dealt in has given its own.
   From now on nothing new is taken; each device reveals what it committed to.
3. *Dealing*, once everything that was committed to is revealed. A seat that does not reveal is named, and the floor
   abandons the deal: to leave its seed out would be to choose between two decks.

The last seat to reveal knows every other seed, but committed before it did; a person who can open the house's seed does
not know those that are not revealed. Every seed that was taken counts, that of a seat that sits out as well.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from casino.audit import selectors as receipts
from casino.audit.events import TableEvent
from casino.audit.events.deals import (
    ClientSeedCommitted,
    ClientSeedTaken,
    CommitmentsClosed,
    DealAbandoned,
    DealCommitted,
)
from casino.audit.services import Receipt
from casino.core import locks, sql, write
from casino.core.commands import Answer, Command
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.core.work import Outcome, Work
from casino.hands import deals, next_hand
from casino.hands.models import ClientSeed, Deal, DealState, GivenBy, SeedCommitment
from casino.houses.models import ClockTimestamp, House
from casino.tables import selectors
from casino.tables import services as tables
from casino.tables.keys import Holder, lock_seat
from casino.tables.models import ClientSeeds, Seating, Table, TableState
from engine.deal.shuffle import CLIENT_SEED, client_commitment

#: Deals that can be abandoned at a table one after the other. Each shows another deck to those who can open its seed,
#: so there must be an end to it.
MOST_ABANDONED = 10


def prepare(
    *, command: Command, code: str, button: int | None, sitting_out: Sequence[int], announced: Sequence[str] = ()
) -> Answer:
    """Fix the table's next hand, and commit to its seed. `button`, `sitting_out` and `announced` are those of a deal of
    a real pack (:func:`casino.hands.services.deal`).

    Raises Conflict deal_prepared where that is done already, too_many_abandoned, and what
    :func:`casino.hands.next_hand.ready` raises: a deal that could not be dealt is not prepared.
    """

    def change(table: Table, work: Work) -> Outcome:
        tables.require_state(table, TableState.OPEN)
        tables.require_none_prepared(table)
        _require_few_abandoned(table)
        seen = next_hand.look(table)
        order = next_hand.play_order(table, seen, button, sitting_out)
        deal = Deal(house=table.house, table=table, number=table.hands_dealt + 1, name=table.next_hand)
        deal.seats, deal.announced = next_hand.seats_of(order), list(announced)
        deals.commit(deal)
        next_hand.ready(table, seen, order, announced, deal)
        sql.insert(deal)
        table.prepared_deal = deal.name
        event = DealCommitted(
            hand=deal.name, number=deal.number, commitment=deal.commitment, seats=deal.seats,
            announced=deal.announced or None,
        )  # fmt: skip
        return Outcome(event, status=201)

    return write.write(command, tables.AtTable(code), change)


def take_seed(*, command: Command, code: str, seat: int, seed: str) -> Answer:
    """Add what the player on a seat says at the table, entered at the dealer's console, while commitments are open.

    Where the player has a device, only that adds the seat's seed: otherwise the console could be first,
    and the house would have chosen the player's seed. Raises NotFound for an empty seat, Conflict no_deal_prepared,
    seat_has_device, commitments_closed or seed_taken, Unprocessable seed_malformed.
    """

    def change(table: Table, work: Work) -> Outcome:
        deal = prepared(table)
        seating = tables.at_seat(table, seat)
        if selectors.has_device(seating):
            raise Conflict(
                f"Seat {seat} has a device, which adds its seed (POST seat/commitment); the floor can revoke its key.",
                code="seat_has_device",
                seat=seat,
            )
        _require_open(deal)
        seeds = _seeds(deal)
        _require_first(deal, seating, seeds)
        return Outcome(_add(deal, seating, seed, GivenBy.CONSOLE, seeds))

    return write.write(command, tables.AtTable(code), change)


#: The deal as everybody may know it, and the receipt of the event, None where nothing was added.
Added = tuple[dict[str, object], Receipt]


def commit_players_seed(*, holder: Holder, request_id: str, hand: str, commitment: str) -> Added:
    """Add what a player's own device commits to, to the deal of `hand`, whose commitment it has seen.

    The same again changes nothing, and has the same receipt. Raises NotFound for a seat that was left, Conflict
    no_deal_prepared when another deal is prepared by now, commitments_closed, seed_taken.
    """

    def change(deal: Deal, seating: Seating) -> TableEvent | None:
        seeds = _seeds(deal)
        if seeds.committed.get(str(seating.seat)) == commitment:
            return None
        _require_open(deal)
        _require_first(deal, seating, seeds)
        player = seating.player.ref
        SeedCommitment.objects.create(
            house_id=deal.house_id, deal=deal, seat=seating.seat, player=player, commitment=commitment
        )
        closed = _closed_by(deal, seeds.seats | {seating.seat})
        return ClientSeedCommitted(
            hand=deal.name, seat=seating.seat, player=player, seed_commitment=commitment, closed=closed
        )

    return _by_device(holder, request_id, hand, ClientSeedCommitted, change)


def reveal_players_seed(*, holder: Holder, request_id: str, hand: str, seed: str) -> Added:
    """Add the seed that a player's own device has committed to.

    The same again changes nothing, and has the same receipt. Raises as :func:`commit_players_seed`, and Conflict
    commitments_open or no_seed_commitment, Unprocessable seed_malformed or seed_differs.
    """

    def change(deal: Deal, seating: Seating) -> TableEvent | None:
        given = ClientSeed.objects.filter(deal=deal, seat=seating.seat, given_by=GivenBy.PLAYER)
        if given.filter(seed=seed).exists():
            return None
        committed = SeedCommitment.objects.filter(deal=deal, seat=seating.seat, player=seating.player.ref).first()
        if committed is None:
            raise Conflict(
                f"Seat {seating.seat} has not committed to a seed of {deal.name}.", code="no_seed_commitment",
                seat=seating.seat,
            )  # fmt: skip
        if deal.closed_at is None:
            raise Conflict(
                f"Seats can still commit to seeds of {deal.name}; reveal yours when they are closed.",
                code="commitments_open",
                hand=deal.name,
            )
        if client_commitment(deal.name, seating.seat, seed) != committed.commitment:
            raise Unprocessable(
                f"This is not the seed that seat {seating.seat} committed to.", code="seed_differs", seat=seating.seat
            )
        return _add(deal, seating, seed, GivenBy.PLAYER)

    return _by_device(holder, request_id, hand, ClientSeedTaken, change)


def close_commitments(*, command: Command, code: str) -> Answer:
    """Take no more commitments and said seeds; devices reveal theirs from now on. Raises Conflict no_deal_prepared,
    commitments_closed, and client_seeds_missing where the table demands seeds that are not there."""

    def change(table: Table, work: Work) -> Outcome:
        deal = prepared(table)
        _require_open(deal)
        _require_seeds(table, deal, _seeds(deal))
        _close(deal)
        return Outcome(CommitmentsClosed(hand=deal.name))

    return write.write(command, tables.AtTable(code), change)


def abandon(*, command: Command, code: str, reason: str) -> Answer:
    """Give the prepared deal up; the event names the seats that have not revealed their seeds. Its name is used up with
    it: the next one is committed to under another."""

    def change(table: Table, work: Work) -> Outcome:
        deal = prepared(table)
        Deal.objects.filter(id=deal.id).update(state=DealState.ABANDONED)
        table.prepared_deal = ""
        table.abandoned_deals += 1
        missing = _seeds(deal).unrevealed if deal.closed_at is not None else []
        return Outcome(
            DealAbandoned(hand=deal.name, commitment=deal.commitment, reason=reason, unrevealed=missing or None)
        )

    return write.write(command, tables.AtTable(code), change)


def ready(table: Table, work: Work) -> next_hand.Ready:
    """The next hand from the prepared deal, which is dealt with what the work writes next: the seats that were fixed,
    with every seed taken.

    Raises Conflict no_deal_prepared, client_seeds_missing, client_seeds_unrevealed or deal_seats_changed, and what
    :func:`casino.hands.next_hand.ready` raises.
    """
    here = table.house_id, table.prepared_deal
    rows, committed, given, *read = sql.together(
        sql.Bound(_PREPARED, here), *_asking_seeds(*here), *next_hand.asking(table)
    )
    deal, seeds = _the_prepared(table, [sql.built(Deal, row) for row in rows]), _Seeds.of(committed, given)
    seen = next_hand.seen(table, read)
    order = _order(deal, seen.seated)
    _require_seeds(table, deal, seeds)
    if missing := seeds.unrevealed:
        raise Conflict(
            f"Seats {', '.join(map(str, missing))} have committed to a seed of {deal.name} and not revealed it. "
            "Close the commitments and let them, or let the floor abandon the deal.",
            code="client_seeds_unrevealed",
            seats=missing,
            hand=deal.name,
        )
    found = next_hand.ready(table, seen, order, deal.announced, deal, seeds.given)
    work.soon(sql.Bound(_DEALT, [DealState.DEALT, deal.id]))
    table.prepared_deal = ""
    return found


def _order(deal: Deal, seated: Iterable[Seating]) -> list[Seating]:
    """The seats of a deal in play order, of those who sit at the table. Raises Conflict deal_seats_changed."""
    there = {seating.seat: seating for seating in seated}
    gone = [at["seat"] for at in deal.seats if at["seat"] not in there or there[at["seat"]].player.ref != at["player"]]
    if gone:
        raise Conflict(
            f"{deal.name} is prepared for other players on seats {', '.join(map(str, gone))}; the floor abandons it.",
            code="deal_seats_changed",
            seats=gone,
            hand=deal.name,
        )
    return [there[at["seat"]] for at in deal.seats]


def _require_few_abandoned(table: Table) -> None:
    """Refuse another electronic deal after too many that were abandoned. Raises Conflict too_many_abandoned."""
    if table.abandoned_deals >= MOST_ABANDONED:
        raise Conflict(
            f"{table.abandoned_deals} deals in a row were abandoned at table {table.code}; deal the next hand from a "
            "real pack.",
            code="too_many_abandoned",
            max=MOST_ABANDONED,
        )


@dataclass(frozen=True, slots=True)
class _Seeds:
    """What seats have added to a deal, by seat as text, in the order of the seats."""

    committed: dict[str, str]
    given: dict[str, str]

    @classmethod
    def of(cls, committed: Iterable[tuple[int, str]], given: Iterable[tuple[int, str]]) -> "_Seeds":
        """What `_asking_seeds` has found."""
        return cls({str(seat): one for seat, one in committed}, {str(seat): one for seat, one in given})

    @property
    def seats(self) -> set[int]:
        """Seats that have given a seed, or committed to one."""
        return {int(seat) for seat in self.committed.keys() | self.given.keys()}

    @property
    def unrevealed(self) -> list[int]:
        """Seats that have committed to a seed and not revealed it."""
        return [int(seat) for seat in self.committed if seat not in self.given]


_OF_DEAL = "(SELECT id FROM hands_deal WHERE house_id = %s::uuid AND name = %s::text)"
_PREPARED = f"SELECT {sql.columns(Deal)} FROM hands_deal WHERE id = {_OF_DEAL}"  # noqa: S608 - constants
_COMMITTED = f"SELECT seat, commitment FROM hands_seedcommitment WHERE deal_id = {_OF_DEAL} ORDER BY seat"  # noqa: S608
_GIVEN = f"SELECT seat, seed FROM hands_clientseed WHERE deal_id = {_OF_DEAL} ORDER BY seat"  # noqa: S608 - constants
_DEALT = "UPDATE hands_deal SET state = %s::text WHERE id = %s::bigint"


def _asking_seeds(house_id: UUID, name: str) -> tuple[sql.Statement, sql.Statement]:
    """What reads the seeds of the deal of this name."""
    return sql.Bound(_COMMITTED, [house_id, name]), sql.Bound(_GIVEN, [house_id, name])


def _seeds(deal: Deal) -> _Seeds:
    return _Seeds.of(*sql.together(*_asking_seeds(deal.house_id, deal.name)))


def _require_seeds(table: Table, deal: Deal, seeds: _Seeds) -> None:
    """Every player who is dealt in has given a seed or committed to one, where the table demands that. Raises Conflict
    client_seeds_missing."""
    if table.client_seeds != ClientSeeds.ALL:
        return
    missing = [at["seat"] for at in deal.seats if at["seat"] not in seeds.seats]
    if missing:
        raise Conflict(
            f"Table {table.code} deals electronically once every seat has given its seed. Missing: seat "
            f"{', '.join(map(str, missing))}. The floor can abandon the deal or change the table's client seeds.",
            code="client_seeds_missing",
            seats=missing,
            hand=deal.name,
        )


def _require_open(deal: Deal) -> None:
    if deal.closed_at is not None:
        raise Conflict(
            f"The commitments to seeds of {deal.name} are closed.", code="commitments_closed", hand=deal.name
        )


def _require_first(deal: Deal, seating: Seating, seeds: _Seeds) -> None:
    if seating.seat in seeds.seats:
        raise Conflict(
            f"Seat {seating.seat} has already given its seed to {deal.name}.", code="seed_taken", seat=seating.seat
        )


def _close(deal: Deal) -> None:
    Deal.objects.filter(id=deal.id).update(closed_at=ClockTimestamp())
    deal.refresh_from_db(fields=["closed_at"])


def _closed_by(deal: Deal, there: set[int]) -> bool | None:
    """Close the commitments if every seat that is dealt in is `there` with its own; says so."""
    if not {at["seat"] for at in deal.seats} <= there:
        return None
    _close(deal)
    return True


def _by_device(
    holder: Holder, request_id: str, hand: str, kind: type[TableEvent],
    change: Callable[[Deal, Seating], TableEvent | None],
) -> Added:  # fmt: skip
    """Write what a device adds to the deal of `hand`; `change` returns the event of this kind, None where the device
    has added the same before."""

    def operation() -> Added:
        here = Table.objects.filter(id=holder.table.id)
        reading = Deal.objects.filter(house=holder.table.house, name__in=here.values("prepared_deal"))
        table, [found] = lock_seat(holder, reading)
        deal = _the_prepared(table, found)
        if deal.name != hand:
            raise Conflict(f"{deal.name} is prepared, not {hand}.", code="no_deal_prepared", hand=deal.name)
        event = change(deal, holder.seating)
        if event is None:
            return describe(deal), receipts.of_event(
                table.house, table.chain, kind.KIND, hand=hand, seat=holder.seating.seat
            )
        work = Work(table.house, holder.actor(request_id))
        tables.advance(table, work)
        receipt = work.record(chain=table.chain, event=event.at_table_version(table.version))
        # Read before the transaction ends: an answer that fails afterwards would deny what is written.
        return describe(deal), receipt

    return locks.in_transaction(operation)


def prepared(table: Table) -> Deal:
    """The deal that is committed to and not dealt yet. Raises Conflict no_deal_prepared."""
    return _the_prepared(table, Deal.objects.filter(house=table.house, name=table.prepared_deal))


def _the_prepared(table: Table, found: Iterable[Deal]) -> Deal:
    """The same, by what was read of it under the table's lock."""
    if not table.prepared_deal:
        raise Conflict(f"No deal is prepared at table {table.code}.", code="no_deal_prepared", hand=None)
    [deal] = found
    return deal


def get(house: House, name: str) -> Deal:
    """A deal of the house by the name of its hand. Raises NotFound."""
    deal = Deal.objects.filter(house=house, name=name).first()
    if deal is None:
        raise NotFound(f"No deal of {name} was prepared in this house.")
    return deal


def describe(deal: Deal) -> dict[str, object]:
    """A deal as everybody may know it."""
    seeds = _seeds(deal)
    return {
        "hand": deal.name,
        "state": deal.state,
        "commitment": deal.commitment,
        "seats": deal.seats,
        "announced": deal.announced,
        "commitments_closed": deal.closed_at is not None,
        "seed_commitments": seeds.committed,
        "client_seeds": seeds.given,
    }


def disclosed(deal: Deal) -> dict[str, object]:
    """A deal as auditors may know it: with its seed once it is abandoned. The seed of one that was dealt is in the
    hand's record, when the hand is over; the seed of a deal that can still be dealt stays secret."""
    seed = deals.open_seed(deal).hex() if deal.state == DealState.ABANDONED else None
    return describe(deal) | {"seed": seed}


def _add(deal: Deal, seating: Seating, seed: str, given_by: GivenBy, seeds: _Seeds | None = None) -> ClientSeedTaken:
    """`seeds`: what seats have added before; where the console says a seed, it may be the last one."""
    if not CLIENT_SEED.fullmatch(seed):
        raise Unprocessable("A seed is 1 to 64 visible ASCII characters.", code="seed_malformed")
    player = seating.player.ref
    ClientSeed.objects.create(
        house_id=deal.house_id, deal=deal, seat=seating.seat, player=player, seed=seed, given_by=given_by
    )
    closed = None if seeds is None else _closed_by(deal, seeds.seats | {seating.seat})
    return ClientSeedTaken(
        hand=deal.name, seat=seating.seat, player=player, seed=seed, given_by=str(given_by), closed=closed
    )
