"""Preparing an electronic deal: the house commits to a seed, then players add their seeds, then it is dealt.

The commitment is in the audit trail before the first client seed is taken, so the house cannot choose its seed to
suit them; they cannot suit it, because they do not know it. Every seed that was taken counts, that of a seat that sits
out as well: otherwise deciding about sitting out would be choosing among decks.
"""

from casino.audit.events import TableEvent
from casino.audit.events.deals import ClientSeedTaken, DealAbandoned, DealCommitted
from casino.audit.services import Receipt
from casino.core import locks, write
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.core.write import Answer, Command, Outcome, Work
from casino.hands import deals
from casino.hands.models import ClientSeed, Deal, DealState, GivenBy, Hand
from casino.houses.models import House
from casino.tables import selectors
from casino.tables import services as tables
from casino.tables.keys import Holder
from casino.tables.models import ClientSeeds, Seating, Table, TableState
from engine.deal.shuffle import CLIENT_SEED


def prepare(*, command: Command, code: str) -> Answer:
    """Commit to the seed of the table's next hand. Raises Conflict deal_prepared where that is done already."""

    def change(table: Table, work: Work) -> Outcome:
        tables.require_state(table, TableState.OPEN)
        tables.require_none_prepared(table)
        deal = Deal(house=table.house, table=table, number=table.hands_dealt + 1, name=table.next_hand)
        deals.commit(deal)
        deal.save(force_insert=True)
        table.prepared_deal = deal.name
        return Outcome(DealCommitted(hand=deal.name, number=deal.number, commitment=deal.commitment), status=201)

    return write.write(command, tables.AtTable(code), change)


def take_seed(*, command: Command, code: str, seat: int, seed: str) -> Answer:
    """Add what the player on a seat says at the table, entered at the dealer's console.

    Where the player has a device, only that adds the seat's seed: otherwise the console could be first,
    and the house would have chosen the player's seed. Raises NotFound for an empty seat, Conflict
    no_deal_prepared, seat_has_device or seed_taken, Unprocessable seed_malformed.
    """

    def change(table: Table, work: Work) -> Outcome:
        deal = prepared(table)
        seating = tables.at_seat(table, seat)
        if selectors.has_device(seating):
            raise Conflict(
                f"Seat {seat} has a device, which adds its seed (POST seat/seed); the floor can revoke its key.",
                code="seat_has_device",
                seat=seat,
            )
        return Outcome(_add(deal, seating, seed, GivenBy.CONSOLE))

    return write.write(command, tables.AtTable(code), change)


def take_players_seed(*, holder: Holder, request_id: str, hand: str, seed: str) -> tuple[Deal, Receipt | None]:
    """Add what a player's own device says to the deal of `hand`, whose commitment it has seen.

    The same again changes nothing, so it has no receipt. Raises as :func:`take_seed`, and Conflict no_deal_prepared
    when another deal is prepared by now.
    """

    def operation() -> tuple[Deal, Receipt | None]:
        table = locks.lock(Table, locks.Rank.DESK, id=holder.table.id)
        table.house = holder.table.house
        if not Seating.objects.filter(id=holder.seating.id, left_at=None).exists():
            raise NotFound("This seat's key has expired.")
        deal = prepared(table)
        if deal.name != hand:
            raise Conflict(f"{deal.name} is prepared, not {hand}.", code="no_deal_prepared", hand=deal.name)
        if ClientSeed.objects.filter(deal=deal, seat=holder.seating.seat, given_by=GivenBy.PLAYER, seed=seed).exists():
            return deal, None
        event = _add(deal, holder.seating, seed, GivenBy.PLAYER)
        work = Work(table.house, holder.actor(request_id))
        tables.advance(table, work)
        return deal, work.record(chain=table.chain, event=event.at_table_version(table.version))

    return locks.in_transaction(operation)


def abandon(*, command: Command, code: str, reason: str) -> Answer:
    """Give the prepared deal up. Its name is used up with it: the next one is committed to under another."""

    def change(table: Table, work: Work) -> Outcome:
        deal = prepared(table)
        Deal.objects.filter(id=deal.id).update(state=DealState.ABANDONED)
        table.prepared_deal = ""
        table.abandoned_deals += 1
        return Outcome(DealAbandoned(hand=deal.name, commitment=deal.commitment, reason=reason))

    return write.write(command, tables.AtTable(code), change)


