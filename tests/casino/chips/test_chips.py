"""Chips by denomination through the cage and the tables, and the continuous check against money."""

import uuid
from typing import Any

import pytest
from django.db import connections, transaction

from casino.audit.models import Event
from casino.bookkeeping import chart
from casino.cage.founding import create_drawer, open_vault
from casino.chips.models import ChipSet, Imbalance
from casino.chips.services import introduce
from casino.core.errors import Conflict, HouseError
from casino.core.work import Work
from casino.hands.terms import set_up_table
from casino.houses.models import House
from casino.reports.selectors import custody, house_report, racks
from casino.reports.tasks import check, check_custody
from casino.reports.verifying import verification
from casino.tables.models import CarryoverOnClose
from casino.tables.services import Terms, stock_tray
from ledger.posting import CREDIT, DEBIT, AccountSpec, Leg, ensure_accounts, post
from tests.casino.kit import ACTOR, FERBLI, PIECES, SAMPLE, TRAY, Kit, claim, record_work

FLOAT = {"1000": 10, "500": 10, "100": 50, "25": 40}


def opened(kit: Kit) -> Any:
    """A cashier with FLOAT in the drawer, and Anna at the window."""
    kit.players("anna")
    cashier = kit.cashier()
    kit.open_drawer(cashier, cash=100_000, pieces=FLOAT)
    return cashier


def refusal(answer: Any) -> tuple[int, str]:
    """Status and code."""
    return answer.status_code, answer.json()["code"]


def test_chips_that_are_named_move_and_no_others(kit: Kit) -> None:
    cashier = opened(kit)
    assert kit.held()["pieces"] == FLOAT
    sold = cashier.ok("buy-ins", {"player": "anna", "amount": 1_500, "pieces": {"500": 1, "100": 10}})
    assert kit.held()["pieces"] == {"1000": 10, "500": 9, "100": 40, "25": 40}
    assert sold["last_event"]["exchanged"] == {"500": 1, "100": 10}
    assert chart.public(kit.house, "MAIN").as_json() == {"500": 1, "100": 10}
    cashier.ok("cash-outs", {"player": "anna", "amount": 700, "pieces": {"500": 1, "100": 2}})
    assert chart.public(kit.house, "MAIN").as_json() == {"100": 8}


def test_chips_that_nobody_names_are_the_largest_that_are_there(kit: Kit) -> None:
    cashier = opened(kit)
    cashier.ok("buy-ins", {"player": "anna", "amount": 11_650})
    assert chart.public(kit.house, "MAIN").as_json() == {"1000": 10, "500": 3, "100": 1, "25": 2}
    # The public has no chip of 5: of a chip of 25 the drawer would have to give change, which it cannot.
    assert refusal(cashier.post("cash-outs", {"player": "anna", "amount": 5})) == (409, "no_exact_change")
    cashier.ok("cash-outs", {"player": "anna", "amount": 200})
    # 100 and two of 25 do not make it: a chip of 500 is changed at the drawer.
    assert chart.public(kit.house, "MAIN").value == 11_450
    assert custody(kit.house)["equal"]


@pytest.mark.parametrize(
    ("pieces", "status", "code"),
    [
        ({"500": 2}, 422, "chips_do_not_add_up"),
        ({"7": 1}, 422, "unknown_denomination"),
        ({"500": -1}, 400, "invalid_request"),
        ({"500": "1"}, 400, "invalid_request"),
        ([500], 400, "invalid_request"),
        ({"1": 500}, 409, "drawer_short"),
    ],
)
def test_wrong_chips_are_refused(kit: Kit, pieces: Any, status: int, code: str) -> None:
    cashier = opened(kit)
    answer = cashier.post("buy-ins", {"player": "anna", "amount": 500, "pieces": pieces})
    assert refusal(answer) == (status, code)
    assert chart.public(kit.house, "MAIN").value == 0


def test_a_drawer_that_cannot_make_an_amount_does_not_say_what_it_has(kit: Kit) -> None:
    answer = opened(kit).post("buy-ins", {"player": "anna", "amount": 501})
    assert refusal(answer) == (409, "no_exact_change")
    assert answer.json()["amount"] == 501 and "available" not in answer.json()


def test_the_public_does_not_bring_chips_that_are_not_out(kit: Kit) -> None:
    cashier = opened(kit)
    cashier.ok("buy-ins", {"player": "anna", "amount": 500, "pieces": {"500": 1}})
    answer = cashier.post("cash-outs", {"player": "anna", "amount": 500, "pieces": {"100": 5}})
    assert refusal(answer) == (409, "chips_not_in_circulation")
    assert answer.json()["missing"] == {"100": 5}


