"""The registry of events: one frozen class per kind, registered under its name; its fields are the payload's data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, ClassVar, Self, TypeVar, dataclass_transform

from casino.audit.events.declared import Field, Mark, declared

#: Fields that the payload has besides `data`; they are left out if they are empty.
BESIDE_DATA = ("reason", "approver")
#: Fields that every event of a table or drawer inherits; they are listed last.
VERSIONS = ("table_version", "drawer_version")


class UnknownEvent(TypeError):
    """An event of a kind that is not declared, or in a chain where its kind does not belong: a programming error."""


@dataclass(frozen=True, kw_only=True)
class AuditEvent:
    """One event before it is recorded. A kind is a subclass with `@event`; its fields are keyword-only.

    Raises TypeError where a value is not of the type that its field declares.
    """

    #: Name of the kind, and the chains it belongs to (`house`, `table`, `drawer`, `log`).
    KIND: ClassVar[str] = ""
    CHAINS: ClassVar[tuple[str, ...]] = ()
    FIELDS: ClassVar[tuple[Field, ...]] = ()

    def __post_init__(self) -> None:
        for field in self.FIELDS:
            value = getattr(self, field.name)
            if not field.fits(value):
                raise TypeError(f"{self.KIND}: {field.name} is {field.json_type}, not {value!r}")

    @property
    def data(self) -> dict[str, Any]:
        """The payload's `data` as the API and the export show it. Fields that are None are left out, except those
        marked `Mark.NULL`."""
        values = ((field, getattr(self, field.name)) for field in self.FIELDS if field.name not in BESIDE_DATA)
        return {field.name: value for field, value in values if value is not None or Mark.NULL in field.marks}

    def last_event(self) -> dict[str, Any]:
        """Its kind and its data, as the answer of the write that records it shows them."""
        return {"kind": self.KIND} | self.data

    @property
    def beside_data(self) -> dict[str, str]:
        """`reason` and `approver`, where the event has them and they are not empty."""
        values = {name: getattr(self, name, None) for name in BESIDE_DATA}
        return {name: value for name, value in values.items() if value}


@dataclass(frozen=True, kw_only=True)
class TableEvent(AuditEvent):
    """An event of a table that is set up."""

    table_version: Annotated[
        int | None, Mark.LATER, "version of the table after this event; the next write names it in If-Match"
    ] = None

    def at_table_version(self, version: int) -> Self:
        """The same event with the version that the table has afterwards."""
        return replace(self, table_version=version)


@dataclass(frozen=True, kw_only=True)
class DrawerEvent(AuditEvent):
    """An event of a drawer that is set up."""

    drawer_version: Annotated[
        int | None, Mark.LATER, "version of the drawer after this event; the next write names it in If-Match"
    ] = None

    def at_drawer_version(self, version: int) -> Self:
        """The same event with the version that the drawer has afterwards."""
        return replace(self, drawer_version=version)


@dataclass(frozen=True, kw_only=True)
class ApprovedEvent(AuditEvent):
    """An event of what a control point of the house may hold back until a second person has approved it."""

    approval: Annotated[int | None, "number of the approval that was used; absent where none was needed"] = None
    approver: Annotated[str | None, "login of the person who approved"] = None
    also_approved: Annotated[
        Sequence[str] | None, "logins of those who had approved before, where it took several people; absent otherwise"
    ] = None

    def approved(self, number: int, approver: str, others: Sequence[str] = ()) -> Self:
        """The same event, which uses this approval; `others` had approved before the last one did."""
        return replace(self, approval=number, approver=approver, also_approved=list(others) or None)


@dataclass(frozen=True, kw_only=True)
class ThresholdEvent(AuditEvent):
    """An event of money that comes from players or goes to them, which is added up by person."""

    threshold_reached: Annotated[
        Mapping[str, Any] | None,
        "where the amount, or what the same person has paid in one `direction` (`in`, `out`), is the house's threshold "
        "or more: the `sums` with this transaction in minor units, by window: `gaming_day`, and the control points "
        "`linked_hours`, `linked_days`, `linked_long_days`; absent below it",
    ] = None


#: Every kind of event by its name.
EVENTS: dict[str, type[AuditEvent]] = {}

E = TypeVar("E", bound=AuditEvent)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def event(name: str, *, chain: str | tuple[str, ...]) -> Callable[[type[E]], type[E]]:
    """Make a class a frozen keyword-only dataclass and register it as the kind `name`, for events of these chains.

    The reference page shows the docstring and the fields. Raises UnknownEvent for a name that is taken, TypeError for a
    field whose type is not a JSON type.
    """

    def register(declaration: type[E]) -> type[E]:
        if name in EVENTS:
            raise UnknownEvent(f"{name} is registered twice")
        made = dataclass(frozen=True, kw_only=True)(declaration)
        made.KIND = name
        made.CHAINS = (chain,) if isinstance(chain, str) else chain
        made.FIELDS = declared(made, sorted((field.name for field in fields(made)), key=VERSIONS.__contains__))
        EVENTS[name] = made
        return made

    return register


def require_known(kind: str, chain: str) -> None:
    """Refuse a kind that is not registered, or not for this chain (`table/T1`). Raises UnknownEvent."""
    known = EVENTS.get(kind)
    if known is None:
        raise UnknownEvent(f"{kind!r} is no event of casino.audit.events")
    if chain.partition("/")[0] not in known.CHAINS:
        raise UnknownEvent(f"{kind} belongs in the chain of a {' or '.join(known.CHAINS)}, not in {chain!r}")
