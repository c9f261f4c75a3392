"""What the package of a closed gaming day contains: what the day was, as files of JSON; reports of the catalogue as
CSV and JSON, and as PDF in every language that the house had then; the result of a verification of the house; and a
manifest with the SHA-256 of all of them.

Everything but that result was settled when the day was closed, so that it can be made again, byte by byte, whatever was
booked later: postings of the day's period, the closing snapshot, work that was begun before the next day and has ended,
reports as of the event that closed the day. What is counted later for the day stands among the adjustments of the day
that takes the posting. The verification is made once, and kept in the package; who makes it again takes it from there.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q

from casino.approvals.models import Approval, ApprovalState
from casino.audit.events.house import DayClosed
from casino.audit.models import Event
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.chart import kind_of, set_of
from casino.cage.models import Shift
from casino.cage.readings import z_slip
from casino.days.packages import Made
from casino.hands.models import Hand, HandState
from casino.houses import days, identity
from casino.houses.days import Day, closing_snapshot
from casino.houses.models import House
from casino.reports import days as reports
from casino.reports import package_reports
from casino.reports.frame import as_of
from casino.reports.frame.columns import Type
from casino.reports.frame.report import Checkpoint, compared
from casino.reports.package_reports import Closed
from casino.reports.selectors import trial_rows
from casino.transfers.models import Box, BoxState
from ledger import snapshots
from ledger.models import Entry, SnapshotLine, Transaction

MANIFEST = "manifest.json"
#: The form of the files; another number where their members change.
FORMAT = "day/3"
VERIFICATION = "verification.json"
_VARIANCES = (
    Account.CASH_OVER_SHORT, Account.CHIP_OVER_SHORT, Account.FOREIGN_LOSS, Account.GOODWILL, Account.COUNTERFEITS,
    Account.STAKES_GIVEN_BACK,
)  # fmt: skip
#: What a posting says that it is about.
_ABOUT = ("for_day", "table", "box", "tray_count", "drawer", "shift", "vault_count", "hand", "reason")
#: The earliest moment that a zip archive can name: its bytes do not depend on when it is made.
_DATE = (1980, 1, 1, 0, 0, 0)
_REGULAR_FILE_READABLE_BY_ALL = 0o100644 << 16
_UNIX = 3


def make(house: House, name: str, checkpoint: Mapping[str, Any] | None, verified: Mapping[str, Any]) -> Made:
    """The package of a closed day; the same bytes whenever it is made with the same checkpoint and the same result of a
    verification.

    Raises NotFound for an unknown day, ValueError for one that is open, Busy.
    """
    day = days.get(house, name)
    if day.closed_at is None:
        raise ValueError(f"the gaming day {name} is open")
    event = _closing(house, name)
    closing: dict[str, Any] = event.doc
    known = None if checkpoint is None else Checkpoint(**checkpoint)
    moment = as_of.of_event(house, event.pk, datetime.fromisoformat(closing["at"]), known)
    parts = {path: _text(content) for path, content in _parts(house, day, closing).items()}
    equalities = _equalities(parts)
    languages = identity.languages_at(house, moment.at)
    catalogue = package_reports.parts(Closed(house, day, moment, closing["actor"], languages))
    parts |= catalogue.files | {VERIFICATION: _text(verified)}
    sums = [*equalities, *(one for report in catalogue.reports for one in report["equalities"])]
    manifest = {
        "format": FORMAT,
        "house": house.code,
        "currency": house.currency,
        "currency_exponent": house.currency_exponent,
        "time_zone": house.time_zone,
        "languages": languages,
        **day.as_json(),
        "closed_by": closing["actor"],
        "as_of": moment.as_json(),
        "checkpoint": checkpoint,
        "verified": bool(verified["ok"]),
        "files": [
            {"name": path, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for path, content in sorted(parts.items())
        ],
        "equalities": equalities,
        "reports": catalogue.reports,
        "equality_count": len(sums),
        "broken": [one["equality"] for one in sums if not one["holds"]],
    }
    content = packed(parts | {MANIFEST: _text(manifest)})
    return Made(content, checkpoint, closing["actor"])


def verified_in(content: bytes) -> dict[str, Any]:
    """The result of the verification that is kept in a package."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found: dict[str, Any] = json.loads(archive.read(VERIFICATION))
    return found


