"""Gaming days: which postings go where, when a day closes, and what its report says."""

import itertools
import json
from typing import Any

import pytest

from casino.audit.models import Event
from casino.houses.days import days
from casino.reports.selectors import house_report
from casino.reports.verifying import verification
from casino.staff.models import Role, TerminalKind
from ledger import snapshots
from ledger.models import Transaction
from tests.casino.core.test_concurrency import at_once
from tests.casino.kit import SAMPLE, Desk, Kit
from tests.casino.superuser import unguarded
from tests.casino.trick_hands import play_physical, zsiros
from tests.words import as_action

#: What a closed day names of what it leaves to the next one.
CARRIED = (
    "balances", "boxes", "tables", "handovers", "found_chips", "held_payouts", "noncash_buy_ins", "transfers",
    "approvals", "holds", "chip_moves", "tray_counts", "bank_bags", "vault_counts", "tronc_shares",
)  # fmt: skip
FIRST, SECOND, THIRD = "2020-02-28", "2020-02-29", "2020-03-01"


def opened(kit: Kit, *names: str) -> Desk:
    """The floor's desk in the office, after it has opened these days."""
    office = kit.office(Role.MANAGER)
    for name in names:
        office.ok("days", {"day": name})
    return office


def close(kit: Kit, office: Desk, name: str) -> dict[str, Any]:
    """Close a day, insisting on success."""
    return kit.close_day(office, name)


def count_drawer(kit: Kit) -> None:
    """Close the drawer C1 with what the books say, as before the close of its day."""
    kit.close_drawer(kit.cashier())


def blocked(answer: Any) -> list[tuple[str, str, str]]:
    """What a refused close names: kind, name and state."""
    assert refusal(answer) == (409, "day_blocked")
    return [(row["kind"], row["name"], row["state"]) for row in answer.json()["blocking"]]


def play(dealer: Desk, lines: tuple[str, ...] = SAMPLE) -> None:
    """Enter the lines of a hand, a few at a time."""
    for at in range(0, len(lines), 20):
        dealer.act(*lines[at : at + 20])


def refusal(answer: Any) -> tuple[int, str]:
    """Status and code."""
    return answer.status_code, answer.json()["code"]


def figures(report: dict[str, Any]) -> dict[str, Any]:
    """A report without what comes later."""
    return {name: value for name, value in report.items() if name != "adjustments"}


def day_of(kit: Kit, kind: str) -> list[str | None]:
    """The days of the house's postings of one kind, in their order."""
    found = Transaction.objects.filter(book=kit.house.id, kind=kind).order_by("id")
    return list(found.values_list("period__name", flat=True))


def events(kit: Kit, *kinds: str) -> list[dict[str, Any]]:
    """What the house's own chain says of these kinds."""
    chain = f"house/{kit.house.code}"
    payloads = Event.objects.filter(chain__house=kit.house, chain__name=chain).order_by("seq")
    found = [json.loads(payload) for payload in payloads.values_list("payload", flat=True)]
    return [event for event in found if event["kind"] in kinds]


def test_a_house_books_without_days_until_it_opens_one(kit: Kit) -> None:
    kit.players("anna", chips=1_000)
    office = opened(kit, FIRST)
    kit.cashier().ok("cash-outs", {"player": "anna", "amount": 400})
    assert day_of(kit, "vault.opened") == [None]
    assert day_of(kit, "cage.buy_in") == [None]
    assert day_of(kit, "cage.cash_out") == [FIRST]
    office.ok("days", {"day": SECOND})
    kit.cashier().ok("cash-outs", {"player": "anna", "amount": 100})
    assert day_of(kit, "cage.cash_out") == [FIRST, SECOND]


