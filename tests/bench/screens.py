"""What people wait for at the screens, in a real Chromium: `make bench ARGS=screens`.

Eight tables are played by keys, in turn and without a pause, while nobody and then two hundred others follow the house.
Measured is the time from a key to the frame that shows the answer, and what the first visit of each desk loads over
the wire. The browser works on the same cores as the house.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

from tests.bench import live
from tests.deploy.web_and_hints import running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TABLES = 8
FOLLOWERS = 200
#: The beginning of a hand at a real table, a key an act: deal, vizit, two cards for each seat, call.
KEYS = ("d", "v", "d", "d", "c")
GOAL_MS = 150
GOAL_BYTES = 100_000
#: Seconds that an answer may take before the measurement is given up.
PATIENCE = 20.0

#: From the event of the key to the frame after which the page has the answer and takes the next key.
_WATCH = """() => {
  window.painted = [];
  document.addEventListener('keydown', (event) => {
    const version = document.getElementById('dock').dataset.version;
    const shown = () => document.getElementById('dock').dataset.version !== version
      && !document.querySelector('[data-frozen]');
    const look = () => requestAnimationFrame(() => {
      if (shown()) setTimeout(() => window.painted.push(performance.now() - event.timeStamp));
      else look();
    });
    look();
  }, true);
}"""


@dataclass
class Measured:
    """Milliseconds from a key to its painted answer, by how many follow; bytes of a first visit, by desk."""

    painted: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    loaded: dict[str, int] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """For people."""
        for followers, found in self.painted.items():
            yield (
                f"{TABLES} tables, {followers} others follow, {len(found)} acts: key to painted answer "
                f"{_part(found, 0.5):.0f} ms (median), {_part(found, 0.95):.0f} ms (p95), {max(found):.0f} ms (last)"
                f"  goal {GOAL_MS} ms (p95)"
            )
        for desk, size in self.loaded.items():
            yield f"first visit, {desk}: {size / 1000:.1f} kB over the wire  goal {GOAL_BYTES // 1000} kB"


def _part(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def run(*, quick: bool) -> None:
    """Measure, and print it."""
    with running() as up:
        print(*measure(up.port, rounds=1 if quick else 8).lines(), sep="\n", flush=True)


def measure(port: int, *, rounds: int, followers: int = FOLLOWERS) -> Measured:
    """So many houses of eight tables, each with nobody following and then with so many."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright's loop runs beside this thread
    found = Measured()
    with _browser() as browser:
        found.loaded = _first_visits(port, browser)
        for number in range(rounds + 1):
            for many in (0, followers):
                took = _played(port, browser, many)
                if number:  # the first round warms everything up
                    found.painted[many] += took
    return found


@contextmanager
def _browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    from tests.browser import chromium

    program = chromium.found()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(program.program), args=["--no-sandbox"] if os.geteuid() == 0 else [],
            env={**os.environ, **program.environ},
        )  # fmt: skip
        yield browser
        browser.close()


@contextmanager
def _house(port: int, browser: Browser, tables: int) -> Iterator[Any]:
    """The screens of a new house with so many tables of two players."""
    from tests.browser.screens import Screens
    from tests.casino.kit import Kit

    kit = Kit.found()
    for code in _codes(tables):
        kit.table(code)
        kit.seated(code, stacks=(20_000, 15_000))
    screens = Screens(f"http://127.0.0.1:{port}", kit, browser)
    yield screens
    screens.close()
    kit.close()


def _codes(tables: int) -> list[str]:
    return [f"T{number}" for number in range(1, tables + 1)]


def _played(port: int, browser: Browser, followers: int) -> list[float]:
    """The times of the first acts of a hand at each table, one table after the other."""
    with _house(port, browser, TABLES) as screens:
        pages = [screens.dealer(code) for code in _codes(TABLES)]
        for page in pages:
            page.evaluate(_WATCH)
        with _following(port, screens.kit, followers):
            for key in KEYS:
                for page in pages:
                    _press(page, key)
        return [time for page in pages for time in page.evaluate("() => window.painted")]


def _press(page: Page, key: str) -> None:
    done = int(page.evaluate("() => window.painted.length"))
    page.keyboard.press(key)
    page.wait_for_function("(done) => window.painted.length > done", arg=done, timeout=PATIENCE * 1000)


@contextmanager
def _following(port: int, kit: Any, followers: int) -> Iterator[None]:
    """So many streams of the house's tables, as other screens have them open."""
    from casino.staff.models import Role, TerminalKind

    tokens = [kit.token(Role.FLOOR, TerminalKind.OFFICE, "") for _ in range(-(-followers // live.OF_A_TOKEN))]
    paths = [f"tables/{code}/stream" for code in islice(cycle(_codes(TABLES)), followers)]
    stop, opened = threading.Event(), threading.Event()

    async def follow() -> None:
        arrived: dict[tuple[str, int], list[float]] = defaultdict(list)
        asked = [(path, tokens[number // live.OF_A_TOKEN]) for number, path in enumerate(paths)]
        readers = await live.opened(port, asked, arrived)
        opened.set()
        await asyncio.to_thread(stop.wait)
        for reader in readers:
            assert not reader.done(), reader.result()
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)

    failed: list[BaseException] = []

    def run_it() -> None:
        try:
            asyncio.run(follow())
        except BaseException as error:
            failed.append(error)
            opened.set()

    thread = threading.Thread(target=run_it)
    thread.start()
    try:
        opened.wait()
        yield
    finally:
        stop.set()
        thread.join()
    if failed:
        raise failed[0]


def _first_visits(port: int, browser: Browser) -> dict[str, int]:
    """Bytes over the wire of the first visit of each desk, with headers and everything that the page loads."""
    from casino.staff.models import Role, TerminalKind

    desks = {
        "table": ("tables/T1", Role.DEALER, TerminalKind.TABLE, "T1"),
        "cage": ("drawers/C1", Role.CASHIER, TerminalKind.CAGE, "C1"),
        "floor": ("floor", Role.FLOOR, TerminalKind.OFFICE, ""),
        "reports": ("reports", Role.AUDITOR, TerminalKind.OFFICE, ""),
        "audit": ("audit", Role.AUDITOR, TerminalKind.OFFICE, ""),
    }
    with _house(port, browser, 1) as screens:
        return {desk: _loaded(screens, path, *who) for desk, (path, *who) in desks.items()}


def _loaded(screens: Any, path: str, role: Any, kind: Any, location: str) -> int:
    page = screens.person(role, kind, location)
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    sizes: list[float] = []
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    screens.open(page, path)
    page.wait_for_load_state("load")
    page.wait_for_timeout(500)  # modules load each other
    assert page.locator("main").count() == 1, page.url
    session.detach()
    return round(sum(sizes))
