"""The count room by forms: boxes that are brought, counted by two who are blind of each other, and received."""

import re
from typing import Any

import pytest

from casino.staff.models import Role, TerminalKind
from tests.casino.console.browser import Browser
from tests.casino.kit import Kit
from tests.casino.transfers.test_soft_counts import CASH, Boxes

VALUES = (100_000, 25_000, 5000, 1000, 500, 100, 25, 5, 1)


@pytest.fixture
def boxes(kit: Kit) -> Boxes:
    """Boxes with something in them."""
    return Boxes(kit)


def do(browser: Browser, job: str, fields: dict[str, Any], status: int = 200) -> str:
    """Open a job of the count room and send its form."""
    browser.open(f"count/jobs/{job}")
    answer = browser.submit(f"count/jobs/{job}", fields)
    assert answer.status_code == status, answer.text
    return answer.text


def counted(box: str, cash: int, **chips: int) -> dict[str, Any]:
    """A count of a box: every row is typed."""
    return {"box": box, "cash": cash} | {f"pieces.{value}": str(chips.get(f"of{value}", 0)) for value in VALUES}


def test_a_box_is_brought_counted_twice_and_received(boxes: Boxes) -> None:
    kit = boxes.kit
    box = str(boxes.swap("drop", "drop-2", "S-7")["taken"]["box"])
    one, other = Browser.of(kit, Role.COUNT), Browser.of(kit, Role.COUNT)
    supervisor = Browser.of(kit, Role.CAGE_SUPERVISOR)
    assert one.open("").headers["Location"] == "/console/count"
    page = one.open("count").text
    assert "Boxes to bring" in page and f"/console/count/jobs/bringBox?box={box}" in page and "seal S-7" in page
    form = one.open("count/jobs/bringBox", box=box).text
    assert f'name="box" value="{box}"' in form
    do(one, "bringBox", {"box": box, "seal": "S-7"})
    assert "Boxes to count" in other.open("count").text
    assert "Every row is counted" in do(one, "countBox", {"box": box, "cash": CASH}, status=400)
    seen = [do(one, "countBox", counted(box, CASH + 31)), other.open("count").text, supervisor.open("count").text]
    seen.append(other.open("count/jobs/countBox", box=box).text)
    answer = do(other, "countBox", counted(box, CASH + 17))
    assert "The two counts differ" in answer
    seen.append(answer)
    assert not any(re.search(rf"\b(?:{CASH}|{CASH + 31}|{CASH + 17})\b", page) for page in seen)
    assert "<code>four_eyes</code>" not in do(one, "countBox", counted(box, CASH))
    assert "<code>four_eyes</code>" in do(one, "countBox", counted(box, CASH), status=403)
    do(other, "countBox", counted(box, CASH))
    page = supervisor.open("count").text
    assert f"/console/count/jobs/receiveBox?box={box}" in page and str(CASH) in page
    received = do(supervisor, "receiveBox", {"box": box})
    assert "Recorded" in received and "Cash variance" in received
    assert boxes.moved()[0] == CASH
    assert "Boxes to receive" not in supervisor.open("count").text


def test_after_three_pairs_that_differ_a_supervisor_decides(boxes: Boxes) -> None:
    kit = boxes.kit
    box = str(boxes.brought("drop"))
    one, other = Browser.of(kit, Role.COUNT), Browser.of(kit, Role.COUNT)
    for _ in range(3):
        do(one, "countBox", counted(box, CASH))
        do(other, "countBox", counted(box, CASH - 5))
    assert "supervisor_needed" in do(one, "countBox", counted(box, CASH), status=409)
    supervisor = Browser.of(kit, Role.CAGE_SUPERVISOR)
    assert f"/console/count/jobs/decideCount?box={box}" in supervisor.open("count").text
    watching = kit.hire(Role.SURVEILLANCE, TerminalKind.OFFICE, "")[0].staff.login
    do(supervisor, "decideCount", counted(box, CASH) | {"reason": "seen by both", "observer": watching})
    receiver = Browser.of(kit, Role.CAGE_SUPERVISOR)
    do(receiver, "receiveBox", {"box": box})


def test_the_vault_is_counted_by_two(boxes: Boxes) -> None:
    one, other = Browser.of(boxes.kit, Role.CAGE_SUPERVISOR), Browser.of(boxes.kit, Role.CAGE_SUPERVISOR)
    count = {"cash": 12_345, "foreign": 0} | {f"pieces.{value}": "1" for value in VALUES}
    do(one, "countVault", count)
    page = other.open("count").text
    assert "Counts of the vault" in page and "12\N{NARROW NO-BREAK SPACE}345" not in page and "12345" not in page
    assert "<code>four_eyes</code>" in do(one, "countVault", count, status=403)
    do(other, "countVault", count)
    manager = Browser.of(boxes.kit, Role.MANAGER)
    assert "/console/count/jobs/signOffVaultCount?vault_count=1" in manager.open("count").text


def test_the_count_room_is_for_those_who_work_there(kit: Kit) -> None:
    kit.table()
    assert Browser.of(kit, Role.CASHIER).open("count").status_code == 404
    at_a_drawer = Browser.of(kit, Role.CAGE_SUPERVISOR, TerminalKind.CAGE, "C1")
    assert at_a_drawer.open("count").status_code == 404
    assert "/console/count" not in at_a_drawer.open("drawers/C1").text
    assert Browser.of(kit, Role.COUNT).open("count/jobs/receiveBox").status_code == 404
