"""Whom each report of the catalogue names: P0 no person, P1 staff, P2 players by reference, P3 persons, P4 sealed.

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
SEALED = "P4"
"""Never in a package, and no run of it is recorded under its name."""
