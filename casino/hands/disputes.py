"""Freezing what lies in the middle of a table until somebody has ruled on its hand."""

from casino.bookkeeping import chart
from casino.bookkeeping.accounts import Account
from casino.bookkeeping.postings import posting
from casino.core.write import Work
from casino.hands import postings
from casino.hands.models import Hand


def freeze(hand: Hand, reason: str, work: Work) -> int:
    """Post the pot and the bank of the seats to the disputed pot, if they are not empty; returns the amount in minor
    units. Nothing is paid of it until the floor rules."""
    pot, bank = hand.table.account(Account.POT), hand.table.account(Account.BANK)
    lying = chart.balances(hand.house, [pot, bank])
    amount, places = sum(lying.values()), {"table": hand.table.code}
    if amount:
        work.post(
            key=postings.key(hand, "dispute"),
            kind="hand.disputed",
            postings=[
                posting("disputed", places, amount=lying[pot]),
                posting("bank_disputed", places, amount=lying[bank]),
            ],
            metadata={"hand": hand.name, "reason": reason},
        )
    return amount
