"""The terms of a table, as its game sees them: options, smallest stacks, fees, and whether the chips of the house can
pay what the game may promise."""

from collections.abc import Iterable, Mapping
from typing import Any

import engine
from casino.audit.services import Actor
from casino.chips import selectors as chips
from casino.core import locks, once_live, write
from casino.core.commands import Answer, Command
from casino.core.errors import Unprocessable
from casino.core.subjects import OfHouse
from casino.core.work import Outcome, Work
from casino.hands import fees, trays
from casino.houses.models import House
from casino.tables import changing, selectors
from casino.tables import services as tables
from casino.tables.models import CarryoverOnClose, FeePer, Table
from engine.errors import EngineError, OptionOutOfRange
from engine.kernel.game import require_seats
from engine.kernel.rules import Rules
from engine.registry import EARLIER, games, rules_version


def stake_options() -> list[tuple[str, str, str]]:
    """The option that says how high is played, in minor units, by game and id of its rules; the id is empty for a hand
    whose deal names no rules, which is played by today's."""
    today = [(game.name, rules_id, game.rules.STAKE) for game in games() for rules_id in ("", game.rules_id)]
    earlier = map(rules_version, EARLIER)
    return [*today, *((game.name, game.rules_id, game.rules.STAKE) for game in earlier)]


def set_up_table(*, house: House, code: str, terms: tables.Terms, actor: Actor) -> Table:
    """Set up a table after the engine has accepted its options.

    Raises as :func:`require_terms`, and Conflict table_exists.
    """
    each_deal = require_terms(house, terms)
    return tables.create_table(house=house, code=code, terms=terms, actor=actor, varying=each_deal)


def set_up_table_at_office(*, command: Command, code: str, terms: tables.Terms) -> Answer:
    """Set up a table, as :func:`set_up_table` does. Raises as that, WrongTerminal, and Conflict
    approval_required once the house is live."""

    def change(house: House, work: Work) -> Outcome:
        table, event = tables.set_up(house, code, terms, require_terms(house, terms), command.context.staff.login)
        once_live.require_approval(house, work, once_live.SETTINGS)
        return Outcome(event, selectors.describe(table), 201, version=table.version)

    place = Table(house=command.context.house, code=code).chain
    return write.write(command, OfHouse(lock=locks.lock_places, office=True, place=place, knowing=(chips,)), change)


def change_terms(
    *, command: Command, code: str, options: Mapping[str, Any], seats: int, min_stack: int, max_stack: int,
    carryover_on_close: CarryoverOnClose, reason: str,
) -> Answer:  # fmt: skip
    """Agree on other terms for a table, from its next opening on. Raises as :func:`require_terms` and
    :func:`casino.tables.changing.change_terms`."""
    house = command.context.house
    table = selectors.get(house, code)
    terms = tables.Terms(
        game=table.game, options=options, seats=seats, min_stack=min_stack, max_stack=max_stack,
        carryover_on_close=carryover_on_close, seat_fee=table.seat_fee,
    )  # fmt: skip
    varying = require_terms(house, terms)
    return changing.change_terms(command=command, code=code, terms=terms, varying=varying, reason=reason)


def require_terms(house: House, terms: tables.Terms) -> dict[str, list[Any]]:
    """Refuse terms that no table of the house can have; returns :func:`varying`.

    Raises the engine's typed option errors, Unprocessable for what a house table must set, cannot seat or cannot pay in
    chips, and Conflict no_chip_set.
    """
    info = engine.game_info(terms.game)
    _require_seats(info, terms)
    policy = info.policy
    for name in policy.must_set:
        if name not in terms.options:
            raise Unprocessable(
                f"A {terms.game} table must set {name}.",
                code="option_missing",
                option=name,
                must_set=list(policy.must_set),
            )
    for name, refused in policy.not_at_tables.items():
        if terms.options.get(name) in refused:
            raise Unprocessable(
                f"Tables of a house cannot have {name} {terms.options[name]}.",
                code="not_at_house_tables",
                option=name,
                refused=list(refused),
            )
    least = _least_stack(terms)
    if terms.min_stack < least:
        raise Unprocessable(
            f"A stack must cover the most that a seat may have to pay or may lose in a hand: {house.money(least)}.",
            code="min_stack_too_small",
            min=least,
        )
    _require_enough_seats(info, terms)
    agreed = rules(terms.game, terms.options, terms.seats)
    trays.require_terms(chips.in_use(house), info.policy, agreed, terms.seats, terms.min_stack, terms.max_stack)
    fees.require_terms(house, terms.game, terms.max_stack, terms.seat_fee)
    return varying(terms.game, terms.options, terms.seats)


