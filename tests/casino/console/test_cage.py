"""The screen of a drawer: a whole shift by forms, from the float to the Z slip, and nothing before its count."""

import re
from html import escape
from typing import Any

import pytest

from casino.houses.terms import house_words
from casino.staff.models import Role, TerminalKind
from tests.casino.console.browser import Browser
from tests.casino.kit import Kit

#: Figures of this drawer that stand nowhere else.
CASH, BOUGHT, PAID = 123_457, 7_919, 1_100
EXPECTED = CASH + BOUGHT - PAID
FLOAT = {100_000: 0, 25_000: 0, 5000: 11, 1000: 13, 500: 17, 100: 19, 25: 23, 5: 29, 1: 31}
HTMX = {"HX-Request": "true", "HX-Current-URL": "http://localhost/console/drawers/C1"}


@pytest.fixture
def house(kit: Kit) -> Kit:
    """A house with a table T1, a closed drawer C1 and a player."""
    kit.table()
    kit.players("anna")
    return kit


def at_drawer(house: Kit, role: Role) -> Browser:
    """A browser of somebody at the terminal of the drawer."""
    return Browser.of(house, role, TerminalKind.CAGE, "C1")


def typed(pieces: dict[int, int], name: str = "pieces") -> dict[str, str]:
    """Chips as the rows of the table have them: every row is typed."""
    return {f"{name}.{value}": str(count) for value, count in pieces.items()}


def as_written(amount: int) -> str:
    """An amount as pages have it."""
    return f"{amount:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


class Shift:
    """A shift at the drawer: pages of everybody who takes part, kept."""

    def __init__(self, house: Kit) -> None:
        self.house = house
        self.cashier, self.manager = at_drawer(house, Role.CASHIER), at_drawer(house, Role.MANAGER)
        self.pages: list[str] = []

    def look(self, browser: Browser) -> str:
        """The page of the desk, and all that it loads."""
        for path in ("", "/part", "/lists", "/work"):
            self.pages.append(browser.open(f"drawers/C1{path}").text)
        browser.page = self.pages[-4]
        return browser.page

    def do(self, browser: Browser, job: str, fields: dict[str, Any], status: int = 200) -> str:
        """Open a job and send its form."""
        opened = browser.open(f"drawers/C1/jobs/{job}", **{k: v for k, v in fields.items() if k in ("handover",)})
        assert opened.status_code == 200, opened.text
        version = re.search(r'name="version" value="([0-9]+)"', opened.text)
        assert version is not None, opened.text
        answer = browser.submit(f"drawers/C1/jobs/{job}", {"version": version[1]} | fields)
        assert answer.status_code == status, answer.text
        self.pages.append(answer.text)
        return answer.text

    def opened(self) -> None:
        """The manager counts out the float, the cashier counts the same."""
        self.do(self.manager, "offerHandover", {"kind": "float", "cash": CASH} | typed(FLOAT))
        assert "openDrawer" in self.look(self.cashier)
        self.do(self.cashier, "openDrawer", {"cash": CASH} | typed(FLOAT))


@pytest.fixture
def shift(house: Kit) -> Shift:
    """Everybody, before the shift."""
    return Shift(house)


def test_a_terminal_at_a_drawer_opens_its_screen(house: Kit) -> None:
    browser = at_drawer(house, Role.CASHIER)
    assert browser.open("").headers["Location"] == "/console/drawers/C1"
    page = browser.open("drawers/C1").text
    assert "Waits for a float" in page and 'data-live="drawers/C1/stream"' in page
    assert " style=" not in page and "<style" not in page and "onclick" not in page
    part = browser.open("drawers/C1/part").text
    assert "<html" not in part and "not while closed" in part


