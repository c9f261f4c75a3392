"""Reads the log of a hand line by line and knows at each point exactly what may be said."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.model import rounds
from tests.model.asking import Asked, Course
from tests.model.cuhhol import third_round_with_cuhhol
from tests.model.ranking import cut
from tests.model.table import Case, Finished, Outcome, Table


def whole_hand(table: Table) -> Course:
    """A hand from the first vizi to the showdown; ends by raising :class:`Finished`."""
    yield from rounds.first_round(table)
    yield from rounds.second_round(table)
    yield from rounds.rest_of_the_deal(table)
    yield from rounds.two_cards_turned_up(table)
    if table.opt.get("cuhhol"):
        yield from third_round_with_cuhhol(table)
    else:
        yield from rounds.third_round(table)
    yield from rounds.showdown(table)


@dataclass(frozen=True)
class Verdict:
    """``wrong``: index of the first wrong line (that of the end, if lines are missing), None for a good log.

    ``offers[i]`` is what might have been said instead of line ``i``; the last of a broken log, what was expected.
    """

    wrong: int | None
    outcome: Outcome | None
    offers: tuple[Asked, ...]


class Referee:
    """Follows one hand."""

    def __init__(self, case: Case) -> None:
        self.table = Table(case)
        self._course = whole_hand(self.table)
        self.outcome: Outcome | None = None
        self.allowed: Asked = next(self._course)

    def accepts(self, line: str) -> bool:
        """Whether the line may come now; if so, the hand goes on."""
        words = line.split(" ")
        if self.outcome or not any(may.fits(words) for may in self.allowed):
            return False
        try:
            self.allowed = self._course.send(words)
        except Finished as end:
            self.outcome, self.allowed = end.outcome, []
        return True


def judge(case: Case, acts: Sequence[str]) -> Verdict:
    """What the referee says of a whole log."""
    referee, offers = Referee(case), []
    for index, line in enumerate(acts):
        offers.append(referee.allowed)
        if not referee.accepts(line):
            return Verdict(index, None, tuple(offers))
    if referee.outcome is None:
        return Verdict(len(acts), None, (*offers, referee.allowed))
    return Verdict(None, referee.outcome, tuple(offers))


def case_of(record: Mapping[str, Any]) -> Case:
    """The case of a decoded record."""
    decks = record.get("decks") or ([record["deck"]] if record.get("deck") else None)
    return Case(
        record["opt"],
        record["stacks"],
        record.get("carry", 0),
        record.get("series") or {},
        [cut(deck) for deck in decks] if decks else None,
    )


def records(text: str) -> list[dict[str, Any]]:
    """The decoded records of a ``.jsonl`` text."""
    return [json.loads(line) for line in text.splitlines()]