def use(hand: Hand) -> None:
    """Give an electronic hand its seed: that of the prepared deal with every client seed taken, or else a new one.

    Raises Conflict client_seeds_missing where the table demands seeds of seats that have given none.
    """
    deal = prepared(hand.table) if hand.table.prepared_deal else None
    _require_seeds(hand, deal)
    if deal is None:
        deals.commit(hand)
        return
    hand.commitment, hand.sealed_seed = deal.commitment, bytes(deal.sealed_seed)
    hand.client_seeds = client_seeds(deal)
    Deal.objects.filter(id=deal.id).update(state=DealState.DEALT)
    hand.table.prepared_deal = ""


def _require_seeds(hand: Hand, deal: Deal | None) -> None:
    """Every player who is dealt in has added a seed, where the table demands that; a seed added by the player who sat
    there before does not count."""
    if hand.table.client_seeds != ClientSeeds.ALL:
        return
    given = set(deal.client_seeds.values_list("seat", "player")) if deal else set()
    missing = [at["seat"] for at in hand.seats if (at["seat"], at["player"]) not in given]
    if missing:
        raise Conflict(
            f"Table {hand.table.code} deals electronically once every seat has given its seed. Missing: seat "
            f"{', '.join(map(str, missing))}."
            + ("" if deal else " Prepare the deal first (POST deal).")
            + " They may sit out, or the floor abandons the deal or changes the table's client seeds.",
            code="client_seeds_missing",
            seats=missing,
            hand=deal.name if deal else None,
        )


def prepared(table: Table) -> Deal:
    """The deal that is committed to and not dealt yet. Raises Conflict no_deal_prepared."""
    if not table.prepared_deal:
        raise Conflict(f"No deal is prepared at table {table.code}.", code="no_deal_prepared", hand=None)
    return Deal.objects.get(house=table.house, name=table.prepared_deal)


def get(house: House, name: str) -> Deal:
    """A deal of the house by the name of its hand. Raises NotFound."""
    deal = Deal.objects.filter(house=house, name=name).first()
    if deal is None:
        raise NotFound(f"No deal of {name} was prepared in this house.")
    return deal


def client_seeds(deal: Deal) -> dict[str, str]:
    """What was added to a deal, by chair, as a hand keeps it."""
    taken = deal.client_seeds.order_by("seat").values_list("seat", "seed")
    return {str(seat): seed for seat, seed in taken}


def describe(deal: Deal) -> dict[str, object]:
    """A deal as everybody may know it."""
    return {
        "hand": deal.name,
        "state": deal.state,
        "commitment": deal.commitment,
        "client_seeds": client_seeds(deal),
    }


def disclosed(deal: Deal) -> dict[str, object]:
    """A deal as auditors may know it: with its seed once it is abandoned. The seed of one that was dealt is in the
    hand's record, when the hand is over; the seed of a deal that can still be dealt stays secret."""
    seed = deals.open_seed(deal).hex() if deal.state == DealState.ABANDONED else None
    return describe(deal) | {"seed": seed}


def _add(deal: Deal, seating: Seating, seed: str, given_by: GivenBy) -> TableEvent:
    if not CLIENT_SEED.fullmatch(seed):
        raise Unprocessable("A seed is 1 to 64 visible ASCII characters.", code="seed_malformed")
    if ClientSeed.objects.filter(deal=deal, seat=seating.seat).exists():
        raise Conflict(
            f"Seat {seating.seat} has already given its seed to {deal.name}.", code="seed_taken", seat=seating.seat
        )
    player = seating.player.ref
    ClientSeed.objects.create(
        house_id=deal.house_id, deal=deal, seat=seating.seat, player=player, seed=seed, given_by=given_by
    )
    return ClientSeedTaken(hand=deal.name, seat=seating.seat, player=player, seed=seed, given_by=str(given_by))
