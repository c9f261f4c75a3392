"""Fills and credits: signed out at one end, counted and signed in at the other, by two persons."""

import re
from typing import Any

import pytest
from django.db import connections, transaction

from casino.approvals.control_points import set_at_founding
from casino.bookkeeping.postings import posting
from casino.core.denominations import Chips
from casino.core.errors import Conflict
from casino.reports.selectors import custody, racks
from casino.reports.verifying import verification
from casino.staff.models import Role, Staff, Terminal, TerminalKind, TerminalToken
from casino.transfers.models import Transfer
from ledger.models import Transaction
from tests.casino.kit import ACTOR, FERBLI, PIECES, SAMPLE, TRAY, Desk, Kit, book
from tests.casino.superuser import unguarded

FILL = {"100": 20, "25": 40, "5": 40}
WORTH = 3_200
REASON = {"reason": "a chip fell off the cart"}


class Ends:
    """A table T1 with a tray, a drawer C1 with a float, and somebody at each."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        kit.table()
        self.dealer, self.cashier, self.runner = kit.dealer(), kit.cashier(), kit.runner()
        kit.open_drawer(self.cashier, cash=100_000, pieces={str(value): 100 for value in PIECES})

    def filled(self, **body: Any) -> str:
        """A fill that the cage has sent, as addresses name it."""
        sent = self.cashier.ok("fills", {"table": "T1", "pieces": FILL} | body)
        return named(sent["last_event"]["transfer"])

    def credited(self) -> str:
        """A credit that the table has sent, as addresses name it."""
        sent = self.dealer.ok("credits", {"drawer": "C1", "pieces": FILL})
        return named(sent["last_event"]["transfer"])

    def row(self, paper: str) -> Transfer:
        """The row of a transfer."""
        kind, _, serial = paper.partition("s/")
        return Transfer.objects.get(house=self.kit.house, kind=kind, serial=int(serial))

    def receive(self, paper: str, pieces: dict[str, int], at: Desk | None = None) -> Any:
        """Count at the table, or at another desk, what the runner has brought."""
        return (at or self.dealer).post(f"{paper}/receive", {"pieces": pieces, "carrier": self.runner})

    def differ(self, paper: str, at: Desk | None = None) -> None:
        """Two counts that are not what was sent."""
        for _ in range(2):
            assert refusal(self.receive(paper, {"1": 1}, at)) == (409, "count_mismatch")

    def accept(self, paper: str, pieces: dict[str, int], at: TerminalKind, place: str) -> dict[str, Any]:
        """The floor accepts a variance."""
        body = {"pieces": pieces, "carrier": self.runner} | REASON
        floor = floor_at(self.kit, at, place)
        found: dict[str, Any] = floor.ok(f"{paper}/accept-with-variance", body)["last_event"]["transfer"]
        return found

    def values(self) -> list[int]:
        """Drawer, transit, tray."""
        found: list[int] = self.kit.balance("9120/C1", "9140/T1", "9130/T1")
        return found

    def whole(self) -> None:
        """Chips and money agree, nothing is lost, books and chains are whole."""
        assert custody(self.kit.house)["equal"]
        assert all(row["equal"] for row in racks(self.kit.house)["denominations"])
        assert verification(self.kit.house)["ok"]


@pytest.fixture
def ends(kit: Kit) -> Ends:
    """Both ends."""
    return Ends(kit)


def named(transfer: dict[str, Any]) -> str:
    """How addresses below its table or drawer name a transfer: `fills/3`."""
    return f"{transfer['kind']}s/{transfer['serial']}"


def refusal(answer: Any) -> tuple[int, str]:
    """Status and code."""
    return answer.status_code, answer.json()["code"]


def floor_at(kit: Kit, kind: TerminalKind, place: str) -> Desk:
    """A floor manager at a table's or a drawer's terminal."""
    path = "tables" if kind == TerminalKind.TABLE else "drawers"
    desk = Desk(kit.http(kit.token(Role.FLOOR, kind, place)), f"/api/v1/{path}/{place}")
    desk.refresh()
    return desk


def under_way(kit: Kit, query: str) -> list[dict[str, Any]]:
    """The rows of the list."""
    found: list[dict[str, Any]] = kit.office().get(f"transfers?{query}").json()["results"]
    return found


def test_a_fill_goes_through_transit_into_the_tray(ends: Ends) -> None:
    drawer, _, tray = ends.values()
    paper = ends.filled()
    assert ends.values() == [drawer - WORTH, WORTH, tray]
    for query in ("table=T1&state=sent", "drawer=C1&state=sent"):
        assert [(named(row), row["sent"]) for row in under_way(ends.kit, query)] == [(paper, FILL)]
    ends.whole()
    received = ends.receive(paper, FILL).json()
    assert received["last_event"]["transfer"]["state"] == "received"
    assert ends.values() == [drawer - WORTH, 0, tray + WORTH]
    chips = ends.kit.office().get("tables/T1/chips").json()
    assert chips["tray"]["pieces"] == {
        str(value): TRAY[value] + FILL.get(str(value), 0) for value in sorted(TRAY, reverse=True)
    }
    assert (chips["in_transit"], chips["tip_box"]) == ({"value": 0, "pieces": {}},) * 2
    ends.whole()


def test_a_credit_goes_through_transit_into_the_drawer(ends: Ends) -> None:
    drawer, _, tray = ends.values()
    paper = ends.credited()
    assert ends.values() == [drawer, WORTH, tray - WORTH]
    ends.cashier.refresh()
    received = ends.receive(paper, FILL, ends.cashier).json()
    assert (received["last_event"]["transfer"]["state"], ends.kit.held()["pieces"]["25"]) == ("received", 140)
    assert ends.values() == [drawer + WORTH, 0, tray - WORTH]
    ends.whole()


def test_the_table_asks_for_a_fill_and_the_cage_sends_it(ends: Ends) -> None:
    before = ends.values()
    asked = ends.dealer.ok("fills", {"drawer": "C1", "amount": 5_000})["last_event"]["transfer"]
    assert (asked["state"], asked["sent"], asked["requested"]) == ("requested", None, {"amount": 5_000})
    assert ends.values() == before
    sent = ends.cashier.ok(f"{named(asked)}/send")["last_event"]["transfer"]
    assert (sent["state"], sent["value"]) == ("sent", 5_000)
    # A fill by value brings some of every chip that it has room for.
    assert len(sent["sent"]) > 4
    assert ends.receive(named(asked), sent["sent"]).status_code == 200
    assert ends.values() == [before[0] - 5_000, 0, before[2] + 5_000]
    ends.whole()


def test_the_cage_asks_for_a_credit_and_gets_something_else(ends: Ends) -> None:
    wish = {"table": "T1", "pieces": {"1000": 5}}
    asked = ends.cashier.ok("credits", wish)["last_event"]["transfer"]
    # Who asks for a credit does not send it: the drawer has no such address.
    assert refusal(ends.cashier.post(f"{named(asked)}/send")) == (404, "not_found")
    ends.dealer.ok(f"{named(asked)}/send", {"pieces": {"500": 10}})
    assert ends.receive(named(asked), {"500": 10}, ends.cashier).status_code == 200
    assert ends.row(named(asked)).requested == {"pieces": {"1000": 5}}
    ends.whole()


def test_what_arrives_must_be_what_was_sent_piece_by_piece(ends: Ends) -> None:
    paper = ends.filled()
    before = ends.values()
    # The same worth in other chips is not the same.
    for counted in (FILL | {"100": 19}, FILL | {"100": 19, "25": 44}):
        assert refusal(ends.receive(paper, counted)) == (409, "count_mismatch")
    assert ends.values() == before
    # Who counts does not decide, and cannot go on guessing: not even right.
    assert refusal(ends.receive(paper, FILL)) == (409, "supervisor_needed")
    accepted = ends.dealer.post(f"{paper}/accept-with-variance", {"pieces": FILL} | REASON)
    assert refusal(accepted) == (403, "forbidden")
    ends.whole()


def _figures(answer: Any) -> set[int]:
    """Those of SECRET's numbers of pieces and its worth that an answer has, as numbers or in its words."""
    words = [answer.get("detail", ""), answer.get("title", "")] if isinstance(answer, dict) else []
    found = {int(figure) for text in words for figure in re.findall("[0-9]+", text)}
    waiting = [answer]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
        elif type(value) is int:
            found.add(value)
    return found & {*SECRET.values(), SECRET_WORTH}


