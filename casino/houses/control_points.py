"""What a house demands: up to which amounts one person may act and who else is needed above, and what it asks of
sign-ins. All of it is set in dated versions, which are never edited."""

import json
from dataclasses import dataclass, fields
from typing import Any

from casino.core import kept, sql
from casino.houses.models import House


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPoints:
    """Amounts in minor units of the house's currency; 0: always. The last ones are no amounts."""

    #: A float or a replenishment above this needs a manager.
    float_by_manager_above: int
    #: A float or a replenishment above this is refused.
    float_most: int
    #: A drawer's cash above this asks for a skim, and above the second refuses buy-ins.
    skim_above: int
    no_buy_in_above: int
    #: A buy-in or cash-out from this amount on needs a name.
    identity_from: int
    #: Cash from this amount on is in the log of transactions.
    log_floor: int
    #: A buy-in or cash-out from this amount on needs a supervisor, and from the second a manager and compliance.
    exchange_by_supervisor_from: int
    exchange_by_manager_from: int
    #: A drawer's difference is accepted up to this; above it, it is counted again.
    difference_accepted: int
    #: A difference that stays is signed by a supervisor up to this, and above it by a manager.
    difference_by_manager_above: int
    #: A fill or credit from this amount on needs a second approval.
    transfer_approved_from: int
    #: A void needs a manager when the pot is above this, or cards were shown.
    void_by_manager_above: int
    #: A table whose tray is worth more than this opens only with a confirmed opener since its last closing.
    opener_required_above: int
    #: A house's bonus for a 41 from this amount on waits for an approval before the hand is settled.
    bonus_approved_from: int
    #: A person's difference in one count, and a tray's, from this amount on is an alarm; a tray's from the second on is
    #: reported to the authority.
    difference_alarm_from: int
    tray_difference_alarm_from: int
    tray_difference_reported_from: int
    #: Minutes without a request after which a terminal asks for the password.
    idle_minutes_at_tables: int
    idle_minutes_at_drawers: int
    idle_minutes_in_office: int
    #: How many wrong PINs in a row a table's terminal takes; 0: it takes none at all.
    pin_tries: int
    #: 1: people with privileged roles act with a second factor only; 0: a password is enough.
    second_factor_required: int
    #: How many minutes an approval can be decided and used, by the place of the terminal that asked.
    approval_minutes_at_tables: int
    approval_minutes_at_drawers: int
    approval_minutes_in_office: int
    #: Minutes after which a transfer under way is late, and after which it is an exception.
    transfer_late_minutes: int
    transfer_exception_minutes: int
    #: What is an alarm: a dispute and a counted drawer that is not closed after so many minutes, a bag after so many
    #: bank days, chips set aside after so many days, a box that was not counted when so many gaming days have ended, a
    #: vault that was not counted for so many whole gaming days.
    dispute_minutes: int
    drawer_close_minutes: int
    bag_bank_days: int
    set_aside_days: int
    uncounted_box_days: int
    uncounted_vault_days: int
    #: Over how many days differences and approvals are looked at; how many differences of a person in one direction are
    #: an alarm; of the approvals that one of two people asked for, which part they may give each other, and how many
    #: that may be at least.
    alarm_days: int
    differences_of_one_sign: int
    reverse_pair_percent: int
    reverse_pair_least: int
    #: Windows besides the gaming day over which what the same person has paid, or was paid, is added up for the
    #: thresholds; 0: that one is not looked at.
    linked_hours: int
    linked_days: int
    linked_long_days: int
    #: 1: a table closes only with a closer counted; 0: without.
    closer_required: int
    #: 1: a box is taken off a table only with a count of its tray; 0: without.
    box_change_count_required: int
    #: 1: nobody is seated, sold chips, given a key or lets a tip go without having been admitted on the gaming day.
    admission_required: int
    #: After how many hours on seats, and again after as many more, the house says so to a player; 0: never.
    reality_check_hours: int
    #: How many days after a complaint has reached the house it is to be answered.
    complaint_answer_days: int
    #: How many days after a settlement the winnings kept from a minor are to be remitted.
    remittance_days: int
    #: For how many days are kept: books and packages of days; what the rules on money laundering want kept, persons
    #: too; records of operations; files that can be made again. Never fewer than the law wants (BOUNDS).
    retain_books_days: int
    retain_laundering_days: int
    retain_operations_days: int
    retain_transient_days: int
    #: For how many days the answer to a request is kept, which is given again to the same request. Afterwards the same
    #: Idempotency-Key is a new one.
    retain_answers_days: int
    #: 1: in a house of at most MOST_TABLES_OF_SMALL tables, floor and cage supervisor may be one person.
    small_house: int


