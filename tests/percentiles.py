"""How measurements are summed up."""

import math
from collections.abc import Sequence


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value that this share of all is not above (nearest rank); 0 where there is none."""
    return ordered[max(math.ceil(len(ordered) * share) - 1, 0)] if ordered else 0.0
