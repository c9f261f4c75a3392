"""Fills and credits: signed out at one end, counted and signed in at the other, by two persons."""

from typing import Any

import pytest
from django.db import connections, transaction

from casino.bookkeeping.postings import posting
from casino.core.denominations import Chips
from casino.core.errors import Conflict
from casino.reports.selectors import custody, racks, verification
from casino.staff.models import Role, Terminal, TerminalKind, TerminalToken
from casino.transfers.models import Transfer
from tests.casino.kit import FERBLI, PIECES, SAMPLE, TRAY, Desk, Kit, book

FILL = {"100": 20, "25": 40, "5": 40}
WORTH = 3_200
REASON = {"reason": "a chip fell off the cart"}


class Ends:
    """A table T1 with a tray, a drawer C1 with a float, and somebody at each."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        kit.table()
        self.dealer, self.cashier = kit.dealer(), kit.cashier()
        kit.open_drawer(self.cashier, cash=100_000, pieces={str(value): 100 for value in PIECES})

    def filled(self, **body: Any) -> int:
        """A fill that the cage has sent; returns its number."""
        sent = self.cashier.ok("transfers", {"kind": "fill", "table": "T1", "pieces": FILL} | body)
        return int(sent["last_event"]["transfer"]["transfer"])

    def credited(self) -> int:
        """A credit that the table has sent."""
        sent = self.dealer.ok("transfers", {"kind": "credit", "drawer": "C1", "pieces": FILL})
        return int(sent["last_event"]["transfer"]["transfer"])

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
    number = ends.filled()
    assert ends.values() == [drawer - WORTH, WORTH, tray]
    for query in ("table=T1&state=sent", "drawer=C1&state=sent"):
        assert [(row["transfer"], row["sent"]) for row in under_way(ends.kit, query)] == [(number, FILL)]
    ends.whole()
    received = ends.dealer.ok(f"transfers/{number}/receive", {"pieces": FILL})
    assert received["last_event"]["transfer"]["state"] == "received"
    assert ends.values() == [drawer - WORTH, 0, tray + WORTH]
    chips = ends.dealer.get("chips").json()
    assert chips["tray"]["pieces"] == {
        str(value): TRAY[value] + FILL.get(str(value), 0) for value in sorted(TRAY, reverse=True)
    }
    assert (chips["in_transit"], chips["tip_box"]) == ({"value": 0, "pieces": {}},) * 2
    ends.whole()


def test_a_credit_goes_through_transit_into_the_drawer(ends: Ends) -> None:
    drawer, _, tray = ends.values()
    number = ends.credited()
    assert ends.values() == [drawer, WORTH, tray - WORTH]
    ends.cashier.refresh()
    received = ends.cashier.ok(f"transfers/{number}/receive", {"pieces": FILL})
    assert (received["last_event"]["transfer"]["state"], ends.kit.held()["pieces"]["25"]) == ("received", 140)
    assert ends.values() == [drawer + WORTH, 0, tray - WORTH]
    ends.whole()


def test_the_table_asks_for_a_fill_and_the_cage_sends_it(ends: Ends) -> None:
    before = ends.values()
    asked = ends.dealer.ok("transfers", {"kind": "fill", "drawer": "C1", "amount": 5_000})["last_event"]["transfer"]
    assert (asked["state"], asked["sent"], asked["requested"]) == ("requested", None, {"amount": 5_000})
    assert ends.values() == before
    sent = ends.cashier.ok(f"transfers/{asked['transfer']}/send")["last_event"]["transfer"]
    assert (sent["state"], sent["value"]) == ("sent", 5_000)
    # A fill by value brings some of every chip that it has room for.
    assert len(sent["sent"]) > 4
    ends.dealer.ok(f"transfers/{asked['transfer']}/receive", {"pieces": sent["sent"]})
    assert ends.values() == [before[0] - 5_000, 0, before[2] + 5_000]
    ends.whole()


def test_the_cage_asks_for_a_credit_and_gets_something_else(ends: Ends) -> None:
    wish = {"kind": "credit", "table": "T1", "pieces": {"1000": 5}}
    asked = ends.cashier.ok("transfers", wish)["last_event"]["transfer"]
    assert refusal(ends.cashier.post(f"transfers/{asked['transfer']}/send")) == (409, "not_your_side")
    ends.dealer.ok(f"transfers/{asked['transfer']}/send", {"pieces": {"500": 10}})
    ends.cashier.ok(f"transfers/{asked['transfer']}/receive", {"pieces": {"500": 10}})
    assert Transfer.objects.get(id=asked["transfer"]).requested == {"pieces": {"1000": 5}}
    ends.whole()


def test_what_arrives_must_be_what_was_sent_piece_by_piece(ends: Ends) -> None:
    number = ends.filled()
    before = ends.values()
    # The same worth in other chips is not the same.
    for counted in (FILL | {"100": 19}, FILL | {"100": 19, "25": 44}, {}):
        answer = ends.dealer.post(f"transfers/{number}/receive", {"pieces": counted})
        assert refusal(answer) == (409, "count_mismatch")
        assert (answer.json()["sent"], answer.json()["counted"]) == (FILL, counted)
    assert ends.values() == before
    accepted = ends.dealer.post(f"transfers/{number}/accept-with-variance", {"pieces": FILL} | REASON)
    assert refusal(accepted) == (403, "forbidden")


@pytest.mark.some_now(2)
@pytest.mark.parametrize(
    ("counted", "short"),
    [(FILL | {"100": 19}, 100), (FILL | {"100": 21}, -100), (FILL | {"100": 19, "25": 44}, 0), ({}, WORTH)],
    ids=["short", "over", "exchanged", "nothing"],
)
def test_the_floor_accepts_a_variance(ends: Ends, counted: dict[str, int], short: int) -> None:
    number = ends.filled()
    drawer, _, tray = ends.values()
    floor = floor_at(ends.kit, TerminalKind.TABLE, "T1")
    done = floor.ok(f"transfers/{number}/accept-with-variance", {"pieces": counted} | REASON)["last_event"]["transfer"]
    assert (done["counted"], done["reason"]) == (counted, REASON["reason"])
    assert ends.values() == [drawer, 0, tray + WORTH - short]
    assert ends.kit.balance("5210/T1", "2015/T1") == [short, short]
    ends.whole()


def test_the_floor_accepts_a_credit_with_a_variance_at_the_cage(ends: Ends) -> None:
    number = ends.credited()
    floor = floor_at(ends.kit, TerminalKind.CAGE, "C1")
    floor.ok(f"transfers/{number}/accept-with-variance", {"pieces": FILL | {"5": 39}} | REASON)
    assert ends.kit.balance("5210/T1", "9140/T1") == [5, 0]
    ends.whole()


def test_a_fill_is_cancelled_by_who_sent_it_and_comes_back(ends: Ends) -> None:
    before = ends.values()
    number = ends.filled()
    assert refusal(ends.dealer.post(f"transfers/{number}/cancel", REASON)) == (409, "not_your_side")
    done = ends.cashier.ok(f"transfers/{number}/cancel", REASON)["last_event"]
    assert (done["transfer"]["state"], list(done["mirrors"])) == ("cancelled", [f"transfer:{number}:sent"])
    assert ends.values() == before
    assert refusal(ends.dealer.post(f"transfers/{number}/receive", {"pieces": FILL})) == (409, "transfer_cancelled")
    ends.whole()


def test_what_was_only_asked_for_is_cancelled_by_either_end(ends: Ends) -> None:
    for desk in (ends.dealer, ends.cashier):
        asked = ends.dealer.ok("transfers", {"kind": "fill", "drawer": "C1", "amount": 500})["last_event"]["transfer"]
        number = asked["transfer"]
        assert refusal(ends.dealer.post(f"transfers/{number}/receive", {"pieces": {}})) == (409, "transfer_requested")
        desk.ok(f"transfers/{number}/cancel", REASON)
        assert refusal(ends.cashier.post(f"transfers/{number}/send")) == (409, "transfer_cancelled")
    ends.whole()


def test_the_sender_cannot_receive(ends: Ends) -> None:
    number = ends.filled()
    # The cashier lends a hand at the table, with every role there is.
    sender = Transfer.objects.get(id=number).sent_by
    assert sender is not None
    sender.roles = [Role.CASHIER, Role.DEALER, Role.FLOOR]
    sender.save()
    terminal = Terminal.objects.filter(house=ends.kit.house, kind=TerminalKind.TABLE).first()
    both = Desk(
        ends.kit.http(str(TerminalToken.objects.create(sender, terminal=terminal, house=ends.kit.house)[1])),
        "/api/v1/tables/T1",
    )
    both.refresh()
    assert refusal(both.post(f"transfers/{number}/receive", {"pieces": FILL})) == (403, "four_eyes")
    assert refusal(both.post(f"transfers/{number}/accept-with-variance", {"pieces": {}} | REASON)) == (403, "four_eyes")
    for alias in ("default", "owner"):
        with pytest.raises(Exception, match="transfer_two_persons"), transaction.atomic(using=alias):
            connections[alias].cursor().execute(
                "UPDATE transfers_transfer SET state = 'received', counted = sent, ended_by_id = sent_by_id "
                "WHERE id = %s",
                [number],
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
        ({"amount": 100, "kind": "gift"}, 400, "invalid_request"),
        ({}, 400, "invalid_request"),
    ],
)
def test_what_cannot_be_sent(ends: Ends, body: dict[str, Any], status: int, code: str) -> None:
    before = ends.values()
    answer = ends.cashier.post("transfers", {"kind": "fill", "table": "T1"} | body)
    assert refusal(answer) == (status, code)
    assert (ends.values(), Transfer.objects.filter(house=ends.kit.house).count()) == (before, 0)


def test_a_fill_is_sent_once_however_often_it_is_asked(ends: Ends) -> None:
    body = {"kind": "fill", "table": "T1", "pieces": FILL}
    first = ends.cashier.post("transfers", body, key="fill-1")
    again = ends.cashier.post("transfers", body, key="fill-1")
    assert (first.status_code, again.json(), again.headers["Idempotency-Replayed"]) == (201, first.json(), "true")
    assert refusal(ends.cashier.post("transfers", body, version=1)) == (412, "version_conflict")
    number = first.json()["last_event"]["transfer"]["transfer"]
    ends.dealer.ok(f"transfers/{number}/receive", {"pieces": FILL})
    assert refusal(ends.dealer.post(f"transfers/{number}/receive", {"pieces": FILL})) == (409, "transfer_received")
    assert Transfer.objects.filter(house=ends.kit.house).count() == 1


def test_transfers_belong_to_their_ends_and_their_house(ends: Ends) -> None:
    number = ends.filled()
    ends.kit.table("T2")
    other = ends.kit.dealer("T2")
    assert refusal(other.post(f"transfers/{number}/receive", {"pieces": FILL})) == (404, "not_found")
    elsewhere = Kit.found()
    try:
        elsewhere.table()
        stranger = elsewhere.dealer()
        assert refusal(stranger.post(f"transfers/{number}/receive", {"pieces": FILL})) == (404, "not_found")
        assert under_way(elsewhere, "state=sent") == []
    finally:
        elsewhere.close()


def test_a_closed_drawer_neither_sends_nor_receives(ends: Ends) -> None:
    ends.kit.close_drawer(ends.cashier)
    number = ends.credited()
    ends.cashier.refresh()
    assert refusal(ends.cashier.post(f"transfers/{number}/receive", {"pieces": FILL})) == (409, "drawer_closed")
    fill = {"kind": "fill", "table": "T1", "amount": 100}
    assert refusal(ends.cashier.post("transfers", fill)) == (409, "drawer_closed")
    ends.dealer.refresh()
    ends.dealer.ok(f"transfers/{number}/cancel", REASON)
    ends.whole()


def test_a_drawer_with_a_transfer_under_way_does_not_close(ends: Ends) -> None:
    def closing() -> Any:
        ends.cashier.refresh()
        return ends.cashier.post("count", ends.kit.held())

    for begin in (ends.filled, ends.credited):
        number = begin()
        refused = closing()
        assert refusal(refused) == (409, "drawer_pending")
        assert (refused.json()["transfers"], refused.json()["soft_counts"]) == ([number], [])
        sender = ends.cashier if begin == ends.filled else ends.dealer
        sender.refresh()
        sender.ok(f"transfers/{number}/cancel", REASON)
    ends.dealer.refresh()
    wish = ends.dealer.ok("transfers", {"kind": "fill", "drawer": "C1", "amount": 500})["last_event"]["transfer"]
    assert closing().json()["transfers"] == [wish["transfer"]]
    ends.cashier.ok(f"transfers/{wish['transfer']}/cancel", REASON)
    assert closing().status_code == 200
    ends.whole()


def test_transfers_are_found_by_kind_state_and_time(ends: Ends) -> None:
    office, fill = ends.kit.office(), ends.filled()
    ends.cashier.refresh()
    asked = ends.cashier.ok("transfers", {"kind": "credit", "table": "T1", "amount": 500})["last_event"]
    credit = asked["transfer"]["transfer"]

    def found(query: str = "") -> list[int]:
        return [row["transfer"] for row in office.get(f"transfers?{query}").json()["results"]]

    first, second = office.get("transfers").json()["results"]
    assert (first["transfer"], second["transfer"]) == (fill, credit)
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
    credit = {"kind": "credit", "drawer": "C1", "pieces": {"1": 1}}
    assert refusal(dealer.post("transfers", credit)) == (409, "table_playing")
    ends.cashier.refresh()
    number = ends.filled()
    dealer.ok(f"transfers/{number}/receive", {"pieces": FILL})
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
    sent = cashier.ok("transfers", {"kind": "fill", "table": "T1", "pieces": pieces})["last_event"]
    number = sent["transfer"]["transfer"]
    dealer.ok(f"transfers/{number}/receive", {"pieces": pieces})
    dealer.ok("hands", {"mode": "physical"})


def test_rows_that_have_ended_stay(ends: Ends) -> None:
    number = ends.filled()
    ends.dealer.ok(f"transfers/{number}/receive", {"pieces": FILL})
    statements = (
        f"UPDATE transfers_transfer SET reason = 'no' WHERE id = {number}",
        f"DELETE FROM transfers_transfer WHERE id = {number}",
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
    number = ends.filled()
    assert verification(ends.kit.house)["ok"]
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE transfers_transfer SET state = 'cancelled', ended_at = now() WHERE id = %s", [number])
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
    number = ends.filled()
    dealer.refresh()
    dealer.ok(f"transfers/{number}/receive", {"pieces": FILL})
    assert kit.settle() == ["settled"]
    assert custody(kit.house)["equal"]