#: A fill whose numbers nothing else has.
SECRET = {"100": 77, "25": 53, "5": 41}
SECRET_WORTH = 77 * 100 + 53 * 25 + 41 * 5


@pytest.mark.parametrize("kind", ["fill", "credit"])
def test_who_counts_reads_nowhere_what_was_sent(ends: Ends, kind: str) -> None:
    if kind == "fill":
        sent = ends.cashier.ok("fills", {"table": "T1", "pieces": SECRET})
        counts, sends, at = ends.dealer, ends.cashier, TerminalKind.TABLE
    else:
        sent = ends.dealer.ok("credits", {"drawer": "C1", "pieces": SECRET})
        counts, sends, at = ends.cashier, ends.dealer, TerminalKind.CAGE
    paper = named(sent["last_event"]["transfer"])
    assert len(_figures(sent)) == 4
    floor = floor_at(ends.kit, at, "T1" if kind == "fill" else "C1")
    counts.refresh()
    answers = [ends.receive(paper, {"100": 1}, counts), ends.receive(paper, {"100": 2}, counts)]
    answers.append(ends.receive(paper, {"100": 3}, counts))
    assert [refusal(answer) for answer in answers] == [(409, "count_mismatch")] * 2 + [(409, "supervisor_needed")]
    assert answers[0].json().keys() == {"type", "title", "status", "detail", "code", "instance"}
    assert answers[0].json()["detail"] == answers[1].json()["detail"]
    for reader in (counts, floor, ends.kit.office(Role.FLOOR)):
        answers += [reader.get(f"/api/v1/transfers{query}") for query in ("", "?state=sent", "?sort=newest&table=T1")]
        answers += [reader.get("/api/v1/tables/T1"), reader.get("/api/v1/tables/T1/chips")]
        answers += [reader.get("/api/v1/audit/events"), reader.get("/api/v1/ledger/accounts")]
    assert [(answer.url, answer.text) for answer in answers if _figures(answer.json())] == []
    # A list that shows nothing would prove nothing: the sender and the auditor read it.
    for reader in (sends, ends.kit.office()):
        assert len(_figures(reader.get("/api/v1/transfers").json())) == 4
    declined = counts.post(f"{paper}/decline", REASON)
    assert declined.status_code == 200 and _figures(declined.json()["last_event"]) == set()
    ends.whole()


