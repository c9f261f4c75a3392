"""beancount and hledger read the exported books, come to the ledger's balances, and refuse a spoilt export."""

import re
import subprocess
import sys
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from beancount import loader
from beancount.core import data
from beancount.core.account import is_valid
from beancount.core.amount import CURRENCY_RE
from django.db import connections, transaction
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ledger import names, plaintext, posting
from ledger.balances import balance_at
from ledger.errors import InvalidExport, UnknownBook
from ledger.models import Account
from ledger.plaintext import Look
from ledger.posting import CREDIT, DEBIT, AccountSpec, Leg
from tests.ledger import hledger
from tests.ledger.bulk import fill, open_bulk
from tests.ledger.support import OWNER, Row, Shop, backdating, forge, open_shop, run

TRICKY = st.sampled_from(
    ["a", "A", "b", ":", "-", " ", "%", "0", "X", "'", '"', ";", "\n", "\t", "\r", "é", "É", "ß", "\u0131"]
)
CODES = st.one_of(
    st.text(TRICKY, min_size=1, max_size=8),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8),
    st.sampled_from(["cash", "cash:till", "cash:till:1", "Cash", "9130/T1", "CODE#x", "(x)", "[x]", "* x", "=x", "%"]),
).filter(lambda code: not re.search(r"#[0-9]+\Z", code))
"""Codes of accounts: CODE#1 names a lane."""
COMMODITIES = st.one_of(
    st.sampled_from(["EUR", "HUF.MAIN.500", "APPLE", "eur", "E", "1", "TRUE", "X'657572'X", "A_", "/A", "a b", "-"]),
    CODES,
)
Balances = dict[tuple[str, str], int]


# Names --------------------------------------------------------------------------------------------------------------


@given(CODES, st.sampled_from(names.ROOTS), st.booleans())
@example("", names.ASSETS, False)
@example("a::b-:-", names.ASSETS, True)
def test_names_lead_back_to_codes(code: str, root: str, above: bool) -> None:
    bean, journal = names.beancount_account(root, code, above_others=above), names.hledger_account(root, code)
    assert is_valid(bean)
    assert names.beancount_code(bean) == code
    assert names.hledger_code(journal) == code
    assert journal.isprintable()
    assert not re.search(r"  |^ | $|: | :|;", journal)


@given(COMMODITIES)
def test_commodities_lead_back(commodity: str) -> None:
    name = names.beancount_commodity(commodity)
    assert re.fullmatch(CURRENCY_RE, name)
    assert names.beancount_commodity_code(name) == commodity
    assert names.hledger_commodity_code(names.hledger_commodity(commodity).strip('"')) == commodity


@pytest.mark.parametrize(
    ("code", "bean", "journal"),
    [
        ("cash:till", "Assets:Cash:Till", "assets:cash:till"),
        ("Cash", "Assets:Cash-", "assets:Cash"),
        ("9130/T1", "Assets:9130-2f-T1", "assets:9130/T1"),
        ("CODE#12", "Assets:CODE-23-12-", "assets:CODE#12"),
        ("készpénz-1", "Assets:Készpénz--1", "assets:készpénz-1"),
        ("anna b", "Assets:Anna-20-b", "assets:anna b"),
        (" two  spaces;", "Assets:X-0--20-two-20--20-spaces-3b-", "assets:%20two%20%20spaces%3B"),
        ("a:", "Assets:A:X-0-", "assets:a:%"),
    ],
)
def test_names_to_read(code: str, bean: str, journal: str) -> None:
    assert names.beancount_account(names.ASSETS, code) == bean
    assert names.hledger_account(names.ASSETS, code) == journal


@given(st.integers(-(2**63), 2**63), st.integers(0, plaintext.MAX_PLACES))
def test_decimals_are_exact(amount: int, places: int) -> None:
    text = plaintext.decimal(amount, places)
    assert Decimal(text).scaleb(places) == amount
    assert len(text.partition(".")[2]) == places


# What the two programs find ------------------------------------------------------------------------------------------


