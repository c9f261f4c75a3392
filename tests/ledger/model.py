"""The ledger without a database: what it promises, in plain Python, to hold the real one against.

A request that breaks several rules may be refused for any of them; so the model answers with the set of codes that
are true of it, and an empty set means that it must be accepted. Account and transaction ids are the real ones.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ledger.posting import MAX_AMOUNT, AccountSpec, Balance, Posting

Legs = tuple[tuple[int, int], ...]


@dataclass
class Account:
    """What an account is and what it went through; `history[v]` is its balance at version v."""

    spec: AccountSpec
    history: list[int] = field(default_factory=lambda: [0])
    closed: bool = False

    @property
    def balance(self) -> int:
        """What it holds."""
        return self.history[-1]

    @property
    def now(self) -> Balance:
        """Balance and version."""
        return Balance(self.balance, len(self.history) - 1)


@dataclass(frozen=True)
class Request:
    """What a replay must repeat: all of a posting, its legs by account, and what it reverses."""

    kind: str
    legs: Legs
    metadata: str
    reverses: int | None = None


@dataclass
class Hold:
    """A chain that is set aside; `timed_out` says that its time has run out, `state` what the ledger calls it."""

    chain: list[Posting]
    seconds: int
    reserves: dict[int, int]
    state: str = "pending"
    timed_out: bool = False

    @property
    def counts(self) -> bool:
        """Whether it sets anything aside."""
        return self.state == "pending" and not self.timed_out


@dataclass
class Outcome:
    """What a batch would do: refusals, or by posting whether it is a replay, and the balances that it leaves."""

    faults: set[str]
    replayed: list[bool] = field(default_factory=list)
    left: list[dict[int, Balance]] = field(default_factory=list)


def request_of(posting: Posting, reverses: int | None = None) -> Request:
    """The part of a posting that its key stands for."""
    legs = sorted(((leg.account_id, leg.amount) for leg in posting.legs), key=lambda leg: leg[0])
    return Request(posting.kind, tuple(legs), repr(posting.metadata), reverses)


@dataclass
class Book:
    """One book; methods named after the ledger's functions."""

    accounts: dict[int, Account] = field(default_factory=dict)
    done: dict[str, Request] = field(default_factory=dict)
    answers: dict[str, dict[int, Balance]] = field(default_factory=dict)
    ids: dict[int, str] = field(default_factory=dict)
    """Keys by the ids of their transactions."""
    holds: dict[str, Hold] = field(default_factory=dict)
    periods: dict[str, bool] = field(default_factory=dict)
    """Whether open, by name, in the order of opening."""
    snapshots: dict[str, dict[int, Balance]] = field(default_factory=dict)

    # --- Accounts ---------------------------------------------------------------------------------------------------

    def find(self, code: str, commodity: str) -> int | None:
        """The account's id."""
        found = (n for n, a in self.accounts.items() if (a.spec.code, a.spec.commodity) == (code, commodity))
        return next(found, None)

    def open(self, spec: AccountSpec) -> set[str]:
        """Why it cannot be opened, or found."""
        known = self.find(spec.code, spec.commodity)
        if known is None:
            return set()
        if self.accounts[known].closed:
            return {"account_closed"}
        return set() if self.accounts[known].spec == spec else {"account_differs"}

    def close(self, account: int) -> set[str]:
        """Close it if that may be."""
        if account not in self.accounts:
            return {"unknown_account"}
        if self.accounts[account].balance or self.held(account):
            return {"account_not_empty"}
        self.accounts[account].closed = True
        return set()

    def held(self, account: int) -> int:
        """What holds set aside on it."""
        return sum(hold.reserves.get(account, 0) for hold in self.holds.values() if hold.counts)

    # --- Postings ---------------------------------------------------------------------------------------------------

    def post(
        self, postings: Sequence[Posting], period: str | None, reverses: int | None = None, *, released: str = ""
    ) -> Outcome:
        """What posting them one after the other comes to; with faults nothing has changed.

        `released` is a hold that no longer counts.
        """
        outcome = Outcome(set(), [False] * len(postings), [{} for _ in postings])
        if len({posting.key for posting in postings}) < len(postings):
            outcome.faults.add("key_reused")
        before = {number: list(account.history) for number, account in self.accounts.items()}
        for number, posting in enumerate(postings):
            request = request_of(posting, reverses)
            if posting.key in self.done:
                outcome.replayed[number] = True
                outcome.left[number] = self.answers[posting.key]
                if self.done[posting.key] != request:
                    outcome.faults |= self._shape(request.legs) | {"key_reused"}
                continue
            outcome.faults |= self._shape(request.legs) | self._apply(request.legs, released)
            outcome.faults |= {"key_reused"} & {self._claimed(posting.key, released)}
            outcome.left[number] = {n: self.accounts[n].now for n, _ in request.legs if n in self.accounts}
        if not all(outcome.replayed) and not self._open(period):
            outcome.faults.add("period_not_open")
        if outcome.faults:
            for number, history in before.items():
                self.accounts[number].history = history
            return outcome
        for number, posting in enumerate(postings):
            if not outcome.replayed[number]:
                self.done[posting.key] = request_of(posting, reverses)
                self.answers[posting.key] = outcome.left[number]
        return outcome

    def _claimed(self, key: str, released: str = "") -> str:
        """The fault where a hold keeps the key for itself, else nothing."""
        claimed = any(
            hold.counts and name != released and any(one.key == key for one in hold.chain)
            for name, hold in self.holds.items()
        )
        return "key_reused" if claimed else ""

    def _open(self, period: str | None) -> bool:
        """Whether something may be posted into the period."""
        if period is None:
            return not self.periods or any(self.periods.values())
        return self.periods.get(period, False)

    def _shape(self, legs: Legs) -> set[str]:
        """Faults of a posting by itself, whatever the accounts hold."""
        faults = set()
        if any(amount == 0 for _, amount in legs):
            faults.add("zero_amount")
        if len({account for account, _ in legs}) < 2:
            faults.add("too_few_legs")
        known = [(self.accounts[account], amount) for account, amount in legs if account in self.accounts]
        if len(known) < len(legs):
            faults.add("unknown_account")
        if any(account.closed for account, _ in known):
            faults.add("account_closed")
        sums: Counter[str] = Counter()
        for account, amount in known:
            sums[account.spec.commodity] += amount
        if any(sums.values()):
            faults.add("unbalanced")
        if sum(account.spec.weight * amount for account, amount in known):
            faults.add("unbacked")
        return faults

    def _apply(self, legs: Legs, released: str) -> set[str]:
        """Move the accounts; faults of what they hold then."""
        faults = set()
        for number, amount in legs:
            if number in self.accounts:
                account = self.accounts[number]
                account.history.append(account.balance + account.spec.normal_side * amount)
                if not -MAX_AMOUNT <= account.balance <= MAX_AMOUNT:
                    faults.add("amount_out_of_range")
        for number in {number for number, _ in legs} & self.accounts.keys():
            account = self.accounts[number]
            aside = self.held(number)
            if released:
                aside -= self.holds[released].reserves.get(number, 0)
            if account.spec.min_balance is not None and account.balance < account.spec.min_balance + aside:
                faults.add("insufficient_funds")
        return faults

    def reverse(self, posting: Posting, transaction: int, period: str | None) -> Outcome:
        """Post the mirror; the legs of `posting` do not matter."""
        original = self.ids.get(transaction)
        if original is None:
            return Outcome({"unknown_transaction"})
        if self.done[original].reverses is not None:
            return Outcome({"cannot_reverse_reversal"})
        if any(done.reverses == transaction and key != posting.key for key, done in self.done.items()):
            return Outcome({"already_reversed"})
        return self.post([posting], period, transaction)

    # --- Holds ------------------------------------------------------------------------------------------------------

    def hold(self, key: str, chain: Sequence[Posting], seconds: int) -> set[str]:
        """Set aside what the chain may take."""
        known = self.holds.get(key)
        if known is not None:
            same = [(one.key, one) for one in known.chain] == [(one.key, one) for one in chain]
            return set() if same and known.seconds == seconds else self._unfit(chain) | {"key_reused"}
        faults = self._unfit(chain)
        for posting in chain:
            legs = request_of(posting).legs
            faults |= self._shape(legs)
            if posting.key in self.done or self._claimed(posting.key):
                faults.add("key_reused")
        reserves = self.reserves(chain)
        for number, needed in reserves.items():
            account = self.accounts[number]
            if account.balance - self.held(number) - needed < (account.spec.min_balance or 0):
                faults.add("insufficient_funds")
        if not faults:
            self.holds[key] = Hold(list(chain), seconds, reserves)
        return faults

    def _unfit(self, chain: Sequence[Posting]) -> set[str]:
        """Faults of a chain as a batch."""
        faults = {"too_few_legs" for posting in chain if not posting.legs}
        return faults | ({"key_reused"} if len({posting.key for posting in chain}) < len(chain) else set())

    def reserves(self, chain: Sequence[Posting]) -> dict[int, int]:
        """The most that the chain takes from each account with a floor."""
        after: Counter[int] = Counter()
        needed: dict[int, int] = {}
        for posting in chain:
            for leg in posting.legs:
                if leg.account_id in self.accounts:
                    after[leg.account_id] += self.accounts[leg.account_id].spec.normal_side * leg.amount
            for number in {leg.account_id for leg in posting.legs} & self.accounts.keys():
                if self.accounts[number].spec.min_balance is not None and after[number] < 0:
                    needed[number] = max(needed.get(number, 0), -after[number])
        return needed

    def post_hold(self, key: str, period: str | None) -> Outcome:
        """Post the chain of a hold."""
        hold = self.holds.get(key)
        if hold is None:
            return Outcome({"unknown_hold"})
        if not hold.counts and hold.state != "posted":
            return Outcome({"hold_ended"})
        outcome = self.post(hold.chain, period, released=key if hold.counts else "")
        if not outcome.faults:
            hold.state = "posted"
        return outcome

    def void_hold(self, key: str) -> set[str]:
        """Let go."""
        hold = self.holds.get(key)
        if hold is None:
            return {"unknown_hold"}
        if hold.state == "posted":
            return {"hold_ended"}
        if hold.state == "pending":
            hold.state = "expired" if hold.timed_out else "voided"
        return set()

    def expire_holds(self) -> list[str]:
        """Tidy up; which, the oldest first."""
        ended = {key: hold for key, hold in self.holds.items() if hold.state == "pending" and hold.timed_out}
        for hold in ended.values():
            hold.state = "expired"
        return list(ended)

    # --- Periods, snapshots, assertions -----------------------------------------------------------------------------

    def open_period(self, name: str) -> set[str]:
        """Open it, or find it open."""
        if self.periods.get(name) is False:
            return {"period_not_open"}
        self.periods[name] = True
        return set()

    def close_period(self, name: str) -> set[str]:
        """Close it, with a snapshot."""
        if name not in self.periods:
            return {"period_not_open"}
        if self.periods[name]:
            self.periods[name] = False
            self.take(f"period {name}")
        return set()

    def take(self, name: str) -> bool:
        """Take a snapshot; whether it was there."""
        replayed = name in self.snapshots
        self.snapshots.setdefault(name, {n: a.now for n, a in self.accounts.items() if a.now.version})
        return replayed

    def assert_balance(self, account: int, expected: int, version: int | None) -> set[str]:
        """Why it is not so."""
        known = self.accounts.get(account)
        if known is None or known.spec.lanes:
            return {"unknown_account"}
        at = known.now.version if version is None else version
        if not 0 <= at < len(known.history):
            return {"unknown_account"}
        return set() if known.history[at] == expected else {"balance_differs"}
