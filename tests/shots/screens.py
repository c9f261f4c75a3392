"""`make shots`: opens every screen of the console in a real Chromium, in light and dark, and makes pictures of them.

All of them come to `var/shots/screens`, those of `SHOWN` to `docs/shots` too. `tests/shots/test_screens.py` holds the
list against the addresses of the console.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from PIL import Image

from casino.console import cookies
from casino.staff.models import Role, TerminalKind
from deploy import embedded
from tests.browser.conftest import _beside_a_loop as _beside_a_loop
from tests.browser.conftest import chromium as chromium
from tests.browser.conftest import kit as kit
from tests.browser.conftest import screens as screens
from tests.browser.conftest import up as up
from tests.casino.kit import RULES
from tests.casino.papers import Evening, printed

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.screens import Screens

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
OFFICE, TABLE, CAGE = TerminalKind.OFFICE, TerminalKind.TABLE, TerminalKind.CAGE
PHONE = (390, 844)
HAND, DISPUTED = "T1-000001", "T3-000001"


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture: its name, the address, who looks at it from which terminal; nobody where no `role` is named."""

    name: str
    path: str
    role: Role | None = None
    kind: TerminalKind = OFFICE
    location: str = ""
    size: tuple[int, int] = (1280, 800)
    #: The screen of the device of a seat of T2.
    of_seat: bool = False


SHOTS = (
    Shot("terminal", "terminal"),
    Shot("sign-in", "sign-in"),
    Shot("own", "own", Role.DEALER),
    Shot("second-factor", "second-factor", Role.AUDITOR),
    Shot("new-passkey", "new-passkey", Role.AUDITOR),
    Shot("table", "tables/T2", Role.DEALER, TABLE, "T2"),
    Shot("table-frozen", "tables/T3", Role.FLOOR, TABLE, "T3"),
    Shot("table-tablet", "tables/T2", Role.DEALER, TABLE, "T2", (1024, 768)),
    Shot("display", "display/T2", Role.FLOOR),
    Shot("drawer", "drawers/C2", Role.CASHIER, CAGE, "C2"),
    Shot("drawer-z", "drawers/C1/shifts/1/z", Role.CAGE_SUPERVISOR, CAGE, "C1"),
    Shot("count", "count", Role.COUNT),
    Shot("floor", "floor", Role.FLOOR),
    Shot("ruling", f"hands/{DISPUTED}/ruling", Role.FLOOR, TABLE, "T3"),
    Shot("hand", f"hands/{HAND}", Role.AUDITOR),
    Shot("events", "audit", Role.AUDITOR),
    Shot("verification", "verification", Role.AUDITOR),
    Shot("status", "status", Role.FLOOR),
    Shot("webhooks", "webhooks", Role.ADMIN),
    Shot("reports", "reports", Role.AUDITOR),
    Shot("report", "reports/daily-revenue", Role.AUDITOR),
    Shot("people", "people", Role.ADMIN),
    Shot("founding", "founding", Role.ADMIN),
    Shot("limits", "limits", Role.ADMIN),
    Shot("days", "days", Role.MANAGER),
    Shot("safeguards", "safeguards", Role.COMPLIANCE),
    Shot("work", "work", Role.MANAGER),
    Shot("work-one", "work/closeDay", Role.MANAGER),
    Shot("print", "prints/1", Role.CAGE_SUPERVISOR, CAGE, "C1"),
    Shot("event", "audit/{event}", Role.AUDITOR),
    Shot("report-run", "report-runs/1", Role.AUDITOR),
    Shot("seat", "seat", size=PHONE, of_seat=True),
    Shot("seat-hands", "seat/hands", size=PHONE, of_seat=True),
    Shot("rules", "rules", Role.FLOOR),
    Shot("rules-version", "rules/1", Role.FLOOR),
    Shot("seat-rules", "seat/rules", size=PHONE, of_seat=True),
    Shot("verify", "verify", size=PHONE),
)  # fmt: skip
#: Pictures that the documents show.
SHOWN = ("table", "drawer", "floor", "hand", "reports", "seat")