def booked(book: uuid.UUID, look: Look = plaintext.DEFAULT_LOOK) -> Balances:
    """What the ledger says, debit positive, by root and code, and commodity; without zeros."""
    rows = Account.objects.filter(book=book)
    held: Counter[tuple[str, str]] = Counter()
    for row in rows:
        root = look.roots.get(row.kind, names.ASSETS if row.normal_side == DEBIT else names.LIABILITIES)
        held[f"{root.lower()} {row.code}", row.commodity] += row.normal_side * row.balance
    return {place: balance for place, balance in held.items() if balance}


def in_beancount(text: str, look: Look = plaintext.DEFAULT_LOOK) -> Balances:
    """What beancount adds up, with names led back to codes; it must have no complaint."""
    entries, errors, _ = loader.load_string(text)
    assert errors == []
    held: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for entry in entries:
        for posting_ in entry.postings if isinstance(entry, data.Transaction) else ():
            held[posting_.account, posting_.units.currency] += posting_.units.number
    return {
        (f"{name.partition(':')[0].lower()} {names.beancount_code(name)}", commodity): int(number.scaleb(places))
        for (name, currency), number in held.items()
        for commodity in [names.beancount_commodity_code(currency)]
        for places in [look.decimals.get(commodity, 0)]
        if number
    }


def in_hledger(journal: Path) -> Balances:
    """What hledger adds up, with names led back to codes; it must have no complaint."""
    assert hledger.refusal(journal) == ""
    return {
        (f"{name.partition(':')[0]} {names.hledger_code(name)}", names.hledger_commodity_code(commodity)): balance
        for (name, commodity), balance in hledger.balances(journal).items()
    }


def written(folder: Path, text: str | Iterator[str], name: str = "book") -> Path:
    """A file with the text."""
    path = folder / name
    path.write_text(text if isinstance(text, str) else "".join(text), encoding="utf-8", newline="")
    return path


def bean_check(path: Path) -> str:
    """What `bean-check` has against a file; nothing if all is well."""
    program = Path(sys.executable).with_name("bean-check")
    command = [program, "--no-cache", path]
    checked = subprocess.run(command, capture_output=True, text=True, env=hledger.UTF8, check=False)
    assert (checked.returncode == 0) == (checked.stderr == ""), checked
    return checked.stderr


# Books ---------------------------------------------------------------------------------------------------------------


@st.composite
def books(draw: st.DrawFn) -> tuple[list[AccountSpec], list[tuple[str, str, list[tuple[int, int]]]]]:
    """Accounts, and postings of a kind, a text and legs as (number of the account, amount)."""
    commodities = draw(st.lists(COMMODITIES, min_size=1, max_size=3, unique=True))
    places = st.tuples(CODES, st.sampled_from(commodities))
    specs = [
        AccountSpec(code, draw(st.sampled_from(["asset", "équité", "a, b"])), commodity, draw(SIDES), None)
        for code, commodity in draw(st.lists(places, min_size=2, max_size=8, unique=True))
    ]
    found = []
    for _ in range(draw(st.integers(1, 8))):
        legs: list[tuple[int, int]] = []
        for commodity in draw(st.sets(st.sampled_from(commodities), min_size=1)):
            mine = [number for number, spec in enumerate(specs) if spec.commodity == commodity]
            if len(mine) >= 2:
                parts = draw(st.lists(st.tuples(st.sampled_from(mine), AMOUNTS), min_size=1, max_size=4))
                rest = -sum(amount for _, amount in parts)
                other = draw(st.sampled_from([number for number in mine if number != parts[0][0]]))
                legs += [*parts, (other, rest)] if rest else []
        if len({number for number, _ in legs}) >= 2:
            found.append((draw(CODES), draw(CODES), legs))
    return specs, found


SIDES = st.sampled_from([DEBIT, CREDIT])
AMOUNTS = st.one_of(st.integers(-500, 500), st.integers(-(2**56), 2**56)).filter(bool)


