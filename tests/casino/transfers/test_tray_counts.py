"""Trays: counted by dealer and floor, blind of each other and of the books; an opener is what the closer left."""

from typing import Any

import pytest

from casino.approvals.control_points import set_at_founding
from casino.reports.selectors import custody, racks
from casino.reports.verifying import verification
from casino.staff.models import Role, Staff, TerminalKind
from casino.tables.models import CarryoverOnClose
from casino.verification import auditing
from tests.casino.kit import ACTOR, FERBLI, TRAY, Desk, Kit
from tests.casino.scene import fingerprint
from tests.casino.transfers.test_transfers import FILL, WORTH, Ends, floor_at, refusal

HELD = {str(value): count for value, count in TRAY.items()}


class Trays:
    """A table with a tray, its dealer and a witness."""

    def __init__(self, kit: Kit) -> None:
        self.kit, self.ends = kit, Ends(kit)
        self.dealer, self.floor = self.ends.dealer, floor_at(kit, TerminalKind.TABLE, "T1")

    def count(self, pieces: dict[str, int], purpose: str = "check") -> dict[str, Any]:
        """The dealer's count."""
        self.dealer.refresh()
        found: dict[str, Any] = self.dealer.ok("tray-counts", {"purpose": purpose, "pieces": pieces})["last_event"]
        return found

    def witness(self, number: int, pieces: dict[str, int], by: Desk | None = None) -> Any:
        """The witness's count."""
        desk = by or self.floor
        desk.refresh()
        return desk.post(f"tray-counts/{number}/witness", {"pieces": pieces})

    def both(self, pieces: dict[str, int], purpose: str = "check") -> dict[str, Any]:
        """Both count the same; the count."""
        number = self.count(pieces, purpose)["tray_count"]["tray_count"]
        found: dict[str, Any] = self.witness(number, pieces).json()["last_event"]["tray_count"]
        return found

    def whole(self) -> None:
        """Chips and money agree, nothing is lost, books and chains are whole."""
        assert custody(self.kit.house)["equal"]
        assert all(row["equal"] for row in racks(self.kit.house)["denominations"])
        assert verification(self.kit.house)["ok"]


@pytest.fixture
def trays(kit: Kit) -> Trays:
    """A tray to be counted."""
    return Trays(kit)


@pytest.mark.parametrize(
    ("pieces", "variance"),
    [(HELD, 0), (HELD | {"100": 397}, -300), (HELD | {"5": 401}, 5), (HELD | {"500": 201, "100": 395}, 0)],
    ids=["right", "short", "over", "other chips"],
)
def test_what_both_have_counted_is_posted(trays: Trays, pieces: dict[str, int], variance: int) -> None:
    done = trays.both(pieces)
    assert (done["state"], done["variance"], done["exception"]) == ("confirmed", variance, "")
    assert trays.kit.balance("5210/T1", "2015/T1") == [-variance, -variance]
    assert trays.kit.office().get("tables/T1/chips").json()["tray"]["pieces"] == pieces
    trays.whole()


def test_neither_reads_the_others_count_or_the_books(trays: Trays) -> None:
    first = trays.count(HELD | {"100": 391})
    number = first["tray_count"]["tray_count"]
    hidden = {"counted", "expected", "variance"}
    assert not hidden & first["tray_count"].keys()
    answer = trays.witness(number, HELD | {"100": 389}).json()["last_event"]
    assert answer["kind"] == "tray.counts_differed" and not hidden & answer["tray_count"].keys()
    # The house's code, which logins have, may be any number.
    said, counted = (str(one).replace(trays.kit.house.code, "") for one in (answer, answer["tray_count"]))
    assert "391" not in said and "400" not in counted
    for desk in (trays.dealer, trays.floor):
        assert refusal(desk.get("chips")) == (403, "forbidden")
    [row] = trays.floor.get("/api/v1/tray-counts").json()["results"]
    assert row["state"] == "differed" and not hidden & row.keys()
    # What differed is not posted, and not asked again: both count again.
    assert refusal(trays.witness(number, HELD)) == (409, "tray_count_differed")
    assert trays.kit.balance("5210/T1") == 0
    assert trays.both(HELD)["variance"] == 0
    trays.whole()


