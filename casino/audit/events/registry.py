"""What an event is: one function per kind, registered under its name, that takes what is told and returns it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ParamSpec

P = ParamSpec("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What one event tells: `data` as the API and the export show it, and beside it the reason that was given and the
    login of a second person who approved, where there are such."""

    kind: str
    data: Mapping[str, Any]
    reason: str | None = None
    approver: str | None = None

    def also(self, **data: Any) -> "Told":
        """The same with more data, e.g. the version that a table has afterwards."""
        return replace(self, data={**self.data, **data})


@dataclass(frozen=True, slots=True)
class Kind:
    """A registered kind of event: its name, the chains it belongs into (`house`, `table`, `drawer`), its function."""

    name: str
    chains: tuple[str, ...]
    function: Callable[..., Told]


#: Every kind of event by its name.
EVENTS: dict[str, Kind] = {}


class UnknownEvent(TypeError):
    """An event that nobody has described, or one on a chain where it does not belong: a programming error."""


def event(name: str, *, chain: str | tuple[str, ...]) -> Callable[[Callable[P, Told]], Callable[P, Told]]:
    """Register a kind of event. The function's docstring describes it on the page, its parameters are the data's keys,
    apart from `reason` and `approver`; it returns :func:`told`."""

    def register(function: Callable[P, Told]) -> Callable[P, Told]:
        if name in EVENTS:
            raise UnknownEvent(f"{name} is registered twice")

        def named(*args: P.args, **kwargs: P.kwargs) -> Told:
            return replace(function(*args, **kwargs), kind=name)

        named.__doc__ = function.__doc__
        chains = (chain,) if isinstance(chain, str) else chain
        EVENTS[name] = Kind(name, chains, function)
        return named

    return register


def told(*, reason: str | None = None, approver: str | None = None, **data: Any) -> Told:
    """What an event's function returns; data that are None are left out, as are an empty reason and approver."""
    present = {key: value for key, value in data.items() if value is not None}
    return Told(kind="", data=present, reason=reason or None, approver=approver or None)


def require_known(kind: str, chain: str) -> None:
    """Refuse a kind that is not registered, or not for this chain (`table/T1`). Raises UnknownEvent."""
    known = EVENTS.get(kind)
    if known is None:
        raise UnknownEvent(f"{kind!r} is no event of casino.audit.events")
    if chain.partition("/")[0] not in known.chains:
        raise UnknownEvent(f"{kind} belongs into the chain of a {' or '.join(known.chains)}, not into {chain!r}")
