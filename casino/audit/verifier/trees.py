"""The log: the Merkle tree of each epoch against every checkpoint that is known of it."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .events import Event, Row, place_of
from .findings import Report, Unusable
from .merkle import EMPTY_ROOT, Frontier
from .notes import House, Key, Note, Notes, is_number, parse_note
from .rotations import Keys, Rotations, Signed


@dataclass(frozen=True, slots=True)
class _Known:
    """A signed checkpoint, where it was read."""

    size: int
    root: bytes
    at: str
    place: str
    source: Notes


class Trees:
    """The Merkle tree of each epoch against every checkpoint that is known of it."""

    KEPT = ("sizes", "_bases", "_openings", "_roots", "_agreed_at", "_losses", "_standing", "rotated_keys")

    def __init__(
        self, report: Report, house: House, keys: Keys, sources: Sequence[Notes], signed: Signed,
        accepted: Collection[int] | None = None,
    ) -> None:  # fmt: skip
        """`accepted`: the epochs after the first whose opening the verifying person has looked into; None for all."""
        self._report, self._house, self._signed, self._accepted = report, house, signed, accepted
        self._keys = keys
        self._rotations = Rotations(report, house, keys, signed)
        self._points: dict[int, dict[int, list[_Known]]] = {}
        self._sources = list(sources)
        self._judged: dict[str, bool] = {}
        #: By source and epoch the size of the largest checkpoint that agrees with the leaves.
        self._covered: dict[tuple[str, int], int] = {}
        self.sizes: dict[int, int] = {}
        self._bases: dict[int, int] = {}
        self._openings: dict[int, Row] = {}
        self._roots: dict[int, bytes] = {}
        self._agreed_at: dict[int, int] = {}
        self._losses: list[tuple[tuple[int, int], tuple[int, int]]] = []
        self._differing: dict[int, tuple[int, str, list[_Known]]] = {}
        #: Of the epoch that ended last: its number, its leaves, and the roots of its perfect subtrees.
        self._standing: tuple[int, int, list[bytes]] = (0, 0, [])
        for source in self._sources:
            self._read(source)
        report.counts["checkpoints"] = sum(self._judged.values())

    def _read(self, source: Notes) -> None:
        last = (0, -1)
        for number, text in enumerate(source.texts, 1):
            place, find = f"{source.name}, note {number}", self._report.find
            try:
                note = parse_note(text)
            except Unusable as error:
                find("note_unreadable", place, str(error), at=-1)
                continue
            point = note.checkpoint
            origin, _, epoch = point.origin.rpartition("/")
            if origin != self._house.origin or not is_number(epoch):
                find("note_of_another_log", place, f"its origin is {point.origin}", at=-1)
            elif not self._is_signed(text, note, int(epoch)):
                self._not_signed(place, note, int(epoch))
            else:
                here = (int(epoch), point.size)
                if here <= last:
                    find("notes_out_of_order", place, f"size {point.size} of epoch {epoch} follows {last[1]}", at=-1)
                last = here
                self._add(int(epoch), _Known(point.size, point.root, point.at, place, source))

    def _add(self, epoch: int, point: _Known) -> None:
        same = self._points.setdefault(epoch, {}).setdefault(point.size, [])
        for other in same:
            if other.root != point.root:
                place = f"epoch {epoch}, {point.size} leaves"
                self._report.find("split_view", place, f"two signed roots: {other.place} and {point.place}", at=-1)
        same.append(point)

    def _is_signed(self, text: str, note: Note, epoch: int) -> bool:
        if text not in self._judged:
            self._judged[text] = self._is_signed_by(self._keys.of(epoch, note.checkpoint.size), note)
        return self._judged[text]

    def _is_signed_by(self, keys: Collection[Key], note: Note) -> bool:
        return any(key.has_signed(note, self._signed) for key in keys)

    def _not_signed(self, place: str, note: Note, epoch: int) -> None:
        if self._is_signed_by(self._keys.known, note):
            size = note.checkpoint.size
            problem = f"another key has signed it than the one for {size} leaves of epoch {epoch}"
            self._report.find("note_under_another_key", place, problem, at=-1)
        else:
            self._report.find("note_not_signed", place, "no key that is trusted has signed it", at=-1)

    def times(self, epoch: int) -> list[tuple[int, str]]:
        """Sizes and times of an epoch's checkpoints, by size; of several over one size the earliest time."""
        sizes = self._points.get(epoch, {})
        return [(size, min(point.at for point in sizes[size])) for size in sorted(sizes) if size]

    @property
    def size(self) -> int:
        """How many leaves of the epoch have been read."""
        return self._tree.size

    def formed(self, epoch: int, level: int, number: int, root: bytes) -> None:
        """A tile has become complete; a caller that has kept tiles compares them."""

    def begin(self, epoch: int) -> None:
        """The leaves of an epoch follow."""
        self._epoch, self._tree = epoch, Frontier(formed=lambda *tile: self.formed(epoch, *tile))
        self._bases[epoch] = self._report.now
        self._sizes = sorted(self._points.get(epoch, {}))
        self._next = 0
        self._agreed, self._agreed_before = 0, ""
        self._wrong: list[_Known] = []

    def go_on(self) -> int:
        """More leaves of the last epoch follow; returns its number. Raises Unusable where no checkpoint is known that
        was signed over those before them."""
        epoch, size, roots = self._standing
        if size not in self._points.get(epoch, {}):
            raise Unusable(f"no checkpoint of epoch {epoch} over {size} leaves is known")
        self._epoch, self._tree = epoch, Frontier(size, roots, lambda *tile: self.formed(epoch, *tile))
        self._sizes, self._next = sorted(at for at in self._points[epoch] if at >= size), 1
        self._agreed, self._agreed_before, self._wrong = size, "", []
        self._report.counts["leaves"] -= size
        if not self._agrees(size):
            raise Unusable(f"the checkpoint of epoch {epoch} over {size} leaves has another root")
        return epoch

    @property
    def rotated_keys(self) -> set[tuple[int, int, str]]:
        """What rotations have put in the place of other keys."""
        return self._rotations.good

    @rotated_keys.setter
    def rotated_keys(self, good: set[tuple[int, int, str]]) -> None:
        self._rotations.good = good

    def extend(self, hashes: list[bytes], docs: Sequence[Event | None]) -> None:
        """Leaf hashes in their order, and their events to name them by."""
        start, tree = 0, self._tree
        if tree.size == self._agreed:
            self._agreed_before = place_of(docs[0])
        while self._next < len(self._sizes) and (size := self._sizes[self._next]) <= tree.size + len(hashes) - start:
            count = size - tree.size
            tree.extend(hashes[start : start + count])
            start += count
            if self._agrees(size) and start < len(docs):
                self._agreed_before = place_of(docs[start])
            self._next += 1
        tree.extend(hashes[start:] if start else hashes)

    def _agrees(self, size: int) -> bool:
        root, points = self._tree.root(), self._points[self._epoch][size]
        bad = [point for point in points if point.root != root]
        self._covered |= {(point.source.name, self._epoch): size for point in points if point.root == root}
        self._wrong += bad
        if len(bad) == len(points):
            return False
        for point in self._wrong:
            problem = f"it is not the root of the first {point.size} leaves, which another checkpoint confirms"
            self._report.find("checkpoint_false", point.place, problem, at=self._bases[self._epoch] + point.size)
        self._wrong, self._agreed = [], size
        return True

    def end(self) -> None:
        """The epoch has no more leaves."""
        epoch, size = self._epoch, self._tree.size
        self.sizes[epoch], self._roots[epoch] = size, self._tree.root()
        self._standing = epoch, size, self._tree.roots
        self._tree = Frontier()  # the epoch's holds on to these trees, and they to it
        self._agreed_at[epoch] = self._agreed
        self._report.counts["leaves"] += size
        if self._wrong:
            self._differing[epoch] = (self._agreed, self._agreed_before, self._wrong)
        signed = max((one for one in self._sizes if one <= size), default=0)
        if size > signed:
            self._report.notice(f"epoch {epoch}: no checkpoint covers leaves {signed} to {size - 1} yet")

    def opened(self, epoch: int, doc: Row | None) -> None:
        """The first event of an epoch after the first: it must record what was lost."""
        data = doc.get("data") if doc is not None and doc.get("kind") == "log.epoch_opened" else None
        before = max((other for other in self.sizes if other < epoch), default=0)
        if not isinstance(data, dict) or (data.get("epoch"), data.get("restored_epoch")) != (epoch, before):
            place = f"epoch {epoch}, leaf 0"
            self._report.find("epoch_not_opened", place, f"its first event does not open it after epoch {before}")
        else:
            self._openings[epoch] = doc or {}

    def rotated(self, doc: Row) -> None:
        """The event that is looked at records another key."""
        self._rotations.take(self._epoch, self._report.now - self._bases[self._epoch], doc)

    def finish(self) -> None:
        """No more epochs come: judge what checkpoints know of leaves that are not there, and of each other."""
        self._rotations.judge(self._signed_roots)
        for epoch, opening in self._openings.items():
            try:
                self._judge_opening(epoch, opening)
            except (Unusable, LookupError, TypeError, AttributeError) as error:
                place = f"epoch {epoch}, leaf 0"
                self._report.find("epoch_not_opened", place, f"it cannot be read: {error!r}", at=self._bases[epoch])
        for epoch in sorted(self._points.keys() | self.sizes.keys()):
            self._judge_end(epoch)
        own = {key for source in self._sources if not source.held for key in self._noted(source)}
        for source in self._sources:
            if source.held:
                self._compare(source, own)
                self._cover(source)

    def _cover(self, source: Notes) -> None:
        """Say how many leaves the checkpoints of a source prove."""
        counts = Counter(epoch for epoch, _, _ in self._noted(source))
        for epoch, count in sorted(counts.items()):
            leaves, size = self._covered.get((source.name, epoch), 0), self.sizes.get(epoch, 0)
            self._report.cover(source.name, epoch, count, leaves, size)
        if not counts:
            self._report.cover(source.name, 0, 0, 0, 0)

    def _noted(self, source: Notes) -> list[tuple[int, int, bytes]]:
        return [
            (epoch, point.size, point.root)
            for epoch, sizes in self._points.items()
            for points in sizes.values()
            for point in points
            if point.source is source
        ]

    def _signed_roots(self, epoch: int) -> dict[int, list[bytes]]:
        points = self._points.get(epoch, {})
        return {size: [point.root for point in same] for size, same in points.items()}

    def _judge_end(self, epoch: int) -> None:
        size = self.sizes.get(epoch, 0)
        agreed, name, wrong = self._differing.get(epoch, (0, "", []))
        if wrong:  # an epoch explains leaves that are gone, never such as contradict what was signed
            later = len({point.size for point in wrong}) - 1
            more = f", nor that of {later} later ones" if later else ""
            self._report.find(
                "leaves_differ",
                f"epoch {epoch}, leaves {agreed} to {wrong[0].size - 1} (the first is {name})",
                f"they do not give the signed root of {wrong[0].place}{more}",
                at=self._bases[epoch] + wrong[0].size,  # behind whatever is found among them
            )
        beyond = [point for at, points in self._points.get(epoch, {}).items() if at > size for point in points]
        unexplained = [point for point in beyond if not self._explained(epoch, point.size)]
        if unexplained:
            most = max(unexplained, key=lambda point: point.size)
            self._report.find(
                "log_cut_off",
                f"epoch {epoch}, leaf {size}",
                f"the log ends there, {most.place} was signed over {most.size} leaves",
                at=self._bases.get(epoch, 0) + size,
            )

    def _judge_opening(self, epoch: int, opening: Row) -> None:
        """What an opening says of the log before it and of the checkpoint outside; it explains what was lost only where
        all of it is true, and signed."""
        data, place = opening["data"], f"epoch {epoch}, leaf 0 ({place_of(opening)})"
        before: int = data["restored_epoch"]
        size, root = self.sizes.get(before, 0), self._roots.get(before, EMPTY_ROOT)
        restored = (data.get("restored_size"), data.get("restored_root"))
        note = data.get("note")
        problem = None
        if not opening.get("approver") or opening["approver"] == opening["actor"]:
            problem = "an epoch is opened by two people"
        elif restored != (size, root.hex()):
            problem = f"it names {restored[0]} leaves as restored, or another root; the log has {size}"
        elif not self._agreed_at.get(epoch):
            problem = "no signed checkpoint covers it"
        elif note is not None:
            problem = self._judge_outside(data, note)
        elif (data.get("old_epoch"), data.get("old_size")) != (None, None):
            problem = "it names leaves as lost without the checkpoint outside that covers them"
        if problem is not None:
            self._report.find("epoch_not_opened", place, problem, at=self._bases[epoch])
            return
        lost = (before, size), (data.get("old_epoch") or 0, data.get("old_size") or 0)
        self._losses.append(lost)
        if self._accepted is not None and epoch not in self._accepted:
            problem = (
                f"{opening['actor']} and {opening['approver']} opened it ({opening.get('reason')}); ask both and "
                f"look at their paper, then verify with --accept-epoch {epoch}"
            )
            self._report.find("epoch_not_accepted", place, problem, at=self._bases[epoch])
        self._report.notice(
            f"epoch {epoch} was opened by {opening['actor']} and {opening['approver']} ({opening.get('reason')}): "
            f"the log outside had reached epoch {lost[1][0]}, {lost[1][1]} leaves; epoch {before}, "
            f"{lost[0][1]} leaves, was left of it"
        )

    def _judge_outside(self, data: Row, text: str) -> str | None:
        note = parse_note(text)
        point = note.checkpoint
        said = (f"{self._house.origin}/{data.get('old_epoch')}", data.get("old_size"), data.get("old_root"))
        if said != (point.origin, point.size, point.root.hex()):
            return "it says otherwise than the outside checkpoint in it"
        return None if self._is_signed(text, note, data["old_epoch"]) else "the outside checkpoint in it is not signed"

    def _explained(self, epoch: int, size: int) -> bool:
        """Whether the opening of a later epoch records that leaves up to this one were lost."""
        return any(first < (epoch, size) <= last for first, last in self._losses)

    def _compare(self, source: Notes, own: set[tuple[int, int, bytes]]) -> None:
        held = self._noted(source)
        for epoch, size, _ in sorted(set(held) - own):
            if self._explained(epoch, size):
                continue
            place = f"checkpoint of epoch {epoch} over {size} leaves"
            at = self._bases.get(epoch, 0) + size
            self._report.find("checkpoint_missing", place, f"{source.name} has it, the log's own do not", at)
        missing = sorted(key for key in own - set(held) if key[:2] <= max(held, default=(0, 0))[:2])
        for epoch, size, _ in missing if source.complete else ():
            place = f"{source.name}, checkpoint of epoch {epoch} over {size} leaves"
            at = self._bases.get(epoch, 0) + size
            self._report.find("outside_checkpoint_missing", place, "the log has it, this file has lost it", at)
