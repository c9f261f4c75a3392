"""The report of one event, as it stands on paper: its facts, its chips by denomination, the sums that must be equal."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from casino.audit.models import Event
from casino.core.errors import Conflict, NotFound, Unprocessable
from casino.hands.models import Hand
from casino.houses.models import House
from casino.reports.frame.columns import Row, Type, money, pieces
from casino.reports.frame.report import (
    Equality,
    Format,
    Report,
    Results,
    Retention,
    Scope,
    Section,
    Sensitivity,
)
from casino.reports.printing import decided
from casino.reports.printing.documents import DECIDED, DOCUMENTS, HANDS, RECEIPTS, Document, Path, found

#: What a paper can be: 80 mm wide, or a page.
FORMS = (Format.SLIP, Format.PDF)


@dataclass(frozen=True, slots=True)
class Printable:
    """An event of which there is a paper: its place, its row and leaf hash, what is recorded, what stands on it."""

    chain: str
    seq: int
    event: int
    leaf_hash: str
    doc: Mapping[str, Any]
    document: Document
    #: What the paper says, by name: the event's data, and of a hand what concerns the player.
    data: Mapping[str, Any]
    #: The player that it is about; empty: nobody by name.
    player: str

    @property
    def name(self) -> str:
        """The name of the document, the same for all of its copies."""
        name = self.document.name(self.chain, self.seq, self.doc["data"])
        of_hand = self.doc["kind"] in {**HANDS, **DECIDED}
        return f"{name}/{self.player}" if of_hand and self.player else name


def printable(house: House, chain: str, seq: int, player: str | None) -> Printable:
    """An event of the house as it is printed; `player`: of a hand, whose receipt it is; without one the slip that the
    house has of a hand which was voided or ruled on.

    Raises NotFound, Conflict no_paper for an event that has no paper, Unprocessable player_of_hand where a hand's
    receipt names no player of it, or another one does.
    """
    rows = Event.objects.filter(house=house, chain__house=house, chain__name=chain, seq=seq)
    row = rows.values_list("id", "leaf_hash", "payload").first()
    if row is None:
        raise NotFound(f"Chain {chain} of this house has no event {seq}.")
    doc = json.loads(row[2])
    document = DOCUMENTS.get(doc["kind"])
    if document is None:
        raise Conflict(f"Events of the kind {doc['kind']} are not printed.", code="no_paper")
    data, whose = doc["data"], found(doc["data"], "player")
    if doc["kind"] in HANDS:
        data = _of_hand(house, data, player)
        whose = player
    elif doc["kind"] in DECIDED:
        data, whose = decided.data_of(house, doc, player), player
    elif player is not None and player != whose:
        raise Unprocessable(f"{chain} #{seq} is not about {player}.", code="player_of_hand")
    return Printable(chain, seq, row[0], row[1], doc, document, data, whose or "")


def _of_hand(house: House, data: Mapping[str, Any], player: str | None) -> dict[str, Any]:
    """What a settled hand came to for one player."""
    hand = Hand.objects.get(house=house, name=data["hand"])
    at = decided.place_of(hand, player)
    result = data["result"]
    return {
        "hand": hand.name, "game": hand.game, "player": player, "seat": hand.seats[at]["seat"], "actor": f"p{at + 1}",
        "net": result["net"][at], "bonus": result["bonus"][at] or None, "handle": hand.handle,
        "tax": result["tax"], "carry": hand.carry or None, "carry_out": result["carry_out"] or None,
        "digest": data["digest"], "all_net": sum(result["net"]), "all_bonus": sum(result["bonus"]),
    }  # fmt: skip


def report_of(one: Printable) -> Report:
    """The report of one event."""
    document = one.document
    columns, paths = zip(*document.facts, strict=True)
    held = [(title, chips) for title, path in document.pieces if (chips := found(one.data, path))]
    chips = Section(
        "chips", "Chips",
        (money("value", "Denomination", total=False), *(pieces(f"p{at}", title) for at, (title, _) in enumerate(held))),
        lambda scope: _pieces([pieces for _, pieces in held]),
    )  # fmt: skip

    tables = [
        Section(name, title, own, partial(_rows, one.data[name]))
        for name, title, own in document.tables
        if one.data.get(name)
    ]

    def facts(scope: Scope) -> Iterator[Row]:
        yield tuple(found(one.data, path) for path in paths)

    def equalities(scope: Scope, results: Results) -> Iterator[Equality]:
        for words, left, right in document.equal:
            yield Equality(words, _sum(one.data, left), _sum(one.data, right), Type.MONEY)

    return Report(
        id="receipt" if one.player or one.doc["kind"] in RECEIPTS else "slip", number="R", version=1,
        title=document.title, text="", roles=document.roles,
        sections=(Section("facts", "What was recorded", columns, facts), *((chips,) if held else ()), *tables),
        equalities=equalities,
        sensitivity=_sensitivity(one), retention=Retention.BOOKS, formats=FORMS,
    )  # fmt: skip


def _sensitivity(one: Printable) -> Sensitivity:
    return Sensitivity.PLAYERS if one.player or one.doc["kind"] in DECIDED else Sensitivity.STAFF


def _rows(rows: Sequence[Row], scope: Scope) -> Iterator[Row]:
    yield from rows


def _pieces(held: Sequence[Mapping[str, int]]) -> Iterator[Row]:
    for value in sorted({int(value) for chips in held for value in chips}, reverse=True):
        yield value, *(chips.get(str(value), 0) for chips in held)


def _sum(data: Mapping[str, Any], paths: Sequence[Path]) -> int:
    """Amounts, and pieces by what they are worth, that paths name."""
    return sum(-_worth(found(data, path[1:])) if path[0] == "-" else _worth(found(data, path)) for path in paths)


def _worth(value: Any) -> int:
    if isinstance(value, Mapping):
        return sum(int(face) * number for face, number in value.items())
    return int(value or 0)
