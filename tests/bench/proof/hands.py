"""Hands verified against the ledger per CPU second of the process, against reading the same rows and no more."""

from tests.bench.alternate import Comparison, compare

#: Hands at each of the tables (2, 4, 5 and 7 seats) that are played through HTTP and settled, first.
HANDS = 40
SEATS = (2, 4, 5, 7)
STACK = 200_000
#: Times that one counted run goes through all of them.
ROUNDS = 8
GOAL = 5_000


def comparison(*, hands: int = HANDS, rounds: int = ROUNDS, runs: int = 7) -> Comparison:
    """Hands per CPU second: 5,000 and more is the goal. Needs a database of its own (`tests.bench.database`)."""
    from casino.hands.models import Hand
    from casino.verification import hand_rows, replaying
    from tests.casino import evenings
    from tests.casino.kit import FERBLI, Kit

    kit = Kit.found()
    for seats in SEATS:
        records = evenings.records("ferbli", FERBLI, seats=seats, hands=hands, stack=STACK, seed=f"bench {seats}")
        for record in records:
            record["seats"] = [f"T{seats}-{name}" for name in record["seats"]]
        evenings.table_of(kit, "ferbli", FERBLI, code=f"T{seats}", seats=seats)
        evenings.play_records(kit, records, code=f"T{seats}")
    stored = Hand.objects.filter(house=kit.house).count()

    def verified() -> int:
        for _ in range(rounds):
            tally = replaying.Tally()
            if difference := next(replaying.verify(kit.house, tally=tally), None):
                raise AssertionError(difference)
            if tally.hands != stored:
                raise AssertionError(f"{tally.hands} hands of {stored} were verified")
        return rounds * stored

    def read() -> int:
        return sum(hand_rows.only_read(kit.house) for _ in range(rounds))

    return compare("hands verified against the ledger", "hands", verified, "reading the rows", read, runs=runs)


if __name__ == "__main__":
    from tests.bench.database import database

    with database():
        found = comparison()
    print(found.line(), f"  goal {GOAL:,}", flush=True)
