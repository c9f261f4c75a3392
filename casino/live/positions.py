"""How far a reader has got: the `id` of a server-sent event, and the parameter `after`.

Of a table or drawer it is the number of the last event of its chain. Of a house it is that for each of its chains, by
their names: `drawer/C1:12,house/DEMO:240,table/T1:7`.
"""

import re
from collections.abc import Iterable, Mapping

from casino.live.hints import Head

#: The longest position that is read, in characters: a house has some hundred chains.
LONGEST = 16_000
_NUMBER = r"[0-9]{1,18}"
_ONE = re.compile(_NUMBER, re.ASCII)
_NAMED = rf"[a-z]{{1,16}}/[A-Za-z0-9_-]{{1,40}}:{_NUMBER}"
_SEVERAL = re.compile(rf"{_NAMED}(,{_NAMED})*", re.ASCII)

#: Numbers of the last events that a reader has got, by the names of their chains.
Position = Mapping[str, int]


def text(position: Position, *, of_house: bool) -> str:
    """A position as readers get it."""
    if of_house:
        return ",".join(f"{chain}:{seq}" for chain, seq in sorted(position.items()))
    [seq] = position.values()
    return str(seq)


def parse(value: str, heads: Iterable[Head], *, of_house: bool) -> dict[str, int]:
    """The position that a text names, for these chains; one that it does not name began since. Raises ValueError for
    a text that is none, or of chains of others."""
    known = {head.name: 0 for head in heads}
    if len(value) > LONGEST or not (_SEVERAL if of_house else _ONE).fullmatch(value):
        raise ValueError("not a position")
    if not of_house:
        return dict.fromkeys(known, int(value))
    named = {chain: int(seq) for chain, _, seq in (one.partition(":") for one in value.split(","))}
    if not named.keys() <= known.keys():
        raise ValueError("a position of other chains")
    return known | named


def is_ahead(position: Position, heads: Iterable[Head]) -> bool:
    """Whether it lies beyond what is recorded: the reader has seen a database that was since restored."""
    return any(position[head.name] > head.seq for head in heads)