def test_an_opener_is_what_the_closer_left(trays: Trays) -> None:
    office = trays.kit.office()
    assert trays.both(HELD, "opener")["exception"] == ""
    assert trays.both(HELD, "opener")["exception"] == "no_closer"
    trays.both(HELD, "closer")
    # What a transfer has brought since is no exception.
    trays.ends.cashier.refresh()
    number = trays.ends.filled()
    trays.dealer.refresh()
    assert trays.ends.receive(number, FILL).status_code == 200
    filled = {value: HELD[value] + FILL.get(value, 0) for value in HELD}
    assert trays.both(filled, "opener")["exception"] == ""
    trays.both(filled, "closer")
    done = trays.both(filled | {"100": filled["100"] - 2}, "opener")
    assert (done["exception"], done["variance"]) == ("differs_from_closer", -200)
    [row] = office.get("tray-counts?exception=differs_from_closer").json()["results"]
    assert row["tray_count"] == 6
    assert trays.kit.balance("9130/T1") == sum(value * count for value, count in TRAY.items()) + WORTH - 200
    trays.whole()


def test_chips_that_move_between_the_two_counts_make_it_void(trays: Trays) -> None:
    number = trays.count(HELD)["tray_count"]["tray_count"]
    fill = trays.ends.filled()
    trays.dealer.refresh()
    assert trays.ends.receive(fill, FILL).status_code == 200
    assert refusal(trays.witness(number, HELD)) == (409, "tray_moved")
    filled = {value: HELD[value] + FILL.get(value, 0) for value in HELD}
    again = trays.count(filled)
    assert again["replaced"] == number
    assert refusal(trays.witness(number, HELD)) == (409, "tray_count_replaced")
    assert trays.witness(again["tray_count"]["tray_count"], filled).status_code == 200
    trays.whole()


def test_counts_of_all_tables_of_a_house_are_numbered_together(trays: Trays) -> None:
    trays.kit.table("T2")
    second, floor = trays.kit.dealer("T2"), floor_at(trays.kit, TerminalKind.TABLE, "T2")
    assert trays.count(HELD)["tray_count"]["tray_count"] == 1
    refused = second.post("tray-counts", {"purpose": "check", "pieces": {"7": 1}})
    assert refused.status_code == 422
    assert second.ok("tray-counts", {"purpose": "check", "pieces": HELD})["last_event"]["tray_count"]["tray_count"] == 2
    floor.refresh()
    assert refusal(floor.post("tray-counts/1/witness", {"pieces": HELD})) == (404, "not_found"), "of another table"
    assert refusal(floor.post("tray-counts/3/witness", {"pieces": HELD})) == (404, "not_found")
    floor.ok("tray-counts/2/witness", {"pieces": HELD})
    assert trays.count(HELD)["replaced"] == 1
    other = Trays(Kit.found())
    assert other.count(HELD)["tray_count"]["tray_count"] == 1, "each house counts for itself"
    other.kit.close()
    trays.whole()


def test_the_dealer_is_not_the_witness(trays: Trays) -> None:
    number = trays.count(HELD)["tray_count"]["tray_count"]
    assert refusal(trays.witness(number, HELD, trays.dealer)) == (403, "forbidden")
    login = trays.kit.office().get("tray-counts").json()["results"][0]["counted_by"]
    person = Staff.objects.get(house=trays.kit.house, login=login)
    person.roles = [Role.DEALER, Role.FLOOR]
    person.save()
    assert refusal(trays.witness(number, HELD, trays.dealer)) == (403, "four_eyes")
    for pieces, code in (({"7": 1}, "unknown_denomination"),):
        assert refusal(trays.witness(number, pieces)) == (422, code)


def test_a_tray_is_not_counted_during_a_hand(trays: Trays) -> None:
    dealer = trays.kit.seated()
    dealer.ok("hands", {"mode": "physical", "button": 4})
    answer = dealer.post("tray-counts", {"purpose": "check", "pieces": HELD})
    assert refusal(answer) == (409, "table_playing")


