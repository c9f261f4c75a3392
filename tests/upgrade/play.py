"""`python play.py ROOT CODE_FILE`, in a tree of code: found a house over HTTP with the tree's own clients, and play.

Prints the house's code and what was met as JSON. Runs in the tree of whichever release is tried.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path.cwd()))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")

#: Hands at each of the tables: one with a real pack, one that deals electronically.
HANDS = 2


def main(root: str) -> None:
    """Play some hands at two tables, to their settlement, and say what was met."""
    import django

    django.setup()
    from tests.load.room import opened

    with opened(root, 2, ["ferbli"], ["physical", "electronic"], 7) as room:
        taken = room.take()
        for table in room.tables:
            for _ in range(HANDS):
                table.play(0.0)
                table.make_ready()
        found = {
            "house": room.credentials.house,
            "hands": len(taken.hands),
            "refused": sorted({one.code for one in taken.samples if one.code}),
            "repeated": dict(taken.repeated),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
