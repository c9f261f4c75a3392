"""What a minor is given back, over random histories of buying, playing and cashing out, against a model of its own."""

import itertools
from dataclasses import dataclass, field

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from casino.bookkeeping import chart
from casino.cage.minors import Figures
from casino.reports.selectors import custody
from casino.staff.models import Role
from casino.verification.auditing import verify_house
from tests.casino.busy import PERSON
from tests.casino.kit import Kit

#: One chip that everything is worth.
CHIP = 1_000
STEPS = ("buys", "cashes_out", "deposits", "draws", "takes_back", "hands_in", "plays")


@dataclass
class Model:
    """What the house has had of a player and owes the player, by arithmetic of its own: never by accounts."""

    #: Cash that changed hands for play: what came, and what went. A deposit is not for play before it is drawn.
    paid: list[int] = field(default_factory=list)
    chips: int = 0
    deposit: int = 0
    held: int = 0

    def take(self, step: str, chips: int) -> int:
        """Do a step with so many chips, or with as many as there are; returns with how many it was done."""
        least = dict.fromkeys(("cashes_out", "hands_in"), self.chips) | dict.fromkeys(
            ("draws", "takes_back"), self.deposit
        )
        done = min(chips, least.get(step, chips))
        match step:
            case "buys":
                self.paid.append(done)
                self.chips += done
            case "cashes_out":
                self.paid.append(-done)
                self.chips -= done
            case "deposits":
                self.deposit += done
            case "draws":
                self.deposit -= done
                self.paid.append(done)
                self.chips += done
            case "takes_back":
                self.deposit -= done
            case "hands_in":
                self.chips -= done
                self.held += done
        return done

    def given_back(self) -> int:
        """Everything that was paid in and not paid out, but no more than nothing of it; and the deposit."""
        return self.deposit + (sum(self.paid) if sum(self.paid) > 0 else 0)


class House:
    """A house with an open drawer, and a table without a tax where somebody sits who wins and loses."""

    def __init__(self, kit: Kit) -> None:
        self.kit, self.numbers = kit, itertools.count(1)
        kit.table(vizi=CHIP, tax_bps=0)
        self.dealer = kit.seated(stacks=(50_000,))
        self.cashier, self.compliance = kit.cashier(), kit.office(Role.COMPLIANCE)

    def player(self) -> str:
        """A new player, of whom it is recorded who it is."""
        ref = f"p{next(self.numbers)}"
        self.kit.players(ref)
        person = PERSON | {"name": ref, "document": ref}
        self.cashier.ok(f"/api/v1/players/{ref}/person", {"person": person, "reason": "first_record"}, version=1)
        self.cashier.refresh()
        return ref

    def do(self, ref: str, step: str, chips: int) -> None:
        """Do a step with so many chips."""
        amount, pieces = chips * CHIP, {str(CHIP): chips}
        one = {"player": ref, "amount": amount}
        match step:
            case "buys":
                self.cashier.ok("buy-ins", one | {"pieces": pieces})
            case "cashes_out":
                self.cashier.ok("cash-outs", one | {"pieces": pieces})
            case "deposits":
                self.cashier.ok("deposits", one)
            case "draws":
                self.cashier.ok("deposits/draw", one | {"pieces": pieces})
            case "takes_back":
                self.cashier.ok("deposits/return", one)
            case "hands_in":
                self.hand_in(ref, chips)

    def hand_in(self, ref: str, chips: int) -> None:
        body = {"player": ref, "amount": chips * CHIP, "pieces": {str(CHIP): chips}, "cause": "suspension"}
        self.kit.approved(self.cashier, "held-payouts", body, by=Role.COMPLIANCE)

    def play(self, ref: str, holds: int, hands: int) -> int:
        """Sit down with all chips, play some hands, of which every second one is given up at once, and leave; returns
        with how many chips."""
        self.dealer.refresh()
        self.dealer.ok("seats", {"seat": 2, "player": ref, "amount": holds * CHIP})
        for number in range(hands):
            self.dealer.ok("hands", {"mode": "physical"})
            self.dealer.act(f"p1 po {CHIP}", "d dh p1 ????", "d dh p2 ????")
            if number % 2:
                self.dealer.act("p2 f")
            else:
                self.dealer.act(f"p2 cc {CHIP}", "p1 k", "d dh p1 ????", "d dh p2 ????")
                self.dealer.act("p1 lk 2", f"p1 rb {CHIP}", "p2 lk 2", "p2 f")
            self.kit.settle()
            self.dealer.refresh()
        left = self.dealer.ok("seats/2/leave")["last_event"]["amount"]
        assert left % CHIP == 0
        return int(left // CHIP)

    def settle(self, ref: str, chips: int) -> dict[str, int]:
        """Record the player as a minor, take the chips, and settle by the figures of then."""
        minor = self.compliance.ok(f"players/{ref}/minor", {"born": "2015-01-01"})["minor"]
        if chips:
            self.hand_in(ref, chips)
        now: dict[str, int] = self.compliance.get(f"minors/{minor}").json()["now"]
        self.kit.approved(self.compliance, f"minors/{minor}/settlement", now)
        return now


_HISTORIES = st.lists(st.tuples(st.sampled_from(STEPS), st.integers(1, 6)), max_size=7)


@given(_HISTORIES)
@example([("buys", 5), ("plays", 1), ("cashes_out", 2), ("plays", 2), ("deposits", 3)])
@example([("buys", 6), ("plays", 1), ("plays", 1), ("hands_in", 1)])
@example([("deposits", 6), ("draws", 4), ("plays", 2), ("cashes_out", 5), ("takes_back", 1)])
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_stakes_are_given_back_and_nothing_else(kit: Kit, history: list[tuple[str, int]]) -> None:
    """The first example of a house founds it; the next ones bring another player."""
    house = kit.__dict__.setdefault("_of_the_property", None) or House(kit)
    kit.__dict__["_of_the_property"] = house
    ref, model = house.player(), Model()
    for step, wanted in history:
        if step == "plays":
            # Every hand may cost two chips; with fewer nobody sits down.
            hands = min(wanted, model.chips // 2)
            model.chips = house.play(ref, model.chips, hands) if hands else model.chips
        elif chips := model.take(step, wanted):
            house.do(ref, step, chips)
    before = kit.balance("2087", "5250")
    there = model.deposit + model.held + model.chips
    figures = house.settle(ref, model.chips)
    back = model.given_back()
    assert figures["refund"] == back * CHIP
    kept, borne = (now - then for now, then in zip(kit.balance("2087", "5250"), before, strict=True))
    assert (kept, borne) == (max(there - back, 0) * CHIP, max(back - there, 0) * CHIP)
    left = {code: balance for code, balance, _ in chart.of_player(kit.house, ref) if balance}
    assert left == ({f"2085/{ref}": back * CHIP} if back else {})
    assert custody(kit.house)["equal"]
    assert verify_house(kit.house).findings == []


@given(stakes=st.integers(-(10**12), 10**12), deposit=st.integers(0, 10**12), held=st.integers(0, 10**12))
def test_the_sums_add_up(stakes: int, deposit: int, held: int) -> None:
    found = Figures.of(stakes=stakes, deposit=deposit, held=held)
    assert found.refund + found.kept == found.deposit + found.held + found.borne
    assert found.refund >= deposit and min(found.kept, found.borne) == 0
    assert found.refund == deposit if stakes <= 0 else found.refund == deposit + stakes
