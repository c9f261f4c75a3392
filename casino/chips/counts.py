"""What a count of chips found over or short, as events of the books."""

from casino.bookkeeping.postings import Posting, posting
from casino.core.denominations import Chips


def chip_variance(rack: str, place: str, variance: Chips) -> list[Posting]:
    """The chips that a count of `rack` (an account code) found over or, below zero, short; `place` bears the
    difference in value. Other chips of the same worth are an exchange with the public and cost nothing."""
    return [
        posting(
            "chip_over" if variance.value > 0 else "chip_short",
            {"place": place, "rack": rack},
            amount=abs(variance.value),
            missing=variance.shortage,
            surplus=variance.surplus,
        )
    ]
