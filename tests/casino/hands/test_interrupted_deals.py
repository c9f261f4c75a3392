"""A hand that players have added seeds to goes on with the same deck in any process, whatever was lost."""

import json
import os
import random
import subprocess
import sys
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connections

from casino.hands import deals, selectors
from casino.hands.models import Hand
from tests.casino.devices import DEEP, one_action
from tests.casino.kit import FAERBELN, Kit

#: What another process makes of a hand's rows alone.
ELSEWHERE = """
import hashlib, json, sys
import django
django.setup()
from casino.hands import selectors
from casino.hands.models import Hand
hand = Hand.objects.select_related("table__house").get(id=int(sys.argv[1]))
game = selectors.state(hand)
recorded = [list(game.log), game.view("auditor"), game.places("public"), game.digest() if game.over else None]
print(json.dumps(recorded))
"""


def elsewhere(hand: Hand) -> Any:
    """The hand as a new process finds it, which knows nothing but the database and the seal key."""
    environ = os.environ | {"DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "casino.settings"}
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(hand.id)], env=environ, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def database_url() -> str:
    """The tests' own database."""
    found = connections["default"].settings_dict
    query = urlencode({"host": found["HOST"]}) if str(found["HOST"]).startswith("/") else ""
    host = "" if query else f"{found['HOST']}:{found['PORT']}"
    return f"postgresql://{found['USER']}:{found['PASSWORD']}@{host}/{found['NAME']}?{query}"


@pytest.mark.slow
@pytest.mark.parametrize("game", ["ferbli", "faerbeln"])
def test_a_hand_goes_on_with_the_same_deck_in_any_process_after_any_line(kit: Kit, game: str) -> None:
    if game == "ferbli":
        kit.table(cuhhol=True)
    else:
        kit.table_for("faerbeln", FAERBELN, code="T1", seats=4)
    desk = kit.seated(stacks=DEEP)
    desk.ok("deal")
    for seat in (1, 2, 4):
        desk.ok("deal/seeds", {"seat": seat, "seed": f"seat-{seat}"})
    answer, choice = desk.deal(), random.Random(5)
    hand = Hand.objects.get(house=kit.house)
    deck, log, step = selectors.state(hand).setup.deck, [], 0
    while True:
        stored = Hand.objects.get(id=hand.id)
        here = selectors.state(stored)
        assert here.setup.deck == deck
        assert list(here.log)[: len(log)] == log
        assert here.view("public")["log"] == answer["view"]["log"]
        log = list(here.log)
        if step % 12 == 4 or here.over:
            there = elsewhere(stored)
            digest = here.digest() if here.over else None
            assert there == json.loads(json.dumps([log, here.view("auditor"), here.places("public"), digest]))
        if answer["actor"] is None:
            break
        answer, step = one_action(desk, answer, choice), step + 1
    assert Hand.objects.get(id=hand.id).digest == deals.salted_digest(hand, here)
    assert kit.settle() == ["settled"]