def test_a_session_names_the_opener_that_it_begins_with(kit: Kit) -> None:
    kit.table()
    dealer, floor = kit.dealer(), floor_at(kit, TerminalKind.TABLE, "T1")

    def counted(purpose: str) -> int:
        dealer.refresh()
        number: int = dealer.ok("tray-counts", {"purpose": purpose, "pieces": HELD})["last_event"]["tray_count"][
            "tray_count"
        ]
        floor.refresh()
        floor.ok(f"tray-counts/{number}/witness", {"pieces": HELD})
        return number

    def opened() -> tuple[Any, Any]:
        dealer.refresh()
        answer = dealer.ok("open")
        assert dealer.ok("close")["opener"] is None
        return answer["opener"], answer["last_event"].get("opener")

    assert opened() == (None, None)
    opener = counted("opener")
    assert opened() == (opener, opener)
    # It was good for one session.
    assert opened() == (None, None)
    counted("opener")
    counted("closer")
    assert opened() == (None, None)
    opener = counted("opener")
    counted("check")
    assert opened() == (opener, opener)
    assert auditing.verify_house(kit.house).findings == []


def test_a_table_opens_with_a_confirmed_opener_only(kit: Kit) -> None:
    set_at_founding(house=kit.house, points={"opener_required_above": 0}, actor=ACTOR)
    trays = Trays(kit)
    for purpose in ("check", "closer"):
        trays.both(HELD, purpose)
        trays.dealer.refresh()
        assert refusal(trays.dealer.post("open")) == (409, "opener_required")
    number = trays.count(HELD, "opener")["tray_count"]["tray_count"]
    assert refusal(trays.dealer.post("open")) == (409, "opener_required"), "nobody has witnessed it"
    assert trays.witness(number, HELD).is_success
    trays.dealer.refresh()
    assert trays.dealer.ok("open")["opener"] == number
    trays.dealer.ok("close")
    assert refusal(trays.dealer.post("open")) == (409, "opener_required"), "it was good for one session"


def test_an_empty_tray_opens_uncounted(kit: Kit) -> None:
    set_at_founding(house=kit.house, points={"opener_required_above": 0}, actor=ACTOR)
    kit.table_for("ferbli", FERBLI, code="T2", seats=4, carryover_on_close=CarryoverOnClose.SPLIT, tray=0)
    assert kit.dealer("T2").ok("open")["opener"] is None


def test_a_count_that_its_witness_has_not_confirmed_opens_nothing(trays: Trays) -> None:
    number = trays.count(HELD, "opener")["tray_count"]["tray_count"]
    trays.witness(number, HELD | {"100": 397})
    trays.dealer.refresh()
    assert trays.dealer.ok("open")["opener"] is None


def test_a_house_may_close_tables_with_a_confirmed_closer_only(kit: Kit) -> None:
    set_at_founding(house=kit.house, points={"closer_required": 1}, actor=ACTOR)
    trays = Trays(kit)
    trays.dealer.refresh()
    trays.dealer.ok("open")
    for purpose in ("check", "opener"):
        trays.both(HELD, purpose)
        trays.dealer.refresh()
        assert refusal(trays.dealer.post("close")) == (409, "closer_required")
    trays.both(HELD, "closer")
    trays.dealer.refresh()
    trays.ends.credited()
    trays.dealer.refresh()
    assert refusal(trays.dealer.post("close")) == (409, "closer_required"), "chips have left the tray since"
    left = {value: count - FILL.get(value, 0) for value, count in HELD.items()}
    closer = trays.both(left, "closer")["tray_count"]
    trays.dealer.refresh()
    assert trays.dealer.ok("close")["last_event"]["closer"] == closer
    assert auditing.verify_house(kit.house).findings == []


# --- At a change of boxes -------------------------------------------------------------------------------------------


def swap(desk: Desk, number: str, kind: str = "drop", **more: Any) -> Any:
    """Somebody puts a box on the table; whatever is there is sealed."""
    desk.refresh()
    return desk.post("boxes", {"kind": kind, "number": f"{kind}-{number}", **more})


