"""What a proof of the ledger reports."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """A promise found broken: `check` is a key of `checks.CHECKS`, or "catalogue"; `subject` an account, transaction,
    commodity or object of the database."""

    check: str
    subject: str
    detail: str
