"""Deals of trick games in a short notation for people, after the Portable Bridge Notation: ``python -m engine pbn``.

Tags first, each ``[Name "value"]``; then the calls, then the play, a trick a line::

    [Game "rufmariasch"]
    [Deal "R8-000002"]
    [Seats "ann ben cat dan"]
    [Options "unit=10"]
    [Hands "p1:9a7a7lKb p2:Ob9lXaKa p3:9hKhXb7h p4:Ul8aAhOh"]
    [Calls]
    p1 cl Kl
    d dh p1 8hXhAa7b
    [Play]
    p1: Xh {p3 ml KlOl} 9l 7h Uh
    [Net "-100 100 -100 100"]

``Hands`` are the hands as they were dealt first; ``Calls`` every line until the first card is played. A trick begins
with the seat that leads; its cards follow in play order, and where another seat plays, it is named (``p4:8b``). What is
said or dealt meanwhile stands in braces at its place. Nothing is left out: :func:`lines_of` gives the log back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.errors import MalformedRecord
from engine.kernel.grammar import Action, Role
from engine.kernel.hand import Hand
from engine.record.format import Record
from engine.record.replay import replay
from engine.registry import played_by, start


def pbn_of(record: Record) -> str:
    """The deal in the notation. Raises the ``EngineError`` for which replay refuses the record, and
    :class:`MalformedRecord` for a game without tricks."""
    outcome = replay(record)
    if outcome.error is not None:
        raise outcome.error
    hand = start(record.setup())
    if "trick" not in hand.view("public"):
        raise MalformedRecord(f"{record.game} has no tricks", game=record.game)
    return "\n".join(_parts(record, hand, outcome.hand)) + "\n"


def _parts(record: Record, hand: Hand, end: Hand | None) -> Iterator[str]:
    options = " ".join(f"{name}={_value(value)}" for name, value in record.opt.items())
    deals, calls, play = _sections(record)
    tags = {"Game": record.game, "Rules": record.rules, "Deal": record.hand, "Seats": " ".join(record.seats)}
    yield "\n".join(f'[{name} "{value}"]' for name, value in tags.items())
    yield f'[Options "{options}"]'
    hands = " ".join(f"p{action.target}:{''.join(action.cards)}" for action in deals)
    yield f'[Hands "{hands}"]'
    if calls:
        yield "\n".join(["[Calls]", *calls])
    hand.advance_all([*(action.text for action in deals), *calls])
    yield "\n".join(["[Play]", *_tricks(hand, play)])
    result = end.result if end is not None else None
    if result is not None:
        net = " ".join(map(str, result.net))
        yield f'[Result "{result.ending}"]\n[Net "{net}"]'


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _sections(record: Record) -> tuple[list[Action], list[str], list[str]]:
    """The first hands, what follows until a card is played, and the play."""
    grammar = played_by(record.game, record.rules).grammar
    actions = [grammar.parse(line) for line in record.acts]
    roles = [grammar.role(action) for action in actions]
    dealt = next((at for at, role in enumerate(roles) if role is not Role.DEALT), len(roles))
    played = next((at for at, role in enumerate(roles) if role is Role.PLAYED), len(roles))
    texts = [action.text for action in actions]
    return actions[:dealt], texts[dealt:played], texts[played:]


def _tricks(hand: Hand, lines: list[str]) -> Iterator[str]:
    """A line for each trick; what is said or dealt after it stands at its end."""
    row: list[str] = []
    seats, next_seat = hand.setup.seats, 0
    for line in lines:
        action = hand.grammar.parse(line)
        if hand.grammar.role(action) is not Role.PLAYED:
            row.append(f"{{{line}}}")
        else:
            if row and not next_seat:
                yield " ".join(row)
                row = []
            name = f"p{action.actor}:"
            if not next_seat:
                row.append(name)
            row.append(action.cards[0] if action.actor == next_seat or not next_seat else name + action.cards[0])
            next_seat = action.actor % seats + 1
        hand.advance(line)
        if not hand.view("public").get("trick"):
            next_seat = 0
    if row:
        yield " ".join(row)


def lines_of(text: str) -> tuple[str, ...]:
    """The log of a deal in the notation. Raises :class:`MalformedRecord` for what is none."""
    tags = dict(re.findall(r'^\[(\w+) "(.*)"\]$', text, re.MULTILINE))
    parts = re.split(r"^\[(\w+)(?: \".*\")?\]\n?", text, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    if not {"Game", "Hands", "Seats"} <= tags.keys() or "Play" not in sections:
        raise MalformedRecord("a deal in the notation has Game, Seats, Hands and Play", tags=sorted(tags))
    seats = len(tags["Seats"].split())
    dealt = [f"d dh {seat} {cards}" for seat, cards in (hand.split(":") for hand in tags["Hands"].split())]
    calls = sections.get("Calls", "").split("\n")
    play = [line for row in sections["Play"].split("\n") for line in _row(row, seats)]
    return (*dealt, *(call for call in calls if call), *play)


_TOKEN = re.compile(r"\{(?P<said>[^}]*)\}|(?:p(?P<seat>[1-9]): ?)?(?P<card>[A-Z0-9][a-z])(?= |$)")


def _row(row: str, seats: int) -> Iterator[str]:
    """The lines of one trick."""
    at, seat = 0, 0
    while at < len(row):
        token = _TOKEN.match(row, at)
        if token is None or not (token["said"] or token["seat"] or seat):
            raise MalformedRecord(f"{row[at:][:40]!r} is no card of a trick", row=row)
        if token["said"]:
            yield token["said"]
        else:
            seat = int(token["seat"] or seat)
            yield f"p{seat} pl {token['card']}"
            seat = seat % seats + 1
        at = token.end() + 1