def test_a_tray_is_counted_with_a_change_of_boxes(trays: Trays) -> None:
    short = HELD | {"100": 397}
    assert "tray_count" not in swap(trays.dealer, "1").json()["last_event"]
    waiting = trays.count(HELD)["tray_count"]["tray_count"]
    done = swap(trays.dealer, "2", seal="S-1", tray=short).json()["last_event"]
    count = done["tray_count"]
    assert (done["box"]["number"], done["taken"]["number"], done["replaced"]) == ("drop-2", "drop-1", waiting)
    assert (count["purpose"], count["state"], done["pieces"]) == ("box_change", "waiting", short)
    assert (waiting, count["tray_count"]) == (1, 2)
    assert not {"counted", "expected", "variance"} & count.keys()
    # It waits as any count does: posted only when the floor has counted the same.
    assert trays.kit.balance("5210/T1") == 0
    assert refusal(trays.witness(waiting, HELD)) == (409, "tray_count_replaced")
    confirmed = trays.witness(count["tray_count"], short).json()["last_event"]["tray_count"]
    assert (confirmed["state"], confirmed["variance"], confirmed["purpose"]) == ("confirmed", -300, "box_change")
    assert trays.kit.balance("5210/T1") == 300
    [row] = trays.floor.get("/api/v1/tray-counts?purpose=box_change").json()["results"]
    assert row["tray_count"] == count["tray_count"]
    trays.whole()


def test_counts_of_a_change_of_boxes_that_differ_are_made_again(trays: Trays) -> None:
    number = swap(trays.dealer, "1", tray=HELD).json()["last_event"]["tray_count"]["tray_count"]
    assert trays.witness(number, HELD | {"100": 1}).json()["last_event"]["kind"] == "tray.counts_differed"
    assert trays.both(HELD, "box_change")["purpose"] == "box_change"
    trays.whole()


def test_a_change_of_boxes_that_is_refused_counts_nothing(trays: Trays) -> None:
    swap(trays.dealer, "1")
    for desk, body, expected in (
        (trays.floor, {"seal": "S-1", "tray": HELD}, (403, "forbidden")),
        (trays.dealer, {"tray": HELD}, (422, "seal_missing")),
        (trays.dealer, {"seal": "S-1", "tray": {"7": 1}}, (422, "unknown_denomination")),
        (trays.dealer, {"seal": "S-1", "tray": {"a": 1}}, (400, "invalid_request")),
    ):
        desk.refresh()
        before = fingerprint()
        assert refusal(swap(desk, "2", **body)) == expected, body
        assert fingerprint() == before
    assert trays.dealer.get("/api/v1/tray-counts").status_code == 403
    assert trays.floor.get("/api/v1/tray-counts").json()["results"] == []


def test_a_house_may_change_boxes_with_a_count_of_the_tray_only(kit: Kit) -> None:
    set_at_founding(house=kit.house, points={"box_change_count_required": 1}, actor=ACTOR)
    trays = Trays(kit)
    # An empty place needs no count: nothing is taken off.
    for kind in ("drop", "tax", "tip"):
        assert "counted" not in swap(trays.dealer, "1", kind).json()["last_event"]
    trays.both(HELD)
    assert refusal(swap(trays.dealer, "2", seal="S-1")) == (409, "tray_count_required")
    number = swap(trays.dealer, "2", seal="S-1", tray=HELD).json()["last_event"]["tray_count"]["tray_count"]
    # The other boxes are changed with the same count, before its witness has counted and after.
    assert swap(trays.floor, "2", "tax", seal="S-2").json()["last_event"]["counted"] == number
    trays.witness(number, HELD)
    assert swap(trays.dealer, "2", "tip", seal="S-3").json()["last_event"]["counted"] == number
    trays.dealer.refresh()
    trays.ends.credited()
    assert refusal(swap(trays.dealer, "3", seal="S-4")) == (409, "tray_count_required"), (
        "chips have left the tray since"
    )
    left = {value: count - FILL.get(value, 0) for value, count in HELD.items()}
    number = swap(trays.dealer, "3", seal="S-4", tray=left).json()["last_event"]["tray_count"]["tray_count"]
    trays.witness(number, left | {"5": 1})
    assert refusal(swap(trays.dealer, "3", "tax", seal="S-5")) == (409, "tray_count_required"), "both count again"
    assert auditing.verify_house(kit.house).findings == []
