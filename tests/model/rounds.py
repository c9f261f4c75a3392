"""The rounds of a hand as the rules text shows them. Each function asks (``yield``) what may be said, and is shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from hashlib import sha256

from tests.model import asking, payout
from tests.model.asking import Asked, Course, Question, Words, exactly, just, look, money
from tests.model.ranking import cut
from tests.model.table import Table

HEX64, HEX32 = re.compile(r"[0-9a-f]{64}\Z"), re.compile(r"[0-9a-f]{32}\Z")


# Deal and first round: the vizi and the cukassza.


def first_round(table: Table) -> Course:
    """The first player's vizi, two cards each, and who plays."""
    fist = (yield from before_the_deal(table)) if table.opt.get("majzli_max") else None
    if fist is None:
        yield from blinds(table)
    for seat in table.seats:
        yield from deal(table, seat, 2)
        table.look(seat, 2)
    for seat in [] if table.forced_deal else order_of_first_round(table):
        if not (yield from stays(table, seat, fist)):
            table.folded.add(seat)
    if fist is not None:
        yield from open_the_fist(table, fist)
    table.largest = table.level = table.vizi
    if len(table.active) < table.enough and not table.forced_deal:
        payout.carried(table, "cukassza", penalty=True)


def blinds(table: Table) -> Course:
    """The first player posts a vizi; in a forced third deal everyone does."""
    for seat in table.seats if table.forced_deal else [1]:
        yield [exactly(seat, "po", table.vizi)]
        table.pay(seat, table.vizi)


def order_of_first_round(table: Table) -> list[int]:
    """In turn after the first player; under call or discard clockwise from the dealer."""
    return [*reversed(table.seats[1:])] if table.called_out else [*table.seats[1:]]


def stays(table: Table, seat: int, fist: str | None) -> Generator[Asked, Words, bool]:
    """Puts in the vizi (or, before an unknown one, says that it will), or lays its cards down."""
    if fist is not None:
        return (yield [just(seat, "in"), just(seat, "f")])[1] == "in"
    if (yield [exactly(seat, "cc", table.vizi), just(seat, "f")])[1] == "f":
        return False
    table.pay(seat, table.vizi)
    return True


def before_the_deal(table: Table) -> Generator[Asked, Words, str]:
    """Majzli: the first player keeps the vizi in a closed fist; returns what was said of it."""
    said = yield [asking.May("p1", "mj", words=(lambda word: word == "??" or bool(HEX64.match(word)),))]
    return said[2]


def open_the_fist(table: Table, fist: str) -> Course:
    """Majzli: the fist is opened, and those who stayed in pay what was in it."""
    amount = asking.within(table.vizi, table.opt["majzli_max"], table.step)
    opens = asking.May("p1", "rv", table.vizi, table.opt["majzli_max"], table.step, words=(amount,))
    if fist == "??":
        said = yield [opens]
    else:
        said = yield [Opening("p1", "rv", table.vizi, table.opt["majzli_max"], table.step, fist=fist)]
    table.vizi = int(said[2])
    for seat in table.active:
        table.pay(seat, table.vizi)


class Opening(asking.May):
    """``rv N NONCE``, which must open the commitment."""

    def __init__(self, actor: str, verb: str, least: int, most: int, step: int, *, fist: str) -> None:
        super().__init__(actor, verb, least, most, step)
        object.__setattr__(self, "fist", fist)

    def fits(self, words: Words) -> bool:
        if words[:2] != [self.actor, self.verb] or len(words) != 4 or not HEX32.match(words[3]):
            return False
        assert self.least and self.most and self.step
        return asking.within(self.least, self.most, self.step)(words[2]) and commitment(*words[2:]) == self.fist


def commitment(amount: str, nonce: str) -> str:
    """SHA-256 over the parts, each after its length in four bytes."""
    parts = (b"majzli-v1", amount.encode(), bytes.fromhex(nonce))
    return sha256(b"".join(len(part).to_bytes(4, "big") + part for part in parts)).hexdigest()


