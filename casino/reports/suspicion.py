"""A20: a case of suspicion as a file. It is made at once for who asks, kept nowhere, and in no catalogue: neither the
list of reports nor that of runs may say that there is a case."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from casino.evidence import register
from casino.houses.models import House
from casino.reports import at_once
from casino.reports.frame.columns import Row, Type, coded, count, ref, text, time
from casino.reports.frame.report import (
    Equality,
    Format,
    Report,
    Results,
    Retention,
    Scope,
    Section,
    Sensitivity,
)
from casino.staff.models import Role

#: Its sections: name, title, columns.
_CASE = (
    count("case", "Case", total=False), time("opened_at", "Opened at"), ref("opened_by", "Opened by"),
    ref("player", "Player"), text("person", "Person as recorded then"), text("facts", "Facts"),
    text("filed_id", "Filed under"), text("suspended_until", "Suspended until"),
    coded("state", "State"),
)  # fmt: skip
_STEPS = (
    count("entry", "Entry", total=False), time("at", "At"), ref("by", "By"), coded("step", "Step"),
    text("text", "Text"), text("filed_id", "Filed under"), text("day", "Day"),
)  # fmt: skip
_EVIDENCE = (
    count("entry", "Entry", total=False), ref("named", "Hand or entry"), text("chain", "Chain"),
    count("first_seq", "First event", total=False), count("last_seq", "Last event", total=False),
    text("hash", "Hash"), text("video", "Video"),
)  # fmt: skip


def make(house: House, number: int, login: str, language: str) -> tuple[bytes, str]:
    """The PDF of a case or a note for the person of this login in this language, and its SHA-256. Raises NotFound,
    Busy."""
    report = _report(register.whole(house, number))
    return at_once.make(house, report, {"case": str(number)}, at_once.Asked(login, Format.PDF, language))


def _report(found: dict[str, Any]) -> Report:
    def case(scope: Scope) -> Iterator[Row]:
        person = found["person"] or {}
        yield (
            found["case"], _at(found["opened_at"]), found["opened_by"], found["player"] or "",
            "; ".join(f"{name} {value}" for name, value in sorted(person.items())), found["text"], found["filed_id"],
            found["suspended_until"], "note" if found["what"] == "note" else "open" if found["is_open"] else "closed",
        )  # fmt: skip

    def steps(scope: Scope) -> Iterator[Row]:
        for one in found["steps"]:
            yield (
                one["entry"], _at(one["at"]), one["by"], one["step"], one["text"], one["filed_id"], one["day"],
            )  # fmt: skip

    def evidence(scope: Scope) -> Iterator[Row]:
        for entry, items in [(found["case"], found["evidence"])] + [
            (one["entry"], one["evidence"]) for one in found["steps"]
        ]:
            for item in items:
                named = item.get("hand") or f"{item['drawer']} {item['kind']}"
                yield (
                    entry, named, item["chain"], item["first_seq"], item["last_seq"],
                    item.get("record_sha256") or item["leaf_hash"], item["video"],
                )  # fmt: skip

    def equalities(scope: Scope, results: Results) -> Iterator[Equality]:
        yield Equality(
            "steps of the register = steps shown", len(found["steps"]), results["steps"].row_count, Type.COUNT
        )

    return Report(
        id="case",
        number="A20",
        version=1,
        title="Suspicious activity",
        text="One case with its facts, steps and evidence.",
        roles=(Role.COMPLIANCE,),
        sections=(
            Section("case", "Case", _CASE, case),
            Section("steps", "Steps", _STEPS, steps),
            Section("evidence", "Evidence", _EVIDENCE, evidence),
        ),
        equalities=equalities,
        sensitivity=Sensitivity.SEALED,
        retention=Retention.LAUNDERING,
        formats=(Format.PDF,),
    )


def _at(moment: str) -> datetime:
    return datetime.fromisoformat(moment)