def test_a_count_that_differs_is_kept_once_with_who_made_it(ends: Ends) -> None:
    paper = ends.filled()
    body = {"pieces": FILL | {"5": 39}, "carrier": ends.runner}
    for _ in range(3):  # its answer was lost
        answer = ends.dealer.post(f"{paper}/receive", body, key="counted")
        assert refusal(answer) == (409, "count_mismatch")
    [row] = under_way(ends.kit, "state=sent")
    assert row["differing_counts"] == 1
    [count] = ends.row(paper).miscounts
    assert count["pieces"] == FILL | {"5": 39} and count["by"].startswith("dealer")
    # The second count is right: nothing has to be accepted.
    assert ends.receive(paper, FILL).status_code == 200
    ends.whole()


def test_a_variance_is_accepted_after_two_counts_by_somebody_who_made_none(ends: Ends) -> None:
    paper = ends.filled()
    floor = floor_at(ends.kit, TerminalKind.TABLE, "T1")
    body = {"pieces": FILL | {"5": 39}, "carrier": ends.runner} | REASON
    path = f"{paper}/accept-with-variance"
    assert refusal(floor.post(path, body)) == (409, "recount_needed")
    ends.receive(paper, {})
    assert refusal(floor.post(path, body)) == (409, "recount_needed")
    ends.receive(paper, {})
    counter = Staff.objects.get(house=ends.kit.house, login=ends.row(paper).miscounts[0]["by"])
    counter.roles = [Role.DEALER, Role.FLOOR]
    counter.save()
    assert refusal(ends.dealer.post(path, body)) == (403, "four_eyes")
    floor.ok(path, body)