def post_book(specs: Sequence[AccountSpec], postings: Sequence[tuple[str, str, list[tuple[int, int]]]]) -> uuid.UUID:
    """The book, with the first posting reversed."""
    book = uuid.uuid4()
    with transaction.atomic():
        found = posting.ensure_accounts(book, specs)
        ids = [found[spec.code, spec.commodity] for spec in specs]
        for number, (kind, text, legs) in enumerate(postings):
            made = [Leg(ids[account], amount) for account, amount in legs]
            about = {"text": text, "date": "2020-01-01", "list": [1, None]} if number % 2 else {}
            moment = datetime(1999, 12, 31, tzinfo=UTC) if number % 3 else None
            last = posting.post(book, f"{number} {text}", kind, made, about, moment)
            if number == 0:
                posting.reverse(book, "undo", last.transaction_id, {"why": text})
    return book


@pytest.mark.slow
@pytest.mark.usefixtures("live_db")
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(books(), st.integers(0, 3))
def test_both_find_the_balances(
    tmp_path: Path,
    made: tuple[list[AccountSpec], list[tuple[str, str, list[tuple[int, int]]]]],
    places: int,
) -> None:
    book = post_book(*made)
    look = Look('Próba\n"1"; x', {"asset": names.EQUITY}, {spec.commodity: places for spec in made[0][:1]})
    assert in_beancount("".join(plaintext.beancount(book, look=look, daily=bool(places))), look) == booked(book, look)
    assert in_hledger(written(tmp_path, plaintext.hledger(book, look=look))) == booked(book, look)


# Days, limits, closing ----------------------------------------------------------------------------------------------


@pytest.fixture
def ten_days(live_db: None) -> tuple[uuid.UUID, list[int]]:
    """A book with four transactions on each of ten days."""
    book, accounts = open_bulk()
    fill(book, accounts, 0, 39, "6 hours")
    return book, accounts


def test_each_day_is_asserted(ten_days: tuple[uuid.UUID, list[int]], tmp_path: Path) -> None:
    book, _ = ten_days
    plain, daily = "".join(plaintext.beancount(book)), "".join(plaintext.beancount(book, daily=True))
    assert in_beancount(plain) == in_beancount(daily) == booked(book)
    assert (plain.count(" balance "), daily.count(" balance ")) == (4, 40)
    asserted = {entry.date for entry in loader.load_string(daily)[0] if isinstance(entry, data.Balance)}
    assert asserted == {date(2026, 1, day) for day in range(2, 12)}
    assert in_hledger(written(tmp_path, plaintext.hledger(book))) == booked(book)


@pytest.mark.parametrize("hours", [0, 1, 24, 100, 239])
def test_until(ten_days: tuple[uuid.UUID, list[int]], tmp_path: Path, hours: int) -> None:
    """Balances at a moment; accounts that were not there yet are left out."""
    book, accounts = ten_days
    with transaction.atomic():
        posting.open_account(book, "younger", "bulk", "EUR", DEBIT, None)
    until = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hours)
    held = {}
    for account in Account.objects.filter(id__in=accounts):
        balance = balance_at(account.id, until - timedelta(microseconds=1)).balance
        held[f"{'assets' if account.normal_side == DEBIT else 'liabilities'} {account.code}", "EUR"] = (
            balance * account.normal_side
        )
    expected = {place: balance for place, balance in held.items() if balance}
    assert (expected == {}) == (hours == 0)
    journal = "".join(plaintext.hledger(book, until=until))
    assert in_hledger(written(tmp_path, journal)) == expected
    assert in_beancount("".join(plaintext.beancount(book, until=until, daily=True))) == expected
    assert "younger" not in journal
    assert f"; end: {-(-hours // 6)} transactions" in journal


def test_ids_that_are_not_in_the_order_of_days(shop: Shop, tmp_path: Path) -> None:
    """Two postings may take their ids in one order and their times, around midnight, in the other."""
    late, early = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 1, 23, 59, 59, 999999, tzinfo=UTC)
    with backdating():
        forge(shop.book, [Row(shop.till, 1, 5, 5), Row(shop.anna, 1, -5, 5)], posted_at=late)
        forge(shop.book, [Row(shop.stock, 1, 3, 3), Row(shop.sold, 1, -3, -3)], posted_at=early)
        forge(shop.book, [Row(shop.stock, 2, 4, 7), Row(shop.sold, 2, -4, -7)], posted_at=late)
    expected = booked(shop.book)
    assert len(expected) == 4
    assert in_beancount("".join(plaintext.beancount(shop.book, daily=True))) == expected
    assert in_hledger(written(tmp_path, plaintext.hledger(shop.book))) == expected


