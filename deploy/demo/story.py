"""What goes wrong on an evening, and what two people do about it: counts of trays, a fill that is approved, wrong
entries at the cage, a hand that is disputed, and a drawer that is short."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from deploy.demo.client import Terminal
from deploy.demo.dealer import Console
from deploy.demo.logins import Credentials
from deploy.demo.seed import named, tray_of

#: Sign-ins at a time: the house spends a third of a second of a core on each, on purpose.
AT_ONCE = 4


class Lists(Protocol):
    """A terminal, as far as its lists are read."""

    def pages(self, path: str) -> list[Any]:
        """All rows of a list."""


#: What a player puts down at the window, and what the cashier keys first, in minor units.
BOUGHT, KEYED = 5_000, 50_000
#: What is keyed for a player who bought nothing, in minor units.
NOT_BOUGHT = 2_000
#: A note that is missing in the drawer at the end, in minor units.
MISSING = 200


def count_openers(consoles: dict[str, Console], credentials: Credentials) -> str:
    """Dealer and floor count every tray, each without seeing the other's count, before the tables open."""

    def count(code: str) -> None:
        console = consoles[code]
        pieces = named(tray_of(console.table["options"], console.table["seat_count"]))
        counted = console.write("tray-counts", {"purpose": "opener", "pieces": pieces})
        number = counted["last_event"]["tray_count"]["tray_count"]
        with Terminal(console.terminal.base_url, credentials.floor[code]) as floor:
            floor.post(
                f"{console.path}/tray-counts/{number}/witness", {"pieces": pieces}, version=console.table["version"]
            )
        console.refresh()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for counting in [pool.submit(count, code) for code in consoles]:
            counting.result()
    return "Every tray was counted by dealer and floor before its table opened."


def dispute(console: Console, hand: dict[str, Any], credentials: Credentials, manager: Terminal) -> tuple[str, str]:
    """A recorded hand is begun once more in a session of its own, and disputed half-way: the floor stops it, which
    freezes the pot, and rules with a manager's approval who gets it. Where nothing lies in the pot yet, as in games
    that pay at their end, the ruling is that the hand is void. Returns the hand's name, and what happened."""
    console.close()
    stacks = begin_half(console, hand)
    reason = "two players say that the last action was theirs"
    name = console.hand["hand"]
    with Terminal(console.terminal.base_url, credentials.floor[console.code]) as floor:
        stopped = floor.post(f"{console.path}/hand/dispute", {"hand": name, "reason": reason}, version=None)
        pot, version = stopped["last_event"]["frozen"], stopped["version"]
        if pot:
            paid = {actor: stack - console.hand["balances"]["stacks"][actor] for actor, stack in stacks.items()}
            winner = max(paid, key=lambda actor: paid[actor])
            path, body = "ruling", {"hand": name, "awards": [{"actor": winner, "amount": pot}], "tax": 0}
            said = f"a pot of {pot:,} was frozen, and with a manager's approval the floor ruled that {winner} gets it"
        else:
            path, body = "void", {"cause": "ruled"}
            said = "with a manager's approval the floor ruled that it is void"
        said_why = {"reason": "the video shows who acted last"}
        floor.post_approved(f"{console.path}/hand/{path}", body | said_why, manager, version=version)
    console.refresh()
    return name, f"Hand {name} was disputed in play: {said}."


def begin_half(console: Console, hand: dict[str, Any]) -> dict[str, int]:
    """Deal a recorded hand and play half of it; the stacks with which it began."""
    console.prepare(hand)
    dealt = console.write("hands", {"mode": "physical"})
    gestures = console.words.gestures(hand["acts"])
    for gesture in gestures[: len(gestures) // 2]:
        console.write("hand/actions", {"actions": [console.words.as_action(line) for line in gesture]})
    return dict(dealt["balances"]["stacks"])


def found(auditor: Lists, tables: list[str], disputed: str, z: dict[str, Any]) -> dict[str, bool]:
    """What must have happened on the evening, as the house's own lists have it, by the words of the report."""
    counted = {row["table"] for row in auditor.pages("tray-counts")
               if (row["purpose"], row["state"]) == ("opener", "confirmed")}  # fmt: skip
    used = {row["operation"]: row for row in auditor.pages("approvals") if row["state"] == "used"}
    moved = {row["kind"]: row["count"] for row in z["movements"]}
    received = {row["kind"] for row in auditor.pages("transfers") if row["state"] == "received"}
    states = {row["hand"]: row["state"] for row in auditor.pages("hands")}
    return {
        "every tray was counted by two people before its table opened": counted == set(tables),
        "a fill was approved by a second person, and counted where it came": (
            "sendFill" in used and "fill" in received
        ),
        "of wrong entries at the cage one was voided and one corrected": moved.get("cage.corrected") == 2,
        "a hand was disputed in play, and decided with a manager's approval": (
            states.get(disputed) in ("ruled", "voided") and bool({"ruleOnHand", "voidHand"} & used.keys())
        ),
    }
