"""The refusals of the ledger: typed errors with a stable `code`.

    LedgerError
    ├── NotAtomic               not_atomic               called outside transaction.atomic
    ├── BookBusy                book_busy                55P03  a lock was not free within lock_timeout
    ├── PostingRefused          the request cannot be posted as it is
    │   ├── Unbalanced              unbalanced               LG001  legs do not sum to zero in a commodity
    │   ├── TooFewLegs              too_few_legs             LG002  fewer than two accounts
    │   ├── ZeroAmount              zero_amount              LG003
    │   ├── InsufficientFunds       insufficient_funds       LG004  an account would fall below its floor
    │   ├── Unbacked                unbacked                 LG019  legs do not weigh zero
    │   ├── PeriodNotOpen           period_not_open          LG020  unknown or closed, or no period of the book is open
    │   ├── AmountOutOfRange        amount_out_of_range      22003  an amount or a balance beyond 2^62 - 1, signed
    │   └── InvalidPosting          invalid_posting          LG018  blank key or kind, text PostgreSQL cannot hold, ...
    ├── AccountError
    │   ├── UnknownAccount          unknown_account          LG006  none such in this book
    │   ├── AccountClosed           account_closed           LG005
    │   ├── AccountDiffers          account_differs          LG012  open already, with other attributes
    │   ├── AccountNotEmpty         account_not_empty        LG013  only an empty account can be closed
    │   ├── AccountHasLanes         account_has_lanes        asked for what only one of its lanes has
    │   └── BalanceDiffers          balance_differs          LG022  an assertion that is not true
    ├── HoldError
    │   ├── UnknownHold             unknown_hold             LG023
    │   └── HoldEnded               hold_ended               LG021  posted, voided or out of time
    ├── KeyReused               key_reused               LG007  the key has posted something else
    ├── ReversalError
    │   ├── UnknownTransaction      unknown_transaction      LG010
    │   ├── AlreadyReversed         already_reversed         LG008
    │   ├── CannotReverseReversal   cannot_reverse_reversal  LG009
    │   └── NotAMirror              not_a_mirror             LG017
    ├── GuardViolation          somebody wrote past ledger.posting
    │   ├── Immutable               immutable                LG014
    │   ├── BrokenChain             broken_chain             LG015
    │   └── TimeReversed            time_reversed            LG016
    ├── UnknownSnapshot         unknown_snapshot         none of this name in this book
    └── ExportError             a book cannot be written out like this
        ├── UnknownBook             unknown_book             no account is in such a book
        └── InvalidExport           invalid_export           an option that no export can follow

Every error carries `message` and `params` (JSON-able: account id and code, balance, needed, ... in minor units).
After one that came from the database the enclosing `atomic` block can only be rolled back.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from django.db import DatabaseError, transaction


class LedgerError(Exception):
    """Base of everything the ledger refuses; the tree is drawn in the module's docstring."""

    code: ClassVar[str] = "ledger_error"

    def __init__(self, message: str, params: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.params: dict[str, Any] = dict(params or {})


class NotAtomic(LedgerError):
    """A write was asked for outside `transaction.atomic`: it could not be undone together with its reasons."""

    code = "not_atomic"


class BookBusy(LedgerError):
    """A lock was not free within `lock_timeout`. Nothing was done; the posting can be tried again."""

    code = "book_busy"


class PostingRefused(LedgerError):
    """The posting cannot be made in this form."""


class Unbalanced(PostingRefused):
    """Legs do not sum to zero in a commodity; params: commodity, sum."""

    code = "unbalanced"


class TooFewLegs(PostingRefused):
    """A transaction needs legs on at least two accounts."""

    code = "too_few_legs"


class ZeroAmount(PostingRefused):
    """A leg moves nothing."""

    code = "zero_amount"


class InsufficientFunds(PostingRefused):
    """An account would fall below its floor; params: account, account_code, commodity, balance,
    held, needed, min_balance."""

    code = "insufficient_funds"


class AmountOutOfRange(PostingRefused):
    """An amount or a resulting balance is beyond 2^62 - 1, either way: sums of two always fit 64 bits."""

    code = "amount_out_of_range"


class Unbacked(PostingRefused):
    """The legs' weights do not cancel: one commodity no longer stands for the other; params: weight."""

    code = "unbacked"


class PeriodNotOpen(PostingRefused):
    """The period is unknown or closed, or none of the book is open; params: period (None: any)."""

    code = "period_not_open"


class InvalidPosting(PostingRefused):
    """A blank key or kind, an amount that is no integer, metadata that is no JSON PostgreSQL can hold."""

    code = "invalid_posting"


class AccountError(LedgerError):
    """An account does not fit the request."""


class UnknownAccount(AccountError):
    """No such account in this book; params: account."""

    code = "unknown_account"


class AccountClosed(AccountError):
    """The account is closed; params: account, account_code."""

    code = "account_closed"


class AccountDiffers(AccountError):
    """The account is open already, with other attributes; params: account, account_code."""

    code = "account_differs"


class AccountNotEmpty(AccountError):
    """Only an empty account can be closed; params: account, account_code, balance."""

    code = "account_not_empty"


class AccountHasLanes(AccountError):
    """An account with lanes has no versions itself: ask its lanes; params: account, lanes (their ids)."""

    code = "account_has_lanes"


class BalanceDiffers(AccountError):
    """An asserted balance is not the account's; params: account, account_code, version, balance, asserted."""

    code = "balance_differs"


class HoldError(LedgerError):
    """A hold cannot be used like this."""


class UnknownHold(HoldError):
    """No such hold in this book; params: key."""

    code = "unknown_hold"


class HoldEnded(HoldError):
    """The hold was posted or voided, or its time ran out; params: key, state, expires_at."""

    code = "hold_ended"


class KeyReused(LedgerError):
    """The idempotency key was used for another posting; params: key, transaction."""

    code = "key_reused"


class ReversalError(LedgerError):
    """A transaction cannot be reversed like this."""


class UnknownTransaction(ReversalError):
    """No such transaction in this book; params: transaction."""

    code = "unknown_transaction"


class AlreadyReversed(ReversalError):
    """A transaction is reversed at most once; params: transaction, by."""

    code = "already_reversed"


class CannotReverseReversal(ReversalError):
    """A reversal is final: post again instead; params: transaction."""

    code = "cannot_reverse_reversal"


class NotAMirror(ReversalError):
    """A reversal whose legs are not the original's with opposite signs."""

    code = "not_a_mirror"


class GuardViolation(LedgerError):
    """A guard trigger stopped a write that did not come through the posting functions."""


class Immutable(GuardViolation):
    """Entries, transactions and the identity of accounts never change and are never deleted."""

    code = "immutable"


class BrokenChain(GuardViolation):
    """A version or a balance that does not continue its account's chain."""

    code = "broken_chain"


class TimeReversed(GuardViolation):
    """A posting earlier than its predecessor on an account or than its own database transaction, or later than now."""

    code = "time_reversed"


class UnknownSnapshot(LedgerError):
    """No such snapshot in this book; params: name."""

    code = "unknown_snapshot"


class ExportError(LedgerError):
    """A book cannot be written out as it was asked for."""


class UnknownBook(ExportError):
    """The book has no accounts; params: book."""

    code = "unknown_book"


class InvalidExport(ExportError):
    """An invalid option of an export: a time without time zone, an unknown root, places out of range."""

    code = "invalid_export"


BY_SQLSTATE: Mapping[str, type[LedgerError]] = {
    "LG001": Unbalanced,
    "LG002": TooFewLegs,
    "LG003": ZeroAmount,
    "LG004": InsufficientFunds,
    "LG005": AccountClosed,
    "LG006": UnknownAccount,
    "LG007": KeyReused,
    "LG008": AlreadyReversed,
    "LG009": CannotReverseReversal,
    "LG010": UnknownTransaction,
    "LG012": AccountDiffers,
    "LG013": AccountNotEmpty,
    "LG014": Immutable,
    "LG015": BrokenChain,
    "LG016": TimeReversed,
    "LG017": NotAMirror,
    "LG018": InvalidPosting,
    "LG019": Unbacked,
    "LG020": PeriodNotOpen,
    "LG021": HoldEnded,
    "LG022": BalanceDiffers,
    "LG023": UnknownHold,
    "55P03": BookBusy,  # lock_not_available
    "22003": AmountOutOfRange,  # numeric_value_out_of_range
    "22P05": InvalidPosting,  # untranslatable_character: \u0000 in metadata
    "22P02": InvalidPosting,  # invalid_text_representation: a lone surrogate in metadata
}

BY_CONSTRAINT: Mapping[str, type[LedgerError]] = {
    "ledger_account_floor": InsufficientFunds,
    "ledger_entry_bounds": AmountOutOfRange,
    "ledger_reserve_moves": AmountOutOfRange,
    "ledger_transaction_named": InvalidPosting,
    "ledger_transaction_metadata": InvalidPosting,
    "ledger_transaction_times": InvalidPosting,
    "ledger_assertion_metadata": InvalidPosting,
    "ledger_period_named": InvalidPosting,
    "ledger_hold_named": InvalidPosting,
    "ledger_hold_postings": InvalidPosting,
    "ledger_snapshot_named": InvalidPosting,
    "ledger_transaction_reverses_key": AlreadyReversed,
}


def typed(error: DatabaseError) -> LedgerError | None:
    """The ledger's name for a database error; None when it is not the ledger's (a lost connection, a deadlock)."""
    cause = error.__cause__
    diag = getattr(cause, "diag", None)
    kind = BY_SQLSTATE.get(getattr(cause, "sqlstate", None) or "")
    if kind is None and diag is not None:
        kind = BY_CONSTRAINT.get(diag.constraint_name or "")
    if kind is None or diag is None:
        return None
    own = (cause is not None and getattr(cause, "sqlstate", "").startswith("LG")) and diag.message_detail
    return kind(diag.message_primary or kind.code, json.loads(diag.message_detail) if own else None)


@contextmanager
def translated(using: str) -> Iterator[None]:
    """Raise the ledger's typed error for a database error inside, and mark the transaction as lost."""
    try:
        yield
    except DatabaseError as error:
        if transaction.get_connection(using).in_atomic_block:
            transaction.set_rollback(True, using=using)
        known = typed(error)
        if known is None:
            raise
        raise known from error
