"""Every stored hand replayed under the rules of its day, and compared with the ledger posting by posting.

One home for it: `manage.py verify_hands`, the house's verification and the report of a hand's money. The replay is
`hands.replays`', which the worker settles by; here its movements meet what the ledger holds under the hand's keys.
A difference names the hand, the line of its log, the account, and the amounts, counted on the account's normal side.
Of hands that are not settled yet, what is posted so far is compared. Of electronic hands, commitment, client seeds and
the roots of their packs are compared with their seed and their prepared deal.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from django.db import connection, transaction

from casino.audit.verifier.ledger import WAITING
from casino.bookkeeping import books, chart
from casino.bookkeeping.accounts import Account
from casino.core import sql
from casino.core.errors import SealedUnreadable
from casino.hands import deals, face_down, postings, replays, series, settlement
from casino.hands.face_down import CardsAltered
from casino.hands.models import UNSETTLED, Deal, DealState, HandState, Mode
from casino.hands.snapshot import HandSnapshot
from casino.houses.models import House
from casino.tables.models import Table, TableSession
from casino.verification import unexplained_postings as strays
from casino.verification.hand_rows import (
    CHUNK,
    Legs,
    Posted,
    Read,
    SealedBeside,
    chunks,
    numbered,
    posted_of,
    prepared_of,
    sealed_beside,
)
from casino.verification.snapshot_reader import Hands, hands_since


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as the replay says. `line` counts from 1 (0: what came with the start) and `action` is its
    text, or the settlement, ruling or dispute; `key` is the ledger's key of the posting; amounts in minor units."""

    hand: str
    problem: str
    line: int | None = None
    action: str | None = None
    key: str | None = None
    account: str | None = None
    expected: int | None = None
    found: int | None = None

    def as_json(self) -> dict[str, Any]:
        """What is known of it."""
        known = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: value for name, value in known.items() if value is not None}


@dataclass(slots=True)
class Tally:
    """How many hands were gone through, by state, and how far."""

    states: Counter[str] = field(default_factory=Counter)
    #: By table the number of its last hand; hands that are not over; by session what its last settled hand left.
    numbers: dict[str, int] = field(default_factory=dict)
    unfinished: list[str] = field(default_factory=list)
    left: dict[int, dict[str, Any]] = field(default_factory=dict)
    #: Behind it there was no ledger transaction yet.
    transaction: int = 0

    def note(self, hand: HandSnapshot) -> None:
        """A hand was gone through."""
        self.states[hand.state] += 1
        if hand.state in UNSETTLED:
            self.unfinished.append(hand.name)

    @property
    def hands(self) -> int:
        """All of them."""
        return self.states.total()


