"""Pages of a house in a browser: signed in, watched, measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Route

from casino.console import cookies
from casino.staff.models import Role, TerminalKind
from tests.casino.kit import Kit

#: Pixels that a target measures at the least, at tables and elsewhere.
AT_TABLES, ELSEWHERE = 64, 44
#: What is pressed: links in running text are no targets of their own (WCAG 2.5.8).
_TARGETS = """(least) => [...document.querySelectorAll('button, a.b, input:not([type=hidden]), select, summary')]
  .filter((one) => one.offsetParent !== null && one.type !== 'checkbox')
  .map((one) => [one.outerHTML.slice(0, 90), one.getBoundingClientRect()])
  .filter(([, box]) => box.width > 0 && (box.height < least - 0.5 || box.width < Math.min(least, 44) - 0.5))
  .map(([html, box]) => `${Math.round(box.width)} x ${Math.round(box.height)}: ${html}`)"""
_SHIFTS = """() => { window.shifted = 0; new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifted += one.value; })
  .observe({type: 'layout-shift', buffered: false}); }"""


@dataclass
class Screens:
    """Pages of one house."""

    root: str
    kit: Kit
    browser: Browser
    complaints: list[str] = field(default_factory=list)
    _contexts: list[BrowserContext] = field(default_factory=list)

    def context(self, *, width: int = 1280, height: int = 800, scheme: Any = "light") -> BrowserContext:
        """A browser window of this size."""
        found = self.browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        self._contexts.append(found)
        return found

    def person(self, role: Role, kind: TerminalKind = TerminalKind.OFFICE, location: str = "", **window: Any) -> Page:
        """A page at which a newly hired person is signed in, in this language where one is named."""
        language = window.pop("language", None)
        context = self.context(**window)
        kept = {cookies.SESSION: self.kit.token(role, kind, location)}
        kept |= {cookies.LANGUAGE: language} if language else {}
        context.add_cookies(
            [{"name": name, "value": value, "url": self.root, "sameSite": "Strict"} for name, value in kept.items()]
        )
        return self.watched(context.new_page())

    def dealer(self, code: str = "T1", **window: Any) -> Page:
        """The screen of a table, ready."""
        page = self.person(Role.DEALER, TerminalKind.TABLE, code, **window)
        self.open(page, f"tables/{code}")
        page.wait_for_selector('#strip[data-state="live"]')
        return page

    def open(self, page: Page, path: str) -> None:
        """Open a screen."""
        page.goto(f"{self.root}/console/{path}")

    def watched(self, page: Page) -> Page:
        """A page whose complaints are kept."""
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))
        page.on("request", self._asked)
        return page

    def lay(self, page: Page, pattern: str, handler: Callable[[Route], object]) -> None:
        """Let this decide over the requests of an open page that match, from now on: Chromium may let a request pass
        that is sent right after the first route was laid, so one is tried until it does not."""
        page.route("**/nowhere/at/all", lambda route: route.abort())
        page.route(pattern, handler)
        while page.evaluate("() => fetch('/nowhere/at/all').then(() => true, () => false)"):
            page.wait_for_timeout(10)

    def _said(self, message: ConsoleMessage) -> None:
        # A refusal is an answer; what the browser says of its status is no error of the page.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.complaints.append(f"console: {message.text}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.root, "data:", "blob:")):
            self.complaints.append(f"elsewhere: {request.url}")

    def close(self) -> None:
        """Close every window."""
        for one in self._contexts:
            one.close()


def violations(page: Page) -> list[str]:
    """What axe finds against WCAG 2.2 AA."""
    options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}" for one in found for node in one["nodes"]
    ]


def too_small(page: Page, least: int) -> list[str]:
    """Targets that are smaller than so many pixels."""
    found: list[str] = page.evaluate(_TARGETS, least)
    return found


def watch_shifts(page: Page) -> None:
    """Add up from now on how much the layout shifts by itself."""
    page.evaluate(_SHIFTS)


def shifted(page: Page) -> float:
    """How much it has shifted since (CLS)."""
    return float(page.evaluate("() => window.shifted"))


def overflows(page: Page) -> int:
    """Pixels by which the page is wider than its window."""
    return int(page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth"))