def test_a_cage_supervisor_approves_the_close(kit: Kit) -> None:
    office = opened(kit, FIRST)
    held = office.post(f"days/{FIRST}/close", version=1)
    assert refusal(held) == (409, "approval_required")
    assert (held.json()["approval"]["kind"], held.json()["approval"]["roles"]) == ("day", ["cage_supervisor"])
    number = held.json()["approval"]["approval"]
    assert refusal(kit.office(Role.MANAGER).post(f"approvals/{number}/approve")) == (403, "forbidden")
    kit.office(Role.CAGE_SUPERVISOR).ok(f"approvals/{number}/approve")
    closed = office.ok(f"days/{FIRST}/close", version=1, headers={"Approval": str(number)})
    assert closed["carried"]["approvals"] == []
    [event] = events(kit, "day.closed")
    assert event["approver"].startswith("cage_supervisor") and event["data"]["approval"] == number
    assert verification(kit.house)["ok"]


def test_without_an_open_day_nothing_is_booked(kit: Kit) -> None:
    kit.players("anna", chips=1_000)
    office = opened(kit, FIRST)
    count_drawer(kit)
    close(kit, office, FIRST)
    given = {"cash": 1_000, "pieces": {"100": 5}}
    kit.supervisor(role=Role.MANAGER).ok("handovers", {"kind": "float"} | given)
    cashier = kit.cashier()
    assert refusal(cashier.post("open", given)) == (409, "period_not_open")
    assert kit.balance("1020/C1") == 0
    office.ok("days", {"day": SECOND})
    cashier.ok("open", given)
    cashier.ok("buy-ins", {"player": "anna", "amount": 500})
    assert day_of(kit, "cage.buy_in") == [None, SECOND]


def test_closing_takes_a_snapshot_and_both_are_in_the_trail(kit: Kit) -> None:
    kit.players("anna", chips=1_000)
    office = opened(kit, FIRST)
    count_drawer(kit)
    done = close(kit, office, FIRST)
    assert (done["version"], done["closed_at"] is None) == (2, False)
    assert all(total["debit"] == total["credit"] for total in done["totals"].values())
    assert done["totals"]["HUF"]["debit"] > 0
    opening, closing = events(kit, "day.opened", "day.closed")
    assert opening["data"] == {"day": FIRST}
    assert done["snapshot"] == f"period {FIRST}"
    nothing: dict[str, Any] = {name: [] for name in CARRIED}
    assert closing["data"] == {
        "day": FIRST, "snapshot": done["snapshot"], "totals": done["totals"], "carried": nothing,
        "package": "coming", "approval": 1,
    }  # fmt: skip
    assert (closing["role"], closing["terminal"]) == (Role.MANAGER, opening["terminal"])
    held = snapshots.balances(kit.house.id, f"period {FIRST}")
    kit.office(Role.FLOOR).ok("days", {"day": SECOND})
    kit.players("bela", chips=500)
    assert snapshots.balances(kit.house.id, f"period {FIRST}") == held
    assert verification(kit.house)["ok"]


def test_a_day_waits_for_its_hands(kit: Kit) -> None:
    office = opened(kit, FIRST)
    kit.table()
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical"})
    answer = office.post(f"days/{FIRST}/close", version=1)
    drawer = ("drawer", "C1", "open")
    assert blocked(answer) == [("hand", "T1-000001", "playing"), drawer]
    play(dealer)
    answer = office.post(f"days/{FIRST}/close", version=1)
    assert blocked(answer) == [("hand", "T1-000001", "ended"), drawer]
    kit.settle()
    assert blocked(office.post(f"days/{FIRST}/close", version=1)) == [drawer]
    cashier = kit.cashier()
    cashier.ok("count", kit.held())
    answer = office.post(f"days/{FIRST}/close", version=1)
    assert blocked(answer) == [("drawer", "C1", "counted")]
    cashier.ok("close")
    close(kit, office, FIRST)