def verify(
    house: House, *, table: Table | None = None, tally: Tally | None = None, since: Tally | None = None
) -> Iterator[Difference]:
    """Every difference between the hands of a house, or of one table, and its ledger, in the order of the hands; at the
    end what the ledger has posted to pots without a line of a hand to explain it. `tally` counts along. With `since`,
    what another verification has noted, hands that were over then are not gone through again.

    Reads one snapshot, so a house may be playing meanwhile; must be the first in its transaction where there is one.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute(sql.OUR_TABLES)
        yield from differences(house, table=table, tally=tally, since=since)


def differences(
    house: House, *, table: Table | None = None, tally: Tally | None = None, since: Tally | None = None
) -> Iterator[Difference]:
    """As :func:`verify`, in whatever transaction there is."""
    counted = tally or Tally()
    tables = {found.id: found for found in Table.objects.filter(house=house)}
    left, resumes = counted.left, _resumed(house)
    if since is not None:
        left |= since.left
    counted.numbers = dict(sql.rows(_LAST, [house.id]))
    [(counted.transaction,)] = sql.rows("SELECT coalesce(max(id), 0) FROM ledger_transaction", [])
    found = chunks(house, tables, table) if since is None else _newer(house, tables, since)
    for chunk in found:
        posted = posted_of(house, chunk)
        prepared = prepared_of(house, chunk)
        beside = sealed_beside(house, chunk)
        for read in chunk:
            hand = read.hand
            counted.note(hand)
            yield from _differences(read, posted.get(hand.id, {}), prepared.get(hand.name))
            yield from _sealed(hand, beside.get(hand.id, ()))
            yield from _series(hand, left, resumes)
    first = None if since is None else max(0, since.transaction - WAITING)
    for key, problem in strays.of(house, table, first):
        yield Difference(key.split(":")[1] if key.startswith("hand:") else "", problem, key=key)


_LAST = """
SELECT t.code, n.number FROM tables_table t
CROSS JOIN LATERAL (SELECT max(number) AS number FROM hands_hand WHERE house_id = t.house_id AND table_id = t.id) n
WHERE t.house_id = %s AND n.number IS NOT NULL
"""


def _newer(house: House, tables: Mapping[int, Table], since: Tally) -> Iterator[list[Read]]:
    """The hands that were dealt since, and those that were not over, in the order of their ids."""
    ids = hands_since(Hands(since.numbers, since.unfinished), house, sql.rows)
    for at in range(0, len(ids), CHUNK):
        yield numbered(house, tables, ids[at : at + CHUNK])


#: What is said of a disputed hand whose replay has nothing against it.
_AGREES = "its replay agrees now"


# --- Comparing ------------------------------------------------------------------------------------------------------


def _differences(read: Read, posted: dict[str, Posted], prepared: Deal | None) -> Iterator[Difference]:
    """What is wrong with one hand, which was dealt from this prepared deal."""
    hand = read.hand
    if not read.gapless:
        yield Difference(hand.name, "the numbers of its lines have a gap")
    replayed = yield from _opened(read, prepared)
    if replayed is None:
        return
    agrees = yield from _replay(replayed)
    check = _Check(replayed, posted)
    yield from check.withdrawn()
    if hand.state != HandState.VOIDED:
        yield from check.reversed()
    if agrees and not check.stakes_agree():
        yield from check.stakes()
    match hand.state:
        case HandState.SETTLED:
            if agrees:
                yield from check.ending("settlement", replayed.settled())
        case HandState.VOIDED:
            yield from check.undone()
        case HandState.RULED:
            yield from check.ruled()
        case HandState.DISPUTED:
            yield from check.frozen()
        case _:
            yield from check.no_ending()


def _opened(read: Read, prepared: Deal | None) -> Generator[Difference, None, replays.Replay | None]:
    """Open what is sealed of a hand, and replay it; a generator that returns the replay, None where something does not
    open."""
    hand = read.hand
    try:
        replayed = replays.follow(hand, face_down.log(hand, read.lines))
        yield from _deal(replayed, prepared)
    except CardsAltered as altered:
        yield Difference(hand.name, altered.problem, line=altered.line)
    except SealedUnreadable:
        yield Difference(hand.name, "the sealed seed does not open: row or key is another")
    else:
        return replayed
    return None


def _sealed(hand: HandSnapshot, beside: Iterable[SealedBeside]) -> Iterator[Difference]:
    """What of these sealed cards does not open."""
    for one in beside:
        try:
            one.require(hand)
        except CardsAltered as altered:
            yield Difference(hand.name, altered.problem, line=altered.line)


def _deal(replayed: replays.Replay, prepared: Deal | None) -> Iterator[Difference]:
    """Compare what an electronic hand was committed to with its seed, its prepared deal and its packs. Raises
    SealedUnreadable, SealKeyWrong."""
    hand = replayed.hand
    if hand.mode != Mode.ELECTRONIC:
        return
    found = deals.recommitted(hand)
    if found != hand.commitment:
        yield Difference(hand.name, f"its seed has the commitment {found}, the hand was dealt with {hand.commitment}")
    if prepared is not None and prepared.commitment != hand.commitment:
        problem = f"its deal was prepared with commitment {prepared.commitment}, the hand has {hand.commitment}"
        yield Difference(hand.name, problem)
    if prepared is not None and prepared.state != DealState.DEALT:
        yield Difference(hand.name, f"it was dealt, and its deal is {prepared.state}")
    taken = {str(one.seat): one.seed for one in prepared.client_seeds.all()} if prepared else {}
    if taken != hand.client_seeds:
        yield Difference(hand.name, f"client seeds {taken} were taken, the hand was dealt with {hand.client_seeds}")
    if replayed.game is not None and hand.cards_roots:
        roots = deals.roots(hand, replayed.game.setup)
        # A replay that was refused has not come to all redeals; the refusal is a separate difference.
        stored = hand.cards_roots[: len(roots)] if replayed.error else hand.cards_roots
        if roots != stored:
            yield Difference(hand.name, f"its packs have the roots {roots}, the hand has {stored}")


def _replay(replayed: replays.Replay) -> Any:
    """Compare the replay with what the row holds; a generator that returns whether stakes can be compared with it."""
    hand = replayed.hand
    if hand.state in (HandState.PLAYING, HandState.VOIDED) or not hand.digest:
        # A hand that nothing came of, or not yet: its log must stand as far as it goes, if nobody has decided on it.
        if hand.state == HandState.DISPUTED:
            yield Difference(hand.name, f"the hand is disputed: {replayed.refusal or _AGREES}")
        elif replayed.refusal and hand.state == HandState.PLAYING:
            yield _at(replayed, replayed.accepted + 1, replayed.refusal)
        return replayed.error is None
    mismatch = settlement.compare(hand, replayed)
    if mismatch is None and hand.handle != postings.handle(replayed.moves):
        mismatch = f"the handle is {postings.handle(replayed.moves)} by replay and {hand.handle} as stored"
    if hand.state == HandState.DISPUTED:
        yield Difference(hand.name, f"the hand is disputed: {mismatch or _AGREES}")
    elif mismatch is not None and hand.state != HandState.RULED:
        yield _at(replayed, replayed.accepted + 1 if replayed.error else None, mismatch)
    return mismatch is None


def _at(replayed: replays.Replay, line: int | None, problem: str) -> Difference:
    name, lines = replayed.hand.name, replayed.lines
    if line is None or not 0 < line <= len(lines):
        return Difference(name, problem)
    return Difference(name, f"line {line}, {lines[line - 1]}: {problem}", line=line, action=lines[line - 1])


def _resumed(house: House) -> dict[int, int]:
    """Sessions that go on with what another one has left, by their ids."""
    found = TableSession.objects.filter(table__house=house, resumes__isnull=False)
    return dict(found.values_list("id", "resumes_id"))


def _series(hand: HandSnapshot, left: dict[int, dict[str, Any]], resumes: Mapping[int, int]) -> Iterator[Difference]:
    """What a hand was given of those before it; `left` remembers what each session's last settled hand left."""
    session: int | None = hand.session_id
    while session is not None and session not in left:
        session = resumes.get(session)
    before = left[session] if session is not None else {}
    if hand.state == HandState.SETTLED:
        left[hand.session_id] = (hand.result or {}).get("series", {})
    problem = series.problem_of(hand, before)
    if problem is not None:
        yield Difference(hand.name, problem)


