"""A dealer's console: plays recorded hands by entering cards and actions as they fall, and an electronic sitting by
choosing among the legal actions the house offers."""

import hashlib
import random
import time
from collections.abc import Callable
from typing import Any

from deploy.demo.client import Refused, Terminal
from deploy.demo.device import Device
from deploy.demo.evening import EveningError

#: Actions that one request may hold.
MOST_ACTIONS = 20
#: The nonce of every vizi held in the fist; a real console draws its own, and tells nobody.
NONCE = bytes(16)
#: Against a hand laid open a seat says "mine is higher" or folds, whichever is true.
COMPELLED = {"k": "f", "f": "k"}
#: Seconds to wait for a settlement before giving up.
SETTLEMENT_PATIENCE = 120.0


class Console:
    """The console of one table."""

    def __init__(self, terminal: Terminal, table: str, sell_chips: Callable[[str, int], None]) -> None:
        self.terminal = terminal
        self.code = table
        self.path = f"tables/{table}"
        self.sell_chips = sell_chips
        self.table: dict[str, Any] = {}
        self.refresh()

    # --- The table ---------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read the table as it is now."""
        self.table = self.terminal.get(self.path)

    def write(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """One write on the version this console has seen."""
        answer = self.terminal.post(f"{self.path}/{path}", body, version=self.table["version"])
        self.table["version"] = answer["version"]
        return answer

    def seat_players(self, refs: list[str], stacks: list[int]) -> None:
        """Open the table and seat these players in play order with these stacks."""
        self.write("open", {})
        for seat, (ref, stack) in enumerate(zip(refs, stacks, strict=True), start=1):
            self.sell_chips(ref, stack)
            self.write("seats", {"seat": seat, "player": ref, "amount": stack})
        self.refresh()

    def close(self) -> None:
        """End the sitting. Without a cukassza everybody leaves on his own first; one that is left is shared."""
        self.refresh()
        if not self.table["cukassza"]:
            for seat in self.table["seats"]:
                self.write(f"seats/{seat['seat']}/leave", {})
        self.write("close", {})
        self.refresh()

    def wait_until_settled(self) -> None:
        """Wait until the worker has settled the hand; the table's state tells."""
        deadline, pause = time.monotonic() + SETTLEMENT_PATIENCE, 0.05
        while True:
            time.sleep(pause)
            self.refresh()
            if self.table["state"] == "open":
                return
            if self.table["state"] != "settling" or time.monotonic() > deadline:
                raise EveningError(f"Table {self.code} is {self.table['state']}; its hand was not settled.")
            pause = min(pause * 1.5, 0.15)

    # --- Recorded hands, physical mode -------------------------------------------------------------------------

    def prepare(self, hand: dict[str, Any]) -> None:
        """Bring the table to where a recorded hand starts: who sits, in which order, with which chips."""
        refs, stacks = hand["seats"], hand["stacks"]
        if self.table["state"] == "open" and not self._can_follow(refs, stacks):
            self.close()
        if self.table["state"] == "closed":
            self.seat_players(refs, stacks)
        for seat in self.table["seats"]:
            missing = stacks[refs.index(seat["player"])] - seat["stack"]
            if missing:
                self.sell_chips(seat["player"], missing)
                self.table |= self.write(f"seats/{seat['seat']}/chips", {"amount": missing})
        if self.table["cukassza"] != hand["carry"]:
            raise EveningError(
                f"{hand['hand']} carries in {hand['carry']}, but table {self.code} has {self.table['cukassza']}."
            )

    def _can_follow(self, refs: list[str], stacks: list[int]) -> bool:
        """Whether the same people sit in the same order, the deal has passed on, and nobody has too much."""
        seats = self.table["seats"]
        dealer = self.table["next_dealer_seat"]
        if dealer is not None:
            seats = sorted(seats, key=lambda seat: (seat["seat"] <= dealer, seat["seat"]))
        if [seat["player"] for seat in seats] != refs:
            return False
        return all(seat["stack"] <= stacks[refs.index(seat["player"])] for seat in seats)

    def play_recorded(self, hand: dict[str, Any]) -> None:
        """Play one recorded hand: cards as they fall, actions as they were taken."""
        self.prepare(hand)
        self.write("hands", {"mode": "physical"})
        for gesture in gestures(hand["acts"]):
            try:
                self.write("hand/actions", {"actions": [as_action(line) for line in gesture]})
            except Refused as refusal:
                raise EveningError(f"{hand['hand']}, at {', '.join(gesture)!r}: {refusal}") from refusal
        self.wait_until_settled()

    # --- Electronic sitting ------------------------------------------------------------------------------------

    def give_keys(self) -> list[Device]:
        """Give every second player a key for his own device; the others say their seeds aloud."""
        devices = []
        for seat in self.table["seats"][::2]:
            answer: dict[str, Any] = {}
            # A key stands in the first answer only; where that one got lost, another key is issued.
            while "key" not in answer:
                answer = self.write(f"seats/{seat['seat']}/key", {})
            devices.append(Device(self.terminal.base_url, answer["key"], seat["seat"]))
        return devices

    def prepare_deal(self, devices: list[Device], choice: random.Random) -> None:
        """Commit to the next deal, then take a seed of every seat."""
        self.write("deal", {})
        for device in devices:
            device.add_seed()
        self.refresh()
        own = {device.seat for device in devices}
        for seat in self.table["seats"]:
            if seat["seat"] not in own:
                self.write("deal/seeds", {"seat": seat["seat"], "seed": f"{choice.randrange(10**6):06d}"})

    def play_electronic(self, devices: list[Device], choice: random.Random) -> str:
        """Deal one hand from a committed deck and take random legal actions; the devices check it when it is dealt and
        when it is over. Returns the hand's name."""
        self.prepare_deal(devices, choice)
        hand = self.write("hands", {"mode": "electronic"})
        for device in devices:
            device.check()
        vizi = int(self.table["options"].get("vizi", 0))
        while hand["actor"] is not None:
            action = choose(hand["legal_actions"], choice, vizi)
            try:
                hand = self.write("hand/actions", {"actions": [action]})
            except Refused:
                # Whether its hand beats the one laid open only the seat knows; the console learns it by its answer.
                if action["verb"] not in COMPELLED:
                    raise
                hand = self.write("hand/actions", {"actions": [action | {"verb": COMPELLED[action["verb"]]}]})
        for device in devices:
            device.check()
        self.wait_until_settled()
        return str(hand["hand"])


def gestures(acts: list[str]) -> list[list[str]]:
    """The log cut into what a console sends at once: an action with the cards it brings, a look or a fold with what
    follows it, and what everybody does in turn without deciding anything: paying, turning up, showing."""
    out: list[list[str]] = []
    for line in acts:
        verb = line.split(" ")[1]
        last = out[-1][-1].split(" ")[1] if out else ""
        belongs = last in ("lk", "f") or verb == "dh" or verb == last in ("po", "up", "sm")
        if out and belongs and len(out[-1]) < MOST_ACTIONS:
            out[-1].append(line)
        else:
            out.append([line])
    return out


def as_action(line: str) -> dict[str, Any]:
    """One line of a record as the API takes it."""
    actor, verb, *arguments = line.split(" ")
    action: dict[str, Any] = {"actor": actor, "verb": verb}
    for argument in arguments:
        if verb == "mj" or (verb == "rv" and "amount" in action):
            action["commitment" if verb == "mj" else "nonce"] = argument
        elif argument.isdigit():
            action["count" if verb == "lk" else "amount"] = int(argument)
        elif argument.startswith("p"):
            action["target"] = argument
        else:
            action["cards"] = argument
    return action


def majzli_commitment(vizi: int, nonce: bytes) -> str:
    """SHA-256 over "majzli-v1", the vizi in decimal digits and the nonce, each after its length in four bytes."""
    parts = (b"majzli-v1", str(vizi).encode(), nonce)
    return hashlib.sha256(b"".join(len(part).to_bytes(4, "big") + part for part in parts)).hexdigest()


def choose(legal: list[dict[str, Any]], choice: random.Random, vizi: int) -> dict[str, Any]:
    """A random legal action, knowing no card; folding and the largest raises are rare, so that hands get somewhere.
    What is held in the fist is always `vizi`."""
    weights = [1 if offer["verb"] == "f" else 4 for offer in legal]
    offer = choice.choices(legal, weights)[0]
    action = {key: offer[key] for key in ("actor", "verb", "target") if key in offer}
    if offer["verb"] == "lk":
        action["count"] = offer["count"]
    elif offer["verb"] == "up":
        action["places"] = choice.choice(offer.get("places") or [[0, 1], [0, 3], [1, 2], [2, 3]])
    elif offer["verb"] in ("cu", "sm"):
        action["cards"] = "??" * offer["count"]
    elif offer["verb"] == "mj":
        action["commitment"] = majzli_commitment(vizi, NONCE)
    if offer["verb"] == "rv":
        action |= {"amount": vizi, "nonce": NONCE.hex()}
    elif "min" in offer and offer["verb"] != "lk":
        steps = (offer["max"] - offer["min"]) // offer.get("step", 1)
        action["amount"] = offer["min"] + min(choice.randint(0, 2), steps) * offer.get("step", 1)
    return action