def test_a_third_person_carries_the_chips(ends: Ends) -> None:
    kit = ends.kit
    logins = dict(Staff.objects.filter(house=kit.house).order_by("-id").values_list("roles__0", "login"))
    fill = {"table": "T1", "pieces": FILL}
    # Nothing is carried yet.
    asked = {"drawer": "C1", "pieces": FILL, "carrier": ends.runner}
    assert refusal(ends.dealer.post("fills", asked)) == (400, "invalid_request")
    assert not Transfer.objects.filter(house=kit.house).exists()
    assert refusal(ends.cashier.post("fills", fill | {"carrier": "nobody"})) == (422, "unknown_carrier")
    assert refusal(ends.cashier.post("fills", fill | {"carrier": logins["cashier"]})) == (403, "four_eyes")
    paper = ends.filled()
    path = f"{paper}/receive"
    assert refusal(ends.dealer.post(path, {"pieces": FILL})) == (422, "carrier_missing")
    for login in (logins["dealer"], logins["cashier"]):
        assert refusal(ends.dealer.post(path, {"pieces": FILL, "carrier": login})) == (403, "four_eyes")
    assert ends.row(paper).miscounts == []
    done = ends.receive(paper, FILL).json()["last_event"]["transfer"]
    assert done["carried_by"] == ends.runner
    ends.cashier.refresh()
    paper = ends.filled(carrier=ends.runner)
    other = ends.dealer.post(f"{paper}/receive", {"pieces": FILL, "carrier": kit.runner()})
    assert refusal(other) == (409, "carrier_differs")
    ends.dealer.ok(f"{paper}/receive", {"pieces": FILL})
    for alias in ("default", "owner"):
        with pytest.raises(Exception, match=r"has ended"), transaction.atomic(using=alias):
            connections[alias].cursor().execute(
                "UPDATE transfers_transfer SET carried_by_id = sent_by_id WHERE id = %s", [ends.row(paper).pk]
            )
    ends.whole()


def test_numbers_have_no_gaps_and_belong_to_a_house(ends: Ends) -> None:
    def serials(kit: Kit, kind: str) -> list[int]:
        return [row["serial"] for row in kit.office().get(f"transfers?kind={kind}").json()["results"]]

    refused = {"table": "T1", "pieces": {"100": 10**6}}
    set_at_founding(house=ends.kit.house, points={"transfer_approved_from": 10**9}, actor=ACTOR)
    for _ in range(3):
        ends.filled(pieces={"100": 1})
        assert refusal(ends.cashier.post("fills", refused)) == (409, "drawer_short")
        ends.dealer.refresh()
        ends.credited()
    elsewhere = Ends(Kit.found())
    elsewhere.filled()
    ends.cashier.refresh()
    ends.filled()
    assert (serials(ends.kit, "fill"), serials(ends.kit, "credit")) == ([1, 2, 3, 4], [1, 2, 3])
    assert serials(elsewhere.kit, "fill") == [1]
    elsewhere.kit.close()
    for alias in ("default", "owner"):
        for statement in ("UPDATE transfers_serial SET last = last + 2", "DELETE FROM transfers_serial"):
            with (
                pytest.raises(Exception, match=r"permission denied|goes from|append|delete"),
                transaction.atomic(using=alias),
                connections[alias].cursor() as cursor,
            ):
                cursor.execute(statement)


