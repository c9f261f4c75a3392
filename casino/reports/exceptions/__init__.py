"""What an auditor must look at, source by source: each knows its rows, how grave they are, where more is to be read,
and how many there are by another way.

A source of a state (a drawer that is still open) says what is so at the moment of the report; one of events says what
has happened in the days that a run asks for. The limits are those of the specification of reports, not the house's
control points: those may change, and a report as of a moment must not."""

from casino.reports.exceptions import money, people, play, proof
from casino.reports.exceptions.source import Found, Severity, Source, denied_again, each_denied, said_of
from casino.reports.frame.denials import FAILED, REFUSED

__all__ = ["SOURCES", "Found", "Severity", "Source"]

SOURCES = (
    Source("imbalance", Severity.HIGH, "", proof.imbalances, proof.open_imbalances),
    Source("chips", Severity.HIGH, "chips", money.chips, money.negative),
    Source("differences_of_one_sign", Severity.HIGH, "variances", money.one_sign, money.runs),
    Source("settling", Severity.HIGH, "disputes", play.settling, play.settling_again),
    Source("cards", Severity.HIGH, "", play.cards, play.cards_again),
    Source("drawer_open", Severity.HIGH, "drawer-counts", money.drawers, money.drawers_again),
    Source("checkpoints", Severity.HIGH, "", proof.checkpoints, proof.checkpoints_again),
    said_of("passkey_cloned", Severity.HIGH, "access-review", "staff.passkey_clone_seen"),
    Source("remittances", Severity.HIGH, "held-money", money.remittances, money.remittances_again),
    Source("failed", Severity.HIGH, "overrides", each_denied(FAILED), denied_again(FAILED)),
    Source("openers", Severity.MEDIUM, "tray-counts", money.openers, money.opener_events),
    Source("transfers", Severity.MEDIUM, "transfers", money.late, money.late_again),
    Source("approvals", Severity.MEDIUM, "approvals", people.approvals, people.approvals_again),
    said_of("locked_out", Severity.MEDIUM, "access-review", "staff.locked_out"),
    Source("after_hours", Severity.MEDIUM, "access-review", people.after_hours, people.after_hours_again),
    Source("persons_read", Severity.MEDIUM, "access-review", people.persons, people.persons_again),
    said_of("sign_in_refused", Severity.LOW, "access-review", "staff.sign_in_refused"),
    Source("refused", Severity.LOW, "overrides", each_denied(REFUSED), denied_again(REFUSED)),
    Source("rights_unused", Severity.LOW, "access-review", people.unused, people.unused_again),
)  # fmt: skip