def test_closing(shop: Shop, tmp_path: Path) -> None:
    """An account closes with its day, one in two commodities when both have; accounts above others stay themselves."""
    specs = [AccountSpec(code, "x", unit, DEBIT) for code in ("a", "a:b") for unit in ("EUR", "APPLE")]
    with transaction.atomic():
        found = posting.ensure_accounts(shop.book, specs)
    shop.post("in", (found["a", "EUR"], 5), (found["a:b", "EUR"], 7), (shop.anna, -12))
    shop.post("out", (found["a", "EUR"], -5), (shop.anna, 5))
    with transaction.atomic():
        for place in (("a", "EUR"), ("a", "APPLE"), ("a:b", "APPLE")):
            posting.close_account(shop.book, found[place])
    text = "".join(plaintext.beancount(shop.book))
    assert in_beancount(text) == booked(shop.book)
    assert re.findall(r"close (.*)", text) == ["Assets:A:Own-0-"]
    assert re.findall(r"open (Assets:A.*)", text) == ["Assets:A:B APPLE , EUR", "Assets:A:Own-0- APPLE , EUR"]
    assert in_hledger(written(tmp_path, plaintext.hledger(shop.book))) == booked(shop.book)


def test_what_is_recorded_of_a_transaction(shop: Shop, tmp_path: Path) -> None:
    first = shop.pay_in('in "1"', shop.anna, 2000)
    with transaction.atomic():
        undone = posting.reverse(
            shop.book, "undo", first.transaction_id, {"why": "x, y"}, datetime(1999, 1, 1, tzinfo=UTC)
        )
    entries, _, options = loader.load_string("".join(plaintext.beancount(shop.book, look=Look('The "Shop"'))))
    assert options["title"] == 'The "Shop"'
    one, other = (entry for entry in entries if isinstance(entry, data.Transaction))
    assert (one.narration, one.meta["key"], one.links) == ("test", 'in "1"', {f"tx-{first.transaction_id}"})
    assert one.meta["posted_at"] == first.posted_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert other.links == {f"tx-{first.transaction_id}", f"tx-{undone.transaction_id}"}
    assert (other.meta["metadata"], other.meta["occurred_at"]) == ('{"why": "x, y"}', "1999-01-01T00:00:00.000000Z")
    (opened,) = (entry for entry in entries if isinstance(entry, data.Open) and entry.account.endswith("Anna"))
    assert (opened.meta["code"], opened.meta["kind"], opened.currencies) == ("deposit:anna", "liability", ["EUR"])

    journal = written(tmp_path, plaintext.hledger(shop.book, look=Look("The\nShop")))
    assert journal.read_text(encoding="utf-8").startswith("; The%0AShop\n")
    found = hledger.hledger("-f", journal, "print", f"tag:reverses=^{first.transaction_id}$", "tag:metadata=why").stdout
    assert f"* ({undone.transaction_id}) reversal" in found
    assert '; metadata:{"why": "x%2C y"}' in found


def test_looks_that_cannot_be(shop: Shop) -> None:
    for look in ({"roots": {"asset": "Treasure"}}, {"decimals": {"EUR": 19}}, {"decimals": {"EUR": -1}}):
        with pytest.raises(InvalidExport):
            Look(**look)  # type: ignore[arg-type]
    with pytest.raises(InvalidExport):
        plaintext.hledger(shop.book, until=datetime(2026, 1, 1))  # noqa: DTZ001
    for export in (plaintext.beancount, plaintext.hledger):
        with pytest.raises(UnknownBook):
            export(uuid.uuid4())


# Spoilt exports -----------------------------------------------------------------------------------------------------

EUROS = Look(decimals={"EUR": 2})


