"""The house's report. Amounts are minor units; nothing here writes."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce, Concat

from casino.bookkeeping import books
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import CHART, CHIP_LIABILITIES, CHIPS_OUT, COMMISSIONED, face_value
from casino.cage import selectors as cage
from casino.chips.models import Imbalance
from casino.core import sql
from casino.hands import postings
from casino.hands.models import UNSETTLED, Hand, HandState
from casino.houses.models import House, OutboxMessage
from casino.players.models import Player
from casino.reports import narrowing, waiting
from casino.reports.alarms import ABOUT_PEOPLE, alarms
from casino.tables.models import Table
from ledger import checks
from ledger.models import Account as LedgerAccount
from ledger.models import Entry
from ledger.posting import find

#: Imbalances that the house's report lists at most.
MOST_IMBALANCES = 100


def house_report(house: House, *, blind: bool = False) -> dict[str, Any]:
    """Tables, chips against what is owed for them, trial balance, drawers, open work. Where it is `blind` and a drawer
    has not been counted and closed, without the figures from which the drawer's contents follow; and never with alarms
    about people."""
    withheld = blind and cage.is_any_open(house)
    return {
        "house": house.code,
        "currency": house.currency,
        "tables": tables(house),
        "custody": custody(house),
        "chips": None if withheld else racks(house),
        "imbalances": imbalances(house),
        "alarms": [one.as_json() for one in alarms(house) if not (blind and one.kind in ABOUT_PEOPLE)],
        "trial_balance": None if withheld else trial_balance(house),
        "drawers": [cage.shift(shift) for shift in cage.newest_shifts(house)],
        "open_message_count": OutboxMessage.objects.filter(house=house, done_at=None).count(),
    }


def balances(house: House) -> dict[str, int]:
    """Every money account's balance by code, on its normal side."""
    return dict(LedgerAccount.objects.filter(book=house.id, commodity=house.currency).values_list("code", "balance"))


def tables(house: House) -> list[dict[str, Any]]:
    """Per table: hands settled and ruled on, handle (what seats put in, in those hands), tax, bonuses paid, goodwill
    (what the house bore of rulings), cukassza and bank of the seats outstanding and since when, what waits in the pot,
    cash in the drop box, tips in the tip box."""
    by_code, since = balances(house), waiting.since(house)
    counted = Table.objects.filter(house=house).annotate(
        settled=Count("hands", filter=Q(hands__state=HandState.SETTLED)),
        ruled=Count("hands", filter=Q(hands__state=HandState.RULED)),
        unsettled=Count("hands", filter=Q(hands__state__in=UNSETTLED)),
        staked=Sum("hands__handle", filter=Q(hands__state__in=[HandState.SETTLED, HandState.RULED])),
    )
    return [
        {
            "table": table.code,
            "game": table.game,
            "seat_count": table.seats,
            "state": table.state,
            "settled_count": table.settled,
            "ruled_count": table.ruled,
            "unsettled_count": table.unsettled,
            "handle": table.staked or 0,
            "tax": by_code[table.account(Account.HOUSE_TAX)],
            "fees": by_code[table.account(Account.TABLE_FEES)],
            "bonus": by_code[table.account(Account.BONUS)],
            "goodwill": by_code[table.account(Account.GOODWILL)],
            "cukassza": by_code[table.account(Account.CUKASSZA)],
            "cukassza_since": since.get(table.account(Account.CUKASSZA)),
            "bank": by_code[table.account(Account.BANK)],
            "bank_since": since.get(table.account(Account.BANK)),
            "pot": by_code[table.account(Account.POT)],
            "drop": by_code[table.account(Account.DROP_CASH)],
            "tips": by_code[table.account(Account.TRONC)],
        }
        for table in counted.order_by("code")
    ]


