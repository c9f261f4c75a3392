"""What a house is, as one value with one digest: what a rehearsal copies, and what three people sign before it goes
live.

The configuration is what people have decided: identity, chip sets, drawers, tables with their terms, templates of
floats and trays, control points in force, and who has which roles. The figures are what lies in vault and trays.
Passwords, sessions and devices are in neither, nor is anything that changes by being used.
"""

from typing import Any

from casino.bookkeeping.accounts import Account
from casino.core import canonical, kept, moments
from casino.houses import control_points, identity
from casino.houses.models import House, Rehearsal
from casino.reports import setting
from casino.reports.setting import Setting
from casino.tables.models import Table

_TERMS = (
    "code", "game", "area", "options", "seats", "min_stack", "max_stack", "carryover_on_close", "client_seeds",
    "time_to_act", "seat_fee", "seat_fee_per", "terms_to_come",
)  # fmt: skip


def tables_in_use(house: House) -> list[Table]:
    """Every table that is not retired, by its code."""
    return list(setting.tables_in_use(house))


def drawers_in_use(house: House) -> list[str]:
    """Codes of every drawer that is not retired."""
    return list(setting.drawers_in_use(house))


def configuration(house: House) -> dict[str, Any]:
    """What has been decided about the house, as canonical JSON has it; a transaction goes by what it has read first."""
    return kept.once(("configuration", house.pk), lambda: _configuration(house, setting.read(house)))


def _configuration(house: House, found: Setting) -> dict[str, Any]:
    points = control_points.in_force(house)
    drawers, tables = found.drawers, found.tables
    return {
        "identity": identity.parts_of(house, found.identity),
        "name": house.name,
        "currency": house.currency,
        "currency_exponent": house.currency_exponent,
        "time_zone": house.time_zone,
        "second_factor_required": house.second_factor_required,
        "chip_sets": [
            {
                "chip_set": one.code,
                "in_use": one.in_use,
                "denominations": {
                    str(kind.value): kind.colour for kind in found.denominations if kind.chip_set_id == one.pk
                },
            }
            for one in found.chip_sets
        ],
        "drawers": drawers,
        "tables": [{name: getattr(table, name) for name in _TERMS} for table in tables],
        "templates": _templates(found, {*drawers, *(table.code for table in tables)}),
        "limits": {name: getattr(points, name) for name in control_points.NAMES},
        "people": [{"login": one.login, "roles": sorted(one.roles)} for one in found.people],
    }


def _templates(found: Setting, codes: set[str]) -> list[dict[str, Any]]:
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
            "valid_from": None if begun else moments.utc(row.valid_from),
        }
        for row, begun in found.templates
        if row.place in codes
    ]


def figures(house: House) -> dict[str, Any]:
    """What lies in the vault and in the trays, chips by denomination over all sets; and the newest rehearsal. A
    transaction goes by what it has read first."""
    return kept.once(("figures to sign", house.pk), lambda: _figures(setting.read(house)))


def _figures(found: Setting) -> dict[str, Any]:
    return {
        "vault_cash": found.lying.get(Account.VAULT_CASH, {}).get(found.house.currency, 0),
        "vault_chips": _pieces(found, Account.VAULT_CHIPS),
        "trays": {table.code: _pieces(found, table.account(Account.TRAY)) for table in found.tables},
        "rehearsal": None if found.rehearsal is None else found.rehearsal.number,
    }


def to_sign(house: House) -> dict[str, Any]:
    """What three people sign: configuration and figures."""
    return {"configuration": configuration(house), "figures": figures(house)}


def digest(house: House) -> str:
    """SHA-256 of the canonical text of the configuration, 64 hex digits."""
    return canonical.sha256(configuration(house))


def passed(house: House) -> Rehearsal | None:
    """The newest rehearsal, if the configuration of now passed it."""
    newest = setting.read(house).rehearsal
    return newest if newest is not None and newest.passed and newest.configuration == digest(house) else None


def _pieces(found: Setting, code: str) -> dict[str, int]:
    return {str(value): count for value, count in sorted(found.pieces(code).items()) if count}
