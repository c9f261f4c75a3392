"""The log of a house: what the sequencer makes of the chains, and its proofs."""

from casino.audit.models import Event, Leaf
from casino.audit.verify import leaf_hash, root_of
from tests.casino.kit import Kit


def test_every_event_is_a_leaf_in_the_order_of_its_chain(kit: Kit) -> None:
    checkpoint = kit.sequence()
    leaves = list(Leaf.objects.filter(house=kit.house).order_by("leaf_index").select_related("event"))
    assert [leaf.leaf_index for leaf in leaves] == list(range(checkpoint.size))
    assert len(leaves) == Event.objects.filter(chain__house=kit.house).count()
    assert [bytes(leaf.leaf_hash) for leaf in leaves] == [leaf_hash(leaf.event.payload.encode()) for leaf in leaves]
    assert checkpoint.root == root_of([bytes(leaf.leaf_hash) for leaf in leaves])
