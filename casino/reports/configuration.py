"""What a house is, as one value with one digest: what a rehearsal copies, and what three people sign before it goes
live.

The configuration is what people have decided: identity, chip sets, drawers, tables with their terms, templates of
floats and trays, control points in force, and who has which roles. The figures are what lies in vault and trays.
Passwords, sessions and devices are in neither, nor is anything that changes by being used.
"""

from typing import Any

from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.chips import templates
from casino.chips.models import ChipSet
from casino.core import canonical, kept
from casino.houses import control_points, identity
from casino.houses.models import House, Rehearsal
from casino.staff.models import Staff
from casino.tables.models import Table, TableState

_TERMS = (
    "code", "game", "options", "seats", "min_stack", "max_stack", "carryover_on_close", "client_seeds", "time_to_act",
    "seat_fee", "seat_fee_per", "terms_to_come",
)  # fmt: skip


def tables_in_use(house: House) -> list[Table]:
    """Every table that is not retired, by its code."""
    return list(Table.objects.filter(house=house).exclude(state=TableState.RETIRED).order_by("code"))


def drawers_in_use(house: House) -> list[str]:
    """Codes of every drawer that is not retired."""
    return list(house.drawers.filter(retired_at=None).order_by("code").values_list("code", flat=True))


def configuration(house: House) -> dict[str, Any]:
    """What has been decided about the house, as canonical JSON has it; a transaction goes by what it has read first."""
    return kept.once(("configuration", house.pk), lambda: _configuration(house))


def _configuration(house: House) -> dict[str, Any]:
    sets = ChipSet.objects.filter(house=house).order_by("code").prefetch_related("denominations")
    points = control_points.in_force(house)
    drawers, tables = drawers_in_use(house), tables_in_use(house)
    return {
        "identity": identity.parts(house),
        "name": house.name,
        "currency": house.currency,
        "currency_exponent": house.currency_exponent,
        "time_zone": house.time_zone,
        "second_factor_required": house.second_factor_required,
        "chip_sets": [
            {
                "chip_set": one.code,
                "in_use": one.in_use,
                "denominations": {str(kind.value): kind.colour for kind in one.denominations.all()},
            }
            for one in sets
        ],
        "drawers": drawers,
        "tables": [{name: getattr(table, name) for name in _TERMS} for table in tables],
        "templates": _templates(house, {*drawers, *(table.code for table in tables)}),
        "limits": {name: getattr(points, name) for name in control_points.NAMES},
        "people": [
            {"login": login, "roles": sorted(roles)}
            for login, roles in Staff.objects.filter(house=house, is_active=True)
            .order_by("login")
            .values_list("login", "roles")
        ],
    }


def _templates(house: House, codes: set[str]) -> list[dict[str, Any]]:
    """Templates of these places: those in force, and those to come with their beginning."""
    return [
        {
            "kind": row.kind,
            "place": row.place,
            "chip_set": row.chip_set.code,
            "cash": row.cash,
            "pieces": row.pieces,
            "least": row.least,
            "ceiling": row.ceiling,
            "valid_from": None if begun else templates.begins(row),
        }
        for row, begun in templates.agreed(house)
        if row.place in codes
    ]


def figures(house: House) -> dict[str, Any]:
    """What lies in the vault and in the trays, chips by denomination over all sets; and the newest rehearsal. A
    transaction goes by what it has read first."""
    return kept.once(("figures to sign", house.pk), lambda: _figures(house))


def _figures(house: House) -> dict[str, Any]:
    opened = chart.is_open(house, Account.VAULT_CASH)
    codes = {table.code: table.account(Account.TRAY) for table in tables_in_use(house)}
    return {
        "vault_cash": chart.balances(house, [Account.VAULT_CASH])[Account.VAULT_CASH] if opened else 0,
        "vault_chips": _pieces(house, Account.VAULT_CHIPS),
        "trays": {code: _pieces(house, account) for code, account in codes.items()},
        "rehearsal": Rehearsal.objects.filter(house=house).order_by("-number").values_list("number", flat=True).first(),
    }


def to_sign(house: House) -> dict[str, Any]:
    """What three people sign: configuration and figures."""
    return {"configuration": configuration(house), "figures": figures(house)}


def digest(house: House) -> str:
    """SHA-256 of the canonical text of the configuration, 64 hex digits."""
    return canonical.sha256(configuration(house))


def passed(house: House) -> Rehearsal | None:
    """The newest rehearsal, if the configuration of now passed it."""
    newest = Rehearsal.objects.filter(house=house).order_by("-number").first()
    return newest if newest is not None and newest.passed and newest.configuration == digest(house) else None


def _pieces(house: House, code: str) -> dict[str, int]:
    return {str(value): count for value, count in sorted(chart.pieces(house, code).items()) if count}