def deal(table: Table, seat: int, count: int) -> Course:
    """So many cards to one seat, face down."""
    said = yield [asking.deal(seat, count, table.can_be_dealt)]
    table.receive(seat, cut(said[3]))


# Second round: besszerelés, kóstáltatás.


def second_round(table: Table) -> Course:
    """The first player may raise; after a raise, the last player may charge."""
    if not table.is_asked(1):
        return
    said = yield [just(1, "k"), *bets(table, 1)]
    if said[1] == "k":
        return
    table.bet(1, int(said[2]))
    table.raisers.add(1)
    for seat in table.others(after=1):
        yield from match_or_drop_out(table, seat)
    yield from charges_of_the_last_player(table)
    yield from charges_of_the_trace_horse(table)


def bets(table: Table, seat: int, verb: str = "rb") -> Asked:
    """The bets open to a seat, if any."""
    most = table.most(seat)
    return [money(seat, verb, table.vizi, most, table.step)] if most else []


def match_or_drop_out(table: Table, seat: int, *, charged: int = 0) -> Generator[Asked, Words, bool]:
    """Whether the seat matched what it owes; it may look at the cards it is charged for. The last one left has won."""
    if not table.is_asked(seat):
        return False
    said = yield from speak(table, seat, lambda: [exactly(seat, "cc", table.owes(seat)), just(seat, "f")], charged)
    if said[1] == "cc":
        table.pay(seat, int(said[2]))
        return True
    drop_out(table, seat)
    return False


def drop_out(table: Table, seat: int) -> None:
    table.folded.add(seat)
    if len(table.active) == 1:
        payout.alone(table, table.active[0])


def speak(table: Table, seat: int, options: Callable[[], Asked], fewest: int = 4) -> Question:
    """What the seat says; before that it may look at the cards that it has not seen, or at ``fewest`` of them, those
    dealt last; 0: it may not."""
    while True:
        unseen = table.unseen(seat) if fewest else 0
        said = yield [*([look(seat, unseen, fewest)] if unseen else []), *options()]
        if said[1] != "lk":
            return said
        table.look(seat, int(said[2]))


def charges_of_the_last_player(table: Table) -> Course:
    """First player, next, and so on; the trace-horse card by card. A charge not made ends it."""
    last = table.active[-1]
    while short := [seat for seat in table.active if seat != last and len(table.hand[seat]) < 4]:
        one_card = short[0] == table.active[-2]
        if not (yield from charge(table, last, short[0], 1 if one_card else 2)):
            return


def charges_of_the_trace_horse(table: Table) -> Course:
    """If it paid for its third and for its fourth card, it may charge the last player in the same way."""
    horse, last = table.active[-2:]
    if table.single_charges_paid.get(horse) != 2:
        return
    while last in table.active and len(table.hand[last]) < 4:
        if not (yield from charge(table, horse, last, 1)):
            return


def charge(table: Table, by: int, target: int, count: int) -> Generator[Asked, Words, bool]:
    """The stake, the cards, the answer of the one who is charged, the answers of the others."""
    if not table.is_asked(by):
        return False
    most = table.most(by)
    said = yield [
        just(by, "k"),
        *([asking.charge(by, target, count, most, table.vizi, table.step)] if most else []),
    ]
    if said[1] == "k":
        return False
    table.bet(by, int(said[2]))
    table.raisers.add(by)
    yield from deal(table, target, count)
    waiting = [seat for seat in table.others(after=target) if seat != by]
    if (yield from match_or_drop_out(table, target, charged=count)) and count == 1:
        table.single_charges_paid[target] = table.single_charges_paid.get(target, 0) + 1
    for seat in waiting:
        yield from match_or_drop_out(table, seat)
    return True


def rest_of_the_deal(table: Table) -> Course:
    """Every active seat gets what it is short of four cards."""
    for seat in table.active:
        if len(table.hand[seat]) < 4:
            yield from deal(table, seat, 4 - len(table.hand[seat]))


def two_cards_turned_up(table: Table) -> Course:
    """After a besszer every active seat lays two of its cards open."""
    if not (table.opt.get("show_two") and table.raisers):
        return
    for seat in table.active:
        said = yield from speak(table, seat, lambda seat=seat: [turning_up(table, seat)])
        table.up_places[seat] = table.places_of(seat, cut(said[2]))
        table.up[seat] = cut(said[2])