def test_a_day_stays_open_beside_the_next_until_its_hands_are_settled(kit: Kit) -> None:
    office = opened(kit, FIRST)
    kit.table("T1")
    kit.table("T2")
    early, late = kit.seated("T1"), kit.seated("T2")
    early.ok("hands", {"mode": "physical"})
    early.act(*SAMPLE[:1])
    office.ok("days", {"day": SECOND})
    late.ok("hands", {"mode": "physical"})
    late.act(*SAMPLE[:1])
    answer = office.post(f"days/{FIRST}/close", version=1)
    count_drawer(kit)
    answer = office.post(f"days/{FIRST}/close", version=1)
    assert blocked(answer) == [("hand", "T1-000001", "playing")]
    assert refusal(office.post(f"days/{SECOND}/close", version=1)) == (409, "earlier_day_open")
    play(early, SAMPLE[1:])
    kit.settle()
    close(kit, office, FIRST)
    play(late, SAMPLE[1:])
    kit.settle()
    close(kit, office, SECOND)
    tables = {name: office.get(f"days/{name}").json()["turnover"] for name in (FIRST, SECOND)}
    assert [tables[name]["hand_count"] for name in (FIRST, SECOND)] == [0, 2]
    assert day_of(kit, "hand.settled") == [SECOND, SECOND]


def test_tables_stay_open_over_the_turn_of_the_day_and_drawers_of_the_new_one(kit: Kit) -> None:
    office = opened(kit, FIRST)
    kit.table()
    dealer = kit.seated()
    count_drawer(kit)
    office.ok("days", {"day": SECOND})
    kit.players("anna", chips=100)
    assert close(kit, office, FIRST)["carried"]["tables"] == ["T1"]
    assert blocked(office.post(f"days/{SECOND}/close", version=1)) == [("drawer", "C1", "open")]
    dealer.ok("hands", {"mode": "physical"})
    play(dealer)
    kit.settle()
    dealer.refresh()
    dealer.ok("close")
    assert verification(kit.house)["ok"]


@pytest.mark.parametrize(
    ("path", "body", "version", "expected"),
    [
        ("days", {"day": FIRST}, None, (409, "day_exists")),
        ("days", {"day": SECOND}, None, (409, "day_exists")),
        ("days", {"day": "2019-12-31"}, None, (409, "day_not_later")),
        ("days", {"day": "9999-12-31"}, None, (422, "day_too_early")),
        ("days", {"day": "2020-02-30"}, None, (400, "invalid_request")),
        ("days", {"day": "2020-3-1"}, None, (400, "invalid_request")),
        ("days", {"day": 20200301}, None, (400, "invalid_request")),
        ("days", {}, None, (400, "invalid_request")),
        ("days", {"day": THIRD, "note": ""}, None, (400, "invalid_request")),
        (f"days/{FIRST}/close", {}, 1, (412, "version_conflict")),
        (f"days/{FIRST}/close", {}, 2, (409, "day_closed")),
        (f"days/{THIRD}/close", {}, 1, (404, "not_found")),
        (f"days/{SECOND}/close", {}, 2, (412, "version_conflict")),
        (f"days/{SECOND}/close", {"why": 1}, 1, (400, "invalid_request")),
    ],
)
def test_what_cannot_be(kit: Kit, path: str, body: Any, version: int | None, expected: tuple[int, str]) -> None:
    office = opened(kit, FIRST)
    close(kit, office, FIRST)
    office.ok("days", {"day": SECOND})
    before = days(kit.house)
    assert refusal(office.post(path, body, version=version or "")) == expected
    assert days(kit.house) == before
    assert len(events(kit, "day.opened", "day.closed")) == 3


def test_days_are_opened_and_closed_in_the_office_only(kit: Kit) -> None:
    kit.table()
    at_table = Desk(kit.http(kit.token(Role.MANAGER, TerminalKind.TABLE, "T1")), "/api/v1")
    assert refusal(at_table.post("days", {"day": FIRST})) == (403, "wrong_terminal")
    opened(kit, FIRST)
    assert refusal(at_table.post(f"days/{FIRST}/close", version=1)) == (403, "wrong_terminal")
    assert at_table.get(f"days/{FIRST}").status_code == 200


