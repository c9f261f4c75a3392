"""Hands of trick games over HTTP: dealt from a pack of the test's own, or by the house, and played at random."""

import io
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.core.management import call_command

from casino.audit import verifier
from casino.hands import selectors
from casino.hands.models import Hand, HandState
from casino.verification import exporting, replaying
from engine.kernel.cards import TELL32
from engine.record.format import parse_record
from engine.record.replay import replay
from ledger.models import Transaction
from tests.casino.evenings import assert_house_is_whole
from tests.casino.kit import Desk, Kit

HIDDEN = "??"
SEVEN = "7"


def zsiros(kit: Kit, *, code: str = "T1", seats: int = 4, stake: int = 100, **options: Any) -> None:
    """A table of Zsíros; where nothing is staked, one that no chips come to."""
    agreed = {"stake": stake, "players": seats} | options
    if not stake:
        kit.table_for("zsiros", agreed, code=code, seats=seats, tray=0, max_stack=0)
    else:
        kit.table_for("zsiros", agreed, code=code, seats=seats, tray=0, max_stack=50_000)


def last_hand(kit: Kit) -> Hand:
    """The hand that was dealt last."""
    return Hand.objects.filter(house=kit.house).latest("id")


def chairs(answer: dict[str, Any]) -> list[str]:
    """The players of a hand, p1 first."""
    return [seat["player"] for seat in answer["seats"]]


@dataclass
class Player:
    """Plays everybody's part of a physical hand of Zsíros. `hidden`: seats whose cards the house does not know until
    they are played."""

    desk: Desk
    seed: int = 1
    hidden: frozenset[str] = frozenset()
    hands: dict[str, list[str]] = field(default_factory=dict)
    #: By seat, all its cards in the order of dealing.
    dealt: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.choice = random.Random(self.seed)
        self.pack = self.choice.sample(TELL32.cards, len(TELL32.cards))

    def play(self, answer: dict[str, Any], until: int = 10_000) -> dict[str, Any]:
        """Go on to the end of the hand, or for so many actions; returns the last answer."""
        while answer["actor"] is not None and until:
            until -= 1
            answer = self.desk.ok("hand/actions", {"actions": [self.action(answer)]})
        return answer

    def action(self, answer: dict[str, Any]) -> dict[str, Any]:
        """What comes next: a deal, a call now and then, a card."""
        offers = {offer["verb"]: offer for offer in answer["legal_actions"]}
        if "dh" in offers:
            return self.deal(offers["dh"])
        if "cl" in offers and self.choice.random() < 0.1:
            call = offers["cl"]
            return {"actor": call["actor"], "verb": "cl", "word": self.choice.choice(call["takes"]["word"]["choices"])}
        seat, trick = answer["actor"], answer["view"]["trick"]
        wanted = self.hands[seat]
        if "ps" in offers:
            wanted = [card for card in wanted if card[0] in (trick[0][1][0], SEVEN)]
            if not wanted or self.choice.random() < 0.5:
                return {"actor": seat, "verb": "ps"}
        card = self.choice.choice(wanted)
        self.hands[seat].remove(card)
        return {"actor": seat, "verb": "pl", "cards": card}

    def deal(self, offer: dict[str, Any]) -> dict[str, Any]:
        """The next cards of the pack."""
        [seat], count = offer["takes"]["target"]["choices"], offer["takes"]["cards"]["most"]
        cards, self.pack = self.pack[:count], self.pack[count:]
        self.hands.setdefault(seat, []).extend(cards)
        self.dealt.setdefault(seat, []).extend(cards)
        named = HIDDEN * count if seat in self.hidden else "".join(cards)
        return {"actor": "d", "verb": "dh", "target": seat, "cards": named}


def play_physical(kit: Kit, desk: Desk, seed: int = 1, *, hidden: tuple[str, ...] = (), **dealt: Any) -> Hand:
    """One physical hand from the deal to its settlement."""
    Player(desk, seed, frozenset(hidden)).play(desk.ok("hands", {"mode": "physical", **dealt}))
    return settled(kit, desk)


def settled(kit: Kit, desk: Desk) -> Hand:
    """Settle the hand that is over; returns it."""
    assert kit.settle() == ["settled"]
    desk.refresh()
    return last_hand(kit)


def held(kit: Kit, actor: str) -> tuple[str, ...]:
    """The cards of a seat of the electronic hand in play, as only the house knows them."""
    return selectors.state(last_hand(kit)).held(int(actor[1:]))


def place_action(answer: dict[str, Any], cards: tuple[str, ...], choice: random.Random) -> dict[str, Any]:
    """A random play by the places of the cards, which only their holder knows."""
    seat, trick = answer["actor"], answer["view"]["trick"]
    places = list(range(len(cards)))
    if any(offer["verb"] == "ps" for offer in answer["legal_actions"]):
        places = [at for at in places if cards[at][0] in (trick[0][1][0], SEVEN)]
        if not places or choice.random() < 0.5:
            return {"actor": seat, "verb": "ps"}
    return {"actor": seat, "verb": "pl", "places": [choice.choice(places)]}


def play_electronic(kit: Kit, desk: Desk, seed: int = 1, **dealt: Any) -> Hand:
    """One electronic hand from the deal to its settlement, by a console that names places only."""
    choice = random.Random(seed)
    answer = desk.deal(**dealt)
    while answer["actor"] is not None:
        action = place_action(answer, held(kit, answer["actor"]), choice)
        answer = desk.ok("hand/actions", {"actions": [action]})
    return settled(kit, desk)


REASON = {"reason": "a card was turned up"}
STACKS = (5_000, 5_000, 5_000, 5_000)
NOTHING = (0, 0, 0, 0)


def four(kit: Kit, **options: Any) -> Desk:
    """Four players at a table of Zsíros, the dealer's console."""
    zsiros(kit, **options)
    return kit.seated(stacks=STACKS if options.get("stake", 100) else NOTHING)


def found(kit: Kit) -> list[str]:
    """What `verify_hands` finds."""
    return [difference.problem for difference in replaying.verify(kit.house)]


def assert_whole(kit: Kit, folder: Path) -> None:
    """Nothing is found in the house, nor in its export by the verifier that knows no game; every record replays."""
    assert_house_is_whole(kit)
    out = io.StringIO()
    call_command("verify_hands", kit.house.code, stdout=out)
    assert json.loads(out.getvalue().splitlines()[-1])["differences"] == 0
    exporting.export_house(kit.house, folder / "export")
    report = verifier.verify_export(folder / "export")
    assert (report.findings, report.counts["hands"]) == ([], Hand.objects.filter(house=kit.house).count())
    for hand in Hand.objects.filter(house=kit.house, state=HandState.SETTLED):
        outcome = replay(parse_record(json.dumps(selectors.record(hand))))
        assert outcome.ok, outcome.error


def transactions(kit: Kit) -> int:
    """How many ledger transactions the house has."""
    return Transaction.objects.filter(book=kit.house.id).count()