def packed(files: Mapping[str, bytes]) -> bytes:
    """A ZIP archive of these files, in the order of their names, not compressed, and of one date and mode."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as made:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system, entry.external_attr = _UNIX, _REGULAR_FILE_READABLE_BY_ALL
            made.writestr(entry, files[name])
    return archive.getvalue()


# --- Parts ----------------------------------------------------------------------------------------------------------


def _parts(house: House, day: Day, closing: Mapping[str, Any]) -> dict[str, Any]:
    """The files of a day by their names, before they are written as JSON."""
    until = _until(house, day)
    shifts = Shift.objects.filter(house=house, opened_at__gte=day.opened_at, opened_at__lt=until)
    return {
        **{
            f"z/{shift.drawer.code}-{shift.number:06}.json": z_slip(shift.drawer, shift.number)
            for shift in shifts.select_related("drawer__house")
        },
        "report.json": _report(house, day),
        "hands.json": _hands(house, day, until),
        "variances.json": _entries(house, Transaction.objects.filter(period__name=day.name), _VARIANCES),
        "boxes.json": _boxes(house, day, until),
        "approvals.json": _approvals(house, day, until),
        "chip_inventory.json": _chips(house, day.name),
        "trial_balance.json": trial_rows(snapshots.trial_balance(house.id, closing_snapshot(day.name), separator="/")),
        "open_items.json": closing["data"]["carried"],
        "adjustments.json": _adjustments(house, day),
    }


def _closing(house: House, name: str) -> Event:
    """The event that closed a day."""
    found: Event = Event.objects.filter(house=house).get(doc__kind=DayClosed.KIND, doc__data__day=name)
    return found


def _until(house: House, day: Day) -> datetime:
    """When the next day was opened, or this one closed: what begins then belongs to another day."""
    assert day.closed_at is not None  # noqa: S101 - `make` has seen it
    later = [other.opened_at for other in days.days(house) if other.name > day.name]
    return min([day.closed_at, *later])


def _report(house: House, day: Day) -> dict[str, Any]:
    """The day's report, without what stands in files of its own; of tables and drawers those that did something, since
    others may be set up later."""
    _, found = reports.report(house, day.name, whole=True)
    for name in ("adjustments", "carried", "trial_balance", "package"):
        found.pop(name, None)
    for name, place in (("tables", "table"), ("drawers", "drawer")):
        found[name] = [row for row in found[name] if any(value for key, value in row.items() if key != place)]
    return found


def _hands(house: House, day: Day, until: datetime) -> list[dict[str, Any]]:
    """The hands that were settled or ruled in the day, and those dealt in it and voided; without the players."""
    posted = Transaction.objects.filter(book=house.id, period__name=day.name).values("id")
    ruled = Q(state=HandState.RULED, settlement__in=posted)
    voided = Q(state=HandState.VOIDED, started_at__gte=day.opened_at, started_at__lt=until)
    found = Hand.objects.filter(reports.settled(house, day) | ruled | voided, house=house).select_related("table")
    return [
        {
            "hand": hand.name,
            "table": hand.table.code,
            "game": hand.game,
            "rules": hand.rules,
            "mode": hand.mode,
            "seat_count": len(hand.seats),
            "state": hand.state,
            "started_at": hand.started_at,
            "ended_at": hand.ended_at,
            "settled_at": hand.settled_at,
            "handle": hand.handle,
            "settlement": hand.settlement,
            "digest": hand.digest,
        }
        for hand in found.order_by("table__code", "number")
    ]


def _boxes(house: House, day: Day, until: datetime) -> list[dict[str, Any]]:
    """The boxes that were received in the day, with what was counted; those that were not are open items."""
    found = Box.objects.filter(
        house=house, state=BoxState.RECEIVED, received_at__gte=day.opened_at, received_at__lt=until
    ).select_related("table", "taken_by", "brought_by", "decided_by", "received_by")  # fmt: skip
    return [
        {
            "box": box.serial,
            "table": box.table.code,
            "kind": box.kind,
            "number": box.number,
            "for_day": box.for_day or None,
            "seal": box.seal,
            "seal_read": box.seal_read,
            "expected_cash": box.expected_cash,
            "expected_pieces": box.expected_pieces,
            "counted_cash": box.counted_cash,
            "counted_pieces": box.counted_pieces,
            "differing_rounds": box.differing_rounds,
            "reason": box.reason,
            "received_at": box.received_at,
            **{
                f"{did}_by": None if person is None else person.login
                for did, person in (
                    ("taken", box.taken_by), ("brought", box.brought_by), ("decided", box.decided_by),
                    ("received", box.received_by),
                )
            },
        }
        for box in found.order_by("serial")
    ]  # fmt: skip


def _approvals(house: House, day: Day, until: datetime) -> list[dict[str, Any]]:
    """The approvals that were used or refused in the day."""
    used = Q(state=ApprovalState.USED, ended_at__gte=day.opened_at, ended_at__lt=until)
    refused = Q(state=ApprovalState.REFUSED, decided_at__gte=day.opened_at, decided_at__lt=until)
    found = (
        Approval.objects.filter(used | refused, house=house)
        .select_related("requested_by", "decided_by")
        .prefetch_related("assents__given_by")
    )
    return [
        {
            "approval": one.number,
            "kind": one.kind,
            "operation": one.operation,
            "amount": one.amount,
            "state": one.state,
            "requested_by": one.requested_by.login,
            "requested_at": one.requested_at,
            "decided_by": None if one.decided_by is None else one.decided_by.login,
            "decided_at": one.decided_at,
            "also_approved": [each.given_by.login for each in one.given() if each.given_by_id != one.decided_by_id],
            "reason": one.reason,
        }
        for one in found.order_by("number")
    ]


def _chips(house: House, name: str) -> list[dict[str, Any]]:
    """By denomination, the pieces in every account of chips, and how many were commissioned, in the closing snapshot;
    `place` is what follows the account's number."""
    lines = SnapshotLine.objects.filter(snapshot__book=house.id, snapshot__name=closing_snapshot(name))
    held = lines.exclude(account__commodity=house.currency).exclude(balance=0)
    places: dict[str, list[dict[str, Any]]] = {}
    for code, commodity, balance in held.order_by("account__commodity", "account__code").values_list(
        "account__code", "account__commodity", "balance"
    ):
        number, _, place = code.partition("/")
        row = {"number": number, "kind": kind_of(code).name, "place": place, "pieces": balance}
        places.setdefault(commodity, []).append(row)
    return [
        {
            "commodity": commodity,
            "commissioned": sum(row["pieces"] for row in rows if row["number"] == Account.COMMISSIONED),
            "places": [row for row in rows if row["number"] != Account.COMMISSIONED],
        }
        for commodity, rows in places.items()
    ]