def custody(house: House) -> dict[str, Any]:
    """Chips in public hands against what the house owes for chips: the two must be equal, always."""
    out, liability = 0, 0
    for code, commodity, balance in _accounts(house):
        number = code.split("/", 1)[0]
        if number in CHIPS_OUT:
            out += face_value(commodity) * balance
        elif number in CHIP_LIABILITIES:
            liability += balance
    return {"chips_in_circulation": out, "chip_liability": liability, "equal": out == liability}


def _accounts(house: House) -> list[tuple[str, str, int]]:
    """Code, commodity and balance of every account, as they were at one moment."""
    return list(LedgerAccount.objects.filter(book=house.id).values_list("code", "commodity", "balance"))


def racks(house: House) -> dict[str, Any]:
    """Where the chips are: by kind of place and by place, worth and pieces; and by denomination, pieces there are
    against pieces commissioned. A house that kept custody by value has chips of one minor unit."""
    kinds: dict[str, dict[str, Any]] = {
        kind.number: {"kind": kind.name, "value": 0, "places": {}} for kind in CHART.values() if kind.custody
    }
    commissioned: dict[str, int] = {}
    present: dict[str, int] = {}
    for code, commodity, balance in sorted(_accounts(house), key=lambda account: (account[0], face_value(account[1]))):
        number, _, place = code.partition("/")
        if number not in kinds:
            continue
        value = face_value(commodity)
        kinds[number]["value"] += value * balance
        found = kinds[number]["places"].setdefault(place, {"value": 0, "pieces": {}})
        found["value"] += value * balance
        if balance:
            found["pieces"][str(value)] = found["pieces"].get(str(value), 0) + balance
        side = commissioned if number == COMMISSIONED else present
        side[commodity] = side.get(commodity, 0) + balance
    return {
        "racks": kinds,
        "denominations": [
            {
                "commodity": commodity,
                "value": face_value(commodity),
                "commissioned": commissioned.get(commodity, 0),
                "present": present.get(commodity, 0),
                "equal": commissioned.get(commodity, 0) == present.get(commodity, 0),
            }
            for commodity in sorted(commissioned.keys() | present.keys(), key=lambda name: (face_value(name), name))
        ],
    }


def custody_problems(house: House) -> dict[str, Any]:
    """What is wrong between chips and money, and `where` it arose so far as the entries say; empty when nothing is."""
    sides, lost = custody(house), [row for row in racks(house)["denominations"] if not row["equal"]]
    problems: dict[str, Any] = {} if sides["equal"] else {"custody": sides}
    problems |= {"denominations": lost} if lost else {}
    found = narrowing.where(house) if problems else {}
    return problems | ({"where": found} if found else {})


_TRANSIT = """
WITH held AS (
    SELECT split_part(code, '/', 2) AS place, split_part(commodity, '.', 3) AS value, sum(balance) AS pieces
    FROM ledger_account WHERE book = %s AND code >= '9140/' AND code < '91400' GROUP BY 1, 2
), signed AS (
    SELECT tables_table.code AS place, sent.key AS value, sum(sent.value::bigint) AS pieces
    FROM transfers_transfer JOIN tables_table ON tables_table.id = transfers_transfer.table_id
    CROSS JOIN jsonb_each_text(transfers_transfer.sent) AS sent
    WHERE transfers_transfer.house_id = %s AND transfers_transfer.state IN ('sent', 'declined') GROUP BY 1, 2
)
SELECT place, value, coalesce(held.pieces, 0)::bigint, coalesce(signed.pieces, 0)::bigint
FROM held FULL JOIN signed USING (place, value)
WHERE coalesce(held.pieces, 0) <> coalesce(signed.pieces, 0) ORDER BY place, value
"""


def transit_problems(house: House) -> dict[str, Any]:
    """Chips in transit against the transfers that somebody has signed for and nobody has received, as both are at one
    moment; empty when they are the same."""
    found = [
        {"table": table, "value": value, "in_transit": held, "signed_for": signed}
        for table, value, held, signed in sql.rows(_TRANSIT, [house.id, house.id])
    ]
    return {"transit": found} if found else {}


