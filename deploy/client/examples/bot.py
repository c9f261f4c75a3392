"""Plays a seat by itself, where the table lets players act from their own devices.

    python bot.py https://ace.example KEY [--hands 10]

KEY is the key of the seat, which the dealer gives. It sees what the player on the seat sees, and nothing else: it takes
one of the actions that the house offers it, small amounts sooner than large ones.
"""

import argparse
import random
import time
from typing import Any

from cukassza_client.api.seat import act_at_seat, read_seat_hand
from cukassza_client.house import House, Refused

#: Seconds between two looks at the table.
LOOK = 0.3
#: What came to pass meanwhile, and is no fault: somebody else has acted, another hand is played.
MOVED_ON = frozenset({"hand_moved_on", "hand_over", "not_your_turn", "no_such_line", "not_found"})


def main() -> None:
    """Play until so many hands are over."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("root")
    parser.add_argument("key")
    parser.add_argument("--hands", type=int, default=1)
    given = parser.parse_args()
    with House(given.root, f"Seat {given.key}") as house:
        play(house, given.hands, random.SystemRandom())


def play(house: House, hands: int, choice: random.Random) -> int:
    """Play so many hands to their end; returns how many actions were taken."""
    over: set[str] = set()
    taken = 0
    while len(over) < hands:
        hand = shown(house)
        if hand is not None and hand["state"] != "playing":
            over.add(hand["hand"])
        if hand is None or hand["state"] != "playing" or not taken_one(house, hand, choice):
            time.sleep(LOOK)
        else:
            taken += 1
    return taken


def shown(house: House) -> dict[str, Any] | None:
    """The hand of the seat, None before the first."""
    try:
        found: dict[str, Any] = house.read(read_seat_hand).to_dict()
    except Refused as refused:
        if refused.code == "not_found":
            return None
        raise
    return found


def taken_one(house: House, hand: dict[str, Any], choice: random.Random) -> bool:
    """Take one action, if it is the seat's turn and the house offers one; whether the hand has moved."""
    offers = [one for one in hand["legal_actions"] if one["actor"] == hand["you"]]
    if hand["actor"] != hand["you"] or not offers:
        return False
    choice.shuffle(offers)
    refused: Refused | None = None
    for offer in offers:
        try:
            action = {"verb": offer["verb"]} | {name: value(field, choice) for name, field in offer["takes"].items()}
            body = {"hand": hand["hand"], "line": len(hand["view"]["log"]), "action": action}
            house.write(act_at_seat, body=body)
        except Refused as error:
            if error.code in MOVED_ON:
                return True
            refused = error  # what the cards of the seat do not allow, or this bot cannot choose: another offer
        else:
            return True
    raise refused or AssertionError("there were offers")


def value(field: dict[str, Any], choice: random.Random) -> Any:
    """Something that a field of an offer accepts."""
    match field["kind"]:
        case "amount":
            return field["min"]
        case "number":
            return choice.randrange(field["min"], field["max"] + 1, field["step"])
        case "seat" | "word":
            return choice.choice(field["choices"])
        case _:
            raise Refused({"status": 0, "code": "no_choice", "detail": f"this bot chooses no {field['kind']}"})


if __name__ == "__main__":
    main()