def test_shots_of_screens(screens: Screens) -> None:
    folder = embedded.var_dir() / "shots" / "screens"
    folder.mkdir(parents=True, exist_ok=True)
    seat_key, event = _house(screens)
    for shot in SHOTS:
        for scheme in ("light", "dark"):
            page, path = _page(screens, shot, scheme, seat_key), shot.path.format(event=event)
            screens.open(page, path)
            page.wait_for_load_state("networkidle") if shot.role is None else page.wait_for_timeout(700)
            assert page.locator("h1").count() == 1, f"{shot.name}: {page.url}"
            assert page.url.partition("#")[0].endswith(f"/console/{path}"), f"{shot.name} leads to {page.url}"
            picture = page.screenshot(full_page=shot.kind is OFFICE and not shot.of_seat)
            (folder / f"{shot.name}-{scheme}.png").write_bytes(picture)
            if shot.name in SHOWN and scheme == "light":
                _keep(shot.name, picture)
            page.close()


def _house(screens: Screens) -> tuple[str, str]:
    """A house after an evening, with a paper and a report, a hand in play at T2 and a dispute at T3; the key of the
    first seat of T2, and the hash of an event."""
    from casino.audit.models import Event

    kit = screens.kit
    evening = Evening(kit)
    desk, body = evening.documents["z-slip"]
    printed(kit, desk, "/api/v1/prints/documents", body | {"form": "a4"})
    kit.office(Role.ADMIN).ok("house/rules", {"texts": RULES, "reason": "as the licence asks"})
    kit.office(Role.AUDITOR).ok("reports/daily-revenue/runs", {"formats": ["csv", "pdf"]})
    kit.make_reports()
    kit.table("T2", seats=6)
    desk = kit.seated("T2", stacks=(20_000, 15_000, 9_000, 30_000))
    key: str = desk.ok("seats/1/key")["key"]
    desk.deal()
    desk.act("p1 po 100")
    kit.table("T3")
    frozen = kit.seated("T3", stacks=(20_000, 15_000))
    frozen.ok("hands", {"mode": "physical"})
    frozen.act("p1 po 100")
    kit.dealer("T3", role=Role.FLOOR).ok("hand/dispute", {"hand": DISPUTED, "reason": "p2 says that the vizi is 200"})
    kit.office(Role.ADMIN).ok("drawers", {"drawer": "C2"})
    kit.open_drawer(kit.cashier("C2"), cash=100_000, pieces={"500": 20, "100": 50})
    kit.sequence()
    last = Event.objects.filter(house=kit.house, doc__kind="hand.settled").latest("id")
    return key, last.leaf_hash


def _page(screens: Screens, shot: Shot, scheme: str, seat_key: str) -> Page:
    width, height = shot.size
    if shot.role is not None:
        return screens.person(shot.role, shot.kind, shot.location, width=width, height=height, scheme=scheme)
    context = screens.context(width=width, height=height, scheme=scheme)
    if shot.of_seat:
        context.add_cookies([{"name": cookies.SEAT, "value": seat_key, "url": screens.root, "sameSite": "Strict"}])
    elif shot.path == "sign-in":
        context.add_cookies([{"name": cookies.TERMINAL, "value": _terminal(screens), "url": screens.root}])
    return screens.watched(context.new_page())


def _terminal(screens: Screens) -> str:
    """What the browser of a newly enrolled terminal keeps."""
    from casino.staff.services import enrol_terminal
    from tests.casino.kit import ACTOR

    code = f"desk-{uuid4().hex[:6]}"
    _, key = enrol_terminal(house=screens.kit.house, code=code, kind=OFFICE, location="", actor=ACTOR)
    return f"{code}.{key}"


def _keep(name: str, picture: bytes) -> None:
    """A picture for the documents: half the size, few colours."""
    shown = ROOT / "docs" / "shots" / f"screen-{name}.png"
    made = Image.open(BytesIO(picture)).convert("RGB")
    made = made.crop((0, 0, made.width, min(made.height, 1000)))
    made.resize((made.width * 3 // 4, made.height * 3 // 4)).quantize(64).save(shown, optimize=True)