def test_a_fill_and_a_credit_of_one_number_are_two_papers(ends: Ends) -> None:
    assert (ends.filled(), ends.credited()) == ("fills/1", "credits/1")
    ends.dealer.refresh()
    ends.cashier.refresh()
    assert named(ends.receive("fills/1", FILL).json()["last_event"]["transfer"]) == "fills/1"
    assert [named(row) for row in under_way(ends.kit, "state=sent")] == ["credits/1"]
    assert named(ends.receive("credits/1", FILL, ends.cashier).json()["last_event"]["transfer"]) == "credits/1"
    # What each has posted is found by its number, and by no row.
    keys = Transaction.objects.filter(book=ends.kit.house.id, kind__regex="^(fill|credit)[.]")
    assert sorted(keys.values_list("idempotency_key", flat=True)) == [
        "credit:1:received", "credit:1:sent", "fill:1:received", "fill:1:sent",
    ]  # fmt: skip
    assert refusal(ends.receive("fills/2", FILL)) == (404, "not_found")
    ends.whole()


def test_what_takes_too_long_is_flagged(ends: Ends) -> None:
    paper = ends.filled()
    assert [(row["minutes"], row["late"]) for row in under_way(ends.kit, "state=sent")] == [(0, "in_time")]
    for minutes, late in ((15, "late"), (29, "late"), (30, "exception"), (600, "exception")):
        with unguarded("transfers_transfer") as cursor:
            cursor.execute(
                "UPDATE transfers_transfer SET sent_at = now() - make_interval(mins => %s) WHERE id = %s",
                [minutes, ends.row(paper).pk],
            )
        assert [(row["minutes"], row["late"]) for row in under_way(ends.kit, "state=sent")] == [(minutes, late)]
    assert ends.receive(paper, FILL).status_code == 200
    assert [(row["minutes"], row["late"]) for row in under_way(ends.kit, "state=received")] == [(None, None)]


@pytest.mark.some_now(2)
@pytest.mark.parametrize(
    ("counted", "short"),
    [(FILL | {"100": 19}, 100), (FILL | {"100": 21}, -100), (FILL | {"100": 19, "25": 44}, 0), ({}, WORTH)],
    ids=["short", "over", "exchanged", "nothing"],
)
def test_the_floor_accepts_a_variance(ends: Ends, counted: dict[str, int], short: int) -> None:
    paper = ends.filled()
    drawer, _, tray = ends.values()
    ends.differ(paper)
    done = ends.accept(paper, counted, TerminalKind.TABLE, "T1")
    assert (done["counted"], done["reason"]) == (counted, REASON["reason"])
    assert ends.values() == [drawer, 0, tray + WORTH - short]
    assert ends.kit.balance("5210/T1", "2015/T1") == [short, short]
    ends.whole()


def test_the_floor_accepts_a_credit_with_a_variance_at_the_cage(ends: Ends) -> None:
    paper = ends.credited()
    ends.cashier.refresh()
    ends.differ(paper, ends.cashier)
    ends.accept(paper, FILL | {"5": 39}, TerminalKind.CAGE, "C1")
    assert ends.kit.balance("5210/T1", "9140/T1") == [5, 0]
    ends.whole()


def test_a_sent_fill_comes_back_when_the_table_declines_it(ends: Ends) -> None:
    before = ends.values()
    paper = ends.filled()
    path = f"{paper}/cancel"
    assert refusal(ends.dealer.post(path, REASON)) == (409, "not_your_side")
    # Its sender alone does not get it back.
    assert refusal(ends.cashier.post(path, REASON)) == (403, "four_eyes")
    assert refusal(ends.cashier.post(f"{paper}/decline", REASON)) == (404, "not_found")
    declined = ends.dealer.ok(f"{paper}/decline", {"reason": "the wrong table"})["last_event"]
    assert (declined["kind"], declined["transfer"]["state"]) == ("fill.declined", "declined")
    assert ends.values() == [before[0] - WORTH, WORTH, before[2]]
    ends.whole()
    assert refusal(ends.receive(paper, FILL)) == (409, "transfer_declined")
    done = ends.cashier.ok(path, REASON)["last_event"]
    assert (done["transfer"]["state"], list(done["mirrors"])) == ("cancelled", ["fill:1:sent"])
    assert ends.values() == before
    assert refusal(ends.receive(paper, FILL)) == (409, "transfer_cancelled")
    ends.whole()


