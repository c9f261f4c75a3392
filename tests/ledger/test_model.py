"""Random books against a ledger of thirty lines of plain Python: accepted by one iff accepted by the other."""

import uuid
from dataclasses import dataclass, field

from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger import checks, posting
from ledger.balances import balances
from ledger.errors import LedgerError
from ledger.posting import MAX_AMOUNT, AccountSpec, Balance, Leg

COMMODITIES = ("EUR", "APPLE")


@dataclass
class Model:
    """What the ledger promises, without a database; accounts are numbered by their place in `specs`."""

    specs: list[AccountSpec]
    held: list[Balance] = field(init=False)
    done: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.held = [Balance(0, 0) for _ in self.specs]

    def post(self, key: str, legs: list[tuple[int, int]]) -> str:
        """Answer "ok", "replayed" or the code of the refusal; the order of the reasons is the ledger's."""
        if any(amount == 0 for _, amount in legs):
            return "zero_amount"
        if not legs:
            return "too_few_legs"
        if key in self.done:
            return "replayed" if self.done[key] == tuple(legs) else "key_reused"
        if len({account for account, _ in legs}) < 2:
            return "too_few_legs"
        after = list(self.held)
        for account, amount in legs:
            balance = after[account].balance + self.specs[account].normal_side * amount
            if not -MAX_AMOUNT <= balance <= MAX_AMOUNT:
                return "amount_out_of_range"
            after[account] = Balance(balance, after[account].version + 1)
        unbalanced = any(
            sum(amount for account, amount in legs if self.specs[account].commodity == commodity)
            for commodity in COMMODITIES
        )
        if unbalanced:
            return "unbalanced"
        for spec, now in zip(self.specs, after, strict=True):
            if spec.min_balance is not None and now.balance < spec.min_balance:
                return "insufficient_funds"
        self.held = after
        self.done[key] = tuple(legs)
        return "ok"


def amounts() -> st.SearchStrategy[int]:
    """Mostly small ones, so that floors are met from both sides, and a few at the edge of the range."""
    return st.one_of(st.integers(-30, 30), st.integers(-30, 30), st.sampled_from([MAX_AMOUNT, -MAX_AMOUNT]))


@st.composite
def books(draw: st.DrawFn) -> tuple[list[AccountSpec], list[tuple[str, list[tuple[int, int]]]]]:
    """Accounts, and postings on them of which most balance."""
    count = draw(st.integers(2, 6))
    specs = [
        AccountSpec(
            f"account:{n}",
            "any",
            draw(st.sampled_from(COMMODITIES)),
            draw(st.sampled_from([posting.DEBIT, posting.CREDIT])),
            draw(st.sampled_from([None, None, 0, -20])),
            draw(st.integers(0, 2)),
        )
        for n in range(count)
    ]
    account = st.integers(0, count - 1)
    pair = st.tuples(account, account, amounts()).map(lambda p: [(p[0], p[2]), (p[1], -p[2])])
    balanced = st.lists(pair, min_size=1, max_size=3).map(lambda pairs: [leg for two in pairs for leg in two])
    wild = st.lists(st.tuples(account, amounts()), max_size=4)
    posting_ = st.tuples(st.integers(0, 30).map(str), st.one_of(balanced, balanced, balanced, wild))
    return specs, draw(st.lists(posting_, min_size=1, max_size=12))


def answer(book: uuid.UUID, key: str, legs: list[Leg]) -> str:
    """What the ledger says, in the model's words."""
    try:
        with transaction.atomic():
            return "replayed" if posting.post(book, key, "any", legs, {}).replayed else "ok"
    except LedgerError as error:
        return error.code


@given(books())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_ledger_agrees_with_the_model(
    live_db: None, case: tuple[list[AccountSpec], list[tuple[str, list[tuple[int, int]]]]]
) -> None:
    specs, postings = case
    book = uuid.uuid4()
    with transaction.atomic():
        ids = posting.ensure_accounts(book, specs)
    numbers = [ids[spec.code, spec.commodity] for spec in specs]
    model = Model(specs)
    for key, legs in postings:
        said = answer(book, key, [Leg(numbers[account], amount) for account, amount in legs])
        expected = model.post(key, legs)
        # A posting may break two rules at once; then the two may name different ones of them.
        refused = {"unbalanced", "insufficient_funds", "amount_out_of_range"}
        assert said == expected or (said in refused and expected in refused), (said, expected, legs)
        held = balances(numbers)
        assert [held[number] for number in numbers] == model.held
    assert checks.verify(book) == []
    assert checks.trial_balance(book).balanced