@pytest.fixture
def till(shop: Shop) -> Shop:
    """A book whose payments of 20.00 and 7.50 euros are easy to find."""
    shop.pay_in("one", shop.anna, 2000)
    shop.post("two", (shop.anna, 750), (shop.bela, -750))
    shop.post("three", (shop.anna, 750), (shop.bela, -750))
    return shop


def swapped(block: str) -> str:
    """Anna for Bela, Bela for Anna."""
    pairs = {"Anna": "Bela", "Bela": "Anna", "anna": "bela", "bela": "anna"}
    return re.sub("|".join(pairs), lambda found: pairs[found[0]], block)


EDITS: dict[str, Callable[[str], str]] = {
    "one amount": lambda block: re.sub(r"  7\.50 EUR", "  7.51 EUR", block),
    "both amounts": lambda block: re.sub(r"  (-?)7\.50 EUR", r"  \g<1>7.51 EUR", block),
    "other accounts": swapped,
    "another commodity": lambda block: re.sub(r" (-?)7\.50 EUR", r" \g<1>7 APPLE", block),
    "left out": lambda block: "",
    "twice": lambda block: f"{block}\n\n{block}",
}


@pytest.mark.some_now(3)
@pytest.mark.parametrize("key", ["two", "three"])
@pytest.mark.parametrize("edit", EDITS)
def test_spoilt_exports_are_refused(till: Shop, tmp_path: Path, edit: str, key: str) -> None:
    beans = spoilt("".join(plaintext.beancount(till.book, look=EUROS)), f'key: "{key}"\n', EDITS[edit])
    assert re.search("Balance failed|does not balance", bean_check(written(tmp_path, beans)))
    journal = spoilt("".join(plaintext.hledger(till.book, look=EUROS)), f"key:{key}\n", EDITS[edit])
    assert re.search("balance assertion|could not balance", hledger.refusal(written(tmp_path, journal)))


def spoilt(text: str, mark: str, edit: Callable[[str], str]) -> str:
    """The text with an edit in the one block where the mark is."""
    blocks = text.split("\n\n")
    (place,) = (number for number, block in enumerate(blocks) if mark in block)
    changed = edit(blocks[place])
    assert changed != blocks[place]
    return "\n\n".join([*blocks[:place], changed, *blocks[place + 1 :]])


def test_sound_exports_are_not(till: Shop, tmp_path: Path) -> None:
    assert bean_check(written(tmp_path, plaintext.beancount(till.book, look=EUROS))) == ""
    assert hledger.refusal(written(tmp_path, plaintext.hledger(till.book, look=EUROS))) == ""


def test_damaged_books_are_refused(till: Shop, tmp_path: Path) -> None:
    """The export repeats what the rows claim; its reader finds that the claims do not agree."""
    tables = ("ledger_account", "ledger_entry")
    switched = run(
        OWNER,
        "SELECT tgrelid::regclass::text, CASE tgenabled WHEN 'A' THEN 'ENABLE ALWAYS' ELSE 'ENABLE' END, tgname"
        " FROM pg_trigger WHERE tgrelid::regclass::text = ANY (%s) AND NOT tgisinternal",
        [list(tables)],
    )
    assert len(switched) > 5
    for damage in (
        "UPDATE ledger_account SET balance = balance + 1 WHERE id = %s",
        "UPDATE ledger_entry SET balance_after = balance_after + 1 WHERE account_id = %s AND version = 1",
        "UPDATE ledger_entry SET amount = amount + 1 WHERE account_id = %s AND version = 1",
    ):
        book = open_shop()
        book.pay_in("in", book.anna, 5)
        book.pay_in("in 2", book.anna, 5)
        with transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
            for table in tables:
                cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            cursor.execute(damage, [book.anna])
            for table, enable, trigger in switched:
                cursor.execute(f"ALTER TABLE {table} {enable} TRIGGER {trigger}")
        assert hledger.refusal(written(tmp_path, plaintext.hledger(book.book))) != ""
        refused = bean_check(written(tmp_path, plaintext.beancount(book.book))) != ""
        assert refused == ("balance_after" not in damage)  # beancount is not recorded of balances in between