def _adjustments(house: House, day: Day) -> dict[str, Any]:
    """What the day has taken for other days, and what was booked for it in another day before it was closed."""
    for_another = Transaction.objects.filter(period__name=day.name, metadata__has_key="for_day")
    for_this = Transaction.objects.filter(metadata__for_day=day.name, posted_at__lt=day.closed_at)
    return {
        "of_other_days": _entries(house, for_another.exclude(metadata__for_day=day.name)),
        "of_this_day": _entries(house, for_this.exclude(period__name=day.name)),
    }


def _entries(house: House, transactions: Any, numbers: tuple[Account, ...] = ()) -> list[dict[str, Any]]:
    """The entries of these transactions, of all accounts or of those with these numbers; debits above zero."""
    wanted = Q()
    for number in numbers:
        wanted |= Q(account__code=number) | Q(account__code__startswith=f"{number}/")
    found = Entry.objects.filter(wanted, transaction__in=transactions.filter(book=house.id).values("id"))
    rows = found.order_by("transaction_id", "account__code", "account__commodity").values_list(
        "transaction_id", "transaction__kind", "transaction__period__name", "transaction__posted_at",
        "transaction__metadata", "account__code", "account__commodity", "amount",
    )  # fmt: skip
    return [
        {
            "transaction": number,
            "kind": kind,
            "booked_in": period,
            "posted_at": posted_at,
            **{about: metadata.get(about) for about in _ABOUT},
            "account": code,
            "commodity": commodity,
            "amount": amount,
        }
        for number, kind, period, posted_at, metadata, code, commodity, amount in rows
    ]


def _equalities(parts: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Sums in the files that must be equal."""
    found = {name: json.loads(content) for name, content in parts.items()}
    report, balance = found["report.json"], found["trial_balance.json"]
    booked = sum(row["credit"] - row["debit"] for row in report["accounts"] if row["number"] == Account.HOUSE_TAX)
    sums = [
        ("tax of the tables = change of account 4010", report["turnover"]["tax"], booked, Type.MONEY),
        ("findings of the closing snapshot = none", len(report["snapshot_findings"]), 0, Type.COUNT),
        *(
            (f"debits of {commodity} = credits", total["debit"], total["credit"], _of(commodity))
            for commodity, total in sorted(balance["totals"].items())
        ),
        *(
            (
                f"pieces of {row['commodity']} at all places = commissioned",
                sum(place["pieces"] for place in row["places"]),
                row["commissioned"],
                Type.PIECES,
            )
            for row in found["chip_inventory.json"]
        ),
    ]
    return [compared(*one) for one in sums]


def _of(commodity: str) -> Type:
    """What is counted in a commodity."""
    return Type.PIECES if set_of(commodity) else Type.MONEY


def _text(content: Any) -> bytes:
    return (json.dumps(content, default=_plain, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def _plain(value: Any) -> str:
    """A moment as all answers have it. Raises TypeError for any other value."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    raise TypeError(f"{value!r} is no JSON")
