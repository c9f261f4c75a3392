"""The keys that sign checkpoints: each of them for some sizes of an epoch, and the events that put one in the place of
another."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .events import Row, place_of
from .findings import Report, Unusable
from .notes import House, Key, base64_bytes, is_number, parse_key, signatures_of

Signed = Callable[[bytes, bytes, bytes], bool]
"""Whether a signature is good: `ed25519_verify`, or something quicker."""
Chain = Sequence[tuple[int, Key]]
"""Keys of an epoch in their order, each with the size from which on it signs; the first from 0 on."""
ROTATION = "cukassza log key rotation v1"


@dataclass(frozen=True, slots=True)
class Keys:
    """Who may sign the checkpoints of each epoch: its own keys (none where they are not known), as the house names
    them, and the keys that the verifying person holds, if any."""

    own: Mapping[int, Chain]
    held: Sequence[Key] = ()
    #: Leaves of each epoch: what was signed behind them is lost, and a rotation that it covered too.
    sizes: Mapping[int, int] = field(default_factory=dict)

    def of(self, epoch: int, size: int) -> Collection[Key]:
        """Keys for checkpoints of this epoch and size; all that are trusted where it is not known which of them."""
        chain = self.own.get(epoch, ())
        if not chain or not self.leads(epoch) or size > self.sizes.get(epoch, size):
            return self.trusted
        return [key for begin, key in chain if begin <= size][-1:]

    def leads(self, epoch: int) -> bool:
        """Whether one of the epoch's own keys is trusted; rotations, which two keys sign, lead to the others."""
        return not self.held or any(key in self.held for _, key in self.own.get(epoch, ()))

    @property
    def trusted(self) -> Collection[Key]:
        """The keys held, and those that the house names only where none is held."""
        return self.held or [key for chain in self.own.values() for _, key in chain]

    @property
    def known(self) -> Collection[Key]:
        """The keys held, and those that the house names."""
        return [*self.held, *(key for chain in self.own.values() for _, key in chain)]


@dataclass(frozen=True, slots=True)
class Rotation:
    """What two keys have signed: the second signs every checkpoint of this log that is larger than `size`."""

    text: str
    origin: str
    size: int
    root: bytes
    old: Key
    new: Key
    signatures: tuple[tuple[str, bytes, bytes], ...]


def parse_rotation(note: str) -> Rotation:
    """A rotation from the text of its note. Raises Unusable."""
    body, gap, tail = note.rpartition("\n\n")
    lines = body.split("\n")
    if not gap or len(lines) != 6 or lines[0] != ROTATION:
        raise Unusable("a rotation is its title, origin, size, root, two keys, an empty line and signatures")
    root = base64_bytes(lines[3])
    if not is_number(lines[2]) or root is None or len(root) != 32:
        raise Unusable(f"no rotation: size {lines[2]!r}, root {lines[3]!r}")
    keys = parse_key(lines[4]), parse_key(lines[5])
    return Rotation(f"{body}\n", lines[1], int(lines[2]), root, *keys, signatures_of(tail))


class Rotations:
    """Rotations that events record, against the keys that the house names."""

    def __init__(self, report: Report, house: House, keys: Keys, signed: Signed) -> None:
        self._report, self._house, self._keys, self._signed = report, house, keys, signed
        #: Epoch, first size and text of each key that a good event has put in the place of another.
        self.good: set[tuple[int, int, str]] = set()
        self._events: list[tuple[int, int, Row, int]] = []

    def take(self, epoch: int, index: int, doc: Row) -> None:
        """An event that records a rotation, leaf `index` of an epoch, or behind its leaves."""
        self._events.append((epoch, index, doc, self._report.now))

    def judge(self, roots: Callable[[int], Mapping[int, Iterable[bytes]]]) -> None:
        """No more events come; `roots` gives the signed roots of an epoch's checkpoints by their sizes."""
        for epoch, index, doc, at in self._events:
            try:
                rotation = parse_rotation(doc["data"]["note"])
                problem = self._problem(epoch, index, doc["data"], rotation, roots(epoch))
            except (Unusable, LookupError, TypeError, AttributeError) as error:
                problem = f"it cannot be read: {error}"
            if problem is not None:
                self._report.find("key_not_rotated", place_of(doc), problem, at=at)
                continue
            self.good.add((epoch, rotation.size + 1, rotation.new.text))
            self._report.notice(
                f"epoch {epoch}: checkpoints of more than {rotation.size} leaves are under {rotation.new.text} "
                f"({doc.get('reason')}); compare it with the key that the house has given you"
            )
        named = {(epoch, begin, key.text) for epoch, chain in self._keys.own.items() for begin, key in chain if begin}
        for epoch, begin, key in sorted(named ^ self.good):
            problem = (
                f"the house names {key}, and no good event records that"
                if (epoch, begin, key) in named
                else f"an event names {key}, the house does not"
            )
            self._report.find("key_not_rotated", f"epoch {epoch}, from {begin} leaves on", problem)

    def _problem(
        self, epoch: int, index: int, data: Row, rotation: Rotation, roots: Mapping[int, Iterable[bytes]]
    ) -> str | None:
        """What is wrong with a rotation, None for nothing."""
        said = {"epoch": epoch, "size": rotation.size, "old_key": rotation.old.text, "new_key": rotation.new.text}
        before = [key for begin, key in self._keys.own.get(epoch, ()) if begin <= rotation.size][-1:]
        if rotation.origin != f"{self._house.origin}/{epoch}":
            return f"its keys have signed it for {rotation.origin}, it is in epoch {epoch}"
        if any(data[name] != value for name, value in said.items()):
            return "it says otherwise than the note in it"
        if [rotation.old] != before:
            return f"the key that signs {rotation.size} leaves is not the one that it replaces"
        if rotation.root not in roots.get(rotation.size, ()):
            return f"no checkpoint over {rotation.size} leaves has the root that its keys have signed"
        if not rotation.size <= index or any(rotation.size < size <= index for size in roots):
            return f"it is leaf {index}, not one of those that the first checkpoint after {rotation.size} leaves covers"
        for key, name in ((rotation.old, "old"), (rotation.new, "new")):
            if not self._has_signed(key, rotation):
                return f"the {name} key has not signed it"
        return None

    def _has_signed(self, key: Key, rotation: Rotation) -> bool:
        said = rotation.text.encode()
        return any(
            (key.name, key.hash) == (name, hashed) and self._signed(key.public, said, signature)
            for name, hashed, signature in rotation.signatures
        )
