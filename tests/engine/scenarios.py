"""The hands of the playthroughs: what they show, the table, and what its seats say."""

from __future__ import annotations

from dataclasses import dataclass

from engine.kernel.cards import TELL32
from engine.kernel.setup import Setup
from engine.vying.majzli import majzli_commitment
from tests.engine.support import stacked

NONCE = bytes(range(16))
DECK = stacked("Kl8b", "Ah7l", "XlOb", "Xb7b", "KhOl", "9a9l")
"""Of three seats all in: p1 25 in bells, p2 21 in hearts, p3 two leaves worth 19."""
HIGHER = stacked("8a8h", "AhKh", "KlXl", "7l9b", "9a7b", "9hUl")
"""Of three seats all in: p1 one of each suit, p2 21 in hearts, p3 30 in leaves."""


@dataclass(frozen=True)
class Scenario:
    """One hand; ``name`` is that of its file."""

    name: str
    title: str
    setup: Setup
    lines: tuple[str, ...]


def ferbli(
    name: str, title: str, opt: dict[str, object], *lines: str, seats: int = 3, carry: int = 0, **what: object
) -> Scenario:
    """A hand of Ferbli; ``what``: stacks, deck, redeals, series."""
    fields: dict[str, object] = {"stacks": (10_000,) * seats, "deck": DECK} | what
    setup = Setup("ferbli", {"vizi": 100} | opt, seats, carry=carry, dealer=seats, **fields)  # type: ignore[arg-type]
    return Scenario(name, title, setup, _lines(lines))


def faerbeln(name: str, title: str, opt: dict[str, object], *lines: str, **what: object) -> Scenario:
    """A hand of Färbeln with three seats."""
    base: dict[str, object] = {"ante": 200, "lower": 500, "round2_unit": "lower", "bonus41": 5000, "tax_cap": 700}
    fields: dict[str, object] = {"stacks": (10_000,) * 3, "deck": DECK} | what
    setup = Setup("faerbeln", base | opt, 3, dealer=3, **fields)  # type: ignore[arg-type]
    return Scenario(name, title, setup, _lines(("p1 po 200", "p2 po 200", "p3 po 200", "p1 po 500", *lines)))


