"""One deal of Barbu as a conversation: what may be said next, then what was said, to the scores at the end."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from tests.model.barbu_head import PACK, RANKS, Head, cut
from tests.model.barbu_scores import POSITIVE, SEATS, SUITS, Trick

HAND = 13


@dataclass(frozen=True)
class Offer:
    """All lines that may stand next, the automatic act of the clock first. Seat 0 is the deck.

    ``unseen`` is not empty where the pack is unknown: then any thirteen of these cards may be dealt.
    """

    seat: int
    lines: tuple[str, ...]
    unseen: frozenset[str] = frozenset()

    def fits(self, line: object) -> bool:
        """Whether the line may stand next; ``au`` is not looked at here."""
        if not self.unseen or not isinstance(line, str):
            return line in self.lines
        start, _, cards = line.rpartition(" ")
        named = cut(cards)
        return (start,) == self.lines and len(named) == len(set(named)) == HAND and set(named) <= self.unseen


@dataclass(frozen=True)
class End:
    """A deal that is over: the contract, whom each seat doubled, and the raw scores in seat order."""

    contract: str
    doubled: dict[int, list[int]]
    raw: list[int]


Course = Generator[Offer, str, End]
Hands = dict[int, list[str]]


def course(head: Head) -> Course:
    """The whole deal."""
    hands = yield from dealing(head)
    said = yield Offer(head.declarer, tuple(calls(head)))
    contract, *named = said.split()[2:]
    doubled = yield from doubling(head, contract)
    points = head.points
    if head.opt["no_double_no_play"] and contract not in POSITIVE and not any(doubled.values()):
        raw = points.unplayed(contract, head.declarer)
    elif contract == "dominoes":
        raw = points.of_dominoes((yield from dominoes(head, hands, *named)))
    else:
        raw = points.of_tricks(contract, (yield from tricks(head, hands, contract, *named)))
    return End(contract, doubled, raw)


def dealing(head: Head) -> Generator[Offer, str, Hands]:
    """Thirteen cards to each seat in one packet."""
    hands: Hands = {}
    for seat in SEATS:
        start = f"d dh p{seat}"
        if head.deck:
            packet = head.deck[HAND * (seat - 1) : HAND * seat]
            said = yield Offer(0, (f"{start} {''.join(packet)}",))
        else:
            dealt = {card for hand in hands.values() for card in hand}
            said = yield Offer(0, (start,), frozenset(PACK) - dealt)
        hands[seat] = cut(said.split()[3])
    return hands


def calls(head: Head) -> Iterable[str]:
    """Each contract left, with each suit or rank."""
    for contract in head.choices():
        named: Sequence[str] = ("",)
        if contract == "trumps":
            named = SUITS
        elif contract == "dominoes" and head.opt["domino_rank"] == "named":
            named = RANKS
        yield from (f"p{head.declarer} cl {contract} {each}".rstrip() for each in named)


def doubling(head: Head, contract: str) -> Generator[Offer, str, dict[int, list[int]]]:
    """The opponents from the declarer's left, then the declarer, if anybody doubled her. Returns whom each doubled."""
    declarer = head.declarer
    doubled: dict[int, list[int]] = {seat: [] for seat in SEATS}
    for seat in head.from_declarer()[1:]:
        whom = [other for other in SEATS if other != seat] if head.allows_any_double(contract) else [declarer]
        groups = subsets(whom)
        if head.must_double(seat):
            lines = [spoken(seat, "dbl", group) for group in groups if declarer in group]
        else:
            lines = [f"p{seat} ps", *(spoken(seat, "dbl", group) for group in groups)]
        lines.sort(key=lambda line: (line.split()[1:] != ["ps"], line.split()[2:] != [f"p{declarer}"]))
        doubled[seat] = targets((yield Offer(seat, tuple(lines))))
    by = [seat for seat in SEATS if declarer in doubled[seat]]
    if by:
        groups = [by] if head.opt["doubling"] == "declarer" else subsets(by)
        lines = [f"p{declarer} ps", *(spoken(declarer, "rdbl", group) for group in groups)]
        doubled[declarer] = targets((yield Offer(declarer, tuple(lines))))
    return doubled


def subsets(seats: Sequence[int]) -> list[list[int]]:
    """Every choice of one or more, in ascending order."""
    return [list(group) for size in range(1, len(seats) + 1) for group in combinations(seats, size)]


def spoken(seat: int, verb: str, group: Iterable[int]) -> str:
    return " ".join([f"p{seat}", verb, *(f"p{other}" for other in group)])


def targets(line: str) -> list[int]:
    """The seats that a line doubles; none for a pass."""
    return [int(word[1:]) for word in line.split()[2:]]


