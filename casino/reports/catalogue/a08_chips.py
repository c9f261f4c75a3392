"""A8: where the chips are, by denomination and place, and what the house owes for those that are out."""

from collections.abc import Iterator

from casino.bookkeeping.chart import CHIP_LIABILITIES, CHIPS_OUT, COMMISSIONED, face_value, kind_of
from casino.reports.frame.columns import Column, Row, Type, coded, money, pieces, ref
from casino.reports.frame.reading import Held, balances
from casino.reports.frame.report import Equality, Report, Results, Retention, Scope, Section, Sensitivity
from casino.staff.models import Role


def _chips(scope: Scope) -> list[Held]:
    return [held for held in balances(scope) if kind_of(held.code).custody]


def _places(scope: Scope) -> Iterator[Row]:
    for held in _chips(scope):
        if held.number != COMMISSIONED and held.balance:
            value = face_value(held.commodity)
            yield held.commodity, held.number, held.kind, held.place, held.balance, value * held.balance


def _denominations(scope: Scope) -> Iterator[tuple[str, int, int, int]]:
    commissioned: dict[str, int] = {}
    placed: dict[str, int] = {}
    for held in _chips(scope):
        side = commissioned if held.number == COMMISSIONED else placed
        side[held.commodity] = side.get(held.commodity, 0) + held.balance
    for commodity in sorted(commissioned.keys() | placed.keys(), key=lambda name: (face_value(name), name)):
        yield commodity, face_value(commodity), commissioned.get(commodity, 0), placed.get(commodity, 0)


def _liability(scope: Scope) -> Iterator[Row]:
    sums: dict[str, int] = {}
    for held in balances(scope):
        if held.number in CHIP_LIABILITIES:
            sums[held.number] = sums.get(held.number, 0) + held.balance
    for number, owed in sorted(sums.items()):
        yield number, kind_of(number).name, owed


def _equalities(scope: Scope, results: Results) -> Iterator[Equality]:
    for commodity, _, commissioned, placed in _denominations(scope):
        yield Equality(
            "pieces of {commodity} in all places = commissioned",
            placed,
            commissioned,
            Type.PIECES,
            named={"commodity": commodity},
        )
    out = sum(face_value(held.commodity) * held.balance for held in _chips(scope) if held.number in CHIPS_OUT)
    yield Equality(
        "worth of the chips that are out = what the house owes for chips",
        out,
        results["liability"].totals["owed"],
        Type.MONEY,
    )
    yield Equality(
        "pieces by place = pieces by denomination",
        results["places"].totals["pieces"],
        results["denominations"].totals["placed"],
        Type.PIECES,
    )


REPORT = Report(
    id="chips",
    number="A8",
    version=1,
    title="Chip inventory and liability",
    text="Where every chip is, whether any is missing, and what the house owes for the chips that are out.",
    roles=(Role.AUDITOR, Role.MANAGER),
    sections=(
        Section(
            "denominations",
            "By denomination",
            (
                ref("commodity", "Denomination"),
                money("value", "Face value", total=False),
                pieces("commissioned", "Commissioned"),
                pieces("placed", "In some place"),
            ),
            _denominations,
        ),
        Section(
            "places",
            "By place",
            (
                ref("commodity", "Denomination"),
                Column("number", "Account", Type.REF),
                coded("kind", "Kind of place"),
                ref("place", "Place"),
                pieces("pieces", "Pieces"),
                money("worth", "Worth"),
            ),
            _places,
            groups=("kind", "place", "commodity"),
        ),
        Section(
            "liability",
            "Owed for chips",
            (ref("number", "Account"), coded("kind", "Owed as"), money("owed", "Owed")),
            _liability,
        ),
    ),
    equalities=_equalities,
    sensitivity=Sensitivity.NO_PERSON,
    retention=Retention.BOOKS,
)