def test_a_repeated_request_gets_the_same_answer(kit: Kit) -> None:
    office = kit.office(Role.MANAGER)
    first = office.post("days", {"day": FIRST}, key="open")
    again = office.post("days", {"day": FIRST}, key="open")
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["Idempotency-Replayed"] == "true"
    done = kit.close_day(office, FIRST, key="close")
    assert office.post(f"days/{FIRST}/close", version=1, key="close").json() == done
    assert len(events(kit, "day.opened", "day.closed")) == 2


def test_one_house_knows_nothing_of_another_ones_days(kit: Kit) -> None:
    other = Kit.found()
    opened(other, FIRST)
    office = kit.office(Role.MANAGER)
    assert office.get("days").json()["results"] == []
    assert office.get(f"days/{FIRST}").status_code == 404
    assert refusal(office.post(f"days/{FIRST}/close", version=1)) == (404, "not_found")
    kit.players("anna", chips=100)
    assert day_of(kit, "cage.buy_in") == [None]
    other.close()


def test_the_list_and_a_days_report(kit: Kit) -> None:
    office = opened(kit, FIRST)
    kit.table()
    dealer = kit.seated()
    cashier = kit.cashier()
    cashier.ok("cash-outs", {"player": "T1-u3", "amount": 5_000})
    dealer.ok("hands", {"mode": "physical"})
    play(dealer)
    kit.settle()
    answer = kit.office().get(f"days/{FIRST}")
    report = answer.json()
    assert answer.headers["ETag"] == '"1"'
    assert (report["trial_balance"], report["snapshot_findings"], report["snapshot"]) == (None, None, None)
    (table,) = house_report(kit.house)["tables"]
    assert report["turnover"] == {
        "handle": table["handle"], "tax": table["tax"], "fees": 0, "bonus": 0, "goodwill": 0, "buy_ins": 4 * 30_000,
        "cash_outs": 5_000,
        "hand_count": 1,
    }  # fmt: skip
    assert table["tax"] > 0
    assert report["tables"] == [
        {
            "table": "T1",
            "hand_count": 1,
            "handle": table["handle"],
            "tax": table["tax"],
            "fees": 0,
            "bonus": 0,
            "goodwill": 0,
            "buy_ins": 0,
        },
    ]
    assert report["drawers"] == [{"drawer": "C1", "buy_ins": 120_000, "cash_outs": 5_000}]
    by_number = {(row["commodity"], row["number"]): row for row in report["accounts"]}
    assert by_number["HUF", "4010"]["credit"] == table["tax"]
    money = [row for row in report["accounts"] if row["commodity"] == "HUF"]
    assert sum(row["debit"] for row in money) == sum(row["credit"] for row in money)
    assert (report["carried"], report["adjustments"]) == (None, [])
    kit.close_drawer(cashier)
    done = close(kit, office, FIRST)
    closed = kit.office().get(f"days/{FIRST}").json()
    assert (closed["snapshot"], closed["snapshot_findings"]) == (done["snapshot"], [])
    assert closed["trial_balance"]["balanced"]
    assert closed["carried"] == done["carried"]
    assert closed["trial_balance"]["totals"] == done["totals"]
    now = [row for row in house_report(kit.house)["trial_balance"]["rows"] if row["debit"] or row["credit"]]
    then = [row for row in closed["trial_balance"]["rows"] if row["debit"] or row["credit"]]
    assert [row | {"account_count": 0} for row in then] == [row | {"account_count": 0} for row in now]
    opened(kit, SECOND)
    page = office.get("days?page_size=1").json()
    assert [row["day"] for row in page["results"]] == [FIRST]
    assert page["results"][0]["snapshot"] == done["snapshot"]
    (last,) = office.http.get(page["next"]).json()["results"]
    assert (last["day"], last["version"], last["snapshot"], last["closed_at"]) == (SECOND, 1, None, None)
    assert office.get("days?day=1").status_code == 400


