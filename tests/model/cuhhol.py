"""Cuhhol: no checking in the third round, but a hand may be exposed."""

from __future__ import annotations

from collections.abc import Callable, Generator
from itertools import combinations

from tests.model import asking, payout
from tests.model.asking import Asked, Course, Words, just
from tests.model.ranking import PACK, Strength, beaten_by_any, cut
from tests.model.rounds import asked_in_third_round, betting, place, show, speak, third_bets
from tests.model.table import Table


def third_round_with_cuhhol(table: Table) -> Course:
    """The first active seat bets or exposes its hand."""
    asked = asked_in_third_round(table)
    if not asked:
        return
    first = asked[0]
    said = yield from speak(table, first, lambda: [*third_bets(table, first), exposing(table, first)])
    if said[1] == "rb":
        place(table, first, int(said[2]))
        yield from betting(table, first)
        return
    table.hand[first] = cut(said[2])
    yield from after_cuhhol(table, first)


def exposing(table: Table, seat: int) -> asking.May:
    return asking.show(seat, "cu", 4, lambda cards: table.is_whole_hand(seat, cards))


def after_cuhhol(table: Table, exposed: int) -> Course:
    """A player with nothing higher folds; the first one with a higher hand must bet.

    With table stakes it is the first of them that can bet.
    """
    mark = table.worth(table.hand[exposed])
    for seat in table.others(after=exposed):
        if (yield from is_higher(table, seat, mark)):
            table.claims[seat] = mark
            table.folded.add(exposed)
            table.exposed = [exposed]
        else:
            table.folded.add(seat)
    if not table.claims:
        yield from cuhhkassza(table, table.hand[exposed], mark)
    first = next(iter(table.claims))
    if len(table.claims) == 1:
        yield from show(table, first)
        payout.alone(table, first, "cuhhol")
    for seat in table.claims:
        if bets := third_bets(table, seat):
            said = yield bets
            place(table, seat, int(said[2]))
            yield from betting(table, seat)
            return


def is_higher(table: Table, seat: int, mark: Strength) -> Generator[Asked, Words, bool]:
    """The seat looks at all its cards and says ``k`` (higher) or ``f``: the truth, where it is known."""
    if unseen := table.unseen(seat):
        yield [asking.look(seat, unseen)]
        table.look(seat, unseen)
    truth = may_be_said(table, seat, mark)
    said = yield [just(seat, verb) for verb in ("k", "f") if verb in truth]
    return said[1] == "k"


def may_be_said(table: Table, seat: int, mark: Strength) -> set[str]:
    """``k``, if the seat's hand can be higher than ``mark``; ``f``, if it can be another than a higher one."""
    hand = table.hand[seat]
    if "??" not in hand:
        return {"k" if table.worth(hand) > mark else "f"}
    named = [card for card in dict.fromkeys([*hand, *table.up.get(seat, [])]) if card != "??"]
    rest = [card for card in PACK if card not in table.elsewhere() and card not in named]
    possible = any(table.worth([*named, *more]) > mark for more in combinations(rest, 4 - len(named)))
    return {"k", "f"} if possible else {"f"}


def cuhhkassza(table: Table, exposed: list[str], mark: Strength) -> Course:
    """Everyone gets four cards face up, until a hand is higher than the exposed one."""
    others = [card for card in PACK if card not in exposed]
    number = 0
    if table.case.opt.get("cuhhkassza_vizi", "paid") == "paid":
        for seat in table.seats:
            table.paid[seat] = table.paid[seat] or table.vizi
    if not beaten_by_any(mark, others, table.wild, table.grigare, table.grigare_wild):
        payout.carried(table, "cuhhkassza_left", penalty=False)
    while True:
        number += 1
        yield from redeal(table, number, others)
        best = table.best_of(table.seats)
        if table.worth(table.hand[best]) > mark:
            payout.whole_pot(table, best, "cuhhkassza")
        last = number == table.case.opt.get("redeal_cap", 1000)
        if last or any(table.chips(seat) < table.vizi for seat in table.seats):
            payout.carried(table, "cuhhkassza_left", penalty=False)
        for seat in table.seats:
            table.paid[seat] += table.vizi


def redeal(table: Table, number: int, others: list[str]) -> Course:
    """Four cards face up to every seat of the table, from a pack without the exposed hand."""
    dealt: list[str] = []
    for seat in table.seats:
        said = yield [asking.deal(seat, 4, face_up(table, number, others, list(dealt)))]
        table.hand[seat] = cut(said[3])
        dealt += table.hand[seat]


def face_up(table: Table, number: int, others: list[str], dealt: list[str]) -> Callable[[list[str]], bool]:
    """Whether cards can come after ``dealt`` in that redeal; an unfit pack has none."""

    def right(cards: list[str]) -> bool:
        decks = table.case.decks
        if "??" in cards or decks is None:
            return set(cards) <= set(others) - set(dealt)
        if len(decks) <= number or sorted(decks[number]) != sorted(others):
            return False
        return cards == list(decks[number][len(dealt) : len(dealt) + 4])

    return right
