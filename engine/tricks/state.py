"""What trick games share: hands that are played out to tricks, face up."""

from __future__ import annotations

from typing import Any, ClassVar

from engine.kernel.hands import HandsState
from engine.kernel.setup import AUDITOR, Setup, Viewer


class TrickState(HandsState):
    """Adds the trick on the table."""

    DRAWS: ClassVar[bool] = False
    """Whether seats draw cards in the course of the deal: then the place of a played card in the pack would reveal when
    it was drawn."""

    __slots__ = ("trick",)

    FRESH: ClassVar[frozenset[str]] = HandsState.FRESH | {"trick"}

    def __init__(self, setup: Setup, rules: Any) -> None:
        super().__init__(setup, rules)
        self.trick: list[tuple[int, str]] = []  # (seat, card) in the order of playing

    def play_position(self) -> tuple[Any, ...]:
        """Adds the trick."""
        return *super().play_position(), tuple(self.trick)

    def dealt_as_seen(self, seat: int, viewer: Viewer) -> list[str]:
        """A seat knows all cards that it was dealt. Others know those it has played; while cards are drawn their
        places would reveal when, so they come with the end."""
        if viewer in (seat, AUDITOR):
            return list(self.dealt_to(seat))
        if self.DRAWS and self.result is None:
            return []
        held = set(self.cards[seat])
        return [card for card in self.dealt_to(seat) if card not in held]

    def view_of_table(self, viewer: Viewer) -> dict[str, object]:
        """The trick as it lies: who has played what, in order."""
        return {"trick": [[f"p{seat}", card] for seat, card in self.trick]}