class _Check:
    """One hand's movements against its postings."""

    def __init__(self, replayed: replays.Replay, posted: dict[str, Posted]) -> None:
        self.replayed = replayed
        self.hand = replayed.hand
        self.posted = posted

    def stakes_agree(self) -> bool:
        """Whether :meth:`stakes` has nothing to say, found in a fraction of the time: the postings in the order of
        their lines hold exactly the movements in their order."""
        replayed, at = self.replayed, 0
        ends, moves, last = replayed.ends, replayed.moves, replayed.accepted
        table, seats = self.hand.table.code, self.hand.seats
        for first, posted in self._numbered():
            begin, at = at, ends[min(first + max(posted.lines, 1) - 1, last)]
            if (ends[first - 1] if first else 0) != begin:
                return False
            if at == begin + 1 <= replayed.ending:
                # One movement, as almost all: no need to add anything up, nor to read the posting.
                move = moves[begin]
                if posted.text != postings.text(move, table, postings.ends_of(move, seats)):
                    return False
            elif replayed.booked(replayed.at_once(first, posted.lines)) != posted.legs:
                return False
        return not postings.at_once(moves[at:], replayed.ending - at)

    def _numbered(self) -> list[tuple[int, Posted]]:
        """The postings of lines in the order of their lines."""
        return [(int(part), posted) for part, posted in self.posted.items() if part.isdigit()]

    def stakes(self) -> Iterator[Difference]:
        """What lines post at once: each posting against the lines it covers, and every line's movements posted."""
        replayed, at = self.replayed, 0
        for first, posted in self._numbered():
            if first > at:
                yield from self._unposted(at, first)
            # A posting of lines that another one covers already explains nothing.
            due = replayed.booked(replayed.at_once(first, posted.lines)) if first >= at else {}
            if due != posted.legs:
                yield from self._unlike(first, posted.lines, due, posted.legs)
            at = max(at, first + max(posted.lines, 1))
        yield from self._unposted(at, replayed.accepted + 1)

    def _unposted(self, first: int, beyond: int) -> Iterator[Difference]:
        """Lines in a stretch that no posting covers, but move something."""
        ends = self.replayed.ends
        if first < beyond and ends[beyond - 1] > (ends[first - 1] if first else 0):
            for line in range(first, beyond):
                due = self.replayed.booked(self.replayed.at_once(line, 1))
                yield from self._unlike(line, 1, due, {})

    def ending(self, part: str, due: Legs) -> Iterator[Difference]:
        """What the hand posts at its end, and that the row names that transaction."""
        posted = self.posted.get(part)
        found = posted.legs if posted else {}
        if due != found:
            yield from self._unlike_ending(part, due, found)
        named = self.hand.settlement
        if named != (posted.id if posted else None):
            key = postings.key(self.hand, part)
            problem = f"{part}: the hand names ledger transaction {named}, {key} is {posted.id if posted else 'none'}"
            yield Difference(self.hand.name, problem, action=part, key=key)
        dispute = postings.dispute(self.hand)
        explained = ("ruling", dispute) if part == "ruling" else (part,)
        for other in ("settlement", dispute, "ruling"):
            if other in self.posted and other not in explained:
                yield from self._unlike_ending(other, {}, self.posted[other].legs)

    def no_ending(self) -> Iterator[Difference]:
        """A hand that is played, or waits for its settlement, has paid nothing and frozen nothing."""
        for part in ("settlement", postings.dispute(self.hand), "ruling"):
            if part in self.posted:
                yield from self._unlike_ending(part, {}, self.posted[part].legs)

    def frozen(self) -> Iterator[Difference]:
        """Of a disputed hand the whole pot lies apart, and the bank of the seats with it; nothing is paid."""
        table = self.hand.table
        pot, carried, bank, apart = (
            table.account(number) for number in (Account.POT, Account.CUKASSZA, Account.BANK, Account.DISPUTED_POT)
        )
        dispute = postings.dispute(self.hand)
        posted = self.posted.get(dispute)
        found = posted.legs if posted else {}
        before = _sum(each.legs for part, each in self.posted.items() if part.isdigit())
        # What was carried in and did not come out of the cukassza lay in the bank.
        in_bank = self.hand.carry - before.get(carried, 0) - before.get(bank, 0)
        due = {pot: -before.get(pot, 0), bank: in_bank}
        due = {code: amount for code, amount in due.items() if amount}
        yield from self._unlike_ending(dispute, due | {apart: -sum(due.values())}, found)
        for part in ("settlement", "ruling"):
            if part in self.posted:
                yield from self._unlike_ending(part, {}, self.posted[part].legs)

    def ruled(self) -> Iterator[Difference]:
        """A hand that was ruled on is not what its replay says, so its money is compared with the ruling, and with what
        must be true of any hand: the seats have lost what the house kept, less the cukassza that was carried in."""
        hand, table = self.hand, self.hand.table
        decided = hand.ruling or {}
        stacks = {actor: table.stack_account(hand.player_of(int(actor[1:]))) for actor in decided["awards"]}
        due = {stacks[actor]: -amount for actor, amount in decided["awards"].items() if amount}
        due[table.account(Account.DISPUTED_POT)] = decided["pot"]
        if decided["tax"]:
            due |= {table.account(Account.HOUSE_TAX): -decided["tax"]}
            due |= {table.account(Account.TAX_BOX): decided["tax"], table.account(Account.PUBLIC): -decided["tax"]}
        posted = self.posted.get("ruling")
        found = posted.legs if posted else {}
        if found != due:
            booked = {code: _signed(code, amount) for code, amount in found.items()}
            wanted = {code: _signed(code, amount) for code, amount in due.items()}
            yield Difference(hand.name, f"the ruling says {wanted} and the ledger {booked}", action="ruling",
                             key=postings.key(hand, "ruling"))  # fmt: skip
        yield from self.ending("ruling", found)
        whole = _sum(each.legs for each in self.posted.values())
        carried, bank = table.account(Account.CUKASSZA), table.account(Account.BANK)
        kept = {
            table.account(Account.POT): 0,
            table.account(Account.DISPUTED_POT): 0,
            table.account(Account.HOUSE_TAX): -decided["tax"],
        }
        kept[carried] = hand.carry - whole.get(bank, 0)
        for code, amount in kept.items():
            if whole.get(code, 0) != amount:
                yield self._difference(None, "the whole hand", None, code, amount, whole.get(code, 0))
        seats = sum(whole.get(table.stack_account(seat["player"]), 0) for seat in hand.seats)
        if -seats != hand.carry - decided["tax"]:
            yield Difference(
                hand.name, f"the seats won {-seats} in all, carry less tax is {hand.carry - decided['tax']}"
            )

    def undone(self) -> Iterator[Difference]:
        """Of a voided hand nothing is left: each of its transactions has its exact mirror."""
        yield from self._mirrored(self.posted)
        for part in ("settlement", "ruling"):
            if part in self.posted:
                yield Difference(self.hand.name, f"the hand is void and has a {part}", action=part)

    def withdrawn(self) -> Iterator[Difference]:
        """What disputes have posted that were withdrawn has its exact mirror, and is nothing of the hand from then
        on."""
        if not self.hand.disputes_withdrawn:
            return
        over = {part: self.posted[part] for part in postings.withdrawn(self.hand) if part in self.posted}
        self.posted = {part: one for part, one in self.posted.items() if part not in over}
        yield from self._mirrored(over)

    def _mirrored(self, posted_by_part: Mapping[str, Posted]) -> Iterator[Difference]:
        for part, posted in posted_by_part.items():
            back = {code: -amount for code, amount in posted.mirrored.items()}
            if back != posted.legs:
                for code in sorted(back.keys() | posted.legs.keys()):
                    left = posted.legs.get(code, 0) - back.get(code, 0)
                    if left:
                        key = books.mirror_key(postings.key(self.hand, part))
                        line = int(part) if part.isdigit() else None
                        yield self._difference(
                            line, "the mirror", key, code, -posted.legs.get(code, 0), -back.get(code, 0)
                        )

    def reversed(self) -> Iterator[Difference]:
        """Nothing of a hand that is not void was undone."""
        for part, posted in self.posted.items():
            if posted.mirror is not None:
                key = postings.key(self.hand, part)
                yield Difference(self.hand.name, f"{key} was reversed by ledger transaction {posted.mirror}", key=key)

    # -- naming ------------------------------------------------------------------------------------------------------

    def _unlike(self, first: int, count: int, due: Legs, found: Legs) -> Iterator[Difference]:
        key = postings.key(self.hand, first)
        for code, wanted, there in _apart(due, found):
            line = self._line(first, count, code, there)
            yield self._difference(line, None, key, code, wanted, there)

    def _unlike_ending(self, part: str, due: Legs, found: Legs) -> Iterator[Difference]:
        key, last = postings.key(self.hand, part), len(self.replayed.lines) or None
        for code, wanted, there in _apart(due, found):
            yield self._difference(last, part, key, code, wanted, there)

    def _line(self, first: int, count: int, code: str, there: int) -> int:
        """The line to name of those that one posting covers: the one whose movement is missing or wrong there; the
        first that moves this account where that cannot be decided, or else the first that moves anything."""
        replayed = self.replayed
        lines = range(first, min(first + max(count, 1), replayed.accepted + 1))
        moved = {line: replayed.booked(replayed.at_once(line, 1)) for line in lines}
        touching = [line for line in lines if code in moved[line]]
        whole = sum(moved[line][code] for line in touching)
        missing = [line for line in touching if whole - moved[line][code] == there]
        return next(iter(missing or touching or [line for line in lines if moved[line]] or [first]))

    def _difference(
        self, line: int | None, part: str | None, key: str | None, code: str, wanted: int, there: int
    ) -> Difference:
        lines, said = self.replayed.lines, part
        if part is None and line is not None:
            said = "the start" if line == 0 else lines[line - 1] if line <= len(lines) else "no line of its log"
        place = f"line {line}, {said}" if part is None and line else str(said)
        expected, found = _signed(code, wanted), _signed(code, there)
        problem = f"{place}: {code} moved by {found} in the ledger and by {expected} in the replay"
        return Difference(self.hand.name, problem, line, said, key, code, expected, found)


def _apart(due: Legs, found: Legs) -> Iterator[tuple[str, int, int]]:
    """Accounts on which two postings differ, with both amounts; money before chips."""
    for code in sorted(due.keys() | found.keys()):
        if due.get(code, 0) != found.get(code, 0):
            yield code, due.get(code, 0), found.get(code, 0)


def _signed(code: str, amount: int) -> int:
    """An amount on the normal side of its account."""
    return amount * chart.kind_of(code).normal_side


def _sum(parts: Any) -> Legs:
    whole: Counter[str] = Counter()
    for legs in parts:
        for code, amount in legs.items():
            whole[code] += amount
    return dict(whole)
