"""A32: what verifying the house found, against which checkpoints, with which program, and what that does not prove.

A run verifies the house once more, in one pass, so its rows are those of the time at which it was made: from the mark
on that the last verification has kept, where there is one, and whole where there is none. The event that records the
run has the SHA-256 of its files, and is signed with the log: its receipt is the certificate's signature, which
`verify.pyz` checks without the house.
"""

from collections.abc import Iterator

from casino.audit import outside, zipapp
from casino.reports.frame.columns import Row, Type, count, ref, text
from casino.reports.frame.report import Equality, Format, Report, Results, Retention, Scope, Section, Sensitivity
from casino.reports.verifying import verification_from_mark
from casino.staff.models import Role

_VERIFIED = (
    ("chain_count", "chains of events"), ("event_count", "events, each with its place, hash and payload"),
    ("leaf_count", "leaves of the log"), ("checkpoint_count", "signed checkpoints"),
    ("transaction_count", "ledger transactions"), ("hand_count", "hands, replayed by the engine of their version"),
)  # fmt: skip
_FINDINGS = {
    "audit_findings": "audit trail", "hand_findings": "hands", "book_findings": "ledger", "custody_findings": "chips",
}  # fmt: skip
#: Findings of each part that are listed; the rest are counted. Who has so many looks into `manage.py verify_house`.
MOST_LISTED = 1_000
#: What nobody may read into it.
_LIMITS = (
    "That nothing older was altered since it was verified, where a run reads what came since: the date says when all "
    "of it was read.",
    "That what was entered is what happened at the table or in the cage: it proves that nothing was altered since.",
    "Events that are newer than the newest checkpoint are linked by their chains, and not signed yet.",
    "Checkpoints that lie with the house alone could have been written again together with the database: compare them "
    "with copies that others hold, with cosignatures of witnesses or with time stamps.",
    "Times of rows are proved to the minute, the time of a single line of a hand not at all.",
    "What a box should have held is proved once its contents are received.",
    "Names of people behind references and logins are not part of the proof.",
    "Reads that bypass the application, as those of pg_dump, leave no event.",
)


def _rows(scope: Scope) -> Iterator[Row]:
    found = verification_from_mark(scope.house)
    for name, words in _VERIFIED:
        yield "verified", words, found[name], "", 0
    if found["whole_at"] is None:
        yield "verified", "everything, in this run", None, "", 0
    else:
        yield "verified", "everything, in a run before this one", None, found["whole_at"], 0
        yield "verified", "what came since the last verification without a finding", None, found["mark_at"], 0
    for folder in outside.folders():
        yield _held(scope, folder.name, outside.ending(folder, scope.house))
    for name, words in _FINDINGS.items():
        findings = found[name]
        every = list(findings.items()) if isinstance(findings, dict) else [(None, one) for one in findings]
        for key, one in every[:MOST_LISTED]:
            yield "finding", words, None, _said(one if key is None else {"problem": key, "found": one}), 1
        if (rest := len(every) - MOST_LISTED) > 0:
            yield "finding", words, rest, "further findings, which are counted and not listed", rest
    for code, number in sorted(found["audit_findings_by_code"].items()):
        yield "findings by code", code, number, "", 0
    for notice in found["audit_notices"]:
        yield "notice", "audit trail", None, notice, 0
    yield "program", zipapp.FILE, None, f"SHA-256 {zipapp.sha256()}", 0
    for words in _LIMITS:
        yield "does not prove", words, None, "", 0
    yield "result", "nothing was found" if found["ok"] else "SOMETHING WAS FOUND", None, "", 0


def _held(scope: Scope, name: str, ending: outside.Ending | None) -> Row:
    """The newest checkpoint of one folder outside the database."""
    if ending is None or ending.checkpoint is None:
        return "checkpoints held", f"folder {name}", 0, "none", 0
    epoch, size = ending.place
    root = bytes(ending.checkpoint.root).hex()
    return "checkpoints held", f"folder {name}", size, f"epoch {epoch}, {size} leaves, root {root}", 0


def _said(finding: object) -> str:
    if isinstance(finding, dict):
        return "; ".join(f"{name} {value}" for name, value in finding.items() if value not in ("", None))
    return str(finding)


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    yield Equality("findings = none", results["certificate"].totals["finding"], 0, Type.COUNT)


REPORT = Report(
    id="certificate",
    number="A32",
    version=1,
    title="Verification certificate",
    text="What verifying the house finds when the run is made: chains, events, log, checkpoints, ledger, hands, rows; "
    "the checkpoints that it rests on, the program, and what it does not prove. Of each part a thousand findings are "
    "listed, and the rest counted. A run that repeats another one verifies again.",
    roles=(Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "certificate",
            "Certificate",
            (
                text("part", "Part"), text("what", "What"), count("number", "Number", total=False),
                ref("detail", "Detail"), count("finding", "Findings"),
            ),
            _rows,
            groups=("part",),
        ),
    ),
    equalities=_equalities,
    sensitivity=Sensitivity.NO_PERSON,
    retention=Retention.BOOKS,
    formats=(Format.JSON, Format.PDF),
)  # fmt: skip