def test_a_supervisor_who_has_not_sent_it_cancels_a_transfer(ends: Ends) -> None:
    before = ends.values()
    paper = ends.credited()
    assert refusal(ends.dealer.post(f"{paper}/cancel", REASON)) == (403, "four_eyes")
    floor_at(ends.kit, TerminalKind.TABLE, "T1").ok(f"{paper}/cancel", REASON)
    assert ends.values() == before
    ends.dealer.refresh()
    paper = ends.credited()
    ends.whole()
    sender = ends.row(paper).sent_by
    assert sender is not None
    sender.roles = [Role.FLOOR]
    sender.save()
    assert refusal(ends.dealer.post(f"{paper}/cancel", REASON)) == (403, "four_eyes")
    for alias in ("default", "owner"):
        with pytest.raises(Exception, match="transfer_cancelled_by_two"), transaction.atomic(using=alias):
            connections[alias].cursor().execute(
                "UPDATE transfers_transfer SET state = 'cancelled', ended_by_id = sent_by_id, ended_at = now() "
                "WHERE id = %s",
                [ends.row(paper).pk],
            )


def test_what_was_only_asked_for_is_cancelled_by_either_end(ends: Ends) -> None:
    for desk in (ends.dealer, ends.cashier):
        asked = ends.dealer.ok("fills", {"drawer": "C1", "amount": 500})["last_event"]["transfer"]
        paper = named(asked)
        assert refusal(ends.receive(paper, {})) == (409, "transfer_requested")
        desk.ok(f"{paper}/cancel", REASON)
        assert refusal(ends.cashier.post(f"{paper}/send")) == (409, "transfer_cancelled")
    ends.whole()


def test_the_sender_cannot_receive(ends: Ends) -> None:
    paper = ends.filled(carrier=ends.runner)
    # The cashier has been moved to the tables since.
    sender = ends.row(paper).sent_by
    assert sender is not None
    sender.roles = [Role.DEALER, Role.FLOOR]
    sender.save()
    terminal = Terminal.objects.filter(house=ends.kit.house, kind=TerminalKind.TABLE).first()
    both = Desk(
        ends.kit.http(str(TerminalToken.objects.create(sender, terminal=terminal, house=ends.kit.house)[1])),
        "/api/v1/tables/T1",
    )
    both.refresh()
    assert refusal(ends.receive(paper, FILL, both)) == (403, "four_eyes")
    assert refusal(both.post(f"{paper}/accept-with-variance", {"pieces": {}} | REASON)) == (403, "four_eyes")
    assert refusal(both.post(f"{paper}/decline", REASON)) == (403, "four_eyes")
    for alias in ("default", "owner"):
        with pytest.raises(Exception, match="transfer_two_persons"), transaction.atomic(using=alias):
            connections[alias].cursor().execute(
                "UPDATE transfers_transfer SET state = 'received', counted = sent, ended_by_id = sent_by_id "
                "WHERE id = %s",
                [ends.row(paper).pk],
            )


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"pieces": {"7": 1}}, 422, "unknown_denomination"),
        ({"pieces": {}}, 422, "nothing_to_send"),
        ({"pieces": {"100": 1}, "amount": 200}, 422, "chips_do_not_add_up"),
        ({"pieces": {"100": 101}}, 409, "drawer_short"),
        ({"amount": 10**9}, 409, "drawer_short"),
        ({"amount": 0}, 400, "invalid_request"),
        ({"amount": 100, "table": "T9"}, 404, "not_found"),
        ({"amount": 100, "kind": "fill"}, 400, "invalid_request"),
        ({}, 400, "invalid_request"),
    ],
)
def test_what_cannot_be_sent(ends: Ends, body: dict[str, Any], status: int, code: str) -> None:
    before = ends.values()
    answer = ends.cashier.post("fills", {"table": "T1"} | body)
    assert refusal(answer) == (status, code)
    assert (ends.values(), Transfer.objects.filter(house=ends.kit.house).count()) == (before, 0)


