"""Whom each report of the catalogue names (P0 no person, P1 staff, P2 players by reference, P3 persons, P4 sealed), and
which roles read it.

Written here a second time, apart from the catalogue, and compared with it by a test: a file that says another class
was given to people who may not have it, or may be.
"""

#: Classes of reports by their ids.
CLASSES: dict[str, str] = {
    **dict.fromkeys(
        (
            "daily-revenue", "chips", "carried-pots", "serial-gaps", "certificate", "trial-balance",
        ),
        "P0",
    ),
    **dict.fromkeys(
        (
            "x-readings", "z-slips", "cage-summary", "table-result", "tray-counts", "vault-counts", "drawer-counts",
            "transfers", "soft-count", "tronc", "variances", "approvals",
            "staff-changes", "access-review", "duty-return",
        ),
        "P1",
    ),
    **dict.fromkeys(
        (
            "drawer-history", "tax-check", "player-activity", "player-statement", "overrides", "exceptions",
            "hand-history", "deal-statistics", "held-money", "disputes",
        ),
        "P2",
    ),
    **dict.fromkeys(
        (
            "threshold-transactions", "linked-transactions", "transaction-log", "exclusions",
        ),
        "P3",
    ),
}  # fmt: skip
#: The roles that read each report, and the package of a day.
READERS: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        (
            "daily-revenue", "chips", "certificate", "trial-balance", "table-result", "approvals", "duty-return",
            "package",
        ),
        frozenset(("auditor", "manager")),
    ),
    **dict.fromkeys(
        (
            "carried-pots", "tray-counts", "overrides", "hand-history",
        ),
        frozenset(("auditor", "floor", "manager")),
    ),
    **dict.fromkeys(
        (
            "serial-gaps", "access-review", "tax-check", "exceptions", "deal-statistics",
        ),
        frozenset(("auditor",)),
    ),
    **dict.fromkeys(
        (
            "x-readings", "z-slips", "cage-summary", "vault-counts", "drawer-counts", "variances", "drawer-history",
        ),
        frozenset(("auditor", "cage_supervisor", "manager")),
    ),
    **dict.fromkeys(
        (
            "transfers",
        ),
        frozenset(("auditor", "cage_supervisor", "floor", "manager")),
    ),
    **dict.fromkeys(
        (
            "soft-count",
        ),
        frozenset(("auditor", "cage_supervisor", "count", "manager")),
    ),
    **dict.fromkeys(
        (
            "tronc",
        ),
        frozenset(("auditor", "delegate", "manager")),
    ),
    **dict.fromkeys(
        (
            "staff-changes",
        ),
        frozenset(("admin", "auditor")),
    ),
    **dict.fromkeys(
        (
            "player-activity", "held-money",
        ),
        frozenset(("auditor", "compliance", "manager")),
    ),
    **dict.fromkeys(
        (
            "player-statement",
        ),
        frozenset(("auditor", "compliance")),
    ),
    **dict.fromkeys(
        (
            "disputes",
        ),
        frozenset(("auditor", "compliance", "floor", "manager")),
    ),
    **dict.fromkeys(
        (
            "threshold-transactions", "linked-transactions", "exclusions",
        ),
        frozenset(("compliance",)),
    ),
    **dict.fromkeys(
        (
            "transaction-log",
        ),
        frozenset(("cage_supervisor", "compliance")),
    ),
}  # fmt: skip
#: Reports whose files are kept for so many days more than those on money laundering are.
KEPT_LONGER: dict[str, int] = {"exclusions": 1827}
SEALED = "P4"
"""Never in a package, and no run of it is recorded under its name."""
