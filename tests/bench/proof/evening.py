"""A long evening for measurements, as the application would record it (`tests/bench/proof/recorded.py` plays it).

The model of tests/proof writes it, straight to the files of an export, so that a million events need no memory.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, TextIO

from casino.audit.verifier.findings import Report
from casino.audit.verifier.state import State
from tests.proof.model import PAID, Account, World, canonical, rows_of

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

    def sit_down(self, table: str, player: str, amount: int) -> None:
        """Chips from the cage, and a seat with them: the first player sits on seat 1."""
        code = f"{table}/{player}"
        self.post(f"buy:{code}", "cage.buy_in", [("1020/C1", "HUF", amount), (f"2010/{code}", "HUF", -amount)])
        self.record("drawer/C1", "cage.buy_in", {"player": code, "amount": amount} | PAID)
        self.post(f"sit:{code}", "table.sat_down", [(f"2010/{code}", "HUF", amount), (f"2020/{code}", "HUF", -amount)])
        sat = {"seat": " abcd".index(player), "player": player, "amount": amount}
        self.record(f"table/{table}", "table.sat_down", sat)

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
