"""A9b: counts of the vault: by whom, what was found, what was over and short. What was posted is compared with the
ledger."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from casino.bookkeeping.accounts import VAULT, Account
from casino.reports.counts import over_short_later, posted, worth_of
from casino.reports.frame.blind import NOTE
from casino.reports.frame.columns import Row, Type, count, day, money, ref, text, time
from casino.reports.frame.filters import DAYS, DayRange
from casino.reports.frame.movements import events
from casino.reports.frame.report import (
    FIGURES,
    Equality,
    Report,
    Results,
    Retention,
    Scope,
    Section,
    Sensitivity,
)
from casino.reports.frame.trail import DaysOfEvents, at
from casino.staff.models import Role

_VAULT = ("vault.counted", "vault.counts_differed", "vault.count_decided", "vault.count_signed_off")
_SIGNED = "vault.count_signed_off"


def _vault(scope: Scope) -> list[tuple[int, str, datetime, dict[str, Any], str]]:
    return scope.once("vault", _read_vault)


def _read_vault(scope: Scope) -> list[tuple[int, str, datetime, dict[str, Any], str]]:
    """Counts of the vault that have ended or wait to be signed off: newest event, day, when, figures, why."""
    days = DaysOfEvents(scope)
    found: dict[int, tuple[int, str, datetime, dict[str, Any], str]] = {}
    for event, _, _, doc in events(scope, _VAULT):
        part = doc["data"]["vault_count"]
        if part["state"] != "counting":
            found[part["vault_count"]] = event, days.of(event), at(doc), part, doc["data"].get("reason") or ""
    return [one for _, one in sorted(found.items())]


def _vault_rows(scope: Scope) -> Iterator[Row]:
    days, every = DayRange.of(scope), _vault(scope)
    for _, of_day, when, part, reason in every:
        if not days.takes(of_day):
            continue
        shown = not scope.blind or part is not every[-1][3]
        counted, over = part["count"], part["over"]
        counters = sorted({one["by"] for one in part["counts"]})
        yield (
            part["vault_count"], of_day or None, when, part["state"], ", ".join(counters), part["decided_by"],
            part["signed_by"], part["differing_rounds"], counted["cash"] if shown else None,
            worth_of(counted["pieces"]) if shown else None, counted["foreign"] if shown else None, over["cash"],
            worth_of(over["pieces"]), over["foreign"], reason, "" if shown else NOTE,
        )  # fmt: skip


def _equalities(scope: Scope, _results: Results) -> Iterator[Equality]:
    """Chips of other houses are money that others owe."""
    yield from _LATER.equalities(scope)
    days = DayRange.of(scope)
    over = [part["over"] for _, of_day, _, part, _ in _vault(scope) if part["signed_by"] and days.takes(of_day)]
    found, booked = sum(one["cash"] + one["foreign"] for one in over), posted(scope, _SIGNED, Account.CASH_OVER_SHORT)
    yield Equality("cash and chips of others of the vault = 5200 by counts of the vault", found, booked, Type.MONEY)
    found, booked = sum(worth_of(one["pieces"]) for one in over), posted(scope, _SIGNED, Account.CHIP_OVER_SHORT)
    yield Equality("chips of the vault = 5210 by counts of the vault", found, booked, Type.MONEY)


_LATER = over_short_later(lambda _scope: (VAULT,))

REPORT = Report(
    id="vault-counts",
    number="A9b",
    version=3,
    title="Counts of the vault",
    text="Counts of the vault that have ended: by whom, what was found, and what was over and short of cash, chips and "
    "chips of others. A count that two have not made alike shows nothing.",
    roles=(Role.AUDITOR, Role.MANAGER, Role.CAGE_SUPERVISOR),
    blind_roles=(Role.CAGE_SUPERVISOR,),
    sections=(
        Section(
            "vault",
            "Vault",
            (
                count("number", "No.", total=False), day("day", "Gaming day"), time("at", "At"), text("state", "State"),
                text("counted_by", "Counted by"), ref("decided_by", "Decided by"), ref("signed_by", "Signed off by"),
                count("differing_rounds", "Rounds that differed"), money("cash", "Cash", total=False),
                money("chips", "Chips", total=False), money("foreign", "Chips of others", total=False),
                money("cash_over", "Cash over"), money("chips_over", "Chips over"),
                money("foreign_over", "Chips of others over"), text("reason", "Reason"), text("note", "Note"),
            ),
            _vault_rows,
            groups=("day", "state"),
        ),
        _LATER.section(),
    ),
    equalities=_equalities,
    filters=(*DAYS, FIGURES),
    sensitivity=Sensitivity.STAFF,
    retention=Retention.BOOKS,
)  # fmt: skip
