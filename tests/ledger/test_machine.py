"""Random lives of a book: every function of the ledger in any order, against the model in `model.py`.

After each step every balance, version and amount set aside is the model's; at the end the book proves itself.
`LEDGER_EXAMPLES=2000` in the environment asks for more lives than the few of an ordinary run.
"""

import os
import uuid
from collections.abc import Callable
from typing import Any

from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ledger import assertions, checks, holds, periods, posting, snapshots
from ledger.balances import balances
from ledger.errors import LedgerError
from ledger.models import SnapshotLine
from ledger.posting import CREDIT, DEBIT, AccountSpec, Leg, Posted, Posting
from tests.ledger.model import Account, Book, Hold, Outcome
from tests.ledger.support import APP, OWNER, run, verified

EXAMPLES = int(os.environ.get("LEDGER_EXAMPLES", "20"))
STEPS = 40
HOUR = 3600
SPECS = [
    AccountSpec("till", "asset", "EUR", DEBIT, None, 3),
    AccountSpec("anna", "liability", "EUR", CREDIT),
    AccountSpec("bela", "liability", "EUR", CREDIT, 0, 1),
    AccountSpec("line", "liability", "EUR", CREDIT, -30),
    AccountSpec("takings", "income", "EUR", CREDIT, None, lanes=2),
    AccountSpec("debt", "liability", "EUR", CREDIT, weight=1),
    AccountSpec("out", "custody", "CHIP", DEBIT, weight=5),
    AccountSpec("rack", "custody", "CHIP", DEBIT, None, 2),
]
NOBODY = 2**50

amounts = st.integers(1, 25)
accounts = st.integers(0, len(SPECS) + 2)
keys = st.integers(0, 40).map(str)
hold_keys = st.integers(0, 2).map("h{}".format)
names = st.sampled_from(["monday", "tuesday", "wednesday"])
named = st.sampled_from([None] * 8 + ["monday", "tuesday", "wednesday"])
pay_ins = st.tuples(st.sampled_from([1, 2, 3]), amounts).map(lambda p: [(0, p[1]), (p[0], -p[1])])
euros = st.tuples(st.integers(0, 4), st.integers(1, 4), amounts).map(
    lambda p: [(p[0], p[2]), ((p[0] + p[1]) % 5, -p[2])]
)
sales = st.integers(-5, 9).filter(bool).map(lambda n: [(0, 5 * n), (5, -5 * n), (6, n), (7, -n)])
moves = st.one_of(pay_ins, pay_ins, euros, euros, sales)
clean = st.lists(moves, min_size=1, max_size=2).map(lambda several: [leg for one in several for leg in one])
wild = st.lists(st.tuples(accounts, st.integers(-9, 9)), max_size=4)
pairs = st.tuples(accounts, accounts, amounts).map(lambda p: [(p[0], p[2]), (p[1], -p[2])])
sound = st.tuples(keys, st.just("a"), clean)
requests = st.tuples(keys, st.sampled_from(["a", "b"]), st.one_of(clean, clean, clean, clean, clean, pairs, wild))
chains = st.one_of(
    st.lists(sound, min_size=1, max_size=4, unique_by=lambda request: request[0]),
    st.lists(sound, min_size=1, max_size=4, unique_by=lambda request: request[0]),
    st.lists(requests, min_size=1, max_size=3),
)