#: Amounts in whole units of a currency, as card rooms of the euro area have them.
_DEFAULTS = {
    "float_by_manager_above": 10_000,
    "float_most": 20_000,
    "skim_above": 15_000,
    "no_buy_in_above": 30_000,
    "identity_from": 2_000,
    "log_floor": 500,
    "exchange_by_supervisor_from": 5_000,
    "exchange_by_manager_from": 10_000,
    "difference_accepted": 0,
    "difference_by_manager_above": 50,
    "transfer_approved_from": 5_000,
    "void_by_manager_above": 100,
    "opener_required_above": 0,
    "bonus_approved_from": 500,
    "difference_alarm_from": 100,
    "tray_difference_alarm_from": 25,
    "tray_difference_reported_from": 100,
}
#: What is no amount, as a house has it that has set nothing, with its least and its largest value.
_OTHERS = {
    "idle_minutes_at_tables": (15, 1, 60),
    "idle_minutes_at_drawers": (5, 1, 60),
    "idle_minutes_in_office": (15, 1, 60),
    "pin_tries": (3, 0, 5),
    "second_factor_required": (1, 0, 1),
    "approval_minutes_at_tables": (10, 1, 120),
    "approval_minutes_at_drawers": (10, 1, 120),
    "approval_minutes_in_office": (60, 1, 1440),
    "transfer_late_minutes": (15, 1, 1440),
    "transfer_exception_minutes": (30, 1, 1440),
    "dispute_minutes": (60, 1, 1440),
    "drawer_close_minutes": (30, 1, 1440),
    "bag_bank_days": (3, 1, 90),
    "set_aside_days": (90, 1, 3650),
    "uncounted_box_days": (2, 1, 90),
    "uncounted_vault_days": (1, 1, 90),
    "alarm_days": (30, 1, 365),
    "differences_of_one_sign": (3, 2, 100),
    "reverse_pair_percent": (20, 1, 100),
    "reverse_pair_least": (10, 2, 1000),
    "linked_hours": (24, 0, 72),
    "linked_days": (7, 0, 31),
    "linked_long_days": (30, 0, 366),
    "closer_required": (0, 0, 1),
    "box_change_count_required": (0, 0, 1),
    "admission_required": (0, 0, 1),
    "reality_check_hours": (2, 0, 24),
    # Eight weeks is the most that complainants wait.
    "complaint_answer_days": (56, 1, 56),
    # No text of the legal profiles that was read names days: a month, so that it is in the next monthly return. Counsel
    # says whether the law wants it sooner.
    "remittance_days": (30, 1, 365),
    # Least: seven years of 4 CCR 12312(a); five of SI 2017/692 reg. 40(3) and Directive 2015/849; a year; nothing.
    "retain_books_days": (3653, 2557, 36_525),
    "retain_laundering_days": (2922, 1827, 36_525),
    "retain_operations_days": (1096, 365, 36_525),
    "retain_transient_days": (90, 0, 36_525),
    # No law asks for them. A week is longer than any console or program that repeats a request is away.
    "retain_answers_days": (90, 7, 36_525),
    "small_house": (0, 0, 1),
}
#: How many tables a house has at most for which `small_house` counts.
MOST_TABLES_OF_SMALL = 3
#: How many whole units of a currency stand for one euro, roundly.
_PER_EURO = {"HUF": 400}


#: Names of all control points.
NAMES = tuple(one.name for one in fields(ControlPoints))
#: Those that are amounts, and least and largest value of the others.
AMOUNTS = tuple(_DEFAULTS)
BOUNDS = {name: (least, largest) for name, (_, least, largest) in _OTHERS.items()}


def defaults(house: House) -> dict[str, int]:
    """What a house demands that has set nothing, by name; amounts in its minor units. Whether it asks for a second
    factor was said when it was founded."""
    unit = 10**house.currency_exponent * _PER_EURO.get(house.currency, 1)
    amounts = {name: amount * unit for name, amount in _DEFAULTS.items()}
    others = {name: value for name, (value, _, _) in _OTHERS.items()}
    return amounts | others | {"second_factor_required": int(house.second_factor_required)}


_POINTS = """(
    SELECT points FROM houses_limits
    WHERE houses_limits.house_id = houses_house.id AND houses_limits.valid_from <= clock_timestamp()
    ORDER BY houses_limits.valid_from DESC, houses_limits.number DESC LIMIT 1
)"""


def in_sql(name: str, default: str) -> str:
    """SQL for a control point of a house of `houses_house` that is in force; `default`: SQL where it was never set."""
    return f"coalesce(({_POINTS} ->> '{name}')::bigint, {default})"


def default_of(name: str) -> int:
    """What is no amount, in a house that has never set it. Raises KeyError."""
    return _OTHERS[name][0]


_IN_FORCE = """
SELECT points FROM houses_limits WHERE house_id = %s::uuid AND valid_from <= clock_timestamp()
ORDER BY valid_from DESC, number DESC LIMIT 1
"""


def in_force(house: House) -> ControlPoints:
    """What the house demands now: of what it has set the newest that is in force, otherwise the defaults. A transaction
    goes by what was in force when it first asked."""
    return kept.once(_key(house), lambda: _whole(house, sql.bound(*reading(house))))


def reading(house: House) -> sql.Statement:
    """What `in_force` reads, for who reads it with something else; `read` takes what it has found."""
    return sql.Bound(_IN_FORCE, [house.pk])


def read(house: House, found: list[tuple[str]]) -> None:
    """Let the transaction go by what `reading` has found."""
    kept.keep(_key(house), _whole(house, found))


def changed(house: House) -> None:
    """Let the transaction read them again."""
    kept.drop(_key(house))


def _key(house: House) -> tuple[str, Any]:
    return "control points", house.pk


def of(house: House, found: list[tuple[str]]) -> ControlPoints:
    """What the house demands, by what `reading` has found."""
    return kept.once(_key(house), lambda: _whole(house, found))


def _whole(house: House, found: list[tuple[str]]) -> ControlPoints:
    set_ = {name: points for (text,) in found for name, points in json.loads(text).items()}
    return ControlPoints(**defaults(house) | set_)


def has_few_tables(house: House) -> bool:
    """Whether a house has so few tables, retired ones apart, that `small_house` may count."""
    return house.tables.exclude(state="retired").count() <= MOST_TABLES_OF_SMALL


def is_small(house: House) -> bool:
    """Whether `small_house` is in force, and counts."""
    return bool(in_force(house).small_house) and has_few_tables(house)
