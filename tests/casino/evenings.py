"""Whole sessions through HTTP and the worker: records played as the demo's console plays them, and electronic hands
whose players choose at random among what is offered."""

import json
import random
from typing import Any

from casino.approvals.control_points import set_at_founding
from casino.hands import selectors
from casino.hands.models import Hand
from casino.hands.terms import rules
from casino.reports.selectors import hand_money, house_report
from casino.reports.verifying import verification
from casino.tables.models import CarryoverOnClose
from deploy.demo.client import Refused
from deploy.demo.dealer import Console
from engine.play import Sitting, play_evening
from engine.record.format import format_record, parse_record
from engine.record.replay import replay
from tests.casino.devices import one_action
from tests.casino.kit import ACTOR, CHIPS, Desk, Kit


class DeskTerminal:
    """A desk of the kit as the terminal that the demo's console speaks through."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def get(self, path: str) -> Any:
        """Read something."""
        return self.desk.get(f"/api/v1/{path}").json()

    def post(self, path: str, body: dict[str, Any], *, version: int | None) -> dict[str, Any]:
        """Write something on the version that was seen."""
        answer = self.desk.post(f"/api/v1/{path}", body, version=version)
        found: dict[str, Any] = answer.json()
        if answer.is_error:
            raise Refused(found)
        return found


class WorkedOff(Console):
    """The demo's console, with a worker that settles as soon as it is waited for."""

    def __init__(self, kit: Kit, code: str, players: list[str]) -> None:
        self.kit = kit
        # The buy-ins of recorded evenings are of any size.
        points = {"exchange_by_supervisor_from": CHIPS, "exchange_by_manager_from": CHIPS}
        set_at_founding(house=kit.house, points=points, actor=ACTOR)
        kit.players(*players, chips=1)
        self.cashier = kit.cashier()
        super().__init__(DeskTerminal(kit.dealer(code)), code, self.sell)  # type: ignore[arg-type]

    def sell(self, ref: str, amount: int) -> None:
        """Chips from the cage."""
        self.cashier.ok("buy-ins", {"player": ref, "amount": amount})

    def wait_until_settled(self) -> None:
        """Settle, and insist that it was settled."""
        assert self.kit.settle() == ["settled"]
        self.refresh()
        assert self.table["state"] == "open"


def records(game: str, options: dict[str, Any], *, seats: int, hands: int, stack: int, seed: str) -> list[Any]:
    """Random legal hands as records, stacks and carry going on from hand to hand."""
    least = rules(game, options, seats).least_stack
    session = Sitting(game, options, seats, stack, least)
    return [json.loads(format_record(record)) for record in play_evening(session, hands=hands, seed=seed)]


def table_of(kit: Kit, game: str, options: dict[str, Any], *, code: str = "T1", seats: int) -> None:
    """A table of these options, whose cukassza is shared at the end."""
    kit.table_for(game, options, code=code, seats=seats, carryover_on_close=CarryoverOnClose.SPLIT)


def play_records(kit: Kit, evening: list[Any], *, code: str = "T1") -> None:
    """Play records in physical mode and compare the ledger with every one of them."""
    console = WorkedOff(kit, code, sorted(evening[0]["seats"]))
    for number, record in enumerate(evening, start=1):
        console.play_recorded(record)
        hand = Hand.objects.get(house=kit.house, name=f"{code}-{number:06d}")
        money = hand_money(hand)
        expected = {key: record[key] for key in ("net", "tax", "carry_out")}
        assert money == {
            "hand": hand.name, "state": "settled", "bonus": sum(record.get("bonus", [])), **expected,
        }, record  # fmt: skip
        assert hand.series == record.get("series", {})


def bring_stacks(kit: Kit, desk: Desk) -> None:
    """What the cards have taken from a seat, so that it can be dealt in again: decks are the server's, so who loses
    everything in an evening differs from run to run."""
    table = desk.get().json()
    for seat in table["seats"]:
        missing = table["limits"]["min_stack"] - seat["stack"]
        if missing > 0:
            kit.cashier().ok("buy-ins", {"player": seat["player"], "amount": missing})
            desk.ok(f"seats/{seat['seat']}/chips", {"amount": missing})


def play_electronically(kit: Kit, desk: Desk, *, hands: int, seed: int) -> list[dict[str, Any]]:
    """Play committed decks as a console that knows no card, settle each hand, and return the exported records.

    Every record must stand on its own in a strict replay and open its commitment.
    """
    choice, found = random.Random(seed), []
    for _ in range(hands):
        bring_stacks(kit, desk)
        answer = desk.deal()
        while answer["actor"] is not None:
            answer = one_action(desk, answer, choice)
        assert kit.settle() == ["settled"]
        desk.refresh()
        record = selectors.record(selectors.get(kit.house, answer["hand"]))
        outcome = replay(parse_record(json.dumps(record)))
        assert outcome.ok, (outcome.error, record)
        found.append(record)
    return found


def assert_house_is_whole(kit: Kit) -> None:
    """Replays, chains, books and chips all agree."""
    found = verification(kit.house)
    assert found["ok"], found
    assert house_report(kit.house)["custody"]["equal"]
