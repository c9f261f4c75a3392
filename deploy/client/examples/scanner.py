"""Enters the cards that a reader in the table sees, as they are dealt from a real pack.

    python scanner.py https://ace.example T1 login.json < /dev/ttyUSB0

A line of input is a seat, the place of the card among those of the seat from 0, and the card: `p1 0 Ua`. Each card is
entered once, however often it is read and however often the program is started again: its key is made of the hand and
the card. `login.json` has `login`, `password`, `terminal` and `terminal_key` of a dealer at the table.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from cukassza_client.api.cards import enter_cards
from cukassza_client.api.dealer import read_hand
from cukassza_client.house import House, Refused

#: Refusals after which the next card is read: it is known already, or belongs to no hand.
PASSED_OVER = frozenset({"card_known", "no_hand", "no_such_card", "not_physical"})
#: How often a card is entered again because somebody else has written at the table meanwhile.
TRIES = 10


def main() -> None:
    """Enter cards until the input ends."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("root")
    parser.add_argument("table")
    parser.add_argument("login", type=Path)
    given = parser.parse_args()
    login = json.loads(given.login.read_text(encoding="utf-8"))
    with House.sign_in(given.root, **login) as house:
        for said in entered(house, given.table, sys.stdin):
            print(said, flush=True)


def entered(house: House, table: str, lines: Iterable[str]) -> Iterable[str]:
    """Enter each card; what became of it, a line each. Raises Refused for what a person must look at, such as a card
    that lies in two places."""
    for line in lines:
        if words := line.split():
            seat, place, card = words
            yield f"{line.strip()}: {enter(house, table, seat, int(place), card)}"


def enter(house: House, table: str, seat: str, place: int, card: str) -> str:
    """Enter one card: `entered`, or the code of why there was nothing to enter. Raises Refused."""
    for _ in range(TRIES):
        try:
            hand = house.read(read_hand, table)
            said = f"{hand.hand} {seat} {place} {card} {house.versions[table]}"
            key = hashlib.sha256(said.encode()).hexdigest()
            house.write(enter_cards, table, body={"entries": [{"actor": seat, "index": place, "card": card}]}, key=key)
        except Refused as refused:
            if refused.code in PASSED_OVER:
                return refused.code
            if refused.code != "version_conflict":
                raise
        else:
            return "entered"
    raise TimeoutError(f"{table} changes faster than a card can be entered")


if __name__ == "__main__":
    main()