def test_a_whole_shift_is_done_by_forms_and_nothing_is_shown_before_the_count(shift: Shift) -> None:
    cashier, manager, supervisor = shift.cashier, shift.manager, at_drawer(shift.house, Role.CAGE_SUPERVISOR)
    shift.opened()
    page = shift.look(cashier)
    assert page.count('data-part="buyIn"') == 1 and page.count('data-part="cashOut"') == 1
    bought = shift.do(cashier, "buyIn", {"player": "anna", "amount": as_written(BOUGHT)})
    assert "Recorded: Buy in" in bought and 'data-state="recorded"' in bought
    shift.do(cashier, "cashOut", {"player": "anna", "amount": PAID, "pieces.1000": "1", "pieces.100": "1"})
    shift.look(cashier)
    held = shift.house.held()
    assert held["cash"] == EXPECTED
    pieces = {value: held["pieces"].get(str(value), 0) for value in FLOAT}
    counted = {"cash": EXPECTED - 41, "foreign": 0} | typed(pieces)
    answer = shift.do(cashier, "countDrawer", counted)
    assert "The count differs" in answer
    page = shift.look(cashier)
    assert "Counted: nothing moves any more" in page and 'data-part="closeDrawer"' in page
    assert "count_differs" in shift.do(cashier, "closeDrawer", {}, status=409)
    assert 'data-part="recountDrawer"' in shift.look(supervisor)
    before = "".join(shift.pages)
    for figure in (EXPECTED, EXPECTED - 41):
        for form in (str(figure), as_written(figure)):
            assert form not in before, figure
    assert shift.house.held()["pieces"] == held["pieces"]
    shift.do(supervisor, "recountDrawer", counted)
    assert "Counted twice" in shift.look(cashier)
    assert as_written(EXPECTED) not in shift.look(cashier)
    closed = shift.do(manager, "signOffDrawer", {"reason": "a note is missing"})
    assert "\N{MINUS SIGN}41" in closed and "/console/drawers/C1/shifts/1/z" in closed
    assert "Z slip of shift 1" in " ".join(shift.look(cashier).split())
    slip = cashier.open("drawers/C1/shifts/1/z").text
    assert f"{as_written(EXPECTED)} HUF" in slip and "cage.buy_in" in slip and "a note is missing" in slip


def test_a_count_has_every_row(shift: Shift) -> None:
    shift.opened()
    answer = shift.do(shift.cashier, "countDrawer", {"cash": 1, "foreign": 0, "pieces.500": "3"}, status=400)
    assert "pieces: Every row is counted" in answer and 'value="3"' in answer
    assert shift.house.cashier().refresh()["state"] == "open"


def test_an_answer_that_was_lost_is_the_same_when_it_is_asked_again(shift: Shift) -> None:
    shift.opened()
    cashier = shift.cashier
    page = cashier.open("drawers/C1").text
    key = re.search(r'name="key" value="([^"]+)"', page)
    version = re.search(r'name="version" value="([0-9]+)"', page)
    assert key is not None and version is not None
    fields = {"key": key[1], "version": version[1], "player": "anna", "amount": BOUGHT}
    cashier.http.headers.update(HTMX)
    answers = []
    for _ in range(3):
        cashier.page = page
        answers.append(cashier.submit("drawers/C1/jobs/buyIn", fields))
    assert [one.status_code for one in answers] == [200, 200, 200]
    receipts = {re.search(r'data-detail="([^"]+)"', one.text)[1] for one in answers}  # type: ignore[index]
    assert len(receipts) == 1 and "drawer/C1 #" in receipts.pop()
    assert all("<html" not in one.text for one in answers)
    assert shift.house.held()["cash"] == CASH + BOUGHT


def test_what_changed_meanwhile_is_said_and_the_form_names_what_is_now(shift: Shift) -> None:
    shift.opened()
    cashier = shift.cashier
    cashier.open("drawers/C1/jobs/buyIn")
    stale = cashier.submit("drawers/C1/jobs/buyIn", {"version": "1", "player": "anna", "amount": "500"})
    assert stale.status_code == 412 and 'data-state="changed"' in stale.text and 'value="anna"' in stale.text
    version = re.search(r'name="version" value="([0-9]+)"', stale.text)
    assert version is not None
    again = cashier.submit("drawers/C1/jobs/buyIn", {"version": version[1], "player": "anna", "amount": "500"})
    assert again.status_code == 200, again.text