def test_other_chips_of_the_same_worth_are_an_exchange_and_cost_nothing(kit: Kit) -> None:
    cashier = opened(kit)
    cashier.ok("buy-ins", {"player": "anna", "amount": 500, "pieces": {"500": 1}})
    counted = FLOAT | {"500": 10, "100": 45}
    found = kit.close_drawer(cashier, pieces=counted)["last_event"]["reconciliation"]
    assert (found["chip_variance"], found["pieces_variance"]) == (0, {"500": 1, "100": -5})
    assert kit.balance("5210/C1", "2015/C1") == [0, 0]
    assert chart.public(kit.house, "MAIN").as_json() == {"100": 5}
    assert verification(kit.house)["ok"]


def test_a_count_by_denomination_posts_the_difference_in_value(kit: Kit) -> None:
    cashier = opened(kit)
    cashier.ok("buy-ins", {"player": "anna", "amount": 500, "pieces": {"500": 1}})
    counted = FLOAT | {"500": 8, "100": 52}
    found = kit.close_drawer(cashier, pieces=counted)["last_event"]["reconciliation"]
    assert (found["chip_variance"], found["pieces_variance"]) == (-300, {"500": -1, "100": 2})
    assert kit.balance("5210/C1", "2015/C1") == [300, 300]
    assert custody(kit.house) == {"chips_in_circulation": 800, "chip_liability": 800, "equal": True}
    assert verification(kit.house)["ok"]


def test_a_tax_that_the_players_chips_do_not_make_is_changed_at_the_tray(kit: Kit) -> None:
    kit.table()
    dealer = kit.seated()
    assert min(chart.public(kit.house, "MAIN").pieces) == 5_000
    dealer.ok("hands", {"mode": "physical", "button": 4})
    dealer.act(*SAMPLE[:12])
    dealer.act(*SAMPLE[12:])
    assert kit.settle() == ["settled"]
    assert chart.rack(kit.house, "9150/T1", "MAIN").as_json() == {"100": 1, "25": 2, "5": 3}
    assert kit.balance("9130/T1") == sum(value * count for value, count in TRAY.items())
    assert custody(kit.house)["equal"]
    assert verification(kit.house)["ok"]


def test_a_hand_is_not_dealt_where_its_tax_might_not_be_made(kit: Kit) -> None:
    kit.table_for("ferbli", FERBLI, code="T1", seats=4, tray=0)
    dealer = kit.seated()
    answer = dealer.post("hands", {"mode": "physical"})
    assert refusal(answer) == (409, "no_exact_change")
    assert answer.json()["short"] == [1, 5, 25, 100, 500, 1_000]
    kit.table_for("ferbli", FERBLI | {"tax_bps": 0}, code="T2", seats=4, tray=0)
    kit.seated("T2").ok("hands", {"mode": "physical"})


def test_every_chip_is_somewhere_and_the_report_says_where(kit: Kit) -> None:
    kit.table()
    kit.seated()
    found = racks(kit.house)
    assert [(row["value"], row["commissioned"]) for row in found["denominations"]] == sorted(PIECES.items())
    assert all(row["equal"] and row["present"] == row["commissioned"] for row in found["denominations"])
    assert found["racks"]["9130"]["places"]["T1"]["pieces"] == {str(value): TRAY[value] for value in sorted(TRAY)}
    assert found["racks"]["9170"]["value"] == custody(kit.house)["chips_in_circulation"]
    assert kit.office().get("reports/house").json()["chips"] == found


def test_a_house_has_one_chip_set_in_use(kit: Kit) -> None:
    with pytest.raises(Conflict) as caught:
        introduce(house=kit.house, code="MAIN", denominations={1: ""}, actor=ACTOR)
    assert caught.value.code == "chip_set_exists"
    introduce(house=kit.house, code="NEW", denominations={1: ""}, actor=ACTOR)
    assert list(ChipSet.objects.filter(house=kit.house, in_use=True).values_list("code", flat=True)) == ["MAIN"]


def test_denominations_never_change(kit: Kit) -> None:
    held = ChipSet.objects.get(house=kit.house).denominations.first()
    for alias in ("default", "owner"):
        with pytest.raises(Exception, match=r"permission denied|append-only"), transaction.atomic(using=alias):
            connections[alias].cursor().execute("UPDATE chips_denomination SET value = 2 WHERE id = %s", [held.id])


def bare_house(currency: str = "HUF") -> House:
    """A house without chips."""
    return House.objects.create(code=f"B{uuid.uuid4().hex[:12]}", name="Bare", currency=currency)