def test_what_a_soft_count_finds_too_much_is_no_buy_in(kit: Kit) -> None:
    opened(kit, FIRST)
    kit.table()
    kit.players("bela")
    kit.players("anna", chips=1_000)
    dealer = kit.dealer()
    dealer.ok("open")
    dealer.ok("buy-ins", {"seat": 1, "player": "bela", "amount": 700})
    dealer.ok("boxes", {"kind": "drop", "number": "drop-1"})
    taken = dealer.ok("boxes", {"kind": "drop", "number": "drop-2", "seal": "S-1"})["last_event"]["taken"]["box"]
    team = [kit.office(Role.COUNT), kit.office(Role.COUNT)]
    team[0].ok(f"boxes/{taken}/bring", {"seal": "S-1"})
    for desk in team:
        desk.ok(f"boxes/{taken}/counts", {"cash": 720, "pieces": {}})
    kit.office(Role.CAGE_SUPERVISOR).ok(f"boxes/{taken}/receive")
    report = kit.office().get(f"days/{FIRST}").json()
    assert [(row["table"], row["buy_ins"]) for row in report["tables"]] == [("T1", 700)]
    assert report["turnover"]["buy_ins"] == 700 + 1_000
    assert kit.balance("5200/T1") == -20


def test_the_floor_sees_of_a_day_nothing_that_gives_an_open_drawer_away(kit: Kit) -> None:
    """An open drawer's cash stands in the trial balance of a day's snapshot, and follows from what the day turned
    over."""
    manager, auditor, floor = opened(kit, FIRST, SECOND), kit.office(), kit.office(Role.FLOOR)
    kit.players("anna", chips=1_000)
    close(kit, manager, FIRST)
    withheld = floor.get(f"days/{FIRST}").json()
    cash, report = str(kit.balance("1020/C1")), auditor.get(f"days/{FIRST}").text
    assert cash in report and cash not in str(withheld)
    assert [withheld[name] for name in ("accounts", "drawers", "trial_balance")] == [None] * 3
    assert (withheld["turnover"]["buy_ins"], withheld["turnover"]["cash_outs"]) == (None, None)
    assert withheld["adjustments"] is None
    assert withheld["snapshot_findings"] == []
    kit.close_drawer(kit.cashier())
    assert floor.get(f"days/{FIRST}").text == report


@pytest.mark.slow
def test_days_turn_while_everybody_works(kit: Kit) -> None:
    kit.table("T1")
    kit.seated("T1", stacks=(20_000, 20_000))
    count_drawer(kit)
    table, cashier, office = kit.dealer("T1", role=Role.FLOOR), kit.cashier(), opened(kit, FIRST)
    manager = kit.supervisor(role=Role.MANAGER)
    supervisor = kit.office(Role.CAGE_SUPERVISOR)
    names = [f"2020-03-{day:02}" for day in range(1, 9)]

    def deal_and_void() -> list[int]:
        found = []
        for _ in range(8):
            found.append(table.post("hands", {"mode": "physical"}).status_code)
            found.append(table.post("hand/actions", {"actions": [as_action("p1 po 100")]}).status_code)
            found.append(table.post("hand/void", {"cause": "misdeal", "reason": "turn of the day"}).status_code)
        return found

    def exchange() -> list[int]:
        found, given = [], {"cash": 1_000, "pieces": {"100": 10}}
        for _ in range(6):
            manager.refresh()
            found.append(manager.post("handovers", {"kind": "float"} | given).status_code)
            cashier.refresh()
            found.append(cashier.post("open", given).status_code)
            found.append(cashier.post("buy-ins", {"player": "T1-u1", "amount": 100}).status_code)
            found.append(cashier.post("count", {"cash": 1_100, "pieces": {"100": 9}, "foreign": 0}).status_code)
            found.append(cashier.post("close").status_code)
        return found

    def turn() -> list[int]:
        found = []
        for last, following in itertools.pairwise([FIRST, *names]):
            found.append(office.post("days", {"day": following}).status_code)
            named: dict[str, str] = {}
            while (answer := office.post(f"days/{last}/close", version=1, headers=named)).status_code == 409:
                if answer.json()["code"] == "approval_required":
                    number = answer.json()["approval"]["approval"]
                    supervisor.ok(f"approvals/{number}/approve")
                    named = {"Approval": str(number)}
                else:
                    assert answer.json()["code"] == "day_blocked"
            found.append(answer.status_code)
        return found

    dealt, sold, turned = at_once(deal_and_void, exchange, turn)
    assert (set(dealt), set(sold), set(turned)) == ({200, 201}, {200, 201}, {200, 201})
    assert [day.name for day in days(kit.house)] == [FIRST, *names]
    assert [day.closed_at is None for day in days(kit.house)] == [False] * len(names) + [True]
    for day in days(kit.house)[:-1]:
        assert snapshots.differences(kit.house.id, f"period {day.name}") == []
    assert verification(kit.house)["ok"]