def _lines(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Lines may be written together, separated by semicolons."""
    return tuple(line.strip() for text in texts for line in text.split(";"))


def rest(exposed: str, *first: str) -> tuple[str, ...]:
    """A redeal's pack: the cards besides the hand laid open, beginning with the given ones."""
    top = [row[at : at + 2] for row in first for at in range(0, len(row), 2)]
    return (*top, *(card for card in TELL32.cards if card not in top and card not in exposed))


TAX: dict[str, object] = {"tax_bps": 500, "tax_cap": 1000}
IN = "p1 po 100; p2 cc 100; p3 cc 100"

SCENARIOS = (
    ferbli("showdown", "Ferbli: a bet is matched and the hands are shown; the house taxes the pot", TAX,
           IN, "p1 k", "p1 lk 2; p1 rb 200", "p2 lk 2; p2 cc 200; p3 f", "p2 rb 100; p1 cc 100; p1 st"),
    ferbli("cukassza", "Ferbli: too few players, so everyone pays the vizi and it stays for the next deal", {},
           "p1 po 100; p2 f; p3 f", carry=300),
    ferbli("all_checked", "Ferbli: all check in the third round, nobody wins", {},
           "p1 po 100; p2 cc 100; p3 f", "p1 rb 200; p2 cc 200; p2 k", "p1 k; p2 k"),
    ferbli("charging", "Ferbli: after a besszer the last player charges the first, who looks and folds", {},
           IN, "p1 rb 200; p2 cc 200; p3 cc 200", "p3 ks 400 p1; p1 lk 2; p1 f; p2 cc 400",
           "p3 k", "p2 lk 2; p2 rb 100; p3 f"),
    ferbli("trace_horse", "Ferbli: two seats left; the trace-horse is charged card by card and charges back", {},
           "p1 po 100; p2 cc 100", "p1 rb 100; p2 cc 100", "p2 ks 200 p1; p1 lk 1; p1 cc 200",
           "p2 ks 400 p1; p1 cc 400", "p1 ks 800 p2; p2 lk 1; p2 cc 800", "p1 k", "p1 lk 1; p1 k; p2 k",
           seats=2, deck=stacked("Kl8b", "Ah7l", "Xb7b", "KhOl")),
    ferbli("blind", "Ferbli: blind bets must be raised until somebody has looked at all four cards", {},
           IN, "p1 k", "p1 rb 100; p2 br 200; p3 lk 2; p3 cc 300; p1 cc 200", "p1 rb 100; p2 lk 2; p2 f; p3 cc 100",
           "p3 rb 100; p1 lk 2; p1 cc 100; p1 st"),
    ferbli("call_or_discard", "Ferbli, call or discard: a cukassza is answered from the dealer clockwise",
           {"cukassza_call": "megadas_eldobas"},
           "p1 po 100; p5 f; p4 cc 100; p3 f; p2 f", "p1 k; p1 k; p4 lk 2; p4 rb 200; p1 f",
           seats=5, carry=500),
    ferbli("third_deal", "Ferbli, forced third deal: two deals have failed, so everyone pays and it goes ahead",
           {"force_third_deal": True},
           "p1 po 100; p2 po 100; p3 po 100", "p1 rb 100; p2 f; p3 f", carry=600, series={"failed": 2}),
    ferbli("majzli", "Ferbli, majzli: a commitment to the vizi, opened when all have decided", {"majzli_max": 300},
           f"p1 mj {majzli_commitment(200, NONCE)}", "p2 in; p3 f", f"p1 rv 200 {NONCE.hex()}",
           "p1 rb 400; p2 cc 400; p2 k", "p1 k; p2 k"),
    ferbli("show_two", "Ferbli, two shown: after a besszer each shows two cards, the raiser one batch",
           {"show_two": True},
           IN, "p1 rb 100; p2 cc 100; p3 cc 100; p3 k", "p1 lk 2; p1 up Xb7b", "p2 lk 2; p2 up AhKh", "p3 up XlOb",
           "p1 rb 200; p2 f; p3 lk 2; p3 f"),
    ferbli("grigare", "Ferbli, general grigáré: four in sequence and of four suits beat three of a kind",
           {"grigare": "general"},
           "p1 po 100; p2 cc 100; p1 k", "p1 lk 2; p1 rb 100; p2 lk 2; p2 cc 100; p2 st",
           seats=2, deck=stacked("KaKl", "7h8b", "Kb8h", "9lXa")),
    ferbli("kis_nagy", "Ferbli, kis and nagy grigáré: the small one is the highest hand of all",
           {"grigare": "kis_nagy"},
           "p1 po 100; p2 cc 100; p1 k", "p1 lk 2; p1 rb 100; p2 lk 2; p2 cc 100; p2 st",
           seats=2, deck=stacked("UaOl", "7a8l", "KbAh", "9bXh")),
    ferbli("santa", "Ferbli with a sánta and the triple limit: two are enough of five, a banda of 42 wins",
           {"wild": ["Oa"], "limit": "triple"},
           "p1 po 100; p2 cc 100; p3 f; p4 f; p5 f", "p1 rb 300; p2 cc 300; p2 k",
           "p1 lk 2; p1 rb 900; p2 lk 2; p2 cc 900; p2 st",
           seats=5, deck=stacked("AbKb", "AhKh", "8a8l", "9a9l", "7a7l", "ObUb", "XhOa")),
    ferbli("no_limit", "Unlimited Ferbli: only the stacks bound a bet", {"limit": "none"},
           "p1 po 100; p2 cc 100; p3 f", "p1 rb 700; p2 cc 700; p2 k", "p1 lk 2; p1 rb 4200; p2 lk 2; p2 f",
           stacks=(5000, 7000, 100)),
    ferbli("cuhhol_single", "Ferbli, cuhhol: one hand is higher than the one laid open and wins at once",
           {"cuhhol": True} | TAX, IN, "p1 k", "p1 cu Kl8bXb7b", "p2 lk 2; p2 f", "p3 lk 2; p3 k",
           deck=stacked("Kl8b", "Ah7l", "XlOl", "Xb7b", "KhOb", "9a9l")),
    ferbli("cuhhol_several", "Ferbli, cuhhol: of several higher hands the first must bet", {"cuhhol": True},
           IN, "p1 k", "p1 cu 8a8h7l9b", "p2 lk 2; p2 k; p3 lk 2; p3 k", "p2 rb 200; p3 cc 200; p3 st", deck=HIGHER),
    ferbli("cuhhkassza", "Ferbli, cuhhkassza: nobody is higher; the second deal face up is won", {"cuhhol": True},
           "p1 po 100; p2 cc 100; p3 f", "p1 k", "p1 cu Ah7bKh9a", "p2 lk 2; p2 f",
           deck=stacked("Ah7b", "8a7l", "9l8l", "Kh9a", "9b7h"),
           redeals=(rest("Ah7bKh9a", "8a9l9b7h", "8b9hXaUl", "8lUb7aXh"),
                    rest("Ah7bKh9a", "8a9l9b7h", "8b9hXaOb", "KlXlOl8l"))),
    ferbli("cuhhkassza_left", "Ferbli, cuhhkassza: nothing is higher than four aces, so the pot stays",
           {"cuhhol": True}, "p1 po 100; p2 cc 100; p3 f", "p1 k", "p1 lk 2; p1 cu AaAlAbAh", "p2 lk 2; p2 f",
           deck=stacked("AaAl", "8a7l", "9l8l", "AbAh", "9b7h"), carry=300),
    ferbli("side_pots", "Ferbli with side pots: three hands all in for different sums, and a cukassza",
           {"short_stack": "side_pot"} | TAX,
           IN, "p1 rb 200; p2 cc 200; p3 cc 200", "p3 ks 400 p1; p2 cc 300",
           stacks=(300, 600, 5000), carry=700),
    faerbeln("faerbeln", "Färbeln: two rounds, two cards up, a showdown", {},
             "p2 cc 500; p3 rb 500; p1 cc 500; p2 cc 500", "p1 up Xb7b; p2 up AhKh; p3 up XlOb",
             "p1 k; p2 rb 500; p3 f; p1 cc 500"),
    faerbeln("faerbeln_41", "Färbeln: a 41 wins alone, is shown and paid by the house",
             {"bonus41_for": "uncontested"},
             "p2 cc 500; p3 cc 500; p1 k", "p1 up AaKa; p2 up 8b7l; p3 up 9h8h", "p1 rb 500; p2 f; p3 f",
             "p1 sm AaKaOaUa", deck=stacked("AaKa", "8b7l", "9h8h", "OaUa", "XbXl", "7h7b")),
    faerbeln("faerbeln_side_pots", "Färbeln with side pots: the poorest wins the main pot",
             {"short_stack": "side_pot"},
             "p2 rb 500; p3 cc 1000; p1 cc 200", "p1 up Xb8b; p2 up AhKh; p3 up 9a9l", "p2 rb 500; p3 cc 500",
             stacks=(900, 10_000, 10_000)),
)  # fmt: skip