def test_a_fill_is_sent_once_however_often_it_is_asked(ends: Ends) -> None:
    body = {"table": "T1", "pieces": FILL}
    first = ends.cashier.post("fills", body, key="fill-1")
    again = ends.cashier.post("fills", body, key="fill-1")
    assert (first.status_code, again.json(), again.headers["Idempotency-Replayed"]) == (201, first.json(), "true")
    assert refusal(ends.cashier.post("fills", body, version=1)) == (412, "version_conflict")
    paper = named(first.json()["last_event"]["transfer"])
    assert ends.receive(paper, FILL).status_code == 200
    assert refusal(ends.receive(paper, FILL)) == (409, "transfer_received")
    assert Transfer.objects.filter(house=ends.kit.house).count() == 1


def test_transfers_belong_to_their_ends_and_their_house(ends: Ends) -> None:
    paper = ends.filled()
    ends.kit.table("T2")
    other = ends.kit.dealer("T2")
    assert refusal(other.post(f"{paper}/receive", {"pieces": FILL})) == (404, "not_found")
    elsewhere = Kit.found()
    try:
        elsewhere.table()
        stranger = elsewhere.dealer()
        assert refusal(stranger.post(f"{paper}/receive", {"pieces": FILL})) == (404, "not_found")
        assert under_way(elsewhere, "state=sent") == []
    finally:
        elsewhere.close()


def test_a_closed_drawer_neither_sends_nor_receives(ends: Ends) -> None:
    ends.kit.close_drawer(ends.cashier)
    paper = ends.credited()
    ends.cashier.refresh()
    assert refusal(ends.cashier.post(f"{paper}/receive", {"pieces": FILL})) == (409, "drawer_closed")
    assert refusal(ends.cashier.post("fills", {"table": "T1", "amount": 100})) == (409, "drawer_closed")
    floor_at(ends.kit, TerminalKind.TABLE, "T1").ok(f"{paper}/cancel", REASON)
    ends.whole()


def test_a_drawer_with_a_transfer_under_way_does_not_close(ends: Ends) -> None:
    def closing() -> Any:
        ends.cashier.refresh()
        return ends.cashier.post("count", ends.kit.held())

    for begin in (ends.filled, ends.credited):
        paper = begin()
        refused = closing()
        assert refusal(refused) == (409, "drawer_has_open_work")
        [found] = refused.json()["open"]
        # What people call it, and its address names it by.
        kind = "fill" if begin == ends.filled else "credit"
        assert (found["kind"], found["number"], paper) == (kind, 1, f"{kind}s/1")
        assert f"{kind} 1." in refused.json()["detail"]
        sender = (TerminalKind.CAGE, "C1") if begin == ends.filled else (TerminalKind.TABLE, "T1")
        floor_at(ends.kit, *sender).ok(f"{paper}/cancel", REASON)
        ends.cashier.refresh()
        ends.dealer.refresh()
    ends.dealer.refresh()
    wish = ends.dealer.ok("fills", {"drawer": "C1", "amount": 500})["last_event"]["transfer"]
    assert closing().json()["open"] == [{"kind": "fill", "number": 2}]
    ends.cashier.ok(f"{named(wish)}/cancel", REASON)
    assert closing().status_code == 200
    ends.whole()


def test_transfers_are_found_by_kind_state_and_time(ends: Ends) -> None:
    office, fill = ends.kit.office(), ends.filled()
    ends.cashier.refresh()
    asked = ends.cashier.ok("credits", {"table": "T1", "amount": 500})["last_event"]
    credit = named(asked["transfer"])

    def found(query: str = "") -> list[str]:
        return [named(row) for row in office.get(f"transfers?{query}").json()["results"]]

    first, second = office.get("transfers").json()["results"]
    assert (named(first), named(second)) == (fill, credit)
    assert (first["sent_at"] is not None, second["sent_at"], first["ended_at"]) == (True, None, None)
    assert found("kind=credit") == found("state=requested") == found("sort=newest&page_size=1") == [credit]
    assert found(f"until={second['opened_at']}") == [fill] and found(f"from={second['opened_at']}") == [credit]
    assert found("drawer=C1&table=T1&kind=fill") == [fill] and found("table=T9") == []
    for wrong in ("kind=gift", "state=asked", "sort=best", "opened_at=now"):
        assert refusal(office.get(f"transfers?{wrong}")) == (400, "invalid_parameter")


