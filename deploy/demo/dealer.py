"""A dealer's console: plays recorded hands by entering cards and actions as they fall, and an electronic session by
choosing among the legal actions the house offers."""

import random
import time
from collections.abc import Callable, Iterable
from typing import Any

from deploy.demo.client import Refused, Terminal
from deploy.demo.device import Device
from deploy.demo.evening import EveningError
from deploy.demo.words import Words

#: Codes of refusals by which a console that knows no card learns what a seat's cards compel it to: another action is
#: the true one, or the cards lie at other places.
COMPELLED = ("verb_not_legal", "wrong_places")
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
        #: The hand after the last action, where one was begun.
        self.hand: dict[str, Any] = {}
        self.refresh()
        self.words = Words(terminal.get(f"games/{self.table['game']}"))

    # --- The table ---------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read the table as it is now."""
        self.table = self.terminal.get(self.path)

    def write(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """One write on the version this console has seen."""
        answer = self.terminal.post(f"{self.path}/{path}", body, version=self.table["version"])
        self.table["version"] = answer["version"]
        if "balances" in answer:
            self.hand = answer
        return answer

    def seat_players(self, refs: list[str], stacks: list[int]) -> None:
        """Open the table and seat these players in play order with these stacks."""
        self.write("open", {})
        for seat, (ref, stack) in enumerate(zip(refs, stacks, strict=True), start=1):
            self.sell_chips(ref, stack)
            self.write("seats", {"seat": seat, "player": ref, "amount": stack})
        self.refresh()

    def close(self) -> None:
        """End the session. Where nothing is carried all players leave first; what is left is shared."""
        self.refresh()
        if not self._carried:
            for seat in self.table["seats"]:
                self.write(f"seats/{seat['seat']}/leave", {})
        self.write("close", {})
        self.refresh()

    def wait_until_settled(self) -> None:
        """Wait until the worker has settled the hand; the table's state shows it."""
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
        if self._carried != hand["carry"]:
            raise EveningError(f"{hand['hand']} carries in {hand['carry']}, but table {self.code} has {self._carried}.")

    @property
    def _carried(self) -> int:
        """Money at the table between two hands: a cukassza, the bank of the seats."""
        return int(self.table["cukassza"] + self.table["bank"])

    def _can_follow(self, refs: list[str], stacks: list[int]) -> bool:
        """Whether the same people sit in the same order, the deal has passed on, and nobody has too much."""
        seats = self.table["seats"]
        dealer = self.table["next_button"]
        if dealer is not None:
            seats = sorted(seats, key=lambda seat: (seat["seat"] <= dealer, seat["seat"]))
        if [seat["player"] for seat in seats] != refs:
            return False
        return all(seat["stack"] <= stacks[refs.index(seat["player"])] for seat in seats)

    def play_recorded(self, hand: dict[str, Any]) -> None:
        """Play one recorded hand: cards as they fall, actions as they were taken."""
        self.prepare(hand)
        self.write("hands", {"mode": "physical"})
        for gesture in self.words.gestures(hand["acts"]):
            try:
                self.write("hand/actions", {"actions": [self.words.as_action(line) for line in gesture]})
            except Refused as refusal:
                raise EveningError(f"{hand['hand']}, at {', '.join(gesture)!r}: {refusal}") from refusal
        self.wait_until_settled()

    # --- Electronic session ------------------------------------------------------------------------------------

    def give_keys(self) -> list[Device]:
        """Give every second player a key for a device; the others say their seeds aloud. Where cards are chosen by what
        they are everybody gets one: the console does not know them."""
        devices = []
        for seat in self.table["seats"][:: 2 if self.words.blind else 1]:
            answer: dict[str, Any] = {}
            # Only the first answer has the key; if that was lost, another key is issued.
            while "key" not in answer:
                answer = self.write(f"seats/{seat['seat']}/key", {})
            devices.append(Device(self.terminal.base_url, answer["key"], seat["seat"]))
        return devices

    def prepare_deal(self, devices: list[Device], choice: random.Random) -> None:
        """Commit to the next deal, then take a seed of every seat; with the last one the commitments close."""
        self.write("deal", {})
        for device in devices:
            device.commit_seed()
        self.refresh()
        own = {device.seat for device in devices}
        for seat in self.table["seats"]:
            if seat["seat"] not in own:
                self.write("deal/seeds", {"seat": seat["seat"], "seed": f"{choice.randrange(10**6):06d}"})
        for device in devices:
            device.reveal_seed()
        self.refresh()

    def play_electronic(self, devices: list[Device], choice: random.Random) -> str:
        """Deal one hand from a committed deck and take random legal actions; the devices check it when it is dealt and
        when it is over. Returns the hand's name."""
        self.prepare_deal(devices, choice)
        hand = self.write("hands", {"mode": "electronic"})
        for device in devices:
            device.check()
        while hand["actor"] is not None:
            hand = self.take_one(hand, devices, choice)
        for device in devices:
            device.check()
        self.wait_until_settled()
        return str(hand["hand"])

    def take_one(self, hand: dict[str, Any], devices: list[Device], choice: random.Random) -> dict[str, Any]:
        """Take one random action that the house offers, and the seat's cards allow; the hand after it. A seat with a
        device says what its player chooses; for the others the console chooses, and knows no card."""
        seats_of = {seat["seat"]: seat["actor"] for seat in hand["seats"]}
        of_actors = {seats_of[device.seat]: device for device in devices if device.seat in seats_of}
        actors = {offer["actor"]: None for offer in hand["legal_actions"]}
        known = [offer for actor in actors if actor in of_actors for offer in of_actors[actor].offers()]
        blind = [offer for offer in hand["legal_actions"] if offer["actor"] not in of_actors]
        taken = first_taken(self.write, self.words.choices(hand | {"legal_actions": known + blind}, choice))
        if taken is None:
            raise EveningError(f"{hand['hand']}: no device knows the cards of {hand['actor']}.")
        return taken


def first_taken(
    write: Callable[[str, dict[str, Any]], dict[str, Any]], actions: Iterable[dict[str, Any]]
) -> dict[str, Any] | None:
    """Send one action after the other until the cards of its seat allow one; the hand after it, None where there is no
    action. Raises Refused where they allow none, and for what no cards compel."""
    refusal: Refused | None = None
    for action in actions:
        try:
            return write("hand/actions", {"actions": [action]})
        except Refused as refused:
            if refused.code not in COMPELLED:
                raise
            refusal = refused
    if refusal is not None:
        raise refusal
    return None