def turning_up(table: Table, seat: int) -> asking.May:
    return asking.show(seat, "up", 2, lambda cards: bool(table.places_of(seat, cards)))


# Third round: hívás, visszahívás, vakon hívás.


def third_round(table: Table) -> Course:
    """Bet or check in turn, then answers and raises of the last who matched."""
    asked = asked_in_third_round(table)
    for seat in asked:
        said = yield from speak(table, seat, lambda seat=seat: [just(seat, "k"), *third_bets(table, seat)])
        if said[1] == "rb":
            place(table, seat, int(said[2]))
            yield from betting(table, seat)
            return
    if asked and not (table.side_pot and any(table.chips(seat) == 0 for seat in table.active)):
        payout.carried(table, "all_checked", penalty=True)


def asked_in_third_round(table: Table) -> list[int]:
    """Who has a choice; nobody where no stack is large enough for a first bet."""
    asked = [seat for seat in table.active if table.is_asked(seat)]
    return asked if any(table.most(seat) for seat in asked) else []


def third_bets(table: Table, seat: int, verb: str = "rb") -> Asked:
    """The bets open to a seat in the third round, where their number may be capped."""
    cap = table.opt.get("raise_cap")
    return [] if cap is not None and table.third_round_bets >= cap else bets(table, seat, verb)


def place(table: Table, seat: int, amount: int) -> None:
    """A bet or raise: blind by a seat that knows two cards, and the end of blind betting by one that knows four."""
    table.bet(seat, amount)
    table.third_round_bets += 1
    table.blind_ended = table.blind_ended or table.unseen(seat) == 0
    table.blind_bet = table.is_blind(seat) and not table.blind_ended


def betting(table: Table, bettor: int) -> Course:
    """Answers; then the last matcher, and nobody else, may raise."""
    while True:
        matched = yield from answers(table, bettor)
        asked = [seat for seat in matched if table.is_asked(seat)]
        if not asked:
            return
        bettor = asked[-1]
        said = yield from speak(table, bettor, lambda seat=bettor: last_words(table, seat))
        if said[1] == "st":
            return
        place(table, bettor, int(said[2]))


def last_words(table: Table, seat: int) -> Asked:
    """Raise or let it stand; after a blind bet, raise."""
    raises = third_bets(table, seat)
    return raises if raises and table.blind_bet else [*raises, just(seat, "st")]


def answers(table: Table, bettor: int) -> Generator[Asked, Words, list[int]]:
    """Who matched the bet, in order. A blind seat may raise a blind bet in its turn: then all others answer that."""
    waiting, matched = table.others(after=bettor), []
    while waiting:
        seat = waiting.pop(0)
        if not table.is_asked(seat):
            continue
        said = yield from speak(table, seat, lambda seat=seat: answers_of(table, seat))
        if said[1] == "f":
            drop_out(table, seat)
        elif said[1] == "cc":
            table.pay(seat, int(said[2]))
            matched.append(seat)
        else:
            place(table, seat, int(said[2]))
            waiting, matched = table.others(after=seat), []
    return matched


def answers_of(table: Table, seat: int) -> Asked:
    usual = [exactly(seat, "cc", table.owes(seat)), just(seat, "f")]
    blind = table.blind_bet and table.is_blind(seat)
    return [*usual, *third_bets(table, seat, "br")] if blind else usual


def showdown(table: Table) -> Course:
    """Cards are shown in play order; the best hand wins."""
    for seat in table.active:
        yield from show(table, seat)
    payout.shown_down(table)


def show(table: Table, seat: int) -> Course:
    """All four cards, in dealing order; from one that claimed to be higher than an exposed hand, higher ones."""
    mark = table.claims.get(seat)

    def right(cards: list[str]) -> bool:
        return table.is_whole_hand(seat, cards) and (mark is None or table.worth(cards) > mark)

    said = yield [asking.show(seat, "sm", 4, right)]
    table.hand[seat] = cut(said[2])