def imbalances(house: House) -> list[dict[str, Any]]:
    """What the continuous checks have found, the newest first, at most MOST_IMBALANCES."""
    found = Imbalance.objects.filter(house=house).order_by("-id")[:MOST_IMBALANCES]
    return [dict(row) for row in found.values("kind", "found_at", "found", "cleared_at")]


def trial_balance(house: House) -> dict[str, Any]:
    """Debits and credits by kind of account and commodity."""
    return trial_rows(checks.trial_balance(house.id, separator="/"))


def trial_rows(balance: checks.TrialBalance) -> dict[str, Any]:
    """A trial balance as reports show it."""
    return {
        "rows": [
            {
                "commodity": row.commodity,
                "number": row.prefix,
                "kind": row.kind,
                "account_count": row.accounts,
                "debit": row.debit,
                "credit": row.credit,
            }
            for row in sorted(balance.rows, key=lambda row: (row.commodity, row.prefix))
        ],
        "totals": {name: {"debit": debit, "credit": credit} for name, (debit, credit) in balance.totals.items()},
        "balanced": balance.balanced,
    }


#: What verifying counts: the member of the answer and the verifier's word.
def with_chips(players: QuerySet[Player]) -> QuerySet[Player]:
    """These players, each with `held`: the balance of the chips away from the tables, and `deposited`: what lies in the
    deposit, minor units."""
    deposited = Coalesce(Subquery(_account(Account.PLAYER_DEPOSITS).values("balance")), 0)
    return players.annotate(held=Subquery(_account(Account.CHIPS_OUTSTANDING).values("balance")), deposited=deposited)


def with_deposits(players: QuerySet[Player]) -> QuerySet[Player]:
    """Those of the players to whom the house owes a deposit, each with `deposited` (minor units) and `moved_at`, the
    time of its last entry."""
    account = _account(Account.PLAYER_DEPOSITS)
    found = players.annotate(
        deposited=Subquery(account.values("balance")), moved_at=Subquery(account.values("posted_at"))
    )
    return found.filter(deposited__gt=0)


def _account(number: Account) -> QuerySet[LedgerAccount]:
    """A player's own account of this number, within a query of players."""
    code = Concat(Value(f"{number}/"), OuterRef("ref"))
    return LedgerAccount.objects.filter(book=OuterRef("house_id"), code=code, commodity=OuterRef("house__currency"))


def player_chips(player: Player) -> dict[str, Any]:
    """A player of `with_chips` as the report shows it."""
    return {"player": player.ref, "chips": player.held, "deposit": player.deposited}  # type: ignore[attr-defined]


def player_deposit(player: Player) -> dict[str, Any]:
    """A player of `with_deposits` as the list shows it."""
    return {"player": player.ref, "deposit": player.deposited, "moved_at": player.moved_at}  # type: ignore[attr-defined]


def hand_money(hand: Hand) -> dict[str, Any]:
    """What the ledger says a hand did, in the terms of its record."""
    table, moved = hand.table, ledger_moves(hand)
    return {
        "hand": hand.name,
        "state": hand.state,
        "net": [moved.get(table.stack_account(seat["player"]), 0) for seat in hand.seats],
        "tax": moved.get(table.account(Account.HOUSE_TAX), 0),
        "bonus": moved.get(table.account(Account.BONUS), 0),
        "carry_out": hand.carry
        + moved.get(table.account(Account.CUKASSZA), 0)
        + moved.get(table.account(Account.BANK), 0),
    }


def ledger_moves(hand: Hand) -> dict[str, int]:
    """What all ledger transactions of a hand moved, by account code, counted on each account's normal side."""
    posted = postings.keys(hand)
    return _moves(hand, [*posted, *map(books.mirror_key, posted)])


def _moves(hand: Hand, keys: Iterable[str]) -> dict[str, int]:
    rows = (
        Entry.objects.filter(transaction__in=find(hand.house_id, keys).values())
        .values("account__code", "account__normal_side")
        .annotate(total=Sum("amount"))
    )
    return {row["account__code"]: row["total"] * row["account__normal_side"] for row in rows}
