"""`docs/reference/postings.md`: the chart of accounts and the table of postings, made from the data.

`manage.py postings_page --write` makes it anew; a test fails while it is not what the data say.
"""

from collections.abc import Mapping
from pathlib import Path

from casino.bookkeeping.chart import CHART, CHIP_LIABILITIES, CHIPS_OUT, CREDIT, Kind
from casino.bookkeeping.examples import EXAMPLES, OPENED, Example
from casino.bookkeeping.postings import EVENTS, SECTIONS, Row
from casino.core.denominations import Chips

PATH = Path(__file__).resolve().parents[2] / "docs" / "reference" / "postings.md"
#: What each account is for.
MEANING = {
    "1010": "Cash in the vault.",
    "1020": "Cash in one cashier's drawer, from float to count.",
    "1050": "Cash in the drop box of one table, uncounted until the soft count.",
    "1160": "Chips of other houses, taken at face value until they are redeemed.",
    "1300": "What players owe the house. Off: this house lends nothing.",
    "2010": "Owed to one player for chips he holds away from the tables.",
    "2015": "Owed for chips nobody can be named for: what counts find over or short. It may run either way.",
    "2020": "Owed to one player for the chips in front of him at one table.",
    "2030": "Owed to whoever wins the hand in play at one table.",
    "2040": "Owed to a later hand of one table: a pot that was not won.",
    "2050": "Owed to later hands of one table: what its pots held above the agreed level.",
    "2060": "Owed to the staff for tips lying in one table's tip box.",
    "2070": "A pot frozen until somebody rules for whom it is.",
    "2080": "Owed to the next sitting of one table, whose chips lie in its tray meanwhile.",
    "2200": "Gaming duty owed to the tax office.",
    "3010": "What the owners have put in.",
    "4010": "What the house has kept of pots at one table (rake).",
    "4020": "What players have paid for seats by the hour.",
    "5100": "Bonuses the house has paid at one table.",
    "5200": "Cash that counts of one drawer, or of one table's drop box, found missing, less what they found over.",
    "5210": "Chips that counts of one rack found missing, less what they found over.",
    "5300": "Duty on the house's take.",
    "9110": "Chips in the vault.",
    "9120": "Chips in one cashier's drawer.",
    "9130": "Chips in the tray of one table, the house's own.",
    "9140": "Chips between a table and the cage, signed out and not yet signed in.",
    "9150": "Chips in the locked tax box of one table, until the soft count.",
    "9160": "Chips in the tip box of one table.",
    "9170": (
        "Chips with players, pots included. By place they say where chips went out and came back; house-wide the sum "
        "is what is out there."
    ),
    "9199": "All chips there are: what was bought of the maker, less what was destroyed.",
}

HEAD = """# Accounts and postings

Made from `chart.py`, `events.py` and `examples.py` by `manage.py postings_page --write`; do not edit. A test posts
every example on this page to a real ledger and compares every balance.

The books have two halves. **Money** is what the house has and owes, in the smallest unit of its currency. **Chips**
are where the chips are, counted in pieces, one commodity for each denomination. Whoever moves a chip moves it from
one rack to another, so the pieces of a denomination in all racks are always those commissioned.

What joins the halves: chips in the hands of the public and in tip boxes ({out}) are worth what the house owes for
chips ({owed}). A posting that would break it is refused, and a task compares the two every minute.

`Dr` is what an account takes in, `Cr` what it gives; both sides of a line are the same amount. Assets, expenses and
racks grow on the debit side, liabilities and income on the credit side; balances are written as they grow.
"""

SCENE = """## The evening of the examples

All examples are in euros, with chips of 1.00, 5.00, 25.00 and 100.00. The owners have paid in 100,000.00 and
commissioned chips; drawer C1 has its float, table T1 its tray. Anna and Bela have each bought chips for 300.00 and
sat down with 200.00. Every example starts from here:
"""


def render() -> str:
    """The page."""
    parts = [
        HEAD.format(out=" + ".join(CHIPS_OUT), owed=" + ".join(CHIP_LIABILITIES)),
        _accounts(),
        SCENE,
        _balances(OPENED),
    ]
    for title, rows in SECTIONS.items():
        parts += [f"## {title}\n", *(_row(row) for row in rows)]
    return "\n".join(parts).rstrip("\n") + "\n"


def _accounts() -> str:
    lines = [
        "## The chart of accounts\n",
        "| no. | account | grows | may fall below zero | for | moved by |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {kind.number} | {kind.name}{'' if kind.on else ' (off)'} | {'Cr' if kind.normal_side == CREDIT else 'Dr'} "
        f"| {'no' if kind.floor == 0 else 'yes'} | {MEANING[kind.number]} | {_movers(kind)} |"
        for kind in CHART.values()
    ]
    return "\n".join(lines) + "\n"


def _movers(kind: Kind) -> str:
    names = [
        f"`{row.name}`"
        for row in EVENTS.values()
        if any(kind.number in (line.debit[:4], line.credit[:4]) for line in row.lines)
    ]
    return ", ".join(names) or "nothing yet"


def _row(row: Row) -> str:
    example = EXAMPLES[row.name]
    waiting = "" if row.since == "now" else " *Nothing books this yet.*"
    lines = [f"### {row.title}\n", f"`{row.name}`: {row.meaning}{waiting}\n"]
    if row.lines:
        lines += ["| Dr | Cr | what |", "|---|---|---|"]
        lines += [f"| `{line.debit}` | `{line.credit}` | {line.what} |" for line in row.lines]
        lines.append("")
    return "\n".join([*lines, _example(example)])


def _example(example: Example) -> str:
    lines = [f"*Example.* {example.story}\n"]
    if example.given:
        before = ", ".join(f"`{event.row.name}`" for event in example.given)
        lines.append(f"Before it: {before}.\n")
    sides = ("Cr", "Dr") if example.mirrored else ("Dr", "Cr")
    lines += [f"| {sides[0]} | {sides[1]} | |", "|---|---|---|"]
    lines += [
        f"| {_name(debit)} | {_name(credit)} | {_moved(what)} |"
        for event in example.events
        for debit, credit, what in event.lines()
    ]
    return "\n".join([*lines, "\nAfter it:\n", _balances(example.after)])


def _balances(after: Mapping[str, int | Mapping[int, int]]) -> str:
    lines = ["| account | holds |", "|---|---|"]
    lines += [
        f"| {_name(code)} | {_figure(held) if isinstance(held, int) else _pieces(held)} |"
        for code, held in after.items()
    ]
    return "\n".join(lines) + "\n"


def _name(code: str) -> str:
    return f"{code} {CHART[code.split('/')[0]].name}"


def _moved(what: int | Chips) -> str:
    if isinstance(what, int):
        return _figure(what)
    return f"{_pieces(what.pieces)} = {_figure(what.value)}"


def _pieces(pieces: Mapping[int, int]) -> str:
    return ", ".join(f"{count:,} x {_figure(value)}" for value, count in sorted(pieces.items(), reverse=True))


def _figure(cents: int) -> str:
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100:,}.{abs(cents) % 100:02}"
