"""What somebody must still count without knowing it, at the moment of a report: open drawers, and a vault in which
something has moved since it was counted last."""

from casino.bookkeeping.accounts import COUNTED_BLIND, VAULT, Account
from casino.reports.frame.movements import events
from casino.reports.frame.reading import fetched
from casino.reports.frame.report import Scope
from casino.reports.frame.trail import place

#: What a cell says whose figure is withheld.
NOTE = "to be counted without knowing it"
_VAULT_MOVED = """
SELECT coalesce(max(noted.event_id), 0) FROM ledger_account account
JOIN ledger_entry entry ON entry.account_id = account.id
JOIN audit_posting noted ON noted.transaction_id = entry.transaction_id
WHERE account.book = %s AND entry.transaction_id <= %s AND noted.event_id <= %s
AND (split_part(account.code, '/', 1) = ANY(%s) AND split_part(account.code, '/', 2) IN ('', 'vault'))
"""
_VAULT_COUNTS = ("vault.counted", "vault.count_decided", "vault.count_signed_off")


def open_drawers(scope: Scope) -> dict[str, int]:
    """Drawers that were open at the moment, with the event that opened each."""
    return scope.once("open drawers", _open_drawers)


def _open_drawers(scope: Scope) -> dict[str, int]:
    found: dict[str, int] = {}
    for event, chain, _, doc in events(scope, ("drawer.opened", "drawer.reopened", "drawer.closed")):
        if doc["kind"] == "drawer.closed":
            found.pop(place(chain), None)
        else:
            found[place(chain)] = event
    return found


def vault_is_counted(scope: Scope) -> bool:
    """Whether nothing has moved in the vault since a count of it was accepted."""
    return scope.once("vault is counted", _vault_is_counted)


def _vault_is_counted(scope: Scope) -> bool:
    accepted = max(
        (
            event
            for event, _, _, doc in events(scope, _VAULT_COUNTS)
            if doc["data"]["vault_count"]["state"] == "accepted"
        ),
        default=0,
    )
    numbers = [str(number) for number in COUNTED_BLIND]
    [(moved,)] = fetched(_VAULT_MOVED, [scope.house.id, scope.as_of.transaction, scope.as_of.event, numbers])
    return bool(accepted and accepted >= moved)


def is_blind(scope: Scope, code: str) -> bool:
    """Whether what lies on an account must be counted without knowing it: by who reads a run that is narrowed so."""
    if not scope.blind:
        return False
    number, _, where = code.partition("/")
    if number in (Account.DROP_CASH, Account.TRANSIT, Account.TRAY, Account.TAX_BOX, Account.TRONC_BOX):
        return True
    if number not in COUNTED_BLIND:
        return False
    return not vault_is_counted(scope) if where in ("", VAULT) else where in open_drawers(scope)
