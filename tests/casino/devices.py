"""Players' own devices over HTTP, hands played at random, and what the audit trail records of them."""

import json
import random
from typing import Any

import httpx

from casino.audit.models import Event
from deploy.demo.dealer import COMPELLED
from engine.deal.opening import check_opening
from engine.deal.shuffle import client_commitment
from tests.casino.kit import Desk, Kit
from tests.words import WORDS

#: Chips that last for all hands of a test.
DEEP = (200_000,) * 4


class Device:
    """A player's own device: an HTTP client with the key of a seat."""

    def __init__(self, kit: Kit, key: str, seat: int = 1) -> None:
        self.http, self.seat = kit.http(None), seat
        self.http.headers["Authorization"] = f"Seat {key}"

    def get(self, path: str) -> httpx.Response:
        """Read below `seat/`."""
        return self.http.get(f"/api/v1/seat/{path}")

    def act(self, hand: str, line: int, **action: Any) -> httpx.Response:
        """Act, having seen so many lines of the log."""
        return self.http.post("/api/v1/seat/actions", json={"hand": hand, "line": line, "action": action})

    def name(self, mark: str) -> httpx.Response:
        """Say which device it is."""
        return self.http.post("/api/v1/seat/device", json={"device": mark})

    def commit(self, hand: str, seed: str) -> httpx.Response:
        """Commit to a seed of the deal of this hand."""
        commitment = client_commitment(hand, self.seat, seed)
        return self.http.post("/api/v1/seat/commitment", json={"hand": hand, "commitment": commitment})

    def reveal(self, hand: str, seed: Any) -> httpx.Response:
        """Reveal the seed."""
        return self.http.post("/api/v1/seat/seed", json={"hand": hand, "seed": seed})


def key_of(desk: Desk, seat: int) -> str:
    """A new key for a seat; another one, where the answer with the first was lost."""
    key = desk.ok(f"seats/{seat}/key").get("key")
    return str(key or desk.ok(f"seats/{seat}/key")["key"])


def device(kit: Kit, desk: Desk, seat: int) -> Device:
    """A device with a new key for a seat."""
    return Device(kit, key_of(desk, seat), seat)


def seeded(desk: Desk, hand: str, own: dict[Device, str]) -> dict[str, Any]:
    """Let these devices commit to their seeds, close the commitments, and let them reveal; the table."""
    answers = [each.commit(hand, seed) for each, seed in own.items()]
    desk.refresh()
    if not desk.get("deal").json()["commitments_closed"]:
        desk.ok("deal/close")
    answers += [each.reveal(hand, seed) for each, seed in own.items()]
    assert all(answer.is_success for answer in answers), [answer.text for answer in answers]
    return desk.refresh()


def events(kit: Kit, *kinds: str) -> list[dict[str, Any]]:
    """Payloads of the house's events of these kinds, oldest first."""
    found = Event.objects.filter(chain__house=kit.house).order_by("id").values_list("payload", flat=True)
    return [event for event in map(json.loads, found) if event["kind"] in kinds]


def code(answer: httpx.Response) -> tuple[int, str]:
    """Status and code of a refusal."""
    return answer.status_code, answer.json()["code"]


def play_out(desk: Desk, answer: dict[str, Any], seed: int = 1) -> dict[str, Any]:
    """Random legal actions to the end of the hand."""
    choice = random.Random(seed)
    while answer["actor"] is not None:
        answer = one_action(desk, answer, choice)
    return answer


def check(recorded: dict[str, Any]) -> list[str]:
    """Check every opening of an answer; the cards."""
    for opening in recorded["openings"]:
        check_opening(opening, recorded["hand"], recorded["cards_roots"])
    return [opening["card"] for opening in recorded["openings"]]


def one_action(desk: Desk, answer: dict[str, Any], choice: random.Random) -> dict[str, Any]:
    """One random legal action; where only the cards decide which it is, the true one."""
    for action in WORDS[answer["view"]["game"]].choices(answer, choice):
        tried = desk.post("hand/actions", {"actions": [action]})
        found: dict[str, Any] = tried.json()
        if tried.is_success:
            return found
        assert found["code"] in COMPELLED, found
    raise AssertionError(f"nothing that was offered is legal: {answer['legal_actions']}")