def playing(seat: int, cards: Iterable[str], hands: Hands) -> Generator[Offer, str, str]:
    """The seat plays one of these cards, which leaves its hand."""
    lines = tuple(f"p{seat} pl {card}" for card in sorted(cards, key=PACK.index))
    card = (yield Offer(seat, lines)).split()[2]
    hands[seat].remove(card)
    return card


# Dominoes.


def dominoes(head: Head, hands: Hands, start: str = "") -> Generator[Offer, str, list[int]]:
    """The seats in the order of going out; the last one's cards stay in its hand."""
    ladder = "A23456789TJQK" if head.opt["domino_ace"] == "low" else "23456789TJQKA"
    laid: list[str] = []
    out: list[int] = []
    while True:
        for seat in head.from_declarer():
            cards = [card for card in hands[seat] if not start or is_fitting(card, start, laid, ladder)]
            if not cards:
                continue
            card = yield from playing(seat, cards, hands)
            laid.append(card)
            start = start or card[0]
            out += [] if hands[seat] else [seat]
            if len(out) == len(SEATS) - 1:
                return [*out, *(set(SEATS) - set(out))]


def is_fitting(card: str, start: str, laid: Iterable[str], ladder: str) -> bool:
    """The rank that starts a suit, or a neighbour of a card that lies in the suit."""
    step = ladder.index(card[0])
    return card[0] == start or any(lying[1] == card[1] and abs(ladder.index(lying[0]) - step) == 1 for lying in laid)


# Tricks.


def tricks(head: Head, hands: Hands, contract: str, trump: str = "") -> Generator[Offer, str, list[Trick]]:
    """All tricks up to the end of the deal; p1 leads to the first."""
    taken: list[Trick] = []
    leader = 1
    while len(taken) < HAND and not is_decided(head, contract, taken):
        lying: list[str] = []
        order = [(leader - 1 + step) % 4 + 1 for step in range(4)]
        for seat in order:
            cards = may_play(head, contract, trump, hands[seat], lying)
            lying.append((yield from playing(seat, cards, hands)))
        leader = order[lying.index(heading(lying, trump))]
        taken.append(Trick(leader, tuple(lying)))
    return taken


def heading(lying: Sequence[str], trump: str) -> str:
    """The card that heads the trick: the highest trump, else the highest of the suit led."""
    suit = trump if any(card[1] == trump for card in lying) else lying[0][1]
    return min((card for card in lying if card[1] == suit), key=PACK.index)


def is_decided(head: Head, contract: str, taken: Iterable[Trick]) -> bool:
    """Whether the deal ends early: nothing that scores is left."""
    seen = [card for trick in taken for card in trick.cards]
    if contract == "queens":
        return sum(card[0] == "Q" for card in seen) == 4
    if head.opt["early_stop"] == "all" and contract == "king":
        return "Kh" in seen
    if head.opt["early_stop"] == "all" and contract == "hearts":
        return sum(card[1] == "h" for card in seen) == HAND
    return False


def may_play(head: Head, contract: str, trump: str, hand: Sequence[str], lying: Sequence[str]) -> list[str]:
    """The cards of the hand that may be played to the trick."""
    if not lying:
        banned = contract == "hearts" or (contract == "king" and head.opt["heart_ban"] == "both")
        return [card for card in hand if card[1] != "h"] or list(hand) if banned else list(hand)
    follow = [card for card in hand if card[1] == lying[0][1]]
    if contract == "trumps":
        return with_trumps(head, trump, hand, follow, lying)
    if head.opt["must_dump"]:
        return dumping(contract, follow, lying) or dumping(contract, [] if follow else hand, ()) or follow or list(hand)
    return follow or list(hand)


def with_trumps(head: Head, trump: str, hand: Sequence[str], follow: list[str], lying: Sequence[str]) -> list[str]:
    """Who can legally head the trick with a trump must; with ``free`` only where trumps are led."""
    trumps_led = lying[0][1] == trump
    if follow and not trumps_led:
        return follow
    if not follow and head.opt["trump_void"] == "free":
        return list(hand)
    higher = [card for card in hand if card[1] == trump and heading([*lying, card], trump) == card]
    return higher or follow or list(hand)


def dumping(contract: str, cards: Iterable[str], lying: Sequence[str]) -> list[str]:
    """The penalty cards among these that cannot take the trick; of a void hand (nothing ``lying``), all of them."""
    penalty = [
        card for card in cards if (contract == "queens" and card[0] == "Q") or (contract, card) == ("king", "Kh")
    ]
    return [card for card in penalty if not lying or heading([*lying, card], "") != card]