def test_what_waits_for_the_drawer_has_its_buttons(shift: Shift) -> None:
    shift.opened()
    dealer = shift.house.dealer()
    dealer.ok("fills", {"drawer": "C1", "pieces": {"100": 2}})
    cashier = shift.cashier
    part = cashier.open("drawers/C1/part").text
    assert "fill 1" in part and "/console/drawers/C1/jobs/sendRequestedFill?fill=1" in part
    shift.do(cashier, "announceCashOut", {"player": "anna", "amount": "5000", "minutes": "30"})
    lists = cashier.open("drawers/C1/lists").text
    assert "jobs/cashOut?announcement=1&amp;amount=5000&amp;player=anna" in lists
    supervisor = at_drawer(shift.house, Role.CAGE_SUPERVISOR)
    shift.do(supervisor, "offerHandover", {"kind": "replenishment", "cash": "5000"})
    part = cashier.open("drawers/C1/part").text
    assert "jobs/takeHandover?handover=2" in part
    taken = shift.do(cashier, "takeHandover", {"handover": "2", "cash": "4999"} | typed(dict.fromkeys(FLOAT, 0)), 409)
    assert "handover_differs" in taken


def test_words_of_the_house_are_explained_where_they_are_used(shift: Shift) -> None:
    shift.opened()
    shift.house.dealer().ok("fills", {"drawer": "C1", "pieces": {"100": 2}})
    meaning = escape(house_words()["fill, credit"])
    part = shift.cashier.open("drawers/C1/part").text
    shown = re.search(r'popovertarget="(tip-[0-9a-f]+)" aria-label="What “fill, credit” means"', part)
    assert shown is not None and f'<span id="{shown[1]}" class="panel" popover><b>fill, credit</b> {meaning}' in part
    assert re.search(f'data-job="sendFill" [^>]*title="{re.escape(meaning)}"', part)
    # The job is there for nobody now, and what it means is still to be known.
    assert re.search('class="b off" aria-disabled="true" title="[^"]+"><span>Count the float', part)


def test_a_job_of_others_is_not_there(house: Kit) -> None:
    browser = at_drawer(house, Role.CASHIER)
    assert browser.open("drawers/C1/jobs/signOffDrawer").status_code == 404
    assert browser.open("drawers/C1/jobs/closeDay").status_code == 404
    assert browser.open("drawers/C9").status_code == 404
    assert Browser.of(house, Role.DEALER, TerminalKind.TABLE, "T1").open("drawers/C1").status_code == 403


def test_a_screen_that_refreshes_itself_reads_nothing_that_is_recorded(shift: Shift) -> None:
    shift.opened()
    cashier = shift.cashier
    before = shift.house.office().get("audit/events?kind=data.read&page_size=1000").json()["results"]
    for _ in range(3):
        cashier.http.get("/console/drawers/C1/part", headers={"X-Unattended": "1", "HX-Request": "true"})
    after = shift.house.office().get("audit/events?kind=data.read&page_size=1000").json()["results"]
    mine = [one for one in after if "listEvents" not in one["payload"]]
    assert len(mine) == len([one for one in before if "listEvents" not in one["payload"]])


def test_what_needs_an_approval_is_asked_for_and_sent_again(shift: Shift) -> None:
    shift.opened()
    cashier = shift.cashier
    shift.do(cashier, "buyIn", {"player": "anna", "amount": "1000", "pieces.1000": "1"})
    held = {"player": "anna", "amount": "1000", "pieces.1000": "1", "cause": "identity_pending"}
    asked = shift.do(cashier, "holdPayout", held, status=409)
    number = re.search(r'name="approval" inputmode="numeric" value="([0-9]+)"', asked)
    assert number is not None and "send this again" in asked and 'name="pieces.1000"' in asked
    assert number[1] in cashier.open("drawers/C1/part").text
    shift.house.office(Role.COMPLIANCE).ok(f"approvals/{number[1]}/approve")
    cashier.page = asked
    shift.do(cashier, "holdPayout", held | {"approval": number[1]})
    lists = cashier.open("drawers/C1/lists").text
    assert "Held payouts" in lists and "jobs/releasePayout?payout=1" in lists


def test_chips_that_do_not_make_the_sum_are_refused_by_the_house_too(shift: Shift) -> None:
    shift.opened()
    answer = shift.do(shift.cashier, "buyIn", {"player": "anna", "amount": "500", "pieces.100": "3"}, status=422)
    assert "chips_do_not_add_up" in answer
