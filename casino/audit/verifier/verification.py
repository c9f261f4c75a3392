"""Events in the order of the log, through every check."""

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .canonical import decoded, is_deep, json_text, quickly_decoded
from .chains import GENESIS, Chains
from .events import ACTED, OF_PLAYERS, VERSION, Event, Parts, Row, place_of, require_event, row_of
from .findings import Report
from .hands import OF_TABLES, Hands
from .kinds import KINDS, what_is_wrong
from .ledger import Books
from .merkle import leaf_hashes
from .notes import House
from .shelf import Shelf
from .state import State
from .times import Times
from .trees import Trees

Beside = Callable[[Sequence[Event | None], Sequence[bytes]], None]


class Verifier:
    """Events in the order of the log, through every check."""

    def __init__(
        self, report: Report, house: House, trees: Trees, books: Books, hands: Hands,
        rows: Callable[[], Iterator[Row]], shelf: Shelf, counts: Callable[[], Mapping[str, int]] | None = None,
    ) -> None:  # fmt: skip
        """`rows` gives the rows of the house's state, when all events have been read; `shelf` takes what grows. Where a
        verification is taken up, `rows` are those that were written since, and `counts` how many there are by model."""
        self._counts = counts
        self.report, self._house, self._rows, self.shelf = report, house, rows, shelf
        self.trees, self.books, self.hands = trees, books, hands
        self.chains = Chains(report)
        self.state = State(report, shelf)
        self.times = Times(report)
        # No writer of the lines can know it: it keeps them apart where many are read as one text.
        self._mark = secrets.randbits(60)

    def epoch(self, number: int, batches: Iterable[list[bytes]], beside: Beside | None = None) -> None:
        """The payloads of an epoch's leaves, in portions of any size above zero.

        `beside` is handed the events (None for what cannot be read) and hashes of each portion.
        """
        self.trees.begin(number)
        self.times.begin(self.trees.times(number))
        if not self._leaves(batches, beside, number if number > 1 else 0):
            self.trees.opened(number, None)
        self.trees.end()

    def go_on(self, batches: Iterable[list[bytes]], beside: Beside | None = None) -> None:
        """The payloads of further leaves of the last epoch, where the verification was taken up. Raises Unusable."""
        number = self.trees.go_on()
        self.times.go_on(self.trees.times(number))
        self._leaves(batches, beside, 0)
        self.trees.end()

    def _leaves(self, batches: Iterable[list[bytes]], beside: Beside | None, opening: int) -> bool:
        """Leaves of an epoch, the first of which opens the epoch `opening`; False where that is missing."""
        for lines in batches:
            hashes = leaf_hashes(lines)
            docs = self._documents(lines)
            self.trees.extend(hashes, docs)
            self.times.take(docs, self.report.now)
            if beside is not None:
                beside(docs, hashes)
            self._events(docs, hashes, opening)
            opening = 0
        return not opening

    def tail(self, batches: Iterable[list[bytes]], beside: Beside | None = None) -> None:
        """Payloads that are in no log yet, in the order in which they were written; `beside` as for an epoch."""
        waiting = 0
        for lines in batches:
            waiting += len(lines)
            hashes, docs = leaf_hashes(lines), self._documents(lines)
            if beside is not None:
                beside(docs, hashes)
            self._events(docs, hashes)
        if waiting:
            self.report.notice(f"{waiting} events are not in the log yet: only their chains prove them")

    def finish(self) -> Report:
        """No more events come."""
        self.report.counts["events"] = self.report.now
        self.chains.finish()
        self.books.finish()
        self.hands.finish()
        self.state.compare(self._rows(), self._counts() if self._counts else None)
        self.trees.finish()
        return self.report

    def _documents(self, lines: list[bytes]) -> list[Event | None]:
        """The events of these lines, None for what cannot be read; each must be the one text of what it says."""
        try:
            found: list[Parts] = ACTED(b"\n".join(lines).decode())
        except UnicodeDecodeError:
            found = []
        if len(found) != len(lines):
            return [*self._read(lines, range(len(lines)))]
        docs: list[Event | None] = [*found]
        others = [number for number, recorded in enumerate(found) if not recorded[1]]
        for number, doc in zip(others, self._read([lines[number] for number in others], others), strict=True):
            docs[number] = doc
        return docs

    def _read(self, lines: list[bytes], numbers: Sequence[int]) -> list[Row | None]:
        """Lines as JSON, all at once; `numbers` are their places in the portion."""
        mark = self._mark
        try:
            texts = [line.decode() for line in lines]
            text = f"[{f',{mark},'.join(texts)}]"
            values: list[Any] = [] if any(map(is_deep, texts)) else quickly_decoded(text)
            docs: list[Any] = values[::2]
            apart = values[1::2] == [mark] * (len(lines) - 1) and len(docs) == len(lines)
            if apart and all(type(doc) is dict for doc in docs) and json_text(values) == text:
                return docs
        except ValueError:
            pass  # one of them; each is looked at on its own below, and found
        return [self._document(line, self.report.now + number) for number, line in zip(numbers, lines, strict=True)]

    def _document(self, line: bytes, at: int) -> Row | None:
        try:
            text = line.decode()
            value = decoded(text)
            canonical = json_text(value)
        except ValueError as error:
            self.report.find("not_json", f"event {at}", f"it cannot be read: {error}", at)
            return None
        if canonical != text:
            place = place_of(value) if isinstance(value, dict) else f"event {at}"
            self.report.find("not_canonical", place, "its text is not the canonical one of what it says", at)
        if not isinstance(value, dict):
            self.report.find("not_an_event", f"event {at}", f"it is no object: {text[:100]!r}", at)
            return None
        return value

    def _events(self, docs: list[Event | None], hashes: list[bytes], opening: int = 0) -> None:
        report = self.report
        if opening:
            self.trees.opened(opening, None if docs[0] is None else row_of(docs[0]))
        for event, hashed in zip(docs, hashes, strict=True):
            try:
                if isinstance(event, dict):
                    require_event(event)
                    self._take(event, hashed)
                elif event is not None and not self._is_usual(event, hashed):
                    self._take(row_of(event), hashed)
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                report.find("not_an_event", f"event {report.now}", f"it is not made like one: {error!r}")
            report.now += 1
        self.books.advance()
        self.hands.advance()
        self.state.shelve()

    def _take(self, doc: Row, hashed: bytes) -> None:
        if doc["house"] != self._house.id:
            self.report.find("event_of_another_house", place_of(doc), f"it names house {doc['house']}")
        self.chains.take(doc, hashed.hex())
        if doc["v"] != VERSION or type(doc["v"]) is not int:
            problem = (
                f"it is of version {doc['v']!r}; events are of version {VERSION}, and nothing is made of any other"
            )
            self.report.find("unknown_version", place_of(doc), problem)
            return
        if doc["kind"] not in KINDS:
            self.report.find("unknown_kind", place_of(doc), f"no house records events of the kind {doc['kind']!r}")
        else:
            for code, problem in what_is_wrong(doc["kind"], doc["chain"], doc["data"]):
                self.report.find(code, place_of(doc), problem)
        if doc["kind"] == "log.key_rotated":
            self.trees.rotated(doc)
        postings = doc.get("postings")
        if postings is not None:
            self.books.record(postings, doc)
            self.hands.take(doc)
        elif doc["kind"][:5] in ("hand.", "deal.") or doc["kind"] in OF_TABLES:
            self.hands.take(doc)
        self.state.take(doc)

    def _is_usual(self, recorded: Parts, hashed: bytes) -> bool:
        """Take an event in which all is as it must be; False, and nothing done, for any other."""
        (
            actor, at, chain, line, name, _, version, house, _, _, _, _, _, _, _, posted, prev, role, seq, terminal
        ) = recorded  # fmt: skip
        number, wanted, before = self.chains.heads.get(chain) or (0, GENESIS, "")
        hand = self.hands.under_way(name, int(line))
        # What a player's device has sent is judged line by line.
        if hand is None or role == OF_PLAYERS or chain != hand.chain or house != self._house.id:
            return False
        if prev != wanted or int(seq) != number + 1 or at < before:
            return False
        if posted and not self.books.record_one(int(posted), recorded):
            return False
        self.chains.heads[chain] = (number + 1, hashed.hex(), at)
        self.hands.take_lines(hand, recorded)
        self.state.take_lines((chain, actor, role, terminal), int(version), at, seq)
        return True