def test_a_house_whose_chips_cannot_pay_its_tax_sets_up_no_table(live_db: None) -> None:
    house = bare_house()
    introduce(house=house, code="BIG", denominations={25: "", 100: ""}, actor=ACTOR)
    open_vault(house=house, capital=0, chips={25: 100, 100: 100}, actor=ACTOR)
    terms = {
        "game": "ferbli",
        "seats": 4,
        "min_stack": 100,
        "max_stack": 10_000,
        "carryover_on_close": CarryoverOnClose.SPLIT,
    }
    with pytest.raises(HouseError) as caught:
        set_up_table(house=house, code="T1", terms=Terms(options=FERBLI, **terms), actor=ACTOR)
    assert (caught.value.code, caught.value.extra["smallest"]) == ("amount_not_payable", 25)
    untaxed = FERBLI | {"tax_bps": 0}
    with pytest.raises(HouseError) as caught:
        odd = terms | {"min_stack": 110}
        set_up_table(house=house, code="T1", terms=Terms(options=untaxed, **odd), actor=ACTOR)
    assert caught.value.code == "amount_not_payable"
    table = set_up_table(house=house, code="T1", terms=Terms(options=untaxed, **terms), actor=ACTOR)
    stock_tray(table=table, amount=1_000, actor=ACTOR)
    assert chart.rack_value(house, "9130/T1") == 1_000


def test_a_house_that_kept_chips_by_value_is_reported_with_what_it_lacks(live_db: None) -> None:
    house = bare_house()
    specs = [
        AccountSpec("2010/anna", "chips outstanding", "HUF", CREDIT),
        AccountSpec("1020/C1", "drawer cash", "HUF", DEBIT),
        AccountSpec("9170/C1", "public", "HUF.CHIP", DEBIT, None),
        AccountSpec("9199", "commissioned", "HUF.CHIP", CREDIT),
    ]
    with transaction.atomic():
        ids = ensure_accounts(house.id, specs)
        wallet, cash, public, commissioned = (ids[spec.code, spec.commodity] for spec in specs)
        legs = [Leg(cash, 700), Leg(wallet, -700), Leg(public, 700), Leg(commissioned, -700)]
        work = Work(house, ACTOR)
        claim(work, post(house.id, "old", "old", legs, {}).transaction_id)
        record_work(work)
    report = house_report(house)
    assert report["custody"] == {"chips_in_circulation": 700, "chip_liability": 700, "equal": True}
    assert report["chips"]["denominations"] == [
        {"commodity": "HUF.CHIP", "value": 1, "commissioned": 700, "present": 700, "equal": True}
    ]
    with pytest.raises(Conflict) as caught:
        create_drawer(house=house, code="C2", actor=ACTOR)
    assert caught.value.code == "no_chip_set"


def test_money_that_parts_from_chips_is_found_kept_and_cleared(kit: Kit, caplog: pytest.LogCaptureFixture) -> None:
    kit.players("anna", chips=500)
    assert check(kit.house)
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE ledger_account DISABLE TRIGGER USER")
        cursor.execute(
            "UPDATE ledger_account SET balance = balance + 10 WHERE book = %s AND code = '2010/anna'", [kit.house.id]
        )
    try:
        assert [check(kit.house), check(kit.house)] == [False, False]
        assert "do not agree" in caplog.text
        opened_ = Imbalance.objects.get(house=kit.house, cleared_at=None)
        assert opened_.found["custody"]["chip_liability"] == 510
        assert not verification(kit.house)["ok"]
        assert house_report(kit.house)["imbalances"][0]["cleared_at"] is None
        assert not check_custody(str(kit.house.id))
    finally:
        with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
            cursor.execute(
                "UPDATE ledger_account SET balance = balance - 10 WHERE book = %s AND code = '2010/anna'",
                [kit.house.id],
            )
            cursor.execute(_ENABLE)
    assert check(kit.house)
    assert not Imbalance.objects.filter(house=kit.house, cleared_at=None).exists()
    assert check(kit.house)
    found, cleared = Event.objects.filter(chain__house=kit.house, doc__kind__startswith="imbalance.").order_by("id")
    assert (found.doc["kind"], found.doc["actor"], found.doc["role"]) == ("imbalance.found", "worker", "system")
    assert found.doc["data"] == {"check": "custody", "after": opened_.found}
    assert (cleared.doc["kind"], cleared.doc["data"]["before"]) == ("imbalance.cleared", opened_.found)


_ENABLE = """
DO $$ DECLARE found text; BEGIN
    FOR found IN SELECT tgname FROM pg_trigger WHERE tgrelid = 'ledger_account'::regclass AND NOT tgisinternal LOOP
        EXECUTE format('ALTER TABLE ledger_account ENABLE ALWAYS TRIGGER %I', found);
    END LOOP;
END $$
"""
