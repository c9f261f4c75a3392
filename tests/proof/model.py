"""An independent model of a house's audit trail and its export: plain Python that shares nothing with the verifier.

It hashes, signs (with `cryptography`) and writes the formats by itself, from their descriptions. An evening here is a
number of hands at some tables, the players' buy-ins before them, and checkpoints every few leaves. Only the rows of
`state.jsonl` are the verifier's own replay of the events: rows of a real house are in
`tests/casino/verification/test_verify_state.py`.
"""

import base64
import hashlib
import json
import struct
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from casino.audit.verifier.findings import Report
from casino.audit.verifier.state import MODELS, State

SIDES = {"1020": 1, "2010": -1, "2020": -1, "2030": -1, "2040": -1, "4010": -1, "9120": 1, "9170": 1, "9150": 1}
#: How a player pays for chips: with cash that needs no change, and takes them along to a table.
#: What the void of a small hand in play records besides.
MISDEAL: dict[str, Any] = {"cause": "misdeal", "cards_shown": False, "acted": False, "log_complete": False}
PAID: dict[str, Any] = {"exchanged": {}, "player_chips": 0}


def canonical(value: Any) -> str:
    """The one text of a value."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def root(hashes: list[bytes]) -> bytes:
    """Root of a tree, level by level: a hash without a neighbour moves up as it is."""
    if not hashes:
        return hashlib.sha256(b"").digest()
    while len(hashes) > 1:
        pairs = [hashes[at : at + 2] for at in range(0, len(hashes), 2)]
        hashes = [hashlib.sha256(b"\x01" + b"".join(pair)).digest() if len(pair) == 2 else pair[0] for pair in pairs]
    return hashes[0]


@dataclass
class Account:
    """A ledger account and how far it has come."""

    id: int
    code: str
    commodity: str
    balance: int = 0
    version: int = 0

    @property
    def side(self) -> int:
        """1 where debits raise it."""
        return SIDES[self.code.split("/")[0]]


@dataclass
class World:
    """A house, its chains, ledger and hands; every list is there to be tampered with."""

    seed: int = 7
    code: str = "MODEL"
    every: int = 5
    house: str = ""
    verifier: str = "0" * 64
    payloads: list[str] = field(default_factory=list)
    heads: dict[str, tuple[int, str]] = field(default_factory=dict)
    accounts: dict[tuple[str, str], Account] = field(default_factory=dict)
    transactions: list[dict[str, Any]] = field(default_factory=list)
    hands: list[dict[str, Any]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    waiting: list[dict[str, Any]] = field(default_factory=list)
    clock: int = 0
    versions: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.house = str(uuid.UUID(int=0x1234_5678_0000_4000_8000_000000000000 + self.seed))
        self.private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"key %d" % self.seed).digest())
        self.public = self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    # --- Writing ---------------------------------------------------------------------------------------------------

    def moment(self) -> str:
        """The next moment."""
        self.clock += 1
        return self.now()

    def now(self) -> str:
        """The moment that is now."""
        now = datetime(2026, 11, 21, tzinfo=UTC) + timedelta(seconds=self.clock)
        return f"{now:%Y-%m-%dT%H:%M:%S.%fZ}"

    def record(self, chain: str, kind: str, data: dict[str, Any]) -> None:
        """Append an event that records what was posted since the last one; what belongs to no place is the founding."""
        seq, prev = self.heads.get(chain, (0, "0" * 64))
        who = ("ödön@MODEL", "dealer", f"at-{chain.partition('/')[2]}")
        actor, role, terminal = who if kind.startswith(("hand.", "cage.", "table.sat")) else ("founder", "system", "")
        if chain in self.versions:
            self.versions[chain] += 1
            data = data | {f"{chain.partition('/')[0]}_version": self.versions[chain]}
        doc: dict[str, Any] = {
            "actor": actor, "at": self.moment(), "chain": chain, "data": data, "house": self.house,
            "kind": kind, "prev": prev, "request": f"r{self.clock}", "role": role, "seq": seq + 1,
            "terminal": terminal, "v": 2,
        }  # fmt: skip
        if self.waiting:
            doc["postings"], self.waiting = self.waiting, []
        self.append(canonical(doc), chain)

    def append(self, payload: str, chain: str) -> None:
        """Append a payload as it is."""
        self.payloads.append(payload)
        self.heads[chain] = (self.heads.get(chain, (0, ""))[0] + 1, leaf(payload).hex())
        if len(self.payloads) % self.every == 0:
            self.sizes.append(len(self.payloads))

    def post(self, key: str, kind: str, legs: list[tuple[str, str, int]], reverses: int | None = None) -> int:
        """Post one ledger transaction."""
        number = len(self.transactions) * 3 + 10
        entries = []
        for code, commodity, amount in sorted(legs):
            account = self.accounts.get((code, commodity))
            if account is None:
                account = self.accounts[code, commodity] = Account(len(self.accounts) + 1, code, commodity)
            account.version += 1
            account.balance += amount * account.side
            entries.append([account.id, account.version, amount, account.balance])
        fields = [key, kind, {"why": key}, None, self.moment()]
        self.transactions.append({"about": fields, "id": number, "legs": entries, "reverses": reverses})
        about = hashlib.sha256(canonical(fields).encode()).hexdigest()
        recorded: dict[str, Any] = {"about": about, "tx": number}
        self.waiting.append(recorded | ({"reverses": reverses} if reverses else {"legs": [list(leg) for leg in legs]}))
        return number

    # --- An evening ------------------------------------------------------------------------------------------------

    def evening(self, hands: int = 6, tables: int = 2) -> "World":
        """Play hands: most are settled, every fifth is voided, the last one of a long evening is still played."""
        self.set_up(tables)
        stacks = {}
        for table in range(1, tables + 1):
            for player in ("a", "b"):
                code = f"T{table}/{player}"
                self.post(f"buy:{code}", "cage.buy_in", [("1020/C1", "HUF", 5000), (f"2010/{code}", "HUF", -5000)])
                self.record("drawer/C1", "cage.buy_in", {"player": code, "amount": 5000} | PAID)
                self.post(f"sit:{code}", "table.sat_down",
                          [(f"2010/{code}", "HUF", 5000), (f"2020/{code}", "HUF", -5000)])  # fmt: skip
                sat = {"seat": " ab".index(player), "player": player, "amount": 5000}
                self.record(f"table/T{table}", "table.sat_down", sat)
                stacks[code] = 5000
        for number in range(hands):
            self.hand(f"T{number % tables + 1}", number // tables + 1, stacks, void=number % 5 == 4)
        return self

    def set_up(
        self, tables: int, *, options: dict[str, Any] | None = None, most: int = 9999,
        players: Sequence[str] = ("a", "b"),
    ) -> None:  # fmt: skip
        """A house with one person, a drawer, and tables of these options and this largest stack, a terminal each, with
        a seat for each of these players."""
        house = "house/MODEL"
        self.record(house, "house.founded", {"name": "Model", "currency": "HUF", "sandbox": True, "seal_key": "0" * 16})
        self.record(house, "staff.hired", {"login": "ödön@MODEL", "roles": ["dealer"], "password_sha256": "0" * 64})
        for player in players:
            self.record(house, "player.registered", {"player": player})
        for kind, place in (("cage", "C1"), *(("table", f"T{number}") for number in range(1, tables + 1))):
            device = {"terminal": f"at-{place}", "kind": kind, "location": place, "key_sha256": "0" * 64}
            self.record(house, "terminal.enrolled", device)
        self.record("drawer/C1", "drawer.set_up", {})
        self.versions["drawer/C1"] = 1
        terms = {"game": "ferbli", "options": options or {}, "seats": len(players), "min_stack": 1, "max_stack": most}
        for number in range(1, tables + 1):
            chain = f"table/T{number}"
            self.record(chain, "table.set_up", terms | {"carryover_on_close": "house"})
            self.versions[chain] = 1
            self.record(chain, "table.opened", {"session": 1})
        self.record(house, "vault.opened", {"capital": 0, "chips": {}})

    def hand(self, table: str, number: int, stacks: dict[str, int], *, void: bool = False) -> None:
        """One hand: a bets 100, b calls and wins, the house takes 10."""
        name, chain = f"{table}-{number:06d}", f"table/{table}"
        a, b = f"{table}/a", f"{table}/b"
        seats = [{"player": "a", "seat": 1}, {"player": "b", "seat": 2}]
        row: dict[str, Any] = {
            "hand": name, "table": table, "number": number, "mode": "physical", "game": "ferbli", "options": {},
            "seats": seats, "stacks": [stacks[a], stacks[b]], "carry": 0, "series": {}, "rules": "model/1",
        }  # fmt: skip
        self.record(chain, "hand.dealt", row | {"button": 2, "first_line": 1, "lines": []})
        log = ["p1 po 100", "d dh p1 ????", "p2 cc 100", "p1 f"]
        hashes = {"2": hashlib.sha256(canonical([name, 2, "d dh p1 Kl8b", "5a" * 32]).encode()).hexdigest()}
        row_of_log = {"line_hashes": hashes, "log": log[:3] if void else log}
        posted = [self.post(f"{name}:1", "hand.stakes",
                            [(f"2020/{a}", "HUF", 100), (f"2030/{table}", "HUF", -100)])]  # fmt: skip
        self.acted(chain, name, 1, log[:2], line_hashes=hashes)
        posted.append(self.post(f"{name}:3", "hand.stakes",
                                [(f"2020/{b}", "HUF", 100), (f"2030/{table}", "HUF", -100)]))  # fmt: skip
        result = {"net": [-100, 90], "tax": 10, "carry_out": 0, "bonus": [0, 0], "winner": 2}
        ending = {"digest": hashlib.sha256(name.encode()).hexdigest(), "handle": 200, "result": result}
        if void:
            self.acted(chain, name, 3, log[2:3])
            for one in reversed(posted):
                legs = self.row(one)["legs"]
                codes = {account.id: account for account in self.accounts.values()}
                mirror = [(codes[id_].code, codes[id_].commodity, -amount) for id_, _, amount, _ in legs]
                self.post(f"{one}:void", "reversal", mirror, reverses=one)
            self.record(chain, "hand.voided", {"hand": name, "mirrors": {}, "pot": 0} | MISDEAL)
            self.hands.append(row | row_of_log | {"state": "voided"})
            return
        self.acted(chain, name, 3, log[2:], **ending, log=log, next_button=2, record_hash=ending["digest"])
        settlement = self.post(f"{name}:settlement", "hand.settled", [
            (f"2030/{table}", "HUF", 200), (f"2020/{b}", "HUF", -190), (f"4010/{table}", "HUF", -10),
            (f"9150/{table}", "HUF.MAIN.5", 2), (f"9170/{table}", "HUF.MAIN.5", -2),
        ])  # fmt: skip
        stacks[a], stacks[b] = stacks[a] - 100, stacks[b] + 90
        recorded = {"hand": name, "result": result, "digest": ending["digest"], "settlement": settlement}
        self.record(chain, "hand.settled", recorded)
        self.hands.append(row | ending | row_of_log | {"settlement": settlement, "state": "settled"})

    def acted(self, chain: str, name: str, first: int, lines: list[str], **ending: Any) -> None:
        """Lines of a hand."""
        self.record(chain, "hand.acted", {"hand": name, "first_line": first, "lines": lines, **ending})

    def row(self, number: int) -> dict[str, Any]:
        """A ledger transaction."""
        return next(row for row in self.transactions if row["id"] == number)

    # --- Checkpoints and files -------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Name of the key, and origin without the epoch."""
        return f"cukassza/{self.code}-{self.house[:8]}"

    @property
    def vkey(self) -> str:
        """The key's text."""
        return self.vkey_of(self.name)

    def vkey_of(self, name: str) -> str:
        """The text of the key under another name."""
        return f"{name}+{self._key_hash(name).hex()}+{base64.b64encode(b'%c' % 1 + self.public).decode()}"

    def _key_hash(self, name: str, kind: int = 1) -> bytes:
        return hashlib.sha256(name.encode() + b"\n%c" % kind + self.public).digest()[:4]

    def note(self, size: int, *, root_hash: bytes | None = None, epoch: int = 1) -> str:
        """The checkpoint over the first `size` payloads."""
        found = root_hash or root([leaf(payload) for payload in self.payloads[:size]])
        text = f"{self.name}/{epoch}\n{size}\n{base64.b64encode(found).decode()}\n"
        return f"{text}\n{self.signed(text, self._seconds(size))}"

    def signed(self, text: str, seconds: int) -> str:
        """Both signature lines under a checkpoint: of the text, and of the text with the time."""
        timed = f"cosignature/v1\ntime {seconds}\n{text}".encode()
        raw = (
            self._key_hash(self.name) + self.private.sign(text.encode()),
            self._key_hash(self.name, 4) + struct.pack(">Q", seconds) + self.private.sign(timed),
        )
        return "".join(f"— {self.name} {base64.b64encode(one).decode()}\n" for one in raw)

    def _seconds(self, size: int) -> int:
        """The time of the event that is the last of so many leaves."""
        at: str = json.loads(self.payloads[size - 1])["at"] if 0 < size <= len(self.payloads) else self.moment()
        return int(datetime.fromisoformat(at).timestamp())

    def state(self) -> list[dict[str, Any]]:
        """The rows that the events make, by the verifier."""
        state = State(Report())
        for payload in self.payloads:
            if (doc := json.loads(payload))["v"] == 2:
                state.take(doc)
        return rows_of(state)

    def notes(self) -> Iterator[str]:
        """A checkpoint for each of the sizes."""
        return (self.note(size) for size in self.sizes)

    def write(self, folder: Path) -> Path:
        """The export set; events behind the last checkpoint are its tail."""
        folder.mkdir(parents=True, exist_ok=True)
        size = self.sizes[-1] if self.sizes else 0
        lines = [f"{payload}\n" for payload in self.payloads]
        epochs = {"1": {"rotations": [], "size": size, "vkey": self.vkey}}
        manifest = {"code": self.code, "currency": "HUF", "epochs": epochs, "house": self.house,
                    "tail": len(lines) - size, "verifier_sha256": self.verifier}  # fmt: skip
        accounts = [
            {"account": {"balance": one.balance, "code": one.code, "commodity": one.commodity, "id": one.id,
                         "normal_side": one.side, "version": one.version}}
            for one in self.accounts.values()
        ]  # fmt: skip
        texts = {
            "manifest.json": canonical(manifest) + "\n",
            "events-1.jsonl": "".join(lines[:size]),
            "tail.jsonl": "".join(lines[size:]),
            "checkpoints": "".join(f"{note}\n" for note in self.notes()),
            "ledger.jsonl": "".join(f"{canonical(row)}\n" for row in (*accounts, *self.transactions)),
            "timestamps.jsonl": "",
            "hands.jsonl": "".join(f"{canonical(row)}\n" for row in self.hands),
            "state.jsonl": "".join(f"{canonical(row)}\n" for row in self.state()),
        }
        for name, text in texts.items():
            (folder / name).write_bytes(text.encode())
        return folder


def rows_of(state: State) -> list[dict[str, Any]]:
    """The rows of a replay as lines of `state.jsonl`."""
    return [
        {"key": key, "model": model.name, "row": row}
        for model in MODELS.values()
        if model.is_compared
        for key, row in state.rows.of(model.name).items()
    ]


def leaf(payload: str) -> bytes:
    """RFC 6962's hash of a leaf."""
    return hashlib.sha256(b"\x00" + payload.encode()).digest()