def test_a_tray_gives_nothing_away_during_a_hand_but_takes_fills(kit: Kit) -> None:
    ends = Ends(kit)
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    dealer.act(*SAMPLE[:8])
    credit = {"drawer": "C1", "pieces": {"1": 1}}
    assert refusal(dealer.post("credits", credit)) == (409, "table_playing")
    ends.cashier.refresh()
    paper = ends.filled()
    assert ends.receive(paper, FILL, dealer).status_code == 200
    dealer.act(*SAMPLE[8:])
    assert kit.settle() == ["settled"]
    ends.whole()


def test_a_table_without_a_tray_gets_its_first_chips_by_a_fill(kit: Kit) -> None:
    kit.table_for("ferbli", FERBLI, code="T1", seats=4, tray=0)
    dealer = kit.seated()
    refused = dealer.post("hands", {"mode": "physical"})
    assert refusal(refused) == (409, "no_exact_change")
    cashier = kit.cashier()
    pieces = {str(value): 40 for value in (1, 5, 25, 100, 500, 1_000)}
    sent = cashier.ok("fills", {"table": "T1", "pieces": pieces})["last_event"]
    paper = named(sent["transfer"])
    dealer.ok(f"{paper}/receive", {"pieces": pieces, "carrier": kit.runner()})
    dealer.ok("hands", {"mode": "physical"})


def test_rows_that_have_ended_stay(ends: Ends) -> None:
    paper = ends.filled()
    assert ends.receive(paper, FILL).status_code == 200
    statements = (
        f"UPDATE transfers_transfer SET reason = 'no' WHERE id = {ends.row(paper).pk}",
        f"DELETE FROM transfers_transfer WHERE id = {ends.row(paper).pk}",
    )
    for alias in ("default", "owner"):
        for statement in statements:
            with (
                pytest.raises(Exception, match=r"permission denied|has ended|keeps its rows"),
                transaction.atomic(using=alias),
                connections[alias].cursor() as cursor,
            ):
                cursor.execute(statement)


def test_chips_in_transit_that_nobody_has_signed_for_are_found(ends: Ends) -> None:
    paper = ends.filled()
    assert verification(ends.kit.house)["ok"]
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute(
            "UPDATE transfers_transfer SET state = 'cancelled', ended_at = now(), ended_by_id = "
            "(SELECT max(id) FROM staff_staff WHERE id <> sent_by_id AND house_id = %s) WHERE id = %s",
            [ends.kit.house.id, ends.row(paper).pk],
        )
    found = verification(ends.kit.house)
    assert not found["ok"]
    assert found["custody_findings"] == {
        "transit": [
            {"table": "T1", "value": value, "in_transit": FILL[value], "signed_for": 0} for value in sorted(FILL)
        ]
    }


def test_a_settlement_that_lacks_small_chips_waits_for_a_fill(kit: Kit) -> None:
    ends = Ends(kit)
    dealer = kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    dealer.act(*SAMPLE[:12])
    dealer.act(*SAMPLE[12:])
    # All chips that could change a tax leave the tray behind the table's back.
    small = Chips("MAIN", {value: count for value, count in TRAY.items() if value < 100})
    book(kit.house, "taken", posting("credit_sent", {"table": "T1"}, chips=small))
    with pytest.raises(Conflict, match="cannot be made"):
        kit.settle()
    ends.cashier.refresh()
    paper = ends.filled()
    dealer.refresh()
    assert ends.receive(paper, FILL, dealer).status_code == 200
    assert kit.settle() == ["settled"]
    assert custody(kit.house)["equal"]
