"""The files of an export."""

MANIFEST, TAIL, CHECKPOINTS, VKEY, LEDGER, HANDS = (
    *("manifest.json", "tail.jsonl", "checkpoints", "vkey"),
    *("ledger.jsonl", "hands.jsonl"),
)
