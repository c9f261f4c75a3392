"""Events to fill a log with, and what must be true of any log."""

from collections import defaultdict

from django.db import transaction

from casino.audit import outside
from casino.audit.models import Leaf
from casino.audit.services import record
from casino.audit.verifier import split_notes
from casino.core import canonical, sql
from tests.casino.any_event import USUAL, AnyEvent
from tests.casino.kit import ACTOR, Kit

#: From so many on, events are written by one statement.
MANY = 100
#: Stands for the amount in the data of many events.
_AMOUNT = 987_654_321
_APPEND_MANY = """
SELECT count(*) FROM generate_series(1, %s) number, LATERAL audit_append(
    %s, %s, %s, %s, %s, %s, %s, replace(%s, %s, number::text), NULL, NULL, NULL)
"""


def note(kit: Kit, chain: str, events: int) -> None:
    """Write so many events of no consequence to a chain; `house` is the house's own."""
    name, kind = (f"house/{kit.house.code}", "house.duty") if chain == "house" else (chain, "table.tray_stocked")
    with transaction.atomic():
        if events >= MANY:
            data = canonical.dumps(USUAL[kind] | {"amount": _AMOUNT})
            who = [ACTOR.staff, ACTOR.role, ACTOR.terminal, ACTOR.request]
            sql.rows(_APPEND_MANY, [events, kit.house.id, name, kind, *who, data, str(_AMOUNT)])
            return
        for number in range(events):
            event = AnyEvent(kind=kind, content=USUAL[kind] | {"amount": number + 1})
            record(chain=name, house=kit.house, actor=ACTOR, event=event)


def chain_order(kit: Kit) -> None:
    """In each epoch of the log the events of every chain stand in their order, and the log has no gap."""
    seen: dict[tuple[int, int], int] = {}
    indexes: dict[int, list[int]] = defaultdict(list)
    leaves = Leaf.objects.filter(house=kit.house).order_by("epoch", "leaf_index").select_related("event")
    for leaf in leaves:
        indexes[leaf.epoch].append(leaf.leaf_index)
        place = leaf.epoch, leaf.event.chain_id
        assert leaf.event.seq > seen.get(place, 0), (leaf.event, place)
        seen[place] = leaf.event.seq
    for found in indexes.values():
        assert found == list(range(len(found)))


def notes_outside(kit: Kit) -> list[str]:
    """What the file of the one folder holds."""
    [folder] = outside.folders()
    return split_notes(outside.notes_file(folder, kit.house).read_text())