def test_of_two_who_open_or_close_a_day_one_does(kit: Kit) -> None:
    first, second = kit.office(Role.MANAGER), kit.office(Role.MANAGER)
    answers = at_once(*[lambda: first.post("days", {"day": FIRST}), lambda: second.post("days", {"day": FIRST})] * 2)
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]
    held = first.post(f"days/{FIRST}/close", version=1).json()["approval"]["approval"]
    kit.office(Role.CAGE_SUPERVISOR).ok(f"approvals/{held}/approve")
    named = {"Approval": str(held)}
    answers = at_once(*[lambda: first.post(f"days/{FIRST}/close", version=1, headers=named)] * 4)
    assert sorted(answer.status_code for answer in answers) == [200, 412, 412, 412]
    answers = at_once(
        lambda: first.post("days", {"day": SECOND}),
        lambda: second.post("days", {"day": THIRD}),
    )
    assert {answer.status_code for answer in answers} in ({201}, {201, 409})
    assert [day.name for day in days(kit.house)] == sorted(day.name for day in days(kit.house))
    assert len(events(kit, "day.opened")) == len(days(kit.house))


def test_a_day_that_is_rolled_back_was_never_opened(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the chain cannot be written")

    office = kit.office(Role.MANAGER)
    monkeypatch.setattr("casino.core.work.Work.record", broken)
    assert refusal(office.post("days", {"day": FIRST})) == (500, "server_error")
    assert days(kit.house) == []
    monkeypatch.undo()
    opened(kit, FIRST)


@pytest.mark.slow
def test_a_hand_that_moved_nothing_belongs_to_the_day_that_was_the_newest(kit: Kit) -> None:
    zsiros(kit, seats=2, stake=0)
    office, dealer = opened(kit, FIRST), kit.seated(stacks=(0, 0))
    play_physical(kit, dealer, 1)
    office.ok("days", {"day": SECOND})
    play_physical(kit, dealer, 2)
    play_physical(kit, dealer, 3)

    def hands() -> list[int]:
        return [office.get(f"days/{name}").json()["turnover"]["hand_count"] for name in (FIRST, SECOND)]

    assert hands() == [1, 2]
    close(kit, office, FIRST)
    close(kit, office, SECOND)
    assert hands() == [1, 2]
    # Without a day nothing can be posted; a hand that posts nothing is settled, and counts for none.
    play_physical(kit, dealer, 4)
    assert hands() == [1, 2]


class Late:
    """An open table with an empty drop box, and who takes, counts and receives it."""

    def __init__(self, kit: Kit) -> None:
        kit.table()
        kit.players("b1", "b2", "b3")
        self.seats = 0
        self.dealer = kit.dealer()
        self.dealer.ok("open")
        self.team = [kit.office(Role.COUNT), kit.office(Role.COUNT)]
        self.supervisor = kit.office(Role.CAGE_SUPERVISOR)
        self.dealer.ok("boxes", {"kind": "drop", "number": "drop-0"})

    def buy_in(self, amount: int) -> None:
        """Cash falls into the drop box."""
        self.dealer.refresh()
        self.seats += 1
        self.dealer.ok("buy-ins", {"seat": self.seats, "player": f"b{self.seats}", "amount": amount})

    def take(self, number: str) -> dict[str, Any]:
        """Take the drop box off; what the event says of it."""
        self.dealer.refresh()
        found: dict[str, Any] = self.dealer.ok("boxes", {"kind": "drop", "number": number, "seal": "S"})["last_event"]
        return dict(found["taken"])

    def count(self, box: int, cash: int) -> dict[str, Any]:
        """Bring, count twice, receive."""
        self.team[0].ok(f"boxes/{box}/bring", {"seal": "S"})
        for desk in self.team:
            desk.ok(f"boxes/{box}/counts", {"cash": cash, "pieces": {}})
        return dict(self.supervisor.ok(f"boxes/{box}/receive")["box"])


def test_a_box_that_is_counted_late_belongs_to_the_day_in_which_it_was_filled(kit: Kit) -> None:
    office, auditor = opened(kit, FIRST), kit.office()
    boxes = Late(kit)
    boxes.buy_in(700)
    # The swap comes after the turn of the day; nothing of the new day has fallen into the box.
    office.ok("days", {"day": SECOND})
    taken = boxes.take("drop-1")
    assert taken["for_day"] == FIRST
    close(kit, office, FIRST)
    closed = auditor.get(f"days/{FIRST}").json()
    assert closed["adjustments"] == []
    done = boxes.count(taken["box"], 680)
    assert (done["for_day"], done["cash_variance"]) == (FIRST, -20)
    assert day_of(kit, "box.received") == [SECOND]
    [posted] = Transaction.objects.filter(book=kit.house.id, kind="box.received")
    assert posted.metadata == {"box": taken["box"], "table": "T1", "for_day": FIRST}
    report = auditor.get(f"days/{FIRST}").json()
    assert figures(report) == figures(closed)
    [late] = report["adjustments"]
    assert (late["transaction"], late["kind"], late["booked_in"]) == (posted.id, "box.received", SECOND)
    assert (late["table"], late["box"], late["drawer"], late["shift"]) == ("T1", taken["box"], None, None)
    moved = {row["number"]: (row["debit"], row["credit"]) for row in late["accounts"]}
    assert moved == {"5200": (20, 0), "1010": (680, 0), "1050": (0, 700)}
    # The day that took the posting has nothing that is late.
    assert auditor.get(f"days/{SECOND}").json()["adjustments"] == []
    assert verification(kit.house)["ok"]


def test_whose_day_a_box_is(kit: Kit) -> None:
    boxes = Late(kit)
    # Filled before the house had days.
    boxes.buy_in(300)
    office = opened(kit, FIRST)
    before = boxes.take("drop-1")
    assert before["for_day"] is None
    # Empty: the day that is the newest.
    assert boxes.take("drop-2")["for_day"] == FIRST
    boxes.buy_in(200)
    office.ok("days", {"day": SECOND})
    # What is counted too much in another box is no filling of this one.
    boxes.count(before["box"], 310)
    filled = boxes.take("drop-3")
    assert filled["for_day"] == FIRST
    # What falls in after the turn makes it a box of the new day.
    boxes.buy_in(200)
    assert boxes.take("drop-4")["for_day"] == SECOND
    assert [row["for_day"] for row in kit.office().get("boxes?kind=drop").json()["results"]] == [
        None, FIRST, FIRST, SECOND, None,
    ]  # fmt: skip
    boxes.count(filled["box"], 200)
    assert [late["box"] for late in kit.office().get(f"days/{FIRST}").json()["adjustments"]] == [filled["box"]]
    assert verification(kit.house)["ok"]


def test_a_drawer_that_is_counted_late_belongs_to_the_day_in_which_its_shift_began(kit: Kit) -> None:
    office = opened(kit, FIRST)
    kit.players("anna", chips=1_000)
    office.ok("days", {"day": SECOND})
    assert blocked(office.post(f"days/{FIRST}/close", version=1)) == [("drawer", "C1", "open")]
    held = kit.held("C1")
    kit.close_drawer(kit.cashier(), cash=held["cash"] - 70)
    [late] = kit.office().get(f"days/{FIRST}").json()["adjustments"]
    assert (late["kind"], late["drawer"], late["shift"], late["booked_in"]) == ("drawer.closed", "C1", 1, SECOND)
    assert [row["debit"] for row in late["accounts"] if row["number"] == "5200"] == [70]
    close(kit, office, FIRST)
    assert verification(kit.house)["ok"]


def test_an_altered_day_of_a_box_is_found(kit: Kit) -> None:
    office = opened(kit, FIRST)
    boxes = Late(kit)
    boxes.buy_in(700)
    taken = boxes.take("drop-1")
    office.ok("days", {"day": SECOND})
    assert verification(kit.house)["ok"]
    with unguarded("transfers_box") as cursor:
        cursor.execute(
            "UPDATE transfers_box SET for_day = %s WHERE serial = %s AND house_id = %s",
            [SECOND, taken["box"], kit.house.id],
        )
    found = verification(kit.house)
    assert not found["ok"]
    assert any("for_day" in str(finding) for finding in found["audit_findings"])


def test_chips_in_transit_keep_a_day_open_and_the_rest_goes_over_by_name(kit: Kit) -> None:
    office = opened(kit, FIRST)
    boxes = Late(kit)
    kit.players("anna", chips=100)
    cashier, dealer = kit.cashier(), boxes.dealer
    fill = {"table": "T1", "pieces": {"100": 2}}
    number = cashier.ok("fills", fill)["last_event"]["transfer"]["serial"]
    assert blocked(office.post(f"days/{FIRST}/close", version=1)) == [
        ("drawer", "C1", "open"), ("transfer", "fill 1", "sent"),
    ]  # fmt: skip
    # What the new day begins does not keep the old one open; what the old day has begun does.
    office.ok("days", {"day": SECOND})
    cashier.ok("fills", fill)
    assert [name for _, name, _ in blocked(office.post(f"days/{FIRST}/close", version=1))] == ["C1", "fill 1"]
    for one in (number, number + 1):
        dealer.refresh()
        dealer.ok(f"fills/{one}/receive", {"pieces": {"100": 2}, "carrier": kit.runner()})
    count_drawer(kit)
    boxes.buy_in(700)
    taken = boxes.take("drop-1")
    given = {"kind": "float", "cash": 1_000, "pieces": {"100": 5}}
    kit.supervisor(role=Role.MANAGER).ok("handovers", given)
    carried = close(kit, office, FIRST)["carried"]
    # A box of the new day, a box that came to the table and a float that was offered since are that day's business.
    assert carried == {name: [] for name in carried} | {"tables": ["T1"]}
    done = close(kit, office, SECOND)["carried"]
    assert [(box["box"], box["state"], box["for_day"]) for box in done["boxes"]] == [
        (taken["box"], "taken", SECOND), (taken["box"] + 1, "at_table", None),
    ]  # fmt: skip
    assert done["handovers"] == [{"drawer": "C1", "handover": 2, "kind": "float"}]
    assert kit.office().get(f"days/{SECOND}").json()["carried"] == done
    [event] = [one for one in events(kit, "day.closed") if one["data"]["day"] == SECOND]
    assert event["data"]["carried"] == done
    assert verification(kit.house)["ok"]
