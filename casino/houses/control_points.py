"""What a house demands by amount: up to which amounts one person may act, and who else is needed above."""

from dataclasses import dataclass, fields

from casino.houses.models import ClockTimestamp, House, Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPoints:
    """Amounts in minor units of the house's currency; 0: always."""

    #: A float or a replenishment above this needs a manager.
    float_by_manager_above: int
    #: A drawer's cash above this asks for a skim, and above the second refuses buy-ins.
    skim_above: int
    no_buy_in_above: int
    #: A buy-in or cash-out from this amount on needs a name.
    identity_from: int
    #: A buy-in or cash-out from this amount on needs a supervisor, and from the second a manager.
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


#: Amounts in whole units of a currency, as card rooms of the euro area have them.
_DEFAULTS = {
    "float_by_manager_above": 10_000,
    "skim_above": 15_000,
    "no_buy_in_above": 30_000,
    "identity_from": 2_000,
    "exchange_by_supervisor_from": 5_000,
    "exchange_by_manager_from": 10_000,
    "difference_accepted": 0,
    "difference_by_manager_above": 50,
    "transfer_approved_from": 5_000,
    "void_by_manager_above": 100,
    "opener_required_above": 0,
    "bonus_approved_from": 500,
}
#: How many whole units of a currency stand for one euro, roundly.
_PER_EURO = {"HUF": 400}


#: Names of all control points.
NAMES = tuple(one.name for one in fields(ControlPoints))


def defaults(house: House) -> dict[str, int]:
    """What a house demands that has set nothing, by name, in its minor units."""
    unit = 10**house.currency_exponent * _PER_EURO.get(house.currency, 1)
    return {name: amount * unit for name, amount in _DEFAULTS.items()}


def in_force(house: House) -> ControlPoints:
    """What the house demands now: of what it has set the newest that is in force, otherwise the defaults."""
    found = Limits.objects.filter(house=house, valid_from__lte=ClockTimestamp()).order_by("-valid_from", "-number")
    return ControlPoints(**defaults(house) | (found.values_list("points", flat=True).first() or {}))
