"""The tamper corpus of games without a pot: verbs of cards, cards that were played, the series, settlements.

Importing this module adds to `corpus.ATTACKS`."""

from casino.core import canonical
from casino.hands.models import Hand
from tests.casino.kit import Kit
from tests.casino.trick_hands import Player, play_electronic, settled, zsiros
from tests.proof.corpus import attack, forged_everywhere
from tests.proof.superuser import Forger, change

_FIRST, _SECOND = "hand T1-000001", "hand T1-000002"


def evening_of_tricks(kit: Kit) -> None:
    """A hand of two whose cards the house does not know, the first four of p1 entered, and an electronic one that goes
    on with it; both settled."""
    zsiros(kit, seats=2)
    dealer = kit.seated(stacks=(5_000, 5_000))
    player = Player(dealer, 3, frozenset({"p1", "p2"}))
    player.play(dealer.ok("hands", {"mode": "physical", "button": 2}), until=2)
    entries = [{"actor": "p1", "index": at, "card": card} for at, card in enumerate(player.dealt["p1"])]
    dealer.ok("hand/cards", {"entries": entries})
    player.play(dealer.get("hand").json())
    settled(kit, dealer)
    kit.sequence()
    play_electronic(kit, dealer, 4)
    kit.sequence()


def _dealt(forger: Forger, number: int = 0) -> dict:
    return forger.lines[forger.find("hand.dealt", number)].doc["data"]


@attack("hand_cards_differ", _FIRST, before=evening_of_tricks)
def card_verbs_removed(kit: Kit) -> None:
    """the verbs of cards left out of a hand's first event, everything forged, outside the database as well"""
    forged_everywhere(kit, lambda forger: _dealt(forger).pop("card_verbs"))


@attack("hand_cards_differ", _FIRST, None, before=evening_of_tricks)
def card_verbs_altered(kit: Kit) -> None:
    """the verbs of cards altered so that played cards are overlooked, everything forged; only an engine knows better"""
    forged_everywhere(kit, lambda forger: _dealt(forger).update(card_verbs={"dealt": ["dh"]}))


@attack("hand_cards_differ", _FIRST, before=evening_of_tricks)
def card_verbs_without_deals(kit: Kit) -> None:
    """the verbs of cards altered so that no card was ever dealt, everything forged, outside the database as well"""
    forged_everywhere(kit, lambda forger: _dealt(forger).update(card_verbs={}))


@attack("hand_cards_differ", f"{_FIRST}, cards of p1", before=evening_of_tricks)
def entered_card_that_was_not_played(kit: Kit) -> None:
    """an entered card and its hash altered to one that its seat never played, everything forged that follows"""

    def alter(forger: Forger) -> None:
        ending = next(line.doc["data"] for line in forger.lines if "entered" in line.doc["data"])
        own = {entry["card"] for entry in ending["entered"]}
        card = next(line[-2:] for line in ending["log"] if line.startswith("p2 pl") and line[-2:] not in own)
        entry = ending["entered"][0] | {"card": card}
        ending["entered"][0] = entry
        recorded = [ending["hand"], entry["actor"], entry["index"], entry["card"], entry["salt"]]
        entries = forger.lines[forger.find("hand.cards_entered")].doc["data"]["entries"]
        entries[0]["hash"] = canonical.sha256(recorded)

    forged_everywhere(kit, alter)


@attack("hand_differs", _SECOND, before=evening_of_tricks)
def series_started_over(kit: Kit) -> None:
    """a score sheet wiped where the same people went on, in the row as well, everything forged that follows"""
    series = Hand.objects.get(house=kit.house, name="T1-000002").series | {"score": [0, 0]}
    change("UPDATE hands_hand SET series = %s WHERE house_id = %s AND name = 'T1-000002'",
           canonical.dumps(series), kit.house.id)  # fmt: skip
    forged_everywhere(kit, lambda forger: _dealt(forger, 1).update(series=series))


@attack("hand_differs", _FIRST, before=evening_of_tricks)
def series_that_does_not_begin(kit: Kit) -> None:
    """the word that a game begins left out of its first hand, everything forged, outside the database as well"""
    forged_everywhere(kit, lambda forger: _dealt(forger).pop("series_begins"))


@attack("hand_differs", _FIRST, before=evening_of_tricks)
def settlement_denied(kit: Kit) -> None:
    """a settlement that moved money recorded as one that moved nothing, in the row as well, everything forged"""
    change("UPDATE hands_hand SET settlement = NULL WHERE house_id = %s AND name = 'T1-000001'", kit.house.id)

    def alter(forger: Forger) -> None:
        forger.lines[forger.find("hand.settled")].doc["data"]["settlement"] = None

    forged_everywhere(kit, alter)


@attack("hand_money_differs", _FIRST, before=evening_of_tricks)
def points_paid_to_another(kit: Kit) -> None:
    """who won the points altered in every event of a hand and in its row, everything forged; its postings say it"""

    def turned(result: dict) -> dict:
        return result | {"net": [-net for net in result["net"]]}

    row = Hand.objects.get(house=kit.house, name="T1-000001")
    change("UPDATE hands_hand SET result = %s WHERE id = %s", canonical.dumps(turned(row.result or {})), row.id)

    def alter(forger: Forger) -> None:
        for line in forger.lines:
            if line.doc["data"].get("hand") == "T1-000001" and "result" in line.doc["data"]:
                line.doc["data"]["result"] = turned(line.doc["data"]["result"])

    forged_everywhere(kit, alter)
