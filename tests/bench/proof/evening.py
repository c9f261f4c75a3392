"""A long evening for measurements, as the application would record it: 24 lines a hand, an event and half a posting
each.

The model of tests/proof writes it, straight to the files of an export, so that a million events need no memory.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from casino.audit.verifier.findings import Report
from casino.audit.verifier.state import State
from tests.proof.model import PAID, Account, World, canonical, rows_of

#: A hand of two seats: its lines, and what the seat that acts stakes with each.
LINES: tuple[tuple[str, int], ...] = (
    ("p1 po 100", 100), ("d dh p1 ????", 0), ("d dh p2 ????", 0), ("p2 cc 100", 100), ("p1 rb 200", 200),
    ("p2 cc 200", 200), ("p1 k", 0), ("p2 rb 100", 100), ("p1 cc 100", 100), ("p2 lk 2", 0), ("p1 lk 2", 0),
    ("p1 rb 100", 100), ("p2 rb 200", 200), ("p1 cc 100", 100), ("p2 k", 0), ("p1 k", 0), ("p2 rb 100", 100),
    ("p1 cc 100", 100), ("p2 k", 0), ("p1 k", 0), ("d dh p1 ????", 0), ("d dh p2 ????", 0),
    ("p1 sm Kl8bXb7b", 0), ("p2 sm Ah7lKhOl", 0),
)  # fmt: skip


OPTIONS = {"vizi": 100, "table_max": 100_000, "tax_bps": 500, "tax_cap": 5_000}


class LongEvening(World):
    """Events, transactions and hands go into open files; a checkpoint is made every `every` events."""

    def open(self, folder: Path) -> None:
        """Begin to write."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.files: dict[str, TextIO] = {
            name: (folder / name).open("w", encoding="utf-8")
            for name in ("events-1.jsonl", "transactions", "hands.jsonl", "checkpoints")
        }
        self.count = 0
        self.peaks: list[bytes] = []
        self.numbers = 0
        self.replayed = State(Report())

    def append(self, payload: str, chain: str) -> None:
        """Write a payload, and a checkpoint where it is due."""
        hashed = hashlib.sha256(b"\x00" + payload.encode()).digest()
        self.heads[chain] = (self.heads.get(chain, (0, ""))[0] + 1, hashed.hex())
        self.files["events-1.jsonl"].write(f"{payload}\n")
        self.replayed.take(json.loads(payload))
        size, root = self.count, hashed
        while size & 1:
            root, size = hashlib.sha256(b"\x01" + self.peaks.pop() + root).digest(), size >> 1
        self.peaks.append(root)
        self.count += 1
        if self.count % self.every == 0:
            self.checkpoint()

    def _at(self, size: int) -> str:
        return self.now()

    def checkpoint(self) -> None:
        """Sign what there is."""
        root = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            root = hashlib.sha256(b"\x01" + peak + root).digest()
        self.files["checkpoints"].write(f"{self.note(self.count, root_hash=root)}\n")

    def post(self, key: str, kind: str, legs: list[tuple[str, str, int]], reverses: int | None = None) -> int:
        """Post, and write the transaction."""
        self.transactions = []
        super().post(key, kind, legs, reverses)
        self.numbers += 1
        self.transactions[0]["id"] = self.waiting[-1]["tx"] = self.numbers
        self.files["transactions"].write(f"{canonical(self.transactions[0])}\n")
        return self.numbers

    def play(self, table: str, number: int, stacks: dict[str, int]) -> None:
        """One hand."""
        name, chain, log = f"{table}-{number:06d}", f"table/{table}", [line for line, _ in LINES]
        row: dict[str, Any] = {
            "hand": name, "table": table, "number": number, "mode": "physical", "game": "ferbli", "series": {},
            "seats": [{"player": "a", "seat": 1}, {"player": "b", "seat": 2}], "carry": 0, "rules": "ferbli/1",
            "options": OPTIONS,
            "stacks": [stacks[f"{table}/a"], stacks[f"{table}/b"]],
        }  # fmt: skip
        self.record(chain, "hand.dealt", row | {"button": 2, "first_line": 1, "lines": []})
        staked = {"a": 0, "b": 0}
        result = {"net": [-700, 655], "tax": 45, "carry_out": 0, "bonus": [0, 0], "winner": 2}
        ending = {"digest": hashlib.sha256(name.encode()).hexdigest(), "handle": 1_400, "result": result}
        at_the_end = ending | {"log": log, "next_button": 2, "record_hash": ending["digest"]}
        for at, (line, stake) in enumerate(LINES, 1):
            if stake:
                player = "a" if line.startswith("p1") else "b"
                staked[player] += stake
                legs = [(f"2020/{table}/{player}", "HUF", stake), (f"2030/{table}", "HUF", -stake)]
                self.post(f"hand:{name}:{at}", "hand.stakes", legs)
            self.acted(chain, name, at, [line], **(at_the_end if at == len(LINES) else {}))
        settlement = self.post(f"hand:{name}:settlement", "hand.settled", [
            (f"2030/{table}", "HUF", sum(staked.values())), (f"2020/{table}/b", "HUF", 45 - sum(staked.values())),
            (f"4010/{table}", "HUF", -45), (f"9150/{table}", "HUF.MAIN.5", 9), (f"9170/{table}", "HUF.MAIN.5", -9),
        ])  # fmt: skip
        stacks[f"{table}/a"] += result["net"][0]
        stacks[f"{table}/b"] += result["net"][1]
        recorded = {"hand": name, "result": result, "digest": ending["digest"], "settlement": settlement}
        self.record(chain, "hand.settled", recorded)
        self.files["hands.jsonl"].write(canonical(row | ending | {"log": log, "settlement": settlement,
                                                                  "state": "settled"}) + "\n")  # fmt: skip

    def close(self) -> None:
        """Write what the files need at their ends and heads."""
        if self.count % self.every:
            self.checkpoint()
        for file in self.files.values():
            file.close()
        epochs = {"1": {"rotations": [], "size": self.count, "vkey": self.vkey}}
        manifest = {"code": self.code, "currency": "HUF", "epochs": epochs, "house": self.house, "tail": 0,
                    "verifier_sha256": "0" * 64}  # fmt: skip
        (self.folder / "manifest.json").write_text(canonical(manifest) + "\n")
        (self.folder / "tail.jsonl").write_text("")
        (self.folder / "timestamps.jsonl").write_text("")
        with (self.folder / "state.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(f"{canonical(row)}\n" for row in rows_of(self.replayed))
        with (self.folder / "ledger.jsonl").open("w") as ledger, (self.folder / "transactions").open() as transactions:
            ledger.writelines(f"{canonical({'account': _row(one)})}\n" for one in self.accounts.values())
            ledger.writelines(transactions)
        (self.folder / "transactions").unlink()


def _row(one: Account) -> dict[str, Any]:
    names = ("balance", "code", "commodity", "id", "version")
    return {name: getattr(one, name) for name in names} | {"normal_side": one.side}


def write(folder: Path, events: int, *, tables: int = 8, every: int = 200) -> LongEvening:
    """An export of so many events or a few more."""
    world = LongEvening(every=every)
    world.open(folder)
    world.set_up(tables, options=OPTIONS, most=10**9)
    stacks: dict[str, int] = {}
    for code in _codes(tables):
        world.post(f"buy:{code}", "cage.buy_in", [("1020/C1", "HUF", 10**9), (f"2010/{code}", "HUF", -(10**9))])
        world.record("drawer/C1", "cage.buy_in", {"player": code, "amount": 10**9} | PAID)
        world.post(f"sit:{code}", "table.sat_down", [(f"2010/{code}", "HUF", 10**9), (f"2020/{code}", "HUF", -(10**9))])
        table, player = code.split("/")
        sat = {"seat": " ab".index(player), "player": player, "amount": 10**9}
        world.record(f"table/{table}", "table.sat_down", sat)
        stacks[code] = 10**9
    number = 0
    while world.count < events:
        number += 1
        for table in range(1, tables + 1):
            world.play(f"T{table}", number, stacks)
    world.close()
    return world


def _codes(tables: int) -> Iterator[str]:
    return (f"T{table}/{player}" for table in range(1, tables + 1) for player in "ab")
