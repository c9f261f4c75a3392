"""Whatever is entered and corrected, in any order: each card lies in one place, and the log with its corrections is
the hand as it stands."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casino.hands import cards as entered_cards
from casino.hands import selectors
from casino.hands.models import Hand, HandLine
from casino.staff.models import Role
from casino.verification.replaying import verify
from tests.casino.hands.test_cards import UNKNOWN_CARDS
from tests.casino.kit import Desk, Kit

#: The lines that deal, by seat and first place.
DEALS = {2: (1, 0), 3: (2, 0), 6: (1, 2), 7: (2, 2)}
#: Few cards, so that they meet; one is of another pack.
CARDS = ("Aa", "Ka", "Oa", "Ua", "Ac")
CODES = {
    "card_known", "card_entered_twice", "card_not_in_pack", "cards_differ", "no_such_entry", "nothing_corrected",
    "card_already_dealt",
}  # fmt: skip

places = st.tuples(st.integers(1, 2), st.integers(0, 3))
cards = st.sampled_from(CARDS)
step = st.one_of(
    st.tuples(st.just("enter"), places, cards),
    st.tuples(st.just("entry"), places, cards),
    st.tuples(st.just("line"), st.sampled_from(sorted(DEALS)), st.tuples(*[st.sampled_from([*CARDS, "??"])] * 2)),
)


def say(dealer: Desk, floor: Desk, kind: str, where: Any, what: Any) -> Any:
    """One entry or correction; the two consoles see each other's version."""
    desk = dealer if kind == "enter" else floor
    desk.version = max(dealer.version, floor.version)
    if kind == "line":
        return desk.post("hand/corrections", {"line": where, "cards": "".join(what), "reason": "a test"})
    card = {"actor": f"p{where[0]}", "index": where[1], "card": what}
    if kind == "enter":
        return desk.post("hand/cards", {"entries": [card]})
    return desk.post("hand/corrections", {"entry": card, "reason": "a test"})


class Model:
    """What lies where, recorded independently: lines by seat and place, and entries beside them."""

    def __init__(self) -> None:
        self.lines: dict[tuple[int, int], str] = {(seat, place): "??" for seat in (1, 2) for place in range(4)}
        self.entries: dict[tuple[int, int], str] = {}

    def after(self, kind: str, where: Any, what: Any) -> "Model | None":
        """The table afterwards; None if it cannot be."""
        found = Model()
        found.lines, found.entries = dict(self.lines), dict(self.entries)
        if kind == "line":
            seat, first = DEALS[where]
            found.lines |= {(seat, first + at): card for at, card in enumerate(what)}
        else:
            found.entries[where] = what
            if (kind == "enter") == (where in self.entries) or (kind == "enter" and self.lines[where] != "??"):
                return None
        return found if found != self and found.possible() else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and (self.lines, self.entries) == (other.lines, other.entries)

    __hash__ = None  # type: ignore[assignment]

    def possible(self) -> bool:
        """Each card once, of the pack, and no line that says something else than an entry."""
        if any(self.lines[place] not in ("??", card) for place, card in self.entries.items()):
            return False
        known = [card for card in (self.lines | self.entries).values() if card != "??"]
        return len(set(known)) == len(known) and "Ac" not in known


@pytest.mark.slow
@pytest.mark.usefixtures("live_db")
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(step, min_size=4, max_size=14))
def test_any_entries_and_corrections_leave_each_card_in_one_place(steps: list[tuple[str, Any, Any]]) -> None:
    kit = Kit.found()
    kit.table()
    dealer = kit.seated(stacks=(5_000, 5_000))
    dealer.ok("hands", {"mode": "physical"})
    dealer.act(*UNKNOWN_CARDS)
    floor = kit.dealer(role=Role.FLOOR)
    hand, model = Hand.objects.get(house=kit.house), Model()
    stored = list(HandLine.objects.filter(hand=hand).order_by("seq").values_list("text", flat=True))
    for kind, where, what in steps:
        answer, expected = say(dealer, floor, kind, where, what), model.after(kind, where, what)
        if expected is None:
            assert answer.status_code == 422, (kind, where, what, answer.text)
            assert answer.json()["code"] in CODES
        else:
            assert answer.status_code == 200, (kind, where, what, answer.text)
            model = expected
        state = selectors.state(hand)
        dealt = {(seat, place): card for seat in (1, 2) for place, card in enumerate(state.cards_of(seat))}
        assert dealt == model.lines
        assert list(state.log) == selectors.log(hand)
        assert entered_cards.entered(hand) == model.entries
    # The lines themselves are as they were written, and all the money is where it was.
    assert list(HandLine.objects.filter(hand=hand).order_by("seq").values_list("text", flat=True)) == stored
    assert list(verify(kit.house)) == []
    kit.close()
