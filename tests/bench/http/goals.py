"""What an action over HTTP is meant to cost, and whether it does."""

from tests.bench.ledger.goals import Goal

RATIO, WISHED = 0.5, 0.7
WEB_MS, POSTGRES_MS = 75.0, 35.0


def of_ratio(name: str, ratio: float) -> Goal:
    """Actions a second as a share of the bare view's requests a second."""
    return Goal(f"{name}: of the bare view", f">= {RATIO:g} ({WISHED:g})", f"{ratio:.2f} x", ratio >= RATIO)


def of_hand(name: str, milliseconds: dict[str, float]) -> list[Goal]:
    """CPU of a hand, by part; one that was not measured is left out."""
    wanted = {"web": WEB_MS, "PostgreSQL": POSTGRES_MS}
    return [
        Goal(
            f"{name}: CPU a hand, {part}", f"<= {most:g} ms", f"{milliseconds[part]:.0f} ms", milliseconds[part] <= most
        )
        for part, most in wanted.items()
        if part in milliseconds
    ]
