"""Deciding on a hand: both readings by seat, and what was typed as the body of a decision.

What is allowed is for the operations to say; here it is only turned into their bodies.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext_noop

from casino.console.forms import Unreadable
from casino.console.money import Money

#: Rows for what seats give each other.
PAIRS = 3
_LINE = re.compile(r"\s*([0-9]{1,5})(?:\s+(.*?))?\s*\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision: the operation that it is, its words, its key, and the states of a hand in which it can be made."""

    name: str
    operation: str
    title: str
    states: frozenset[str]


_UNSETTLED = frozenset({"playing", "ended", "awaiting_approval", "approved"})
DECISIONS = (
    Decision("dispute", "disputeHand", gettext_noop("Dispute the hand"), _UNSETTLED),
    Decision("rule", "ruleOnHand", gettext_noop("Rule"), frozenset({"disputed"})),
    Decision("void", "voidHand", gettext_noop("Void the hand instead"), frozenset({"disputed"})),
    Decision("withdraw", "withdrawDispute", gettext_noop("Withdraw the dispute"), frozenset({"disputed"})),
    Decision("later", "ruleOnHandLater", gettext_noop("Rule later"), frozenset({"settled", "ruled"})),
)


@dataclass(frozen=True, slots=True)
class Side:
    """A seat in both readings: what it has, put in, would get and would come to; None where nothing is known."""

    actor: str
    seat: int
    player: str
    stack: int
    put_in: int
    recorded: int | None
    claimed: int | None
    came_to: int | None
    recorded_gets: int | None
    claimed_gets: int | None
    fee_left: int

    @property
    def difference(self) -> int | None:
        """What the other reading would change for it: against what it came to, or else what is recorded."""
        before = self.came_to if self.came_to is not None else self.recorded
        return None if self.claimed is None or before is None else self.claimed - before


def sides(found: Mapping[str, Any]) -> list[Side]:
    """Every seat of a hand, in play order."""
    recorded, claimed = found["recorded"], found.get("claimed") or {}
    left = found["left"] or {"fees": []}
    return [
        Side(
            one["actor"], one["seat"], one["player"], found["stacks"][at], found["put_in"][at],
            _at((recorded.get("result") or {}).get("net"), at), _at((claimed.get("result") or {}).get("net"), at),
            _at(found["came_to"], at),
            _at((recorded.get("division") or {}).get("awards"), at),
            _at((claimed.get("division") or {}).get("awards"), at), _at(left["fees"], at) or 0,
        )
        for at, one in enumerate(found["seats"])
    ]  # fmt: skip


def _at(values: list[int] | None, place: int) -> int | None:
    return values[place] if values and place < len(values) else None


def claims(text: str) -> list[dict[str, Any]]:
    """The claimed lines that were typed: the number of a line, and the words. Raises Unreadable."""
    found = []
    for line in text.splitlines():
        if not line.strip():
            continue
        matched = _LINE.match(line)
        if matched is None:
            raise Unreadable("claimed", "Each line is the number of a line, and the words that should stand there.")
        found.append({"line": int(matched[1]), "text": matched[2] or ""})
    return found


def body(name: str, given: QueryDict, hand: str, money: Money) -> dict[str, Any]:
    """The body of a decision (`Decision.name`) out of what was typed. Raises Unreadable."""
    reason = {"reason": given.get("reason", "")}
    if name in ("dispute", "withdraw"):
        return {"hand": hand} | reason
    if name == "void":
        return {"cause": given.get("cause", "ruled")} | reason
    said = claims(given.get("claimed", ""))
    both = reason | ({"claimed": said} if said else {})
    if name == "rule":
        tax = _amount("tax", given.get("tax", ""), money) or 0
        return {"hand": hand, "awards": _by_seat("award", given, money), "tax": tax} | both
    parts = {part: _by_seat(part, given, money) for part in ("tax_refunded", "fee_refunded", "made_good")}
    parts["collected"] = [pair for row in range(PAIRS) if (pair := _pair(row, given, money))]
    return {part: rows for part, rows in parts.items() if rows} | both


def _by_seat(part: str, given: QueryDict, money: Money) -> list[dict[str, Any]]:
    named = ((name.partition(".")[2], str(text)) for name, text in given.items() if name.startswith(f"{part}."))
    typed = ((actor, _amount(part, text, money)) for actor, text in named)
    return [{"actor": actor, "amount": amount} for actor, amount in typed if amount]


def _pair(row: int, given: QueryDict, money: Money) -> dict[str, Any]:
    amount = _amount("collected", given.get(f"collected.{row}.amount", ""), money)
    named = {part: given.get(f"collected.{row}.{part}", "") for part in ("loser", "winner", "consent")}
    return {"amount": amount} | named if amount else {}


def _amount(part: str, text: str, money: Money) -> int | None:
    if not text.strip():
        return None
    try:
        return money.typed(text)
    except ValueError:
        raise Unreadable(part, f"This is an amount with at most {money.exponent} decimals.") from None