class Life(RuleBasedStateMachine):
    """One book from its opening on."""

    @initialize()
    def open_book(self) -> None:
        """The accounts of SPECS, and as many more as later rules open."""
        self.book = uuid.uuid4()
        self.model = Book()
        self.numbers: list[int] = []
        for spec in SPECS:
            self.open_account(spec)
        self.transactions: list[int] = []
        for number, legs in enumerate([[(0, 60), (1, -40), (2, -20)], [(0, 30), (5, -30), (6, 6), (7, -6)]]):
            self.post((f"opening {number}", "a", legs), None)

    # --- Requests: asked of both, and compared ----------------------------------------------------------------------

    def ask(self, faults: set[str], call: Callable[[], Any]) -> Any:
        """What the ledger answers; None where it refuses, with one of these codes."""
        try:
            with transaction.atomic():
                answer = call()
        except LedgerError as error:
            assert error.code in faults, (error.code, error.message, faults)
            return None
        assert not faults, f"accepted, in spite of {faults}"
        return answer

    def posting(self, request: tuple[str, str, list[tuple[int, int]]]) -> Posting:
        """A request with the numbers of real accounts."""
        key, kind, pairs = request
        own = [self.numbers[n] if n < len(self.numbers) else NOBODY for n, _ in pairs]
        return Posting(key, kind, [Leg(n, amount) for n, (_, amount) in zip(own, pairs, strict=True)], {"of": kind})

    def compare(self, outcome: Outcome, answers: list[Posted] | None, keys: list[str]) -> None:
        """The answers must be the model's; an account with lanes answers for one of them."""
        if answers is None:
            return
        assert [answer.replayed for answer in answers] == outcome.replayed
        for answer, left, key in zip(answers, outcome.left, keys, strict=True):
            self.model.ids[answer.transaction_id] = key
            if answer.transaction_id not in self.transactions:
                self.transactions.append(answer.transaction_id)
            plain = {n for n in left if not self.model.accounts[n].spec.lanes}
            assert {n: b for n, b in answer.balances.items() if n in plain} == {n: left[n] for n in plain}

    # --- Accounts ---------------------------------------------------------------------------------------------------

    @rule(
        spec=st.builds(
            AccountSpec,
            st.sampled_from(["x", "y", "anna"]),
            st.just("liability"),
            st.sampled_from(["EUR", "CHIP"]),
            st.sampled_from([DEBIT, CREDIT]),
            st.sampled_from([None, 0]),
            st.integers(0, 1),
        )
    )
    def open_account(self, spec: AccountSpec) -> None:
        """New, or there already, with these attributes or others."""
        faults = self.model.open(spec)
        answer = self.ask(faults, lambda: posting.ensure_accounts(self.book, [spec]))
        if answer is None:
            return
        number = answer[spec.code, spec.commodity]
        known = self.model.find(spec.code, spec.commodity)
        assert known in (None, number)
        if known is None:
            self.model.accounts[number] = Account(spec)
            self.numbers.append(number)

    @rule(which=accounts)
    def close_account(self, which: int) -> None:
        """Empty or not, open or closed, there or not; the first few stay open until they are needed no more."""
        number = self.numbers[which] if which < len(self.numbers) else NOBODY
        if which in (0, 1, 5, 6, 7):
            return
        self.ask(self.model.close(number), lambda: posting.close_account(self.book, number))

    # --- Postings ---------------------------------------------------------------------------------------------------

    @rule(request=requests, period=named)
    def post(self, request: tuple[str, str, list[tuple[int, int]]], period: str | None) -> None:
        """One posting, new, replayed or wrong."""
        one = self.posting(request)
        outcome = self.model.post([one], period)
        answer = self.ask(
            outcome.faults,
            lambda: posting.post(self.book, one.key, one.kind, one.legs, one.metadata, period=period),
        )
        self.compare(outcome, answer and [answer], [one.key])

    @rule(batch=chains, period=named)
    def post_many(self, batch: list[tuple[str, str, list[tuple[int, int]]]], period: str | None) -> None:
        """Several at once."""
        made = [self.posting(request) for request in batch]
        outcome = self.model.post(made, period)
        answers = self.ask(outcome.faults, lambda: posting.post_many(self.book, made, period=period))
        self.compare(outcome, answers, [one.key for one in made])

    @rule(request=sound)
    def post_again(self, request: tuple[str, str, list[tuple[int, int]]]) -> None:
        """More often than anything else."""
        self.post(request, None)

    @rule(data=st.data(), again=st.sampled_from(["same", "same", "legs", "kind"]))
    def replay(self, data: st.DataObject, again: str) -> None:
        """Something posted before, exactly or nearly."""
        plain = [key for key, request in self.model.done.items() if request.reverses is None]
        if not plain:
            return
        key = data.draw(st.sampled_from(plain))
        done = self.model.done[key]
        pairs = [(n, amount + (again == "legs") * (1 - 2 * (i % 2))) for i, (n, amount) in enumerate(done.legs)]
        kind = "other" if again == "kind" else done.kind
        one = Posting(key, kind, [Leg(*leg) for leg in pairs], {"of": done.kind})
        outcome = self.model.post([one], None)
        answer = self.ask(outcome.faults, lambda: posting.post(self.book, key, kind, one.legs, one.metadata))
        self.compare(outcome, answer and [answer], [key])

    @precondition(lambda self: self.transactions)
    @rule(which=st.integers(0, 20), key=keys, period=named)
    def reverse(self, which: int, key: str, period: str | None) -> None:
        """Any transaction, also one that was reversed, or is a reversal, or none."""
        number = self.transactions[which % len(self.transactions)] if self.transactions and which < 20 else NOBODY
        key = f"undo {int(key) % 6}"
        original = self.model.ids.get(number)
        mirrored = [Leg(n, -amount) for n, amount in self.model.done[original].legs] if original else []
        one = Posting(key, "reversal", mirrored, {})
        outcome = self.model.reverse(one, number, period)
        answer = self.ask(outcome.faults, lambda: posting.reverse(self.book, key, number, {}, period=period))
        self.compare(outcome, answer and [answer], [key])

    # --- Holds ------------------------------------------------------------------------------------------------------

    @rule(key=hold_keys, chain=chains)
    def hold(self, key: str, chain: list[tuple[str, str, list[tuple[int, int]]]]) -> None:
        """A new one, or a key that holds something already."""
        made = [self.posting(request) for request in chain]
        faults = self.model.hold(key, made, HOUR)
        answer = self.ask(faults, lambda: holds.hold(self.book, key, made, seconds=HOUR))
        if answer is not None:
            held = self.model.holds[key]
            assert answer.state == ("expired" if held.timed_out else held.state)

    @precondition(lambda self: self.model.holds)
    @rule(key=hold_keys)
    def hold_again(self, key: str) -> None:
        """The same hold again answers with what became of it."""
        if key in self.model.holds and not self.model.holds[key].timed_out:
            held = self.model.holds[key]
            answer = self.ask(set(), lambda: holds.hold(self.book, key, held.chain, seconds=held.seconds))
            assert (answer.state, answer.replayed) == (held.state, True)

    @rule(key=hold_keys, request=sound)
    def hold_that_ran_out(self, key: str, request: tuple[str, str, list[tuple[int, int]]]) -> None:
        """Written by the owner with a time limit in the past: as if time had passed since."""
        one = self.posting(request)
        if key in self.model.holds or self.model.hold("probe", [one], HOUR):
            return
        reserves = self.model.holds.pop("probe").reserves
        for number, amount in reserves.items():
            account = self.model.accounts[number]
            ((held,),) = run(OWNER, "SELECT held FROM ledger_account WHERE id = %s", [number])
            if account.balance - held - amount < (account.spec.min_balance or 0):
                return
        run(OWNER, _RAN_OUT, [self.book, key, list(reserves), list(reserves.values())])
        self.model.holds[key] = Hold([one], 0, reserves, timed_out=True)

    @precondition(lambda self: self.model.holds)
    @rule(key=hold_keys, period=named)
    def post_hold(self, key: str, period: str | None) -> None:
        """Whatever became of it."""
        outcome = self.model.post_hold(key, period)
        answers = self.ask(outcome.faults, lambda: holds.post_hold(self.book, key, period=period))
        if answers is not None:
            self.compare(outcome, answers, [one.key for one in self.model.holds[key].chain])

    @precondition(lambda self: self.model.holds)
    @rule(key=hold_keys)
    def void_hold(self, key: str) -> None:
        """Whatever became of it."""
        faults = self.model.void_hold(key)
        answer = self.ask(faults, lambda: holds.void_hold(self.book, key))
        assert answer is None or answer == self.model.holds[key].state

    @precondition(lambda self: self.model.holds)
    @rule()
    def expire_holds(self) -> None:
        """As many as ran out."""
        ended = self.model.expire_holds()
        assert self.ask(set(), lambda: holds.expire_holds(self.book)) == ended

    # --- Periods, snapshots, assertions -----------------------------------------------------------------------------

    @rule(name=names)
    def open_period(self, name: str) -> None:
        """New, open or closed."""
        self.ask(self.model.open_period(name), lambda: periods.open_period(self.book, name))

    @rule(name=names)
    def close_period(self, name: str) -> None:
        """Open, closed or none."""
        if not self.transactions or len(self.transactions) % 3 == 0:
            self.ask(self.model.close_period(name), lambda: periods.close_period(self.book, name))

    @rule(name=names)
    def take_snapshot(self, name: str) -> None:
        """New or taken."""
        replayed = self.model.take(name)
        assert self.ask(set(), lambda: snapshots.take(self.book, name)).replayed == replayed

    @rule(which=accounts, off=st.sampled_from([0, 0, 0, 1]), back=st.sampled_from([None, 0, 1, 3, -1]))
    def assert_balance(self, which: int, off: int, back: int | None) -> None:
        """True or not, now or at a version."""
        number = self.numbers[which] if which < len(self.numbers) else NOBODY
        known = self.model.accounts.get(number, Account(SPECS[0]))
        version = None if back is None else known.now.version - back
        at = known.now.version if version is None else version
        expected = (known.history[at] if 0 <= at < len(known.history) else 0) + off
        faults = self.model.assert_balance(number, expected, version)
        self.ask(faults, lambda: assertions.assert_balance(self.book, number, expected, version=version))

    # --- What holds after each step ---------------------------------------------------------------------------------

    @invariant()
    def balances_are_the_models(self) -> None:
        """And versions, and what is set aside; and the book balances."""
        assert balances(self.numbers) == {number: self.model.accounts[number].now for number in self.numbers}
        aside = dict(run(APP, _ASIDE, [self.book]))
        expected = {number: self.model.held(number) for number in self.numbers}
        assert aside == {number: amount for number, amount in expected.items() if amount}
        assert checks.trial_balance(self.book).balanced

    def teardown(self) -> None:
        """The book proves itself, and its snapshots are what the model saw."""
        if not hasattr(self, "book"):
            return
        verified(self.book)
        for name, expected in self.model.snapshots.items():
            found: dict[int, tuple[int, int]] = {}
            for line in SnapshotLine.objects.filter(snapshot__book=self.book, snapshot__name=name):
                parent = next(
                    (n for n in expected if n < line.account_id <= n + self.model.accounts[n].spec.lanes), None
                )
                number = parent or line.account_id
                balance, version = found.get(number, (0, 0))
                found[number] = (balance + line.balance, version + line.version)
            assert found == {number: (held.balance, held.version) for number, held in expected.items()}


_ASIDE = """
SELECT r.account_id, sum(r.amount)::bigint FROM ledger_reserve r JOIN ledger_hold h ON h.id = r.hold_id
WHERE h.book = %s AND r.released_at IS NULL AND h.expires_at > clock_timestamp() GROUP BY r.account_id
"""
_RAN_OUT = """
WITH h AS (
    INSERT INTO ledger_hold (book, key, postings, created_at, expires_at, state)
    VALUES (%s, %s, '[]', now() - interval '2 hours', now() - interval '1 hour', 'pending') RETURNING id, expires_at
), r AS (
    INSERT INTO ledger_reserve (hold_id, account_id, amount, expires_at)
    SELECT h.id, u.account, u.amount, h.expires_at FROM h, unnest(%s::bigint[], %s::bigint[]) u(account, amount)
    RETURNING amount
)
SELECT count(*) FROM r
"""


def test_a_book_lives_as_the_model_does(live_db: None) -> None:
    run_state_machine_as_test(
        Life,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