def set_seat_fee(*, command: Command, code: str, amount: int, per: FeePer, reason: str) -> Answer:
    """Change what a seat of the table costs, from the next deal on (:mod:`casino.hands.fees`); 0 for nothing. Raises
    Conflict no_change, Unprocessable no_seat_fee or amount_not_payable."""

    def require(table: Table) -> None:
        fees.require_terms(table.house, table.game, table.max_stack, amount)

    return tables.set_seat_fee(command=command, code=code, amount=amount, per=per, reason=reason, require=require)


def _require_seats(info: engine.Game, terms: tables.Terms) -> None:
    """Refuse a number of seats that the game cannot be played by."""
    try:
        require_seats(info, terms.seats)
    except EngineError as error:
        raise Unprocessable(
            f"{terms.game} has {info.min_seats} to {info.max_seats} seats: {error.message}.",
            code="seats_out_of_range",
            min=info.min_seats,
            max=info.max_seats,
        ) from error


def _require_enough_seats(info: engine.Game, terms: tables.Terms) -> None:
    """Refuse a table that could never deal a hand: its options, which the engine has accepted, ask for more players
    than it seats."""
    least = least_players(terms.game, terms.options)
    if least > terms.seats:
        raise Unprocessable(
            f"With these options {terms.game} needs at least {least} players; the table has {terms.seats} seats.",
            code="seats_out_of_range",
            min=least,
            max=info.max_seats,
        )


def _least_stack(terms: tables.Terms) -> int:
    """What a seat must bring to any hand of the table, in minor units.

    The options are checked for every number of players that the table may deal to, the full table first, because what
    they mean may depend on it. Raises the engine's typed option errors.
    """
    full = rules(terms.game, terms.options, terms.seats)
    fewer = range(least_players(terms.game, terms.options), terms.seats)
    return max(full.least_stack, *(rules(terms.game, terms.options, seats).least_stack for seats in fewer), 0)


def rules(game: str, options: Mapping[str, Any], seats: int) -> Rules:
    """A table's options as the rules of a hand for so many seats. Raises the engine's typed option errors."""
    return engine.game_info(game).rules.parse(engine.resolve(game, options, seats), seats)


def varying(game: str, options: Mapping[str, Any], seats: int) -> dict[str, list[Any]]:
    """Options of a table of so many seats that each deal settles for itself, by the number of its seats or by what is
    announced: every value that they may have in a deal, None for none."""
    said: list[tuple[str, ...]] = [(), *((word,) for word in engine.game_info(game).policy.announcements)]
    numbers = range(least_players(game, options), seats + 1)
    found = [resolved for number in numbers for words in said for resolved in _resolved(game, options, number, words)]
    named = {name: _distinct(deal.get(name) for deal in found) for name in {name for deal in found for name in deal}}
    for name in options.keys() - named.keys():
        named[name] = [None]
    return {name: values for name, values in sorted(named.items()) if values != [options.get(name)]}


def _resolved(game: str, options: Mapping[str, Any], seats: int, words: tuple[str, ...]) -> list[dict[str, object]]:
    """The options of a deal; none where the table does not leave these words to the dealer."""
    try:
        return [engine.resolve(game, options, seats, announced=words)]
    except OptionOutOfRange:
        return []


def _distinct(values: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def least_players(game: str, options: Mapping[str, Any]) -> int:
    """With fewer players no hand is dealt: the game's own least, or what the table's options ask for."""
    info = engine.game_info(game)
    return max(info.min_seats, info.policy.least_players(options))


def require_tray(table: Table) -> None:
    """Refuse a tray that might not be able to pay what the game may promise a full table. Raises Conflict
    tray_too_small or no_exact_change."""
    agreed = rules(table.game, table.options, table.seats)
    trays.require_tray(table, engine.game_info(table.game).policy, agreed, table.seats)


def bonuses(game: str, options: Mapping[str, Any], seats: int) -> int:
    """The most that the house may owe in bonuses for one hand of so many seats, in minor units."""
    return sum(engine.game_info(game).policy.bonuses(rules(game, options, seats), seats))
