"""Tables of both games with every option that is built: API, worker and ledger agree with the engine on all of them."""

from collections import Counter
from typing import Any

import pytest

from tests.casino.evenings import assert_house_is_whole, play_electronically, play_records, records, table_of
from tests.casino.kit import FAERBELN, FERBLI, Kit

EVERYTHING = {
    "majzli_max": 300, "cuhhol": True, "show_two": True, "force_third_deal": True, "wild": "tens_santa",
    "limit": "none", "short_stack": "side_pot", "grigare": "kis_nagy", "cukassza_call": "megadas_eldobas",
}  # fmt: skip

#: Game, options, seats, stack, and what must occur in the records: verbs, or keys.
TABLES: dict[str, tuple[str, dict[str, Any], int, int, set[str]]] = {
    "santa, triple": ("ferbli", FERBLI | {"wild": "santa", "limit": "triple"}, 5, 20_000, {"ks", "sm"}),
    "tens, kis_nagy": ("ferbli", FERBLI | {"wild": "tens", "grigare": "kis_nagy"}, 4, 20_000, {"sm"}),
    "majzli": ("ferbli", FERBLI | {"majzli_max": 500}, 4, 9_000, {"mj", "in", "rv", "f"}),
    "call or discard": ("ferbli", FERBLI | {"cukassza_call": "megadas_eldobas"}, 5, 9_000, {"carry"}),
    "forced third deal": ("ferbli", FERBLI | {"force_third_deal": True, "min_active": 4}, 4, 9_000, {"third"}),
    "show two": ("ferbli", FERBLI | {"show_two": True}, 4, 9_000, {"up", "ks"}),
    "cuhhol": ("ferbli", FERBLI | {"cuhhol": True}, 7, 9_000, {"cu", "decks"}),
    "no limit, side pots": ("ferbli", FERBLI | {"limit": "none", "short_stack": "side_pot"}, 5, 1_200, {"two win"}),
    "everything": ("ferbli", FERBLI | EVERYTHING, 5, 3_000, {"mj", "up", "cu"}),
    "faerbeln, side pots": ("faerbeln", FAERBELN | {"short_stack": "side_pot"}, 5, 2_000, {"two win", "up"}),
    "faerbeln, any call": ("faerbeln", FAERBELN | {"showdown": "any_call", "pack": "french"}, 3, 20_000, {"sm"}),
    "faerbeln, uncontested": ("faerbeln", FAERBELN | {"bonus41_for": "uncontested"}, 3, 9_000, {"k"}),
}


def recorded(evening: list[dict[str, Any]]) -> Counter[str]:
    """What occurs in records: verbs, keys that are there for a reason, hands with two winners, forced third deals."""
    found = Counter(line.split()[1] for record in evening for line in record["acts"])
    for record in evening:
        found["carry"] += record["carry"] > 0
        found["decks"] += "decks" in record
        found["two win"] += sum(net > 0 for net in record["net"]) > 1
        found["third"] += record.get("series", {}).get("failed") == 2
    return found


def evening_with(name: str) -> list[dict[str, Any]]:
    """The first random evening of four hands in which everything occurs that the table is there for."""
    game, options, seats, stack, wanted = TABLES[name]
    for seed in range(500):
        evening = records(game, options, seats=seats, hands=4, stack=stack, seed=str(seed))
        if wanted <= set(+recorded(evening)):
            return evening
    raise AssertionError(f"no evening of {name} shows {wanted}")


@pytest.mark.some_now(12)
@pytest.mark.parametrize("name", TABLES)
def test_recorded_hands_of_every_variant_move_exactly_their_money(kit: Kit, name: str) -> None:
    game, options, seats, *_ = TABLES[name]
    table_of(kit, game, options, seats=seats)
    play_records(kit, evening_with(name))
    assert_house_is_whole(kit)


@pytest.mark.some_now(12)
@pytest.mark.parametrize("name", TABLES)
def test_electronic_hands_of_every_variant_settle_and_export_what_replays(kit: Kit, name: str) -> None:
    game, options, seats, stack, _ = TABLES[name]
    table_of(kit, game, options, seats=seats)
    desk = kit.seated(stacks=(5 * stack,) * seats)
    exported = play_electronically(kit, desk, hands=3, seed=7)
    assert all("deck" in record or "decks" in record for record in exported)
    assert_house_is_whole(kit)
