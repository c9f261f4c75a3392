"""What a house is set up with, read in one round trip: people, places, chips, templates, what lies where, and what was
said and signed. The checklist and the configuration go by it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from casino.bookkeeping import chart
from casino.bookkeeping import cover as covers
from casino.bookkeeping.accounts import Account
from casino.chips import selectors as chips
from casino.chips import templates
from casino.chips.models import ChipSet, Denomination, Template
from casino.core import kept, sql
from casino.houses import control_points, days, identity
from casino.houses.days import Day
from casino.houses.models import GoLiveSignature, House, Identity, Rehearsal
from casino.staff.models import Staff, Terminal
from casino.tables.models import Table, TableState


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A house as it was read."""

    house: House
    identity: Identity | None
    #: Who is active, by login; and the logins of everybody who ever was.
    people: list[Staff]
    logins: set[str]
    #: Tables and codes of drawers that are not retired, by code.
    tables: list[Table]
    drawers: list[str]
    #: Kind and place of terminals that are not revoked.
    terminals: set[tuple[str, str]]
    chip_sets: list[ChipSet]
    denominations: list[Denomination]
    #: Versions of templates that are in force or to come, and whether each has begun.
    templates: list[tuple[Template, bool]]
    #: Whether the house has cash in a vault, and what lies there and in trays, by account code and commodity.
    vault_open: bool
    lying: Mapping[str, Mapping[str, int]]
    cover: covers.Cover
    #: The newest rehearsal, and signatures, the newest first.
    rehearsal: Rehearsal | None
    signatures: list[GoLiveSignature]
    days: list[Day]
    now: datetime

    def pieces(self, code: str) -> dict[int, int]:
        """The chips in vault or tray, of all sets together, by denomination."""
        found: dict[int, int] = {}
        for commodity, held in self.lying.get(code, {}).items():
            found[chart.face_value(commodity)] = found.get(chart.face_value(commodity), 0) + held
        return found


def read(house: House) -> Setting:
    """What the house is set up with; a transaction goes by what it has read first."""
    return kept.once(("setting", house.pk), lambda: _read(house))


def tables_in_use(house: House) -> Any:
    """Every table that is not retired, by its code."""
    return Table.objects.filter(house=house).exclude(state=TableState.RETIRED).order_by("code")


def drawers_in_use(house: House) -> Any:
    """Codes of every drawer that is not retired."""
    return house.drawers.filter(retired_at=None).order_by("code").values_list("code", flat=True)


_LYING = (Account.TRAY, Account.VAULT_CHIPS, Account.VAULT_CASH)


def _read(house: House) -> Setting:
    (
        identities, people, logins, tables, drawers, terminals, in_use, sets, denominations, agreed, points, opened,
        lying, covering, rehearsals, signatures, periods, taken, [(now,)],
    ) = sql.together(
        identity.newest_of(house),
        Staff.objects.filter(house=house, is_active=True).order_by("login"),
        Staff.objects.filter(house=house).values_list("login", flat=True),
        tables_in_use(house),
        drawers_in_use(house),
        Terminal.objects.filter(house=house, revoked_at=None).values_list("kind", "location"),
        chips.reading(house),
        ChipSet.objects.filter(house=house).order_by("code"),
        Denomination.objects.filter(chip_set__house=house).order_by("value"),
        templates.agreeing(house),
        control_points.reading(house),
        chart.of_code(house, Account.VAULT_CASH),
        chart.lying_in_places(house, _LYING),
        covers.reading(house),
        Rehearsal.objects.filter(house=house).order_by("-number")[:1],
        GoLiveSignature.objects.filter(house=house).order_by("-number"),
        *days.reading(house),
        sql.DATABASE_TIME,
    )  # fmt: skip
    chips.read(house, in_use)
    control_points.read(house, points)
    for table in tables:
        table.house = house
    return Setting(
        house=house, identity=next(iter(identities), None), people=people, logins=set(logins), tables=tables,
        drawers=drawers, terminals=set(terminals), chip_sets=sets, denominations=denominations,
        templates=templates.agreed_of(agreed), vault_open=bool(opened), lying=chart.by_code(lying),
        cover=covers.of(covering), rehearsal=next(iter(rehearsals), None), signatures=signatures,
        days=days.of(periods, taken), now=now,
    )  # fmt: skip
