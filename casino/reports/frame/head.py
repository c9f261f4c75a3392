"""What stands at the head of every file of a report."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext

from casino.core.languages import day, local, spoken, word
from casino.reports.frame.report import AsOf, Report


@dataclass(frozen=True, slots=True)
class Proof:
    """What a paper says of the event that proves it: place and leaf hash (64 hex digits), the address of the page that
    checks it, the proof itself as the text of a QR code and as lines."""

    chain: str
    seq: int
    leaf_hash: str
    address: str
    code: str
    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class Paper:
    """A printout: its number in the house, which copy of its document it is (1: the original), its proof."""

    number: int
    copy: int
    proof: Proof


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Whose report it is, what was asked for, by whom and when, and what it is as of. `exponent` is the number of
    decimals of the house's currency, `zone` the house's time zone. `copy`: which paper of one moment it is, 0 where
    nothing is printed; `paper`: a printout, which stands for one document."""

    report: Report
    house: str
    house_name: str
    currency: str
    exponent: int
    zone: str
    filters: Mapping[str, Any]
    group_by: str | None
    requested_by: str
    requested_at: datetime
    as_of: AsOf
    copy: int = 0
    paper: Paper | None = None
    #: Names of the gaming days between the first and the last one that a run asks for; None where it asks for none.
    days: Sequence[str] | None = None

    def as_json(self) -> dict[str, Any]:
        """As files have it."""
        return {
            "report": self.report.id,
            "number": self.report.number,
            "version": self.report.version,
            "title": self.report.title,
            "sensitivity": str(self.report.sensitivity),
            "language": spoken(),
            "house": self.house,
            "house_name": self.house_name,
            "currency": self.currency,
            "currency_exponent": self.exponent,
            "time_zone": self.zone,
            "filters": dict(self.filters),
            "days": None if self.days is None else list(self.days),
            "group_by": self.group_by,
            "requested_by": self.requested_by,
            "requested_at": utc(self.requested_at),
            "as_of": self.as_of.as_json(),
        }

    def mark(self) -> str:
        """What a paper says at its head that is not the original; empty for that, and for what is no paper."""
        copy = self.copy if self.paper is None else self.paper.copy
        return gettext("COPY %(copy)s") % {"copy": copy} if copy > 1 else ""

    def proof(self) -> str:
        """What the QR code of a file says: of a printout the page that checks it; else house, report, ledger
        transaction, checkpoint."""
        if self.paper is not None:
            return self.paper.proof.address
        checkpoint = self.as_of.checkpoint
        log = "" if checkpoint is None else f"{checkpoint.epoch}/{checkpoint.size}/{checkpoint.root}"
        return f"cukassza:{self.house}:{self.report.id}:{self.as_of.transaction}:{log}"

    def lines(self) -> list[tuple[str, str]]:
        """As people read it: labels and words."""
        if self.paper is not None:
            return self._of_paper(self.paper)
        asked = ", ".join(f"{word(name)} {day(str(value))}" for name, value in self.filters.items()) or gettext("none")
        by = {"filters": asked, "column": word(self.group_by or "")}
        report = {
            "number": self.report.number, "title": self.report.title, "version": self.report.version,
            "class": self.report.sensitivity,
        }  # fmt: skip
        as_of = {"transaction": self.as_of.transaction, "at": self._local(self.as_of.at)}
        return [
            (gettext("House"), f"{self.house_name} ({self.house})"),
            (gettext("Report"), gettext("%(number)s %(title)s, version %(version)s, class %(class)s") % report),
            (gettext("Filters"), gettext("%(filters)s; by %(column)s") % by if self.group_by else asked),
            *([] if self.days is None else [(gettext("Gaming days"), _named(self.days))]),
            (gettext("Made for"), f"{self.requested_by}, {self._local(self.requested_at)}"),
            *([(gettext("Paper"), _copy(self.copy))] if self.copy else []),
            (gettext("As of"), gettext("ledger transaction %(transaction)s, %(at)s") % as_of),
            (gettext("Audit log"), self._log()),
            (gettext("Amounts"), self._amounts()),
        ]

    def _log(self) -> str:
        checkpoint = self.as_of.checkpoint
        if checkpoint is None:
            return gettext("no checkpoint yet")
        return gettext("epoch %(epoch)s, %(size)s events, root %(root)s") % asdict(checkpoint)

    def _amounts(self) -> str:
        return gettext("%(currency)s; times %(zone)s") % {"currency": self.currency, "zone": self.zone}

    def _of_paper(self, paper: Paper) -> list[tuple[str, str]]:
        """The same of a printout: for who holds it."""
        proof, filters = paper.proof, self.filters
        named = {"number": paper.number, "copy": _copy(paper.copy)}
        printed = {"at": self._local(self.requested_at), "person": self.requested_by}
        lines = [
            (gettext("House"), f"{self.house_name} ({self.house})"),
            (gettext("Paper"), gettext("no. %(number)s, %(copy)s") % named),
        ]
        if "player" in filters:
            period = {
                "first": day(filters["from"]) if "from" in filters else gettext("the beginning"),
                "last": day(filters["until"]) if "until" in filters else gettext("now"),
            }  # fmt: skip
            lines.append((gettext("Player"), str(filters["player"])))
            lines.append((gettext("Period"), gettext("%(first)s until %(last)s") % period))
        lines += [
            (gettext("As of") if "player" in filters else gettext("Recorded"), self._local(self.as_of.at)),
            (gettext("Printed"), gettext("%(at)s, for %(person)s") % printed),
            (gettext("Event"), f"{proof.chain} #{proof.seq}"),
            (gettext("Hash"), proof.leaf_hash),
        ]
        if self.as_of.checkpoint is not None:
            lines.append((gettext("Audit log"), self._log()))
        return [*lines, (gettext("Amounts"), self._amounts())]

    def _local(self, moment: datetime) -> str:
        return local(moment, self.zone)


def _named(days: Sequence[str]) -> str:
    if not days:
        return gettext("none in this time")
    if len(days) == 1:
        return day(days[0])
    named = {"count": len(days), "first": day(days[0]), "last": day(days[-1])}
    return gettext("%(count)s from %(first)s to %(last)s") % named


def _copy(copy: int) -> str:
    return gettext("original") if copy == 1 else gettext("copy %(copy)s") % {"copy": copy}


def utc(moment: datetime) -> str:
    """A moment as all answers have it."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
